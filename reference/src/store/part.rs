//! One folded part of the index, mapped: postings, and our own arrays beside them.
//!
//! Sections of the side file, all little-endian: `facts` (16 bytes a document: time `i64`, segment `u32`, kind, three
//! zero bytes), `text-ends` and `texts`, `id-keys`/`id-values`, `writer-keys`/`writer-values`,
//! `segment-keys`/`segment-values` with `segment-ends`/`segment-names` for the segments that the part introduces,
//! `recent` (documents, newest first) and the routing sections (`routing`).
//! Every offset is checked before use. The postings are opened at their first use: a call that only lists recent
//! records does not pay for them. So is the file of what only some strategies ask for; when it has gone by then,
//! because a newer generation took the place of this one, it reads as empty.

use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::document::Concept;
use crate::route::bucket::Buckets;
use crate::route::gathering::Entry;
use crate::route::profile::Flags;
use crate::store::error::FileError;
use crate::store::journal::Position;
use crate::store::manifest::PartEntry;
use crate::store::postings::{DocumentFacts, Field};
use crate::store::side::Side;
use crate::store::tantivy::PartPostings;
use crate::store::{routing, table};

/// Bytes of one document's facts.
pub(crate) const FACT_BYTES: usize = 16;

/// A mapped part. Document numbers are the part's own.
#[derive(Debug)]
pub struct Part {
    entry: PartEntry,
    side: Side,
    packed: Side,
    postings: OnceLock<Option<PartPostings>>,
    rare: OnceLock<Option<Side>>,
    dir: PathBuf,
    verify_bytes: u64,
    removed: Bits,
}

impl Part {
    /// Maps the files of a part; files of at most `verify_bytes` are checked against their checksums.
    pub fn open(dir: &Path, entry: &PartEntry, verify_bytes: u64) -> Result<Part, FileError> {
        let side = Side::open(dir, &entry.side, verify_bytes)?;
        let packed = Side::open(dir, &entry.postings, verify_bytes)?;
        let facts = side.section("facts").len() / FACT_BYTES;
        if facts != entry.documents as usize {
            let source = std::io::Error::other("it does not hold the documents that the manifest counts");
            return Err(FileError { action: "use", path: dir.join(&entry.side.name), source });
        }
        let removed = Bits::new(entry.documents);
        Ok(Part {
            entry: entry.clone(),
            side,
            packed,
            postings: OnceLock::new(),
            rare: OnceLock::new(),
            dir: dir.to_path_buf(),
            verify_bytes,
            removed,
        })
    }

    /// What the manifest says of the part.
    pub fn entry(&self) -> &PartEntry {
        &self.entry
    }

    /// Where its range of the journal starts.
    pub fn start(&self) -> Position {
        Position { file: self.entry.start.0, offset: self.entry.start.1 }
    }

    /// Compares all files with their checksums and opens the postings.
    pub fn intact(&self) -> bool {
        let is_rare_intact = self.rare().is_some_and(Side::intact);
        is_rare_intact && self.side.intact() && self.packed.intact() && self.postings().is_some()
    }

    /// What only some strategies ask for; `None` when it cannot be opened.
    fn rare(&self) -> Option<&Side> {
        self.rare.get_or_init(|| Side::open(&self.dir, &self.entry.routes, self.verify_bytes).ok()).as_ref()
    }

    /// Its postings; `None` when they are damaged.
    pub fn postings(&self) -> Option<&PartPostings> {
        self.postings.get_or_init(|| PartPostings::open(&self.packed, self.entry.documents)).as_ref()
    }

    /// Marks a document as removed or replaced.
    pub fn mark_removed(&mut self, document: u32) {
        self.removed.set(document);
    }

    /// Documents that are removed or replaced.
    pub fn removed(&self) -> &Bits {
        &self.removed
    }

    /// Facts of a document that is not removed.
    pub fn facts(&self, document: u32) -> Option<DocumentFacts> {
        if self.removed.get(document) {
            return None;
        }
        let at = (document as usize).checked_mul(FACT_BYTES)?;
        let facts = self.side.section("facts").get(at..at.checked_add(FACT_BYTES)?)?;
        let concept = match facts.get(12)? {
            0 => Concept::Checkpoint,
            1 => Concept::Outcome,
            2 => Concept::SessionSummary,
            _ => return None,
        };
        Some(DocumentFacts { timestamp_ms: table::i64_at_byte(facts, 0)?, segment: table::u32_at(facts, 2)?, concept })
    }

