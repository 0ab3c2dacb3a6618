//! Reads a recorded session: the calls and answers of its hooks, and the requests of its models.

#![allow(dead_code, reason = "each test program uses a part")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use hook_contract::{Call, Event, Exit, HostProfile, Output, Specific, cap};
use serde_json::{Value, json};

pub(crate) struct Session {
    pub(crate) version: String,
    pub(crate) name: String,
    pub(crate) host: &'static HostProfile,
    /// In the order of the transcripts.
    pub(crate) firings: Vec<Firing>,
    /// What the hooks must have answered to each payload, in order of time.
    pub(crate) replayed: Vec<Firing>,
    /// Empty where the requests were not kept.
    pub(crate) requests: Vec<Request>,
    /// Event and text of what the client noted as the rendering of a hook's text (since 2.1.332).
    pub(crate) rendered: Vec<(Event, String)>,
    /// Every call of the recorder.
    pub(crate) calls: Vec<HookCall>,
    /// Event and text of the messages shown to the user.
    pub(crate) messages: Vec<(Event, String)>,
}

/// One call of the recording hook.
pub(crate) struct HookCall {
    pub(crate) event: Event,
    pub(crate) cwd: String,
    /// The level in the payload.
    pub(crate) effort: Option<String>,
    /// The variables whose names begin with `CLAUDE`.
    pub(crate) variables: BTreeMap<String, String>,
}

/// All answers to one event.
pub(crate) struct Firing {
    pub(crate) event: Event,
    pub(crate) subject: Option<String>,
    pub(crate) tool_use_id: String,
    pub(crate) answers: Vec<Answer>,
    /// Whether it comes after as many continuations of the turn as the host allows.
    pub(crate) overridden: bool,
    /// The sub-agent, or empty.
    pub(crate) agent: String,
    at_ms: u64,
    /// Counts compactions, which forget all contexts.
    era: usize,
}

pub(crate) struct Answer {
    pub(crate) source: Source,
    pub(crate) command: String,
    pub(crate) exit: Exit,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// How an answer is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    /// Streams and exit code stand in the transcript.
    Recorded,
    /// Put together from the effect that stands in the transcript.
    FromEffect,
    /// Made again from the command in the settings.
    FromCommand,
    /// Made again from the command and the payload that it was given.
    FromPayload,
}

pub(crate) struct Request {
    pub(crate) model: String,
    pub(crate) systems: Vec<String>,
    /// Text blocks of user messages, without the newline that may end one.
    pub(crate) blocks: Vec<String>,
    /// Id and text of tool results.
    pub(crate) results: Vec<(String, String)>,
    agent: String,
    at_ms: u64,
}

impl Firing {
    pub(crate) fn call<'a>(&'a self, answer: &'a Answer) -> Call<'a> {
        Call::new(self.event, self.subject.as_deref(), &answer.command)
    }

    /// Whether the two stand in one conversation, between the same compactions.
    pub(crate) fn is_remembered_with(&self, other: &Firing) -> bool {
        self.agent == other.agent && self.era == other.era
    }
}

impl Answer {
    /// Words that nothing but this answer can have put into a request.
    pub(crate) fn distinctive(&self) -> Option<&str> {
        let text = self.stdout.trim();
        if text.starts_with("TPD(") {
            return text.lines().next_back();
        }
        let token = text.get(text.find("TK-")?..)?;
        token.split('"').next()
    }
}

impl Request {
    pub(crate) fn follows(&self, firing: &Firing) -> bool {
        self.agent == firing.agent && self.at_ms >= firing.at_ms
    }
}

/// Every session, or `None` with a line that says so when there are no recordings.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
pub(crate) fn sessions() -> Option<Vec<Session>> {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/recordings");
    let folder = std::env::var_os("HOOKBENCH_RECORDINGS").map_or(default, PathBuf::from);
    if !folder.is_dir() {
        eprintln!("SKIPPED: no recordings at {} (set HOOKBENCH_RECORDINGS)", folder.display());
        return None;
    }
    let mut sessions = Vec::new();
    for version in entries(&folder).into_iter().filter(|path| path.is_dir()) {
        for session in entries(&version).into_iter().filter(|path| path.is_dir()) {
            sessions.push(read(&file_name(&version), &session));
        }
    }
    Some(sessions)
}

