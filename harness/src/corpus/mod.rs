//! Corpora: memories with questions whose answers are known.
//!
//! A corpus is a folder of `corpus.jsonl`, `written.jsonl`, `queries.jsonl`, `qrels` and `manifest.json`. It can be made
//! from nothing ([`synth`]), from a git history ([`from_git`]) or from a memory store ([`from_store`]), and it can be
//! [checked](check). No language model and no measure of likeness takes part in a judgement.

pub mod ask;
pub mod check;
pub mod from_git;
pub mod from_store;
pub mod reader;
pub mod row;
pub mod synth;
pub mod writer;

/// A short id from parts that name a thing: a letter and twelve hexadecimal digits of their hash.
///
/// The same parts give the same id on every machine. Ids are drawn from a space of 2^48, in which two of a million meet
/// with a chance of about one in 560: the check finds it.
pub fn short_id(letter: char, parts: &[&str]) -> String {
    format!("{letter}_{:012x}", hash(parts) >> 16)
}

/// A time, in seconds since 1970, as a corpus writes it; empty outside the calendar.
pub(in crate::corpus) fn rfc3339(seconds: i64) -> String {
    jiff::Timestamp::from_second(seconds).map(|at| at.to_string()).unwrap_or_default()
}

/// A hash of parts that is the same on every machine.
pub fn hash(parts: &[&str]) -> u64 {
    // A separator that no part has keeps ("ab", "c") and ("a", "bc") apart.
    xxhash_rust::xxh3::xxh3_64(parts.join("\0").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_tell_parts_apart_and_never_change() {
        assert_ne!(short_id('m', &["ab", "c"]), short_id('m', &["a", "bc"]));
        assert_eq!(short_id('m', &["project", "1"]), short_id('m', &["project", "1"]));
        assert_eq!(short_id('q', &["x"]).len(), 14);
    }
}
