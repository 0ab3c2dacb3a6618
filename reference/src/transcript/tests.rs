//! Spans of made-up transcripts in the recorded shapes, whole and damaged.

#![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

use std::path::PathBuf;

use serde_json::{Value, json};

use super::span::{Command, Ending, Reach, Span};
use super::tail::{Cursor, Limits, Tail};

/// A transcript that is written line by line.
struct Transcript {
    dir: tempfile::TempDir,
    bytes: Vec<u8>,
}

impl Transcript {
    fn new() -> Transcript {
        Transcript { dir: tempfile::tempdir().unwrap(), bytes: Vec::new() }
    }

    fn raw(mut self, bytes: &[u8]) -> Transcript {
        self.bytes.extend_from_slice(bytes);
        self.bytes.push(b'\n');
        self
    }

    fn line(self, line: &Value) -> Transcript {
        self.raw(line.to_string().as_bytes())
    }

    fn user(self, text: &str) -> Transcript {
        self.line(&json!({"parentUuid": null, "isSidechain": false, "promptId": "p1", "type": "user",
            "message": {"role": "user", "content": text}, "entrypoint": "cli"}))
    }

    fn says(self, text: &str) -> Transcript {
        self.line(&json!({"isSidechain": false, "type": "assistant",
            "message": {"role": "assistant", "content": [{"type": "text", "text": text}]}}))
    }

    fn call(self, id: &str, name: &str, input: &Value) -> Transcript {
        let part = json!({"type": "tool_use", "id": id, "name": name, "input": input});
        self.line(&json!({"isSidechain": false, "type": "assistant",
            "message": {"role": "assistant", "content": [part]}}))
    }

    fn result(self, id: &str, content: &str, is_error: bool, report: &Value) -> Transcript {
        self.line(&json!({"isSidechain": false, "type": "user", "message": {"role": "user", "content":
            [{"tool_use_id": id, "type": "tool_result", "content": content, "is_error": is_error}]},
            "toolUseResult": report}))
    }

    fn write(&self) -> PathBuf {
        let path = self.dir.path().join("t.jsonl");
        std::fs::write(&path, &self.bytes).unwrap();
        path
    }

    fn read(&self) -> Span {
        self.read_with(&reach(), &Limits::default())
    }

    fn read_with(&self, reach: &Reach, limits: &Limits) -> Span {
        Span::read(&self.write(), reach, limits)
    }
}

fn reach() -> Reach {
    Reach {
        since: None,
        last_turn_only: true,
        needs_prompt: false,
        sidechains: false,
        wants_command: |command| command.contains("test"),
    }
}

fn replies(span: &Span) -> Vec<&str> {
    span.replies.iter().map(|reply| reply.text.as_str()).collect()
}

#[test]
fn turn_is_read_with_its_edits_commands_and_words() {
    let edit =
        json!({"file_path": "/p/a.rs", "old_string": "keep\nold", "new_string": "keep\nnew\n\n", "replace_all": false});
    let span = Transcript::new()
        .user("earlier")
        .says("done earlier")
        .user("fix it 世界 🙂")
        .says("Looking.")
        .call("t1", "Edit", &edit)
        .result("t1", "The file was updated", false, &json!({"filePath": "/p/a.rs"}))
        .call("t2", "Bash", &json!({"command": "cargo test", "description": "x"}))
        .result("t2", "Exit code 101\nfailed", true, &json!("Error: Exit code 101"))
        .call("t3", "Bash", &json!({"command": "ls"}))
        .result("t3", "a.rs", false, &json!({"stdout": "a.rs"}))
        .says("Fixed.")
        .read();
    assert_eq!(span.prompts, ["fix it 世界 🙂"]);
    assert_eq!(replies(&span), ["Looking.", "Fixed."]);
    assert_eq!(span.replies.iter().map(|reply| reply.is_final).collect::<Vec<_>>(), [false, true]);
    assert_eq!(span.edits.len(), 1);
    assert_eq!(span.edits[0].written, ["new"]);
    let output = "Exit code 101\nfailed".to_owned();
    assert_eq!(span.commands, [Command { line: "cargo test".to_owned(), ending: Ending::Failed(Some(101)), output }]);
    assert_eq!((span.good_lines, span.bad_lines), (11, 0));
    assert_eq!(span.entrypoint.as_deref(), Some("cli"));
}

