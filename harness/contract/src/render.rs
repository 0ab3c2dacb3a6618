//! The form in which a model gets the texts of the hooks of one event.
//!
//! Models of the current generation get one `role: "system"` message of paragraphs; older ones, and some events on
//! older hosts, get text blocks in reminder tags inside the user message. Guarantees the text of each part as seen in
//! recorded requests. Not here: the order among events, and what the host itself puts between the parts.

use crate::delivery::{ModelText, TextKind};
use crate::event::Event;
use crate::profile::HostProfile;

/// The two forms in which context reaches a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MessageForm {
    /// `<system-reminder>` text blocks in the user message.
    Reminder,
    /// Paragraphs of a system message after the user message.
    System,
}

/// Where a part stands in the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// A paragraph of the system message; paragraphs are joined by a blank line.
    SystemMessage,
    /// A text block of the user message. The host ends it with a newline when another block of its kind follows.
    ReminderBlock,
    /// A user message of its own, which makes the turn go on.
    UserMessage,
    /// The content of the result of the call.
    ToolResult,
    /// The end of the instructions of a compaction, after those of the user.
    CompactInstructions,
    /// A line inside `<local-command-stdout>` of a typed `/compact`.
    CompactOutput,
    /// The text of a skill, in place of the output of a command.
    SkillText,
}

/// One part of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Where it stands.
    pub place: Place,
    /// The text with label and tags.
    pub text: String,
}

/// Wraps the texts of all hooks of one firing of an event, in the order in which the hooks finished.
///
/// ```
/// use hook_contract::{Call, Event, Exit, HostProfile, MessageForm, deliver, render};
/// let host = HostProfile::newest();
/// let call = Call::new(Event::SessionStart, Some("startup"), "my-hook");
/// let texts = deliver(host, &call, Exit::Code(0), b"use tabs", b"").to_model;
/// let parts = render(host, MessageForm::Reminder, Event::SessionStart, &texts);
/// assert_eq!(parts[0].text, "<system-reminder>\nSessionStart:startup hook success: use tabs\n</system-reminder>");
/// ```
pub fn render(host: &HostProfile, form: MessageForm, event: Event, texts: &[ModelText]) -> Vec<Part> {
    wrap(host, form, event, texts, true)
}

/// Wraps the contexts of a stop that comes after [`crate::cap::STOP_CONTINUATIONS`] others in a row: the turn ends all
/// the same, and the text stands beside the next prompt like any other context.
pub fn render_overridden(host: &HostProfile, form: MessageForm, event: Event, texts: &[ModelText]) -> Vec<Part> {
    wrap(host, form, event, texts, false)
}

fn wrap(host: &HostProfile, form: MessageForm, event: Event, texts: &[ModelText], continues: bool) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut tagged: Vec<bool> = Vec::new();
    // Where the contexts stand that share one label: in the place of the first of them.
    let mut shared: Option<usize> = None;
    for text in texts {
        if shares_label(event, text.kind) {
            if let Some(part) = shared.and_then(|at| parts.get_mut(at)) {
                part.text.push('\n');
                part.text.push_str(&text.body);
                continue;
            }
            shared = Some(parts.len());
        }
        let place = place(host, form, event, text.kind, continues);
        parts.push(Part { place, text: with_preamble(host, text) });
        tagged.push(is_tagged(host, place, text.kind));
    }
    for (part, _) in parts.iter_mut().zip(tagged).filter(|(_, tagged)| *tagged) {
        part.text = format!("<system-reminder>\n{}\n</system-reminder>", part.text);
    }
    parts
}

/// Reminder blocks are, and messages that continue a turn, but for the feedback of a host that has no preamble for it.
fn is_tagged(host: &HostProfile, place: Place, kind: TextKind) -> bool {
    match place {
        Place::ReminderBlock => true,
        Place::UserMessage => kind != TextKind::Feedback || host.stop_preamble.is_some(),
        _ => false,
    }
}

fn with_preamble(host: &HostProfile, text: &ModelText) -> String {
    match host.stop_preamble {
        Some(preamble) if text.kind == TextKind::Feedback => format!("{preamble}\n{}", text.text()),
        _ => text.text(),
    }
}

impl HostProfile {
    /// The form that a model was seen to get; a model that was never recorded is taken to be of the current
    /// generation.
    pub fn form(&self, model: &str) -> MessageForm {
        let old = ["claude-3", "sonnet-4", "haiku-4", "opus-4-1", "opus-4-2"];
        if old.iter().any(|name| model.contains(name)) { MessageForm::Reminder } else { MessageForm::System }
    }
}

fn place(host: &HostProfile, form: MessageForm, event: Event, kind: TextKind, continues: bool) -> Place {
    match kind {
        TextKind::ToolError | TextKind::AskReason => Place::ToolResult,
        TextKind::Feedback => Place::UserMessage,
        TextKind::SkillText => Place::SkillText,
        TextKind::CompactInstructions => Place::CompactInstructions,
        TextKind::CompactOutput => Place::CompactOutput,
        TextKind::AdditionalContext if continues && matches!(event, Event::Stop | Event::SubagentStop) => {
            Place::UserMessage
        }
        _ if form == MessageForm::Reminder => Place::ReminderBlock,
        _ if is_tool_event(event) && !host.tool_context_in_system => Place::ReminderBlock,
        _ => Place::SystemMessage,
    }
}

/// Whether texts of several hooks stand under one label, joined by newlines, and not in a paragraph each.
pub fn shares_label(event: Event, kind: TextKind) -> bool {
    match event {
        Event::SessionStart | Event::SubagentStart => kind == TextKind::AdditionalContext,
        Event::PostModelSwitch => matches!(kind, TextKind::AdditionalContext | TextKind::PlainStdout),
        _ => false,
    }
}

fn is_tool_event(event: Event) -> bool {
    matches!(event, Event::PreToolUse | Event::PostToolUse | Event::PostToolUseFailure)
}
