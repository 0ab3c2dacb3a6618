//! Whether the files of a corpus fit together: what a comparison stands on must not be broken.
//!
//! Faults make the corpus unfit; remarks tell what a reader should know. Reads every file once, and keeps the ids and
//! not the texts.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use hook_contract::Event;
use serde_json::Value;

use super::from_git::is_address;
use super::reader::{Lines, judgements, manifest, required};
use super::row::{QueryRow, RecordRow, WrittenRow};
use crate::failure::Failure;

/// Faults of one kind that are shown.
const SHOWN: usize = 5;

/// What a corpus is found to be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checked {
    /// Records.
    pub n_memories: u64,
    /// Sessions.
    pub n_sessions: u64,
    /// Questions by form.
    pub by_form: BTreeMap<String, u64>,
    /// Questions by kind.
    pub by_kind: BTreeMap<String, u64>,
    /// Judgements by grade.
    pub by_grade: BTreeMap<u8, u64>,
    /// What makes it unfit, each with its place.
    pub faults: Vec<String>,
    /// What a reader should know.
    pub remarks: Vec<String>,
}

impl Checked {
    fn fault(&mut self, text: String) {
        self.faults.push(text);
    }
}

/// Checks a corpus folder.
///
/// # Errors
/// A file that is missing or cannot be read at all; what can be read and is wrong is in the answer.
pub fn check(folder: &Path) -> Result<Checked, Failure> {
    let mut checked = Checked::default();
    let records = records(folder, &mut checked)?;
    written(folder, &records, &mut checked)?;
    let queries = queries(folder, &mut checked)?;
    judged(folder, &records, &queries, &mut checked)?;
    promised(folder, &mut checked)?;
    let n = checked.faults.len();
    checked.faults.sort();
    bound(&mut checked.faults);
    if n == 0 && !checked.by_kind.contains_key("noanswer") {
        checked
            .remarks
            .push("no question is without an answer, so nothing shows when a system should be silent".into());
    }
    Ok(checked)
}

/// Keeps a report readable when everything is wrong in the same way.
fn bound(faults: &mut Vec<String>) {
    let kind = |fault: &str| fault.split(": ").nth(1).unwrap_or_default().split('`').next().unwrap_or("").to_owned();
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut hidden: BTreeMap<String, usize> = BTreeMap::new();
    faults.retain(|fault| {
        let n = seen.entry(kind(fault)).or_default();
        *n += 1;
        if *n > SHOWN {
            *hidden.entry(kind(fault)).or_default() += 1;
        }
        *n <= SHOWN
    });
    faults.extend(hidden.into_iter().map(|(kind, n)| format!("and {n} more of: {kind}")));
}

/// What is kept of a record.
struct Known {
    project: String,
    timestamp: Option<jiff::Timestamp>,
}

