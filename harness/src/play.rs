//! One step on its stage: prepared, called, judged.
//!
//! The whole way of a step is [`play_step`]; the replay of one hook and the comparison of two both use it, so that they
//! can only differ in what they call and in which order. What a hook does wrong is in the results, never an error.
//!
//! The hooks of one event run side by side and give one result: the whole, with each hook's share beside it. A step for
//! which the target has no hook gives none: its changes to the world are made, its expectations are nobody's.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hook_contract::{Event, HostProfile, HostSession, environment};
use serde_json::Value;

use crate::caller::Caller;
use crate::delivered::{Answer, delivered};
use crate::golden::{self, Writing};
use crate::hook::{Surroundings, timeout};
use crate::judge::{Seen, judge, not_deterministic, owes_text, retrieved};
use crate::observation::{Ending, Observation};
use crate::process::Call;
use crate::replay::{Plan, Stop};
use crate::run_event::{Arm, Finding, Part, StepResult};
use crate::sandbox::{Sandbox, ShellCall};
use crate::scenario::{Delivered, Scenario, Step};
use crate::target::{Chosen, Target, blame, whole};

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
    /// What is called.
    pub target: &'a Target,
    /// Which of the two compared it is.
    pub arm: Arm,
    /// Repetition, from 0.
    pub round: u32,
    /// Whether pending goldens may be written.
    pub writing: Writing,
    /// What the hook of this arm said in earlier rounds.
    pub first_texts: &'a FirstTexts,
}

/// Plays one step: one result for each delivery, of which parallel steps have several; none for a step that calls
/// nothing.
///
/// # Errors
/// A scenario that cannot go on, a lost launcher, or the interrupt.
pub fn play_step(stage: &Stage<'_>, index: usize, step: &Step) -> Result<Vec<StepResult>, Stop> {
    play_step_after(stage, index, step, &mut || {})
}

/// Plays one step whose call may begin only when `ready` returns. All that the step needs is prepared by then, so that a
/// schedule can be kept to.
///
/// # Errors
/// As for [`play_step`].
pub fn play_step_after(
    stage: &Stage<'_>,
    index: usize,
    step: &Step,
    ready: &mut dyn FnMut(),
) -> Result<Vec<StepResult>, Stop> {
    let Stage { plan, caller, scenario, host, sandbox, .. } = *stage;
    let run = |shell: &ShellCall| caller.shell(shell);
    sandbox.apply_before(step, &run)?;
    let chosen = stage.target.choose(host, step);
    if chosen.is_empty() {
        return Ok(Vec::new());
    }
    let before = sandbox.snapshot()?;
    let armed = sandbox.arm(step, &run)?;
    let (calls, payload) = calls_of(stage, step, &chosen);
    let n_deliveries = step.fault.parallel.unwrap_or(1).max(1) as usize;
    let at_once: Vec<Call> = std::iter::repeat_n(&calls, n_deliveries).flatten().cloned().collect();
    let mut observations = Vec::new();
    ready();
    for _ in 0..step.fault.times.unwrap_or(1).max(1) {
        observations = caller.call_together(&at_once)?;
    }
    let mut extra = armed.findings();
    if index == 0 {
        // A fault of the whole scenario; its first step answers for it.
        extra.extend(golden::unreferenced_findings(scenario, stage.writing)?);
    }
    drop(armed);
    let tree_changes = before.changes(&sandbox.snapshot()?, &step.expect.may_write);
    let event = Event::parse(&step.event);
    let mut results = Vec::new();
    for seen in observations.chunks(calls.len()) {
        let background: Vec<bool> = chosen.iter().map(|chosen| chosen.background).collect();
        let Some(observation) = whole(seen, &background) else { continue };
        let answers: Vec<Answer<'_>> = chosen.iter().zip(seen).map(|(chosen, seen)| answer(chosen, seen)).collect();
        let scrub = |text: &str| sandbox.scrub(step, text, &observation.stdout);
        let joined = delivered(host, payload.as_ref(), event, &answers, &scrub);
        let expect = sandbox.expect(step);
        let owes = owes_text(&observation, &step.fault);
        let ended_well =
            matches!(observation.ending, Ending::Exited(code) if expect.exit.is_none_or(|exit| exit == code));
        let writing = if ended_well { stage.writing } else { Writing::Failed };
        let has_golden = owes && expect.delivered == Delivered::Golden;
        let golden = match has_golden {
            true => golden::check(scenario, &step.name, &joined.settled, writing)?,
            false => None,
        };
        let judged = Seen {
            observation: &observation,
            delivered: &joined.delivered,
            timeout: timeout_of(&calls, seen, &observation),
            golden: golden.as_ref(),
            tree_changes: &tree_changes,
        };
        let mut findings = judge(&expect, &step.fault, &judged);
        name_the_hooks(&mut findings, &observation, &chosen, seen);
        findings.append(&mut extra);
        if owes && step.fault.parallel.is_none() {
            findings.extend(compare_rounds(stage, step, &joined.settled));
        }
        let reached = joined.delivered;
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
            decision: reached.decision,
            truncated: reached.truncated,
            tags: step.tags.clone(),
            parts: parts(&chosen, seen, &joined.shares_utf16),
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

/// The calls of a step, one for each hook: payload, environment as the host sets it, timeout as the host has it; and the
/// payload as JSON, when it is that.
pub(crate) fn calls_of(stage: &Stage<'_>, step: &Step, chosen: &[Chosen]) -> (Vec<Call>, Option<Value>) {
    let Stage { plan, host, sandbox, .. } = *stage;
    let payload = sandbox.payload(step);
    let event = Event::parse(&step.event);
    let decoded: Option<Value> = serde_json::from_slice(&payload).ok();
    let effort = decoded.as_ref().and_then(|value| value.pointer("/effort/level")).and_then(Value::as_str);
    let (session_id, cwd) = (sandbox.session_id(step), sandbox.cwd(step));
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let call = |(hook_number, chosen): (usize, &Chosen)| {
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
                hook_number,
            };
            environment(host, event, &session)
        });
        let around = Surroundings {
            args: if chosen.takes_args { sandbox.args(step) } else { Vec::new() },
            env: sandbox.env(step, &variables.unwrap_or_default()),
            // The host's own folder may be gone; a process cannot start in one that is, so it starts in the project.
            cwd: if cwd.is_dir() { cwd.clone() } else { sandbox.project().to_path_buf() },
            timeout: timeout(chosen.limit, step.timeout, plan.longest),
        };
        chosen.hook.call(payload.clone(), around, &step.fault, host)
    };
    (chosen.iter().enumerate().map(call).collect(), decoded)
}

