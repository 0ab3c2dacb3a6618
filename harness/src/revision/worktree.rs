//! Linked worktrees for revisions, made with git2.
//!
//! A worktree needs a branch at its birth, so it gets one that lives for that moment only; afterwards its HEAD is the
//! bare commit and no reference of the repository is left behind. Guarantees that the user's work tree, index and HEAD
//! are never written.

use std::fs;
use std::path::{Path, PathBuf};

use git2::build::CheckoutBuilder;
use git2::{BranchType, Oid, Repository, WorktreeAddOptions, WorktreePruneOptions};

use super::cache::{Entry, unusable};
use crate::failure::Failure;

/// A revision found in the user's repository.
pub(super) struct Checkout {
    repository: Repository,
    root: PathBuf,
    commit: Oid,
}

impl Checkout {
    /// Finds the repository around a folder, and the commit.
    pub(super) fn open(start: &Path, revision: &str) -> Result<Checkout, Failure> {
        let (repository, root) = repository(start)?;
        let found = repository.revparse_single(revision).and_then(|object| Ok(object.peel_to_commit()?.id()));
        let commit = found.map_err(|error| unknown(revision, &repository, &error))?;
        Ok(Checkout { repository, root, commit })
    }

    /// The user's work tree.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The commit's id in full.
    pub(super) fn commit(&self) -> String {
        self.commit.to_string()
    }

    /// Makes sure that the entry holds the revision's worktree.
    pub(super) fn place(&self, entry: &Entry) -> Result<(), Failure> {
        let tree = entry.tree();
        let head = || Repository::open(&tree).and_then(|inside| Ok(inside.head()?.peel_to_commit()?.id()));
        if entry.is_whole() && head().is_ok_and(|head| head == self.commit) && restored(&tree).is_ok() {
            return Ok(());
        }
        // What an interrupted attempt, or a cache removed by hand, has left.
        forget(&self.repository, entry)?;
        fs::create_dir_all(entry.folder()).map_err(|error| unusable(&entry.folder(), &error))?;
        self.add(&entry.worktree_name(), &tree).map_err(|error| {
            let message = format!("no worktree can be made for commit {}: {}", self.commit, error.message());
            Failure::usage("--baseline", message, remedy_of(&self.repository, "look at the repository with git fsck"))
        })?;
        entry.note_whole()
    }

    fn add(&self, name: &str, tree: &Path) -> Result<(), git2::Error> {
        let commit = self.repository.find_commit(self.commit)?;
        let mut branch = self.repository.branch(name, &commit, true)?;
        let made = {
            let mut options = WorktreeAddOptions::new();
            options.reference(Some(branch.get()));
            self.repository.worktree(name, tree, Some(&options))
        };
        let detached = made.and_then(|_| Repository::open(tree)?.set_head_detached(self.commit));
        branch.delete()?;
        detached
    }

    /// Removes the entries that were used longest ago, `kept` stay.
    pub(super) fn trim(&self, entry: &Entry, kept: usize) -> Result<(), Failure> {
        entry.superfluous(kept).iter().try_for_each(|old| forget(&self.repository, old))
    }
}

/// Brings back files of the revision that a build has removed. What it has changed or added stays: it is the build.
fn restored(tree: &Path) -> Result<(), git2::Error> {
    let mut missing = CheckoutBuilder::new();
    missing.safe().recreate_missing(true);
    Repository::open(tree)?.checkout_head(Some(&mut missing))
}

/// Removes an entry, with what git remembers of it.
pub(super) fn remove(start: &Path, entry: &Entry) -> Result<(), Failure> {
    let (repository, _) = repository(start)?;
    forget(&repository, entry)
}

fn repository(start: &Path) -> Result<(Repository, PathBuf), Failure> {
    let none =
        |why: String| Failure::usage("--baseline", why, "run this inside the work tree of the hook's repository");
    let repository = Repository::discover(start)
        .map_err(|error| none(format!("{} is in no git repository: {}", start.display(), error.message())))?;
    let root = repository.workdir().and_then(|root| root.canonicalize().ok());
    match root {
        Some(root) => Ok((repository, root)),
        None => Err(none(format!("the repository of {} has no work tree", start.display()))),
    }
}

fn unknown(revision: &str, repository: &Repository, error: &git2::Error) -> Failure {
    let message = format!("there is no revision `{revision}` here: {}", error.message());
    let remedy = "name a commit, tag or branch that this repository has; a remote's branch is origin/NAME";
    Failure::usage("--baseline", message, remedy_of(repository, remedy))
}

/// A shallow clone is the most likely reason for whatever is missing, above all in CI.
fn remedy_of<'a>(repository: &Repository, otherwise: &'a str) -> &'a str {
    if repository.is_shallow() {
        return "this clone is shallow: fetch the history (git fetch --unshallow, or fetch-depth: 0 in the checkout step)";
    }
    otherwise
}

fn forget(repository: &Repository, entry: &Entry) -> Result<(), Failure> {
    if let Ok(worktree) = repository.find_worktree(&entry.worktree_name()) {
        let mut everything = WorktreePruneOptions::new();
        everything.valid(true).locked(true).working_tree(false);
        worktree.prune(Some(&mut everything)).map_err(|error| {
            let message = format!("the worktree cannot be removed: {}", error.message());
            Failure::usage(entry.tree(), message, "remove it with git worktree remove --force")
        })?;
    }
    if let Ok(mut branch) = repository.find_branch(&entry.worktree_name(), BranchType::Local) {
        // Left by an attempt that was cut off; a branch that stays harms nothing and is taken over the next time.
        let _ = branch.delete();
    }
    match fs::remove_dir_all(entry.folder()) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(unusable(&entry.folder(), &error)),
        _ => Ok(()),
    }
}
