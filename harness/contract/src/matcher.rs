//! Which hooks an event selects: the grammar of matchers.
//!
//! Guarantees the host's choice between a list of exact names and a JavaScript regular expression, which looks only at
//! the characters of the matcher. A pattern that does not compile matches nothing, as in the host; say so to the user
//! through [`Matcher::is_broken`]. Events without a matcher field ignore theirs.

use crate::event::Event;
use crate::facts::Subject;
use crate::profile::HostProfile;

/// A compiled matcher.
///
/// ```
/// use hook_contract::{Event, HostProfile, Matcher};
/// let host = HostProfile::newest();
/// assert!(Matcher::new(Event::PreToolUse, Some("Read | Bash")).matches(host, Some("Bash")));
/// assert!(Matcher::new(Event::PreToolUse, Some("Ba.*")).matches(host, Some("Bash")));
/// assert!(!Matcher::new(Event::PreToolUse, Some("bash")).matches(host, Some("Bash")));
/// ```
#[derive(Debug, Clone)]
pub struct Matcher {
    event: Event,
    test: Test,
}

#[derive(Debug, Clone)]
enum Test {
    /// Omitted, empty, or the event takes no matcher.
    Absent,
    /// `*`.
    Star,
    Names(Vec<String>),
    Pattern(Box<regress::Regex>),
    Broken,
}

impl Matcher {
    /// Compiles the matcher of a group of hooks; `None` when the group has none.
    pub fn new(event: Event, matcher: Option<&str>) -> Self {
        let matcher = matcher.unwrap_or_default();
        let test = match event.facts().subject {
            Subject::None => Test::Absent,
            _ if matcher.is_empty() => Test::Absent,
            _ if matcher == "*" => Test::Star,
            _ if is_names(event, matcher) => Test::Names(names(matcher)),
            _ => match regress::Regex::new(matcher) {
                Ok(pattern) => Test::Pattern(Box::new(pattern)),
                Err(_) => Test::Broken,
            },
        };
        Self { event, test }
    }

    /// Whether hooks under this matcher run for this subject (`None`: the payload lacks the field).
    pub fn matches(&self, host: &HostProfile, subject: Option<&str>) -> bool {
        let subject = subject.unwrap_or_default();
        // The agent that writes the summary of a compaction has an empty type.
        if self.event == Event::SubagentStop && subject.is_empty() {
            return !host.compaction_agent_needs_empty_matcher || matches!(self.test, Test::Absent);
        }
        match &self.test {
            Test::Absent | Test::Star => true,
            Test::Names(names) => names.iter().any(|name| name == subject || former_name(name) == subject),
            Test::Pattern(pattern) => pattern.find(subject).is_some(),
            Test::Broken => false,
        }
    }

    /// Whether the matcher is a pattern that does not compile.
    pub fn is_broken(&self) -> bool {
        matches!(self.test, Test::Broken)
    }
}

/// What a matcher of this event is compared with, taken from a payload.
pub fn subject(event: Event, payload: &serde_json::Value) -> Option<&str> {
    match event.facts().subject {
        Subject::None => None,
        Subject::Field(field) => payload.get(field)?.as_str(),
        Subject::FileName => payload.get("file_path")?.as_str()?.rsplit(['/', '\\']).next(),
    }
}

/// Whether the matcher is a list of names by its characters; two events allow fewer of them.
fn is_names(event: Event, matcher: &str) -> bool {
    let narrow = matches!(event, Event::FileChanged | Event::StopFailure);
    matcher.chars().all(|c| match c {
        '_' | '|' => true,
        '-' | ',' | ' ' => !narrow,
        c => c.is_ascii_alphanumeric(),
    })
}

fn names(matcher: &str) -> Vec<String> {
    matcher.split(['|', ',']).map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// The present name of a tool that was renamed.
fn former_name(name: &str) -> &str {
    if name == "Task" { "Agent" } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn newest() -> &'static HostProfile {
        HostProfile::newest()
    }

    #[test]
    fn tool_matchers_follow_the_host() {
        let mcp = "mcp__el__ask";
        for (matcher, subject, expect) in [
            ("", "Bash", true),
            ("*", "Bash", true),
            ("Bash", "Bash", true),
            (" Bash ", "Bash", true),
            ("Read, Bash", "Bash", true),
            ("Read | Bash", "Bash", true),
            ("Bash|", "Bash", true),
            ("Ba.*", "Bash", true),
            ("ash$", "Bash", true),
            ("B?ash", "Bash", true),
            (".", "Bash", true),
            ("mcp__el__*", mcp, true),
            ("Task", "Agent", true),
            ("Ba", "Bash", false),
            ("bash", "Bash", false),
            ("Bash-x", "Bash", false),
            ("Bash(echo:*)", "Bash", false),
            ("mcp__el", mcp, false),
            ("[", "Bash", false),
            ("Read|*", "Bash", false),
            ("(?i)bash", "Bash", false),
        ] {
            let compiled = Matcher::new(Event::PreToolUse, Some(matcher));
            assert_eq!(compiled.matches(newest(), Some(subject)), expect, "{matcher:?} on {subject}");
        }
        assert!(Matcher::new(Event::PreToolUse, None).matches(newest(), Some("Bash")));
    }

    #[test]
    fn broken_patterns_are_named() {
        assert!(Matcher::new(Event::PreToolUse, Some("[")).is_broken());
        assert!(!Matcher::new(Event::Stop, Some("[")).is_broken(), "ignored where the event takes no matcher");
    }

    #[test]
    fn matchers_are_ignored_where_the_event_takes_none() {
        for event in [Event::UserPromptSubmit, Event::Stop, Event::PostToolBatch, Event::MessageDisplay] {
            assert!(Matcher::new(event, Some("Nothing")).matches(newest(), None), "{event}");
        }
    }

    #[test]
    fn two_events_take_fewer_characters_as_names() {
        let dashed = Matcher::new(Event::StopFailure, Some("rate-limit"));
        assert!(dashed.matches(newest(), Some("x rate-limit x")), "a dash makes it a pattern there");
        let file = Matcher::new(Event::FileChanged, Some(".env"));
        assert!(file.matches(newest(), Some("xenv")), "a dot makes it a pattern");
        assert!(Matcher::new(Event::FileChanged, Some("Makefile|a")).matches(newest(), Some("Makefile")));
        assert!(!Matcher::new(Event::FileChanged, Some("Make")).matches(newest(), Some("Makefile")));
    }

    #[test]
    fn the_agent_of_a_compaction_needs_an_empty_matcher_on_newer_hosts() {
        let [old, new] = HostProfile::recorded() else { unreachable!("two hosts were recorded") };
        for (matcher, expect_new) in [(None, true), (Some(""), true), (Some("*"), false), (Some("Explore"), false)] {
            let matcher = Matcher::new(Event::SubagentStop, matcher);
            assert!(matcher.matches(old, Some("")));
            assert_eq!(matcher.matches(new, Some("")), expect_new);
        }
    }

    #[test]
    fn the_subject_comes_from_the_field_of_the_event() {
        let payload = serde_json::json!({"tool_name": "Bash", "file_path": "/a/b/.env", "source": "resume"});
        assert_eq!(subject(Event::PreToolUse, &payload), Some("Bash"));
        assert_eq!(subject(Event::FileChanged, &payload), Some(".env"));
        assert_eq!(subject(Event::SessionStart, &payload), Some("resume"));
        assert_eq!(subject(Event::Stop, &payload), None);
    }
}
