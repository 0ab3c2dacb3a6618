//! A corpus from a memory store: some of its memories are held out and asked for.
//!
//! Reads what `hookmem export` prints, so that any store that can be written so will do. Of sessions with two memories or
//! more, one memory is taken out and its request becomes a question; the memories that stay in its session answer it (3
//! when they share a file with it, 2 else), memories of other sessions that share a file which few touched are on the
//! same matter (1). Only what was remembered before the held-out memory can answer it. The corpus holds a user's own
//! work: it is for that user alone.

use std::collections::{BTreeMap, HashMap};
use std::io::BufRead;
use std::path::Path;

use super::ask::{Ask, SMALL_TALK};
use super::row::{Judgement, Manifest, QueryRow, RecordRow};
use super::writer::CorpusWriter;
use super::{hash, short_id};
use crate::failure::Failure;

/// A file that more memories name links nothing.
const RARE_FILE: usize = 6;

/// Writes a corpus from exported rows into a folder that has none; `queries` bounds the questions with an answer.
///
/// # Errors
/// A row that is none, a store with no session of two memories, or a folder that cannot be written.
pub fn from_store(rows: impl BufRead, queries: usize, folder: &Path) -> Result<Manifest, Failure> {
    let mut records = read(rows)?;
    records.sort_by(|left, right| (&left.timestamp, &left.doc_id).cmp(&(&right.timestamp, &right.doc_id)));
    let held = held_out(&records, queries);
    if held.is_empty() {
        let message = "has no session with two memories or more of which one could be held out";
        return Err(Failure::usage("store", message, "use the memory for a while first"));
    }
    let name = records.first().map_or("store", |record| &*record.project).to_owned();
    let about = "Made by `hookbench corpus from-store`: a user's own memories, some held out as questions.";
    let mut writer = CorpusWriter::create(folder, Manifest::new(&name, "private", about))?;
    let mut by_session: BTreeMap<&str, Vec<&RecordRow>> = BTreeMap::new();
    for record in records.iter().filter(|record| !held.contains_key(&*record.doc_id)) {
        by_session.entry(&record.session_id).or_default().push(record);
    }
    for record in by_session.values().flatten() {
        writer.record(record, Vec::new())?;
    }
    let kept: Vec<&RecordRow> = records.iter().filter(|record| !held.contains_key(&*record.doc_id)).collect();
    for record in records.iter().filter(|record| held.contains_key(&*record.doc_id)) {
        let qid = short_id('q', &["held", &record.doc_id]);
        let judgements: Vec<Judgement> = grades(record, &kept)
            .into_iter()
            .map(|(doc_id, grade)| Judgement { qid: qid.clone(), doc_id, grade })
            .collect();
        let ask = Ask::Prompt(record.request.clone());
        writer.query(&query(&record.project, &record.timestamp, "prompt", "answerable", &ask, qid), &judgements)?;
    }
    let last = records.last().map(|record| record.timestamp.clone()).unwrap_or_default();
    for text in SMALL_TALK.iter().take(held.len().div_ceil(3)) {
        let qid = short_id('q', &["small talk", text]);
        let ask = Ask::Prompt((*text).to_owned());
        writer.query(&query(&name, &last, "generic", "noanswer", &ask, qid), &[])?;
    }
    writer.finish()
}

fn read(rows: impl BufRead) -> Result<Vec<RecordRow>, Failure> {
    let mut records = Vec::new();
    for (number, line) in (1..).zip(rows.lines()) {
        let place = format!("exported row {number}");
        let wrong = |why: String| Failure::usage(&place, why, "give the output of `hookmem export`");
        let line = line.map_err(|error| wrong(format!("cannot be read: {error}")))?;
        if !line.trim().is_empty() {
            records.push(serde_json::from_str(&line).map_err(|error| wrong(format!("is no memory: {error}")))?);
        }
    }
    Ok(records)
}

