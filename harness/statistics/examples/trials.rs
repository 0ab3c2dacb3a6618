//! How often the default rule raises a false alarm and misses a true slow-down, on rounds recorded on one machine.
//!
//! ```text
//! cargo run --release -p hookbench-statistics --example trials -- [--trials K] [--forbidden SHARE] [METRIC=]FILE…
//! ```
//!
//! Each FILE holds one JSON object a line, one per recorded round and in the order of recording:
//!
//! ```text
//! {"round":1,"metric":"cpu","baseline_us":3750,"candidate_us":3741,"slow_us":4120,"noop_us":610}
//! ```
//!
//! `baseline_us` and `candidate_us` are the same hook twice, `slow_us` the build slowed by the forbidden share.
//! `metric` is optional; METRIC= before the file names it for lines without, and `cpu` is meant when neither does. So
//! one file may hold both metrics, or `cpu=cpu.jsonl wall=wall.jsonl` give one each.
//!
//! A trial begins at a random recorded round and reads on from there as a real run would: look at 20, 30, 40 … pairs
//! until the interval is precise, at most 400 (or a third of the recording, so that a confirmation stays fresh); on a
//! fail, twice as many of the rounds that follow. Trials overlap, so their rates are less sure than their number
//! suggests; "disjoint" says how many would fit beside each other.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::io::{self, Write};

use hookbench_statistics::{
    Decision, Interval, Rule, confirmation_pairs, median_interval, minimum_detectable_effect, next_look, wilson,
};
use serde::Deserialize;

/// Pairs after which a run gives up on precision.
const MAX_PAIRS: usize = 400;

/// Where the trials start, so that two runs over one recording print the same.
const SEED: u64 = 20;

#[derive(Deserialize)]
struct Line {
    round: u64,
    metric: Option<String>,
    baseline_us: f64,
    candidate_us: f64,
    slow_us: f64,
    noop_us: f64,
}

/// Log ratios of one metric, in the order of recording.
#[derive(Default)]
struct Recording {
    last_round: Option<u64>,
    unchanged: Vec<f64>,
    slower: Vec<f64>,
    noop_share: Vec<f64>,
}

/// What became of one trial.
struct Trial {
    first: Decision,
    end: Decision,
    pairs: usize,
    pairs_with_confirmation: usize,
    half_width: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut trials, mut rule) = (300, Rule::of(0.10));
    let mut recordings: BTreeMap<String, Recording> = BTreeMap::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--trials" => trials = arguments.next().ok_or("--trials needs a number")?.parse()?,
            "--forbidden" => rule = Rule::of(arguments.next().ok_or("--forbidden needs a share")?.parse()?),
            file => {
                let (metric, path) = file.split_once('=').unwrap_or(("cpu", file));
                read(path, metric, &mut recordings)?;
            }
        }
    }
    if recordings.is_empty() {
        return Err("usage: trials [--trials K] [--forbidden SHARE] [METRIC=]FILE…".into());
    }
    let mut out = io::stdout().lock();
    for (metric, recording) in &recordings {
        report(&mut out, metric, recording, &rule, trials)?;
    }
    Ok(())
}

fn read(path: &str, metric: &str, recordings: &mut BTreeMap<String, Recording>) -> Result<(), Box<dyn Error>> {
    let text = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    for (number, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
        let line: Line = serde_json::from_str(text).map_err(|error| format!("{path}:{number}: {error}"))?;
        let recording = recordings.entry(line.metric.unwrap_or_else(|| metric.to_owned())).or_default();
        if recording.last_round.is_some_and(|last| last >= line.round) {
            return Err(format!("{path}:{number}: round {} comes out of order", line.round).into());
        }
        recording.last_round = Some(line.round);
        recording.unchanged.push((line.candidate_us / line.baseline_us).ln());
        recording.slower.push((line.slow_us / line.baseline_us).ln());
        recording.noop_share.push(line.noop_us / line.baseline_us);
    }
    Ok(())
}

