//! The steps that took longest, with the floor beside each.

use serde::Serialize;

use super::number;
use super::svg::Svg;
use crate::latency::median;
use crate::summary::{Clock, StepSummary, Summary, Timing};

/// How many are listed.
const N_STEPS: usize = 12;
/// Calls that a median needs to be named.
const MIN_CALLS: usize = 5;

/// One step.
#[derive(Debug, Serialize)]
pub(super) struct SlowStep {
    scenario: String,
    step: String,
    event: String,
    bar: String,
    wall: String,
    cpu: String,
    to_floor: String,
    n: String,
    /// The figure is the slowest call: there are too few calls for a median.
    of_max: bool,
}

/// The slowest steps by median wall time, by the slowest call where there are too few for a median.
pub(super) fn slowest(summary: &Summary) -> Vec<SlowStep> {
    let mut steps: Vec<(f64, &StepSummary)> =
        summary.steps().iter().filter_map(|step| Some((typical(step, Clock::Wall)?, step))).collect();
    // Stable: equal times stay in plan order.
    steps.sort_by(|left, right| right.0.total_cmp(&left.0));
    let longest = steps.first().map_or(1.0, |(wall, _)| wall.max(1.0));
    let row = |(wall, step): (f64, &StepSummary)| {
        let timing = Timing::of([step], summary.floors());
        let ratio = timing.median_ratio(Clock::Wall);
        let mut svg = Svg::new(16.0);
        svg.rect("track", 0.0, 100.0, 4.0, 8.0);
        svg.rect("hook", 0.0, wall / longest * 100.0, 4.0, 8.0);
        if let Some(ratio) = ratio.filter(|ratio| *ratio > 0.0) {
            svg.rect("floor", 0.0, (wall / ratio / longest * 100.0).min(100.0), 4.0, 8.0);
        }
        SlowStep {
            scenario: step.scenario.clone(),
            step: step.step.clone(),
            event: step.event.clone(),
            bar: svg.decoration(),
            wall: number::time(wall),
            cpu: typical(step, Clock::Cpu).map_or_else(|| "–".to_owned(), number::time),
            to_floor: ratio.map_or_else(|| "–".to_owned(), number::ratio),
            n: number::count(timing.wall.count()),
            of_max: warm(step, Clock::Wall).len() < MIN_CALLS,
        }
    };
    steps.into_iter().take(N_STEPS).map(row).collect()
}

fn warm(step: &StepSummary, clock: Clock) -> Vec<f64> {
    step.calls().iter().filter(|call| call.started && !call.cold).map(|call| clock.of(call) as f64).collect()
}

fn typical(step: &StepSummary, clock: Clock) -> Option<f64> {
    let times = warm(step, clock);
    if times.len() < MIN_CALLS { times.into_iter().max_by(f64::total_cmp) } else { median(times) }
}
