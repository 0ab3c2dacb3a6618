//! TeamCoverageLocalDistinctiveness: a team that covers the query's terms, each term once.
//!
//! A candidate's worth is `G + 2 C` with C its score by
//! [`coverage_local_distinctiveness`](super::coverage_local_distinctiveness) and, over the terms that it covers and no
//! member does, `G = g (1 + r) + 2.5 r + c`: `g = sum of lw idf em`, r the share of the query's idf and c the share of
//! its terms; `G = 0` without such a term. Looked at are the first `max(8, 3 (members + 1))` by C; see
//! [`team`](super::team) for the order. Formula: the first seed of the project's mission; the weights are its.

use crate::route::coverage_local_distinctiveness::evidence;
use crate::route::question::Question;
use crate::route::team::{Candidate, Team, candidates, select};
use crate::route::{Route, RoutingIndex};

struct Coverage<'a> {
    question: &'a Question<'a>,
    covered: Vec<bool>,
}

/// Candidates looked at for a team of `size`.
fn pool(size: usize) -> usize {
    size.saturating_mul(3).max(8)
}

impl Team for Coverage<'_> {
    fn pool(&self, size: usize) -> usize {
        pool(size)
    }

    fn worth(&self, candidate: &Candidate) -> f32 {
        let (mut gain, mut rarity, mut terms) = (0.0, 0.0, 0.0);
        for (number, weights) in &candidate.held {
            let is_new = self.covered.get(*number) == Some(&false);
            if let Some(term) = self.question.terms.get(*number).filter(|_| is_new) {
                gain += term.rarity * evidence(*weights);
                rarity += term.rarity;
                terms += 1.0;
            }
        }
        let share = rarity / self.question.mass.max(f32::MIN_POSITIVE);
        let gain = gain * (1.0 + share) + 2.5 * share + terms / self.question.size().max(1.0);
        gain + 2.0 * candidate.coverage
    }

    fn take(&mut self, candidate: &Candidate) {
        for (number, _) in &candidate.held {
            if let Some(covered) = self.covered.get_mut(*number) {
                *covered = true;
            }
        }
    }
}

/// The first `limit` members of the team, in the order of taking.
pub fn route(terms: &[String], index: &dyn RoutingIndex, limit: usize) -> Vec<Route> {
    let question = Question::new(terms, index);
    let mut team = Coverage { question: &question, covered: vec![false; question.terms.len()] };
    select(candidates(&question, index, pool(limit)), &mut team, &question, index, limit)
}
