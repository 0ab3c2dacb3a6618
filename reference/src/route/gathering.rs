//! From records to the profiles of their segments, turned around: by term.
//!
//! A segment's distributions are the sums over its records, normalised; buckets and connection terms are the
//! strongest of each. The same records give the same tables, in whatever order their segments come; of equally strong
//! terms those with the smaller hash stay. Not here: bytes on disk (`store::routing`).

use std::collections::HashMap;

use crate::document::SourceDocument;
use crate::route::Weights;
use crate::route::bucket::{Buckets, MOST_ACTIONS, MOST_OBJECTS, MOST_SUBJECTS, MOST_TIMES, is_action};
use crate::route::profile::{self, Flags, Gather};
use crate::store::wire::id_hash;

/// Connection terms of a segment: its strongest entities, topics and window terms.
const CONNECTIONS: [(usize, usize); 3] = [(1, 16), (2, 8), (3, 16)];

/// What one segment's profile says of one term.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// The segment.
    pub segment: u32,
    /// Shares; not all 0.
    pub weights: Weights,
    /// Of subject and object, which the term stands in.
    pub buckets: Buckets,
}

/// What one segment's profile is as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The segment.
    pub segment: u32,
    /// What it has.
    pub flags: Flags,
    /// Upper halves of the hashes of its connection terms, ascending.
    pub connections: Vec<u32>,
}

/// Profiles of many segments.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tables {
    /// By term hash, ascending: entries by ascending segment.
    pub lists: Vec<(u64, Vec<Entry>)>,
    /// By term hash, ascending: ascending segments that have the term among their actions or times.
    pub typed: Vec<(u64, Vec<(u32, Buckets)>)>,
    /// By segment, ascending.
    pub facts: Vec<Facts>,
}

impl Tables {
    /// Entries of a term.
    pub fn list(&self, hash: u64) -> &[Entry] {
        let found = self.lists.binary_search_by_key(&hash, |(hash, _)| *hash).ok();
        found.and_then(|at| self.lists.get(at)).map_or(&[], |(_, list)| list)
    }

    /// Calls `visit(segment, buckets)` for each bucket that a segment has the term in.
    pub fn visit_buckets(&self, hash: u64, visit: &mut dyn FnMut(u32, Buckets)) {
        self.list(hash).iter().for_each(|entry| visit(entry.segment, entry.buckets));
        let found = self.typed.binary_search_by_key(&hash, |(hash, _)| *hash).ok();
        let typed = found.and_then(|at| self.typed.get(at)).into_iter().flat_map(|(_, list)| list);
        typed.for_each(|(segment, buckets)| visit(*segment, *buckets));
    }

    /// Adds the flags of each segment.
    pub fn fill_flags(&self, flags: &mut [Flags]) {
        for facts in &self.facts {
            if let Some(flags) = flags.get_mut(facts.segment as usize) {
                flags.add(facts.flags);
            }
        }
    }

    /// Calls `visit` for each connection term of a segment.
    pub fn visit_connections(&self, segment: u32, visit: &mut dyn FnMut(u32)) {
        let found = self.facts.binary_search_by_key(&segment, |facts| facts.segment).ok();
        let facts = found.and_then(|at| self.facts.get(at));
        facts.into_iter().flat_map(|facts| &facts.connections).for_each(|term| visit(*term));
    }
}

/// Gathers the profiles of segments.
#[derive(Debug, Default)]
pub struct Gathering {
    numbers: HashMap<u64, u32>,
    /// By term number: hash, and whether it is an action.
    terms: Vec<(u64, bool)>,
    /// (segment, term number) and raw weights; summed at the end.
    entries: Vec<(u64, [f32; 4])>,
    /// (segment, term number) of actions and times.
    notes: Vec<(u64, Buckets)>,
}

/// Takes in one record.
struct Record<'a> {
    segment: u32,
    all: &'a mut Gathering,
}

impl Gather for Record<'_> {
    fn weigh(&mut self, term: &str, raw: Weights) {
        let key = self.all.key(self.segment, term);
        let raw = [raw.terms, raw.entities, raw.topics, raw.local_memory];
        match self.all.entries.last_mut().filter(|(last, _)| *last == key) {
            Some((_, sum)) => sum.iter_mut().zip(raw).for_each(|(sum, raw)| *sum += raw),
            None => self.all.entries.push((key, raw)),
        }
    }

    fn note(&mut self, term: &str, bucket: Buckets) {
        let key = self.all.key(self.segment, term);
        self.all.notes.push((key, bucket));
    }
}

