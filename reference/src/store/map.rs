//! Read-only memory maps of published index files; the one place of the store that needs `unsafe`.
//!
//! A published file is never changed and never truncated, only unlinked, and a map survives that. The length is
//! checked against the manifest before anything is mapped, so a file that was cut short is refused, not mapped.
#![expect(unsafe_code, reason = "mapping a file is a promise about the file that the compiler cannot check")]

use std::fs::File;
use std::io;
use std::ops::{Deref, Range};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use memmap2::Mmap;
use tantivy::directory::OwnedBytes;

use crate::store::error::FileError;
use crate::store::file;

/// The bytes of a whole file; cheap to clone.
#[derive(Debug, Clone)]
pub struct Map {
    bytes: OwnedBytes,
    file: Arc<File>,
}

impl Map {
    /// Maps the file if its length is `expected` bytes.
    pub fn open(path: &Path, expected: u64) -> Result<Map, FileError> {
        let file = file::open_read(path)?;
        let length = file.metadata().map_err(FileError::new("examine", path))?.len();
        if length != expected {
            let why = format!("it has {length} bytes and should have {expected}");
            return Err(FileError { action: "map", path: path.to_path_buf(), source: io::Error::other(why) });
        }
        if length == 0 {
            return Ok(Map { bytes: OwnedBytes::empty(), file: Arc::new(file) });
        }
        // SAFETY: published files are written under another name, synced, renamed and then never written or
        // truncated by any release; the length was checked on this very handle.
        let map = unsafe { Mmap::map(&file) }.map_err(FileError::new("map", path))?;
        Ok(Map { bytes: OwnedBytes::new(map), file: Arc::new(file) })
    }

    /// The bytes in the form that the postings library takes.
    pub fn bytes(&self) -> &OwnedBytes {
        &self.bytes
    }

    /// Copies a range out by a read call. A long run of bytes that is used once costs less this way: touching a map
    /// brings in pages around each place, all of which count as the process's memory.
    pub fn read(&self, range: Range<usize>) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; range.len()];
        self.read_into(range.start, &mut bytes)?;
        Ok(bytes)
    }

    /// As [`Map::read`], into a buffer.
    pub fn read_into(&self, start: usize, buffer: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(buffer, start as u64)
    }
}

impl Deref for Map {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes.as_slice()
    }
}
