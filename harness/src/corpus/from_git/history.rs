//! The history of a repository as changes: who is forgotten, what belongs together is kept.
//!
//! Reads only; the work tree, the index and the configuration are not looked at. Merges are not changes, but they tell
//! which changes came together. Authors are hashes here already.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use git2::{Commit, Diff, DiffOptions, Oid, Patch, Repository, Sort};

use super::people::People;
use super::rule;
use crate::corpus::{hash, short_id};

/// Files of a change beyond this number are counted and not looked at.
const MAX_FILES: usize = 400;
/// A change of more files, or more lines, says nothing about any one of them.
const BULK_FILES: usize = 30;
const BULK_LINES: u64 = 3_000;
/// Commits of one merge that make a session; a longer branch is cut by author and time as the trunk is.
const MAX_MERGED: usize = 40;
/// Longest pause within a session, and the longest when the changes name the same issue.
const PAUSE_S: i64 = 2 * 3_600;
const PAUSE_SHARED_S: i64 = 24 * 3_600;
/// Most changes of a session that no merge holds together.
const MAX_RUN: usize = 10;
/// Most lines that a change keeps as written evidence, and the longest of them.
const MAX_WRITTEN: usize = 400;
const MAX_LINE_CHARS: usize = 400;
/// Letters and digits that a written line needs.
const MIN_LINE_SIGNS: usize = 8;

/// Lines of one file that a change added and removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Churn {
    /// Lines added.
    pub(super) added: u64,
    /// Lines removed.
    pub(super) removed: u64,
    /// The change made the file.
    pub(super) created: bool,
}

/// One commit that is no merge.
#[derive(Debug, Clone)]
pub(super) struct Change {
    /// Its id.
    pub(super) oid: Oid,
    /// Committed, in seconds since 1970.
    pub(super) time_s: i64,
    /// First line of the message, people removed.
    pub(super) subject: String,
    /// The rest of the message, people removed.
    pub(super) body: String,
    /// Files by path.
    pub(super) files: BTreeMap<String, Churn>,
    /// Number of files, those that were not looked at among them.
    pub(super) n_files: usize,
    /// Issue and pull-request numbers of the message.
    pub(super) numbers: BTreeSet<u64>,
    /// Its own pull request.
    pub(super) pull_request: Option<u64>,
    /// Numbers and commit ids that the message refers to in so many words: reverts, follow-ups, causes.
    pub(super) named: Vec<rule::Named>,
    /// Branch that it was merged from, `main` when unknown.
    pub(super) branch: String,
    /// Too large to say anything about any one file.
    pub(super) bulk: bool,
    /// Its session.
    pub(super) session: String,
    author: u64,
    merge: Option<Oid>,
}

/// All changes, oldest first.
pub(super) fn changes(repository: &Repository, limit: usize) -> Result<Vec<Change>, git2::Error> {
    let head = repository.head()?.peel_to_commit()?;
    let merged = merged_by(repository, &head)?;
    let mut walk = repository.revwalk()?;
    walk.push(head.id())?;
    walk.set_sorting(Sort::TIME)?;
    // A commit that is missing would end the history in silence. Where a shallow clone ends, git knows.
    let mut commits: Vec<Commit<'_>> = Vec::new();
    for oid in walk {
        if commits.len() >= limit {
            break;
        }
        let commit = repository.find_commit(oid?)?;
        let has_time = jiff::Timestamp::from_second(commit.time().seconds()).is_ok();
        if commit.parent_count() < 2 && has_time {
            commits.push(commit);
        }
    }
    let people = People::of(commits.iter());
    let mut changes = Vec::new();
    for commit in &commits {
        let (name, mail) = (commit.author().name().unwrap_or_default().to_owned(), mail_of(commit));
        if rule::is_bot(&name) || rule::is_bot(&mail) {
            continue;
        }
        let merge = merged.get(&commit.id()).copied();
        let mut change = change(repository, commit, &people, merge)?;
        change.author = hash(&["author", &name, &mail]);
        if !change.files.is_empty() {
            changes.push(change);
        }
    }
    changes.sort_by_key(|change| (change.time_s, change.oid));
    cut_sessions(&mut changes);
    Ok(changes)
}

fn mail_of(commit: &Commit<'_>) -> String {
    commit.author().email().unwrap_or_default().to_owned()
}

/// For every commit that a merge of the trunk brought in: that merge.
fn merged_by(repository: &Repository, head: &Commit<'_>) -> Result<HashMap<Oid, Oid>, git2::Error> {
    let mut trunk = vec![head.id()];
    let mut commit = head.clone();
    while let Ok(parent) = commit.parent(0) {
        trunk.push(parent.id());
        commit = parent;
    }
    let mut seen: std::collections::HashSet<Oid> = std::collections::HashSet::new();
    let mut merged = HashMap::new();
    for merge in trunk.into_iter().rev() {
        seen.insert(merge);
        let mut waiting: Vec<Oid> = repository.find_commit(merge)?.parent_ids().skip(1).collect();
        while let Some(oid) = waiting.pop() {
            if seen.insert(oid) {
                merged.insert(oid, merge);
                // A shallow clone ends where its parents are missing.
                waiting.extend(
                    repository.find_commit(oid).into_iter().flat_map(|commit| commit.parent_ids().collect::<Vec<_>>()),
                );
            }
        }
    }
    Ok(merged)
}

