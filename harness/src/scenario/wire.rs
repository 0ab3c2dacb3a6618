//! `scenario.toml` as it is written: wire types, and nothing else.
//!
//! These types follow the file format one to one and refuse unknown keys. They carry no meaning and no
//! checks across keys; `convert` turns them into the types that the replayer works with. The JSON Schema of
//! the format is made from them.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de};

/// A whole `scenario.toml`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "scenario", title = "hookbench scenario, format 1.2")]
pub(crate) struct ScenarioWire {
    /// Version of the format: 1.
    pub schema: u32,
    /// One line: what the sequence shows.
    pub title: String,
    /// A paragraph: the story, and why the expectations are right.
    pub about: String,
    /// Where the payloads come from: a recording, or in whose shape they were written.
    pub provenance: String,
    /// Client versions that the scenario is for: `2.1.332`, or bounds such as `>=2.1.197, <2.1.300`.
    pub host: Option<String>,
    /// Text that differs from run to run and is replaced before it meets a golden.
    #[serde(default)]
    pub scrub: Vec<ScrubWire>,
    /// What stands around the hook before step 1.
    #[serde(default)]
    pub sandbox: SandboxWire,
    /// Values for steps that do not say otherwise.
    #[serde(default)]
    pub defaults: DefaultsWire,
    /// The steps, in order of delivery.
    #[serde(default)]
    #[expect(dead_code, reason = "stands here for the schema; steps are decoded one by one")]
    pub step: Vec<StepWire>,
}

/// One replacement in delivered text: `filter` alone, or `pattern` with `replace` or `label`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScrubWire {
    /// What is replaced, by its kind. It becomes `[uuid-1]`, `[path-2]`; equal texts get equal numbers.
    pub filter: Option<FilterWire>,
    /// What is replaced, as a regular expression.
    pub pattern: Option<String>,
    /// Replacement; `$1` is the first group.
    pub replace: Option<String>,
    /// Replacement by `[label-1]`, `[label-2]`; equal texts get equal numbers.
    pub label: Option<String>,
    /// JSON pointer to a field of the hook's answer: only text from there is replaced. Default: all delivered text.
    pub field: Option<String>,
}

/// The filters that have a name.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FilterWire {
    /// `123e4567-e89b-12d3-a456-426614174000`.
    Uuid,
    /// Dates and times.
    Timestamp,
    /// `12 ms`, `1m30s`.
    Duration,
    /// 7 to 128 hexadecimal digits.
    HexId,
    /// An absolute path.
    Path,
}

/// Surroundings of the hook.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SandboxWire {
    /// Folder of the scenario that is copied into the project.
    pub tree: Option<String>,
    /// Name of the project's folder inside HOME. Default `proj`.
    pub project: Option<String>,
    /// Recipe of the project's git repository; without it the project is a plain folder.
    pub git: Option<GitWire>,
    /// Additional environment of every call. Placeholders are replaced.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Shell commands that run before step 1 in the sandbox. Placeholders are replaced.
    #[serde(default)]
    pub seed: Vec<String>,
}

/// Recipe of a repository.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GitWire {
    /// First branch. Default `main`.
    pub branch: Option<String>,
    /// URL of `origin`; never contacted.
    pub origin: Option<String>,
    /// Commits, oldest first.
    #[serde(default)]
    pub commit: Vec<CommitWire>,
    /// Branches made after the commits.
    #[serde(default)]
    pub branches: Vec<BranchWire>,
    /// Linked worktrees made after the branches.
    #[serde(default)]
    pub worktrees: Vec<WorktreeWire>,
    /// What is checked out in the end: a branch, or any revision (detached HEAD).
    pub checkout: Option<String>,
}

/// One commit.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CommitWire {
    /// Commit message.
    pub message: String,
    /// Files to write first: path in the project to text.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Files to delete first.
    #[serde(default)]
    pub delete: Vec<String>,
    /// Branch to commit on; made at HEAD when it does not exist. Default: what is checked out.
    pub branch: Option<String>,
    /// Replace the last commit instead of adding one.
    #[serde(default)]
    pub amend: bool,
    /// Name of a linked worktree to commit in, instead of the project.
    pub worktree: Option<String>,
    /// Tag to put on the commit, so that later steps can name it.
    pub tag: Option<String>,
}

/// One branch.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BranchWire {
    /// Its name.
    pub name: String,
    /// Revision it starts at. Default HEAD.
    pub at: Option<String>,
}

/// One linked worktree.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorktreeWire {
    /// Its name in git; it lies at `${HOME}/<project>-<name>` and is `${WORKTREE:name}`.
    pub name: String,
    /// Branch it has checked out; made at HEAD when it does not exist.
    pub branch: String,
}

