//! Scores documents for a query: BM25F over the fields, plus written evidence.
//!
//! Per term: `idf · x · (k1 + 1) / (k1 + x)` with `x = Σ_field weight · tf / (1 - b + b · length / mean length)`
//! and `idf = ln(1 + (N - df + 0.5) / (df + 0.5))`, times the weight of the query's term (Robertson, Zaragoza,
//! Taylor: Simple BM25 Extension to Multiple Weighted Fields). N counts a background of `BACKGROUND` documents
//! in; df is that of the field where the term is most frequent. A term that only written lines hold is code, and
//! its written lines weigh as much as a body. The sum is divided by ln(N), the unit of all scores here, so that
//! one threshold holds for small and large stores. The record that last wrote the query's lines gains a share of
//! [`Weights::line`]. Equal scores are ordered by time, newest first, then by document number.
//!
//! Work is bounded: no query visits more than [`MAX_VISITS`] postings.

use std::collections::HashMap;

use crate::query::Query;
use crate::rank::weights::Weights;
use crate::store::postings::{Field, Postings};

/// Postings that one query may visit, unless its rarest term alone has more.
pub const MAX_VISITS: u32 = 6_000;

/// Documents about something else that every index is taken to hold besides its own. Without them a term of the
/// only record of a new project would count as known to all and nothing would ever be relevant.
const BACKGROUND: f32 = 50.0;

/// One scored document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Its number in the index.
    pub document: u32,
    /// Number of its segment.
    pub segment: u32,
    /// What hits are ordered by, in units of ln(documents).
    pub score: f32,
    /// How sure it is that the document belongs here, in the same unit; see [`crate::rank::gate`].
    pub confidence: f32,
    /// Share (0 to 1) of the query's known lines whose newest writer it is.
    pub line_share: f32,
    /// Share (0 to 1) of the query's idf mass that its terms account for.
    pub coverage: f32,
}

/// The best hits of a query and what it took to find them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ranking {
    /// Best first.
    pub hits: Vec<Hit>,
    /// Postings visited.
    pub visits: u32,
}

/// Ranks the documents of the index for the query and gives the best `limit`.
///
/// Only documents whose segment is `allowed` are given; statistics stay those of the whole index.
pub fn rank(
    index: &dyn Postings,
    query: &Query,
    weights: &Weights,
    allowed: &dyn Fn(u32) -> bool,
    limit: usize,
) -> Ranking {
    if index.documents() == 0 || limit == 0 {
        return Ranking::default();
    }
    let plan = Plan::new(index, query, weights);
    let mut board = Board::new(plan.visits);
    for term in &plan.terms {
        for field in plan.fields.iter().filter(|field| field.weight > 0.0 && term.reads(field.field)) {
            let weight = if term.is_code { weights.body } else { field.weight };
            index.visit(field.field, term.text, &mut |document, frequency, length| {
                board.count(document, weight * field.worth(frequency, length));
            });
        }
        board.settle(term.idf, weights.saturation);
    }
    let lines = Lines::new(index, query, weights);
    for document in lines.writers.keys() {
        board.touch(*document);
    }
    Ranking { hits: best(index, &plan, &board, &lines, weights, allowed, limit), visits: plan.visits }
}

/// What the query costs and is worth, before any document is looked at.
struct Plan<'a> {
    terms: Vec<PlannedTerm<'a>>,
    fields: [FieldPlan; 4],
    /// Sum of the idf of all query terms, unknown ones included.
    mass: f32,
    /// ln(documents): the unit of scores.
    unit: f32,
    visits: u32,
}

struct PlannedTerm<'a> {
    text: &'a str,
    idf: f32,
    /// Postings in request, body and paths, 0 when left out.
    content: u32,
    /// Postings in written lines, 0 when left out.
    written: u32,
    /// Whether only written lines hold the term: for such a term they are the body.
    is_code: bool,
}

impl PlannedTerm<'_> {
    fn reads(&self, field: Field) -> bool {
        if field == Field::Written { self.written > 0 } else { self.content > 0 }
    }
}

struct FieldPlan {
    field: Field,
    weight: f32,
    /// `1 - b`, and `b` over the mean length.
    base: f32,
    slope: f32,
}

impl FieldPlan {
    fn worth(&self, frequency: u32, length: u32) -> f32 {
        frequency as f32 / (self.base + self.slope * length as f32)
    }
}

