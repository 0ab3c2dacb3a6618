//! Evidence from rounds of two hooks side by side: one interval of log ratios for each phase of a run.
//!
//! A phase is the first measurement or one confirmation. Medians come from per-round ratios, in which the load of the
//! moment cancels; other statistics from resampled rounds. The seed is the run's own, so a saved run that is judged
//! again has the same intervals to the last bit. Deciding is not here.

use std::collections::BTreeMap;

use hookbench_statistics::{Interval, median_interval, needed};

use super::expr::Stat;
use super::question::Question;
use super::resample::{Round, ratio_interval};
use crate::summary::{StepSummary, Summary, pairs};

/// Both hooks' evidence for one gate.
#[derive(Debug)]
pub(super) struct Paired {
    pub(super) question: Question,
    /// The first measurement, then the confirmations.
    pub(super) phases: Vec<Phase>,
}

/// One measurement.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Phase {
    /// Warm rounds that began, with a pair or without.
    pub(super) n_rounds: usize,
    /// Rounds that gave a pair.
    pub(super) n_pairs: usize,
    /// Samples of each hook, and how many the statistic needs to be named.
    pub(super) n_samples: u64,
    pub(super) need_samples: u64,
    /// Of direction × ln(candidate / baseline).
    pub(super) interval: Option<Interval>,
}

impl Paired {
    /// The evidence of these steps, in every phase of the run.
    pub(super) fn of(question: Question, summary: &Summary, steps: &[&StepSummary]) -> Paired {
        let seed = summary.header().map_or(0, |header| header.seed);
        let phase_of = |round: u32| summary.confirm_starts().iter().filter(|start| **start <= round).count();
        let mut rounds: Vec<Vec<u32>> = vec![Vec::new(); summary.confirm_starts().len() + 1];
        for call in steps.iter().flat_map(|step| step.calls()).filter(|call| !call.cold) {
            if let Some(of_phase) = rounds.get_mut(phase_of(call.round)) {
                of_phase.push(call.round);
            }
        }
        let pairs = pairs(summary, steps, question.clock);
        let phases = rounds.into_iter().enumerate().map(|(phase, mut began)| {
            began.sort_unstable();
            began.dedup();
            let own: Vec<_> = pairs.iter().filter(|pair| pair.phase == phase).collect();
            // Each phase draws afresh, or a confirmation of the same length would repeat the luck of the first.
            let seed = seed.wrapping_add(phase as u64);
            let mut measured = Phase {
                n_rounds: began.len(),
                n_pairs: own.len(),
                n_samples: own.len() as u64,
                need_samples: 0,
                interval: None,
            };
            let confidence = question.rule.confidence;
            if question.is_about_the_median() {
                let ratios: Vec<f64> = own.iter().map(|pair| question.direction * pair.log_ratio).collect();
                measured.interval = median_interval(&ratios, confidence, seed);
            } else {
                let paired: Vec<u32> = own.iter().map(|pair| pair.round).collect();
                let rounds = times(summary, steps, &paired, question);
                measured.n_samples = rounds.iter().map(|round| round.candidate.len() as u64).sum();
                if let Stat::Percentile(quantile) = question.stat {
                    measured.need_samples = needed(quantile, confidence);
                }
                measured.interval = ratio_interval(&rounds, question.stat, question.direction, confidence, seed);
            }
            measured
        });
        Paired { question, phases: phases.collect() }
    }
}

impl Phase {
    /// Pairs and samples enough to decide anything.
    pub(super) fn is_enough_for(&self, question: &Question) -> bool {
        self.n_pairs >= question.min_pairs && self.n_samples >= self.need_samples
    }

    /// Nothing more to be learned: precise, or at the limit, or no round gives a pair.
    pub(super) fn is_done(&self, question: &Question) -> bool {
        let precise = self.interval.is_some_and(|interval| question.rule.is_precise(&interval));
        self.n_rounds >= question.max_pairs
            || (self.n_pairs == 0 && self.n_rounds >= question.min_pairs)
            || (precise && self.is_enough_for(question))
    }
}

/// Both hooks' times of the named rounds, pooled over the steps.
fn times(summary: &Summary, steps: &[&StepSummary], named: &[u32], question: Question) -> Vec<Round> {
    let mut rounds: BTreeMap<u32, Round> = named.iter().map(|round| (*round, Round::default())).collect();
    for step in steps {
        let Some(other) = summary.baseline_of(step) else { continue };
        for call in step.calls() {
            if let Some(round) = rounds.get_mut(&call.round) {
                round.candidate.push(question.clock.of(call));
            }
        }
        for call in other.calls() {
            if let Some(round) = rounds.get_mut(&call.round) {
                round.baseline.push(question.clock.of(call));
            }
        }
    }
    rounds.into_values().collect()
}
