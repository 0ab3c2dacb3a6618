//! The scores of an evaluation as they are saved: `scores.jsonl`.
//!
//! The first line names format, corpus and systems; every other line is one query's scores in one run. Shards of one
//! evaluation are merged here, because sums over queries are lossless. Readers ignore unknown keys; a newer major version
//! is refused.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::score::{InjectionScore, RankingScore, RoutingScore, Scored};
use crate::corpus::reader::Lines;
use crate::failure::Failure;
use crate::shard::Slice;

/// Name of the format, in the first line.
pub const FORMAT: &str = "hookbench-scores";
/// Major version. History: 1, the first.
pub const MAJOR: u32 = 1;
/// Minor version. History: 1.0, the first.
pub const MINOR: u32 = 0;
/// Name of the file in the folder of an evaluation.
pub const SCORES_FILE: &str = "scores.jsonl";

/// All scores of an evaluation, or of one shard of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Scores {
    /// Name of the corpus.
    pub corpus: String,
    /// Its fingerprint.
    pub fingerprint: String,
    /// Ranked records a query.
    pub k: u32,
    /// Parts that are in it; empty for a whole evaluation.
    pub shards: Vec<Slice>,
    /// Runs that have answers, in report order.
    pub runs: Vec<RunScores>,
    /// Systems without, with the reason.
    pub failed: Vec<(String, String)>,
}

