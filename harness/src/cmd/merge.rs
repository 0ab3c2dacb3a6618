//! `hookbench merge`: saved runs in, one saved run and its report out.
//!
//! The gates are those that the parts were given, and those of the file and the command line; of two with one name the
//! later wins. All are judged on the whole. Parts that were stopped make a whole that was stopped, which judges none.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::cli::GateArgs;
use crate::cmd::eval::merged;
use crate::cmd::gates::gates;
use crate::cmd::saved_run::clear;
use crate::eval::saved::SCORES_FILE;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::gate::{Gate, Stored, judge_all};
use crate::merge::{Blob, Joined, append_rounds, join_parts};
use crate::record::RunWriter;
use crate::report::{json, terminal};
use crate::run_event::RunEvent;
use crate::summary::Summary;

/// Where the whole is saved unless told otherwise.
const MERGED: &str = ".hookbench/merged";

/// Arguments of `merge`.
#[derive(Debug, Args)]
pub struct MergeArgs {
    /// Folders of saved runs, or their events.jsonl files; or folders of evaluations.
    #[arg(required = true, value_name = "BLOB")]
    pub blobs: Vec<PathBuf>,
    /// The blobs are repetitions of the same scenarios: their rounds are appended.
    #[arg(long)]
    pub rounds: bool,
    /// Merge what is there when parts are missing or were stopped early.
    #[arg(long, conflicts_with = "rounds")]
    pub partial: bool,
    /// Folder for the merged run. Default: .hookbench/merged, replaced every time.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// What judges it, together with the gates that the parts were given.
    #[command(flatten)]
    pub gate: GateArgs,
    /// Print the summary as JSON instead of tables.
    #[arg(long)]
    pub json: bool,
}

/// The report of the whole, and its exit code.
///
/// # Errors
/// Blobs that cannot be read or do not fit together, and mistakes in gates.
pub fn merge(args: &MergeArgs, note: &dyn Fn(&str)) -> Result<(String, ExitCode), Failure> {
    if args.blobs.iter().any(|blob| blob.join(SCORES_FILE).is_file()) {
        return merged(&args.blobs, args.out.as_deref().unwrap_or(Path::new(MERGED)), args.json);
    }
    let blobs = args.blobs.iter().map(|path| Blob::read(path)).collect::<Result<Vec<_>, _>>()?;
    let joined = if args.rounds { append_rounds(blobs)? } else { join_parts(blobs, args.partial)? };
    joined.warnings.iter().for_each(|warning| note(warning));
    let gates = all_gates(args, &joined)?;
    let stored = Stored::load(&gates)?;
    let mut writer = RunWriter::create(&place(args, &joined)?)?;
    let mut summary = Summary::default();
    joined.replay(&mut |event| {
        summary.observe(&event);
        Ok(writer.write(&event)?)
    })?;
    if joined.complete {
        let judged = judge_all(&gates, &summary, &stored);
        for event in judged.into_iter().map(RunEvent::GateJudged).chain([RunEvent::RunFinished]) {
            summary.observe(&event);
            writer.write(&event)?;
        }
    }
    writer.finish(&summary)?;
    let text = if args.json { json::render(&summary) } else { terminal::render(&summary) };
    Ok((text, ExitCode::of(&summary, args.gate.strict)))
}

/// The gates that the parts were given, in their order, each replaced by one of the same name that was given here;
/// then the others that were given here.
fn all_gates(args: &MergeArgs, joined: &Joined) -> Result<Vec<Gate>, Failure> {
    let mut given = gates(&args.gate)?;
    if args.gate.no_gates {
        return Ok(given);
    }
    let mut all: Vec<Gate> = Vec::new();
    for (blob, recorded) in joined.blobs().flat_map(|blob| blob.gates.iter().map(move |gate| (blob, gate))) {
        if all.iter().any(|known| known.name == recorded.name) {
            continue;
        }
        match given.iter().position(|gate| gate.name == recorded.name) {
            Some(at) => all.push(given.remove(at)),
            None => {
                let expr = recorded.expression.parse().map_err(|fault: crate::gate::GateSyntax| {
                    let message = format!("gate `{}` cannot be read: {}", recorded.name, fault.message);
                    Failure::usage(&blob.path, message, "merge with the version of hookbench that made the run")
                })?;
                all.push(Gate { name: recorded.name.clone(), text: recorded.expression.clone(), expr });
            }
        }
    }
    all.extend(given);
    Ok(all)
}

/// The folder of the whole, free to be written, and none of those that are read.
fn place(args: &MergeArgs, joined: &Joined) -> Result<PathBuf, Failure> {
    let Some(out) = &args.out else {
        let folder = PathBuf::from(MERGED);
        let inside = |path: &Path| match (path.canonicalize(), folder.canonicalize()) {
            (Ok(path), Ok(folder)) => path.starts_with(folder),
            _ => false,
        };
        if joined.blobs().any(|blob| inside(&blob.path)) {
            let message = "this folder is read and would be replaced";
            return Err(Failure::usage(folder, message, "name another folder with --out"));
        }
        clear(&folder)?;
        return Ok(folder);
    };
    Ok(out.clone())
}
