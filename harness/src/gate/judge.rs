//! Judges the gates of a run together.
//!
//! Evidence is gathered for each gate; gates whose answer is a matter of chance share one error rate by Holm's
//! correction; a gate against the baseline that fails is judged again on every confirmation that was measured, and
//! fails only if it fails in each. A fail that waits for a confirmation which was never measured is inconclusive: the
//! promised rate of false alarms is that of confirmed fails, so an unconfirmed one claims more than is known, and the
//! cure (more time) is the user's. `confirm=0` makes the first measurement final.
//!
//! Guarantee: a pure function of the gates, the run and the stored runs, so a saved run has the answers of the live
//! one. Neither the order of gates nor of steps matters.

use hookbench_statistics::{Decision, confirmation_pairs, holm, next_look};

use super::across::across;
use super::answer::answer;
use super::change::{Other, change};
use super::evidence::{Evidence, own};
use super::expr::{Base, GateExpr, Metric};
use super::file::Gate;
use super::paired::{Paired, Phase};
use super::question::Question;
use super::stored::Stored;
use crate::run_event::GateResult;
use crate::summary::{StepSummary, Summary};

/// A gate with what the run knows about it.
pub(super) struct Case<'a> {
    pub(super) gate: &'a Gate,
    pub(super) steps: Vec<&'a StepSummary>,
    pub(super) evidence: Evidence,
}

/// How a case was decided by chance: what its p-value became, and in which phases it was looked at.
#[derive(Debug, Default)]
pub(super) struct Course {
    /// The decision of each phase that was looked at, as the gate's: the first, and after each fail the next.
    pub(super) decisions: Vec<Decision>,
    /// The p of a broken bound in the last of them, corrected over all gates that were tested with it.
    pub(super) adjusted_p: Option<f64>,
    /// Gates that were tested with it.
    pub(super) n_tested: usize,
}

impl Course {
    /// It failed wherever it was measured, and a confirmation is still wanted.
    pub(super) fn is_waiting(&self, question: &Question) -> bool {
        self.has_only_failed() && self.decisions.len() <= question.n_confirmations
    }

    fn has_only_failed(&self) -> bool {
        !self.decisions.is_empty() && self.decisions.iter().all(|decision| *decision == Decision::Fail)
    }
}

/// The answers to all gates of a run, in their order.
pub fn judge_all(gates: &[Gate], summary: &Summary, stored: &Stored) -> Vec<GateResult> {
    let cases: Vec<Case<'_>> = gates.iter().map(|gate| Case::of(gate, summary, stored)).collect();
    let courses = courses(&cases);
    cases.iter().zip(&courses).map(|(case, course)| answer(case, course, summary)).collect()
}

/// Pairs to measure on to in a phase, 0 for the first measurement; `None` when nothing more is to be learned there.
///
/// Counts warm rounds, of which every one that both hooks answered is a pair. A first measurement goes on until every
/// gate against the baseline is precise or at its limit; a confirmation takes twice the pairs of the first and
/// concerns only gates that failed in every phase before.
pub fn pairs_wanted(gates: &[Gate], summary: &Summary, phase: usize) -> Option<usize> {
    let stored = Stored::default();
    let cases: Vec<Case<'_>> = gates.iter().map(|gate| Case::of(gate, summary, &stored)).collect();
    let courses = courses(&cases);
    let wanted = |(case, course): (&Case<'_>, &Course)| {
        let Evidence::Paired(paired) = &case.evidence else { return None };
        let measured = paired.phases.get(phase).map_or(0, |phase| phase.n_rounds);
        if phase == 0 {
            let done = paired.phases.first().is_some_and(|phase| phase.is_done(&paired.question));
            return (!done).then(|| next_look(measured).min(paired.question.max_pairs));
        }
        let failed = course.decisions.iter().take(phase).filter(|decision| **decision == Decision::Fail).count();
        let concerned = failed == phase && phase <= paired.question.n_confirmations;
        let goal = confirmation_pairs(paired.phases.first().map_or(0, |first| first.n_rounds));
        (concerned && measured < goal).then_some(goal)
    };
    cases.iter().zip(&courses).filter_map(wanted).max()
}

/// Whether some gate fails in the run's last phase and still wants a confirmation.
pub fn to_confirm(gates: &[Gate], summary: &Summary, stored: &Stored) -> bool {
    let cases: Vec<Case<'_>> = gates.iter().map(|gate| Case::of(gate, summary, stored)).collect();
    let n_phases = summary.confirm_starts().len() + 1;
    cases.iter().zip(courses(&cases)).any(|(case, course)| match &case.evidence {
        Evidence::Paired(paired) => course.decisions.len() == n_phases && course.is_waiting(&paired.question),
        _ => false,
    })
}

impl<'a> Case<'a> {
    fn of(gate: &'a Gate, summary: &'a Summary, stored: &Stored) -> Case<'a> {
        let steps = gate.expr.selector.steps(summary);
        let evidence = gather(&gate.expr, &steps, summary, stored);
        Case { gate, steps, evidence }
    }
}

