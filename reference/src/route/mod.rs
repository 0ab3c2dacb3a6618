//! Routing: which few segments (sessions) a query should look into.
//!
//! A [`Strategy`] is one function from query terms and a [`RoutingIndex`] to ordered [`Route`]s, best first, without
//! the segments that have no signal; one file each. Two more ways need no profile: [`best_record`], which the hook
//! uses, and [`bm25_max`]. [`Routing`] is the choice among all of them.
//!
//! Held by every strategy: a repeated term counts once; a term that no segment knows changes nothing; a query without
//! terms, or with unknown ones only, routes nowhere; scores are finite; equal scores go by segment number.
//! Not here: where profiles are kept (`store`), scoring of documents (`rank`).

pub mod best;
pub mod best_record;
pub mod bm25_max;
pub mod bucket;
pub mod coverage_local_distinctiveness;
pub mod coverage_team_selection;
pub mod gathering;
pub mod kl_divergence;
pub mod local_distinctiveness;
pub mod profile;
pub mod question;
pub mod sparse_overlap;
pub mod team;
pub mod team_coverage_local_distinctiveness;
pub mod typed_evidence;

use crate::route::bucket::Buckets;
use crate::route::profile::Flags;

/// What a segment's profile says of one term: its share in each of four distributions, each summing to 1 over
/// the segment's terms. 0 where the distribution does not have the term.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Weights {
    /// Share in the important terms.
    pub terms: f32,
    /// Share in the key entities: identifiers, paths, names.
    pub entities: f32,
    /// Share in the topics.
    pub topics: f32,
    /// Share in the rolling window's memory.
    pub local_memory: f32,
}

/// Read-only access to the profiles of all segments, by term.
pub trait RoutingIndex {
    /// Number of segments.
    fn segments(&self) -> u32;
    /// Number of segments whose profile has the term.
    fn segment_frequency(&self, term: &str) -> u32;
    /// Calls `visit(segment, weights)` for each segment whose profile has the term. A segment comes once.
    fn visit_segments(&self, term: &str, visit: &mut dyn FnMut(u32, Weights));
    /// Calls `visit(segment, local weight)` for each segment whose profile has the term: what
    /// [`local_distinctiveness::local_weight`] makes of its weights, for indexes that keep it ready.
    fn visit_local(&self, term: &str, visit: &mut dyn FnMut(u32, f32)) {
        self.visit_segments(term, &mut |segment, weights| {
            visit(segment, local_distinctiveness::local_weight(weights));
        });
    }
    /// Adds `factor` times the local weight of the term to the score of each segment that has it; `scores` has one
    /// place a segment.
    fn add_local(&self, term: &str, factor: f32, scores: &mut [f32]) {
        self.visit_local(term, &mut |segment, weight| {
            if let Some(score) = scores.get_mut(segment as usize) {
                *score += factor * weight;
            }
        });
    }
    /// Calls `visit(segment, buckets)` for each segment that has the term in a typed bucket. A segment comes once.
    fn visit_buckets(&self, term: &str, visit: &mut dyn FnMut(u32, Buckets));
    /// Sets what is known of each segment's profile as a whole; `flags` has one place a segment.
    fn fill_flags(&self, flags: &mut [Flags]);
    /// Calls `visit(term)` for each of the segment's connection terms, given by the upper half of their hash.
    fn visit_connections(&self, segment: u32, visit: &mut dyn FnMut(u32));
}

/// A chosen segment.
#[derive(Debug, Clone, PartialEq)]
pub struct Route {
    /// Its number in the index that was asked.
    pub segment: u32,
    /// The strategy's score; comparable within one call only.
    pub score: f32,
    /// Which terms spoke for it, strongest first, at most [`REASON_TERMS`]; none that very many segments have. Empty
    /// where the best record is the reason.
    pub reason: Vec<String>,
}

/// Terms named in a route's reason.
pub const REASON_TERMS: usize = 4;

/// Share of the best route's score under which a segment is not looked into.
const ROUTE_CUT: f32 = 0.1;

/// How segments are scored by their profiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strategy {
    /// Shares of the query's terms, summed; see [`sparse_overlap::route`].
    SparseOverlap,
    /// Divergence of the profile from the query; see [`kl_divergence::route`].
    KlDivergence,
    /// Rare terms that weigh much in the segment's profile; see [`local_distinctiveness::route`].
    #[default]
    LocalDistinctiveness,
    /// The same, and how much of the query is covered; see [`coverage_local_distinctiveness::route`].
    CoverageLocalDistinctiveness,
    /// Segments that cover together what none covers alone; see [`team_coverage_local_distinctiveness::route`].
    TeamCoverageLocalDistinctiveness,
    /// The same by kinds of evidence and connections; see [`coverage_team_selection::route`].
    CoverageTeamSelection,
    /// Coverage, and what plays the same part in query and segment; see [`typed_evidence::route`].
    TypedEvidence,
}

