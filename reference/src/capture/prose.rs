//! Boils a message down: what a person would keep of it in a note, without code, logs, trees and build output.
//!
//! Guarantee: text is only left out or cut, never reworded; cuts fall between characters and not inside a joined
//! emoji or before a combining mark; a result never holds a line that starts a section. Works on any language:
//! nothing here depends on spaces between words.

/// Cuts `text` to at most `bytes` bytes, a cut marked by `…`.
pub fn clip(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let mut end = text.floor_char_boundary(bytes.saturating_sub('…'.len_utf8()));
    // Step back out of a joined sequence: its pieces alone would be another sign.
    while let Some(next) = text.get(end..).and_then(|rest| rest.chars().next()) {
        let Some(last) = text.get(..end).and_then(|kept| kept.chars().next_back()) else { break };
        if !(joins(next) || last == '\u{200d}' || (regional(next) && regional(last))) {
            break;
        }
        end -= last.len_utf8();
    }
    let kept = text.get(..end).unwrap_or("").trim_end();
    if kept.is_empty() || bytes < '…'.len_utf8() {
        return String::new();
    }
    format!("{kept}…")
}

/// Whether a character belongs to the one before it.
fn joins(letter: char) -> bool {
    matches!(letter,
        '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}'
        | '\u{1f3fb}'..='\u{1f3ff}' | '\u{20d0}'..='\u{20ff}' | '\u{3099}'..='\u{309a}' | '\u{e0020}'..='\u{e007f}')
}

fn regional(letter: char) -> bool {
    matches!(letter, '\u{1f1e6}'..='\u{1f1ff}')
}

/// One line of prose with what is known of its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProseLine<'a> {
    /// The line without indent, heading marks and trailing blanks.
    pub text: &'a str,
    /// It was a heading.
    pub heading: bool,
    /// It is an item of a list.
    pub bullet: bool,
    /// An empty line stood before it.
    pub after_gap: bool,
}

/// The lines of a message that are prose: no fenced or indented code, no logs, trees or build output.
pub fn lines(text: &str) -> impl Iterator<Item = ProseLine<'_>> {
    let mut fence: Option<&str> = None;
    let mut gap = false;
    let mut in_code = false;
    text.lines().filter_map(move |raw| {
        let line = raw.trim();
        let mark = ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark));
        if let Some(open) = fence {
            if mark == Some(open) {
                fence = None;
            }
            return None;
        }
        if mark.is_some() {
            // A fence that opens and closes on one line is inline code.
            fence = mark.filter(|mark| !line.get(3..).unwrap_or("").contains(mark));
            gap = true;
            return None;
        }
        if line.is_empty() {
            gap = true;
            return None;
        }
        let bullet = is_bullet(line);
        let indented = raw.starts_with("    ") || raw.starts_with('\t');
        in_code = indented && !bullet && (gap || in_code);
        if in_code || is_raw(line) {
            return None;
        }
        let heading = line.starts_with('#') && line.trim_start_matches('#').starts_with(' ');
        let text = if line.starts_with('#') { line.trim_start_matches('#').trim() } else { line };
        if text.is_empty() || text.chars().all(|letter| matches!(letter, '-' | '=' | '*' | '_' | '|' | ':' | ' ')) {
            return None;
        }
        Some(ProseLine { text, heading, bullet, after_gap: std::mem::take(&mut gap) })
    })
}

/// The first lines of prose of `text` that fit into `bytes` bytes, paragraphs kept apart by an empty line.
pub fn distil(text: &str, bytes: usize) -> String {
    distil_lines(lines(text), bytes)
}

/// [`distil`] for chosen lines.
pub fn distil_lines<'a>(lines: impl Iterator<Item = ProseLine<'a>>, bytes: usize) -> String {
    let mut kept = String::new();
    for line in lines {
        let gap = match (kept.is_empty(), line.after_gap && !line.bullet) {
            (true, _) => "",
            (false, true) => "\n\n",
            (false, false) => "\n",
        };
        let colon = if line.heading && !line.text.ends_with([':', '：']) { ":" } else { "" };
        let cleaned = clean(line.text);
        if kept.len() + gap.len() + cleaned.len() + colon.len() > bytes {
            let room = bytes.saturating_sub(kept.len() + gap.len());
            // A few words of a cut line say nothing; the first line is kept whatever its length.
            if room >= 80 || kept.is_empty() {
                kept.push_str(gap);
                kept.push_str(&clip(&cleaned, room));
            }
            break;
        }
        kept.push_str(gap);
        kept.push_str(&cleaned);
        kept.push_str(colon);
    }
    kept.truncate(kept.trim_end().len());
    kept
}

