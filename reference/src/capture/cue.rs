//! Tells from its words whether a sentence states a decision, a failed attempt, or something left open.
//!
//! By rule: a table of turns of phrase in several languages, matched without regard to ASCII case and only as whole
//! words where the script has blanks. Guarantee: deterministic and blind to everything but the sentence and the
//! heading above it. A wrong guess costs one line in a bounded section; the words themselves are never changed.

use super::prose::{self, ProseLine};

/// What a sentence is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cue {
    /// Something was chosen, often over something else.
    Decision,
    /// Something was tried and did not work.
    Failure,
    /// Something is left to do or unknown.
    Unresolved,
    /// A check was made.
    Validation,
}

/// Phrases and what they mean; `None` takes a failure or an open point back.
const PHRASES: [(&str, Option<Cue>); 128] = {
    use Cue::{Decision as D, Failure as F, Unresolved as U, Validation as V};
    [
        ("decided", Some(D)),
        ("decision", Some(D)),
        ("i chose", Some(D)),
        ("we chose", Some(D)),
        ("chose to", Some(D)),
        ("chosen", Some(D)),
        ("went with", Some(D)),
        ("opted", Some(D)),
        ("settled on", Some(D)),
        ("instead of", Some(D)),
        ("rather than", Some(D)),
        ("in favor of", Some(D)),
        ("in favour of", Some(D)),
        ("trade-off", Some(D)),
        ("tradeoff", Some(D)),
        ("deliberately", Some(D)),
        ("on purpose", Some(D)),
        ("by design", Some(D)),
        ("we agreed", Some(D)),
        ("replaced with", Some(D)),
        ("switched to", Some(D)),
        ("switched from", Some(D)),
        ("kept as is", Some(D)),
        ("preferred over", Some(D)),
        ("决定", Some(D)),
        ("決定", Some(D)),
        ("采用", Some(D)),
        ("採用", Some(D)),
        ("改用", Some(D)),
        ("选择了", Some(D)),
        ("選択", Some(D)),
        ("결정", Some(D)),
        ("대신", Some(D)),
        ("entschieden", Some(D)),
        ("stattdessen", Some(D)),
        ("anstelle von", Some(D)),
        ("décidé", Some(D)),
        ("au lieu de", Some(D)),
        ("plutôt que", Some(D)),
        ("decidí", Some(D)),
        ("en lugar de", Some(D)),
        ("em vez de", Some(D)),
        ("решил", Some(D)),
        ("вместо", Some(D)),
        ("didn't work", Some(F)),
        ("did not work", Some(F)),
        ("doesn't work", Some(F)),
        ("does not work", Some(F)),
        ("didn't help", Some(F)),
        ("did not help", Some(F)),
        ("failed because", Some(F)),
        ("failed with", Some(F)),
        ("failed to", Some(F)),
        ("failed on", Some(F)),
        ("approach failed", Some(F)),
        ("attempt failed", Some(F)),
        ("reverted", Some(F)),
        ("rolled back", Some(F)),
        ("dead end", Some(F)),
        ("gave up", Some(F)),
        ("backfired", Some(F)),
        ("broke", Some(F)),
        ("first tried", Some(F)),
        ("i tried", Some(F)),
        ("we tried", Some(F)),
        ("not possible", Some(F)),
        ("turned out", Some(F)),
        ("not supported", Some(F)),
        ("deadlocked", Some(F)),
        ("失败", Some(F)),
        ("失敗", Some(F)),
        ("行不通", Some(F)),
        ("无法", Some(F)),
        ("うまくいか", Some(F)),
        ("실패", Some(F)),
        ("fehlgeschlagen", Some(F)),
        ("funktioniert nicht", Some(F)),
        ("n'a pas fonctionné", Some(F)),
        ("échoué", Some(F)),
        ("no funcionó", Some(F)),
        ("не сработал", Some(F)),
        ("todo", Some(U)),
        ("remaining", Some(U)),
        ("remains", Some(U)),
        ("still need", Some(U)),
        ("still needs", Some(U)),
        ("still fails", Some(U)),
        ("still failing", Some(U)),
        ("not yet", Some(U)),
        ("left to do", Some(U)),
        ("next step", Some(U)),
        ("next steps", Some(U)),
        ("follow-up", Some(U)),
        ("unresolved", Some(U)),
        ("open question", Some(U)),
        ("open questions", Some(U)),
        ("blocked", Some(U)),
        ("couldn't", Some(U)),
        ("could not", Some(U)),
        ("needs to be", Some(U)),
        ("known issue", Some(U)),
        ("not covered", Some(U)),
        ("not implemented", Some(U)),
        ("unclear", Some(U)),
        ("待办", Some(U)),
        ("尚未", Some(U)),
        ("还需要", Some(U)),
        ("未解決", Some(U)),
        ("残って", Some(U)),
        ("아직", Some(U)),
        ("noch offen", Some(U)),
        ("reste à", Some(U)),
        ("pendiente", Some(U)),
        ("осталось", Some(U)),
        ("tests pass", Some(V)),
        ("tests passed", Some(V)),
        ("tests are green", Some(V)),
        ("build succeeds", Some(V)),
        ("builds cleanly", Some(V)),
        ("测试通过", Some(V)),
        ("テストは通", Some(V)),
        ("0 failed", None),
        ("no failures", None),
        ("nothing left", None),
        ("nothing remains", None),
        ("no remaining", None),
        ("no known issue", None),
        ("no open question", None),
    ]
};

