//! The built `hookbench` as a user runs it: arguments in; exit code, both streams and files out.
//!
//! Every test works in a folder of its own, with scenarios that it writes there.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a failed unwrap is a failed test")]

mod action;
mod bad_input;
mod bench;
mod compare;
mod comparison;
mod completions;
mod doctor;
mod exit_codes;
mod expression;
mod findings;
mod gate_controls;
mod gates;
mod goldens;
mod instructions;
mod interrupt;
mod pace;
mod plan;
mod reports;
mod resume;
mod review;
mod revisions;
mod runner;
mod shards;
mod targets;
