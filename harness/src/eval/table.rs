//! The report of an evaluation for a terminal or a Markdown page.
//!
//! One table of runs with intervals, one of differences, one by form; and what a reader must know to trust them. Names
//! and reasons are those of systems and corpora: they are shown so that they neither act nor break a table.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use comfy_table::{CellAlignment, Table, presets};

use super::compare::{Comparison, TESTED};
use super::evaluation::{ENOUGH_QUERIES, Evaluation};
use super::row::{Column, Estimate};
use crate::golden::harmless;
use crate::report::markdown::cell;

/// Flipped queries that are named for a difference.
const SHOWN_FLIPS: usize = 3;

/// The whole report; `markdown` draws tables as Markdown does.
pub fn render(evaluation: &Evaluation, markdown: bool) -> String {
    let mut text = head(evaluation, markdown);
    if evaluation.runs.is_empty() {
        text.push_str("\nno system answered\n");
    } else {
        let _ = writeln!(text, "\n{}", runs(evaluation, markdown));
        let _ = writeln!(text, "\n{}", injections(evaluation, markdown));
        if let Some(baseline) = &evaluation.baseline {
            let _ = writeln!(
                text,
                "\nAgainst {}, paired by query, p corrected by Holm's method:\n",
                safe(baseline, markdown)
            );
            let _ = writeln!(text, "{}", differences(evaluation, markdown));
        }
        let _ = writeln!(text, "\nMRR@10 by form:\n\n{}", forms(evaluation, markdown));
    }
    for (system, reason) in &evaluation.failed {
        let _ = writeln!(text, "\nno answer from {}: {}", safe(system, markdown), safe(reason, markdown));
    }
    text
}

/// Text of a system's or a corpus's maker.
fn safe(text: &str, markdown: bool) -> String {
    if markdown { cell(text) } else { harmless(text) }
}

fn head(evaluation: &Evaluation, markdown: bool) -> String {
    let kinds: Vec<String> = evaluation.queries.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
    let (corpus, kinds) = (safe(&evaluation.corpus, markdown), safe(&kinds.join(", "), markdown));
    let mut text = format!("corpus {corpus} ({}): {kinds}\n", evaluation.fingerprint);
    if !evaluation.shards.is_empty() {
        let parts: Vec<String> =
            evaluation.shards.iter().map(|one| format!("{}/{}", one.index(), one.total())).collect();
        let _ = writeln!(text, "only a part of the questions: shard {}", parts.join(", "));
    }
    if evaluation.n_answerable() < ENOUGH_QUERIES {
        let _ = writeln!(
            text,
            "fewer than {ENOUGH_QUERIES} questions with an answer: a difference that does not hold may well be there"
        );
    }
    text
}

fn table(markdown: bool, header: Vec<String>) -> Table {
    let mut table = Table::new();
    table.load_style(if markdown { presets::ASCII_MARKDOWN } else { presets::NOTHING });
    let n = header.len();
    table.set_header(header);
    for at in 1..n {
        if let Some(column) = table.column_mut(at) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

fn runs(evaluation: &Evaluation, markdown: bool) -> String {
    let mut header = vec!["system".to_owned()];
    header.extend(Column::ALL.map(|column| column.name().to_owned()));
    header.extend(["route P", "route R", "routed", "route µs", "query µs"].map(str::to_owned));
    let mut table = table(markdown, header);
    for run in &evaluation.runs {
        let mut cells = vec![safe(&run.name, markdown)];
        cells.extend(Column::ALL.map(|column| with_interval(run.row.ranking.get(&column).copied())));
        cells.push(plain(run.row.route_precision));
        cells.push(plain(run.row.route_recall));
        cells.push(run.row.routed.map_or("–".to_owned(), |n| format!("{n:.1}")));
        cells.extend([run.row.route_us, run.row.query_us].map(|us| us.map_or("–".to_owned(), |us| us.to_string())));
        table.add_row(cells);
    }
    table.to_string()
}

fn injections(evaluation: &Evaluation, markdown: bool) -> String {
    let header = [
        "system",
        "false injection",
        "coverage",
        "precision",
        "item precision",
        "bytes a query",
        "bytes a relevant record",
    ];
    let mut table = table(markdown, header.map(str::to_owned).into());
    for run in &evaluation.runs {
        let row = &run.row;
        table.add_row(vec![
            safe(&run.name, markdown),
            with_interval(row.false_injection),
            with_interval(row.coverage),
            with_interval(row.precision),
            with_interval(row.item_precision),
            row.bytes.map_or("–".to_owned(), |bytes| format!("{:.0}", bytes.mean)),
            row.bytes_per_relevant.map_or("–".to_owned(), |bytes| format!("{bytes:.0}")),
        ]);
    }
    table.to_string()
}

fn differences(evaluation: &Evaluation, markdown: bool) -> String {
    let header = ["system", "measure", "difference", "95 % interval", "p", "holds", "better / worse", "such as"];
    let mut table = table(markdown, header.map(str::to_owned).into());
    for one in &evaluation.comparisons {
        let interval = one.interval.map_or("–".to_owned(), |(low, high)| format!("{low:+.3} … {high:+.3}"));
        table.add_row(vec![
            safe(&one.system, markdown),
            one.column.name().to_owned(),
            format!("{:+.3}", one.difference),
            interval,
            format!("{:.4}", one.adjusted_p),
            if one.holds() { "yes" } else { "no" }.to_owned(),
            format!("{} / {}", one.gains.len(), one.losses.len()),
            safe(&flips(one), markdown),
        ]);
    }
    table.to_string()
}

/// Some queries that tell the two apart, those of the rarer side first.
fn flips(one: &Comparison) -> String {
    let side = |sign: &str, qids: &[String]| -> Vec<String> {
        qids.iter().take(SHOWN_FLIPS).map(|qid| format!("{sign}{qid}")).collect()
    };
    let (gains, losses) = (side("+", &one.gains), side("-", &one.losses));
    let ordered = if one.gains.len() < one.losses.len() { [gains, losses] } else { [losses, gains] };
    ordered.concat().into_iter().take(SHOWN_FLIPS).collect::<Vec<_>>().join(" ")
}

fn forms(evaluation: &Evaluation, markdown: bool) -> String {
    let names: BTreeSet<&str> = evaluation.runs.iter().flat_map(|run| run.by_form.keys()).map(String::as_str).collect();
    let mut header = vec!["system".to_owned()];
    header.extend(names.iter().map(|name| safe(name, markdown)));
    let mut table = table(markdown, header);
    for run in &evaluation.runs {
        let mut cells = vec![safe(&run.name, markdown)];
        let mrr = |name: &str| run.by_form.get(name).and_then(|row| row.ranking.get(&Column::Mrr10).copied());
        cells.extend(names.iter().map(|name| plain(mrr(name))));
        table.add_row(cells);
    }
    table.to_string()
}

fn with_interval(estimate: Option<Estimate>) -> String {
    estimate.map_or("–".to_owned(), |one| format!("{:.3} [{:.3}, {:.3}]", one.mean, one.low, one.high))
}

fn plain(estimate: Option<Estimate>) -> String {
    estimate.map_or("–".to_owned(), |one| format!("{:.3}", one.mean))
}

/// One line on what holds, for the end of a log.
pub fn closing(evaluation: &Evaluation) -> String {
    let holding = evaluation.comparisons.iter().filter(|one| one.holds()).count();
    let n = evaluation.runs.len().saturating_sub(1) * TESTED.len();
    format!("{holding} of {n} differences hold, {} without answer\n", evaluation.failed.len())
}
