//! The bound of a gate: an operator, a number and its unit.
//!
//! A bound is held by an interval when it holds for every value in it, broken when it holds for none, and open
//! otherwise. An exact figure is an interval of one value, so counts and estimates share one rule.

use std::fmt;

use crate::run_event::Verdict;

/// How the figure must stand to the bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// At most.
    Le,
    /// Less than.
    Lt,
    /// At least.
    Ge,
    /// More than.
    Gt,
    /// Equal.
    Eq,
}

impl Op {
    /// As written in a gate.
    pub fn sign(self) -> &'static str {
        match self {
            Op::Le => "<=",
            Op::Lt => "<",
            Op::Ge => ">=",
            Op::Gt => ">",
            Op::Eq => "==",
        }
    }

    /// Whether one figure keeps the bound. Both sides are cut to nine digits first, so that a mean of shares
    /// does not miss its bound by the last bit.
    pub fn holds(self, figure: f64, bound: f64) -> bool {
        let (figure, bound) = (nine_digits(figure), nine_digits(bound));
        match self {
            Op::Le => figure <= bound,
            Op::Lt => figure < bound,
            Op::Ge => figure >= bound,
            Op::Gt => figure > bound,
            Op::Eq => figure == bound,
        }
    }

    /// Verdict for a figure that is known only to lie between `low` and `high`; an absent side is unbounded.
    pub fn verdict(self, low: Option<f64>, high: Option<f64>, bound: f64) -> Verdict {
        let holds = |figure: Option<f64>| figure.map(|figure| self.holds(figure, bound));
        let (best, worst) = match self {
            Op::Le | Op::Lt => (holds(low), holds(high)),
            Op::Ge | Op::Gt => (holds(high), holds(low)),
            Op::Eq => {
                let inside =
                    low.is_none_or(|low| Op::Le.holds(low, bound)) && high.is_none_or(|high| Op::Ge.holds(high, bound));
                let exact = holds(low) == Some(true) && holds(high) == Some(true);
                (Some(inside), Some(exact))
            }
        };
        match (best, worst) {
            (_, Some(true)) => Verdict::Pass,
            (Some(false), _) => Verdict::Fail,
            _ => Verdict::Inconclusive,
        }
    }
}

/// A number cut to nine significant digits: enough for every figure here, and short enough that text keeps it.
pub(super) fn nine_digits(number: f64) -> f64 {
    format!("{number:.8e}").parse().unwrap_or(number)
}

/// Unit of a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// A count or a share between 0 and 1.
    One,
    /// Hundredths of a share.
    Percent,
    /// Times the base's figure.
    Times,
    /// Microseconds.
    Us,
    /// Milliseconds.
    Ms,
    /// Seconds.
    S,
    /// Bytes.
    B,
    /// 1,000 bytes.
    KB,
    /// 1,000,000 bytes.
    MB,
    /// 1,024 bytes.
    KiB,
    /// 1,048,576 bytes.
    MiB,
    /// 1,073,741,824 bytes.
    GiB,
}

impl Unit {
    /// All units.
    pub const ALL: [Unit; 12] = [
        Unit::One,
        Unit::Percent,
        Unit::Times,
        Unit::Us,
        Unit::Ms,
        Unit::S,
        Unit::B,
        Unit::KB,
        Unit::MB,
        Unit::KiB,
        Unit::MiB,
        Unit::GiB,
    ];

    /// As written behind a number; nothing for counts.
    pub fn sign(self) -> &'static str {
        match self {
            Unit::One => "",
            Unit::Percent => "%",
            Unit::Times => "x",
            Unit::Us => "us",
            Unit::Ms => "ms",
            Unit::S => "s",
            Unit::B => "B",
            Unit::KB => "kB",
            Unit::MB => "MB",
            Unit::KiB => "KiB",
            Unit::MiB => "MiB",
            Unit::GiB => "GiB",
        }
    }

    /// The unit that is written so.
    pub fn parse(sign: &str) -> Option<Unit> {
        Unit::ALL.into_iter().find(|unit| unit.sign() == sign)
    }

    /// How many of the base unit (one, microsecond, byte) it is.
    pub fn size(self) -> f64 {
        match self {
            Unit::One | Unit::Times | Unit::Us | Unit::B => 1.0,
            Unit::Percent => 0.01,
            Unit::Ms | Unit::KB => 1e3,
            Unit::S | Unit::MB => 1e6,
            Unit::KiB => 1024.0,
            Unit::MiB => 1_048_576.0,
            Unit::GiB => 1_073_741_824.0,
        }
    }

    /// Whether it measures time.
    pub fn is_time(self) -> bool {
        matches!(self, Unit::Us | Unit::Ms | Unit::S)
    }

    /// Whether it measures bytes.
    pub fn is_bytes(self) -> bool {
        matches!(self, Unit::B | Unit::KB | Unit::MB | Unit::KiB | Unit::MiB | Unit::GiB)
    }
}

