//! Blocks of key material: PEM and PGP armour, PuTTY files, Kubernetes secrets.
//!
//! Whole, cut at either end, escaped into one line, quoted per line or indented. Public keys and
//! certificates stay. Not here: single-line tokens.

use super::Span;
use super::bytes::{at, find, line_end, line_start, next_line, skip, slice, soft_line_end, soft_line_start, starts};
use super::token::is_word_start;
use super::value::{self, look};

/// Longest armoured block that is taken by its end line, in bytes.
const REACH: usize = 32 * 1024;

/// Where the next end line stands, so that many openings cost one search.
#[derive(Debug, Default)]
pub(super) struct Search {
    end: Option<usize>,
    /// No end line starts before this.
    clear_to: usize,
}

impl Search {
    fn next_end(&mut self, text: &[u8], body: usize, limit: usize) -> Option<usize> {
        if self.end.is_none_or(|end| end < body) {
            self.end = find(text, body.max(self.clear_to), limit, "-----end");
            self.clear_to = self.end.unwrap_or(limit.saturating_sub("-----end".len() - 1));
        }
        self.end.filter(|end| *end < limit)
    }
}

/// A private block that opens at `start`.
pub(super) fn private_key(text: &[u8], start: usize, search: &mut Search) -> Option<Span> {
    let head_end =
        skip(text, start + 10, 60, |byte| byte.is_ascii_uppercase() || byte == b' ' || byte.is_ascii_digit());
    find(text, start, head_end, "private key")?;
    let body = skip(text, head_end, 8, |byte| byte == b'-');
    let limit = text.len().min(body + REACH);
    let end = search.next_end(text, body, limit).filter(|&end| find(text, body, end, "-----begin").is_none());
    if let Some(end) = end {
        let tail = skip(text, end + 8, 60, |byte| byte.is_ascii_uppercase() || byte == b' ' || byte.is_ascii_digit());
        let end = skip(text, tail, 8, |byte| byte == b'-');
        return has_material(slice(text, body, end)).then(|| Span::new(start, end, "private-key"));
    }
    // Cut off: take what still looks like key material.
    let end = material_end(text, body);
    (end > body).then(|| Span::new(start, end, "private-key"))
}

/// A private block whose opening was cut off; `start` is its end line.
pub(super) fn cut_private_key(text: &[u8], start: usize) -> Option<Span> {
    let head_end = skip(text, start + 8, 60, |byte| byte.is_ascii_uppercase() || byte == b' ' || byte.is_ascii_digit());
    find(text, start, head_end, "private key")?;
    let mut first = start;
    while first > 0 && start - first < REACH {
        let line = line_start(text, first - 1, 2048);
        if !is_material(slice(text, line, first - 1)) {
            break;
        }
        first = line;
    }
    if first == start {
        // Escaped into one line: go back over the run.
        while first > 0 && start - first < REACH && is_armour(at(text, first - 1)) {
            first -= 1;
        }
        if start - first < 16 {
            return None;
        }
    }
    Some(Span::new(first, skip(text, head_end, 8, |byte| byte == b'-'), "private-key"))
}

fn is_armour(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'\\')
}

fn has_material(body: &[u8]) -> bool {
    body.split(|byte| !is_armour(*byte)).any(|run| run.len() >= 16 && !value::is_placeholder(run))
}

/// One line of base64, maybe quoted, commented or indented.
fn is_material(line: &[u8]) -> bool {
    let strip = |byte: &u8| {
        byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'+' | b'\\' | b',' | b'>' | b'|' | b'#')
    };
    let from = line.iter().position(|byte| !strip(byte)).unwrap_or(line.len());
    let to = line.iter().rposition(|byte| !strip(byte)).map_or(from, |last| last + 1);
    let core = slice(line, from, to);
    let found = look(core);
    let is_header = core.len() < 120
        && ["proc-type:", "dek-info:", "version:", "comment:"].iter().any(|word| starts(core, 0, word));
    is_header
        || found.spaces == 0
            && core.len() >= 12
            && core.iter().all(|byte| is_armour(*byte))
            && (found.digits > 0 || core.len() > 40)
}

