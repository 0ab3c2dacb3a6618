//! Scrubbing: what differs from run to run becomes a placeholder again, so that goldens can be compared.
//!
//! In this order: places and ids of the sandbox, longer texts before shorter ones, so that `${PROJECT}` wins over
//! `${HOME}`; rules that are limited to a field of the answer, each where that field's text stands; rules for all text.
//! Numbers of placeholders belong to one text, so calls that run side by side meet the same golden. Only delivered text
//! is scrubbed; sizes are measured before.

use std::collections::HashMap;
use std::ops::Range;

use serde_json::Value;

use super::layout::Layout;
use crate::scenario::filter::VALUE_GROUP;
use crate::scenario::{Put, Scenario, ScrubRule, Step};

/// Most characters of a field's beginning or end by which a cut text is found again.
const PROBE_CHARS: usize = 32;

/// Most places that are tried for a cut text: one that repeats itself must not cost its length squared.
const MAX_TRIES: usize = 64;

/// Replacements of one sandbox.
#[derive(Debug)]
pub(super) struct Scrubber {
    texts: Vec<(String, String)>,
    rules: Vec<ScrubRule>,
}

impl Scrubber {
    pub(super) fn new(scenario: &Scenario, layout: &Layout) -> Scrubber {
        let places = [
            (&layout.project, "${PROJECT}"),
            (&layout.home, "${HOME}"),
            (&layout.tmp, "${TMP}"),
            (&layout.scenario_dir, "${SCENARIO}"),
            (&layout.corpora, "${CORPORA}"),
        ];
        let places = places.map(|(place, name)| (place.to_string_lossy().into_owned(), name.to_owned()));
        let mut texts: Vec<(String, String)> = places.into_iter().collect();
        texts.push((layout.root.to_string_lossy().into_owned(), "${ROOT}".to_owned()));
        texts.push((layout.slug.clone(), "${PROJECT_SLUG}".to_owned()));
        let sessions = scenario.sessions();
        for name in &sessions {
            let placeholder =
                if sessions.len() == 1 { "${SESSION}".to_owned() } else { format!("${{SESSION:{name}}}") };
            texts.push((layout.session_id(name), placeholder));
        }
        texts.retain(|(text, _)| text.len() > 1);
        texts.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
        Scrubber { texts, rules: scenario.scrub.clone() }
    }

    /// The delivered text of a call, whose answer was `stdout`.
    pub(super) fn scrub(&self, step: &Step, text: &str, stdout: &[u8]) -> String {
        let rules = || self.rules.iter().chain(&step.scrub);
        let mut numbers = Numbers::default();
        let mut text = self.places(text);
        let mut fields: Vec<&str> = Vec::new();
        for field in rules().filter_map(|rule| rule.field.as_deref()) {
            if !fields.contains(&field) {
                fields.push(field);
            }
        }
        // An answer that is no object has no fields; what the host makes of it is judged elsewhere.
        let answer = if fields.is_empty() { Value::Null } else { serde_json::from_slice(stdout).unwrap_or_default() };
        for field in fields {
            let Some(value) = answer.pointer(field).and_then(Value::as_str) else { continue };
            let value = self.places(value.trim());
            let (mut out, mut done) = (String::new(), 0);
            for part in parts(&text, &value) {
                out.push_str(text.get(done..part.start).unwrap_or_default());
                let own = text.get(part.clone()).unwrap_or_default().to_owned();
                let of_field = rules().filter(|rule| rule.field.as_deref() == Some(field));
                out.push_str(&of_field.fold(own, |own, rule| replaced(rule, &own, &mut numbers)));
                done = part.end;
            }
            out.push_str(text.get(done..).unwrap_or_default());
            text = out;
        }
        rules().filter(|rule| rule.field.is_none()).fold(text, |text, rule| replaced(rule, &text, &mut numbers))
    }

    /// A text that a scenario expects, in the form that scrubbed text has. Numbered placeholders are not made here: they
    /// depend on the whole delivered text, so an expectation names them itself.
    pub(super) fn expected(&self, step: &Step, text: &str) -> String {
        let rules = self.rules.iter().chain(&step.scrub);
        let fixed = rules.filter(|rule| rule.field.is_none() && matches!(rule.put, Put::Text(_)));
        fixed.fold(self.places(text), |text, rule| replaced(rule, &text, &mut Numbers::default()))
    }

