//! Joins saved runs into one: the parts of one plan, or repetitions of it.
//!
//! Guarantee: parts of a run give, event for event, the run that was cut, so histograms add without loss and gates
//! are judged on the same figures. What cannot be joined honestly is refused with the reason: parts of another plan or
//! hook, a scenario that is there twice, a part that is missing. The machine of each scenario stays known. Judging is
//! not here; gates of the parts are dropped, because they were about the parts.

mod blob;
mod rounds;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

pub use self::blob::{Blob, Phase};
pub use self::rounds::append_rounds;
use crate::failure::Failure;
use crate::record::RunReader;
use crate::run_event::{RunEvent, RunHeader, Source};

/// What to do when blobs are no parts of one run.
const ONE_RUN: &str = "name the parts of one run; repetitions of the same scenarios are merged with --rounds";

/// Scenarios named in a message at most.
const MAX_NAMED: usize = 10;

/// Saved runs that fit together, and how.
#[derive(Debug)]
pub struct Joined {
    /// Header of the whole.
    pub header: RunHeader,
    /// Whether every blob came to its end.
    pub complete: bool,
    /// What a person should know.
    pub warnings: Vec<String>,
    pieces: Vec<Piece>,
}

/// One blob and where its rounds go.
#[derive(Debug)]
struct Piece {
    blob: Blob,
    /// First round of each phase of the whole.
    starts: Vec<u32>,
}

/// Fits the parts of one run together; `partial` allows missing and unfinished ones.
///
/// # Errors
/// The first thing that does not fit.
pub fn join_parts(mut blobs: Vec<Blob>, partial: bool) -> Result<Joined, Failure> {
    blobs.sort_by_key(|blob| blob.header.shard.as_ref().map(|shard| shard.index));
    let Some(first) = blobs.first() else { return Err(nothing()) };
    let mut warnings = same_plan(&blobs)?;
    let whole = whole_plan(&blobs)?;
    no_scenario_twice(&blobs)?;
    warnings.extend(nothing_missing(&blobs, &whole, partial)?);
    if let Some(blob) = blobs.iter().find(|blob| !blob.complete) {
        let message = "the run stopped before its end";
        if !partial {
            let remedy = "go on with it by `hookbench run --resume`, or merge what is there with --partial";
            return Err(Failure::usage(&blob.path, message, remedy));
        }
        warnings.push(format!("{}: {message}; the merged run is interrupted too", blob.path.display()));
    }
    let header = RunHeader {
        hookbench_version: each_once(blobs.iter().map(|blob| &*blob.header.hookbench_version)).join(", "),
        machine: machines(&blobs, &whole).join("; "),
        // Scenarios of a missing part stay in the plan: what was never run is shown, and is not green.
        scenarios: whole,
        shard: None,
        ..first.header.clone()
    };
    let starts = aligned_starts(&blobs);
    let complete = blobs.iter().all(|blob| blob.complete);
    let pieces = blobs.into_iter().map(|blob| Piece { blob, starts: starts.clone() }).collect();
    Ok(Joined { header, complete, warnings, pieces })
}

impl Joined {
    /// The blobs, in the order in which they are joined.
    pub fn blobs(&self) -> impl Iterator<Item = &Blob> {
        self.pieces.iter().map(|piece| &piece.blob)
    }

