//! Is the revision a memory was captured at an ancestor of the present one?
//!
//! Answered by equality, then from a small cache written by captures, then by a bounded walk with git2. A
//! commit that git no longer has is `unknown`, never an error; the caller then compares file digests. The
//! walk stops at its bound or at the deadline, so the answer costs a bounded time on any repository.

use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use git2::{Oid, Repository, Sort};
use serde::{Deserialize, Serialize};

use super::digest::digests_match;
use super::head::{Head, is_object_id};
use crate::deadline::Deadline;
use crate::document::FileDigest;
use crate::project::GitPlace;

/// Commits that one recall may look at. At about 3 µs each this stays below a millisecond.
const RECALL_WALK_LIMIT: usize = 200;

/// Commits that a capture may look at while it fills the cache.
const CAPTURE_WALK_LIMIT: usize = 20_000;

/// Version of the cache file. History: 1, first release.
const CACHE_VERSION: u32 = 1;

/// Revisions that the cache holds at most.
const CACHE_LIMIT: usize = 4_000;

/// How a memory's captured state relates to the present one; the names appear in injected text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RevisionStatus {
    /// Captured at the commit that is checked out.
    ExactMatch,
    /// Captured at an ancestor of the commit that is checked out.
    Ancestor,
    /// Captured at a commit that exists and is not an ancestor.
    Diverged,
    /// Not known to git any more, or not captured in git; the affected files are as they were.
    FilesUnchanged,
    /// Nothing can be said.
    Unknown,
}

impl RevisionStatus {
    /// The name in injected text and in `--json` output.
    pub fn name(self) -> &'static str {
        match self {
            RevisionStatus::ExactMatch => "exact-match",
            RevisionStatus::Ancestor => "captured-revision-is-ancestor",
            RevisionStatus::Diverged => "diverged",
            RevisionStatus::FilesUnchanged => "files-unchanged",
            RevisionStatus::Unknown => "unknown",
        }
    }
}

/// What is known of captured revisions as seen from one head.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AncestryCache {
    head: String,
    ancestors: HashSet<String>,
    others: HashSet<String>,
}

/// The cache on disk.
#[derive(Serialize, Deserialize)]
struct CacheFile {
    v: u32,
    head: String,
    ancestors: Vec<String>,
    others: Vec<String>,
}

impl AncestryCache {
    /// Reads the cache of a project's store; missing, damaged and newer files give an empty one.
    pub fn load(store: &Path) -> AncestryCache {
        let Ok(text) = fs::read_to_string(file_in(store)) else { return AncestryCache::default() };
        match serde_json::from_str::<CacheFile>(&text) {
            Ok(file) if file.v == CACHE_VERSION => AncestryCache {
                head: file.head,
                ancestors: file.ancestors.into_iter().collect(),
                others: file.others.into_iter().collect(),
            },
            _ => AncestryCache::default(),
        }
    }

    fn verdict(&self, captured: &str) -> Option<bool> {
        if captured == self.head || self.ancestors.contains(captured) {
            return Some(true);
        }
        self.others.contains(captured).then_some(false)
    }
}

/// The answerer of one call: opens the repository only when the cheap answers do not do.
pub struct Ancestry<'a> {
    git: Option<&'a GitPlace>,
    head: &'a Head,
    store: &'a Path,
    cache: Option<AncestryCache>,
    repository: Option<Option<Repository>>,
}

