//! The host-neutral store: documents in, search results out, two files of truth at most.
//!
//! ```text
//! journal/<n>.jsonl       the truth: append-only framed JSON lines        journal, frame, wire, spool, repair
//! index/<generation>/     derived, published whole, rebuilt at will       manifest, generation, fold, build
//!     part-<k>.postings   an inverted index (the tantivy library)         tantivy
//!     part-<k>.side       facts, texts, ids, writers, sessions, routing   side, part
//!     part-<k>.routes     what only some routing strategies ask for       routing
//! ```
//!
//! A reader ([`Snapshot`]) takes no lock, starts no thread, creates and writes nothing: it maps the newest valid
//! generation and reads the journal lines behind it, of which it takes a bounded number, the newest. A writer
//! takes an advisory lock for the append only. Losing the whole `index` folder loses no memory.
//!
//! Not here: what a document means to a host (the adapter), scoring formulas (`rank`), routing formulas
//! (`route`), redaction (done before a document exists).

pub mod build;
pub mod compact;
pub mod error;
pub mod file;
pub mod fold;
pub mod format;
pub mod frame;
pub mod generation;
pub mod index_store;
pub mod journal;
pub mod lock;
pub mod manifest;
pub mod map;
pub mod part;
pub mod postings;
pub mod query;
pub mod repair;
pub mod retention;
pub mod routing;
pub mod side;
pub mod snapshot;
pub mod spool;
pub mod table;
pub mod tail;
pub mod tantivy;
pub mod wire;
pub mod write;

pub use compact::compact;
pub use fold::{FoldPolicy, fold};
pub use index_store::IndexStore;
pub use postings::{DocumentFacts, Field, Postings};
pub use query::{Layout, Query, SearchResult};
pub use repair::repair;
pub use retention::Retention;
pub use snapshot::Snapshot;
pub use write::{Removal, Writer};

#[cfg(test)]
mod tests;
