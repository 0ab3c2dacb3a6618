//! Times and memory of a selection of steps, pooled.
//!
//! Calls whose process never started are left out: their times are those of an error; and so are calls of cold rounds,
//! which are pooled apart. Nothing is subtracted
//! from any figure; the floor stands beside it, and the ratio is taken call by call within a round.

use super::floor::Floors;
use super::step::{Call, StepSummary};
use crate::latency::{Distribution, median};

/// Which time of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Clock {
    /// Spawn to end of output: what a user waits for.
    Wall,
    /// CPU, user plus system.
    Cpu,
}

impl Clock {
    /// Its name in gates and reports.
    pub fn name(self) -> &'static str {
        match self {
            Clock::Wall => "wall",
            Clock::Cpu => "cpu",
        }
    }

    /// The time of one call in microseconds.
    pub fn of(self, call: &Call) -> u64 {
        match self {
            Clock::Wall => call.wall_us,
            Clock::Cpu => call.cpu_us,
        }
    }
}

/// Pooled times of a selection of steps.
#[derive(Debug, Clone)]
pub struct Timing {
    /// Spawn to end of output.
    pub wall: Distribution,
    /// Spawn to exit of the hook's own process.
    pub exit: Distribution,
    /// CPU.
    pub cpu: Distribution,
    /// Wall of each call over the no-op's of its round, rising.
    pub wall_ratios: Vec<f64>,
    /// CPU of each call over the no-op's of its round, rising.
    pub cpu_ratios: Vec<f64>,
    /// Calls whose CPU figure may be too low.
    pub n_cpu_partial: u64,
    /// Largest peak memory in bytes.
    pub peak_memory_bytes: Option<u64>,
    /// Largest size of the launcher in bytes: a peak at this size says only "at most".
    pub memory_floor_bytes: Option<u64>,
}

impl Timing {
    /// Pools the calls of some steps.
    pub fn of<'a>(steps: impl IntoIterator<Item = &'a StepSummary>, floors: &Floors) -> Timing {
        Timing::pooled(steps, floors, false)
    }

    /// Pools the calls of the cold rounds of some steps.
    pub fn cold<'a>(steps: impl IntoIterator<Item = &'a StepSummary>, floors: &Floors) -> Timing {
        Timing::pooled(steps, floors, true)
    }

    fn pooled<'a>(steps: impl IntoIterator<Item = &'a StepSummary>, floors: &Floors, cold: bool) -> Timing {
        let calls: Vec<(&StepSummary, &Call)> = steps
            .into_iter()
            .flat_map(|step| step.calls().iter().map(move |call| (step, call)))
            .filter(|(_, call)| call.started && call.cold == cold)
            .collect();
        let ratios = |clock: Clock| {
            let mut ratios: Vec<f64> =
                calls.iter().filter_map(|(step, call)| ratio(clock, step, call, floors)).collect();
            ratios.sort_by(f64::total_cmp);
            ratios
        };
        Timing {
            wall: Distribution::of(calls.iter().map(|(_, call)| call.wall_us)),
            exit: Distribution::of(calls.iter().map(|(_, call)| call.exit_us)),
            cpu: Distribution::of(calls.iter().map(|(_, call)| call.cpu_us)),
            wall_ratios: ratios(Clock::Wall),
            cpu_ratios: ratios(Clock::Cpu),
            n_cpu_partial: calls.iter().filter(|(_, call)| call.cpu_partial).count() as u64,
            peak_memory_bytes: calls.iter().filter_map(|(_, call)| call.peak_memory_bytes).max(),
            memory_floor_bytes: calls.iter().filter_map(|(_, call)| call.memory_floor_bytes).max(),
        }
    }

    /// The distribution of one clock.
    pub fn clock(&self, clock: Clock) -> &Distribution {
        match clock {
            Clock::Wall => &self.wall,
            Clock::Cpu => &self.cpu,
        }
    }

    /// Ratios to the floor on one clock, rising.
    pub fn ratios(&self, clock: Clock) -> &[f64] {
        match clock {
            Clock::Wall => &self.wall_ratios,
            Clock::Cpu => &self.cpu_ratios,
        }
    }

    /// Median of the ratios to the floor.
    pub fn median_ratio(&self, clock: Clock) -> Option<f64> {
        median(self.ratios(clock).to_vec())
    }
}

fn ratio(clock: Clock, step: &StepSummary, call: &Call, floors: &Floors) -> Option<f64> {
    let floor = floors.of(&step.scenario, call.round)?;
    let floor_us = match clock {
        Clock::Wall => floor.wall_us,
        Clock::Cpu => floor.cpu_us,
    };
    // A no-op under the clock's resolution has no ratio; leaving it out beats an infinity.
    (floor_us > 0.0).then(|| clock.of(call) as f64 / floor_us)
}
