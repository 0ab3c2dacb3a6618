//! A hook's command moved from the user's work tree into the worktree of a revision.
//!
//! Words are found as a shell would: quoted texts whole, the rest up to blanks and operators. A word is a path of the
//! work tree when it is absolute and lies below it, or relative with a slash and names something that is there, begins
//! with `./`, or lies in `target/`, where a build will put it. All else of the command stays letter by letter.

use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use crate::hook::{Hook, quoted};
use crate::process::Program;

/// The two trees.
#[derive(Debug, Clone)]
pub(super) struct Places {
    /// The user's work tree.
    root: PathBuf,
    /// Folder in it from which relative paths count.
    start: PathBuf,
    /// The revision's worktree.
    tree: PathBuf,
}

/// A path that a command names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Moved {
    /// Relative to either tree.
    pub(super) relative: PathBuf,
    /// Where it is, or will be, in the worktree.
    pub(super) inside_tree: PathBuf,
    /// Without it there is no hook: what runs, not what the hook may write.
    pub(super) is_needed: bool,
}

impl Places {
    /// From the user's work tree to a revision's.
    pub(super) fn new(root: &Path, start: &Path, tree: &Path) -> Places {
        let start = start.canonicalize().unwrap_or_else(|_| root.to_owned());
        Places { root: root.to_owned(), start, tree: tree.to_owned() }
    }

    /// The folder of the worktree that corresponds to where the user stands, and its root.
    pub(super) fn build_folders(&self) -> [PathBuf; 2] {
        let below = self.start.strip_prefix(&self.root).unwrap_or(Path::new(""));
        [self.tree.join(below), self.tree.clone()]
    }

    /// A file of the work tree, as given by the user, in the worktree.
    pub(super) fn file(&self, path: &Path) -> Option<Moved> {
        let relative = self.below_root(&self.start.join(path))?;
        Some(Moved { inside_tree: self.tree.join(&relative), relative, is_needed: true })
    }

    /// The same, for a path that is known to be inside.
    pub(super) fn moved(&self, path: &Path) -> PathBuf {
        self.file(path).map_or_else(|| path.to_owned(), |moved| moved.inside_tree)
    }

    fn word(&self, word: &str) -> Option<Moved> {
        let path = Path::new(word);
        let full = self.start.join(path);
        let is_named = match path.is_absolute() {
            true => true,
            false => word.contains('/') && (word.starts_with("./") || word.starts_with("target/") || full.exists()),
        };
        let relative = if is_named { self.below_root(&full)? } else { return None };
        let about = full.metadata();
        let is_needed = about.is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0);
        Some(Moved { inside_tree: self.tree.join(&relative), relative, is_needed })
    }

    /// The path below the root, by its words or by what they lead to.
    fn below_root(&self, full: &Path) -> Option<PathBuf> {
        let plain = plain(full);
        if let Ok(relative) = plain.strip_prefix(&self.root) {
            return Some(relative.to_owned());
        }
        let real = plain.parent()?.canonicalize().ok()?.join(plain.file_name()?);
        real.strip_prefix(&self.root).ok().map(Path::to_owned)
    }
}

/// The hook at the revision, and the paths that its command names there. When none of them can be run
/// today, the first is what must be there after a build.
pub(super) fn rewrite(hook: &Hook, places: &Places) -> (Hook, Vec<Moved>) {
    let mut paths = Vec::new();
    let program = match &hook.program {
        Program::Exec(words) => Program::Exec(words.iter().map(|word| exec_word(word, places, &mut paths)).collect()),
        Program::Shell(line) => Program::Shell(shell_line(line, places, &mut paths)),
    };
    let knows_its_program = paths.iter().any(|path| path.is_needed);
    if let Some(first) = paths.first_mut().filter(|_| !knows_its_program) {
        first.is_needed = true;
    }
    let shown = match &program {
        Program::Shell(line) => line.clone(),
        Program::Exec(words) => Hook::exec(words.clone()).shown,
    };
    (Hook { program, shown }, paths)
}

fn exec_word(word: &str, places: &Places, paths: &mut Vec<Moved>) -> String {
    let (front, path) = match word.split_once('=') {
        Some((name, path)) if places.word(word).is_none() => (format!("{name}="), path),
        _ => (String::new(), word),
    };
    match places.word(path) {
        None => word.to_owned(),
        Some(moved) => {
            let text = format!("{front}{}", moved.inside_tree.display());
            paths.push(moved);
            text
        }
    }
}

