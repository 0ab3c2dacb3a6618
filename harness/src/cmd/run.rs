//! `hookbench run`: load, plan, replay, gate, report.
//!
//! A part of a run (`--shard`) judges no gate. A run that the user stops keeps what it has: its events are saved and reported, no gate is judged, and the saved run
//! lacks its last event, which is how a reader knows and `--resume` goes on.

use std::fmt::Write as _;
use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hook_contract::HostProfile;
use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::RunArgs;
use crate::cmd::gates::gates;
use crate::cmd::part::{is_part, take_part};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::gate::judge;
use crate::golden::Writing;
use crate::hook::{Hook, quoted};
use crate::interrupt::Interrupt;
use crate::machine;
use crate::record::{EVENTS_FILE, RunWriter};
use crate::replay::{Kept, Plan, Stop, replay_rest};
use crate::report::{json, junit, markdown, terminal};
use crate::resume::{Partial, Resumed, resume};
use crate::run_event::{RunEvent, RunHeader};
use crate::scenario::{HostRange, Scenario};
use crate::selection::{ROOT, select};
use crate::shard::left_to_merge;
use crate::summary::Summary;

/// Where a run is saved unless told otherwise.
const LAST: &str = ".hookbench/last";

/// Runs the scenarios; the report for stdout, and the exit code.
///
/// # Errors
/// Mistakes in flags, scenarios, goldens or gates, all found before anything runs where that is possible.
pub fn run(args: &RunArgs, ci: Option<&str>, note: &dyn Fn(&str)) -> Result<(String, ExitCode), Failure> {
    let scenarios = select(&args.scenarios)?;
    let gates = gates(&args.gate)?;
    if args.list {
        return Ok((list(&scenarios), ExitCode::Pass));
    }
    let mut plan = plan(args, scenarios, ci)?;
    let mut header = header(&plan);
    if let Some(slice) = args.shard.slice(|name| std::env::var(name).ok(), note)? {
        take_part(slice, &mut plan, &mut header, note);
    }
    check_report_places(args)?;
    let resumed = args.resume.as_deref().map(|folder| resume(folder, &plan, &header)).transpose()?;
    let (mut writer, mut summary, kept) = match resumed {
        None => (saved_run(args)?, Summary::default(), Kept::default()),
        Some(Resumed::Partial(partial)) => {
            let Partial { writer, summary, kept } = *partial;
            note(&format!("going on after {} whole rounds of scenarios", kept.done.len()));
            (writer, summary, kept)
        }
        Some(Resumed::Complete(summary)) => {
            note("the run is complete already: nothing was replayed");
            return reported(args, &summary);
        }
    };
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
    if args.resume.is_none() {
        consume(RunEvent::RunStarted(header));
    }
    let outcome = replay_rest(&plan, &kept, &mut consume);
    progress.finish_and_clear();
    match outcome {
        Err(Stop::Interrupted) => {}
        Err(stop) => return Err(stop.into()),
        Ok(()) => {
            // Gates look at the whole run, so they are judged on its summary and become its last events.
            let is_part = is_part(&summary);
            let answer = |gate| if is_part { left_to_merge(gate) } else { judge(gate, &summary) };
            let judged: Vec<_> = gates.iter().map(answer).collect();
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
    reported(args, &summary)
}

/// Writes the reports that were asked for.
fn reported(args: &RunArgs, summary: &Summary) -> Result<(String, ExitCode), Failure> {
    write_report(args.junit.as_deref(), &junit::render(summary))?;
    write_report(args.markdown.as_deref(), &markdown::render(summary))?;
    let text = if args.json { json::render(summary) } else { terminal::render(summary) };
    Ok((text, ExitCode::of(summary, args.gate.strict)))
}

fn plan(args: &RunArgs, scenarios: Vec<Scenario>, ci: Option<&str>) -> Result<Plan, Failure> {
    let corpora = corpora(args, &scenarios)?;
    let bundled = bundled();
    let hook = match (&args.hook, &bundled) {
        (Some(command), _) if command.trim().is_empty() => {
            return Err(Failure::usage("--hook", "the command is empty", "give the command line of a hook"));
        }
        (Some(command), _) if args.no_shell => Hook::exec(command.split_whitespace().map(str::to_owned).collect()),
        (Some(command), _) => Hook::shell(command),
        (None, Some(program)) => Hook::exec(vec![program.to_string_lossy().into_owned(), "hook".to_owned()]),
        (None, None) => {
            let remedy = "build it (`cargo build --release --bins`), or name a hook with --hook";
            return Err(Failure::usage("hookmem", "there is no hookmem beside this executable", remedy));
        }
    };
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
    Ok(Plan {
        scenarios: hosts.collect(),
        hook,
        repeat: args.repeat,
        seed: args.seed,
        jobs: usize::from(args.jobs),
        longest: Duration::from_secs(args.timeout),
        writing: Writing::allowed(args.no_write, ci),
        parent: std::env::temp_dir(),
        corpora,
        hook_program: bundled.map_or_else(|| "hookmem".to_owned(), |path| quoted(&path.to_string_lossy())),
        path: std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into()),
        keep: args.keep,
        interrupt: Interrupt::from_signals()
            .map_err(|error| Failure::Internal(format!("cannot listen for Ctrl-C: {error}")))?,
    })
}

/// The memory hook that is built beside this executable.
fn bundled() -> Option<PathBuf> {
    let beside = std::env::current_exe().ok()?.parent()?.join("hookmem");
    beside.is_file().then_some(beside)
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

/// Opens the saved run. The default folder is replaced; a folder that the user names must be free.
fn saved_run(args: &RunArgs) -> Result<RunWriter, Failure> {
    let folder = args.out.clone().unwrap_or_else(|| PathBuf::from(LAST));
    if args.out.is_none() {
        clear(&folder)?;
    }
    Ok(RunWriter::create(&folder)?)
}

/// Removes a saved run from a default folder. Only a folder that holds a run is ours to remove.
pub(crate) fn clear(folder: &Path) -> Result<(), Failure> {
    if folder.join(EVENTS_FILE).is_file() {
        fs::remove_dir_all(folder).map_err(|error| {
            let message = format!("the last run cannot be replaced: {error}");
            Failure::usage(folder, message, "name a folder with --out")
        })?;
    }
    Ok(())
}

fn header(plan: &Plan) -> RunHeader {
    let mut versions: Vec<String> = plan.scenarios.iter().map(|(_, host)| host.version.to_string()).collect();
    versions.sort();
    versions.dedup();
    RunHeader {
        hookbench_version: env!("CARGO_PKG_VERSION").to_owned(),
        hook_command: plan.hook.shown.clone(),
        host_version: versions.join(", "),
        repeat: plan.repeat,
        seed: plan.seed,
        scenarios: plan.scenarios.iter().map(|(scenario, _)| scenario.name.clone()).collect(),
        machine: machine::fingerprint(),
        baseline_command: None,
        n_cold_rounds: 0,
        pace: None,
        shard: None,
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
