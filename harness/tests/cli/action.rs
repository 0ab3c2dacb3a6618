//! The composite action and the example workflow, run by a fake runner.

use serde_json::Value;

use crate::bench::{ANY, Bench, GOLDEN, fake, stdout, word};
use crate::runner::{Runner, repository, yaml};

const SCRIPTS: [&str; 3] = ["Install hookbench", "Run", "Summary"];

/// A runner with a scenario that `recall` passes and a silent hook fails.
fn golden_runner() -> Runner {
    let bench = Bench::of(GOLDEN);
    bench.write("scenarios/one/golden/ask.txt", "Earlier decision: retries are capped at three.");
    Runner::new(bench)
}

#[test]
fn a_hook_that_passes_leaves_a_summary_and_a_saved_run() {
    let mut runner = golden_runner();
    let job = runner.act(&[("hook", &fake("recall")), ("args", "--repeat=1")]);
    assert_eq!(job.code, 0, "{}", job.log);
    assert_eq!(job.ran, SCRIPTS.map(|name| (name.to_owned(), 0)));
    assert!(job.summary.contains("one") && job.summary.to_lowercase().contains("pass"), "{}", job.summary);
    assert_eq!(job.output("steps.run.outputs.exit-code"), "0");
    let uploaded = job.used("actions/upload-artifact").unwrap();
    assert_eq!(uploaded["name"], "hookbench-run");
    assert_eq!(uploaded["path"], job.output("steps.run.outputs.run"));
    assert!(runner.bench.path("artifacts/hookbench-run/events.jsonl").is_file());
}

#[test]
fn a_hook_that_fails_fails_the_step_with_the_code_of_hookbench_and_is_reported_all_the_same() {
    let mut runner = golden_runner();
    let job = runner.act(&[("hook", "true"), ("args", "--repeat=1"), ("baseline", "true")]);
    assert_eq!(job.code, 1, "{}", job.log);
    let codes: Vec<i32> = job.ran.iter().map(|(_, code)| *code).collect();
    assert_eq!(codes, [0, 1, 0], "nothing is compared after a failure: {:?}", job.ran);
    assert_eq!(job.output("steps.run.outputs.exit-code"), "1");
    assert!(job.summary.contains("golden-changed"), "{}", job.summary);
    assert!(runner.bench.path("artifacts/hookbench-run/summary.json").is_file());
    assert!(!runner.bench.path("scenarios/one/golden/ask.txt.new").exists());
}

#[test]
fn every_other_code_of_hookbench_is_the_code_of_the_step() {
    let gate = "latency.cpu.p95 < 900s\n\ntimeout.count == 0\n";
    for (inputs, code) in [
        (&[("scenarios", "no-such")][..], 2),
        (&[("gates", "memory.peak < 1B")], 3),
        (&[("gates", gate)], 0),
        (&[("gates", gate), ("strict", "true")], 4),
        (&[("gates-file", "no-such.toml")], 2),
        (&[("working-directory", "scenarios"), ("scenarios", "one")], 0),
    ] {
        let mut runner = golden_runner();
        let hook = fake("recall");
        let inputs = [inputs, &[("hook", hook.as_str()), ("args", "--repeat=1")]].concat();
        let job = runner.act(&inputs);
        assert_eq!(job.code, code, "{inputs:?}: {}", job.log);
        assert_eq!(job.ran.last().unwrap(), &("Summary".to_owned(), 0));
        assert_eq!(job.used("actions/upload-artifact").is_some(), code != 2, "{inputs:?}");
        let says_so = job.summary.contains("hookbench saved no run** (exit code 2)");
        assert_eq!(says_so, code == 2, "{inputs:?}: {}", job.summary);
    }
}

#[test]
fn upload_can_be_switched_off_and_the_artifact_be_named() {
    let mut runner = golden_runner();
    let hook = fake("recall");
    let quiet = [("hook", hook.as_str()), ("args", "--repeat=1"), ("upload", "false")];
    assert!(runner.act(&quiet).used("actions/upload-artifact").is_none());
    let named = [("hook", hook.as_str()), ("args", "--repeat=1"), ("artifact", "mine")];
    assert_eq!(runner.act(&named).used("actions/upload-artifact").unwrap()["name"], "mine");
}

