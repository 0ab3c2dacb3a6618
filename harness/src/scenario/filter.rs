//! The filters that have a name: what ids, times and paths look like in delivered text.
//!
//! A filter recognises; numbering and replacing happen where text is scrubbed. Each errs towards what differs from run to
//! run: a text that merely looks volatile is replaced too, which a golden shows when it is reviewed.

/// A kind of volatile text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Filter {
    /// `123e4567-e89b-12d3-a456-426614174000`.
    Uuid,
    /// A date, a time of day, both in ISO 8601 or as mail writes them, or seconds or milliseconds since 1970.
    Timestamp,
    /// `12 ms`, `1m30s`, `3 days`.
    Duration,
    /// A run of 7 to 128 hexadecimal digits: commits and digests.
    HexId,
    /// An absolute path of two parts or more, or one below `~`.
    Path,
}

/// Group of a filter's pattern that is replaced; without it the whole match is.
pub const VALUE_GROUP: &str = "v";

const TIMESTAMP: &str = concat!(
    r"(?-u:\b)(?:",
    r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-9]{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [0-9]{4}",
    r" [0-9]{2}:[0-9]{2}:[0-9]{2} (?:GMT|UTC|[+-][0-9]{4})",
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?",
    r"|[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?",
    r"|1[0-9]{9}(?:[0-9]{3})?",
    r")(?-u:\b)",
);

// A unit of one letter stands at its number: `5 m` may be metres.
macro_rules! span_of_time {
    () => {
        concat!(
            r"[0-9]+(?:\.[0-9]+)?(?:[smhd]",
            r"| ?(?:ns|µs|μs|us|ms|s|secs?|seconds?|(?:milli|micro|nano)seconds?|mins?|minutes?|hrs?|hours?|days?|weeks?))"
        )
    };
}

const DURATION: &str = concat!(r"(?-u:\b)", span_of_time!(), "(?: ?", span_of_time!(), r")*(?-u:\b)");

// What stands before tells a path from the rest of a URL, of a relative path and of `${PROJECT}/…`.
const PATH: &str = concat!(
    r#"(?:^|[\s"'`(<\[{,;=|:])"#,
    r"(?<v>(?:(?:[A-Za-z]:)?(?:[/\\][\w.@+~%-]*[\w@+~%-]){2,}|~(?:/[\w.@+~%-]*[\w@+~%-])+)[/\\]?)",
);

impl Filter {
    /// All filters.
    pub const ALL: [Filter; 5] = [Filter::Uuid, Filter::Timestamp, Filter::Duration, Filter::HexId, Filter::Path];

