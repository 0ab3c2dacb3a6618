//! Damaged stores: a value or an error, never a panic, and what was not damaged is kept.

use std::os::unix::fs::FileExt;
use std::panic;

use super::*;
use crate::route::RoutingIndex;
use crate::store::postings::{Field, Postings};
use crate::store::retention::Retention;
use crate::store::{compact, repair};

/// A store with two parts, a tail, removals and a tombstone.
fn build(root: &Path) {
    write(root, documents(0..40));
    fold_all(root);
    write(root, documents(40..50));
    Writer::open(root, soon()).unwrap().remove(&crate::store::Removal::Id("doc-11".into())).unwrap();
    fold(root, None, FoldPolicy { small_part: 0, ..FoldPolicy::default() }).unwrap();
    write(root, documents(50..54));
}

/// Uses everything a snapshot offers.
fn use_all(snapshot: &Snapshot) {
    for term in ["request", "topic3", "number41", "src/lib.rs", "written3", "done"] {
        for field in Field::ALL {
            snapshot.document_frequency(field, term);
            snapshot.visit(field, term, &mut |document, _, _| assert!(document < snapshot.documents()));
            snapshot.mean_length(field);
        }
        snapshot.segment_frequency(term);
        let mut visits = 0;
        snapshot.visit_segments(term, &mut |_, _| visits += 1);
        for strategy in crate::route::Strategy::ALL {
            let routes = strategy.route(&[term.to_owned()], snapshot, 3);
            assert!(routes.iter().all(|route| route.score.is_finite()), "{strategy:?} {routes:?}");
        }
    }
    for (number, facts) in snapshot.recent() {
        let _ = (snapshot.document(number), snapshot.segment_name(facts.segment));
    }
    for number in 0..60_u32 {
        snapshot.newest_writer(u64::from(number));
        snapshot.document_by_id(&format!("doc-{number}"));
    }
    let _ = ids_lenient(snapshot);
}

fn ids_lenient(snapshot: &Snapshot) -> BTreeSet<String> {
    snapshot.live().filter_map(|number| snapshot.document(number).ok()).map(|document| document.doc_id).collect()
}

fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    for (path, bytes) in tree(from) {
        let target = to.join(path.strip_prefix(from).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::write(target, bytes).unwrap();
    }
}

/// Damages one file in one way and looks at everything; gives the ids that a reader saw after the next fold.
fn survive(root: &Path, what: &str, in_journal: bool) {
    for verify_bytes in [0, u64::MAX] {
        let opened = panic::catch_unwind(|| {
            if let Ok(snapshot) = Snapshot::open_verified(root, TailLimit::default(), verify_bytes) {
                use_all(&snapshot);
            }
        });
        assert!(opened.is_ok(), "{what}: a reader panicked");
    }
    let written =
        panic::catch_unwind(|| Writer::open(root, soon()).map(|mut writer| writer.upsert(documents(60..61), false)));
    let written = written.unwrap_or_else(|_| panic!("{what}: a writer panicked"));
    let folded = panic::catch_unwind(|| fold(root, None, FoldPolicy::default()));
    let folded = folded.unwrap_or_else(|_| panic!("{what}: a fold panicked"));
    if in_journal {
        return;
    }
    // The index is derived: any damage to it is gone after a fold, whatever it was.
    written.unwrap_or_else(|error| panic!("{what}: {error}")).unwrap();
    folded.unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(ids(root), names((0..11).chain(12..54).chain(60..61)), "{what}");
}

fn damage_all(pattern: &str, in_journal: bool) {
    let home = tempfile::tempdir().unwrap();
    let (good, root) = (home.path().join("good"), home.path().join("bad"));
    build(&good);
    let quiet = panic::take_hook();
    // The library behind the postings panics on damage; that is caught, and need not be shown.
    panic::set_hook(Box::new(|_| {}));
    let mut tried = 0;
    let result = panic::catch_unwind(panic::AssertUnwindSafe(|| {
        for (path, bytes) in tree(&good).into_iter().filter(|(path, _)| path.to_string_lossy().contains(pattern)) {
            let relative = path.strip_prefix(&good).unwrap();
            let step = (bytes.len() / 24).max(1);
            for at in (0..bytes.len()).step_by(step) {
                for kind in ["flip", "cut", "zero"] {
                    copy(&good, &root);
                    let file = fs::File::options().write(true).open(root.join(relative)).unwrap();
                    match kind {
                        "flip" => file.write_all_at(&[bytes[at] ^ 1 << (at % 8)], at as u64).unwrap(),
                        "cut" => file.set_len(at as u64).unwrap(),
                        _ => file.write_all_at(&vec![0; step.min(bytes.len() - at)], at as u64).unwrap(),
                    }
                    survive(&root, &format!("{kind} {} at {at}", relative.display()), in_journal);
                    tried += 1;
                }
            }
        }
    }));
    panic::set_hook(quiet);
    if let Err(failure) = result {
        panic::resume_unwind(failure);
    }
    assert!(tried > 0, "no file has {pattern} in its name");
}

