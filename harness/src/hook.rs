//! The hook under test: how its command is given, and the call that runs it for one step.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use hook_contract::HostProfile;

use crate::process::{Call, HoldRule, Program, StdinPlan};
use crate::scenario::Fault;

/// Timeout of an event whose own was never measured.
const UNKNOWN_TIMEOUT: Duration = Duration::from_secs(600);

/// A hook command as the settings would name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    /// Runs through `/bin/sh -c`, as an entry with `command` alone does; or directly, as one with `args` does.
    pub program: Program,
    /// The command as given, for reports and for texts in which the host quotes it.
    pub shown: String,
}

/// What a call needs beside the hook and the payload.
#[derive(Debug)]
pub struct Surroundings {
    /// Arguments that the step adds.
    pub args: Vec<String>,
    /// The whole environment.
    pub env: Vec<(OsString, OsString)>,
    /// Working folder.
    pub cwd: PathBuf,
    /// When the host ends the hook.
    pub timeout: Duration,
}

impl Hook {
    /// A command line for the shell.
    pub fn shell(command: &str) -> Hook {
        Hook { program: Program::Shell(command.to_owned()), shown: command.to_owned() }
    }

    /// A program with arguments, run without a shell.
    pub fn exec(words: Vec<String>) -> Hook {
        let shown = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
        Hook { program: Program::Exec(words), shown }
    }

    /// The call that delivers `payload`, with the step's planned fault.
    pub fn call(&self, payload: Vec<u8>, around: Surroundings, fault: &Fault, host: &HostProfile) -> Call {
        let program = match &self.program {
            Program::Shell(line) if around.args.is_empty() => Program::Shell(line.clone()),
            Program::Shell(line) => {
                let args: Vec<String> = around.args.iter().map(|arg| quoted(arg)).collect();
                Program::Shell(format!("{line} {}", args.join(" ")))
            }
            Program::Exec(words) => Program::Exec(words.iter().chain(&around.args).cloned().collect()),
        };
        let mut call = Call::new(program);
        call.stdin_plan = match (fault.stdin_held_open, fault.stdin_closed_after) {
            (true, _) => StdinPlan::HeldOpen,
            (false, Some(bytes)) => StdinPlan::CutAfter(usize::try_from(bytes).unwrap_or(usize::MAX)),
            (false, None) => StdinPlan::Whole,
        };
        call.stdin = payload;
        call.env = around.env;
        call.cwd = around.cwd;
        call.timeout = around.timeout;
        call.kill_after = fault.kill_after;
        call.kill_grace = host.term_to_kill;
        call.hold = match (host.pipe_quiet, host.pipe_most) {
            (Some(quiet), Some(total)) => HoldRule::Quiet { quiet, total },
            _ => HoldRule::UntilEof,
        };
        call
    }
}

/// When a hook is ended: what the step asks for, else the host's limit for it or the caller's, whichever is shorter.
pub fn timeout(limit: Option<Duration>, asked: Option<Duration>, longest: Duration) -> Duration {
    asked.unwrap_or_else(|| limit.unwrap_or(UNKNOWN_TIMEOUT).min(longest))
}

/// A word as the shell must be given it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_the_shell() {
        assert_eq!(quoted("/opt/hook"), "/opt/hook");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn host_decides_how_long_streams_are_waited_for() {
        let call_as = |version: &str| {
            let around = Surroundings {
                args: Vec::new(),
                env: Vec::new(),
                cwd: PathBuf::from("/"),
                timeout: Duration::from_secs(1),
            };
            Hook::shell("true").call(Vec::new(), around, &Fault::default(), HostProfile::nearest(version))
        };
        assert_eq!(call_as("2.1.197").hold, HoldRule::UntilEof);
        let (quiet, total) = (Duration::from_millis(500), Duration::from_secs(10));
        assert_eq!(call_as("2.1.332").hold, HoldRule::Quiet { quiet, total });
        assert_eq!(call_as("2.1.332").kill_grace, Duration::from_millis(1500));
    }

    #[test]
    fn host_limit_holds_unless_a_shorter_one_is_asked() {
        let longest = Duration::from_secs(30);
        let (short, long) = (Duration::from_millis(1500), Duration::from_secs(600));
        assert_eq!(timeout(Some(short), None, longest), short);
        assert_eq!(timeout(Some(long), None, longest), longest);
        assert_eq!(timeout(Some(long), Some(Duration::from_secs(40)), longest), Duration::from_secs(40));
        assert_eq!(timeout(None, None, Duration::from_secs(900)), long);
    }
}
