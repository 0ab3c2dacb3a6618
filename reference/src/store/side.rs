//! A file of named byte sections, written once and mapped for reading.
//!
//! The table of sections stands in the manifest, under the manifest's checksum, so the file itself has no header.
//! A section that reaches past the end of the file reads as empty. Used for our own arrays and for packing the
//! postings library's many small files into one.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::store::error::FileError;
use crate::store::map::Map;
use crate::store::{file, table};

/// Files up to this length are read through the map alone.
const MAPPED_BYTES: usize = 2 << 20;
/// A run of at least this length is read through the map, which brings in little beside it.
pub(crate) const LONG_BYTES: usize = 16 << 10;
/// Keys of one block of a large table: four times the usual distance between guess and place at 100,000 documents.
const BLOCK_KEYS: usize = 1_024;
/// Blocks looked at before the whole table is searched: hashes that are not spread evenly, or damage.
const BLOCK_TRIES: usize = 8;

/// Places remembered at most.
const MAX_FOUND: usize = 4_096;

/// One side file as the manifest names it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SideEntry {
    /// File name in the generation's folder.
    pub name: String,
    /// Length of the file.
    pub bytes: u64,
    /// CRC-32 of the whole file; checked where there is time for it.
    pub crc32: u32,
    /// Start and end of each section.
    pub sections: BTreeMap<String, (u64, u64)>,
}

/// Index by section and key.
type Found = HashMap<(&'static str, u64), Option<usize>>;

/// A mapped side file.
#[derive(Debug, Clone)]
pub struct Side {
    map: Map,
    entry: SideEntry,
    /// Where keys were found: a query asks for each of its terms several times, by field and by purpose.
    found: Arc<Mutex<Found>>,
}

impl Side {
    /// Maps the file; files of at most `verify_bytes` are checked against their checksum as well.
    pub fn open(dir: &Path, entry: &SideEntry, verify_bytes: u64) -> Result<Side, FileError> {
        let path = dir.join(&entry.name);
        let map = Map::open(&path, entry.bytes)?;
        let side = Side { map, entry: entry.clone(), found: Arc::default() };
        if entry.bytes <= verify_bytes && !side.intact() {
            let source = std::io::Error::other("its checksum does not match the manifest");
            return Err(FileError { action: "use", path, source });
        }
        Ok(side)
    }

    /// Compares the whole file with its checksum.
    pub fn intact(&self) -> bool {
        crc32fast::hash(&self.map) == self.entry.crc32
    }

    /// The bytes of a section; empty when there is no such section.
    pub fn section(&self, name: &str) -> &[u8] {
        self.range(name).and_then(|range| self.map.get(range)).unwrap_or(&[])
    }

    /// A piece of a section: a slice of the map for a small file or a long piece, else a copy by a read call, since
    /// touching the map of a large file here and there would bring in far more than is asked for.
    pub fn bytes(&self, name: &str, piece: Range<usize>) -> Option<Cow<'_, [u8]>> {
        let piece = self.piece(name, piece)?;
        if self.map.len() <= MAPPED_BYTES || piece.len() >= LONG_BYTES {
            return self.map.get(piece).map(Cow::Borrowed);
        }
        self.map.read(piece).ok().map(Cow::Owned)
    }

    /// The `u32` at `index` of a section.
    pub fn u32_at(&self, name: &str, index: usize) -> Option<u32> {
        let at = index.checked_mul(4)?;
        self.array(name, at).map(u32::from_le_bytes)
    }

    /// The `u64` at `index` of a section.
    pub fn u64_at(&self, name: &str, index: usize) -> Option<u64> {
        let at = index.checked_mul(8)?;
        self.array(name, at).map(u64::from_le_bytes)
    }

    /// The index of a hash in a section of sorted keys; see [`table::find`].
    pub fn find(&self, name: &'static str, key: u64) -> Option<usize> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if found.len() >= MAX_FOUND {
            found.clear();
        }
        *found.entry((name, key)).or_insert_with(|| self.search(name, key))
    }

    fn search(&self, name: &str, key: u64) -> Option<usize> {
        let keys = self.section(name);
        let count = keys.len() / 8;
        if self.map.len() > MAPPED_BYTES && count > BLOCK_KEYS {
            let guess = usize::try_from((u128::from(key) * count as u128) >> 64).ok()?;
            let mut first = guess.saturating_sub(BLOCK_KEYS / 2).min(count - BLOCK_KEYS);
            let mut block = [0; BLOCK_KEYS * 8];
            for _ in 0..BLOCK_TRIES {
                let start = self.piece(name, first * 8..(first + BLOCK_KEYS) * 8)?.start;
                self.map.read_into(start, &mut block).ok()?;
                if key < table::u64_at(&block, 0)? && first > 0 {
                    first = first.saturating_sub(BLOCK_KEYS);
                } else if key > table::u64_at(&block, BLOCK_KEYS - 1)? && first + BLOCK_KEYS < count {
                    first = (first + BLOCK_KEYS).min(count - BLOCK_KEYS);
                } else {
                    return table::find_in_block(&block, key).map(|index| first + index);
                }
            }
        }
        table::find(keys, key)
    }

    /// The value of a hash in a table of two sections.
    pub fn lookup(&self, keys: &'static str, values: &str, key: u64) -> Option<u32> {
        self.u32_at(values, self.find(keys, key)?)
    }

    fn array<const N: usize>(&self, name: &str, at: usize) -> Option<[u8; N]> {
        let piece = self.piece(name, at..at.checked_add(N)?)?;
        if self.map.len() <= MAPPED_BYTES {
            return self.map.get(piece)?.first_chunk().copied();
        }
        let mut array = [0; N];
        self.map.read_into(piece.start, &mut array).ok()?;
        Some(array)
    }

    /// Where a piece of a section lies in the file, if it lies within both.
    fn piece(&self, name: &str, piece: Range<usize>) -> Option<Range<usize>> {
        let section = self.range(name)?;
        let whole = section.start.checked_add(piece.start)?..section.start.checked_add(piece.end)?;
        (piece.start <= piece.end && whole.end <= section.end && whole.end <= self.map.len()).then_some(whole)
    }

    /// Where a section lies in the file.
    pub fn range(&self, name: &str) -> Option<Range<usize>> {
        let (start, end) = self.entry.sections.get(name)?;
        Some(usize::try_from(*start).ok()?..usize::try_from(*end).ok()?)
    }

    /// The map behind the sections.
    pub fn map(&self) -> &Map {
        &self.map
    }

    /// Names of all sections.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entry.sections.keys().map(String::as_str)
    }
}

