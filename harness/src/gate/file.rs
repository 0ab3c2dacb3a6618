//! The `[gates]` table of `hookbench.toml`: names and gates, each mistake with its line and column.
//!
//! Other tables of the file belong to other readers and are not looked at. All mistakes are reported at once.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::expr::GateExpr;
use super::parse::GateSyntax;

/// A gate with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    /// Its name; the text itself when it has none.
    pub name: String,
    /// The gate as written, without the name.
    pub text: String,
    /// The gate, understood.
    pub expr: GateExpr,
}

impl Gate {
    /// Reads `[name ":"] gate`, as given on a command line.
    ///
    /// # Errors
    /// [`GateSyntax`], with the offset in `text`.
    pub fn parse(text: &str) -> Result<Gate, GateSyntax> {
        let named = text.split_once(':').filter(|(name, _)| {
            !name.is_empty() && name.chars().all(|sign| sign.is_ascii_alphanumeric() || matches!(sign, '_' | '-'))
        });
        let (name, body) = named.unwrap_or((text.trim(), text));
        let shift = text.len() - body.len();
        let expr = body.parse().map_err(|fault: GateSyntax| GateSyntax { at: fault.at + shift, ..fault })?;
        Ok(Gate { name: name.to_owned(), text: body.trim().to_owned(), expr })
    }
}

/// A mistake in a file of gates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateFault {
    /// The file.
    pub file: PathBuf,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The place as bytes of the file's text.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
}

impl fmt::Display for GateFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}:{}: {}", self.file.display(), self.line, self.column, self.message)
    }
}

impl std::error::Error for GateFault {}

/// Reads the gates of a file's text, in the order of the file. A file without `[gates]` has none.
///
/// # Errors
/// Every mistake found, at least one, in the order of the file.
pub fn parse_gates(file: &Path, text: &str) -> Result<Vec<Gate>, Vec<GateFault>> {
    let fault = |span: Range<usize>, message: String, remedy: &str| {
        let (line, column) = position(text, span.start);
        GateFault { file: file.to_owned(), line, column, span, message, remedy: remedy.to_owned() }
    };
    let table = DeTable::parse(text).map_err(|error| {
        let message = error.message().to_owned();
        vec![fault(error.span().unwrap_or(0..0), message, "correct the TOML; gates are `name = \"gate\"` lines")]
    })?;
    let Some(gates) = table.get_ref().get("gates") else {
        return Ok(Vec::new());
    };
    let DeValue::Table(gates) = gates.get_ref() else {
        let message = format!("`gates` is a {}, not a table", gates.get_ref().type_str());
        return Err(vec![fault(gates.span(), message, "write a `[gates]` table of `name = \"gate\"` lines")]);
    };
    let mut entries: Vec<_> = gates.iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    let (mut found, mut faults) = (Vec::new(), Vec::new());
    for (name, value) in entries {
        let DeValue::String(written) = value.get_ref() else {
            let message = format!("gate `{}` is a {}, not text", name.get_ref(), value.get_ref().type_str());
            faults.push(fault(value.span(), message, "write the gate in double quotes"));
            continue;
        };
        match written.parse() {
            Ok(expr) => {
                found.push(Gate { name: name.get_ref().to_string(), text: written.to_string(), expr });
            }
            Err(GateSyntax { at, message, remedy }) => {
                let message = format!("gate `{}`: {message}", name.get_ref());
                faults.push(fault(inside(text, value, written, at), message, &remedy));
            }
        }
    }
    if faults.is_empty() { Ok(found) } else { Err(faults) }
}

/// Place of a byte of a string's value in the file; the whole string when escapes make it uncertain.
fn inside(text: &str, value: &Spanned<DeValue<'_>>, written: &str, at: usize) -> Range<usize> {
    let span = value.span();
    match text.get(span.clone()).and_then(|raw| raw.find(written)) {
        Some(quote) => {
            let start = span.start + quote + at;
            // One character wide, for a mark under it.
            let width = text.get(start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
            start..start + width
        }
        None => span,
    }
}

/// Line and column of a byte offset, both from 1.
fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.matches('\n').count() + 1;
    (line, before.get(line_start..).unwrap_or_default().chars().count() + 1)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

    use super::*;

    fn faults(text: &str) -> Vec<String> {
        parse_gates(Path::new("hookbench.toml"), text).unwrap_err().iter().map(GateFault::to_string).collect()
    }

    #[test]
    fn gates_come_in_file_order_and_other_tables_are_ignored() {
        let text = "[run]\nrepeat = 3\n[gates]\nz = \"leak.count == 0\"\na = \"golden.failed == 0\"\n";
        let gates = parse_gates(Path::new("hookbench.toml"), text).unwrap();
        assert_eq!(gates.iter().map(|gate| &*gate.name).collect::<Vec<_>>(), ["z", "a"]);
        assert_eq!(gates[1].text, "golden.failed == 0");
        assert_eq!(parse_gates(Path::new("x"), "a = 1").unwrap(), []);
    }

    #[test]
    fn every_mistake_has_its_place_in_the_file() {
        let text = "[gates]\nfirst = \"latency.wall.p95 <= 150\"\nok = \"leak.count == 0\"\n\
                    second = 'leek.count == 0'\nthird = 3\n";
        assert_eq!(
            faults(text),
            [
                "hookbench.toml:2:30: gate `first`: a time needs a unit of time",
                "hookbench.toml:4:11: gate `second`: unknown metric `leek.count`",
                "hookbench.toml:5:9: gate `third` is a integer, not text",
            ]
        );
    }

    #[test]
    fn a_mistake_at_the_end_points_behind_the_text() {
        assert_eq!(faults("[gates]\na = \"leak.count ==\"\n"), ["hookbench.toml:2:19: gate `a`: a bound is missing"]);
    }

    #[test]
    fn the_mark_is_one_character_wide() {
        let span = |text: &str| parse_gates(Path::new("x"), text).unwrap_err().remove(0).span;
        // "[gates]\n" has 8 bytes, "a = '" 5, "leak.count == " 14; ü has two bytes.
        assert_eq!(span("[gates]\na = 'leek == 0'\n"), 13..14);
        assert_eq!(span("[gates]\na = 'leak.count == ü'\n"), 27..29);
    }

    #[test]
    fn escapes_move_the_place_to_the_whole_string() {
        assert_eq!(
            faults("[gates]\na = \"leak.\\u0063ount == x\"\n"),
            ["hookbench.toml:2:5: gate `a`: a bound is missing"]
        );
    }

    #[test]
    fn broken_toml_and_a_wrong_shape_are_named() {
        assert_eq!(faults("[gates]\na = \n").len(), 1);
        assert!(faults("[gates]\na = \"x\"\na = \"y\"\n")[0].starts_with("hookbench.toml:3:1: "));
        assert_eq!(faults("gates = 3\n"), ["hookbench.toml:1:9: `gates` is a integer, not a table"]);
    }

    #[test]
    fn a_gate_on_the_command_line_may_have_a_name() {
        let named = Gate::parse("clean: leak.count == 0").unwrap();
        assert_eq!((&*named.name, &*named.text), ("clean", "leak.count == 0"));
        let bare = Gate::parse("leak.count == 0").unwrap();
        assert_eq!((&*bare.name, &*bare.text), ("leak.count == 0", "leak.count == 0"));
        let file = Gate::parse("latency.cpu.p50 < +10% vs file:a/b").unwrap();
        assert_eq!(file.name, "latency.cpu.p50 < +10% vs file:a/b");
        assert_eq!(Gate::parse("clean: leek == 0").unwrap_err().at, 7);
    }
}
