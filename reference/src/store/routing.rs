//! The routing index of a part: term hash to the segments whose profile has the term, with their weights.
//!
//! In the part's side file: `route-keys` (sorted hashes), `route-ends` (`u64`, end of each list), `route-counts`
//! (`u32`, segments in each) and `route-lists`. A list is a run of entries in ascending segment order: the difference
//! to the segment before as LEB128, one byte of flags (bits 0 to 3: which of the four weights follow; 4: subject, 5:
//! object), and each present weight as `f32`. Exact, so that every strategy can be computed from it; absent weights,
//! the usual case, cost nothing. Beside it `route-local` holds, entry for entry, segment (`u32`) and local weight
//! (`f32`), for the strategy that the mission names for hooks: a tenth of the cost of decoding a list.
//!
//! In a file of its own, mapped only by the strategies that ask: `segments` (`u32`, ascending, those with records in
//! the part), `flags` (a byte each), `connection-ends` (`u32`, count up to each) and `connections` (`u32`, upper half
//! of a term's hash); `typed-keys` (sorted hashes), `typed-ends` (`u64`) and `typed-lists` (the difference to the
//! segment before as LEB128, one byte of buckets) for actions and times.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use crate::route::Weights;
use crate::route::bucket::Buckets;
use crate::route::gathering::{Entry, Facts, Tables};
use crate::route::local_distinctiveness::local_weight;
use crate::route::profile::Flags;
use crate::store::error::FoldError;
use crate::store::side::{Side, SideEntry, SideWriter};
use crate::store::table;

/// Bits of a list's flags for the buckets.
const SUBJECT: u8 = 1 << 4;
const OBJECT: u8 = 1 << 5;

/// Writes the routing sections of the side file.
pub fn write(tables: &Tables, side: &mut SideWriter) -> Result<(), FoldError> {
    let lists = &tables.lists;
    side.section("route-keys", lists.iter().map(|(hash, _)| hash.to_le_bytes()))?;
    side.section("route-counts", lists.iter().map(|(_, list)| (list.len() as u32).to_le_bytes()))?;
    let ends = write_lists(side, "route-lists", lists, &mut |entry, bytes| {
        encode(entry.weights, entry.buckets, bytes);
        entry.segment
    })?;
    side.section("route-ends", ends.iter().map(|end| end.to_le_bytes()))?;
    let mut end = 0_u64;
    let local_ends = lists.iter().map(|(_, list)| {
        end += list.len() as u64;
        end.to_le_bytes()
    });
    side.section("route-local-ends", local_ends)?;
    let entries = lists.iter().flat_map(|(_, list)| list).map(|entry| {
        let weight = u64::from(local_weight(entry.weights).to_bits());
        (weight << 32 | u64::from(entry.segment)).to_le_bytes()
    });
    Ok(side.section("route-local", entries)?)
}

/// Writes the file of what only some strategies ask for.
pub fn write_rare(tables: &Tables, dir: &Path, name: &str) -> Result<SideEntry, FoldError> {
    let mut side = SideWriter::create(dir, name)?;
    let facts = &tables.facts;
    side.section("segments", facts.iter().map(|facts| facts.segment.to_le_bytes()))?;
    side.section("flags", facts.iter().map(|facts| [facts.flags.bits()]))?;
    let mut end = 0_u32;
    let ends = facts.iter().map(|Facts { connections, .. }| {
        end = end.saturating_add(connections.len() as u32);
        end.to_le_bytes()
    });
    side.section("connection-ends", ends)?;
    let connections = facts.iter().flat_map(|facts| &facts.connections);
    side.section("connections", connections.map(|term| term.to_le_bytes()))?;
    side.section("typed-keys", tables.typed.iter().map(|(hash, _)| hash.to_le_bytes()))?;
    let ends = write_lists(&mut side, "typed-lists", &tables.typed, &mut |(segment, buckets), bytes| {
        bytes.push(buckets.bits());
        *segment
    })?;
    side.section("typed-ends", ends.iter().map(|end| end.to_le_bytes()))?;
    Ok(side.finish()?)
}

