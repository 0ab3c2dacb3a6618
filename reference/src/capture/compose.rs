//! Writes a record's content from gathered facts: fixed sections, in a fixed order, each within its share.
//!
//! Sections: Request, Result, Decisions, Failures, Unresolved, Validation, Affected paths; empty ones are left out.
//! Of a content limit of 4,096 bytes they get at most 640, 1,200, 560, 480, 480 and 320, and the paths what is left,
//! at most 480; another limit scales all. A session's summary gives its result the shares of the sections it lacks.
//! List sections hold plain lines, one an item, without list marks and without a label that repeats the heading.
//! Guarantee: the content never exceeds the limit and only `## ` lines of these sections start with `## `.
//! Deliberately not here: identifiers (see `growth`).

use std::collections::BTreeMap;

use super::cue::{self, Cue};
use super::gather::Turn;
use super::{Place, label, prose};
use crate::document::{Concept, Evidence, SourceDocument};
use crate::session::name;

/// Bytes of one item of a list section.
const ITEM_BYTES: usize = 240;
/// Items of a list section.
const MOST_ITEMS: usize = 5;
/// Fewest words of an answer that is worth a record by itself.
const SUBSTANCE_WORDS: usize = 5;
/// Fewest words of an answer to a greeting or an acknowledgement that is worth one.
const SMALL_TALK_WORDS: usize = 40;

/// What a turn's texts say, sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// The plain account of the final message.
    pub result: String,
    /// Stated decisions, the final message's first.
    pub decisions: Vec<String>,
    /// Failed approaches.
    pub failures: Vec<String>,
    /// Open points, of the final message only: earlier ones may be done by now.
    pub unresolved: Vec<String>,
    /// Checks with their end.
    pub validation: Vec<String>,
}

impl Facts {
    /// Sorts what `turn` says.
    pub fn of(turn: &Turn) -> Facts {
        let mut facts = Facts::default();
        let last = cue::sort(&turn.result);
        for (cue, words) in &last.cued {
            // A message that says only this says it as its result.
            if *cue != Cue::Validation || !last.plain.is_empty() {
                facts.add(*cue, words, true);
            }
        }
        for reply in turn.replies.iter().rev() {
            for (cue, words) in &cue::sort(reply).cued {
                facts.add(*cue, words, false);
            }
        }
        let plain = prose::distil_lines(last.plain.iter().copied(), 4 * ITEM_BYTES + 4_096);
        facts.result = if !prose::has_words(&plain, 1) { prose::distil(&turn.result, 4 * ITEM_BYTES) } else { plain };
        if !turn.checks.is_empty() {
            facts.validation =
                turn.checks.iter().rev().take(MOST_ITEMS + 1).rev().map(super::validation::Check::text).collect();
        }
        facts
    }

    /// Whether the turn is worth a record.
    ///
    /// Yes with an affected path, a check, a decision, a failure or an open point; else when the answer has at least
    /// 5 words, or 40 after a greeting or acknowledgement of at most two words.
    pub fn has_substance(&self, turn: &Turn) -> bool {
        let found_something = !turn.paths.is_empty()
            || !turn.checks.is_empty()
            || [&self.decisions, &self.failures, &self.unresolved].into_iter().any(|list| !list.is_empty());
        let small_talk = prose::has_words(&turn.request, 1)
            && !prose::has_words(&turn.request, 3)
            && !turn.request.contains(['/', '.', '_', ':', '#']);
        let enough = if small_talk { SMALL_TALK_WORDS } else { SUBSTANCE_WORDS };
        found_something || prose::has_words(&self.result, enough)
    }

    fn add(&mut self, cue: Cue, words: &str, is_last_message: bool) {
        let list = match cue {
            Cue::Decision => &mut self.decisions,
            Cue::Failure => &mut self.failures,
            Cue::Unresolved | Cue::Validation if !is_last_message => return,
            Cue::Unresolved => &mut self.unresolved,
            Cue::Validation => &mut self.validation,
        };
        // The heading says already what the label would.
        let words = label::split(words).filter(|(named, _)| *named == cue).map_or(words, |(_, rest)| rest);
        let item = prose::distil(words, ITEM_BYTES);
        if list.len() < MOST_ITEMS && prose::has_words(&item, 2) && !list.contains(&item) {
            list.push(item);
        }
    }
}

