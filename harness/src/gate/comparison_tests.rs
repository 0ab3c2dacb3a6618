//! Gates against a baseline and against saved runs, on runs made of numbers.
#![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::observation::{Ending, SpawnFault};
use crate::run_event::{Arm, OnInconclusive, RunEvent, Severity, StepResult, Verdict};
use crate::summary::fixture::{header, retrieved, step};

/// A comparison in the making: events, the next round, and noise that is the same in every run of a test.
struct Bench {
    events: Vec<RunEvent>,
    round: u32,
    noise: fastrand::Rng,
}

impl Bench {
    fn new() -> Bench {
        let mut header = header(&["s"], 0);
        header.baseline_command = Some("old-hook".to_owned());
        Bench { events: vec![RunEvent::RunStarted(header)], round: 0, noise: fastrand::Rng::with_seed(11) }
    }

    /// Rounds in which the hook takes `ratio` times the baseline's CPU and wall, give or take 2 % noise under a load
    /// that changes by up to five times.
    fn measured(mut self, n: u32, ratio: f64) -> Bench {
        for _ in 0..n {
            let load = 1.0 + 4.0 * self.noise.f64();
            for (arm, factor) in [(Arm::Baseline, 1.0), (Arm::Candidate, ratio)] {
                let us = 4_000.0 * load * factor * (1.0 + 0.04 * (self.noise.f64() - 0.5));
                let mut result = step("s", "x", 0, self.round);
                result.arm = arm;
                result.observation.cpu = Duration::from_micros(us as u64);
                result.observation.eof_after = Duration::from_micros(2 * us as u64);
                self.events.push(RunEvent::StepFinished(result));
            }
            self.round += 1;
        }
        self
    }

    fn confirmed(mut self, n: u32, ratio: f64) -> Bench {
        self.events.push(RunEvent::ConfirmStarted { round: self.round, seed: 1 });
        self.measured(n, ratio)
    }

    /// Changes every call of one side.
    fn changed(mut self, arm: Arm, change: impl Fn(&mut StepResult)) -> Bench {
        for event in &mut self.events {
            if let RunEvent::StepFinished(result) = event
                && result.arm == arm
            {
                change(result);
            }
        }
        self
    }

    fn summary(&self) -> Summary {
        Summary::of(&self.events)
    }
}

fn gates(texts: &[&str]) -> Vec<Gate> {
    texts.iter().map(|text| Gate::parse(text).unwrap()).collect()
}

fn answer(text: &str, bench: &Bench) -> GateResult {
    let result = judge_all(&gates(&[text]), &bench.summary(), &Stored::default()).remove(0);
    assert!(!result.reason.is_empty(), "{text} gives no reason");
    assert_eq!(result.remedy.is_empty(), result.verdict == Verdict::Pass, "{text}: {result:?}");
    result
}

fn verdict(text: &str, bench: &Bench) -> Verdict {
    answer(text, bench).verdict
}

fn wanted(text: &str, bench: &Bench, phase: usize) -> Option<usize> {
    pairs_wanted(&gates(&[text]), &bench.summary(), phase)
}

fn confirms(text: &str, bench: &Bench) -> bool {
    to_confirm(&gates(&[text]), &bench.summary(), &Stored::default())
}

const SLOWER: &str = "latency.cpu.p50 < +10% vs baseline";

#[test]
fn a_true_slow_down_fails_when_fresh_rounds_confirm_it() {
    let bench = Bench::new().measured(20, 1.12).confirmed(40, 1.12);
    let result = answer(SLOWER, &bench);
    assert_eq!((result.verdict, &*result.unit, result.n), (Verdict::Fail, "%", 40));
    let (low, high) = result.interval.unwrap();
    assert!(low < 12.0 && 12.0 < high && high - low < 3.0, "{low} {high}");
    assert!((result.estimate.unwrap() - 12.0).abs() < 1.0);
    assert!(result.reason.contains("over 20 pairs, then +1"), "{}", result.reason);
    assert!(result.reason.ends_with("over 40 pairs, which breaks < +10% vs baseline each time"), "{}", result.reason);
    assert!(!confirms(SLOWER, &bench));
}

