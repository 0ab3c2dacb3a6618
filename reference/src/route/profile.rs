//! What a segment is about: four distributions over terms, made from its records.
//!
//! Formulas of the mission's first seed, with its plain faults left out: terms come from the one text analyser, so
//! identifiers, paths, digits and CJK text count; headings and document types are in no profile; affected paths
//! are entities; the topic is the request's first line, since a first heading is the same for every record.
//! Beside the distributions a profile has what some strategies ask for: the typed buckets that its terms stand in (see
//! [`bucket`](crate::route::bucket)), its connection terms, and whether it knows a time.
//! Deterministic. Not here: the sum over a segment's records ([`gathering`](crate::route::gathering)), scores of
//! segments (the strategies), storage (`store`).

use std::collections::{BTreeSet, HashMap};

use crate::analyze::{analyze, analyze_path};
use crate::document::SourceDocument;
use crate::route::Weights;
use crate::route::bucket::{Buckets, date_terms, is_action, is_date};

/// Important terms and key entities kept of one record.
const TOP: usize = 12;
/// Window terms kept of one record.
const TOP_WINDOW: usize = 24;
/// Window terms kept of one segment.
pub const TOP_LOCAL_MEMORY: usize = 96;
/// What one record's window adds to its segment's.
const WINDOW_SHARE: f32 = 0.35;
/// Content behind this many tokens does not shape the profile: long records are not worth more.
const MAX_TOKENS: usize = 2_000;
/// Affected paths looked at.
const MAX_PATHS: usize = 32;

/// Decay of the rolling window at each token, and the value under which a token leaves it.
const DECAY: f32 = 0.82;
const FORGOTTEN: f32 = 0.015;
/// Importance of any token; what lies above it spreads to the window.
const BASE: f32 = 0.04;
const SPREAD: f32 = 0.08;

/// What a profile has as a whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    const TIME: u8 = 1 << 4;

    /// The flags of these bits; unknown ones are dropped.
    pub fn from_bits(bits: u8) -> Flags {
        Flags(bits & 31)
    }

    /// Its bits: one for each distribution in the order of [`Weights`], then that of the time.
    pub fn bits(self) -> u8 {
        self.0
    }

    /// Whether a distribution, numbered in the order of [`Weights`], has any term.
    pub fn has_distribution(self, number: u8) -> bool {
        number < 4 && self.0 >> number & 1 == 1
    }

    /// Whether a record has a timestamp or a word of time.
    pub fn knows_time(self) -> bool {
        self.0 & Flags::TIME != 0
    }

    /// Sets the flag of each distribution that the weights are not 0 in.
    pub fn see(&mut self, weights: Weights) {
        let all = [weights.terms, weights.entities, weights.topics, weights.local_memory];
        self.0 |= (0..).zip(all).map(|(bit, weight)| u8::from(weight > 0.0) << bit).sum::<u8>();
    }

    /// Sets the flag of the time.
    pub fn see_time(&mut self) {
        self.0 |= Flags::TIME;
    }

    /// Adds the flags of another part of the same profile.
    pub fn add(&mut self, other: Flags) {
        self.0 |= other.0;
    }
}

/// Takes in what a record says of its segment.
pub trait Gather {
    /// Adds raw weights to a term.
    fn weigh(&mut self, term: &str, raw: Weights);
    /// Notes that a term stands for an action or a time, whatever it weighs.
    fn note(&mut self, term: &str, bucket: Buckets);
}

