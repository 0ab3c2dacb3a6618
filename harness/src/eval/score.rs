//! Scores of one run: what each query's answer is worth, by what was judged.
//!
//! Pure. Rankings are scored by [`quality`](crate::quality); what would be injected and where was looked comes from the
//! system's decisions, when it wrote any.

use std::collections::HashMap;

use super::answers::{Answer, RunAnswers};
use super::collection::{Collection, Query};
use crate::quality::{MIN_GRADE, Ranking};

/// Ranks that the measures look at.
pub const DEPTH: u32 = 10;

/// One query's answer, scored.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// The query.
    pub qid: String,
    /// Its project.
    pub project: String,
    /// Its form.
    pub form: String,
    /// Its kind.
    pub kind: String,
    /// Measures of the ranking; absent for a query without answer.
    pub ranking: Option<RankingScore>,
    /// What would be injected; absent when the system wrote no decision.
    pub injection: Option<InjectionScore>,
    /// Where was looked; absent when the system named no routes, or nothing is relevant.
    pub routing: Option<RoutingScore>,
    /// Time of choosing segments, in microseconds.
    pub route_us: Option<u64>,
    /// Time of the whole query, in microseconds.
    pub query_us: Option<u64>,
}

/// Measures of a ranking within ten ranks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankingScore {
    /// One over the rank of the first relevant record.
    pub rr: f64,
    /// Whether the first record is relevant.
    pub p1: f64,
    /// Share of relevant records among three.
    pub p3: f64,
    /// Discounted gain over the best possible.
    pub ndcg: f64,
    /// Share of the relevant records that is within ten.
    pub recall: f64,
}

/// What would reach the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InjectionScore {
    /// Records.
    pub n: u64,
    /// Relevant ones among them.
    pub n_relevant: u64,
    /// Whether the first is relevant.
    pub first_relevant: bool,
    /// Bytes.
    pub bytes: u64,
}

/// Where was looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoutingScore {
    /// Segments looked into.
    pub n_routed: u64,
    /// Those among them that hold a relevant record.
    pub n_hit: u64,
    /// Segments that hold a relevant record.
    pub n_relevant: u64,
}

impl RoutingScore {
    /// Share of the segments looked into that hold a relevant record; none when nothing was looked into.
    pub fn precision(self) -> Option<f64> {
        (self.n_routed > 0).then(|| self.n_hit as f64 / self.n_routed as f64)
    }

    /// Share of the segments with a relevant record that were looked into.
    pub fn recall(self) -> f64 {
        self.n_hit as f64 / self.n_relevant.max(1) as f64
    }
}

/// Scores a run: every query of the collection; a query that the run leaves out found nothing.
///
/// In the order of query ids, whatever theirs in the collection: resampling draws by place, so merged shards give the
/// intervals of the whole only when both have one order.
pub fn score(collection: &Collection, run: &RunAnswers) -> Vec<Scored> {
    let answers: HashMap<&str, &Answer> = run.answers.iter().map(|answer| (&*answer.qid, answer)).collect();
    let scored = |query: &Query| score_query(query, answers.get(&*query.qid).copied());
    let mut scores: Vec<Scored> = collection.queries.iter().map(scored).collect();
    scores.sort_by(|left, right| left.qid.cmp(&right.qid));
    scores
}

fn score_query(query: &Query, answer: Option<&Answer>) -> Scored {
    let relevant = |doc_id: &String| query.judged.iter().any(|(judged, grade)| judged == doc_id && *grade >= MIN_GRADE);
    let ranking = Ranking::new(answer.map_or(&[], |answer| &answer.ranked), &query.judged);
    let scored = || {
        Some(RankingScore {
            rr: ranking.reciprocal_rank(DEPTH, MIN_GRADE)?,
            p1: ranking.precision(1, MIN_GRADE)?,
            p3: ranking.precision(3, MIN_GRADE)?,
            ndcg: ranking.ndcg(DEPTH)?,
            recall: ranking.recall(DEPTH, MIN_GRADE)?,
        })
    };
    let decision = answer.and_then(|answer| answer.decision.as_ref());
    let routes = decision.and_then(|decision| decision.routes.as_ref());
    Scored {
        qid: query.qid.clone(),
        project: query.project.clone(),
        form: query.form.clone(),
        kind: query.kind.clone(),
        ranking: scored(),
        injection: decision.map(|decision| InjectionScore {
            n: decision.injected.len() as u64,
            n_relevant: decision.injected.iter().filter(|id| relevant(id)).count() as u64,
            first_relevant: decision.injected.first().is_some_and(relevant),
            bytes: decision.injected_bytes,
        }),
        routing: routes.filter(|_| !query.segments.is_empty()).map(|routes| RoutingScore {
            n_routed: routes.len() as u64,
            n_hit: query.segments.iter().filter(|segment| routes.iter().any(|route| names(route, segment))).count()
                as u64,
            n_relevant: query.segments.len() as u64,
        }),
        route_us: decision.and_then(|decision| decision.route_us),
        query_us: decision.and_then(|decision| decision.query_us),
    }
}

/// Whether a route is this session: by its id, or by a longer name that ends with it.
fn names(route: &str, session: &str) -> bool {
    route == session || route.strip_suffix(session).is_some_and(|before| before.ends_with(':'))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::answers::Decision;
    use super::*;

    #[test]
    fn routes_are_sessions_by_short_or_long_name() {
        assert!(names("s_1", "s_1") && names("claude-session:p:s_1", "s_1"));
        assert!(!names("s_11", "s_1") && !names("xs_1", "s_1"));
    }

    #[test]
    fn precision_and_recall_of_routing_count_segments() {
        // Four looked into, one of the two relevant among them.
        let routing = RoutingScore { n_routed: 4, n_hit: 1, n_relevant: 2 };
        assert_eq!((routing.precision(), routing.recall()), (Some(0.25), 0.5));
        assert_eq!(RoutingScore { n_routed: 0, n_hit: 0, n_relevant: 1 }.precision(), None);
    }

    #[test]
    fn a_decision_is_scored_by_what_was_judged() {
        let query = Query::for_test("q", &[("a", 3), ("b", 1), ("c", 2)], HashSet::from(["s_1".to_owned()]));
        let decision = Decision {
            injected: ["b", "a"].map(str::to_owned).into(),
            injected_bytes: 300,
            routes: Some(vec!["x:s_1".to_owned(), "x:s_2".to_owned()]),
            route_us: Some(5),
            query_us: Some(9),
        };
        let ranked = ["b", "x", "a", "c"].map(str::to_owned).into();
        let scored = score_query(&query, Some(&Answer { qid: "q".to_owned(), ranked, decision: Some(decision) }));
        assert_eq!(scored.injection, Some(InjectionScore { n: 2, n_relevant: 1, first_relevant: false, bytes: 300 }));
        assert_eq!(scored.routing, Some(RoutingScore { n_routed: 2, n_hit: 1, n_relevant: 1 }));
        let ranking = scored.ranking.map(|ranking| (ranking.rr, ranking.p1, ranking.recall));
        assert_eq!(ranking, Some((1.0 / 3.0, 0.0, 1.0)));
    }

    #[test]
    fn a_query_that_the_run_leaves_out_found_nothing() {
        let query = Query::for_test("q", &[("a", 3)], HashSet::new());
        let scored = score_query(&query, None);
        assert_eq!(scored.ranking.map(|ranking| ranking.rr), Some(0.0));
        assert_eq!((scored.injection, scored.routing), (None, None));
    }
}