    /// Hands out the events of the whole but for its end: no gates, and no last event.
    ///
    /// # Errors
    /// A blob that has changed since it was looked through, or whatever `consume` meets.
    pub fn replay(&self, consume: &mut dyn FnMut(RunEvent) -> Result<(), Failure>) -> Result<(), Failure> {
        consume(RunEvent::RunStarted(self.header.clone()))?;
        let mut n_phases = 1;
        for Piece { blob, starts } in &self.pieces {
            consume(RunEvent::SourceMerged(Source {
                machine: blob.header.machine.clone(),
                scenarios: blob.header.scenarios.clone(),
                shard: blob.header.shard.as_ref().map(|shard| shard.index),
            }))?;
            let mut phase = 1;
            for event in RunReader::open(&blob.path)? {
                match event? {
                    RunEvent::RunStarted(_) | RunEvent::GateJudged(_) | RunEvent::RunFinished => {}
                    // A confirmation of several parts is one confirmation of the whole.
                    RunEvent::ConfirmStarted { seed, .. } => {
                        if phase == n_phases {
                            let round = starts.get(phase).copied().unwrap_or_default();
                            consume(RunEvent::ConfirmStarted { round, seed })?;
                            n_phases += 1;
                        }
                        phase += 1;
                    }
                    event => consume(blob.moved(event, starts))?,
                }
            }
        }
        Ok(())
    }
}

fn nothing() -> Failure {
    Failure::usage("merge", "there is nothing to merge", "name the folders of saved runs")
}

/// Every machine once, in the order of the scenarios; a part without any measured nothing anywhere.
fn machines<'a>(blobs: &'a [Blob], whole: &[String]) -> Vec<&'a str> {
    let home = |name: &String| blobs.iter().find(|blob| blob.header.scenarios.contains(name));
    let machines = each_once(whole.iter().filter_map(home).map(|blob| &*blob.header.machine));
    if machines.is_empty() { each_once(blobs.iter().map(|blob| &*blob.header.machine)) } else { machines }
}

fn each_once<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for text in texts {
        if !seen.contains(&text) {
            seen.push(text);
        }
    }
    seen
}

/// Refuses blobs of another hook, client, seed or number of rounds, and warns about other versions of hookbench.
fn same_plan(blobs: &[Blob]) -> Result<Vec<String>, Failure> {
    let facts = |header: &RunHeader| {
        let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_owned());
        [
            ("the hook", header.hook_command.clone()),
            ("the baseline", or_none(&header.baseline_command)),
            ("the client", header.host_version.clone()),
            ("--repeat", header.repeat.to_string()),
            ("--seed", header.seed.to_string()),
            ("the number of cold rounds", header.n_cold_rounds.to_string()),
            ("--pace", or_none(&header.pace)),
        ]
    };
    agree(blobs, ONE_RUN, |blob| facts(&blob.header).to_vec())?;
    let versions = each_once(blobs.iter().map(|blob| &*blob.header.hookbench_version));
    let warning = format!("the parts were made by different versions of hookbench: {}", versions.join(", "));
    Ok(if versions.len() > 1 { vec![warning] } else { Vec::new() })
}