fn read(version: &str, folder: &Path) -> Session {
    let (mut firings, mut rendered, mut messages) = (Vec::new(), Vec::new(), Vec::new());
    for file in entries(folder) {
        let name = file_name(&file);
        let agent = name.strip_prefix("subagent-agent-").and_then(|name| name.strip_suffix(".jsonl"));
        if name.starts_with("transcript") || agent.is_some() {
            let lines = lines(&file);
            firings.extend(firings_of(&lines, agent.unwrap_or_default(), &commands(folder)));
            rendered.extend(lines.iter().flat_map(renderings));
            let shown = attachments(&lines, "hook_system_message");
            messages.extend(shown.filter_map(|hook| Some((event_of(hook)?, text(hook, "content").to_owned()))));
        }
    }
    let payloads = lines(&folder.join("payloads.jsonl"));
    Session {
        version: version.to_owned(),
        name: file_name(folder),
        host: HostProfile::nearest(version),
        firings,
        replayed: replayed(&payloads, &commands(folder)),
        calls: payloads.iter().map(hook_call).collect(),
        requests: requests(&folder.join("requests.jsonl")),
        rendered,
        messages,
    }
}

fn requests(file: &Path) -> Vec<Request> {
    if file.is_file() { lines(file).iter().map(request).collect() } else { Vec::new() }
}

fn hook_call(line: &Value) -> HookCall {
    let variables = line["env_claude_vars"].as_object().unwrap().iter();
    HookCall {
        event: Event::parse(text(line, "event")).unwrap(),
        cwd: text(&line["stdin_payload"], "cwd").to_owned(),
        effort: line["stdin_payload"]["effort"]["level"].as_str().map(str::to_owned),
        variables: variables.map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned())).collect(),
    }
}

fn event_of(hook: &Value) -> Option<Event> {
    Event::parse(text(hook, "hookEvent"))
}

/// What the client noted as the text of one hook line.
fn renderings(line: &Value) -> Vec<(Event, String)> {
    let Some(event) = event_of(&line["attachment"]) else { return Vec::new() };
    let texts = line["rendered"].as_array().into_iter().flatten().map(|part| text(part, "content"));
    texts.map(|text| (event, unspilled(text))).collect()
}

/// The commands of the settings, by event.
fn commands(folder: &Path) -> BTreeMap<String, Vec<String>> {
    let settings: Value = serde_json::from_slice(&fs::read(folder.join("settings.json")).unwrap()).unwrap();
    let mut commands: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (event, groups) in settings["hooks"].as_object().unwrap() {
        let handlers = groups.as_array().unwrap().iter().flat_map(|group| group["hooks"].as_array().unwrap());
        let texts = handlers.filter_map(|handler| handler["command"].as_str().map(str::to_owned));
        commands.entry(event.clone()).or_default().extend(texts);
    }
    commands
}

fn firings_of(lines: &[Value], agent: &str, commands: &BTreeMap<String, Vec<String>>) -> Vec<Firing> {
    let mut firings: Vec<Firing> = Vec::new();
    let mut era = 0;
    // Events whose contexts come with the answer that made them.
    let answered: Vec<&str> = attachments(lines, "hook_success")
        .filter(|hook| text(hook, "stdout").contains("additionalContext"))
        .map(|hook| text(hook, "hookEvent"))
        .collect();
    for line in lines {
        if text(line, "subtype") == "compact_boundary" {
            era += 1;
        }
        let hook = &line["attachment"];
        let Some(event) = Event::parse(text(hook, "hookEvent")) else { continue };
        let answers = match text(hook, "type") {
            "hook_success" | "hook_non_blocking_error" => vec![Answer {
                source: Source::Recorded,
                command: text(hook, "command").to_owned(),
                exit: Exit::Code(hook["exitCode"].as_i64().and_then(|code| i32::try_from(code).ok()).unwrap_or(1)),
                stdout: text(hook, "stdout").to_owned(),
                stderr: text(hook, "stderr").to_owned(),
            }],
            "hook_blocking_error" => vec![blocking(&hook["blockingError"])],
            "hook_additional_context" if !answered.contains(&event.name()) => {
                let known = commands.get(event.name()).map(Vec::as_slice).unwrap_or_default();
                let contexts = hook["content"].as_array().unwrap().iter().map(|context| context.as_str().unwrap());
                contexts.map(|context| from_context(event, context, known)).collect()
            }
            _ => continue,
        };
        let (name, id) = (text(hook, "hookName"), text(hook, "toolUseID"));
        let at_ms = milliseconds(text(line, "timestamp"));
        match firings.last_mut() {
            Some(last) if last.event == event && last.tool_use_id == id && last.era == era => {
                last.answers.extend(answers);
                last.at_ms = at_ms;
            }
            _ => firings.push(Firing {
                event,
                subject: name.split_once(':').map(|(_, subject)| subject.to_owned()),
                tool_use_id: id.to_owned(),
                answers,
                agent: agent.to_owned(),
                at_ms,
                era,
                overridden: false,
            }),
        }
    }
    note_overridden(&mut firings);
    firings
}

