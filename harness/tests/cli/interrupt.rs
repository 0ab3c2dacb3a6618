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

/// Stops a run in its second scenario by this signal; the run's hook has a child in a session of its own.
fn stopped_by(signal: &str, jobs: &str) {
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
    Command::new("kill").args([signal, &run.id().to_string()]).status().unwrap();
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
    stopped_by("-INT", "1");
}

#[test]
fn termination_is_the_same_with_several_jobs() {
    stopped_by("-TERM", "2");
}
