//! What a hook may print: one JSON object.
//!
//! Guarantees that an encoded answer passes the host's validation for its event as far as types go, because absent
//! parts are left out and the event name is always written beside the members that need it. Not here: whether the host
//! honours a part on an event; ask [`crate::EventFacts`], or [`crate::deliver()`] for the effect.

use serde_json::{Map, Value};

use crate::event::Event;

/// An answer under construction.
///
/// ```
/// use hook_contract::{Event, Output};
/// let answer = Output::additional_context(Event::SessionStart, "use tabs");
/// assert_eq!(
///     answer.to_json(),
///     r#"{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"use tabs"}}"#
/// );
/// assert_eq!(Output::default().to_json(), "{}");
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Output {
    /// `continue`; `Some(false)` ends the turn where the event honours it.
    pub keep_going: Option<bool>,
    /// Shown to the user when `keep_going` is false.
    pub stop_reason: Option<String>,
    /// Accepted by the host; context is delivered all the same.
    pub suppress_output: Option<bool>,
    /// Top-level decision.
    pub decision: Option<TopDecision>,
    /// Why, for a block.
    pub reason: Option<String>,
    /// For the user, never for the model (but for asynchronous hooks).
    pub system_message: Option<String>,
    /// Terminal escape sequence.
    pub terminal_sequence: Option<String>,
    /// The event's own part.
    pub specific: Option<Specific>,
}

/// The top-level decision of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TopDecision {
    /// Allows, on `PreToolUse` only.
    Approve,
    /// Blocks.
    Block,
}

/// The members of `hookSpecificOutput` for one event.
#[derive(Debug, Clone, PartialEq)]
pub struct Specific {
    /// Written as `hookEventName`.
    pub event: Event,
    /// The other members, in order; see [`field@crate::EventFacts::members`].
    pub members: Map<String, Value>,
}

impl Output {
    /// An answer that gives the model a text.
    pub fn additional_context(event: Event, text: impl Into<String>) -> Self {
        Self::member(event, "additionalContext", Value::String(text.into()))
    }

    /// An answer with one member of `hookSpecificOutput`.
    pub fn member(event: Event, name: &str, value: Value) -> Self {
        let members = Map::from_iter([(name.to_owned(), value)]);
        Self { specific: Some(Specific { event, members }), ..Self::default() }
    }

    /// An answer that blocks, with a reason.
    pub fn block(reason: impl Into<String>) -> Self {
        Self { decision: Some(TopDecision::Block), reason: Some(reason.into()), ..Self::default() }
    }

    /// Whether there is nothing to say; such a hook prints nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The object, absent parts left out.
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                map.insert(key.to_owned(), value);
            }
        };
        let text = |text: &Option<String>| text.clone().map(Value::String);
        put("continue", self.keep_going.map(Value::Bool));
        put("stopReason", text(&self.stop_reason));
        put("suppressOutput", self.suppress_output.map(Value::Bool));
        put("decision", self.decision.map(|decision| Value::from(decision.name())));
        put("reason", text(&self.reason));
        put("systemMessage", text(&self.system_message));
        put("terminalSequence", text(&self.terminal_sequence));
        put("hookSpecificOutput", self.specific.as_ref().map(Specific::to_value));
        Value::Object(map)
    }

    /// The object as text on one line, without a newline.
    pub fn to_json(&self) -> String {
        self.to_value().to_string()
    }
}

impl TopDecision {
    /// As it stands in the answer.
    pub const fn name(self) -> &'static str {
        match self {
            TopDecision::Approve => "approve",
            TopDecision::Block => "block",
        }
    }
}

impl Specific {
    fn to_value(&self) -> Value {
        let mut map = Map::from_iter([("hookEventName".to_owned(), Value::from(self.event.name()))]);
        map.extend(self.members.iter().map(|(key, value)| (key.clone(), value.clone())));
        Value::Object(map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_written_under_its_own_key() {
        let output = Output {
            keep_going: Some(false),
            stop_reason: Some("s".to_owned()),
            suppress_output: Some(true),
            system_message: Some("m".to_owned()),
            terminal_sequence: Some("\u{7}".to_owned()),
            ..Output::block("r")
        };
        assert_eq!(
            output.to_json(),
            r#"{"continue":false,"stopReason":"s","suppressOutput":true,"decision":"block","reason":"r","#.to_owned()
                + r#""systemMessage":"m","terminalSequence":"\u0007"}"#
        );
        assert!(!output.is_empty());
    }
}
