//! From the command line to the plan of a run: the hook, the clients to play, the folders, and the header that says so.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hook_contract::HostProfile;

use crate::cli::ReplayArgs;
use crate::failure::Failure;
use crate::golden::Writing;
use crate::hook::{Hook, quoted};
use crate::interrupt::Interrupt;
use crate::machine;
use crate::replay::Plan;
use crate::run_event::RunHeader;
use crate::scenario::{HostRange, Scenario};

/// The plan of a run in which every scenario is repeated `repeat` times, `jobs` side by side.
///
/// # Errors
/// A hook, a version or a folder that the user named and that cannot be used.
pub(super) fn plan(
    args: &ReplayArgs,
    hook: Hook,
    scenarios: Vec<Scenario>,
    repeat: u32,
    jobs: u16,
    ci: Option<&str>,
) -> Result<Plan, Failure> {
    let corpora = corpora(args, &scenarios)?;
    let bundled = bundled();
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
        repeat,
        seed: args.seed,
        jobs: usize::from(jobs),
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

fn corpora(args: &ReplayArgs, scenarios: &[Scenario]) -> Result<PathBuf, Failure> {
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

/// The hook under test: the one named, or the bundled one.
///
/// # Errors
/// An empty command line, or no bundled hook.
pub(super) fn tested_hook(args: &ReplayArgs) -> Result<Hook, Failure> {
    match (&args.hook, bundled()) {
        (Some(command), _) => named_hook("--hook", command, args.no_shell),
        (None, Some(program)) => Ok(Hook::exec(vec![program.to_string_lossy().into_owned(), "hook".to_owned()])),
        (None, None) => {
            let remedy = "build it (`cargo build --release --bins`), or name a hook with --hook";
            Err(Failure::usage("hookmem", "there is no hookmem beside this executable", remedy))
        }
    }
}

/// The hook of a command line that a flag gave.
///
/// # Errors
/// An empty command line.
pub(super) fn named_hook(flag: &str, command: &str, no_shell: bool) -> Result<Hook, Failure> {
    if command.trim().is_empty() {
        return Err(Failure::usage(flag, "the command is empty", "give the command line of a hook"));
    }
    if no_shell {
        return Ok(Hook::exec(command.split_whitespace().map(str::to_owned).collect()));
    }
    Ok(Hook::shell(command))
}

/// The header of a run of one hook.
pub(super) fn header(plan: &Plan) -> RunHeader {
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