fn records(folder: &Path, checked: &mut Checked) -> Result<HashMap<String, Known>, Failure> {
    let mut lines = required(folder, "corpus.jsonl")?;
    let mut records: HashMap<String, Known> = HashMap::new();
    let mut sessions: HashMap<String, String> = HashMap::new();
    let mut last_session = String::new();
    let mut n_addresses = 0u64;
    while let Some((number, row)) = lines.next_row::<RecordRow>()? {
        let place = format!("{}:{number}", lines.path.display());
        checked.n_memories += 1;
        if row.doc_id.is_empty() || row.doc_id.contains(char::is_whitespace) {
            checked.fault(format!("{place}: the id is empty or has white space: `{}`", row.doc_id));
        }
        if !["outcome", "checkpoint", "session-summary"].contains(&&*row.kind) {
            checked.fault(format!("{place}: no memory has the type `{}`", row.kind));
        }
        if row.request.trim().is_empty() && row.result.trim().is_empty() {
            checked.fault(format!("{place}: neither request nor result says anything in `{}`", row.doc_id));
        }
        let timestamp = row.timestamp.parse().ok();
        if timestamp.is_none() {
            checked.fault(format!("{place}: not a time: `{}`", row.timestamp));
        }
        if row.affected_paths.iter().any(|path| path.starts_with('/') || path.split('/').any(|part| part == "..")) {
            checked.fault(format!("{place}: a path leaves the project in `{}`", row.doc_id));
        }
        n_addresses += u64::from([&row.request, &row.result].into_iter().any(|text| has_address(text)));
        match sessions.get(&row.session_id) {
            None => {
                sessions.insert(row.session_id.clone(), row.project.clone());
            }
            Some(project) if *project != row.project => {
                checked.fault(format!("{place}: a session belongs to two projects: `{}`", row.session_id));
            }
            Some(_) => {}
        }
        last_session.clone_from(&row.session_id);
        if records.insert(row.doc_id.clone(), Known { project: row.project, timestamp }).is_some() {
            checked.fault(format!("{place}: an id is used twice: `{}`", row.doc_id));
        }
    }
    checked.n_sessions = sessions.len() as u64;
    if checked.n_memories == 0 {
        checked.fault(format!("{}: there is no memory in it", lines.path.display()));
    }
    if n_addresses > 0 {
        checked.remarks.push(format!("{n_addresses} memories hold something like an e-mail address"));
    }
    Ok(records)
}

fn has_address(text: &str) -> bool {
    text.split(|sign: char| sign.is_whitespace() || "<>()[],;\"'`".contains(sign))
        .any(|word| is_address(word.trim_end_matches(['.', ':', '!', '?'])))
}

fn written(folder: &Path, records: &HashMap<String, Known>, checked: &mut Checked) -> Result<(), Failure> {
    let Some(mut lines) = Lines::open(folder, "written.jsonl")? else {
        checked.remarks.push("no written.jsonl: systems that use written evidence have none here".to_owned());
        return Ok(());
    };
    let mut seen = HashSet::new();
    while let Some((number, row)) = lines.next_row::<WrittenRow>()? {
        let place = format!("{}:{number}", lines.path.display());
        if !records.contains_key(&row.doc_id) {
            checked.fault(format!("{place}: written lines of an unknown memory: `{}`", row.doc_id));
        }
        if !seen.insert(row.doc_id.clone()) {
            checked.fault(format!("{place}: written lines come twice: `{}`", row.doc_id));
        }
    }
    Ok(())
}

/// What is kept of a question.
struct Asked {
    kind: String,
    project: String,
    timestamp: Option<jiff::Timestamp>,
}

fn queries(folder: &Path, checked: &mut Checked) -> Result<HashMap<String, Asked>, Failure> {
    let mut lines = required(folder, "queries.jsonl")?;
    let mut queries: HashMap<String, Asked> = HashMap::new();
    while let Some((number, row)) = lines.next_row::<QueryRow>()? {
        let place = format!("{}:{number}", lines.path.display());
        *checked.by_form.entry(row.form.clone()).or_default() += 1;
        *checked.by_kind.entry(row.kind.clone()).or_default() += 1;
        if row.qid.is_empty() || row.qid.contains(char::is_whitespace) {
            checked.fault(format!("{place}: the id is empty or has white space: `{}`", row.qid));
        }
        if !["answerable", "noanswer", "noanswer_weak"].contains(&&*row.kind) {
            checked.fault(format!("{place}: no question has the kind `{}`", row.kind));
        }
        if row.text.trim().is_empty() {
            checked.fault(format!("{place}: a question without text: `{}`", row.qid));
        }
        let event = row.hook.get("hook_event_name").and_then(Value::as_str).and_then(Event::parse);
        if !row.hook.is_null() && event.is_none() {
            checked.fault(format!("{place}: the payload is of no known event: `{}`", row.qid));
        }
        let asked = Asked { kind: row.kind, project: row.project, timestamp: row.timestamp.parse().ok() };
        if queries.insert(row.qid.clone(), asked).is_some() {
            checked.fault(format!("{place}: an id is used twice: `{}`", row.qid));
        }
    }
    Ok(queries)
}

