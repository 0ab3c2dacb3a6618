#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
use std::fs;
use std::path::Path;
use std::process::Command;

use super::*;
use crate::observation::{Ending, MemorySource, Observation};
use crate::run_event::FindingKind;
use crate::scenario;

const HEAD: &str = "schema = 1\ntitle = \"t\"\nabout = \"a\"\nprovenance = \"p\"\n";
const STEP: &str = "[[step]]\nname = \"one\"\npayload = 1\nexpect.delivered = \"any\"\n";

/// The tests' runner: no timeout, no process group; the commands of these tests end at once.
fn run(call: &ShellCall) -> Observation {
    let output = Command::new("/bin/sh")
        .args(["-c", &call.command])
        .current_dir(&call.cwd)
        .env_clear()
        .envs(call.env.iter().map(|(name, value)| (name, value)))
        .output()
        .unwrap();
    Observation {
        ending: Ending::Exited(output.status.code().unwrap()),
        stdout: output.stdout,
        stderr: output.stderr,
        stdout_dropped_bytes: 0,
        stderr_dropped_bytes: 0,
        exit_after: std::time::Duration::ZERO,
        eof_after: std::time::Duration::ZERO,
        first_byte_after: None,
        cpu: std::time::Duration::ZERO,
        cpu_partial: false,
        peak_memory_bytes: None,
        memory_source: MemorySource::None,
        stdin_closed_early: false,
        stream_held_open: false,
        orphans: Vec::new(),
    }
}

struct Story {
    _folder: tempfile::TempDir,
    scenario: Scenario,
}

fn story(toml: &str) -> Story {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("story");
    fs::create_dir_all(dir.join("tree/src")).unwrap();
    fs::write(dir.join("tree/src/lib.rs"), "fn main() {}\n").unwrap();
    let payload =
        r#"{"session_id":"${SESSION}","transcript_path":"${TRANSCRIPT}","cwd":"${PROJECT}","hook_event_name":"Stop"}"#;
    fs::write(dir.join("payloads.jsonl"), format!("{payload}\n")).unwrap();
    fs::write(dir.join("a.jsonl"), "{\"cwd\":\"${PROJECT}\"}\n").unwrap();
    fs::write(dir.join("scenario.toml"), format!("{HEAD}{toml}")).unwrap();
    let scenario = scenario::load(&dir).unwrap();
    Story { _folder: folder, scenario }
}

fn options() -> SandboxOptions {
    SandboxOptions {
        round: 0,
        parent: std::env::temp_dir(),
        corpora: "/corpora".into(),
        hook_program: "echo hook".to_owned(),
        path: std::env::var_os("PATH").unwrap_or_default(),
        keep: false,
    }
}

fn sandbox(story: &Story) -> Sandbox<'_> {
    Sandbox::create(&story.scenario, &options()).unwrap()
}

#[test]
fn environment_is_fixed_host_scenario_and_step_and_nothing_else() {
    let story = story(&format!("[sandbox]\nenv = {{ A = \"1\", B = \"${{DATA}}\" }}\n{STEP}env = {{ A = \"2\" }}\n"));
    let sandbox = sandbox(&story);
    let host = [("CLAUDECODE", "1".to_owned()), ("B", "host".to_owned())];
    let env = sandbox.env(&story.scenario.steps[0], &host);
    let names: Vec<_> = env.iter().map(|(name, _)| name.to_str().unwrap()).collect();
    let fixed = [
        "PATH",
        "HOME",
        "TMPDIR",
        "XDG_CONFIG_HOME",
        "XDG_CACHE_HOME",
        "XDG_STATE_HOME",
        "XDG_DATA_HOME",
        "XDG_RUNTIME_DIR",
        "LANG",
        "LC_ALL",
        "TZ",
        "GIT_CONFIG_NOSYSTEM",
    ];
    assert_eq!(names, [&fixed[..], &["CLAUDECODE", "B", "A"]].concat());
    let value = |name: &str| env.iter().find(|(other, _)| other == name).unwrap().1.to_str().unwrap().to_owned();
    assert_eq!((value("A"), value("CLAUDECODE")), ("2".to_owned(), "1".to_owned()));
    assert_eq!(value("B"), sandbox.home().join(".local/share").to_str().unwrap());
    for name in ["HOME", "TMPDIR", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"] {
        assert!(Path::new(&value(name)).is_dir() && Path::new(&value(name)).starts_with(sandbox.root()), "{name}");
    }
}

