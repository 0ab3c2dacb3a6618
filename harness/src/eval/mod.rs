//! Offline comparison: systems answer the questions of a corpus, and statistics say which differences hold.
//!
//! A system is any process that loads a corpus and turns queries on stdin into a TREC run on stdout. The way of an
//! evaluation is one function, [`evaluate`]: questions, each system in turn, scores, comparison. A system that crashes or
//! hangs loses its own row and nothing else. Queries are never seen together with their judgements by a system.

pub mod answers;
pub mod cache;
pub mod collection;
pub mod compare;
pub mod evaluation;
pub mod file;
pub mod parquet;
pub mod plot;
pub mod row;
pub mod run;
pub mod saved;
pub mod score;
pub mod sweep;
pub mod system;
pub mod table;

use std::path::Path;
use std::time::Duration;

use self::answers::Answers;
use self::cache::Cache;
use self::collection::Collection;
use self::run::{Failed, Finished};
use self::score::Scored;
use self::system::System;
use crate::failure::Failure;
use crate::interrupt::Interrupt;

/// How an evaluation is done.
pub struct Plan {
    /// The questions and what answers them.
    pub collection: Collection,
    /// What is compared, in the order of the report.
    pub systems: Vec<System>,
    /// Records that a system ranks for a query.
    pub k: u32,
    /// When a system that still runs has failed.
    pub timeout: Duration,
    /// Finished systems, kept for the next time.
    pub cache: Cache,
    /// Stops everything when raised.
    pub interrupt: Interrupt,
}

/// What one system did.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It answered: one run for each tag of its output, by name.
    Answered(Vec<(String, Vec<Scored>)>),
    /// It did not, and why.
    Failed(String),
}

/// Runs every system and scores what it said, in plan order; `progress` hears of systems and of queries.
///
/// # Errors
/// The interrupt, or a folder that cannot be written. What a system does wrong is in its outcome.
pub fn evaluate(plan: &Plan, progress: &mut dyn FnMut(&str, u64)) -> Result<Vec<(System, Outcome)>, Failure> {
    let mut outcomes = Vec::new();
    let queries = plan.collection.query_lines();
    for system in &plan.systems {
        progress(&system.name, 0);
        let key = plan.cache.key(system, &plan.collection, plan.k);
        let answers = match plan.cache.get(&key) {
            Some(answers) => Ok(answers),
            None => answer(plan, system, &queries, &mut |n| progress(&system.name, n))?,
        };
        let outcome = match answers {
            Ok(answers) => {
                plan.cache.put(&key, &answers)?;
                let runs = answers.runs.iter().map(|run| {
                    let name = if answers.runs.len() == 1 { system.name.clone() } else { run.tag.clone() };
                    (name, score::score(&plan.collection, run))
                });
                Outcome::Answered(runs.collect())
            }
            Err(why) => Outcome::Failed(why),
        };
        outcomes.push((system.clone(), outcome));
    }
    Ok(outcomes)
}

/// Runs one system; the inner error is the system's.
fn answer(
    plan: &Plan,
    system: &System,
    queries: &[u8],
    progress: &mut dyn FnMut(u64),
) -> Result<Result<Answers, String>, Failure> {
    let scratch = tempfile::tempdir().map_err(|error| Failure::no_scratch(&error))?;
    let decisions = scratch.path().join("decisions.jsonl");
    let command = system.command_line(&plan.collection.folder, &decisions, plan.k);
    let finished = match run::run(&command, queries, plan.timeout, &plan.interrupt, progress) {
        Ok(finished) => finished,
        Err(Failed::Interrupted) => return Err(Failure::Interrupted),
        Err(Failed::System(why)) => return Ok(Err(why)),
    };
    Ok(understand(plan, &finished, &decisions))
}

fn understand(plan: &Plan, finished: &Finished, decisions: &Path) -> Result<Answers, String> {
    let answers = Answers::parse(&finished.stdout, decisions, &plan.collection, plan.k, finished.wall)?;
    if answers.runs.is_empty() {
        return Err("it printed no line of a run".to_owned());
    }
    Ok(answers)
}
