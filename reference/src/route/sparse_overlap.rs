//! SparseOverlap: how much of the segment's profile the query's terms make up.
//!
//! `score(s) = sum over t in Q of terms[t] + 1.3 entities[t] + 0.7 topics[t]`; the window's memory is ignored, and
//! rare terms count no more than common ones. Formula: the first seed of the project's mission; the weights are its.

use crate::route::best::{best_positive, give_reasons};
use crate::route::question::Question;
use crate::route::{Route, RoutingIndex, Weights};

/// What one term adds.
fn gain(weights: Weights) -> f32 {
    weights.terms + 1.3 * weights.entities + 0.7 * weights.topics
}

/// The best `limit` segments with a score above 0, best first.
pub fn route(terms: &[String], index: &dyn RoutingIndex, limit: usize) -> Vec<Route> {
    let question = Question::new(terms, index);
    let mut scores = vec![0.0_f32; index.segments() as usize];
    for term in &question.terms {
        index.visit_segments(term.text, &mut |segment, weights| {
            if let Some(score) = scores.get_mut(segment as usize) {
                *score += gain(weights);
            }
        });
    }
    let mut routes = best_positive(&scores, limit);
    give_reasons(&mut routes, &question, &|term, add| {
        index.visit_segments(term.text, &mut |segment, weights| add(segment, gain(weights)));
    });
    routes
}
