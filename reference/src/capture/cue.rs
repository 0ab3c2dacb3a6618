//! Tells from its words whether a sentence states a decision, a failed attempt, or something left open.
//!
//! By rule: a label in front decides; else the senses of the sentence's turns of phrase are added up (see `phrase`).
//! Guarantee: deterministic and blind to everything but the sentence and the heading above it. Rules would rather
//! miss a line than file a wrong one: a wrong line in a section is read as a fact. The words are never changed.

use super::label;
use super::phrase::{self, Sense};
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

/// What a sentence is about by its own words; the weightier kind wins: open, failed, decided, checked.
pub fn of(sentence: &str) -> Option<Cue> {
    if let Some((cue, _)) = label::split(sentence) {
        return Some(cue);
    }
    // What ends with a colon announces the lines after it.
    if is_offer(sentence) || sentence.trim_end_matches('*').ends_with([':', '：']) {
        return None;
    }
    let seen = phrase::senses(sentence);
    let denied = seen.has(Sense::Denies);
    let mends = is_mended(sentence);
    let open = seen.has(Sense::Open) || (seen.has(Sense::Lacks) && !seen.has(Sense::Describes));
    let tried = seen.has(Sense::Tries) || sentence.starts_with("Tried ") || sentence.starts_with("Attempted ");
    let failed = seen.has(Sense::Fails)
        || (seen.has(Sense::Falters) && (seen.has(Sense::Attempts) || tried))
        || (tried && seen.has(Sense::Turns));
    let chooses = seen.has(Sense::Chooses);
    let author_acts = ["I ", "We ", "I've "].iter().any(|who| sentence.starts_with(who));
    let chosen = seen.has(Sense::Decides)
        || sentence.starts_with("Chose ")
        || (seen.has(Sense::Compares) && (chooses || seen.has(Sense::Acts)))
        // With a reason the author must be who acts: `this is slow because we …` explains a fault.
        || (seen.has(Sense::Reasons) && (chooses || author_acts));
    let checked = seen.has(Sense::Checks) && !seen.has(Sense::Wishes);
    // A mended fault is no failed try, and no open point.
    [(open && !denied && !mends, Cue::Unresolved), (failed && !denied && !mends, Cue::Failure)]
        .into_iter()
        .chain([(chosen, Cue::Decision), (checked, Cue::Validation)])
        .find_map(|(is_it, cue)| is_it.then_some(cue))
}

/// Whether a sentence asks for leave to do more: nothing is open until somebody answers.
fn is_offer(sentence: &str) -> bool {
    const OPENINGS: [&str; 9] = [
        "Should I",
        "Shall I",
        "Do you want",
        "Would you like",
        "Want me",
        "Let me know",
        "If you want",
        "If you'd like",
        "Feel free",
    ];
    OPENINGS.iter().any(|opening| sentence.starts_with(opening))
}

/// Whether a sentence tells of a fault that is gone.
fn is_mended(sentence: &str) -> bool {
    const OPENINGS: [&str; 14] = [
        "fixed ",
        "fixes ",
        "i fixed ",
        "i've fixed ",
        "resolved ",
        "resolves ",
        "corrected ",
        "removed ",
        "handled ",
        "closes ",
        "closed ",
        "finished ",
        "behoben",
        "修复了",
    ];
    OPENINGS
        .iter()
        .any(|opening| sentence.get(..opening.len()).is_some_and(|start| start.eq_ignore_ascii_case(opening)))
}

/// Whether a sentence goes on with the reason of the one before it.
fn gives_reason(sentence: &str) -> bool {
    const OPENINGS: [&str; 10] = [
        "Because ",
        "The reason",
        "Reason:",
        "This way",
        "That way",
        "This avoids",
        "This keeps",
        "Otherwise",
        "That avoids",
        "That keeps",
    ];
    OPENINGS.iter().any(|opening| sentence.starts_with(opening))
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
        // A check box that is not ticked is open whatever its words.
        let unticked = (line.bullet && line.text.get(1..5) == Some(" [ ]")).then_some(Cue::Unresolved);
        if let Some(cue) = under.or(unticked) {
            sorted.cued.push((cue, bare));
            continue;
        }
        let mut n_sentences = 0;
        let mut n_cued = 0;
        let mut taken: Option<(Cue, usize)> = None;
        for (start, sentence) in prose::sentences(bare) {
            n_sentences += 1;
            let end = start + sentence.len();
            // A choice without its reason is worth half.
            if let Some((cue, from)) = taken
                && gives_reason(sentence)
                && let (Some(last), Some(both)) = (sorted.cued.last_mut(), bare.get(from..end))
            {
                *last = (cue, both);
                n_cued += 1;
                continue;
            }
            taken = of(sentence).map(|cue| (cue, start));
            if let Some((cue, _)) = taken {
                sorted.cued.push((cue, sentence));
                n_cued += 1;
            }
        }
        if n_cued < n_sentences {
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
        check("Added a parser.", None);
        check("The undecided brokers stay.", None);
        check("我们决定改用日志。", Some(Cue::Decision));
        check("Wir haben uns entschieden.", Some(Cue::Decision));
    }

    #[test]
    fn reason_in_the_next_sentence_comes_along() {
        let sorted = sort("Added a cache. I chose LRU; FIFO evicts hot keys. This keeps the hit rate up. It is small.");
        let expect = [(Cue::Decision, "I chose LRU; FIFO evicts hot keys. This keeps the hit rate up.")];
        assert_eq!(sorted.cued, expect);
        assert_eq!(sorted.plain.len(), 1);
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
