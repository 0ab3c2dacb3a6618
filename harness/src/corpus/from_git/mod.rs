//! A corpus from a git history: what was changed becomes memory, what was changed later asks.
//!
//! The newest third of the changes, at most 700, asks; everything before is memory, and no session is in
//! both. The grades are links that git itself knows. The same history gives the same corpus byte for byte.
//! People are removed; what else a history says is taken as it is, so look at a corpus before you give it away.

mod history;
mod link;
mod people;
mod question;
mod rule;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use git2::{Oid, Repository};

use self::history::{Change, changes, written_lines};
use self::link::Links;
use self::question::{Form, question};
use super::ask::{Ask, SMALL_TALK};
use super::row::{Judgement, Manifest, QueryRow, RecordRow};
use super::writer::CorpusWriter;
use super::{hash, rfc3339, short_id};
use crate::failure::Failure;

pub(super) use self::people::is_address;

/// Most changes that may ask.
const MAX_ASKING: usize = 700;
/// Most files of a change that asks.
const MAX_FILES: usize = 15;
/// Shortest subject of a change that asks, in characters.
const MIN_SUBJECT: usize = 12;
/// Changes below which a history has nothing to ask.
const MIN_CHANGES: usize = 6;
/// Files that a memory names, those with the most changed lines first.
const MAX_PATHS: usize = 16;
/// Longest part of a commit message in a memory, in characters.
const MAX_BODY: usize = 900;

/// How the manifest of every such corpus begins to tell of its origin.
pub const MADE: &str = "Made by `hookbench corpus from-git`";

/// What to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipe {
    /// Name of the project in the corpus.
    pub project: String,
    /// Questions to look for; a history may have fewer.
    pub queries: u64,
    /// Commits to read, newest first.
    pub max_commits: usize,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// The corpus.
    pub manifest: Manifest,
    /// Questions found by form.
    pub by_form: BTreeMap<&'static str, u64>,
}

/// Writes a corpus of the repository into a folder that has none.
///
/// # Errors
/// No repository, one with too short a history, or a folder that cannot be written.
pub fn from_git(repository: &Path, recipe: &Recipe, folder: &Path) -> Result<Made, Failure> {
    let git = |error: git2::Error| {
        Failure::usage(repository, format!("git cannot read it: {}", error.message()), "name a repository with commits")
    };
    let opened = Repository::discover(repository).map_err(git)?;
    let all = changes(&opened, recipe.max_commits).map_err(git)?;
    let all: Vec<Change> = all.into_iter().filter(|change| !rule::is_housekeeping(&change.subject)).collect();
    if all.len() < MIN_CHANGES {
        let message =
            format!("has {} changes that are no merge and no housekeeping; {MIN_CHANGES} are needed", all.len());
        return Err(Failure::usage(repository, message, "name a repository with a longer history, or unshallow it"));
    }
    let n_asking = MAX_ASKING.min(all.len() / 3);
    let (memory, later) = all.split_at(all.len() - n_asking);
    let asking = asking(memory, later);
    let head = opened.head().and_then(|head| head.peel_to_commit()).map_err(git)?.id();
    let about = format!(
        "{MADE} from the history of {} at {head}: commit messages, paths and short pieces of code, people removed.",
        recipe.project
    );
    let licence = "the licence of the project it was made from";
    let mut writer = CorpusWriter::create(folder, Manifest::new(&recipe.project, licence, &about))?;
    let documents = write_memory(&mut writer, &opened, memory, recipe).map_err(|error| error.unwrap_or_git(git))?;
    let mut by_form = BTreeMap::new();
    let links = Links::to(&opened, memory);
    let answered = questions(&opened, &links, &asking, recipe).map_err(git)?;
    for (change, form, ask, grades) in &answered {
        *by_form.entry(form.name()).or_default() += 1;
        let qid = short_id('q', &[&recipe.project, &change.oid.to_string(), form.name()]);
        let row = query_row(recipe, change, form.name(), "answerable", ask, qid.clone());
        let judgements: Vec<Judgement> = documents
            .graded(grades)
            .into_iter()
            .map(|(doc_id, grade)| Judgement { qid: qid.clone(), doc_id, grade })
            .collect();
        writer.query(&row, &judgements)?;
    }
    for row in unanswered(recipe, &links, &asking, answered.len(), memory) {
        writer.query(&row, &[])?;
    }
    Ok(Made { manifest: writer.finish()?, by_form })
}

/// Later changes that may ask: after all memory, in sessions of their own, and not the same work again.
fn asking<'a>(memory: &[Change], later: &'a [Change]) -> Vec<&'a Change> {
    let last_s = memory.last().map_or(i64::MIN, |change| change.time_s);
    let sessions: HashSet<&str> = memory.iter().map(|change| &*change.session).collect();
    let known: HashSet<String> = memory.iter().map(|change| rule::spoken(&change.subject).to_lowercase()).collect();
    let mut asking: Vec<&Change> = later
        .iter()
        .filter(|change| change.time_s > last_s && !sessions.contains(&*change.session))
        .filter(|change| !known.contains(&rule::spoken(&change.subject).to_lowercase()))
        .collect();
    // A fixed order that has nothing to do with time, so that fewer questions are a fair sample.
    asking.sort_by_key(|change| hash(&["order", &change.oid.to_string()]));
    asking
}

