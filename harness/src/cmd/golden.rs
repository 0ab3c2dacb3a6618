//! `hookbench review` and `hookbench accept`: what the last run delivered, against what a person accepted.

use std::fmt::Write as _;

use crate::cli::Selected;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::golden::{Writing, pending, unreferenced};
use crate::selection::select;

/// Every pending difference, and the goldens that no step uses.
///
/// # Errors
/// A scenario or golden that cannot be read.
pub fn review(selected: &Selected) -> Result<(String, ExitCode), Failure> {
    let mut text = String::new();
    let (mut n_pending, mut n_unused) = (0, 0);
    for scenario in select(&selected.scenarios)? {
        for pending in pending(&scenario) {
            let _ = writeln!(text, "{} / {}\n{}", scenario.name, pending.step, pending.diff()?);
            n_pending += 1;
        }
        for path in unreferenced(&scenario)? {
            let _ = writeln!(text, "{}: no step uses this golden; delete it", path.display());
            n_unused += 1;
        }
    }
    let _ = writeln!(text, "{n_pending} pending, {n_unused} unused");
    if n_pending > 0 {
        text.push_str("keep them with `hookbench accept`\n");
    }
    Ok((text, if n_pending + n_unused == 0 { ExitCode::Pass } else { ExitCode::Behaviour }))
}

/// Takes every pending text as golden. Refused in CI.
///
/// # Errors
/// A golden that cannot be written; nothing is half-written.
pub fn accept(selected: &Selected, writing: Writing) -> Result<(String, ExitCode), Failure> {
    if writing == Writing::Never {
        let remedy = "accept goldens on your own machine, after `hookbench review`, and commit them";
        return Err(Failure::usage("CI", "goldens are not written when CI is set", remedy));
    }
    let mut text = String::new();
    for scenario in select(&selected.scenarios)? {
        for pending in pending(&scenario) {
            let name = format!("{} / {}", scenario.name, pending.step);
            pending.accept(writing)?;
            let _ = writeln!(text, "accepted {name}");
        }
    }
    if text.is_empty() {
        text.push_str("nothing is pending\n");
    }
    Ok((text, ExitCode::Pass))
}