/// The first line of prose, cut to `bytes` bytes.
pub fn first_line(text: &str, bytes: usize) -> String {
    let first = lines(text).next().map(|line| clean(bare(line.text))).unwrap_or_default();
    clip(&first, bytes)
}

/// Words whose full stop ends no sentence.
const SHORT_FORMS: [&str; 8] = ["e.g.", "i.e.", "vs.", "cf.", "approx.", "resp.", "z.B.", "bzw."];

/// Sentences of a line with their offsets, their marks kept; full-width marks count. A semicolon ends none: what
/// follows it is mostly the reason.
pub fn sentences(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let rest = line.get(from..)?;
        let blank = rest.len() - rest.trim_start().len();
        let (start, rest) = (from + blank, rest.trim_start());
        if rest.is_empty() {
            return None;
        }
        let mut end = rest.len();
        let mut letters = rest.char_indices().peekable();
        while let Some((at, letter)) = letters.next() {
            let full_width = matches!(letter, '。' | '！' | '？');
            let before_blank = letters.peek().is_some_and(|(_, next)| next.is_whitespace());
            let past = at + letter.len_utf8();
            if full_width
                || (matches!(letter, '.' | '!' | '?')
                    && before_blank
                    && at > 3
                    && !rest.get(..past).is_some_and(|said| SHORT_FORMS.iter().any(|short| said.ends_with(short))))
            {
                end = past;
                break;
            }
        }
        from = start + end;
        Some((start, rest.get(..end)?.trim_end()))
    })
}

/// The line without its list mark and check box.
pub fn bare(line: &str) -> &str {
    let line = line.trim();
    if !is_bullet(line) {
        return line;
    }
    let after = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let after = after.trim_start_matches(['-', '*', '•', '+', '.', ')']).trim_start();
    ["[ ] ", "[x] ", "[X] "].into_iter().find_map(|checkbox| after.strip_prefix(checkbox)).unwrap_or(after)
}

/// Whether a text says at least `n` words: runs of letters and digits, and one word for each two characters of
/// scripts without blanks. Looks no further than it must.
pub fn has_words(text: &str, n: usize) -> bool {
    let mut halves = 0;
    let mut in_word = false;
    for letter in text.chars() {
        let is_letter = if letter.is_ascii() { letter.is_ascii_alphanumeric() } else { letter.is_alphanumeric() };
        if !letter.is_ascii() && is_wide(letter) {
            halves += 1;
            in_word = false;
        } else {
            halves += if is_letter && !in_word { 2 } else { 0 };
            in_word = is_letter;
        }
        if halves >= 2 * n {
            return true;
        }
    }
    // An odd character of a script without blanks counts as a word.
    n == 0 || halves + 1 >= 2 * n
}

