//! A query as the strategies see it: distinct terms that the index knows, each with its rarity.

use std::collections::HashSet;

use crate::route::RoutingIndex;

/// One term of the query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Term<'a> {
    /// The term.
    pub text: &'a str,
    /// Segments whose profile has it; at least 1.
    pub frequency: u32,
    /// [`inverse_frequency`] of it.
    pub rarity: f32,
}

/// Q of the formulas: the query's distinct terms, in order of appearance, without those that no profile has. A word
/// that nobody ever used cannot tell segments apart, so it counts neither in |Q| nor in the sum of idf.
#[derive(Debug, Clone, PartialEq)]
pub struct Question<'a> {
    /// The terms.
    pub terms: Vec<Term<'a>>,
    /// Sum of their rarities.
    pub mass: f32,
}

impl<'a> Question<'a> {
    /// Looks the terms up.
    pub fn new(terms: &'a [String], index: &dyn RoutingIndex) -> Question<'a> {
        let segments = index.segments();
        let known = distinct(terms).filter_map(|text| {
            let frequency = index.segment_frequency(text);
            (frequency > 0).then(|| Term { text, frequency, rarity: inverse_frequency(segments, frequency) })
        });
        let terms: Vec<Term<'_>> = known.collect();
        let mass = terms.iter().map(|term| term.rarity).sum();
        Question { terms, mass }
    }

    /// |Q|.
    pub fn size(&self) -> f32 {
        self.terms.len() as f32
    }
}

/// Each term once, in order of appearance.
pub fn distinct(terms: &[String]) -> impl Iterator<Item = &str> {
    let mut seen = HashSet::new();
    terms.iter().map(String::as_str).filter(move |term| seen.insert(*term))
}

/// Inverse segment frequency of a term: `ln((S + 1) / (df + 1)) + 1`.
pub fn inverse_frequency(segments: u32, frequency: u32) -> f32 {
    (((f64::from(segments) + 1.0) / (f64::from(frequency) + 1.0)).ln() + 1.0) as f32
}
