#![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

use std::time::Duration;

use super::*;
use crate::gate::sentence::short;
use crate::observation::{Ending, SpawnFault};
use crate::run_event::{FindingKind, OnInconclusive, RunEvent, Severity, StepResult, Verdict};
use crate::summary::fixture::{finding, retrieved, run, step, summary};

fn answer(text: &str, summary: &Summary) -> GateResult {
    judge_all(&[Gate::parse(text).unwrap()], summary, &Stored::default()).remove(0)
}

fn verdict(text: &str, summary: &Summary) -> Verdict {
    let result = answer(text, summary);
    assert!(!result.reason.is_empty(), "{text} gives no reason");
    assert_eq!(result.remedy.is_empty(), result.verdict == Verdict::Pass, "{text}: {result:?}");
    result.verdict
}

/// `n` rounds of one step whose wall is 10 ms, 20 ms, ... and CPU half of it.
fn rising(n: u32) -> Summary {
    let steps = (0..n).map(|round| {
        let mut step = step("s", "x", 0, round);
        step.observation.eof_after = Duration::from_millis(u64::from(round + 1) * 10);
        step.observation.cpu = Duration::from_millis(u64::from(round + 1) * 5);
        step
    });
    summary(n, steps)
}

/// One round of one step, changed.
fn changed(change: impl FnOnce(&mut StepResult)) -> Summary {
    let mut step = step("s", "x", 0, 0);
    change(&mut step);
    summary(1, [step])
}

#[test]
fn a_percentile_is_judged_by_its_bounds_and_not_by_its_estimate() {
    // Ten samples: the median lies between rank 2 (20 ms) and rank 9 (90 ms); its estimate is rank 5 (50 ms).
    // Buckets end at most a thousandth above, hence the bounds in tenths.
    let ten = rising(10);
    assert_eq!(verdict("latency.wall.p50 <= 90.1ms", &ten), Verdict::Pass);
    assert_eq!(verdict("latency.wall.p50 <= 89ms", &ten), Verdict::Inconclusive);
    assert_eq!(verdict("latency.wall.p50 <= 55ms", &ten), Verdict::Inconclusive);
    assert_eq!(verdict("latency.wall.p50 <= 20.1ms", &ten), Verdict::Inconclusive);
    assert_eq!(verdict("latency.wall.p50 <= 19.9ms", &ten), Verdict::Fail);
    assert_eq!(verdict("latency.cpu.p50 <= 9.9ms", &ten), Verdict::Fail);
    assert_eq!(verdict("latency.wall.p50 >= 19.9ms", &ten), Verdict::Pass);
    let result = answer("latency.wall.p50 <= 90.1ms", &ten);
    let (low, high) = result.interval.unwrap();
    assert!((low - 20.0).abs() < 0.03 && (high - 90.0).abs() < 0.1 && result.n == 10);
    assert!((result.estimate.unwrap() - 50.0).abs() < 0.06 && result.unit == "ms");
}

#[test]
fn too_few_samples_are_inconclusive_and_present_no_figure() {
    let four = rising(4);
    let result = answer("latency.wall.p50 <= 1s", &four);
    assert_eq!((result.verdict, result.estimate, result.interval), (Verdict::Inconclusive, None, None));
    assert_eq!(result.reason, "n too small: 4 samples of 5 needed");
    assert_eq!(result.remedy, "run with --repeat 5");
    let five = answer("latency.wall.p50 <= 1s", &rising(5));
    assert_eq!(five.verdict, Verdict::Pass);
    assert!((five.estimate.unwrap() - 0.03).abs() < 1e-4);
    assert_eq!(answer("latency.cpu.p50 <= 90x vs noop", &rising(5)).estimate, Some(30.0));
    assert_eq!(answer("latency.wall.p95 <= 1s", &four).remedy, "run with --repeat 59");
}

#[test]
fn the_remedy_counts_rounds_and_not_samples() {
    // Two steps in each of three rounds give six samples; 59 need thirty rounds.
    let steps = (0..3).flat_map(|round| [step("s", "x", 0, round), step("s", "y", 1, round)]);
    assert_eq!(answer("latency.wall.p95 <= 1s", &summary(3, steps)).remedy, "run with --repeat 30");
}

