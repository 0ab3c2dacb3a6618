//! The comparison of two hooks: interleaved rounds until the gates are sure, and fresh ones to confirm a fail.
//!
//! Every round replays every scenario for candidate and baseline in lockstep, with the no-op floor beside each step, all
//! in a fresh random order, so that the load of the moment meets all alike and cancels in their ratio. Nothing else
//! runs beside a call: there are no jobs. Measuring stops by precision, by number or by time, never because the
//! answer looks good.
//!
//! Guarantee: a seed fixes every order. The baseline writes no golden, and what it does wrong fails no run; but a
//! comparison with a baseline that does not work proves nothing and is refused.
//!
//! Deliberately not here: what the pairs prove (the gates), and what a hook does in a step (`play`).

mod broken;
mod instrument;
mod lockstep;
mod order;
mod pairs;

use std::time::{Duration, Instant};

use hookbench_statistics::confirmation_pairs;

use crate::caller::Caller;
use crate::gate::{self, Gate, Stored};
use crate::golden::Writing;
use crate::play::FirstTexts;
use crate::recording::Recording;
use crate::replay::{Plan, Stop};
use crate::run_event::{Arm, RunEvent};
use crate::target::Target;

pub use self::broken::{n_failed, refuse_broken};
pub use self::instrument::Instrument;
pub use self::lockstep::{Lane, Seen, replay_in_lockstep};
pub use self::order::{Order, Turn};
pub use self::pairs::Pairs;

/// Rounds at the start that only warm the machine up, in a comparison.
pub const N_COLD_ROUNDS: u32 = 2;

/// What is compared, and for how long.
pub struct Comparison<'a> {
    /// Scenarios, the candidate as its target, and how they are replayed. Repetitions and jobs are not looked at.
    pub plan: &'a Plan,
    /// The other hook.
    pub baseline: &'a Target,
    /// Warm rounds.
    pub pairs: Pairs,
    /// Longest time to measure; each confirmation may take as long again.
    pub max_time: Duration,
    /// What the pairs are for.
    pub gates: &'a [Gate],
    /// Saved runs that the gates name.
    pub stored: &'a Stored,
}

/// Measures, and confirms when a gate fails; the gates themselves are not judged into the recording.
///
/// # Errors
/// A scenario that cannot go on, a baseline that does not work, the interrupt, or a fault of the machinery. Events until
/// then have been recorded.
pub fn bench(comparison: &Comparison<'_>, recording: &mut Recording) -> Result<(), Stop> {
    let arena = Arena::open(comparison)?;
    let mut seed = comparison.plan.seed;
    let mut deadline = Instant::now() + comparison.max_time;
    for round in 0..N_COLD_ROUNDS {
        arena.play_round(round, seed, recording)?;
    }
    let mut first_round = N_COLD_ROUNDS;
    let mut n_pairs = measure(comparison, &arena, Phase { first_round, seed, deadline, number: 0 }, recording)?;
    for number in 1.. {
        if !gate::to_confirm(comparison.gates, recording.summary(), comparison.stored) {
            break;
        }
        first_round += n_pairs;
        seed = order::mixed(comparison.plan.seed, number);
        deadline = Instant::now() + comparison.max_time;
        recording.take(RunEvent::ConfirmStarted { round: first_round, seed });
        let confirmation = Comparison { pairs: Pairs::Fixed(twice(n_pairs)), ..*comparison };
        let phase = Phase { first_round, seed, deadline, number: number as usize };
        n_pairs = measure(&confirmation, &arena, phase, recording)?;
    }
    Ok(())
}

/// Pairs that confirm a fail at `n`.
fn twice(n: u32) -> u32 {
    u32::try_from(confirmation_pairs(n as usize)).unwrap_or(u32::MAX)
}

/// One uninterrupted stretch of warm rounds: the first measurement or a confirmation.
struct Phase {
    first_round: u32,
    seed: u64,
    deadline: Instant,
    number: usize,
}

/// Plays warm rounds until the phase is over; how many there were, at least one.
fn measure(
    comparison: &Comparison<'_>,
    arena: &Arena<'_>,
    phase: Phase,
    recording: &mut Recording,
) -> Result<u32, Stop> {
    let mut n_pairs = 0;
    let mut goal = Some(comparison.pairs.first_goal());
    while let Some(wanted) = goal {
        while n_pairs < wanted {
            if n_pairs > 0 && Instant::now() >= phase.deadline {
                return Ok(n_pairs);
            }
            arena.play_round(phase.first_round + n_pairs, phase.seed, recording)?;
            n_pairs += 1;
            refuse_broken(recording.summary())?;
        }
        goal = comparison
            .pairs
            .next_goal(n_pairs, || gate::pairs_wanted(comparison.gates, recording.summary(), phase.number));
    }
    Ok(n_pairs)
}

/// Where the two hooks meet: everything that lasts for the whole comparison.
struct Arena<'a> {
    plan: &'a Plan,
    baseline: &'a Target,
    caller: Caller,
    candidate_texts: FirstTexts,
    baseline_texts: FirstTexts,
}

impl<'a> Arena<'a> {
    fn open(comparison: &Comparison<'a>) -> Result<Arena<'a>, Stop> {
        Ok(Arena {
            plan: comparison.plan,
            baseline: comparison.baseline,
            caller: Caller::new(comparison.plan.interrupt.clone())?,
            candidate_texts: FirstTexts::default(),
            baseline_texts: FirstTexts::default(),
        })
    }

    /// Every scenario once, for both hooks.
    fn play_round(&self, round: u32, seed: u64, recording: &mut Recording) -> Result<(), Stop> {
        let lanes = [
            Lane {
                arm: Arm::Candidate,
                target: &self.plan.target,
                writing: self.plan.writing,
                first_texts: &self.candidate_texts,
            },
            Lane {
                arm: Arm::Baseline,
                target: self.baseline,
                writing: Writing::Never,
                first_texts: &self.baseline_texts,
            },
        ];
        let mut order = Order::of(seed, round);
        for at in order.scenarios(self.plan.scenarios.len()) {
            let Some((scenario, host)) = self.plan.scenarios.get(at) else { continue };
            let name = || scenario.name.clone();
            recording.take(RunEvent::ScenarioStarted { scenario: name(), round });
            let mut heard = |seen| {
                recording.take(match seen {
                    Seen::Floor { wall, cpu } => RunEvent::FloorMeasured { scenario: name(), round, wall, cpu },
                    Seen::Call { result, .. } => RunEvent::StepFinished(result),
                });
            };
            replay_in_lockstep(self.plan, &self.caller, (scenario, host), &lanes, round, &mut order, &mut heard)?;
            recording.take(RunEvent::ScenarioFinished { scenario: name(), round });
        }
        Ok(())
    }
}
