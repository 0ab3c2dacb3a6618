//! The few numbers of the scoring formula.
//!
//! They were chosen by hand from round values and checked over the thirteen repositories of the two open
//! collections. Tuning them on some repositories and testing on the others gained nothing, so they are not
//! settings: a store should not be tuned to one project.

use crate::document::Concept;
use crate::query::Form;
use crate::store::postings::Field;

/// Weights of the score; [`Weights::default`] is what recall uses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// Weight of a term in the request.
    pub request: f32,
    /// Weight of a term in the rest of the content.
    pub body: f32,
    /// Weight of a term in the affected paths: they are short and say exactly where.
    pub paths: f32,
    /// Weight of a term in the written lines, for queries in prose and for reads, which only name a path.
    pub written: f32,
    /// The same for other tool calls, whose terms are code themselves.
    pub written_for_tools: f32,
    /// BM25's `b`, how much length counts, in request, body and paths.
    pub length: f32,
    /// BM25's `b` in the written lines.
    pub written_length: f32,
    /// BM25's `k1`: where repeats of a term stop to count.
    pub saturation: f32,
    /// Score of the record that wrote all lines in question, in units of ln(documents).
    pub line: f32,
    /// Share of lines that gives a third of it when 1 gives all; see [`Weights::line_score`].
    pub line_half: f32,
    /// Factor on that score when the writer's affected paths do not hold the path in question.
    pub elsewhere: f32,
    /// Factor on a session summary: it repeats what its session's records say.
    pub summary: f32,
}

impl Default for Weights {
    fn default() -> Weights {
        Weights {
            request: 1.0,
            body: 1.0,
            paths: 2.0,
            written: 0.2,
            written_for_tools: 0.8,
            length: 0.6,
            written_length: 0.3,
            saturation: 1.2,
            line: 6.0,
            line_half: 0.5,
            elsewhere: 0.5,
            summary: 0.92,
        }
    }
}

impl Weights {
    /// The default without written evidence: no written tokens, no lines.
    pub fn without_evidence() -> Weights {
        Weights { written: 0.0, written_for_tools: 0.0, line: 0.0, ..Weights::default() }
    }

    /// Weight of a term in the field, for a query of this form.
    pub fn field(&self, field: Field, form: Form) -> f32 {
        match (field, form) {
            (Field::Request, _) => self.request,
            (Field::Body, _) => self.body,
            (Field::Paths, _) => self.paths,
            (Field::Written, Form::Prompt | Form::Subagent | Form::Read) => self.written,
            (Field::Written, _) => self.written_for_tools,
        }
    }

    /// BM25's `b` of the field.
    pub fn length_of(&self, field: Field) -> f32 {
        if field == Field::Written { self.written_length } else { self.length }
    }

    /// Factor of the kind of memory, at most 1.
    pub fn concept(&self, concept: Concept) -> f32 {
        if concept == Concept::SessionSummary { self.summary } else { 1.0 }
    }

    /// Score of a record that is the newest writer of `share` (0 to 1) of the known lines: rises fast, then
    /// flattens, so that several authors of one passage stay close together.
    pub fn line_score(&self, share: f32) -> f32 {
        self.line * share * (1.0 + self.line_half) / (share + self.line_half)
    }
}