#[test]
fn min_n_replaces_the_default_in_both_directions() {
    let ten = rising(10);
    assert_eq!(verdict("latency.wall.p50 <= 1s with min_n=10", &ten), Verdict::Pass);
    assert_eq!(verdict("latency.wall.p50 <= 1s with min_n=11", &ten), Verdict::Inconclusive);
    // A p95 of ten samples has no upper bound, but its lower one can still convict.
    let result = answer("latency.wall.p95 <= 1s with min_n=10", &ten);
    assert_eq!((result.verdict, result.estimate), (Verdict::Inconclusive, None));
    assert_eq!(verdict("latency.wall.p95 <= 5ms with min_n=10", &ten), Verdict::Fail);
    assert_eq!(verdict("leak.count == 0 with min_n=11", &ten), Verdict::Inconclusive);
    assert_eq!(verdict("leak.count == 0 with min_n=10", &ten), Verdict::Pass);
}

#[test]
fn a_higher_confidence_widens_the_bounds() {
    let ten = rising(10);
    // At 99 % the median of ten lies between ranks 1 and 10.
    assert_eq!(verdict("latency.wall.p50 <= 95ms with confidence=0.99", &ten), Verdict::Inconclusive);
    assert_eq!(verdict("latency.wall.p50 <= 101ms with confidence=0.99", &ten), Verdict::Pass);
}

#[test]
fn extremes_and_means_are_exact() {
    let ten = rising(10);
    assert_eq!(verdict("latency.wall.max <= 100.1ms", &ten), Verdict::Pass);
    assert_eq!(verdict("latency.wall.max <= 99ms", &ten), Verdict::Fail);
    assert_eq!(verdict("latency.wall.min >= 9.9ms", &ten), Verdict::Pass);
    assert_eq!(verdict("latency.wall.min >= 11ms", &ten), Verdict::Fail);
    assert_eq!(verdict("latency.wall.mean <= 55.1ms", &ten), Verdict::Pass);
    assert_eq!(verdict("latency.wall.mean <= 54.9ms", &ten), Verdict::Fail);
}

#[test]
fn ratios_to_the_no_op_are_paired_and_bounded() {
    // Floors are 1 ms wall and 0.5 ms CPU, so both ratios are 10, 20, ... 100.
    let ten = rising(10);
    assert_eq!(verdict("latency.wall.p50 <= 90x vs noop", &ten), Verdict::Pass);
    assert_eq!(verdict("latency.wall.p50 <= 89.9x vs noop", &ten), Verdict::Inconclusive);
    assert_eq!(verdict("latency.wall.p50 <= 20x vs noop", &ten), Verdict::Inconclusive);
    assert_eq!(verdict("latency.wall.p50 <= 19.9x vs noop", &ten), Verdict::Fail);
    assert_eq!(verdict("latency.cpu.max <= 100x vs noop", &ten), Verdict::Pass);
    assert_eq!(verdict("latency.cpu.max < 100x vs noop", &ten), Verdict::Fail);
    assert_eq!(verdict("latency.cpu.min >= 10x vs noop", &ten), Verdict::Pass);
    assert_eq!(verdict("latency.cpu.mean <= 55x vs noop", &ten), Verdict::Pass);
    assert_eq!(answer("latency.cpu.p50 <= 90x vs noop", &ten).estimate, Some(50.0));
    assert_eq!(answer("latency.cpu.mean <= 55x vs noop", &ten).estimate, Some(55.0));
    assert_eq!(verdict("latency.cpu.p50 <= 90x vs noop", &rising(4)), Verdict::Inconclusive);
    let without_floor = Summary::of(&[RunEvent::StepFinished(step("s", "x", 0, 0))]);
    assert_eq!(verdict("latency.cpu.p50 <= 4x vs noop", &without_floor), Verdict::Skipped);
}

#[test]
fn a_sentence_tells_the_bounds_of_a_percentile() {
    // Ratios 10, 20, ... 100. At 95 % a side the median lies between ranks 2 and 9, at 99 % between 1 and 10; p95 has
    // rank 8 below it, P(X ≥ 8) = 0.988 of ten, and none above.
    let ten = rising(10);
    let said = |text: &str| {
        let result = answer(text, &ten);
        (result.reason, result.remedy)
    };
    let quieter = "narrow the interval with a larger --repeat on a quiet machine";
    let slow = "find what the hook does in this time, or raise the bound on purpose";
    let table = [
        ("p50 <= 90x vs noop", "p50 lies between 20x and 90x (95 % sure on each side), all of which keeps <= 90x", ""),
        ("p50 < 20x vs noop", "p50 lies between 20x and 90x (95 % sure on each side), none of which keeps < 20x", slow),
        ("p50 > 20x vs noop", "p50 lies between 20x and 90x (95 % sure on each side), astride > 20x", quieter),
        (
            "p50 <= 50x vs noop with confidence=0.99",
            "p50 lies between 10x and 100x (99 % sure on each side), astride <= 50x",
            quieter,
        ),
        (
            "p95 <= 50x vs noop with min_n=10",
            "p95 lies between 80x and unknown (95 % sure on each side), none of which keeps <= 50x",
            slow,
        ),
    ];
    for (gate, reason, remedy) in table {
        let expected = (format!("latency.wall.{reason} vs noop"), remedy.to_owned());
        assert_eq!(said(&format!("latency.wall.{gate}")), expected, "{gate}");
    }
}

