//! Captures of made-up sessions in the recorded shapes, and of every recorded and real transcript at hand.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may stop at a surprise")]

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::*;
use crate::document::Concept;
use crate::session::file::SessionFile;

const ROOT: &str = "/home/dev/proj";

/// A session with a transcript and a state file.
struct Session {
    dir: tempfile::TempDir,
    id: String,
    lines: Vec<u8>,
    n_calls: usize,
    /// The store, in the order of the last changes.
    records: Vec<(SourceDocument, Vec<String>)>,
}

impl Session {
    fn new() -> Session {
        let dir = tempfile::tempdir().unwrap();
        Session { dir, id: "5e551011".to_owned(), lines: Vec::new(), n_calls: 0, records: Vec::new() }
    }

    fn transcript(&self) -> PathBuf {
        self.dir.path().join("t.jsonl")
    }

    fn state_file(&self) -> SessionFile {
        SessionFile::new(&self.dir.path().join("sessions"), &self.id)
    }

    fn line(&mut self, line: &Value) {
        self.lines.extend_from_slice(line.to_string().as_bytes());
        self.lines.push(b'\n');
        std::fs::write(self.transcript(), &self.lines).unwrap();
    }

    /// A prompt as the host delivers it: to the hook first, to the transcript later.
    fn prompt(&mut self, prompt_id: &str, text: &str) {
        use std::os::unix::fs::MetadataExt;
        let place = std::fs::metadata(self.transcript()).ok();
        let at = place.map(|meta| At { device: meta.dev(), inode: meta.ino(), offset: meta.len() });
        let said = noise::strip(text).trim().to_owned();
        self.state_file().remember_prompt(Some(prompt_id), &said, at);
        self.line(&json!({"type": "user", "promptId": prompt_id, "message": {"role": "user", "content": text}}));
    }