#[test]
fn payload_names_the_sandbox_and_ends_with_one_newline() {
    let story = story(STEP);
    let sandbox = sandbox(&story);
    let step = &story.scenario.steps[0];
    let bytes = sandbox.payload(step);
    assert!(bytes.ends_with(b"}\n"));
    let payload: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(payload["cwd"], sandbox.project().to_str().unwrap());
    assert_eq!(payload["session_id"], sandbox.session_id(step));
    let transcript = payload["transcript_path"].as_str().unwrap();
    assert_eq!(Path::new(transcript), sandbox.transcript(step));
    let slug: String =
        sandbox.project().to_str().unwrap().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    assert!(transcript.contains(&format!("/.claude/projects/{slug}/")), "{transcript}");
    assert_eq!(sandbox.cwd(step), sandbox.project());
}

#[test]
fn truncated_payload_still_ends_with_a_newline() {
    let story = story(&format!("{STEP}fault.truncate_bytes = 5\n"));
    assert_eq!(sandbox(&story).payload(&story.scenario.steps[0]), b"{\"ses\n");
}

#[test]
fn session_ids_are_uuids_that_stay_the_same_between_rounds() {
    let story =
        story(&format!("{STEP}[[step]]\nname = \"two\"\nsession = \"b\"\npayload = 1\nexpect.delivered = \"any\"\n"));
    let first = sandbox(&story);
    let second = Sandbox::create(&story.scenario, &SandboxOptions { round: 1, ..options() }).unwrap();
    let ids =
        |sandbox: &Sandbox<'_>| story.scenario.steps.iter().map(|step| sandbox.session_id(step)).collect::<Vec<_>>();
    assert_eq!(ids(&first), ids(&second));
    assert_ne!(first.root(), second.root());
    let id = &ids(&first)[0];
    assert_ne!(id, &ids(&first)[1]);
    let lengths: Vec<usize> = id.split('-').map(str::len).collect();
    assert_eq!(lengths, [8, 4, 4, 4, 12]);
    assert!(id.as_bytes()[14] == b'5' && b"89ab".contains(&id.as_bytes()[19]), "{id}");
}

#[test]
fn failing_seed_names_command_stderr_and_line() {
    let toml = "[sandbox]\nseed = [\"${HOOK_PROGRAM} ok\", \"echo lost >&2; exit 3\"]\n";
    let story = story(&format!("{toml}{STEP}"));
    let problem = sandbox(&story).seed(&run).unwrap_err();
    for part in ["scenario.toml:6:31", "echo lost", "exited with 3", "stderr: `lost`"] {
        assert!(problem.to_string().contains(part), "{part:?} is not in {problem}");
    }
    assert!(!problem.remedy().is_empty());
}

const GIT_STORY: &str = r#"
[sandbox]
tree = "tree"
[sandbox.git]
origin = "https://example.com/x.git"
worktrees = [{ name = "fix", branch = "fix" }]
branches = [{ name = "old", at = "v1" }]
[[sandbox.git.commit]]
message = "First"
tag = "v1"
[[sandbox.git.commit]]
message = "Second"
files = { "b.txt" = "b" }
delete = ["src/lib.rs"]
[[step]]
name = "one"
payload = 1
expect.delivered = "any"
before = [
    { git_commit = { message = "Third", files = { "c.txt" = "c" }, branch = "topic" } },
    { git_commit = { message = "Third again", files = { "c.txt" = "C" }, amend = true } },
    { git_commit = { message = "Fix", files = { "f.txt" = "f" }, worktree = "fix" } },
    { git_checkout = { at = "v1" } },
    { git_branch = { name = "late", at = "topic" } },
    { git_worktree = { name = "side", branch = "late" } },
]
"#;

