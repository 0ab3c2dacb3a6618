//! Decisions of `hookmem rank` as JSON Lines: per query and strategy where it looked, what it would inject and what
//! that cost.
//!
//! The first line names format and version; each further line is one [`row`]. Readers pass over members that they do
//! not know. Schema and a sample: `reference/samples/decisions-v1.schema.json` and `decisions-v1.jsonl`.

use std::time::Duration;

use serde::Serialize;

use crate::rank::collection::Outcome;

/// Value of `format` in the first line.
pub const FORMAT: &str = "hookmem-decisions";

/// Version of the format.
///
/// * 1: `qid`, `run` (the tag of the TREC run), `strategy`, `top_n`, `routes` (`segment`, `score`, `reason`), `injected`, `injected_bytes`, `route_us`,
///   `query_us`.
pub const VERSION: u32 = 1;

#[derive(Serialize)]
struct Header {
    format: &'static str,
    version: u32,
}

#[derive(Serialize)]
struct RouteRow<'a> {
    segment: &'a str,
    score: f32,
    reason: &'a [String],
}

#[derive(Serialize)]
struct Row<'a> {
    qid: &'a str,
    run: &'a str,
    strategy: &'a str,
    top_n: Option<usize>,
    routes: Vec<RouteRow<'a>>,
    injected: &'a [String],
    injected_bytes: usize,
    route_us: u64,
    query_us: u64,
}

/// The first line, without its end.
pub fn header() -> Result<String, serde_json::Error> {
    serde_json::to_string(&Header { format: FORMAT, version: VERSION })
}

/// The line of one query and strategy, without its end. `top_n` is `None` for a strategy that looks everywhere.
pub fn row(
    qid: &str,
    run: &str,
    strategy: &str,
    top_n: Option<usize>,
    outcome: &Outcome,
) -> Result<String, serde_json::Error> {
    let routes = outcome.routes.iter();
    serde_json::to_string(&Row {
        qid,
        run,
        strategy,
        top_n,
        routes: routes.map(|r| RouteRow { segment: &r.segment, score: r.score, reason: &r.reason }).collect(),
        injected: &outcome.injected,
        injected_bytes: outcome.bytes,
        route_us: microseconds(outcome.route_time),
        query_us: microseconds(outcome.time),
    })
}

fn microseconds(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
