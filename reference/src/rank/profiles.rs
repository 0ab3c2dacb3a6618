//! Segment profiles in memory: what routing asks, for collections that have no store.

use std::collections::HashMap;

use crate::document::SourceDocument;
use crate::route::bucket::Buckets;
use crate::route::gathering::{Entry, Gathering, Tables};
use crate::route::profile::Flags;
use crate::route::{RoutingIndex, Weights};
use crate::store::wire::id_hash;

/// Gathers profiles until the first question; see [`MemoryProfiles`].
#[derive(Debug, Default)]
pub struct ProfilesBuilder {
    gathering: Gathering,
    segments: u32,
}

/// Profiles of all segments, by term.
#[derive(Debug, Default)]
pub struct MemoryProfiles {
    tables: Tables,
    /// By term hash: place of its list.
    places: HashMap<u64, u32>,
    segments: u32,
}

impl ProfilesBuilder {
    /// Adds a document to the profile of its segment, numbered as in the index beside it.
    pub fn add(&mut self, segment: u32, document: &SourceDocument) {
        self.gathering.add(segment, document);
        self.segments = self.segments.max(segment.saturating_add(1));
    }

    /// Ends the gathering.
    pub fn finish(self) -> MemoryProfiles {
        MemoryProfiles::of(self.gathering.finish(), self.segments)
    }
}

impl MemoryProfiles {
    /// The profiles of these tables, of segments numbered below `segments`.
    pub fn of(tables: Tables, segments: u32) -> MemoryProfiles {
        let places = tables.lists.iter().map(|(hash, _)| *hash).zip(0..).collect();
        MemoryProfiles { tables, places, segments }
    }

    fn list(&self, term: &str) -> &[Entry] {
        let place = self.places.get(&id_hash(term));
        place.and_then(|place| self.tables.lists.get(*place as usize)).map_or(&[], |(_, list)| list)
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
        self.list(term).iter().for_each(|entry| visit(entry.segment, entry.weights));
    }

    fn visit_buckets(&self, term: &str, visit: &mut dyn FnMut(u32, Buckets)) {
        self.tables.visit_buckets(id_hash(term), visit);
    }

    fn fill_flags(&self, flags: &mut [Flags]) {
        self.tables.fill_flags(flags);
    }

    fn visit_connections(&self, segment: u32, visit: &mut dyn FnMut(u32)) {
        self.tables.visit_connections(segment, visit);
    }
}
