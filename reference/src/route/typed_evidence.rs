//! TypedEvidence: coverage, and terms that play the same part in query and segment.
//!
//! `score = C + 1.15 TE` with C by
//! [`coverage_local_distinctiveness`](super::coverage_local_distinctiveness) and TE from the sets of terms that query
//! and segment share as people, subjects, times, actions and objects, each counted up to 8: 0 unless two of them are
//! not empty, else `1.4 min(people, 3) + 0.75 min(subjects, 4) + 1.0 min(times, 2) + 0.7 min(actions, 3) + 0.55
//! min(objects, 4)`, plus for each pair that both sets are there: person and any other 1.0, time and any other 0.8,
//! subject and action 0.75, subject and object 0.55, action and object 0.9, plus 0.35 for each set beyond the first.
//! Formula: the first seed of the project's mission; the weights are its. (Its list of pairs that TE needs one of
//! names every pair of two sets, so the first condition says it all.)
//!
//! What is in a set is decided in [`bucket`](crate::route::bucket).

use crate::route::best::best_positive;
use crate::route::bucket::{Buckets, query_buckets};
use crate::route::coverage_local_distinctiveness::{give_evidence_reasons, scores};
use crate::route::question::{Question, distinct};
use crate::route::{Route, RoutingIndex};

/// What typed evidence counts beside coverage.
const SHARE: f32 = 1.15;
/// A shared set counts no more terms.
const CAPACITY: u8 = 8;

/// Number of shared terms by bucket.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shared {
    /// People.
    pub people: u8,
    /// Subjects.
    pub subjects: u8,
    /// Times.
    pub times: u8,
    /// Actions.
    pub actions: u8,
    /// Objects.
    pub objects: u8,
}

impl Shared {
    /// Counts a term that stands in these buckets on both sides.
    fn count(&mut self, buckets: Buckets) {
        let counts = [
            (Buckets::PERSON, &mut self.people),
            (Buckets::SUBJECT, &mut self.subjects),
            (Buckets::TIME, &mut self.times),
            (Buckets::ACTION, &mut self.actions),
            (Buckets::OBJECT, &mut self.objects),
        ];
        for (bucket, count) in counts {
            *count += u8::from(buckets.has(bucket) && *count < CAPACITY);
        }
    }

    /// TE.
    pub fn evidence(self) -> f32 {
        let Shared { people, subjects, times, actions, objects } = self;
        let sets = [people, subjects, times, actions, objects].into_iter().filter(|count| *count > 0).count();
        if sets < 2 {
            return 0.0;
        }
        let counted = |count: u8, most: u8| f32::from(count.min(most));
        let bonus = |is_there: bool, bonus: f32| if is_there { bonus } else { 0.0 };
        1.4 * counted(people, 3)
            + 0.75 * counted(subjects, 4)
            + counted(times, 2)
            + 0.7 * counted(actions, 3)
            + 0.55 * counted(objects, 4)
            + bonus(people > 0, 1.0)
            + bonus(times > 0, 0.8)
            + bonus(subjects > 0 && actions > 0, 0.75)
            + bonus(subjects > 0 && objects > 0, 0.55)
            + bonus(actions > 0 && objects > 0, 0.9)
            + 0.35 * (sets - 1) as f32
    }
}

/// The best `limit` segments with a score above 0, best first.
pub fn route(terms: &[String], index: &dyn RoutingIndex, limit: usize) -> Vec<Route> {
    let question = Question::new(terms, index);
    let mut scores = scores(&question, index);
    let mut shared = vec![Shared::default(); scores.len()];
    for term in distinct(terms) {
        let asked = query_buckets(term);
        index.visit_buckets(term, &mut |segment, held| {
            if let Some(shared) = shared.get_mut(segment as usize) {
                shared.count(asked.and(held));
            }
        });
    }
    for (score, shared) in scores.iter_mut().zip(shared) {
        *score += SHARE * shared.evidence();
    }
    let mut routes = best_positive(&scores, limit);
    give_evidence_reasons(&mut routes, &question, index);
    routes
}
