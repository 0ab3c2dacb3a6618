//! The routing index of a part: term hash to the segments whose profile has the term, with their weights.
//!
//! Sections `route-keys` (sorted hashes), `route-ends` (`u64`, end of each list), `route-counts` (`u32`, segments in
//! each) and `route-lists`. A list is a run of entries in ascending segment order: the difference to the segment
//! before as LEB128, one byte of flags (which of the four weights follow), and each present weight as `f32`.
//! Exact, so that every strategy can be computed from it; absent weights, the usual case, cost nothing.
//! Beside it `route-local` holds, entry for entry, segment (`u32`) and local weight (`f32`), for the strategy that a
//! hook runs under a deadline: a tenth of the cost of decoding a list.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use crate::document::SourceDocument;
use crate::route::local_distinctiveness::local_weight;
use crate::route::{Weights, profile};
use crate::store::error::FoldError;
use crate::store::side::{Side, SideWriter};
use crate::store::wire::id_hash;

/// Gathers the profiles of a part's segments.
#[derive(Debug, Default)]
pub struct RoutingBuilder {
    numbers: HashMap<u64, u32>,
    hashes: Vec<u64>,
    /// (segment, term number) and raw weights; summed at the end.
    entries: Vec<(u64, [f32; 4])>,
}

/// Lists by term hash: ascending (segment, weights).
pub type Lists = Vec<(u64, Vec<(u32, Weights)>)>;

impl RoutingBuilder {
    /// Adds a record to its segment's profile.
    pub fn add(&mut self, segment: u32, document: &SourceDocument) {
        profile::of_record(document, &mut |term, weights| {
            let hash = id_hash(term);
            let next = u32::try_from(self.hashes.len()).unwrap_or(u32::MAX);
            let number = *self.numbers.entry(hash).or_insert(next);
            if number == next {
                self.hashes.push(hash);
            }
            let key = u64::from(segment) << 32 | u64::from(number);
            let raw = [weights.terms, weights.entities, weights.topics, weights.local_memory];
            match self.entries.last_mut().filter(|(last, _)| *last == key) {
                Some((_, sum)) => sum.iter_mut().zip(raw).for_each(|(sum, raw)| *sum += raw),
                None => self.entries.push((key, raw)),
            }
        });
    }

    /// The normalised profiles, turned around: by term.
    pub fn finish(mut self) -> Lists {
        self.numbers = HashMap::new();
        self.entries.sort_by_key(|(key, _)| *key);
        self.entries.dedup_by(|next, sum| {
            let same = next.0 == sum.0;
            if same {
                sum.1.iter_mut().zip(next.1).for_each(|(sum, raw)| *sum += raw);
            }
            same
        });
        for profile in self.entries.chunk_by_mut(|a, b| a.0 >> 32 == b.0 >> 32) {
            normalise(profile);
        }
        // By term now; the stable order keeps segments ascending.
        self.entries.retain(|(_, weights)| weights.iter().any(|weight| *weight > 0.0));
        self.entries.sort_by_key(|(key, _)| *key as u32);
        let mut lists: Lists = Vec::new();
        let mut last = None;
        for (key, [terms, entities, topics, local_memory]) in &self.entries {
            let (segment, number) = ((key >> 32) as u32, *key as u32);
            let weights = Weights { terms: *terms, entities: *entities, topics: *topics, local_memory: *local_memory };
            if last != Some(number) {
                lists.push((self.hashes.get(number as usize).copied().unwrap_or_default(), Vec::new()));
                last = Some(number);
            }
            if let Some((_, list)) = lists.last_mut() {
                list.push((segment, weights));
            }
        }
        lists.sort_unstable_by_key(|(hash, _)| *hash);
        lists
    }
}

/// Brings each distribution of one segment to sum 1, after cutting the window's to its strongest terms.
fn normalise(profile: &mut [(u64, [f32; 4])]) {
    if profile.len() > profile::TOP_LOCAL_MEMORY {
        let mut windows: Vec<f32> = profile.iter().map(|(_, weights)| weights[3]).collect();
        windows.sort_unstable_by(|a, b| b.total_cmp(a));
        let least = windows.get(profile::TOP_LOCAL_MEMORY - 1).copied().unwrap_or(0.0);
        let mut kept = windows.iter().filter(|window| **window > least).count();
        for (_, weights) in profile.iter_mut() {
            // Of equal ones at the edge, the first stay.
            let edge = weights[3] == least && kept < profile::TOP_LOCAL_MEMORY;
            kept += usize::from(edge);
            if weights[3] < least || (weights[3] == least && !edge) {
                weights[3] = 0.0;
            }
        }
    }
    let mut sums = [0.0_f32; 4];
    for (_, weights) in profile.iter() {
        sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += *weight);
    }
    for (_, weights) in profile.iter_mut() {
        weights.iter_mut().zip(sums).for_each(|(weight, sum)| *weight /= sum.max(f32::MIN_POSITIVE));
    }
}

