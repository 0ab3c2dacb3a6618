//! One worker's way to run processes: a launcher, and the small runtime that waits on its pipes.

use std::cell::RefCell;
use std::io;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use crate::observation::{Ending, MemorySource, Observation, SpawnFault};
use crate::process::{Call, Launcher, Program};
use crate::sandbox::ShellCall;

/// Runs calls one after the other.
pub struct Caller {
    runtime: Runtime,
    launcher: RefCell<Launcher>,
}

impl Caller {
    /// A caller with its own launcher, started at the first call.
    ///
    /// # Errors
    /// When the system gives no event queue.
    pub fn new() -> io::Result<Caller> {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
        Ok(Caller { runtime, launcher: RefCell::new(Launcher::new()) })
    }

    /// Runs one call to its end.
    ///
    /// # Errors
    /// When the launcher was lost; what the hook did wrong is in the observation.
    pub fn call(&self, call: &Call) -> io::Result<Observation> {
        self.runtime.block_on(self.launcher.borrow_mut().call(call))
    }

    /// Runs a scenario's shell command; a lost launcher looks like a command that could not be started.
    pub fn shell(&self, shell: &ShellCall) -> Observation {
        let mut call = Call::new(Program::Shell(shell.command.clone()));
        call.env.clone_from(&shell.env);
        call.cwd.clone_from(&shell.cwd);
        call.timeout = shell.timeout;
        self.call(&call).unwrap_or_else(|error| Observation {
            ending: Ending::NotStarted(SpawnFault::Other(error.raw_os_error().unwrap_or(0))),
            stdout: Vec::new(),
            stderr: error.to_string().into_bytes(),
            stdout_dropped_bytes: 0,
            exit_after: Duration::ZERO,
            eof_after: Duration::ZERO,
            first_byte_after: None,
            cpu: Duration::ZERO,
            cpu_partial: false,
            peak_memory_bytes: None,
            memory_source: MemorySource::None,
            stdin_closed_early: false,
            stream_held_open: false,
            orphans: Vec::new(),
        })
    }
}
