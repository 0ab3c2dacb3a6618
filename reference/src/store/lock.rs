//! An advisory lock on a file, waited for until a deadline.
//!
//! The kernel frees the lock when its holder dies, however it dies, so there is no stale lock and no pid to
//! judge. The content of the file means nothing.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::deadline::Deadline;
use crate::store::error::FileError;
use crate::store::file;

/// Pause between two tries: short against a hook's budget, long against the cost of a try.
const PAUSE: Duration = Duration::from_millis(2);

/// A held lock; dropping it frees it.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock, trying until the deadline; `None` when another process kept it. Tries at least once.
    pub fn acquire(path: &Path, deadline: Deadline) -> Result<Option<Lock>, FileError> {
        let file = file::open_or_create(path)?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Some(Lock { _file: file })),
                Err(TryLockError::WouldBlock) if deadline.expired() => return Ok(None),
                Err(TryLockError::WouldBlock) => thread::sleep(PAUSE.min(deadline.left())),
                Err(TryLockError::Error(source)) => {
                    return Err(FileError { action: "lock", path: path.to_path_buf(), source });
                }
            }
        }
    }
}
