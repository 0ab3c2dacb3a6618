//! The own fields of each event, one struct each.
//!
//! Guarantees that every declared field is an `Option`: absent, `null` and wrongly typed all read as `None`, and what
//! was really there is kept by [`crate::Payload`]. Sets of values stay text, because hosts add to them; the known
//! values are in [`crate::EventFacts::subject_values`]. Shapes inside lists and objects are not structs here: see
//! [`crate::ToolInput`] and [`PostToolBatch::calls`].

use serde_json::{Map, Number, Value};

use crate::event::Event;
use crate::field::{Field, FieldFact, Misfit, Need};

macro_rules! key {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $key:literal) => {
        $key
    };
}

macro_rules! bodies {
    ($($(#[$doc:meta])* $name:ident {
        $($(#[$field_doc:meta])* $field:ident $(as $key:literal)?: $ty:ty = $need:ident,)*
    })*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, PartialEq, Default)]
            pub struct $name { $($(#[$field_doc])* pub $field: Option<$ty>,)* }

            impl $name {
                /// The declared own fields, in the order of the contract.
                pub const FIELDS: &'static [FieldFact] = &[
                    $(FieldFact {
                        name: key!($field $($key)?),
                        expected: <$ty as Field>::EXPECTED,
                        need: Need::$need,
                    },)*
                ];

                #[allow(unused_variables)]
                fn accept(&mut self, key: &str, value: Value) -> Accepted {
                    match key {
                        $(key!($field $($key)?) => match <$ty as Field>::take(value) {
                            Ok(value) => { self.$field = Some(value); Accepted::Yes }
                            Err(misfit) => Accepted::WrongType(misfit),
                        },)*
                        _ => Accepted::Unknown(value),
                    }
                }

                #[allow(unused_variables)]
                fn write(&self, map: &mut Map<String, Value>) {
                    $(if let Some(value) = &self.$field {
                        map.insert(key!($field $($key)?).to_owned(), value.give());
                    })*
                }
            }
        )*

        /// What an event says beside the common fields.
        #[derive(Debug, Clone, PartialEq, Default)]
        pub enum Body {
            $($(#[$doc])* $name($name),)*
            /// An event that this crate does not know, or a payload without an event name.
            #[default]
            Unknown,
        }

        impl Body {
            /// The event, unless it is unknown.
            pub fn event(&self) -> Option<Event> {
                match self { $(Body::$name(_) => Some(Event::$name),)* Body::Unknown => None }
            }

            /// The declared own fields of an event.
            pub fn fields(event: Event) -> &'static [FieldFact] {
                match event { $(Event::$name => $name::FIELDS,)* }
            }

            pub(crate) fn empty(event: Option<Event>) -> Self {
                match event { $(Some(Event::$name) => Body::$name($name::default()),)* None => Body::Unknown }
            }

            pub(crate) fn accept(&mut self, key: &str, value: Value) -> Accepted {
                match self {
                    $(Body::$name(body) => body.accept(key, value),)*
                    Body::Unknown => Accepted::Unknown(value),
                }
            }

            pub(crate) fn write(&self, map: &mut Map<String, Value>) {
                match self { $(Body::$name(body) => body.write(map),)* Body::Unknown => {} }
            }
        }
    };
}

/// What became of a value that was offered to a body.
pub(crate) enum Accepted {
    Yes,
    WrongType(Box<Misfit>),
    Unknown(Value),
}

impl PostToolBatch {
    /// The calls of the batch; entries that are not objects are skipped.
    pub fn calls(&self) -> impl Iterator<Item = BatchCall<'_>> {
        self.tool_calls.iter().flatten().filter_map(|call| call.as_object().map(BatchCall))
    }
}

/// One call of a batch. Its response is the text or the content blocks that the model sees, not the structured result
/// that `PostToolUse` carries.
#[derive(Debug, Clone, Copy)]
pub struct BatchCall<'a>(&'a Map<String, Value>);

