//! A folder with scenarios, and `hookbench` run in it.
//!
//! The folder has its own TMPDIR, so that what a run leaves there can be seen.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use serde_json::Value;
use tempfile::TempDir;

/// What a scenario needs beside its steps.
const HEAD: &str = r#"schema = 1
title = "A scenario of a test"
about = "Made for one test."
provenance = "written in the shape of client 2.1.332"
"#;

/// One payload, named `ask`.
pub(crate) const ASK: &str = concat!(
    r#"{"id":"ask","event":"UserPromptSubmit","stdin_payload":{"session_id":"${SESSION}","#,
    r#""transcript_path":"${TRANSCRIPT}","cwd":"${PROJECT}","hook_event_name":"UserPromptSubmit","#,
    r#""prompt":"which database?"}}"#,
    "\n"
);

/// A step that anything passes.
pub(crate) const ANY: &str = "[[step]]\nname = \"ask\"\npayload = \"ask\"\nexpect = { delivered = \"any\" }\n";

/// A step with a golden.
pub(crate) const GOLDEN: &str = "[[step]]\nname = \"ask\"\npayload = \"ask\"\nexpect = { delivered = \"golden\" }\n";

pub(crate) struct Bench {
    folder: TempDir,
}

impl Bench {
    /// An empty folder.
    pub(crate) fn empty() -> Bench {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("tmp")).unwrap();
        Bench { folder }
    }

    /// A folder with one scenario, `one`, of these steps.
    pub(crate) fn of(steps: &str) -> Bench {
        let bench = Bench::empty();
        bench.scenario("one", steps);
        bench
    }

    /// Writes a scenario with the payload [`ASK`].
    pub(crate) fn scenario(&self, name: &str, steps: &str) {
        self.write(&format!("scenarios/{name}/scenario.toml"), &format!("{HEAD}{steps}"));
        self.write(&format!("scenarios/{name}/payloads.jsonl"), ASK);
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().join(relative)
    }

    pub(crate) fn write(&self, relative: &str, text: &str) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, relative: &str) -> String {
        fs::read_to_string(self.path(relative)).unwrap_or_else(|error| panic!("{relative}: {error}"))
    }

    /// Every file and folder below, sorted; the bench's own TMPDIR only when something is in it.
    pub(crate) fn tree(&self) -> Vec<String> {
        let mut found = Vec::new();
        list(self.folder.path(), self.folder.path(), &mut found);
        found.retain(|path| path != "tmp");
        found.sort();
        found
    }

    /// `hookbench` in this folder, outside CI, with a limit that only a hang reaches.
    pub(crate) fn hookbench(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hookbench"));
        command.current_dir(self.folder.path()).env_remove("CI").env("TMPDIR", self.path("tmp"));
        command.timeout(std::time::Duration::from_secs(120));
        command
    }

    /// `hookbench` with the words of a line.
    pub(crate) fn call(&self, line: &str) -> Assert {
        self.hookbench().args(line.split_whitespace()).assert()
    }

    /// `hookbench run` of one round against a hook, with the words of a line.
    pub(crate) fn run(&self, hook: &str, line: &str) -> Assert {
        self.rounds(1, hook, line)
    }

    /// `hookbench run` of some rounds against a hook, with the words of a line.
    pub(crate) fn rounds(&self, repeat: u32, hook: &str, line: &str) -> Assert {
        let repeat = repeat.to_string();
        self.hookbench().args(["run", "--repeat", &repeat, "--hook", hook]).args(line.split_whitespace()).assert()
    }

    /// Events of a saved run, without the header line.
    pub(crate) fn events(&self, run: &str) -> Vec<Value> {
        let text = self.read(&format!("{run}/events.jsonl"));
        text.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Kinds of findings of each call of the last run, in the order of happening.
    pub(crate) fn findings(&self) -> Vec<(String, Vec<String>)> {
        self.findings_of(LAST)
    }

    /// Kinds of findings of each call of a saved run, in the order of happening.
    pub(crate) fn findings_of(&self, run: &str) -> Vec<(String, Vec<String>)> {
        let calls = self.events(run).into_iter().filter(|event| event["event"] == "step-finished");
        calls
            .map(|event| {
                let found = event["data"]["findings"].as_array().unwrap().iter();
                let kinds = found.map(|finding| finding["kind"].as_str().unwrap().to_owned());
                (format!("{}/{}", word(&event["data"]["scenario"]), word(&event["data"]["step"])), kinds.collect())
            })
            .collect()
    }
}

/// Where a run is saved by default.
pub(crate) const LAST: &str = ".hookbench/last";

pub(crate) fn word(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// Path of a fake hook, in quotes for the shell.
pub(crate) fn fake(name: &str) -> String {
    format!("'{}/tests/hooks/{name}.sh'", env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn stdout(assert: &Assert) -> String {
    String::from_utf8(assert.get_output().stdout.clone()).unwrap()
}

pub(crate) fn stderr(assert: &Assert) -> String {
    String::from_utf8(assert.get_output().stderr.clone()).unwrap()
}

fn list(root: &Path, folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        found.push(path.strip_prefix(root).unwrap().to_string_lossy().into_owned());
        if path.is_dir() && !path.is_symlink() {
            list(root, &path, found);
        }
    }
}