fn gather(expr: &GateExpr, steps: &[&StepSummary], summary: &Summary, stored: &Stored) -> Evidence {
    if expr.base == Some(Base::Baseline) && summary.baseline_steps().is_empty() {
        return Evidence::absent(
            "a run of one hook has no baseline",
            "measure two hooks side by side with `hookbench bench --baseline`, or bound the figure itself",
        );
    }
    if steps.is_empty() {
        return Evidence::Absent {
            reason: format!("no step matches [{}]", expr.selector),
            remedy: format!("correct the selector; the events of this run are {}", summary.events().join(", ")),
        };
    }
    if let Some(evidence) = across(expr, steps, summary) {
        return evidence;
    }
    match (&expr.base, Question::of(expr)) {
        (_, Some(question)) => Evidence::Paired(Paired::of(question, summary, steps)),
        (Some(Base::Baseline), None) => {
            let sides: Vec<_> = steps.iter().map(|step| (*step, summary.baseline_of(step))).collect();
            change(expr, &sides, summary.floors(), &Other { name: "the baseline", floors: summary.floors() })
        }
        (Some(Base::File(path)), None) => against_file(expr, path, steps, summary, stored),
        (Some(Base::Noop) | None, None) => own(expr, steps, summary.floors()),
    }
}

fn against_file(expr: &GateExpr, path: &str, steps: &[&StepSummary], summary: &Summary, stored: &Stored) -> Evidence {
    let Some(run) = stored.get(path) else {
        return Evidence::absent("the saved run was not read", "name a folder that `hookbench run --out` has written");
    };
    let machine = |summary: &Summary| summary.header().map(|header| header.machine.clone()).unwrap_or_default();
    let (here, there) = (machine(summary), machine(run));
    if matches!(expr.metric, Metric::Latency(..)) && here != there {
        return Evidence::Absent {
            reason: format!("times of two machines cannot be compared: here `{here}`, there `{there}`"),
            remedy: "measure both hooks here with `hookbench bench --baseline`".to_owned(),
        };
    }
    let counterpart = |step: &StepSummary| {
        run.steps().iter().find(|known| known.scenario == step.scenario && known.step == step.step)
    };
    let sides: Vec<_> = steps.iter().map(|step| (*step, counterpart(step))).collect();
    change(expr, &sides, summary.floors(), &Other { name: path, floors: run.floors() })
}

/// Decides every case that is a matter of chance, phase by phase.
fn courses(cases: &[Case<'_>]) -> Vec<Course> {
    let mut courses: Vec<Course> = cases.iter().map(|_| Course::default()).collect();
    let tested: Vec<Option<f64>> = cases.iter().map(first_p).collect();
    look(cases, &mut courses, &tested, 0);
    let n_phases = cases.iter().map(|case| phases(case).len()).max().unwrap_or(0);
    for phase in 1..n_phases {
        // Only gates that failed so far are looked at again: the first look alone bounds the false alarms of the run.
        let again = |(case, course): (&Case<'_>, &Course)| match &case.evidence {
            Evidence::Paired(paired) if course.decisions.len() == phase && course.is_waiting(&paired.question) => {
                p_of(&paired.question, paired.phases.get(phase)?)
            }
            _ => None,
        };
        let tested: Vec<Option<f64>> = cases.iter().zip(&courses).map(again).collect();
        look(cases, &mut courses, &tested, phase);
    }
    courses
}

/// One look at one phase: corrects the p-values of the cases that have one, and decides the paired ones among them.
fn look(cases: &[Case<'_>], courses: &mut [Course], tested: &[Option<f64>], phase: usize) {
    // A gate that demands a gain does not convict with its p, so it takes no share of the false alarms.
    let convicts = |case: &Case<'_>| !matches!(&case.evidence, Evidence::Paired(paired) if paired.question.demands);
    let family: Vec<f64> =
        cases.iter().zip(tested).filter(|(case, _)| convicts(case)).filter_map(|(_, p)| *p).collect();
    let mut corrected = holm(&family).into_iter();
    for ((case, course), p) in cases.iter().zip(courses).zip(tested) {
        let Some(p) = *p else { continue };
        let (p, n_tested) = if convicts(case) { (corrected.next().unwrap_or(1.0), family.len()) } else { (p, 1) };
        (course.adjusted_p, course.n_tested) = (Some(p), n_tested);
        if let Evidence::Paired(paired) = &case.evidence
            && let Some(interval) = paired.phases.get(phase).and_then(|phase| phase.interval)
        {
            let decision = paired.question.rule.decide(&interval, p);
            course.decisions.push(paired.question.turned(decision));
        }
    }
}

/// The p of the first look: that the bound is kept.
fn first_p(case: &Case<'_>) -> Option<f64> {
    match &case.evidence {
        Evidence::Bounded { n, need, p_kept, .. } => (n >= need).then_some(*p_kept),
        Evidence::Paired(paired) => p_of(&paired.question, paired.phases.first()?),
        Evidence::Absent { .. } | Evidence::TooFew { .. } | Evidence::Exact { .. } => None,
    }
}

fn p_of(question: &Question, phase: &Phase) -> Option<f64> {
    phase.interval.filter(|_| phase.is_enough_for(question)).map(|interval| interval.p_not_above)
}

fn phases<'c>(case: &'c Case<'_>) -> &'c [Phase] {
    match &case.evidence {
        Evidence::Paired(paired) => &paired.phases,
        _ => &[],
    }
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "comparison_tests.rs"]
mod comparison_tests;
