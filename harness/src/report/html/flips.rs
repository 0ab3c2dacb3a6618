//! Steps that changed their mind: between the two hooks, or between rounds of one.

use std::cmp::Ordering;

use serde::Serialize;

use super::retrieval::{first_relevant, shown_rank};
use crate::report::figure;
use crate::report::trec::usual_answer;
use crate::run_event::FindingKind;
use crate::summary::{StepSummary, Summary};

/// Most flips of each sort that are listed.
const MAX_FLIPS: usize = 100;

/// Both sorts.
#[derive(Debug, Serialize)]
pub(super) struct Flips {
    /// Baseline against candidate; absent when one hook ran alone.
    between_hooks: Option<List<HookFlip>>,
    between_rounds: List<RoundFlip>,
    n_rounds: u32,
}

#[derive(Debug, Serialize)]
struct List<T> {
    rows: Vec<T>,
    n_left_out: usize,
}

impl<T> List<T> {
    fn bounded(mut rows: Vec<T>) -> List<T> {
        let n_left_out = rows.len().saturating_sub(MAX_FLIPS);
        rows.truncate(MAX_FLIPS);
        List { rows, n_left_out }
    }
}

#[derive(Debug, Serialize)]
struct HookFlip {
    scenario: String,
    step: String,
    what: &'static str,
    baseline: String,
    candidate: String,
    /// `better`, `worse` or `other`.
    direction: &'static str,
}

#[derive(Debug, Serialize)]
struct RoundFlip {
    scenario: String,
    step: String,
    what: String,
}

/// All flips, worse ones first.
pub(super) fn flips(summary: &Summary) -> Flips {
    let between_hooks = (!summary.baseline_steps().is_empty()).then(|| {
        let mut rows: Vec<HookFlip> = summary
            .steps()
            .iter()
            .filter_map(|step| Some((summary.baseline_of(step)?, step)))
            .flat_map(|(baseline, candidate)| hook_flips(baseline, candidate))
            .collect();
        // Stable: within one direction the order of the plan stays.
        rows.sort_by_key(|flip| match flip.direction {
            "worse" => 0,
            "other" => 1,
            _ => 2,
        });
        List::bounded(rows)
    });
    let rounds = summary.steps().iter().filter(|step| step.flaky()).map(round_flip).collect();
    Flips {
        between_hooks,
        between_rounds: List::bounded(rounds),
        n_rounds: summary.scenarios().iter().map(|scenario| scenario.n_rounds).max().unwrap_or(0),
    }
}

fn hook_flips(baseline: &StepSummary, candidate: &StepSummary) -> Vec<HookFlip> {
    let flip = |what, of_baseline: String, of_candidate: String, order: Ordering| HookFlip {
        scenario: candidate.scenario.clone(),
        step: candidate.step.clone(),
        what,
        baseline: of_baseline,
        candidate: of_candidate,
        direction: match order {
            Ordering::Greater => "better",
            Ordering::Less => "worse",
            Ordering::Equal => "other",
        },
    };
    let mut flips = Vec::new();
    let findings = |step: &StepSummary| {
        if step.passed() {
            return "passes".to_owned();
        }
        figure::findings(step.findings().iter().map(|(kind, tally)| (*kind, tally.n_calls)))
    };
    if baseline.passed() != candidate.passed() {
        let order = candidate.passed().cmp(&baseline.passed());
        flips.push(flip("findings", findings(baseline), findings(candidate), order));
    }
    if let (Some(old), Some(new)) = (usual_answer(baseline), usual_answer(candidate)) {
        let (old, new) = (first_relevant(old), first_relevant(new));
        if old != new {
            // A smaller rank is better, none is worst.
            let order = old.unwrap_or(usize::MAX).cmp(&new.unwrap_or(usize::MAX));
            flips.push(flip("first relevant rank", shown_rank(old), shown_rank(new), order));
        }
    }
    let largest = |step: &StepSummary| step.calls().iter().map(|call| call.injected_utf16).max().unwrap_or(0);
    let (old, new) = (largest(baseline), largest(candidate));
    if (old == 0) != (new == 0) {
        let units = |n: u64| if n == 0 { "no text".to_owned() } else { format!("{n} units") };
        flips.push(flip("delivered text", units(old), units(new), Ordering::Equal));
    }
    flips
}

fn round_flip(step: &StepSummary) -> RoundFlip {
    let rounds = || step.calls().chunk_by(|left, right| left.round == right.round);
    let n_passed = rounds().filter(|calls| calls.iter().all(|call| call.passed)).count();
    let mut what = format!("passed in {n_passed} of {}", figure::counted(rounds().count(), "round"));
    if step.findings().contains_key(&FindingKind::NotDeterministic) {
        what.push_str("; the text changed between rounds");
    }
    RoundFlip { scenario: step.scenario.clone(), step: step.step.clone(), what }
}
