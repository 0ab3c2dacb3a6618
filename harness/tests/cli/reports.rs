//! Saved runs and the reports made from them.

use std::fs;

use serde_json::Value;

use crate::bench::{ANY, Bench, GOLDEN, LAST, fake, stderr, stdout};

fn schema(bench: &Bench, format: &str) -> jsonschema::Validator {
    let printed = stdout(&bench.call(&format!("schema {format}")).code(0));
    jsonschema::validator_for(&serde_json::from_str(&printed).unwrap()).unwrap()
}

/// A run with findings, gates of all kinds and text.
fn rich(bench: &Bench) {
    bench.scenario("empty", &ANY.replace("\"any\"", "\"empty\""));
    bench.scenario("labels", &ANY.replace("\"any\"", "\"some\", relevant = { retries = 3 }"));
    bench.write(
        "hookbench.toml",
        r#"[gates]
right = "retrieval.recall@5 >= 0.9"
slow = "latency.cpu.p99 < 900s"
clean = "leak.count == 0"
better = "latency.cpu.p50 < +10% vs baseline"
"#,
    );
}

#[test]
fn report_of_a_saved_run_is_the_live_one_byte_for_byte() {
    let bench = Bench::of(GOLDEN);
    rich(&bench);
    let live = bench.rounds(2, &fake("recall"), "--out saved --junit junit.xml --markdown report.md").code(1);
    assert_eq!(stdout(&bench.call("report saved").code(1)), stdout(&live));
    assert_eq!(stdout(&bench.call("report saved --to terminal").code(1)), stdout(&live));
    assert_eq!(stdout(&bench.call("report saved --to junit").code(1)), bench.read("junit.xml"));
    assert_eq!(stdout(&bench.call("report saved --to markdown").code(1)), bench.read("report.md"));
    assert_eq!(stdout(&bench.call("report saved --to json").code(1)), bench.read("saved/summary.json"));
}

#[test]
fn json_on_stdout_is_the_saved_summary_and_keeps_to_its_schema() {
    let bench = Bench::of(GOLDEN);
    rich(&bench);
    let live = bench.run(&fake("recall"), "--json").code(1);
    assert_eq!(stderr(&live), "");
    assert_eq!(stdout(&live), bench.read(".hookbench/last/summary.json"));
    let summary: Value = serde_json::from_str(&stdout(&live)).unwrap();
    assert!(schema(&bench, "summary").is_valid(&summary));
    assert_eq!((&summary["exit_code"], &summary["verdict"]), (&Value::from(1), &Value::from("fail")));
    assert_eq!(stdout(&bench.call("report --to json").code(1)), stdout(&live));
}

#[test]
fn saved_events_keep_to_their_schema() {
    let bench = Bench::of(GOLDEN);
    rich(&bench);
    bench.run(&fake("recall"), "").code(1);
    let schema = schema(&bench, "events");
    let text = bench.read(&format!("{LAST}/events.jsonl"));
    assert!(text.lines().count() > 10);
    for line in text.lines() {
        assert!(schema.is_valid(&serde_json::from_str(line).unwrap()), "{line}");
    }
    assert!(!schema.is_valid(&serde_json::json!({ "event": "no-such-event" })));
}

#[test]
fn sample_with_every_key_keeps_to_the_schema_of_scenarios() {
    let bench = Bench::empty();
    let sample = format!("{}/src/scenario/sample_v1/scenario.toml", env!("CARGO_MANIFEST_DIR"));
    let scenario: Value = toml::from_str(&fs::read_to_string(sample).unwrap()).unwrap();
    let schema = schema(&bench, "scenario");
    let faults: Vec<String> = schema.iter_errors(&scenario).map(|fault| fault.to_string()).collect();
    assert_eq!(faults, Vec::<String>::new());
    let mut wrong = scenario;
    wrong["surprise"] = Value::from(1);
    assert!(!schema.is_valid(&wrong));
}

#[test]
fn an_occupied_folder_is_refused_and_left_alone() {
    let bench = Bench::of(ANY);
    bench.run("true", "--out saved").code(0);
    let before = bench.read("saved/events.jsonl");
    let refused = bench.run("true", "--out saved").code(2);
    assert!(stderr(&refused).contains("saved already holds a saved run"), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("help: name another folder with --out, or remove this one"));
    assert_eq!(bench.read("saved/events.jsonl"), before);
}

#[test]
fn the_last_run_is_replaced_by_the_next() {
    let bench = Bench::of(ANY);
    bench.run("true", "").code(0);
    bench.run("false", "").code(1);
    assert!(stdout(&bench.call("report").code(1)).contains("hook:    false"));
}

#[test]
fn what_is_no_saved_run_is_refused_with_a_remedy() {
    let bench = Bench::of(ANY);
    let none = bench.call("report").code(2);
    assert!(stderr(&none).contains(".hookbench/last/events.jsonl"), "{}", stderr(&none));
    bench.write("other/events.jsonl", "{\"some\":\"thing\"}\n");
    let other = bench.call("report other").code(2);
    assert!(stderr(&other).contains("other/events.jsonl:1: not a saved run"), "{}", stderr(&other));
    assert!(stderr(&other).contains("help: name a folder that `hookbench run --out` has written"));
    bench.run("true", "").code(0);
    let damaged =
        bench.read(&format!("{LAST}/events.jsonl")).replacen("\"event\":\"scenario-started\"", "\"event\":7", 1);
    bench.write(&format!("{LAST}/events.jsonl"), &damaged);
    let damaged = bench.call("report").code(2);
    assert!(stderr(&damaged).contains("events.jsonl:3: damaged line"), "{}", stderr(&damaged));
}

#[test]
fn a_run_that_was_cut_off_is_readable() {
    let bench = Bench::of(ANY);
    bench.run("true", "--out whole").code(0);
    let text = bench.read("whole/events.jsonl");
    bench.write("cut/events.jsonl", text.get(..text.len() - 40).unwrap());
    let seen = bench.call("report cut").code(130);
    assert!(stdout(&seen).contains("interrupted"), "{}", stdout(&seen));
}
