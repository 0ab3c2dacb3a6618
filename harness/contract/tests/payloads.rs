//! Decoding: one recorded payload of each event (`payloads.jsonl`), every payload of the recordings where they are at
//! hand, bad input, and generated objects.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use hook_contract::{Body, DecodeError, Event, Payload, ToolInput, ToolResponse, decode};
use proptest::prelude::*;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// One line of `payloads.jsonl`.
#[derive(serde::Deserialize)]
struct Sample {
    host: String,
    payload: Box<RawValue>,
}

/// One line of a recording; only what is needed here.
#[derive(serde::Deserialize)]
struct Recorded {
    event: String,
    stdin_payload: Box<RawValue>,
}

/// The folder of recordings, or `None` with a line that says so.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn recordings() -> Option<PathBuf> {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/recordings");
    let folder = std::env::var_os("HOOKBENCH_RECORDINGS").map_or(default, PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("SKIPPED: no recordings at {} (set HOOKBENCH_RECORDINGS)", folder.display());
    None
}

/// Decodes without loss: equal value, same order of keys, nothing of a wrong type.
fn decode_whole(raw: &str) -> Payload {
    let payload = decode(raw.as_bytes()).unwrap();
    let value: Value = serde_json::from_str(raw).unwrap();
    assert_eq!(payload.to_value().to_string(), value.to_string());
    assert_eq!(payload.problems, [], "{raw}");
    payload
}

#[test]
fn one_recorded_payload_of_each_event_has_a_typed_form() {
    let mut seen = BTreeSet::new();
    for line in include_str!("payloads.jsonl").lines() {
        let sample: Sample = serde_json::from_str(line).unwrap();
        let payload = decode_whole(sample.payload.get());
        let event = payload.event().unwrap_or_else(|| panic!("{} has no typed form", payload.event_name));
        assert!(["2.1.197", "2.1.332"].contains(&sample.host.as_str()));
        let unknown: Vec<_> = payload.extra.iter().filter(|(_, value)| !value.is_null()).collect();
        assert_eq!(unknown, [], "{event} carries fields without a type");
        seen.insert(event);
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), Event::ALL);
}

#[test]
#[expect(clippy::print_stderr, reason = "the figures are the point of the test")]
fn every_recorded_payload_decodes_without_loss() {
    let Some(folder) = recordings() else { return };
    let mut counts: BTreeMap<String, BTreeMap<Event, usize>> = BTreeMap::new();
    for file in payload_files(&folder) {
        let host = file.parent().and_then(Path::parent).and_then(Path::file_name).unwrap();
        for line in fs::read_to_string(&file).unwrap().lines() {
            let recorded: Recorded = serde_json::from_str(line).unwrap();
            let payload = decode_whole(recorded.stdin_payload.get());
            assert_eq!(payload.event_name, recorded.event);
            assert!(payload.extra.values().all(Value::is_null), "{}: {:?}", file.display(), payload.extra);
            let events = counts.entry(host.to_string_lossy().into_owned()).or_default();
            *events.entry(payload.event().unwrap()).or_default() += 1;
        }
    }
    for (host, events) in &counts {
        let missing: Vec<_> = Event::ALL.iter().filter(|event| !events.contains_key(event)).collect();
        let total: usize = events.values().sum();
        eprintln!("{host}: {total} payloads, {} of 34 events; not in these folders: {missing:?}", events.len());
    }
    let totals: Vec<_> = counts.values().map(|events| events.values().sum::<usize>()).collect();
    assert_eq!(totals, [526, 666], "payloads of 2.1.197 and 2.1.332");
    let events: BTreeSet<_> = counts.values().flat_map(|events| events.keys()).collect();
    assert_eq!(events.len(), 27, "events in either version");
}

fn payload_files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = subfolders(folder)
        .into_iter()
        .flat_map(|version| subfolders(&version))
        .map(|session| session.join("payloads.jsonl"))
        .filter(|file| file.is_file())
        .collect();
    files.sort();
    files
}

fn subfolders(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect()
}

