//! The `hooks` part of a settings file, and which of its hooks an event runs.
//!
//! Guarantees: reading names every fault with its place and keeps the rest, since one bad entry does no harm to the
//! others in the host either. Selection applies matchers and the host's rule that the same command under the same
//! condition runs once. Not here: precedence of files, `if` rules, plugin and skill hooks, running anything.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::event::Event;
use crate::field::Problem;
use crate::json::{self, Leniency};
use crate::matcher::Matcher;
use crate::profile::HostProfile;

/// The hooks of one settings file.
#[derive(Debug, Clone, Default)]
pub struct HookSettings {
    /// The groups, in the order of the file.
    pub groups: Vec<Group>,
    /// Whether `disableAllHooks` is set.
    pub disabled: bool,
    /// What could not be read.
    pub problems: Vec<Problem>,
    /// Names of events that this crate does not know; the host skips them too.
    pub unknown_events: Vec<String>,
}

/// Hooks under one matcher.
#[derive(Debug, Clone)]
pub struct Group {
    /// The event.
    pub event: Event,
    /// The matcher, compiled.
    pub matcher: Matcher,
    /// The handlers, in order.
    pub handlers: Vec<Handler>,
}

/// One handler of a group.
#[derive(Debug, Clone, PartialEq)]
pub struct Handler {
    /// What runs.
    pub kind: HandlerKind,
    /// A limit of its own; fractions of a second count.
    pub timeout: Option<Duration>,
    /// A permission rule that restricts tool events further.
    pub condition: Option<String>,
    /// Every key as read, for what has no field here (`statusMessage`, `once`, `headers` …).
    pub raw: Map<String, Value>,
}

/// What a handler runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandlerKind {
    /// A command; with `args` the program is run directly, without a shell.
    Command {
        /// The command line, or the program.
        command: String,
        /// The arguments of a direct run.
        args: Option<Vec<String>>,
        /// Whether the host does not wait for it.
        background: bool,
        /// Whether a failure blocks (`onFailure: "block"`, since 2.1.295).
        failure_blocks: bool,
    },
    /// The payload as body of a POST request.
    Http {
        /// The address.
        url: String,
    },
    /// A tool of an MCP server.
    McpTool {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
    },
    /// A question to a model.
    Prompt {
        /// The question.
        prompt: String,
    },
    /// A sub-agent.
    Agent {
        /// Its task.
        prompt: String,
    },
}

impl HandlerKind {
    /// The `type` in the settings.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Command { .. } => "command",
            Self::Http { .. } => "http",
            Self::McpTool { .. } => "mcp_tool",
            Self::Prompt { .. } => "prompt",
            Self::Agent { .. } => "agent",
        }
    }
}

impl Handler {
    /// The limit that the host applies on this event; `None` where it was never measured.
    ///
    /// On `SessionEnd` a handler's own limit counts up to a minute.
    pub fn limit(&self, event: Event) -> Option<Duration> {
        const SESSION_END_MAX: Duration = Duration::from_secs(60);
        match (self.timeout, &self.kind) {
            (Some(own), _) if event == Event::SessionEnd => Some(own.min(SESSION_END_MAX)),
            (Some(own), _) => Some(own),
            (None, HandlerKind::Prompt { .. }) => Some(Duration::from_secs(30)),
            (None, HandlerKind::Agent { .. }) => Some(Duration::from_secs(60)),
            (None, _) => event.facts().timeout,
        }
    }

    /// Whether the host runs the two only once: same command with the same arguments, same condition. Limits, groups
    /// and flags make no difference.
    pub fn is_same(&self, other: &Self) -> bool {
        let kind = match (&self.kind, &other.kind) {
            (HandlerKind::Command { command, args, .. }, HandlerKind::Command { command: other, args: theirs, .. }) => {
                command == other && args == theirs
            }
            (mine, theirs) => mine == theirs,
        };
        kind && self.condition == other.condition
    }
}

impl HookSettings {
    /// Reads a settings file; text that is not a JSON object gives one problem and no hooks.
    ///
    /// ```
    /// use hook_contract::{Event, HookSettings, HostProfile};
    /// let text = br#"{"hooks": {"PreToolUse": [
    ///     {"matcher": "Bash", "hooks": [{"type": "command", "command": "x"}]}]}}"#;
    /// let settings = HookSettings::parse(text);
    /// assert!(settings.problems.is_empty());
    /// assert_eq!(settings.select(HostProfile::newest(), Event::PreToolUse, Some("Bash")).len(), 1);
    /// assert_eq!(settings.select(HostProfile::newest(), Event::PreToolUse, Some("Read")).len(), 0);
    /// ```
    pub fn parse(bytes: &[u8]) -> Self {
        let mut settings = Self::default();
        match json::parse(json::trim(bytes), Leniency::Host) {
            Ok(Value::Object(root)) => settings.read(&root),
            Ok(other) => settings.problem("(root)", "object", json::kind(&other)),
            Err(_) => settings.problem("(root)", "JSON", "text that does not parse"),
        }
        settings
    }

