//! The replay loop: rounds of scenarios, each step a call, each call an observation, each observation judged.
//!
//! Emits [`RunEvent`]s and nothing else: no printing, no files but the sandboxes and pending goldens. With one job,
//! which is the default, no other replay runs beside a call, so that wall times mean something; with more jobs
//! the scenarios of a round run side by side and only CPU times do.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hook_contract::{Event, HostProfile, HostSession, environment};
use serde_json::Value;

use crate::caller::Caller;
use crate::delivered::delivered;
use crate::golden::{self, Writing};
use crate::hook::{Hook, Surroundings, timeout};
use crate::interrupt::Interrupt;
use crate::judge::{Seen, judge, not_deterministic, owes_text, retrieved};
use crate::observation::Observation;
use crate::problem::Problem;
use crate::process::{Call, floor_call};
use crate::run_event::{Finding, RunEvent, StepResult};
use crate::sandbox::{Sandbox, SandboxOptions};
use crate::scenario::{Delivered, Scenario, Step};

/// What is to be replayed, and how.
#[derive(Debug)]
pub struct Plan {
    /// Scenarios with the profile of the client that each is replayed as.
    pub scenarios: Vec<(Scenario, &'static HostProfile)>,
    /// The hook under test.
    pub hook: Hook,
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
        Stop::Io(error)
    }
}

/// First text of each step, to tell a hook that answers differently each time.
type FirstTexts = Mutex<HashMap<(String, String), (u32, String)>>;