/// Gives each term of the record's profile to `gather`; a segment's profile is the sum over its records, each
/// distribution then normalised to sum 1 (and [`TOP_LOCAL_MEMORY`] kept of the last).
pub fn of_record(document: &SourceDocument, gather: &mut dyn Gather) {
    let text = Text::read(document);
    let terms = text.important_terms();
    let entities = key_entities(document);
    let mut topics: BTreeSet<String> = BTreeSet::new();
    let request = document.request();
    analyze(request.lines().next().unwrap_or(""), &mut |term| {
        topics.insert(term.to_owned());
    });

    let mut raw: HashMap<&str, [f32; 3]> = HashMap::new();
    for (term, score) in &terms {
        raw.entry(term).or_default()[0] += score;
        gather.weigh(term, Weights { terms: score.max(0.1), ..Weights::default() });
    }
    for (term, score) in &entities {
        raw.entry(term).or_default()[1] += score;
        gather.weigh(term, Weights { entities: *score, ..Weights::default() });
    }
    for term in &topics {
        raw.entry(term).or_default()[2] += 1.0;
        gather.weigh(term, Weights { topics: 1.0, ..Weights::default() });
    }
    let importance: Vec<f32> = text
        .names
        .iter()
        .map(|name| {
            let [term, entity, topic] = raw.get(name.as_str()).copied().unwrap_or_default();
            BASE + term + 1.4 * entity + 0.8 * topic
        })
        .collect();
    for (token, share) in window(&text.tokens, &importance) {
        if let Some(name) = text.names.get(token) {
            gather.weigh(name, Weights { local_memory: WINDOW_SHARE * share, ..Weights::default() });
        }
    }
    for name in &text.names {
        if is_date(name) {
            gather.note(name, Buckets::TIME);
        } else if is_action(name) {
            gather.note(name, Buckets::ACTION);
        }
    }
    for term in document.timestamp_ms.into_iter().flat_map(date_terms) {
        gather.note(&term, Buckets::TIME);
    }
}

/// Content as numbered tokens, with the sentence that each stands in.
struct Text {
    names: Vec<String>,
    tokens: Vec<usize>,
    sentence_of: Vec<u32>,
    sentences: u32,
}

impl Text {
    fn read(document: &SourceDocument) -> Text {
        let mut text = Text { names: Vec::new(), tokens: Vec::new(), sentence_of: Vec::new(), sentences: 0 };
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let mut sections = document.sections().peekable();
        if sections.peek().is_none() {
            text.section(&document.content, &mut numbers);
        }
        for (heading, section) in sections {
            // The paths are entities; their list is not prose.
            if heading != "Affected paths" {
                text.section(section, &mut numbers);
            }
        }
        text
    }

    fn section(&mut self, section: &str, numbers: &mut HashMap<String, usize>) {
        for sentence in sentences(section) {
            if self.tokens.len() >= MAX_TOKENS {
                return;
            }
            let before = self.tokens.len();
            analyze(sentence, &mut |term| {
                let number = numbers.get(term).copied().unwrap_or_else(|| {
                    self.names.push(term.to_owned());
                    numbers.insert(term.to_owned(), self.names.len() - 1);
                    self.names.len() - 1
                });
                self.tokens.push(number);
                self.sentence_of.push(self.sentences);
            });
            self.sentences += u32::from(self.tokens.len() > before);
        }
    }

    /// `100 * (f / T) * (2 - p) * (1 + s)` for each term: f occurrences of T tokens, first at share p of the text,
    /// in share s of the sentences. The best [`TOP`].
    fn important_terms(&self) -> Vec<(&str, f32)> {
        struct Count {
            occurrences: f32,
            first: f32,
            sentences: f32,
            last_sentence: Option<u32>,
        }
        let total = self.tokens.len().max(1) as f32;
        let mut counts: Vec<Count> = Vec::with_capacity(self.names.len());
        for (place, (token, sentence)) in self.tokens.iter().zip(&self.sentence_of).enumerate() {
            if *token == counts.len() {
                counts.push(Count { occurrences: 0.0, first: place as f32, sentences: 0.0, last_sentence: None });
            }
            if let Some(count) = counts.get_mut(*token) {
                count.occurrences += 1.0;
                count.sentences += f32::from(count.last_sentence != Some(*sentence));
                count.last_sentence = Some(*sentence);
            }
        }
        let sentences = self.sentences.max(1) as f32;
        let scores = self.names.iter().zip(&counts).map(|(name, count)| {
            let share = count.occurrences / total;
            (name.as_str(), 100.0 * share * (2.0 - count.first / total) * (1.0 + count.sentences / sentences))
        });
        best(scores.collect(), TOP)
    }
}