#[test]
fn a_certainty_that_is_just_reached_suffices() {
    // Nine of ten ratios are above 10: P(B ≤ 1) of ten halves is 11/1024, and 1 - 11/1024 = 0.9892578125.
    let gate = |confidence: &str| format!("latency.wall.p50 <= 15x vs noop with confidence={confidence}");
    assert_eq!(verdict(&gate("0.9892578125"), &rising(10)), Verdict::Fail);
    assert_eq!(verdict(&gate("0.9893"), &rising(10)), Verdict::Inconclusive);
}

#[test]
fn what_needs_a_baseline_or_another_instrument_is_skipped() {
    let ten = rising(10);
    for text in [
        "latency.cpu.p50 < +10% vs baseline",
        "latency.cpu.p50 < +10% vs file:runs/a",
        "budget.utf16.max <= +5% vs baseline",
        "instructions <= 5",
        "retrieval.recall@5 >= 0.5",
        "retrieval.abstain >= 0.5",
        "leak.count[event=Stop] == 0",
        "leak.count[hook=other] == 0",
    ] {
        assert_eq!(verdict(text, &ten), Verdict::Skipped, "{text}");
    }
    assert_eq!(answer("leak.count[event=Stop] == 0", &ten).reason, "no step matches [event=Stop]");
    assert_eq!(answer("retrieval.abstain >= 0.5", &ten).reason, "no selected step has empty relevance labels");
    assert_eq!(answer("retrieval.hit@5 >= 0.5", &ten).reason, "no selected step has relevance labels");
    let missing = changed(|step| step.observation.ending = Ending::NotStarted(SpawnFault::NotFound));
    assert_eq!(verdict("latency.wall.max <= 1s", &missing), Verdict::Skipped);
    let unmeasured = changed(|step| step.observation.peak_memory_bytes = None);
    assert_eq!(verdict("memory.peak <= 1MiB", &unmeasured), Verdict::Skipped);
}

#[test]
fn each_gate_has_a_fault_that_only_it_catches() {
    let gates = [
        "latency.wall.max <= 100ms",
        "latency.cpu.max <= 100ms",
        "memory.peak <= 20MiB",
        "budget.bytes.max <= 400",
        "budget.utf16.max <= 300",
        "budget.tokens_est.sum <= 180",
        "delivered.truncated == 0",
        "retrieval.hit@5 == 1.0",
        "retrieval.abstain == 100%",
        "retrieval.byte_precision[step=x] >= 0.5",
        "golden.failed == 0",
        "leak.count == 0",
        "timeout.count == 0",
        "flaky.count == 0",
    ];
    /// Changes the step x and, for a sum, the step w.
    type Fault = fn(&mut StepResult, &mut StepResult);
    let faults: [(&str, Fault); 14] = [
        ("latency.wall.max <= 100ms", |step, _| step.observation.eof_after = Duration::from_millis(101)),
        ("latency.cpu.max <= 100ms", |step, _| step.observation.cpu = Duration::from_millis(101)),
        ("memory.peak <= 20MiB", |step, _| step.observation.peak_memory_bytes = Some((20 << 20) + 1)),
        ("budget.bytes.max <= 400", |step, _| (step.injected_bytes, step.retrieved) = (401, None)),
        ("budget.utf16.max <= 300", |step, _| step.injected_utf16 = 301),
        ("budget.tokens_est.sum <= 180", |step, wordy| {
            (step.injected_bytes, step.retrieved, wordy.injected_bytes) = (400, None, 400);
        }),
        ("delivered.truncated == 0", |step, _| step.truncated = true),
        ("retrieval.hit@5 == 1.0", |step, _| {
            step.retrieved = Some(retrieved(&["b"], &[("a", 3)], 80));
        }),
        ("retrieval.abstain == 100%", |step, _| step.retrieved = Some(retrieved(&["b"], &[], 80))),
        ("retrieval.byte_precision[step=x] >= 0.5", |step, _| {
            step.retrieved = Some(retrieved(&["a"], &[("a", 3)], 49));
        }),
        ("golden.failed == 0", |step, _| step.findings.push(finding(FindingKind::GoldenChanged, "differs"))),
        ("leak.count == 0", |step, _| step.observation.stream_held_open = true),
        ("timeout.count == 0", |step, _| step.observation.ending = Ending::TimedOut),
        ("flaky.count == 0", |step, _| step.findings.push(finding(FindingKind::NotDeterministic, "differs"))),
    ];
    // A step x that retrieves well, a step y that is rightly silent, and a step w with most of a budget's sum.
    let run_with = |fault: Fault| {
        let mut good = step("s", "x", 0, 0);
        (good.injected_bytes, good.injected_utf16) = (100, 100);
        good.retrieved = Some(retrieved(&["a"], &[("a", 3)], 80));
        let mut silent = step("s", "y", 1, 0);
        silent.retrieved = Some(retrieved(&[], &[], 0));
        let mut wordy = step("s", "w", 2, 0);
        (wordy.injected_bytes, wordy.injected_utf16) = (300, 200);
        fault(&mut good, &mut wordy);
        summary(1, [good, silent, wordy])
    };
    let broken = |summary: &Summary| -> Vec<&str> {
        gates.into_iter().filter(|gate| verdict(gate, summary) == Verdict::Fail).collect()
    };
    assert_eq!(broken(&run_with(|_, _| {})), [""; 0]);
    for (gate, fault) in faults {
        assert_eq!(broken(&run_with(fault)), [gate], "{gate}");
    }
}

