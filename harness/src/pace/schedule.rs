//! When which step of which session is due, and how late a busy session makes it. Pure: no clock, no process.

use std::time::Duration;

use super::Pace;

/// One call that the schedule asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// When, on the schedule's own clock.
    pub due: Duration,
    /// In which session, from 0.
    pub session: usize,
    /// Which of the steps that call something, from 0.
    pub step: usize,
}

/// The calls of one scenario in `n_sessions` sessions. `offsets` has one entry for each step that calls something: its
/// recorded time, if it has one.
///
/// At a rate the sessions take turns: call number i, counted over the whole run from `n_before`, is due at i / rate. At
/// the recorded pace every session gets each step at its own time; a step without a time is due with the one before.
pub fn arrivals(pace: Pace, offsets: &[Option<Duration>], n_sessions: usize, n_before: u64) -> Vec<Arrival> {
    let mut all = Vec::with_capacity(offsets.len() * n_sessions);
    let mut recorded = Duration::ZERO;
    for (step, offset) in offsets.iter().enumerate() {
        recorded = offset.unwrap_or(recorded);
        for session in 0..n_sessions {
            let due = match pace {
                Pace::Recorded => recorded,
                Pace::Rate(rate) => Duration::from_secs_f64((n_before + all.len() as u64) as f64 / rate),
            };
            all.push(Arrival { due, session, step });
        }
    }
    all
}

/// The line in front of one session, which serves one call at a time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Queue {
    free_at: Duration,
}

impl Queue {
    /// How late a call begins that is due now: the session may still be busy with those before.
    pub fn late(&self, due: Duration) -> Duration {
        self.free_at.saturating_sub(due)
    }

    /// Takes in a call that was due then and took `service`; how late it began.
    pub fn serve(&mut self, due: Duration, service: Duration) -> Duration {
        let late = self.late(due);
        self.free_at = due + late + service;
        late
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    /// Lateness of each call, by session, when every call takes as long.
    fn lateness(arrivals: &[Arrival], n_sessions: usize, service: Duration) -> Vec<Vec<u128>> {
        let mut queues = vec![Queue::default(); n_sessions];
        let mut late = vec![Vec::new(); n_sessions];
        for arrival in arrivals {
            late[arrival.session].push(queues[arrival.session].serve(arrival.due, service).as_millis());
        }
        late
    }

    #[test]
    fn a_hook_of_100_ms_at_20_a_second_falls_50_ms_further_behind_with_each_call() {
        let all = arrivals(Pace::Rate(20.0), &[None; 6], 1, 0);
        assert_eq!(all.iter().map(|arrival| arrival.due.as_millis()).collect::<Vec<_>>(), [0, 50, 100, 150, 200, 250]);
        assert_eq!(lateness(&all, 1, ms(100)), [[0, 50, 100, 150, 200, 250]]);
    }

    #[test]
    fn two_sessions_carry_what_one_cannot() {
        // Each session gets every second call, 100 ms apart: just what it can serve.
        let all = arrivals(Pace::Rate(20.0), &[None; 4], 2, 0);
        let of_second: Vec<(u128, usize)> = all
            .iter()
            .filter(|arrival| arrival.session == 1)
            .map(|arrival| (arrival.due.as_millis(), arrival.step))
            .collect();
        assert_eq!(of_second, [(50, 0), (150, 1), (250, 2), (350, 3)]);
        assert_eq!(lateness(&all, 2, ms(100)), [[0, 0, 0, 0], [0, 0, 0, 0]]);
        assert_eq!(lateness(&all, 2, ms(130)), [[0, 30, 60, 90], [0, 30, 60, 90]]);
    }

    #[test]
    fn a_rate_goes_on_over_scenarios_and_so_does_the_line() {
        let mut queue = Queue::default();
        let mut late = |arrivals: &[Arrival]| {
            arrivals.iter().map(|arrival| queue.serve(arrival.due, ms(100)).as_millis()).collect::<Vec<_>>()
        };
        assert_eq!(late(&arrivals(Pace::Rate(20.0), &[None; 2], 1, 0)), [0, 50]);
        assert_eq!(late(&arrivals(Pace::Rate(20.0), &[None; 2], 1, 2)), [100, 150]);
    }

    #[test]
    fn a_pause_lets_a_session_catch_up() {
        let at = [ms(0), ms(10), ms(1_000), ms(1_050)].map(Some);
        let all = arrivals(Pace::Recorded, &at, 1, 99);
        assert_eq!(lateness(&all, 1, ms(300)), [[0, 290, 0, 250]]);
    }

    #[test]
    fn recorded_sessions_get_each_step_at_its_time() {
        let all = arrivals(Pace::Recorded, &[Some(ms(0)), None, Some(ms(70))], 2, 0);
        let seen: Vec<(u128, usize, usize)> =
            all.iter().map(|arrival| (arrival.due.as_millis(), arrival.session, arrival.step)).collect();
        assert_eq!(seen, [(0, 0, 0), (0, 1, 0), (0, 0, 1), (0, 1, 1), (70, 0, 2), (70, 1, 2)]);
    }
}
