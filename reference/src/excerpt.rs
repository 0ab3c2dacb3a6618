//! Picks the few lines of a memory that speak to a query.
//!
//! Deterministic and bounded: at most so many lines and bytes, in the order of the memory, cut on character
//! boundaries. Chooses only; redaction and framing come after.

use std::collections::HashSet;

use crate::analyze::analyze;
use crate::document::SourceDocument;

/// Bytes of a memory without a matching line that are shown.
const LEADING_BYTES: usize = 240;

/// Sections whose lines answer, best first; they fill what matching lines leave free.
const ANSWERS: [&str; 4] = ["Decisions", "Failures", "Unresolved", "Result"];

/// Sections that say what was learnt.
const LESSONS: [&str; 3] = ["Decisions", "Failures", "Unresolved"];

/// One line of a memory.
struct Line<'a> {
    heading: &'a str,
    text: &'a str,
    /// Distinct query terms in it.
    matches: usize,
}

/// The excerpt's lines, each `Heading: line`, joined by newlines, in the order of the memory.
///
/// `terms` are the analysed terms of the query. The lines with most terms stand, of the request one at most and of
/// the checks only what is left over: the reader has just asked and wants the answer. A lesson always stands. Lines that answer fill what is left. Without any matching
/// line the memory's first lines stand, shortened.
pub fn excerpt(document: &SourceDocument, terms: &[String], max_lines: usize, max_bytes: usize) -> String {
    let terms: HashSet<&str> = terms.iter().map(String::as_str).collect();
    let lines: Vec<Line<'_>> = document
        .sections()
        .filter(|(heading, _)| *heading != "Affected paths")
        .flat_map(|(heading, text)| text.lines().map(move |line| (heading, line.trim())))
        .filter(|(_, line)| !line.is_empty())
        .map(|(heading, text)| Line { heading, text, matches: matches(text, &terms) })
        .collect();
    if lines.is_empty() {
        return shorten(document.content.trim(), LEADING_BYTES.min(max_bytes)).to_owned();
    }
    if lines.iter().all(|line| line.matches == 0) {
        return join(lines.iter().take(2).map(Line::shown), LEADING_BYTES.min(max_bytes));
    }
    let mut ranked: Vec<usize> = (0..lines.len()).collect();
    // A check that passed is the last thing to spend room on.
    ranked.sort_by_key(|at| lines.get(*at).map(|line| (line.is_check(), usize::MAX - line.matches, line.worth(), *at)));
    let mut chosen: Vec<usize> = Vec::new();
    for at in ranked {
        let Some(line) = lines.get(at).filter(|line| line.matches > 0 || ANSWERS.contains(&line.heading)) else {
            continue;
        };
        let again =
            line.heading == "Request" && chosen.iter().filter_map(|at| lines.get(*at)).any(|c| c.heading == "Request");
        if !again && chosen.len() < max_lines {
            chosen.push(at);
        }
    }
    // What was learnt is what memory is for: one such line always stands.
    let is_lesson = |at: &usize| lines.get(*at).is_some_and(|line| LESSONS.contains(&line.heading));
    if !chosen.iter().any(is_lesson)
        && let Some(lesson) = (0..lines.len()).find(is_lesson)
    {
        chosen.truncate(max_lines.saturating_sub(1));
        chosen.push(lesson);
    }
    chosen.sort_unstable();
    join(chosen.into_iter().filter_map(|at| lines.get(at)).map(Line::shown), max_bytes)
}

impl Line<'_> {
    fn shown(&self) -> String {
        format!("{}: {}", self.heading, self.text)
    }

    fn is_check(&self) -> bool {
        self.heading == "Validation"
    }

    /// Place among the sections that answer; others come last.
    fn worth(&self) -> usize {
        ANSWERS.iter().position(|heading| *heading == self.heading).unwrap_or(ANSWERS.len())
    }
}

fn matches(line: &str, terms: &HashSet<&str>) -> usize {
    let mut seen = HashSet::new();
    analyze(line, &mut |term| {
        if let Some(known) = terms.get(term) {
            seen.insert(*known);
        }
    });
    seen.len()
}

/// The lines of the named sections, in order; what a new session wants to know first.
pub fn lessons(document: &SourceDocument, headings: &[&str], max_lines: usize, max_bytes: usize) -> String {
    let lines = document.sections().filter(|(heading, _)| headings.contains(heading)).flat_map(|(heading, text)| {
        text.lines().map(str::trim).filter(|line| !line.is_empty()).map(move |line| format!("{heading}: {line}"))
    });
    join(lines.take(max_lines), max_bytes)
}