    fn places(&self, text: &str) -> String {
        self.texts.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
    }
}

/// Numbers given so far in one text: by label and scrubbed value.
#[derive(Debug, Default)]
struct Numbers {
    given: HashMap<(String, String), usize>,
    last: HashMap<String, usize>,
}

impl Numbers {
    fn placeholder(&mut self, label: &str, value: &str) -> String {
        let last = self.last.entry(label.to_owned()).or_default();
        let number = *self.given.entry((label.to_owned(), value.to_owned())).or_insert_with(|| {
            *last += 1;
            *last
        });
        format!("[{label}-{number}]")
    }
}

fn replaced(rule: &ScrubRule, text: &str, numbers: &mut Numbers) -> String {
    let (mut out, mut done) = (String::new(), 0);
    for found in rule.pattern.regex.captures_iter(text) {
        let Some(whole) = found.get(0) else { continue };
        let (range, put) = match &rule.put {
            Put::Text(replacement) => (whole.range(), replacement.expand(&found)),
            Put::Numbered { label, filter } => {
                let value = filter.and_then(|_| found.name(VALUE_GROUP)).unwrap_or(whole);
                let before = text.get(..value.start()).and_then(|text| text.chars().next_back());
                let after = text.get(value.end()..).and_then(|text| text.chars().next());
                if value.is_empty() || filter.is_some_and(|filter| !filter.accepts(value.as_str(), (before, after))) {
                    continue;
                }
                (value.range(), numbers.placeholder(label, value.as_str()))
            }
        };
        out.push_str(text.get(done..range.start).unwrap_or_default());
        out.push_str(&put);
        done = range.end;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}

/// Where a field's value stands in the delivered text: wherever it stands whole, else its beginning and its end, as far
/// as the host has left them. In order, without overlap.
fn parts(text: &str, value: &str) -> Vec<Range<usize>> {
    if value.is_empty() {
        return Vec::new();
    }
    let whole: Vec<_> = text.match_indices(value).map(|(at, hit)| at..at + hit.len()).collect();
    if !whole.is_empty() {
        return whole;
    }
    let probe = value.char_indices().nth(PROBE_CHARS).map_or(value.len(), |(at, _)| at);
    let heads = text.match_indices(value.get(..probe).unwrap_or(value)).take(MAX_TRIES).map(|(at, _)| {
        let pairs = text.get(at..).unwrap_or_default().chars().zip(value.chars());
        at..at + pairs.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum::<usize>()
    });
    let head = heads.max_by_key(ExactSizeIterator::len);
    let probe = value.char_indices().rev().nth(PROBE_CHARS - 1).map_or(0, |(at, _)| at);
    let tails = text.match_indices(value.get(probe..).unwrap_or(value)).take(MAX_TRIES).map(|(at, hit)| {
        let end = at + hit.len();
        let pairs = text.get(..end).unwrap_or_default().chars().rev().zip(value.chars().rev());
        end - pairs.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum::<usize>()..end
    });
    let tail = tails.max_by_key(ExactSizeIterator::len);
    match (head, tail) {
        (Some(head), Some(tail)) if tail.start < head.end => vec![head],
        (head, tail) => head.into_iter().chain(tail).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_is_found_whole_wherever_it_stands() {
        assert_eq!(parts("a bc d bc", "bc"), [2..4, 7..9]);
        assert_eq!(parts("a bc", ""), [] as [Range<usize>; 0]);
        assert_eq!(parts("a bc", "x"), [] as [Range<usize>; 0]);
    }

    #[test]
    fn value_that_was_cut_is_found_by_what_is_left_of_it() {
        let value: String = (0..100).map(|n| format!("ü{n:03} ")).collect();
        let of = |range: Range<usize>| value.get(range).unwrap_or_default();
        let head = of(0..300);
        let text = format!("Output too large.\n{head}\n...");
        let only = 18..318;
        assert_eq!(parts(&text, &value), [only]);
        let (head, tail) = (of(0..120), of(300..600));
        let text = format!("reason: {head}\n... [180 characters truncated] ...\n{tail}\nend");
        let tail_at = text.find(tail).unwrap_or_default();
        assert_eq!(parts(&text, &value), [8..128, tail_at..tail_at + 300]);
    }
}
