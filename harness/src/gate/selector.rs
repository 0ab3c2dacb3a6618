//! Which steps a gate is about: key=glob pairs that must all match.
//!
//! A glob is `*` (any run of characters), `?` (one character) and literal text. There are no escapes: names of
//! steps and scenarios have neither sign.

use std::fmt;

use hook_contract::Event;

use crate::summary::{StepSummary, Summary};

/// What a glob is held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SelectorKey {
    /// Event of the payload.
    Event,
    /// The hook's command line.
    Hook,
    /// Name of the scenario.
    Scenario,
    /// Name of the step.
    Step,
    /// Any tag of the step.
    Tag,
}

impl SelectorKey {
    /// All keys.
    pub const ALL: [SelectorKey; 5] =
        [SelectorKey::Event, SelectorKey::Hook, SelectorKey::Scenario, SelectorKey::Step, SelectorKey::Tag];

    /// As written in a gate.
    pub fn name(self) -> &'static str {
        match self {
            SelectorKey::Event => "event",
            SelectorKey::Hook => "hook",
            SelectorKey::Scenario => "scenario",
            SelectorKey::Step => "step",
            SelectorKey::Tag => "tag",
        }
    }

    /// The key that is written so.
    pub fn parse(name: &str) -> Option<SelectorKey> {
        SelectorKey::ALL.into_iter().find(|key| key.name() == name)
    }
}

/// Pairs of key and glob; none selects every step.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selector {
    /// The pairs as written.
    pub pairs: Vec<(SelectorKey, String)>,
}

impl Selector {
    /// The selected steps of a run.
    pub fn steps<'a>(&self, summary: &'a Summary) -> Vec<&'a StepSummary> {
        let hook = summary.header().map_or("", |header| &*header.hook_command);
        summary.steps().iter().filter(|step| self.selects(step, hook)).collect()
    }

    /// The glob for events that no event of the host matches: a gate with it would judge nothing for ever.
    pub fn unknown_event(&self) -> Option<&str> {
        let events = self.pairs.iter().filter(|(key, _)| *key == SelectorKey::Event);
        let unknown = |glob: &&str| !Event::ALL.iter().any(|event| matches(glob, event.name()));
        events.map(|(_, glob)| glob.as_str()).find(unknown)
    }

    fn selects(&self, step: &StepSummary, hook: &str) -> bool {
        self.pairs.iter().all(|(key, glob)| match key {
            SelectorKey::Event => matches(glob, &step.event),
            SelectorKey::Hook => matches(glob, hook),
            SelectorKey::Scenario => matches(glob, &step.scenario),
            SelectorKey::Step => matches(glob, &step.step),
            SelectorKey::Tag => step.tags.iter().any(|tag| matches(glob, tag)),
        })
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, (key, glob)) in self.pairs.iter().enumerate() {
            let comma = if nth == 0 { "" } else { "," };
            let quote = if glob.contains([',', ']', ' ']) || glob.is_empty() { "\"" } else { "" };
            write!(out, "{comma}{}={quote}{glob}{quote}", key.name())?;
        }
        Ok(())
    }
}

/// Whether a glob matches the whole text. Linear in practice: only the last `*` is ever tried again.
fn matches(glob: &str, text: &str) -> bool {
    let (glob, text): (Vec<char>, Vec<char>) = (glob.chars().collect(), text.chars().collect());
    let (mut at_glob, mut at_text) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while at_text < text.len() {
        match glob.get(at_glob) {
            Some('*') => {
                star = Some((at_glob, at_text));
                at_glob += 1;
            }
            Some(sign) if *sign == '?' || Some(sign) == text.get(at_text) => {
                at_glob += 1;
                at_text += 1;
            }
            _ => match star {
                // The star takes one character more, and the rest starts again.
                Some((star_glob, star_text)) => (at_glob, at_text) = (star_glob, star_text + 1),
                None => return false,
            },
        }
    }
    glob.iter().skip(at_glob).all(|sign| *sign == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_whole_texts() {
        let table = [
            ("UserPromptSubmit", "UserPromptSubmit", true),
            ("UserPromptSubmit", "UserPromptSubmitted", false),
            ("UserPrompt", "UserPromptSubmit", false),
            ("*chain*", "a chain of hooks", true),
            ("*chain*", "chain", true),
            ("*chain*", "chai n", false),
            ("*Use", "PreToolUse", true),
            ("*Use", "PreToolUseX", false),
            ("Pre*Use", "PreUse", true),
            ("P?e", "Pre", true),
            ("P?e", "Pe", false),
            ("?", "ü", true),
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-b-b-d", false),
            ("*aab", "aaab", true),
            ("**", "x", true),
        ];
        for (glob, text, expected) in table {
            assert_eq!(matches(glob, text), expected, "{glob} on {text}");
        }
    }

    #[test]
    fn keys_parse_back() {
        for key in SelectorKey::ALL {
            assert_eq!(SelectorKey::parse(key.name()), Some(key));
        }
        assert_eq!(SelectorKey::parse("events"), None);
    }
}
