//! Tokens with a shape of their own: known starts, JSON web tokens, salted hashes, bot tokens.
//!
//! A token wrapped over lines is taken whole. Bounded work for a rejected start. Not here: names.

use super::Span;
use super::bytes::{at, line_start, skip, slice, starts};
use super::mark::Prefix;
use super::value::{self, look};

/// Characters that the rest of a token may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alphabet {
    /// Letters, digits, `_`.
    Word,
    /// Also `-`, `.`, `~`, `=`.
    Dotted,
    /// Also `+`, `/`.
    Base64,
    /// Lower-case hexadecimal digits.
    Hex,
    /// Capitals and digits.
    Upper,
}

impl Alphabet {
    fn has(self, byte: u8) -> bool {
        match self {
            Alphabet::Word => byte.is_ascii_alphanumeric() || byte == b'_',
            Alphabet::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'~' | b'='),
            Alphabet::Base64 => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'~' | b'=' | b'+' | b'/')
            }
            Alphabet::Hex => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
            Alphabet::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
        }
    }
}

/// Whether a word starts at `start`; an escape such as `\n` before it counts as a gap.
pub(super) fn is_word_start(text: &[u8], start: usize) -> bool {
    let before = at(text, start.wrapping_sub(1));
    if start == 0 || !(before.is_ascii_alphanumeric() || matches!(before, b'+' | b'/')) {
        return true;
    }
    let second = at(text, start.wrapping_sub(2));
    start >= 2 && second == b'\\' && matches!(before, b'n' | b'r' | b't')
        || start >= 3 && at(text, start - 3) == b'%' && second.is_ascii_hexdigit() && before.is_ascii_hexdigit()
        || before == b'/' && !second.is_ascii_digit()
}

/// A token that starts with a known prefix at `start`.
pub(super) fn prefixed(text: &[u8], start: usize, prefix: &Prefix) -> Option<Span> {
    let head = start + prefix.exact.len();
    if slice(text, start, head) != prefix.exact.as_bytes() || !is_word_start(text, start) {
        return None;
    }
    let end = skip(text, head, value::REACH, |byte| prefix.alphabet.has(byte));
    let end = trim(text, head, end);
    let mut last = end;
    let mut n_tail = end - head;
    if n_tail < prefix.least || at(text, end) == b'\n' || at(text, end) == b'\\' {
        // Cut by a line break: the rest may stand on the next line.
        if let Some((from, to)) = next_piece(text, end, prefix.alphabet)
            && n_tail + (to - from) >= prefix.least
            && n_tail < prefix.least
            && look(slice(text, from, to)).digits > 0
        {
            n_tail += to - from;
            last = to;
        }
    }
    if n_tail < prefix.least {
        return None;
    }
    let tail = slice(text, head, end);
    let found = look(tail);
    let is_shaped = match prefix.alphabet {
        Alphabet::Upper => n_tail == prefix.least || n_tail <= prefix.least + 4,
        Alphabet::Hex => n_tail == prefix.least && !at(text, end).is_ascii_alphanumeric(),
        _ => {
            last > end
                || found.is_mixed()
                || found.upper + found.digits > 2 && found.lower > 0 && found.turns * 6 >= found.len
        }
    };
    // `sk-…` and its like are also starts of ordinary kebab words.
    let is_plain = prefix.least < 20 && last == end && !found.is_mixed() && (found.digits < 4 || has_words(tail));
    let is_url = at(text, last) == b'/' && prefix.alphabet == Alphabet::Word && prefix.least < 20;
    if !is_shaped || is_plain && prefix.alphabet != Alphabet::Upper || is_url || value::is_placeholder(tail) {
        return None;
    }
    let mut end = last;
    if end - start >= value::REACH {
        end = skip(text, end, usize::MAX, |byte| prefix.alphabet.has(byte));
    }
    Some(Span::new(start, continued(text, end), prefix.label))
}

/// Three letters or more between separators, in every part: words.
fn has_words(tail: &[u8]) -> bool {
    tail.split(|byte| matches!(byte, b'-' | b'_' | b'.')).all(|part| look(part).turns <= 2 && part.len() < 14)
}

