//! Sentences that hand a secret over: `here is the key for staging, use it so: VALUE`.
//!
//! Prose names a secret some words before or behind it, so the value itself must look generated unless
//! the sentence says that it gives one. Sentences about digests are left alone. Not here: notations.

use super::bytes::{at, find, line_start, skip, slice, starts};
use super::name::{Name, Strength};
use super::value::{self, Style};
use super::{Span, assignment, told};

/// Longest gap of words in `the key for staging, use it so: VALUE`.
const GAP: usize = 90;

/// `here is the key for staging, use it like this: VALUE`, and `VALUE is the staging key`.
pub(super) fn handed_over(text: &[u8], name: &Name) -> Option<Span> {
    if name.end - name.start > 24 && !name.shouted || at(text, name.end) != b' ' && at(text, name.end) != b'(' {
        return before(text, name);
    }
    let limit = text.len().min(name.end + GAP);
    let mut index = name.end;
    while index < limit {
        match at(text, index) {
            b'\n' | b'"' | b'`' | b'{' | b'=' | b';' => return before(text, name),
            b'.' if at(text, index + 1) == b' ' => return before(text, name),
            b':' if at(text, index + 1) == b' ' => break,
            b' ' if starts(text, index, " is ") && is_telling(text, index + 4) => {
                index += 3;
                break;
            }
            b'>' if at(text, index - 1) == b'-' && at(text, index + 1) == b' ' => break,
            _ => index += 1,
        }
    }
    if index >= limit {
        return before(text, name);
    }
    let start = skip(text, index + 1, 4, |byte| byte == b' ');
    let read = value::read(text, start);
    let bytes = slice(text, read.start, read.end);
    let found = value::look(bytes);
    if found.digits == 0 || found.len < 8 {
        return before(text, name);
    }
    let words = slice(text, name.end, index);
    let lead_in = slice(text, name.start.saturating_sub(24), name.start);
    let is_given = is_handing(lead_in) || is_handing(words);
    let is_digest = [words, lead_in].iter().any(|part| speaks_of_digest(part));
    let is_token = (found.is_random() || told::is_scrambled(bytes)) && !found.hex && !value::is_uuid(bytes);
    if is_digest || !is_given && !is_token {
        return None;
    }
    let strong = told::surer(&Name { strength: name.strength.max(Strength::Medium), ..*name }, bytes).strength;
    let style = if is_given && !bytes.contains(&b'_') { Style::Literal } else { Style::Loose };
    assignment::accept(text, &Name { strength: strong, ..*name }, read, style)
}

/// A value in a sentence that nobody takes for a word.
fn is_telling(text: &[u8], start: usize) -> bool {
    let read = value::read(text, start);
    let bytes = slice(text, read.start, read.end);
    let found = value::look(bytes);
    found.len >= 8
        && found.digits > 0
        && (found.is_random() || found.symbols > 1 || told::is_scrambled(bytes))
        && !value::is_uuid(bytes)
}

pub(super) fn is_handing(words: &[u8]) -> bool {
    ["here is", "here's", "use ", "my ", "this is", "with ", "try ", "our "]
        .iter()
        .any(|cue| find(words, 0, words.len(), cue).is_some())
}

pub(super) fn speaks_of_digest(words: &[u8]) -> bool {
    [
        "hash",
        "digest",
        "checksum",
        "commit",
        "sha",
        "revision",
        "etag",
        "fingerprint",
        "public",
        "cache",
        "primary",
        "foreign",
    ]
    .iter()
    .any(|word| find(words, 0, words.len(), word).is_some())
}

/// `VALUE is the staging password`.
fn before(text: &[u8], name: &Name) -> Option<Span> {
    let from = line_start(text, name.start, 60);
    let joint = (from..name.start).rev().find(|&index| {
        at(text, index) == b's'
            && at(text, index + 1) == b' '
            && matches!(at(text, index.wrapping_sub(1)), b'i' | b'a')
            && (["the ", "my ", "our "].iter().any(|word| starts(text, index + 2, word))
                || at(text, index.wrapping_sub(1)) == b'a' && index + 2 == name.start)
    })?;
    let joint = joint - 1;
    let end = (from..joint)
        .rev()
        .find(|&index| at(text, index) != b' ' && !matches!(at(text, index), b'`' | b'"' | b'\''))?
        + 1;
    let mut start = end;
    while start > from.max(end.saturating_sub(64)) && !matches!(at(text, start - 1), 0..=b' ' | b'"' | b'\'' | b'`') {
        start -= 1;
    }
    let bytes = slice(text, start, end);
    let found = value::look(bytes);
    let has_place = start > from || start == 0 || at(text, start - 1) == b'\n';
    // `use sha512crypt as password hash` gives no value.
    let is_bare = joint + 3 == name.start && !told::is_scrambled(bytes);
    if !has_place || is_bare || found.digits == 0 || found.hex || value::is_uuid(bytes) {
        return None;
    }
    let strength = name.strength.max(Strength::Medium);
    value::is_secret(bytes, strength, Style::Loose).then(|| Span::new(start, end, name.label))
}
