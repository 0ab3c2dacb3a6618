//! One step on its stage: prepared, called, judged.
//!
//! The whole way of a step is [`play_step`]; the replay of one hook and the comparison of two both use it, so that they
//! can only differ in what they call and in which order. What a hook does wrong is in the results, never an error.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use hook_contract::{Event, HostProfile, HostSession, environment};
use serde_json::Value;

use crate::caller::Caller;
use crate::delivered::delivered;
use crate::golden::{self, Writing};
use crate::hook::{Hook, Surroundings, timeout};
use crate::judge::{Seen, judge, not_deterministic, owes_text, retrieved};
use crate::observation::Observation;
use crate::process::Call;
use crate::replay::{Plan, Stop};
use crate::run_event::{Arm, Finding, StepResult};
use crate::sandbox::{Sandbox, ShellCall};
use crate::scenario::{Delivered, Scenario, Step};

/// First text of each step, to tell a hook that answers differently each time.
pub type FirstTexts = Mutex<HashMap<(String, String), (u32, String)>>;

/// Everything around a step that stays the same for the scenario's round.
pub struct Stage<'a> {
    /// What is replayed, and how.
    pub plan: &'a Plan,
    /// Runs the processes.
    pub caller: &'a Caller,
    /// The scenario of the step.
    pub scenario: &'a Scenario,
    /// The client that is played.
    pub host: &'static HostProfile,
    /// The scenario's place in this round.
    pub sandbox: &'a Sandbox<'a>,
    /// The hook that is called.
    pub hook: &'a Hook,
    /// Which of the two compared it is.
    pub arm: Arm,
    /// Repetition, from 0.
    pub round: u32,
    /// Whether pending goldens may be written.
    pub writing: Writing,
    /// What the hook of this arm said in earlier rounds.
    pub first_texts: &'a FirstTexts,
}

/// Plays one step: one result for each call, of which parallel steps have several.
///
/// # Errors
/// A scenario that cannot go on, a lost launcher, or the interrupt.
pub fn play_step(stage: &Stage<'_>, index: usize, step: &Step) -> Result<Vec<StepResult>, Stop> {
    let Stage { plan, caller, scenario, host, sandbox, .. } = *stage;
    let run = |shell: &ShellCall| caller.shell(shell);
    sandbox.apply_before(step, &run)?;
    let before = sandbox.snapshot()?;
    let armed = sandbox.arm(step, &run)?;
    let (call, payload) = call_of(stage, step);
    let mut observations = Vec::new();
    for _ in 0..step.fault.times.unwrap_or(1).max(1) {
        observations = call_side_by_side(plan, caller, &call, step.fault.parallel.unwrap_or(1))?;
    }
    let mut extra = armed.findings();
    drop(armed);
    let tree_changes = before.changes(&sandbox.snapshot()?, &step.expect.may_write);
    let mut results = Vec::new();
    for observation in observations {
        let scrub = |text: &str| sandbox.scrub(text);
        let event = Event::parse(&step.event);
        let reached = delivered(host, payload.as_ref(), event, &stage.hook.shown, &observation, &scrub);
        let expect = sandbox.expect(step);
        let owes = owes_text(&observation, &step.fault);
        let has_golden = owes && expect.delivered == Delivered::Golden;
        let golden = if has_golden { golden::check(scenario, &step.name, &reached.text, stage.writing)? } else { None };
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
            findings.extend(compare_rounds(stage, step, &reached.text));
        }
        results.push(StepResult {
            scenario: scenario.name.clone(),
            step: step.name.clone(),
            index: u32::try_from(index).unwrap_or(u32::MAX),
            round: stage.round,
            arm: stage.arm,
            event: step.event.clone(),
            retrieved: expect.relevant.as_ref().map(|relevant| retrieved(relevant, &reached.text)),
            injected_utf16: reached.utf16,
            injected_bytes: reached.bytes,
            decision: reached.decision.clone(),
            truncated: reached.truncated,
            tags: step.tags.clone(),
            parts: Vec::new(),
            late: None,
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
    Ok(results)
}

/// The call of a step: payload, environment as the host sets it, timeout as the host has it; and the payload as JSON,
/// when it is that.
fn call_of(stage: &Stage<'_>, step: &Step) -> (Call, Option<Value>) {
    let Stage { plan, host, sandbox, .. } = *stage;
    let payload = sandbox.payload(step);
    let event = Event::parse(&step.event);
    let decoded: Option<Value> = serde_json::from_slice(&payload).ok();
    let effort = decoded.as_ref().and_then(|value| value.pointer("/effort/level")).and_then(Value::as_str);
    let (session_id, cwd) = (sandbox.session_id(step), sandbox.cwd(step));
    let text = |path: &Path| path.to_string_lossy().into_owned();
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
    (stage.hook.call(payload, around, &step.fault, host), decoded)
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

fn compare_rounds(stage: &Stage<'_>, step: &Step, text: &str) -> Option<Finding> {
    let mut first = stage.first_texts.lock().unwrap_or_else(PoisonError::into_inner);
    let place = (stage.scenario.name.clone(), step.name.clone());
    match first.get(&place) {
        None => {
            first.insert(place, (stage.round, text.to_owned()));
            None
        }
        Some((earlier, known)) if *earlier != stage.round => not_deterministic(*earlier, known, text),
        Some(_) => None,
    }
}
