//! Secrets inside addresses: user information, web hooks, driver-specific connection strings.
//!
//! Only the secret part goes; host and path stay, except for web hooks, whose address is the secret.
//! Not here: query parameters, which are names with values.

use super::Span;
use super::bytes::{at, line_end, line_start, skip, slice, soft_line_start, starts};
use super::value::{self, look};

/// Longest authority looked at.
const REACH: usize = 1024;

fn is_end(byte: u8) -> bool {
    matches!(byte, 0..=b' ' | b'"' | b'\'' | b'`' | b'<' | b'>' | 0x7f)
}

fn is_escape(text: &[u8], index: usize) -> bool {
    at(text, index) == b'\\' && matches!(at(text, index + 1), b'n' | b'r' | b't' | b'"' | b'\\' | b'\'')
}

/// `scheme://user:password@host`, also without a user, and `scheme://token@host`.
pub(super) fn user_info(text: &[u8], mark: usize) -> Option<Span> {
    let start = mark + 3;
    let limit = text.len().min(start + REACH);
    let (mut last_at, mut slash, mut index) = (None, None, start);
    // `<user>:<pass>@` is a template, so angle brackets end an address.
    while index < limit && !is_end(at(text, index)) && !is_escape(text, index) {
        match at(text, index) {
            b'@' if slash.is_none() => last_at = Some(index),
            b'/' | b'?' | b'#' => slash = slash.or(Some(index)),
            _ => {}
        }
        index += 1;
    }
    let end = index;
    let authority = slash.unwrap_or(end);
    let last_at = match last_at {
        Some(at_sign) => at_sign,
        None => {
            // A password with `/`, `?` or `#` in it: only when what stands before is no host and port.
            let colon = (start..authority).find(|&index| at(text, index) == b':')?;
            let port = slice(text, colon + 1, authority);
            if port.is_empty() || port.iter().all(u8::is_ascii_digit) || slash.is_none() {
                return None;
            }
            (authority..end).rev().find(|&index| at(text, index) == b'@')?
        }
    };
    let Some(colon) = (start..last_at).find(|&index| at(text, index) == b':') else {
        let user = slice(text, start, last_at);
        let found = look(user);
        let is_token = found.len >= 16 && found.digits > 1 && found.letters() > 1 && (found.is_random() || found.hex);
        return (is_token && !value::is_placeholder(user)).then(|| Span::new(start, last_at, "url-credential"));
    };
    let password = slice(text, colon + 1, last_at);
    (!password.is_empty() && !is_template(password)).then(|| Span::new(colon + 1, last_at, "url-password"))
}

fn is_template(password: &[u8]) -> bool {
    const FILLERS: [&str; 12] = [
        "password",
        "pass",
        "passwd",
        "pwd",
        "pw",
        "secret",
        "token",
        "x-oauth-basic",
        "your_password",
        "your-password",
        "key",
        "redacted",
    ];
    FILLERS.iter().any(|filler| password.eq_ignore_ascii_case(filler.as_bytes()))
        || password.ends_with(b"]") && !password.contains(&b'[')
        || starts(password, 0, "[redacted:")
        || value::is_reference(password)
        || value::is_placeholder(password)
}

/// A web hook's whole address.
pub(super) fn webhook(text: &[u8], mark: usize) -> Option<Span> {
    let floor = line_start(text, mark, 200);
    let mut start = mark;
    while start > floor && !is_end(at(text, start - 1)) && !matches!(at(text, start - 1), b'=' | b'(' | b',') {
        start -= 1;
    }
    let scheme = (start..mark).find(|&index| starts(text, index, "http"))?;
    let mut end = mark;
    while end < text.len() && end - mark < REACH && !is_end(at(text, end)) && !is_escape(text, end) {
        if matches!(at(text, end), b')' | b',' | b';' | b']' | b'}') {
            break;
        }
        end += 1;
    }
    let host = (mark..end).find(|&index| at(text, index) == b'/').unwrap_or(end);
    let path = slice(text, host.min(end), end);
    let is_secret = path.split(|byte| matches!(byte, b'/' | b'@' | b'?' | b'=')).any(|part| {
        let found = look(part);
        found.len >= 16
            && found.digits > 1
            && found.letters() > 0
            && (found.is_mixed() || found.hex || value::is_uuid(part))
            || found.len >= 6
                && starts(text, mark, "hooks.")
                && found.digits > 0
                && found.letters() > 2
                && found.turns > 2
    });
    (is_secret && !value::is_placeholder(path)).then(|| Span::new(scheme, end, "webhook-url"))
}

/// `user:password@tcp(host)/db`.
pub(super) fn tcp_dsn(text: &[u8], at_sign: usize) -> Option<Span> {
    let floor = line_start(text, at_sign, 120);
    let start = (floor..at_sign).rev().find(|&index| is_end(at(text, index))).map_or(floor, |index| index + 1);
    let colon = (start..at_sign).find(|&index| at(text, index) == b':')?;
    let password = slice(text, colon + 1, at_sign);
    (!password.is_empty() && !is_template(password)).then(|| Span::new(colon + 1, at_sign, "url-password"))
}

/// `jdbc:oracle:thin:user/password@host`.
pub(super) fn oracle_dsn(text: &[u8], mark: usize) -> Option<Span> {
    let end = skip(text, mark, 200, |byte| !is_end(byte));
    let at_sign = (mark..end).rev().find(|&index| at(text, index) == b'@')?;
    let slash = (mark..at_sign).find(|&index| at(text, index) == b'/')?;
    let password = slice(text, slash + 1, at_sign);
    (!password.is_empty() && !is_template(password)).then(|| Span::new(slash + 1, at_sign, "url-password"))
}

/// A password file's line: `host:port:database:user:password`.
pub(super) fn password_line(text: &[u8], mark: usize, is_word: bool) -> Option<Span> {
    if is_word {
        // The word `pgpass` announces the file: look at the lines below it.
        let mut line = line_end(text, mark, 200) + 1;
        for _ in 0..8 {
            if let Some(span) = fields(text, line) {
                return Some(span);
            }
            line = line_end(text, line, 400) + 1;
        }
        return None;
    }
    fields(text, soft_line_start(text, mark, 200))
}

fn fields(text: &[u8], line: usize) -> Option<Span> {
    let start = skip(text, line, 16, |byte| matches!(byte, b' ' | b'+' | b'-' | b'>' | b'"' | b'\''));
    let end = (start..line_end(text, start, 400)).find(|&index| is_end(at(text, index)) || is_escape(text, index));
    let end = end.unwrap_or_else(|| line_end(text, start, 400));
    let mut colons = (start..end).filter(|&index| at(text, index) == b':' && at(text, index.wrapping_sub(1)) != b'\\');
    // A line may open with a prompt or a command; the last four colons before the password count.
    let first = colons.next()?;
    let second = colons.next()?;
    colons.next()?;
    let fourth = colons.next()?;
    let port = slice(text, first + 1, second);
    let is_port = port == b"*" || !port.is_empty() && port.len() < 6 && port.iter().all(u8::is_ascii_digit);
    let password = slice(text, fourth + 1, end);
    (is_port && password.len() > 3 && !is_template(password)).then(|| Span::new(fourth + 1, end, "password"))
}