#[test]
fn a_fail_that_waits_for_its_confirmation_is_inconclusive() {
    let bench = Bench::new().measured(20, 1.12);
    let result = answer(SLOWER, &bench);
    assert_eq!(result.verdict, Verdict::Inconclusive);
    assert!(result.remedy.contains("with time to confirm"), "{}", result.remedy);
    assert!(confirms(SLOWER, &bench));
    let final_at_once = "latency.cpu.p50 < +10% vs baseline with confirm=0";
    assert_eq!(verdict(final_at_once, &bench), Verdict::Fail);
    assert!(!confirms(final_at_once, &bench));
    let twice = "latency.cpu.p50 < +10% vs baseline with confirm=2";
    let once = bench.confirmed(40, 1.12);
    assert_eq!((verdict(twice, &once), confirms(twice, &once)), (Verdict::Inconclusive, true));
    let both = once.confirmed(40, 1.12);
    assert_eq!((verdict(twice, &both), confirms(twice, &both)), (Verdict::Fail, false));
}

#[test]
fn fresh_rounds_that_do_not_fail_acquit() {
    let bench = Bench::new().measured(20, 1.12).confirmed(40, 1.0);
    let result = answer(SLOWER, &bench);
    assert_eq!((result.verdict, result.n), (Verdict::Pass, 40));
    assert!(result.reason.contains("so fresh rounds did not confirm that it breaks"), "{}", result.reason);
    assert!(!confirms(SLOWER, &bench));
    // A gate that passed at once is not touched by a confirmation that another one asked for.
    let other = Bench::new().measured(20, 1.0).confirmed(40, 1.12);
    assert_eq!((verdict(SLOWER, &other), answer(SLOWER, &other).n), (Verdict::Pass, 20));
}

#[test]
fn equal_hooks_pass_and_few_pairs_decide_nothing() {
    let equal = Bench::new().measured(20, 1.0);
    assert_eq!(verdict(SLOWER, &equal), Verdict::Pass);
    assert_eq!(verdict("latency.cpu.p50 <= 1.1x vs baseline", &equal), Verdict::Pass);
    let few = answer(SLOWER, &Bench::new().measured(19, 2.0));
    assert_eq!((few.verdict, few.n), (Verdict::Inconclusive, 19));
    assert_eq!(few.reason, "n too small: 19 pairs of 20 needed");
    let more = "latency.cpu.p50 < +10% vs baseline with min_n=30, confirm=0";
    assert_eq!(verdict(more, &Bench::new().measured(29, 2.0)), Verdict::Inconclusive);
    assert_eq!(verdict(more, &Bench::new().measured(30, 2.0)), Verdict::Fail);
}

#[test]
fn a_ratio_is_the_same_gate_in_another_unit() {
    let slow = Bench::new().measured(20, 1.12);
    let result = answer("latency.cpu.p50 < 1.1x vs baseline with confirm=0", &slow);
    assert_eq!((result.verdict, &*result.unit), (Verdict::Fail, "x"));
    assert!((result.estimate.unwrap() - 1.12).abs() < 0.01, "{result:?}");
}

#[test]
fn the_margin_lies_at_half_the_bound_unless_told() {
    // +6 % is certain to be slower, and over half of 10 % but under 8 %.
    let slow = Bench::new().measured(60, 1.06);
    assert_eq!(verdict("latency.cpu.p50 < +10% vs baseline with confirm=0", &slow), Verdict::Fail);
    assert_eq!(verdict("latency.cpu.p50 < +10% vs baseline with confirm=0, margin=8%", &slow), Verdict::Pass);
    assert_eq!(verdict("latency.cpu.p50 < +20% vs baseline with confirm=0", &slow), Verdict::Pass);
}

#[test]
fn a_demanded_gain_must_be_proven() {
    let gain = "latency.cpu.p50 < -10% vs baseline with confirm=0";
    assert_eq!(verdict(gain, &Bench::new().measured(20, 0.88)), Verdict::Pass);
    assert_eq!(verdict(gain, &Bench::new().measured(20, 1.0)), Verdict::Fail);
    assert_eq!(verdict(gain, &Bench::new().measured(20, 1.1)), Verdict::Fail);
    assert_eq!(verdict(gain, &Bench::new().measured(19, 1.1)), Verdict::Inconclusive);
    let result = answer(gain, &Bench::new().measured(20, 0.88));
    let (low, high) = result.interval.unwrap();
    assert!(low < -12.0 && -12.0 < high && high < 0.0, "{result:?}");
    // A fail is confirmed here too.
    let unsure = "latency.cpu.p50 < -10% vs baseline";
    let bench = Bench::new().measured(20, 1.0);
    assert_eq!((verdict(unsure, &bench), confirms(unsure, &bench)), (Verdict::Inconclusive, true));
}

