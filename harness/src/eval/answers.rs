//! What systems said: rankings from their TREC runs, and decisions from the file that some write beside it.
//!
//! Runs are read as trec_eval reads them: by score, and equal scores by falling document id; the rank column is not
//! looked at. A line that is no line of a run is the system's fault, and so is a query that was never asked.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::collection::Collection;

/// Everything that one process said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answers {
    /// One run for each tag, in the order of their first lines.
    pub runs: Vec<RunAnswers>,
    /// From spawn to end of output, loading included, in microseconds.
    pub wall_us: u64,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunAnswers {
    /// Its tag.
    pub tag: String,
    /// One answer a query that got one.
    pub answers: Vec<Answer>,
}

/// One query's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The query.
    pub qid: String,
    /// Ids, best first.
    pub ranked: Vec<String>,
    /// What else the system told; absent when it wrote no decisions.
    pub decision: Option<Decision>,
}

/// What a system would do with its ranking.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// Ids that it would inject, best first.
    pub injected: Vec<String>,
    /// Bytes that it would inject.
    pub injected_bytes: u64,
    /// Segments that it looked into; absent when it did not say.
    pub routes: Option<Vec<String>>,
    /// Time of choosing them, in microseconds.
    pub route_us: Option<u64>,
    /// Time of the whole query, in microseconds.
    pub query_us: Option<u64>,
}

/// A row of a decisions file. Readers pass over members that they do not know.
#[derive(Debug, Deserialize)]
struct DecisionRow {
    qid: String,
    /// Tag of the run that it belongs to.
    #[serde(default)]
    run: Option<String>,
    #[serde(default)]
    strategy: Option<String>,
    #[serde(default)]
    top_n: Option<u64>,
    #[serde(default)]
    routes: Option<Vec<RouteRow>>,
    #[serde(default)]
    injected: Vec<String>,
    #[serde(default)]
    injected_bytes: u64,
    #[serde(default)]
    route_us: Option<u64>,
    #[serde(default)]
    query_us: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct RouteRow {
    segment: String,
}

impl Answers {
    /// Reads a run and, when the file is there, its decisions; `k` ids a query are kept.
    ///
    /// # Errors
    /// One sentence about what is wrong with them.
    pub fn parse(
        stdout: &[u8],
        decisions: &Path,
        collection: &Collection,
        k: u32,
        wall: Duration,
    ) -> Result<Answers, String> {
        let asked: HashSet<&str> = collection.queries.iter().map(|query| &*query.qid).collect();
        let mut runs = runs(stdout, &asked, k)?;
        let mut answers = if decisions.is_file() { decided(decisions)? } else { HashMap::new() };
        let single = runs.len() == 1;
        for run in &mut runs {
            for answer in &mut run.answers {
                answer.decision = take(&mut answers, &answer.qid, &run.tag, single);
            }
            // A query that found nothing has no line in the run, and may well have a decision.
            let known: HashSet<String> = run.answers.iter().map(|answer| answer.qid.clone()).collect();
            for query in collection.queries.iter().filter(|query| !known.contains(&query.qid)) {
                if let Some(decision) = take(&mut answers, &query.qid, &run.tag, single) {
                    run.answers.push(Answer { qid: query.qid.clone(), ranked: Vec::new(), decision: Some(decision) });
                }
            }
        }
        Ok(Answers { runs, wall_us: u64::try_from(wall.as_micros()).unwrap_or(u64::MAX) })
    }
}

/// qid → (score, id) of every line of one run.
type ByQuery<'t> = BTreeMap<&'t str, Vec<(f64, &'t str)>>;

/// The runs of an output, by tag.
fn runs(stdout: &[u8], asked: &HashSet<&str>, k: u32) -> Result<Vec<RunAnswers>, String> {
    let text = std::str::from_utf8(stdout).map_err(|_| "its output is not UTF-8".to_owned())?;
    let mut tags: Vec<&str> = Vec::new();
    let mut scored: HashMap<&str, ByQuery<'_>> = HashMap::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [qid, _, doc_id, _, score, tag] = words.as_slice() else {
            return Err(format!("line {number} of its output is no line of a run: `{}`", shown(line)));
        };
        let score: f64 = match score.parse() {
            Ok(score) if f64::is_finite(score) => score,
            _ => return Err(format!("line {number} of its output has no score: `{}`", shown(line))),
        };
        if !asked.contains(qid) {
            return Err(format!("line {number} of its output answers `{}`, which was not asked", shown(qid)));
        }
        if !scored.contains_key(tag) {
            tags.push(tag);
        }
        scored.entry(tag).or_default().entry(qid).or_default().push((score, doc_id));
    }
    let sorted = |mut ranked: Vec<(f64, &str)>| {
        ranked.sort_by(|left, right| right.0.total_cmp(&left.0).then(right.1.cmp(left.1)));
        ranked.into_iter().take(k as usize).map(|(_, doc_id)| doc_id.to_owned()).collect()
    };
    let run = |tag: &str| RunAnswers {
        tag: tag.to_owned(),
        answers: scored
            .get(tag)
            .cloned()
            .unwrap_or_default()
            .into_iter()
            .map(|(qid, ranked)| Answer { qid: qid.to_owned(), ranked: sorted(ranked), decision: None })
            .collect(),
    };
    Ok(tags.into_iter().map(run).collect())
}