/// Why memory could not be written: the repository or the folder.
enum WriteFault {
    Git(git2::Error),
    Folder(Failure),
}

impl WriteFault {
    fn unwrap_or_git(self, git: impl Fn(git2::Error) -> Failure) -> Failure {
        match self {
            WriteFault::Git(error) => git(error),
            WriteFault::Folder(failure) => failure,
        }
    }
}

/// The memories of a corpus by the changes that they tell of.
struct Documents {
    of_change: HashMap<Oid, String>,
    /// Session summary → the memories it sums up.
    summaries: BTreeMap<String, Vec<String>>,
}

impl Documents {
    /// Grades of memories: those of their changes, and for a summary one less than its best part of grade 2 or 3.
    fn graded(&self, grades: &link::Grades) -> BTreeMap<String, u8> {
        let mut graded: BTreeMap<String, u8> =
            grades.iter().filter_map(|(oid, grade)| Some((self.of_change.get(oid)?.clone(), *grade))).collect();
        for (summary, parts) in &self.summaries {
            let best = parts.iter().filter_map(|part| graded.get(part)).max().copied().unwrap_or(0);
            if best >= 2 {
                graded.insert(summary.clone(), best - 1);
            }
        }
        graded
    }
}

fn write_memory(
    writer: &mut CorpusWriter,
    repository: &Repository,
    memory: &[Change],
    recipe: &Recipe,
) -> Result<Documents, WriteFault> {
    let mut sessions: Vec<(&str, Vec<&Change>)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for change in memory {
        let at = *places.entry(&change.session).or_insert_with(|| {
            sessions.push((&change.session, Vec::new()));
            sessions.len() - 1
        });
        if let Some((_, changes)) = sessions.get_mut(at) {
            changes.push(change);
        }
    }
    let mut documents = Documents { of_change: HashMap::new(), summaries: BTreeMap::new() };
    for (session, changes) in &sessions {
        let mut parts = Vec::new();
        for (nth, change) in changes.iter().enumerate() {
            let kind = if changes.len() >= 3 && nth + 1 < changes.len() { "checkpoint" } else { "outcome" };
            let row = record_row(recipe, change, kind);
            let lines = written_lines(repository, change).map_err(WriteFault::Git)?;
            parts.push(row.doc_id.clone());
            documents.of_change.insert(change.oid, row.doc_id.clone());
            writer.record(&row, lines).map_err(WriteFault::Folder)?;
        }
        if changes.len() >= 2 {
            let row = summary_row(recipe, session, changes);
            documents.summaries.insert(row.doc_id.clone(), parts);
            writer.record(&row, Vec::new()).map_err(WriteFault::Folder)?;
        }
    }
    Ok(documents)
}

fn record_row(recipe: &Recipe, change: &Change, kind: &str) -> RecordRow {
    let request = change.subject.rsplit_once(" (#").map_or(&*change.subject, |(subject, _)| subject);
    let body: String = change.body.chars().take(MAX_BODY).collect();
    let (added, removed) =
        change.files.values().fold((0, 0), |(added, removed), churn| (added + churn.added, removed + churn.removed));
    let files = if change.n_files == 1 { "file" } else { "files" };
    let mut result = if body.trim().is_empty() { String::new() } else { format!("{}\n", body.trim()) };
    result.push_str(&format!("Changed {} {files} (+{added}/-{removed}).", change.n_files));
    if let Some(number) = change.pull_request {
        result.push_str(&format!(" PR #{number}."));
    }
    RecordRow {
        doc_id: short_id('m', &[&recipe.project, &change.oid.to_string()]),
        session_id: change.session.clone(),
        period_id: format!("{}-{}", recipe.project, month(change)),
        project: recipe.project.clone(),
        kind: kind.to_owned(),
        timestamp: rfc3339(change.time_s),
        request: request.trim().to_owned(),
        result,
        decisions: Vec::new(),
        failures: Vec::new(),
        unresolved: Vec::new(),
        validation: Vec::new(),
        affected_paths: paths(std::slice::from_ref(&change)),
        branch: change.branch.clone(),
        revision: change.oid.to_string().chars().take(12).collect(),
    }
}

