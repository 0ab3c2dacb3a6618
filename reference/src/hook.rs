//! One hook call, start to end.
//!
//! Guarantee: whatever comes in, the answer is either nothing or one valid JSON object, and a fault is a line in the
//! hook's own log. Nothing here prints or exits; `main` does both.

use std::path::{Path, PathBuf};

use hook_contract::{Event, Payload, decode};
use serde_json::Value;

use crate::call::Call;
use crate::config::{Config, Environment};
use crate::deadline::Deadline;
use crate::project::{Place, Registry, locate};
use crate::revision::read_head;
use crate::session::file::SessionFile;
use crate::timings::Timings;
use crate::{log, recall, remember};

/// Name of the file that turns memory off for the project that holds it, in the root or in `.claude/`.
pub const MARKER: &str = ".hookmem-off";

/// What a hook call answers.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// For stdout: empty, or one JSON object.
    pub stdout: String,
    /// A fault, already in the log; a capture's fault ends a `strict` hook with exit code 1.
    pub fault: Option<Fault>,
}

/// Something went wrong on the way.
#[derive(Debug, PartialEq, Eq)]
pub struct Fault {
    /// What, in one line.
    pub message: String,
    /// The settings ask that this fault be seen.
    pub strict: bool,
}

/// Answers one hook call. `input` is the payload, `named` the event named on the command line, if any.
pub fn answer(input: &[u8], named: Option<&str>, environment: &Environment, timings: &mut Timings) -> Answer {
    let Some(store_root) = environment.store_root.as_deref().filter(|_| !environment.disabled) else {
        return Answer::default();
    };
    let (config, problems) = Config::load(store_root);
    let payload = match decode(input) {
        Ok(payload) => with_event(payload, named),
        Err(error) => return failed(store_root, named.unwrap_or("hook"), &error.to_string(), false),
    };
    timings.mark("decode");
    let Some(event) = Event::parse(&payload.event_name) else { return Answer::default() };
    let job = Job::of(event);
    if job == Job::None || is_child_session(&payload, environment, &config) {
        return Answer::default();
    }
    let cwd = payload.common.cwd.as_deref();
    let Some(place) = locate(cwd, environment.project_dir.as_deref(), environment.home.as_deref()) else {
        return Answer::default();
    };
    if is_switched_off(&place) || holds(&place.root, store_root) {
        return Answer::default();
    }
    // A project is registered by what must be remembered; a question about an unknown project has no answer.
    let registry = Registry::at(store_root);
    let project = match (registry.lookup(&place), job.leaves_a_trace(event, &payload)) {
        (Some(project), _) => project,
        (None, false) => return Answer::default(),
        (None, true) => match registry.register(&place) {
            Ok(project) => project,
            Err(error) => return failed(store_root, event.name(), &error.to_string(), config.capture.strict),
        },
    };
    timings.mark("project");
    let head = place.git.as_ref().map(read_head).unwrap_or_default();
    timings.mark("head");
    let session_id = payload.common.session_id.as_deref().unwrap_or("");
    let session = SessionFile::new(&project.store.join("sessions"), session_id);
    let budget = if job == Job::Recall { config.recall_deadline } else { config.capture_deadline };
    let call = Call {
        event,
        payload: &payload,
        environment,
        config: &config,
        place: &place,
        project: &project,
        head: &head,
        session: &session,
        deadline: Deadline::after(environment.limit(budget)),
    };
    let outcome = match job {
        Job::Recall => recall::recall(&call, timings),
        Job::Capture => remember::remember(&call, timings).map(|()| String::new()),
        Job::None => Ok(String::new()),
    };
    for problem in &problems {
        log::note(store_root, event.name(), &problem.to_string());
    }
    match outcome {
        Ok(stdout) => Answer { stdout, fault: None },
        Err(message) => failed(store_root, event.name(), &message, job == Job::Capture && config.capture.strict),
    }
}

/// A payload that does not name its event is read again under the name on the command line.
fn with_event(payload: Payload, named: Option<&str>) -> Payload {
    let Some(event) = named.and_then(Event::parse).filter(|_| payload.event_name.is_empty()) else { return payload };
    let Value::Object(mut fields) = payload.to_value() else { return payload };
    fields.insert("hook_event_name".to_owned(), event.name().into());
    Payload::from_map(fields)
}

/// What an event is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Job {
    Recall,
    Capture,
    None,
}

impl Job {
    fn of(event: Event) -> Job {
        match event {
            Event::SessionStart
            | Event::UserPromptSubmit
            | Event::UserPromptExpansion
            | Event::PreToolUse
            | Event::PostToolUse
            | Event::SubagentStart => Job::Recall,
            Event::Stop | Event::SubagentStop | Event::PreCompact | Event::SessionEnd => Job::Capture,
            _ => Job::None,
        }
    }

    /// Whether the call has something to keep even in a project that the store does not know yet.
    fn leaves_a_trace(self, event: Event, payload: &Payload) -> bool {
        match event {
            Event::UserPromptSubmit => true,
            Event::PreToolUse => recall::agent_task(payload).is_some(),
            _ => self == Job::Capture,
        }
    }
}

/// Sessions driven by a program talk about that program's business: an observer hook that spawns such sessions would
/// otherwise remember itself without end.
fn is_child_session(payload: &Payload, environment: &Environment, config: &Config) -> bool {
    let named = payload.extra.get("entrypoint").and_then(|value| value.as_str());
    let entrypoint = named.or(environment.entrypoint.as_deref()).unwrap_or("");
    config.ignored_entrypoints.iter().any(|ignored| ignored == entrypoint)
}

fn is_switched_off(place: &Place) -> bool {
    [place.root.join(MARKER), place.root.join(".claude").join(MARKER)].iter().any(|marker| marker.exists())
}

/// A work tree that holds the store would be written into.
fn holds(root: &Path, store_root: &Path) -> bool {
    let resolved: Option<PathBuf> = store_root.ancestors().find_map(|folder| folder.canonicalize().ok());
    resolved.is_some_and(|store| store.starts_with(root)) && root.join(".git").exists()
}

fn failed(store_root: &Path, event: &str, message: &str, strict: bool) -> Answer {
    log::note(store_root, event, message);
    Answer { stdout: String::new(), fault: Some(Fault { message: message.to_owned(), strict }) }
}
