//! A synthetic corpus of any size, from a seed: sessions with topics, files and identifiers of their own, and questions
//! whose answers were planted.
//!
//! Streamed: memory grows with the number of questions, not of records. Relevance is planted and never guessed: the
//! record that a question was made from answers it (3), so does a later record that supersedes it; what it superseded
//! and its near-duplicates help (2 and 1); so do other records of the same session that touched the same file (2). What
//! no question was made from is background. A synthetic corpus shows scale and behaviour; it is no measure of quality on
//! real text.

mod session;
mod vocabulary;

use std::collections::BTreeMap;
use std::path::Path;

use fastrand::Rng;

use self::session::{Made, World};
use self::vocabulary::{COMMON, synonym, word, zipf};
use super::ask::{Ask, SMALL_TALK};
use super::row::{Judgement, Manifest, QueryRow, RecordRow};
use super::writer::CorpusWriter;
use super::{hash, rfc3339, short_id};
use crate::failure::Failure;

/// What to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipe {
    /// Records, to within the last session.
    pub records: u64,
    /// Questions, of which a fifth has no answer; a small corpus gives fewer.
    pub queries: u64,
    /// Seed of everything.
    pub seed: u64,
    /// Projects; sessions are dealt to them in turn.
    pub projects: u64,
}

/// Least records that a recipe may ask for.
pub const MIN_RECORDS: u64 = 100;
/// Most records that a recipe may ask for.
pub const MAX_RECORDS: u64 = 10_000_000;

/// A record that a question puts into the corpus after the one it was made from.
#[derive(Debug, Clone)]
struct Plant {
    row: RecordRow,
    lines: Vec<String>,
}

/// Writes a corpus into a folder that has none; `progress` is told the records written so far.
///
/// # Errors
/// A folder that cannot be written or holds a corpus.
pub fn synth(recipe: &Recipe, folder: &Path, progress: &mut dyn FnMut(u64)) -> Result<Manifest, Failure> {
    let name = format!("synth-{}-seed-{}", recipe.records, recipe.seed);
    let about = format!(
        "Made by `hookbench corpus synth --records {} --queries {} --seed {} --projects {}`: invented text.",
        recipe.records, recipe.queries, recipe.seed, recipe.projects
    );
    let worlds: Vec<World> = (0..recipe.projects.max(1))
        .map(|project| World::new(recipe.seed, &format!("synth{project}"), recipe.records / recipe.projects.max(1)))
        .collect();
    // Sessions have two records on average; the last ones are only made when the others were short.
    let sessions = sessions_of(recipe, &worlds);
    let (questions, plants) = questions(recipe, &worlds, sessions);
    let mut writer = CorpusWriter::create(folder, Manifest::new(&name, "MIT OR Apache-2.0", &about))?;
    let mut n = 0;
    for number in 0..sessions {
        let Some((world, session)) = place(&worlds, number) else { break };
        for made in world.session(session) {
            n += 1;
            writer.record(&made.row, made.lines)?;
        }
        for plant in plants.get(&number).into_iter().flatten() {
            n += 1;
            writer.record(&plant.row, plant.lines.clone())?;
        }
        progress(n);
    }
    for (row, judgements) in &questions {
        writer.query(row, judgements)?;
    }
    writer.finish()
}

/// The world and the number within it of a session of the corpus; none without worlds.
fn place(worlds: &[World], number: u64) -> Option<(&World, u64)> {
    let n = (worlds.len() as u64).max(1);
    Some((worlds.get(usize::try_from(number % n).ok()?)?, number / n))
}

/// How many of all sessions the world of this one has: they are dealt out in turn.
fn dealt(sessions: u64, number: u64, n_worlds: usize) -> u64 {
    let n = (n_worlds as u64).max(1);
    sessions.saturating_sub(number % n).div_ceil(n)
}

/// How many sessions it takes to have the records asked for.
fn sessions_of(recipe: &Recipe, worlds: &[World]) -> u64 {
    let (mut records, mut sessions) = (0, 0);
    while records < recipe.records {
        let Some((world, session)) = place(worlds, sessions) else { break };
        records += world.length(session);
        sessions += 1;
    }
    sessions
}

type Questions = Vec<(QueryRow, Vec<Judgement>)>;

