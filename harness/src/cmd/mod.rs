//! One file a command.

pub mod bench;
pub mod doctor;
mod gates;
pub mod golden;
mod plan;
pub mod report;
pub mod run;
mod saved_run;
pub mod schema;
