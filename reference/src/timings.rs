//! Where the time of a call goes: one mark a stage, printed as one line on request.
//!
//! Costs two clock reads a stage and is on only with `HOOKMEM_TIMINGS`. Wall time; the caller prints it to stderr.

use std::time::Instant;

/// Collects stage marks.
#[derive(Debug)]
pub struct Timings {
    last: Option<Instant>,
    stages: Vec<(&'static str, u128)>,
}

impl Timings {
    /// Starts the clock, or a collector that does nothing.
    pub fn start(on: bool) -> Timings {
        Timings { last: on.then(Instant::now), stages: Vec::new() }
    }

    /// Ends the running stage under this name.
    pub fn mark(&mut self, stage: &'static str) {
        if let Some(last) = &mut self.last {
            let now = Instant::now();
            self.stages.push((stage, now.duration_since(*last).as_micros()));
            *last = now;
        }
    }

    /// `decode_us=12 project_us=40 …`; empty when off.
    pub fn line(&self) -> String {
        let stages: Vec<String> = self.stages.iter().map(|(stage, us)| format!("{stage}_us={us}")).collect();
        stages.join(" ")
    }
}
