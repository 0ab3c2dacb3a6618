//! What a hook is compared with: another command, the hook at another revision, or a saved run.
//!
//! A saved run has no calls beside those of today, so it can give no pairs; its times can be held against today's only
//! when both come from machines that look alike, and even then a difference may be the weather of the machine. Texts,
//! budgets, instructions and retrieval compare with any run. What follows from a comparison is the gates' business.

use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::record;
use crate::summary::Summary;

/// What `--baseline` names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Baseline {
    /// Command line of another hook.
    Command(String),
    /// The same hook at a revision of its repository: `rev:REV`.
    Revision(String),
    /// The folder of a saved run: `run:FILE`.
    Run(PathBuf),
}

/// A saved run as the baseline.
#[derive(Debug, Clone)]
pub struct StoredBaseline {
    /// Its figures.
    pub summary: Summary,
    /// Why its times cannot be compared with times taken on this machine; `None` when they can.
    pub times_refused: Option<String>,
}

impl Baseline {
    /// Reads the argument: a prefix decides, and anything without one is a command.
    ///
    /// # Errors
    /// A prefix with nothing behind it, or nothing at all.
    pub fn parse(text: &str) -> Result<Baseline, Failure> {
        let refused = |message: &str, remedy: &str| Err(Failure::usage("--baseline", message, remedy));
        match text.trim().split_once(':') {
            Some(("rev", "")) => refused("`rev:` names no revision", "write rev:main, rev:HEAD~1 or rev:1a2b3c4"),
            Some(("run", "")) => refused("`run:` names no saved run", "write run:FOLDER, such as run:.hookbench/last"),
            Some(("rev", revision)) => Ok(Baseline::Revision(revision.to_owned())),
            Some(("run", path)) => Ok(Baseline::Run(PathBuf::from(path))),
            _ if text.trim().is_empty() => refused("it is empty", "give a command line, rev:REV or run:FOLDER"),
            _ => Ok(Baseline::Command(text.to_owned())),
        }
    }
}

impl StoredBaseline {
    /// Reads a saved run, or one of its files; `machine` is the fingerprint of this machine.
    ///
    /// # Errors
    /// A folder that holds no run, a damaged one, one of a newer format, and a run that did not come to its end.
    pub fn load(path: &Path, machine: &str) -> Result<StoredBaseline, Failure> {
        let is_file_of_run = path.is_file() && path.file_name().is_some_and(|name| name == record::EVENTS_FILE);
        let folder = if is_file_of_run { path.parent().unwrap_or(path) } else { path };
        let summary = record::replay(folder)?;
        if !summary.complete() {
            let message = "the run was stopped before its end, so its figures are those of a part";
            return Err(Failure::usage(folder, message, "name a run that came to its end"));
        }
        let times_refused = times_refused(&summary, machine);
        Ok(StoredBaseline { summary, times_refused })
    }
}

/// Why times of a saved run cannot be compared with times of this machine.
fn times_refused(summary: &Summary, machine: &str) -> Option<String> {
    match summary.header() {
        None => Some("the saved run does not say on which machine it was made".to_owned()),
        Some(header) if header.machine != machine => Some(format!(
            "the saved run was made on another machine ({}; this one is {machine}), so its times say nothing here",
            header.machine
        )),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
    use super::*;
    use crate::record::RunWriter;
    use crate::run_event::RunEvent;
    use crate::summary::fixture::{run, step};

    #[test]
    fn a_prefix_decides_and_anything_else_is_a_command() {
        for (text, read) in [
            ("rev:HEAD~1", Baseline::Revision("HEAD~1".to_owned())),
            ("rev:origin/main", Baseline::Revision("origin/main".to_owned())),
            ("run:.hookbench/last", Baseline::Run(PathBuf::from(".hookbench/last"))),
            ("run:a:b", Baseline::Run(PathBuf::from("a:b"))),
            ("my-hook rev:x", Baseline::Command("my-hook rev:x".to_owned())),
            ("rev", Baseline::Command("rev".to_owned())),
            ("python3 a.py", Baseline::Command("python3 a.py".to_owned())),
        ] {
            assert_eq!(Baseline::parse(text).unwrap(), read, "{text}");
        }
        for text in ["rev:", "run:", "", "  "] {
            assert!(Baseline::parse(text).is_err(), "{text:?}");
        }
    }

    fn saved(events: &[RunEvent]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = RunWriter::create(&folder.path().join("run")).unwrap();
        events.iter().for_each(|event| writer.write(event).unwrap());
        writer.finish(&Summary::of(events)).unwrap();
        folder
    }

    #[test]
    fn a_run_of_the_same_machine_gives_its_times_and_one_of_another_does_not() {
        let folder = saved(&run(1, [step("s", "x", 0, 0)]));
        let load = |path: &str, machine: &str| StoredBaseline::load(&folder.path().join(path), machine).unwrap();
        let same = "test processor, 2 cores, Linux 6";
        assert_eq!(load("run", same).times_refused, None);
        assert_eq!(load("run/events.jsonl", same).summary.steps().len(), 1);
        let refused = load("run", "another").times_refused.unwrap();
        assert!(refused.contains(same) && refused.contains("another"), "{refused}");
    }

    #[test]
    fn parts_of_runs_and_other_folders_are_refused() {
        let mut events = run(1, [step("s", "x", 0, 0)]);
        events.pop();
        let folder = saved(&events);
        let said = StoredBaseline::load(&folder.path().join("run"), "m").unwrap_err().to_string();
        assert!(said.contains("stopped before its end"), "{said}");
        assert!(StoredBaseline::load(folder.path(), "m").is_err());
    }
}
