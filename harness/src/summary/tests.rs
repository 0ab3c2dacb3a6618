#![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

use std::time::Duration;

use super::fixture::{finding, floor, header, retrieved, run, step, summary};
use super::*;
use crate::observation::{Ending, Orphan, SpawnFault};
use crate::quality::Measure;
use crate::run_event::FindingKind;

#[test]
fn steps_stand_in_plan_order_whatever_order_they_came_in() {
    let mut events = vec![RunEvent::RunStarted(header(&["b", "a"], 2))];
    let mut results = vec![
        step("z", "z1", 0, 0),
        step("a", "a1", 0, 1),
        step("b", "b2", 1, 0),
        step("b", "b1", 0, 0),
        step("a", "a1", 0, 0),
    ];
    events.extend(results.iter().cloned().map(RunEvent::StepFinished));
    let forward = Summary::of(&events);
    let names: Vec<&str> = forward.steps().iter().map(|step| &*step.step).collect();
    assert_eq!(names, ["b1", "b2", "a1", "z1"]);
    let rounds: Vec<u32> = forward.steps()[2].calls().iter().map(|call| call.round).collect();
    assert_eq!(rounds, [0, 1]);
    let scenarios: Vec<&str> = forward.scenarios().iter().map(|scenario| scenario.name).collect();
    assert_eq!(scenarios, ["b", "a", "z"]);

    results.reverse();
    let mut backward = vec![RunEvent::RunStarted(header(&["b", "a"], 2))];
    backward.extend(results.into_iter().map(RunEvent::StepFinished));
    assert_eq!(Summary::of(&backward), forward);

    // A header that comes late puts everything in its place.
    let head = backward.remove(0);
    backward.push(head);
    assert_eq!(Summary::of(&backward), forward);
}

#[test]
fn a_scenario_is_incomplete_until_every_round_ended() {
    let started = |round| RunEvent::ScenarioStarted { scenario: "s".to_owned(), round };
    let finished = |round| RunEvent::ScenarioFinished { scenario: "s".to_owned(), round };
    let state = |events: &[RunEvent]| Summary::of(events).scenarios()[0].state;
    let head = RunEvent::RunStarted(header(&["s"], 2));
    assert_eq!(state(std::slice::from_ref(&head)), ScenarioState::Incomplete);
    assert_eq!(state(&[head.clone(), started(0)]), ScenarioState::Incomplete);
    assert_eq!(state(&[head.clone(), started(0), finished(0)]), ScenarioState::Pass);
    assert_eq!(state(&[head.clone(), started(0), finished(0), started(1)]), ScenarioState::Incomplete);
    let mut bad = step("s", "x", 0, 0);
    bad.findings.push(finding(FindingKind::Empty, "nothing"));
    assert_eq!(state(&[head, started(0), RunEvent::StepFinished(bad)]), ScenarioState::Fail);
}

#[test]
fn only_the_last_event_makes_a_run_complete() {
    let mut events = run(1, [step("s", "x", 0, 0)]);
    assert!(Summary::of(&events).complete());
    events.pop();
    assert!(!Summary::of(&events).complete());
}

#[test]
fn two_findings_of_one_kind_are_one_call_and_the_earliest_message_stays() {
    let mut late = step("s", "x", 0, 3);
    late.findings = vec![finding(FindingKind::Empty, "late"), finding(FindingKind::Empty, "late too")];
    let mut early = step("s", "x", 0, 1);
    early.findings = vec![finding(FindingKind::Empty, "early"), finding(FindingKind::Crash, "signal 9")];
    let summary = summary(4, [late, early]);
    let findings = summary.steps()[0].findings();
    assert_eq!(findings[&FindingKind::Empty], FindingTally { n_calls: 2, first_round: 1, message: "early".to_owned() });
    assert_eq!(findings[&FindingKind::Crash].n_calls, 1);
    // Report order: a crash before an empty text.
    assert_eq!(*findings.first_key_value().unwrap().0, FindingKind::Crash);
}

#[test]
fn a_step_is_flaky_when_its_rounds_disagree() {
    let failed = |round| {
        let mut failed = step("s", "x", 0, round);
        failed.findings.push(finding(FindingKind::Empty, "nothing"));
        failed
    };
    assert!(!summary(2, [step("s", "x", 0, 0), step("s", "x", 0, 1)]).steps()[0].flaky());
    assert!(!summary(2, [failed(0), failed(1)]).steps()[0].flaky());
    assert!(summary(2, [step("s", "x", 0, 0), failed(1)]).steps()[0].flaky());
    let mut changed = step("s", "x", 0, 0);
    changed.findings.push(finding(FindingKind::NotDeterministic, "other text"));
    assert!(summary(1, [changed]).steps()[0].flaky());
}

