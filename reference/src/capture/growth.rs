//! Which records a session has: their identifiers, what replaces what, and how a long session stays small.
//!
//! Rules.
//! - One `outcome` a turn. Its id comes from the session and the turn, so a stop hook's continuation, a notice of a
//!   background task and a second delivery replace the record instead of adding one. One `outcome` a sub-agent.
//! - A `checkpoint`'s id comes from the session and its content: the same moment twice is one record. A session keeps
//!   the newest 4; the older ones are retired.
//! - One `session-summary` a session, replaced by the next. It replaces no outcome and outranks them by its kind.
//! - Beyond 40 outcomes the oldest 10 are retired into the summary. It has one line for each outcome, newest first,
//!   the request alone for a retired one, as far as its 4 KiB reach.
//!
//! Guarantee: retiring says which record covers the retired one, so that evidence can move along.

use xxhash_rust::xxh3::xxh3_128;

use super::compose::{self, Facts, Parts};
use super::gather::Turn;
use super::{Call, Capture, Skip, StoreOp, prose};
use crate::document::Concept;
use crate::session::entry::{At, Captured, Checkpoint, Entry};
use crate::session::state::SessionState;

/// Outcomes that are retired together, so that a long session does not rewrite its summary at every turn.
const RETIRED_AT_ONCE: usize = 10;
/// Bytes of a request and of a result in a summary's line.
const DIGEST_BYTES: usize = 120;

/// Id of a session's outcome, checkpoint or summary; `what` names it within the session.
pub fn doc_id(concept: Concept, session_id: &str, what: &str) -> String {
    let letter = match concept {
        Concept::Outcome => 'o',
        Concept::Checkpoint => 'c',
        Concept::SessionSummary => 's',
    };
    // Lengths in front keep ("a", "bc") and ("ab", "c") apart.
    let name = format!("{}:{session_id}:{}:{what}", session_id.len(), concept.name());
    format!("{letter}-{:032x}", xxh3_128(name.as_bytes()))
}

/// Adds the outcome of a turn or sub-agent, and retires old ones where there are too many.
pub fn add_outcome(call: &Call<'_>, state: &SessionState, turn: &Turn, facts: &Facts, capture: &mut Capture) {
    let by_agent = turn.agent_type.is_some();
    let what = format!("{}:{}", if by_agent { "agent" } else { "turn" }, turn.key);
    let doc_id = doc_id(Concept::Outcome, call.session_id, &what);
    let parts = Parts {
        request: &turn.request,
        result: &facts.result,
        decisions: &facts.decisions,
        failures: &facts.failures,
        unresolved: &facts.unresolved,
        validation: &facts.validation,
        paths: &turn.paths,
        is_summary: false,
    };
    let extra = [("command", turn.command.as_deref()), ("agent", turn.agent_type.as_deref())];
    let limit = call.limits.content;
    let document =
        compose::document(doc_id.clone(), Concept::Outcome, call.session_id, &call.place, &parts, &extra, limit);
    capture.ops.push(StoreOp::Put { document, written: turn.written.clone() });

    let noted = Captured {
        doc_id,
        turn: turn.key.clone(),
        by_agent,
        from: turn.start.map(At::from).unwrap_or_default(),
        to: turn.end.map(At::from).unwrap_or_default(),
        request: prose::first_line(&turn.request, DIGEST_BYTES),
        result: prose::first_line(&facts.result, DIGEST_BYTES),
        unresolved: facts.unresolved.iter().take(3).map(|item| prose::clip(item, DIGEST_BYTES)).collect(),
        paths: turn.paths.clone(),
        merged: false,
    };
    let mut after = state.clone();
    after.fold(Entry::Captured(noted.clone()));
    capture.notes.push(Entry::Captured(noted));
    retire_oldest(call, &after, capture);
}

/// Adds a checkpoint, and retires old ones.
pub fn add_checkpoint(call: &Call<'_>, state: &SessionState, turn: &Turn, facts: &Facts, capture: &mut Capture) {
    let mut unresolved = facts.unresolved.clone();
    let asked = prose::first_line(&turn.request, DIGEST_BYTES);
    let answered = state.outcomes.iter().any(|outcome| !outcome.by_agent && outcome.turn == turn.key);
    if !answered && !asked.is_empty() {
        unresolved.insert(0, format!("In progress: {asked}"));
    }
    let parts = Parts {
        request: &turn.request,
        result: &facts.result,
        decisions: &facts.decisions,
        failures: &facts.failures,
        unresolved: &unresolved,
        validation: &facts.validation,
        paths: &turn.paths,
        is_summary: false,
    };
    let (content, _) = compose::content(&parts, call.limits.content);
    let doc_id = doc_id(Concept::Checkpoint, call.session_id, &content);
    let document = compose::document(
        doc_id.clone(),
        Concept::Checkpoint,
        call.session_id,
        &call.place,
        &parts,
        &[("command", turn.command.as_deref())],
        call.limits.content,
    );
    capture.ops.push(StoreOp::Put { document, written: turn.written.clone() });
    capture.notes.push(Entry::Checkpoint(Checkpoint { doc_id: doc_id.clone() }));
    let mut ids: Vec<&String> = state.checkpoints.iter().filter(|id| **id != doc_id).collect();
    ids.push(&doc_id);
    // Only the one that has just become too many: the others went when they did.
    let surplus = ids.len().saturating_sub(call.limits.checkpoints.max(1));
    if let Some(oldest) = surplus.checked_sub(1).and_then(|at| ids.get(at)) {
        capture.ops.push(StoreOp::Retire { doc_id: (*oldest).clone(), into: Some(doc_id.clone()) });
    }
}

