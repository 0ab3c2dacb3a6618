//! Parts of a run on several jobs, and the whole that they make.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::bench::{ANY, Bench, GOLDEN, fake, stderr, stdout, word};

/// Six scenarios of one to three steps; one misses its golden.
fn six() -> Bench {
    let bench = Bench::empty();
    for name in ["a", "b", "c", "d"] {
        bench.scenario(name, ANY);
    }
    bench.scenario(
        "long",
        &format!("{ANY}{}{}", ANY.replace("\"ask\"\np", "\"two\"\np"), ANY.replace("\"ask\"\np", "\"three\"\np")),
    );
    bench.scenario("golden", GOLDEN);
    bench
}

fn scenarios(bench: &Bench, run: &str) -> Vec<String> {
    let header = &bench.events(run)[0]["data"];
    header["scenarios"].as_array().unwrap().iter().map(|name| word(name).to_owned()).collect()
}

/// Everything in a summary but times, and what follows from them.
fn without_times(mut value: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(map) => {
                map.retain(|key, _| {
                    !(key.ends_with("_us")
                        || key.ends_with("histogram")
                        || key.contains("ratio")
                        || key.contains("memory")
                        || key == "contention"
                        || key == "machine")
                });
                map.values_mut().for_each(strip);
            }
            Value::Array(values) => values.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut value);
    value
}

fn summary(bench: &Bench, run: &str) -> Value {
    serde_json::from_str(&bench.read(&format!("{run}/summary.json"))).unwrap()
}

/// All calls by scenario, step and round, without times: what was delivered and found.
fn calls(bench: &Bench, run: &str) -> BTreeSet<String> {
    let steps = bench.events(run).into_iter().filter(|event| event["event"] == "step-finished");
    steps
        .map(|event| {
            let data = &event["data"];
            let keys = ["scenario", "step", "index", "round", "delivered", "decision", "injected_bytes", "findings"];
            keys.map(|key| data[key].to_string()).join(" ")
        })
        .collect()
}

#[test]
fn four_parts_merged_equal_the_whole_run_but_for_times() {
    let bench = six();
    let gates = "--gate quiet:timeout.count==0 --gate budget.bytes.sum<=40 --gate golden.failed==0";
    bench.rounds(3, &fake("recall"), &format!("--out whole {gates}")).code(1);
    for part in 1..=4 {
        let ends = bench.rounds(3, &fake("recall"), &format!("--out part{part} --shard {part}/4 {gates}"));
        let has_golden = scenarios(&bench, &format!("part{part}")).contains(&"golden".to_owned());
        ends.code(if has_golden { 1 } else { 0 });
        let gates = summary(&bench, &format!("part{part}"))["gates"].clone();
        assert!(gates.as_array().unwrap().iter().all(|gate| gate["verdict"] == "skipped"), "{gates}");
    }
    let merged = bench.call("merge part3 part1 part4/events.jsonl part2 --out merged --json").code(1);
    assert_eq!(stderr(&merged), "");
    let printed: Value = serde_json::from_str(&stdout(&merged)).unwrap();
    assert_eq!(printed, summary(&bench, "merged"));
    let whole = without_times(summary(&bench, "whole"));
    assert_eq!(without_times(printed), whole);
    assert_eq!(whole["gates"].as_array().unwrap().len(), 3);
    assert_ne!(whole["gates"][1]["verdict"], "skipped", "the gate on a sum is judged over the whole: {whole}");
    assert_eq!(calls(&bench, "merged"), calls(&bench, "whole"));
    assert_eq!(calls(&bench, "whole").len(), 3 * 8);
    // The report of the merged run is made from its events like any other.
    bench.call("report merged").code(1);
    assert_eq!(stdout(&bench.call("report merged --to json").code(1)), bench.read("merged/summary.json"));
}

/// Cuts a saved run into `total` parts, scenario by scenario, as its lines stand in the file.
fn cut(bench: &Bench, run: &str, total: usize, machine: impl Fn(usize) -> Option<&'static str>) {
    let text = bench.read(&format!("{run}/events.jsonl"));
    let whole = scenarios(bench, run);
    for part in 0..total {
        let own: Vec<&String> = whole.iter().skip(part).step_by(total).collect();
        let mut lines = Vec::new();
        for line in text.lines() {
            let mut event: Value = serde_json::from_str(line).unwrap();
            let data = &mut event["data"];
            match data["scenario"].as_str().map(str::to_owned) {
                Some(scenario) if !own.contains(&&scenario) => continue,
                None if data["scenarios"].is_array() => {
                    data["scenarios"] = own.iter().map(|name| name.as_str()).collect();
                    data["shard"] = serde_json::json!({"index": part + 1, "total": total, "whole": whole});
                    if let Some(machine) = machine(part) {
                        data["machine"] = machine.into();
                    }
                    lines.push(event.to_string());
                }
                _ => lines.push(line.to_owned()),
            }
        }
        bench.write(&format!("cut{}/events.jsonl", part + 1), &(lines.join("\n") + "\n"));
    }
}

