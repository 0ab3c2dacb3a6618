//! To be replaced by the gates themselves: paired time gates, just enough to try the comparison out.

use hookbench_statistics::{Decision, FIRST_LOOK, Interval, Rule, median_interval, next_look};

use super::{Base, Gate, Metric, Unit, judge};
use crate::failure::Failure;
use crate::run_event::{GateResult, Verdict};
use crate::summary::{Summary, pairs};

/// Nothing.
#[derive(Debug, Default)]
pub struct Stored;

impl Stored {
    /// Nothing.
    ///
    /// # Errors
    /// Never.
    pub fn load(_gates: &[Gate]) -> Result<Stored, Failure> {
        Ok(Stored)
    }
}

fn interval(gate: &Gate, summary: &Summary, phase: usize) -> Option<(Rule, Interval)> {
    let (Metric::Latency(clock, _), Some(Base::Baseline)) = (gate.expr.metric, &gate.expr.base) else { return None };
    let steps = gate.expr.selector.steps(summary);
    let found: Vec<f64> =
        pairs(summary, &steps, clock).iter().filter(|pair| pair.phase == phase).map(|pair| pair.log_ratio).collect();
    let share = if gate.expr.bound.unit == Unit::Percent { gate.expr.bound.number / 100.0 } else { 0.1 };
    Some((Rule::of(share), median_interval(&found, 0.95, 1)?))
}

/// Judges.
pub fn judge_all(gates: &[Gate], summary: &Summary, _stored: &Stored) -> Vec<GateResult> {
    let phases = summary.confirm_starts().len() + 1;
    let of = |gate: &Gate| {
        let mut result = judge(gate, summary);
        let seen: Vec<_> = (0..phases).filter_map(|phase| interval(gate, summary, phase)).collect();
        let decisions: Vec<_> = seen.iter().map(|(rule, seen)| rule.decide(seen, seen.p_not_above)).collect();
        if let Some((_, last)) = seen.last() {
            let all = |wanted| decisions.iter().all(|decision| *decision == wanted);
            let any = |wanted| decisions.contains(&wanted);
            result.verdict = match (all(Decision::Fail), any(Decision::Pass)) {
                (true, _) => Verdict::Fail,
                (false, true) => Verdict::Pass,
                (false, false) => Verdict::Inconclusive,
            };
            result.estimate = Some(last.estimate.exp_m1() * 100.0);
            result.interval = Some((last.low.exp_m1() * 100.0, last.high.exp_m1() * 100.0));
            result.n = last.n as u64;
            result.reason = "paired".to_owned();
            result.remedy = "interim".to_owned();
        }
        result
    };
    gates.iter().map(of).collect()
}

/// Pairs.
pub fn pairs_wanted(gates: &[Gate], summary: &Summary, phase: usize) -> Option<usize> {
    let wanted = |gate: &Gate| match (&gate.expr.base, interval(gate, summary, phase)) {
        (Some(Base::Baseline), Some((rule, seen))) => (!rule.is_precise(&seen)).then(|| next_look(seen.n)),
        (Some(Base::Baseline), None) => Some(FIRST_LOOK),
        _ => None,
    };
    gates.iter().filter_map(wanted).max()
}

/// Whether.
pub fn to_confirm(gates: &[Gate], summary: &Summary, _stored: &Stored) -> bool {
    let fails = |gate: &Gate| {
        interval(gate, summary, 0).is_some_and(|(rule, seen)| rule.decide(&seen, seen.p_not_above) == Decision::Fail)
    };
    summary.confirm_starts().is_empty() && gates.iter().any(fails)
}
