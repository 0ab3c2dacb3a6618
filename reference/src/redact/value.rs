//! Where a value ends, and whether it looks like a secret, a place, a sentence or code.
//!
//! Guarantee: a call looks at no more than [`REACH`] bytes before it has decided. Not here: names, and what
//! people write in place of a value (`filler`).

use super::bytes::{at, skip, slice, starts};
use super::filler::is_vocabulary;
use super::name::Strength;

pub(super) use super::filler::{is_placeholder, is_reference, only_vocabulary};
pub(super) use super::look::{Look, is_uuid, look};

/// Most bytes of a value that are looked at before a decision.
pub(super) const REACH: usize = 256;

/// A value's bytes in the text, without quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Value {
    /// First byte.
    pub(super) start: usize,
    /// One past the last byte.
    pub(super) end: usize,
    /// Stood in quotes that were closed.
    pub(super) quoted: bool,
    /// One past the closing quote, or `end`.
    pub(super) after: usize,
}

/// How the value stands in the text; decides how plain it may look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// In quotes.
    Quoted,
    /// `NAME=value`, a connection string, an XML text: the whole run is the value.
    Literal,
    /// YAML, prose, code: may be an expression or a word of a sentence.
    Loose,
}

/// Position of a quote at `index` (after string prefixes and backslashes) and its number of backslashes.
pub(super) fn quote_at(text: &[u8], index: usize) -> Option<(usize, usize)> {
    let prefix = skip(text, index, 2, |byte| matches!(byte, b'b' | b'r' | b'f' | b'u' | b'L' | b'@' | b'$' | b'#'));
    let slashes = skip(text, prefix, 8, |byte| byte == b'\\');
    let is_quote = matches!(at(text, slashes), b'"' | b'\'' | b'`');
    is_quote.then_some((slashes, slashes - prefix))
}

/// Reads the value that starts at `index`.
pub(super) fn read(text: &[u8], index: usize) -> Value {
    if let Some((quote, depth)) = quote_at(text, index) {
        let start = quote + 1;
        if let Some(value) = tripled(text, quote - depth, depth + 1) {
            return value;
        }
        if let Some((end, after)) = closing(text, start, at(text, quote), depth) {
            return Value { start, end, quoted: true, after };
        }
        let end = bare_end(text, start);
        return Value { start, end, quoted: false, after: end };
    }
    let slashes = skip(text, index, 8, |byte| byte == b'\\');
    for entity in ["&quot;", "&#34;", "&#39;", "%22", "%27"] {
        if starts(text, slashes, entity) {
            let start = slashes + entity.len();
            let end = (start..text.len().min(start + REACH))
                .find(|&end| starts(text, end, entity) || at(text, end).is_ascii_whitespace() || at(text, end) == b'\\')
                .unwrap_or(start);
            return Value { start, end, quoted: end > start, after: end + entity.len() };
        }
    }
    let end = bare_end(text, index);
    Value { start: index, end, quoted: false, after: end }
}

/// A value in three quotes, each `unit` bytes with its backslashes, on one line.
fn tripled(text: &[u8], first: usize, unit: usize) -> Option<Value> {
    let quote = slice(text, first, first + unit);
    let opens =
        |index: usize| (0..3).all(|place| slice(text, index + place * unit, index + (place + 1) * unit) == quote);
    if quote.ends_with(b"`") || !opens(first) {
        return None;
    }
    let start = first + 3 * unit;
    let limit = text.len().min(start + REACH);
    let end = (start..limit).find(|&index| at(text, index) == b'\n' || opens(index))?;
    (at(text, end) != b'\n').then_some(Value { start, end, quoted: true, after: end + 3 * unit })
}

fn closing(text: &[u8], start: usize, quote: u8, depth: usize) -> Option<(usize, usize)> {
    let limit = text.len().min(start + REACH);
    let mut slashes = 0;
    for index in start..limit {
        match at(text, index) {
            b'\n' => return None,
            b'\\' => slashes += 1,
            byte if byte == quote && (slashes == depth || (depth == 0 && slashes % 2 == 0)) => {
                return Some((index - depth.min(slashes), index + 1));
            }
            // A quote of an outer level closes the inner one too.
            byte if byte == quote && slashes < depth => return Some((index - slashes, index)),
            _ => slashes = 0,
        }
    }
    None
}

