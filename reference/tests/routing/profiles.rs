//! Profiles of a few segments, written down one by one or made at random.

use std::collections::{BTreeMap, BTreeSet};

use hookmem::route::bucket::Buckets;
use hookmem::route::profile::Flags;
use hookmem::route::{RoutingIndex, Weights};
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

/// One segment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Segment {
    /// By term; a term that stands here has a weight above 0.
    pub(crate) weights: BTreeMap<String, Weights>,
    /// By term, whether it has weights or not.
    pub(crate) buckets: BTreeMap<String, Buckets>,
    pub(crate) connections: BTreeSet<u32>,
    pub(crate) knows_time: bool,
}

impl Segment {
    pub(crate) fn of(weights: &[(&str, [f32; 4])]) -> Segment {
        let weights = weights.iter().map(|(term, [terms, entities, topics, local_memory])| {
            let weights = Weights { terms: *terms, entities: *entities, topics: *topics, local_memory: *local_memory };
            ((*term).to_owned(), weights)
        });
        Segment { weights: weights.collect(), ..Segment::default() }
    }

    pub(crate) fn with_buckets(mut self, buckets: &[(&str, Buckets)]) -> Segment {
        self.buckets = buckets.iter().map(|(term, buckets)| ((*term).to_owned(), *buckets)).collect();
        self
    }
}

/// An index of such segments, numbered in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Profiles(pub(crate) Vec<Segment>);

impl Profiles {
    fn numbered(&self) -> impl Iterator<Item = (u32, &Segment)> {
        (0..).zip(&self.0)
    }
}

impl RoutingIndex for Profiles {
    fn segments(&self) -> u32 {
        self.0.len() as u32
    }

    fn segment_frequency(&self, term: &str) -> u32 {
        self.0.iter().filter(|segment| segment.weights.contains_key(term)).count() as u32
    }

    fn visit_segments(&self, term: &str, visit: &mut dyn FnMut(u32, Weights)) {
        for (number, segment) in self.numbered() {
            if let Some(weights) = segment.weights.get(term) {
                visit(number, *weights);
            }
        }
    }

    fn visit_buckets(&self, term: &str, visit: &mut dyn FnMut(u32, Buckets)) {
        for (number, segment) in self.numbered() {
            if let Some(buckets) = segment.buckets.get(term) {
                visit(number, *buckets);
            }
        }
    }

    fn fill_flags(&self, flags: &mut [Flags]) {
        for (segment, flags) in self.0.iter().zip(flags) {
            segment.weights.values().for_each(|weights| flags.see(*weights));
            if segment.knows_time {
                flags.see_time();
            }
        }
    }

    fn visit_connections(&self, segment: u32, visit: &mut dyn FnMut(u32)) {
        self.0[segment as usize].connections.iter().for_each(|term| visit(*term));
    }
}

/// Terms of random profiles and queries: plain ones, an action and two times.
pub(crate) const TERMS: [&str; 8] = ["cach", "parser", "h2.rs", "retri", "fix", "2024", "monday", "缓存"];

/// A query with repeats; `unknown` is in no profile.
pub(crate) fn query() -> impl Strategy<Value = Vec<String>> {
    vec(prop_oneof![proptest::sample::select(TERMS.to_vec()), Just("unknown")], 0..7)
        .prop_map(|terms| terms.into_iter().map(str::to_owned).collect())
}

/// A segment of random, uneven weights; each distribution sums to 1 or is empty.
fn segment() -> impl Strategy<Value = Segment> {
    // Three of five weights are absent.
    let weight = prop_oneof![3 => Just(0.0_f32), 2 => 1.0_f32..1_000.0];
    let weights = vec([weight.clone(), weight.clone(), weight.clone(), weight], TERMS.len());
    let buckets = vec(prop_oneof![Just(0_u8), 0_u8..32], TERMS.len());
    (weights, buckets, btree_set(0_u32..12, 0..7), any::<bool>()).prop_map(
        |(mut weights, buckets, connections, knows_time)| {
            for distribution in 0..4 {
                let sum: f32 = weights.iter().map(|all| all[distribution]).sum();
                weights.iter_mut().for_each(|all| all[distribution] /= sum.max(1.0));
            }
            let rows: Vec<(&str, [f32; 4])> = TERMS.into_iter().zip(weights).collect();
            let rows: Vec<_> = rows.into_iter().filter(|(_, all)| all.iter().any(|weight| *weight > 0.0)).collect();
            let buckets: Vec<(&str, Buckets)> =
                TERMS.into_iter().zip(buckets.into_iter().map(Buckets::from_bits)).collect();
            Segment { connections, knows_time, ..Segment::of(&rows).with_buckets(&buckets) }
        },
    )
}

/// Up to 30 segments: more than the first pools of both team strategies.
pub(crate) fn profiles() -> impl Strategy<Value = Profiles> {
    vec(segment(), 0..30).prop_map(Profiles)
}

/// Random cases of each test; near ties are passed over.
pub(crate) fn config() -> ProptestConfig {
    ProptestConfig { cases: 256, max_global_rejects: 100_000, failure_persistence: None, ..ProptestConfig::default() }
}
