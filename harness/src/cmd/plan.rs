//! From the command line to the plan of a run: the hook, the clients to play, the folders, and the header that says so.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hook_contract::HostProfile;

use crate::cli::ReplayArgs;
use crate::failure::Failure;
use crate::golden::Writing;
use crate::hook::quoted;
use crate::interrupt::Interrupt;
use crate::machine;
use crate::replay::Plan;
use crate::run_event::RunHeader;
use crate::scenario::{HostRange, Scenario};
use crate::target::{Given, Target, bundled};

/// The plan of a run and the target's name for reports. Every scenario is repeated `repeat` times, `jobs` side by side.
///
/// # Errors
/// A hook, a version or a folder that the user named and that cannot be used.
pub(super) fn plan(
    args: &ReplayArgs,
    target: Target,
    scenarios: Vec<Scenario>,
    repeat: u32,
    jobs: u16,
    ci: Option<&str>,
) -> Result<(Plan, String), Failure> {
    let corpora = corpora(args, &scenarios)?;
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
        repeat,
        seed: args.seed,
        jobs: usize::from(jobs),
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

/// What the flags name to be called; the bundled hook when they name nothing.
pub(super) fn given(args: &ReplayArgs) -> Given<'_> {
    Given { hooks: &args.hooks, settings: args.settings.as_deref(), no_shell: args.no_shell }
}

/// The target under test.
///
/// # Errors
/// An empty command, a settings file that cannot be replayed, or nothing to call.
pub(super) fn target(args: &ReplayArgs) -> Result<Target, Failure> {
    given(args).target()
}

/// The header of a run of one target, which reports call `name`.
pub(super) fn header(plan: &Plan, name: String) -> RunHeader {
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
        pace: None,
        shard: None,
    }
}
