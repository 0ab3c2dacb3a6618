//! Tool inputs and results, read as a hook needs them.
//!
//! Guarantees: reading borrows, never fails and never copies; a member that is absent or of another type is `None`.
//! Only the tools that a hook commonly looks into have variants; all others give their raw value. `Task` is the former
//! name of `Agent` and read as such. Shapes of every tool are in the contract's tool list, not here.

use serde_json::Value;

/// The input of a tool call.
///
/// ```
/// use hook_contract::ToolInput;
/// let input = serde_json::json!({"file_path": "/p/a.rs", "old_string": "a", "new_string": "b", "replace_all": "no"});
/// let ToolInput::Edit { file_path, replace_all, .. } = ToolInput::of("Edit", &input) else { unreachable!() };
/// assert_eq!((file_path, replace_all), (Some("/p/a.rs"), None));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)]
pub enum ToolInput<'a> {
    Bash {
        command: Option<&'a str>,
        description: Option<&'a str>,
        run_in_background: Option<bool>,
    },
    Read {
        file_path: Option<&'a str>,
        offset: Option<u64>,
        limit: Option<u64>,
    },
    Write {
        file_path: Option<&'a str>,
        content: Option<&'a str>,
    },
    Edit {
        file_path: Option<&'a str>,
        old_string: Option<&'a str>,
        new_string: Option<&'a str>,
        replace_all: Option<bool>,
    },
    /// A tool of older hosts; the edits are `{old_string, new_string, replace_all}`.
    MultiEdit {
        file_path: Option<&'a str>,
        edits: &'a [Value],
    },
    NotebookEdit {
        notebook_path: Option<&'a str>,
        cell_id: Option<&'a str>,
        new_source: Option<&'a str>,
    },
    Grep {
        pattern: Option<&'a str>,
        path: Option<&'a str>,
        glob: Option<&'a str>,
    },
    Glob {
        pattern: Option<&'a str>,
        path: Option<&'a str>,
    },
    Agent {
        description: Option<&'a str>,
        prompt: Option<&'a str>,
        subagent_type: Option<&'a str>,
    },
    WebFetch {
        url: Option<&'a str>,
        prompt: Option<&'a str>,
    },
    WebSearch {
        query: Option<&'a str>,
    },
    Skill {
        skill: Option<&'a str>,
        args: Option<&'a str>,
    },
    Mcp {
        server: &'a str,
        tool: &'a str,
        input: &'a Value,
    },
    Other {
        name: &'a str,
        input: &'a Value,
    },
}

impl<'a> ToolInput<'a> {
    /// Reads the input of the tool with this name.
    pub fn of(name: &'a str, input: &'a Value) -> Self {
        let text = |key: &str| text(input, key);
        match name {
            "Bash" | "PowerShell" => Self::Bash {
                command: text("command"),
                description: text("description"),
                run_in_background: flag(input, "run_in_background"),
            },
            "Read" => Self::Read {
                file_path: text("file_path"),
                offset: count(input, "offset"),
                limit: count(input, "limit"),
            },
            "Write" => Self::Write { file_path: text("file_path"), content: text("content") },
            "Edit" => Self::Edit {
                file_path: text("file_path"),
                old_string: text("old_string"),
                new_string: text("new_string"),
                replace_all: flag(input, "replace_all"),
            },
            "MultiEdit" => Self::MultiEdit { file_path: text("file_path"), edits: list(input, "edits") },
            "NotebookEdit" => Self::NotebookEdit {
                notebook_path: text("notebook_path"),
                cell_id: text("cell_id"),
                new_source: text("new_source"),
            },
            "Grep" => Self::Grep { pattern: text("pattern"), path: text("path"), glob: text("glob") },
            "Glob" => Self::Glob { pattern: text("pattern"), path: text("path") },
            "Agent" | "Task" => Self::Agent {
                description: text("description"),
                prompt: text("prompt"),
                subagent_type: text("subagent_type"),
            },
            "WebFetch" => Self::WebFetch { url: text("url"), prompt: text("prompt") },
            "WebSearch" => Self::WebSearch { query: text("query") },
            "Skill" => Self::Skill { skill: text("skill"), args: text("args") },
            _ => match mcp_name(name) {
                Some((server, tool)) => Self::Mcp { server, tool, input },
                None => Self::Other { name, input },
            },
        }
    }

