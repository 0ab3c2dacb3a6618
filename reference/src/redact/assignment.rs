//! A secret-like name and the value it introduces.
//!
//! Covers `NAME=value` in any notation (environment, YAML, TOML, JSON at any escape depth, XML, SQL,
//! call arguments, flags) and name/value pairs. The name's strength
//! sets how random the value must look. Bounded work per name. Not here: sentences that
//! hand a value over (`sentence`), token shapes, addresses.

use super::bytes::{at, find, line_start, next_line, skip, slice, soft_line_end, starts};
use super::name::{Name, Strength};
use super::sentence::{self, is_handing, speaks_of_digest};
use super::value::{self, Style, Value};
use super::{Span, token, told};

/// The secret that `name` introduces.
pub(super) fn find_secret(text: &[u8], name: &Name) -> Option<Span> {
    let lead = close_name(text, name);
    assigned(text, name, &lead).or_else(|| paired(text, name, &lead)).or_else(|| sentence::handed_over(text, name))
}

/// What stands right behind a name.
struct Lead {
    /// First byte behind quotes, brackets and blanks.
    at: usize,
    quoted: bool,
    blank: bool,
}

fn close_name(text: &[u8], name: &Name) -> Lead {
    let mut index = name.end;
    let mut quoted = false;
    for _ in 0..3 {
        let slashes = skip(text, index, 8, |byte| byte == b'\\');
        if matches!(at(text, slashes), b'"' | b'\'' | b'`') {
            index = slashes + 1;
            quoted = true;
        } else if matches!(at(text, index), b']' | b'*' | b'?' | b'!') && at(text, index + 1) != b'?' {
            index += 1;
        } else if starts(text, slashes, "&quot;") {
            index = slashes + 6;
            quoted = true;
        }
    }
    let mut end = skip(text, index, 24, |byte| byte == b' ' || byte == b'\t');
    // A blank that does not break stands before a colon in French.
    for blank in ["\u{a0}:", "\u{202f}:"] {
        if starts(text, end, blank) {
            end += blank.len() - 1;
        }
    }
    Lead { at: end, quoted, blank: end > index }
}

/// `name = value` in all its notations.
fn assigned(text: &[u8], name: &Name, lead: &Lead) -> Option<Span> {
    let mut index = lead.at;
    let first = at(text, index);
    // A lone `pass` is a test result too, but not where it is a key or a variable.
    let is_set = name.label == "password" && name.strength == Strength::Weak && (lead.quoted || first == b'=');
    let name = &if is_set { Name { strength: Strength::Strong, ..*name } } else { *name };
    let mut style = Style::Loose;
    match first {
        b'=' => {
            index = skip(text, index, 3, |byte| byte == b'=' || byte == b'>' || byte == b'~');
            let tight = !lead.blank && !at(text, index).is_ascii_whitespace();
            // `key=value` without blanks is data unless it looks like a call's argument.
            if tight && index == lead.at + 1 && (name.shouted || is_literal_context(text, name)) {
                style = Style::Literal;
            }
        }
        b':' => {
            let is_expansion = at(text, name.start.wrapping_sub(1)) == b'{';
            if matches!(at(text, index + 1), b'?' | b'+') && is_expansion || at(text, index + 1) == b':' {
                return None;
            }
            index += 1;
            if is_expansion && matches!(at(text, index), b'-' | b'=') || at(text, index) == b'=' {
                index += 1;
            }
            // Markdown: **Password:** value.
            index = skip(text, index, 2, |byte| byte == b'*');
        }
        b'-' if at(text, index + 1) == b'>' => index += 2,
        b'>' if is_tag(text, name) => {
            index += 1;
            style = Style::Literal;
        }
        b'?' | b'+' | b'|' | b'!' if skip(text, index, 3, |byte| byte != b'=') < index + 3 => {
            index = skip(text, index, 3, |byte| byte != b'=') + 1;
        }
        b',' if lead.quoted => {
            index = skip(text, index + 1, 8, |byte| byte == b' ');
            value::quote_at(text, index)?;
            // `["PASSWORD", "CONNECTION"]` is a list of words.
            let read = value::read(text, index);
            let found = value::look(slice(text, read.start, read.end));
            if found.digits + found.symbols == 0 {
                return None;
            }
        }
        b'(' => {
            if name.label == "auth"
                && let Some(span) = tuple(text, name, index)
            {
                return Some(span);
            }
            index += 1;
            let read = value::read(text, index);
            let is_aside = lead.blank && told::is_scrambled(slice(text, read.start, read.end));
            if !is_aside {
                value::quote_at(text, index)?;
            }
        }
        0xef if starts(text, index, "：") => index += 3,
        _ => return told::aside(text, name, lead.at).or_else(|| spoken(text, name, lead)),
    }
    index = skip(text, index, 16, |byte| byte == b' ' || byte == b'\t');
    let is_escaped = at(text, index) == b'\\' && soft_line_end(text, index, 1) == index;
    if (matches!(at(text, index), b'\n' | b'\r' | b'|' | b'>') || is_escaped) && first != b'(' {
        return below(text, name, index);
    }
    if name.scheme {
        index = behind_scheme(text, index);
    }
    if first == b':' {
        index = behind_type(text, index).unwrap_or(index);
    }
    if at(text, index) == b'(' && name.label == "auth" {
        return tuple(text, name, index);
    }
    let read = value::read(text, index);
    let bytes = slice(text, read.start, read.end);
    let name = if told::is_scrambled(bytes) { told::surer(name, bytes) } else { *name };
    accept(text, &name, read, style)
}

