//! From the answers of the hooks of one event to what reached the model, as the judge wants it.
//!
//! The host's rules are the contract crate's; this module picks what is measured and joins what several hooks say. Texts
//! are without the host's own label and wrapper, because a hook is not charged for words that the host adds.
//!
//! Several hooks: the most restrictive decision counts. Texts come in the order in which the hooks finished, a paragraph
//! each; the contexts of an event whose contexts share a label come last, as lines of one paragraph, because the host
//! waits for all of them. Recorded requests of both clients show that for `SessionStart` and for the contexts of
//! `UserPromptSubmit` (recordings `25-caps`); there, plain texts came up to 0.3 s later than their hooks finished, by no
//! rule that could be seen, which is not modelled. Where a hook refuses what the event is about, so that no request
//! follows, the contexts of the others are lost with it. Because the order of finishing is chance, goldens and rounds are
//! compared in the order of the settings instead.

use hook_contract::{
    Call, Decision, Delivery, Event, Exit, HostProfile, ModelText, OutputProblem, ProblemKind, TextKind, deliver,
    shares_label, subject,
};
use serde_json::Value;

use crate::judge::DeliveredText;
use crate::observation::{Ending, Observation};
use crate::run_event::FindingKind;

/// One hook's answer to the event.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    /// Its command, which the host quotes in texts.
    pub command: &'a str,
    /// What its process did.
    pub observation: &'a Observation,
    /// The host does not wait for it.
    pub background: bool,
    /// Its failure blocks.
    pub failure_blocks: bool,
}

/// What reached the model from all hooks of the event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Joined {
    /// In the order in which the hooks finished.
    pub delivered: DeliveredText,
    /// The same text in the order of the settings, scrubbed: what can be compared from round to round.
    pub settled: String,
    /// Each hook's share in UTF-16 code units, in the order of the settings.
    pub shares_utf16: Vec<u64>,
}

/// What reached the model. `scrub` replaces what differs from run to run.
pub fn delivered(
    host: &HostProfile,
    payload: Option<&Value>,
    event: Option<Event>,
    answers: &[Answer<'_>],
    scrub: &dyn Fn(&str) -> String,
) -> Joined {
    // The host calls hooks for its own events only; an unknown one has no rules to apply.
    let Some(event) = event else {
        let nothing = DeliveredText { decision: Decision::None.name().to_owned(), ..DeliveredText::default() };
        return Joined { delivered: nothing, settled: String::new(), shares_utf16: vec![0; answers.len()] };
    };
    let subject = payload.and_then(|payload| subject(event, payload));
    let mut deliveries: Vec<Delivery> = answers.iter().map(|answer| one(host, event, subject, answer)).collect();
    let decision = deliveries.iter().map(decision).fold(Decision::None, Decision::stronger);
    let ends_turn = deliveries.iter().any(|delivery| delivery.ends_turn);
    for delivery in &mut deliveries {
        delivery.to_model.retain(|text| is_passed_on(event, text.kind, decision, ends_turn));
    }
    let mut finished: Vec<usize> = (0..answers.len()).collect();
    finished.sort_by_key(|at| answers.get(*at).map(|answer| answer.observation.eof_after));
    let finished = finished.iter().filter_map(|at| deliveries.get(*at)).flat_map(|delivery| &delivery.to_model);
    let text = join(event, finished);
    let settled = join(event, deliveries.iter().flat_map(|delivery| &delivery.to_model));
    let shares_utf16 = deliveries.iter().map(|delivery| utf16(&join(event, &delivery.to_model))).collect();
    let truncated = deliveries.iter().flat_map(|delivery| &delivery.to_model).any(|text| text.truncated);
    let alone = answers.len() == 1;
    let problems = answers.iter().zip(deliveries).flat_map(|(answer, delivery)| {
        let said = delivery.problems.into_iter();
        said.filter_map(move |problem| {
            let kind = finding_kind(problem.kind)?;
            let sentence = sentence(problem);
            Some((kind, if alone { sentence } else { format!("`{}`: {sentence}", answer.command) }))
        })
    });
    let delivered = DeliveredText {
        utf16: utf16(&text),
        bytes: text.len() as u64,
        text: scrub(&text),
        truncated,
        decision: decision.name().to_owned(),
        problems: problems.collect(),
    };
    Joined { delivered, settled: scrub(&settled), shares_utf16 }
}

/// What becomes of one hook's answer.
fn one(host: &HostProfile, event: Event, subject: Option<&str>, answer: &Answer<'_>) -> Delivery {
    let observation = answer.observation;
    let exit = match observation.ending {
        Ending::Exited(code) => Exit::Code(code),
        Ending::Signalled(signal) => Exit::Signal(signal),
        Ending::TimedOut => Exit::TimedOut,
        // Whatever it wrote, its end is that of a process which a signal ended.
        Ending::LauncherLost => Exit::Signal(9),
        // The shell answers 127 for a missing program and 126 for one that may not run.
        Ending::NotStarted(_) => Exit::Code(127),
    };
    let mut call = Call::new(event, subject, answer.command);
    call.background = answer.background;
    call.failure_blocks = answer.failure_blocks;
    deliver(host, &call, exit, &observation.stdout, &observation.stderr)
}

fn decision(delivery: &Delivery) -> Decision {
    match delivery.decision {
        Decision::None if delivery.ends_turn => Decision::Stop,
        decision => decision,
    }
}

/// Whether a text still reaches a model, given what all hooks together decide.
fn is_passed_on(event: Event, kind: TextKind, decision: Decision, ends_turn: bool) -> bool {
    let refused = ends_turn || decision == Decision::Block;
    match kind {
        TextKind::AdditionalContext | TextKind::PlainStdout => match event {
            Event::UserPromptSubmit | Event::UserPromptExpansion | Event::PostToolBatch => !refused,
            Event::Stop | Event::SubagentStop => !ends_turn,
            _ => true,
        },
        // A refused call has an error for its result, whatever another hook would have asked.
        TextKind::AskReason => decision == Decision::Ask,
        TextKind::CompactInstructions => decision != Decision::Block,
        _ => true,
    }
}

/// The texts as paragraphs; those under one label as lines of the last.
fn join<'t>(event: Event, texts: impl IntoIterator<Item = &'t ModelText>) -> String {
    let mut paragraphs: Vec<&str> = Vec::new();
    let mut lines: Vec<&str> = Vec::new();
    for text in texts {
        if shares_label(event, text.kind) { lines.push(&text.body) } else { paragraphs.push(&text.body) }
    }
    let labelled = lines.join("\n");
    if !lines.is_empty() {
        paragraphs.push(&labelled);
    }
    paragraphs.join("\n\n")
}

