//! Going on with a saved run keeps its lines as they are, and cuts off what is not kept.
#![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

use std::fs;

use super::*;
use crate::run_event::RunEvent;
use crate::summary::fixture::{run, step};

fn is_round(event: &RunEvent, wanted: u32) -> bool {
    match event {
        RunEvent::ScenarioStarted { round, .. }
        | RunEvent::FloorMeasured { round, .. }
        | RunEvent::ScenarioFinished { round, .. } => *round == wanted,
        RunEvent::StepFinished(result) => result.round == wanted,
        _ => true,
    }
}

#[test]
fn kept_lines_stay_byte_for_byte_and_new_events_follow() {
    let temp = tempfile::tempdir().unwrap();
    let mut events = run(2, [step("s", "x", 0, 0), step("s", "x", 0, 1)]);
    events.pop();
    let mut writer = RunWriter::create(temp.path()).unwrap();
    events.iter().for_each(|event| writer.write(event).unwrap());
    drop(writer);
    let path = temp.path().join(EVENTS_FILE);
    // A key that only a later version knows must survive, and a torn line must not.
    let whole = fs::read_to_string(&path).unwrap().replace("\"scenario\":\"s\"", "\"later\":1,\"scenario\":\"s\"");
    fs::write(&path, format!("{whole}{{\"event\":\"step-fin")).unwrap();
    let mut seen = 0;
    let mut writer = RunWriter::resume(temp.path(), |event| {
        seen += 1;
        is_round(event, 0)
    })
    .unwrap();
    assert_eq!(seen, events.len());
    let kept: Vec<&str> = whole.lines().filter(|line| !line.contains("\"round\":1")).collect();
    assert_eq!(fs::read_to_string(&path).unwrap().lines().collect::<Vec<_>>(), kept);
    writer.write(&RunEvent::RunFinished).unwrap();
    let back: Vec<RunEvent> = RunReader::open(temp.path()).unwrap().collect::<Result<_, _>>().unwrap();
    assert!(matches!(back.last(), Some(RunEvent::RunFinished)));
    assert_eq!(back.len(), kept.len());
    assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 1, "no partial file is left");
}

#[test]
fn a_damaged_run_is_left_as_it_was() {
    let temp = tempfile::tempdir().unwrap();
    let mut writer = RunWriter::create(temp.path()).unwrap();
    run(1, [step("s", "x", 0, 0)]).iter().for_each(|event| writer.write(event).unwrap());
    let path = temp.path().join(EVENTS_FILE);
    let damaged = fs::read_to_string(&path).unwrap().replacen("floor-measured", "floor-guessed", 1);
    fs::write(&path, &damaged).unwrap();
    let fault = RunWriter::resume(temp.path(), |_| true).unwrap_err();
    assert!(matches!(fault, RecordFault::Damaged { line: 4, .. }), "{fault}");
    assert_eq!(fs::read_to_string(&path).unwrap(), damaged);
    assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 1, "no partial file is left");
    assert!(matches!(RunWriter::resume(&temp.path().join("none"), |_| true), Err(RecordFault::Io { .. })));
}
