//! What can go wrong with a saved run, each with the place and the remedy.

use std::io;
use std::path::PathBuf;

/// A saved run cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum RecordFault {
    /// The file system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's word.
        source: io::Error,
    },
    /// The file system refused in the middle of a run: what is saved of it is not whole.
    #[error("{}: the run cannot be saved: {source}", path.display())]
    Unwritable {
        /// The file or folder.
        path: PathBuf,
        /// The system's word.
        source: io::Error,
    },
    /// There is a run in the folder already.
    #[error("{} already holds a saved run", path.display())]
    Occupied {
        /// The folder.
        path: PathBuf,
    },
    /// The first line is not the header of a saved run.
    #[error("{}:1: not a saved run: {why}", path.display())]
    NotARun {
        /// The file.
        path: PathBuf,
        /// What the first line is instead.
        why: String,
    },
    /// Written by a later hookbench with another major version of the format.
    #[error("{}:1: format version {found}.x is newer than {known}.x, the newest known here", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Major version in the file.
        found: u32,
        /// Newest major version known here.
        known: u32,
    },
    /// A line inside the file cannot be read.
    #[error("{}:{line}: damaged line: {why}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Line number, from 1.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
}

impl RecordFault {
    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            RecordFault::Unwritable { .. } => "make room on the disk, keep the folder in place, and run again",
            RecordFault::Io { .. } => "check that the folder exists and may be read and written",
            RecordFault::Occupied { .. } => "name another folder with --out, or remove this one",
            RecordFault::NotARun { .. } => "name a folder that `hookbench run --out` has written",
            RecordFault::Newer { .. } => "update hookbench, or make the run again with this version",
            RecordFault::Damaged { .. } => "the file was changed after the run; make the run again",
        }
    }
}
