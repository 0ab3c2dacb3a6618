//! One event delivered twice, at once or later, counts once; two events never count as one.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod world;

use std::time::Duration;

use serde_json::json;
use world::{World, finish, row, unrelated};

const ASK: &str = "the webhook sender rejects our signing keys";

fn seeded(world: &World) -> std::path::PathBuf {
    let project = world.repository("work/proj");
    let mut rows = unrelated(30);
    let request = "Rotate the signing keys of the webhook sender";
    let mut topic = row("m_topic", "s_topic", 40, request, "The webhook sender signs with the new keys.");
    topic["affected_paths"] = json!(["src/webhook/sender.rs"]);
    rows.push(topic);
    world.seed(&project, &rows);
    project
}

#[test]
fn field_report_28_event_of_two_registrations_is_stored_and_shown_once() {
    for pause in [None, Some(Duration::from_millis(30))] {
        let world = World::new();
        let project = seeded(&world);
        let mut session = world.session("a", &project);
        let prompt = session.prompt_payload(ASK);
        let stop = session.stop_payload("Decided to sign twice for a day, because receivers cache the key.");
        let both = |payload| {
            let first = world.start_hook(payload);
            if let Some(pause) = pause {
                std::thread::sleep(pause);
            }
            [first, world.start_hook(payload)].map(finish)
        };
        let told = both(&prompt).iter().filter_map(|ran| ran.context("UserPromptSubmit")).count();
        assert_eq!(told, 1, "{pause:?}");
        session.prompt_line(ASK);
        session.says("Decided to sign twice for a day, because receivers cache the key.");
        both(&stop).iter().for_each(world::Ran::silent);
        assert_eq!(world.records(&project).len(), 32, "{pause:?}");
    }
}

#[test]
fn field_report_29_first_delivery_of_a_call_speaks_and_a_new_call_is_another() {
    let world = World::new();
    let project = seeded(&world);
    let session = world.session("a", &project);
    let input = json!({"command": "curl -i webhook/sender"});
    let response = json!({"stdout": "the webhook sender rejects our signing keys after the rotation", "stderr": ""});
    let call = |id: &str| session.post_tool("Bash", id, input.clone(), response.clone()).context("PostToolUse");
    assert!(call("toolu_1").is_some_and(|text| text.contains("m_topic")));
    assert_eq!(call("toolu_1"), None);
    // What the session has seen is not told again, but after a compaction the same call under a new id is served.
    world.hook(&session.payload("PreCompact", json!({"trigger": "auto", "custom_instructions": ""}))).silent();
    session.start("compact");
    world.on(&project, &["forget", "m_unrelated1"]).ok();
    let again = world.session("b", &project);
    let fields = json!({"tool_name": "Bash", "tool_input": input, "tool_response": response, "tool_use_id": "toolu_2"});
    assert!(world.hook(&again.payload("PostToolUse", fields)).context("PostToolUse").is_some());
}

#[test]
fn field_report_31_interleaved_sessions_capture_each_span_once() {
    let world = World::new();
    let project = world.repository("work/proj");
    let mut a = world.session("a", &project);
    let mut b = world.session("b", &project);
    for round in 0..2 {
        for (name, session) in [("alpha", &mut a), ("beta", &mut b)] {
            session.prompt(&format!("write part {round} of {name}"));
            session.writes(&format!("src/{name}{round}.rs"), &format!("pub fn {name}_{round}() {{}}\n"));
            session.stop(&format!("Decided that {name} part {round} is a file of its own, because it grows.")).silent();
        }
    }
    let records = world.records(&project);
    assert_eq!(records.len(), 4, "{records:#?}");
    for name in ["alpha", "beta"] {
        for round in 0..2 {
            let path = format!("src/{name}{round}.rs");
            let holders: Vec<&serde_json::Value> =
                records.iter().filter(|r| r["links"].as_array().unwrap().iter().any(|link| *link == *path)).collect();
            assert_eq!(holders.len(), 1, "{path}");
            assert_eq!(holders[0]["links"].as_array().unwrap().len(), 1, "{path}: {}", holders[0]);
        }
    }
}

#[test]
fn field_report_32_session_resumed_from_the_main_checkout_is_not_filed_again() {
    let world = World::new();
    let project = world.repository("work/main");
    let worktree = world.path("work/tree");
    git2::Repository::open(&project).unwrap().worktree("tree", &worktree, None).unwrap();
    let mut session = world.session("a", &worktree);
    let answer = "Decided to work in a worktree, because two branches are open.";
    session.turn("start in the worktree", answer);
    session.cwd = project.clone();
    world.hook(&session.stop_payload(answer)).silent();
    assert_eq!((world.project_stores().len(), world.records(&project).len()), (1, 1));
}

#[test]
fn same_answer_to_a_new_prompt_is_a_new_record() {
    let world = World::new();
    let project = world.repository("work/proj");
    let mut session = world.session("a", &project);
    let answer = "Decided to keep it as it is, because nothing better is known.";
    session.turn("should the cache be larger now", answer);
    session.turn("should the queue be shorter then", answer);
    assert_eq!(world.records(&project).len(), 2);
}
