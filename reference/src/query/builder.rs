//! Collects the terms, paths and lines of one query, each once and within bounds.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::{Form, Query, QueryTerm};
use crate::analyze::{analyze, analyze_path};
use crate::fingerprint::{fingerprints_of, fingerprints_of_lines};

/// Bytes whose lines are looked up.
const MAX_EVIDENCE_BYTES: usize = 256 << 10;
/// What a word of asking counts in prose, beside a word of the matter.
const ASKING_WEIGHT: f32 = 0.5;

/// Stems of words that people use to ask for work, whatever the work is, sorted. They are often rare in
/// memories and would otherwise pass for the subject.
const ASKING: [&str; 53] = [
    "ad",
    "add",
    "before",
    "better",
    "broken",
    "bug",
    "chang",
    "check",
    "clean",
    "creat",
    "done",
    "explain",
    "explor",
    "find",
    "fix",
    "get",
    "handl",
    "help",
    "here",
    "implement",
    "improv",
    "involv",
    "know",
    "like",
    "list",
    "longer",
    "look",
    "make",
    "must",
    "need",
    "no",
    "problem",
    "relat",
    "remov",
    "report",
    "research",
    "rid",
    "see",
    "show",
    "start",
    "support",
    "sure",
    "switch",
    "task",
    "tell",
    "thing",
    "think",
    "today",
    "try",
    "updat",
    "want",
    "work",
    "write",
];

pub(super) struct Builder {
    query: Query,
    /// Term to position.
    places: HashMap<String, usize>,
    lines: HashSet<u64>,
}

impl Builder {
    pub(super) fn new(form: Form) -> Builder {
        let query = Query { form, terms: Vec::new(), paths: Vec::new(), lines: Vec::new() };
        Builder { query, places: HashMap::new(), lines: HashSet::new() }
    }

    pub(super) fn form(&self) -> Form {
        self.query.form
    }

    /// Turns counts into weights.
    pub(super) fn finish(mut self) -> Query {
        let is_prose = self.query.form.is_prose();
        for term in &mut self.query.terms {
            let is_asking = is_prose && ASKING.binary_search(&term.text.as_str()).is_ok();
            term.weight = term.weight.sqrt() * if is_asking { ASKING_WEIGHT } else { 1.0 };
        }
        self.query
    }

    pub(super) fn text(&mut self, text: &str, bytes: usize) {
        analyze(bounded(text, bytes), &mut |term| self.term(term));
    }

    /// All strings of a value, depth first, within `bytes` together.
    pub(super) fn texts_of(&mut self, value: &Value, bytes: usize) {
        let mut left = bytes;
        let mut waiting = vec![value];
        while let Some(value) = waiting.pop() {
            match value {
                Value::String(text) => {
                    self.text(text, left);
                    left = left.saturating_sub(text.len());
                }
                Value::Array(items) => waiting.extend(items.iter().rev()),
                Value::Object(members) => waiting.extend(members.values().rev()),
                _ => {}
            }
            if left == 0 {
                return;
            }
        }
    }

    /// A file that the call names; `root` is taken off when the path lies in it.
    pub(super) fn file(&mut self, path: &str, root: &str) {
        let whole = self.folder(path, root);
        self.query.paths.extend(whole);
    }

    /// A folder that the call names: its terms count, but no record has it among its paths. Gives its whole term.
    pub(super) fn folder(&mut self, path: &str, root: &str) -> Option<String> {
        let path = path.replace('\\', "/");
        let root = root.replace('\\', "/");
        let inside = path.strip_prefix(root.as_str()).filter(|rest| !root.is_empty() && rest.starts_with('/'));
        let inside = if path == root { "" } else { inside.unwrap_or(&path) };
        let relative = inside.trim_start_matches("./").trim_matches('/');
        if relative.is_empty() || relative == "." {
            return None;
        }
        let mut whole = None;
        analyze_path(relative, &mut |term| {
            whole.get_or_insert_with(|| term.to_owned());
            self.term(term);
        });
        whole
    }

    pub(super) fn lines(&mut self, text: &str) {
        self.fingerprints(fingerprints_of(bounded(text, MAX_EVIDENCE_BYTES)));
    }

    /// Lines as a search prints them, each behind `path:12:`, `path-12-` or `12:`.
    pub(super) fn located_lines(&mut self, text: &str) {
        let lines = bounded(text, MAX_EVIDENCE_BYTES).lines().map(without_location);
        self.fingerprints(fingerprints_of_lines(lines));
    }

    fn fingerprints(&mut self, lines: Vec<u64>) {
        for line in lines {
            if self.query.lines.len() < Query::MAX_LINES && self.lines.insert(line) {
                self.query.lines.push(line);
            }
        }
    }

    fn term(&mut self, term: &str) {
        let next = self.query.terms.len();
        if let Some(known) = self.places.get(term).and_then(|at| self.query.terms.get_mut(*at)) {
            known.weight += 1.0;
        } else if next < Query::MAX_TERMS {
            self.places.insert(term.to_owned(), next);
            self.query.terms.push(QueryTerm { text: term.to_owned(), weight: 1.0 });
        }
    }
}

/// The line without the location before it; the line itself when there is none.
fn without_location(line: &str) -> &str {
    let mut start = 0;
    for (at, _) in line.match_indices([':', '-']) {
        let number = line.get(start..at).unwrap_or("");
        if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) {
            return line.get(at + 1..).unwrap_or("");
        }
        start = at + 1;
    }
    line
}

fn bounded(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or(text)
}
