//! One file a command.

pub mod corpus;
pub mod eval;
pub mod gate;
pub mod golden;
pub mod report;
pub mod run;
pub mod schema;
