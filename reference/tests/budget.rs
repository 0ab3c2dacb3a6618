//! What is injected keeps to its budget in the host's measure, whole items first to last, and never splits a sign.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod world;

use serde_json::{Value, json};
use world::{World, row};

/// Units the host counts.
fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// 500 long memories on one subject, most of their letters of four bytes.
fn long_rows(count: u32, glyph: &str) -> Vec<Value> {
    (0..count)
        .map(|n| {
            let text =
                format!("Glacier survey {n} uses pillar {} of ridge{n} {}. ", n * 7, glyph.repeat(20)).repeat(40);
            let mut row =
                row(&format!("m_{n}"), &format!("s_{n}"), n, &format!("calibrate glacier survey ridge{n}"), &text);
            row["decisions"] = json!([format!("Survey {n} stands on the northern pillar {}", glyph.repeat(30))]);
            row["affected_paths"] = json!([format!("survey/calibrate_{n}.py")]);
            row
        })
        .collect()
}

#[test]
fn field_report_34_no_event_passes_its_budget_whatever_the_letters() {
    for glyph in ["a", "é", "世", "🧊", "👩‍🔬"] {
        let world = World::new();
        let project = world.repository("work/proj");
        world.seed(&project, &long_rows(500, glyph));
        let limits =
            [(None, 4_000, 3_000, 1_500), (Some(9_500), 9_500, 9_500, 9_500), (Some(9_501), 4_000, 3_000, 1_500)];
        for (budget, start_limit, prompt_limit, tool_limit) in limits {
            if let Some(budget) = budget {
                world.settings(&format!(
                    "[budgets]\nsession_start = {budget}\nuser_prompt_submit = {budget}\npre_tool_use = {budget}\n\
                     [recall]\nmax_items = 50\nexcerpt_bytes = 4000\nexcerpt_lines = 40\n"
                ));
            }
            let mut session = world.session(&format!("s-{budget:?}"), &project);
            let start = session.start("startup").context("SessionStart").unwrap();
            let prompt = session.prompt("how were ridge7 and ridge8 calibrated?").context("UserPromptSubmit");
            let input =
                json!({"file_path": project.join("survey/calibrate_17.py"), "old_string": "a", "new_string": "b"});
            let tool = session.pre_tool("Edit", "toolu_1", input).context("PreToolUse");
            for (text, limit) in [(Some(start), start_limit), (prompt, prompt_limit), (tool, tool_limit)] {
                let Some(text) = text else { continue };
                assert!(units(&text) <= limit && units(&text) < 10_000, "{glyph} {budget:?}: {}", units(&text));
                assert!(text.ends_with("</hookmem-recall>"));
            }
        }
    }
}

#[test]
fn field_report_35_block_is_filled_by_size_and_cut_between_items() {
    let world = World::new();
    let project = world.repository("work/proj");
    let mut rows = long_rows(50, "x");
    for row in &mut rows {
        let lines: Vec<String> =
            (0..8).map(|n| format!("Pillar {n} of {} {}", row["doc_id"], "stands firm ".repeat(40))).collect();
        row["decisions"] = json!(lines);
    }
    world.seed(&project, &rows);
    world.settings(
        "[recall]\nmax_items = 20\nexcerpt_bytes = 4000\nexcerpt_lines = 40\n[budgets]\nsession_start = 9000\n",
    );
    let text = world.session("a", &project).start("startup").context("SessionStart").unwrap();
    let shown = text.lines().filter(|line| line.starts_with("[m_")).count();
    assert!(shown >= 1 && units(&text) <= 9_000, "{shown} {}", units(&text));
    // Every item that begins is there to its end: its source line and a quoted excerpt.
    assert_eq!(text.lines().filter(|line| line.starts_with("source: claude-code://")).count(), shown);
    assert!(text.contains("more left out for length"), "{text}");
    // Less room shows fewer, the same best ones first.
    world.settings(
        "[recall]\nmax_items = 20\nexcerpt_bytes = 4000\nexcerpt_lines = 40\n[budgets]\nsession_start = 5000\n",
    );
    let small = world.session("b", &project).start("startup").context("SessionStart").unwrap();
    let ids = |text: &str| text.lines().filter(|l| l.starts_with("[m_")).map(str::to_owned).collect::<Vec<_>>();
    assert!(ids(&small).len() < shown && ids(&text).starts_with(&ids(&small)), "{:?} {:?}", ids(&small), ids(&text));
}

#[test]
fn budget_of_zero_is_silence() {
    let world = World::new();
    let project = world.repository("work/proj");
    world.seed_tiny(&project);
    world.settings("[budgets]\nsession_start = 0\nuser_prompt_submit = 0\n");
    let mut session = world.session("a", &project);
    session.start("startup").silent();
    session.prompt("why do we renew the lease at a third of its duration?").silent();
}

#[test]
fn field_report_68_signs_across_every_cut_survive_capture_and_recall() {
    let world = World::new();
    let project = world.repository("work/proj");
    for (n, sign) in ["👩‍👩‍👧‍👦", "e\u{301}", "世", "🇩🇪"].into_iter().enumerate() {
        for shift in 0..4 {
            let mut session = world.session(&format!("s{n}-{shift}"), &project);
            let pad = "x".repeat(shift);
            let prompt = format!("{pad}{}", sign.repeat(4_000));
            let ran = session.prompt(&prompt);
            assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
            let answer = format!("Decided on {pad}{} because signs are long.", sign.repeat(6_000));
            session.stop(&answer).silent();
        }
    }
    let records = world.records(&project);
    assert_eq!(records.len(), 16);
    for record in &records {
        let content = record["content"].as_str().unwrap();
        assert!(content.len() <= 4_096 && !content.contains('\u{fffd}'), "{content}");
    }
    let text = world.session("z", &project).start("startup").context("SessionStart").unwrap();
    assert!(!text.contains('\u{fffd}') && units(&text) <= 4_000);
}