    /// The name in scenarios and in placeholders: `[uuid-1]`.
    pub fn name(self) -> &'static str {
        match self {
            Filter::Uuid => "uuid",
            Filter::Timestamp => "timestamp",
            Filter::Duration => "duration",
            Filter::HexId => "hex-id",
            Filter::Path => "path",
        }
    }

    /// What may be such a text.
    pub fn pattern(self) -> &'static str {
        match self {
            Filter::Uuid => r"(?-u:\b)[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}(?-u:\b)",
            Filter::Timestamp => TIMESTAMP,
            Filter::Duration => DURATION,
            Filter::HexId => "[0-9A-Za-z]{7,}",
            Filter::Path => PATH,
        }
    }

    /// Whether a text that fits the pattern is one, given the signs around it: what a pattern alone cannot say.
    pub fn accepts(self, text: &str, around: (Option<char>, Option<char>)) -> bool {
        if self == Filter::Duration {
            // A group of an id, such as `-931d-`, is no time.
            return around.0 != Some('-') && around.1 != Some('-');
        }
        if self != Filter::HexId {
            return true;
        }
        let digits = text.strip_prefix("0x").unwrap_or(text);
        let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        // `defaced` and `effaced` are words; chance gives a commit's short id no digit once in a thousand.
        let is_word = digits.len() < 12 && !digits.bytes().any(|byte| byte.is_ascii_digit());
        is_hex && !is_word && (7..=128).contains(&digits.len())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
    use super::*;
    use crate::scenario::Pattern;

    /// Everything that a filter recognises in a text.
    fn found(filter: Filter, text: &str) -> Vec<&str> {
        let pattern = Pattern::new(filter.pattern()).unwrap();
        let all = pattern.regex.captures_iter(text);
        let values = all.filter_map(|found| found.name(VALUE_GROUP).or(found.get(0)));
        let around = |at: &regex::Match<'_>| (text[..at.start()].chars().next_back(), text[at.end()..].chars().next());
        values.filter(|value| filter.accepts(value.as_str(), around(value))).map(|value| value.as_str()).collect()
    }

    #[test]
    fn every_filter_finds_its_own_and_leaves_the_rest() {
        let uuid = "123e4567-e89b-12d3-a456-426614174000";
        let cases: [(Filter, &str, &[&str]); 36] = [
            (Filter::Duration, "1731e5ee-1dd1-457s-931d-af52f19fa138", &[]),
            (Filter::Duration, "12345678d-x then 5ms", &["5ms"]),
            (Filter::Uuid, "id 123e4567-e89b-12d3-a456-426614174000.", &[uuid]),
            (Filter::Uuid, "x123e4567-e89b-12d3-a456-426614174000", &[]),
            (Filter::Uuid, "123e4567-e89b-12d3-a456-4266141740001", &[]),
            (Filter::Timestamp, "at 2026-11-30T19:00:00Z, done", &["2026-11-30T19:00:00Z"]),
            (Filter::Timestamp, "2026-11-30 19:00:00.123+01:00", &["2026-11-30 19:00:00.123+01:00"]),
            (Filter::Timestamp, "since 2026-11-30.", &["2026-11-30"]),
            (Filter::Timestamp, "Mon, 30 Nov 2026 19:00:19 GMT", &["Mon, 30 Nov 2026 19:00:19 GMT"]),
            (Filter::Timestamp, "[19:00:19] x", &["19:00:19"]),
            (Filter::Timestamp, "1796065219 and 1796065219123", &["1796065219", "1796065219123"]),
            (Filter::Timestamp, "port 8080, v1.2.3, 192-168-01-01, 12:30", &[]),
            (Filter::Duration, "took 12 ms", &["12 ms"]),
            (Filter::Duration, "in 1m30s or 1h 2m", &["1m30s", "1h 2m"]),
            (Filter::Duration, "3.5 seconds, 2 days", &["3.5 seconds", "2 days"]),
            (Filter::Duration, "40µs", &["40µs"]),
            (Filter::Duration, "5 m away, 3 files, A4s, 7 stations", &[]),
            (Filter::HexId, "commit 0a1b2c3 of", &["0a1b2c3"]),
            (Filter::HexId, "m_0123456789ab", &["0123456789ab"]),
            (Filter::HexId, "at 0x7ffee4bff8", &["0x7ffee4bff8"]),
            (Filter::HexId, "abcdefabcdef", &["abcdefabcdef"]),
            (Filter::HexId, "defaced the facade, 12345, deadline2, 0a1b2", &[]),
            (Filter::Path, "see /usr/lib/x.so.", &["/usr/lib/x.so"]),
            (Filter::Path, "(/a/b:12) \"/c/d/\"", &["/a/b", "/c/d/"]),
            (Filter::Path, "~/x and ~/y/z", &["~/x", "~/y/z"]),
            (Filter::Path, r"C:\Users\me", &[r"C:\Users\me"]),
            (Filter::Path, "file=/a/b\n/c/d", &["/a/b", "/c/d"]),
            (Filter::Path, "/a/b /c/d", &["/a/b", "/c/d"]),
            (Filter::Path, "https://example.com/a/b", &[]),
            (Filter::Path, "src/a/b.rs", &[]),
            (Filter::Path, "${PROJECT}/src/a.rs", &[]),
            (Filter::Path, "/compact and a/b, 1/2/3", &[]),
            (Filter::Path, "// a comment /", &[]),
            (Filter::Path, "/tmp/ümlaut/ß", &["/tmp/ümlaut/ß"]),
            (Filter::Path, "", &[]),
            (Filter::Uuid, "", &[]),
        ];
        for (filter, text, expected) in cases {
            assert_eq!(found(filter, text), expected, "{} in {text:?}", filter.name());
        }
    }
}
