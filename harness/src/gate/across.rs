//! Time gates over steps that ran on several machines.
//!
//! Absolute times of different machines never pool, so a gate on them has no answer. A percentile of the ratios to the
//! no-op is a figure of the hook, which each machine estimates for itself: the estimates are combined by inverse
//! variance, on the logarithms, with the standard error that the machine's own order-statistic bounds imply. The
//! smallest, largest and mean ratio are taken over all calls, as on one machine. Intervals against a baseline, one for
//! each machine, combine the same way by [`combined_interval`].

use hookbench_statistics::normal::{two_sided_z, upper_tail};
use hookbench_statistics::{Interval, inverse_variance, standard_error_of};

use super::bound::Op;
use super::evidence::Evidence;
use super::expr::{Base, GateExpr, Metric, Stat};
use super::paired::{Paired, Phase};
use super::question::Question;
use crate::latency::{Quantile, needed, ranks};
use crate::summary::{StepSummary, Summary, Timing};

/// What several machines know about a time; `None` when the steps ran on one, or when machines make no difference.
pub(super) fn across(expr: &GateExpr, steps: &[&StepSummary], summary: &Summary) -> Option<Evidence> {
    let Metric::Latency(clock, stat) = expr.metric else { return None };
    let machines = summary.machines_of(steps.iter().copied());
    if machines.len() < 2 {
        return None;
    }
    let own = |machine: &str| -> Vec<&StepSummary> {
        steps.iter().copied().filter(|step| summary.machine_of(&step.scenario) == machine).collect()
    };
    if let Some(question) = Question::of(expr) {
        let parts: Vec<Paired> = machines.iter().map(|machine| Paired::of(question, summary, &own(machine))).collect();
        return Some(Evidence::Paired(Paired { question, phases: phases(&parts) }));
    }
    match (&expr.base, stat) {
        (None | Some(Base::File(_)), _) => Some(Evidence::Absent {
            reason: format!(
                "the steps ran on {} different machines ({}), whose absolute times never pool",
                machines.len(),
                machines.join("; ")
            ),
            remedy: "gate the ratio with `vs noop`, select the scenarios of one machine, or run all parts on equal \
                     machines"
                .to_owned(),
        }),
        (Some(Base::Noop), Stat::Percentile(quantile)) => {
            let ratios =
                machines.iter().map(|machine| Timing::of(own(machine), summary.floors()).ratios(clock).to_vec());
            Some(combined(&ratios.collect::<Vec<_>>(), quantile, expr))
        }
        (Some(Base::Noop | Base::Baseline), _) => None,
    }
}

/// The phases of several machines as those of one measurement. A phase that one machine has not measured is not there,
/// and one that a machine cannot bound has no interval.
fn phases(parts: &[Paired]) -> Vec<Phase> {
    let n_phases = parts.iter().map(|part| part.phases.len()).min().unwrap_or(0);
    let phase = |at: usize| {
        let own: Vec<&Phase> = parts.iter().filter_map(|part| part.phases.get(at)).collect();
        let intervals: Option<Vec<Interval>> = own.iter().map(|phase| phase.interval).collect();
        let least = |figure: fn(&Phase) -> usize| own.iter().map(|phase| figure(phase)).min().unwrap_or(0);
        Phase {
            n_rounds: least(|phase| phase.n_rounds),
            n_pairs: least(|phase| phase.n_pairs),
            n_samples: own.iter().map(|phase| phase.n_samples).min().unwrap_or(0),
            need_samples: own.iter().map(|phase| phase.need_samples).max().unwrap_or(0),
            interval: intervals.and_then(|intervals| combined_interval(&intervals)),
        }
    };
    (0..n_phases).map(phase).collect()
}

