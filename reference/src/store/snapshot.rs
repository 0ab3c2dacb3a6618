//! A read-only view of a store at one moment: folded parts and the journal lines behind them, as one index.
//!
//! Opening takes no lock, starts no thread, creates and writes nothing, and never waits. What it sees never
//! changes, whatever writers do meanwhile. Document numbers are dense over parts and tail; removed and replaced
//! documents keep their number and are never visited. Frequencies still count them until the next merge.

use std::collections::{BTreeMap, BinaryHeap};
use std::path::{Path, PathBuf};

use crate::document::SourceDocument;
use crate::route::bucket::Buckets;
use crate::route::gathering::Entry;
use crate::route::local_distinctiveness::local_weight;
use crate::route::profile::Flags;
use crate::route::{RoutingIndex, Weights};
use crate::store::error::{OpenError, ReadError};
use crate::store::format::JOURNAL_VERSION;
use crate::store::generation::{Generation, VERIFY_BYTES};
use crate::store::journal::{Journal, Position};
use crate::store::part::Part;
use crate::store::postings::{DocumentFacts, Field, Postings};
use crate::store::tail::{Tail, TailBuilder};
use crate::store::wire::{self, Head, evidence_hash, id_hash};

/// How much of the journal behind the index is read; the newest records are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TailLimit {
    /// Bytes of journal lines.
    pub bytes: u64,
    /// Documents.
    pub documents: usize,
}

impl TailLimit {
    /// No limit: for writers that must see everything.
    pub const NONE: TailLimit = TailLimit { bytes: u64::MAX, documents: usize::MAX };
}

impl Default for TailLimit {
    fn default() -> Self {
        TailLimit { bytes: 1 << 20, documents: 500 }
    }
}

/// What a store says of an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// Never stored, as far as the snapshot reaches.
    Absent,
    /// Stored as this document.
    Stored(u32),
    /// Removed, and kept out.
    Removed,
}

/// How a snapshot came to be; for `status` and for deciding on a fold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Condition {
    /// Number of the generation in use.
    pub generation: Option<u64>,
    /// Index folders that are newer than it and not usable.
    pub invalid_generations: u32,
    /// Folder and version of an index that a newer release wrote.
    pub newer_index: Option<(PathBuf, u32)>,
    /// Version of a journal that is newer than this release; the store is read-only then.
    pub newer_journal: Option<u32>,
    /// Damaged journal lines met by folds and by this snapshot.
    pub damaged_lines: u64,
    /// Bytes of the journal that are not folded.
    pub unfolded_bytes: u64,
    /// Documents of the journal that are not folded, as far as they were read.
    pub unfolded_documents: u32,
    /// True when the unfolded part was too long to be read whole.
    pub tail_cut: bool,
    /// Bytes of the live journal files.
    pub journal_bytes: u64,
    /// Bytes of the index in use.
    pub index_bytes: u64,
    /// Documents that stand.
    pub documents: u32,
}

/// An immutable view of a store.
#[derive(Debug, Default)]
pub struct Snapshot {
    generation: Option<Generation>,
    /// First document number of each part.
    firsts: Vec<u32>,
    part_documents: u32,
    part_segments: u32,
    tail: Tail,
    condition: Condition,
}

enum Place {
    Part(usize, u32),
    Tail(u32),
}

impl Snapshot {
    /// Opens the store at `root`; a missing store is an empty snapshot.
    pub fn open(root: &Path) -> Result<Snapshot, OpenError> {
        Snapshot::open_with(root, TailLimit::default())
    }

    /// Opens the store with another limit on the unfolded part.
    pub fn open_with(root: &Path, limit: TailLimit) -> Result<Snapshot, OpenError> {
        Snapshot::open_verified(root, limit, VERIFY_BYTES)
    }

