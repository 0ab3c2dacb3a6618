//! A settings file of the host as a target.
//!
//! Guarantees that what is replayed is what the file says: a file with an entry that cannot be read, or whose condition
//! cannot be decided, is refused with the place of every such entry. Handlers that are not commands (`http`, `prompt` …)
//! are left out and counted in the name that reports show. Matchers and identical hooks are the contract crate's
//! business.
//!
//! `${CLAUDE_PROJECT_DIR}` in a command stands for the folder of the project whose settings these are, since its scripts
//! lie there; the variable in the hook's environment is the sandbox's project, since its work lies there. So the shell's
//! own `$CLAUDE_PROJECT_DIR` in a command is replaced too.

use std::path::{Path, PathBuf};

use hook_contract::{Event, Handler, HandlerKind, HookSettings, HostProfile, expand_command, subject};
use serde_json::Value;

use super::Chosen;
use super::condition::Condition;
use crate::hook::Hook;
use crate::problem::{Problem, Problems};
use crate::scenario::{Stdin, Step};

/// A settings file, read.
#[derive(Debug, Clone)]
pub struct SettingsFile {
    path: PathBuf,
    project: String,
    settings: HookSettings,
    n_commands: usize,
    n_left_out: usize,
}

impl SettingsFile {
    /// Reads the hooks of a settings file.
    ///
    /// # Errors
    /// Everything in it that cannot be replayed, with its place.
    pub fn load(path: &Path) -> Result<SettingsFile, Problems> {
        let bytes = std::fs::read(path).map_err(|error| {
            Problem::file(path, format!("cannot be read: {error}"), "name a settings file of the client")
        })?;
        let settings = HookSettings::parse(&bytes);
        let faulty = settings.problems.iter().map(|problem| {
            let message = format!("{}: expected {}, found {}", problem.path, problem.expected, problem.found);
            Problem::file(path, message, "correct the entry: the client would leave it out without a word")
        });
        let mut problems: Vec<Problem> = faulty.collect();
        let handlers = || settings.groups.iter().flat_map(|group| &group.handlers);
        problems.extend(handlers().filter_map(|handler| unplayable(path, handler)));
        if settings.disabled {
            problems.push(Problem::file(path, "disableAllHooks is set, so no hook would run", "take the key out"));
        }
        let n_commands = handlers().filter(|handler| matches!(handler.kind, HandlerKind::Command { .. })).count();
        if problems.is_empty() && n_commands == 0 {
            problems.push(Problem::file(path, "holds no hook of the type command", "name the file with your hooks"));
        }
        let n_left_out = handlers().count() - n_commands;
        Problems::check(problems)?;
        Ok(SettingsFile { path: path.to_owned(), project: project_of(path), settings, n_commands, n_left_out })
    }

    /// Its name in reports.
    pub(super) fn shown(&self) -> String {
        let left_out = match self.n_left_out {
            0 => String::new(),
            n => format!("; {n} of other types left out"),
        };
        let hooks = if self.n_commands == 1 { "hook" } else { "hooks" };
        format!("settings {} ({} {hooks}{left_out})", self.path.display(), self.n_commands)
    }

    /// The command hooks that run for a step.
    pub(super) fn choose(&self, host: &HostProfile, event: Event, step: &Step) -> Vec<Chosen> {
        // The payload as the scenario has it: a fault that spoils what a hook reads does not change what the host knows.
        let payload: Value = match &step.stdin {
            Stdin::Payload(text) => serde_json::from_str(text).unwrap_or_default(),
            Stdin::Bytes(bytes) => serde_json::from_slice(bytes).unwrap_or_default(),
        };
        let selected = self.settings.select(host, event, subject(event, &payload));
        let fits = |handler: &&Handler| match handler.condition.as_deref().map(Condition::parse) {
            None => true,
            Some(condition) => condition.is_some_and(|condition| condition.holds(event, &payload)),
        };
        selected.into_iter().filter(fits).filter_map(|handler| self.chosen(event, handler)).collect()
    }

    fn chosen(&self, event: Event, handler: &Handler) -> Option<Chosen> {
        let HandlerKind::Command { command, args, background, failure_blocks } = &handler.kind else { return None };
        let hook = match args {
            None => {
                let line = self.filled(command)?;
                // Only the shell knows this form; in a direct run it is text.
                let line = line.replace("$CLAUDE_PROJECT_DIR", &self.project);
                Hook { shown: command.clone(), ..Hook::shell(&line) }
            }
            Some(args) => {
                let words = std::iter::once(command).chain(args).map(|word| self.filled(word));
                let given = Hook::exec(std::iter::once(command).chain(args).cloned().collect());
                Hook { shown: given.shown, ..Hook::exec(words.collect::<Option<Vec<String>>>()?) }
            }
        };
        Some(Chosen {
            hook,
            limit: handler.limit(event),
            background: *background,
            failure_blocks: *failure_blocks,
            takes_args: false,
        })
    }

