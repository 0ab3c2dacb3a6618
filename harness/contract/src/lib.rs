//! Claude Code's hook contract as data and types.
//!
//! A *host* (Claude Code) runs *hooks* (commands) on *events*: it writes one JSON *payload* to the hook's stdin and
//! reads the answer from stdout, stderr and the exit code. This crate knows both sides of that exchange:
//!
//! - for a hook: [`decode()`] reads any payload without ever failing on its fields, [`ToolInput`] and [`ToolResponse`]
//!   look into tool calls, [`Output`] writes an answer;
//! - for a program that plays the host: [`HookSettings`] and [`Matcher`] tell which hooks run, [`environment()`] what
//!   variables they get, [`deliver()`] and [`render()`] what becomes of their answers;
//! - for both: [`Event`] and [`EventFacts`], the contract as a table, and [`HostProfile`], what differs between
//!   releases.
//!
//! It does no I/O, starts nothing and keeps no state. Where documentation, types and the observed client disagree, the
//! client wins; the items concerned say so.
//!
//! ```
//! use hook_contract::{Body, Event, Output, decode};
//!
//! let payload = decode(br#"{"session_id": "s", "transcript_path": "/t", "cwd": "/p",
//!     "hook_event_name": "UserPromptSubmit", "prompt": "fix the parser"}"#)?;
//! let Body::UserPromptSubmit(body) = &payload.body else { unreachable!() };
//! assert_eq!(body.prompt.as_deref(), Some("fix the parser"));
//! let answer = Output::additional_context(Event::UserPromptSubmit, "the parser is in src/parse.rs");
//! assert!(answer.to_json().starts_with(r#"{"hookSpecificOutput":"#));
//! # Ok::<(), hook_contract::DecodeError>(())
//! ```

mod answer;
mod body;
pub mod cap;
mod deliver;
mod delivery;
mod environment;
mod event;
mod facts;
mod field;
mod json;
mod label;
mod matcher;
mod output;
mod payload;
mod profile;
mod render;
mod settings;
mod tool;

pub use body::*;
pub use deliver::deliver;
pub use delivery::{
    Call, Decision, Delivery, Effect, Exit, ModelText, OutputProblem, ProblemKind, TextKind, UserText, UserTextKind,
};
pub use environment::{HostSession, environment, expand_command, folder_name};
pub use event::Event;
pub use facts::{EventFacts, Exit2, Handlers, Member, MemberKind, PlainStdout, Subject};
pub use field::{FieldFact, Need, Problem};
pub use matcher::{Matcher, subject};
pub use output::{Output, Specific, TopDecision};
pub use payload::{Common, DecodeError, Payload, decode};
pub use profile::{BrokenJson, HostProfile, Version};
pub use render::{MessageForm, Part, Place, render, render_overridden, shares_label};
pub use settings::{Group, Handler, HandlerKind, HookSettings};
pub use tool::{Hunk, Patch, ToolInput, ToolResponse, mcp_name};

/// Runs the examples of the README as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
