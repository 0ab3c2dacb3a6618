//! The gates of a command: those of a file, then those of the command line.

use std::fs;
use std::path::{Path, PathBuf};

use super::file::{Gate, parse_gates};
use super::parse::GateSyntax;
use crate::failure::Failure;
use crate::problem::Source;

/// Files of gates, the first of which that exists is read unless told otherwise.
const GATES_FILES: [&str; 2] = ["hookbench.toml", "scenarios/hookbench.toml"];

/// Reads the gates of a file, by default `hookbench.toml` here or in `scenarios/` when there is one, and of `--gate`s.
///
/// # Errors
/// Every mistake in a gate with its place; a file that cannot be read; a selector that no event of the host matches.
pub fn load_gates(file: Option<&Path>, texts: &[String]) -> Result<Vec<Gate>, Failure> {
    let default = || GATES_FILES.into_iter().map(PathBuf::from).find(|path| path.is_file());
    let mut gates = match file.map(Path::to_owned).or_else(default) {
        None => Vec::new(),
        Some(path) => {
            let text = fs::read_to_string(&path).map_err(|error| {
                Failure::usage(
                    &path,
                    format!("cannot be read: {error}"),
                    "name a file of gates, or leave --gates-file out",
                )
            })?;
            parse_gates(&path, &text).map_err(|faults| Failure::gates(&text, faults))?
        }
    };
    for text in texts {
        let problem = |fault: GateSyntax| {
            Source::new("--gate", text.as_str()).problem(fault.at..fault.at, fault.message, fault.remedy)
        };
        gates.push(Gate::parse(text).map_err(problem)?);
    }
    for gate in &gates {
        if let Some(glob) = gate.expr.selector.unknown_event() {
            let message =
                format!("gate `{}`: no event is called `{glob}`, so it would never judge anything", gate.name);
            return Err(Failure::usage("gates", message, "name one of the host's events, with `*` for any text"));
        }
    }
    Ok(gates)
}
