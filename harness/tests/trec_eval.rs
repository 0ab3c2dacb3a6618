//! The measures of `quality.rs` against trec_eval's own code, query by query, to a millionth.
//!
//! Two conventions differ, and both are named here rather than hidden: trec_eval gives a query without relevant
//! documents the value 0, we give it none; and trec_eval breaks ties by document id, descending, which is done before
//! a ranking reaches `quality.rs`. Reciprocal rank has no cut-off in trec_eval.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a failed unwrap is a failed test")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use hookbench::quality::{MIN_GRADE, Measure};
use hookbench::run_event::Retrieved;
use serde_json::Value;

const CUTS: [u32; 5] = [1, 3, 5, 10, 20];
const CLOSE: f64 = 1e-6;

/// Query → document → grade.
type Qrels = BTreeMap<String, Vec<(String, u8)>>;
/// Query → documents with score, in no order.
type Scores = BTreeMap<String, Vec<(String, f64)>>;

fn qrels(text: &str) -> Qrels {
    let mut qrels = Qrels::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        qrels.entry(words[0].to_owned()).or_default().push((words[2].to_owned(), words[3].parse().unwrap()));
    }
    qrels
}

fn scores(text: &str) -> Scores {
    let mut scores = Scores::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        scores.entry(words[0].to_owned()).or_default().push((words[2].to_owned(), words[4].parse().unwrap()));
    }
    scores
}

/// Ranking as trec_eval makes it: by score, then by document id, both descending.
fn ranked(scored: &[(String, f64)]) -> Vec<String> {
    let mut scored: Vec<&(String, f64)> = scored.iter().collect();
    scored.sort_by(|left, right| right.1.total_cmp(&left.1).then_with(|| right.0.cmp(&left.0)));
    scored.into_iter().map(|(id, _)| id.clone()).collect()
}

/// Compares every measure of every query; the number of values compared.
fn compare(qrels: &Qrels, scores: &Scores, expected: &Value) -> usize {
    let queries: BTreeSet<&String> = expected.as_object().unwrap().keys().collect();
    let asked: BTreeSet<&String> = qrels.keys().filter(|query| scores.contains_key(*query)).collect();
    assert_eq!(queries, asked);
    let mut n = 0;
    for (query, values) in expected.as_object().unwrap() {
        let relevant = qrels[query].clone();
        let any_relevant = relevant.iter().any(|(_, grade)| *grade >= MIN_GRADE);
        let any_gain = relevant.iter().any(|(_, grade)| *grade > 0);
        let retrieved = Retrieved { ranked: ranked(&scores[query]), relevant, relevant_bytes: 0 };
        let mut check = |name: &str, measure: Measure, defined: bool| {
            let theirs = values[name].as_f64().unwrap_or_else(|| panic!("{query} has no {name}"));
            let ours = measure.of(&retrieved, 1, MIN_GRADE);
            assert_eq!(ours.is_some(), defined, "{query} {name}");
            let ours = ours.unwrap_or(0.0);
            assert!((ours - theirs).abs() <= CLOSE, "{query} {name}: {ours} here, {theirs} by trec_eval");
            n += 1;
        };
        for k in CUTS {
            check(&format!("P_{k}"), Measure::Precision(k), any_relevant);
            check(&format!("recall_{k}"), Measure::Recall(k), any_relevant);
            check(&format!("success_{k}"), Measure::Hit(k), any_relevant);
            check(&format!("ndcg_cut_{k}"), Measure::Ndcg(k), any_gain);
        }
        check("recip_rank", Measure::ReciprocalRank(u32::MAX), any_relevant);
    }
    n
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/trec")
}

/// What trec_eval says; `None`, with a line that says so, when it cannot be had here.
fn trec_eval(qrels: &Path, run: &Path) -> Option<Value> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../reports/trec_eval.py");
    let skip = |why: String| {
        let _ = writeln!(std::io::stderr(), "skipped: trec_eval cannot be run here: {why}");
    };
    let said = Command::new("python3").arg(script).args([qrels, run]).arg(MIN_GRADE.to_string()).output();
    let said = said.map_err(|error| skip(error.to_string())).ok()?;
    if said.status.code() == Some(3) {
        skip(String::from_utf8_lossy(&said.stderr).into_owned());
        return None;
    }
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    Some(serde_json::from_slice(&said.stdout).unwrap())
}

#[test]
fn measures_equal_the_committed_values_of_trec_eval() {
    let read = |name: &str| std::fs::read_to_string(folder().join(name)).unwrap();
    let expected = serde_json::from_str(&read("expected.json")).unwrap();
    assert_eq!(compare(&qrels(&read("qrels")), &scores(&read("run")), &expected), 11 * 21);
}

#[test]
fn a_wrong_ranking_does_not_pass_for_trec_evals() {
    let read = |name: &str| std::fs::read_to_string(folder().join(name)).unwrap();
    let expected: Value = serde_json::from_str(&read("expected.json")).unwrap();
    let mut scores = scores(&read("run"));
    for scored in scores.values_mut() {
        scored.iter_mut().for_each(|(_, score)| *score = -*score);
    }
    let outcome = std::panic::catch_unwind(|| compare(&qrels(&read("qrels")), &scores, &expected));
    assert!(outcome.is_err());
}

#[test]
fn measures_equal_trec_evals_on_the_small_collection() {
    let data = std::env::var_os("HOOKBENCH_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data"), PathBuf::from);
    let Ok(labels) = std::fs::read_to_string(data.join("small/qrels")) else {
        let _ = writeln!(std::io::stderr(), "skipped: no small collection in {}", data.display());
        return;
    };
    let corpus = std::fs::read_to_string(data.join("small/corpus.jsonl")).unwrap();
    let documents: Vec<String> = corpus
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["doc_id"].as_str().unwrap().to_owned())
        .collect();
    let qrels = qrels(&labels);
    let run = pseudo_run(&qrels, &documents);
    let folder = tempfile::tempdir().unwrap();
    let (qrels_file, run_file) = (folder.path().join("qrels"), folder.path().join("run"));
    std::fs::write(&qrels_file, labels).unwrap();
    std::fs::write(&run_file, &run).unwrap();
    let Some(expected) = trec_eval(&qrels_file, &run_file) else { return };
    let n = compare(&qrels, &scores(&run), &expected);
    assert!(n >= 200 * 21, "{n} values");
}

/// A ranking without meaning but with every difficulty: relevant documents somewhere among others, many ties, lists of
/// one to sixty documents. The same for the same collection.
fn pseudo_run(qrels: &Qrels, documents: &[String]) -> String {
    let mut run = String::new();
    for (query, labels) in qrels {
        let length = 1 + hash(query) % 60;
        let mut pool: BTreeSet<&String> =
            labels.iter().map(|(id, _)| id).filter(|id| !hash(id).is_multiple_of(5)).collect();
        pool.extend(
            documents
                .iter()
                .filter(|id| hash(&format!("{query}{id}")).is_multiple_of(documents.len() as u64 / length + 1)),
        );
        for (rank, id) in pool.into_iter().enumerate() {
            let luck = hash(&format!("{id}{query}")) % 12;
            let grade = labels.iter().find(|(labelled, _)| labelled == id).map_or(0, |(_, grade)| u64::from(*grade));
            // Writing into a string cannot fail.
            let _ = writeln!(run, "{query} Q0 {id} {} {} pseudo", rank + 1, luck + 2 * grade);
        }
    }
    run
}

/// FNV-1a, 64 bits.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
