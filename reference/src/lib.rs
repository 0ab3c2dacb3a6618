//! A persistent memory layer for Claude Code, made of hooks.
//!
//! Words used here: the *host* is Claude Code; a *record* (a [`document::SourceDocument`]) is one stored memory; a
//! *segment* is all records of one session; a *profile* is a segment's term statistics; a *route* is a chosen segment
//! with its score and reason; a *strategy* says how routes are scored; the *journal* is the append-only truth; a
//! *fold* moves journal records into the index; the *revision status* says how the commit of a record relates to the
//! present one.
//!
//! The way of one hook call is one function, [`hook::answer`]:
//!
//! ```text
//! stdin → decode → project → match event
//!   recall : query → route → search → revision status → pack to budget → encode → stdout   (recall)
//!   capture: gather → extract → redact → record → append to journal → maybe fold           (remember)
//!   other  : nothing
//! ```
//!
//! The store itself is host-neutral and can be used on its own: see [`store::IndexStore`].

pub mod analyze;
pub mod brief;
pub mod call;
pub mod capture;
pub mod cmd;
pub mod config;
pub mod corpus;
pub mod deadline;
pub mod document;
pub mod excerpt;
pub mod fingerprint;
pub mod frame;
pub mod hook;
pub mod log;
pub mod noise;
pub mod pack;
pub mod project;
pub mod query;
pub mod rank;
pub mod recall;
pub mod redact;
pub mod remember;
pub mod revision;
pub mod route;
pub mod session;
pub mod store;
pub mod timings;
pub mod transcript;
pub mod watchdog;
