//! A user who stops a run loses nothing that was done.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::bench::{ANY, Bench, stdout};

/// Much longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "waited for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn is_running(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

/// Stops a run in its second scenario by these signals, sent as one; the run's hook has a child in a session of its own.
fn stopped_by(signals: &[&str], jobs: &str) {
    let bench = Bench::of(ANY);
    bench.scenario("two", ANY);
    let note = bench.path("pids");
    let hook = format!(
        "if mkdir '{0}.first'; then exit 0; fi; setsid sleep 60 & echo $$ $! > '{0}.new'; mv '{0}.new' '{0}'; sleep 60",
        note.display()
    );
    let mut run = Command::new(env!("CARGO_BIN_EXE_hookbench"))
        .args(["run", "--repeat", "2", "--out", "saved", "--jobs", jobs, "--hook", &hook])
        .args(["--junit", "junit.xml"])
        .current_dir(bench.path(""))
        .env("TMPDIR", bench.path("tmp"))
        .env_remove("CI")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for("the second hook", || note.exists());
    for signal in signals {
        Command::new("kill").args([signal, &*run.id().to_string()]).status().unwrap();
    }
    wait_for("the end of the run", || run.try_wait().unwrap().is_some());
    let output = run.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    let live = String::from_utf8(output.stdout).unwrap();
    assert!(live.contains("interrupted"), "{live}");
    assert!(live.contains("next: the run was stopped early: go on with it by the same command and --resume"), "{live}");

    for pid in bench.read("pids").split_whitespace() {
        assert!(!is_running(pid), "{pid} outlived the run");
    }
    assert!(!bench.tree().iter().any(|path| path.starts_with("tmp/")), "{:?}", bench.tree());
    assert_eq!(bench.findings_of("saved").len(), 1, "only the call that ended by itself is told");
    assert_eq!(stdout(&bench.call("report saved").code(130)), live);
    assert_eq!(stdout(&bench.call("report saved --to junit").code(130)), bench.read("junit.xml"));
}

#[test]
fn ctrl_c_ends_the_hook_and_keeps_a_readable_run() {
    stopped_by(&["-INT"], "1");
}

#[test]
fn termination_is_the_same_with_several_jobs() {
    stopped_by(&["-TERM"], "2");
}

/// `timeout` and other wrappers send a signal to the process and once more to its group.
#[test]
fn a_wish_to_stop_that_arrives_twice_is_one() {
    stopped_by(&["-TERM", "-TERM", "-INT"], "1");
}

#[test]
fn a_self_test_that_is_stopped_while_it_looks_at_the_machine_was_stopped_and_is_no_fault() {
    let bench = Bench::of(ANY);
    // The machine is looked at before the handler's first use; many calls make that long.
    for flags in [&["doctor", "--calls", "100000"][..], &["doctor", "--self-test", "--calls", "100000"]] {
        let mut doctor = Command::new(env!("CARGO_BIN_EXE_hookbench"))
            .args(flags)
            .current_dir(bench.path(""))
            .env("TMPDIR", bench.path("tmp"))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let pid = doctor.id().to_string();
        // SIGINT and SIGTERM are caught from then on.
        wait_for("the handler", || {
            let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
            caught
                .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
                .is_some_and(|mask| mask & 0x4002 == 0x4002)
        });
        Command::new("kill").args(["-INT", &pid]).status().unwrap();
        wait_for("the end", || doctor.try_wait().unwrap().is_some());
        let output = doctor.wait_with_output().unwrap();
        let talk = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(130), "{talk}");
        assert!(!bench.tree().iter().any(|path| path.starts_with("tmp/")), "{:?}", bench.tree());
    }
}
