//! Turns the end of a turn, of a sub-agent, of a session, or a coming compaction into at most a few records.
//!
//! gather (payload first, then a bounded part of the transcript) → extract by rule → compose a document → growth.
//! Guarantee: same payload, transcript and state give the same answer, byte for byte; every text passes the given
//! redaction before it is cut, looked at or kept; the content of a record stays within [`Limits::content`].
//! Deliberately not here: writing the store, digests and fingerprints (the caller's), any model.

pub mod compose;
pub mod cue;
pub mod gather;
pub mod growth;
pub mod label;
pub mod path;
pub mod phrase;
pub mod prose;
pub mod validation;

#[cfg(test)]
mod labelled;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use crate::document::SourceDocument;
use crate::noise;
use crate::session::entry::{At, Entry};
use crate::session::state::SessionState;
use crate::transcript::tail;

/// Replaces secrets in a text; applied to everything that may be kept.
pub type Redact<'a> = &'a dyn Fn(&str) -> Cow<'_, str>;

/// Where and when a capture happens; host-neutral.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The project's id.
    pub project: &'a str,
    /// Roots of the work tree, as given and resolved; paths are made relative to the longest that fits.
    pub roots: &'a [PathBuf],
    /// The session's working folder: relative tool paths start here.
    pub cwd: &'a Path,
    /// Branch, when there is one.
    pub branch: Option<&'a str>,
    /// Commit, when there is one.
    pub revision: Option<&'a str>,
    /// Whether the work tree differed from it, when known.
    pub dirty: Option<bool>,
    /// Capture time in milliseconds since 1970, when known.
    pub timestamp_ms: Option<i64>,
}

/// What happened.
#[derive(Debug, Clone, Copy)]
pub enum Trigger<'a> {
    /// A turn ended, also when a stop hook made it continue before.
    TurnEnd {
        /// The host's prompt id.
        prompt_id: Option<&'a str>,
        /// The model's final message as the payload has it.
        last_message: Option<&'a str>,
    },
    /// A sub-agent ended.
    AgentEnd {
        /// The agent's id.
        agent_id: &'a str,
        /// Its type; empty means a compaction's agent, which achieves nothing.
        agent_type: &'a str,
        /// Its own transcript.
        transcript: Option<&'a Path>,
        /// Its report as the payload has it.
        last_message: Option<&'a str>,
    },
    /// The conversation is about to be compacted.
    Compaction,
    /// The session ended.
    SessionEnd,
}

/// Sizes; every one has a default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How the transcript is read.
    pub transcript: tail::Limits,
    /// Bytes of a record's content.
    pub content: usize,
    /// Written lines of a record.
    pub written: usize,
    /// Affected paths of a record.
    pub paths: usize,
    /// Outcomes of a session that stand as records of their own.
    pub outcomes: usize,
    /// Checkpoints of a session.
    pub checkpoints: usize,
}

impl Default for Limits {
    /// Content 4 KiB, 2,000 written lines, 64 paths, 40 outcomes and 4 checkpoints a session.
    fn default() -> Limits {
        let transcript = tail::Limits::default();
        Limits { transcript, content: 4 << 10, written: 2_000, paths: 64, outcomes: 40, checkpoints: 4 }
    }
}

/// One capture call.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// The session.
    pub session_id: &'a str,
    /// The session's transcript.
    pub transcript: Option<&'a Path>,
    /// What happened.
    pub trigger: Trigger<'a>,
    /// Where and when.
    pub place: Place<'a>,
    /// Sizes.
    pub limits: Limits,
    /// Removes secrets.
    pub redact: Redact<'a>,
}

/// One change that the store is asked to make, in order.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a capture has one or a few of them for a moment")]
pub enum StoreOp {
    /// Add the record, or replace the one of the same id.
    Put {
        /// The record; digests and evidence are empty.
        document: SourceDocument,
        /// Lines that the session wrote, redacted: evidence to be fingerprinted, never content.
        written: Vec<String>,
    },
    /// Take a record out because a newer one covers it; a session's growth, not somebody's wish to forget.
    Retire {
        /// The record that goes.
        doc_id: String,
        /// The record that covers it and may inherit its evidence.
        into: Option<String>,
    },
}

/// Why nothing was captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Skip {
    /// No edit, no check, no decision, and too short an answer.
    NoSubstance,
    /// A compaction's own agent.
    CompactionAgent,
    /// A program drives the host.
    ChildSession,
    /// The session was forgotten and nothing was asked since.
    Forgotten,
    /// Nothing happened in the session that a summary could hold.
    EmptySession,
}

/// What a capture call asks for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Capture {
    /// Changes for the store; made durable first.
    pub ops: Vec<StoreOp>,
    /// What the session's state shall note once the store has taken the changes.
    pub notes: Vec<Entry>,
    /// Why there is no record, when there is none.
    pub skip: Option<Skip>,
    /// Transcript lines understood.
    pub good_lines: u64,
    /// Transcript lines torn, glued, too long or of wrong types.
    pub bad_lines: u64,
}

/// Captures what the trigger is worth.
pub fn capture(call: &Call<'_>, state: &SessionState) -> Capture {
    if let Trigger::AgentEnd { agent_id, agent_type, .. } = call.trigger
        // Older hosts name the agent of a compaction in its id only.
        && (agent_type.is_empty() || agent_id.starts_with("acompact"))
    {
        return Capture { skip: Some(Skip::CompactionAgent), ..Capture::default() };
    }
    let by_agent = matches!(call.trigger, Trigger::AgentEnd { .. });
    if state.floor.is_some() && state.turn.is_none() && !by_agent {
        return Capture { skip: Some(Skip::Forgotten), ..Capture::default() };
    }
    let turn = gather::gather(call, state);
    let mut capture = Capture { good_lines: turn.good_lines, bad_lines: turn.bad_lines, ..Capture::default() };
    if turn.entrypoint.as_deref().is_some_and(noise::is_child_entrypoint) {
        capture.skip = Some(Skip::ChildSession);
        return capture;
    }
    match call.trigger {
        Trigger::TurnEnd { .. } | Trigger::AgentEnd { .. } => {
            let facts = compose::Facts::of(&turn);
            if facts.has_substance(&turn) {
                growth::add_outcome(call, state, &turn, &facts, &mut capture);
            } else {
                capture.skip = Some(Skip::NoSubstance);
                if !by_agent {
                    capture.notes.extend(turn.end.map(|end| Entry::Seen(At::from(end))));
                    // A session that ends next must not call this turn interrupted.
                    capture.notes.push(Entry::Ended(turn.key.clone()));
                }
            }
        }
        Trigger::Compaction => {
            let facts = compose::Facts::of(&turn);
            if facts.has_substance(&turn) {
                growth::add_checkpoint(call, state, &turn, &facts, &mut capture);
            } else {
                capture.skip = Some(Skip::NoSubstance);
            }
        }
        Trigger::SessionEnd => growth::add_summary(call, state, &turn, &mut capture),
    }
    capture
}
