//! No loop, no child process, no session that observes itself.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod world;

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use world::World;

const ANSWER: &str = "Decided to retry with a cap of one minute, because the server asks for it.";

#[test]
fn field_report_07_continued_turn_never_blocks_and_is_captured_once() {
    let world = World::new();
    let project = world.repository("work/proj");
    let mut session = world.session("a", &project);
    session.prompt("retry the upload with a backoff");
    session.says(ANSWER);
    for round in 0..11 {
        let mut payload = session.stop_payload(ANSWER);
        payload["stop_hook_active"] = json!(round < 10);
        world.hook(&payload).silent();
    }
    assert_eq!(world.records(&project).len(), 1);
}

/// Folders in `/proc` of live processes with the calls' environment: the hook and whatever it might have started.
fn hooks_alive() -> Vec<PathBuf> {
    let marked = |path: &PathBuf| {
        fs::read(path.join("environ")).is_ok_and(|environ| world::contains(&environ, b"LOOPS_TEST_MARK=1"))
    };
    let all = fs::read_dir("/proc").into_iter().flatten().map(|entry| entry.unwrap().path());
    all.filter(marked).collect()
}

#[test]
fn field_report_11_three_hundred_calls_leave_no_process() {
    let mut world = World::new();
    world.env.insert("LOOPS_TEST_MARK".to_owned(), "1".into());
    let project = world.repository("work/proj");
    world.seed_tiny(&project);
    let session = world.session("a", &project);
    for n in 0..300 {
        let response = json!({"stdout": format!("lease {n} renewed at a third of its duration"), "stderr": ""});
        let ran = session.post_tool("Bash", &format!("toolu_{n}"), json!({"command": "cargo test lease"}), response);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    }
    session.stop(ANSWER).silent();
    assert_eq!(hooks_alive(), Vec::<PathBuf>::new());
}

#[test]
fn field_report_13_guard_variable_and_child_sessions_give_nothing_and_keep_nothing() {
    let start = |world: &World, transcript_says: Option<&str>| {
        let project = world.repository("work/proj");
        world.seed_tiny(&project);
        let before = world::tree(&world.store());
        let mut session = world.session("a", &project);
        let told = session.prompt("why do we renew the lease at a third of its duration?");
        if let Some(entrypoint) = transcript_says {
            let message = json!({"role": "assistant", "content": [{"type": "text", "text": ANSWER}]});
            session.line(&json!({"type": "assistant", "entrypoint": entrypoint, "message": message}));
        }
        session.stop(ANSWER).silent();
        session.end().silent();
        let records = world.records(&project).len();
        (told, records, world::changed(&before, &world::tree(&world.store())))
    };
    for (name, value) in
        [("HOOKMEM_DISABLE", "1"), ("CLAUDE_CODE_ENTRYPOINT", "sdk-ts"), ("CLAUDE_CODE_ENTRYPOINT", "sdk-py")]
    {
        let mut world = World::new();
        world.env.insert(name.to_owned(), value.into());
        let (told, records, changed) = start(&world, None);
        told.silent();
        assert_eq!((records, changed), (63, Vec::new()), "{name}={value}");
    }
    // A transcript that names a library's child is not captured, whatever the environment says.
    let (_, records, _) = start(&World::new(), Some("sdk-py"));
    assert_eq!(records, 63);
}

#[test]
fn field_report_14_entry_point_of_a_library_in_the_payload_is_ignored_and_unknown_ones_are_normal() {
    for (entrypoint, records) in [("sdk-ts", 0), ("sdk-py", 0), ("sdk-cli", 1), ("a-new-one", 1), ("", 1)] {
        let world = World::new();
        let project = world.repository("work/proj");
        let mut session = world.session("a", &project);
        let with = |mut payload: Value| {
            payload["entrypoint"] = json!(entrypoint);
            payload
        };
        let prompt = with(session.prompt_payload("retry the upload with a backoff"));
        world.hook(&prompt).silent();
        world.hook(&with(session.stop_payload(ANSWER))).silent();
        assert_eq!(world.project_stores().len(), records, "{entrypoint}");
        if records > 0 {
            assert_eq!(world.records(&project).len(), records, "{entrypoint}");
        }
    }
}

#[test]
fn list_of_ignored_entry_points_is_a_setting() {
    let mut world = World::new();
    world.settings("[ignore]\nentrypoints = [\"our-bot\"]\n");
    let project = world.repository("work/proj");
    world.env.insert("CLAUDE_CODE_ENTRYPOINT".to_owned(), "our-bot".into());
    world.session("a", &project).turn("retry the upload with a backoff", ANSWER);
    assert_eq!(world.project_stores().len(), 0);
    world.env.insert("CLAUDE_CODE_ENTRYPOINT".to_owned(), "sdk-ts".into());
    world.session("b", &project).turn("retry the upload with a backoff", ANSWER);
    assert_eq!(world.records(&project).len(), 1);
}