/// Replays the plan; `consume` sees every event as it happens, in the order of happening.
///
/// # Errors
/// The first scenario that cannot go on stops the run, and so does the interrupt; events until then have been consumed,
/// and every hook, sandbox and launcher is gone.
pub fn replay(plan: &Plan, consume: &mut dyn FnMut(RunEvent)) -> Result<(), Stop> {
    let mut random = fastrand::Rng::with_seed(plan.seed);
    let first_texts = FirstTexts::default();
    for round in 0..plan.repeat {
        let mut order: Vec<usize> = (0..plan.scenarios.len()).collect();
        random.shuffle(&mut order);
        let queue = Mutex::new(order);
        let (events, inbox) = channel();
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..plan.jobs.clamp(1, plan.scenarios.len().max(1)))
                .map(|_| {
                    let (events, queue, first_texts) = (events.clone(), &queue, &first_texts);
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
    host: &HostProfile,
    round: u32,
    first_texts: &FirstTexts,
    events: &Sender<RunEvent>,
) -> Result<(), Stop> {
    let name = || scenario.name.clone();
    let options = SandboxOptions {
        round,
        parent: plan.parent.clone(),
        corpora: plan.corpora.clone(),
        hook_program: plan.hook_program.clone(),
        path: plan.path.clone(),
        keep: plan.keep,
    };
    let run = |shell: &crate::sandbox::ShellCall| caller.shell(shell);
    let sandbox = Sandbox::create(scenario, &options)?;
    sandbox.seed(&run)?;
    emit(events, RunEvent::ScenarioStarted { scenario: name(), round });
    let floor = caller.call(&floor_call()?)?;
    emit(events, RunEvent::FloorMeasured { scenario: name(), round, wall: floor.eof_after, cpu: floor.cpu });
    for (index, step) in scenario.steps.iter().enumerate() {
        sandbox.apply_before(step, &run)?;
        let before = sandbox.snapshot()?;
        let armed = sandbox.arm(step, &run)?;
        let (call, payload) = call_of(plan, &sandbox, step, host);
        let mut observations = Vec::new();
        for _ in 0..step.fault.times.unwrap_or(1).max(1) {
            observations = call_side_by_side(plan, caller, &call, step.fault.parallel.unwrap_or(1))?;
        }
        let mut extra = armed.findings();
        if index == 0 {
            // A fault of the whole scenario; its first step answers for it.
            extra.extend(golden::unreferenced_findings(scenario, plan.writing)?);
        }
        drop(armed);
        let tree_changes = before.changes(&sandbox.snapshot()?, &step.expect.may_write);
        let mut results = Vec::new();
        for observation in observations {
            let scrub = |text: &str| sandbox.scrub(step, text, &observation.stdout);
            let event = Event::parse(&step.event);
            let reached = delivered(host, payload.as_ref(), event, &plan.hook.shown, &observation, &scrub);
            let expect = sandbox.expect(step);
            let owes = owes_text(&observation, &step.fault);
            let has_golden = owes && expect.delivered == Delivered::Golden;
            let golden =
                if has_golden { golden::check(scenario, &step.name, &reached.text, plan.writing)? } else { None };
            let seen = Seen {
                observation: &observation,
                delivered: &reached,
                timeout: call.timeout,
                golden: golden.as_ref(),
                tree_changes: &tree_changes,
            };
            let mut findings = judge(&expect, &step.fault, &seen);
            findings.append(&mut extra);
            if owes && step.fault.parallel.is_none() {
                findings.extend(compare_rounds(first_texts, scenario, step, round, &reached.text));
            }
            results.push(StepResult {
                scenario: name(),
                step: step.name.clone(),
                index: u32::try_from(index).unwrap_or(u32::MAX),
                round,
                event: step.event.clone(),
                retrieved: expect.relevant.as_ref().map(|relevant| retrieved(relevant, &reached.text)),
                injected_utf16: reached.utf16,
                injected_bytes: reached.bytes,
                decision: reached.decision.clone(),
                truncated: reached.truncated,
                tags: Vec::new(),
                delivered: reached.text,
                observation,
                findings,
            });
        }
        if let Some(last) = results.last_mut() {
            last.findings.extend(sandbox.check_state(step, &run));
        }
        // A check that the interrupt cut off says nothing about the hook.
        if plan.interrupt.is_raised() {
            return Err(Stop::Interrupted);
        }
        results.into_iter().for_each(|result| emit(events, RunEvent::StepFinished(result)));
    }
    emit(events, RunEvent::ScenarioFinished { scenario: name(), round });
    Ok(())
}

/// The call of a step: payload, environment as the host sets it, timeout as the host has it; and the payload as JSON,
/// when it is that.
fn call_of(plan: &Plan, sandbox: &Sandbox<'_>, step: &Step, host: &HostProfile) -> (Call, Option<Value>) {
    let payload = sandbox.payload(step);
    let event = Event::parse(&step.event);
    let decoded: Option<Value> = serde_json::from_slice(&payload).ok();
    let effort = decoded.as_ref().and_then(|value| value.pointer("/effort/level")).and_then(Value::as_str);
    let (session_id, cwd) = (sandbox.session_id(step), sandbox.cwd(step));
    let text = |path: &std::path::Path| path.to_string_lossy().into_owned();
    let variables = event.map(|event| {
        let session = HostSession {
            session_id: &session_id,
            project_dir: &text(sandbox.project()),
            cwd: &text(&cwd),
            config_dir: &text(&sandbox.config_dir()),
            temp_dir: &text(sandbox.tmp()),
            entrypoint: "cli",
            attended: true,
            uid: 1000,
            client_pid: std::process::id(),
            effort,
            hook_number: 0,
        };
        environment(host, event, &session)
    });
    let around = Surroundings {
        args: sandbox.args(step),
        env: sandbox.env(step, &variables.unwrap_or_default()),
        // The host's own folder may be gone; a process cannot start in one that is, so it starts in the project.
        cwd: if cwd.is_dir() { cwd } else { sandbox.project().to_path_buf() },
        timeout: timeout(event, step.timeout, plan.longest),
    };
    (plan.hook.call(payload, around, &step.fault, host), decoded)
}

/// Runs the call once, or several times at once, each with a launcher of its own.
fn call_side_by_side(plan: &Plan, caller: &Caller, call: &Call, n: u32) -> Result<Vec<Observation>, Stop> {
    if n <= 1 {
        return Ok(vec![caller.call(call)?]);
    }
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..n).map(|_| scope.spawn(|| Caller::new(plan.interrupt.clone())?.call(call))).collect();
        calls
            .into_iter()
            .map(|call| match call.join() {
                Ok(observation) => observation.map_err(Stop::Io),
                Err(_) => Err(Stop::Io(io::Error::other("a parallel call panicked"))),
            })
            .collect()
    })
}

fn compare_rounds(first: &FirstTexts, scenario: &Scenario, step: &Step, round: u32, text: &str) -> Option<Finding> {
    let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
    let place = (scenario.name.clone(), step.name.clone());
    match first.get(&place) {
        None => {
            first.insert(place, (round, text.to_owned()));
            None
        }
        Some((earlier, known)) if *earlier != round => not_deterministic(*earlier, known, text),
        Some(_) => None,
    }
}

/// A consumer that has gone away has ended the run already.
fn emit(events: &Sender<RunEvent>, event: RunEvent) {
    let _ = events.send(event);
}
