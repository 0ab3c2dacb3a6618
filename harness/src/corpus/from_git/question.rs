//! Questions that a later change would have asked, had it been worked on with a memory: a prompt, a task for a
//! sub-agent, an edit, a search, a file to read; each with what the history says about its answer.

use std::collections::BTreeMap;

use git2::{Oid, Repository};

use super::history::Change;
use super::link::{Grades, Hunk, Links, best};
use super::rule;
use crate::corpus::ask::Ask;
use crate::corpus::hash;

/// Files and lines of a change whose authorship a prompt looks up.
const PROMPT_FILES: usize = 6;
const PROMPT_LINES: u32 = 40;
/// Longest place that an edit may touch, in lines, and the least text it must have held.
const EDIT_LINES: usize = 30;
const EDIT_CHARS: usize = 20;
/// Longest old and new text of an edit.
const OLD_CHARS: usize = 400;
const NEW_CHARS: usize = 300;
/// Most lines and files in which a searched name may occur.
const GREP_LINES: usize = 15;
const GREP_FILES: usize = 5;
/// Names of a change that are tried.
const GREP_NAMES: usize = 3;
/// Earlier changes of a file that is read.
const READ_CHANGES: usize = 5;
/// Shortest prompt in characters.
const PROMPT_CHARS: usize = 15;

/// The forms in which a change can ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Form {
    Prompt,
    Reference,
    Agent,
    Edit,
    Grep,
    Read,
}

impl Form {
    /// All forms with their share of the questions, in per cent.
    pub(super) const SHARES: [(Form, u64); 6] = [
        (Form::Prompt, 33),
        (Form::Edit, 26),
        (Form::Agent, 13),
        (Form::Grep, 13),
        (Form::Read, 8),
        (Form::Reference, 7),
    ];

    /// Its name in `queries.jsonl`, where a prompt that refers to an issue or commit is a form of its own.
    pub(super) fn name(self) -> &'static str {
        match self {
            Form::Prompt => "prompt",
            Form::Reference => "prompt_ref",
            Form::Agent => "subagent",
            Form::Edit => "tool_edit",
            Form::Grep => "tool_grep",
            Form::Read => "tool_read",
        }
    }
}

/// The question of a change in a form, with the grades of earlier changes; none when the change cannot ask so.
pub(super) fn question(
    repository: &Repository,
    links: &Links<'_>,
    change: &Change,
    hunks: &BTreeMap<String, Vec<Hunk>>,
    form: Form,
) -> Result<Option<(Ask, Grades)>, git2::Error> {
    let Ok(parent) = repository.find_commit(change.oid)?.parent_id(0) else { return Ok(None) };
    let files: Vec<&str> = hunks.keys().map(String::as_str).collect();
    let pick =
        |salt: &str, n: usize| usize::try_from(hash(&[salt, &change.oid.to_string()]) % n.max(1) as u64).unwrap_or(0);
    let found = match form {
        Form::Prompt | Form::Reference | Form::Agent => {
            let by_message = links.by_message(change);
            if form == Form::Reference && by_message.is_empty() {
                return Ok(None);
            }
            let lines = touched_lines(links, parent, hunks);
            let by_file = links.by_file(change.files.keys().map(String::as_str));
            let grades = best([links.by_authorship(&lines), by_message, by_file]);
            let folder = files.first().and_then(|file| file.rsplit_once('/')).map_or(".", |(folder, _)| folder);
            let ask = match form {
                Form::Agent => agent_task(change, folder, pick("task", 3)),
                Form::Reference => referring(change, links),
                _ => Some(Ask::Prompt(as_prompt(change, pick("words", 100)))),
            };
            ask.filter(|ask| ask.text().chars().count() >= PROMPT_CHARS).map(|ask| (ask, grades))
        }
        Form::Edit => {
            let fits = |hunk: &&Hunk| {
                (1..=EDIT_LINES).contains(&hunk.old.len()) && hunk.old.join("").trim().len() >= EDIT_CHARS
            };
            let places: Vec<(&String, &Hunk)> = hunks
                .iter()
                .flat_map(|(path, hunks)| hunks.iter().filter(fits).map(move |hunk| (path, hunk)))
                .collect();
            places.get(pick("edit", places.len())).map(|(path, hunk)| {
                let lines = links.authorship(parent, path, &[(hunk.old_start, hunk.old.len() as u32)]);
                let grades = best([links.by_authorship(&lines), links.by_file([path.as_str()].into_iter())]);
                let (old, new) = (code(&hunk.old, OLD_CHARS), code(&hunk.new, NEW_CHARS));
                (Ask::Edit((*path).clone(), old, new), grades)
            })
        }
        Form::Grep => grep(repository, links, parent, hunks)?,
        Form::Read => {
            let rare: Vec<&&str> =
                files.iter().filter(|file| (1..=READ_CHANGES).contains(&links.touched(file).len())).collect();
            rare.get(pick("read", rare.len())).and_then(|file| read(links, file))
        }
    };
    Ok(found.filter(|(_, grades)| grades.values().any(|grade| *grade >= 2)))
}

