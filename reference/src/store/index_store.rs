//! [`IndexStore`]: the store as its users see it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::deadline::Deadline;
use crate::document::SourceDocument;
use crate::rank::{Hit, Weights, rank};
use crate::route::{Route, Routing, best_record, bm25_max};
use crate::store::error::{AppendError, OpenError};
use crate::store::fold::{FoldPolicy, fold};
use crate::store::postings::Postings;
use crate::store::query::{Layout, Query, SearchResult};
use crate::store::snapshot::{Condition, Snapshot};
use crate::store::tail::TailBuilder;
use crate::store::wire::id_hash;
use crate::store::write::{Removal, Upserted, Writer};

/// Hits that the gate looks at.
const GATED_HITS: usize = 20;

/// Hits that routing by the best record looks at.
const ROUTED_HITS: usize = 64;

/// Documents in, search results out.
///
/// Reading is done on an immutable [`Snapshot`] that [`refresh`](IndexStore::refresh) replaces; it takes no writer
/// lock and writes nothing. Writing appends to the journal and is durable when it returns; it shows in queries after
/// the next refresh. The store knows nothing of a host. All methods take `&self`; one store may serve many threads.
///
/// ```
/// use hookmem::document::{Concept, Evidence, SourceDocument};
/// use hookmem::store::{IndexStore, Layout, Query, Removal};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = IndexStore::in_memory().with_layout(Layout::MISSION);
/// store.upsert(SourceDocument {
///     doc_id: "session-1/turn-1".to_owned(),
///     source: "notes://demo/session-1/outcome".to_owned(),
///     content: "## Request\nWhy does the cache miss after a restart?\n\n## Result\nKeys held the pid.\n".to_owned(),
///     concept: Concept::Outcome,
///     group_id: "notes:demo:session-1".to_owned(),
///     headings: vec!["Request".to_owned(), "Result".to_owned()],
///     links: vec!["src/cache/key.rs".to_owned()],
///     timestamp_ms: Some(1_767_225_600_000),
///     author_agent: "demo".to_owned(),
///     filters: [("project".to_owned(), "demo".to_owned())].into(),
///     digests: Vec::new(),
///     evidence: Evidence::default(),
/// })?;
/// store.refresh()?;
///
/// let found = store.query(&Query::text("cache misses", 5));
/// assert_eq!(found[0].document.doc_id, "session-1/turn-1");
/// assert!(store.query(&Query::text("quarterly figures", 5)).is_empty());
///
/// store.remove(&Removal::Group("notes:demo:session-1".to_owned()))?;
/// store.refresh()?;
/// assert!(store.query(&Query::text("cache misses", 5)).is_empty());
/// # Ok(())
/// # }
/// ```
pub struct IndexStore {
    place: Place,
    layout: Layout,
    weights: Weights,
    policy: FoldPolicy,
    patience: Duration,
    snapshot: Mutex<Arc<Snapshot>>,
}

enum Place {
    Disk(PathBuf),
    Memory(Mutex<Memory>),
}

/// The documents of a store without a disk.
#[derive(Default)]
struct Memory {
    documents: Vec<SourceDocument>,
    removed: HashMap<u64, ()>,
}

/// What [`IndexStore::inspect`] tells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inspection {
    /// Documents that stand.
    pub documents: u32,
    /// Segments, those without a standing document included.
    pub segments: u32,
    /// Files and damage; all zero for a store in memory.
    pub condition: Condition,
}

impl std::fmt::Debug for IndexStore {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = formatter.debug_struct("IndexStore");
        if let Place::Disk(root) = &self.place {
            shown.field("root", root);
        }
        shown.field("layout", &self.layout).finish_non_exhaustive()
    }
}

impl IndexStore {
    /// The store in a folder, which need not exist yet: reading creates nothing, the first write does.
    pub fn at_path(root: impl AsRef<Path>) -> Result<IndexStore, OpenError> {
        let root = root.as_ref().to_path_buf();
        let snapshot = Snapshot::open(&root)?;
        Ok(IndexStore::new(Place::Disk(root), snapshot))
    }

