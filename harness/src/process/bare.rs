//! The plainest way to run a program: spawn it, wait for it, look at the clock.
//!
//! It is what the cost of the launcher and its streams is held against, and nothing else calls it: it knows no timeout,
//! reads no output and finds no orphans.

use std::io;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Runs a program without arguments, environment or streams, in this process's folder; the time from before the spawn to the end of the wait.
///
/// # Errors
/// When the program cannot be started or waited for.
pub fn spawn_and_wait(program: &str) -> io::Result<Duration> {
    let mut command = Command::new(program);
    command.env_clear().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    command.spawn()?.wait()?;
    Ok(start.elapsed())
}
