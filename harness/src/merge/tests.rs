#![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

use std::path::PathBuf;
use std::time::Duration;

use tempfile::TempDir;

use super::*;
use crate::exit_code::ExitCode;
use crate::record::{RunWriter, SummaryFile};
use crate::run_event::{Arm, Shard};
use crate::shard::Slice;
use crate::summary::fixture::{finding, floor, header, retrieved, step};
use crate::summary::{ScenarioState, Summary};

const NAMES: [&str; 5] = ["recall", "faults", "budget", "a", "z"];

/// A run of five scenarios with one to three steps, texts, findings and labels, `repeat` rounds.
fn whole_run(repeat: u32) -> Vec<RunEvent> {
    let mut events = vec![RunEvent::RunStarted(header(&NAMES, repeat))];
    for round in 0..repeat {
        for (at, name) in (0_u32..).zip(NAMES) {
            events.push(RunEvent::ScenarioStarted { scenario: name.to_owned(), round });
            events.push(floor(name, round));
            for index in 0..=at % 3 {
                let mut result = step(name, &format!("step{index}"), index, round);
                result.event = ["SessionStart", "UserPromptSubmit", "Stop"][index as usize].to_owned();
                result.observation.eof_after += Duration::from_micros(u64::from(round * 379 + at * 1_013 + index * 17));
                result.observation.cpu += Duration::from_micros(u64::from(round * 31 + at * 7));
                result.injected_bytes = u64::from(at * 100 + index);
                result.injected_utf16 = result.injected_bytes;
                if index == 1 {
                    result.retrieved = Some(retrieved(&["x", "y"], &[("y", 3), ("q", 2)], 5));
                }
                if name == "faults" && round % 2 == 1 {
                    result.findings.push(finding(crate::run_event::FindingKind::Empty, "nothing came"));
                }
                events.push(RunEvent::StepFinished(result));
            }
            events.push(RunEvent::ScenarioFinished { scenario: name.to_owned(), round });
        }
    }
    events.push(RunEvent::RunFinished);
    events
}

fn scenario_of(event: &RunEvent) -> Option<&str> {
    match event {
        RunEvent::ScenarioStarted { scenario, .. }
        | RunEvent::FloorMeasured { scenario, .. }
        | RunEvent::ScenarioFinished { scenario, .. }
        | RunEvent::InstructionsCounted { scenario, .. } => Some(scenario),
        RunEvent::StepFinished(result) => Some(&result.scenario),
        _ => None,
    }
}

/// The events of a run as `total` parts would have written them.
fn cut(events: &[RunEvent], total: u32) -> Vec<Vec<RunEvent>> {
    let sizes: Vec<(&str, usize)> = NAMES.iter().enumerate().map(|(at, name)| (*name, at % 3 + 1)).collect();
    let part = |index: u32| -> Vec<RunEvent> {
        let takes = Slice::new(index, total).unwrap().takes(&sizes);
        let own: Vec<String> =
            NAMES.iter().zip(&takes).filter(|(_, taken)| **taken).map(|(name, _)| (*name).to_owned()).collect();
        let of_part = |event: &RunEvent| match event {
            RunEvent::RunStarted(header) => {
                let mut header = header.clone();
                header.shard =
                    Some(Shard { index, total, whole: std::mem::replace(&mut header.scenarios, own.clone()) });
                Some(RunEvent::RunStarted(header))
            }
            event => match scenario_of(event) {
                Some(scenario) => own.iter().any(|name| name == scenario).then(|| event.clone()),
                None => Some(event.clone()),
            },
        };
        events.iter().filter_map(of_part).collect()
    };
    (1..=total).map(part).collect()
}

struct Saved {
    temp: TempDir,
    n: usize,
}

impl Saved {
    fn new() -> Saved {
        Saved { temp: tempfile::tempdir().unwrap(), n: 0 }
    }

    fn write(&mut self, events: &[RunEvent]) -> PathBuf {
        self.n += 1;
        let folder = self.temp.path().join(format!("run{}", self.n));
        let mut writer = RunWriter::create(&folder).unwrap();
        events.iter().for_each(|event| writer.write(event).unwrap());
        writer.finish(&Summary::of(events)).unwrap();
        folder
    }

