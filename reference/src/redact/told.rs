//! Values told outside of a notation: table cells, dashes, other languages, logins, codes, Wi-Fi.
//!
//! Here nothing but words says that a value follows, so the value must look generated or carry a digit
//! inside. Digests, UUIDs, versions and words stay. Bounded work per hint. Not here: `name = value`, and
//! sentences that name a secret some words away (`sentence`).

use super::bytes::{at, find, line_end, line_start, next_line, skip, slice, soft_line_end, soft_line_start, starts};
use super::name::{Name, Strength};
use super::value::{self, Look, Style, look};
use super::{Span, assignment};

/// Longest table row looked at.
const ROW: usize = 240;
/// Most rows looked at below a header.
const ROWS: usize = 16;

/// Words for `is` behind an ASCII name, in languages whose word for password holds a mark.
pub(super) const VERBS: [&str; 10] = ["ist ", "lautet ", "est ", "es ", "è ", "é ", "e' ", "jest ", "je ", "är "];

/// A single word nobody writes by hand: letters with digits among them, no digest.
pub(super) fn is_generated(bytes: &[u8]) -> bool {
    let found = look(bytes);
    is_mixed_word(&found) && found.symbols == 0 && !found.hex && !value::is_placeholder(bytes)
}

fn is_mixed_word(found: &Look) -> bool {
    found.len >= 8 && found.digits > 0 && found.letters() > 1 && found.spaces + found.wide == 0 && found.turns > 1
}

/// Generated for certain: a change of class at every third byte or oftener, or several groups of digits.
pub(super) fn is_scrambled(bytes: &[u8]) -> bool {
    let found = look(bytes);
    let is_dense = found.turns * 3 >= found.len || found.upper == 0 && found.turns >= 4;
    found.len >= 12 && is_dense && is_generated(bytes)
}

/// The same name, surer where the value looks generated.
pub(super) fn surer(name: &Name, bytes: &[u8]) -> Name {
    let is_sure = name.strength >= Strength::Medium || name.label == "password";
    let is_long = bytes.len() >= 12 && is_sure && is_generated(bytes);
    Name { strength: if is_long { name.strength.max(Strength::Strong) } else { name.strength }, ..*name }
}

fn is_told(bytes: &[u8], strength: Strength) -> bool {
    let found = look(bytes);
    let is_plain = strength < Strength::Password && (found.hex || found.symbols > 0 && !found.is_mixed());
    let is_known = value::is_uuid(bytes) || found.hex && matches!(found.len, 40 | 64 | 128);
    strength >= Strength::Medium
        && is_mixed_word(&found)
        && !is_plain
        && !is_known
        && value::is_secret(bytes, strength.max(Strength::Strong), Style::Loose)
}

/// `| password | X |` and `password - X`; `index` is the first byte behind the name and blanks.
pub(super) fn aside(text: &[u8], name: &Name, index: usize) -> Option<Span> {
    if at(text, index) == b'|' {
        // Without blanks it is a row only where the line opens with a bar; `A|B` is a union of types.
        let line = soft_line_start(text, name.start, ROW);
        let bar = (line..name.start).rev().find(|&bar| !matches!(at(text, bar), b' ' | b'*' | b'`'));
        let opens = |bar: usize| at(text, bar) == b'|' && (bar == line || matches!(at(text, bar - 1), b'"' | b' '));
        let is_row = index > name.end && at(text, index + 1) == b' ' || bar.is_some_and(opens);
        return is_row.then(|| in_cell(text, index + 1, name)).flatten();
    }
    if starts(text, index, "</t") || starts(text, index, "</d") {
        let cell = (index + 3..index + 48).find(|&cell| starts(text, cell, "<td") || starts(text, cell, "<dd"))?;
        return in_cell(text, skip(text, cell, 40, |byte| byte != b'>') + 1, name);
    }
    let behind =
        ["- ", "– ", "— ", "→ ", "=> "].iter().find(|dash| starts(text, index, dash)).map(|dash| index + dash.len())?;
    let read = value::read(text, skip(text, behind, 4, |byte| byte == b' '));
    let is_apart = index > name.end && is_told(slice(text, read.start, read.end), name.strength);
    is_apart.then(|| Span::new(read.start, read.end, name.label))
}

/// The one word of the cell that starts at `cell`.
fn in_cell(text: &[u8], cell: usize, name: &Name) -> Option<Span> {
    let blank = |byte| matches!(byte, b' ' | b'\t' | b'*');
    let read = value::read(text, skip(text, cell, ROW, blank));
    let close = skip(text, read.after, ROW, blank);
    let is_closed = matches!(at(text, close), b'|' | b'<' | b'\n' | b'\r' | b'\\' | b'"' | 0);
    (is_closed && is_told(slice(text, read.start, read.end), name.strength))
        .then(|| Span::new(read.start, read.end, name.label))
}

/// Cells below a table's header cell `name`, pushed to `found` in order.
pub(super) fn column(text: &[u8], name: &Name, found: &mut Vec<Span>) {
    let start = soft_line_start(text, name.start, ROW);
    let n_bars = slice(text, start, name.start).iter().filter(|byte| **byte == b'|').count();
    let mut line = next_row(text, name.end);
    let rule = row(text, line);
    let is_rule = rule.len() > 2 && rule.iter().all(|byte| matches!(byte, b'|' | b'-' | b':' | b' '));
    if n_bars == 0 || !is_rule {
        return;
    }
    for _ in 0..ROWS {
        line = next_row(text, line);
        let bytes = row(text, line);
        let bar = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'|').map(|(index, _)| index).nth(n_bars - 1);
        let Some(bar) = bar else { return };
        found.extend(in_cell(text, line + bar + 1, name));
    }
}

