//! Instructions counted by valgrind; without it each test says that it is skipped.

use std::process::Command;

use crate::bench::{ANY, Bench, stderr, word};

/// Whether valgrind is there; says so when it is not.
#[expect(clippy::print_stderr, reason = "a skipped test must say so")]
fn counts() -> bool {
    let there = Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success());
    if !there {
        eprintln!("skipped: no valgrind on PATH");
    }
    there
}

/// A static program without relocations that loops as often as its argument says; `None` without a C compiler.
#[expect(clippy::print_stderr, reason = "a skipped test must say so")]
fn looping(bench: &Bench) -> Option<String> {
    bench.write(
        "loop.c",
        "#include <stdlib.h>\nint main(int n, char **a) {\n  volatile long x = 0;\n  \
         for (long i = n > 1 ? atol(a[1]) : 0; i > 0; i--) x += i;\n  return 0;\n}\n",
    );
    let (source, program) = (bench.path("loop.c"), bench.path("loop"));
    let built = Command::new("cc").args(["-O1", "-static", "-no-pie", "-o"]).arg(&program).arg(&source).status();
    if built.is_ok_and(|status| status.success()) {
        return Some(program.display().to_string());
    }
    eprintln!("skipped: no C compiler that links statically");
    None
}

/// Instructions of the one step.
fn instructions(bench: &Bench, hook: &[&str], out: &str) -> Vec<u64> {
    let hooks = hook.iter().flat_map(|hook| ["--hook", hook]);
    let run = ["run", "--repeat", "1", "--instructions", "--out", out];
    bench.hookbench().args(run).args(hooks).assert().code(0);
    let counted = bench.events(out).into_iter().filter(|event| event["event"] == "instructions-counted");
    counted
        .map(|event| {
            assert_eq!((word(&event["data"]["step"]), word(&event["data"]["arm"])), ("ask", "candidate"));
            event["data"]["instructions"].as_u64().unwrap()
        })
        .collect()
}

#[test]
fn the_same_work_counts_the_same_and_double_work_more() {
    let bench = Bench::of(ANY);
    let (true, Some(program)) = (counts(), looping(&bench)) else { return };
    let count = |loops: u32, out: &str| instructions(&bench, &[&format!("{program} {loops}")], out)[0];
    let (once, again) = (count(1_000_000, "a"), count(1_000_000, "b"));
    assert!(once.abs_diff(again) <= once / 1_000, "{once} and {again}");
    let (none, double) = (count(0, "c"), count(2_000_000, "d"));
    let work = (once - none) as f64;
    // Each loop is the same few instructions, whatever their number.
    assert!(work >= 1e6 && ((double - none) as f64 / work - 2.0).abs() < 0.01, "{none} {once} {double}");
}

#[test]
fn children_count_and_hooks_side_by_side_add_up() {
    let bench = Bench::of(ANY);
    let (true, Some(program)) = (counts(), looping(&bench)) else { return };
    let one = instructions(&bench, &[&format!("{program} 1000000; true")], "a")[0];
    let twice = instructions(&bench, &[&format!("{program} 1000000; {program} 1000000; true")], "b")[0];
    assert!(twice > one + 1_000_000, "{one} {twice}");
    let chain = instructions(&bench, &[&format!("{program} 1000000; true"), &format!("{program} 0; true")], "c")[0];
    assert!(chain > one, "{one} {chain}");
}

#[test]
fn a_hook_that_cannot_run_has_no_count_and_state_is_made_anew() {
    let bench = Bench::of(
        "[[step]]\nname = \"ask\"\npayload = \"ask\"\n\
         expect = { delivered = \"any\", exit = \"any\", stdin_closed_early = \"allow\" }\n\
         [[step.before]]\nwrite = { path = \"new\", text = \"x\" }\n",
    );
    if !counts() {
        return;
    }
    let seen = bench
        .hookbench()
        .args(["run", "--repeat", "1", "--instructions", "--no-shell", "--hook", "/gone", "--out", "a"])
        .assert();
    seen.code(1);
    assert!(!bench.events("a").iter().any(|event| event["event"] == "instructions-counted"));
    assert!(!bench.tree().iter().any(|path| path.starts_with("tmp/")), "{:?}", bench.tree());
}

#[test]
fn a_hook_that_answers_otherwise_under_valgrind_has_no_count() {
    let bench = Bench::of(ANY);
    if !counts() {
        return;
    }
    let hook = "cat >/dev/null; if [ \"$HOOKBENCH_INSTRUCTIONS\" = 1 ]; then echo a; else echo b; fi";
    let run = ["run", "--repeat", "1", "--instructions", "--hook", hook, "--out", "a"];
    let seen = bench.hookbench().args(run).assert().code(0);
    assert!(!bench.events("a").iter().any(|event| event["event"] == "instructions-counted"));
    assert!(stderr(&seen).contains("instructions: no count for one/ask: under valgrind"), "{}", stderr(&seen));
    assert_eq!(instructions(&bench, &["cat >/dev/null; echo a"], "b").len(), 1);
}

#[test]
fn without_valgrind_the_flag_is_refused_before_anything_runs() {
    let bench = Bench::of(ANY);
    let seen = bench.hookbench().env("PATH", "/nowhere").args(["run", "--instructions", "--hook", "true"]).assert();
    let seen = seen.code(2);
    assert!(stderr(&seen).contains("no valgrind on PATH"), "{}", stderr(&seen));
    assert!(!bench.path(".hookbench").exists());
}
