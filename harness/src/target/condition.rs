//! The `if` of a settings entry: a permission rule that a tool call must fit.
//!
//! Guarantees the two forms that were seen in the client: the name of a tool alone, and `Bash(...)` with a command, a
//! prefix (`git:*`) or stars. Rules about paths and domains have grammars of their own that no recording shows; they are
//! refused when a file is read, because a wrong guess would run another hook than the host. Outside the five events that
//! know conditions such a hook never runs.

use hook_contract::Event;
use serde_json::Value;

/// A condition that can be decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Condition {
    /// Any call of this tool.
    Tool(String),
    /// A shell command of this form; `*` stands for any text.
    Command {
        /// The tool.
        tool: String,
        /// What the command must look like.
        pattern: String,
    },
}

impl Condition {
    /// Reads a rule; `None` for a form that cannot be decided here.
    pub(super) fn parse(rule: &str) -> Option<Condition> {
        let rule = rule.trim();
        let Some((tool, rest)) = rule.split_once('(') else {
            let plain = !rule.is_empty() && !rule.contains([')', '*', ' ']);
            return plain.then(|| Condition::Tool(rule.to_owned()));
        };
        let inner = rest.strip_suffix(')')?;
        let decidable = matches!(tool, "Bash" | "PowerShell");
        decidable.then(|| Condition::Command { tool: tool.to_owned(), pattern: inner.to_owned() })
    }

    /// Whether a payload of this event fits.
    pub(super) fn holds(&self, event: Event, payload: &Value) -> bool {
        let knows = matches!(
            event,
            Event::PreToolUse
                | Event::PostToolUse
                | Event::PostToolUseFailure
                | Event::PermissionRequest
                | Event::PermissionDenied
        );
        let name = payload.get("tool_name").and_then(Value::as_str);
        let command = payload.pointer("/tool_input/command").and_then(Value::as_str);
        knows
            && match self {
                Condition::Tool(tool) => name == Some(tool),
                Condition::Command { tool, pattern } => {
                    name == Some(tool) && command.is_some_and(|command| fits(command.trim(), pattern))
                }
            }
    }
}

/// Whether a command has a pattern's form. `git:*` is the word `git` and whatever follows it.
fn fits(command: &str, pattern: &str) -> bool {
    if let Some(prefix) = pattern.strip_suffix(":*") {
        return command.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    }
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = command.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = rest.get(at + part.len()..).unwrap_or_default();
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
    use serde_json::json;

    use super::*;

    fn holds(rule: &str, event: Event, tool: &str, command: &str) -> bool {
        let payload = json!({"tool_name": tool, "tool_input": {"command": command}});
        Condition::parse(rule).unwrap().holds(event, &payload)
    }

    #[test]
    fn commands_fit_exactly_by_prefix_or_by_stars() {
        let bash = |rule: &str, command: &str| holds(rule, Event::PreToolUse, "Bash", command);
        assert!(bash("Bash(git status)", "git status"));
        assert!(!bash("Bash(git status)", "git status -s"));
        assert!(bash("Bash(git:*)", "git push") && bash("Bash(git:*)", "git"));
        assert!(!bash("Bash(git:*)", "github"));
        assert!(bash("Bash(git * main)", "git push origin main"));
        assert!(!bash("Bash(git * main)", "git push origin next"));
        assert!(bash("Bash(*)", "anything") && bash("Bash", "anything"));
        assert!(!bash("Bash(a*b*a)", "aba b") && bash("Bash(a*b*a)", "a b b a"));
    }

    #[test]
    fn other_tools_and_other_events_never_fit() {
        assert!(!holds("Bash(git:*)", Event::PreToolUse, "PowerShell", "git push"));
        assert!(!holds("Read", Event::PreToolUse, "Bash", "x"));
        assert!(holds("Bash", Event::PermissionDenied, "Bash", "x"));
        assert!(!holds("Bash", Event::PostToolBatch, "Bash", "x"));
    }

    #[test]
    fn rules_about_paths_cannot_be_decided() {
        for rule in ["Edit(*.ts)", "WebFetch(domain:example.com)", "Bash(", "", "mcp__*"] {
            assert_eq!(Condition::parse(rule), None, "{rule}");
        }
    }
}
