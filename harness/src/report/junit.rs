//! JUnit XML for CI systems: a suite a scenario, a case a step, and one suite of gates.
//!
//! A step with findings is a failure whose type is the first kind. A gate that is inconclusive or skipped is a
//! skipped case, and its message begins with that word, since JUnit knows no third answer.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::figure;
use crate::run_event::{GateResult, OnInconclusive, Severity, Verdict};
use crate::summary::{ScenarioState, ScenarioSummary, StepSummary, Summary};

/// The XML of the whole run.
pub fn render(summary: &Summary) -> String {
    let mut report = Report::new("hookbench");
    for scenario in summary.scenarios() {
        report.add_test_suite(suite(&scenario));
    }
    if !summary.gates().is_empty() {
        let mut gates = TestSuite::new("gates");
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
    report.to_string().unwrap_or_default()
}

fn suite(scenario: &ScenarioSummary<'_>) -> TestSuite {
    let mut suite = TestSuite::new(scenario.name);
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
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            let all: Vec<String> = step
                .findings()
                .iter()
                .map(|(kind, tally)| {
                    let calls = figure::counted(tally.n_calls as usize, "call");
                    format!("{} ({calls}, first in round {}): {}", kind.name(), tally.first_round, tally.message)
                })
                .collect();
            status.set_type(kind.name()).set_message(&*tally.message).set_description(all.join("\n"));
            status
        }
    };
    let mut case = TestCase::new(&*step.step, status);
    let wall_us = step.calls().iter().fold(0_u64, |sum, call| sum.saturating_add(call.wall_us));
    case.set_classname(format!("{}.{}", step.scenario, step.event));
    case.set_time(Duration::from_micros(wall_us));
    case
}

fn gate_case(gate: &GateResult) -> TestCase {
    let failure = |kind: &str| {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_type(kind.to_owned()).set_message(&*gate.reason);
        status.set_description(format!("{}\n{}\n{}", gate.expression, gate.reason, gate.remedy));
        status
    };
    let skipped = |word: &str| {
        let mut status = TestCaseStatus::skipped();
        status.set_type(word.to_owned()).set_message(format!("{word}: {}", gate.reason));
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
    let mut case = TestCase::new(&*gate.name, status);
    case.set_classname("gates");
    case.set_system_out(format!(
        "{} {} -> {} (n {})",
        figure::verdict(gate.verdict),
        gate.expression,
        figure::gate(gate),
        gate.n
    ));
    case
}
