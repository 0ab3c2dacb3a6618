//! A gate, understood: what is measured, on which steps, against which bound.
//!
//! `Display` writes the canonical text, which parses back to the same gate.

use std::fmt;

use super::bound::{Bound, Op, Unit, nine_digits};
use super::selector::Selector;
use crate::latency::{CONFIDENCE, Quantile};
use crate::quality::Measure;
use crate::run_event::{OnInconclusive, Severity};
use crate::summary::{BudgetMeasure, Clock};

/// Which figure of a set of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stat {
    /// The smallest sample.
    Min,
    /// A percentile.
    Percentile(Quantile),
    /// The largest sample.
    Max,
    /// The mean.
    Mean,
}

impl Stat {
    /// The figure that is written so.
    pub fn parse(name: &str) -> Option<Stat> {
        match name {
            "min" => Some(Stat::Min),
            "p50" => Some(Stat::Percentile(Quantile::P50)),
            "p90" => Some(Stat::Percentile(Quantile::P90)),
            "p95" => Some(Stat::Percentile(Quantile::P95)),
            "p99" => Some(Stat::Percentile(Quantile::P99)),
            "max" => Some(Stat::Max),
            "mean" => Some(Stat::Mean),
            _ => None,
        }
    }
}

impl fmt::Display for Stat {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stat::Min => out.write_str("min"),
            Stat::Percentile(quantile) => quantile.fmt(out),
            Stat::Max => out.write_str("max"),
            Stat::Mean => out.write_str("mean"),
        }
    }
}

/// Which figure of the injected texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spread {
    /// The largest call.
    Max,
    /// The largest total of one round.
    Sum,
    /// The 95th percentile of the calls.
    P95,
}

impl Spread {
    /// The figure that is written so.
    pub fn parse(name: &str) -> Option<Spread> {
        match name {
            "max" => Some(Spread::Max),
            "sum" => Some(Spread::Sum),
            "p95" => Some(Spread::P95),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Spread::Max => "max",
            Spread::Sum => "sum",
            Spread::P95 => "p95",
        }
    }
}

/// What a gate is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// A time.
    Latency(Clock, Stat),
    /// Instructions of the hook, counted.
    Instructions,
    /// Largest peak memory.
    MemoryPeak,
    /// Injected text.
    Budget(BudgetMeasure, Spread),
    /// Calls whose text the host cut.
    DeliveredTruncated,
    /// A measure of retrieval.
    Retrieval(Measure),
    /// Calls whose text differs from its golden, or has none.
    GoldenFailed,
    /// Calls that left a process or held a stream.
    LeakCount,
    /// Calls that reached their timeout.
    TimeoutCount,
    /// Steps that pass in one round and not in another.
    FlakyCount,
}

impl Metric {
    /// The metric that is written so.
    pub fn parse(name: &str) -> Option<Metric> {
        if let Some(measure) = name.strip_prefix("retrieval.") {
            return Measure::parse(measure).map(Metric::Retrieval);
        }
        let parts: Vec<&str> = name.split('.').collect();
        match parts.as_slice() {
            ["latency", "wall", stat] => Stat::parse(stat).map(|stat| Metric::Latency(Clock::Wall, stat)),
            ["latency", "cpu", stat] => Stat::parse(stat).map(|stat| Metric::Latency(Clock::Cpu, stat)),
            ["budget", "bytes", spread] => {
                Spread::parse(spread).map(|spread| Metric::Budget(BudgetMeasure::Bytes, spread))
            }
            ["budget", "utf16", spread] => {
                Spread::parse(spread).map(|spread| Metric::Budget(BudgetMeasure::Utf16, spread))
            }
            ["budget", "tokens_est", spread] => {
                Spread::parse(spread).map(|spread| Metric::Budget(BudgetMeasure::TokensEst, spread))
            }
            ["instructions"] => Some(Metric::Instructions),
            ["memory", "peak"] => Some(Metric::MemoryPeak),
            ["delivered", "truncated"] => Some(Metric::DeliveredTruncated),
            ["golden", "failed"] => Some(Metric::GoldenFailed),
            ["leak", "count"] => Some(Metric::LeakCount),
            ["timeout", "count"] => Some(Metric::TimeoutCount),
            ["flaky", "count"] => Some(Metric::FlakyCount),
            _ => None,
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Metric::Latency(clock, stat) => write!(out, "latency.{}.{stat}", clock.name()),
            Metric::Instructions => out.write_str("instructions"),
            Metric::MemoryPeak => out.write_str("memory.peak"),
            Metric::Budget(measure, spread) => write!(out, "budget.{}.{}", measure.name(), spread.name()),
            Metric::DeliveredTruncated => out.write_str("delivered.truncated"),
            Metric::Retrieval(measure) => write!(out, "retrieval.{measure}"),
            Metric::GoldenFailed => out.write_str("golden.failed"),
            Metric::LeakCount => out.write_str("leak.count"),
            Metric::TimeoutCount => out.write_str("timeout.count"),
            Metric::FlakyCount => out.write_str("flaky.count"),
        }
    }
}

