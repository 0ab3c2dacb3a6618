//! The JSON of journal lines and of stored texts: wire types, apart from the domain's.
//!
//! Unknown members are ignored and missing ones take their default, so that an older reader gets what it can from
//! a newer journal. Fingerprints are one string of 16 hexadecimal digits each, written tokens one string with
//! spaces between: a fifth of the size of arrays. Members are written in a fixed order.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::document::{Concept, Evidence, FileDigest, SourceDocument};
use crate::store::format::{JOURNAL_FORMAT, JOURNAL_VERSION};

/// One operation of the journal.
#[derive(Debug, Clone, PartialEq)]
pub enum Op {
    /// Stores a document under its id, in place of an earlier one.
    Upsert {
        /// The document.
        document: Box<SourceDocument>,
        /// Lifts the tombstone of the id; without it, a removed id stays removed.
        restore: bool,
    },
    /// Removes documents, and keeps later ones with these ids out.
    Remove {
        /// Their ids, and nothing else of them.
        ids: Vec<String>,
    },
}

/// What a journal line says, as far as replay needs it before it reads a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    /// The first line of a file.
    Header {
        /// Version of the journal format.
        version: u32,
        /// Files with this number and below are superseded.
        replaces: u64,
    },
    /// An upsert of the id with this hash.
    Upsert {
        /// [`id_hash`] of the document.
        id: u64,
        /// See [`Op::Upsert`].
        restore: bool,
    },
    /// A removal of these ids.
    Remove {
        /// [`id_hash`] of each.
        ids: Vec<u64>,
    },
    /// A line of a kind that this release does not know.
    Unknown,
}

/// The key under which an id, or a segment's name, is looked up: XXH3-64 of its bytes, seed 0.
pub fn id_hash(id: &str) -> u64 {
    xxh3_64(id.as_bytes())
}

/// Fingerprint of written evidence, which tells whether a repeated document brings anything new.
pub fn evidence_hash(evidence: &Evidence) -> u64 {
    let mut text = hex(&evidence.fingerprints);
    for token in &evidence.tokens {
        text.push(' ');
        text.push_str(token);
    }
    xxh3_64(text.as_bytes())
}

#[derive(Serialize, Deserialize)]
struct WireHeader<'a> {
    #[serde(borrow)]
    format: Cow<'a, str>,
    version: u32,
    #[serde(default)]
    replaces: u64,
}

#[derive(Serialize)]
struct WireUpsert<'a> {
    op: &'static str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    restore: bool,
    document: WireDocument<'a>,
}

#[derive(Serialize)]
struct WireRemove<'a> {
    op: &'static str,
    ids: &'a [String],
}

/// Any line, its document unread.
#[derive(Deserialize)]
struct WireHead<'a> {
    #[serde(borrow, default)]
    format: Option<Cow<'a, str>>,
    #[serde(default)]
    version: u32,
    #[serde(default)]
    replaces: u64,
    #[serde(borrow, default)]
    op: Option<Cow<'a, str>>,
    #[serde(default)]
    restore: bool,
    #[serde(borrow, default)]
    document: Option<WireId<'a>>,
    #[serde(borrow, default)]
    ids: Vec<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct WireId<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
}

#[derive(Deserialize)]
struct WireBody<'a> {
    #[serde(borrow)]
    document: WireDocument<'a>,
}

#[derive(Serialize, Deserialize)]
struct WireDocument<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow, default)]
    source: Cow<'a, str>,
    #[serde(borrow, default)]
    content: Cow<'a, str>,
    #[serde(borrow, default)]
    concept: Cow<'a, str>,
    #[serde(borrow, default)]
    group: Cow<'a, str>,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    headings: Vec<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    links: Vec<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    timestamp_ms: Option<i64>,
    #[serde(borrow, default)]
    author: Cow<'a, str>,
    #[serde(borrow, default, skip_serializing_if = "BTreeMap::is_empty")]
    filters: BTreeMap<Cow<'a, str>, Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    digests: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    #[serde(borrow, default, skip_serializing_if = "str::is_empty")]
    fingerprints: Cow<'a, str>,
    #[serde(borrow, default, skip_serializing_if = "str::is_empty")]
    tokens: Cow<'a, str>,
    /// In an index only, where the two members before it are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    evidence_hash: Option<u64>,
}

