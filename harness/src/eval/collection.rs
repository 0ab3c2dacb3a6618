//! The part of a corpus that an evaluation needs: questions, judgements, and the segments of what is relevant.
//!
//! Texts of memories are not kept, so that a corpus of a million records needs no more memory than its judgements.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde_json::value::RawValue;
use xxhash_rust::xxh3::Xxh3;

use crate::corpus::reader::{Lines, judgements, manifest, required};
use crate::corpus::row::{ANSWERABLE, KINDS, QueryRow, RecordRow};
use crate::failure::Failure;
use crate::quality::MIN_GRADE;
use crate::shard::Slice;

/// One question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// Its id.
    pub qid: String,
    /// Whose memories may answer.
    pub project: String,
    /// How it is asked.
    pub form: String,
    /// `answerable`, `noanswer` or `noanswer_weak`.
    pub kind: String,
    /// Judged memories with their grades.
    pub judged: Vec<(String, u8)>,
    /// Sessions that hold a relevant memory.
    pub segments: HashSet<String>,
    /// Its line in `queries.jsonl`, as a system gets it.
    line: String,
}

/// The questions of a corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collection {
    /// Folder of the corpus.
    pub folder: PathBuf,
    /// Its name in reports.
    pub name: String,
    /// Questions in file order.
    pub queries: Vec<Query>,
    /// Hash of the questions, the judgements and the ids of the memories: two collections of one fingerprint may be
    /// compared.
    pub fingerprint: String,
    /// Which part of the questions this is.
    pub shard: Option<Slice>,
}

impl Collection {
    /// Reads a corpus folder, or one shard of its questions.
    ///
    /// # Errors
    /// Files that are missing or damaged, a question that is there twice, or no question at all.
    pub fn read(folder: &Path, shard: Option<Slice>) -> Result<Collection, Failure> {
        let mut hash = Xxh3::new();
        let mut judged: HashMap<String, Vec<(String, u8)>> = HashMap::new();
        for judgement in judgements(folder)? {
            hash.update(judgement.to_string().as_bytes());
            judged.entry(judgement.qid).or_default().push((judgement.doc_id, judgement.grade));
        }
        let mut queries = queries(folder, &mut judged, &mut hash)?;
        refuse_unjudged(folder, &queries)?;
        let session_of = sessions(folder, &queries, &mut hash)?;
        for query in &mut queries {
            let relevant = query.judged.iter().filter(|(_, grade)| *grade >= MIN_GRADE);
            query.segments = relevant.filter_map(|(doc_id, _)| session_of.get(doc_id).cloned()).collect();
        }
        if let Some(shard) = shard {
            let mut at = 0;
            queries.retain(|_| {
                at += 1;
                (at - 1) % shard.total() == shard.index() - 1
            });
        }
        Ok(Collection {
            folder: folder.to_owned(),
            name: name(folder),
            queries,
            fingerprint: format!("{:016x}", hash.digest()),
            shard,
        })
    }

    /// What a system reads on stdin.
    pub fn query_lines(&self) -> Vec<u8> {
        self.queries.iter().flat_map(|query| query.line.bytes().chain([b'\n'])).collect()
    }

    /// Questions of one kind.
    pub fn n_of_kind(&self, kind: &str) -> usize {
        self.queries.iter().filter(|query| query.kind == kind).count()
    }
}

/// Answers that nothing judges would give a report without a figure, and no system would be wrong in it.
fn refuse_unjudged(folder: &Path, queries: &[Query]) -> Result<(), Failure> {
    let mut answerable = queries.iter().filter(|query| query.kind == ANSWERABLE).peekable();
    let is_judged = |query: &Query| query.judged.iter().any(|(_, grade)| *grade >= MIN_GRADE);
    if answerable.peek().is_none() || answerable.any(is_judged) {
        return Ok(());
    }
    let message = "judges no answer to any of the answerable questions";
    let remedy = "write `qid 0 doc_id grade` with grade 2 or 3, and look at the corpus with `hookbench corpus check`";
    Err(Failure::usage(folder.join("qrels"), message, remedy))
}

/// The name that the manifest gives; of a collection without one of ours the folder's.
fn name(folder: &Path) -> String {
    if let Ok(Some(manifest)) = manifest(folder) {
        return manifest.name;
    }
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn queries(
    folder: &Path,
    judged: &mut HashMap<String, Vec<(String, u8)>>,
    hash: &mut Xxh3,
) -> Result<Vec<Query>, Failure> {
    let mut lines = required(folder, "queries.jsonl")?;
    let mut queries = Vec::new();
    let mut seen = HashSet::new();
    while let Some((_, raw)) = lines.next_row::<Box<RawValue>>()? {
        let text = raw.get();
        hash.update(text.as_bytes());
        let row: QueryRow = serde_json::from_str(text).map_err(|error| {
            lines.fault(&format!("is no question: {error}"), "see corpora/README.md for the format")
        })?;
        if !KINDS.contains(&&*row.kind) {
            let message = format!("no question has the kind `{}`", row.kind);
            return Err(lines.fault(&message, &format!("write one of {}", KINDS.join(", "))));
        }
        if !seen.insert(row.qid.clone()) {
            return Err(lines.fault(&format!("`{}` is there twice", row.qid), "give every question an id of its own"));
        }
        queries.push(Query {
            judged: judged.remove(&row.qid).unwrap_or_default(),
            segments: HashSet::new(),
            line: text.to_owned(),
            qid: row.qid,
            project: row.project,
            form: row.form,
            kind: row.kind,
        });
    }
    if queries.is_empty() {
        return Err(Failure::usage(&lines.path, "has no question", "name a corpus with questions"));
    }
    Ok(queries)
}

/// Session of each judged memory. All ids enter the hash, since another memory could change every answer.
fn sessions(folder: &Path, queries: &[Query], hash: &mut Xxh3) -> Result<HashMap<String, String>, Failure> {
    let wanted: HashSet<&str> = queries.iter().flat_map(|query| &query.judged).map(|(doc_id, _)| &**doc_id).collect();
    let mut lines: Lines = required(folder, "corpus.jsonl")?;
    let mut sessions = HashMap::new();
    while let Some((_, row)) = lines.next_row::<RecordRow>()? {
        hash.update(row.doc_id.as_bytes());
        if wanted.contains(&*row.doc_id) {
            sessions.insert(row.doc_id, row.session_id);
        }
    }
    Ok(sessions)
}

/// How many questions there are of each form.
pub fn by_form(queries: &[Query]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for query in queries {
        *counts.entry(&*query.form).or_default() += 1;
    }
    counts
}

#[cfg(test)]
impl Query {
    /// A prompt with these judgements.
    pub(super) fn for_test(qid: &str, judged: &[(&str, u8)], segments: HashSet<String>) -> Query {
        Query {
            qid: qid.to_owned(),
            project: "p".to_owned(),
            form: "prompt".to_owned(),
            kind: if judged.is_empty() { "noanswer" } else { "answerable" }.to_owned(),
            judged: judged.iter().map(|(id, grade)| ((*id).to_owned(), *grade)).collect(),
            segments,
            line: String::new(),
        }
    }
}