/// In a shell line, a connection string or an address: an unquoted run is data, not an expression.
fn is_literal_context(text: &[u8], name: &Name) -> bool {
    let before = at(text, name.start.wrapping_sub(1));
    matches!(before, b';' | b'?' | b'&' | b'/' | b':')
        || starts(text, name.start, "-")
        || {
            // A connection string holds other `name=value;` pairs on the line.
            let from = line_start(text, name.start, 120);
            slice(text, from, name.start).windows(2).any(|pair| pair == b";" || pair == b"; ")
        }
        || at(text, name.start.wrapping_sub(1)) == b'\n' && name.start > 0
}

fn is_tag(text: &[u8], name: &Name) -> bool {
    matches!(at(text, name.start.wrapping_sub(1)), b'<' | b':')
}

/// `password is hunter2`, `set TOKEN to x`, `--token x`, `password 'x'`, `login a password b`.
fn spoken(text: &[u8], name: &Name, lead: &Lead) -> Option<Span> {
    if at(text, name.start) >= 0x80 {
        return told::behind_wide_name(text, name, lead.at);
    }
    if !lead.blank && !lead.quoted {
        return None;
    }
    if starts(text, lead.at, "is:") {
        return below(text, name, skip(text, lead.at + 3, 4, |byte| byte == b' '));
    }
    let bare = skip(text, lead.at + 2, 4, |byte| byte == b' ');
    if starts(text, lead.at, "is") && bare < text.len() && soft_line_end(text, bare, 1) == bare {
        let span = below(text, name, bare)?;
        return told::is_scrambled(slice(text, span.start, span.end)).then_some(span);
    }
    for phrase in ["should be ", "will be ", "must be ", "changed to ", "reset to ", "became ", "shall be "] {
        if starts(text, lead.at, phrase) {
            let read = value::read(text, lead.at + phrase.len());
            let bytes = slice(text, read.start, read.end);
            let is_value = told::is_scrambled(bytes);
            return is_value.then(|| accept(text, &told::surer(name, bytes), read, Style::Loose)).flatten();
        }
    }
    let is_own = |word: &&str| starts(text, lead.at, word);
    if let Some(verb) = told::VERBS.iter().copied().find(is_own).filter(|_| name.strength == Strength::Password) {
        let start = skip(text, lead.at + verb.len(), 4, |byte| byte == b' ');
        return accept(text, name, value::read(text, start), Style::Loose);
    }
    for word in ["is ", "to ", "was ", "as ", "are ", "= ", "with ", "now "] {
        if starts(text, lead.at, word) {
            let mut index = lead.at + word.len();
            for filler in ["now ", "be ", "still ", "currently ", "just ", "the ", "value ", "following: ", "set to "] {
                if starts(text, index, filler) {
                    index += filler.len();
                }
            }
            index = skip(text, index, 4, |byte| byte == b' ');
            let read = value::read(text, index);
            let name = told::surer(name, slice(text, read.start, read.end));
            return accept(text, &name, read, Style::Loose);
        }
    }
    let read = value::read(text, lead.at);
    let found = value::look(slice(text, read.start, read.end));
    let is_flag = at(text, name.start) == b'-';
    if is_flag && name.label == "password" && !found.hex {
        return accept(text, &Name { strength: Strength::Password, ..*name }, read, Style::Loose);
    }
    let is_netrc = name.strength == Strength::Password && in_netrc(text, name.start);
    if is_netrc {
        return accept(text, name, read, Style::Literal);
    }
    let is_plain = found.symbols > 0 && value::is_placeholder(slice(text, read.start, read.end));
    let is_likely = is_flag || read.quoted && name.strength >= Strength::Medium && found.spaces == 0;
    let lead_in = slice(text, name.start.saturating_sub(24), name.start);
    let is_digest = found.hex && (!matches!(found.len, 32 | 40 | 64) || speaks_of_digest(lead_in));
    if found.is_random() && is_handing(lead_in) && !is_digest && !value::is_uuid(slice(text, read.start, read.end)) {
        return accept(text, &Name { strength: name.strength.max(Strength::Medium), ..*name }, read, Style::Loose);
    }
    let is_chosen = name.strength == Strength::Password
        && found.len >= 6
        && found.digits > 0
        && found.letters() > 1
        && slice(text, read.start, read.end)
            .iter()
            .any(|byte| matches!(byte, b'!' | b'#' | b'$' | b'%' | b'@' | b'*' | b'^'));
    let bytes = slice(text, read.start, read.end);
    if name.strength >= Strength::Medium && told::is_scrambled(bytes) && (is_flag || name.label == "password") {
        return accept(text, &told::surer(name, bytes), read, Style::Loose);
    }
    if is_chosen || is_likely && !is_plain || name.strength >= Strength::Medium && found.is_random() && !found.hex {
        let style = if read.quoted { Style::Quoted } else { Style::Loose };
        return accept(text, name, read, style);
    }
    None
}

