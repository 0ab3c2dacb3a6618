//! One test a code at least. More of 130 is with the interrupt, more of 2 with bad input.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::bench::{ANY, Bench, GOLDEN, stderr, stdout};

#[test]
fn code_0_everything_that_was_asked_holds() {
    let seen = Bench::of(ANY).run("true", "--gate timeout.count==0").code(0);
    assert!(stdout(&seen).contains("PASS (exit 0): 0 of 1 step with findings"), "{}", stdout(&seen));
    assert!(stdout(&seen).ends_with("next: nothing: everything that was asked holds\n"));
}

#[test]
fn code_1_the_hook_that_says_nothing_fails_its_golden() {
    let seen = Bench::of(GOLDEN).run("true", "").code(1);
    assert!(stdout(&seen).contains("FAIL (exit 1): 1 of 1 step with findings"), "{}", stdout(&seen));
}

#[test]
fn code_2_an_unknown_flag() {
    Bench::of(ANY).call("run --no-such-flag").code(2);
}

#[test]
fn code_3_a_gate_failed() {
    let seen = Bench::of(ANY).run("true", "--gate small:memory.peak<1B").code(3);
    assert!(stdout(&seen).contains("FAIL (exit 3)"), "{}", stdout(&seen));
    assert!(stdout(&seen).contains("next: gate small: find what the hook keeps in memory"), "{}", stdout(&seen));
    let warned = ["run", "--repeat", "1", "--hook", "true", "--gate", "memory.peak < 1B severity warn"];
    Bench::of(ANY).hookbench().args(warned).assert().code(0);
}

#[test]
fn code_4_too_little_evidence_counts_only_when_asked() {
    let gate = "--gate latency.cpu.p95<900s";
    let seen = Bench::of(ANY).run("true", gate).code(0);
    assert!(stdout(&seen).contains("INCONCLUSIVE (exit 0, 4 with --strict)"), "{}", stdout(&seen));
    assert!(stdout(&seen).contains("run with --repeat 59"), "{}", stdout(&seen));
    Bench::of(ANY).run("true", &format!("{gate} --strict")).code(4);
}

#[test]
fn code_5_every_scenario_was_filtered_out_by_the_host() {
    let bench = Bench::empty();
    bench.scenario("one", &format!("host = \">=2.1.300\"\n{ANY}"));
    let seen = bench.run("true", "--host 2.1.197").code(5);
    assert!(stdout(&seen).contains("SKIPPED (exit 5): no scenario matched"), "{}", stdout(&seen));
    assert!(stdout(&seen).contains("next: name a scenario that exists, or run without a filter"));
    bench.run("true", "--host 2.1.332").code(0);
}

#[test]
fn code_5_a_folder_without_scenarios() {
    let bench = Bench::of(ANY);
    bench.write("nothing/readme.txt", "");
    bench.run("true", "nothing").code(5);
}

#[test]
fn code_70_a_run_that_cannot_be_saved_to_its_end() {
    // Nobody's input is wrong, and what is there of the saved run is not whole.
    let bench = Bench::of(ANY);
    let hook = format!("rm -r '{}'", bench.path("saved").display());
    let seen = bench.run(&hook, "--out saved").code(70);
    assert!(stderr(&seen).contains("internal error: "), "{}", stderr(&seen));
    assert!(stderr(&seen).contains("the run cannot be saved"), "{}", stderr(&seen));
}

#[test]
fn code_70_a_report_that_cannot_be_printed() {
    let bench = Bench::of(ANY);
    bench.run("true", "").code(0);
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let seen =
        Command::new(env!("CARGO_BIN_EXE_hookbench")).arg("report").current_dir(bench.path("")).stdout(full).output();
    let seen = seen.unwrap();
    assert_eq!(seen.status.code(), Some(70));
    assert!(String::from_utf8_lossy(&seen.stderr).starts_with("internal error: the report cannot be printed"));
}

#[test]
fn code_130_the_user_stopped_the_run() {
    let bench = Bench::of(ANY);
    let begun = bench.path("begun");
    let mut run = Command::new(env!("CARGO_BIN_EXE_hookbench"))
        .args(["run", "--repeat", "1", "--out", "saved", "--hook", &format!("touch '{}'; sleep 60", begun.display())])
        .current_dir(bench.path(""))
        .env("TMPDIR", bench.path("tmp"))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    while !begun.exists() {
        assert!(run.try_wait().unwrap().is_none(), "the run ended before its hook began");
        std::thread::sleep(Duration::from_millis(10));
    }
    Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap();
    assert_eq!(run.wait().unwrap().code(), Some(130));
    bench.call("report saved").code(130);
    bench.call("gate saved --gate leak.count==0").code(130);
}

#[test]
fn a_hook_that_ends_its_launcher_is_a_finding_and_the_run_goes_on() {
    let bench = Bench::of(&(ANY.to_owned() + &ANY.replace("\"ask\"\npayload", "\"after\"\npayload")));
    let note = bench.path("done");
    let hook = format!("echo told; test -e '{0}' || {{ touch '{0}'; kill -KILL $PPID; sleep 1; }}", note.display());
    let seen = bench.rounds(2, &hook, "").code(1);
    let found: Vec<Vec<String>> = bench.findings().into_iter().map(|(_, kinds)| kinds).collect();
    assert_eq!(found, [vec!["lost-launcher".to_owned()], vec![], vec![], vec![]]);
    assert!(stdout(&seen).contains("signal no process that the hook did not start"), "{}", stdout(&seen));
    // A launcher that is stopped cannot tell anything either, but is waited for; too long for a test.
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let bench = Bench::of(ANY);
    let line =
        format!("{} run --repeat 1 --hook true | true; exit ${{PIPESTATUS[0]}}", env!("CARGO_BIN_EXE_hookbench"));
    let seen = assert_cmd::Command::new("bash").args(["-c", &line]).current_dir(bench.path("")).assert().code(0);
    assert_eq!(stderr(&seen), "");
}
