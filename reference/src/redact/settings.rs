//! Permission configuration and authentication state, dropped as whole objects.
//!
//! A memory must not carry what a session was allowed to do, nor who was logged in. Works on text, also
//! on JSON inside a JSON string and on an object that was cut off. Workflow `permissions:` in YAML and
//! manifests with a plain list are left alone.

use super::Span;
use super::bytes::{at, find, skip, slice};

/// Longest object that is followed to its end.
const REACH: usize = 64 * 1024;

/// `permissions": {…}` that holds rule lists; `end` is one past the closing quote of the key.
pub(super) fn permissions(text: &[u8], end: usize) -> Option<Span> {
    let open = opening(text, end, b'{')?;
    let head = text.len().min(open + 512);
    let is_rules =
        ["allow\"", "deny\"", "ask\"", "defaultmode\"", "additionaldirectories\"", "allow\\", "deny\\", "ask\\"]
            .iter()
            .any(|word| find(text, open, head, word).is_some());
    is_rules.then(|| Span::new(open, closing(text, open, b'{', b'}'), "permissions"))
}

/// `allow": ["Bash(…)"…]` outside of its object.
pub(super) fn rule_list(text: &[u8], end: usize) -> Option<Span> {
    let open = opening(text, end, b'[')?;
    let first = skip(text, open + 1, 60, |byte| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\\'));
    let word = skip(text, first, 60, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'*'));
    const TOOLS: [&[u8]; 12] = [
        b"Bash",
        b"Read",
        b"Edit",
        b"Write",
        b"WebFetch",
        b"WebSearch",
        b"Glob",
        b"Grep",
        b"Task",
        b"Agent",
        b"Skill",
        b"MultiEdit",
    ];
    let tool = slice(text, first, word);
    let is_rule = TOOLS.contains(&tool) || tool.starts_with(b"mcp__");
    is_rule.then(|| Span::new(open, closing(text, open, b'[', b']'), "permissions"))
}

/// `claudeAiOauth": {…}` and its like; `end` is one past the word.
pub(super) fn auth_state(text: &[u8], end: usize) -> Option<Span> {
    let quote = skip(text, end, 8, |byte| byte == b'\\');
    if at(text, quote) != b'"' {
        return None;
    }
    let open = opening(text, quote + 1, b'{')?;
    Some(Span::new(open, closing(text, open, b'{', b'}'), "auth-state"))
}

fn opening(text: &[u8], end: usize, bracket: u8) -> Option<usize> {
    let colon = skip(text, end, 16, |byte| byte.is_ascii_whitespace());
    if at(text, colon) != b':' {
        return None;
    }
    let open = skip(text, colon + 1, 40, |byte| byte.is_ascii_whitespace() || matches!(byte, b'\\' | b'n'));
    (at(text, open) == bracket).then_some(open)
}

/// One past the bracket that closes the one at `start`; the reach when it is cut off.
fn closing(text: &[u8], start: usize, open: u8, close: u8) -> usize {
    let limit = text.len().min(start + REACH);
    let mut depth = 0_usize;
    for index in start..limit {
        let byte = at(text, index);
        if byte == open {
            depth += 1;
        } else if byte == close {
            depth -= 1;
            if depth == 0 {
                return index + 1;
            }
        }
    }
    limit
}
