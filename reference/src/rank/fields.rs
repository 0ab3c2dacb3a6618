//! Which terms of a document go into which indexed field.
//!
//! The one place that decides it, used by every index, so that a snapshot on disk and an index in memory give
//! the same scores. Document-type names and headings are boilerplate and are not indexed.

use crate::analyze::{analyze, analyze_path};
use crate::document::SourceDocument;
use crate::store::postings::Field;

/// The section that repeats `links`; indexed as paths only.
const PATHS_HEADING: &str = "Affected paths";

/// Calls `emit` once for each term of the field, repeats included; the number of calls is the field's length.
pub fn field_terms(document: &SourceDocument, field: Field, emit: &mut dyn FnMut(&str)) {
    match field {
        Field::Request => analyze(document.request(), emit),
        Field::Body => body_terms(document, emit),
        Field::Paths => document.links.iter().for_each(|path| analyze_path(path, emit)),
        Field::Written => document.evidence.tokens.iter().for_each(|term| emit(term)),
    }
}

fn body_terms(document: &SourceDocument, emit: &mut dyn FnMut(&str)) {
    let mut sections = document.sections().peekable();
    if sections.peek().is_none() {
        analyze(&document.content, emit);
    }
    for (_, text) in sections.filter(|(heading, _)| !matches!(*heading, "Request" | PATHS_HEADING)) {
        analyze(text, emit);
    }
    // The name of a working branch says what the work was; that of the main line says nothing.
    let branch = document.filter("branch");
    if !matches!(branch, "main" | "master" | "HEAD") {
        analyze(branch, emit);
    }
    analyze(document.filter("revision"), emit);
}