fn row(text: &[u8], line: usize) -> &[u8] {
    slice(text, line, soft_line_end(text, line, ROW))
}

fn next_row(text: &[u8], index: usize) -> usize {
    next_line(text, soft_line_end(text, index, ROW))
}

/// Behind a name in another script: `密码是X`, `パスワードは X`, `пароль — X`.
pub(super) fn behind_wide_name(text: &[u8], name: &Name, index: usize) -> Option<Span> {
    let mut start = index;
    for joint in ["is ", "就是", "是", "为", "為", "は", "が", "는", "은", "这是", "— ", "– ", "- ", "это "]
    {
        if starts(text, start, joint) {
            start += joint.len();
        }
    }
    start = skip(text, start, 4, |byte| byte == b' ');
    let mut read = value::read(text, start);
    if !read.quoted {
        read.end = skip(text, read.start, read.end - read.start, |byte| byte < 0x80);
        read.after = read.end;
    }
    assignment::accept(text, name, read, Style::Loose)
}

/// `log in as root with X`; `end` is one past `as `.
pub(super) fn login(text: &[u8], end: usize) -> Option<Span> {
    let user = skip(text, end, 60, |byte| byte > b' ' && byte != b'\\');
    let word = [" with ", " using ", " / "].iter().find(|word| starts(text, user, word))?;
    if user == end {
        return None;
    }
    let read = value::read(text, user + word.len());
    let bytes = slice(text, read.start, read.end);
    (is_told(bytes, Strength::Medium)).then(|| Span::new(read.start, read.end, "password"))
}

/// `recovery code X`; `end` is one past the words.
pub(super) fn code(text: &[u8], end: usize) -> Option<Span> {
    let mut index = skip(text, end, 1, |byte| byte == b's');
    let behind = index;
    for joint in [" is ", " was ", ": ", " = ", "=", " - ", " "] {
        if starts(text, index, joint) {
            index += joint.len();
            break;
        }
    }
    let read = value::read(text, index);
    let is_code = index > behind && is_told(slice(text, read.start, read.end), Strength::Medium);
    is_code.then(|| Span::new(read.start, read.end, "recovery-code"))
}

/// `WIFI:T:WPA;S:name;P:X;;`; `end` is one past the scheme.
pub(super) fn wireless(text: &[u8], end: usize) -> Option<Span> {
    let stop = line_end(text, end, 240);
    let start = if starts(text, end, "p:") { end + 2 } else { find(text, end, stop, ";p:")? + 3 };
    let mut last = start;
    while last < stop && (at(text, last) != b';' || at(text, last - 1) == b'\\') {
        last += 1;
    }
    let bytes = slice(text, start, last);
    let is_password = at(text, last) == b';'
        && bytes.len() >= 4
        && !bytes.iter().any(|byte| matches!(byte, b'"' | b'`' | b' '))
        && !value::is_reference(bytes)
        && !value::is_placeholder(bytes);
    is_password.then(|| Span::new(start, last, "wifi-password"))
}

/// HTTP Digest: `response="…"` on a line with a nonce or a realm; `end` is one past the equals sign.
pub(super) fn digest_response(text: &[u8], start: usize, end: usize) -> Option<Span> {
    let read = value::read(text, end);
    let found = look(slice(text, read.start, read.end));
    if !found.hex || !matches!(found.len, 32 | 64) {
        return None;
    }
    let from = line_start(text, start, 400);
    let is_digest = ["digest ", "nonce=", "realm="].iter().any(|word| find(text, from, start, word).is_some());
    is_digest.then(|| Span::new(read.start, read.end, "digest-response"))
}

/// A 40-character secret key near the word `aws` or a key id at `start..end`: behind it, else before it.
pub(super) fn cloud_secret(text: &[u8], start: usize, end: usize) -> Option<Span> {
    forty(text, end, text.len().min(end + 120)).or_else(|| forty(text, start.saturating_sub(80), start))
}

fn forty(text: &[u8], from: usize, to: usize) -> Option<Span> {
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let mut index = from;
    // A run that is cut by the window is no whole word.
    while index < to && index > 0 && is_base64(at(text, index)) && is_base64(at(text, index - 1)) {
        index += 1;
    }
    while index < to {
        let mut first = index;
        let last = skip(text, index, ROW, is_base64);
        if last - first == 41 && at(text, first.wrapping_sub(1)) == b'\\' {
            // The letter of an escaped line feed.
            first += 1;
        }
        let bytes = slice(text, first, last);
        let found = look(bytes);
        let is_key = found.len == 40
            && !matches!(at(text, last), b'-' | b'_' | b'.' | b'=')
            && !matches!(at(text, first.wrapping_sub(1)), b'-' | b'_' | b'.' | b':' | b'@')
            && found.digits > 0
            && found.upper > 3
            && found.lower > 3
            && found.turns * 3 >= found.len
            && !value::is_placeholder(bytes);
        if is_key {
            return Some(Span::new(first, last, "aws-secret-key"));
        }
        index = last + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::is_generated;

    #[test]
    fn generated_word_is_told_from_words_and_digests() {
        assert!(is_generated(b"k3vQ9xTm2LpZ"));
        for text in ["varchar255", "required", "a1b2c3d4e5f60718", "v1.2.3-rc1", "xxxxxxxx"] {
            assert!(!is_generated(text.as_bytes()), "{text}");
        }
    }
}