    fn blobs(&mut self, runs: &[Vec<RunEvent>]) -> Vec<Blob> {
        runs.iter().map(|events| Blob::read(&self.write(events)).unwrap()).collect()
    }
}

/// The events of the whole, with the end that a merge writes.
fn events(joined: &Joined) -> Vec<RunEvent> {
    let mut events = Vec::new();
    joined
        .replay(&mut |event| {
            events.push(event);
            Ok(())
        })
        .unwrap();
    if joined.complete {
        events.push(RunEvent::RunFinished);
    }
    events
}

fn refused(blobs: Vec<Blob>, partial: bool) -> String {
    join_parts(blobs, partial).unwrap_err().to_string()
}

/// Changes the header of a run.
fn with_header(events: &[RunEvent], change: impl Fn(&mut RunHeader)) -> Vec<RunEvent> {
    let mut events = events.to_vec();
    if let Some(RunEvent::RunStarted(header)) = events.first_mut() {
        change(header);
    }
    events
}

#[test]
fn parts_give_the_summary_of_the_whole_byte_for_byte() {
    let run = whole_run(70);
    let whole = SummaryFile::of(&Summary::of(&run)).to_text();
    assert!(whole.contains("wall_histogram") && whole.contains("\"p99_us\""));
    let mut saved = Saved::new();
    for total in [1, 2, 4, 7] {
        let mut blobs = saved.blobs(&cut(&run, total));
        blobs.reverse();
        let joined = join_parts(blobs, false).unwrap();
        assert_eq!(joined.warnings, Vec::<String>::new());
        let merged = SummaryFile::of(&Summary::of(&events(&joined))).to_text();
        assert_eq!(merged, whole, "{total} parts");
    }
}

#[test]
fn a_missing_part_is_named_with_its_scenarios() {
    let mut saved = Saved::new();
    let mut blobs = saved.blobs(&cut(&whole_run(2), 4));
    let lost = blobs.remove(1);
    let message = refused(blobs.clone(), false);
    assert!(message.contains("missing of 4 parts: 2"), "{message}");
    assert!(lost.header.scenarios.iter().all(|name| message.contains(name.as_str())), "{message}");
    let joined = join_parts(blobs, true).unwrap();
    assert_eq!(joined.warnings.len(), 1);
    let summary = Summary::of(&events(&joined));
    assert!(summary.complete());
    let incomplete = summary.scenarios().iter().filter(|scenario| scenario.state == ScenarioState::Incomplete).count();
    assert_eq!((summary.scenarios().len(), incomplete), (NAMES.len(), lost.header.scenarios.len()));
    assert_eq!(ExitCode::from(&summary), ExitCode::Behaviour, "what never ran is not green");
}

#[test]
fn parts_of_another_plan_are_refused_with_the_difference() {
    let parts = cut(&whole_run(2), 2);
    let mut saved = Saved::new();
    type Change = fn(&mut RunHeader);
    let changes: [(Change, &str); 10] = [
        (|header| header.hook_command = "other".to_owned(), "the hook is `other` here and `my-hook --fast` in"),
        (|header| header.seed = 8, "--seed is `8` here and `7` in"),
        (|header| header.repeat = 3, "--repeat is `3`"),
        (|header| header.host_version = "2.1.197".to_owned(), "the client is `2.1.197`"),
        (|header| header.baseline_command = Some("b".to_owned()), "the baseline is `b`"),
        (|header| header.n_cold_rounds = 2, "cold rounds is `2`"),
        (|header| header.pace = Some("rate=3".to_owned()), "--pace is `rate=3`"),
        (|header| header.shard = None, "the run is `no part` here and `one of 2 parts` in"),
        (|header| header.shard.as_mut().unwrap().whole.push("new".to_owned()), "the list of all scenarios"),
        (|header| header.scenarios.push("stray".to_owned()), "scenario `stray` is not in the run's own list"),
    ];
    for (change, said) in changes {
        let other = with_header(&parts[1], change);
        let blobs = saved.blobs(&[parts[0].clone(), other.clone()]);
        let message = refused(blobs, false);
        // Parts are sorted, and a run that is no part comes first.
        let turned = said == "the run is `no part` here and `one of 2 parts` in";
        let said = if turned { "the run is `one of 2 parts` here and `no part` in" } else { said };
        assert!(message.contains(said), "{message}");
    }
    let other = with_header(&parts[1], |header| header.hookbench_version = "0.0.9".to_owned());
    let joined = join_parts(saved.blobs(&[parts[0].clone(), other]), false).unwrap();
    assert!(joined.warnings[0].contains("different versions of hookbench: 0.1.0, 0.0.9"), "{:?}", joined.warnings);
}

