//! The best few of scored segments, and which terms spoke for them.

use crate::route::question::{Question, Term};
use crate::route::{REASON_TERMS, Route};

/// Terms that more segments have are named in no reason: they say little, and remembering them costs much.
const NAMED_FREQUENCY: u32 = 1_024;

/// Places of a few segments in a list of them. Asked for every entry of long lists, of which hardly any is among the
/// few: one byte a segment says so before anything is searched.
pub struct Places {
    marks: Vec<bool>,
    places: Vec<(u32, usize)>,
}

impl Places {
    /// The places of these segments, in order.
    pub fn of(segments: impl Iterator<Item = u32>) -> Places {
        let mut places: Vec<(u32, usize)> = segments.zip(0..).collect();
        places.sort_unstable();
        let mut marks = vec![false; places.last().map_or(0, |(segment, _)| *segment as usize + 1)];
        for (segment, _) in &places {
            if let Some(mark) = marks.get_mut(*segment as usize) {
                *mark = true;
            }
        }
        Places { marks, places }
    }

    /// The place of a segment.
    pub fn find(&self, segment: u32) -> Option<usize> {
        if !self.marks.get(segment as usize).copied().unwrap_or(false) {
            return None;
        }
        let found = self.places.binary_search_by_key(&segment, |(segment, _)| *segment).ok()?;
        self.places.get(found).map(|(_, place)| *place)
    }
}

/// The `limit` highest scores, highest first, equal ones by segment number. `scores` come by segment, ascending;
/// those without a signal are left out by the caller.
pub fn best(scores: impl Iterator<Item = (u32, f32)>, limit: usize) -> Vec<Route> {
    let mut routes: Vec<Route> = Vec::new();
    let mut least = f32::NEG_INFINITY;
    for (segment, score) in scores {
        // Segments come in ascending order, so an equal score never displaces an earlier one.
        if score > least && limit > 0 {
            let place = routes.partition_point(|route| route.score >= score);
            routes.insert(place, Route { segment, score, reason: Vec::new() });
            routes.truncate(limit);
            if routes.len() == limit {
                least = routes.last().map_or(f32::INFINITY, |route| route.score);
            }
        }
    }
    routes
}

/// As [`best`], over one score a segment; a score has a signal when it is above 0.
pub fn best_positive(scores: &[f32], limit: usize) -> Vec<Route> {
    best((0..).zip(scores.iter().copied()).filter(|(_, score)| *score > 0.0), limit)
}

/// Called with a term and `add`, calls `add(segment, gain)` for each segment that the term speaks for.
pub type Gains<'a> = dyn Fn(&Term<'_>, &mut dyn FnMut(u32, f32)) + 'a;

/// Fills in the reasons.
pub fn give_reasons(routes: &mut [Route], question: &Question<'_>, gains: &Gains<'_>) {
    let places = Places::of(routes.iter().map(|route| route.segment));
    let mut named: Vec<Vec<(f32, &str)>> = vec![Vec::new(); routes.len()];
    for term in question.terms.iter().filter(|term| term.frequency <= NAMED_FREQUENCY) {
        gains(term, &mut |segment, gain| {
            let place = places.find(segment).and_then(|place| named.get_mut(place));
            if let Some(named) = place.filter(|_| gain > 0.0) {
                named.push((gain, term.text));
            }
        });
    }
    for (route, mut named) in routes.iter_mut().zip(named) {
        named.sort_by(|a, b| b.0.total_cmp(&a.0));
        route.reason = named.into_iter().take(REASON_TERMS).map(|(_, term)| term.to_owned()).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_scores_go_by_segment_number_and_the_limit_keeps_the_first() {
        let chosen = |scores: &[f32], limit| -> Vec<u32> {
            best_positive(scores, limit).iter().map(|route| route.segment).collect()
        };
        assert_eq!(chosen(&[0.5, 0.0, 0.5, 0.7, 0.5], 3), [3, 0, 2]);
        assert_eq!(chosen(&[0.5, 0.7], 9), [1, 0]);
        assert_eq!(chosen(&[0.5], 0), [0; 0]);
    }
}
