//! Which earlier changes a later one is about: by the authorship of the lines it touched, by what its message names, and
//! by files that few changes ever touched.
//!
//! Every link is a fact of the history. There are few of them, so what is not linked is unjudged and not useless.

use std::collections::{BTreeMap, HashMap};

use git2::{BlameOptions, Oid, Repository};

use super::history::{Change, diff_of};
use super::rule::{self, Named};

/// Ranges of one file whose authorship is looked up.
const MAX_RANGES: usize = 14;
/// Share of the touched lines from which an earlier change is what a later one is about.
const STRONG_SHARE: f64 = 0.25;
/// A file that more changes touched links nothing.
const RARE_FILE: usize = 6;
/// A number that more changes carry links nothing.
const RARE_NUMBER: usize = 12;
/// Most changes that rare files link, the newest first.
const MAX_BY_FILE: usize = 10;

/// Grades by change.
pub(super) type Grades = BTreeMap<Oid, u8>;

/// One place that a change touched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hunk {
    /// First touched line of the file as it was, from 1.
    pub(super) old_start: u32,
    /// Lines that were there.
    pub(super) old: Vec<String>,
    /// Lines that are there now.
    pub(super) new: Vec<String>,
}

/// The earlier changes, ready to be linked to.
pub(super) struct Links<'a> {
    repository: &'a Repository,
    changes: HashMap<Oid, &'a Change>,
    touched: HashMap<&'a str, Vec<&'a Change>>,
    by_pull_request: HashMap<u64, Vec<Oid>>,
    by_number: HashMap<u64, Vec<Oid>>,
}

