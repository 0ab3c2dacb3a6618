//! The words of a gate's answer: figures in sentences, and what to do about each metric.

use super::expr::{GateExpr, Metric};
use crate::quality::Measure;
use crate::summary::{StepSummary, Summary};

/// `scenario/step`.
pub(super) fn place(step: &StepSummary) -> String {
    format!("{}/{}", step.scenario, step.step)
}

/// A figure for a sentence: whole numbers whole, others with as many decimals as their size is worth.
pub(super) fn short(figure: f64) -> String {
    if figure.fract() == 0.0 {
        return format!("{figure:.0}");
    }
    let text = match figure.abs() {
        100.0.. => format!("{figure:.1}"),
        1.0.. => format!("{figure:.2}"),
        _ => format!("{figure:.4}"),
    };
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A figure in the gate's unit; a change has its sign in front.
pub(super) fn shown(expr: &GateExpr, figure: f64) -> String {
    let sign = if expr.bound.change && figure >= 0.0 { "+" } else { "" };
    format!("{sign}{}{}", short(figure), expr.bound.unit.sign())
}

/// The bound with its operator and base, as in `< +10% vs baseline`.
pub(super) fn bound(expr: &GateExpr) -> String {
    let base = expr.base.as_ref().map(|base| format!(" vs {base}")).unwrap_or_default();
    format!("{} {}{base}", expr.op.sign(), expr.bound)
}

/// Reason and remedy for too few samples; the remedy counts the rounds that would do, in the words of the command that
/// made the run.
pub(super) fn too_few(have: u64, need: u64, summary: &Summary) -> (String, String) {
    let header = summary.header();
    let compared = header.is_some_and(|header| header.baseline_command.is_some());
    let rounds = if compared {
        let n_cold = header.map_or(0, |header| header.n_cold_rounds);
        let n_done = summary.scenarios().iter().map(|scenario| scenario.n_rounds).max().unwrap_or(0);
        n_done.saturating_sub(n_cold)
    } else {
        header.map_or(1, |header| header.repeat)
    };
    let enough = (need * u64::from(rounds.max(1))).div_ceil(have.max(1));
    let option = if compared { "--pairs" } else { "--repeat" };
    (format!("n too small: {have} samples of {need} needed"), format!("run with {option} {enough}"))
}

/// What to do about a broken bound.
pub(super) fn remedy(metric: Metric) -> &'static str {
    match metric {
        Metric::Latency(..) => "find what the hook does in this time, or raise the bound on purpose",
        Metric::Instructions => "find the new work with a profiler, or raise the bound on purpose",
        Metric::MemoryPeak => "find what the hook keeps in memory, or raise the bound on purpose",
        Metric::Budget(..) => "make the hook inject less, or raise the bound on purpose",
        Metric::DeliveredTruncated => "make the hook inject less: the model saw a preview only",
        Metric::Retrieval(Measure::Abstain) => "make the hook silent when nothing fits",
        Metric::Retrieval(_) => "look at the steps with low scores in the retrieval table",
        Metric::GoldenFailed => "review the changed texts, then accept them if they are right",
        Metric::LeakCount => "end all children before the hook ends",
        Metric::TimeoutCount => "make the hook answer in time; the host drops a late answer",
        Metric::FlakyCount => "remove what differs between rounds: clocks, random order, shared state",
    }
}
