//! The rows of [`EventFacts`].
//!
//! Guarantees the order of [`Event::ALL`]. A row names only what differs from the most frequent case: no matcher,
//! exit code 2 ignored, stdout to the debug log, no context, ten minutes, no model handlers, nothing honoured.

use std::time::Duration;

use super::{EventFacts, Exit2, Handlers, Member, MemberKind, PlainStdout, Subject};
use crate::event::Event;
use crate::profile::{V197, V332, Version};

const TEXT: MemberKind = MemberKind::Text;
const FLAG: MemberKind = MemberKind::Flag;
const TEXT_LIST: MemberKind = MemberKind::TextList;
const OBJECT: MemberKind = MemberKind::Object;
const ANY: MemberKind = MemberKind::Any;
const REQUEST: MemberKind = MemberKind::RequestDecision;
const PERMISSION: MemberKind = MemberKind::OneOf(&["allow", "deny", "ask", "defer"]);
const SWITCH: MemberKind = MemberKind::OneOf(&["allow", "deny", "ask"]);
const ACTION: MemberKind = MemberKind::OneOf(&["accept", "decline", "cancel"]);

const CONTEXT: &[Member] = &[optional("additionalContext", TEXT)];

const EVERYTHING: &[&str] =
    &["continue", "stopReason", "suppressOutput", "systemMessage", "terminalSequence", "decision", "reason"];
const NO_DECISION: &[&str] = &["continue", "stopReason", "suppressOutput", "systemMessage", "terminalSequence"];
const NO_STOP: &[&str] = &["suppressOutput", "systemMessage", "terminalSequence", "decision", "reason"];
const NOTICES: &[&str] = &["suppressOutput", "systemMessage", "terminalSequence"];
const MESSAGES: &[&str] = &["systemMessage", "terminalSequence"];
const TERMINAL: &[&str] = &["terminalSequence"];
const DECISION: &[&str] = &["decision", "reason"];

const fn optional(name: &'static str, kind: MemberKind) -> Member {
    Member { name, kind, required: false }
}

const fn needed(name: &'static str, kind: MemberKind) -> Member {
    Member { name, kind, required: true }
}

const fn row(event: Event) -> EventFacts {
    EventFacts {
        event,
        subject: Subject::None,
        subject_values: &[],
        exit2: Exit2::Ignored,
        plain_stdout: PlainStdout::DebugLog,
        context_reaches_model: false,
        timeout: Some(Duration::from_secs(600)),
        handlers: Handlers::NoModel,
        gets_env_file: false,
        sends_permission_mode: false,
        sends_effort: false,
        honoured: &[],
        members: None,
        first_seen: V197,
    }
}

impl EventFacts {
    const fn subject(self, field: &'static str) -> Self {
        Self { subject: Subject::Field(field), ..self }
    }

    const fn file_name(self) -> Self {
        Self { subject: Subject::FileName, ..self }
    }

    const fn values(self, subject_values: &'static [&'static str]) -> Self {
        Self { subject_values, ..self }
    }

    const fn exit2(self, exit2: Exit2) -> Self {
        Self { exit2, ..self }
    }

    const fn stdout(self, plain_stdout: PlainStdout) -> Self {
        Self { plain_stdout, ..self }
    }

    const fn context(self) -> Self {
        Self { context_reaches_model: true, ..self }
    }

    const fn timeout_ms(self, ms: u64) -> Self {
        Self { timeout: Some(Duration::from_millis(ms)), ..self }
    }

    const fn timeout_unknown(self) -> Self {
        Self { timeout: None, ..self }
    }

    const fn handlers(self, handlers: Handlers) -> Self {
        Self { handlers, ..self }
    }

    const fn env_file(self) -> Self {
        Self { gets_env_file: true, ..self }
    }

    const fn permission_mode(self) -> Self {
        Self { sends_permission_mode: true, ..self }
    }

    const fn effort(self) -> Self {
        Self { sends_effort: true, ..self }
    }

    const fn honouring(self, honoured: &'static [&'static str]) -> Self {
        Self { honoured, ..self }
    }

    const fn members(self, members: &'static [Member]) -> Self {
        Self { members: Some(members), ..self }
    }

    const fn since(self, first_seen: Version) -> Self {
        Self { first_seen, ..self }
    }
}

