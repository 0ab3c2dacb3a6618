//! A world for the real `hookmem` executable: a home of its own, repositories, sessions, and what a call did.
//!
//! Every call is a new process with nothing of this process's environment. Deadlines are set wide in the store's
//! settings, so that a slow machine does not turn an answer into silence; tests of deadlines take [`World::bare`].
#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use assert_cmd::Command;
use git2::{IndexAddOption, Repository, Signature};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The executable under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_hookmem");

/// A call that takes longer hangs.
const HANG: Duration = Duration::from_secs(60);

/// Waiting for a slow machine is fine here; waiting for ever is not.
const WIDE: &str = "[deadline]\nrecall_ms = 1300\ncapture_ms = 1300\n";

/// What a process did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    fn of(output: &std::process::Output) -> Ran {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Ran { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }

    /// The injected text; the answer must be one object for `event`, or nothing at all.
    pub fn context(&self, event: &str) -> Option<String> {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""), "{}", self.stdout);
        if self.stdout.is_empty() {
            return None;
        }
        let answer: Value = serde_json::from_str(&self.stdout).unwrap();
        let keys: Vec<&str> = answer.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["hookSpecificOutput"]);
        let specific = answer["hookSpecificOutput"].as_object().unwrap();
        assert_eq!(specific.len(), 2, "{answer}");
        assert_eq!(specific["hookEventName"], event);
        let text = specific["additionalContext"].as_str().unwrap().to_owned();
        assert!(!text.is_empty());
        Some(text)
    }

    /// Success without a byte.
    pub fn is_silent(&self) -> bool {
        self.code == Some(0) && self.stdout.is_empty() && self.stderr.is_empty()
    }

    /// Asserts success without a byte.
    #[track_caller]
    pub fn silent(&self) {
        assert!(self.is_silent(), "{self:?}");
    }

    /// stdout of a command that must have gone well.
    #[track_caller]
    pub fn ok(&self) -> &str {
        assert_eq!(self.code, Some(0), "{self:?}");
        &self.stdout
    }
}

/// A home, a store and work trees in a temporary folder.
pub struct World {
    dir: TempDir,
    pub env: BTreeMap<String, OsString>,
}

impl World {
    /// A world whose store has wide deadlines and nothing else.
    pub fn new() -> World {
        let world = World::bare();
        fs::create_dir_all(world.store()).unwrap();
        world.settings("");
        world
    }

    /// A brand-new home; the store does not exist.
    pub fn bare() -> World {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap().join("home");
        fs::create_dir(&home).unwrap();
        let env = BTreeMap::from([("HOME".to_owned(), home.into_os_string())]);
        World { dir, env }
    }

    /// A path in the world.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    /// The store's root.
    pub fn store(&self) -> PathBuf {
        self.path("home/.local/share/hookmem")
    }

