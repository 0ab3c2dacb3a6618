//! How long a text may be before the host cuts it, and what is left of it.
//!
//! Lengths are UTF-16 code units, as a JavaScript host counts. Guarantees that what comes out is what the model was
//! seen to receive, the name of the spilled file excepted: the host makes it up, so the caller gives it. Where the
//! documentation says 10,000 for all texts, 50,000 was observed for blocking texts; the observation is used.

use crate::profile::HostProfile;

/// Longest context, plain stdout or system message.
pub const CONTEXT_UNITS: usize = 10_000;
/// Length of a preview before it is cut back to a newline.
pub const PREVIEW_UNITS: usize = 2_000;
/// A preview is cut back only to a newline past this place.
pub const PREVIEW_MIN_UNITS: usize = 1_000;

/// How often in a row the answers of stop hooks make a turn go on; the next one is overridden.
/// `CLAUDE_CODE_STOP_HOOK_BLOCK_CAP` sets another number, 0 for no limit.
pub const STOP_CONTINUATIONS: usize = 8;

/// A text after its cap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capped {
    /// What is passed on.
    pub body: String,
    /// Length of the whole text in UTF-16 code units.
    pub original_utf16: usize,
    /// Whether anything was cut.
    pub truncated: bool,
}

/// The length of a text as the host counts it.
pub fn utf16_len(text: &str) -> usize {
    // Every byte that starts a character counts one, those that start a four-byte character two.
    text.bytes().map(|byte| usize::from(byte & 0xC0 != 0x80) + usize::from(byte >= 0xF0)).sum()
}

/// A context, or plain stdout that is context: whole up to 10,000 units, else a preview that names the spilled file.
///
/// ```
/// use hook_contract::{HostProfile, cap};
/// let whole = cap::context(HostProfile::newest(), &"🎉".repeat(5_000), "/spill");
/// assert!(!whole.truncated);
/// let cut = cap::context(HostProfile::newest(), &"a".repeat(10_001), "/spill");
/// assert!(cut.body.starts_with("<persisted-output>\nOutput too large (9.8KB). Full output saved to: /spill\n"));
/// ```
pub fn context(host: &HostProfile, text: &str, spill: &str) -> Capped {
    let original_utf16 = utf16_len(text);
    if original_utf16 <= CONTEXT_UNITS {
        return Capped { body: text.to_owned(), original_utf16, truncated: false };
    }
    Capped { body: persisted(host, text, original_utf16, spill), original_utf16, truncated: true }
}

/// A blocking text. A host with a limit keeps the first and the last half of it around a marker.
pub fn blocking(host: &HostProfile, text: &str, spill: &str) -> Capped {
    let original_utf16 = utf16_len(text);
    let Some(limit) = host.blocking_cap.filter(|limit| original_utf16 > *limit) else {
        return Capped { body: text.to_owned(), original_utf16, truncated: false };
    };
    let half = limit / 2;
    let (head, tail) = (cut(text, half, true), after(text, original_utf16 - half));
    let dropped = original_utf16 - 2 * half;
    let body = format!(
        "{head}\n... [{dropped} characters truncated] ...\n{tail}\n<persisted-output>\nOutput too large ({}). Full \
         output saved to: {spill}\n</persisted-output>",
        size(original_utf16)
    );
    Capped { body, original_utf16, truncated: true }
}

/// Stdout of `PreCompact`, which joins the instructions of the compaction.
pub fn compact_instructions(host: &HostProfile, command: &str, text: &str) -> Capped {
    let original_utf16 = utf16_len(text);
    if !host.compact_stdout_capped || original_utf16 <= CONTEXT_UNITS {
        return Capped { body: text.to_owned(), original_utf16, truncated: false };
    }
    let head = cut(text, CONTEXT_UNITS, true);
    let body = format!(
        "{head}\n[PreCompact hook [{command}] output cut: {original_utf16} characters is over the \
         {CONTEXT_UNITS}-character limit]"
    );
    Capped { body, original_utf16, truncated: true }
}

/// The reference to a spilled text, with its beginning.
fn persisted(host: &HostProfile, text: &str, units: usize, spill: &str) -> String {
    let head = cut(text, PREVIEW_UNITS, host.preview_keeps_pairs);
    let newline = head.rfind('\n').filter(|at| utf16_len(head.get(..*at).unwrap_or_default()) > PREVIEW_MIN_UNITS);
    let preview = newline.and_then(|at| head.get(..at)).unwrap_or(&head);
    format!(
        "<persisted-output>\nOutput too large ({}). Full output saved to: {spill}\n\nPreview (first 2KB):\n{preview}\n\
         ...\n</persisted-output>",
        size(units)
    )
}

