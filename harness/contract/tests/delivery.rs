//! The rules of `deliver`, one by one, where no recording shows them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use hook_contract::{
    Call, Decision, Delivery, Event, Exit, HostProfile, MessageForm, Place, ProblemKind, TextKind, deliver, render,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn old() -> &'static HostProfile {
    HostProfile::nearest("2.1.197")
}

fn new() -> &'static HostProfile {
    HostProfile::newest()
}

/// What becomes of an answer on the newest host, by a hook named `cmd`, on the tool `Bash` where there is one.
fn answer(event: Event, exit: i32, stdout: &str, stderr: &str) -> Delivery {
    answer_on(new(), event, exit, stdout, stderr)
}

fn answer_on(host: &HostProfile, event: Event, exit: i32, stdout: &str, stderr: &str) -> Delivery {
    let tool = event.facts().subject == hook_contract::Subject::Field("tool_name");
    let call = Call::new(event, tool.then_some("Bash"), "cmd");
    deliver(host, &call, Exit::Code(exit), stdout.as_bytes(), stderr.as_bytes())
}

fn to_model(delivery: &Delivery) -> Vec<String> {
    delivery.to_model.iter().map(|text| text.text()).collect()
}

fn to_user(delivery: &Delivery) -> Vec<&str> {
    delivery.to_user.iter().map(|text| text.text.as_str()).collect()
}

fn kinds(delivery: &Delivery) -> Vec<ProblemKind> {
    delivery.problems.iter().map(|problem| problem.kind).collect()
}

fn context(event: Event, text: &str) -> String {
    json!({"hookSpecificOutput": {"hookEventName": event.name(), "additionalContext": text}}).to_string()
}

#[test]
fn context_reaches_the_model_on_eleven_events() {
    let mut reached = Vec::new();
    for &event in Event::ALL {
        let delivery = answer(event, 0, &context(event, "CTX"), "");
        match to_model(&delivery).as_slice() {
            [] => assert!(!delivery.problems.is_empty() || event == Event::WorktreeCreate, "{event} drops it silently"),
            [text] => {
                assert!(text.ends_with(" hook additional context: CTX"), "{text}");
                reached.push(event);
            }
            more => panic!("{event}: {more:?}"),
        }
    }
    use Event::*;
    let expect = [
        SessionStart,
        UserPromptSubmit,
        UserPromptExpansion,
        PreToolUse,
        PostToolUse,
        PostToolUseFailure,
        PostToolBatch,
        SubagentStart,
        SubagentStop,
        Stop,
        PostModelSwitch,
    ];
    assert_eq!(reached, expect);
}

#[test]
fn plain_stdout_is_context_on_four_events_and_special_on_three() {
    let mut reached = Vec::new();
    for &event in Event::ALL {
        let delivery = answer(event, 0, "  WORDS\n", "");
        reached.extend(delivery.to_model.iter().map(|text| (event, text.kind, text.body.clone())));
        if event == Event::WorktreeCreate {
            assert_eq!(delivery.effects[0].value, "WORDS");
        }
    }
    let words = |event, kind| (event, kind, "WORDS".to_owned());
    let expect = [
        words(Event::SessionStart, TextKind::PlainStdout),
        words(Event::UserPromptSubmit, TextKind::PlainStdout),
        words(Event::UserPromptExpansion, TextKind::PlainStdout),
        words(Event::PreCompact, TextKind::CompactInstructions),
        words(Event::PreCompact, TextKind::CompactOutput),
        words(Event::PostCompact, TextKind::CompactOutput),
        words(Event::PostModelSwitch, TextKind::PlainStdout),
    ];
    assert_eq!(reached, expect);
}

