//! What the self-test's measurements mean. Pure: no process, no clock.

use std::time::Duration;

use hookbench_statistics::{Interval, minimum_detectable_effect};

use crate::latency::median;
use crate::run_event::Verdict;

/// One comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// The gate's answer.
    pub verdict: Verdict,
    /// How long all of it took.
    pub time: Duration,
    /// Pairs measured, those of a confirmation included.
    pub n_pairs: usize,
    /// Pairs of the first measurement.
    pub n_first: usize,
    /// Median log ratio of the first measurement.
    pub interval: Option<Interval>,
}

/// The hook, slowed by a tenth, against itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Control {
    /// The gate's answer, which should be a fail.
    pub verdict: Verdict,
    /// CPU that was burnt in every call.
    pub burn: Duration,
    /// The comparison.
    pub trial: Trial,
}

/// A hook that says nothing against the expectations of the scenarios.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vacuity {
    /// Steps played.
    pub n_steps: usize,
    /// Steps in which something was wrong with it.
    pub n_caught: usize,
    /// Steps whose golden was never recorded.
    pub n_without_golden: usize,
}

/// All that the self-test measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// Comparisons with itself that were asked for.
    pub n_asked: u32,
    /// Comparisons that the end of the time cut off; they are not among the trials.
    pub n_cut: u32,
    /// The hook against itself.
    pub trials: Vec<Trial>,
    /// The slowed hook.
    pub control: Control,
    /// The silent hook.
    pub vacuity: Vacuity,
    /// Time allowed for everything.
    pub max_time: Duration,
}

/// The answer to one question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// Which question: a stable word.
    pub name: &'static str,
    /// The answer.
    pub verdict: Verdict,
    /// One sentence: what was seen.
    pub reason: String,
    /// One sentence: what to do; empty for a pass.
    pub remedy: String,
}

/// The answers to the self-test's questions.
pub fn judge(evidence: &Evidence) -> Vec<Check> {
    vec![equal_hooks(evidence), slower_hook(&evidence.control), silent_hook(&evidence.vacuity)]
}

/// The answer to the whole self-test: the worst of its checks.
pub fn overall(checks: &[Check]) -> Verdict {
    let any = |verdict| checks.iter().any(|check| check.verdict == verdict);
    match (any(Verdict::Fail), any(Verdict::Inconclusive) || any(Verdict::Skipped)) {
        (true, _) => Verdict::Fail,
        (false, true) => Verdict::Inconclusive,
        (false, false) => Verdict::Pass,
    }
}

fn equal_hooks(evidence: &Evidence) -> Check {
    let count = |verdict| evidence.trials.iter().filter(|trial| trial.verdict == verdict).count();
    let (n, n_failed, n_passed) = (evidence.trials.len(), count(Verdict::Fail), count(Verdict::Pass));
    let asked = evidence.n_asked as usize;
    let time = if n < asked { format!("; only {n} of {asked} fitted into the time") } else { String::new() };
    let cut = match evidence.n_cut {
        0 => String::new(),
        cut => format!("; {cut} more cut off by its end"),
    };
    let reason = format!(
        "the hook against itself: {n_failed} of {n} failed, {n_passed} passed, {} inconclusive{time}{cut}",
        n - n_failed - n_passed
    );
    let (verdict, remedy) = if n_failed > 0 {
        (Verdict::Fail, "do not trust a red CPU gate here: find what runs beside it, or gate instructions")
    } else if n_passed * 2 < asked {
        (Verdict::Inconclusive, "allow more time with --max-time, or ask for fewer with --trials")
    } else {
        (Verdict::Pass, "")
    };
    Check { name: "equal-hooks", verdict, reason, remedy: remedy.to_owned() }
}

