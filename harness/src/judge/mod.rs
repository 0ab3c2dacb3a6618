//! The verdict on one call: everything that is wrong with it, each thing once.
//!
//! Pure: an observation, what reached the model, and the step's expectations go in, findings come out, in the
//! order of [`FindingKind::ALL`]. A finding says what was expected, what was seen, and what to do. Comparing
//! with a golden, watching the tree and running state checks happen elsewhere; their results are inputs here.

mod retrieved;

use std::time::Duration;

pub use retrieved::retrieved;

use crate::golden::{self, is_invisible};
use crate::observation::{Ending, Observation, SpawnFault};
use crate::run_event::{Finding, FindingKind};
use crate::scenario::{Delivered, Expect, Fault, Permission};

/// Most characters of a hook's output that a message shows.
const SHOWN_CHARS: usize = 300;

/// What reached the model from one call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeliveredText {
    /// All delivered texts, scrubbed.
    pub text: String,
    /// UTF-16 code units of the text before scrubbing: the host's measure.
    pub utf16: u64,
    /// Bytes of the text before scrubbing.
    pub bytes: u64,
    /// A text was cut or replaced by a preview.
    pub truncated: bool,
    /// The host's decision, `none` when it took none.
    pub decision: String,
    /// What the host found wrong with the output, with a sentence each.
    pub problems: Vec<(FindingKind, String)>,
}

/// Everything that is known of one call.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// What the process did.
    pub observation: &'a Observation,
    /// What reached the model.
    pub delivered: &'a DeliveredText,
    /// Timeout of the call.
    pub timeout: Duration,
    /// The golden's finding, when the step has a golden.
    pub golden: Option<&'a Finding>,
    /// Changes in the project that the step does not allow.
    pub tree_changes: &'a [String],
}

/// True when the call ended by itself, so that it owes the text that the step expects.
///
/// The golden of a call that owes no text must not be compared: silence is a consequence there.
pub fn owes_text(observation: &Observation, fault: &Fault) -> bool {
    matches!(observation.ending, Ending::Exited(_)) && fault.kill_after.is_none()
}

/// All that is wrong with a call, in report order.
pub fn judge(expect: &Expect, fault: &Fault, seen: &Seen<'_>) -> Vec<Finding> {
    let mut findings = process(expect, fault, seen);
    findings.extend(streams(expect, seen.observation));
    findings.extend(tree(seen.tree_changes));
    // A call that the step itself kills owes no answer; only its traces are judged.
    if fault.kill_after.is_none() {
        findings.extend(answer(expect, seen.delivered));
        findings.extend(budget(expect, seen.delivered));
    }
    // What did not come because the hook did not end by itself is said once, by the process's finding.
    if owes_text(seen.observation, fault) || (fault.kill_after.is_none() && !seen.delivered.text.is_empty()) {
        findings.extend(text(expect, seen));
    }
    let order = |kind: FindingKind| FindingKind::ALL.iter().position(|other| *other == kind);
    findings.sort_by_key(|finding| order(finding.kind));
    findings
}

/// The finding for a step whose scrubbed text is not the one of an earlier round.
pub fn not_deterministic(first_round: u32, first: &str, text: &str) -> Option<Finding> {
    if first == text {
        return None;
    }
    let message = format!(
        "expected the text of round {first_round} again, seen another one; scrub what may differ, or find what makes \
         the hook's answer change:\n{}",
        golden::diff(first, text)
    );
    Some(found(FindingKind::NotDeterministic, message))
}

fn found(kind: FindingKind, message: String) -> Finding {
    Finding { kind, message }
}

