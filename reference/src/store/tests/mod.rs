//! Tests of the store as a whole, on real folders.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod crash;
mod deletion;
mod folding;
mod hostile;
mod layouts;
mod locking;
mod reading;
mod versions;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::deadline::Deadline;
use crate::document::SourceDocument;
use crate::store::fold::{FoldPolicy, Folded, fold};
use crate::store::snapshot::{Snapshot, TailLimit};
use crate::store::wire::tests::sample;
use crate::store::write::{Upserted, Writer};

/// Generous: no test waits for it.
fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(60))
}

fn document(number: u32) -> SourceDocument {
    let request = format!("Request number{number} about topic{} in module_{number}", number % 7);
    let mut document = sample(&format!("doc-{number}"), &format!("session-{}", number / 3), &request);
    document.timestamp_ms = Some(1_700_000_000_000 + i64::from(number) * 1_000);
    document.evidence.fingerprints = vec![u64::from(number) + 1, 77];
    document.evidence.tokens = vec![format!("written{number}")];
    document
}

fn documents(range: std::ops::Range<u32>) -> Vec<SourceDocument> {
    range.map(document).collect()
}

fn write(root: &Path, documents: Vec<SourceDocument>) -> Upserted {
    Writer::open(root, soon()).unwrap().upsert(documents, false).unwrap()
}

fn fold_all(root: &Path) -> Folded {
    fold(root, None, FoldPolicy::default()).unwrap()
}

/// Ids of all standing documents; fails when one stands twice or cannot be read.
fn ids(root: &Path) -> BTreeSet<String> {
    ids_of(&Snapshot::open_with(root, TailLimit::NONE).unwrap())
}

fn ids_of(snapshot: &Snapshot) -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    for number in snapshot.live() {
        let id = snapshot.document(number).unwrap().doc_id;
        assert!(ids.insert(id.clone()), "{id} stands twice");
    }
    ids
}

fn names(numbers: impl IntoIterator<Item = u32>) -> BTreeSet<String> {
    numbers.into_iter().map(|number| format!("doc-{number}")).collect()
}

/// Every file below a folder with its bytes.
fn tree(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.clone(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// True when a file of the store holds the bytes.
fn holds(root: &Path, text: &str) -> bool {
    tree(root).values().any(|bytes| bytes.windows(text.len()).any(|window| window == text.as_bytes()))
}