    /// The handlers that an event runs, each once, in the order of the file. Of two that are the same the later stands,
    /// in the place of the first: its limit and its background flag win.
    pub fn select(&self, host: &HostProfile, event: Event, subject: Option<&str>) -> Vec<&Handler> {
        let mut selected: Vec<&Handler> = Vec::new();
        if self.disabled {
            return selected;
        }
        let groups = self.groups.iter().filter(|group| group.event == event && group.matcher.matches(host, subject));
        for handler in groups.flat_map(|group| &group.handlers) {
            match selected.iter_mut().find(|earlier| earlier.is_same(handler)) {
                Some(earlier) => *earlier = handler,
                None => selected.push(handler),
            }
        }
        selected
    }

    fn read(&mut self, root: &Map<String, Value>) {
        self.disabled = root.get("disableAllHooks") == Some(&Value::Bool(true));
        let events = match root.get("hooks") {
            None => return,
            Some(Value::Object(events)) => events,
            Some(other) => return self.problem("hooks", "object", json::kind(other)),
        };
        for (name, groups) in events {
            let path = format!("hooks.{name}");
            let Some(event) = Event::parse(name) else {
                self.unknown_events.push(name.clone());
                continue;
            };
            let Some(groups) = groups.as_array() else {
                self.problem(&path, "array", json::kind(groups));
                continue;
            };
            for (at, group) in groups.iter().enumerate() {
                self.read_group(event, &format!("{path}[{at}]"), group);
            }
        }
    }

    fn read_group(&mut self, event: Event, path: &str, group: &Value) {
        let matcher = match group.get("matcher") {
            None => None,
            Some(Value::String(matcher)) => Some(matcher.as_str()),
            Some(other) => return self.problem(&format!("{path}.matcher"), "string", json::kind(other)),
        };
        let Some(entries) = group.get("hooks").and_then(Value::as_array) else {
            let found = group.get("hooks").map_or("missing", json::kind);
            return self.problem(&format!("{path}.hooks"), "array", found);
        };
        let matcher = Matcher::new(event, matcher);
        if matcher.is_broken() {
            self.problem(&format!("{path}.matcher"), "a JavaScript regular expression", "one that does not compile");
        }
        let mut handlers = Vec::new();
        for (at, entry) in entries.iter().enumerate() {
            match Handler::read(entry) {
                Ok(handler) => handlers.push(handler),
                Err((key, expected, found)) => {
                    self.problem(&format!("{path}.hooks[{at}]{key}"), expected, found);
                }
            }
        }
        self.groups.push(Group { event, matcher, handlers });
    }

    fn problem(&mut self, path: &str, expected: &'static str, found: &'static str) {
        self.problems.push(Problem { path: path.to_owned(), expected, found });
    }
}

/// Place below the entry, what is wanted, what is there.
type Fault = (&'static str, &'static str, &'static str);

impl Handler {
    fn read(entry: &Value) -> Result<Self, Fault> {
        let raw = entry.as_object().ok_or(("", "object", json::kind(entry)))?;
        let kind = match required(raw, ".type", "type")?.as_str() {
            "command" => HandlerKind::Command {
                command: required(raw, ".command", "command")?,
                args: arguments(raw)?,
                background: is_true(raw, "async") || is_true(raw, "asyncRewake"),
                failure_blocks: raw.get("onFailure").and_then(Value::as_str) == Some("block"),
            },
            "http" => HandlerKind::Http { url: required(raw, ".url", "url")? },
            "mcp_tool" => HandlerKind::McpTool {
                server: required(raw, ".server", "server")?,
                tool: required(raw, ".tool", "tool")?,
            },
            "prompt" => HandlerKind::Prompt { prompt: required(raw, ".prompt", "prompt")? },
            "agent" => HandlerKind::Agent { prompt: required(raw, ".prompt", "prompt")? },
            _ => return Err((".type", "command, http, mcp_tool, prompt or agent", "another word")),
        };
        let timeout = match raw.get("timeout") {
            None => None,
            Some(value) => {
                let seconds = value.as_f64().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                Some(seconds.ok_or((".timeout", "seconds", json::kind(value)))?)
            }
        };
        let condition = raw.get("if").and_then(Value::as_str).map(str::to_owned);
        Ok(Self { kind, timeout, condition, raw: raw.clone() })
    }
}

fn required(raw: &Map<String, Value>, place: &'static str, key: &str) -> Result<String, Fault> {
    match raw.get(key) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(other) => Err((place, "string", json::kind(other))),
        None => Err((place, "string", "missing")),
    }
}

