//! Mistakes of the user: code 2, the file with its line, a remedy, and nothing written.

use crate::bench::{ANY, ASK, Bench, GOLDEN, stderr, stdout};

/// Runs and expects a refusal that names all of `parts`, has a remedy, and leaves the folder as it was.
fn refused(bench: &Bench, words: &[&str], parts: &[&str]) {
    let before = bench.tree();
    let seen = bench.hookbench().arg("run").args(words).assert().code(2);
    let message = stderr(&seen);
    assert_eq!(stdout(&seen), "", "{words:?}");
    for part in parts.iter().chain(&["\n  help: "]) {
        assert!(message.contains(part), "{part:?} is not in:\n{message}");
    }
    assert_eq!(bench.tree(), before, "{words:?}");
}

/// A scenario that must be refused with these parts in the message.
fn bad_scenario(steps: &str, payloads: &str, parts: &[&str]) {
    let bench = Bench::of(steps);
    bench.write("scenarios/one/payloads.jsonl", payloads);
    refused(&bench, &["--hook", "true"], parts);
}

const HOOK: [&str; 2] = ["--hook", "true"];

#[test]
fn no_scenarios_folder_is_told_with_what_to_do() {
    refused(
        &Bench::empty(),
        &HOOK,
        &["scenarios: there is no such folder here", "go to the folder that holds scenarios/"],
    );
}

#[test]
fn a_scenario_that_is_not_there_is_named() {
    let parts = ["no-such: no scenario is called `no-such` below scenarios/, and it is no folder"];
    refused(&Bench::of(ANY), &["no-such", "--hook", "true"], &parts);
    refused(&Bench::of(ANY), &["one", "no-such", "--hook", "true"], &parts);
}

#[test]
fn toml_that_is_none_is_told_with_its_line() {
    bad_scenario("[[step]\n", ASK, &["scenarios/one/scenario.toml:5:"]);
    bad_scenario(&format!("{ANY}surprise = 1\n"), ASK, &["scenarios/one/scenario.toml:9:1", "surprise"]);
    bad_scenario(&ANY.replace("\"any\"", "\"most\""), ASK, &["scenarios/one/scenario.toml:8:", "most"]);
}

#[test]
fn a_payload_that_is_not_there_is_told_with_its_line() {
    bad_scenario(&ANY.replace("\"ask\"\nexpect", "\"tell\"\nexpect"), ASK, &["scenarios/one/scenario.toml:7:", "tell"]);
    bad_scenario(&ANY.replace("payload = \"ask\"", "payload = 2"), ASK, &["scenarios/one/scenario.toml:7:", "2"]);
}

#[test]
fn a_payload_that_is_no_json_is_told_with_its_line() {
    bad_scenario(ANY, &format!("{ASK}{{\"id\":\"x\",\n"), &["scenarios/one/payloads.jsonl:2:"]);
}

#[test]
fn missing_payloads_are_told_with_the_file() {
    let bench = Bench::of(ANY);
    std::fs::remove_file(bench.path("scenarios/one/payloads.jsonl")).unwrap();
    refused(&bench, &HOOK, &["scenarios/one/payloads.jsonl"]);
}

#[test]
fn an_unknown_placeholder_is_told_with_its_line() {
    bad_scenario(ANY, &ASK.replace("${PROJECT}", "${PROJETC}"), &["scenarios/one/payloads.jsonl:1:", "PROJETC"]);
    bad_scenario(&format!("{ANY}cwd = \"${{NOWHERE}}\"\n"), ASK, &["scenarios/one/scenario.toml:9:", "NOWHERE"]);
}

#[test]
fn a_newer_format_is_told() {
    let bench = Bench::of(ANY);
    let newer = bench.read("scenarios/one/scenario.toml").replacen("schema = 1", "schema = 2", 1);
    bench.write("scenarios/one/scenario.toml", &newer);
    refused(&bench, &HOOK, &["scenarios/one/scenario.toml:1:", "format 2 is not known to this version"]);
}

#[test]
fn mistakes_of_several_scenarios_come_together() {
    let bench = Bench::of(&ANY.replace("\"any\"", "\"most\""));
    bench.scenario("two", &format!("{ANY}surprise = 1\n"));
    refused(&bench, &HOOK, &["scenarios/one/scenario.toml:8:", "scenarios/two/scenario.toml:9:1"]);
}

#[test]
fn a_step_without_expectation_is_told() {
    bad_scenario(
        "[[step]]\nname = \"ask\"\npayload = \"ask\"\n",
        ASK,
        &["the step does not say what must be delivered"],
    );
    bad_scenario("", ASK, &["the scenario has no step"]);
}

