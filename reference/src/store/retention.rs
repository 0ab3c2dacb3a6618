//! Retention: which documents a store gives up, oldest first, so that it does not grow without end.
//!
//! Age counts from the newest document of the store, not from the clock: a machine whose clock is wrong, or a store
//! that is opened after a year, loses nothing by that. Documents without a time count as the oldest.

use std::time::Duration;

use crate::store::snapshot::Snapshot;

/// Limits of a store; `None` is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retention {
    /// Age against the newest document.
    pub age: Option<Duration>,
    /// Number of documents.
    pub documents: Option<u32>,
    /// Bytes of the documents' stored texts.
    pub bytes: Option<u64>,
}

impl Retention {
    /// Ids of the documents over the limits. Reads every text when there is a limit on bytes, or something is over.
    pub fn excess(&self, snapshot: &Snapshot) -> Vec<String> {
        let mut excess = Vec::new();
        let mut newest = None;
        let (mut documents, mut bytes) = (0_u32, 0_u64);
        for (number, facts) in snapshot.recent() {
            let newest = *newest.get_or_insert(facts.timestamp_ms);
            let age = newest.saturating_sub(facts.timestamp_ms);
            documents = documents.saturating_add(1);
            let too_old = self.age.is_some_and(|limit| i128::from(age) > limit.as_millis() as i128);
            let mut over = too_old || self.documents.is_some_and(|limit| documents > limit);
            if let Some(limit) = self.bytes {
                bytes = bytes.saturating_add(snapshot.text_bytes(number));
                over |= bytes > limit;
            }
            if over && let Ok(document) = snapshot.document(number) {
                excess.push(document.doc_id);
            }
        }
        excess
    }
}
