//! Settings of the memory layer: defaults, `config.toml` in the store's root, and a few environment variables.
//!
//! Reading never fails a call: [`Config::load`] gives the settings and, beside them, what is wrong with the
//! file, with line and remedy. A value out of range keeps its default; a file with an unknown key or a wrong
//! type is named and not used. The environment is looked at here and nowhere else in the crate.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use crate::route::Routing;

/// No event may inject more UTF-16 units than this, whatever is configured: the host's cap is 10,000.
pub const BUDGET_CEILING_UTF16: usize = 9_500;

/// A deadline below this would turn memory off without saying so.
const LEAST_DEADLINE_MS: u64 = 20;

/// What the process's environment says; taken once, so that tests can make their own.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// `HOOKMEM_STORE`, else the platform's data folder with `hookmem` in it; `None` without a home.
    pub store_root: Option<PathBuf>,
    /// The user's home folder.
    pub home: Option<PathBuf>,
    /// `CLAUDE_PROJECT_DIR`.
    pub project_dir: Option<PathBuf>,
    /// `CLAUDE_CODE_ENTRYPOINT`.
    pub entrypoint: Option<String>,
    /// `HOOKMEM_DISABLE` is set to something other than nothing, `0` or `false`.
    pub disabled: bool,
    /// `HOOKMEM_TIMINGS` is set: a line of stage timings goes to stderr.
    pub timings: bool,
    /// `HOOKBENCH_INSTRUCTIONS` is set: instructions are being counted, which makes everything some fifty times slower, so
    /// limits of time are a hundred times longer.
    pub counted: bool,
}

impl Environment {
    /// A limit of time, as long as the way in which the process is watched needs it.
    pub fn limit(&self, limit: Duration) -> Duration {
        if self.counted { limit.saturating_mul(100) } else { limit }
    }

    /// Reads the process's environment.
    pub fn read() -> Environment {
        Environment::from_lookup(|name| std::env::var_os(name))
    }

    /// Reads an environment given by a function, for tests.
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<OsString>) -> Environment {
        let path = |name| lookup(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let switch = |name| lookup(name).is_some_and(|value| !matches!(value.to_str(), Some("" | "0" | "false")));
        let home = path("HOME").filter(|home| home.is_absolute());
        let data = path("XDG_DATA_HOME").filter(|dir| dir.is_absolute());
        let store_root = path("HOOKMEM_STORE").filter(|dir| dir.is_absolute()).or_else(|| {
            data.or_else(|| home.as_ref().map(|home| home.join(platform_data_folder()))).map(|dir| dir.join("hookmem"))
        });
        Environment {
            store_root,
            home,
            project_dir: path("CLAUDE_PROJECT_DIR"),
            entrypoint: lookup("CLAUDE_CODE_ENTRYPOINT").and_then(|value| value.into_string().ok()),
            disabled: switch("HOOKMEM_DISABLE"),
            timings: switch("HOOKMEM_TIMINGS"),
            counted: switch("HOOKBENCH_INSTRUCTIONS"),
        }
    }
}

fn platform_data_folder() -> &'static str {
    if cfg!(target_os = "macos") { "Library/Application Support" } else { ".local/share" }
}

/// All settings, in effect.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Most UTF-16 units injected per event.
    pub budgets: Budgets,
    /// Recall settings.
    pub recall: Recall,
    /// Capture settings.
    pub capture: Capture,
    /// What is kept.
    pub retention: Retention,
    /// Time a recall may take.
    pub recall_deadline: Duration,
    /// Time a capture may take.
    pub capture_deadline: Duration,
    /// `CLAUDE_CODE_ENTRYPOINT` values of sessions that are somebody's program, not a person's work.
    pub ignored_entrypoints: Vec<String>,
}

/// Most UTF-16 units injected per event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budgets {
    /// SessionStart.
    pub session_start: usize,
    /// UserPromptSubmit.
    pub user_prompt_submit: usize,
    /// UserPromptExpansion.
    pub user_prompt_expansion: usize,
    /// PreToolUse.
    pub pre_tool_use: usize,
    /// PostToolUse.
    pub post_tool_use: usize,
    /// SubagentStart.
    pub subagent_start: usize,
}

