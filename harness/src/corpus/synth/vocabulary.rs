//! Words of a synthetic corpus: a small head of common words and an endless tail of made-up ones.
//!
//! How often a word of the tail occurs falls with its rank as in natural text (Zipf, exponent about 1), so that the
//! number of different words grows with the corpus and rare words exist at every size. A word is made from its rank
//! alone: nothing is stored.

use fastrand::Rng;

/// Verbs that open a request.
pub(super) const VERBS: [&str; 16] = [
    "fix", "add", "remove", "rename", "speed up", "document", "split", "merge", "guard", "retry", "cache", "validate",
    "log", "test", "port", "simplify",
];

/// What a coding memory speaks about whatever its topic.
pub(super) const COMMON: [&str; 48] = [
    "error", "timeout", "test", "config", "request", "response", "buffer", "queue", "parser", "token", "file", "path",
    "thread", "lock", "index", "cache", "field", "header", "option", "default", "value", "result", "worker", "state",
    "client", "server", "message", "retry", "limit", "size", "version", "format", "string", "number", "list", "map",
    "key", "event", "handler", "stream", "writer", "reader", "schema", "query", "record", "session", "build",
    "release",
];

/// Pairs of common words that a person uses for each other.
const SYNONYMS: [(&str, &str); 12] = [
    ("error", "failure"),
    ("fix", "repair"),
    ("add", "introduce"),
    ("remove", "drop"),
    ("speed up", "make faster"),
    ("config", "settings"),
    ("timeout", "deadline"),
    ("queue", "backlog"),
    ("worker", "runner"),
    ("limit", "bound"),
    ("document", "describe"),
    ("handler", "callback"),
];

const ONSETS: [&str; 16] = ["b", "br", "d", "dr", "f", "g", "gl", "k", "l", "m", "n", "p", "r", "s", "t", "v"];
const VOWELS: [&str; 8] = ["a", "e", "i", "o", "u", "ai", "ou", "ea"];
const CODAS: [&str; 8] = ["l", "m", "n", "r", "s", "t", "x", "sk"];

/// The made-up word of a rank: two syllables and more for larger ranks, different for different ranks.
pub(super) fn word(rank: u64) -> String {
    let mut word = String::new();
    // A base-1024 number, least digit first, each digit a syllable; two at least.
    let mut rest = rank;
    loop {
        let digit = rest % 1024;
        for (part, texts) in [(digit % 16, &ONSETS[..]), (digit / 16 % 8, &VOWELS[..]), (digit / 128, &CODAS[..])] {
            word.push_str(usize::try_from(part).ok().and_then(|at| texts.get(at)).copied().unwrap_or_default());
        }
        rest /= 1024;
        if rest == 0 && rank >= 1024 {
            return word;
        }
        if rest == 0 {
            // Short ranks get a common second syllable, which no longer rank ends with: its vowel is `y`.
            word.push_str("yk");
            return word;
        }
    }
}

/// A rank of the tail, drawn by Zipf's law among the first `n` ranks.
pub(super) fn zipf(random: &mut Rng, n: u64) -> u64 {
    // For exponent 1 the cumulative share of the first x ranks is ln(x + 1) / ln(n + 1), whose inverse is this power.
    let n = n.max(1);
    let x = ((n + 1) as f64).powf(random.f64()) - 1.0;
    (x as u64).min(n - 1)
}

/// The other word for a common one, if it has one.
pub(super) fn synonym(word: &str) -> Option<&'static str> {
    SYNONYMS.iter().find_map(|(left, right)| match word {
        _ if word == *left => Some(*right),
        _ if word == *right => Some(*left),
        _ => None,
    })
}

/// An identifier of two words in one of the usual styles.
pub(super) fn identifier(random: &mut Rng, first: &str, second: &str) -> String {
    let capital = |word: &str| {
        let mut signs = word.chars();
        signs.next().map(|sign| sign.to_uppercase().chain(signs).collect::<String>()).unwrap_or_default()
    };
    match random.u8(0..3) {
        0 => format!("{first}_{second}"),
        1 => format!("{first}{}", capital(second)),
        _ => format!("{}{}", capital(first), capital(second)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn different_ranks_are_different_words() {
        let ranks = (0..20_000).chain((1 << 20)..(1 << 20) + 2_000);
        let words: HashSet<String> = ranks.map(word).collect();
        assert_eq!(words.len(), 22_000);
    }

    #[test]
    fn frequency_falls_with_the_rank() {
        let mut random = Rng::with_seed(1);
        let mut counts = vec![0u32; 1_000];
        for _ in 0..200_000 {
            counts[usize::try_from(zipf(&mut random, 1_000)).unwrap_or(0)] += 1;
        }
        // ln 2 / ln 1001 = 10.03 % of the draws are the first rank; ranks 9 to 98 are ln 10 / ln 1001 = 33.3 %.
        assert!((19_000..21_200).contains(&counts[0]), "{}", counts[0]);
        let middle: u32 = counts[9..99].iter().sum();
        assert!((65_000..68_400).contains(&middle), "{middle}");
    }

    #[test]
    fn synonyms_go_both_ways() {
        assert_eq!(synonym("error").and_then(synonym), Some("error"));
        assert_eq!(synonym("parser"), None);
    }
}
