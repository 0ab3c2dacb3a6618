//! KlDivergence: how far the query is from the segment's profile, as the Kullback-Leibler divergence.
//!
//! `score(s) = - sum over t in Q of q ln(q / max(combined[t], 1e-6))` with `q = 1 / |Q|` and
//! `combined = normalise(terms + 1.3 entities + 0.7 topics + 0.5 local_memory)`. Scores are at most 0 where the
//! profile holds nothing but the query. Formula: the first seed of the project's mission. There every segment has a
//! finite score and so a signal; here a segment needs at least one of the query's terms, so that a query about
//! something else routes nowhere.

use crate::route::best::{best, give_reasons};
use crate::route::profile::Flags;
use crate::route::question::Question;
use crate::route::{Route, RoutingIndex, Weights};

/// Probability of a term that the profile does not have.
const FLOOR: f32 = 1e-6;
/// What each distribution counts: terms, entities, topics, window.
const SHARES: [f32; 4] = [1.0, 1.3, 0.7, 0.5];

/// Not normalised weight of a term.
fn combined(weights: Weights) -> f32 {
    let [terms, entities, topics, local_memory] = SHARES;
    terms * weights.terms + entities * weights.entities + topics * weights.topics + local_memory * weights.local_memory
}

/// Sum of [`combined`] over all terms of a profile: each distribution that is not empty sums to 1.
fn total(flags: Flags) -> f32 {
    (0..).zip(SHARES).filter(|(bit, _)| flags.has_distribution(*bit)).map(|(_, share)| share).sum()
}

/// The best `limit` segments that share a term with the query, best first.
pub fn route(terms: &[String], index: &dyn RoutingIndex, limit: usize) -> Vec<Route> {
    let question = Question::new(terms, index);
    if question.terms.is_empty() {
        return Vec::new();
    }
    let segments = index.segments() as usize;
    let mut flags = vec![Flags::default(); segments];
    index.fill_flags(&mut flags);
    let share = 1.0 / question.size();
    // All terms missing is where every segment starts; a term that it has adds what it is above the floor.
    let nothing = FLOOR.ln() - share.ln();
    let mut scores = vec![f32::NEG_INFINITY; segments];
    for term in &question.terms {
        index.visit_segments(term.text, &mut |segment, weights| {
            let at = segment as usize;
            if let (Some(score), Some(flags)) = (scores.get_mut(at), flags.get(at)) {
                let probability = combined(weights) / total(*flags).max(f32::MIN_POSITIVE);
                *score = score.max(nothing) + share * (probability.clamp(FLOOR, 1.0).ln() - FLOOR.ln());
            }
        });
    }
    let mut routes = best((0..).zip(scores).filter(|(_, score)| score.is_finite()), limit);
    give_reasons(&mut routes, &question, &|term, add| {
        index.visit_segments(term.text, &mut |segment, weights| add(segment, combined(weights)));
    });
    routes
}