/// End of an unquoted value: white space, a quote, or a delimiter that something else follows.
pub(super) fn bare_end(text: &[u8], start: usize) -> usize {
    let mut index = start;
    while index < text.len() && index - start < REACH {
        match at(text, index) {
            0..=b' ' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'|' | 0x7f => break,
            b'\\' if matches!(at(text, index + 1), b'n' | b'r' | b't' | b'"' | b'\'' | b'\\' | b'\n' | b'\r') => break,
            b'&' if ["&quot;", "&lt;", "&gt;", "&#3"].iter().any(|entity| starts(text, index, entity)) => break,
            b',' | b';' | b'&' | b')' | b']' | b'}' if delimits(text, index) => break,
            _ => index += 1,
        }
    }
    // Sentence marks behind a value are not part of it.
    while index > start && matches!(at(text, index - 1), b'.' | b',' | b':' | b';') && !is_inner(at(text, index)) {
        index -= 1;
    }
    if index > start && at(text, index - 1) == b'?' && !is_inner(at(text, index)) {
        index -= 1;
    }
    index
}

/// Where the run of token characters at `end` stops, when `end` was set by the reach; `end` otherwise.
pub(super) fn run_end(text: &[u8], start: usize, end: usize) -> usize {
    if end - start < REACH {
        return end;
    }
    skip(text, end, usize::MAX, |byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'=' | b'.')
    })
}

fn is_inner(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn delimits(text: &[u8], index: usize) -> bool {
    let next = skip(text, index + 1, 4, |byte| matches!(byte, b')' | b']' | b'}' | b',' | b';'));
    if !at(text, next).is_ascii_alphanumeric()
        && !matches!(at(text, next), b'!' | b'#' | b'%' | b'*' | b'^' | b'_' | b'~')
    {
        return true;
    }
    let word = skip(text, next, 40, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b' '));
    // `;Encrypt=`, `&page=`, `,timeout=`.
    matches!(at(text, word), b'=' | b':') && word > next
}

/// Whether `value` is a secret, given how sure its name is and how it stands.
pub(super) fn is_secret(value: &[u8], strength: Strength, style: Style) -> bool {
    let found = look(value);
    let is_weak = strength == Strength::Weak && (found.hex || !found.is_random());
    if found.len < 4 || is_weak || found.wide > 0 && strength < Strength::Strong {
        return false;
    }
    if is_reference(value) || is_placeholder(value) {
        return false;
    }
    if found.digits + found.symbols == found.len {
        // Numbers: only a password may be one, and only where the whole run is the value.
        return strength == Strength::Password
            && ((found.symbols == 0 && style != Style::Loose && found.distinct > 2)
                || (found.digits > 1 && found.symbols > 1 && found.distinct > 4 && !is_measure(value)));
    }
    if found.spaces > 0 {
        return strength == Strength::Password && style != Style::Loose && is_passphrase(value);
    }
    if is_location(value, &found) || only_vocabulary(value) || (style != Style::Quoted && is_code(value, &found)) {
        return false;
    }
    if style == Style::Quoted && is_dotted_path(value) {
        return false;
    }
    let marked = found.digits > 0 || found.symbols > 0 && has_password_symbol(value);
    match (strength, style) {
        (Strength::Password, Style::Quoted | Style::Literal) => marked || found.len >= 5 && !is_identifier_words(value),
        (Strength::Password, Style::Loose) => marked && found.len >= 5,
        (Strength::Strong, Style::Loose) => {
            marked && found.len >= 6 && (found.digits > 1 || found.symbols > 0 || found.turns > 2)
        }
        (Strength::Strong, _) => marked && found.len >= 6 || found.is_mixed(),
        (Strength::Medium, Style::Loose) => found.len >= 8 && found.digits > 1 || found.is_mixed(),
        (Strength::Medium, _) => found.len >= 8 && marked || found.is_mixed(),
        (Strength::Weak, _) => found.len >= 16 && found.is_random() && !found.hex && !is_uuid(value),
    }
}

