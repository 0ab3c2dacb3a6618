//! What a run knows about a gate's metric, before it meets the bound: the figures of one hook.
//!
//! Percentiles come with order-statistic bounds; counts, budgets and retrieval of a deterministic hook are exact.
//! Comparing with another hook or run is not here.

use std::time::Duration;

use super::expr::{Base, GateExpr, Metric, Spread, Stat};
use super::paired::Paired;
use super::samples::Samples;
use super::sentence::{place, short};
use crate::latency::Quantile;
use crate::quality::{MIN_GRADE, Measure, wilson};
use crate::summary::{Budget, BudgetMeasure, Call, Clock, Floors, StepSummary, Timing, mean_over_steps};

/// What is known, in base units: microseconds, bytes, counts, shares, ratios.
#[derive(Debug)]
pub(super) enum Evidence {
    /// Nothing to judge.
    Absent { reason: String, remedy: String },
    /// A percentile that the samples cannot name.
    TooFew { n: u64, need: u64 },
    /// A figure that is certain for this run.
    Exact {
        /// May be infinite: a change from nothing.
        estimate: f64,
        /// Interval to show; it takes no part in the verdict.
        shown: Option<(f64, f64)>,
        n: u64,
        /// Where the figure comes from, such as the step with the largest text.
        source: Option<String>,
    },
    /// A percentile with bounds.
    Bounded {
        /// Absent when the samples cannot name the percentile.
        estimate: Option<f64>,
        low: Option<f64>,
        high: Option<f64>,
        n: u64,
        need: u64,
        /// One-sided p of the hypothesis that the bound is kept.
        p_kept: f64,
    },
    /// Rounds of two hooks side by side.
    Paired(Paired),
}

impl Evidence {
    pub(super) fn absent(reason: &str, remedy: &str) -> Evidence {
        Evidence::Absent { reason: reason.to_owned(), remedy: remedy.to_owned() }
    }

    fn exact(estimate: f64, n: u64, source: Option<String>) -> Evidence {
        Evidence::Exact { estimate, shown: None, n, source }
    }
}

/// The figures of these steps, of one hook in one run. `steps` are not empty.
pub(super) fn own(expr: &GateExpr, steps: &[&StepSummary], floors: &Floors) -> Evidence {
    match expr.metric {
        Metric::Latency(clock, stat) => latency(expr, clock, stat, steps, floors),
        Metric::Instructions => instructions(steps),
        Metric::MemoryPeak => memory(steps),
        Metric::Budget(measure, spread) => budget(expr, measure, spread, steps),
        Metric::Retrieval(measure) => retrieval(measure, steps),
        Metric::DeliveredTruncated => count(steps, |call| call.truncated),
        Metric::GoldenFailed => count(steps, |call| call.golden_failed),
        Metric::LeakCount => count(steps, |call| call.leaked),
        Metric::TimeoutCount => count(steps, |call| call.timed_out),
        Metric::FlakyCount => flaky(steps),
    }
}

fn latency(expr: &GateExpr, clock: Clock, stat: Stat, steps: &[&StepSummary], floors: &Floors) -> Evidence {
    let timing = Timing::of(steps.iter().copied(), floors);
    if timing.wall.count() == 0 {
        return Evidence::absent("no selected call started its process", "check the hook's command line");
    }
    if expr.base == Some(Base::Noop) {
        return ratio(expr, stat, timing.ratios(clock));
    }
    let times = timing.clock(clock);
    let exact = |figure: Option<Duration>| {
        let us = figure.map_or(0.0, |time| time.as_secs_f64() * 1e6);
        Evidence::exact(us, times.count(), None)
    };
    match stat {
        Stat::Min => exact(times.min()),
        Stat::Max => exact(times.max()),
        Stat::Mean => exact(times.mean()),
        Stat::Percentile(quantile) => Samples::of_times(times).percentile(expr, quantile),
    }
}

/// Ratios of calls to the no-op of their round, rising: judged like times.
fn ratio(expr: &GateExpr, stat: Stat, ratios: &[f64]) -> Evidence {
    let n = ratios.len() as u64;
    let (Some(first), Some(last)) = (ratios.first(), ratios.last()) else {
        return Evidence::absent("no call has a no-op of its round", "measure the floor in every round");
    };
    match stat {
        Stat::Min => Evidence::exact(*first, n, None),
        Stat::Max => Evidence::exact(*last, n, None),
        Stat::Mean => Evidence::exact(ratios.iter().sum::<f64>() / n as f64, n, None),
        Stat::Percentile(quantile) => Samples::of_rising(ratios.iter().copied()).percentile(expr, quantile),
    }
}

