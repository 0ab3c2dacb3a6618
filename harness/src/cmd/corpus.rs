//! `hookbench corpus`: makes corpora and checks them; what was made is always checked.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal};
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use crate::cli::{CorpusCommand, FromGitArgs, FromStoreArgs, SynthArgs};
use crate::corpus::check::{Checked, check};
use crate::corpus::from_git::{self, from_git};
use crate::corpus::from_store::from_store;
use crate::corpus::synth::{self, synth};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::golden::harmless;

/// Runs one of the commands; the text for stdout, and the exit code: 1 for a corpus that is unfit.
///
/// # Errors
/// A folder that cannot be read or written, or a source that gives no corpus.
pub fn corpus(command: &CorpusCommand) -> Result<(String, ExitCode), Failure> {
    match command {
        CorpusCommand::Synth(args) => make_synth(args),
        CorpusCommand::FromGit(args) => make_from_git(args),
        CorpusCommand::FromStore(args) => make_from_store(args),
        CorpusCommand::Check { corpus, json } => checked(corpus, *json, String::new()),
    }
}

fn make_synth(args: &SynthArgs) -> Result<(String, ExitCode), Failure> {
    let bar = if std::io::stderr().is_terminal() { ProgressBar::new(args.records) } else { ProgressBar::hidden() };
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} memories, {eta} left") {
        bar.set_style(style);
    }
    let recipe =
        synth::Recipe { records: args.records, queries: args.queries, seed: args.seed, projects: args.projects };
    let manifest = synth(&recipe, &args.out, &mut |n| bar.set_position(n))?;
    bar.finish_and_clear();
    let mut note = String::new();
    if manifest.queries < args.queries {
        let _ = writeln!(note, "{} of {} questions made: give it more --records", manifest.queries, args.queries);
    }
    checked(&args.out, false, note)
}

fn make_from_git(args: &FromGitArgs) -> Result<(String, ExitCode), Failure> {
    let recipe = from_git::Recipe {
        project: args.name.clone().unwrap_or_else(|| project_name(&args.repository)),
        queries: args.queries,
        max_commits: args.max_commits,
    };
    let made = from_git(&args.repository, &recipe, &args.out)?;
    let n: u64 = made.by_form.values().sum();
    let mut note = String::new();
    if n < args.queries {
        let _ = writeln!(note, "{n} of {} questions found: the history links no more", args.queries);
    }
    checked(&args.out, false, note)
}

/// The name of the folder, as one word.
pub fn project_name(repository: &Path) -> String {
    let folder = repository.canonicalize().ok();
    let name = folder.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let name: String = name.unwrap_or_default().trim_end_matches(".git").replace(char::is_whitespace, "-");
    if name.is_empty() { "project".to_owned() } else { name }
}

fn make_from_store(args: &FromStoreArgs) -> Result<(String, ExitCode), Failure> {
    let rows: Box<dyn BufRead> = match &args.rows {
        None => Box::new(std::io::stdin().lock()),
        Some(path) => {
            let file = File::open(path).map_err(|error| {
                Failure::usage(
                    path,
                    format!("cannot be read: {error}"),
                    "name a file with the output of `hookmem export`",
                )
            })?;
            Box::new(BufReader::new(file))
        }
    };
    from_store(rows, args.queries.get(), &args.out)?;
    checked(&args.out, false, String::new())
}

fn checked(folder: &Path, json: bool, note: String) -> Result<(String, ExitCode), Failure> {
    let found = check(folder)?;
    let code = if found.faults.is_empty() { ExitCode::Pass } else { ExitCode::Behaviour };
    Ok((if json { as_json(&found) } else { note + &as_text(folder, &found) }, code))
}

fn as_json(found: &Checked) -> String {
    let answer = json!({
        "memories": found.n_memories, "sessions": found.n_sessions, "queries_by_form": found.by_form,
        "queries_by_kind": found.by_kind, "judgements_by_grade": found.by_grade, "faults": found.faults,
        "remarks": found.remarks,
    });
    format!("{answer:#}\n")
}

fn as_text(folder: &Path, found: &Checked) -> String {
    let counted = |counts: Vec<(String, u64)>| {
        counts.into_iter().map(|(name, n)| format!("{name} {n}")).collect::<Vec<_>>().join(", ")
    };
    let folder = harmless(&folder.display().to_string());
    let mut text = format!("{folder}: {} memories in {} sessions\n", found.n_memories, found.n_sessions);
    let owned = |counts: &std::collections::BTreeMap<String, u64>| {
        counted(counts.iter().map(|(name, n)| (name.clone(), *n)).collect())
    };
    let _ = writeln!(text, "questions: {} ({})", harmless(&owned(&found.by_kind)), harmless(&owned(&found.by_form)));
    let grades = counted(found.by_grade.iter().map(|(grade, n)| (format!("grade {grade}:"), *n)).collect());
    let _ = writeln!(text, "judgements: {grades}");
    for remark in &found.remarks {
        let _ = writeln!(text, "note: {remark}");
    }
    for fault in &found.faults {
        let _ = writeln!(text, "fault: {}", harmless(fault));
    }
    let _ = writeln!(text, "{}", if found.faults.is_empty() { "fit for use" } else { "unfit" });
    text
}