#[test]
fn more_than_mirrors_less_than() {
    let slow = Bench::new().measured(20, 1.12);
    let (same, fast) = (Bench::new().measured(20, 1.0), Bench::new().measured(20, 0.88));
    // Must be slower by 10 %, and must not be faster by 10 %.
    let demanded = "latency.cpu.p50 >= +10% vs baseline with confirm=0";
    let forbidden = "latency.cpu.p50 > -10% vs baseline with confirm=0";
    let seen = |gate| [&slow, &same, &fast].map(|bench| verdict(gate, bench));
    assert_eq!(seen(demanded), [Verdict::Pass, Verdict::Fail, Verdict::Fail]);
    assert_eq!(seen(forbidden), [Verdict::Pass, Verdict::Pass, Verdict::Fail]);
}

#[test]
fn measuring_goes_on_until_the_interval_is_narrow_whatever_it_says() {
    assert_eq!(wanted(SLOWER, &Bench::new(), 0), None, "no baseline was measured");
    let mut bench = Bench::new().measured(1, 1.0);
    assert_eq!(wanted(SLOWER, &bench, 0), Some(20));
    bench = bench.measured(19, 1.0);
    assert_eq!(wanted(SLOWER, &bench, 0), None, "2 % of noise are precise at the first look");
    // A certain answer is no reason to stop, nor is a wide interval on the right side.
    let mut wide = Bench::new();
    for _ in 0..10 {
        wide = wide.measured(1, 1.1).measured(1, 4.0);
    }
    assert_eq!(wanted(SLOWER, &wide, 0), Some(30));
    assert_eq!(wanted("latency.cpu.p50 < +10% vs baseline with max_n=25", &wide, 0), Some(25));
    assert_eq!(wanted("latency.cpu.p50 < +10% vs baseline with max_n=20", &wide, 0), None);
    assert_eq!(wanted("latency.cpu.p50 < +10% vs baseline with min_n=35", &bench, 0), Some(30));
    assert_eq!(wanted("latency.cpu.p50 <= 1s", &wide, 0), None, "no gate against the baseline");
    // Rounds that give no pair do not go on for ever.
    let broken = Bench::new().measured(20, 1.0).changed(Arm::Candidate, |result| {
        result.observation.ending = Ending::NotStarted(SpawnFault::NotFound);
    });
    assert_eq!(wanted(SLOWER, &broken, 0), None);
    let result = answer(SLOWER, &broken);
    assert_eq!(result.verdict, Verdict::Inconclusive);
    assert!(result.reason.starts_with("only 0 of 20 rounds gave a pair"), "{}", result.reason);
    assert!(result.remedy.starts_with("look at the findings"), "{}", result.remedy);
}

#[test]
fn a_confirmation_takes_twice_the_pairs_and_only_where_it_is_wanted() {
    let failed = Bench::new().measured(30, 1.12);
    assert_eq!(wanted(SLOWER, &failed, 1), Some(60));
    let begun = failed.confirmed(10, 1.12);
    assert_eq!(wanted(SLOWER, &begun, 1), Some(60));
    let done = begun.measured(50, 1.12);
    assert_eq!(wanted(SLOWER, &done, 1), None);
    assert_eq!(wanted(SLOWER, &Bench::new().measured(30, 1.0), 1), None);
    assert_eq!(wanted("latency.cpu.p50 < +10% vs baseline with confirm=0", &done, 1), None);
}

#[test]
fn many_gates_share_one_error_rate() {
    // Slower by 15 %, but for a spell of three rounds: p lies between 0.025 / 40 and 0.025.
    let bench = Bench::new().measured(17, 1.15).measured(3, 0.9);
    let alone = "latency.cpu.p50 < +10% vs baseline with confirm=0";
    assert_eq!(verdict(alone, &bench), Verdict::Fail);
    let gates = gates(&[alone; 40]);
    let together = judge_all(&gates, &bench.summary(), &Stored::default());
    assert!(together.iter().all(|result| result.verdict != Verdict::Fail), "{:?}", together[0]);
    assert!(together[0].reason.contains("as one of 40 gates tested together"), "{}", together[0].reason);
}