/// The header line of a new journal file.
pub fn header(replaces: u64) -> Result<Vec<u8>, serde_json::Error> {
    serde_json::to_vec(&WireHeader { format: JOURNAL_FORMAT.into(), version: JOURNAL_VERSION, replaces })
}

/// The JSON of one operation.
pub fn encode_op(op: &Op) -> Result<Vec<u8>, serde_json::Error> {
    match op {
        Op::Upsert { document, restore } => {
            let mut wire = to_wire(document);
            wire.fingerprints = hex(&document.evidence.fingerprints).into();
            wire.tokens = document.evidence.tokens.join(" ").into();
            serde_json::to_vec(&WireUpsert { op: "upsert", restore: *restore, document: wire })
        }
        Op::Remove { ids } => serde_json::to_vec(&WireRemove { op: "remove", ids }),
    }
}

/// What a line says; anything that is not understood is [`Head::Unknown`].
pub fn decode_head(json: &[u8]) -> Head {
    let Ok(head) = serde_json::from_slice::<WireHead<'_>>(json) else {
        return Head::Unknown;
    };
    if head.format.is_some_and(|format| format == JOURNAL_FORMAT) {
        return Head::Header { version: head.version, replaces: head.replaces };
    }
    match (head.op.as_deref(), head.document) {
        (Some("upsert"), Some(document)) => Head::Upsert { id: id_hash(&document.id), restore: head.restore },
        (Some("remove"), _) => Head::Remove { ids: head.ids.iter().map(|id| id_hash(id)).collect() },
        _ => Head::Unknown,
    }
}

/// The document of an upsert line, evidence included.
pub fn decode_document(json: &[u8]) -> Option<SourceDocument> {
    serde_json::from_slice::<WireBody<'_>>(json).ok().map(|body| from_wire(body.document).0)
}

/// The ids of a removal line.
pub fn decode_ids(json: &[u8]) -> Vec<String> {
    serde_json::from_slice::<WireHead<'_>>(json)
        .map(|head| head.ids.into_iter().map(Cow::into_owned).collect())
        .unwrap_or_default()
}

/// The stored text of an index: the document without its evidence, of which only a hash stays.
pub fn encode_text(document: &SourceDocument) -> Result<Vec<u8>, serde_json::Error> {
    let mut wire = to_wire(document);
    wire.evidence_hash = Some(evidence_hash(&document.evidence));
    serde_json::to_vec(&wire)
}

/// Reads [`encode_text`] back: the document with empty evidence, and the hash of what it was.
pub fn decode_text(json: &[u8]) -> Option<(SourceDocument, u64)> {
    let (document, hash) = from_wire(serde_json::from_slice(json).ok()?);
    Some((document, hash.unwrap_or_default()))
}

fn to_wire(document: &SourceDocument) -> WireDocument<'_> {
    let borrow = |text: &'_ String| -> Cow<'_, str> { Cow::Owned(text.clone()) };
    WireDocument {
        id: document.doc_id.as_str().into(),
        source: document.source.as_str().into(),
        content: document.content.as_str().into(),
        concept: document.concept.name().into(),
        group: document.group_id.as_str().into(),
        headings: document.headings.iter().map(borrow).collect(),
        links: document.links.iter().map(borrow).collect(),
        timestamp_ms: document.timestamp_ms,
        author: document.author_agent.as_str().into(),
        filters: document.filters.iter().map(|(key, value)| (borrow(key), borrow(value))).collect(),
        digests: document.digests.iter().map(|file| (borrow(&file.path), borrow(&file.digest))).collect(),
        fingerprints: Cow::Borrowed(""),
        tokens: Cow::Borrowed(""),
        evidence_hash: None,
    }
}

