//! Revision status with real repositories: the states that a memory's commit can be in.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::fs;
use std::path::Path;
use std::time::Duration;

use git2::{Oid, Repository, Signature};
use hookmem::deadline::Deadline;
use hookmem::document::FileDigest;
use hookmem::project::{GitPlace, locate};
use hookmem::revision::{
    Ancestry, RevisionStatus, digest_file, digests_match, is_dirty, read_head, relate, remember_ancestors,
};

struct Repo {
    dir: tempfile::TempDir,
    repository: Repository,
    clock: i64,
}

impl Repo {
    fn new() -> Repo {
        let dir = tempfile::tempdir().unwrap();
        let repository = Repository::init(dir.path()).unwrap();
        Repo { dir, repository, clock: 1_700_000_000 }
    }

    fn root(&self) -> std::path::PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.root().join(name), text).unwrap();
    }

    fn commit(&mut self, name: &str, text: &str) -> String {
        self.write(name, text);
        self.clock += 60;
        let who = Signature::new("A", "a@example.com", &git2::Time::new(self.clock, 0)).unwrap();
        let mut index = self.repository.index().unwrap();
        index.add_path(Path::new(name)).unwrap();
        index.write().unwrap();
        let tree = self.repository.find_tree(index.write_tree().unwrap()).unwrap();
        let parent = self.repository.head().ok().map(|head| head.peel_to_commit().unwrap());
        let parents: Vec<&git2::Commit<'_>> = parent.iter().collect();
        self.repository.commit(Some("HEAD"), &who, &who, text, &tree, &parents).unwrap().to_string()
    }

    fn reset_to(&self, id: &str) {
        let object = self.repository.find_object(Oid::from_str(id).unwrap(), None).unwrap();
        self.repository.reset(&object, git2::ResetType::Hard, None).unwrap();
    }

    fn git(&self) -> GitPlace {
        locate(self.root().to_str(), None, None).unwrap().git.unwrap()
    }

    fn status(&self, captured: &str, dirty: bool, digests: &[FileDigest]) -> RevisionStatus {
        let (git, store) = (self.git(), self.root().join("store"));
        let head = read_head(&git);
        let mut ancestry = Ancestry::new(Some(&git), &head, &store);
        relate(&mut ancestry, captured, dirty, digests, &self.root(), &far())
    }
}

fn far() -> Deadline {
    Deadline::after(Duration::from_secs(600))
}

#[test]
fn head_is_read_from_loose_packed_detached_and_unborn() {
    let mut repo = Repo::new();
    assert_eq!(read_head(&repo.git()).commit, None);
    assert!(read_head(&repo.git()).branch.is_some());
    let id = repo.commit("a", "1");
    let head = read_head(&repo.git());
    assert_eq!(head.commit.as_deref(), Some(id.as_str()));
    let branch = head.branch.unwrap();
    let loose = repo.root().join(".git/refs/heads").join(&branch);
    fs::remove_file(loose).unwrap();
    fs::write(repo.root().join(".git/packed-refs"), format!("# pack-refs with: peeled\n{id} refs/heads/{branch}\n"))
        .unwrap();
    assert_eq!(read_head(&repo.git()).commit.as_deref(), Some(id.as_str()));
    repo.repository.set_head_detached(Oid::from_str(&id).unwrap()).unwrap();
    let detached = read_head(&repo.git());
    assert_eq!((detached.commit.as_deref(), detached.branch), (Some(id.as_str()), None));
}

#[test]
fn hostile_head_gives_unknown() {
    let repo = Repo::new();
    for text in ["ref: refs/heads/../../../etc/passwd", "ref: ../../secret", "\0\0\0", "", "ref: refs/heads/loop"] {
        fs::write(repo.root().join(".git/HEAD"), text).unwrap();
        fs::write(repo.root().join(".git/refs/heads/loop"), "ref: refs/heads/loop").unwrap();
        assert_eq!(read_head(&repo.git()).commit, None, "{text}");
    }
}

#[test]
fn status_follows_history() {
    let mut repo = Repo::new();
    let first = repo.commit("a", "1");
    let second = repo.commit("a", "2");
    assert_eq!(repo.status(&second, false, &[]), RevisionStatus::ExactMatch);
    assert_eq!(repo.status(&first, false, &[]), RevisionStatus::Ancestor);
    repo.reset_to(&first);
    assert_eq!(repo.status(&second, false, &[]), RevisionStatus::Diverged);
    assert_eq!(repo.status("", false, &[]), RevisionStatus::Unknown);
    assert_eq!(repo.status("not-a-revision", false, &[]), RevisionStatus::Unknown);
}

