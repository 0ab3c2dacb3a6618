//! Going on with a run that was stopped: what is whole is kept, the rest is replayed.
//!
//! Kept are the rounds of scenarios that came to their end. Everything else is cut off: a torn line, the events of a
//! scenario that was under way, gates. The plan must be the one that the run was started with, down to the machine;
//! whatever differs is named. A run of two hooks is not gone on with: its rounds stop by precision, not by a plan. An
//! edit of an expectation between the two runs is not seen.

use std::collections::HashSet;
use std::path::Path;
use std::sync::PoisonError;

use crate::failure::Failure;
use crate::judge::owes_text;
use crate::record::{RecordFault, RunReader, RunWriter};
use crate::replay::{Kept, Plan};
use crate::run_event::{Arm, RunEvent, RunHeader, StepResult};
use crate::scenario::Step;
use crate::summary::Summary;

/// What a saved run needs to become whole.
#[derive(Debug)]
pub enum Resumed {
    /// Nothing: it came to its end.
    Complete(Box<Summary>),
    /// The rest of its plan.
    Partial(Box<Partial>),
}

/// A saved run that can be gone on with.
#[derive(Debug)]
pub struct Partial {
    /// Writes behind what was kept.
    pub writer: RunWriter,
    /// The fold of what was kept.
    pub summary: Summary,
    /// What need not be replayed.
    pub kept: Kept,
}

/// Opens a saved run to go on with it; `header` is what the plan would write. Cuts the file when the run is partial.
///
/// # Errors
/// A folder without a readable run, or a run of another plan.
pub fn resume(folder: &Path, plan: &Plan, header: &RunHeader) -> Result<Resumed, Failure> {
    let seen = survey(folder)?;
    let Some(saved) = seen.summary.header() else {
        let remedy = "start a new run; this one holds nothing yet";
        return Err(Failure::usage(folder, "the run stopped before its first event", remedy));
    };
    check(folder, saved, header)?;
    if seen.summary.complete() {
        return Ok(Resumed::Complete(Box::new(seen.summary)));
    }
    if seen.two_hooks {
        let remedy = "start it again with --out; a comparison of two hooks is not resumed";
        return Err(Failure::usage(folder, "the run compares two hooks", remedy));
    }
    let kept = Kept { done: seen.finished, ..Kept::default() };
    let mut summary = Summary::default();
    let mut changed = None;
    let writer = RunWriter::resume(folder, |event| {
        let keep = stays(event, &kept.done);
        if keep {
            summary.observe(event);
        }
        if let (true, RunEvent::StepFinished(result)) = (keep, event) {
            match step_of(plan, result) {
                Some(step) => remember(&kept, step, result),
                None => changed = Some(format!("{}/{}", result.scenario, result.step)),
            }
        }
        keep
    })?;
    match changed {
        Some(step) => {
            let message = format!("step {step} is in the saved run and no longer in its scenario");
            Err(Failure::usage(folder, message, "undo the change of the scenario, or start a new run"))
        }
        None => Ok(Resumed::Partial(Box::new(Partial { writer, summary, kept }))),
    }
}

/// What a saved run holds, before anything is cut.
#[derive(Default)]
struct Survey {
    summary: Summary,
    finished: HashSet<(String, u32)>,
    two_hooks: bool,
}

fn survey(folder: &Path) -> Result<Survey, RecordFault> {
    let mut seen = Survey::default();
    for event in RunReader::open(folder)? {
        let event = event?;
        seen.summary.observe(&event);
        match &event {
            RunEvent::ScenarioFinished { scenario, round } => {
                seen.finished.insert((scenario.clone(), *round));
            }
            RunEvent::ConfirmStarted { .. } | RunEvent::InstructionsCounted { .. } | RunEvent::SourceMerged(_) => {
                seen.two_hooks = true;
            }
            RunEvent::StepFinished(result) => seen.two_hooks |= result.arm == Arm::Baseline,
            _ => {}
        }
    }
    Ok(seen)
}

/// Whether an event belongs to what is whole.
fn stays(event: &RunEvent, done: &HashSet<(String, u32)>) -> bool {
    match event {
        RunEvent::RunStarted(_) => true,
        RunEvent::ScenarioStarted { scenario, round }
        | RunEvent::FloorMeasured { scenario, round, .. }
        | RunEvent::ScenarioFinished { scenario, round } => done.contains(&(scenario.clone(), *round)),
        RunEvent::StepFinished(result) => done.contains(&(result.scenario.clone(), result.round)),
        RunEvent::ConfirmStarted { .. }
        | RunEvent::InstructionsCounted { .. }
        | RunEvent::SourceMerged(_)
        | RunEvent::GateJudged(_)
        | RunEvent::RunFinished => false,
    }
}

fn step_of<'a>(plan: &'a Plan, result: &StepResult) -> Option<&'a Step> {
    let (scenario, _) = plan.scenarios.iter().find(|(scenario, _)| scenario.name == result.scenario)?;
    scenario.steps.get(result.index as usize).filter(|step| step.name == result.step)
}

/// Keeps the first text of a step, under the same conditions as the live check of determinism.
fn remember(kept: &Kept, step: &Step, result: &StepResult) {
    if owes_text(&result.observation, &step.fault) && step.fault.parallel.is_none() {
        let mut first = kept.first_texts.lock().unwrap_or_else(PoisonError::into_inner);
        let place = (result.scenario.clone(), result.step.clone());
        first.entry(place).or_insert_with(|| (result.round, result.delivered.clone()));
    }
}

/// Refuses a plan that is not the one of the saved run, and names each difference.
fn check(folder: &Path, saved: &RunHeader, asked: &RunHeader) -> Result<(), Failure> {
    let shard = |header: &RunHeader| {
        header.shard.as_ref().map_or("the whole".to_owned(), |shard| format!("{}/{}", shard.index, shard.total))
    };
    let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_owned());
    let sides = [
        ("the hook", saved.hook_command.clone(), asked.hook_command.clone()),
        ("--seed", saved.seed.to_string(), asked.seed.to_string()),
        ("--repeat", saved.repeat.to_string(), asked.repeat.to_string()),
        ("the client", saved.host_version.clone(), asked.host_version.clone()),
        ("--shard", shard(saved), shard(asked)),
        ("the scenarios", saved.scenarios.join(", "), asked.scenarios.join(", ")),
        ("the baseline", or_none(&saved.baseline_command), or_none(&asked.baseline_command)),
        ("--pace", or_none(&saved.pace), or_none(&asked.pace)),
        ("hookbench", saved.hookbench_version.clone(), asked.hookbench_version.clone()),
        ("the machine", saved.machine.clone(), asked.machine.clone()),
    ];
    let different = sides.into_iter().filter(|(_, saved, asked)| saved != asked);
    let named: Vec<String> =
        different.map(|(what, saved, asked)| format!("{what} was `{saved}` and is `{asked}`")).collect();
    if named.is_empty() {
        return Ok(());
    }
    let message = format!("this is the run of another plan: {}", named.join("; "));
    Err(Failure::usage(folder, message, "give the flags of the run that was stopped, or start a new run with --out"))
}
