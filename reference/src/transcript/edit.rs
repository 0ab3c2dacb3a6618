//! What an editing tool's call wrote: the path, and the lines that were not there before.
//!
//! Guarantee: blank lines and lines that the call only repeats are no writing, and one edit has a bounded number of
//! lines. Where the tool's report has a patch, its `+` lines are the truth: they know the overwritten file.

use std::borrow::Cow;
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
fn of_input(input: &RawValue) -> Option<Edit> {
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

/// An edit as its lines of the transcript have it: read only when its written lines are asked for.
#[derive(Debug, Clone)]
pub struct Pending {
    path: String,
    input: Box<RawValue>,
    patch: Option<Box<[u8]>>,
}

#[derive(Deserialize)]
struct Paths<'a> {
    #[serde(borrow, default)]
    file_path: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    notebook_path: Option<Cow<'a, str>>,
}

impl Pending {
    /// Keeps the input of an editing tool; `None` without a path.
    pub fn of_input(input: &RawValue) -> Option<Pending> {
        let paths: Paths<'_> = serde_json::from_str(input.get()).ok()?;
        let path = paths.file_path.or(paths.notebook_path).filter(|path| !path.is_empty() && path.len() <= 4096)?;
        Some(Pending { path: path.into_owned(), input: input.to_owned(), patch: None })
    }

    /// Keeps the patch of the tool's report: bytes that begin with the list of hunks, whatever follows.
    pub fn report(&mut self, patch: &[u8]) {
        self.patch = Some(patch.into());
    }

    /// The edit with its written lines: those of the patch, which knows the overwritten file, else of the input.
    pub fn with_lines(self) -> Option<Edit> {
        match self.patch.as_deref().and_then(added_lines) {
            Some(written) => Some(Edit { path: self.path, written }),
            None => of_input(&self.input),
        }
    }

    /// The edit without its written lines.
    pub fn path_only(self) -> Edit {
        Edit { path: self.path, written: Vec::new() }
    }
}

#[derive(Deserialize)]
struct Report<'a> {
    #[serde(rename = "structuredPatch", borrow, default)]
    patch: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Hunk {
    #[serde(default)]
    lines: Vec<String>,
}

/// The patch of a tool's report, raw.
pub fn patch_of(report: &RawValue) -> Option<&RawValue> {
    serde_json::from_str::<Report<'_>>(report.get()).ok()?.patch
}

/// The `+` lines of the hunks that `patch` begins with; `None` when it has no hunk, as for a created file.
fn added_lines(patch: &[u8]) -> Option<Vec<String>> {
    let patch = serde_json::Deserializer::from_slice(patch).into_iter::<Vec<Hunk>>().next()?.ok()?;
    if patch.is_empty() {
        return None;
    }
    let added = patch.iter().flat_map(|hunk| &hunk.lines).filter_map(|line| line.strip_prefix('+'));
    Some(added.filter(|line| !line.trim().is_empty()).take(EDIT_LINES).map(str::to_owned).collect())
}
