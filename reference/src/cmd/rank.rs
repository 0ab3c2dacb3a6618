//! `hookmem rank`: queries in, a TREC run out, over a labelled collection.
//!
//! What the hook would find and inject, as data that any evaluation can read. With `--evaluate` the judgements of
//! the collection are read as well and a table of measures by form takes the place of the run. Reads the
//! collection only; no store is opened or written. Nothing is printed but what was asked for.

use std::fs;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::config::Config;
use crate::corpus::{self, CorpusError, CorpusQuery, Records};
use crate::rank::collection::{Collection, Method, Outcome};
use crate::rank::gate::Gate;
use crate::rank::quality::{Answer, Judgements, table, tally};
use crate::rank::weights::Weights;
use crate::route::Routing;

/// Rank the memories of a labelled collection for queries, as a TREC run on stdout
#[derive(Debug, Clone, clap::Args)]
pub struct RankArgs {
    /// Folder with corpus.jsonl, queries.jsonl and, beside them, written.jsonl and qrels; plain or .gz
    #[arg(long, value_name = "DIR")]
    pub corpus: PathBuf,
    /// Read queries from this file in the format of queries.jsonl, or from stdin with `-`
    #[arg(long, value_name = "FILE")]
    pub queries: Option<PathBuf>,
    /// Leave written evidence out: neither line fingerprints nor written tokens
    #[arg(long)]
    pub no_written: bool,
    /// Write what would be injected, one {"qid", "injected", "bytes"} a line
    #[arg(long, value_name = "FILE")]
    pub decisions: Option<PathBuf>,
    /// Records ranked a query
    #[arg(long, value_name = "K", default_value_t = 50)]
    pub k: usize,
    /// Which sessions are looked into: all-segments, bm25-max (those of the best records) or a routing strategy
    #[arg(long, value_name = "NAME", default_value = "all-segments")]
    pub strategy: String,
    /// Sessions looked into when routing
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub top_n: usize,
    /// Confidence that an injection needs, in place of the built-in one
    #[arg(long, value_name = "X")]
    pub threshold: Option<f32>,
    /// Read qrels from the collection and print measures by form instead of the run
    #[arg(long)]
    pub evaluate: bool,
}

