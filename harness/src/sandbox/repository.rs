//! The project's git repository, made and changed with git2: the only file of the sandbox that knows it well.
//!
//! Author and times are fixed, so commit ids are the same in every run. The user's git configuration is not
//! read: each handle has the repository's own configuration only.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};

use git2::build::CheckoutBuilder;
use git2::{BranchType, ErrorCode, IndexAddOption, Repository, RepositoryInitOptions, Signature, Time};

use super::action;
use super::layout::Layout;
use crate::scenario::{Branch, Checkout, Commit, GitRecipe, Worktree};

/// Time of the first commit: 2026-01-05 09:00:00 UTC.
const FIRST_COMMIT_S: i64 = 1_767_603_600;

/// Time from one commit to the next, in seconds.
const BETWEEN_COMMITS_S: i64 = 3600;

/// The time of commits: it goes on by a fixed step with each commit of the sandbox.
#[derive(Debug, Default)]
pub(super) struct Clock {
    commits: AtomicI64,
}

impl Clock {
    fn tick(&self) -> Time {
        let commit = self.commits.fetch_add(1, Ordering::Relaxed);
        Time::new(FIRST_COMMIT_S + commit * BETWEEN_COMMITS_S, 0)
    }
}

/// Makes the repository of a recipe in the project.
pub(super) fn build(layout: &Layout, recipe: &GitRecipe, clock: &Clock) -> Result<(), git2::Error> {
    let mut options = RepositoryInitOptions::new();
    options.initial_head(&recipe.branch).external_template(false);
    let repository = Repository::init_opts(&layout.project, &options)?;
    isolate(&repository)?;
    // Reflogs hold the time of day.
    repository.config()?.set_bool("core.logAllRefUpdates", false)?;
    if let Some(url) = &recipe.origin {
        repository.remote("origin", url)?;
    }
    recipe.commits.iter().try_for_each(|commit_| commit(layout, commit_, clock))?;
    recipe.branches.iter().try_for_each(|branch_| branch(layout, branch_))?;
    recipe.worktrees.iter().try_for_each(|worktree_| worktree(layout, worktree_))?;
    match &recipe.checkout {
        Some(at) => checkout(layout, &Checkout { at: at.clone(), create: false, worktree: None }),
        None => Ok(()),
    }
}

/// Commits everything in a work tree.
pub(super) fn commit(layout: &Layout, commit: &Commit, clock: &Clock) -> Result<(), git2::Error> {
    let folder = work_tree(layout, commit.worktree.as_deref());
    let repository = open(&folder)?;
    if let Some(branch) = &commit.branch {
        switch(&repository, branch)?;
    }
    for (path, text) in &commit.files {
        action::write(&folder.join(path), &layout.expand(text, "main")).map_err(|error| file_error(path, &error))?;
    }
    for path in &commit.delete {
        action::delete(&folder.join(path)).map_err(|error| file_error(path, &error))?;
    }
    let mut index = repository.index()?;
    index.add_all(["*"], IndexAddOption::DEFAULT, None)?;
    index.update_all(["*"], None)?;
    index.write()?;
    let tree = repository.find_tree(index.write_tree()?)?;
    let who = Signature::new("Dev", "dev@example.com", &clock.tick())?;
    let head = head_commit(&repository)?;
    let id = match (&head, commit.amend) {
        (Some(head), true) => {
            head.amend(Some("HEAD"), Some(&who), Some(&who), None, Some(&commit.message), Some(&tree))?
        }
        (None, true) => return Err(git2::Error::from_str("there is no commit to amend")),
        (head, false) => {
            let parents: Vec<&git2::Commit<'_>> = head.iter().collect();
            repository.commit(Some("HEAD"), &who, &who, &commit.message, &tree, &parents)?
        }
    };
    if let Some(tag) = &commit.tag {
        repository.tag_lightweight(tag, &repository.find_object(id, None)?, false)?;
    }
    Ok(())
}

