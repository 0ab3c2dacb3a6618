//! A recall reads: nothing of the store changes but the session's own file, no process and no thread is started.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]
#![expect(unsafe_code, reason = "limits of a child process have no safe interface in std")]

mod world;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use world::{World, changed, tree};

const ASK: &str = "why do we renew the lease at a third of its duration, and who renews the lease?";

/// Payloads of every recalling event. `found` says whether the store knows something about it, `kept` whether the
/// session must remember it in any case.
fn payloads(world: &World, project: &Path) -> Vec<(&'static str, Value, bool, bool)> {
    let file = project.join("crates/queue/src/lease.rs");
    let edit = |path: PathBuf| json!({"file_path": path, "old_string": "zzz", "new_string": "yyy"});
    let output = |text: &str| json!({"stdout": text, "stderr": ""});
    let cases: [(&str, &str, Value, bool, bool); 14] = [
        ("start", "SessionStart", json!({"source": "startup"}), true, false),
        ("resume", "SessionStart", json!({"source": "resume"}), false, false),
        ("prompt", "UserPromptSubmit", json!({"prompt": ASK}), true, true),
        ("off topic", "UserPromptSubmit", json!({"prompt": "what is the capital of Norway?"}), false, true),
        ("empty", "UserPromptSubmit", json!({"prompt": ""}), false, false),
        (
            "expansion",
            "UserPromptExpansion",
            json!({"prompt": ASK, "command_name": "explain", "command_args": ASK, "expansion_type": "slash_command"}),
            true,
            false,
        ),
        (
            "expansion off topic",
            "UserPromptExpansion",
            json!({"prompt": "/x", "command_name": "x", "command_args": "", "expansion_type": "slash_command"}),
            false,
            false,
        ),
        (
            "edit",
            "PreToolUse",
            json!({"tool_name": "Edit", "tool_input": edit(file), "tool_use_id": "t1"}),
            true,
            false,
        ),
        (
            "edit elsewhere",
            "PreToolUse",
            json!({"tool_name": "Edit", "tool_input": edit(project.join("zzz/yyy.txt")), "tool_use_id": "t2"}),
            false,
            false,
        ),
        (
            "agent",
            "PreToolUse",
            json!({"tool_name": "Agent", "tool_use_id": "t3",
            "tool_input": {"subagent_type": "Explore", "description": "qqq", "prompt": "qqq www"}}),
            false,
            true,
        ),
        (
            "output",
            "PostToolUse",
            json!({"tool_name": "Bash", "tool_use_id": "t4", "tool_input": {"command": "cargo test lease"},
            "tool_response": output(&format!("{ASK} lease renewal timer thread worker stalls"))}),
            true,
            false,
        ),
        (
            "output off topic",
            "PostToolUse",
            json!({"tool_name": "Bash", "tool_use_id": "t5",
            "tool_input": {"command": "true"}, "tool_response": output("ok")}),
            false,
            false,
        ),
        ("sub-agent", "SubagentStart", json!({"agent_id": "a1", "agent_type": "Explore"}), false, false),
        ("clear", "SessionStart", json!({"source": "clear"}), true, true),
    ];
    cases
        .into_iter()
        .map(|(name, event, fields, found, kept)| {
            (name, world.session(name, project).payload(event, fields), found, kept)
        })
        .collect()
}

#[test]
fn recall_changes_no_byte_of_the_store_but_its_sessions_file() {
    let world = World::new();
    let project = world.repository("work/proj");
    world.seed_tiny(&project);
    world.on(&project, &["compact"]).ok();
    // A part of the store is not folded, so that there would be something to tidy.
    world.session("before", &project).turn("renew the lease", "Decided to renew it earlier, because clocks drift.");
    for round in 0..2 {
        for (name, payload, found, kept) in payloads(&world, &project) {
            let (store, everything) = (tree(&world.store()), tree(&world.path("")));
            let ran = world.hook(&payload);
            assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{name}");
            if round == 0 {
                assert_eq!(!ran.stdout.is_empty(), found, "{name}: {}", ran.stdout);
            }
            let mut paths: BTreeSet<PathBuf> = changed(&store, &tree(&world.store())).into_iter().collect();
            let sessions = world.project_store().strip_prefix(world.store()).unwrap().join("sessions");
            // A new file changes the time of its folder.
            paths.remove(&sessions);
            let of_session = paths.iter().filter(|path| path.starts_with(&sessions)).count();
            assert_eq!(of_session, paths.len(), "{name}: {paths:?}");
            assert!(of_session <= 1, "{name}: {paths:?}");
            if round == 0 {
                assert_eq!(of_session == 1, found || kept, "{name}: {paths:?}");
            }
            let elsewhere = changed(&everything, &tree(&world.path(""))).len();
            assert!(elsewhere <= 2, "{name}");
        }
    }
}

#[test]
fn question_in_an_unknown_project_makes_no_store() {
    let world = World::bare();
    let project = world.repository("work/proj");
    let before = tree(&world.path(""));
    for (name, payload, _, kept) in payloads(&world, &project) {
        if !kept && name != "empty" {
            world.hook(&payload).silent();
        }
    }
    let mut paths = changed(&before, &tree(&world.path("")));
    // The host's own folder, made by the test.
    paths.retain(|path| !path.starts_with("home/.claude") && path != Path::new("home"));
    assert_eq!(paths, Vec::<PathBuf>::new());
    assert!(!world.store().exists());
}

