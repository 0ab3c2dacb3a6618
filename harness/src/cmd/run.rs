//! `hookbench run`: load, plan, replay, gate, report.
//!
//! A run that the user stops keeps what it has: its events are saved and reported, no gate is judged, and the saved run
//! lacks its last event, which is how a reader knows and `--resume` goes on. A part of a run (`--shard`) judges no gate.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use crate::cli::{GateArgs, OutArgs, PaceArgs, ReplayArgs, RunArgs};
use crate::cmd::gates::gates;
use crate::cmd::part::take_part;
use crate::cmd::plan::{header, plan, target};
use crate::cmd::saved_run::{check_report_places, saved_run, write_reports};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::gate::Stored;
use crate::golden::harmless;
use crate::instructions::{self, Measured};
use crate::pace::{self, Behind, OpenLoop};
use crate::progress::Progress;
use crate::recording::Recording;
use crate::replay::{Kept, Plan, replay_rest};
use crate::report::{json, terminal};
use crate::resume::{Partial, Resumed, resume};
use crate::run_event::{Arm, RunEvent, RunHeader};
use crate::scenario::Scenario;
use crate::selection::{ROOT, select};
use crate::shard::Slice;
use crate::summary::Summary;

/// Runs the scenarios; the report for stdout, and the exit code.
///
/// # Errors
/// Mistakes in flags, scenarios, goldens or gates, all found before anything runs where that is possible.
pub fn run(args: &RunArgs, ci: Option<&str>, note: &dyn Fn(&str)) -> Result<(String, ExitCode), Failure> {
    let scenarios = select(&args.replay.scenarios)?;
    if args.list {
        return Ok((list(&scenarios), ExitCode::Pass));
    }
    let how = How {
        replay: &args.replay,
        pace: &args.pace,
        gate: &args.gate,
        out: &args.out,
        repeat: args.repeat,
        jobs: args.jobs,
        counts: args.instructions,
        slice: args.shard.slice(|name| std::env::var(name).ok(), note)?,
        resume: args.resume.as_deref(),
    };
    replayed(&how, scenarios, ci, note)
}

/// What a replay of one target is asked to do.
pub(super) struct How<'a> {
    /// What is called with what.
    pub(super) replay: &'a ReplayArgs,
    /// By which schedule.
    pub(super) pace: &'a PaceArgs,
    /// What judges it.
    pub(super) gate: &'a GateArgs,
    /// Where it goes.
    pub(super) out: &'a OutArgs,
    /// Repetitions of every scenario.
    pub(super) repeat: u32,
    /// Scenarios side by side.
    pub(super) jobs: u16,
    /// Counts the instructions of every step.
    pub(super) counts: bool,
    /// The part of the scenarios that is done.
    pub(super) slice: Option<Slice>,
    /// A saved run to go on with.
    pub(super) resume: Option<&'a Path>,
}

/// One target over the scenarios, each call after the last or by a schedule.
///
/// # Errors
/// As for [`run`].
pub(super) fn replayed(
    how: &How<'_>,
    scenarios: Vec<Scenario>,
    ci: Option<&str>,
    note: &dyn Fn(&str),
) -> Result<(String, ExitCode), Failure> {
    let How { replay: args, pace, gate, out, .. } = *how;
    let gates = gates(gate)?;
    let stored = Stored::load(&gates)?;
    let (mut plan, name) = plan(args, target(args)?, scenarios, how.repeat, how.jobs, ci)?;
    let open = open_loop(pace, &plan)?;
    check_instruments(how.counts)?;
    check_report_places(out)?;
    let mut behind = None;
    let mut header = RunHeader { pace: open.map(|open| open.to_string()), ..header(&plan, name) };
    if let Some(slice) = how.slice {
        take_part(slice, &mut plan, &mut header, note);
    }
    let progress = Progress::of_known_length(plan.n_calls());
    let (mut recording, done) = match how.resume.map(|folder| resume(folder, &plan, &header)).transpose()? {
        None => {
            let mut recording = Recording::saved(saved_run(out)?, progress);
            recording.take(RunEvent::RunStarted(header));
            (recording, Kept::default())
        }
        Some(Resumed::Partial(partial)) => {
            let Partial { writer, summary, kept } = *partial;
            note(&format!("going on after {} whole rounds of scenarios", kept.done.len()));
            (Recording::resumed(writer, summary, progress), kept)
        }
        Some(Resumed::Complete(summary)) => {
            note("the run is complete already: nothing was replayed");
            return reported(out, gate, &summary, None);
        }
    };
    let mut outcome = match open {
        None => replay_rest(&plan, &done, &mut |event| recording.take(event)),
        Some(open) => pace::replay(&plan, open, &mut |event| recording.take(event)).map(|seen| behind = Some(seen)),
    };
    if how.counts && outcome.is_ok() {
        let counted = instructions::measure(&plan, &plan.target, Arm::Candidate, &mut |event| recording.take(event));
        outcome = counted.map(|counted| uncounted(&counted, note));
    }
    recording.close(outcome, &gates, &stored)?;
    reported(out, gate, &recording.finish()?, behind)
}

/// Writes the reports that were asked for.
fn reported(
    out: &OutArgs,
    gate: &GateArgs,
    summary: &Summary,
    behind: Option<Behind>,
) -> Result<(String, ExitCode), Failure> {
    write_reports(out, summary)?;
    let mut text = if out.json { json::render(summary) } else { terminal::render(summary) };
    if let Some(behind) = behind.filter(|_| !out.json) {
        let _ = writeln!(text, "schedule: {}", kept(behind));
    }
    Ok((text, ExitCode::of(summary, gate.strict)))
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

/// Says which steps have no count, and why.
pub(super) fn uncounted(measured: &Option<Measured>, note: &dyn Fn(&str)) {
    if let Some(measured) = measured.as_ref().filter(|measured| !measured.otherwise.is_empty()) {
        note(&format!(
            "instructions: no count for {}: under valgrind the hook gives another answer, most likely because a time \
             limit of its own passes; let it lift that where {} is set",
            measured.otherwise.join(", "),
            instructions::VARIABLE
        ));
    }
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
        let (name, title) = (harmless(&scenario.name), harmless(&scenario.title));
        let _ = writeln!(text, "{name}: {title} (client {})", scenario.host);
        for step in &scenario.steps {
            let _ = writeln!(text, "    {} ({})", harmless(&step.name), step.event);
        }
    }
    if scenarios.is_empty() {
        let _ = writeln!(text, "no scenarios below {ROOT}/");
    }
    text
}
