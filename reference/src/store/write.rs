//! Writing: the lock, the append, and what is worth appending.
//!
//! Guarantee: when [`Writer::upsert`] or [`Writer::remove`] returns, what they report as appended is on the disk
//! (`fdatasync`), and a kill at any instant leaves every earlier record whole. Nothing is ever truncated: behind a
//! torn tail the next record starts on a fresh line. A repeated document appends nothing; a removed id stays
//! removed until it is restored. Not here: index building (`fold`).

use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::deadline::Deadline;
use crate::document::SourceDocument;
use crate::store::error::{AppendError, FileError, ReadError};
use crate::store::format::JOURNAL_VERSION;
use crate::store::journal::{self, FOLDER, Journal};
use crate::store::lock::Lock;
use crate::store::snapshot::{Presence, Snapshot, TailLimit};
use crate::store::wire::{self, Op, evidence_hash, id_hash};
use crate::store::{file, frame, spool};

/// Bytes gathered before one write call.
const CHUNK_BYTES: usize = 1 << 20;
/// Ids in one removal line.
const IDS_PER_LINE: usize = 1_000;

/// Which documents to remove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Removal {
    /// The document with this id; it is kept out even when it is not there yet.
    Id(String),
    /// These ids, each as with [`Removal::Id`].
    Ids(Vec<String>),
    /// Every document of a segment, by its `group_id`.
    Group(String),
    /// Every document captured before this time, in milliseconds since 1970. Documents without a time stay.
    Before(i64),
}

/// What an upsert did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Upserted {
    /// Documents that were new or changed and are now on the disk.
    pub appended: usize,
    /// Documents that the store held already, word for word.
    pub unchanged: usize,
    /// Documents whose id was removed earlier and that were therefore not stored.
    pub forgotten: usize,
    /// Documents older than the one that the store holds under the same id.
    pub outdated: usize,
}

/// The one writer of a store, as long as it lives.
#[derive(Debug)]
pub struct Writer {
    root: PathBuf,
    snapshot: Snapshot,
    /// Hash of what this writer appended, by id hash; the snapshot is older than that.
    seen: HashMap<u64, Option<u64>>,
    handle: File,
    path: PathBuf,
    buffer: Vec<u8>,
    _lock: Lock,
}

impl Writer {
    /// Takes the lock, makes the journal ready and takes in what other writers spooled. Creates the store when it
    /// is missing.
    pub fn open(root: &Path, deadline: Deadline) -> Result<Writer, AppendError> {
        let lock = lock(root, deadline)?;
        Writer::with_lock(root, lock, TailLimit::default())
    }

    /// As [`Writer::open`], but sees every record, however much of the journal is not folded. For removals.
    pub fn open_complete(root: &Path, deadline: Deadline) -> Result<Writer, AppendError> {
        let lock = lock(root, deadline)?;
        Writer::with_lock(root, lock, TailLimit::NONE)
    }

    fn with_lock(root: &Path, lock: Lock, limit: TailLimit) -> Result<Writer, AppendError> {
        let journal = open_for_writing(root)?;
        for path in &journal.superseded {
            file::remove(path)?;
        }
        let (path, handle) = active_file(root, &journal)?;
        let snapshot = Snapshot::open_with(root, limit).map_err(|crate::store::error::OpenError::Io(error)| error)?;
        let mut writer = Writer {
            root: root.to_path_buf(),
            snapshot,
            seen: HashMap::new(),
            handle,
            path,
            buffer: Vec::new(),
            _lock: lock,
        };
        writer.take_in_spooled()?;
        Ok(writer)
    }

    /// The store as it was when the lock was taken.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Stores documents, in order. `restore` lifts tombstones; without it a removed id stays removed.
    pub fn upsert(
        &mut self,
        documents: impl IntoIterator<Item = SourceDocument>,
        restore: bool,
    ) -> Result<Upserted, AppendError> {
        let mut done = Upserted::default();
        for document in documents {
            self.add(document, restore, &mut done)?;
        }
        self.flush(true)?;
        Ok(done)
    }

    /// Removes documents and gives the ids that are now kept out.
    pub fn remove(&mut self, removal: &Removal) -> Result<Vec<String>, AppendError> {
        let ids = match removal {
            Removal::Id(id) => vec![id.clone()],
            Removal::Ids(ids) => ids.clone(),
            Removal::Group(group) => self.ids_where(&|document| document.group_id == *group),
            Removal::Before(time) => self.ids_where(&|document| document.timestamp_ms.is_some_and(|at| at < *time)),
        };
        for ids in ids.chunks(IDS_PER_LINE) {
            spool::encode(&Op::Remove { ids: ids.to_vec() }, &mut self.buffer)?;
            self.seen.extend(ids.iter().map(|id| (id_hash(id), None)));
        }
        self.flush(true)?;
        Ok(ids)
    }