fn shell_line(line: &str, places: &Places, paths: &mut Vec<Moved>) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(sign) = rest.chars().next() {
        let (word, is_quoted) = match sign {
            '\'' | '"' => {
                out.push(sign);
                rest = rest.get(1..).unwrap_or_default();
                (rest.split(sign).next().unwrap_or_default(), true)
            }
            sign if is_operator(sign) => {
                out.push(sign);
                rest = rest.get(sign.len_utf8()..).unwrap_or_default();
                continue;
            }
            _ => {
                (rest.split(|sign| is_operator(sign) || sign == '\'' || sign == '"').next().unwrap_or_default(), false)
            }
        };
        match places.word(word) {
            None => out.push_str(word),
            Some(moved) => {
                let path = moved.inside_tree.to_string_lossy();
                out.push_str(&if is_quoted { path.into_owned() } else { quoted(&path) });
                paths.push(moved);
            }
        }
        rest = rest.get(word.len()..).unwrap_or_default();
        if let Some(end) = rest.chars().next().filter(|_| is_quoted) {
            out.push(end);
            rest = rest.get(end.len_utf8()..).unwrap_or_default();
        }
    }
    out
}

fn is_operator(sign: char) -> bool {
    sign.is_whitespace() || ";|&()<>=`".contains(sign)
}

/// The path without `.` and `..`, links not followed.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
    use std::fs;

    use super::*;

    fn places() -> (tempfile::TempDir, Places) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("hooks")).unwrap();
        for file in ["hooks/a.sh", "hooks/with space.sh"] {
            fs::write(root.join(file), "").unwrap();
            fs::set_permissions(root.join(file), PermissionsExt::from_mode(0o755)).unwrap();
        }
        fs::write(root.join("hooks/notes"), "").unwrap();
        (folder, Places::new(&root, &root, Path::new("/cache/tree")))
    }

    fn line(text: &str) -> (String, Vec<Moved>) {
        let (folder, places) = places();
        let root = folder.path().canonicalize().unwrap();
        let (hook, paths) = rewrite(&Hook::shell(&text.replace("ROOT", &root.display().to_string())), &places);
        let Program::Shell(line) = hook.program else { return (String::new(), paths) };
        (line, paths)
    }

    #[test]
    fn paths_of_the_work_tree_move_and_all_else_stays() {
        for (given, moved) in [
            ("ROOT/hooks/a.sh --fast", "/cache/tree/hooks/a.sh --fast"),
            ("hooks/a.sh", "/cache/tree/hooks/a.sh"),
            ("'ROOT/hooks/with space.sh' x", "'/cache/tree/hooks/with space.sh' x"),
            ("LOG=/tmp/x python3 \"ROOT/hooks/a.sh\"; true", "LOG=/tmp/x python3 \"/cache/tree/hooks/a.sh\"; true"),
            ("DIR=ROOT/hooks ./hooks/a.sh|cat", "DIR=/cache/tree/hooks /cache/tree/hooks/a.sh|cat"),
            ("target/release/hook origin/main a/b", "/cache/tree/target/release/hook origin/main a/b"),
            ("hooks/../hooks/a.sh", "/cache/tree/hooks/a.sh"),
        ] {
            assert_eq!(line(given).0, moved, "{given}");
        }
    }

    #[test]
    fn commands_from_elsewhere_name_no_path() {
        for given in ["hookmem hook", "/usr/bin/true", "echo 'ROOT-other/x' it''s", "hooks"] {
            assert_eq!(line(given).1, [], "{given}");
        }
        // An unfinished quote is the shell's to complain about.
        assert_eq!(line("echo 'x").0, "echo 'x");
    }

    #[test]
    fn programs_are_needed_and_other_files_are_not() {
        let (_, paths) = line("target/release/hook --notes hooks/notes --then hooks/a.sh");
        let needed: Vec<bool> = paths.iter().map(|path| path.is_needed).collect();
        // The binary is not built in the user's tree, but another program of the command is there.
        assert_eq!(needed, [false, false, true]);
        let (_, paths) = line("target/release/hook --notes hooks/notes");
        assert_eq!(paths.iter().map(|path| path.is_needed).collect::<Vec<bool>>(), [true, false]);
    }

    #[test]
    fn words_of_a_direct_run_move_one_by_one() {
        let (_folder, places) = places();
        let words = ["hooks/a.sh", "--config=hooks/notes", "hooks/with space.sh", "a=b"].map(str::to_owned);
        let (hook, _) = rewrite(&Hook::exec(words.to_vec()), &places);
        let moved =
            ["/cache/tree/hooks/a.sh", "--config=/cache/tree/hooks/notes", "/cache/tree/hooks/with space.sh", "a=b"];
        assert_eq!(hook.program, Program::Exec(moved.map(str::to_owned).to_vec()));
    }
}