#[test]
fn a_cap_broken_by_chance_is_forgiven_among_many() {
    // Eight of ten beyond the bound: P(B ≤ 2) = 56/1024 is no proof, nine of ten are: 11/1024 = 0.0107.
    for (gate, one_ms, others_ms) in [("latency.cpu.p50 <= 10ms", 5, 20), ("latency.cpu.p50 >= 10ms", 20, 5)] {
        let steps = (0..10).map(|round| {
            let mut result = step("s", "x", 0, round);
            result.observation.cpu = Duration::from_millis(if round == 0 { one_ms } else { others_ms });
            result
        });
        let run = crate::summary::fixture::summary(10, steps);
        let judged = |n: usize| judge_all(&gates(&vec![gate; n]), &run, &Stored::default()).remove(0);
        assert_eq!(judged(1).verdict, Verdict::Fail, "{gate}");
        // 4 × 0.0107 is under 5 %, 5 × 0.0107 is over.
        assert_eq!(judged(4).verdict, Verdict::Fail, "{gate}");
        let five = judged(5);
        assert_eq!(five.verdict, Verdict::Inconclusive, "{gate}");
        assert!(five.reason.ends_with("not certain enough as one of 5 gates tested together"), "{}", five.reason);
    }
}

#[test]
fn other_statistics_come_from_resampled_rounds() {
    let slow = Bench::new().measured(200, 1.3);
    let same = Bench::new().measured(200, 1.0);
    for stat in ["p90", "p95", "mean"] {
        let gate = format!("latency.cpu.{stat} < +20% vs baseline with confirm=0");
        assert_eq!(verdict(&gate, &slow), Verdict::Fail, "{stat}");
        assert_eq!(verdict(&gate, &same), Verdict::Pass, "{stat}");
        let estimate = answer(&gate, &slow).estimate.unwrap();
        assert!((estimate - 30.0).abs() < 5.0, "{stat} {estimate}");
    }
    let few = answer("latency.cpu.p95 < +20% vs baseline", &Bench::new().measured(58, 1.3));
    assert_eq!(few.verdict, Verdict::Inconclusive);
    assert_eq!(few.reason, "n too small: 58 samples of 59 needed for latency.cpu.p95");
    assert_eq!(wanted("latency.cpu.p95 < +20% vs baseline", &Bench::new().measured(58, 1.3), 0), Some(60));
}

#[test]
fn a_slower_tail_alone_breaks_only_the_gate_on_the_tail() {
    let mut bench = Bench::new();
    for _ in 0..20 {
        bench = bench.measured(8, 1.0).measured(2, 8.0);
    }
    assert_eq!(verdict("latency.cpu.p50 < +10% vs baseline with confirm=0", &bench), Verdict::Pass);
    assert_eq!(verdict("latency.cpu.p90 < +50% vs baseline with confirm=0", &bench), Verdict::Fail);
}

#[test]
fn a_partial_cpu_figure_decides_nothing_in_its_own_favour() {
    let partial = |result: &mut StepResult| result.observation.cpu_partial = true;
    let gate = "latency.cpu.p50 < +10% vs baseline with confirm=0";
    let (slow, same) = (|| Bench::new().measured(20, 1.2), || Bench::new().measured(20, 1.0));
    assert_eq!(verdict(gate, &same().changed(Arm::Candidate, partial)), Verdict::Inconclusive);
    assert_eq!(verdict(gate, &slow().changed(Arm::Candidate, partial)), Verdict::Fail);
    assert_eq!(verdict(gate, &slow().changed(Arm::Baseline, partial)), Verdict::Inconclusive);
    assert_eq!(verdict(gate, &same().changed(Arm::Baseline, partial)), Verdict::Pass);
}

#[test]
fn a_small_change_of_wall_time_only_warns_without_four_hundred_pairs() {
    let slow = Bench::new().measured(20, 1.5);
    let severity = |gate: &str| {
        let result = answer(gate, &slow);
        assert_eq!(result.verdict, Verdict::Fail, "{gate}");
        result.severity
    };
    assert_eq!(severity("latency.wall.p50 < +10% vs baseline with confirm=0"), Severity::Warn);
    assert_eq!(severity("latency.wall.p50 < +10% vs baseline with confirm=0, max_n=399"), Severity::Warn);
    assert_eq!(severity("latency.wall.p50 < +10% vs baseline with confirm=0, max_n=400"), Severity::Fail);
    assert_eq!(severity("latency.wall.p50 < +25% vs baseline with confirm=0"), Severity::Fail);
    assert_eq!(severity("latency.cpu.p50 < +10% vs baseline with confirm=0"), Severity::Fail);
    let few = Bench::new().measured(2, 1.5);
    let unclear = answer("latency.wall.p50 < +10% vs baseline with inconclusive=fail", &few);
    assert_eq!(unclear.on_inconclusive, OnInconclusive::Fail, "too few pairs say nothing about the clock");
}