    fn filled(&self, text: &str) -> Option<String> {
        expand_command(text, &self.project)
    }
}

/// Why an entry cannot be replayed, if so.
fn unplayable(path: &Path, handler: &Handler) -> Option<Problem> {
    let HandlerKind::Command { command, args, .. } = &handler.kind else { return None };
    if let Some(rule) = handler.condition.as_deref().filter(|rule| Condition::parse(rule).is_none()) {
        let message = format!("the condition `{rule}` of `{command}` cannot be decided here");
        let remedy = "use a tool's name or Bash(...), or replay a copy of the file without the condition";
        return Some(Problem::file(path, message, remedy));
    }
    let words = || std::iter::once(command).chain(args.iter().flatten());
    if words().any(|word| expand_command(word, "").is_none()) {
        let message = format!("`{command}` names ${{CLAUDE_PLUGIN_ROOT}}, which the client fills in for plugins only");
        return Some(Problem::file(path, message, "write the path out"));
    }
    None
}

/// The project of a settings file: the folder above `.claude`, else the file's own folder.
fn project_of(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().unwrap_or(&path);
    let project = match folder.file_name() {
        Some(name) if name == ".claude" => folder.parent().unwrap_or(folder),
        _ => folder,
    };
    project.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
    use serde_json::json;

    use super::*;

    fn load(settings: &Value) -> Result<(tempfile::TempDir, SettingsFile), Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".claude/settings.json");
        std::fs::create_dir(folder.path().join(".claude")).unwrap();
        std::fs::write(&path, settings.to_string()).unwrap();
        match SettingsFile::load(&path) {
            Ok(file) => Ok((folder, file)),
            Err(problems) => Err(problems.iter().map(|problem| problem.message().to_owned()).collect()),
        }
    }

    #[test]
    fn placeholder_of_a_command_is_the_project_of_the_file() {
        let settings = json!({"hooks": {"Stop": [{"hooks": [
            {"type": "command", "command": "\"$CLAUDE_PROJECT_DIR\"/a.sh; ${CLAUDE_PROJECT_DIR}/b.sh"},
            {"type": "command", "command": "${CLAUDE_PROJECT_DIR}/c", "args": ["$HOME", "x y"], "timeout": 2}]}]}});
        let (folder, file) = load(&settings).unwrap();
        let root = folder.path().display().to_string();
        let handlers = &file.settings.groups.first().unwrap().handlers;
        let hooks: Vec<Chosen> = handlers.iter().filter_map(|handler| file.chosen(Event::Stop, handler)).collect();
        let shell = Hook::shell(&format!("\"{root}\"/a.sh; {root}/b.sh"));
        let exec = Hook::exec(vec![format!("{root}/c"), "$HOME".to_owned(), "x y".to_owned()]);
        assert_eq!(
            hooks.iter().map(|chosen| &chosen.hook.program).collect::<Vec<_>>(),
            [&shell.program, &exec.program]
        );
        let shown: Vec<&str> = hooks.iter().map(|chosen| chosen.hook.shown.as_str()).collect();
        assert!(shown.first().unwrap().starts_with("\"$CLAUDE_PROJECT_DIR\""));
        assert_eq!(hooks.last().unwrap().limit, Some(std::time::Duration::from_secs(2)));
    }

    #[test]
    fn every_entry_that_cannot_be_replayed_is_named() {
        let settings = json!({"hooks": {"PreToolUse": [{"hooks": [
            {"type": "command"},
            {"type": "command", "command": "a", "if": "Edit(*.ts)"},
            {"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/b"},
            {"type": "command", "command": "fine"}]}, {"matcher": "[", "hooks": []}]}});
        let problems = load(&settings).unwrap_err();
        assert_eq!(problems.len(), 4, "{problems:?}");
        for part in ["hooks.PreToolUse[0].hooks[0].command", "Edit(*.ts)", "CLAUDE_PLUGIN_ROOT", "[1].matcher"] {
            assert!(problems.iter().any(|problem| problem.contains(part)), "{part} is not in {problems:?}");
        }
    }

    #[test]
    fn files_without_a_hook_to_replay_are_refused() {
        for (settings, reason) in [
            (json!({}), "no hook of the type command"),
            (json!({"hooks": {"Stop": [{"hooks": [{"type": "http", "url": "u"}]}]}}), "no hook of the type command"),
            (json!({"disableAllHooks": true}), "disableAllHooks"),
            (json!([]), "(root)"),
        ] {
            let problems = load(&settings).unwrap_err();
            assert!(problems.iter().any(|problem| problem.contains(reason)), "{problems:?}");
        }
    }

    #[test]
    fn handlers_of_other_types_are_counted_in_the_name() {
        let settings = json!({"hooks": {"Stop": [{"hooks": [
            {"type": "command", "command": "a"}, {"type": "prompt", "prompt": "b"}]}]}});
        let (_folder, file) = load(&settings).unwrap();
        assert!(file.shown().ends_with("settings.json (1 hook; 1 of other types left out)"), "{}", file.shown());
    }
}
