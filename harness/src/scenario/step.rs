//! One step: a payload, what happens before it, what goes wrong around it, what must come back.
//!
//! Plain data, checked. Texts may hold placeholders, which are known to be known; patterns are compiled.

use std::ops::Range;
use std::time::Duration;

use super::filter::Filter;
use super::pattern::{Pattern, Replacement};
use super::plan::{Branch, Checkout, Command, Commit, Worktree};

/// One payload delivered to one hook.
#[derive(Debug, Clone)]
pub struct Step {
    /// Name, unique in the scenario; names the golden.
    pub name: String,
    /// Event name of the payload.
    pub event: String,
    /// Words for the selector `tag` of gates.
    pub tags: Vec<String>,
    /// What is written to the hook's stdin.
    pub stdin: Stdin,
    /// Name of the session it belongs to.
    pub session: String,
    /// Working folder of the hook, with placeholders.
    pub cwd: String,
    /// Timeout; none means the host's for the event.
    pub timeout: Option<Duration>,
    /// When the payload came, counted from the first one, for a replay at the recorded pace.
    pub at: Option<Duration>,
    /// Arguments added to the hook command, with placeholders.
    pub hook_args: Vec<String>,
    /// Environment of this call, with placeholders; beyond the sandbox's.
    pub env: Vec<(String, String)>,
    /// Changes before the call, in order.
    pub before: Vec<Action>,
    /// What goes wrong around the call.
    pub fault: Fault,
    /// What must come back.
    pub expect: Expect,
    /// What must be true afterwards.
    pub state: Vec<StateCheck>,
    /// What is replaced in the text of this call, after the scenario's own rules.
    pub scrub: Vec<ScrubRule>,
    /// Byte range of the step in `scenario.toml`.
    pub span: Range<usize>,
}

/// What is written to the hook's stdin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stdin {
    /// A payload's JSON text with placeholders; a newline follows it.
    Payload(String),
    /// Bytes of a file, as they are.
    Bytes(Vec<u8>),
}

/// One change between two steps, with its place in `scenario.toml`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Adds text to the transcript of the step's session.
    TranscriptAppend(String),
    /// Writes a file.
    Write(Text),
    /// Adds to the end of a file.
    Append(Text),
    /// Deletes a file or folder; an absent one is a problem.
    Delete(String),
    /// Renames a file or folder.
    Rename {
        /// Old path.
        from: String,
        /// New path.
        to: String,
    },
    /// Makes a symbolic link.
    Symlink {
        /// Path of the link.
        path: String,
        /// What it points to.
        target: String,
    },
    /// Copies a folder of the scenario over the project.
    CopyTree(std::path::PathBuf),
    /// Commits everything in a work tree.
    GitCommit(Commit),
    /// Checks something out.
    GitCheckout(Checkout),
    /// Makes a branch.
    GitBranch(Branch),
    /// Makes a linked worktree.
    GitWorktree(Worktree),
    /// Runs a shell command in the sandbox.
    Run(Command),
}

/// A file's text and path, with placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// Path in the project, or a path that begins with a placeholder.
    pub path: String,
    /// The text.
    pub text: String,
}

/// What goes wrong around a call. The default is: nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fault {
    /// stdin stays open until the hook ends.
    pub stdin_held_open: bool,
    /// stdin is closed after this many bytes.
    pub stdin_closed_after: Option<u64>,
    /// The payload is cut to this many bytes and ended by a newline.
    pub truncate: Option<u64>,
    /// The hook is killed this long after its start.
    pub kill_after: Option<Duration>,
    /// Calls one after the other; the last is judged. At least 1 when set.
    pub times: Option<u32>,
    /// Calls at once; each is judged. At least 1 when set.
    pub parallel: Option<u32>,
    /// The clock is set back by this much.
    pub clock_back: Option<Duration>,
    /// Paths deleted before the call.
    pub delete: Vec<String>,
    /// Paths made read-only for the call.
    pub read_only: Vec<String>,
    /// Files with their middle bytes overwritten.
    pub corrupt: Vec<String>,
    /// Files cut to half their length.
    pub cut: Vec<String>,
    /// Files locked during the call.
    pub lock: Vec<String>,
    /// Shell commands run just before the call.
    pub run: Vec<Command>,
}

/// What must come back from a call.
#[derive(Debug, Clone)]
pub struct Expect {
    /// Exit code; none means any.
    pub exit: Option<i32>,
    /// The host's decision; none means any.
    pub decision: Option<String>,
    /// What reaches the model.
    pub delivered: Delivered,
    /// Text that must be delivered, with placeholders, compared after scrubbing.
    pub contains: Vec<String>,
    /// Patterns that delivered text must not match.
    pub not_matches: Vec<Pattern>,
    /// Most UTF-16 code units.
    pub max_utf16: Option<u64>,
    /// Most bytes.
    pub max_bytes: Option<u64>,
    /// Most tokens, estimated as bytes / 4 rounded up.
    pub max_tokens: Option<u64>,
    /// Relevance labels.
    pub relevant: Option<Relevant>,
    /// Paths in the project that may change; `/` at the end means all below.
    pub may_write: Vec<String>,
    /// May the hook close stdin early?
    pub stdin_closed_early: Permission,
    /// May a process outlive the hook?
    pub orphans: Permission,
    /// May a descendant hold a stream open?
    pub stream_held_open: Permission,
    /// May text be cut by the host's cap?
    pub over_cap: Permission,
    /// May the host reject the output?
    pub invalid_output: Permission,
    /// May the hook reach its timeout?
    pub timeout: Permission,
}

/// What reaches the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivered {
    /// Exactly the golden.
    Golden,
    /// Nothing.
    Empty,
    /// Something.
    Some,
    /// Anything or nothing.
    Any,
}

/// Whether something may happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Permission {
    /// It may.
    Allow,
    /// It is a finding.
    #[default]
    Forbid,
}

/// Ids whose delivery is right.
#[derive(Debug, Clone)]
pub struct Relevant {
    /// Id and grade, 1 to 3. Empty: nothing is right.
    pub grades: Vec<(String, u8)>,
    /// Finds ids in delivered text; without it only the ids in `grades` are looked for.
    pub id_pattern: Option<Pattern>,
}

/// Something that differs from run to run, and what stands for it in a golden.
#[derive(Debug, Clone)]
pub struct ScrubRule {
    /// Finds it.
    pub pattern: Pattern,
    /// What stands for it.
    pub put: Put,
    /// JSON pointer to the field of the hook's answer whose text is meant; none means all delivered text.
    pub field: Option<String>,
}

/// What stands for a scrubbed text.
#[derive(Debug, Clone)]
pub enum Put {
    /// A text of its own.
    Text(Replacement),
    /// `[label-n]`: equal texts get the same number, in the order in which they are found.
    Numbered {
        /// The word before the number.
        label: String,
        /// The filter whose pattern it is, when it is one.
        filter: Option<Filter>,
    },
}

/// A command and what it must print.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateCheck {
    /// The command.
    pub command: Command,
    /// Its exit code.
    pub exit: i32,
    /// Its exact stdout, newlines at the end aside.
    pub stdout: Option<String>,
    /// Text that must be in its stdout.
    pub contains: Vec<String>,
    /// Text that must not be in its stdout.
    pub not_contains: Vec<String>,
}
