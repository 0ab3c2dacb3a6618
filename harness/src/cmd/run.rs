//! `hookbench run`: load, plan, replay, gate, report.
//!
//! A run that the user stops keeps what it has: its events are saved and reported, no gate is judged, and the saved run
//! lacks its last event, which is how a reader knows.

use std::fmt::Write as _;

use crate::cli::RunArgs;
use crate::cmd::gates::gates;
use crate::cmd::plan::{header, plan, tested_hook};
use crate::cmd::saved_run::{check_report_places, saved_run, write_reports};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::gate::{Stored, judge_all};
use crate::progress::Progress;
use crate::recording::Recording;
use crate::replay::{Stop, replay};
use crate::report::{json, terminal};
use crate::run_event::RunEvent;
use crate::scenario::Scenario;
use crate::selection::{ROOT, select};

/// Runs the scenarios; the report for stdout, and the exit code.
///
/// # Errors
/// Mistakes in flags, scenarios, goldens or gates, all found before anything runs where that is possible.
pub fn run(args: &RunArgs, ci: Option<&str>) -> Result<(String, ExitCode), Failure> {
    let scenarios = select(&args.replay.scenarios)?;
    let gates = gates(&args.gate)?;
    let stored = Stored::load(&gates)?;
    if args.list {
        return Ok((list(&scenarios), ExitCode::Pass));
    }
    let plan = plan(&args.replay, tested_hook(&args.replay)?, scenarios, args.repeat, args.jobs, ci)?;
    check_report_places(&args.out)?;
    let mut recording = Recording::saved(saved_run(&args.out)?, Progress::of_known_length(plan.n_calls()));
    recording.take(RunEvent::RunStarted(header(&plan)));
    match replay(&plan, &mut |event| recording.take(event)) {
        Err(Stop::Interrupted) => {}
        Err(stop) => return Err(stop.into()),
        Ok(()) => {
            // Gates look at the whole run, so they are judged on its summary and become its last events.
            let judged = judge_all(&gates, recording.summary(), &stored);
            for event in judged.into_iter().map(RunEvent::GateJudged).chain([RunEvent::RunFinished]) {
                recording.take(event);
            }
        }
    }
    let summary = recording.finish()?;
    write_reports(&args.out, &summary)?;
    let text = if args.out.json { json::render(&summary) } else { terminal::render(&summary) };
    Ok((text, ExitCode::of(&summary, args.gate.strict)))
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
