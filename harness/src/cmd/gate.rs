//! `hookbench gate`: judges a saved run again, or by other gates. Nothing is run and nothing is written.
//!
//! The answers are those of the live run, because both come from one function over one fold of the events. Only gates
//! count here: findings of the run are the matter of `report`. A run that was stopped is not judged, as the live one
//! was not.

use std::fmt::Write as _;

use crate::cli::JudgeArgs;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::gate::{Gate, Stored, judge_all, load_gates};
use crate::record;
use crate::report::{json, terminal};
use crate::summary::Summary;

/// The table of gates, or the summary with them as JSON; and the code of the gates alone.
///
/// # Errors
/// A folder that holds no readable run, mistakes in gates, or no gate at all.
pub fn gate(args: &JudgeArgs) -> Result<(String, ExitCode), Failure> {
    let summary = record::replay(&args.run)?;
    let asked = load_gates(args.gates_file.as_deref(), &args.gates)?;
    let gates = if asked.is_empty() { own_gates(&summary)? } else { asked };
    if gates.is_empty() {
        let remedy = "give --gate or --gates-file, or write a hookbench.toml";
        return Err(Failure::usage(&args.run, "there is no gate to judge this run by", remedy));
    }
    let stored = Stored::load(&gates)?;
    let judged = if summary.complete() { judge_all(&gates, &summary, &stored) } else { Vec::new() };
    let summary = summary.with_gates(judged);
    let code = ExitCode::of_gates(&summary, args.strict);
    if args.json {
        return Ok((json::render(&summary), code));
    }
    let mut text = terminal::gate_table(&summary);
    // Writing into a string cannot fail.
    let _ = match code {
        ExitCode::Interrupted => writeln!(text, "the run was stopped before its end: no gate is judged"),
        code => writeln!(text, "exit {}: {}", code.code(), code.meaning()),
    };
    Ok((text, code))
}

/// The gates that the run was judged by when it was made.
fn own_gates(summary: &Summary) -> Result<Vec<Gate>, Failure> {
    let read = |name: &str, text: &str| {
        text.parse().map(|expr| Gate { name: name.to_owned(), text: text.to_owned(), expr }).map_err(|fault| {
            Failure::usage(format!("gate {name}"), format!("{fault}"), "judge the run by other gates with --gate")
        })
    };
    summary.gates().iter().map(|gate| read(&gate.name, &gate.expression)).collect()
}