/// The step with the most instructions: a cap must hold for each.
fn instructions(steps: &[&StepSummary]) -> Evidence {
    let counted = || steps.iter().filter_map(|step| step.instructions());
    match counted().max() {
        Some(most) => {
            let source = largest(steps, |step| step.instructions().unwrap_or(0));
            Evidence::exact(most as f64, counted().count() as u64, source)
        }
        None => Evidence::absent("instructions were not counted in this run", NO_INSTRUCTIONS),
    }
}

/// What to do when there are no instructions.
pub(super) const NO_INSTRUCTIONS: &str = "install valgrind and run `hookbench bench` with its instr instrument";

fn memory(steps: &[&StepSummary]) -> Evidence {
    let measured = || steps.iter().flat_map(|step| step.calls().iter().filter_map(|call| call.peak_memory_bytes));
    match measured().max() {
        Some(peak) => {
            let source = largest_call(steps, |call| call.peak_memory_bytes.unwrap_or(0));
            Evidence::exact(peak as f64, measured().count() as u64, source)
        }
        None => Evidence::absent("peak memory was not measured on this platform", "run on Linux"),
    }
}

fn budget(expr: &GateExpr, measure: BudgetMeasure, spread: Spread, steps: &[&StepSummary]) -> Evidence {
    let budget = Budget::of(steps.iter().copied(), measure);
    let n = budget.per_call.len() as u64;
    match spread {
        Spread::Max => {
            let source = largest_call(steps, |call| measure.of(call));
            Evidence::exact(budget.max().unwrap_or(0) as f64, n, source)
        }
        Spread::Sum => Evidence::exact(budget.round_sum as f64, n, None),
        Spread::P95 => {
            let rising = budget.per_call.iter().map(|injected| *injected as f64);
            Samples::of_rising(rising).percentile(expr, Quantile::P95)
        }
    }
}

fn retrieval(measure: Measure, steps: &[&StepSummary]) -> Evidence {
    let Some(mean) = mean_over_steps(steps.iter().copied(), measure, MIN_GRADE) else {
        return match measure {
            Measure::Abstain => {
                Evidence::absent("no selected step has empty relevance labels", "label a step with `relevant = {}`")
            }
            _ => Evidence::absent("no selected step has relevance labels", "label the steps, or widen the selector"),
        };
    };
    let lowest = steps
        .iter()
        .filter_map(|step| step.score(measure, MIN_GRADE).map(|score| (score, *step)))
        .filter(|(score, _)| *score < 1.0)
        .min_by(|(left, _), (right, _)| left.total_cmp(right));
    Evidence::Exact {
        estimate: mean.mean,
        shown: wilson(mean.mean, mean.n),
        n: mean.n,
        source: lowest.map(|(score, step)| format!("lowest {} at {}", short(score), place(step))),
    }
}

fn count(steps: &[&StepSummary], counts: impl Fn(&Call) -> bool) -> Evidence {
    let n = steps.iter().map(|step| step.calls().len()).sum::<usize>();
    let found = steps.iter().flat_map(|step| step.calls()).filter(|call| counts(call)).count();
    let first = steps.iter().find(|step| step.calls().iter().any(&counts));
    Evidence::exact(found as f64, n as u64, first.map(|step| format!("first at {}", place(step))))
}

fn flaky(steps: &[&StepSummary]) -> Evidence {
    let found: Vec<_> = steps.iter().filter(|step| step.flaky()).collect();
    let source = found.first().map(|step| format!("first at {}", place(step)));
    Evidence::exact(found.len() as f64, steps.len() as u64, source)
}

fn largest_call(steps: &[&StepSummary], figure: impl Fn(&Call) -> u64) -> Option<String> {
    largest(steps, |step| step.calls().iter().map(&figure).max().unwrap_or(0))
}

/// The step with the largest figure, the first of equals; none when all are zero.
fn largest(steps: &[&StepSummary], figure: impl Fn(&StepSummary) -> u64) -> Option<String> {
    let step = steps.iter().rev().max_by_key(|step| figure(step)).filter(|step| figure(step) > 0)?;
    Some(format!("largest at {}", place(step)))
}