    /// Opens the store and compares index files of at most `verify_bytes` with their checksums.
    pub fn open_verified(root: &Path, limit: TailLimit, verify_bytes: u64) -> Result<Snapshot, OpenError> {
        let journal = Journal::open(root)?;
        let found = Generation::newest(root, &journal, verify_bytes)?;
        let mut snapshot = Snapshot::over(found.generation);
        let from = snapshot.generation.as_ref().map(Generation::position);
        let (start, tail_cut) = journal.bounded(from, limit.bytes)?;
        let mut builder = TailBuilder::default();
        let generation = snapshot.generation.as_ref();
        let pass = journal.read(start, &mut |_: Position, json| {
            match wire::decode_head(json) {
                Head::Upsert { restore, .. } => {
                    if let Some(document) = wire::decode_document(json) {
                        let kept_out = |id| generation.is_some_and(|generation| generation.is_tombstone(id));
                        builder.upsert(document, restore, &kept_out);
                    }
                }
                Head::Remove { ids } => builder.remove(ids),
                Head::Header { .. } | Head::Unknown => {}
            }
            true
        })?;
        let tail_cut = tail_cut || builder.len() > limit.documents;
        snapshot.set_tail(builder, limit.documents);
        let manifest = snapshot.generation.as_ref().map(|generation| &generation.manifest);
        snapshot.condition = Condition {
            generation: manifest.map(|manifest| manifest.generation),
            invalid_generations: found.invalid,
            newer_index: found.newer,
            newer_journal: Some(journal.version()).filter(|version| *version > JOURNAL_VERSION),
            damaged_lines: pass.damaged + manifest.map_or(0, |manifest| manifest.damaged),
            unfolded_bytes: journal.bytes_behind(from),
            unfolded_documents: snapshot.tail.documents(),
            tail_cut,
            journal_bytes: journal.bytes_behind(None),
            index_bytes: manifest.map_or(0, crate::store::manifest::index_bytes),
            documents: snapshot.live_count(),
        };
        Ok(snapshot)
    }

    /// A snapshot of documents that are on no disk.
    pub(crate) fn in_memory(builder: TailBuilder) -> Snapshot {
        let mut snapshot = Snapshot::over(None);
        snapshot.set_tail(builder, usize::MAX);
        let documents = snapshot.tail.documents();
        snapshot.condition = Condition { documents, unfolded_documents: documents, ..Condition::default() };
        snapshot
    }

    fn over(generation: Option<Generation>) -> Snapshot {
        let mut snapshot = Snapshot { generation, ..Snapshot::default() };
        for part in snapshot.generation.iter().flat_map(|generation| &generation.parts) {
            snapshot.firsts.push(snapshot.part_documents);
            snapshot.part_documents = snapshot.part_documents.saturating_add(part.entry().documents);
            snapshot.part_segments = part.entry().first_segment.saturating_add(part.entry().segments);
        }
        snapshot
    }

    fn set_tail(&mut self, builder: TailBuilder, limit: usize) {
        let parts = self.generation.as_ref().map_or(&[][..], |generation| &generation.parts);
        let segment_of = |name| parts.iter().find_map(|part| part.segment(name));
        self.tail = builder.finish(limit, self.part_segments, &segment_of);
        for part in self.generation.iter_mut().flat_map(|generation| &mut generation.parts) {
            for id in self.tail.touched() {
                if let Some(document) = part.find(id) {
                    part.mark_removed(document);
                }
            }
        }
    }

    /// How the snapshot came to be.
    pub fn condition(&self) -> &Condition {
        &self.condition
    }

    /// The stored document with this number; its evidence is empty when it comes from the index.
    pub fn document(&self, number: u32) -> Result<SourceDocument, ReadError> {
        self.text(number).map(|(document, _)| document)
    }

    /// The document with this id.
    pub fn document_by_id(&self, id: &str) -> Option<SourceDocument> {
        match self.presence(id_hash(id)) {
            // The hash of another id may be the same; its text tells.
            Presence::Stored(number) => self.document(number).ok().filter(|document| document.doc_id == id),
            Presence::Absent | Presence::Removed => None,
        }
    }

    /// The document with this number and the hash of its evidence.
    pub fn text(&self, number: u32) -> Result<(SourceDocument, u64), ReadError> {
        match self.place(number).ok_or(ReadError::Missing(number))? {
            Place::Tail(local) => {
                let document = self.tail.document(local).ok_or(ReadError::Missing(number))?;
                Ok((document.clone(), evidence_hash(&document.evidence)))
            }
            Place::Part(index, local) => {
                let part = self.part(index).filter(|part| !part.removed().get(local));
                let part = part.ok_or(ReadError::Missing(number))?;
                part.text(local).and_then(|text| wire::decode_text(&text)).ok_or(ReadError::Damaged(number))
            }
        }
    }

