//! The comparison of two hooks as a table: both hooks and the floor, and what the pairs of calls say about their ratio.
//!
//! Three kinds of rows: each step; the steps of a scenario or of an event together, when there are several, as a
//! geometric mean. Of very many steps only those have rows that changed most; `summary.json` has them all. A ratio is the median over rounds of candidate by baseline within the round, with its interval; it is
//! not the ratio of the two medians beside it, which the load of the machine moves. Cold rounds stand apart. Verdicts
//! are not here.

use hookbench_statistics::{CONFIDENCE, FIRST_LOOK, Interval, median_interval};

use super::figure;
use super::rows::Table;
use crate::bench::{Instrument, n_failed};
use crate::latency::Quantile;
use crate::summary::{Clock, StepSummary, Summary, Timing, pairs};

/// Seed of the resamples: a saved run shows what the live one did.
const SEED: u64 = 1;

/// What to think of hooks of which only one speaks.
const UNEQUAL: &str = "they do not do the same work";

/// Most steps that have rows of their own.
const MAX_STEPS: usize = 40;

/// Steps of a longer table that have rows all the same.
const MAX_CHANGED: usize = 10;

/// Some steps that have rows together.
struct Group<'a> {
    name: String,
    steps: Vec<&'a StepSummary>,
}

/// The table; without rows for a run of one hook.
pub(super) fn comparison(summary: &Summary, instruments: &[Instrument]) -> Table {
    let confirmed = !summary.confirm_starts().is_empty();
    let mut header = vec!["steps", "figure", "baseline p50", "candidate p50", "floor p50", "ratio", "95 %", "n"];
    if confirmed {
        header.extend(["confirmed", "95 %", "n"]);
    }
    header.push("cold, worst (baseline / candidate)");
    let mut rows = Vec::new();
    if !summary.baseline_steps().is_empty() {
        for group in groups(summary) {
            let mut name = group.name.as_str();
            for instrument in instruments {
                let cells = match instrument {
                    Instrument::Wall => Some(clock_row(summary, &group.steps, Clock::Wall, confirmed)),
                    Instrument::Cpu => Some(clock_row(summary, &group.steps, Clock::Cpu, confirmed)),
                    Instrument::Mem => memory_row(summary, &group.steps, confirmed),
                    Instrument::Instr => instructions_row(summary, &group.steps, confirmed),
                };
                if let Some(cells) = cells {
                    rows.push([name.to_owned()].into_iter().chain(cells).collect());
                    name = "";
                }
            }
        }
    }
    Table { header, rows }
}

/// What is odd about the baseline, a line each: a comparison is only as good as both its sides.
pub(super) fn oddities(summary: &Summary) -> Vec<String> {
    let mut odd = Vec::new();
    for step in summary.steps() {
        let Some(baseline) = summary.baseline_of(step) else { continue };
        let place = format!("{}/{}", step.scenario, step.step);
        let n_failed = n_failed(baseline);
        if n_failed > 0 {
            let n = baseline.calls().len();
            odd.push(format!("{place}: the baseline failed {n_failed} of {n} calls, whose times mean little"));
        }
        let longest = |step: &StepSummary| step.calls().iter().map(|call| call.injected_bytes).max().unwrap_or(0);
        match (longest(baseline), longest(step)) {
            (0, 1..) => odd.push(format!("{place}: the candidate says something, the baseline nothing: {UNEQUAL}")),
            (1.., 0) => odd.push(format!("{place}: the baseline says something, the candidate nothing: {UNEQUAL}")),
            _ => {}
        }
    }
    odd
}

