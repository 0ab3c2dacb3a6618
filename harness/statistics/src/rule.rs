//! The decision of a paired gate: when to stop measuring, and what the interval then says.
//!
//! Guarantee: measuring stops by precision only, never because the answer looks good; looking at the answer turns
//! 0.3 % false alarms into 10 %. With standard error s both error rates are about Φ(−ln(1 + margin) / s), and the
//! target half-width keeps s under half of the margin.
//!
//! Deliberately not here: gates whose forbidden change is no slow-down. A forbidden share at or below 0 has no
//! half-width to stop at, so only an interval wholly on one side decides.

use crate::paired::Interval;

/// Pairs before the first look at an interval; fewer never decide.
pub const FIRST_LOOK: usize = 20;

/// Pairs between looks.
pub const LOOK_STEP: usize = 10;

/// What a gate forbids and how sure it wants to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    /// The smallest slow-down that must fail, as a share: 0.10 for +10 %.
    pub forbidden: f64,
    /// The estimate from which a gate can fail, as a share; half of `forbidden` unless told.
    pub margin: f64,
    /// Two-sided confidence of the interval, such as 0.95.
    pub confidence: f64,
}

/// What an interval says about a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Decision {
    /// Precise enough and not a fail, or certainly under the forbidden slow-down.
    Pass,
    /// Slower for certain, by the margin at least.
    Fail,
    /// Not known well enough.
    Inconclusive,
}

impl Rule {
    /// The rule that fails a true slow-down of `forbidden`, with half of it as margin, at 95 %.
    pub fn of(forbidden: f64) -> Rule {
        Rule { forbidden, margin: forbidden / 2.0, confidence: crate::order_statistic::CONFIDENCE }
    }

    /// Half-width of a log-ratio interval at which measuring stops: ln(1 + margin) / 1.3, 0.0375 for +10 %.
    pub fn target_half_width(&self) -> f64 {
        self.margin.ln_1p() / 1.3
    }

    /// Whether an interval is precise enough to stop at. Never under [`FIRST_LOOK`] pairs: a few that happen to agree
    /// look precise.
    pub fn is_precise(&self, interval: &Interval) -> bool {
        interval.n >= FIRST_LOOK && interval.half_width() <= self.target_half_width()
    }

    /// The decision for an interval of log ratios made at the rule's confidence, and its `p_not_above` after a
    /// correction over the gates of a run (unchanged for a single gate).
    ///
    /// - Fail: `adjusted_p` ≤ (1 − confidence) / 2, which for one gate is `low > 0`, and estimate ≥ ln(1 + margin).
    /// - Pass: precise and no fail, or high < ln(1 + forbidden). An estimate at or over the forbidden slow-down is no
    ///   pass however precise; a correction over many gates can leave it short of a fail.
    /// - Inconclusive: all else; always under [`FIRST_LOOK`] pairs, and for an estimate or p that is not finite. An
    ///   infinite estimate is a clock that reads 0, not a slow hook.
    ///
    /// Without spread the estimate alone decides, as it should for instruction counts. A time without spread comes
    /// from a clock too coarse to show any; whoever measures times has to know the step of their clock.
    pub fn decide(&self, interval: &Interval, adjusted_p: f64) -> Decision {
        if interval.n < FIRST_LOOK || !interval.estimate.is_finite() || !adjusted_p.is_finite() {
            return Decision::Inconclusive;
        }
        let significant = adjusted_p <= (1.0 - self.confidence) / 2.0;
        if significant && interval.estimate >= self.margin.ln_1p() {
            return Decision::Fail;
        }
        let forbidden = self.forbidden.ln_1p();
        let precise = self.is_precise(interval) && interval.estimate < forbidden;
        if precise || interval.high < forbidden { Decision::Pass } else { Decision::Inconclusive }
    }
}