#[test]
fn exit_two_acts_as_the_event_says() {
    use Decision::{Block, Deny, None};
    // Event, decision, what the model reads.
    let rows: [(Event, Decision, &str); 34] = [
        (Event::SessionStart, None, ""),
        (Event::Setup, None, ""),
        (Event::UserPromptSubmit, Block, ""),
        (Event::UserPromptExpansion, Block, ""),
        (Event::PreToolUse, Deny, "PreToolUse:Bash hook error: [cmd]: NO"),
        (Event::PermissionRequest, None, ""),
        (Event::PermissionDenied, None, ""),
        (Event::PostToolUse, Block, "PostToolUse:Bash hook blocking error from command: \"cmd\": [cmd]: NO"),
        (
            Event::PostToolUseFailure,
            Block,
            "PostToolUseFailure:Bash hook blocking error from command: \"cmd\": [cmd]: NO",
        ),
        (Event::PostToolBatch, Block, ""),
        (Event::Notification, None, ""),
        (Event::MessageDisplay, None, ""),
        (Event::SubagentStart, None, ""),
        (Event::SubagentStop, Block, "Stop hook feedback:\n[cmd]: NO"),
        (Event::TaskCreated, Block, "TaskCreated hook feedback:\n[cmd]: NO"),
        (Event::TaskCompleted, Block, "TaskCompleted hook feedback:\n[cmd]: NO"),
        (Event::Stop, Block, "Stop hook feedback:\n[cmd]: NO"),
        (Event::StopFailure, None, ""),
        (Event::TeammateIdle, Block, "TeammateIdle hook feedback:\n[cmd]: NO"),
        (Event::InstructionsLoaded, None, ""),
        (Event::ConfigChange, Block, ""),
        (Event::CwdChanged, None, ""),
        (Event::DirectoryAdded, None, ""),
        (Event::FileChanged, None, ""),
        (Event::WorktreeCreate, Block, "NO"),
        (Event::WorktreeRemove, None, ""),
        (Event::PreCompact, Block, ""),
        (Event::PostCompact, None, ""),
        (Event::PreModelSwitch, Block, ""),
        (Event::PostModelSwitch, None, ""),
        (Event::Elicitation, Block, ""),
        (Event::ElicitationResult, Block, ""),
        (Event::PreSkillShellCommand, Deny, "[not run: blocked by hook: [cmd]: NO]"),
        (Event::SessionEnd, None, ""),
    ];
    for (event, decision, text) in rows {
        let delivery = answer(event, 2, "ignored words", "NO");
        assert_eq!(delivery.decision, decision, "{event}");
        assert_eq!(to_model(&delivery).concat(), text, "{event}");
        let told = to_user(&delivery);
        let silent = event.facts().exit2 == hook_contract::Exit2::Ignored
            || !text.is_empty()
            || matches!(event, Event::ConfigChange | Event::Elicitation | Event::ElicitationResult);
        assert_eq!(told, if silent { vec![] } else { vec!["[cmd]: NO"] }, "{event}");
    }
}

#[test]
fn exit_two_without_stderr_says_so() {
    assert_eq!(
        to_model(&answer(Event::PreToolUse, 2, "", "")),
        ["PreToolUse:Bash hook error: [cmd]: No stderr output"]
    );
}

#[test]
fn a_reason_in_json_takes_the_place_of_stderr_at_exit_two() {
    let block = json!({"decision": "block", "reason": "WHY"}).to_string();
    assert_eq!(to_user(&answer(Event::UserPromptSubmit, 2, &block, "NO")), ["WHY"]);
    let deny = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny",
        "permissionDecisionReason": "WHY"}});
    assert_eq!(to_model(&answer(Event::PreToolUse, 2, &deny.to_string(), "NO")), ["PreToolUse:Bash hook error: WHY"]);
    let allow = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}});
    let delivery = answer(Event::PreToolUse, 2, &allow.to_string(), "NO");
    assert_eq!((delivery.decision, to_model(&delivery).len()), (Decision::Deny, 1), "allow with exit 2 is a block");
}

#[test]
fn context_beside_exit_two_is_delivered_unless_the_prompt_is_refused() {
    for event in [Event::PreToolUse, Event::PostToolUse, Event::Stop, Event::SessionStart] {
        let delivery = answer(event, 2, &context(event, "CTX"), "NO");
        assert!(to_model(&delivery).iter().any(|text| text.ends_with("context: CTX")), "{event}");
    }
    assert_eq!(to_model(&answer(Event::UserPromptSubmit, 2, &context(Event::UserPromptSubmit, "CTX"), "NO")).len(), 0);
}