/// Writes a side file section by section.
#[derive(Debug)]
pub struct SideWriter {
    file: BufWriter<File>,
    path: PathBuf,
    entry: SideEntry,
    hasher: crc32fast::Hasher,
    open: Option<(String, u64)>,
}

impl SideWriter {
    /// Creates the file, which must not exist.
    pub fn create(dir: &Path, name: &str) -> Result<SideWriter, FileError> {
        let path = dir.join(name);
        let file = BufWriter::with_capacity(256 << 10, file::create(&path)?);
        let entry = SideEntry { name: name.to_owned(), ..SideEntry::default() };
        Ok(SideWriter { file, path, entry, hasher: crc32fast::Hasher::new(), open: None })
    }

    /// Starts a section; what is written until the next one belongs to it.
    pub fn start(&mut self, name: &str) {
        self.close();
        self.open = Some((name.to_owned(), self.entry.bytes));
    }

    /// Appends to the open section.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        self.hasher.update(bytes);
        self.entry.bytes += bytes.len() as u64;
        self.file.write_all(bytes).map_err(FileError::new("write", &self.path))
    }

    /// Writes one section at once.
    pub fn section(&mut self, name: &str, chunks: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Result<(), FileError> {
        self.start(name);
        chunks.into_iter().try_for_each(|chunk| self.write(chunk.as_ref()))
    }

    /// Makes the file durable and gives its entry for the manifest.
    pub fn finish(mut self) -> Result<SideEntry, FileError> {
        self.close();
        self.file.flush().map_err(FileError::new("write", &self.path))?;
        self.file.get_ref().sync_all().map_err(FileError::new("sync", &self.path))?;
        self.entry.crc32 = self.hasher.finalize();
        Ok(self.entry)
    }

    fn close(&mut self) {
        if let Some((name, start)) = self.open.take() {
            self.entry.sections.insert(name, (start, self.entry.bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    /// A table in a file that is too large to be read through the map, its keys `step` apart from `first` on.
    fn large(dir: &Path, first: u64, step: u64, count: u64) -> Side {
        let mut writer = SideWriter::create(dir, "large").unwrap();
        writer.section("filler", [vec![0; MAPPED_BYTES]]).unwrap();
        writer.section("keys", (0..count).map(|n| (first + n * step).to_le_bytes())).unwrap();
        writer.section("values", (0..count as u32).map(|n| (n * 2).to_le_bytes())).unwrap();
        let entry = writer.finish().unwrap();
        Side::open(dir, &entry, 0).unwrap()
    }

    #[test]
    fn large_tables_are_searched_block_by_block() {
        let count = 50_000;
        for (first, step) in [(0, u64::MAX / count), (0, 3), (u64::MAX - count * 3, 3), (u64::MAX / 2, 1 << 20)] {
            let home = tempfile::tempdir().unwrap();
            let side = large(home.path(), first, step, count);
            for n in (0..count).step_by(97).chain([count - 1]) {
                let key = first + n * step;
                assert_eq!(side.lookup("keys", "values", key), Some(n as u32 * 2), "{first} {step} {n}");
                assert_eq!(side.find("keys", key + 1), None);
            }
        }
    }

    #[test]
    fn a_piece_outside_its_section_is_none() {
        let home = tempfile::tempdir().unwrap();
        let side = large(home.path(), 0, 1, 2_000);
        assert_eq!(side.bytes("values", 0..8).as_deref(), Some(&[0, 0, 0, 0, 2, 0, 0, 0][..]));
        assert_eq!(side.bytes("values", 7_996..8_001), None);
        assert_eq!(side.u64_at("keys", 2_000), None);
        assert_eq!(side.u32_at("values", usize::MAX), None);
        assert_eq!(side.bytes("absent", 0..0), None);
    }
}
