//! Regular expressions of scenarios, and what a match is replaced by.
//!
//! Guarantees that a search takes time in proportion to pattern and text: there is no backtracking, so no pattern can
//! hang a run, and what has no such bound (look-around, references to groups) is refused when the scenario is loaded.
//! Finding all matches takes at worst one search a match.
//! `[^]`, any character at all, is taken from JavaScript: formats before 1.2 had its syntax.

use std::borrow::Cow;

use regex::{Captures, Regex, RegexBuilder};

/// Largest compiled pattern in bytes. The time of a search grows with the product of pattern and text; the host's caps
/// bound the text.
const SIZE_LIMIT_BYTES: usize = 1 << 20;

/// A compiled pattern with its text.
#[derive(Debug, Clone)]
pub struct Pattern {
    /// As written.
    pub text: String,
    /// Compiled.
    pub regex: Regex,
}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// One clause: why it is no pattern.
    pub fn new(text: &str) -> Result<Pattern, String> {
        let compiled = RegexBuilder::new(&any_character(text)).size_limit(SIZE_LIMIT_BYTES).build();
        match compiled {
            Ok(regex) => Ok(Pattern { text: text.to_owned(), regex }),
            // The parser draws the place over several lines; the reason stands in the last.
            Err(error) => {
                let shown = error.to_string();
                let reason = shown.lines().last().unwrap_or_default();
                Err(reason.trim_start_matches("error: ").to_owned())
            }
        }
    }
}

/// `[^]` as this engine writes it; inside a class and after a backslash it is something else.
fn any_character(text: &str) -> Cow<'_, str> {
    if !text.contains("[^]") {
        return Cow::Borrowed(text);
    }
    let (mut out, mut rest, mut in_class) = (String::new(), text, false);
    while let Some(sign) = rest.chars().next() {
        let mut taken = sign.len_utf8();
        match sign {
            '\\' => taken += rest.chars().nth(1).map_or(0, char::len_utf8),
            '[' if !in_class && rest.starts_with("[^]") => {
                out.push_str(r"[\s\S]");
                rest = rest.get(3..).unwrap_or_default();
                continue;
            }
            '[' => in_class = true,
            ']' => in_class = false,
            _ => {}
        }
        let (head, tail) = rest.split_at_checked(taken).unwrap_or((rest, ""));
        out.push_str(head);
        rest = tail;
    }
    Cow::Owned(out)
}

/// What a match becomes: text with groups in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Group(usize),
}

impl Replacement {
    /// Reads `$1` as the pattern's first group, `$0` as the whole match, `${name}` as the group of that name and `$$` as a
    /// dollar sign. Anything else is itself, so that `${PROJECT}` may be written.
    pub fn new(text: &str, pattern: &Pattern) -> Replacement {
        let (mut pieces, mut plain, mut rest) = (Vec::new(), String::new(), text);
        while let Some(at) = rest.find('$') {
            let (head, tail) = rest.split_at_checked(at).unwrap_or((rest, ""));
            plain.push_str(head);
            let after = tail.get(1..).unwrap_or_default();
            let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let number = after.get(..digits).and_then(|digits| Some((digits.parse().ok()?, digits.len())));
            let named = || {
                let name = after.strip_prefix('{')?.split_once('}')?.0;
                let group = pattern.regex.capture_names().position(|known| known == Some(name))?;
                Some((group, name.len() + "{}".len()))
            };
            rest = match number.or_else(named) {
                Some((group, taken)) => {
                    pieces.push(Piece::Text(std::mem::take(&mut plain)));
                    pieces.push(Piece::Group(group));
                    after.get(taken..).unwrap_or_default()
                }
                None => {
                    plain.push('$');
                    after.strip_prefix('$').unwrap_or(after)
                }
            };
        }
        plain.push_str(rest);
        pieces.push(Piece::Text(plain));
        Replacement { pieces }
    }

    /// The highest group that is named.
    pub fn highest_group(&self) -> usize {
        let groups = self.pieces.iter().map(|piece| if let Piece::Group(group) = piece { *group } else { 0 });
        groups.max().unwrap_or(0)
    }

    /// The text for one match. A group that took no part in it is empty.
    pub fn expand(&self, found: &Captures<'_>) -> String {
        let texts = self.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => text.as_str(),
            Piece::Group(group) => found.get(*group).map_or("", |group| group.as_str()),
        });
        texts.collect()
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
    use super::*;

    #[test]
    fn any_character_is_read_as_javascript_wrote_it() {
        for (pattern, text, hit) in [
            (r"a[^]*b", "a\n\nb", true),
            (r"\[o-[^]*\[o-", "[o-1]\n[o-2]", true),
            (r"(x[^]){2}", "x\nx\n", true),
            (r"\[^]", "[", false),
            (r"\[^]", "[^]", false),
            (r"[a\[^]b", "^b", true),
            (r"[a^]b", "^b", true),
        ] {
            let found = Pattern::new(pattern).unwrap().regex.is_match(text);
            assert_eq!(found, hit, "{pattern} on {text:?}");
        }
    }

    #[test]
    fn pattern_without_a_bound_on_its_time_is_refused_with_the_reason() {
        for (pattern, part) in [
            (r"a(?=b)", "look-around"),
            (r"(?<!a)b", "look-around"),
            (r"(a)\1", "backreferences"),
            (r"(", "unclosed group"),
            (r"(?:\w{100}){1000}", "size limit"),
        ] {
            let reason = Pattern::new(pattern).unwrap_err();
            assert!(reason.contains(part) && !reason.contains('\n'), "{pattern}: {reason}");
        }
    }

    #[test]
    fn replacement_takes_groups_and_leaves_other_dollars() {
        let pattern = Pattern::new(r"(?<user>\w+)@(\w+)(!)?").unwrap();
        for (replacement, expected) in [
            ("$2-$1", "b-a"),
            ("$1x", "ax"),
            ("${user}x", "ax"),
            ("[$0]", "[a@b]"),
            ("$$1", "$1"),
            ("$3|", "|"),
            ("${PROJECT} $", "${PROJECT} $"),
        ] {
            let replacement = Replacement::new(replacement, &pattern);
            let found = pattern.regex.captures("a@b").unwrap();
            assert_eq!(replacement.expand(&found), expected, "{replacement:?}");
        }
        assert_eq!(Replacement::new("$2 $11", &pattern).highest_group(), 11);
        assert_eq!(Replacement::new("none", &pattern).highest_group(), 0);
    }
}
