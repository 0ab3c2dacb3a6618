//! What a new session should know: recent decisions, failed approaches and unresolved work, newest first.
//!
//! Looks at a bounded number of the newest memories and tells one item a session, those of the current branch first. The
//! item is the newest memory with something to tell, and it alone says what is unresolved, since older points may be done
//! by now; decisions and failures of the session's other memories stand with it. A resumed or forked session gets
//! nothing, because its transcript already holds what it was shown.

use hook_contract::Body;

use crate::call::Call;
use crate::document::SourceDocument;
use crate::excerpt::{join, lessons};
use crate::pack::readable;
use crate::store::IndexStore;

/// Newest memories that are read at most.
const LOOKED_AT: usize = 60;

/// Sections worth telling before anything is asked, in the order of their worth.
const LESSONS: [&str; 3] = ["Unresolved", "Decisions", "Failures"];

/// Those of them that stay true when the session goes on.
const LASTING: [&str; 2] = ["Decisions", "Failures"];

/// Memories for the start of a session, each with its excerpt; best first.
pub fn brief(call: &Call<'_>, store: &IndexStore) -> Vec<(SourceDocument, String)> {
    let Body::SessionStart(body) = &call.payload.body else { return Vec::new() };
    if matches!(body.source.as_deref(), Some("resume" | "fork")) {
        return Vec::new();
    }
    let snapshot = store.snapshot();
    let mut sessions: Vec<Vec<SourceDocument>> = Vec::new();
    for (number, _) in snapshot.recent().take(LOOKED_AT) {
        if call.deadline.expired() {
            break;
        }
        let Ok(document) = snapshot.document(number) else { continue };
        let known = sessions.iter_mut().find(|known| known.iter().any(|other| other.group_id == document.group_id));
        match known {
            Some(known) => known.push(readable(document)),
            None => sessions.push(vec![readable(document)]),
        }
    }
    let branch = call.head.branch.as_deref().unwrap_or("");
    let is_elsewhere = |document: &SourceDocument| branch.is_empty() || document.filter("branch") != branch;
    // The sort is stable: within one branch the newest stay first.
    sessions.sort_by_key(|session| session.first().is_none_or(is_elsewhere));
    let settings = &call.config.recall;
    let mut told: Vec<(SourceDocument, String)> = Vec::new();
    for session in sessions {
        let Some(at) = session.iter().position(has_lesson).or((!session.is_empty()).then_some(0)) else { continue };
        let mut text = told_of(&session, at, settings.excerpt_lines * 2, settings.excerpt_bytes);
        let Some(document) = session.into_iter().nth(at) else { continue };
        if text.is_empty() {
            // Work without a lesson is worth a line only as the newest there is.
            if !told.is_empty() {
                continue;
            }
            text = lessons(&document, &["Request", "Result"], 2, settings.excerpt_bytes / 2);
        }
        if told.len() == settings.session_start_items {
            break;
        }
        if !text.is_empty() {
            told.push((document, text));
        }
    }
    told
}

/// Lessons of a session, newest first: all of the memory at `at`, the lasting ones of the others, each line once.
fn told_of(session: &[SourceDocument], at: usize, max_lines: usize, max_bytes: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    let others =
        session.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, document)| (document, &LASTING[..]));
    for (document, headings) in session.get(at).map(|document| (document, &LESSONS[..])).into_iter().chain(others) {
        for heading in headings {
            for line in lessons(document, &[heading], max_lines, max_bytes).lines() {
                if lines.len() < max_lines && !lines.iter().any(|known| known == line) {
                    lines.push(line.to_owned());
                }
            }
        }
    }
    join(lines.into_iter(), max_bytes)
}

fn has_lesson(document: &SourceDocument) -> bool {
    document.sections().any(|(heading, _)| LESSONS.contains(&heading))
}