    /// Bytes of a document's stored text, as an index keeps it; an estimate for unfolded ones.
    pub fn text_bytes(&self, number: u32) -> u64 {
        match self.place(number) {
            Some(Place::Part(index, local)) => self.part(index).map_or(0, |part| part.text_bytes(local)),
            Some(Place::Tail(local)) => {
                self.tail.document(local).map_or(0, |document| document.content.len() as u64 + 512)
            }
            None => 0,
        }
    }

    /// What the store says of the id with this hash.
    pub fn presence(&self, id: u64) -> Presence {
        match self.tail.find(id) {
            Some(Some(local)) => return Presence::Stored(self.part_documents + local),
            Some(None) => return Presence::Removed,
            None => {}
        }
        let Some(generation) = &self.generation else {
            return Presence::Absent;
        };
        for (part, first) in generation.parts.iter().zip(&self.firsts).rev() {
            if let Some(local) = part.find(id).filter(|local| !part.removed().get(*local)) {
                return Presence::Stored(first + local);
            }
        }
        if generation.is_tombstone(id) { Presence::Removed } else { Presence::Absent }
    }

    /// The `group_id` of a segment.
    pub fn segment_name(&self, segment: u32) -> Option<&str> {
        let mut parts = self.generation.iter().flat_map(|generation| &generation.parts);
        parts.find_map(|part| part.segment_name(segment)).or_else(|| self.tail.segment_name(segment))
    }

    /// The number of the segment with this `group_id`.
    pub fn segment_number(&self, name: &str) -> Option<u32> {
        let hash = id_hash(name);
        let mut parts = self.generation.iter().flat_map(|generation| &generation.parts);
        parts.find_map(|part| part.segment(hash)).or_else(|| self.tail.segment(hash))
    }

    /// Standing documents from newest to oldest with their facts; reads no text and no more than is taken.
    pub fn recent(&self) -> impl Iterator<Item = (u32, DocumentFacts)> {
        // One cursor a source; ties go to the later document.
        let sources = self.firsts.len() + 1;
        let mut heads = BinaryHeap::new();
        for source in 0..sources {
            heads.extend(self.recent_at(source, 0).map(|(time, number)| (time, number, source, 0)));
        }
        std::iter::from_fn(move || {
            loop {
                let (_, number, source, place) = heads.pop()?;
                heads.extend(self.recent_at(source, place + 1).map(|(time, number)| (time, number, source, place + 1)));
                if let Some(facts) = self.facts(number) {
                    return Some((number, facts));
                }
            }
        })
    }

    /// Time and number of the document at a place of a source's order. A removed one has the latest time, so that
    /// it comes up, and is passed over, at once.
    fn recent_at(&self, source: usize, place: usize) -> Option<(i64, u32)> {
        let number = match (self.part(source), self.firsts.get(source)) {
            (Some(part), Some(first)) => part.recent(place)?.checked_add(*first)?,
            _ => self.tail.recent(place)?.checked_add(self.part_documents)?,
        };
        Some((self.facts(number).map_or(i64::MAX, |facts| facts.timestamp_ms), number))
    }

    /// Numbers of all standing documents, ascending.
    pub fn live(&self) -> impl Iterator<Item = u32> {
        (0..self.documents()).filter(|number| self.facts(*number).is_some())
    }

    fn live_count(&self) -> u32 {
        let parts = self.generation.iter().flat_map(|generation| &generation.parts);
        let standing = parts.map(|part| part.entry().documents.saturating_sub(part.removed().count()));
        standing.fold(self.tail.documents(), u32::saturating_add)
    }

    /// True when at most one part, or the tail alone, has profiles with the term.
    fn has_one_source(&self, term: u64) -> bool {
        let holders = self.parts().filter(|(part, _)| part.segment_frequency(term) > 0).count();
        holders + usize::from(!self.tail.routes().list(term).is_empty()) < 2
    }