#[test]
fn a_missing_hook_file_does_not_block_a_stop() {
    let stderr = "python3: can't open file '/gone.py': [Errno 2] No such file or directory";
    for (event, blocks) in [(Event::Stop, false), (Event::SubagentStop, false), (Event::UserPromptSubmit, true)] {
        let delivery = answer(event, 2, "", stderr);
        assert_eq!(delivery.decision == Decision::Block, blocks, "{event}");
    }
    assert_eq!(answer(Event::Stop, 2, "words", stderr).decision, Decision::Block, "stdout makes it an answer");
}

#[test]
fn other_codes_leave_json_in_charge_and_are_notices_without_it() {
    for exit in [1, 3, 126, 127, -1] {
        let delivery = answer(Event::UserPromptSubmit, exit, &context(Event::UserPromptSubmit, "CTX"), "noise");
        assert_eq!(to_model(&delivery), ["UserPromptSubmit hook additional context: CTX"], "{exit}");
        let delivery = answer(Event::UserPromptSubmit, exit, "words", "oops");
        assert_eq!(to_model(&delivery).len(), 0);
        assert_eq!(to_user(&delivery), ["Failed with non-blocking status code: oops"]);
        assert_eq!(kinds(&delivery), [ProblemKind::NonZeroExit]);
    }
    let silent = answer(Event::Stop, 1, "", "");
    assert_eq!(to_user(&silent), ["Failed with non-blocking status code: No stderr output"]);
}

#[test]
fn a_signal_counts_as_exit_one_and_a_timeout_drops_everything() {
    let call = Call::new(Event::SessionStart, Some("startup"), "cmd");
    let said = context(Event::SessionStart, "CTX");
    let killed = deliver(new(), &call, Exit::Signal(9), said.as_bytes(), b"");
    assert_eq!(to_model(&killed), ["SessionStart hook additional context: CTX"]);
    assert_eq!(kinds(&deliver(new(), &call, Exit::Signal(9), b"words", b"")), [ProblemKind::Killed]);
    let late = deliver(new(), &call, Exit::TimedOut, said.as_bytes(), b"");
    assert_eq!((to_model(&late).len(), kinds(&late)), (0, vec![ProblemKind::TimedOut]));
    let switch = deliver(new(), &Call::new(Event::PreModelSwitch, None, "cmd"), Exit::TimedOut, b"", b"");
    assert_eq!(switch.decision, Decision::Block);
}

#[test]
fn broken_json_is_an_error_or_plain_text_by_host() {
    let hook = context(Event::UserPromptSubmit, "CTX");
    for (stdout, error_on_new) in [
        ("{not json}".to_owned(), true),
        ("{'a': 1}".to_owned(), true),
        ("{\"systemMessage\": \"m\",}".to_owned(), true),
        ("{{ name }}".to_owned(), true),
        (format!("{hook}\n{hook}"), true),
        ("{\"a\": \"cut".to_owned(), false),
        (format!("{hook}\nlog line"), false),
        ("{\"a\": 1}\n{\"b\": 2}".to_owned(), false),
        ("[1, 2]".to_owned(), false),
        ("\"{}\"".to_owned(), false),
        (format!("log line\n{hook}"), false),
    ] {
        assert_eq!(to_model(&answer_on(old(), Event::UserPromptSubmit, 0, &stdout, "")).len(), 1, "old host: {stdout}");
        let delivery = answer(Event::UserPromptSubmit, 0, &stdout, "");
        assert_eq!(delivery.to_model.is_empty(), error_on_new, "{stdout}");
        assert_eq!(kinds(&delivery) == [ProblemKind::InvalidJson], error_on_new, "{stdout}");
    }
}

#[test]
fn blanks_and_a_byte_order_mark_around_an_answer_are_dropped() {
    let stdout = format!("\u{feff}\r\n {}\n\u{feff}", context(Event::Stop, "CTX"));
    assert_eq!(to_model(&answer(Event::Stop, 0, &stdout, "")), ["Stop hook additional context: CTX"]);
}

#[test]
fn surrogates_bad_bytes_and_nuls_pass_as_the_model_gets_them() {
    let stdout = r#"{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"a\ud83cb\u0000c"}}"#;
    assert_eq!(to_model(&answer(Event::Stop, 0, stdout, "")), ["Stop hook additional context: a\u{fffd}b\0c"]);
    let call = Call::new(Event::UserPromptSubmit, None, "cmd");
    let delivery = deliver(new(), &call, Exit::Code(0), b"a\xFF\0b", b"");
    assert_eq!(to_model(&delivery), ["UserPromptSubmit hook success: a\u{fffd}\0b"]);
}

