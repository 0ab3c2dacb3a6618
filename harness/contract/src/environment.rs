//! The variables that the host adds to the environment of a command hook.
//!
//! Guarantees the names recorded from each profile's client; values that the host makes up come from [`HostSession`].
//! The hook also inherits the client's own environment, without `OTEL_*`; that is the caller's business. No variable
//! names the model. Two more were seen with 2.1.332 whose values were not recorded and which are left out here:
//! `CLAUDE_CODE_MESSAGING_TOKEN` and `AI_AGENT`.

use crate::event::Event;
use crate::profile::HostProfile;

/// What the values depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostSession<'a> {
    /// The session id.
    pub session_id: &'a str,
    /// The launch folder; it stays when the working directory moves.
    pub project_dir: &'a str,
    /// The folder of the session now, which moves into a worktree.
    pub cwd: &'a str,
    /// The configuration folder of the client, usually `~/.claude`.
    pub config_dir: &'a str,
    /// The folder for temporary files.
    pub temp_dir: &'a str,
    /// `cli`, `sdk-cli`, `sdk-ts` …
    pub entrypoint: &'a str,
    /// Whether somebody sits in front of the client; false for headless runs.
    pub attended: bool,
    /// The user id; part of the name of a temporary folder.
    pub uid: u32,
    /// The process id of the client.
    pub client_pid: u32,
    /// The level of effort that the payload carries, if any.
    pub effort: Option<&'a str>,
    /// The number of the hook within its event, from 0; part of the name of its environment file.
    pub hook_number: usize,
}

/// The variables for one hook call, in order of name.
pub fn environment(host: &HostProfile, event: Event, session: &HostSession<'_>) -> Vec<(&'static str, String)> {
    let HostSession { session_id, project_dir, config_dir, temp_dir, .. } = session;
    let mut variables = vec![
        ("CLAUDECODE", "1".to_owned()),
        ("CLAUDE_CODE_CHILD_SESSION", "1".to_owned()),
        ("CLAUDE_CODE_ENTRYPOINT", session.entrypoint.to_owned()),
        ("CLAUDE_CODE_SESSION_ID", (*session_id).to_owned()),
        ("CLAUDE_PROJECT_DIR", (*project_dir).to_owned()),
    ];
    if host.new_variables {
        let (pid, uid) = (session.client_pid, session.uid);
        let folder = folder_name(session.cwd);
        variables.extend([
            ("CLAUDE_CODE_CHILD_NOTES_DIR", format!("{temp_dir}/claude-{uid}/{folder}/{session_id}/started")),
            ("CLAUDE_CODE_SESSION_ATTENDED", u8::from(session.attended).to_string()),
            ("CLAUDE_PID", pid.to_string()),
        ]);
        // Closed by the time a session ends.
        if event != Event::SessionEnd {
            variables.push(("CLAUDE_CODE_MESSAGING_SOCKET", format!("{temp_dir}/cc-socks/{pid}.sock")));
        }
    }
    let facts = event.facts();
    if let Some(level) = session.effort.filter(|_| facts.sends_effort) {
        variables.push(("CLAUDE_EFFORT", level.to_owned()));
    }
    if facts.gets_env_file {
        let (event, number) = (event.name().to_lowercase(), session.hook_number);
        let file = format!("{config_dir}/session-env/{session_id}/{event}-hook-{number}.sh");
        variables.push(("CLAUDE_ENV_FILE", file));
    }
    variables.sort_unstable();
    variables
}

/// A folder as the host names it inside its own folders: every character that is not a letter or digit is a dash.
///
/// ```
/// assert_eq!(hook_contract::folder_name("/home/dev/my_app"), "-home-dev-my-app");
/// ```
pub fn folder_name(path: &str) -> String {
    path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

/// A command or argument with `${CLAUDE_PROJECT_DIR}` filled in, the one placeholder that the host replaces itself.
/// `None` for a text that names `${CLAUDE_PLUGIN_ROOT}`: outside a plugin the host refuses to run it.
///
/// ```
/// use hook_contract::expand_command;
/// assert_eq!(expand_command("${CLAUDE_PROJECT_DIR}/hook $HOME", "/p").as_deref(), Some("/p/hook $HOME"));
/// assert_eq!(expand_command("${CLAUDE_PLUGIN_ROOT}/hook", "/p"), None);
/// ```
pub fn expand_command(text: &str, project_dir: &str) -> Option<String> {
    (!text.contains("${CLAUDE_PLUGIN_ROOT}")).then(|| text.replace("${CLAUDE_PROJECT_DIR}", project_dir))
}