    /// The one file that the call reads or changes.
    pub fn file(self) -> Option<&'a str> {
        match self {
            Self::Read { file_path, .. }
            | Self::Write { file_path, .. }
            | Self::Edit { file_path, .. }
            | Self::MultiEdit { file_path, .. } => file_path,
            Self::NotebookEdit { notebook_path, .. } => notebook_path,
            _ => None,
        }
    }

    /// Whether the tool changes a file by its definition (a shell command may too).
    pub fn writes(self) -> bool {
        matches!(self, Self::Write { .. } | Self::Edit { .. } | Self::MultiEdit { .. } | Self::NotebookEdit { .. })
    }
}

/// The structured result of a successful call, as `PostToolUse` carries it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)]
pub enum ToolResponse<'a> {
    Bash {
        stdout: Option<&'a str>,
        stderr: Option<&'a str>,
        interrupted: bool,
        persisted_output_path: Option<&'a str>,
    },
    /// `content` is the text that was read; images and notebooks have none.
    Read {
        file_path: Option<&'a str>,
        content: Option<&'a str>,
    },
    /// `created` is false when an existing file was replaced; the patch is empty for a new one.
    Write {
        file_path: Option<&'a str>,
        created: bool,
        patch: Patch<'a>,
    },
    Edit {
        file_path: Option<&'a str>,
        patch: Patch<'a>,
        user_modified: bool,
    },
    /// `status` is `completed`, `async_launched` or `teammate_spawned`; only the first has a report.
    Agent {
        status: Option<&'a str>,
        agent_id: Option<&'a str>,
        content: &'a [Value],
    },
    /// Content blocks of an MCP tool.
    Mcp {
        content: &'a [Value],
    },
    Other(&'a Value),
}

impl<'a> ToolResponse<'a> {
    /// Reads the result of the tool with this name.
    pub fn of(name: &str, response: &'a Value) -> Self {
        let text = |key: &str| text(response, key);
        match name {
            "Bash" | "PowerShell" => Self::Bash {
                stdout: text("stdout"),
                stderr: text("stderr"),
                interrupted: flag(response, "interrupted").unwrap_or(false),
                persisted_output_path: text("persistedOutputPath"),
            },
            "Read" => {
                let file = response.get("file").unwrap_or(&Value::Null);
                Self::Read { file_path: self::text(file, "filePath"), content: self::text(file, "content") }
            }
            "Write" => Self::Write {
                file_path: text("filePath"),
                created: text("type") == Some("create"),
                patch: Patch::of(response),
            },
            "Edit" | "MultiEdit" => Self::Edit {
                file_path: text("filePath"),
                patch: Patch::of(response),
                user_modified: flag(response, "userModified").unwrap_or(false),
            },
            "Agent" | "Task" => {
                Self::Agent { status: text("status"), agent_id: text("agentId"), content: list(response, "content") }
            }
            _ if mcp_name(name).is_some() => {
                let blocks = response.as_array().map(Vec::as_slice);
                Self::Mcp { content: blocks.unwrap_or_else(|| list(response, "content")) }
            }
            _ => Self::Other(response),
        }
    }

    /// The texts that content blocks hold, or the text read or printed; for search and summaries.
    pub fn texts(self) -> Vec<&'a str> {
        match self {
            Self::Bash { stdout, stderr, .. } => [stdout, stderr].into_iter().flatten().collect(),
            Self::Read { content, .. } => content.into_iter().collect(),
            Self::Agent { content, .. } | Self::Mcp { content } => {
                content.iter().filter_map(|block| text(block, "text")).collect()
            }
            Self::Write { .. } | Self::Edit { .. } => Vec::new(),
            Self::Other(value) => value.as_str().into_iter().collect(),
        }
    }
}

/// The `structuredPatch` of a changed file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Patch<'a>(&'a [Value]);

impl<'a> Patch<'a> {
    fn of(response: &'a Value) -> Self {
        Self(list(response, "structuredPatch"))
    }

