//! Raw rounds for whoever wants to try a decision rule out: baseline, candidate, slowed candidate and no-op, call by
//! call, as JSON lines.
//!
//! Baseline and candidate are the same hook behind a burner that burns nothing; the slowed one burns a tenth of its
//! time. Each round is one pass over the plan's scenarios in lockstep; its times are sums over their steps.

use std::time::Duration;

use serde::Serialize;

use super::self_test::tested;
use super::wrapper::behind_burner;
use crate::bench::{Lane, N_COLD_ROUNDS, Order, Seen, replay_in_lockstep};
use crate::caller::Caller;
use crate::golden::Writing;
use crate::play::FirstTexts;
use crate::replay::{Plan, Stop};
use crate::run_event::Arm;
use crate::target::Target;

/// One line: one round on one clock, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct MetricRound {
    /// The round, from 1.
    pub round: u32,
    /// `cpu` or `wall`.
    pub metric: &'static str,
    /// The hook.
    pub baseline_us: u64,
    /// The hook again.
    pub candidate_us: u64,
    /// The hook, slowed.
    pub slow_us: u64,
    /// The no-op beside each step.
    pub noop_us: u64,
}

/// Measures `n` warm rounds with a slowed hook that burns `burn`; `keep` takes two lines for each.
///
/// # Errors
/// A scenario that cannot go on, the interrupt, a fault of the machinery, or what `keep` says.
pub fn record_rounds(
    plan: &Plan,
    burn: Duration,
    n: u32,
    keep: &mut dyn FnMut(&MetricRound) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let caller = Caller::new(plan.interrupt.clone())?;
    let hook = tested(plan)?;
    let (plain, slowed) = (behind_burner(hook, Duration::ZERO)?, behind_burner(hook, burn)?);
    let (plain, slowed) = (Target::from(plain), Target::from(slowed));
    let texts = [FirstTexts::default(), FirstTexts::default(), FirstTexts::default()];
    let arms = [(Arm::Baseline, &plain), (Arm::Candidate, &plain), (Arm::Candidate, &slowed)];
    let lane = |((arm, target), first_texts)| Lane { arm, target, writing: Writing::Never, first_texts };
    let lanes: Vec<Lane<'_>> = arms.into_iter().zip(&texts).map(lane).collect();
    for round in 0..n.saturating_add(N_COLD_ROUNDS) {
        let mut order = Order::of(plan.seed, round);
        // Wall and CPU of the three hooks and the no-op.
        let mut sums = [(Duration::ZERO, Duration::ZERO); 4];
        for at in order.scenarios(plan.scenarios.len()) {
            let Some((scenario, host)) = plan.scenarios.get(at) else { continue };
            replay_in_lockstep(plan, &caller, (scenario, host), &lanes, round, &mut order, &mut |seen| {
                let (place, wall, cpu) = match seen {
                    Seen::Floor { wall, cpu } => (3, wall, cpu),
                    Seen::Call { lane, result } => (lane, result.observation.eof_after, result.observation.cpu),
                };
                if let Some(sum) = sums.get_mut(place) {
                    *sum = (sum.0 + wall, sum.1 + cpu);
                }
            })?;
        }
        if round < N_COLD_ROUNDS {
            continue;
        }
        let us = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let line = |metric, times: [Duration; 4]| {
            let [baseline_us, candidate_us, slow_us, noop_us] = times.map(us);
            MetricRound { round: round + 1 - N_COLD_ROUNDS, metric, baseline_us, candidate_us, slow_us, noop_us }
        };
        keep(&line("cpu", sums.map(|sum| sum.1)))?;
        keep(&line("wall", sums.map(|sum| sum.0)))?;
    }
    Ok(())
}
