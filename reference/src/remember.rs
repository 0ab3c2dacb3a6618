//! Capture: from the end of a turn, a sub-agent or a session, or a coming compaction, to records in the journal.
//!
//! gather and extract (`capture`) → evidence and digests → append (lock, fsync) → state → maybe fold. A record is
//! durable before the session's state says that it was captured, so a kill in between captures it again under the
//! same id. Prints nothing: on these events stdout would be instructions or a reason to go on.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hook_contract::Body;
use jiff::Timestamp;

use crate::call::Call;
use crate::capture::{self, Capture, Limits, Place, StoreOp, Trigger};
use crate::document::{Evidence, SourceDocument};
use crate::fingerprint::{fingerprints_of_lines, written_tokens};
use crate::frame::plain;
use crate::redact::clean;
use crate::revision::{digest_file, is_dirty, remember_ancestors};
use crate::session::prune::prune;
use crate::store::error::AppendError;
use crate::store::spool::spool;
use crate::store::wire::Op;
use crate::store::{FoldPolicy, Removal, Writer, fold};
use crate::timings::Timings;
use crate::transcript::tail;

/// Affected files that are digested.
const DIGESTS: usize = 16;

/// Session state older than this is deleted.
const STATE_AGE: Duration = Duration::from_secs(30 * 86_400);

/// Captures what the event is worth.
///
/// # Errors
/// A message for the log. What was acknowledged before it is durable.
pub fn remember(call: &Call<'_>, timings: &mut Timings) -> Result<(), String> {
    let Some(trigger) = trigger(call) else { return Ok(()) };
    let state = match trigger {
        Trigger::Compaction => call.session.compaction_announced(),
        _ => call.session.load(),
    };
    timings.mark("session");
    let captured = gather(call, trigger, &state);
    timings.mark("capture");
    let fold_is_due = !captured.ops.is_empty() && make_durable(call, captured.ops)?;
    timings.mark("append");
    if !captured.notes.is_empty() && !call.session.note(&captured.notes) {
        return Err("session state cannot be written; the turn may be captured again under the same id".to_owned());
    }
    timings.mark("note");
    if fold_is_due && !call.deadline.expired() {
        tidy(call);
        timings.mark("fold");
    }
    Ok(())
}

fn trigger<'a>(call: &'a Call<'_>) -> Option<Trigger<'a>> {
    match &call.payload.body {
        Body::Stop(body) => Some(Trigger::TurnEnd {
            prompt_id: call.payload.common.prompt_id.as_deref(),
            last_message: body.last_assistant_message.as_deref(),
        }),
        Body::SubagentStop(body) => Some(Trigger::AgentEnd {
            agent_id: call.agent_id(),
            agent_type: call.payload.common.agent_type.as_deref().unwrap_or(""),
            transcript: body.agent_transcript_path.as_deref().map(Path::new),
            last_message: body.last_assistant_message.as_deref(),
        }),
        Body::PreCompact(_) => Some(Trigger::Compaction),
        Body::SessionEnd(_) => Some(Trigger::SessionEnd),
        _ => None,
    }
}

fn gather(call: &Call<'_>, trigger: Trigger<'_>, state: &crate::session::state::SessionState) -> Capture {
    let settings = &call.config.capture;
    let transcript =
        tail::Limits { first: settings.tail_bytes, most: settings.tail_max_bytes, ..tail::Limits::default() };
    let given = call.payload.common.cwd.as_deref().unwrap_or("");
    let roots: Vec<PathBuf> =
        [Some(call.place.root.clone()), call.environment.project_dir.clone(), Some(PathBuf::from(given))]
            .into_iter()
            .flatten()
            .filter(|root| root.is_absolute() && root.canonicalize().is_ok_and(|real| real == call.place.root))
            .collect();
    let place = Place {
        project: &call.project.id,
        roots: &roots,
        cwd: Path::new(given),
        branch: call.head.branch.as_deref(),
        revision: call.head.commit.as_deref(),
        dirty: None,
        timestamp_ms: Some(Timestamp::now().as_millisecond()),
    };
    let request = capture::Call {
        session_id: call.session_id(),
        transcript: call.payload.common.transcript_path.as_deref().map(Path::new),
        trigger,
        place,
        limits: Limits { transcript, content: settings.content_bytes, ..Limits::default() },
        redact: &clean_captured,
    };
    capture::capture(&request, state)
}

