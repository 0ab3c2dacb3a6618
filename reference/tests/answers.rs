//! What stands on stdout: nothing, or one object that the host takes for this event, for every event there is.
#![expect(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests fail by panicking and count")]

mod world;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use world::{World, shared};

const RECALLS: [(&str, usize); 6] = [
    ("SessionStart", 4_000),
    ("UserPromptSubmit", 3_000),
    ("UserPromptExpansion", 3_000),
    ("PreToolUse", 1_500),
    ("PostToolUse", 1_500),
    ("SubagentStart", 3_000),
];

const OTHERS: [&str; 28] = [
    "Stop",
    "SubagentStop",
    "PreCompact",
    "SessionEnd",
    "StopFailure",
    "PostToolUseFailure",
    "PostToolBatch",
    "PermissionRequest",
    "PermissionDenied",
    "Notification",
    "Setup",
    "InstructionsLoaded",
    "MessageDisplay",
    "PostCompact",
    "TaskCreated",
    "TaskCompleted",
    "TeammateIdle",
    "ConfigChange",
    "CwdChanged",
    "FileChanged",
    "WorktreeCreate",
    "WorktreeRemove",
    "Elicitation",
    "ElicitationResult",
    "PreModelSwitch",
    "PostModelSwitch",
    "DirectoryAdded",
    "NoSuchEvent",
];

const ASK: &str = "why do we renew the lease at a third of its duration, and who renews the lease?";

/// The fields of an event that makes a store of the hand-written corpus speak.
fn fields(event: &str, project: &Path) -> Value {
    let file = project.join("crates/queue/src/lease.rs");
    let edit = json!({"file_path": file, "old_string": "let period = lease.duration() / 3;", "new_string": "x"});
    match event {
        "SessionStart" => json!({"source": "startup"}),
        "UserPromptSubmit" => json!({"prompt": ASK}),
        "UserPromptExpansion" => json!({
            "prompt": format!("/explain {ASK}"), "expansion_type": "slash_command", "command_name": "explain",
            "command_args": ASK, "command_source": "projectSettings",
        }),
        "PreToolUse" => json!({"tool_name": "Edit", "tool_input": edit, "tool_use_id": "toolu_1"}),
        "PostToolUse" => json!({
            "tool_name": "Bash", "tool_use_id": "toolu_2", "tool_input": {"command": "cargo test -p queue lease"},
            "tool_response": {"stdout": format!("{ASK} lease renewal timer thread worker stalls"), "stderr": ""},
        }),
        "SubagentStart" => json!({"agent_id": "a1", "agent_type": "Explore"}),
        "Stop" | "SubagentStop" => json!({
            "stop_hook_active": false, "agent_id": "a1", "agent_type": "Explore",
            "last_assistant_message": "Decided to renew earlier, because the network is slow.",
        }),
        "PreCompact" => json!({"trigger": "auto", "custom_instructions": ""}),
        "SessionEnd" => json!({"reason": "other"}),
        _ => json!({"prompt": ASK, "tool_name": "Edit", "tool_input": edit, "message": ASK}),
    }
}

#[test]
fn field_report_47_every_event_on_an_empty_store_answers_with_no_byte() {
    let world = World::new();
    let project = world.repository("work/proj");
    for event in RECALLS.iter().map(|(event, _)| *event).chain(OTHERS) {
        let session = world.session(event, &project);
        world.hook(&session.payload(event, fields(event, &project))).silent();
    }
}

#[test]
fn field_report_49_every_recalling_event_speaks_in_its_own_name() {
    let world = World::new();
    let project = world.repository("work/proj");
    world.seed_tiny(&project);
    for (event, budget) in RECALLS {
        let session = world.session(event, &project);
        if event == "SubagentStart" {
            let input = json!({"subagent_type": "Explore", "description": "find out", "prompt": ASK});
            let fields = json!({"tool_name": "Agent", "tool_input": input, "tool_use_id": "toolu_0"});
            world.hook(&world.session("other", &project).payload("PreToolUse", fields.clone()));
            world.hook(&session.payload("PreToolUse", fields));
        }
        let ran = world.hook(&session.payload(event, fields(event, &project)));
        let text = ran.context(event).unwrap_or_else(|| panic!("{event} is silent; {}", world.log()));
        assert!(text.encode_utf16().count() <= budget, "{event}");
    }
}

#[test]
fn field_report_50_events_that_take_no_context_get_none() {
    let world = World::new();
    let project = world.repository("work/proj");
    world.seed_tiny(&project);
    for event in OTHERS {
        let mut session = world.session(event, &project);
        session.prompt(ASK);
        world.hook(&session.payload(event, fields(event, &project))).silent();
    }
}

#[test]
fn event_named_on_the_command_line_stands_in_for_a_missing_one() {
    let world = World::new();
    let project = world.repository("work/proj");
    world.seed_tiny(&project);
    let mut payload = world.session("a", &project).payload("UserPromptSubmit", fields("UserPromptSubmit", &project));
    payload.as_object_mut().unwrap().remove("hook_event_name");
    let output = world.command().args(["hook", "UserPromptSubmit"]).write_stdin(payload.to_string()).output().unwrap();
    assert!(output.status.success() && String::from_utf8(output.stdout).unwrap().contains("UserPromptSubmit"));
}

