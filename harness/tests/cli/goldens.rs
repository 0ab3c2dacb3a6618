//! Run, review, accept: what is written, when, and what never is.

use std::fs;

use crate::bench::{ANY, Bench, GOLDEN, fake, stderr, stdout};

const NEW: &str = "scenarios/one/golden/ask.txt.new";
const KEPT: &str = "scenarios/one/golden/ask.txt";

#[test]
fn a_missing_golden_is_not_a_changed_one_and_accept_mends_both() {
    let bench = Bench::of(GOLDEN);
    let seen = bench.run("true", "").code(1);
    assert_eq!(bench.findings(), [("one/ask".to_owned(), vec!["golden-missing".to_owned()])]);
    assert!(stdout(&seen).contains("record the missing goldens with `hookbench accept`"), "{}", stdout(&seen));
    assert!(bench.path(NEW).exists() && !bench.path(KEPT).exists());

    let accepted = bench.call("accept").code(0);
    assert_eq!(stdout(&accepted), "accepted one / ask\n");
    assert!(!bench.path(NEW).exists());
    assert_eq!(bench.read(KEPT), "");
    bench.run("true", "").code(0);

    let seen = bench.run(&fake("recall"), "").code(1);
    assert_eq!(bench.findings(), [("one/ask".to_owned(), vec!["golden-changed".to_owned()])]);
    assert!(stdout(&seen).contains("+ Earlier decision: retries are capped at three."), "{}", stdout(&seen));
    assert_eq!(bench.read(KEPT), "", "a run never changes a golden");

    let reviewed = bench.call("review one").code(1);
    assert!(stdout(&reviewed).contains("one / ask\n"), "{}", stdout(&reviewed));
    assert!(stdout(&reviewed).contains("+ Earlier decision: retries are capped at three."));
    assert!(stdout(&reviewed).contains("1 pending, 0 unused"));
    bench.call("accept one").code(0);
    bench.run(&fake("recall"), "").code(0);
    assert_eq!(stdout(&bench.call("review").code(0)), "0 pending, 0 unused\n");
    assert_eq!(stdout(&bench.call("accept").code(0)), "nothing is pending\n");
}

#[test]
fn a_pending_text_goes_when_the_golden_holds_again() {
    let bench = Bench::of(GOLDEN);
    bench.write(KEPT, "");
    bench.run(&fake("recall"), "").code(1);
    assert!(bench.path(NEW).exists());
    bench.run("true", "").code(0);
    assert!(!bench.path(NEW).exists());
}

#[test]
fn nothing_is_written_beside_the_goldens_in_ci_or_when_asked_not_to() {
    let bench = Bench::of(GOLDEN);
    let run = ["run", "--repeat", "1", "--hook", "true"];
    let in_ci = bench.hookbench().env("CI", "true").args(run).assert().code(1);
    assert!(stdout(&in_ci).contains("golden-missing"));
    assert!(!bench.path("scenarios/one/golden").exists());
    bench.hookbench().args(run).arg("--no-write").assert().code(1);
    assert!(!bench.path("scenarios/one/golden").exists());
    // The word of a shell that switches CI off.
    bench.hookbench().env("CI", "false").args(run).assert().code(1);
    assert!(bench.path(NEW).exists());
}

#[test]
fn accept_is_refused_in_ci() {
    let bench = Bench::of(GOLDEN);
    bench.run("true", "").code(1);
    let refused = bench.hookbench().env("CI", "1").arg("accept").assert().code(2);
    assert!(stderr(&refused).contains("goldens are not written when CI is set"), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("help: accept goldens on your own machine"));
    assert!(bench.path(NEW).exists() && !bench.path(KEPT).exists());
}

#[test]
fn a_golden_that_no_step_uses_is_reported() {
    let bench = Bench::of(ANY);
    bench.write("scenarios/one/golden/renamed.txt", "old");
    bench.run("true", "").code(0);
    let reviewed = bench.call("review").code(1);
    assert!(stdout(&reviewed).contains("golden/renamed.txt: no step uses this golden; delete it"));
    assert!(stdout(&reviewed).contains("0 pending, 1 unused"));
}

#[test]
fn accept_takes_only_what_was_named() {
    let bench = Bench::of(GOLDEN);
    bench.scenario("other", GOLDEN);
    bench.run("true", "").code(1);
    bench.call("accept oth*").code(0);
    assert!(bench.path("scenarios/other/golden/ask.txt").exists());
    assert!(bench.path(NEW).exists() && !bench.path(KEPT).exists());
}

#[test]
fn delivered_text_is_scrubbed_before_it_is_compared() {
    let bench = Bench::of(GOLDEN);
    let hook = "echo \"$PWD\"";
    bench.run(hook, "").code(1);
    bench.call("accept").code(0);
    assert!(!bench.read(KEPT).contains("tmp"), "{}", bench.read(KEPT));
    bench.rounds(3, hook, "").code(0);
    assert_eq!(fs::read_dir(bench.path("scenarios/one/golden")).unwrap().count(), 1);
}

#[test]
fn text_of_a_failed_call_never_becomes_a_golden() {
    let bench = Bench::of(GOLDEN);
    for (hook, exit) in [("/no/such/hook", "127"), ("echo half; exit 3", "3"), ("kill -SEGV $$", "signal")] {
        let seen = bench.run(hook, "").code(1);
        assert!(!bench.path(NEW).exists(), "{hook}");
        assert!(stdout(&seen).contains(exit), "{}", stdout(&seen));
        // A call that was cut off owes no text at all.
        assert_eq!(stdout(&seen).contains("mend the call first"), exit != "signal", "{}", stdout(&seen));
        assert_eq!(stdout(&bench.call("accept").code(0)), "nothing is pending\n");
    }
    let seen = bench.run("./no-such-hook", "").code(1);
    assert!(stdout(&seen).contains("name it by its whole path or by `./`"), "{}", stdout(&seen));
}