#[test]
fn exact_figures_are_compared_as_they_are() {
    let sized = |bytes: u64| {
        move |result: &mut StepResult| {
            (result.injected_bytes, result.injected_utf16) = (bytes, bytes);
        }
    };
    let bench = Bench::new().measured(1, 1.0).changed(Arm::Baseline, sized(200)).changed(Arm::Candidate, sized(220));
    assert_eq!(verdict("budget.bytes.max <= +10% vs baseline", &bench), Verdict::Pass);
    assert_eq!(verdict("budget.bytes.max < +10% vs baseline", &bench), Verdict::Fail);
    assert_eq!(verdict("budget.utf16.sum <= 1.1x vs baseline", &bench), Verdict::Pass);
    assert_eq!(verdict("budget.tokens_est.max == +10% vs baseline", &bench), Verdict::Pass);
    assert_eq!(verdict("budget.bytes.max < -1% vs baseline", &bench), Verdict::Fail);
    let few = answer("budget.bytes.p95 < +20% vs baseline", &bench);
    assert_eq!((few.verdict, &*few.remedy), (Verdict::Inconclusive, "run with --pairs 59"));
    let result = answer("budget.bytes.max < +10% vs baseline", &bench);
    assert_eq!((result.estimate, &*result.unit, result.n), (Some(10.0), "%", 1));
    assert_eq!(result.reason, "budget.bytes.max changed by +10% (from 200 to 220), which breaks < +10% vs baseline");
    let result = answer("budget.bytes.max < 1.05x vs baseline", &bench);
    assert_eq!(result.reason, "budget.bytes.max is 1.1x (from 200 to 220), which breaks < 1.05x vs baseline");
}

#[test]
fn a_change_from_nothing_is_without_limit() {
    let same = Bench::new().measured(2, 1.0);
    assert_eq!(verdict("timeout.count <= +0% vs baseline", &same), Verdict::Pass);
    assert_eq!(answer("timeout.count <= +0% vs baseline", &same).estimate, Some(0.0));
    let worse = same.changed(Arm::Candidate, |result| result.observation.ending = Ending::TimedOut);
    let result = answer("timeout.count <= +500% vs baseline", &worse);
    assert_eq!((result.verdict, result.estimate), (Verdict::Fail, None));
    assert!(result.reason.contains("new: there was none before (from 0 to 2)"), "{}", result.reason);
    let better = Bench::new().measured(2, 1.0).changed(Arm::Baseline, |result| result.truncated = true);
    assert_eq!(answer("delivered.truncated <= +0% vs baseline", &better).estimate, Some(-100.0));
}

#[test]
fn memory_and_retrieval_are_compared_by_their_figures() {
    let peak = |mib: u64| move |result: &mut StepResult| result.observation.peak_memory_bytes = Some(mib << 20);
    let bench = Bench::new().measured(3, 1.0).changed(Arm::Baseline, peak(10)).changed(Arm::Candidate, peak(12));
    assert_eq!(verdict("memory.peak < +25% vs baseline", &bench), Verdict::Pass);
    let result = answer("memory.peak < +15% vs baseline", &bench);
    assert_eq!(result.verdict, Verdict::Fail);
    assert!(result.reason.contains("from 10MiB to 12MiB"), "{}", result.reason);
    let ranked = |ids: &'static [&'static str]| {
        move |result: &mut StepResult| result.retrieved = Some(retrieved(ids, &[("a", 3)], 0))
    };
    let worse = bench.changed(Arm::Baseline, ranked(&["a"])).changed(Arm::Candidate, ranked(&["b", "a"]));
    assert_eq!(verdict("retrieval.rr@5 >= -10% vs baseline", &worse), Verdict::Fail);
    let result = answer("retrieval.rr@5 >= -10% vs baseline", &worse);
    assert_eq!(result.estimate, Some(-50.0));
    assert!(result.reason.contains("(from 1 to 0.5; worse at s/x)"), "{}", result.reason);
    assert_eq!(verdict("retrieval.recall@5 >= -10% vs baseline", &worse), Verdict::Pass);
}