#[test]
fn patch_tells_which_lines_of_an_overwritten_file_are_new() {
    let patch = json!({"type": "update", "structuredPatch": [{"lines": [" same", "-gone", "+fresh", "+  "]}]});
    let notebook = json!({"notebook_path": "/p/n.ipynb", "new_source": "x = 1"});
    let multi = json!({"file_path": "/p/m", "edits": [{"old_string": "", "new_string": "one"}, {"new_string": "two"}]});
    let span = Transcript::new()
        .user("go")
        .call("t1", "Write", &json!({"file_path": "/p/a", "content": "same\nfresh\n"}))
        .result("t1", "ok", false, &patch)
        .call("t2", "Write", &json!({"file_path": "/p/b", "content": "all\nnew\n"}))
        .result("t2", "ok", false, &json!({"type": "create", "structuredPatch": []}))
        .call("t3", "NotebookEdit", &notebook)
        .call("t4", "MultiEdit", &multi)
        .call("t5", "Edit", &json!({"file_path": "/p/refused", "old_string": "a", "new_string": "b"}))
        .result("t5", "<tool_use_error>File has not been read yet.</tool_use_error>", true, &json!("Error"))
        .call("t6", "Edit", &json!({"file_path": 7}))
        .read();
    let written: Vec<(&str, Vec<&str>)> =
        span.edits.iter().map(|edit| (edit.path.as_str(), edit.written.iter().map(String::as_str).collect())).collect();
    let expect = [
        ("/p/a", vec!["fresh"]),
        ("/p/b", vec!["all", "new"]),
        ("/p/n.ipynb", vec!["x = 1"]),
        ("/p/m", vec!["one", "two"]),
    ];
    assert_eq!(written, expect);
}

