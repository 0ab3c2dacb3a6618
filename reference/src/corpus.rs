//! Reads a labelled collection: `corpus.jsonl`, `written.jsonl` and `queries.jsonl`, each plain or `.gz`.
//!
//! Records come as a stream, so that a collection of any size needs the memory of one record: written lines
//! are joined on the way when both files are in the same order, and wait in memory only where they are not.
//! Every error names the file and the line. Wire rows are private; callers get [`SourceDocument`]s.
//!
//! Nothing is written here, and no relevance judgement is read: those belong to the evaluation.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use serde_json::Value;

use crate::document::{Concept, Evidence, FileDigest, SourceDocument};
use crate::fingerprint;
use crate::redact::clean;

/// Why a collection cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    /// A file is missing, or reading it failed.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A line is not the JSON object that the format asks for.
    #[error("{}:{line}: not a valid row", path.display())]
    Row {
        /// The file.
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
        /// What the parser said.
        source: serde_json::Error,
    },
}

/// One row of `queries.jsonl`.
#[derive(Debug, Clone, PartialEq)]
pub struct CorpusQuery {
    /// Identifier, the first column of a run.
    pub qid: String,
    /// Whose memories may answer.
    pub project: String,
    /// `prompt`, `prompt_ref`, `subagent`, `tool_edit`, `tool_grep`, `tool_read` or `generic`; empty if not told.
    pub form: String,
    /// `answerable`, `noanswer` or `noanswer_weak`; empty if not told.
    pub kind: String,
    /// The hook payload. A row without one has its `text` as a prompt.
    pub payload: Value,
}

#[derive(Deserialize)]
struct RecordRow {
    doc_id: String,
    session_id: String,
    project: String,
    #[serde(rename = "type")]
    concept: String,
    #[serde(default)]
    timestamp: Option<String>,
    #[serde(default)]
    request: String,
    #[serde(default)]
    result: String,
    #[serde(default)]
    decisions: Vec<String>,
    #[serde(default)]
    failures: Vec<String>,
    #[serde(default)]
    unresolved: Vec<String>,
    #[serde(default)]
    validation: Vec<String>,
    #[serde(default)]
    affected_paths: Vec<String>,
    #[serde(default)]
    branch: Option<String>,
    #[serde(default)]
    revision: Option<String>,
    #[serde(default)]
    dirty: Option<bool>,
    #[serde(default)]
    agent: Option<String>,
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    digests: Vec<DigestRow>,
}

/// Digest of one affected file, as `export` writes it.
#[derive(Deserialize)]
struct DigestRow {
    path: String,
    digest: String,
}

#[derive(Deserialize)]
struct WrittenRow {
    doc_id: String,
    #[serde(default)]
    lines: Vec<String>,
}

#[derive(Deserialize)]
struct WrittenId {
    doc_id: String,
}

#[derive(Deserialize)]
struct QueryRow {
    qid: String,
    #[serde(default)]
    project: String,
    #[serde(default)]
    form: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    hook: Option<Value>,
}

/// The records of a collection folder in file order, with their written evidence.
pub struct Records {
    corpus: Rows,
    written: Option<Written>,
}

impl Records {
    /// Opens `corpus.jsonl[.gz]` in `folder` and, unless `written` is false, `written.jsonl[.gz]` beside it
    /// when there is one.
    pub fn open(folder: &Path, written: bool) -> Result<Records, CorpusError> {
        let corpus = Rows::open(&located(folder, "corpus.jsonl"))?;
        let evidence = located(folder, "written.jsonl");
        let written = if written && evidence.exists() { Some(Written::open(&evidence)?) } else { None };
        Ok(Records { corpus, written })
    }

    /// Reads one corpus file, plain or `.gz`, without evidence.
    pub fn open_file(path: &Path) -> Result<Records, CorpusError> {
        Ok(Records { corpus: Rows::open(path)?, written: None })
    }