#[test]
fn git_recipe_and_later_changes_make_the_same_commits_every_time() {
    let story = story(GIT_STORY);
    let heads = |sandbox: &Sandbox<'_>| {
        let repository = git2::Repository::open(sandbox.project()).unwrap();
        let id = |name: &str| repository.revparse_single(name).unwrap().peel_to_commit().unwrap().id();
        ["main", "topic", "fix", "old", "late", "HEAD"].map(id)
    };
    let first = sandbox(&story);
    first.apply_before(&story.scenario.steps[0], &run).unwrap();
    let second = sandbox(&story);
    second.apply_before(&story.scenario.steps[0], &run).unwrap();
    let ids = heads(&first);
    assert_eq!(ids, heads(&second));
    let [main, topic, fix, old, late, head] = ids;
    assert_eq!((topic, old), (late, head));

    let repository = git2::Repository::open(first.project()).unwrap();
    assert!(repository.head_detached().unwrap());
    let topic = repository.find_commit(topic).unwrap();
    assert_eq!((topic.message().unwrap(), topic.parent_id(0).unwrap()), ("Third again", main));
    assert_eq!(repository.find_commit(fix).unwrap().parent_id(0).unwrap(), main);
    assert_eq!(topic.author().email().unwrap(), "dev@example.com");
    assert!(first.project().join("src/lib.rs").is_file() && !first.project().join("b.txt").exists());
    let side = first.home().join("proj-side");
    assert_eq!(fs::read_to_string(side.join("c.txt")).unwrap(), "C");
    assert_eq!(first.layout.expand("${WORKTREE:side}", "main"), side.to_str().unwrap());
    assert!(git2::Repository::open(&side).unwrap().is_worktree());
}

#[test]
fn recipe_that_cannot_be_followed_names_its_line() {
    let story = story(&format!("[sandbox.git]\ncheckout = \"none\"\n[[sandbox.git.commit]]\nmessage = \"m\"\n{STEP}"));
    let problem = Sandbox::create(&story.scenario, &options()).unwrap_err();
    assert!(problem.to_string().contains("scenario.toml:5:1: cannot make the repository"), "{problem}");
}

#[test]
fn changes_between_steps_are_made_in_order() {
    let before = r#"
before = [
    { transcript_append = "a.jsonl" },
    { transcript_append = "a.jsonl" },
    { write = { path = "d/x.txt", text = "${PROJECT}" } },
    { append = { path = "d/x.txt", text = "!" } },
    { rename = { from = "d/x.txt", to = "e/y.txt" } },
    { symlink = { path = "l", target = "e" } },
    { delete = "d" },
    { copy_tree = "tree" },
    { write = { path = "${TRANSCRIPT_DIR}/subagents/agent-1.jsonl", from = "a.jsonl" } },
    { run = "printf %s \"$HOME\" > home.txt" },
]
"#;
    let story = story(&format!("{STEP}{before}"));
    let sandbox = sandbox(&story);
    let step = &story.scenario.steps[0];
    sandbox.apply_before(step, &run).unwrap();
    let project = sandbox.project().to_str().unwrap().to_owned();
    let line = format!("{{\"cwd\":\"{project}\"}}\n");
    assert_eq!(fs::read_to_string(sandbox.transcript(step)).unwrap(), line.repeat(2));
    assert_eq!(fs::read_to_string(sandbox.project().join("l/y.txt")).unwrap(), format!("{project}!"));
    assert!(!sandbox.project().join("d").exists() && sandbox.project().join("src/lib.rs").is_file());
    let agent = sandbox.transcript(step).with_extension("").join("subagents/agent-1.jsonl");
    assert_eq!(fs::read_to_string(agent).unwrap(), line);
    assert_eq!(fs::read_to_string(sandbox.project().join("home.txt")).unwrap(), sandbox.home().to_str().unwrap());
}

