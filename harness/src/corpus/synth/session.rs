//! One session of a synthetic corpus, made from its number alone.
//!
//! Any session can be made again at any time, so questions can be planted in a corpus of a million records without
//! keeping one of them. A session has a topic; in each *era* of the corpus the sessions of a topic share a few files and
//! identifiers, which is what links them.

use fastrand::Rng;

use super::vocabulary::{COMMON, VERBS, identifier, word, zipf};
use crate::corpus::row::RecordRow;
use crate::corpus::{hash, rfc3339, short_id};

/// Sessions of one topic in one era, on average.
const SESSIONS_PER_ERA: u64 = 4;

/// Seconds from one session to the next.
const SESSION_S: i64 = 5_400;

/// 2024-01-08 08:00:00 UTC.
const FIRST_S: i64 = 1_704_700_800;

/// What all sessions of a corpus have in common.
#[derive(Debug, Clone)]
pub(super) struct World {
    /// Seed of everything.
    pub(super) seed: u64,
    /// The project's name.
    pub(super) project: String,
    /// Number of topics.
    pub(super) topics: u64,
    /// Words in the tail.
    pub(super) words: u64,
}

/// A record before it is written, with what a question may be made from.
#[derive(Debug, Clone)]
pub(super) struct Made {
    /// The record.
    pub(super) row: RecordRow,
    /// Lines that it wrote.
    pub(super) lines: Vec<String>,
    /// Words of the request that are its own.
    pub(super) keywords: Vec<String>,
    /// Identifiers that it touched.
    pub(super) identifiers: Vec<String>,
}

impl World {
    /// A world for about `records` records.
    pub(super) fn new(seed: u64, project: &str, records: u64) -> World {
        World {
            seed,
            project: project.to_owned(),
            topics: (records / 200).max(4),
            // Heaps' law: the vocabulary grows with the square root of the text.
            words: 2_000 + 60 * records.isqrt(),
        }
    }

    fn random(&self, parts: &[&str]) -> Rng {
        let seed = self.seed.to_string();
        Rng::with_seed(hash(&[&[&*seed, &*self.project], parts].concat()))
    }

    /// The topic of a session.
    pub(super) fn topic(&self, session: u64) -> u64 {
        self.random(&["topic", &session.to_string()]).u64(0..self.topics)
    }

    /// The era of a session.
    pub(super) fn era(&self, session: u64) -> u64 {
        session / (self.topics * SESSIONS_PER_ERA)
    }

    /// The sessions that share topic and era with this one, itself among them.
    pub(super) fn kin(&self, session: u64, sessions: u64) -> Vec<u64> {
        let length = self.topics * SESSIONS_PER_ERA;
        let start = self.era(session) * length;
        let topic = self.topic(session);
        (start..(start + length).min(sessions)).filter(|other| self.topic(*other) == topic).collect()
    }

    /// Files of a topic in an era.
    fn files(&self, topic: u64, era: u64) -> Vec<String> {
        let mut random = self.random(&["files", &topic.to_string(), &era.to_string()]);
        let module = word(self.topic_word(topic, 0));
        let extension = ["rs", "py", "go", "ts"].get(random.usize(0..4)).copied().unwrap_or("rs");
        (0..4)
            .map(|_| {
                // The second half comes from a range so wide that no two eras share a file.
                let (half, other) = (word(zipf(&mut random, self.words)), word(random.u64(0..1 << 30)));
                format!("src/{module}/{half}_{other}.{extension}")
            })
            .collect()
    }

    /// Identifiers of a topic in an era.
    fn identifiers(&self, topic: u64, era: u64) -> Vec<String> {
        let mut random = self.random(&["identifiers", &topic.to_string(), &era.to_string()]);
        (0..6)
            .map(|_| {
                let first = word(zipf(&mut random, self.words));
                let second = COMMON.get(random.usize(0..COMMON.len())).copied().unwrap_or("value");
                identifier(&mut random, &first, second)
            })
            .collect()
    }

    /// A word that belongs to a topic: the nth of twenty.
    fn topic_word(&self, topic: u64, nth: u64) -> u64 {
        hash(&["topic word", &self.seed.to_string(), &topic.to_string(), &nth.to_string()]) % self.words
    }

    /// Any word of any topic.
    pub(super) fn a_topic_word(&self, random: &mut Rng) -> String {
        word(self.topic_word(random.u64(0..self.topics), random.u64(0..20)))
    }

    /// How many records a session has, without making them.
    pub(super) fn length(&self, session: u64) -> u64 {
        drawn_length(&mut self.random(&["session", &session.to_string()]))
    }

