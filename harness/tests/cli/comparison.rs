//! Two hooks in interleaved rounds: what is saved, what is said, and what the exit code is.
//!
//! No test knows how long anything takes: equal hooks may pass or stay undecided, and the slower one does ten times the
//! work.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::bench::{ANY, Bench, GOLDEN, LAST, fake, stderr, stdout, word};
use crate::interrupt::wait_for;

/// A hook that counts this far.
fn counting(to: u32) -> String {
    format!("n=0; while [ \"$n\" -lt {to} ]; do n=$((n + 1)); done")
}

fn bench(bench: &Bench, hook: &str, baseline: &str, line: &str) -> assert_cmd::assert::Assert {
    let args = ["bench", "--hook", hook, "--baseline", baseline];
    bench.hookbench().args(args).args(line.split_whitespace()).assert()
}

/// Events of one kind in a saved run.
fn data(bench: &Bench, run: &str, kind: &str) -> Vec<Value> {
    bench.events(run).into_iter().filter(|event| event["event"] == kind).map(|mut event| event["data"].take()).collect()
}

/// Number of calls of each arm: candidate, baseline.
fn calls(bench: &Bench, run: &str) -> (usize, usize) {
    let results = data(bench, run, "step-finished");
    let n = |arm: &str| results.iter().filter(|result| result["arm"] == arm).count();
    (n("candidate"), n("baseline"))
}

#[test]
fn a_hook_against_itself_saves_both_arms_and_every_report_is_the_saved_one() {
    let folder = Bench::of(ANY);
    let seen = bench(&folder, &fake("recall"), &fake("recall"), "--pairs 20 --markdown page.md");
    let live = stdout(&seen);
    assert!(matches!(seen.get_output().status.code(), Some(0)), "{live}");
    assert_eq!(calls(&folder, LAST), (22, 22));
    assert_eq!(data(&folder, LAST, "floor-measured").len(), 22, "a floor beside every step");
    let header = data(&folder, LAST, "run-started").remove(0);
    assert_eq!((&header["baseline_command"], &header["n_cold_rounds"]), (&fake("recall").into(), &2.into()));
    let gates = data(&folder, LAST, "gate-judged");
    let names: Vec<&str> = gates.iter().map(|gate| word(&gate["name"])).collect();
    assert_eq!(names, ["cpu", "wall"], "the default gates stand in the run");
    assert!(gates.iter().all(|gate| gate["verdict"] != "skipped"), "{gates:?}");
    for part in ["against: ", "rounds:  2 cold, 20 warm", "Comparison", "one/ask  wall", "peak memory"] {
        assert!(live.contains(part), "{part}: {live}");
    }
    assert_eq!(stdout(&folder.call("report")), live);
    assert_eq!(stdout(&folder.call("report --to markdown")), folder.read("page.md"));
}

#[test]
fn ten_times_the_work_fails_and_was_confirmed() {
    let folder = Bench::of(ANY);
    let gate = "slow: latency.cpu.p50 < +10% vs baseline";
    let args = ["bench", "--hook", &counting(20_000), "--baseline", &counting(2_000), "--gate", gate];
    let seen = folder.hookbench().args(args).args(["--pairs", "20"]).assert().code(3);
    let confirmations = data(&folder, LAST, "confirm-started");
    assert_eq!(confirmations.len(), 1);
    assert_eq!(confirmations[0]["round"], 22);
    assert_ne!(confirmations[0]["seed"], 1, "a confirmation has orders of its own");
    assert_eq!(calls(&folder, LAST), (62, 62), "2 cold, 20 to fail, 40 to confirm");
    let gates = data(&folder, LAST, "gate-judged");
    assert_eq!(gates.len(), 1, "a gate against the baseline takes the place of the default ones");
    assert_eq!((word(&gates[0]["name"]), word(&gates[0]["verdict"])), ("slow", "fail"));
    assert!(stdout(&seen).contains("2 cold, 60 warm (40 to confirm)"), "{}", stdout(&seen));
}

#[test]
fn auto_measures_until_the_gate_knows_enough() {
    let folder = Bench::of(ANY);
    // So wide a bound is met at the first look, whatever the load.
    let args = ["bench", "--hook", "true", "--baseline", "true", "--gate", "latency.cpu.p50 < +900% vs baseline"];
    folder.hookbench().args(args).assert().code(0);
    assert_eq!(calls(&folder, LAST), (22, 22));
}

#[test]
fn time_ends_a_comparison_with_at_least_one_pair() {
    let folder = Bench::of(ANY);
    bench(&folder, "true", "true", "--max-time 1ms").code(0);
    assert_eq!(calls(&folder, LAST), (3, 3));
    assert!(data(&folder, LAST, "gate-judged").iter().all(|gate| gate["verdict"] == "inconclusive"));
    bench(&folder, "true", "true", "--max-time 1ms --strict").code(4);
}

#[test]
fn the_baseline_writes_no_golden_and_its_findings_fail_nothing() {
    let folder = Bench::of(GOLDEN);
    folder.write("scenarios/one/golden/ask.txt", "");
    bench(&folder, "true", &fake("recall"), "--pairs 3 --no-gates").code(0);
    assert!(!folder.path("scenarios/one/golden/ask.txt.new").exists());
    assert!(data(&folder, LAST, "gate-judged").is_empty());

    let seen = bench(&folder, &fake("recall"), "true", "--pairs 3 --no-gates").code(1);
    assert_eq!(folder.read("scenarios/one/golden/ask.txt.new"), "Earlier decision: retries are capped at three.");
    assert!(stdout(&seen).contains("odd: one/ask: the candidate says something, the baseline nothing"));
}