impl<'a> Plan<'a> {
    fn new(index: &dyn Postings, query: &'a Query, weights: &Weights) -> Plan<'a> {
        let fields = Field::ALL.map(|field| {
            let b = weights.length_of(field);
            let weight = weights.field(field, query.form);
            FieldPlan { field, weight, base: 1.0 - b, slope: b / index.mean_length(field).max(1.0) }
        });
        let documents = index.documents() as f32 + BACKGROUND;
        let mut mass = 0.0;
        let mut terms = Vec::with_capacity(query.terms.len());
        for term in &query.terms {
            let (mut most, mut content, mut written) = (0, 0, 0);
            for field in fields.iter().filter(|field| field.weight > 0.0) {
                let frequency = index.document_frequency(field.field, &term.text);
                most = most.max(frequency);
                *if field.field == Field::Written { &mut written } else { &mut content } += frequency;
            }
            let rarity = (1.0 + (documents - most as f32 + 0.5) / (most as f32 + 0.5)).ln();
            let idf = rarity * term.weight;
            mass += idf;
            terms.push(PlannedTerm { text: &term.text, idf, content, written, is_code: content == 0 });
        }
        let known = |term: &PlannedTerm<'_>| term.content + term.written > 0;
        let held: f32 = terms.iter().filter(|term| known(term)).map(|term| term.idf).sum();
        let visits = within_budget(&mut terms);
        let read: f32 = terms.iter().filter(|term| known(term)).map(|term| term.idf).sum();
        // A term that was left out for its cost is no sign that a document is about something else.
        Plan { terms, fields, mass: mass - (held - read), unit: documents.ln(), visits }
    }
}

/// Leaves out what would exceed the budget and gives what remains, in postings. Content comes before written
/// lines, which are long and weigh little, and rare terms before frequent ones, which tell little.
fn within_budget(terms: &mut Vec<PlannedTerm<'_>>) -> u32 {
    let mut visits = 0_u32;
    let mut take = |postings: &mut u32| {
        let sum = visits.saturating_add(*postings);
        if visits == 0 || sum <= MAX_VISITS {
            visits = sum;
        } else {
            *postings = 0;
        }
    };
    terms.sort_by(|a, b| a.content.cmp(&b.content).then_with(|| a.text.cmp(b.text)));
    terms.iter_mut().for_each(|term| take(&mut term.content));
    terms.sort_by(|a, b| a.written.cmp(&b.written).then_with(|| a.text.cmp(b.text)));
    terms.iter_mut().for_each(|term| take(&mut term.written));
    visits
}

/// Score so far of one document.
#[derive(Clone, Copy, Default)]
struct Entry {
    document: u32,
    text: f32,
    /// Sum of the idf of the terms it holds.
    covered: f32,
    /// Weighted frequency of the term that is being counted.
    pending: f32,
}

/// Scores so far. A look-up by document would be simplest as a table over all documents, but a process that lives for a
/// millisecond pays for every page that it touches: this table grows with what was found instead.
struct Board {
    /// Open addressing by document: position of its entry plus one, 0 for a free slot. A power of two, at most half full.
    slots: Vec<u32>,
    entries: Vec<Entry>,
    /// Positions with something pending.
    pending: Vec<u32>,
}

/// Slots of a new board.
const SLOTS: usize = 1 << 12;

impl Board {
    /// A board for at most about `visits` documents; memory is reserved, not touched.
    fn new(visits: u32) -> Board {
        Board { slots: vec![0; SLOTS], entries: Vec::with_capacity(visits as usize + 64), pending: Vec::new() }
    }

    /// Position of the document's entry, made now when there is none.
    fn touch(&mut self, document: u32) -> usize {
        if self.entries.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let slot = self.slot_of(document);
        match self.slots.get_mut(slot) {
            Some(place) if *place > 0 => *place as usize - 1,
            Some(place) => {
                self.entries.push(Entry { document, ..Entry::default() });
                *place = self.entries.len() as u32;
                self.entries.len() - 1
            }
            None => usize::MAX,
        }
    }