fn has_password_symbol(value: &[u8]) -> bool {
    value.iter().any(|byte| matches!(byte, b'!' | b'#' | b'$' | b'%' | b'&' | b'*' | b'^' | b'~' | b'+' | b'@' | b'='))
}

fn is_measure(value: &[u8]) -> bool {
    value.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b':' | b'/' | b',' | b'+'))
}

/// Three to twenty-four lower-case words that make no sentence.
fn is_passphrase(value: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(slice(value, 0, REACH)) else {
        return false;
    };
    let n_words = text.split_ascii_whitespace().count();
    (3..=24).contains(&n_words)
        && text.split_ascii_whitespace().all(|word| {
            word.len() > 2
                && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
                && (n_words >= 12 || !is_vocabulary(word))
                && !matches!(
                    word,
                    "are" | "was" | "has" | "does" | "your" | "too" | "short" | "did" | "can" | "cannot" | "least"
                )
        })
}

/// A path, an address without a secret of its own, a file name.
fn is_location(value: &[u8], found: &Look) -> bool {
    if slice(value, 0, REACH).windows(3).any(|three| three == b"://") {
        return true;
    }
    if starts(value, 0, "./") || starts(value, 0, "../") || starts(value, 0, "~/") {
        return true;
    }
    const ENDS: [&str; 26] = [
        ".rs", ".py", ".js", ".ts", ".tsx", ".json", ".yaml", ".yml", ".toml", ".pem", ".key", ".crt", ".txt", ".md",
        ".sql", ".go", ".sh", ".env", ".lock", ".log", ".html", ".css", ".java", ".rb", ".c", ".conf",
    ];
    let name_end = skip(value, 0, REACH, |byte| byte != b':' && byte != b'#');
    if ENDS.iter().any(|end| name_end > end.len() && starts(value, name_end - end.len(), end)) {
        return true;
    }
    let slashes = value.iter().filter(|byte| **byte == b'/').count();
    (slashes > 1 || slashes == 1 && at(value, 0) == b'/') && found.turns * 5 < found.len && !value.contains(&b'+')
}

fn is_dotted_path(value: &[u8]) -> bool {
    let mut n_parts = 0;
    for part in value.split(|byte| *byte == b'.') {
        n_parts += 1;
        let plain = part.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte == b'-');
        if !at(part, 0).is_ascii_alphabetic() || !plain || look(part).is_random() || look(part).digits > 2 {
            return false;
        }
    }
    n_parts > 1
}

/// Snake, kebab or camel words without a digit.
fn is_identifier_words(value: &[u8]) -> bool {
    let found = look(value);
    let joined = value.iter().filter(|byte| matches!(byte, b'_' | b'-' | b'.' | b' ')).count();
    let camel = found.upper > 0 && found.lower > 0 && found.symbols == 0 && found.turns * 4 < found.len;
    found.digits == 0 && (joined > 0 && joined == found.symbols || camel)
}

/// A call, an index, a path of names, a type.
fn is_code(value: &[u8], found: &Look) -> bool {
    if at(value, 0).is_ascii_alphabetic() || at(value, 0) == b'_' {
        let head = skip(value, 0, REACH, |byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'!' | b'?')
        });
        if matches!(at(value, head), b'(' | b'[') {
            return true;
        }
    }
    slice(value, 0, REACH).windows(2).any(|pair| matches!(pair, b"::" | b"->" | b"()" | b"=>" | b"&&" | b"||" | b"[]"))
        || is_dotted_path(value)
        || (found.digits <= 2 && found.turns * 4 < found.len && is_snake(value))
}

/// `snake_case_2`: at least one underscore between words and nothing else.
fn is_snake(value: &[u8]) -> bool {
    value.contains(&b'_')
        && value.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        && at(value, 0).is_ascii_alphabetic()
}
