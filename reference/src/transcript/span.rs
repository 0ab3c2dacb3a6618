//! What a stretch of a transcript says: prompts, replies, edits with the lines they wrote, commands with their end.
//!
//! Guarantee: every list and text is bounded (see the constants), sub-agents' lines are left out of the main
//! conversation, and a failed call leaves no edit. Same bytes, same span. Deliberately not here: judging what
//! matters (see `capture`), redaction (the caller's, before anything is kept).

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::edit::{self, Edit, Pending};
use super::line::{self, Block, Line, Sniff, Sniffer, Speaker};
use super::tail::{Cursor, Limits, Piece, Tail};
use crate::noise;

/// Newest texts kept of a span.
const MOST_TEXTS: usize = 32;
/// Bytes kept of one prompt or reply.
const TEXT_BYTES: usize = 32 << 10;
/// Newest edits kept.
const MOST_EDITS: usize = 400;
/// Written lines after which older edits give their path only: more than a record keeps.
const MOST_WRITTEN: usize = 3_000;
/// Newest commands kept.
const MOST_COMMANDS: usize = 64;
/// Bytes from the end in which the model's words count; farther back only its edits and commands do.
const WORDS_BYTES: u64 = 256 << 10;
/// Tools that change files.
const EDIT_TOOLS: [&str; 4] = ["Edit", "Write", "MultiEdit", "NotebookEdit"];
/// Tools that run commands.
const SHELL_TOOLS: [&str; 2] = ["Bash", "PowerShell"];
/// Both, for telling a line from its bytes.
const TOOLS: [&str; 6] = ["Edit", "Write", "MultiEdit", "NotebookEdit", "Bash", "PowerShell"];
/// Bytes kept of a command and of either end of its output.
const COMMAND_BYTES: usize = 2 << 10;

/// Which part of a transcript is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Reach {
    /// Where the last capture ended, when known: read from there, however far within [`Limits::most`].
    pub since: Option<Cursor>,
    /// Without a usable cursor: keep only what follows the newest prompt of a person.
    pub last_turn_only: bool,
    /// A window without a person's prompt is widened once: nobody else remembers what was asked.
    pub needs_prompt: bool,
    /// Sub-agents' lines count: true for a sub-agent's own file.
    pub sidechains: bool,
    /// Whether a command is worth its result.
    pub wants_command: fn(&str) -> bool,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// No result seen, or it runs in the background.
    Unknown,
    /// The tool reported success.
    Succeeded,
    /// The tool reported failure, with the exit code when it was told.
    Failed(Option<i32>),
}

/// One shell command that the caller asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The command line, clipped.
    pub line: String,
    /// How it ended.
    pub ending: Ending,
    /// First and last part of its output: evidence for pass or fail, never content.
    pub output: String,
}

impl Command {
    fn end(&mut self, is_error: bool, text: &str) {
        self.ending = if is_error { Ending::Failed(exit_code(text)) } else { Ending::Succeeded };
        self.output = both_ends(text, COMMAND_BYTES);
    }
}

/// One text of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The words, host's wrappers removed.
    pub text: String,
    /// No tool call followed it before the conversation went back to somebody else.
    pub is_final: bool,
}

/// What a stretch of a transcript says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Span {
    /// Prompts of a person, host's wrappers removed, oldest first.
    pub prompts: Vec<String>,
    /// The slash command that the newest prompt was, as typed.
    pub command_line: Option<String>,
    /// Replies since the newest prompt of a person, oldest first.
    pub replies: Vec<Reply>,
    /// Edits, oldest first.
    pub edits: Vec<Edit>,
    /// Wanted commands, oldest first.
    pub commands: Vec<Command>,
    /// How the host was started, from the newest line that says so.
    pub entrypoint: Option<String>,
    /// Lines understood, whatever their type.
    pub good_lines: u64,
    /// Lines torn, glued, too long or of wrong types.
    pub bad_lines: u64,
    /// Where a later read goes on.
    pub end: Option<Cursor>,
}

