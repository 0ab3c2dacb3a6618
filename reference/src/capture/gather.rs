//! Collects what a capture may use: payload and remembered prompt first, then a bounded part of the transcript.
//!
//! Guarantee: the final message of the payload wins over the transcript, which may lag behind; a turn that was
//! captured before is gathered whole again, so that its record is replaced by a fuller one; all texts are redacted
//! here, at full length, before anything is cut. Deliberately not here: judging.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use super::validation::{self, Check};
use super::{Call, Trigger, path, prose};
use crate::noise;
use crate::session::state::SessionState;
use crate::transcript::span::{Reach, Reply, Span};
use crate::transcript::tail::Cursor;

/// Bytes of a message that are looked at; the first part of a long one says what it is about.
const MESSAGE_BYTES: usize = 12 << 10;
/// Newest texts of the model that are searched for decisions and failures.
const MOST_REPLIES: usize = 12;
/// An answer of fewer words leans on an earlier final one.
const FEW_WORDS: usize = 12;

/// What one turn, sub-agent, session end or compaction has to offer; redacted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Turn {
    /// Names the turn within its session.
    pub key: String,
    /// What was asked, host's wrappers removed.
    pub request: String,
    /// The slash command that asked, without `/`.
    pub command: Option<String>,
    /// The final message.
    pub result: String,
    /// The final message was the last word; false when the turn was cut off.
    pub is_complete: bool,
    /// Earlier texts of the model in this turn, oldest first.
    pub replies: Vec<String>,
    /// Affected paths, relative to the project, in order of their first edit.
    pub paths: Vec<String>,
    /// Checks that were run.
    pub checks: Vec<Check>,
    /// Lines that were written into files of the project.
    pub written: Vec<String>,
    /// Type of the sub-agent.
    pub agent_type: Option<String>,
    /// How the host was started.
    pub entrypoint: Option<String>,
    /// Where the gathered part of the transcript began and ended.
    pub start: Option<Cursor>,
    /// Where a later capture goes on.
    pub end: Option<Cursor>,
    /// Transcript lines understood.
    pub good_lines: u64,
    /// Transcript lines not understood.
    pub bad_lines: u64,
}

/// Gathers for `call`.
pub fn gather(call: &Call<'_>, state: &SessionState) -> Turn {
    match call.trigger {
        Trigger::TurnEnd { prompt_id, last_message } => of_turn(call, state, prompt_id, last_message),
        Trigger::AgentEnd { agent_id, agent_type, transcript, last_message } => {
            of_agent(call, state, (agent_id, agent_type), transcript, last_message)
        }
        Trigger::Compaction => recent(call, state),
        Trigger::SessionEnd => rest_of_session(call, state),
    }
}

fn of_turn(call: &Call<'_>, state: &SessionState, prompt_id: Option<&str>, last_message: Option<&str>) -> Turn {
    let known = state.turn_of(prompt_id);
    let key = known.map(|turn| turn.key.clone()).or_else(|| prompt_id.map(str::to_owned)).unwrap_or_default();
    let start = state.capture_start(&key);
    let needs_prompt = known.is_none_or(|turn| turn.prompt.is_empty());
    let span = read(call, call.transcript, reach(start, true, needs_prompt, false));
    let asked = known.map(|turn| turn.prompt.clone());
    let mut turn = of_span(call, &span, asked.as_deref(), last_message);
    turn.start = start;
    turn.key = if key.is_empty() {
        // Nobody named the turn: what was asked and how it ended do.
        format!("{:016x}", xxh3_64(format!("{}\n{}", turn.request, turn.result).as_bytes()))
    } else {
        key
    };
    turn
}

fn of_agent(
    call: &Call<'_>,
    state: &SessionState,
    (agent_id, agent_type): (&str, &str),
    transcript: Option<&Path>,
    last_message: Option<&str>,
) -> Turn {
    let span = read(call, transcript, reach(None, false, false, true));
    let taken = state.tasks.iter().find(|pending| !agent_id.is_empty() && pending.agent_id == agent_id);
    let task = taken.map(|pending| pending.task.text.clone());
    let task = task.or_else(|| transcript.and_then(|path| Span::first_prompt(path, &call.limits.transcript)));
    let mut turn = of_span(call, &span, task.as_deref(), last_message);
    turn.key = if agent_id.is_empty() {
        format!("{:016x}", xxh3_64(format!("{}\n{}", turn.request, turn.result).as_bytes()))
    } else {
        agent_id.to_owned()
    };
    // Cutting comes last: half a secret is no longer known as one.
    turn.agent_type = Some(prose::clip(&(call.redact)(&noise::strip(agent_type)), 64)).filter(|name| !name.is_empty());
    // A sub-agent's file is another file than the session's.
    turn.end = None;
    turn
}

fn recent(call: &Call<'_>, state: &SessionState) -> Turn {
    let span = read(call, call.transcript, reach(state.above_floor(None), false, state.turn.is_none(), false));
    let asked = state.turn.as_ref().map(|turn| turn.prompt.clone());
    let mut turn = of_span(call, &span, asked.as_deref(), None);
    turn.key = state.turn.as_ref().map(|turn| turn.key.clone()).unwrap_or_default();
    turn.end = None;
    turn
}

