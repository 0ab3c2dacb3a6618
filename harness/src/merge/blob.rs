//! A saved run that is to be joined with others, looked through once.
//!
//! Only what decides about the joining is kept; its events are read again when they are handed out.

use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::record::RunReader;
use crate::run_event::{GateResult, RunEvent, RunHeader};

/// The first measurement or one confirmation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phase {
    /// Its first round.
    pub start: u32,
    /// Its rounds.
    pub n_rounds: u32,
}

/// A saved run, without its calls.
#[derive(Debug, Clone)]
pub struct Blob {
    /// The folder, or the file of events.
    pub path: PathBuf,
    /// What was run, where.
    pub header: RunHeader,
    /// Whether it came to its end.
    pub complete: bool,
    /// The first measurement, then every confirmation.
    pub phases: Vec<Phase>,
    /// The gates as they were answered there.
    pub gates: Vec<GateResult>,
}

impl Blob {
    /// Looks through the saved run in a folder or file.
    ///
    /// # Errors
    /// What cannot be read, or holds no run.
    pub fn read(path: &Path) -> Result<Blob, Failure> {
        let mut header = None;
        let mut complete = false;
        let mut starts = vec![0_u32];
        let mut n_rounds = 0_u32;
        let mut gates = Vec::new();
        for event in RunReader::open(path)? {
            let event = event?;
            if let Some(round) = round(&event) {
                n_rounds = n_rounds.max(round.saturating_add(1));
            }
            match event {
                RunEvent::RunStarted(started) => header = Some(started),
                RunEvent::ConfirmStarted { round, .. } => starts.push(round),
                RunEvent::SourceMerged(_) => {
                    let remedy = "merge all the parts at once";
                    return Err(Failure::usage(path, "the run was merged from others already", remedy));
                }
                RunEvent::GateJudged(gate) => gates.push(gate),
                RunEvent::RunFinished => complete = true,
                _ => {}
            }
        }
        let Some(header) = header else {
            return Err(Failure::usage(path, "the run stopped before its first event", "make this run again"));
        };
        let ends = starts.iter().skip(1).copied().chain([n_rounds]);
        let phases =
            starts.iter().zip(ends).map(|(start, end)| Phase { start: *start, n_rounds: end.saturating_sub(*start) });
        Ok(Blob { path: path.to_owned(), header, complete, phases: phases.collect(), gates })
    }

    /// The event with its round where it belongs in the whole, whose phases begin at `starts`.
    pub(super) fn moved(&self, mut event: RunEvent, starts: &[u32]) -> RunEvent {
        let target = |round: u32| {
            let phase = self.phases.iter().rposition(|phase| phase.start <= round).unwrap_or(0);
            let from = self.phases.get(phase).map_or(0, |phase| phase.start);
            let to = starts.get(phase).copied().unwrap_or(from);
            to.saturating_add(round.saturating_sub(from))
        };
        match &mut event {
            RunEvent::ScenarioStarted { round, .. }
            | RunEvent::FloorMeasured { round, .. }
            | RunEvent::ScenarioFinished { round, .. } => *round = target(*round),
            RunEvent::StepFinished(result) => result.round = target(result.round),
            _ => {}
        }
        event
    }
}

/// The round of an event that belongs to one.
fn round(event: &RunEvent) -> Option<u32> {
    match event {
        RunEvent::ScenarioStarted { round, .. }
        | RunEvent::FloorMeasured { round, .. }
        | RunEvent::ScenarioFinished { round, .. } => Some(*round),
        RunEvent::StepFinished(result) => Some(result.round),
        _ => None,
    }
}
