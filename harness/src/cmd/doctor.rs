//! `hookbench doctor`: looks at the machine, and tests the gates on it when asked to.

use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write};
use std::path::Path;

use crate::caller::Caller;
use crate::cli::DoctorArgs;
use crate::cmd::plan::{header, plan, target};
use crate::doctor::{
    Asked, DoctorFile, Evidence, Machine, MetricRound, Sample, judge, overall, record_rounds, self_test,
};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::replay::{Plan, Stop};
use crate::report::doctor::render;
use crate::run_event::Verdict;
use crate::selection::select;

/// Examines the machine; the report for stdout, and 0 when all that was asked holds, 3 when not, 4 when it is unclear.
///
/// # Errors
/// Mistakes in flags and scenarios, the interrupt, or a fault of the machinery.
pub fn doctor(args: &DoctorArgs, ci: Option<&str>) -> Result<(String, ExitCode), Failure> {
    let told = |what: &str| {
        // Talk goes to whoever waits at a terminal, and never among the data.
        if std::io::stderr().is_terminal() {
            let _ = writeln!(std::io::stderr(), "self-test: {what}");
        }
    };
    if !args.self_test {
        let interrupt = Interrupt::from_signals().map_err(Stop::Io)?;
        let machine = Machine::examine(&Caller::new(interrupt).map_err(Stop::Io)?, args.calls, args.replay.seed)?;
        return Ok((text(args, &machine, None), ExitCode::Pass));
    }
    let sample = Sample::write().map_err(|error| Failure::no_scratch(&error))?;
    let (plan, name) = plan_of(args, &sample, ci)?;
    let rows = args.save_rounds.as_deref().map(|path| create(path).map(|file| (path, file))).transpose()?;
    let caller = Caller::new(plan.interrupt.clone()).map_err(Stop::Io)?;
    let machine = Machine::examine(&caller, args.calls, args.replay.seed)?;
    let asked = Asked { n_trials: args.trials, max_time: args.max_time };
    let evidence = self_test(&plan, &header(&plan, name), asked, &mut { told })?;
    if let Some((path, file)) = rows {
        told("raw rounds");
        save_rounds(&plan, &evidence, args.rounds, path, file)?;
    }
    let code = match overall(&judge(&evidence)) {
        Verdict::Pass => ExitCode::Pass,
        Verdict::Fail => ExitCode::Gate,
        Verdict::Inconclusive | Verdict::Skipped => ExitCode::Inconclusive,
    };
    Ok((text(args, &machine, Some(&evidence)), code))
}

/// The plan of the self-test: what the user names, and the sample in place of what they do not.
fn plan_of(args: &DoctorArgs, sample: &Sample, ci: Option<&str>) -> Result<(Plan, String), Failure> {
    let replay = &args.replay;
    let is_named = !replay.hooks.is_empty() || replay.settings.is_some();
    let target = if is_named { target(replay)? } else { Sample::hook().map_err(Stop::Io)?.into() };
    let named = if replay.scenarios.is_empty() {
        vec![sample.folder().to_string_lossy().into_owned()]
    } else if !is_named {
        let remedy = "name a hook with --hook, or leave the scenarios out";
        return Err(Failure::usage("doctor", "the scenarios named need the hook that they were made for", remedy));
    } else {
        replay.scenarios.clone()
    };
    let (plan, name) = plan(replay, target, select(&named)?, 1, 1, ci)?;
    if plan.scenarios.is_empty() {
        let remedy = "name another client with --host, or leave the option out";
        return Err(Failure::usage("--host", "no scenario is made for this client", remedy));
    }
    Ok((plan, name))
}

fn text(args: &DoctorArgs, machine: &Machine, evidence: Option<&Evidence>) -> String {
    let checks = evidence.map(judge).unwrap_or_default();
    let tested = evidence.map(|evidence| (evidence, checks.as_slice()));
    if args.json { DoctorFile::of(machine, tested).to_text() } else { render(machine, tested) }
}

fn create(path: &Path) -> Result<BufWriter<File>, Failure> {
    File::create(path).map(BufWriter::new).map_err(|error| unwritable(path, &error))
}

fn save_rounds(
    plan: &Plan,
    evidence: &Evidence,
    n: u32,
    path: &Path,
    mut file: BufWriter<File>,
) -> Result<(), Failure> {
    let mut fault = None;
    let mut keep = |line: &MetricRound| {
        let written = serde_json::to_writer(&mut file, line).map_err(std::io::Error::from);
        written.and_then(|()| file.write_all(b"\n")).map_err(|error| {
            fault = Some(unwritable(path, &error));
            Stop::Io(error)
        })
    };
    let outcome = record_rounds(plan, evidence.control.burn, n, &mut keep);
    if let Some(fault) = fault {
        return Err(fault);
    }
    // What was measured until an interrupt is kept.
    file.flush().map_err(|error| unwritable(path, &error))?;
    Ok(outcome?)
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(path, format!("the rounds cannot be written: {error}"), "name a file in a folder that exists")
}
