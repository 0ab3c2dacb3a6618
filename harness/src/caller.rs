//! One worker's way to run processes: a launcher, and the small runtime that waits on its pipes.

use std::cell::RefCell;
use std::io;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use crate::interrupt::Interrupt;
use crate::observation::{Ending, MemorySource, Observation, SpawnFault};
use crate::process::{Call, Launcher, Program};
use crate::sandbox::ShellCall;

/// Runs calls one after the other.
pub struct Caller {
    runtime: Runtime,
    launcher: RefCell<Launcher>,
    interrupt: Interrupt,
}

impl Caller {
    /// A caller with its own launcher, started at the first call. A raised interrupt ends whatever it runs.
    ///
    /// # Errors
    /// When the system gives no event queue.
    pub fn new(interrupt: Interrupt) -> io::Result<Caller> {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
        Ok(Caller { runtime, launcher: RefCell::new(Launcher::new()), interrupt })
    }

    /// Runs one call to its end.
    ///
    /// # Errors
    /// When the launcher was lost, or with `Interrupted` once the interrupt was raised; then the hook and all that it
    /// started are gone. What the hook did wrong is in the observation.
    pub fn call(&self, call: &Call) -> io::Result<Observation> {
        let mut launcher = self.launcher.borrow_mut();
        self.runtime.block_on(async {
            tokio::select! {
                biased;
                () = self.interrupt.raised() => Err(io::ErrorKind::Interrupted.into()),
                // Dropping it half-way ends the launcher, and with it the hook.
                seen = launcher.call(call) => seen,
            }
        })
    }

    /// Runs a scenario's shell command; a lost launcher or an interrupt looks like a command that could not be started.
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
            stderr_dropped_bytes: 0,
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
