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

/// All formats that are text, and what each begins with.
const TEXTS: [(&str, &str); 10] = [
    ("terminal", "hook:"),
    ("json", "{"),
    ("junit", "<?xml"),
    ("markdown", "## hookbench: FAIL"),
    ("html", "<!doctype html>"),
    ("github-summary", "## hookbench: FAIL"),
    ("github-annotations", "::error "),
    ("bmf", "{"),
    ("github-action-benchmark", "["),
    ("trec-run", "labels/ask Q0 retries 1 "),
];

#[test]
fn every_format_goes_to_a_file_as_it_goes_to_standard_output() {
    let bench = Bench::of(GOLDEN);
    rich(&bench);
    bench.rounds(6, &fake("recall"), "--out saved").code(1);
    for (format, begin) in TEXTS {
        let shown = stdout(&bench.call(&format!("report saved --to {format}")).code(1));
        assert!(shown.starts_with(begin), "{format}: {}", shown.get(..80).unwrap_or(&shown));
        let silent = bench.call(&format!("report saved --to {format} --output made.{format}")).code(1);
        assert_eq!(stdout(&silent) + &stderr(&silent), "", "{format}");
        assert_eq!(bench.read(&format!("made.{format}")), shown, "{format}");
    }
    assert_eq!(stdout(&bench.call("report saved --to trec-qrels").code(1)), "labels/ask 0 retries 3\n");
}

#[test]
fn json_of_services_is_json_of_the_shape_they_read() {
    let bench = Bench::of(GOLDEN);
    rich(&bench);
    bench.rounds(6, &fake("recall"), "--out saved").code(1);
    let read = |format: &str| -> Value {
        serde_json::from_str(&stdout(&bench.call(&format!("report saved --to {format}")).code(1))).unwrap()
    };
    let schema = serde_json::json!({ "additionalProperties": { "additionalProperties": {
        "type": "object",
        "properties": {
            "value": { "type": "number" }, "lower_value": { "type": "number" }, "upper_value": { "type": "number" }
        },
        "additionalProperties": false,
        "required": ["value"],
    }}});
    let bmf = read("bmf");
    assert!(jsonschema::validator_for(&schema).unwrap().is_valid(&bmf), "{bmf}");
    assert!(bmf["UserPromptSubmit"]["floor-wall-p50-us"]["value"].is_number(), "{bmf}");
    assert!(bmf.as_object().unwrap().keys().all(|name| name.len() <= 1024));
    assert!(bmf["UserPromptSubmit"].as_object().unwrap().keys().all(|name| name.len() <= 64));
    let entries = read("github-action-benchmark");
    let entry = serde_json::json!({
        "type": "object",
        "properties": {
            "name": { "type": "string" }, "unit": { "type": "string" }, "value": { "type": "number" },
            "range": { "type": "string" }, "extra": { "type": "string" }
        },
        "additionalProperties": false,
        "required": ["name", "unit", "value"],
    });
    let schema = serde_json::json!({ "type": "array", "minItems": 4, "items": entry });
    assert!(jsonschema::validator_for(&schema).unwrap().is_valid(&entries), "{entries}");
}

#[test]
fn annotations_name_the_line_of_the_step_and_of_the_gate() {
    let bench = Bench::of(GOLDEN);
    rich(&bench);
    bench.run(&fake("recall"), "").code(1);
    let lines = stdout(&bench.call("report --to github-annotations").code(1));
    let step = "::error title=empty/ask%3A not-empty,file=scenarios/empty/scenario.toml,line=6::";
    assert!(lines.lines().any(|line| line.starts_with(step)), "{lines}");
    let text = bench.read("scenarios/empty/scenario.toml");
    assert_eq!(text.lines().nth(5), Some("name = \"ask\""));
    bench.write("hookbench.toml", "[gates]\n# a bound nobody keeps\ntight = \"latency.wall.max <= 1us\"\n");
    bench.run(&fake("recall"), "").code(1);
    let lines = stdout(&bench.call("report --to github-annotations").code(1));
    assert!(lines.contains("title=gate tight%3A fail,file=hookbench.toml,line=3::"), "{lines}");
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_build_without_parquet_says_how_to_get_one() {
    let bench = Bench::of(ANY);
    bench.run("true", "").code(0);
    let refused = bench.call("report --to parquet --output calls.parquet").code(2);
    assert!(stderr(&refused).contains("cannot write Parquet"), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("--features parquet"), "{}", stderr(&refused));
    assert!(!bench.path("calls.parquet").exists());
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_goes_to_the_file() {
    let bench = Bench::of(ANY);
    bench.run("true", "").code(0);
    bench.call("report --to parquet --output calls.parquet").code(0);
    assert!(fs::read(bench.path("calls.parquet")).unwrap().starts_with(b"PAR1"));
}

#[test]
fn parquet_needs_a_file_and_a_file_needs_a_folder() {
    let bench = Bench::of(ANY);
    bench.run("true", "").code(0);
    let refused = bench.call("report --to parquet").code(2);
    assert!(stderr(&refused).contains("help: add --output FILE"), "{}", stderr(&refused));
    let refused = bench.call("report --to html --output no/such/report.html").code(2);
    assert!(stderr(&refused).contains("no/such/report.html: the report cannot be written"), "{}", stderr(&refused));
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
