//! The tables of a run as rows of text, for whichever report draws them.

use std::collections::BTreeMap;

use super::figure;
use crate::latency::{Distribution, Quantile};
use crate::pace::figures;
use crate::quality::{MIN_GRADE, Measure, SHOWN, wilson};
use crate::run_event::FindingKind;
use crate::summary::{
    Budget, BudgetMeasure, Clock, FindingTally, ScenarioSummary, StepSummary, Summary, Timing, mean_over_steps,
};

/// A table: a header, and rows of the same width.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) header: Vec<&'static str>,
    pub(super) rows: Vec<Vec<String>>,
}

/// One row a scenario: state, steps that passed, kinds of findings.
pub(super) fn scenarios(summary: &Summary) -> Table {
    let row = |scenario: &ScenarioSummary<'_>| {
        vec![
            figure::state(scenario.state).to_owned(),
            scenario.name.to_owned(),
            format!("{}/{}", scenario.n_passed(), scenario.steps.len()),
            scenario.n_rounds.to_string(),
            figure::findings(kinds(scenario.steps)),
        ]
    };
    Table {
        header: vec!["state", "scenario", "steps passed", "rounds", "findings"],
        rows: summary.scenarios().iter().map(row).collect(),
    }
}

/// Kinds of findings over some steps, with the number of calls.
fn kinds(steps: &[StepSummary]) -> BTreeMap<FindingKind, u32> {
    let mut kinds = BTreeMap::new();
    for (kind, tally) in steps.iter().flat_map(StepSummary::findings) {
        *kinds.entry(*kind).or_insert(0) += tally.n_calls;
    }
    kinds
}

/// One finding: `scenario/step`, its kind, and what was wrong.
pub(super) struct FindingRow<'a> {
    pub(super) step: &'a StepSummary,
    pub(super) kind: FindingKind,
    pub(super) n_calls: u32,
    pub(super) message: &'a str,
}

/// All findings in plan order, one for each kind at each step.
pub(super) fn findings(summary: &Summary) -> Vec<FindingRow<'_>> {
    let of_step = |step| StepSummary::findings(step).iter().map(move |found| (step, found));
    let row = |(step, (kind, tally))| {
        let (kind, tally): (&FindingKind, &FindingTally) = (kind, tally);
        FindingRow { step, kind: *kind, n_calls: tally.n_calls, message: &tally.message }
    };
    summary.steps().iter().flat_map(of_step).map(row).collect()
}

/// Three rows an event: wall, exit, CPU; the floor in brackets beside each figure. Every machine has rows of its own.
pub(super) fn latency(summary: &Summary) -> Table {
    let row = |event: &str, clock: &str, times: &Distribution, floor: Option<&Distribution>, ratio: String| {
        let cell = |quantile| figure::beside_floor(times, floor, quantile);
        vec![
            event.to_owned(),
            clock.to_owned(),
            times.count().to_string(),
            cell(Quantile::P50),
            cell(Quantile::P90),
            cell(Quantile::P95),
            cell(Quantile::P99),
            times.max().map_or("-".to_owned(), figure::time),
            ratio,
        ]
    };
    let mut rows = Vec::new();
    let machines = summary.machines();
    let parts = summary.events().into_iter().flat_map(|event| {
        let own = summary.machines_of(summary.steps_of_event(event));
        own.into_iter().map(move |machine| (event, machine))
    });
    for (event, machine) in parts {
        let here = |scenario: &str| summary.machine_of(scenario) == machine;
        let (floor_wall, floor_cpu) = summary.floors().of_scenarios(here);
        let steps = summary.steps_of_event(event).filter(|step| here(&step.scenario));
        let timing = Timing::of(steps, summary.floors());
        let ratio = |clock| figure::ratio(timing.median_ratio(clock));
        let cpu = if timing.n_cpu_partial > 0 { "cpu (partial)" } else { "cpu" };
        let name = match machines.iter().position(|known| *known == machine) {
            Some(at) if machines.len() > 1 => format!("{event} @{}", at + 1),
            _ => event.to_owned(),
        };
        rows.push(row(&name, "wall", &timing.wall, Some(&floor_wall), ratio(Clock::Wall)));
        rows.push(row("", "exit", &timing.exit, None, "-".to_owned()));
        rows.push(row("", cpu, &timing.cpu, Some(&floor_cpu), ratio(Clock::Cpu)));
    }
    Table { header: vec!["event", "time", "n", "p50", "p90", "p95", "p99", "max", "to floor"], rows }
}

