//! JUnit XML for CI systems: a suite a scenario, a case a step, and one suite of gates.
//!
//! A step with findings is a failure whose type is the first kind; what was never judged (a hook that did not start, a
//! scenario that did not end, a stopped run) is an error. A gate that is inconclusive or skipped is a skipped case, and
//! its message begins with that word, since JUnit knows no third answer. The file keeps to the schema that Jenkins'
//! xUnit plugin checks (`junit-10.xsd`); texts are bounded and free of signs that XML forbids.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::figure;
use crate::run_event::{FindingKind, GateResult, OnInconclusive, Severity, Verdict};
use crate::summary::{ScenarioState, ScenarioSummary, StepSummary, Summary};

/// Longest text of one element, in characters.
const MAX_TEXT: usize = 16_000;
/// Longest message attribute, in characters: viewers show it on one line.
const MAX_MESSAGE: usize = 1_000;

/// The XML of the whole run.
pub fn render(summary: &Summary) -> String {
    let mut report = Report::new("hookbench");
    for scenario in summary.scenarios() {
        report.add_test_suite(suite(&scenario));
    }
    if !summary.gates().is_empty() {
        let mut gates = TestSuite::new("gates");
        gates.set_time(Duration::ZERO);
        gates.add_test_cases(summary.gates().iter().map(gate_case));
        report.add_test_suite(gates);
    }
    if !summary.complete() {
        let mut run = TestSuite::new("run");
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_type("interrupted").set_message("the run was stopped before its end");
        run.add_test_case(TestCase::new("complete", status));
        report.add_test_suite(run);
    }
    // Only a writer that fails can fail this, and memory does not.
    without_total_of_skipped(&report.to_string().unwrap_or_default())
}

/// The same file without the attribute `skipped` of its root, which the schema does not know there.
fn without_total_of_skipped(xml: &str) -> String {
    let Some(root) = xml.find("<testsuites") else { return xml.to_owned() };
    let (head, rest) = xml.split_at(root);
    let (tag, body) = rest.split_at(rest.find('>').unwrap_or(rest.len()));
    let Some((before, after)) = tag.split_once(" skipped=\"") else { return xml.to_owned() };
    let after = after.split_once('"').map_or("", |(_, after)| after);
    format!("{head}{before}{after}{body}")
}

/// Text that XML can hold, of bounded length.
///
/// The writer drops control characters and colour sequences; two code points are left that XML forbids as well.
fn text(text: &str, most: usize) -> String {
    let legal = |sign: char| !matches!(sign, '\u{fffe}' | '\u{ffff}');
    let mut kept: String = text.chars().filter(|sign| legal(*sign)).take(most).collect();
    let n_left = text.chars().filter(|sign| legal(*sign)).count().saturating_sub(most);
    if n_left > 0 {
        kept.push_str(&format!("... ({n_left} more characters)"));
    }
    kept
}

fn suite(scenario: &ScenarioSummary<'_>) -> TestSuite {
    let mut suite = TestSuite::new(text(scenario.name, MAX_MESSAGE));
    let wall_us = scenario.steps.iter().map(wall_us).fold(0, u64::saturating_add);
    suite.set_time(Duration::from_micros(wall_us));
    suite.add_test_cases(scenario.steps.iter().map(step_case));
    if scenario.state == ScenarioState::Incomplete {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_type("incomplete").set_message("not every round of the scenario ended");
        suite.add_test_case(TestCase::new("all rounds", status));
    }
    suite
}

fn step_case(step: &StepSummary) -> TestCase {
    let status = match step.findings().first_key_value() {
        None => TestCaseStatus::success(),
        Some((kind, tally)) => {
            let never_judged = *kind == FindingKind::NotStarted;
            let sort = if never_judged { NonSuccessKind::Error } else { NonSuccessKind::Failure };
            let mut status = TestCaseStatus::non_success(sort);
            let all: Vec<String> = step
                .findings()
                .iter()
                .map(|(kind, tally)| {
                    let calls = figure::counted(tally.n_calls as usize, "call");
                    format!("{} ({calls}, first in round {}): {}", kind.name(), tally.first_round, tally.message)
                })
                .collect();
            status.set_type(kind.name()).set_message(text(&tally.message, MAX_MESSAGE));
            status.set_description(text(&all.join("\n"), MAX_TEXT));
            status
        }
    };
    let mut case = TestCase::new(text(&step.step, MAX_MESSAGE), status);
    case.set_classname(text(&format!("{}.{}", step.scenario, step.event), MAX_MESSAGE));
    case.set_time(Duration::from_micros(wall_us(step)));
    case
}

/// Wall time of all calls.
fn wall_us(step: &StepSummary) -> u64 {
    step.calls().iter().fold(0_u64, |sum, call| sum.saturating_add(call.wall_us))
}

fn gate_case(gate: &GateResult) -> TestCase {
    let failure = |kind: &str| {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_type(kind.to_owned()).set_message(text(&gate.reason, MAX_MESSAGE));
        let all = format!("{}\n{}\n{}", gate.expression, gate.reason, gate.remedy);
        status.set_description(text(&all, MAX_TEXT));
        status
    };
    let skipped = |word: &str| {
        let mut status = TestCaseStatus::skipped();
        status.set_type(word.to_owned()).set_message(text(&format!("{word}: {}", gate.reason), MAX_MESSAGE));
        status
    };
    let status = match (gate.verdict, gate.severity, gate.on_inconclusive) {
        (Verdict::Pass, _, _) => TestCaseStatus::success(),
        (Verdict::Fail, Severity::Fail, _) => failure("gate"),
        (Verdict::Fail, Severity::Warn, _) => skipped("warning"),
        (Verdict::Inconclusive, _, OnInconclusive::Fail) => failure("gate-inconclusive"),
        (Verdict::Inconclusive, _, _) => skipped("inconclusive"),
        (Verdict::Skipped, _, _) => skipped("skipped"),
    };
    let mut case = TestCase::new(text(&gate.name, MAX_MESSAGE), status);
    case.set_classname("gates");
    let verdict = figure::verdict(gate.verdict);
    let line = format!("{verdict} {} -> {} (n {})", gate.expression, figure::gate(gate), gate.n);
    case.set_system_out(text(&line, MAX_TEXT));
    case
}

#[cfg(test)]
mod tests;
