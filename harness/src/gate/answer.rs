//! One gate's answer in words and figures: verdict, estimate, interval, reason, remedy.

use hookbench_statistics::Decision;

use super::bound::{Op, nine_digits};
use super::evidence::Evidence;
use super::expr::{Base, GateExpr, Metric};
use super::judge::{Case, Course};
use super::paired::{Paired, Phase};
use super::question::Question;
use super::sentence::{bound, remedy, short, shown, too_few};
use crate::latency::Contention;
use crate::run_event::{GateResult, OnInconclusive, Severity, Verdict};
use crate::summary::{Clock, StepSummary, Summary};

/// The answer to a case.
pub(super) fn answer(case: &Case<'_>, course: &Course, summary: &Summary) -> GateResult {
    let expr = &case.gate.expr;
    let mut result = GateResult {
        name: case.gate.name.clone(),
        expression: case.gate.text.clone(),
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
    match &case.evidence {
        Evidence::Absent { reason, remedy } => (result.reason, result.remedy) = (reason.clone(), remedy.clone()),
        Evidence::TooFew { n, need } => {
            (result.verdict, result.n) = (Verdict::Inconclusive, *n);
            (result.reason, result.remedy) = too_few(*n, *need, summary);
        }
        Evidence::Exact { estimate, shown, n, source } => {
            exact(&mut result, expr, summary, *estimate, *n, source.as_deref());
            result.interval = shown.map(|(low, high)| (expr.in_unit(low), expr.in_unit(high)));
        }
        Evidence::Bounded { estimate, low, high, n, need, .. } => {
            result.n = *n;
            result.estimate = estimate.map(|estimate| expr.in_unit(estimate));
            let (low, high) = (low.map(|low| expr.in_unit(low)), high.map(|high| expr.in_unit(high)));
            result.interval = low.zip(high);
            bounded(&mut result, expr, summary, (low, high), *need, course);
        }
        Evidence::Paired(paired) => compared(&mut result, expr, paired, course),
    }
    if let Metric::Latency(clock, _) = expr.metric {
        qualify(&mut result, expr, clock, &case.steps, summary);
    }
    result
}

fn exact(result: &mut GateResult, expr: &GateExpr, summary: &Summary, estimate: f64, n: u64, source: Option<&str>) {
    let figure = expr.in_unit(estimate);
    result.n = n;
    let need = expr.options.min_n.unwrap_or(1);
    if n < need {
        result.verdict = Verdict::Inconclusive;
        (result.reason, result.remedy) = too_few(n, need, summary);
        return;
    }
    result.estimate = Some(figure).filter(|figure| figure.is_finite());
    result.verdict = expr.op.verdict(Some(figure), Some(figure), expr.bound.number);
    let keeps = if result.verdict == Verdict::Pass { "keeps" } else { "breaks" };
    let shown = if figure.is_finite() { shown(expr, figure) } else { "new: there was none before".to_owned() };
    let at = source.map(|source| format!(" ({source})")).unwrap_or_default();
    let verb = if expr.bound.change { "changed by" } else { "is" };
    let verb = if figure.is_finite() { verb } else { "is" };
    result.reason = format!("{} {verb} {shown}{at}, which {keeps} {}", expr.metric, bound(expr));
    if result.verdict == Verdict::Fail {
        result.remedy = remedy(expr.metric).to_owned();
    }
}

fn bounded(
    result: &mut GateResult,
    expr: &GateExpr,
    summary: &Summary,
    (low, high): (Option<f64>, Option<f64>),
    need: u64,
    course: &Course,
) {
    if result.n < need {
        result.verdict = Verdict::Inconclusive;
        (result.estimate, result.interval) = (None, None);
        (result.reason, result.remedy) = too_few(result.n, need, summary);
        return;
    }
    result.verdict = expr.op.verdict(low, high, expr.bound.number);
    let sign = expr.bound.unit.sign();
    let side = |side: Option<f64>| side.map_or("unknown".to_owned(), |side| format!("{}{sign}", short(side)));
    let confidence = expr.options.confidence();
    let says = match result.verdict {
        Verdict::Pass => "all of which keeps",
        Verdict::Fail => "none of which keeps",
        _ => "astride",
    };
    result.reason = format!(
        "{} lies between {} and {} ({} % sure on each side), {says} {}",
        expr.metric,
        side(low),
        side(high),
        short(confidence * 100.0),
        bound(expr),
    );
    // A bound that the correction saves: among so many gates one breaks by chance.
    let rests_on_chance = course.adjusted_p.is_some_and(|p| nine_digits(p) > nine_digits(1.0 - confidence));
    if result.verdict == Verdict::Fail && rests_on_chance {
        result.verdict = Verdict::Inconclusive;
        result.reason.push_str(&format!("; not certain enough as one of {} gates tested together", course.n_tested));
    }
    result.remedy = match result.verdict {
        Verdict::Fail => remedy(expr.metric).to_owned(),
        Verdict::Inconclusive => "narrow the interval with a larger --repeat on a quiet machine".to_owned(),
        _ => String::new(),
    };
}

/// Against the baseline, by paired rounds.
fn compared(result: &mut GateResult, expr: &GateExpr, paired: &Paired, course: &Course) {
    let question = &paired.question;
    let Some(decision) = course.decisions.last() else {
        let first = paired.phases.first();
        result.n = first.map_or(0, |phase| phase.n_pairs as u64);
        result.verdict = Verdict::Inconclusive;
        (result.reason, result.remedy) = undecided(expr, question, first);
        return;
    };
    // The last phase that was looked at decided, and its figures stand for the answer.
    let at = course.decisions.len().saturating_sub(1);
    if let Some(phase) = paired.phases.get(at) {
        result.n = phase.n_pairs as u64;
        if let Some((estimate, low, high)) = in_bound_unit(expr, question.direction, phase) {
            result.estimate = Some(estimate);
            result.interval = Some((low, high));
        }
    }
    let seen: Vec<String> = paired.phases.iter().take(at + 1).map(|phase| measured(expr, paired, phase)).collect();
    let seen = seen.join(", then ");
    let waits = course.is_waiting(question);
    result.verdict = match decision {
        _ if waits => Verdict::Inconclusive,
        Decision::Pass => Verdict::Pass,
        Decision::Fail => Verdict::Fail,
        Decision::Inconclusive => Verdict::Inconclusive,
    };
    let says = match (result.verdict, at) {
        _ if waits => format!("which breaks {}, but was not measured again to confirm it", bound(expr)),
        (Verdict::Pass, 0) => format!("which keeps {}", bound(expr)),
        (Verdict::Pass, _) => format!("so fresh rounds did not confirm that it breaks {}", bound(expr)),
        (Verdict::Fail, 0) => format!("which breaks {}", bound(expr)),
        (Verdict::Fail, _) => format!("which breaks {} each time", bound(expr)),
        _ if course.adjusted_p.is_some_and(|p| p > (1.0 - question.rule.confidence) / 2.0) && course.n_tested > 1 => {
            format!("too wide to answer {} as one of {} gates tested together", bound(expr), course.n_tested)
        }
        _ => format!("too wide to answer {}", bound(expr)),
    };
    result.reason = format!("{} changed by {seen}, {says}", expr.metric);
    result.remedy = match result.verdict {
        _ if waits => "run `hookbench bench` again with time to confirm, or set confirm=0".to_owned(),
        Verdict::Fail => remedy(expr.metric).to_owned(),
        Verdict::Inconclusive => {
            format!("measure more rounds: raise max_n above {} or --max-time", question.max_pairs)
        }
        _ => String::new(),
    };
    if question.only_warns && matches!(result.verdict, Verdict::Fail | Verdict::Inconclusive) {
        only_warn(result, "wall time needs 400 pairs (max_n=400) before so small a change may fail a run");
    }
}

/// Reason and remedy for a first measurement that decides nothing.
fn undecided(expr: &GateExpr, question: &Question, first: Option<&Phase>) -> (String, String) {
    let (n_rounds, n_pairs) = first.map_or((0, 0), |phase| (phase.n_rounds, phase.n_pairs));
    match first {
        Some(phase) if n_pairs >= question.min_pairs => (
            format!("n too small: {} samples of {} needed for {}", phase.n_samples, phase.need_samples, expr.metric),
            "measure more rounds with --pairs".to_owned(),
        ),
        Some(_) if n_rounds >= question.min_pairs => (
            format!(
                "only {n_pairs} of {n_rounds} rounds gave a pair: in the others a selected call did not start, or one \
                 hook made it alone"
            ),
            "look at the findings of the selected steps, or narrow the selector".to_owned(),
        ),
        _ => (
            format!("n too small: {n_pairs} pairs of {} needed", question.min_pairs),
            "measure more rounds with --pairs or a larger --max-time".to_owned(),
        ),
    }
}

/// Estimate, low and high of a phase in the bound's unit.
fn in_bound_unit(expr: &GateExpr, direction: f64, phase: &Phase) -> Option<(f64, f64, f64)> {
    let interval = phase.interval?;
    let figure = |log_ratio: f64| expr.relative((direction * log_ratio).exp());
    let (one, other) = (figure(interval.low), figure(interval.high));
    Some((figure(interval.estimate), one.min(other), one.max(other)))
}

/// A phase's figure in words.
fn measured(expr: &GateExpr, paired: &Paired, phase: &Phase) -> String {
    match in_bound_unit(expr, paired.question.direction, phase) {
        Some((estimate, low, high)) => format!(
            "{} [{} to {}] over {} pairs",
            shown(expr, estimate),
            shown(expr, low),
            shown(expr, high),
            phase.n_pairs
        ),
        None => format!("an unknown share over {} pairs", phase.n_pairs),
    }
}

/// What is known about the clock, and not about the figure.
fn qualify(result: &mut GateResult, expr: &GateExpr, clock: Clock, steps: &[&StepSummary], summary: &Summary) {
    if clock == Clock::Cpu {
        distrust_partial(result, expr, steps, summary);
    }
    let decided = matches!(result.verdict, Verdict::Fail | Verdict::Inconclusive);
    if !decided {
        return;
    }
    match expr.base {
        None if clock == Clock::Wall
            && matches!(
                summary.contention_on(&summary.machines_of(steps.iter().copied())),
                Contention::Contended { .. }
            ) =>
        {
            only_warn(result, "the machine is contended");
        }
        // The same hook against itself breaks such a bound in 15 to 43 of 100 runs, on one and the same machine: a
        // reason to look, none to stop anybody.
        Some(Base::File(_)) => only_warn(result, "stored times differ by themselves; pair both hooks with `bench`"),
        _ => {}
    }
}

/// A CPU figure that lacks a descendant's share can only be too low, so it must not decide in that direction.
fn distrust_partial(result: &mut GateResult, expr: &GateExpr, steps: &[&StepSummary], summary: &Summary) {
    let n_partial = |steps: &mut dyn Iterator<Item = &StepSummary>| {
        steps.flat_map(StepSummary::calls).filter(|call| call.started && call.cpu_partial).count()
    };
    let n_ours = n_partial(&mut steps.iter().copied());
    let n_theirs = match expr.base {
        Some(Base::Baseline) => n_partial(&mut steps.iter().filter_map(|step| summary.baseline_of(step))),
        _ => 0,
    };
    let upwards = matches!(expr.op, Op::Le | Op::Lt);
    let (flatters_us, flatters_them) = match result.verdict {
        Verdict::Pass => (upwards, !upwards),
        Verdict::Fail => (!upwards, upwards),
        Verdict::Inconclusive | Verdict::Skipped => (false, false),
    };
    let n = if flatters_us { n_ours } else { 0 } + if flatters_them { n_theirs } else { 0 };
    if n > 0 {
        result.verdict = Verdict::Inconclusive;
        result.reason = format!("the CPU of {n} calls is partial, because a descendant outlived the hook");
        result.remedy = "end all children before the hook ends, or gate latency.wall".to_owned();
    }
}

fn only_warn(result: &mut GateResult, why: &str) {
    result.severity = Severity::Warn;
    if result.on_inconclusive == OnInconclusive::Fail {
        result.on_inconclusive = OnInconclusive::Warn;
    }
    result.reason.push_str(&format!("; only a warning, because {why}"));
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
