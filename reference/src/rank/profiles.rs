//! Segment profiles in memory: what routing asks, for collections that have no store.

use std::collections::HashMap;

use crate::document::SourceDocument;
use crate::route::{RoutingIndex, Weights};
use crate::store::routing::RoutingBuilder;
use crate::store::wire::id_hash;

/// Gathers profiles until the first question; see [`MemoryProfiles`].
#[derive(Debug, Default)]
pub struct ProfilesBuilder {
    builder: RoutingBuilder,
    segments: u32,
}

/// Profiles of all segments, by term.
#[derive(Debug, Default)]
pub struct MemoryProfiles {
    lists: HashMap<u64, Vec<(u32, Weights)>>,
    segments: u32,
}

impl ProfilesBuilder {
    /// Adds a document to the profile of its segment, numbered as in the index beside it.
    pub fn add(&mut self, segment: u32, document: &SourceDocument) {
        self.builder.add(segment, document);
        self.segments = self.segments.max(segment.saturating_add(1));
    }

    /// Ends the gathering.
    pub fn finish(self) -> MemoryProfiles {
        MemoryProfiles { lists: self.builder.finish().into_iter().collect(), segments: self.segments }
    }
}

impl MemoryProfiles {
    fn list(&self, term: &str) -> &[(u32, Weights)] {
        self.lists.get(&id_hash(term)).map_or(&[], Vec::as_slice)
    }
}

impl RoutingIndex for MemoryProfiles {
    fn segments(&self) -> u32 {
        self.segments
    }

    fn segment_frequency(&self, term: &str) -> u32 {
        u32::try_from(self.list(term).len()).unwrap_or(u32::MAX)
    }

    fn visit_segments(&self, term: &str, visit: &mut dyn FnMut(u32, Weights)) {
        self.list(term).iter().for_each(|(segment, weights)| visit(*segment, *weights));
    }
}
