//! `hookmem show`: one record, whole.

use std::io::Write;

use super::record::to_json;
use super::target::Target;
use super::{Failure, written};
use crate::config::Environment;
use crate::store::Snapshot;

/// Arguments of `show`.
#[derive(Debug, clap::Args)]
pub struct ShowArgs {
    /// Id of the record.
    pub id: String,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
    /// Which project.
    #[command(flatten)]
    pub target: Target,
}

/// Prints the record.
///
/// # Errors
/// No such record.
pub fn show(args: &ShowArgs, environment: &Environment, out: &mut dyn Write) -> Result<(), Failure> {
    let project = args.target.known(environment)?;
    let snapshot = Snapshot::open(&project.store).map_err(|error| error.to_string())?;
    let document =
        snapshot.document_by_id(&args.id).ok_or_else(|| format!("no record {} in project {}", args.id, project.id))?;
    if args.json {
        return written(writeln!(out, "{}", to_json(&document)));
    }
    written(writeln!(out, "{} {} {}", document.doc_id, document.concept.name(), document.source))?;
    for (key, value) in &document.filters {
        written(writeln!(out, "{key}: {value}"))?;
    }
    written(writeln!(out, "\n{}", document.content.trim_end()))
}