    /// Folders of the projects in the store, sorted.
    pub fn project_stores(&self) -> Vec<PathBuf> {
        let file = fs::read_to_string(self.store().join("projects.jsonl")).unwrap_or_default();
        let ids: std::collections::BTreeSet<String> = file
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].as_str().unwrap().to_owned())
            .collect();
        let found = tree(&self.store());
        let folder = |id: &String| found.keys().find(|path| path.ends_with(id)).cloned();
        ids.iter().filter_map(folder).map(|path| self.store().join(path)).collect()
    }

    /// The only project's folder in the store.
    pub fn project_store(&self) -> PathBuf {
        let stores = self.project_stores();
        assert_eq!(stores.len(), 1, "{stores:?}");
        stores.into_iter().next().unwrap()
    }

    /// Writes the settings, wide deadlines first.
    pub fn settings(&self, text: &str) {
        fs::write(self.store().join("config.toml"), format!("{WIDE}{text}")).unwrap();
    }

    /// The hook's own log, both files.
    pub fn log(&self) -> String {
        let read = |name: &str| fs::read_to_string(self.store().join(name)).unwrap_or_default();
        read("log.1") + &read("log")
    }

    /// Makes a folder.
    pub fn folder(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(&path).unwrap();
        path
    }

    /// Makes a repository with one commit.
    pub fn repository(&self, name: &str) -> PathBuf {
        let path = self.folder(name);
        let mut options = git2::RepositoryInitOptions::new();
        let repository = Repository::init_opts(&path, options.initial_head("main")).unwrap();
        fs::create_dir_all(path.join("src")).unwrap();
        fs::write(path.join("src/lib.rs"), "pub fn one() -> u32 {\n    1\n}\n").unwrap();
        commit(&repository, "first");
        path
    }

    /// The executable with a scrubbed environment; a process that hangs is killed and fails the test.
    pub fn command(&self) -> Command {
        let mut command = Command::new(PROGRAM);
        command.env_clear().envs(&self.env).current_dir(self.dir.path()).timeout(HANG);
        command
    }

    /// The same for a process that the test holds itself.
    pub fn spawn(&self, args: &[&str]) -> Child {
        let mut command = std::process::Command::new(PROGRAM);
        command.args(args).env_clear().envs(&self.env).current_dir(self.dir.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Starts a hook call and gives it its payload; the answer comes from [`finish`].
    pub fn start_hook(&self, payload: &Value) -> Child {
        let mut child = self.spawn(&["hook"]);
        // The hook may be gone before it has read all.
        let _ = child.stdin.take().unwrap().write_all(payload.to_string().as_bytes());
        child
    }

    /// One hook call.
    pub fn hook(&self, payload: &Value) -> Ran {
        self.hook_bytes(payload.to_string().into_bytes())
    }

    /// One hook call with any bytes on stdin.
    pub fn hook_bytes(&self, bytes: impl Into<Vec<u8>>) -> Ran {
        Ran::of(&self.command().arg("hook").write_stdin(bytes).output().unwrap())
    }

    /// One command.
    pub fn run(&self, args: &[&str]) -> Ran {
        Ran::of(&self.command().args(args).output().unwrap())
    }

    /// One command about a project.
    pub fn on(&self, project: &Path, args: &[&str]) -> Ran {
        let folder = project.to_str().unwrap();
        let (verb, rest) = args.split_first().unwrap();
        self.run(&[&[*verb, "--project-dir", folder], rest].concat())
    }

    /// Imports memories into a project.
    pub fn seed(&self, project: &Path, rows: &[Value]) {
        let file = self.path("seed.jsonl");
        let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
        fs::write(&file, text).unwrap();
        self.on(project, &["import", file.to_str().unwrap()]).ok();
    }

    /// Imports the project's hand-written corpus.
    pub fn seed_tiny(&self, project: &Path) {
        self.on(project, &["import", tiny().to_str().unwrap()]).ok();
    }

    /// All records of a project as the store has them.
    pub fn records(&self, project: &Path) -> Vec<Value> {
        let ran = self.on(project, &["inspect", "source-documents"]);
        serde_json::from_str::<Value>(ran.ok()).unwrap().as_array().unwrap().clone()
    }

    /// A session in a project.
    pub fn session(&self, id: &str, project: &Path) -> Session<'_> {
        let transcript = self.folder("home/.claude/projects").join(format!("{id}.jsonl"));
        Session { world: self, id: id.to_owned(), cwd: project.to_path_buf(), transcript, n_prompts: 0, n_calls: 0 }
    }

    /// Every byte below the store and everything else in the home, with the file's path.
    pub fn stored_bytes(&self) -> Vec<(PathBuf, Vec<u8>)> {
        tree(&self.store()).into_iter().filter_map(|(path, entry)| Some((path, entry.bytes?))).collect()
    }

    /// Whether a text stands in any byte of the store.
    pub fn stores(&self, text: &str) -> bool {
        self.stored_bytes().iter().any(|(_, bytes)| contains(bytes, text.as_bytes()))
    }
}

/// One session of the host: its prompts, calls and answers, with the transcript that the host would write.
pub struct Session<'a> {
    world: &'a World,
    pub id: String,
    pub cwd: PathBuf,
    pub transcript: PathBuf,
    n_prompts: usize,
    n_calls: usize,
}

