//! What one call is to do: program, payload, surroundings, limits and planned faults.
//!
//! Guarantee: a [`Call`] is plain data. Nothing is started, opened or looked up before it is handed to a
//! [`Launcher`](super::Launcher); only [`floor_call`] asks the file system, for the path of the no-op program.
//!
//! Not here: the environment and the folder that the host would give. The sandbox decides those.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::program;

/// Bytes kept of each output stream unless a call says otherwise.
pub const CAPTURE_LIMIT_BYTES: usize = 4 * 1024 * 1024;

/// Time between SIGTERM and SIGKILL once the timeout is reached, as both known hosts wait.
pub const KILL_GRACE: Duration = Duration::from_millis(1500);

/// How the command is given, and so how it is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// A command line for `/bin/sh -c`.
    Shell(String),
    /// A program and its arguments, run directly. A name without a slash is searched in the call's own `PATH`.
    Exec(Vec<String>),
}

/// How long the host waits for the output streams once the hook's own process has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoldRule {
    /// Until both streams have ended (client 2.1.197). The call's timeout, counted from the spawn, bounds it.
    UntilEof,
    /// Until both streams have ended, or no byte came for `quiet`, or `total` has passed (client 2.1.332).
    Quiet {
        /// Longest silence, 500 ms in that client.
        quiet: Duration,
        /// Longest wait in all, counted from the exit, 10 s in that client.
        total: Duration,
    },
}

/// What happens to stdin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StdinPlan {
    /// The whole payload, then the end of the stream: what the host does.
    #[default]
    Whole,
    /// The whole payload, but no end of the stream while the hook runs.
    HeldOpen,
    /// Only this many bytes of the payload, then the end of the stream.
    CutAfter(usize),
}

/// One call of a hook.
#[derive(Debug, Clone)]
pub struct Call {
    /// What is started.
    pub program: Program,
    /// The payload, byte for byte.
    pub stdin: Vec<u8>,
    /// The whole environment; nothing is inherited.
    pub env: Vec<(OsString, OsString)>,
    /// The working folder.
    pub cwd: PathBuf,
    /// From the spawn to SIGTERM for the hook's process group.
    pub timeout: Duration,
    /// From that SIGTERM to SIGKILL, if the hook's own process is still there.
    pub kill_grace: Duration,
    /// What the host does about streams that stay open.
    pub hold: HoldRule,
    /// Bytes kept of stdout and of stderr each; the rest is read and counted, not kept.
    pub capture_limit_bytes: usize,
    /// Planned fault: what happens to stdin.
    pub stdin_plan: StdinPlan,
    /// Planned fault: SIGKILL for the hook's process group this long after the spawn.
    pub kill_after: Option<Duration>,
}

impl Call {
    /// A call without payload, environment or faults, in `/`, held and timed as the newest known host does.
    pub fn new(program: Program) -> Self {
        Self {
            program,
            stdin: Vec::new(),
            env: Vec::new(),
            cwd: PathBuf::from("/"),
            timeout: Duration::from_secs(600),
            kill_grace: KILL_GRACE,
            hold: HoldRule::Quiet { quiet: Duration::from_millis(500), total: Duration::from_secs(10) },
            capture_limit_bytes: CAPTURE_LIMIT_BYTES,
            stdin_plan: StdinPlan::Whole,
            kill_after: None,
        }
    }
}

/// The call that does nothing: the `true` program of this machine, run without a shell.
///
/// Its times are the floor under every hook's. Fails with `NotFound` when no folder of `PATH`, `/bin` or
/// `/usr/bin` holds it.
pub fn floor_call() -> io::Result<Call> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = program::find("true", &path).or_else(|_| program::find("true", "/bin:/usr/bin".as_ref()));
    let found = found.map_err(|_| io::Error::new(io::ErrorKind::NotFound, "no program `true` in PATH"))?;
    let found = found.into_os_string().into_string();
    let found = found.map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "the path of `true` is not UTF-8"))?;
    Ok(Call::new(Program::Exec(vec![found])))
}