/// Headings under which every line is of one kind.
const HEADINGS: [(&str, Cue); 19] = [
    ("decision", Cue::Decision),
    ("design choice", Cue::Decision),
    ("rationale", Cue::Decision),
    ("what didn't work", Cue::Failure),
    ("what did not work", Cue::Failure),
    ("failed", Cue::Failure),
    ("failure", Cue::Failure),
    ("dead end", Cue::Failure),
    ("next step", Cue::Unresolved),
    ("remaining", Cue::Unresolved),
    ("todo", Cue::Unresolved),
    ("to do", Cue::Unresolved),
    ("open ", Cue::Unresolved),
    ("unresolved", Cue::Unresolved),
    ("known issue", Cue::Unresolved),
    ("follow-up", Cue::Unresolved),
    ("testing", Cue::Validation),
    ("verification", Cue::Validation),
    ("validation", Cue::Validation),
];

/// For each first byte the phrases that start with it, one bit each: a matcher that costs nothing to start.
const BY_FIRST: [u128; 256] = {
    let mut masks = [0; 256];
    let mut at = 0;
    while at < PHRASES.len() {
        masks[PHRASES[at].0.as_bytes()[0] as usize] |= 1 << at;
        at += 1;
    }
    masks
};

/// What a sentence is about by its own words; the weightier kind wins: open, failed, decided, checked.
pub fn of(sentence: &str) -> Option<Cue> {
    let bytes = sentence.as_bytes();
    let mut seen: u128 = 0;
    let mut in_word = false;
    for (at, byte) in bytes.iter().enumerate() {
        let starts_word = !in_word;
        in_word = byte.is_ascii_alphanumeric();
        if in_word && !starts_word {
            continue;
        }
        let first = byte.to_ascii_lowercase();
        let second = bytes.get(at + 1).map(u8::to_ascii_lowercase);
        let mut left = BY_FIRST.get(usize::from(first)).copied().unwrap_or(0) & !seen;
        while left != 0 {
            let number = left.trailing_zeros();
            left &= left - 1;
            let Some((phrase, _)) = PHRASES.get(number as usize) else { break };
            // Most candidates differ in their second letter already.
            if phrase.as_bytes().get(1).copied() != second {
                continue;
            }
            let found = bytes.get(at..at + phrase.len());
            if found.is_some_and(|found| found.eq_ignore_ascii_case(phrase.as_bytes())) && ends_word(bytes, at, phrase)
            {
                seen |= 1 << number;
            }
        }
    }
    let mut taken_back = false;
    let mut kinds = [false; 4];
    while seen != 0 {
        let number = seen.trailing_zeros();
        seen &= seen - 1;
        match PHRASES.get(number as usize).and_then(|(_, cue)| *cue) {
            None => taken_back = true,
            Some(cue) => {
                if let Some(kind) = kinds.get_mut(cue as usize) {
                    *kind = true;
                }
            }
        }
    }
    let [decision, failure, unresolved, validation] = kinds;
    [(unresolved && !taken_back, Cue::Unresolved), (failure && !taken_back, Cue::Failure)]
        .into_iter()
        .chain([(decision, Cue::Decision), (validation, Cue::Validation)])
        .find_map(|(is_it, cue)| is_it.then_some(cue))
}

/// Whether a line only announces what follows.
fn is_filler(line: &str) -> bool {
    const OPENINGS: [&str; 9] = [
        "Let me ",
        "Now let me ",
        "Perfect!",
        "Excellent!",
        "Great!",
        "Now I have ",
        "I'll now ",
        "Sure!",
        "Certainly!",
    ];
    OPENINGS.iter().any(|opening| line.starts_with(opening))
        && (line.ends_with(':') || line.contains("et me ") || line.contains("I have all") || line.len() < 32)
}

