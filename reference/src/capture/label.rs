//! The word in front of a sentence that names its kind: `Decision: …`, `**TODO:** …`, `待办：…`.
//!
//! Guarantee: only an exact word of the table followed by a colon counts, so that `error: …` and `src/a.rs: …` are
//! never taken for labels. Deliberately not here: headings on lines of their own (see `cue`).

use super::cue::Cue;

/// Labels in lower case.
const LABELS: &[(Cue, &[&str])] = &[
    (
        Cue::Decision,
        &[
            "decision",
            "decisions",
            "decided",
            "design decision",
            "key decision",
            "choice",
            "design choice",
            "chosen",
            "trade-off",
            "tradeoff",
            "决定",
            "決定",
            "設計判断",
            "entscheidung",
            "décision",
            "decisión",
        ],
    ),
    (
        Cue::Failure,
        &[
            "failed",
            "failure",
            "failures",
            "failed attempt",
            "failed approach",
            "what failed",
            "did not work",
            "didn't work",
            "what didn't work",
            "dead end",
            "tried and rejected",
            "rejected",
            "失败",
            "失敗",
            "fehlgeschlagen",
            "fehlversuch",
        ],
    ),
    (
        Cue::Unresolved,
        &[
            "todo",
            "to do",
            "open",
            "open point",
            "open question",
            "open issue",
            "unresolved",
            "remaining",
            "left",
            "left to do",
            "still open",
            "next",
            "next step",
            "next steps",
            "follow-up",
            "follow up",
            "followup",
            "not yet",
            "not done",
            "still needs",
            "still need",
            "still to do",
            "what's left",
            "what is left",
            "not tested",
            "not done yet",
            "not yet done",
            "known issue",
            "known limitation",
            "blocked",
            "待办",
            "未解决",
            "下一步",
            "未解決",
            "残作業",
            "残課題",
            "offen",
            "noch offen",
            "à faire",
            "pendiente",
        ],
    ),
    (
        Cue::Validation,
        &[
            "validation",
            "validated",
            "verification",
            "verified",
            "tests",
            "testing",
            "tested",
            "验证",
            "測試",
            "検証",
            "テスト",
            "geprüft",
            "vérifié",
        ],
    ),
];

/// Bytes in which a label and its marks must end.
const LABEL_BYTES: usize = 40;

/// The kind that a sentence's label gives and the words after it; `None` without a label or without words.
pub fn split(sentence: &str) -> Option<(Cue, &str)> {
    let head = sentence.get(..sentence.floor_char_boundary(LABEL_BYTES))?;
    let at = head.find([':', '：'])?;
    let name = head.get(..at)?.trim_matches([' ', '*', '_', '`', '[']);
    let cue = LABELS.iter().find_map(|(cue, labels)| {
        labels.iter().any(|label| name.eq_ignore_ascii_case(label) || name == *label).then_some(*cue)
    })?;
    let rest = sentence.get(at..)?.trim_start_matches([':', '：', '*', '_', ']', ' ']);
    (!rest.is_empty()).then_some((cue, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_split_from_their_words() {
        assert_eq!(split("Decision: use X: it is small"), Some((Cue::Decision, "use X: it is small")));
        assert_eq!(split("**TODO**: write docs"), Some((Cue::Unresolved, "write docs")));
        assert_eq!(split("**Not yet:** rotate"), Some((Cue::Unresolved, "rotate")));
        assert_eq!(split("待办：写文档"), Some((Cue::Unresolved, "写文档")));
        assert_eq!(split("Verified: both ends"), Some((Cue::Validation, "both ends")));
        for other in ["error: no such file", "src/a.rs:12: open", "TODO:", "Open the file: now", "", "x"] {
            assert_eq!(split(other), None, "{other}");
        }
    }
}