#[test]
fn one_run_cut_into_four_and_merged_has_the_same_figures_to_the_last_byte() {
    let bench = six();
    let gates = [
        "latency.wall.p50<=900s",
        "latency.cpu.p95<=1us",
        "latency.wall.p90<=900x vs noop",
        "latency.wall.p50[scenario=long]<=900s",
        "budget.bytes.sum<=1",
        "golden.failed==0",
        "memory.peak<=900GiB",
        "latency.cpu.p50 < +10% vs baseline",
    ];
    let flags = gates.iter().flat_map(|gate| ["--gate", gate]);
    bench.hookbench().args(["run", "--hook", &fake("recall"), "--out", "whole"]).args(flags).assert().code(1);
    cut(&bench, "whole", 4, |_| None);
    bench.call("merge cut4 cut2 cut1 cut3 --out merged").code(1);
    assert_eq!(bench.read("merged/summary.json"), bench.read("whole/summary.json"));
    let verdicts: BTreeSet<String> = summary(&bench, "whole")["gates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|gate| word(&gate["verdict"]).to_owned())
        .collect();
    assert!(verdicts.len() >= 3, "gates of several answers: {verdicts:?}");
}

#[test]
fn times_of_two_machines_are_told_apart_in_gates_and_reports() {
    let bench = six();
    let gates = ["--gate", "time:latency.wall.p50<=900s", "--gate", "ratio:latency.wall.p50<=900x vs noop"];
    bench.hookbench().args(["run", "--hook", &fake("recall"), "--out", "whole"]).args(gates).assert().code(1);
    cut(&bench, "whole", 2, |part| Some(["box A", "box B"][part]));
    let text = stdout(&bench.call("merge cut1 cut2 --out merged").code(1));
    assert!(text.contains("machine @1: box A\nmachine @2: box B\n"), "{text}");
    assert!(text.contains(" UserPromptSubmit @1 ") && text.contains(" UserPromptSubmit @2 "), "{text}");
    let merged = summary(&bench, "merged");
    let verdict = |at: usize| word(&merged["gates"][at]["verdict"]);
    assert_eq!((verdict(0), verdict(1)), ("skipped", "pass"), "{merged}");
    assert!(word(&merged["gates"][0]["reason"]).contains("2 different machines (box A; box B)"), "{merged}");
    assert_eq!(merged["machines"].as_array().unwrap().len(), 2);
    let text = stdout(&bench.call("compare merged merged").code(0));
    assert!(text.contains("Times: not compared, because a run was merged from several machines"), "{text}");
}

#[test]
fn parts_keep_the_order_of_the_whole() {
    let bench = six();
    bench.rounds(2, "true", "--out whole").code(1);
    let order = |run: &str| -> Vec<String> {
        let starts = bench.events(run).into_iter().filter(|event| event["event"] == "scenario-started");
        starts.map(|event| format!("{} {}", event["data"]["round"], word(&event["data"]["scenario"]))).collect()
    };
    let whole = order("whole");
    for part in ["1", "2"] {
        bench.rounds(2, "true", &format!("--out part{part} --shard {part}/2"));
        let part = order(&format!("part{part}"));
        let expected: Vec<String> = whole.iter().filter(|start| part.contains(start)).cloned().collect();
        assert_eq!(part, expected);
    }
}

#[test]
fn a_missing_part_is_named_and_partial_takes_what_is_there() {
    let bench = six();
    for part in ["1", "3"] {
        bench.run("true", &format!("--out part{part} --shard {part}/3"));
    }
    let seen = bench.call("merge part1 part3 --out merged").code(2);
    assert!(stderr(&seen).contains("missing of 3 parts: 2 (scenarios "), "{}", stderr(&seen));
    assert!(!bench.path("merged").exists());
    let seen = bench.call("merge part1 part3 --out merged --partial").code(1);
    assert!(stderr(&seen).contains("note: missing of 3 parts: 2"), "{}", stderr(&seen));
    let both = [scenarios(&bench, "part1"), scenarios(&bench, "part3")].concat();
    assert_eq!(scenarios(&bench, "merged").len(), 6);
    for scenario in summary(&bench, "merged")["scenarios"].as_array().unwrap() {
        let has_run = both.contains(&word(&scenario["name"]).to_owned());
        assert_eq!(scenario["state"] == "incomplete", !has_run, "{scenario}");
    }
}

#[test]
fn a_spare_part_is_green_says_so_and_merges() {
    let bench = Bench::of(ANY);
    let spare = bench.run("true", "--out spare --shard 2/2").code(0);
    assert!(stderr(&spare).contains("note: this part has no scenario"), "{}", stderr(&spare));
    assert!(stdout(&spare).contains("SKIPPED (exit 0): this part has no scenario"), "{}", stdout(&spare));
    bench.run("true", "--out full --shard 1/2").code(0);
    let seen = bench.call("merge spare full").code(0);
    assert_eq!(stderr(&seen), "");
    assert!(stdout(&seen).contains("PASS (exit 0): 0 of 1 step"), "{}", stdout(&seen));
    assert_eq!(scenarios(&bench, ".hookbench/merged"), ["one"]);
    // The default folder is replaced, unless it is read.
    bench.call("merge spare full").code(0);
    let seen = bench.call("merge .hookbench/merged full").code(2);
    assert!(stderr(&seen).contains("merged from others already"), "{}", stderr(&seen));
    bench.call("merge spare full --out full").code(2);
}

#[test]
fn auto_reads_the_environment_or_says_that_it_is_the_whole() {
    let bench = six();
    let auto = |out: &str, variables: &[(&str, &str)]| {
        let names = ["HOOKBENCH_SHARD", "CI_NODE_INDEX", "CIRCLE_NODE_INDEX", "BUILDKITE_PARALLEL_JOB"];
        let mut command = bench.hookbench();
        for name in names.into_iter().chain(["JOB_COMPLETION_INDEX", "SLURM_ARRAY_TASK_ID"]) {
            command.env_remove(name);
        }
        command.envs(variables.iter().copied());
        command.args(["run", "--repeat", "1", "--hook", "true", "--shard", "auto", "--out", out]).assert()
    };
    let whole = auto("whole", &[]).code(1);
    assert!(stderr(&whole).contains("note: --shard auto: no variable names a part"), "{}", stderr(&whole));
    assert_eq!(scenarios(&bench, "whole").len(), 6);
    assert_eq!(bench.events("whole")[0]["data"]["shard"], Value::Null);
    let part = auto("part", &[("CIRCLE_NODE_INDEX", "1"), ("CIRCLE_NODE_TOTAL", "3")]);
    assert_eq!(stderr(&part), "");
    let shard = &bench.events("part")[0]["data"]["shard"];
    assert_eq!((&shard["index"], &shard["total"]), (&Value::from(2), &Value::from(3)));
    let wrong = auto("wrong", &[("JOB_COMPLETION_INDEX", "1")]).code(2);
    assert!(stderr(&wrong).contains("HOOKBENCH_SHARD_TOTAL: is not set"), "{}", stderr(&wrong));
    let wrong = bench.run("true", "--shard 4/3").code(2);
    assert!(stderr(&wrong).contains("write K/N"), "{}", stderr(&wrong));
}

#[test]
fn gates_given_to_merge_join_those_of_the_parts() {
    let bench = six();
    for part in ["1", "2"] {
        let gates = "--gate a:timeout.count==0 --gate b:leak.count==0";
        bench.run(&fake("recall"), &format!("--out part{part} --shard {part}/2 {gates}"));
    }
    bench.call("merge part1 part2 --out merged --gate a:timeout.count==1 --gate c:flaky.count==0").code(1);
    let gates = summary(&bench, "merged")["gates"].clone();
    let answers: Vec<(&str, &str, &str)> = gates
        .as_array()
        .unwrap()
        .iter()
        .map(|gate| (word(&gate["name"]), word(&gate["expression"]), word(&gate["verdict"])))
        .collect();
    assert_eq!(
        answers,
        [("a", "timeout.count==1", "fail"), ("b", "leak.count==0", "pass"), ("c", "flaky.count==0", "pass")]
    );
    bench.call("merge part1 part2 --out bare --no-gates").code(1);
    assert_eq!(summary(&bench, "bare")["gates"], Value::Array(Vec::new()));
}

#[test]
fn rounds_of_repetitions_are_appended() {
    let bench = Bench::of(ANY);
    bench.rounds(2, "true", "--out first").code(0);
    bench.rounds(3, "true", "--out second --seed 2").code(0);
    let seen = bench.call("merge first second --rounds --out both --gate latency.wall.p50<=900s").code(0);
    assert!(stdout(&seen).contains("PASS"), "{}", stdout(&seen));
    assert_eq!(summary(&bench, "both")["run"]["repeat"], 5);
    let seen = bench.call("merge first second").code(2);
    assert!(stderr(&seen).contains("merged with --rounds"), "{}", stderr(&seen));
    bench.rounds(2, "true", "--out third").code(0);
    let seen = bench.call("merge first third").code(2);
    assert!(stderr(&seen).contains("scenario `one` is in first already"), "{}", stderr(&seen));
}

#[test]
fn what_is_no_saved_run_is_refused() {
    let bench = Bench::empty();
    let seen = bench.call("merge nowhere").code(2);
    assert!(stderr(&seen).contains("nowhere/events.jsonl"), "{}", stderr(&seen));
    bench.call("merge").code(2);
}
