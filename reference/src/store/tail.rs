//! Documents in memory: the journal lines that are not folded yet, or a whole store that has no disk.
//!
//! Only what counts is kept: the last version of each id, nothing of removed ones. Term lists and profiles are
//! made at their first use, since a call that lists recent records needs neither.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use crate::document::SourceDocument;
use crate::rank::fields::field_terms;
use crate::route::gathering::{Gathering, Tables};
use crate::store::manifest::FieldTotals;
use crate::store::postings::{DocumentFacts, Field};
use crate::store::wire::id_hash;

/// The documents behind the parts. Document numbers are the tail's own, in order of arrival.
#[derive(Debug, Default)]
pub struct Tail {
    documents: Vec<SourceDocument>,
    segments: Vec<u32>,
    /// By id hash: the document, or `None` when it was removed.
    ids: HashMap<u64, Option<u32>>,
    /// Segments that no part knows: hash of the name to number.
    new_segments: HashMap<u64, u32>,
    segment_names: Vec<String>,
    first_segment: u32,
    recent: Vec<u32>,
    index: OnceLock<TailIndex>,
    routes: OnceLock<Tables>,
}

/// What the tail says when it is searched.
#[derive(Debug, Default)]
struct TailIndex {
    /// By field and term: ascending (document, frequency).
    postings: [HashMap<String, Vec<(u32, u32)>>; 4],
    lengths: Vec<[u32; 4]>,
    fields: [FieldTotals; 4],
    writers: HashMap<u64, u32>,
}

/// Collects operations in journal order.
#[derive(Debug, Default)]
pub struct TailBuilder {
    documents: Vec<Option<SourceDocument>>,
    ids: HashMap<u64, Option<usize>>,
    restored: HashSet<u64>,
}

impl TailBuilder {
    /// Stores a document in place of an earlier one with its id. `kept_out` says whether the parts hold a tombstone
    /// of the id.
    pub fn upsert(&mut self, document: SourceDocument, restore: bool, kept_out: &dyn Fn(u64) -> bool) {
        let id = id_hash(&document.doc_id);
        let known = self.ids.get(&id).copied();
        if restore {
            self.restored.insert(id);
        } else if known == Some(None) || (known.is_none() && kept_out(id) && !self.restored.contains(&id)) {
            return;
        }
        self.drop_earlier(id);
        self.ids.insert(id, Some(self.documents.len()));
        self.documents.push(Some(document));
    }

    /// Removes ids, whether they are here or not.
    pub fn remove(&mut self, ids: impl IntoIterator<Item = u64>) {
        for id in ids {
            self.drop_earlier(id);
            self.restored.remove(&id);
            self.ids.insert(id, None);
        }
    }

    /// Documents collected so far that still count.
    pub fn len(&self) -> usize {
        self.ids.values().flatten().count()
    }

    /// True when nothing was collected that counts.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn drop_earlier(&mut self, id: u64) {
        if let Some(Some(earlier)) = self.ids.get(&id)
            && let Some(place) = self.documents.get_mut(*earlier)
        {
            *place = None;
        }
    }

    /// Ends the collection, keeping the newest `limit` documents. `segment_of` gives the number of a segment that a
    /// part knows, by the hash of its name; new ones are numbered from `first_segment`.
    pub fn finish(mut self, limit: usize, first_segment: u32, segment_of: &dyn Fn(u64) -> Option<u32>) -> Tail {
        let over = self.len().saturating_sub(limit);
        if over > 0 {
            let live: Vec<usize> =
                (0..self.documents.len()).filter(|at| self.documents.get(*at).is_some_and(Option::is_some)).collect();
            for at in live.into_iter().take(over) {
                if let Some(document) = self.documents.get_mut(at).and_then(Option::take) {
                    self.ids.remove(&id_hash(&document.doc_id));
                }
            }
        }
        let mut tail = Tail { first_segment, ..Tail::default() };
        tail.ids.extend(self.ids.iter().filter(|(_, place)| place.is_none()).map(|(id, _)| (*id, None)));
        for document in self.documents.into_iter().flatten() {
            let hash = id_hash(&document.group_id);
            let segment = segment_of(hash).unwrap_or_else(|| {
                *tail.new_segments.entry(hash).or_insert_with(|| {
                    tail.segment_names.push(document.group_id.clone());
                    first_segment + tail.segment_names.len() as u32 - 1
                })
            });
            tail.ids.insert(id_hash(&document.doc_id), Some(tail.documents.len() as u32));
            tail.segments.push(segment);
            tail.documents.push(document);
        }
        let mut recent: Vec<u32> = (0..tail.documents.len() as u32).collect();
        recent.sort_unstable_by_key(|number| std::cmp::Reverse((tail.time(*number), *number)));
        tail.recent = recent;
        tail
    }
}

