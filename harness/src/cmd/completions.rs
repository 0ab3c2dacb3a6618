//! `hookbench completions`: the script that lets a shell complete commands, flags and their values.

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use crate::cli::Cli;

/// The script for a shell, as text.
pub fn completions(shell: Shell) -> String {
    let mut script = Vec::new();
    generate(shell, &mut Cli::command(), "hookbench", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}