fn report(
    out: &mut impl Write,
    metric: &str,
    recording: &Recording,
    rule: &Rule,
    trials: u64,
) -> Result<(), Box<dyn Error>> {
    let rounds = recording.unchanged.len();
    let max_pairs = MAX_PAIRS.min(rounds / 3);
    if max_pairs < next_look(0) {
        return Err(format!("{metric}: {rounds} rounds are too few, 60 are needed and 1,200 wanted").into());
    }
    let spread = |ratios: &[f64]| median_interval(ratios, rule.confidence, SEED).map(ratio_text).unwrap_or_default();
    writeln!(out, "{metric}: {rounds} rounds, at most {max_pairs} pairs, {trials} trials")?;
    writeln!(out, "  unchanged / baseline {}", spread(&recording.unchanged))?;
    writeln!(out, "  slow / baseline      {}", spread(&recording.slower))?;
    if let Some(floor) = median_interval(&recording.noop_share, rule.confidence, SEED) {
        writeln!(out, "  no-op / baseline     {:.4}", floor.estimate)?;
    }
    for (name, ratios) in [("A/A", &recording.unchanged), ("slow", &recording.slower)] {
        let done: Vec<Trial> =
            trial_starts(rounds, trials).map(|(start, seed)| trial(ratios, start, seed, max_pairs, rule)).collect();
        tell(out, name, &done, rounds)?;
    }
    Ok(())
}

/// Start and seed of each trial. Both builds begin at the same rounds.
fn trial_starts(rounds: usize, trials: u64) -> impl Iterator<Item = (usize, u64)> {
    let mut rng = fastrand::Rng::with_seed(SEED);
    (0..trials).map(move |_| (rng.usize(..rounds), rng.u64(..)))
}

fn trial(ratios: &[f64], start: usize, seed: u64, max_pairs: usize, rule: &Rule) -> Trial {
    let mut pairs = 0;
    let interval = loop {
        pairs = next_look(pairs).min(max_pairs);
        let interval = measure(ratios, start, pairs, rule, seed);
        if rule.is_precise(&interval) || pairs == max_pairs {
            break interval;
        }
    };
    let first = rule.decide(&interval, interval.p_not_above);
    let mut trial =
        Trial { first, end: first, pairs, pairs_with_confirmation: pairs, half_width: interval.half_width() };
    if first == Decision::Fail {
        let fresh = confirmation_pairs(pairs);
        let again = measure(ratios, start + pairs, fresh, rule, !seed);
        trial.end = first.confirmed_by(rule.decide(&again, again.p_not_above));
        trial.pairs_with_confirmation += fresh;
    }
    trial
}

/// The interval of `pairs` rounds from `start` on, beginning anew at the end of the recording.
fn measure(ratios: &[f64], start: usize, pairs: usize, rule: &Rule, seed: u64) -> Interval {
    let window: Vec<f64> = ratios.iter().cycle().skip(start % ratios.len()).take(pairs).copied().collect();
    // Rounds without a time on either side leave nothing to judge.
    median_interval(&window, rule.confidence, seed).unwrap_or(Interval {
        estimate: f64::NAN,
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
        n: 0,
        confidence: rule.confidence,
        p_not_above: 1.0,
        p_not_below: 1.0,
    })
}

fn tell(out: &mut impl Write, name: &str, done: &[Trial], rounds: usize) -> io::Result<()> {
    let n = done.len().max(1) as f64;
    let mean = |of: fn(&Trial) -> f64| done.iter().map(of).sum::<f64>() / n;
    let pairs = mean(|trial| trial.pairs as f64);
    let all_pairs = mean(|trial| trial.pairs_with_confirmation as f64);
    let effect = minimum_detectable_effect(mean(|trial| trial.half_width));
    writeln!(
        out,
        "  {name:<4} mean pairs {pairs:.1}, with confirmation {all_pairs:.1}; disjoint {:.0}; smallest visible effect {:.1} %",
        rounds as f64 / all_pairs,
        effect * 100.0,
    )?;
    for (kind, decision) in
        [("fail", Decision::Fail), ("inconclusive", Decision::Inconclusive), ("pass", Decision::Pass)]
    {
        let first = done.iter().filter(|trial| trial.first == decision).count();
        let end = done.iter().filter(|trial| trial.end == decision).count();
        let (low, high) = wilson(end as f64 / n, done.len() as u64).unwrap_or((0.0, 1.0));
        writeln!(
            out,
            "       {kind:<12} {end:>5} = {:>5.1} % ({:.1} to {:.1}), before confirmation {first:>5} = {:>5.1} %",
            end as f64 / n * 100.0,
            low * 100.0,
            high * 100.0,
            first as f64 / n * 100.0,
        )?;
    }
    Ok(())
}

/// `1.0930 (1.0910 to 1.0950)`.
fn ratio_text(interval: Interval) -> String {
    format!("{:.4} ({:.4} to {:.4})", interval.estimate.exp(), interval.low.exp(), interval.high.exp())
}
