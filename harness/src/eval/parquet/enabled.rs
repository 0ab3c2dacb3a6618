//! Writes the file, column by column.

use std::fs::File;
use std::path::{Path, PathBuf};

use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;

use crate::eval::saved::Scores;
use crate::eval::score::{InjectionScore, RankingScore, RoutingScore, Scored};
use crate::failure::Failure;
use crate::report::parquet::columns::{Group, write_groups};

/// The columns. Times are microseconds. Measures are null for a query without answer, what would be injected and the
/// times for a system that did not tell, routes for one that did not route.
const SCHEMA: &str = "
message scores {
    required binary run (STRING);
    required binary qid (STRING);
    required binary project (STRING);
    required binary form (STRING);
    required binary kind (STRING);
    optional double rr_10;
    optional double p_1;
    optional double p_3;
    optional double ndcg_10;
    optional double recall_10;
    optional int64 n_injected;
    optional int64 n_injected_relevant;
    optional int64 injected_bytes;
    optional int64 n_routed;
    optional int64 n_hit;
    optional int64 n_relevant;
    optional int64 route_us;
    optional int64 query_us;
    optional boolean first_injected_relevant;
}";

/// A file that is there and empty.
#[derive(Debug)]
pub struct Table {
    out: File,
    path: PathBuf,
}

/// Creates the file, before anything is evaluated for it.
///
/// # Errors
/// A file that cannot be written.
pub fn create(path: &Path) -> Result<Table, Failure> {
    let out = File::create(path).map_err(|error| {
        let remedy = "name a file in a folder that exists with --parquet";
        Failure::usage(path, format!("cannot be written: {error}"), remedy)
    })?;
    Ok(Table { out, path: path.to_owned() })
}

impl Table {
    /// Writes all scores, runs in report order, each run's queries in theirs.
    ///
    /// # Errors
    /// A disk that is full.
    pub fn write(self, scores: &Scores) -> Result<(), Failure> {
        let note = |key: &str, value: &str| KeyValue::new(key.to_owned(), Some(value.to_owned()));
        let notes = vec![note("corpus", &scores.corpus), note("fingerprint", &scores.fingerprint)];
        let rows: Vec<Row<'_>> =
            scores.runs.iter().flat_map(|run| run.scored.iter().map(|scored| Row { run: &run.name, scored })).collect();
        write_rows(self.out, &rows, notes)
            .map_err(|error| Failure::Internal(format!("{}: {error}", self.path.display())))
    }
}

/// One row.
struct Row<'a> {
    run: &'a str,
    scored: &'a Scored,
}

fn write_rows(out: File, rows: &[Row<'_>], notes: Vec<KeyValue>) -> Result<(), ParquetError> {
    write_groups(out, SCHEMA, notes, rows, |group: &mut Group<'_, '_, Row<'_>>| {
        group.text(|row| row.run)?;
        group.text(|row| &row.scored.qid)?;
        group.text(|row| &row.scored.project)?;
        group.text(|row| &row.scored.form)?;
        group.text(|row| &row.scored.kind)?;
        let measures: [fn(&RankingScore) -> f64; 5] =
            [|score| score.rr, |score| score.p1, |score| score.p3, |score| score.ndcg, |score| score.recall];
        for measure in measures {
            group.maybe_double(|row| row.scored.ranking.as_ref().map(measure))?;
        }
        let injections: [fn(&InjectionScore) -> u64; 3] =
            [|score| score.n, |score| score.n_relevant, |score| score.bytes];
        for injection in injections {
            group.maybe(|row| row.scored.injection.as_ref().map(injection))?;
        }
        let routings: [fn(&RoutingScore) -> u64; 3] =
            [|score| score.n_routed, |score| score.n_hit, |score| score.n_relevant];
        for routing in routings {
            group.maybe(|row| row.scored.routing.as_ref().map(routing))?;
        }
        group.maybe(|row| row.scored.route_us)?;
        group.maybe(|row| row.scored.query_us)?;
        group.maybe_flag(|row| row.scored.injection.map(|score| score.first_relevant))
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    use super::*;
    use crate::eval::saved::RunScores;

    fn answered() -> Scored {
        Scored {
            qid: "q1".to_owned(),
            project: "p".to_owned(),
            form: "prompt".to_owned(),
            kind: "answerable".to_owned(),
            ranking: Some(RankingScore { rr: 0.5, p1: 0.0, p3: 1.0 / 3.0, ndcg: 0.4, recall: 1.0 }),
            injection: Some(InjectionScore { n: 2, n_relevant: 1, first_relevant: false, bytes: 99 }),
            routing: Some(RoutingScore { n_routed: 5, n_hit: 3, n_relevant: 4 }),
            route_us: Some(7),
            query_us: Some(u64::MAX),
        }
    }

    #[test]
    fn what_is_read_back_is_what_was_scored() {
        let silent = Scored {
            qid: "q2".to_owned(),
            kind: "noanswer".to_owned(),
            ranking: None,
            injection: None,
            routing: None,
            route_us: None,
            query_us: None,
            ..answered()
        };
        let run = |name: &str, scored: Vec<Scored>| RunScores { name: name.to_owned(), command: String::new(), scored };
        let scores = Scores {
            corpus: "c".to_owned(),
            fingerprint: "f".to_owned(),
            k: 50,
            shards: Vec::new(),
            runs: vec![run("one", vec![answered(), silent]), run("two", vec![answered()])],
            failed: Vec::new(),
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scores.parquet");
        create(&path).unwrap().write(&scores).unwrap();

        let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        let fields = |at: usize| -> Vec<(String, Field)> {
            rows[at].get_column_iter().map(|(name, field)| (name.clone(), field.clone())).collect()
        };
        let text = |text: &str| Field::Str(text.to_owned());
        let wanted = [
            ("run", text("one")),
            ("qid", text("q1")),
            ("project", text("p")),
            ("form", text("prompt")),
            ("kind", text("answerable")),
            ("rr_10", Field::Double(0.5)),
            ("p_1", Field::Double(0.0)),
            ("p_3", Field::Double(1.0 / 3.0)),
            ("ndcg_10", Field::Double(0.4)),
            ("recall_10", Field::Double(1.0)),
            ("n_injected", Field::Long(2)),
            ("n_injected_relevant", Field::Long(1)),
            ("injected_bytes", Field::Long(99)),
            ("n_routed", Field::Long(5)),
            ("n_hit", Field::Long(3)),
            ("n_relevant", Field::Long(4)),
            ("route_us", Field::Long(7)),
            ("query_us", Field::Long(i64::MAX)),
            ("first_injected_relevant", Field::Bool(false)),
        ];
        assert_eq!(fields(0), wanted.map(|(name, field)| (name.to_owned(), field)));
        assert!(fields(1).iter().skip(5).all(|(_, field)| *field == Field::Null));
        assert_eq!((fields(2)[0].1.clone(), rows.len()), (text("two"), 3));
    }
}