/// Recall settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Recall {
    /// Items injected at most.
    pub max_items: usize,
    /// Items shown at most when a session starts.
    pub session_start_items: usize,
    /// Bytes of one item's excerpt.
    pub excerpt_bytes: usize,
    /// Lines of one item's excerpt.
    pub excerpt_lines: usize,
    /// Name of the routing strategy.
    pub strategy: String,
    /// Sessions a query is routed to.
    pub query_top_n: usize,
    /// Relevance below which nothing is injected; `None` takes the ranker's default.
    pub threshold: Option<f32>,
}

/// Capture settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capture {
    /// A capture that fails ends with exit code 1 and a line on stderr.
    pub strict: bool,
    /// Bytes of transcript read first.
    pub tail_bytes: u64,
    /// Bytes of transcript read when the first tail holds no message.
    pub tail_max_bytes: u64,
    /// Bytes of one memory's content.
    pub content_bytes: usize,
}

/// What is kept, newest first; `0` means without limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Days.
    pub max_age_days: u64,
    /// Memories per project.
    pub max_records: u64,
    /// Bytes of journal per project.
    pub max_bytes: u64,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            budgets: Budgets {
                session_start: 4_000,
                user_prompt_submit: 3_000,
                user_prompt_expansion: 3_000,
                pre_tool_use: 1_500,
                post_tool_use: 1_500,
                subagent_start: 3_000,
            },
            recall: Recall {
                max_items: 3,
                session_start_items: 6,
                excerpt_bytes: 800,
                excerpt_lines: 3,
                strategy: Routing::BestRecord.name().to_owned(),
                query_top_n: Routing::BestRecord.default_top_n(),
                threshold: None,
            },
            capture: Capture {
                strict: false,
                tail_bytes: 256 * 1024,
                tail_max_bytes: 4 * 1024 * 1024,
                content_bytes: 4 * 1024,
            },
            retention: Retention { max_age_days: 0, max_records: 200_000, max_bytes: 512 * 1024 * 1024 },
            recall_deadline: Duration::from_millis(250),
            capture_deadline: Duration::from_millis(1_000),
            ignored_entrypoints: vec!["sdk-ts".to_owned(), "sdk-py".to_owned()],
        }
    }
}

/// One thing wrong with the settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigProblem {
    /// The file.
    pub path: PathBuf,
    /// Line in the file, from 1; 0 when the file could not be read.
    pub line: usize,
    /// What is wrong and what to do.
    pub message: String,
}

impl std::fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}", self.path.display(), self.line, self.message)
    }
}

