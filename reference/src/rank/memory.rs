//! An inverted index in memory: for collections, tests and anything else that does not live on disk.
//!
//! Built by adding documents, read through [`Postings`]; gives the same scores as an index on disk that holds
//! the same documents. Documents are numbered as they are added and are never removed.

use std::collections::HashMap;

use crate::document::SourceDocument;
use crate::rank::fields::field_terms;
use crate::store::postings::{DocumentFacts, Field, Postings};

/// Inverted index over all fields, growing by [`MemoryIndex::add`].
#[derive(Debug, Default)]
pub struct MemoryIndex {
    terms: HashMap<Box<str>, u32>,
    fields: [FieldIndex; 4],
    facts: Vec<DocumentFacts>,
    ids: Vec<Box<str>>,
    segments: HashMap<Box<str>, u32>,
    writers: HashMap<u64, u32>,
}

#[derive(Debug, Default)]
struct FieldIndex {
    /// By term number: (document, frequency), ascending by document.
    postings: Vec<Vec<(u32, u32)>>,
    /// By document: length in terms.
    lengths: Vec<u32>,
    total: u64,
    filled: u32,
}

impl MemoryIndex {
    /// An index without documents.
    pub fn new() -> MemoryIndex {
        MemoryIndex::default()
    }

    /// Adds a document and gives its number.
    pub fn add(&mut self, document: &SourceDocument) -> u32 {
        let number = u32::try_from(self.facts.len()).unwrap_or(u32::MAX);
        for (field, index) in Field::ALL.into_iter().zip(&mut self.fields) {
            let terms = &mut self.terms;
            let mut length = 0;
            field_terms(document, field, &mut |term| {
                length += 1;
                index.count(term_number(terms, term), number);
            });
            index.close(length);
        }
        let next = u32::try_from(self.segments.len()).unwrap_or(u32::MAX);
        let segment = *self.segments.entry(document.group_id.as_str().into()).or_insert(next);
        let timestamp_ms = document.timestamp_ms.unwrap_or(i64::MIN);
        self.facts.push(DocumentFacts { timestamp_ms, segment, concept: document.concept });
        self.ids.push(document.doc_id.as_str().into());
        for fingerprint in &document.evidence.fingerprints {
            let writer = self.writers.entry(*fingerprint).or_insert(number);
            // Of two writers at one time the later added wins, as in a journal.
            if self.facts.get(*writer as usize).is_none_or(|known| known.timestamp_ms <= timestamp_ms) {
                *writer = number;
            }
        }
        number
    }

    /// The id of a document, `""` past the end.
    pub fn doc_id(&self, document: u32) -> &str {
        self.ids.get(document as usize).map_or("", |id| id)
    }

    /// The number of a document's segment, 0 past the end.
    pub fn segment(&self, document: u32) -> u32 {
        self.facts.get(document as usize).map_or(0, |facts| facts.segment)
    }

    fn field(&self, field: Field) -> &FieldIndex {
        let [request, body, paths, written] = &self.fields;
        match field {
            Field::Request => request,
            Field::Body => body,
            Field::Paths => paths,
            Field::Written => written,
        }
    }

    fn postings(&self, field: Field, term: &str) -> &[(u32, u32)] {
        let number = self.terms.get(term);
        number.and_then(|number| self.field(field).postings.get(*number as usize)).map_or(&[], Vec::as_slice)
    }
}

impl FieldIndex {
    fn count(&mut self, term: u32, document: u32) {
        let at = term as usize;
        if self.postings.len() <= at {
            self.postings.resize_with(at + 1, Vec::new);
        }
        if let Some(list) = self.postings.get_mut(at) {
            match list.last_mut() {
                Some((last, frequency)) if *last == document => *frequency += 1,
                _ => list.push((document, 1)),
            }
        }
    }

    fn close(&mut self, length: u32) {
        self.lengths.push(length);
        self.total += u64::from(length);
        self.filled += u32::from(length > 0);
    }
}