/// Characters of scripts that are written without blanks between words.
fn is_wide(letter: char) -> bool {
    matches!(letter, '\u{e00}'..='\u{eff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

fn is_bullet(line: &str) -> bool {
    if ["- ", "* ", "• ", "+ "].iter().any(|mark| line.starts_with(mark)) {
        return true;
    }
    let after = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let digits = line.len() - after.len();
    (1..=3).contains(&digits) && (after.starts_with(". ") || after.starts_with(") "))
}

/// Beginnings of lines that programs print.
const PROGRAM_OPENINGS: [&str; 44] = [
    "Compiling ",
    "Downloading ",
    "Downloaded ",
    "Finished `",
    "Finished dev",
    "Finished release",
    "Finished test",
    "Running `",
    "Running unittests",
    "Doc-tests ",
    "Blocking waiting for",
    "Updating crates.io",
    "Locking ",
    "npm WARN",
    "npm ERR!",
    "npm warn",
    "npm error",
    "yarn run v",
    "error[E",
    "warning[",
    "--> ",
    "test result:",
    "running 1 test",
    "Traceback (most recent call last)",
    "File \"",
    "=> => ",
    "#0 ",
    "[INFO]",
    "[ERROR]",
    "[WARN",
    "[DEBUG]",
    "[TRACE]",
    "INFO ",
    "DEBUG ",
    "TRACE ",
    "at async ",
    "goroutine ",
    "Caused by:",
    "PASS ",
    "FAIL ",
    "ok  \t",
    "--- FAIL:",
    "--- PASS:",
    "=== RUN",
];

/// Whether a line is a program's output rather than somebody's words.
pub fn is_raw(line: &str) -> bool {
    let line = line.trim();
    if line.starts_with(['├', '└', '│', '╰', '╭', '┌', '╞', '─', '█', '▏', '→'])
        || (!line.is_ascii() && line.contains("── "))
    {
        return true;
    }
    if PROGRAM_OPENINGS.iter().any(|opening| line.starts_with(opening)) {
        return true;
    }
    if line.starts_with("test ") && [" ... ok", " ... FAILED", " ... ignored"].iter().any(|end| line.ends_with(end)) {
        return true;
    }
    if line.starts_with("at ") && line.ends_with(')') && line.contains(':') {
        return true;
    }
    // `2026-11-30T14:13:29`, `14:13:29 …`, `[2026-…`.
    let stamp = line.trim_start_matches('[').as_bytes();
    let is_digit = |at: &usize| stamp.get(*at).is_some_and(u8::is_ascii_digit);
    let has = |at: usize, mark: u8| stamp.get(at) == Some(&mark);
    let date = [0, 1, 2, 3, 5, 6, 8, 9].iter().all(is_digit) && has(4, b'-') && has(7, b'-');
    let clock = [0, 1, 3, 4, 6, 7].iter().all(is_digit) && has(2, b':') && has(5, b':');
    if date || clock {
        return true;
    }
    // One endless word: an encoded blob.
    line.is_ascii() && line.len() > 200 && !line.contains(' ')
}

/// The line without control characters and surplus blanks.
fn clean(line: &str) -> String {
    let mut cleaned = String::with_capacity(line.len());
    for letter in line.chars() {
        if letter.is_control() || letter == '\u{feff}' {
            if !cleaned.ends_with(' ') && letter == '\t' {
                cleaned.push(' ');
            }
        } else {
            cleaned.push(letter);
        }
    }
    cleaned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_report_68_cuts_fall_between_signs_at_every_length() {
        let text = "ab👩‍👩‍👧‍👦c e\u{301}世🇩🇪 \u{1f44d}\u{1f3fd} x世界世界";
        for bytes in 0..=text.len() + 2 {
            let cut = clip(text, bytes);
            assert!(cut.len() <= bytes, "{bytes}");
            let kept = cut.trim_end_matches('…');
            assert!(text.starts_with(kept));
            assert!(!kept.ends_with('\u{200d}'), "{bytes}: {kept:?}");
            assert!(!kept.ends_with("👩") && !kept.ends_with("👧"), "{bytes}: {kept:?}");
            if bytes < text.len() {
                assert!(!kept.ends_with('e'), "{bytes}: a combining mark was cut off");
                assert!(!kept.ends_with('🇩'), "{bytes}: half a flag");
            }
        }
        assert_eq!(clip(text, text.len()), text);
    }

    #[test]
    fn code_logs_trees_and_build_output_are_left_out() {
        let message = "# Done\n\nThe parser now keeps gaps.\n\n```rust\nfn secret() {}\n```\n\n    indented code\n    more\n\n\
                       - first point\n- second point\n├── src\n│   └── main.rs\nCompiling serde v1.0.1\n\
                       2026-11-30T14:13:29 started\ntest a::b ... ok\nerror[E0308]: mismatched\n\
                       at Object.<anonymous> (a.js:1:2)\n---\nLast words.";
        let kept = distil(message, 4_000);
        assert_eq!(kept, "Done:\n\nThe parser now keeps gaps.\n- first point\n- second point\nLast words.");
    }

    #[test]
    fn unclosed_fence_takes_the_rest_and_one_line_fences_do_not() {
        assert_eq!(distil("a\n```\nb\nc", 99), "a");
        assert_eq!(distil("a\n```x``` y\nb", 99), "a\n\nb");
    }

    #[test]
    fn distilled_text_stays_within_its_bytes_and_opens_no_section() {
        let message = "## Request\n世界 once upon a time\n".repeat(60);
        for bytes in [0, 1, 10, 79, 80, 81, 200, 1_000] {
            let kept = distil(&message, bytes);
            assert!(kept.len() <= bytes, "{bytes}: {}", kept.len());
            assert!(!kept.contains("## "));
        }
    }

    #[test]
    fn sentences_end_at_marks_of_any_width() {
        let found: Vec<&str> =
            sentences("We use v1.2 here, e.g. in b; it fits. 改用了新的解析器。测试通过！ Is it? yes")
                .map(|part| part.1)
                .collect();
        let expect = ["We use v1.2 here, e.g. in b; it fits.", "改用了新的解析器。", "测试通过！", "Is it?", "yes"];
        assert_eq!(found, expect);
    }

    #[test]
    fn words_count_in_every_script() {
        for (text, n) in [("OK, done.", 2), ("修复了解析器的错误", 5), ("parse_line is fixed", 4), ("🙂 …", 0), ("", 0)]
        {
            assert!(has_words(text, n), "{text}");
            assert!(!has_words(text, n + 1), "{text}");
        }
    }

    #[test]
    fn list_marks_are_taken_off() {
        assert_eq!(bare("- [ ] write tests"), "write tests");
        assert_eq!(bare("12. item"), "item");
        assert_eq!(bare("3.5 is a number"), "3.5 is a number");
        assert_eq!(bare("*emphasis* stays"), "*emphasis* stays");
    }
}