fn arguments(raw: &Map<String, Value>) -> Result<Option<Vec<String>>, Fault> {
    let Some(value) = raw.get("args") else { return Ok(None) };
    let items = value.as_array().ok_or((".args", "array of strings", json::kind(value)))?;
    let texts: Option<Vec<String>> = items.iter().map(|item| item.as_str().map(str::to_owned)).collect();
    texts.map(Some).ok_or((".args", "array of strings", "another item"))
}

fn is_true(raw: &Map<String, Value>, key: &str) -> bool {
    raw.get(key) == Some(&Value::Bool(true))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: Value) -> HookSettings {
        HookSettings::parse(value.to_string().as_bytes())
    }

    fn command(command: &str, more: Value) -> Value {
        let mut entry = json!({"type": "command", "command": command});
        if let (Some(entry), Some(more)) = (entry.as_object_mut(), more.as_object()) {
            entry.extend(more.clone());
        }
        entry
    }

    #[test]
    fn the_same_command_runs_once_and_the_later_limit_wins() {
        let settings = read(json!({"hooks": {"PreToolUse": [
            {"matcher": "Bash", "hooks": [command("a", json!({"timeout": 1})), command("b", json!({}))]},
            {"matcher": "*", "hooks": [command("a", json!({"timeout": 2.5})), command("a", json!({"if": "Bash(x)"}))]},
        ]}}));
        assert_eq!(settings.problems, []);
        let selected = settings.select(HostProfile::newest(), Event::PreToolUse, Some("Bash"));
        let limits: Vec<_> = selected.iter().map(|handler| handler.timeout).collect();
        assert_eq!(limits, [Some(Duration::from_millis(2_500)), None, None]);
        assert_eq!(settings.select(HostProfile::newest(), Event::PreToolUse, Some("Read")).len(), 2);
    }

    #[test]
    fn a_bad_entry_is_named_and_the_others_stay() {
        let settings = read(json!({"hooks": {
            "Stop": [{"hooks": [{"type": "command"}, {"type": "magic"}, command("ok", json!({}))]}, {"hooks": 7}],
            "PreToolUse": [{"matcher": "[", "hooks": []}],
            "Later": []}}));
        let paths: Vec<_> = settings.problems.iter().map(|problem| problem.path.as_str()).collect();
        let expect = [
            "hooks.Stop[0].hooks[0].command",
            "hooks.Stop[0].hooks[1].type",
            "hooks.Stop[1].hooks",
            "hooks.PreToolUse[0].matcher",
        ];
        assert_eq!(paths, expect);
        assert_eq!(settings.unknown_events, ["Later"]);
        assert_eq!(settings.select(HostProfile::newest(), Event::Stop, None).len(), 1);
    }

    #[test]
    fn limits_follow_event_and_kind() {
        let settings = read(json!({"hooks": {
            "SessionEnd": [{"hooks": [command("a", json!({})), command("b", json!({"timeout": 90}))]}],
            "Stop": [{"hooks": [
                {"type": "prompt", "prompt": "p"}, {"type": "agent", "prompt": "p"}, command("c", json!({}))]}]}}));
        let limits = |event| {
            let selected = settings.select(HostProfile::newest(), event, None);
            selected.iter().map(|handler| handler.limit(event).map(|limit| limit.as_millis())).collect::<Vec<_>>()
        };
        assert_eq!(limits(Event::SessionEnd), [Some(1_500), Some(60_000)]);
        assert_eq!(limits(Event::Stop), [Some(30_000), Some(60_000), Some(600_000)]);
    }

    #[test]
    fn files_that_are_not_objects_give_one_problem() {
        for text in ["", "[]", "{", "null"] {
            assert_eq!(HookSettings::parse(text.as_bytes()).problems.len(), 1, "{text:?}");
        }
        assert!(
            read(json!({"disableAllHooks": true, "hooks": {"Stop": [{"hooks": [command("a", json!({}))]}]}}))
                .select(HostProfile::newest(), Event::Stop, None)
                .is_empty()
        );
    }
}
