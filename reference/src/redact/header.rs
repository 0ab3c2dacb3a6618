//! Credentials of HTTP headers: `Bearer`, `Basic`, cookies.
//!
//! Header and scheme stay, the credential goes. Other headers are names with values.

use super::bytes::{at, find, line_end, line_start, skip, slice, starts};
use super::value::{self, look};
use super::{Span, token};

/// `Bearer VALUE`; `end` is one past the word.
pub(super) fn bearer(text: &[u8], start: usize, end: usize) -> Option<Span> {
    if !token::is_word_start(text, start) {
        return None;
    }
    let mut index = skip(text, end, 4, |byte| matches!(byte, b' ' | b':' | b'='));
    if starts(text, index, "%20") {
        index += 3;
    }
    if index == end {
        return None;
    }
    let read = value::read(text, index);
    let bytes = slice(text, read.start, read.end);
    let found = look(bytes);
    let in_header = find(text, start.saturating_sub(32), start, "authorization").is_some();
    let is_plain = value::is_reference(bytes) || value::is_placeholder(bytes) || bytes.contains(&b'(');
    let is_credential =
        found.len >= 12 && found.digits > 0 && found.letters() > 0 && (in_header || found.is_mixed() || found.hex)
            || in_header && found.len >= 6 && found.digits + found.symbols > 0;
    if is_plain || !is_credential || found.spaces > 0 || found.wide > 0 {
        return None;
    }
    let end = if read.quoted { read.end } else { value::run_end(text, read.start, read.end) };
    Some(Span::new(read.start, token::continued(text, end), "bearer-token"))
}

/// `Basic BASE64` where the base64 holds `user:password`; `end` is one past the word.
pub(super) fn basic(text: &[u8], start: usize, end: usize) -> Option<Span> {
    let index = skip(text, end, 4, |byte| byte == b' ');
    let index = if starts(text, index, "%20") { index + 3 } else { index };
    if index == end || !token::is_word_start(text, start) {
        return None;
    }
    let stop = skip(text, index, value::REACH, is_base64);
    let bytes = slice(text, index, stop);
    let in_header = find(text, start.saturating_sub(32), start, "auth").is_some();
    let found = look(bytes);
    let is_credential = holds_pair(bytes) || in_header && found.len >= 8 && (found.is_mixed() || bytes.ends_with(b"="));
    (is_credential && !value::is_placeholder(bytes))
        .then(|| Span::new(index, token::continued(text, stop), "basic-auth"))
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_')
}

/// Whether base64 text decodes to printable text with a colon in it.
pub(super) fn holds_pair(base64: &[u8]) -> bool {
    if base64.len() < 8 {
        return false;
    }
    let (mut bits, mut n_bits, mut colon) = (0_u32, 0, false);
    for &byte in base64 {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => break,
            _ => return false,
        };
        bits = bits << 6 | u32::from(six);
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            let letter = (bits >> n_bits & 0xff) as u8;
            if letter < 0x20 || letter == 0x7f {
                return false;
            }
            colon |= letter == b':';
        }
    }
    colon
}

/// Values of `Cookie:` and `Set-Cookie:` that look like a session; pushed to `found` in order.
pub(super) fn cookies(text: &[u8], end: usize, found: &mut Vec<Span>) {
    let mut index = skip(text, end, 4, |byte| matches!(byte, b'"' | b'\'' | b'\\'));
    if !matches!(at(text, index), b':' | b'=' | b',') {
        return;
    }
    let stop = line_end(text, index, 2048);
    index = skip(text, index + 1, 4, |byte| matches!(byte, b' ' | b'"' | b'\'' | b'\\'));
    for _ in 0..40 {
        let equals = skip(text, index, 80, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
        if at(text, equals) != b'=' || equals >= stop {
            return;
        }
        let value_end = skip(text, equals + 1, stop - equals - 1, |byte| {
            !matches!(byte, b';' | b'"' | b'\'' | b'\\' | b'`' | b' ' | b'\r' | b',' | b'|')
        });
        let bytes = slice(text, equals + 1, value_end);
        let is_session = ["sess", "sid", "token", "auth", "jwt", "csrf", "xsrf", "remember", "secret"]
            .iter()
            .any(|word| find(text, index, equals, word).is_some());
        let counts = look(bytes);
        let is_value = counts.is_random() || is_session && counts.len >= 8 && counts.digits > 0;
        if is_value && !value::is_reference(bytes) && !value::is_placeholder(bytes) {
            found.push(Span::new(equals + 1, value_end, "cookie"));
        }
        if at(text, value_end) != b';' {
            return;
        }
        index = skip(text, value_end + 1, 4, |byte| byte == b' ');
    }
}

/// `"auth": "BASE64"` of a container registry's login file is judged by what it decodes to.
pub(super) fn registry_auth(text: &[u8], end: usize) -> Option<Span> {
    let index = skip(text, end, 8, |byte| matches!(byte, b'"' | b'\\' | b':' | b' ' | b'=' | b'\''));
    let stop = skip(text, index, value::REACH, is_base64);
    let bytes = slice(text, index, stop);
    let on_line = line_start(text, end, 200) <= index;
    (index > end && on_line && bytes.len() >= 12 && holds_pair(bytes)).then(|| Span::new(index, stop, "basic-auth"))
}