/// A prompt starts the count again, and so does the override itself.
fn note_overridden(firings: &mut [Firing]) {
    let mut in_a_row = 0;
    for firing in firings {
        match firing.event {
            Event::Stop | Event::SubagentStop => {
                firing.overridden = in_a_row == cap::STOP_CONTINUATIONS;
                in_a_row = if firing.overridden { 0 } else { in_a_row + 1 };
            }
            Event::UserPromptSubmit => in_a_row = 0,
            _ => {}
        }
    }
}

/// Runs the commands of the settings in thought: `emit.py` answers with a token, the rule of `06-denied` by the command
/// of the call. Other commands are skipped.
fn replayed(payloads: &[Value], commands: &BTreeMap<String, Vec<String>>) -> Vec<Firing> {
    let mut by_agent: BTreeMap<String, Vec<Firing>> = BTreeMap::new();
    for line in payloads {
        let payload = &line["stdin_payload"];
        let Some(event) = Event::parse(text(payload, "hook_event_name")) else { continue };
        let known = commands.get(event.name()).map(Vec::as_slice).unwrap_or_default();
        let answers: Vec<Answer> = known.iter().filter_map(|command| emitted(event, command, payload)).collect();
        if answers.is_empty() {
            continue;
        }
        let agent = text(payload, "agent_id").to_owned();
        by_agent.entry(agent.clone()).or_default().push(Firing {
            event,
            subject: hook_contract::subject(event, payload).map(str::to_owned),
            tool_use_id: text(payload, "tool_use_id").to_owned(),
            answers,
            overridden: false,
            agent,
            at_ms: line["t_ms"].as_u64().unwrap(),
            era: 0,
        });
    }
    for firings in by_agent.values_mut() {
        firings.sort_by_key(|firing| firing.at_ms);
        note_overridden(firings);
    }
    by_agent.into_values().flatten().collect()
}

fn emitted(event: Event, command: &str, payload: &Value) -> Option<Answer> {
    let stdout = if let Some(mode) = command.split_once("emit.py ").and_then(|(_, words)| words.strip_suffix(" TK")) {
        let inside = if payload["agent_id"].is_string() { "-IN-AGENT" } else { "" };
        let token = format!("TK-{event}{inside}");
        match mode {
            "plain" => token + "\n",
            "ctx" => Output::additional_context(event, token).to_json() + "\n",
            "sysmsg" => Output { system_message: Some(token), ..Output::default() }.to_json(),
            other => panic!("{other}"),
        }
    } else if command.contains("HOOKDENY") && payload["tool_name"] == "Bash" {
        let call = text(&payload["tool_input"], "command");
        let members = match call {
            call if call.contains("hookdenied") => {
                json!({"permissionDecision": "deny", "permissionDecisionReason": "HOOKDENY reason"})
            }
            call if call.contains("hookask") => {
                json!({"permissionDecision": "ask", "permissionDecisionReason": "HOOKASK reason"})
            }
            call if call.contains("rewritten") => {
                json!({"permissionDecision": "allow", "updatedInput": {"command": "echo REWRITTEN"}})
            }
            _ => json!({}),
        };
        let members = members.as_object().cloned().unwrap_or_default();
        Output { specific: Some(Specific { event, members }), ..Output::default() }.to_json()
    } else {
        return None;
    };
    let source = Source::FromPayload;
    Some(Answer { source, command: command.to_owned(), exit: Exit::Code(0), stdout, stderr: String::new() })
}

fn attachments<'a>(lines: &'a [Value], kind: &'a str) -> impl Iterator<Item = &'a Value> {
    lines.iter().map(|line| &line["attachment"]).filter(move |hook| text(hook, "type") == kind)
}

