//! Reading what a hook printed: nothing, plain text, an answer, or something broken.
//!
//! Guarantees the host's order of tests: trim, first character, parse, schema. A rejected answer says by which
//! problem, and keeps the one thing that may survive a rejection: a top-level block beside the name of another event.
//! What an accepted answer does is decided in [`crate::deliver()`].

use serde_json::{Map, Value};

use crate::delivery::{OutputProblem, ProblemKind};
use crate::event::Event;
use crate::facts::{Member, MemberKind};
use crate::json::{self, Leniency};
use crate::profile::{BrokenJson, HostProfile};

/// What stdout is, before any schema.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Reading {
    Nothing,
    /// Text without the blanks around it.
    Plain(String),
    /// One JSON object.
    Object(Map<String, Value>),
    /// Text that looks like an object and is none.
    Broken(String),
    /// An announcement that the hook goes on in the background, and what follows the line that says so.
    Background(String),
}

/// An object that passed the schema.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Answer(Map<String, Value>);

/// An object that failed the schema.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rejected {
    pub(crate) problem: OutputProblem,
    /// The reason of a top-level block that acts all the same.
    pub(crate) block: Option<Option<String>>,
}

const TOP_LEVEL: [(&str, MemberKind); 8] = [
    ("continue", MemberKind::Flag),
    ("stopReason", MemberKind::Text),
    ("suppressOutput", MemberKind::Flag),
    ("decision", MemberKind::OneOf(&["approve", "block"])),
    ("reason", MemberKind::Text),
    ("systemMessage", MemberKind::Text),
    ("terminalSequence", MemberKind::Text),
    ("hookSpecificOutput", MemberKind::Object),
];

/// The text of bytes, as the host decodes them.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Without what JavaScript calls white space, the byte order mark included, at both ends.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c == '\u{feff}' || (c.is_whitespace() && c != '\u{85}'))
}

/// Tells what stdout is.
pub(crate) fn read(host: &HostProfile, stdout: &[u8]) -> Reading {
    let whole = text(stdout);
    let trimmed = trim(&whole);
    if trimmed.is_empty() {
        return Reading::Nothing;
    }
    if !trimmed.starts_with('{') {
        return Reading::Plain(trimmed.to_owned());
    }
    if let Some((first, rest)) = trimmed.split_once('\n')
        && object(first).is_some_and(|first| announces_background(&first))
    {
        return Reading::Background(rest.to_owned());
    }
    match object(trimmed) {
        Some(object) if announces_background(&object) => Reading::Background(String::new()),
        Some(object) => Reading::Object(object),
        None if host.broken_json == BrokenJson::PlainText => Reading::Plain(trimmed.to_owned()),
        None if !trimmed.ends_with('}') || is_foreign_lines(trimmed) => Reading::Plain(trimmed.to_owned()),
        None => Reading::Broken(trimmed.to_owned()),
    }
}

fn object(text: &str) -> Option<Map<String, Value>> {
    match json::parse(text.as_bytes(), Leniency::Host) {
        Ok(Value::Object(map)) => Some(map),
        _ => None,
    }
}

fn announces_background(object: &Map<String, Value>) -> bool {
    object.get("async") == Some(&Value::Bool(true))
}

/// Several JSON documents on lines of their own, none with a field that a hook would write.
fn is_foreign_lines(text: &str) -> bool {
    text.lines().filter(|line| !line.trim().is_empty()).all(|line| {
        match json::parse(line.trim().as_bytes(), Leniency::Host) {
            Ok(Value::Object(map)) => {
                !map.contains_key("async") && !TOP_LEVEL.iter().any(|(name, _)| map.contains_key(*name))
            }
            Ok(_) => true,
            Err(_) => false,
        }
    })
}

