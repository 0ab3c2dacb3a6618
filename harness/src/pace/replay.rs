//! The open loop: sessions side by side, each call begun when it is due.
//!
//! Scenarios are replayed in plan order. Before one begins, the sandboxes of all its sessions are ready; the schedule's
//! clock stands still in between, and with a rate it goes on where it stood, the lines in front of the sessions too.

use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use hook_contract::HostProfile;

use super::Pace;
use super::schedule::{Arrival, Queue, arrivals};
use crate::caller::Caller;
use crate::play::{FirstTexts, Stage, play_step_after};
use crate::problem::Problem;
use crate::process::floor_call;
use crate::replay::{Plan, Stop};
use crate::run_event::{Arm, RunEvent};
use crate::sandbox::{Sandbox, ShellCall};
use crate::scenario::Scenario;

/// Longest sleep between two looks at the interrupt.
const NAP: Duration = Duration::from_millis(50);

/// How a plan is replayed by schedule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OpenLoop {
    /// The schedule.
    pub pace: Pace,
    /// Sessions side by side; at least 1.
    pub n_sessions: usize,
}

impl fmt::Display for OpenLoop {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.n_sessions {
            1 => write!(out, "{}", self.pace),
            n => write!(out, "{}, {n} sessions", self.pace),
        }
    }
}

/// How well the replayer itself kept to the schedule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Behind {
    /// Calls that were made.
    pub n_calls: u64,
    /// The most that a call began after it was due and its session was free. It is no part of any lateness.
    pub most: Duration,
}

/// A session between two scenarios.
#[derive(Debug, Clone, Copy, Default)]
struct Session {
    queue: Queue,
    behind: Behind,
}

/// Refuses the recorded pace for scenarios that do not have it.
///
/// # Errors
/// The first scenario without recorded times.
pub fn check(plan: &Plan, pace: Pace) -> Result<(), Problem> {
    let untimed = |scenario: &&(Scenario, _)| scenario.0.steps.iter().any(|step| step.at.is_none());
    match plan.scenarios.iter().find(untimed) {
        Some((scenario, _)) if pace == Pace::Recorded => Err(Problem::file(
            scenario.source.path(),
            "its steps have no recorded times",
            "give every step at_ms, name other scenarios, or use --pace rate=N",
        )),
        _ => Ok(()),
    }
}

/// Replays the plan by schedule; `consume` sees every event as it happens. The plan's jobs and seed play no part.
///
/// # Errors
/// As for the replay without a schedule, and scenarios without recorded times where those are asked for.
pub fn replay(plan: &Plan, open: OpenLoop, consume: &mut dyn FnMut(RunEvent)) -> Result<Behind, Stop> {
    check(plan, open.pace)?;
    let mut sessions = vec![Session::default(); open.n_sessions.max(1)];
    let callers = sessions.iter().map(|_| Caller::new(plan.interrupt.clone()));
    let mut callers: Vec<Caller> = callers.collect::<io::Result<_>>()?;
    let first_texts = FirstTexts::default();
    let mut n_before = 0;
    for round in 0..plan.repeat {
        for (scenario, host) in &plan.scenarios {
            let block = Block { plan, open, scenario, host, round, first_texts: &first_texts };
            let outcome = block.play(&mut sessions, &mut callers, &mut n_before, consume);
            // Whatever an interrupted session stumbled over is no fault of anybody's.
            outcome.map_err(|stop| if plan.interrupt.is_raised() { Stop::Interrupted } else { stop })?;
        }
    }
    let most = sessions.iter().map(|session| session.behind.most).max().unwrap_or_default();
    Ok(Behind { n_calls: sessions.iter().map(|session| session.behind.n_calls).sum(), most })
}

/// One scenario in one round.
#[derive(Clone, Copy)]
struct Block<'a> {
    plan: &'a Plan,
    open: OpenLoop,
    scenario: &'a Scenario,
    host: &'static HostProfile,
    round: u32,
    first_texts: &'a FirstTexts,
}