fn rest_of_session(call: &Call<'_>, state: &SessionState) -> Turn {
    let key = state.turn.as_ref().map(|turn| turn.key.clone()).unwrap_or_default();
    let has_ended = !key.is_empty() && state.ended == key;
    let captured = has_ended || state.outcomes.iter().any(|outcome| !outcome.by_agent && outcome.turn == key);
    // The turn that ran when the session ended: nothing has captured it.
    let span = if captured {
        Span::default()
    } else {
        read(call, call.transcript, reach(state.capture_start(&key), true, false, false))
    };
    let asked = state.turn.as_ref().filter(|_| !captured).map(|turn| turn.prompt.clone());
    let mut turn = of_span(call, &span, asked.as_deref(), None);
    turn.key = key;
    turn
}

fn reach(since: Option<Cursor>, last_turn_only: bool, needs_prompt: bool, sidechains: bool) -> Reach {
    Reach { since, last_turn_only, needs_prompt, sidechains, wants_command: validation::is_check }
}

fn read(call: &Call<'_>, path: Option<&Path>, reach: Reach) -> Span {
    path.map(|path| Span::read(path, &reach, &call.limits.transcript)).unwrap_or_default()
}

fn of_span(call: &Call<'_>, span: &Span, asked: Option<&str>, last_message: Option<&str>) -> Turn {
    let redact = |text: &str| {
        let start = text.get(..text.floor_char_boundary(2 * MESSAGE_BYTES)).unwrap_or(text);
        // A secret that the cut went through would not be known; whatever stands there goes as a whole.
        let is_cut = start.len() < text.len();
        let start = if is_cut { start.trim_end_matches(|letter: char| letter.is_ascii_graphic()) } else { start };
        let text = relative_mentions(start, call.place.roots);
        let redacted = (call.redact)(&text);
        redacted.get(..redacted.floor_char_boundary(MESSAGE_BYTES)).unwrap_or("").to_owned()
    };
    let asked = asked.filter(|asked| !noise::is_noise(asked)).or_else(|| span.prompts.last().map(String::as_str));
    let request = asked.filter(|asked| !asked.is_empty()).or(span.command_line.as_deref()).unwrap_or("");
    let request = redact(noise::strip(request).trim());

    let from_payload = last_message.map(|message| noise::strip(message).trim().to_owned());
    let from_payload = from_payload.filter(|message| !message.is_empty());
    let mut replies: Vec<&Reply> = span.replies.iter().collect();
    let last = match &from_payload {
        Some(message) => {
            // The transcript may hold the same message already.
            replies.retain(|reply| reply.text != *message);
            message.as_str()
        }
        None => replies.pop().map_or("", |reply| reply.text.as_str()),
    };
    let mut result = redact(last);
    if !prose::has_words(&result, FEW_WORDS)
        && let Some(at) = replies.iter().rposition(|reply| reply.is_final && prose::has_words(&reply.text, FEW_WORDS))
    {
        // "Noted." after a background task's notice would else hide what the turn achieved.
        let earlier = redact(&replies.remove(at).text);
        result = if result.is_empty() { earlier } else { format!("{earlier}\n\n{result}") };
    }
    let older = replies.len().saturating_sub(MOST_REPLIES);
    let replies = replies.iter().skip(older).map(|reply| redact(&reply.text)).collect();

    let mut checks = validation::checks(&span.commands);
    checks.iter_mut().for_each(|check| check.line = redact(&check.line));
    let (paths, written) = edits(call, span);
    let command = request.strip_prefix('/').and_then(|rest| rest.split_whitespace().next());
    Turn {
        command: command.filter(|name| !name.contains('/')).map(|name| prose::clip(name, 64)),
        request,
        result,
        is_complete: from_payload.is_some() || span.replies.last().is_some_and(|reply| reply.is_final),
        replies,
        paths,
        checks,
        written,
        entrypoint: span.entrypoint.clone(),
        end: span.end,
        good_lines: span.good_lines,
        bad_lines: span.bad_lines,
        ..Turn::default()
    }
}

/// Turns mentions of files below a root into relative ones: shorter, the same on every machine, no home folder.
fn relative_mentions<'a>(text: &'a str, roots: &[PathBuf]) -> Cow<'a, str> {
    let mut text = Cow::Borrowed(text);
    for root in roots {
        let Some(root) = root.to_str().map(|root| root.trim_end_matches('/')).filter(|root| root.len() > 1) else {
            continue;
        };
        let prefix = format!("{root}/");
        if memchr::memmem::find(text.as_bytes(), prefix.as_bytes()).is_some() {
            text = Cow::Owned(text.replace(&prefix, ""));
        }
    }
    text
}

/// Affected paths and written lines; edits outside the project leave neither.
fn edits(call: &Call<'_>, span: &Span) -> (Vec<String>, Vec<String>) {
    let mut paths: Vec<String> = Vec::new();
    let mut written = Vec::new();
    let mut seen_paths = HashSet::new();
    let mut seen_lines = HashSet::new();
    // Newest first where there are too many: they are what the files hold now.
    for edit in span.edits.iter().rev() {
        let Some(relative) = path::relative(&edit.path, call.place.cwd, call.place.roots) else { continue };
        let relative = match (call.redact)(&relative) {
            Cow::Borrowed(same) => same.to_owned(),
            Cow::Owned(redacted) => redacted,
        };
        if paths.len() < call.limits.paths && seen_paths.insert(relative.clone()) {
            paths.push(relative);
        }
        // All lines of an edit at once: the middle of a private key is known by its first line only.
        for line in (call.redact)(&edit.written.join("\n")).lines() {
            if written.len() == call.limits.written {
                break;
            }
            if seen_lines.insert(xxh3_64(line.as_bytes())) {
                written.push(line.to_owned());
            }
        }
    }
    paths.reverse();
    (paths, written)
}