    fn part(&self, index: usize) -> Option<&Part> {
        self.generation.as_ref()?.parts.get(index)
    }

    fn place(&self, number: u32) -> Option<Place> {
        if let Some(local) = number.checked_sub(self.part_documents) {
            return (local < self.tail.documents()).then_some(Place::Tail(local));
        }
        let index = self.firsts.partition_point(|first| *first <= number).checked_sub(1)?;
        Some(Place::Part(index, number - self.firsts.get(index)?))
    }

    fn parts(&self) -> impl Iterator<Item = (&Part, u32)> {
        let parts = self.generation.iter().flat_map(|generation| &generation.parts);
        parts.zip(self.firsts.iter().copied())
    }
}

impl Postings for Snapshot {
    fn documents(&self) -> u32 {
        self.part_documents.saturating_add(self.tail.documents())
    }

    fn segments(&self) -> u32 {
        self.part_segments.saturating_add(self.tail.new_segments())
    }

    fn mean_length(&self, field: Field) -> f32 {
        let mut totals = self.tail.totals(field);
        for (part, _) in self.parts() {
            if let Some(part) = part.entry().fields.get(field as usize) {
                totals.documents = totals.documents.saturating_add(part.documents);
                totals.tokens = totals.tokens.saturating_add(part.tokens);
            }
        }
        if totals.documents == 0 { 0.0 } else { (totals.tokens as f64 / totals.documents as f64) as f32 }
    }

    fn document_frequency(&self, field: Field, term: &str) -> u32 {
        let parts = self.parts().map(|(part, _)| part.document_frequency(field, term));
        parts.fold(self.tail.document_frequency(field, term), u32::saturating_add)
    }

    fn visit(&self, field: Field, term: &str, visit: &mut dyn FnMut(u32, u32, u32)) {
        for (part, first) in self.parts() {
            let Some(postings) = part.postings() else {
                continue;
            };
            let removed = part.removed();
            if removed.count() == 0 {
                postings.visit(field, term, &mut |document, frequency, length| {
                    visit(first + document, frequency, length);
                });
            } else {
                postings.visit(field, term, &mut |document, frequency, length| {
                    if !removed.get(document) {
                        visit(first + document, frequency, length);
                    }
                });
            }
        }
        self.tail.visit(field, term, &mut |document, frequency, length| {
            visit(self.part_documents + document, frequency, length);
        });
    }

    fn newest_writer(&self, fingerprint: u64) -> Option<u32> {
        let parts = self.parts().filter_map(|(part, first)| part.writer(fingerprint)?.checked_add(first));
        let tail = self.tail.writer(fingerprint).map(|local| self.part_documents + local);
        let standing = parts.chain(tail).filter_map(|number| Some((self.facts(number)?.timestamp_ms, number)));
        standing.max().map(|(_, number)| number)
    }

    fn facts(&self, document: u32) -> Option<DocumentFacts> {
        let facts = match self.place(document)? {
            Place::Part(index, local) => self.part(index)?.facts(local),
            Place::Tail(local) => self.tail.facts(local),
        };
        // A damaged fact must not send a ranker past its arrays.
        facts.filter(|facts| facts.segment < Postings::segments(self))
    }
}

impl RoutingIndex for Snapshot {
    fn segments(&self) -> u32 {
        Postings::segments(self)
    }

    fn segment_frequency(&self, term: &str) -> u32 {
        let hash = id_hash(term);
        let parts = self.parts().map(|(part, _)| part.segment_frequency(hash));
        let total = parts.fold(self.tail.routes().list(hash).len() as u32, u32::saturating_add);
        total.min(Postings::segments(self))
    }

