//! `hookbench run`: load, plan, replay, gate, report.
//!
//! A run that the user stops keeps what it has: its events are saved and reported, no gate is judged, and the saved run
//! lacks its last event, which is how a reader knows.

use std::fmt::Write as _;
use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hook_contract::HostProfile;
use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::RunArgs;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::gate::{Gate, GateSyntax, judge, parse_gates};
use crate::golden::Writing;
use crate::hook::quoted;
use crate::instructions;
use crate::interrupt::Interrupt;
use crate::machine;
use crate::pace::{self, Behind, OpenLoop};
use crate::problem::Source;
use crate::record::{EVENTS_FILE, RunWriter};
use crate::replay::{Plan, Stop, replay};
use crate::report::{json, junit, markdown, terminal};
use crate::run_event::{Arm, RunEvent, RunHeader};
use crate::scenario::{HostRange, Scenario};
use crate::selection::{ROOT, select};
use crate::summary::Summary;
use crate::target::{Given, bundled};

/// Where a run is saved unless told otherwise.
const LAST: &str = ".hookbench/last";

/// Files of gates, the first of which that exists is read unless told otherwise.
const GATES_FILES: [&str; 2] = ["hookbench.toml", "scenarios/hookbench.toml"];

/// Runs the scenarios; the report for stdout, and the exit code.
///
/// # Errors
/// Mistakes in flags, scenarios, goldens or gates, all found before anything runs where that is possible.
pub fn run(args: &RunArgs, ci: Option<&str>) -> Result<(String, ExitCode), Failure> {
    let scenarios = select(&args.scenarios)?;
    let gates = gates(args)?;
    if args.list {
        return Ok((list(&scenarios), ExitCode::Pass));
    }
    let (plan, name) = plan(args, scenarios, ci)?;
    check_instruments(args, &plan)?;
    check_report_places(args)?;
    let open = args.pace.map(|pace| OpenLoop { pace, n_sessions: usize::from(args.sessions) });
    let (mut behind, mut measured) = (None, None);
    let mut writer = saved_run(args)?;
    let mut summary = Summary::default();
    let mut fault = None;
    let progress = progress(&plan);
    let mut consume = |event: RunEvent| {
        if let RunEvent::StepFinished(step) = &event {
            progress.inc(1);
            progress.set_message(format!("{} / {}", step.scenario, step.step));
        }
        summary.observe(&event);
        fault = fault.take().or_else(|| writer.write(&event).err());
    };
    consume(RunEvent::RunStarted(header(&plan, name, open)));
    let mut outcome = match open {
        None => replay(&plan, &mut consume),
        Some(open) => pace::replay(&plan, open, &mut consume).map(|seen| behind = Some(seen)),
    };
    if args.instructions && outcome.is_ok() {
        outcome = instructions::measure(&plan, &plan.target, Arm::Candidate, &mut consume).map(|seen| measured = seen);
    }
    progress.finish_and_clear();
    match outcome {
        Err(Stop::Interrupted) => {}
        Err(stop) => return Err(stop.into()),
        Ok(()) => {
            // Gates look at the whole run, so they are judged on its summary and become its last events.
            let judged: Vec<_> = gates.iter().map(|gate| judge(gate, &summary)).collect();
            for event in judged.into_iter().map(RunEvent::GateJudged).chain([RunEvent::RunFinished]) {
                summary.observe(&event);
                fault = fault.take().or_else(|| writer.write(&event).err());
            }
        }
    }
    if let Some(fault) = fault {
        return Err(fault.into());
    }
    writer.finish(&summary)?;
    write_report(args.junit.as_deref(), &junit::render(&summary))?;
    write_report(args.markdown.as_deref(), &markdown::render(&summary))?;
    let mut text = if args.json { json::render(&summary) } else { terminal::render(&summary) };
    if let Some(behind) = behind.filter(|_| !args.json) {
        let _ = writeln!(text, "schedule: {}", kept(behind));
    }
    if let Some(measured) = measured.filter(|measured| !args.json && !measured.otherwise.is_empty()) {
        let _ = writeln!(
            text,
            "instructions: no count for {}: under valgrind the hook gives another answer, most likely because a time \
             limit of its own passes; let it lift that where {} is set",
            measured.otherwise.join(", "),
            instructions::VARIABLE
        );
    }
    Ok((text, ExitCode::of(&summary, args.strict)))
}

