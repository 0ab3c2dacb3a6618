//! The replay loop: rounds of scenarios, each step a call, each call an observation, each observation judged.
//!
//! Emits [`RunEvent`]s and nothing else: no printing, no files but the sandboxes and pending goldens. With one job,
//! which is the default, no other replay runs beside a call, so that wall times mean something; with more jobs
//! the scenarios of a round run side by side and only CPU times do.

use std::collections::HashSet;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hook_contract::HostProfile;

use crate::caller::Caller;
use crate::golden::Writing;
use crate::interrupt::Interrupt;
use crate::play::{FirstTexts, Stage, play_step};
use crate::problem::Problem;
use crate::process::floor_call;
use crate::run_event::{Arm, RunEvent};
use crate::sandbox::{Sandbox, SandboxOptions};
use crate::scenario::Scenario;
use crate::target::Target;

/// What is to be replayed, and how.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Scenarios with the profile of the client that each is replayed as.
    pub scenarios: Vec<(Scenario, &'static HostProfile)>,
    /// What is under test.
    pub target: Target,
    /// Repetitions of every scenario.
    pub repeat: u32,
    /// Seed of the order of scenarios within a round.
    pub seed: u64,
    /// Scenarios that run side by side.
    pub jobs: usize,
    /// Longest time that a call may take when its step asks for none.
    pub longest: Duration,
    /// Whether pending goldens may be written.
    pub writing: Writing,
    /// Folder in which sandboxes are made.
    pub parent: PathBuf,
    /// Folder of the corpora.
    pub corpora: PathBuf,
    /// The bundled memory hook, in shell syntax: what seeds call.
    pub hook_program: String,
    /// `PATH` of every call.
    pub path: std::ffi::OsString,
    /// Leaves the sandboxes in place.
    pub keep: bool,
    /// Stops the replay when raised.
    pub interrupt: Interrupt,
}

impl Plan {
    /// Calls of the hook that all repetitions make together; parallel ones count as one.
    pub fn n_calls(&self) -> u64 {
        let steps: usize = self.scenarios.iter().map(|(scenario, _)| scenario.steps.len()).sum();
        steps as u64 * u64::from(self.repeat)
    }

    /// What a sandbox of this round needs to know.
    pub fn sandbox_options(&self, round: u32) -> SandboxOptions {
        SandboxOptions {
            round,
            parent: self.parent.clone(),
            corpora: self.corpora.clone(),
            hook_program: self.hook_program.clone(),
            path: self.path.clone(),
            keep: self.keep,
        }
    }
}

/// Why a replay could not go on.
#[derive(Debug)]
pub enum Stop {
    /// A mistake in a scenario that shows only while it runs.
    Problem(Problem),
    /// The machinery failed.
    Io(io::Error),
    /// The interrupt was raised.
    Interrupted,
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Stop {
        Stop::Problem(problem)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        match error.kind() {
            // What a caller answers once the interrupt was raised; the machinery is well.
            io::ErrorKind::Interrupted => Stop::Interrupted,
            _ => Stop::Io(error),
        }
    }
}

/// Replays the plan; `consume` sees every event as it happens, in the order of happening.
///
/// # Errors
/// The first scenario that cannot go on stops the run, and so does the interrupt; events until then have been consumed,
/// and every hook, sandbox and launcher is gone.
pub fn replay(plan: &Plan, consume: &mut dyn FnMut(RunEvent)) -> Result<(), Stop> {
    replay_rest(plan, &Kept::default(), consume)
}

/// What an earlier, interrupted replay of the same plan has done.
#[derive(Debug, Default)]
pub struct Kept {
    /// Scenarios by name, and rounds, that came to their end.
    pub done: HashSet<(String, u32)>,
    /// What the hook said in them.
    pub first_texts: FirstTexts,
}

