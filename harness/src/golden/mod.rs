//! Goldens: delivered text that a person has accepted, compared byte by byte.
//!
//! `golden/<step>.txt` holds the scrubbed text of a step. A step that differs leaves its text beside the golden
//! as `<step>.txt.new`; accepting is a rename, so a golden is either the old one or the new one. With
//! [`Writing::Never`] nothing is written at all. Which text is right is never decided here.

mod difference;
mod unreferenced;

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

pub use difference::{diff, harmless, is_invisible, printable, whole_diff};
pub use unreferenced::{Unreferenced, unreferenced, unreferenced_findings};

use crate::problem::Problem;
use crate::run_event::{Finding, FindingKind};
use crate::scenario::Scenario;

/// May pending results be written?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writing {
    /// Pending results are left beside the goldens.
    Pending,
    /// Nothing is written.
    Never,
    /// The call failed, so its text is no candidate for a golden: an empty text accepted by mistake would make the next
    /// failure look right.
    Failed,
}

impl Writing {
    /// `ci` is the value of the environment variable `CI`: any text but the empty one and `false` forbids writing.
    pub fn allowed(no_write: bool, ci: Option<&str>) -> Writing {
        let in_ci = ci.is_some_and(|ci| !ci.is_empty() && ci != "false");
        if no_write || in_ci { Writing::Never } else { Writing::Pending }
    }
}

/// Compares scrubbed text with a step's golden; a difference is a finding and, if allowed, a pending result.
///
/// # Errors
/// A golden that cannot be read, or a pending result that cannot be written.
pub fn check(scenario: &Scenario, step: &str, text: &str, writing: Writing) -> Result<Option<Finding>, Problem> {
    let golden = golden_path(scenario, step);
    let old = match fs::read_to_string(&golden) {
        Ok(old) => Some(old),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(unreadable(&golden, &error)),
    };
    if old.as_deref() == Some(text) {
        if writing == Writing::Pending {
            remove_if_there(&pending_path(&golden)).map_err(|error| unwritable(&golden, &error))?;
        }
        return Ok(None);
    }
    if writing == Writing::Pending {
        replace(&pending_path(&golden), text).map_err(|error| unwritable(&golden, &error))?;
    }
    Ok(Some(finding(scenario, step, old.as_deref(), text, writing)))
}

fn finding(scenario: &Scenario, step: &str, old: Option<&str>, text: &str, writing: Writing) -> Finding {
    let remedy = match writing {
        Writing::Pending => {
            format!("look at it with `hookbench review {0}`, keep it with `hookbench accept {0}`", scenario.name)
        }
        Writing::Never => "run this scenario where goldens may be written, then review and accept".to_owned(),
        Writing::Failed => "mend the call first: what a failed call said is not kept".to_owned(),
    };
    match old {
        None => Finding {
            kind: FindingKind::GoldenMissing,
            message: format!("there is no golden/{step}.txt yet; {remedy}; delivered:\n{}", diff("", text)),
        },
        Some(old) => Finding {
            kind: FindingKind::GoldenChanged,
            message: format!("delivered text differs from golden/{step}.txt; {remedy}:\n{}", diff(old, text)),
        },
    }
}

/// A result that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// Name of the step.
    pub step: String,
    /// The golden, which need not exist.
    pub golden: PathBuf,
    /// The new text.
    pub new: PathBuf,
}

impl Pending {
    /// The golden, empty when there is none, and the text that would take its place.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn texts(&self) -> Result<(String, String), Problem> {
        let new = fs::read_to_string(&self.new).map_err(|error| unreadable(&self.new, &error))?;
        match fs::read_to_string(&self.golden) {
            Ok(old) => Ok((old, new)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok((String::new(), new)),
            Err(error) => Err(unreadable(&self.golden, &error)),
        }
    }

    /// The difference that acceptance would make, bounded.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn diff(&self) -> Result<String, Problem> {
        self.texts().map(|(old, new)| diff(&old, &new))
    }

    /// Makes the pending text the golden.
    ///
    /// # Errors
    /// Writing is not allowed, or the rename failed.
    pub fn accept(&self, writing: Writing) -> Result<(), Problem> {
        self.may_write(writing)?;
        fs::rename(&self.new, &self.golden).map_err(|error| unwritable(&self.golden, &error))
    }

    /// Throws the pending text away.
    ///
    /// # Errors
    /// Writing is not allowed, or the file cannot be removed.
    pub fn reject(&self, writing: Writing) -> Result<(), Problem> {
        self.may_write(writing)?;
        fs::remove_file(&self.new).map_err(|error| unwritable(&self.new, &error))
    }

    fn may_write(&self, writing: Writing) -> Result<(), Problem> {
        may_write(&self.golden, writing)
    }
}

/// All pending results of a scenario, in the order of its steps.
pub fn pending(scenario: &Scenario) -> Vec<Pending> {
    let waiting = scenario.steps.iter().map(|step| {
        let golden = golden_path(scenario, &step.name);
        Pending { step: step.name.clone(), new: pending_path(&golden), golden }
    });
    waiting.filter(|pending| pending.new.is_file()).collect()
}

fn may_write(golden: &Path, writing: Writing) -> Result<(), Problem> {
    if writing == Writing::Pending {
        return Ok(());
    }
    let message = "goldens may not be written here (CI is set, or --no-write was given)";
    Err(Problem::file(golden, message, "accept on a developer's machine and commit the golden"))
}

