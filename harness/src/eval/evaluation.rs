//! An evaluation put together from its scores: a row for each run, and what differs from the baseline.
//!
//! Pure, so that a saved or merged evaluation gives the report of the live one.

use std::collections::BTreeMap;

use super::compare::{Comparison, compare};
use super::row::Row;
use super::saved::Scores;
use super::score::Scored;
use crate::shard::Slice;

/// Name of the run without routing, against which others are held unless told otherwise.
const NO_ROUTING: &str = "all-segments";
/// Graded queries from which a test of differences can be trusted alone; source: simulation of sign tests on discordant
/// queries, where 100 queries find a true loss of five points in 42 % and 200 in 85 %.
pub const ENOUGH_QUERIES: u64 = 200;

/// What an evaluation says.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// Name of the corpus.
    pub corpus: String,
    /// Its fingerprint.
    pub fingerprint: String,
    /// Ranked records a query.
    pub k: u32,
    /// Parts that are in it; empty for a whole one.
    pub shards: Vec<Slice>,
    /// Queries by kind.
    pub queries: BTreeMap<String, u64>,
    /// A row for each run.
    pub runs: Vec<Run>,
    /// Systems without answers, with the reason.
    pub failed: Vec<(String, String)>,
    /// The run that others are held against.
    pub baseline: Option<String>,
    /// Every other run against it.
    pub comparisons: Vec<Comparison>,
}

/// One run of the report.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Its name.
    pub name: String,
    /// Command line of its system.
    pub command: String,
    /// Over all queries.
    pub row: Row,
    /// By form.
    pub by_form: BTreeMap<String, Row>,
    /// By project.
    pub by_project: BTreeMap<String, Row>,
}

impl Evaluation {
    /// Puts scores together; `against` names the baseline, else it is the run without routing, else the first.
    ///
    /// # Errors
    /// The names there are, when none is `against`.
    pub fn of(scores: &Scores, against: Option<&str>) -> Result<Evaluation, Vec<String>> {
        let find = |name: &str| scores.runs.iter().find(|run| run.name == name);
        let baseline = match against {
            // Without its answers nothing is compared, and the report says why they are missing.
            Some(name) if scores.runs.is_empty() || scores.failed.iter().any(|(failed, _)| failed == name) => {
                find(name)
            }
            Some(name) => {
                Some(find(name).ok_or_else(|| scores.runs.iter().map(|run| run.name.clone()).collect::<Vec<_>>())?)
            }
            None => find(NO_ROUTING).or(scores.runs.first()),
        };
        let others = |name: &str| -> Vec<(String, &[Scored])> {
            let others = scores.runs.iter().filter(|run| run.name != name);
            others.map(|run| (run.name.clone(), run.scored.as_slice())).collect()
        };
        let mut queries = BTreeMap::new();
        for scored in scores.runs.first().map_or(&[][..], |run| &run.scored) {
            *queries.entry(scored.kind.clone()).or_default() += 1;
        }
        Ok(Evaluation {
            corpus: scores.corpus.clone(),
            fingerprint: scores.fingerprint.clone(),
            k: scores.k,
            shards: scores.shards.clone(),
            queries,
            runs: scores
                .runs
                .iter()
                .map(|run| Run {
                    name: run.name.clone(),
                    command: run.command.clone(),
                    row: Row::of(&run.scored),
                    by_form: Row::parts(&run.scored, |scored| &scored.form),
                    by_project: Row::parts(&run.scored, |scored| &scored.project),
                })
                .collect(),
            failed: scores.failed.clone(),
            comparisons: baseline.map_or_else(Vec::new, |run| compare(&run.scored, &others(&run.name))),
            baseline: baseline.map(|run| run.name.clone()),
        })
    }

    /// Answerable queries.
    pub fn n_answerable(&self) -> u64 {
        self.queries.get("answerable").copied().unwrap_or(0)
    }
}