#[test]
fn a_hostile_input_is_data_in_every_place() {
    let action = yaml("action.yml");
    for step in action["runs"]["steps"].as_array().unwrap() {
        assert!(!step["run"].as_str().unwrap_or_default().contains("${{"), "{step}");
    }
    let names = action["inputs"].as_object().unwrap().keys();
    for name in names {
        for hostile in ["\"; touch pwned; #", "$(touch pwned)", "`touch pwned`", "'; touch pwned; '", "a\ntouch pwned"]
        {
            let mut runner = golden_runner();
            // The hook is a command line by its nature and is run by a shell, in a sandbox of its own.
            let hook = if name == "hook" { format!("true {hostile}") } else { fake("recall") };
            let mut inputs = vec![("hook", hook.as_str()), ("args", "--repeat=1")];
            inputs.retain(|(given, _)| given != name);
            inputs.push((name, if name == "hook" { &hook } else { hostile }));
            // The name of an artifact goes to another action, which has rules of its own.
            if name == "artifact" {
                inputs.push(("upload", "false"));
            }
            let job = runner.act(&inputs);
            let touched = runner.bench.tree().into_iter().filter(|path| path.ends_with("pwned"));
            assert_eq!(touched.collect::<Vec<_>>(), [] as [String; 0], "{name} = {hostile:?}: {}", job.log);
            assert_eq!(job.ran[0].1, 0, "{name} = {hostile:?}: {}", job.log);
        }
    }
}

#[test]
fn inputs_arrive_as_the_words_that_they_are() {
    let mut runner = golden_runner();
    let hostile = "\"; touch pwned; #";
    let job = runner.act(&[
        ("hook", hostile),
        ("scenarios", "one\n\n$(two)\n"),
        ("args", "--repeat=1\n--seed=7"),
        ("gates", "timeout.count == 0"),
        ("gates-file", "a b.toml"),
        ("strict", "true"),
        ("shard", "1/2"),
    ]);
    assert_eq!(job.code, 2, "{}", job.log);
    let calls = runner.calls("hookbench");
    let out = runner.bench.path("runner/hookbench-run");
    let hook = format!("--hook={hostile}");
    let expected = [
        "run",
        "--no-write",
        "--out",
        out.to_str().unwrap(),
        "--gate=timeout.count == 0",
        "--gates-file=a b.toml",
        "--strict",
        &hook,
        "--shard=1/2",
        "--repeat=1",
        "--seed=7",
        "--",
        "one",
        "$(two)",
    ];
    assert_eq!(calls, [expected]);
}

#[test]
fn what_a_hook_prints_is_no_command_to_the_runner() {
    let mut runner = golden_runner();
    let hook = r#"echo x >&2; echo "::error::injected" >&2; echo "::set-output name=a::b"; exit 3"#;
    let job = runner.act(&[("hook", hook), ("args", "--repeat=1")]);
    assert_eq!(job.code, 1, "{}", job.log);
    let start = job.log.find("::stop-commands::").unwrap();
    let token = job.log[start..].lines().next().unwrap().trim_start_matches("::stop-commands::");
    assert!(token.len() > 40, "{token}");
    let end = job.log.find(&format!("\n::{token}::\n")).unwrap();
    // The runner takes a line for a command when it begins with `::`, white space aside; in the midst of one it is text.
    let begins_line = |at: usize| job.log[..at].rsplit('\n').next().unwrap().trim().is_empty();
    let found = job.log.match_indices("::error::injected").map(|(at, _)| at);
    let injected: Vec<usize> = found.filter(|at| begins_line(*at) || (start..end).contains(at)).collect();
    assert!(!injected.is_empty(), "the hook's text is in the log: {}", job.log);
    assert!(injected.iter().all(|at| (start..end).contains(at)), "{}", job.log);
}