#[test]
fn field_report_70_mark_and_bad_bytes_are_taken_and_utf_16_is_silence() {
    let world = World::new();
    let project = world.repository("work/proj");
    world.seed_tiny(&project);
    let payload =
        |id: &str| world.session(id, &project).payload("UserPromptSubmit", json!({"prompt": ASK})).to_string();
    let marked = [b"\xef\xbb\xbf".as_slice(), payload("a").as_bytes()].concat();
    assert!(world.hook_bytes(marked).context("UserPromptSubmit").is_some());

    let text = payload("b");
    let at = text.find("why do we").unwrap();
    let broken = [&text.as_bytes()[..at], b"\xff\xc3", &text.as_bytes()[at..]].concat();
    assert!(world.hook_bytes(broken).context("UserPromptSubmit").is_some());

    for units in [u16::to_le_bytes as fn(u16) -> [u8; 2], u16::to_be_bytes] {
        for mark in ["", "\u{feff}"] {
            let wide = format!("{mark}{}", payload("c"));
            world.hook_bytes(wide.encode_utf16().flat_map(units).collect::<Vec<u8>>()).silent();
        }
    }
    let lone = payload("d").replace("why do we", "\\ud83e why do we \\udc00");
    assert!(world.hook_bytes(lone).context("UserPromptSubmit").is_some());
}

/// Replays every recorded payload of one client version, transcripts in place.
fn replay(version: &str, is_seeded: bool) {
    let Some(recordings) = shared("HOOKBENCH_RECORDINGS", "recordings") else { return };
    let (mut n_payloads, mut n_told) = (0, 0);
    let mut events = BTreeSet::new();
    let mut folders: Vec<_> =
        fs::read_dir(recordings.join(version)).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    let mut world = World::new();
    let home = world.path("home").to_str().unwrap().to_owned();
    let project = world.repository("home/proj");
    if is_seeded {
        world.seed_tiny(&project);
    }
    for folder in folders {
        let text = fs::read_to_string(folder.join("payloads.jsonl")).unwrap().replace("/home/dev", &home);
        let mut calls: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        calls.sort_by_key(|call| call["t_ms"].as_u64());
        let files: Vec<(String, String)> = fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap())
            .filter(|entry| entry.file_name().to_string_lossy().contains("agent"))
            .chain(
                fs::read_dir(&folder)
                    .unwrap()
                    .map(|entry| entry.unwrap())
                    .filter(|entry| entry.file_name().to_string_lossy().starts_with("transcript")),
            )
            .map(|entry| (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap()))
            .collect();
        for call in &calls {
            let payload = &call["stdin_payload"];
            let named = |key: &str| payload[key].as_str().map(Path::new);
            for path in [named("transcript_path"), named("agent_transcript_path")].into_iter().flatten() {
                let stem = path.file_stem().unwrap().to_str().unwrap();
                let is_it = |(name, text): &&(String, String)| name.contains(stem) || text.contains(stem);
                if let Some((_, text)) = files.iter().find(is_it)
                    && !path.exists()
                {
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    fs::write(path, text.replace("/home/dev", &home)).unwrap();
                }
            }
            for (name, value) in call["env_claude_vars"].as_object().into_iter().flatten() {
                world.env.insert(name.clone(), value.as_str().unwrap().into());
            }
            let event = payload["hook_event_name"].as_str().unwrap();
            let ran = world.hook(payload);
            n_payloads += 1;
            events.insert(event.to_owned());
            let place = format!("{} {event} {payload}", folder.display());
            assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{place}");
            match RECALLS.iter().find(|(name, _)| *name == event) {
                Some((_, budget)) => {
                    if let Some(text) = ran.context(event) {
                        n_told += 1;
                        assert!(text.encode_utf16().count() <= *budget, "{place}");
                    }
                }
                None => assert_eq!(ran.stdout, "", "{place}"),
            }
        }
    }
    println!("{version}: {n_payloads} payloads of {} events, {n_told} answered", events.len());
    assert!(n_payloads > 400 && n_told > 0, "{n_payloads} {n_told}");
    assert_eq!(world.log(), "", "no call of a real client is a fault");
    assert!(!world.records(&project).is_empty());
}

#[test]
fn every_recorded_payload_of_2_1_197_is_answered_well_on_an_empty_store() {
    replay("2.1.197", false);
}

#[test]
fn every_recorded_payload_of_2_1_197_is_answered_well_on_a_seeded_store() {
    replay("2.1.197", true);
}

#[test]
fn every_recorded_payload_of_2_1_332_is_answered_well_on_an_empty_store() {
    replay("2.1.332", false);
}

#[test]
fn every_recorded_payload_of_2_1_332_is_answered_well_on_a_seeded_store() {
    replay("2.1.332", true);
}
