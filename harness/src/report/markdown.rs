//! Markdown for the summary page of a CI job, and annotations for its log.
//!
//! Always under [`MAX_BYTES`]: rows that do not fit are counted instead. At most [`MAX_ANNOTATIONS`] findings
//! and gates are spelled out.

use super::rows::Table;
use super::{closing, figure, paired, rows};
use crate::bench::Instrument;
use crate::run_event::{OnInconclusive, Severity, Verdict};
use crate::summary::Summary;

/// Size that CI systems accept for one summary.
pub const MAX_BYTES: usize = 1024 * 1024;
/// Findings and gates that are spelled out.
pub const MAX_ANNOTATIONS: usize = 10;

/// Longest message that is kept, in characters.
const MAX_MESSAGE: usize = 600;
/// Bytes kept free for the closing lines, whatever the tables take.
const RESERVE: usize = 64 * 1024;

/// One thing to tell at the place where a reader looks first.
struct Annotation {
    level: &'static str,
    title: String,
    message: String,
}

/// The page, with a newline at its end.
pub fn render(summary: &Summary) -> String {
    let mut page = Page { text: String::new() };
    page.line(&format!("## hookbench: {}", cell(&closing::verdict_line(summary))));
    page.line("");
    for next in closing::next_steps(summary).iter().take(MAX_ANNOTATIONS) {
        page.line(&format!("- next: {}", cell(&cut(next))));
    }
    annotated(&mut page, summary);
    page.table("Scenarios", &rows::scenarios(summary));
    page.table("Gates", &gates(summary));
    page.table("Latency (floor of the no-op child in brackets)", &rows::latency(summary));
    page.line("");
    page.line(&cell(&closing::contention_line(summary)));
    page.table("Candidate by baseline, round by round", &paired::comparison(summary, &Instrument::ALL));
    for odd in paired::oddities(summary) {
        page.line(&format!("- odd: {}", cell(&odd)));
    }
    page.table("Injected text and memory", &rows::budget(summary));
    page.table("Retrieval", &rows::retrieval(summary));
    page.text
}

/// Workflow commands for the most urgent findings and gates, at most [`MAX_ANNOTATIONS`] lines.
pub fn annotations(summary: &Summary) -> Vec<String> {
    // Percent signs and line ends are escaped as the workflow command syntax asks; a title also its separators.
    let data = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    let command =
        |note: Annotation| format!("::{} title={}::{}", note.level, property(&note.title), data(&cut(&note.message)));
    notes(summary).into_iter().take(MAX_ANNOTATIONS).map(command).collect()
}

fn notes(summary: &Summary) -> Vec<Annotation> {
    let of_finding = |row: rows::FindingRow<'_>| Annotation {
        level: "error",
        title: format!("{}/{}: {}", row.step.scenario, row.step.step, row.kind.name()),
        message: row.message.to_owned(),
    };
    let mut notes: Vec<Annotation> = rows::findings(summary).into_iter().map(of_finding).collect();
    for gate in summary.gates() {
        let level = match (gate.verdict, gate.severity, gate.on_inconclusive) {
            (Verdict::Fail, Severity::Fail, _) | (Verdict::Inconclusive, _, OnInconclusive::Fail) => "error",
            (Verdict::Fail, Severity::Warn, _) | (Verdict::Inconclusive, _, OnInconclusive::Warn) => "warning",
            _ => continue,
        };
        let title = format!("gate {}: {}", gate.name, figure::verdict(gate.verdict).to_lowercase());
        notes.push(Annotation { level, title, message: format!("{}; to do: {}", gate.reason, gate.remedy) });
    }
    // Stable: within one level the order of the run stays.
    notes.sort_by_key(|note| note.level != "error");
    notes
}

fn annotated(page: &mut Page, summary: &Summary) {
    let notes = notes(summary);
    if notes.is_empty() {
        return;
    }
    page.line("");
    page.line("### What is wrong");
    page.line("");
    let n_more = notes.len().saturating_sub(MAX_ANNOTATIONS);
    for note in notes.into_iter().take(MAX_ANNOTATIONS) {
        page.line(&format!("- **{}** {}: {}", note.level, cell(&note.title), cell(&cut(&note.message))));
    }
    if n_more > 0 {
        page.line(&format!("- and {n_more} more in the full report"));
    }
}

fn gates(summary: &Summary) -> Table {
    let row = |gate: &crate::run_event::GateResult| {
        vec![
            figure::verdict(gate.verdict).to_owned(),
            gate.name.clone(),
            gate.expression.clone(),
            figure::gate(gate),
            gate.n.to_string(),
            gate.reason.clone(),
            gate.remedy.clone(),
        ]
    };
    Table {
        header: vec!["verdict", "gate", "expression", "figure", "n", "why", "what to do"],
        rows: summary.gates().iter().map(row).collect(),
    }
}

struct Page {
    text: String,
}

impl Page {
    fn line(&mut self, line: &str) {
        if self.text.len() + line.len() < MAX_BYTES {
            self.text.push_str(line);
            self.text.push('\n');
        }
    }

    fn table(&mut self, title: &str, table: &Table) {
        if table.rows.is_empty() {
            return;
        }
        self.line("");
        self.line(&format!("### {title}"));
        self.line("");
        self.line(&format!("| {} |", table.header.join(" | ")));
        self.line(&format!("|{}", " --- |".repeat(table.header.len())));
        for (nth, row) in table.rows.iter().enumerate() {
            let cells: Vec<String> = row.iter().map(|text| cell(&cut(text))).collect();
            let line = format!("| {} |", cells.join(" | "));
            if self.text.len() + line.len() > MAX_BYTES - RESERVE {
                self.line("");
                self.line(&format!("{} left out: the page is full", figure::counted(table.rows.len() - nth, "row")));
                return;
            }
            self.line(&line);
        }
    }
}

/// Text that cannot break out of its cell or be taken for markup.
fn cell(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '|' => safe.push_str("\\|"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '\n' | '\r' => safe.push(' '),
            '*' | '_' | '`' | '[' | ']' | '\\' => {
                safe.push('\\');
                safe.push(sign);
            }
            _ => safe.push(sign),
        }
    }
    safe
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_MESSAGE) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
