//! Reading the journal: which files are live, and their records in order.
//!
//! A file whose header says `replaces: n` supersedes every file numbered `n` or below: that is how a rewritten
//! journal takes the place of the old one in a single rename. Handles are opened once, so that a rewrite by
//! another process does not take a file away in the middle of a pass. Not here: writing (`write`).

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::store::error::FileError;
use crate::store::{file, frame, wire};

/// Name of the journal's folder in a store.
pub const FOLDER: &str = "journal";

/// A header is far shorter.
const HEADER_BYTES: usize = 512;

/// A place between two records of the journal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Number of the file.
    pub file: u64,
    /// Bytes from its start.
    pub offset: u64,
}

/// One live file.
#[derive(Debug)]
pub struct JournalFile {
    /// Its number.
    pub number: u64,
    /// Where it lies.
    pub path: PathBuf,
    /// Bytes when it was opened; a pass goes no further.
    pub length: u64,
    /// Version in its header; `None` when the header is damaged.
    pub version: Option<u32>,
    handle: File,
}

/// The live files of a journal, oldest first.
#[derive(Debug, Default)]
pub struct Journal {
    /// Live files in ascending order of their numbers.
    pub files: Vec<JournalFile>,
    /// Paths of superseded files, which a writer may delete.
    pub superseded: Vec<PathBuf>,
    /// Files up to this number are superseded.
    pub replaces: u64,
    /// Highest number in use, superseded and set-aside files included.
    pub highest: u64,
}

/// What one pass met.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pass {
    /// Where the next pass would start; `None` for an empty journal.
    pub end: Option<Position>,
    /// Damaged lines.
    pub damaged: u64,
}

impl Journal {
    /// Opens the live files of the store at `root`; a missing store is an empty journal. Creates nothing.
    pub fn open(root: &Path) -> Result<Journal, FileError> {
        let dir = root.join(FOLDER);
        let mut tries = 0;
        loop {
            tries += 1;
            match open_files(&dir) {
                // A rewrite may remove a file between the listing and the open.
                Err(error) if error.source.kind() == io::ErrorKind::NotFound && tries < 5 => {}
                journal => return journal,
            }
        }
    }

    /// A journal of one file that lies under another name than its number's.
    pub(crate) fn of_file(path: &Path, number: u64) -> Result<Journal, FileError> {
        let mut journal = Journal { highest: number, ..Journal::default() };
        journal.files.push(open_file(path.to_path_buf(), number)?.0);
        Ok(journal)
    }

    /// The highest version among the headers; 0 for an empty journal.
    pub fn version(&self) -> u32 {
        self.files.iter().filter_map(|file| file.version).max().unwrap_or(0)
    }

    /// True when a pass can start here.
    pub fn holds(&self, position: Position) -> bool {
        self.files.iter().any(|file| file.number == position.file && position.offset <= file.length)
    }

    /// Bytes behind a position, or of everything.
    pub fn bytes_behind(&self, from: Option<Position>) -> u64 {
        self.files.iter().map(|file| file.length.saturating_sub(start_in(file, from))).sum()
    }

    /// Calls `visit(position, json)` for each whole record behind `from`, headers included, until it returns
    /// false.
    pub fn read(
        &self,
        from: Option<Position>,
        visit: &mut dyn FnMut(Position, &[u8]) -> bool,
    ) -> Result<Pass, FileError> {
        let mut pass = Pass { end: from, damaged: 0 };
        let mut go_on = true;
        for file in &self.files {
            if !go_on || from.is_some_and(|from| file.number < from.file) {
                continue;
            }
            let start = start_in(file, from);
            let range = Range { file: &file.handle, at: start, end: file.length };
            let size = usize::try_from(file.length.saturating_sub(start)).unwrap_or(usize::MAX).clamp(1, 256 << 10);
            let found = frame::read(&mut BufReader::with_capacity(size, range), start, &mut |offset, json| {
                go_on = visit(Position { file: file.number, offset }, json);
                go_on
            })
            .map_err(FileError::new("read", &file.path))?;
            pass.damaged += found.damaged;
            pass.end = Some(Position { file: file.number, offset: found.end });
        }
        Ok(pass)
    }

