//! The hook and the scenario that hookbench brings along, for a self-test on a machine that has neither.
//!
//! The hook is the burner with a time that is easy to measure, and then `echo` with the text of the golden.

use std::fs;
use std::io;
use std::path::Path;

use tempfile::TempDir;

use crate::hook::Hook;
use crate::process::burner;

/// Files of the scenario. The golden has no line end, as the host trims a hook's text.
const FILES: [(&str, &str); 3] = [
    ("scenario.toml", include_str!("sample/scenario.toml")),
    ("payloads.jsonl", include_str!("sample/payloads.jsonl")),
    ("golden/ask.txt", ANSWER),
];

/// What the hook says.
const ANSWER: &str = include_str!("sample/golden/ask.txt");

/// CPU time that the hook burns, in microseconds.
const BURN_US: &str = "3000";

/// The scenario in a folder of its own, which goes when this is dropped.
#[derive(Debug)]
pub struct Sample {
    folder: TempDir,
}

impl Sample {
    /// Writes the scenario.
    ///
    /// # Errors
    /// A temporary folder that cannot be written.
    pub fn write() -> io::Result<Sample> {
        let folder = tempfile::Builder::new().prefix("hookbench-self-test-").tempdir()?;
        for (name, text) in FILES {
            let path = folder.path().join("self-test").join(name);
            fs::create_dir_all(path.parent().unwrap_or(folder.path()))?;
            fs::write(path, text)?;
        }
        Ok(Sample { folder })
    }

    /// Where the scenario is.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The hook that answers it.
    ///
    /// # Errors
    /// When this executable has no path.
    pub fn hook() -> io::Result<Hook> {
        let executable = std::env::current_exe()?;
        let executable = executable.to_str().ok_or(io::ErrorKind::InvalidFilename)?;
        let mut hook = Hook::exec([executable, burner::ARGUMENT, BURN_US, "echo", ANSWER].map(str::to_owned).into());
        "the hook of the self-test".clone_into(&mut hook.shown);
        Ok(hook)
    }
}
