//! BestRecord, ours and the hook's: the segments of the records that score best for the query.
//!
//! `score(s) = max over the records d of s of score(q, d)`, with the score that ranks records in the end: words of
//! request, body and paths, code words and lines that the record's session wrote (see [`crate::rank::score`]). A
//! segment's worth is that of the one record worth showing; sums and profiles favour long sessions, and profiles know
//! nothing of written lines, which tell most about an edit. It costs one pass over the postings, and ranking the
//! routed records afterwards needs no second one.

use crate::rank::Hit;
use crate::route::Route;

/// Segments looked into by default: fewer lose records that rank among the first ten.
pub const TOP_N: usize = 5;

/// The first `limit` segments in the order of their best hits; `hits` come best first. The reason is the record, so
/// no term is named.
pub fn route(hits: &[Hit], limit: usize) -> Vec<Route> {
    let mut routes: Vec<Route> = Vec::new();
    for hit in hits {
        if routes.len() < limit && routes.iter().all(|route| route.segment != hit.segment) {
            routes.push(Route { segment: hit.segment, score: hit.score, reason: Vec::new() });
        }
    }
    routes
}