/// Makes `command` run as a user who may start nothing: neither a process nor a thread.
fn alone(command: &mut Command) -> &mut Command {
    // SAFETY: only async-signal-safe calls between fork and exec.
    unsafe {
        command.pre_exec(|| {
            if libc::geteuid() == 0 && (libc::setgid(65_534) != 0 || libc::setuid(65_534) != 0) {
                return Err(std::io::Error::last_os_error());
            }
            let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            if libc::setrlimit(libc::RLIMIT_NPROC, &raw const none) != 0 {
                return Err(std::io::Error::last_os_error());
            }
            Ok(())
        })
    }
}

fn give_away(root: &Path) {
    // SAFETY: a plain call.
    if unsafe { libc::geteuid() } != 0 {
        return;
    }
    for path in tree(root).keys() {
        std::os::unix::fs::lchown(root.join(path), Some(65_534), Some(65_534)).unwrap();
    }
}

#[test]
fn hook_starts_no_process_and_no_thread() {
    let world = World::new();
    let project = world.repository("work/proj");
    world.seed_tiny(&project);
    let program = world.path("hookmem");
    fs::copy(world::PROGRAM, &program).unwrap();
    let calls = payloads(&world, &project);
    give_away(&world.path(""));
    // The limit bites: a shell cannot start anything under it.
    let shell = alone(Command::new("/bin/sh").args(["-c", "/bin/true & wait; /bin/true; echo started"])).output();
    if shell.is_ok_and(|shell| String::from_utf8_lossy(&shell.stdout).contains("started")) {
        use std::io::Write;
        let _ = writeln!(std::io::stdout(), "skipped: this system does not keep a limit on processes");
        return;
    }
    let run = |payload: &Value| {
        use std::io::Write;
        let mut command = Command::new(&program);
        command.arg("hook").env_clear().envs(&world.env).current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = alone(&mut command).spawn().unwrap();
        child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
        world::finish(child)
    };
    for (name, payload, found, _) in &calls {
        let ran = run(payload);
        assert_eq!(
            (ran.code, ran.stderr.as_str(), !ran.stdout.is_empty()),
            (Some(0), "", *found),
            "{name}: {}",
            world.log()
        );
    }
    for n in 0..3 {
        let mut session = world.session("capture", &project);
        session.prompt_payload("renew the lease");
        run(&session.stop_payload(&format!("Decided to renew it {n} times, because clocks drift."))).silent();
        run(&session.payload("SessionEnd", json!({"reason": "other"}))).silent();
    }
    assert_eq!(world.log(), "");
}

#[test]
fn hook_makes_no_clone_call_under_strace() {
    let world = World::new();
    let project = world.repository("work/proj");
    world.seed_tiny(&project);
    let trace = world.path("trace");
    let has_strace = Command::new("strace").args(["-o", "/dev/null", "true"]).stderr(Stdio::null()).status();
    if !has_strace.is_ok_and(|status| status.success()) {
        use std::io::Write;
        let _ = writeln!(std::io::stdout(), "skipped: strace is absent or may not trace");
        return;
    }
    let calls = payloads(&world, &project);
    let mut session = world.session("capture", &project);
    session.prompt_payload("renew the lease");
    let stop = session.stop_payload("Decided to renew it earlier, because clocks drift.");
    for payload in calls.iter().map(|(_, payload, ..)| payload).chain([&stop]) {
        let output = assert_cmd::Command::new("strace")
            .args(["-f", "-o", trace.to_str().unwrap(), "-e", "trace=clone,clone3,fork,vfork,execve,socket,connect"])
            .args([world::PROGRAM, "hook"])
            .env_clear()
            .envs(&world.env)
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .write_stdin(payload.to_string())
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let text = fs::read_to_string(&trace).unwrap();
        let calls: Vec<&str> = text.lines().filter(|line| line.contains('(') && !line.contains("+++")).collect();
        assert!(calls.len() == 1 && calls[0].contains("execve("), "{text}");
    }
}

#[test]
fn field_report_08_hook_carries_no_runtime_no_logger_and_no_network() {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "-p", "hookmem", "-e", "normal", "--offline", "--locked", "--prefix", "none", "--format", "{p}"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let names: BTreeSet<&str> = text.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(names.contains("tantivy") && names.len() > 20, "{names:?}");
    let banned = [
        "tokio",
        "async-std",
        "smol",
        "tracing",
        "tracing-subscriber",
        "env_logger",
        "fern",
        "flexi_logger",
        "log4rs",
        "simple_logger",
        "reqwest",
        "hyper",
        "ureq",
        "openssl-sys",
        "native-tls",
        "curl-sys",
        "candle-core",
        "ort",
        "tch",
    ];
    for crate_name in banned {
        assert!(!names.contains(crate_name), "{crate_name} is linked");
    }
}

#[test]
fn field_report_08_hook_is_a_hook_whatever_stands_behind_it() {
    let world = World::new();
    let project = world.repository("work/proj");
    world.seed_tiny(&project);
    let payload = world.session("a", &project).payload("UserPromptSubmit", json!({"prompt": ASK})).to_string();
    for args in [&["hook", "--help"][..], &["hook", "--version"], &["hook", "-h", "x"], &["hook", "NoSuchEvent"]] {
        let empty = world.command().args(args).write_stdin("").output().unwrap();
        assert!(empty.status.success() && empty.stdout.is_empty() && empty.stderr.is_empty(), "{args:?}: {empty:?}");
    }
    let output = world.command().args(["hook", "--help"]).write_stdin(payload).output().unwrap();
    assert!(output.status.success() && output.stdout.starts_with(b"{\"hookSpecificOutput\""));
}