impl<'a> Ancestry<'a> {
    /// An answerer for a repository at `head`, with the cache of the project's store.
    pub fn new(git: Option<&'a GitPlace>, head: &'a Head, store: &'a Path) -> Ancestry<'a> {
        Ancestry { git, head, store, cache: None, repository: None }
    }

    /// `Some(true)` when `captured` is an ancestor of the head, `Some(false)` when it exists and is not.
    fn is_ancestor(&mut self, captured: &str, deadline: &Deadline) -> Option<bool> {
        let head = self.head.commit.as_deref()?;
        let cache = self.cache.get_or_insert_with(|| AncestryCache::load(self.store));
        if cache.head == head
            && let Some(known) = cache.verdict(captured)
        {
            return Some(known);
        }
        let git = self.git?;
        let repository = self.repository.get_or_insert_with(|| Repository::open(&git.git_dir).ok()).as_ref()?;
        let captured_id = Oid::from_str(captured).ok()?;
        repository.find_commit(captured_id).ok()?;
        let mut walk = repository.revwalk().ok()?;
        walk.set_sorting(Sort::TIME).ok()?;
        walk.push(Oid::from_str(head).ok()?).ok()?;
        let mut bounded = false;
        for (n, step) in walk.enumerate() {
            let id = step.ok()?;
            // What was an ancestor of an earlier head is one of every head that grew from it.
            if id == captured_id || (id.to_string() == cache.head && cache.verdict(captured) == Some(true)) {
                return Some(true);
            }
            if n >= RECALL_WALK_LIMIT || deadline.expired() {
                bounded = true;
                break;
            }
        }
        if bounded { None } else { Some(false) }
    }
}

/// The status of one memory.
///
/// `captured` is the commit it was captured at, empty outside git. Digests are compared when git has no answer.
pub fn relate(
    ancestry: &mut Ancestry<'_>,
    captured: &str,
    dirty: bool,
    digests: &[FileDigest],
    root: &Path,
    deadline: &Deadline,
) -> RevisionStatus {
    if is_object_id(captured) {
        if ancestry.head.commit.as_deref() == Some(captured) {
            // Captured over uncommitted edits: the commit alone does not say that the files still stand so.
            return match dirty.then(|| digests_match(root, digests)) {
                Some(Some(false)) => RevisionStatus::Ancestor,
                _ => RevisionStatus::ExactMatch,
            };
        }
        match ancestry.is_ancestor(captured, deadline) {
            Some(true) => return RevisionStatus::Ancestor,
            Some(false) => return RevisionStatus::Diverged,
            None => {}
        }
    }
    match digests_match(root, digests) {
        Some(true) => RevisionStatus::FilesUnchanged,
        _ => RevisionStatus::Unknown,
    }
}

/// Fills the cache for `head` with the revisions of a store; called by captures and by `compact`.
///
/// Walks at most 20,000 commits and stops at the deadline; what was not met by then stays unknown.
pub fn remember_ancestors(git: &GitPlace, head: &Head, store: &Path, captured: &[String], deadline: &Deadline) {
    let Some(commit) = head.commit.as_deref() else { return };
    let cache = AncestryCache::load(store);
    let mut open: HashSet<String> = captured
        .iter()
        .filter(|id| is_object_id(id) && (cache.head != commit || cache.verdict(id).is_none()))
        .take(CACHE_LIMIT)
        .cloned()
        .collect();
    if open.is_empty() {
        return;
    }
    let Ok(repository) = Repository::open(&git.git_dir) else { return };
    let Ok(mut walk) = repository.revwalk() else { return };
    let Ok(start) = Oid::from_str(commit) else { return };
    if walk.set_sorting(Sort::TIME).is_err() || walk.push(start).is_err() {
        return;
    }
    let mut file = CacheFile { v: CACHE_VERSION, head: commit.to_owned(), ancestors: Vec::new(), others: Vec::new() };
    let mut complete = true;
    for (n, step) in walk.enumerate() {
        if open.is_empty() {
            break;
        }
        if n >= CAPTURE_WALK_LIMIT || deadline.expired() {
            complete = false;
            break;
        }
        let Ok(id) = step.map(|id| id.to_string()) else { return };
        if open.remove(&id) {
            file.ancestors.push(id);
        } else if id == cache.head {
            let inherited: Vec<String> = open.iter().filter(|id| cache.ancestors.contains(*id)).cloned().collect();
            for id in inherited {
                open.remove(&id);
                file.ancestors.push(id);
            }
        }
    }
    if complete {
        file.others.extend(
            open.into_iter().filter(|id| Oid::from_str(id).is_ok_and(|oid| repository.find_commit(oid).is_ok())),
        );
    }
    if cache.head == commit {
        file.ancestors.extend(cache.ancestors);
        file.others.extend(cache.others);
    }
    file.ancestors.sort();
    file.others.sort();
    // A cache that cannot be written costs time, never an answer.
    if let Ok(text) = serde_json::to_string(&file) {
        let target = file_in(store);
        let fresh = target.with_extension("new");
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(0o600).custom_flags(libc::O_NOFOLLOW);
        }
        if options.open(&fresh).and_then(|mut file| file.write_all(text.as_bytes())).is_ok() {
            let _ = fs::rename(&fresh, &target);
        }
    }
}

fn file_in(store: &Path) -> PathBuf {
    store.join("ancestry.json")
}
