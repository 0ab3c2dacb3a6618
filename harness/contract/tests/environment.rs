//! The variables of a hook against those that recorded hooks had.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod recording;

use std::collections::BTreeMap;

use hook_contract::{Event, HostProfile, HostSession, environment};

fn session(hook_number: usize) -> HostSession<'static> {
    HostSession {
        session_id: "5e55",
        project_dir: "/home/dev/my_app",
        cwd: "/home/dev/my_app",
        config_dir: "/home/dev/.claude",
        temp_dir: "/tmp",
        entrypoint: "sdk-cli",
        attended: false,
        uid: 1000,
        client_pid: 42,
        effort: Some("high"),
        hook_number,
    }
}

#[test]
fn newer_hosts_set_more() {
    let [old, new] = HostProfile::recorded() else { panic!("two hosts were recorded") };
    let expect_old = [
        ("CLAUDECODE", "1"),
        ("CLAUDE_CODE_CHILD_SESSION", "1"),
        ("CLAUDE_CODE_ENTRYPOINT", "sdk-cli"),
        ("CLAUDE_CODE_SESSION_ID", "5e55"),
        ("CLAUDE_EFFORT", "high"),
        ("CLAUDE_PROJECT_DIR", "/home/dev/my_app"),
    ];
    let got = environment(old, Event::Stop, &session(0));
    assert_eq!(got, expect_old.map(|(name, value)| (name, value.to_owned())));
    let names: Vec<_> = environment(new, Event::Stop, &session(0)).into_iter().map(|(name, _)| name).collect();
    for name in ["CLAUDE_CODE_CHILD_NOTES_DIR", "CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_PID"] {
        assert!(names.contains(&name), "{names:?}");
    }
}

#[test]
fn environment_files_are_named_after_event_and_number() {
    let files = |event| {
        let variables: BTreeMap<_, _> = environment(HostProfile::newest(), event, &session(3)).into_iter().collect();
        variables.get("CLAUDE_ENV_FILE").cloned()
    };
    let start = "/home/dev/.claude/session-env/5e55/sessionstart-hook-3.sh";
    assert_eq!(files(Event::SessionStart).as_deref(), Some(start));
    assert!(files(Event::Setup).is_some() && files(Event::CwdChanged).is_some() && files(Event::FileChanged).is_some());
    assert_eq!(files(Event::Stop), None);
}

const NOTES: &str = "CLAUDE_CODE_CHILD_NOTES_DIR";

#[test]
fn recorded_hooks_had_these_variables() {
    let Some(sessions) = recording::sessions() else { return };
    let mut n_calls = 0;
    for session in &sessions {
        for call in &session.calls {
            let recorded = |name: &str| call.variables.get(name).cloned().unwrap_or_default();
            let id = recorded("CLAUDE_CODE_SESSION_ID");
            let env_file = recorded("CLAUDE_ENV_FILE");
            let host_session = HostSession {
                session_id: &id,
                project_dir: &recorded("CLAUDE_PROJECT_DIR"),
                // The recordings name the folder of their one worktree in two ways.
                cwd: if recorded(NOTES).contains("-home-dev-other") { "/home/dev/other" } else { &call.cwd },
                config_dir: "/home/dev/.claude",
                temp_dir: "/tmp",
                entrypoint: &recorded("CLAUDE_CODE_ENTRYPOINT"),
                attended: false,
                uid: 0,
                client_pid: recorded("CLAUDE_PID").parse().unwrap_or_default(),
                effort: call.effort.as_deref(),
                hook_number: 0,
            };
            let mut expected: BTreeMap<_, _> = environment(session.host, call.event, &host_session)
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect();
            // After a change of the session id the file of the first one stays.
            if !env_file.is_empty() && !env_file.contains(&id) {
                expected.insert("CLAUDE_ENV_FILE".to_owned(), env_file);
            }
            // Set by the driver of the recordings, or for the hooks of a plugin.
            let ours = |name: &str| {
                let others = ["DISABLE_NONESSENTIAL_TRAFFIC", "EXPERIMENTAL_AGENT_TEAMS", "MAX_RETRIES", "PLUGIN_"];
                !others.iter().any(|other| name.contains(other))
            };
            let mut variables = call.variables.clone();
            variables.retain(|name, _| ours(name));
            assert_eq!(variables, expected, "{} {} {}", session.version, session.name, call.event);
            n_calls += 1;
        }
    }
    assert_eq!(n_calls, 1_192, "recorded calls");
}
