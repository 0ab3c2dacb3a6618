//! Folding: moving the journal's tail into a new generation of the index.
//!
//! A fold takes its own lock and never the append lock: the journal only grows, so its range up to now is stable.
//! The parts of the generation before are kept by hard link, unless they are small against what is folded or damaged;
//! then their range is built again together with the tail. So a fold of a few records into a large store costs a few
//! hundred documents, and a document is built again about once for each doubling of the store. `compact` and a fold
//! of an empty index give one part, or as many as hold [`LARGE_PART`] documents each, since the memory of a build grows
//! with the part. A kill at any instant leaves the generation before.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::time::Duration;

use crate::deadline::Deadline;
use crate::store::build::{Built, build_parts};
use crate::store::error::{FileError, FoldError};
use crate::store::file;
use crate::store::format::{INDEX_FORMAT, INDEX_VERSION};
use crate::store::generation::{self, BUILD_PREFIX, FOLDER, Found, Generation, removed_section};
use crate::store::journal::{Journal, Position};
use crate::store::lock::Lock;
use crate::store::manifest::{Manifest, PartEntry};
use crate::store::part::Part;
use crate::store::side::SideWriter;
use crate::store::snapshot::Condition;

/// Documents of one part at most: as many as retention keeps of a project unless told otherwise, so that more parts are
/// the exception. A build of a part of this size takes about half a gigabyte.
pub const LARGE_PART: u64 = 200_000;

/// When a fold is worth its cost, and how much is built again by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FoldPolicy {
    /// Unfolded documents from which on a capture folds.
    pub documents: u32,
    /// Unfolded journal bytes from which on a capture folds.
    pub bytes: u64,
    /// A part of at most this many documents is always built again with the tail.
    pub small_part: u64,
    /// Documents of a part at most.
    pub large_part: u64,
    /// Time that one document is taken to cost; a fold that would pass the deadline builds less, or nothing.
    pub cost: Duration,
}

impl Default for FoldPolicy {
    fn default() -> Self {
        let cost = Duration::from_micros(250);
        FoldPolicy { documents: 16, bytes: 128 << 10, small_part: 512, large_part: LARGE_PART, cost }
    }
}

impl FoldPolicy {
    /// True when the next capture should fold, by what a snapshot found.
    pub fn is_due(&self, condition: &Condition) -> bool {
        let anything = condition.unfolded_bytes > 0 && condition.unfolded_documents > 0;
        let long = condition.unfolded_documents >= self.documents || condition.unfolded_bytes >= self.bytes;
        let lost = condition.invalid_generations > 0 || condition.tail_cut;
        condition.newer_index.is_none() && condition.newer_journal.is_none() && (lost || (anything && long))
    }
}

/// What a fold did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Folded {
    /// The generation that stands now; `None` when the store is empty.
    pub generation: Option<u64>,
    /// Documents that were indexed by this fold.
    pub indexed: u64,
    /// Parts of the generation.
    pub parts: usize,
}

/// Folds the journal of the store at `root`. Gives up, leaving things as they are, when another process folds or
/// the deadline is too near; without a deadline it takes the time it needs.
pub fn fold(root: &Path, deadline: Option<Deadline>, policy: FoldPolicy) -> Result<Folded, FoldError> {
    let Some(_lock) = fold_lock(root, Deadline::after(Duration::ZERO))? else {
        return Err(FoldError::Busy);
    };
    let journal = Journal::open(root)?;
    let found = usable(root, &journal)?;
    fold_locked(root, &journal, &found, deadline, policy)
}

/// Takes the fold lock, creating the index folder.
pub(crate) fn fold_lock(root: &Path, deadline: Deadline) -> Result<Option<Lock>, FileError> {
    file::create_root(root)?;
    let dir = root.join(FOLDER);
    file::create_dir(&dir)?;
    Lock::acquire(&dir.join("lock"), deadline)
}

/// The newest generation, unless a newer release's index is there.
pub(crate) fn usable(root: &Path, journal: &Journal) -> Result<Found, FoldError> {
    let mut found = Generation::newest(root, journal, 0)?;
    match found.newer.take() {
        Some((path, version)) => Err(FoldError::Newer { path, found: version }),
        None => Ok(found),
    }
}

fn fold_locked(
    root: &Path,
    journal: &Journal,
    found: &Found,
    deadline: Option<Deadline>,
    policy: FoldPolicy,
) -> Result<Folded, FoldError> {
    let before = found.generation.as_ref();
    let from = before.map(Generation::position);
    // Reading parts that are kept costs little beside building; a damaged one means to build everything.
    let intact = |count: usize| before.is_some_and(|generation| generation.parts.iter().take(count).all(Part::intact));
    let all = before.map_or(0, |generation| generation.parts.len());
    if journal.bytes_behind(from) == 0 && (before.is_none() || (found.invalid == 0 && intact(all))) {
        return Ok(Folded { generation: before.map(|generation| generation.number), indexed: 0, parts: all });
    }
    let kept = match before {
        Some(generation) => kept_parts(generation, journal, deadline, policy)?,
        None => 0,
    };
    let kept = if intact(kept) { kept } else { 0 };
    build(root, journal, before, kept, found.highest + 1, deadline, policy.large_part)
}

