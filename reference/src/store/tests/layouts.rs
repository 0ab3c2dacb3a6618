//! One suite over every kind of [`IndexStore`]: on disk and in memory, single and segmented.

use super::*;
use crate::store::query::Query;
use crate::store::{IndexStore, Layout, Removal};

fn each(check: impl Fn(&str, IndexStore)) {
    for (name, layout) in [("single", Layout::Single), ("segmented", Layout::MISSION)] {
        let home = tempfile::tempdir().unwrap();
        check(&format!("disk, {name}"), IndexStore::at_path(home.path().join("s")).unwrap().with_layout(layout));
        check(&format!("memory, {name}"), IndexStore::in_memory().with_layout(layout));
    }
}

fn found(store: &IndexStore, text: &str) -> Vec<String> {
    store.query(&Query::text(text, 10)).into_iter().map(|result| result.document.doc_id).collect()
}

#[test]
fn the_library_default_is_a_single_index() {
    assert_eq!(Layout::default(), Layout::Single);
}

#[test]
fn a_document_is_found_after_a_refresh_and_not_before() {
    each(|kind, store| {
        store.upsert(document(4)).unwrap();
        assert_eq!(found(&store, "number4"), [""; 0], "{kind}");
        store.refresh().unwrap();
        assert_eq!(found(&store, "number4"), ["doc-4"], "{kind}");
        assert_eq!(found(&store, "zebra"), [""; 0], "{kind}");
        assert_eq!(store.inspect().documents, 1, "{kind}");
    });
}

#[test]
fn upserts_replace_and_removals_stay() {
    each(|kind, store| {
        assert_eq!(store.upsert_many(documents(0..40)).unwrap().appended, 40, "{kind}");
        assert_eq!(store.upsert(document(4)).unwrap().unchanged, 1, "{kind}");
        store.remove(&Removal::Id("doc-4".to_owned())).unwrap();
        assert_eq!(store.upsert(document(4)).unwrap().forgotten, 1, "{kind}");
        let mut changed = document(5);
        changed.content = "## Request\nReplaced words\n".to_owned();
        store.upsert(changed).unwrap();
        store.refresh().unwrap();
        assert!(!found(&store, "number4").contains(&"doc-4".to_owned()), "{kind}");
        assert!(!found(&store, "number5").contains(&"doc-5".to_owned()), "{kind}");
        assert_eq!(found(&store, "replaced"), ["doc-5"], "{kind}");
        assert_eq!(store.inspect().documents, 39, "{kind}");
        assert_eq!(ids_of(&store.snapshot()), names((0..4).chain(5..40)), "{kind}");
    });
}

#[test]
fn segmented_results_name_their_route_and_come_from_few_sessions() {
    each(|kind, store| {
        store.upsert_many(documents(0..40)).unwrap();
        store.refresh().unwrap();
        let results = store.query(&Query::text("request about topic3 in module_10", 40));
        assert_eq!(results[0].document.doc_id, "doc-10", "{kind}");
        let sessions: BTreeSet<&str> = results.iter().map(|result| result.document.group_id.as_str()).collect();
        assert_eq!(sessions.len() <= 3, kind.ends_with("segmented"), "{kind}: {sessions:?}");
        for result in &results {
            assert_eq!(result.route.is_some(), kind.ends_with("segmented"), "{kind}");
        }
    });
}

#[test]
fn filters_are_exact_and_the_limit_counts_what_passes_them() {
    each(|kind, store| {
        let mut all = documents(0..6);
        all[1].filters.insert("branch".to_owned(), "other".to_owned());
        all[2].filters.insert("branch".to_owned(), "other".to_owned());
        store.upsert_many(all).unwrap();
        store.refresh().unwrap();
        let mut query = Query::text("request", 1);
        query.filters.insert("branch".to_owned(), "other".to_owned());
        let results = store.query(&query);
        assert_eq!(results.len(), 1, "{kind}");
        assert_eq!(results[0].document.filter("branch"), "other", "{kind}");
    });
}
