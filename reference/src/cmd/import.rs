//! `hookmem import`: memories from a corpus or an export, into one project's store.
//!
//! Records stream through, so memory does not grow with their number. Their ids stay; project and segment become
//! those of the project they come into; every text passes redaction on the way in.

use std::borrow::Cow;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::target::Target;
use super::{Failure, written};
use crate::config::Environment;
use crate::corpus::Records;
use crate::document::SourceDocument;
use crate::project::Project;
use crate::redact::clean;
use crate::store::IndexStore;

/// Arguments of `import`.
#[derive(Debug, clap::Args)]
pub struct ImportArgs {
    /// Folder of a corpus, a corpus.jsonl (plain or .gz), or an export.
    pub path: PathBuf,
    /// Take only records of this corpus project.
    #[arg(long, value_name = "NAME")]
    pub only: Option<String>,
    /// Which project takes them in.
    #[command(flatten)]
    pub target: Target,
}

/// Imports; prints how many records came in.
///
/// # Errors
/// A row that cannot be read, named with file and line; what came before it stays out as well.
pub fn import(args: &ImportArgs, environment: &Environment, out: &mut dyn Write) -> Result<(), Failure> {
    // Everything is read once before anything is written, so that a bad row leaves the store as it was.
    for record in open(&args.path)? {
        record.map_err(|error| describe(&error))?;
    }
    let project = args.target.registered(environment)?;
    let store = IndexStore::at_path(&project.store).map_err(|error| error.to_string())?;
    let wanted = |document: &SourceDocument| args.only.as_deref().is_none_or(|only| document.filter("project") == only);
    let documents = open(&args.path)?.filter_map(Result::ok).filter(wanted).map(|document| adopt(document, &project));
    let done = store.upsert_many(documents).map_err(|error| error.to_string())?;
    written(writeln!(
        out,
        "{} new, {} known, {} forgotten earlier and kept out; project {}",
        done.appended,
        done.unchanged + done.outdated,
        done.forgotten,
        project.id
    ))
}

fn open(path: &Path) -> Result<Records, Failure> {
    let records = if path.is_dir() { Records::open(path, true) } else { Records::open_file(path) };
    records.map_err(|error| describe(&error))
}

fn describe(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// Makes a record the project's own.
fn adopt(mut document: SourceDocument, project: &Project) -> SourceDocument {
    let session = document.filter("session").to_owned();
    document.source = format!("claude-code://{}/{session}/{}", project.id, document.concept.name());
    document.group_id = format!("claude-session:{}:{session}", project.id);
    document.filters.insert("project".to_owned(), project.id.clone());
    document.content = clean(&document.content).into_owned();
    for text in document.links.iter_mut().chain(document.filters.values_mut()) {
        if let Cow::Owned(cleaned) = clean(text) {
            *text = cleaned;
        }
    }
    document
}