    fn says(&mut self, text: &str) {
        self.line(&json!({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}}));
    }

    fn uses(&mut self, name: &str, input: &Value, output: Result<&str, &str>) {
        self.n_calls += 1;
        let id = format!("toolu_{}", self.n_calls);
        self.line(&json!({"type": "assistant", "message": {"content":
            [{"type": "tool_use", "id": id, "name": name, "input": input}]}}));
        let (text, is_error) = output.map_or_else(|text| (text, true), |text| (text, false));
        self.line(&json!({"type": "user", "message": {"content":
            [{"type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error}]}}));
    }

    fn writes(&mut self, path: &str, content: &str) {
        self.uses("Write", &json!({"file_path": path, "content": content}), Ok("written"));
    }

    fn capture(&mut self, trigger: Trigger<'_>) -> Capture {
        self.capture_with(trigger, Limits::default(), &|text| Cow::Borrowed(text))
    }

    fn capture_with(&mut self, trigger: Trigger<'_>, limits: Limits, redact: &dyn Fn(&str) -> Cow<'_, str>) -> Capture {
        let transcript = self.transcript();
        let roots = [PathBuf::from(ROOT)];
        let place = Place {
            project: "proj-1234",
            roots: &roots,
            cwd: Path::new(ROOT),
            branch: Some("main"),
            revision: Some("a94a8fe5"),
            dirty: Some(true),
            timestamp_ms: Some(1),
        };
        let call = Call { session_id: &self.id, transcript: Some(&transcript), trigger, place, limits, redact };
        let state = self.state_file().load();
        let capture = super::capture(&call, &state);
        assert_eq!(super::capture(&call, &state), capture, "a capture must be deterministic");
        for op in &capture.ops {
            match op {
                StoreOp::Put { document, written } => {
                    check_document(document, &limits);
                    assert!(written.len() <= limits.written);
                    self.records.retain(|(record, _)| record.doc_id != document.doc_id);
                    self.records.push((document.clone(), written.clone()));
                }
                StoreOp::Retire { doc_id, .. } => self.records.retain(|(record, _)| record.doc_id != *doc_id),
            }
        }
        self.state_file().note(&capture.notes);
        capture
    }

    fn stop(&mut self, prompt_id: &str, last_message: &str) -> Capture {
        self.capture(Trigger::TurnEnd { prompt_id: Some(prompt_id), last_message: Some(last_message) })
    }

    fn of(&self, concept: Concept) -> Vec<&SourceDocument> {
        self.records.iter().map(|(record, _)| record).filter(|record| record.concept == concept).collect()
    }
}

fn section<'a>(document: &'a SourceDocument, heading: &str) -> &'a str {
    document.sections().find(|(name, _)| *name == heading).map_or("", |(_, text)| text)
}

/// What holds for every record, whatever it came from.
fn check_document(document: &SourceDocument, limits: &Limits) {
    const ORDER: [&str; 7] =
        ["Request", "Result", "Decisions", "Failures", "Unresolved", "Validation", "Affected paths"];
    assert!(document.content.len() <= limits.content, "{}", document.content.len());
    let headings: Vec<&str> = document.sections().map(|(heading, _)| heading).collect();
    assert_eq!(headings, document.headings, "{}", document.content);
    let places: Vec<usize> =
        headings.iter().map(|name| ORDER.iter().position(|known| known == name).unwrap()).collect();
    assert!(places.is_sorted(), "{headings:?}");
    assert!(document.links.len() <= limits.paths);
    for path in &document.links {
        assert!(!path.starts_with('/') && !path.contains("..") && !path.is_empty(), "{path}");
    }
    for mark in [
        "<system-reminder",
        "<persisted-output",
        "<task-notification",
        "<local-command",
        "<command-name",
        "This session is being continued",
        "Base directory for this skill",
        "[Request interrupted",
        "<hookmem",
        "hook additional context",
    ] {
        assert!(!document.content.contains(mark), "{mark} in {}", document.content);
    }
    let controls = document.content.chars().filter(|letter| letter.is_control() && *letter != '\n');
    assert_eq!(controls.count(), 0);
}

#[test]
fn turn_becomes_one_outcome_with_its_sections() {
    let mut session = Session::new();
    session.prompt("p1", "Make the parser keep gaps between runs");
    session.says("I tried a regex first but it didn't work on nested runs.");
    session.uses("Bash", &json!({"command": "cargo test -p parser"}), Err("Exit code 101\nassertion failed"));
    session.writes("/home/dev/proj/src/parse.rs", "fn gaps() {}\nlet secret_line = 1;\n");
    session.writes("/tmp/scratch.txt", "elsewhere");
    session.uses(
        "Bash",
        &json!({"command": "cargo test -p parser 2>&1 | tail"}),
        Ok("test result: ok. 3 passed; 0 failed"),
    );
    let message = "The parser keeps gaps now.\n\n```rust\nfn gaps() {}\n```\n\n- Decided to store gaps as empty runs instead \
                   of spans.\n- TODO: document the format.\n- Added a gap type.";
    session.stop("p1", message);
    let [outcome] = session.of(Concept::Outcome)[..] else { panic!("one outcome") };
    assert_eq!(outcome.request(), "Make the parser keep gaps between runs");
    assert_eq!(section(outcome, "Result"), "The parser keeps gaps now.\n- Added a gap type.");
    assert_eq!(section(outcome, "Decisions"), "Decided to store gaps as empty runs instead of spans.");
    assert_eq!(section(outcome, "Failures"), "I tried a regex first but it didn't work on nested runs.");
    assert_eq!(section(outcome, "Unresolved"), "document the format.");
    assert_eq!(section(outcome, "Validation"), "`cargo test -p parser`: passed, after failing first");
    assert_eq!(section(outcome, "Affected paths"), "src/parse.rs");
    assert_eq!(outcome.links, ["src/parse.rs"]);
    assert_eq!(session.records[0].1, ["fn gaps() {}", "let secret_line = 1;"]);
    assert!(!outcome.content.contains("secret_line"), "written lines are no content");
    assert_eq!(outcome.group_id, "claude-session:proj-1234:5e551011");
    assert_eq!(outcome.source, "claude-code://proj-1234/5e551011/outcome");
    let expect = [
        ("branch", "main"),
        ("dirty", "true"),
        ("project", "proj-1234"),
        ("revision", "a94a8fe5"),
        ("session", "5e551011"),
        ("type", "outcome"),
    ];
    let filters: Vec<(&str, &str)> =
        outcome.filters.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    assert_eq!(filters, expect);
}

#[test]
fn field_report_07_continuation_is_captured_once_with_the_whole_turn() {
    let mut session = Session::new();
    session.prompt("p1", "Rename the cache module and its users");
    session.writes("/home/dev/proj/src/cache.rs", "mod a;");
    session.says("Renamed the module in one place.");
    session.stop("p1", "Renamed the module in one place.");
    for round in 0..10 {
        session.line(&json!({"type": "user", "isMeta": true, "promptId": "p1",
            "message": {"content": "Stop hook feedback:\nrun the tests"}}));
        session.writes(&format!("/home/dev/proj/src/user{round}.rs"), "use store;");
        session.stop("p1", "Renamed it everywhere and updated all users of it.");
    }
    let [outcome] = session.of(Concept::Outcome)[..] else { panic!("one outcome") };
    assert_eq!(outcome.links.len(), 11, "the first part of the turn is still there");
    assert_eq!(section(outcome, "Result"), "Renamed it everywhere and updated all users of it.");
}

#[test]
fn field_report_28_second_delivery_adds_no_record() {
    let mut session = Session::new();
    session.prompt("p1", "Add a retry to the client");
    session.writes("/home/dev/proj/client.py", "retry = 3");
    let first = session.stop("p1", "Added a retry with three attempts.");
    let second = session.stop("p1", "Added a retry with three attempts.");
    assert_eq!(first.ops, second.ops);
    assert_eq!(session.records.len(), 1);
}

#[test]
fn field_report_31_interleaved_sessions_keep_their_own_cursors() {
    let mut sessions = [Session::new(), Session::new()];
    sessions[1].id = "other".to_owned();
    for round in 0..3 {
        for session in &mut sessions {
            let prompt_id = format!("p{round}");
            session.prompt(&prompt_id, "Write the next file please");
            session.writes(&format!("/home/dev/proj/f{round}.rs"), &format!("line {round}"));
            session.stop(&prompt_id, "Wrote the next file as asked.");
        }
    }
    for session in &sessions {
        let links: Vec<&Vec<String>> = session.of(Concept::Outcome).iter().map(|outcome| &outcome.links).collect();
        assert_eq!(links, [&["f0.rs"], &["f1.rs"], &["f2.rs"]]);
    }
}

#[test]
fn field_report_32_session_resumed_from_another_checkout_has_one_record() {
    let mut session = Session::new();
    session.prompt("p1", "Add a retry to the client");
    session.writes("/home/dev/proj/client.py", "retry = 3");
    session.stop("p1", "Added a retry with three attempts.");
    // The transcript was moved to another folder: another file, the same lines.
    let copy = session.lines.clone();
    std::fs::remove_file(session.transcript()).unwrap();
    std::fs::write(session.dir.path().join("filler"), "takes the inode").unwrap();
    std::fs::write(session.transcript(), copy).unwrap();
    session.stop("p1", "Added a retry with three attempts.");
    assert_eq!(session.records.len(), 1);
    assert_eq!(session.records[0].0.links, ["client.py"]);
}

#[test]
fn background_notice_keeps_the_turns_record_and_its_words() {
    let mut session = Session::new();
    session.prompt("p1", "Find out where the timeout is set and fix it");
    session.writes("/home/dev/proj/a.rs", "timeout");
    let message = "The timeout is set in the client builder; it is now sixty seconds for all of the calls.";
    session.says(message);
    session.stop("p1", message);
    session.prompt("p2", "<task-notification>\n<task-id>x</task-id>\n</task-notification>");
    session.says("Noted.");
    session.stop("p2", "Noted.");
    let [outcome] = session.of(Concept::Outcome)[..] else { panic!("one outcome") };
    assert_eq!(outcome.request(), "Find out where the timeout is set and fix it");
    assert!(section(outcome, "Result").starts_with("The timeout is set in the client builder"));
    assert_eq!(outcome.links, ["a.rs"]);
}

#[test]
fn lagging_transcript_does_not_matter() {
    let mut session = Session::new();
    session.prompt("p1", "Explain the lock order of the store");
    session.stop("p1", "Writers take the journal lock before the index lock.");
    assert_eq!(
        section(session.of(Concept::Outcome)[0], "Result"),
        "Writers take the journal lock before the index lock."
    );
    // Without any transcript and any state the payload alone is enough.
    let mut bare = Session::new();
    bare.stop("p1", "Writers take the journal lock before the index lock.");
    assert_eq!(bare.of(Concept::Outcome).len(), 1);
}

#[test]
fn turn_without_substance_is_not_captured() {
    for (request, message, captured) in [
        ("hello", "Hello! How can I help you today with this project?", false),
        ("thanks", "You are welcome.", false),
        ("Say hello, please", "Hello.", false),
        ("continue", "OK, done.", false),
        ("why is `parse()` slow on long lines?", "It scans every line twice because of the checksum.", true),
        ("解析器为什么慢？", "因为每一行都被扫描了两次，所以很慢。", true),
    ] {
        let mut session = Session::new();
        session.prompt("p1", request);
        let capture = session.stop("p1", message);
        assert_eq!(session.records.len(), usize::from(captured), "{request}");
        assert_eq!(capture.skip.is_none(), captured);
    }
}

#[test]
fn field_report_44_and_43_wrappers_and_own_text_never_reach_a_record() {
    let mut session = Session::new();
    session.prompt(
        "p1",
        "Fix the flaky test <system-reminder>nested <system-reminder>x</system-reminder> INNER</system-reminder> in ci",
    );
    session.line(
        &json!({"type": "user", "isMeta": true, "message": {"content": "Base directory for this skill: /s\n# BODY"}}),
    );
    session.uses("mcp__memory__search", &json!({"query": "SEARCHED"}), Ok("FOUND"));
    session.says("<hookmem-context>RECALLED decided to recall</hookmem-context>Looking.");
    session.stop("p1", "Made the test wait for the port. <persisted-output>RAW output");
    let content = &session.of(Concept::Outcome)[0].content;
    assert_eq!(section(session.of(Concept::Outcome)[0], "Request"), "Fix the flaky test  in ci");
    for mark in ["INNER", "BODY", "SEARCHED", "FOUND", "RECALLED", "RAW"] {
        assert!(!content.contains(mark), "{mark}");
    }
}

#[test]
fn field_report_14_child_sessions_of_a_library_are_not_captured() {
    for (entrypoint, captured) in [("sdk-ts", false), ("sdk-py", false), ("sdk-cli", true), ("later", true)] {
        let mut session = Session::new();
        session
            .line(&json!({"type": "user", "entrypoint": entrypoint, "message": {"content": "Sum up the whole day"}}));
        let capture = session.stop("p1", "The day was spent on the parser and its tests.");
        assert_eq!(session.records.len(), usize::from(captured), "{entrypoint}");
        assert_eq!(capture.skip == Some(Skip::ChildSession), !captured);
    }
}

#[test]
fn field_report_79_and_80_every_text_is_redacted_before_it_is_cut() {
    let secret = "sk-proj-SECRET0123456789";
    fn of_any_lifetime<F: Fn(&str) -> Cow<'_, str>>(redact: F) -> F {
        redact
    }
    let redact = of_any_lifetime(|text| Cow::Owned(text.replace(secret, "[redacted]")));
    // The secret stands across the place where the request is cut.
    let request = format!("Use the key {} {secret} for the client", "word ".repeat(122));
    for place in 0..40 {
        let mut session = Session::new();
        session.prompt("p1", &format!("{}{request}", "x".repeat(place)));
        session.says(&format!("I decided to put {secret} into the config."));
        let command = format!("API_KEY={secret} cargo test --key {secret}");
        session.uses("Bash", &json!({"command": command}), Ok("ok"));
        session.writes(&format!("/home/dev/proj/{secret}/a.rs"), "x");
        let message = format!("Stored {secret} as asked.\n- Not yet: rotate {secret}");
        let trigger = Trigger::TurnEnd { prompt_id: Some("p1"), last_message: Some(&message) };
        let capture = session.capture_with(trigger, Limits::default(), &redact);
        let shown = format!("{:?} {:?}", capture.ops, capture.notes);
        assert!(!shown.contains("SECRET0"), "{shown}");
        session.capture_with(Trigger::SessionEnd, Limits::default(), &redact);
        assert!(!format!("{:?}", session.records).contains("SECRET0"));
    }
}

#[test]
fn field_report_68_signs_of_several_characters_survive_every_limit() {
    let text = "👩‍👩‍👧‍👦e\u{301}世界 改用了新的 parser 🇩🇪 ".repeat(40);
    for content in (200..5_000).step_by(61) {
        let mut session = Session::new();
        session.prompt("p1", &text);
        session.writes("/home/dev/proj/世界/👩‍👩‍👧‍👦.md", &text);
        let message = format!("{text}\n\n- decided {text}\n- TODO {text}");
        let trigger = Trigger::TurnEnd { prompt_id: Some("p1"), last_message: Some(&message) };
        let limits = Limits { content, ..Limits::default() };
        session.capture_with(trigger, limits, &|text| Cow::Borrowed(text));
        assert_eq!(session.records.len(), 1);
        for line in session.records[0].0.content.lines() {
            assert!(!line.trim_end_matches('…').ends_with('\u{200d}'), "{line}");
        }
    }
}

#[test]
fn field_report_23_ten_megabytes_give_four_kilobytes() {
    let mut session = Session::new();
    let huge = "The request is long. ".repeat(500_000);
    session.prompt("p1", &huge);
    session.stop("p1", &huge);
    assert!(session.records[0].0.content.len() <= 4_096);
    assert!(std::fs::metadata(session.state_file().path()).unwrap().len() < 16_384);
}

#[test]
fn sub_agents_end_is_one_outcome_with_its_task() {
    let mut session = Session::new();
    session.prompt("p1", "Do the tour");
    session.state_file().remember_task("t1", "Explore", "Find where add is defined");
    assert_eq!(session.state_file().take_task("a1", "Explore").as_deref(), Some("Find where add is defined"));
    let report = "The function add is defined in src/util.py.";
    let end =
        |agent_type| Trigger::AgentEnd { agent_id: "a1", agent_type, transcript: None, last_message: Some(report) };
    session.capture(end("Explore"));
    session.capture(end("Explore"));
    let [outcome] = session.of(Concept::Outcome)[..] else { panic!("one outcome") };
    assert_eq!(outcome.request(), "Find where add is defined");
    assert_eq!(outcome.filter("agent"), "Explore");
    assert_eq!(outcome.group_id, "claude-session:proj-1234:5e551011", "the parent's segment");
    let capture = session.capture(end(""));
    assert_eq!(capture.skip, Some(Skip::CompactionAgent));
    let old_host = Trigger::AgentEnd {
        agent_id: "acompact-fffbd0",
        agent_type: "x",
        transcript: None,
        last_message: Some(report),
    };
    assert_eq!(session.capture(old_host).skip, Some(Skip::CompactionAgent));
    assert_eq!(session.records.len(), 1);
}

#[test]
fn sub_agents_own_file_gives_its_task_and_edits() {
    let mut session = Session::new();
    let line = |kind: &str, content: Value| json!({"type": kind, "isSidechain": true, "message": {"content": content}});
    session.line(&line("user", json!("Write a helper for dates")));
    let input = json!({"file_path": "/home/dev/proj/dates.py", "content": "def today(): pass"});
    session.line(&line("assistant", json!([{"type": "tool_use", "id": "t", "name": "Write", "input": input}])));
    session.line(&line("assistant", json!([{"type": "text", "text": "Wrote it."}])));
    let path = session.transcript();
    let trigger = Trigger::AgentEnd {
        agent_id: "a9",
        agent_type: "general-purpose",
        transcript: Some(&path),
        last_message: None,
    };
    session.capture(trigger);
    let outcome = session.of(Concept::Outcome)[0];
    assert_eq!((outcome.request(), section(outcome, "Result")), ("Write a helper for dates", "Wrote it."));
    assert_eq!(outcome.links, ["dates.py"]);
}

#[test]
fn checkpoint_holds_the_state_before_a_compaction() {
    let mut session = Session::new();
    session.prompt("p1", "Move the store to a journal");
    session.writes("/home/dev/proj/journal.rs", "append");
    session.says("I decided to keep the old reader for one release.");
    session.uses("Bash", &json!({"command": "ls"}), Ok("x"));
    session.capture(Trigger::Compaction);
    session.line(&json!({"type": "attachment", "attachment": {"type": "hook_success"}}));
    session.capture(Trigger::Compaction);
    let [checkpoint] = session.of(Concept::Checkpoint)[..] else { panic!("one checkpoint") };
    assert_eq!(section(checkpoint, "Decisions"), "I decided to keep the old reader for one release.");
    assert_eq!(section(checkpoint, "Unresolved"), "In progress: Move the store to a journal");
    assert_eq!(checkpoint.links, ["journal.rs"]);
    for round in 0..8 {
        session.prompt(&format!("p{round}x"), &format!("Step number {round} of the plan"));
        session.writes(&format!("/home/dev/proj/{round}.rs"), "x");
        session.capture(Trigger::Compaction);
    }
    assert_eq!(session.of(Concept::Checkpoint).len(), 4);
}

#[test]
fn session_summary_holds_outcomes_open_points_and_paths() {
    let mut session = Session::new();
    for (number, open) in [(1, "TODO: old point"), (2, "TODO: newer point"), (3, "TODO: newest point")] {
        let prompt_id = format!("p{number}");
        session.prompt(&prompt_id, &format!("Do step {number} of the migration"));
        session.writes(&format!("/home/dev/proj/step{number}.rs"), "x");
        session.stop(&prompt_id, &format!("Step {number} works now.\n- {open}"));
    }
    session.prompt("p4", "Start step four of the migration");
    session.writes("/home/dev/proj/step4.rs", "half");
    session.capture(Trigger::SessionEnd);
    session.capture(Trigger::SessionEnd);
    let [summary] = session.of(Concept::SessionSummary)[..] else { panic!("one summary") };
    assert_eq!(summary.request(), "Session: Do step 1 of the migration\nLast: Start step four of the migration");
    assert!(section(summary, "Result").starts_with("Do step 3 of the migration → Step 3 works now."));
    let open = "Interrupted: Start step four of the migration\nnewest point\nnewer point";
    assert_eq!(section(summary, "Unresolved"), open);
    assert_eq!(summary.links, ["step4.rs", "step1.rs", "step2.rs", "step3.rs"]);
    assert_eq!(session.of(Concept::Outcome).len(), 3, "it replaces no outcome");
}

#[test]
fn field_report_05_session_without_an_end_has_its_outcome_and_an_empty_one_no_summary() {
    let mut session = Session::new();
    session.prompt("p1", "Add a retry to the client");
    session.stop("p1", "Added a retry with three attempts.");
    assert_eq!(session.of(Concept::Outcome).len(), 1);
    let mut empty = Session::new();
    assert_eq!(empty.capture(Trigger::SessionEnd).skip, Some(Skip::EmptySession));
    assert!(empty.records.is_empty());
    let mut chat = Session::new();
    chat.prompt("p1", "hello");
    chat.says("Hello! How can I help you today?");
    chat.stop("p1", "Hello! How can I help you today?");
    assert_eq!(chat.capture(Trigger::SessionEnd).skip, Some(Skip::EmptySession));
}

#[test]
fn field_report_04_end_of_a_60_mb_session_reads_only_its_tail() {
    let mut session = Session::new();
    session.prompt("p1", "Generate the large fixture files");
    let big = json!({"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "x",
        "content": "y".repeat(1 << 20)}]}})
    .to_string();
    for _ in 0..60 {
        session.lines.extend_from_slice(big.as_bytes());
        session.lines.push(b'\n');
    }
    session.writes("/home/dev/proj/last.rs", "x");
    let capture = session.capture(Trigger::SessionEnd);
    assert_eq!(session.of(Concept::SessionSummary)[0].links, ["last.rs"]);
    assert!(capture.good_lines + capture.bad_lines < 10, "most lines were never looked at");
}

