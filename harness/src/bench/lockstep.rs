//! One scenario in one round, for several hooks at once: each in a sandbox of its own, step by step together.
//!
//! At every step the hooks and the no-op are called right after each other in a fresh random order, so that none of
//! them always meets the caches that another one has warmed. The sandboxes are alike but for their folders' names,
//! which are equally long: the size of the environment, which moves a process's stack, is the same for all.

use std::time::Duration;

use hook_contract::HostProfile;

use super::order::{Order, Turn};
use crate::caller::Caller;
use crate::golden::Writing;
use crate::play::{FirstTexts, Stage, play_step};
use crate::process::floor_call;
use crate::replay::{Plan, Stop};
use crate::run_event::{Arm, StepResult};
use crate::sandbox::{Sandbox, ShellCall};
use crate::scenario::Scenario;
use crate::target::Target;

/// One of the hooks that go together.
#[derive(Clone, Copy)]
pub struct Lane<'a> {
    /// Which side its results are for.
    pub arm: Arm,
    /// What it calls.
    pub target: &'a Target,
    /// Whether it may leave pending goldens.
    pub writing: Writing,
    /// What it said in earlier rounds.
    pub first_texts: &'a FirstTexts,
}

/// What happened at a step.
#[expect(clippy::large_enum_variant, reason = "handed on one at a time, never kept in bulk")]
pub enum Seen {
    /// The no-op was called.
    Floor {
        /// From before the spawn to end of output.
        wall: Duration,
        /// CPU of the no-op.
        cpu: Duration,
    },
    /// A hook was called.
    Call {
        /// Its place among the lanes, from 0.
        lane: usize,
        /// What it did.
        result: StepResult,
    },
}

/// Replays a scenario once for all lanes; `heard` sees every call as it ends.
///
/// # Errors
/// A scenario that cannot go on, a lost launcher, or the interrupt.
pub fn replay_in_lockstep(
    plan: &Plan,
    caller: &Caller,
    (scenario, host): (&Scenario, &'static HostProfile),
    lanes: &[Lane<'_>],
    round: u32,
    order: &mut Order,
    heard: &mut dyn FnMut(Seen),
) -> Result<(), Stop> {
    let run = |shell: &ShellCall| caller.shell(shell);
    let mut sandboxes = Vec::new();
    for _ in lanes {
        let sandbox = Sandbox::create(scenario, &plan.sandbox_options(round))?;
        sandbox.seed(&run)?;
        sandboxes.push(sandbox);
    }
    let floor = floor_call()?;
    for (index, step) in scenario.steps.iter().enumerate() {
        for turn in order.turns(lanes.len()) {
            if plan.interrupt.is_raised() {
                return Err(Stop::Interrupted);
            }
            let Turn::Lane(at) = turn else {
                let seen = caller.call(&floor).map_err(|error| stopped(plan, error.into()))?;
                heard(Seen::Floor { wall: seen.eof_after, cpu: seen.cpu });
                continue;
            };
            let (Some(lane), Some(sandbox)) = (lanes.get(at), sandboxes.get(at)) else { continue };
            let stage = Stage {
                plan,
                caller,
                scenario,
                host,
                sandbox,
                target: lane.target,
                arm: lane.arm,
                round,
                writing: lane.writing,
                first_texts: lane.first_texts,
            };
            let results = play_step(&stage, index, step).map_err(|stop| stopped(plan, stop))?;
            results.into_iter().for_each(|result| heard(Seen::Call { lane: at, result }));
        }
    }
    Ok(())
}

/// Whatever an interrupted call stumbled over is no fault of anybody's.
fn stopped(plan: &Plan, stop: Stop) -> Stop {
    if plan.interrupt.is_raised() { Stop::Interrupted } else { stop }
}
