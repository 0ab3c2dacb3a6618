//! Shell commands of a scenario: seeds, changes, faults and state checks.
//!
//! This module says what is to be run and judges what came back; running is the [`Runner`]'s work.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::observation::{Ending, Observation};
use crate::problem::{Problem, Source};
use crate::run_event::{Finding, FindingKind};
use crate::scenario::{Command, StateCheck};

/// Longest time that a command of a scenario may take. Generous: it ends hangs, it measures nothing.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Most characters of a command's output that a message shows.
const SHOWN_CHARS: usize = 600;

/// Runs one shell command to its end and says what happened.
pub type Runner<'r> = &'r dyn Fn(&ShellCall) -> Observation;

/// A command for `sh -c`, with everything around it.
#[derive(Debug, Clone)]
pub struct ShellCall {
    /// The command line.
    pub command: String,
    /// Working folder.
    pub cwd: PathBuf,
    /// The whole environment.
    pub env: Vec<(OsString, OsString)>,
    /// When to give up.
    pub timeout: Duration,
}

impl ShellCall {
    pub(super) fn new(command: String, cwd: PathBuf, env: Vec<(OsString, OsString)>) -> ShellCall {
        ShellCall { command, cwd, env, timeout: TIMEOUT }
    }
}

/// Runs a command whose failure stops the run.
pub(super) fn must_succeed(
    run: Runner<'_>,
    call: &ShellCall,
    source: &Source,
    command: &Command,
) -> Result<(), Problem> {
    let seen = run(call);
    if seen.ending == Ending::Exited(0) {
        return Ok(());
    }
    let message = format!("`{}` {}; stderr: {}", call.command, ending(seen.ending), shown(&seen.stderr));
    Err(source.problem(command.span.clone(), message, "make the command succeed by itself, then run again"))
}

/// Runs a state check; one finding for everything that does not hold.
pub(super) fn check(
    run: Runner<'_>,
    check: &StateCheck,
    call: impl Fn(String) -> ShellCall,
    expand: impl Fn(&str) -> String,
) -> Vec<Finding> {
    let call = call(expand(&check.command.line));
    let seen = run(&call);
    let stdout = String::from_utf8_lossy(&seen.stdout);
    let mut wrong = Vec::new();
    if seen.ending != Ending::Exited(check.exit) {
        wrong.push(format!("expected exit {}, it {}", check.exit, ending(seen.ending)));
    }
    if let Some(expected) = check.stdout.as_deref().map(&expand) {
        let newline = |text: &str| text.trim_end_matches('\n').to_owned();
        if newline(&stdout) != newline(&expected) {
            wrong.push(format!("expected stdout `{}`", cut(&expected)));
        }
    }
    for text in check.contains.iter().map(|text| expand(text)).filter(|text| !stdout.contains(text)) {
        wrong.push(format!("expected `{}` in stdout", cut(&text)));
    }
    for text in check.not_contains.iter().map(|text| expand(text)).filter(|text| stdout.contains(text)) {
        wrong.push(format!("`{}` must not be in stdout", cut(&text)));
    }
    if wrong.is_empty() {
        return Vec::new();
    }
    let message = format!(
        "state check `{}`: {}; stdout: {}; stderr: {}; the state after the step is wrong, or the check is",
        call.command,
        wrong.join(", "),
        shown(&seen.stdout),
        shown(&seen.stderr)
    );
    vec![Finding { kind: FindingKind::StateCheck, message }]
}

/// How a process ended, as the end of a sentence.
pub(crate) fn ending(ending: Ending) -> String {
    match ending {
        Ending::Exited(code) => format!("exited with {code}"),
        Ending::Signalled(signal) => format!("was ended by signal {signal}"),
        Ending::TimedOut => "reached its timeout".to_owned(),
        Ending::NotStarted(fault) => format!("could not be started ({fault:?})"),
        Ending::LauncherLost => "ended the process that launched it".to_owned(),
    }
}

fn shown(bytes: &[u8]) -> String {
    match String::from_utf8_lossy(bytes).trim() {
        "" => "nothing".to_owned(),
        text => format!("`{}`", cut(text)),
    }
}

fn cut(text: &str) -> String {
    if text.chars().count() <= SHOWN_CHARS {
        return text.to_owned();
    }
    let head: String = text.chars().take(SHOWN_CHARS).collect();
    format!("{head}…")
}
