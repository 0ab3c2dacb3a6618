//! Format versions: every released one loads, a newer one is read and never written.

use super::*;
use crate::store::error::{AppendError, FoldError};
use crate::store::format::{INDEX_VERSION, JOURNAL_VERSION};
use crate::store::frame;

/// The committed journal of a released version.
fn released(version: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("samples/journal-v{version}.jsonl"))
}

#[test]
fn the_journal_of_every_released_version_loads() {
    for version in 1..=JOURNAL_VERSION {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("journal")).unwrap();
        fs::copy(released(version), home.path().join("journal/1.jsonl")).unwrap();
        let expected = names([0, 2]);
        assert_eq!(ids(home.path()), expected);
        let snapshot = Snapshot::open(home.path()).unwrap();
        assert_eq!(snapshot.condition().damaged_lines, 0);
        assert_eq!(snapshot.document_by_id("doc-2"), Some(document(2)));
        fold_all(home.path());
        assert_eq!(ids(home.path()), expected);
    }
}

/// Today's writer still writes what the newest sample holds, byte for byte: a change needs a new version.
#[test]
fn the_newest_sample_is_what_this_release_writes() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), documents(0..2));
    Writer::open(home.path(), soon()).unwrap().remove(&crate::store::Removal::Id("doc-1".into())).unwrap();
    Writer::open(home.path(), soon()).unwrap().upsert(documents(2..3), true).unwrap();
    let written = fs::read(home.path().join("journal/1.jsonl")).unwrap();
    let sample = fs::read(released(JOURNAL_VERSION)).unwrap();
    assert_eq!(String::from_utf8_lossy(&written), String::from_utf8_lossy(&sample));
}

#[test]
fn field_report_25_a_newer_journal_is_read_and_not_written() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), documents(0..3));
    let path = home.path().join("journal/1.jsonl");
    let bytes = fs::read(&path).unwrap();
    let mut newer = Vec::new();
    frame::encode(br#"{"format":"hookmem-journal","version":2,"replaces":0,"mood":"good"}"#, &mut newer);
    frame::encode(br#"{"op":"annotate","id":"doc-1"}"#, &mut newer);
    newer.extend_from_slice(&bytes[bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1..]);
    fs::write(&path, &newer).unwrap();
    assert_eq!(ids(home.path()), names(0..3));
    let refused = Writer::open(home.path(), soon());
    assert!(matches!(refused, Err(AppendError::Newer { found: 2, .. })), "{refused:?}");
    assert!(crate::store::repair(home.path(), soon()).is_err());
    assert!(crate::store::compact(home.path(), crate::store::Retention::default(), soon()).is_err());
    assert_eq!(fs::read(&path).unwrap(), newer);
    let snapshot = Snapshot::open(home.path()).unwrap();
    assert_eq!(snapshot.condition().newer_journal, Some(2));
    assert!(!FoldPolicy { documents: 0, bytes: 0, ..FoldPolicy::default() }.is_due(snapshot.condition()));
}

#[test]
fn field_report_25_a_newer_index_is_left_alone_and_an_older_one_replaced() {
    for (version, kept) in [(INDEX_VERSION + 1, true), (INDEX_VERSION - 1, false)] {
        let home = tempfile::tempdir().unwrap();
        write(home.path(), documents(0..3));
        let folder = home.path().join("index/7");
        fs::create_dir_all(&folder).unwrap();
        let mut bytes = Vec::new();
        let manifest = format!(r#"{{"format":"hookmem-index","version":{version},"shards":[]}}"#);
        frame::encode(manifest.as_bytes(), &mut bytes);
        fs::write(folder.join("manifest.json"), &bytes).unwrap();
        assert_eq!(ids(home.path()), names(0..3));
        let folded = fold(home.path(), None, FoldPolicy::default());
        assert_eq!(matches!(folded, Err(FoldError::Newer { .. })), kept, "{folded:?}");
        assert_eq!(folder.exists(), kept);
        write(home.path(), documents(3..4));
        assert_eq!(ids(home.path()), names(0..4));
    }
}