    /// The start of the first whole line such that at most `bytes` lie behind it, but not before `from`; with
    /// true when lines between `from` and it are left out.
    pub fn bounded(&self, from: Option<Position>, bytes: u64) -> Result<(Option<Position>, bool), FileError> {
        if self.bytes_behind(from) <= bytes {
            return Ok((from, false));
        }
        let mut left = bytes;
        for file in self.files.iter().rev() {
            let start = start_in(file, from);
            let length = file.length.saturating_sub(start);
            if length <= left {
                left -= length;
                continue;
            }
            let cut = file.length - left;
            // A line feed just before the cut means that a line starts there.
            let mut range = BufReader::new(Range { file: &file.handle, at: cut.saturating_sub(1), end: file.length });
            let skipped = range.skip_until(b'\n').map_err(FileError::new("read", &file.path))? as u64;
            return Ok((Some(Position { file: file.number, offset: cut.saturating_sub(1) + skipped }), true));
        }
        Ok((from, false))
    }

    /// The last byte of a file, if it has one.
    pub(crate) fn last_byte(file: &JournalFile) -> Result<Option<u8>, FileError> {
        let mut byte = [0];
        let read = file
            .handle
            .read_at(&mut byte, file.length.saturating_sub(1))
            .map_err(FileError::new("read", &file.path))?;
        Ok((read == 1).then_some(byte[0]))
    }
}

fn start_in(file: &JournalFile, from: Option<Position>) -> u64 {
    match from {
        Some(from) if from.file == file.number => from.offset.min(file.length),
        Some(from) if from.file > file.number => file.length,
        _ => 0,
    }
}

fn open_files(dir: &Path) -> Result<Journal, FileError> {
    let mut journal = Journal::default();
    if !file::check_dir(dir)? {
        return Ok(journal);
    }
    let mut numbers = Vec::new();
    for name in file::names(dir)? {
        let number = |stem: &str| stem.parse::<u64>().ok().filter(|number| number.to_string() == stem);
        if let Some(number) = name.strip_suffix(".jsonl").and_then(number) {
            numbers.push(number);
        } else if let Some(number) = name.strip_suffix(".damaged").and_then(number) {
            journal.highest = journal.highest.max(number);
        }
    }
    numbers.sort_unstable();
    for number in numbers {
        let (file, replaces) = open_file(path_of(dir, number), number)?;
        journal.replaces = journal.replaces.max(replaces);
        journal.highest = journal.highest.max(number);
        journal.files.push(file);
    }
    let replaces = journal.replaces;
    journal.files.retain(|file| {
        let live = file.number > replaces;
        if !live {
            journal.superseded.push(file.path.clone());
        }
        live
    });
    Ok(journal)
}

/// Opens a file and reads its header; gives what it supersedes as well.
fn open_file(path: PathBuf, number: u64) -> Result<(JournalFile, u64), FileError> {
    let handle = file::open_read(&path)?;
    let length = handle.metadata().map_err(FileError::new("examine", &path))?.len();
    let mut head = [0; HEADER_BYTES];
    let read = handle.read_at(&mut head, 0).map_err(FileError::new("read", &path))?;
    let header = head.get(..read).and_then(frame::decode).map(|(json, _)| wire::decode_head(json));
    let (version, replaces) = match header {
        // A file cannot supersede itself or what came after it.
        Some(wire::Head::Header { version, replaces }) => (Some(version), replaces.min(number.saturating_sub(1))),
        _ => (None, 0),
    };
    Ok((JournalFile { number, path, length, version, handle }, replaces))
}

/// Where the journal file with this number lies in the journal's folder.
pub fn path_of(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("{number}.jsonl"))
}

/// Positioned reads of a part of a file; the handle's own offset stays untouched.
struct Range<'a> {
    file: &'a File,
    at: u64,
    end: u64,
}

impl Read for Range<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let size = buffer.len().min(left);
        let read = self.file.read_at(buffer.get_mut(..size).unwrap_or(&mut []), self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}
