#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
use super::*;
use crate::observation::{MemorySource, Orphan};
use crate::scenario::Pattern;

fn quiet() -> Observation {
    Observation {
        ending: Ending::Exited(0),
        stdout: Vec::new(),
        stderr: Vec::new(),
        stdout_dropped_bytes: 0,
        stderr_dropped_bytes: 0,
        exit_after: Duration::from_millis(3),
        eof_after: Duration::from_millis(3),
        first_byte_after: None,
        cpu: Duration::from_millis(2),
        cpu_partial: false,
        peak_memory_bytes: None,
        memory_source: MemorySource::None,
        stdin_closed_early: false,
        stream_held_open: false,
        orphans: Vec::new(),
    }
}

fn expect() -> Expect {
    Expect {
        exit: Some(0),
        decision: Some("none".to_owned()),
        delivered: Delivered::Any,
        contains: Vec::new(),
        not_matches: Vec::new(),
        max_utf16: None,
        max_bytes: None,
        max_tokens: None,
        relevant: None,
        may_write: Vec::new(),
        stdin_closed_early: Permission::Forbid,
        orphans: Permission::Forbid,
        stream_held_open: Permission::Forbid,
        over_cap: Permission::Forbid,
        invalid_output: Permission::Forbid,
        timeout: Permission::Forbid,
    }
}

fn delivered(text: &str) -> DeliveredText {
    DeliveredText {
        text: text.to_owned(),
        utf16: text.encode_utf16().count() as u64,
        bytes: text.len() as u64,
        decision: "none".to_owned(),
        ..DeliveredText::default()
    }
}

fn pattern(text: &str) -> Pattern {
    Pattern::new(text).unwrap()
}

struct Case {
    expect: Expect,
    fault: Fault,
    observation: Observation,
    delivered: DeliveredText,
    golden: Option<Finding>,
    tree: Vec<String>,
}

/// Judges a call that is right but for what `change` does to it.
fn verdict(change: impl FnOnce(&mut Case)) -> Vec<Finding> {
    let mut case = Case {
        expect: expect(),
        fault: Fault::default(),
        observation: quiet(),
        delivered: delivered("hello"),
        golden: None,
        tree: Vec::new(),
    };
    change(&mut case);
    let seen = Seen {
        observation: &case.observation,
        delivered: &case.delivered,
        timeout: Duration::from_millis(1500),
        golden: case.golden.as_ref(),
        tree_changes: &case.tree,
    };
    judge(&case.expect, &case.fault, &seen)
}

fn kinds(change: impl FnOnce(&mut Case)) -> Vec<FindingKind> {
    verdict(change).into_iter().map(|finding| finding.kind).collect()
}

#[test]
fn call_that_is_right_has_no_finding() {
    assert_eq!(kinds(|_| {}), []);
}

#[test]
fn each_fault_gives_its_own_finding_and_no_other() {
    type Change = fn(&mut Case);
    let cases: [(FindingKind, Change); 20] = [
        (FindingKind::Timeout, |c| c.observation.ending = Ending::TimedOut),
        (FindingKind::Crash, |c| c.observation.ending = Ending::Signalled(11)),
        (FindingKind::NotStarted, |c| c.observation.ending = Ending::NotStarted(SpawnFault::NotFound)),
        (FindingKind::ExitCode, |c| c.observation.ending = Ending::Exited(2)),
        (FindingKind::Decision, |c| c.delivered.decision = "block".to_owned()),
        (FindingKind::InvalidOutput, |c| c.delivered.problems = vec![(FindingKind::InvalidOutput, "bad".to_owned())]),
        (FindingKind::WrongEventName, |c| c.delivered.problems = vec![(FindingKind::WrongEventName, "bad".to_owned())]),
        (FindingKind::OverCap, |c| c.delivered.truncated = true),
        (FindingKind::Flood, |c| c.observation.stdout_dropped_bytes = 1),
        (FindingKind::StreamHeldOpen, |c| c.observation.stream_held_open = true),
        (FindingKind::Orphan, |c| c.observation.orphans = vec![Orphan { pid: 7, name: "sleep".to_owned() }]),
        (FindingKind::StdinClosedEarly, |c| c.observation.stdin_closed_early = true),
        (FindingKind::GoldenChanged, |c| {
            c.expect.delivered = Delivered::Golden;
            c.golden = Some(found(FindingKind::GoldenChanged, "differs".to_owned()));
        }),
        (FindingKind::ContainsMissing, |c| c.expect.contains = vec!["bye".to_owned()]),
        (FindingKind::NotMatchesFound, |c| c.expect.not_matches = vec![pattern("h.l")]),
        (FindingKind::NotEmpty, |c| c.expect.delivered = Delivered::Empty),
        (FindingKind::Empty, |c| {
            c.expect.delivered = Delivered::Some;
            c.delivered = delivered("");
        }),
        (FindingKind::OverBudget, |c| c.expect.max_utf16 = Some(4)),
        (FindingKind::OverBudget, |c| c.expect.max_tokens = Some(1)),
        (FindingKind::TreeWritten, |c| c.tree = vec!["a.txt added".to_owned()]),
    ];
    for (kind, change) in cases {
        assert_eq!(kinds(change), [kind]);
    }
}