/// Writes lists and gives the end of each. `entry` appends what stands behind the segment, which it gives.
fn write_lists<T>(
    side: &mut SideWriter,
    section: &str,
    lists: &[(u64, Vec<T>)],
    entry: &mut dyn FnMut(&T, &mut Vec<u8>) -> u32,
) -> Result<Vec<u64>, FoldError> {
    let mut ends = Vec::with_capacity(lists.len());
    let mut end = 0_u64;
    side.start(section);
    let (mut bytes, mut behind) = (Vec::new(), Vec::new());
    for (_, list) in lists {
        bytes.clear();
        let mut last = 0;
        for item in list {
            behind.clear();
            let segment = entry(item, &mut behind);
            let mut gap = segment.saturating_sub(last);
            last = segment;
            while gap >= 0x80 {
                bytes.push(gap as u8 | 0x80);
                gap >>= 7;
            }
            bytes.push(gap as u8);
            bytes.append(&mut behind);
        }
        end += bytes.len() as u64;
        ends.push(end);
        side.write(&bytes)?;
    }
    Ok(ends)
}

fn encode(weights: Weights, buckets: Buckets, bytes: &mut Vec<u8>) {
    let all = [weights.terms, weights.entities, weights.topics, weights.local_memory];
    let present: u8 = (0..).zip(all).map(|(bit, weight)| u8::from(weight != 0.0) << bit).sum();
    let bit = |bucket, bit| if buckets.has(bucket) { bit } else { 0 };
    bytes.push(present | bit(Buckets::SUBJECT, SUBJECT) | bit(Buckets::OBJECT, OBJECT));
    for weight in all.into_iter().filter(|weight| *weight != 0.0) {
        bytes.extend_from_slice(&weight.to_le_bytes());
    }
}

/// Number of segments in the list of a term.
pub fn frequency(side: &Side, hash: u64) -> u32 {
    side.lookup("route-keys", "route-counts", hash).unwrap_or(0)
}

/// Calls `visit(entry)` for each entry of a term's list, until the list ends or is damaged.
pub fn visit(side: &Side, hash: u64, visit: &mut dyn FnMut(Entry)) {
    let list = list_range(side, "route-keys", "route-ends", hash).and_then(|range| side.bytes("route-lists", range));
    let mut rest = list.as_deref().unwrap_or(&[]);
    let mut segment = 0_u32;
    while let Some((gap, weights, buckets)) = decode(&mut rest) {
        segment = segment.saturating_add(gap);
        visit(Entry { segment, weights, buckets });
    }
}

