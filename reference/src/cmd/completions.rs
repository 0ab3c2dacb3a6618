//! `hookmem completions`: the script that lets a shell complete commands, flags and their values.

use std::io::Write;

use clap::{Args, Command};
use clap_complete::{Shell, generate};

use super::{Failure, written};

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// Which shell.
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the script.
///
/// # Errors
/// A closed stdout is none; any other fault of it is.
pub fn completions(args: &CompletionsArgs, mut command: Command, out: &mut dyn Write) -> Result<(), Failure> {
    let mut script = Vec::new();
    generate(args.shell, &mut command, "hookmem", &mut script);
    written(out.write_all(&script))
}