    fn read(&mut self) -> Result<Option<SourceDocument>, CorpusError> {
        let Some(row) = self.corpus.next_row::<RecordRow>()? else { return Ok(None) };
        let lines = match &mut self.written {
            Some(written) => written.take(&row.doc_id)?,
            None => Vec::new(),
        };
        Ok(Some(document(row, &lines)))
    }
}

impl Iterator for Records {
    type Item = Result<SourceDocument, CorpusError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

/// Queries in file order, each read when it is asked for.
pub struct Queries {
    rows: Rows,
}

impl Queries {
    /// Opens `queries.jsonl[.gz]` in `folder`.
    pub fn open(folder: &Path) -> Result<Queries, CorpusError> {
        Queries::open_file(&located(folder, "queries.jsonl"))
    }

    /// Opens one file, plain or `.gz`.
    pub fn open_file(path: &Path) -> Result<Queries, CorpusError> {
        Ok(Queries { rows: Rows::open(path)? })
    }

    /// Takes an open stream in the format of `queries.jsonl`; `name` stands for it in errors.
    pub fn of(stream: Box<dyn BufRead>, name: &str) -> Queries {
        Queries { rows: Rows { path: PathBuf::from(name), reader: stream, line: 0, buffer: Vec::new() } }
    }

    fn read(&mut self) -> Result<Option<CorpusQuery>, CorpusError> {
        let Some(row) = self.rows.next_row::<QueryRow>()? else { return Ok(None) };
        let payload = row
            .hook
            .unwrap_or_else(|| serde_json::json!({ "hook_event_name": "UserPromptSubmit", "prompt": row.text }));
        Ok(Some(CorpusQuery { qid: row.qid, project: row.project, form: row.form, kind: row.kind, payload }))
    }
}

impl Iterator for Queries {
    type Item = Result<CorpusQuery, CorpusError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

/// The text of the collection's `qrels`, plain or `.gz`.
pub fn read_judgements(folder: &Path) -> Result<String, CorpusError> {
    let path = located(folder, "qrels");
    let mut text = String::new();
    let read = reader(&path)?.read_to_string(&mut text);
    read.map_err(|source| CorpusError::Read { path, source })?;
    Ok(text)
}

fn document(row: RecordRow, lines: &[String]) -> SourceDocument {
    let mut filters = BTreeMap::new();
    let mut set = |key: &str, value: &str| {
        if !value.is_empty() {
            filters.insert(key.to_owned(), value.to_owned());
        }
    };
    set("project", &row.project);
    set("session", &row.session_id);
    set("type", &row.concept);
    set("branch", row.branch.as_deref().unwrap_or(""));
    set("revision", row.revision.as_deref().unwrap_or(""));
    set("agent", row.agent.as_deref().unwrap_or(""));
    set("command", row.command.as_deref().unwrap_or(""));
    set("dirty", row.dirty.map_or("", |dirty| if dirty { "true" } else { "false" }));
    let (content, headings) = content(&row);
    // Tokens of a written line are kept: a secret in one must not be.
    let lines: Vec<Cow<'_, str>> = lines.iter().map(|line| clean(line)).collect();
    let lines = || lines.iter().map(|line| line.as_ref());
    SourceDocument {
        source: format!("claude-code://{}/{}/{}", row.project, row.session_id, row.concept),
        content,
        concept: Concept::parse(&row.concept).unwrap_or(Concept::Outcome),
        group_id: format!("claude-session:{}:{}", row.project, row.session_id),
        headings,
        links: row.affected_paths,
        timestamp_ms: row.timestamp.as_deref().and_then(milliseconds),
        author_agent: "claude-code".to_owned(),
        filters,
        digests: row.digests.into_iter().map(|file| FileDigest { path: file.path, digest: file.digest }).collect(),
        evidence: Evidence {
            fingerprints: fingerprint::fingerprints_of_lines(lines()),
            tokens: fingerprint::written_tokens(lines()),
        },
        doc_id: row.doc_id,
    }
}

/// The record's text and its headings: request and result always, lists only where there are any.
fn content(row: &RecordRow) -> (String, Vec<String>) {
    let lists = [
        ("Decisions", &row.decisions),
        ("Failures", &row.failures),
        ("Unresolved", &row.unresolved),
        ("Validation", &row.validation),
    ];
    let mut content = format!("## Request\n{}\n\n## Result\n{}\n", demoted(&row.request), demoted(&row.result));
    let mut headings = vec!["Request".to_owned(), "Result".to_owned()];
    for (heading, lines) in lists.into_iter().filter(|(_, lines)| !lines.is_empty()) {
        let lines: Vec<String> = lines.iter().map(|line| demoted(line)).collect();
        content.push_str(&format!("\n## {heading}\n{}\n", lines.join("\n")));
        headings.push(heading.to_owned());
    }
    (content, headings)
}

/// Keeps a heading inside a text from opening a section of the record.
fn demoted(text: &str) -> String {
    let text = text.replace("\n## ", "\n### ");
    if text.starts_with("## ") { format!("#{text}") } else { text }
}

fn milliseconds(timestamp: &str) -> Option<i64> {
    timestamp.parse::<jiff::Timestamp>().ok().map(|at| at.as_millisecond())
}

/// Joins written lines to records.
struct Written {
    rows: Rows,
    /// Documents that have a row still to come; tells a missing row from a late one.
    expected: HashSet<String>,
    /// Rows read before their document asked.
    waiting: HashMap<String, Vec<String>>,
}

impl Written {
    fn open(path: &Path) -> Result<Written, CorpusError> {
        let mut expected = HashSet::new();
        let mut rows = Rows::open(path)?;
        while let Some(row) = rows.next_row::<WrittenId>()? {
            expected.insert(row.doc_id);
        }
        Ok(Written { rows: Rows::open(path)?, expected, waiting: HashMap::new() })
    }