#[test]
fn instructions_are_compared_by_the_geometric_mean_over_steps() {
    let mut bench = Bench::new().measured(1, 1.0);
    assert_eq!(verdict("instructions < +3% vs baseline", &bench), Verdict::Skipped);
    for (arm, counted) in [(Arm::Baseline, 1_000_000), (Arm::Candidate, 1_040_000)] {
        bench.events.push(RunEvent::InstructionsCounted {
            scenario: "s".to_owned(),
            step: "x".to_owned(),
            arm,
            instructions: counted,
        });
    }
    let result = answer("instructions < +3% vs baseline", &bench);
    assert_eq!((result.verdict, result.estimate, result.n), (Verdict::Fail, Some(4.0), 1));
    assert!(result.reason.contains("most at s/x, from 1000000 to 1040000"), "{}", result.reason);
    assert_eq!(verdict("instructions <= +4% vs baseline", &bench), Verdict::Pass);
    assert_eq!(verdict("instructions <= 1040000", &bench), Verdict::Pass);
    assert_eq!(verdict("instructions < 1040000", &bench), Verdict::Fail);
}

#[test]
fn a_large_step_does_not_hide_a_small_one() {
    let mut bench = Bench::new().measured(1, 1.0);
    for (arm, large, small) in [(Arm::Baseline, 1_000_000, 1_000), (Arm::Candidate, 1_000_000, 1_210)] {
        let mut call = step("s", "y", 1, 0);
        call.arm = arm;
        bench.events.push(RunEvent::StepFinished(call));
        for (name, instructions) in [("x", large), ("y", small)] {
            let (scenario, step) = ("s".to_owned(), name.to_owned());
            bench.events.push(RunEvent::InstructionsCounted { scenario, step, arm, instructions });
        }
    }
    // The root of 1 × 1.21 is 1.1, while the sums differ by 0.02 %.
    let result = answer("instructions < +9% vs baseline", &bench);
    assert_eq!((result.verdict, result.estimate, result.n), (Verdict::Fail, Some(10.0), 2));
    assert!(result.reason.contains("most at s/y, from 1000 to 1210"), "{}", result.reason);
    assert!(answer("instructions > -9% vs baseline", &bench).reason.contains("most at s/x"));
}

#[test]
fn a_reason_names_a_handful_of_steps_that_retrieve_worse() {
    let mut bench = Bench::new();
    for (arm, ranked) in [(Arm::Baseline, ["a"]), (Arm::Candidate, ["b"])] {
        for index in 0..7 {
            let mut call = step("s", &format!("q{index}"), index, 0);
            call.arm = arm;
            let found: &[&str] = if index == 6 { &["a"] } else { &ranked };
            call.retrieved = Some(retrieved(found, &[("a", 3)], 0));
            bench.events.push(RunEvent::StepFinished(call));
        }
    }
    let reason = |gate: &str| answer(gate, &bench).reason;
    let all = reason("retrieval.hit@5 >= -5% vs baseline");
    assert!(all.contains("worse at s/q0, s/q1, s/q2, s/q3, s/q4 and 1 more"), "{all}");
    let five = reason("retrieval.hit@5[step=q?,scenario=s] >= -5% vs baseline with min_n=1");
    assert_eq!(five.matches("s/q").count(), 5);
    assert!(reason("retrieval.hit@5[step=q0] >= -5% vs baseline").contains("; worse at s/q0)"));
}

#[test]
fn a_cap_that_every_call_breaks_fails_among_many_too() {
    // None of ten keeps the bound: p is 1/1024, and twenty times that is under 5 %.
    let steps = (0..10).map(|round| step("s", "x", 0, round));
    let run = crate::summary::fixture::summary(10, steps);
    for gate in ["latency.cpu.p50 <= 1ms", "latency.cpu.p50 >= 3ms"] {
        let judged = judge_all(&gates(&[gate; 20]), &run, &Stored::default());
        assert!(judged.iter().all(|result| result.verdict == Verdict::Fail), "{:?}", judged[0]);
    }
}