    /// A segment with records in several parts counts, term by term, with the largest of its weights.
    fn visit_segments(&self, term: &str, visit: &mut dyn FnMut(u32, Weights)) {
        let hash = id_hash(term);
        let tail = self.tail.routes().list(hash);
        if self.has_one_source(hash) {
            let visit = &mut |entry: Entry| visit(entry.segment, entry.weights);
            self.parts().for_each(|(part, _)| part.visit_segments(hash, visit));
            tail.iter().for_each(|entry| visit(*entry));
            return;
        }
        let mut merged: BTreeMap<u32, Weights> = BTreeMap::new();
        let mut add = |entry: Entry| {
            let Entry { segment, weights, .. } = entry;
            let kept = merged.entry(segment).or_default();
            kept.terms = kept.terms.max(weights.terms);
            kept.entities = kept.entities.max(weights.entities);
            kept.topics = kept.topics.max(weights.topics);
            kept.local_memory = kept.local_memory.max(weights.local_memory);
        };
        self.parts().for_each(|(part, _)| part.visit_segments(hash, &mut add));
        tail.iter().for_each(|entry| add(*entry));
        merged.into_iter().for_each(|(segment, weights)| visit(segment, weights));
    }

    /// As [`RoutingIndex::visit_segments`], but the largest of the local weights counts.
    fn visit_local(&self, term: &str, visit: &mut dyn FnMut(u32, f32)) {
        let hash = id_hash(term);
        let tail = self.tail.routes().list(hash).iter().map(|entry| (entry.segment, local_weight(entry.weights)));
        if self.has_one_source(hash) {
            self.parts().for_each(|(part, _)| part.visit_local(hash, visit));
            tail.for_each(|(segment, weight)| visit(segment, weight));
            return;
        }
        let mut merged: BTreeMap<u32, f32> = BTreeMap::new();
        let mut add = |segment, weight: f32| {
            let kept = merged.entry(segment).or_insert(weight);
            *kept = kept.max(weight);
        };
        self.parts().for_each(|(part, _)| part.visit_local(hash, &mut add));
        tail.for_each(|(segment, weight)| add(segment, weight));
        merged.into_iter().for_each(|(segment, weight)| visit(segment, weight));
    }

    /// As [`RoutingIndex::visit_local`]; the first part, by far the largest, is added in one run.
    fn add_local(&self, term: &str, factor: f32, scores: &mut [f32]) {
        let hash = id_hash(term);
        let tail = self.tail.routes().list(hash).iter().map(|entry| (entry.segment, local_weight(entry.weights)));
        let mut later: BTreeMap<u32, f32> = tail.collect();
        for (part, _) in self.parts().skip(1) {
            part.visit_local(hash, &mut |segment, weight| {
                let kept = later.entry(segment).or_insert(weight);
                *kept = kept.max(weight);
            });
        }
        // What a later source says of a segment takes the place of what the first part would add, when it is more.
        let before: Vec<(u32, f32, f32)> = later
            .into_iter()
            .filter_map(|(segment, weight)| Some((segment, weight, scores.get(segment as usize).copied()?)))
            .collect();
        if let Some((first, _)) = self.parts().next() {
            first.add_local(hash, factor, scores);
        }
        for (segment, weight, before) in before {
            if let Some(score) = scores.get_mut(segment as usize) {
                *score = score.max(before + factor * weight);
            }
        }
    }

    fn visit_buckets(&self, term: &str, visit: &mut dyn FnMut(u32, Buckets)) {
        let hash = id_hash(term);
        let tail = self.tail.routes();
        if self.parts().count() + usize::from(!tail.facts.is_empty()) < 2 {
            self.parts().for_each(|(part, _)| part.visit_buckets(hash, visit));
            tail.visit_buckets(hash, visit);
            return;
        }
        let mut merged: BTreeMap<u32, Buckets> = BTreeMap::new();
        let mut add = |segment, buckets| {
            let kept = merged.entry(segment).or_default();
            *kept = kept.or(buckets);
        };
        self.parts().for_each(|(part, _)| part.visit_buckets(hash, &mut add));
        tail.visit_buckets(hash, &mut add);
        merged.into_iter().for_each(|(segment, buckets)| visit(segment, buckets));
    }

    fn fill_flags(&self, flags: &mut [Flags]) {
        self.parts().for_each(|(part, _)| part.fill_flags(flags));
        self.tail.routes().fill_flags(flags);
    }

    fn visit_connections(&self, segment: u32, visit: &mut dyn FnMut(u32)) {
        self.parts().for_each(|(part, _)| part.visit_connections(segment, visit));
        self.tail.routes().visit_connections(segment, visit);
    }
}