impl<'a> Links<'a> {
    /// Links to these changes, oldest first.
    pub(super) fn to(repository: &'a Repository, changes: &'a [Change]) -> Links<'a> {
        let mut links = Links {
            repository,
            changes: changes.iter().map(|change| (change.oid, change)).collect(),
            touched: HashMap::new(),
            by_pull_request: HashMap::new(),
            by_number: HashMap::new(),
        };
        for change in changes {
            for path in change.files.keys() {
                links.touched.entry(path).or_default().push(change);
            }
            if let Some(number) = change.pull_request {
                links.by_pull_request.entry(number).or_default().push(change.oid);
            }
            for number in &change.numbers {
                links.by_number.entry(*number).or_default().push(change.oid);
            }
        }
        links
    }

    /// Whether no earlier change carries an issue's or pull request's number.
    pub(super) fn by_number_is_empty(&self, number: u64) -> bool {
        !self.by_number.contains_key(&number)
    }

    /// Earlier changes of a file, oldest first.
    pub(super) fn touched(&self, path: &str) -> &[&'a Change] {
        self.touched.get(path).map_or(&[], Vec::as_slice)
    }

    /// The places in source files that a change touched, by path.
    pub(super) fn hunks(&self, change: &Change) -> Result<BTreeMap<String, Vec<Hunk>>, git2::Error> {
        let commit = self.repository.find_commit(change.oid)?;
        let diff = diff_of(self.repository, &commit)?;
        let mut hunks: BTreeMap<String, Vec<Hunk>> = BTreeMap::new();
        let path_of = |delta: &git2::DiffDelta<'_>| {
            let path = delta.new_file().path().or_else(|| delta.old_file().path());
            path.and_then(|path| path.to_str()).filter(|path| rule::is_source(path)).map(str::to_owned)
        };
        diff.print(git2::DiffFormat::Patch, |delta, hunk, line| {
            let (Some(path), Some(hunk)) = (path_of(&delta), hunk) else { return true };
            if !['+', '-'].contains(&line.origin()) {
                return true;
            }
            let places = hunks.entry(path).or_default();
            if places.last().is_none_or(|place| place.old_start != hunk.old_start()) {
                places.push(Hunk { old_start: hunk.old_start(), old: Vec::new(), new: Vec::new() });
            }
            if let Some(place) = places.last_mut() {
                let text = String::from_utf8_lossy(line.content()).trim_end_matches(['\n', '\r']).to_owned();
                if line.origin() == '-' { place.old.push(text) } else { place.new.push(text) }
            }
            true
        })?;
        Ok(hunks)
    }

    /// Who wrote some lines of a file as it stood at a commit: change → number of lines. Lines of a file that is not
    /// there have no author.
    pub(super) fn authorship(&self, at: Oid, path: &str, ranges: &[(u32, u32)]) -> BTreeMap<Oid, usize> {
        let mut lines = BTreeMap::new();
        for (start, n) in ranges.iter().take(MAX_RANGES).filter(|(start, n)| *start > 0 && *n > 0) {
            let (first, last) = (*start as usize, (*start + *n - 1) as usize);
            let mut options = BlameOptions::new();
            options.newest_commit(at).min_line(first).max_line(last).ignore_whitespace(true);
            let Ok(blame) = self.repository.blame_file(std::path::Path::new(path), Some(&mut options)) else {
                continue;
            };
            for number in first..=last {
                if let Some(hunk) = blame.get_line(number) {
                    *lines.entry(hunk.final_commit_id()).or_default() += 1;
                }
            }
        }
        lines
    }

    /// Grade 3 for whoever wrote a good part of the lines, 2 for the others.
    pub(super) fn by_authorship(&self, lines: &BTreeMap<Oid, usize>) -> Grades {
        let total: usize = lines.values().sum();
        let known = lines.iter().filter(|(oid, _)| self.changes.get(oid).is_some_and(|change| !change.bulk));
        known
            .map(|(oid, n)| {
                let strong = *n as f64 / total as f64 >= STRONG_SHARE && (*n >= 2 || total <= 4);
                (*oid, if strong { 3 } else { 2 })
            })
            .collect()
    }

    /// Grade 3 for what the message names as its cause, 2 for what shares an issue or pull request.
    pub(super) fn by_message(&self, change: &Change) -> Grades {
        let mut grades = Grades::new();
        for number in &change.numbers {
            let sharing = self.by_number.get(number).map_or(&[][..], Vec::as_slice);
            if sharing.len() <= RARE_NUMBER {
                grades.extend(sharing.iter().map(|oid| (*oid, 2)));
            }
        }
        for named in &change.named {
            match named {
                Named::Number(number) => {
                    let named = self.by_pull_request.get(number).map_or(&[][..], Vec::as_slice);
                    grades.extend(named.iter().map(|oid| (*oid, 3)));
                }
                Named::Commit(digits) => {
                    let mut fitting = self.changes.keys().filter(|oid| oid.to_string().starts_with(digits.as_str()));
                    if let (Some(oid), None) = (fitting.next(), fitting.next()) {
                        grades.insert(*oid, 3);
                    }
                }
            }
        }
        grades.remove(&change.oid);
        grades
    }

    /// Grade 1 for the newest changes of files that few changes touched.
    pub(super) fn by_file<'p>(&self, paths: impl Iterator<Item = &'p str>) -> Grades {
        let mut linked: Vec<&Change> = paths
            .filter(|path| rule::is_source(path))
            .map(|path| self.touched(path))
            .filter(|touched| touched.len() <= RARE_FILE)
            .flatten()
            .copied()
            .filter(|change| !change.bulk)
            .collect();
        linked.sort_by_key(|change| (std::cmp::Reverse(change.time_s), change.oid));
        linked.dedup_by_key(|change| change.oid);
        linked.into_iter().take(MAX_BY_FILE).map(|change| (change.oid, 1)).collect()
    }
}

/// The best grade of each change.
pub(super) fn best(parts: impl IntoIterator<Item = Grades>) -> Grades {
    let mut all = Grades::new();
    for (oid, grade) in parts.into_iter().flatten() {
        let known = all.entry(oid).or_default();
        *known = grade.max(*known);
    }
    all
}
