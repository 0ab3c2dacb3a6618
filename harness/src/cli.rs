//! The command line, as typed.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use jiff::SignedDuration;

use crate::bench::{Instrument, Pairs};
use crate::cmd::compare::CompareArgs;
use crate::cmd::merge::MergeArgs;
use crate::corpus::synth::{MAX_RECORDS, MIN_RECORDS};
use crate::pace::Pace;
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
    /// Compare a hook with another one in interleaved rounds.
    Bench(Box<BenchArgs>),
    /// Describe this machine, and find out whether gates can be trusted on it.
    Doctor(Box<DoctorArgs>),
    /// Judge a saved run by gates.
    Gate(JudgeArgs),
    /// Show what differs from the goldens; on a terminal, ask what becomes of each.
    Review(ReviewArgs),
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
    /// Take the delivered text of the last run as golden.
    Accept(Goldens),
    /// Throw away the text of the last run that waits beside a golden.
    Reject(Goldens),
    /// Write the report of a saved run again.
    Report(ReportArgs),
    /// Compare memory systems or routing strategies on a corpus with known answers.
    Eval(Box<EvalArgs>),
    /// Make a corpus of memories with questions, or check one.
    #[command(subcommand)]
    Corpus(CorpusCommand),
    /// Print the JSON Schema of a file format.
    Schema {
        /// Which format.
        #[arg(value_enum)]
        format: Format,
    },
    /// Print a shell's completion script.
    Completions {
        /// Which shell.
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Print the manual page, or write one for every command.
    Man {
        /// Folder for the pages of all commands, made when it does not exist.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

/// Which goldens.
#[derive(Debug, Args)]
pub struct Goldens {
    /// Folders, or names below scenarios/ (`*` for any text). Default: all.
    pub scenarios: Vec<String>,
    /// Only steps of this name (`*` for any text); may be repeated.
    #[arg(long = "step", value_name = "GLOB")]
    pub steps: Vec<String>,
}

/// Arguments of `review`.
#[derive(Debug, Args)]
pub struct ReviewArgs {
    /// Which goldens.
    #[command(flatten)]
    pub goldens: Goldens,
    /// Ask, one answer a line on standard input, even when that is no terminal.
    #[arg(long, conflicts_with = "list")]
    pub interactive: bool,
    /// Only print the differences, even on a terminal.
    #[arg(long)]
    pub list: bool,
}

/// What is called with what: alike for every command that calls hooks.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// Folders, or names below scenarios/ (`*` for any text). Default: all.
    pub scenarios: Vec<String>,
    /// Command line of the hook, run by the shell as a settings entry would be; given several times, the hooks of one
    /// event side by side. Default: the bundled hookmem, directly.
    #[arg(long = "hook", value_name = "CMD")]
    pub hooks: Vec<String>,
    /// Settings file of the client: its hooks run where their matchers say so.
    #[arg(long, value_name = "FILE", conflicts_with = "hooks")]
    pub settings: Option<PathBuf>,
    /// Run the words of each --hook directly, without a shell.
    #[arg(long, requires = "hooks")]
    pub no_shell: bool,
    /// Seed of everything random: the order of scenarios in each round, and of the hooks that are compared.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Client version to play, where a scenario allows it. Default: the newest known.
    #[arg(long, value_name = "VERSION")]
    pub host: Option<String>,
    /// Longest time of a call, in seconds, where the scenario names none; the host's own limit if that is shorter.
    #[arg(long, default_value_t = 30, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=600))]
    pub timeout: u64,
    /// Leave no pending goldens behind; the same as setting CI.
    #[arg(long)]
    pub no_write: bool,
    /// Leave the sandboxes in place and say where they are.
    #[arg(long)]
    pub keep: bool,
    /// Folder that `${CORPORA}` stands for. Default: corpora, beside the scenarios or above.
    #[arg(long, value_name = "DIR")]
    pub corpora: Option<PathBuf>,
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

/// Where a run and its reports go.
#[derive(Debug, Args)]
pub struct OutArgs {
    /// Folder for the saved run. Default: .hookbench/last, replaced by every run.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print the summary as JSON instead of tables.
    #[arg(long)]
    pub json: bool,
    /// Write a JUnit report.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write a Markdown report.
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
}

/// How calls are timed and counted beside the usual.
#[derive(Debug, Args)]
pub struct PaceArgs {
    /// Begin calls by schedule, whether the last one has ended or not: `recorded`, or `rate=N` calls a second. Scenarios
    /// follow one another in the order of their names.
    #[arg(long, value_name = "PACE")]
    pub pace: Option<Pace>,
    /// Sandboxes that take turns under --pace; in each, one call at a time.
    #[arg(long, default_value_t = 1, requires = "pace", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub sessions: u16,
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// What is called with what.
    #[command(flatten)]
    pub replay: ReplayArgs,
    /// By which schedule.
    #[command(flatten)]
    pub pace: PaceArgs,
    /// Count the instructions of every step once, with valgrind, apart from all timing.
    #[arg(long)]
    pub instructions: bool,
    /// Repetitions of every scenario; percentiles need several.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub repeat: u32,
    /// Scenarios side by side. With more than one, wall times are disturbed; CPU times are not.
    #[arg(long, default_value_t = 1, conflicts_with = "pace", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub jobs: u16,
    /// What judges it.
    #[command(flatten)]
    pub gate: GateArgs,
    /// Where it goes.
    #[command(flatten)]
    pub out: OutArgs,
    /// Go on with the run in this folder, which was stopped: the same flags, and what is whole is kept.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["out", "list", "pace", "instructions"])]
    pub resume: Option<PathBuf>,
    /// Which part of the scenarios.
    #[command(flatten)]
    pub shard: ShardArgs,
    /// List the scenarios with their steps and stop.
    #[arg(long, conflicts_with = "shard")]
    pub list: bool,
}

/// Arguments of `eval`.
#[derive(Debug, Args)]
pub struct EvalArgs {
    /// Folder of the corpus, see corpora/README.md.
    #[arg(required_unless_present = "repo")]
    pub corpus: Option<PathBuf>,
    /// A git repository instead: a corpus is made of its history first.
    #[arg(long, value_name = "DIR", conflicts_with = "corpus")]
    pub repo: Option<PathBuf>,
    /// A system: a command that reads queries on stdin and prints a TREC run; {corpus}, {k} and {decisions} are filled
    /// in. May be repeated. Default: the bundled hookmem with every routing strategy.
    #[arg(long = "system", value_name = "NAME=CMD")]
    pub systems: Vec<String>,
    /// File with systems and grids of values to try.
    #[arg(long, value_name = "FILE")]
    pub sweep: Option<PathBuf>,
    /// Run that the others are held against. Default: all-segments, else the first.
    #[arg(long, value_name = "NAME")]
    pub against: Option<String>,
    /// Records that a system ranks for a query.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(10..=10_000))]
    pub k: u32,
    /// Longest time of one system, in seconds.
    #[arg(long, default_value_t = 600, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub timeout: u64,
    /// Folder for scores, tables, plots and the answers of finished systems.
    #[arg(long, value_name = "DIR", default_value = ".hookbench/eval")]
    pub out: PathBuf,
    /// Write all scores as a table too, one row a run and query; needs a build with the feature `parquet`.
    #[arg(long, value_name = "FILE")]
    pub parquet: Option<PathBuf>,
    /// Take the answers of systems that finished before.
    #[arg(long)]
    pub resume: bool,
    /// Which part of the questions.
    #[command(flatten)]
    pub shard: ShardArgs,
    /// Print the report as JSON.
    #[arg(long, conflicts_with = "markdown")]
    pub json: bool,
    /// Print the report as Markdown.
    #[arg(long)]
    pub markdown: bool,
}

/// What to do with a corpus.
#[derive(Debug, Subcommand)]
pub enum CorpusCommand {
    /// Invent one of any size, from a seed.
    Synth(SynthArgs),
    /// Make one of a git history: what was changed becomes memory, what was changed later asks.
    FromGit(FromGitArgs),
    /// Make one of a memory store, from what `hookmem export` prints: some memories are held out and asked for.
    FromStore(FromStoreArgs),
    /// Check that the files of one fit together.
    Check {
        /// Folder of the corpus.
        corpus: PathBuf,
        /// Print what was found as JSON.
        #[arg(long)]
        json: bool,
    },
}

/// Arguments of `corpus synth`.
#[derive(Debug, Args)]
pub struct SynthArgs {
    /// Folder for the corpus; it must be empty or not exist.
    pub out: PathBuf,
    /// Memories to invent.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(MIN_RECORDS..=MAX_RECORDS))]
    pub records: u64,
    /// Questions to ask; a fifth has no answer.
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u64).range(5..=100_000))]
    pub queries: u64,
    /// Seed of everything.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Projects that share the memories.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    pub projects: u64,
}

