//! The one line that says what a generation of the index holds.
//!
//! `index/<generation>/manifest.json` is a framed line (`frame`), so a torn or altered manifest is told from a whole
//! one. It names every other file with its length and checksum; nothing is used that it does not name.

use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::store::error::FoldError;
use crate::store::format::{INDEX_FORMAT, INDEX_VERSION};
use crate::store::journal::Position;
use crate::store::side::SideEntry;
use crate::store::{file, frame};

/// File name in a generation's folder.
pub const NAME: &str = "manifest.json";

/// A larger one is not read.
const MAX_BYTES: u64 = 1 << 20;

/// Totals of one field over a part.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldTotals {
    /// Documents that have the field.
    pub documents: u64,
    /// Tokens in it.
    pub tokens: u64,
}

/// One part: the documents of a range of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartEntry {
    /// Documents, those removed by a later part included.
    pub documents: u32,
    /// Number of the first segment that this part introduces.
    pub first_segment: u32,
    /// Segments that it introduces.
    pub segments: u32,
    /// Totals, in the order of `Field::ALL`.
    pub fields: [FieldTotals; 4],
    /// File number and offset in the journal where its range starts; it ends where the next one starts.
    pub start: (u64, u64),
    /// The packed postings.
    pub postings: SideEntry,
    /// Facts, texts, ids, writers, segments and routing.
    pub side: SideEntry,
    /// What only some routing strategies ask for.
    pub routes: SideEntry,
}

/// A whole generation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`INDEX_FORMAT`].
    pub format: String,
    /// [`INDEX_VERSION`].
    pub version: u32,
    /// Its own number, the same as its folder's name.
    pub generation: u64,
    /// File number and offset in the journal behind the last folded record.
    pub journal: (u64, u64),
    /// Damaged journal lines met on the way.
    pub damaged: u64,
    /// The parts, oldest first.
    pub parts: Vec<PartEntry>,
    /// Removed documents by part, and tombstones.
    pub removed: SideEntry,
}

/// Why a manifest is not used.
#[derive(Debug)]
pub enum ManifestFault {
    /// Missing, torn, altered or older.
    Invalid,
    /// Written by a newer release, with this version.
    Newer(u32),
}

#[derive(Deserialize)]
struct Probe {
    format: String,
    version: u32,
}

impl Manifest {
    /// Reads the manifest of the folder `dir`, which is generation `number`.
    pub fn read(dir: &Path, number: u64) -> Result<Manifest, ManifestFault> {
        let mut bytes = Vec::new();
        file::open_read(&dir.join(NAME))
            .ok()
            .and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes).ok())
            .ok_or(ManifestFault::Invalid)?;
        let (json, _) = frame::decode(&bytes).ok_or(ManifestFault::Invalid)?;
        let probe: Probe = serde_json::from_slice(json).map_err(|_| ManifestFault::Invalid)?;
        if probe.format == INDEX_FORMAT && probe.version > INDEX_VERSION {
            return Err(ManifestFault::Newer(probe.version));
        }
        let manifest: Manifest = serde_json::from_slice(json).map_err(|_| ManifestFault::Invalid)?;
        let valid = manifest.format == INDEX_FORMAT
            && manifest.version == INDEX_VERSION
            && manifest.generation == number
            && manifest.parts.iter().all(PartEntry::names_are_plain)
            && is_plain(&manifest.removed.name);
        if valid { Ok(manifest) } else { Err(ManifestFault::Invalid) }
    }

    /// Writes the manifest, last of all files of a generation.
    pub fn write(&self, dir: &Path) -> Result<(), FoldError> {
        let mut bytes = Vec::new();
        frame::encode(&serde_json::to_vec(self)?, &mut bytes);
        Ok(file::publish(&dir.join(NAME), &dir.join("manifest.new"), &bytes)?)
    }

    /// Where folding goes on.
    pub fn position(&self) -> Position {
        Position { file: self.journal.0, offset: self.journal.1 }
    }
}

impl PartEntry {
    /// Bytes of the part's files.
    pub fn bytes(&self) -> u64 {
        self.postings.bytes.saturating_add(self.side.bytes).saturating_add(self.routes.bytes)
    }

    fn names_are_plain(&self) -> bool {
        [&self.postings, &self.side, &self.routes].iter().all(|file| is_plain(&file.name))
    }
}

/// True for a name that cannot lead out of the folder.
fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'.')
        && !name.starts_with('.')
}

/// Bytes of all files that a manifest names; a missing file counts as named.
pub fn index_bytes(manifest: &Manifest) -> u64 {
    manifest.parts.iter().map(PartEntry::bytes).fold(manifest.removed.bytes, u64::saturating_add)
}
