//! What the host writes before a hook's text.
//!
//! The same in both recorded clients. A tool event names its tool everywhere; a session start names its source only
//! before plain stdout.

use crate::delivery::Call;
use crate::event::Event;

/// Before the reason of a blocked stop; sub-agents get the same words.
pub(crate) const STOP_FEEDBACK: &str = "Stop hook feedback:";

/// Before `additionalContext`.
pub(crate) fn context(call: &Call<'_>) -> String {
    format!("{} hook additional context:", tool_event(call))
}

/// Before plain stdout that is context. After a switch of models it stands under the label of contexts.
pub(crate) fn success(call: &Call<'_>) -> String {
    match (call.event, call.subject) {
        (Event::PostModelSwitch, _) => context(call),
        (Event::SessionStart, Some(source)) => format!("SessionStart:{source} hook success:"),
        _ => format!("{} hook success:", call.event),
    }
}

/// Before the error that takes the place of a result.
pub(crate) fn error(call: &Call<'_>) -> String {
    format!("{} hook error:", tool_event(call))
}

/// Before a text against a call that already ran.
pub(crate) fn blocking_error(call: &Call<'_>) -> String {
    format!("{} hook blocking error from command: \"{}\":", tool_event(call), call.command)
}

/// Before a text that makes a task or teammate go on. From the documentation and the wording for stops, not observed.
pub(crate) fn feedback(call: &Call<'_>) -> String {
    format!("{} hook feedback:", call.event)
}

/// Before a hook's line in the output of `/compact`.
pub(crate) fn compact_line(call: &Call<'_>, success: bool) -> String {
    let how = if success { "completed successfully" } else { "failed" };
    format!("{} [{}] {how}:", call.event, call.command)
}

fn tool_event(call: &Call<'_>) -> String {
    match (call.event, call.subject) {
        (Event::PreToolUse | Event::PostToolUse | Event::PostToolUseFailure, Some(tool)) => {
            format!("{}:{tool}", call.event)
        }
        _ => call.event.name().to_owned(),
    }
}
