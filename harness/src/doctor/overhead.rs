//! What a call through the launcher costs beside the plainest spawn and wait of the same program.
//!
//! The two are called in turns, in random order, so that both meet the same load; their ratio is taken pair by pair.

use std::io;
use std::time::Duration;

use fastrand::Rng;
use hookbench_statistics::{CONFIDENCE, Interval, median_interval};

use crate::caller::Caller;
use crate::latency::{Contention, Distribution, contention};
use crate::process::{Program, floor_call, spawn_and_wait};

/// Calls of each kind before any counts.
const N_COLD: u32 = 5;

/// Times of the no-op, called in both ways.
#[derive(Debug, Clone)]
pub struct Overhead {
    /// Wall of a call as a hook is called: spawn to end of output.
    pub wall: Distribution,
    /// Spawn to exit of the same calls.
    pub exit: Distribution,
    /// CPU of the same calls.
    pub cpu: Distribution,
    /// Wall of a bare spawn and wait.
    pub bare: Distribution,
    /// ln(wall / bare) of each pair.
    pub log_ratios: Vec<f64>,
}

impl Overhead {
    /// Measures `n` pairs.
    ///
    /// # Errors
    /// A lost launcher, the interrupt, or no program to call.
    pub fn measure(caller: &Caller, n: u32, seed: u64) -> io::Result<Overhead> {
        let call = floor_call()?;
        let Program::Exec(words) = &call.program else { return Err(io::ErrorKind::Unsupported.into()) };
        let program = words.first().ok_or(io::ErrorKind::NotFound)?;
        let mut random = Rng::with_seed(seed);
        let mut pairs = Vec::new();
        for nth in 0..n.saturating_add(N_COLD) {
            let bare_first = random.bool();
            let early = if bare_first { Some(spawn_and_wait(program)?) } else { None };
            let seen = caller.call(&call)?;
            let bare = match early {
                Some(bare) => bare,
                None => spawn_and_wait(program)?,
            };
            if nth >= N_COLD {
                pairs.push((seen.eof_after, seen.exit_after, seen.cpu, bare));
            }
        }
        let us = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let log = |wall: Duration, bare: Duration| (us(wall).max(1) as f64 / us(bare).max(1) as f64).ln();
        Ok(Overhead {
            wall: Distribution::of(pairs.iter().map(|pair| us(pair.0))),
            exit: Distribution::of(pairs.iter().map(|pair| us(pair.1))),
            cpu: Distribution::of(pairs.iter().map(|pair| us(pair.2))),
            bare: Distribution::of(pairs.iter().map(|pair| us(pair.3))),
            log_ratios: pairs.iter().map(|pair| log(pair.0, pair.3)).collect(),
        })
    }

    /// Median of ln(wall / bare), with its interval.
    pub fn interval(&self) -> Option<Interval> {
        median_interval(&self.log_ratios, CONFIDENCE, 1)
    }

    /// Whether the no-op was steady.
    pub fn contention(&self) -> Contention {
        contention(&self.wall)
    }
}
