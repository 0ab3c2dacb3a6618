//! A baseline that does not work is no baseline.
//!
//! A hook that is missing, that crashes or that runs into its timeout is quick or slow for reasons that have nothing to
//! do with the candidate. One failing call in many is told in the report; a step of which every call failed stops the
//! comparison.

use crate::problem::Problem;
use crate::run_event::FindingKind;
use crate::summary::{StepSummary, Summary};

/// What a call did that makes its times worthless. One call has at most one of them: each is an ending.
const FAILURES: [FindingKind; 5] = [
    FindingKind::NotStarted,
    FindingKind::Timeout,
    FindingKind::Crash,
    FindingKind::LostLauncher,
    FindingKind::ExitCode,
];

/// Calls of a step that failed.
pub fn n_failed(step: &StepSummary) -> usize {
    FAILURES.iter().filter_map(|kind| step.findings().get(kind)).map(|tally| tally.n_calls as usize).sum()
}

/// Refuses a comparison in which some step of the baseline failed every time.
///
/// # Errors
/// The first such step, with what happened there.
pub fn refuse_broken(summary: &Summary) -> Result<(), Problem> {
    let Some(step) = summary.baseline_steps().iter().find(|step| n_failed(step) >= step.calls().len()) else {
        return Ok(());
    };
    let how: Vec<String> = FAILURES
        .iter()
        .filter_map(|kind| step.findings().get(kind).map(|tally| format!("{}: {}", kind.name(), tally.message)))
        .collect();
    let message = format!(
        "the baseline failed every call of {}/{} ({} of {}), so a comparison with it proves nothing; {}",
        step.scenario,
        step.step,
        n_failed(step),
        step.calls().len(),
        how.join("; "),
    );
    Err(Problem::file("--baseline", message, "correct the command, or leave the scenario out"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_event::{Arm, RunEvent};
    use crate::summary::fixture::{finding, header, step};

    /// A baseline whose calls of one step had these findings.
    fn refused(findings: &[Option<FindingKind>]) -> Option<String> {
        let mut events = vec![RunEvent::RunStarted(header(&["s"], 3))];
        for (round, kind) in (0..).zip(findings) {
            let mut result = step("s", "ask", 0, round);
            result.arm = Arm::Baseline;
            result.findings.extend(kind.map(|kind| finding(kind, "it went wrong")));
            events.push(RunEvent::StepFinished(result));
        }
        refuse_broken(&Summary::of(&events)).err().map(|problem| problem.to_string())
    }

    #[test]
    fn a_step_that_failed_every_time_is_refused_whatever_the_mixture() {
        let (missing, late) = (Some(FindingKind::NotStarted), Some(FindingKind::Timeout));
        let said = refused(&[missing, late, missing]).unwrap_or_default();
        for part in ["--baseline", "s/ask (3 of 3)", "timeout: it went wrong", "not-started: it went wrong"] {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert_eq!(refused(&[missing, None, missing]), None);
    }

    #[test]
    fn what_a_working_baseline_says_is_its_own_affair() {
        let wrong_text = Some(FindingKind::GoldenChanged);
        assert_eq!(refused(&[wrong_text, wrong_text]), None);
        assert_eq!(refused(&[]), None);
    }

    #[test]
    fn a_candidate_that_fails_is_not_the_baseline() {
        let mut result = step("s", "ask", 0, 0);
        result.findings.push(finding(FindingKind::Crash, "it went wrong"));
        let summary = Summary::of(&[RunEvent::RunStarted(header(&["s"], 1)), RunEvent::StepFinished(result)]);
        assert!(refuse_broken(&summary).is_ok());
    }
}