impl Strategy {
    /// Every strategy.
    pub const ALL: [Strategy; 7] = [
        Strategy::SparseOverlap,
        Strategy::KlDivergence,
        Strategy::LocalDistinctiveness,
        Strategy::CoverageLocalDistinctiveness,
        Strategy::TeamCoverageLocalDistinctiveness,
        Strategy::CoverageTeamSelection,
        Strategy::TypedEvidence,
    ];

    /// The name on the command line and in configuration.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::SparseOverlap => "sparse-overlap",
            Strategy::KlDivergence => "kl-divergence",
            Strategy::LocalDistinctiveness => "local-distinctiveness",
            Strategy::CoverageLocalDistinctiveness => "coverage-local-distinctiveness",
            Strategy::TeamCoverageLocalDistinctiveness => "team-coverage-local-distinctiveness",
            Strategy::CoverageTeamSelection => "coverage-team-selection",
            Strategy::TypedEvidence => "typed-evidence",
        }
    }

    /// The strategy with this name.
    pub fn parse(name: &str) -> Option<Strategy> {
        Strategy::ALL.into_iter().find(|strategy| strategy.name() == name)
    }

    /// The best `limit` segments with signal for the query's terms, best first; equal scores by segment number.
    /// Repeated terms count once.
    pub fn route(self, terms: &[String], index: &dyn RoutingIndex, limit: usize) -> Vec<Route> {
        match self {
            Strategy::SparseOverlap => sparse_overlap::route(terms, index, limit),
            Strategy::KlDivergence => kl_divergence::route(terms, index, limit),
            Strategy::LocalDistinctiveness => local_distinctiveness::route(terms, index, limit),
            Strategy::CoverageLocalDistinctiveness => coverage_local_distinctiveness::route(terms, index, limit),
            Strategy::TeamCoverageLocalDistinctiveness => {
                team_coverage_local_distinctiveness::route(terms, index, limit)
            }
            Strategy::CoverageTeamSelection => coverage_team_selection::route(terms, index, limit),
            Strategy::TypedEvidence => typed_evidence::route(terms, index, limit),
        }
    }

    /// As [`Strategy::route`], without the routes that are far worse than the best one. KL divergences have no zero
    /// to measure a share from, so none of them is cut.
    pub fn route_within_cut(self, terms: &[String], index: &dyn RoutingIndex, limit: usize) -> Vec<Route> {
        let mut routes = self.route(terms, index, limit);
        if self != Strategy::KlDivergence {
            let best = routes.iter().map(|route| route.score).fold(0.0, f32::max);
            routes.retain(|route| route.score >= best * ROUTE_CUT);
        }
        routes
    }
}

/// Which segments a query looks into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Routing {
    /// All of them: no routing.
    AllSegments,
    /// Those of the best records by the content's words alone; see [`bm25_max`].
    BestContent,
    /// Those of the best records by the whole score, written evidence included; see [`best_record`].
    BestRecord,
    /// Those that a strategy picks by their profiles.
    Profiles(Strategy),
}

impl Routing {
    /// The name on the command line and in configuration: `all-segments`, `bm25-max`, `best-record` or the
    /// strategy's.
    pub fn name(self) -> &'static str {
        match self {
            Routing::AllSegments => "all-segments",
            Routing::BestContent => "bm25-max",
            Routing::BestRecord => "best-record",
            Routing::Profiles(strategy) => strategy.name(),
        }
    }

    /// Routing by its name.
    pub fn parse(name: &str) -> Option<Routing> {
        Routing::all().find(|routing| routing.name() == name)
    }

    /// Every routing.
    pub fn all() -> impl Iterator<Item = Routing> {
        let without_profiles = [Routing::AllSegments, Routing::BestContent, Routing::BestRecord];
        without_profiles.into_iter().chain(Strategy::ALL.map(Routing::Profiles))
    }

    /// Segments looked into when nobody says how many: three, as the mission has it for its strategies.
    pub fn default_top_n(self) -> usize {
        match self {
            Routing::AllSegments | Routing::BestContent | Routing::BestRecord => best_record::TOP_N,
            Routing::Profiles(_) => 3,
        }
    }
}
