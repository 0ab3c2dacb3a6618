//! Which project a directory belongs to, so that memories meet again and never mix.
//!
//! A project is a git repository (worktrees, sub-folders, symlinks and renames lead to the same one) or,
//! without git, one folder. `$HOME`, `/` and missing directories are no project. Resolving reads a few small
//! files, runs no program and writes nothing; only [`Registry::register`] writes, and only when a
//! memory is captured.
//!
//! | directory of the call | project |
//! |---|---|
//! | inside a repository, at any depth, also through a symlink | that repository |
//! | linked worktree, wherever it is | the repository it belongs to |
//! | submodule | a project of its own |
//! | repository nested in another | a project of its own |
//! | no repository, inside `CLAUDE_PROJECT_DIR` | the folder `CLAUDE_PROJECT_DIR` |
//! | no repository otherwise | that very folder |
//! | missing directory | `CLAUDE_PROJECT_DIR` when that exists, else none |
//! | `$HOME`, `/` | none |
//! | below `$HOME` when only `$HOME` itself is a repository | as without a repository |
//! | renamed or moved on the same disk | the same project (same directory, device and birth time) |
//! | moved to another disk | the same project when its `origin` URL is the same and the old place is gone |
//! | second clone of one `origin` while the first exists | a project of its own |

mod locate;
mod registry;

pub use locate::{GitPlace, Place, locate};
pub use registry::{Project, Registry, RegistryError};