fn change(
    repository: &Repository,
    commit: &Commit<'_>,
    people: &People,
    merge: Option<Oid>,
) -> Result<Change, git2::Error> {
    let message = String::from_utf8_lossy(commit.message_bytes()).into_owned();
    let (subject, body) = message.trim_start().split_once('\n').unwrap_or((message.trim_start(), ""));
    let diff = diff_of(repository, commit)?;
    let (files, n_files) = files_of(&diff)?;
    let merge_subject = merge
        .and_then(|oid| repository.find_commit(oid).ok())
        .and_then(|merge| merge.summary().ok().flatten().map(str::to_owned))
        .unwrap_or_default();
    let (merged_number, branch) = rule::merge_of(&merge_subject);
    let pull_request = merged_number.or_else(|| rule::trailing_number(subject));
    let mut numbers = rule::numbers(&message);
    numbers.extend(pull_request);
    let subject = people.remove(subject.trim());
    let churn: u64 = files.values().map(|churn| churn.added + churn.removed).sum();
    Ok(Change {
        oid: commit.id(),
        time_s: commit.time().seconds(),
        bulk: n_files > BULK_FILES || churn > BULK_LINES || rule::is_mechanical(&subject),
        body: people.remove(body.trim()),
        subject,
        files,
        n_files,
        numbers,
        pull_request,
        named: rule::named(&message),
        branch: branch.unwrap_or_else(|| "main".to_owned()),
        session: String::new(),
        author: 0,
        merge,
    })
}

/// The difference that a commit makes to its parent, without context and without following renames.
pub(super) fn diff_of<'r>(repository: &'r Repository, commit: &Commit<'_>) -> Result<Diff<'r>, git2::Error> {
    let mut options = DiffOptions::new();
    options.context_lines(0).skip_binary_check(false);
    let parent = commit.parent(0).ok().map(|parent| parent.tree()).transpose()?;
    repository.diff_tree_to_tree(parent.as_ref(), Some(&commit.tree()?), Some(&mut options))
}

fn files_of(diff: &Diff<'_>) -> Result<(BTreeMap<String, Churn>, usize), git2::Error> {
    let mut files = BTreeMap::new();
    let mut n_files = 0;
    for at in 0..diff.deltas().len() {
        let Some(delta) = diff.get_delta(at) else { continue };
        let path = delta.new_file().path().or_else(|| delta.old_file().path());
        let Some(path) = path.and_then(|path| path.to_str()).filter(|path| !rule::is_generated(path)) else { continue };
        n_files += 1;
        if files.len() >= MAX_FILES {
            continue;
        }
        // A submodule or an unreadable blob has no patch; the file was touched all the same.
        let (_, added, removed) = match Patch::from_diff(diff, at)? {
            Some(patch) => patch.line_stats()?,
            None => (0, 0, 0),
        };
        let created = delta.status() == git2::Delta::Added;
        files.insert(path.to_owned(), Churn { added: added as u64, removed: removed as u64, created });
    }
    Ok((files, n_files))
}

/// Gives every change its session: the changes of one merge, or one author's run with short pauses.
fn cut_sessions(changes: &mut [Change]) {
    let mut merged: HashMap<Oid, usize> = HashMap::new();
    for merge in changes.iter().filter_map(|change| change.merge) {
        *merged.entry(merge).or_default() += 1;
    }
    struct Run {
        last_s: i64,
        n: usize,
        numbers: BTreeSet<u64>,
        session: String,
    }
    let mut runs: HashMap<u64, Run> = HashMap::new();
    for change in changes {
        if let Some(merge) = change.merge.filter(|merge| merged.get(merge).is_some_and(|n| *n <= MAX_MERGED)) {
            change.session = short_id('s', &["merge", &merge.to_string()]);
            continue;
        }
        let goes_on = runs.get_mut(&change.author).filter(|run| {
            let pause = change.time_s - run.last_s;
            let shared = pause <= PAUSE_SHARED_S && !run.numbers.is_disjoint(&change.numbers);
            run.n < MAX_RUN && (pause <= PAUSE_S || shared)
        });
        if let Some(run) = goes_on {
            run.last_s = change.time_s;
            run.n += 1;
            run.numbers.extend(&change.numbers);
            change.session.clone_from(&run.session);
        } else {
            change.session = short_id('s', &["run", &change.oid.to_string()]);
            let run =
                Run { last_s: change.time_s, n: 1, numbers: change.numbers.clone(), session: change.session.clone() };
            runs.insert(change.author, run);
        }
    }
}

/// The different lines that a change added, white space folded: what written evidence is made from.
pub(super) fn written_lines(repository: &Repository, change: &Change) -> Result<Vec<String>, git2::Error> {
    let commit = repository.find_commit(change.oid)?;
    let diff = diff_of(repository, &commit)?;
    let mut lines: Vec<String> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    diff.foreach(
        &mut |delta, _| {
            delta.new_file().path().and_then(|path| path.to_str()).is_none_or(|path| !rule::is_generated(path))
        },
        None,
        None,
        Some(&mut |_, _, line| {
            if line.origin() == '+' && lines.len() < MAX_WRITTEN {
                let text = String::from_utf8_lossy(line.content());
                let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
                let signs = folded.chars().filter(|sign| sign.is_alphanumeric()).count();
                let fits = signs >= MIN_LINE_SIGNS && folded.chars().count() <= MAX_LINE_CHARS;
                if fits && seen.insert(folded.clone()) {
                    lines.push(folded);
                }
            }
            true
        }),
    )
    // A callback that says no ends the walk with an error of its own; the lines until then are whole.
    .or_else(|error| if error.code() == git2::ErrorCode::User { Ok(()) } else { Err(error) })?;
    Ok(lines)
}
