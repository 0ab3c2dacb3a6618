//! Folds the stream of run events into the figures that gates and reports read.
//!
//! Pure: no clock, no files, no terminal. Times are cut to whole microseconds on the way in, and everything is
//! kept in plan order whatever order the events came in, so a saved run that is read back, or one that ran with
//! parallel jobs, folds into the same summary. Per call a few numbers stay, never its output. Judging is not
//! here.

mod budget;
mod floor;
mod machine;
mod paired;
mod retrieval;
mod step;
mod timing;

use std::collections::HashMap;

use crate::run_event::{Arm, GateResult, RunEvent, RunHeader, StepResult};

pub use self::budget::{Budget, BudgetMeasure};
pub use self::floor::{Floor, Floors};
pub use self::paired::{Pair, pairs};
pub use self::retrieval::{Mean, mean_over_steps};
pub use self::step::{Call, FindingTally, PartSummary, StepSummary};
pub use self::timing::{Clock, Timing};

/// A run, folded.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Summary {
    header: Option<RunHeader>,
    /// Place of each scenario in the plan.
    ranks: HashMap<String, usize>,
    complete: bool,
    rounds: Vec<ScenarioRounds>,
    steps: Vec<StepSummary>,
    baseline: Vec<StepSummary>,
    confirm_starts: Vec<u32>,
    floors: Floors,
    /// Scenario → machine, of merged runs; empty when all ran on the header's.
    machines: HashMap<String, String>,
    gates: Vec<GateResult>,
}

/// How many rounds of a scenario began and ended.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ScenarioRounds {
    scenario: String,
    n_started: u32,
    n_finished: u32,
}

/// The state of one scenario over all its rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScenarioState {
    /// All rounds ended and no step had a finding.
    Pass,
    /// At least one step had a finding.
    Fail,
    /// No finding, but a round did not end or never began.
    Incomplete,
}

/// One scenario's line in a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioSummary<'a> {
    /// Name of the scenario.
    pub name: &'a str,
    /// Its state.
    pub state: ScenarioState,
    /// Rounds that ended.
    pub n_rounds: u32,
    /// Its steps in order.
    pub steps: &'a [StepSummary],
}

impl ScenarioSummary<'_> {
    /// Steps without finding.
    pub fn n_passed(&self) -> usize {
        self.steps.iter().filter(|step| step.passed()).count()
    }
}

