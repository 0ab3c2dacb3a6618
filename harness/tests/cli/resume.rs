//! A run that was stopped goes on and ends as if nothing had been.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::bench::{ANY, Bench, stderr, stdout, word};

/// Much longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);

fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "waited for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A hook that answers the same always, and hangs at its `stops_at`-th call until the file `go` is there.
fn hook(bench: &Bench, stops_at: u32) -> String {
    format!(
        "cd '{}'; echo x >> calls; if [ $(wc -l < calls) = {stops_at} ] && [ ! -e go ]; then touch hangs; sleep 60; fi; \
         echo answer",
        bench.path("").display()
    )
}

/// Runs `--repeat 3` and interrupts it in the `stops_at`-th call.
fn interrupted(bench: &Bench, hook: &str, jobs: &str) {
    let mut run = Command::new(env!("CARGO_BIN_EXE_hookbench"))
        .args(["run", "--repeat", "3", "--out", "saved", "--jobs", jobs, "--hook", hook])
        .current_dir(bench.path(""))
        .env("TMPDIR", bench.path("tmp"))
        .env_remove("CI")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for("the hanging call", || bench.path("hangs").exists());
    Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap();
    wait_for("the end of the run", || run.try_wait().unwrap().is_some());
    assert_eq!(run.wait().unwrap().code(), Some(130));
    bench.write("go", "");
}

fn three() -> Bench {
    let bench = Bench::empty();
    let two_steps = format!("{ANY}{}", ANY.replace("name = \"ask\"", "name = \"again\""));
    for name in ["a", "b", "c"] {
        bench.scenario(name, &two_steps);
    }
    bench
}

/// Calls as `scenario/step round`, sorted.
fn calls(bench: &Bench, run: &str) -> Vec<String> {
    let steps = bench.events(run).into_iter().filter(|event| event["event"] == "step-finished");
    let mut calls: Vec<String> = steps
        .map(|event| {
            let data = &event["data"];
            format!("{}/{} {}", word(&data["scenario"]), word(&data["step"]), data["round"])
        })
        .collect();
    calls.sort();
    calls
}

fn stop_and_go(jobs: &str, stops_at: u32) {
    let bench = three();
    let hook = hook(&bench, stops_at);
    interrupted(&bench, &hook, jobs);
    // Power cuts tear the last line.
    let torn = format!("{}{{\"event\":\"step-finished\",\"data\":{{\"scen", bench.read("saved/events.jsonl"));
    bench.write("saved/events.jsonl", &torn);
    let kept: Vec<String> = torn.lines().map(str::to_owned).collect();
    let gate = "--gate timeout.count==0";
    let seen = bench.rounds(3, &hook, &format!("--resume saved --jobs {jobs} {gate}")).code(0);
    assert!(stderr(&seen).contains("note: going on after"), "{}", stderr(&seen));
    assert!(
        stdout(&seen).contains("PASS (exit 0): 0 of 6 steps with findings, 3 scenarios, 18 calls"),
        "{}",
        stdout(&seen)
    );

    bench.rounds(3, &hook, &format!("--out whole {gate}")).code(0);
    assert_eq!(calls(&bench, "saved"), calls(&bench, "whole"));
    let events = bench.read("saved/events.jsonl");
    let from_before = events.lines().filter(|line| kept.iter().any(|known| known == line)).count();
    assert!(from_before > 2, "whole rounds are not replayed");
    let starts = bench.events("saved").into_iter().filter(|event| event["event"] == "run-started").count();
    assert_eq!(starts, 1);
    let summary: Value = serde_json::from_str(&bench.read("saved/summary.json")).unwrap();
    assert!(summary["scenarios"].as_array().unwrap().iter().all(|scenario| scenario["n_rounds"] == 3), "{summary}");
    assert_eq!(summary["gates"][0]["verdict"], "pass");

    // Once more: nothing is left to do.
    let seen = bench.rounds(3, &hook, "--resume saved --json").code(0);
    assert!(stderr(&seen).contains("note: the run is complete already: nothing was replayed"), "{}", stderr(&seen));
    assert_eq!(stdout(&seen), bench.read("saved/summary.json"));
    assert_eq!(bench.read("saved/events.jsonl"), events);
}

#[test]
fn a_run_stopped_in_its_second_round_goes_on_to_its_end() {
    stop_and_go("1", 9);
}

#[test]
fn scenarios_side_by_side_are_kept_one_by_one() {
    stop_and_go("2", 12);
}

#[test]
fn rounds_before_the_stop_still_count_for_determinism() {
    let bench = three();
    let hook = hook(&bench, 13);
    interrupted(&bench, &hook, "1");
    // All of rounds 0 and 1 is there; what comes now says something else under the same command line.
    let changed = bench.read("saved/events.jsonl").replace("\"delivered\":\"answer", "\"delivered\":\"another");
    assert!(changed.contains("another"));
    bench.write("saved/events.jsonl", &changed);
    let seen = bench.rounds(3, &hook, "--resume saved").code(1);
    assert!(stdout(&seen).contains("a/ask: not-deterministic (1 call)"), "{}", stdout(&seen));
}

#[test]
fn a_run_of_another_plan_is_refused_and_left_alone() {
    let bench = three();
    let hook = hook(&bench, 3);
    interrupted(&bench, &hook, "1");
    let before = bench.read("saved/events.jsonl");
    let refused = |seen: assert_cmd::assert::Assert, said: &str| {
        let seen = seen.code(2);
        assert!(stderr(&seen).contains(said), "{}", stderr(&seen));
        assert_eq!(bench.read("saved/events.jsonl"), before);
    };
    refused(bench.rounds(3, "true", "--resume saved"), "the hook was `");
    refused(bench.rounds(4, &hook, "--resume saved"), "--repeat was `3` and is `4`");
    refused(bench.rounds(3, &hook, "--resume saved --seed 9"), "--seed was `1` and is `9`");
    refused(bench.rounds(3, &hook, "a b --resume saved"), "the scenarios was `a, b, c` and is `a, b`");
    refused(bench.rounds(3, &hook, "--host 2.1.197 --resume saved"), "the client was `");
    refused(bench.rounds(3, &hook, "--shard 1/2 --resume saved"), "--shard was `the whole` and is `1/2`");
    refused(bench.rounds(3, &hook, "--resume saved --out other"), "cannot be used with");
    refused(bench.rounds(3, &hook, "--resume nowhere"), "nowhere/events.jsonl");
}
