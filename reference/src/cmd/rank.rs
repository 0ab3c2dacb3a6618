//! `hookmem rank`: queries in, a TREC run out, over a labelled collection.
//!
//! What the hook would find and inject, as data that any evaluation can read: any number of routing strategies in one
//! pass over one loaded collection. Queries are answered as they come, so a pipe gets each answer before the next
//! question. With `--evaluate` the judgements of the collection are read as well and a table of measures takes the
//! place of the run: by form for one strategy, by strategy for several. Reads the collection only; no store is opened
//! or written. Nothing is printed but what was asked for.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{self, BufRead, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::config::Config;
use crate::corpus::{self, CorpusError, CorpusQuery, Queries, Records};
use crate::rank::collection::{Collection, Method, Outcome};
use crate::rank::decisions;
use crate::rank::gate::Gate;
use crate::rank::quality::{Answer, Compared, Judgements, Tally, comparison, median, table, tally};
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
    /// Write one JSON object a query and strategy: where it looked, what it would inject, what it cost
    #[arg(long, value_name = "FILE")]
    pub decisions: Option<PathBuf>,
    /// Records ranked a query
    #[arg(long, value_name = "K", default_value_t = 50)]
    pub k: usize,
    /// Which sessions are looked into, by one strategy or several: all-segments, best-record, bm25-max,
    /// sparse-overlap, kl-divergence, local-distinctiveness, coverage-local-distinctiveness,
    /// team-coverage-local-distinctiveness, coverage-team-selection, typed-evidence
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', default_value = "all-segments")]
    pub strategy: Vec<String>,
    /// Sessions looked into when routing, one number or several; without it, what suits the strategy
    #[arg(long, value_name = "N,...", value_delimiter = ',')]
    pub top_n: Vec<usize>,
    /// Confidence that an injection needs, in place of the built-in one
    #[arg(long, value_name = "X")]
    pub threshold: Option<f32>,
    /// Read qrels from the collection and print measures instead of the run
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

/// A strategy with its number of segments, as a run names it.
struct Arm {
    tag: String,
    method: Method,
}

impl Arm {
    /// How many segments, where that means anything.
    fn top_n(&self) -> Option<usize> {
        (self.method.routing != Routing::AllSegments).then_some(self.method.top_n)
    }
}

/// Ranks all queries, in their order. `stdin` is read only with `--queries -`.
pub fn run(args: &RankArgs, stdin: Box<dyn BufRead>, out: &mut dyn Write) -> Result<(), RankError> {
    let arms = arms(args)?;
    let is_piped = args.queries.as_deref() == Some(Path::new("-"));
    let queries = match &args.queries {
        None => Queries::open(&args.corpus)?,
        Some(_) if is_piped => Queries::of(stdin, "stdin"),
        Some(path) => Queries::open_file(path)?,
    };
    let mut decisions = args.decisions.as_deref().map(Decisions::create).transpose()?;
    let methods: Vec<Method> = arms.iter().map(|arm| arm.method.clone()).collect();
    let collection = Collection::read(Records::open(&args.corpus, !args.no_written)?, &methods)?;
    let config = Config::default();
    let mut answered: Vec<(CorpusQuery, Vec<Outcome>)> = Vec::new();
    for query in queries {
        let query = query?;
        let mut outcomes = Vec::with_capacity(arms.len());
        for arm in &arms {
            let outcome = collection.answer(&query, &arm.method, &config);
            if let Some(decisions) = &mut decisions {
                decisions.write(&query, arm, &outcome)?;
            }
            if args.evaluate {
                outcomes.push(outcome);
            } else {
                write_run(out, &query.qid, &outcome, &arm.tag)?;
            }
        }
        if args.evaluate {
            answered.push((query, outcomes));
        } else if is_piped {
            out.flush()?;
        }
    }
    if let Some(decisions) = decisions {
        decisions.finish()?;
    }
    if args.evaluate {
        let judgements = Judgements::parse(&corpus::read_judgements(&args.corpus)?);
        out.write_all(evaluation(&arms, &answered, &judgements).as_bytes())?;
    }
    Ok(out.flush()?)
}