    /// The hunks, in the order of the file.
    pub fn hunks(self) -> impl Iterator<Item = Hunk<'a>> {
        self.0.iter().map(|hunk| Hunk {
            old_start: count(hunk, "oldStart").unwrap_or(0),
            old_lines: count(hunk, "oldLines").unwrap_or(0),
            new_start: count(hunk, "newStart").unwrap_or(0),
            new_lines: count(hunk, "newLines").unwrap_or(0),
            lines: list(hunk, "lines"),
        })
    }
}

/// One hunk of a patch; line numbers start at 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hunk<'a> {
    /// First line in the old file.
    pub old_start: u64,
    /// Lines of the old file covered.
    pub old_lines: u64,
    /// First line in the new file.
    pub new_start: u64,
    /// Lines of the new file covered.
    pub new_lines: u64,
    lines: &'a [Value],
}

impl<'a> Hunk<'a> {
    /// The lines, each with its leading ` `, `-` or `+`.
    pub fn lines(self) -> impl Iterator<Item = &'a str> {
        self.lines.iter().filter_map(Value::as_str)
    }

    /// The added lines, without the sign.
    pub fn added(self) -> impl Iterator<Item = &'a str> {
        self.lines().filter_map(|line| line.strip_prefix('+'))
    }

    /// The removed lines, without the sign.
    pub fn removed(self) -> impl Iterator<Item = &'a str> {
        self.lines().filter_map(|line| line.strip_prefix('-'))
    }
}

/// Server and tool of a name of the form `mcp__server__tool`; a server may hold single underscores.
pub fn mcp_name(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix("mcp__")?.split_once("__")
}

fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}

fn flag(value: &Value, key: &str) -> Option<bool> {
    value.get(key)?.as_bool()
}

/// A whole number; a JavaScript host may write `3` as `3.0`.
fn count(value: &Value, key: &str) -> Option<u64> {
    let number = value.get(key)?;
    number.as_u64().or_else(|| {
        let float = number.as_f64()?;
        (float >= 0.0 && float.fract() == 0.0 && float < 9e15).then_some(float as u64)
    })
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn edits_give_their_hunks() {
        let response = json!({"filePath": "/a", "userModified": true, "structuredPatch": [
            {"oldStart": 1, "oldLines": 2, "newStart": 1.0, "newLines": 2, "lines": [" a", "-b", "+c", 7]}]});
        let ToolResponse::Edit { file_path, patch, user_modified } = ToolResponse::of("Edit", &response) else {
            unreachable!("Edit reads as Edit")
        };
        assert_eq!((file_path, user_modified), (Some("/a"), true));
        let hunks: Vec<_> = patch.hunks().collect();
        assert_eq!(hunks.len(), 1);
        let hunk = hunks[0];
        assert_eq!((hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines), (1, 2, 1, 2));
        assert_eq!(hunk.added().collect::<Vec<_>>(), ["c"]);
        assert_eq!(hunk.removed().collect::<Vec<_>>(), ["b"]);
    }

    #[test]
    fn wrong_shapes_read_as_absent() {
        for input in [json!(null), json!([]), json!({"file_path": 7, "edits": {}}), json!("x")] {
            for name in ["Bash", "Read", "Write", "Edit", "MultiEdit", "NotebookEdit", "Grep", "Glob", "Task", "mcp__a"]
            {
                assert_eq!(ToolInput::of(name, &input).file(), None, "{name} {input}");
                assert!(ToolResponse::of(name, &input).texts().len() < 2, "{name} {input}");
            }
        }
    }

    #[test]
    fn mcp_names_split_at_the_first_double_underscore() {
        assert_eq!(mcp_name("mcp__my_server__do__it"), Some(("my_server", "do__it")));
        assert_eq!(mcp_name("mcp__x"), None);
        assert_eq!(mcp_name("Bash"), None);
    }

    #[test]
    fn mcp_results_give_their_texts() {
        let response = json!([{"type": "text", "text": "hi"}, {"type": "image"}]);
        assert_eq!(ToolResponse::of("mcp__s__t", &response).texts(), ["hi"]);
    }
}