fn slower_hook(control: &Control) -> Check {
    let seen = control.trial.interval.map_or("nothing".to_owned(), |seen| {
        let percent = |log: f64| format!("{:+.1} %", log.exp_m1() * 100.0);
        format!("{} [{} to {}]", percent(seen.estimate), percent(seen.low), percent(seen.high))
    });
    let (says, verdict, remedy) = match control.verdict {
        Verdict::Fail => ("failed, as it should", Verdict::Pass, ""),
        Verdict::Pass => ("passed", Verdict::Fail, "do not trust a green CPU gate here: measure on a steadier machine"),
        Verdict::Inconclusive | Verdict::Skipped => {
            ("was not decided", Verdict::Inconclusive, "allow more time with --max-time, or use a steadier machine")
        }
    };
    let reason = format!(
        "the hook with {} us of CPU more, truly +10 %: {says}; seen {seen} in {} pairs, {} with the confirmation",
        control.burn.as_micros(),
        control.trial.n_first,
        control.trial.n_pairs,
    );
    Check { name: "slower-hook", verdict, reason, remedy: remedy.to_owned() }
}

fn silent_hook(vacuity: &Vacuity) -> Check {
    let Vacuity { n_steps, n_caught, n_without_golden } = *vacuity;
    let (verdict, remedy) = match (n_caught, n_without_golden) {
        (0, 0) => (Verdict::Fail, "expect something of the hook's text: a golden, `contains`, or labels with a gate"),
        (0, _) => (Verdict::Inconclusive, "record the goldens with `hookbench run` and `hookbench accept`"),
        _ => (Verdict::Pass, ""),
    };
    let missing = if n_without_golden > 0 { format!(", {n_without_golden} without golden") } else { String::new() };
    let reason = format!("a hook that does nothing: wrong in {n_caught} of {n_steps} steps{missing}");
    Check { name: "silent-hook", verdict, reason, remedy: remedy.to_owned() }
}

