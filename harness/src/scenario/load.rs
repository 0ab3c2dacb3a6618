//! Loading: a folder becomes a [`Scenario`], or all that is wrong with it.
//!
//! Reads only. A syntax mistake in `scenario.toml` hides what follows from its values; everything else of a
//! scenario is reported at once, and so are the scenarios of one call.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::convert::{self, Converter};
use super::document::{Document, way};
use super::payload::Payloads;
use super::placeholder;
use super::step::Delivered;
use super::wire::{DefaultsWire, DeliveredWire, ExpectWire, ScenarioWire, StepWire};
use super::{SCHEMA_VERSION, Scenario, Step};
use crate::problem::{Problem, Problems, Source};

/// Name of a scenario's main file.
const MAIN_FILE: &str = "scenario.toml";

/// Folders below `root` that hold a scenario, sorted; `root` itself when it is one.
///
/// Folders inside a scenario are not searched.
///
/// # Errors
/// A folder that cannot be listed.
pub fn discover(root: &Path) -> Result<Vec<PathBuf>, Problems> {
    let mut found = Vec::new();
    search(root, &mut found)?;
    found.sort();
    Ok(found)
}

fn search(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), Problem> {
    if folder.join(MAIN_FILE).is_file() {
        found.push(folder.to_owned());
        return Ok(());
    }
    let unreadable = |error: std::io::Error| {
        Problem::file(folder, format!("cannot list the folder: {error}"), "name a folder of scenarios that exists")
    };
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() && !path.is_symlink() {
            search(&path, found)?;
        }
    }
    Ok(())
}

/// Loads several scenarios; the problems of all of them together.
///
/// # Errors
/// Everything that is wrong with any of them.
pub fn load_all(paths: &[PathBuf]) -> Result<Vec<Scenario>, Problems> {
    let mut scenarios = Vec::new();
    let mut problems = Vec::new();
    for path in paths {
        match load(path) {
            Ok(scenario) => scenarios.push(scenario),
            Err(found) => problems.extend(found.into_vec()),
        }
    }
    Problems::check(problems)?;
    Ok(scenarios)
}

/// Loads the scenario in a folder, or the one whose `scenario.toml` is named.
///
/// # Errors
/// Everything that is wrong with it, each with file, line and remedy.
pub fn load(path: &Path) -> Result<Scenario, Problems> {
    let main_file = if path.is_dir() { path.join(MAIN_FILE) } else { path.to_owned() };
    let text = std::fs::read_to_string(&main_file).map_err(|error| {
        let remedy = "name a folder that holds a scenario.toml; scenarios/FORMAT.md describes it";
        Problem::file(&main_file, format!("cannot read the scenario: {error}"), remedy)
    })?;
    let dir = main_file.parent().map(Path::to_owned).unwrap_or_default();
    let dir = std::path::absolute(&dir).unwrap_or(dir);
    let source = Source::new(&main_file, text);
    let scenario = read(&dir, &source);
    match scenario {
        (Some(scenario), problems) => Problems::check(problems).map(|()| scenario),
        (None, problems) => {
            Problems::check(problems)?;
            // Unreachable by construction: no scenario means at least one problem.
            Err(Problem::file(&main_file, "the scenario could not be read", "report this as a bug").into())
        }
    }
}

fn read(dir: &Path, source: &Source) -> (Option<Scenario>, Vec<Problem>) {
    let document = match Document::parse(source) {
        Ok(document) => document,
        Err(problems) => return (None, problems),
    };
    let mut problems = Vec::new();
    let (head, steps) = document.decode_with_list::<ScenarioWire, StepWire>("step", &mut problems);
    let defaults = head.as_ref().map(|head| &head.defaults);
    let undecoded = unknown_defaults();
    let defaults = defaults.unwrap_or(&undecoded);
    let sessions: Vec<String> =
        steps.iter().flatten().map(|step| convert::session(step, defaults).to_owned()).collect();
    let mut session_names: Vec<&str> = sessions.iter().map(String::as_str).collect();
    session_names.sort_unstable();
    session_names.dedup();

    let needs_payloads = steps.iter().flatten().any(|step| step.payload.is_some());
    let payloads = needs_payloads.then(|| Payloads::read(&dir.join("payloads.jsonl"), &mut problems)).flatten();
    check_payload_placeholders(payloads.as_ref(), &session_names, &mut problems);

    let mut converter =
        Converter { dir, document: &document, source, payloads: payloads.as_ref(), sessions: session_names, problems };
    check_names(&mut converter, &steps);
    check_offsets(&mut converter, &steps);
    let every_step_decoded = steps.iter().all(Option::is_some);
    let steps: Vec<Step> = steps
        .into_iter()
        .enumerate()
        .filter_map(|(index, step)| Some(converter.step(index, step?, defaults)))
        .collect();
    check_goldens(&mut converter, &steps);
    let scenario = head.map(|head| scenario(&mut converter, head, steps));
    let mut problems = converter.problems;
    // Defaults are checked with each step that uses them; one report is enough.
    let mut reported = HashSet::new();
    problems.retain(|problem| reported.insert(problem.to_string()));
    (scenario.filter(|_| every_step_decoded), problems)
}

