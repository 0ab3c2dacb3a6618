//! Pairs of the two hooks: what each round says about their ratio.
//!
//! A pair is one round: the mean, over the selected steps, of the logarithm of candidate over baseline. Steps weigh
//! alike, however long they take, and the load of the moment cancels because both hooks met it. Cold rounds, calls that
//! did not start and rounds that lack a selected step give no pair. What the pairs prove is not judged here.

use std::collections::BTreeMap;

use super::Summary;
use super::step::{Call, StepSummary};
use super::timing::Clock;

/// What one round says about candidate over baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// The round.
    pub round: u32,
    /// 0 for the first measurement, then one more for each confirmation.
    pub phase: usize,
    /// ln(candidate / baseline), mean over the steps.
    pub log_ratio: f64,
}

/// The pairs of some steps on one clock, by round.
pub fn pairs(summary: &Summary, steps: &[&StepSummary], clock: Clock) -> Vec<Pair> {
    let mut rounds: BTreeMap<u32, (usize, f64)> = BTreeMap::new();
    for step in steps {
        let Some(other) = summary.baseline_of(step) else { continue };
        let (candidate, baseline) = (mean_logs(step, clock), mean_logs(other, clock));
        for (round, log) in candidate {
            if let Some(base) = baseline.get(&round) {
                let (n, sum) = rounds.entry(round).or_default();
                *n += 1;
                *sum += log - base;
            }
        }
    }
    let phase = |round: u32| summary.confirm_starts().iter().filter(|start| **start <= round).count();
    let whole = rounds.into_iter().filter(|(_, (n, _))| *n == steps.len());
    whole.map(|(round, (n, sum))| Pair { round, phase: phase(round), log_ratio: sum / n as f64 }).collect()
}

/// Round → mean logarithm of the calls' times, all calls of the round warm and started.
fn mean_logs(step: &StepSummary, clock: Clock) -> BTreeMap<u32, f64> {
    let rounds = step.calls().chunk_by(|left, right| left.round == right.round);
    rounds
        .filter(|calls| calls.iter().all(|call| call.started && !call.cold))
        .filter_map(|calls| Some((calls.first()?.round, mean_log(calls, clock))))
        .collect()
}

fn mean_log(calls: &[Call], clock: Clock) -> f64 {
    // A time below the clock's resolution counts as one microsecond: its logarithm must be finite.
    let sum: f64 = calls.iter().map(|call| (clock.of(call).max(1) as f64).ln()).sum();
    sum / calls.len() as f64
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::run_event::{Arm, RunEvent, StepResult};
    use crate::summary::fixture::{header, step};

    fn timed(name: &str, index: u32, round: u32, arm: Arm, cpu_us: u64) -> RunEvent {
        let mut result: StepResult = step("s", name, index, round);
        result.arm = arm;
        result.observation.cpu = Duration::from_micros(cpu_us);
        RunEvent::StepFinished(result)
    }

    fn summary(n_cold_rounds: u32, events: impl IntoIterator<Item = RunEvent>) -> Summary {
        let mut header = header(&["s"], 3);
        header.n_cold_rounds = n_cold_rounds;
        let events: Vec<RunEvent> = [RunEvent::RunStarted(header)].into_iter().chain(events).collect();
        Summary::of(&events)
    }

    fn all_pairs(summary: &Summary) -> Vec<Pair> {
        pairs(summary, &summary.steps().iter().collect::<Vec<_>>(), Clock::Cpu)
    }

    #[test]
    fn a_pair_is_the_mean_log_ratio_of_its_steps() {
        // x doubles, y is halved: the geometric mean is 1, its logarithm 0. In round 1 both double.
        let both = |round, x, y| {
            [
                timed("x", 0, round, Arm::Baseline, 100),
                timed("y", 1, round, Arm::Candidate, y),
                timed("x", 0, round, Arm::Candidate, x),
                timed("y", 1, round, Arm::Baseline, 1_000),
            ]
        };
        let summary = summary(0, both(0, 200, 500).into_iter().chain(both(1, 200, 2_000)));
        let found = all_pairs(&summary);
        assert_eq!(found.iter().map(|pair| (pair.round, pair.phase)).collect::<Vec<_>>(), [(0, 0), (1, 0)]);
        assert!(found.iter().zip([0.0, 2f64.ln()]).all(|(pair, want)| (pair.log_ratio - want).abs() < 1e-12));
    }

    #[test]
    fn calls_of_one_round_count_as_their_geometric_mean() {
        // The root of 100 · 400 is 200, twice the baseline.
        let call = |arm, cpu_us| timed("x", 0, 0, arm, cpu_us);
        let (candidate, baseline) = (Arm::Candidate, Arm::Baseline);
        let found = all_pairs(&summary(0, [call(candidate, 100), call(candidate, 400), call(baseline, 100)]));
        assert!(found.len() == 1 && (found[0].log_ratio - 2f64.ln()).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn cold_and_incomplete_rounds_give_no_pair_and_confirmations_count_up() {
        let pair = |round| [timed("x", 0, round, Arm::Candidate, 100), timed("x", 0, round, Arm::Baseline, 100)];
        let mut events: Vec<RunEvent> = pair(0).into_iter().chain(pair(1)).collect();
        events.push(timed("x", 0, 2, Arm::Candidate, 100));
        events.push(RunEvent::ConfirmStarted { round: 3, seed: 9 });
        events.extend(pair(3));
        let found = all_pairs(&summary(1, events));
        assert_eq!(found.iter().map(|pair| (pair.round, pair.phase)).collect::<Vec<_>>(), [(1, 0), (3, 1)]);
    }

    #[test]
    fn a_time_of_zero_keeps_the_ratio_finite() {
        let found = all_pairs(&summary(0, [timed("x", 0, 0, Arm::Candidate, 0), timed("x", 0, 0, Arm::Baseline, 10)]));
        assert!(found.iter().all(|pair| pair.log_ratio.is_finite()) && found.len() == 1);
    }
}
