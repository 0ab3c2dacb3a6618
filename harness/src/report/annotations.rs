//! What is wrong as workflow commands: lines that a runner of GitHub Actions turns into marks beside the code.
//!
//! At most [`MAX_ANNOTATIONS`], since the runner keeps no more of a step; errors come first. A mark stands at the
//! step's line in `scenario.toml` or the gate's in its file, when [`Places`] knows it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{figure, rows};
use crate::gate::parse_gates;
use crate::golden::is_invisible;
use crate::run_event::{OnInconclusive, Severity, Verdict};
use crate::summary::Summary;

/// Findings and gates that are spelled out.
pub const MAX_ANNOTATIONS: usize = 10;

/// Longest message that is kept, in characters.
const MAX_MESSAGE: usize = 600;

/// One thing to tell at the place where a reader looks first.
pub(super) struct Note<'a> {
    /// `error` or `warning`.
    pub(super) level: &'static str,
    pub(super) title: String,
    pub(super) message: String,
    about: About<'a>,
}

/// What a note is about.
enum About<'a> {
    Step { scenario: &'a str, step: &'a str },
    Gate(&'a str),
}

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    path: PathBuf,
    line: usize,
}

/// Texts of the files that steps and gates were read from; what is not here has no place.
#[derive(Debug, Clone, Default)]
pub struct Places {
    scenarios: BTreeMap<String, (PathBuf, String)>,
    gates: Option<(PathBuf, String)>,
}

impl Places {
    /// Adds the text of a scenario's main file, by the name that the run gives the scenario.
    pub fn add_scenario(&mut self, name: &str, path: &Path, text: String) {
        self.scenarios.insert(name.to_owned(), (path.to_owned(), text));
    }

    /// Sets the text of the file of gates.
    pub fn set_gates(&mut self, path: &Path, text: String) {
        self.gates = Some((path.to_owned(), text));
    }

    fn of(&self, about: &About<'_>) -> Option<Line> {
        match about {
            About::Step { scenario, step } => {
                let (path, text) = self.scenarios.get(*scenario)?;
                Some(Line { path: path.clone(), line: line_of(text, "name", Some(step)).unwrap_or(1) })
            }
            About::Gate(name) => {
                let (path, text) = self.gates.as_ref()?;
                // A gate of the command line stands in no file.
                let gates = parse_gates(path, text).ok()?;
                let known = gates.iter().any(|gate| gate.name == *name);
                known.then(|| Line { path: path.clone(), line: line_of(text, name, None).unwrap_or(1) })
            }
        }
    }
}

/// Number of the first line, from 1, that sets a key, to a text if one is given.
fn line_of(text: &str, key: &str, value: Option<&str>) -> Option<usize> {
    let sets = |line: &str| {
        let Some((left, right)) = line.split_once('=') else { return false };
        let (left, right) = (left.trim().trim_matches(['"', '\'']), right.trim());
        left == key
            && value.is_none_or(|value| {
                let written = right.trim_start_matches(['"', '\'']);
                written.strip_prefix(value).is_some_and(|rest| rest.starts_with(['"', '\'']))
            })
    };
    text.lines().position(sets).map(|index| index + 1)
}

/// The lines, each ending with a newline; nothing when nothing is wrong.
pub fn render(summary: &Summary, places: &Places) -> String {
    let mut text = String::new();
    for note in notes(summary).into_iter().take(MAX_ANNOTATIONS) {
        text.push_str(&command(&note, places));
        text.push('\n');
    }
    text
}

fn command(note: &Note<'_>, places: &Places) -> String {
    // The runner splits properties at commas and ends them at colons, and every command at the end of its line.
    let acts = |sign: char| sign.is_control() && !matches!(sign, '\r' | '\n' | '\t') || is_invisible(sign);
    let data =
        |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A").replace(acts, "\u{fffd}");
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    let place = places.of(&note.about).map_or_else(String::new, |place| {
        format!(",file={},line={}", property(&place.path.to_string_lossy()), place.line)
    });
    format!("::{} title={}{place}::{}", note.level, property(&note.title), data(&cut(&note.message)))
}

/// Everything that is wrong, errors first.
pub(super) fn notes(summary: &Summary) -> Vec<Note<'_>> {
    let mut notes = Vec::new();
    for row in rows::findings(summary) {
        notes.push(Note {
            level: "error",
            title: format!("{}/{}: {}", row.step.scenario, row.step.step, row.kind.name()),
            message: row.message.to_owned(),
            about: About::Step { scenario: &row.step.scenario, step: &row.step.step },
        });
    }
    for gate in summary.gates() {
        let level = match (gate.verdict, gate.severity, gate.on_inconclusive) {
            (Verdict::Fail, Severity::Fail, _) | (Verdict::Inconclusive, _, OnInconclusive::Fail) => "error",
            (Verdict::Fail, Severity::Warn, _) | (Verdict::Inconclusive, _, OnInconclusive::Warn) => "warning",
            _ => continue,
        };
        notes.push(Note {
            level,
            title: format!("gate {}: {}", gate.name, figure::verdict(gate.verdict).to_lowercase()),
            message: format!("{}; to do: {}", gate.reason, gate.remedy),
            about: About::Gate(&gate.name),
        });
    }
    // Stable: within one level the order of the run stays.
    notes.sort_by_key(|note| note.level != "error");
    notes
}

/// A text of bounded length.
pub(super) fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_MESSAGE) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_event::{FindingKind, GateResult, RunEvent};
    use crate::summary::fixture::{finding, run, step};

    #[test]
    fn marks_stand_at_the_line_of_the_step_and_of_the_gate() {
        let mut broken = step("s", "ask", 0, 0);
        broken.findings.push(finding(FindingKind::Crash, "100%\r\nfatal: x, y"));
        let mut events = run(1, [broken]);
        let gate = |name: &str| {
            RunEvent::GateJudged(GateResult {
                name: name.to_owned(),
                expression: "leak.count == 0".to_owned(),
                verdict: Verdict::Fail,
                severity: Severity::Fail,
                on_inconclusive: OnInconclusive::Warn,
                estimate: None,
                unit: String::new(),
                interval: None,
                n: 0,
                reason: "why".to_owned(),
                remedy: "do".to_owned(),
            })
        };
        events.push(gate("clean"));
        events.push(gate("typed"));
        let mut places = Places::default();
        let scenario = "title = \"t\"\n[[step]]\nname = \"asking\"\n[[step]]\nname = \"ask\"\n".to_owned();
        places.add_scenario("s", Path::new("scenarios/a, b/s/scenario.toml"), scenario);
        places.set_gates(Path::new("hookbench.toml"), "[gates]\n\"clean\" = \"leak.count == 0\"\n".to_owned());
        let text = render(&Summary::of(&events), &places);
        assert_eq!(
            text.lines().collect::<Vec<_>>(),
            [
                "::error title=s/ask%3A crash,file=scenarios/a%2C b/s/scenario.toml,line=5::100%25%0D%0Afatal: x, y",
                "::error title=gate clean%3A fail,file=hookbench.toml,line=2::why; to do: do",
                "::error title=gate typed%3A fail::why; to do: do",
            ]
        );
    }

    #[test]
    fn nothing_wrong_is_no_line() {
        assert_eq!(render(&Summary::of(&run(1, [step("s", "x", 0, 0)])), &Places::default()), "");
    }
}
