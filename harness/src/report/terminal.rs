//! The report for a person at a terminal: plain text, no colour, no width limit.

use std::fmt::Write as _;

use comfy_table::presets::NOTHING;

use super::rows::Table;
use super::{closing, figure, paired, rows};
use crate::bench::Instrument;
use crate::golden::harmless;
use crate::run_event::{Severity, Verdict};
use crate::summary::Summary;

/// Most findings that are spelled out; the counts above them are always complete.
const MAX_FINDINGS: usize = 30;
/// Title of the comparison's table.
const COMPARISON: &str =
    "Comparison (ratio: median over rounds of candidate by baseline; several steps: geometric mean)";
/// Most steps that are named as missed.
const MAX_MISSES: usize = 10;

/// The whole report, with a newline at its end.
pub fn render(summary: &Summary) -> String {
    render_with(summary, &Instrument::ALL)
}

/// The whole report, of a comparison only these figures.
pub fn render_with(summary: &Summary, instruments: &[Instrument]) -> String {
    let mut out = String::new();
    head(&mut out, summary);
    section(&mut out, "Scenarios", &rows::scenarios(summary));
    findings(&mut out, summary);
    section(&mut out, "Latency (floor of the no-op child in brackets, nothing subtracted)", &rows::latency(summary));
    section(&mut out, COMPARISON, &paired::comparison(summary, instruments));
    for odd in paired::oddities(summary) {
        line(&mut out, &format!("  odd: {odd}"));
    }
    section(&mut out, "Open loop (response: service, and how late the call began)", &rows::pace(summary));
    section(&mut out, "Injected text and memory", &rows::budget(summary));
    if let Some(source) = rows::memory_source(summary) {
        line(&mut out, &format!("  {source}"));
    }
    section(&mut out, "Retrieval (relevant: grade 2 and above)", &rows::retrieval(summary));
    misses(&mut out, summary);
    gates(&mut out, summary);
    line(&mut out, "");
    line(&mut out, &closing::verdict_line(summary));
    for next in closing::next_steps(summary) {
        line(&mut out, &format!("next: {next}"));
    }
    out
}

/// The gates alone, with reason and remedy of those that do not pass; empty when none was judged.
pub fn gate_table(summary: &Summary) -> String {
    let mut out = String::new();
    gates(&mut out, summary);
    out.trim_start().to_owned()
}

/// Adds one line. A hook's text may hold anything; control characters would let it drive the terminal, and others show
/// a line that is not there.
pub(super) fn line(out: &mut String, text: &str) {
    out.push_str(&harmless(text.trim_end()));
    out.push('\n');
}

fn head(out: &mut String, summary: &Summary) {
    if let Some(header) = summary.header() {
        line(out, &format!("hook:    {}", header.hook_command));
        if let Some(baseline) = &header.baseline_command {
            line(out, &format!("against: {baseline}"));
        }
        line(out, &format!("host:    {} (modelled)", header.host_version));
        let rounds = closing::rounds(summary, header);
        line(out, &format!("rounds:  {rounds}, seed {}, hookbench {}", header.seed, header.hookbench_version));
        if let Some(pace) = &header.pace {
            line(out, &format!("pace:    {pace}"));
        }
        match summary.machines().as_slice() {
            [] | [_] => line(out, &format!("machine: {}", header.machine)),
            several => {
                for (at, machine) in several.iter().enumerate() {
                    line(out, &format!("machine @{}: {machine}", at + 1));
                }
            }
        }
    }
    line(out, &closing::contention_line(summary));
}

fn section(out: &mut String, title: &str, table: &Table) {
    if table.rows.is_empty() {
        return;
    }
    let mut drawn = comfy_table::Table::new();
    drawn.load_style(NOTHING);
    drawn.set_header(table.header.clone());
    drawn.add_rows(table.rows.clone());
    line(out, "");
    line(out, title);
    for row in drawn.lines() {
        line(out, &format!(" {row}"));
    }
}

fn findings(out: &mut String, summary: &Summary) {
    let found = rows::findings(summary);
    if found.is_empty() {
        return;
    }
    line(out, "");
    line(out, "Findings");
    for row in found.iter().take(MAX_FINDINGS) {
        let calls = figure::counted(row.n_calls as usize, "call");
        line(out, &format!("  {}/{}: {} ({calls})", row.step.scenario, row.step.step, row.kind.name()));
        for text in row.message.lines() {
            // The bar keeps a hook's text from standing at the start of a line, where CI systems read commands.
            line(out, &format!("    | {text}"));
        }
    }
    if found.len() > MAX_FINDINGS {
        line(out, &format!("  and {} more", found.len() - MAX_FINDINGS));
    }
}

fn misses(out: &mut String, summary: &Summary) {
    let missed = rows::misses(summary);
    for step in missed.iter().take(MAX_MISSES) {
        line(out, &format!("  missed: {step}"));
    }
    if missed.len() > MAX_MISSES {
        line(out, &format!("  and {} more", missed.len() - MAX_MISSES));
    }
}

fn gates(out: &mut String, summary: &Summary) {
    if summary.gates().is_empty() {
        return;
    }
    line(out, "");
    line(out, "Gates");
    let width = summary.gates().iter().map(|gate| gate.name.chars().count()).max().unwrap_or(0);
    for gate in summary.gates() {
        let mut row = String::new();
        // Writing into a string cannot fail.
        let _ = write!(row, "  {:<12}  {:<width$}  {}", figure::verdict(gate.verdict), gate.name, gate.expression);
        let _ = write!(row, "  ->  {} (n {})", figure::gate(gate), gate.n);
        if gate.severity == Severity::Warn && gate.verdict == Verdict::Fail {
            row.push_str("  (warning only)");
        }
        line(out, &row);
        if gate.verdict != Verdict::Pass {
            line(out, &format!("                why: {}", gate.reason));
            if !gate.remedy.is_empty() {
                line(out, &format!("                do:  {}", gate.remedy));
            }
        }
    }
}