#[test]
fn a_part_or_scenario_that_is_there_twice_is_refused() {
    let parts = cut(&whole_run(2), 2);
    let mut saved = Saved::new();
    let message = refused(saved.blobs(&[parts[0].clone(), parts[1].clone(), parts[0].clone()]), false);
    assert!(message.contains("part 1 of 2 is in"), "{message}");
    let whole = whole_run(2);
    let message = refused(saved.blobs(&[whole.clone(), whole]), false);
    assert!(message.contains("scenario `recall` is in") && message.contains("--rounds"), "{message}");
}

#[test]
fn runs_of_other_scenarios_join_without_being_parts() {
    let mut saved = Saved::new();
    let parts = cut(&whole_run(2), 2);
    let loose: Vec<_> = parts.iter().map(|part| with_header(part, |header| header.shard = None)).collect();
    let joined = join_parts(saved.blobs(&loose), false);
    assert_eq!(joined.unwrap().header.scenarios.len(), NAMES.len());
}

#[test]
fn an_unfinished_part_is_refused_or_makes_the_whole_unfinished() {
    let mut parts = cut(&whole_run(2), 2);
    let kept = parts[1].len() - 3;
    parts[1].truncate(kept);
    let mut saved = Saved::new();
    let message = refused(saved.blobs(&parts), false);
    assert!(message.contains("stopped before its end") && message.contains("--resume"), "{message}");
    let joined = join_parts(saved.blobs(&parts), true).unwrap();
    assert!(!Summary::of(&events(&joined)).complete());
}

#[test]
fn a_part_without_scenarios_changes_nothing_not_even_the_machine() {
    let mut saved = Saved::new();
    let run = whole_run(3);
    let mut parts = cut(&run, 7);
    let spare = parts.iter_mut().find(|part| part.len() == 2).unwrap();
    *spare = with_header(spare, |header| header.machine = "another".to_owned());
    let joined = join_parts(saved.blobs(&parts), false).unwrap();
    let merged = SummaryFile::of(&Summary::of(&events(&joined))).to_text();
    assert_eq!(merged, SummaryFile::of(&Summary::of(&run)).to_text());
}

#[test]
fn times_of_two_machines_stand_apart() {
    let mut saved = Saved::new();
    let run = whole_run(20);
    let mut parts = cut(&run, 2);
    parts[1] = with_header(&parts[1], |header| header.machine = "slow box".to_owned());
    let joined = join_parts(saved.blobs(&parts), false).unwrap();
    let summary = Summary::of(&events(&joined));
    assert_eq!(summary.machines().len(), 2);
    let file: serde_json::Value = serde_json::from_str(&SummaryFile::of(&summary).to_text()).unwrap();
    let starts: Vec<&serde_json::Value> =
        file["events"].as_array().unwrap().iter().filter(|event| event["name"] == "SessionStart").collect();
    assert_eq!(starts.len(), 2, "one entry a machine");
    assert_ne!(starts[0]["machine"], starts[1]["machine"]);
    let n_calls: u64 = starts.iter().map(|event| event["n_calls"].as_u64().unwrap()).sum();
    assert_eq!(n_calls, 100);
    assert_eq!(file["machines"].as_array().unwrap().len(), 2);
    assert_eq!(file["floor"]["wall"]["count"], 0, "no floor of two machines");
    let whole: serde_json::Value = serde_json::from_str(&SummaryFile::of(&Summary::of(&run)).to_text()).unwrap();
    assert_eq!(file["retrieval"], whole["retrieval"]);
    assert_eq!(file["scenarios"], whole["scenarios"]);
}

