//! The commands beside the hook: what they print, what they change, and their exit codes.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod world;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use world::{World, changed, row, tiny, tree};

const ANSWER: &str = "Decided to renew on a timer of its own, because steps may be slow.";

fn seeded() -> (World, PathBuf) {
    let world = World::new();
    let project = world.repository("work/proj");
    world.seed_tiny(&project);
    (world, project)
}

#[test]
fn import_takes_all_63_records_once() {
    let world = World::new();
    let project = world.repository("work/proj");
    let tiny = tiny();
    let path = tiny.to_str().unwrap();
    assert!(world.on(&project, &["import", path]).ok().starts_with("63 new, 0 known, 0 forgotten"));
    assert!(world.on(&project, &["import", path]).ok().starts_with("0 new, 63 known, 0 forgotten"));
    let file = tiny.join("corpus.jsonl");
    let other = world.repository("work/other");
    assert!(world.on(&other, &["import", file.to_str().unwrap(), "--only", "nothing-of-it"]).ok().starts_with("0 new"));
}

#[test]
fn import_of_a_bad_row_names_file_and_line_and_leaves_the_store_as_it_was() {
    let (world, project) = seeded();
    let file = world.path("bad.jsonl");
    let good = row("m_good", "s", 1, "a good request", "a good result");
    for bad in ["{\"doc_id\": 7}", "not JSON", "{}"] {
        fs::write(&file, format!("{good}\n{bad}\n")).unwrap();
        let before = tree(&world.store());
        let ran = world.on(&project, &["import", file.to_str().unwrap()]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{bad}");
        assert!(ran.stderr.contains("bad.jsonl") && ran.stderr.contains('2'), "{}", ran.stderr);
        assert_eq!(changed(&before, &tree(&world.store())), Vec::<PathBuf>::new());
    }
}

#[test]
fn export_and_import_give_the_same_export_again() {
    let (world, project) = seeded();
    let mut session = world.session("a", &project);
    session.prompt("renew the lease in time");
    session.writes("src/renew.rs", "pub fn renew() {}\n");
    session.stop(ANSWER).silent();
    session.end().silent();
    let first = world.on(&project, &["export"]).ok().to_owned();
    assert_eq!(first.lines().count(), world.records(&project).len());
    let file = world.path("export.jsonl");
    fs::write(&file, &first).unwrap();
    let other = world.repository("work/other");
    world.on(&other, &["import", file.to_str().unwrap()]).ok();
    let second = world.on(&other, &["export"]).ok().to_owned();
    // Of all a record has, only the project's id is another.
    let rows = |text: &str| -> BTreeMap<String, Value> {
        let mut rows = BTreeMap::new();
        for line in text.lines() {
            let mut row: Value = serde_json::from_str(line).unwrap();
            row["project"] = Value::Null;
            rows.insert(row["doc_id"].as_str().unwrap().to_owned(), row);
        }
        rows
    };
    assert_eq!(rows(&first), rows(&second));
    // A row names the affected paths once; the section that repeats them in a captured text is not made again.
    let contents = |project: &Path| -> BTreeMap<String, String> {
        let text = |record: &Value| {
            let content = record["content"].as_str().unwrap();
            content.split("\n## Affected paths").next().unwrap().trim_end().to_owned()
        };
        world.records(project).iter().map(|record| (record["doc_id"].to_string(), text(record))).collect()
    };
    for (id, text) in contents(&project) {
        assert_eq!(contents(&other).get(&id), Some(&text), "{id}");
    }
}

#[test]
fn views_of_the_store_are_json_and_change_nothing() {
    let (world, project) = seeded();
    let before = tree(&world.store());
    let view = |name: &str| serde_json::from_str::<Value>(world.on(&project, &["inspect", name]).ok()).unwrap();
    assert_eq!((&view("summary")["records"], &view("summary")["segments"]), (&Value::from(63), &Value::from(16)));
    assert_eq!(view("source-documents").as_array().unwrap().len(), 63);
    assert_eq!(view("records").as_array().unwrap().len(), 63);
    let segments = view("segments");
    assert_eq!(segments.as_array().unwrap().len(), 16);
    let held: usize = segments.as_array().unwrap().iter().map(|s| s["records"].as_array().unwrap().len()).sum();
    assert_eq!(held, 63);
    for args in [&["status"][..], &["status", "--json"], &["search", "lease"], &["export"], &["show", "m_208561cb8d47"]]
    {
        world.on(&project, args).ok();
    }
    world.run(&["status", "--all"]).ok();
    assert_eq!(changed(&before, &tree(&world.store())), Vec::<PathBuf>::new());
    assert_eq!(world.on(&project, &["inspect", "everything"]).code, Some(2));
}

#[test]
fn search_finds_best_first_and_keeps_its_limit() {
    let (world, project) = seeded();
    let ran = world.on(&project, &["search", "--json", "--limit", "3", "renew the lease at a third of its duration"]);
    let found: Vec<Value> = ran.ok().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(!found.is_empty() && found.len() <= 3);
    assert_eq!(found[0]["record"]["doc_id"], "m_208561cb8d47");
    let scores: Vec<f64> = found.iter().map(|line| line["score"].as_f64().unwrap()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    assert_eq!(world.on(&project, &["search", "zzzzqqqq"]).ok(), "");
    assert_eq!(world.on(&project, &["search"]).code, Some(2));
}

#[test]
fn show_prints_one_record_and_fails_on_none() {
    let (world, project) = seeded();
    let text = world.on(&project, &["show", "m_208561cb8d47"]);
    assert!(text.ok().starts_with("m_208561cb8d47 outcome claude-code://"));
    let json: Value = serde_json::from_str(world.on(&project, &["show", "m_208561cb8d47", "--json"]).ok()).unwrap();
    assert_eq!(json["filters"]["branch"], "main");
    let none = world.on(&project, &["show", "m_none"]);
    assert!(none.code == Some(1) && none.stdout.is_empty() && none.stderr.contains("no record m_none"));
}

#[test]
fn status_counts_what_is_there_and_names_every_project() {
    let (world, project) = seeded();
    let other = world.repository("work/other");
    world.session("a", &other).turn("renew the lease in time", ANSWER);
    let all: Value = serde_json::from_str(world.run(&["status", "--all", "--json"]).ok()).unwrap();
    let mut counts: Vec<u64> =
        all["projects"].as_array().unwrap().iter().map(|row| row["records"].as_u64().unwrap()).collect();
    counts.sort_unstable();
    assert_eq!(counts, [1, 63]);
    let one: Value = serde_json::from_str(world.on(&project, &["status", "--json"]).ok()).unwrap();
    assert_eq!((&one["projects"][0]["records"], &one["projects"][0]["sessions"]), (&Value::from(63), &Value::from(16)));
    assert_eq!(one["config_problems"], Value::Array(Vec::new()));
    let nothing = world.repository("work/nothing");
    let ran = world.on(&nothing, &["status"]);
    assert!(ran.code == Some(1) && ran.stderr.contains("nothing is remembered"));
}

#[test]
fn compaction_keeps_every_record_and_says_what_it_did() {
    let (world, project) = seeded();
    for n in 0..5 {
        let text = format!("the result changed for the {n}th time");
        world.seed(&project, &[row("m_changing", "s_changing", n, "a changing request", &text)]);
    }
    let before = world.records(&project);
    assert!(world.on(&project, &["compact"]).ok().starts_with("64 records, 0 expired"));
    let by_id = |records: &[Value]| -> BTreeMap<String, Value> {
        records.iter().map(|record| (record["doc_id"].to_string(), record.clone())).collect()
    };
    assert_eq!(by_id(&world.records(&project)), by_id(&before));
    assert!(!world.stores("3th time") && world.stores("4th time"));
}

#[test]
fn rank_evaluates_the_hand_written_corpus() {
    let world = World::bare();
    let tiny = tiny();
    let ran = world.run(&["rank", "--corpus", tiny.to_str().unwrap(), "--evaluate"]);
    assert!(ran.ok().contains("prompt") && ran.stderr.is_empty(), "{ran:?}");
    let run = world.run(&["rank", "--corpus", tiny.to_str().unwrap(), "--k", "5"]);
    assert!(run.ok().lines().all(|line| line.split_whitespace().count() == 6));
    assert!(run.stdout.lines().count() > 52);
    assert_eq!(world.run(&["rank", "--corpus", "/nonexistent"]).code, Some(1));
    assert!(!world.store().exists(), "ranking opens no store");
}

#[test]
fn usage_errors_are_2_and_help_and_version_0() {
    let world = World::bare();
    assert_eq!(world.run(&[]).code, Some(1), "a settings entry without its arguments must not block a prompt");
    for args in [&["nonsense"][..], &["show"], &["import"], &["forget"], &["rank"], &["status", "--nonsense"]] {
        let ran = world.run(args);
        assert!(ran.code == Some(2) && ran.stdout.is_empty() && !ran.stderr.is_empty(), "{args:?}: {ran:?}");
    }
    for args in [&["--help"][..], &["--version"], &["forget", "--help"]] {
        let ran = world.run(args);
        assert!(!ran.ok().is_empty() && ran.stderr.is_empty(), "{args:?}");
    }
    assert!(!world.store().exists());
}

#[test]
fn reader_that_goes_away_is_no_failure() {
    let (world, project) = seeded();
    let script = format!("'{}' export --project-dir '{}' | head -n 1", world::PROGRAM, project.display());
    let output = assert_cmd::Command::new("/bin/bash")
        .args(["-o", "pipefail", "-c", &script])
        .envs(&world.env)
        .output()
        .unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}
