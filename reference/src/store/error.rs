//! What can go wrong, one enum per operation; every I/O failure names its path.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::store::format::JOURNAL_VERSION;
use crate::store::frame::MAX_LINE_BYTES;

/// An I/O call on one path failed.
#[derive(Debug, Error)]
#[error("cannot {action} {}", path.display())]
pub struct FileError {
    /// What was tried, as a verb.
    pub action: &'static str,
    /// On which path.
    pub path: PathBuf,
    /// Why it failed.
    pub source: io::Error,
}

impl FileError {
    /// For `map_err`: adds the verb and the path.
    pub fn new(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FileError {
        let path = path.to_path_buf();
        move |source| FileError { action, path, source }
    }
}

/// Opening a store for reading failed.
#[derive(Debug, Error)]
pub enum OpenError {
    /// A journal file is there and cannot be read.
    #[error(transparent)]
    Io(#[from] FileError),
}

/// Reading one document failed.
#[derive(Debug, Error)]
pub enum ReadError {
    /// There is no such document, or it was removed.
    #[error("there is no document number {0}")]
    Missing(u32),
    /// The bytes of the document are not what a writer wrote.
    #[error("document number {0} is damaged; rebuild the index with `compact`")]
    Damaged(u32),
}

/// Appending to the journal failed; nothing was acknowledged.
#[derive(Debug, Error)]
pub enum AppendError {
    /// Another process held the lock until the deadline.
    #[error("another process holds {} and the deadline has passed", .0.display())]
    Busy(PathBuf),
    /// A newer release wrote this store; it is not written by this one.
    #[error("{} has journal version {found}; this release writes {JOURNAL_VERSION}", path.display())]
    Newer {
        /// The journal file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// One operation is larger than a reader would accept.
    #[error("a record of {0} bytes is over the limit of {MAX_LINE_BYTES} bytes")]
    TooLarge(usize),
    /// The operation has no JSON form.
    #[error("a record cannot be written as JSON")]
    Encode(#[from] serde_json::Error),
    /// An I/O call failed.
    #[error(transparent)]
    Io(#[from] FileError),
}

/// Building or publishing an index failed; the index before it stands.
#[derive(Debug, Error)]
pub enum FoldError {
    /// Another process is folding.
    #[error("another process is folding this store")]
    Busy,
    /// The deadline passed, or would have; nothing was published.
    #[error("no time left to fold")]
    NoTime,
    /// A newer release wrote the index; it is left alone.
    #[error("{} was written by a newer release (index version {found})", path.display())]
    Newer {
        /// The generation's folder.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// The library that stores the postings refused.
    #[error("cannot build the postings in {}", path.display())]
    Postings {
        /// The folder of the build.
        path: PathBuf,
        /// The library's reason.
        source: ::tantivy::TantivyError,
    },
    /// The index would pass a limit of its format.
    #[error("the index would hold more than {0}")]
    TooLarge(&'static str),
    /// Parsing or encoding what is written failed.
    #[error("cannot encode the index")]
    Encode(#[from] serde_json::Error),
    /// An I/O call failed.
    #[error(transparent)]
    Io(#[from] FileError),
}

/// Rewriting the journal failed.
#[derive(Debug, Error)]
pub enum CompactError {
    /// The journal cannot be locked or written.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// The new index cannot be built.
    #[error(transparent)]
    Fold(#[from] FoldError),
    /// An I/O call failed.
    #[error(transparent)]
    Io(#[from] FileError),
}

/// Repairing a journal failed; the damaged file stands as it was.
#[derive(Debug, Error)]
pub enum RepairError {
    /// The journal cannot be locked or written.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// An I/O call failed.
    #[error(transparent)]
    Io(#[from] FileError),
}