/// The smallest slow-down of CPU, as a share, that a comparison sees nearly always in the time allowed, and the pairs
/// that it would have; `None` without a trial.
///
/// By the precision and the speed of the trials: half-widths shrink with the square root of the pairs.
pub fn smallest_visible(evidence: &Evidence) -> Option<(f64, usize)> {
    let known = || evidence.trials.iter().filter(|trial| trial.n_first > 0 && !trial.time.is_zero());
    let of_one = known()
        .filter_map(|trial| Some(trial.interval?.half_width() * (trial.n_first as f64).sqrt()))
        .filter(|width| width.is_finite())
        .collect();
    let of_one_pair = median(of_one)?;
    let seconds = median(known().map(|trial| trial.time.as_secs_f64() / trial.n_pairs.max(1) as f64).collect())?;
    let n_pairs = (evidence.max_time.as_secs_f64() / seconds).floor().max(1.0);
    Some((minimum_detectable_effect(of_one_pair / n_pairs.sqrt()), n_pairs as usize))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
    use super::*;

    fn interval(half_width: f64) -> Interval {
        Interval {
            estimate: 0.0,
            low: -half_width,
            high: half_width,
            n: 25,
            confidence: 0.95,
            p_not_above: 0.5,
            p_not_below: 0.5,
        }
    }

    fn trial(verdict: Verdict) -> Trial {
        let time = Duration::from_secs(5);
        Trial { verdict, time, n_pairs: 25, n_first: 25, interval: Some(interval(0.03)) }
    }

    /// Evidence of a good machine: 4 trials that pass, a control that fails, a silent hook that is caught.
    fn good() -> Evidence {
        Evidence {
            n_asked: 4,
            n_cut: 0,
            trials: vec![trial(Verdict::Pass); 4],
            control: Control {
                verdict: Verdict::Fail,
                burn: Duration::from_micros(300),
                trial: Trial {
                    interval: Some(Interval { estimate: 0.1_f64.ln_1p(), ..interval(0.03) }),
                    ..trial(Verdict::Fail)
                },
            },
            vacuity: Vacuity { n_steps: 2, n_caught: 1, n_without_golden: 0 },
            max_time: Duration::from_secs(500),
        }
    }

    /// Verdicts of the three checks, and of all.
    fn verdicts(evidence: &Evidence) -> ([Verdict; 3], Verdict) {
        let checks = judge(evidence);
        let each: Vec<Verdict> = checks.iter().map(|check| check.verdict).collect();
        assert!(checks.iter().all(|check| check.remedy.is_empty() == (check.verdict == Verdict::Pass)));
        (each.try_into().unwrap(), overall(&checks))
    }

    #[test]
    fn a_good_machine_passes() {
        assert_eq!(verdicts(&good()), ([Verdict::Pass; 3], Verdict::Pass));
        let checks = judge(&good());
        assert_eq!(checks[0].reason, "the hook against itself: 0 of 4 failed, 4 passed, 0 inconclusive");
        let slower = "the hook with 300 us of CPU more, truly +10 %: failed, as it should; seen +10.0 % [-3.0 % to \
                      +3.0 %] in 25 pairs, 25 with the confirmation";
        assert_eq!(checks[1].reason, slower);
    }

    #[test]
    fn one_false_alarm_fails() {
        let mut evidence = good();
        evidence.trials[2].verdict = Verdict::Fail;
        assert_eq!(verdicts(&evidence), ([Verdict::Fail, Verdict::Pass, Verdict::Pass], Verdict::Fail));
    }

    #[test]
    fn too_few_trials_are_inconclusive_and_told() {
        let mut evidence = good();
        evidence.trials.truncate(2);
        evidence.n_cut = 1;
        assert_eq!(verdicts(&evidence).1, Verdict::Pass);
        assert!(judge(&evidence)[0].reason.ends_with("; only 2 of 4 fitted into the time; 1 more cut off by its end"));
        evidence.trials.truncate(1);
        assert_eq!(verdicts(&evidence).0[0], Verdict::Inconclusive);
        evidence.trials = vec![trial(Verdict::Inconclusive); 4];
        assert_eq!(verdicts(&evidence).0[0], Verdict::Inconclusive);
        evidence.trials.clear();
        assert_eq!(verdicts(&evidence), ([Verdict::Inconclusive, Verdict::Pass, Verdict::Pass], Verdict::Inconclusive));
    }

    #[test]
    fn a_slower_hook_that_passes_fails_the_self_test() {
        let mut evidence = good();
        for (answer, verdict) in [
            (Verdict::Fail, Verdict::Pass),
            (Verdict::Pass, Verdict::Fail),
            (Verdict::Inconclusive, Verdict::Inconclusive),
            (Verdict::Skipped, Verdict::Inconclusive),
        ] {
            evidence.control.verdict = answer;
            assert_eq!(verdicts(&evidence), ([Verdict::Pass, verdict, Verdict::Pass], verdict));
        }
    }

    #[test]
    fn a_silent_hook_that_passes_fails_the_self_test() {
        let mut evidence = good();
        for (n_caught, n_without_golden, verdict) in
            [(0, 0, Verdict::Fail), (0, 1, Verdict::Inconclusive), (1, 1, Verdict::Pass), (2, 0, Verdict::Pass)]
        {
            evidence.vacuity = Vacuity { n_steps: 2, n_caught, n_without_golden };
            assert_eq!(verdicts(&evidence), ([Verdict::Pass, Verdict::Pass, verdict], verdict));
        }
    }

    #[test]
    fn a_fail_outranks_what_is_unclear() {
        let mut evidence = good();
        evidence.trials.clear();
        evidence.vacuity.n_caught = 0;
        assert_eq!(verdicts(&evidence).1, Verdict::Fail);
    }

    #[test]
    fn the_smallest_visible_slow_down_follows_from_precision_and_speed() {
        // 0.2 s a pair, so 2,500 pairs in 500 s: a tenth of the half-width at 25, 0.003; exp(2.6 × 0.003 / 1.96) − 1.
        let (share, n_pairs) = smallest_visible(&good()).unwrap();
        assert_eq!(n_pairs, 2_500);
        assert!((share - 0.003_987_5).abs() < 1e-6, "{share}");
        let mut evidence = good();
        evidence.trials.clear();
        assert_eq!(smallest_visible(&evidence), None);
    }
}