/// A block is known by its text; the host puts the command before it only when it comes from stderr.
fn blocking(error: &Value) -> Answer {
    let (command, reason) = (text(error, "command").to_owned(), text(error, "blockingError"));
    let (exit, stdout, stderr) = match reason.strip_prefix(&format!("[{command}]: ")) {
        Some(stderr) => (Exit::Code(2), String::new(), stderr.to_owned()),
        None => (Exit::Code(0), Output::block(reason).to_json(), String::new()),
    };
    Answer { source: Source::FromEffect, command, exit, stdout, stderr }
}

/// A whole context is its own source; one that was cut is made again from the command that starts like the preview.
fn from_context(event: Event, context: &str, commands: &[String]) -> Answer {
    let preview = context.split_once("Preview (first 2KB):\n").map(|(_, preview)| preview);
    let (source, whole) = match preview {
        None => (Source::FromEffect, context.to_owned()),
        Some(preview) => {
            let mut texts = commands.iter().filter_map(|command| big(command));
            let whole =
                texts.find(|whole| whole.split_once('(').zip(preview.split_once('(')).is_some_and(|(a, b)| a.0 == b.0));
            (Source::FromCommand, whole.unwrap())
        }
    };
    let stdout = Output::additional_context(event, whole).to_json();
    Answer { source, command: String::new(), exit: Exit::Code(0), stdout, stderr: String::new() }
}

/// What `big.py NAME FILL CHARACTERS MODE` writes: the name around a filling.
fn big(command: &str) -> Option<String> {
    let words: Vec<&str> = command.split_once("big.py ")?.1.split(' ').collect();
    let [name, fill, characters, _mode] = words.as_slice() else { return None };
    let n_fill = characters.parse::<usize>().ok()? - 2 * name.len() - 2;
    let fill = match *fill {
        "e" => "é",
        "z" => "世",
        "m" => "🎉",
        "l" => "abcdefg\n",
        other => other,
    };
    let filling: String = fill.chars().cycle().take(n_fill).collect();
    Some(format!("{name}({filling}){name}"))
}

fn request(line: &Value) -> Request {
    let mut request = Request {
        model: text(&line["body"], "model").to_owned(),
        systems: Vec::new(),
        blocks: Vec::new(),
        results: Vec::new(),
        agent: text(&line["headers"], "x-claude-code-agent-id").to_owned(),
        at_ms: line["t_ms"].as_u64().unwrap(),
    };
    for message in line["body"]["messages"].as_array().into_iter().flatten() {
        let content = &message["content"];
        if message["role"] == "system" {
            let texts = content.as_array().into_iter().flatten().map(|block| text(block, "text"));
            request.systems.extend(content.as_str().into_iter().chain(texts).map(unspilled));
            continue;
        }
        request.blocks.extend(content.as_str().map(block));
        for item in content.as_array().into_iter().flatten() {
            match (text(item, "type"), &item["content"]) {
                ("text", _) => request.blocks.push(block(text(item, "text"))),
                ("tool_result", Value::String(result)) => {
                    request.results.push((text(item, "tool_use_id").to_owned(), unspilled(result)));
                }
                _ => {}
            }
        }
    }
    request
}

fn block(text: &str) -> String {
    unspilled(text.strip_suffix('\n').unwrap_or(text))
}

/// The text with a placeholder for the path of each spilled file.
fn unspilled(text: &str) -> String {
    const BEFORE: &str = "Full output saved to: ";
    let mut pieces = text.split(BEFORE);
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let rest = piece.find('\n').map_or("", |at| &piece[at..]);
        out.push_str(BEFORE);
        out.push_str("${SPILL}");
        out.push_str(rest);
    }
    out
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// Milliseconds since 1970 of `2026-11-30T14:41:37.015Z`.
fn milliseconds(timestamp: &str) -> u64 {
    let numbers: Vec<u64> =
        timestamp.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect();
    let [year, month, day, hour, minute, second, ms] = numbers.as_slice() else { panic!("{timestamp}") };
    // Days since 1970-01-01 for a year that begins in March.
    let (year, month) = if *month > 2 { (*year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468;
    ((days * 24 + hour) * 60 + minute) * 60_000 + second * 1_000 + ms
}

fn lines(file: &Path) -> Vec<Value> {
    fs::read_to_string(file).unwrap().lines().map(parse).collect()
}

/// Requests may hold lone surrogates, which the recorder wrote as escapes and which a model gets as U+FFFD.
fn parse(line: &str) -> Value {
    serde_json::from_str(line)
        .unwrap_or_else(|_| hook_contract::decode(line.as_bytes()).unwrap_or_else(|error| panic!("{error}")).to_value())
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}
