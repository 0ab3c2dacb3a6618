//! What becomes of a hook's answer: who reads what, what is decided, what was wrong.
//!
//! Plain data without any rule; [`crate::deliver()`] fills it, [`crate::render()`] gives the texts the form in which a
//! model gets them.

use serde_json::Value;

use crate::cap::utf16_len;
use crate::event::Event;

/// One call of a hook, as far as the effect of its answer depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call<'a> {
    /// The event.
    pub event: Event,
    /// What a matcher would be compared with: the tool, the source of a `SessionStart`, the trigger of a compaction.
    pub subject: Option<&'a str>,
    /// The command as it stands in the settings; the host quotes it in texts.
    pub command: &'a str,
    /// Path that stands for the file to which the host spills a text past its cap. The host makes up the name.
    pub spill: &'a str,
    /// Whether the settings say `async: true`.
    pub background: bool,
    /// Whether the settings say `onFailure: "block"`; older hosts do not know it.
    pub failure_blocks: bool,
}

impl<'a> Call<'a> {
    /// A call in the foreground, with `${SPILL}` as path of a spilled text.
    pub const fn new(event: Event, subject: Option<&'a str>, command: &'a str) -> Self {
        Self { event, subject, command, spill: "${SPILL}", background: false, failure_blocks: false }
    }
}

/// How the process of a hook ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// With this exit code.
    Code(i32),
    /// Killed by this signal, which the host reads as exit code 1.
    Signal(i32),
    /// By the host, at the time limit.
    TimedOut,
}

/// The effect of one hook's answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Delivery {
    /// Texts that reach the model, in order.
    pub to_model: Vec<ModelText>,
    /// Texts that the user sees.
    pub to_user: Vec<UserText>,
    /// What the answer decides.
    pub decision: Decision,
    /// Whether `continue: false` ends the turn; may come beside any decision.
    pub ends_turn: bool,
    /// Other members with an effect, such as `updatedInput` or `watchPaths`.
    pub effects: Vec<Effect>,
    /// What was wrong with the answer or had no effect.
    pub problems: Vec<OutputProblem>,
    /// Whether the hook runs on in the background; its texts arrive before a later request.
    pub background: bool,
}

/// A text that reaches the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelText {
    /// Where it comes from and, with it, where it goes.
    pub kind: TextKind,
    /// What the host writes before it, such as `UserPromptSubmit hook additional context:`; may be empty.
    pub label: String,
    /// The text after cap, preview and escape.
    pub body: String,
    /// Length of the hook's own text in UTF-16 code units.
    pub original_utf16: usize,
    /// Whether the body is a preview or has a gap.
    pub truncated: bool,
}

impl ModelText {
    /// Label and body as one text, without any wrapper.
    pub fn text(&self) -> String {
        match (self.label.is_empty(), self.kind) {
            (true, _) => self.body.clone(),
            (false, TextKind::Feedback) => format!("{}\n{}", self.label, self.body),
            (false, _) => format!("{} {}", self.label, self.body),
        }
    }

    /// Length of label and body in UTF-16 code units: what the hook adds to the model's input, wrapper excluded.
    pub fn injected_utf16(&self) -> usize {
        utf16_len(&self.text())
    }
}

/// Where a text for the model comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TextKind {
    /// `additionalContext`.
    AdditionalContext,
    /// Plain stdout of an event that takes it as context.
    PlainStdout,
    /// What a hook says against a call that already ran, or beside the feedback of a stop hook.
    BlockingError,
    /// The error that the model gets in place of the result of a call.
    ToolError,
    /// The reason of an `ask`; it becomes the result of the call only where nobody can be asked.
    AskReason,
    /// The message that makes a turn go on.
    Feedback,
    /// A text in place of the output of a skill's shell command.
    SkillText,
    /// Part of the instructions of a compaction, read by the model that writes the summary.
    CompactInstructions,
    /// A line in the output of a typed `/compact`, which the model sees in later requests.
    CompactOutput,
    /// From a hook in the background; bare text before a later request.
    Background,
}

impl TextKind {
    /// A name for reports and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AdditionalContext => "additional-context",
            Self::PlainStdout => "plain-stdout",
            Self::BlockingError => "blocking-error",
            Self::ToolError => "tool-error",
            Self::AskReason => "ask-reason",
            Self::Feedback => "feedback",
            Self::SkillText => "skill-text",
            Self::CompactInstructions => "compact-instructions",
            Self::CompactOutput => "compact-output",
            Self::Background => "background",
        }
    }
}

