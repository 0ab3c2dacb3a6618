//! Compaction: a journal of what stands, an index of as few parts as there may be, and nothing else.
//!
//! Afterwards the text of removed and replaced documents is in no byte of the store: not in the journal, the index,
//! the spool or a file set aside by `repair`. Tombstones stay, as ids. The append lock is held all the while;
//! captures that cannot wait spool their records, and the next writer takes them in. The new journal names the
//! files that it supersedes, so one rename decides: a kill before it leaves the old state, one after it the new.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use crate::deadline::Deadline;
use crate::store::build::Replay;
use crate::store::error::{CompactError, FileError};
use crate::store::fold::{self, FoldPolicy};
use crate::store::journal::{self, FOLDER, Journal};
use crate::store::retention::Retention;
use crate::store::wire::{self, Head, Op};
use crate::store::write::{Removal, Writer};
use crate::store::{file, frame, generation, spool};

/// What a compaction did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Compacted {
    /// Documents that stand.
    pub documents: u64,
    /// Documents given up by retention.
    pub expired: u64,
    /// Journal lines that were damaged and are gone now.
    pub damaged: u64,
    /// Bytes of the journal before.
    pub bytes_before: u64,
    /// Bytes of the journal after.
    pub bytes_after: u64,
}

/// Name of a journal file that is being written.
const NEW: &str = "new";
/// A spool file is written in far less time.
const MAKING: Duration = Duration::from_secs(600);

/// Rewrites the store at `root`. The deadline is for the locks only.
pub fn compact(root: &Path, retention: Retention, deadline: Deadline) -> Result<Compacted, CompactError> {
    // An index makes a complete view of the store cheap; without one the whole journal would be held in memory.
    match fold::fold(root, None, FoldPolicy::default()) {
        Ok(_) | Err(crate::store::error::FoldError::Busy) => {}
        Err(error) => return Err(error.into()),
    }
    let Some(_fold_lock) = fold::fold_lock(root, deadline)? else {
        return Err(crate::store::error::FoldError::Busy.into());
    };
    let mut writer = Writer::open_complete(root, deadline)?;
    let excess = retention.excess(writer.snapshot());
    let expired = excess.len() as u64;
    writer.remove(&Removal::Ids(excess))?;

    let old = Journal::open(root)?;
    let found = fold::usable(root, &old)?;
    let replay = Replay::of(&old, None, Default::default(), None)?;
    let dir = root.join(FOLDER);
    let number = old.highest + 1;
    let temporary = dir.join(NEW);
    write_standing(&old, &replay, &temporary)?;
    let new = Journal::of_file(&temporary, number)?;
    let bytes_after = new.bytes_behind(None);
    let (place, folded) = fold::build_unpublished(root, &new, None, 0, found.highest + 1, None, fold::LARGE_PART)?;

    file::rename(&temporary, &journal::path_of(&dir, number))?;
    for file in &old.files {
        file::remove(&file.path)?;
    }
    clear_set_aside(&dir)?;
    generation::publish(root, &place, found.highest + 1)?;
    generation::clear(root, found.highest + 1)?;
    Ok(Compacted {
        documents: folded.indexed,
        expired,
        damaged: replay.damaged,
        bytes_before: old.bytes_behind(None),
        bytes_after,
    })
}

/// Writes a journal of the tombstones and the lines that count.
fn write_standing(old: &Journal, replay: &Replay, path: &Path) -> Result<(), CompactError> {
    file::remove(path)?;
    let mut out = std::io::BufWriter::with_capacity(256 << 10, file::create(path)?);
    let mut bytes = Vec::new();
    frame::encode(&wire::header(old.highest).map_err(crate::store::error::AppendError::from)?, &mut bytes);
    let mut failure = None;
    old.read(None, &mut |position, json| {
        match wire::decode_head(json) {
            Head::Upsert { id, .. } if replay.counts(position, id) => frame::encode(json, &mut bytes),
            Head::Remove { .. } => {
                let mut ids = wire::decode_ids(json);
                ids.retain(|id| replay.tombstones.contains(&wire::id_hash(id)));
                if !ids.is_empty()
                    && let Ok(json) = wire::encode_op(&Op::Remove { ids })
                {
                    frame::encode(&json, &mut bytes);
                }
            }
            _ => {}
        }
        let written = out.write_all(&bytes).map_err(FileError::new("write", path));
        bytes.clear();
        failure = written.err();
        failure.is_none()
    })?;
    if let Some(error) = failure {
        return Err(error.into());
    }
    out.write_all(&bytes).map_err(FileError::new("write", path))?;
    out.flush().map_err(FileError::new("write", path))?;
    out.get_ref().sync_all().map_err(FileError::new("sync", path))?;
    Ok(())
}

/// Removes damaged files that `repair` set aside, and what killed writers left of spool files. A young one may still
/// be in the making and is left to the next compaction.
fn clear_set_aside(dir: &Path) -> Result<(), FileError> {
    for name in file::names(dir)? {
        let path = dir.join(&name);
        let left_over = name.starts_with(spool::TEMPORARY_PREFIX) && file::age(&path) > MAKING;
        if name.ends_with(".damaged") || left_over {
            file::remove(&path)?;
        }
    }
    Ok(())
}
