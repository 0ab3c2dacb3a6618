//! A verdict as the page shows it: a word, a sign and a class, so that colour is never the only difference.

use serde::Serialize;

use crate::report::figure;
use crate::run_event::Verdict;
use crate::summary::ScenarioState;

/// A word with its sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Badge {
    class: &'static str,
    sign: &'static str,
    word: &'static str,
}

impl Badge {
    /// The badge of a verdict.
    pub(super) fn of(verdict: Verdict) -> Badge {
        let (class, sign) = match verdict {
            Verdict::Pass => ("pass", "✓"),
            Verdict::Fail => ("fail", "✕"),
            Verdict::Inconclusive => ("unclear", "?"),
            Verdict::Skipped => ("skipped", "–"),
        };
        Badge { class, sign, word: figure::verdict(verdict) }
    }

    /// The badge of a scenario's state.
    pub(super) fn of_state(state: ScenarioState) -> Badge {
        let (class, sign) = match state {
            ScenarioState::Pass => ("pass", "✓"),
            ScenarioState::Fail => ("fail", "✕"),
            ScenarioState::Incomplete => ("unclear", "…"),
        };
        Badge { class, sign, word: figure::state(state) }
    }

    /// The word.
    pub(super) fn word(self) -> &'static str {
        self.word
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_verdicts_share_a_word_a_sign_or_a_class() {
        let all = [Verdict::Pass, Verdict::Fail, Verdict::Inconclusive, Verdict::Skipped].map(Badge::of);
        for (nth, badge) in all.iter().enumerate() {
            for other in all.iter().skip(nth + 1) {
                assert!(badge.word != other.word && badge.sign != other.sign && badge.class != other.class);
            }
        }
    }
}