fn shown(text: &str) -> String {
    text.chars().filter(|sign| !sign.is_control()).take(80).collect()
}

type Decided = HashMap<String, Vec<(Vec<String>, Decision)>>;

/// qid → the names of the run that each decision may belong to, and the decision.
fn decided(path: &Path) -> Result<Decided, String> {
    let wrong = |why: String| format!("its decisions cannot be read: {why}");
    let file = File::open(path).map_err(|error| wrong(error.to_string()))?;
    let mut decided = Decided::new();
    for (number, line) in (1..).zip(BufReader::new(file).lines()) {
        let line = line.map_err(|error| wrong(error.to_string()))?;
        if line.trim().is_empty() || (number == 1 && line.contains("\"format\"")) {
            continue;
        }
        let row: DecisionRow = serde_json::from_str(&line).map_err(|error| wrong(format!("line {number}: {error}")))?;
        let mut names: Vec<String> = row.run.into_iter().collect();
        if let (true, Some(strategy)) = (names.is_empty(), row.strategy) {
            names.extend(row.top_n.map(|n| format!("{strategy}@{n}")));
            names.push(strategy);
        }
        // No route and no number of routes: it looked everywhere, and routed nothing.
        let routes = row.routes.filter(|routes| !routes.is_empty() || row.top_n.is_some());
        let routes = routes.map(|routes| routes.into_iter().map(|route| route.segment).collect());
        let decision = Decision {
            injected: row.injected,
            injected_bytes: row.injected_bytes,
            routes,
            route_us: row.route_us,
            query_us: row.query_us,
        };
        decided.entry(row.qid).or_default().push((names, decision));
    }
    Ok(decided)
}

/// Takes the decision of a query for a run; the only run of a process takes any.
fn take(decided: &mut Decided, qid: &str, tag: &str, single: bool) -> Option<Decision> {
    let of_query = decided.get_mut(qid)?;
    let at = of_query.iter().position(|(names, _)| single || names.iter().any(|name| name == tag))?;
    Some(of_query.remove(at).1)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

    use super::*;

    fn parse(stdout: &str) -> Result<Vec<RunAnswers>, String> {
        runs(stdout.as_bytes(), &HashSet::from(["q", "r"]), 3)
    }

    #[test]
    fn a_run_is_ordered_by_score_and_then_by_falling_id() {
        let runs = parse("q Q0 a 1 0.5 t\nq Q0 b 2 0.9 t\nq Q0 d 9 0.5 t\nq Q0 c 3 0.1 t\n").unwrap();
        assert_eq!(runs[0].answers[0].ranked, ["b", "d", "a"]);
    }

    #[test]
    fn tags_are_runs_of_their_own() {
        let runs = parse("q Q0 a 1 2 one\nr Q0 a 1 2 two\nq Q0 b 1 2 two\n").unwrap();
        assert_eq!(runs.iter().map(|run| (&*run.tag, run.answers.len())).collect::<Vec<_>>(), [("one", 1), ("two", 2)]);
    }

    #[test]
    fn what_is_no_run_is_named() {
        for (text, why) in [
            ("q Q0 a 1 2", "line 1 of its output is no line of a run"),
            ("q Q0 a 1 2 t\nq Q0 a 1 nan t", "line 2 of its output has no score"),
            ("x Q0 a 1 2 t", "answers `x`, which was not asked"),
        ] {
            let found = parse(text).unwrap_err();
            assert!(found.contains(why), "{found}");
        }
    }

    #[test]
    fn decisions_find_their_run_by_name_or_strategy() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let text = "{\"format\":\"x\",\"version\":1}\n{\"qid\":\"q\",\"strategy\":\"s\",\"top_n\":3,\"injected_bytes\":7}\n\
                    {\"qid\":\"q\",\"run\":\"other\",\"injected_bytes\":8}\n";
        std::fs::write(file.path(), text).unwrap();
        let mut found = decided(file.path()).unwrap();
        assert_eq!(take(&mut found, "q", "missing", false), None);
        assert_eq!(take(&mut found, "q", "s@3", false).map(|decision| decision.injected_bytes), Some(7));
        assert_eq!(take(&mut found, "q", "whatever", true).map(|decision| decision.injected_bytes), Some(8));
    }
}
