//! Reads the current commit and branch from git's files.
//!
//! Handles work trees, packed refs, symbolic chains, detached and unborn heads. What it cannot read it
//! reports as unknown: there is no error, because a call must go on without git.

use std::fs;
use std::path::Path;

use crate::project::GitPlace;

/// Longest chain of symbolic refs that is followed, as git does.
const CHAIN_LIMIT: usize = 5;

/// A `packed-refs` file above this is not searched; the revision is then unknown.
const PACKED_REFS_LIMIT_BYTES: u64 = 16 * 1024 * 1024;

/// Where a repository stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Head {
    /// The commit's full hexadecimal id; `None` before the first commit or when unreadable.
    pub commit: Option<String>,
    /// The branch's short name; `None` when detached.
    pub branch: Option<String>,
}

/// Reads where the repository stands.
pub fn read_head(git: &GitPlace) -> Head {
    let Some(mut value) = read_ref(&git.git_dir.join("HEAD")) else { return Head::default() };
    let mut branch = None;
    for _ in 0..CHAIN_LIMIT {
        let Some(name) = value.strip_prefix("ref:").map(str::trim) else {
            return Head { commit: is_object_id(&value).then_some(value), branch };
        };
        // A hostile ref name must not lead out of the git folder.
        if name.split('/').any(|part| part == "..") || !name.starts_with("refs/") {
            return Head { commit: None, branch };
        }
        branch = branch.or_else(|| name.strip_prefix("refs/heads/").map(str::to_owned));
        let loose = read_ref(&git.git_dir.join(name)).or_else(|| read_ref(&git.common_dir.join(name)));
        match loose.or_else(|| packed_ref(&git.common_dir, name)) {
            Some(next) => value = next,
            None => return Head { commit: None, branch },
        }
    }
    Head { commit: None, branch }
}

fn read_ref(path: &Path) -> Option<String> {
    let meta = fs::metadata(path).ok()?;
    if !meta.is_file() || meta.len() > 4096 {
        return None;
    }
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

fn packed_ref(common_dir: &Path, name: &str) -> Option<String> {
    let path = common_dir.join("packed-refs");
    if fs::metadata(&path).ok()?.len() > PACKED_REFS_LIMIT_BYTES {
        return None;
    }
    let text = fs::read_to_string(path).ok()?;
    text.lines().find_map(|line| {
        let (id, packed) = line.split_once(' ')?;
        (packed == name && is_object_id(id)).then(|| id.to_owned())
    })
}

/// 40 (SHA-1) or 64 (SHA-256) hexadecimal digits.
pub(crate) fn is_object_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit())
}