/// Every strategy with every number of segments, each pair once. A run is named by its strategy, and by the number
/// where there are several.
fn arms(args: &RankArgs) -> Result<Vec<Arm>, RankError> {
    let config = Config::default();
    let built_in = Gate::default();
    let gate =
        Gate { threshold: args.threshold.unwrap_or(built_in.threshold), items: config.recall.max_items, ..built_in };
    let weights = if args.no_written { Weights::without_evidence() } else { Weights::default() };
    let suffix = if args.no_written { "-no-written" } else { "" };
    let mut arms = Vec::new();
    let mut seen = HashSet::new();
    for name in &args.strategy {
        let routing = Routing::parse(name).ok_or_else(|| RankError::Strategy {
            name: name.clone(),
            known: Routing::all().map(Routing::name).collect::<Vec<_>>().join(", "),
        })?;
        let suits = [routing.default_top_n()];
        let numbers = if args.top_n.is_empty() || routing == Routing::AllSegments { &suits[..] } else { &args.top_n };
        for top_n in numbers {
            let number = if numbers.len() > 1 { format!("@{top_n}") } else { String::new() };
            let tag = format!("{}{number}{suffix}", routing.name());
            if seen.insert(tag.clone()) {
                arms.push(Arm { tag, method: Method { weights, gate, routing, top_n: *top_n, depth: args.k } });
            }
        }
    }
    Ok(arms)
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

/// The file of decisions, see [`decisions`].
struct Decisions<'a> {
    path: &'a Path,
    file: BufWriter<File>,
}

