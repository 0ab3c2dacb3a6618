//! How a command fails: a mistake of the user's, or a fault of hookbench, each with its exit code.

use std::fmt;
use std::path::PathBuf;

use crate::exit_code::ExitCode;
use crate::gate::GateFault;
use crate::golden::printable;
use crate::problem::{Problem, Problems, Source};
use crate::record::RecordFault;
use crate::replay::Stop;

/// A command that could not do its work.
#[derive(Debug)]
pub enum Failure {
    /// Something that the user can mend.
    Usage(Problems),
    /// Something that the user cannot.
    Internal(String),
    /// The user stopped it.
    Interrupted,
}

impl Failure {
    /// The process's exit code.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Failure::Usage(_) => ExitCode::Usage,
            Failure::Internal(_) => ExitCode::Internal,
            Failure::Interrupted => ExitCode::Interrupted,
        }
    }

    /// A mistake about one file or word.
    pub fn usage(path: impl Into<PathBuf>, message: impl Into<String>, remedy: impl Into<String>) -> Failure {
        Problem::file(path, message, remedy).into()
    }

    /// A folder for temporary files that cannot be made or written.
    pub fn no_scratch(error: &std::io::Error) -> Failure {
        let message = format!("there is no folder for temporary files: {error}");
        Failure::usage(std::env::temp_dir(), message, "free some space there, or name another folder in TMPDIR")
    }

    /// The mistakes of a file of gates.
    pub fn gates(text: &str, faults: Vec<GateFault>) -> Failure {
        let problems = faults
            .into_iter()
            .map(|fault| Source::new(fault.file, text).problem(fault.span, fault.message, fault.remedy))
            .collect();
        match Problems::check(problems) {
            Err(problems) => Failure::Usage(problems),
            Ok(()) => Failure::Internal("a file of gates was refused without a reason".to_owned()),
        }
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Failure {
        Failure::Usage(problem.into())
    }
}

impl From<Problems> for Failure {
    fn from(problems: Problems) -> Failure {
        Failure::Usage(problems)
    }
}

impl From<RecordFault> for Failure {
    fn from(fault: RecordFault) -> Failure {
        match fault {
            RecordFault::Unwritable { .. } => Failure::Internal(format!("{fault}; {}", fault.remedy())),
            fault => Failure::usage("saved run", fault.to_string(), fault.remedy()),
        }
    }
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Failure {
        match stop {
            Stop::Problem(problem) => problem.into(),
            Stop::Interrupted => Failure::Interrupted,
            Stop::Io(error) => Failure::Internal(format!("the replay machinery failed: {error}")),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(problems) => {
                for problem in problems.iter() {
                    let (said, remedy) = (problem.to_string(), problem.remedy());
                    write!(out, "error: {}\n  help: {}\n", by_line(&said), by_line(remedy))?;
                }
                Ok(())
            }
            Failure::Interrupted => out.write_str("stopped before the end"),
            Failure::Internal(message) => write!(out, "internal error: {}", by_line(message)),
        }
    }
}

/// A message may quote what a file or a hook says, and goes to a terminal.
fn by_line(text: &str) -> String {
    text.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_quotes_a_file_cannot_drive_the_terminal() {
        let hostile = "it says `\u{1b}[2J\u{202e}x`\nand more";
        for failure in [Failure::usage("a\rb", hostile, hostile), Failure::Internal(hostile.to_owned())] {
            let shown = failure.to_string();
            assert!(!shown.contains(['\u{1b}', '\u{202e}', '\r']), "{shown}");
            assert!(shown.contains("\nand more"), "{shown}");
        }
    }
}