/// Arguments of `corpus from-git`.
#[derive(Debug, Args)]
pub struct FromGitArgs {
    /// A git repository, or a folder in one.
    pub repository: PathBuf,
    /// Folder for the corpus; it must be empty or not exist.
    pub out: PathBuf,
    /// Name of the project in the corpus. Default: the name of the repository's folder.
    #[arg(long)]
    pub name: Option<String>,
    /// Questions with an answer to look for; a short history has fewer.
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u64).range(6..=10_000))]
    pub queries: u64,
    /// Commits to read, newest first.
    #[arg(long, default_value_t = 20_000)]
    pub max_commits: usize,
}

/// Arguments of `corpus from-store`.
#[derive(Debug, Args)]
pub struct FromStoreArgs {
    /// Folder for the corpus; it must be empty or not exist.
    pub out: PathBuf,
    /// File with the output of `hookmem export`. Default: standard input.
    #[arg(long, value_name = "FILE")]
    pub rows: Option<PathBuf>,
    /// Most memories to hold out.
    #[arg(long, default_value = "100")]
    pub queries: NonZeroUsize,
}

/// Arguments of `bench`.
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// What is called with what.
    #[command(flatten)]
    pub replay: ReplayArgs,
    /// What to compare with: the command line of another hook, run as that of --hook is; the same hook at a git revision,
    /// `rev:REV`; or a saved run, `run:DIR`, whose times can only warn.
    #[arg(long, value_name = "CMD|rev:REV|run:DIR", required_unless_present = "pace", conflicts_with = "pace")]
    pub baseline: Option<String>,
    /// Command that builds the hook of a revision, run in its work tree. Default: a release build, where there is a
    /// Cargo.toml and the hook is not a file of the repository.
    #[arg(long, value_name = "CMD", requires = "baseline")]
    pub build: Option<String>,
    /// By which schedule, in place of a comparison.
    #[command(flatten)]
    pub pace: PaceArgs,
    /// Which part of the scenarios.
    #[command(flatten)]
    pub shard: ShardArgs,
    /// Warm rounds, each a pair of calls of every step: `auto` measures until the gates against the baseline are
    /// precise enough, whichever way they point.
    #[arg(long, default_value = "auto", value_name = "auto|N")]
    pub pairs: Pairs,
    /// Longest time to measure, such as `90s` or `10m`; a confirmation may take as long again.
    #[arg(long, default_value = "10m", value_name = "TIME", value_parser = crate::cli::duration)]
    pub max_time: Duration,
    /// Rows of the comparison; `instr` counts instructions too, which needs valgrind.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "wall,cpu,mem")]
    pub instruments: Vec<Instrument>,
    /// What judges it. Default, when no gate compares with the baseline: CPU under +10 %, and wall under +25 % as a
    /// warning.
    #[command(flatten)]
    pub gate: GateArgs,
    /// Where it goes.
    #[command(flatten)]
    pub out: OutArgs,
}