impl Session<'_> {
    /// A payload of this session with an event's own fields.
    pub fn payload(&self, event: &str, fields: Value) -> Value {
        let mut payload = json!({
            "session_id": self.id,
            "transcript_path": self.transcript,
            "cwd": self.cwd,
            "prompt_id": self.prompt_id(),
            "permission_mode": "default",
            "hook_event_name": event,
        });
        payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        payload
    }

    pub fn prompt_id(&self) -> String {
        format!("{}-p{}", self.id, self.n_prompts)
    }

    /// Adds a line to the transcript.
    pub fn line(&self, line: &Value) {
        self.bytes(format!("{line}\n").as_bytes());
    }

    /// Adds bytes to the transcript.
    pub fn bytes(&self, bytes: &[u8]) {
        let mut file = fs::OpenOptions::new().create(true).append(true).open(&self.transcript).unwrap();
        file.write_all(bytes).unwrap();
    }

    /// The payload of the next prompt.
    pub fn prompt_payload(&mut self, text: &str) -> Value {
        self.n_prompts += 1;
        self.payload("UserPromptSubmit", json!({ "prompt": text }))
    }

    /// A prompt: the hook call, then the transcript line.
    pub fn prompt(&mut self, text: &str) -> Ran {
        let payload = self.prompt_payload(text);
        let ran = self.world.hook(&payload);
        self.prompt_line(text);
        ran
    }

    /// The transcript line of a prompt.
    pub fn prompt_line(&self, text: &str) {
        let message = json!({"role": "user", "content": text});
        self.line(&json!({"type": "user", "promptId": self.prompt_id(), "cwd": self.cwd, "message": message}));
    }

    /// A text of the model in the transcript.
    pub fn says(&self, text: &str) {
        let content = json!([{"type": "text", "text": text}]);
        self.line(&json!({"type": "assistant", "message": {"role": "assistant", "content": content}}));
    }

    /// A tool call and its result in the transcript.
    pub fn uses(&mut self, tool: &str, input: &Value, output: &str) {
        self.n_calls += 1;
        let id = format!("toolu_{}_{}", self.id, self.n_calls);
        let call = json!([{"type": "tool_use", "id": id, "name": tool, "input": input}]);
        self.line(&json!({"type": "assistant", "message": {"role": "assistant", "content": call}}));
        let result = json!([{"type": "tool_result", "tool_use_id": id, "content": output, "is_error": false}]);
        self.line(&json!({"type": "user", "message": {"role": "user", "content": result}}));
    }

    /// A file written by the model: on disk and in the transcript.
    pub fn writes(&mut self, path: &str, content: &str) {
        let file = self.cwd.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, content).unwrap();
        self.uses("Write", &json!({"file_path": file, "content": content}), "written");
    }

    /// The payload of a turn's end.
    pub fn stop_payload(&self, last_message: &str) -> Value {
        self.payload("Stop", json!({"stop_hook_active": false, "last_assistant_message": last_message}))
    }

    /// A turn's end: the transcript line, then the hook call.
    pub fn stop(&self, last_message: &str) -> Ran {
        self.says(last_message);
        self.world.hook(&self.stop_payload(last_message))
    }

    /// A whole turn; gives what the prompt was answered.
    pub fn turn(&mut self, prompt: &str, answer: &str) -> Ran {
        let ran = self.prompt(prompt);
        self.stop(answer).silent();
        ran
    }

    pub fn start(&self, source: &str) -> Ran {
        self.world.hook(&self.payload("SessionStart", json!({ "source": source })))
    }

    pub fn pre_tool(&self, tool: &str, id: &str, input: Value) -> Ran {
        let fields = json!({"tool_name": tool, "tool_input": input, "tool_use_id": id});
        self.world.hook(&self.payload("PreToolUse", fields))
    }

    pub fn post_tool(&self, tool: &str, id: &str, input: Value, response: Value) -> Ran {
        let fields = json!({"tool_name": tool, "tool_input": input, "tool_response": response, "tool_use_id": id});
        self.world.hook(&self.payload("PostToolUse", fields))
    }

    pub fn end(&self) -> Ran {
        self.world.hook(&self.payload("SessionEnd", json!({"reason": "other"})))
    }
}

/// Waits for a process.
pub fn finish(child: Child) -> Ran {
    Ran::of(&child.wait_with_output().unwrap())
}

