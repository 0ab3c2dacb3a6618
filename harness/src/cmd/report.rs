//! `hookbench report`: the report of a saved run, from the same code as the live one.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cli::{ReportArgs, To};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::record;
use crate::report::annotations::Places;
use crate::report::{action_benchmark, annotations, bmf, html, json, junit, markdown, parquet, terminal, trec};
use crate::selection::ROOT;
use crate::summary::Summary;

/// Files of gates that a run reads unasked, in the order it looks for them.
const GATE_FILES: [&str; 2] = ["hookbench.toml", "scenarios/hookbench.toml"];

/// The report, empty when it went to a file, and the exit code that the run had.
///
/// # Errors
/// A folder that holds no readable run, or a file that cannot be written.
pub fn report(args: &ReportArgs) -> Result<(String, ExitCode), Failure> {
    let summary = record::replay(&args.run)?;
    let code = ExitCode::of(&summary, args.strict);
    let text = match args.to {
        To::Terminal => terminal::render(&summary),
        To::Json => json::render(&summary),
        To::Junit => junit::render(&summary),
        To::Markdown => markdown::render(&summary),
        To::Html => html::render(&summary).map_err(|error| Failure::Internal(format!("the page: {error}")))?,
        To::GithubSummary => markdown::job_summary(&summary),
        To::GithubAnnotations => annotations::render(&summary, &places(&summary)),
        To::Bmf => bmf::render(&summary),
        To::GithubActionBenchmark => action_benchmark::render(&summary),
        To::TrecRun => trec::run(&summary),
        To::TrecQrels => trec::qrels(&summary),
        To::Parquet => {
            let Some(file) = &args.output else {
                let remedy = "add --output FILE";
                return Err(Failure::usage("--to parquet", "Parquet is not text and needs a file", remedy));
            };
            parquet::write(&summary, file)?;
            String::new()
        }
    };
    match &args.output {
        Some(file) if args.to != To::Parquet => {
            write(file, &text)?;
            Ok((String::new(), code))
        }
        _ => Ok((text, code)),
    }
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    fs::write(file, text).map_err(|error| {
        Failure::usage(file, format!("the report cannot be written: {error}"), "name a file in a folder that exists")
    })
}

/// Reads the files that the run's steps and gates stand in, as far as they are where a run would look for them.
fn places(summary: &Summary) -> Places {
    let mut places = Places::default();
    for scenario in summary.scenarios() {
        let candidates: [PathBuf; 2] = [Path::new(ROOT).join(scenario.name), PathBuf::from(scenario.name)];
        for path in candidates.map(|folder| folder.join("scenario.toml")) {
            if let Ok(text) = fs::read_to_string(&path) {
                places.add_scenario(scenario.name, &path, text);
                break;
            }
        }
    }
    for path in GATE_FILES {
        if let Ok(text) = fs::read_to_string(path) {
            places.set_gates(Path::new(path), text);
            break;
        }
    }
    places
}