/// Arguments of `doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// What is called with what. Default: a hook and a scenario that hookbench brings along.
    #[command(flatten)]
    pub replay: ReplayArgs,
    /// Also find out whether gates can be trusted here: equal hooks must not fail, a slower one must, and neither may
    /// a hook that says nothing pass the goldens.
    #[arg(long)]
    pub self_test: bool,
    /// Comparisons of the hook with itself.
    #[arg(long, default_value_t = 20, requires = "self_test", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub trials: u32,
    /// Longest time of the self-test, such as `90s` or `10m`; fewer trials are made when it ends.
    #[arg(long, default_value = "10m", value_name = "TIME", value_parser = crate::cli::duration)]
    pub max_time: Duration,
    /// Calls that the launcher's cost is measured with, and as many of a bare spawn and wait.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(20..=100_000))]
    pub calls: u32,
    /// Write raw rounds of baseline, candidate, slowed candidate and no-op as JSON lines.
    #[arg(long, value_name = "FILE", requires = "self_test")]
    pub save_rounds: Option<PathBuf>,
    /// Rounds to write.
    #[arg(long, default_value_t = 1_000, requires = "save_rounds", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub rounds: u32,
    /// Print everything as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `gate`.
#[derive(Debug, Args)]
pub struct JudgeArgs {
    /// Folder of the saved run.
    #[arg(default_value = ".hookbench/last")]
    pub run: PathBuf,
    /// A gate, as in hookbench.toml; may be repeated.
    #[arg(long = "gate", value_name = "GATE")]
    pub gates: Vec<String>,
    /// File with gates. Default: hookbench.toml here or in scenarios/, when there is one. Without any gate, the run is
    /// judged by its own again.
    #[arg(long, value_name = "FILE")]
    pub gates_file: Option<PathBuf>,
    /// A gate with too little evidence ends with code 4.
    #[arg(long)]
    pub strict: bool,
    /// Print the summary with the gates as JSON instead of a table.
    #[arg(long)]
    pub json: bool,
}

