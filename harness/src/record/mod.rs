//! The saved run: a folder with `events.jsonl`, every run event as it was made, and `summary.json`, the figures.
//!
//! The events are the truth; the summary is for tools that want numbers and can be made again at any time.
//! An interrupted run leaves a readable file: the reader drops a torn last line and says so. Wire types are
//! here and nowhere else. History of the format stands beside its version in `wire.rs`.

mod comparison_file;
mod fault;
mod reader;
mod summary_file;
mod wire;
mod writer;

use std::path::Path;

pub use self::fault::RecordFault;
pub use self::reader::RunReader;
pub use self::summary_file::{SummaryFile, summary_schema};
pub use self::wire::{FORMAT, MAJOR, MINOR, events_schema};
pub use self::writer::{MAX_STREAM_BYTES, RunWriter};
use crate::summary::Summary;

/// Name of the file of events in a saved run's folder.
pub const EVENTS_FILE: &str = "events.jsonl";
/// Name of the file of figures in a saved run's folder.
pub const SUMMARY_FILE: &str = "summary.json";

/// Reads a saved run back through the same fold that made the reports of the live one.
///
/// # Errors
/// [`RecordFault`] when the folder is no saved run, is of a newer major version, or a line is damaged.
pub fn replay(folder: &Path) -> Result<Summary, RecordFault> {
    let mut summary = Summary::default();
    for event in RunReader::open(folder)? {
        summary.observe(&event?);
    }
    Ok(summary)
}

#[cfg(test)]
mod resume_tests;
#[cfg(test)]
mod sample_tests;
#[cfg(test)]
mod tests;
