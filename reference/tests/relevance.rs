//! The right memory at the right moment, once, in the same bytes; silence when there is none.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod world;

use std::path::PathBuf;

use serde_json::json;
use world::{World, row, unrelated};

const ASK: &str = "the webhook sender rejects our signing keys";

fn seeded(world: &World) -> PathBuf {
    let project = world.repository("work/proj");
    let mut rows = unrelated(50);
    let request = "Rotate the signing keys of the webhook sender";
    let mut topic = row("m_topic", "s_topic", 60, request, "The webhook sender signs with the new keys.");
    topic["affected_paths"] = json!(["src/webhook/sender.rs"]);
    rows.push(topic);
    world.seed(&project, &rows);
    project
}

#[test]
fn field_report_37_one_on_topic_of_fifty_comes_alone_and_off_topic_gets_nothing() {
    let world = World::new();
    let project = seeded(&world);
    let text = world.session("a", &project).prompt(ASK).context("UserPromptSubmit").unwrap();
    assert!(text.contains("[m_topic]") && !text.contains("m_unrelated"), "{text}");
    for (n, prompt) in
        ["what is the capital of Norway", "ok", "continue", "please go on", "", "how tall is a giraffe at birth"]
            .into_iter()
            .enumerate()
    {
        world.session(&format!("n{n}"), &project).prompt(prompt).silent();
    }
}

#[test]
fn field_report_38_memory_of_a_file_waits_for_the_call_that_touches_it() {
    let world = World::new();
    let project = world.repository("work/proj");
    let mut rows = unrelated(40);
    let mut tied = row("m_tied", "s_tied", 60, "Shorten the lease", "Leases are shorter and renewals are safe.");
    tied["affected_paths"] = json!(["src/queue/lease_timer.rs"]);
    rows.push(tied);
    world.seed(&project, &rows);
    let mut session = world.session("a", &project);
    let elsewhere = "make the tooltip of src/ui/tooltip.rs safe to hide, so that it shows a shorter text";
    let told = session.prompt(elsewhere).context("UserPromptSubmit").unwrap_or_default();
    assert!(!told.contains("m_tied"), "{told}");
    let input = |path: &str| json!({"file_path": project.join(path), "old_string": "a", "new_string": "b"});
    let other =
        session.pre_tool("Edit", "toolu_1", input("src/ui/tooltip.rs")).context("PreToolUse").unwrap_or_default();
    assert!(!other.contains("m_tied"), "{other}");
    let text = session.pre_tool("Edit", "toolu_2", input("src/queue/lease_timer.rs")).context("PreToolUse").unwrap();
    assert!(text.contains("[m_tied]"), "{text}");
}

#[test]
fn field_report_40_memory_is_shown_once_until_it_changes_or_the_context_is_compacted() {
    let world = World::new();
    let project = seeded(&world);
    let mut session = world.session("a", &project);
    let mut ask = |n: usize| session.prompt(&format!("{ASK}, attempt {n}")).context("UserPromptSubmit");
    assert!(ask(0).is_some());
    for n in 1..5 {
        assert_eq!(ask(n), None, "prompt {n}");
    }
    let changed =
        row("m_topic", "s_topic", 61, "Rotate the signing keys of the webhook sender", "Keys now live a week.");
    world.seed(&project, &[changed]);
    assert!(ask(5).is_some_and(|text| text.contains("live a week")));
    assert_eq!(ask(6), None);
    world.hook(&session.payload("PreCompact", json!({"trigger": "manual", "custom_instructions": ""}))).silent();
    session.start("compact").context("SessionStart").unwrap();
    world.hook(&session.payload("PreCompact", json!({"trigger": "manual", "custom_instructions": ""}))).silent();
    assert!(session.prompt(&format!("{ASK} once more")).context("UserPromptSubmit").is_some());
    // A session whose state cannot be kept is served rather than not.
    let sessions = world.project_store().join("sessions");
    std::fs::remove_dir_all(&sessions).unwrap();
    std::fs::write(&sessions, "in the way").unwrap();
    for n in 7..9 {
        let text = session.prompt(&format!("{ASK}, attempt {n}")).context("UserPromptSubmit");
        assert!(text.is_some(), "{n}: {}", world.log());
    }
}

