//! `hookbench eval`: systems, corpus, evaluation, report.

use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::EvalArgs;
use crate::cmd::corpus::project_name;
use crate::corpus::from_git::{MADE as MADE_OF_GIT, Recipe, from_git};
use crate::corpus::reader::manifest;
use crate::corpus::writer::FILES;
use crate::eval::cache::Cache;
use crate::eval::collection::Collection;
use crate::eval::evaluation::Evaluation;
use crate::eval::file::{EVALUATION_FILE, EvaluationFile};
use crate::eval::saved::{RunScores, Scores};
use crate::eval::system::System;
use crate::eval::{Outcome, Plan, evaluate, parquet, plot, sweep, table};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::hook::quoted;
use crate::interrupt::Interrupt;

/// Questions that are looked for in a repository's history.
const REPO_QUERIES: u64 = 300;
/// Commits of it that are read.
const REPO_COMMITS: usize = 20_000;

/// Runs an evaluation; the report for stdout, and the exit code: 1 when a system had no answer.
///
/// # Errors
/// Mistakes in flags, files or the corpus, and the interrupt; what systems do wrong is in the report.
pub fn eval(args: &EvalArgs, note: &dyn Fn(&str)) -> Result<(String, ExitCode), Failure> {
    let systems = systems(args)?;
    let shard = args.shard.slice(|name| std::env::var(name).ok(), note)?;
    // Created first, so that a file that cannot be written costs nothing.
    let table = args.parquet.as_deref().map(parquet::create).transpose()?;
    check_place(&args.out)?;
    let folder = corpus(args)?;
    let plan = Plan {
        collection: Collection::read(&folder, shard)?,
        systems,
        k: args.k,
        timeout: Duration::from_secs(args.timeout),
        cache: Cache::new(&args.out.join("answers"), args.resume),
        interrupt: Interrupt::from_signals()
            .map_err(|error| Failure::Internal(format!("cannot listen for Ctrl-C: {error}")))?,
    };
    let bar = progress(plan.collection.queries.len() as u64);
    let outcomes = evaluate(&plan, &mut |system, n| {
        bar.set_message(system.to_owned());
        bar.set_position(n);
    });
    bar.finish_and_clear();
    let scores = scores(&plan, outcomes?);
    scores.write(&args.out)?;
    if let Some(table) = table {
        table.write(&scores)?;
    }
    let shape = match (args.json, args.markdown) {
        (true, _) => Shape::Json,
        (false, true) => Shape::Markdown,
        (false, false) => Shape::Terminal,
    };
    report(&scores, args.against.as_deref(), &args.out, shape)
}

/// Finds out before any system runs that nothing could be kept of it.
fn check_place(out: &Path) -> Result<(), Failure> {
    let probe = || fs::create_dir_all(out).and_then(|()| tempfile::tempfile_in(out));
    probe().map(drop).map_err(|error| {
        Failure::usage(out, format!("cannot be written: {error}"), "name a folder that can be written with --out")
    })
}

/// How the report is printed.
#[derive(Debug, Clone, Copy)]
enum Shape {
    Terminal,
    Markdown,
    Json,
}

/// The report of scores, for stdout and in the folder of the evaluation.
fn report(scores: &Scores, against: Option<&str>, out: &Path, shape: Shape) -> Result<(String, ExitCode), Failure> {
    let evaluation = Evaluation::of(scores, against).map_err(|names| {
        let remedy = format!("name one of {}", names.join(", "));
        Failure::usage("--against", "no run has this name", remedy)
    })?;
    let json = EvaluationFile::of(&evaluation).to_text();
    let markdown = table::render(&evaluation, true);
    let mut files = vec![(EVALUATION_FILE, json.clone()), ("evaluation.md", markdown.clone())];
    files.extend(plot::quality_by_bytes(&evaluation).map(|svg| ("quality-by-bytes.svg", svg)));
    files.extend(plot::quality_by_segments(&evaluation).map(|svg| ("quality-by-segments.svg", svg)));
    for (name, text) in files {
        let path = out.join(name);
        fs::write(&path, text).map_err(|error| {
            Failure::usage(&path, format!("cannot be written: {error}"), "name a folder that can be written with --out")
        })?;
    }
    let text = match shape {
        Shape::Json => json,
        Shape::Markdown => markdown,
        Shape::Terminal => table::render(&evaluation, false) + &table::closing(&evaluation),
    };
    let code = if evaluation.failed.is_empty() { ExitCode::Pass } else { ExitCode::Behaviour };
    Ok((text, code))
}

fn scores(plan: &Plan, outcomes: Vec<(System, Outcome)>) -> Scores {
    let mut scores = Scores {
        corpus: plan.collection.name.clone(),
        fingerprint: plan.collection.fingerprint.clone(),
        k: plan.k,
        shards: plan.collection.shard.into_iter().collect(),
        runs: Vec::new(),
        failed: Vec::new(),
    };
    for (system, outcome) in outcomes {
        match outcome {
            Outcome::Failed(reason) => scores.failed.push((system.name, reason)),
            Outcome::Answered(runs) => {
                for (name, mut scored) in runs {
                    // Resampling sees the order, and merged parts have no other order in common.
                    scored.sort_by(|left, right| left.qid.cmp(&right.qid));
                    let name = name_of_its_own(&scores.runs, &system.name, &name);
                    scores.runs.push(RunScores { name, command: system.command.clone(), scored });
                }
            }
        }
    }
    scores
}