/// Refuses blobs of which a fact differs from that of the first.
fn agree(blobs: &[Blob], remedy: &str, facts: impl Fn(&Blob) -> Vec<(&'static str, String)>) -> Result<(), Failure> {
    let Some((first, rest)) = blobs.split_first() else { return Err(nothing()) };
    for blob in rest {
        let different = facts(first).into_iter().zip(facts(blob)).find(|((_, left), (_, right))| left != right);
        if let Some(((what, left), (_, right))) = different {
            let message = format!("{what} is `{right}` here and `{left}` in {}", first.path.display());
            return Err(Failure::usage(&blob.path, message, remedy));
        }
    }
    Ok(())
}

/// Names of all scenarios of the run that was cut; for runs that are no parts, of all runs in their order.
fn whole_plan(blobs: &[Blob]) -> Result<Vec<String>, Failure> {
    let part = |blob: &Blob| blob.header.shard.as_ref().map_or(0, |shard| shard.total);
    let of = |blob: &Blob| match part(blob) {
        0 => "no part".to_owned(),
        total => format!("one of {total} parts"),
    };
    let whole = |blob: &Blob| blob.header.shard.as_ref().map_or(String::new(), |shard| shard.whole.join(", "));
    agree(blobs, ONE_RUN, |blob| vec![("the run", of(blob)), ("the list of all scenarios", whole(blob))])?;
    Ok(match blobs.first().and_then(|blob| blob.header.shard.as_ref()) {
        Some(shard) => {
            for blob in blobs {
                if let Some(stray) = blob.header.scenarios.iter().find(|name| !shard.whole.contains(name)) {
                    let message = format!("scenario `{stray}` is not in the run's own list of all scenarios");
                    return Err(Failure::usage(&blob.path, message, "the file was changed; make this part again"));
                }
            }
            shard.whole.clone()
        }
        None => blobs.iter().flat_map(|blob| blob.header.scenarios.iter().cloned()).collect(),
    })
}

fn no_scenario_twice(blobs: &[Blob]) -> Result<(), Failure> {
    let mut parts: BTreeMap<u32, &Path> = BTreeMap::new();
    let mut scenarios: BTreeMap<&str, &Path> = BTreeMap::new();
    for blob in blobs {
        if let Some(shard) = &blob.header.shard
            && let Some(other) = parts.insert(shard.index, &blob.path)
        {
            let message = format!("part {} of {} is in {} already", shard.index, shard.total, other.display());
            return Err(Failure::usage(&blob.path, message, "name every part once"));
        }
        for scenario in &blob.header.scenarios {
            if let Some(other) = scenarios.insert(scenario, &blob.path) {
                let message = format!("scenario `{scenario}` is in {} already", other.display());
                let remedy = "name every part once; repetitions of the same scenarios are merged with --rounds";
                return Err(Failure::usage(&blob.path, message, remedy));
            }
        }
    }
    Ok(())
}

/// Names the parts that are not there: an error, or a warning for a partial merge.
fn nothing_missing(blobs: &[Blob], whole: &[String], partial: bool) -> Result<Option<String>, Failure> {
    let Some(total) = blobs.first().and_then(|blob| blob.header.shard.as_ref()).map(|shard| shard.total) else {
        return Ok(None);
    };
    let present: BTreeSet<u32> =
        blobs.iter().filter_map(|blob| blob.header.shard.as_ref()).map(|shard| shard.index).collect();
    let missing: Vec<String> = (1..=total).filter(|index| !present.contains(index)).map(|n| n.to_string()).collect();
    let seen: BTreeSet<&String> = blobs.iter().flat_map(|blob| &blob.header.scenarios).collect();
    let absent: Vec<&str> = whole.iter().filter(|name| !seen.contains(name)).map(String::as_str).collect();
    if missing.is_empty() && absent.is_empty() {
        return Ok(None);
    }
    let mut named = absent.iter().take(MAX_NAMED).copied().collect::<Vec<_>>().join(", ");
    if absent.len() > MAX_NAMED {
        named = format!("{named} and {} more", absent.len() - MAX_NAMED);
    }
    let scenarios = if absent.is_empty() { String::new() } else { format!(" (scenarios {named})") };
    let parts = if missing.is_empty() { "none".to_owned() } else { missing.join(", ") };
    let message = format!("missing of {total} parts: {parts}{scenarios}");
    if partial {
        return Ok(Some(message));
    }
    Err(Failure::usage("merge", message, "name the saved runs of all parts, or merge what is there with --partial"))
}

/// First round of each phase of the whole: a phase is as long as in the blob where it is longest, so that no round of
/// one part's confirmation meets a round of another part's first measurement.
fn aligned_starts(blobs: &[Blob]) -> Vec<u32> {
    let n_phases = blobs.iter().map(|blob| blob.phases.len()).max().unwrap_or(0);
    let longest = (0..n_phases)
        .map(|at| blobs.iter().filter_map(|blob| blob.phases.get(at)).map(|phase| phase.n_rounds).max().unwrap_or(0));
    let mut starts = vec![0_u32];
    for n_rounds in longest {
        starts.push(starts.last().copied().unwrap_or_default().saturating_add(n_rounds));
    }
    starts
}

#[cfg(test)]
mod tests;
