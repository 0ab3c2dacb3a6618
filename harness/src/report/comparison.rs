//! The comparison of two runs for a person at a terminal: plain text, no colour.

use std::time::Duration;

use comfy_table::presets::NOTHING;

use super::figure;
use super::terminal::line;
use crate::compare::{Both, Comparison, EventTimes, MeasureChange, StepChange, Times};
use crate::exit_code::ExitCode;
use crate::run_event::Verdict;

/// Most changed steps, queries and lone steps that are spelled out; the counts are always complete.
const MAX_LISTED: usize = 30;

/// The whole report, with a newline at its end.
pub fn render(compared: &Comparison) -> String {
    let mut out = String::new();
    for (name, hook, machine, complete) in [
        ("before", &compared.hook.before, &compared.machine.before, compared.complete.before),
        ("after", &compared.hook.after, &compared.machine.after, compared.complete.after),
    ] {
        let stopped = if complete { "" } else { " (stopped before its end)" };
        line(&mut out, &format!("{:<8} {hook}{stopped}", format!("{name}:")));
        line(&mut out, &format!("         {machine}"));
    }
    lone(&mut out, "before", &compared.only.before);
    lone(&mut out, "after", &compared.only.after);
    changes(&mut out, compared);
    times(&mut out, &compared.times);
    retrieval(&mut out, compared);
    line(&mut out, "");
    line(&mut out, &verdict(compared));
    out
}

fn verdict(compared: &Comparison) -> String {
    let code = compared.exit_code();
    let word = match code {
        ExitCode::Pass => "PASS",
        ExitCode::NothingMatched => "SKIPPED",
        _ => "FAIL",
    };
    let flipped = compared.changes.iter().filter(|change| change.passed.differ());
    let n_broken = flipped.clone().filter(|change| change.passed.before).count();
    let what = match code {
        ExitCode::NothingMatched => "the runs have no step in common".to_owned(),
        _ => format!(
            "{} in both runs, {} changed, {n_broken} newly failing, {} newly passing",
            figure::counted(compared.n_steps, "step"),
            compared.changes.len(),
            flipped.count() - n_broken,
        ),
    };
    format!("{word} (exit {}): {what}", code.code())
}

fn lone(out: &mut String, side: &str, steps: &[String]) {
    if steps.is_empty() {
        return;
    }
    let mut named = steps.iter().take(MAX_LISTED).map(String::as_str).collect::<Vec<_>>().join(", ");
    if steps.len() > MAX_LISTED {
        named = format!("{named} and {} more", steps.len() - MAX_LISTED);
    }
    line(out, &format!("only {side}: {named}"));
}

fn changes(out: &mut String, compared: &Comparison) {
    if compared.changes.is_empty() {
        return;
    }
    line(out, "");
    line(out, "Steps that changed");
    for change in compared.changes.iter().take(MAX_LISTED) {
        line(out, &format!("  {}/{}: {}", change.scenario, change.step, what_changed(change)));
    }
    if compared.changes.len() > MAX_LISTED {
        line(out, &format!("  and {} more", compared.changes.len() - MAX_LISTED));
    }
}

fn what_changed(change: &StepChange) -> String {
    let mut parts = Vec::new();
    let state = |passed| if passed { "PASS" } else { "FAIL" };
    if change.passed.differ() {
        parts.push(format!("{} -> {}", state(change.passed.before), state(change.passed.after)));
    }
    if change.findings.differ() {
        let kinds = change.findings.clone().map(|kinds| {
            let names: Vec<&str> = kinds.into_iter().map(|kind| kind.name()).collect();
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        });
        parts.push(format!("findings {} -> {}", kinds.before, kinds.after));
    }
    if change.decision.differ() {
        parts.push(format!("decision {} -> {}", change.decision.before, change.decision.after));
    }
    if let Some(text) = change.text {
        let at = text.first_line.map(|number| format!(" from line {number}")).unwrap_or_default();
        parts.push(format!("text differs{at}"));
    }
    if change.injected_bytes.differ() || change.injected_utf16.differ() {
        parts.push(format!(
            "{} -> {} bytes, {} -> {} UTF-16",
            change.injected_bytes.before,
            change.injected_bytes.after,
            change.injected_utf16.before,
            change.injected_utf16.after
        ));
    }
    parts.join("; ")
}

