//! One payload, as the host wrote it to the stdin of a hook.
//!
//! Guarantees: decoding never panics and never loses anything. Every key of the object is either in a typed field or
//! in [`Payload::extra`] (unknown keys, nulls, values of a wrong type), and [`Payload::to_value`] gives back an object
//! that is equal, in the same order of keys. Not here: any reading of stdin, any schema of tool inputs.

use serde_json::{Map, Value};

use crate::body::{Accepted, Body};
use crate::event::Event;
use crate::field::{Field, FieldFact, Misfit, Need, Problem};
use crate::json::{self, Leniency};

/// The fields that any event may carry. Every one is optional here: a hook must live with a payload that lacks it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Common {
    /// The session, the same as in `CLAUDE_CODE_SESSION_ID`.
    pub session_id: Option<String>,
    /// The transcript of the session (JSON lines); absent on disk at the first prompt and written with a delay.
    pub transcript_path: Option<String>,
    /// The working directory, which follows `cd`; not always the root of the project.
    pub cwd: Option<String>,
    /// The prompt being answered; missing before the first prompt of the process.
    pub prompt_id: Option<String>,
    /// `default`, `plan`, `acceptEdits`, `auto`, `dontAsk` or `bypassPermissions`.
    pub permission_mode: Option<String>,
    /// Present inside a sub-agent, and on the two events about one.
    pub agent_id: Option<String>,
    /// The type of the sub-agent; alone, without an id, the type of the main thread.
    pub agent_type: Option<String>,
    /// Kept as an object; see [`Common::effort_level`].
    pub effort: Option<Map<String, Value>>,
}

impl Common {
    /// The declared common fields.
    pub const FIELDS: &'static [FieldFact] = &[
        FieldFact { name: "session_id", expected: "string", need: Need::Required },
        FieldFact { name: "transcript_path", expected: "string", need: Need::Required },
        FieldFact { name: "cwd", expected: "string", need: Need::Required },
        FieldFact { name: "prompt_id", expected: "string", need: Need::Optional },
        FieldFact { name: "permission_mode", expected: "string", need: Need::Optional },
        FieldFact { name: "agent_id", expected: "string", need: Need::Optional },
        FieldFact { name: "agent_type", expected: "string", need: Need::Optional },
        FieldFact { name: "effort", expected: "object", need: Need::Optional },
    ];

    /// `low`, `medium`, `high` …, on models that have it.
    pub fn effort_level(&self) -> Option<&str> {
        self.effort.as_ref()?.get("level")?.as_str()
    }

    /// Whether the hook was called from inside a sub-agent.
    pub fn in_subagent(&self) -> bool {
        self.agent_id.is_some()
    }

    fn slot(&mut self, key: &str) -> Option<&mut Option<String>> {
        match key {
            "session_id" => Some(&mut self.session_id),
            "transcript_path" => Some(&mut self.transcript_path),
            "cwd" => Some(&mut self.cwd),
            "prompt_id" => Some(&mut self.prompt_id),
            "permission_mode" => Some(&mut self.permission_mode),
            "agent_id" => Some(&mut self.agent_id),
            "agent_type" => Some(&mut self.agent_type),
            _ => None,
        }
    }

    fn write(&self, map: &mut Map<String, Value>) {
        let texts = [
            ("session_id", &self.session_id),
            ("transcript_path", &self.transcript_path),
            ("cwd", &self.cwd),
            ("prompt_id", &self.prompt_id),
            ("permission_mode", &self.permission_mode),
            ("agent_id", &self.agent_id),
            ("agent_type", &self.agent_type),
        ];
        for (key, value) in texts {
            if let Some(value) = value {
                map.insert(key.to_owned(), Value::String(value.clone()));
            }
        }
        if let Some(effort) = &self.effort {
            map.insert("effort".to_owned(), Value::Object(effort.clone()));
        }
    }
}

/// One decoded payload.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Payload {
    /// The fields that any event may carry.
    pub common: Common,
    /// `hook_event_name`, also when the event is unknown; empty when it is missing.
    pub event_name: String,
    /// The own fields of the event.
    pub body: Body,
    /// Unknown keys, nulls and values of a wrong type, in their order.
    pub extra: Map<String, Value>,
    /// Wrong types and missing required fields.
    pub problems: Vec<Problem>,
    /// The keys in the order in which they came.
    order: Vec<String>,
}

/// Why bytes are not a payload at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Nothing, or nothing but blanks.
    #[error("the payload is empty")]
    Empty,
    /// UTF-16, with or without a byte order mark.
    #[error("the payload is UTF-16; hooks are sent UTF-8")]
    Utf16,
    /// The text is not JSON. After a repair (surrogates, bad UTF-8, control characters) the column counts the
    /// repaired text.
    #[error("the payload is not JSON at line {line} column {column}: {message}")]
    NotJson {
        /// Line, counted from 1.
        line: usize,
        /// Column in bytes, counted from 1.
        column: usize,
        /// What the parser says, without the place.
        message: String,
    },
    /// JSON, but not an object.
    #[error("the payload is a JSON {found}, not an object")]
    NotAnObject {
        /// The JSON type found.
        found: &'static str,
    },
}

