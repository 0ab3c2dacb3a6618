//! Whether to say anything, and what: from hits to the few records worth the reader's attention.
//!
//! A hit's *confidence* is its text score times the share of the query that it accounts for, plus its score for
//! written lines. The score alone favours long queries, which always match something; the share alone favours
//! short ones. Both are free of scale (the score is in units of ln(documents)), so one threshold holds for a
//! thousand records and for a hundred thousand. In a query of more than [`LONG_QUERY`] the share is counted
//! against that much only: a page of prose with one clear subject is not refused for its length.

use crate::rank::score::Hit;
use crate::store::postings::Postings;

/// Idf mass from which on a query is long, in units of ln(documents): about a dozen unique terms.
pub const LONG_QUERY: f32 = 12.0;

/// When and how much to inject.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gate {
    /// Confidence that the best hit needs.
    pub threshold: f32,
    /// Share of the best hit's score that further hits need.
    pub cut: f32,
    /// Records at most.
    pub items: usize,
    /// Share of its session's best score from which on a higher kind of record is preferred; below the weight of a
    /// summary, so that a summary that says the same is taken.
    pub preference: f32,
}

impl Default for Gate {
    fn default() -> Gate {
        Gate { threshold: 1.45, cut: 0.8, items: 3, preference: 0.85 }
    }
}

/// Confidence of a document. `mass` is the query's idf mass; all arguments but `coverage` (0 to 1) are in units
/// of ln(documents).
pub(super) fn confidence(text: f32, coverage: f32, mass: f32, line: f32) -> f32 {
    let share = coverage * (mass / LONG_QUERY).max(1.0);
    text * share.min(1.0) + line
}

impl Gate {
    /// The hits to inject, best first, one a session; none when nothing is relevant enough.
    pub fn select(&self, index: &dyn Postings, hits: &[Hit]) -> Vec<Hit> {
        let mut chosen: Vec<Hit> = Vec::new();
        let Some(best) = hits.first().filter(|best| best.confidence >= self.threshold) else { return chosen };
        for hit in hits {
            let is_relevant = hit.confidence >= self.threshold && hit.score >= self.cut * best.score;
            let is_new = chosen.iter().all(|other| other.segment != hit.segment);
            if is_relevant && is_new && chosen.len() < self.items {
                chosen.push(self.preferred(index, hits, hit));
            }
        }
        chosen
    }

    /// The record of the hit's session that stands for it: the highest kind among those that score about as well.
    fn preferred(&self, index: &dyn Postings, hits: &[Hit], best: &Hit) -> Hit {
        let kind = |hit: &Hit| index.facts(hit.document).map(|facts| facts.concept);
        let close = |hit: &&Hit| hit.segment == best.segment && hit.score >= self.preference * best.score;
        let mut chosen = best;
        for hit in hits.iter().filter(close) {
            if kind(hit) > kind(chosen) {
                chosen = hit;
            }
        }
        *chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Concept, SourceDocument};
    use crate::query::Query;
    use crate::rank::memory::tests::{index, memory};
    use crate::rank::{Weights, rank};

    fn injected(documents: &[SourceDocument], prompt: &str) -> Vec<String> {
        let index = index(documents);
        let ranking = rank(&index, &Query::from_text(prompt), &Weights::default(), &|_| true, 20);
        let chosen = Gate::default().select(&index, &ranking.hits);
        chosen.iter().map(|hit| index.doc_id(hit.document).to_owned()).collect()
    }

    fn unrelated(count: usize) -> Vec<SourceDocument> {
        let words = ["render", "cache", "socket", "theme", "invoice", "queue", "tooltip", "quota", "editor", "avatar"];
        (0..count)
            .map(|n| {
                let (a, b) = (words[n % 10], words[(n / 10 + n + 1) % 10]);
                memory(&format!("u{n}"), &format!("s{n}"), &format!("Important: change the {a} of the {b}"), n as i64)
            })
            .collect()
    }

    #[test]
    fn field_report_37_one_on_topic_of_fifty_comes_alone_and_no_topic_gives_nothing() {
        let mut documents = unrelated(50);
        documents.push(memory("hit", "h", "Rotate the signing keys of the webhook sender", 99));
        assert_eq!(injected(&documents, "the webhook sender rejects our signing keys"), ["hit"]);
        assert!(injected(&documents, "what is the capital of Norway").is_empty());
        assert!(injected(&documents, "please go on and make it nice").is_empty());
    }

    #[test]
    fn one_record_a_session_and_the_summary_before_its_outcomes() {
        let text = "Move the scheduler to a priority queue";
        let mut documents = unrelated(50);
        documents.push(memory("outcome", "h", text, 100));
        let mut summary = memory("summary", "h", text, 101);
        summary.concept = Concept::SessionSummary;
        documents.push(summary);
        let prompt = "why does the scheduler need a priority queue";
        assert_eq!(injected(&documents, prompt), ["summary"]);
        // Clearly better is the outcome when the summary holds only half of the matter.
        let last = documents.len() - 1;
        documents[last].content = "## Request\nMove the scheduler and do many things to the build\n".to_owned();
        assert_eq!(injected(&documents, prompt), ["outcome"]);
    }

    #[test]
    fn only_record_of_a_new_project_is_found_and_not_by_a_word_in_common() {
        let documents = [memory("only", "s", "Rotate the signing keys of the webhook sender", 1)];
        assert_eq!(injected(&documents, "the webhook sender rejects our signing keys"), ["only"]);
        assert!(injected(&documents, "which keys on my keyboard open the settings panel").is_empty());
    }

    #[test]
    fn nothing_is_chosen_from_nothing() {
        assert!(injected(&[], "anything at all").is_empty());
        assert!(Gate::default().select(&index(&[]), &[]).is_empty());
    }
}
