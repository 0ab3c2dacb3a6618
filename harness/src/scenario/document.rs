//! A TOML text with the places of its values: the only file that knows the toml parser.
//!
//! The document can be decoded piece by piece, so that a mistake in one step does not hide the mistakes of the
//! next, and it answers where a value stands. It knows nothing about scenarios.

use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::problem::{Problem, Source};

/// A parsed TOML text.
pub(crate) struct Document<'s> {
    source: &'s Source,
    root: Spanned<DeTable<'s>>,
}

/// One part of the way to a value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part<'p> {
    Key(&'p str),
    Index(usize),
}

impl<'p> From<&'p str> for Part<'p> {
    fn from(key: &'p str) -> Part<'p> {
        Part::Key(key)
    }
}

impl<'p> From<&'p String> for Part<'p> {
    fn from(key: &'p String) -> Part<'p> {
        Part::Key(key)
    }
}

impl From<usize> for Part<'_> {
    fn from(index: usize) -> Self {
        Part::Index(index)
    }
}

/// The way to a value: keys and positions.
macro_rules! way {
    ($($part:expr),* $(,)?) => { [$($crate::scenario::document::Part::from($part)),*] };
}
pub(crate) use way;

impl<'s> Document<'s> {
    /// Parses the source's text; all syntax mistakes at once.
    ///
    /// # Errors
    /// At least one problem with its place.
    pub(crate) fn parse(source: &'s Source) -> Result<Document<'s>, Vec<Problem>> {
        let (root, errors) = DeTable::parse_recoverable(source.text());
        if errors.is_empty() {
            return Ok(Document { source, root });
        }
        Err(errors.into_iter().map(|error| problem(source, &error, "correct the TOML syntax here")).collect())
    }

    /// Place of the value, or of the innermost value on the way to it.
    pub(crate) fn span(&self, way: &[Part<'_>]) -> Range<usize> {
        let mut span = 0..0;
        let mut table = Some(self.root.get_ref());
        let mut array = None;
        for part in way {
            let value = match *part {
                Part::Key(key) => table.and_then(|table| table.get(key)),
                Part::Index(index) => array.and_then(|array: &toml::de::DeArray<'_>| array.get(index)),
            };
            let Some(value) = value else { break };
            span = value.span();
            (table, array) = (value.get_ref().as_table(), value.get_ref().as_array());
        }
        span
    }

    /// A problem at the place of a value.
    pub(crate) fn problem(&self, way: &[Part<'_>], message: impl Into<String>, remedy: impl Into<String>) -> Problem {
        self.source.problem(self.span(way), message, remedy)
    }

    /// Decodes the document without its list `key`, and each item of that list by itself.
    ///
    /// A piece that cannot be decoded is `None` and leaves a problem.
    pub(crate) fn decode_with_list<T: DeserializeOwned, I: DeserializeOwned>(
        &self,
        key: &str,
        problems: &mut Vec<Problem>,
    ) -> (Option<T>, Vec<Option<I>>) {
        let mut root = self.root.clone();
        let list = root.get_mut().remove(key);
        let head = self.decoded(T::deserialize(toml::de::Deserializer::from(root)), problems);
        let items = match list {
            None => Vec::new(),
            Some(list) => self.items(key, list, problems),
        };
        (head, items)
    }

    fn items<I: DeserializeOwned>(
        &self,
        key: &str,
        list: Spanned<DeValue<'s>>,
        problems: &mut Vec<Problem>,
    ) -> Vec<Option<I>> {
        let span = list.span();
        let DeValue::Array(items) = list.into_inner() else {
            let remedy = format!("write [[{key}]], with two brackets, before each one");
            problems.push(self.source.problem(span, format!("`{key}` is not a list"), remedy));
            return vec![None];
        };
        items
            .into_iter()
            .map(|item| self.decoded(I::deserialize(toml::de::ValueDeserializer::from(item)), problems))
            .collect()
    }

    fn decoded<T>(&self, result: Result<T, toml::de::Error>, problems: &mut Vec<Problem>) -> Option<T> {
        result.map_err(|error| problems.push(problem(self.source, &error, "scenarios/FORMAT.md lists the keys"))).ok()
    }
}

fn problem(source: &Source, error: &toml::de::Error, remedy: &str) -> Problem {
    source.problem(error.span().unwrap_or(0..0), error.message(), remedy)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Head {
        #[expect(dead_code, reason = "decoded only")]
        a: u32,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Item {
        n: u32,
    }

    #[test]
    fn every_broken_piece_is_reported_with_its_line() {
        let text = "a = \"x\"\n[[item]]\nn = true\n[[item]]\nn = 2\n[[item]]\nn = 1\nm = 1\n";
        let source = Source::new("f.toml", text);
        let document = Document::parse(&source).unwrap();
        let mut problems = Vec::new();
        let (head, items) = document.decode_with_list::<Head, Item>("item", &mut problems);
        assert!(head.is_none());
        assert_eq!(
            items.iter().map(|item| item.as_ref().map(|item| item.n)).collect::<Vec<_>>(),
            [None, Some(2), None]
        );
        let lines: Vec<_> = problems.iter().map(|problem| problem.position().unwrap().0).collect();
        assert_eq!(lines, [1, 3, 8]);
    }

    #[test]
    fn single_table_where_a_list_belongs_is_named() {
        let source = Source::new("f.toml", "a = 1\n[item]\nn = 2\n");
        let mut problems = Vec::new();
        Document::parse(&source).unwrap().decode_with_list::<Head, Item>("item", &mut problems);
        assert!(problems[0].remedy().contains("[[item]]"), "{}", problems[0].remedy());
    }

    #[test]
    fn place_of_a_missing_value_is_that_of_its_table() {
        let source = Source::new("f.toml", "a = 1\nb = [ { c = \"x\" } ]\n");
        let document = Document::parse(&source).unwrap();
        assert_eq!(&source.text()[document.span(&way!["b", 0, "c"])], "\"x\"");
        assert_eq!(&source.text()[document.span(&way!["b", 0, "d"])], "{ c = \"x\" }");
    }

    #[test]
    fn syntax_mistakes_are_reported_together() {
        let source = Source::new("f.toml", "a = \nb = [1,\nc = 2\n\n= 3\n");
        assert!(Document::parse(&source).err().unwrap().len() > 1);
    }
}
