//! Routing: which few segments (sessions) a query should look into.
//!
//! A strategy is one function from query terms and a [`RoutingIndex`] to ordered [`Route`]s, best first, without
//! the segments that have no signal. Choosing how many to take, and the cut relative to the best, is the caller's.
//! Not here: where profiles are kept (`store`), scoring of documents (`rank`).

pub mod local_distinctiveness;
pub mod profile;

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
}

/// A chosen segment.
#[derive(Debug, Clone, PartialEq)]
pub struct Route {
    /// Its number in the index that was asked.
    pub segment: u32,
    /// The strategy's score; comparable within one call only.
    pub score: f32,
    /// Which terms spoke for it, strongest first, at most [`REASON_TERMS`]; none that very many segments have.
    pub reason: Vec<String>,
}

/// Terms named in a route's reason.
pub const REASON_TERMS: usize = 4;

/// How segments are scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strategy {
    /// Rare terms that weigh much in the segment's profile; see [`local_distinctiveness::route`].
    #[default]
    LocalDistinctiveness,
}

impl Strategy {
    /// Every strategy.
    pub const ALL: [Strategy; 1] = [Strategy::LocalDistinctiveness];

    /// The name on the command line and in configuration.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::LocalDistinctiveness => "local-distinctiveness",
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
            Strategy::LocalDistinctiveness => local_distinctiveness::route(terms, index, limit),
        }
    }
}

/// Which segments a query looks into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Routing {
    /// All of them: no routing.
    AllSegments,
    /// Those of the best documents over all segments.
    BestDocument,
    /// Those that a strategy picks by their profiles.
    Profiles(Strategy),
}

impl Routing {
    /// The name on the command line and in configuration: `all-segments`, `bm25-max` or the strategy's.
    pub fn name(self) -> &'static str {
        match self {
            Routing::AllSegments => "all-segments",
            Routing::BestDocument => "bm25-max",
            Routing::Profiles(strategy) => strategy.name(),
        }
    }

    /// Routing by its name.
    pub fn parse(name: &str) -> Option<Routing> {
        Routing::all().find(|routing| routing.name() == name)
    }

    /// Every routing.
    pub fn all() -> impl Iterator<Item = Routing> {
        [Routing::AllSegments, Routing::BestDocument].into_iter().chain(Strategy::ALL.map(Routing::Profiles))
    }
}
