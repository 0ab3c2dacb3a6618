//! Answers one gate for one run.
//!
//! Three steps: gather the evidence for the metric, hold it against the bound, say why. Percentiles are judged
//! by their order-statistic bounds and not by the point estimate; counts, budgets and retrieval of a
//! deterministic hook are exact and judged as they are. Baselines, confirmation and corrections for many gates
//! need paired rounds and are not here.

use std::time::Duration;

use super::across::{Across, across};
use super::bound::{Op, nine_digits};
use super::expr::{Base, GateExpr, Metric, Spread, Stat};
use super::file::Gate;
use crate::latency::{Contention, Distribution, Quantile, needed, ranks};
use crate::quality::{MIN_GRADE, Measure, wilson};
use crate::run_event::{GateResult, OnInconclusive, Severity, Verdict};
use crate::summary::{Budget, BudgetMeasure, Call, Clock, StepSummary, Summary, Timing, mean_over_steps};

/// What a run knows about a metric, in base units: microseconds, bytes, counts, shares.
#[derive(Debug)]
enum Evidence {
    /// Nothing to judge.
    Absent { reason: String, remedy: String },
    /// A figure that is certain for this run.
    Exact {
        estimate: f64,
        /// Interval to show; it takes no part in the verdict.
        shown: Option<(f64, f64)>,
        n: u64,
        /// Where the figure comes from, such as the step with the largest text.
        worst: Option<String>,
    },
    /// A percentile with bounds.
    Bounded {
        /// Absent when the samples cannot name the percentile.
        estimate: Option<f64>,
        low: Option<f64>,
        high: Option<f64>,
        n: u64,
        need: u64,
    },
}

/// The answer to one gate.
pub fn judge(gate: &Gate, summary: &Summary) -> GateResult {
    let expr = &gate.expr;
    let mut result = GateResult {
        name: gate.name.clone(),
        expression: gate.text.clone(),
        verdict: Verdict::Skipped,
        severity: expr.severity,
        on_inconclusive: expr.options.inconclusive.unwrap_or_default(),
        estimate: None,
        unit: expr.bound.unit.sign().to_owned(),
        interval: None,
        n: 0,
        reason: String::new(),
        remedy: String::new(),
    };
    let steps = expr.selector.steps(summary);
    match evidence(expr, &steps, summary) {
        Evidence::Absent { reason, remedy } => {
            result.reason = reason;
            result.remedy = remedy;
        }
        Evidence::Exact { estimate, shown, n, worst } => {
            exact(&mut result, expr, summary, estimate, n, worst);
            result.interval = shown.map(|(low, high)| (in_unit(expr, low), in_unit(expr, high)));
        }
        Evidence::Bounded { estimate, low, high, n, need } => {
            result.n = n;
            result.estimate = estimate.map(|estimate| in_unit(expr, estimate));
            let (low, high) = (low.map(|low| in_unit(expr, low)), high.map(|high| in_unit(expr, high)));
            result.interval = low.zip(high);
            bounded(&mut result, expr, summary, low, high, need);
        }
    }
    if let Metric::Latency(clock, _) = expr.metric {
        qualify(&mut result, expr, clock, &steps, summary);
    }
    result
}

/// A figure of base units in the bound's unit.
fn in_unit(expr: &GateExpr, figure: f64) -> f64 {
    nine_digits(figure / expr.bound.unit.size())
}

fn exact(result: &mut GateResult, expr: &GateExpr, summary: &Summary, estimate: f64, n: u64, worst: Option<String>) {
    let figure = in_unit(expr, estimate);
    result.n = n;
    result.estimate = Some(figure);
    let need = expr.options.min_n.unwrap_or(1);
    if n < need {
        result.estimate = None;
        result.verdict = Verdict::Inconclusive;
        (result.reason, result.remedy) = too_few(n, need, summary);
        return;
    }
    result.verdict = expr.op.verdict(Some(figure), Some(figure), expr.bound.number);
    let keeps = if result.verdict == Verdict::Pass { "keeps" } else { "breaks" };
    let shown = format!("{}{}", short(figure), expr.bound.unit.sign());
    let at = worst.map(|worst| format!(" ({worst})")).unwrap_or_default();
    result.reason = format!("{} is {shown}{at}, which {keeps} {} {}", expr.metric, expr.op.sign(), expr.bound);
    if result.verdict == Verdict::Fail {
        result.remedy = remedy(expr.metric).to_owned();
    }
}