/// One percentile of the ratios of each machine, rising, as one figure.
fn combined(machines: &[Vec<f64>], quantile: Quantile, expr: &GateExpr) -> Evidence {
    let confidence = expr.options.confidence();
    let need = expr.options.min_n.unwrap_or(needed(quantile, confidence));
    let fewest = machines.iter().map(|ratios| ratios.len() as u64).min().unwrap_or(0);
    let parts: Option<Vec<(f64, f64)>> = machines.iter().map(|ratios| part(ratios, quantile, confidence)).collect();
    let whole = parts.filter(|_| fewest >= need).and_then(|parts| inverse_variance(&parts));
    let Some((estimate, error)) = whole else {
        let (estimate, low, high) = (None, None, None);
        return Evidence::Bounded { estimate, low, high, n: fewest, need: need.max(fewest + 1), p_kept: 1.0 };
    };
    let reach = one_sided_z(confidence) * error;
    let excess = estimate - expr.bound.number.ln();
    // `==` never gets here: a measured figure equals no bound.
    let beyond = if matches!(expr.op, Op::Ge | Op::Gt) { -excess } else { excess };
    Evidence::Bounded {
        estimate: Some(estimate.exp()),
        low: Some((estimate - reach).exp()),
        high: Some((estimate + reach).exp()),
        n: machines.iter().map(|ratios| ratios.len() as u64).sum(),
        need,
        p_kept: p_not_above(beyond, error),
    }
}

/// Intervals of one log ratio, each measured on a machine of its own, as one interval of normal shape.
///
/// A part of infinite width knows nothing and does not count, but for its samples. `None` when no part knows anything,
/// or when they were made at different confidences.
fn combined_interval(parts: &[Interval]) -> Option<Interval> {
    let confidence = parts.first()?.confidence;
    if parts.iter().any(|part| part.confidence.total_cmp(&confidence).is_ne()) {
        return None;
    }
    let weighed: Vec<(f64, f64)> = parts.iter().map(|part| (part.estimate, standard_error_of(part))).collect();
    let (estimate, error) = inverse_variance(&weighed)?;
    let reach = two_sided_z(confidence) * error;
    Some(Interval {
        estimate,
        low: estimate - reach,
        high: estimate + reach,
        n: parts.iter().map(|part| part.n).sum(),
        confidence,
        p_not_above: p_not_above(estimate, error),
        p_not_below: p_not_above(-estimate, error),
    })
}

/// One-sided p of the hypothesis that the truth behind a normal estimate is not above 0. An estimate without error leaves
/// no doubt.
fn p_not_above(estimate: f64, error: f64) -> f64 {
    match (error > 0.0, estimate > 0.0) {
        (true, _) => upper_tail(estimate / error),
        (false, true) => 0.0,
        (false, false) => 1.0,
    }
}

/// Logarithm of one machine's percentile, and its standard error: each bound lies z of its one-sided confidence away.
fn part(ratios: &[f64], quantile: Quantile, confidence: f64) -> Option<(f64, f64)> {
    let n = ratios.len() as u64;
    let at = |rank: u64| Some(ratios.get(usize::try_from(rank).ok()?.checked_sub(1)?)?.ln());
    let bounds = ranks(n, quantile, confidence);
    let (low, high) = (at(bounds.lower?)?, at(bounds.upper?)?);
    Some((at(quantile.rank(n))?, (high - low) / (2.0 * one_sided_z(confidence))))
}

