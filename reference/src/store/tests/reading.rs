//! What a snapshot sees, and what opening one leaves behind: nothing.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;
use crate::route::RoutingIndex;
use crate::store::postings::{Field, Postings};

#[test]
fn opening_a_missing_store_creates_nothing() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("none/yet");
    let snapshot = Snapshot::open(&root).unwrap();
    assert_eq!((snapshot.documents(), snapshot.recent().count()), (0, 0));
    assert!(!home.path().join("none").exists());
}

#[test]
fn reading_changes_no_file_and_adds_none() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), documents(0..40));
    fold_all(home.path());
    write(home.path(), documents(40..50));
    let before = tree(home.path());
    let snapshot = Snapshot::open(home.path()).unwrap();
    assert_eq!(snapshot.document_frequency(Field::Request, "topic3"), 7);
    snapshot.visit(Field::Request, "topic3", &mut |_, _, _| {});
    snapshot.visit_segments("topic3", &mut |_, _| {});
    assert_eq!(ids_of(&snapshot), names(0..50));
    assert_eq!(tree(home.path()), before);
}

#[test]
fn a_snapshot_outlives_the_files_it_reads() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), documents(0..40));
    fold_all(home.path());
    let snapshot = Snapshot::open(home.path()).unwrap();
    fs::remove_dir_all(home.path().join("index")).unwrap();
    fs::remove_dir_all(home.path().join("journal")).unwrap();
    assert_eq!(ids_of(&snapshot), names(0..40));
    assert_eq!(snapshot.document_frequency(Field::Written, "written7"), 1);
}

/// The same documents give the same postings whether they are folded in one part, in several, or not at all.
#[test]
fn parts_and_tail_answer_alike() {
    let (whole, parts, tail) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(whole.path(), documents(0..60));
    fold_all(whole.path());
    let apart = FoldPolicy { small_part: 0, ..FoldPolicy::default() };
    for range in [0..40, 40..55] {
        write(parts.path(), documents(range));
        fold(parts.path(), None, apart).unwrap();
    }
    write(parts.path(), documents(55..60));
    write(tail.path(), documents(0..60));
    let all = [whole, parts, tail].map(|home| Snapshot::open(home.path()).unwrap());
    assert_eq!(all.each_ref().map(|snapshot| snapshot.condition().unfolded_documents), [0, 5, 60]);
    let answers = all.each_ref().map(|snapshot| {
        let mut answers: BTreeMap<String, Vec<(u32, u32, u32)>> = BTreeMap::new();
        for term in ["topic3", "number41", "module_57", "src/lib.rs", "lib", "written3", "done", "nothing"] {
            for field in Field::ALL {
                let list = answers.entry(format!("{field:?} {term}")).or_default();
                snapshot.visit(field, term, &mut |document, count, length| list.push((document, count, length)));
                assert_eq!(snapshot.document_frequency(field, term), list.len() as u32);
            }
        }
        let lengths = Field::ALL.map(|field| snapshot.mean_length(field).to_string());
        let facts: Vec<_> = (0..61).map(|number| snapshot.facts(number)).collect();
        let writers: Vec<_> = [1, 50, 60, 61, 77].map(|line| snapshot.newest_writer(line)).into();
        let names: Vec<_> = (0..21).map(|segment| snapshot.segment_name(segment).map(str::to_owned)).collect();
        (answers, lengths, facts, writers, names, Postings::segments(snapshot))
    });
    assert_eq!(answers[0].3, [Some(0), Some(49), Some(59), None, Some(59)]);
    assert_eq!(answers[0].5, 20);
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0], answers[2]);
}

#[test]
fn a_session_in_two_parts_is_one_segment_and_routed_once() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), documents(0..31));
    fold_all(home.path());
    write(home.path(), documents(31..33));
    let snapshot = Snapshot::open(home.path()).unwrap();
    assert_eq!(Postings::segments(&snapshot), 11);
    let mut routed = Vec::new();
    snapshot.visit_segments("request", &mut |segment, _| routed.push(segment));
    let distinct: std::collections::BTreeSet<u32> = routed.iter().copied().collect();
    assert_eq!(routed.len(), distinct.len());
    assert_eq!(snapshot.segment_number("claude-session:p:session-10"), Some(10));
}

