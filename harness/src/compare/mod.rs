//! What differs between two saved runs: behaviour step by step, retrieval query by query, times side by side.
//!
//! Behaviour is compared as it is. Retrieval is judged by named queries, and by a test from 200 queries on. Times are
//! shown and never judged: the runs were not measured in the same rounds, so the load of the moment is in their ratio;
//! on different machines they are not even shown. A verdict on times is what `hookbench bench` is for.

mod file;
mod retrieval;
mod side;
mod step;
mod times;

use std::collections::BTreeSet;

pub use self::file::{ComparisonFile, comparison_schema};
pub use self::retrieval::{MIN_QUERIES, MeasureChange, MustHits, QueryFlip, RetrievalChange};
pub use self::side::Side;
pub use self::step::{StepChange, TextChange};
pub use self::times::{EventTimes, Times};
use crate::exit_code::ExitCode;
use crate::run_event::Verdict;
use crate::summary::StepSummary;

/// A figure of the earlier and of the later run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Both<T> {
    /// In the run that is compared with.
    pub before: T,
    /// In the run that may be better or worse.
    pub after: T,
}

impl<T> Both<T> {
    /// Both sides through a function.
    pub fn map<U>(self, change: impl Fn(T) -> U) -> Both<U> {
        Both { before: change(self.before), after: change(self.after) }
    }

    /// Whether the sides differ.
    pub fn differ(&self) -> bool
    where
        T: PartialEq,
    {
        self.before != self.after
    }
}

/// Two runs, compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Command lines of the hooks.
    pub hook: Both<String>,
    /// Machine fingerprints.
    pub machine: Both<String>,
    /// Whether each run came to its end.
    pub complete: Both<bool>,
    /// Steps that both runs have.
    pub n_steps: usize,
    /// Steps that one run lacks, as `scenario/step`.
    pub only: Both<Vec<String>>,
    /// Steps that differ in anything but time.
    pub changes: Vec<StepChange>,
    /// Times of the common steps, by event.
    pub times: Times,
    /// Retrieval of the common labelled steps.
    pub retrieval: RetrievalChange,
}

impl Comparison {
    /// Compares two runs.
    pub fn of(before: &Side, after: &Side) -> Comparison {
        let pairs: Vec<Both<&StepSummary>> = after
            .summary()
            .steps()
            .iter()
            .filter_map(|later| Some(Both { before: before.step(&later.scenario, &later.step)?, after: later }))
            .collect();
        let common: BTreeSet<(&str, &str)> =
            pairs.iter().map(|pair| (&*pair.after.scenario, &*pair.after.step)).collect();
        let only = |side: &Side| {
            let lone = side.summary().steps().iter().filter(|step| !common.contains(&(&*step.scenario, &*step.step)));
            lone.map(|step| format!("{}/{}", step.scenario, step.step)).collect()
        };
        let sides = Both { before, after };
        Comparison {
            hook: sides.map(|side| side.header(|header| header.hook_command.clone())),
            machine: sides.map(|side| side.summary().machines().join("; ")),
            complete: sides.map(|side| side.summary().complete()),
            n_steps: pairs.len(),
            only: sides.map(only),
            changes: pairs.iter().filter_map(|pair| StepChange::of(*pair, sides)).collect(),
            times: Times::of(&pairs, sides),
            retrieval: RetrievalChange::of(&pairs),
        }
    }

    /// The exit code: nothing in common 5, a step that passed and fails now 1, retrieval that got worse by the rules 3.
    /// Changed texts and times alone are 0; refused times are 0 too, because the rest was compared.
    pub fn exit_code(&self) -> ExitCode {
        let worse = |verdict| verdict == Verdict::Fail;
        if self.n_steps == 0 {
            ExitCode::NothingMatched
        } else if self.changes.iter().any(|change| change.passed == Both { before: true, after: false }) {
            ExitCode::Behaviour
        } else if worse(self.retrieval.must.verdict())
            || self.retrieval.measures.iter().any(|change| worse(change.verdict))
        {
            ExitCode::Gate
        } else {
            ExitCode::Pass
        }
    }
}

#[cfg(test)]
mod tests;