impl Tail {
    /// Number of documents.
    pub fn documents(&self) -> u32 {
        self.documents.len() as u32
    }

    /// Number of segments that no part knows.
    pub fn new_segments(&self) -> u32 {
        self.segment_names.len() as u32
    }

    /// A document.
    pub fn document(&self, number: u32) -> Option<&SourceDocument> {
        self.documents.get(number as usize)
    }

    /// What the tail says of an id: `None` nothing, `Some(None)` removed, `Some(Some(number))` stored.
    pub fn find(&self, id: u64) -> Option<Option<u32>> {
        self.ids.get(&id).copied()
    }

    /// Hashes of all ids that the tail stores or removes, and that so hide what the parts have of them.
    pub fn touched(&self) -> impl Iterator<Item = u64> {
        self.ids.keys().copied()
    }

    /// The number of a segment that no part knows.
    pub fn segment(&self, name: u64) -> Option<u32> {
        self.new_segments.get(&name).copied()
    }

    /// The name of a segment that no part knows.
    pub fn segment_name(&self, segment: u32) -> Option<&str> {
        let index = segment.checked_sub(self.first_segment)?;
        self.segment_names.get(index as usize).map(String::as_str)
    }

    /// Facts of a document.
    pub fn facts(&self, number: u32) -> Option<DocumentFacts> {
        let document = self.document(number)?;
        let segment = self.segments.get(number as usize).copied()?;
        Some(DocumentFacts { timestamp_ms: self.time(number), segment, concept: document.concept })
    }

    /// The document at this place of the order from newest to oldest.
    pub fn recent(&self, place: usize) -> Option<u32> {
        self.recent.get(place).copied()
    }

    /// Documents that hold the term.
    pub fn document_frequency(&self, field: Field, term: &str) -> u32 {
        self.list(field, term).map_or(0, |list| list.len() as u32)
    }

    /// Calls `visit(document, term frequency, field length)` in ascending order.
    pub fn visit(&self, field: Field, term: &str, visit: &mut dyn FnMut(u32, u32, u32)) {
        for (document, frequency) in self.list(field, term).into_iter().flatten() {
            let lengths = self.index().lengths.get(*document as usize);
            let length = lengths.and_then(|lengths| lengths.get(field as usize)).copied().unwrap_or(0);
            visit(*document, *frequency, length);
        }
    }

    /// Totals of a field.
    pub fn totals(&self, field: Field) -> FieldTotals {
        self.index().fields.get(field as usize).copied().unwrap_or_default()
    }

    /// The newest document that wrote a line.
    pub fn writer(&self, fingerprint: u64) -> Option<u32> {
        self.index().writers.get(&fingerprint).copied()
    }

    /// Profiles of the segments that have documents here, from these documents alone.
    pub fn routes(&self) -> &Tables {
        self.routes.get_or_init(|| {
            let mut gathering = Gathering::default();
            for (segment, document) in self.segments.iter().zip(&self.documents) {
                gathering.add(*segment, document);
            }
            gathering.finish()
        })
    }

    fn time(&self, number: u32) -> i64 {
        self.document(number).and_then(|document| document.timestamp_ms).unwrap_or(i64::MIN)
    }

    fn list(&self, field: Field, term: &str) -> Option<&Vec<(u32, u32)>> {
        if self.documents.is_empty() {
            return None;
        }
        self.index().postings.get(field as usize)?.get(term)
    }

    fn index(&self) -> &TailIndex {
        self.index.get_or_init(|| {
            let mut index = TailIndex::default();
            for (number, document) in (0..).zip(&self.documents) {
                let mut lengths = [0; 4];
                for (field, length) in Field::ALL.into_iter().zip(&mut lengths) {
                    let Some(postings) = index.postings.get_mut(field as usize) else {
                        continue;
                    };
                    field_terms(document, field, &mut |term| {
                        *length += 1;
                        let list = match postings.get_mut(term) {
                            Some(list) => list,
                            None => postings.entry(term.to_owned()).or_default(),
                        };
                        match list.last_mut().filter(|(last, _)| *last == number) {
                            Some((_, frequency)) => *frequency += 1,
                            None => list.push((number, 1)),
                        }
                    });
                }
                for (totals, length) in index.fields.iter_mut().zip(lengths) {
                    totals.documents += u64::from(length > 0);
                    totals.tokens += u64::from(length);
                }
                index.lengths.push(lengths);
                for line in &document.evidence.fingerprints {
                    let newest = index.writers.entry(*line).or_insert(number);
                    if self.time(*newest) <= self.time(number) {
                        *newest = number;
                    }
                }
            }
            index
        })
    }
}
