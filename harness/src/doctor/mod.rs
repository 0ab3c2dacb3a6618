//! Whether measurements on this machine can be trusted: what it is, what the floor costs, and a test of the gates.
//!
//! The self-test asks what nobody can see from a green run. Do equal hooks pass? Does a hook that is truly a tenth
//! slower fail? Does a hook that says nothing fail the goldens? And what is the smallest slow-down that shows here in
//! the time allowed? Measuring is in [`self_test()`]; what the measurements mean is [`judge`], which touches nothing.
//!
//! Deliberately not here: any change to the machine. It is looked at, never tuned.

mod file;
mod judge;
mod overhead;
mod rounds;
mod sample;
mod self_test;
mod tool;
mod wrapper;

use crate::machine;
use crate::replay::Stop;

pub use self::file::{DoctorFile, doctor_schema};
pub use self::judge::{Check, Control, Evidence, Trial, Vacuity, judge, overall, smallest_visible};
pub use self::overhead::Overhead;
pub use self::rounds::{MetricRound, record_rounds};
pub use self::sample::Sample;
pub use self::self_test::{Asked, self_test};
pub use self::tool::Tool;

use crate::caller::Caller;

/// What the machine is and costs.
#[derive(Debug, Clone)]
pub struct Machine {
    /// Processor, cores, kernel.
    pub fingerprint: String,
    /// The no-op, and what the launcher adds to it.
    pub overhead: Overhead,
    /// Programs that hookbench can use.
    pub tools: Vec<Tool>,
}

impl Machine {
    /// Looks at the machine; `n_calls` of the no-op, and as many bare ones.
    ///
    /// # Errors
    /// A lost launcher, or the interrupt.
    pub fn examine(caller: &Caller, n_calls: u32, seed: u64) -> Result<Machine, Stop> {
        Ok(Machine {
            fingerprint: machine::fingerprint(),
            overhead: Overhead::measure(caller, n_calls, seed)?,
            tools: Tool::all(caller)?,
        })
    }
}
