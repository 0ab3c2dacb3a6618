//! The user's wish to stop a run: Ctrl-C, or the termination signal of a CI system.
//!
//! Guarantee: the first signal raises the [`Interrupt`] and nothing else, so that the run can end its hooks, remove
//! its sandboxes and keep what it has. The second one ends the process at once; launchers see that by themselves and
//! end their hooks. Signals within half a second of the first are the first: `timeout` and other wrappers send each signal to
//! the process and to its group, and nobody asks twice that fast.
//!
//! Not here: what a raised interrupt does. Callers abandon their call, the replay stops, the report says so.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use crate::exit_code::ExitCode;

/// How long one wish to stop may go on arriving.
const ECHO: Duration = Duration::from_millis(500);

/// Whether the user has asked to stop; clones share one answer.
#[derive(Debug, Clone)]
pub struct Interrupt {
    raised: Arc<watch::Sender<bool>>,
}

impl Interrupt {
    /// One that no signal raises.
    pub fn never() -> Interrupt {
        Interrupt { raised: Arc::new(watch::Sender::new(false)) }
    }

    /// One that SIGINT and SIGTERM raise, from now to the end of the process.
    ///
    /// # Errors
    /// When the system refuses a handler, an event queue or a thread.
    pub fn from_signals() -> io::Result<Interrupt> {
        let runtime = Builder::new_current_thread().enable_io().build()?;
        let (mut interrupt_signal, mut termination) = {
            let _inside = runtime.enter();
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?)
        };
        let interrupt = Interrupt::never();
        let raised = interrupt.raised.clone();
        std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            runtime.block_on(async {
                either(&mut interrupt_signal, &mut termination).await;
                raised.send_replace(true);
                let first = Instant::now();
                loop {
                    either(&mut interrupt_signal, &mut termination).await;
                    if first.elapsed() >= ECHO {
                        break;
                    }
                }
            });
            std::process::exit(i32::from(ExitCode::Interrupted.code()));
        })?;
        Ok(interrupt)
    }

    /// Raises it, as a signal would.
    pub fn raise(&self) {
        self.raised.send_replace(true);
    }

    /// Whether it was raised.
    pub fn is_raised(&self) -> bool {
        *self.raised.borrow()
    }

    /// Returns once it was raised.
    pub async fn raised(&self) {
        // Cannot fail: this very value keeps the sender alive.
        let _ = self.raised.subscribe().wait_for(|raised| *raised).await;
    }
}

async fn either(left: &mut Signal, right: &mut Signal) {
    tokio::select! {
        _ = left.recv() => {}
        _ = right.recv() => {}
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
    use super::*;

    #[test]
    fn clones_share_the_answer_and_waiters_wake() {
        let interrupt = Interrupt::never();
        let waiter = interrupt.clone();
        assert!(!waiter.is_raised());
        let waiting = std::thread::spawn(move || {
            Builder::new_current_thread().build().unwrap().block_on(waiter.raised());
            waiter.is_raised()
        });
        interrupt.raise();
        assert!(waiting.join().unwrap());
    }
}
