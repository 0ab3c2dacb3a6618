//! A record as the commands print it, and as a line of a corpus.

use serde_json::{Value, json};

use crate::document::SourceDocument;

/// One record as the store keeps it, without evidence.
pub fn to_json(document: &SourceDocument) -> Value {
    let digests: Vec<Value> =
        document.digests.iter().map(|file| json!({ "path": file.path, "digest": file.digest })).collect();
    json!({
        "doc_id": document.doc_id,
        "source": document.source,
        "concept": document.concept.name(),
        "group_id": document.group_id,
        "timestamp": timestamp(document),
        "author_agent": document.author_agent,
        "headings": document.headings,
        "links": document.links,
        "filters": document.filters,
        "digests": digests,
        "content": document.content,
    })
}

/// One record as a row of `corpus.jsonl`.
pub fn to_row(document: &SourceDocument) -> Value {
    let section = |name: &str| {
        let lines = document.sections().filter(|(heading, _)| *heading == name).flat_map(|(_, text)| text.lines());
        lines.filter(|line| !line.trim().is_empty()).collect::<Vec<_>>()
    };
    let text = |name: &str| document.sections().find(|(heading, _)| *heading == name).map_or("", |(_, text)| text);
    let digests: Vec<Value> =
        document.digests.iter().map(|file| json!({ "path": file.path, "digest": file.digest })).collect();
    let mut row = json!({
        "doc_id": document.doc_id,
        "session_id": document.filter("session"),
        "project": document.filter("project"),
        "type": document.concept.name(),
        "timestamp": timestamp(document),
        "request": text("Request"),
        "result": text("Result"),
        "decisions": section("Decisions"),
        "failures": section("Failures"),
        "unresolved": section("Unresolved"),
        "validation": section("Validation"),
        "affected_paths": document.links,
        "branch": document.filter("branch"),
        "revision": document.filter("revision"),
        "agent": document.filter("agent"),
        "command": document.filter("command"),
        "dirty": match document.filter("dirty") { "true" => Some(true), "false" => Some(false), _ => None },
        "digests": digests,
    });
    if let Some(row) = row.as_object_mut() {
        row.retain(|_, value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty()));
    }
    row
}

fn timestamp(document: &SourceDocument) -> Option<String> {
    let at = jiff::Timestamp::from_millisecond(document.timestamp_ms?).ok()?;
    Some(at.to_string())
}
