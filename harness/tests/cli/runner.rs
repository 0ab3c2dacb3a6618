//! A fake runner: reads the action and the workflow, runs their scripts with bash in a folder of its own.
//!
//! Steps that use other actions are recorded; uploads and downloads of artifacts are played, so that jobs can hand runs
//! on. `cargo install` puts the built `hookbench` in place; every call is recorded as it was made.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::bench::{Bench, word};
use crate::expression::{expand, holds};

/// Top of this repository.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// A YAML file of this repository.
pub(crate) fn yaml(relative: &str) -> Value {
    let text = fs::read_to_string(repository().join(relative)).unwrap();
    serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{relative}: {error}"))
}

/// What the runner remembers between the steps of a job and between jobs.
pub(crate) struct Runner {
    pub(crate) bench: Bench,
    /// Artifacts by name.
    artifacts: HashMap<String, PathBuf>,
}

/// What became of a job.
#[derive(Debug, Default)]
pub(crate) struct Job {
    /// Exit code of the first step that failed; 0 when none did.
    pub(crate) code: i32,
    pub(crate) summary: String,
    pub(crate) log: String,
    /// Names of the scripts that ran, with their codes.
    pub(crate) ran: Vec<(String, i32)>,
    /// Other actions that were used, with their inputs.
    pub(crate) uses: Vec<(String, HashMap<String, String>)>,
    outputs: HashMap<String, String>,
    path: Vec<String>,
}

impl Job {
    /// Value of `steps.ID.outputs.NAME`.
    pub(crate) fn output(&self, name: &str) -> &str {
        self.outputs.get(name).map_or("", String::as_str)
    }

    /// Inputs of the action that was used by this name.
    pub(crate) fn used(&self, action: &str) -> Option<&HashMap<String, String>> {
        self.uses.iter().find(|(name, _)| name.split('@').next() == Some(action)).map(|(_, with)| with)
    }
}

impl Runner {
    /// A runner whose workspace is the bench's folder.
    pub(crate) fn new(bench: Bench) -> Runner {
        for (name, text) in [("cargo", CARGO), ("shim", HOOKBENCH)] {
            bench.write(&format!("fake/{name}"), text);
            fs::set_permissions(bench.path(&format!("fake/{name}")), fs::Permissions::from_mode(0o755)).unwrap();
        }
        let (built, real) = (Path::new(env!("CARGO_BIN_EXE_hookbench")), bench.path("fake/hookbench.real"));
        fs::hard_link(built, &real).or_else(|_| fs::copy(built, &real).map(drop)).unwrap();
        Runner { bench, artifacts: HashMap::new() }
    }

    /// Calls of an installed executable or of cargo, as the words that it got.
    pub(crate) fn calls(&self, program: &str) -> Vec<Vec<String>> {
        let log = fs::read_to_string(self.bench.path("calls")).unwrap_or_default();
        let calls = log.split_terminator('\u{1}').map(|call| call.split_terminator('\0').map(str::to_owned).collect());
        calls.filter(|call: &Vec<String>| call[0] == program).map(|call| call[1..].to_vec()).collect()
    }

    /// Runs the action of this repository by itself.
    pub(crate) fn act(&mut self, inputs: &[(&str, &str)]) -> Job {
        let mut job = self.fresh();
        let inputs = inputs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        self.action(&inputs, &mut job);
        job
    }

    /// Runs a job of a workflow, with a value for the matrix.
    pub(crate) fn job(&mut self, job: &Value, matrix: &[(&str, &str)]) -> Job {
        let mut done = self.fresh();
        for step in job["steps"].as_array().unwrap() {
            let lookup = |name: &str| match matrix.iter().find(|(known, _)| *known == name) {
                Some((_, value)) => Value::from(*value),
                None => panic!("{name} is not known in the workflow"),
            };
            assert!(step["if"].is_null() && step["run"].is_null(), "a step of a kind that is not played: {step}");
            let with = inputs_of(step, &lookup);
            if word(&step["uses"]) == "./" {
                if done.code == 0 {
                    self.action(&with, &mut done);
                }
            } else if done.code == 0 {
                self.other_action(word(&step["uses"]), with, &mut done);
            }
        }
        done
    }

    /// A job's machine: nothing of an earlier job is there.
    fn fresh(&self) -> Job {
        let folder = self.bench.path("runner");
        if folder.exists() {
            fs::remove_dir_all(&folder).unwrap();
        }
        fs::create_dir(&folder).unwrap();
        Job::default()
    }

    fn action(&mut self, given: &HashMap<String, String>, job: &mut Job) {
        let action = yaml("action.yml");
        let known = action["inputs"].as_object().unwrap();
        for name in given.keys() {
            assert!(known.contains_key(name), "the action has no input `{name}`");
        }
        let mut inputs = given.clone();
        for (name, about) in known {
            inputs.entry(name.clone()).or_insert_with(|| about["default"].as_str().unwrap_or_default().to_owned());
        }
        for step in action["runs"]["steps"].as_array().unwrap() {
            let (failed, outputs) = (job.code != 0, job.outputs.clone());
            let lookup = |name: &str| match name.split_once('.').unwrap_or((name, "")) {
                ("inputs", name) => Value::from(inputs[name].as_str()),
                ("steps", _) => outputs.get(name).map_or(Value::Null, |value| Value::from(value.as_str())),
                ("github", "action_path") => Value::from(repository().to_str().unwrap()),
                ("github", "action_repository") => Value::Null,
                ("github", "repository") => Value::from("someone/hooks"),
                ("github", "server_url") => Value::from("https://git.example"),
                ("always()", _) => Value::Bool(true),
                _ => panic!("{name} is not known in the action"),
            };
            let condition = step["if"].as_str();
            let runs = condition.is_none_or(|text| holds(text, &lookup));
            let even_after_failure = condition.is_some_and(|text| text.contains("always()"));
            if !runs || (failed && !even_after_failure) {
                continue;
            }
            match step["uses"].as_str() {
                Some(action) => self.other_action(action, inputs_of(step, &lookup), job),
                None => self.script(step, &lookup, job),
            }
        }
    }