    /// Records of a session.
    pub(super) fn session(&self, session: u64) -> Vec<Made> {
        let number = session.to_string();
        let mut random = self.random(&["session", &number]);
        let length = drawn_length(&mut random);
        let (topic, era) = (self.topic(session), self.era(session));
        let (files, identifiers) = (self.files(topic, era), self.identifiers(topic, era));
        let session_id = short_id('s', &[&self.project, &self.seed.to_string(), &number]);
        let start = FIRST_S + SESSION_S * i64::try_from(session).unwrap_or(i64::MAX / (2 * SESSION_S));
        (0..length)
            .map(|nth| {
                let keywords: Vec<String> = (0..4)
                    .map(|at| match at {
                        0 | 1 => word(self.topic_word(topic, random.u64(0..20))),
                        _ => word(zipf(&mut random, self.words)),
                    })
                    .collect();
                let touched = pick(&mut random, &identifiers, 2);
                let paths = pick(&mut random, &files, 2);
                let (request, result) = sentences(&mut random, &keywords, &touched, self.words);
                let lines = touched
                    .iter()
                    .flat_map(|name| (0..3).map(move |n| (name, n)))
                    .map(|(name, n)| written_line(&mut random, name, n, self.words))
                    .collect();
                let at = start + 300 * i64::try_from(nth).unwrap_or(0);
                let row = RecordRow {
                    doc_id: short_id('m', &[&session_id, &nth.to_string()]),
                    session_id: session_id.clone(),
                    period_id: format!("{}-{}", self.project, &rfc3339(at).get(..7).unwrap_or_default()),
                    project: self.project.clone(),
                    kind: if nth + 1 < length { "checkpoint" } else { "outcome" }.to_owned(),
                    timestamp: rfc3339(at),
                    request,
                    result,
                    decisions: Vec::new(),
                    failures: Vec::new(),
                    unresolved: Vec::new(),
                    validation: Vec::new(),
                    affected_paths: paths,
                    branch: "main".to_owned(),
                    revision: format!("{:012x}", hash(&["revision", &session_id, &nth.to_string()]) >> 16),
                };
                Made { row, lines, keywords, identifiers: touched }
            })
            .collect()
    }
}

/// Geometric with mean two: most sessions are short, a few long.
fn drawn_length(random: &mut Rng) -> u64 {
    let mut length = 1;
    while length < 12 && random.bool() {
        length += 1;
    }
    length
}

/// `n` different entries, in their order.
fn pick(random: &mut Rng, from: &[String], n: usize) -> Vec<String> {
    let mut order: Vec<usize> = (0..from.len()).collect();
    random.shuffle(&mut order);
    order.truncate(n);
    order.sort_unstable();
    order.into_iter().filter_map(|at| from.get(at).cloned()).collect()
}

fn sentences(random: &mut Rng, keywords: &[String], identifiers: &[String], words: u64) -> (String, String) {
    let common = |random: &mut Rng| COMMON.get(random.usize(0..COMMON.len())).copied().unwrap_or("value");
    let verb = VERBS.get(random.usize(0..VERBS.len())).copied().unwrap_or("fix");
    let key = |at: usize| keywords.get(at).map_or("", String::as_str);
    let request = format!("{verb} the {} {} of the {} {}", key(0), common(random), key(2), common(random));
    let mut result = format!(
        "The {} {} was wrong when {} met {}; `{}` now checks the {} first.",
        key(1),
        common(random),
        key(3),
        common(random),
        identifiers.first().map_or("", String::as_str),
        common(random),
    );
    for _ in 0..random.u8(1..5) {
        let filler: Vec<String> = (0..6).map(|_| word(zipf(random, words))).collect();
        result.push_str(&format!(" Also the {} {} of {}.", filler.join(" "), common(random), common(random)));
    }
    (request, result)
}

fn written_line(random: &mut Rng, identifier: &str, nth: u32, words: u64) -> String {
    let (a, b) = (word(zipf(random, words)), word(zipf(random, words)));
    match nth {
        0 => format!("pub fn {identifier}({a}: &str) -> Result<{b}, Error> {{"),
        1 => format!("let {a} = {identifier}(&{b}, {})?;", random.u16(..)),
        _ => format!("assert_eq!({identifier}(\"{a}\"), Some({}));", random.u16(..)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_can_be_made_again() {
        let world = World::new(7, "p", 10_000);
        let rows = |world: &World| world.session(42).into_iter().map(|made| made.row).collect::<Vec<_>>();
        assert_eq!(rows(&world), rows(&World::new(7, "p", 10_000)));
        assert_ne!(rows(&world), rows(&World::new(8, "p", 10_000)));
        assert_eq!(world.length(42), rows(&world).len() as u64);
    }

    #[test]
    fn kin_share_files_and_others_do_not() {
        let world = World::new(7, "p", 2_000);
        let kin = world.kin(3, 1_000);
        assert!(kin.contains(&3) && kin.iter().all(|other| world.topic(*other) == world.topic(3)));
        let (topic, era) = (world.topic(3), world.era(3));
        let files = world.files(topic, era);
        let all = |session: u64| world.session(session).into_iter().flat_map(|made| made.row.affected_paths);
        assert!(kin.iter().flat_map(|session| all(*session)).all(|path| files.contains(&path)));
        assert!(world.files(topic, era + 1).iter().all(|path| !files.contains(path)));
    }
}
