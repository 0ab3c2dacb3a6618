//! What runs, in which order, as which client.

use crate::bench::{ANY, Bench, GOLDEN, LAST, fake, stdout, word};

/// Names of the scenarios in the order of their starts.
fn order(bench: &Bench, run: &str) -> Vec<String> {
    let starts = bench.events(run).into_iter().filter(|event| event["event"] == "scenario-started");
    starts.map(|event| word(&event["data"]["scenario"]).to_owned()).collect()
}

fn six() -> Bench {
    let bench = Bench::empty();
    for name in ["a", "b", "c", "d", "e", "f"] {
        bench.scenario(name, ANY);
    }
    bench
}

#[test]
fn list_names_scenarios_and_steps_and_runs_nothing() {
    let bench = Bench::of(GOLDEN);
    bench.scenario("two", &format!("host = \">=2.1.300\"\n{ANY}"));
    let seen = bench.call("run --list").code(0);
    insta::assert_snapshot!(stdout(&seen), @r"
    one: A scenario of a test (client any)
        ask (UserPromptSubmit)
    two: A scenario of a test (client >=2.1.300)
        ask (UserPromptSubmit)
    ");
    assert!(!bench.path(".hookbench").exists());
}

#[test]
fn names_with_a_star_and_folders_choose_scenarios() {
    let bench = six();
    bench.write("elsewhere/g/payloads.jsonl", crate::bench::ASK);
    bench.write("elsewhere/g/scenario.toml", &bench.read("scenarios/a/scenario.toml"));
    bench.run("true", "a scenarios/b elsewhere").code(0);
    let mut seen = order(&bench, LAST);
    seen.sort();
    assert_eq!(seen, ["a", "b", "g"]);
    bench.run("true", "*").code(0);
    assert_eq!(order(&bench, LAST).len(), 6);
    bench.run("true", "a a scenarios/a").code(0);
    assert_eq!(order(&bench, LAST), ["a"]);
}

#[test]
fn order_of_scenarios_follows_the_seed() {
    let bench = six();
    for (seed, out) in [("7", "first"), ("7", "again"), ("8", "other")] {
        bench.rounds(4, "true", &format!("--seed {seed} --out {out}")).code(0);
    }
    let first = order(&bench, "first");
    assert_eq!(first.len(), 24);
    assert_eq!(order(&bench, "again"), first);
    assert_ne!(order(&bench, "other"), first);
    // Each round has its own order of the same scenarios.
    let rounds: Vec<&[String]> = first.chunks(6).collect();
    assert!(rounds.windows(2).any(|pair| pair[0] != pair[1]), "{rounds:?}");
    for round in rounds {
        let mut round = round.to_vec();
        round.sort();
        assert_eq!(round, ["a", "b", "c", "d", "e", "f"]);
    }
}

#[test]
fn jobs_side_by_side_give_the_same_verdicts() {
    let bench = six();
    bench.scenario("golden", GOLDEN);
    bench.scenario("parallel", &format!("{ANY}[step.fault]\nparallel = 4\n"));
    let mut seen = Vec::new();
    for jobs in ["1", "4"] {
        bench.rounds(3, &fake("recall"), &format!("--jobs {jobs}")).code(1);
        let mut found = bench.findings();
        found.sort();
        seen.push(found);
    }
    assert_eq!(seen[0].len(), 3 * (6 + 1 + 4));
    assert_eq!(seen[0].iter().filter(|(_, kinds)| !kinds.is_empty()).count(), 3);
    assert_eq!(seen[0], seen[1]);
}

#[test]
fn an_older_client_takes_bad_json_as_text() {
    let bench = Bench::of(ANY);
    bench.run(&fake("invalid_json"), "").code(1);
    assert_eq!(bench.findings(), [("one/ask".to_owned(), vec!["invalid-output".to_owned()])]);
    let seen = bench.run(&fake("invalid_json"), "--host 2.1.197 --json");
    let summary: serde_json::Value = serde_json::from_str(&stdout(&seen)).unwrap();
    assert_eq!(summary["run"]["host_version"], "2.1.197");
    let delivered = bench.events(LAST).into_iter().find(|event| event["event"] == "step-finished").unwrap();
    assert!(word(&delivered["data"]["delivered"]).contains("additionalContext"), "{delivered}");
}

#[test]
fn a_hook_that_answers_otherwise_in_another_round_is_told() {
    let bench = Bench::of(ANY);
    let hook = format!("echo . >> '{0}'; wc -l < '{0}'", bench.path("count").display());
    let seen = bench.rounds(2, &hook, "").code(1);
    assert!(stdout(&seen).contains("one/ask: not-deterministic (1 call)"), "{}", stdout(&seen));
}

#[test]
fn limit_of_a_call_is_the_flag_unless_the_scenario_has_its_own() {
    let bench = Bench::of(ANY);
    bench.scenario(
        "own",
        "[[step]]\nname = \"ask\"\npayload = \"ask\"\ntimeout_ms = 20000\nexpect = { delivered = \"any\" }\n",
    );
    bench.run(&fake("sleep").replace(".sh'", ".sh' 2"), "--timeout 1").code(1);
    let mut found = bench.findings();
    found.sort();
    assert_eq!(found, [("one/ask".to_owned(), vec!["timeout".to_owned()]), ("own/ask".to_owned(), Vec::new())]);
    let help = stdout(&bench.call("run --help").code(0));
    assert!(help.contains("Longest time of a call, in seconds"), "{help}");
    assert!(help.contains("[default: 30]"), "{help}");
}