/// Decodes the bytes that a host wrote to a hook.
///
/// ```
/// let payload = hook_contract::decode(br#"{"hook_event_name": "Stop", "stop_hook_active": "yes", "new": 1}"#)?;
/// assert_eq!(payload.event(), Some(hook_contract::Event::Stop));
/// assert!(payload.problems.iter().any(|problem| problem.path == "stop_hook_active"));
/// assert_eq!(payload.to_value()["stop_hook_active"], "yes");
/// # Ok::<(), hook_contract::DecodeError>(())
/// ```
pub fn decode(bytes: &[u8]) -> Result<Payload, DecodeError> {
    if is_utf16(bytes) {
        return Err(DecodeError::Utf16);
    }
    let text = json::trim(bytes);
    if text.is_empty() {
        return Err(DecodeError::Empty);
    }
    match json::parse(text, Leniency::Tolerant) {
        Ok(Value::Object(map)) => Ok(Payload::from_map(map)),
        Ok(other) => Err(DecodeError::NotAnObject { found: json::kind(&other) }),
        Err(error) => Err(not_json(&error)),
    }
}

impl Payload {
    /// Decodes an object that is already parsed.
    pub fn from_map(map: Map<String, Value>) -> Self {
        let event_name = map.get("hook_event_name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let event = Event::parse(&event_name);
        let mut payload = Self { event_name, body: Body::empty(event), ..Self::default() };
        payload.order.reserve_exact(map.len());
        for (key, value) in map {
            payload.accept(&key, value);
            payload.order.push(key);
        }
        payload.note_missing(event);
        payload.note_inner();
        payload
    }

    /// The event, unless this crate does not know it.
    pub fn event(&self) -> Option<Event> {
        self.body.event()
    }

    /// The object again: equal to what was decoded, keys in their order.
    pub fn to_value(&self) -> Value {
        let mut fields = Map::new();
        self.common.write(&mut fields);
        // An empty name is written only if the payload had one.
        if !self.event_name.is_empty() || self.order.iter().any(|key| key == "hook_event_name") {
            fields.insert("hook_event_name".to_owned(), Value::String(self.event_name.clone()));
        }
        self.body.write(&mut fields);
        fields.extend(self.extra.iter().map(|(key, value)| (key.clone(), value.clone())));

        let mut ordered = Map::with_capacity(fields.len());
        for key in &self.order {
            if let Some(value) = fields.swap_remove(key) {
                ordered.insert(key.clone(), value);
            }
        }
        ordered.append(&mut fields);
        Value::Object(ordered)
    }

    fn accept(&mut self, key: &str, value: Value) {
        if value.is_null() {
            self.extra.insert(key.to_owned(), value);
            return;
        }
        let accepted = if let Some(slot) = self.common.slot(key) {
            store(slot, value)
        } else if key == "effort" {
            store(&mut self.common.effort, value)
        } else if key == "hook_event_name" {
            match value {
                Value::String(_) => Accepted::Yes,
                other => {
                    let found = json::kind(&other);
                    let misfit = Misfit { value: other, below: String::new(), expected: "string", found };
                    Accepted::WrongType(Box::new(misfit))
                }
            }
        } else {
            self.body.accept(key, value)
        };
        match accepted {
            Accepted::Yes => {}
            Accepted::Unknown(value) => {
                self.extra.insert(key.to_owned(), value);
            }
            Accepted::WrongType(misfit) => {
                let Misfit { value, below, expected, found } = *misfit;
                self.problems.push(Problem { path: format!("{key}{below}"), expected, found });
                self.extra.insert(key.to_owned(), value);
            }
        }
    }

    /// Names required fields that are absent or null. A payload has few keys, so a linear search is the cheap one.
    fn note_missing(&mut self, event: Option<Event>) {
        const NAME: FieldFact = FieldFact { name: "hook_event_name", expected: "string", need: Need::Required };
        let own = event.map(Body::fields).unwrap_or_default();
        for field in Common::FIELDS.iter().chain([&NAME]).chain(own) {
            let null = matches!(self.extra.get(field.name), Some(Value::Null));
            let present = self.order.iter().any(|key| key == field.name);
            let found = match field.need {
                Need::Required if null => "null",
                Need::Required | Need::Nullable if !present => "missing",
                _ => continue,
            };
            self.problems.push(Problem { path: field.name.to_owned(), expected: field.expected, found });
        }
    }

    /// Names wrong types inside the structures that a hook reads through typed views.
    fn note_inner(&mut self) {
        let problems = &mut self.problems;
        if let Some(level) = self.common.effort.as_ref().and_then(|effort| effort.get("level"))
            && !level.is_string()
        {
            problems.push(Problem { path: "effort.level".to_owned(), expected: "string", found: json::kind(level) });
        }
        let Body::PostToolBatch(batch) = &self.body else { return };
        for (at, call) in batch.tool_calls.iter().flatten().enumerate() {
            let Some(call) = call.as_object() else {
                let path = format!("tool_calls[{at}]");
                problems.push(Problem { path, expected: "object", found: json::kind(call) });
                continue;
            };
            for name in ["tool_name", "tool_use_id"] {
                let found = match call.get(name) {
                    Some(Value::String(_)) => continue,
                    Some(other) => json::kind(other),
                    None => "missing",
                };
                problems.push(Problem { path: format!("tool_calls[{at}].{name}"), expected: "string", found });
            }
        }
    }
}

fn store<T: Field>(slot: &mut Option<T>, value: Value) -> Accepted {
    match T::take(value) {
        Ok(value) => {
            *slot = Some(value);
            Accepted::Yes
        }
        Err(misfit) => Accepted::WrongType(misfit),
    }
}

/// A byte order mark, or a brace whose neighbour byte is NUL, which no UTF-8 JSON has.
fn is_utf16(bytes: &[u8]) -> bool {
    matches!(bytes, [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] | [b'{', 0, ..] | [0, b'{', ..])
}

fn not_json(error: &serde_json::Error) -> DecodeError {
    let (line, column) = (error.line(), error.column());
    let message = error.to_string();
    let place = format!(" at line {line} column {column}");
    let message = message.strip_suffix(&place).unwrap_or(&message).to_owned();
    DecodeError::NotJson { line, column, message }
}
