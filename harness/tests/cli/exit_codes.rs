//! One test a code. 130 is with the interrupt, 2 with bad input; 70 needs a machine that fails.

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
fn code_70_a_fault_of_hookbench_itself() {
    // A hook that kills the launcher breaks the machinery, and nobody's input is wrong.
    let seen = Bench::of(ANY).run("kill -KILL $PPID; sleep 1", "").code(70);
    assert!(stderr(&seen).contains("internal error: the replay machinery failed: lost the launcher process"));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let bench = Bench::of(ANY);
    let line =
        format!("{} run --repeat 1 --hook true | true; exit ${{PIPESTATUS[0]}}", env!("CARGO_BIN_EXE_hookbench"));
    let seen = assert_cmd::Command::new("bash").args(["-c", &line]).current_dir(bench.path("")).assert().code(0);
    assert_eq!(stderr(&seen), "");
}