#[test]
fn parallel_calls_of_a_round_may_differ_but_rounds_may_not() {
    let failed = |round| {
        let mut failed = step("s", "x", 0, round);
        failed.findings.push(finding(FindingKind::Empty, "nothing"));
        failed
    };
    let one_of_two = |round| [step("s", "x", 0, round), failed(round)];
    assert!(!summary(1, one_of_two(0)).steps()[0].flaky());
    assert!(!summary(2, one_of_two(0).into_iter().chain(one_of_two(1))).steps()[0].flaky());
    let then_none = [step("s", "x", 0, 1), step("s", "x", 0, 1)];
    assert!(summary(2, one_of_two(0).into_iter().chain(then_none)).steps()[0].flaky());
}

#[test]
fn calls_carry_what_the_observation_says() {
    let mut held = step("s", "held", 0, 0);
    held.observation.stream_held_open = true;
    let mut orphan = step("s", "orphan", 1, 0);
    orphan.observation.orphans.push(Orphan { pid: 7, name: "sleep".to_owned() });
    let mut timed_out = step("s", "late", 2, 0);
    timed_out.observation.ending = Ending::TimedOut;
    let mut golden = step("s", "golden", 3, 0);
    golden.findings.push(finding(FindingKind::GoldenMissing, "none yet"));
    let summary = summary(1, [held, orphan, timed_out, golden, step("s", "fine", 4, 0)]);
    let calls: Vec<&Call> = summary.steps().iter().map(|step| &step.calls()[0]).collect();
    let flags = |call: &Call| (call.leaked, call.timed_out, call.golden_failed, call.passed);
    assert_eq!(flags(calls[0]), (true, false, false, true));
    assert_eq!(flags(calls[1]), (true, false, false, true));
    assert_eq!(flags(calls[2]), (false, true, false, true));
    assert_eq!(flags(calls[3]), (false, false, true, false));
    assert_eq!(flags(calls[4]), (false, false, false, true));
    assert_eq!(calls[4].memory_floor_bytes, Some(3 << 20));
    assert_eq!((calls[4].wall_us, calls[4].exit_us, calls[4].cpu_us), (3_000, 2_900, 2_000));
}

#[test]
fn ratios_pair_each_call_with_the_floor_of_its_own_scenario_and_round() {
    let floor_of = |scenario: &str, round, wall| RunEvent::FloorMeasured {
        scenario: scenario.to_owned(),
        round,
        wall: Duration::from_micros(wall),
        cpu: Duration::from_micros(400),
    };
    let events: Vec<RunEvent> = [floor_of("a", 0, 1_000), floor_of("a", 1, 2_000), floor_of("b", 0, 500)]
        .into_iter()
        .chain([step("a", "x", 0, 0), step("a", "x", 0, 1), step("b", "y", 0, 0)].map(RunEvent::StepFinished))
        .collect();
    let summary = Summary::of(&events);
    let timing = Timing::of(summary.steps(), summary.floors());
    // 3,000 over 2,000, 1,000 and 500.
    assert_eq!(timing.wall_ratios, [1.5, 3.0, 6.0]);
    assert_eq!(timing.median_ratio(Clock::Wall), Some(3.0));
    assert_eq!(timing.cpu_ratios, [5.0, 5.0, 5.0]);
}

#[test]
fn pooled_memory_is_the_largest_peak_and_the_largest_launcher() {
    let sized = |round, peak, floor_bytes| {
        let mut step = step("s", "x", 0, round);
        step.observation.peak_memory_bytes = Some(peak);
        step.observation.memory_source = crate::observation::MemorySource::Launcher { floor_bytes };
        step
    };
    let summary = summary(2, [sized(0, 9, 3), sized(1, 7, 4)]);
    let timing = Timing::of(summary.steps(), summary.floors());
    assert_eq!((timing.peak_memory_bytes, timing.memory_floor_bytes), (Some(9), Some(4)));
}

