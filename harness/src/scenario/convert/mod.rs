//! From the wire types of `scenario.toml` to a scenario: reads the named files, compiles, checks.
//!
//! Every mistake is recorded and conversion goes on with a harmless value, so that one reading shows them all.
//! The result may be used only when no problem was recorded; `load` sees to that. Here stand the checks that
//! all parts share and the head of the file; steps and expectations have their own files.

mod expect;
mod scrub;
mod step;

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use crate::problem::{Problem, Source};
use crate::scenario::document::{Document, Part, way};
use crate::scenario::host::HostRange;
use crate::scenario::pattern::Pattern;
use crate::scenario::payload::Payloads;
use crate::scenario::placeholder;
use crate::scenario::plan::{Branch, Command, Commit, GitRecipe, SandboxPlan, Worktree};
use crate::scenario::wire::{BranchWire, CommitWire, DefaultsWire, GitWire, SandboxWire, StepWire, WorktreeWire};

/// Session of a step that names none.
const DEFAULT_SESSION: &str = "main";

/// What conversion needs beside the wire values, and where problems go.
pub(crate) struct Converter<'a> {
    pub(crate) dir: &'a Path,
    pub(crate) document: &'a Document<'a>,
    pub(crate) source: &'a Source,
    pub(crate) payloads: Option<&'a Payloads>,
    pub(crate) sessions: Vec<&'a str>,
    pub(crate) problems: Vec<Problem>,
}

/// Session of a step.
pub(crate) fn session<'w>(step: &'w StepWire, defaults: &'w DefaultsWire) -> &'w str {
    step.session.as_deref().or(defaults.session.as_deref()).unwrap_or(DEFAULT_SESSION)
}