impl<'a> Decisions<'a> {
    fn create(path: &'a Path) -> Result<Decisions<'a>, RankError> {
        let fail = |source| RankError::Decisions { path: path.to_owned(), source };
        let mut decisions = Decisions { path, file: BufWriter::new(File::create(path).map_err(fail)?) };
        decisions.line(decisions::header())?;
        Ok(decisions)
    }

    fn write(&mut self, query: &CorpusQuery, arm: &Arm, outcome: &Outcome) -> Result<(), RankError> {
        self.line(decisions::row(&query.qid, arm.method.routing.name(), arm.top_n(), outcome))
    }

    fn line(&mut self, line: Result<String, serde_json::Error>) -> Result<(), RankError> {
        let written = line.map_err(io::Error::from).and_then(|line| writeln!(self.file, "{line}"));
        written.map_err(|source| RankError::Decisions { path: self.path.to_owned(), source })
    }

    fn finish(mut self) -> Result<(), RankError> {
        self.file.flush().map_err(|source| RankError::Decisions { path: self.path.to_owned(), source })
    }
}

fn evaluation(arms: &[Arm], answered: &[(CorpusQuery, Vec<Outcome>)], judgements: &Judgements) -> String {
    let tallies = arms.iter().enumerate().map(|(place, _)| tallied(answered, place, judgements));
    let tallies: Vec<_> = tallies.collect();
    if let ([_], [one]) = (arms, tallies.as_slice()) {
        return table(one);
    }
    let rows = arms.iter().zip(&tallies).enumerate().map(|(place, (arm, tallies))| {
        let outcomes = || answered.iter().filter_map(|(_, outcomes)| outcomes.get(place));
        Compared {
            name: arm.method.routing.name().to_owned(),
            top_n: arm.top_n(),
            tally: tallies.get("all").copied().unwrap_or_default(),
            bytes: outcomes().map(|outcome| outcome.bytes).sum::<usize>() as f64 / outcomes().count().max(1) as f64,
            route_time: median(outcomes().map(|outcome| outcome.route_time).collect()),
            time: median(outcomes().map(|outcome| outcome.time).collect()),
        }
    });
    comparison(&rows.collect::<Vec<_>>())
}

fn tallied(answered: &[(CorpusQuery, Vec<Outcome>)], place: usize, judgements: &Judgements) -> BTreeMap<String, Tally> {
    let outcomes: Vec<(&CorpusQuery, &Outcome)> =
        answered.iter().filter_map(|(query, outcomes)| Some((query, outcomes.get(place)?))).collect();
    let ids = |outcome: &Outcome| outcome.ranked.iter().map(|(doc_id, _)| doc_id.clone()).collect::<Vec<_>>();
    let ranked: Vec<Vec<String>> = outcomes.iter().map(|(_, outcome)| ids(outcome)).collect();
    let answers = outcomes.iter().zip(&ranked).map(|((query, outcome), ranked)| Answer {
        qid: &query.qid,
        form: &query.form,
        kind: &query.kind,
        ranked,
        injected: &outcome.injected,
    });
    tally(answers, judgements)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Cursor;

    fn args(corpus: &Path) -> RankArgs {
        RankArgs {
            corpus: corpus.to_owned(),
            queries: None,
            no_written: false,
            decisions: None,
            k: 50,
            strategy: vec!["all-segments".to_owned()],
            top_n: Vec::new(),
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
        assert_eq!(first[5], "all-segments");
        assert!(!text.contains("d31"));
        let rows: Vec<serde_json::Value> =
            fs::read_to_string(decisions).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(rows[0], serde_json::json!({"format": "hookmem-decisions", "version": 1}));
        assert_eq!((&rows[1]["qid"], &rows[1]["injected"]), (&"q1".into(), &serde_json::json!(["d30"])));
        assert!(rows[1]["injected_bytes"].as_u64().unwrap() > 0);
        assert_eq!((&rows[2]["qid"], &rows[2]["injected"]), (&"q2".into(), &serde_json::json!([])));
        assert_eq!(rows[2]["injected_bytes"], 0);
    }

    fn sample(name: &str) -> String {
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("samples").join(name)).unwrap()
    }

    /// Each line of the committed sample and of today's output is what the schema says, and nothing beyond it.
    #[test]
    fn decisions_of_today_and_of_the_released_version_fit_the_schema() {
        let folder = tiny();
        let decisions = folder.path().join("decisions.jsonl");
        let strategy = Routing::all().map(|routing| routing.name().to_owned()).collect();
        output(&RankArgs { decisions: Some(decisions.clone()), strategy, ..args(folder.path()) }, "");
        let schema = serde_json::from_str(&sample("decisions-v1.schema.json")).unwrap();
        let schema = jsonschema::validator_for(&schema).unwrap();
        let written = fs::read_to_string(decisions).unwrap();
        assert_eq!(written.lines().count(), 1 + 2 * 10);
        for line in written.lines().chain(sample("decisions-v1.jsonl").lines()) {
            let value = serde_json::from_str(line).unwrap();
            assert!(schema.is_valid(&value), "{line}");
        }
        assert!(!schema.is_valid(&serde_json::json!({"qid": "q1", "strategy": "all-segments"})));
    }

    #[test]
    fn several_strategies_give_one_run_each_and_the_routes_of_each() {
        let folder = tiny();
        let decisions = folder.path().join("decisions.jsonl");
        let strategy = ["best-record", "local-distinctiveness", "best-record"].map(str::to_owned).to_vec();
        let several = RankArgs { decisions: Some(decisions.clone()), strategy, ..args(folder.path()) };
        let text = output(&several, "");
        let tags: HashSet<&str> = text.lines().map(|line| line.split(' ').nth(5).unwrap()).collect();
        assert_eq!(tags, HashSet::from(["best-record", "local-distinctiveness"]));
        let text = fs::read_to_string(&decisions).unwrap();
        let rows: Vec<serde_json::Value> =
            text.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(rows.len(), 4);
        assert_eq!((&rows[0]["strategy"], &rows[0]["routes"][0]["segment"]), (&"best-record".into(), &"s30".into()));
        assert_eq!(rows[0]["routes"][0]["reason"], serde_json::json!(["d30"]));
        assert_eq!(
            (&rows[1]["strategy"], &rows[1]["routes"][0]["segment"]),
            (&"local-distinctiveness".into(), &"s30".into())
        );
        assert!(rows[1]["routes"][0]["reason"].as_array().unwrap().contains(&"webhook".into()));
        let text = output(&RankArgs { top_n: vec![1, 2], decisions: None, ..several.clone() }, "");
        let tags: HashSet<&str> = text.lines().map(|line| line.split(' ').nth(5).unwrap()).collect();
        assert!(tags.contains("best-record@1") && tags.contains("local-distinctiveness@2"), "{tags:?}");
        let text = output(&RankArgs { evaluate: true, ..several }, "");
        assert!(text.contains("\n| best-record | 5 | 1.000 | 1.000 |"), "{text}");
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
            let text = output(&RankArgs { strategy: vec![strategy.to_owned()], ..args(folder.path()) }, "");
            assert!(text.starts_with("q1 Q0 d30 1 "), "{strategy}: {text}");
        }
        let unknown = RankArgs { strategy: vec!["nearest".to_owned()], ..args(folder.path()) };
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
        let arms = arms(&RankArgs { no_written, ..args(&folder) }).unwrap_or_else(|error| panic!("{error}"));
        let methods = [arms[0].method.clone()];
        let collection = Collection::read(Records::open(&folder, !no_written).unwrap(), &methods).unwrap();
        let answered = Queries::open(&folder).unwrap().map(|query| {
            let query = query.unwrap();
            let outcome = collection.answer(&query, &methods[0], &Config::default());
            (query, vec![outcome])
        });
        let judgements = Judgements::parse(&corpus::read_judgements(&folder).unwrap());
        Some(tallied(&answered.collect::<Vec<_>>(), 0, &judgements))
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