impl Decision {
    /// The decision after measuring a failed gate once more with [`confirmation_pairs`] fresh rounds: a fail stands
    /// only if both fail, otherwise the second, larger measurement speaks. Other decisions are not confirmed.
    ///
    /// The two are not independent under lasting load, so the squared error rate must not be claimed.
    pub fn confirmed_by(self, second: Decision) -> Decision {
        match self {
            Decision::Fail => second,
            Decision::Pass | Decision::Inconclusive => self,
        }
    }
}

/// Pairs of a confirmation after a fail at `n` pairs: twice as many.
pub fn confirmation_pairs(n: usize) -> usize {
    n.saturating_mul(2)
}

/// Pairs at the next look after `n`: 20, 30, 40 and so on.
pub fn next_look(n: usize) -> usize {
    (n / LOOK_STEP + 1).saturating_mul(LOOK_STEP).max(FIRST_LOOK)
}

/// Smallest slow-down, as a share, that a 95 % interval of this half-width detects nearly always (99.5 %):
/// exp(2.6 · half-width / 1.96) − 1.
pub fn minimum_detectable_effect(half_width: f64) -> f64 {
    (2.6 * half_width / 1.96).exp_m1()
}

/// Forecast of the pairs that bring the half-width seen at `n` pairs down to `target`, as it shrinks by √n: at
/// least `n`, and `usize::MAX` when no number of pairs does or nothing is known yet.
pub fn pairs_needed(half_width: f64, n: usize, target: f64) -> usize {
    if half_width <= target {
        return n;
    }
    let pairs = n as f64 * (half_width / target).powi(2);
    // A ratio that should be whole may be off by a few last bits, which must not cost a pair.
    let pairs = (pairs * (1.0 - 1e-12)).ceil();
    if target > 0.0 && pairs > 0.0 { pairs as usize } else { usize::MAX }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: Rule = Rule { forbidden: 0.10, margin: 0.05, confidence: 0.95 };

    /// An interval of 50 pairs with these ends, the p that fits them, and the estimate in the middle.
    fn between(low: f64, high: f64) -> Interval {
        let estimate = f64::midpoint(low, high);
        let p_not_above = if low > 0.0 { 0.01 } else { 0.2 };
        Interval { estimate, low, high, n: 50, confidence: 0.95, p_not_above, p_not_below: 1.0 - p_not_above }
    }

    fn decide(interval: Interval) -> Decision {
        RULE.decide(&interval, interval.p_not_above)
    }

    #[test]
    fn the_default_margin_is_half_of_what_is_forbidden() {
        assert_eq!(Rule::of(0.10), RULE);
        // ln 1.05 = 0.0487902; over 1.3 = 0.0375309.
        assert!((RULE.target_half_width() - 0.037_530_9).abs() < 1e-7);
        // ln 1.125 = 0.1177830; over 1.3 = 0.0906023.
        assert!((Rule::of(0.25).target_half_width() - 0.090_602_3).abs() < 1e-7);
    }

    #[test]
    fn a_precise_slow_down_fails_and_a_precise_standstill_passes() {
        assert_eq!(decide(between(0.06, 0.12)), Decision::Fail);
        assert_eq!(decide(between(-0.03, 0.03)), Decision::Pass);
        assert_eq!(decide(between(-0.2, -0.1)), Decision::Pass);
    }

    #[test]
    fn a_certain_slow_down_under_the_margin_passes() {
        assert_eq!(decide(between(0.01, 0.03)), Decision::Pass);
    }

    #[test]
    fn an_estimate_at_exactly_the_margin_fails() {
        let margin = 0.05_f64.ln_1p();
        let at = Interval { estimate: margin, ..between(0.02, 0.08) };
        assert_eq!(decide(at), Decision::Fail);
        assert_eq!(decide(Interval { estimate: margin.next_down(), ..at }), Decision::Pass);
    }

    #[test]
    fn a_p_at_exactly_the_tail_fails() {
        let interval = between(0.06, 0.12);
        assert_eq!(RULE.decide(&interval, 0.025), Decision::Fail);
        assert_eq!(RULE.decide(&interval, 0.025_000_1), Decision::Pass);
        let surer = Rule { confidence: 0.99, ..RULE };
        assert_eq!(surer.decide(&interval, 0.005), Decision::Fail);
        assert_eq!(surer.decide(&interval, 0.025), Decision::Pass);
    }

    #[test]
    fn a_half_width_at_exactly_the_target_is_precise() {
        let target = RULE.target_half_width();
        // Centred so far up that the upper end reaches beyond the forbidden ln 1.10 = 0.0953.
        let at = Interval { estimate: 0.08, low: -target, high: target, ..between(0.0, 0.0) };
        assert!(RULE.is_precise(&at));
        assert!(!RULE.is_precise(&Interval { high: target.next_up(), ..at }));
        let shifted = |high: f64| Interval { estimate: 0.08, low: 0.05, high, ..between(0.0, 0.0) };
        assert_eq!(RULE.decide(&shifted(0.12), 0.9), Decision::Pass);
        assert_eq!(RULE.decide(&shifted(0.13), 0.9), Decision::Inconclusive);
    }

    #[test]
    fn a_wide_interval_passes_only_under_what_is_forbidden() {
        let forbidden = 0.10_f64.ln_1p();
        assert_eq!(decide(between(-0.3, 0.09)), Decision::Pass);
        assert_eq!(decide(between(-0.3, forbidden)), Decision::Inconclusive);
        assert_eq!(decide(between(-0.3, forbidden.next_down())), Decision::Pass);
        assert_eq!(decide(between(-0.1, 0.3)), Decision::Inconclusive);
    }

    #[test]
    fn a_wide_interval_fails_when_it_lies_over_zero() {
        assert_eq!(decide(between(0.01, 0.5)), Decision::Fail);
    }

    #[test]
    fn an_estimate_over_what_is_forbidden_never_passes() {
        let precise = between(0.08, 0.12);
        assert_eq!(RULE.decide(&precise, 0.4), Decision::Inconclusive);
        let forbidden = 0.10_f64.ln_1p();
        assert_eq!(RULE.decide(&Interval { estimate: forbidden, ..precise }, 0.4), Decision::Inconclusive);
        assert_eq!(RULE.decide(&Interval { estimate: forbidden.next_down(), ..precise }, 0.4), Decision::Pass);
    }

    #[test]
    fn without_spread_the_estimate_decides() {
        assert_eq!(decide(between(0.0, 0.0)), Decision::Pass);
        assert_eq!(decide(between(0.04, 0.04)), Decision::Pass);
        assert_eq!(decide(between(0.05, 0.05)), Decision::Fail);
    }

    #[test]
    fn fewer_pairs_than_the_first_look_decide_nothing() {
        for interval in [between(0.06, 0.12), between(-0.03, 0.03), between(-0.2, -0.1)] {
            assert_eq!(decide(Interval { n: 19, ..interval }), Decision::Inconclusive);
            assert_ne!(decide(Interval { n: 20, ..interval }), Decision::Inconclusive);
        }
        assert!(!RULE.is_precise(&Interval { n: 19, ..between(0.0, 0.0) }));
        assert!(RULE.is_precise(&Interval { n: 20, ..between(0.0, 0.0) }));
    }

    #[test]
    fn figures_that_are_not_finite_never_fail_and_pass_only_by_a_finite_upper_end() {
        let pass = between(-0.03, 0.03);
        for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(RULE.decide(&Interval { estimate: odd, ..pass }, 0.5), Decision::Inconclusive, "{odd}");
            assert_eq!(RULE.decide(&pass, odd), Decision::Inconclusive, "p {odd}");
            assert_eq!(RULE.decide(&Interval { low: odd, ..pass }, 0.5), Decision::Pass, "low {odd}");
        }
        assert_eq!(RULE.decide(&Interval { high: f64::NAN, ..pass }, 0.5), Decision::Inconclusive);
        assert_eq!(RULE.decide(&Interval { high: f64::INFINITY, ..pass }, 0.5), Decision::Inconclusive);
        let nonsense = Rule { forbidden: f64::NAN, margin: f64::NAN, confidence: f64::NAN };
        assert_eq!(nonsense.decide(&pass, 0.0), Decision::Inconclusive);
        assert_eq!(Rule::of(-3.0).decide(&pass, 0.0), Decision::Inconclusive);
    }

    #[test]
    fn without_a_tolerated_slow_down_only_a_one_sided_interval_decides() {
        let none = Rule::of(0.0);
        assert_eq!(none.decide(&between(0.001, 0.002), 0.001), Decision::Fail);
        assert_eq!(none.decide(&between(-0.002, -0.001), 0.9), Decision::Pass);
        assert_eq!(none.decide(&between(-0.001, 0.001), 0.5), Decision::Inconclusive);
    }

    #[test]
    fn a_fail_stands_only_if_the_second_measurement_fails_too() {
        use Decision::{Fail, Inconclusive, Pass};
        for second in [Pass, Fail, Inconclusive] {
            assert_eq!(Fail.confirmed_by(second), second);
            assert_eq!(Pass.confirmed_by(second), Pass);
            assert_eq!(Inconclusive.confirmed_by(second), Inconclusive);
        }
        assert_eq!(confirmation_pairs(30), 60);
        assert_eq!(confirmation_pairs(usize::MAX), usize::MAX);
    }

    #[test]
    fn looks_come_at_twenty_and_every_ten_after() {
        let looks: Vec<usize> = std::iter::successors(Some(0), |n| Some(next_look(*n))).skip(1).take(4).collect();
        assert_eq!(looks, [20, 30, 40, 50]);
        assert_eq!(next_look(9), 20);
        assert_eq!(next_look(19), 20);
        assert_eq!(next_look(25), 30);
        assert_eq!(next_look(399), 400);
        assert_eq!(next_look(usize::MAX), usize::MAX);
    }

    #[test]
    fn the_smallest_visible_effect_follows_the_half_width() {
        // exp(2.6 · 0.0375309 / 1.96) − 1 = exp(0.0497859) − 1 = 0.051046.
        assert!((minimum_detectable_effect(RULE.target_half_width()) - 0.051_046).abs() < 1e-6);
        assert_eq!(minimum_detectable_effect(0.0), 0.0);
        assert_eq!(minimum_detectable_effect(f64::INFINITY), f64::INFINITY);
    }

    #[test]
    fn halving_the_half_width_takes_four_times_the_pairs() {
        assert_eq!(pairs_needed(0.08, 30, 0.04), 120);
        // 20 · (0.05 / 0.04)² = 31.25.
        assert_eq!(pairs_needed(0.05, 20, 0.04), 32);
        // 0.3 / 0.1 squared is 9 only to within rounding.
        assert_eq!(pairs_needed(0.3, 20, 0.1), 180);
        assert_eq!(pairs_needed(0.04, 20, 0.04), 20);
        assert_eq!(pairs_needed(0.01, 20, 0.04), 20);
    }

    #[test]
    fn what_no_number_of_pairs_reaches_is_said_so() {
        assert_eq!(pairs_needed(0.1, 20, 0.0), usize::MAX);
        assert_eq!(pairs_needed(0.1, 20, -0.1), usize::MAX);
        assert_eq!(pairs_needed(0.1, 0, 0.04), usize::MAX);
        assert_eq!(pairs_needed(f64::INFINITY, 20, 0.04), usize::MAX);
        assert_eq!(pairs_needed(f64::NAN, 20, 0.04), usize::MAX);
        assert_eq!(pairs_needed(0.1, 20, f64::NAN), usize::MAX);
    }
}
