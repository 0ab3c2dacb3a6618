//! Removal: what is gone, what stays gone, and what must not go.

use super::*;
use crate::store::retention::Retention;
use crate::store::write::Removal;
use crate::store::{compact, repair};

fn remove(root: &Path, removal: Removal) -> Vec<String> {
    Writer::open_complete(root, soon()).unwrap().remove(&removal).unwrap()
}

#[test]
fn a_group_and_a_time_are_removed_folded_or_not() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), documents(0..20));
    fold_all(home.path());
    write(home.path(), documents(20..24));
    let mut gone = remove(home.path(), Removal::Group("claude-session:p:session-6".to_owned()));
    gone.sort();
    assert_eq!(gone, ["doc-18", "doc-19", "doc-20"]);
    remove(home.path(), Removal::Before(1_700_000_005_000));
    assert_eq!(ids(home.path()), names((5..18).chain(21..24)));
}

#[test]
fn field_report_91_a_forgotten_record_stays_forgotten() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), documents(0..20));
    remove(home.path(), Removal::Id("doc-7".to_owned()));
    for stage in 0..3 {
        assert_eq!(write(home.path(), documents(7..8)).forgotten, 1, "stage {stage}");
        assert_eq!(ids(home.path()), names((0..7).chain(8..20)), "stage {stage}");
        match stage {
            0 => drop(fold_all(home.path())),
            _ => drop(compact(home.path(), Retention::default(), soon()).unwrap()),
        }
    }
}

#[test]
fn a_restored_record_is_back() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), documents(0..5));
    remove(home.path(), Removal::Id("doc-2".to_owned()));
    fold_all(home.path());
    Writer::open(home.path(), soon()).unwrap().upsert(documents(2..3), true).unwrap();
    assert_eq!(ids(home.path()), names(0..5));
    fold_all(home.path());
    assert_eq!(ids(home.path()), names(0..5));
    compact(home.path(), Retention::default(), soon()).unwrap();
    assert_eq!(ids(home.path()), names(0..5));
    assert_eq!(write(home.path(), documents(2..3)).unchanged, 1);
}

#[test]
fn compaction_takes_removed_text_out_of_every_byte() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), documents(0..20));
    fold_all(home.path());
    let mut replaced = document(3);
    replaced.content = "## Request\nHarmless\n".to_owned();
    write(home.path(), vec![replaced]);
    remove(home.path(), Removal::Id("doc-12".to_owned()));
    let journal = home.path().join("journal/1.jsonl");
    let mut bytes = fs::read(&journal).unwrap();
    let torn = bytes.len();
    bytes.extend_from_slice(b"[4000,1,{\"op\":\"upsert\",\"document\":{\"content\":\"number12 torn");
    fs::write(&journal, &bytes).unwrap();
    assert!(torn < bytes.len() && holds(home.path(), "number12 ") && holds(home.path(), "number3 "));
    assert_eq!(repair(home.path(), soon()).unwrap().set_aside.len(), 1);
    compact(home.path(), Retention::default(), soon()).unwrap();
    for gone in ["number12", "number3 ", "module_12", "written12", "number12 torn"] {
        assert!(!holds(home.path(), gone), "{gone}");
    }
    // The tombstone is an id, no text.
    assert!(holds(home.path(), "doc-12"));
    assert_eq!(ids(home.path()), names((0..12).chain(13..20)));
}

#[test]
fn compaction_clears_what_a_killed_writer_left_of_a_spool_file() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), documents(0..2));
    for (name, age) in [("new-old", 3_600), ("new-young", 0)] {
        let path = home.path().join("journal").join(name);
        fs::write(&path, "half a record").unwrap();
        let time = std::time::SystemTime::now() - Duration::from_secs(age);
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    }
    compact(home.path(), Retention::default(), soon()).unwrap();
    assert!(!home.path().join("journal/new-old").exists() && home.path().join("journal/new-young").exists());
}

#[test]
fn field_report_92_removing_in_one_store_leaves_another_alone() {
    let home = tempfile::tempdir().unwrap();
    let (a, b) = (home.path().join("a"), home.path().join("b"));
    for root in [&a, &b] {
        write(root, documents(0..20));
        fold_all(root);
    }
    let before = tree(&b);
    remove(&a, Removal::Before(i64::MAX));
    compact(&a, Retention::default(), soon()).unwrap();
    assert!(ids(&a).is_empty());
    assert_eq!(tree(&b), before);
}

#[test]
fn removing_everything_leaves_a_store_that_works() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), documents(0..20));
    remove(home.path(), Removal::Before(i64::MAX));
    fold_all(home.path());
    compact(home.path(), Retention::default(), soon()).unwrap();
    assert_eq!(write(home.path(), documents(30..32)).appended, 2);
    assert_eq!(ids(home.path()), names(30..32));
}