/// Longest time that a flag takes: far above any use, and far below what clocks can count to.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 3_600);

/// A time such as `90s`, `10m` or `1h 30m`, above zero and up to a year.
///
/// # Errors
/// A sentence for the user.
pub fn duration(text: &str) -> Result<Duration, String> {
    let time = text.parse::<SignedDuration>().ok().and_then(|time| Duration::try_from(time).ok());
    time.filter(|time| !time.is_zero() && *time <= LONGEST)
        .ok_or_else(|| "write a time such as `90s` or `10m`, up to a year (8784h)".to_owned())
}

/// Arguments of `report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Folder of the saved run.
    #[arg(default_value = ".hookbench/last")]
    pub run: PathBuf,
    /// What to write.
    #[arg(long, value_enum, default_value_t = To::Terminal)]
    pub to: To,
    /// Where to write it. Default: standard output.
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
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
    /// One self-contained page.
    Html,
    /// Markdown under the limit of a GitHub job summary.
    GithubSummary,
    /// Workflow commands of GitHub Actions, at most 10.
    GithubAnnotations,
    /// Bencher Metric Format (JSON).
    Bmf,
    /// JSON for github-action-benchmark, customSmallerIsBetter.
    GithubActionBenchmark,
    /// TREC run of the labelled steps.
    TrecRun,
    /// TREC relevance judgements of the labelled steps.
    TrecQrels,
    /// Table of all calls; needs --output and a build with the feature `parquet`.
    Parquet,
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
    /// scores.jsonl of an evaluation
    Scores,
    /// evaluation.json of an evaluation
    Evaluation,
    /// What `doctor --json` prints
    Doctor,
    /// What `compare --json` prints
    Comparison,
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn every_time_that_is_taken_can_be_waited_for() {
        let longest = duration("8784h");
        assert_eq!(longest, Ok(LONGEST));
        assert!(Instant::now().checked_add(LONGEST * 1_000).is_some());
        assert_eq!(duration("1h 30m"), Ok(Duration::from_secs(5_400)));
        for wrong in ["", "0s", "-1s", "10", "8785h", "2562047788015215h", "9223372036854775807s", "1y"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
