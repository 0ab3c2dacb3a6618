//! Reading JSON as a JavaScript host would, and a little more kindly.
//!
//! serde_json refuses what `JSON.parse` of the host accepts (an escaped surrogate without its other half) and what a
//! careless recorder may produce (bad UTF-8, raw control characters inside a string). The fast path parses the bytes
//! as they are; only when that fails are they repaired once, in one pass, and parsed again. No schema is known here.

use std::borrow::Cow;

use serde_json::Value;

/// What a second attempt may repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leniency {
    /// What the host's own parser accepts: lone surrogate escapes; bad UTF-8 was replaced before it parsed.
    Host,
    /// That and raw control characters (NUL included) inside strings.
    Tolerant,
}

/// Parses one JSON document; the error is that of the repaired text when a repair was needed.
pub(crate) fn parse(bytes: &[u8], leniency: Leniency) -> Result<Value, serde_json::Error> {
    match serde_json::from_slice(bytes) {
        Ok(value) => Ok(value),
        Err(error) => {
            let text = String::from_utf8_lossy(bytes);
            match repair(&text, leniency) {
                Some(repaired) => serde_json::from_str(&repaired),
                None if matches!(text, Cow::Owned(_)) => serde_json::from_str(&text),
                None => Err(error),
            }
        }
    }
}

/// The bytes without a UTF-8 byte order mark and without blanks at both ends.
pub(crate) fn trim(bytes: &[u8]) -> &[u8] {
    let bytes = bytes.trim_ascii_start();
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes).trim_ascii()
}

/// What a JSON value is, in the words of a message.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The text with repairs, or `None` when there was nothing to repair.
fn repair(text: &str, leniency: Leniency) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out = String::new();
    let mut copied = 0;
    let mut in_string = false;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => {
                in_string = !in_string;
                at += 1;
            }
            b'\\' if in_string => match surrogate(bytes, at) {
                Some(Half::High) if matches!(surrogate(bytes, at + 6), Some(Half::Low)) => at += 12,
                Some(_) => {
                    out.reserve(bytes.len() - copied);
                    out.push_str(text.get(copied..at)?);
                    out.push_str("\\ufffd");
                    at += 6;
                    copied = at;
                }
                None => at += 2,
            },
            0..0x20 if in_string && leniency == Leniency::Tolerant => {
                out.push_str(text.get(copied..at)?);
                out.push_str(&format!("\\u{byte:04x}"));
                at += 1;
                copied = at;
            }
            _ => at += 1,
        }
    }
    if copied == 0 {
        return None;
    }
    out.push_str(text.get(copied..)?);
    Some(out)
}

enum Half {
    High,
    Low,
}

/// The half of a surrogate pair that the escape at this place names, if it names one.
fn surrogate(bytes: &[u8], at: usize) -> Option<Half> {
    let escape = bytes.get(at..at + 6)?;
    let digits = std::str::from_utf8(escape.strip_prefix(b"\\u")?).ok()?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xD800..0xDC00 => Some(Half::High),
        0xDC00..0xE000 => Some(Half::Low),
        _ => None,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn text(json: &str, leniency: Leniency) -> Option<String> {
        parse(json.as_bytes(), leniency).ok()?.as_str().map(str::to_owned)
    }

    #[test]
    fn lone_surrogate_escapes_become_replacement_characters() {
        for (json, expect) in [
            (r#""a\ud800b""#, "a\u{fffd}b"),
            (r#""\udc00""#, "\u{fffd}"),
            (r#""\ud83c\udf89\ud83c""#, "🎉\u{fffd}"),
            (r#""\ud83c\ud83c\udf89""#, "\u{fffd}🎉"),
            (r#""\\ud800\ud800""#, "\\ud800\u{fffd}"),
        ] {
            assert_eq!(text(json, Leniency::Host).as_deref(), Some(expect), "{json}");
        }
    }

    #[test]
    fn raw_controls_are_repaired_only_when_tolerant() {
        assert_eq!(text("\"a\0b\nc\"", Leniency::Tolerant).as_deref(), Some("a\0b\nc"));
        assert_eq!(text("\"a\0b\"", Leniency::Host), None);
    }

    #[test]
    fn bad_utf8_becomes_replacement_characters() {
        let value = parse(b"\"a\xFFb\"", Leniency::Host).unwrap();
        assert_eq!(value, "a\u{fffd}b");
    }

    #[test]
    fn trim_takes_blanks_and_one_byte_order_mark() {
        assert_eq!(trim(b" \n\xEF\xBB\xBF {} \r\n"), b"{}");
    }
}