/// The file as written; every key may be missing.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ConfigFile {
    budgets: BudgetsFile,
    recall: RecallFile,
    capture: CaptureFile,
    retention: RetentionFile,
    deadline: DeadlineFile,
    ignore: IgnoreFile,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct BudgetsFile {
    session_start: Option<usize>,
    user_prompt_submit: Option<usize>,
    user_prompt_expansion: Option<usize>,
    pre_tool_use: Option<usize>,
    post_tool_use: Option<usize>,
    subagent_start: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RecallFile {
    max_items: Option<usize>,
    session_start_items: Option<usize>,
    excerpt_bytes: Option<usize>,
    excerpt_lines: Option<usize>,
    strategy: Option<String>,
    query_top_n: Option<usize>,
    threshold: Option<f32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct CaptureFile {
    strict: Option<bool>,
    tail_bytes: Option<u64>,
    tail_max_bytes: Option<u64>,
    content_bytes: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RetentionFile {
    max_age_days: Option<u64>,
    max_records: Option<u64>,
    max_bytes: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct DeadlineFile {
    recall_ms: Option<u64>,
    capture_ms: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct IgnoreFile {
    entrypoints: Option<Vec<String>>,
}

impl Config {
    /// The settings of a store, and what is wrong with its file.
    pub fn load(store_root: &Path) -> (Config, Vec<ConfigProblem>) {
        let path = store_root.join("config.toml");
        match std::fs::read_to_string(&path) {
            Ok(text) => Config::parse(&text, &path),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => (Config::default(), Vec::new()),
            Err(error) => {
                let message = format!("cannot be read ({error}); defaults are in effect");
                (Config::default(), vec![ConfigProblem { path, line: 0, message }])
            }
        }
    }

    /// Reads settings from text; `path` is named in the problems.
    pub fn parse(text: &str, path: &Path) -> (Config, Vec<ConfigProblem>) {
        let mut config = Config::default();
        let mut problems = Vec::new();
        match toml::from_str::<ConfigFile>(text) {
            Ok(file) => {
                for (key, message) in config.apply(file) {
                    let line = text.lines().position(|line| line.trim_start().starts_with(key)).map_or(0, |at| at + 1);
                    problems.push(ConfigProblem { path: path.to_path_buf(), line, message });
                }
            }
            Err(error) => {
                let line =
                    error.span().map_or(0, |span| text.get(..span.start).unwrap_or("").matches('\n').count() + 1);
                let message = format!("{}; all defaults are in effect until this is mended", error.message().trim());
                problems.push(ConfigProblem { path: path.to_path_buf(), line, message });
            }
        }
        (config, problems)
    }

    /// Takes over the values of a file; returns the keys whose values were refused.
    fn apply(&mut self, file: ConfigFile) -> Vec<(&'static str, String)> {
        let mut refused = Vec::new();
        // Each strategy has a number of segments that suits it, unless the file says how many.
        if let Some(routing) = file.recall.strategy.as_deref().and_then(Routing::parse) {
            self.recall.query_top_n = routing.default_top_n();
        }
        let mut take =
            |key: &'static str, value: Option<usize>, least: usize, most: usize, slot: &mut usize| match value {
                Some(value) if (least..=most).contains(&value) => *slot = value,
                Some(value) => {
                    refused.push((key, format!("{key} = {value} is outside {least}..={most}; the default is used")));
                }
                None => {}
            };
        let (budgets, ceiling) = (&mut self.budgets, BUDGET_CEILING_UTF16);
        take("session_start", file.budgets.session_start, 0, ceiling, &mut budgets.session_start);
        take("user_prompt_submit", file.budgets.user_prompt_submit, 0, ceiling, &mut budgets.user_prompt_submit);
        take(
            "user_prompt_expansion",
            file.budgets.user_prompt_expansion,
            0,
            ceiling,
            &mut budgets.user_prompt_expansion,
        );
        take("pre_tool_use", file.budgets.pre_tool_use, 0, ceiling, &mut budgets.pre_tool_use);
        take("post_tool_use", file.budgets.post_tool_use, 0, ceiling, &mut budgets.post_tool_use);
        take("subagent_start", file.budgets.subagent_start, 0, ceiling, &mut budgets.subagent_start);
        take("max_items", file.recall.max_items, 0, 50, &mut self.recall.max_items);
        take("excerpt_bytes", file.recall.excerpt_bytes, 40, 4_000, &mut self.recall.excerpt_bytes);
        take("excerpt_lines", file.recall.excerpt_lines, 1, 40, &mut self.recall.excerpt_lines);
        take("query_top_n", file.recall.query_top_n, 1, 10_000, &mut self.recall.query_top_n);
        take("content_bytes", file.capture.content_bytes, 256, 64 * 1024, &mut self.capture.content_bytes);
        take("session_start_items", file.recall.session_start_items, 0, 50, &mut self.recall.session_start_items);
        match file.recall.strategy {
            Some(name) if Routing::parse(&name).is_some() => self.recall.strategy = name,
            Some(name) => {
                let known: Vec<&str> = Routing::all().map(Routing::name).collect();
                refused.push((
                    "strategy",
                    format!("strategy = {name:?} is none of {}; the default is used", known.join(", ")),
                ));
            }
            None => {}
        }
        match file.recall.threshold {
            Some(value) if value.is_finite() => self.recall.threshold = Some(value),
            Some(value) => {
                refused.push(("threshold", format!("threshold = {value} is no number; the default is used")));
            }
            None => {}
        }
        self.capture.strict = file.capture.strict.unwrap_or(self.capture.strict);
        self.capture.tail_bytes = file.capture.tail_bytes.unwrap_or(self.capture.tail_bytes);
        self.capture.tail_max_bytes = file.capture.tail_max_bytes.unwrap_or(self.capture.tail_max_bytes);
        self.retention.max_age_days = file.retention.max_age_days.unwrap_or(self.retention.max_age_days);
        self.retention.max_records = file.retention.max_records.unwrap_or(self.retention.max_records);
        self.retention.max_bytes = file.retention.max_bytes.unwrap_or(self.retention.max_bytes);
        let deadlines = [
            ("recall_ms", file.deadline.recall_ms, &mut self.recall_deadline),
            ("capture_ms", file.deadline.capture_ms, &mut self.capture_deadline),
        ];
        for (key, value, slot) in deadlines {
            match value {
                Some(ms) if ms >= LEAST_DEADLINE_MS => *slot = Duration::from_millis(ms),
                Some(ms) => {
                    refused.push((key, format!("{key} = {ms} is below {LEAST_DEADLINE_MS}; the default is used")));
                }
                None => {}
            }
        }
        if let Some(names) = file.ignore.entrypoints {
            // An empty name would be every session that does not name its entry point.
            self.ignored_entrypoints = names.into_iter().filter(|name| !name.is_empty()).collect();
        }
        refused
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    #[test]
    fn unknown_key_is_named_with_its_line() {
        let (config, problems) = Config::parse("[recall]\nmax_items = 2\nmax_itmes = 3\n", Path::new("config.toml"));
        assert_eq!(config, Config::default());
        let problem = problems.first().unwrap().to_string();
        assert!(problem.starts_with("config.toml:3: unknown field `max_itmes`"), "{problem}");
    }

    #[test]
    fn budget_above_the_ceiling_is_refused_and_one_at_it_taken() {
        let text = "[budgets]\nsession_start = 9500\npre_tool_use = 9501\n";
        let (config, problems) = Config::parse(text, Path::new("c"));
        assert_eq!((config.budgets.session_start, config.budgets.pre_tool_use), (9_500, 1_500));
        assert_eq!(problems.iter().map(|p| p.line).collect::<Vec<_>>(), [3]);
    }

    #[test]
    fn values_that_would_turn_memory_off_keep_their_defaults_and_are_named() {
        let text =
            "[recall]\nstrategy = \"x\"\nthreshold = nan\n[deadline]\nrecall_ms = 0\n[ignore]\nentrypoints = [\"\"]\n";
        let (config, problems) = Config::parse(text, Path::new("c"));
        assert_eq!(problems.iter().map(|problem| problem.line).collect::<Vec<_>>(), [2, 3, 5]);
        assert_eq!(config, Config { ignored_entrypoints: Vec::new(), ..Config::default() });
    }

    #[test]
    fn strategy_brings_its_number_of_sessions_unless_the_file_says_another() {
        let of = |text: &str| {
            let recall = Config::parse(text, Path::new("c")).0.recall;
            (recall.strategy, recall.query_top_n)
        };
        assert_eq!(of(""), ("best-record".to_owned(), 5));
        let mission = "[recall]\nstrategy = \"local-distinctiveness\"\n";
        assert_eq!(of(mission), ("local-distinctiveness".to_owned(), 3));
        assert_eq!(of(&format!("{mission}query_top_n = 7\n")), ("local-distinctiveness".to_owned(), 7));
    }

    #[test]
    fn limits_are_longer_only_while_instructions_are_counted() {
        let limit = |value: &str| {
            let environment = Environment::from_lookup(|name| (name == "HOOKBENCH_INSTRUCTIONS").then(|| value.into()));
            environment.limit(Duration::from_millis(250))
        };
        assert_eq!([limit("1"), limit("0")], [Duration::from_secs(25), Duration::from_millis(250)]);
    }

    #[test]
    fn environment_without_home_has_no_store() {
        assert_eq!(Environment::from_lookup(|_| None).store_root, None);
        let xdg = Environment::from_lookup(|name| (name == "XDG_DATA_HOME").then(|| "/data".into()));
        assert_eq!(xdg.store_root, Some(PathBuf::from("/data/hookmem")));
        let relative = Environment::from_lookup(|name| (name == "HOOKMEM_STORE").then(|| "rel".into()));
        assert_eq!(relative.store_root, None);
    }
}
