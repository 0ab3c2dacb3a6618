//! One file a command.

pub mod compare;
mod gates;
pub mod golden;
pub mod merge;
mod part;
pub mod report;
pub mod run;
pub mod schema;