/// Applies the schema of answers to an object.
pub(crate) fn validate(host: &HostProfile, event: Event, object: Map<String, Value>) -> Result<Answer, Rejected> {
    let reject = |kind, message: String| Err(Rejected { problem: OutputProblem { kind, message }, block: None });
    for (name, kind) in TOP_LEVEL {
        if let Some(value) = object.get(name)
            && !fits(kind, value)
        {
            return reject(ProblemKind::SchemaViolation, mismatch(name, kind, value));
        }
    }
    let Some(Value::Object(specific)) = object.get("hookSpecificOutput") else { return Ok(Answer(object)) };
    let named = match specific.get("hookEventName") {
        None => return reject(ProblemKind::MissingEventName, "hookSpecificOutput.hookEventName is missing".to_owned()),
        Some(Value::String(name)) => match Event::parse(name) {
            Some(named) => named,
            None => {
                return reject(ProblemKind::WrongEventName, format!("hookSpecificOutput names {name}, not an event"));
            }
        },
        Some(other) => {
            return reject(
                ProblemKind::SchemaViolation,
                mismatch("hookSpecificOutput.hookEventName", MemberKind::Text, other),
            );
        }
    };
    let Some(members) = named.facts().members else {
        return reject(ProblemKind::NoSpecificOutput, format!("{named} takes no hookSpecificOutput"));
    };
    for Member { name, kind, required } in members {
        match specific.get(*name) {
            Some(value) if !fits(*kind, value) => {
                let path = format!("hookSpecificOutput.{name}");
                return reject(ProblemKind::SchemaViolation, mismatch(&path, *kind, value));
            }
            None if *required => {
                return reject(ProblemKind::SchemaViolation, format!("hookSpecificOutput.{name} is missing"));
            }
            _ => {}
        }
    }
    if named != event {
        let message = format!("hookSpecificOutput names {named}, the event is {event}");
        let answer = Answer(object);
        let block = (host.foreign_name_blocks && answer.blocks()).then(|| answer.text("reason").map(str::to_owned));
        return Err(Rejected { problem: OutputProblem { kind: ProblemKind::WrongEventName, message }, block });
    }
    Ok(Answer(object))
}

fn fits(kind: MemberKind, value: &Value) -> bool {
    match kind {
        MemberKind::Text => value.is_string(),
        MemberKind::Flag => value.is_boolean(),
        MemberKind::TextList => value.as_array().is_some_and(|items| items.iter().all(Value::is_string)),
        MemberKind::Object => value.is_object(),
        MemberKind::Any => true,
        MemberKind::OneOf(names) => value.as_str().is_some_and(|name| names.contains(&name)),
        MemberKind::RequestDecision => matches!(value.get("behavior").and_then(Value::as_str), Some("allow" | "deny")),
    }
}

fn mismatch(path: &str, kind: MemberKind, value: &Value) -> String {
    let expected = match kind {
        MemberKind::Text => "a string".to_owned(),
        MemberKind::Flag => "a boolean".to_owned(),
        MemberKind::TextList => "an array of strings".to_owned(),
        MemberKind::Object => "an object".to_owned(),
        MemberKind::Any => "anything".to_owned(),
        MemberKind::OneOf(names) => format!("one of {}", names.join(", ")),
        MemberKind::RequestDecision => "an object whose behavior is allow or deny".to_owned(),
    };
    let found = match value {
        Value::String(text) if matches!(kind, MemberKind::OneOf(_)) => format!("{text:?}"),
        other => json::kind(other).to_owned(),
    };
    format!("{path}: expected {expected}, found {found}")
}

impl Answer {
    /// A top-level text.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// A top-level field, of whatever type.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub(crate) fn ends_turn(&self) -> bool {
        self.0.get("continue") == Some(&Value::Bool(false))
    }

    pub(crate) fn blocks(&self) -> bool {
        self.text("decision") == Some("block")
    }

    pub(crate) fn approves(&self) -> bool {
        self.text("decision") == Some("approve")
    }

    /// The members of `hookSpecificOutput`; none when it is absent.
    pub(crate) fn members(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.0.get("hookSpecificOutput").and_then(Value::as_object).into_iter().flatten()
    }

    pub(crate) fn member(&self, name: &str) -> Option<&Value> {
        self.0.get("hookSpecificOutput")?.get(name)
    }

    pub(crate) fn member_text(&self, name: &str) -> Option<&str> {
        self.member(name)?.as_str()
    }
}
