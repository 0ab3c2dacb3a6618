//! The payloads that ask a question: what the host would send for a prompt or a tool call.

use serde_json::{Value, json};

/// A question before it is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ask {
    /// A user's prompt.
    Prompt(String),
    /// A task for a sub-agent: a short description and the whole text.
    Agent(String, String),
    /// An edit: file, old text, new text.
    Edit(String, String, String),
    /// A search: pattern and folder.
    Grep(String, String),
    /// A file to read.
    Read(String),
}

impl Ask {
    /// Its `form` in `queries.jsonl`.
    pub fn form(&self) -> &'static str {
        match self {
            Ask::Prompt(_) => "prompt",
            Ask::Agent(..) => "subagent",
            Ask::Edit(..) => "tool_edit",
            Ask::Grep(..) => "tool_grep",
            Ask::Read(_) => "tool_read",
        }
    }

    /// Its words, for readers that know no payloads.
    pub fn text(&self) -> String {
        match self {
            Ask::Prompt(text) => text.clone(),
            Ask::Agent(description, prompt) => format!("{description}\n{prompt}"),
            Ask::Edit(file, old, new) => ["Edit", file, old, new].join("\n").trim_end().to_owned(),
            Ask::Grep(pattern, folder) => format!("Grep\n{pattern}\n{folder}"),
            Ask::Read(file) => format!("Read\n{file}"),
        }
    }

    /// The payload, asked in a project by a session.
    pub fn payload(&self, project: &str, session: &str) -> Value {
        let cwd = format!("/home/dev/{project}");
        let tool = |name: &str, input: Value| {
            json!({
                "hook_event_name": "PreToolUse", "tool_name": name, "tool_input": input,
                "cwd": cwd, "session_id": session,
            })
        };
        match self {
            Ask::Prompt(text) => {
                json!({ "hook_event_name": "UserPromptSubmit", "prompt": text, "cwd": cwd, "session_id": session })
            }
            Ask::Agent(description, prompt) => {
                tool("Task", json!({ "description": description, "prompt": prompt, "subagent_type": "Explore" }))
            }
            Ask::Edit(file, old, new) => {
                tool("Edit", json!({ "file_path": file, "old_string": old, "new_string": new }))
            }
            Ask::Grep(pattern, folder) => tool("Grep", json!({ "pattern": pattern, "path": folder })),
            Ask::Read(file) => tool("Read", json!({ "file_path": file })),
        }
    }
}

/// Prompts that no memory of any project answers.
pub const SMALL_TALK: [&str; 30] = [
    "looks fine, thank you",
    "go on",
    "yes, do it",
    "now commit",
    "once more please",
    "what was that message about?",
    "take the last change back",
    "how does a mutex differ from a semaphore?",
    "sum up what you have done so far",
    "wait",
    "good",
    "and again",
    "let me see what changed",
    "are you finished?",
    "a limerick about rain, please",
    "what is today's date?",
    "say it in fewer words",
    "start a branch for that",
    "how can I leave the pager?",
    "turn this list into a table",
    "how would a Frenchman say this?",
    "open that file again",
    "no, the other way round",
    "which is the longest river in Europe?",
    "what is the state of the work tree",
    "hold on a moment",
    "enough for today",
    "install what is missing",
    "how much is 23 times 19?",
    "empty the terminal",
];
