//! Typed buckets: which part a term plays, for [`typed_evidence`](crate::route::typed_evidence).
//!
//! The first seed tells parts apart by capitals, endings and a part-of-speech label; terms here are lower-case stems,
//! so this is decided:
//! * A term of digits, or a word of time, is a time and nothing else. A segment's times are date, year, month and
//!   weekday of its records and the dates and words of time in their text; at most 24.
//! * An action is a stem of a list of verbs that work on code is told in. Stemming takes away the endings -ed and
//!   -ing, which the seed adds to its list of 26. A query term that is an action is nothing else. A segment's actions
//!   are such terms anywhere in its text; at most 48.
//! * All other query terms are subjects and objects. A segment's subjects are its entities and topics, its objects its
//!   other important terms; at most 48 each, the strongest.
//! * Nothing is a person: captures name no people, and a query's terms have no capitals. The formula keeps its place.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// A set of buckets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Buckets(u8);

impl Buckets {
    /// People.
    pub const PERSON: Buckets = Buckets(1);
    /// Subjects.
    pub const SUBJECT: Buckets = Buckets(2);
    /// Times.
    pub const TIME: Buckets = Buckets(4);
    /// Actions.
    pub const ACTION: Buckets = Buckets(8);
    /// Objects.
    pub const OBJECT: Buckets = Buckets(16);

    /// The set with these bits; unknown ones are dropped.
    pub fn from_bits(bits: u8) -> Buckets {
        Buckets(bits & 31)
    }

    /// Its bits.
    pub fn bits(self) -> u8 {
        self.0
    }

    /// Both sets together.
    pub fn or(self, other: Buckets) -> Buckets {
        Buckets(self.0 | other.0)
    }

    /// What both sets have.
    pub fn and(self, other: Buckets) -> Buckets {
        Buckets(self.0 & other.0)
    }

    /// Whether it has all of the other.
    pub fn has(self, other: Buckets) -> bool {
        self.0 & other.0 == other.0
    }
}

/// Most terms of one segment in a bucket.
pub const MOST_SUBJECTS: usize = 48;
/// As [`MOST_SUBJECTS`].
pub const MOST_TIMES: usize = 24;
/// As [`MOST_SUBJECTS`].
pub const MOST_ACTIONS: usize = 48;
/// As [`MOST_SUBJECTS`].
pub const MOST_OBJECTS: usize = 48;

/// Stems of verbs, sorted.
const ACTIONS: [&str; 57] = [
    "ad",
    "add",
    "allow",
    "avoid",
    "bump",
    "call",
    "chang",
    "check",
    "clean",
    "close",
    "convert",
    "creat",
    "delet",
    "deprec",
    "disabl",
    "drop",
    "enabl",
    "ensur",
    "extend",
    "extract",
    "fail",
    "fix",
    "handl",
    "ignor",
    "implement",
    "improv",
    "introduc",
    "load",
    "merg",
    "move",
    "open",
    "pars",
    "pass",
    "prevent",
    "read",
    "refactor",
    "releas",
    "remov",
    "renam",
    "replac",
    "resolv",
    "retri",
    "return",
    "revert",
    "rewrit",
    "run",
    "send",
    "set",
    "simplifi",
    "skip",
    "split",
    "stop",
    "support",
    "switch",
    "test",
    "updat",
    "write",
];

/// Stems of words of time, sorted. `may` is a stop word.
const TIMES: [&str; 26] = [
    "april",
    "august",
    "day",
    "decemb",
    "februari",
    "friday",
    "januari",
    "juli",
    "june",
    "march",
    "monday",
    "month",
    "morn",
    "novemb",
    "octob",
    "saturday",
    "septemb",
    "sunday",
    "thursday",
    "today",
    "tomorrow",
    "tuesday",
    "wednesday",
    "week",
    "year",
    "yesterday",
];

/// Whether the term is a verb that work is told in.
pub fn is_action(term: &str) -> bool {
    ACTIONS.binary_search(&term).is_ok()
}

/// Whether the term of a text is a mention of a date: a word of time, `2024-05-01` or a year.
pub fn is_date(term: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let year = |text: &str| text.len() == 4 && digits(text) && (text.starts_with("19") || text.starts_with("20"));
    let mut parts = term.split('-');
    let is_day = match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(first), Some(month), Some(day), None) => {
            year(first) && [month, day].iter().all(|part| part.len() == 2 && digits(part))
        }
        _ => false,
    };
    is_day || year(term) || TIMES.binary_search(&term).is_ok()
}

/// Months as the analyser gives their names.
const MONTHS: [&str; 12] =
    ["januari", "februari", "march", "april", "may", "june", "juli", "august", "septemb", "octob", "novemb", "decemb"];

/// Weekdays, from Monday.
const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Date, year, month and weekday of a time in milliseconds since 1970, in UTC.
pub fn date_terms(timestamp_ms: i64) -> Vec<String> {
    let Ok(at) = Timestamp::from_millisecond(timestamp_ms) else { return Vec::new() };
    let date = TimeZone::UTC.to_datetime(at).date();
    let mut terms = vec![date.to_string(), date.year().to_string()];
    let month = usize::try_from(date.month() - 1).ok().and_then(|month| MONTHS.get(month));
    let weekday = usize::try_from(date.weekday().to_monday_zero_offset()).ok().and_then(|day| WEEKDAYS.get(day));
    terms.extend(month.into_iter().chain(weekday).map(|name| (*name).to_owned()));
    terms
}

/// The buckets of a query's term.
pub fn query_buckets(term: &str) -> Buckets {
    let is_number = term.starts_with(|first: char| first.is_ascii_digit())
        && term.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'.' | b':' | b'/'));
    if is_number || is_date(term) {
        Buckets::TIME
    } else if is_action(term) {
        Buckets::ACTION
    } else {
        Buckets::SUBJECT.or(Buckets::OBJECT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::tokens;

    #[test]
    fn lists_are_sorted_stems() {
        assert!(ACTIONS.is_sorted() && TIMES.is_sorted(), "searched by halving");
        for verb in ["added", "adding", "add", "renaming", "retries", "simplified", "deprecated", "parsing", "skipped"]
        {
            assert!(tokens(verb).iter().all(|term| is_action(term)), "{verb}: {:?}", tokens(verb));
        }
        let dates = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April June July \
                     August September October November December yesterday today tomorrow weeks days months years";
        for term in tokens(dates) {
            assert!(is_date(&term), "{term}");
        }
        assert!(WEEKDAYS.iter().chain(&MONTHS).all(|name| is_date(name) || *name == "may"));
    }

    #[test]
    fn a_query_term_is_a_time_an_action_or_both_subject_and_object() {
        for time in ["4242", "2024-05-01", "monday", "10:30"] {
            assert_eq!(query_buckets(time), Buckets::TIME, "{time}");
        }
        assert_eq!(query_buckets("fix"), Buckets::ACTION);
        for thing in ["cach", "e0277", "src/h2.rs"] {
            assert_eq!(query_buckets(thing), Buckets::SUBJECT.or(Buckets::OBJECT), "{thing}");
        }
        assert!(is_date("1999") && !is_date("4242") && !is_date("2024-5-1"));
    }
}