/// Defaults of the steps.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DefaultsWire {
    /// Timeout of a call in milliseconds. Default: the host's for the event.
    pub timeout_ms: Option<u64>,
    /// Name of the session. Default `main`.
    pub session: Option<String>,
    /// Additional arguments of the hook command.
    #[serde(default)]
    pub hook_args: Vec<String>,
    /// Additional environment of the steps.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Text that is replaced before it meets a golden; beyond the scenario's.
    #[serde(default)]
    pub scrub: Vec<ScrubWire>,
    /// Expectations that a step does not state.
    #[serde(default)]
    pub expect: ExpectWire,
}

/// One payload delivered to the hook.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StepWire {
    /// Name, unique in the scenario: lower-case letters, digits, `-`, `_`. Names the golden.
    pub name: String,
    /// Line of `payloads.jsonl` (from 1), or the `id` of a line.
    pub payload: Option<NumberOrWord>,
    /// File of the scenario that is sent byte by byte instead of a payload.
    pub stdin_file: Option<String>,
    /// Event, for stdin that does not name one.
    pub event: Option<String>,
    /// Session this step belongs to: `${SESSION}` and `${TRANSCRIPT}` are its id and file.
    pub session: Option<String>,
    /// Working folder of the hook. Default: the payload's `cwd`, else the project.
    pub cwd: Option<String>,
    /// Words for the selector `tag` of gates.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Timeout of this call in milliseconds.
    pub timeout_ms: Option<u64>,
    /// When the payload came, in milliseconds from the start of the sequence. Every step has it, or none.
    pub at_ms: Option<u64>,
    /// Additional arguments of the hook command.
    pub hook_args: Option<Vec<String>>,
    /// Payload fields to replace or add. A key that begins with `/` is a JSON pointer.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub set: BTreeMap<String, toml::Value>,
    /// Payload fields to leave out.
    #[serde(default)]
    pub unset: Vec<String>,
    /// Additional environment of this call.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Text that is replaced before it meets this step's golden; beyond the scenario's and the defaults'.
    #[serde(default)]
    pub scrub: Vec<ScrubWire>,
    /// What happens in the project before this step, in order.
    #[serde(default)]
    pub before: Vec<ActionWire>,
    /// What goes wrong around this call.
    pub fault: Option<FaultWire>,
    /// What must come back.
    #[serde(default)]
    pub expect: ExpectWire,
    /// What must be true afterwards.
    #[serde(default)]
    pub state: Vec<StateWire>,
}

/// One change between two steps.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum ActionWire {
    /// Adds a file of the scenario to the transcript of the step's session. Placeholders are replaced.
    TranscriptAppend(String),
    /// Writes a file.
    Write(WriteWire),
    /// Adds to the end of a file.
    Append(WriteWire),
    /// Deletes a file or folder.
    Delete(String),
    /// Renames a file or folder.
    Rename(RenameWire),
    /// Makes a symbolic link.
    Symlink(SymlinkWire),
    /// Copies a folder of the scenario over the project.
    CopyTree(String),
    /// Commits everything in the work tree.
    GitCommit(CommitWire),
    /// Checks out a branch, or any revision (detached HEAD).
    GitCheckout(CheckoutWire),
    /// Makes a branch.
    GitBranch(BranchWire),
    /// Makes a linked worktree.
    GitWorktree(WorktreeWire),
    /// Runs a shell command in the sandbox; a non-zero exit stops the run.
    Run(String),
}

/// A file's new text.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WriteWire {
    /// Path in the project, or a path that begins with a placeholder.
    pub path: String,
    /// The text. Placeholders are replaced.
    pub text: Option<String>,
    /// File of the scenario to take the text from, instead of `text`. Placeholders are replaced.
    pub from: Option<String>,
}

/// A rename.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RenameWire {
    /// Old path.
    pub from: String,
    /// New path.
    pub to: String,
}

/// A symbolic link.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SymlinkWire {
    /// Path of the link.
    pub path: String,
    /// What it points to.
    pub target: String,
}

/// A checkout.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CheckoutWire {
    /// Branch or revision.
    pub at: String,
    /// Make the branch at HEAD first.
    #[serde(default)]
    pub create: bool,
    /// Name of a linked worktree to check out in, instead of the project.
    pub worktree: Option<String>,
}

