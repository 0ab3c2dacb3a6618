//! Repair of a damaged journal: what is whole is copied to a new file, the damaged file is set aside untouched.
//!
//! Nothing is lost that was still readable, and the report says how much was not. The index is not touched; it no
//! longer fits the journal and is built again by the next fold. A kill at any instant leaves the journal before or
//! after.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::deadline::Deadline;
use crate::store::error::{AppendError, FileError, RepairError};
use crate::store::journal::{self, FOLDER, Journal};
use crate::store::wire::{self, Head};
use crate::store::{file, frame, write};

/// What a repair found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repaired {
    /// Operations that were whole.
    pub recovered: u64,
    /// Lines that were not; each held one operation at most, or the header of a file.
    pub lost: u64,
    /// Damaged files, under their new names; they keep what could not be read until the next `compact`.
    pub set_aside: Vec<PathBuf>,
}

/// Repairs the journal of the store at `root`; a journal without damage is left as it is.
pub fn repair(root: &Path, deadline: Deadline) -> Result<Repaired, RepairError> {
    let _lock = write::lock(root, deadline)?;
    let journal = write::open_for_writing(root)?;
    let mut repaired = Repaired::default();
    let mut bytes = Vec::new();
    frame::encode(&wire::header(journal.highest).map_err(AppendError::from)?, &mut bytes);
    let pass = journal.read(None, &mut |_, json| {
        if !matches!(wire::decode_head(json), Head::Header { .. }) {
            frame::encode(json, &mut bytes);
            repaired.recovered += 1;
        }
        true
    })?;
    repaired.lost = pass.damaged;
    if pass.damaged == 0 && journal.files.iter().all(ends_whole) {
        return Ok(repaired);
    }
    let dir = root.join(FOLDER);
    for file in &journal.files {
        let aside = dir.join(format!("{}.damaged", file.number));
        match fs::hard_link(&file.path, &aside) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                fs::copy(&file.path, &aside).map_err(FileError::new("copy", &file.path))?;
            }
            _ => {}
        }
        repaired.set_aside.push(aside);
    }
    file::publish(&journal::path_of(&dir, journal.highest + 1), &dir.join("new"), &bytes)?;
    for file in &journal.files {
        file::remove(&file.path)?;
    }
    Ok(repaired)
}

fn ends_whole(file: &journal::JournalFile) -> bool {
    Journal::last_byte(file).is_ok_and(|byte| byte == Some(b'\n'))
}