    fn ids_where(&self, wanted: &dyn Fn(&SourceDocument) -> bool) -> Vec<String> {
        let live = self.snapshot.live();
        let documents = live.filter_map(|number| self.snapshot.document(number).ok());
        documents.filter(|document| wanted(document)).map(|document| document.doc_id).collect()
    }

    fn add(&mut self, document: SourceDocument, restore: bool, done: &mut Upserted) -> Result<(), AppendError> {
        let id = id_hash(&document.doc_id);
        let hash = content_hash(&document)?;
        let known = match self.seen.get(&id) {
            Some(Some(hash)) => Known::Same(*hash),
            Some(None) => Known::Forgotten,
            None => match self.snapshot.presence(id) {
                Presence::Absent => Known::Absent,
                Presence::Removed => Known::Forgotten,
                Presence::Stored(number) => self.known(number, &document)?,
            },
        };
        match known {
            Known::Same(stored) if stored == hash => done.unchanged += 1,
            Known::Forgotten if !restore => done.forgotten += 1,
            Known::Newer => done.outdated += 1,
            Known::Same(_) | Known::Absent | Known::Forgotten => {
                done.appended += 1;
                self.seen.insert(id, Some(hash));
                spool::encode(&Op::Upsert { document: Box::new(document), restore }, &mut self.buffer)?;
                self.flush(false)?;
            }
        }
        Ok(())
    }

    fn known(&self, number: u32, document: &SourceDocument) -> Result<Known, AppendError> {
        match self.snapshot.text(number) {
            // A spooled or repeated record may arrive after its successor.
            Ok((stored, _)) if stored.timestamp_ms > document.timestamp_ms => Ok(Known::Newer),
            Ok((stored, evidence)) => Ok(Known::Same(hash_of(&stored, evidence)?)),
            Err(ReadError::Missing(_) | ReadError::Damaged(_)) => Ok(Known::Absent),
        }
    }

    fn take_in_spooled(&mut self) -> Result<(), AppendError> {
        for path in spool::pending(&self.root)? {
            let Ok(ops) = spool::read(&path) else {
                continue;
            };
            for op in ops {
                match op {
                    Op::Upsert { document, restore } => {
                        self.upsert([*document], restore)?;
                    }
                    Op::Remove { ids } => {
                        self.remove(&Removal::Ids(ids))?;
                    }
                }
            }
            file::remove(&path)?;
        }
        Ok(())
    }

    fn flush(&mut self, sync: bool) -> Result<(), AppendError> {
        if self.buffer.len() >= CHUNK_BYTES || (sync && !self.buffer.is_empty()) {
            self.handle.write_all(&self.buffer).map_err(FileError::new("append to", &self.path))?;
            self.buffer.clear();
        }
        if sync {
            self.handle.sync_data().map_err(FileError::new("sync", &self.path))?;
        }
        Ok(())
    }
}

enum Known {
    Absent,
    Forgotten,
    Newer,
    Same(u64),
}

fn content_hash(document: &SourceDocument) -> Result<u64, AppendError> {
    hash_of(document, evidence_hash(&document.evidence))
}

fn hash_of(document: &SourceDocument, evidence: u64) -> Result<u64, AppendError> {
    let text = wire::encode_text(&SourceDocument { evidence: Default::default(), ..document.clone() })?;
    Ok(xxhash_rust::xxh3::xxh3_64_with_seed(&text, evidence))
}

/// Takes the append lock, making the folders first.
pub(crate) fn lock(root: &Path, deadline: Deadline) -> Result<Lock, AppendError> {
    file::create_root(root)?;
    let dir = root.join(FOLDER);
    file::create_dir(&dir)?;
    let path = dir.join("lock");
    Lock::acquire(&path, deadline)?.ok_or(AppendError::Busy(path))
}

/// Opens the journal and refuses one that a newer release wrote.
pub(crate) fn open_for_writing(root: &Path) -> Result<Journal, AppendError> {
    let journal = Journal::open(root)?;
    match journal.files.iter().find(|file| file.version.is_some_and(|version| version > JOURNAL_VERSION)) {
        Some(newer) => Err(AppendError::Newer { path: newer.path.clone(), found: newer.version.unwrap_or_default() }),
        None => Ok(journal),
    }
}

/// The file to append to, its tail on a fresh line: the last one, or a new one when there is none or its header
/// is damaged.
fn active_file(root: &Path, journal: &Journal) -> Result<(PathBuf, File), AppendError> {
    let dir = root.join(FOLDER);
    if let Some(last) = journal.files.last().filter(|file| file.version.is_some()) {
        let mut handle = file::open_append(&last.path)?;
        if Journal::last_byte(last)? != Some(b'\n') {
            handle.write_all(b"\n").map_err(FileError::new("append to", &last.path))?;
        }
        return Ok((last.path.clone(), handle));
    }
    let path = journal::path_of(&dir, journal.highest + 1);
    let mut bytes = Vec::new();
    frame::encode(&wire::header(journal.replaces)?, &mut bytes);
    file::publish(&path, &dir.join("new"), &bytes)?;
    let handle = file::open_append(&path)?;
    Ok((path, handle))
}