/// How many parts a fold keeps: all but the last ones that are small against what is folded, and against the time
/// there is.
fn kept_parts(
    generation: &Generation,
    journal: &Journal,
    deadline: Option<Deadline>,
    policy: FoldPolicy,
) -> Result<usize, FoldError> {
    let mut tail = 0_u64;
    journal.read(Some(generation.position()), &mut |_, _| {
        tail += 1;
        true
    })?;
    let affordable = deadline.map_or(u64::MAX, |deadline| {
        u64::try_from(deadline.left().as_nanos() / policy.cost.as_nanos().max(1)).unwrap_or(u64::MAX)
    });
    if tail > affordable {
        return Err(FoldError::NoTime);
    }
    let mut kept = generation.parts.len();
    let mut building = tail;
    for part in generation.parts.iter().rev() {
        let documents = u64::from(part.entry().documents);
        let small = documents <= policy.small_part || documents <= 2 * building;
        if !small || building + documents > affordable {
            break;
        }
        building += documents;
        kept -= 1;
    }
    Ok(kept)
}

/// Builds and publishes a generation that keeps the first `kept` parts of the one before; the others have at most `most`
/// documents each.
pub(crate) fn build(
    root: &Path,
    journal: &Journal,
    before: Option<&Generation>,
    kept: usize,
    number: u64,
    deadline: Option<Deadline>,
    most: u64,
) -> Result<Folded, FoldError> {
    let (place, folded) = build_unpublished(root, journal, before, kept, number, deadline, most)?;
    let published = generation::publish(root, &place, number);
    if published.is_err() {
        file::remove_dir(&place)?;
    }
    published?;
    generation::clear(root, number)?;
    Ok(folded)
}

/// Builds a generation under a name that no reader looks at and gives its place.
pub(crate) fn build_unpublished(
    root: &Path,
    journal: &Journal,
    before: Option<&Generation>,
    kept: usize,
    number: u64,
    deadline: Option<Deadline>,
    most: u64,
) -> Result<(PathBuf, Folded), FoldError> {
    let place = root.join(FOLDER).join(format!("{BUILD_PREFIX}{}", process::id()));
    file::remove_dir(&place)?;
    file::create_dir(&place)?;
    match build_in(&place, journal, before, kept, number, deadline, most) {
        Ok(folded) => Ok((place, folded)),
        Err(error) => {
            file::remove_dir(&place)?;
            Err(error)
        }
    }
}

fn build_in(
    place: &Path,
    journal: &Journal,
    before: Option<&Generation>,
    kept: usize,
    number: u64,
    deadline: Option<Deadline>,
    most: u64,
) -> Result<Folded, FoldError> {
    let prior: Vec<&Part> = before.into_iter().flat_map(|generation| generation.parts.iter().take(kept)).collect();
    // Removals that later parts made stand in the lists of the kept ones and in the tombstones already.
    let start: Option<Position> = match before {
        Some(generation) if kept > 0 => Some(generation.parts.get(kept).map_or(generation.position(), Part::start)),
        _ => None,
    };
    let tombstones: HashSet<u64> = before.filter(|_| kept > 0).into_iter().flat_map(Generation::tombstones).collect();
    let Built { parts: built, replay } =
        build_parts(place, number, journal, start, &prior, tombstones, deadline, most)?;

    let mut parts: Vec<PartEntry> = Vec::new();
    let mut removed = SideWriter::create(place, "removed")?;
    for (index, part) in prior.iter().enumerate() {
        let mut gone = part.removed().clone();
        replay.last.keys().filter_map(|id| part.find(*id)).for_each(|document| gone.set(document));
        let list: Vec<u8> = gone.iter().flat_map(u32::to_le_bytes).collect();
        removed.section(&removed_section(index), [list])?;
        if let Some(generation) = before {
            for name in [&part.entry().side.name, &part.entry().postings.name, &part.entry().routes.name] {
                link(&generation.dir.join(name), &place.join(name))?;
            }
        }
        parts.push(part.entry().clone());
    }
    let mut tombstones: Vec<u64> = replay.tombstones.iter().copied().collect();
    tombstones.sort_unstable();
    removed.section("tombstones", tombstones.iter().map(|id| id.to_le_bytes()))?;
    let indexed = built.iter().map(|part| u64::from(part.documents)).sum();
    parts.extend(built);

    let end = replay.end.or(start).unwrap_or_default();
    let earlier = before.filter(|_| kept > 0).map_or(0, |generation| generation.manifest.damaged);
    let manifest = Manifest {
        format: INDEX_FORMAT.to_owned(),
        version: INDEX_VERSION,
        generation: number,
        journal: (end.file, end.offset),
        damaged: earlier + replay.damaged,
        parts,
        removed: removed.finish()?,
    };
    manifest.write(place)?;
    Ok(Folded { generation: Some(number), indexed, parts: manifest.parts.len() })
}

/// Gives a published file a second name; where the file system has no hard links, copies it.
fn link(from: &Path, to: &Path) -> Result<(), FileError> {
    if fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    let mut source = file::open_read(from)?;
    let mut copy = file::create(to)?;
    std::io::copy(&mut source, &mut copy).map_err(FileError::new("copy", from))?;
    copy.sync_all().map_err(FileError::new("sync", to))
}