#[test]
fn change_that_cannot_be_made_names_step_line_and_reason() {
    let outside = "is outside the sandbox";
    let cases = [
        ("{ delete = \"none.txt\" }", "cannot delete `none.txt`"),
        ("{ write = { path = \"../../../x\", text = \"\" } }", outside),
        ("{ delete = \"/etc/hosts\" }", outside),
        ("{ git_checkout = { at = \"none\" } }", "cannot check out `none`"),
        ("{ run = \"exit 4\" }", "`exit 4` exited with 4"),
    ];
    for (action, part) in cases {
        let story = story(&format!("{STEP}before = [{action}]\n"));
        let problem = sandbox(&story).apply_before(&story.scenario.steps[0], &run).unwrap_err();
        assert!(problem.to_string().contains(part), "{part:?} is not in {problem}");
        assert!(problem.position().is_some_and(|(line, _)| line >= 6), "{problem}");
    }
}

#[test]
fn writes_in_the_project_are_seen_and_an_index_refresh_is_not() {
    let story = story(GIT_STORY);
    let sandbox = sandbox(&story);
    let before = sandbox.snapshot().unwrap();

    let repository = git2::Repository::open(sandbox.project()).unwrap();
    let mut index = repository.index().unwrap();
    let mut entry = index.get(0).unwrap();
    entry.mtime = git2::IndexTime::new(77, 0);
    index.add(&entry).unwrap();
    index.write().unwrap();
    assert_eq!(before.changes(&sandbox.snapshot().unwrap(), &[]), [] as [&str; 0]);

    fs::write(sandbox.project().join("b.txt"), "B").unwrap();
    fs::write(sandbox.project().join(".git/hooked"), "").unwrap();
    fs::create_dir(sandbox.project().join("notes")).unwrap();
    fs::write(sandbox.project().join("notes/n.txt"), "").unwrap();
    fs::remove_file(sandbox.home().join("proj-fix/b.txt")).unwrap();
    let after = sandbox.snapshot().unwrap();
    let expected =
        ["${WORKTREE:fix}/b.txt removed", ".git/hooked added", "b.txt changed", "notes/ added", "notes/n.txt added"];
    assert_eq!(before.changes(&after, &[]), expected);
    let allowed = ["notes/".to_owned(), "b.txt".to_owned()];
    assert_eq!(before.changes(&after, &allowed), expected[..2]);
}

#[test]
fn file_faults_are_put_in_force_and_taken_back() {
    let fault = r#"
[step.fault]
delete = ["${DATA}/s/*/index"]
cut = ["${DATA}/s/*/journal/*.jsonl"]
corrupt = ["${DATA}/s/*/manifest"]
lock = ["${DATA}/s/*/lock"]
read_only = ["${DATA}/s"]
run = ["touch ran"]
"#;
    let story = story(&format!("{STEP}{fault}"));
    let sandbox = sandbox(&story);
    let store = sandbox.home().join(".local/share/s/p-01");
    fs::create_dir_all(store.join("index")).unwrap();
    fs::create_dir_all(store.join("journal")).unwrap();
    fs::write(store.join("journal/1.jsonl"), "0123456789").unwrap();
    fs::write(store.join("manifest"), "aa").unwrap();
    fs::write(store.join("lock"), "").unwrap();

    let armed = sandbox.arm(&story.scenario.steps[0], &run).unwrap();
    assert_eq!(armed.findings(), []);
    assert!(!store.join("index").exists() && sandbox.project().join("ran").exists());
    assert_eq!(fs::read(store.join("journal/1.jsonl")).unwrap(), b"01234");
    assert_eq!(fs::read(store.join("manifest")).unwrap(), [!b'a'; 2]);
    assert!(store.join("lock").metadata().unwrap().permissions().readonly());
    assert!(fs::File::open(store.join("lock")).unwrap().try_lock().is_err());

    drop(armed);
    assert!(fs::File::open(store.join("lock")).unwrap().try_lock().is_ok());
    assert!(!store.metadata().unwrap().permissions().readonly());
}

