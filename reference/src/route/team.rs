//! Greedy selection of a team: segments that cover together what none of them covers alone.
//!
//! At each step the candidates are the unselected segments among the first few by coverage (see
//! [`coverage_local_distinctiveness`](super::coverage_local_distinctiveness)), few growing with the team; the one of
//! most worth beside those already chosen is taken, of equal ones the one with the smaller number. The order of taking
//! is the order of the routes. A segment that covers no term of the query has no signal and is no candidate.

use crate::route::best::{Places, best_positive};
use crate::route::coverage_local_distinctiveness::{give_evidence_reasons, scores};
use crate::route::question::Question;
use crate::route::{Route, RoutingIndex, Weights};

/// A segment that may be taken.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Its number.
    pub segment: u32,
    /// Its coverage score, C of the formulas.
    pub coverage: f32,
    /// The query's terms that it covers, by their place in the question.
    pub held: Vec<(usize, Weights)>,
}

/// What a team values.
pub trait Team {
    /// Candidates looked at by coverage when the team is to have `size` members.
    fn pool(&self, size: usize) -> usize;
    /// Worth of a candidate beside those taken before.
    fn worth(&self, candidate: &Candidate) -> f32;
    /// Takes a candidate in.
    fn take(&mut self, candidate: &Candidate);
}

/// The candidates that a team of `limit` can ever look at, best first by coverage.
pub fn candidates(question: &Question<'_>, index: &dyn RoutingIndex, pool: usize) -> Vec<Candidate> {
    let ranked = best_positive(&scores(question, index), pool);
    let places = Places::of(ranked.iter().map(|route| route.segment));
    let mut all: Vec<Candidate> = ranked
        .into_iter()
        .map(|route| Candidate { segment: route.segment, coverage: route.score, held: Vec::new() })
        .collect();
    for (number, term) in question.terms.iter().enumerate() {
        index.visit_segments(term.text, &mut |segment, weights| {
            if let Some(candidate) = places.find(segment).and_then(|place| all.get_mut(place)) {
                candidate.held.push((number, weights));
            }
        });
    }
    all
}

/// Takes up to `limit` candidates, given best first by coverage; a route's score is the worth when it was taken.
pub fn select(
    mut candidates: Vec<Candidate>,
    team: &mut dyn Team,
    question: &Question<'_>,
    index: &dyn RoutingIndex,
    limit: usize,
) -> Vec<Route> {
    let mut routes: Vec<Route> = Vec::new();
    while routes.len() < limit && !candidates.is_empty() {
        // Those taken before stood within this pool, so what is left of it is that much shorter.
        let pool = team.pool(routes.len() + 1).saturating_sub(routes.len()).max(1);
        let mut chosen: Option<(usize, f32, u32)> = None;
        for (place, candidate) in candidates.iter().enumerate().take(pool) {
            let worth = team.worth(candidate);
            let is_better =
                chosen.is_none_or(|(_, most, segment)| worth > most || (worth == most && candidate.segment < segment));
            if is_better {
                chosen = Some((place, worth, candidate.segment));
            }
        }
        let Some((place, score, segment)) = chosen else { break };
        team.take(&candidates.remove(place));
        routes.push(Route { segment, score, reason: Vec::new() });
    }
    give_evidence_reasons(&mut routes, question, index);
    routes
}