fn bounded(
    result: &mut GateResult,
    expr: &GateExpr,
    summary: &Summary,
    low: Option<f64>,
    high: Option<f64>,
    need: u64,
) {
    if result.n < need {
        result.verdict = Verdict::Inconclusive;
        result.estimate = None;
        result.interval = None;
        (result.reason, result.remedy) = too_few(result.n, need, summary);
        return;
    }
    result.verdict = expr.op.verdict(low, high, expr.bound.number);
    let sign = expr.bound.unit.sign();
    let side = |side: Option<f64>| side.map_or("unknown".to_owned(), |side| format!("{}{sign}", short(side)));
    let confidence = short(expr.options.confidence() * 100.0);
    let says = match result.verdict {
        Verdict::Pass => "all of which keeps",
        Verdict::Fail => "none of which keeps",
        _ => "astride",
    };
    result.reason = format!(
        "{} lies between {} and {} ({confidence} % sure on each side), {says} {} {}",
        expr.metric,
        side(low),
        side(high),
        expr.op.sign(),
        expr.bound,
    );
    result.remedy = match result.verdict {
        Verdict::Fail => remedy(expr.metric).to_owned(),
        Verdict::Inconclusive => "narrow the interval with a larger --repeat on a quiet machine".to_owned(),
        _ => String::new(),
    };
}

/// What is known about the clock, and not about the figure.
fn qualify(result: &mut GateResult, expr: &GateExpr, clock: Clock, steps: &[&StepSummary], summary: &Summary) {
    let n_partial = steps.iter().flat_map(|step| step.calls()).filter(|call| call.started && call.cpu_partial).count();
    let flattered = match expr.op {
        Op::Le | Op::Lt => result.verdict == Verdict::Pass,
        Op::Ge | Op::Gt | Op::Eq => result.verdict == Verdict::Fail,
    };
    if clock == Clock::Cpu && n_partial > 0 && flattered {
        result.verdict = Verdict::Inconclusive;
        result.reason = format!("the CPU of {n_partial} calls is partial, because a descendant outlived the hook");
        result.remedy = "end all children before the hook ends, or gate latency.wall".to_owned();
    }
    let decided = matches!(result.verdict, Verdict::Fail | Verdict::Inconclusive);
    let contended =
        matches!(summary.contention_on(&summary.machines_of(steps.iter().copied())), Contention::Contended { .. });
    if clock == Clock::Wall && expr.base.is_none() && decided && contended {
        result.severity = Severity::Warn;
        if result.on_inconclusive == OnInconclusive::Fail {
            result.on_inconclusive = OnInconclusive::Warn;
        }
        result.reason.push_str("; only a warning, because the machine is contended");
    }
}

fn evidence(expr: &GateExpr, steps: &[&StepSummary], summary: &Summary) -> Evidence {
    let absent = |reason: &str, remedy: &str| Evidence::Absent { reason: reason.into(), remedy: remedy.into() };
    if matches!(expr.base, Some(Base::Baseline | Base::File(_))) {
        return absent(
            "a run of one hook has no baseline",
            "bound the figure itself, or its ratio with `vs noop`; a baseline needs paired rounds of two hooks",
        );
    }
    if matches!(expr.metric, Metric::Instructions | Metric::SpawnCount) {
        return absent("this figure is not measured by a run", "gate latency.cpu or leak.count");
    }
    if steps.is_empty() {
        let known = summary.events().join(", ");
        return Evidence::Absent {
            reason: format!("no step matches [{}]", expr.selector),
            remedy: format!("correct the selector; the events of this run are {known}"),
        };
    }
    match expr.metric {
        Metric::Latency(clock, stat) => latency(expr, clock, stat, steps, summary),
        Metric::MemoryPeak => memory(steps),
        Metric::Budget(measure, spread) => budget(expr, measure, spread, steps),
        Metric::Retrieval(measure) => retrieval(measure, steps),
        Metric::DeliveredTruncated => count(steps, |call| call.truncated),
        Metric::GoldenFailed => count(steps, |call| call.golden_failed),
        Metric::LeakCount => count(steps, |call| call.leaked),
        Metric::TimeoutCount => count(steps, |call| call.timed_out),
        Metric::FlakyCount => flaky(steps),
        Metric::Instructions | Metric::SpawnCount => absent("not measured", "gate another figure"),
    }
}

