//! The events of the host, by name.
//!
//! Guarantees one variant for each of the 34 events of client 2.1.332, in the order in which the documentation
//! lists them. What an event means (matcher, exit code 2, timeout …) is data and lives in [`EventFacts`]; an event
//! name that is not listed here is kept as text by [`crate::Payload`].

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::facts::{self, EventFacts};

macro_rules! events {
    ($($name:ident)*) => {
        /// One of the 34 events for which the host runs hooks.
        ///
        /// ```
        /// use hook_contract::Event;
        /// assert_eq!(Event::parse("PreToolUse"), Some(Event::PreToolUse));
        /// assert_eq!(Event::parse("preToolUse"), None, "names are case-sensitive");
        /// assert_eq!(Event::ALL.len(), 34);
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Event { $(#[allow(missing_docs)] $name,)* }

        impl Event {
            /// Every event, in the order of declaration.
            pub const ALL: &'static [Event] = &[$(Event::$name,)*];

            /// The name as it stands in `hook_event_name` and in a settings file.
            pub const fn name(self) -> &'static str {
                match self { $(Event::$name => stringify!($name),)* }
            }

            /// The event with exactly this name.
            pub fn parse(name: &str) -> Option<Event> {
                match name { $(stringify!($name) => Some(Event::$name),)* _ => None }
            }
        }
    };
}

events! {
    SessionStart Setup UserPromptSubmit UserPromptExpansion PreToolUse PermissionRequest PermissionDenied PostToolUse
    PostToolUseFailure PostToolBatch Notification MessageDisplay SubagentStart SubagentStop TaskCreated TaskCompleted
    Stop StopFailure TeammateIdle InstructionsLoaded ConfigChange CwdChanged DirectoryAdded FileChanged WorktreeCreate
    WorktreeRemove PreCompact PostCompact PreModelSwitch PostModelSwitch Elicitation ElicitationResult
    PreSkillShellCommand SessionEnd
}

impl Event {
    /// The contract's facts about this event.
    pub fn facts(self) -> &'static EventFacts {
        facts::of(self)
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_parses_back() {
        for &event in Event::ALL {
            assert_eq!(Event::parse(event.name()), Some(event));
            assert_eq!(event.facts().event, event);
        }
        assert_eq!(Event::ALL.len(), 34);
    }
}
