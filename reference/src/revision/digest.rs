//! Content digests of affected files: evidence of a memory's state that survives rebase, amend and gc.
//!
//! Reads regular files inside the project root only, up to a size limit. Never follows a path out of the root.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path};

use xxhash_rust::xxh3::Xxh3Default;

use super::head::is_object_id;
use crate::document::FileDigest;
use crate::project::GitPlace;

/// A file above this is not digested; it is then no evidence either way.
const FILE_LIMIT_BYTES: u64 = 8 * 1024 * 1024;

/// The digest that stands for a file which does not exist.
const ABSENT: &str = "absent";

/// Digest of the file at `path` (relative to `root`); `None` when it is not a readable regular file in bounds.
pub fn digest_file(root: &Path, path: &str) -> Option<FileDigest> {
    let relative = Path::new(path);
    if !relative.components().all(|part| matches!(part, Component::Normal(_))) {
        return None;
    }
    let full = root.join(relative);
    let digest = match fs::symlink_metadata(&full) {
        Err(_) => ABSENT.to_owned(),
        Ok(meta) if meta.is_file() && meta.len() <= FILE_LIMIT_BYTES => {
            let mut hasher = Xxh3Default::new();
            let mut file = File::open(&full).ok()?.take(FILE_LIMIT_BYTES);
            let mut buffer = [0_u8; 16 * 1024];
            loop {
                match file.read(&mut buffer).ok()? {
                    0 => break,
                    n => hasher.update(buffer.get(..n)?),
                }
            }
            format!("{:032x}", hasher.digest128())
        }
        Ok(_) => return None,
    };
    Some(FileDigest { path: path.to_owned(), digest })
}

/// Whether all of a memory's files stand as they did at capture; `None` without evidence.
///
/// A memory whose files were all absent at capture has no evidence: their absence now proves nothing.
pub fn digests_match(root: &Path, digests: &[FileDigest]) -> Option<bool> {
    if digests.iter().all(|captured| captured.digest == ABSENT) {
        return None;
    }
    let mut all = true;
    for captured in digests {
        all &= digest_file(root, &captured.path)? == *captured;
    }
    Some(all)
}

/// Whether one of `paths` differs from the commit checked out, by git2; `None` when that cannot be told.
pub fn is_dirty(git: &GitPlace, root: &Path, commit: Option<&str>, paths: &[String]) -> Option<bool> {
    let commit = commit.filter(|id| is_object_id(id))?;
    if paths.is_empty() {
        return Some(false);
    }
    let repository = git2::Repository::open(&git.git_dir).ok()?;
    let tree = repository.find_commit(git2::Oid::from_str(commit).ok()?).ok()?.tree().ok()?;
    for path in paths {
        let full = root.join(path);
        let committed = tree.get_path(Path::new(path)).ok().map(|entry| entry.id());
        let current = match fs::symlink_metadata(&full) {
            Ok(meta) if meta.is_file() => Some(git2::Oid::hash_file(git2::ObjectType::Blob, &full).ok()?),
            Ok(_) => continue,
            Err(_) => None,
        };
        if committed != current {
            return Some(true);
        }
    }
    Some(false)
}
