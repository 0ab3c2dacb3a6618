//! The part of `summary.json` about two hooks: what the pairs of calls say of each step.
//!
//! A ratio is the median over rounds of candidate by baseline, with its 95 % interval; one for the first measurement
//! and one for each confirmation. The candidate's own figures stand with the other figures of the run.

use hookbench_statistics::{CONFIDENCE, median_interval};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::summary_file::{LatencyFile, latency_file};
use crate::summary::{Clock, StepSummary, Summary, Timing, pairs};
use crate::versioned::six;

/// Seed of the resamples: a saved run gives what the live one did.
const SEED: u64 = 1;

/// A comparison of two hooks.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct ComparisonFile {
    baseline_command: String,
    /// Rounds at the start that are part of no figure here.
    n_cold_rounds: u32,
    n_confirmations: u32,
    steps: Vec<PairedStepFile>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct PairedStepFile {
    scenario: String,
    name: String,
    host_event: String,
    wall: PairedClockFile,
    cpu: PairedClockFile,
    baseline_peak_memory_bytes: Option<u64>,
    candidate_peak_memory_bytes: Option<u64>,
    /// Of one call; absent unless they were counted.
    baseline_instructions: Option<u64>,
    /// Of one call; absent unless they were counted.
    candidate_instructions: Option<u64>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct PairedClockFile {
    baseline: LatencyFile,
    candidate: LatencyFile,
    /// The first measurement, then each confirmation.
    ratios: Vec<RatioFile>,
}

/// Ratios are absent under two pairs.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct RatioFile {
    n_pairs: u64,
    ratio: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
}

impl ComparisonFile {
    /// The comparison of a run; `None` when one hook ran alone.
    pub(super) fn of(summary: &Summary) -> Option<ComparisonFile> {
        let header = summary.header()?;
        let step = |step: &StepSummary| Some(paired_step(summary, step, summary.baseline_of(step)?));
        Some(ComparisonFile {
            baseline_command: header.baseline_command.clone()?,
            n_cold_rounds: header.n_cold_rounds,
            n_confirmations: u32::try_from(summary.confirm_starts().len()).unwrap_or(u32::MAX),
            steps: summary.steps().iter().filter_map(step).collect(),
        })
    }
}

fn paired_step(summary: &Summary, candidate: &StepSummary, baseline: &StepSummary) -> PairedStepFile {
    let timing = |step| Timing::of([step], summary.floors());
    let (own, other) = (timing(candidate), timing(baseline));
    let clock = |clock| PairedClockFile {
        baseline: latency_file(other.clock(clock)),
        candidate: latency_file(own.clock(clock)),
        ratios: ratios(summary, candidate, clock),
    };
    PairedStepFile {
        scenario: candidate.scenario.clone(),
        name: candidate.step.clone(),
        host_event: candidate.event.clone(),
        wall: clock(Clock::Wall),
        cpu: clock(Clock::Cpu),
        baseline_peak_memory_bytes: other.peak_memory_bytes,
        candidate_peak_memory_bytes: own.peak_memory_bytes,
        baseline_instructions: baseline.instructions(),
        candidate_instructions: candidate.instructions(),
    }
}

fn ratios(summary: &Summary, step: &StepSummary, clock: Clock) -> Vec<RatioFile> {
    let all = pairs(summary, &[step], clock);
    let ratio = |phase: usize| {
        let logs: Vec<f64> = all.iter().filter(|pair| pair.phase == phase).map(|pair| pair.log_ratio).collect();
        let seen = median_interval(&logs, CONFIDENCE, SEED);
        RatioFile {
            n_pairs: logs.len() as u64,
            ratio: seen.map(|seen| six(seen.estimate.exp())),
            low: seen.map(|seen| six(seen.low.exp())),
            high: seen.map(|seen| six(seen.high.exp())),
        }
    };
    (0..=summary.confirm_starts().len()).map(ratio).collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use std::time::Duration;

    use super::super::SummaryFile;
    use super::*;
    use crate::run_event::{Arm, RunEvent};
    use crate::summary::fixture::{header, run, step};

    #[test]
    fn a_comparison_stands_in_the_summary_and_reads_back() {
        let mut header = header(&["s"], 0);
        (header.baseline_command, header.n_cold_rounds) = (Some("old".to_owned()), 1);
        let mut events = vec![RunEvent::RunStarted(header)];
        for round in 0..31 {
            if round == 21 {
                events.push(RunEvent::ConfirmStarted { round, seed: 2 });
            }
            for (arm, cpu_us) in [(Arm::Baseline, 1_000), (Arm::Candidate, 1_250)] {
                let mut result = step("s", "ask", 0, round);
                (result.arm, result.observation.cpu) = (arm, Duration::from_micros(cpu_us));
                events.push(RunEvent::StepFinished(result));
            }
        }
        let text = SummaryFile::of(&Summary::of(&events)).to_text();
        assert_eq!(SummaryFile::parse(&text).unwrap().to_text(), text);
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        let comparison = &json["comparison"];
        assert_eq!((&comparison["baseline_command"], &comparison["n_confirmations"]), (&"old".into(), &1.into()));
        let cpu = &comparison["steps"][0]["cpu"];
        assert_eq!((&cpu["baseline"]["count"], &cpu["candidate"]["count"]), (&30.into(), &30.into()));
        let ratios = cpu["ratios"].as_array().unwrap();
        assert_eq!(ratios.iter().map(|ratio| &ratio["n_pairs"]).collect::<Vec<_>>(), [20, 10]);
        assert!(ratios.iter().all(|ratio| ratio["ratio"] == 1.25 && ratio["low"] == 1.25), "{ratios:?}");
    }

    #[test]
    fn a_run_of_one_hook_has_none() {
        let summary = Summary::of(&run(1, [step("s", "x", 0, 0)]));
        assert!(ComparisonFile::of(&summary).is_none());
        assert!(!SummaryFile::of(&summary).to_text().contains("comparison"));
    }
}