/// Calls `visit(segment, buckets)` for each entry of a term's list: of subject and object, which the term stands in.
pub fn visit_listed(side: &Side, hash: u64, visit: &mut dyn FnMut(u32, Buckets)) {
    let list = list_range(side, "route-keys", "route-ends", hash).and_then(|range| side.bytes("route-lists", range));
    let mut rest = list.as_deref().unwrap_or(&[]);
    let mut segment = 0_u32;
    while let Some(gap) = decode_gap(&mut rest)
        && let Some((flags, shares)) = rest.split_first()
    {
        rest = shares.get(share_bytes(*flags)..).unwrap_or(&[]);
        segment = segment.saturating_add(gap);
        visit(segment, buckets(*flags));
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

/// Calls `visit(segment, buckets)` for each segment that has the term among its actions or times. `rare` is the file
/// of [`write_rare`].
pub fn visit_typed(rare: &Side, hash: u64, visit: &mut dyn FnMut(u32, Buckets)) {
    let list = list_range(rare, "typed-keys", "typed-ends", hash).and_then(|range| rare.bytes("typed-lists", range));
    let mut rest = list.as_deref().unwrap_or(&[]);
    let mut segment = 0_u32;
    while let Some(gap) = decode_gap(&mut rest)
        && let Some((bits, behind)) = rest.split_first()
    {
        rest = behind;
        segment = segment.saturating_add(gap);
        visit(segment, Buckets::from_bits(*bits));
    }
}

/// Adds the flags of each segment with records in the part.
pub fn fill_flags(rare: &Side, flags: &mut [Flags]) {
    let segments = rare.section("segments").as_chunks::<4>().0;
    for (segment, bits) in segments.iter().zip(rare.section("flags")) {
        if let Some(flags) = flags.get_mut(u32::from_le_bytes(*segment) as usize) {
            flags.add(Flags::from_bits(*bits));
        }
    }
}

/// Calls `visit` for each connection term of a segment.
pub fn visit_connections(rare: &Side, segment: u32, visit: &mut dyn FnMut(u32)) {
    let segments = rare.section("segments").as_chunks::<4>().0;
    let Ok(at) = segments.binary_search_by_key(&segment, |bytes| u32::from_le_bytes(*bytes)) else { return };
    let ends = rare.section("connection-ends");
    let start = at.checked_sub(1).map_or(Some(0), |before| table::u32_at(ends, before)).unwrap_or(0) as usize;
    let end = table::u32_at(ends, at).unwrap_or(0) as usize;
    let terms = rare.section("connections").as_chunks::<4>().0.get(start..end.max(start)).unwrap_or(&[]);
    terms.iter().for_each(|term| visit(u32::from_le_bytes(*term)));
}

fn local_list(side: &Side, hash: u64) -> Option<Cow<'_, [u8]>> {
    let range = list_range(side, "route-keys", "route-local-ends", hash)?;
    side.bytes("route-local", range.start.checked_mul(8)?..range.end.checked_mul(8)?)
}

fn local_entries(list: &[u8]) -> impl Iterator<Item = (u32, f32)> {
    list.as_chunks::<8>().0.iter().map(|entry| {
        let entry = u64::from_le_bytes(*entry);
        let weight = f32::from_bits((entry >> 32) as u32);
        // No honest weight is above 5.5; a damaged one must not decide a route.
        (entry as u32, if weight.is_finite() { weight.clamp(0.0, 5.5) } else { 0.0 })
    })
}

/// Where the list of a term lies, in the units of the section of ends.
fn list_range(side: &Side, keys: &'static str, ends: &str, hash: u64) -> Option<Range<usize>> {
    let index = side.find(keys, hash)?;
    let start = index.checked_sub(1).map_or(Some(0), |before| side.u64_at(ends, before))?;
    Some(usize::try_from(start).ok()?..usize::try_from(side.u64_at(ends, index)?).ok()?)
}

fn decode_gap(rest: &mut &[u8]) -> Option<u32> {
    let mut gap = 0_u32;
    for shift in [0, 7, 14, 21, 28] {
        let (byte, behind) = rest.split_first()?;
        *rest = behind;
        gap |= u32::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some(gap)
}

/// Takes the next entry. Which weights are there changes from entry to entry, so they are picked without a branch.
fn decode(rest: &mut &[u8]) -> Option<(u32, Weights, Buckets)> {
    let gap = decode_gap(rest)?;
    let (flags, shares) = rest.split_first()?;
    *rest = shares.get(share_bytes(*flags)..)?;
    let mut window = [0_u8; 16];
    match shares.first_chunk::<16>() {
        Some(whole) => window = *whole,
        None => window.get_mut(..shares.len())?.copy_from_slice(shares),
    }
    let mut shares = [0.0_f32; 4];
    for (share, bytes) in shares.iter_mut().zip(window.as_chunks::<4>().0) {
        *share = f32::from_le_bytes(*bytes);
    }
    let share = |bit: u32| {
        let place = (flags & ((1 << bit) - 1)).count_ones() as usize;
        let share = shares.get(place & 3).copied().unwrap_or(0.0);
        // A share is at most 1; a damaged one must not decide a route.
        if flags >> bit & 1 == 1 && (0.0..=1.0).contains(&share) { share } else { 0.0 }
    };
    let weights = Weights { terms: share(0), entities: share(1), topics: share(2), local_memory: share(3) };
    Some((gap, weights, buckets(*flags)))
}

/// Bytes of the weights behind these flags.
fn share_bytes(flags: u8) -> usize {
    (flags & 15).count_ones() as usize * 4
}

fn buckets(flags: u8) -> Buckets {
    let bucket = |bit, bucket| if flags & bit != 0 { bucket } else { Buckets::default() };
    bucket(SUBJECT, Buckets::SUBJECT).or(bucket(OBJECT, Buckets::OBJECT))
}
