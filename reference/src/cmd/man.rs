//! `hookmem man`: manual pages, made from the same text as `--help`.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Command};

use super::{Failure, written};

/// Arguments of `man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Folder for the pages of all commands, made when it does not exist.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Prints the page of the whole command; with a folder, writes the page of every command there instead.
///
/// # Errors
/// A folder that cannot be made or written.
pub fn man(args: &ManArgs, command: Command, out: &mut dyn Write) -> Result<(), Failure> {
    let Some(folder) = &args.out else {
        let mut page = Vec::new();
        clap_mangen::Man::new(command)
            .render(&mut page)
            .map_err(|error| format!("the page cannot be made: {error}"))?;
        return written(out.write_all(&page));
    };
    let pages = fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(command, folder));
    pages.map_err(|error| format!("{}: {error}; name a folder that can be written", folder.display()))?;
    written(writeln!(out, "pages written to {}", folder.display()))
}