/// What passes into a record: no private block, no secret, and no invisible character that could hide one.
pub(crate) fn clean_captured(text: &str) -> Cow<'_, str> {
    match plain(text) {
        Cow::Borrowed(text) => clean(text),
        Cow::Owned(text) => Cow::Owned(clean(&text).into_owned()),
    }
}

/// Makes the changes durable; says whether the journal's tail has become long enough to fold.
fn make_durable(call: &Call<'_>, changes: Vec<StoreOp>) -> Result<bool, String> {
    let ops: Vec<Op> = changes
        .into_iter()
        .map(|change| match change {
            StoreOp::Put { document, written } => {
                Op::Upsert { document: Box::new(with_provenance(call, document, &written)), restore: false }
            }
            StoreOp::Retire { doc_id, .. } => Op::Remove { ids: vec![doc_id] },
        })
        .collect();
    let mut writer = match Writer::open(&call.project.store, call.deadline) {
        Ok(writer) => writer,
        // Whoever holds the lock will not lose this record: it waits beside the journal for the next writer.
        Err(AppendError::Busy(_)) => {
            return spool(&call.project.store, &ops).map(|_| false).map_err(|error| error.to_string());
        }
        Err(error) => return Err(error.to_string()),
    };
    let fold_is_due = FoldPolicy::default().is_due(writer.snapshot().condition());
    for op in ops {
        match op {
            Op::Upsert { document, restore } => writer.upsert([*document], restore).map(drop),
            Op::Remove { ids } => writer.remove(&Removal::Ids(ids)).map(drop),
        }
        .map_err(|error| error.to_string())?;
    }
    Ok(fold_is_due)
}

/// Adds what only the disk can tell: evidence of the written lines, digests, and whether the files are committed.
fn with_provenance(call: &Call<'_>, mut document: SourceDocument, written: &[String]) -> SourceDocument {
    let lines = || written.iter().map(String::as_str);
    document.evidence = Evidence { fingerprints: fingerprints_of_lines(lines()), tokens: written_tokens(lines()) };
    let root = &call.place.root;
    document.digests = document.links.iter().take(DIGESTS).filter_map(|path| digest_file(root, path)).collect();
    if let (Some(git), Some(commit)) = (&call.place.git, call.head.commit.as_deref())
        && let Some(dirty) = is_dirty(git, root, Some(commit), &document.links)
    {
        document.filters.insert("dirty".to_owned(), dirty.to_string());
    }
    document
}

/// Work that may wait for another call: folding the journal, pruning old state, the ancestry of old captures. Its
/// failure loses nothing, since the journal is the truth, so it is not reported as the capture's.
fn tidy(call: &Call<'_>) {
    if fold(&call.project.store, Some(call.deadline), FoldPolicy::default()).is_ok() {
        prune(&call.project.store.join("sessions"), STATE_AGE, std::time::SystemTime::now());
        refresh_ancestry(call);
    }
}

/// Asks git once for many captures, so that a recall need not walk far.
fn refresh_ancestry(call: &Call<'_>) {
    let Some(git) = &call.place.git else { return };
    let Ok(snapshot) = crate::store::Snapshot::open(&call.project.store) else { return };
    let revisions: Vec<String> = snapshot
        .recent()
        .take(500)
        .filter_map(|(number, _)| Some(snapshot.document(number).ok()?.filter("revision").to_owned()))
        .collect();
    remember_ancestors(git, call.head, &call.project.store, &revisions, &call.deadline);
}