/// Pieces that end at a line end or at `.`, `!` or `?` before white space, so that `lib.rs` stays whole.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| {
        let mut rest = line;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let end =
                [". ", "! ", "? "].iter().filter_map(|mark| rest.find(mark)).min().map_or(rest.len(), |at| at + 1);
            let (sentence, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
            rest = after;
            Some(sentence)
        })
    })
}

/// Identifiers, names and affected paths, each by
/// `0.8 ln(1 + mentions) + 0.7 section hits + 0.6 (2 - first place / length)`, split into terms. The best [`TOP`].
/// Headings carry no entity of their own here, so the seed's heading bonus has nothing to count.
fn key_entities(document: &SourceDocument) -> Vec<(String, f32)> {
    struct Mention {
        count: f32,
        sections: f32,
        last_section: usize,
        first: f32,
    }
    let length = document.content.len().max(1) as f32;
    let mut mentions: HashMap<&str, Mention> = HashMap::new();
    for (number, (_, section)) in document.sections().enumerate() {
        let base = section.as_ptr() as usize - document.content.as_ptr() as usize;
        for (at, word) in entity_words(section).take(MAX_TOKENS) {
            let mention = mentions.entry(word).or_insert(Mention {
                count: 0.0,
                sections: 0.0,
                last_section: usize::MAX,
                first: (base + at) as f32,
            });
            mention.count += 1.0;
            mention.sections += f32::from(mention.last_section != number);
            mention.last_section = number;
        }
    }
    for path in document.links.iter().take(MAX_PATHS) {
        let first = Mention { count: 0.0, sections: 0.0, last_section: usize::MAX, first: length };
        let mention = mentions.entry(path).or_insert(first);
        mention.count += 1.0;
        mention.sections += 1.0;
    }
    let scores = mentions.into_iter().map(|(word, mention)| {
        (word, 0.8 * (1.0 + mention.count).ln() + 0.7 * mention.sections + 0.6 * (2.0 - mention.first / length))
    });
    let mut terms: HashMap<String, f32> = HashMap::new();
    for (word, score) in best(scores.collect(), TOP) {
        let emit = &mut |term: &str| *terms.entry(term.to_owned()).or_default() += score;
        if word.contains('/') { analyze_path(word, emit) } else { analyze(word, emit) }
    }
    let mut terms: Vec<_> = terms.into_iter().collect();
    terms.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    terms
}

/// Words that name something, with their places: identifiers of several parts, paths, acronyms, and capitalised
/// words that do not merely begin a sentence.
fn entity_words(section: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    let mut begins = true;
    section.split_inclusive(char::is_whitespace).filter_map(move |piece| {
        let place = at;
        at += piece.len();
        let began = begins;
        let trimmed = piece.trim_end();
        begins = piece.ends_with('\n') || trimmed.ends_with(['.', '!', '?', ':']);
        let word = trimmed.trim_matches(|sign: char| !sign.is_alphanumeric());
        let letters = word.chars().filter(|sign| sign.is_uppercase()).count();
        let inner = word.contains(['_', '/', '.']) || word.contains("::") || word.contains('-') && letters > 0;
        let camel = word.chars().skip(1).any(char::is_uppercase) && word.chars().any(char::is_lowercase);
        let acronym = (2..=8).contains(&letters) && letters == word.chars().count();
        let name = letters > 0 && !began && word.chars().next().is_some_and(char::is_uppercase);
        ((2..=200).contains(&word.len()) && (inner || camel || acronym || name)).then_some((place, word))
    })
}