/// Authors of the old lines that a change touched.
fn touched_lines(links: &Links<'_>, parent: Oid, hunks: &BTreeMap<String, Vec<Hunk>>) -> BTreeMap<Oid, usize> {
    let mut lines = BTreeMap::new();
    for (path, hunks) in hunks.iter().take(PROMPT_FILES) {
        let ranges: Vec<(u32, u32)> =
            hunks.iter().map(|hunk| (hunk.old_start, (hunk.old.len() as u32).min(PROMPT_LINES))).collect();
        for (oid, n) in links.authorship(parent, path, &ranges) {
            *lines.entry(oid).or_default() += n;
        }
    }
    lines
}

/// The subject as a request, sometimes with a sentence of the message.
fn as_prompt(change: &Change, dice: usize) -> String {
    let spoken = rule::spoken(&change.subject);
    let (verb, rest) = spoken.split_once(' ').unwrap_or((&spoken, ""));
    let openings: &[&str] = match &*verb.to_lowercase() {
        "fix" | "fixes" | "fixed" | "correct" | "avoid" => {
            &["something is wrong here:", "please repair", "this fails:"]
        }
        "add" | "adds" | "implement" | "introduce" | "allow" | "support" => &["we want", "please add", "could it have"],
        "remove" | "drop" | "delete" => &["we do not need this any more:", "please take out"],
        "document" => &["the documentation should tell about", "please describe"],
        _ => &[],
    };
    let opening = if rest.is_empty() { None } else { openings.get(dice % openings.len().max(1)) };
    let said = match opening {
        Some(opening) => format!("{opening} {rest}"),
        None => spoken.clone(),
    };
    let sentence = if dice < 40 { rule::first_sentence(&change.body) } else { String::new() };
    if sentence.is_empty() { said } else { format!("{said}. {sentence}") }
}

/// A prompt that names an issue or a commit which an earlier change carries.
fn referring(change: &Change, links: &Links<'_>) -> Option<Ask> {
    let said = rule::spoken(&change.subject);
    let own = change.pull_request;
    let known = |number: &&u64| Some(**number) != own && !links.by_number_is_empty(**number);
    let number = change.numbers.iter().find(known);
    let commit = change.named.iter().find_map(|named| match named {
        rule::Named::Commit(digits) => Some(digits),
        rule::Named::Number(_) => None,
    });
    match (number, commit) {
        (Some(number), _) => Some(Ask::Prompt(format!("{said} (see #{number})"))),
        (None, Some(commit)) => Some(Ask::Prompt(format!("{said} (see commit {commit})"))),
        (None, None) => None,
    }
}

