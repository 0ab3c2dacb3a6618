//! What a ranker may ask of an index: the seam between `rank` (formulas) and the index (files).
//!
//! Implemented by the tantivy snapshot, by the unfolded journal tail and by a plain in-memory index for
//! tests and corpora. No method writes, locks or blocks. Document numbers are dense, `0..documents()`.

use crate::document::Concept;

/// An indexed field of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Field {
    /// What was asked: the `Request` section.
    Request,
    /// Everything else of the content.
    Body,
    /// Affected paths: whole and by component.
    Paths,
    /// Tokens of the lines that the memory's session wrote; indexed, never stored.
    Written,
}

impl Field {
    /// All fields, in scoring order.
    pub const ALL: [Field; 4] = [Field::Request, Field::Body, Field::Paths, Field::Written];
}

/// Facts of one document that scoring needs without reading its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DocumentFacts {
    /// Milliseconds since 1970; `i64::MIN` when unknown.
    pub timestamp_ms: i64,
    /// Dense number of the document's segment (session).
    pub segment: u32,
    /// Kind of memory.
    pub concept: Concept,
}

/// Read-only access to an inverted index.
pub trait Postings {
    /// Number of documents.
    fn documents(&self) -> u32;
    /// Number of segments (sessions).
    fn segments(&self) -> u32;
    /// Mean number of tokens of a field over the documents that have it; 0 for an empty index.
    fn mean_length(&self, field: Field) -> f32;
    /// Documents that hold the term in the field.
    fn document_frequency(&self, field: Field, term: &str) -> u32;
    /// Calls `visit(document, term frequency, field length in tokens)` in ascending document order.
    fn visit(&self, field: Field, term: &str, visit: &mut dyn FnMut(u32, u32, u32));
    /// The newest document that wrote the line with this fingerprint.
    fn newest_writer(&self, fingerprint: u64) -> Option<u32>;
    /// Facts of a document; `None` past the end.
    fn facts(&self, document: u32) -> Option<DocumentFacts>;
}