impl Summary {
    /// The summary of a whole stream.
    pub fn of<'a>(events: impl IntoIterator<Item = &'a RunEvent>) -> Summary {
        let mut summary = Summary::default();
        for event in events {
            summary.observe(event);
        }
        summary
    }

    /// Takes in one event. A scenario that no header names sorts last.
    pub fn observe(&mut self, event: &RunEvent) {
        match event {
            RunEvent::RunStarted(header) => self.start(header),
            RunEvent::ScenarioStarted { scenario, .. } => self.count(scenario, |rounds| rounds.n_started += 1),
            RunEvent::ScenarioFinished { scenario, .. } => self.count(scenario, |rounds| rounds.n_finished += 1),
            RunEvent::FloorMeasured { scenario, round, wall, cpu } => {
                self.floors.observe(scenario, *round, *wall, *cpu);
            }
            RunEvent::StepFinished(result) => self.add(result),
            RunEvent::ConfirmStarted { round, .. } => self.confirm_starts.push(*round),
            RunEvent::InstructionsCounted { scenario, step, arm, instructions } => {
                let steps = self.arm_mut(*arm);
                let counted = steps.iter_mut().find(|known| known.scenario == *scenario && known.step == *step);
                if let Some(counted) = counted {
                    counted.count_instructions(*instructions);
                }
            }
            RunEvent::SourceMerged(source) => {
                let machine = |scenario: &String| (scenario.clone(), source.machine.clone());
                self.machines.extend(source.scenarios.iter().map(machine));
            }
            RunEvent::GateJudged(gate) => self.gates.push(gate.clone()),
            RunEvent::RunFinished => self.complete = true,
        }
    }

    fn start(&mut self, header: &RunHeader) {
        self.ranks = header.scenarios.iter().cloned().zip(0..).collect();
        self.header = Some(header.clone());
        let ranks = &self.ranks;
        self.rounds.sort_by(|left, right| place(ranks, &left.scenario).cmp(&place(ranks, &right.scenario)));
        for steps in [&mut self.steps, &mut self.baseline] {
            steps.sort_by(|left, right| step_place(ranks, left).cmp(&step_place(ranks, right)));
        }
        for scenario in &header.scenarios {
            self.count(scenario, |_| {});
        }
    }

    /// Makes sure that a scenario has its counters, and changes them.
    fn count(&mut self, scenario: &str, change: impl FnOnce(&mut ScenarioRounds)) {
        let wanted = place(&self.ranks, scenario);
        let found = self.rounds.binary_search_by(|rounds| place(&self.ranks, &rounds.scenario).cmp(&wanted));
        let at = found.unwrap_or_else(|at| {
            let fresh = ScenarioRounds { scenario: scenario.to_owned(), n_started: 0, n_finished: 0 };
            self.rounds.insert(at, fresh);
            at
        });
        if let Some(rounds) = self.rounds.get_mut(at) {
            change(rounds);
        }
    }

    fn add(&mut self, result: &StepResult) {
        self.count(&result.scenario, |_| {});
        let cold = self.header.as_ref().is_some_and(|header| result.round < header.n_cold_rounds);
        let fresh = StepSummary::of(result, cold);
        let wanted = step_place(&self.ranks, &fresh);
        let steps = match result.arm {
            Arm::Candidate => &mut self.steps,
            Arm::Baseline => &mut self.baseline,
        };
        match steps.binary_search_by(|step| step_place(&self.ranks, step).cmp(&wanted)) {
            Ok(at) => {
                if let Some(step) = steps.get_mut(at) {
                    step.observe(result, cold);
                }
            }
            Err(at) => steps.insert(at, fresh),
        }
    }

    fn arm_mut(&mut self, arm: Arm) -> &mut Vec<StepSummary> {
        match arm {
            Arm::Candidate => &mut self.steps,
            Arm::Baseline => &mut self.baseline,
        }
    }

    /// What was run, where; `None` when the stream had no header.
    pub fn header(&self) -> Option<&RunHeader> {
        self.header.as_ref()
    }

    /// Whether the run came to its end; false for an interrupted one.
    pub fn complete(&self) -> bool {
        self.complete
    }

    /// All steps of the hook under test: scenarios in plan order, steps by position.
    pub fn steps(&self) -> &[StepSummary] {
        &self.steps
    }

    /// The same steps as the baseline answered them; empty when one hook ran alone.
    pub fn baseline_steps(&self) -> &[StepSummary] {
        &self.baseline
    }

    /// The baseline's side of a step.
    pub fn baseline_of(&self, step: &StepSummary) -> Option<&StepSummary> {
        let wanted = step_place(&self.ranks, step);
        let at = self.baseline.binary_search_by(|known| step_place(&self.ranks, known).cmp(&wanted)).ok()?;
        self.baseline.get(at)
    }

    /// First rounds of the confirmations, rising; empty when nothing had to be confirmed.
    pub fn confirm_starts(&self) -> &[u32] {
        &self.confirm_starts
    }

    /// The no-op children.
    pub fn floors(&self) -> &Floors {
        &self.floors
    }

    /// Answers of the gates, in the order of judging.
    pub fn gates(&self) -> &[GateResult] {
        &self.gates
    }

    /// The same run with these answers instead of its own.
    pub fn with_gates(self, gates: Vec<GateResult>) -> Summary {
        Summary { gates, ..self }
    }

    /// Number of calls of the hook.
    pub fn n_calls(&self) -> usize {
        self.steps.iter().map(|step| step.calls().len()).sum()
    }

    /// All scenarios that were planned or seen, in plan order.
    pub fn scenarios(&self) -> Vec<ScenarioSummary<'_>> {
        self.rounds.iter().map(|rounds| self.scenario(rounds)).collect()
    }

    fn scenario<'a>(&'a self, rounds: &'a ScenarioRounds) -> ScenarioSummary<'a> {
        let name = &*rounds.scenario;
        let wanted = place(&self.ranks, name);
        let start = self.steps.partition_point(|step| place(&self.ranks, &step.scenario) < wanted);
        let end = self.steps.partition_point(|step| place(&self.ranks, &step.scenario) <= wanted);
        let steps = self.steps.get(start..end).unwrap_or_default();
        let state = if steps.iter().any(|step| !step.passed()) {
            ScenarioState::Fail
        } else if rounds.n_finished == 0 || rounds.n_finished < rounds.n_started {
            ScenarioState::Incomplete
        } else {
            ScenarioState::Pass
        };
        ScenarioSummary { name, state, n_rounds: rounds.n_finished, steps }
    }

    /// Names of the events that were delivered, in alphabetical order.
    pub fn events(&self) -> Vec<&str> {
        let mut events: Vec<&str> = self.steps.iter().map(|step| &*step.event).collect();
        events.sort_unstable();
        events.dedup();
        events
    }

    /// Steps that deliver this event.
    pub fn steps_of_event(&self, event: &str) -> impl Iterator<Item = &StepSummary> {
        self.steps.iter().filter(move |step| step.event == event)
    }
}

/// Where a scenario stands: in plan order, then by name.
fn place<'a>(ranks: &HashMap<String, usize>, scenario: &'a str) -> (usize, &'a str) {
    (ranks.get(scenario).copied().unwrap_or(usize::MAX), scenario)
}

/// Where a step stands: by scenario, then by position, then by name.
fn step_place<'a>(ranks: &HashMap<String, usize>, step: &'a StepSummary) -> (usize, &'a str, u32, &'a str) {
    let (rank, scenario) = place(ranks, &step.scenario);
    (rank, scenario, step.index, &step.step)
}

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;