#[test]
fn result_in_any_shape_ends_its_call() {
    const ID: &str = r#""tool_use_id":"t1""#;
    let edit = json!({"file_path": "/p/a", "old_string": "x", "new_string": "from the input"});
    let patch = concat!(
        r#""toolUseResult":{"originalFile":"\"structuredPatch\":[]","#,
        r#""structuredPatch":[{"lines":["+from the patch"]}]}"#
    );
    let result = |more: &str, place: &str| {
        format!(r#"{{{more}"type":"user","message":{{"content":[{{{ID},"type":"tool_result",{place}}}]}},{patch}}}"#)
    };
    let lone = result("", r#""content":"ok""#);
    let parts = result("", r#""content":[{"type":"text","text":"ok"}]"#);
    let sidechain = result(r#""isSidechain": true,"#, r#""content":"ok""#);
    let failed = result("", r#""content":"no","is_error": true"#);
    for (line, expect) in [
        (lone, vec!["from the patch"]),
        (parts, vec!["from the patch"]),
        // A sub-agent's result is none of the conversation's.
        (sidechain, vec!["from the input"]),
        (failed, vec![]),
    ] {
        let span = Transcript::new().user("go").call("t1", "Edit", &edit).raw(line.as_bytes()).read();
        let written: Vec<&String> = span.edits.iter().flat_map(|edit| &edit.written).collect();
        assert_eq!(written, expect, "{line}");
    }
    let command = json!({"command": "make test"});
    for content in [r#""Exit code 2\nbad""#, r#"[{"type":"text","text":"Exit code 2\nbad"}]"#] {
        let line = format!(
            r#"{{"type":"user","message":{{"content":[{{{ID},"type":"tool_result","content":{content},"is_error":true}}]}}}}"#
        );
        let span = Transcript::new().user("go").call("t1", "Bash", &command).raw(line.as_bytes()).read();
        assert_eq!(span.commands[0].ending, Ending::Failed(Some(2)), "{line}");
        assert_eq!(span.commands[0].output, "Exit code 2\nbad");
    }
}

#[test]
fn turn_with_very_many_written_lines_keeps_every_path_and_the_newest_lines() {
    let mut transcript = Transcript::new().user("go");
    for n in 0..10 {
        let lines: String = (0..500).map(|line| format!("line {line} of {n}\n")).collect();
        transcript =
            transcript.call(&format!("t{n}"), "Write", &json!({"file_path": format!("/p/{n}"), "content": lines}));
    }
    let span = transcript.read();
    let sizes: Vec<usize> = span.edits.iter().map(|edit| edit.written.len()).collect();
    assert_eq!(sizes, [0, 0, 0, 0, 500, 500, 500, 500, 500, 500]);
    assert_eq!(span.edits[0].path, "/p/0");
}

#[test]
fn what_the_host_and_sub_agents_wrote_is_nobodys_words() {
    let by_host = |flag: &str| json!({"type": "user", flag: true, "message": {"content": "host's words"}});
    let span = Transcript::new()
        .user("fix it")
        .says("answer")
        .line(&json!({"type": "assistant", "isApiErrorMessage": true,
            "message": {"content": [{"type": "text", "text": "overloaded"}]}}))
        .line(&by_host("isMeta"))
        .line(&by_host("isCompactSummary"))
        .line(&by_host("isSidechain"))
        .line(&json!({"type": "attachment", "attachment": {"type": "hook_success", "stdout": "x"}}))
        .line(&json!({"type": "api-request", "body": "\"message\": no"}))
        .user("<task-notification>\n<task-id>a</task-id></task-notification>")
        .user("<local-command-stdout>Set model</local-command-stdout>")
        .user("<command-name>/compact</command-name>\n<command-args>keep</command-args>")
        .user("[Request interrupted by user]")
        .read();
    assert_eq!(span.prompts, ["fix it"]);
    assert_eq!(replies(&span), ["answer"]);
}

#[test]
fn slash_command_opens_a_turn() {
    let span = Transcript::new()
        .user("before")
        .user(
            "<command-message>greet</command-message>\n<command-name>/greet</command-name>\n\
               <command-args>World</command-args>",
        )
        .read();
    assert_eq!(span.command_line.as_deref(), Some("/greet World"));
    assert_eq!(span.prompts, [""]);
}

#[test]
fn field_report_76_good_rows_are_used_and_bad_ones_counted() {
    let span = Transcript::new()
        .raw(b"{\"type\":\"user\",\"message\":{\"content\":\"cut")
        .user("fix it")
        .raw(&[0; 5_000])
        .raw(b"")
        .raw(br#"{"type":"user","message":{"content":42}}"#)
        .raw(b"\xff\xfe{}")
        .says("done")
        .raw(br#"{"type":"assistant","message":{"content":"half"#)
        .read();
    assert_eq!(span.prompts, ["fix it"]);
    assert_eq!(replies(&span), ["done"]);
    assert_eq!((span.good_lines, span.bad_lines), (2, 6));
}

#[test]
fn field_report_77_row_after_two_glued_objects_is_read() {
    let one = r#"{"type":"assistant","message":{"content":"one"}}"#;
    let glued = format!("{one}{one}");
    let torn = format!("{}{one}", &one[..30]);
    let span = Transcript::new().user("go").raw(glued.as_bytes()).raw(torn.as_bytes()).says("two").read();
    assert_eq!(replies(&span), ["two"]);
    assert_eq!(span.bad_lines, 2);
}

#[test]
fn field_report_74_window_is_bounded_and_a_giant_line_is_passed_over() {
    let limits = Limits { first: 4 << 10, most: 64 << 10, line: 16 << 10 };
    let giant = vec![b'x'; 40 << 10];
    let span = Transcript::new().user("far back").raw(&giant).read_with(&reach(), &limits);
    assert_eq!(span.prompts, ["far back"], "the window grows until something is found");
    assert_eq!(span.bad_lines, 1);
    let giant = vec![b'x'; 90 << 10];
    let span = Transcript::new().user("too far back").raw(&giant).read_with(&reach(), &limits);
    assert!(span.is_empty());
    let span = Transcript::new().user("too far back").raw(&giant).says("near").read_with(&reach(), &limits);
    assert_eq!(replies(&span), ["near"]);
}

#[test]
fn window_without_a_prompt_is_widened_once_when_nobody_remembers_it() {
    let limits = Limits { first: 4 << 10, most: 64 << 10, line: 16 << 10 };
    let padding = json!({"type": "attachment", "attachment": "x".repeat(8 << 10)});
    let transcript = Transcript::new().user("asked").line(&padding).says("answer");
    assert!(transcript.read_with(&reach(), &limits).prompts.is_empty());
    let curious = Reach { needs_prompt: true, ..reach() };
    assert_eq!(transcript.read_with(&curious, &limits).prompts, ["asked"]);
    let far = Transcript::new().user("asked").line(&padding).line(&padding).says("answer");
    assert_eq!(replies(&far.read_with(&curious, &limits)), ["answer"]);
}

#[test]
fn field_report_74_sparse_300_mb_transcript_with_an_80_mb_line_is_read_from_its_end() {
    let transcript = Transcript::new();
    let path = transcript.write();
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    // A hole reads as NUL bytes: one line of 300 MB.
    file.set_len(300 << 20).unwrap();
    use std::os::unix::fs::FileExt;
    let last = "\n{\"type\":\"user\",\"message\":{\"content\":\"still here\"}}\n";
    file.write_at(last.as_bytes(), 300 << 20).unwrap();
    assert_eq!(Span::read(&path, &reach(), &Limits::default()).prompts, ["still here"]);
    file.set_len((300 << 20) + 10).unwrap();
    assert!(Span::read(&path, &reach(), &Limits::default()).is_empty());
}

#[test]
fn cursor_is_followed_far_back_and_its_end_goes_on() {
    let mut transcript = Transcript::new().user("one").says("first");
    let path = transcript.write();
    let end = Span::read(&path, &reach(), &Limits::default()).end.unwrap();
    for number in 0..200 {
        let input = json!({"file_path": format!("/p/{number}"), "content": "x".repeat(2_000)});
        transcript = transcript.call(&format!("t{number}"), "Write", &input);
    }
    transcript = transcript.user("two").says("second");
    let since = Reach { since: Some(end), ..reach() };
    let span = transcript.read_with(&since, &Limits::default());
    assert_eq!(span.edits.len(), 200, "edits of an interrupted turn count");
    assert_eq!(replies(&span), ["second"]);
    let after = Reach { since: span.end, ..reach() };
    assert!(transcript.read_with(&after, &Limits::default()).is_empty());
    // A cursor of another file is no cursor: only the last turn is read.
    let foreign = Reach { since: Some(Cursor { offset: 0, ..Cursor::default() }), ..reach() };
    assert_eq!(transcript.read_with(&foreign, &Limits::default()).edits.len(), 0);
}

#[test]
fn row_without_its_line_end_is_read_again_later() {
    let transcript = Transcript::new().user("one");
    let path = transcript.write();
    let len = Tail::open(&path).unwrap().len();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.extend_from_slice(br#"{"type":"assistant","message":{"content":"late"}}"#);
    std::fs::write(&path, bytes).unwrap();
    let span = Span::read(&path, &reach(), &Limits::default());
    assert_eq!(replies(&span), ["late"]);
    assert_eq!(span.end.unwrap().offset, len);
}

#[test]
fn sub_agents_file_is_read_with_its_first_prompt() {
    let line = |kind: &str, text: &str| json!({"type": kind, "isSidechain": true, "message": {"content": text}});
    let transcript = Transcript::new()
        .raw(b"torn")
        .line(&line("user", "Find where add is defined. 🔎"))
        .line(&line("assistant", "It is in util.py."));
    let path = transcript.write();
    let own = Reach { sidechains: true, last_turn_only: false, ..reach() };
    assert_eq!(replies(&Span::read(&path, &own, &Limits::default())), ["It is in util.py."]);
    assert!(Span::read(&path, &reach(), &Limits::default()).is_empty());
    let first = Span::first_prompt(&path, &Limits::default());
    assert_eq!(first.as_deref(), Some("Find where add is defined. 🔎"));
    assert_eq!(Span::first_prompt(&path.with_extension("missing"), &Limits::default()), None);
}

#[test]
fn any_damage_leaves_a_span_within_bounds() {
    let transcript = Transcript::new()
        .user("fix it 世界")
        .call("t1", "Write", &json!({"file_path": "/p/a", "content": "x\ny"}))
        .result("t1", "ok", false, &json!({"structuredPatch": [{"lines": ["+x"]}]}))
        .says("done 🙂");
    let whole = transcript.bytes.clone();
    let path = transcript.write();
    for at in 0..whole.len() {
        let mut cut = whole.clone();
        cut.truncate(at);
        std::fs::write(&path, &cut).unwrap();
        assert!(Span::read(&path, &reach(), &Limits::default()).prompts.len() <= 1);
        let mut flipped = whole.clone();
        flipped[at] = 0;
        std::fs::write(&path, &flipped).unwrap();
        let span = Span::read(&path, &reach(), &Limits::default());
        assert!(span.good_lines + span.bad_lines <= 5);
        assert_eq!(span, Span::read(&path, &reach(), &Limits::default()));
    }
}
