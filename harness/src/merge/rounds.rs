//! Repetitions of one plan, appended round after round.
//!
//! Only for runs of one machine, without confirmations and without cold rounds: those have a meaning by their number,
//! which appending would take from them. Texts are not compared across the runs; `hookbench compare` does that.

use super::{Blob, Joined, Piece, agree};
use crate::failure::Failure;
use crate::run_event::RunHeader;

/// Fits repetitions together, in the order given. The seed of the first one names the whole.
///
/// # Errors
/// The first thing that does not fit.
pub fn append_rounds(blobs: Vec<Blob>) -> Result<Joined, Failure> {
    let shard = |header: &RunHeader| {
        header.shard.as_ref().map_or("the whole".to_owned(), |shard| format!("{}/{}", shard.index, shard.total))
    };
    agree(&blobs, "name repetitions of one plan, made on one machine", |blob| {
        vec![
            ("the hook", blob.header.hook_command.clone()),
            ("the client", blob.header.host_version.clone()),
            ("the list of scenarios", blob.header.scenarios.join(", ")),
            ("the part", shard(&blob.header)),
            ("the machine", blob.header.machine.clone()),
            ("hookbench", blob.header.hookbench_version.clone()),
        ]
    })?;
    for blob in &blobs {
        let refusal = if !blob.complete {
            Some(("the run stopped before its end", "go on with it by `hookbench run --resume`"))
        } else if blob.header.baseline_command.is_some() || blob.header.n_cold_rounds > 0 || blob.phases.len() > 1 {
            Some(("the run compares two hooks", "measure with more pairs instead: its rounds cannot be appended"))
        } else {
            None
        };
        if let Some((message, remedy)) = refusal {
            return Err(Failure::usage(&blob.path, message, remedy));
        }
    }
    let Some(first) = blobs.first() else { return Err(super::nothing()) };
    let mut header = first.header.clone();
    header.repeat = 0;
    let mut pieces = Vec::new();
    for blob in blobs {
        let start = header.repeat;
        header.repeat = start.saturating_add(blob.header.repeat);
        pieces.push(Piece { blob, starts: vec![start] });
    }
    Ok(Joined { header, complete: true, warnings: Vec::new(), pieces })
}
