//! The seven formulas written down a second time, over all segments, in double precision and without an index.

use std::collections::BTreeSet;

use hookmem::route::bucket::{Buckets, query_buckets};
use hookmem::route::{Route, Strategy, Weights};
use proptest::prelude::*;

use crate::profiles::{Profiles, Segment, profiles, query};

/// terms, entities, topics, local_memory.
type Shares = [f64; 4];

struct Slow<'a> {
    segments: &'a [Segment],
    /// Distinct query terms that a profile has.
    query: Vec<&'a str>,
    /// All distinct query terms.
    asked: Vec<&'a str>,
}

impl<'a> Slow<'a> {
    fn new(profiles: &'a Profiles, terms: &'a [String]) -> Slow<'a> {
        let mut asked: Vec<&str> = Vec::new();
        for term in terms {
            if !asked.contains(&term.as_str()) {
                asked.push(term);
            }
        }
        let segments = profiles.0.as_slice();
        let is_known = |term: &&str| segments.iter().any(|segment| segment.weights.contains_key(*term));
        Slow { segments, query: asked.iter().copied().filter(is_known).collect(), asked }
    }

    fn shares(&self, s: usize, t: &str) -> Shares {
        self.segments[s]
            .weights
            .get(t)
            .map_or([0.0; 4], |w: &Weights| [w.terms, w.entities, w.topics, w.local_memory].map(f64::from))
    }

    fn covers(&self, s: usize, t: &str) -> bool {
        self.shares(s, t).iter().any(|share| *share > 0.0)
    }

    fn idf(&self, t: &str) -> f64 {
        let df = (0..self.segments.len()).filter(|s| self.covers(*s, t)).count();
        ((self.segments.len() as f64 + 1.0) / (df as f64 + 1.0)).ln() + 1.0
    }

    fn lw(&self, s: usize, t: &str) -> f64 {
        let [terms, entities, topics, local] = self.shares(s, t);
        terms + 1.8 * entities + 1.2 * topics + 1.5 * local
    }

    fn em(&self, s: usize, t: &str) -> f64 {
        let [_, entities, topics, local] = self.shares(s, t);
        let mut em = 1.0;
        if entities > 0.0 {
            em += 0.45;
        }
        if local > 0.0 {
            em += 0.35;
        }
        if topics > 0.0 {
            em += 0.15;
        }
        em
    }

    fn sparse_overlap(&self, s: usize) -> f64 {
        let of = |t: &&str| {
            let [terms, entities, topics, _] = self.shares(s, t);
            terms + 1.3 * entities + 0.7 * topics
        };
        self.query.iter().map(of).sum()
    }

    fn kl_divergence(&self, s: usize) -> f64 {
        let raw = |[terms, entities, topics, local]: Shares| terms + 1.3 * entities + 0.7 * topics + 0.5 * local;
        let sum: f64 = self.segments[s].weights.keys().map(|t| raw(self.shares(s, t))).sum();
        let q = 1.0 / self.query.len() as f64;
        -self.query.iter().map(|t| q * (q / (raw(self.shares(s, t)) / sum).max(1e-6)).ln()).sum::<f64>()
    }

    fn local_distinctiveness(&self, s: usize) -> f64 {
        self.query.iter().map(|t| self.lw(s, t) * self.idf(t)).sum()
    }

    fn coverage(&self, s: usize) -> f64 {
        let covered: Vec<&str> = self.query.iter().copied().filter(|t| self.covers(s, t)).collect();
        if covered.is_empty() {
            return 0.0;
        }
        let n = covered.len() as f64;
        let w: f64 = covered.iter().map(|t| self.lw(s, t) * self.idf(t) * self.em(s, t)).sum();
        let r = covered.iter().map(|t| self.idf(t)).sum::<f64>() / self.query.iter().map(|t| self.idf(t)).sum::<f64>();
        w * (1.0 + r) + 2.0 * r + n / self.query.len() as f64 + 0.75 * (n - 1.0).sqrt()
    }

    fn typed_evidence(&self, s: usize) -> f64 {
        let shared = |bucket: Buckets| {
            let held = |t: &&&str| {
                let held = self.segments[s].buckets.get(**t).copied().unwrap_or_default();
                held.has(bucket) && query_buckets(t).has(bucket)
            };
            self.asked.iter().filter(held).count().min(8) as f64
        };
        let [person, subject, time, action, object] =
            [Buckets::PERSON, Buckets::SUBJECT, Buckets::TIME, Buckets::ACTION, Buckets::OBJECT].map(shared);
        let any = [person, subject, time, action, object].iter().filter(|n| **n > 0.0).count();
        let mut te = 0.0;
        if any >= 2 {
            te = 1.4 * person.min(3.0) + 0.75 * subject.min(4.0) + time.min(2.0) + 0.7 * action.min(3.0);
            te += 0.55 * object.min(4.0) + 0.35 * (any as f64 - 1.0);
            let pairs = [
                (person > 0.0, 1.0),
                (time > 0.0, 0.8),
                (subject > 0.0 && action > 0.0, 0.75),
                (subject > 0.0 && object > 0.0, 0.55),
                (action > 0.0 && object > 0.0, 0.9),
            ];
            te += pairs.iter().filter(|(there, _)| *there).map(|(_, bonus)| bonus).sum::<f64>();
        }
        self.coverage(s) + 1.15 * te
    }

    fn uncovered(&self, chosen: &[usize], s: usize) -> Vec<&str> {
        let is_new = |t: &&str| self.covers(s, t) && !chosen.iter().any(|c| self.covers(*c, t));
        self.query.iter().copied().filter(is_new).collect()
    }

    fn team_worth(&self, chosen: &[usize], s: usize) -> f64 {
        let new = self.uncovered(chosen, s);
        let g: f64 = new.iter().map(|t| self.lw(s, t) * self.idf(t) * self.em(s, t)).sum();
        let r = self.share_of_idf(&new);
        g * (1.0 + r) + 2.5 * r + new.len() as f64 / self.query.len() as f64 + 2.0 * self.coverage(s)
    }

    fn share_of_idf(&self, terms: &[&str]) -> f64 {
        terms.iter().map(|t| self.idf(t)).sum::<f64>() / self.query.iter().map(|t| self.idf(t)).sum::<f64>()
    }

    fn selection_worth(&self, chosen: &[usize], s: usize) -> f64 {
        let new = self.uncovered(chosen, s);
        let weight = |t: &&&str| self.lw(s, t) * self.idf(t) * self.em(s, t);
        let mut gain: f64 = new.iter().map(|t| 1.35 * weight(&t)).sum();
        gain += self.query.iter().filter(|t| !new.contains(*t)).map(|t| 0.18 * weight(&t)).sum::<f64>();
        let mut pairs = 0.0;
        for t in &self.query {
            for (kind, worth) in [(0, 0.30), (1, 0.75), (2, 0.45), (3, 0.65)] {
                let has = |s: usize| self.shares(s, t)[kind] > 0.0;
                if has(s) && !chosen.iter().any(|c| has(*c)) {
                    gain += self.idf(t) * worth;
                    pairs += 1.0;
                }
            }
        }
        let seen: BTreeSet<u32> = chosen.iter().flat_map(|c| self.segments[*c].connections.clone()).collect();
        let x = self.segments[s].connections.difference(&seen).count().min(4) as f64;
        let knows = |s: usize| self.segments[s].knows_time;
        let temporal = if knows(s) && !chosen.iter().any(|c| knows(*c)) { 0.9 } else { 0.0 };
        let mut worth = temporal;
        if pairs > 0.0 {
            let r = self.share_of_idf(&new);
            let c = new.len() as f64 / self.query.len() as f64;
            worth += gain * (1.0 + r) + 2.8 * r + c + 0.45 * pairs + 0.20 * x;
        }
        worth + 1.6 * self.coverage(s)
    }

    /// (segment, score) in order.
    fn route(&self, strategy: Strategy, limit: usize) -> Vec<(usize, f64)> {
        let all = 0..self.segments.len();
        let score: &dyn Fn(usize) -> f64 = match strategy {
            Strategy::SparseOverlap => &|s| self.sparse_overlap(s),
            Strategy::KlDivergence => &|s| self.kl_divergence(s),
            Strategy::LocalDistinctiveness => &|s| self.local_distinctiveness(s),
            Strategy::CoverageLocalDistinctiveness => &|s| self.coverage(s),
            Strategy::TypedEvidence => &|s| self.typed_evidence(s),
            Strategy::TeamCoverageLocalDistinctiveness => return self.team(8, 3, limit, &|c, s| self.team_worth(c, s)),
            Strategy::CoverageTeamSelection => return self.team(16, 5, limit, &|c, s| self.selection_worth(c, s)),
        };
        let has_signal = |s: &usize| match strategy {
            Strategy::KlDivergence => self.query.iter().any(|t| self.covers(*s, t)),
            _ => score(*s) > 0.0,
        };
        let mut routes: Vec<(usize, f64)> = all.filter(has_signal).map(|s| (s, score(s))).collect();
        routes.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        routes.truncate(limit);
        routes
    }

    fn team(
        &self,
        least: usize,
        times: usize,
        limit: usize,
        worth: &dyn Fn(&[usize], usize) -> f64,
    ) -> Vec<(usize, f64)> {
        let ranked = self.route(Strategy::CoverageLocalDistinctiveness, usize::MAX);
        let mut routes: Vec<(usize, f64)> = Vec::new();
        while routes.len() < limit.min(ranked.len()) {
            let chosen: Vec<usize> = routes.iter().map(|(s, _)| *s).collect();
            let pool = ranked.iter().take(least.max(times * (chosen.len() + 1))).map(|(s, _)| *s);
            let worths = pool.filter(|s| !chosen.contains(s)).map(|s| (s, worth(&chosen, s)));
            routes.extend(worths.min_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0))));
        }
        routes
    }
}

