//! `hookbench compare`: what differs between two saved runs.

use std::path::PathBuf;

use clap::Args;

use crate::compare::{Comparison, ComparisonFile, Side};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::report::comparison;

/// Arguments of `compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Folder of the saved run to compare with.
    #[arg(value_name = "BEFORE")]
    pub before: PathBuf,
    /// Folder of the saved run that may be better or worse.
    #[arg(value_name = "AFTER")]
    pub after: PathBuf,
    /// Print JSON instead of tables.
    #[arg(long)]
    pub json: bool,
}

/// The comparison as tables or JSON, and its exit code.
///
/// # Errors
/// A folder that holds no readable run.
pub fn compare(args: &CompareArgs) -> Result<(String, ExitCode), Failure> {
    let (before, after) = (Side::read(&args.before)?, Side::read(&args.after)?);
    let compared = Comparison::of(&before, &after);
    let text = if args.json { ComparisonFile::of(&compared).to_text() } else { comparison::render(&compared) };
    Ok((text, compared.exit_code()))
}