    /// An empty store without a disk.
    pub fn in_memory() -> IndexStore {
        IndexStore::new(Place::Memory(Mutex::default()), Snapshot::default())
    }

    fn new(place: Place, snapshot: Snapshot) -> IndexStore {
        IndexStore {
            place,
            layout: Layout::default(),
            weights: Weights::default(),
            policy: FoldPolicy::default(),
            patience: Duration::from_secs(2),
            snapshot: Mutex::new(Arc::new(snapshot)),
        }
    }

    /// Sets the layout; the default is [`Layout::Single`].
    pub fn with_layout(mut self, layout: Layout) -> IndexStore {
        self.layout = layout;
        self
    }

    /// Sets the weights of the score.
    pub fn with_weights(mut self, weights: Weights) -> IndexStore {
        self.weights = weights;
        self
    }

    /// Sets when a write folds; the default suits one record a write.
    pub fn with_fold_policy(mut self, policy: FoldPolicy) -> IndexStore {
        self.policy = policy;
        self
    }

    /// Sets how long a write waits for another writer; the default is two seconds.
    pub fn with_patience(mut self, patience: Duration) -> IndexStore {
        self.patience = patience;
        self
    }

    /// Stores a document under its id, in place of an earlier one. An id that was removed stays removed.
    pub fn upsert(&self, document: SourceDocument) -> Result<Upserted, AppendError> {
        self.upsert_many([document])
    }

    /// Stores documents in order, streaming: memory does not grow with their number beyond a few bytes each.
    /// They are durable together, when the call returns.
    pub fn upsert_many(&self, documents: impl IntoIterator<Item = SourceDocument>) -> Result<Upserted, AppendError> {
        match &self.place {
            Place::Memory(memory) => Ok(lock(memory).upsert(documents)),
            Place::Disk(root) => {
                let mut writer = Writer::open(root, Deadline::after(self.patience))?;
                let done = writer.upsert(documents, false)?;
                drop(writer);
                self.fold_if_due(root);
                Ok(done)
            }
        }
    }

    /// Removes documents and keeps their ids out; gives the ids. Their text stays on the disk until a compaction.
    pub fn remove(&self, removal: &Removal) -> Result<Vec<String>, AppendError> {
        match &self.place {
            Place::Memory(memory) => Ok(lock(memory).remove(removal)),
            Place::Disk(root) => Writer::open_complete(root, Deadline::after(self.patience))?.remove(removal),
        }
    }

    /// Publishes what was written since the last refresh, by this process or another.
    pub fn refresh(&self) -> Result<(), OpenError> {
        let snapshot = match &self.place {
            Place::Disk(root) => Snapshot::open(root)?,
            Place::Memory(memory) => {
                let mut builder = TailBuilder::default();
                for document in &lock(memory).documents {
                    builder.upsert(document.clone(), false, &|_| false);
                }
                Snapshot::in_memory(builder)
            }
        };
        *lock(&self.snapshot) = Arc::new(snapshot);
        Ok(())
    }