/// Commits the work tree.
pub fn commit(repository: &Repository, message: &str) -> git2::Oid {
    let who = Signature::new("A", "a@example.com", &git2::Time::new(1_700_000_000, 0)).unwrap();
    let mut index = repository.index().unwrap();
    index.add_all(["*"], IndexAddOption::DEFAULT, None).unwrap();
    index.write().unwrap();
    let tree = repository.find_tree(index.write_tree().unwrap()).unwrap();
    let parents: Vec<git2::Commit<'_>> =
        repository.head().ok().map(|h| h.peel_to_commit().unwrap()).into_iter().collect();
    repository.commit(Some("HEAD"), &who, &who, message, &tree, &parents.iter().collect::<Vec<_>>()).unwrap()
}

/// One entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub mode: u32,
    pub modified: (i64, i64),
    /// Content of a file.
    pub bytes: Option<Vec<u8>>,
}

/// Everything below a folder, by relative path; the folder itself is the empty path. Links below it are not followed.
pub fn tree(root: &Path) -> BTreeMap<PathBuf, Entry> {
    let mut found = BTreeMap::new();
    let Ok(root) = root.canonicalize() else { return found };
    let mut open = vec![root.clone()];
    while let Some(path) = open.pop() {
        let Ok(meta) = fs::symlink_metadata(&path) else { continue };
        let bytes = meta.is_file().then(|| fs::read(&path).unwrap_or_default());
        let entry = Entry { mode: meta.mode(), modified: (meta.mtime(), meta.mtime_nsec()), bytes };
        found.insert(path.strip_prefix(&root).unwrap().to_path_buf(), entry);
        if meta.is_dir() {
            open.extend(fs::read_dir(&path).into_iter().flatten().map(|entry| entry.unwrap().path()));
        }
    }
    found
}

/// Paths that differ between two trees.
pub fn changed(before: &BTreeMap<PathBuf, Entry>, after: &BTreeMap<PathBuf, Entry>) -> Vec<PathBuf> {
    let all: std::collections::BTreeSet<&PathBuf> = before.keys().chain(after.keys()).collect();
    all.into_iter().filter(|path| before.get(*path) != after.get(*path)).cloned().collect()
}

/// Whether `part` stands in `bytes`.
pub fn contains(bytes: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(bytes, part).is_some()
}

/// The project's hand-written corpus.
pub fn tiny() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpora/tiny").canonicalize().unwrap()
}

/// A row of a corpus; a later `day` is a newer memory.
pub fn row(id: &str, session: &str, day: u32, request: &str, result: &str) -> Value {
    json!({
        "doc_id": id, "session_id": session, "project": "p", "type": "outcome",
        "timestamp": format!("{}-{:02}-{:02}T10:00:00Z", 2024 + day / 336, day / 28 % 12 + 1, day % 28 + 1),
        "request": request, "result": result, "branch": "main",
    })
}

/// Rows about other things, so that words have a weight.
pub fn unrelated(count: u32) -> Vec<Value> {
    let words = ["render", "cache", "socket", "theme", "invoice", "queue", "tooltip", "quota", "editor", "avatar"];
    (0..count)
        .map(|n| {
            let (a, b) = (words[n as usize % 10], words[(n as usize / 10 + n as usize + 1) % 10]);
            let request = format!("Important: change the {a} of the {b} in step {n}");
            row(&format!("m_unrelated{n}"), &format!("s_unrelated{n}"), n, &request, &format!("The {a} is changed."))
        })
        .collect()
}

/// A shared folder: the value of `name`, else `fallback` beside the workspace; `None` and a line when absent.
pub fn shared(name: &str, fallback: &str) -> Option<PathBuf> {
    let folder = std::env::var_os(name)
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared").join(fallback), PathBuf::from);
    if !folder.is_dir() {
        let _ = writeln!(std::io::stdout(), "skipped: no {name} ({} is absent)", folder.display());
        return None;
    }
    Some(folder)
}

/// Rewrites every line of a project's journal with a fitting length and checksum, as another program would.
pub fn rewrite_journal(store: &Path, change: impl Fn(&str) -> String) {
    for entry in fs::read_dir(store.join("journal")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|end| end != "jsonl") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let lines = text.lines().map(|line| {
            let json = change(line.splitn(3, ',').nth(2).unwrap().strip_suffix(']').unwrap());
            format!("[{},{},{json}]\n", json.len(), crc32fast::hash(json.as_bytes()))
        });
        fs::write(&path, lines.collect::<String>()).unwrap();
    }
}