#[test]
fn install_builds_the_checkout_or_the_version_that_was_asked_for() {
    let mut runner = golden_runner();
    runner.act(&[("args", "--repeat=1")]);
    let root = runner.bench.path("runner/hookbench").to_str().unwrap().to_owned();
    let (here, workspace) = (repository(), runner.bench.path(""));
    let (here, workspace) = (here.to_str().unwrap(), workspace.canonicalize().unwrap());
    let from_path = |folder| ["install", "--locked", "--root", &root, "--path", folder].map(str::to_owned);
    let calls = runner.calls("cargo");
    assert_eq!(calls.len(), 2, "hookmem is the hook when none is named: {calls:?}");
    for (call, folder) in calls.iter().zip(["harness", "reference"]) {
        assert_eq!((call[0].as_str(), &call[1..]), (here, &from_path(folder)[..]));
        assert!(repository().join(folder).join("Cargo.toml").is_file());
    }

    let mut runner = golden_runner();
    runner.act(&[("hook", "true"), ("args", "--repeat=1"), ("version", "--config=evil")]);
    let calls = runner.calls("cargo");
    let root = runner.bench.path("runner/hookbench").to_str().unwrap().to_owned();
    let url = "https://git.example/someone/hooks";
    let expected = ["install", "--locked", "--root", &root, "--git", url, "--rev=--config=evil", "hookbench"];
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0][1..], expected);
    assert_ne!(calls[0][0], workspace.to_str().unwrap());
}

#[test]
fn a_baseline_is_compared_after_a_run_that_passed() {
    let mut runner = golden_runner();
    let (hook, gate) = (fake("recall"), "latency.cpu.p50 < +900% vs baseline");
    let inputs = [
        ("hook", hook.as_str()),
        ("args", "--repeat=1"),
        ("gates", gate),
        ("baseline", hook.as_str()),
        ("baseline-args", "--pairs=2\n\n--max-time=60s"),
        ("scenarios", "one"),
    ];
    let job = runner.act(&inputs);
    // Two pairs are too few for a verdict on time, which fails nothing.
    assert_eq!(job.code, 0, "{}", job.log);
    let scripts = ["Install hookbench", "Run", "Compare with the baseline", "Summary"];
    assert_eq!(job.ran, scripts.map(|name| (name.to_owned(), 0)));
    let bench = runner.calls("hookbench").into_iter().find(|call| call[0] == "bench").unwrap();
    let out = runner.bench.path("runner/hookbench-run/comparison");
    let (hook, baseline, gate) = (format!("--hook={hook}"), format!("--baseline={hook}"), format!("--gate={gate}"));
    let expected = ["bench", "--no-write", "--out", out.to_str().unwrap(), &baseline, &gate, &hook];
    assert_eq!(bench, [&expected[..], &["--pairs=2", "--max-time=60s", "--", "one"]].concat());
    assert!(job.summary.contains("vs baseline"), "{}", job.summary);
    assert!(runner.bench.path("artifacts/hookbench-run/comparison/events.jsonl").is_file());
}