fn groups<'a>(summary: &'a Summary) -> Vec<Group<'a>> {
    let group =
        |name: &str, steps: Vec<&'a StepSummary>| Group { name: format!("{name} ({} steps)", steps.len()), steps };
    let one = |step: &'a StepSummary| Group { name: format!("{}/{}", step.scenario, step.step), steps: vec![step] };
    let is_long = summary.steps().len() > MAX_STEPS;
    let mut groups = Vec::new();
    for scenario in summary.scenarios() {
        if !is_long {
            groups.extend(scenario.steps.iter().map(one));
        }
        if scenario.steps.len() > 1 {
            groups.push(group(scenario.name, scenario.steps.iter().collect()));
        }
    }
    for event in summary.events() {
        let steps: Vec<_> = summary.steps_of_event(event).collect();
        if steps.len() > 1 {
            groups.push(group(event, steps));
        }
    }
    if is_long {
        groups.extend(most_changed(summary).into_iter().map(one));
    }
    groups
}

/// Steps whose CPU changed for certain, those first that changed most at least; of a long table all that is shown.
fn most_changed(summary: &Summary) -> Vec<&StepSummary> {
    let changed = |step| {
        let ratios: Vec<f64> = pairs(summary, &[step], Clock::Cpu).iter().map(|pair| pair.log_ratio).collect();
        let seen = median_interval(&ratios, CONFIDENCE, SEED)?;
        let at_least = seen.low.max(-seen.high);
        (ratios.len() >= FIRST_LOOK && at_least > 0.0).then_some((at_least, step))
    };
    let mut changed: Vec<(f64, &StepSummary)> = summary.steps().iter().filter_map(changed).collect();
    changed.sort_by(|left, right| right.0.total_cmp(&left.0));
    changed.into_iter().take(MAX_CHANGED).map(|(_, step)| step).collect()
}

/// Cells after the name: what, baseline, candidate, floor, ratio with interval and n, its confirmation, cold.
fn clock_row(summary: &Summary, steps: &[&StepSummary], clock: Clock, confirmed: bool) -> Vec<String> {
    let others = others(summary, steps);
    let pooled = |steps: &[&StepSummary]| Timing::of(steps.iter().copied(), summary.floors());
    let cold = |steps: &[&StepSummary]| Timing::cold(steps.iter().copied(), summary.floors()).clock(clock).max();
    let p50 = |timing: &Timing| figure::percentile(timing.clock(clock).percentile(Quantile::P50));
    let floor = match clock {
        Clock::Wall => summary.floors().wall(),
        Clock::Cpu => summary.floors().cpu(),
    };
    let (baseline, candidate) = (pooled(&others), pooled(steps));
    let partial =
        if clock == Clock::Cpu && baseline.n_cpu_partial + candidate.n_cpu_partial > 0 { " (partial)" } else { "" };
    let mut cells = vec![
        format!("{}{partial}", clock.name()),
        p50(&baseline),
        p50(&candidate),
        figure::percentile(floor.percentile(Quantile::P50)),
    ];
    let all = pairs(summary, steps, clock);
    let of_phase = |phase: usize| {
        let ratios: Vec<f64> = all.iter().filter(|pair| pair.phase == phase).map(|pair| pair.log_ratio).collect();
        median_interval(&ratios, CONFIDENCE, SEED)
    };
    cells.extend(ratio_cells(of_phase(0)));
    if confirmed {
        cells.extend(ratio_cells(of_phase(summary.confirm_starts().len())));
    }
    let shown = |time: Option<std::time::Duration>| time.map_or("-".to_owned(), figure::time);
    cells.push(format!("{} / {}", shown(cold(&others)), shown(cold(steps))));
    cells
}

/// Largest peaks; the floor is the launcher's own size.
fn memory_row(summary: &Summary, steps: &[&StepSummary], confirmed: bool) -> Option<Vec<String>> {
    let timing = |steps: &[&StepSummary]| Timing::of(steps.iter().copied(), summary.floors());
    let (baseline, candidate) = (timing(&others(summary, steps)), timing(steps));
    let (base, peak) = (baseline.peak_memory_bytes?, candidate.peak_memory_bytes?);
    let floor = candidate.memory_floor_bytes.map_or("-".to_owned(), figure::bytes);
    let ratio = (base > 0).then(|| peak as f64 / base as f64);
    Some(exact_row("peak memory", figure::bytes(base), figure::bytes(peak), floor, ratio, confirmed))
}

