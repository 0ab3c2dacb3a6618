//! From the flags of a command to its target.

use std::path::{Path, PathBuf};

use super::{SettingsFile, Target};
use crate::failure::Failure;
use crate::hook::{Hook, quoted};

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
        let here = &std::env::current_dir().unwrap_or_default();
        let hook = |command: &String| match self.no_shell {
            true => Hook::exec(from_here(command, here).split_whitespace().map(str::to_owned).collect()),
            false => Hook { shown: command.clone(), ..Hook::shell(&from_here(command, here)) },
        };
        Ok(Target::chain(self.hooks.iter().map(hook).collect()))
    }
}

/// A command line whose words that begin with `./` or `../`, and name something that is there, are absolute: a hook runs in
/// a sandbox, where they would name something else or nothing. Words in quotes are left as they are.
fn from_here(command: &str, here: &Path) -> String {
    let word = |word: &str| match here.join(word) {
        path if word.starts_with("./") || word.starts_with("../") => {
            path.canonicalize().map_or_else(|_| word.to_owned(), |path| quoted(&path.to_string_lossy()))
        }
        _ => word.to_owned(),
    };
    command.split_inclusive(char::is_whitespace).fold(String::new(), |line, part| {
        let bare = part.trim_end();
        line + &word(bare) + part.get(bare.len()..).unwrap_or_default()
    })
}

/// The memory hook that is built beside this executable.
pub fn bundled() -> Option<PathBuf> {
    let beside = std::env::current_exe().ok()?.parent()?.join("hookmem");
    beside.is_file().then_some(beside)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

    use super::*;

    #[test]
    fn paths_count_from_where_the_user_stands() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().canonicalize().unwrap();
        std::fs::create_dir(here.join("a b")).unwrap();
        std::fs::write(here.join("hook.sh"), "").unwrap();
        let at = |path: &str| here.join(path).display().to_string();
        let read = |command: &str| from_here(command, &here.join("a b"));
        assert_eq!(read("../hook.sh  --x | tee ./none"), format!("{}  --x | tee ./none", at("hook.sh")));
        assert_eq!(
            from_here("sh ./hook.sh './hook.sh' hook.sh", &here),
            format!("sh {} './hook.sh' hook.sh", at("hook.sh"))
        );
        assert_eq!(read("../hook.sh\n"), format!("{}\n", at("hook.sh")));
        assert_eq!(from_here("cat \"./a b\"", &here), "cat \"./a b\"");
    }
}
