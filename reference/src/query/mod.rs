//! From a payload to what is looked up: terms, paths, and fingerprints of lines.
//!
//! One function a kind of event. A payload that should recall nothing gives no query: a prompt of fewer than
//! two terms, the host's own `<task-notification>` prompts, a tool result of fewer than five terms, and events
//! that do not recall. Text is bounded before it is analysed. Nothing here reads a file, the index or a clock:
//! the text of a file about to be overwritten and the task of a sub-agent are given by the caller.

mod builder;

use hook_contract::{Body, Payload, ToolInput, ToolResponse};
use serde_json::Value;

use builder::Builder;

/// Bytes of one text (a prompt, a member of a tool's input) that are analysed.
const MAX_INPUT_BYTES: usize = 4 << 10;
/// Bytes of a tool's response that are analysed into terms; lines are looked up beyond that.
const MAX_RESPONSE_BYTES: usize = 2 << 10;
/// Distinct terms that a prompt needs.
const PROMPT_TERMS: usize = 2;
/// Distinct terms that a tool's result needs.
const RESULT_TERMS: usize = 5;

/// What kind of moment asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Form {
    /// A prompt or an expanded command.
    Prompt,
    /// A sub-agent's task.
    Subagent,
    /// Edit, MultiEdit or NotebookEdit.
    Edit,
    /// Write.
    Write,
    /// Read.
    Read,
    /// Grep or Glob.
    Grep,
    /// Any other tool.
    Tool,
}

impl Form {
    /// Whether the query is prose rather than code.
    pub fn is_prose(self) -> bool {
        matches!(self, Form::Prompt | Form::Subagent)
    }
}

/// What the payload does not hold.
#[derive(Debug, Clone, Copy, Default)]
pub struct QueryContext<'a> {
    /// Project root without a trailing separator; taken off paths. Empty keeps paths as they are.
    pub root: &'a str,
    /// The task of the sub-agent that starts: description and prompt of the call that started it, a line each.
    pub task: Option<&'a str>,
    /// Present text of the file that a Write replaces or a NotebookEdit changes.
    pub before: Option<&'a str>,
}

/// One distinct term of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryTerm {
    /// The term, as the analyser gives it.
    pub text: String,
    /// How much it counts: the square root of its repeats, half of that for words of asking.
    pub weight: f32,
}

/// What to look up.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// What kind of moment asks.
    pub form: Form,
    /// Distinct terms in order of appearance, at most [`Query::MAX_TERMS`].
    pub terms: Vec<QueryTerm>,
    /// Files that the call names as whole terms of `Field::Paths`: relative to the project root where they lie
    /// in it, `/`-separated, lower-case.
    pub paths: Vec<String>,
    /// Distinct fingerprints of the lines that the call touches or shows, at most [`Query::MAX_LINES`].
    pub lines: Vec<u64>,
}

impl Query {
    /// Distinct terms of a query; more would only cost time.
    pub const MAX_TERMS: usize = 64;
    /// Lines that one query looks up; the first of a long file tell its author well enough.
    pub const MAX_LINES: usize = 1_000;

    /// A query for a plain text, however short: what a search command asks.
    pub fn from_text(text: &str) -> Query {
        prose(Form::Prompt, &[text])
    }

    /// The query of a hook payload, or `None` when the payload recalls nothing.
    pub fn from_payload(payload: &Payload, context: &QueryContext<'_>) -> Option<Query> {
        match &payload.body {
            Body::UserPromptSubmit(body) => prompt(body.prompt.as_deref().unwrap_or("")),
            Body::UserPromptExpansion(body) => {
                let texts = [&body.command_name, &body.command_args, &body.prompt];
                Some(prose(Form::Prompt, &texts.map(|text| text.as_deref().unwrap_or(""))))
            }
            Body::PreToolUse(body) => {
                let (tool, input) = (body.tool_name.as_deref()?, body.tool_input.as_ref()?);
                Some(call(tool, input, context).finish())
            }
            Body::PostToolUse(body) => {
                let (tool, input) = (body.tool_name.as_deref()?, body.tool_input.as_ref()?);
                result(tool, input, body.tool_response.as_ref(), context)
            }
            Body::SubagentStart(_) => context.task.map(|task| prose(Form::Subagent, &[task])),
            _ => None,
        }
        .filter(|query| !query.is_empty())
    }