impl Gathering {
    /// Adds a record to its segment's profile.
    pub fn add(&mut self, segment: u32, document: &SourceDocument) {
        profile::of_record(document, &mut Record { segment, all: self });
    }

    fn key(&mut self, segment: u32, term: &str) -> u64 {
        let hash = id_hash(term);
        let next = u32::try_from(self.terms.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(hash).or_insert(next);
        if number == next {
            self.terms.push((hash, is_action(term)));
        }
        u64::from(segment) << 32 | u64::from(number)
    }

    /// The profiles of everything that was added.
    pub fn finish(mut self) -> Tables {
        self.numbers = HashMap::new();
        self.entries.sort_by_key(|(key, _)| *key);
        self.entries.dedup_by(|next, sum| {
            let same = next.0 == sum.0;
            if same {
                sum.1.iter_mut().zip(next.1).for_each(|(sum, raw)| *sum += raw);
            }
            same
        });
        self.notes.sort_unstable_by_key(|(key, bucket)| (*key, bucket.bits()));
        self.notes.dedup();
        let mut facts: Vec<Facts> = Vec::new();
        let mut buckets = vec![Buckets::default(); self.entries.len()];
        let mut rest = buckets.as_mut_slice();
        for profile in self.entries.chunk_by_mut(|a, b| a.0 >> 32 == b.0 >> 32) {
            let Some((mine, behind)) = rest.split_at_mut_checked(profile.len()) else { break };
            rest = behind;
            let mut profile = Profile { entries: profile, terms: &self.terms };
            profile.normalise();
            profile.mark(mine);
            facts.push(profile.facts());
        }
        let typed = self.typed(&mut facts);
        Tables { lists: self.lists(buckets), typed, facts }
    }

    /// Turns the profiles around; the stable order keeps segments ascending.
    fn lists(self, buckets: Vec<Buckets>) -> Vec<(u64, Vec<Entry>)> {
        let Gathering { terms, entries, .. } = self;
        let mut all: Vec<((u64, [f32; 4]), Buckets)> = entries.into_iter().zip(buckets).collect();
        all.retain(|((_, weights), _)| weights.iter().any(|weight| *weight > 0.0));
        all.sort_by_key(|((key, _), _)| *key as u32);
        let mut lists: Vec<(u64, Vec<Entry>)> = all
            .chunk_by(|((a, _), _), ((b, _), _)| *a as u32 == *b as u32)
            .filter_map(|chunk| {
                let ((key, _), _) = chunk.first()?;
                let (hash, _) = terms.get(*key as u32 as usize)?;
                let entry = |((key, weights), buckets): &((u64, [f32; 4]), Buckets)| {
                    let [terms, entities, topics, local_memory] = *weights;
                    let weights = Weights { terms, entities, topics, local_memory };
                    Entry { segment: (key >> 32) as u32, weights, buckets: *buckets }
                };
                Some((*hash, chunk.iter().map(entry).collect()))
            })
            .collect();
        lists.sort_unstable_by_key(|(hash, _)| *hash);
        lists
    }

    /// Actions and times by term, and the flag of the time in the facts of their segments.
    fn typed(&mut self, facts: &mut Vec<Facts>) -> Vec<(u64, Vec<(u32, Buckets)>)> {
        let hash = |key: u64| self.terms.get(key as u32 as usize).map_or(0, |(hash, _)| *hash);
        let mut kept: Vec<(u64, u32, Buckets)> = Vec::new();
        for notes in self.notes.chunk_by(|a, b| a.0 >> 32 == b.0 >> 32) {
            for (bucket, most) in [(Buckets::TIME, MOST_TIMES), (Buckets::ACTION, MOST_ACTIONS)] {
                let mine = notes.iter().filter(|(_, noted)| *noted == bucket);
                let mut mine: Vec<(u64, u32, Buckets)> =
                    mine.map(|(key, _)| (hash(*key), (key >> 32) as u32, bucket)).collect();
                mine.sort_unstable_by_key(|(hash, ..)| *hash);
                mine.truncate(most);
                if let Some((_, segment, _)) = mine.first().filter(|_| bucket == Buckets::TIME) {
                    note_time(facts, *segment);
                }
                kept.append(&mut mine);
            }
        }
        self.notes = Vec::new();
        kept.sort_unstable_by_key(|(hash, segment, bucket)| (*hash, *segment, bucket.bits()));
        let list = |chunk: &[(u64, u32, Buckets)]| {
            let (hash, ..) = chunk.first()?;
            Some((*hash, chunk.iter().map(|(_, segment, bucket)| (*segment, *bucket)).collect()))
        };
        kept.chunk_by(|a, b| a.0 == b.0).filter_map(list).collect()
    }
}

/// Sets the flag of the time for a segment, which may have nothing else.
fn note_time(facts: &mut Vec<Facts>, segment: u32) {
    let place = facts.partition_point(|facts| facts.segment < segment);
    if facts.get(place).is_none_or(|facts| facts.segment != segment) {
        facts.insert(place, Facts { segment, flags: Flags::default(), connections: Vec::new() });
    }
    if let Some(facts) = facts.get_mut(place) {
        facts.flags.see_time();
    }
}

/// The entries of one segment.
struct Profile<'a> {
    entries: &'a mut [(u64, [f32; 4])],
    terms: &'a [(u64, bool)],
}

