//! `hookbench man`: manual pages, made from the same text as `--help`.

use std::fs;
use std::path::Path;

use clap::CommandFactory;

use crate::cli::Cli;
use crate::failure::Failure;

/// The page of the whole command; with a folder, the page of every command is written there instead.
///
/// # Errors
/// A folder that cannot be made or written.
pub fn man(out: Option<&Path>) -> Result<String, Failure> {
    let Some(folder) = out else {
        let mut page = Vec::new();
        let rendered = clap_mangen::Man::new(Cli::command()).render(&mut page);
        rendered.map_err(|error| Failure::Internal(format!("the page cannot be made: {error}")))?;
        return Ok(String::from_utf8_lossy(&page).into_owned());
    };
    let written = fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Cli::command(), folder));
    written.map_err(|error| {
        Failure::usage(folder, format!("the pages cannot be written: {error}"), "name a folder that can be written")
    })?;
    Ok(format!("pages written to {}\n", folder.display()))
}
