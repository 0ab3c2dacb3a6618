//! The user's mistakes, each with its place and its remedy.
//!
//! A [`Problem`] is about a file that a person wrote: a scenario, a payload, a golden, a gate, a command.
//! Its `Display` alone names file, line and column, so a log without colours loses nothing; as a miette
//! diagnostic it shows the line too. [`Problems`] is never empty. A hook's mistake is not a problem: it is a
//! finding of the run.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};

/// Text of a file that problems point into.
#[derive(Debug, Clone)]
pub struct Source {
    path: PathBuf,
    named: Arc<NamedSource<Arc<str>>>,
}

impl Source {
    /// A source from a file's path, as the user would name it, and its text.
    pub fn new(path: impl Into<PathBuf>, text: impl Into<Arc<str>>) -> Source {
        let path = path.into();
        let named = Arc::new(NamedSource::new(path.display().to_string(), text.into()));
        Source { path, named }
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whole text of the file.
    pub fn text(&self) -> &str {
        self.named.inner()
    }

    /// A problem at this byte range of the text. A range outside the text is moved to its end.
    pub fn problem(&self, span: Range<usize>, message: impl Into<String>, remedy: impl Into<String>) -> Problem {
        let end = span.end.min(self.text().len());
        let span = span.start.min(end)..end;
        Problem {
            path: self.path.clone(),
            place: Some(Box::new(Place { at: position(self.text(), span.start), span, source: self.clone() })),
            message: message.into(),
            remedy: remedy.into(),
        }
    }
}

/// Line and column of a byte offset, both from 1; the column counts characters.
fn position(text: &str, offset: usize) -> (usize, usize) {
    let mut before = offset.min(text.len());
    while !text.is_char_boundary(before) {
        before -= 1;
    }
    let before = text.get(..before).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.matches('\n').count() + 1;
    (line, before.get(line_start..).unwrap_or_default().chars().count() + 1)
}

/// Where in a file a problem is.
#[derive(Debug, Clone)]
struct Place {
    at: (usize, usize),
    span: Range<usize>,
    source: Source,
}

/// One mistake: which file, where, what, and what to do.
#[derive(Debug, Clone)]
pub struct Problem {
    path: PathBuf,
    place: Option<Box<Place>>,
    message: String,
    remedy: String,
}

impl Problem {
    /// A problem of a whole file or folder.
    pub fn file(path: impl Into<PathBuf>, message: impl Into<String>, remedy: impl Into<String>) -> Problem {
        Problem { path: path.into(), place: None, message: message.into(), remedy: remedy.into() }
    }

    /// The file or folder that the problem is about.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Line and column, both from 1, when the problem has a place inside the file.
    pub fn position(&self) -> Option<(usize, usize)> {
        self.place.as_ref().map(|place| place.at)
    }

    /// What is wrong, without the place.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do about it.
    pub fn remedy(&self) -> &str {
        &self.remedy
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some((line, column)) = self.position() {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for Problem {}

impl Diagnostic for Problem {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(&self.remedy))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.place.as_ref().map(|place| &*place.source.named as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let place = self.place.as_ref()?;
        Some(Box::new(std::iter::once(LabeledSpan::underline(place.span.clone()))))
    }
}

/// One or more problems that stop a command before it starts.
#[derive(Debug, Clone)]
pub struct Problems {
    all: Vec<Problem>,
}

impl Problems {
    /// `Ok` when nothing was found, else all of it.
    ///
    /// # Errors
    /// The collected problems, when there is at least one.
    pub fn check(found: Vec<Problem>) -> Result<(), Problems> {
        if found.is_empty() { Ok(()) } else { Err(Problems { all: found }) }
    }

    /// All problems, in the order of discovery.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.all.iter()
    }

    /// The problems themselves, to join those of several files.
    pub fn into_vec(self) -> Vec<Problem> {
        self.all
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Problems {
        Problems { all: vec![problem] }
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.all.len() {
            1 => write!(f, "1 problem in the input"),
            n => write!(f, "{n} problems in the input"),
        }
    }
}

impl std::error::Error for Problems {}

impl Diagnostic for Problems {
    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        Some(Box::new(self.all.iter().map(|problem| problem as &dyn Diagnostic)))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
    use super::*;

    #[test]
    fn display_names_file_line_and_column_in_characters() {
        let source = Source::new("a/scenario.toml", "one\nzwölf = 3\n");
        let at = source.text().find('3').unwrap();
        let problem = source.problem(at..at + 1, "bad number", "use 4");
        assert_eq!(problem.to_string(), "a/scenario.toml:2:9: bad number");
        assert_eq!(problem.position(), Some((2, 9)));
    }

    #[test]
    fn span_past_the_end_points_at_the_end() {
        let problem = Source::new("x", "ab").problem(9..12, "cut", "complete it");
        assert_eq!(problem.position(), Some((1, 3)));
    }

    #[test]
    fn fancy_report_shows_the_line_and_the_remedy() {
        let source = Source::new("a/scenario.toml", "schema = 7\n");
        let problems = Problems::from(source.problem(9..10, "unknown schema 7", "write schema = 1"));
        let mut text = String::new();
        miette::GraphicalReportHandler::new_themed(miette::GraphicalTheme::unicode_nocolor())
            .render_report(&mut text, &problems)
            .unwrap();
        for part in ["1 problem", "a/scenario.toml", "schema = 7", "unknown schema 7", "write schema = 1"] {
            assert!(text.contains(part), "{part:?} is not in:\n{text}");
        }
    }

    #[test]
    fn no_problems_is_ok() {
        assert!(Problems::check(Vec::new()).is_ok());
        assert_eq!(Problems::check(vec![Problem::file("f", "gone", "make it")]).unwrap_err().into_vec().len(), 1);
    }
}
