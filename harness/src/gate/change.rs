//! Change of a figure against another hook of the same run, or against a saved run, step for step.
//!
//! Only steps that both sides have are compared. The figures are those of [`own`], so bytes, counts, retrieval and
//! memory compare exactly. Instructions compare as times do: the geometric mean over steps, so that a large step does
//! not hide a small one. Paired times are not here.

use hookbench_statistics::needed;

use super::bound::Unit;
use super::evidence::{Evidence, NO_INSTRUCTIONS, own};
use super::expr::{GateExpr, Metric, Stat};
use super::question::log_bound;
use super::sentence::{place, short};
use crate::latency::Quantile;
use crate::quality::MIN_GRADE;
use crate::summary::{Floors, StepSummary};

/// Most steps that a reason names.
const SHOWN_FLIPS: usize = 5;

/// The other side of a comparison.
pub(super) struct Other<'a> {
    /// How a sentence names it.
    pub(super) name: &'a str,
    /// Its no-op children.
    pub(super) floors: &'a Floors,
}

/// The change from the other side to this one. `steps` pairs each selected step with its counterpart, if it has one.
pub(super) fn change(
    expr: &GateExpr,
    steps: &[(&StepSummary, Option<&StepSummary>)],
    floors: &Floors,
    other: &Other<'_>,
) -> Evidence {
    let matched: Vec<(&StepSummary, &StepSummary)> =
        steps.iter().filter_map(|(step, counterpart)| Some((*step, (*counterpart)?))).collect();
    if matched.is_empty() {
        return Evidence::Absent {
            reason: format!("no selected step was played with {}", other.name),
            remedy: "compare runs of the same scenarios".to_owned(),
        };
    }
    let n_unmatched = steps.len() - matched.len();
    let mut evidence = match expr.metric {
        Metric::Instructions => instructions(expr, &matched),
        _ => figures(expr, &matched, floors, other),
    };
    if let Evidence::Exact { source: Some(source), .. } = &mut evidence
        && n_unmatched > 0
    {
        source.push_str(&format!("; without {n_unmatched} steps that only one side has"));
    }
    evidence
}

fn figures(expr: &GateExpr, matched: &[(&StepSummary, &StepSummary)], floors: &Floors, other: &Other<'_>) -> Evidence {
    let (ours, theirs): (Vec<_>, Vec<_>) = matched.iter().copied().unzip();
    let (new, old) = (own(expr, &ours, floors), own(expr, &theirs, other.floors));
    match (new, old) {
        (Evidence::Absent { reason, remedy }, _) => Evidence::Absent { reason, remedy },
        (_, Evidence::Absent { reason, remedy }) => {
            Evidence::Absent { reason: format!("{}: {reason}", other.name), remedy }
        }
        (new, old) => {
            let (Some((new, n)), Some((old, n_old))) = (figure(&new), figure(&old)) else {
                let n = [&new, &old].into_iter().map(n_of).min().unwrap_or(0);
                return Evidence::TooFew { n, need: need_of(expr) };
            };
            let moved = format!("from {} to {}{}", plain(expr, old), plain(expr, new), flips(expr, matched));
            exact(expr, ratio(new, old), n.min(n_old), moved)
        }
    }
}

/// Which steps retrieve worse than before: a mean hides that some gained what others lost.
fn flips(expr: &GateExpr, matched: &[(&StepSummary, &StepSummary)]) -> String {
    let Metric::Retrieval(measure) = expr.metric else { return String::new() };
    let lost = matched.iter().filter(|(new, old)| {
        let scores = new.score(measure, MIN_GRADE).zip(old.score(measure, MIN_GRADE));
        scores.is_some_and(|(new, old)| new < old)
    });
    let lost: Vec<String> = lost.map(|(new, _)| place(new)).collect();
    match lost.len() {
        0 => String::new(),
        n if n <= SHOWN_FLIPS => format!("; worse at {}", lost.join(", ")),
        n => {
            let shown: Vec<String> = lost.into_iter().take(SHOWN_FLIPS).collect();
            format!("; worse at {} and {} more", shown.join(", "), n - SHOWN_FLIPS)
        }
    }
}

fn instructions(expr: &GateExpr, matched: &[(&StepSummary, &StepSummary)]) -> Evidence {
    let counted = matched.iter().filter_map(|(new, old)| Some((*new, new.instructions()?, old.instructions()?)));
    let ratios: Vec<(&StepSummary, u64, u64, f64)> =
        counted.map(|(step, new, old)| (step, new, old, ratio(new as f64, old as f64).ln())).collect();
    let upwards = log_bound(expr) >= 0.0;
    let worst = ratios.iter().max_by(|left, right| {
        let order = left.3.total_cmp(&right.3);
        if upwards { order } else { order.reverse() }
    });
    let Some((step, new, old, _)) = worst else {
        return Evidence::absent("instructions were not counted for both hooks", NO_INSTRUCTIONS);
    };
    let n = ratios.len();
    let mean = ratios.iter().map(|(.., log)| log).sum::<f64>() / n as f64;
    exact(expr, mean.exp(), n as u64, format!("most at {}, from {old} to {new}", place(step)))
}

/// New over old; equal figures have the ratio 1, also two zeros.
fn ratio(new: f64, old: f64) -> f64 {
    if new == old { 1.0 } else { new / old }
}

fn exact(expr: &GateExpr, ratio: f64, n: u64, source: String) -> Evidence {
    let estimate = if expr.bound.unit == Unit::Times { ratio } else { ratio - 1.0 };
    Evidence::Exact { estimate, shown: None, n, source: Some(source) }
}

fn figure(evidence: &Evidence) -> Option<(f64, u64)> {
    match evidence {
        Evidence::Exact { estimate, n, .. } => Some((*estimate, *n)),
        Evidence::Bounded { estimate, n, .. } => estimate.map(|estimate| (estimate, *n)),
        Evidence::Absent { .. } | Evidence::TooFew { .. } | Evidence::Paired(_) => None,
    }
}

fn n_of(evidence: &Evidence) -> u64 {
    match evidence {
        Evidence::Exact { n, .. } | Evidence::Bounded { n, .. } => *n,
        Evidence::Absent { .. } | Evidence::TooFew { .. } | Evidence::Paired(_) => 0,
    }
}

/// Samples that a percentile needs before it has a figure.
fn need_of(expr: &GateExpr) -> u64 {
    match expr.metric {
        Metric::Latency(_, Stat::Percentile(quantile)) => needed(quantile, expr.options.confidence()),
        _ => needed(Quantile::P95, expr.options.confidence()),
    }
}

/// A figure in the metric's natural unit.
fn plain(expr: &GateExpr, figure: f64) -> String {
    match expr.metric {
        Metric::Latency(..) => format!("{}ms", short(figure / Unit::Ms.size())),
        Metric::MemoryPeak => format!("{}MiB", short(figure / Unit::MiB.size())),
        _ => short(figure),
    }
}