#[test]
fn the_floor_of_a_round_is_the_median_of_its_no_ops() {
    let mut summary = Summary::default();
    for us in [900, 100, 200] {
        summary.observe(&RunEvent::FloorMeasured {
            scenario: "s".to_owned(),
            round: 0,
            wall: Duration::from_micros(us),
            cpu: Duration::from_micros(us * 2),
        });
    }
    assert_eq!(summary.floors().of("s", 0), Some(Floor { wall_us: 200.0, cpu_us: 400.0 }));
    assert_eq!(summary.floors().of("s", 1), None);
    assert_eq!(summary.floors().of("t", 0), None);
    assert_eq!(summary.floors().wall().count(), 3);
}

#[test]
fn calls_without_process_or_floor_stay_out_of_the_figures() {
    let mut missing = step("s", "x", 0, 0);
    missing.observation.ending = Ending::NotStarted(SpawnFault::NotFound);
    let events = [RunEvent::StepFinished(missing), RunEvent::StepFinished(step("s", "x", 0, 1)), floor("s", 0)];
    let summary = Summary::of(&events);
    let timing = Timing::of(summary.steps(), summary.floors());
    assert_eq!(timing.wall.count(), 1);
    assert_eq!(timing.wall_ratios, [0.0; 0]);
    assert_eq!(summary.n_calls(), 2);
    let zero = RunEvent::FloorMeasured {
        scenario: "s".to_owned(),
        round: 1,
        wall: Duration::ZERO,
        cpu: Duration::from_nanos(999),
    };
    let mut with_zero = summary.clone();
    with_zero.observe(&zero);
    let timing = Timing::of(with_zero.steps(), with_zero.floors());
    assert_eq!((timing.wall_ratios.len(), timing.cpu_ratios.len()), (0, 0));
}

#[test]
fn the_budget_sum_is_of_one_round_however_often_a_run_repeats() {
    let text = |name: &str, index, round, bytes| {
        let mut step = step("s", name, index, round);
        step.injected_bytes = bytes;
        step.injected_utf16 = bytes / 2;
        step
    };
    let summary = summary(2, [text("x", 0, 0, 100), text("y", 1, 0, 41), text("x", 0, 1, 100), text("y", 1, 1, 45)]);
    let bytes = Budget::of(summary.steps(), BudgetMeasure::Bytes);
    assert_eq!((bytes.max(), bytes.round_sum), (Some(100), 145));
    assert_eq!(bytes.per_call, [41, 45, 100, 100]);
    // A quarter of 41 and of 45, rounded up: 11 and 12.
    assert_eq!(Budget::of(summary.steps(), BudgetMeasure::TokensEst).per_call, [11, 12, 25, 25]);
    assert_eq!(Budget::of(summary.steps(), BudgetMeasure::Utf16).round_sum, 72);
    assert_eq!(Budget::of([], BudgetMeasure::Bytes).max(), None);
}

#[test]
fn answers_that_differ_only_in_length_are_kept_apart() {
    let of_length = |round, bytes| {
        let mut step = step("s", "x", 0, round);
        step.injected_bytes = bytes;
        step.retrieved = Some(retrieved(&["a"], &[("a", 2)], 50));
        step
    };
    // Byte precision 0.5 twice and 0.25 once.
    let summary = summary(3, [of_length(0, 100), of_length(1, 200), of_length(2, 100)]);
    let score = summary.steps()[0].score(Measure::BytePrecision, 2).unwrap();
    assert!((score - 1.25 / 3.0).abs() < 1e-12, "{score}");
}

#[test]
fn every_step_weighs_the_same_in_a_mean() {
    let labelled = |name: &str, index, round, ranked: &[&str]| {
        let mut step = step("s", name, index, round);
        step.retrieved = Some(retrieved(ranked, &[("a", 2)], 0));
        step
    };
    // Step x hits in one of two rounds (0.5); step y hits once (1.0); z has no labels.
    let steps =
        [labelled("x", 0, 0, &["a"]), labelled("x", 0, 1, &["b"]), labelled("y", 1, 0, &["a"]), step("s", "z", 2, 0)];
    let summary = summary(2, steps);
    let mean = mean_over_steps(summary.steps(), Measure::Hit(1), 2).unwrap();
    assert_eq!(mean, Mean { mean: 0.75, n: 2 });
    assert_eq!(mean_over_steps(summary.steps(), Measure::Abstain, 2), None);
    assert!(!summary.steps()[2].labelled() && summary.steps()[0].labelled());
}