fn utf16(text: &str) -> u64 {
    text.encode_utf16().count() as u64
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::summary::fixture::step;

    fn seen(wall_ms: u64, code: i32, stdout: &str, stderr: &str) -> Observation {
        let mut one = step("s", "x", 0, 0).observation;
        one.eof_after = Duration::from_millis(wall_ms);
        one.ending = Ending::Exited(code);
        one.stdout = stdout.into();
        one.stderr = stderr.into();
        one
    }

    fn context(event: Event, text: &str) -> String {
        format!(r#"{{"hookSpecificOutput":{{"hookEventName":"{event}","additionalContext":"{text}"}}}}"#)
    }

    fn joined(event: Event, seen: &[Observation]) -> Joined {
        let answers: Vec<Answer<'_>> = seen
            .iter()
            .map(|observation| Answer { command: "cmd", observation, background: false, failure_blocks: false })
            .collect();
        delivered(HostProfile::newest(), None, Some(event), &answers, &str::to_owned)
    }

    #[test]
    fn texts_come_as_the_hooks_finish_and_are_compared_as_the_settings_name_them() {
        let event = Event::UserPromptSubmit;
        let all = [seen(9, 0, "slow", ""), seen(1, 0, &context(event, "quick"), ""), seen(5, 0, "", "")];
        let joined = joined(event, &all);
        assert_eq!(joined.delivered.text, "quick\n\nslow");
        assert_eq!(joined.settled, "slow\n\nquick");
        assert_eq!((joined.delivered.utf16, joined.shares_utf16), (11, vec![4, 5, 0]));
    }

    /// Attachments and the first system message of a recorded session, if there is one.
    #[expect(clippy::print_stderr, reason = "a skipped test must say so")]
    fn recorded(version: &str) -> Option<(Vec<Value>, String)> {
        let default = || concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/recordings").into();
        let root = std::env::var_os("HOOKBENCH_RECORDINGS").map_or_else(default, std::path::PathBuf::from);
        let folder = root.join(version).join("25-caps");
        let lines = |name: &str| -> Option<Vec<Value>> {
            let text = std::fs::read_to_string(folder.join(name)).ok()?;
            Some(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
        };
        let (Some(transcript), Some(requests)) = (lines("transcript.jsonl"), lines("requests.jsonl")) else {
            eprintln!("skipped: no recording {} (set HOOKBENCH_RECORDINGS)", folder.display());
            return None;
        };
        let attachments = transcript.iter().filter_map(|line| line.get("attachment").cloned()).collect();
        let messages = requests.first()?.pointer("/body/messages")?.as_array()?.clone();
        Some((attachments, Value::from(messages).to_string()))
    }

    #[test]
    fn recorded_session_starts_show_the_order() {
        let event = Event::SessionStart;
        for version in ["2.1.332", "2.1.197"] {
            let Some((attachments, request)) = recorded(version) else { continue };
            let starts = attachments
                .iter()
                .filter(|one| one["type"] == "hook_success" && one["hookName"] == "SessionStart:startup")
                .filter_map(|one| {
                    // `big.py NAME letter length form` printed a long text that begins with its name.
                    let words: Vec<&str> = one["command"].as_str()?.split_whitespace().collect();
                    let name = format!("{}(", words.get(1)?);
                    let stdout = if words.last() == Some(&"ctx") { context(event, &name) } else { name };
                    Some((stdout, one["durationMs"].as_u64()?))
                });
            // By name: the order of the transcript must not give the answer away.
            let mut starts: Vec<(String, u64)> = starts.collect();
            starts.sort();
            let seen: Vec<Observation> = starts.iter().map(|(stdout, ms)| seen(*ms, 0, stdout, "")).collect();
            let text = joined(event, &seen).delivered.text;
            let ours: Vec<&str> = text.split_whitespace().collect();
            let mut theirs: Vec<&str> = ours.clone();
            theirs.sort_by_key(|name| request.find(*name));
            assert_eq!(starts.len(), 4, "{version}: {starts:?}");
            assert!(ours.iter().all(|name| request.contains(name)), "{version}: {ours:?}");
            assert_eq!(ours, theirs, "{version}");
        }
    }

    #[test]
    fn contexts_under_one_label_are_lines() {
        let event = Event::SessionStart;
        let all = [seen(1, 0, &context(event, "a"), ""), seen(2, 0, "plain", ""), seen(3, 0, &context(event, "b"), "")];
        assert_eq!(joined(event, &all).delivered.text, "plain\n\na\nb");
    }

    #[test]
    fn a_refused_prompt_takes_the_context_of_the_other_hooks_along() {
        let event = Event::UserPromptSubmit;
        let both = joined(event, &[seen(1, 0, &context(event, "known"), ""), seen(2, 2, "", "no")]);
        assert_eq!((both.delivered.decision.as_str(), both.delivered.text.as_str()), ("block", ""));
        assert_eq!(both.shares_utf16, [0, 0]);
    }

    #[test]
    fn a_blocked_call_keeps_the_context_of_the_other_hooks() {
        let event = Event::PreToolUse;
        let both = joined(event, &[seen(1, 0, &context(event, "known"), ""), seen(2, 2, "", "no")]);
        assert_eq!(both.delivered.decision, "deny");
        assert_eq!(both.delivered.text, "known\n\n[cmd]: no");
    }

    #[test]
    fn the_most_restrictive_permission_wins_and_the_question_of_a_loser_is_not_asked() {
        let says = |decision: &str| {
            let answer =
                format!(r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse","permissionDecision":"{decision}","#)
                    + r#""permissionDecisionReason":"why"}}"#;
            seen(1, 0, &answer, "")
        };
        // deny > defer > ask > allow
        let decided = |all: &[&str]| {
            let all: Vec<Observation> = all.iter().map(|word| says(word)).collect();
            joined(Event::PreToolUse, &all).delivered
        };
        assert_eq!(decided(&["allow", "ask"]).decision, "ask");
        assert_eq!(decided(&["allow", "ask"]).text, "why");
        assert_eq!(decided(&["ask", "defer"]).decision, "defer");
        assert_eq!(decided(&["ask", "defer"]).text, "");
        assert_eq!(decided(&["defer", "deny", "allow"]).decision, "deny");
    }

    #[test]
    fn problems_name_their_hook_when_there_are_several() {
        let event = Event::UserPromptSubmit;
        let broken = || seen(1, 0, "{not json}", "");
        let of = |all: &[Observation]| joined(event, all).delivered.problems;
        assert!(of(&[broken()]).iter().all(|(_, text)| !text.starts_with('`')) && of(&[broken()]).len() == 1);
        assert!(of(&[broken(), seen(1, 0, "", "")]).iter().all(|(_, text)| text.starts_with("`cmd`: ")));
    }
}
