//! The routing index on disk says what the profiles in memory say.

use std::collections::BTreeMap;
use std::path::Path;

use hookmem::document::{Concept, Evidence, SourceDocument};
use hookmem::rank::profiles::ProfilesBuilder;
use hookmem::route::bucket::Buckets;
use hookmem::route::profile::Flags;
use hookmem::route::{RoutingIndex, Strategy};
use hookmem::store::{FoldPolicy, IndexStore, Snapshot, fold};

const WORDS: [&str; 12] = [
    "cache",
    "parser",
    "retries",
    "src/http/h2.rs",
    "write_spec",
    "monday",
    "fix",
    "removed",
    "2024-05-01",
    "timeout",
    "E0277",
    "缓存失效",
];

fn document(number: usize) -> SourceDocument {
    let word = |n: usize| WORDS[(number * 7 + n * n + number / 5) % WORDS.len()];
    let request = format!("{} the {} of {} in Server{}", word(0), word(1), word(2), number % 9);
    SourceDocument {
        doc_id: format!("d{number}"),
        source: String::new(),
        content: format!(
            "## Request\n{request}\n\n## Result\nDone with {} and {}. See {}.\n",
            word(3),
            word(4),
            word(5)
        ),
        concept: Concept::Outcome,
        group_id: format!("s{}", number / 4),
        headings: Vec::new(),
        links: vec![format!("src/m{}.rs", number % 11)],
        timestamp_ms: (!number.is_multiple_of(3)).then_some(1_700_000_000_000 + number as i64 * 40_000_000),
        author_agent: String::new(),
        filters: BTreeMap::new(),
        digests: Vec::new(),
        evidence: Evidence::default(),
    }
}

fn queries() -> Vec<Vec<String>> {
    let texts =
        ["fix the cache parser", "server3 timeout 2024-05-01", "removed src/http/h2.rs on monday", "缓存 e0277"];
    texts.iter().map(|text| hookmem::analyze::tokens(text)).collect()
}

/// Stores documents and folds them.
fn store(root: &Path, numbers: std::ops::Range<usize>, policy: FoldPolicy) {
    let never = FoldPolicy { documents: u32::MAX, bytes: u64::MAX, ..FoldPolicy::default() };
    let store = IndexStore::at_path(root).unwrap().with_fold_policy(never);
    store.upsert_many(numbers.map(document)).unwrap();
    fold(root, None, policy).unwrap();
}

/// Everything that the index says of the words, for comparison.
fn told(index: &dyn RoutingIndex) -> String {
    let mut told = String::new();
    for term in queries().concat() {
        told += &format!("{term} {}\n", index.segment_frequency(&term));
        index.visit_segments(&term, &mut |segment, weights| told += &format!("{segment} {weights:?}\n"));
        let mut buckets: BTreeMap<u32, Buckets> = BTreeMap::new();
        index.visit_buckets(&term, &mut |segment, more| {
            let held = buckets.entry(segment).or_default();
            assert!(more == Buckets::default() || !held.has(more), "a bucket comes twice");
            *held = held.or(more);
        });
        buckets.retain(|_, held| *held != Buckets::default());
        told += &format!("{buckets:?}\n");
    }
    let mut flags = vec![Flags::default(); index.segments() as usize];
    index.fill_flags(&mut flags);
    told += &format!("{flags:?}\n");
    for segment in 0..index.segments() {
        index.visit_connections(segment, &mut |term| told += &format!("{term} "));
    }
    told
}

fn in_memory(count: usize) -> hookmem::rank::profiles::MemoryProfiles {
    let mut builder = ProfilesBuilder::default();
    (0..count).for_each(|number| builder.add(number as u32 / 4, &document(number)));
    builder.finish()
}

#[test]
fn one_part_and_the_unfolded_tail_say_what_profiles_in_memory_say() {
    let profiles = in_memory(200);
    let expected = told(&profiles);
    assert!(expected.contains("Buckets(8)") && expected.contains("Buckets(4)"), "actions and times are there");
    let home = tempfile::tempdir().unwrap();
    let folded = home.path().join("folded");
    store(&folded, 0..200, FoldPolicy::default());
    let snapshot = Snapshot::open(&folded).unwrap();
    assert_eq!(told(&snapshot), expected);
    let tail = home.path().join("tail");
    let never = FoldPolicy { documents: u32::MAX, bytes: u64::MAX, ..FoldPolicy::default() };
    IndexStore::at_path(&tail).unwrap().with_fold_policy(never).upsert_many((0..200).map(document)).unwrap();
    assert_eq!(told(&Snapshot::open(&tail).unwrap()), expected);
    for strategy in Strategy::ALL {
        for terms in queries() {
            let expected = strategy.route(&terms, &profiles, 7);
            assert!(!expected.is_empty(), "{strategy:?} {terms:?}");
            assert_eq!(strategy.route(&terms, &snapshot, 7), expected, "{strategy:?} {terms:?}");
        }
    }
}

#[test]
fn segments_in_several_parts_and_a_tail_are_routed_to_once() {
    let home = tempfile::tempdir().unwrap();
    // No part is built again: session 12 lies in both, session 25 in the second and the tail.
    let policy = FoldPolicy { small_part: 0, ..FoldPolicy::default() };
    store(home.path(), 0..50, policy);
    store(home.path(), 50..70, policy);
    let never = FoldPolicy { documents: u32::MAX, bytes: u64::MAX, ..FoldPolicy::default() };
    IndexStore::at_path(home.path()).unwrap().with_fold_policy(never).upsert_many((70..104).map(document)).unwrap();
    let snapshot = Snapshot::open(home.path()).unwrap();
    let told = told(&snapshot);
    assert!(!told.is_empty());
    let profiles = in_memory(104);
    for strategy in Strategy::ALL {
        for terms in queries() {
            let all = |index: &dyn RoutingIndex| {
                let mut segments: Vec<u32> =
                    strategy.route(&terms, index, 100).into_iter().map(|route| route.segment).collect();
                segments.sort_unstable();
                segments
            };
            // Weights of a split session are those of its parts, but who has a signal is the same.
            assert_eq!(all(&snapshot), all(&profiles), "{strategy:?} {terms:?}");
        }
    }
}

#[test]
fn without_its_file_of_rare_tables_a_part_still_routes() {
    let home = tempfile::tempdir().unwrap();
    store(home.path(), 0..200, FoldPolicy::default());
    let snapshot = Snapshot::open(home.path()).unwrap();
    let part = home.path().join("index/1/part-1.routes");
    std::fs::remove_file(part).unwrap();
    for strategy in Strategy::ALL {
        assert!(queries().iter().all(|terms| !strategy.route(terms, &snapshot, 3).is_empty()), "{strategy:?}");
    }
}
