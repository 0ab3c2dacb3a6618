//! Open loop: calls by schedule.
//!
//! Times here are compared with each other and with what the schedule makes of them, never with a clock on a wall.

use serde_json::Value;

use crate::bench::{ANY, Bench, LAST, stderr, stdout, word};

/// Steps of these names at these times, which anything passes.
fn timed(steps: &[(&str, Option<u64>)]) -> String {
    let step = |(name, at): &(&str, Option<u64>)| {
        let at = at.map_or(String::new(), |at| format!("at_ms = {at}\n"));
        format!("[[step]]\nname = \"{name}\"\npayload = \"ask\"\n{at}expect = {{ delivered = \"any\" }}\n")
    };
    steps.iter().map(step).collect()
}

/// Name, wall and lateness of each call in the order of the run, in microseconds.
fn calls(bench: &Bench, run: &str) -> Vec<(String, u64, u64)> {
    let finished = bench.events(run).into_iter().filter(|event| event["event"] == "step-finished");
    let number = |value: &Value| value.as_u64().unwrap();
    finished
        .map(|event| {
            let data = &event["data"];
            (word(&data["step"]).to_owned(), number(&data["observation"]["wall_us"]), number(&data["late_us"]))
        })
        .collect()
}

#[test]
fn a_hook_slower_than_the_rate_falls_behind_by_what_each_call_takes_too_long() {
    let steps: Vec<String> = (0..6).map(|n| format!("s{n}")).collect();
    let steps: Vec<(&str, Option<u64>)> = steps.iter().map(|name| (name.as_str(), None)).collect();
    let bench = Bench::of(&timed(&steps));
    let seen = bench.rounds(1, "cat >/dev/null; sleep 0.1", "--pace rate=20").code(0);
    let calls = calls(&bench, LAST);
    assert_eq!(calls.len(), 6);
    // Due every 50 ms, begun when the one before has ended: the lateness follows from the walls.
    let mut free_at = 0;
    for (n, (_, wall, late)) in (0..).zip(&calls) {
        let due = n * 50_000;
        let reckoned = u64::saturating_sub(free_at, due);
        assert!(late.abs_diff(reckoned) <= n, "call {n}: {late} against {reckoned}: {calls:?}");
        free_at = due + reckoned + wall;
        assert!(*wall >= 100_000 && *late >= n * 50_000, "{calls:?}");
    }
    let text = stdout(&seen);
    for part in ["pace:    rate=20", "Open loop", "service", "response", "5 calls, at most", "schedule: "] {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
    assert!(stdout(&bench.call("report").code(0)).contains("Open loop"));
}

#[test]
fn sessions_take_turns_in_sandboxes_of_their_own() {
    let bench = Bench::of(&timed(&[("first", None), ("second", None), ("third", None)]));
    let log = bench.path("log");
    let hook = format!("cat >/dev/null; echo $HOME >> '{}'; echo x >> $HOME/mine", log.display());
    bench.rounds(2, &hook, "--pace rate=100 --sessions 2").code(0);
    let homes = bench.read("log");
    let mut distinct: Vec<&str> = homes.lines().collect();
    assert_eq!(distinct.len(), 12);
    distinct.sort_unstable();
    distinct.dedup();
    // Two sessions in each of two rounds.
    assert_eq!(distinct.len(), 4);
    assert_eq!(calls(&bench, LAST).len(), 12);
    let header = bench.events(LAST)[0]["data"]["pace"].clone();
    assert_eq!(word(&header), "rate=100, 2 sessions");
    assert!(!bench.tree().iter().any(|path| path.starts_with("tmp/")), "{:?}", bench.tree());
}

#[test]
fn recorded_times_are_kept_and_a_pause_is_caught_up() {
    let bench = Bench::of(&timed(&[("a", Some(0)), ("b", Some(10)), ("c", Some(700))]));
    bench.rounds(1, "cat >/dev/null; sleep 0.1", "--pace recorded").code(0);
    let calls = calls(&bench, LAST);
    let late: Vec<u64> = calls.iter().map(|(_, _, late)| *late).collect();
    assert_eq!(late[0], 0);
    assert!(late[1].abs_diff(calls[0].1 - 10_000) <= 1, "{calls:?}");
    assert!(late[2] <= (late[1] + calls[1].1 + 10_000).saturating_sub(700_000), "{calls:?}");
}

#[test]
fn recorded_pace_needs_times_and_times_come_in_order() {
    let bench = Bench::of(ANY);
    let seen = bench.run("true", "--pace recorded").code(2);
    assert!(stderr(&seen).contains("its steps have no recorded times"), "{}", stderr(&seen));
    let bench = Bench::of(&timed(&[("a", Some(5)), ("b", None), ("c", Some(3))]));
    let said = stderr(&bench.run("true", "").code(2));
    for part in ["step `b` has no at_ms, and others have", "at_ms goes back from 5 to 3"] {
        assert!(said.contains(part), "{part:?} is not in:\n{said}");
    }
}

#[test]
fn senseless_paces_are_refused() {
    let bench = Bench::of(ANY);
    for line in ["--pace rate=0", "--pace fast", "--sessions 2", "--pace rate=5 --jobs 2", "--pace rate=5 --sessions 0"]
    {
        bench.run("true", line).code(2);
    }
}

#[test]
fn an_interrupt_ends_the_sessions_and_keeps_what_is_done() {
    let bench = Bench::of(&timed(&[("a", Some(0)), ("b", Some(120_000))]));
    let mut run = std::process::Command::new(env!("CARGO_BIN_EXE_hookbench"))
        .args(["run", "--repeat", "1", "--pace", "recorded", "--hook", "true", "--out", "saved"])
        .current_dir(bench.path(""))
        .env("TMPDIR", bench.path("tmp"))
        .env_remove("CI")
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let events = bench.path("saved/events.jsonl");
    for _ in 0..600 {
        if std::fs::read_to_string(&events).is_ok_and(|text| text.contains("step-finished")) {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    std::process::Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap();
    assert_eq!(run.wait().unwrap().code(), Some(130));
    assert_eq!(calls(&bench, "saved").len(), 1);
    assert!(!bench.tree().iter().any(|path| path.starts_with("tmp/")), "{:?}", bench.tree());
}
