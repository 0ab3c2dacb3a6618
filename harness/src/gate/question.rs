//! What a gate on times asks of a comparison with the baseline.
//!
//! `< +10%` forbids: a true +10 % must fail, and noise must not, so the rule's margin lies in between. `< -10%` demands:
//! a hook that is no faster must fail and a true -10 % must pass, which is the same rule looked at from the other side:
//! the gain must be proven as a loss would be. `>` mirrors `<`. A bound of exactly no change is neither and is refused
//! at parsing, because no number of rounds could tell it from noise.

use hookbench_statistics::{Decision, FIRST_LOOK, Rule};

use super::bound::{Op, Unit, nine_digits};
use super::expr::{Base, GateExpr, Metric, Stat};
use crate::latency::Quantile;
use crate::summary::Clock;

/// Most pairs of one phase unless the gate says otherwise.
const MAX_PAIRS: usize = 200;

/// Wall times vary so much that a smaller change needs [`WALL_PAIRS`] before it may fail a run.
const WALL_CHANGE: f64 = 0.25;
const WALL_PAIRS: u64 = 400;

/// A gate on times against the baseline, ready to be decided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Question {
    pub(super) clock: Clock,
    pub(super) stat: Stat,
    /// Log ratios are multiplied by this, so that above 0 is what the rule convicts.
    pub(super) direction: f64,
    /// Convicting proves the change that the gate demands, and so is its pass.
    pub(super) demands: bool,
    pub(super) rule: Rule,
    /// Fresh measurements that must fail too.
    pub(super) n_confirmations: usize,
    /// Pairs below which nothing is decided.
    pub(super) min_pairs: usize,
    /// Pairs of a phase at which measuring ends, however wide the interval.
    pub(super) max_pairs: usize,
    /// The clock is too unsteady for so small a change to fail a run.
    pub(super) only_warns: bool,
}

/// ln(1 + change) of a relative bound; not finite for a ratio at or below zero.
pub(super) fn log_bound(expr: &GateExpr) -> f64 {
    match expr.bound.unit {
        Unit::Times => expr.bound.number.ln(),
        unit => (expr.bound.number * unit.size()).ln_1p(),
    }
}

impl Question {
    /// The question of a gate on times `vs baseline`; `None` for all others.
    pub(super) fn of(expr: &GateExpr) -> Option<Question> {
        let (Metric::Latency(clock, stat), Some(Base::Baseline)) = (expr.metric, &expr.base) else { return None };
        let upwards = match expr.op {
            Op::Le | Op::Lt => 1.0,
            Op::Ge | Op::Gt | Op::Eq => -1.0,
        };
        let towards = upwards * log_bound(expr);
        let demands = towards.is_sign_negative();
        let forbidden = towards.abs().exp_m1();
        let options = &expr.options;
        let rule = Rule::of(forbidden);
        let rule = Rule { margin: options.margin.unwrap_or(rule.margin), confidence: options.confidence(), ..rule };
        let pairs = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let min_pairs = options.min_n.map_or(FIRST_LOOK, pairs).max(FIRST_LOOK);
        Some(Question {
            clock,
            stat,
            direction: if demands { -upwards } else { upwards },
            demands,
            rule,
            n_confirmations: options.confirm.unwrap_or(1) as usize,
            min_pairs,
            max_pairs: options.max_n.map_or(MAX_PAIRS, pairs).max(min_pairs),
            only_warns: clock == Clock::Wall
                && nine_digits(forbidden) < WALL_CHANGE
                && options.max_n.is_none_or(|n| n < WALL_PAIRS),
        })
    }

    /// Whether per-round ratios answer it; other statistics need resampled rounds.
    pub(super) fn is_about_the_median(&self) -> bool {
        self.stat == Stat::Percentile(Quantile::P50)
    }

    /// The rule's decision as the gate's.
    pub(super) fn turned(&self, decision: Decision) -> Decision {
        match (decision, self.demands) {
            (Decision::Fail, true) => Decision::Pass,
            (Decision::Pass, true) => Decision::Fail,
            (decision, _) => decision,
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

    use super::*;

    fn question(text: &str) -> Question {
        Question::of(&text.parse().unwrap()).unwrap()
    }

    fn close(left: f64, right: f64) -> bool {
        (left - right).abs() < 1e-9
    }

    #[test]
    fn a_bound_above_nothing_forbids_and_one_below_demands() {
        // Direction, demands, and the size that the rule convicts at: 1 / 0.9 is 1.111.
        let table = [
            ("< +10%", 1.0, false, 0.1),
            ("<= 1.1x", 1.0, false, 0.1),
            ("< -10%", -1.0, true, 1.0 / 0.9 - 1.0),
            ("<= 0.9x", -1.0, true, 1.0 / 0.9 - 1.0),
            ("> -10%", -1.0, false, 1.0 / 0.9 - 1.0),
            (">= +10%", 1.0, true, 0.1),
        ];
        for (bound, direction, demands, forbidden) in table {
            let question = question(&format!("latency.cpu.p50 {bound} vs baseline"));
            assert_eq!((question.direction, question.demands), (direction, demands), "{bound}");
            assert!(close(question.rule.forbidden, forbidden), "{bound}: {question:?}");
            assert!(close(question.rule.margin, forbidden / 2.0), "{bound}: {question:?}");
        }
    }

    #[test]
    fn options_replace_the_defaults() {
        let plain = question("latency.cpu.p50 < +10% vs baseline");
        assert_eq!((plain.n_confirmations, plain.min_pairs, plain.max_pairs), (1, 20, 200));
        assert_eq!((plain.rule.confidence, plain.is_about_the_median()), (0.95, true));
        let told = question(
            "latency.wall.p90 < +10% vs baseline with confidence=0.9, min_n=30, max_n=60, confirm=3, margin=4%",
        );
        assert_eq!((told.n_confirmations, told.min_pairs, told.max_pairs), (3, 30, 60));
        assert_eq!((told.rule.confidence, told.is_about_the_median()), (0.9, false));
        assert!(close(told.rule.margin, 0.04));
        // Fewer pairs than the first look decide nothing, so fewer are not measured either.
        let few = question("latency.cpu.p50 < +10% vs baseline with min_n=5, max_n=10");
        assert_eq!((few.min_pairs, few.max_pairs), (20, 20));
    }

    #[test]
    fn only_times_against_the_baseline_are_questions_of_chance() {
        for text in ["latency.cpu.p50 <= 5ms", "latency.cpu.p50 <= 4x vs noop", "memory.peak < +5% vs baseline"] {
            assert_eq!(Question::of(&text.parse().unwrap()), None, "{text}");
        }
        assert_eq!(Question::of(&"latency.cpu.p50 < +5% vs file:a".parse().unwrap()), None);
    }

    #[test]
    fn a_decision_is_turned_only_by_a_demand() {
        let (forbids, demands) =
            (question("latency.cpu.p50 < +10% vs baseline"), question("latency.cpu.p50 < -10% vs baseline"));
        let all = [Decision::Pass, Decision::Fail, Decision::Inconclusive];
        assert_eq!(all.map(|decision| forbids.turned(decision)), all);
        let turned = [Decision::Fail, Decision::Pass, Decision::Inconclusive];
        assert_eq!(all.map(|decision| demands.turned(decision)), turned);
    }
}
