//! Picks the few lines of a memory that speak to a query.
//!
//! Deterministic and bounded: at most so many lines and bytes, in the order of the memory, cut on character
//! boundaries. Chooses only; redaction and framing come after.

use std::collections::HashSet;

use crate::analyze::analyze;
use crate::document::SourceDocument;

/// Bytes of a memory without a matching line that are shown.
const LEADING_BYTES: usize = 240;

/// Sections that say what was learnt; on equal matches their lines are shown first.
const LESSONS: [&str; 3] = ["Decisions", "Failures", "Unresolved"];

/// The excerpt's lines, each `Heading: line`, joined by newlines.
///
/// `terms` are the analysed terms of the query. Without a matching line the memory's first lines stand, shortened.
pub fn excerpt(document: &SourceDocument, terms: &[String], max_lines: usize, max_bytes: usize) -> String {
    let terms: HashSet<&str> = terms.iter().map(String::as_str).collect();
    let mut scored: Vec<(usize, usize, String)> = Vec::new();
    let mut seen = HashSet::new();
    for (heading, text) in document.sections().filter(|(heading, _)| *heading != "Affected paths") {
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            seen.clear();
            analyze(line, &mut |term| {
                if let Some(known) = terms.get(term) {
                    seen.insert(*known);
                }
            });
            let lesson = usize::from(LESSONS.contains(&heading));
            let score = if seen.is_empty() { 0 } else { 2 * seen.len() + lesson };
            scored.push((score, scored.len(), format!("{heading}: {line}")));
        }
    }
    if scored.is_empty() {
        return shorten(document.content.trim(), LEADING_BYTES.min(max_bytes)).to_owned();
    }
    let mut chosen: Vec<&(usize, usize, String)> = scored.iter().filter(|(score, _, _)| *score > 0).collect();
    if chosen.is_empty() {
        return join(scored.iter().take(2).map(|(_, _, line)| line.as_str()), LEADING_BYTES.min(max_bytes));
    }
    chosen.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    chosen.truncate(max_lines);
    chosen.sort_by_key(|(_, at, _)| *at);
    join(chosen.into_iter().map(|(_, _, line)| line.as_str()), max_bytes)
}

/// The lines of the named sections, in order; what a new session wants to know first.
pub fn lessons(document: &SourceDocument, headings: &[&str], max_lines: usize, max_bytes: usize) -> String {
    let lines = document.sections().filter(|(heading, _)| headings.contains(heading)).flat_map(|(heading, text)| {
        text.lines().map(str::trim).filter(|line| !line.is_empty()).map(move |line| format!("{heading}: {line}"))
    });
    let lines: Vec<String> = lines.take(max_lines).collect();
    join(lines.iter().map(String::as_str), max_bytes)
}

fn join<'a>(lines: impl Iterator<Item = &'a str>, max_bytes: usize) -> String {
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
        joined.push_str(shorten(line, room));
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
