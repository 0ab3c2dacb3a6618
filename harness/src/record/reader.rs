//! Reads a saved run back, event by event.
//!
//! Only one line is in memory at a time. A last line without its newline is the trace of an interrupted run:
//! it is dropped when it cannot be read. Any other damage is an error that names the line.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::EVENTS_FILE;
use super::fault::RecordFault;
use super::wire::{FORMAT, MAJOR, MINOR, WireEvent, WireHeader, WireName};
use crate::run_event::RunEvent;

/// An iterator over the events of a saved run; it ends after the first fault.
#[derive(Debug)]
pub struct RunReader {
    path: PathBuf,
    lines: BufReader<File>,
    line: u64,
    minor: u32,
    torn: bool,
    ended: bool,
}

impl RunReader {
    /// Opens the saved run in a folder, or a file of events itself, and checks its format and version.
    ///
    /// # Errors
    /// [`RecordFault::Io`], [`RecordFault::NotARun`] or [`RecordFault::Newer`].
    pub fn open(folder: &Path) -> Result<RunReader, RecordFault> {
        let path = if folder.is_file() { folder.to_owned() } else { folder.join(EVENTS_FILE) };
        let file = File::open(&path).map_err(|source| RecordFault::Io { path: path.clone(), source })?;
        let mut reader = RunReader { path, lines: BufReader::new(file), line: 0, minor: 0, torn: false, ended: false };
        let first = reader.next_line()?.unwrap_or_default();
        let not_a_run = |why: String| RecordFault::NotARun { path: reader.path.clone(), why };
        let header: WireHeader =
            serde_json::from_slice(&first).map_err(|error| not_a_run(format!("no format header ({error})")))?;
        if header.format != FORMAT {
            return Err(not_a_run(format!("the format is `{}`, not `{FORMAT}`", header.format)));
        }
        if header.major > MAJOR {
            return Err(RecordFault::Newer { path: reader.path, found: header.major, known: MAJOR });
        }
        if header.major == 0 {
            return Err(not_a_run("there is no format version 0".to_owned()));
        }
        reader.minor = header.minor;
        Ok(reader)
    }

    /// Whether the last line was torn and dropped. Known only after the last event.
    pub fn torn(&self) -> bool {
        self.torn
    }

    /// The next line without its newline; `None` at the end of the file.
    fn next_line(&mut self) -> Result<Option<Vec<u8>>, RecordFault> {
        let mut line = Vec::new();
        let read = self.lines.read_until(b'\n', &mut line);
        read.map_err(|source| RecordFault::Io { path: self.path.clone(), source })?;
        if line.is_empty() {
            return Ok(None);
        }
        self.line += 1;
        if line.last() == Some(&b'\n') {
            line.pop();
        } else {
            self.torn = true;
        }
        Ok(Some(line))
    }

    /// The next event with its line, as it stands in the file but for the newline.
    pub(super) fn next_with_line(&mut self) -> Result<Option<(Vec<u8>, RunEvent)>, RecordFault> {
        while let Some(line) = self.next_line()? {
            match self.decode(&line) {
                Ok(Some(event)) => {
                    // A whole event without newline lost nothing but the newline.
                    self.torn = false;
                    return Ok(Some((line, event)));
                }
                Ok(None) => {}
                Err(_) if self.torn => return Ok(None),
                Err(why) => return Err(RecordFault::Damaged { path: self.path.clone(), line: self.line, why }),
            }
        }
        Ok(None)
    }

    /// The event of a line; `None` for an event that only a newer minor version knows.
    fn decode(&self, line: &[u8]) -> Result<Option<RunEvent>, String> {
        let name: WireName = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        if !WireEvent::NAMES.contains(&&*name.event) {
            return if self.minor > MINOR { Ok(None) } else { Err(format!("unknown event `{}`", name.event)) };
        }
        let wire: WireEvent = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        wire.into_domain().map(Some)
    }
}

impl Iterator for RunReader {
    type Item = Result<RunEvent, RecordFault>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.next_with_line().map(|next| next.map(|(_, event)| event)).transpose();
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }
}
