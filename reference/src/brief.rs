//! What a new session should know: recent decisions, failed approaches and unresolved work, newest first.
//!
//! Looks at a bounded number of the newest memories and takes one a session, those of the current branch first. A
//! resumed or forked session gets nothing, because its transcript already holds what it was shown.

use hook_contract::Body;

use crate::call::Call;
use crate::document::SourceDocument;
use crate::excerpt::lessons;
use crate::pack::readable;
use crate::store::IndexStore;

/// Newest memories that are read at most.
const LOOKED_AT: usize = 60;

/// Memories shown at most.
const SHOWN: usize = 6;

/// Sections worth telling before anything is asked, in the order of their worth.
const LESSONS: [&str; 3] = ["Unresolved", "Decisions", "Failures"];

/// Memories for the start of a session, each with its excerpt; best first.
pub fn brief(call: &Call<'_>, store: &IndexStore) -> Vec<(SourceDocument, String)> {
    let Body::SessionStart(body) = &call.payload.body else { return Vec::new() };
    if matches!(body.source.as_deref(), Some("resume" | "fork")) {
        return Vec::new();
    }
    let snapshot = store.snapshot();
    let mut chosen: Vec<SourceDocument> = Vec::new();
    for (number, _) in snapshot.recent().take(LOOKED_AT) {
        if call.deadline.expired() {
            break;
        }
        let Ok(document) = snapshot.document(number) else { continue };
        match chosen.iter_mut().find(|other| other.group_id == document.group_id) {
            // The newest record with something to tell stands for its session: an older one may be done by now.
            Some(other) if !has_lesson(other) && has_lesson(&document) => *other = document,
            Some(_) => {}
            None => chosen.push(document),
        }
    }
    let branch = call.head.branch.as_deref().unwrap_or("");
    // The sort is stable: within one branch the newest stay first.
    chosen.sort_by_key(|document| usize::from(branch.is_empty() || document.filter("branch") != branch));
    let settings = &call.config.recall;
    let mut told: Vec<(SourceDocument, String)> = Vec::new();
    for document in chosen.into_iter().map(readable) {
        let mut text = lessons(&document, &LESSONS, settings.excerpt_lines * 2, settings.excerpt_bytes);
        if text.is_empty() {
            // Work without a lesson is worth a line only as the newest there is.
            if !told.is_empty() {
                continue;
            }
            text = lessons(&document, &["Request", "Result"], 2, settings.excerpt_bytes / 2);
        }
        if !text.is_empty() {
            told.push((document, text));
        }
        if told.len() == SHOWN {
            break;
        }
    }
    told
}

fn has_lesson(document: &SourceDocument) -> bool {
    document.sections().any(|(heading, _)| LESSONS.contains(&heading))
}
