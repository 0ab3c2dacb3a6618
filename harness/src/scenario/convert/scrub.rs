//! Scrub rules: a filter by name, or a pattern with what is put in its place.

use super::Converter;
use crate::scenario::document::Part;
use crate::scenario::filter::Filter;
use crate::scenario::pattern::Replacement;
use crate::scenario::placeholder;
use crate::scenario::step::{Put, ScrubRule};
use crate::scenario::wire::{FilterWire, ScrubWire};

impl Converter<'_> {
    /// The rules of the list that stands at `way`.
    pub(crate) fn scrub(&mut self, way: &[Part<'_>], rules: Vec<ScrubWire>) -> Vec<ScrubRule> {
        let numbered = rules.into_iter().enumerate();
        numbered.filter_map(|(index, rule)| self.scrub_rule(&[way, &[Part::Index(index)]].concat(), rule)).collect()
    }

    fn scrub_rule(&mut self, way: &[Part<'_>], rule: ScrubWire) -> Option<ScrubRule> {
        let at = |key: &'static str| [way, &[Part::Key(key)]].concat();
        if let Some(field) = rule.field.as_ref().filter(|field| !field.starts_with('/')) {
            let remedy = "write a JSON pointer, such as /hookSpecificOutput/additionalContext";
            self.problem(&at("field"), format!("`{field}` names no field of an answer"), remedy);
        }
        let (pattern, put) = match (rule.filter, rule.pattern, rule.replace, rule.label) {
            (Some(filter), None, None, None) => {
                let filter = named(filter);
                let pattern = self.pattern(&at("filter"), filter.pattern().to_owned())?;
                (pattern, Put::Numbered { label: filter.name().to_owned(), filter: Some(filter) })
            }
            (None, Some(pattern), Some(replace), None) => {
                let pattern = self.pattern(&at("pattern"), pattern)?;
                let replacement = Replacement::new(&replace, &pattern);
                let groups = pattern.regex.captures_len() - 1;
                if replacement.highest_group() > groups {
                    let message = format!("${} is no group of the pattern", replacement.highest_group());
                    self.problem(&at("replace"), message, format!("it has {groups}; write $$ for a dollar sign"));
                }
                (pattern, Put::Text(replacement))
            }
            (None, Some(pattern), None, Some(label)) => {
                if !placeholder::is_name(&label) {
                    let remedy = "use lower-case letters, digits, `-` and `_`";
                    self.problem(&at("label"), format!("`{label}` is no label"), remedy);
                }
                (self.pattern(&at("pattern"), pattern)?, Put::Numbered { label, filter: None })
            }
            _ => {
                let remedy = "give it filter alone, or pattern with either replace or label";
                self.problem(way, "the rule does not say what is replaced, and by what", remedy);
                return None;
            }
        };
        Some(ScrubRule { pattern, put, field: rule.field })
    }
}

fn named(filter: FilterWire) -> Filter {
    match filter {
        FilterWire::Uuid => Filter::Uuid,
        FilterWire::Timestamp => Filter::Timestamp,
        FilterWire::Duration => Filter::Duration,
        FilterWire::HexId => Filter::HexId,
        FilterWire::Path => Filter::Path,
    }
}
