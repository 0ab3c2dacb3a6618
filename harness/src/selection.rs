//! Which scenarios a command is about: folders, or names within a root folder.

use std::path::{Path, PathBuf};

use crate::problem::{Problem, Problems};
use crate::scenario::{Scenario, discover, load_all};

/// Folder that is searched when nothing is named.
pub const ROOT: &str = "scenarios";

/// Loads the scenarios that the words name; all below `scenarios/` when there are none.
///
/// A word that is a folder stands for every scenario in it; any other is a name below `scenarios/`, where `*` stands
/// for any text.
///
/// # Errors
/// A word that matches nothing, or whatever is wrong with the scenarios.
pub fn select(words: &[String]) -> Result<Vec<Scenario>, Problems> {
    let root = Path::new(ROOT);
    let mut folders: Vec<PathBuf> = Vec::new();
    let mut problems = Vec::new();
    if words.is_empty() && !root.is_dir() {
        let message = "there is no such folder here, and no scenario was named";
        let remedy = "go to the folder that holds scenarios/, or name a folder with a scenario.toml";
        return Err(Problem::file(ROOT, message, remedy).into());
    }
    if words.is_empty() {
        folders = discover(root)?;
    }
    for word in words {
        let path = Path::new(word);
        if path.exists() {
            folders.extend(discover(path.strip_prefix("./").unwrap_or(path))?);
            continue;
        }
        let matching: Vec<PathBuf> = if root.is_dir() { discover(root)? } else { Vec::new() };
        let matching: Vec<PathBuf> = matching.into_iter().filter(|folder| is_named(folder, word)).collect();
        if matching.is_empty() {
            let message = format!("no scenario is called `{word}` below {ROOT}/, and it is no folder");
            problems.push(Problem::file(word, message, "name a folder with a scenario.toml, or a scenario's name"));
        }
        folders.extend(matching);
    }
    Problems::check(problems)?;
    folders.sort();
    folders.dedup();
    load_all(&folders)
}

fn is_named(folder: &Path, pattern: &str) -> bool {
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    matches(&name, pattern)
}

/// Whether a name is meant by a pattern, in which `*` stands for any text.
pub fn matches(name: &str, pattern: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(rest) = name.strip_prefix(parts.next().unwrap_or("")) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    let mut rest = rest;
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = rest.get(at + part.len()..).unwrap_or(""),
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn star_stands_for_any_text() {
        for (pattern, hit) in
            [("recall-*", true), ("*decision", true), ("*-dec*", true), ("recall", false), ("*x*", false)]
        {
            assert_eq!(is_named(Path::new("scenarios/recall-decision"), pattern), hit, "{pattern}");
        }
    }
}
