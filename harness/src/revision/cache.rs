//! Entries of the cache: `<commit>/tree` is the worktree, `<commit>/whole` stands beside it once it is complete, and
//! `<commit>/built` names the build command that ran there.
//!
//! Guarantees that two processes do not work on the cache at once, and that the folder is invisible to git. Not here:
//! what git remembers of the worktrees.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::failure::Failure;

/// Name of the worktree's folder in an entry.
const TREE: &str = "tree";
/// Name of the file that tells that every file of the worktree was written.
const WHOLE: &str = "whole";
/// Name of the file that tells what was built; its time tells when the entry was last used.
const BUILT: &str = "built";

/// One revision's folder.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    cache: PathBuf,
    commit: String,
}

impl Entry {
    /// The entry of a commit; makes the cache folder.
    pub(super) fn open(cache: &Path, commit: &str) -> Result<Entry, Failure> {
        let make = || {
            fs::create_dir_all(cache)?;
            // The cache may lie in the work tree that must not change for git.
            fs::write(cache.join(".gitignore"), "*\n")?;
            cache.canonicalize()
        };
        let cache = make().map_err(|error| unusable(cache, &error))?;
        Ok(Entry { cache, commit: commit.to_owned() })
    }

    /// Its folder.
    pub(super) fn folder(&self) -> PathBuf {
        self.cache.join(&self.commit)
    }

    /// Its worktree.
    pub(super) fn tree(&self) -> PathBuf {
        self.folder().join(TREE)
    }

    /// Name of the worktree in git.
    pub(super) fn worktree_name(&self) -> String {
        worktree_name(&self.commit)
    }

    /// Whether the worktree was written to its end.
    pub(super) fn is_whole(&self) -> bool {
        self.folder().join(WHOLE).is_file()
    }

    /// Remembers that it was.
    pub(super) fn note_whole(&self) -> Result<(), Failure> {
        fs::write(self.folder().join(WHOLE), "").map_err(|error| unusable(&self.folder(), &error))
    }

    /// Waits until no other process works on the cache; dropping the answer lets the next one in.
    pub(super) fn lock(&self) -> Result<File, Failure> {
        let open = || {
            let file = File::create(self.cache.join("lock"))?;
            file.lock()?;
            Ok(file)
        };
        open().map_err(|error| unusable(&self.cache, &error))
    }

    /// Whether this command ran here to its end.
    pub(super) fn holds_build(&self, command: &str) -> bool {
        fs::read_to_string(self.folder().join(BUILT)).is_ok_and(|built| built == command)
    }

    /// Remembers that it did.
    pub(super) fn note_build(&self, command: &str) -> Result<(), Failure> {
        fs::write(self.folder().join(BUILT), command).map_err(|error| unusable(&self.folder(), &error))
    }

    /// Marks the entry as used now.
    pub(super) fn touch(&self) -> Result<(), Failure> {
        let mark = || {
            let file = File::options().create(true).append(true).open(self.folder().join(BUILT))?;
            file.set_modified(SystemTime::now())
        };
        mark().map_err(|error| unusable(&self.folder(), &error))
    }

    /// Entries beyond the `kept` most recently used ones, this one never among them.
    pub(super) fn superfluous(&self, kept: usize) -> Vec<Entry> {
        let folders = fs::read_dir(&self.cache).into_iter().flatten().flatten();
        let mut others: Vec<(SystemTime, Entry)> = folders
            .filter(|folder| folder.path().join(TREE).is_dir())
            .filter_map(|folder| {
                let commit = folder.file_name().into_string().ok()?;
                let used = fs::metadata(folder.path().join(BUILT)).and_then(|about| about.modified());
                Some((used.unwrap_or(SystemTime::UNIX_EPOCH), Entry { cache: self.cache.clone(), commit }))
            })
            .filter(|(_, other)| other.commit != self.commit)
            .collect();
        others.sort_by_key(|(used, _)| std::cmp::Reverse(*used));
        others.into_iter().skip(kept.saturating_sub(1)).map(|(_, entry)| entry).collect()
    }
}

/// Name in git of a commit's worktree.
fn worktree_name(commit: &str) -> String {
    let short: String = commit.chars().take(20).collect();
    format!("hookbench-{short}")
}

/// The cache cannot be written.
pub(super) fn unusable(folder: &Path, error: &io::Error) -> Failure {
    Failure::usage(folder, format!("the cache of revisions cannot be used: {error}"), "make the folder writable")
}