#[test]
fn recorded_tool_calls_are_read_through_their_views() {
    let Some(folder) = recordings() else { return };
    let (mut files, mut hunks, mut texts, mut calls) = (0, 0, 0, 0);
    for file in payload_files(&folder) {
        for line in fs::read_to_string(&file).unwrap().lines() {
            let recorded: Recorded = serde_json::from_str(line).unwrap();
            match &decode_whole(recorded.stdin_payload.get()).body {
                Body::PreToolUse(body) => {
                    let (name, input) = (body.tool_name.as_ref().unwrap(), body.tool_input.as_ref().unwrap());
                    let input = ToolInput::of(name, input);
                    let takes_file = matches!(name.as_str(), "Read" | "Write" | "Edit");
                    assert_eq!(input.file().is_some_and(|file| file.starts_with('/')), takes_file, "{line}");
                    files += usize::from(takes_file);
                }
                Body::PostToolUse(body) => {
                    let (name, response) = (body.tool_name.as_ref().unwrap(), body.tool_response.as_ref().unwrap());
                    let response = ToolResponse::of(name, response);
                    if let ToolResponse::Edit { patch, .. } | ToolResponse::Write { patch, .. } = response {
                        hunks += patch.hunks().filter(|hunk| hunk.added().count() > 0).count();
                    }
                    texts += response.texts().len();
                }
                Body::PostToolBatch(body) => {
                    for call in body.calls() {
                        assert!(call.tool_name().is_some() && call.tool_use_id().is_some(), "{line}");
                        assert!(call.tool_input().is_some() && call.tool_response().is_some(), "{line}");
                        calls += 1;
                    }
                }
                _ => {}
            }
        }
    }
    assert_eq!((files, hunks, texts, calls), (56, 8, 121, 157), "files, hunks, texts, calls");
}

#[test]
fn field_report_70_a_byte_order_mark_and_blanks_are_skipped() {
    let payload = decode(b"\xEF\xBB\xBF \n{\"hook_event_name\":\"Stop\",\"stop_hook_active\":true}\r\n\n").unwrap();
    assert_eq!(payload.event(), Some(Event::Stop));
}

#[test]
fn lone_surrogates_become_replacement_characters() {
    let payload = decode(br#"{"hook_event_name":"UserPromptSubmit","prompt":"a\ud83cb\udf89 \ud83c\udf89"}"#).unwrap();
    let Body::UserPromptSubmit(body) = &payload.body else { panic!("{payload:?}") };
    assert_eq!(body.prompt.as_deref(), Some("a\u{fffd}b\u{fffd} 🎉"));
}

#[test]
fn field_report_70_nul_and_bad_utf8_inside_a_string_are_kept_or_replaced() {
    let escaped = decode(br#"{"hook_event_name":"UserPromptSubmit","prompt":"a\u0000b"}"#).unwrap();
    let raw = decode(b"{\"hook_event_name\":\"UserPromptSubmit\",\"prompt\":\"a\0b\"}").unwrap();
    let bad = decode(b"{\"hook_event_name\":\"UserPromptSubmit\",\"prompt\":\"a\xFFb\"}").unwrap();
    for (payload, expect) in [(escaped, "a\0b"), (raw, "a\0b"), (bad, "a\u{fffd}b")] {
        let Body::UserPromptSubmit(body) = &payload.body else { panic!("{payload:?}") };
        assert_eq!(body.prompt.as_deref(), Some(expect));
    }
}

#[test]
fn unknown_events_and_fields_are_kept() {
    let text = r#"{"future":[1],"hook_event_name":"BrandNew","session_id":"s","deep":{"a":null}}"#;
    let payload = decode(text.as_bytes()).unwrap();
    assert_eq!((payload.event(), payload.event_name.as_str()), (None, "BrandNew"));
    assert_eq!(payload.common.session_id.as_deref(), Some("s"));
    assert_eq!(payload.to_value().to_string(), text);
}

#[test]
fn wrong_types_are_named_by_their_path_and_kept() {
    let text = json!({
        "session_id": 7, "transcript_path": null, "cwd": "/p", "effort": {"level": 3}, "agent_id": [],
        "hook_event_name": "InstructionsLoaded", "file_path": "/f", "memory_type": "User", "load_reason": "include",
        "globs": ["a", 1]
    });
    let payload = decode(text.to_string().as_bytes()).unwrap();
    let problems: BTreeSet<_> = payload.problems.iter().map(ToString::to_string).collect();
    let expect = [
        "agent_id: expected string, found array",
        "effort.level: expected string, found number",
        "globs[1]: expected string, found number",
        "session_id: expected string, found number",
        "transcript_path: expected string, found null",
    ];
    assert_eq!(problems, BTreeSet::from(expect.map(str::to_owned)));
    assert_eq!(payload.to_value().to_string(), text.to_string());
}

#[test]
fn calls_of_a_batch_are_checked_inside() {
    let text = json!({"session_id": "s", "transcript_path": "t", "cwd": "c", "hook_event_name": "PostToolBatch",
        "tool_calls": [7, {"tool_name": "Bash"}, {"tool_name": 1, "tool_use_id": "x"}]});
    let payload = decode(text.to_string().as_bytes()).unwrap();
    let paths: Vec<_> = payload.problems.iter().map(|problem| problem.path.as_str()).collect();
    assert_eq!(paths, ["tool_calls[0]", "tool_calls[1].tool_use_id", "tool_calls[2].tool_name"]);
    let Body::PostToolBatch(body) = &payload.body else { panic!("{payload:?}") };
    assert_eq!(body.calls().count(), 2);
}

#[test]
fn missing_and_null_required_fields_are_named() {
    let payload = decode(br#"{"hook_event_name":"PreCompact","trigger":null,"custom_instructions":null}"#).unwrap();
    let problems: Vec<_> = payload.problems.iter().map(|problem| (problem.path.as_str(), problem.found)).collect();
    let expect = [("session_id", "missing"), ("transcript_path", "missing"), ("cwd", "missing"), ("trigger", "null")];
    assert_eq!(problems, expect);
    let nameless = decode(br#"{"hook_event_name":5,"session_id":"s","transcript_path":"","cwd":""}"#).unwrap();
    assert_eq!(nameless.problems.len(), 1);
    assert_eq!(nameless.to_value()["hook_event_name"], 5);
}

#[test]
fn what_is_not_a_payload_says_why() {
    for empty in ["", " \n\t", "\u{feff}"] {
        assert_eq!(decode(empty.as_bytes()), Err(DecodeError::Empty), "{empty:?}");
    }
    for (text, found) in [("null", "null"), ("[]", "array"), ("\"{}\"", "string"), ("3", "number"), ("true", "boolean")]
    {
        assert_eq!(decode(text.as_bytes()), Err(DecodeError::NotAnObject { found }));
    }
    let utf16: Vec<u8> = "{\"a\":1}".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(decode(&utf16), Err(DecodeError::Utf16));
    assert_eq!(decode(&[&[0xFF, 0xFE][..], &utf16].concat()), Err(DecodeError::Utf16));
    let cut = decode(b"{\"a\": 1,\n \"b\": \"x");
    let Err(DecodeError::NotJson { line, column, message }) = cut else { panic!("{cut:?}") };
    assert_eq!((line, column), (2, 8));
    assert!(message.contains("EOF"), "{message}");
    let two = decode(b"{} {}");
    assert!(matches!(two, Err(DecodeError::NotJson { line: 1, column: 4, .. })), "{two:?}");
    assert!(matches!(decode("[".repeat(100_000).as_bytes()), Err(DecodeError::NotJson { .. })));
}

#[test]
fn a_megabyte_is_taken_apart_and_put_together() {
    let prompt = "é🎉x".repeat(150_000);
    let text = json!({"session_id": "s", "transcript_path": "t", "cwd": "c", "hook_event_name": "UserPromptSubmit",
        "prompt": prompt});
    let payload = decode_whole(&text.to_string());
    assert_eq!(payload.to_value(), text);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9f64).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..6).prop_map(|pairs| Value::from(Map::from_iter(pairs))),
        ]
    })
}