fn judged(
    folder: &Path,
    records: &HashMap<String, Known>,
    queries: &HashMap<String, Asked>,
    checked: &mut Checked,
) -> Result<(), Failure> {
    let mut answered: HashSet<&str> = HashSet::new();
    let mut seen = HashSet::new();
    let judgements = judgements(folder)?;
    for judgement in &judgements {
        let place = folder.join("qrels").display().to_string();
        *checked.by_grade.entry(judgement.grade).or_default() += 1;
        if judgement.grade > 3 {
            checked.fault(format!("{place}: a grade is above 3: `{judgement}`"));
        }
        if !seen.insert((&*judgement.qid, &*judgement.doc_id)) {
            checked.fault(format!("{place}: judged twice: `{judgement}`"));
        }
        let (Some(query), Some(record)) = (queries.get(&judgement.qid), records.get(&judgement.doc_id)) else {
            checked.fault(format!("{place}: an unknown question or memory: `{judgement}`"));
            continue;
        };
        if judgement.grade >= 2 {
            answered.insert(&judgement.qid);
            if query.kind != "answerable" {
                checked.fault(format!("{place}: a question without answer has one: `{judgement}`"));
            }
        }
        if query.project != record.project {
            checked.fault(format!("{place}: the answer is in another project: `{judgement}`"));
        }
        if let (Some(asked), Some(written)) = (query.timestamp, record.timestamp)
            && written > asked
        {
            checked.fault(format!("{place}: the answer is younger than the question: `{judgement}`"));
        }
    }
    for (qid, _) in queries.iter().filter(|(qid, query)| query.kind == "answerable" && !answered.contains(&***qid)) {
        checked.fault(format!("{}: no memory answers, of grade 2 or 3: `{qid}`", folder.join("qrels").display()));
    }
    Ok(())
}