#[test]
fn hooks_of_a_settings_file_are_replayed_and_compared() {
    let mut runner = golden_runner();
    let entry = format!(r#"{{"hooks":[{{"type":"command","command":"{}"}}]}}"#, fake("recall"));
    runner.bench.write(".claude/settings.json", &format!(r#"{{"hooks":{{"UserPromptSubmit":[{entry}]}}}}"#));
    let inputs = [("settings", ".claude/settings.json"), ("args", "--repeat=1"), ("baseline", "rev:$(main)")];
    let job = runner.act(&inputs);
    assert_eq!(job.ran[1], ("Run".to_owned(), 0), "{}", job.log);
    assert_eq!(job.code, 2, "there is no such revision: {}", job.log);
    assert_eq!(runner.calls("cargo").len(), 1, "no other hook is installed");
    let calls = runner.calls("hookbench").into_iter().filter(|call| ["run", "bench"].contains(&&*call[0]));
    let named = calls.map(|call| call.contains(&"--settings=.claude/settings.json".to_owned()));
    assert_eq!(named.collect::<Vec<_>>(), [true, true]);
}

/// A runner whose workspace has four scenarios and gates, and a hookmem that says nothing.
fn workflow_runner() -> Runner {
    let bench = Bench::empty();
    for name in ["a", "b", "c", "d"] {
        bench.scenario(name, ANY);
    }
    bench.write("scenarios/hookbench.toml", "[gates]\nquiet = \"timeout.count == 0\"\n");
    Runner::new(bench)
}

/// Runs every part of the example's matrix; the codes of its step that runs hookbench.
fn run_parts(runner: &mut Runner, workflow: &Value) -> Vec<i32> {
    let job = &workflow["jobs"]["run"];
    let parts = job["strategy"]["matrix"]["part"].as_array().unwrap();
    let total = parts.len().to_string();
    let of = |part: &Value| {
        let part = part.to_string();
        let done = runner.job(job, &[("matrix.part", &part), ("strategy.job-total", &total)]);
        assert!(!done.summary.is_empty(), "{}", done.log);
        let codes = done.ran.iter().filter(|(name, _)| name == "Run").map(|(_, code)| *code);
        assert_eq!(codes.collect::<Vec<_>>(), [done.code], "{:?}: {}", done.ran, done.log);
        done.code
    };
    parts.iter().map(of).collect()
}

#[test]
fn example_workflow_runs_its_parts_and_gives_one_verdict() {
    let workflow = yaml(".github/workflows/hooks.yml");
    let mut runner = workflow_runner();
    assert_eq!(run_parts(&mut runner, &workflow), [0; 4]);
    let runs = runner.calls("hookbench").into_iter().filter(|call| call[0] == "run");
    let shards: Vec<String> =
        runs.flat_map(|call| call.into_iter().filter(|word| word.starts_with("--shard"))).collect();
    assert_eq!(shards, ["--shard=1/4", "--shard=2/4", "--shard=3/4", "--shard=4/4"]);

    assert_eq!(word(&workflow["jobs"]["verdict"]["needs"]), "run");
    let verdict = runner.job(&workflow["jobs"]["verdict"], &[]);
    let merge = runner.calls("hookbench").into_iter().find(|call| call[0] == "merge").unwrap();
    let out = runner.bench.path("runner/hookbench-run");
    let parts = [1, 2, 3, 4].map(|part| format!("parts/hookbench-part-{part}/"));
    let expected = ["merge", "--out", out.to_str().unwrap(), "--gates-file=scenarios/hookbench.toml", "--"];
    assert_eq!(merge, [&expected.map(str::to_owned)[..], &parts].concat());
    assert_eq!(verdict.code, 0, "{}", verdict.log);
    assert!(runner.bench.path("artifacts/hookbench-run/events.jsonl").is_file());
    for name in ["a", "b", "c", "d"] {
        assert!(verdict.summary.contains(name), "{}", verdict.summary);
    }
}

#[test]
fn example_workflow_fails_for_a_hook_that_fails() {
    let workflow = yaml(".github/workflows/hooks.yml");
    let mut runner = workflow_runner();
    for name in ["a", "b", "c", "d"] {
        runner.bench.scenario(name, &ANY.replace("\"any\"", "\"some\""));
    }
    assert_eq!(run_parts(&mut runner, &workflow), [1; 4]);
    let verdict = runner.job(&workflow["jobs"]["verdict"], &[]);
    assert_eq!(verdict.code, 1, "{}", verdict.log);
}

#[test]
fn hooks_for_pre_commit_pass_and_fail_with_what_they_look_at() {
    let hooks = yaml(".pre-commit-hooks.yaml");
    let entry = |id: &str| {
        let hook = hooks.as_array().unwrap().iter().find(|hook| hook["id"] == id).unwrap();
        assert_eq!((&hook["pass_filenames"], &hook["always_run"]), (&false.into(), &true.into()), "{id}");
        let words: Vec<String> = word(&hook["entry"]).split(' ').map(str::to_owned).collect();
        assert_eq!(words[0], "hookbench", "{id}");
        words[1..].to_vec()
    };
    let bench = Bench::of(GOLDEN);
    let run = |args: &[&str]| bench.hookbench().args(entry("hookbench-run")).args(args).assert();
    let goldens = || bench.hookbench().args(entry("hookbench-goldens")).assert();
    goldens().code(0);
    run(&["--hook", "true"]).code(1);
    assert!(stdout(&goldens().code(1)).contains("1 pending, 0 unused"));
    bench.call("accept").code(0);
    run(&["--hook", "true"]).code(0);
    goldens().code(0);
    bench.write("scenarios/one/golden/left.txt", "");
    goldens().code(1);
}
