//! Written evidence: 64-bit fingerprints of lines, and the code tokens that go with them.
//!
//! A line is trimmed and its white space folded to single spaces, so that indentation and line ends do not
//! count. Lines with fewer than [`MIN_SIGNS`] letters or digits (`}`, `else:`) say nothing about who wrote them
//! and have no fingerprint; nor have lines longer than [`MAX_LINE_BYTES`], which are data. The value is XXH3-64
//! with seed 0 of the folded UTF-8 bytes and is stored on disk: a change of any rule here is a format change.
//!
//! Redaction comes before: these functions trust what they are given.

use std::collections::HashSet;

use xxhash_rust::xxh3::xxh3_64;

use crate::analyze;

/// Letters or digits that a line needs to have a fingerprint.
pub const MIN_SIGNS: usize = 8;
/// Longer lines, in bytes after folding, have no fingerprint.
pub const MAX_LINE_BYTES: usize = 1_600;
/// Fingerprints kept of one memory.
pub const MAX_LINES: usize = 2_000;
/// Written tokens kept of one memory.
pub const MAX_TOKENS: usize = 12_000;

/// The fingerprint of one line, or `None` when the line carries too little to tell its author.
pub fn fingerprint(line: &str) -> Option<u64> {
    let mut folded = String::with_capacity(line.len().min(MAX_LINE_BYTES));
    fold(line, &mut folded).then(|| xxh3_64(folded.as_bytes()))
}

/// Distinct fingerprints of the lines of `text`, in order of first appearance, at most [`MAX_LINES`].
pub fn fingerprints_of(text: &str) -> Vec<u64> {
    fingerprints_of_lines(text.lines())
}

/// Distinct fingerprints of `lines`, in order of first appearance, at most [`MAX_LINES`].
pub fn fingerprints_of_lines<'a>(lines: impl IntoIterator<Item = &'a str>) -> Vec<u64> {
    let mut seen = HashSet::new();
    let mut kept = Vec::new();
    let mut folded = String::new();
    for line in lines {
        if kept.len() == MAX_LINES {
            break;
        }
        if fold(line, &mut folded) {
            let value = xxh3_64(folded.as_bytes());
            if seen.insert(value) {
                kept.push(value);
            }
        }
    }
    kept
}

/// Terms of written lines for the `Written` field, repeats included, at most [`MAX_TOKENS`].
pub fn written_tokens<'a>(lines: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut kept = Vec::new();
    for line in lines {
        if kept.len() >= MAX_TOKENS {
            break;
        }
        analyze::analyze(line, &mut |term| kept.push(term.to_owned()));
    }
    kept.truncate(MAX_TOKENS);
    kept
}

/// Folds `line` into `folded`; false when it has no fingerprint.
fn fold(line: &str, folded: &mut String) -> bool {
    folded.clear();
    let mut signs = 0;
    for word in line.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(word);
        if folded.len() > MAX_LINE_BYTES {
            return false;
        }
        if signs < MIN_SIGNS {
            signs += word.chars().filter(|c| c.is_alphanumeric()).count();
        }
    }
    signs >= MIN_SIGNS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_and_line_ends_do_not_count() {
        let one = fingerprint("    return  self.total ;\r");
        assert!(one.is_some());
        assert_eq!(one, fingerprint("return self.total ;"));
        assert_ne!(one, fingerprint("return self.total;"));
    }

    #[test]
    fn lines_that_say_little_or_are_data_have_none() {
        for line in ["", "}", "else:", "return x", "1234567", "------------------"] {
            assert_eq!(fingerprint(line), None, "{line:?}");
        }
        assert!(fingerprint("return xy").is_some());
        assert!(fingerprint("登录失败时重试三次").is_some());
        assert_eq!(fingerprint(&"x".repeat(MAX_LINE_BYTES + 1)), None);
        assert!(fingerprint(&"x".repeat(MAX_LINE_BYTES)).is_some());
    }

    #[test]
    fn value_of_a_line_is_part_of_the_format() {
        assert_eq!(fingerprint(" let total = 0; "), Some(xxh3_64(b"let total = 0;")));
    }

    #[test]
    fn lines_come_once_in_order_and_bounded() {
        let text = "first line of code\nsecond line of code\n  first line of code\n}\n";
        let expected = ["first line of code", "second line of code"].map(|line| fingerprint(line).unwrap_or(0));
        assert_eq!(fingerprints_of(text), expected);
        let many: String = (0..3_000).map(|n| format!("generated line {n}\n")).collect();
        assert_eq!(fingerprints_of(&many).len(), MAX_LINES);
        assert_eq!(written_tokens(many.lines().chain(many.lines())).len(), MAX_TOKENS);
    }
}