#[test]
fn a_failed_schema_drops_the_whole_answer_and_names_the_fault() {
    let specific = |value: Value| json!({"systemMessage": "m", "hookSpecificOutput": value});
    let stop = |key: &str, value: Value| {
        let mut members = json!({"hookEventName": "Stop"});
        members[key] = value;
        specific(members)
    };
    for (stdout, kind, place) in [
        (json!({"continue": "no", "systemMessage": "m"}), ProblemKind::SchemaViolation, "continue"),
        (json!({"decision": "deny", "systemMessage": "m"}), ProblemKind::SchemaViolation, "decision"),
        (json!({"reason": null, "systemMessage": "m"}), ProblemKind::SchemaViolation, "reason"),
        (stop("additionalContext", json!(42)), ProblemKind::SchemaViolation, "hookSpecificOutput.additionalContext"),
        (stop("hookEventName", json!(7)), ProblemKind::SchemaViolation, "hookSpecificOutput.hookEventName"),
        (specific(json!({"additionalContext": "x"})), ProblemKind::MissingEventName, "hookSpecificOutput"),
        (stop("hookEventName", json!("PreToolUse")), ProblemKind::WrongEventName, "PreToolUse"),
        (stop("hookEventName", json!("Nonsense")), ProblemKind::WrongEventName, "Nonsense"),
        (stop("hookEventName", json!("PreCompact")), ProblemKind::NoSpecificOutput, "PreCompact"),
        (specific(json!([])), ProblemKind::SchemaViolation, "hookSpecificOutput"),
    ] {
        let delivery = answer(Event::Stop, 0, &stdout.to_string(), "");
        assert_eq!(kinds(&delivery), [kind], "{stdout}");
        assert!(delivery.problems[0].message.contains(place), "{:?}", delivery.problems);
        assert!(delivery.to_model.is_empty() && delivery.to_user.is_empty(), "{stdout}");
        let blocked = answer(Event::Stop, 2, &stdout.to_string(), "NO");
        assert_eq!(to_model(&blocked), ["Stop hook feedback:\n[cmd]: NO"], "{stdout}");
    }
}

#[test]
fn a_block_beside_a_foreign_name_acts_on_newer_hosts() {
    let stdout = json!({"decision": "block", "reason": "WHY", "hookSpecificOutput": {"hookEventName": "Stop"}});
    for exit in [0, 1, 2] {
        let delivery = answer(Event::UserPromptSubmit, exit, &stdout.to_string(), "");
        assert_eq!((delivery.decision, to_user(&delivery)), (Decision::Block, vec!["WHY"]), "exit {exit}");
    }
    assert_eq!(answer_on(old(), Event::UserPromptSubmit, 0, &stdout.to_string(), "").decision, Decision::None);
}

#[test]
fn field_report_49_unknown_keys_are_dropped_and_misplaced_ones_named() {
    let stdout = json!({"fooBar": 1, "additionalContext": "TOP",
        "hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": "CTX", "zzz": 5}});
    let delivery = answer(Event::Stop, 0, &stdout.to_string(), "");
    assert_eq!(to_model(&delivery), ["Stop hook additional context: CTX"]);
    assert_eq!(kinds(&delivery), [ProblemKind::NoEffect]);
    let setup = answer(Event::Setup, 0, &context(Event::Setup, "CTX"), "");
    assert_eq!((to_model(&setup).len(), kinds(&setup)), (0, vec![ProblemKind::NoEffect]));
    let message = answer(Event::SessionEnd, 0, r#"{"systemMessage": "m"}"#, "");
    assert_eq!((to_user(&message).len(), kinds(&message)), (0, vec![ProblemKind::NoEffect]));
}