/// Faults of one call; all that are named apply.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FaultWire {
    /// The payload is written, but stdin is not closed until the hook ends.
    #[serde(default)]
    pub stdin_held_open: bool,
    /// stdin is closed after this many bytes of the payload.
    pub stdin_closed_after_bytes: Option<u64>,
    /// The payload is cut to this many bytes, then ended by a newline as usual.
    pub truncate_bytes: Option<u64>,
    /// The hook's process is killed this many milliseconds after its start.
    pub kill_after_ms: Option<u64>,
    /// The payload is delivered this many times, one call after the other; the last one is judged.
    pub times: Option<u32>,
    /// This many calls with the same payload run at once; each one is judged.
    pub parallel: Option<u32>,
    /// The clock is set back by this many seconds, as far as the hook lets a clock be set.
    pub clock_back_s: Option<u64>,
    /// Paths that are deleted before the call.
    #[serde(default)]
    pub delete: Vec<String>,
    /// Paths made read-only for the call.
    #[serde(default)]
    pub read_only: Vec<String>,
    /// Files whose middle bytes are overwritten before the call.
    #[serde(default)]
    pub corrupt: Vec<String>,
    /// Files cut to half their length before the call.
    #[serde(default)]
    pub cut: Vec<String>,
    /// Files on which an exclusive lock is held during the call.
    #[serde(default)]
    pub lock: Vec<String>,
    /// Shell commands that run just before the call.
    #[serde(default)]
    pub run: Vec<String>,
}

/// What must come back from a call.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectWire {
    /// Exit code, or `any`. Default 0.
    pub exit: Option<NumberOrWord>,
    /// The host's decision: `none`, `allow`, `ask`, `defer`, `deny`, `cancel`, `retry`, `block`, `stop`, or `any`.
    /// Default `none`.
    pub decision: Option<String>,
    /// What reaches the model. Must be said here or in the defaults.
    pub delivered: Option<DeliveredWire>,
    /// Text that must be delivered.
    #[serde(default)]
    pub contains: Vec<String>,
    /// Regular expressions that delivered text must not match.
    #[serde(default)]
    pub not_matches: Vec<String>,
    /// Most UTF-16 code units that may be delivered.
    pub max_utf16: Option<u64>,
    /// Most bytes that may be delivered.
    pub max_bytes: Option<u64>,
    /// Most tokens that may be delivered, estimated as bytes / 4.
    pub max_tokens: Option<u64>,
    /// Ids whose delivery is right, with grade 1 to 3. An empty table says: nothing is right.
    pub relevant: Option<BTreeMap<String, u8>>,
    /// Regular expression that finds ids in delivered text; group 1, if there is one, is the id.
    pub id_pattern: Option<String>,
    /// Paths in the project that the hook may change; `/` at the end means all below.
    #[serde(default)]
    pub may_write: Vec<String>,
    /// May the hook close stdin early? Default `forbid`.
    pub stdin_closed_early: Option<PermissionWire>,
    /// May a process outlive the hook? Default `forbid`.
    pub orphans: Option<PermissionWire>,
    /// May a descendant hold an output stream open? Default `forbid`.
    pub stream_held_open: Option<PermissionWire>,
    /// May delivered text be cut by the host's cap? Default `forbid`.
    pub over_cap: Option<PermissionWire>,
    /// May the host reject the output? Default `forbid`.
    pub invalid_output: Option<PermissionWire>,
    /// May the hook reach its timeout? Default `forbid`.
    pub timeout: Option<PermissionWire>,
}

/// What reaches the model.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DeliveredWire {
    /// Exactly the text of `golden/<step>.txt`.
    Golden,
    /// Nothing.
    Empty,
    /// Something, judged by the other expectations only.
    Some,
    /// Anything, nothing included.
    Any,
}

/// Whether something may happen.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PermissionWire {
    /// It may happen.
    Allow,
    /// It is a finding.
    Forbid,
}

/// One state check.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StateWire {
    /// Shell command, run in the sandbox after the step. Placeholders are replaced.
    pub command: String,
    /// Its exit code. Default 0.
    #[serde(default)]
    pub exit: i32,
    /// Its exact stdout, a newline at the end of either side aside.
    pub expect_stdout: Option<String>,
    /// Text that must be in its stdout.
    #[serde(default)]
    pub contains: Vec<String>,
    /// Text that must not be in its stdout.
    #[serde(default)]
    pub not_contains: Vec<String>,
}

/// A whole number or a word: `payload = 3`, `payload = "greet"`, `exit = "any"`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NumberOrWord {
    Number(i64),
    Word(String),
}

impl<'de> Deserialize<'de> for NumberOrWord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<NumberOrWord, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = NumberOrWord;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number or a string")
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<NumberOrWord, E> {
                Ok(NumberOrWord::Number(value))
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<NumberOrWord, E> {
                i64::try_from(value).map(NumberOrWord::Number).map_err(|_| E::custom("the number is too large"))
            }

            fn visit_str<E: de::Error>(self, value: &str) -> Result<NumberOrWord, E> {
                Ok(NumberOrWord::Word(value.to_owned()))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl JsonSchema for NumberOrWord {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "NumberOrWord".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": ["integer", "string"] })
    }
}
