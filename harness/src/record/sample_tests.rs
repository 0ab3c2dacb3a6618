//! The committed run of format 1.1, which uses every key that came with it and must always load.
#![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use super::*;
use crate::gate::{Gate, Stored, judge_all};
use crate::run_event::{Arm, Part, RunEvent, RunHeader, Shard, Source};
use crate::summary::fixture::{header, retrieved, step};
use crate::summary::pairs;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("samples").join(name)
}

/// One part of a comparison of two hooks: two cold rounds, six warm ones, a confirmation of four; a schedule; two
/// hooks on one event; counted instructions.
fn part_of_a_comparison() -> Vec<RunEvent> {
    let header = RunHeader {
        hook_command: "sample-hook --new".to_owned(),
        baseline_command: Some("sample-hook --old".to_owned()),
        n_cold_rounds: 2,
        pace: Some("rate=5".to_owned()),
        shard: Some(Shard { index: 1, total: 2, whole: vec!["faults".to_owned(), "recall".to_owned()] }),
        ..header(&["recall"], 8)
    };
    let scenario = || "recall".to_owned();
    let mut events = vec![RunEvent::RunStarted(header)];
    for round in 0..12 {
        if round == 8 {
            events.push(RunEvent::ConfirmStarted { round, seed: 8 });
        }
        events.push(RunEvent::ScenarioStarted { scenario: scenario(), round });
        let (wall, cpu) = (Duration::from_micros(800), Duration::from_micros(500 + u64::from(round)));
        events.push(RunEvent::FloorMeasured { scenario: scenario(), round, wall, cpu });
        for arm in [Arm::Baseline, Arm::Candidate] {
            let slower = if arm == Arm::Candidate { 200 } else { 0 };
            let mut result = step("recall", "prompt", 0, round);
            result.arm = arm;
            result.observation.cpu += Duration::from_micros(slower + u64::from(round));
            result.delivered = "[d1] use tabs\n".to_owned();
            (result.injected_bytes, result.injected_utf16) = (14, 14);
            result.retrieved = Some(retrieved(&["d1", "d9"], &[("d1", 3), ("d2", 2)], 14));
            result.tags = vec!["must".to_owned()];
            result.late = Some(Duration::from_micros(u64::from(round) * 3));
            result.parts = ["first", "second"]
                .map(|hook| Part {
                    hook: hook.to_owned(),
                    wall: result.observation.eof_after,
                    cpu: Duration::from_micros(1_000 + slower),
                    injected_utf16: 7,
                })
                .to_vec();
            events.push(RunEvent::StepFinished(result));
        }
        events.push(RunEvent::ScenarioFinished { scenario: scenario(), round });
    }
    for (arm, instructions) in [(Arm::Baseline, 1_000_000), (Arm::Candidate, 1_050_000)] {
        events.push(RunEvent::InstructionsCounted {
            scenario: scenario(),
            step: "prompt".to_owned(),
            arm,
            instructions,
        });
    }
    let summary = Summary::of(&events);
    let gate = judge_all(&[Gate::parse("clean: leak.count == 0").unwrap()], &summary, &Stored::default()).remove(0);
    events.extend([RunEvent::GateJudged(gate), RunEvent::RunFinished]);
    events
}

/// A run that was merged from two machines.
fn merged() -> Vec<RunEvent> {
    let mut events = vec![RunEvent::RunStarted(RunHeader {
        machine: "first box; second box".to_owned(),
        ..header(&["faults", "recall"], 1)
    })];
    for (shard, scenario, machine) in [(1, "recall", "first box"), (2, "faults", "second box")] {
        let (machine, scenarios) = (machine.to_owned(), vec![scenario.to_owned()]);
        events.push(RunEvent::SourceMerged(Source { machine, scenarios, shard: Some(shard) }));
        events.push(RunEvent::ScenarioStarted { scenario: scenario.to_owned(), round: 0 });
        events.push(RunEvent::StepFinished(step(scenario, "prompt", 0, 0)));
        events.push(RunEvent::ScenarioFinished { scenario: scenario.to_owned(), round: 0 });
    }
    events.push(RunEvent::RunFinished);
    events
}

#[test]
fn committed_part_of_a_comparison_loads_with_everything_in_it() {
    let summary = replay(&folder("run-v1.1")).unwrap();
    let header = summary.header().unwrap();
    assert_eq!(header.baseline_command.as_deref(), Some("sample-hook --old"));
    assert_eq!((header.n_cold_rounds, header.pace.as_deref()), (2, Some("rate=5")));
    let shard = header.shard.as_ref().unwrap();
    assert_eq!((shard.index, shard.total, shard.whole.len()), (1, 2, 2));
    assert!(summary.complete());
    assert_eq!(summary.confirm_starts(), [8]);
    let step = &summary.steps()[0];
    assert_eq!((step.calls().len(), step.calls()[11].late_us), (12, Some(33)));
    assert_eq!((step.parts().len(), step.parts()[1].hook.as_str()), (2, "second"));
    assert_eq!(step.instructions(), Some(1_050_000));
    assert_eq!(summary.baseline_of(step).unwrap().instructions(), Some(1_000_000));
    let found = pairs(&summary, &[step], crate::summary::Clock::Cpu);
    assert_eq!(found.iter().map(|pair| pair.phase).collect::<Vec<_>>(), [0, 0, 0, 0, 0, 0, 1, 1, 1, 1]);
    let text = fs::read_to_string(folder("run-v1.1").join(SUMMARY_FILE)).unwrap();
    assert!(SummaryFile::parse(&text).is_ok());
}

#[test]
fn committed_merged_run_loads_with_both_machines() {
    let summary = replay(&folder("merged-v1.1")).unwrap();
    assert_eq!(summary.machines(), ["second box", "first box"]);
    assert_eq!(summary.machine_of("recall"), "first box");
    let text = fs::read_to_string(folder("merged-v1.1").join(SUMMARY_FILE)).unwrap();
    assert!(SummaryFile::parse(&text).is_ok());
}

#[test]
fn every_key_of_the_format_survives_and_satisfies_the_schema() {
    let schema = jsonschema::validator_for(&serde_json::to_value(events_schema()).unwrap()).unwrap();
    for events in [part_of_a_comparison(), merged()] {
        let temp = tempfile::tempdir().unwrap();
        let mut writer = RunWriter::create(temp.path()).unwrap();
        events.iter().for_each(|event| writer.write(event).unwrap());
        let back: Vec<RunEvent> = RunReader::open(temp.path()).unwrap().collect::<Result<_, _>>().unwrap();
        assert_eq!(format!("{back:?}"), format!("{events:?}"));
        let text = fs::read_to_string(temp.path().join(EVENTS_FILE)).unwrap();
        assert!(text.lines().all(|line| schema.is_valid(&serde_json::from_str(line).unwrap())));
        let file = RunReader::open(&temp.path().join(EVENTS_FILE)).unwrap();
        assert_eq!(file.count(), events.len(), "a file of events is as good as its folder");
    }
}

/// Writes the samples of format 1.1 again.
#[test]
#[ignore = "writes into the source tree"]
fn write_samples_of_1_1() {
    for (name, events) in [("run-v1.1", part_of_a_comparison()), ("merged-v1.1", merged())] {
        let mut writer = RunWriter::create(&folder(name)).unwrap();
        events.iter().for_each(|event| writer.write(event).unwrap());
        writer.finish(&Summary::of(&events)).unwrap();
    }
}
