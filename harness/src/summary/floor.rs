//! The no-op children of a run, and which call each belongs to.
//!
//! A call pairs with the no-op of its own scenario and round: only those two shared a moment of the machine.

use std::collections::BTreeMap;
use std::time::Duration;

use super::step::micros;
use crate::latency::{Distribution, median};

/// What doing nothing cost in one round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Floor {
    /// Wall time in microseconds.
    pub wall_us: f64,
    /// CPU time in microseconds.
    pub cpu_us: f64,
}

/// All no-op children of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Floors {
    /// Scenario → round → wall and CPU of each no-op, in microseconds.
    samples: BTreeMap<String, BTreeMap<u32, Vec<(u64, u64)>>>,
}

impl Floors {
    pub(super) fn observe(&mut self, scenario: &str, round: u32, wall: Duration, cpu: Duration) {
        let rounds = match self.samples.get_mut(scenario) {
            Some(rounds) => rounds,
            None => self.samples.entry(scenario.to_owned()).or_default(),
        };
        rounds.entry(round).or_default().push((micros(wall), micros(cpu)));
    }

    /// The floor of a scenario's round: the median when there are several no-ops.
    pub fn of(&self, scenario: &str, round: u32) -> Option<Floor> {
        let samples = self.samples.get(scenario)?.get(&round)?;
        let wall_us = median(samples.iter().map(|(wall, _)| *wall as f64).collect())?;
        let cpu_us = median(samples.iter().map(|(_, cpu)| *cpu as f64).collect())?;
        Some(Floor { wall_us, cpu_us })
    }

    fn all(&self) -> impl Iterator<Item = &(u64, u64)> {
        self.samples.values().flat_map(BTreeMap::values).flatten()
    }

    /// Wall times of all no-ops.
    pub fn wall(&self) -> Distribution {
        Distribution::of(self.all().map(|(wall, _)| *wall))
    }

    /// Wall and CPU times of the no-ops of some scenarios.
    pub fn of_scenarios(&self, wanted: impl Fn(&str) -> bool) -> (Distribution, Distribution) {
        let some = || {
            let rounds = self.samples.iter().filter(|(scenario, _)| wanted(scenario)).map(|(_, rounds)| rounds);
            rounds.flat_map(BTreeMap::values).flatten()
        };
        (Distribution::of(some().map(|(wall, _)| *wall)), Distribution::of(some().map(|(_, cpu)| *cpu)))
    }

    /// CPU times of all no-ops.
    pub fn cpu(&self) -> Distribution {
        Distribution::of(self.all().map(|(_, cpu)| *cpu))
    }
}
