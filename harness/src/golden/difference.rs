//! Differences of texts that a hook printed, safe to show on a terminal.
//!
//! Guarantees that no control character and no invisible or reordering one leaves this module raw: what a person reads
//! before accepting is what the text holds.

use std::fmt::Write as _;

use similar::{ChangeTag, TextDiff};

/// Most lines of a difference that are shown.
const SHOWN_LINES: usize = 40;

/// Most characters of one line that are shown.
const SHOWN_CHARS: usize = 200;

/// Lines around a change that are shown.
const CONTEXT_LINES: usize = 2;

/// A readable, bounded difference: `-` is the golden, `+` is what was delivered.
pub fn diff(old: &str, new: &str) -> String {
    let mut lines = lines(old, new, SHOWN_CHARS);
    let hidden = lines.len().saturating_sub(SHOWN_LINES);
    lines.truncate(SHOWN_LINES);
    if hidden > 0 {
        lines.push(format!("  … {hidden} more lines"));
    }
    lines.join("\n")
}

/// The same difference with every line in full.
pub fn whole_diff(old: &str, new: &str) -> String {
    lines(old, new, usize::MAX).join("\n")
}

fn lines(old: &str, new: &str, most_chars: usize) -> Vec<String> {
    let diff = TextDiff::from_lines(old, new);
    let mut lines = Vec::new();
    for group in diff.grouped_ops(CONTEXT_LINES) {
        if !lines.is_empty() {
            lines.push("  …".to_owned());
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let sign = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            let end = if change.missing_newline() { " (no newline at the end)" } else { "" };
            lines.push(format!("{sign} {}{end}", shown_line(change.value(), most_chars)));
        }
    }
    lines
}

fn shown_line(line: &str, most_chars: usize) -> String {
    let line = line.trim_end_matches('\n');
    let end = line.char_indices().nth(most_chars).map_or(line.len(), |(at, _)| at);
    let mut shown = printable(line.get(..end).unwrap_or(line));
    let hidden = line.get(end..).unwrap_or_default().chars().count();
    if hidden > 0 {
        // Writing to a string cannot fail.
        let _ = write!(shown, "… {hidden} more characters");
    }
    shown
}

/// The text with every character escaped that a terminal acts on, or that is not seen, the tab aside.
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c != '\t' && (c.is_control() || is_invisible(c)) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// The text on one line, with a sign in place of every character that a terminal or a page acts on, or that is not seen.
pub fn harmless(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || is_invisible(c) { '\u{fffd}' } else { c }).collect()
}

/// Characters without a glyph that hide or reorder what stands around them.
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn difference_is_bounded_and_harmless_on_a_terminal() {
        let new = "x\u{1b}[2J\n".repeat(500) + &"y".repeat(5000);
        let shown = diff("", &new);
        assert!(shown.lines().count() <= SHOWN_LINES + 1);
        assert!(shown.contains("more lines") && !shown.contains('\u{1b}'));
        assert!(diff("", &"y".repeat(5000)).len() < 400);
    }

    #[test]
    fn whole_difference_hides_nothing_and_is_as_harmless() {
        let new = "x\u{1b}[2J\n".repeat(500) + &"y".repeat(5000);
        let shown = whole_diff("", &new);
        assert_eq!(shown.lines().count(), 501);
        assert!(shown.contains(&"y".repeat(5000)) && !shown.contains("more "));
        assert!(!shown.contains('\u{1b}'));
    }

    #[test]
    fn no_character_that_acts_or_hides_is_shown_raw() {
        let all = (0..=0x10_ffff).filter_map(char::from_u32);
        let raw: Vec<char> = all.filter(|c| printable(&c.to_string()).contains(*c)).collect();
        assert!(raw.iter().all(|c| *c == '\t' || *c == '\u{fffd}' || harmless(&c.to_string()) == c.to_string()));
        assert_eq!(harmless("a\tb\n\u{1b}[31m\u{202e}c"), "a\u{fffd}b\u{fffd}\u{fffd}[31m\u{fffd}c");
        for hostile in [
            '\0',
            '\u{7}',
            '\u{8}',
            '\r',
            '\n',
            '\u{1b}',
            '\u{7f}',
            '\u{85}',
            '\u{9b}',
            '\u{9d}',
            '\u{200b}',
            '\u{200e}',
            '\u{2028}',
            '\u{202e}',
            '\u{2066}',
            '\u{2069}',
            '\u{feff}',
            '\u{e0041}',
        ] {
            assert!(!raw.contains(&hostile), "{hostile:?}");
        }
        for plain in ['\t', ' ', 'a', 'ü', '漢', '🎉', '…'] {
            assert!(raw.contains(&plain), "{plain:?}");
        }
        assert_eq!(diff("", "a\rb\r\nc"), "+ a\\r\n+ b\\r\n+ c (no newline at the end)");
    }
}
