//! The routing strategies: against numbers worked out by hand, against their formulas written down a second time, by
//! what holds for all of them, and on disk.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod laws;
mod profiles;
mod slow;
mod stored;
mod worked;
