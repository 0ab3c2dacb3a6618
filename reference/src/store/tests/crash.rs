//! Kills and crowds: every acknowledged record is there, once.
//!
//! Children are this test binary itself, running the ignored test below under an environment variable.

use std::env;
use std::io::{BufRead, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::thread;

use super::*;
use crate::store::retention::Retention;
use crate::store::{compact, repair};

const ROOT: &str = "HOOKMEM_TEST_STORE";
const RANGE: &str = "HOOKMEM_TEST_RANGE";

/// Writes record by record and says so after each; folds and compacts on the way.
#[test]
#[ignore = "the child of the tests below"]
fn child_writer() {
    let (Ok(root), Ok(range)) = (env::var(ROOT), env::var(RANGE)) else {
        return;
    };
    let (start, end) = range.split_once('-').unwrap();
    let root = Path::new(&root);
    for number in start.parse::<u32>().unwrap()..end.parse().unwrap() {
        write(root, documents(number..number + 1));
        // One write call a line, so that a kill cannot tear it unseen.
        let mut out = std::io::stdout().lock();
        out.write_all(format!("\nwritten {number}\n").as_bytes()).unwrap();
        out.flush().unwrap();
        if number % 5 == 4 {
            let _ = fold(root, None, FoldPolicy { small_part: 8, ..FoldPolicy::default() });
        }
        if number % 17 == 16 {
            let _ = compact(root, Retention::default(), Deadline::after(Duration::from_millis(50)));
        }
    }
}

fn start_child(root: &Path, range: std::ops::Range<u32>) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "store::tests::crash::child_writer", "--ignored", "--nocapture", "--test-threads=1"])
        .env(ROOT, root)
        .env(RANGE, format!("{}-{}", range.start, range.end))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn acknowledged(child: &mut Child) -> Vec<u32> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.map_while(Result::ok).filter_map(|line| line.strip_prefix("written ")?.parse().ok()).collect()
}

#[test]
fn a_writer_killed_at_any_instant_loses_nothing_it_acknowledged() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("store");
    let mut expected = std::collections::BTreeSet::new();
    let mut pause = 1_000_003_u64;
    let mut killed = 0;
    for round in 0..24 {
        let range = round * 1_000..(round + 1) * 1_000;
        let mut child = start_child(&root, range.clone());
        // Any moments will do; these repeat.
        pause = pause.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        thread::sleep(Duration::from_micros(5_000 + (pause >> 33) % 120_000));
        child.kill().unwrap();
        let written = acknowledged(&mut child);
        killed += u32::from(!child.wait().unwrap().success());
        expected.extend(names(written));
        let found = ids(&root);
        assert!(found.is_superset(&expected), "round {round}: {:?} lost", expected.difference(&found));
        // One record may be on the disk without its acknowledgement.
        expected.extend(found.iter().filter(|id| names(range.clone()).contains(*id)).cloned());
        assert_eq!(found, expected, "round {round}");
    }
    assert!(killed > 0 && !expected.is_empty(), "{killed} killed, {} written", expected.len());
    write(&root, documents(900_000..900_001));
    expected.extend(names(900_000..900_001));
    fold_all(&root);
    assert_eq!(ids(&root), expected);
    compact(&root, Retention::default(), soon()).unwrap();
    assert_eq!(ids(&root), expected);
    assert_eq!(repair(&root, soon()).unwrap().lost, 0);
}

#[test]
fn eight_processes_at_once_lose_nothing() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("store");
    let mut children: Vec<Child> = (0..8).map(|number| start_child(&root, number * 100..number * 100 + 20)).collect();
    let mut expected = std::collections::BTreeSet::new();
    for child in &mut children {
        let written = acknowledged(child);
        assert_eq!(written.len(), 20);
        assert!(child.wait().unwrap().success());
        expected.extend(names(written));
    }
    assert_eq!(ids(&root), expected);
    fold_all(&root);
    assert_eq!(ids(&root), expected);
}
