//! One of the two runs: its summary, and what each step delivered.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use crate::record::{RecordFault, RunReader};
use crate::run_event::{Arm, RunEvent, RunHeader};
use crate::summary::{StepSummary, Summary};

/// What a step delivered over all its calls.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Delivered {
    /// The text of the first call.
    pub(super) first: String,
    /// Every text once: parallel calls may differ, and so may rounds of a hook that is not deterministic.
    pub(super) texts: BTreeSet<String>,
    /// Every decision once.
    pub(super) decisions: BTreeSet<String>,
}

/// A saved run, read for a comparison.
#[derive(Debug, Default)]
pub struct Side {
    summary: Summary,
    delivered: BTreeMap<(String, String), Delivered>,
    /// Scenario and step → place in the summary; made at the end.
    places: HashMap<(String, String), usize>,
}

impl Side {
    /// Reads a saved run.
    ///
    /// # Errors
    /// A folder that holds no readable run.
    pub fn read(folder: &Path) -> Result<Side, RecordFault> {
        let mut side = Side::default();
        for event in RunReader::open(folder)? {
            side.observe(&event?);
        }
        Ok(side.indexed())
    }

    /// A run from its events.
    pub fn of<'a>(events: impl IntoIterator<Item = &'a RunEvent>) -> Side {
        let mut side = Side::default();
        events.into_iter().for_each(|event| side.observe(event));
        side.indexed()
    }

    fn observe(&mut self, event: &RunEvent) {
        self.summary.observe(event);
        // A baseline of a run of two hooks is no part of what that run is about.
        if let RunEvent::StepFinished(result) = event
            && result.arm == Arm::Candidate
        {
            let place = (result.scenario.clone(), result.step.clone());
            let delivered = self.delivered.entry(place).or_default();
            if delivered.texts.is_empty() {
                delivered.first.clone_from(&result.delivered);
            }
            if !delivered.texts.contains(&result.delivered) {
                delivered.texts.insert(result.delivered.clone());
            }
            if !delivered.decisions.contains(&result.decision) {
                delivered.decisions.insert(result.decision.clone());
            }
        }
    }

    fn indexed(mut self) -> Side {
        let place = |(at, step): (usize, &StepSummary)| ((step.scenario.clone(), step.step.clone()), at);
        self.places = self.summary.steps().iter().enumerate().map(place).collect();
        self
    }

    /// The figures of the run.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// The step of this name.
    pub fn step(&self, scenario: &str, step: &str) -> Option<&StepSummary> {
        let at = self.places.get(&(scenario.to_owned(), step.to_owned()))?;
        self.summary.steps().get(*at)
    }

    pub(super) fn delivered(&self, step: &StepSummary) -> Option<&Delivered> {
        self.delivered.get(&(step.scenario.clone(), step.step.clone()))
    }

    pub(super) fn header(&self, text: impl Fn(&RunHeader) -> String) -> String {
        self.summary.header().map(text).unwrap_or_default()
    }
}
