//! What a scenario's sandbox holds before the first step: a project, its git history, environment, seeds.
//!
//! Plain data. Paths and texts may hold placeholders, which are known to be known.

use std::ops::Range;
use std::path::PathBuf;

/// Everything that is made before the first step.
#[derive(Debug, Clone, Default)]
pub struct SandboxPlan {
    /// Folder whose content is copied into the project.
    pub tree: Option<PathBuf>,
    /// Name of the project's folder inside HOME.
    pub project: String,
    /// Recipe of the project's repository; none means a plain folder.
    pub git: Option<GitRecipe>,
    /// Environment of every call, beyond the fixed and the host's.
    pub env: Vec<(String, String)>,
    /// Shell commands that run before the first step.
    pub seed: Vec<Command>,
}

/// A shell command and its place in `scenario.toml`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The command line, with placeholders.
    pub line: String,
    /// Byte range of the command in `scenario.toml`.
    pub span: Range<usize>,
}

/// How the project's repository is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitRecipe {
    /// First branch.
    pub branch: String,
    /// URL of `origin`.
    pub origin: Option<String>,
    /// Commits, oldest first.
    pub commits: Vec<Commit>,
    /// Branches made after the commits.
    pub branches: Vec<Branch>,
    /// Worktrees made after the branches.
    pub worktrees: Vec<Worktree>,
    /// What is checked out in the end.
    pub checkout: Option<String>,
    /// Byte range of the recipe in `scenario.toml`.
    pub span: Range<usize>,
}

/// One commit of everything in the work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Message.
    pub message: String,
    /// Files written before: path and text.
    pub files: Vec<(String, String)>,
    /// Paths deleted before.
    pub delete: Vec<String>,
    /// Branch to commit on; made at HEAD when absent.
    pub branch: Option<String>,
    /// Replaces the last commit.
    pub amend: bool,
    /// Linked worktree to commit in.
    pub worktree: Option<String>,
    /// Tag put on the commit.
    pub tag: Option<String>,
}

/// One branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    /// Name.
    pub name: String,
    /// Revision it starts at; HEAD when absent.
    pub at: Option<String>,
}

/// One linked worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worktree {
    /// Name in git and in `${WORKTREE:name}`.
    pub name: String,
    /// Branch it has checked out; made at HEAD when absent.
    pub branch: String,
}

/// One checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    /// Branch or revision.
    pub at: String,
    /// Makes the branch at HEAD first.
    pub create: bool,
    /// Linked worktree to check out in.
    pub worktree: Option<String>,
}
