//! All calls of one step, as numbers.
//!
//! Keeps about a hundred bytes per call: raw figures so that any selection of steps can be pooled later, and
//! ranked ids once per distinct answer, since most hooks answer alike in every round.

use std::collections::BTreeMap;

use crate::observation::{Ending, MemorySource};
use crate::quality::Measure;
use crate::run_event::{FindingKind, Retrieved, StepResult};

/// One call of the hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Repetition, from 0.
    pub round: u32,
    /// The round only warmed the machine up: its times are shown apart.
    pub cold: bool,
    /// The hook's process came to life and was seen to its end; without that the times say nothing about the hook.
    pub started: bool,
    /// Spawn to end of output, in microseconds.
    pub wall_us: u64,
    /// Spawn to exit, in microseconds.
    pub exit_us: u64,
    /// CPU of the hook and the children it reaped, in microseconds.
    pub cpu_us: u64,
    /// The CPU figure may lack a descendant's share.
    pub cpu_partial: bool,
    /// Peak resident size in bytes.
    pub peak_memory_bytes: Option<u64>,
    /// Size of the launcher that spawned the hook: the least the peak can read.
    pub memory_floor_bytes: Option<u64>,
    /// Delivered text in UTF-16 code units.
    pub injected_utf16: u64,
    /// Delivered text in bytes.
    pub injected_bytes: u64,
    /// The host cut the text or replaced it by a preview.
    pub truncated: bool,
    /// The hook reached its timeout.
    pub timed_out: bool,
    /// A descendant outlived the hook or held its output open.
    pub leaked: bool,
    /// The delivered text differs from its golden, or has none.
    pub golden_failed: bool,
    /// Nothing was wrong.
    pub passed: bool,
    /// How far behind its schedule it began, in microseconds; absent without a schedule.
    pub late_us: Option<u64>,
}

impl Call {
    fn of(result: &StepResult, cold: bool) -> Call {
        let seen = &result.observation;
        let has = |kind| result.findings.iter().any(|finding| finding.kind == kind);
        Call {
            round: result.round,
            cold,
            started: !matches!(seen.ending, Ending::NotStarted(_) | Ending::LauncherLost),
            wall_us: micros(seen.eof_after),
            exit_us: micros(seen.exit_after),
            cpu_us: micros(seen.cpu),
            cpu_partial: seen.cpu_partial,
            peak_memory_bytes: seen.peak_memory_bytes,
            memory_floor_bytes: match seen.memory_source {
                MemorySource::Launcher { floor_bytes } => Some(floor_bytes),
                MemorySource::None => None,
            },
            injected_utf16: result.injected_utf16,
            injected_bytes: result.injected_bytes,
            truncated: result.truncated,
            timed_out: seen.ending == Ending::TimedOut,
            leaked: seen.stream_held_open || !seen.orphans.is_empty(),
            golden_failed: has(FindingKind::GoldenChanged) || has(FindingKind::GoldenMissing),
            passed: result.findings.is_empty(),
            late_us: result.late.map(micros),
        }
    }
}

/// Whole microseconds of a time; centuries saturate.
pub(super) fn micros(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// One kind of finding at one step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindingTally {
    /// Calls that had it.
    pub n_calls: u32,
    /// Earliest round that had it.
    pub first_round: u32,
    /// Message of that round.
    pub message: String,
}

/// An answer that came at least once, with its labels.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Answer {
    retrieved: Retrieved,
    injected_bytes: u64,
    n_calls: u32,
}

/// One hook's share of a step that several hooks answered side by side, over all warm rounds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PartSummary {
    /// The hook's command line.
    pub hook: String,
    /// Spawn to end of output of each call, in microseconds.
    pub wall_us: Vec<u64>,
    /// CPU of each call, in microseconds.
    pub cpu_us: Vec<u64>,
    /// Largest delivered text in UTF-16 code units.
    pub max_injected_utf16: u64,
}

/// One step over all rounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepSummary {
    /// Name of the scenario.
    pub scenario: String,
    /// Name of the step.
    pub step: String,
    /// Position in the scenario, from 0.
    pub index: u32,
    /// Event of its payload.
    pub event: String,
    /// Its tags.
    pub tags: Vec<String>,
    calls: Vec<Call>,
    findings: BTreeMap<FindingKind, FindingTally>,
    answers: Vec<Answer>,
    instructions: Option<u64>,
    parts: Vec<PartSummary>,
}