/// A phrase that ends in a letter must not be the start of a longer word.
fn ends_word(bytes: &[u8], at: usize, phrase: &str) -> bool {
    let is_word = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    !(is_word(phrase.as_bytes().last()) && is_word(bytes.get(at + phrase.len())))
}

/// The kind that a heading gives to the lines under it.
pub fn of_heading(line: &ProseLine<'_>) -> Option<Option<Cue>> {
    let bold = line.text.starts_with("**") && line.text.trim_end_matches(':').ends_with("**");
    if !(line.heading || bold || (line.text.ends_with(':') && line.text.len() <= 40 && !line.bullet)) {
        return None;
    }
    let title = line.text.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase();
    Some(HEADINGS.iter().find(|(opening, _)| title.starts_with(opening)).map(|(_, cue)| *cue))
}

/// Sentences of a text with their kind, and the lines that no kind took whole.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Sorted<'a> {
    /// Kind and words, in order.
    pub cued: Vec<(Cue, &'a str)>,
    /// Lines for the plain account.
    pub plain: Vec<ProseLine<'a>>,
}

/// Sorts the prose of `text`: a list item or a single sentence with a cue leaves the plain account, a cued sentence
/// inside a paragraph is in both.
pub fn sort(text: &str) -> Sorted<'_> {
    let mut sorted = Sorted::default();
    let mut under: Option<Cue> = None;
    for line in prose::lines(text) {
        if let Some(kind) = of_heading(&line) {
            under = kind;
            if kind.is_none() {
                sorted.plain.push(line);
            }
            continue;
        }
        // A paragraph after a gap that is no list ends what an inline heading opened.
        if line.after_gap && !line.bullet && under.is_some() && !sorted.cued.is_empty() {
            under = None;
        }
        let bare = prose::bare(line.text);
        // A table's row states nothing by itself.
        if line.text.starts_with('|') {
            sorted.plain.push(line);
            continue;
        }
        if is_filler(line.text) {
            continue;
        }
        if let Some(cue) = under {
            sorted.cued.push((cue, bare));
            continue;
        }
        let before = sorted.cued.len();
        let mut n_sentences = 0;
        for sentence in prose::sentences(bare) {
            n_sentences += 1;
            sorted.cued.extend(of(sentence).map(|cue| (cue, sentence)));
        }
        if n_sentences > 1 || sorted.cued.len() == before {
            sorted.plain.push(line);
        }
    }
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sentence: &str, expect: Option<Cue>) {
        assert_eq!(of(sentence), expect, "{sentence}");
    }

    #[test]
    fn sentences_are_known_by_their_phrases() {
        check("I decided to keep the journal.", Some(Cue::Decision));
        check("Used a map INSTEAD OF a list.", Some(Cue::Decision));
        check("The first attempt failed because of the lock.", Some(Cue::Failure));
        check("The retry test still fails.", Some(Cue::Unresolved));
        check("TODO: write the docs", Some(Cue::Unresolved));
        check("All 12 tests pass.", Some(Cue::Validation));
        check("12 passed; 0 failed, nothing left to do", None);
        check("Added a parser.", None);
        check("The undecided brokers stay.", None);
        check("我们决定改用日志。", Some(Cue::Decision));
        check("テストは失敗しました。", Some(Cue::Failure));
        check("Wir haben uns entschieden.", Some(Cue::Decision));
    }

    #[test]
    fn lines_under_a_heading_are_of_its_kind() {
        let text =
            "Summary of it.\n\n## Decisions\n- one map\n- two lists\n\n## Next steps\n1. docs\n\n## Changes\n- code";
        let sorted = sort(text);
        let expect = [(Cue::Decision, "one map"), (Cue::Decision, "two lists"), (Cue::Unresolved, "docs")];
        assert_eq!(sorted.cued, expect);
        let plain: Vec<&str> = sorted.plain.iter().map(|line| line.text).collect();
        assert_eq!(plain, ["Summary of it.", "Changes", "- code"]);
    }

    #[test]
    fn cued_sentence_inside_a_paragraph_stays_in_it() {
        let sorted = sort("Added a cache. It uses LRU instead of FIFO.\n- Not yet: eviction");
        assert_eq!(
            sorted.cued,
            [(Cue::Decision, "It uses LRU instead of FIFO."), (Cue::Unresolved, "Not yet: eviction")]
        );
        assert_eq!(sorted.plain.len(), 1);
    }
}
