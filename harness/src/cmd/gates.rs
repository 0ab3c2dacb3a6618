//! The gates that a run is judged by: those of a file, then those of the command line.

use std::fs;
use std::path::PathBuf;

use crate::cli::GateArgs;
use crate::failure::Failure;
use crate::gate::{Gate, GateSyntax, parse_gates};
use crate::problem::Source;

/// Files of gates, the first of which that exists is read unless told otherwise.
const GATES_FILES: [&str; 2] = ["hookbench.toml", "scenarios/hookbench.toml"];

/// Gates of the file and of the command line.
///
/// # Errors
/// Every mistake in them, with its place.
pub(super) fn gates(args: &GateArgs) -> Result<Vec<Gate>, Failure> {
    if args.no_gates {
        return Ok(Vec::new());
    }
    let default = || GATES_FILES.into_iter().map(PathBuf::from).find(|path| path.is_file());
    let file = args.gates_file.clone().or_else(default);
    let mut gates = match file {
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
    for text in &args.gates {
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
