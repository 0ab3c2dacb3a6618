//! Small runs for the tests of everything that reads one.

use std::time::Duration;

use crate::observation::{Ending, MemorySource, Observation};
use crate::run_event::{Arm, Finding, FindingKind, Retrieved, RunEvent, RunHeader, StepResult};
use crate::summary::Summary;

/// A header for these scenarios.
pub(crate) fn header(scenarios: &[&str], repeat: u32) -> RunHeader {
    RunHeader {
        hookbench_version: "0.1.0".to_owned(),
        hook_command: "my-hook --fast".to_owned(),
        host_version: "2.1.332".to_owned(),
        repeat,
        seed: 7,
        scenarios: scenarios.iter().map(|name| (*name).to_owned()).collect(),
        machine: "test processor, 2 cores, Linux 6".to_owned(),
        baseline_command: None,
        n_cold_rounds: 0,
        pace: None,
        shard: None,
    }
}

/// A step that passed: 3 ms wall, 2 ms CPU, no text.
pub(crate) fn step(scenario: &str, step: &str, index: u32, round: u32) -> StepResult {
    StepResult {
        scenario: scenario.to_owned(),
        step: step.to_owned(),
        index,
        round,
        arm: Arm::Candidate,
        event: "UserPromptSubmit".to_owned(),
        tags: Vec::new(),
        observation: Observation {
            ending: Ending::Exited(0),
            stdout: b"{}".to_vec(),
            stderr: Vec::new(),
            stdout_dropped_bytes: 0,
            stderr_dropped_bytes: 0,
            exit_after: Duration::from_micros(2_900),
            eof_after: Duration::from_micros(3_000),
            first_byte_after: Some(Duration::from_micros(2_500)),
            cpu: Duration::from_micros(2_000),
            cpu_partial: false,
            peak_memory_bytes: Some(5 << 20),
            memory_source: MemorySource::Launcher { floor_bytes: 3 << 20 },
            stdin_closed_early: false,
            stream_held_open: false,
            orphans: Vec::new(),
        },
        parts: Vec::new(),
        late: None,
        delivered: String::new(),
        injected_utf16: 0,
        injected_bytes: 0,
        decision: "none".to_owned(),
        truncated: false,
        retrieved: None,
        findings: Vec::new(),
    }
}

/// A finding of this kind.
pub(crate) fn finding(kind: FindingKind, message: &str) -> Finding {
    Finding { kind, message: message.to_owned() }
}

/// Ranked ids with labels.
pub(crate) fn retrieved(ranked: &[&str], relevant: &[(&str, u8)], relevant_bytes: u64) -> Retrieved {
    Retrieved {
        ranked: ranked.iter().map(|id| (*id).to_owned()).collect(),
        relevant: relevant.iter().map(|(id, grade)| ((*id).to_owned(), *grade)).collect(),
        relevant_bytes,
    }
}

/// A no-op of 1 ms wall and 0.5 ms CPU.
pub(crate) fn floor(scenario: &str, round: u32) -> RunEvent {
    RunEvent::FloorMeasured {
        scenario: scenario.to_owned(),
        round,
        wall: Duration::from_micros(1_000),
        cpu: Duration::from_micros(500),
    }
}

/// A whole run of one scenario `s`, with a floor in every round and these steps.
pub(crate) fn run(repeat: u32, steps: impl IntoIterator<Item = StepResult>) -> Vec<RunEvent> {
    let mut events = vec![RunEvent::RunStarted(header(&["s"], repeat))];
    for round in 0..repeat {
        events.push(RunEvent::ScenarioStarted { scenario: "s".to_owned(), round });
        events.push(floor("s", round));
        events.push(RunEvent::ScenarioFinished { scenario: "s".to_owned(), round });
    }
    events.extend(steps.into_iter().map(RunEvent::StepFinished));
    events.push(RunEvent::RunFinished);
    events
}

/// The summary of such a run.
pub(crate) fn summary(repeat: u32, steps: impl IntoIterator<Item = StepResult>) -> Summary {
    Summary::of(&run(repeat, steps))
}
