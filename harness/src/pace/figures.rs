//! Service and response times of an open-loop run, by event.

use std::time::Duration;

use crate::latency::Distribution;
use crate::summary::{StepSummary, Summary};

/// The calls of one event.
#[derive(Debug, Clone, PartialEq)]
pub struct PaceFigures {
    /// The event.
    pub event: String,
    /// Wall times: how long the hook took.
    pub service: Distribution,
    /// Wall times and lateness: how long whoever caused the event waited.
    pub response: Distribution,
    /// Calls that began late.
    pub n_late: u64,
    /// The latest of them.
    pub most_late: Duration,
}

/// Figures for each event, in alphabetical order; none for a run without schedule. Calls that did not start are left
/// out, as everywhere.
pub fn figures(summary: &Summary) -> Vec<PaceFigures> {
    let of_event = |event: &str| {
        let calls = || summary.steps_of_event(event).flat_map(StepSummary::calls).filter(|call| call.started);
        let paced: Vec<(u64, u64)> = calls().filter_map(|call| Some((call.wall_us, call.late_us?))).collect();
        (!paced.is_empty()).then(|| PaceFigures {
            event: event.to_owned(),
            service: Distribution::of(paced.iter().map(|(wall, _)| *wall)),
            response: Distribution::of(paced.iter().map(|(wall, late)| wall.saturating_add(*late))),
            n_late: paced.iter().filter(|(_, late)| *late > 0).count() as u64,
            most_late: Duration::from_micros(paced.iter().map(|(_, late)| *late).max().unwrap_or(0)),
        })
    };
    summary.events().into_iter().filter_map(of_event).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::fixture::{step, summary};

    #[test]
    fn response_is_service_and_lateness_call_by_call() {
        // Walls of 100 ms, late by 0, 50 … 450 ms: responses 100 … 550 ms.
        let results = (0..10).map(|round| {
            let mut result = step("s", "x", 0, round);
            result.observation.eof_after = Duration::from_millis(100);
            result.late = Some(Duration::from_millis(u64::from(round) * 50));
            result
        });
        let found = figures(&summary(10, results));
        assert_eq!(found.len(), 1);
        let Some(event) = found.first() else { return };
        let near = |time: Option<Duration>, ms: u64| {
            time.is_some_and(|time| time.as_micros().abs_diff(u128::from(ms) * 1_000) <= u128::from(ms))
        };
        assert!(near(event.service.at_rank(5), 100) && near(event.service.max(), 100));
        assert!(near(event.response.at_rank(1), 100) && near(event.response.at_rank(5), 300));
        assert!(near(event.response.max(), 550));
        assert_eq!((event.n_late, event.most_late), (9, Duration::from_millis(450)));
    }

    #[test]
    fn a_run_without_schedule_has_none() {
        assert!(figures(&summary(1, [step("s", "x", 0, 0)])).is_empty());
    }
}