    /// As [`Query::from_payload`], for a payload that is parsed but not decoded.
    pub fn from_value(payload: &Value, context: &QueryContext<'_>) -> Option<Query> {
        Query::from_payload(&Payload::from_map(payload.as_object()?.clone()), context)
    }

    /// Whether there is nothing to look up.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty() && self.lines.is_empty()
    }
}

fn prose(form: Form, texts: &[&str]) -> Query {
    let mut builder = Builder::new(form);
    texts.iter().for_each(|text| builder.text(text, MAX_INPUT_BYTES));
    builder.finish()
}

fn prompt(text: &str) -> Option<Query> {
    let query = Query::from_text(text);
    let is_host = text.trim_start().starts_with("<task-notification>");
    (!is_host && query.terms.len() >= PROMPT_TERMS).then_some(query)
}

fn call(tool: &str, input: &Value, context: &QueryContext<'_>) -> Builder {
    let read = ToolInput::of(tool, input);
    let mut builder = Builder::new(form(read));
    if let Some(path) = read.file() {
        builder.file(path, context.root);
    }
    match read {
        ToolInput::Edit { old_string, new_string, .. } => edit(&mut builder, old_string, new_string),
        ToolInput::MultiEdit { edits, .. } => {
            for item in edits {
                let text = |key: &str| item.get(key).and_then(Value::as_str);
                edit(&mut builder, text("old_string"), text("new_string"));
            }
        }
        ToolInput::NotebookEdit { new_source: text, .. } | ToolInput::Write { content: text, .. } => {
            builder.text(text.unwrap_or(""), MAX_INPUT_BYTES);
            builder.lines(context.before.unwrap_or(""));
        }
        ToolInput::Grep { pattern, path, .. } | ToolInput::Glob { pattern, path } => {
            builder.text(&plain_pattern(pattern.unwrap_or("")), MAX_INPUT_BYTES);
            builder.folder(path.unwrap_or(""), context.root);
        }
        ToolInput::Agent { description, prompt, .. } => {
            builder.text(description.unwrap_or(""), MAX_INPUT_BYTES);
            builder.text(prompt.unwrap_or(""), MAX_INPUT_BYTES);
        }
        ToolInput::Read { .. } => {}
        _ => {
            builder.text(tool, MAX_INPUT_BYTES);
            builder.texts_of(input, MAX_INPUT_BYTES);
        }
    }
    builder
}

fn edit(builder: &mut Builder, old: Option<&str>, new: Option<&str>) {
    builder.text(old.unwrap_or(""), MAX_INPUT_BYTES);
    builder.text(new.unwrap_or(""), MAX_INPUT_BYTES);
    builder.lines(old.unwrap_or(""));
}

fn result(tool: &str, input: &Value, response: Option<&Value>, context: &QueryContext<'_>) -> Option<Query> {
    let mut builder = call(tool, input, context);
    if let Some(response) = response {
        match (builder.form(), ToolResponse::of(tool, response)) {
            // The response repeats the input and, worse, the whole file.
            (Form::Edit | Form::Write, _) => {}
            (_, ToolResponse::Read { content, .. }) => {
                builder.text(content.unwrap_or(""), MAX_RESPONSE_BYTES);
                builder.lines(content.unwrap_or(""));
            }
            (Form::Grep, _) => {
                builder.texts_of(response, MAX_RESPONSE_BYTES);
                let shown = response.get("content").and_then(Value::as_str);
                builder.located_lines(shown.unwrap_or(""));
            }
            _ => builder.texts_of(response, MAX_RESPONSE_BYTES),
        }
    }
    let query = builder.finish();
    (query.terms.len() >= RESULT_TERMS).then_some(query)
}

