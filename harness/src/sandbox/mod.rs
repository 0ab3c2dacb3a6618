//! The sandbox of one scenario in one round: a fresh home, project, store and environment.
//!
//! Guarantees: nothing of the user's home, git configuration or environment reaches a hook except `PATH`; every
//! path that a scenario names stays inside the sandbox; the folder is removed at the end unless it is kept.
//! The sandbox starts no process: shell commands go through the [`Runner`] it is given, so process handling
//! stays in one place.

mod action;
mod fault;
mod layout;
mod repository;
mod scrub;
mod shell;
mod tree;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use fault::Armed;
pub use shell::{Runner, ShellCall};
pub use tree::TreeDigest;

use layout::Layout;
use repository::Clock;
use scrub::Scrubber;

use crate::problem::Problem;
use crate::run_event::Finding;
use crate::scenario::{Expect, Scenario, Stdin, Step};

/// What a sandbox needs to know of the run.
#[derive(Debug, Clone)]
pub struct SandboxOptions {
    /// Repetition, from 0; part of the folder's name only, so that every round sees the same ids.
    pub round: u32,
    /// Folder in which sandboxes are made.
    pub parent: PathBuf,
    /// Folder of the corpora: `${CORPORA}`.
    pub corpora: PathBuf,
    /// Command line that `${HOOK_PROGRAM}` stands for, in shell syntax.
    pub hook_program: String,
    /// `PATH` of every call.
    pub path: OsString,
    /// Leaves the folder in place at the end.
    pub keep: bool,
}

/// A live sandbox; dropping it removes its folder.
#[derive(Debug)]
pub struct Sandbox<'s> {
    scenario: &'s Scenario,
    folder: tempfile::TempDir,
    layout: Layout,
    scrubber: Scrubber,
    clock: Clock,
    path: OsString,
    keeps: bool,
}

impl Drop for Sandbox<'_> {
    /// A hook may leave folders that nobody may write into, as module caches do; the folder could not be removed then.
    fn drop(&mut self) {
        if !self.keeps {
            open_up(&self.layout.root);
        }
    }
}

/// Makes every folder below `root` writable for its owner, links not followed. What cannot be changed stays.
fn open_up(root: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let Ok(about) = root.symlink_metadata() else { return };
    if !about.is_dir() {
        return;
    }
    if about.permissions().mode() & 0o700 != 0o700 {
        let _ = std::fs::set_permissions(root, std::fs::Permissions::from_mode(0o700));
    }
    for entry in std::fs::read_dir(root).into_iter().flatten().flatten() {
        open_up(&entry.path());
    }
}

