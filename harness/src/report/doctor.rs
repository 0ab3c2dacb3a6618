//! What the doctor found, for a person at a terminal.

use std::fmt::Write as _;

use super::figure;
use crate::doctor::{Check, Evidence, Machine, overall, smallest_visible};
use crate::latency::{Contention, Quantile};

/// Most that a call through the launcher may cost beside a bare spawn and wait.
const LAUNCHER_LIMIT: f64 = 1.10;

/// The whole text, with a newline at its end.
pub fn render(machine: &Machine, tested: Option<(&Evidence, &[Check])>) -> String {
    let mut out = String::new();
    let overhead = &machine.overhead;
    let at = |times: &crate::latency::Distribution, quantile| figure::percentile(times.percentile(quantile));
    // Writing into a string cannot fail.
    let _ = writeln!(out, "machine:  {}", machine.fingerprint);
    let _ = writeln!(
        out,
        "floor:    a no-op takes {} at least, p50 {}, p95 {} of wall and p50 {} of CPU ({} calls)",
        overhead.wall.min().map_or("-".to_owned(), figure::time),
        at(&overhead.wall, Quantile::P50),
        at(&overhead.wall, Quantile::P95),
        at(&overhead.cpu, Quantile::P50),
        overhead.wall.count(),
    );
    let _ = writeln!(out, "load:     {}", contention(overhead.contention()));
    let _ = writeln!(
        out,
        "launcher: a no-op takes p50 {} through it, {} by a bare spawn and wait; {}",
        at(&overhead.wall, Quantile::P50),
        at(&overhead.bare, Quantile::P50),
        overhead.interval().map_or("too few calls for a ratio".to_owned(), |seen| {
            let change = |log: f64| figure::change(Some(log.exp()));
            let within = if seen.estimate.exp() <= LAUNCHER_LIMIT { "within" } else { "NOT within" };
            format!(
                "pair by pair {} [{} to {}], {within} 10 %",
                change(seen.estimate),
                change(seen.low),
                change(seen.high)
            )
        }),
    );
    for tool in &machine.tools {
        let _ = match &tool.version {
            Some(version) => writeln!(out, "tool:     {version}"),
            None => writeln!(out, "tool:     {} is missing: {}", tool.name, tool.without),
        };
    }
    let Some((evidence, checks)) = tested else { return out };
    let _ = writeln!(out, "\nSelf-test of the gate for CPU under +10 % against a baseline");
    for check in checks {
        let _ = writeln!(out, "  {:<12}  {:<11}  {}", figure::verdict(check.verdict), check.name, check.reason);
        if !check.remedy.is_empty() {
            let _ = writeln!(out, "                do: {}", check.remedy);
        }
    }
    let _ = match smallest_visible(evidence) {
        Some((share, n_pairs)) => writeln!(
            out,
            "smallest slow-down of CPU that this machine sees nearly always in {}: +{:.1} % (with {n_pairs} pairs)",
            figure::time(evidence.max_time),
            (share * 1e3).ceil() / 10.0,
        ),
        None => writeln!(out, "smallest visible slow-down: unknown, no trial ended"),
    };
    let _ = writeln!(out, "{}", figure::verdict(overall(checks)));
    out
}

fn contention(contention: Contention) -> String {
    match contention {
        Contention::Quiet => "quiet (the no-op was steady)".to_owned(),
        Contention::Contended { p50_over_min, p95_over_p50 } => {
            let tail = p95_over_p50.map(|ratio| format!(", p95 {ratio:.1}x p50")).unwrap_or_default();
            format!("CONTENDED (no-op p50 {p50_over_min:.1}x its minimum{tail}): trust CPU and ratios only")
        }
        Contention::Unknown { have, need } => format!("unknown ({have} of {need} calls needed)"),
    }
}
