//! Changes between steps: files, transcripts, repository, commands.
//!
//! A change that cannot be made is the scenario author's problem and names the step.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::shell::{self, Runner};
use super::{Sandbox, repository};
use crate::problem::Problem;
use crate::scenario::{Action, Step, Text};

impl Sandbox<'_> {
    pub(super) fn apply(&self, step: &Step, action: &Action, run: Runner<'_>) -> Result<(), Problem> {
        let refused = |what: &str, error: &dyn std::fmt::Display| {
            self.step_problem(step, format!("{what}: {error}"), "correct this entry of `before`")
        };
        match action {
            Action::TranscriptAppend(text) => {
                let text = self.layout.expand_json(text, &step.session);
                append(&self.transcript(step), &text).map_err(|error| refused("cannot add to the transcript", &error))
            }
            Action::Write(file) => {
                let (path, text) = self.file(step, file)?;
                write(&path, &text).map_err(|error| refused(&format!("cannot write `{}`", file.path), &error))
            }
            Action::Append(file) => {
                let (path, text) = self.file(step, file)?;
                append(&path, &text).map_err(|error| refused(&format!("cannot add to `{}`", file.path), &error))
            }
            Action::Delete(path) => {
                let full = self.place(step, path)?;
                delete(&full).map_err(|error| refused(&format!("cannot delete `{path}`"), &error))
            }
            Action::Rename { from, to } => {
                let (old, new) = (self.place(step, from)?, self.place(step, to)?);
                rename(&old, &new).map_err(|error| refused(&format!("cannot rename `{from}` to `{to}`"), &error))
            }
            Action::Symlink { path, target } => {
                let full = self.place(step, path)?;
                let target = self.layout.expand(target, &step.session);
                symlink(&full, &target).map_err(|error| refused(&format!("cannot link `{path}`"), &error))
            }
            Action::CopyTree(folder) => copy_tree(folder, &self.layout.project)
                .map_err(|error| refused(&format!("cannot copy {}", folder.display()), &error)),
            Action::GitCommit(commit) => repository::commit(&self.layout, commit, &self.clock)
                .map_err(|error| refused(&format!("cannot commit `{}`", commit.message), &error)),
            Action::GitCheckout(checkout) => repository::checkout(&self.layout, checkout)
                .map_err(|error| refused(&format!("cannot check out `{}`", checkout.at), &error)),
            Action::GitBranch(branch) => repository::branch(&self.layout, branch)
                .map_err(|error| refused(&format!("cannot make branch `{}`", branch.name), &error)),
            Action::GitWorktree(worktree) => repository::worktree(&self.layout, worktree)
                .map_err(|error| refused(&format!("cannot make worktree `{}`", worktree.name), &error)),
            Action::Run(command) => {
                let text = self.layout.expand(&command.line, &step.session);
                shell::must_succeed(run, &self.shell_call(text), &self.scenario.source, command)
            }
        }
    }

    fn file(&self, step: &Step, file: &Text) -> Result<(PathBuf, String), Problem> {
        Ok((self.place(step, &file.path)?, self.layout.expand(&file.text, &step.session)))
    }
}

/// Copies the content of a folder over another, file by file; links stay links.
pub(super) fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_tree(&entry.path(), &target)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(entry.path())?, target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Writes a file and the folders above it.
pub(super) fn write(path: &Path, text: &str) -> io::Result<()> {
    make_parent(path)?;
    fs::write(path, text)
}

fn append(path: &Path, text: &str) -> io::Result<()> {
    make_parent(path)?;
    fs::File::options().append(true).create(true).open(path)?.write_all(text.as_bytes())
}

/// Deletes a file, a link or a folder with its content.
pub(super) fn delete(path: &Path) -> io::Result<()> {
    if path.is_dir() && !path.is_symlink() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

fn rename(from: &Path, to: &Path) -> io::Result<()> {
    make_parent(to)?;
    fs::rename(from, to)
}

fn symlink(path: &Path, target: &str) -> io::Result<()> {
    make_parent(path)?;
    std::os::unix::fs::symlink(target, path)
}

fn make_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}