    /// The stored text of a document, removed or not.
    pub fn text(&self, document: u32) -> Option<Cow<'_, [u8]>> {
        self.side.bytes("texts", self.run("text-ends", document)?)
    }

    /// Length of a document's stored text in bytes.
    pub fn text_bytes(&self, document: u32) -> u64 {
        self.run("text-ends", document).map_or(0, |run| run.len() as u64)
    }

    /// The document with this id hash, removed or not.
    pub fn find(&self, id: u64) -> Option<u32> {
        self.side.lookup("id-keys", "id-values", id).filter(|document| *document < self.entry.documents)
    }

    /// The newest document of the part that wrote a line, removed or not.
    pub fn writer(&self, fingerprint: u64) -> Option<u32> {
        self.side
            .lookup("writer-keys", "writer-values", fingerprint)
            .filter(|document| *document < self.entry.documents)
    }

    /// The number of a segment that this part introduced, by the hash of its name.
    pub fn segment(&self, name: u64) -> Option<u32> {
        self.side.lookup("segment-keys", "segment-values", name)
    }

    /// The name of a segment that this part introduced.
    pub fn segment_name(&self, segment: u32) -> Option<&str> {
        let run = self.run("segment-ends", segment.checked_sub(self.entry.first_segment)?)?;
        std::str::from_utf8(self.side.section("segment-names").get(run)?).ok()
    }

    /// The document at this place of the order from newest to oldest, removed or not.
    pub fn recent(&self, place: usize) -> Option<u32> {
        self.side.u32_at("recent", place)
    }

    /// Segments whose profile has the term.
    pub fn segment_frequency(&self, term: u64) -> u32 {
        routing::frequency(&self.side, term)
    }

    /// Calls `visit` for each segment whose profile has the term.
    pub fn visit_segments(&self, term: u64, visit: &mut dyn FnMut(Entry)) {
        routing::visit(&self.side, term, visit);
    }

    /// Calls `visit(segment, buckets)` for each bucket that a segment has the term in.
    pub fn visit_buckets(&self, term: u64, visit: &mut dyn FnMut(u32, Buckets)) {
        routing::visit_listed(&self.side, term, visit);
        if let Some(rare) = self.rare() {
            routing::visit_typed(rare, term, visit);
        }
    }

    /// Adds the flags of each segment with records here.
    pub fn fill_flags(&self, flags: &mut [Flags]) {
        if let Some(rare) = self.rare() {
            routing::fill_flags(rare, flags);
        }
    }

    /// Calls `visit` for each connection term of a segment.
    pub fn visit_connections(&self, segment: u32, visit: &mut dyn FnMut(u32)) {
        if let Some(rare) = self.rare() {
            routing::visit_connections(rare, segment, visit);
        }
    }

    /// Calls `visit` with the local weight of each segment whose profile has the term.
    pub fn visit_local(&self, term: u64, visit: &mut dyn FnMut(u32, f32)) {
        routing::visit_local(&self.side, term, visit);
    }

    /// Adds `factor` times the local weight of the term to the score of each segment that has it.
    pub fn add_local(&self, term: u64, factor: f32, scores: &mut [f32]) {
        routing::add_local(&self.side, term, factor, scores);
    }

    /// Documents that hold the term, removed ones included.
    pub fn document_frequency(&self, field: Field, term: &str) -> u32 {
        self.postings().map_or(0, |postings| postings.document_frequency(field, term))
    }

    /// The `index`-th of consecutive runs that are given by their ends.
    fn run(&self, ends: &str, index: u32) -> Option<Range<usize>> {
        let start = match index.checked_sub(1) {
            Some(before) => self.side.u64_at(ends, before as usize)?,
            None => 0,
        };
        let end = self.side.u64_at(ends, index as usize)?;
        Some(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
    }
}

/// A set of document numbers; takes no memory while it is empty.
#[derive(Debug, Clone, Default)]
pub struct Bits {
    words: Vec<u64>,
    size: u32,
    count: u32,
}

impl Bits {
    /// An empty set of numbers below `size`.
    pub fn new(size: u32) -> Bits {
        Bits { words: Vec::new(), size, count: 0 }
    }

    /// Adds a number; one that is too large is left out.
    pub fn set(&mut self, number: u32) {
        if self.words.is_empty() && number < self.size {
            self.words = vec![0; self.size as usize / 64 + 1];
        }
        if let Some(word) = self.words.get_mut(number as usize / 64).filter(|_| number < self.size) {
            self.count += u32::from(*word >> (number % 64) & 1 == 0);
            *word |= 1 << (number % 64);
        }
    }

    /// True when the number is in the set.
    pub fn get(&self, number: u32) -> bool {
        self.words.get(number as usize / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// How many numbers are in it.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// All numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        (0..self.size).filter(|number| self.get(*number))
    }
}