impl Span {
    /// Whether anything was said or done.
    pub fn is_empty(&self) -> bool {
        self.prompts.is_empty() && self.replies.is_empty() && self.edits.is_empty() && self.commands.is_empty()
    }

    /// Reads the span of the file at `path`; a path that is not a readable regular file gives an empty span.
    ///
    /// With a cursor of this very file the window starts there, but never more than [`Limits::most`] bytes back.
    /// Without one it is the last [`Limits::first`] bytes, four times as much while nothing usable is found.
    pub fn read(path: &Path, reach: &Reach, limits: &Limits) -> Span {
        let Some(tail) = Tail::open(path) else { return Span::default() };
        let farthest = tail.len().saturating_sub(limits.most);
        if let Some(offset) = reach.since.and_then(|cursor| tail.resume(cursor)) {
            return Walk::over(&tail, offset.max(farthest), reach, limits, offset >= farthest);
        }
        let mut width = limits.first.max(1);
        loop {
            let start = tail.len().saturating_sub(width).max(farthest);
            let span = Walk::over(&tail, start, reach, limits, false);
            let lacks_prompt = reach.needs_prompt && span.prompts.is_empty() && width == limits.first.max(1);
            if (!span.is_empty() && !lacks_prompt) || start == farthest || start == 0 {
                return span;
            }
            width = width.saturating_mul(4);
        }
    }

    /// The prompts at the start of a file, from its first [`Limits::first`] bytes: a sub-agent's task stands there.
    pub fn first_prompt(path: &Path, limits: &Limits) -> Option<String> {
        let tail = Tail::open(path)?;
        let mut lines = tail.lines(0, limits.line);
        let mut read = 0;
        while read < limits.first {
            match lines.next_piece()? {
                Piece::Line(bytes) => {
                    read += bytes.len() as u64 + 1;
                    let Ok(Some(line)) = line::parse(bytes) else { continue };
                    if line.speaker == Speaker::User && !line.by_host {
                        let text = noise::strip(&joined_text(&line)).trim().to_owned();
                        if !text.is_empty() {
                            return Some(clip(&text, TEXT_BYTES).to_owned());
                        }
                    }
                }
                Piece::TooLong => read += limits.line as u64,
                Piece::Torn(_) => {}
            }
        }
        None
    }
}

/// The longest start of `text` of at most `bytes` bytes that ends between characters.
fn clip(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or(text)
}

/// State of one walk over lines.
struct Walk<'r> {
    reach: &'r Reach,
    forget_before_prompt: bool,
    span: Span,
    edits: Vec<Option<Pending>>,
    commands: Vec<Command>,
    open: HashMap<String, Open>,
    awaits_end: bool,
    sniffer: Sniffer,
}

/// A call whose result has not been seen: its place in the list of edits or commands.
#[derive(Clone, Copy)]
enum Open {
    Edit(usize),
    Command(usize),
}

impl<'r> Walk<'r> {
    fn over(tail: &Tail, start: u64, reach: &'r Reach, limits: &Limits, since_capture: bool) -> Span {
        let mut walk = Walk {
            reach,
            forget_before_prompt: reach.last_turn_only && !since_capture,
            span: Span::default(),
            edits: Vec::new(),
            commands: Vec::new(),
            open: HashMap::new(),
            awaits_end: false,
            sniffer: Sniffer::default(),
        };
        let mut lines = tail.lines(start, limits.line);
        let near = tail.len().saturating_sub(WORDS_BYTES);
        loop {
            let is_near = lines.consumed() >= near;
            match lines.next_piece() {
                // A torn line may be complete, only its end missing; the cursor stays before it either way.
                Some(Piece::Line(bytes) | Piece::Torn(bytes)) => walk.take(bytes, is_near),
                Some(Piece::TooLong) => walk.span.bad_lines += 1,
                None => break,
            }
        }
        let end = Cursor { identity: tail.identity(), offset: lines.consumed() };
        walk.finish(end)
    }

