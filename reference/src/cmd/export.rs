//! `hookmem export`: every record as one JSON line in the corpus format, which `import` reads back.
//!
//! Written evidence is not exported: it is fingerprints, not content.

use std::io::Write;

use super::record::to_row;
use super::target::Target;
use super::{Failure, written};
use crate::config::Environment;
use crate::store::Snapshot;

/// Arguments of `export`.
#[derive(Debug, clap::Args)]
pub struct ExportArgs {
    /// Which project.
    #[command(flatten)]
    pub target: Target,
}

/// Prints the records in the order of the store.
///
/// # Errors
/// A project without memories, or a store that cannot be read.
pub fn export(args: &ExportArgs, environment: &Environment, out: &mut dyn Write) -> Result<(), Failure> {
    let project = args.target.known(environment)?;
    let snapshot = Snapshot::open(&project.store).map_err(|error| error.to_string())?;
    for number in snapshot.live() {
        let document = snapshot.document(number).map_err(|error| error.to_string())?;
        written(writeln!(out, "{}", to_row(&document)))?;
    }
    Ok(())
}