fn summary_row(recipe: &Recipe, session: &str, changes: &[&Change]) -> RecordRow {
    let churn = |change: &Change| change.files.values().map(|churn| churn.added + churn.removed).sum::<u64>();
    let main = changes.iter().max_by_key(|change| (churn(change), change.oid));
    let steps: Vec<String> = changes.iter().map(|change| rule::spoken(&change.subject)).collect();
    let steps: String = steps.join("; ").chars().take(MAX_BODY).collect();
    let last = changes.last();
    RecordRow {
        doc_id: short_id('m', &[&recipe.project, session, "summary"]),
        session_id: session.to_owned(),
        period_id: format!("{}-{}", recipe.project, last.map(|change| month(change)).unwrap_or_default()),
        project: recipe.project.clone(),
        kind: "session-summary".to_owned(),
        timestamp: last.map(|change| rfc3339(change.time_s)).unwrap_or_default(),
        request: format!("Session: {}", main.map(|change| rule::spoken(&change.subject)).unwrap_or_default()),
        result: format!("{} steps: {steps}", changes.len()),
        decisions: Vec::new(),
        failures: Vec::new(),
        unresolved: Vec::new(),
        validation: Vec::new(),
        affected_paths: paths(changes),
        branch: last.map(|change| change.branch.clone()).unwrap_or_default(),
        revision: last.map(|change| change.oid.to_string().chars().take(12).collect()).unwrap_or_default(),
    }
}

/// The files with the most changed lines.
fn paths(changes: &[&Change]) -> Vec<String> {
    let mut churn: BTreeMap<&str, u64> = BTreeMap::new();
    for (path, lines) in changes.iter().flat_map(|change| &change.files) {
        *churn.entry(path).or_default() += lines.added + lines.removed;
    }
    let mut paths: Vec<(&str, u64)> = churn.into_iter().collect();
    paths.sort_by(|left, right| right.1.cmp(&left.1).then(left.0.cmp(right.0)));
    paths.into_iter().take(MAX_PATHS).map(|(path, _)| path.to_owned()).collect()
}

type Answered<'a> = Vec<(&'a Change, Form, Ask, link::Grades)>;

/// The questions that have an answer, at most two of one change, each form up to its share.
fn questions<'a>(
    repository: &Repository,
    links: &Links<'_>,
    asking: &[&'a Change],
    recipe: &Recipe,
) -> Result<Answered<'a>, git2::Error> {
    let mut wanted: Vec<(Form, u64)> =
        Form::SHARES.iter().map(|(form, share)| (*form, (recipe.queries * share / 100).max(1))).collect();
    let mut found = Answered::new();
    for change in asking {
        let talks = rule::spoken(&change.subject).chars().count() >= MIN_SUBJECT;
        if change.bulk || change.n_files > MAX_FILES || !talks {
            continue;
        }
        let hunks = links.hunks(change)?;
        if hunks.is_empty() {
            continue;
        }
        // The forms that lack most come first.
        wanted.sort_by_key(|(form, left)| (std::cmp::Reverse(*left), *form));
        let mut n = 0;
        for (form, left) in wanted.iter_mut().filter(|(_, left)| *left > 0) {
            if n == 2 {
                break;
            }
            if let Some((ask, grades)) = question(repository, links, change, &hunks, *form)? {
                found.push((*change, *form, ask, grades));
                *left -= 1;
                n += 1;
            }
        }
        if wanted.iter().all(|(_, left)| *left == 0) {
            break;
        }
    }
    Ok(found)
}

/// Questions without an answer: small talk, and work that no memory knows a file or number of.
fn unanswered(
    recipe: &Recipe,
    links: &Links<'_>,
    asking: &[&Change],
    n_answered: usize,
    memory: &[Change],
) -> Vec<QueryRow> {
    // A third as many as there are with an answer, half of them small talk.
    let n = n_answered.div_ceil(3);
    let unknown = asking.iter().filter(|change| {
        links.by_message(change).is_empty()
            && change.files.keys().all(|path| links.touched(path).is_empty())
            && rule::spoken(&change.subject).chars().count() >= MIN_SUBJECT
    });
    let mut rows: Vec<QueryRow> = unknown
        .take(n / 2)
        .map(|change| {
            let ask = Ask::Prompt(rule::spoken(&change.subject));
            let qid = short_id('q', &[&recipe.project, &change.oid.to_string(), "unknown"]);
            query_row(recipe, change, "prompt", "noanswer_weak", &ask, qid)
        })
        .collect();
    let last = asking.iter().max_by_key(|change| change.time_s).copied().or(memory.last());
    for (text, change) in SMALL_TALK.iter().take(n - rows.len()).zip(std::iter::repeat(last)) {
        let Some(change) = change else { break };
        let qid = short_id('q', &[&recipe.project, "small talk", text]);
        rows.push(query_row(recipe, change, "generic", "noanswer", &Ask::Prompt((*text).to_owned()), qid));
    }
    rows
}

fn query_row(recipe: &Recipe, change: &Change, form: &str, kind: &str, ask: &Ask, qid: String) -> QueryRow {
    let session = short_id('q', &["session", &change.oid.to_string()]);
    QueryRow {
        qid,
        project: recipe.project.clone(),
        form: form.to_owned(),
        kind: kind.to_owned(),
        timestamp: rfc3339(change.time_s),
        branch: change.branch.clone(),
        text: ask.text(),
        hook: ask.payload(&recipe.project, &session),
    }
}

fn month(change: &Change) -> String {
    rfc3339(change.time_s).chars().take(7).collect()
}