impl StepSummary {
    pub(super) fn of(result: &StepResult, cold: bool) -> StepSummary {
        let mut step = StepSummary {
            scenario: result.scenario.clone(),
            step: result.step.clone(),
            index: result.index,
            event: result.event.clone(),
            tags: result.tags.clone(),
            calls: Vec::new(),
            findings: BTreeMap::new(),
            answers: Vec::new(),
            instructions: None,
            parts: Vec::new(),
        };
        step.observe(result, cold);
        step
    }

    pub(super) fn observe(&mut self, result: &StepResult, cold: bool) {
        let at = self.calls.partition_point(|call| call.round <= result.round);
        self.calls.insert(at, Call::of(result, cold));
        for part in result.parts.iter().filter(|_| !cold) {
            let at = self.parts.iter().position(|known| known.hook == part.hook).unwrap_or_else(|| {
                self.parts.push(PartSummary { hook: part.hook.clone(), ..PartSummary::default() });
                self.parts.len() - 1
            });
            if let Some(known) = self.parts.get_mut(at) {
                known.wall_us.push(micros(part.wall));
                known.cpu_us.push(micros(part.cpu));
                known.max_injected_utf16 = known.max_injected_utf16.max(part.injected_utf16);
            }
        }
        let mut counted = Vec::new();
        for finding in &result.findings {
            let tally = self.findings.entry(finding.kind).or_insert_with(|| FindingTally {
                n_calls: 0,
                first_round: result.round,
                message: finding.message.clone(),
            });
            // Two findings of one kind are one call.
            if !counted.contains(&finding.kind) {
                counted.push(finding.kind);
                tally.n_calls += 1;
                if result.round < tally.first_round {
                    tally.first_round = result.round;
                    tally.message.clone_from(&finding.message);
                }
            }
        }
        if let Some(retrieved) = &result.retrieved {
            let same =
                |answer: &&mut Answer| answer.injected_bytes == result.injected_bytes && answer.retrieved == *retrieved;
            match self.answers.iter_mut().find(same) {
                Some(answer) => answer.n_calls += 1,
                None => self.answers.push(Answer {
                    retrieved: retrieved.clone(),
                    injected_bytes: result.injected_bytes,
                    n_calls: 1,
                }),
            }
        }
    }

    pub(super) fn count_instructions(&mut self, instructions: u64) {
        self.instructions = Some(instructions);
    }

    /// Instructions of one call, when they were counted.
    pub fn instructions(&self) -> Option<u64> {
        self.instructions
    }

    /// Each hook's share, when several answered side by side.
    pub fn parts(&self) -> &[PartSummary] {
        &self.parts
    }

    /// Its calls, by round.
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// What was wrong, by kind in report order.
    pub fn findings(&self) -> &BTreeMap<FindingKind, FindingTally> {
        &self.findings
    }

    /// No call had a finding.
    pub fn passed(&self) -> bool {
        self.findings.is_empty()
    }

    /// Some rounds passed and some did not, or the text changed between rounds.
    ///
    /// A round passes when all its calls do: parallel calls of one round are meant to differ.
    pub fn flaky(&self) -> bool {
        let rounds = || self.calls.chunk_by(|left, right| left.round == right.round);
        let n_passed = rounds().filter(|calls| calls.iter().all(|call| call.passed)).count();
        (n_passed > 0 && n_passed < rounds().count()) || self.findings.contains_key(&FindingKind::NotDeterministic)
    }

    /// Whether the step has relevance labels, if only empty ones.
    pub fn labelled(&self) -> bool {
        !self.answers.is_empty()
    }

    /// Distinct answers with their labels and the number of calls that gave each, in the order they first came.
    pub fn answers(&self) -> impl Iterator<Item = (&Retrieved, u32)> {
        self.answers.iter().map(|answer| (&answer.retrieved, answer.n_calls))
    }

    /// Mean of a measure over the calls that can have it; `None` when none can.
    pub fn score(&self, measure: Measure, min_grade: u8) -> Option<f64> {
        let mut sum = 0.0;
        let mut n = 0;
        for answer in &self.answers {
            if let Some(score) = measure.of(&answer.retrieved, answer.injected_bytes, min_grade) {
                sum += score * f64::from(answer.n_calls);
                n += answer.n_calls;
            }
        }
        (n > 0).then(|| sum / f64::from(n))
    }
}
