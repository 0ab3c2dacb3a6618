//! How much of the host's cap each event's text takes, with the bounds of the gates marked.

use hook_contract::cap::CONTEXT_UNITS;
use serde::Serialize;

use super::number;
use super::svg::Svg;
use crate::gate::{GateExpr, Metric, Op, Spread};
use crate::report::figure;
use crate::summary::{Budget, BudgetMeasure, StepSummary, Summary};

/// Most events that are drawn.
const MAX_EVENTS: usize = 40;

/// Injected text by event.
#[derive(Debug, Serialize)]
pub(super) struct Budgets {
    cap: String,
    events: Vec<EventBudget>,
    /// Events that never injected anything.
    silent: Vec<String>,
    n_left_out: usize,
    peak_memory: Option<String>,
}

#[derive(Debug, Serialize)]
struct EventBudget {
    name: String,
    bar: String,
    max: String,
    share: String,
    bytes: String,
    tokens: String,
    round_sum: String,
    n_truncated: String,
    bounds: Vec<String>,
    over: bool,
}

/// The budgets of a run; `None` when nothing was called.
pub(super) fn budgets(summary: &Summary) -> Option<Budgets> {
    let bounds = utf16_bounds(summary);
    let (mut events, mut silent) = (Vec::new(), Vec::new());
    for event in summary.events() {
        let steps: Vec<&StepSummary> = summary.steps_of_event(event).collect();
        let units = Budget::of(steps.iter().copied(), BudgetMeasure::Utf16);
        match units.max() {
            Some(0) | None => silent.push(event.to_owned()),
            Some(max) => events.push((max, event, steps, units)),
        }
    }
    if events.is_empty() && silent.is_empty() {
        return None;
    }
    events.sort_by(|left, right| right.0.cmp(&left.0).then(left.1.cmp(right.1)));
    let n_left_out = events.len().saturating_sub(MAX_EVENTS);
    events.truncate(MAX_EVENTS);
    let peak = summary.steps().iter().flat_map(StepSummary::calls).filter_map(|call| call.peak_memory_bytes).max();
    let events = events
        .into_iter()
        .enumerate()
        .map(|(nth, (max, event, steps, units))| event_budget(nth, max, event, &steps, &units, &bounds))
        .collect();
    Some(Budgets {
        cap: number::count(CONTEXT_UNITS as u64),
        events,
        silent,
        n_left_out,
        peak_memory: peak.map(figure::bytes),
    })
}

/// A bound on the largest text of a call: the gate's name, the bound, and the steps it is about.
struct Utf16Bound<'a> {
    gate: &'a str,
    units: f64,
    steps: Vec<&'a StepSummary>,
}

fn utf16_bounds(summary: &Summary) -> Vec<Utf16Bound<'_>> {
    summary
        .gates()
        .iter()
        .filter_map(|gate| {
            let expr: GateExpr = gate.expression.parse().ok()?;
            let upper = matches!(expr.op, Op::Le | Op::Lt) && !expr.bound.change && expr.base.is_none();
            let about_text = expr.metric == Metric::Budget(BudgetMeasure::Utf16, Spread::Max);
            (upper && about_text).then(|| Utf16Bound {
                gate: &gate.name,
                units: expr.bound.number,
                steps: expr.selector.steps(summary),
            })
        })
        .collect()
}

fn event_budget(
    nth: usize,
    max: u64,
    event: &str,
    steps: &[&StepSummary],
    units: &Budget,
    bounds: &[Utf16Bound<'_>],
) -> EventBudget {
    let about = |bound: &&Utf16Bound<'_>| steps.iter().any(|step| bound.steps.iter().any(|other| step == other));
    let bounds: Vec<&Utf16Bound<'_>> = bounds.iter().filter(about).collect();
    let cap = CONTEXT_UNITS as f64;
    let share = max as f64 / cap;
    let place = |units: f64| (units / cap * 100.0).clamp(0.0, 100.0);
    let mut svg = Svg::new(22.0);
    svg.rect("track", 0.0, 100.0, 7.0, 8.0);
    svg.rect("hook", 0.0, place(max as f64).max(0.3), 7.0, 8.0);
    for bound in &bounds {
        svg.upright("bound", place(bound.units), 2.0, 20.0);
    }
    svg.upright("cap", 100.0, 2.0, 20.0);
    let limits: Vec<String> = bounds
        .iter()
        .map(|bound| format!("gate {} at {}", bound.gate, number::count(bound.units.max(0.0) as u64)))
        .collect();
    let said = if limits.is_empty() { String::new() } else { format!("; {}", limits.join(", ")) };
    let description = format!("largest text {} of {} units{said}.", number::count(max), number::count(cap as u64));
    let largest = |measure| number::count(Budget::of(steps.iter().copied(), measure).max().unwrap_or(0));
    let n_truncated = steps.iter().flat_map(|step| step.calls()).filter(|call| call.truncated).count();
    EventBudget {
        name: event.to_owned(),
        bar: svg.picture(&format!("budget-{nth}"), &format!("{event}: use of the cap"), &description),
        max: number::count(max),
        share: format!("{:.0}\u{a0}%", share * 100.0),
        bytes: largest(BudgetMeasure::Bytes),
        tokens: largest(BudgetMeasure::TokensEst),
        round_sum: number::count(units.round_sum),
        n_truncated: number::count(n_truncated as u64),
        over: n_truncated > 0 || bounds.iter().any(|bound| max as f64 > bound.units),
        bounds: limits,
    }
}