/// The questions, and by session what they plant after it.
fn questions(recipe: &Recipe, worlds: &[World], sessions: u64) -> (Questions, BTreeMap<u64, Vec<Plant>>) {
    let mut random = Rng::with_seed(hash(&["questions", &recipe.seed.to_string()]));
    let mut questions = Questions::new();
    let mut plants: BTreeMap<u64, Vec<Plant>> = BTreeMap::new();
    let mut used = std::collections::HashSet::new();
    let n_silent = recipe.queries / 5;
    for nth in 0..recipe.queries - n_silent {
        let Some(number) = fresh(&mut random, sessions, &mut used) else { break };
        let Some((world, session)) = place(worlds, number) else { break };
        let records = world.session(session);
        let Some(target) = records.get(random.usize(0..records.len().max(1))) else { continue };
        let (ask, mut judgements) =
            asked(&mut random, nth, world, session, &records, target, dealt(sessions, number, worlds.len()));
        for (row, lines, grade, after) in planted(&mut random, nth, target, number, sessions) {
            judgements.push((row.doc_id.clone(), grade));
            plants.entry(after).or_default().push(Plant { row, lines });
        }
        questions.push(question(recipe, world, nth, "answerable", &ask, judgements, sessions));
    }
    // A corpus too small for the questions asked for keeps their proportion.
    let n_silent = n_silent.min((questions.len() as u64).div_ceil(4));
    for nth in 0..n_silent {
        let Some(world) = worlds.get(usize::try_from(nth % worlds.len() as u64).unwrap_or(0)) else { break };
        let ask = unanswered(&mut random, nth, world);
        questions.push(question(recipe, world, recipe.queries + nth, "noanswer", &ask, Vec::new(), sessions));
    }
    (questions, plants)
}

/// A session that no question was made from yet; none when the corpus is too small for more.
fn fresh(random: &mut Rng, sessions: u64, used: &mut std::collections::HashSet<u64>) -> Option<u64> {
    (0..100).map(|_| random.u64(0..sessions.max(1))).find(|number| used.insert(*number))
}

/// What is asked about a record, with the grades of the records that were there before.
fn asked(
    random: &mut Rng,
    nth: u64,
    world: &World,
    session: u64,
    records: &[Made],
    target: &Made,
    sessions: u64,
) -> (Ask, Vec<(String, u8)>) {
    let mut grades = BTreeMap::from([(target.row.doc_id.clone(), 3)]);
    let shares_file =
        |other: &Made| other.row.affected_paths.iter().any(|path| target.row.affected_paths.contains(path));
    for other in records.iter().filter(|other| other.row.doc_id != target.row.doc_id && shares_file(other)) {
        grades.insert(other.row.doc_id.clone(), 2);
    }
    let path = target.row.affected_paths.first().cloned().unwrap_or_default();
    let identifier =
        target.identifiers.get(random.usize(0..target.identifiers.len().max(1))).cloned().unwrap_or_default();
    let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder).to_owned();
    let kin = || world.kin(session, sessions).into_iter().flat_map(|other| world.session(other));
    let ask = match nth % 10 {
        0..=3 => Ask::Prompt(paraphrase(random, target, world.words)),
        4 | 5 => {
            let (old, new) = edited(random, target, world.words);
            Ask::Edit(path, old, new)
        }
        6 => {
            // Everything of the era that touched the identifier helps; what it was asked for answers.
            for other in kin().filter(|other| other.identifiers.contains(&identifier)) {
                grades.entry(other.row.doc_id).or_insert(2);
            }
            Ask::Grep(identifier, folder)
        }
        7 => {
            for other in kin().filter(|other| other.row.affected_paths.contains(&path)) {
                grades.entry(other.row.doc_id).or_insert(2);
            }
            Ask::Read(path)
        }
        _ => {
            let task = paraphrase(random, target, world.words);
            let short = task.split(' ').take(5).collect::<Vec<_>>().join(" ");
            Ask::Agent(short, format!("Look into {folder} and find out what was done about this: {task}."))
        }
    };
    (ask, grades.into_iter().collect())
}

/// Chance that a question keeps a word of the record's own: two of its topic (which other records have too), and two
/// rare ones. Chosen so that about half of the prompts name a record uniquely and the others share their words with some
/// twenty records: people remember what a thing was about more often than its rarest word.
const KEPT: [f64; 4] = [0.7, 0.3, 0.3, 0.1];
/// Words of a prompt that have nothing to do with the record.
const CHATTER: u64 = 3;

