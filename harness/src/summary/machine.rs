//! Which machine each scenario ran on: one for all, unless the run was merged from several.
//!
//! Absolute times of two machines never pool. Whoever pools times asks here first; what to do with several machines
//! is decided there.

use super::{StepSummary, Summary};
use crate::latency::{Contention, contention};

impl Summary {
    /// Fingerprint of the machine that a scenario ran on; empty when the stream had no header.
    pub fn machine_of(&self, scenario: &str) -> &str {
        let merged = self.machines.get(scenario).map(String::as_str);
        merged.or_else(|| self.header.as_ref().map(|header| &*header.machine)).unwrap_or_default()
    }

    /// All machines of the run, in the order of the scenarios; the header's when there are no scenarios.
    pub fn machines(&self) -> Vec<&str> {
        let mut machines = Vec::new();
        for rounds in &self.rounds {
            let machine = self.machine_of(&rounds.scenario);
            if !machines.contains(&machine) {
                machines.push(machine);
            }
        }
        if machines.is_empty() {
            machines.extend(self.header.as_ref().map(|header| &*header.machine));
        }
        machines
    }

    /// The machines of some steps, each once, in the order of the steps.
    pub fn machines_of<'a>(&self, steps: impl IntoIterator<Item = &'a StepSummary>) -> Vec<&str> {
        let mut machines = Vec::new();
        for step in steps {
            let machine = self.machine_of(&step.scenario);
            if !machines.contains(&machine) {
                machines.push(machine);
            }
        }
        machines
    }

    /// The calm of the run's machines, each judged by its own no-ops: contended when one was, quiet when all were.
    pub fn contention(&self) -> Contention {
        self.contention_on(&self.machines())
    }

    /// The calm of these machines.
    pub fn contention_on(&self, machines: &[&str]) -> Contention {
        let mut worst = None;
        for machine in machines {
            let (wall, _) = self.floors.of_scenarios(|scenario| self.machine_of(scenario) == *machine);
            let calm = contention(&wall);
            let rank = |calm: &Contention| match calm {
                Contention::Quiet => 0,
                Contention::Unknown { .. } => 1,
                Contention::Contended { .. } => 2,
            };
            if worst.as_ref().is_none_or(|known| rank(known) < rank(&calm)) {
                worst = Some(calm);
            }
        }
        worst.unwrap_or_else(|| contention(&self.floors.wall()))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::run_event::{RunEvent, Source};
    use crate::summary::fixture::{header, step};

    fn floor(scenario: &str, round: u32, us: u64) -> RunEvent {
        let (wall, cpu) = (Duration::from_micros(us), Duration::from_micros(us));
        RunEvent::FloorMeasured { scenario: scenario.to_owned(), round, wall, cpu }
    }

    fn source(machine: &str, scenario: &str) -> RunEvent {
        let scenarios = vec![scenario.to_owned()];
        RunEvent::SourceMerged(Source { machine: machine.to_owned(), scenarios, shard: None })
    }

    #[test]
    fn machines_of_a_merged_run_are_told_apart() {
        let mut events = vec![RunEvent::RunStarted(header(&["a", "b"], 1)), source("fast", "b")];
        events.extend([step("a", "x", 0, 0), step("b", "x", 0, 0)].map(RunEvent::StepFinished));
        let summary = Summary::of(&events);
        assert_eq!(summary.machines(), ["test processor, 2 cores, Linux 6", "fast"]);
        assert_eq!(summary.machine_of("b"), "fast");
        assert_eq!(summary.machines_of(summary.steps().iter().filter(|step| step.scenario == "b")), ["fast"]);
        assert_eq!(Summary::default().machines(), Vec::<&str>::new());
    }

    #[test]
    fn two_steady_machines_of_different_speed_are_not_contended() {
        let mut events = vec![RunEvent::RunStarted(header(&["a", "b"], 60))];
        events.extend((0..60).flat_map(|round| [floor("a", round, 500), floor("b", round, 5_000)]));
        // As one machine, p95 is ten times the median.
        assert!(matches!(Summary::of(&events).contention(), Contention::Contended { .. }));
        events.extend([source("slow", "b"), source("fast", "a")]);
        assert_eq!(Summary::of(&events).contention(), Contention::Quiet);
        events.extend((0..60).map(|round| floor("b", round, 100_000)));
        assert!(matches!(Summary::of(&events).contention(), Contention::Contended { .. }));
        assert_eq!(Summary::of(&events).contention_on(&["fast"]), Contention::Quiet);
    }
}