fn trim(text: &[u8], head: usize, mut end: usize) -> usize {
    while end > head && matches!(at(text, end - 1), b'.' | b'~') && !at(text, end).is_ascii_alphanumeric() {
        end -= 1;
    }
    end
}

/// The run on the next line, behind `\`, quotes and `+`.
fn next_piece(text: &[u8], end: usize, alphabet: Alphabet) -> Option<(usize, usize)> {
    let mut index = skip(text, end, 12, |byte| matches!(byte, b'"' | b'\'' | b' ' | b'+' | b'\\' | b'.' | b'\r'));
    let escaped = at(text, index) == b'n' && at(text, index.wrapping_sub(1)) == b'\\';
    if at(text, index) != b'\n' && !escaped {
        return None;
    }
    index = skip(text, index + 1, 40, |byte| matches!(byte, b' ' | b'\t' | b'"' | b'\'' | b'+' | b'\\'));
    let to = skip(text, index, value::REACH, |byte| alphabet.has(byte));
    (to > index).then_some((index, to))
}

/// Extends `end` over following lines that can only be the rest of the same value.
pub(super) fn continued(text: &[u8], mut end: usize) -> usize {
    while let Some((from, to)) = next_piece(text, end, Alphabet::Base64) {
        let piece = slice(text, from, to);
        let found = look(piece);
        let closes =
            matches!(at(text, to), 0 | b'\n' | b'\r' | b'"' | b'\'' | b'\\' | b'`' | b',' | b';' | b' ' | b')');
        let alone = !matches!(at(text, to), b' ' | b'(' | b':');
        let concatenated = slice(text, end, from).iter().any(|byte| matches!(byte, b'"' | b'\'' | b'+'))
            || at(text, end) == b'\\' && at(text, end + 1) == b'\n';
        let named = piece.contains(&b'=') && !piece.ends_with(b"=");
        let random = found.is_mixed() && !(found.hex && matches!(found.len, 32 | 40 | 64 | 128));
        let tail = concatenated && found.len >= 4 && found.digits > 0;
        if !closes || named || !(random && alone || tail) || value::is_placeholder(piece) {
            break;
        }
        end = skip(text, to, usize::MAX, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    }
    end
}

/// `header.payload.signature` in base64url, or the same encoded once more.
pub(super) fn web_token(text: &[u8], start: usize) -> Option<Span> {
    let exact = slice(text, start, start + 3);
    if exact != b"eyJ" && slice(text, start, start + 4) != b"ZXlK" || !is_word_start(text, start) {
        return None;
    }
    let mut end = skip(text, start, value::REACH, |byte| Alphabet::Dotted.has(byte));
    if end - start >= value::REACH {
        end = skip(text, end, usize::MAX, |byte| Alphabet::Dotted.has(byte));
    }
    end = trim(text, start, end);
    let n_dots = slice(text, start, end).iter().filter(|byte| **byte == b'.').count();
    let is_twice = exact != b"eyJ" && end - start >= 60;
    let wrapped = n_dots < 2 && end - start >= 10 && next_piece(text, end, Alphabet::Dotted).is_some();
    if !(is_twice || n_dots >= 2 && end - start >= 30) {
        if !wrapped {
            return None;
        }
        let whole = continued_dotted(text, end);
        let n_dots = slice(text, start, whole).iter().filter(|byte| **byte == b'.').count();
        return (n_dots >= 2 && whole - start >= 40).then(|| Span::new(start, whole, "jwt"));
    }
    Some(Span::new(start, continued_dotted(text, end), "jwt"))
}

fn continued_dotted(text: &[u8], mut end: usize) -> usize {
    for _ in 0..64 {
        let Some((from, to)) = next_piece(text, end, Alphabet::Dotted) else { break };
        let piece = slice(text, from, to);
        let found = look(piece);
        if !(found.is_mixed() || found.len < 16 && found.digits > 0 && found.turns * 4 >= found.len) {
            break;
        }
        end = to;
    }
    end
}

/// `123456789:AA…`: a chat bot's token.
pub(super) fn bot_token(text: &[u8], colon: usize) -> Option<Span> {
    let mut start = colon;
    while start > 0 && colon - start < 12 && at(text, start - 1).is_ascii_digit() {
        start -= 1;
    }
    let end = skip(text, colon + 1, 64, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    let is_shaped =
        colon - start >= 6 && (30..=50).contains(&(end - colon - 1)) && look(slice(text, colon, end)).is_mixed();
    is_shaped.then(|| Span::new(start, end, "bot-token"))
}

/// Three parts around two dots, the second of six characters: a chat bot's token, from its first dot.
pub(super) fn three_parts(text: &[u8], dot: usize) -> Option<Span> {
    let second = dot + 7;
    if at(text, second) != b'.' {
        return None;
    }
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let end = skip(text, second + 1, 48, is_part);
    if skip(text, dot + 1, 6, is_part) != second || !(27..=45).contains(&(end - second - 1)) {
        return None;
    }
    let mut start = dot;
    while start > 0 && dot - start < 32 && is_part(at(text, start - 1)) {
        start -= 1;
    }
    if at(text, start.wrapping_sub(1)) == b'\\' && matches!(at(text, start), b'n' | b't' | b'r') {
        start += 1;
    }
    let is_id = (22..=30).contains(&(dot - start)) && look(slice(text, start, dot)).is_mixed();
    (is_id && look(slice(text, second + 1, end)).is_mixed()).then(|| Span::new(start, end, "bot-token"))
}

/// `X.atlasv1.Y`, the middle at `mark..mark_end`.
pub(super) fn atlas(text: &[u8], mark: usize, mark_end: usize) -> Option<Span> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let end = skip(text, mark_end, 256, is_part);
    let mut start = mark;
    while start > 0 && mark - start < 24 && at(text, start - 1).is_ascii_alphanumeric() {
        start -= 1;
    }
    if start > 0 && at(text, start - 1) == b'\\' && matches!(at(text, start), b'n' | b't' | b'r') {
        start += 1;
    }
    let tail = slice(text, mark_end, end);
    (mark - start >= 10 && tail.len() >= 40 && !value::is_placeholder(tail))
        .then(|| Span::new(start, end, "terraform-token"))
}

/// A salted password hash: `$2y$10$…`, `$6$…`, `{SSHA}…`.
pub(super) fn crypt(text: &[u8], start: usize) -> Option<Span> {
    let end = skip(text, start, value::REACH, |byte| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'$' | b'.' | b'/' | b'+' | b'=' | b',' | b'{' | b'}' | b'-' | b'_')
    });
    let bytes = slice(text, start, end);
    let n_marks = bytes.iter().filter(|byte| **byte == b'$').count();
    let found = look(bytes);
    let is_ldap = at(text, start) == b'{' && found.len >= 30 && !value::is_placeholder(slice(bytes, 6, bytes.len()));
    let last = bytes.rsplit(|byte| *byte == b'$').next().unwrap_or(&[]);
    (is_ldap || n_marks >= 3 && last.len() >= 20 && found.len >= 30 && found.turns >= 6)
        .then(|| Span::new(start, end, "password-hash"))
}

/// A word that holds a mark such as `key-` or `token_` and ends in a long random run.
pub(super) fn vendor(text: &[u8], from: usize, to: usize) -> Option<Span> {
    if !matches!(at(text, to), b'_' | b'-') {
        return None;
    }
    let floor = line_start(text, from, 24);
    let mut start = from;
    while start > floor && (at(text, start - 1).is_ascii_alphanumeric() || matches!(at(text, start - 1), b'_' | b'-')) {
        start -= 1;
    }
    if start + 1 < from && at(text, start.wrapping_sub(1)) == b'\\' {
        start += 1;
    }
    let end = skip(text, to + 1, value::REACH, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    let tail = slice(text, to + 1, end);
    let run = tail.rsplit(|byte| matches!(byte, b'_' | b'-')).next().unwrap_or(&[]);
    let found = look(if run.len() >= 16 { run } else { tail });
    let is_digest =
        ["sha", "md5", "hash", "cache"].iter().any(|word| starts(text, start, word)) || value::is_uuid(tail);
    let is_token = found.len >= 20 && found.is_random() && !is_digest && (!found.hex || found.len >= 24);
    (is_token && !value::is_placeholder(tail)).then(|| Span::new(start, end, "api-token"))
}
