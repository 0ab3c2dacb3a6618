//! The lines of a corpus as they stand on disk.
//!
//! `corpus.jsonl` has a [`RecordRow`] a line, `written.jsonl` a [`WrittenRow`], `queries.jsonl` a [`QueryRow`], `qrels` a
//! [`Judgement`] in TREC's form, and `manifest.json` is a [`Manifest`]. Whether the files fit together is the check's
//! business, not this file's.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Name of the format, in every manifest.
pub const FORMAT: &str = "hookbench-corpus";
/// Version of the format. History: 1, the first.
pub const VERSION: u32 = 1;

/// Kind of a question that some memory answers.
pub const ANSWERABLE: &str = "answerable";
/// Kinds of questions.
pub const KINDS: [&str; 3] = [ANSWERABLE, "noanswer", "noanswer_weak"];

/// A memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecordRow {
    /// Its id, unique in the corpus.
    pub doc_id: String,
    /// The session that it belongs to: its segment.
    pub session_id: String,
    /// A coarser segment, such as the month.
    #[serde(default)]
    pub period_id: String,
    /// Whose memory it is.
    pub project: String,
    /// `outcome`, `checkpoint` or `session-summary`.
    #[serde(rename = "type")]
    pub kind: String,
    /// RFC 3339.
    #[serde(default)]
    pub timestamp: String,
    /// What was asked.
    #[serde(default)]
    pub request: String,
    /// What came of it.
    #[serde(default)]
    pub result: String,
    /// What was decided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<String>,
    /// What did not work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<String>,
    /// What is left open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unresolved: Vec<String>,
    /// How it was checked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub validation: Vec<String>,
    /// Files that it touched, relative to the project.
    #[serde(default)]
    pub affected_paths: Vec<String>,
    /// Branch at the time.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub branch: String,
    /// Revision at the time.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub revision: String,
}

/// The lines that a memory's session wrote: evidence, never shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WrittenRow {
    /// The memory.
    pub doc_id: String,
    /// Lines, white space folded.
    pub lines: Vec<String>,
}

/// A question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QueryRow {
    /// Its id, unique in the corpus.
    pub qid: String,
    /// Whose memories may answer it.
    pub project: String,
    /// How it is asked: `prompt`, `prompt_ref`, `subagent`, `tool_edit`, `tool_grep`, `tool_read` or `generic`.
    pub form: String,
    /// `answerable`, `noanswer` or `noanswer_weak`.
    pub kind: String,
    /// RFC 3339.
    #[serde(default)]
    pub timestamp: String,
    /// Branch at the time.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub branch: String,
    /// The question as text.
    pub text: String,
    /// The hook payload that asks it.
    #[serde(default)]
    pub hook: Value,
}

/// One judgement: a line of `qrels`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Judgement {
    /// The question.
    pub qid: String,
    /// The memory.
    pub doc_id: String,
    /// 3 answers the question, 2 helps, 1 is on the same matter.
    pub grade: u8,
}

impl Judgement {
    /// Reads `qid 0 doc_id grade`; the second column is not looked at, as in trec_eval.
    pub fn parse(line: &str) -> Option<Judgement> {
        let mut words = line.split_whitespace();
        let (qid, _, doc_id, grade) = (words.next()?, words.next()?, words.next()?, words.next()?);
        let grade = grade.parse().ok()?;
        words.next().is_none().then(|| Judgement { qid: qid.to_owned(), doc_id: doc_id.to_owned(), grade })
    }
}

impl fmt::Display for Judgement {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} 0 {} {}", self.qid, self.doc_id, self.grade)
    }
}

/// What a corpus holds and where it is from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Manifest {
    /// Always `hookbench-corpus`.
    pub format: String,
    /// Readers refuse a greater one than they know.
    pub version: u32,
    /// Name of the corpus.
    pub name: String,
    /// Lines of `corpus.jsonl`.
    pub memories: u64,
    /// Different sessions among them.
    pub sessions: u64,
    /// Lines of `queries.jsonl`.
    pub queries: u64,
    /// Questions that some memory answers.
    pub answerable: u64,
    /// Questions that none answers, the weak ones among them.
    pub noanswer: u64,
    /// Lines of `qrels`.
    pub judgements: u64,
    /// Licence of the texts.
    #[serde(default)]
    pub licence: String,
    /// One sentence on its origin, with what is needed to make it again.
    #[serde(default)]
    pub about: String,
}

impl Manifest {
    /// An empty manifest of this version.
    pub fn new(name: &str, licence: &str, about: &str) -> Manifest {
        Manifest {
            format: FORMAT.to_owned(),
            version: VERSION,
            name: name.to_owned(),
            memories: 0,
            sessions: 0,
            queries: 0,
            answerable: 0,
            noanswer: 0,
            judgements: 0,
            licence: licence.to_owned(),
            about: about.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_judgement_is_a_line_of_four_words() {
        let judgement = Judgement { qid: "q".to_owned(), doc_id: "m".to_owned(), grade: 3 };
        assert_eq!(judgement.to_string(), "q 0 m 3");
        assert_eq!(Judgement::parse("q\tQ0  m 3"), Some(judgement));
        for line in ["", "q 0 m", "q 0 m x", "q 0 m -1", "q 0 m 3 tag"] {
            assert_eq!(Judgement::parse(line), None, "{line}");
        }
    }
}
