//! The words of a comparison, from decisions and intervals written down by hand.
#![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

use hookbench_statistics::Interval;

use super::*;
use crate::gate::Gate;

const GATE: &str = "latency.cpu.p50 < +10% vs baseline";

/// A phase whose ratio is `ratio`, give or take a fiftieth of 1.
fn phase(n_pairs: usize, ratio: f64) -> Phase {
    let interval = Interval {
        estimate: ratio.ln(),
        low: (ratio - 0.02).ln(),
        high: (ratio + 0.02).ln(),
        n: n_pairs,
        confidence: 0.95,
        p_not_above: 0.5,
        p_not_below: 0.5,
    };
    Phase { n_rounds: n_pairs, n_pairs, n_samples: n_pairs as u64, need_samples: 0, interval: Some(interval) }
}

fn said(text: &str, phases: Vec<Phase>, course: Course) -> GateResult {
    let gate = Gate::parse(text).unwrap();
    let question = Question::of(&gate.expr).unwrap();
    let evidence = Evidence::Paired(Paired { question, phases });
    answer(&Case { gate: &gate, steps: Vec::new(), evidence }, &course, &Summary::default())
}

fn decided(decisions: &[Decision]) -> Course {
    Course { decisions: decisions.to_vec(), adjusted_p: Some(0.001), n_tested: 1 }
}

#[test]
fn each_end_of_a_comparison_has_its_sentence() {
    use Decision::{Fail, Inconclusive, Pass};
    let two = || vec![phase(20, 1.12), phase(40, 1.0)];
    let (first, both) =
        ("+12% [+10% to +14%] over 20 pairs", "+12% [+10% to +14%] over 20 pairs, then +0% [-2% to +2%] over 40 pairs");
    let slow = "find what the hook does in this time, or raise the bound on purpose";
    let once = "latency.cpu.p50 < +10% vs baseline with confirm=0";
    /// Gate, decisions, and the verdict, figures, sentence and remedy that they make.
    type Row<'a> = (&'a str, &'a [Decision], Verdict, &'a str, &'a str, &'a str);
    let table: [Row<'_>; 6] = [
        (GATE, &[Pass], Verdict::Pass, first, "which keeps < +10% vs baseline", ""),
        (once, &[Fail], Verdict::Fail, first, "which breaks < +10% vs baseline", slow),
        (
            GATE,
            &[Fail],
            Verdict::Inconclusive,
            first,
            "which breaks < +10% vs baseline, but was not measured again to confirm it",
            "run `hookbench bench` again with time to confirm, or set confirm=0",
        ),
        (
            GATE,
            &[Fail, Pass],
            Verdict::Pass,
            both,
            "so fresh rounds did not confirm that it breaks < +10% vs baseline",
            "",
        ),
        (GATE, &[Fail, Fail], Verdict::Fail, both, "which breaks < +10% vs baseline each time", slow),
        (
            GATE,
            &[Inconclusive],
            Verdict::Inconclusive,
            first,
            "too wide to answer < +10% vs baseline",
            "measure more rounds: raise max_n above 200 or --max-time",
        ),
    ];
    for (gate, decisions, verdict, seen, says, remedy) in table {
        let result = said(gate, two(), decided(decisions));
        assert_eq!(result.reason, format!("latency.cpu.p50 changed by {seen}, {says}"), "{gate} {decisions:?}");
        assert_eq!((result.verdict, &*result.remedy), (verdict, remedy), "{gate} {decisions:?}");
        let (n, low) = if decisions.len() == 2 { (40, -2.0) } else { (20, 10.0) };
        assert_eq!((result.n, result.interval.unwrap().0), (n, low), "{gate} {decisions:?}");
    }
}

#[test]
fn other_gates_are_blamed_only_for_what_their_correction_spoilt() {
    // A gate alone may convict up to a p of (1 - 0.95) / 2.
    let limit = (1.0 - 0.95) / 2.0;
    let together = "too wide to answer < +10% vs baseline as one of 2 gates tested together";
    let alone = "too wide to answer < +10% vs baseline";
    let table = [
        (Some(0.03), 2, together),
        (Some(0.9), 2, together),
        (Some(0.03), 1, alone),
        (Some(limit), 2, alone),
        (Some(0.001), 2, alone),
        (None, 2, alone),
    ];
    for (adjusted_p, n_tested, says) in table {
        let course = Course { decisions: vec![Decision::Inconclusive], adjusted_p, n_tested };
        let reason = said(GATE, vec![phase(20, 1.12)], course).reason;
        assert!(reason.ends_with(&format!(" over 20 pairs, {says}")), "{adjusted_p:?} of {n_tested}: {reason}");
    }
}

#[test]
fn a_first_measurement_that_decides_nothing_says_what_it_lacks() {
    let lacking = |n_rounds, n_pairs, need_samples| Phase {
        n_rounds,
        n_pairs,
        n_samples: 58,
        need_samples,
        ..phase(n_pairs, 1.0)
    };
    let table = [
        (vec![lacking(20, 20, 59)], 20, "n too small: 58 samples of 59 needed for latency.cpu.p50"),
        (vec![lacking(20, 19, 59)], 19, "only 19 of 20 rounds gave a pair: "),
        (vec![lacking(19, 19, 59)], 19, "n too small: 19 pairs of 20 needed"),
        (Vec::new(), 0, "n too small: 0 pairs of 20 needed"),
    ];
    for (phases, n, reason) in table {
        let result = said(GATE, phases, Course::default());
        assert_eq!((result.verdict, result.n, result.estimate), (Verdict::Inconclusive, n, None), "{reason}");
        assert!(result.reason.starts_with(reason) && !result.remedy.is_empty(), "{result:?}");
    }
}

#[test]
fn a_phase_without_interval_has_no_figure() {
    let unknown = Phase { interval: None, ..phase(20, 1.0) };
    let result = said(GATE, vec![unknown], decided(&[Decision::Inconclusive]));
    assert_eq!((result.estimate, result.interval, result.n), (None, None, 20));
    assert!(result.reason.starts_with("latency.cpu.p50 changed by an unknown share over 20 pairs, "), "{result:?}");
}