/// Why ranking failed.
#[derive(Debug, thiserror::Error)]
pub enum RankError {
    /// The collection cannot be read.
    #[error(transparent)]
    Corpus(#[from] CorpusError),
    /// The strategy's name is not known.
    #[error("no strategy is named {name:?}: use one of {known}")]
    Strategy {
        /// What was given.
        name: String,
        /// All names.
        known: String,
    },
    /// The judgements cannot be read.
    #[error("cannot read {}", path.display())]
    Judgements {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The decisions cannot be written.
    #[error("cannot write {}", path.display())]
    Decisions {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The output cannot be written.
    #[error("cannot write the output")]
    Output(#[from] io::Error),
}

#[derive(Serialize)]
struct DecisionRow<'a> {
    qid: &'a str,
    injected: &'a [String],
    bytes: usize,
}

/// Ranks all queries, in their order. `stdin` is read only with `--queries -`.
pub fn run(args: &RankArgs, stdin: Box<dyn BufRead>, out: &mut dyn Write) -> Result<(), RankError> {
    let method = method(args)?;
    let queries = queries(args, stdin)?;
    let collection = Collection::read(Records::open(&args.corpus, !args.no_written)?, &method)?;
    let config = Config::default();
    let outcomes: Vec<Outcome> = queries.iter().map(|query| collection.answer(query, &method, &config)).collect();
    if let Some(path) = &args.decisions {
        let write = write_decisions(path, &queries, &outcomes);
        write.map_err(|source| RankError::Decisions { path: path.clone(), source })?;
    }
    if args.evaluate {
        out.write_all(evaluation(&args.corpus, &queries, &outcomes)?.as_bytes())?;
    } else {
        let tag = format!("hookmem-{}{}", args.strategy, if args.no_written { "-no-written" } else { "" });
        for (query, outcome) in queries.iter().zip(&outcomes) {
            write_run(out, &query.qid, outcome, &tag)?;
        }
    }
    Ok(out.flush()?)
}

fn method(args: &RankArgs) -> Result<Method, RankError> {
    let routing = Routing::parse(&args.strategy).ok_or_else(|| RankError::Strategy {
        name: args.strategy.clone(),
        known: Routing::all().map(Routing::name).collect::<Vec<_>>().join(", "),
    })?;
    let config = Config::default();
    let built_in = Gate::default();
    Ok(Method {
        weights: if args.no_written { Weights::without_evidence() } else { Weights::default() },
        gate: Gate {
            threshold: args.threshold.unwrap_or(built_in.threshold),
            items: config.recall.max_items,
            ..built_in
        },
        routing,
        top_n: args.top_n,
        depth: args.k,
    })
}

fn queries(args: &RankArgs, stdin: Box<dyn BufRead>) -> Result<Vec<CorpusQuery>, CorpusError> {
    match &args.queries {
        None => corpus::read_queries(&args.corpus),
        Some(path) if path == Path::new("-") => corpus::read_queries_from(stdin, "stdin"),
        Some(path) => corpus::read_queries_file(path),
    }
}

/// Lines `qid Q0 docid rank score tag`. Scores fall strictly, because evaluations order by them and break ties in
/// ways of their own.
fn write_run(out: &mut dyn Write, qid: &str, outcome: &Outcome, tag: &str) -> io::Result<()> {
    let mut last = i64::MAX;
    for ((doc_id, score), place) in outcome.ranked.iter().zip(1..) {
        last = ((f64::from(*score) * 1e6) as i64).min(last - 1);
        writeln!(out, "{qid} Q0 {doc_id} {place} {:.6} {tag}", last as f64 / 1e6)?;
    }
    Ok(())
}

fn write_decisions(path: &Path, queries: &[CorpusQuery], outcomes: &[Outcome]) -> io::Result<()> {
    let mut text = String::new();
    for (query, outcome) in queries.iter().zip(outcomes) {
        let row = DecisionRow { qid: &query.qid, injected: &outcome.injected, bytes: outcome.bytes };
        text.push_str(&serde_json::to_string(&row)?);
        text.push('\n');
    }
    fs::write(path, text)
}

fn evaluation(folder: &Path, queries: &[CorpusQuery], outcomes: &[Outcome]) -> Result<String, RankError> {
    let path = folder.join("qrels");
    let text = fs::read_to_string(&path).map_err(|source| RankError::Judgements { path, source })?;
    let ids = |outcome: &Outcome| outcome.ranked.iter().map(|(doc_id, _)| doc_id.clone()).collect::<Vec<_>>();
    let ranked: Vec<Vec<String>> = outcomes.iter().map(ids).collect();
    let answers = queries.iter().zip(outcomes).zip(&ranked).map(|((query, outcome), ranked)| Answer {
        qid: &query.qid,
        form: &query.form,
        kind: &query.kind,
        ranked,
        injected: &outcome.injected,
    });
    Ok(table(&tally(answers, &Judgements::parse(&text))))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::rank::quality::Tally;
    use std::collections::BTreeMap;
    use std::io::Cursor;

    fn args(corpus: &Path) -> RankArgs {
        RankArgs {
            corpus: corpus.to_owned(),
            queries: None,
            no_written: false,
            decisions: None,
            k: 50,
            strategy: "all-segments".to_owned(),
            top_n: 3,
            threshold: None,
            evaluate: false,
        }
    }

    fn tiny() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let row = |n: usize, project: &str, request: &str| {
            format!(
                "{{\"doc_id\":\"d{n}\",\"session_id\":\"s{n}\",\"project\":\"{project}\",\"type\":\"outcome\",\
                 \"request\":\"{request}\",\"result\":\"Done.\"}}\n"
            )
        };
        let mut corpus: String = (0..30).map(|n| row(n, "p", "Change the layout of the page")).collect();
        corpus += &row(30, "p", "Rotate the signing keys of the webhook sender");
        corpus += &row(31, "other", "Rotate the signing keys of the webhook sender");
        fs::write(folder.path().join("corpus.jsonl"), corpus).unwrap();
        let query = |qid: &str, kind: &str, text: &str| {
            format!(
                "{{\"qid\":\"{qid}\",\"project\":\"p\",\"form\":\"prompt\",\"kind\":\"{kind}\",\"text\":\"{text}\"}}\n"
            )
        };
        let queries = query("q1", "answerable", "webhook signing keys") + &query("q2", "noanswer", "capital of Norway");
        fs::write(folder.path().join("queries.jsonl"), queries).unwrap();
        fs::write(folder.path().join("qrels"), "q1 0 d30 3\n").unwrap();
        folder
    }

    fn output(args: &RankArgs, stdin: &'static str) -> String {
        let mut out = Vec::new();
        run(args, Box::new(Cursor::new(stdin)), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn run_and_decisions_name_own_project_only() {
        let folder = tiny();
        let decisions = folder.path().join("decisions.jsonl");
        let text = output(&RankArgs { decisions: Some(decisions.clone()), ..args(folder.path()) }, "");
        let first: Vec<&str> = text.lines().next().unwrap().split(' ').collect();
        assert_eq!((first.len(), first[0], first[1], first[2], first[3]), (6, "q1", "Q0", "d30", "1"));
        assert_eq!(first[5], "hookmem-all-segments");
        assert!(!text.contains("d31"));
        let rows: Vec<serde_json::Value> =
            fs::read_to_string(decisions).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(rows[0]["injected"], serde_json::json!(["d30"]));
        assert!(rows[0]["bytes"].as_u64().unwrap() > 0);
        assert_eq!(rows[1], serde_json::json!({"qid": "q2", "injected": [], "bytes": 0}));
    }

    #[test]
    fn scores_of_a_run_fall_strictly() {
        let folder = tiny();
        let stdin = "{\"qid\":\"q\",\"project\":\"p\",\"text\":\"page layout\"}\n";
        let text = output(&RankArgs { queries: Some("-".into()), ..args(folder.path()) }, stdin);
        let scores: Vec<f64> = text.lines().map(|line| line.split(' ').nth(4).unwrap().parse().unwrap()).collect();
        assert_eq!(scores.len(), 30);
        assert!(scores.is_sorted_by(|a, b| a > b), "{scores:?}");
    }

    #[test]
    fn every_strategy_ranks_the_answer_first() {
        let folder = tiny();
        for strategy in Routing::all().map(Routing::name) {
            let text = output(&RankArgs { strategy: strategy.to_owned(), ..args(folder.path()) }, "");
            assert!(text.starts_with("q1 Q0 d30 1 "), "{strategy}: {text}");
        }
        let unknown = RankArgs { strategy: "nearest".to_owned(), ..args(folder.path()) };
        let error = run(&unknown, Box::new(Cursor::new("")), &mut Vec::new()).unwrap_err().to_string();
        assert!(error.contains("nearest") && error.contains("bm25-max"), "{error}");
    }

    #[test]
    fn evaluation_is_a_table_by_form() {
        let folder = tiny();
        let text = output(&RankArgs { evaluate: true, ..args(folder.path()) }, "");
        assert!(
            text.contains(
                "\n| prompt | 1 | 1 | 1.000 | 1.000 | 0.333 | 1.000 | 1.000 | 0.000 | 1.000 | 1.000 | 1.000 |"
            )
        );
    }

    /// Tallies of a shared collection, or `None` with a line that says so when it is not there.
    fn shared(name: &str, no_written: bool) -> Option<BTreeMap<String, Tally>> {
        let data = std::env::var_os("HOOKBENCH_DATA")
            .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data"), PathBuf::from);
        let folder = data.join(name);
        if !folder.is_dir() {
            let mut err = io::stderr();
            let _ = writeln!(err, "skipped: no collection {name} under HOOKBENCH_DATA");
            return None;
        }
        let args = RankArgs { no_written, ..args(&folder) };
        let method = method(&args).unwrap_or_else(|error| panic!("{error}"));
        let queries = corpus::read_queries(&folder).unwrap();
        let collection = Collection::read(Records::open(&folder, !no_written).unwrap(), &method).unwrap();
        let outcomes: Vec<Outcome> =
            queries.iter().map(|query| collection.answer(query, &method, &Config::default())).collect();
        let ranked: Vec<Vec<String>> =
            outcomes.iter().map(|outcome| outcome.ranked.iter().map(|(id, _)| id.clone()).collect()).collect();
        let answers = queries.iter().zip(&outcomes).zip(&ranked).map(|((query, outcome), ranked)| Answer {
            qid: &query.qid,
            form: &query.form,
            kind: &query.kind,
            ranked,
            injected: &outcome.injected,
        });
        Some(tally(answers, &Judgements::parse(&fs::read_to_string(folder.join("qrels")).unwrap())))
    }

    #[test]
    fn quality_on_the_small_collection_holds() {
        let Some(tallies) = shared("small", false) else { return };
        let all = tallies["all"];
        assert!(all.mrr10() >= 0.63 && all.p1() >= 0.55, "{}", table(&tallies));
        for (form, least) in [("tool_edit", 0.85), ("tool_grep", 0.70), ("tool_read", 0.90), ("prompt", 0.265)] {
            assert!(tallies[form].p1() >= least, "{form}\n{}", table(&tallies));
        }
        assert!(tallies["subagent"].p1() >= 0.30, "{}", table(&tallies));
        assert!(all.false_injection() <= 0.03, "{}", table(&tallies));
        assert!(all.coverage() >= 0.60 && all.precision() >= 0.70, "{}", table(&tallies));
    }

    #[test]
    fn quality_without_evidence_on_the_small_collection_holds() {
        let Some(tallies) = shared("small", true) else { return };
        assert!(tallies["all"].mrr10() >= 0.43 && tallies["all"].p1() >= 0.34, "{}", table(&tallies));
    }
}
