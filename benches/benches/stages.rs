//! The stages of one hook call, each on its own, in process.
//!
//! Uses `corpora/tiny`, multiplied where size matters. Absolute times say little on a shared machine: compare two builds in
//! one session, and judge a whole hook with `hookbench run`, which measures the process beside its floor.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot be set up must stop")]

use std::hint::black_box;
use std::path::{Path, PathBuf};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use hookmem::analyze::tokens;
use hookmem::corpus::Records;
use hookmem::document::SourceDocument;
use hookmem::excerpt::excerpt;
use hookmem::pack::{Item, pack};
use hookmem::query::{Query, QueryContext};
use hookmem::rank::{Weights, rank};
use hookmem::redact::redact;
use hookmem::revision::{Head, RevisionStatus};
use hookmem::route::Strategy;
use hookmem::store::{IndexStore, Snapshot};

const PROMPT: &str = "why is drain_timeout 25 seconds, and what happens to leases when a worker in \
                      crates/worker/src/shutdown.rs stops?";

fn tiny() -> Vec<SourceDocument> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpora/tiny");
    Records::open(&folder, true).unwrap().map(Result::unwrap).collect()
}

/// A store of at least `n` records: tiny again and again, each copy in sessions of its own.
fn store_of(n: usize, root: &Path) {
    let tiny = tiny();
    let copies = (0..n.div_ceil(tiny.len())).flat_map(|copy| {
        tiny.iter().map(move |document| SourceDocument {
            doc_id: format!("{}-{copy}", document.doc_id),
            group_id: format!("{}-{copy}", document.group_id),
            ..document.clone()
        })
    });
    IndexStore::at_path(root).unwrap().upsert_many(copies).unwrap();
}

fn payload(prompt: &str) -> Vec<u8> {
    format!(r#"{{"session_id":"s","transcript_path":"/t","cwd":"/p","hook_event_name":"UserPromptSubmit","prompt":"{prompt}"}}"#)
        .into_bytes()
}

fn stages_without_a_store(bench: &mut Criterion) {
    let bytes = payload(PROMPT);
    bench.bench_function("decode", |b| b.iter(|| hook_contract::decode(black_box(&bytes))));
    let decoded = hook_contract::decode(&bytes).unwrap();
    bench.bench_function("query", |b| b.iter(|| Query::from_payload(black_box(&decoded), &QueryContext::default())));
    let memories = tiny();
    let text: String =
        memories.iter().map(|document| document.content.as_str()).collect::<String>().chars().take(4_000).collect();
    bench.bench_function("analyse_4kb", |b| b.iter(|| tokens(black_box(&text))));
    bench.bench_function("redact_4kb", |b| b.iter(|| redact(black_box(&text)).len()));
    let terms = tokens(PROMPT);
    bench.bench_function("excerpt", |b| b.iter(|| excerpt(black_box(&memories[0]), &terms, 3, 800)));
    let items: Vec<Item> = memories
        .iter()
        .take(3)
        .map(|document| Item {
            document: document.clone(),
            status: RevisionStatus::Ancestor,
            excerpt: excerpt(document, &terms, 3, 800),
        })
        .collect();
    bench.bench_function("pack_3_items", |b| b.iter(|| pack(black_box(&items), &Head::default(), 3_000)));
}

fn stages_on_a_store(bench: &mut Criterion) {
    let query = Query::from_text(PROMPT);
    let terms: Vec<String> = query.terms.iter().map(|term| term.text.clone()).collect();
    for n in [1_000, 10_000] {
        let folder = tempfile::tempdir().unwrap();
        let root: PathBuf = folder.path().join("store");
        store_of(n, &root);
        bench.bench_with_input(BenchmarkId::new("open", n), &root, |b, root| b.iter(|| Snapshot::open(root).unwrap()));
        let snapshot = Snapshot::open(&root).unwrap();
        let everywhere = |_: u32| true;
        bench.bench_function(&format!("rank/{n}"), |b| {
            b.iter(|| rank(&snapshot, black_box(&query), &Weights::default(), &everywhere, 20));
        });
        bench.bench_function(&format!("route/{n}"), |b| {
            b.iter(|| Strategy::LocalDistinctiveness.route(black_box(&terms), &snapshot, 3));
        });
        bench.bench_function(&format!("recent/{n}"), |b| b.iter(|| snapshot.recent().take(60).count()));
    }
}

criterion_group!(benches, stages_without_a_store, stages_on_a_store);
criterion_main!(benches);
