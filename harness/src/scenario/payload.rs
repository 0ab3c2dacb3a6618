//! `payloads.jsonl`: payloads as recorded, found by line or id, edited without disturbing their other bytes.
//!
//! A line is either a raw payload (it has `hook_event_name`) or a recorded envelope (it has `stdin_payload`,
//! and may have `id` and `event`). The payload's JSON text is kept as written: key order, number spelling and
//! lone surrogates survive, edits touch only the fields they name. Placeholders are not replaced here.

use std::path::Path;

use serde::Deserialize;
use serde::de::{self, Deserializer};
use serde_json::value::RawValue;

use crate::problem::{Problem, Source};

/// All payloads of a scenario.
#[derive(Debug)]
pub(crate) struct Payloads {
    pub(crate) source: Source,
    pub(crate) lines: Vec<PayloadLine>,
}

/// One payload.
#[derive(Debug, Clone)]
pub(crate) struct PayloadLine {
    /// Line of the file, from 1.
    pub(crate) line: usize,
    /// Byte offset of the line in the file.
    pub(crate) offset: usize,
    /// The envelope's id.
    pub(crate) id: Option<String>,
    /// The event's name, from the envelope or the payload.
    pub(crate) event: String,
    /// The payload's JSON text.
    pub(crate) text: String,
}

/// The keys of an envelope that matter; a recording has more, so unknown keys are allowed.
#[derive(Deserialize)]
struct LineWire<'a> {
    id: Option<String>,
    event: Option<String>,
    #[serde(borrow)]
    stdin_payload: Option<&'a RawValue>,
    hook_event_name: Option<String>,
}

impl Payloads {
    /// Reads the file. A line that cannot be used leaves a problem and is left out.
    pub(crate) fn read(path: &Path, problems: &mut Vec<Problem>) -> Option<Payloads> {
        match std::fs::read_to_string(path) {
            Ok(text) => Some(Payloads::parse(Source::new(path, text), problems)),
            Err(error) => {
                let remedy = "put payloads.jsonl beside scenario.toml, in UTF-8, one JSON object a line; bytes that \
                              are no JSON belong in a file of their own, named by stdin_file";
                problems.push(Problem::file(path, format!("cannot read the payloads: {error}"), remedy));
                None
            }
        }
    }

    fn parse(source: Source, problems: &mut Vec<Problem>) -> Payloads {
        let mut lines: Vec<PayloadLine> = Vec::new();
        let mut offset = 0;
        for (index, raw) in source.text().split_inclusive('\n').enumerate() {
            let text = raw.trim_end_matches(['\n', '\r']);
            if !text.trim().is_empty() {
                match payload_line(text) {
                    Ok((id, event, text)) => lines.push(PayloadLine { line: index + 1, offset, id, event, text }),
                    Err((column, message, remedy)) => {
                        let at = offset + column;
                        problems.push(source.problem(at..(offset + text.len()).max(at), message, remedy));
                    }
                }
            }
            offset += raw.len();
        }
        let mut payloads = Payloads { source, lines };
        payloads.report_double_ids(problems);
        payloads
    }

    fn report_double_ids(&mut self, problems: &mut Vec<Problem>) {
        for (index, line) in self.lines.iter().enumerate() {
            let Some(id) = &line.id else { continue };
            let first = self.lines.iter().take(index).find(|other| other.id.as_ref() == Some(id));
            if let Some(first) = first {
                let message = format!("id `{id}` is also on line {}", first.line);
                problems.push(self.source.problem(line.offset..line.offset + 1, message, "give each line its own id"));
            }
        }
    }

    /// The payload on a line of the file, from 1.
    pub(crate) fn by_line(&self, line: i64) -> Option<&PayloadLine> {
        self.lines.iter().find(|payload| i64::try_from(payload.line) == Ok(line))
    }

    /// The payload with an id.
    pub(crate) fn by_id(&self, id: &str) -> Option<&PayloadLine> {
        self.lines.iter().find(|payload| payload.id.as_deref() == Some(id))
    }
}

type LineFault = (usize, String, &'static str);

fn payload_line(text: &str) -> Result<(Option<String>, String, String), LineFault> {
    let wire: LineWire<'_> = serde_json::from_str(text).map_err(|error| {
        let column = error.column().saturating_sub(1);
        (column, format!("not a payload: {error}"), "write one JSON object on this line")
    })?;
    let no_event = || {
        let remedy = "add hook_event_name to the payload, or wrap it as {\"event\": …, \"stdin_payload\": …}";
        (0, "the line names no event".to_owned(), remedy)
    };
    let Some(payload) = wire.stdin_payload else {
        return Ok((None, wire.hook_event_name.ok_or_else(no_event)?, text.to_owned()));
    };
    let event = match wire.event {
        Some(event) => event,
        None => string_field(payload.get(), "hook_event_name").ok_or_else(no_event)?,
    };
    Ok((wire.id, event, payload.get().to_owned()))
}

/// The text of a top-level string field of a JSON object.
pub(crate) fn string_field(json: &str, key: &str) -> Option<String> {
    let object: Object = serde_json::from_str(json).ok()?;
    let (_, value) = object.0.iter().rev().find(|(name, _)| name == key)?;
    serde_json::from_str(value).ok()
}

