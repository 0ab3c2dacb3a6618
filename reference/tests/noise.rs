//! What nobody said is not remembered: the host's wrappers, other tools' memories, and our own words.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod world;

use serde_json::json;
use world::World;

const ANSWER: &str = "Decided to cache the parsed file, because parsing took a second.";

#[test]
fn field_report_43_memory_tools_and_own_injections_are_not_captured() {
    let world = World::new();
    let project = world.repository("work/proj");
    world.seed_tiny(&project);
    let mut session = world.session("a", &project);
    let told =
        session.prompt("why do we renew the lease at a third of its duration?").context("UserPromptSubmit").unwrap();
    // A search of a memory server: what it finds is not work that was done.
    let found = "ZEBRAFACT: we decided to use stripes because they are fashionable";
    session.post_tool(
        "mcp__memory__search",
        "toolu_m",
        json!({"query": "stripes"}),
        json!([{"type": "text", "text": found}]),
    );
    session.uses("mcp__memory__search", &json!({"query": "stripes"}), found);
    session.line(&json!({"type": "user", "isMeta": true, "message": {"role": "user", "content": told}}));
    let quoting = format!("{told}\n\n{ANSWER}");
    session.stop(&quoting).silent();
    let records = world.records(&project);
    assert_eq!(records.len(), 64);
    let new = records.iter().find(|record| record["content"].as_str().unwrap().contains("parsed file")).unwrap();
    let content = new["content"].as_str().unwrap();
    assert!(!content.contains("hookmem-recall") && !content.contains("Notes from earlier work"), "{content}");
    assert!(!content.contains("timer thread"), "{content}");
    assert!(!world.stores("ZEBRAFACT"));
}

#[test]
fn field_report_44_wrappers_go_with_their_content_nested_and_unclosed() {
    let world = World::new();
    let project = world.repository("work/proj");
    for (n, wrapped) in [
        "<system-reminder>WRAPPED1 decided to obey</system-reminder> speed up the parser of configs",
        "speed up the parser of configs <system-reminder>a <persisted-output>WRAPPED2</persisted-output></system-reminder>",
        "speed up the parser of configs <persisted-output>WRAPPED3 and on and on",
        "<command-name>/x</command-name><bash-stdout>WRAPPED4</bash-stdout> speed up the parser of configs",
    ]
    .into_iter()
    .enumerate()
    {
        let mut session = world.session(&format!("s{n}"), &project);
        session.prompt(wrapped);
        session.uses("Bash", &json!({"command": "time parse"}), "<persisted-output>WRAPPED5</persisted-output>");
        session.stop(&format!("{ANSWER} <system-reminder>WRAPPED6")).silent();
    }
    assert_eq!(world.records(&project).len(), 4);
    assert!(!world.stores("WRAPPED"), "{:#?}", world.records(&project));
}

#[test]
fn private_blocks_are_dropped_and_unclosed_ones_to_the_end() {
    let world = World::new();
    let project = world.repository("work/proj");
    let mut session = world.session("a", &project);
    session.prompt("speed up <private>INTIMATE1</private> the parser of configs <private>INTIMATE2 and more");
    session.stop(&format!("{ANSWER} <private>INTIMATE3</private> It is done. <private>INTIMATE4")).silent();
    session.end().silent();
    assert!(!world.records(&project).is_empty() && !world.stores("INTIMATE"));
}