#[test]
fn a_saved_run_is_compared_exactly_and_its_times_only_warn() {
    let sized = |bytes: u64| move |result: &mut StepResult| result.injected_bytes = bytes;
    let old = Bench::new().measured(20, 1.0).changed(Arm::Candidate, sized(100)).summary();
    let new = Bench::new().measured(20, 2.0).changed(Arm::Candidate, sized(130)).summary();
    let stored = Stored::of("runs/old", old);
    let judged = |text: &str, run: &Summary| judge_all(&gates(&[text]), run, &stored).remove(0);
    assert_eq!(judged("budget.bytes.max <= +30% vs file:runs/old", &new).verdict, Verdict::Pass);
    assert_eq!(judged("budget.bytes.max < +30% vs file:runs/old", &new).verdict, Verdict::Fail);
    assert_eq!(judged("budget.bytes.max < +30% vs file:runs/old", &new).severity, Severity::Fail);
    let slow = judged("latency.cpu.p50 < +10% vs file:runs/old", &new);
    assert_eq!((slow.verdict, slow.severity), (Verdict::Fail, Severity::Warn));
    assert!(slow.reason.contains("only a warning, because stored times differ by themselves"), "{}", slow.reason);
    assert_eq!(judged("latency.cpu.min < +500% vs file:runs/old", &new).verdict, Verdict::Pass);
    assert_eq!(judged("latency.cpu.p95 < +10% vs file:runs/old", &new).verdict, Verdict::Inconclusive);
    assert_eq!(judged("leak.count[step=y] <= +0% vs file:runs/old", &new).verdict, Verdict::Skipped);
    assert_eq!(judged("leak.count <= +0% vs file:elsewhere", &new).verdict, Verdict::Skipped);

    let mut bench = Bench::new().measured(20, 2.0).changed(Arm::Candidate, sized(130));
    if let Some(RunEvent::RunStarted(header)) = bench.events.first_mut() {
        header.machine = "another one".to_owned();
    }
    let elsewhere = bench.summary();
    let refused = judged("latency.wall.p50 < +10% vs file:runs/old", &elsewhere);
    assert_eq!(refused.verdict, Verdict::Skipped);
    assert!(refused.reason.starts_with("times of two machines cannot be compared"), "{}", refused.reason);
    assert_eq!(judged("budget.bytes.max < +30% vs file:runs/old", &elsewhere).verdict, Verdict::Fail);
}

#[test]
fn too_few_calls_of_either_run_leave_a_comparison_open() {
    let run = |n: u32, cpu_ms: u64| {
        let steps = (0..n).map(|round| {
            let mut result = step("s", "x", 0, round);
            result.observation.cpu = Duration::from_millis(cpu_ms);
            result
        });
        crate::summary::fixture::summary(n, steps)
    };
    let judged = |gate: &str, new: u32, old: u32| {
        judge_all(&gates(&[gate]), &run(new, 2), &Stored::of("old", run(old, 1))).remove(0)
    };
    // Needed at 95 %: 5 for a median, 59 for p95, 299 for p99.
    let table = [
        ("latency.cpu.p50 < +10% vs file:old", 20, 4, "4 samples of 5"),
        ("latency.cpu.p50 < +10% vs file:old", 3, 20, "3 samples of 5"),
        ("latency.cpu.p99 < +10% vs file:old", 298, 400, "298 samples of 299"),
        ("budget.bytes.p95 <= +0% vs file:old", 58, 60, "58 samples of 59"),
    ];
    for (gate, new, old, lacking) in table {
        let result = judged(gate, new, old);
        assert_eq!((result.verdict, result.estimate), (Verdict::Inconclusive, None), "{gate}");
        assert!(result.reason.starts_with(&format!("n too small: {lacking} needed")), "{}", result.reason);
    }
    let enough = judged("latency.cpu.p50 < +10% vs file:old", 5, 6);
    assert_eq!((enough.verdict, enough.n), (Verdict::Fail, 5));
    assert!(enough.reason.contains("(from 1ms to 2ms)"), "{}", enough.reason);
}

#[test]
fn a_step_meets_its_own_counterpart_in_a_saved_run() {
    let sized = |name: &str, index: u32, bytes: u64| {
        let mut result = step("s", name, index, 0);
        result.injected_bytes = bytes;
        result
    };
    let run = || crate::summary::fixture::summary(1, [sized("x", 0, 100), sized("y", 1, 200)]);
    let stored = Stored::of("old", run());
    for step in ["x", "y"] {
        let gate = format!("budget.bytes.max[step={step}] == +0% vs file:old");
        let result = judge_all(&gates(&[&gate]), &run(), &stored).remove(0);
        assert_eq!((result.verdict, result.estimate), (Verdict::Pass, Some(0.0)), "{}", result.reason);
    }
}

