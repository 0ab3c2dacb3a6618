//! Reports of a run: each a pure function from its summary to text.
//!
//! Nothing here looks at a clock, a terminal or a file, so a saved run that is read back gives the same bytes; only
//! the annotations ask where a mistake stands, from texts that the caller has read.
//! Pass, fail and inconclusive are words in every report; colour is never the only difference.

pub mod action_benchmark;
pub mod annotations;
pub mod bmf;
mod closing;
pub mod comparison;
pub mod doctor;
mod figure;
pub mod html;
pub mod json;
pub mod junit;
pub mod markdown;
mod measured;
mod paired;
pub mod parquet;
mod rows;
pub mod terminal;
pub mod trec;

#[cfg(test)]
mod tests;