/// The plan, and the target's name for reports.
fn plan(args: &RunArgs, scenarios: Vec<Scenario>, ci: Option<&str>) -> Result<(Plan, String), Failure> {
    let corpora = corpora(args, &scenarios)?;
    let given = Given { hooks: &args.hooks, settings: args.settings.as_deref(), no_shell: args.no_shell };
    let target = given.target()?;
    let known: Vec<String> = HostProfile::recorded().iter().map(|host| host.version.to_string()).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    if let Some(asked) = &args.host
        && HostRange::parse(&format!("={asked}")).is_err()
    {
        let remedy = format!("name a version of three numbers; those known here are {}", known.join(" and "));
        return Err(Failure::usage("--host", format!("`{asked}` is not a version of the client"), remedy));
    }
    let hosts = scenarios.into_iter().filter_map(|scenario| {
        let version = match &args.host {
            Some(asked) => scenario.host.admits(asked).then_some(asked.as_str()),
            None => scenario.host.newest(&known),
        }?;
        Some((scenario, HostProfile::nearest(version)))
    });
    let (scenarios, name) = target.narrow(hosts.collect());
    let plan = Plan {
        scenarios,
        target,
        repeat: args.repeat,
        seed: args.seed,
        jobs: usize::from(args.jobs),
        longest: Duration::from_secs(args.timeout),
        writing: Writing::allowed(args.no_write, ci),
        parent: std::env::temp_dir(),
        corpora,
        hook_program: bundled().map_or_else(|| "hookmem".to_owned(), |path| quoted(&path.to_string_lossy())),
        path: std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into()),
        keep: args.keep,
        interrupt: Interrupt::from_signals()
            .map_err(|error| Failure::Internal(format!("cannot listen for Ctrl-C: {error}")))?,
    };
    Ok((plan, name))
}

fn corpora(args: &RunArgs, scenarios: &[Scenario]) -> Result<PathBuf, Failure> {
    if let Some(folder) = &args.corpora {
        return folder.canonicalize().map_err(|error| {
            Failure::usage(
                folder,
                format!("cannot be used as the folder of corpora: {error}"),
                "name a folder that exists",
            )
        });
    }
    let near = scenarios.first().and_then(|scenario| scenario.dir.canonicalize().ok());
    let found = near.as_deref().into_iter().flat_map(Path::ancestors).map(|folder| folder.join("corpora"));
    Ok(found.into_iter().find(|folder| folder.is_dir()).unwrap_or_else(|| PathBuf::from("/nonexistent/corpora")))
}

/// Gates of the file and of the command line.
fn gates(args: &RunArgs) -> Result<Vec<Gate>, Failure> {
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

/// Opens the saved run. The default folder is replaced; a folder that the user names must be free.
fn saved_run(args: &RunArgs) -> Result<RunWriter, Failure> {
    let folder = match &args.out {
        Some(folder) => folder.clone(),
        None => {
            let folder = PathBuf::from(LAST);
            // Only a folder that holds a run is ours to remove.
            if folder.join(EVENTS_FILE).is_file() {
                fs::remove_dir_all(&folder).map_err(|error| {
                    Failure::usage(
                        &folder,
                        format!("the last run cannot be replaced: {error}"),
                        "name a folder with --out",
                    )
                })?;
            }
            folder
        }
    };
    Ok(RunWriter::create(&folder)?)
}

fn header(plan: &Plan, name: String, open: Option<OpenLoop>) -> RunHeader {
    let mut versions: Vec<String> = plan.scenarios.iter().map(|(_, host)| host.version.to_string()).collect();
    versions.sort();
    versions.dedup();
    RunHeader {
        hookbench_version: env!("CARGO_PKG_VERSION").to_owned(),
        hook_command: name,
        host_version: versions.join(", "),
        repeat: plan.repeat,
        seed: plan.seed,
        scenarios: plan.scenarios.iter().map(|(scenario, _)| scenario.name.clone()).collect(),
        machine: machine::fingerprint(),
        baseline_command: None,
        n_cold_rounds: 0,
        pace: open.map(|open| open.to_string()),
        shard: None,
    }
}

/// Finds out before the run what would be missing in it.
fn check_instruments(args: &RunArgs, plan: &Plan) -> Result<(), Failure> {
    if let Some(pace) = args.pace {
        pace::check(plan, pace)?;
    }
    if args.instructions && instructions::valgrind().is_none() {
        let remedy = "install valgrind, or leave --instructions out";
        return Err(Failure::usage("--instructions", "there is no valgrind on PATH", remedy));
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

fn progress(plan: &Plan) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let steps: usize = plan.scenarios.iter().map(|(scenario, _)| scenario.steps.len()).sum();
    let bar = ProgressBar::new(steps as u64 * u64::from(plan.repeat));
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {wide_msg}") {
        bar.set_style(style);
    }
    bar
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

/// Finds out before the run that a report would have no folder after it.
fn check_report_places(args: &RunArgs) -> Result<(), Failure> {
    for path in [&args.junit, &args.markdown].into_iter().flatten() {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if folder.is_some_and(|folder| !folder.is_dir()) {
            let remedy = "make the folder first, or name a file in a folder that exists";
            return Err(Failure::usage(path, "there is no such folder for the report", remedy));
        }
    }
    Ok(())
}

fn write_report(path: Option<&Path>, text: &str) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    fs::write(path, text).map_err(|error| {
        Failure::usage(path, format!("the report cannot be written: {error}"), "name a file in a folder that exists")
    })
}