#[test]
fn confirmations_of_two_parts_are_one_and_meet_no_first_measurement() {
    let mut saved = Saved::new();
    let mut parts = cut(&whole_run(6), 2);
    // The first part confirms from round 4 on, the second measured six rounds and confirmed nothing.
    let at = parts[0].iter().position(|event| matches!(event, RunEvent::ScenarioStarted { round: 4, .. })).unwrap();
    parts[0].insert(at, RunEvent::ConfirmStarted { round: 4, seed: 99 });
    let joined = join_parts(saved.blobs(&parts), false).unwrap();
    let summary = Summary::of(&events(&joined));
    assert_eq!(summary.confirm_starts(), [6]);
    let rounds = |part: &[RunEvent]| {
        let name = part.iter().find_map(scenario_of).unwrap().to_owned();
        let step = summary.steps().iter().find(|step| step.scenario == name).unwrap();
        step.calls().iter().map(|call| call.round).collect::<Vec<_>>()
    };
    assert_eq!(rounds(&parts[0]), [0, 1, 2, 3, 6, 7]);
    assert_eq!(rounds(&parts[1]), [0, 1, 2, 3, 4, 5]);
    // Both confirm at one round: nothing moves, and there is one confirmation.
    let at = parts[1].iter().position(|event| matches!(event, RunEvent::ScenarioStarted { round: 4, .. })).unwrap();
    parts[1].insert(at, RunEvent::ConfirmStarted { round: 4, seed: 99 });
    let joined = join_parts(saved.blobs(&parts), false).unwrap();
    let merged = events(&joined);
    assert_eq!(Summary::of(&merged).confirm_starts(), [4]);
    assert_eq!(merged.iter().filter(|event| matches!(event, RunEvent::ConfirmStarted { seed: 99, .. })).count(), 1);
}

#[test]
fn rounds_of_repetitions_follow_each_other() {
    let mut saved = Saved::new();
    let blobs = saved.blobs(&[whole_run(3), with_header(&whole_run(2), |header| header.seed = 8)]);
    let joined = append_rounds(blobs).unwrap();
    assert_eq!((joined.header.repeat, joined.header.seed), (5, 7));
    let summary = Summary::of(&events(&joined));
    assert!(summary.complete());
    assert!(summary.scenarios().iter().all(|scenario| scenario.n_rounds == 5));
    let rounds: Vec<u32> = summary.steps()[0].calls().iter().map(|call| call.round).collect();
    assert_eq!(rounds, [0, 1, 2, 3, 4]);
    assert_eq!(summary.floors().wall().count(), 25);

    let two_hooks = with_header(&whole_run(2), |header| header.baseline_command = Some("b".to_owned()));
    let message = append_rounds(saved.blobs(&[two_hooks])).unwrap_err().to_string();
    assert!(message.contains("compares two hooks"), "{message}");
    let elsewhere = with_header(&whole_run(2), |header| header.machine = "other".to_owned());
    let message = append_rounds(saved.blobs(&[whole_run(2), elsewhere])).unwrap_err().to_string();
    assert!(message.contains("the machine is `other`"), "{message}");
    let mut stopped = whole_run(2);
    stopped.pop();
    assert!(append_rounds(saved.blobs(&[stopped])).unwrap_err().to_string().contains("stopped"));
}

#[test]
fn a_merged_run_is_not_merged_again() {
    let mut saved = Saved::new();
    let joined = join_parts(saved.blobs(&cut(&whole_run(2), 2)), false).unwrap();
    let folder = saved.write(&events(&joined));
    let message = Blob::read(&folder).unwrap_err().to_string();
    assert!(message.contains("merged from others already"), "{message}");
}

#[test]
fn both_arms_and_counted_instructions_come_along() {
    let mut saved = Saved::new();
    let mut run = whole_run(2);
    let end = run.pop();
    let mut other = step("recall", "step0", 0, 0);
    other.arm = Arm::Baseline;
    run.push(RunEvent::StepFinished(other));
    run.push(RunEvent::InstructionsCounted {
        scenario: "recall".to_owned(),
        step: "step0".to_owned(),
        arm: Arm::Baseline,
        instructions: 5,
    });
    run.extend(end);
    let joined = join_parts(saved.blobs(&cut(&run, 4)), false).unwrap();
    let summary = Summary::of(&events(&joined));
    assert_eq!(summary.baseline_steps().len(), 1);
    assert_eq!(summary.baseline_steps()[0].instructions(), Some(5));
}
