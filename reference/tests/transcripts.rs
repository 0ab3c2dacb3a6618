//! Transcripts as they are found in the field: huge, torn, glued, no file at all.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod world;

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::FileExt;

use serde_json::json;
use world::World;

const ANSWER: &str = "Decided on a parser written by hand, because the grammar of the config is tiny.";

/// Peak memory of a capture, in bytes: generous against a debug build, small against any of the inputs.
const MEMORY_LIMIT: u64 = 256 << 20;

#[test]
fn field_report_74_end_of_a_300_mb_transcript_is_read_within_bounds() {
    let world = World::new();
    let project = world.repository("work/proj");
    let mut session = world.session("a", &project);
    let file = File::create(&session.transcript).unwrap();
    // Sparse: 220 MB of nothing, one line of 80 MB, then the turn.
    file.write_all_at(b"{\"type\":\"user\"}\n", 220 << 20).unwrap();
    file.write_all_at(b"\n{\"type\":\"assistant\",\"x\":\"", 221 << 20).unwrap();
    file.write_all_at(b"\"}\n", 301 << 20).unwrap();
    drop(file);
    session.prompt_payload("write the parser of the config");
    session.prompt_line("write the parser of the config");
    session.writes("src/parser.rs", "pub fn parse() {}\n");
    session.says(ANSWER);
    // The address space is limited, so that reading the whole file would fail.
    let payload = session.stop_payload(ANSWER).to_string();
    let script = format!("ulimit -v {}; exec \"$0\" hook", MEMORY_LIMIT / 1024);
    let output = assert_cmd::Command::new("/bin/sh")
        .args(["-c", &script, world::PROGRAM])
        .env_clear()
        .envs(&world.env)
        .write_stdin(payload)
        .output()
        .unwrap();
    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
    let records = world.records(&project);
    assert_eq!(records.len(), 1, "{}", world.log());
    assert_eq!(records[0]["links"], json!(["src/parser.rs"]));
}

#[test]
fn field_report_74_transcript_that_is_no_file_is_passed_over() {
    for kind in ["fifo", "folder", "missing", "device", "empty"] {
        let world = World::new();
        let project = world.repository("work/proj");
        let mut session = world.session("a", &project);
        match kind {
            "fifo" => {
                let status = std::process::Command::new("mkfifo").arg(&session.transcript).status().unwrap();
                assert!(status.success());
            }
            "folder" => fs::create_dir(&session.transcript).unwrap(),
            "device" => session.transcript = "/dev/zero".into(),
            "empty" => fs::write(&session.transcript, "").unwrap(),
            _ => {}
        }
        world.hook(&session.prompt_payload("write the parser of the config")).silent();
        world.hook(&session.stop_payload(ANSWER)).silent();
        world.hook(&session.payload("PreCompact", json!({"trigger": "auto", "custom_instructions": ""}))).silent();
        session.end().silent();
        let records = world.records(&project);
        assert!(records.iter().any(|r| r["content"].as_str().unwrap().contains("by hand")), "{kind}: {}", world.log());
    }
}

#[test]
fn field_report_76_torn_nul_filled_empty_and_wrongly_typed_rows_cost_themselves_only() {
    let world = World::new();
    let project = world.repository("work/proj");
    let mut session = world.session("a", &project);
    session.prompt("write the parser of the config").silent();
    session.bytes(b"\n\n   \n");
    session.bytes(&[0; 4096]);
    session.bytes(b"\n{\"type\":7,\"message\":[]}\n[]\nnull\n\"x\"\n");
    session.line(&json!({"type": "assistant", "message": {"content": {"a": 1}}}));
    session.writes("src/parser.rs", "pub fn parse() {}\n");
    session.bytes(b"\xff\xfe\xfd\n");
    session.says(ANSWER);
    session.bytes(b"{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"te");
    world.hook(&session.stop_payload(ANSWER)).silent();
    let records = world.records(&project);
    assert_eq!((records.len(), &records[0]["links"]), (1, &json!(["src/parser.rs"])));
}

#[test]
fn field_report_77_row_of_two_objects_is_passed_over_and_the_next_one_read() {
    let world = World::new();
    let project = world.repository("work/proj");
    let mut session = world.session("a", &project);
    session.prompt("write the parser of the config").silent();
    let half =
        json!({"type": "assistant", "message": {"content": [{"type": "text", "text": "GLUED half"}]}}).to_string();
    session.bytes(format!("{}{half}\n", &half[..half.len() - 3]).as_bytes());
    session.writes("src/parser.rs", "pub fn parse() {}\n");
    world.hook(&session.stop_payload(ANSWER)).silent();
    let records = world.records(&project);
    assert_eq!((records.len(), &records[0]["links"]), (1, &json!(["src/parser.rs"])));
    assert!(!world.stores("GLUED"));
}

#[test]
fn transcript_that_grows_while_it_is_read_is_captured_in_full_by_the_next_turn() {
    let world = World::new();
    let project = world.repository("work/proj");
    let mut session = world.session("a", &project);
    session.prompt("write the parser of the config").silent();
    session.writes("src/first.rs", "pub fn first() {}\n");
    let mut file = fs::OpenOptions::new().append(true).open(&session.transcript).unwrap();
    world.hook(&session.stop_payload(ANSWER)).silent();
    file.write_all(b"\n").unwrap();
    session.prompt("now write the lexer of the words").silent();
    session.writes("src/second.rs", "pub fn second() {}\n");
    session.stop("Decided on a lexer with a table, because branches are slow.").silent();
    let links: Vec<_> = world.records(&project).iter().map(|record| record["links"].clone()).collect();
    assert_eq!(links, [json!(["src/first.rs"]), json!(["src/second.rs"])]);
}
