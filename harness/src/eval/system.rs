//! A system under comparison: its name, and the command line that runs it.

use std::path::Path;

use crate::hook::quoted;

/// One thing that is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct System {
    /// Its name in reports.
    pub name: String,
    /// Its command line, for the shell, with placeholders.
    pub command: String,
}

/// A mistake in `NAME=CMD`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotASystem;

impl System {
    /// Reads `NAME=CMD`, as given on a command line.
    ///
    /// # Errors
    /// Without a name, or without a command.
    pub fn parse(text: &str) -> Result<System, NotASystem> {
        let (name, command) = text.split_once('=').ok_or(NotASystem)?;
        let (name, command) = (name.trim(), command.trim());
        // A name is a word of a run: white space would split it.
        if name.is_empty() || command.is_empty() || name.contains(char::is_whitespace) {
            return Err(NotASystem);
        }
        Ok(System { name: name.to_owned(), command: command.to_owned() })
    }

    /// The command with its placeholders filled: `{corpus}` the folder, `{decisions}` a file that the system may write,
    /// `{k}` the records to rank.
    pub fn command_line(&self, corpus: &Path, decisions: &Path, k: u32) -> String {
        let path = |path: &Path| quoted(&path.to_string_lossy());
        fill(&self.command, &[("corpus", &path(corpus)), ("decisions", &path(decisions)), ("k", &k.to_string())])
    }
}

/// Replaces `{name}` by its value, once: a value is not looked into again.
pub(super) fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        let (before, behind) = rest.split_at(at);
        filled.push_str(before);
        let named = values
            .iter()
            .find_map(|(name, value)| Some((behind.strip_prefix('{')?.strip_prefix(name)?.strip_prefix('}')?, value)));
        match named {
            Some((after, value)) => {
                filled.push_str(value);
                rest = after;
            }
            None => {
                filled.push('{');
                rest = behind.get(1..).unwrap_or_default();
            }
        }
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_has_a_name_of_one_word_and_a_command() {
        let system = System { name: "a".to_owned(), command: "x --y=z".to_owned() };
        assert_eq!(System::parse("a = x --y=z"), Ok(system));
        for text in ["", "a", "=x", "a=", "a b=x"] {
            assert_eq!(System::parse(text), Err(NotASystem), "{text}");
        }
    }

    #[test]
    fn placeholders_are_filled_once_and_quoted() {
        let system = System { name: "a".to_owned(), command: "r {corpus} {k} {other} {decisions}".to_owned() };
        let line = system.command_line(Path::new("/a b/{k}"), Path::new("/d"), 7);
        assert_eq!(line, "r '/a b/{k}' 7 {other} /d");
    }
}