pub(super) static TABLE: [EventFacts; 34] = [
    row(Event::SessionStart)
        .subject("source")
        .values(&["startup", "resume", "clear", "compact", "fork"])
        .exit2(Exit2::StderrToUser)
        .stdout(PlainStdout::Context)
        .context()
        .handlers(Handlers::CommandAndMcp)
        .env_file()
        .honouring(NOTICES)
        .members(&[
            optional("additionalContext", TEXT),
            optional("initialUserMessage", TEXT),
            optional("sessionTitle", TEXT),
            optional("watchPaths", TEXT_LIST),
            optional("reloadSkills", FLAG),
        ]),
    row(Event::Setup)
        .subject("trigger")
        .values(&["init", "maintenance"])
        .exit2(Exit2::StderrToUser)
        .handlers(Handlers::CommandAndMcp)
        .env_file()
        .honouring(NO_DECISION)
        .members(CONTEXT),
    row(Event::UserPromptSubmit)
        .exit2(Exit2::Blocks)
        .stdout(PlainStdout::Context)
        .context()
        .timeout_ms(30000)
        .handlers(Handlers::All)
        .permission_mode()
        .honouring(EVERYTHING)
        .members(&[
            optional("additionalContext", TEXT),
            optional("sessionTitle", TEXT),
            optional("suppressOriginalPrompt", FLAG),
        ]),
    row(Event::UserPromptExpansion)
        .subject("command_name")
        .exit2(Exit2::Blocks)
        .stdout(PlainStdout::Context)
        .context()
        .handlers(Handlers::All)
        .permission_mode()
        .honouring(EVERYTHING)
        .members(&[optional("additionalContext", TEXT), optional("suppressOriginalPrompt", FLAG)]),
    row(Event::PreToolUse)
        .subject("tool_name")
        .exit2(Exit2::Blocks)
        .context()
        .handlers(Handlers::All)
        .permission_mode()
        .effort()
        .honouring(EVERYTHING)
        .members(&[
            optional("permissionDecision", PERMISSION),
            optional("permissionDecisionReason", TEXT),
            optional("updatedInput", OBJECT),
            optional("additionalContext", TEXT),
        ]),
    row(Event::PermissionRequest)
        .subject("tool_name")
        .handlers(Handlers::All)
        .permission_mode()
        .effort()
        .honouring(NO_DECISION)
        .members(&[needed("decision", REQUEST)]),
    row(Event::PermissionDenied)
        .subject("tool_name")
        .handlers(Handlers::All)
        .permission_mode()
        .effort()
        .honouring(MESSAGES)
        .members(&[optional("retry", FLAG)]),
    row(Event::PostToolUse)
        .subject("tool_name")
        .exit2(Exit2::StderrToModel)
        .context()
        .handlers(Handlers::All)
        .permission_mode()
        .effort()
        .honouring(EVERYTHING)
        .members(&[
            optional("additionalContext", TEXT),
            optional("classifierContext", TEXT),
            optional("updatedToolOutput", ANY),
            optional("updatedMCPToolOutput", ANY),
        ]),
    row(Event::PostToolUseFailure)
        .subject("tool_name")
        .exit2(Exit2::StderrToModel)
        .context()
        .handlers(Handlers::All)
        .permission_mode()
        .effort()
        .honouring(NO_STOP)
        .members(CONTEXT),
    row(Event::PostToolBatch)
        .exit2(Exit2::Blocks)
        .context()
        .handlers(Handlers::All)
        .permission_mode()
        .effort()
        .honouring(EVERYTHING)
        .members(CONTEXT),
    row(Event::Notification)
        .subject("notification_type")
        .values(&[
            "permission_prompt",
            "idle_prompt",
            "auth_success",
            "elicitation_dialog",
            "elicitation_url_dialog",
            "elicitation_complete",
            "elicitation_response",
            "agent_needs_input",
            "agent_completed",
        ])
        .honouring(TERMINAL)
        .members(CONTEXT),
    row(Event::MessageDisplay).timeout_ms(10000).honouring(TERMINAL).members(&[optional("displayContent", TEXT)]),
    row(Event::SubagentStart)
        .subject("agent_type")
        .exit2(Exit2::StderrToUser)
        .context()
        .honouring(NOTICES)
        .members(CONTEXT),
    row(Event::SubagentStop)
        .subject("agent_type")
        .exit2(Exit2::Blocks)
        .context()
        .handlers(Handlers::All)
        .permission_mode()
        .effort()
        .honouring(EVERYTHING)
        .members(CONTEXT),
    row(Event::TaskCreated).exit2(Exit2::Blocks).handlers(Handlers::All).honouring(NO_STOP),
    row(Event::TaskCompleted).exit2(Exit2::Blocks).handlers(Handlers::All).honouring(NO_DECISION),
    row(Event::Stop)
        .exit2(Exit2::Blocks)
        .context()
        .handlers(Handlers::All)
        .permission_mode()
        .effort()
        .honouring(EVERYTHING)
        .members(CONTEXT),
    row(Event::StopFailure)
        .subject("error")
        .values(&[
            "authentication_failed",
            "oauth_org_not_allowed",
            "account_on_hold",
            "verification_required",
            "billing_error",
            "rate_limit",
            "overloaded",
            "invalid_request",
            "model_not_found",
            "server_error",
            "unknown",
            "max_output_tokens",
            "cloud_credential_error",
        ])
        .effort()
        .honouring(TERMINAL),
    row(Event::TeammateIdle).exit2(Exit2::Blocks).handlers(Handlers::All).permission_mode().honouring(NO_DECISION),
    row(Event::InstructionsLoaded)
        .subject("load_reason")
        .values(&["session_start", "nested_traversal", "path_glob_match", "include", "compact"])
        .effort(),
    row(Event::ConfigChange)
        .subject("source")
        .values(&["user_settings", "project_settings", "local_settings", "policy_settings", "skills"])
        .exit2(Exit2::Blocks)
        .honouring(DECISION),
    row(Event::CwdChanged)
        .exit2(Exit2::StderrToUser)
        .env_file()
        .honouring(MESSAGES)
        .members(&[optional("watchPaths", TEXT_LIST)]),
    row(Event::DirectoryAdded)
        .subject("source")
        .values(&["slash_command", "register_repo_root"])
        .honouring(MESSAGES)
        .since(V332),
    row(Event::FileChanged)
        .file_name()
        .exit2(Exit2::StderrToUser)
        .env_file()
        .honouring(MESSAGES)
        .members(&[optional("watchPaths", TEXT_LIST)]),
    row(Event::WorktreeCreate)
        .exit2(Exit2::Blocks)
        .stdout(PlainStdout::WorktreePath)
        .members(&[needed("worktreePath", TEXT)]),
    row(Event::WorktreeRemove),
    row(Event::PreCompact)
        .subject("trigger")
        .values(&["manual", "auto"])
        .exit2(Exit2::Blocks)
        .stdout(PlainStdout::CompactInstructions)
        .honouring(DECISION),
    row(Event::PostCompact)
        .subject("trigger")
        .values(&["manual", "auto"])
        .exit2(Exit2::StderrToUser)
        .stdout(PlainStdout::CompactOutput),
    row(Event::PreModelSwitch)
        .subject("to_model")
        .exit2(Exit2::Blocks)
        .timeout_ms(30000)
        .handlers(Handlers::CommandOnly)
        .honouring(EVERYTHING)
        .members(&[optional("permissionDecision", SWITCH), optional("permissionDecisionReason", TEXT)])
        .since(V332),
    row(Event::PostModelSwitch)
        .subject("to_model")
        .exit2(Exit2::StderrToUser)
        .stdout(PlainStdout::Context)
        .context()
        .timeout_unknown()
        .handlers(Handlers::CommandOnly)
        .honouring(NO_DECISION)
        .members(CONTEXT)
        .since(V332),
    row(Event::Elicitation)
        .subject("mcp_server_name")
        .exit2(Exit2::Blocks)
        .members(&[optional("action", ACTION), optional("content", OBJECT)]),
    row(Event::ElicitationResult)
        .subject("mcp_server_name")
        .exit2(Exit2::Blocks)
        .members(&[optional("action", ACTION), optional("content", OBJECT)]),
    row(Event::PreSkillShellCommand)
        .subject("tool_name")
        .exit2(Exit2::Blocks)
        .timeout_unknown()
        .handlers(Handlers::CommandOnly)
        .permission_mode()
        .effort()
        .honouring(EVERYTHING)
        .members(&[
            optional("permissionDecision", PERMISSION),
            optional("permissionDecisionReason", TEXT),
            optional("updatedInput", OBJECT),
        ])
        .since(V332),
    row(Event::SessionEnd)
        .subject("reason")
        .values(&["clear", "resume", "logout", "prompt_input_exit", "other"])
        .exit2(Exit2::StderrToUser)
        .timeout_ms(1500),
];