/// Two rows an event of an open-loop run: how long the hook took, and how long whoever caused the event waited.
pub(super) fn pace(summary: &Summary) -> Table {
    let row = |event: &str, time: &str, times: &Distribution, late: String| {
        let cell = |quantile| figure::beside_floor(times, None, quantile);
        vec![
            event.to_owned(),
            time.to_owned(),
            times.count().to_string(),
            cell(Quantile::P50),
            cell(Quantile::P95),
            cell(Quantile::P99),
            times.max().map_or("-".to_owned(), figure::time),
            late,
        ]
    };
    let mut rows = Vec::new();
    for event in figures(summary) {
        let late = format!("{} calls, at most {}", event.n_late, figure::time(event.most_late));
        rows.push(row(&event.event, "service", &event.service, String::new()));
        rows.push(row("", "response", &event.response, late));
    }
    Table { header: vec!["event", "time", "n", "p50", "p95", "p99", "max", "began late"], rows }
}

/// One row an event: largest text, largest sum of a round, cut texts, peak memory.
pub(super) fn budget(summary: &Summary) -> Table {
    let row = |event: &str| {
        let of = |measure| Budget::of(summary.steps_of_event(event), measure);
        let (utf16, bytes) = (of(BudgetMeasure::Utf16), of(BudgetMeasure::Bytes));
        let calls = || summary.steps_of_event(event).flat_map(StepSummary::calls);
        let peak = calls().filter_map(|call| call.peak_memory_bytes).max();
        vec![
            event.to_owned(),
            calls().count().to_string(),
            utf16.max().unwrap_or(0).to_string(),
            bytes.max().unwrap_or(0).to_string(),
            of(BudgetMeasure::TokensEst).max().unwrap_or(0).to_string(),
            utf16.round_sum.to_string(),
            calls().filter(|call| call.truncated).count().to_string(),
            peak.map_or("-".to_owned(), figure::bytes),
        ]
    };
    Table {
        header: vec![
            "event",
            "calls",
            "max UTF-16",
            "max bytes",
            "max tokens (est.)",
            "UTF-16 a round",
            "truncated",
            "peak memory",
        ],
        rows: summary.events().into_iter().map(row).collect(),
    }
}

/// Where the memory figures come from; `None` when there are none.
pub(super) fn memory_source(summary: &Summary) -> Option<String> {
    let timing = Timing::of(summary.steps(), summary.floors());
    timing.peak_memory_bytes?;
    Some(match timing.memory_floor_bytes {
        Some(floor) => {
            format!("peak memory: by wait4 of a small launcher; it reads at least {}", figure::bytes(floor))
        }
        None => "peak memory: source unknown".to_owned(),
    })
}

/// One row a measure, over all labelled steps; empty when there are none.
pub(super) fn retrieval(summary: &Summary) -> Table {
    let row = |measure: Measure| {
        let mean = mean_over_steps(summary.steps(), measure, MIN_GRADE)?;
        let interval = wilson(mean.mean, mean.n)
            .map_or("-".to_owned(), |(low, high)| format!("{} to {}", figure::share(low), figure::share(high)));
        Some(vec![measure.to_string(), figure::share(mean.mean), interval, mean.n.to_string()])
    };
    Table {
        header: vec!["measure", "mean", "95 % interval", "steps"],
        rows: SHOWN.into_iter().filter_map(row).collect(),
    }
}

/// Labelled steps that missed: nothing relevant in the first five, or text where none was wanted.
pub(super) fn misses(summary: &Summary) -> Vec<String> {
    let missed = |step: &&StepSummary| {
        let low = |measure| step.score(measure, MIN_GRADE).is_some_and(|score| score < 1.0);
        low(Measure::Hit(5)) || low(Measure::Abstain)
    };
    summary.steps().iter().filter(missed).map(|step| format!("{}/{}", step.scenario, step.step)).collect()
}
