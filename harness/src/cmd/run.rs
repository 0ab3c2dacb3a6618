//! `hookbench run`: load, plan, replay, gate, report.
//!
//! A run that the user stops keeps what it has: its events are saved and reported, no gate is judged, and the saved run
//! lacks its last event, which is how a reader knows.

use std::fmt::Write as _;
use std::time::Duration;

use crate::cli::{GateArgs, OutArgs, PaceArgs, ReplayArgs, RunArgs};
use crate::cmd::gates::gates;
use crate::cmd::plan::{header, plan, target};
use crate::cmd::saved_run::{check_report_places, saved_run, write_reports};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::gate::Stored;
use crate::instructions;
use crate::pace::{self, Behind, OpenLoop};
use crate::progress::Progress;
use crate::recording::Recording;
use crate::replay::{Plan, replay};
use crate::report::{json, terminal};
use crate::run_event::{Arm, RunEvent, RunHeader};
use crate::scenario::Scenario;
use crate::selection::{ROOT, select};

/// Runs the scenarios; the report for stdout, and the exit code.
///
/// # Errors
/// Mistakes in flags, scenarios, goldens or gates, all found before anything runs where that is possible.
pub fn run(args: &RunArgs, ci: Option<&str>) -> Result<(String, ExitCode), Failure> {
    let scenarios = select(&args.replay.scenarios)?;
    if args.list {
        return Ok((list(&scenarios), ExitCode::Pass));
    }
    let how = How { repeat: args.repeat, jobs: args.jobs, counts: args.instructions };
    replayed(&args.replay, &args.pace, &args.gate, &args.out, how, scenarios, ci)
}

/// How often, how many side by side, and whether instructions are counted.
pub(super) struct How {
    /// Repetitions of every scenario.
    pub(super) repeat: u32,
    /// Scenarios side by side.
    pub(super) jobs: u16,
    /// Counts the instructions of every step.
    pub(super) counts: bool,
}

/// One target over the scenarios, each call after the last or by a schedule.
///
/// # Errors
/// As for [`run`].
pub(super) fn replayed(
    args: &ReplayArgs,
    pace: &PaceArgs,
    gate: &GateArgs,
    out: &OutArgs,
    how: How,
    scenarios: Vec<Scenario>,
    ci: Option<&str>,
) -> Result<(String, ExitCode), Failure> {
    let gates = gates(gate)?;
    let stored = Stored::load(&gates)?;
    let (plan, name) = plan(args, target(args)?, scenarios, how.repeat, how.jobs, ci)?;
    let open = open_loop(pace, &plan)?;
    check_instruments(how.counts)?;
    check_report_places(out)?;
    let mut behind = None;
    let mut recording = Recording::saved(saved_run(out)?, Progress::of_known_length(plan.n_calls()));
    let pace = open.map(|open| open.to_string());
    recording.take(RunEvent::RunStarted(RunHeader { pace, ..header(&plan, name) }));
    let mut outcome = match open {
        None => replay(&plan, &mut |event| recording.take(event)),
        Some(open) => pace::replay(&plan, open, &mut |event| recording.take(event)).map(|seen| behind = Some(seen)),
    };
    if how.counts && outcome.is_ok() {
        outcome =
            instructions::measure(&plan, &plan.target, Arm::Candidate, &mut |event| recording.take(event)).map(drop);
    }
    recording.close(outcome, &gates, &stored)?;
    let summary = recording.finish()?;
    write_reports(out, &summary)?;
    let mut text = if out.json { json::render(&summary) } else { terminal::render(&summary) };
    if let Some(behind) = behind.filter(|_| !out.json) {
        let _ = writeln!(text, "schedule: {}", kept(behind));
    }
    Ok((text, ExitCode::of(&summary, gate.strict)))
}

/// The schedule that was asked for, if the scenarios can keep it.
fn open_loop(args: &PaceArgs, plan: &Plan) -> Result<Option<OpenLoop>, Failure> {
    let Some(pace) = args.pace else { return Ok(None) };
    pace::check(plan, pace)?;
    Ok(Some(OpenLoop { pace, n_sessions: usize::from(args.sessions) }))
}

/// Finds out before the run that nothing could count its instructions.
pub(super) fn check_instruments(wanted: bool) -> Result<(), Failure> {
    if wanted && instructions::valgrind().is_none() {
        let remedy = "install valgrind, or do without instructions";
        return Err(Failure::usage("instructions", "there is no valgrind on PATH", remedy));
    }
    Ok(())
}

/// How well the replayer kept to the schedule: more than a millisecond is worth a word.
fn kept(behind: Behind) -> String {
    let Behind { n_calls, most } = behind;
    let most_ms = most.as_secs_f64() * 1e3;
    match most > Duration::from_millis(1) {
        false => format!("kept for all {n_calls} calls"),
        true => format!("the replayer itself began a call up to {most_ms:.1} ms behind; no figure contains that"),
    }
}

fn list(scenarios: &[Scenario]) -> String {
    let mut text = String::new();
    for scenario in scenarios {
        let _ = writeln!(text, "{}: {} (client {})", scenario.name, scenario.title, scenario.host);
        for step in &scenario.steps {
            let _ = writeln!(text, "    {} ({})", step.name, step.event);
        }
    }
    if scenarios.is_empty() {
        let _ = writeln!(text, "no scenarios below {ROOT}/");
    }
    text
}