#[test]
fn permission_decisions_of_tool_calls() {
    let stdout = |decision: &str| {
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": decision,
            "permissionDecisionReason": "WHY", "updatedInput": {"command": "x"}}})
        .to_string()
    };
    for (word, decision, text) in [
        ("allow", Decision::Allow, None),
        ("defer", Decision::Defer, None),
        ("ask", Decision::Ask, Some("WHY")),
        ("deny", Decision::Deny, Some("PreToolUse:Bash hook error: WHY")),
    ] {
        let delivery = answer(Event::PreToolUse, 0, &stdout(word), "");
        assert_eq!(delivery.decision, decision);
        assert_eq!(to_model(&delivery).first().map(String::as_str), text, "{word}");
        assert_eq!(delivery.effects[0].member, "updatedInput");
    }
    let old = answer_on(old(), Event::PreToolUse, 0, &stdout("deny"), "");
    assert_eq!(to_model(&old), ["WHY"], "the older host gives the bare reason");
    assert_eq!(answer(Event::PreToolUse, 0, r#"{"decision":"approve"}"#, "").decision, Decision::Allow);
    assert_eq!(answer(Event::Stop, 0, r#"{"decision":"approve"}"#, "").decision, Decision::None);
}

#[test]
fn decisions_of_requests_denials_elicitations_and_skills() {
    let specific = |event: Event, mut members: Value| {
        members["hookEventName"] = json!(event.name());
        answer(event, 0, &json!({"hookSpecificOutput": members}).to_string(), "")
    };
    let deny = specific(Event::PermissionRequest, json!({"decision": {"behavior": "deny", "message": "WHY"}}));
    assert_eq!((deny.decision, to_model(&deny)), (Decision::Deny, vec!["WHY".to_owned()]));
    let allow = specific(Event::PermissionRequest, json!({"decision": {"behavior": "allow"}}));
    assert_eq!((allow.decision, allow.effects.len()), (Decision::Allow, 1));
    assert_eq!(specific(Event::PermissionDenied, json!({"retry": true})).decision, Decision::Retry);
    for (action, decision) in [("accept", Decision::Allow), ("decline", Decision::Deny), ("cancel", Decision::Cancel)] {
        assert_eq!(specific(Event::Elicitation, json!({"action": action})).decision, decision);
    }
    for members in [
        json!({"permissionDecision": "ask", "permissionDecisionReason": "WHY"}),
        json!({"updatedInput": {"command": "x"}, "permissionDecisionReason": "WHY"}),
    ] {
        let skill = specific(Event::PreSkillShellCommand, members);
        assert_eq!(
            (skill.decision, to_model(&skill)),
            (Decision::Deny, vec!["[not run: blocked by hook: WHY]".to_owned()])
        );
    }
    let switch =
        specific(Event::PreModelSwitch, json!({"permissionDecision": "deny", "permissionDecisionReason": "WHY"}));
    assert_eq!((switch.decision, to_user(&switch)), (Decision::Block, vec!["WHY"]));
}

#[test]
fn ending_the_turn_works_where_it_is_honoured() {
    let stdout = r#"{"continue": false, "stopReason": "enough"}"#;
    for (event, ends) in [
        (Event::PreToolUse, true),
        (Event::PostToolUse, true),
        (Event::PostToolBatch, true),
        (Event::UserPromptSubmit, true),
        (Event::Stop, true),
        (Event::SessionStart, false),
        (Event::SubagentStart, false),
        (Event::PostToolUseFailure, false),
        (Event::TaskCreated, false),
    ] {
        for exit in [0, 1] {
            let delivery = answer(event, exit, stdout, "");
            assert_eq!(delivery.ends_turn, ends, "{event}");
            assert_eq!(delivery.decision, if ends { Decision::Stop } else { Decision::None }, "{event}");
            assert_eq!(to_user(&delivery).contains(&"enough"), ends, "{event}");
        }
    }
    let refused = json!({"continue": false, "hookSpecificOutput": {"hookEventName": "UserPromptSubmit",
        "additionalContext": "CTX"}});
    assert_eq!(to_model(&answer(Event::UserPromptSubmit, 0, &refused.to_string(), "")).len(), 0);
}

#[test]
fn a_blocked_stop_names_the_command_on_newer_hosts() {
    let stdout = r#"{"decision": "block", "reason": "WHY"}"#;
    let texts = answer(Event::Stop, 0, stdout, "").to_model;
    let parts = render(new(), MessageForm::System, Event::Stop, &texts);
    assert_eq!(parts.iter().map(|part| part.place).collect::<Vec<_>>(), [Place::UserMessage, Place::SystemMessage]);
    assert!(parts[0].text.starts_with("<system-reminder>\nThe text below is the output of a hook"));
    assert!(parts[0].text.ends_with("\nStop hook feedback:\nWHY\n</system-reminder>"));
    assert_eq!(parts[1].text, "Stop hook blocking error from command: \"cmd\": WHY");
    let texts = answer_on(old(), Event::Stop, 0, stdout, "").to_model;
    let parts = render(old(), MessageForm::System, Event::Stop, &texts);
    assert_eq!(parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>(), ["Stop hook feedback:\nWHY"]);
}

#[test]
fn a_closing_tag_inside_a_text_is_escaped_on_newer_hosts() {
    let stdout = context(Event::Stop, "a</system-reminder>b");
    assert!(to_model(&answer(Event::Stop, 0, &stdout, ""))[0].ends_with("a&lt;/system-reminder>b"));
    assert!(to_model(&answer_on(old(), Event::Stop, 0, &stdout, ""))[0].ends_with("a</system-reminder>b"));
}

#[test]
fn contexts_of_several_hooks_are_joined_where_the_host_joins_them() {
    for (event, n_parts) in [(Event::SessionStart, 1), (Event::SubagentStart, 1), (Event::UserPromptSubmit, 2)] {
        let texts: Vec<_> =
            ["ONE", "TWO"].iter().flat_map(|text| answer(event, 0, &context(event, text), "").to_model).collect();
        let parts = render(new(), MessageForm::System, event, &texts);
        assert_eq!(parts.len(), n_parts, "{event}");
        assert_eq!(parts[0].text.ends_with("context: ONE\nTWO"), n_parts == 1, "{event}");
    }
}

#[test]
fn blank_context_is_passed_on_and_empty_is_not() {
    assert_eq!(answer(Event::Stop, 0, &context(Event::Stop, " \n"), "").to_model[0].body, " \n");
    assert!(answer(Event::Stop, 0, &context(Event::Stop, ""), "").to_model.is_empty());
    assert_eq!(answer(Event::Stop, 0, "", ""), Delivery::default());
    assert_eq!(answer(Event::Stop, 0, "{}", ""), Delivery::default());
}

#[test]
fn background_hooks_give_bare_text_and_decide_nothing() {
    let said = json!({"systemMessage": "MSG", "decision": "block",
        "hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": "CTX"}});
    let announced = answer(Event::Stop, 0, &format!("{{\"async\": true}}\n{said}"), "");
    let call = Call { background: true, ..Call::new(Event::Stop, None, "cmd") };
    let by_settings = deliver(new(), &call, Exit::Code(0), said.to_string().as_bytes(), b"");
    for delivery in [announced, by_settings] {
        assert_eq!(to_model(&delivery), ["CTX", "MSG"]);
        assert!(delivery.background && delivery.decision == Decision::None);
    }
    assert!(deliver(new(), &call, Exit::Code(0), b"plain", b"").to_model.is_empty());
    assert!(answer(Event::Stop, 0, r#"{"async": true, "asyncTimeout": 5}"#, "").background);
}

#[test]
fn worktree_hooks_print_a_path() {
    let delivery = answer(Event::WorktreeCreate, 0, "log\n/work/tree\n\n", "");
    assert_eq!(delivery.effects[0].value, "/work/tree");
    let json = answer(Event::WorktreeCreate, 0, "{\"a\": 1}", "");
    assert_eq!(json.effects[0].value, "{\"a\": 1}", "JSON is taken for a path");
    assert_eq!(kinds(&answer(Event::WorktreeCreate, 0, "\n", "")), [ProblemKind::NoWorktreePath]);
    let failed = answer(Event::WorktreeCreate, 1, "/work/tree", "disk full");
    assert_eq!((failed.decision, to_model(&failed)), (Decision::Block, vec!["disk full".to_owned()]));
}

#[test]
fn compaction_takes_raw_stdout_unless_it_blocks() {
    let message = r#"{"systemMessage": "m"}"#;
    let delivery = answer(Event::PreCompact, 0, message, "");
    assert_eq!(delivery.to_model[0].body, message);
    assert_eq!(to_model(&delivery)[1], format!("PreCompact [cmd] completed successfully: {message}"));
    let blocked = answer(Event::PreCompact, 0, r#"{"decision": "block", "reason": "WHY"}"#, "");
    assert_eq!((blocked.decision, to_model(&blocked).len(), to_user(&blocked)), (Decision::Block, 0, vec!["WHY"]));
    let call = Call::new(Event::PreCompact, Some("auto"), "cmd");
    let auto = deliver(new(), &call, Exit::Code(0), b"WORDS", b"");
    assert_eq!(auto.to_model.iter().map(|text| text.kind).collect::<Vec<_>>(), [TextKind::CompactInstructions]);
    let long = answer(Event::PreCompact, 0, &"a".repeat(10_001), "");
    assert!(
        long.to_model[0]
            .body
            .ends_with("\n[PreCompact hook [cmd] output cut: 10001 characters is over the 10000-character limit]")
    );
}

#[test]
fn failures_block_where_the_handler_asks_for_it() {
    for (event, exit, text) in [
        (Event::UserPromptSubmit, Exit::Code(1), "[cmd]: failed; blocking because onFailure is \"block\""),
        (Event::UserPromptSubmit, Exit::TimedOut, "[cmd]: timed out; blocking because onFailure is \"block\""),
    ] {
        let call = Call { failure_blocks: true, ..Call::new(event, None, "cmd") };
        let delivery = deliver(new(), &call, exit, b"", b"oops");
        assert_eq!((delivery.decision, to_user(&delivery)), (Decision::Block, vec![text]));
        assert_eq!(deliver(old(), &call, exit, b"", b"").decision, Decision::None, "unknown to the older host");
    }
    for event in [Event::Stop, Event::SessionStart] {
        let call = Call { failure_blocks: true, ..Call::new(event, None, "cmd") };
        assert_eq!(deliver(new(), &call, Exit::Code(1), b"", b"").decision, Decision::None, "{event}");
    }
    let call = Call { failure_blocks: true, ..Call::new(Event::PreToolUse, Some("Bash"), "cmd") };
    assert_eq!(deliver(new(), &call, Exit::Code(0), b"{broken}", b"").decision, Decision::Deny);
}

#[test]
fn the_strongest_of_several_decisions_wins() {
    use Decision::*;
    for (many, expect) in [
        (vec![Allow, Ask], Ask),
        (vec![Ask, Defer, Allow], Defer),
        (vec![Defer, Deny, Allow], Deny),
        (vec![None, None], None),
        (vec![Allow, Block], Block),
    ] {
        assert_eq!(many.into_iter().fold(None, Decision::stronger), expect);
    }
    for name in ["none", "allow", "ask", "defer", "deny", "cancel", "retry", "block", "stop"] {
        assert_eq!(Decision::parse(name).unwrap().name(), name);
    }
}

fn any_exit() -> impl Strategy<Value = Exit> {
    prop_oneof![
        (-1i32..130).prop_map(Exit::Code),
        Just(Exit::Code(0)),
        Just(Exit::Code(2)),
        (1i32..32).prop_map(Exit::Signal),
        Just(Exit::TimedOut)
    ]
}

proptest! {
    #[test]
    fn any_answer_is_survived(
        event in 0usize..34,
        exit in any_exit(),
        stdout in any::<Vec<u8>>(),
        stderr in any::<Vec<u8>>(),
    ) {
        for host in HostProfile::recorded() {
            let call = Call::new(Event::ALL[event], Some("x"), "cmd");
            let delivery = deliver(host, &call, exit, &stdout, &stderr);
            render(host, MessageForm::Reminder, call.event, &delivery.to_model);
        }
    }

    #[test]
    fn any_context_is_whole_or_a_short_preview(text in "(a|é|世|🎉|\n){0,12000}") {
        let delivery = answer(Event::Stop, 0, &context(Event::Stop, &text), "");
        for given in &delivery.to_model {
            prop_assert_eq!(given.original_utf16, text.encode_utf16().count());
            prop_assert_eq!(given.truncated, given.original_utf16 > 10_000);
            prop_assert!(given.truncated || given.body == text);
            prop_assert!(!given.truncated || given.body.encode_utf16().count() < 2_300);
        }
    }
}