impl Block<'_> {
    fn play(
        &self,
        sessions: &mut [Session],
        callers: &mut [Caller],
        n_before: &mut u64,
        consume: &mut dyn FnMut(RunEvent),
    ) -> Result<(), Stop> {
        let Block { plan, open, scenario, round, .. } = *self;
        let name = || scenario.name.clone();
        let called: Vec<bool> =
            scenario.steps.iter().map(|step| !plan.target.choose(self.host, step).is_empty()).collect();
        let calling = scenario.steps.iter().zip(&called).filter(|(_, called)| **called);
        let offsets: Vec<Option<Duration>> = calling.map(|(step, _)| step.at).collect();
        let all = arrivals(open.pace, &offsets, sessions.len(), *n_before);
        *n_before += all.len() as u64;
        let begin = all.first().map(|arrival| arrival.due).unwrap_or_default();
        if open.pace == Pace::Recorded {
            // Recordings have nothing to do with each other.
            sessions.iter_mut().for_each(|session| session.queue = Queue::default());
        }
        let mut sandboxes = Vec::new();
        consume(RunEvent::ScenarioStarted { scenario: name(), round });
        for (at, caller) in callers.iter().enumerate() {
            let sandbox = Sandbox::create(scenario, &plan.sandbox_options(round))?;
            sandbox.seed(&|shell: &ShellCall| caller.shell(shell))?;
            sandboxes.push(sandbox);
            // Every caller's launcher starts with it, so that no first call pays for that.
            let floor = caller.call(&floor_call()?)?;
            if at == 0 {
                consume(RunEvent::FloorMeasured { scenario: name(), round, wall: floor.eof_after, cpu: floor.cpu });
            }
        }
        let (events, inbox) = channel();
        let stopped = AtomicBool::new(false);
        let start = Instant::now();
        thread::scope(|scope| {
            let lines = sessions.iter_mut().zip(callers).zip(&sandboxes).enumerate();
            let workers: Vec<_> = lines
                .map(|(at, ((session, caller), sandbox))| {
                    let own: Vec<Arrival> = all.iter().filter(|arrival| arrival.session == at).copied().collect();
                    let (events, stopped, called) = (events.clone(), &stopped, &called);
                    let clock = Clock { start, begin, stopped, plan };
                    scope.spawn(move || {
                        let outcome = self.play_session(session, caller, sandbox, &own, called, clock, &events);
                        if outcome.is_err() {
                            stopped.store(true, Ordering::Relaxed);
                        }
                        outcome
                    })
                })
                .collect();
            // The loop below ends when the last session has dropped its sender.
            drop(events);
            for event in inbox {
                consume(event);
            }
            workers.into_iter().try_for_each(|worker| match worker.join() {
                Ok(result) => result,
                Err(_) => Err(Stop::Io(io::Error::other("a session panicked"))),
            })
        })?;
        consume(RunEvent::ScenarioFinished { scenario: name(), round });
        Ok(())
    }

    /// One session's steps, in order.
    #[expect(clippy::too_many_arguments, reason = "all of one session, and used here only")]
    fn play_session(
        &self,
        session: &mut Session,
        caller: &Caller,
        sandbox: &Sandbox<'_>,
        own: &[Arrival],
        called: &[bool],
        clock: Clock<'_>,
        events: &Sender<RunEvent>,
    ) -> Result<(), Stop> {
        let stage = Stage {
            plan: self.plan,
            caller,
            scenario: self.scenario,
            host: self.host,
            sandbox,
            target: &self.plan.target,
            arm: Arm::Candidate,
            round: self.round,
            writing: self.plan.writing,
            first_texts: self.first_texts,
        };
        let mut due = own.iter().map(|arrival| arrival.due);
        for (index, (step, called)) in self.scenario.steps.iter().zip(called).enumerate() {
            let next = if *called { due.next() } else { None };
            let mut behind = Duration::ZERO;
            let results = play_step_after(&stage, index, step, &mut || {
                if let Some(due) = next {
                    behind = clock.wait_for(due + session.queue.late(due));
                }
            })?;
            let Some(due) = next else { continue };
            if clock.is_stopped() {
                return Ok(());
            }
            let service = results.iter().map(|result| result.observation.eof_after).max().unwrap_or_default();
            let late = session.queue.serve(due, service);
            session.behind.n_calls += results.len() as u64;
            session.behind.most = session.behind.most.max(behind);
            for mut result in results {
                result.late = Some(late);
                // A consumer that has gone away has ended the run already.
                let _ = events.send(RunEvent::StepFinished(result));
            }
        }
        Ok(())
    }
}

/// The schedule's time beside the machine's.
#[derive(Clone, Copy)]
struct Clock<'a> {
    /// When the scenario began, by the machine.
    start: Instant,
    /// The same moment by the schedule.
    begin: Duration,
    stopped: &'a AtomicBool,
    plan: &'a Plan,
}

impl Clock<'_> {
    /// Returns at the schedule's time, or when all stops; by how much it came too late.
    fn wait_for(&self, at: Duration) -> Duration {
        let target = self.start + at.saturating_sub(self.begin);
        loop {
            let now = Instant::now();
            if now >= target || self.is_stopped() {
                return now.saturating_duration_since(target);
            }
            thread::sleep(NAP.min(target - now));
        }
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed) || self.plan.interrupt.is_raised()
    }
}
