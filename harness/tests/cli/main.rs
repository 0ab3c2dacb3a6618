//! The built `hookbench` as a user runs it: arguments in; exit code, both streams and files out.
//!
//! Every test works in a folder of its own, with scenarios that it writes there.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a failed unwrap is a failed test")]

mod bad_input;
mod bench;
mod compare;
mod exit_codes;
mod findings;
mod goldens;
mod interrupt;
mod plan;
mod reports;
mod resume;
mod shards;