fn times(out: &mut String, times: &Times) {
    line(out, "");
    let events = match times {
        Times::Refused { reason } => {
            line(out, &format!("Times: not compared, because {reason}"));
            return;
        }
        Times::Unpaired(events) => events,
    };
    if events.is_empty() {
        return;
    }
    line(out, "Times (unpaired: not measured side by side, so no verdict; `hookbench bench` gives one)");
    let header = ["event", "time", "n", "median before (floor)", "median after (floor)", "after/before", "to floor"];
    let rows = events.iter().map(|event: &EventTimes| {
        let us = |us: Option<u64>| us.map_or("n<5".to_owned(), |us| figure::time(Duration::from_micros(us)));
        let to_floor = event.to_floor.map(figure::ratio);
        vec![
            event.event.clone(),
            event.clock.name().to_owned(),
            format!("{}, {}", event.n.before, event.n.after),
            format!("{} ({})", us(event.median_us.before), us(event.floor_us.before)),
            format!("{} ({})", us(event.median_us.after), us(event.floor_us.after)),
            figure::ratio(event.ratio),
            format!("{}, {}", to_floor.before, to_floor.after),
        ]
    });
    table(out, header.to_vec(), rows.collect());
}

fn retrieval(out: &mut String, compared: &Comparison) {
    let retrieval = &compared.retrieval;
    if retrieval.measures.is_empty() {
        return;
    }
    line(out, "");
    line(out, "Retrieval (relevant: grade 2 and above; intervals at 95 %; p of paired tests, not corrected)");
    let header = ["measure", "queries", "before", "after", "better, worse", "sign-flip p", "sign-test p", "verdict"];
    let rows = retrieval.measures.iter().map(|change: &MeasureChange| {
        let mean = |mean: f64, interval: Option<(f64, f64)>| match interval {
            Some((low, high)) => {
                format!("{} [{} to {}]", figure::share(mean), figure::share(low), figure::share(high))
            }
            None => figure::share(mean),
        };
        let Both { before, after } = change.mean;
        vec![
            change.measure.to_string(),
            change.n.to_string(),
            mean(before, change.interval.before),
            mean(after, change.interval.after),
            format!("{}, {}", change.n_gains, change.n_losses),
            format!("{:.4}", change.sign_flip_p),
            format!("{:.4}", change.sign_test_p),
            figure::verdict(change.verdict).to_owned(),
        ]
    });
    table(out, header.to_vec(), rows.collect());
    for change in &retrieval.measures {
        line(out, &format!("  why ({}): {}", change.measure, change.reason));
    }
    let must = &retrieval.must;
    if must.verdict() != Verdict::Skipped {
        let named = |queries: &[String]| if queries.is_empty() { "none".to_owned() } else { queries.join(", ") };
        let word = figure::verdict(must.verdict());
        let lost_and_won = format!("lost {}; won {}", named(&must.lost), named(&must.won));
        line(out, &format!("  must-hit queries: {word} ({}): {lost_and_won}", must.n));
    }
    let flips = || {
        let named = retrieval.measures.iter().map(|change| (change.measure, &change.flips));
        named.flat_map(|(measure, flips)| flips.iter().map(move |flip| (measure, flip)))
    };
    for (measure, flip) in flips().take(MAX_LISTED) {
        let Both { before, after } = flip.score.map(figure::share);
        line(out, &format!("  flipped: {measure} {}: {before} -> {after}", flip.query));
    }
    let n_flips = flips().count();
    if n_flips > MAX_LISTED {
        line(out, &format!("  and {} more (see --json)", n_flips - MAX_LISTED));
    }
}

fn table(out: &mut String, header: Vec<&str>, rows: Vec<Vec<String>>) {
    let mut drawn = comfy_table::Table::new();
    drawn.load_style(NOTHING);
    drawn.set_header(header);
    drawn.add_rows(rows);
    for row in drawn.lines() {
        line(out, &format!(" {row}"));
    }
}