#[test]
fn field_report_20_damaged_side_files_are_built_again() {
    damage_all(".side", false);
}

#[test]
fn field_report_20_damaged_postings_are_built_again() {
    damage_all(".postings", false);
}

#[test]
fn field_report_20_damaged_manifests_and_removal_lists_are_built_again() {
    damage_all("manifest", false);
    damage_all("removed", false);
}

#[test]
fn damaged_journals_are_read_as_far_as_they_go() {
    damage_all("jsonl", true);
}

#[test]
fn field_report_20_a_missing_or_replaced_index_is_built_again() {
    let home = tempfile::tempdir().unwrap();
    let (good, root) = (home.path().join("good"), home.path().join("bad"));
    build(&good);
    let expected = names((0..11).chain(12..54));
    for (path, bytes) in tree(&good.join("index")).into_iter().filter(|(path, _)| !path.ends_with("lock")) {
        let path = root.join(path.strip_prefix(&good).unwrap());
        for junk in [None, Some(vec![0xa5; bytes.len()]), Some(Vec::new())] {
            copy(&good, &root);
            match junk {
                Some(junk) => fs::write(&path, junk).unwrap(),
                None => fs::remove_file(&path).unwrap(),
            }
            use_all(&Snapshot::open(&root).unwrap());
            fold_all(&root);
            assert_eq!(ids(&root), expected, "{}", path.display());
        }
    }
    fs::remove_dir_all(root.join("index")).unwrap();
    assert_eq!(ids(&root), expected);
    fs::write(root.join("index"), "a file").unwrap();
    assert!(Snapshot::open(&root).is_err());
}

#[test]
fn field_report_19_one_flipped_byte_costs_one_record_and_repair_says_so() {
    for folded in [false, true] {
        let home = tempfile::tempdir().unwrap();
        write(home.path(), documents(0..30));
        if folded {
            fold_all(home.path());
        }
        let path = home.path().join("journal/1.jsonl");
        let mut bytes = fs::read(&path).unwrap();
        let middle = bytes.windows(9).position(|window| window == b"number15 ").unwrap();
        bytes[middle] ^= 4;
        fs::write(&path, &bytes).unwrap();
        // The derived index still holds the record; the journal does not.
        assert_eq!(ids(home.path()).len(), if folded { 30 } else { 29 });
        write(home.path(), documents(40..41));
        let repaired = repair(home.path(), soon()).unwrap();
        assert_eq!((repaired.recovered, repaired.lost), (30, 1));
        assert!(holds(home.path(), "number14 ") && repaired.set_aside[0].ends_with("1.damaged"));
        assert!(fs::read(&repaired.set_aside[0]).unwrap().starts_with(&bytes));
        fold_all(home.path());
        assert_eq!(ids(home.path()), names((0..15).chain(16..30).chain(40..41)));
    }
}

#[test]
fn field_report_19_a_cut_tail_costs_the_last_record_and_the_next_one_is_whole() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), documents(0..30));
    let path = home.path().join("journal/1.jsonl");
    let length = fs::metadata(&path).unwrap().len();
    fs::File::options().write(true).open(&path).unwrap().set_len(length - 100).unwrap();
    assert_eq!(ids(home.path()), names(0..29));
    write(home.path(), documents(40..41));
    assert_eq!(ids(home.path()), names((0..29).chain(40..41)));
    assert_eq!(Snapshot::open(home.path()).unwrap().condition().damaged_lines, 1);
    compact(home.path(), Retention::default(), soon()).unwrap();
    assert_eq!(ids(home.path()), names((0..29).chain(40..41)));
}

#[test]
fn a_damaged_header_loses_no_record_and_is_not_appended_to() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), documents(0..10));
    let path = home.path().join("journal/1.jsonl");
    let mut bytes = fs::read(&path).unwrap();
    bytes[20] ^= 1;
    fs::write(&path, &bytes).unwrap();
    write(home.path(), documents(10..12));
    assert_eq!(fs::read(&path).unwrap(), bytes);
    assert_eq!(ids(home.path()), names(0..12));
    fold_all(home.path());
    assert_eq!(ids(home.path()), names(0..12));
}

#[test]
fn a_fifo_in_place_of_a_file_is_refused_at_once() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("journal")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(home.path().join("journal/1.jsonl")).status();
    if !made.is_ok_and(|status| status.success()) {
        return;
    }
    assert!(Snapshot::open(home.path()).is_err());
    assert!(Writer::open(home.path(), soon()).is_err());
}