#[test]
fn long_session_keeps_forty_outcomes_and_tells_of_the_rest() {
    let mut session = Session::new();
    let mut most = 0;
    for number in 0..130 {
        let prompt_id = format!("p{number}");
        session.prompt(&prompt_id, &format!("Do step {number} of the migration"));
        session.writes(&format!("/home/dev/proj/step{}.rs", number % 50), "x");
        session.stop(&prompt_id, &format!("Step {number} works now as it was planned."));
        most = most.max(session.records.len());
    }
    assert!(most <= 42, "{most}");
    assert!(session.of(Concept::Outcome).len() > 30);
    let [summary] = session.of(Concept::SessionSummary)[..] else { panic!("one summary") };
    let steps = section(summary, "Result").lines().count();
    assert!(steps > 20, "{steps} steps are told");
    assert!(std::fs::metadata(session.state_file().path()).unwrap().len() < 96 << 10);
}

#[test]
fn files_of_the_project_are_mentioned_without_its_root() {
    let mut session = Session::new();
    session.prompt("p1", "What does /home/dev/proj/src/a.rs do?");
    session.stop("p1", "It parses `/home/dev/proj/src/a.rs` and /etc/hosts into one table.");
    let outcome = session.of(Concept::Outcome)[0];
    assert_eq!(outcome.request(), "What does src/a.rs do?");
    assert_eq!(section(outcome, "Result"), "It parses `src/a.rs` and /etc/hosts into one table.");
}

