//! Markdown: a page of its own, and a shorter one for the summary of a CI job.
//!
//! Always under its limit: rows that do not fit are counted instead. At most [`MAX_ANNOTATIONS`] findings and gates are
//! spelled out.

use super::annotations::{MAX_ANNOTATIONS, cut, notes};
use super::rows::Table;
use super::{closing, figure, paired, rows};
use crate::bench::Instrument;
use crate::golden::is_invisible;
use crate::run_event::Verdict;
use crate::summary::Summary;

/// Size that CI systems accept for one page.
pub const MAX_BYTES: usize = 1024 * 1024;
/// Largest job summary: GitHub refuses more than 1 MiB a step, and other commands of the step may write there too.
pub const MAX_SUMMARY_BYTES: usize = 512 * 1024;

/// Bytes kept free for the closing lines, whatever the tables take.
const RESERVE: usize = 64 * 1024;

/// The page, with a newline at its end.
pub fn render(summary: &Summary) -> String {
    let mut page = Page { text: String::new(), limit: MAX_BYTES };
    head(&mut page, summary);
    page.table("Scenarios", &rows::scenarios(summary));
    page.table("Gates", &gates(summary, |_| true));
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

/// The page of a job, with a newline at its end: verdict, what to do, what is wrong and open gates in sight, the rest
/// folded.
pub fn job_summary(summary: &Summary) -> String {
    let mut page = Page { text: String::new(), limit: MAX_SUMMARY_BYTES };
    head(&mut page, summary);
    let (open, passed) = (gates(summary, |verdict| verdict != Verdict::Pass), gates(summary, |v| v == Verdict::Pass));
    page.table("Gates that do not hold", &open);
    page.folded(&format!("Gates that hold ({})", passed.rows.len()), &passed);
    page.folded("Latency (floor of the no-op child in brackets)", &rows::latency(summary));
    page.folded("Injected text and memory", &rows::budget(summary));
    page.folded("Retrieval", &rows::retrieval(summary));
    page.folded("Scenarios", &rows::scenarios(summary));
    page.line("");
    page.line(&cell(&closing::contention_line(summary)));
    page.text
}

fn head(page: &mut Page, summary: &Summary) {
    page.line(&format!("## hookbench: {}", cell(&closing::verdict_line(summary))));
    page.line("");
    for next in closing::next_steps(summary).iter().take(MAX_ANNOTATIONS) {
        page.line(&format!("- next: {}", cell(&cut(next))));
    }
    annotated(page, summary);
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

fn gates(summary: &Summary, wanted: impl Fn(Verdict) -> bool) -> Table {
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
        rows: summary.gates().iter().filter(|gate| wanted(gate.verdict)).map(row).collect(),
    }
}

struct Page {
    text: String,
    /// Most bytes.
    limit: usize,
}

impl Page {
    /// Adds a line, unless it would break the limit.
    fn line(&mut self, line: &str) {
        if self.text.len() + line.len() < self.limit {
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
        self.rows(table);
    }

    /// A table that opens on a click.
    fn folded(&mut self, title: &str, table: &Table) {
        if table.rows.is_empty() {
            return;
        }
        self.line("");
        self.line(&format!("<details><summary>{title}</summary>"));
        self.line("");
        self.rows(table);
        self.line("");
        self.line("</details>");
    }

    fn rows(&mut self, table: &Table) {
        self.line(&format!("| {} |", table.header.join(" | ")));
        self.line(&format!("|{}", " --- |".repeat(table.header.len())));
        for (nth, row) in table.rows.iter().enumerate() {
            let cells: Vec<String> = row.iter().map(|text| cell(&cut(text))).collect();
            let line = format!("| {} |", cells.join(" | "));
            if self.text.len() + line.len() > self.limit - RESERVE {
                self.line("");
                self.line(&format!("{} left out: the page is full", figure::counted(table.rows.len() - nth, "row")));
                return;
            }
            self.line(&line);
        }
    }
}

/// Text that cannot break out of its cell or be taken for markup.
pub(crate) fn cell(text: &str) -> String {
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
            sign if sign.is_control() || is_invisible(sign) => safe.push('\u{fffd}'),
            _ => safe.push(sign),
        }
    }
    safe
}