/// One hook's answer, for what the host makes of it.
pub(crate) fn answer<'a>(chosen: &'a Chosen, observation: &'a Observation) -> Answer<'a> {
    Answer {
        command: &chosen.hook.shown,
        observation,
        background: chosen.background,
        failure_blocks: chosen.failure_blocks,
    }
}

/// Each hook's share; none where one hook is the whole.
fn parts(chosen: &[Chosen], seen: &[Observation], shares_utf16: &[u64]) -> Vec<Part> {
    if chosen.len() < 2 {
        return Vec::new();
    }
    let hooks = chosen.iter().zip(seen).zip(shares_utf16);
    let part = |((chosen, seen), share): ((&Chosen, &Observation), &u64)| Part {
        hook: chosen.hook.shown.clone(),
        wall: seen.eof_after,
        cpu: seen.cpu,
        injected_utf16: *share,
    };
    hooks.map(part).collect()
}

/// The limit that a message about the whole should name: that of a hook which met it, else the longest.
fn timeout_of(calls: &[Call], seen: &[Observation], whole: &Observation) -> Duration {
    let met = calls.iter().zip(seen).find(|(_, seen)| seen.ending == whole.ending).map(|(call, _)| call.timeout);
    let longest = calls.iter().map(|call| call.timeout).max();
    let is_met = whole.ending == Ending::TimedOut;
    met.filter(|_| is_met).or(longest).unwrap_or_default()
}

/// Says in the findings about processes of several hooks which hook it was.
fn name_the_hooks(findings: &mut [Finding], whole: &Observation, chosen: &[Chosen], seen: &[Observation]) {
    if chosen.len() < 2 {
        return;
    }
    for finding in findings {
        let guilty = blame(finding.kind, whole, seen).into_iter().filter_map(|at| chosen.get(at));
        let names: Vec<String> = guilty.map(|chosen| format!("`{}`", chosen.hook.shown)).collect();
        if !names.is_empty() {
            finding.message = format!("{}: {}", names.join(" and "), finding.message);
        }
    }
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