/// Whether the manifest counts what is there.
fn promised(folder: &Path, checked: &mut Checked) -> Result<(), Failure> {
    let Some(manifest) = manifest(folder)? else {
        checked.remarks.push("no manifest.json of this format: nothing tells whether the corpus is whole".to_owned());
        return Ok(());
    };
    let counts = [
        ("memories", manifest.memories, checked.n_memories),
        ("sessions", manifest.sessions, checked.n_sessions),
        ("queries", manifest.queries, checked.by_kind.values().sum()),
        ("judgements", manifest.judgements, checked.by_grade.values().sum()),
    ];
    for (what, promised, found) in counts.into_iter().filter(|(_, promised, found)| promised != found) {
        checked.fault(format!("{}: {promised} {what} promised, {found} found", folder.join("manifest.json").display()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

    use std::fs;

    use super::*;

    const RECORD: &str = r#"{"doc_id":"m_1","session_id":"s_1","project":"p","type":"outcome","timestamp":"2026-01-01T00:00:00Z","request":"r","result":"x","affected_paths":["a.rs"]}"#;
    const QUERY: &str = r#"{"qid":"q_1","project":"p","form":"prompt","kind":"answerable","timestamp":"2026-01-02T00:00:00Z","text":"t","hook":{"hook_event_name":"UserPromptSubmit","prompt":"t"}}"#;

    /// Faults of a corpus with these files.
    fn faults(records: &str, queries: &str, qrels: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("corpus.jsonl", records), ("queries.jsonl", queries), ("qrels", qrels)] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let faults = check(folder.path()).unwrap().faults;
        faults.iter().map(|fault| fault.split_once(": ").unwrap().1.to_owned()).collect()
    }

    #[test]
    fn a_sound_corpus_has_no_fault() {
        assert_eq!(faults(RECORD, QUERY, "q_1 0 m_1 3\n"), Vec::<String>::new());
    }

    #[test]
    fn each_fault_is_found_alone() {
        let with = |old: &str, new: &str| RECORD.replace(old, new);
        let asked = |old: &str, new: &str| QUERY.replace(old, new);
        let cases = [
            (with("m_1", ""), QUERY.to_owned(), "", "the id is empty or has white space: ``"),
            (with("outcome", "note"), QUERY.to_owned(), "q_1 0 m_1 3", "no memory has the type `note`"),
            (with("2026-01-01T00:00:00Z", "soon"), QUERY.to_owned(), "q_1 0 m_1 3", "not a time: `soon`"),
            (with("a.rs", "/etc/a"), QUERY.to_owned(), "q_1 0 m_1 3", "a path leaves the project in `m_1`"),
            (with("a.rs", "x/../../a"), QUERY.to_owned(), "q_1 0 m_1 3", "a path leaves the project in `m_1`"),
            (format!("{RECORD}\n{RECORD}"), QUERY.to_owned(), "q_1 0 m_1 3", "an id is used twice: `m_1`"),
            (RECORD.to_owned(), format!("{QUERY}\n{QUERY}"), "q_1 0 m_1 3", "an id is used twice: `q_1`"),
            (
                RECORD.to_owned(),
                asked("UserPromptSubmit", "Nothing"),
                "q_1 0 m_1 3",
                "the payload is of no known event: `q_1`",
            ),
            (RECORD.to_owned(), asked("answerable", "perhaps"), "", "no question has the kind `perhaps`"),
            (
                RECORD.to_owned(),
                asked("answerable", "noanswer"),
                "q_1 0 m_1 2",
                "a question without answer has one: `q_1 0 m_1 2`",
            ),
            (RECORD.to_owned(), QUERY.to_owned(), "q_1 0 m_1 1", "no memory answers, of grade 2 or 3: `q_1`"),
            (
                RECORD.to_owned(),
                asked("2026-01-02", "2025-01-02"),
                "q_1 0 m_1 3",
                "the answer is younger than the question: `q_1 0 m_1 3`",
            ),
            (
                RECORD.to_owned(),
                asked("\"p\"", "\"other\""),
                "q_1 0 m_1 3",
                "the answer is in another project: `q_1 0 m_1 3`",
            ),
            (RECORD.to_owned(), QUERY.to_owned(), "q_1 0 m_1 3\nq_1 0 m_1 3", "judged twice: `q_1 0 m_1 3`"),
            (
                RECORD.to_owned(),
                QUERY.to_owned(),
                "q_1 0 m_1 3\nq_1 0 m_2 1",
                "an unknown question or memory: `q_1 0 m_2 1`",
            ),
            (RECORD.to_owned(), QUERY.to_owned(), "q_1 0 m_1 4", "a grade is above 3: `q_1 0 m_1 4`"),
        ];
        for (records, queries, qrels, fault) in cases {
            let found = faults(&records, &queries, qrels);
            assert!(found.contains(&fault.to_owned()), "{fault}: {found:?}");
        }
    }

    #[test]
    fn a_manifest_must_count_right() {
        let folder = tempfile::tempdir().unwrap();
        let mut manifest = super::super::row::Manifest::new("c", "", "");
        manifest.memories = 2;
        (manifest.sessions, manifest.queries, manifest.judgements) = (1, 1, 1);
        let manifest = serde_json::to_string(&manifest).unwrap();
        let files = [
            ("corpus.jsonl", RECORD),
            ("queries.jsonl", QUERY),
            ("qrels", "q_1 0 m_1 3"),
            ("manifest.json", &*manifest),
        ];
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let faults = check(folder.path()).unwrap().faults;
        assert!(faults.len() == 1 && faults[0].ends_with("2 memories promised, 1 found"), "{faults:?}");
    }

    #[test]
    fn many_faults_of_one_kind_are_counted_and_not_listed() {
        let rows: Vec<String> =
            (0..40).map(|n| RECORD.replace("m_1", &format!("m_{n}")).replace("outcome", "note")).collect();
        let found = faults(&rows.join("\n"), QUERY, "q_1 0 m_1 3");
        assert_eq!(found.len(), SHOWN + 1);
        assert!(found.last().unwrap().starts_with("no memory has the type"), "{found:?}");
    }
}
