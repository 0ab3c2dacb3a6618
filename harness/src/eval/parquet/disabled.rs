//! What a build without Parquet says.

use std::path::Path;

use crate::eval::saved::Scores;
use crate::failure::Failure;

/// A file that this build cannot write: there is none.
#[derive(Debug)]
pub enum Table {}

/// Refuses, and says how to get a build that can.
///
/// # Errors
/// Always.
pub fn create(_path: &Path) -> Result<Table, Failure> {
    Err(Failure::usage(
        "--parquet",
        "this build of hookbench cannot write Parquet",
        "build it with `cargo install --path harness --features parquet`, or take scores.jsonl of --out",
    ))
}

impl Table {
    /// Never called, since there is no table.
    ///
    /// # Errors
    /// None.
    pub fn write(self, _scores: &Scores) -> Result<(), Failure> {
        match self {}
    }
}