/// Defaults that raise no problem of their own, for a file whose defaults could not be decoded.
fn unknown_defaults() -> DefaultsWire {
    let expect = ExpectWire { delivered: Some(DeliveredWire::Any), ..ExpectWire::default() };
    DefaultsWire { expect, ..DefaultsWire::default() }
}

fn scenario(converter: &mut Converter<'_>, head: ScenarioWire, steps: Vec<Step>) -> Scenario {
    if head.schema != SCHEMA_VERSION {
        let message = format!("format {} is not known to this version", head.schema);
        let remedy = format!("write schema = {SCHEMA_VERSION}, or use a hookbench that knows the format");
        converter.problems.push(converter.document.problem(&way!["schema"], message, remedy));
    }
    if head.defaults.expect.relevant.is_some() {
        let way = way!["defaults", "expect", "relevant"];
        let problem = converter.document.problem(&way, "labels cannot be a default", "give each step its own relevant");
        converter.problems.push(problem);
    }
    for (key, text) in [("title", &head.title), ("about", &head.about), ("provenance", &head.provenance)] {
        if text.trim().is_empty() {
            let problem = converter.document.problem(&way![key], format!("{key} is empty"), "say it in a sentence");
            converter.problems.push(problem);
        }
    }
    let name = converter.dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Scenario {
        name,
        dir: converter.dir.to_owned(),
        host: converter.host(head.host.as_deref()),
        scrub: converter.scrub(&way!["scrub"], head.scrub),
        sandbox: converter.sandbox(head.sandbox),
        title: head.title,
        about: head.about,
        provenance: head.provenance,
        steps,
        source: converter.source.clone(),
    }
}

fn check_payload_placeholders(payloads: Option<&Payloads>, sessions: &[&str], problems: &mut Vec<Problem>) {
    let Some(payloads) = payloads else { return };
    for fault in placeholder::faults(payloads.source.text(), sessions) {
        problems.push(payloads.source.problem(fault.span, fault.message, fault.remedy));
    }
}

fn check_names(converter: &mut Converter<'_>, steps: &[Option<StepWire>]) {
    if steps.is_empty() {
        let problem = converter.document.problem(&way![], "the scenario has no step", "add at least one [[step]]");
        converter.problems.push(problem);
    }
    for (index, step) in steps.iter().enumerate() {
        let Some(step) = step else { continue };
        if steps.iter().take(index).flatten().any(|other| other.name == step.name) {
            let message = format!("another step is named `{}`", step.name);
            let remedy = "give each step its own name: it names the golden";
            converter.problems.push(converter.document.problem(&way!["step", index, "name"], message, remedy));
        }
    }
}

/// Offsets tell a sequence: all steps have one, and none goes back.
fn check_offsets(converter: &mut Converter<'_>, steps: &[Option<StepWire>]) {
    let timed = steps.iter().flatten().any(|step| step.at_ms.is_some());
    let mut latest = 0;
    for (index, step) in steps.iter().enumerate() {
        let Some(step) = step.as_ref().filter(|_| timed) else { continue };
        let problem = match step.at_ms {
            None => converter.document.problem(
                &way!["step", index, "name"],
                format!("step `{}` has no at_ms, and others have", step.name),
                "give every step its time, or none",
            ),
            Some(at) if at < latest => converter.document.problem(
                &way!["step", index, "at_ms"],
                format!("at_ms goes back from {latest} to {at}"),
                "put the steps in the order of their times",
            ),
            Some(at) => {
                latest = at;
                continue;
            }
        };
        converter.problems.push(problem);
    }
}

/// A golden that is there must be text; one that is not there is the run's business.
fn check_goldens(converter: &mut Converter<'_>, steps: &[Step]) {
    for step in steps.iter().filter(|step| step.expect.delivered == Delivered::Golden) {
        let path = converter.dir.join("golden").join(format!("{}.txt", step.name));
        let Err(error) = std::fs::read_to_string(&path) else { continue };
        if error.kind() != std::io::ErrorKind::NotFound {
            let remedy = "delete it and run `hookbench accept`, or make it a readable UTF-8 file";
            converter.problems.push(Problem::file(path, format!("cannot read the golden: {error}"), remedy));
        }
    }
}