/// Lines joined up to a number of bytes; what would be a stump is left out.
pub(crate) fn join(lines: impl Iterator<Item = String>, max_bytes: usize) -> String {
    let mut joined = String::new();
    for line in lines {
        let room = max_bytes.saturating_sub(joined.len() + usize::from(!joined.is_empty()));
        // A stump of a few bytes helps nobody.
        if room < 24 && room < line.len() {
            break;
        }
        if !joined.is_empty() {
            joined.push('\n');
        }
        joined.push_str(shorten(&line, room));
    }
    joined
}

/// Cuts at a character boundary, and at a word boundary where one is near, never inside a joined emoji.
pub(crate) fn shorten(text: &str, max_bytes: usize) -> &str {
    if text.len() <= max_bytes {
        return text;
    }
    let end = text.floor_char_boundary(max_bytes);
    let cut = text.get(..end).unwrap_or("");
    let cut = match cut.rfind(char::is_whitespace) {
        Some(space) if space + 40 > cut.len() => cut.get(..space).unwrap_or(cut),
        _ => cut,
    };
    // A dangling joiner or mark would attach to whatever follows the excerpt.
    let joins = |c: char| matches!(c, '\u{200d}' | '\u{fe0f}' | '\u{300}'..='\u{36f}');
    let starts_joined = text.get(cut.len()..).and_then(|rest| rest.chars().next()).is_some_and(joins);
    let cut = cut.trim_end_matches('\u{200d}');
    if starts_joined {
        let last = cut.char_indices().next_back().map_or(0, |(at, _)| at);
        return cut.get(..last).unwrap_or("").trim_end_matches('\u{200d}').trim_end();
    }
    cut.trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::tokens;
    use crate::document::{Concept, Evidence};

    fn memory(content: &str) -> SourceDocument {
        SourceDocument {
            doc_id: "m1".into(),
            source: String::new(),
            content: content.into(),
            concept: Concept::Outcome,
            group_id: String::new(),
            headings: Vec::new(),
            links: Vec::new(),
            timestamp_ms: None,
            author_agent: String::new(),
            filters: Default::default(),
            digests: Vec::new(),
            evidence: Evidence::default(),
        }
    }

    #[test]
    fn matching_lines_stand_in_document_order() {
        let document = memory(
            "## Request\nAdd retries\n## Result\nUnrelated.\nRetries use backoff.\n## Decisions\nBackoff is capped at 30 s\n\
             ## Affected paths\nsrc/backoff.rs",
        );
        let text = excerpt(&document, &tokens("backoff retries"), 2, 800);
        assert_eq!(text, "Result: Retries use backoff.\nDecisions: Backoff is capped at 30 s");
    }

    #[test]
    fn lesson_stands_even_when_other_lines_match_better() {
        let document =
            memory("## Request\nexport\n## Result\nexport a\nexport b\nexport c\n## Unresolved\nTotals are wrong");
        let text = excerpt(&document, &tokens("export"), 3, 800);
        assert_eq!(text, "Result: export a\nResult: export b\nUnresolved: Totals are wrong");
    }

    #[test]
    fn request_that_repeats_the_question_leaves_room_for_the_answer() {
        let document = memory(
            "## Request\ntoo many clients already\nplease mend: too many clients\n## Result\nPools are 4 per worker.\n\
             ## Decisions\nPool size per worker is 4\n## Validation\ncargo test clients: pass",
        );
        let text = excerpt(&document, &tokens("too many clients already"), 3, 800);
        let expected = "Request: too many clients already\nResult: Pools are 4 per worker.\n\
                        Decisions: Pool size per worker is 4";
        assert_eq!(text, expected);
        let text = excerpt(&document, &tokens("too many clients already"), 4, 800);
        assert_eq!(text, format!("{expected}\nValidation: cargo test clients: pass"));
    }

    #[test]
    fn memory_without_a_matching_line_gives_its_short_beginning() {
        let document = memory(&format!("## Request\n{}\n## Result\nDone.", "word ".repeat(200)));
        let text = excerpt(&document, &tokens("zebra"), 3, 800);
        assert!(text.starts_with("Request: word word") && text.len() <= LEADING_BYTES, "{text}");
    }

    #[test]
    fn field_report_68_cut_never_splits_a_character() {
        let text = "e\u{301}👩\u{200d}👩\u{200d}👧 日本 end";
        for bytes in 0..=text.len() {
            let cut = shorten(text, bytes);
            assert!(cut.len() <= bytes && text.starts_with(cut), "{bytes}: {cut:?}");
            assert!(!cut.ends_with('\u{200d}'), "{bytes}: {cut:?}");
        }
        assert_eq!(shorten("e\u{301}x", 1), "");
    }

    #[test]
    fn excerpt_keeps_to_its_bytes() {
        let document = memory(&format!("## Result\n{}\n{}\n", "alpha ".repeat(100), "alpha beta ".repeat(100)));
        for bytes in [40, 100, 799, 800] {
            assert!(excerpt(&document, &tokens("alpha beta"), 3, bytes).len() <= bytes);
        }
    }
}