/// How the process ended.
fn process(expect: &Expect, fault: &Fault, seen: &Seen<'_>) -> Vec<Finding> {
    let stderr = shown(&seen.observation.stderr);
    let finding = match seen.observation.ending {
        Ending::TimedOut if expect.timeout == Permission::Allow || fault.kill_after.is_some() => None,
        Ending::TimedOut => Some(found(
            FindingKind::Timeout,
            format!(
                "expected an end within {}, the hook was still running and was ended; stderr: {stderr}; \
                 make it faster, or raise timeout_ms",
                milliseconds(seen.timeout)
            ),
        )),
        Ending::Signalled(_) if fault.kill_after.is_some() => None,
        Ending::Signalled(signal) => Some(found(
            FindingKind::Crash,
            format!("expected an exit, the hook was ended by signal {signal}; stderr: {stderr}; find the crash"),
        )),
        Ending::LauncherLost => Some(found(
            FindingKind::LostLauncher,
            format!(
                "expected an exit, the hook ended or stopped its parent process, which in a session is the host; \
                 stderr: {stderr}; signal no process that the hook did not start"
            ),
        )),
        Ending::NotStarted(why) => Some(found(FindingKind::NotStarted, not_started(why))),
        Ending::Exited(code) => exit_code(expect, fault, code, &stderr),
    };
    finding.into_iter().collect()
}

fn exit_code(expect: &Expect, fault: &Fault, code: i32, stderr: &str) -> Option<Finding> {
    let expected = expect.exit.filter(|expected| *expected != code)?;
    if fault.kill_after.is_some() {
        return None;
    }
    let meaning = match code {
        2 => " (the host takes 2 as a block)",
        126 => " (the command is not executable)",
        127 => {
            " (the command was not found; a hook runs in a sandbox, so name it by its whole path or by `./` from where you stand)"
        }
        _ => "",
    };
    let message = format!(
        "expected exit code {expected}, seen {code}{meaning}; stderr: {stderr}; correct the hook, or expect.exit"
    );
    Some(found(FindingKind::ExitCode, message))
}

fn not_started(why: SpawnFault) -> String {
    let (seen, remedy) = match why {
        SpawnFault::NotFound => {
            ("no such program", "check the path of the hook, and the interpreter in its first line")
        }
        SpawnFault::NotPermitted => ("it is not executable", "run chmod +x on the hook"),
        SpawnFault::Other(errno) => return format!("the hook could not be started: error {errno} of the system"),
    };
    format!("the hook could not be started: {seen}; {remedy}")
}

/// What the process did with its streams and children.
fn streams(expect: &Expect, observation: &Observation) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (stream, dropped_bytes) in
        [("stdout", observation.stdout_dropped_bytes), ("stderr", observation.stderr_dropped_bytes)]
    {
        if dropped_bytes > 0 {
            let message = format!(
                "{stream} went {dropped_bytes} bytes past what is captured; a host reads all of it: print less"
            );
            findings.push(found(FindingKind::Flood, message));
        }
    }
    if observation.stream_held_open && expect.stream_held_open == Permission::Forbid {
        let message = format!(
            "a child of the hook held stdout or stderr open after the hook had ended ({} to exit, {} to end of \
             output): the host waits for it; redirect the child's streams",
            milliseconds(observation.exit_after),
            milliseconds(observation.eof_after)
        );
        findings.push(found(FindingKind::StreamHeldOpen, message));
    }
    if !observation.orphans.is_empty() && expect.orphans == Permission::Forbid {
        let names: Vec<String> =
            observation.orphans.iter().map(|orphan| format!("{} ({})", orphan.name, orphan.pid)).collect();
        let message = format!(
            "expected no process to outlive the hook, seen {}: {}; wait for children, or set expect.orphans",
            observation.orphans.len(),
            cut(&names.join(", "))
        );
        findings.push(found(FindingKind::Orphan, message));
    }
    if observation.stdin_closed_early && expect.stdin_closed_early == Permission::Forbid {
        let message = "the hook closed stdin before it had read the payload; read all of stdin, or set \
                       expect.stdin_closed_early = \"allow\"";
        findings.push(found(FindingKind::StdinClosedEarly, message.to_owned()));
    }
    findings
}

fn tree(changes: &[String]) -> Option<Finding> {
    if changes.is_empty() {
        return None;
    }
    let message = format!(
        "expected no write in the project, seen {}: {}; write elsewhere, or name the path in expect.may_write",
        changes.len(),
        cut(&changes.join(", "))
    );
    Some(found(FindingKind::TreeWritten, message))
}

