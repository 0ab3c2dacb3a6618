//! Waiting for the lock, not waiting for ever, and losing nothing in between.

use std::fs::File;
use std::thread;

use super::*;
use crate::store::error::AppendError;
use crate::store::spool;
use crate::store::wire::Op;

#[test]
fn field_report_16_a_lock_held_for_400_ms_delays_the_record_and_one_held_longer_spools_it() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), documents(0..1));
    let holder = File::open(home.path().join("journal/lock")).unwrap();
    holder.lock().unwrap();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| write(home.path(), documents(1..2)).appended);
        thread::sleep(Duration::from_millis(400));
        holder.unlock().unwrap();
        assert_eq!(waiting.join().unwrap(), 1);
    });

    holder.lock().unwrap();
    let busy = Writer::open(home.path(), Deadline::after(Duration::from_millis(20)));
    assert!(matches!(busy, Err(AppendError::Busy(_))), "{busy:?}");
    let record = Op::Upsert { document: Box::new(document(2)), restore: false };
    let path = spool::spool(home.path(), &[record]).unwrap();
    assert_eq!(spool::pending(home.path()).unwrap(), [path]);
    holder.unlock().unwrap();
    write(home.path(), documents(3..4));
    assert_eq!(ids(home.path()), names(0..4));
    assert!(spool::pending(home.path()).unwrap().is_empty());
}

#[test]
fn a_spooled_record_does_not_replace_its_successor_nor_lift_a_tombstone() {
    let home = tempfile::tempdir().unwrap();
    let mut newer = document(1);
    newer.timestamp_ms = newer.timestamp_ms.map(|time| time + 1);
    newer.content = "## Request\nnewer\n".to_owned();
    write(home.path(), vec![newer, document(2)]);
    Writer::open_complete(home.path(), soon()).unwrap().remove(&crate::store::Removal::Id("doc-2".into())).unwrap();
    let ops = [1, 2].map(|number| Op::Upsert { document: Box::new(document(number)), restore: false });
    spool::spool(home.path(), &ops).unwrap();
    write(home.path(), documents(3..4));
    let snapshot = Snapshot::open(home.path()).unwrap();
    assert_eq!(snapshot.document_by_id("doc-1").unwrap().content, "## Request\nnewer\n");
    assert_eq!(ids_of(&snapshot), names([1, 3]));
}

#[test]
fn field_report_22_a_lock_file_of_a_dead_or_foreign_process_stops_nobody() {
    for content in ["4000000\n", "1\n"] {
        let home = tempfile::tempdir().unwrap();
        write(home.path(), documents(0..1));
        fold_all(home.path());
        for lock in ["journal/lock", "index/lock"] {
            fs::write(home.path().join(lock), content).unwrap();
        }
        thread::scope(|scope| {
            for number in 1..9 {
                let root = home.path();
                scope.spawn(move || write(root, documents(number..number + 1)));
            }
        });
        fold_all(home.path());
        assert_eq!(ids(home.path()), names(0..9));
    }
}

#[test]
fn field_report_17_a_store_created_by_many_at_once_is_one_valid_store() {
    for _ in 0..25 {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("new/store");
        thread::scope(|scope| {
            for number in 0..4 {
                let root = &root;
                scope.spawn(move || {
                    Snapshot::open(root).unwrap();
                    write(root, documents(number..number + 1));
                });
            }
        });
        assert_eq!(ids(&root), names(0..4));
    }
}

#[test]
fn a_reader_does_not_wait_for_a_writer() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), documents(0..3));
    let _writer = Writer::open(home.path(), soon()).unwrap();
    assert_eq!(ids(home.path()), names(0..3));
}
