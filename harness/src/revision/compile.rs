//! The build command of a revision.
//!
//! Runs in the folder of the worktree that corresponds to where the user stands, when that has a `Cargo.toml`, else at
//! its root. Variables that would lead cargo or git back into the user's own tree are taken out. A build is not
//! measured, so it needs no launcher.

use std::process::{Command, Stdio};

use super::rewrite::Places;
use crate::failure::Failure;

/// Lines of a failed build's stderr that are shown.
const SHOWN_LINES: usize = 15;

/// What builds a Rust project.
const CARGO: &str = "cargo build --release --bins --locked";

/// Variables that name the user's own folders.
const LEADING_BACK: [&str; 6] =
    ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"];

/// The build command of a revision that names none; `None` when it is no Rust project.
pub(super) fn default_command(places: &Places) -> Option<&'static str> {
    places.build_folders().iter().any(|folder| folder.join("Cargo.toml").is_file()).then_some(CARGO)
}

/// Runs the build command to its end.
pub(super) fn run(command: &str, places: &Places, revision: &str) -> Result<(), Failure> {
    let [here, root] = places.build_folders();
    let folder = if here.join("Cargo.toml").is_file() { here } else { root };
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", command]).current_dir(folder).stdin(Stdio::null()).env("CARGO_TERM_COLOR", "never");
    LEADING_BACK.iter().for_each(|name| {
        shell.env_remove(name);
    });
    let output = shell.output().map_err(|error| {
        Failure::usage("--build", format!("`{command}` cannot run: {error}"), "correct the command")
    })?;
    if output.status.success() {
        return Ok(());
    }
    let message = format!("`{command}` failed at revision {revision} ({}):\n{}", output.status, tail(&output.stderr));
    Err(Failure::usage("--build", message, "name with --build a command that builds this revision"))
}

fn tail(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let shown = lines.get(lines.len().saturating_sub(SHOWN_LINES)..).unwrap_or_default();
    if shown.is_empty() { "    (it said nothing)".to_owned() } else { format!("    {}", shown.join("\n    ")) }
}
