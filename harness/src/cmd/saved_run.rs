//! Where a run is kept: the folder of the saved run, and the files of its reports.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cli::OutArgs;
use crate::failure::Failure;
use crate::record::{EVENTS_FILE, RunWriter};
use crate::report::{junit, markdown};
use crate::summary::Summary;

/// Where a run is saved unless told otherwise.
const LAST: &str = ".hookbench/last";

/// Opens the saved run. The default folder is replaced; a folder that the user names must be free.
///
/// # Errors
/// A folder that is taken, or that cannot be written.
pub(super) fn saved_run(args: &OutArgs) -> Result<RunWriter, Failure> {
    let folder = args.out.clone().unwrap_or_else(|| PathBuf::from(LAST));
    if args.out.is_none() {
        clear(&folder)?;
    }
    Ok(RunWriter::create(&folder)?)
}

/// Removes a saved run from a default folder. Only a folder that holds a run is ours to remove.
///
/// # Errors
/// A folder that cannot be removed.
pub(super) fn clear(folder: &Path) -> Result<(), Failure> {
    if folder.join(EVENTS_FILE).is_file() {
        fs::remove_dir_all(folder).map_err(|error| {
            let message = format!("the last run cannot be replaced: {error}");
            Failure::usage(folder, message, "name a folder with --out")
        })?;
    }
    Ok(())
}

/// Writes the report files that were asked for.
///
/// # Errors
/// A file that cannot be written.
pub(super) fn write_reports(args: &OutArgs, summary: &Summary) -> Result<(), Failure> {
    write_report(args.junit.as_deref(), &junit::render(summary))?;
    write_report(args.markdown.as_deref(), &markdown::render(summary))
}

/// Finds out before the run that a report would have no folder after it.
///
/// # Errors
/// The first report without a folder.
pub(super) fn check_report_places(args: &OutArgs) -> Result<(), Failure> {
    for path in [&args.junit, &args.markdown].into_iter().flatten() {
        if path.is_dir() {
            return Err(Failure::usage(path, "is a folder", "name a file for the report"));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if folder.is_some_and(|folder| !folder.is_dir()) {
            let remedy = "make the folder first, or name a file in a folder that exists";
            return Err(Failure::usage(path, "there is no such folder for the report", remedy));
        }
    }
    Ok(())
}

/// Writes one report file, when one was asked for.
fn write_report(path: Option<&Path>, text: &str) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    fs::write(path, text).map_err(|error| {
        Failure::usage(path, format!("the report cannot be written: {error}"), "name a file in a folder that exists")
    })
}