/// What the host made of the answer.
fn answer(expect: &Expect, delivered: &DeliveredText) -> Vec<Finding> {
    let allowed = |kind: FindingKind| match kind {
        FindingKind::OverCap => expect.over_cap == Permission::Allow,
        FindingKind::InvalidOutput | FindingKind::WrongEventName => expect.invalid_output == Permission::Allow,
        _ => false,
    };
    let mut findings: Vec<Finding> = delivered
        .problems
        .iter()
        .filter(|(kind, _)| !allowed(*kind))
        .map(|(kind, message)| found(*kind, message.clone()))
        .collect();
    let over_cap_said = findings.iter().any(|finding| finding.kind == FindingKind::OverCap);
    if delivered.truncated && !over_cap_said && !allowed(FindingKind::OverCap) {
        let message = "the text was over the host's cap: the model sees a part of it only; inject less, or set \
                       expect.over_cap = \"allow\"";
        findings.push(found(FindingKind::OverCap, message.to_owned()));
    }
    if let Some(expected) = expect.decision.as_ref().filter(|expected| **expected != delivered.decision) {
        let message = format!(
            "expected the decision `{expected}`, the host would take `{}`; correct the hook's answer, or \
             expect.decision",
            delivered.decision
        );
        findings.push(found(FindingKind::Decision, message));
    }
    findings
}

/// What the delivered text says.
fn text(expect: &Expect, seen: &Seen<'_>) -> Vec<Finding> {
    let text = seen.delivered.text.as_str();
    let mut findings = Vec::new();
    match expect.delivered {
        Delivered::Golden => findings.extend(seen.golden.cloned()),
        Delivered::Empty if !text.is_empty() => {
            let message = format!(
                "expected nothing to reach the model, seen {} bytes: `{}`; the hook must stay silent here",
                seen.delivered.bytes,
                cut(text)
            );
            findings.push(found(FindingKind::NotEmpty, message));
        }
        Delivered::Some if text.is_empty() => {
            let message = "expected text for the model, nothing was delivered; check the hook's answer and, for a \
                           memory, that the store was seeded";
            findings.push(found(FindingKind::Empty, message.to_owned()));
        }
        Delivered::Empty | Delivered::Some | Delivered::Any => {}
    }
    for part in expect.contains.iter().filter(|part| !text.contains(part.as_str())) {
        let message = format!(
            "expected `{}` in the delivered text, seen `{}`; deliver it, or correct expect.contains",
            cut(part),
            cut(text)
        );
        findings.push(found(FindingKind::ContainsMissing, message));
    }
    for pattern in &expect.not_matches {
        let Some(hit) = pattern.regex.find(text) else { continue };
        let message = format!(
            "`{}` must not match, seen `{}` at byte {} of the delivered text; keep it out",
            pattern.text,
            cut(hit.as_str()),
            hit.start()
        );
        findings.push(found(FindingKind::NotMatchesFound, message));
    }
    findings
}

fn budget(expect: &Expect, delivered: &DeliveredText) -> Option<Finding> {
    let sizes = [
        ("UTF-16 units", expect.max_utf16, delivered.utf16),
        ("bytes", expect.max_bytes, delivered.bytes),
        ("tokens (an estimate: bytes / 4)", expect.max_tokens, delivered.bytes.div_ceil(4)),
    ];
    let over: Vec<String> = sizes
        .into_iter()
        .filter_map(|(unit, most, seen)| most.filter(|most| seen > *most).map(|most| (unit, most, seen)))
        .map(|(unit, most, seen)| format!("at most {most} {unit}, seen {seen}"))
        .collect();
    if over.is_empty() {
        return None;
    }
    Some(found(FindingKind::OverBudget, format!("expected {}; inject less, or raise the budget", over.join(" and "))))
}

fn milliseconds(duration: Duration) -> String {
    format!("{} ms", duration.as_millis())
}

fn shown(bytes: &[u8]) -> String {
    match String::from_utf8_lossy(bytes).trim() {
        "" => "empty".to_owned(),
        text => format!("`{}`", cut(text)),
    }
}

/// The beginning of a text, in one piece on a terminal.
fn cut(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN_CHARS).flat_map(printable).collect();
    if text.chars().nth(SHOWN_CHARS).is_some() {
        shown.push('…');
    }
    shown
}

fn printable(c: char) -> Vec<char> {
    let acts = c.is_control() && c != '\n' && c != '\t' || is_invisible(c);
    if acts { c.escape_default().collect() } else { vec![c] }
}

#[cfg(test)]
mod tests;