fn term_number(terms: &mut HashMap<Box<str>, u32>, term: &str) -> u32 {
    if let Some(number) = terms.get(term) {
        return *number;
    }
    let number = u32::try_from(terms.len()).unwrap_or(u32::MAX);
    terms.insert(term.into(), number);
    number
}

impl Postings for MemoryIndex {
    fn documents(&self) -> u32 {
        u32::try_from(self.facts.len()).unwrap_or(u32::MAX)
    }

    fn segments(&self) -> u32 {
        u32::try_from(self.segments.len()).unwrap_or(u32::MAX)
    }

    fn mean_length(&self, field: Field) -> f32 {
        let index = self.field(field);
        if index.filled == 0 { 0.0 } else { index.total as f32 / index.filled as f32 }
    }

    fn document_frequency(&self, field: Field, term: &str) -> u32 {
        u32::try_from(self.postings(field, term).len()).unwrap_or(u32::MAX)
    }

    fn visit(&self, field: Field, term: &str, visit: &mut dyn FnMut(u32, u32, u32)) {
        let lengths = &self.field(field).lengths;
        for (document, frequency) in self.postings(field, term) {
            visit(*document, *frequency, lengths.get(*document as usize).copied().unwrap_or(0));
        }
    }

    fn newest_writer(&self, fingerprint: u64) -> Option<u32> {
        self.writers.get(&fingerprint).copied()
    }

    fn facts(&self, document: u32) -> Option<DocumentFacts> {
        self.facts.get(document as usize).copied()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::document::{Concept, Evidence};

    /// An outcome of one request, `at_ms` its time.
    pub(crate) fn memory(doc_id: &str, session: &str, request: &str, at_ms: i64) -> SourceDocument {
        SourceDocument {
            doc_id: doc_id.to_owned(),
            source: format!("claude-code://p/{session}/outcome"),
            content: format!("## Request\n{request}\n"),
            concept: Concept::Outcome,
            group_id: format!("claude-session:p:{session}"),
            headings: vec!["Request".to_owned()],
            links: Vec::new(),
            timestamp_ms: Some(at_ms),
            author_agent: "claude-code".to_owned(),
            filters: BTreeMap::new(),
            digests: Vec::new(),
            evidence: Evidence::default(),
        }
    }

    pub(crate) fn index(documents: &[SourceDocument]) -> MemoryIndex {
        let mut index = MemoryIndex::new();
        for document in documents {
            index.add(document);
        }
        index
    }

    #[test]
    fn postings_give_frequencies_and_lengths_by_field() {
        let mut second = memory("b", "s1", "parser parser lexer", 2);
        second.links = vec!["src/parser.rs".to_owned()];
        let index = index(&[memory("a", "s1", "lexer", 1), second]);
        let mut seen = Vec::new();
        index.visit(Field::Request, "parser", &mut |document, frequency, length| {
            seen.push((document, frequency, length));
        });
        assert_eq!(seen, [(1, 2, 3)]);
        assert_eq!(index.document_frequency(Field::Request, "lexer"), 2);
        assert_eq!(index.document_frequency(Field::Paths, "src/parser.rs"), 1);
        assert_eq!((index.documents(), index.segments()), (2, 1));
        assert_eq!(index.mean_length(Field::Request), 2.0);
        assert_eq!(index.mean_length(Field::Written), 0.0);
    }

    #[test]
    fn newest_writer_of_a_line_wins_whatever_the_order_of_arrival() {
        let mut documents = [memory("a", "s1", "one", 5), memory("b", "s2", "two", 9), memory("c", "s3", "three", 7)];
        for document in &mut documents {
            document.evidence.fingerprints = vec![42];
        }
        assert_eq!(index(&documents).newest_writer(42), Some(1));
        assert_eq!(index(&documents).newest_writer(43), None);
    }
}
