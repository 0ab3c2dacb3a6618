//! Generations of the derived index: finding the newest valid one, publishing, and clearing away old ones.
//!
//! A generation is a folder named by its number, complete before it gets that name. The highest valid number
//! counts; a missing, torn, altered or older one is passed over, and so is one whose place in the journal no longer
//! exists. A reader that finds a folder vanishing under it looks again.

use std::path::{Path, PathBuf};

use crate::store::error::FileError;
use crate::store::file;
use crate::store::journal::{Journal, Position};
use crate::store::manifest::{Manifest, ManifestFault};
use crate::store::part::Part;
use crate::store::side::Side;
use crate::store::table;

/// Name of the index folder in a store.
pub const FOLDER: &str = "index";

/// Files up to this length are compared with their checksum at every open: a few microseconds.
pub const VERIFY_BYTES: u64 = 64 << 10;

/// An opened generation.
#[derive(Debug)]
pub struct Generation {
    /// Its number.
    pub number: u64,
    /// Its folder.
    pub dir: PathBuf,
    /// What it says of itself.
    pub manifest: Manifest,
    /// Its parts, oldest first, their removed documents marked.
    pub parts: Vec<Part>,
    removed: Side,
}

/// What the index folder offers.
#[derive(Debug, Default)]
pub struct Found {
    /// The newest valid generation.
    pub generation: Option<Generation>,
    /// Highest number in use.
    pub highest: u64,
    /// Folders with a higher number than the valid one that are not usable.
    pub invalid: u32,
    /// Folder and version of a generation that a newer release wrote.
    pub newer: Option<(PathBuf, u32)>,
}

impl Generation {
    /// Opens the newest valid generation of the store at `root`.
    pub fn newest(root: &Path, journal: &Journal, verify_bytes: u64) -> Result<Found, FileError> {
        let dir = root.join(FOLDER);
        let mut found = Found::default();
        if !file::check_dir(&dir)? {
            return Ok(found);
        }
        for _ in 0..4 {
            let mut numbers = numbers(&dir)?;
            numbers.sort_unstable_by(|a, b| b.cmp(a));
            found = Found { highest: numbers.first().copied().unwrap_or(0), ..Found::default() };
            for number in &numbers {
                let dir = dir.join(number.to_string());
                match open(&dir, *number, verify_bytes) {
                    Ok(generation) if journal.holds(generation.manifest.position()) => {
                        found.generation = Some(generation);
                        return Ok(found);
                    }
                    Err(ManifestFault::Newer(version)) => found.newer = Some((dir, version)),
                    Ok(_) | Err(ManifestFault::Invalid) => found.invalid += 1,
                }
            }
            // When a writer published and cleared away in the meantime, there is a number that was not seen.
            let newest = self::numbers(&dir)?.into_iter().max().unwrap_or(0);
            if newest == found.highest {
                break;
            }
        }
        Ok(found)
    }

    /// Where folding goes on.
    pub fn position(&self) -> Position {
        self.manifest.position()
    }

    /// True when an id with this hash was removed and not restored.
    pub fn is_tombstone(&self, id: u64) -> bool {
        table::find(self.removed.section("tombstones"), id).is_some()
    }

    /// Hashes of all removed ids.
    pub fn tombstones(&self) -> impl Iterator<Item = u64> {
        let keys = self.removed.section("tombstones");
        (0..keys.len() / 8).filter_map(|index| table::u64_at(keys, index))
    }

    /// Compares every file with its checksum: reads all of them.
    pub fn intact(&self) -> bool {
        self.removed.intact() && self.parts.iter().all(Part::intact)
    }
}

fn numbers(dir: &Path) -> Result<Vec<u64>, FileError> {
    let names = file::names(dir)?;
    Ok(names.iter().filter_map(|name| name.parse::<u64>().ok().filter(|number| number.to_string() == *name)).collect())
}

fn open(dir: &Path, number: u64, verify_bytes: u64) -> Result<Generation, ManifestFault> {
    let invalid = |_: FileError| ManifestFault::Invalid;
    if !file::check_dir(dir).map_err(invalid)? {
        return Err(ManifestFault::Invalid);
    }
    let manifest = Manifest::read(dir, number)?;
    // Small, and a wrong bit in it would bring back what was removed: always checked.
    let removed = Side::open(dir, &manifest.removed, u64::MAX).map_err(invalid)?;
    let mut parts = Vec::with_capacity(manifest.parts.len());
    for (index, entry) in manifest.parts.iter().enumerate() {
        let mut part = Part::open(dir, entry, verify_bytes).map_err(invalid)?;
        let list = removed.section(&removed_section(index));
        (0..list.len() / 4).filter_map(|at| table::u32_at(list, at)).for_each(|document| part.mark_removed(document));
        parts.push(part);
    }
    Ok(Generation { number, dir: dir.to_path_buf(), manifest, parts, removed })
}

/// Name of the section that lists a part's removed documents.
pub(crate) fn removed_section(part: usize) -> String {
    format!("removed-{part}")
}

/// Makes a finished build folder the generation `number`.
pub(crate) fn publish(root: &Path, build: &Path, number: u64) -> Result<PathBuf, FileError> {
    let dir = root.join(FOLDER).join(number.to_string());
    file::sync_dir(build)?;
    file::rename(build, &dir)?;
    Ok(dir)
}

/// Removes generations below `keep`, and what builds that never finished left behind. Only under the fold lock.
pub(crate) fn clear(root: &Path, keep: u64) -> Result<(), FileError> {
    let dir = root.join(FOLDER);
    for name in file::names(&dir)? {
        let old = name.parse::<u64>().is_ok_and(|number| number < keep);
        if old || name.starts_with(BUILD_PREFIX) {
            file::remove_dir(&dir.join(name))?;
        }
    }
    Ok(())
}

/// Start of the names of folders in which a generation is being built.
pub(crate) const BUILD_PREFIX: &str = "build-";