/// The memories that are taken out: the last outcome of each session that keeps one before it, in an order that has
/// nothing to do with time, at most `limit`.
fn held_out(records: &[RecordRow], limit: usize) -> HashMap<&str, ()> {
    let mut sessions: BTreeMap<&str, Vec<&RecordRow>> = BTreeMap::new();
    for record in records.iter().filter(|record| record.kind != "session-summary") {
        sessions.entry(&record.session_id).or_default().push(record);
    }
    let mut candidates: Vec<&RecordRow> = sessions
        .values()
        .filter_map(|records| match records.as_slice() {
            [first, .., last] if first.timestamp < last.timestamp && !last.request.trim().is_empty() => Some(*last),
            _ => None,
        })
        .collect();
    candidates.sort_by_key(|record| hash(&["held", &record.doc_id]));
    candidates.into_iter().take(limit).map(|record| (&*record.doc_id, ())).collect()
}

fn grades(held: &RecordRow, kept: &[&RecordRow]) -> BTreeMap<String, u8> {
    let mut touched: HashMap<&str, usize> = HashMap::new();
    for path in kept.iter().flat_map(|record| &record.affected_paths) {
        *touched.entry(path).or_default() += 1;
    }
    let shares = |record: &RecordRow| record.affected_paths.iter().any(|path| held.affected_paths.contains(path));
    let shares_rare = |record: &RecordRow| {
        let rare = |path: &&String| touched.get(path.as_str()).is_some_and(|n| *n <= RARE_FILE);
        record.affected_paths.iter().filter(rare).any(|path| held.affected_paths.contains(path))
    };
    let earlier = kept.iter().filter(|record| record.timestamp <= held.timestamp && record.project == held.project);
    earlier
        .filter_map(|record| {
            // A summary was written from the held-out memory as well: it would give the answer away.
            let own = record.session_id == held.session_id && record.kind != "session-summary";
            let grade = match (own, shares(record)) {
                (true, true) => 3,
                (true, false) => 2,
                (false, _) if shares_rare(record) && record.session_id != held.session_id => 1,
                (false, _) => return None,
            };
            Some((record.doc_id.clone(), grade))
        })
        .collect()
}

fn query(project: &str, timestamp: &str, form: &str, kind: &str, ask: &Ask, qid: String) -> QueryRow {
    let session = short_id('q', &["session", &qid]);
    QueryRow {
        project: project.to_owned(),
        form: form.to_owned(),
        kind: kind.to_owned(),
        timestamp: timestamp.to_owned(),
        branch: String::new(),
        text: ask.text(),
        hook: ask.payload(project, &session),
        qid,
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

    use super::*;
    use crate::corpus::check::check;

    fn row(doc: &str, session: &str, minute: u32, paths: &str) -> String {
        format!(
            r#"{{"doc_id":"{doc}","session_id":"{session}","project":"p","type":"outcome","timestamp":"2026-01-01T10:{minute:02}:00Z","request":"ask {doc}","result":"done","affected_paths":[{paths}]}}"#
        )
    }

    #[test]
    fn the_last_memory_of_a_session_asks_for_the_others() {
        let rows = [
            row("m_a", "s_1", 0, r#""a.rs""#),
            row("m_b", "s_1", 1, r#""b.rs""#),
            row("m_c", "s_1", 2, r#""a.rs""#),
            row("m_d", "s_2", 1, r#""a.rs""#),
            row("m_e", "s_3", 9, r#""a.rs""#),
        ];
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("corpus");
        let manifest = from_store(rows.join("\n").as_bytes(), 10, &folder).unwrap();
        assert_eq!((manifest.memories, manifest.answerable, manifest.noanswer), (4, 1, 1));
        let qrels = std::fs::read_to_string(folder.join("qrels")).unwrap();
        let graded: Vec<&str> = qrels.lines().map(|line| line.split_once(" 0 ").unwrap().1).collect();
        // m_e came later than the question and cannot answer it.
        assert_eq!(graded, ["m_a 3", "m_b 2", "m_d 1"]);
        assert_eq!(check(&folder).unwrap().faults, Vec::<String>::new());
    }

    #[test]
    fn a_store_of_single_memories_has_nothing_to_ask() {
        let rows = [row("m_a", "s_1", 0, ""), row("m_b", "s_2", 0, "")].join("\n");
        let folder = tempfile::tempdir().unwrap();
        assert!(from_store(rows.as_bytes(), 10, &folder.path().join("c")).is_err());
    }
}
