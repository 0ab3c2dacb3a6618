//! From a hook's answer to what reached the model, as the judge wants it.
//!
//! The host's rules are the contract crate's; this module only picks what is measured: the texts without the host's own
//! label and wrapper, because a hook is not charged for words that the host adds.

use hook_contract::{Call, Decision, Event, Exit, HostProfile, OutputProblem, ProblemKind, deliver, subject};
use serde_json::Value;

use crate::judge::DeliveredText;
use crate::observation::{Ending, Observation};
use crate::run_event::FindingKind;

/// What reached the model from one call. `scrub` replaces what differs from run to run.
pub fn delivered(
    host: &HostProfile,
    payload: Option<&Value>,
    event: Option<Event>,
    command: &str,
    observation: &Observation,
    scrub: &dyn Fn(&str) -> String,
) -> DeliveredText {
    let exit = match observation.ending {
        Ending::Exited(code) => Exit::Code(code),
        Ending::Signalled(signal) => Exit::Signal(signal),
        Ending::TimedOut => Exit::TimedOut,
        // Whatever it wrote, its end is that of a process which a signal ended.
        Ending::LauncherLost => Exit::Signal(9),
        // The shell answers 127 for a missing program and 126 for one that may not run.
        Ending::NotStarted(_) => Exit::Code(127),
    };
    // The host calls hooks for its own events only; an unknown one has no rules to apply.
    let Some(event) = event else {
        return DeliveredText { decision: Decision::None.name().to_owned(), ..DeliveredText::default() };
    };
    let subject = payload.and_then(|payload| subject(event, payload));
    let call = Call::new(event, subject, command);
    let delivery = deliver(host, &call, exit, &observation.stdout, &observation.stderr);
    let text = delivery.to_model.iter().map(|text| text.body.as_str()).collect::<Vec<_>>().join("\n\n");
    let decision = match delivery.decision {
        Decision::None if delivery.ends_turn => Decision::Stop,
        decision => decision,
    };
    DeliveredText {
        utf16: text.encode_utf16().count() as u64,
        bytes: text.len() as u64,
        text: scrub(&text),
        truncated: delivery.to_model.iter().any(|text| text.truncated),
        decision: decision.name().to_owned(),
        problems: delivery.problems.into_iter().filter_map(|p| Some((finding_kind(p.kind)?, sentence(p)))).collect(),
    }
}

/// The finding for a problem of the output. Exit codes, signals and timeouts are judged from the process itself.
fn finding_kind(kind: ProblemKind) -> Option<FindingKind> {
    match kind {
        ProblemKind::WrongEventName | ProblemKind::MissingEventName => Some(FindingKind::WrongEventName),
        ProblemKind::InvalidJson
        | ProblemKind::SchemaViolation
        | ProblemKind::NoSpecificOutput
        | ProblemKind::NoEffect => Some(FindingKind::InvalidOutput),
        _ => None,
    }
}

/// What the problem is, and for a part without effect also what to do: its author expected one.
fn sentence(problem: OutputProblem) -> String {
    match problem.kind {
        ProblemKind::NoEffect => format!("{}; put it where the host reads it, or leave it out", problem.message),
        _ => problem.message,
    }
}
