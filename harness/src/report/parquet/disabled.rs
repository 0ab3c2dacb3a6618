//! What a build without Parquet says.

use std::path::Path;

use crate::failure::Failure;
use crate::summary::Summary;

/// Refuses, and says how to get a build that can.
///
/// # Errors
/// Always.
pub fn write(_summary: &Summary, _file: &Path) -> Result<(), Failure> {
    Err(Failure::usage(
        "--to parquet",
        "this build of hookbench cannot write Parquet",
        "build it with `cargo install --path harness --features parquet`, or take --to json",
    ))
}
