//! `hookmem forget`: removes memories by id, session, time, query or all, and leaves no byte of their text.
//!
//! Tombstones keep the ids out, so an old transcript cannot bring them back. The store is compacted at once, and the
//! state of the sessions concerned, which quotes prompts and outcomes, is deleted.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use super::target::Target;
use super::{Failure, written};
use crate::config::Environment;
use crate::deadline::Deadline;
use crate::query::Query;
use crate::session::name::{file_name, safe_id};
use crate::store::{self, IndexStore, Removal, Retention, Writer};

/// How long other writers are waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// Arguments of `forget`.
#[derive(Debug, clap::Args)]
#[group(id = "what", required = true, multiple = false)]
pub struct ForgetArgs {
    /// Records by id.
    #[arg(group = "what", value_name = "ID")]
    pub ids: Vec<String>,
    /// Every record of a session.
    #[arg(long, group = "what", value_name = "SESSION")]
    pub session: Option<String>,
    /// Every record captured before this time, such as 2026-03-01T00:00:00Z.
    #[arg(long, group = "what", value_name = "TIME")]
    pub before: Option<String>,
    /// Every record whose text holds these words; shown first, removed only with --yes.
    #[arg(long, group = "what", value_name = "TEXT")]
    pub query: Option<String>,
    /// Every record of the project.
    #[arg(long, group = "what")]
    pub all: bool,
    /// Do it; without it the ids are only listed.
    #[arg(long)]
    pub yes: bool,
    /// Which project.
    #[command(flatten)]
    pub target: Target,
}

/// Removes and compacts; prints the ids.
///
/// # Errors
/// A time that is none, or a store that cannot be written.
pub fn forget(args: &ForgetArgs, environment: &Environment, out: &mut dyn Write) -> Result<(), Failure> {
    let project = args.target.known(environment)?;
    let store = IndexStore::at_path(&project.store).map_err(|error| error.to_string())?;
    let snapshot = store.snapshot();
    let documents = || snapshot.live().filter_map(|number| snapshot.document(number).ok());
    let ids: Vec<String> = if let Some(session) = &args.session {
        let group = format!("claude-session:{}:{}", project.id, safe_id(session));
        documents().filter(|document| document.group_id == group).map(|document| document.doc_id).collect()
    } else if let Some(before) = &args.before {
        let limit: jiff::Timestamp = before.parse().map_err(|error| format!("--before {before}: {error}"))?;
        let limit = limit.as_millisecond();
        documents().filter(|d| d.timestamp_ms.is_some_and(|at| at < limit)).map(|d| d.doc_id).collect()
    } else if let Some(text) = &args.query {
        let words: Vec<String> = Query::from_text(text).terms.into_iter().map(|term| term.text).collect();
        let query = store::Query::text(text, usize::from(u16::MAX));
        let holds_all = |content: &str| {
            let tokens = crate::analyze::tokens(content);
            words.iter().all(|word| tokens.contains(word))
        };
        store.query(&query).into_iter().filter(|r| holds_all(&r.document.content)).map(|r| r.document.doc_id).collect()
    } else if args.all {
        documents().map(|document| document.doc_id).collect()
    } else {
        args.ids.clone()
    };
    for id in &ids {
        written(writeln!(out, "{id}"))?;
    }
    let named = !args.ids.is_empty();
    if !args.yes && !named {
        return written(writeln!(out, "{} would be removed; add --yes to do it", ids.len()));
    }
    let sessions: BTreeSet<String> = ids
        .iter()
        .filter_map(|id| snapshot.document_by_id(id))
        .map(|document| document.filter("session").to_owned())
        .chain(args.session.clone())
        .collect();
    let deadline = Deadline::after(PATIENCE);
    let mut writer = Writer::open_complete(&project.store, deadline).map_err(|error| error.to_string())?;
    let removed = writer.remove(&Removal::Ids(ids)).map_err(|error| error.to_string())?;
    drop(writer);
    store::compact(&project.store, Retention::default(), deadline).map_err(|error| error.to_string())?;
    let folder = project.store.join("sessions");
    if args.all {
        remove_if_there(std::fs::remove_dir_all(&folder), &folder)?;
    }
    for session in sessions {
        let path = folder.join(file_name(&session));
        remove_if_there(std::fs::remove_file(&path), &path)?;
    }
    written(writeln!(out, "{} removed", removed.len()))
}

fn remove_if_there(result: io::Result<()>, path: &Path) -> Result<(), Failure> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(format!("{}: {error}", path.display())),
        _ => Ok(()),
    }
}