#[test]
fn exact_figures_hold_at_their_bound() {
    let at = changed(|step| (step.injected_utf16, step.truncated) = (9_000, true));
    assert_eq!(verdict("budget.utf16.max <= 9000", &at), Verdict::Pass);
    assert_eq!(verdict("budget.utf16.max < 9000", &at), Verdict::Fail);
    assert_eq!(verdict("delivered.truncated <= 1", &at), Verdict::Pass);
    assert_eq!(verdict("delivered.truncated < 1", &at), Verdict::Fail);
    let result = answer("budget.utf16.max < 9000", &at);
    assert_eq!(result.reason, "budget.utf16.max is 9000 (largest at s/x), which breaks < 9000");
    assert_eq!((result.estimate, result.n), (Some(9_000.0), 1));
}

#[test]
fn a_reason_names_the_step_behind_a_figure_only_when_there_is_one() {
    let reason = |text: &str, summary: &Summary| answer(text, summary).reason;
    let silent = summary(1, [step("s", "x", 0, 0)]);
    assert_eq!(reason("budget.bytes.max <= 5", &silent), "budget.bytes.max is 0, which keeps <= 5");
    assert_eq!(reason("leak.count == 0", &silent), "leak.count is 0, which keeps == 0");
    let mut leaky = step("s", "y", 1, 1);
    leaky.observation.stream_held_open = true;
    let once = summary(2, [step("s", "x", 0, 0), step("s", "x", 0, 1), step("s", "y", 1, 0), leaky]);
    assert_eq!(reason("leak.count == 0", &once), "leak.count is 1 (first at s/y), which breaks == 0");
    assert_eq!(answer("leak.count == 0", &once).n, 4);
    let perfect = changed(|step| step.retrieved = Some(retrieved(&["a"], &[("a", 2)], 0)));
    assert_eq!(reason("retrieval.hit@5 >= 0.5", &perfect), "retrieval.hit@5 is 1, which keeps >= 0.5");
    let sized = |name: &str, index, round, bytes| {
        let mut step = step("s", name, index, round);
        step.injected_bytes = bytes;
        step
    };
    let uneven = summary(2, [sized("x", 0, 0, 10), sized("x", 0, 1, 100), sized("y", 1, 0, 50), sized("y", 1, 1, 50)]);
    assert!(reason("budget.bytes.max <= 5", &uneven).contains("(largest at s/x)"));
    // Of two equals the first is named.
    assert!(reason("memory.peak <= 1GiB", &once).contains("(largest at s/x)"));
}

#[test]
fn the_budget_percentile_needs_its_samples() {
    let steps = |n: u32| {
        summary(
            n,
            (0..n).map(|round| {
                let mut step = step("s", "x", 0, round);
                step.injected_bytes = u64::from(round + 1);
                step
            }),
        )
    };
    assert_eq!(verdict("budget.bytes.p95 <= 59", &steps(58)), Verdict::Inconclusive);
    assert_eq!(verdict("budget.bytes.p95 <= 59", &steps(59)), Verdict::Pass);
    assert_eq!(verdict("budget.bytes.p95 <= 58", &steps(59)), Verdict::Inconclusive);
    assert_eq!(verdict("budget.bytes.p95 <= 40", &steps(59)), Verdict::Fail);
    assert_eq!(answer("budget.bytes.p95 <= 59", &steps(59)).estimate, Some(57.0));
}