/// What a figure is compared with, when not with the bound alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Base {
    /// Another hook, measured in the same rounds.
    Baseline,
    /// The no-op child of the same round.
    Noop,
    /// A saved run.
    File(String),
}

impl fmt::Display for Base {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Base::Baseline => out.write_str("baseline"),
            Base::Noop => out.write_str("noop"),
            Base::File(path) if path.contains(' ') => write!(out, "file:\"{path}\""),
            Base::File(path) => write!(out, "file:{path}"),
        }
    }
}

/// What stands behind `with`; an absent value means the default of whoever judges.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Options {
    /// Confidence of each bound, above 0.5 and below 1.
    pub confidence: Option<f64>,
    /// Samples below which the answer is inconclusive.
    pub min_n: Option<u64>,
    /// Most pairs to measure.
    pub max_n: Option<u64>,
    /// What too little evidence means.
    pub inconclusive: Option<OnInconclusive>,
    /// How often a fail is confirmed with fresh rounds.
    pub confirm: Option<u32>,
    /// Least change that counts, as a share.
    pub margin: Option<f64>,
}

impl Options {
    /// The confidence asked for, or 95 %.
    pub fn confidence(&self) -> f64 {
        self.confidence.unwrap_or(CONFIDENCE)
    }
}

/// One gate.
#[derive(Debug, Clone, PartialEq)]
pub struct GateExpr {
    /// What is measured.
    pub metric: Metric,
    /// On which steps.
    pub selector: Selector,
    /// How it must stand to the bound.
    pub op: Op,
    /// The bound.
    pub bound: Bound,
    /// What it is relative to.
    pub base: Option<Base>,
    /// How to judge.
    pub options: Options,
    /// What a fail means.
    pub severity: Severity,
}

impl GateExpr {
    /// A figure of base units (microseconds, bytes, ratios, shares) in the bound's unit.
    pub(super) fn in_unit(&self, figure: f64) -> f64 {
        nine_digits(figure / self.bound.unit.size())
    }

    /// A ratio to the base in the bound's unit: itself, or the change in per cent.
    pub(super) fn relative(&self, ratio: f64) -> f64 {
        if self.bound.unit == Unit::Times { nine_digits(ratio) } else { self.in_unit(ratio - 1.0) }
    }
}

impl fmt::Display for GateExpr {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.metric)?;
        if !self.selector.pairs.is_empty() {
            write!(out, "[{}]", self.selector)?;
        }
        write!(out, " {} {}", self.op.sign(), self.bound)?;
        if let Some(base) = &self.base {
            write!(out, " vs {base}")?;
        }
        let options = &self.options;
        let written: Vec<String> = [
            options.confidence.map(|value| format!("confidence={value}")),
            options.min_n.map(|value| format!("min_n={value}")),
            options.max_n.map(|value| format!("max_n={value}")),
            options.inconclusive.map(|value| {
                let word = match value {
                    OnInconclusive::Pass => "pass",
                    OnInconclusive::Warn => "warn",
                    OnInconclusive::Fail => "fail",
                };
                format!("inconclusive={word}")
            }),
            options.confirm.map(|value| format!("confirm={value}")),
            options.margin.map(|value| format!("margin={}%", nine_digits(value * 100.0))),
        ]
        .into_iter()
        .flatten()
        .collect();
        if !written.is_empty() {
            write!(out, " with {}", written.join(", "))?;
        }
        if self.severity == Severity::Warn {
            out.write_str(" severity warn")?;
        }
        Ok(())
    }
}
