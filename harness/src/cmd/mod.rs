//! One file a command.

pub mod completions;
pub mod golden;
pub mod man;
pub mod report;
pub mod review;
pub mod run;
pub mod schema;