    /// The document's slot, or the free one where it belongs.
    fn slot_of(&self, document: u32) -> usize {
        let mask = self.slots.len() - 1;
        // Fibonacci hashing: neighbouring numbers land far apart.
        let mut slot = (document.wrapping_mul(0x9e37_79b9) >> 8) as usize & mask;
        while let Some(place) = self.slots.get(slot).filter(|place| **place > 0) {
            if self.entries.get(*place as usize - 1).is_some_and(|entry| entry.document == document) {
                break;
            }
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        self.slots = vec![0; self.slots.len() * 4];
        for at in 0..self.entries.len() {
            let Some(document) = self.entries.get(at).map(|entry| entry.document) else { break };
            let slot = self.slot_of(document);
            if let Some(place) = self.slots.get_mut(slot) {
                *place = at as u32 + 1;
            }
        }
    }

    fn count(&mut self, document: u32, worth: f32) {
        let at = self.touch(document);
        if let Some(entry) = self.entries.get_mut(at) {
            if entry.pending == 0.0 {
                self.pending.push(at as u32);
            }
            entry.pending += worth;
        }
    }

    /// Turns the pending frequencies of one term into score.
    fn settle(&mut self, idf: f32, saturation: f32) {
        for at in self.pending.drain(..) {
            if let Some(entry) = self.entries.get_mut(at as usize) {
                entry.text += idf * entry.pending * (saturation + 1.0) / (saturation + entry.pending);
                entry.covered += idf;
                entry.pending = 0.0;
            }
        }
    }
}

/// Who wrote the query's lines.
struct Lines {
    /// Document to (share of the known lines, score).
    writers: HashMap<u32, (f32, f32)>,
}

impl Lines {
    fn new(index: &dyn Postings, query: &Query, weights: &Weights) -> Lines {
        let mut writers = HashMap::new();
        if weights.line <= 0.0 || query.lines.is_empty() {
            return Lines { writers };
        }
        let mut known = 0.0;
        for writer in query.lines.iter().filter_map(|line| index.newest_writer(*line)) {
            known += 1.0;
            writers.entry(writer).or_insert((0.0, 0.0)).0 += 1.0;
        }
        let mut here = Vec::new();
        if known > 0.0 {
            for path in &query.paths {
                index.visit(Field::Paths, path, &mut |document, _, _| here.push(document));
            }
        }
        for (document, (share, score)) in &mut writers {
            *share /= known;
            let factor = if query.paths.is_empty() || here.contains(document) { 1.0 } else { weights.elsewhere };
            *score = factor * weights.line_score(*share);
        }
        Lines { writers }
    }
}

fn best(
    index: &dyn Postings,
    plan: &Plan<'_>,
    board: &Board,
    lines: &Lines,
    weights: &Weights,
    allowed: &dyn Fn(u32) -> bool,
    limit: usize,
) -> Vec<Hit> {
    let mut hits: Vec<(Hit, i64)> = Vec::with_capacity(limit + 1);
    for entry in &board.entries {
        let (line_share, line) = lines.writers.get(&entry.document).copied().unwrap_or((0.0, 0.0));
        let text = entry.text / plan.unit;
        // No factor exceeds 1, so most documents are dismissed before anything more is read about them.
        if hits.len() == limit && hits.last().is_some_and(|(worst, _)| text + line < worst.score) {
            continue;
        }
        let Some(facts) = index.facts(entry.document) else { continue };
        if !allowed(facts.segment) {
            continue;
        }
        let coverage = if plan.mass > 0.0 { entry.covered / plan.mass } else { 0.0 };
        let factor = weights.concept(facts.concept);
        let hit = Hit {
            document: entry.document,
            segment: facts.segment,
            score: (text + line) * factor,
            confidence: super::gate::confidence(text, coverage, plan.mass / plan.unit, line) * factor,
            line_share,
            coverage,
        };
        let key = |hit: &Hit, at: i64| (hit.score, at, hit.document);
        let place = hits.partition_point(|(other, at)| key(other, *at) > key(&hit, facts.timestamp_ms));
        hits.insert(place, (hit, facts.timestamp_ms));
        hits.truncate(limit);
    }
    hits.into_iter().map(|(hit, _)| hit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::SourceDocument;
    use crate::fingerprint::{fingerprints_of, written_tokens};
    use crate::query::QueryContext;
    use crate::rank::memory::tests::{index, memory};
    use serde_json::{Value, json};

    fn wrote(mut document: SourceDocument, code: &str, path: &str) -> SourceDocument {
        document.evidence.fingerprints = fingerprints_of(code);
        document.evidence.tokens = written_tokens(code.lines());
        document.links = vec![path.to_owned()];
        document
    }

    fn pre_tool(tool: &str, input: Value) -> Query {
        let payload = json!({"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input});
        Query::from_value(&payload, &QueryContext::default()).unwrap_or_else(|| Query::from_text(""))
    }

    fn ranked(documents: &[SourceDocument], query: &Query) -> Vec<String> {
        let index = index(documents);
        let ranking = rank(&index, query, &Weights::default(), &|_| true, 10);
        ranking.hits.iter().map(|hit| index.doc_id(hit.document).to_owned()).collect()
    }

    #[test]
    fn record_that_last_wrote_the_edited_lines_comes_first() {
        let code = "let mut total = 0;\nfor item in items {\n    total += item.price;\n}\n";
        let documents = [
            wrote(memory("first", "s1", "Sum the prices of a cart", 1), code, "src/cart.rs"),
            wrote(memory("last", "s2", "Reindent", 2), &code.replace("    ", "  "), "src/cart.rs"),
            memory("words", "s3", "total price of items in src/cart.rs: let mut total", 3),
        ];
        let input = json!({"file_path": "src/cart.rs", "old_string": code, "new_string": "items.total()"});
        assert_eq!(ranked(&documents, &pre_tool("Edit", input))[0], "last");
    }

    #[test]
    fn writer_elsewhere_counts_less_than_the_writer_of_the_file() {
        let documents = [
            wrote(memory("here", "s1", "Add a", 1), "use crate::settings::Settings;", "src/a.rs"),
            wrote(memory("there", "s2", "Add b", 2), "use std::collections::BTreeMap;", "src/b.rs"),
        ];
        let old = "use crate::settings::Settings;\nuse std::collections::BTreeMap;\n";
        let input = json!({"file_path": "src/a.rs", "old_string": old, "new_string": ""});
        assert_eq!(ranked(&documents, &pre_tool("Edit", input)), ["here", "there"]);
    }

    #[test]
    fn field_report_38_record_of_a_file_waits_for_the_call_that_touches_it() {
        let mut documents: Vec<SourceDocument> = (0..40)
            .map(|n| {
                wrote(memory(&format!("u{n}"), &format!("s{n}"), "Tidy the module", n), "", &format!("src/m{n}.rs"))
            })
            .collect();
        documents.push(wrote(memory("x", "sx", "Keep retries of the uploader below five", 50), "", "src/uploader.rs"));
        let index = index(&documents);
        let gate = crate::rank::Gate::default();
        let chosen = |query: &Query| {
            let hits = rank(&index, query, &Weights::default(), &|_| true, 10).hits;
            gate.select(&index, &hits).iter().map(|hit| index.doc_id(hit.document).to_owned()).collect::<Vec<_>>()
        };
        let prompt = "in src/page.rs draw a spinner below the form while the browser waits and keep its colour";
        assert!(chosen(&Query::from_text(prompt)).is_empty());
        let input = json!({"file_path": "src/uploader.rs", "old_string": "a", "new_string": "b"});
        assert_eq!(chosen(&pre_tool("Edit", input)), ["x"]);
    }

    #[test]
    fn grepped_identifier_finds_the_record_whose_code_holds_it() {
        let documents = [
            memory("words", "s1", "Write the spec of the file format", 2),
            wrote(memory("code", "s2", "Printer works", 1), "fn write_spec(&self) {}", "src/printer.rs"),
        ];
        let query = pre_tool("Grep", json!({"pattern": "fn\\s+write_spec", "path": "src"}));
        assert_eq!(ranked(&documents, &query)[0], "code");
    }

    #[test]
    fn equal_scores_are_ordered_newest_first() {
        let documents = [memory("old", "s1", "flaky test", 1), memory("new", "s2", "flaky test", 2)];
        assert_eq!(ranked(&documents, &Query::from_text("flaky test")), ["new", "old"]);
    }

    #[test]
    fn only_allowed_segments_are_given() {
        let documents = [memory("a", "s1", "flaky test", 1), memory("b", "s2", "flaky test", 2)];
        let index = index(&documents);
        let query = Query::from_text("flaky test");
        let ranking = rank(&index, &query, &Weights::default(), &|segment| segment == 0, 10);
        assert_eq!(ranking.hits.iter().map(|hit| hit.document).collect::<Vec<_>>(), [0]);
    }

    #[test]
    fn visits_stay_within_their_bound_and_rare_terms_are_not_lost() {
        let mut documents: Vec<SourceDocument> =
            (0..30_000).map(|n| memory(&format!("d{n}"), &format!("s{}", n % 100), "common words here", n)).collect();
        documents.push(memory("rare", "r", "zeppelin with common words", 30_000));
        let index = index(&documents);
        let query = Query::from_text("common words zeppelin");
        let ranking = rank(&index, &query, &Weights::default(), &|_| true, 3);
        assert!(ranking.visits <= MAX_VISITS, "{}", ranking.visits);
        assert_eq!(ranking.hits.first().map(|hit| index.doc_id(hit.document)), Some("rare"));
    }

    #[test]
    fn empty_query_and_empty_index_give_nothing() {
        assert!(ranked(&[], &Query::from_text("words")).is_empty());
        assert!(ranked(&[memory("a", "s", "words", 1)], &Query::from_text("")).is_empty());
    }
}