    fn script(&mut self, step: &Value, lookup: &dyn Fn(&str) -> Value, job: &mut Job) {
        assert_eq!(step["shell"], "bash", "{step}");
        let files = ["GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT", "GITHUB_PATH"];
        let file = |name: &str| self.bench.path(&format!("files/{name}"));
        for name in files {
            self.bench.write(&format!("files/{name}"), "");
        }
        // As a real runner does it, which is what makes a value in a script dangerous.
        self.bench.write("files/script.sh", &expand(word(&step["run"]), lookup));
        let path = std::env::var("PATH").unwrap();
        let path = [&job.path[..], &[self.bench.path("fake").to_str().unwrap().to_owned(), path]].concat().join(":");
        let folder = step["working-directory"].as_str().map_or(".".to_owned(), |text| expand(text, lookup));
        let mut command = Command::new("bash");
        command.args(["--noprofile", "--norc", "-e", "-o", "pipefail"]).arg(file("script.sh"));
        command
            .env_clear()
            .env("PATH", path)
            .env("CI", "true")
            .env("HOME", self.bench.path(""))
            .env("LC_ALL", "C.UTF-8");
        command.env("RUNNER_TEMP", self.bench.path("runner")).env("TMPDIR", self.bench.path("tmp"));
        command.env("GITHUB_WORKSPACE", self.bench.path("")).current_dir(self.bench.path("").join(folder));
        command.env("CALLS", self.bench.path("calls")).env("FAKE", self.bench.path("fake"));
        command.envs(files.map(|name| (name, file(name))));
        for (name, value) in step["env"].as_object().unwrap() {
            command.env(name, expand(word(value), lookup));
        }
        // A folder that is not there fails the step, as on a real runner.
        let code = match command.output() {
            Ok(output) => {
                job.log += &String::from_utf8_lossy(&output.stdout);
                job.log += &String::from_utf8_lossy(&output.stderr);
                output.status.code().unwrap()
            }
            Err(_) => 1,
        };
        let read = |name: &str| fs::read_to_string(file(name)).unwrap();
        job.summary += &read("GITHUB_STEP_SUMMARY");
        job.path.extend(read("GITHUB_PATH").lines().map(str::to_owned));
        for line in read("GITHUB_OUTPUT").lines() {
            let (name, value) = line.split_once('=').unwrap();
            job.outputs.insert(format!("steps.{}.outputs.{name}", word(&step["id"])), value.to_owned());
        }
        job.ran.push((word(&step["name"]).to_owned(), code));
        if job.code == 0 {
            job.code = code;
        }
    }

    fn other_action(&mut self, action: &str, with: HashMap<String, String>, job: &mut Job) {
        match action.split('@').next().unwrap() {
            "actions/upload-artifact" => {
                let kept = self.bench.path(&format!("artifacts/{}", with["name"]));
                copy(Path::new(&with["path"]), &kept);
                let before = self.artifacts.insert(with["name"].clone(), kept);
                assert!(before.is_none(), "two artifacts are called {}", with["name"]);
            }
            "actions/download-artifact" => {
                let prefix = with["pattern"].strip_suffix('*').unwrap();
                for (name, kept) in self.artifacts.iter().filter(|(name, _)| name.starts_with(prefix)) {
                    copy(kept, &self.bench.path(&with["path"]).join(name));
                }
            }
            "actions/checkout" => {}
            other => panic!("{other} is not played"),
        }
        job.uses.push((action.to_owned(), with));
    }
}

fn inputs_of(step: &Value, lookup: &dyn Fn(&str) -> Value) -> HashMap<String, String> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), |text| expand(text, lookup));
    step["with"].as_object().into_iter().flatten().map(|(name, value)| (name.clone(), text(value))).collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Records the call with its folder; `install` puts the fake executables below the root that was named.
const CARGO: &str = r#"#!/bin/bash
{ printf 'cargo\0%s\0' "$PWD"; printf '%s\0' "$@"; printf '\1'; } >> "$CALLS"
while [ $# -gt 1 ]; do
  if [ "$1" = --root ]; then root=$2; fi
  shift
done
mkdir -p "$root/bin"
case $1 in
  hookbench | harness) cp "$FAKE/shim" "$root/bin/hookbench" && ln "$FAKE/hookbench.real" "$root/bin/hookbench.real" ;;
  hookmem | reference) printf '#!/bin/sh\nexit 0\n' > "$root/bin/hookmem" && chmod +x "$root/bin/hookmem" ;;
  *) exit 9 ;;
esac
"#;

/// Records the call and hands it to the built executable.
const HOOKBENCH: &str = r#"#!/bin/bash
{ printf 'hookbench\0'; printf '%s\0' "$@"; printf '\1'; } >> "$CALLS"
exec "$(dirname "$0")/hookbench.real" "$@"
"#;