    fn take(&mut self, bytes: &[u8], is_near: bool) {
        match self.sniffer.sniff(bytes, !is_near, |id| self.open.contains_key(id)) {
            Sniff::Bad => self.span.bad_lines += 1,
            Sniff::Other | Sniff::Result => self.span.good_lines += 1,
            Sniff::Message if !is_near && self.sniffer.calls_none_of(bytes, &TOOLS) => self.span.good_lines += 1,
            Sniff::Message if self.ends_call(bytes) => self.span.good_lines += 1,
            Sniff::Message => match line::parse(bytes) {
                Err(_) => self.span.bad_lines += 1,
                Ok(parsed) => {
                    self.span.good_lines += 1;
                    if let Some(line) = parsed {
                        self.heed(&line);
                    }
                }
            },
        }
    }

    /// Takes a line that is nothing but the result of one open call. Its report repeats the result and holds the
    /// whole old file of an edit: parsing it would cost more than all else.
    fn ends_call(&mut self, bytes: &[u8]) -> bool {
        if self.open.is_empty() {
            return false;
        }
        let Some(result) = self.sniffer.lone_result(bytes) else { return false };
        match self.open.get(result.id) {
            Some(Open::Edit(at)) => {
                if let Some(edit) = self.edits.get_mut(*at) {
                    if result.is_error {
                        *edit = None;
                    } else if let (Some(edit), Some(patch)) = (edit, result.patch) {
                        edit.report(patch);
                    }
                }
            }
            Some(Open::Command(at)) => {
                let Some(text) = result.text() else { return false };
                if let Some(command) = self.commands.get_mut(*at) {
                    command.end(result.is_error, &text);
                }
            }
            None => return false,
        }
        self.open.remove(result.id);
        true
    }

    fn heed(&mut self, line: &Line<'_>) {
        if let Some(entrypoint) = &line.entrypoint {
            // Allocating again for each line would cost more than the comparison.
            if self.span.entrypoint.as_deref() != Some(entrypoint.as_ref()) {
                self.span.entrypoint = Some(clip(entrypoint, 64).to_owned());
            }
        }
        if line.sidechain && !self.reach.sidechains {
            return;
        }
        if line.speaker == Speaker::User && line.blocks.iter().any(|block| matches!(block, Block::Text(_))) {
            self.conclude();
        }
        if line.by_host {
            return;
        }
        match line.speaker {
            Speaker::User => self.heed_user(line),
            Speaker::Assistant => self.heed_assistant(line),
        }
    }

    fn heed_user(&mut self, line: &Line<'_>) {
        for block in &line.blocks {
            if let Block::Result { id, is_error, content } = block {
                self.close(id, *is_error, *content, line.report);
            }
        }
        let text = joined_text(line);
        if text.is_empty() {
            return;
        }
        let command = noise::command_line(&text);
        let prompt = noise::strip(&text).trim().to_owned();
        if prompt.is_empty() && command.as_deref().is_none_or(is_built_in) {
            return;
        }
        if self.forget_before_prompt {
            self.span.prompts.clear();
            self.edits.clear();
            self.commands.clear();
            self.open.clear();
        }
        self.span.replies.clear();
        self.span.command_line = command;
        push_newest(&mut self.span.prompts, clip(&prompt, TEXT_BYTES).to_owned(), MOST_TEXTS);
    }

    fn heed_assistant(&mut self, line: &Line<'_>) {
        for block in &line.blocks {
            match block {
                Block::Text(text) => {
                    let said = noise::strip(clip(text, TEXT_BYTES));
                    let said = said.trim();
                    if !said.is_empty() {
                        let reply = Reply { text: said.to_owned(), is_final: false };
                        push_newest(&mut self.span.replies, reply, MOST_TEXTS);
                        self.awaits_end = true;
                    }
                }
                Block::Call { id, name, input } => {
                    self.awaits_end = false;
                    self.call(id, name, input);
                }
                Block::Result { .. } => {}
            }
        }
    }