/// The rolling window: what stays in mind while the tokens pass. Shares sum to 1 over the best [`TOP_WINDOW`].
fn window(tokens: &[usize], importance: &[f32]) -> Vec<(usize, f32)> {
    let mut active: Vec<(usize, f32)> = Vec::new();
    let mut retained = vec![0.0_f32; importance.len()];
    for token in tokens {
        active.retain_mut(|(_, value)| {
            *value *= DECAY;
            *value >= FORGOTTEN
        });
        let importance = importance.get(*token).copied().unwrap_or(BASE);
        if importance > BASE {
            active.iter_mut().for_each(|(_, value)| *value += SPREAD * importance);
        }
        match active.iter_mut().find(|(active, _)| active == token) {
            Some((_, value)) => *value += importance,
            None => active.push((*token, importance)),
        }
        for (token, value) in &active {
            if let Some(kept) = retained.get_mut(*token) {
                *kept += value;
            }
        }
    }
    let kept = best(retained.into_iter().enumerate().filter(|(_, value)| *value > 0.0).collect(), TOP_WINDOW);
    let total: f32 = kept.iter().map(|(_, value)| value).sum();
    kept.into_iter().map(|(token, value)| (token, value / total.max(f32::MIN_POSITIVE))).collect()
}

/// The `count` highest scores, highest first; equal ones in the order of their keys.
fn best<K: Ord>(mut scores: Vec<(K, f32)>, count: usize) -> Vec<(K, f32)> {
    scores.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    scores.truncate(count);
    scores
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::wire::tests::sample;

    #[derive(Default)]
    struct Found {
        weights: HashMap<String, Weights>,
        noted: BTreeSet<(String, u8)>,
    }

    impl Gather for Found {
        fn weigh(&mut self, term: &str, raw: Weights) {
            let sum = self.weights.entry(term.to_owned()).or_default();
            sum.terms += raw.terms;
            sum.entities += raw.entities;
            sum.topics += raw.topics;
            sum.local_memory += raw.local_memory;
        }

        fn note(&mut self, term: &str, bucket: Buckets) {
            self.noted.insert((term.to_owned(), bucket.bits()));
        }
    }

    fn found(request: &str) -> Found {
        let mut found = Found::default();
        of_record(&sample("a", "s", request), &mut found);
        found
    }

    fn profile(request: &str) -> HashMap<String, Weights> {
        found(request).weights
    }

    #[test]
    fn actions_dates_and_the_day_of_capture_are_noted() {
        let noted = found("Renamed the cache key after 2021-03-04, error 4242").noted;
        let expected = [
            ("renam", Buckets::ACTION),
            ("2021-03-04", Buckets::TIME),
            ("2021", Buckets::TIME),
            // 1,700,000,000 s since 1970.
            ("2023-11-14", Buckets::TIME),
            ("2023", Buckets::TIME),
            ("novemb", Buckets::TIME),
            ("tuesday", Buckets::TIME),
        ];
        let expected: BTreeSet<(String, u8)> =
            expected.into_iter().map(|(term, bucket)| (term.to_owned(), bucket.bits())).collect();
        assert_eq!(noted, expected);
    }

    #[test]
    fn identifiers_paths_digits_and_cjk_are_in_the_profile() {
        let profile = profile("Fix parse_header in src/http/h2.rs, error 4242, \u{7f13}\u{5b58}\u{5931}\u{6548}");
        for term in ["parse_header", "src/http/h2.rs", "4242", "\u{7f13}\u{5b58}"] {
            assert!(profile.contains_key(term), "{term} in {:?}", profile.keys());
        }
        assert!(profile.get("parse_header").is_some_and(|weights| weights.entities > 0.0 && weights.terms > 0.0));
    }

    #[test]
    fn headings_and_document_types_are_in_no_profile() {
        let profile = profile("Cache the answer");
        for boilerplate in ["outcome", "request", "result", "claude"] {
            assert!(!profile.contains_key(boilerplate), "{boilerplate}");
        }
    }

    #[test]
    fn affected_paths_are_entities() {
        assert!(profile("Cache the answer").get("src/lib.rs").is_some_and(|weights| weights.entities > 0.0));
    }

    #[test]
    fn window_shares_of_a_record_sum_to_the_window_share() {
        let sum: f32 = profile("alpha beta gamma alpha").values().map(|weights| weights.local_memory).sum();
        assert!((sum - WINDOW_SHARE).abs() < 1e-4, "{sum}");
    }
}
