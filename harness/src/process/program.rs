//! Finds the file that a program name stands for.
//!
//! Guarantee: the search follows `execvp`: a name with a slash is taken as it is, any other is looked up in the
//! folders of a given `PATH`, in order. Nothing is executed.
//!
//! Not here: shell words. A command line goes to `/bin/sh` unread.

use std::ffi::OsStr;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The file to execute for `name`, searched in the colon-separated folders of `path`.
///
/// Fails with `NotFound`, or with `PermissionDenied` when files of that name exist but none is executable.
/// Relative entries are resolved against this process's working folder; an empty entry is that folder.
pub(crate) fn find(name: impl AsRef<OsStr>, path: &OsStr) -> io::Result<PathBuf> {
    let name = name.as_ref();
    if name.as_encoded_bytes().contains(&b'/') {
        return Ok(PathBuf::from(name));
    }
    let mut missing = io::ErrorKind::NotFound;
    if name.is_empty() {
        return Err(missing.into());
    }
    for folder in std::env::split_paths(path) {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder.as_path() };
        let candidate = folder.join(name);
        match candidate.metadata() {
            Ok(about) if about.is_file() && about.permissions().mode() & 0o111 != 0 => return Ok(candidate),
            Ok(about) if about.is_file() => missing = io::ErrorKind::PermissionDenied,
            _ => {}
        }
    }
    Err(missing.into())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
    use super::*;
    use std::fs;

    #[test]
    fn first_executable_file_wins_and_the_reason_of_a_miss_is_told() {
        let root = tempfile::tempdir().unwrap();
        let folder = |name: &str| root.path().join(name);
        for (name, mode) in [("plain", 0o644), ("first", 0o755), ("second", 0o755)] {
            fs::create_dir(folder(name)).unwrap();
            fs::write(folder(name).join("tool"), "").unwrap();
            fs::set_permissions(folder(name).join("tool"), PermissionsExt::from_mode(mode)).unwrap();
        }
        // A folder of the wanted name is no program.
        fs::create_dir_all(folder("trap/tool")).unwrap();
        let search = |names: &[&str]| {
            let path = std::env::join_paths(names.iter().map(|name| folder(name))).unwrap();
            find("tool", &path).map_err(|error| error.kind())
        };
        assert_eq!(search(&["trap", "plain", "first", "second"]), Ok(folder("first/tool")));
        assert_eq!(search(&["trap", "plain"]), Err(io::ErrorKind::PermissionDenied));
        assert_eq!(search(&["trap"]), Err(io::ErrorKind::NotFound));
        assert_eq!(find("./tool", OsStr::new("")).unwrap(), Path::new("./tool"));
    }
}
