//! Makes a tool's path relative to the project: `/`-separated, without `.` and `..`.
//!
//! Rule: a path outside every root is dropped. It belongs to no file of the project, and as an absolute path it
//! would put the user's home and other projects' names into records. Guarantee: no file system access, so a deleted
//! file and a renamed root are treated alike; both the given and the resolved root should be passed.

use std::path::{Path, PathBuf};

/// The path relative to the longest root that holds it, or `None` outside all of them.
///
/// Windows-shaped paths (`C:\…`, `\\server\…`) are compared with `\` read as `/` and the drive letter in any case;
/// elsewhere a backslash is part of a name.
pub fn relative(path: &str, cwd: &Path, roots: &[PathBuf]) -> Option<String> {
    if path.is_empty() || path.len() > MOST_BYTES || path.chars().any(char::is_control) {
        return None;
    }
    let cwd = cwd.to_string_lossy();
    let windows = is_windows(path) || (!path.starts_with('/') && is_windows(&cwd));
    let absolute = if path.starts_with('/') || is_windows(path) { path.to_owned() } else { format!("{cwd}/{path}") };
    let parts = parts(&absolute, windows)?;
    let mut best: Option<&[String]> = None;
    for root in roots {
        let root = root.to_string_lossy();
        let Some(root) = self::parts(&root, windows) else { continue };
        // A root of `/` or of a bare drive would make everything ours.
        if root.len() < 1 + usize::from(windows) {
            continue;
        }
        if let Some(rest) = parts.get(root.len()..)
            && !rest.is_empty()
            && parts.starts_with(&root)
            && best.is_none_or(|best| rest.len() < best.len())
        {
            best = Some(rest);
        }
    }
    best.map(|rest| rest.join("/")).filter(|rest| rest != ".git" && !rest.starts_with(".git/"))
}

/// Bytes of the longest path that is looked at.
const MOST_BYTES: usize = 1_024;

fn is_windows(path: &str) -> bool {
    let bytes = path.as_bytes();
    path.starts_with("\\\\")
        || (bytes.first().is_some_and(u8::is_ascii_alphabetic)
            && bytes.get(1) == Some(&b':')
            && matches!(bytes.get(2), Some(b'\\' | b'/')))
}

/// The names of a path in order; `None` when `..` leaves the top.
fn parts(path: &str, windows: bool) -> Option<Vec<String>> {
    let mut parts: Vec<String> = Vec::new();
    for part in path.split(|letter| letter == '/' || (windows && letter == '\\')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            drive if windows && parts.is_empty() => parts.push(drive.to_ascii_lowercase()),
            name => parts.push(name.to_owned()),
        }
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, expect: Option<&str>) {
        let roots = [PathBuf::from("/home/dev/proj"), PathBuf::from("/mnt/real/proj"), PathBuf::from("C:\\work\\proj")];
        let found = relative(path, Path::new("/home/dev/proj/sub"), &roots);
        assert_eq!(found.as_deref(), expect, "{path}");
    }

    #[test]
    fn paths_inside_a_root_become_relative() {
        check("/home/dev/proj/src/main.rs", Some("src/main.rs"));
        check("/mnt/real/proj/a b/世界.md", Some("a b/世界.md"));
        check("../src/./x.rs", Some("src/x.rs"));
        check("x.rs", Some("sub/x.rs"));
        check("/home/dev/proj//src//y.rs", Some("src/y.rs"));
        check("c:\\work\\proj\\src\\main.rs", Some("src/main.rs"));
        check("C:/work/proj/src/main.rs", Some("src/main.rs"));
        check("/home/dev/proj/odd\\name", Some("odd\\name"));
    }

    #[test]
    fn paths_outside_every_root_are_dropped() {
        for path in
            ["/home/dev/project/x", "/etc/passwd", "../../x", "/home/dev/proj", "", "/home/dev/proj/.git/config"]
        {
            check(path, None);
        }
        check("/home/dev/proj/a\nb", None);
        check("C:\\other\\x", None);
        check("/../../..", None);
        assert_eq!(relative("/x", Path::new("/"), &[PathBuf::from("/")]), None);
    }

    #[test]
    fn longest_root_wins() {
        let roots = [PathBuf::from("/a"), PathBuf::from("/a/.claude/worktrees/x")];
        let found = relative("/a/.claude/worktrees/x/src/m.rs", Path::new("/a"), &roots);
        assert_eq!(found.as_deref(), Some("src/m.rs"));
    }
}
