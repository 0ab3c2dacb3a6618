//! Faults on files: deleted, read-only, corrupted, cut, locked.
//!
//! Paths may hold `*` as a part of a name, for stores whose folders are named by a hash. What can be taken back
//! (permissions, locks) is taken back when [`Armed`] is dropped. A fault whose path matches nothing is a finding,
//! not a problem: another hook may keep its store elsewhere.

use std::fs::{self, File, Permissions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Component, Path, PathBuf};

use crate::problem::Problem;
use crate::run_event::{Finding, FindingKind};
use crate::scenario::Step;

/// Most bytes that corruption overwrites.
const CORRUPTED_BYTES: u64 = 64;

/// Faults in force.
#[derive(Debug, Default)]
pub struct Armed {
    permissions: Vec<(PathBuf, Permissions)>,
    locks: Vec<File>,
    missed: Vec<String>,
}

impl Armed {
    /// Puts a step's file faults in force.
    pub(super) fn new(step: &Step, place: impl Fn(&str) -> Result<PathBuf, Problem>) -> Result<Armed, Problem> {
        let mut armed = Armed::default();
        let fault = &step.fault;
        let kinds: [(&str, &[String], Apply); 5] = [
            ("delete", &fault.delete, Armed::delete),
            ("cut", &fault.cut, Armed::cut),
            ("corrupt", &fault.corrupt, Armed::corrupt),
            ("lock", &fault.lock, Armed::lock),
            ("read_only", &fault.read_only, Armed::read_only),
        ];
        for (kind, paths, apply) in kinds {
            for written in paths {
                let found = matching(&place(written)?);
                if found.is_empty() {
                    armed.missed.push(format!("fault.{kind}: nothing is at `{written}`"));
                }
                for path in found {
                    apply(&mut armed, &path).map_err(|error| {
                        let message = format!("step `{}`: fault.{kind} cannot be applied: {error}", step.name);
                        Problem::file(&path, message, "name a path for which the fault makes sense")
                    })?;
                }
            }
        }
        Ok(armed)
    }

    /// One finding for each fault that could not happen because nothing was there.
    pub fn findings(&self) -> Vec<Finding> {
        let message = |missed: &String| format!("{missed}; the step did not test what it says: correct the path");
        self.missed.iter().map(|missed| Finding { kind: FindingKind::StateCheck, message: message(missed) }).collect()
    }

    fn delete(&mut self, path: &Path) -> io::Result<()> {
        if path.is_dir() && !path.is_symlink() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
    }

    fn cut(&mut self, path: &Path) -> io::Result<()> {
        let file = File::options().write(true).open(path)?;
        let length = file.metadata()?.len();
        file.set_len(length / 2)
    }

    fn corrupt(&mut self, path: &Path) -> io::Result<()> {
        let mut file = File::options().read(true).write(true).open(path)?;
        let length = file.metadata()?.len();
        let size = length.min(CORRUPTED_BYTES);
        let from = (length - size) / 2;
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        (&file).take(size).read_to_end(&mut bytes)?;
        bytes.iter_mut().for_each(|byte| *byte = !*byte);
        file.seek(SeekFrom::Start(from))?;
        file.write_all(&bytes)
    }

    fn lock(&mut self, path: &Path) -> io::Result<()> {
        let file = File::options().read(true).write(true).open(path)?;
        file.try_lock().map_err(io::Error::from)?;
        self.locks.push(file);
        Ok(())
    }

    fn read_only(&mut self, path: &Path) -> io::Result<()> {
        if path.is_symlink() {
            return Ok(());
        }
        if path.is_dir() {
            for entry in fs::read_dir(path)? {
                self.read_only(&entry?.path())?;
            }
        }
        let old = path.metadata()?.permissions();
        let mut new = old.clone();
        new.set_readonly(true);
        fs::set_permissions(path, new)?;
        self.permissions.push((path.to_owned(), old));
        Ok(())
    }
}

type Apply = fn(&mut Armed, &Path) -> io::Result<()>;

impl Drop for Armed {
    fn drop(&mut self) {
        // Folders come after their content in the list, and must be writable before it.
        for (path, old) in self.permissions.drain(..).rev() {
            // The hook may have removed the path; then there is nothing to restore.
            drop(fs::set_permissions(path, old));
        }
    }
}

/// Existing paths that fit a path with `*`; sorted.
fn matching(pattern: &Path) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::new()];
    for part in pattern.components() {
        let name = part.as_os_str().to_string_lossy();
        found = match part {
            Component::Normal(_) if name.contains('*') => {
                found.iter().flat_map(|folder| children(folder, &name)).collect()
            }
            _ => found.into_iter().map(|folder| folder.join(part)).collect(),
        };
    }
    found.retain(|path| path.symlink_metadata().is_ok());
    found.sort();
    found
}

fn children(folder: &Path, pattern: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| fits(&entry.file_name().to_string_lossy(), pattern)).map(|entry| entry.path()).collect()
}

/// True when `name` fits `pattern`, in which `*` stands for any text.
fn fits(name: &str, pattern: &str) -> bool {
    let Some((head, tail)) = pattern.split_once('*') else { return name == pattern };
    let Some(rest) = name.strip_prefix(head) else { return false };
    let mut ends = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
    ends.any(|at| rest.get(at..).is_some_and(|rest| fits(rest, tail)))
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn star_stands_for_any_part_of_a_name() {
        for (name, pattern, expected) in [
            ("proj-0a1b", "proj-*", true),
            ("proj", "proj-*", false),
            ("a.b.jsonl", "*.jsonl", true),
            ("a.b.json", "*.jsonl", false),
            ("", "*", true),
            ("abcabc", "a*b*c", true),
        ] {
            assert_eq!(fits(name, pattern), expected, "{name} against {pattern}");
        }
    }
}
