//! What the store keeps: one [`SourceDocument`] a memory, in host-neutral terms.
//!
//! A document is data only. It knows nothing of Claude Code's payloads, of the index or of the disk
//! format (see `store::wire` for that), so every stage of a hook call can pass it on without a callback.

use std::collections::BTreeMap;

/// What kind of memory a document is; on equal relevance a later kind outranks an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Concept {
    /// The state before a compaction.
    Checkpoint,
    /// What a turn or a sub-agent achieved.
    Outcome,
    /// What a whole session achieved.
    SessionSummary,
}

impl Concept {
    /// The name on disk and in injected text: `checkpoint`, `outcome` or `session-summary`.
    pub fn name(self) -> &'static str {
        match self {
            Concept::Checkpoint => "checkpoint",
            Concept::Outcome => "outcome",
            Concept::SessionSummary => "session-summary",
        }
    }

    /// The kind with this name on disk, if there is one.
    pub fn parse(name: &str) -> Option<Concept> {
        [Concept::Checkpoint, Concept::Outcome, Concept::SessionSummary].into_iter().find(|kind| kind.name() == name)
    }
}

/// Digest of one affected file as it stood at capture: evidence that survives a rebase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDigest {
    /// Path relative to the project root, `/`-separated.
    pub path: String,
    /// Lower-case hexadecimal XXH3-128 of the file's bytes, or `absent`.
    pub digest: String,
}

/// Which lines a memory's session wrote. Evidence, never content: no line of it is stored or shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evidence {
    /// 64-bit fingerprints of normalised lines, at most 2,000.
    pub fingerprints: Vec<u64>,
    /// Code tokens of the written lines: an indexed, unstored field of low weight.
    pub tokens: Vec<String>,
}

/// One memory, as the store takes it.
///
/// Keys used in `filters`: `project`, `session`, `type`, `command`, `branch`, `revision`, `dirty`, `agent`.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceDocument {
    /// Deterministic: the same capture gives the same id.
    pub doc_id: String,
    /// `claude-code://<project>/<session>/<type>`.
    pub source: String,
    /// Markdown with `## Heading` sections, the first of them `Request`.
    pub content: String,
    /// Kind of memory.
    pub concept: Concept,
    /// The segment: `claude-session:<project-id>:<session-id>`.
    pub group_id: String,
    /// Headings of `content`, in order.
    pub headings: Vec<String>,
    /// Affected paths, relative to the project root, `/`-separated.
    pub links: Vec<String>,
    /// Capture time in milliseconds since 1970, when known.
    pub timestamp_ms: Option<i64>,
    /// Who wrote it: `claude-code`.
    pub author_agent: String,
    /// Exact-match attributes.
    pub filters: BTreeMap<String, String>,
    /// Digests of affected files at capture.
    pub digests: Vec<FileDigest>,
    /// Written evidence.
    pub evidence: Evidence,
}

impl SourceDocument {
    /// The text under the first heading: what was asked. Empty when there is none.
    pub fn request(&self) -> &str {
        self.sections().find(|(heading, _)| *heading == "Request").map_or("", |(_, text)| text)
    }

    /// Sections of `content` as (heading, trimmed text), in order; text before a heading is not a section.
    pub fn sections(&self) -> impl Iterator<Item = (&str, &str)> {
        sections(&self.content)
    }

    /// Looks up a filter, `""` when absent.
    pub fn filter(&self, key: &str) -> &str {
        self.filters.get(key).map_or("", String::as_str)
    }
}

/// Splits markdown at lines that start with `## `, giving (heading, trimmed text) pairs.
pub fn sections(content: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = match content.strip_prefix("## ") {
        Some(after) => after,
        None => content.find("\n## ").and_then(|at| content.get(at + 4..)).unwrap_or(""),
    };
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (section, next) = match rest.find("\n## ") {
            Some(at) => (rest.get(..at).unwrap_or(""), rest.get(at + 4..).unwrap_or("")),
            None => (rest, ""),
        };
        rest = next;
        let (heading, text) = section.split_once('\n').unwrap_or((section, ""));
        Some((heading.trim(), text.trim()))
    })
}