#[test]
fn recent_goes_from_newest_to_oldest_over_parts_and_tail() {
    let home = tempfile::tempdir().unwrap();
    let mut shuffled = documents(0..30);
    shuffled.reverse();
    write(home.path(), shuffled);
    fold_all(home.path());
    write(home.path(), vec![document(40), document(35)]);
    Writer::open(home.path(), soon()).unwrap().remove(&crate::store::Removal::Id("doc-29".into())).unwrap();
    let snapshot = Snapshot::open(home.path()).unwrap();
    let newest: Vec<String> =
        snapshot.recent().take(4).map(|(number, _)| snapshot.document(number).unwrap().doc_id).collect();
    assert_eq!(newest, ["doc-40", "doc-35", "doc-28", "doc-27"]);
    assert_eq!(snapshot.recent().count(), 31);
}

#[test]
fn an_unfolded_tail_is_read_up_to_its_limit_newest_first() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), documents(0..60));
    let by_count = Snapshot::open_with(home.path(), TailLimit { bytes: u64::MAX, documents: 10 }).unwrap();
    assert_eq!(ids_of(&by_count), names(50..60));
    assert!(by_count.condition().tail_cut);
    let by_bytes = Snapshot::open_with(home.path(), TailLimit { bytes: 3_000, documents: 500 }).unwrap();
    let kept = ids_of(&by_bytes);
    assert!(kept.len() < 10 && kept.contains("doc-59"), "{kept:?}");
}

#[test]
fn a_later_upsert_replaces_and_a_repeat_appends_nothing() {
    let home = tempfile::tempdir().unwrap();
    for folded in [false, true] {
        let root = home.path().join(folded.to_string());
        write(&root, documents(0..20));
        if folded {
            fold_all(&root);
        }
        let before = tree(&root.join("journal"));
        assert_eq!(write(&root, documents(0..20)), Upserted { unchanged: 20, ..Upserted::default() });
        assert_eq!(tree(&root.join("journal")), before);
        let mut changed = document(5);
        changed.content = "## Request\nEntirely different words\n".to_owned();
        changed.timestamp_ms = changed.timestamp_ms.map(|time| time + 1);
        assert_eq!(write(&root, vec![changed.clone()]).appended, 1);
        let snapshot = Snapshot::open(&root).unwrap();
        assert_eq!(snapshot.document_by_id("doc-5").unwrap().content, changed.content);
        let mut seen = 0;
        snapshot.visit(Field::Request, "number5", &mut |_, _, _| seen += 1);
        assert_eq!((seen, ids_of(&snapshot)), (0, names(0..20)));
        assert_eq!(write(&root, vec![document(5)]).outdated, 1);
    }
}

#[test]
fn files_are_private_and_folders_too() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("store");
    write(&root, documents(0..20));
    fold_all(&root);
    for (path, _) in tree(&root) {
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{}", path.display());
        assert_eq!(fs::metadata(path.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);
    }
}

#[test]
fn symlinks_below_the_root_are_refused() {
    let home = tempfile::tempdir().unwrap();
    let (real, root) = (home.path().join("real"), home.path().join("store"));
    write(&real, documents(0..20));
    fold_all(&real);
    for linked in ["journal", "index", "journal/1.jsonl", "journal/lock"] {
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(root.join("journal")).unwrap();
        if !linked.contains('/') {
            let _ = fs::remove_dir(root.join(linked));
        }
        symlink(real.join(linked), root.join(linked)).unwrap();
        let before = tree(&real);
        if linked != "journal/lock" {
            assert!(Snapshot::open(&root).is_err(), "{linked}");
        }
        let written = Writer::open(&root, soon()).map(|mut writer| writer.upsert(documents(90..91), false));
        assert!(written.is_err(), "{linked}");
        assert_eq!(tree(&real), before, "{linked}");
    }
}