fn material_end(text: &[u8], body: usize) -> usize {
    // The rest of the opening line may hold an escaped body.
    let rest = skip(text, body, REACH, is_armour);
    let mut end = if rest - body >= 16 { rest } else { body };
    let mut line = line_end(text, end, 256) + 1;
    for _ in 0..600 {
        let stop = line_end(text, line, 2048);
        let bytes = slice(text, line, stop);
        if bytes.iter().all(u8::is_ascii_whitespace) && stop < text.len() && end == body {
            line = stop + 1;
            continue;
        }
        let is_tail = end > body && is_last(bytes);
        if !is_material(bytes) && !is_tail {
            break;
        }
        end = stop;
        line = stop + 1;
        if line >= text.len() {
            break;
        }
    }
    end
}

/// A short last line of base64.
fn is_last(line: &[u8]) -> bool {
    line.ends_with(b"=") && line.len() > 2 && line.iter().all(|byte| is_armour(*byte))
}

/// The body of an OpenSSH private key whose armour is missing, in lines or escaped into one.
pub(super) fn bare_key(text: &[u8], start: usize) -> Option<Span> {
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    if !slice(text, start, text.len()).starts_with(b"b3BlbnNzaC1rZXk") || !is_word_start(text, start) {
        return None;
    }
    let (mut end, mut line) = (start, start);
    for _ in 0..600 {
        let stop = skip(text, line, REACH, is_base64);
        let bytes = slice(text, line, stop);
        if end > start && !is_material(bytes) && !is_last(bytes) {
            break;
        }
        end = stop;
        line = stop;
        for _ in 0..2 {
            let feed = skip(text, line, 1, |byte| byte == b'\r');
            if feed < text.len() && soft_line_end(text, feed, 1) == feed {
                line = skip(text, next_line(text, feed), 16, |byte| matches!(byte, b' ' | b'>' | b'|'));
            }
        }
        if bytes.ends_with(b"=") || line == stop {
            break;
        }
    }
    (end - start >= 60).then(|| Span::new(start, end, "private-key"))
}

/// PuTTY: `Private-Lines: N` and the lines below it.
pub(super) fn putty(text: &[u8], mark_end: usize) -> Option<Span> {
    let start = skip(text, mark_end, 12, |byte| matches!(byte, b':' | b' ') || byte.is_ascii_digit());
    let end = material_end(text, start);
    (end > start).then(|| Span::new(skip(text, start, 4, |byte| matches!(byte, b'\r' | b'\n')), end, "private-key"))
}

/// Values of a Kubernetes secret whose `kind: Secret` ends at `kind_end`, pushed to `found` in order;
/// gives where the document ends.
pub(super) fn kubernetes(text: &[u8], kind_end: usize, found: &mut Vec<Span>) -> usize {
    let mut line = soft_line_start(text, kind_end, 4096);
    // `kind` may stand behind the data: start at the document's first line.
    for _ in 0..60 {
        if line == 0 || kind_end - line > 4096 {
            break;
        }
        let feed = line - 1 - usize::from(at(text, line - 1) != b'\n');
        let above = soft_line_start(text, feed, 1024);
        if starts(text, above, "---") || slice(text, above, line).iter().all(u8::is_ascii_whitespace) {
            break;
        }
        line = above;
    }
    let mut within = None;
    let mut n_lines = 0;
    while line < text.len() && n_lines < 200 {
        let stop = soft_line_end(text, line, 16 * 1024);
        let first = skip(text, line, 64, |byte| byte == b' ');
        let indent = first - line;
        if starts(text, first, "---") && n_lines > 0 && line > kind_end {
            break;
        }
        if first < stop && within.is_some_and(|outer| indent <= outer) {
            within = None;
        }
        if starts(text, first, "data:") || starts(text, first, "stringData:") {
            within = Some(indent);
        } else if within.is_some() && first < stop {
            let colon = skip(text, first, 120, |byte| byte != b':' && byte != b'\n' && byte != b' ');
            let start = if at(text, colon) == b':' { skip(text, colon + 1, 8, |byte| byte == b' ') } else { first };
            if start < stop {
                let read = value::read(text, start);
                let end =
                    if read.quoted { read.end } else { stop - usize::from(matches!(at(text, stop - 1), b'\r' | b'"')) };
                let bytes = slice(text, read.start, end);
                let is_block = matches!(bytes, b"|" | b">" | b"|-" | b">-");
                if !is_block && !value::is_reference(bytes) && !value::is_placeholder(bytes) && bytes.len() > 3 {
                    found.push(Span::new(read.start, end, "kubernetes-secret"));
                }
            }
        }
        line = next_line(text, stop);
        n_lines += 1;
    }
    line
}