/// Instructions of one call of each step, summed; absent unless all were counted.
fn instructions_row(summary: &Summary, steps: &[&StepSummary], confirmed: bool) -> Option<Vec<String>> {
    let sum = |steps: &[&StepSummary]| steps.iter().map(|step| step.instructions()).sum::<Option<u64>>();
    let (base, count) = (sum(&others(summary, steps))?, sum(steps)?);
    let ratio = (base > 0).then(|| count as f64 / base as f64);
    Some(exact_row("instructions", base.to_string(), count.to_string(), "-".to_owned(), ratio, confirmed))
}

/// A figure that has no interval.
fn exact_row(
    what: &str,
    base: String,
    candidate: String,
    floor: String,
    ratio: Option<f64>,
    confirmed: bool,
) -> Vec<String> {
    let mut cells = vec![what.to_owned(), base, candidate, floor, figure::change(ratio)];
    let n_empty = if confirmed { 6 } else { 3 };
    cells.extend(std::iter::repeat_n("-".to_owned(), n_empty));
    cells
}

fn ratio_cells(interval: Option<Interval>) -> [String; 3] {
    let Some(seen) = interval else { return ["-".to_owned(), "-".to_owned(), "0".to_owned()] };
    let change = |log: f64| figure::change(Some(log.exp()));
    [change(seen.estimate), format!("{} to {}", change(seen.low), change(seen.high)), seen.n.to_string()]
}

