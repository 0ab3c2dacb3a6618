//! Reports of a run: each a pure function from its summary to text.
//!
//! Nothing here looks at a clock, a terminal or a file, so a saved run that is read back gives the same bytes.
//! Pass, fail and inconclusive are words in every report; colour is never the only difference.

mod closing;
pub mod comparison;
mod figure;
pub mod json;
pub mod junit;
pub mod markdown;
mod rows;
pub mod terminal;

#[cfg(test)]
mod tests;