impl<'s> Sandbox<'s> {
    /// Makes the folders, the project and its git history. Seeds are not run yet.
    ///
    /// # Errors
    /// A folder that cannot be written, or a git recipe that cannot be followed, named with its place.
    pub fn create(scenario: &'s Scenario, options: &SandboxOptions) -> Result<Sandbox<'s>, Problem> {
        let io = |error: std::io::Error| {
            let remedy = "free some space there, or name another folder in TMPDIR";
            Problem::file(&options.parent, format!("cannot make the sandbox: {error}"), remedy)
        };
        let prefix = format!("hookbench-{}-{}-", scenario.name, options.round);
        let mut folder = tempfile::Builder::new().prefix(&prefix).tempdir_in(&options.parent).map_err(io)?;
        folder.disable_cleanup(options.keep);
        let root = folder.path().canonicalize().map_err(io)?;
        let layout = Layout::new(scenario, root, options);
        layout.make().map_err(io)?;
        let scrubber = Scrubber::new(scenario, &layout);
        let sandbox = Sandbox {
            scenario,
            folder,
            layout,
            scrubber,
            clock: Clock::default(),
            path: options.path.clone(),
            keeps: options.keep,
        };
        sandbox.fill()?;
        Ok(sandbox)
    }

    fn fill(&self) -> Result<(), Problem> {
        if let Some(tree) = &self.scenario.sandbox.tree {
            action::copy_tree(tree, &self.layout.project).map_err(|error| {
                Problem::file(tree, format!("cannot copy the folder into the project: {error}"), "make it readable")
            })?;
        }
        let Some(recipe) = &self.scenario.sandbox.git else { return Ok(()) };
        repository::build(&self.layout, recipe, &self.clock).map_err(|error| {
            let remedy = "correct [sandbox.git]; commits come first, then branches, worktrees and checkout";
            let message = format!("cannot make the repository: {error}");
            self.scenario.source.problem(recipe.span.clone(), message, remedy)
        })
    }

    /// Runs the seed commands in the project.
    ///
    /// # Errors
    /// The first command that did not exit with 0, with its stderr.
    pub fn seed(&self, run: Runner<'_>) -> Result<(), Problem> {
        self.scenario.sandbox.seed.iter().try_for_each(|command| {
            let text = self.layout.expand(&command.line, self.default_session());
            shell::must_succeed(run, &self.shell_call(text), &self.scenario.source, command)
        })
    }

    /// Root of everything.
    pub fn root(&self) -> &Path {
        &self.layout.root
    }

    /// The project's folder: `CLAUDE_PROJECT_DIR`.
    pub fn project(&self) -> &Path {
        &self.layout.project
    }

    /// HOME of every call.
    pub fn home(&self) -> &Path {
        &self.layout.home
    }

    /// Folder for temporary files: `TMPDIR` of every call.
    pub fn tmp(&self) -> &Path {
        &self.layout.tmp
    }

    /// Configuration folder of the client.
    pub fn config_dir(&self) -> PathBuf {
        self.layout.home.join(".claude")
    }

    /// Id of the step's session.
    pub fn session_id(&self, step: &Step) -> String {
        self.layout.session_id(&step.session)
    }

    /// Transcript of the step's session; it exists once something was added to it.
    pub fn transcript(&self, step: &Step) -> PathBuf {
        self.layout.transcript(&step.session)
    }

    /// Working folder of the step's call.
    pub fn cwd(&self, step: &Step) -> PathBuf {
        self.layout.project.join(self.layout.expand(&step.cwd, &step.session))
    }

    /// Arguments that the step adds to the hook command.
    pub fn args(&self, step: &Step) -> Vec<String> {
        step.hook_args.iter().map(|arg| self.layout.expand(arg, &step.session)).collect()
    }

    /// What the step writes to stdin: the payload with its newline, cut when the step's fault says so.
    pub fn payload(&self, step: &Step) -> Vec<u8> {
        let mut bytes = match &step.stdin {
            Stdin::Payload(text) => self.layout.expand_json(text, &step.session).into_bytes(),
            Stdin::Bytes(bytes) => bytes.clone(),
        };
        if let Some(limit) = step.fault.truncate {
            bytes.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        }
        if matches!(step.stdin, Stdin::Payload(_)) || step.fault.truncate.is_some() {
            bytes.push(b'\n');
        }
        bytes
    }

    /// The whole environment of the step's call; a later source wins: fixed, the host's, scenario, step.
    pub fn env(&self, step: &Step, host: &[(&str, String)]) -> Vec<(OsString, OsString)> {
        let own = self.scenario.sandbox.env.iter().chain(&step.env);
        let own = own.map(|(name, value)| (name.clone(), self.layout.expand(value, &step.session)));
        let clock = step.fault.clock_back;
        let clock = clock.map(|back| ("HOOKBENCH_CLOCK_BACK_S".to_owned(), back.as_secs().to_string()));
        let host = host.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        self.joined_env(host.chain(own).chain(clock))
    }

    fn joined_env(&self, more: impl Iterator<Item = (String, String)>) -> Vec<(OsString, OsString)> {
        let mut env = self.layout.fixed_env(&self.path);
        for (name, value) in more {
            let (name, value) = (OsString::from(name), OsString::from(value));
            env.retain(|(old, _)| *old != name);
            env.push((name, value));
        }
        env
    }

    /// A shell command in the project with the sandbox's environment, without the host's variables.
    fn shell_call(&self, command: String) -> ShellCall {
        let session = self.default_session();
        let own = self.scenario.sandbox.env.iter();
        let own = own.map(|(name, value)| (name.clone(), self.layout.expand(value, session)));
        ShellCall::new(command, self.layout.project.clone(), self.joined_env(own))
    }

    fn default_session(&self) -> &str {
        self.scenario.steps.first().map_or("main", |step| step.session.as_str())
    }

    /// Makes the changes that the step asks for before its call, in order.
    ///
    /// # Errors
    /// The first change that cannot be made, with the step's place.
    pub fn apply_before(&self, step: &Step, run: Runner<'_>) -> Result<(), Problem> {
        step.before.iter().try_for_each(|action| self.apply(step, action, run))
    }

    /// Puts the step's faults on files in force; dropping the answer takes them back.
    ///
    /// # Errors
    /// A path outside the sandbox, a fault that the file system refuses, or a command that fails.
    pub fn arm(&self, step: &Step, run: Runner<'_>) -> Result<Armed, Problem> {
        let armed = Armed::new(step, |path| self.place(step, path))?;
        for command in &step.fault.run {
            let text = self.layout.expand(&command.line, &step.session);
            shell::must_succeed(run, &self.shell_call(text), &self.scenario.source, command)?;
        }
        Ok(armed)
    }

    /// Digest of the project and its worktrees, to be compared after the call.
    ///
    /// # Errors
    /// A folder that cannot be listed.
    pub fn snapshot(&self) -> Result<TreeDigest, Problem> {
        let mut roots = vec![(String::new(), self.layout.project.clone())];
        let worktrees = repository::worktrees(&self.layout).into_iter();
        roots.extend(worktrees.map(|(name, folder)| (format!("${{WORKTREE:{name}}}/"), folder)));
        TreeDigest::of(&roots).map_err(|error| {
            let remedy = "a step or the hook made a folder of the project unreadable";
            Problem::file(&self.layout.project, format!("cannot read the project: {error}"), remedy)
        })
    }

    /// Runs the step's state checks; one finding for each that does not hold.
    pub fn check_state(&self, step: &Step, run: Runner<'_>) -> Vec<Finding> {
        let expand = |text: &str| self.layout.expand(text, &step.session);
        step.state.iter().flat_map(|check| shell::check(run, check, |line| self.shell_call(line), expand)).collect()
    }

    /// Delivered text of a call of the step with sandbox paths, session ids and volatile parts replaced; `stdout` is the
    /// hook's answer, for rules that are limited to a field of it.
    pub fn scrub(&self, step: &Step, text: &str, stdout: &[u8]) -> String {
        self.scrubber.scrub(step, text, stdout)
    }

    /// The step's expectations with `contains` in the form that scrubbed text has.
    pub fn expect(&self, step: &Step) -> Expect {
        let mut expect = step.expect.clone();
        for text in &mut expect.contains {
            *text = self.scrubber.expected(step, &self.layout.expand(text, &step.session));
        }
        expect
    }

    /// Leaves the folder in place from now on and says where it is.
    pub fn keep(&mut self) -> PathBuf {
        self.folder.disable_cleanup(true);
        self.keeps = true;
        self.layout.root.clone()
    }

    /// A path of a step inside the sandbox: relative ones belong to the project.
    fn place(&self, step: &Step, path: &str) -> Result<PathBuf, Problem> {
        let full = self.layout.project.join(self.layout.expand(path, &step.session));
        let mut plain = PathBuf::new();
        for part in full.components() {
            if part == std::path::Component::ParentDir {
                plain.pop();
            } else {
                plain.push(part);
            }
        }
        if plain.starts_with(&self.layout.root) {
            return Ok(plain);
        }
        let remedy = "name a path in the project, or begin it with ${HOME}, ${DATA} or ${TMP}";
        Err(self.step_problem(step, format!("`{path}` is outside the sandbox"), remedy))
    }

    fn step_problem(&self, step: &Step, message: impl std::fmt::Display, remedy: &str) -> Problem {
        let message = format!("step `{}`: {message}", step.name);
        self.scenario.source.problem(step.span.clone(), message, remedy)
    }
}

#[cfg(test)]
mod tests;
