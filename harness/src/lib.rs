//! Replays recorded sequences of hook payloads against any hook command, as Claude Code would, and judges the answers.
//!
//! Words used here: the *host* is Claude Code, a *hook* a command that it runs on an *event*, giving it a *payload*. A
//! *step* is one payload delivered to one hook; a *scenario* is a sequence of steps with a sandbox, goldens and
//! expectations. An [`Observation`](observation::Observation) is what one call did, unjudged; *delivered* is the text
//! that would reach the model after the host's rules; the *floor* is a no-op child measured in the same round; a
//! *gate* gives a *verdict*: pass, fail, inconclusive or skipped.
//!
//! The way of a run is one function, [`replay::replay`]; it emits [`run_event::RunEvent`]s, and every report is made
//! from those, live or saved.

pub mod baseline;
pub mod bench;
pub mod caller;
pub mod cli;
pub mod cmd;
pub mod compare;
pub mod corpus;
pub mod delivered;
pub mod doctor;
pub mod eval;
pub mod exit_code;
pub mod failure;
pub mod gate;
pub mod golden;
pub mod hook;
pub mod instructions;
pub mod interrupt;
pub mod judge;
pub mod latency;
pub mod machine;
pub mod merge;
pub mod observation;
pub mod pace;
pub mod play;
pub mod problem;
pub mod process;
pub mod progress;
pub mod quality;
pub mod record;
pub mod recording;
pub mod replay;
pub mod report;
pub mod resume;
pub mod revision;
pub mod run_event;
pub mod sandbox;
pub mod scenario;
pub mod selection;
pub mod shard;
pub mod summary;
pub mod target;
pub mod versioned;
