//! `hookbench accept` and `hookbench reject`: what becomes of the texts that wait beside the goldens.

use std::fmt::Write as _;

use crate::cli::{Goldens, RunArgs};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::golden::{Pending, Writing, pending, printable, unreferenced};
use crate::problem::Problem;
use crate::scenario::Scenario;
use crate::selection::{matches, select};

/// Takes every chosen pending text as golden. Refused in CI.
///
/// # Errors
/// A golden that cannot be written; nothing is half-written.
pub fn accept(goldens: &Goldens, writing: Writing) -> Result<(String, ExitCode), Failure> {
    each(goldens, writing, "accepted", Pending::accept)
}

/// Throws every chosen pending text away; the goldens stay as they are. Refused in CI.
///
/// # Errors
/// A text that cannot be removed.
pub fn reject(goldens: &Goldens, writing: Writing) -> Result<(String, ExitCode), Failure> {
    each(goldens, writing, "rejected", Pending::reject)
}

fn each(
    goldens: &Goldens,
    writing: Writing,
    done: &str,
    act: fn(&Pending, Writing) -> Result<(), Problem>,
) -> Result<(String, ExitCode), Failure> {
    may_write(writing)?;
    let mut text = String::new();
    for (scenario, waiting) in chosen(goldens)? {
        for pending in waiting {
            act(&pending, writing)?;
            let _ = writeln!(text, "{done} {}", name(&scenario, &pending));
        }
    }
    if text.is_empty() {
        text.push_str("nothing is pending\n");
    }
    Ok((text, ExitCode::Pass))
}

/// Refuses in CI.
pub(super) fn may_write(writing: Writing) -> Result<(), Failure> {
    if writing == Writing::Pending {
        return Ok(());
    }
    let remedy = "accept goldens on your own machine, after `hookbench review`, and commit them";
    Err(Failure::usage("CI", "goldens are not written when CI is set", remedy))
}

/// The scenarios that were asked for, each with its pending texts that were asked for.
pub(super) fn chosen(goldens: &Goldens) -> Result<Vec<(Scenario, Vec<Pending>)>, Failure> {
    let scenarios = select(&goldens.scenarios)?;
    let steps = || scenarios.iter().flat_map(|scenario| &scenario.steps);
    for glob in &goldens.steps {
        if !steps().any(|step| matches(&step.name, glob)) {
            let remedy = "`hookbench run --list` names the steps; `*` stands for any text";
            return Err(Failure::usage("--step", format!("no step is called `{}`", printable(glob)), remedy));
        }
    }
    let asked = |step: &str| goldens.steps.is_empty() || goldens.steps.iter().any(|glob| matches(step, glob));
    let with_texts = scenarios.into_iter().map(|scenario| {
        let waiting = pending(&scenario).into_iter().filter(|pending| asked(&pending.step)).collect();
        (scenario, waiting)
    });
    Ok(with_texts.collect())
}

/// A pending text as people name it.
pub(super) fn name(scenario: &Scenario, pending: &Pending) -> String {
    format!("{} / {}", printable(&scenario.name), pending.step)
}

/// Lines for stderr about goldens that no step uses; empty where they are findings, and where there are none.
pub fn unused_note(args: &RunArgs, ci: Option<&str>) -> String {
    let mut note = String::new();
    if args.list || Writing::allowed(args.replay.no_write, ci) == Writing::Never {
        return note;
    }
    // What is wrong with a scenario is said by the run itself.
    for scenario in select(&args.replay.scenarios).unwrap_or_default() {
        for left in unreferenced(&scenario).unwrap_or_default() {
            let name = printable(&scenario.name);
            let _ = writeln!(
                note,
                "warning: no step of {name} uses {}; `hookbench review {name}` offers to remove it, in CI it fails",
                left.shown()
            );
        }
    }
    note
}
