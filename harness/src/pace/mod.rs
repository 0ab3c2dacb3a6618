//! Open loop: calls begin when a schedule says so, not when the last one ended.
//!
//! A session is a sandbox of its own, in which steps stay in order and one at a time; that is why a slow hook makes the
//! calls behind it late. *Service time* is a call's wall time, *response time* is that and how late the call was: what
//! a user sees who works on regardless. Leaving lateness out is the coordinated omission of closed loops.
//!
//! Guarantees that lateness is the hook's own: it is reckoned from the schedule and the service times alone, and what
//! the replayer spends between two calls (sandboxes, changes before a step, looking for writes) is no part of it. How
//! far the replayer itself was behind is told apart, since a load that was not kept up is not the load that was asked.
//!
//! - `schedule`: when which step is due, and the queue of a session; pure
//! - `replay`: the loop
//! - `figures`: service and response times of a run

mod figures;
mod replay;
mod schedule;

use std::fmt;
use std::str::FromStr;

pub use self::figures::{PaceFigures, figures};
pub use self::replay::{Behind, OpenLoop, check, replay};
pub use self::schedule::{Arrival, Queue, arrivals};

/// Where the schedule comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// The times of the recording: `at_ms` of the steps.
    Recorded,
    /// This many calls a second, evenly spaced.
    Rate(f64),
}

/// Fewest and most calls a second that can be asked for: one in 1,000 s is no load, and longer pauses outrun the clock.
const LEAST: f64 = 0.001;
const MOST: f64 = 10_000.0;

impl FromStr for Pace {
    type Err = String;

    fn from_str(text: &str) -> Result<Pace, String> {
        if text == "recorded" {
            return Ok(Pace::Recorded);
        }
        let Some(number) = text.strip_prefix("rate=") else {
            return Err("write `recorded`, or `rate=N` with calls a second".to_owned());
        };
        match number.parse::<f64>() {
            Ok(rate) if (LEAST..=MOST).contains(&rate) => Ok(Pace::Rate(rate)),
            _ => Err(format!("`{number}` is no number of calls a second from {LEAST} to {MOST}")),
        }
    }
}

impl fmt::Display for Pace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pace::Recorded => out.write_str("recorded"),
            Pace::Rate(rate) => write!(out, "rate={rate}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paces_are_read_as_they_are_written() {
        for text in ["recorded", "rate=20", "rate=0.5", "rate=0.001", "rate=10000"] {
            assert_eq!(text.parse::<Pace>().map(|pace| pace.to_string()), Ok(text.to_owned()));
        }
        for text in ["", "rate", "rate=", "rate=0", "rate=-1", "rate=inf", "rate=NaN", "rate=10001", "20", "rate=x"] {
            assert!(text.parse::<Pace>().is_err(), "{text}");
        }
        for text in ["rate=0.0009", "rate=1e-308", "rate=5e-324"] {
            assert!(text.parse::<Pace>().is_err(), "{text}: its second call is due when no clock counts any more");
        }
    }
}