    fn call(&mut self, id: &str, name: &str, input: &RawValue) {
        let open = match name {
            name if EDIT_TOOLS.contains(&name) => {
                let Some(edit) = Pending::of_input(input) else { return };
                self.edits.push(Some(edit));
                Open::Edit(self.edits.len() - 1)
            }
            name if SHELL_TOOLS.contains(&name) => {
                let Ok(input) = serde_json::from_str::<BashInput>(input.get()) else { return };
                if !(self.reach.wants_command)(&input.command) {
                    return;
                }
                let line = clip(&input.command, COMMAND_BYTES).to_owned();
                self.commands.push(Command { line, ending: Ending::Unknown, output: String::new() });
                if input.run_in_background == Some(true) {
                    return;
                }
                Open::Command(self.commands.len() - 1)
            }
            _ => return,
        };
        self.open.insert(id.to_owned(), open);
    }

    fn close(&mut self, id: &str, is_error: bool, content: Option<&RawValue>, report: Option<&RawValue>) {
        match self.open.remove(id) {
            Some(Open::Edit(at)) => {
                let Some(edit) = self.edits.get_mut(at) else { return };
                if is_error {
                    *edit = None;
                } else if let (Some(edit), Some(patch)) = (edit, report.and_then(edit::patch_of)) {
                    edit.report(patch.get().as_bytes());
                }
            }
            Some(Open::Command(at)) => {
                let Some(command) = self.commands.get_mut(at) else { return };
                let text = content.map(line::result_text).unwrap_or_default();
                command.end(is_error, &text);
            }
            None => {}
        }
    }

    /// The newest reply was the last word before somebody else's.
    fn conclude(&mut self) {
        if std::mem::take(&mut self.awaits_end)
            && let Some(reply) = self.span.replies.last_mut()
        {
            reply.is_final = true;
        }
    }

    fn finish(mut self, end: Cursor) -> Span {
        self.conclude();
        let mut n_written = 0;
        // Newest first: they are what the files hold now.
        for edit in self.edits.into_iter().rev().flatten().take(MOST_EDITS) {
            let edit = if n_written < MOST_WRITTEN { edit.with_lines() } else { Some(edit.path_only()) };
            n_written += edit.as_ref().map_or(0, |edit| edit.written.len());
            self.span.edits.extend(edit);
        }
        self.span.edits.reverse();
        let extra = self.commands.len().saturating_sub(MOST_COMMANDS);
        self.span.commands = self.commands.split_off(extra);
        self.span.end = Some(end);
        self.span
    }
}

/// Commands that the host answers itself; they start no turn.
fn is_built_in(command: &str) -> bool {
    const BUILT_IN: [&str; 14] = [
        "/compact", "/clear", "/model", "/mcp", "/config", "/help", "/exit", "/resume", "/status", "/cost", "/login",
        "/plugin", "/hooks", "/context",
    ];
    let name = command.split_whitespace().next().unwrap_or("");
    BUILT_IN.contains(&name)
}

fn joined_text(line: &Line<'_>) -> String {
    let mut joined = String::new();
    for block in &line.blocks {
        if let Block::Text(text) = block {
            if !joined.is_empty() {
                joined.push('\n');
            }
            joined.push_str(clip(text, 4 * TEXT_BYTES));
            if joined.len() > 4 * TEXT_BYTES {
                break;
            }
        }
    }
    joined
}

fn push_newest<T>(list: &mut Vec<T>, item: T, most: usize) {
    if list.len() == most {
        list.remove(0);
    }
    list.push(item);
}

/// `Exit code 101` opens the text of a failed shell call.
fn exit_code(text: &str) -> Option<i32> {
    text.trim_start().strip_prefix("Exit code ")?.split_whitespace().next()?.parse().ok()
}

/// The text, or its first and last `bytes` bytes with a line end between.
fn both_ends(text: &str, bytes: usize) -> String {
    if text.len() <= 2 * bytes {
        return text.to_owned();
    }
    let tail = text.get(text.ceil_char_boundary(text.len() - bytes)..).unwrap_or("");
    format!("{}\n{tail}", clip(text, bytes))
}

#[derive(Deserialize)]
struct BashInput {
    command: String,
    #[serde(default)]
    run_in_background: Option<bool>,
}
