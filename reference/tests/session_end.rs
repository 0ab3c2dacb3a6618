//! The end of a session may be cut short or never come; what matters was durable before.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod world;

use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::json;
use world::{Session, World, finish};

const ANSWER: &str = "Decided to store sizes as bytes, because units were mixed up before.";

/// Fills a transcript with about `mib` MiB of tool output.
fn fill(session: &mut Session<'_>, mib: usize) {
    let mut file = std::fs::OpenOptions::new().append(true).create(true).open(&session.transcript).unwrap();
    let content = json!([{"type": "tool_result", "tool_use_id": "toolu_x", "content": "x".repeat(1 << 20)}]);
    let line = json!({"type": "user", "message": {"role": "user", "content": content}}).to_string();
    for _ in 0..mib {
        writeln!(file, "{line}").unwrap();
    }
}

#[test]
fn field_report_04_session_end_on_60_mb_is_done_before_the_hosts_kill_or_survives_it() {
    let world = World::new();
    let project = world.repository("work/proj");
    let mut session = world.session("a", &project);
    fill(&mut session, 60);
    session.turn("which unit do sizes have", ANSWER);
    let payload = session.payload("SessionEnd", json!({"reason": "other"}));
    let mut children: Vec<_> = (0..3).map(|_| world.start_hook(&payload)).collect();
    let limit = Instant::now() + Duration::from_millis(1_500);
    while Instant::now() < limit && children.iter_mut().any(|child| child.try_wait().unwrap().is_none()) {
        std::thread::sleep(Duration::from_millis(5));
    }
    for mut child in children {
        let _ = child.kill();
        let ran = finish(child);
        assert!(ran.stdout.is_empty() && ran.stderr.is_empty(), "{ran:?}");
    }
    let records = world.records(&project);
    assert!(records.iter().any(|record| record["content"].to_string().contains("units were mixed up")));
    let summaries = records.iter().filter(|record| record["concept"] == "session-summary").count();
    assert!(summaries <= 1, "{records:#?}");
}

#[test]
fn kill_at_any_instant_of_a_capture_leaves_a_store_that_opens() {
    let world = World::new();
    let project = world.repository("work/proj");
    world.session("first", &project).turn("which unit do sizes have", ANSWER);
    for n in 0..60_u64 {
        let mut session = world.session(&format!("s{n}"), &project);
        session.prompt_payload("count something");
        let payload = session.stop_payload(&format!("Decided on number {n}, because somebody has to."));
        let mut child = world.start_hook(&payload);
        std::thread::sleep(Duration::from_micros(n * 400));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let mut last = world.session("last", &project);
    last.turn("and the last one", "Decided to stop counting, because the test is over.");
    let records = world.records(&project);
    let holds = |text: &str| records.iter().filter(|record| record["content"].to_string().contains(text)).count();
    assert_eq!((holds("units were mixed up"), holds("the test is over")), (1, 1));
    for n in 0..60 {
        assert!(holds(&format!("Decided on number {n}, ")) <= 1);
    }
}

#[test]
fn field_report_05_outcome_of_a_session_without_an_end_is_there_for_the_next() {
    let world = World::new();
    let project = world.repository("work/proj");
    let mut session = world.session("a", &project);
    session.start("startup").silent();
    session.turn("which unit do sizes have", ANSWER);
    let text = world.session("b", &project).start("startup").context("SessionStart").unwrap();
    assert!(text.contains("units were mixed up"), "{text}");
    // The end adds a summary and nothing that would be missed without it.
    session.end().silent();
    let after = world.session("c", &project).start("startup").context("SessionStart").unwrap();
    assert!(after.contains("units were mixed up"), "{after}");
}

#[test]
fn sessions_start_and_end_again_without_growing_the_store() {
    let world = World::new();
    let project = world.repository("work/proj");
    let mut session = world.session("a", &project);
    session.turn("which unit do sizes have", ANSWER);
    session.end().silent();
    let told = |world: &World| -> Vec<_> {
        world.records(&project).iter().map(|record| (record["doc_id"].clone(), record["content"].clone())).collect()
    };
    let before = told(&world);
    session.start("resume").silent();
    session.end().silent();
    assert_eq!(told(&world), before);
}

#[test]
fn short_turn_that_ended_is_not_called_interrupted() {
    let world = World::new();
    let project = world.repository("work/proj");
    let mut session = world.session("a", &project);
    session.turn("use tabs here", "Decided to indent with tabs, because the linter of this project asks for them.");
    session.turn("commit this", "Done.");
    session.end().silent();
    assert!(world.stores("indent with tabs"));
    assert!(!world.stores("Interrupted"), "{:?}", world.records(&project));
}
