//! Figures for services that chart benchmarks over time: by event, each absolute time with its floor beside it.

use crate::latency::{CONFIDENCE, Distribution, Percentile, Quantile, median};
use crate::quality::{MIN_GRADE, Measure, wilson};
use crate::summary::{Budget, BudgetMeasure, Clock, StepSummary, Summary, Timing, mean_over_steps, pairs};

/// One figure of one event, or of the whole run.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Measured {
    /// The event, or `retrieval`.
    pub(super) subject: String,
    /// Lower case, words joined by hyphens, unit at the end, such as `wall-p50-us`.
    pub(super) measure: String,
    pub(super) value: f64,
    /// Bounds at 95 %, each on its own side, where the samples give them.
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
    pub(super) unit: &'static str,
    /// Samples behind it.
    pub(super) n: u64,
    /// A larger figure is a better one.
    pub(super) larger_is_better: bool,
    /// The no-op child's figure for the same quantile, in the same unit.
    pub(super) floor: Option<f64>,
}

/// Which figures of a distribution are given, when there are samples enough.
const QUANTILES: [Quantile; 3] = [Quantile::P50, Quantile::P95, Quantile::P99];

/// All figures of a run: events in alphabetical order, then retrieval.
pub(super) fn measured(summary: &Summary) -> Vec<Measured> {
    let mut all = Vec::new();
    for event in summary.events() {
        let steps: Vec<&StepSummary> = summary.steps_of_event(event).collect();
        let timing = Timing::of(steps.iter().copied(), summary.floors());
        for clock in [Clock::Wall, Clock::Cpu] {
            times(&mut all, summary, event, &timing, clock);
            to_baseline(&mut all, summary, event, &steps, clock);
        }
        sizes(&mut all, event, &steps, &timing);
    }
    retrieval(&mut all, summary);
    all
}

fn times(all: &mut Vec<Measured>, summary: &Summary, event: &str, timing: &Timing, clock: Clock) {
    let (times, floor) = match clock {
        Clock::Wall => (&timing.wall, summary.floors().wall()),
        Clock::Cpu => (&timing.cpu, summary.floors().cpu()),
    };
    for quantile in QUANTILES {
        let Percentile::Value(value) = times.percentile(quantile) else { continue };
        let (low, high) = times.bounds(quantile, CONFIDENCE);
        let us = |time: std::time::Duration| time.as_micros() as f64;
        // The floor may have fewer samples than the hook: its median then stands for it, or nothing does.
        let beside = |floor: &Distribution, quantile| floor.percentile(quantile).value().map(us);
        all.push(Measured {
            subject: event.to_owned(),
            measure: format!("{}-{quantile}-us", clock.name()),
            value: us(value),
            low: low.map(us),
            high: high.map(us),
            unit: "us",
            n: times.count(),
            larger_is_better: false,
            floor: beside(&floor, quantile).or_else(|| beside(&floor, Quantile::P50)),
        });
    }
    if let Some(ratio) = timing.median_ratio(clock) {
        let n = timing.ratios(clock).len() as u64;
        all.push(plain(event, format!("{}-to-floor-ratio", clock.name()), ratio, "x", n));
    }
}

fn to_baseline(all: &mut Vec<Measured>, summary: &Summary, event: &str, steps: &[&StepSummary], clock: Clock) {
    let logs: Vec<f64> = pairs(summary, steps, clock).iter().map(|pair| pair.log_ratio).collect();
    let n = logs.len() as u64;
    if let Some(log) = median(logs) {
        all.push(plain(event, format!("{}-to-baseline-ratio", clock.name()), log.exp(), "x", n));
    }
}

fn sizes(all: &mut Vec<Measured>, event: &str, steps: &[&StepSummary], timing: &Timing) {
    let n_calls = steps.iter().map(|step| step.calls().len()).sum::<usize>() as u64;
    for (measure, unit) in [(BudgetMeasure::Utf16, "units"), (BudgetMeasure::Bytes, "bytes")] {
        if let Some(max) = Budget::of(steps.iter().copied(), measure).max() {
            all.push(plain(event, format!("injected-{}-max", measure.name()), max as f64, unit, n_calls));
        }
    }
    if let Some(peak) = timing.peak_memory_bytes {
        let floor = timing.memory_floor_bytes.map(|bytes| bytes as f64);
        let peak = plain(event, "peak-memory-bytes".to_owned(), peak as f64, "bytes", n_calls);
        all.push(Measured { floor, ..peak });
    }
    let mut instructions: Vec<u64> = steps.iter().filter_map(|step| step.instructions()).collect();
    instructions.sort_unstable();
    if let Some(most) = instructions.last() {
        let n = instructions.len() as u64;
        all.push(plain(event, "instructions-max".to_owned(), *most as f64, "instructions", n));
    }
}

fn retrieval(all: &mut Vec<Measured>, summary: &Summary) {
    let measures = [
        (Measure::Precision(1), "precision-at-1"),
        (Measure::Recall(5), "recall-at-5"),
        (Measure::ReciprocalRank(10), "rr-at-10"),
        (Measure::Ndcg(10), "ndcg-at-10"),
        (Measure::Hit(5), "hit-at-5"),
        (Measure::Abstain, "abstain"),
        (Measure::BytePrecision, "byte-precision"),
    ];
    for (measure, name) in measures {
        let Some(mean) = mean_over_steps(summary.steps(), measure, MIN_GRADE) else { continue };
        let bounds = wilson(mean.mean, mean.n);
        all.push(Measured {
            low: bounds.map(|(low, _)| low),
            high: bounds.map(|(_, high)| high),
            larger_is_better: true,
            ..plain("retrieval", name.to_owned(), mean.mean, "share", mean.n)
        });
    }
}

fn plain(subject: &str, measure: String, value: f64, unit: &'static str, n: u64) -> Measured {
    Measured {
        subject: subject.to_owned(),
        measure,
        value,
        low: None,
        high: None,
        unit,
        n,
        larger_is_better: false,
        floor: None,
    }
}
