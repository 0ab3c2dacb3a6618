//! Every fake hook gives its own finding, and the run goes on behind it.

use crate::bench::{Bench, fake, stdout};

/// Ends as whichever fake hook its first argument names.
fn dispatcher(bench: &Bench) -> String {
    let hooks = format!("{}/tests/hooks", env!("CARGO_MANIFEST_DIR"));
    bench.write("dispatch", &format!("#!/bin/sh\nname=$1\nshift\nexec '{hooks}'/$name.sh \"$@\"\n"));
    let path = bench.path("dispatch");
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A step that calls a fake hook by the words of a line, and expects any text.
fn step(line: &str, timeout_ms: u32) -> String {
    let name = step_name(line);
    let args: Vec<String> = line.split(' ').map(|word| format!("\"{word}\"")).collect();
    let args = args.join(", ");
    format!(
        "[[step]]\nname = \"{name}\"\npayload = \"ask\"\ntimeout_ms = {timeout_ms}\nhook_args = [{args}]\n\
         expect = {{ delivered = \"any\" }}\n"
    )
}

fn step_name(line: &str) -> String {
    line.replace([' ', '_'], "-")
}

#[test]
fn every_fake_hook_gives_its_own_finding_and_the_run_goes_on() {
    let cases: [(&str, &[&str]); 15] = [
        ("recall", &[]),
        ("sleep 30", &["timeout"]),
        ("grandchild", &["stream-held-open", "orphan"]),
        ("json_20000", &["over-cap"]),
        ("plain_20000", &["over-cap"]),
        ("exit_2", &["exit-code", "decision"]),
        ("crash", &["crash"]),
        ("flood", &["over-cap", "flood"]),
        ("flood_stderr", &["flood"]),
        ("invalid_json", &["invalid-output"]),
        ("wrong_event", &["wrong-event-name"]),
        ("top_level_context", &["invalid-output"]),
        ("closes_stdin", &[]),
        ("daemon", &["orphan"]),
        ("session_daemon", &["orphan"]),
    ];
    let bench = Bench::empty();
    let hook = dispatcher(&bench);
    // Only the sleeper is meant to meet its limit.
    let limit = |line: &str| if line.starts_with("sleep") { 300 } else { 20_000 };
    bench.scenario("one", &cases.iter().map(|(line, _)| step(line, limit(line))).collect::<String>());
    bench.scenario("two", &step("recall", 20_000));

    let seen = bench.run(&hook, "--no-shell --jobs 1").code(1);
    let found = bench.findings();
    for (line, kinds) in cases {
        let name = format!("one/{}", step_name(line));
        let (_, found) = found.iter().find(|(step, _)| *step == name).unwrap_or_else(|| panic!("{name}"));
        let (mut found, mut kinds) = (found.clone(), kinds.to_vec());
        found.sort();
        kinds.sort_unstable();
        assert_eq!(found, kinds, "{line}");
        assert!(kinds.iter().all(|kind| stdout(&seen).contains(&format!("{name}: {kind}"))), "{line}");
    }
    assert_eq!(found.len(), cases.len() + 1);
    assert!(found.contains(&("two/recall".to_owned(), Vec::new())));
    assert!(stdout(&seen).contains("PASS   two"));
}

#[test]
fn a_large_payload_that_is_not_read_is_a_finding_unless_the_scenario_allows_it() {
    let bench = Bench::empty();
    let step = |name: &str, more: &str| {
        format!(
            "[[step]]\nname = \"{name}\"\npayload = \"ask\"\nset = {{ prompt = \"{}\" }}\n\
             expect = {{ delivered = \"any\"{more} }}\n",
            "x".repeat(1_000_000)
        )
    };
    bench.scenario("one", &(step("allowed", ", stdin_closed_early = \"allow\"") + &step("forbidden", "")));
    bench.run(&fake("closes_stdin"), "").code(1);
    let none = Vec::<String>::new();
    assert_eq!(
        bench.findings(),
        [("one/allowed".to_owned(), none), ("one/forbidden".to_owned(), vec!["stdin-closed-early".to_owned()])]
    );
}

#[test]
fn a_hook_that_cannot_start_is_a_finding() {
    let bench = Bench::of(crate::bench::ANY);
    for (hook, kind) in [("/no/such/hook", "not-started"), (fake("not_executable").trim_matches('\''), "not-started")] {
        let seen = bench.run(hook, "--no-shell").code(1);
        assert_eq!(bench.findings(), [("one/ask".to_owned(), vec![kind.to_owned()])], "{hook}");
        assert!(stdout(&seen).contains("next: the hook did not start: check the command given by --hook"));
    }
    // A shell starts in any case; what it could not start is its exit code.
    for (hook, code) in [("/no/such/hook".to_owned(), "127"), (fake("not_executable"), "126")] {
        let seen = bench.run(&hook, "").code(1);
        assert_eq!(bench.findings(), [("one/ask".to_owned(), vec!["exit-code".to_owned()])], "{hook}");
        assert!(stdout(&seen).contains(&format!("expected exit code 0, seen {code}")), "{}", stdout(&seen));
    }
}

#[test]
fn a_run_leaves_no_sandbox_unless_asked_to() {
    let bench = Bench::of(crate::bench::ANY);
    bench.run("true", "").code(0);
    assert!(!bench.tree().iter().any(|path| path.starts_with("tmp/")), "{:?}", bench.tree());
    bench.run("true", "--keep").code(0);
    assert!(bench.tree().iter().any(|path| path.starts_with("tmp/hookbench-one-0-")), "{:?}", bench.tree());
}
