//! One file a command.

pub mod bench;
pub mod compare;
pub mod completions;
pub mod corpus;
pub mod doctor;
pub mod eval;
pub mod gate;
mod gates;
pub mod golden;
pub mod man;
pub mod merge;
mod part;
mod plan;
pub mod report;
pub mod review;
pub mod run;
mod saved_run;
pub mod schema;