fn latency(expr: &GateExpr, clock: Clock, stat: Stat, steps: &[&StepSummary], summary: &Summary) -> Evidence {
    let timing = Timing::of(steps.iter().copied(), summary.floors());
    if timing.wall.count() == 0 {
        return Evidence::Absent {
            reason: "no selected call started its process".to_owned(),
            remedy: "check the hook's command line".to_owned(),
        };
    }
    match across(expr, clock, stat, steps, summary) {
        Some(Across::Refused { reason, remedy }) => return Evidence::Absent { reason, remedy },
        Some(Across::Combined { estimate, low, high, n, need }) => {
            return Evidence::Bounded { estimate, low, high, n, need };
        }
        None => {}
    }
    if expr.base == Some(Base::Noop) {
        return ratio(expr, stat, timing.ratios(clock));
    }
    let times = timing.clock(clock);
    let us = |time: Duration| time.as_secs_f64() * 1e6;
    let exact = |figure: Option<Duration>| Evidence::Exact {
        estimate: figure.map_or(0.0, us),
        shown: None,
        n: times.count(),
        worst: None,
    };
    match stat {
        Stat::Min => exact(times.min()),
        Stat::Max => exact(times.max()),
        Stat::Mean => exact(times.mean()),
        Stat::Percentile(quantile) => percentile(expr, times, quantile, us),
    }
}

fn percentile(expr: &GateExpr, times: &Distribution, quantile: Quantile, us: impl Fn(Duration) -> f64) -> Evidence {
    let (low, high) = times.bounds(quantile, expr.options.confidence());
    let need = needed(quantile, expr.options.confidence());
    let n = times.count();
    Evidence::Bounded {
        estimate: times.at_rank(quantile.rank(n)).filter(|_| n >= need).map(&us),
        low: low.map(&us),
        high: high.map(&us),
        n,
        need: expr.options.min_n.unwrap_or(need),
    }
}

/// Ratios of calls to the no-op of their round, rising: judged like times.
fn ratio(expr: &GateExpr, stat: Stat, ratios: &[f64]) -> Evidence {
    let n = ratios.len() as u64;
    let (Some(first), Some(last)) = (ratios.first(), ratios.last()) else {
        return Evidence::Absent {
            reason: "no call has a no-op of its round".to_owned(),
            remedy: "measure the floor in every round".to_owned(),
        };
    };
    let exact = |estimate: f64| Evidence::Exact { estimate, shown: None, n, worst: None };
    match stat {
        Stat::Min => exact(*first),
        Stat::Max => exact(*last),
        Stat::Mean => exact(ratios.iter().sum::<f64>() / n as f64),
        Stat::Percentile(quantile) => {
            let at = |rank: u64| ratios.get(usize::try_from(rank).ok()?.checked_sub(1)?).copied();
            let bounds = ranks(n, quantile, expr.options.confidence());
            let need = needed(quantile, expr.options.confidence());
            Evidence::Bounded {
                estimate: at(quantile.rank(n)).filter(|_| n >= need),
                low: bounds.lower.and_then(at),
                high: bounds.upper.and_then(at),
                n,
                need: expr.options.min_n.unwrap_or(need),
            }
        }
    }
}

fn memory(steps: &[&StepSummary]) -> Evidence {
    let measured = || steps.iter().flat_map(|step| step.calls().iter().filter_map(|call| call.peak_memory_bytes));
    match measured().max() {
        Some(peak) => Evidence::Exact {
            estimate: peak as f64,
            shown: None,
            n: measured().count() as u64,
            worst: worst(steps, |call| call.peak_memory_bytes.unwrap_or(0)),
        },
        None => Evidence::Absent {
            reason: "peak memory was not measured on this platform".to_owned(),
            remedy: "run on Linux".to_owned(),
        },
    }
}

fn budget(expr: &GateExpr, measure: BudgetMeasure, spread: Spread, steps: &[&StepSummary]) -> Evidence {
    let budget = Budget::of(steps.iter().copied(), measure);
    let n = budget.per_call.len() as u64;
    match spread {
        Spread::Max => Evidence::Exact {
            estimate: budget.max().unwrap_or(0) as f64,
            shown: None,
            n,
            worst: worst(steps, |call| measure.of(call)),
        },
        Spread::Sum => Evidence::Exact { estimate: budget.round_sum as f64, shown: None, n, worst: None },
        Spread::P95 => {
            let at = |rank: u64| {
                budget.per_call.get(usize::try_from(rank).ok()?.checked_sub(1)?).map(|injected| *injected as f64)
            };
            let bounds = ranks(n, Quantile::P95, expr.options.confidence());
            let need = needed(Quantile::P95, expr.options.confidence());
            Evidence::Bounded {
                estimate: at(Quantile::P95.rank(n)).filter(|_| n >= need),
                low: bounds.lower.and_then(at),
                high: bounds.upper.and_then(at),
                n,
                need: expr.options.min_n.unwrap_or(need),
            }
        }
    }
}