/// A number with its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// The number as written.
    pub number: f64,
    /// Its unit.
    pub unit: Unit,
    /// A change against the base, such as `+10%`, and not a level.
    pub change: bool,
}

impl fmt::Display for Bound {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.change && self.number >= 0.0 {
            out.write_str("+")?;
        }
        write!(out, "{}{}", self.number, self.unit.sign())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Verdict of `op 10` for an interval.
    fn of(op: Op, low: f64, high: f64) -> Verdict {
        op.verdict(Some(low), Some(high), 10.0)
    }

    #[test]
    fn at_most_is_open_only_astride_the_bound() {
        assert_eq!(of(Op::Le, 9.0, 10.0), Verdict::Pass);
        assert_eq!(of(Op::Le, 10.0, 10.1), Verdict::Inconclusive);
        assert_eq!(of(Op::Le, 10.1, 11.0), Verdict::Fail);
        assert_eq!(of(Op::Lt, 9.0, 9.9), Verdict::Pass);
        assert_eq!(of(Op::Lt, 9.0, 10.0), Verdict::Inconclusive);
        assert_eq!(of(Op::Lt, 10.0, 11.0), Verdict::Fail);
    }

    #[test]
    fn at_least_mirrors_at_most() {
        assert_eq!(of(Op::Ge, 10.0, 11.0), Verdict::Pass);
        assert_eq!(of(Op::Ge, 9.9, 10.0), Verdict::Inconclusive);
        assert_eq!(of(Op::Ge, 9.0, 9.9), Verdict::Fail);
        assert_eq!(of(Op::Gt, 10.1, 11.0), Verdict::Pass);
        assert_eq!(of(Op::Gt, 10.0, 11.0), Verdict::Inconclusive);
        assert_eq!(of(Op::Gt, 9.0, 10.0), Verdict::Fail);
    }

    #[test]
    fn equality_needs_both_ends() {
        assert_eq!(of(Op::Eq, 10.0, 10.0), Verdict::Pass);
        assert_eq!(of(Op::Eq, 9.0, 10.0), Verdict::Inconclusive);
        assert_eq!(of(Op::Eq, 10.0, 11.0), Verdict::Inconclusive);
        assert_eq!(of(Op::Eq, 9.0, 9.9), Verdict::Fail);
        assert_eq!(of(Op::Eq, 10.1, 11.0), Verdict::Fail);
    }

    #[test]
    fn a_missing_side_cannot_decide_for_itself() {
        assert_eq!(Op::Le.verdict(Some(11.0), None, 10.0), Verdict::Fail);
        assert_eq!(Op::Le.verdict(Some(9.0), None, 10.0), Verdict::Inconclusive);
        assert_eq!(Op::Le.verdict(None, Some(9.0), 10.0), Verdict::Pass);
        assert_eq!(Op::Le.verdict(None, Some(11.0), 10.0), Verdict::Inconclusive);
        assert_eq!(Op::Ge.verdict(None, Some(9.0), 10.0), Verdict::Fail);
        assert_eq!(Op::Ge.verdict(Some(10.0), None, 10.0), Verdict::Pass);
        assert_eq!(Op::Eq.verdict(None, None, 10.0), Verdict::Inconclusive);
    }

    #[test]
    fn the_last_bit_of_a_sum_does_not_break_a_bound() {
        let sum = 0.1 + 0.2;
        assert!(sum > 0.3 && Op::Le.holds(sum, 0.3) && Op::Eq.holds(sum, 0.3) && Op::Ge.holds(sum, 0.3));
        assert!(!Op::Lt.holds(sum, 0.3) && !Op::Gt.holds(sum, 0.3));
        assert!(!Op::Eq.holds(0.300_000_01, 0.3));
    }

    #[test]
    fn units_parse_back_and_differ() {
        for unit in Unit::ALL {
            assert_eq!(Unit::parse(unit.sign()), Some(unit));
            assert!(!(unit.is_time() && unit.is_bytes()));
        }
        assert_eq!(Unit::parse("mb"), None);
        assert_eq!(150.0 * Unit::Ms.size(), 150_000.0);
        assert_eq!(2.0 * Unit::MiB.size(), 2_097_152.0);
    }
}
