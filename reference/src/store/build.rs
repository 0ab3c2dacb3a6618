//! Builds the parts of the index for a range of the journal: one, or for a very large range several.
//!
//! Two passes over the range: the first reads ids only and finds which line of each document counts, the second
//! indexes those lines. Memory is bounded by postings, fingerprints and profiles of one part and some thirty bytes for
//! each id of the range, never by texts, which are streamed. The same range gives the same documents in the same order.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::deadline::Deadline;
use crate::document::{Concept, SourceDocument};
use crate::rank::fields::field_terms;
use crate::route::gathering::Gathering;
use crate::store::error::FoldError;
use crate::store::journal::{Journal, Position};
use crate::store::manifest::{FieldTotals, PartEntry};
use crate::store::part::Part;
use crate::store::routing;
use crate::store::side::{SideEntry, SideWriter};
use crate::store::tantivy::PostingsWriter;
use crate::store::wire::{self, Head, id_hash};

/// Lines between two looks at the deadline.
const LINES_PER_CHECK: usize = 64;

/// What replaying a range of the journal leaves standing.
#[derive(Debug, Default)]
pub struct Replay {
    /// By id hash: the line that counts, or `None` when the id was removed.
    pub last: HashMap<u64, Option<Position>>,
    /// Ids that are kept out.
    pub tombstones: HashSet<u64>,
    /// Where the range ended.
    pub end: Option<Position>,
    /// Damaged lines in it.
    pub damaged: u64,
}

/// Built parts, not yet published.
#[derive(Debug)]
pub struct Built {
    /// None when no document is left standing; one unless there are more documents than a part may have.
    pub parts: Vec<PartEntry>,
    /// The replay behind it.
    pub replay: Replay,
}

impl Replay {
    /// Takes in one line.
    pub fn apply(&mut self, position: Position, head: Head) {
        match head {
            Head::Upsert { id, restore } => {
                if restore {
                    self.tombstones.remove(&id);
                }
                if !self.tombstones.contains(&id) {
                    self.last.insert(id, Some(position));
                }
            }
            Head::Remove { ids } => {
                self.last.extend(ids.iter().map(|id| (*id, None)));
                self.tombstones.extend(ids);
            }
            Head::Header { .. } | Head::Unknown => {}
        }
    }

    /// Replays the journal behind `start`, with the tombstones that held before it.
    pub fn of(
        journal: &Journal,
        start: Option<Position>,
        tombstones: HashSet<u64>,
        deadline: Option<Deadline>,
    ) -> Result<Replay, FoldError> {
        let mut replay = Replay { tombstones, ..Replay::default() };
        let mut check = Check::new(deadline);
        let pass = journal.read(start, &mut |position, json| {
            replay.apply(position, wire::decode_head(json));
            check.go_on()
        })?;
        check.result()?;
        replay.end = pass.end;
        replay.damaged = pass.damaged;
        Ok(replay)
    }

    /// Number of documents left standing.
    pub fn documents(&self) -> u64 {
        self.last.values().flatten().count() as u64
    }

    /// True when this line is the one that counts for its id.
    pub fn counts(&self, position: Position, id: u64) -> bool {
        self.last.get(&id) == Some(&Some(position))
    }
}

/// Looks at the deadline once in a while.
struct Check {
    deadline: Option<Deadline>,
    lines: usize,
    late: bool,
}

impl Check {
    fn new(deadline: Option<Deadline>) -> Check {
        Check { deadline, lines: 0, late: false }
    }

    fn go_on(&mut self) -> bool {
        self.lines += 1;
        if self.lines.is_multiple_of(LINES_PER_CHECK) {
            self.late |= self.deadline.is_some_and(|deadline| deadline.expired());
        }
        !self.late
    }

    fn result(&self) -> Result<(), FoldError> {
        if self.late { Err(FoldError::NoTime) } else { Ok(()) }
    }
}

/// Builds the parts of everything behind `start` into the folder `dir`, at most `most` documents each, their files
/// named after `generation`. `prior` are the parts before them.
#[expect(clippy::too_many_arguments, reason = "one caller, which has each of them by this name")]
pub fn build_parts(
    dir: &Path,
    generation: u64,
    journal: &Journal,
    start: Option<Position>,
    prior: &[&Part],
    tombstones: HashSet<u64>,
    deadline: Option<Deadline>,
    most: u64,
) -> Result<Built, FoldError> {
    let replay = Replay::of(journal, start, tombstones, deadline)?;
    let documents = replay.documents();
    let mut entries = Vec::new();
    let mut built: Vec<Part> = Vec::new();
    let mut next = (documents > 0).then(|| start.unwrap_or_default());
    while let Some(from) = next.take() {
        let stem = match entries.len() {
            0 => format!("part-{generation}"),
            nth => format!("part-{generation}-{nth}"),
        };
        let before: Vec<&Part> = prior.iter().copied().chain(&built).collect();
        let mut builder = PartBuilder::create(dir, stem, &before, documents.min(most))?;
        let mut check = Check::new(deadline);
        let mut failure = None;
        journal.read(Some(from), &mut |position, json| {
            if let Head::Upsert { id, .. } = wire::decode_head(json)
                && replay.counts(position, id)
            {
                if builder.documents() >= most {
                    next = Some(position);
                    return false;
                }
                if let Some(document) = wire::decode_document(json)
                    && let Err(error) = builder.add(&document)
                {
                    failure = Some(error);
                }
            }
            failure.is_none() && check.go_on()
        })?;
        check.result()?;
        if let Some(error) = failure {
            return Err(error);
        }
        let mut entry = builder.finish()?;
        entry.start = (from.file, from.offset);
        if next.is_some() {
            // The parts behind it number their sessions after it.
            built.push(Part::open(dir, &entry, 0)?);
        }
        entries.push(entry);
    }
    Ok(Built { parts: entries, replay })
}

