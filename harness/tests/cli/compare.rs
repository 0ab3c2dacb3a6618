//! `hookbench compare` of two saved runs.

use serde_json::Value;

use crate::bench::{ANY, Bench, stderr, stdout, word};

#[test]
fn a_hook_that_says_something_else_is_told_and_is_no_fault() {
    let bench = Bench::of(ANY);
    bench.rounds(5, "echo one", "--out before").code(0);
    bench.rounds(5, "echo other", "--out after").code(0);
    let seen = bench.call("compare before after").code(0);
    let text = stdout(&seen);
    assert!(text.contains("one/ask: text differs from line 1; "), "{text}");
    assert!(text.contains("Times (unpaired"), "{text}");
    assert!(text.contains("PASS (exit 0): 1 step in both runs, 1 changed, 0 newly failing"), "{text}");
    let same = stdout(&bench.call("compare before before").code(0));
    assert!(same.contains("0 changed"), "{same}");
}

#[test]
fn a_step_that_broke_is_code_1_and_json_satisfies_the_schema() {
    let bench = Bench::of(ANY);
    bench.run("true", "--out before").code(0);
    bench.run("exit 3", "--out after").code(1);
    let seen = bench.call("compare before after --json").code(1);
    let value: Value = serde_json::from_str(&stdout(&seen)).unwrap();
    assert_eq!(value["exit_code"], 1);
    assert_eq!(value["changes"][0]["passed"], serde_json::json!({"before": true, "after": false}));
    assert_eq!(word(&value["before"]["hook_command"]), "true");
    let schema: Value = serde_json::from_str(&stdout(&bench.call("schema comparison").code(0))).unwrap();
    assert!(jsonschema::validator_for(&schema).unwrap().is_valid(&value));
    bench.call("compare after before").code(0);
}

#[test]
fn times_of_another_machine_are_refused_with_the_reason() {
    let bench = Bench::of(ANY);
    bench.run("true", "--out before").code(0);
    bench.run("true", "--out after").code(0);
    let machine = word(&bench.events("after")[0]["data"]["machine"]).to_owned();
    bench.write("after/events.jsonl", &bench.read("after/events.jsonl").replace(&machine, "another machine"));
    let text = stdout(&bench.call("compare before after").code(0));
    assert!(text.contains("Times: not compared, because the runs were made on different machines"), "{text}");
}

#[test]
fn runs_without_a_common_step_and_folders_without_a_run() {
    let bench = Bench::of(ANY);
    bench.scenario("two", ANY);
    bench.run("true", "one --out one").code(0);
    bench.run("true", "two --out two").code(0);
    let seen = bench.call("compare one two").code(5);
    assert!(stdout(&seen).contains("no step in common"), "{}", stdout(&seen));
    let seen = bench.call("compare one nowhere").code(2);
    assert!(stderr(&seen).contains("nowhere/events.jsonl"), "{}", stderr(&seen));
}
