//! Folds, compactions, retention.

use std::fs;

use super::*;
use crate::store::error::FoldError;
use crate::store::postings::{Field, Postings};
use crate::store::retention::Retention;
use crate::store::{compact, generation::Generation, journal::Journal};

#[test]
fn a_first_fold_and_a_compaction_give_one_part() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), documents(0..50));
    assert_eq!(fold_all(home.path()), Folded { generation: Some(1), indexed: 50, parts: 1 });
    write(home.path(), documents(50..60));
    fold(home.path(), None, FoldPolicy { small_part: 0, ..FoldPolicy::default() }).unwrap();
    assert_eq!(Snapshot::open(home.path()).unwrap().condition().generation, Some(2));
    let compacted = compact(home.path(), Retention::default(), soon()).unwrap();
    assert_eq!((compacted.documents, compacted.damaged), (60, 0));
    let found = Generation::newest(home.path(), &Journal::open(home.path()).unwrap(), 0).unwrap().generation.unwrap();
    assert_eq!(found.parts.len(), 1);
    assert!(found.intact());
    assert_eq!(ids(home.path()), names(0..60));
}

#[test]
fn a_store_that_is_too_large_for_one_part_answers_as_one_part_would() {
    let (whole, split) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let policy = FoldPolicy { large_part: 7, ..FoldPolicy::default() };
    for (home, parts, policy) in [(&whole, 1, FoldPolicy::default()), (&split, 3, policy)] {
        // Replaced and removed documents count for no part; sessions of three lie across the ends of parts.
        write(home.path(), documents(0..22));
        let mut changed = document(3);
        changed.content = "## Request\nChanged entirely\n".to_owned();
        write(home.path(), vec![changed]);
        let removal = crate::store::Removal::Id("doc-12".to_owned());
        Writer::open_complete(home.path(), soon()).unwrap().remove(&removal).unwrap();
        let folded = fold(home.path(), None, policy).unwrap();
        assert_eq!(folded, Folded { generation: Some(1), indexed: 21, parts });
    }
    let [one, many] = [&whole, &split].map(|home| Snapshot::open(home.path()).unwrap());
    assert_eq!((ids_of(&many), many.segments()), (ids_of(&one), one.segments()));
    for (field, term) in [(Field::Request, "topic3"), (Field::Request, "changed"), (Field::Written, "written12")] {
        let visited = |snapshot: &Snapshot| {
            let mut visited = Vec::new();
            snapshot.visit(field, term, &mut |number, frequency, length| {
                let facts = snapshot.facts(number).unwrap();
                let id = snapshot.document(number).unwrap().doc_id;
                visited.push((id, facts.timestamp_ms, frequency, length));
            });
            (visited, snapshot.document_frequency(field, term))
        };
        assert_eq!(visited(&many), visited(&one), "{term}");
    }
    // A later fold goes on from the parts there are, and builds the last one again with what is new.
    write(split.path(), documents(22..24));
    let policy = FoldPolicy { small_part: 0, ..policy };
    let folded = fold(split.path(), None, policy).unwrap();
    assert_eq!((folded.generation, folded.parts), (Some(2), 4));
    let expected = names((0..24).filter(|number| *number != 12));
    assert_eq!(ids(split.path()), expected);
    // Small parts are built again with what is new, and again none gets too large.
    write(split.path(), documents(24..29));
    let folded = fold(split.path(), None, policy).unwrap();
    assert_eq!((folded.generation, folded.indexed, folded.parts), (Some(3), 28, 4));
    assert_eq!(ids(split.path()), names((0..29).filter(|number| *number != 12)));
}

#[test]
fn a_fold_of_few_records_leaves_a_large_part_alone() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), documents(0..300));
    fold_all(home.path());
    let policy = FoldPolicy { small_part: 20, ..FoldPolicy::default() };
    let mut built = 0;
    for start in (300..460).step_by(10) {
        write(home.path(), documents(start..start + 10));
        let folded = fold(home.path(), None, policy).unwrap();
        assert!(folded.parts <= 5, "{folded:?}");
        built += folded.indexed;
    }
    assert!(built < 300 + 160 * 8, "{built} documents built for 160 new ones");
    assert_eq!(ids(home.path()), names(0..460));
}

#[test]
fn a_fold_without_news_does_nothing() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(fold_all(home.path()), Folded::default());
    write(home.path(), documents(0..10));
    fold_all(home.path());
    let before = tree(home.path());
    assert_eq!(fold_all(home.path()).indexed, 0);
    assert_eq!(tree(home.path()), before);
}

#[test]
fn a_fold_that_would_be_late_leaves_everything_as_it_was() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), documents(0..200));
    let late = fold(home.path(), Some(Deadline::after(Duration::ZERO)), FoldPolicy::default());
    assert!(matches!(late, Err(FoldError::NoTime)), "{late:?}");
    assert_eq!(ids(home.path()), names(0..200));
    assert!(tree(&home.path().join("index")).keys().all(|path| path.ends_with("lock")));
}

#[test]
fn replaced_and_removed_documents_stay_away_over_many_folds() {
    let home = tempfile::tempdir().unwrap();
    let policy = FoldPolicy { small_part: 4, ..FoldPolicy::default() };
    write(home.path(), documents(0..64));
    fold_all(home.path());
    for round in 0..6 {
        let mut changed = document(round);
        changed.content = format!("## Request\nChanged in round{round}\n");
        write(home.path(), vec![changed, document(100 + round)]);
        let removal = crate::store::Removal::Id(format!("doc-{}", 30 + round));
        Writer::open_complete(home.path(), soon()).unwrap().remove(&removal).unwrap();
        fold(home.path(), None, policy).unwrap();
    }
    let expected = names((0..30).chain(36..64).chain(100..106));
    assert_eq!(ids(home.path()), expected);
    let snapshot = Snapshot::open(home.path()).unwrap();
    assert_eq!(snapshot.document_frequency(Field::Request, "round3"), 1);
    assert_eq!(snapshot.presence(crate::store::wire::id_hash("doc-33")), crate::store::snapshot::Presence::Removed);
    assert_eq!(snapshot.condition().documents as usize, expected.len());
    drop(snapshot);
    compact(home.path(), Retention::default(), soon()).unwrap();
    assert_eq!(ids(home.path()), expected);
}

#[test]
fn old_generations_and_unfinished_builds_are_cleared_away() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), documents(0..10));
    fold_all(home.path());
    fs::create_dir(home.path().join("index/build-4711")).unwrap();
    fs::write(home.path().join("index/build-4711/part-9.side"), "left over").unwrap();
    write(home.path(), documents(10..20));
    fold_all(home.path());
    let mut names: Vec<_> = fs::read_dir(home.path().join("index")).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["2", "lock"]);
}

#[test]
fn field_report_23_retention_drops_the_oldest_first() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), documents(0..40));
    fold_all(home.path());
    let retention = Retention { documents: Some(25), ..Retention::default() };
    assert_eq!(compact(home.path(), retention, soon()).unwrap().expired, 15);
    assert_eq!(ids(home.path()), names(15..40));
    let retention = Retention { age: Some(Duration::from_secs(9)), ..Retention::default() };
    compact(home.path(), retention, soon()).unwrap();
    assert_eq!(ids(home.path()), names(30..40));
    let bytes = Snapshot::open(home.path()).unwrap().text_bytes(0);
    let retention = Retention { bytes: Some(bytes * 4 + bytes / 2), ..Retention::default() };
    compact(home.path(), retention, soon()).unwrap();
    assert_eq!(ids(home.path()), names(36..40));
    assert!(!holds(home.path(), "number12 "));
}