/// The parts of a record before they are written out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parts<'a> {
    /// What was asked.
    pub request: &'a str,
    /// What came of it.
    pub result: &'a str,
    /// Decisions.
    pub decisions: &'a [String],
    /// Failed approaches.
    pub failures: &'a [String],
    /// Open points.
    pub unresolved: &'a [String],
    /// Checks.
    pub validation: &'a [String],
    /// Affected paths.
    pub paths: &'a [String],
    /// A session's summary: the shares of the sections that it never has go to its result.
    pub is_summary: bool,
}

/// The content of a record, at most `limit` bytes, and its headings.
pub fn content(parts: &Parts<'_>, limit: usize) -> (String, Vec<String>) {
    let share = |bytes: usize| bytes * limit / 4_096;
    let mut out = Sections { content: String::new(), headings: Vec::new(), limit };
    out.add("Request", &prose::distil(parts.request, share(640)));
    let result = if parts.is_summary { 1_200 + 560 + 480 + 320 } else { 1_200 };
    out.add("Result", &prose::distil(parts.result, share(result)));
    out.add("Decisions", &list(parts.decisions, share(560)));
    out.add("Failures", &list(parts.failures, share(480)));
    out.add("Unresolved", &list(parts.unresolved, share(480)));
    out.add("Validation", &list(parts.validation, share(320)));
    let room = limit.saturating_sub(out.content.len() + "\n\n## Affected paths\n".len()).min(share(480));
    out.add("Affected paths", &path_list(parts.paths, room));
    (out.content, out.headings)
}

struct Sections {
    content: String,
    headings: Vec<String>,
    limit: usize,
}

impl Sections {
    fn add(&mut self, heading: &str, text: &str) {
        let gap = if self.content.is_empty() { "" } else { "\n\n" };
        let size = self.content.len() + gap.len() + "## \n".len() + heading.len() + text.len();
        if text.is_empty() || size > self.limit {
            return;
        }
        self.content.push_str(&format!("{gap}## {heading}\n{text}"));
        self.headings.push(heading.to_owned());
    }
}

fn list(items: &[String], bytes: usize) -> String {
    let mut text = String::new();
    for item in items {
        let line = format!("{}{}", if text.is_empty() { "" } else { "\n" }, item.replace('\n', " "));
        if text.len() + line.len() > bytes {
            break;
        }
        text.push_str(&line);
    }
    text
}

/// Paths one a line; those that do not fit are counted.
fn path_list(paths: &[String], bytes: usize) -> String {
    let mut text = String::new();
    for (at, path) in paths.iter().enumerate() {
        let left = paths.len() - at;
        let line = format!("{}{path}", if text.is_empty() { "" } else { "\n" });
        let more = format!("\nand {left} more");
        let reserve = if left > 1 { more.len() + 4 } else { 0 };
        if text.len() + line.len() + reserve > bytes {
            if !text.is_empty() && text.len() + more.len() <= bytes {
                text.push_str(&more);
            }
            break;
        }
        text.push_str(&line);
    }
    text
}

/// A document around `parts`; digests and evidence are left empty for the caller.
pub fn document(
    doc_id: String,
    concept: Concept,
    session_id: &str,
    place: &Place<'_>,
    parts: &Parts<'_>,
    extra: &[(&str, Option<&str>)],
    limit: usize,
) -> SourceDocument {
    let session = name::safe_id(session_id);
    let (content, headings) = content(parts, limit);
    let dirty = place.dirty.map(|dirty| if dirty { "true" } else { "false" });
    let fixed = [
        ("project", Some(place.project)),
        ("session", Some(session.as_ref())),
        ("type", Some(concept.name())),
        ("branch", place.branch),
        ("revision", place.revision),
        ("dirty", dirty),
    ];
    let filters: BTreeMap<String, String> = fixed
        .iter()
        .chain(extra)
        .filter_map(|(key, value)| value.map(|value| ((*key).to_owned(), value.to_owned())))
        .collect();
    SourceDocument {
        doc_id,
        source: format!("claude-code://{}/{session}/{}", place.project, concept.name()),
        content,
        concept,
        group_id: format!("claude-session:{}:{session}", place.project),
        headings,
        links: parts.paths.to_vec(),
        timestamp_ms: place.timestamp_ms,
        author_agent: "claude-code".to_owned(),
        filters,
        digests: Vec::new(),
        evidence: Evidence::default(),
    }
}
