//! CoverageTeamSelection: a team that brings new terms, new kinds of evidence, new neighbours and a time.
//!
//! A candidate's worth is `G + 1.6 C` with C its score by
//! [`coverage_local_distinctiveness`](super::coverage_local_distinctiveness). Per term of the query that it covers,
//! `gain += 1.35 lw idf em` when no member covers the term, else `0.18 lw idf em`; per pair of kind of evidence and
//! term that no member has, `gain += idf * {entity 0.75, local_memory 0.65, topic 0.45, term 0.30}`, E such pairs. X
//! are its connection terms (its strongest 16 entities, 8 topics and 16 window terms) that no member has, at most 4.
//! The temporal gain is 0.9 when it has a timestamp or a word of time and no member has. Then
//! `G = gain (1 + r) + 2.8 r + c + 0.45 E + 0.20 X + temporal gain` with r and c the shares of idf and of terms that
//! are newly covered; `G = temporal gain` when no pair is new, whatever else it connects to. Looked at are the first
//! `max(16, 5 (members + 1))` by C; see [`team`](crate::route::team) for the order. Formula: the first seed of the
//! project's mission; the weights are its.

use std::collections::{HashMap, HashSet};

use crate::route::coverage_local_distinctiveness::evidence;
use crate::route::profile::Flags;
use crate::route::question::Question;
use crate::route::team::{Candidate, Team, candidates, select};
use crate::route::{Route, RoutingIndex, Weights};

/// Connection terms that count at most.
const CONNECTIONS: usize = 4;
/// What a new pair counts: entity, window, topic, term.
const PAIRS: [f32; 4] = [0.75, 0.65, 0.45, 0.30];

/// Which kinds of evidence a term has, in the order of [`PAIRS`].
fn kinds(weights: Weights) -> [bool; 4] {
    [weights.entities, weights.local_memory, weights.topics, weights.terms].map(|weight| weight > 0.0)
}

struct Selection<'a> {
    question: &'a Question<'a>,
    /// By candidate's segment: its connection terms, and whether it knows a time.
    traits: HashMap<u32, (Vec<u32>, bool)>,
    /// By term: kinds of evidence that members have; any of them is coverage.
    seen: Vec<[bool; 4]>,
    connected: HashSet<u32>,
    knows_time: bool,
}

/// Candidates looked at for a team of `size`.
fn pool(size: usize) -> usize {
    size.saturating_mul(5).max(16)
}

impl Selection<'_> {
    fn new_connections(&self, terms: &[u32]) -> usize {
        terms.iter().filter(|term| !self.connected.contains(term)).take(CONNECTIONS).count()
    }
}

impl Team for Selection<'_> {
    fn pool(&self, size: usize) -> usize {
        pool(size)
    }

    fn worth(&self, candidate: &Candidate) -> f32 {
        let (mut gain, mut rarity, mut terms, mut pairs) = (0.0, 0.0, 0.0, 0.0);
        for (number, weights) in &candidate.held {
            let (Some(term), Some(seen)) = (self.question.terms.get(*number), self.seen.get(*number)) else { continue };
            let is_new = !seen.contains(&true);
            gain += if is_new { 1.35 } else { 0.18 } * term.rarity * evidence(*weights);
            if is_new {
                rarity += term.rarity;
                terms += 1.0;
            }
            for ((has, seen), worth) in kinds(*weights).into_iter().zip(seen).zip(PAIRS) {
                if has && !seen {
                    gain += term.rarity * worth;
                    pairs += 1.0;
                }
            }
        }
        let traits = self.traits.get(&candidate.segment);
        let temporal = if !self.knows_time && traits.is_some_and(|(_, time)| *time) { 0.9 } else { 0.0 };
        let mut worth = temporal + 1.6 * candidate.coverage;
        if pairs > 0.0 {
            let share = rarity / self.question.mass.max(f32::MIN_POSITIVE);
            let connections = traits.map_or(0, |(terms, _)| self.new_connections(terms)) as f32;
            let covered = terms / self.question.size().max(1.0);
            worth += gain * (1.0 + share) + 2.8 * share + covered + 0.45 * pairs + 0.20 * connections;
        }
        worth
    }

    fn take(&mut self, candidate: &Candidate) {
        for (number, weights) in &candidate.held {
            for (seen, has) in self.seen.get_mut(*number).into_iter().flatten().zip(kinds(*weights)) {
                *seen |= has;
            }
        }
        if let Some((terms, time)) = self.traits.get(&candidate.segment) {
            self.connected.extend(terms);
            self.knows_time |= time;
        }
    }
}

/// The first `limit` members of the team, in the order of taking.
pub fn route(terms: &[String], index: &dyn RoutingIndex, limit: usize) -> Vec<Route> {
    let question = Question::new(terms, index);
    let candidates = candidates(&question, index, pool(limit));
    if candidates.is_empty() {
        return Vec::new();
    }
    let mut flags = vec![Flags::default(); index.segments() as usize];
    index.fill_flags(&mut flags);
    let traits = candidates.iter().map(|candidate| {
        let mut terms = Vec::new();
        index.visit_connections(candidate.segment, &mut |term| terms.push(term));
        let knows_time = flags.get(candidate.segment as usize).is_some_and(|flags| flags.knows_time());
        (candidate.segment, (terms, knows_time))
    });
    let mut team = Selection {
        question: &question,
        traits: traits.collect(),
        seen: vec![[false; 4]; question.terms.len()],
        connected: HashSet::new(),
        knows_time: false,
    };
    select(candidates, &mut team, &question, index, limit)
}