impl Converter<'_> {
    fn problem(&mut self, way: &[Part<'_>], message: impl Into<String>, remedy: impl Into<String>) {
        self.problems.push(self.document.problem(way, message, remedy));
    }

    /// The text itself, its placeholders checked.
    fn text(&mut self, way: &[Part<'_>], text: String) -> String {
        for fault in placeholder::faults(&text, &self.sessions) {
            self.problem(way, fault.message, fault.remedy);
        }
        text
    }

    fn texts(&mut self, way: &[Part<'_>], texts: Vec<String>) -> Vec<String> {
        let numbered = texts.into_iter().enumerate();
        numbered.map(|(index, text)| self.text(&[way, &[Part::Index(index)]].concat(), text)).collect()
    }

    fn commands(&mut self, way: &[Part<'_>], lines: Vec<String>) -> Vec<Command> {
        let numbered = lines.into_iter().enumerate();
        numbered.map(|(index, line)| self.command(&[way, &[Part::Index(index)]].concat(), line)).collect()
    }

    fn command(&mut self, way: &[Part<'_>], line: String) -> Command {
        if line.trim().is_empty() {
            self.problem(way, "the command is empty", "write a shell command, or leave the entry out");
        }
        Command { line: self.text(way, line), span: self.document.span(way) }
    }

    fn env(&mut self, way: &[Part<'_>], env: &BTreeMap<String, String>) -> Vec<(String, String)> {
        let mut out = Vec::new();
        for (name, value) in env {
            let here = [way, &[Part::Key(name)]].concat();
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                self.problem(&here, format!("`{name}` is no environment variable"), "use a name without `=` and NUL");
            }
            out.push((name.clone(), self.text(&here, value.clone())));
        }
        out
    }

    fn pattern(&mut self, way: &[Part<'_>], text: String) -> Option<Pattern> {
        match Pattern::new(&text) {
            Ok(pattern) => Some(pattern),
            Err(reason) => {
                let message = format!("the pattern is not a regular expression: {reason}");
                let remedy = "use the syntax in scenarios/FORMAT.md (no look-around, no references to groups); put it in \
                              '…' so that TOML keeps backslashes";
                self.problem(way, message, remedy);
                None
            }
        }
    }

    /// Checks that a path of a commit stays in the work tree.
    fn project_path(&mut self, way: &[Part<'_>], path: &str) {
        if !stays_inside(path) {
            let remedy = "use a path relative to the project, without `..`";
            self.problem(way, format!("`{path}` is outside the project"), remedy);
        }
    }

    /// A path below the scenario's folder that exists.
    fn scenario_path(&mut self, way: &[Part<'_>], path: &str, folder: bool) -> Option<PathBuf> {
        if !stays_inside(path) {
            self.problem(way, format!("`{path}` is outside the scenario"), "name a path below the scenario's folder");
            return None;
        }
        let full = self.dir.join(path);
        let (found, kind) = if folder { (full.is_dir(), "folder") } else { (full.is_file(), "file") };
        if !found {
            let remedy = format!("make the {kind} {}, or correct the path", full.display());
            self.problem(way, format!("there is no {kind} `{path}` in the scenario"), remedy);
            return None;
        }
        Some(full)
    }

    /// Text of a file of the scenario, its placeholders checked in the file itself.
    fn file_text(&mut self, way: &[Part<'_>], path: &str) -> String {
        let Some(full) = self.scenario_path(way, path, false) else { return String::new() };
        match std::fs::read_to_string(&full) {
            Ok(text) => {
                let source = Source::new(full, text);
                for fault in placeholder::faults(source.text(), &self.sessions) {
                    self.problems.push(source.problem(fault.span, fault.message, fault.remedy));
                }
                source.text().to_owned()
            }
            Err(error) => {
                self.problem(way, format!("cannot read `{path}`: {error}"), "make it a readable UTF-8 file");
                String::new()
            }
        }
    }

    pub(crate) fn host(&mut self, host: Option<&str>) -> HostRange {
        let Some(text) = host else { return HostRange::default() };
        HostRange::parse(text).unwrap_or_else(|message| {
            self.problem(&way!["host"], message, "write a version such as 2.1.332, or bounds such as >=2.1.197");
            HostRange::default()
        })
    }

    pub(crate) fn sandbox(&mut self, wire: SandboxWire) -> SandboxPlan {
        let project = wire.project.unwrap_or_else(|| "proj".to_owned());
        let plain = !project.is_empty() && !project.starts_with('.') && !project.contains(['/', '\0', '$']);
        if !plain {
            let remedy = "use one folder name, without `/` and without a dot in front";
            self.problem(&way!["sandbox", "project"], format!("`{project}` is no folder name"), remedy);
        }
        SandboxPlan {
            tree: wire.tree.and_then(|tree| self.scenario_path(&way!["sandbox", "tree"], &tree, true)),
            project,
            git: wire.git.map(|git| self.git(git)),
            env: self.env(&way!["sandbox", "env"], &wire.env),
            seed: self.commands(&way!["sandbox", "seed"], wire.seed),
        }
    }

    fn git(&mut self, wire: GitWire) -> GitRecipe {
        let here = way!["sandbox", "git"];
        let commits = wire.commit.into_iter().enumerate();
        let commits = commits.map(|(index, commit)| self.commit(&way!["sandbox", "git", "commit", index], commit));
        GitRecipe {
            branch: wire.branch.unwrap_or_else(|| "main".to_owned()),
            origin: wire.origin,
            commits: commits.collect(),
            branches: wire.branches.into_iter().map(branch).collect(),
            worktrees: wire.worktrees.into_iter().map(worktree).collect(),
            checkout: wire.checkout,
            span: self.document.span(&here),
        }
    }

    fn commit(&mut self, way: &[Part<'_>], wire: CommitWire) -> Commit {
        let mut files = Vec::new();
        for (path, text) in wire.files {
            let here = [way, &[Part::Key("files"), Part::Key(&path)]].concat();
            self.project_path(&here, &path);
            files.push((path.clone(), self.text(&here, text)));
        }
        for (at, path) in wire.delete.iter().enumerate() {
            self.project_path(&[way, &[Part::Key("delete"), Part::Index(at)]].concat(), path);
        }
        Commit {
            message: self.text(&[way, &[Part::Key("message")]].concat(), wire.message),
            files,
            delete: wire.delete,
            branch: wire.branch,
            amend: wire.amend,
            worktree: wire.worktree,
            tag: wire.tag,
        }
    }
}

fn stays_inside(path: &str) -> bool {
    Path::new(path).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

fn branch(wire: BranchWire) -> Branch {
    Branch { name: wire.name, at: wire.at }
}

fn worktree(wire: WorktreeWire) -> Worktree {
    Worktree { name: wire.name, branch: wire.branch }
}