#[test]
fn retrieval_shows_its_interval_and_the_lowest_step() {
    let steps = (0..20).map(|index| {
        let mut step = step("s", &format!("q{index}"), index, 0);
        step.injected_bytes = 10;
        let ranked: &[&str] = if index < 17 { &["a"] } else { &["b"] };
        step.retrieved = Some(retrieved(ranked, &[("a", 2)], 0));
        step
    });
    let run = summary(1, steps);
    let result = answer("retrieval.hit@5 >= 85%", &run);
    assert_eq!((result.verdict, result.estimate, result.n), (Verdict::Pass, Some(85.0), 20));
    let (low, high) = result.interval.unwrap();
    // Wilson, 17 of 20: 0.6396 to 0.9476.
    assert!((low - 63.96).abs() < 0.01 && (high - 94.76).abs() < 0.01, "{low} {high}");
    assert_eq!(verdict("retrieval.hit@5 >= 0.8501", &run), Verdict::Fail);
    assert!(answer("retrieval.hit@5 >= 0.9", &run).reason.contains("lowest 0 at s/q17"));
}

#[test]
fn a_partial_cpu_figure_cannot_pass_a_cap() {
    let partial = |text: &str| answer(text, &changed(|step| step.observation.cpu_partial = true)).verdict;
    assert_eq!(partial("latency.cpu.max <= 100ms"), Verdict::Inconclusive);
    assert_eq!(partial("latency.cpu.max <= 1ms"), Verdict::Fail);
    assert_eq!(partial("latency.cpu.max >= 1ms"), Verdict::Pass);
    assert_eq!(partial("latency.cpu.max >= 100ms"), Verdict::Inconclusive);
    assert_eq!(partial("latency.wall.max <= 100ms"), Verdict::Pass);
}

#[test]
fn a_contended_machine_only_warns_about_wall_caps() {
    let mut events = run(5, (0..5).map(|round| step("s", "x", 0, round)));
    for event in &mut events {
        if let RunEvent::FloorMeasured { round: 1.., wall, .. } = event {
            *wall = Duration::from_micros(2_500);
        }
    }
    let contended = Summary::of(&events);
    let severity = |text: &str| answer(text, &contended).severity;
    assert_eq!(severity("latency.wall.max <= 1ms"), Severity::Warn);
    assert_eq!(severity("latency.cpu.max <= 1ms"), Severity::Fail);
    assert_eq!(severity("latency.wall.max <= 1x vs noop"), Severity::Fail);
    let unclear = answer("latency.wall.p95 <= 1s with inconclusive=fail", &contended);
    assert_eq!((unclear.verdict, unclear.on_inconclusive), (Verdict::Inconclusive, OnInconclusive::Warn));
    assert_eq!(answer("latency.wall.max <= 1ms", &rising(5)).severity, Severity::Fail);
}

#[test]
fn selectors_narrow_what_is_judged() {
    let mut late = step("s", "late", 1, 0);
    late.observation.eof_after = Duration::from_secs(1);
    late.event = "Stop".to_owned();
    late.tags = vec!["slow".to_owned(), "must".to_owned()];
    let run = summary(1, [step("s", "quick", 0, 0), late]);
    assert_eq!(verdict("latency.wall.max <= 10ms", &run), Verdict::Fail);
    assert_eq!(verdict("latency.wall.max[event=User*] <= 10ms", &run), Verdict::Pass);
    assert_eq!(verdict("latency.wall.max[step=quick] <= 10ms", &run), Verdict::Pass);
    assert_eq!(verdict("latency.wall.max[tag=must] <= 10ms", &run), Verdict::Fail);
    assert_eq!(verdict("latency.wall.max[tag=must,step=quick] <= 10ms", &run), Verdict::Skipped);
    assert_eq!(verdict("latency.wall.max[hook=my-hook*,scenario=s] <= 10ms", &run), Verdict::Fail);
}

#[test]
fn figures_in_sentences_are_short() {
    let table = [
        (0.0, "0"),
        (9_000.0, "9000"),
        (131.234, "131.2"),
        (-131.234, "-131.2"),
        (99.994, "99.99"),
        (4.5, "4.5"),
        (2.716, "2.72"),
        (-2.716, "-2.72"),
        (1.001, "1"),
        (0.12345, "0.1235"),
        (-0.25, "-0.25"),
    ];
    for (figure, shown) in table {
        assert_eq!(short(figure), shown);
    }
}
