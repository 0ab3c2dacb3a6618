//! Where everything of a sandbox lies, and what the placeholders stand for.
//!
//! The layout is a function of the root, the scenario and the run: ids of sessions are the same in every round.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use super::SandboxOptions;
use crate::scenario::Scenario;
use crate::scenario::placeholder::{self, Placeholder};

/// All places of a sandbox.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) root: PathBuf,
    pub(super) home: PathBuf,
    pub(super) project: PathBuf,
    pub(super) tmp: PathBuf,
    pub(super) data: PathBuf,
    pub(super) scenario_dir: PathBuf,
    pub(super) corpora: PathBuf,
    /// Name of the project's folder of transcripts: the path with other characters than letters and digits as `-`.
    pub(super) slug: String,
    scenario: String,
    hook_program: String,
}

impl Layout {
    pub(super) fn new(scenario: &Scenario, root: PathBuf, options: &SandboxOptions) -> Layout {
        let home = root.join("home");
        let project = home.join(&scenario.sandbox.project);
        let slug = project.to_string_lossy().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        Layout {
            tmp: root.join("tmp"),
            data: home.join(".local/share"),
            scenario_dir: scenario.dir.clone(),
            corpora: options.corpora.clone(),
            slug,
            scenario: scenario.name.clone(),
            hook_program: options.hook_program.clone(),
            root,
            home,
            project,
        }
    }

    /// Makes the folders and the git identity.
    pub(super) fn make(&self) -> io::Result<()> {
        for folder in [".config", ".cache", ".local/state", ".local/share"] {
            std::fs::create_dir_all(self.home.join(folder))?;
        }
        std::fs::create_dir_all(self.transcripts())?;
        for folder in [&self.project, &self.tmp, &self.root.join("run")] {
            std::fs::create_dir_all(folder)?;
        }
        let identity = "[user]\n\tname = Dev\n\temail = dev@example.com\n[init]\n\tdefaultBranch = main\n";
        std::fs::write(self.home.join(".gitconfig"), identity)
    }

    /// Environment that does not depend on host, scenario or step.
    pub(super) fn fixed_env(&self, path: &OsStr) -> Vec<(OsString, OsString)> {
        let places = [
            ("HOME", self.home.clone()),
            ("TMPDIR", self.tmp.clone()),
            ("XDG_CONFIG_HOME", self.home.join(".config")),
            ("XDG_CACHE_HOME", self.home.join(".cache")),
            ("XDG_STATE_HOME", self.home.join(".local/state")),
            ("XDG_DATA_HOME", self.data.clone()),
            ("XDG_RUNTIME_DIR", self.root.join("run")),
        ];
        let words = [("LANG", "C.UTF-8"), ("LC_ALL", "C.UTF-8"), ("TZ", "UTC"), ("GIT_CONFIG_NOSYSTEM", "1")];
        let mut env = vec![(OsString::from("PATH"), path.to_owned())];
        env.extend(places.into_iter().map(|(name, place)| (name.into(), place.into())));
        env.extend(words.into_iter().map(|(name, word)| (name.into(), word.into())));
        env
    }

    /// Folder of the project's transcripts.
    fn transcripts(&self) -> PathBuf {
        self.home.join(".claude/projects").join(&self.slug)
    }

    /// Transcript of a session.
    pub(super) fn transcript(&self, session: &str) -> PathBuf {
        self.transcripts().join(format!("{}.jsonl", self.session_id(session)))
    }

    /// Place of a linked worktree: beside the project.
    pub(super) fn worktree(&self, name: &str) -> PathBuf {
        let mut folder = self.project.file_name().unwrap_or_default().to_owned();
        folder.push(format!("-{name}"));
        self.home.join(folder)
    }

    /// Id of a session: a UUID made from the names of scenario and session (RFC 9562, version 5 bits).
    pub(super) fn session_id(&self, session: &str) -> String {
        let seed = format!("hookbench session\0{}\0{session}", self.scenario);
        let hash = git2::Oid::hash_object(git2::ObjectType::Blob, seed.as_bytes());
        let hash = hash.map(|oid| oid.to_string()).unwrap_or_default();
        let digits: Vec<char> = hash.chars().take(32).enumerate().map(|(at, digit)| uuid_digit(at, digit)).collect();
        let groups = [0..8, 8..12, 12..16, 16..20, 20..32];
        let groups = groups.map(|range| digits.get(range).unwrap_or_default().iter().collect::<String>());
        groups.join("-")
    }

    /// The text with all placeholders replaced.
    pub(super) fn expand(&self, text: &str, session: &str) -> String {
        placeholder::expand(text, |found| self.value(found, session))
    }

    /// JSON text with all placeholders replaced by what fits inside a JSON string.
    pub(super) fn expand_json(&self, text: &str, session: &str) -> String {
        placeholder::expand(text, |found| {
            let quoted = serde_json::Value::from(self.value(found, session)?).to_string();
            quoted.get(1..quoted.len() - 1).map(str::to_owned)
        })
    }

    fn value(&self, found: &Placeholder<'_>, session: &str) -> Option<String> {
        let session = found.argument.unwrap_or(session);
        Some(match found.name {
            "HOME" => text(&self.home),
            "PROJECT" => text(&self.project),
            "PROJECT_SLUG" => self.slug.clone(),
            "SESSION" => self.session_id(session),
            "TRANSCRIPT" => text(&self.transcript(session)),
            "TRANSCRIPT_DIR" => text(&self.transcript(session).with_extension("")),
            "WORKTREE" => text(&self.worktree(found.argument?)),
            "CORPORA" => text(&self.corpora),
            "SCENARIO" => text(&self.scenario_dir),
            "DATA" => text(&self.data),
            "TMP" => text(&self.tmp),
            "HOOK_PROGRAM" => self.hook_program.clone(),
            _ => return None,
        })
    }
}

/// Digit `at` of a UUID whose version is 5 and whose variant is the RFC's.
fn uuid_digit(at: usize, digit: char) -> char {
    match at {
        12 => '5',
        16 => digit.to_digit(16).and_then(|value| char::from_digit(8 | (value & 3), 16)).unwrap_or('8'),
        _ => digit,
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
