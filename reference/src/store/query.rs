//! Queries and their results.

use std::collections::BTreeMap;

use crate::document::SourceDocument;
use crate::query;
use crate::rank::gate::Gate;
use crate::route::{Route, Routing, Strategy};

/// How a store's segments are used.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Layout {
    /// One index: every document is scored.
    #[default]
    Single,
    /// The query is routed first and only documents of the chosen segments are found.
    Segmented {
        /// Segments taken at most.
        query_top_n: usize,
        /// How segments are chosen.
        routing: Routing,
    },
}

impl Layout {
    /// The layout that the mission names for hooks: three segments by LocalDistinctiveness.
    pub const MISSION: Layout =
        Layout::Segmented { query_top_n: 3, routing: Routing::Profiles(Strategy::LocalDistinctiveness) };
}

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// Terms, paths and lines to look up.
    pub what: query::Query,
    /// Only documents with exactly these filter values.
    pub filters: BTreeMap<String, String>,
    /// No document of the segment with this `group_id`.
    pub without_group: Option<String>,
    /// Results wanted at most.
    pub limit: usize,
    /// When given, only what is relevant enough comes back, one document a segment; else everything with a score.
    pub gate: Option<Gate>,
}

impl Query {
    /// A query for `limit` documents.
    pub fn new(what: query::Query, limit: usize) -> Query {
        Query { what, filters: BTreeMap::new(), without_group: None, limit, gate: None }
    }

    /// A query for `limit` documents about a text. There is no query syntax: text is text.
    pub fn text(text: &str, limit: usize) -> Query {
        Query::new(query::Query::from_text(text), limit)
    }
}

/// One document that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchResult {
    /// Its number in the snapshot that was asked.
    pub number: u32,
    /// The document, its evidence empty.
    pub document: SourceDocument,
    /// The score; comparable within one call only.
    pub score: f32,
    /// How sure it is that the document belongs here; see [`crate::rank::gate`].
    pub confidence: f32,
    /// Why its segment was looked into; `None` without routing.
    pub route: Option<Route>,
}