#[test]
fn fault_on_nothing_is_a_finding() {
    let story = story(&format!("{STEP}fault.delete = [\"${{DATA}}/none\"]\n"));
    let sandbox = sandbox(&story);
    let findings = sandbox.arm(&story.scenario.steps[0], &run).unwrap().findings();
    assert_eq!(findings.len(), 1);
    assert!(findings[0].message.contains("fault.delete: nothing is at `${DATA}/none`"), "{}", findings[0].message);
}

#[test]
fn scrubbed_text_names_no_place_and_no_id() {
    let toml = "[[scrub]]\npattern = '(\\d+) ms'\nreplace = \"<$1> ms\"\n";
    let story = story(&format!("{toml}{STEP}expect.contains = [\"${{PROJECT}}/a ${{SESSION}}\"]\n"));
    let sandbox = sandbox(&story);
    let step = &story.scenario.steps[0];
    let text =
        format!("{}/a {} {} in 7 ms", sandbox.project().display(), sandbox.session_id(step), sandbox.home().display());
    assert_eq!(sandbox.scrub(step, &text, b""), "${PROJECT}/a ${SESSION} ${HOME} in <7> ms");
    let transcript = sandbox.transcript(step).to_str().unwrap().to_owned();
    assert_eq!(sandbox.scrub(step, &transcript, b""), "${HOME}/.claude/projects/${PROJECT_SLUG}/${SESSION}.jsonl");
    assert!(sandbox.scrub(step, &text, b"").contains(&sandbox.expect(step).contains[0]));
}

/// The text of a call of the only step, scrubbed by these rules.
fn scrubbed(rules: &str, text: &str, stdout: &str) -> String {
    let story = story(&format!("{STEP}scrub = [{rules}]\n"));
    sandbox(&story).scrub(&story.scenario.steps[0], text, stdout.as_bytes())
}

#[test]
fn equal_values_get_equal_numbers_and_each_text_counts_from_one() {
    let (a, b) = ("123e4567-e89b-12d3-a456-426614174000", "00000000-e89b-12d3-a456-426614174000");
    let text = format!("{b}, {a}, {b} at 2026-11-30T19:00:00Z");
    let rules = "{ filter = 'uuid' }, { filter = 'timestamp' }";
    let expected = "[uuid-1], [uuid-2], [uuid-1] at [timestamp-1]";
    assert_eq!(scrubbed(rules, &text, ""), expected);
    let story = story(&format!("{STEP}scrub = [{rules}]\n"));
    let (sandbox, step) = (sandbox(&story), &story.scenario.steps[0]);
    let other = sandbox.scrub(step, a, b"");
    assert_eq!((other.as_str(), sandbox.scrub(step, &text, b"").as_str()), ("[uuid-1]", expected));
}

#[test]
fn custom_pattern_is_numbered_by_its_label() {
    let rules = r"{ pattern = 'T-\d+', label = 'ticket' }";
    assert_eq!(scrubbed(rules, "T-7 T-8 T-7", ""), "[ticket-1] [ticket-2] [ticket-1]");
}

