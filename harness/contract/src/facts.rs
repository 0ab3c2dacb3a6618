//! What the contract says about each event, as one table.
//!
//! Guarantees one row for each event, in the order of [`Event::ALL`]. Where the sources disagree the row holds what
//! the client was seen to do: `Setup` context never reached the model although the documentation says so;
//! `InstructionsLoaded` can carry `effort`; `continue: false` does nothing on `SessionStart`, `SubagentStart` and
//! `PostToolUseFailure`. Differences between client versions are not here but in [`crate::HostProfile`].

mod table;

use std::time::Duration;

use crate::event::Event;
use crate::profile::Version;

/// The facts about one event.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EventFacts {
    /// The event that the row describes.
    pub event: Event,
    /// What a matcher is compared with.
    pub subject: Subject,
    /// The documented values of that subject; empty where the set is open.
    pub subject_values: &'static [&'static str],
    /// What exit code 2 does.
    pub exit2: Exit2,
    /// Where the stdout of a successful hook goes when it is not a JSON object.
    pub plain_stdout: PlainStdout,
    /// Whether `hookSpecificOutput.additionalContext` was seen to reach the model.
    pub context_reaches_model: bool,
    /// The limit for a command hook that sets none; `None` where it was never measured.
    pub timeout: Option<Duration>,
    /// The kinds of handler that the event takes.
    pub handlers: Handlers,
    /// Whether the host sets `CLAUDE_ENV_FILE`.
    pub gets_env_file: bool,
    /// Whether payloads carry `permission_mode`.
    pub sends_permission_mode: bool,
    /// Whether payloads may carry `effort`.
    pub sends_effort: bool,
    /// Top-level answer fields that have an effect; the schema accepts all seven everywhere.
    pub honoured: &'static [&'static str],
    /// Allowed members of `hookSpecificOutput` beside `hookEventName`; `None` when naming the event there fails.
    pub members: Option<&'static [Member]>,
    /// The first recorded client version that knows the event.
    pub first_seen: Version,
}

impl EventFacts {
    /// Whether this top-level field of an answer has an effect.
    pub fn honours(&self, field: &str) -> bool {
        self.honoured.contains(&field)
    }

    /// The schema of one member of `hookSpecificOutput`.
    pub fn member(&self, name: &str) -> Option<&'static Member> {
        self.members?.iter().find(|member| member.name == name)
    }
}

/// What a matcher is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// Matchers are ignored; every hook of the event runs.
    None,
    /// A field of the payload.
    Field(&'static str),
    /// The last component of `file_path`.
    FileName,
}

/// What exit code 2 does on an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit2 {
    /// The guarded action does not happen.
    Blocks,
    /// Nothing is left to block; the model reads stderr.
    StderrToModel,
    /// The user sees a notice; the session goes on.
    StderrToUser,
    /// No effect.
    Ignored,
}

/// Where plain stdout of a successful hook goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainStdout {
    /// To the model, as context.
    Context,
    /// To the debug log only.
    DebugLog,
    /// Appended to the instructions of the compaction (raw, JSON included).
    CompactInstructions,
    /// Into the output of `/compact`, which the model sees in later requests.
    CompactOutput,
    /// The last line that is not empty is the path of the worktree.
    WorktreePath,
}

/// One member of `hookSpecificOutput`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    /// The key.
    pub name: &'static str,
    /// What the value has to be.
    pub kind: MemberKind,
    /// Whether validation fails without it.
    pub required: bool,
}

/// The type of a member of `hookSpecificOutput`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemberKind {
    /// A string.
    Text,
    /// A boolean.
    Flag,
    /// An array of strings.
    TextList,
    /// An object.
    Object,
    /// Anything.
    Any,
    /// One of these strings.
    OneOf(&'static [&'static str]),
    /// The decision of a `PermissionRequest` hook: an object whose `behavior` is `allow` or `deny`.
    RequestDecision,
}

/// Which kinds of handler an event takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handlers {
    /// Only command hooks were tried.
    CommandOnly,
    /// `command` and `mcp_tool`.
    CommandAndMcp,
    /// `command`, `http` and `mcp_tool`.
    NoModel,
    /// Those and the two that ask a model: `prompt` and `agent`.
    All,
}

/// The row of one event.
pub(crate) fn of(event: Event) -> &'static EventFacts {
    // Event is a dense enum declared in the order of the table; a test holds the two together.
    &table::TABLE[event as usize]
}