impl<'a> BatchCall<'a> {
    /// The tool.
    pub fn tool_name(self) -> Option<&'a str> {
        self.0.get("tool_name")?.as_str()
    }

    /// The original input, before any hook changed it.
    pub fn tool_input(self) -> Option<&'a Value> {
        self.0.get("tool_input")
    }

    /// The id of the call.
    pub fn tool_use_id(self) -> Option<&'a str> {
        self.0.get("tool_use_id")?.as_str()
    }

    /// What the model sees of the result: a string or an array of content blocks.
    pub fn tool_response(self) -> Option<&'a Value> {
        self.0.get("tool_response")
    }
}

bodies! {
/// A session begins, goes on after a resume, `/clear` or compaction, or is forked.
SessionStart {
    /// `startup`, `resume`, `clear`, `compact` or `fork`.
    source: String = Required,
    /// Sent on interactive starts and after compaction only.
    model: String = Optional,
    /// The title, once there is one.
    session_title: String = Optional,
    /// Since the last answer of the model; on resume and fork.
    seconds_since_last_response: Number = Optional,
    /// Size of the restored context; on resume and fork.
    context_tokens: Number = Optional,
    /// On resume and fork.
    prompt_cache_likely_expired: bool = Optional,
    /// On resume and fork, US dollars.
    estimated_cache_write_usd: Number = Optional,
}
/// One-time preparation of a repository.
Setup {
    /// `init` or `maintenance`.
    trigger: String = Required,
}
/// A prompt was submitted; the model has not seen it yet.
UserPromptSubmit {
    /// The prompt as submitted, task notifications included.
    prompt: String = Required,
    /// Declared by the SDK, never seen in a recording.
    source: String = Optional,
    /// The title, once there is one.
    session_title: String = Optional,
}
/// A typed command is about to become a prompt.
UserPromptExpansion {
    /// `slash_command` or `mcp_prompt`.
    expansion_type: String = Required,
    /// The skill or command.
    command_name: String = Required,
    /// The text after the command.
    command_args: String = Required,
    /// Where the command is defined.
    command_source: String = Optional,
    /// The raw command text.
    prompt: String = Required,
}
/// A tool call is about to run.
PreToolUse {
    /// The tool, `mcp__server__tool` for MCP.
    tool_name: String = Required,
    /// The input; read it with [`crate::ToolInput`].
    tool_input: Value = Required,
    /// The id of the call.
    tool_use_id: String = Required,
    /// `name` and `source` of the server of an MCP tool; since 2.1.332.
    mcp_server: Map<String, Value> = Optional,
}
/// The user is about to be asked, or a call that cannot ask is about to be denied.
PermissionRequest {
    /// The tool, `mcp__server__tool` for MCP.
    tool_name: String = Required,
    /// The input; read it with [`crate::ToolInput`].
    tool_input: Value = Required,
    /// Permission updates that the user would be offered.
    permission_suggestions: Vec<Value> = Optional,
    /// `name` and `source` of the server of an MCP tool; since 2.1.332.
    mcp_server: Map<String, Value> = Optional,
}
/// Auto mode denied a call.
PermissionDenied {
    /// The tool, `mcp__server__tool` for MCP.
    tool_name: String = Required,
    /// The input; read it with [`crate::ToolInput`].
    tool_input: Value = Required,
    /// The id of the call.
    tool_use_id: String = Required,
    /// Why the call was denied.
    reason: String = Required,
    /// `name` and `source` of the server of an MCP tool; since 2.1.332.
    mcp_server: Map<String, Value> = Optional,
}
/// A tool call succeeded.
PostToolUse {
    /// The tool, `mcp__server__tool` for MCP.
    tool_name: String = Required,
    /// The input; read it with [`crate::ToolInput`].
    tool_input: Value = Required,
    /// The structured result; read it with [`crate::ToolResponse`].
    tool_response: Value = Required,
    /// The id of the call.
    tool_use_id: String = Required,
    /// Run time in milliseconds, without hooks and questions.
    duration_ms: Number = Optional,
    /// `name` and `source` of the server of an MCP tool; since 2.1.332.
    mcp_server: Map<String, Value> = Optional,
}
/// A tool call ran and failed.
PostToolUseFailure {
    /// The tool, `mcp__server__tool` for MCP.
    tool_name: String = Required,
    /// The input; read it with [`crate::ToolInput`].
    tool_input: Value = Required,
    /// The id of the call.
    tool_use_id: String = Required,
    /// The text of the error; cut in the middle past 10,000 units.
    error: String = Required,
    /// Whether the user interrupted the call.
    is_interrupt: bool = Optional,
    /// Run time in milliseconds, without hooks and questions.
    duration_ms: Number = Optional,
    /// `name` and `source` of the server of an MCP tool; since 2.1.332.
    mcp_server: Map<String, Value> = Optional,
}
/// All calls of one assistant message are done.
PostToolBatch {
    /// The calls; read them with [`PostToolBatch::calls`].
    tool_calls: Vec<Value> = Required,
}
/// The host notifies the user.
Notification {
    /// The text.
    message: String = Required,
    /// Declared, never seen in a recording.
    title: String = Optional,
    /// The kind of notification.
    notification_type: String = Required,
}
/// Assistant text is about to be shown.
MessageDisplay {
    /// The turn.
    turn_id: String = Required,
    /// The message.
    message_id: String = Required,
    /// Number of the flush within the message.
    index: Number = Required,
    /// Whether this is the last flush of the message.
    is_final as "final": bool = Required,
    /// The text that is about to be shown.
    delta: String = Required,
}
/// A sub-agent starts. Its own two fields are [`crate::Common::agent_id`] and [`crate::Common::agent_type`].
SubagentStart {
}
/// A sub-agent is about to finish. Its id and type are in [`crate::Common`].
SubagentStop {
    /// Whether a stop hook already made this turn go on.
    stop_hook_active: bool = Required,
    /// The transcript of the sub-agent; the file may not exist.
    agent_transcript_path: String = Required,
    /// The last text of the assistant (on `StopFailure` the text of the error).
    last_assistant_message: String = Optional,
    /// Running background tasks of the session.
    background_tasks: Vec<Value> = Optional,
    /// Scheduled prompts of the session.
    session_crons: Vec<Value> = Optional,
}
/// A task is being created.
TaskCreated {
    /// The task.
    task_id: String = Required,
    /// Its subject.
    task_subject: String = Required,
    /// Its description.
    task_description: String = Optional,
    /// The teammate.
    teammate_name: String = Optional,
    /// The team; deprecated.
    team_name: String = Optional,
}
/// A task is being marked as done.
TaskCompleted {
    /// The task.
    task_id: String = Required,
    /// Its subject.
    task_subject: String = Required,
    /// Its description.
    task_description: String = Optional,
    /// The teammate.
    teammate_name: String = Optional,
    /// The team; deprecated.
    team_name: String = Optional,
}
/// The main agent finished its answer.
Stop {
    /// Whether a stop hook already made this turn go on.
    stop_hook_active: bool = Required,
    /// The last text of the assistant (on `StopFailure` the text of the error).
    last_assistant_message: String = Optional,
    /// Running background tasks of the session.
    background_tasks: Vec<Value> = Optional,
    /// Scheduled prompts of the session.
    session_crons: Vec<Value> = Optional,
}
/// The turn ended with an error of the API.
StopFailure {
    /// The kind of error, see the values in [`crate::EventFacts`].
    error: String = Required,
    /// Declared, never seen in a recording.
    error_details: String = Optional,
    /// The last text of the assistant (on `StopFailure` the text of the error).
    last_assistant_message: String = Optional,
}
/// A teammate is about to go idle.
TeammateIdle {
    /// The teammate.
    teammate_name: String = Required,
    /// The team; deprecated.
    team_name: String = Required,
}
/// An instruction file was loaded.
InstructionsLoaded {
    /// The file.
    file_path: String = Required,
    /// `User`, `Project`, `Local` or `Managed`.
    memory_type: String = Required,
    /// Why it was loaded.
    load_reason: String = Required,
    /// The patterns that loaded it.
    globs: Vec<String> = Optional,
    /// The file whose reading loaded it.
    trigger_file_path: String = Optional,
    /// The file that includes it.
    parent_file_path: String = Optional,
}
/// A settings file changed.
ConfigChange {
    /// Which settings changed.
    source: String = Required,
    /// The file, when it is one.
    file_path: String = Optional,
}
/// The working directory of the session changed.
CwdChanged {
    /// The directory before.
    old_cwd: String = Required,
    /// The directory now.
    new_cwd: String = Required,
}
/// A directory was added to the session.
DirectoryAdded {
    /// The directory.
    directory: String = Required,
    /// `slash_command` or `register_repo_root`.
    source: String = Required,
}
/// A watched file changed.
FileChanged {
    /// The file, absolute.
    file_path: String = Required,
    /// `change`, `add` or `unlink`.
    event: String = Required,
}
/// A worktree is needed.
WorktreeCreate {
    /// The wanted name.
    name: String = Required,
}
/// A worktree made by a hook goes away.
WorktreeRemove {
    /// The worktree.
    worktree_path: String = Required,
}
/// The conversation is about to be compacted.
PreCompact {
    /// `manual` or `auto`.
    trigger: String = Required,
    /// Text after `/compact`; `null` for automatic compaction.
    custom_instructions: String = Nullable,
}
/// The conversation was compacted.
PostCompact {
    /// `manual` or `auto`.
    trigger: String = Required,
    /// The summary that the model wrote.
    compact_summary: String = Required,
}
/// The model is about to be switched.
PreModelSwitch {
    /// The model before.
    from_model: String = Required,
    /// The model after.
    to_model: String = Required,
    /// What was asked for; `null` for a reset to the default.
    requested_model: String = Nullable,
    /// What caused the switch.
    source: String = Required,
    /// Size of the context.
    context_tokens: Number = Required,
    /// Whether the cache still holds the context.
    prompt_cache_warm: bool = Required,
    /// `5m` or `1h`.
    cache_ttl: String = Required,
    /// US dollars.
    estimated_cache_write_usd: Number = Required,
    /// Where the prices come from.
    pricing: String = Required,
}
/// The model was switched.
PostModelSwitch {
    /// The model before.
    from_model: String = Required,
    /// The model after.
    to_model: String = Required,
    /// What was asked for; `null` for a reset to the default.
    requested_model: String = Nullable,
    /// What caused the switch.
    source: String = Required,
    /// Size of the context.
    context_tokens: Number = Required,
    /// Whether the cache still holds the context.
    prompt_cache_warm: bool = Required,
    /// `5m` or `1h`.
    cache_ttl: String = Required,
    /// US dollars.
    estimated_cache_write_usd: Number = Required,
    /// Where the prices come from.
    pricing: String = Required,
}
/// An MCP server asks the user for input.
Elicitation {
    /// The server.
    mcp_server_name: String = Required,
    /// The text.
    message: String = Required,
    /// `form` or `url`.
    mode: String = Optional,
    /// The address to visit.
    url: String = Optional,
    /// The id of the request.
    elicitation_id: String = Optional,
    /// JSON Schema of the answer.
    requested_schema: Map<String, Value> = Optional,
}
/// The answer to an MCP server is about to be sent.
ElicitationResult {
    /// The server.
    mcp_server_name: String = Required,
    /// The id of the request.
    elicitation_id: String = Optional,
    /// `form` or `url`.
    mode: String = Optional,
    /// `accept`, `decline` or `cancel`.
    action: String = Required,
    /// The answer.
    content: Map<String, Value> = Optional,
}
/// An inline shell command of a skill is about to run.
PreSkillShellCommand {
    /// The tool, `mcp__server__tool` for MCP.
    tool_name: String = Required,
    /// The input; read it with [`crate::ToolInput`].
    tool_input: Map<String, Value> = Required,
    /// The id of the call.
    tool_use_id: String = Required,
    /// The skill or command.
    command_name: String = Required,
    /// Where the command is defined.
    command_source: String = Optional,
    /// `user`, `claude` or `other`.
    invoked_by: String = Required,
}
/// The session ends.
SessionEnd {
    /// `clear`, `resume`, `logout`, `prompt_input_exit` or `other`.
    reason: String = Required,
}}