/// The first units of a text. When the limit falls inside a surrogate pair, the first half is dropped or becomes the
/// replacement character, which is what a model is sent for it.
fn cut(text: &str, limit: usize, keep_pairs: bool) -> String {
    let mut units = 0;
    for (at, character) in text.char_indices() {
        let next = units + character.len_utf16();
        if next > limit {
            let mut head = text.get(..at).unwrap_or_default().to_owned();
            if units < limit && !keep_pairs {
                head.push(char::REPLACEMENT_CHARACTER);
            }
            return head;
        }
        units = next;
    }
    text.to_owned()
}

/// The text from this unit on; a character that the place divides is dropped.
fn after(text: &str, from: usize) -> &str {
    let mut units = 0;
    for (at, character) in text.char_indices() {
        if units >= from {
            return text.get(at..).unwrap_or_default();
        }
        units += character.len_utf16();
    }
    ""
}

/// A size as the host prints it: `9.8KB`, `10KB`, `1.2MB`.
fn size(units: usize) -> String {
    let kilo = units as f64 / 1024.0;
    let (number, unit) = match kilo {
        kilo if kilo < 1.0 => return format!("{units} bytes"),
        kilo if kilo < 1024.0 => (kilo, "KB"),
        kilo if kilo < 1024.0 * 1024.0 => (kilo / 1024.0, "MB"),
        kilo => (kilo / (1024.0 * 1024.0), "GB"),
    };
    let number = format!("{number:.1}");
    format!("{}{unit}", number.strip_suffix(".0").unwrap_or(&number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts() -> &'static [HostProfile] {
        HostProfile::recorded()
    }

    #[test]
    fn context_is_cut_past_ten_thousand_units() {
        for fill in ["a", "é", "世"] {
            for (n, cut) in [(9_999, false), (10_000, false), (10_001, true)] {
                for host in hosts() {
                    let capped = context(host, &fill.repeat(n), "/spill");
                    assert_eq!((capped.truncated, capped.original_utf16), (cut, n), "{fill} {n}");
                }
            }
        }
    }

    #[test]
    fn four_byte_characters_count_two() {
        for (n, cut) in [(4_999, false), (5_000, false), (5_001, true)] {
            let capped = context(HostProfile::newest(), &"🎉".repeat(n), "/spill");
            assert_eq!((capped.truncated, capped.original_utf16), (cut, 2 * n));
        }
        let odd = format!("a{}", "🎉".repeat(5_000));
        assert!(context(HostProfile::newest(), &odd, "/spill").truncated);
    }

    #[test]
    fn preview_inside_a_pair_follows_the_host() {
        let text = format!("a{}", "🎉".repeat(6_000));
        let [old, new] = hosts() else { unreachable!("two hosts were recorded") };
        let expect = format!("Preview (first 2KB):\na{}", "🎉".repeat(999));
        assert!(context(old, &text, "/s").body.ends_with(&format!("{expect}\u{fffd}\n...\n</persisted-output>")));
        assert!(context(new, &text, "/s").body.ends_with(&format!("{expect}\n...\n</persisted-output>")));
    }

    #[test]
    fn preview_is_cut_back_to_a_newline_past_the_middle() {
        for (newline_at, kept) in [(1_500, 1_500), (1_001, 1_001), (1_000, 2_000), (10, 2_000)] {
            let text = format!("{}\n{}", "a".repeat(newline_at), "b".repeat(20_000));
            let capped = context(HostProfile::newest(), &text, "/s");
            let preview = capped.body.split_once("2KB):\n").map(|(_, rest)| rest).unwrap_or_default();
            let preview = preview.strip_suffix("\n...\n</persisted-output>").unwrap_or_default();
            assert_eq!(utf16_len(preview), kept, "newline at {newline_at}");
        }
    }

    #[test]
    fn blocking_texts_have_a_limit_only_on_newer_hosts() {
        let [old, new] = hosts() else { unreachable!("two hosts were recorded") };
        let text = "b".repeat(51_000);
        assert!(!blocking(old, &text, "/s").truncated);
        assert!(!blocking(new, &"b".repeat(50_000), "/s").truncated);
        let capped = blocking(new, &text, "/s");
        assert!(capped.truncated);
        assert!(capped.body.contains("... [1000 characters truncated] ..."));
        assert_eq!(capped.body.matches('b').count(), 50_000);
    }

    #[test]
    fn sizes_print_like_the_host() {
        for (units, expect) in
            [(1_000, "1000 bytes"), (10_001, "9.8KB"), (10_240, "10KB"), (30_000, "29.3KB"), (2_000_000, "1.9MB")]
        {
            assert_eq!(size(units), expect);
        }
    }

    #[test]
    fn length_counts_code_units() {
        for text in ["", "abc", "é世🎉\0", "a\u{fffd}"] {
            assert_eq!(utf16_len(text), text.encode_utf16().count());
        }
    }
}