    /// The snapshot that queries use now.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&lock(&self.snapshot))
    }

    /// Documents for a query, best first, at most `query.limit`; empty when nothing has a signal.
    pub fn query(&self, query: &Query) -> Vec<SearchResult> {
        let snapshot = self.snapshot();
        let index: &Snapshot = &snapshot;
        let (hits, routes) = self.hits(index, query);
        let hits = match &query.gate {
            Some(gate) => gate.select(index, hits.get(..GATED_HITS.min(hits.len())).unwrap_or(&hits)),
            None => hits,
        };
        let results = hits.into_iter().filter_map(|hit| {
            let document = snapshot.document(hit.document).ok()?;
            let wanted = query.filters.iter().all(|(key, value)| document.filter(key) == value);
            let route = routes.iter().flatten().find(|route| route.segment == hit.segment).cloned();
            let Hit { document: number, score, confidence, .. } = hit;
            wanted.then_some(SearchResult { number, document, score, confidence, route })
        });
        results.take(query.limit).collect()
    }

    /// Scored documents of the segments that the layout chooses, and why those segments.
    fn hits(&self, index: &Snapshot, query: &Query) -> (Vec<Hit>, Option<Vec<Route>>) {
        // Filters drop hits later, so more are wanted than the limit.
        let depth = if query.filters.is_empty() { query.limit.max(GATED_HITS) } else { index.documents() as usize };
        let left_out = query.without_group.as_deref().and_then(|group| index.segment_number(group));
        let everywhere =
            |depth| rank(index, &query.what, &self.weights, &|segment| Some(segment) != left_out, depth).hits;
        let within = |mut routes: Vec<Route>| {
            routes.retain(|route| Some(route.segment) != left_out);
            let allowed = |segment: u32| routes.iter().any(|route| route.segment == segment);
            (rank(index, &query.what, &self.weights, &allowed, depth).hits, Some(routes))
        };
        match self.layout {
            Layout::Single | Layout::Segmented { routing: Routing::AllSegments, .. } => (everywhere(depth), None),
            Layout::Segmented { query_top_n, routing: Routing::BestRecord } => {
                let mut hits = everywhere(depth.max(ROUTED_HITS));
                let routes = best_record::route(&hits, query_top_n);
                hits.retain(|hit| routes.iter().any(|route| route.segment == hit.segment));
                (hits, Some(routes))
            }
            Layout::Segmented { query_top_n, routing: Routing::BestContent } => {
                within(bm25_max::route(&query.what, index, query_top_n))
            }
            Layout::Segmented { query_top_n, routing: Routing::Profiles(strategy) } => {
                let terms: Vec<String> = query.what.terms.iter().map(|term| term.text.clone()).collect();
                within(strategy.route_within_cut(&terms, index, query_top_n))
            }
        }
    }

    /// Counts, sizes and damage. Never writes.
    pub fn inspect(&self) -> Inspection {
        let snapshot = self.snapshot();
        let condition = snapshot.condition().clone();
        Inspection { documents: condition.documents, segments: Postings::segments(snapshot.as_ref()), condition }
    }

    /// Folds when it is worth it. A failure is no failure of the write: the journal holds the records.
    fn fold_if_due(&self, root: &Path) {
        if let Ok(snapshot) = Snapshot::open(root)
            && self.policy.is_due(snapshot.condition())
        {
            let _ = fold(root, None, self.policy);
        }
    }
}

impl Memory {
    fn upsert(&mut self, documents: impl IntoIterator<Item = SourceDocument>) -> Upserted {
        let mut done = Upserted::default();
        for document in documents {
            let place = self.documents.iter().position(|known| known.doc_id == document.doc_id);
            if self.removed.contains_key(&id_hash(&document.doc_id)) {
                done.forgotten += 1;
            } else if place.and_then(|place| self.documents.get(place)) == Some(&document) {
                done.unchanged += 1;
            } else {
                if let Some(place) = place {
                    self.documents.remove(place);
                }
                self.documents.push(document);
                done.appended += 1;
            }
        }
        done
    }

    fn remove(&mut self, removal: &Removal) -> Vec<String> {
        let wanted = |document: &SourceDocument| match removal {
            Removal::Id(id) => document.doc_id == *id,
            Removal::Ids(ids) => ids.contains(&document.doc_id),
            Removal::Group(group) => document.group_id == *group,
            Removal::Before(time) => document.timestamp_ms.is_some_and(|at| at < *time),
        };
        let mut ids: Vec<String> = match removal {
            Removal::Id(id) => vec![id.clone()],
            Removal::Ids(ids) => ids.clone(),
            Removal::Group(_) | Removal::Before(_) => Vec::new(),
        };
        for document in self.documents.iter().filter(|document| wanted(document)) {
            if !ids.contains(&document.doc_id) {
                ids.push(document.doc_id.clone());
            }
        }
        self.documents.retain(|document| !wanted(document));
        self.removed.extend(ids.iter().map(|id| (id_hash(id), ())));
        ids
    }
}

/// Locks; a panic of another holder leaves data that is whole between two statements.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