/// Objects whose keys are mostly those of payloads, of any type, in any order.
fn any_payload() -> impl Strategy<Value = Map<String, Value>> {
    let mut keys: Vec<&'static str> = vec!["session_id", "cwd", "effort", "agent_id", "permission_mode", "unknown", ""];
    keys.extend(Event::ALL.iter().flat_map(|event| Body::fields(*event)).map(|field| field.name));
    let field = (prop::sample::select(keys).prop_map(str::to_owned), any_json());
    let fields = prop::collection::vec(field, 0..14);
    (fields, 0..Event::ALL.len() + 2, 0usize..8).prop_map(|(fields, event, place)| {
        let mut fields: Vec<_> = fields;
        if let Some(event) = Event::ALL.get(event) {
            let name = ("hook_event_name".to_owned(), Value::from(event.name()));
            fields.insert(place.min(fields.len()), name);
        }
        Map::from_iter(fields)
    })
}

proptest! {
    #[test]
    fn any_object_survives(map in any_payload()) {
        let value = Value::Object(map);
        let payload = decode(value.to_string().as_bytes()).unwrap();
        prop_assert_eq!(payload.to_value().to_string(), value.to_string());
    }

    #[test]
    fn any_bytes_are_decoded_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = decode(&bytes);
    }

    #[test]
    fn any_damage_to_a_payload_is_survived(at in 0usize..400, byte in any::<u8>(), keep in 0usize..400) {
        let line = include_str!("payloads.jsonl").lines().nth(4).unwrap();
        let sample: Sample = serde_json::from_str(line).unwrap();
        let mut bytes = sample.payload.get().as_bytes().to_vec();
        if let Some(place) = bytes.get_mut(at) {
            *place = byte;
        }
        let _ = decode(&bytes);
        bytes.truncate(keep);
        let _ = decode(&bytes);
    }
}
