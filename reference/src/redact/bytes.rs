//! Reading bytes of a text without a bounds check that can panic.

/// The byte at `index`, 0 behind the end.
#[inline]
pub(super) fn at(text: &[u8], index: usize) -> u8 {
    text.get(index).copied().unwrap_or(0)
}

/// `text[from..to]`, clamped to what exists.
#[inline]
pub(super) fn slice(text: &[u8], from: usize, to: usize) -> &[u8] {
    let to = to.min(text.len());
    text.get(from.min(to)..to).unwrap_or(&[])
}

/// First index at or behind `from` whose byte fails `test`, at most `limit` bytes on.
#[inline]
pub(super) fn skip(text: &[u8], from: usize, limit: usize, test: impl Fn(u8) -> bool) -> usize {
    let end = text.len().min(from.saturating_add(limit));
    let mut index = from;
    while index < end && test(at(text, index)) {
        index += 1;
    }
    index
}

/// First index of `needle` (lower case) in `text[from..to]`, letters compared without case.
///
/// A plain loop: windows are short, and a vectorised search pays for feature detection once a process.
pub(super) fn find(text: &[u8], from: usize, to: usize, needle: &str) -> Option<usize> {
    let first = at(needle.as_bytes(), 0);
    let last = to.min(text.len()).checked_sub(needle.len())?;
    let mut index = from;
    while index <= last {
        let byte = at(text, index);
        if byte.to_ascii_lowercase() == first && starts(text, index, needle) {
            return Some(index);
        }
        index += 1;
    }
    None
}

/// Whether `text[from..]` starts with `needle`, letters compared without case.
pub(super) fn starts(text: &[u8], from: usize, needle: &str) -> bool {
    slice(text, from, from.saturating_add(needle.len())).eq_ignore_ascii_case(needle.as_bytes())
}

/// Index of the first byte of the line that holds `index`, at most `limit` bytes back.
pub(super) fn line_start(text: &[u8], index: usize, limit: usize) -> usize {
    let floor = index.saturating_sub(limit);
    let mut start = index.min(text.len());
    while start > floor && at(text, start - 1) != b'\n' {
        start -= 1;
    }
    start
}

/// Index of the line feed that ends the line of `index`, or the end, at most `limit` bytes on.
pub(super) fn line_end(text: &[u8], index: usize, limit: usize) -> usize {
    skip(text, index, limit, |byte| byte != b'\n')
}

/// Like [`line_start`], with `\n` written as an escape taken for a line feed too.
pub(super) fn soft_line_start(text: &[u8], index: usize, limit: usize) -> usize {
    let floor = index.saturating_sub(limit);
    let mut start = index.min(text.len());
    while start > floor {
        let before = at(text, start - 1);
        if before == b'\n' || start > 1 && matches!(before, b'n' | b'r') && at(text, start - 2) == b'\\' {
            break;
        }
        start -= 1;
    }
    start
}

/// Like [`line_end`], with an escaped line feed taken for one: index of its first backslash.
pub(super) fn soft_line_end(text: &[u8], index: usize, limit: usize) -> usize {
    let end = text.len().min(index.saturating_add(limit));
    (index..end)
        .find(|&index| match at(text, index) {
            b'\n' => true,
            b'\\' => matches!(at(text, skip(text, index, 8, |byte| byte == b'\\')), b'n' | b'r'),
            _ => false,
        })
        .unwrap_or(end)
}

/// First byte behind the line end at `end`, which [`soft_line_end`] gave.
pub(super) fn next_line(text: &[u8], end: usize) -> usize {
    skip(text, end, 8, |byte| byte == b'\\') + 1
}