/// Makes a branch.
pub(super) fn branch(layout: &Layout, branch: &Branch) -> Result<(), git2::Error> {
    let repository = open(&layout.project)?;
    let at = repository.revparse_single(branch.at.as_deref().unwrap_or("HEAD"))?.peel_to_commit()?;
    repository.branch(&branch.name, &at, false)?;
    Ok(())
}

/// Makes a linked worktree beside the project.
pub(super) fn worktree(layout: &Layout, worktree: &Worktree) -> Result<(), git2::Error> {
    let repository = open(&layout.project)?;
    let branch = match repository.find_branch(&worktree.branch, BranchType::Local) {
        Ok(branch) => branch,
        Err(error) if error.code() == ErrorCode::NotFound => {
            repository.branch(&worktree.branch, &repository.head()?.peel_to_commit()?, false)?
        }
        Err(error) => return Err(error),
    };
    let mut options = git2::WorktreeAddOptions::new();
    options.reference(Some(branch.get()));
    repository.worktree(&worktree.name, &layout.worktree(&worktree.name), Some(&options))?;
    Ok(())
}

/// Names and folders of the project's linked worktrees; none when the project is no repository.
pub(super) fn worktrees(layout: &Layout) -> Vec<(String, PathBuf)> {
    let Ok(repository) = Repository::open(&layout.project) else { return Vec::new() };
    let names = repository.worktrees();
    let names = names.iter().flat_map(|names| names.iter()).filter_map(|name| name.ok().flatten());
    let found =
        names.filter_map(|name| Some((name.to_owned(), repository.find_worktree(name).ok()?.path().to_owned())));
    found.collect()
}

/// Checks out a branch, or any revision with a detached HEAD.
pub(super) fn checkout(layout: &Layout, checkout: &Checkout) -> Result<(), git2::Error> {
    let repository = open(&work_tree(layout, checkout.worktree.as_deref()))?;
    if checkout.create {
        repository.branch(&checkout.at, &repository.head()?.peel_to_commit()?, false)?;
    }
    if repository.find_branch(&checkout.at, BranchType::Local).is_ok() {
        return switch(&repository, &checkout.at);
    }
    let target = repository.revparse_single(&checkout.at)?.peel_to_commit()?;
    repository.checkout_tree(target.as_object(), Some(CheckoutBuilder::new().safe()))?;
    repository.set_head_detached(target.id())
}

/// Switches to a branch, made at HEAD when it does not exist.
fn switch(repository: &Repository, branch: &str) -> Result<(), git2::Error> {
    let reference = format!("refs/heads/{branch}");
    let Some(head) = head_commit(repository)? else { return repository.set_head(&reference) };
    let target = match repository.find_branch(branch, BranchType::Local) {
        Ok(found) => found.get().peel_to_commit()?,
        Err(error) if error.code() == ErrorCode::NotFound => {
            repository.branch(branch, &head, false)?;
            head
        }
        Err(error) => return Err(error),
    };
    repository.checkout_tree(target.as_object(), Some(CheckoutBuilder::new().safe()))?;
    repository.set_head(&reference)
}

fn head_commit(repository: &Repository) -> Result<Option<git2::Commit<'_>>, git2::Error> {
    match repository.head() {
        Ok(head) => head.peel_to_commit().map(Some),
        Err(error) if error.code() == ErrorCode::UnbornBranch => Ok(None),
        Err(error) => Err(error),
    }
}

fn work_tree(layout: &Layout, worktree: Option<&str>) -> PathBuf {
    worktree.map_or_else(|| layout.project.clone(), |name| layout.worktree(name))
}

fn open(folder: &Path) -> Result<Repository, git2::Error> {
    let repository = Repository::open(folder)?;
    isolate(&repository)?;
    Ok(repository)
}

/// Takes the user's and the machine's configuration away from this handle.
fn isolate(repository: &Repository) -> Result<(), git2::Error> {
    repository.set_config(&git2::Config::open(&repository.commondir().join("config"))?)
}

fn file_error(path: &str, error: &std::io::Error) -> git2::Error {
    git2::Error::from_str(&format!("file `{path}`: {error}"))
}