fn golden_path(scenario: &Scenario, step: &str) -> PathBuf {
    scenario.golden_dir().join(format!("{step}.txt"))
}

fn pending_path(golden: &Path) -> PathBuf {
    golden.with_extension("txt.new")
}

/// Writes the whole text or nothing.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(dir)?;
    let mut file = tempfile::Builder::new().prefix(".pending-").suffix(".new").tempfile_in(dir)?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Problem {
    Problem::file(path, format!("cannot read the golden: {error}"), "make it a readable UTF-8 file, or delete it")
}

fn unwritable(path: &Path, error: &io::Error) -> Problem {
    let remedy = "make the golden folder writable, or run with --no-write";
    Problem::file(path, format!("cannot write the golden's pending result: {error}"), remedy)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
    use super::*;
    use crate::scenario;

    pub(super) fn folder(files: &[(&str, &str)]) -> (tempfile::TempDir, Scenario) {
        let folder = tempfile::tempdir().unwrap();
        let toml = "schema = 1\ntitle = \"t\"\nabout = \"a\"\nprovenance = \"p\"\n\
                    [[step]]\nname = \"one\"\npayload = 1\nexpect.delivered = \"golden\"\n\
                    [[step]]\nname = \"two\"\npayload = 1\nexpect.delivered = \"empty\"\n";
        fs::write(folder.path().join("scenario.toml"), toml).unwrap();
        fs::write(folder.path().join("payloads.jsonl"), "{\"hook_event_name\":\"Stop\"}\n").unwrap();
        fs::create_dir(folder.path().join("golden")).unwrap();
        for (name, text) in files {
            fs::write(folder.path().join("golden").join(name), text).unwrap();
        }
        let scenario = scenario::load(folder.path()).unwrap();
        (folder, scenario)
    }

    #[test]
    fn missing_and_changed_golden_are_told_apart() {
        let (_folder, scenario) = folder(&[]);
        let finding = check(&scenario, "one", "hello", Writing::Never).unwrap().unwrap();
        assert_eq!(finding.kind, FindingKind::GoldenMissing);
        let (_folder, scenario) = folder_with_old();
        let finding = check(&scenario, "one", "a\nB\nc\n", Writing::Never).unwrap().unwrap();
        assert_eq!(finding.kind, FindingKind::GoldenChanged);
        assert!(finding.message.contains("\n  a\n- b\n+ B\n  c"), "{}", finding.message);
        assert_eq!(check(&scenario, "one", "a\nb\nc\n", Writing::Never).unwrap(), None);
    }

    fn folder_with_old() -> (tempfile::TempDir, Scenario) {
        folder(&[("one.txt", "a\nb\nc\n")])
    }

    #[test]
    fn accepting_moves_the_pending_text_over_the_golden() {
        let (folder, scenario) = folder_with_old();
        check(&scenario, "one", "new", Writing::Pending).unwrap().unwrap();
        let waiting = pending(&scenario);
        assert_eq!(waiting.len(), 1);
        assert!(waiting[0].diff().unwrap().contains("+ new (no newline at the end)"));
        waiting[0].accept(Writing::Pending).unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("golden/one.txt")).unwrap(), "new");
        assert_eq!(pending(&scenario), []);
        assert_eq!(check(&scenario, "one", "new", Writing::Pending).unwrap(), None);
    }

    #[test]
    fn rejected_or_outlived_pending_text_goes_away() {
        let (_folder, scenario) = folder_with_old();
        check(&scenario, "one", "new", Writing::Pending).unwrap().unwrap();
        pending(&scenario)[0].reject(Writing::Pending).unwrap();
        assert_eq!(pending(&scenario), []);
        check(&scenario, "one", "new", Writing::Pending).unwrap().unwrap();
        check(&scenario, "one", "a\nb\nc\n", Writing::Pending).unwrap();
        assert_eq!(pending(&scenario), []);
    }

    #[test]
    fn nothing_is_written_where_writing_is_forbidden() {
        let (folder, scenario) = folder_with_old();
        check(&scenario, "one", "new", Writing::Never).unwrap().unwrap();
        let names: Vec<_> =
            fs::read_dir(folder.path().join("golden")).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, ["one.txt"]);
        check(&scenario, "one", "new", Writing::Pending).unwrap().unwrap();
        let refused = pending(&scenario)[0].accept(Writing::Never).unwrap_err();
        assert!(refused.to_string().contains("CI is set"), "{refused}");
        assert_eq!(fs::read_to_string(folder.path().join("golden/one.txt")).unwrap(), "a\nb\nc\n");
    }

    #[test]
    fn ci_forbids_writing_unless_it_says_false() {
        for (no_write, ci, expected) in [
            (false, None, Writing::Pending),
            (false, Some(""), Writing::Pending),
            (false, Some("false"), Writing::Pending),
            (false, Some("true"), Writing::Never),
            (false, Some("1"), Writing::Never),
            (true, None, Writing::Never),
        ] {
            assert_eq!(Writing::allowed(no_write, ci), expected, "{no_write} {ci:?}");
        }
    }

    #[test]
    fn golden_that_is_no_text_stops_the_load() {
        let (folder, _) = folder_with_old();
        fs::write(folder.path().join("golden/one.txt"), [0xff, 0xfe]).unwrap();
        let problems = scenario::load(folder.path()).unwrap_err().into_vec();
        assert!(problems[0].to_string().contains("golden/one.txt: cannot read"), "{}", problems[0]);
        assert!(problems[0].remedy().contains("hookbench accept"));
    }
}
