//! The doctor looks at the machine and tries the gates out on it.
//!
//! What a loaded machine shows in a few seconds is not known, so these tests know what must be there and which exit
//! codes go with which answers; the judgement itself is tested without processes.

use serde_json::Value;

use crate::bench::{ANY, Bench, GOLDEN, fake, stderr, stdout, word};

#[test]
fn the_machine_is_described() {
    let folder = Bench::empty();
    let seen = stdout(&folder.call("doctor --calls 60").code(0));
    for part in ["machine:  ", "floor:    a no-op takes ", "load:     ", "launcher: a no-op takes p50 ", "tool:     "] {
        assert!(seen.contains(part), "{part}: {seen}");
    }
    let json: Value = serde_json::from_str(&stdout(&folder.call("doctor --calls 60 --json").code(0))).unwrap();
    assert_eq!((&json["format"], &json["floor"]["n_calls"]), (&"hookbench-doctor".into(), &60.into()));
    assert!(json["launcher"]["wall_ratio"].as_f64().unwrap() > 0.0);
    assert!(json["self_test"].is_null());
    let schema: Value = serde_json::from_str(&stdout(&folder.call("schema doctor").code(0))).unwrap();
    assert!(jsonschema::validator_for(&schema).unwrap().is_valid(&json));
    assert_eq!(folder.tree(), [""; 0], "the doctor leaves nothing behind");
}

#[test]
fn the_self_test_answers_every_question_and_its_code_is_its_verdict() {
    let folder = Bench::empty();
    let line = "doctor --self-test --trials 2 --max-time 40s --calls 20 --save-rounds rounds.jsonl --rounds 3 --json";
    let seen = folder.call(line);
    let json: Value = serde_json::from_str(&stdout(&seen)).unwrap();
    let test = &json["self_test"];
    let want = match word(&test["verdict"]) {
        "pass" => 0,
        "fail" => 3,
        "inconclusive" => 4,
        other => panic!("{other}"),
    };
    assert_eq!(seen.get_output().status.code(), Some(want));
    let names: Vec<&str> = test["checks"].as_array().unwrap().iter().map(|check| word(&check["name"])).collect();
    assert_eq!(names, ["equal-hooks", "slower-hook", "silent-hook"]);
    // Machine or not: the sample's golden has text, and a hook that does nothing has none.
    assert_eq!(test["checks"][2]["verdict"], "pass");
    assert!(test["burn_us"].as_u64().unwrap() >= 300, "a tenth of at least the 3 ms that the sample burns: {test}");
    let rounds = folder.read("rounds.jsonl");
    let rounds: Vec<Value> = rounds.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let place = |row: &Value| (row["round"].as_u64().unwrap(), row["metric"].as_str().unwrap().to_owned());
    let want: Vec<_> = (1..=3).flat_map(|round| ["cpu", "wall"].map(|metric| (round, metric.to_owned()))).collect();
    assert_eq!(rounds.iter().map(place).collect::<Vec<_>>(), want);
    for key in ["baseline_us", "candidate_us", "slow_us", "noop_us"] {
        assert!(rounds.iter().all(|row| row[key].as_u64().unwrap() > 0), "{key}: {rounds:?}");
    }
    assert_eq!(folder.tree(), ["rounds.jsonl"]);
}

#[test]
fn a_scenario_that_expects_nothing_is_found_out() {
    let folder = Bench::of(ANY);
    let args = ["doctor", "--self-test", "--trials", "1", "--max-time", "1s", "--calls", "20", "one", "--hook"];
    let seen = folder.hookbench().args(args).arg(fake("recall")).assert().code(3);
    assert!(stdout(&seen).contains("a hook that does nothing: wrong in 0 of 1 steps"), "{}", stdout(&seen));
    assert!(stdout(&seen).contains("do: expect something of the hook's text"), "{}", stdout(&seen));

    // A golden that is still to be recorded is no proof either way, and the self-test does not record it.
    let folder = Bench::of(GOLDEN);
    let seen = folder.hookbench().args(args).arg(fake("recall")).assert();
    assert!(stdout(&seen).contains("INCONCLUSIVE  silent-hook"), "{}", stdout(&seen));
    assert!(!folder.path("scenarios/one/golden").exists());
}

#[test]
fn scenarios_need_their_hook() {
    let seen = Bench::of(ANY).call("doctor --self-test one").code(2);
    assert!(stderr(&seen).contains("name a hook with --hook"), "{}", stderr(&seen));
    Bench::empty().call("doctor --trials 3").code(2);
}