fn retrieval(measure: Measure, steps: &[&StepSummary]) -> Evidence {
    let Some(mean) = mean_over_steps(steps.iter().copied(), measure, MIN_GRADE) else {
        let (reason, remedy) = match measure {
            Measure::Abstain => ("no selected step has empty relevance labels", "label a step with `relevant = {}`"),
            _ => ("no selected step has relevance labels", "label the steps, or widen the selector"),
        };
        return Evidence::Absent { reason: reason.to_owned(), remedy: remedy.to_owned() };
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
        worst: lowest.map(|(score, step)| format!("lowest {} at {}", short(score), place(step))),
    }
}

fn count(steps: &[&StepSummary], counts: impl Fn(&Call) -> bool) -> Evidence {
    let n = steps.iter().map(|step| step.calls().len()).sum::<usize>();
    let found = steps.iter().flat_map(|step| step.calls()).filter(|call| counts(call)).count();
    let first = steps.iter().find(|step| step.calls().iter().any(&counts));
    Evidence::Exact {
        estimate: found as f64,
        shown: None,
        n: n as u64,
        worst: first.map(|step| format!("first at {}", place(step))),
    }
}

fn flaky(steps: &[&StepSummary]) -> Evidence {
    let found: Vec<_> = steps.iter().filter(|step| step.flaky()).collect();
    Evidence::Exact {
        estimate: found.len() as f64,
        shown: None,
        n: steps.len() as u64,
        worst: found.first().map(|step| format!("first at {}", place(step))),
    }
}

/// The step with the largest figure, unless all are zero.
fn worst(steps: &[&StepSummary], figure: impl Fn(&Call) -> u64) -> Option<String> {
    let largest = |step: &StepSummary| step.calls().iter().map(&figure).max().unwrap_or(0);
    // The first of equals, for a stable text.
    let step = steps.iter().rev().max_by_key(|step| largest(step)).filter(|step| largest(step) > 0)?;
    Some(format!("largest at {}", place(step)))
}

fn place(step: &StepSummary) -> String {
    format!("{}/{}", step.scenario, step.step)
}

/// Reason and remedy for too few samples; the remedy counts the rounds that would do.
fn too_few(have: u64, need: u64, summary: &Summary) -> (String, String) {
    let rounds = summary.header().map_or(1, |header| u64::from(header.repeat)).max(1);
    let repeat = (need * rounds).div_ceil(have.max(1));
    (format!("n too small: {have} samples of {need} needed"), format!("run with --repeat {repeat}"))
}

fn remedy(metric: Metric) -> &'static str {
    match metric {
        Metric::Latency(..) => "find what the hook does in this time, or raise the bound on purpose",
        Metric::MemoryPeak => "find what the hook keeps in memory, or raise the bound on purpose",
        Metric::Budget(..) => "make the hook inject less, or raise the bound on purpose",
        Metric::DeliveredTruncated => "make the hook inject less: the model saw a preview only",
        Metric::Retrieval(Measure::Abstain) => "make the hook silent when nothing fits",
        Metric::Retrieval(_) => "look at the steps with low scores in the retrieval table",
        Metric::GoldenFailed => "review the changed texts, then accept them if they are right",
        Metric::LeakCount => "end all children before the hook ends",
        Metric::TimeoutCount => "make the hook answer in time; the host drops a late answer",
        Metric::FlakyCount => "remove what differs between rounds: clocks, random order, shared state",
        Metric::Instructions | Metric::SpawnCount => "",
    }
}

/// A figure for a sentence: four significant digits at least, whole numbers whole.
fn short(figure: f64) -> String {
    let text = match figure.abs() {
        whole if whole.fract() == 0.0 => return format!("{figure:.0}"),
        large if large >= 100.0 => format!("{figure:.1}"),
        middle if middle >= 1.0 => format!("{figure:.2}"),
        _ => format!("{figure:.4}"),
    };
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