fn others<'a>(summary: &'a Summary, steps: &[&StepSummary]) -> Vec<&'a StepSummary> {
    steps.iter().filter_map(|step| summary.baseline_of(step)).collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use std::time::Duration;

    use super::*;
    use crate::run_event::{Arm, FindingKind, RunEvent, StepResult};
    use crate::summary::fixture::{finding, floor, header, step};

    /// One call of `ask` in scenario `s`: wall is twice the CPU.
    fn call(round: u32, arm: Arm, cpu_us: u64) -> StepResult {
        let mut result = step("s", "ask", 0, round);
        result.arm = arm;
        result.observation.cpu = Duration::from_micros(cpu_us);
        result.observation.eof_after = Duration::from_micros(2 * cpu_us);
        result
    }

    /// Two cold rounds, then 30 warm ones in which the candidate takes a tenth longer, while the load doubles every
    /// other round.
    fn run() -> Vec<RunEvent> {
        let mut header = header(&["s"], 0);
        header.n_cold_rounds = 2;
        header.baseline_command = Some("old-hook".to_owned());
        let mut events = vec![RunEvent::RunStarted(header)];
        for round in 0..32 {
            let load = if round < 2 { 50 } else { 1 + u64::from(round % 2) };
            events.push(floor("s", round));
            events.push(RunEvent::StepFinished(call(round, Arm::Candidate, 1_100 * load)));
            events.push(RunEvent::StepFinished(call(round, Arm::Baseline, 1_000 * load)));
        }
        events
    }

    fn cells(events: &[RunEvent], instruments: &[Instrument]) -> Vec<Vec<String>> {
        comparison(&Summary::of(events), instruments).rows
    }

    #[test]
    fn the_ratio_is_that_of_the_pairs_and_cold_rounds_stand_apart() {
        let rows = cells(&run(), &[Instrument::Cpu]);
        // 15 rounds of 1 ms and 15 of 2 ms: rank 15 of 30 is the last of the quick ones.
        let want =
            ["s/ask", "cpu", "1.00ms", "1.10ms", "500us", "+10.0 %", "+10.0 % to +10.0 %", "30", "50.0ms / 55.0ms"];
        assert_eq!(rows, [want]);
    }

    #[test]
    fn a_confirmation_has_columns_of_its_own() {
        let mut events = run();
        events.push(RunEvent::ConfirmStarted { round: 32, seed: 5 });
        for round in 32..52 {
            events.push(RunEvent::StepFinished(call(round, Arm::Candidate, 1_200)));
            events.push(RunEvent::StepFinished(call(round, Arm::Baseline, 1_000)));
        }
        let rows = cells(&events, &[Instrument::Wall]);
        let row = rows.first().unwrap();
        assert_eq!(
            row.get(5..11).unwrap(),
            ["+10.0 %", "+10.0 % to +10.0 %", "30", "+20.0 %", "+20.0 % to +20.0 %", "20"]
        );
    }

    #[test]
    fn rows_are_those_of_the_instruments_and_need_a_figure() {
        let mut events = run();
        let figures = |events: &[RunEvent]| -> Vec<String> {
            cells(events, &Instrument::ALL).iter().map(|row| row.get(1).unwrap().clone()).collect()
        };
        assert_eq!(figures(&events), ["wall", "cpu", "peak memory"]);
        for (arm, instructions) in [(Arm::Baseline, 1_000_000), (Arm::Candidate, 1_030_000)] {
            let (scenario, step) = ("s".to_owned(), "ask".to_owned());
            events.push(RunEvent::InstructionsCounted { scenario, step, arm, instructions });
        }
        assert_eq!(figures(&events), ["wall", "cpu", "peak memory", "instructions"]);
        let rows = cells(&events, &[Instrument::Instr]);
        assert_eq!(rows.first().unwrap().get(2..6).unwrap(), ["1000000", "1030000", "-", "+3.0 %"]);
    }

    #[test]
    fn a_long_table_shows_groups_and_the_steps_that_changed_most() {
        let mut header = header(&["s"], 0);
        header.baseline_command = Some("old-hook".to_owned());
        let mut events = vec![RunEvent::RunStarted(header)];
        for round in 0..20 {
            for index in 0..50 {
                for arm in [Arm::Candidate, Arm::Baseline] {
                    // Step 7 is a third slower for sure, step 9 now and then twice as slow; the others are equal.
                    let cpu_us = match (arm, index) {
                        (Arm::Candidate, 7) => 1_333,
                        (Arm::Candidate, 9) => 1_000 + 1_000 * u64::from(round % 2),
                        _ => 1_000,
                    };
                    let mut result = step("s", &format!("step-{index}"), index, round);
                    (result.arm, result.observation.cpu) = (arm, Duration::from_micros(cpu_us));
                    events.push(RunEvent::StepFinished(result));
                }
            }
        }
        let rows = cells(&events, &[Instrument::Cpu]);
        let names: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
        assert_eq!(names, ["s (50 steps)", "UserPromptSubmit (50 steps)", "s/step-7"]);
    }

    #[test]
    fn a_run_of_one_hook_has_no_comparison() {
        let events = [RunEvent::RunStarted(header(&["s"], 1)), RunEvent::StepFinished(step("s", "ask", 0, 0))];
        assert!(cells(&events, &Instrument::ALL).is_empty());
    }

    #[test]
    fn odd_baselines_are_told() {
        let mut events = run();
        assert_eq!(oddities(&Summary::of(&events)), [""; 0]);
        let mut late = call(32, Arm::Baseline, 1_000);
        late.findings.push(finding(FindingKind::Timeout, "late"));
        events.push(RunEvent::StepFinished(late));
        let mut speaks = call(32, Arm::Candidate, 1_000);
        speaks.injected_bytes = 7;
        events.push(RunEvent::StepFinished(speaks));
        assert_eq!(
            oddities(&Summary::of(&events)),
            [
                "s/ask: the baseline failed 1 of 33 calls, whose times mean little",
                "s/ask: the candidate says something, the baseline nothing: they do not do the same work",
            ]
        );
    }
}