fn in_netrc(text: &[u8], start: usize) -> bool {
    let from = start.saturating_sub(240);
    find(text, from, start, "login ").is_some() || find(text, from, start, "machine ").is_some()
}

/// `name:` with the value alone on the next line, or a YAML block.
fn below(text: &[u8], name: &Name, index: usize) -> Option<Span> {
    let line = skip(text, index, 6, |byte| matches!(byte, b'|' | b'>' | b'-' | b'+' | b' '));
    let line = if at(text, line) == b'\r' { line + 1 } else { line };
    if soft_line_end(text, line, 1) != line {
        return None;
    }
    let blank = |byte| byte == b' ' || byte == b'\t';
    let mut start = skip(text, next_line(text, line), 24, blank);
    // An empty line and the opening of a code fence may stand between.
    for _ in 0..3 {
        let word = if starts(text, start, "```") {
            skip(text, start + 3, 16, |byte| byte.is_ascii_alphanumeric())
        } else {
            start
        };
        let feed = skip(text, word, 2, |byte| byte == b'\r' || byte == b' ');
        if feed >= text.len() || soft_line_end(text, feed, 1) != feed {
            break;
        }
        start = skip(text, next_line(text, feed), 24, blank);
    }
    let read = value::read(text, start);
    if !matches!(at(text, read.after), b'\n' | b'\r' | b'\\' | b'"' | 0) {
        return None;
    }
    let bytes = slice(text, read.start, read.end);
    (value::look(bytes).digits > 0).then(|| accept(text, &told::surer(name, bytes), read, Style::Loose)).flatten()
}

/// Skips `Bearer `, `Basic `, `token ` and the like behind `Authorization:`.
fn behind_scheme(text: &[u8], index: usize) -> usize {
    let quote = value::quote_at(text, index).map_or(index, |(quote, _)| quote + 1);
    let word = skip(text, quote, 24, |byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let next = skip(text, word, 4, |byte| byte == b' ');
    if next > word && word > quote && at(text, next) > b' ' { next } else { index }
}

/// `password: str = "x"`: what stands behind the type.
fn behind_type(text: &[u8], index: usize) -> Option<usize> {
    let end = skip(text, index, 40, |byte| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'_' | b'&' | b'<' | b'>' | b'[' | b']' | b'?' | b'.' | b' ' | b'|')
    });
    if at(text, end) != b'=' || matches!(at(text, end + 1), b'=' | b'>') || end == index {
        return None;
    }
    let index = skip(text, end + 1, 8, |byte| byte == b' ');
    value::quote_at(text, index).map(|_| index)
}

/// `auth=("user", "password")`.
fn tuple(text: &[u8], name: &Name, index: usize) -> Option<Span> {
    let user = value::read(text, index + 1);
    let comma = skip(text, user.after, 4, |byte| byte == b' ' || byte == b',');
    if !user.quoted || comma == user.after {
        return None;
    }
    let name = Name { strength: Strength::Password, label: "password", ..*name };
    let read = value::read(text, comma);
    read.quoted.then(|| accept(text, &name, read, Style::Quoted)).flatten()
}

