//! LocalDistinctiveness: a segment scores by how much the query's terms weigh in it and how few others have them.
//!
//! For a query with the distinct terms Q: `score(s) = sum over t in Q of lw(s, t) * idf(t)`, where
//! `lw = terms + 1.8 entities + 1.2 topics + 1.5 local_memory` and `idf(t) = ln((S + 1) / (df(t) + 1)) + 1`, with S
//! segments of which df(t) have the term. Formula: the first seed of the project's mission; the weights are its.

use std::collections::HashSet;

use crate::route::{REASON_TERMS, Route, RoutingIndex, Weights};

/// Terms that more segments have are named in no reason: they say little, and remembering them costs much.
const NAMED_FREQUENCY: u32 = 1_024;

/// Local weight of a term in a segment.
pub fn local_weight(weights: Weights) -> f32 {
    weights.terms + 1.8 * weights.entities + 1.2 * weights.topics + 1.5 * weights.local_memory
}

/// Inverse segment frequency of a term.
pub fn inverse_frequency(segments: u32, frequency: u32) -> f32 {
    (((f64::from(segments) + 1.0) / (f64::from(frequency) + 1.0)).ln() + 1.0) as f32
}

/// The best `limit` segments with a score above 0, best first.
pub fn route(terms: &[String], index: &dyn RoutingIndex, limit: usize) -> Vec<Route> {
    let mut seen = HashSet::new();
    let terms: Vec<&str> = terms.iter().map(String::as_str).filter(|term| seen.insert(*term)).collect();
    let segments = index.segments();
    let mut scores = vec![0.0_f32; segments as usize];
    let mut named: Vec<(&str, f32)> = Vec::new();
    for term in terms {
        let frequency = index.segment_frequency(term);
        if frequency > 0 {
            let rarity = inverse_frequency(segments, frequency);
            index.add_local(term, rarity, &mut scores);
            named.extend((frequency <= NAMED_FREQUENCY).then_some((term, rarity)));
        }
    }
    let mut routes = best(&scores, limit);
    let mut gains: Vec<Vec<(f32, &str)>> = vec![Vec::new(); routes.len()];
    for (term, rarity) in named {
        index.visit_local(term, &mut |segment, weight| {
            let place = routes.iter().position(|route| route.segment == segment);
            if let Some(gains) = place.and_then(|place| gains.get_mut(place)) {
                gains.push((weight * rarity, term));
            }
        });
    }
    for (route, mut gains) in routes.iter_mut().zip(gains) {
        gains.sort_by(|a, b| b.0.total_cmp(&a.0));
        route.reason = gains.into_iter().take(REASON_TERMS).map(|(_, term)| term.to_owned()).collect();
    }
    routes
}

/// The `limit` highest scores above 0, highest first, equal ones by segment number.
fn best(scores: &[f32], limit: usize) -> Vec<Route> {
    let mut routes: Vec<Route> = Vec::new();
    let mut least = 0.0;
    for (segment, score) in (0..).zip(scores.iter().copied()) {
        // Segments come in ascending order, so an equal score never displaces an earlier one.
        if score > least {
            let place = routes.partition_point(|route| route.score >= score);
            routes.insert(place, Route { segment, score, reason: Vec::new() });
            if routes.len() > limit {
                routes.pop();
            }
            if routes.len() == limit {
                least = routes.last().map_or(f32::INFINITY, |route| route.score);
            }
        }
    }
    routes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Weights by segment and term, term frequency as the only distribution.
    struct Fixed(Vec<Vec<(&'static str, Weights)>>);

    impl RoutingIndex for Fixed {
        fn segments(&self) -> u32 {
            u32::try_from(self.0.len()).unwrap_or(u32::MAX)
        }

        fn segment_frequency(&self, term: &str) -> u32 {
            u32::try_from(self.0.iter().filter(|segment| segment.iter().any(|(t, _)| *t == term)).count()).unwrap_or(0)
        }

        fn visit_segments(&self, term: &str, visit: &mut dyn FnMut(u32, Weights)) {
            for (number, segment) in (0..).zip(&self.0) {
                for (_, weights) in segment.iter().filter(|(t, _)| *t == term) {
                    visit(number, *weights);
                }
            }
        }
    }

    fn terms(share: f32) -> Weights {
        Weights { terms: share, ..Weights::default() }
    }

    #[test]
    fn score_is_local_weight_times_rarity() {
        let all = Weights { terms: 0.1, entities: 0.2, topics: 0.3, local_memory: 0.4 };
        let index = Fixed(vec![vec![("cache", terms(0.5))], vec![("cache", all), ("rare", terms(0.25))]]);
        let query = ["cache", "rare", "cache"].map(str::to_owned);
        let routes = route(&query, &index, 10);
        // df(cache) = 2 of 2 segments: idf = ln(3/3) + 1; df(rare) = 1: idf = ln(3/2) + 1.
        let local: f32 = 0.1 + 1.8 * 0.2 + 1.2 * 0.3 + 1.5 * 0.4;
        let expected = local + 0.25 * (1.5_f32.ln() + 1.0);
        assert_eq!(routes.iter().map(|route| route.segment).collect::<Vec<_>>(), [1, 0]);
        assert!((routes[0].score - expected).abs() < 1e-5, "{} and {expected}", routes[0].score);
        assert!((routes[1].score - 0.5).abs() < 1e-5);
        assert_eq!(routes[0].reason, ["cache", "rare"]);
    }

    #[test]
    fn no_shared_term_is_no_route() {
        let index = Fixed(vec![vec![("cache", terms(0.5))]]);
        assert_eq!(route(&["other".to_owned()], &index, 3), []);
        assert_eq!(route(&[], &index, 3), []);
    }

    #[test]
    fn equal_scores_go_by_segment_number_and_the_limit_keeps_the_first() {
        let index = Fixed(vec![vec![("a", terms(0.5))]; 5]);
        let routes = route(&["a".to_owned()], &index, 2);
        assert_eq!(routes.iter().map(|route| route.segment).collect::<Vec<_>>(), [0, 1]);
    }
}