fn agent_task(change: &Change, folder: &str, wording: usize) -> Option<Ask> {
    let ask = rule::spoken(&change.subject);
    let detail = rule::first_sentence(&change.body);
    let short = ask.split(' ').take(5).collect::<Vec<_>>().join(" ");
    let task = match wording {
        0 => format!("Look at {folder} and explain how this works now: {ask}. {detail} Name the files and functions."),
        1 => format!("Before we start with {ask}: what was done about it in {folder}, and why? {detail}"),
        _ => format!("Collect the code that has to do with {ask}, beginning with {folder}. {detail}"),
    };
    let task = task.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(Ask::Agent(short, task))
}

/// A search for a name of the old lines that occurs in few places.
fn grep(
    repository: &Repository,
    links: &Links<'_>,
    parent: Oid,
    hunks: &BTreeMap<String, Vec<Hunk>>,
) -> Result<Option<(Ask, Grades)>, git2::Error> {
    let old: Vec<String> = hunks.values().flatten().flat_map(|hunk| hunk.old.iter().cloned()).collect();
    for name in rule::searchable(&old).into_iter().take(GREP_NAMES) {
        let Some(places) = occurrences(repository, parent, &name)? else { continue };
        let mut lines: BTreeMap<Oid, usize> = BTreeMap::new();
        for (path, numbers) in &places {
            let ranges: Vec<(u32, u32)> = numbers.iter().map(|number| (*number, 1)).collect();
            for (oid, n) in links.authorship(parent, path, &ranges) {
                *lines.entry(oid).or_default() += n;
            }
        }
        let grades = links.by_authorship(&lines);
        if grades.values().any(|grade| *grade >= 2) {
            let folder = hunks.keys().next().and_then(|file| file.rsplit_once('/')).map_or(".", |(folder, _)| folder);
            return Ok(Some((Ask::Grep(name, folder.to_owned()), grades)));
        }
    }
    Ok(None)
}

/// Lines of source files in which a name stands alone; none when there are none or too many.
fn occurrences(
    repository: &Repository,
    at: Oid,
    name: &str,
) -> Result<Option<BTreeMap<String, Vec<u32>>>, git2::Error> {
    let tree = repository.find_commit(at)?.tree()?;
    let mut places: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    let mut n = 0;
    let walked = tree.walk(git2::TreeWalkMode::PreOrder, |folder, entry| {
        let path = format!("{folder}{}", entry.name().unwrap_or_default());
        if entry.kind() != Some(git2::ObjectType::Blob) || !rule::is_source(&path) {
            return git2::TreeWalkResult::Ok;
        }
        let Ok(blob) = repository.find_blob(entry.id()) else { return git2::TreeWalkResult::Ok };
        let Ok(text) = std::str::from_utf8(blob.content()) else { return git2::TreeWalkResult::Ok };
        if !text.contains(name) {
            return git2::TreeWalkResult::Ok;
        }
        for (number, line) in (1..).zip(text.lines()) {
            if line.split(|sign: char| !sign.is_alphanumeric() && sign != '_').any(|word| word == name) {
                n += 1;
                places.entry(path.clone()).or_default().push(number);
            }
        }
        if n > GREP_LINES { git2::TreeWalkResult::Abort } else { git2::TreeWalkResult::Ok }
    });
    let too_many = n > GREP_LINES || places.len() > GREP_FILES;
    match walked {
        Err(error) if !too_many => Err(error),
        _ => Ok((!too_many && n > 0).then_some(places)),
    }
}

/// A file to read: whoever made it or wrote most of it answers, its other changes help.
fn read(links: &Links<'_>, file: &str) -> Option<(Ask, Grades)> {
    let touched: Vec<&&Change> = links.touched(file).iter().filter(|change| !change.bulk).collect();
    let churn = |change: &Change| change.files.get(file).copied().unwrap_or_default();
    let most = touched.iter().max_by_key(|change| (churn(change).added, change.oid))?.oid;
    let grade = |change: &Change| if change.oid == most || churn(change).created { 3 } else { 2 };
    Some((Ask::Read(file.to_owned()), touched.iter().map(|change| (change.oid, grade(change))).collect()))
}

fn code(lines: &[String], limit: usize) -> String {
    lines.join("\n").chars().take(limit).collect()
}