#[test]
fn rule_with_a_field_acts_where_that_field_stands_and_nowhere_else() {
    let answer = r#"{"reason":"took 12 ms","hookSpecificOutput":{"permissionDecisionReason":"in 12 ms at /a/b\n"}}"#;
    let text = "took 12 ms\n\nin 12 ms at /a/b";
    let rules = "{ filter = 'duration', field = '/hookSpecificOutput/permissionDecisionReason' }";
    assert_eq!(scrubbed(rules, text, answer), "took 12 ms\n\nin [duration-1] at /a/b");
    let rules = "{ filter = 'duration', field = '/reason' }, { filter = 'path' }";
    assert_eq!(scrubbed(rules, text, answer), "took [duration-1]\n\nin 12 ms at [path-1]");
    let rules = "{ filter = 'duration', field = '/hookSpecificOutput' }, { filter = 'duration', field = '/no/such' }";
    assert_eq!(scrubbed(rules, text, answer), text);
    assert_eq!(scrubbed("{ filter = 'duration', field = '/reason' }", "took 12 ms", "took 12 ms"), "took 12 ms");
}

#[test]
fn paths_of_the_sandbox_are_no_volatile_paths() {
    let story = story(&format!("{STEP}scrub = [{{ filter = 'path', field = '/reason' }}]\n"));
    let (sandbox, step) = (sandbox(&story), &story.scenario.steps[0]);
    let text = format!("see {}/src/a.rs, not /usr/share/x", sandbox.project().display());
    let answer = serde_json::json!({ "reason": text }).to_string();
    assert_eq!(sandbox.scrub(step, &text, answer.as_bytes()), "see ${PROJECT}/src/a.rs, not [path-1]");
}

#[test]
fn pattern_that_would_backtrack_for_ever_ends() {
    // A backtracking engine needs 2^50,000 steps for the first and 50,000^2 for the second.
    let text = "a".repeat(50_000);
    for pattern in ["(a+)+$b", "(a|aa)+c", "(a*)*b", "(.*)(.*)(.*)x"] {
        let rules = format!("{{ pattern = '{pattern}', replace = '' }}");
        assert_eq!(scrubbed(&rules, &text, ""), text);
    }
}

#[test]
fn expected_text_keeps_the_placeholders_that_it_names() {
    let toml = r"scrub = [{ filter = 'duration' }, { pattern = '(\d+) files', replace = '<$1> files' }]
expect.contains = ['in [duration-1]', '7 files', '3 s']
";
    let story = story(&format!("{STEP}{toml}"));
    let expect = sandbox(&story).expect(&story.scenario.steps[0]);
    assert_eq!(expect.contains, ["in [duration-1]", "<7> files", "3 s"]);
}

#[test]
fn state_check_says_what_was_expected_and_seen() {
    let state = r#"
[[step.state]]
command = "echo hello"
expect_stdout = "hello"
contains = ["ell"]
not_contains = ["bye"]
[[step.state]]
command = "echo a; echo b >&2; exit 3"
expect_stdout = "c"
contains = ["d"]
not_contains = ["a"]
"#;
    let story = story(&format!("{STEP}{state}"));
    let findings = sandbox(&story).check_state(&story.scenario.steps[0], &run);
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].kind, FindingKind::StateCheck);
    let message = &findings[0].message;
    for part in ["expected exit 0, it exited with 3", "stdout `c`", "`d` in stdout", "`a` must not", "stderr: `b`"] {
        assert!(message.contains(part), "{part:?} is not in {message}");
    }
}

#[test]
fn sandbox_is_removed_unless_it_is_kept() {
    let story = story(STEP);
    let gone = sandbox(&story);
    let root = gone.root().to_owned();
    drop(gone);
    assert!(!root.exists());
    let mut kept = sandbox(&story);
    let root = kept.keep();
    drop(kept);
    assert!(root.is_dir());
    fs::remove_dir_all(root).unwrap();
}

#[test]
fn sandbox_can_be_shared_by_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Sandbox<'_>>();
    shared::<Scenario>();
}

#[test]
fn sandbox_that_cannot_be_made_is_a_problem() {
    let story = story(STEP);
    let problem =
        Sandbox::create(&story.scenario, &SandboxOptions { parent: "/none/here".into(), ..options() }).unwrap_err();
    assert!(problem.to_string().contains("/none/here: cannot make the sandbox"), "{problem}");
}
