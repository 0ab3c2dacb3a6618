//! Bm25Max, a baseline: the segments of the records whose content's words score best.
//!
//! As [`best_record`], with plain BM25 (`k1 = 1.2`, `b = 0.75`) over request, body and affected
//! paths, each weighing the same; neither written lines nor code words count, and a summary counts as much as an
//! outcome. The routed segments' records are then ranked by the whole score, as after every routing.

use crate::query::Query;
use crate::rank::{Weights, rank};
use crate::route::{Route, best_record};
use crate::store::postings::Postings;

/// Hits that are looked at.
const HITS: usize = 200;

/// The weights of plain BM25 over the content.
pub fn weights() -> Weights {
    Weights { request: 1.0, body: 1.0, paths: 1.0, length: 0.75, summary: 1.0, ..Weights::without_evidence() }
}

/// The best `limit` segments, best first.
pub fn route(query: &Query, index: &dyn Postings, limit: usize) -> Vec<Route> {
    best_record::route(&rank(index, query, &weights(), &|_| true, HITS).hits, limit)
}