impl Profile<'_> {
    /// Brings each distribution to sum 1, after cutting the window's to its strongest terms.
    fn normalise(&mut self) {
        let kept = self.strongest(3, profile::TOP_LOCAL_MEMORY);
        let mut next = kept.iter().peekable();
        for (place, (_, weights)) in self.entries.iter_mut().enumerate() {
            if next.next_if(|kept| **kept == place).is_none() {
                weights[3] = 0.0;
            }
        }
        let mut sums = [0.0_f32; 4];
        for (_, weights) in self.entries.iter() {
            sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += *weight);
        }
        for (_, weights) in self.entries.iter_mut() {
            weights.iter_mut().zip(sums).for_each(|(weight, sum)| *weight /= sum.max(f32::MIN_POSITIVE));
        }
    }

    /// Places of the `most` entries that weigh most in a distribution, ascending; entries without weight never.
    fn strongest(&self, distribution: usize, most: usize) -> Vec<usize> {
        self.strongest_by(most, &|_, weights| weights.get(distribution).copied().unwrap_or(0.0))
    }

    fn strongest_by(&self, most: usize, weight: &dyn Fn(bool, &[f32; 4]) -> f32) -> Vec<usize> {
        let mut found: Vec<(f32, u64, usize)> = Vec::new();
        for (place, (key, weights)) in self.entries.iter().enumerate() {
            let (hash, is_action) = self.terms.get(*key as u32 as usize).copied().unwrap_or_default();
            let weight = weight(is_action, weights);
            if weight > 0.0 {
                found.push((weight, hash, place));
            }
        }
        if found.len() > most {
            found.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            found.truncate(most);
            found.sort_unstable_by_key(|(.., place)| *place);
        }
        found.into_iter().map(|(.., place)| place).collect()
    }

    /// Marks subjects and objects.
    fn mark(&self, buckets: &mut [Buckets]) {
        // Entities come before topics, however much a topic weighs.
        let subject = |_: bool, weights: &[f32; 4]| {
            if weights[1] > 0.0 { 1.0 + weights[1] } else { weights[2].min(1.0) }
        };
        let object = |is_action: bool, weights: &[f32; 4]| if is_action { 0.0 } else { weights[0] };
        let subjects = self.strongest_by(MOST_SUBJECTS, &subject);
        let objects = self.strongest_by(MOST_OBJECTS, &object);
        let marks = subjects.into_iter().map(|place| (place, Buckets::SUBJECT));
        for (place, bucket) in marks.chain(objects.into_iter().map(|place| (place, Buckets::OBJECT))) {
            if let Some(buckets) = buckets.get_mut(place) {
                *buckets = buckets.or(bucket);
            }
        }
    }

    fn facts(&self) -> Facts {
        let mut flags = Flags::default();
        for (_, [terms, entities, topics, local_memory]) in self.entries.iter() {
            let (terms, entities, topics, local_memory) = (*terms, *entities, *topics, *local_memory);
            flags.see(Weights { terms, entities, topics, local_memory });
        }
        let places = CONNECTIONS.iter().flat_map(|(distribution, most)| self.strongest(*distribution, *most));
        let hashes = places.filter_map(|place| {
            let (key, _) = self.entries.get(place)?;
            self.terms.get(*key as u32 as usize).map(|(hash, _)| (hash >> 32) as u32)
        });
        let mut connections: Vec<u32> = hashes.collect();
        connections.sort_unstable();
        connections.dedup();
        Facts { segment: self.entries.first().map_or(0, |(key, _)| (key >> 32) as u32), flags, connections }
    }
}
