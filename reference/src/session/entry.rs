//! The lines of a session's state file: one JSON object of one key a line.
//!
//! Wire types only; `state` gives them meaning. Every field has a default, an unknown kind of line is passed over,
//! so an older and a newer hook can share a file.

use serde::{Deserialize, Serialize};

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// A prompt came in.
    Prompt(Prompt),
    /// A sub-agent was asked for.
    Task(Task),
    /// A sub-agent started and took a task.
    Taken(Taken),
    /// An injection was granted.
    Shown(Shown),
    /// The conversation was compacted or is about to be.
    Compaction(Compaction),
    /// A turn or a sub-agent was captured.
    Captured(Captured),
    /// A capture looked at the transcript up to here and found nothing worth a record.
    Seen(At),
    /// A checkpoint was captured.
    Checkpoint(Checkpoint),
    /// The turn with this key ended and was not worth a record.
    Ended(String),
    /// What the transcript holds up to here was forgotten on purpose and is not read again.
    Floor(At),
    /// The counters of entries that a rewrite of the file left out.
    Base(Base),
}

/// A prompt, or a notice that continues the running turn when `text` is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Prompt {
    /// The host's id of the prompt, empty when it gave none.
    pub id: String,
    /// Redacted text, at most `state::PROMPT_BYTES`.
    pub text: String,
    /// Hash of the text before it was clipped.
    pub hash: u64,
    /// Where the transcript ended when the prompt came in.
    pub at: At,
}

/// A place in a transcript; all zero when unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct At {
    /// Device number.
    pub device: u64,
    /// Inode number.
    pub inode: u64,
    /// Bytes from the start.
    pub offset: u64,
}

/// A sub-agent's task, from the call that asked for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Task {
    /// The tool call's id.
    pub call: String,
    /// The agent type asked for.
    pub agent_type: String,
    /// Redacted task, at most `state::TASK_BYTES`.
    pub text: String,
}

/// Which agent took which task.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Taken {
    /// The tool call's id.
    pub call: String,
    /// The agent's id.
    pub agent_id: String,
}

/// One granted injection.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Shown {
    /// The event's key.
    pub key: String,
    /// The agent that saw it, empty for the main conversation.
    pub agent_id: String,
    /// Record id and content hash of each item.
    pub items: Vec<(String, u64)>,
}

/// A compaction mark.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Compaction {
    /// False before (PreCompact), true after (SessionStart with source compact or clear).
    pub done: bool,
}

/// One captured outcome.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Captured {
    /// The record's id.
    pub doc_id: String,
    /// The turn's key, or the agent's for a sub-agent.
    pub turn: String,
    /// True for a sub-agent's outcome.
    pub by_agent: bool,
    /// Where the turn began in the transcript.
    pub from: At,
    /// Where the capture ended in the transcript.
    pub to: At,
    /// Redacted first line of the request.
    pub request: String,
    /// Redacted first lines of the result.
    pub result: String,
    /// Redacted open points.
    pub unresolved: Vec<String>,
    /// Affected paths, relative to the project root.
    pub paths: Vec<String>,
    /// True when the record was folded into the session's summary and removed.
    pub merged: bool,
}

/// One captured checkpoint.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Checkpoint {
    /// The record's id.
    pub doc_id: String,
}

/// What a rewritten file must not forget.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Base {
    /// Prompts so far.
    pub prompts: u64,
    /// Entries so far that move the conversation on.
    pub progress: u64,
}
