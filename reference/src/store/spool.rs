//! Records that could not get the lock in time, set down beside the journal for the next writer to take in.
//!
//! Each spool file is written whole, synced and renamed, so it is there or it is not. The writer that takes one in
//! syncs the journal before it deletes the file; a crash between the two repeats an operation, which changes
//! nothing. Readers do not look here: a spooled record is safe at once and found after the next write.

use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use crate::store::error::{AppendError, FileError};
use crate::store::journal::FOLDER;
use crate::store::wire::{self, Op};
use crate::store::{file, frame};

const PREFIX: &str = "pending-";
const SUFFIX: &str = ".jsonl";
/// Start of the names of spool files that are being written.
pub(crate) const TEMPORARY_PREFIX: &str = "new-";

/// Writes the operations to a spool file of their own and gives its path. Takes no lock.
pub fn spool(root: &Path, ops: &[Op]) -> Result<PathBuf, AppendError> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    file::create_root(root)?;
    let dir = root.join(FOLDER);
    file::create_dir(&dir)?;
    let mut bytes = Vec::new();
    frame::encode(&wire::header(0)?, &mut bytes);
    for op in ops {
        encode(op, &mut bytes)?;
    }
    // The clock only makes the name unique across reused pids, and old files come first when it is right.
    let nanos = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |age| age.as_nanos());
    let name = format!("{nanos:032}-{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let path = dir.join(format!("{PREFIX}{name}{SUFFIX}"));
    file::publish(&path, &dir.join(format!("{TEMPORARY_PREFIX}{name}")), &bytes)?;
    Ok(path)
}

/// Frames one operation, or says that it is too large to be read back.
pub(crate) fn encode(op: &Op, bytes: &mut Vec<u8>) -> Result<(), AppendError> {
    let json = wire::encode_op(op)?;
    if json.len() + 64 > frame::MAX_LINE_BYTES {
        return Err(AppendError::TooLarge(json.len()));
    }
    frame::encode(&json, bytes);
    Ok(())
}

/// Spool files of the store, oldest first by name.
pub fn pending(root: &Path) -> Result<Vec<PathBuf>, FileError> {
    let dir = root.join(FOLDER);
    let mut names = file::names(&dir)?;
    names.retain(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX));
    names.sort_unstable();
    Ok(names.into_iter().map(|name| dir.join(name)).collect())
}

/// The operations of one spool file; damaged lines are left out.
pub(crate) fn read(path: &Path) -> Result<Vec<Op>, FileError> {
    let handle = file::open_read(path)?;
    let mut ops = Vec::new();
    frame::read(&mut BufReader::new(handle), 0, &mut |_, json| {
        match wire::decode_head(json) {
            wire::Head::Upsert { restore, .. } => ops.extend(
                wire::decode_document(json).map(|document| Op::Upsert { document: Box::new(document), restore }),
            ),
            wire::Head::Remove { .. } => ops.push(Op::Remove { ids: wire::decode_ids(json) }),
            wire::Head::Header { .. } | wire::Head::Unknown => {}
        }
        true
    })
    .map_err(FileError::new("read", path))?;
    Ok(ops)
}
