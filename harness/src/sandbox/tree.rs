//! A digest of the project's tree, to see what a hook wrote there.
//!
//! Every file counts with path, size, executable bit and content, `.git` included. A git index counts by its
//! entries only: looking at a repository refreshes the times in it, and that is no write that matters.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use git2::{ObjectType, Oid};

/// What a tree looked like at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeDigest {
    entries: BTreeMap<String, String>,
}

impl TreeDigest {
    /// Digest of several trees, each with a prefix for its paths.
    pub(super) fn of(roots: &[(String, PathBuf)]) -> io::Result<TreeDigest> {
        let mut entries = BTreeMap::new();
        for (prefix, root) in roots.iter().filter(|(_, root)| root.is_dir()) {
            walk(root, prefix, &mut entries)?;
        }
        Ok(TreeDigest { entries })
    }

    /// Paths that are different in `later`, each with what happened, sorted. Paths in `allowed` are left out;
    /// an allowed path that ends in `/` covers everything below it.
    pub fn changes(&self, later: &TreeDigest, allowed: &[String]) -> Vec<String> {
        let mut changes = Vec::new();
        for (path, entry) in &later.entries {
            match self.entries.get(path) {
                None => changes.push((path, "added")),
                Some(old) if old != entry => changes.push((path, "changed")),
                Some(_) => {}
            }
        }
        changes.extend(
            self.entries.keys().filter(|path| !later.entries.contains_key(*path)).map(|path| (path, "removed")),
        );
        changes.retain(|(path, _)| !allowed.iter().any(|allowed| covers(allowed, path)));
        changes.sort_unstable();
        changes.into_iter().map(|(path, what)| format!("{path} {what}")).collect()
    }
}

fn covers(allowed: &str, path: &str) -> bool {
    path == allowed || allowed.strip_suffix('/').is_some_and(|_| path.starts_with(allowed))
}

fn walk(folder: &Path, prefix: &str, entries: &mut BTreeMap<String, String>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            entries.insert(format!("{name}/"), "folder".to_owned());
            walk(&path, &format!("{name}/"), entries)?;
        } else {
            entries.insert(name, describe(&path, kind));
        }
    }
    Ok(())
}

fn describe(path: &Path, kind: std::fs::FileType) -> String {
    if kind.is_symlink() {
        return format!("link {:?}", std::fs::read_link(path).ok());
    }
    if !kind.is_file() {
        return "special".to_owned();
    }
    if path.file_name().is_some_and(|name| name == "index") && path.components().any(|part| part.as_os_str() == ".git")
    {
        return index(path).unwrap_or_else(|| content(path));
    }
    content(path)
}

fn content(path: &Path) -> String {
    let Ok(bytes) = std::fs::read(path) else { return "unreadable".to_owned() };
    let hash = Oid::hash_object(ObjectType::Blob, &bytes).map(|oid| oid.to_string()).unwrap_or_default();
    format!("file {} {hash} {}", bytes.len(), if executable(path) { "x" } else { "-" })
}

fn executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}

fn index(path: &Path) -> Option<String> {
    let index = git2::Index::open(path).ok()?;
    let mut lines = Vec::new();
    for entry in index.iter() {
        lines.push(format!("{:o} {} {}\n", entry.mode, entry.id, String::from_utf8_lossy(&entry.path)));
    }
    let hash = Oid::hash_object(ObjectType::Blob, lines.concat().as_bytes()).ok()?;
    Some(format!("index {hash}"))
}