/// Collects the arrays of a part while its documents pass.
struct PartBuilder<'a> {
    dir: PathBuf,
    prior: &'a [&'a Part],
    postings: PostingsWriter,
    side: SideWriter,
    /// Start of the names of its files.
    stem: String,
    facts: Vec<(i64, u32, Concept)>,
    text_ends: Vec<u64>,
    ids: Vec<(u64, u32)>,
    writers: Vec<(u64, u32)>,
    segments: HashMap<u64, u32>,
    segment_names: Vec<String>,
    first_segment: u32,
    fields: [FieldTotals; 4],
    routing: Gathering,
}

impl<'a> PartBuilder<'a> {
    fn create(dir: &Path, stem: String, prior: &'a [&'a Part], documents: u64) -> Result<PartBuilder<'a>, FoldError> {
        if documents >= u64::from(u32::MAX / 2) {
            return Err(FoldError::TooLarge("two billion documents"));
        }
        let mut side = SideWriter::create(dir, &format!("{stem}.side"))?;
        side.start("texts");
        Ok(PartBuilder {
            dir: dir.to_path_buf(),
            prior,
            postings: PostingsWriter::create(dir, documents)?,
            side,
            stem,
            facts: Vec::new(),
            text_ends: Vec::new(),
            ids: Vec::new(),
            writers: Vec::new(),
            segments: HashMap::new(),
            segment_names: Vec::new(),
            first_segment: prior.last().map_or(0, |part| part.entry().first_segment + part.entry().segments),
            fields: Default::default(),
            routing: Gathering::default(),
        })
    }

    fn documents(&self) -> u64 {
        self.facts.len() as u64
    }

    fn add(&mut self, document: &SourceDocument) -> Result<(), FoldError> {
        let number = u32::try_from(self.facts.len()).unwrap_or(u32::MAX);
        let text = wire::encode_text(document)?;
        self.side.write(&text)?;
        self.text_ends.push(self.text_ends.last().copied().unwrap_or(0) + text.len() as u64);
        let segment = self.segment(&document.group_id);
        self.facts.push((document.timestamp_ms.unwrap_or(i64::MIN), segment, document.concept));
        self.ids.push((id_hash(&document.doc_id), number));
        self.writers.extend(document.evidence.fingerprints.iter().map(|line| (*line, number)));
        let lengths = self.postings.add(&|field, emit| field_terms(document, field, emit))?;
        for (totals, length) in self.fields.iter_mut().zip(lengths) {
            totals.documents += u64::from(length > 0);
            totals.tokens += u64::from(length);
        }
        self.routing.add(segment, document);
        Ok(())
    }

    fn segment(&mut self, name: &str) -> u32 {
        let hash = id_hash(name);
        let known = self.prior.iter().find_map(|part| part.segment(hash));
        known.unwrap_or_else(|| {
            *self.segments.entry(hash).or_insert_with(|| {
                self.segment_names.push(name.to_owned());
                self.first_segment + self.segment_names.len() as u32 - 1
            })
        })
    }

    fn finish(self) -> Result<PartEntry, FoldError> {
        let PartBuilder { postings, mut side, facts, mut ids, mut writers, routing, .. } = self;
        let postings = postings.finish(&format!("{}.postings", self.stem))?;

        let time = |number: u32| facts.get(number as usize).map_or(i64::MIN, |(time, ..)| *time);
        side.section(
            "facts",
            facts.iter().map(|(time, segment, concept)| {
                let mut bytes = [0; 16];
                bytes[..8].copy_from_slice(&time.to_le_bytes());
                bytes[8..12].copy_from_slice(&segment.to_le_bytes());
                bytes[12] = *concept as u8;
                bytes
            }),
        )?;
        side.section("text-ends", self.text_ends.iter().map(|end| end.to_le_bytes()))?;

        ids.sort_unstable();
        write_table(&mut side, "id", &ids)?;

        // The newest writer of a line stays: the last of its run in the order of time, then number.
        writers.sort_unstable_by_key(|(line, number)| (*line, time(*number), *number));
        writers.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 = next.1;
            }
            same
        });
        write_table(&mut side, "writer", &writers)?;
        drop(writers);

        let mut segments: Vec<(u64, u32)> = self.segments.into_iter().collect();
        segments.sort_unstable();
        write_table(&mut side, "segment", &segments)?;
        let ends = self.segment_names.iter().scan(0_u64, |end, name| {
            *end += name.len() as u64;
            Some(end.to_le_bytes())
        });
        side.section("segment-ends", ends)?;
        side.section("segment-names", &self.segment_names)?;

        let mut recent: Vec<u32> = (0..facts.len() as u32).collect();
        recent.sort_unstable_by_key(|number| std::cmp::Reverse((time(*number), *number)));
        side.section("recent", recent.iter().map(|number| number.to_le_bytes()))?;

        let profiles = routing.finish();
        routing::write(&profiles, &mut side)?;
        let routes = routing::write_rare(&profiles, &self.dir, &format!("{}.routes", self.stem))?;
        let side: SideEntry = side.finish()?;
        Ok(PartEntry {
            documents: facts.len() as u32,
            first_segment: self.first_segment,
            segments: self.segment_names.len() as u32,
            fields: self.fields,
            start: (0, 0),
            postings,
            side,
            routes,
        })
    }
}

fn write_table(side: &mut SideWriter, name: &str, table: &[(u64, u32)]) -> Result<(), FoldError> {
    side.section(&format!("{name}-keys"), table.iter().map(|(key, _)| key.to_le_bytes()))?;
    Ok(side.section(&format!("{name}-values"), table.iter().map(|(_, value)| value.to_le_bytes()))?)
}