/// Whether two of the scores lie so close that single precision may order them otherwise.
pub(crate) fn has_near_ties(scores: impl Iterator<Item = f64>) -> bool {
    let mut scores: Vec<f64> = scores.collect();
    scores.sort_by(f64::total_cmp);
    scores.windows(2).any(|pair| pair[1] - pair[0] <= 1e-4 * pair[1].abs().max(1.0))
}

fn check(strategy: Strategy, profiles: &Profiles, terms: &[String], limit: usize) -> Result<(), TestCaseError> {
    let slow = Slow::new(profiles, terms);
    prop_assume!(!has_near_ties(slow.route(strategy, usize::MAX).iter().map(|(_, score)| *score)));
    prop_assume!(!has_near_ties((0..profiles.0.len()).map(|s| slow.coverage(s)).filter(|score| *score > 0.0)));
    let expected = slow.route(strategy, limit);
    let found: Vec<Route> = strategy.route(terms, profiles, limit);
    let segments: Vec<usize> = found.iter().map(|route| route.segment as usize).collect();
    prop_assert_eq!(segments, expected.iter().map(|(s, _)| *s).collect::<Vec<_>>());
    for (route, (_, score)) in found.iter().zip(&expected) {
        let difference = (f64::from(route.score) - score).abs();
        prop_assert!(difference <= 1e-4 * score.abs().max(1.0), "{} is not {}", route.score, score);
    }
    Ok(())
}

proptest! {
    #![proptest_config(crate::profiles::config())]

    #[test]
    fn every_strategy_scores_as_its_formula_says(
        strategy in proptest::sample::select(Strategy::ALL.to_vec()),
        profiles in profiles(),
        terms in query(),
        limit in 0_usize..12,
    ) {
        check(strategy, &profiles, &terms, limit)?;
    }
}