/// One run's scores.
#[derive(Debug, Clone, PartialEq)]
pub struct RunScores {
    /// Its name.
    pub name: String,
    /// Command line of its system.
    pub command: String,
    /// Scores in the order of query ids.
    pub scored: Vec<Scored>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct WireHeader {
    format: String,
    major: u32,
    minor: u32,
    corpus: String,
    fingerprint: String,
    k: u32,
    shards: Vec<WireShard>,
    runs: Vec<WireRun>,
    failed: Vec<WireFailed>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct WireShard {
    /// From 1.
    index: u32,
    total: u32,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct WireRun {
    name: String,
    command: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct WireFailed {
    system: String,
    reason: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct WireScored {
    run: String,
    qid: String,
    project: String,
    form: String,
    kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ranking: Option<WireRanking>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    injection: Option<WireInjection>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    routing: Option<WireRouting>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    route_us: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    query_us: Option<u64>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct WireRanking {
    rr_10: f64,
    p_1: f64,
    p_3: f64,
    ndcg_10: f64,
    recall_10: f64,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct WireInjection {
    n: u64,
    n_relevant: u64,
    first_relevant: bool,
    injected_bytes: u64,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct WireRouting {
    n_routed: u64,
    n_hit: u64,
    n_relevant: u64,
}

impl WireScored {
    fn of(run: &str, scored: &Scored) -> WireScored {
        WireScored {
            run: run.to_owned(),
            qid: scored.qid.clone(),
            project: scored.project.clone(),
            form: scored.form.clone(),
            kind: scored.kind.clone(),
            ranking: scored.ranking.map(|score| WireRanking {
                rr_10: score.rr,
                p_1: score.p1,
                p_3: score.p3,
                ndcg_10: score.ndcg,
                recall_10: score.recall,
            }),
            injection: scored.injection.map(|score| WireInjection {
                n: score.n,
                n_relevant: score.n_relevant,
                first_relevant: score.first_relevant,
                injected_bytes: score.bytes,
            }),
            routing: scored.routing.map(|score| WireRouting {
                n_routed: score.n_routed,
                n_hit: score.n_hit,
                n_relevant: score.n_relevant,
            }),
            route_us: scored.route_us,
            query_us: scored.query_us,
        }
    }

    fn into_domain(self) -> Scored {
        Scored {
            qid: self.qid,
            project: self.project,
            form: self.form,
            kind: self.kind,
            ranking: self.ranking.map(|wire| RankingScore {
                rr: wire.rr_10,
                p1: wire.p_1,
                p3: wire.p_3,
                ndcg: wire.ndcg_10,
                recall: wire.recall_10,
            }),
            injection: self.injection.map(|wire| InjectionScore {
                n: wire.n,
                n_relevant: wire.n_relevant,
                first_relevant: wire.first_relevant,
                bytes: wire.injected_bytes,
            }),
            routing: self.routing.map(|wire| RoutingScore {
                n_routed: wire.n_routed,
                n_hit: wire.n_hit,
                n_relevant: wire.n_relevant,
            }),
            route_us: self.route_us,
            query_us: self.query_us,
        }
    }
}

/// JSON Schema of the lines of `scores.jsonl`: the header line, or a line of scores.
pub fn scores_schema() -> schemars::Schema {
    #[derive(JsonSchema)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "names the two kinds of lines for the schema; nothing is read through it")]
    enum Line {
        Header(WireHeader),
        Scores(WireScored),
    }
    let mut schema = schemars::schema_for!(Line);
    schema.insert("title".to_owned(), format!("One line of a {FORMAT} {MAJOR}.{MINOR} file").into());
    schema
}

impl Scores {
    /// Writes the scores into a folder, whole or not at all.
    ///
    /// # Errors
    /// From the file system.
    pub fn write(&self, folder: &Path) -> Result<(), Failure> {
        let path = folder.join(SCORES_FILE);
        let header = WireHeader {
            format: FORMAT.to_owned(),
            major: MAJOR,
            minor: MINOR,
            corpus: self.corpus.clone(),
            fingerprint: self.fingerprint.clone(),
            k: self.k,
            shards: self.shards.iter().map(|shard| WireShard { index: shard.index(), total: shard.total() }).collect(),
            runs: self
                .runs
                .iter()
                .map(|run| WireRun { name: run.name.clone(), command: run.command.clone() })
                .collect(),
            failed: self
                .failed
                .iter()
                .map(|(system, reason)| WireFailed { system: system.clone(), reason: reason.clone() })
                .collect(),
        };
        let write = || {
            fs::create_dir_all(folder)?;
            let partial = folder.join(format!("{SCORES_FILE}.partial"));
            let mut file = BufWriter::new(File::create(&partial)?);
            writeln!(file, "{}", serde_json::to_string(&header)?)?;
            for run in &self.runs {
                for scored in &run.scored {
                    writeln!(file, "{}", serde_json::to_string(&WireScored::of(&run.name, scored))?)?;
                }
            }
            file.flush()?;
            fs::rename(&partial, &path)
        };
        write().map_err(|error: std::io::Error| {
            Failure::usage(&path, format!("cannot be written: {error}"), "name a folder that can be written with --out")
        })
    }

    /// Reads the scores in a folder.
    ///
    /// # Errors
    /// A file that is missing, damaged, of another format or a newer version.
    pub fn read(folder: &Path) -> Result<Scores, Failure> {
        let remedy = "name the folder of an evaluation";
        let mut lines = Lines::open(folder, SCORES_FILE)?
            .ok_or_else(|| Failure::usage(folder.join(SCORES_FILE), "is not there", remedy))?;
        let Some((_, header)) = lines.next_row::<WireHeader>()? else {
            return Err(Failure::usage(&lines.path, "is empty", remedy));
        };
        if header.format != FORMAT {
            return Err(lines.fault(&format!("the format is `{}`, not `{FORMAT}`", header.format), remedy));
        }
        if header.major > MAJOR {
            return Err(
                lines.fault(&format!("format version {}.x is newer than {MAJOR}.x", header.major), "update hookbench")
            );
        }
        let mut by_run: BTreeMap<String, Vec<Scored>> = BTreeMap::new();
        while let Some((_, row)) = lines.next_row::<WireScored>()? {
            by_run.entry(row.run.clone()).or_default().push(row.into_domain());
        }
        let runs = header.runs.into_iter().map(|run| RunScores {
            scored: by_run.remove(&run.name).unwrap_or_default(),
            name: run.name,
            command: run.command,
        });
        Ok(Scores {
            corpus: header.corpus,
            fingerprint: header.fingerprint,
            k: header.k,
            shards: header.shards.into_iter().filter_map(|wire| Slice::new(wire.index, wire.total)).collect(),
            runs: runs.collect(),
            failed: header.failed.into_iter().map(|failed| (failed.system, failed.reason)).collect(),
        })
    }

    /// Puts the shards of one evaluation together. A system that failed in one shard has failed.
    ///
    /// # Errors
    /// Parts of different evaluations, a part that is there twice or missing, or no part at all; one sentence.
    pub fn merge(parts: Vec<Scores>) -> Result<Scores, String> {
        // The queries of a whole would count once more for every part beside it.
        if let (true, Some(part)) = (parts.len() > 1, parts.iter().find(|part| part.shards.is_empty())) {
            return Err(format!("one of them is no part but a whole evaluation of {}", part.corpus));
        }
        let mut parts = parts.into_iter();
        let Some(mut whole) = parts.next() else { return Err("there is nothing to merge".to_owned()) };
        for part in parts {
            if (&part.fingerprint, part.k) != (&whole.fingerprint, whole.k) {
                return Err(format!(
                    "the parts are about different corpora or depths: {} and {}",
                    whole.corpus, part.corpus
                ));
            }
            whole.shards.extend(part.shards);
            for (system, reason) in part.failed {
                if !whole.failed.iter().any(|(known, _)| *known == system) {
                    whole.failed.push((system, reason));
                }
            }
            for run in part.runs {
                match whole.runs.iter_mut().find(|known| known.name == run.name && known.command == run.command) {
                    Some(known) => known.scored.extend(run.scored),
                    None => whole.runs.push(run),
                }
            }
        }
        let total = whole.shards.first().map_or(0, |shard| shard.total());
        let mut shards = std::mem::take(&mut whole.shards);
        shards.sort_unstable();
        let wanted = (1..=total).filter_map(|index| Slice::new(index, total));
        if !wanted.eq(shards.iter().copied()) {
            let found: Vec<String> =
                shards.iter().map(|shard| format!("{}/{}", shard.index(), shard.total())).collect();
            return Err(format!("the parts do not make a whole: {}", found.join(", ")));
        }
        // A run that a failed shard lacks is no run; which systems those are tells the shorter list.
        let n = whole.runs.iter().map(|run| run.scored.len()).max().unwrap_or(0);
        whole.runs.retain(|run| run.scored.len() == n);
        for run in &mut whole.runs {
            run.scored.sort_by(|left, right| left.qid.cmp(&right.qid));
        }
        Ok(whole)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

    use super::*;

    fn scored(qid: &str) -> Scored {
        Scored {
            qid: qid.to_owned(),
            project: "p".to_owned(),
            form: "prompt".to_owned(),
            kind: "answerable".to_owned(),
            ranking: Some(RankingScore { rr: 0.5, p1: 0.0, p3: 1.0 / 3.0, ndcg: 0.4, recall: 1.0 }),
            injection: Some(InjectionScore { n: 2, n_relevant: 1, first_relevant: false, bytes: 99 }),
            routing: Some(RoutingScore { n_routed: 5, n_hit: 1, n_relevant: 1 }),
            route_us: Some(7),
            query_us: None,
        }
    }

    fn scores(shards: &[(u32, u32)], qids: &[&str]) -> Scores {
        let runs = ["one", "two"].map(|name| RunScores {
            name: name.to_owned(),
            command: format!("run {name}"),
            scored: qids.iter().map(|qid| scored(qid)).collect(),
        });
        Scores {
            corpus: "c".to_owned(),
            fingerprint: "f".to_owned(),
            k: 50,
            shards: shards.iter().filter_map(|(index, total)| Slice::new(*index, *total)).collect(),
            runs: runs.into(),
            failed: vec![("three".to_owned(), "it ended with code 1".to_owned())],
        }
    }

    #[test]
    fn scores_come_back_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let scores = scores(&[(1, 2)], &["q1", "q2"]);
        scores.write(folder.path()).unwrap();
        assert_eq!(Scores::read(folder.path()).unwrap(), scores);
    }

    #[test]
    fn shards_make_the_whole_whatever_their_order() {
        let (one, two) = (scores(&[(1, 2)], &["q1", "q3"]), scores(&[(2, 2)], &["q2"]));
        let whole = Scores { shards: Vec::new(), ..scores(&[], &["q1", "q2", "q3"]) };
        assert_eq!(Scores::merge(vec![one.clone(), two.clone()]), Ok(whole.clone()));
        assert_eq!(Scores::merge(vec![two.clone(), one.clone()]), Ok(whole.clone()));
        assert!(Scores::merge(vec![one.clone(), one.clone()]).is_err());
        for more in [whole.clone(), one.clone()] {
            assert!(Scores::merge(vec![whole.clone(), more.clone()]).unwrap_err().contains("a whole evaluation"));
            assert!(Scores::merge(vec![more, whole.clone()]).unwrap_err().contains("a whole evaluation"));
        }
        assert_eq!(Scores::merge(vec![whole.clone()]), Ok(whole.clone()));
        assert!(Scores::merge(vec![one.clone()]).is_err());
        let other = Scores { fingerprint: "g".to_owned(), ..two };
        assert!(Scores::merge(vec![one, other]).is_err());
    }

    #[test]
    fn the_committed_sample_loads_and_fits_the_schema() {
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/scores-v1");
        let loaded = Scores::read(&sample).unwrap();
        assert_eq!((loaded.runs.len(), loaded.runs[0].scored.len(), loaded.failed.len()), (2, 2, 1));
        let schema = serde_json::to_value(scores_schema()).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        for line in fs::read_to_string(sample.join(SCORES_FILE)).unwrap().lines() {
            assert!(validator.is_valid(&serde_json::from_str(line).unwrap()), "{line}");
        }
    }
}
