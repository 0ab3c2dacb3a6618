//! Commands that take a password as an argument: `mysql -pX`, `curl -u user:X`, `sshpass -p X`.
//!
//! Only the argument goes. Long flags (`--password X`) are names with values. Looks at one line.

use super::Span;
use super::bytes::{at, find, line_end, line_start, skip, slice, starts};
use super::token::is_word_start;
use super::told;
use super::value::{self, look};

/// Longest command line looked at.
const REACH: usize = 600;

/// The secret argument of the command whose name stands at `start..end`.
pub(super) fn argument(text: &[u8], start: usize, end: usize) -> Option<Span> {
    if !is_word_start(text, start) && at(text, start) != b'p' && at(text, start.wrapping_sub(1)) != b'/' {
        return None;
    }
    let name = slice(text, start, end).to_ascii_lowercase();
    let stop = command_end(text, end);
    match name.as_slice() {
        b"curl" | b"wget" => flag(text, end, stop, &["-u", "--user", "-U", "--proxy-user", "-sSu", "-su"], Form::Pair),
        b"mysql" | b"mariadb" => glued(text, end, stop, b'p'),
        b"sshpass" => flag(text, end, stop, &["-p"], Form::Any).or_else(|| glued(text, end, stop, b'p')),
        b"login" if starts(text, start.saturating_sub(6), "vault ") => last_argument(text, end, stop),
        b"mongo" | b"login" | b"sqlcmd" | b"influx" => flag(text, end, stop, &["-p", "-P", "-w"], Form::Any),
        b"redis-cli" => flag(text, end, stop, &["-a"], Form::Any),
        b"ldap" => flag(text, end, stop, &["-w"], Form::Any),
        b"smbclient" => flag(text, end, stop, &["-U"], Form::Percent),
        b"htpasswd" => of_batch(text, end, stop),
        b"net use " => of_share(text, end),
        b"psql" => flag(text, end, stop, &["-W"], Form::Any)
            .filter(|span| told::is_generated(slice(text, span.start, span.end))),
        b"rabbitmqctl" => {
            let is_password = ["add_user", "change_password"].iter().any(|word| find(text, end, stop, word).is_some());
            is_password.then(|| last_argument(text, end, stop)).flatten()
        }
        b"chpasswd" => echoed(text, start, Form::Pair),
        b"password-stdin" => echoed(text, start, Form::Any),
        b"sudo -s" => echoed(text, start, Form::Any).or_else(|| here_string(text, end)),
        _ => None,
    }
}

/// What the argument holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Any,
    /// `user:password`.
    Pair,
    /// `user%password`.
    Percent,
}

fn command_end(text: &[u8], from: usize) -> usize {
    let mut index = from;
    let limit = text.len().min(from + REACH);
    while index < limit {
        match at(text, index) {
            b'\n' if at(text, index - 1 - usize::from(at(text, index - 1) == b'\r')) != b'\\' => break,
            b'\\' if at(text, index + 1) == b'n' && at(text, index.wrapping_sub(1)) != b' ' => break,
            b'|' | b';' if at(text, index - 1) == b' ' => break,
            b'&' if at(text, index + 1) == b'&' => break,
            _ => index += 1,
        }
    }
    index
}

/// Starts of words that begin with `-` in `from..to`.
fn flags(text: &[u8], from: usize, to: usize) -> impl Iterator<Item = usize> {
    (from..to).filter(|&index| {
        at(text, index) == b'-' && matches!(at(text, index.wrapping_sub(1)), b' ' | b'\t' | b'\n' | b'"' | b',')
    })
}

fn flag(text: &[u8], from: usize, to: usize, names: &[&str], form: Form) -> Option<Span> {
    for index in flags(text, from, to) {
        for name in names {
            let behind = index + name.len();
            if slice(text, index, behind) != name.as_bytes() {
                continue;
            }
            let start = skip(text, behind, 4, |byte| matches!(byte, b' ' | b'='));
            let start = if starts(text, start, "\", \"") || starts(text, start, "\",\"") { start + 3 } else { start };
            if start == behind && form != Form::Pair && value::quote_at(text, start).is_none() {
                continue;
            }
            let read = value::read(text, start);
            if let Some(span) = formed(text, read.start, read.end, form) {
                return Some(span);
            }
        }
    }
    None
}

fn formed(text: &[u8], mut start: usize, end: usize, form: Form) -> Option<Span> {
    let mark = match form {
        Form::Any => None,
        Form::Pair => Some(b':'),
        Form::Percent => Some(b'%'),
    };
    if let Some(mark) = mark {
        start = (start..end).find(|&index| at(text, index) == mark)? + 1;
    }
    let bytes = slice(text, start, end);
    let found = look(bytes);
    let is_password = found.len >= 3
        && found.spaces == 0
        && !value::is_reference(bytes)
        && !value::is_placeholder(bytes)
        && (at(bytes, 0) != b'-' || matches!(at(text, start.wrapping_sub(1)), b'\'' | b'"'))
        && !starts(bytes, 0, "[redacted:")
        && (form != Form::Any
            || found.digits > 0 && found.letters() + found.symbols > 0
            || found.digits == 0 && found.len >= 6)
        && !bytes.windows(3).any(|three| three == b"://");
    is_password.then(|| Span::new(start, end, "password"))
}

