//! One worker's way to run processes: launchers, and the small runtime that waits on their pipes.
//!
//! Calls that belong together begin together, each with a launcher of its own, and are waited for on one thread, so
//! that the waiting takes no processor from them.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use crate::interrupt::Interrupt;
use crate::observation::{Ending, MemorySource, Observation, SpawnFault};
use crate::process::{Call, Launcher, Program};
use crate::sandbox::ShellCall;

/// Most launchers that wait for the next call; more than that ran side by side once and may never again.
const KEPT_LAUNCHERS: usize = 8;

/// Runs calls, one after the other or together.
pub struct Caller {
    runtime: Runtime,
    launchers: RefCell<Vec<Launcher>>,
    interrupt: Interrupt,
}

impl Caller {
    /// A caller with its own launchers, started when they are needed. A raised interrupt ends whatever it runs.
    ///
    /// # Errors
    /// When the system gives no event queue.
    pub fn new(interrupt: Interrupt) -> io::Result<Caller> {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
        Ok(Caller { runtime, launchers: RefCell::default(), interrupt })
    }

    /// Runs one call to its end.
    ///
    /// # Errors
    /// When the launcher was lost, or with `Interrupted` once the interrupt was raised; then the hook and all that it
    /// started are gone. What the hook did wrong is in the observation.
    pub fn call(&self, call: &Call) -> io::Result<Observation> {
        let seen = self.call_together(std::slice::from_ref(call))?;
        seen.into_iter().next().ok_or_else(|| io::Error::other("a call was not observed"))
    }

    /// Runs calls side by side, begun together, to the end of the last; what was seen is in the order of the calls.
    ///
    /// # Errors
    /// As for one call; then all of them are gone.
    pub fn call_together(&self, calls: &[Call]) -> io::Result<Vec<Observation>> {
        let mut launchers = self.launchers.borrow_mut();
        while launchers.len() < calls.len() {
            launchers.push(Launcher::new());
        }
        let seen = self.runtime.block_on(async {
            let together = async {
                for launcher in launchers.iter_mut().take(calls.len()) {
                    launcher.start().await?;
                }
                let seen = all(launchers.iter_mut().zip(calls).map(|(launcher, call)| launcher.call(call))).await;
                seen.into_iter().collect::<io::Result<Vec<Observation>>>()
            };
            tokio::select! {
                biased;
                () = self.interrupt.raised() => Err(io::ErrorKind::Interrupted.into()),
                // Dropping a call half-way ends its launcher, and with it the hook.
                seen = together => seen,
            }
        });
        launchers.truncate(KEPT_LAUNCHERS);
        seen
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

/// The results of all futures, once the last is ready, in their order.
async fn all<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut running: Vec<Pin<Box<F>>> = futures.map(Box::pin).collect();
    let mut results: Vec<Option<F::Output>> = running.iter().map(|_| None).collect();
    poll_fn(|context| {
        for (future, result) in running.iter_mut().zip(&mut results).filter(|(_, result)| result.is_none()) {
            if let Poll::Ready(ready) = future.as_mut().poll(context) {
                *result = Some(ready);
            }
        }
        if results.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    results.into_iter().flatten().collect()
}
