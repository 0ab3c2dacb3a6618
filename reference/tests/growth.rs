//! What a store may grow to, and what the hook's log may.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod world;

use std::fs;

use serde_json::{Value, json};
use world::{World, row, tree};

fn bytes_of(world: &World) -> usize {
    world.stored_bytes().iter().map(|(_, bytes)| bytes.len()).sum()
}

#[test]
fn field_report_23_prompts_of_10_mb_leave_kilobytes_and_the_cap_drops_the_oldest() {
    let world = World::new();
    let project = world.repository("work/proj");
    let mut session = world.session("a", &project);
    for n in 0..20 {
        let prompt =
            format!("question {n}: {}", "why is the sky so very blue over the sea? ".repeat(10 * 1024 * 1024 / 42));
        let ran = session.prompt(&prompt);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
        session
            .stop(&format!("Decided on answer {n}, because {}", "light scatters at the air. ".repeat(40_000)))
            .silent();
    }
    let grown = bytes_of(&world);
    assert!(grown < 20 * 16 * 1024, "{grown} bytes for 20 prompts and 20 answers");
    let status: Value = serde_json::from_str(world.on(&project, &["status", "--json"]).ok()).unwrap();
    let shown = &status["projects"][0];
    assert_eq!(shown["records"], 20);
    assert!(shown["journal_bytes"].as_u64().unwrap() > 0, "{shown}");

    world.settings("[retention]\nmax_records = 5\n");
    world.on(&project, &["compact"]).ok();
    let left: Vec<String> = world.records(&project).iter().map(|record| record["content"].to_string()).collect();
    assert_eq!(left.len(), 5);
    for n in 0..20 {
        let kept = left.iter().any(|content| content.contains(&format!("question {n}: ")));
        assert_eq!(kept, n >= 15, "answer {n}");
    }
}

#[test]
fn journal_and_index_stay_within_the_cap_on_bytes() {
    let world = World::new();
    let project = world.repository("work/proj");
    let long = "The station is calibrated against the northern pillar. ".repeat(60);
    let rows: Vec<Value> =
        (0..100).map(|n| row(&format!("m_{n}"), &format!("s_{n}"), n, &format!("station {n}"), &long)).collect();
    world.seed(&project, &rows);
    world.settings("[retention]\nmax_bytes = 65536\n");
    world.on(&project, &["compact"]).ok();
    let ids: Vec<String> = world.records(&project).iter().map(|r| r["doc_id"].as_str().unwrap().to_owned()).collect();
    assert!(!ids.is_empty() && ids.len() < 30, "{}", ids.len());
    let journal: usize =
        tree(&world.project_store().join("journal")).values().filter_map(|e| Some(e.bytes.as_ref()?.len())).sum();
    assert!(journal < 2 * 65_536, "{journal}");
}

#[test]
fn log_is_rotated_and_one_old_file_is_kept() {
    let world = World::new();
    let project = world.repository("work/proj");
    let session = world.session("a", &project);
    for round in 0..3 {
        fs::write(world.store().join("log"), format!("round {round} ").repeat(40_000)).unwrap();
        world.hook_bytes("this is not JSON").silent();
        let text = fs::read_to_string(world.store().join("log")).unwrap();
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(fs::read_to_string(world.store().join("log.1")).unwrap().starts_with(&format!("round {round}")));
    }
    let logs = tree(&world.store()).into_keys().filter(|path| path.to_string_lossy().starts_with("log")).count();
    assert_eq!(logs, 2);
    // A call that goes well adds nothing.
    let before = world.log();
    session.start("startup").silent();
    session.stop("Decided to log faults only, because nobody reads more.").silent();
    assert_eq!(world.log(), before);
}

#[test]
fn log_that_is_a_link_is_not_written_through() {
    let world = World::new();
    let victim = world.path("victim");
    fs::write(&victim, "precious").unwrap();
    std::os::unix::fs::symlink(&victim, world.store().join("log")).unwrap();
    world.hook_bytes("not JSON").silent();
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
}

#[test]
fn session_state_of_many_injections_stays_bounded() {
    let world = World::new();
    let project = world.repository("work/proj");
    world.seed_tiny(&project);
    let mut session = world.session("a", &project);
    for n in 0..60 {
        session
            .prompt(&format!("why do we renew the lease at a third of its duration, {n}? {}", "word ".repeat(2_000)));
        session.pre_tool(
            "Read",
            &format!("toolu_{n}"),
            json!({"file_path": project.join("crates/queue/src/lease.rs")}),
        );
    }
    let sessions = tree(&world.project_store().join("sessions"));
    let bytes: usize = sessions.values().filter_map(|entry| Some(entry.bytes.as_ref()?.len())).sum();
    assert!(bytes < 256 * 1024, "{bytes}");
}
