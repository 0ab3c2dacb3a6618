//! `hookmem forget`: removes memories by id, session, time, query or all, and leaves no byte of their text.
//!
//! Tombstones keep the ids out, so an old transcript cannot bring them back. The store is compacted at once, and the
//! state of the sessions concerned, which quotes prompts and outcomes, is deleted.

use std::collections::BTreeSet;
use std::io::Write;
use std::time::Duration;

use super::target::Target;
use super::{Failure, written};
use crate::config::Environment;
use crate::deadline::Deadline;
use crate::query::Query;
use crate::session::file::SessionFile;
use crate::session::name::safe_id;
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
    let deadline = Deadline::after(PATIENCE);
    // The writer comes first: it takes in what others spooled, which must be found too.
    let does_it = args.yes || !args.ids.is_empty();
    let writer = does_it.then(|| Writer::open_complete(&project.store, deadline)).transpose();
    let writer = writer.map_err(|error| error.to_string())?;
    let store = IndexStore::at_path(&project.store).map_err(|error| error.to_string())?;
    let snapshot = store.snapshot();
    let documents = || snapshot.live().filter_map(|number| snapshot.document(number).ok());
    if let Some(unknown) = args.ids.iter().find(|id| snapshot.document_by_id(id).is_none()) {
        return Err(format!("no record {unknown} in project {}; nothing was removed", project.id));
    }
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
    let Some(mut writer) = writer else {
        return written(writeln!(out, "{} would be removed; add --yes to do it", ids.len()));
    };
    let sessions: BTreeSet<String> = ids
        .iter()
        .filter_map(|id| snapshot.document_by_id(id))
        .map(|document| document.filter("session").to_owned())
        .chain(args.session.clone())
        .collect();
    let removed = writer.remove(&Removal::Ids(ids)).map_err(|error| error.to_string())?;
    drop(writer);
    store::compact(&project.store, Retention::default(), deadline).map_err(|error| error.to_string())?;
    let folder = project.store.join("sessions");
    let mut kept = Vec::new();
    // The state keeps up to where the transcript was forgotten, so that no later capture reads it again.
    for session in sessions {
        let state = SessionFile::new(&folder, &session);
        state.forget().map_err(|error| format!("state of session {session}: {error}"))?;
        kept.push(state.path().to_path_buf());
    }
    // Sessions without a record may hold a prompt; with --all nothing of theirs is wanted either.
    for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten().filter(|_| args.all) {
        if !kept.contains(&entry.path()) {
            std::fs::remove_file(entry.path()).map_err(|error| format!("{}: {error}", entry.path().display()))?;
        }
    }
    written(writeln!(out, "{} removed", removed.len()))
}