#[test]
fn message_says_what_was_expected_and_seen_and_what_to_do() {
    type Change = fn(&mut Case);
    let cases: [(Change, [&str; 3]); 4] = [
        (
            |c| {
                c.observation.ending = Ending::Exited(2);
                c.observation.stderr = b"boom\n".to_vec();
            },
            ["expected exit code 0", "seen 2 (the host takes 2 as a block)", "`boom`"],
        ),
        (|c| c.observation.ending = Ending::TimedOut, ["within 1500 ms", "still running", "raise timeout_ms"]),
        (|c| c.expect.max_bytes = Some(4), ["at most 4 bytes", "seen 5", "inject less"]),
        (
            |c| c.observation.orphans = vec![Orphan { pid: 7, name: "sleep".to_owned() }],
            ["expected no process", "sleep (7)", "wait for children"],
        ),
    ];
    for (change, parts) in cases {
        let message = verdict(change).remove(0).message;
        for part in parts {
            assert!(message.contains(part), "{part:?} is not in {message:?}");
        }
    }
}

#[test]
fn what_the_step_allows_is_no_finding() {
    let allowed = kinds(|c| {
        c.observation.stdin_closed_early = true;
        c.observation.stream_held_open = true;
        c.observation.orphans = vec![Orphan { pid: 7, name: "sleep".to_owned() }];
        c.observation.ending = Ending::TimedOut;
        c.delivered.truncated = true;
        c.delivered.problems = vec![(FindingKind::InvalidOutput, "bad".to_owned())];
        c.delivered.decision = "block".to_owned();
        c.expect.stdin_closed_early = Permission::Allow;
        c.expect.stream_held_open = Permission::Allow;
        c.expect.orphans = Permission::Allow;
        c.expect.timeout = Permission::Allow;
        c.expect.over_cap = Permission::Allow;
        c.expect.invalid_output = Permission::Allow;
        c.expect.decision = None;
    });
    assert_eq!(allowed, []);
}

#[test]
fn killed_call_owes_no_answer_but_may_leave_no_orphan() {
    let killed = kinds(|c| {
        c.fault.kill_after = Some(Duration::from_millis(5));
        c.observation.ending = Ending::Signalled(9);
        c.observation.orphans = vec![Orphan { pid: 7, name: "sleep".to_owned() }];
        c.expect.delivered = Delivered::Golden;
        c.expect.contains = vec!["bye".to_owned()];
        c.golden = Some(found(FindingKind::GoldenChanged, "differs".to_owned()));
    });
    assert_eq!(killed, [FindingKind::Orphan]);
}

#[test]
fn several_faults_come_in_report_order_each_once() {
    let several = kinds(|c| {
        c.tree = vec!["a added".to_owned(), "b added".to_owned()];
        c.delivered.truncated = true;
        c.delivered.problems = vec![(FindingKind::OverCap, "29 KB".to_owned())];
        c.observation.ending = Ending::Exited(1);
        c.expect.max_utf16 = Some(1);
        c.expect.max_bytes = Some(1);
    });
    let expected = [FindingKind::ExitCode, FindingKind::OverCap, FindingKind::OverBudget, FindingKind::TreeWritten];
    assert_eq!(several, expected);
}

#[test]
fn control_characters_of_a_hook_do_not_reach_a_terminal() {
    let message = verdict(|c| {
        c.observation.ending = Ending::Exited(1);
        c.observation.stderr = "\u{1b}[2Jx".repeat(1000).into_bytes();
    });
    assert!(!message[0].message.contains('\u{1b}') && message[0].message.len() < 2000 + SHOWN_CHARS * 8);
}

#[test]
fn silence_of_a_call_that_did_not_end_by_itself_is_no_second_finding() {
    for (ending, kind) in [
        (Ending::TimedOut, FindingKind::Timeout),
        (Ending::Signalled(6), FindingKind::Crash),
        (Ending::NotStarted(SpawnFault::NotPermitted), FindingKind::NotStarted),
    ] {
        let silent = kinds(|c| {
            c.observation.ending = ending;
            c.delivered = delivered("");
            c.expect.delivered = Delivered::Some;
            c.expect.contains = vec!["x".to_owned()];
        });
        assert_eq!(silent, [kind]);
    }
    let quiet_exit = kinds(|c| {
        c.delivered = delivered("");
        c.expect.delivered = Delivered::Some;
    });
    assert_eq!(quiet_exit, [FindingKind::Empty]);
}

#[test]
fn text_that_changes_between_rounds_is_a_finding_with_the_difference() {
    assert_eq!(not_deterministic(0, "a\n", "a\n"), None);
    let finding = not_deterministic(0, "a\n", "b\n").unwrap();
    assert_eq!(finding.kind, FindingKind::NotDeterministic);
    assert!(finding.message.contains("round 0") && finding.message.contains("- a\n+ b"), "{}", finding.message);
}
