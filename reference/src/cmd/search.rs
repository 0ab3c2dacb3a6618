//! `hookmem search`: what a prompt would find, with scores and without the hook's gate.

use std::io::Write;

use serde_json::json;

use super::record::to_json;
use super::target::Target;
use super::{Failure, written};
use crate::config::Environment;
use crate::excerpt::excerpt;
use crate::query::Query;
use crate::store::{self, IndexStore};

/// Arguments of `search`.
#[derive(Debug, clap::Args)]
pub struct SearchArgs {
    /// What to look for; there is no query syntax.
    #[arg(required = true)]
    pub text: Vec<String>,
    /// Results at most.
    #[arg(long, default_value_t = 10)]
    pub limit: usize,
    /// As JSON Lines.
    #[arg(long)]
    pub json: bool,
    /// Which project.
    #[command(flatten)]
    pub target: Target,
}

/// Prints what was found, best first.
///
/// # Errors
/// A project without memories, or a store that cannot be opened.
pub fn search(args: &SearchArgs, environment: &Environment, out: &mut dyn Write) -> Result<(), Failure> {
    let project = args.target.known(environment)?;
    let store = IndexStore::at_path(&project.store).map_err(|error| error.to_string())?;
    let query = Query::from_text(&args.text.join(" "));
    let terms: Vec<String> = query.terms.iter().map(|term| term.text.clone()).collect();
    for found in store.query(&store::Query::new(query, args.limit)) {
        let line = if args.json {
            json!({ "score": found.score, "confidence": found.confidence, "record": to_json(&found.document) })
                .to_string()
        } else {
            let lines = excerpt(&found.document, &terms, 3, 400).replace('\n', "\n    ");
            format!("{:.2}  {}  {}\n    {lines}", found.score, found.document.doc_id, found.document.concept.name())
        };
        written(writeln!(out, "{line}"))?;
    }
    Ok(())
}
