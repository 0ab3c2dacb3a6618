//! LocalDistinctiveness: a segment scores by how much the query's terms weigh in it and how few others have them.
//!
//! `score(s) = sum over t in Q of lw(s, t) * idf(t)`, where `lw = terms + 1.8 entities + 1.2 topics +
//! 1.5 local_memory` and `idf(t) = ln((S + 1) / (df(t) + 1)) + 1`, with S segments of which df(t) have the term.
//! Formula: the first seed of the project's mission; the weights are its.

use crate::route::best::{best_positive, give_reasons};
use crate::route::question::Question;
use crate::route::{Route, RoutingIndex, Weights};

/// Local weight of a term in a segment.
pub fn local_weight(weights: Weights) -> f32 {
    weights.terms + 1.8 * weights.entities + 1.2 * weights.topics + 1.5 * weights.local_memory
}

/// The best `limit` segments with a score above 0, best first.
pub fn route(terms: &[String], index: &dyn RoutingIndex, limit: usize) -> Vec<Route> {
    let question = Question::new(terms, index);
    let mut scores = vec![0.0_f32; index.segments() as usize];
    for term in &question.terms {
        index.add_local(term.text, term.rarity, &mut scores);
    }
    let mut routes = best_positive(&scores, limit);
    give_reasons(&mut routes, &question, &|term, add| {
        index.visit_local(term.text, &mut |segment, weight| add(segment, weight * term.rarity));
    });
    routes
}
