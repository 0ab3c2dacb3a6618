//! What the template is given: the head of the page, its sections, and how to make the run again.

use serde::Serialize;

use super::budget::{self, Budgets};
use super::findings::{self, Findings};
use super::flips::{self, Flips};
use super::gates::{self, Gates};
use super::latency::{self, Strips};
use super::number;
use super::retrieval::{self, Retrieval};
use super::sentence::{Piece, pieces};
use super::slowest::{self, SlowStep};
use super::verdict::Badge;
use crate::exit_code::ExitCode;
use crate::report::{closing, figure};
use crate::run_event::{RunHeader, Verdict};
use crate::summary::{Clock, ScenarioState, ScenarioSummary, StepSummary, Summary};

/// Most scenarios that are listed.
const MAX_SCENARIOS: usize = 400;
/// Most things to do that are listed.
const MAX_NEXT: usize = 10;
/// Most scenarios that a command line names.
const MAX_NAMED: usize = 8;

/// The page.
#[derive(Debug, Serialize)]
pub(super) struct Page {
    style: &'static str,
    title: String,
    badge: Badge,
    exit_code: u8,
    meaning: &'static str,
    tiles: Vec<Tile>,
    next: Vec<Vec<Piece>>,
    facts: Vec<(&'static str, String)>,
    contention: String,
    scenarios: Vec<ScenarioRow>,
    n_scenarios_left_out: usize,
    all_scenarios_pass: bool,
    findings: Findings,
    gates: Gates,
    clocks: Vec<ClockSection>,
    budgets: Option<Budgets>,
    retrieval: Option<Retrieval>,
    flips: Flips,
    slowest: Vec<SlowStep>,
    commands: Vec<String>,
}

/// A count that sums up a part of the run.
#[derive(Debug, Serialize)]
struct Tile {
    label: &'static str,
    figure: String,
    note: String,
}

#[derive(Debug, Serialize)]
struct ScenarioRow {
    badge: Badge,
    name: String,
    passed: String,
    n_rounds: u32,
    findings: String,
}

#[derive(Debug, Serialize)]
struct ClockSection {
    id: &'static str,
    name: &'static str,
    about: &'static str,
    strips: Strips,
}

impl Page {
    /// Everything about a run that the page shows.
    pub(super) fn of(summary: &Summary, style: &'static str) -> Page {
        let code = ExitCode::of(summary, false);
        let badge = Badge::of(code.verdict(summary));
        let mut scenarios = summary.scenarios();
        let all_scenarios_pass = scenarios.iter().all(|scenario| scenario.state == ScenarioState::Pass);
        // Stable: within one state the order of the plan stays.
        scenarios.sort_by_key(|scenario| match scenario.state {
            ScenarioState::Fail => 0,
            ScenarioState::Incomplete => 1,
            ScenarioState::Pass => 2,
        });
        let hook = summary.header().map_or("a hook", |header| &*header.hook_command);
        Page {
            style,
            title: format!("{}: {} · hookbench", badge.word(), short(hook)),
            badge,
            exit_code: code.code(),
            meaning: code.meaning(),
            tiles: tiles(summary),
            next: closing::next_steps(summary).iter().take(MAX_NEXT).map(|text| pieces(text)).collect(),
            facts: summary.header().map(facts).unwrap_or_default(),
            contention: closing::contention_line(summary).trim_start_matches("machine: ").to_owned(),
            n_scenarios_left_out: scenarios.len().saturating_sub(MAX_SCENARIOS),
            scenarios: scenarios.iter().take(MAX_SCENARIOS).map(scenario_row).collect(),
            all_scenarios_pass,
            findings: findings::findings(summary),
            gates: gates::gates(summary),
            clocks: clocks(summary),
            budgets: budget::budgets(summary),
            retrieval: retrieval::retrieval(summary),
            flips: flips::flips(summary),
            slowest: slowest::slowest(summary),
            commands: summary.header().map(commands).unwrap_or_default(),
        }
    }
}

fn tiles(summary: &Summary) -> Vec<Tile> {
    let steps = summary.steps();
    let n_passed = steps.iter().filter(|step| step.passed()).count();
    let mut tiles = vec![Tile {
        label: "Steps without finding",
        figure: format!("{} of {}", number::count(n_passed as u64), number::count(steps.len() as u64)),
        note: format!("in {}", figure::counted(summary.scenarios().len(), "scenario")),
    }];
    let n_gates = summary.gates().len();
    if n_gates > 0 {
        let count = |verdict| summary.gates().iter().filter(|gate| gate.verdict == verdict).count();
        let others: Vec<String> = [Verdict::Fail, Verdict::Inconclusive, Verdict::Skipped]
            .into_iter()
            .filter(|verdict| count(*verdict) > 0)
            .map(|verdict| format!("{} {}", count(verdict), figure::verdict(verdict).to_lowercase()))
            .collect();
        tiles.push(Tile {
            label: "Gates that hold",
            figure: format!("{} of {n_gates}", count(Verdict::Pass)),
            note: if others.is_empty() { "none open".to_owned() } else { others.join(", ") },
        });
    }
    let n_calls = summary.n_calls() as u64;
    tiles.push(Tile {
        label: "Calls of the hook",
        figure: number::count(n_calls),
        note: summary.header().map_or_else(String::new, |header| match &header.baseline_command {
            Some(_) => "and as many of the baseline".to_owned(),
            None => figure::counted(header.repeat as usize, "round"),
        }),
    });
    let injected = steps.iter().flat_map(StepSummary::calls).map(|call| call.injected_utf16).max().unwrap_or(0);
    tiles.push(Tile {
        label: "Largest injected text",
        figure: number::count(injected),
        note: "UTF-16 units in one call".to_owned(),
    });
    tiles
}

fn facts(header: &RunHeader) -> Vec<(&'static str, String)> {
    let mut facts = vec![("Hook", header.hook_command.clone())];
    facts.extend(header.baseline_command.clone().map(|command| ("Baseline", command)));
    facts.push(("Host", format!("Claude Code {} (modelled)", header.host_version)));
    let mut rounds = format!("{}, seed {}", header.repeat, header.seed);
    if header.n_cold_rounds > 0 {
        rounds.push_str(&format!(", the first {} cold", header.n_cold_rounds));
    }
    facts.push(("Rounds", rounds));
    facts.extend(header.pace.clone().map(|pace| ("Pace", pace)));
    facts.extend(header.shard.as_ref().map(|shard| ("Shard", format!("{} of {}", shard.index, shard.total))));
    facts.push(("Machine", header.machine.clone()));
    facts.push(("hookbench", header.hookbench_version.clone()));
    facts
}

fn scenario_row(scenario: &ScenarioSummary<'_>) -> ScenarioRow {
    let kinds = scenario.steps.iter().flat_map(StepSummary::findings).map(|(kind, tally)| (*kind, tally.n_calls));
    let mut counts = std::collections::BTreeMap::new();
    for (kind, n) in kinds {
        *counts.entry(kind).or_insert(0) += n;
    }
    ScenarioRow {
        badge: Badge::of_state(scenario.state),
        name: scenario.name.to_owned(),
        passed: format!("{}/{}", scenario.n_passed(), scenario.steps.len()),
        n_rounds: scenario.n_rounds,
        findings: figure::findings(counts),
    }
}

fn clocks(summary: &Summary) -> Vec<ClockSection> {
    let section =
        |clock, id, name, about| latency::strips(summary, clock).map(|strips| ClockSection { id, name, about, strips });
    let wall = "From before the start of the process to the end of its output: what a user waits for.";
    let cpu = "User and system time of the hook and the children it reaped: steadier than the clock on a busy machine.";
    [section(Clock::Wall, "wall", "Wall time", wall), section(Clock::Cpu, "cpu", "CPU time", cpu)]
        .into_iter()
        .flatten()
        .collect()
}

/// Command lines that make the run and this page again.
fn commands(header: &RunHeader) -> Vec<String> {
    let mut words = vec!["hookbench".to_owned()];
    words.push(if header.baseline_command.is_some() { "bench" } else { "run" }.to_owned());
    if header.scenarios.len() <= MAX_NAMED {
        words.extend(header.scenarios.iter().map(|name| quoted(name)));
    }
    words.extend(["--hook".to_owned(), quoted(&header.hook_command)]);
    match &header.baseline_command {
        Some(baseline) => words.extend(["--baseline".to_owned(), quoted(baseline)]),
        None => words.extend(["--repeat".to_owned(), header.repeat.to_string()]),
    }
    words.extend(["--seed".to_owned(), header.seed.to_string()]);
    // Several versions mean that each scenario chose its own, which no flag asks for.
    if !header.host_version.contains(',') {
        words.extend(["--host".to_owned(), quoted(&header.host_version)]);
    }
    if let Some(pace) = &header.pace {
        words.extend(["--pace".to_owned(), quoted(pace)]);
    }
    if let Some(shard) = &header.shard {
        words.extend(["--shard".to_owned(), format!("{}/{}", shard.index, shard.total)]);
    }
    vec![words.join(" "), "hookbench report --to html --output report.html".to_owned()]
}

/// A word as a shell reads it back.
fn quoted(word: &str) -> String {
    let plain = |sign: char| sign.is_ascii_alphanumeric() || "-_./=:,@%+".contains(sign);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn short(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::fixture::header;

    #[test]
    fn the_command_survives_a_shell() {
        let mut run = header(&["a", "b c"], 3);
        run.hook_command = "my hook --say 'it'".to_owned();
        assert_eq!(
            commands(&run).first().map(String::as_str),
            Some(r"hookbench run a 'b c' --hook 'my hook --say '\''it'\''' --repeat 3 --seed 7 --host 2.1.332")
        );
        run.baseline_command = Some("old".to_owned());
        assert!(commands(&run).first().is_some_and(|line| line.starts_with("hookbench bench a 'b c' --hook")));
        assert_eq!(quoted(""), "''");
    }
}