/// The name of a run, with its system's and then with a number when another run has it: runs are told apart by name.
fn name_of_its_own(runs: &[RunScores], system: &str, tag: &str) -> String {
    let is_free = |name: &String| runs.iter().all(|run| run.name != *name);
    let with_system = format!("{system}:{tag}");
    let numbered = (2..).map(|n: u64| format!("{system}:{tag}#{n}"));
    [tag.to_owned(), with_system].into_iter().chain(numbered).find(is_free).unwrap_or_default()
}

fn systems(args: &EvalArgs) -> Result<Vec<System>, Failure> {
    let mut systems = Vec::new();
    for text in &args.systems {
        let wrong = |_| {
            let remedy = "write NAME=CMD with a name of one word, such as --system 'mine=./rank {corpus}'";
            Failure::usage("--system", format!("`{text}` is no system"), remedy)
        };
        let system = System::parse(text).map_err(wrong)?;
        if systems.iter().any(|known: &System| known.name == system.name) {
            let message = format!("two systems are called `{}`", system.name);
            return Err(Failure::usage("--system", message, "give every system a name of its own"));
        }
        systems.push(system);
    }
    if let Some(path) = &args.sweep {
        let text = fs::read_to_string(path).map_err(|error| {
            Failure::usage(path, format!("cannot be read: {error}"), "name a file with [[system]] tables")
        })?;
        let swept = sweep::systems(path, &text)?;
        if let Some(twice) = swept.iter().find(|one| systems.iter().any(|known| known.name == one.name)) {
            let message = format!("two systems are called `{}`", twice.name);
            return Err(Failure::usage(path, message, "give every system a name of its own"));
        }
        systems.extend(swept);
    }
    if systems.is_empty() {
        systems.push(bundled()?);
    }
    Ok(systems)
}

/// The memory hook that is built beside this executable, with all its strategies in one pass.
fn bundled() -> Result<System, Failure> {
    let beside = std::env::current_exe().ok().and_then(|path| Some(path.parent()?.join("hookmem")));
    let Some(program) = beside.filter(|path| path.is_file()) else {
        let remedy = "build it (`cargo build --release --bins`), or name a system with --system";
        return Err(Failure::usage("hookmem", "there is no hookmem beside this executable", remedy));
    };
    let command = format!(
        "{} rank --corpus {{corpus}} --queries - --k {{k}} --decisions {{decisions}} --strategy all",
        quoted(&program.to_string_lossy())
    );
    Ok(System { name: "hookmem".to_owned(), command })
}

/// The folder of the corpus, which is made first for a repository.
fn corpus(args: &EvalArgs) -> Result<PathBuf, Failure> {
    let Some(repository) = &args.repo else { return Ok(args.corpus.clone().unwrap_or_default()) };
    let folder = args.out.join("corpus");
    let recipe = Recipe { project: project_name(repository), queries: REPO_QUERIES, max_commits: REPO_COMMITS };
    replace_made(&folder)?;
    from_git(repository, &recipe, &folder)?;
    Ok(folder)
}

/// Removes the corpus that an earlier evaluation made of a repository. Only that is ours to remove: a folder of this name
/// that says it is anything else, or that holds one file more, is the user's.
fn replace_made(folder: &Path) -> Result<(), Failure> {
    if !folder.exists() {
        return Ok(());
    }
    let refused = |message: String| Failure::usage(folder, message, "name another folder with --out");
    let failed = |error: std::io::Error| refused(format!("cannot be replaced: {error}"));
    let mut is_ours = manifest(folder)?.is_some_and(|manifest| manifest.about.starts_with(MADE_OF_GIT));
    for entry in fs::read_dir(folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        is_ours &= FILES.iter().any(|file| name == *file);
    }
    if !is_ours {
        return Err(refused("is there, and no evaluation made it: it is not replaced".to_owned()));
    }
    fs::remove_dir_all(folder).map_err(failed)
}

fn progress(n: u64) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(n);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {wide_msg}") {
        bar.set_style(style);
    }
    bar
}

/// The report of merged shards of an evaluation, written into a folder.
///
/// # Errors
/// Folders that hold no scores, or parts that do not make a whole.
pub fn merged(folders: &[PathBuf], out: &Path, json: bool) -> Result<(String, ExitCode), Failure> {
    let parts = folders.iter().map(|folder| Scores::read(folder)).collect::<Result<Vec<_>, _>>()?;
    let remedy = "give all shards of one evaluation, each once";
    let scores = Scores::merge(parts).map_err(|why| Failure::usage("merge", why, remedy))?;
    scores.write(out)?;
    report(&scores, None, out, if json { Shape::Json } else { Shape::Terminal })
}
