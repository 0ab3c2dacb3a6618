//! A sweep: one command with placeholders, run for every combination of some values.
//!
//! `sweep.toml` holds systems and grids. Every combination is a system of its own with a name that tells its values, and
//! has its own place in the cache, so that a sweep can be stopped, widened and run again.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use toml::Value;

use super::system::{System, fill};
use crate::failure::Failure;

/// Most combinations of one file: a slip of a hand must not run for a week.
const MAX_COMBINATIONS: usize = 10_000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SweepFile {
    /// Version of the format. History: 1, the first.
    version: u32,
    #[serde(rename = "system")]
    systems: Vec<SystemTable>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SystemTable {
    name: String,
    command: String,
    #[serde(default)]
    grid: BTreeMap<String, Vec<Value>>,
}

/// The systems of a sweep file's text.
///
/// # Errors
/// Text that is no sweep, a value that the command has no place for, or far too many combinations.
pub fn systems(path: &Path, text: &str) -> Result<Vec<System>, Failure> {
    let wrong = |message: String, remedy: &str| Failure::usage(path, message, remedy);
    let file: SweepFile = toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |span| text.get(..span.start).unwrap_or_default().matches('\n').count() + 1);
        Failure::usage(
            format!("{}:{line}", path.display()),
            error.message().to_owned(),
            "write `version = 1` and [[system]] tables with name, command and grid",
        )
    })?;
    if file.version != 1 {
        return Err(wrong(
            format!("version {} is not known", file.version),
            "write `version = 1`, or update hookbench",
        ));
    }
    let mut systems = Vec::new();
    for table in &file.systems {
        if table.name.trim().is_empty() || table.command.trim().is_empty() {
            return Err(wrong("a [[system]] has no name or no command".to_owned(), "write both"));
        }
        if let Some((key, _)) = table.grid.iter().find(|(_, values)| values.is_empty()) {
            let message = format!("`{}`: `{key}` has no value to try", table.name);
            return Err(wrong(message, "write at least one value, or take the key out of the grid"));
        }
        if let Some(key) = table.grid.keys().find(|key| !table.command.contains(&format!("{{{key}}}"))) {
            let message = format!("`{}`: the command has no place for `{key}`", table.name);
            return Err(wrong(message, &format!("write {{{key}}} into the command, or take the key out of the grid")));
        }
        systems.extend(combinations(table).map_err(|message| {
            wrong(message, "write numbers, texts or true and false, and sweep fewer values at a time")
        })?);
        if systems.len() > MAX_COMBINATIONS {
            return Err(wrong(format!("more than {MAX_COMBINATIONS} combinations"), "sweep fewer values at a time"));
        }
    }
    let mut names: Vec<&str> = systems.iter().map(|system| &*system.name).collect();
    names.sort_unstable();
    if let Some([twice, _]) = names.windows(2).find(|pair| pair.first() == pair.last()) {
        return Err(wrong(format!("two systems are called `{twice}`"), "give every [[system]] a name of its own"));
    }
    if systems.is_empty() {
        return Err(wrong("no system in it".to_owned(), "write a [[system]] table"));
    }
    Ok(systems)
}

/// Every combination of a table's values, the last key changing fastest.
fn combinations(table: &SystemTable) -> Result<Vec<System>, String> {
    let mut combined: Vec<Vec<(&str, String)>> = vec![Vec::new()];
    for (key, values) in &table.grid {
        let written = values.iter().map(written).collect::<Option<Vec<String>>>();
        let written = written.ok_or_else(|| format!("`{}`: a value of `{key}` is a list or a table", table.name))?;
        if combined.len().saturating_mul(written.len()) > MAX_COMBINATIONS {
            return Err(format!("`{}`: more than {MAX_COMBINATIONS} combinations", table.name));
        }
        combined = combined
            .iter()
            .flat_map(|chosen| {
                written.iter().map(move |value| chosen.iter().cloned().chain([(&**key, value.clone())]).collect())
            })
            .collect();
    }
    let system = |chosen: Vec<(&str, String)>| {
        let values: Vec<(&str, &str)> = chosen.iter().map(|(key, value)| (*key, &**value)).collect();
        System { name: name(&table.name, &chosen), command: fill(&table.command, &values) }
    };
    Ok(combined.into_iter().map(system).collect())
}

/// The name with its values; `top_n` comes last after `@`, which is how plots know it.
fn name(name: &str, chosen: &[(&str, String)]) -> String {
    let mut name = name.to_owned();
    for (key, value) in chosen.iter().filter(|(key, _)| *key != "top_n") {
        if *key == "strategy" {
            name.push_str(&format!("/{value}"));
        } else {
            name.push_str(&format!(",{key}={value}"));
        }
    }
    if let Some((_, n)) = chosen.iter().find(|(key, _)| *key == "top_n") {
        name.push_str(&format!("@{n}"));
    }
    name.replace(char::is_whitespace, "_")
}

fn written(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Boolean(truth) => Some(truth.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

    use super::*;

    fn read(text: &str) -> Result<Vec<System>, String> {
        systems(Path::new("sweep.toml"), text).map_err(|failure| failure.to_string())
    }

    #[test]
    fn every_combination_is_a_system() {
        let found = read(
            "version = 1\n[[system]]\nname = \"m\"\ncommand = \"r {corpus} -s {strategy} -n {top_n} -t {t}\"\n\
             [system.grid]\nstrategy = [\"a\", \"b\"]\ntop_n = [1, 3]\nt = [1.5]\n",
        )
        .unwrap();
        let names: Vec<&str> = found.iter().map(|system| &*system.name).collect();
        assert_eq!(names, ["m/a,t=1.5@1", "m/a,t=1.5@3", "m/b,t=1.5@1", "m/b,t=1.5@3"]);
        assert_eq!(found[3].command, "r {corpus} -s b -n 3 -t 1.5");
    }

    #[test]
    fn mistakes_are_named() {
        let table = |rest: &str| format!("version = 1\n[[system]]\nname = \"m\"\ncommand = \"r {{x}}\"\n{rest}");
        for (text, why) in [
            ("version = 2\nsystem = []\n".to_owned(), "version 2 is not known"),
            ("version = 1\nsystem = []\n".to_owned(), "no system in it"),
            (table("grid = { y = [1] }\n"), "no place for `y`"),
            (table("grid = { x = [[1]] }\n"), "a value of `x` is a list or a table"),
            (
                table("[[system]]\nname = \"m\"\ncommand = \"z\"\n[[system]]\nname = \"m\"\ncommand = \"z\"\n"),
                "two systems",
            ),
            (table("what = 1\n"), "sweep.toml:5"),
            (table("grid = { x = [] }\n"), "`x` has no value"),
            (table("").replace("\"m\"", "\" \""), "no name or no command"),
            (table("").replace("\"r {x}\"", "\"\""), "no name or no command"),
        ] {
            let found = read(&text).unwrap_err();
            assert!(found.contains(why), "{found}");
        }
        let many: Vec<String> = (0..20_000).map(|n| n.to_string()).collect();
        assert!(
            read(&table(&format!("grid = {{ x = [{}] }}\n", many.join(",")))).unwrap_err().contains("combinations")
        );
    }
}
