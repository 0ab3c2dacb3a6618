//! `hookbench compare`: what differs between two saved runs.

use crate::cli::CompareArgs;
use crate::compare::{Comparison, ComparisonFile, Side};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::report::comparison;

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