    fn take(&mut self, doc_id: &str) -> Result<Vec<String>, CorpusError> {
        if let Some(lines) = self.waiting.remove(doc_id) {
            return Ok(lines);
        }
        if !self.expected.remove(doc_id) {
            return Ok(Vec::new());
        }
        while let Some(row) = self.rows.next_row::<WrittenRow>()? {
            if row.doc_id == doc_id {
                return Ok(row.lines);
            }
            self.waiting.insert(row.doc_id, row.lines);
        }
        Ok(Vec::new())
    }
}

/// A JSON Lines file, read row by row; blank lines are skipped, bytes that are not UTF-8 replaced.
struct Rows {
    path: PathBuf,
    reader: Box<dyn BufRead>,
    line: usize,
    buffer: Vec<u8>,
}

impl Rows {
    fn open(path: &Path) -> Result<Rows, CorpusError> {
        Ok(Rows { path: path.to_owned(), reader: reader(path)?, line: 0, buffer: Vec::new() })
    }

    fn next_row<T: for<'de> Deserialize<'de>>(&mut self) -> Result<Option<T>, CorpusError> {
        loop {
            self.buffer.clear();
            self.line += 1;
            let read = self.reader.read_until(b'\n', &mut self.buffer);
            if read.map_err(|source| CorpusError::Read { path: self.path.clone(), source })? == 0 {
                return Ok(None);
            }
            let text = String::from_utf8_lossy(&self.buffer);
            let text = text.trim_start_matches('\u{FEFF}').trim();
            if !text.is_empty() {
                let row = serde_json::from_str(text).map(Some);
                return row.map_err(|source| CorpusError::Row { path: self.path.clone(), line: self.line, source });
            }
        }
    }
}

/// Opens a file, plain or `.gz`.
fn reader(path: &Path) -> Result<Box<dyn BufRead>, CorpusError> {
    let file = File::open(path).map_err(|source| CorpusError::Read { path: path.to_owned(), source })?;
    let packed = path.extension().is_some_and(|extension| extension == "gz");
    Ok(if packed {
        Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(file)))
    } else {
        Box::new(BufReader::with_capacity(1 << 16, file))
    })
}

