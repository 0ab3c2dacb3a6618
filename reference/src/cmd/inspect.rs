//! `hookmem inspect`: four views of a project's store as JSON. Opens read-only and never writes.

use std::collections::BTreeMap;
use std::io::Write;

use clap::ValueEnum;
use serde_json::{Value, json};

use super::record::to_json;
use super::target::Target;
use super::{Failure, written};
use crate::config::Environment;
use crate::store::{IndexStore, Postings};

/// What to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum View {
    /// Counts and sizes.
    Summary,
    /// Every record as it was captured.
    SourceDocuments,
    /// Every record as search sees it: id, kind, segment, time, paths.
    Records,
    /// Every segment with its records.
    Segments,
}

/// Arguments of `inspect`.
#[derive(Debug, clap::Args)]
pub struct InspectArgs {
    /// What to look at.
    #[arg(value_enum, default_value_t = View::Summary)]
    pub view: View,
    /// Which project.
    #[command(flatten)]
    pub target: Target,
}

/// Prints the view.
///
/// # Errors
/// A project without memories, or a store that cannot be opened.
pub fn inspect(args: &InspectArgs, environment: &Environment, out: &mut dyn Write) -> Result<(), Failure> {
    let project = args.target.known(environment)?;
    let store = IndexStore::at_path(&project.store).map_err(|error| error.to_string())?;
    let snapshot = store.snapshot();
    let documents = || snapshot.live().filter_map(|number| Some((number, snapshot.document(number).ok()?)));
    let value = match args.view {
        View::Summary => {
            let found = store.inspect();
            json!({
                "project": project.id,
                "records": found.documents,
                "segments": found.segments,
                "generation": found.condition.generation,
                "journal_bytes": found.condition.journal_bytes,
                "index_bytes": found.condition.index_bytes,
                "unfolded_records": found.condition.unfolded_documents,
                "unfolded_bytes": found.condition.unfolded_bytes,
                "damaged_lines": found.condition.damaged_lines,
                "invalid_generations": found.condition.invalid_generations,
            })
        }
        View::SourceDocuments => documents().map(|(_, document)| to_json(&document)).collect(),
        View::Records => documents()
            .map(|(number, document)| {
                json!({
                    "number": number,
                    "doc_id": document.doc_id,
                    "concept": document.concept.name(),
                    "segment": snapshot.facts(number).map(|facts| facts.segment),
                    "timestamp_ms": document.timestamp_ms,
                    "links": document.links,
                })
            })
            .collect(),
        View::Segments => {
            let mut segments: BTreeMap<String, Vec<String>> = BTreeMap::new();
            for (_, document) in documents() {
                segments.entry(document.group_id).or_default().push(document.doc_id);
            }
            let segments = segments.into_iter().map(|(group, ids)| json!({ "group_id": group, "records": ids }));
            segments.collect::<Value>()
        }
    };
    written(writeln!(out, "{value}"))
}