/// The JSON object with one field replaced or added; `None` leaves it out.
///
/// A key that begins with `/` is a JSON pointer into nested objects; list positions are not supported.
///
/// # Errors
/// One sentence, when the text or a value on the pointer's way is no object.
pub(crate) fn with_field(json: &str, key: &str, value: Option<&str>) -> Result<String, String> {
    let way: Vec<String> = match key.strip_prefix('/') {
        Some(pointer) => pointer.split('/').map(|part| part.replace("~1", "/").replace("~0", "~")).collect(),
        None => vec![key.to_owned()],
    };
    edited(json, &way, value)
}

fn edited(json: &str, way: &[String], value: Option<&str>) -> Result<String, String> {
    let Some((key, rest)) = way.split_first() else { return Ok(value.unwrap_or("null").to_owned()) };
    let Object(mut fields) =
        serde_json::from_str(json).map_err(|_| format!("there is no object that could hold `{key}`"))?;
    let position = fields.iter().position(|(name, _)| name == key);
    if rest.is_empty() {
        match (position.and_then(|at| fields.get_mut(at)), value) {
            (Some(field), Some(value)) => value.clone_into(&mut field.1),
            (None, Some(value)) => fields.push((key.clone(), value.to_owned())),
            (_, None) => fields.retain(|(name, _)| name != key),
        }
    } else {
        let field = position.and_then(|at| fields.get_mut(at)).ok_or_else(|| format!("there is no field `{key}`"))?;
        field.1 = edited(&field.1, rest, value)?;
    }
    Ok(written(&fields))
}

fn written(fields: &[(String, String)]) -> String {
    let fields: Vec<String> =
        fields.iter().map(|(name, value)| format!("{}:{value}", serde_json::Value::from(name.as_str()))).collect();
    format!("{{{}}}", fields.join(","))
}

/// An object's fields in order, values as JSON text.
struct Object(Vec<(String, String)>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Object, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Object;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                let mut fields = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, Box<RawValue>>()? {
                    fields.push((name, value.get().to_owned()));
                }
                Ok(Object(fields))
            }
        }
        deserializer.deserialize_map(Visitor)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
    use super::*;

    fn parse(text: &str) -> (Payloads, Vec<Problem>) {
        let mut problems = Vec::new();
        (Payloads::parse(Source::new("s/payloads.jsonl", text), &mut problems), problems)
    }

    #[test]
    fn raw_payload_and_envelope_are_both_read() {
        let (payloads, problems) = parse(concat!(
            "{\"hook_event_name\":\"Stop\",\"x\":1.50}\n\n",
            "{\"t_ms\":1,\"id\":\"p\",\"event\":\"Stop\",\"stdin_payload\":{\"a\":\"\\ud800\"}}\r\n",
            "{\"stdin_payload\":{\"hook_event_name\":\"Setup\"}}",
        ));
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!(payloads.by_line(1).unwrap().text, "{\"hook_event_name\":\"Stop\",\"x\":1.50}");
        assert!(payloads.by_line(2).is_none());
        assert_eq!(payloads.by_line(3).unwrap().text, "{\"a\":\"\\ud800\"}");
        assert_eq!(payloads.by_id("p").unwrap().line, 3);
        assert_eq!(payloads.by_line(4).unwrap().event, "Setup");
    }

    #[test]
    fn each_bad_line_is_named_with_its_line_and_remedy() {
        let (payloads, problems) = parse(concat!(
            "{\"hook_event_name\":\"Stop\"}\n",
            "{\"hook_event_name\": \"Stop\",}\n",
            "{\"a\":1}\n",
            "{\"id\":\"p\",\"event\":\"Stop\",\"stdin_payload\":{}}\n",
            "{\"id\":\"p\",\"event\":\"Stop\",\"stdin_payload\":{}}\n",
        ));
        assert_eq!(payloads.lines.len(), 3);
        let lines: Vec<_> = problems.iter().map(|problem| problem.position().unwrap().0).collect();
        assert_eq!(lines, [2, 3, 5]);
        assert!(problems[1].remedy().contains("hook_event_name"));
        assert!(problems[2].to_string().contains("also on line 4"), "{}", problems[2]);
    }

    #[test]
    fn edit_touches_only_the_named_field() {
        let json = r#"{"b": 1.50, "s": "\ud800", "in": {"x": [1, 2], "y": 2}}"#;
        let cases = [
            ("b", Some("2"), r#"{"b":2,"s":"\ud800","in":{"x": [1, 2], "y": 2}}"#),
            ("n", Some("true"), r#"{"b":1.50,"s":"\ud800","in":{"x": [1, 2], "y": 2},"n":true}"#),
            ("s", None, r#"{"b":1.50,"in":{"x": [1, 2], "y": 2}}"#),
            ("/in/y", Some("3"), r#"{"b":1.50,"s":"\ud800","in":{"x":[1, 2],"y":3}}"#),
        ];
        for (key, value, expected) in cases {
            assert_eq!(with_field(json, key, value).unwrap(), expected, "for {key}");
        }
    }

    #[test]
    fn edit_below_a_missing_field_is_refused() {
        assert!(with_field("{}", "/tool_input/command", Some("1")).unwrap_err().contains("tool_input"));
        assert!(with_field("[]", "a", Some("1")).is_err());
    }
}