/// Writes the routing sections.
pub fn write(lists: &Lists, side: &mut SideWriter) -> Result<(), FoldError> {
    side.section("route-keys", lists.iter().map(|(hash, _)| hash.to_le_bytes()))?;
    side.section("route-counts", lists.iter().map(|(_, list)| (list.len() as u32).to_le_bytes()))?;
    let mut ends = Vec::with_capacity(lists.len());
    let mut end = 0_u64;
    side.start("route-lists");
    let mut bytes = Vec::new();
    for (_, list) in lists {
        bytes.clear();
        let mut last = 0;
        for (segment, weights) in list {
            encode(segment - last, *weights, &mut bytes);
            last = *segment;
        }
        end += bytes.len() as u64;
        ends.push(end);
        side.write(&bytes)?;
    }
    side.section("route-ends", ends.iter().map(|end| end.to_le_bytes()))?;
    let mut end = 0_u64;
    let local_ends = lists.iter().map(|(_, list)| {
        end += list.len() as u64;
        end.to_le_bytes()
    });
    side.section("route-local-ends", local_ends)?;
    let entries = lists.iter().flat_map(|(_, list)| list).map(|(segment, weights)| {
        let weight = u64::from(local_weight(*weights).to_bits());
        (weight << 32 | u64::from(*segment)).to_le_bytes()
    });
    Ok(side.section("route-local", entries)?)
}

fn encode(mut gap: u32, weights: Weights, bytes: &mut Vec<u8>) {
    while gap >= 0x80 {
        bytes.push(gap as u8 | 0x80);
        gap >>= 7;
    }
    bytes.push(gap as u8);
    let all = [weights.terms, weights.entities, weights.topics, weights.local_memory];
    bytes.push((0..).zip(all).map(|(bit, weight)| u8::from(weight != 0.0) << bit).sum());
    for weight in all.into_iter().filter(|weight| *weight != 0.0) {
        bytes.extend_from_slice(&weight.to_le_bytes());
    }
}

/// Number of segments in the list of a term.
pub fn frequency(side: &Side, hash: u64) -> u32 {
    side.lookup("route-keys", "route-counts", hash).unwrap_or(0)
}

/// Calls `visit(segment, weights)` for each entry of a term's list, until the list ends or is damaged.
pub fn visit(side: &Side, hash: u64, visit: &mut dyn FnMut(u32, Weights)) {
    let list = list_range(side, "route-ends", hash).and_then(|range| side.bytes("route-lists", range));
    let mut rest = list.as_deref().unwrap_or(&[]);
    let mut segment = 0_u32;
    while let Some((gap, weights)) = decode(&mut rest) {
        segment = segment.saturating_add(gap);
        visit(segment, weights);
    }
}

/// Calls `visit(segment, local weight)` for each entry of a term's list.
pub fn visit_local(side: &Side, hash: u64, visit: &mut dyn FnMut(u32, f32)) {
    let list = local_list(side, hash);
    local_entries(list.as_deref().unwrap_or(&[])).for_each(|(segment, weight)| visit(segment, weight));
}

/// Adds `factor` times the local weight to the score of each segment of a term's list.
pub fn add_local(side: &Side, hash: u64, factor: f32, scores: &mut [f32]) {
    let list = local_list(side, hash);
    for (segment, weight) in local_entries(list.as_deref().unwrap_or(&[])) {
        if let Some(score) = scores.get_mut(segment as usize) {
            *score += factor * weight;
        }
    }
}

fn local_list(side: &Side, hash: u64) -> Option<Cow<'_, [u8]>> {
    let range = list_range(side, "route-local-ends", hash)?;
    side.bytes("route-local", range.start.checked_mul(8)?..range.end.checked_mul(8)?)
}

fn local_entries(list: &[u8]) -> impl Iterator<Item = (u32, f32)> {
    list.as_chunks::<8>().0.iter().map(|entry| {
        let entry = u64::from_le_bytes(*entry);
        // No honest weight is above 5.5; a damaged one must not decide a route.
        (entry as u32, f32::from_bits((entry >> 32) as u32).clamp(0.0, 5.5))
    })
}

/// Where the list of a term lies, in the units of the section of ends.
fn list_range(side: &Side, ends: &str, hash: u64) -> Option<Range<usize>> {
    let index = side.find("route-keys", hash)?;
    let start = index.checked_sub(1).map_or(Some(0), |before| side.u64_at(ends, before))?;
    Some(usize::try_from(start).ok()?..usize::try_from(side.u64_at(ends, index)?).ok()?)
}

fn decode(rest: &mut &[u8]) -> Option<(u32, Weights)> {
    let mut gap = 0_u32;
    for shift in [0, 7, 14, 21, 28] {
        let (byte, behind) = rest.split_first()?;
        *rest = behind;
        gap |= u32::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    let (flags, behind) = rest.split_first()?;
    *rest = behind;
    let mut all = [0.0; 4];
    for (bit, weight) in (0..).zip(&mut all) {
        if flags >> bit & 1 == 1 {
            let (bytes, behind) = rest.split_first_chunk::<4>()?;
            *rest = behind;
            let value = f32::from_le_bytes(*bytes);
            *weight = if value.is_finite() { value } else { 0.0 };
        }
    }
    let [terms, entities, topics, local_memory] = all;
    Some((gap, Weights { terms, entities, topics, local_memory }))
}
