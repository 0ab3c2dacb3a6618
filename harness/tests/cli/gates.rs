//! `hookbench gate`, and gates as a user meets them.

use serde_json::Value;

use crate::bench::{ANY, Bench, fake, stderr, stdout, word};

/// Verdict, estimate, interval, n, reason and remedy of every gate in a summary.
fn answers(summary: &str) -> Vec<Value> {
    let summary: Value = serde_json::from_str(summary).unwrap();
    summary["gates"].as_array().unwrap().clone()
}

const GATES: &str = r#"[gates]
cap = "latency.cpu.p50 <= 60s"
tail = "latency.wall.p95 <= 60s"
small = "budget.bytes.max <= 10"
better = "latency.cpu.p50 < +10% vs baseline"
"#;

#[test]
fn a_saved_run_has_the_answers_of_the_live_one() {
    let bench = Bench::of(ANY);
    bench.write("hookbench.toml", GATES);
    let live = bench.rounds(6, &fake("recall"), "--json --out saved").code(3);
    let before = bench.tree();
    let again = bench.call("gate saved --json").code(3);
    let answered = answers(&stdout(&live));
    assert_eq!(answers(&stdout(&again)), answered);
    assert_eq!(
        answered.iter().map(|gate| word(&gate["verdict"])).collect::<Vec<_>>(),
        ["pass", "inconclusive", "fail", "skipped"]
    );
    assert_eq!(bench.tree(), before, "nothing is written");
    // The run remembers its gates when no file has any.
    std::fs::remove_file(bench.path("hookbench.toml")).unwrap();
    assert_eq!(answers(&stdout(&bench.call("gate saved --json").code(3))), answered);
}

#[test]
fn the_table_shows_figure_reason_and_remedy() {
    let bench = Bench::of(ANY);
    bench.run(&fake("recall"), "").code(0);
    let seen = bench.hookbench().args(["gate", "--gate", "small: budget.bytes.max <= 10"]).assert().code(3);
    insta::assert_snapshot!(stdout(&seen), @r"
    Gates
      FAIL          small  budget.bytes.max <= 10  ->  46 (n 1)
                    why: budget.bytes.max is 46 (largest at one/ask), which breaks <= 10
                    do:  make the hook inject less, or raise the bound on purpose
    exit 3: a gate failed
    ");
}

#[test]
fn gates_of_the_command_line_join_those_of_the_file() {
    let bench = Bench::of(ANY);
    bench.run("true", "").code(0);
    bench.write("hookbench.toml", "[gates]\nfirst = \"leak.count == 0\"\n");
    let names = |line: &str| {
        let seen = stdout(&bench.call(&format!("gate --json {line}")).code(0));
        answers(&seen).iter().map(|gate| word(&gate["name"]).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names("--gate second:timeout.count==0"), ["first", "second"]);
    bench.write("other.toml", "[gates]\nthird = \"flaky.count == 0\"\n");
    assert_eq!(names("--gates-file other.toml"), ["third"]);
}

#[test]
fn only_gates_count_for_the_code() {
    let bench = Bench::of(ANY);
    bench.run("exit 3", "").code(1);
    bench.call("gate --gate timeout.count==0").code(0);
    bench.call("gate --gate memory.peak<1B").code(3);
    let unclear = "gate --gate latency.cpu.p95<900s";
    assert!(stdout(&bench.call(unclear).code(0)).contains("INCONCLUSIVE"));
    bench.call(&format!("{unclear} --strict")).code(4);
}

#[test]
fn what_cannot_be_judged_is_refused_with_a_remedy() {
    let bench = Bench::of(ANY);
    let refused = |line: &[&str], says: &str| {
        let seen = bench.hookbench().arg("gate").args(line).assert().code(2);
        assert!(stderr(&seen).contains(says), "{line:?}: {}", stderr(&seen));
        assert!(stderr(&seen).contains("help: "), "{}", stderr(&seen));
    };
    refused(&["nowhere"], "nowhere/events.jsonl");
    bench.run("true", "").code(0);
    refused(&[], "there is no gate to judge this run by");
    refused(&["--gate", "spawn.count == 0"], "`spawn.count` is not measured");
    refused(&["--gate", "latency.cpu.max < +10% vs baseline"], "single smallest and largest samples prove no change");
    refused(&["--gate", "leak.count <= +0% vs file:gone"], "gone/events.jsonl");
    refused(&["--gate", "leak.count[event=Nothing] == 0"], "no event is called `Nothing`");
    // A live run finds out before it calls anything.
    let live = ["run", "--hook", "true", "--out", "new", "--gate", "leak.count <= +0% vs file:gone"];
    bench.hookbench().args(live).assert().code(2);
    assert!(!bench.path("new").exists());
}

#[test]
fn a_run_that_was_cut_off_is_not_judged() {
    let bench = Bench::of(ANY);
    bench.run("true", "--out whole").code(0);
    let text = bench.read("whole/events.jsonl");
    bench.write("cut/events.jsonl", text.get(..text.len() - 40).unwrap());
    let seen = bench.call("gate cut --gate leak.count==0").code(130);
    assert_eq!(stdout(&seen), "the run was stopped before its end: no gate is judged\n");
}

#[test]
fn a_stored_run_is_a_baseline_for_exact_figures() {
    let bench = Bench::of(ANY);
    bench.run(&fake("recall"), "--out old").code(0);
    bench.run("true", "--out new").code(0);
    let judged =
        |run: &str, gate: &str, code| bench.hookbench().args(["gate", run, "--gate", gate]).assert().code(code);
    judged("new", "budget.bytes.max <= +0% vs file:old", 0);
    judged("new", "budget.bytes.max >= +0% vs file:old", 3);
    let seen = judged("old", "budget.bytes.max <= +0% vs file:new", 3);
    assert!(stdout(&seen).contains("is new: there was none before (from 0 to 46)"), "{}", stdout(&seen));
}

#[test]
fn tags_of_a_step_select_it() {
    let tagged = ANY.replace("payload", "tags = [\"must\", \"db\"]\npayload");
    let other = ANY.replace("\"ask\"\npayload", "\"other\"\npayload");
    let bench = Bench::of(&(tagged + &other));
    bench.run(&fake("recall"), "").code(0);
    let n = |gate: &str| {
        let seen = bench.hookbench().args(["gate", "--json", "--gate", gate]).assert().code(0);
        answers(&stdout(&seen))[0]["n"].as_u64().unwrap()
    };
    assert_eq!(n("leak.count == 0"), 2);
    assert_eq!(n("leak.count[tag=must] == 0"), 1);
    assert_eq!(n("leak.count[tag=m*,tag=db] == 0"), 1);
    assert_eq!(n("leak.count[tag=nice] == 0"), 0);
    assert_eq!(n("leak.count[hook=*recall*] == 0"), 2);
    let wrong = Bench::of(&ANY.replace("payload", "tags = [\"Must Have\"]\npayload"));
    let refused = wrong.run("true", "").code(2);
    assert!(stderr(&refused).contains("`Must Have` is no tag"), "{}", stderr(&refused));
}