/// Replays what is left of the plan, as [`replay`] does.
///
/// # Errors
/// As [`replay`].
pub fn replay_rest(plan: &Plan, kept: &Kept, consume: &mut dyn FnMut(RunEvent)) -> Result<(), Stop> {
    let first_texts = &kept.first_texts;
    for round in 0..plan.repeat {
        let mut order = order(plan, round);
        order.retain(|at| {
            let name = plan.scenarios.get(*at).map(|(scenario, _)| scenario.name.clone());
            name.is_some_and(|name| !kept.done.contains(&(name, round)))
        });
        if order.is_empty() {
            continue;
        }
        let queue = Mutex::new(order);
        let (events, inbox) = channel();
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..plan.jobs.clamp(1, plan.scenarios.len().max(1)))
                .map(|_| {
                    let (events, queue) = (events.clone(), &queue);
                    scope.spawn(move || work(plan, round, queue, first_texts, &events))
                })
                .collect();
            // The loop below ends when the last worker has dropped its sender.
            drop(events);
            for event in inbox {
                consume(event);
            }
            workers.into_iter().try_for_each(|worker| match worker.join() {
                // Whatever an interrupted worker stumbled over is no fault of anybody's.
                Ok(Err(_)) if plan.interrupt.is_raised() => Err(Stop::Interrupted),
                Ok(result) => result,
                Err(_) => Err(Stop::Io(io::Error::other("a replay worker panicked"))),
            })
        })?;
    }
    Ok(())
}

/// The random order of the plan's scenarios in a round, last first.
///
/// Each scenario's place is drawn from seed, round and name alone: a part of a plan, or what is left of it, keeps the
/// order of the whole.
fn order(plan: &Plan, round: u32) -> Vec<usize> {
    let drawn = |name: &str| {
        // FNV-1a, because the order must be the same with every version of every library.
        let hash =
            round.to_le_bytes().iter().chain(name.as_bytes()).fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
                (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
            });
        fastrand::Rng::with_seed(plan.seed ^ hash).u64(..)
    };
    let names = plan.scenarios.iter().map(|(scenario, _)| &*scenario.name);
    let mut order: Vec<(u64, &str, usize)> = names.enumerate().map(|(at, name)| (drawn(name), name, at)).collect();
    order.sort_unstable();
    order.into_iter().map(|(_, _, at)| at).collect()
}

/// One worker: scenarios from the queue until it is empty or one cannot go on.
fn work(
    plan: &Plan,
    round: u32,
    queue: &Mutex<Vec<usize>>,
    first_texts: &FirstTexts,
    events: &Sender<RunEvent>,
) -> Result<(), Stop> {
    let caller = Caller::new(plan.interrupt.clone())?;
    loop {
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let Some((scenario, host)) = next.and_then(|at| plan.scenarios.get(at)) else { return Ok(()) };
        if plan.interrupt.is_raised() {
            return Err(Stop::Interrupted);
        }
        let outcome = replay_scenario(plan, &caller, scenario, host, round, first_texts, events);
        if outcome.is_err() {
            // The others finish what they are at and stop too.
            queue.lock().unwrap_or_else(PoisonError::into_inner).clear();
            return outcome;
        }
    }
}

/// One scenario in one round, start to end.
fn replay_scenario(
    plan: &Plan,
    caller: &Caller,
    scenario: &Scenario,
    host: &'static HostProfile,
    round: u32,
    first_texts: &FirstTexts,
    events: &Sender<RunEvent>,
) -> Result<(), Stop> {
    let name = || scenario.name.clone();
    let run = |shell: &crate::sandbox::ShellCall| caller.shell(shell);
    let sandbox = Sandbox::create(scenario, &plan.sandbox_options(round))?;
    sandbox.seed(&run)?;
    emit(events, RunEvent::ScenarioStarted { scenario: name(), round });
    let floor = caller.call(&floor_call()?)?;
    emit(events, RunEvent::FloorMeasured { scenario: name(), round, wall: floor.eof_after, cpu: floor.cpu });
    let stage = Stage {
        plan,
        caller,
        scenario,
        host,
        sandbox: &sandbox,
        target: &plan.target,
        arm: Arm::Candidate,
        round,
        writing: plan.writing,
        first_texts,
    };
    for (index, step) in scenario.steps.iter().enumerate() {
        let results = play_step(&stage, index, step)?;
        results.into_iter().for_each(|result| emit(events, RunEvent::StepFinished(result)));
    }
    emit(events, RunEvent::ScenarioFinished { scenario: name(), round });
    Ok(())
}

/// A consumer that has gone away has ended the run already.
fn emit(events: &Sender<RunEvent>, event: RunEvent) {
    let _ = events.send(event);
}