/// `-pSECRET`, also in quotes.
fn glued(text: &[u8], from: usize, to: usize, letter: u8) -> Option<Span> {
    for index in flags(text, from, to) {
        if at(text, index + 1) != letter || matches!(at(text, index + 2), b' ' | b'\n' | 0) {
            continue;
        }
        let read = value::read(text, index + 2);
        let bytes = slice(text, read.start, read.end);
        if starts(bytes, 0, "rotocol") || starts(bytes, 0, "ort") || starts(bytes, 0, "lugin") {
            continue;
        }
        if let Some(span) = formed(text, read.start, read.end, Form::Any).or_else(|| {
            let is_word = bytes.len() >= 4 && bytes.iter().all(u8::is_ascii_alphanumeric);
            is_word.then(|| Span::new(read.start, read.end, "password"))
        }) {
            return Some(span);
        }
    }
    None
}

/// `htpasswd -b file user PASSWORD`, and `htpasswd -nb user PASSWORD`.
fn of_batch(text: &[u8], from: usize, to: usize) -> Option<Span> {
    let (mut has_batch, mut n_before) = (false, 2);
    for start in words(text, from, to) {
        let end = skip(text, start, to - start, |byte| !byte.is_ascii_whitespace());
        let word = slice(text, start, end);
        if at(word, 0) == b'-' {
            has_batch |= word.contains(&b'b');
            n_before -= usize::from(word.contains(&b'n') && n_before == 2);
        } else if n_before == 0 {
            let read = value::read(text, start);
            return has_batch.then(|| formed(text, read.start, read.end, Form::Any)).flatten();
        } else {
            n_before -= 1;
        }
    }
    None
}

/// `net use Z: \\server\share /user:bob PASSWORD`.
fn of_share(text: &[u8], from: usize) -> Option<Span> {
    let mut has_share = false;
    for start in words(text, from, line_end(text, from, 300)) {
        if starts(text, start, "\\\\") {
            has_share = true;
        } else if at(text, start) != b'/' && at(text, start + 1) != b':' && at(text, start) != b'*' {
            let read = value::read(text, start);
            return has_share.then(|| formed(text, read.start, read.end, Form::Any)).flatten();
        }
    }
    None
}

/// Starts of words in `from..to`.
fn words(text: &[u8], from: usize, to: usize) -> impl Iterator<Item = usize> {
    (from..to).filter(|&index| {
        !at(text, index).is_ascii_whitespace() && at(text, index.wrapping_sub(1)).is_ascii_whitespace()
    })
}

fn last_argument(text: &[u8], from: usize, to: usize) -> Option<Span> {
    let end = (from..to).rev().find(|&index| !at(text, index).is_ascii_whitespace())? + 1;
    let start = (from..end).rev().find(|&index| at(text, index).is_ascii_whitespace())? + 1;
    let read = value::read(text, start);
    (read.start < read.end).then(|| formed(text, read.start, read.end, Form::Any)).flatten()
}

/// `echo "user:PASSWORD" | chpasswd`, `echo PASSWORD | sudo -S`.
fn echoed(text: &[u8], start: usize, form: Form) -> Option<Span> {
    let line = line_start(text, start, 200);
    let echo = find(text, line, start, "echo ")?;
    let read = value::read(text, skip(text, echo + 5, 2, |byte| byte == b' '));
    let pipe = skip(text, read.after, 2, |byte| byte == b' ');
    (at(text, pipe) == b'|').then(|| formed(text, read.start, read.end, form)).flatten()
}

/// `sudo -S … <<< PASSWORD`.
fn here_string(text: &[u8], end: usize) -> Option<Span> {
    let mark = find(text, end, line_end(text, end, 120), "<<<")?;
    let read = value::read(text, skip(text, mark + 3, 2, |byte| byte == b' '));
    formed(text, read.start, read.end, Form::Any)
}

/// `name=value` behind `--from-literal=`: `end` is one past that.
pub(super) fn literal(text: &[u8], end: usize) -> Option<Span> {
    let equals =
        skip(text, end, 60, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'"' | b'\''));
    if at(text, equals) != b'=' {
        return None;
    }
    let read = value::read(text, equals + 1);
    formed(text, read.start, read.end, Form::Any)
}

/// SQL: `IDENTIFIED BY 'x'`; `end` is one past the words.
pub(super) fn identified(text: &[u8], end: usize) -> Option<Span> {
    let stop = line_end(text, end, 60);
    let start = (end..stop).find(|&index| matches!(at(text, index), b'\'' | b'"'))?;
    let read = value::read(text, start);
    let bytes = slice(text, read.start, read.end);
    let is_plain = value::is_reference(bytes) || value::is_placeholder(bytes) || at(bytes, 0) == b'[';
    (read.quoted && bytes.len() > 2 && !is_plain).then(|| Span::new(read.start, read.end, "password"))
}
