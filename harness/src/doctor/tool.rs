//! Programs that hookbench can use when they are installed.

use std::io;
use std::time::Duration;

use crate::caller::Caller;
use crate::observation::Ending;
use crate::process::{Call, Program};

/// Programs, each with what is lost without it.
const TOOLS: [(&str, &str); 2] =
    [("git", "hooks and scenarios that call it fail"), ("valgrind", "instructions cannot be counted")];

/// Longest time for a program to tell its version.
const PATIENCE: Duration = Duration::from_secs(10);

/// One program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// What it says of itself; `None` when it is missing.
    pub version: Option<String>,
    /// What is lost without it.
    pub without: &'static str,
}

impl Tool {
    /// Asks every program for its version.
    ///
    /// # Errors
    /// A lost launcher, or the interrupt.
    pub fn all(caller: &Caller) -> io::Result<Vec<Tool>> {
        TOOLS.into_iter().map(|(name, without)| Ok(Tool { name, version: version(caller, name)?, without })).collect()
    }
}

fn version(caller: &Caller, name: &str) -> io::Result<Option<String>> {
    let mut call = Call::new(Program::Exec(vec![name.to_owned(), "--version".to_owned()]));
    call.env.extend(std::env::var_os("PATH").map(|path| ("PATH".into(), path)));
    call.timeout = PATIENCE;
    let seen = caller.call(&call)?;
    let text = String::from_utf8_lossy(&seen.stdout);
    let said = text.lines().next().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty());
    Ok(said.filter(|_| seen.ending == Ending::Exited(0)))
}
