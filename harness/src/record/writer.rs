//! Writes a saved run, one line per event, each handed to the operating system as it is made.
//!
//! A run that dies leaves every event up to its death. No run is ever overwritten; one that is gone on with loses only
//! what its caller does not keep, and loses it whole or not at all. The summary is written whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::fault::RecordFault;
use super::reader::RunReader;
use super::summary_file::SummaryFile;
use super::wire::{FORMAT, MAJOR, MINOR, WireEvent, WireHeader};
use super::{EVENTS_FILE, SUMMARY_FILE};
use crate::run_event::RunEvent;
use crate::summary::Summary;

/// Most bytes of each captured stream that a saved run keeps.
pub const MAX_STREAM_BYTES: usize = 64 * 1024;

/// A saved run that is being written.
#[derive(Debug)]
pub struct RunWriter {
    folder: PathBuf,
    events: File,
}

impl RunWriter {
    /// Starts a saved run in a folder, which is made when absent.
    ///
    /// # Errors
    /// [`RecordFault::Occupied`] when the folder holds a run already; [`RecordFault::Io`] from the file system.
    pub fn create(folder: &Path) -> Result<RunWriter, RecordFault> {
        fs::create_dir_all(folder).map_err(io_fault(folder))?;
        let path = folder.join(EVENTS_FILE);
        let events = match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(events) => events,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(RecordFault::Occupied { path: folder.to_owned() });
            }
            Err(source) => return Err(RecordFault::Io { path, source }),
        };
        let mut writer = RunWriter { folder: folder.to_owned(), events };
        writer.write_line(&WireHeader { format: FORMAT.to_owned(), major: MAJOR, minor: MINOR })?;
        Ok(writer)
    }

    /// Goes on with the saved run in a folder. Events that `keep` refuses and a torn last line are cut off; it sees
    /// every event in the order of the file. The lines that stay are not changed.
    ///
    /// # Errors
    /// What [`RunReader`] finds wrong, or [`RecordFault::Io`]; the saved run is then as it was.
    pub fn resume(folder: &Path, keep: impl FnMut(&RunEvent) -> bool) -> Result<RunWriter, RecordFault> {
        let partial = folder.join(format!("{EVENTS_FILE}.partial"));
        let resumed = RunWriter::copy_kept(folder, &partial, keep).and_then(|writer| {
            let path = folder.join(EVENTS_FILE);
            fs::rename(&partial, &path).map_err(io_fault(&path))?;
            Ok(writer)
        });
        if resumed.is_err() {
            // Whatever it was, the run is as it was; what could not be copied is of no use.
            let _ = fs::remove_file(&partial);
        }
        resumed
    }

    fn copy_kept(
        folder: &Path,
        partial: &Path,
        mut keep: impl FnMut(&RunEvent) -> bool,
    ) -> Result<RunWriter, RecordFault> {
        let mut reader = RunReader::open(folder)?;
        let events = File::create(partial).map_err(io_fault(partial))?;
        let mut writer = RunWriter { folder: folder.to_owned(), events };
        // Events to come may be of a newer minor version than those that stay.
        writer.write_line(&WireHeader { format: FORMAT.to_owned(), major: MAJOR, minor: MINOR })?;
        while let Some((mut line, event)) = reader.next_with_line()? {
            if keep(&event) {
                line.push(b'\n');
                writer.events.write_all(&line).map_err(io_fault(partial))?;
            }
        }
        writer.events.sync_data().map_err(io_fault(partial))?;
        Ok(writer)
    }

    /// Appends one event.
    ///
    /// # Errors
    /// [`RecordFault::Unwritable`] from the file system.
    pub fn write(&mut self, event: &RunEvent) -> Result<(), RecordFault> {
        self.write_line(&WireEvent::of(event, MAX_STREAM_BYTES))
    }

    fn write_line(&mut self, line: &impl Serialize) -> Result<(), RecordFault> {
        let path = || self.folder.join(EVENTS_FILE);
        let mut bytes =
            serde_json::to_vec(line).map_err(|error| RecordFault::Unwritable { path: path(), source: error.into() })?;
        bytes.push(b'\n');
        // One write per line and no buffer in between: a torn line can only be the last.
        self.events.write_all(&bytes).map_err(|source| RecordFault::Unwritable { path: path(), source })
    }

    /// Writes the summary beside the events and ends the saved run.
    ///
    /// # Errors
    /// [`RecordFault::Unwritable`] from the file system.
    pub fn finish(self, summary: &Summary) -> Result<(), RecordFault> {
        self.events.sync_data().map_err(unwritable(&self.folder.join(EVENTS_FILE)))?;
        let path = self.folder.join(SUMMARY_FILE);
        let partial = self.folder.join(format!("{SUMMARY_FILE}.partial"));
        fs::write(&partial, SummaryFile::of(summary).to_text()).map_err(unwritable(&partial))?;
        fs::rename(&partial, &path).map_err(unwritable(&path))
    }
}

fn unwritable(path: &Path) -> impl FnOnce(io::Error) -> RecordFault {
    let path = path.to_owned();
    move |source| RecordFault::Unwritable { path, source }
}

fn io_fault(path: &Path) -> impl FnOnce(io::Error) -> RecordFault {
    let path = path.to_owned();
    move |source| RecordFault::Io { path, source }
}