#[test]
fn only_steps_of_both_sides_are_compared() {
    let mut bench = Bench::new().measured(1, 1.0);
    let mut new = step("s", "new", 1, 0);
    new.injected_bytes = 9_000;
    bench.events.push(RunEvent::StepFinished(new));
    let result = answer("budget.bytes.max <= +0% vs baseline", &bench);
    assert_eq!(result.verdict, Verdict::Pass);
    assert!(result.reason.contains("without 1 steps that only one side has"), "{}", result.reason);
    let only_new = answer("budget.bytes.max[step=new] <= +0% vs baseline", &bench);
    assert_eq!(only_new.verdict, Verdict::Skipped);
}

#[test]
fn the_selector_hook_looks_at_the_command() {
    let bench = Bench::new().measured(20, 1.0);
    assert_eq!(verdict("latency.cpu.p50[hook=my-hook*] < +10% vs baseline", &bench), Verdict::Pass);
    assert_eq!(verdict("latency.cpu.p50[hook=old-hook] < +10% vs baseline", &bench), Verdict::Skipped);
}

/// Two hooks over several steps with any times, some of them confirmed.
fn any_run() -> impl Strategy<Value = Vec<RunEvent>> {
    let times = prop::collection::vec((1_000_u64..2_000, 1_000_u64..2_000, 800_u64..1_600, 0_u64..3), 60..=60);
    (times, any::<bool>()).prop_map(|(times, confirmed)| {
        let mut events = Bench::new().events;
        for (at, (candidate, baseline, bytes, leaks)) in times.into_iter().enumerate() {
            let (round, index) = ((at / 2) as u32, (at % 2) as u32);
            if confirmed && round == 20 && index == 0 {
                events.push(RunEvent::ConfirmStarted { round, seed: 3 });
            }
            for (arm, us) in [(Arm::Candidate, candidate), (Arm::Baseline, baseline)] {
                let mut result = step("s", ["x", "y"][index as usize], index, round);
                result.arm = arm;
                result.observation.cpu = Duration::from_micros(us);
                result.observation.eof_after = Duration::from_micros(us * 2);
                result.observation.stream_held_open = leaks == 0;
                result.injected_bytes = bytes;
                events.push(RunEvent::StepFinished(result));
            }
        }
        events
    })
}

const ALL_KINDS: [&str; 10] = [
    "latency.cpu.p50 < +10% vs baseline",
    "latency.cpu.p50[step=x] < +2% vs baseline with confirm=0",
    "latency.wall.p50 < -3% vs baseline with confirm=0",
    "latency.wall.p90 < +10% vs baseline with confirm=0",
    "latency.cpu.mean >= -5% vs baseline with confirm=0",
    "latency.cpu.p50 <= 1.4ms",
    "latency.wall.p90 <= 3.6ms",
    "budget.bytes.max <= 1500",
    "budget.bytes.sum <= +5% vs baseline",
    "leak.count <= 20",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn order_of_gates_and_steps_does_not_change_an_answer(events in any_run(), seed in any::<u64>()) {
        let gates = gates(&ALL_KINDS);
        let answers = judge_all(&gates, &Summary::of(&events), &Stored::default());
        let mut random = fastrand::Rng::with_seed(seed);
        let mut shuffled_gates = gates.clone();
        random.shuffle(&mut shuffled_gates);
        // Calls of one round may come in any order; the header is first.
        let mut shuffled = events.clone();
        if let Some((_, calls)) = shuffled.split_first_mut() {
            random.shuffle(calls);
        }
        let again = judge_all(&shuffled_gates, &Summary::of(&shuffled), &Stored::default());
        for answer in &answers {
            let other = again.iter().find(|other| other.name == answer.name).unwrap();
            prop_assert_eq!(other, answer);
        }
    }

    #[test]
    fn the_speed_of_the_machine_does_not_change_a_comparison(events in any_run(), factor in 2_u32..50) {
        let gates = gates(&ALL_KINDS[..5]);
        let mut slower = events.clone();
        for event in &mut slower {
            if let RunEvent::StepFinished(result) = event {
                result.observation.cpu *= factor;
                result.observation.eof_after *= factor;
            }
        }
        let verdicts = |events: &[RunEvent]| -> Vec<Verdict> {
            judge_all(&gates, &Summary::of(events), &Stored::default()).iter().map(|gate| gate.verdict).collect()
        };
        prop_assert_eq!(verdicts(&slower), verdicts(&events));
    }
}