/// A request in other words: some of the record's own, its common ones by synonym, chatter, and none in its order.
fn paraphrase(random: &mut Rng, target: &Made, words_in_use: u64) -> String {
    let kept = target.keywords.iter().zip(KEPT).filter(|(_, chance)| random.f64() < *chance);
    let mut words: Vec<String> = kept.map(|(word, _)| word.clone()).collect();
    if words.is_empty() {
        words.extend(target.keywords.first().cloned());
    }
    for word in target.row.request.split(' ').filter(|word| !["the", "of"].contains(word)) {
        if !target.keywords.iter().any(|own| own == word) && random.f64() < 0.6 {
            words.push(synonym(word).filter(|_| random.f64() < 0.7).unwrap_or(word).to_owned());
        }
    }
    words.extend((0..CHATTER).map(|_| word(zipf(random, words_in_use))));
    random.shuffle(&mut words);
    let openings = ["what did we do about", "why is there trouble with", "please look again at", "how does it work:"];
    format!("{} {}", openings.get(random.usize(0..openings.len())).copied().unwrap_or(""), words.join(" "))
}

/// An edit of what the record wrote: every other one changes a line of it, the others a line that has changed since, of
/// which only the identifier is left. Mostly about what its text does not mention.
fn edited(random: &mut Rng, target: &Made, words_in_use: u64) -> (String, String) {
    let identifier = target.identifiers.last().cloned().unwrap_or_default();
    let written = target.lines.iter().find(|line| line.contains(&identifier)).cloned().unwrap_or_default();
    if random.bool() {
        let new = written.replace("Result<", "Option<");
        return (written, new);
    }
    let (old, new) = (word(zipf(random, words_in_use)), word(zipf(random, words_in_use)));
    (format!("if {old}.is_empty() && {identifier}({old}) {{"), format!("if {new}.is_some() && {identifier}({new}) {{"))
}

/// Records that come after the target because of the question: near-duplicates, and now and then a reversal.
fn planted(
    random: &mut Rng,
    nth: u64,
    target: &Made,
    number: u64,
    sessions: u64,
) -> Vec<(RecordRow, Vec<String>, u8, u64)> {
    let mut made = Vec::new();
    let mut later = |random: &mut Rng, what: &str, change: &dyn Fn(&mut RecordRow), grade: u8| {
        let after = random.u64(number..sessions);
        let mut row = target.row.clone();
        row.session_id = short_id('s', &[what, &target.row.doc_id]);
        row.doc_id = short_id('m', &[what, &target.row.doc_id]);
        row.kind = "outcome".to_owned();
        let behind = i64::try_from(after - number).unwrap_or(0);
        row.timestamp = later_than(&target.row.timestamp, 5_400 * behind + 2_700);
        row.period_id = format!("{}-{}", row.project, row.timestamp.get(..7).unwrap_or_default());
        row.revision = format!("{:012x}", hash(&[what, &target.row.doc_id]) >> 16);
        change(&mut row);
        made.push((row, Vec::new(), grade, after));
    };
    if nth.is_multiple_of(4) {
        let filler = word(hash(&["near", &target.row.doc_id]) % 100_000);
        let change = |row: &mut RecordRow| {
            row.result.push_str(&format!(" Seen again beside the {filler}."));
        };
        later(random, "near-duplicate", &change, 2);
    }
    if nth.is_multiple_of(6) {
        let common = COMMON.get(random.usize(0..COMMON.len())).copied().unwrap_or("value");
        let change = |row: &mut RecordRow| {
            row.result = format!("Reversed: {} no longer; it uses the {common} instead.", row.request);
            row.decisions = vec![format!("This replaces what was decided before about: {}", row.request)];
        };
        later(random, "reversal", &change, 3);
    }
    made
}

/// A timestamp some seconds later; the same when it cannot be read.
fn later_than(timestamp: &str, seconds: i64) -> String {
    timestamp.parse::<jiff::Timestamp>().map_or_else(|_| timestamp.to_owned(), |at| rfc3339(at.as_second() + seconds))
}

/// A question that nothing in the corpus answers: small talk, work of a project that is not in it, or words of topics
/// that were never one record's, with an identifier that nobody wrote.
fn unanswered(random: &mut Rng, nth: u64, world: &World) -> Ask {
    // Ranks far beyond every vocabulary: words that no record has.
    let foreign: Vec<String> = (0..4).map(|_| word((1 << 40) + random.u64(0..1 << 20))).collect();
    let named = |at: usize| foreign.get(at).map_or("x", String::as_str);
    match nth % 6 {
        0 | 3 => {
            let at = usize::try_from(nth / 3).unwrap_or(0) % SMALL_TALK.len();
            Ask::Prompt(SMALL_TALK.get(at).copied().unwrap_or("go on").to_owned())
        }
        1 => Ask::Read(format!("lib/{}/{}.c", foreign.join("_"), named(0))),
        4 => Ask::Prompt(format!("please {} the {}", named(0), foreign.join(" "))),
        _ => {
            let mut topic_word = || world.a_topic_word(random);
            let (one, other) = (topic_word(), topic_word());
            Ask::Prompt(format!("does `{}_{}` need the {one} or the {other} at all?", named(1), named(2)))
        }
    }
}

