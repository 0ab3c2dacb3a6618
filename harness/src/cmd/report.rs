//! `hookbench report`: the report of a saved run, from the same code as the live one.

use crate::cli::{ReportArgs, To};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::record;
use crate::report::{json, junit, markdown, terminal};

/// The report, and the exit code that the run had.
///
/// # Errors
/// A folder that holds no readable run.
pub fn report(args: &ReportArgs) -> Result<(String, ExitCode), Failure> {
    let summary = record::replay(&args.run)?;
    let text = match args.to {
        To::Terminal => terminal::render(&summary),
        To::Json => json::render(&summary),
        To::Junit => junit::render(&summary),
        To::Markdown => markdown::render(&summary),
    };
    Ok((text, ExitCode::of(&summary, args.strict)))
}
