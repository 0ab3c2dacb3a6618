//! CoverageLocalDistinctiveness: distinctive terms, and how much of the query the segment covers.
//!
//! With `W = sum over t in Q of lw(t) idf(t) em(t)`, `R = (sum of idf of the covered terms) / (sum of idf of Q)` and n
//! covered terms: `score = W (1 + R) + 2 R + n / |Q| + 0.75 sqrt(n - 1)`, 0 when n = 0. lw and idf are those of
//! [`local_distinctiveness`](crate::route::local_distinctiveness); `em = 1 + 0.45 [in entities] + 0.35 [in
//! local_memory] + 0.15 [in topics]`. A segment covers a term when any distribution has it. Formula: the first seed of
//! the project's mission; the weights are its.

use crate::route::best::{best_positive, give_reasons};
use crate::route::local_distinctiveness::local_weight;
use crate::route::question::Question;
use crate::route::{Route, RoutingIndex, Weights};

/// Evidence multiplier of a term in a segment.
pub fn evidence_multiplier(weights: Weights) -> f32 {
    let bonus = |weight: f32, bonus: f32| if weight > 0.0 { bonus } else { 0.0 };
    1.0 + bonus(weights.entities, 0.45) + bonus(weights.local_memory, 0.35) + bonus(weights.topics, 0.15)
}

/// `lw em` of a term in a segment: its share of W without the rarity.
pub fn evidence(weights: Weights) -> f32 {
    local_weight(weights) * evidence_multiplier(weights)
}

/// What a segment has gathered.
#[derive(Debug, Clone, Copy, Default)]
struct Gathered {
    weight: f32,
    covered: f32,
    terms: f32,
}

/// One score a segment, 0 without a covered term.
pub fn scores(question: &Question<'_>, index: &dyn RoutingIndex) -> Vec<f32> {
    let mut gathered = vec![Gathered::default(); index.segments() as usize];
    for term in &question.terms {
        index.visit_segments(term.text, &mut |segment, weights| {
            if let Some(sum) = gathered.get_mut(segment as usize) {
                sum.weight += term.rarity * evidence(weights);
                sum.covered += term.rarity;
                sum.terms += 1.0;
            }
        });
    }
    let score = |sum: Gathered| {
        if sum.terms == 0.0 {
            return 0.0;
        }
        let share = sum.covered / question.mass;
        sum.weight * (1.0 + share) + 2.0 * share + sum.terms / question.size() + 0.75 * (sum.terms - 1.0).sqrt()
    };
    gathered.into_iter().map(score).collect()
}

/// The best `limit` segments with a score above 0, best first.
pub fn route(terms: &[String], index: &dyn RoutingIndex, limit: usize) -> Vec<Route> {
    let question = Question::new(terms, index);
    let mut routes = best_positive(&scores(&question, index), limit);
    give_evidence_reasons(&mut routes, &question, index);
    routes
}

/// Names the terms by their share of W.
pub fn give_evidence_reasons(routes: &mut [Route], question: &Question<'_>, index: &dyn RoutingIndex) {
    give_reasons(routes, question, &|term, add| {
        index.visit_segments(term.text, &mut |segment, weights| add(segment, term.rarity * evidence(weights)));
    });
}