fn from_wire(wire: WireDocument<'_>) -> (SourceDocument, Option<u64>) {
    let owned = |texts: Vec<Cow<'_, str>>| texts.into_iter().map(Cow::into_owned).collect();
    let document = SourceDocument {
        doc_id: wire.id.into_owned(),
        source: wire.source.into_owned(),
        content: wire.content.into_owned(),
        // A kind that only a newer release knows ranks as an ordinary outcome.
        concept: Concept::parse(&wire.concept).unwrap_or(Concept::Outcome),
        group_id: wire.group.into_owned(),
        headings: owned(wire.headings),
        links: owned(wire.links),
        timestamp_ms: wire.timestamp_ms,
        author_agent: wire.author.into_owned(),
        filters: wire.filters.into_iter().map(|(key, value)| (key.into_owned(), value.into_owned())).collect(),
        digests: wire
            .digests
            .into_iter()
            .map(|(path, digest)| FileDigest { path: path.into_owned(), digest: digest.into_owned() })
            .collect(),
        evidence: Evidence {
            fingerprints: wire.fingerprints.as_bytes().chunks(16).filter_map(unhex).collect(),
            tokens: wire.tokens.split(' ').filter(|token| !token.is_empty()).map(str::to_owned).collect(),
        },
    };
    (document, wire.evidence_hash)
}

fn hex(values: &[u64]) -> String {
    let mut text = String::with_capacity(values.len() * 16);
    for value in values {
        // Writing to a String cannot fail.
        let _ = write!(text, "{value:016x}");
    }
    text
}

fn unhex(digits: &[u8]) -> Option<u64> {
    (digits.len() == 16).then_some(())?;
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
pub(crate) mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    /// A document with every member filled.
    pub(crate) fn sample(id: &str, session: &str, request: &str) -> SourceDocument {
        SourceDocument {
            doc_id: id.to_owned(),
            source: format!("claude-code://p/{session}/outcome"),
            content: format!("## Request\n{request}\n\n## Result\nDone as asked.\n"),
            concept: Concept::Outcome,
            group_id: format!("claude-session:p:{session}"),
            headings: vec!["Request".to_owned(), "Result".to_owned()],
            links: vec!["src/lib.rs".to_owned()],
            timestamp_ms: Some(1_700_000_000_000),
            author_agent: "claude-code".to_owned(),
            filters: BTreeMap::from([("branch".to_owned(), "topic/\"quoted\"".to_owned())]),
            digests: vec![FileDigest { path: "src/lib.rs".to_owned(), digest: "absent".to_owned() }],
            evidence: Evidence { fingerprints: vec![1, u64::MAX], tokens: vec!["let".to_owned(), "x".to_owned()] },
        }
    }

    #[test]
    fn an_upsert_comes_back_equal() {
        let document = sample("a", "s", "line one\nline \"two\" \u{1f600}");
        let json = encode_op(&Op::Upsert { document: Box::new(document.clone()), restore: true }).unwrap();
        assert!(!json.contains(&b'\n'));
        assert_eq!(decode_head(&json), Head::Upsert { id: id_hash("a"), restore: true });
        assert_eq!(decode_document(&json), Some(document));
    }

    #[test]
    fn an_index_text_keeps_a_hash_in_place_of_the_evidence() {
        let document = sample("a", "s", "request");
        let json = encode_text(&document).unwrap();
        let (read, hash) = decode_text(&json).unwrap();
        assert_eq!(hash, evidence_hash(&document.evidence));
        assert_eq!(read, SourceDocument { evidence: Evidence::default(), ..document });
    }

    #[test]
    fn a_removal_holds_ids_only() {
        let json = encode_op(&Op::Remove { ids: vec!["a".to_owned()] }).unwrap();
        assert_eq!(String::from_utf8_lossy(&json), r#"{"op":"remove","ids":["a"]}"#);
        assert_eq!(decode_head(&json), Head::Remove { ids: vec![id_hash("a")] });
    }

    #[test]
    fn unknown_members_and_kinds_are_no_error() {
        assert_eq!(decode_head(br#"{"op":"annotate","document":{"id":"a"}}"#), Head::Unknown);
        let json = br#"{"op":"upsert","mood":1,"document":{"id":"a","content":"x","colour":"red"}}"#;
        assert_eq!(decode_document(json).unwrap().content, "x");
    }
}