/// z with P(Z ≤ z) = `confidence`, for a confidence above one half.
fn one_sided_z(confidence: f64) -> f64 {
    two_sided_z(2.0 * confidence - 1.0)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, clippy::panic, reason = "a test may stop at a surprise")]

    use std::time::Duration;

    use super::*;
    use crate::gate::{Gate, Stored, judge_all};
    use crate::run_event::{Arm, GateResult, RunEvent, Source, Verdict};
    use crate::summary::fixture::{header, step};

    /// A run in which scenario `fast` took `fast` times its floor, and `slow` took `slow` times a floor ten times
    /// longer, each `n` times; on two machines.
    fn two_machines(n: u32, fast: impl Fn(u32) -> f64, slow: impl Fn(u32) -> f64) -> Summary {
        let mut events = vec![RunEvent::RunStarted(header(&["fast", "slow"], n))];
        for (scenario, floor_us, ratio) in [("fast", 1_000, &fast as &dyn Fn(u32) -> f64), ("slow", 10_000, &slow)] {
            let source =
                Source { machine: format!("{scenario} box"), scenarios: vec![scenario.to_owned()], shard: None };
            events.push(RunEvent::SourceMerged(source));
            for round in 0..n {
                let floor = Duration::from_micros(floor_us);
                events.push(RunEvent::FloorMeasured { scenario: scenario.to_owned(), round, wall: floor, cpu: floor });
                let mut result = step(scenario, "x", 0, round);
                result.observation.eof_after = floor.mul_f64(ratio(round));
                result.observation.cpu = result.observation.eof_after;
                events.push(RunEvent::StepFinished(result));
            }
        }
        Summary::of(&events)
    }

    fn answer(gate: &str, summary: &Summary) -> GateResult {
        judge_all(&[Gate::parse(gate).unwrap()], summary, &Stored::default()).remove(0)
    }

    #[test]
    fn absolute_times_of_two_machines_are_not_judged() {
        let summary = two_machines(60, |_| 2.0, |_| 2.0);
        for gate in ["latency.wall.p95 <= 900s", "latency.cpu.p50 <= 900s", "latency.wall.max <= 900s"] {
            let seen = answer(gate, &summary);
            assert_eq!((seen.verdict, seen.estimate), (Verdict::Skipped, None), "{gate}");
            assert!(seen.reason.contains("2 different machines (fast box; slow box)"), "{}", seen.reason);
            assert!(seen.remedy.contains("vs noop"), "{}", seen.remedy);
        }
        let one = answer("latency.wall.p95[scenario=slow] <= 900s", &summary);
        assert_eq!((one.verdict, one.n), (Verdict::Pass, 60));
        assert_eq!(answer("leak.count == 0", &summary).verdict, Verdict::Pass);
    }

    #[test]
    fn ratios_of_two_machines_are_weighed_by_their_precision() {
        // Ratios 1.90 to 2.10 on one machine and 3 to 9 on the other: the first is far surer and decides.
        let summary = two_machines(41, |round| 1.9 + f64::from(round) * 0.005, |round| 3.0 + f64::from(round) * 0.15);
        let seen = answer("latency.wall.p50 <= 2.5x vs noop", &summary);
        assert_eq!((seen.verdict, seen.n), (Verdict::Pass, 82));
        // By hand: ranks of the median of 41 at 95 % a side are 15 and 27: P(X ≤ 14) = 0.0298 and P(X ≤ 15) = 0.0586
        // for X of 41 halves. ln bounds 1.970 … 2.030 of 2.0: error ln(2.03/1.97)/2z = 0.0300/3.29 = 0.00912; and
        // 5.1 … 6.9 of 6.0: ln(6.9/5.1)/3.29 = 0.0919. Weights 12,023 and 118.4: ln 2 + 1.0986·118.4/12,141 = 0.70386.
        let estimate = seen.estimate.unwrap();
        assert!((estimate - 0.703_86_f64.exp()).abs() < 0.001, "{estimate}");
        let (low, high) = seen.interval.unwrap();
        // Error of both together: 1/√12,141 = 0.009076; times 1.645: 0.01493.
        assert!((low - (0.703_86_f64 - 0.014_93).exp()).abs() < 0.001, "{low}");
        assert!((high - (0.703_86_f64 + 0.014_93).exp()).abs() < 0.001, "{high}");
        let failed = answer("latency.wall.p50 <= 1.5x vs noop", &summary);
        assert_eq!(failed.verdict, Verdict::Fail);
    }

    /// A run of two hooks in which scenario `fast` got slower by `fast` and `slow` by `slow`, with this much noise, each
    /// on a machine of its own.
    fn two_hooks(n: u32, fast: (f64, f64), slow: (f64, f64)) -> Summary {
        let mut events = vec![RunEvent::RunStarted(header(&["fast", "slow"], n))];
        let mut random = fastrand::Rng::with_seed(3);
        for (scenario, base_us, (change, noise)) in [("fast", 1_000.0, fast), ("slow", 90_000.0, slow)] {
            let source =
                Source { machine: format!("{scenario} box"), scenarios: vec![scenario.to_owned()], shard: None };
            events.push(RunEvent::SourceMerged(source));
            for round in 0..n {
                for (arm, ratio) in [(Arm::Baseline, 1.0), (Arm::Candidate, change)] {
                    let mut result = step(scenario, "x", 0, round);
                    result.arm = arm;
                    let us = base_us * ratio * (1.0 + noise * (random.f64() - 0.5));
                    result.observation.cpu = Duration::from_micros(us as u64);
                    events.push(RunEvent::StepFinished(result));
                }
            }
        }
        Summary::of(&events)
    }

    #[test]
    fn ratios_to_a_baseline_are_weighed_by_their_precision() {
        let gate = "latency.cpu.p50 < +10% vs baseline with confirm=0";
        let slower = answer(gate, &two_hooks(60, (1.2, 0.02), (1.2, 0.02)));
        assert_eq!(slower.verdict, Verdict::Fail, "{}", slower.reason);
        let same = answer(gate, &two_hooks(60, (1.0, 0.02), (1.0, 0.02)));
        assert_eq!(same.verdict, Verdict::Pass, "{}", same.reason);
        // A steady machine that sees no change outweighs a wild one that seems to.
        let mixed = answer(gate, &two_hooks(60, (1.0, 0.02), (1.3, 1.9)));
        assert_eq!(mixed.verdict, Verdict::Pass, "{}", mixed.reason);
        assert!(mixed.estimate.unwrap().abs() < 2.0, "{mixed:?}");
        let few = answer(gate, &two_hooks(10, (1.2, 0.02), (1.2, 0.02)));
        assert_eq!(few.verdict, Verdict::Inconclusive, "{}", few.reason);
    }

    #[test]
    fn intervals_of_two_machines_combine_to_a_surer_one() {
        let part = |estimate: f64, half: f64| Interval {
            estimate,
            low: estimate - half,
            high: estimate + half,
            n: 20,
            confidence: 0.95,
            p_not_above: 0.5,
            p_not_below: 0.5,
        };
        // Standard errors 0.1 and 0.2 are half-widths of 0.196 and 0.392: weights 100 and 25, estimate 0.12, error
        // 1/√125 = 0.08944; one-sided p of 0.12/0.08944 = 1.3416 is 0.0899.
        let both = combined_interval(&[part(0.1, 0.195_996_4), part(0.2, 0.391_992_8)]).unwrap();
        assert!((both.estimate - 0.12).abs() < 1e-6 && (both.half_width() - 0.175_304).abs() < 1e-5, "{both:?}");
        assert!((both.p_not_above - 0.0899).abs() < 1e-4 && (both.p_not_below - 0.9101).abs() < 1e-4, "{both:?}");
        assert_eq!((both.n, both.confidence), (40, 0.95));
        let ignorant = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY, ..part(9.0, 1.0) };
        assert!((combined_interval(&[part(0.1, 0.2), ignorant]).unwrap().estimate - 0.1).abs() < 1e-12);
        let exact = combined_interval(&[part(0.1, 0.0), part(0.1, 0.0)]).unwrap();
        assert_eq!((exact.p_not_above, exact.p_not_below), (0.0, 1.0));
        assert_eq!(combined_interval(&[]), None);
        assert_eq!(combined_interval(&[part(0.1, 0.1), Interval { confidence: 0.9, ..part(0.1, 0.1) }]), None);
    }

    /// n, need, and p of the bound being kept, of two or more machines.
    fn combination(machines: &[Vec<f64>], gate: &str) -> (u64, u64, f64) {
        match combined(machines, Quantile::P50, &gate.parse().unwrap()) {
            Evidence::Bounded { n, need, p_kept, .. } => (n, need, p_kept),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_chance_of_a_kept_bound_comes_from_all_machines() {
        // The machines of the test above: ln of the ratio is 0.703864 with an error of 0.0090754. 2.05 is 0.717840, so
        // 1.5399 errors above, and 2 is 0.693147, so 1.1809 below; P(Z > 1.1809) = 0.118825, P(Z > 1.5399) = 0.061788.
        let machines: [Vec<f64>; 2] = [
            (0..41).map(|round| 1.9 + f64::from(round) * 0.005).collect(),
            (0..41).map(|round| 3.0 + f64::from(round) * 0.15).collect(),
        ];
        let table = [("<= 2x", 0.118_825), ("< 2.05x", 0.938_212), (">= 2x", 0.881_175), ("> 2.05x", 0.061_788)];
        for (bound, expected) in table {
            let (n, _, p) = combination(&machines, &format!("latency.wall.p50 {bound} vs noop"));
            assert!((p - expected).abs() < 1e-5 && n == 82, "{bound}: {p}");
        }
    }

    #[test]
    fn machines_without_spread_leave_no_doubt() {
        let steady = [vec![4.0; 20], vec![4.0; 20]];
        let table = [("<= 3x", 0.0), ("<= 4x", 1.0), ("<= 5x", 1.0), (">= 3x", 1.0), (">= 4x", 1.0), (">= 5x", 0.0)];
        for (bound, expected) in table {
            assert_eq!(combination(&steady, &format!("latency.wall.p50 {bound} vs noop")).2, expected, "{bound}");
        }
    }

    #[test]
    fn a_percentile_that_no_rank_bounds_wants_one_call_more() {
        // The median of three has no upper bound at 95 %, whatever the gate asks for.
        let (n, need, p) = combination(&[vec![2.0; 3], vec![2.0; 9]], "latency.wall.p50 <= 9x vs noop with min_n=2");
        assert_eq!((n, need, p), (3, 4, 1.0));
        assert_eq!(combination(&[vec![2.0; 3], vec![2.0; 9]], "latency.wall.p50 <= 9x vs noop").1, 5);
    }

    #[test]
    fn each_of_many_machines_gives_its_own_steps() {
        let names = ["a", "b", "c"];
        let mut events = vec![RunEvent::RunStarted(header(&names, 10))];
        for (name, ratio) in names.into_iter().zip([2, 2, 4]) {
            let scenarios = vec![name.to_owned()];
            events.push(RunEvent::SourceMerged(Source { machine: format!("{name} box"), scenarios, shard: None }));
            for round in 0..10 {
                let floor = Duration::from_micros(1_000);
                events.push(RunEvent::FloorMeasured { scenario: name.to_owned(), round, wall: floor, cpu: floor });
                let mut result = step(name, "x", 0, round);
                result.observation.eof_after = floor * ratio;
                events.push(RunEvent::StepFinished(result));
            }
        }
        // Without any spread each machine counts alike: the cube root of 2 · 2 · 4 is 2.5198.
        let seen = answer("latency.wall.p50 <= 9x vs noop", &Summary::of(&events));
        assert_eq!(seen.n, 30);
        assert!((seen.estimate.unwrap() - 2.519_84).abs() < 1e-4, "{seen:?}");
    }

    #[test]
    fn a_machine_with_too_few_calls_leaves_the_answer_open() {
        let summary = two_machines(28, |_| 2.0, |_| 2.0);
        let seen = answer("latency.wall.p90 <= 9x vs noop", &summary);
        assert_eq!((seen.verdict, seen.estimate), (Verdict::Inconclusive, None));
        assert_eq!(answer("latency.wall.p50 <= 9x vs noop", &summary).verdict, Verdict::Pass);
        let open = combined(
            &[vec![1.0; 4], vec![1.0; 100]],
            Quantile::P50,
            &"latency.wall.p50 <= 9x vs noop".parse().unwrap(),
        );
        let Evidence::Bounded { estimate: None, n: 4, need: 5, .. } = open else { panic!("{open:?}") };
    }
}