/// `name: X` / `value: Y` on the next line, and `key="X" value="Y"`.
fn paired(text: &[u8], name: &Name, lead: &Lead) -> Option<Span> {
    let is_end = matches!(at(text, lead.at), b',' | b'\n' | b'\r' | b'\\' | b'v') || lead.quoted;
    if !is_end {
        return None;
    }
    let mut index = lead.at;
    for _ in 0..2 {
        index = skip(text, index, 40, |byte| byte.is_ascii_whitespace() || byte == b',');
        if at(text, index) == b'\\' && matches!(at(text, index + 1), b'n' | b'r') {
            index += 2;
        }
    }
    index = skip(text, index, 8, |byte| matches!(byte, b'\\' | b'"' | b'\''));
    if !starts(text, index, "value") {
        return None;
    }
    index = skip(text, index + 5, 8, |byte| matches!(byte, b'\\' | b'"' | b'\'' | b' '));
    if !matches!(at(text, index), b'=' | b':') {
        return None;
    }
    index = skip(text, index + 1, 8, |byte| byte == b' ');
    accept(text, name, value::read(text, index), Style::Literal)
}

/// Judges a value and takes its continuation lines with it.
pub(super) fn accept(text: &[u8], name: &Name, read: Value, style: Style) -> Option<Span> {
    let style = if read.quoted { Style::Quoted } else { style };
    let mut bytes = slice(text, read.start, read.end);
    // `Bearer x` and `Basic x` as a whole value.
    let mut start = read.start;
    for scheme in ["bearer ", "basic ", "token "] {
        if starts(bytes, 0, scheme) {
            start += scheme.len();
            bytes = slice(text, start, read.end);
        }
    }
    if slice(text, start, start + 10) == b"[redacted:" || is_echo(text, name, bytes) {
        return None;
    }
    let is_union = at(text, read.after) == b'|' && at(text, read.after + 1).is_ascii_alphabetic();
    if name.strength == Strength::Weak && is_union {
        return None;
    }
    if name.strength == Strength::Weak && in_query(text, name) {
        let found = value::look(bytes);
        return (found.len >= 16 && found.digits > 1).then(|| Span::new(start, read.end, name.label));
    }
    let is_scheme = name.scheme && !value::is_reference(bytes) && !value::is_placeholder(bytes);
    let signed = name.label == "signature" && !value::is_placeholder(bytes) && {
        let from = line_start(text, name.start, 300);
        find(text, from, name.start, "authorization").is_some() && value::look(bytes).digits > 4
    };
    let likely = signed
        || is_scheme && {
            let found = value::look(bytes);
            found.len >= 8 && found.digits + found.symbols > 0
        };
    if likely && !bytes.contains(&b'(') || value::is_secret(bytes, name.strength, style) {
        let end = if read.quoted { joined(text, &read).end } else { value::run_end(text, read.start, read.end) };
        return Some(Span::new(start, token::continued(text, end), name.label));
    }
    // The first string may be plain where the second is not.
    let last = joined(text, &read);
    let is_split = read.quoted && last.start > read.end && !value::is_reference(bytes);
    let is_telling = is_split && value::is_secret(slice(text, last.start, last.end), name.strength, Style::Quoted);
    is_telling.then(|| Span::new(start, last.end, name.label))
}

/// The last string that is joined to a quoted value: `"a" + "b"`, or `"a" \` and a line with `"b"`.
fn joined(text: &[u8], read: &Value) -> Value {
    let mut last = *read;
    for _ in 0..32 {
        let mut next = last.after;
        while next < last.after + 48 {
            let is_feed = at(text, next) == b'n' && at(text, next.wrapping_sub(1)) == b'\\';
            let byte = at(text, next);
            if !(is_feed || byte.is_ascii_whitespace() || matches!(byte, b'+' | b'.' | b'\\' | b'&')) {
                break;
            }
            next += 1;
        }
        while next > last.after && at(text, next - 1) == b'\\' {
            next -= 1;
        }
        let gap = slice(text, last.after, next);
        let is_joint = gap.iter().any(|byte| matches!(byte, b'+' | b'.' | b'\\' | b'&'));
        let piece = value::read(text, next);
        let bytes = slice(text, piece.start, piece.end);
        if !last.quoted
            || !is_joint
            || !piece.quoted
            || bytes.len() < 2
            || bytes.contains(&b' ')
            || value::is_reference(bytes)
        {
            break;
        }
        last = piece;
    }
    last
}

/// The value repeats the name: `get("auth_token")`, `API_KEY: API_KEY`.
fn is_echo(text: &[u8], name: &Name, bytes: &[u8]) -> bool {
    slice(text, name.start, name.end).eq_ignore_ascii_case(bytes)
}

/// `?sig=…` and `&X-Amz-Signature=…`.
fn in_query(text: &[u8], name: &Name) -> bool {
    matches!(at(text, name.start.wrapping_sub(1)), b'?' | b'&' | b';') && at(text, name.end) == b'='
}
