//! One step in two runs: what it delivered, decided and got wrong.

use super::{Both, Side};
use crate::run_event::FindingKind;
use crate::summary::{Budget, BudgetMeasure, StepSummary};

/// A delivered text that is another one now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextChange {
    /// First line that differs between the first texts, from 1; absent when only later calls differ.
    pub first_line: Option<u64>,
}

/// A step that differs in anything but time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepChange {
    /// Name of the scenario.
    pub scenario: String,
    /// Name of the step.
    pub step: String,
    /// Whether every call passed.
    pub passed: Both<bool>,
    /// Kinds of findings.
    pub findings: Both<Vec<FindingKind>>,
    /// The delivered text, when it changed.
    pub text: Option<TextChange>,
    /// Largest delivered text in bytes.
    pub injected_bytes: Both<u64>,
    /// Largest delivered text in UTF-16 code units.
    pub injected_utf16: Both<u64>,
    /// The host's decision; several, with commas between them, when calls differ.
    pub decision: Both<String>,
}

impl StepChange {
    /// What changed; `None` when nothing did.
    pub(super) fn of(pair: Both<&StepSummary>, sides: Both<&Side>) -> Option<StepChange> {
        let seen = Both {
            before: sides.before.delivered(pair.before).cloned().unwrap_or_default(),
            after: sides.after.delivered(pair.after).cloned().unwrap_or_default(),
        };
        let max = |measure| pair.map(|step| Budget::of([step], measure).max().unwrap_or(0));
        let change = StepChange {
            scenario: pair.after.scenario.clone(),
            step: pair.after.step.clone(),
            passed: pair.map(StepSummary::passed),
            findings: pair.map(|step| step.findings().keys().copied().collect()),
            text: (seen.before.texts != seen.after.texts)
                .then(|| TextChange { first_line: first_change(&seen.before.first, &seen.after.first) }),
            injected_bytes: max(BudgetMeasure::Bytes),
            injected_utf16: max(BudgetMeasure::Utf16),
            decision: seen.map(|seen| seen.decisions.into_iter().collect::<Vec<_>>().join(", ")),
        };
        let changed = change.passed.differ()
            || change.findings.differ()
            || change.text.is_some()
            || change.injected_bytes.differ()
            || change.injected_utf16.differ()
            || change.decision.differ();
        changed.then_some(change)
    }
}

/// Number of the first line that differs, from 1.
fn first_change(before: &str, after: &str) -> Option<u64> {
    let same = before.split('\n').zip(after.split('\n')).take_while(|(left, right)| left == right).count();
    (before != after).then_some(same as u64 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_changed_line_counts_from_one_and_sees_added_lines() {
        assert_eq!(first_change("a\nb\nc", "a\nB\nc"), Some(2));
        assert_eq!(first_change("", "x"), Some(1));
        assert_eq!(first_change("a", "a\n"), Some(2));
        assert_eq!(first_change("a\nb", "a"), Some(2));
        assert_eq!(first_change("a", "a"), None);
    }
}
