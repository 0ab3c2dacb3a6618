//! Goldens that no step compares itself with: what a renamed or removed step leaves behind.
//!
//! Where goldens may not be written, in CI above all, such a file is a finding: nobody would notice it there. Elsewhere it
//! is something to be told and to be removed by a person. Names that begin with a dot are nobody's golden.

use std::fs;
use std::io;
use std::path::PathBuf;

use super::{Writing, golden_path, may_write, pending_path, printable, unreadable, unwritable};
use crate::problem::Problem;
use crate::run_event::{Finding, FindingKind};
use crate::scenario::{Delivered, Scenario};

/// A file or folder beside the goldens that no step uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreferenced {
    /// Where it lies.
    pub path: PathBuf,
}

impl Unreferenced {
    /// The name in the golden folder, safe to show.
    pub fn shown(&self) -> String {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str());
        format!("golden/{}", printable(&name.to_string_lossy()))
    }

    /// Removes the file. A folder stays: hookbench has not made it.
    ///
    /// # Errors
    /// Writing is not allowed, or it cannot be removed.
    pub fn remove(&self, writing: Writing) -> Result<(), Problem> {
        may_write(&self.path, writing)?;
        fs::remove_file(&self.path).map_err(|error| unwritable(&self.path, &error))
    }
}

/// What no step uses, sorted by path.
///
/// # Errors
/// A golden folder that cannot be listed.
pub fn unreferenced(scenario: &Scenario) -> Result<Vec<Unreferenced>, Problem> {
    let dir = scenario.golden_dir();
    let entries = match fs::read_dir(&dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unreadable(&dir, &error)),
    };
    let used: Vec<PathBuf> = scenario
        .steps
        .iter()
        .filter(|step| step.expect.delivered == Delivered::Golden)
        .map(|step| golden_path(scenario, &step.name))
        .flat_map(|golden| [pending_path(&golden), golden])
        .collect();
    let mut left = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| unreadable(&dir, &error))?;
        let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if !hidden && !used.contains(&entry.path()) {
            left.push(entry.path());
        }
    }
    left.sort();
    Ok(left.into_iter().map(|path| Unreferenced { path }).collect())
}

/// One finding for each, where nothing may be written; none elsewhere.
///
/// # Errors
/// A golden folder that cannot be listed.
pub fn unreferenced_findings(scenario: &Scenario, writing: Writing) -> Result<Vec<Finding>, Problem> {
    if writing == Writing::Pending {
        return Ok(Vec::new());
    }
    let finding = |left: Unreferenced| Finding {
        kind: FindingKind::GoldenUnreferenced,
        message: format!(
            "expected a step that compares itself with {0}, there is none in this scenario; remove the file (`hookbench \
             review {1}` offers it), or give the step its old name back",
            left.shown(),
            printable(&scenario.name)
        ),
    };
    Ok(unreferenced(scenario)?.into_iter().map(finding).collect())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
    use super::super::tests::folder;
    use super::*;

    #[test]
    fn golden_that_no_step_uses_is_listed() {
        let files = [("one.txt", ""), ("one.txt.new", ""), ("two.txt", ""), ("old.txt", ""), (".gitkeep", "")];
        let (_folder, scenario) = folder(&files);
        let left = unreferenced(&scenario).unwrap();
        let names: Vec<String> = left.iter().map(Unreferenced::shown).collect();
        assert_eq!(names, ["golden/old.txt", "golden/two.txt"]);
    }

    #[test]
    fn it_is_a_finding_only_where_nothing_may_be_written() {
        let (folder, scenario) = folder(&[("old\u{1b}[2J.txt", "")]);
        assert_eq!(unreferenced_findings(&scenario, Writing::Pending).unwrap(), []);
        let findings = unreferenced_findings(&scenario, Writing::Never).unwrap();
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].kind, FindingKind::GoldenUnreferenced);
        assert!(findings[0].message.contains(r"golden/old\u{1b}[2J.txt"), "{}", findings[0].message);
        let left = &unreferenced(&scenario).unwrap()[0];
        assert!(left.remove(Writing::Never).unwrap_err().to_string().contains("CI is set"));
        left.remove(Writing::Pending).unwrap();
        assert_eq!(fs::read_dir(folder.path().join("golden")).unwrap().count(), 0);
    }
}
