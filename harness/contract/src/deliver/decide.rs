//! What an answer decides: blocks, permissions, the end of a turn, and the words that go with a refusal.
//!
//! Split from the flow because it is where the events differ most. A decision never removes a text; what follows from
//! it for the context beside it is decided in the flow.

use serde_json::Value;

use super::{Flow, NO_REASON, Source};
use crate::answer::{self, Answer};
use crate::cap::{self, Capped};
use crate::delivery::{Decision, TextKind, UserTextKind};
use crate::event::Event;
use crate::facts::{Exit2, PlainStdout};
use crate::label;

impl Flow<'_> {
    /// Applies what a valid answer decides.
    pub(super) fn decide(&mut self, answer: &Answer, stdout: &[u8], code: i32) {
        let event = self.call.event;
        if answer.blocks() {
            if self.facts.honours("decision") {
                self.block(answer.text("reason").unwrap_or(NO_REASON), Source::Json);
            } else {
                self.no_effect("decision");
            }
        } else if answer.approves() && event == Event::PreToolUse {
            self.out.decision = Decision::Allow;
        }
        self.decide_permission(answer);
        self.decide_request(answer);
        if answer.ends_turn() {
            self.end_turn(answer);
        }
        let printed = answer::text(stdout);
        let printed = answer::trim(&printed);
        if code == 0 && self.out.decision != Decision::Block && !printed.is_empty() {
            match self.facts.plain_stdout {
                PlainStdout::CompactInstructions => self.compact_instructions(printed),
                PlainStdout::CompactOutput => self.compact_output(printed, true),
                _ => {}
            }
        }
    }

    /// `permissionDecision` of the three events that have it.
    fn decide_permission(&mut self, answer: &Answer) {
        let event = self.call.event;
        let reason = answer.member_text("permissionDecisionReason").unwrap_or(NO_REASON);
        let decision = answer.member_text("permissionDecision");
        if event == Event::PreSkillShellCommand {
            // Anything but a plain allow keeps the command from running.
            if matches!(decision, Some("deny" | "ask" | "defer")) || answer.member("updatedInput").is_some() {
                self.block(reason, Source::Json);
            } else if decision == Some("allow") {
                self.out.decision = Decision::Allow;
            }
            return;
        }
        match decision {
            Some("deny") => self.block(reason, Source::Json),
            Some("allow") if self.out.decision == Decision::None => self.out.decision = Decision::Allow,
            Some("defer") if self.out.decision == Decision::None => self.out.decision = Decision::Defer,
            Some("ask") if self.out.decision == Decision::None => {
                self.out.decision = Decision::Ask;
                if event == Event::PreToolUse {
                    let capped = cap::blocking(self.host, reason, self.call.spill);
                    self.model(TextKind::AskReason, String::new(), capped);
                } else {
                    self.user(UserTextKind::BlockReason, reason.to_owned());
                }
            }
            _ => {}
        }
    }

    /// The decisions of permission requests, denials and elicitations.
    fn decide_request(&mut self, answer: &Answer) {
        match self.call.event {
            Event::PermissionRequest => {
                let Some(decision) = answer.member("decision") else { return };
                if decision.get("behavior").and_then(Value::as_str) == Some("allow") {
                    self.out.decision = Decision::Allow;
                } else {
                    self.out.decision = Decision::Deny;
                    if let Some(message) = decision.get("message").and_then(Value::as_str) {
                        let capped = cap::blocking(self.host, message, self.call.spill);
                        self.model(TextKind::ToolError, String::new(), capped);
                    }
                }
            }
            Event::PermissionDenied if answer.member("retry") == Some(&Value::Bool(true)) => {
                self.out.decision = Decision::Retry;
            }
            Event::Elicitation | Event::ElicitationResult => match answer.member_text("action") {
                Some("accept") => self.out.decision = Decision::Allow,
                Some("decline") => self.out.decision = Decision::Deny,
                Some("cancel") => self.out.decision = Decision::Cancel,
                _ => {}
            },
            _ => {}
        }
    }

    pub(super) fn end_turn(&mut self, answer: &Answer) {
        if !self.facts.honours("continue") {
            return self.no_effect("continue");
        }
        self.out.ends_turn = true;
        self.out.decision = Decision::Stop.stronger(self.out.decision);
        if let Some(reason) = answer.text("stopReason") {
            self.user(UserTextKind::StopReason, reason.to_owned());
        }
    }

    pub(super) fn block(&mut self, text: &str, source: Source) {
        let mut capped = cap::blocking(self.host, text, self.call.spill);
        if source == Source::Stderr {
            capped.body = format!("[{}]: {}", self.call.command, capped.body);
        }
        self.refuse(capped, source == Source::Json);
    }

    /// Refuses, or speaks against, what the event is about.
    pub(super) fn refuse(&mut self, mut capped: Capped, from_json: bool) {
        let (call, host) = (self.call, self.host);
        if self.facts.exit2 == Exit2::StderrToUser {
            return self.user(UserTextKind::Notice, capped.body);
        }
        self.out.decision = Decision::Block;
        match call.event {
            Event::PreToolUse => {
                self.out.decision = Decision::Deny;
                let bare = from_json && !host.labels_deny_reason;
                let label = if bare { String::new() } else { label::error(call) };
                self.model(TextKind::ToolError, label, capped);
            }
            Event::PostToolUse | Event::PostToolUseFailure => {
                self.model(TextKind::BlockingError, label::blocking_error(call), capped);
            }
            Event::Stop | Event::SubagentStop => {
                let named = from_json && host.stop_block_names_command;
                let second = named.then(|| capped.clone());
                self.model(TextKind::Feedback, label::STOP_FEEDBACK.to_owned(), capped);
                if let Some(second) = second {
                    self.model(TextKind::BlockingError, label::blocking_error(call), second);
                }
            }
            Event::TaskCreated | Event::TaskCompleted | Event::TeammateIdle => {
                self.model(TextKind::Feedback, label::feedback(call), capped);
            }
            Event::PreSkillShellCommand => {
                self.out.decision = Decision::Deny;
                capped.body = format!("[not run: blocked by hook: {}]", capped.body);
                self.model(TextKind::SkillText, String::new(), capped);
            }
            // Nobody is told.
            Event::ConfigChange | Event::Elicitation | Event::ElicitationResult => {}
            _ => self.user(UserTextKind::BlockReason, capped.body),
        }
    }
}

/// The reason that takes the place of stderr when exit code 2 comes with a valid answer.
pub(super) fn blocking_reason(event: Event, answer: &Answer) -> Option<&str> {
    if answer.member_text("permissionDecision") == Some("deny") {
        return Some(answer.member_text("permissionDecisionReason").unwrap_or(NO_REASON));
    }
    (answer.blocks() && event.facts().honours("decision")).then(|| answer.text("reason").unwrap_or(NO_REASON))
}
