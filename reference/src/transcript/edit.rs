//! What an editing tool's call wrote: the path, and the lines that were not there before.
//!
//! Guarantee: blank lines and lines that the call only repeats are no writing, and one edit has a bounded number of
//! lines. Where the tool's report has a patch, its `+` lines are the truth: they know the overwritten file.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;

/// Written lines kept of one edit.
const EDIT_LINES: usize = 2_000;

/// One successful or pending edit of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The path as the tool got it.
    pub path: String,
    /// Lines that are new in the file, as written.
    pub written: Vec<String>,
}

#[derive(Deserialize)]
struct EditInput {
    #[serde(default)]
    file_path: Option<String>,
    #[serde(default)]
    notebook_path: Option<String>,
    #[serde(default)]
    old_string: Option<String>,
    #[serde(default)]
    new_string: Option<String>,
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    new_source: Option<String>,
    #[serde(default)]
    edits: Option<Vec<OneEdit>>,
}

#[derive(Deserialize)]
struct OneEdit {
    #[serde(default)]
    old_string: String,
    #[serde(default)]
    new_string: String,
}

/// Reads the input of an editing tool; `None` without a path or of other types.
pub fn of_input(input: &RawValue) -> Option<Edit> {
    let input: EditInput = serde_json::from_str(input.get()).ok()?;
    let path = input.file_path.or(input.notebook_path).filter(|path| !path.is_empty() && path.len() <= 4096)?;
    let mut written = Vec::new();
    if let Some(new) = &input.new_string {
        new_lines(input.old_string.as_deref().unwrap_or(""), new, &mut written);
    }
    for edit in input.edits.iter().flatten() {
        new_lines(&edit.old_string, &edit.new_string, &mut written);
    }
    for whole in [&input.content, &input.new_source].into_iter().flatten() {
        new_lines("", whole, &mut written);
    }
    Some(Edit { path, written })
}

/// Adds the lines of `new` that `old` does not hold, each as often as it is new, blank ones left out.
fn new_lines(old: &str, new: &str, written: &mut Vec<String>) {
    let mut known: HashMap<&str, usize> = HashMap::new();
    for line in old.lines() {
        *known.entry(line).or_default() += 1;
    }
    for line in new.lines() {
        if written.len() >= EDIT_LINES {
            return;
        }
        match known.get_mut(line) {
            Some(left) if *left > 0 => *left -= 1,
            _ if line.trim().is_empty() => {}
            _ => written.push(line.to_owned()),
        }
    }
}

#[derive(Deserialize)]
struct Report {
    #[serde(rename = "structuredPatch", default)]
    patch: Option<Vec<Hunk>>,
}

#[derive(Deserialize)]
struct Hunk {
    #[serde(default)]
    lines: Vec<String>,
}

/// The `+` lines of a report's patch; `None` when it has no hunk, as for a created file.
pub fn added_lines(report: &RawValue) -> Option<Vec<String>> {
    let report: Report = serde_json::from_str(report.get()).ok()?;
    let patch = report.patch.filter(|patch| !patch.is_empty())?;
    let added = patch.iter().flat_map(|hunk| &hunk.lines).filter_map(|line| line.strip_prefix('+'));
    Some(added.filter(|line| !line.trim().is_empty()).take(EDIT_LINES).map(str::to_owned).collect())
}