/// A text that the user sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserText {
    /// Why it is shown.
    pub kind: UserTextKind,
    /// The text.
    pub text: String,
}

/// Why a text is shown to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UserTextKind {
    /// `systemMessage`.
    SystemMessage,
    /// `stopReason`.
    StopReason,
    /// Why something was refused.
    BlockReason,
    /// That a hook failed without blocking anything.
    Notice,
}

/// What an answer decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Decision {
    /// Nothing.
    #[default]
    None,
    /// The permission of a call, or the answer to an elicitation.
    Allow,
    /// The user is asked; without a user the call is refused.
    Ask,
    /// The host's own rules decide later.
    Defer,
    /// The call is refused, or the elicitation declined.
    Deny,
    /// The elicitation is cancelled.
    Cancel,
    /// The denied call may be tried again.
    Retry,
    /// The guarded action does not happen; after a call: the model reads the text; at a stop: the turn goes on.
    Block,
    /// The turn ends (`continue: false`).
    Stop,
}

impl Decision {
    /// A name for reports and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Defer => "defer",
            Self::Deny => "deny",
            Self::Cancel => "cancel",
            Self::Retry => "retry",
            Self::Block => "block",
            Self::Stop => "stop",
        }
    }

    /// The decision with this name.
    pub fn parse(name: &str) -> Option<Self> {
        const ALL: [Decision; 9] = [
            Decision::None,
            Decision::Allow,
            Decision::Ask,
            Decision::Defer,
            Decision::Deny,
            Decision::Cancel,
            Decision::Retry,
            Decision::Block,
            Decision::Stop,
        ];
        ALL.into_iter().find(|decision| decision.name() == name)
    }

    /// The one that wins when several hooks answer the same event: block and deny before defer, ask, allow.
    pub fn stronger(self, other: Self) -> Self {
        let rank = |decision| match decision {
            Self::Block => 8,
            Self::Deny => 7,
            Self::Stop => 6,
            Self::Defer => 5,
            Self::Ask => 4,
            Self::Cancel => 3,
            Self::Retry => 2,
            Self::Allow => 1,
            Self::None => 0,
        };
        if rank(other) > rank(self) { other } else { self }
    }
}

/// A member of `hookSpecificOutput` that has an effect of its own, or the path that a `WorktreeCreate` hook prints.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// The key.
    pub member: String,
    /// The value, as answered.
    pub value: Value,
}

/// Something wrong with an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputProblem {
    /// What kind of fault.
    pub kind: ProblemKind,
    /// What and where, for a reader.
    pub message: String,
}

/// The kinds of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProblemKind {
    /// Looks like an object, is not JSON; nothing is delivered.
    InvalidJson,
    /// A wrong type or value, or a required member is missing; nothing is delivered.
    SchemaViolation,
    /// `hookEventName` names another event, or none; nothing but a top-level block counts.
    WrongEventName,
    /// `hookSpecificOutput` without `hookEventName`; nothing is delivered.
    MissingEventName,
    /// The event takes no `hookSpecificOutput`; nothing is delivered.
    NoSpecificOutput,
    /// A part of the answer has no effect on this event; the rest counts.
    NoEffect,
    /// Another exit code than 0 and 2, without a valid answer.
    NonZeroExit,
    /// Killed by a signal, without a valid answer.
    Killed,
    /// Stopped at its time limit; the answer is dropped even when it was complete.
    TimedOut,
    /// A `WorktreeCreate` hook printed no path.
    NoWorktreePath,
}

impl ProblemKind {
    /// A name for reports and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::InvalidJson => "invalid-json",
            Self::SchemaViolation => "schema-violation",
            Self::WrongEventName => "wrong-event-name",
            Self::MissingEventName => "missing-event-name",
            Self::NoSpecificOutput => "no-specific-output",
            Self::NoEffect => "no-effect",
            Self::NonZeroExit => "non-zero-exit",
            Self::Killed => "killed",
            Self::TimedOut => "timed-out",
            Self::NoWorktreePath => "no-worktree-path",
        }
    }

    /// Whether the host dropped the whole output.
    pub const fn drops_output(self) -> bool {
        !matches!(self, Self::NoEffect)
    }
}
