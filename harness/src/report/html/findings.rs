//! What was wrong, step by step, with the differences as the judge wrote them.

use serde::Serialize;

use crate::report::figure;
use crate::run_event::FindingKind;
use crate::summary::{FindingTally, StepSummary, Summary};

/// Most steps that are spelled out.
const MAX_STEPS: usize = 120;
/// Steps that stand open.
const N_OPEN: usize = 3;
/// Most lines of one message.
const MAX_LINES: usize = 80;
/// Longest line, in characters.
const MAX_LINE: usize = 400;

/// All steps with findings that fit.
#[derive(Debug, Serialize)]
pub(super) struct Findings {
    steps: Vec<Step>,
    n_left_out: usize,
}

#[derive(Debug, Serialize)]
struct Step {
    scenario: String,
    step: String,
    event: String,
    open: bool,
    kinds: Vec<Kind>,
}

#[derive(Debug, Serialize)]
struct Kind {
    name: &'static str,
    calls: String,
    lines: Vec<Line>,
    n_lines_left_out: usize,
}

/// A line of a message; the class tells added from removed beside the sign that the line begins with.
#[derive(Debug, Serialize)]
struct Line {
    class: &'static str,
    text: String,
}

/// The findings of a run in plan order.
pub(super) fn findings(summary: &Summary) -> Findings {
    let broken: Vec<&StepSummary> = summary.steps().iter().filter(|step| !step.passed()).collect();
    let steps = broken.iter().take(MAX_STEPS).enumerate().map(|(nth, step)| Step {
        scenario: step.scenario.clone(),
        step: step.step.clone(),
        event: step.event.clone(),
        open: nth < N_OPEN,
        kinds: step.findings().iter().map(|(found, tally)| kind(*found, tally)).collect(),
    });
    Findings { steps: steps.collect(), n_left_out: broken.len().saturating_sub(MAX_STEPS) }
}

fn kind(kind: FindingKind, tally: &FindingTally) -> Kind {
    Kind {
        name: kind.name(),
        calls: figure::counted(tally.n_calls as usize, "call"),
        lines: tally.message.lines().take(MAX_LINES).map(line).collect(),
        n_lines_left_out: tally.message.lines().count().saturating_sub(MAX_LINES),
    }
}

fn line(text: &str) -> Line {
    let class = match text.trim_start().chars().next() {
        Some('+') => "added",
        Some('-') => "removed",
        _ => "",
    };
    let mut shown: String = text
        .chars()
        .take(MAX_LINE)
        .map(|sign| if sign.is_control() && sign != '\t' { '\u{fffd}' } else { sign })
        .collect();
    if text.chars().nth(MAX_LINE).is_some() {
        shown.push('…');
    }
    Line { class, text: shown }
}
