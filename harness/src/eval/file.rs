//! The report of an evaluation as JSON: `evaluation.json`.
//!
//! Derived from the scores, which are the truth; for scripts, plots and notebooks. Shares and means have six decimals.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::evaluation::{Evaluation, Run};
use super::row::{Estimate, Row};
use crate::versioned::{self, six};

/// Name of the format.
pub const FORMAT: &str = "hookbench-evaluation";
/// Major version. History: 1, the first.
pub const MAJOR: u32 = 1;
/// Minor version. History: 1.0, the first.
pub const MINOR: u32 = 0;
/// Name of the file in the folder of an evaluation.
pub const EVALUATION_FILE: &str = "evaluation.json";

/// The whole file.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EvaluationFile {
    format: String,
    major: u32,
    minor: u32,
    corpus: String,
    fingerprint: String,
    k: u32,
    /// `k/n` of the parts that are in it; empty for a whole evaluation.
    shards: Vec<String>,
    queries: BTreeMap<String, u64>,
    runs: Vec<RunFile>,
    failed: Vec<FailedFile>,
    baseline: Option<String>,
    comparisons: Vec<ComparisonFile>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct RunFile {
    name: String,
    command: String,
    all: RowFile,
    by_form: BTreeMap<String, RowFile>,
    by_project: BTreeMap<String, RowFile>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct FailedFile {
    system: String,
    reason: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct EstimateFile {
    mean: f64,
    /// Lower end of the 95 % interval.
    low: f64,
    /// Upper end.
    high: f64,
    n_queries: u64,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct RowFile {
    /// By measure: `MRR@10`, `P@1`, `P@3`, `nDCG@10`, `R@10`.
    ranking: BTreeMap<String, EstimateFile>,
    false_injection: Option<EstimateFile>,
    coverage: Option<EstimateFile>,
    precision: Option<EstimateFile>,
    item_precision: Option<EstimateFile>,
    injected_bytes: Option<EstimateFile>,
    injected_bytes_per_relevant: Option<f64>,
    route_precision: Option<EstimateFile>,
    route_recall: Option<EstimateFile>,
    n_routed: Option<f64>,
    /// Median.
    route_us: Option<u64>,
    /// Median.
    query_us: Option<u64>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct ComparisonFile {
    system: String,
    measure: String,
    /// System minus baseline.
    difference: f64,
    low: Option<f64>,
    high: Option<f64>,
    n_queries: u64,
    p: f64,
    adjusted_p: f64,
    holds: bool,
    gains: Vec<String>,
    losses: Vec<String>,
}

impl EvaluationFile {
    /// The file of an evaluation.
    pub fn of(evaluation: &Evaluation) -> EvaluationFile {
        EvaluationFile {
            format: FORMAT.to_owned(),
            major: MAJOR,
            minor: MINOR,
            corpus: evaluation.corpus.clone(),
            fingerprint: evaluation.fingerprint.clone(),
            k: evaluation.k,
            shards: evaluation.shards.iter().map(|shard| format!("{}/{}", shard.index(), shard.total())).collect(),
            queries: evaluation.queries.clone(),
            runs: evaluation.runs.iter().map(run).collect(),
            failed: evaluation
                .failed
                .iter()
                .map(|(system, reason)| FailedFile { system: system.clone(), reason: reason.clone() })
                .collect(),
            baseline: evaluation.baseline.clone(),
            comparisons: evaluation
                .comparisons
                .iter()
                .map(|one| ComparisonFile {
                    system: one.system.clone(),
                    measure: one.column.name().to_owned(),
                    difference: six(one.difference),
                    low: one.interval.map(|(low, _)| six(low)),
                    high: one.interval.map(|(_, high)| six(high)),
                    n_queries: one.n,
                    p: six(one.p),
                    adjusted_p: six(one.adjusted_p),
                    holds: one.holds(),
                    gains: one.gains.clone(),
                    losses: one.losses.clone(),
                })
                .collect(),
        }
    }

    /// The text of the file, with a newline at its end.
    pub fn to_text(&self) -> String {
        versioned::to_text(self)
    }

    /// JSON Schema of the format.
    pub fn schema() -> schemars::Schema {
        schemars::schema_for!(EvaluationFile)
    }
}

fn run(run: &Run) -> RunFile {
    let rows = |rows: &BTreeMap<String, Row>| rows.iter().map(|(name, one)| (name.clone(), row(one))).collect();
    RunFile {
        name: run.name.clone(),
        command: run.command.clone(),
        all: row(&run.row),
        by_form: rows(&run.by_form),
        by_project: rows(&run.by_project),
    }
}

fn row(row: &Row) -> RowFile {
    RowFile {
        ranking: row.ranking.iter().map(|(column, one)| (column.name().to_owned(), estimate(one))).collect(),
        false_injection: row.false_injection.as_ref().map(estimate),
        coverage: row.coverage.as_ref().map(estimate),
        precision: row.precision.as_ref().map(estimate),
        item_precision: row.item_precision.as_ref().map(estimate),
        injected_bytes: row.bytes.as_ref().map(estimate),
        injected_bytes_per_relevant: row.bytes_per_relevant.map(six),
        route_precision: row.route_precision.as_ref().map(estimate),
        route_recall: row.route_recall.as_ref().map(estimate),
        n_routed: row.routed.map(six),
        route_us: row.route_us,
        query_us: row.query_us,
    }
}

fn estimate(estimate: &Estimate) -> EstimateFile {
    EstimateFile { mean: six(estimate.mean), low: six(estimate.low), high: six(estimate.high), n_queries: estimate.n }
}
