//! `hookmem status`: what the store holds, how large it is, what is wrong with it.

use std::io::Write;

use serde_json::{Value, json};

use super::target::{Target, registry, store_root};
use super::{Failure, written};
use crate::config::{Config, Environment};
use crate::store::IndexStore;

/// Arguments of `status`.
#[derive(Debug, clap::Args)]
pub struct StatusArgs {
    /// Which project.
    #[command(flatten)]
    pub target: Target,
    /// Every project of the store, a line each.
    #[arg(long)]
    pub all: bool,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

/// Prints the state of the store.
///
/// # Errors
/// A project without memories, or a store that cannot be opened.
pub fn status(args: &StatusArgs, environment: &Environment, out: &mut dyn Write) -> Result<(), Failure> {
    let root = store_root(environment)?;
    let (_, problems) = Config::load(root);
    let projects = if args.all {
        registry(environment)?.all()
    } else {
        let project = args.target.known(environment)?;
        vec![(project.id, project.root)]
    };
    let mut rows = Vec::new();
    for (id, folder) in projects {
        let store = IndexStore::at_path(registry(environment)?.store_of(&id)).map_err(|error| error.to_string())?;
        let found = store.inspect();
        let condition = &found.condition;
        rows.push(json!({
            "project": id,
            "folder": folder.display().to_string(),
            "records": found.documents,
            "sessions": found.segments,
            "journal_bytes": condition.journal_bytes,
            "index_bytes": condition.index_bytes,
            "unfolded_records": condition.unfolded_documents,
            "damaged_lines": condition.damaged_lines,
            "invalid_generations": condition.invalid_generations,
            "newer_journal": condition.newer_journal,
        }));
    }
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    if args.json {
        let report = json!({ "store": root.display().to_string(), "projects": rows, "config_problems": problems });
        return written(writeln!(out, "{report}"));
    }
    written(writeln!(out, "store {}", root.display()))?;
    for row in &rows {
        written(writeln!(out, "{}", line(row)))?;
    }
    problems.iter().try_for_each(|problem| written(writeln!(out, "settings: {problem}")))
}

fn line(row: &Value) -> String {
    let text = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
    let number = |key: &str| row.get(key).and_then(Value::as_u64).unwrap_or(0);
    let mut line = format!(
        "{}  {} records in {} sessions, journal {} KiB, index {} KiB, {} not folded  ({})",
        text("project"),
        number("records"),
        number("sessions"),
        number("journal_bytes").div_ceil(1024),
        number("index_bytes").div_ceil(1024),
        number("unfolded_records"),
        text("folder")
    );
    for (key, meaning) in
        [("damaged_lines", "damaged journal lines"), ("invalid_generations", "unusable index folders")]
    {
        if number(key) > 0 {
            line.push_str(&format!("; {} {meaning}: run `hookmem compact`", number(key)));
        }
    }
    if number("newer_journal") > 0 {
        line.push_str("; written by a newer hookmem: read-only here");
    }
    line
}
