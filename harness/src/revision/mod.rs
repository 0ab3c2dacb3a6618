//! The hook as it was at another revision: `--baseline rev:REV`.
//!
//! Guarantees that the user's work tree, index, HEAD and branches stay as they are. The revision gets a linked worktree
//! of its own in a cache folder, keyed by commit, and the hook's command is rewritten to it: every path inside the work
//! tree becomes the same path inside the worktree. A command whose files the revision tracks needs no build; else the
//! build command runs in the worktree, once a commit. Submodules and large files kept elsewhere are not fetched.
//!
//! Not here: calling the hook.
//!
//! - `worktree`: the work with git
//! - `cache`: where an entry lies, what was built in it, which entries go
//! - `rewrite`: commands
//! - `compile`: the build command

mod cache;
mod compile;
mod rewrite;
mod worktree;

use std::path::{Path, PathBuf};

use self::cache::Entry;
use self::rewrite::Places;
use crate::failure::Failure;
use crate::hook::Hook;
use crate::target::{Given, SettingsFile, Target};

/// Folder of the cache, beside the last run.
pub const CACHE: &str = ".hookbench/rev";

/// Built revisions that are kept; those used longest ago go.
const KEPT: usize = 4;

/// What is to be built.
#[derive(Debug, Clone, Copy)]
pub struct Spec<'a> {
    /// The revision, as git reads it: a commit, a branch, `HEAD~3` …
    pub revision: &'a str,
    /// The hook under test, whose older self is wanted.
    pub given: Given<'a>,
    /// Folder inside the work tree from which relative paths of commands count, as the user's shell has them.
    pub start: &'a Path,
    /// Folder of the cache, such as [`CACHE`] below `start`.
    pub cache: &'a Path,
    /// Build command, run by the shell. Without one: `cargo build --release --bins --locked`, where it is needed and the
    /// revision has a `Cargo.toml`.
    pub build: Option<&'a str>,
}

/// The hook of a revision, ready to be called.
#[derive(Debug, Clone)]
pub struct Built {
    /// What to call.
    pub target: Target,
    /// Its name in reports: the revision, its commit and the command as given.
    pub name: String,
    /// The commit's id, 40 hexadecimal digits.
    pub commit: String,
    /// The worktree.
    pub tree: PathBuf,
    /// Whether a build command ran this time.
    pub was_built: bool,
}

/// Builds the hook of a revision, or takes it from the cache.
///
/// # Errors
/// A folder outside any work tree, an unknown revision, a command without a path inside the work tree, a failed build
/// with the end of what it said, or a build that does not give the hook's file.
pub fn build(spec: &Spec<'_>) -> Result<Built, Failure> {
    let checkout = worktree::Checkout::open(spec.start, spec.revision)?;
    let entry = Entry::open(spec.cache, &checkout.commit())?;
    let _alone = entry.lock()?;
    checkout.place(&entry)?;
    let places = Places::new(checkout.root(), spec.start, &entry.tree());
    let (target, paths) = rewritten(spec, &places)?;
    let missing = || paths.iter().find(|path| path.is_needed && !path.inside_tree.exists());
    let command = match (spec.build, missing()) {
        (Some(command), _) => Some(command),
        (None, Some(_)) => compile::default_command(&places),
        (None, None) => None,
    };
    let mut was_built = false;
    if let Some(command) = command.filter(|command| missing().is_some() || !entry.holds_build(command)) {
        compile::run(command, &places, spec.revision)?;
        entry.note_build(command)?;
        was_built = true;
    }
    if let Some(path) = missing() {
        return Err(absent(spec.revision, path, command));
    }
    entry.touch()?;
    checkout.trim(&entry, KEPT)?;
    // A settings file is read last: the build may write it.
    let target = match (target, spec.given.settings) {
        (Some(target), _) => target,
        (None, settings) => Target::settings(SettingsFile::load(&places.moved(settings.unwrap_or(spec.start)))?),
    };
    let short: String = checkout.commit().chars().take(12).collect();
    let name = format!("rev:{} ({short}): {}", spec.revision, spec.given.target()?.shown());
    Ok(Built { target, name, commit: checkout.commit(), tree: entry.tree(), was_built })
}

/// Removes a revision from the cache, with what git remembers of its worktree.
///
/// # Errors
/// A folder outside any work tree, or files that cannot be removed.
pub fn remove(start: &Path, cache: &Path, commit: &str) -> Result<(), Failure> {
    worktree::remove(start, &Entry::open(cache, commit)?)
}

/// The target with its commands rewritten, and the paths that they name; no target yet for a settings file.
fn rewritten(spec: &Spec<'_>, places: &Places) -> Result<(Option<Target>, Vec<rewrite::Moved>), Failure> {
    if let Some(settings) = spec.given.settings {
        let path = places.file(settings).ok_or_else(|| outside(&settings.display().to_string()))?;
        return Ok((None, vec![path]));
    }
    let target = spec.given.target()?;
    let mut hooks: Vec<Hook> = Vec::new();
    let mut paths = Vec::new();
    for hook in target.hooks().unwrap_or_default() {
        let (moved, named) = rewrite::rewrite(hook, places);
        if named.is_empty() {
            return Err(outside(&hook.shown));
        }
        hooks.push(moved);
        paths.extend(named);
    }
    Ok((Some(Target::chain(hooks)), paths))
}

fn outside(command: &str) -> Failure {
    Failure::usage(
        "--baseline",
        format!("`{command}` names no file of the work tree, so it is the same at every revision"),
        "name the hook by its path in the work tree, or give the older hook as a command",
    )
}

fn absent(revision: &str, path: &rewrite::Moved, command: Option<&str>) -> Failure {
    let shown = path.relative.display();
    let (message, remedy) = match command {
        Some(command) => (
            format!("`{command}` at revision {revision} did not make {shown}"),
            "name with --build a command that makes it, or the hook by the path that the build gives it",
        ),
        None => (
            format!("revision {revision} has no {shown}"),
            "name a revision that has the hook, or with --build a command that makes it",
        ),
    };
    Failure::usage("--baseline", message, remedy)
}

#[cfg(test)]
mod tests;
