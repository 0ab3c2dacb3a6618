//! The command line, as typed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::cmd::compare::CompareArgs;
use crate::cmd::merge::MergeArgs;
use crate::shard::ShardArgs;

/// Replays recorded hook payloads against any hook, as Claude Code would, and judges what comes back.
#[derive(Debug, Parser)]
#[command(name = "hookbench", version, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Replay scenarios against a hook and judge it.
    Run(Box<RunArgs>),
    /// Join saved parts of one run, or saved runs of one plan, and judge the gates over the whole.
    #[command(
        after_help = "A blob is what `hookbench run --out DIR` leaves: DIR, or the file DIR/events.jsonl alone. \
        Times of different machines stay apart; ratios to the no-op are combined by their precision."
    )]
    Merge(MergeArgs),
    /// Say what differs between two saved runs.
    #[command(
        after_help = "Exit codes: 1 when a step that passed fails now, 3 when retrieval got worse by its rules, \
        5 when the runs have no step in common; else 0. Times are shown and never judged."
    )]
    Compare(CompareArgs),
    /// Show what differs from the goldens.
    Review(Selected),
    /// Take the delivered text of the last run as golden.
    Accept(Selected),
    /// Write the report of a saved run again.
    Report(ReportArgs),
    /// Print the JSON Schema of a file format.
    Schema {
        /// Which format.
        #[arg(value_enum)]
        format: Format,
    },
}

/// Which scenarios.
#[derive(Debug, Args)]
pub struct Selected {
    /// Folders, or names below scenarios/ (`*` for any text). Default: all.
    pub scenarios: Vec<String>,
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Folders, or names below scenarios/ (`*` for any text). Default: all.
    pub scenarios: Vec<String>,
    /// Command line of the hook, run by the shell as a settings entry would be. Default: the bundled hookmem, directly.
    #[arg(long, value_name = "CMD")]
    pub hook: Option<String>,
    /// Run the words of --hook directly, without a shell.
    #[arg(long, requires = "hook")]
    pub no_shell: bool,
    /// Repetitions of every scenario; percentiles need several.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub repeat: u32,
    /// Scenarios side by side. With more than one, wall times are disturbed; CPU times are not.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub jobs: u16,
    /// Seed of the order of scenarios in each round.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Client version to play, where a scenario allows it. Default: the newest known.
    #[arg(long, value_name = "VERSION")]
    pub host: Option<String>,
    /// Longest time of a call, in seconds, where the scenario names none; the host's own limit if that is shorter.
    #[arg(long, default_value_t = 30, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=600))]
    pub timeout: u64,
    /// What judges it.
    #[command(flatten)]
    pub gate: GateArgs,
    /// Folder for the saved run. Default: .hookbench/last, replaced by every run.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Go on with the run in this folder, which was stopped: the same flags, and what is whole is kept.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["out", "list"])]
    pub resume: Option<PathBuf>,
    /// Which part of the scenarios.
    #[command(flatten)]
    pub shard: ShardArgs,
    /// Print the summary as JSON instead of tables.
    #[arg(long)]
    pub json: bool,
    /// Write a JUnit report.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write a Markdown report.
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Leave no pending goldens behind; the same as setting CI.
    #[arg(long)]
    pub no_write: bool,
    /// Leave the sandboxes in place and say where they are.
    #[arg(long)]
    pub keep: bool,
    /// Folder that `${CORPORA}` stands for. Default: corpora, beside the scenarios or above.
    #[arg(long, value_name = "DIR")]
    pub corpora: Option<PathBuf>,
    /// List the scenarios with their steps and stop.
    #[arg(long, conflicts_with = "shard")]
    pub list: bool,
}

/// Which gates judge a run.
#[derive(Debug, Args)]
pub struct GateArgs {
    /// A gate, as in hookbench.toml; may be repeated.
    #[arg(long = "gate", value_name = "GATE")]
    pub gates: Vec<String>,
    /// File with gates. Default: hookbench.toml here or in scenarios/, when there is one.
    #[arg(long, value_name = "FILE")]
    pub gates_file: Option<PathBuf>,
    /// Judge no gate, not even those of a file.
    #[arg(long, conflicts_with_all = ["gates", "gates_file"])]
    pub no_gates: bool,
    /// A gate with too little evidence ends the run with code 4.
    #[arg(long)]
    pub strict: bool,
}

/// Arguments of `report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Folder of the saved run.
    #[arg(default_value = ".hookbench/last")]
    pub run: PathBuf,
    /// What to write, on standard output.
    #[arg(long, value_enum, default_value_t = To::Terminal)]
    pub to: To,
    /// Inconclusive gates count for the exit code.
    #[arg(long)]
    pub strict: bool,
}

/// Report formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum To {
    /// Tables.
    Terminal,
    /// The summary.
    Json,
    /// JUnit XML.
    Junit,
    /// Markdown.
    Markdown,
}

/// File formats with a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// scenario.toml
    Scenario,
    /// events.jsonl of a saved run
    Events,
    /// summary.json of a saved run
    Summary,
    /// What `compare --json` prints
    Comparison,
}
