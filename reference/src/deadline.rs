//! The one monotonic deadline of a process.
//!
//! Made once when the process starts and passed to every stage; a stage that has no time left gives up what it is
//! doing and the call ends with what there is. It never looks at the wall clock, which may be set back.

use std::time::{Duration, Instant};

/// A point on the monotonic clock after which work is not worth doing.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    end: Instant,
}

impl Deadline {
    /// A deadline `budget` from now.
    pub fn after(budget: Duration) -> Deadline {
        let now = Instant::now();
        // A budget beyond the clock's range means "no limit"; a day is that for a hook.
        Deadline { end: now.checked_add(budget).unwrap_or(now + Duration::from_secs(86_400)) }
    }

    /// Time left; zero once it has passed.
    pub fn left(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    /// True once the deadline has passed.
    pub fn expired(&self) -> bool {
        self.left().is_zero()
    }
}