#[test]
fn field_report_88_amended_commit_is_unknown_and_files_are_second_evidence() {
    let mut repo = Repo::new();
    repo.commit("a", "1");
    let digests = [digest_file(&repo.root(), "a").unwrap()];
    let lost = "1234567890123456789012345678901234567890";
    assert_eq!(repo.status(lost, false, &[]), RevisionStatus::Unknown);
    assert_eq!(repo.status(lost, false, &digests), RevisionStatus::FilesUnchanged);
    repo.write("a", "changed");
    assert_eq!(repo.status(lost, false, &digests), RevisionStatus::Unknown);
}

#[test]
fn field_report_89_dirty_capture_matches_when_the_same_content_is_committed_later() {
    let mut repo = Repo::new();
    let base = repo.commit("a", "1");
    repo.write("a", "edited");
    repo.write("new", "untracked");
    let (git, root) = (repo.git(), repo.root());
    assert_eq!(is_dirty(&git, &root, Some(&base), &["a".to_owned()]), Some(true));
    assert_eq!(is_dirty(&git, &root, Some(&base), &["new".to_owned()]), Some(true));
    let digests = [digest_file(&root, "a").unwrap(), digest_file(&root, "new").unwrap()];
    assert_eq!(repo.status(&base, true, &digests), RevisionStatus::ExactMatch);
    repo.commit("new", "untracked");
    repo.commit("a", "edited");
    assert_eq!(digests_match(&root, &digests), Some(true));
    assert_eq!(is_dirty(&git, &root, read_head(&git).commit.as_deref(), &["a".to_owned()]), Some(false));
    assert_eq!(repo.status(&base, true, &digests), RevisionStatus::Ancestor);
    // Thrown away instead of committed: the commit still stands, the files do not.
    repo.reset_to(&base);
    assert_eq!(repo.status(&base, true, &digests), RevisionStatus::Ancestor);
}

#[test]
fn digest_never_leaves_the_root() {
    let repo = Repo::new();
    for path in ["../outside", "/etc/hostname", "a/../../b", ""] {
        let found = digest_file(&repo.root(), path);
        assert!(found.is_none() || path.is_empty(), "{path}");
    }
    std::os::unix::fs::symlink("/etc/hostname", repo.root().join("link")).unwrap();
    assert_eq!(digest_file(&repo.root(), "link"), None);
    assert_eq!(digest_file(&repo.root(), "absent").unwrap().digest, "absent");
}

#[test]
fn cache_answers_beyond_the_recall_walk() {
    let mut repo = Repo::new();
    let old = repo.commit("a", "0");
    for n in 1..260 {
        repo.commit("a", &n.to_string());
    }
    let store = repo.root().join("store");
    fs::create_dir(&store).unwrap();
    assert_eq!(repo.status(&old, false, &[]), RevisionStatus::Unknown);
    let git = repo.git();
    remember_ancestors(&git, &read_head(&git), &store, std::slice::from_ref(&old), &far());
    assert_eq!(repo.status(&old, false, &[]), RevisionStatus::Ancestor);
    // The head moved on: the walk meets the head that the cache speaks of.
    repo.commit("a", "next");
    assert_eq!(repo.status(&old, false, &[]), RevisionStatus::Ancestor);
    fs::write(store.join("ancestry.json"), "{torn").unwrap();
    assert_eq!(repo.status(&old, false, &[]), RevisionStatus::Unknown);
}

#[test]
fn expired_deadline_gives_unknown_not_a_wait() {
    let mut repo = Repo::new();
    let old = repo.commit("a", "0");
    for n in 1..5 {
        repo.commit("a", &n.to_string());
    }
    let (git, store) = (repo.git(), repo.root().join("store"));
    let head = read_head(&git);
    let mut ancestry = Ancestry::new(Some(&git), &head, &store);
    let status = relate(&mut ancestry, &old, false, &[], &repo.root(), &Deadline::after(Duration::ZERO));
    assert_eq!(status, RevisionStatus::Unknown);
}