#[test]
fn slash_command_is_the_request_and_a_filter() {
    let mut session = Session::new();
    session.prompt("p1", "/deploy staging now");
    session.stop("p1", "Deployed the current build to the staging machines.");
    let outcome = session.of(Concept::Outcome)[0];
    assert_eq!((outcome.request(), outcome.filter("command")), ("/deploy staging now", "deploy"));
}

/// Transcripts of a folder tree that a test may lack.
fn transcripts(variable: &str, default: &str) -> Vec<PathBuf> {
    let folder = std::env::var_os(variable).map_or_else(|| PathBuf::from(default), PathBuf::from);
    let mut found = Vec::new();
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            let other =
                ["payloads", "requests", "corpus", "queries", "written"].iter().any(|word| name.starts_with(word));
            if path.is_dir() {
                folders.push(path);
            } else if name.ends_with(".jsonl") && !other {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn every_recorded_and_real_transcript_gives_bounded_records_without_noise() {
    let workspace = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared");
    let mut all = transcripts("HOOKBENCH_RECORDINGS", &format!("{workspace}/recordings"));
    all.extend(transcripts("HOOKBENCH_DATA", &format!("{workspace}/data")));
    if all.is_empty() {
        skip("no recordings and no transcripts at hand");
        return;
    }
    let mut n_records = 0;
    for path in &all {
        let mut session = Session::new();
        session.lines = std::fs::read(path).unwrap();
        std::fs::write(session.transcript(), &session.lines).unwrap();
        let file = session.transcript();
        session.stop("p1", "The last message of the turn says enough.");
        session.capture(Trigger::TurnEnd { prompt_id: None, last_message: None });
        let agent =
            Trigger::AgentEnd { agent_id: "a", agent_type: "Explore", transcript: Some(&file), last_message: None };
        session.capture(agent);
        session.capture(Trigger::Compaction);
        session.capture(Trigger::SessionEnd);
        n_records += session.records.len();
        // Any cut of the file is somebody's crash.
        for part in 1..4 {
            let cut = session.lines.len() * part / 4;
            std::fs::write(session.transcript(), &session.lines[..cut]).unwrap();
            session.capture(Trigger::TurnEnd { prompt_id: None, last_message: None });
            session.capture(Trigger::Compaction);
        }
    }
    assert!(n_records >= all.len(), "{n_records} records of {} transcripts", all.len());
}

#[expect(clippy::print_stderr, reason = "a skipped test must be seen")]
fn skip(why: &str) {
    eprintln!("skipped: {why}");
}