#[test]
fn field_report_41_same_store_and_payload_give_the_same_bytes() {
    let world = World::new();
    let project = seeded(&world);
    world.seed_tiny(&project);
    let mut answers = Vec::new();
    for n in 0..4 {
        if n == 2 {
            // A minute later nothing may have changed; an hour of the session file's age stands for it.
            let sessions = world.project_store().join("sessions");
            for path in world::tree(&sessions).keys() {
                let hour = std::time::SystemTime::now() - std::time::Duration::from_secs(3_600);
                std::fs::File::open(sessions.join(path)).unwrap().set_modified(hour).unwrap();
            }
            std::thread::sleep(std::time::Duration::from_millis(1_100));
        }
        let mut session = world.session(&format!("s{n}"), &project);
        let input =
            json!({"file_path": project.join("crates/queue/src/lease.rs"), "old_string": "a", "new_string": "b"});
        let brief = session.start("startup");
        let prompt = session.prompt(ASK);
        let tool = session.pre_tool("Edit", "toolu_1", input);
        answers.push([brief, prompt, tool]);
    }
    assert!(answers[0].iter().all(|ran| !ran.stdout.is_empty()), "{answers:#?}");
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:#?}");
}

#[test]
fn field_report_71_part_of_a_sentence_without_blanks_is_found() {
    for (sentence, ask) in [
        ("我们决定把连接超时设为三十秒因为网络很慢", "连接超时"),
        ("セッションのタイムアウトを三十秒に変更しました", "タイムアウト"),
        ("把retry_backoff改成指数退避以免压垮服务器", "retry_backoff"),
    ] {
        let world = World::new();
        let project = world.repository("work/proj");
        let mut rows = unrelated(40);
        rows.push(row("m_cjk", "s_cjk", 60, sentence, sentence));
        world.seed(&project, &rows);
        assert!(world.on(&project, &["search", ask]).ok().contains("m_cjk"), "{ask}");
        let text = world.session("a", &project).prompt(sentence).context("UserPromptSubmit").unwrap_or_default();
        assert!(text.contains("[m_cjk]"), "{sentence}");
    }
}

#[test]
fn field_report_73_query_syntax_is_only_text() {
    let world = World::new();
    let project = seeded(&world);
    for (n, odd) in [
        "self-healing webhook sender signing keys",
        "webhook:sender signing:keys",
        "NEAR(webhook sender) signing keys",
        "\"webhook sender signing keys",
        "webhook* sender* signing keys *",
        "C++ webhook sender signing keys",
        "src/webhook/sender signing keys",
        "+webhook -sender AND NOT (signing keys",
        "webhook^2 sender~ [signing TO keys] {",
        "\\webhook \\\\sender 'signing' `keys`",
    ]
    .into_iter()
    .enumerate()
    {
        let text = world.session(&format!("s{n}"), &project).prompt(odd).context("UserPromptSubmit");
        assert!(text.is_some_and(|text| text.contains("[m_topic]")), "{odd}");
        assert!(world.on(&project, &["search", "--", odd]).ok().contains("m_topic"), "{odd}");
    }
    assert_eq!(world.log(), "");
}

#[test]
fn field_report_86_newer_value_of_a_subject_replaces_the_older_one() {
    let world = World::new();
    let project = world.repository("work/proj");
    let mut rows = unrelated(40);
    for (id, day, value) in [("m_old", 50, 30), ("m_new", 60, 60)] {
        let text = format!("The timeout of the upload client is {value} s");
        let mut row = row(id, &format!("s_{id}"), day, "Set the timeout of the upload client", &text);
        row["decisions"] = json!([text]);
        rows.push(row);
    }
    world.seed(&project, &rows);
    let text =
        world.session("a", &project).prompt("what is the timeout of the upload client").context("UserPromptSubmit");
    let text = text.unwrap();
    assert!(text.contains("60 s"), "{text}");
    assert!(!text.contains("30 s") || text.contains("superseded"), "{text}");
}