fn form(input: ToolInput<'_>) -> Form {
    match input {
        ToolInput::Edit { .. } | ToolInput::MultiEdit { .. } | ToolInput::NotebookEdit { .. } => Form::Edit,
        ToolInput::Write { .. } => Form::Write,
        ToolInput::Read { .. } => Form::Read,
        ToolInput::Grep { .. } | ToolInput::Glob { .. } => Form::Grep,
        ToolInput::Agent { .. } => Form::Subagent,
        _ => Form::Tool,
    }
}

/// A regular expression as text: classes such as `\s` part words, other escapes stand for themselves.
fn plain_pattern(pattern: &str) -> String {
    let mut plain = String::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        if c == '\\' {
            plain.push(chars.next().filter(|next| !next.is_alphanumeric()).unwrap_or(' '));
        } else {
            plain.push(c);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint::fingerprint;
    use serde_json::json;

    fn query(payload: Value) -> Option<Query> {
        Query::from_value(&payload, &QueryContext { root: "/work/p", ..QueryContext::default() })
    }

    fn terms(query: Option<Query>) -> Vec<String> {
        query.map(|query| query.terms.into_iter().map(|term| term.text).collect()).unwrap_or_default()
    }

    fn prompt(text: &str) -> Value {
        json!({"hook_event_name": "UserPromptSubmit", "prompt": text})
    }

    fn tool(event: &str, name: &str, input: Value, response: Value) -> Value {
        json!({"hook_event_name": event, "tool_name": name, "tool_input": input, "tool_response": response})
    }

    #[test]
    fn short_prompts_and_prompts_of_the_host_recall_nothing() {
        for text in ["", "  \n", "ok", "continue", "yes", "<task-notification>\n<status>completed</status> cache"] {
            assert_eq!(query(prompt(text)), None, "{text:?}");
        }
        assert!(query(prompt("fix caching")).is_some());
        assert!(query(prompt("write_spec")).is_some());
        assert!(query(prompt("登录失败")).is_some());
    }

    #[test]
    fn prompt_is_taken_unchanged_and_repeats_weigh_by_their_root() {
        let query = query(prompt("cache, Cache and the caches: please add an index"));
        let weights: Vec<(String, f32)> =
            query.iter().flat_map(|query| &query.terms).map(|term| (term.text.clone(), term.weight)).collect();
        let root = 3.0_f32.sqrt();
        assert_eq!(weights, [("cach".to_owned(), root), ("add".to_owned(), 0.5), ("index".to_owned(), 1.0)]);
    }

    #[test]
    fn expansion_asks_by_command_arguments_and_prompt() {
        let payload = json!({"hook_event_name": "UserPromptExpansion", "command_name": "deploy",
            "command_args": "staging", "prompt": "/deploy staging"});
        assert_eq!(terms(query(payload)), ["deploy", "stage"]);
    }

    #[test]
    fn edit_asks_by_path_text_and_old_lines() {
        let input = json!({"file_path": "/work/p/src/Main.rs", "old_string": "let total = 1;\n}", "new_string": "x"});
        let query = query(tool("PreToolUse", "Edit", input, Value::Null));
        let query = query.unwrap_or_else(|| Query::from_text(""));
        assert_eq!((query.form, query.paths.as_slice()), (Form::Edit, ["src/main.rs".to_owned()].as_slice()));
        assert_eq!(query.lines, [fingerprint("let total = 1;").unwrap_or(0)]);
        assert!(query.terms.iter().any(|term| term.text == "total"));
    }

    #[test]
    fn every_edit_of_a_multi_edit_counts() {
        let edits = json!([{"old_string": "first old line", "new_string": ""}, {"old_string": "second old line"}, 7]);
        let query = query(tool("PreToolUse", "MultiEdit", json!({"file_path": "a.rs", "edits": edits}), Value::Null));
        assert_eq!(query.map(|query| query.lines.len()), Some(2));
    }

    #[test]
    fn write_looks_up_the_lines_that_it_replaces() {
        let payload = tool("PreToolUse", "Write", json!({"file_path": "a.rs", "content": "new"}), Value::Null);
        let before = "an old line of code\nan old line of code\n";
        let context = QueryContext { before: Some(before), ..QueryContext::default() };
        let query = Query::from_value(&payload, &context);
        assert_eq!(query.map(|query| query.lines), Some(vec![fingerprint("an old line of code").unwrap_or(0)]));
    }

    #[test]
    fn tool_call_asks_however_few_terms_it_has_and_a_result_needs_five() {
        let input = json!({"pattern": "x1"});
        assert!(query(tool("PreToolUse", "Grep", input.clone(), Value::Null)).is_some());
        assert_eq!(query(tool("PostToolUse", "Grep", input.clone(), json!({"filenames": []}))), None);
        let shown = json!({"mode": "content", "content": "src/a.rs:12:let alpha = beta(gamma);\n7-delta epsilon zeta"});
        let query = query(tool("PostToolUse", "Grep", input, shown));
        let expected = ["let alpha = beta(gamma);", "delta epsilon zeta"].map(|line| fingerprint(line).unwrap_or(0));
        assert_eq!(query.map(|query| query.lines), Some(expected.to_vec()));
    }

    #[test]
    fn read_result_gives_its_lines() {
        let response =
            json!({"type": "text", "file": {"filePath": "/work/p/a.rs", "content": "fn alpha() { beta() }\n"}});
        let payload = tool("PostToolUse", "Read", json!({"file_path": "/work/p/a.rs"}), response);
        assert_eq!(query(payload).map(|query| query.lines.len()), Some(1));
    }

    #[test]
    fn subagent_asks_by_the_remembered_task_and_not_without_one() {
        let payload = json!({"hook_event_name": "SubagentStart", "agent_type": "Explore", "agent_id": "a1"});
        assert_eq!(query(payload.clone()), None);
        let context = QueryContext { task: Some("find the parser"), ..QueryContext::default() };
        assert_eq!(terms(Query::from_value(&payload, &context)), ["find", "parser"]);
    }

    #[test]
    fn paths_outside_the_project_and_its_namesakes_stay_whole() {
        let paths = |path: &str| {
            let payload = tool("PreToolUse", "Read", json!({"file_path": path}), Value::Null);
            query(payload).map(|query| query.paths).unwrap_or_default()
        };
        assert_eq!(paths("/work/p/src/a.rs"), ["src/a.rs"]);
        assert_eq!(paths("/work/pp/src/a.rs"), ["work/pp/src/a.rs"]);
        assert_eq!(paths("./src\\b.rs"), ["src/b.rs"]);
        assert!(paths("/work/p").is_empty());
    }

    #[test]
    fn other_events_and_misshapen_payloads_recall_nothing() {
        for payload in [
            json!({"hook_event_name": "Stop", "last_assistant_message": "two words"}),
            json!({"hook_event_name": "PreToolUse"}),
            json!({"hook_event_name": "UserPromptSubmit", "prompt": 7}),
            json!({}),
            json!([]),
        ] {
            assert_eq!(query(payload.clone()), None, "{payload}");
        }
    }

    #[test]
    fn huge_inputs_give_bounded_queries() {
        let text: String = (0..200_000).map(|n| format!("word{n} ")).collect();
        let query = query(tool("PreToolUse", "Bash", json!({"command": text}), Value::Null));
        assert!(query.is_some_and(|query| query.terms.len() == Query::MAX_TERMS));
    }
}