fn question(
    recipe: &Recipe,
    world: &World,
    nth: u64,
    kind: &str,
    ask: &Ask,
    grades: Vec<(String, u8)>,
    sessions: u64,
) -> (QueryRow, Vec<Judgement>) {
    let qid = short_id('q', &["synth", &recipe.seed.to_string(), &nth.to_string()]);
    let asker = short_id('q', &["session", &qid]);
    let row = QueryRow {
        project: world.project.clone(),
        form: ask.form().to_owned(),
        kind: kind.to_owned(),
        // After everything, planted records included.
        timestamp: rfc3339(1_704_700_800 + 5_400 * i64::try_from(sessions + 24).unwrap_or(0)),
        branch: "main".to_owned(),
        text: ask.text(),
        hook: ask.payload(&world.project, &asker),
        qid: qid.clone(),
    };
    let judgements = grades.into_iter().map(|(doc_id, grade)| Judgement { qid: qid.clone(), doc_id, grade }).collect();
    (row, judgements)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

    use std::fs;

    use super::*;
    use crate::corpus::check::check;

    fn recipe(records: u64, queries: u64, seed: u64, projects: u64) -> Recipe {
        Recipe { records, queries, seed, projects }
    }

    fn files(folder: &Path) -> Vec<Vec<u8>> {
        ["corpus.jsonl", "written.jsonl", "queries.jsonl", "qrels"]
            .map(|name| fs::read(folder.join(name)).unwrap())
            .into()
    }

    #[test]
    fn the_same_recipe_gives_the_same_corpus_and_another_seed_another() {
        let home = tempfile::tempdir().unwrap();
        let folder = |name: &str| home.path().join(name);
        for (name, seed) in [("a", 1), ("b", 1), ("c", 2)] {
            synth(&recipe(1_000, 50, seed, 1), &folder(name), &mut |_| {}).unwrap();
        }
        assert_eq!(files(&folder("a")), files(&folder("b")));
        assert_ne!(files(&folder("a")), files(&folder("c")));
    }

    #[test]
    fn a_corpus_is_fit_and_of_the_size_asked_for() {
        for (records, queries, projects) in [(100, 10, 1), (3_000, 100, 3)] {
            let home = tempfile::tempdir().unwrap();
            let manifest = synth(&recipe(records, queries, 5, projects), home.path(), &mut |_| {}).unwrap();
            let checked = check(home.path()).unwrap();
            assert_eq!(checked.faults, Vec::<String>::new());
            // The last session may run over, and questions plant at most two records each.
            assert!((records..records + 12 + 2 * queries).contains(&manifest.memories), "{}", manifest.memories);
            assert_eq!(manifest.queries, queries);
            assert_eq!(manifest.noanswer, queries / 5);
        }
    }

    /// Words of a text, identifiers and paths taken apart.
    fn words(text: &str) -> std::collections::HashSet<String> {
        text.split(|sign: char| !sign.is_alphanumeric()).map(str::to_lowercase).filter(|word| word.len() > 2).collect()
    }

    /// The records' text by id, and their words by how many records have them.
    fn texts(folder: &Path) -> (BTreeMap<String, std::collections::HashSet<String>>, BTreeMap<String, u32>) {
        let corpus = fs::read_to_string(folder.join("corpus.jsonl")).unwrap();
        let rows = corpus.lines().map(|line| serde_json::from_str::<RecordRow>(line).unwrap());
        let texts: BTreeMap<_, _> = rows
            .map(|row| (row.doc_id, words(&[row.request, row.result, row.affected_paths.join(" ")].join(" "))))
            .collect();
        let mut counts = BTreeMap::new();
        for word in texts.values().flatten() {
            *counts.entry(word.clone()).or_default() += 1;
        }
        (texts, counts)
    }

    #[test]
    fn prompts_are_neither_given_away_nor_hopeless() {
        let home = tempfile::tempdir().unwrap();
        synth(&recipe(3_000, 400, 2, 1), home.path(), &mut |_| {}).unwrap();
        let (texts, counts) = texts(home.path());
        let mut relevant: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for line in fs::read_to_string(home.path().join("qrels")).unwrap().lines() {
            let parts: Vec<&str> = line.split(' ').collect();
            relevant.entry(parts[0].to_owned()).or_default().push(parts[2].to_owned());
        }
        // A plain ranker of this test's own: the sum of ln(N / n) of common words.
        let weight = |word: &String| counts.get(word).map_or(0.0, |n| (texts.len() as f64 / f64::from(*n)).ln());
        let queries = fs::read_to_string(home.path().join("queries.jsonl")).unwrap();
        let rows = queries.lines().map(|line| serde_json::from_str::<QueryRow>(line).unwrap());
        let ranks: Vec<f64> = rows
            .filter(|row| row.form == "prompt" && row.kind == "answerable")
            .map(|row| {
                let asked = words(&row.text);
                let score = |text: &std::collections::HashSet<String>| -> f64 {
                    asked.iter().filter(|word| text.contains(*word)).map(weight).sum()
                };
                let best = relevant[&row.qid].iter().map(|id| score(&texts[id])).fold(0.0, f64::max);
                1.0 + texts.values().filter(|text| score(text) > best).count() as f64
            })
            .collect();
        let mrr = ranks.iter().map(|rank| 1.0 / rank).sum::<f64>() / ranks.len() as f64;
        assert!((0.35..0.8).contains(&mrr), "{mrr}");
        assert!(ranks.len() > 100, "{}", ranks.len());
    }

    #[test]
    fn what_has_no_answer_names_nothing_that_was_written() {
        let home = tempfile::tempdir().unwrap();
        synth(&recipe(1_000, 200, 2, 1), home.path(), &mut |_| {}).unwrap();
        let records = fs::read_to_string(home.path().join("corpus.jsonl")).unwrap()
            + &fs::read_to_string(home.path().join("written.jsonl")).unwrap();
        let queries = fs::read_to_string(home.path().join("queries.jsonl")).unwrap();
        let rows = queries.lines().map(|line| serde_json::from_str::<QueryRow>(line).unwrap());
        let silent: Vec<QueryRow> = rows.filter(|row| row.kind == "noanswer").collect();
        let identifiers =
            |text: &str| -> Vec<String> { text.split('`').skip(1).step_by(2).map(str::to_owned).collect() };
        let named: Vec<String> = silent.iter().flat_map(|row| identifiers(&row.text)).collect();
        assert!(named.len() >= 10, "{named:?}");
        assert!(named.iter().all(|identifier| !records.contains(identifier)));
        // Some of their words are words of the corpus, or every system would be silent.
        let known =
            |row: &QueryRow| words(&row.text).iter().filter(|word| records.contains(&format!(" {word} "))).count();
        assert!(silent.iter().filter(|row| row.text.contains('`')).all(|row| known(row) >= 1));
    }

    #[test]
    fn odd_proportions_give_fit_corpora_that_keep_a_fifth_without_an_answer() {
        for (records, queries, projects) in
            [(100, 50, 1_000), (100, 300, 37), (300, 60, 7), (100, 1_000, 1), (100, 5, 1)]
        {
            let home = tempfile::tempdir().unwrap();
            let manifest = synth(&recipe(records, queries, 1, projects), home.path(), &mut |_| {}).unwrap();
            let faults = check(home.path()).unwrap().faults;
            assert_eq!(faults, Vec::<String>::new(), "{records} {queries} {projects}");
            assert!(manifest.answerable > 0 && manifest.queries <= queries);
            assert_eq!(manifest.noanswer, (queries / 5).min(manifest.answerable.div_ceil(4)));
        }
    }

    #[test]
    fn every_form_is_asked_and_reversals_answer() {
        let home = tempfile::tempdir().unwrap();
        synth(&recipe(2_000, 100, 3, 1), home.path(), &mut |_| {}).unwrap();
        let checked = check(home.path()).unwrap();
        let forms: Vec<&str> = checked.by_form.keys().map(String::as_str).collect();
        assert_eq!(forms, ["prompt", "subagent", "tool_edit", "tool_grep", "tool_read"]);
        let corpus = fs::read_to_string(home.path().join("corpus.jsonl")).unwrap();
        let reversed = corpus.lines().find(|line| line.contains("\"Reversed: ")).unwrap();
        let row: RecordRow = serde_json::from_str(reversed).unwrap();
        let qrels = fs::read_to_string(home.path().join("qrels")).unwrap();
        assert!(qrels.lines().any(|line| line.ends_with(&format!("{} 3", row.doc_id))));
    }
}
