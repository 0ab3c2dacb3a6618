//! Gates: verdict, figure against its bound, reason and remedy; what needs a person comes first.

use serde::Serialize;

use super::number;
use super::sentence::{Piece, pieces};
use super::svg::Svg;
use super::verdict::Badge;
use crate::gate::{GateExpr, Op};
use crate::report::figure;
use crate::run_event::{GateResult, Severity, Verdict};
use crate::summary::Summary;

/// Most gates that are listed.
const MAX_GATES: usize = 300;

/// The list, and how many gates did not fit.
#[derive(Debug, Serialize)]
pub(super) struct Gates {
    rows: Vec<GateRow>,
    n_left_out: usize,
}

#[derive(Debug, Serialize)]
struct GateRow {
    badge: Badge,
    warning_only: bool,
    name: String,
    expression: String,
    figure: String,
    interval: Option<String>,
    chart: Option<String>,
    n: String,
    reason: Vec<Piece>,
    remedy: Vec<Piece>,
}

/// All gates, failed and unclear ones first.
pub(super) fn gates(summary: &Summary) -> Gates {
    let mut gates: Vec<&GateResult> = summary.gates().iter().collect();
    // Stable: within one verdict the order of judging stays.
    gates.sort_by_key(|gate| match gate.verdict {
        Verdict::Fail => 0,
        Verdict::Inconclusive => 1,
        Verdict::Skipped => 2,
        Verdict::Pass => 3,
    });
    let n_left_out = gates.len().saturating_sub(MAX_GATES);
    gates.truncate(MAX_GATES);
    Gates { rows: gates.into_iter().map(row).collect(), n_left_out }
}

fn row(gate: &GateResult) -> GateRow {
    let unit = match &*gate.unit {
        "" => String::new(),
        "x" => "×".to_owned(),
        unit => format!("\u{a0}{unit}"),
    };
    let alone = GateResult { interval: None, ..gate.clone() };
    GateRow {
        badge: Badge::of(gate.verdict),
        warning_only: gate.severity == Severity::Warn && gate.verdict == Verdict::Fail,
        name: gate.name.clone(),
        expression: gate.expression.clone(),
        figure: match gate.estimate {
            Some(_) => figure::gate(&GateResult { unit: String::new(), ..alone }) + &unit,
            None => "–".to_owned(),
        },
        interval: gate.interval.map(|(low, high)| format!("{} to {}", number::digits(low), number::digits(high))),
        chart: chart(gate),
        n: number::count(gate.n),
        reason: if gate.verdict == Verdict::Pass { Vec::new() } else { pieces(&gate.reason) },
        remedy: pieces(&gate.remedy),
    }
}

/// The figure on a line with its bound; `None` when they have no common unit or the bound is a count of zero.
///
/// Says nothing that the text beside it does not say.
fn chart(gate: &GateResult) -> Option<String> {
    let expr: GateExpr = gate.expression.parse().ok()?;
    let (bound, estimate) = (expr.bound.number, gate.estimate?);
    let same_unit = expr.bound.unit.sign() == gate.unit && !expr.bound.change;
    let (low, high) = gate.interval.unwrap_or((estimate, estimate));
    let finite = [low, high, estimate].into_iter().all(|figure| figure.is_finite() && figure >= 0.0);
    if !same_unit || bound <= 0.0 || !finite {
        return None;
    }
    let at_least = matches!(expr.op, Op::Ge | Op::Gt | Op::Eq);
    let end = if at_least && bound <= 1.0 { 1.0 } else { bound.max(high) * 1.12 };
    let place = |figure: f64| (figure / end * 100.0).clamp(0.0, 100.0);
    let mut svg = Svg::new(16.0);
    svg.rect("track", 0.0, 100.0, 6.0, 4.0);
    let (from, to) = if at_least { (place(bound), 100.0) } else { (0.0, place(bound)) };
    svg.rect("allowed", from, to - from, 6.0, 4.0);
    if high > low {
        svg.level("whisker", place(low), place(high), 8.0);
    }
    svg.upright("bound", place(bound), 1.0, 15.0);
    svg.dot("dot", place(estimate).clamp(1.5, 98.5), 8.0, 4.0);
    Some(svg.decoration())
}