#[test]
fn a_golden_that_is_no_text_is_told() {
    let bench = Bench::of(GOLDEN);
    std::fs::create_dir_all(bench.path("scenarios/one/golden/ask.txt")).unwrap();
    refused(&bench, &HOOK, &["golden/ask.txt: cannot read the golden", "hookbench accept"]);
    let bench = Bench::of(GOLDEN);
    bench.write("scenarios/one/golden/ask.txt", "");
    std::fs::write(bench.path("scenarios/one/golden/ask.txt"), [0xff, 0xfe]).unwrap();
    refused(&bench, &HOOK, &["golden/ask.txt: cannot read the golden"]);
}

#[test]
fn a_gate_that_is_none_is_told_with_its_place() {
    let bench = Bench::of(ANY);
    let bogus = ["--hook", "true", "--gate", "timeout.count[event=Bogus] == 0"];
    refused(&bench, &bogus, &["no event is called `Bogus`", "name one of the host's events"]);
    refused(&bench, &["--hook", "true", "--gate", "speed < 3"], &["--gate:1:1: unknown metric `speed`", "latency.*"]);
    refused(&bench, &["--hook", "true", "--gate", "leak.count < 3ms"], &["--gate:1:"]);
    bench.write("hookbench.toml", "[gates]\nclean = \"leak.count == 0\"\nfast = \"latency.wall.p95 <= many\"\n");
    refused(&bench, &HOOK, &["hookbench.toml:3:"]);
    bench.write("other.toml", "[gates]\nfast = 3\n");
    refused(&bench, &["--hook", "true", "--gates-file", "other.toml"], &["other.toml:2:"]);
    refused(&bench, &["--hook", "true", "--gates-file", "none.toml"], &["none.toml: cannot be read"]);
    bench.run("true", "--no-gates").code(0);
}

#[test]
fn a_hook_of_nothing_is_told() {
    let bench = Bench::of(ANY);
    for hook in ["", "  "] {
        refused(&bench, &["--hook", hook], &["--hook: the command is empty"]);
        refused(&bench, &["--no-shell", "--hook", hook], &["--hook: the command is empty"]);
    }
}

#[test]
fn a_host_that_is_no_version_is_told_with_those_known() {
    for host in ["newest", "2.1", "", ">=2.1.197"] {
        let parts = ["--host: ", "is not a version of the client", "2.1.197 and 2.1.332"];
        refused(&Bench::of(ANY), &["--hook", "true", "--host", host], &parts);
    }
}

#[test]
fn folders_that_are_not_there_are_told_before_the_run() {
    let bench = Bench::of(ANY);
    refused(
        &bench,
        &["--hook", "true", "--junit", "no/such/junit.xml"],
        &["no/such/junit.xml: there is no such folder"],
    );
    refused(&bench, &["--hook", "true", "--markdown", "no/report.md"], &["no/report.md: there is no such folder"]);
    refused(&bench, &["--hook", "true", "--corpora", "no/corpora"], &["no/corpora: cannot be used"]);
    bench.write("file", "");
    refused(&bench, &["--hook", "true", "--out", "file/run"], &["file/run", "saved run"]);
}

#[test]
fn flags_out_of_range_are_refused() {
    let bench = Bench::of(ANY);
    for words in
        ["--repeat 0", "--jobs 0", "--timeout 0", "--timeout 601", "--no-shell", "--no-gates --gate leak.count==0"]
    {
        let seen = bench.call(&format!("run {words}")).code(2);
        assert!(stderr(&seen).contains("error: "), "{words}");
        assert!(!bench.path(".hookbench").exists());
    }
}

#[test]
fn a_seed_that_fails_is_told_with_its_line_and_leaves_no_sandbox() {
    let bench = Bench::of(&format!("[sandbox]\nseed = [\"echo why >&2; exit 3\"]\n{ANY}"));
    let seen = bench.run("true", "").code(2);
    for part in ["scenarios/one/scenario.toml:6:", "why", "\n  help: "] {
        assert!(stderr(&seen).contains(part), "{part:?} is not in:\n{}", stderr(&seen));
    }
    assert!(!bench.tree().iter().any(|path| path.starts_with("tmp/")), "{:?}", bench.tree());
    // What happened until then is kept, and known to be no whole run.
    bench.call("report").code(130);
}

#[test]
fn a_change_outside_the_sandbox_is_refused() {
    let bench = Bench::of(&format!("{ANY}before = [{{ delete = \"../../../../etc/passwd\" }}]\n"));
    let seen = bench.run("true", "").code(2);
    for part in ["scenarios/one/scenario.toml:", "is outside the sandbox", "\n  help: "] {
        assert!(stderr(&seen).contains(part), "{part:?} is not in:\n{}", stderr(&seen));
    }
}
