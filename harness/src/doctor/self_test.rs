//! The measurements of the self-test: vacuity, the slowed hook, and the hook against itself.
//!
//! Every comparison is a whole one, by the same code as `hookbench bench` with the default CPU gate, sandboxes, floors
//! and confirmation included; only nothing is saved. The cheap questions come first, so that a short time answers them.

use std::time::{Duration, Instant};

use hookbench_statistics::{CONFIDENCE, median_interval};

use super::judge::{Control, Evidence, Trial, Vacuity};
use super::wrapper::{behind_burner, burn_for};
use crate::bench::{Comparison, N_COLD_ROUNDS, Pairs, bench};
use crate::gate::{Gate, GateSyntax, Stored, judge_all};
use crate::golden::Writing;
use crate::hook::Hook;
use crate::latency::median;
use crate::problem::{Problem, Source};
use crate::progress::Progress;
use crate::recording::Recording;
use crate::replay::{Plan, Stop, replay};
use crate::run_event::{FindingKind, RunEvent, RunHeader, Verdict};
use crate::summary::{Clock, Summary, pairs};
use crate::target::Target;

/// The gate that is tested.
const GATE: &str = "cpu: latency.cpu.p50 < +10% vs baseline";
/// What it forbids, and what the slowed hook is slower by.
const FORBIDDEN: f64 = 0.10;
/// Pairs from which the hook's own time is taken.
const N_CALIBRATION: u32 = 20;

/// What is asked of the self-test.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    /// Comparisons of the hook with itself.
    pub n_trials: u32,
    /// Time for everything together; what has begun is ended soon after.
    pub max_time: Duration,
}

/// Runs the self-test of the plan's hook over its scenarios; `tell` hears what is being done.
///
/// # Errors
/// A scenario that cannot go on, a hook that fails every call of a step, the interrupt, or a fault of the machinery.
pub fn self_test(plan: &Plan, header: &RunHeader, asked: Asked, tell: &mut dyn FnMut(&str)) -> Result<Evidence, Stop> {
    let hook = tested(plan)?;
    let start = Instant::now();
    let left = || asked.max_time.saturating_sub(start.elapsed());
    let gate = Gate::parse(GATE).map_err(|GateSyntax { message, remedy, .. }| {
        Stop::Problem(Source::new("gate", GATE).problem(0..0, message, remedy))
    })?;
    let gates = [gate];
    let compare = |candidate: &Hook, baseline: &Hook, pairs: Pairs, gates: &[Gate], seed: u64, max_time: Duration| {
        let baseline = &Target::from(baseline.clone());
        let plan = Plan { target: candidate.clone().into(), seed, writing: Writing::Never, ..plan.clone() };
        let stored = Stored::default();
        let comparison = Comparison { plan: &plan, baseline, pairs, max_time, gates, stored: &stored };
        let mut recording = Recording::unsaved(Progress::of_unknown_length());
        let header = RunHeader { n_cold_rounds: N_COLD_ROUNDS, ..header.clone() };
        recording.take(RunEvent::RunStarted(header));
        bench(&comparison, &mut recording)?;
        let judged = judge_all(gates, recording.summary(), &stored);
        Ok::<_, Stop>((recording.into_summary(), judged))
    };

    tell("a hook that says nothing against the goldens");
    let vacuity = vacuity(plan, header)?;

    tell("the time of the hook");
    let plain = behind_burner(hook, Duration::ZERO)?;
    let (calibration, _) = compare(&plain, &plain, Pairs::Fixed(N_CALIBRATION), &[], plan.seed, left())?;
    let burn = burn_for(FORBIDDEN, &cpu_medians(&calibration));

    tell("the hook, slowed by a tenth, against itself");
    let slowed = behind_burner(hook, burn)?;
    let (summary, judged) = compare(&slowed, &plain, Pairs::Auto, &gates, plan.seed, left() / 2)?;
    let verdict = judged.first().map_or(Verdict::Skipped, |gate| gate.verdict);
    let control = Control { verdict, burn, trial: trial(&summary, verdict, Duration::ZERO) };

    let mut trials = Vec::new();
    let mut n_cut = 0;
    for nth in 1..=asked.n_trials {
        if left().is_zero() {
            break;
        }
        tell(&format!("the hook against itself, {nth} of {}", asked.n_trials));
        let begun = Instant::now();
        let seed = plan.seed.wrapping_add(u64::from(nth));
        let (summary, judged) = compare(hook, hook, Pairs::Auto, &gates, seed, left())?;
        let verdict = judged.first().map_or(Verdict::Skipped, |gate| gate.verdict);
        // A comparison that the end of the time cut off says nothing about the gate.
        if verdict == Verdict::Inconclusive && left().is_zero() {
            n_cut += 1;
        } else {
            trials.push(trial(&summary, verdict, begun.elapsed()));
        }
    }
    Ok(Evidence { n_asked: asked.n_trials, n_cut, trials, control, vacuity, max_time: asked.max_time })
}

/// The hook that is tested: one, because a chain cannot be slowed as a whole.
///
/// # Errors
/// Several hooks, or a settings file.
pub(super) fn tested(plan: &Plan) -> Result<&Hook, Stop> {
    plan.target.single().ok_or_else(|| {
        Stop::Problem(Problem::file("--hook", "the self-test needs one hook", "name one hook with --hook"))
    })
}

/// One round of the scenarios with a hook that does nothing.
fn vacuity(plan: &Plan, header: &RunHeader) -> Result<Vacuity, Stop> {
    let nothing = Hook::exec(vec!["true".to_owned()]);
    let silent = Plan { target: nothing.into(), repeat: 1, jobs: 1, writing: Writing::Never, ..plan.clone() };
    let mut summary = Summary::default();
    summary.observe(&RunEvent::RunStarted(header.clone()));
    replay(&silent, &mut |event| summary.observe(&event))?;
    let missing = |kind: &FindingKind| *kind == FindingKind::GoldenMissing;
    let steps = || summary.steps().iter();
    Ok(Vacuity {
        n_steps: steps().count(),
        n_caught: steps().filter(|step| step.findings().keys().any(|kind| !missing(kind))).count(),
        n_without_golden: steps().filter(|step| step.findings().keys().any(missing)).count(),
    })
}

/// Median CPU of each of the baseline's steps, in microseconds.
fn cpu_medians(summary: &Summary) -> Vec<f64> {
    let warm = |step: &crate::summary::StepSummary| {
        median(step.calls().iter().filter(|call| !call.cold).map(|call| call.cpu_us as f64).collect())
    };
    summary.baseline_steps().iter().filter_map(warm).collect()
}

/// What a comparison showed, all its steps together, in its first measurement.
fn trial(summary: &Summary, verdict: Verdict, time: Duration) -> Trial {
    let steps: Vec<_> = summary.steps().iter().collect();
    let pairs = pairs(summary, &steps, Clock::Cpu);
    let n_pairs = pairs.len();
    let first: Vec<f64> = pairs.iter().filter(|pair| pair.phase == 0).map(|pair| pair.log_ratio).collect();
    Trial { verdict, time, n_pairs, n_first: first.len(), interval: median_interval(&first, CONFIDENCE, 1) }
}
