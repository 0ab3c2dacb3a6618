//! Finds the place of a call: its root folder and, with git, the repository's two administrative folders.
//!
//! Reads `.git`, `commondir` and nothing else. No git library, no process, no write: this runs in every call.

use std::fs;
use std::path::{Path, PathBuf};

use unicode_normalization::UnicodeNormalization;

/// Largest `.git` or `commondir` file that is believed.
const POINTER_LIMIT_BYTES: u64 = 8 * 1024;

/// Where a call stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Canonical root: the work tree's top folder, or the folder itself without git.
    pub root: PathBuf,
    /// The repository, when there is one.
    pub git: Option<GitPlace>,
}

/// The administrative folders of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitPlace {
    /// Folder with this work tree's `HEAD`.
    pub git_dir: PathBuf,
    /// Folder shared by all work trees: refs, objects, config. Equal to `git_dir` in the main work tree.
    pub common_dir: PathBuf,
}

impl Place {
    /// The folder whose identity is the project's: the common git folder, else the root.
    pub fn anchor(&self) -> &Path {
        self.git.as_ref().map_or(self.root.as_path(), |git| git.common_dir.as_path())
    }
}

/// Finds the place for a call made in `cwd`.
///
/// `project_dir` is the host's `CLAUDE_PROJECT_DIR`, `home` the user's home folder. `None` means that
/// memory has no business here: no such directory, the home folder, or the root of the file system.
pub fn locate(cwd: Option<&str>, project_dir: Option<&Path>, home: Option<&Path>) -> Option<Place> {
    let project_dir = project_dir.and_then(canonical_directory);
    let start = cwd.and_then(existing_directory).or_else(|| project_dir.clone())?;
    let home = home.and_then(canonical_directory);
    if is_nowhere(&start, home.as_deref()) {
        return None;
    }
    for folder in start.ancestors() {
        if is_nowhere(folder, home.as_deref()) {
            break;
        }
        if let Some(git) = git_place(folder) {
            return Some(Place { root: folder.to_path_buf(), git: Some(git) });
        }
    }
    let root = project_dir.filter(|dir| start.starts_with(dir) && !is_nowhere(dir, home.as_deref())).unwrap_or(start);
    Some(Place { root, git: None })
}

/// `/`, a bare drive, and the home folder hold everything and are therefore no project.
fn is_nowhere(folder: &Path, home: Option<&Path>) -> bool {
    folder.parent().is_none() || Some(folder) == home
}

fn canonical_directory(path: &Path) -> Option<PathBuf> {
    if !path.is_absolute() {
        return None;
    }
    fs::canonicalize(path).ok().filter(|found| found.is_dir())
}

/// Hosts and file systems disagree on composed characters, so a name that is missing as
/// written is tried in both normal forms.
fn existing_directory(path: &str) -> Option<PathBuf> {
    canonical_directory(Path::new(path)).or_else(|| {
        if path.is_ascii() {
            return None;
        }
        let composed: String = path.nfc().collect();
        let decomposed: String = path.nfd().collect();
        canonical_directory(Path::new(&composed)).or_else(|| canonical_directory(Path::new(&decomposed)))
    })
}

/// The repository whose work tree has `folder` as its top, if any.
fn git_place(folder: &Path) -> Option<GitPlace> {
    let dot_git = folder.join(".git");
    let kind = fs::symlink_metadata(&dot_git).ok()?;
    let git_dir = if kind.is_file() {
        let pointer = read_pointer(&dot_git)?;
        let target = pointer.strip_prefix("gitdir:")?.trim();
        fs::canonicalize(folder.join(target)).ok()?
    } else {
        fs::canonicalize(&dot_git).ok()?
    };
    // An empty `.git` folder is no repository; git itself asks for HEAD.
    if !git_dir.join("HEAD").is_file() && fs::symlink_metadata(git_dir.join("HEAD")).is_err() {
        return None;
    }
    let common_dir = match read_pointer(&git_dir.join("commondir")) {
        Some(common) => fs::canonicalize(git_dir.join(common.trim())).ok()?,
        None => git_dir.clone(),
    };
    Some(GitPlace { git_dir, common_dir })
}

fn read_pointer(path: &Path) -> Option<String> {
    let size = fs::metadata(path).ok().filter(|meta| meta.is_file())?.len();
    if size > POINTER_LIMIT_BYTES {
        return None;
    }
    fs::read_to_string(path).ok()
}
