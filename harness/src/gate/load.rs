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

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

    use super::*;

    #[test]
    fn gates_of_the_file_come_before_those_of_the_command_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("gates.toml");
        fs::write(&file, "[gates]\nz = \"leak.count == 0\"\na = \"flaky.count == 0\"\n").unwrap();
        let texts = ["b: golden.failed == 0".to_owned(), "timeout.count == 0".to_owned()];
        let gates = load_gates(Some(&file), &texts).unwrap();
        let names: Vec<&str> = gates.iter().map(|gate| &*gate.name).collect();
        assert_eq!(names, ["z", "a", "b", "timeout.count == 0"]);
    }

    #[test]
    fn what_cannot_be_read_as_gates_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("gates.toml");
        let missing = load_gates(Some(&file), &[]).unwrap_err().to_string();
        assert!(missing.contains("gates.toml") && missing.contains("cannot be read"), "{missing}");
        fs::write(&file, "[gates]\na = \"leek.count == 0\"\n").unwrap();
        let wrong = load_gates(Some(&file), &[]).unwrap_err().to_string();
        assert!(wrong.contains("gates.toml:2") && wrong.contains("unknown metric `leek.count`"), "{wrong}");
        fs::write(&file, "").unwrap();
        let refused = |text: &str| load_gates(Some(&file), &[text.to_owned()]).unwrap_err().to_string();
        assert!(refused("a: leek.count == 0").contains("unknown metric `leek.count`"));
        assert!(refused("a: leak.count[event=Prompt] == 0").contains("gate `a`: no event is called `Prompt`"));
        assert_eq!(load_gates(Some(&file), &["leak.count[event=*Prompt*] == 0".to_owned()]).unwrap().len(), 1);
    }
}