/// `name` in `folder`, or `name.gz` when only that exists.
fn located(folder: &Path, name: &str) -> PathBuf {
    let plain = folder.join(name);
    let packed = folder.join(format!("{name}.gz"));
    if !plain.exists() && packed.exists() { packed } else { plain }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::io::Write;

    fn row(doc_id: &str) -> String {
        let row = serde_json::json!({"doc_id": doc_id, "session_id": "s", "project": "p", "type": "session-summary",
            "timestamp": "2024-05-01T10:00:00Z", "request": "Fix it\n## Not a section", "result": "Done",
            "affected_paths": ["a.rs"], "branch": "main", "revision": "abc"});
        row.to_string()
    }

    fn pack(path: &Path, text: &str) {
        let mut file = flate2::write::GzEncoder::new(File::create(path).unwrap(), flate2::Compression::fast());
        file.write_all(text.as_bytes()).unwrap();
        file.finish().unwrap();
    }

    #[test]
    fn packed_files_and_rows_out_of_order_are_joined() {
        let folder = tempfile::tempdir().unwrap();
        pack(&folder.path().join("corpus.jsonl.gz"), &format!("{}\n\n{}\n{}\n", row("a"), row("b"), row("c")));
        let written =
            "{\"doc_id\":\"c\",\"lines\":[\"let gamma = 3;\"]}\n{\"doc_id\":\"a\",\"lines\":[\"let alpha = 1;\"]}\n";
        pack(&folder.path().join("written.jsonl.gz"), written);
        let documents: Vec<SourceDocument> =
            Records::open(folder.path(), true).unwrap().map(|document| document.unwrap()).collect();
        let evidence: Vec<usize> = documents.iter().map(|document| document.evidence.fingerprints.len()).collect();
        assert_eq!(evidence, [1, 0, 1]);
        let first = &documents[0];
        assert_eq!((first.concept, first.timestamp_ms), (Concept::SessionSummary, Some(1_714_557_600_000)));
        assert_eq!(
            (first.group_id.as_str(), first.source.as_str()),
            ("claude-session:p:s", "claude-code://p/s/session-summary")
        );
        assert_eq!(first.sections().map(|(heading, _)| heading).collect::<Vec<_>>(), ["Request", "Result"]);
        let without = Records::open(folder.path(), false).unwrap().next().unwrap().unwrap();
        assert_eq!(without.evidence, Evidence::default());
    }

    #[test]
    fn broken_row_is_named_by_file_and_line() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("corpus.jsonl"), format!("{}\n{{\"doc_id\":\n", row("a"))).unwrap();
        let error = Records::open(folder.path(), true).unwrap().nth(1).unwrap().unwrap_err().to_string();
        assert!(error.ends_with("corpus.jsonl:2: not a valid row"), "{error}");
    }

    #[test]
    fn missing_collection_is_an_error_and_missing_evidence_is_not() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Records::open(folder.path(), true).is_err());
        std::fs::write(folder.path().join("corpus.jsonl"), row("a")).unwrap();
        assert_eq!(Records::open(folder.path(), true).unwrap().count(), 1);
    }

    #[test]
    fn query_without_payload_is_a_prompt() {
        let rows = "{\"qid\":\"q1\",\"project\":\"p\",\"text\":\"fix caching\"}\n";
        let query = Queries::of(Box::new(std::io::Cursor::new(rows)), "stdin").next().unwrap().unwrap();
        assert_eq!(query.payload["prompt"], "fix caching");
    }

    #[test]
    fn packed_queries_and_judgements_are_read() {
        let folder = tempfile::tempdir().unwrap();
        pack(&folder.path().join("queries.jsonl.gz"), "{\"qid\":\"q1\"}\n{\"qid\":\"q2\"}\n");
        pack(&folder.path().join("qrels.gz"), "q1 0 a 3\n");
        let qids: Vec<String> = Queries::open(folder.path()).unwrap().map(|query| query.unwrap().qid).collect();
        assert_eq!(qids, ["q1", "q2"]);
        assert_eq!(read_judgements(folder.path()).unwrap(), "q1 0 a 3\n");
    }
}
