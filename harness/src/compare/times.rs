//! Times of two runs beside each other, unpaired: figures to look at, never a verdict.
//!
//! Pooled are the calls of the steps that both runs have. A median needs five calls, like everywhere. Runs of
//! different machines, or of several, have no comparable times.

use super::{Both, Side};
use crate::latency::{Distribution, Quantile};
use crate::summary::{Clock, StepSummary, Timing};

/// The times of two runs.
#[derive(Debug, Clone, PartialEq)]
pub enum Times {
    /// They cannot stand beside each other.
    Refused {
        /// One sentence.
        reason: String,
    },
    /// One entry for each event and clock.
    Unpaired(Vec<EventTimes>),
}

/// One event on one clock.
#[derive(Debug, Clone, PartialEq)]
pub struct EventTimes {
    /// Name of the event.
    pub event: String,
    /// Which time.
    pub clock: Clock,
    /// Calls.
    pub n: Both<u64>,
    /// Median in microseconds; absent when there are too few calls.
    pub median_us: Both<Option<u64>>,
    /// Median of the no-op children of the run in microseconds.
    pub floor_us: Both<Option<u64>>,
    /// Median over calls of time by the no-op's of the same round.
    pub to_floor: Both<Option<f64>>,
    /// Later median by earlier one.
    pub ratio: Option<f64>,
}

impl Times {
    pub(super) fn of(pairs: &[Both<&StepSummary>], sides: Both<&Side>) -> Times {
        let machines = sides.map(|side| side.summary().machines());
        if machines.before.len() > 1 || machines.after.len() > 1 {
            return Times::Refused { reason: "a run was merged from several machines".to_owned() };
        }
        if machines.differ() {
            let [before, after] = [&machines.before, &machines.after].map(|machines| machines.join(""));
            return Times::Refused {
                reason: format!("the runs were made on different machines: `{before}` and `{after}`"),
            };
        }
        let mut events: Vec<&str> = pairs.iter().map(|pair| &*pair.after.event).collect();
        events.sort_unstable();
        events.dedup();
        let both = events.into_iter().flat_map(|event| [Clock::Wall, Clock::Cpu].map(|clock| (event, clock)));
        Times::Unpaired(both.map(|(event, clock)| event_times(event, clock, pairs, sides)).collect())
    }
}

fn event_times(event: &str, clock: Clock, pairs: &[Both<&StepSummary>], sides: Both<&Side>) -> EventTimes {
    let own = || pairs.iter().filter(|pair| pair.after.event == event);
    let timings = Both {
        before: Timing::of(own().map(|pair| pair.before), sides.before.summary().floors()),
        after: Timing::of(own().map(|pair| pair.after), sides.after.summary().floors()),
    };
    let medians = Both { before: median_us(timings.before.clock(clock)), after: median_us(timings.after.clock(clock)) };
    let floors = sides.map(|side| match clock {
        Clock::Wall => side.summary().floors().wall(),
        Clock::Cpu => side.summary().floors().cpu(),
    });
    let whole = medians.before.zip(medians.after).filter(|(before, _)| *before > 0);
    EventTimes {
        event: event.to_owned(),
        clock,
        n: Both { before: timings.before.clock(clock).count(), after: timings.after.clock(clock).count() },
        median_us: medians,
        floor_us: floors.map(|floor| median_us(&floor)),
        to_floor: Both { before: timings.before.median_ratio(clock), after: timings.after.median_ratio(clock) },
        ratio: whole.map(|(before, after)| after as f64 / before as f64),
    }
}

fn median_us(times: &Distribution) -> Option<u64> {
    let median = times.percentile(Quantile::P50).value()?;
    Some(u64::try_from(median.as_micros()).unwrap_or(u64::MAX))
}
