//! From the flags of a command to its target.

use std::path::{Path, PathBuf};

use super::{SettingsFile, Target};
use crate::failure::Failure;
use crate::hook::Hook;

/// What the flags name.
#[derive(Debug, Clone, Copy)]
pub struct Given<'a> {
    /// Command lines; several are a chain.
    pub hooks: &'a [String],
    /// A settings file, instead of command lines.
    pub settings: Option<&'a Path>,
    /// The words of each command line are run directly.
    pub no_shell: bool,
}

impl Given<'_> {
    /// The target; without any flag the memory hook that is built beside this executable.
    ///
    /// # Errors
    /// An empty command, a settings file that cannot be replayed, or nothing to call at all.
    pub fn target(&self) -> Result<Target, Failure> {
        if let Some(path) = self.settings {
            return Ok(Target::settings(SettingsFile::load(path)?));
        }
        if self.hooks.is_empty() {
            let Some(program) = bundled() else {
                let remedy = "build it (`cargo build --release --bins`), or name a hook with --hook";
                return Err(Failure::usage("hookmem", "there is no hookmem beside this executable", remedy));
            };
            return Ok(Hook::exec(vec![program.to_string_lossy().into_owned(), "hook".to_owned()]).into());
        }
        if self.hooks.iter().any(|command| command.trim().is_empty()) {
            return Err(Failure::usage("--hook", "the command is empty", "give the command line of a hook"));
        }
        let hook = |command: &String| match self.no_shell {
            true => Hook::exec(command.split_whitespace().map(str::to_owned).collect()),
            false => Hook::shell(command),
        };
        Ok(Target::chain(self.hooks.iter().map(hook).collect()))
    }
}

/// The memory hook that is built beside this executable.
pub fn bundled() -> Option<PathBuf> {
    let beside = std::env::current_exe().ok()?.parent()?.join("hookmem");
    beside.is_file().then_some(beside)
}