#[test]
fn a_baseline_that_never_works_is_refused_at_the_first_pair() {
    let folder = Bench::of(ANY);
    for (baseline, how) in [("/no/such/hook", "seen 127"), ("kill -SEGV $$", "signal 11"), ("exit 1", "seen 1")] {
        let seen = bench(&folder, "true", baseline, "").code(2);
        assert!(stderr(&seen).contains("the baseline failed every call of one/ask (3 of 3)"), "{}", stderr(&seen));
        assert!(stderr(&seen).contains(how), "{}", stderr(&seen));
        assert_eq!(calls(&folder, LAST), (3, 3));
    }
    let seen = bench(&folder, "true", " ", "").code(2);
    assert!(stderr(&seen).contains("--baseline: it is empty"), "{}", stderr(&seen));
}

#[test]
fn a_saved_run_of_a_broken_hook_is_no_baseline_and_one_that_works_only_warns() {
    let folder = Bench::of(ANY);
    folder.hookbench().args(["run", "--hook", "/no/such/hook", "--out", "broken"]).assert().code(1);
    let seen = bench(&folder, "true", "run:broken", "").code(2);
    assert!(stderr(&seen).contains("every call of one/ask failed in it"), "{}", stderr(&seen));
    folder.hookbench().args(["run", "--hook", "true", "--out", "sound"]).assert().code(0);
    let slow = "n=0; while [ $n -lt 300000 ]; do n=$((n + 1)); done";
    let seen = bench(&folder, slow, "run:sound", "--pairs 5").code(0);
    assert!(stdout(&seen).contains("stored times differ by themselves"), "{}", stdout(&seen));
}

#[test]
fn a_baseline_that_fails_now_and_then_is_told() {
    let folder = Bench::of(ANY);
    let note = folder.path("failed");
    let once = format!("mkdir '{}' 2>/dev/null && exit 1; exit 0", note.display());
    let seen = bench(&folder, "true", &once, "--pairs 3 --no-gates").code(0);
    assert!(stdout(&seen).contains("odd: one/ask: the baseline failed 1 of 5 calls"), "{}", stdout(&seen));
}

#[test]
fn rows_are_those_of_the_instruments() {
    let folder = Bench::of(ANY);
    let seen = stdout(&bench(&folder, "true", "true", "--pairs 5 --no-gates --instruments cpu").code(0));
    let comparison = seen.split("Comparison").nth(1).unwrap().split("\n\n").next().unwrap();
    assert!(comparison.contains("one/ask  cpu") && !comparison.contains("wall "), "{comparison}");
    bench(&folder, "true", "true", "--instruments speed").code(2);
    for wrong in ["--pairs 0", "--pairs some", "--max-time soon", "--max-time 0s"] {
        bench(&folder, "true", "true", wrong).code(2);
    }
}

#[test]
fn scenarios_of_another_client_compare_nothing() {
    let folder = Bench::empty();
    folder.scenario("one", &format!("host = \">=2.1.300\"\n{ANY}"));
    let seen = bench(&folder, "true", "true", "--host 2.1.197").code(5);
    assert!(stdout(&seen).contains("no scenario matched"), "{}", stdout(&seen));
}

#[test]
fn scenarios_of_one_seed_come_in_one_order() {
    let order = |seed: &str| {
        let folder = Bench::of(ANY);
        ["two", "three", "four"].iter().for_each(|name| folder.scenario(name, ANY));
        bench(&folder, "true", "true", &format!("--pairs 4 --no-gates --seed {seed}")).code(0);
        let calls = data(&folder, LAST, "step-finished");
        calls.iter().map(|call| format!("{} {}", word(&call["scenario"]), word(&call["arm"]))).collect::<Vec<_>>()
    };
    let first = order("1");
    assert_eq!(first, order("1"));
    assert_ne!(first, order("2"));
    let rounds: Vec<_> = first.chunks(8).collect();
    assert_eq!(rounds.len(), 6);
    assert!(rounds.windows(2).all(|two| two[0] != two[1]), "{rounds:?}");
}

#[test]
fn a_stopped_comparison_keeps_both_arms() {
    let folder = Bench::of(ANY);
    let note = folder.path("third");
    // The first two rounds answer at once; in the third, whoever comes first lets the other pass and waits.
    let hook = format!(
        "for n in 1 2 3 4; do mkdir '{0}.'$n 2>/dev/null && exit 0; done; touch '{0}'; sleep 60",
        note.display()
    );
    let mut run = Command::new(env!("CARGO_BIN_EXE_hookbench"))
        .args(["bench", "--hook", &hook, "--baseline", &hook, "--out", "saved"])
        .current_dir(folder.path(""))
        .env("TMPDIR", folder.path("tmp"))
        .env_remove("CI")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for("the third round", || note.exists());
    Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap();
    wait_for("the end of the run", || run.try_wait().unwrap().is_some());
    let output = run.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    let live = String::from_utf8(output.stdout).unwrap();
    assert!(live.contains("interrupted"), "{live}");
    assert_eq!(calls(&folder, "saved"), (2, 2), "only calls that ended by themselves are told");
    assert_eq!(stdout(&folder.call("report saved").code(130)), live);
    assert!(!folder.tree().iter().any(|path| path.starts_with("tmp/")), "{:?}", folder.tree());
}