/// Adds the session's summary: from the state, and from a turn that was running when the session ended.
pub fn add_summary(call: &Call<'_>, state: &SessionState, turn: &Turn, capture: &mut Capture) {
    let cut_off = !turn.is_complete && !turn.request.is_empty() && !state.outcomes.is_empty();
    let tells = cut_off || Facts::of(turn).has_substance(turn);
    if state.outcomes.is_empty() && !tells {
        capture.skip = Some(Skip::EmptySession);
        return;
    }
    capture.ops.push(summary(call, state, tells.then_some(turn)));
}

/// Retires the oldest outcomes into the summary once there are more than the limit.
fn retire_oldest(call: &Call<'_>, state: &SessionState, capture: &mut Capture) {
    let live: Vec<&Captured> = state.outcomes.iter().filter(|outcome| !outcome.merged).collect();
    if live.len() <= call.limits.outcomes.max(RETIRED_AT_ONCE) {
        return;
    }
    let covering = doc_id(Concept::SessionSummary, call.session_id, "");
    let mut after = state.clone();
    let mut retired = Vec::new();
    for outcome in live.into_iter().take(RETIRED_AT_ONCE) {
        let noted = Entry::Captured(Captured { merged: true, ..outcome.clone() });
        after.fold(noted.clone());
        capture.notes.push(noted);
        retired.push(StoreOp::Retire { doc_id: outcome.doc_id.clone(), into: Some(covering.clone()) });
    }
    // The covering record comes first: a kill in between leaves both.
    capture.ops.push(summary(call, &after, None));
    capture.ops.extend(retired);
}

fn summary(call: &Call<'_>, state: &SessionState, running: Option<&Turn>) -> StoreOp {
    let mut requests: Vec<&str> = state.outcomes.iter().map(|outcome| outcome.request.as_str()).collect();
    let running_request = running.map(|turn| prose::first_line(&turn.request, DIGEST_BYTES)).unwrap_or_default();
    requests.push(&running_request);
    requests.retain(|request| !request.is_empty());
    let request = match requests.as_slice() {
        [] => "Session".to_owned(),
        [only] => format!("Session: {only}"),
        [first, .., last] => format!("Session: {first}\nLast: {last}"),
    };
    // Newest first: what is cut off at the end is the oldest.
    let mut steps: Vec<String> = Vec::new();
    if let Some(turn) = running.filter(|turn| turn.is_complete) {
        steps.push(step(&running_request, &prose::first_line(&turn.result, DIGEST_BYTES)));
    }
    for outcome in state.outcomes.iter().rev() {
        steps.push(step(&outcome.request, if outcome.merged { "" } else { &outcome.result }));
    }
    steps.retain(|step| !step.is_empty());
    let mut unresolved: Vec<String> = Vec::new();
    if running.is_some_and(|turn| !turn.is_complete) && !running_request.is_empty() {
        unresolved.push(format!("Interrupted: {running_request}"));
    }
    // Open points of older turns are likely done; the two newest turns are what a next session takes up.
    for outcome in state.outcomes.iter().rev().filter(|outcome| !outcome.by_agent).take(2) {
        for item in &outcome.unresolved {
            if !unresolved.contains(item) {
                unresolved.push(item.clone());
            }
        }
    }
    let mut paths: Vec<String> = running.map(|turn| turn.paths.clone()).unwrap_or_default();
    for path in &state.paths {
        if !paths.contains(path) {
            paths.push(path.clone());
        }
    }
    paths.truncate(call.limits.paths);
    let result = steps.join("\n");
    let parts = Parts {
        request: &request,
        result: &result,
        unresolved: &unresolved,
        paths: &paths,
        is_summary: true,
        ..Parts::default()
    };
    let id = doc_id(Concept::SessionSummary, call.session_id, "");
    let limit = call.limits.content;
    let document = compose::document(id, Concept::SessionSummary, call.session_id, &call.place, &parts, &[], limit);
    StoreOp::Put { document, written: running.map(|turn| turn.written.clone()).unwrap_or_default() }
}

/// One line of a summary: what was asked and what came of it.
fn step(request: &str, result: &str) -> String {
    match (request, result) {
        ("", "") => String::new(),
        (request, "") => request.to_owned(),
        ("", result) => result.to_owned(),
        (request, result) => format!("{request} → {result}"),
    }
}
