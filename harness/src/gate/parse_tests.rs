#![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

use proptest::prelude::*;

use super::*;
use crate::gate::{Spread, Stat};
use crate::latency::Quantile;
use crate::quality::Measure;
use crate::summary::{BudgetMeasure, Clock};

fn parse(text: &str) -> GateExpr {
    text.parse().unwrap()
}

/// Offset and message of the mistake.
fn fault(text: &str) -> (usize, String) {
    let fault = text.parse::<GateExpr>().unwrap_err();
    assert!(!fault.remedy.is_empty());
    (fault.at, fault.message)
}

#[test]
fn every_part_of_a_full_gate_is_understood() {
    let gate = parse(
        "latency.cpu.p50[event=UserPromptSubmit,step=a*] < +10% vs baseline \
         with confidence=0.99, min_n=20, max_n=400, inconclusive=fail, confirm=2, margin=5% severity warn",
    );
    assert_eq!(
        gate,
        GateExpr {
            metric: Metric::Latency(Clock::Cpu, Stat::Percentile(Quantile::P50)),
            selector: Selector {
                pairs: vec![(SelectorKey::Event, "UserPromptSubmit".to_owned()), (SelectorKey::Step, "a*".to_owned())]
            },
            op: Op::Lt,
            bound: Bound { number: 10.0, unit: Unit::Percent, change: true },
            base: Some(Base::Baseline),
            options: Options {
                confidence: Some(0.99),
                min_n: Some(20),
                max_n: Some(400),
                inconclusive: Some(OnInconclusive::Fail),
                confirm: Some(2),
                margin: Some(0.05),
            },
            severity: Severity::Warn,
        }
    );
}

#[test]
fn each_metric_of_the_grammar_parses() {
    let table = [
        ("latency.wall.min <= 1us", Metric::Latency(Clock::Wall, Stat::Min)),
        ("latency.wall.p90 <= 1ms", Metric::Latency(Clock::Wall, Stat::Percentile(Quantile::P90))),
        ("latency.wall.p95 <= 1s", Metric::Latency(Clock::Wall, Stat::Percentile(Quantile::P95))),
        ("latency.cpu.p99 <= 1ms", Metric::Latency(Clock::Cpu, Stat::Percentile(Quantile::P99))),
        ("latency.cpu.max <= 1ms", Metric::Latency(Clock::Cpu, Stat::Max)),
        ("latency.cpu.mean <= 1ms", Metric::Latency(Clock::Cpu, Stat::Mean)),
        ("instructions < +3% vs baseline", Metric::Instructions),
        ("memory.peak <= 20MiB", Metric::MemoryPeak),
        ("budget.bytes.max <= 9000", Metric::Budget(BudgetMeasure::Bytes, Spread::Max)),
        ("budget.bytes.max <= 9kB", Metric::Budget(BudgetMeasure::Bytes, Spread::Max)),
        ("budget.utf16.sum <= 9000", Metric::Budget(BudgetMeasure::Utf16, Spread::Sum)),
        ("budget.tokens_est.p95 <= 2000", Metric::Budget(BudgetMeasure::TokensEst, Spread::P95)),
        ("delivered.truncated == 0", Metric::DeliveredTruncated),
        ("retrieval.recall@5 >= 85%", Metric::Retrieval(Measure::Recall(5))),
        ("retrieval.byte_precision >= 0.5", Metric::Retrieval(Measure::BytePrecision)),
        ("golden.failed == 0", Metric::GoldenFailed),
        ("leak.count == 0", Metric::LeakCount),
        ("timeout.count == 0", Metric::TimeoutCount),
        ("flaky.count == 0", Metric::FlakyCount),
    ];
    for (text, metric) in table {
        assert_eq!(parse(text).metric, metric, "{text}");
    }
}

#[test]
fn spaces_are_free_and_words_are_whole() {
    let plain = parse("latency.wall.p95[tag=must]<=150ms with min_n=59");
    let wide = parse("  latency.wall.p95 [ tag = must ] <= 150 ms with min_n = 59 , max_n = 60 severity fail ");
    assert_eq!(plain.selector, wide.selector);
    assert_eq!(plain.bound, wide.bound);
    assert_eq!(wide.options.max_n, Some(60));
    assert_eq!(fault("leak.count == 0 without min_n=3"), (16, "unknown unit `without`".to_owned()));
}

#[test]
fn a_ratio_to_the_no_op_has_its_unit() {
    let gate = parse("latency.cpu.p50 <= 4.0x vs noop");
    assert_eq!(gate.bound, Bound { number: 4.0, unit: Unit::Times, change: false });
    assert_eq!(gate.base, Some(Base::Noop));
    assert_eq!(parse("latency.wall.p50 <= 1.1x vs baseline").base, Some(Base::Baseline));
}

#[test]
fn quoted_globs_and_paths_may_hold_anything() {
    let gate = parse("latency.wall.p50[hook=\"a, b] c\",tag=x,tag=y] < +5% vs file:\"my runs/1\"");
    assert_eq!(gate.selector.pairs[0], (SelectorKey::Hook, "a, b] c".to_owned()));
    assert_eq!(gate.selector.pairs.len(), 3);
    assert_eq!(gate.base, Some(Base::File("my runs/1".to_owned())));
}

#[test]
fn mistakes_name_their_place() {
    let table = [
        ("", 0, "a metric is missing"),
        ("leek.count == 0", 0, "unknown metric `leek.count`"),
        ("  latency.wall.p42 <= 1ms", 2, "unknown metric `latency.wall.p42`"),
        ("retrieval.recall@0 >= 1", 0, "unknown metric `retrieval.recall@0`"),
        ("spawn.count == 0", 0, "`spawn.count` is not measured"),
        ("latency.cpu.min < +10% vs baseline", 18, "single smallest and largest samples prove no change"),
        ("latency.wall.max < +10% vs baseline", 19, "single smallest and largest samples prove no change"),
        ("latency.cpu.p50 < +0% vs baseline", 18, "no number of rounds tells noise from a change of nothing"),
        ("latency.cpu.p50 <= 1x vs baseline", 19, "no number of rounds tells noise from a change of nothing"),
        ("latency.cpu.p50 <= 0x vs baseline", 19, "no figure is a hundred per cent below its base"),
        ("budget.utf16.max <= -100% vs file:a", 20, "no figure is a hundred per cent below its base"),
        ("latency.cpu.p50 < +5% vs baseline with margin=5%", 18, "the margin is not between nothing and the bound"),
        ("latency.cpu.p50 < +5% vs baseline with margin=0%", 18, "the margin is not between nothing and the bound"),
        ("leak.count[evnt=x] == 0", 11, "unknown selector key `evnt`"),
        ("leak.count[event] == 0", 16, "`=` is missing after `event`"),
        ("leak.count[event=] == 0", 17, "`event` has no glob"),
        ("leak.count[event=a,event=b] == 0", 19, "`event` is selected twice"),
        ("leak.count[event=a == 0", 10, "the selector is not closed"),
        ("leak.count[event=\"a] == 0", 17, "a double quote is not closed"),
        ("leak.count = 0", 11, "an operator is missing"),
        ("leak.count", 10, "an operator is missing"),
        ("leak.count ==", 13, "a bound is missing"),
        ("leak.count == 1.2.3", 14, "`1.2.3` is no number"),
        ("leak.count == x", 14, "a bound is missing"),
        ("latency.wall.p95 <= 150mss", 23, "unknown unit `mss`"),
        ("latency.wall.p95 <= 150", 20, "a time needs a unit of time"),
        ("latency.wall.p95 <= 150MiB", 20, "a time needs a unit of time"),
        ("latency.wall.p95 == 150ms", 17, "a measured figure never equals a bound"),
        ("memory.peak == 1MiB", 12, "a measured figure never equals a bound"),
        ("memory.peak <= 20", 15, "memory needs a unit of bytes"),
        ("leak.count == 0ms", 14, "`leak.count` is a plain number"),
        ("budget.utf16.max <= 9kB", 20, "`budget.utf16.max` is a plain number"),
        ("budget.bytes.max <= 9ms", 20, "`budget.bytes.max` is a plain number"),
        ("retrieval.hit@5 >= 1.01", 19, "a share is never above 1"),
        ("retrieval.hit@5 >= 101%", 19, "a share is never above 1"),
        ("retrieval.hit@5 >= 1ms", 19, "`retrieval.hit@5` is a plain number"),
        ("latency.cpu.p50 < +10%", 18, "a relative bound needs something to stand against"),
        ("latency.cpu.p50 <= 4x", 19, "a relative bound needs something to stand against"),
        ("latency.cpu.p50 <= 4ms vs noop", 19, "against the no-op only a ratio makes sense"),
        ("latency.cpu.p50 <= +4x vs noop", 19, "against the no-op only a ratio makes sense"),
        ("leak.count <= 4x vs noop", 14, "only latency has a no-op to stand against"),
        ("latency.cpu.p50 <= 4ms vs baseline", 19, "an absolute bound has no base"),
        ("latency.cpu.p50 <= +4ms vs baseline", 19, "a change is written in per cent"),
        ("latency.cpu.p50 <= +4x vs baseline", 19, "a change is written in per cent"),
        ("latency.cpu.p50 < +10% vs yesterday", 26, "unknown base after `vs`"),
        ("latency.cpu.p50 < +10% vs file:", 26, "`file:` has no path"),
        ("leak.count == 0 with", 20, "an option is missing or has no value"),
        ("leak.count == 0 with foo=1", 21, "unknown option `foo`"),
        ("leak.count == 0 with min_n=0", 27, "`0` is no value for `min_n`"),
        ("leak.count == 0 with max_n=-1", 27, "`` is no value for `max_n`"),
        ("leak.count == 0 with confidence=0.5", 32, "`0.5` is no value for `confidence`"),
        ("leak.count == 0 with confidence=1", 32, "`1` is no value for `confidence`"),
        ("leak.count == 0 with margin=5", 28, "`5` is no value for `margin`"),
        ("leak.count == 0 with confirm=x", 29, "`x` is no value for `confirm`"),
        ("leak.count == 0 with inconclusive=maybe", 34, "`maybe` is no value for `inconclusive`"),
        ("leak.count == 0 with min_n=1, min_n=2", 30, "`min_n` is given twice"),
        ("leak.count == 0 with min_n=5, max_n=4", 30, "min_n is above max_n"),
        ("leak.count == 0 severity high", 25, "unknown severity"),
        ("leak.count == 0 severity fail vs noop", 30, "`vs noop` is left over"),
    ];
    for (text, at, message) in table {
        assert_eq!(fault(text), (at, message.to_owned()), "{text}");
    }
}

#[test]
fn an_unknown_metric_is_led_to_its_own_family() {
    let table = [
        ("latency.wall.p42 <= 1ms", "write latency.wall or latency.cpu, then"),
        ("budget.words.max <= 9", "write budget.bytes, budget.utf16 or budget.tokens_est, then"),
        ("retrieval.map >= 0.5", "write retrieval.ndcg@K, "),
        ("leek.count == 0", "the metrics are latency.*, "),
        ("spawn.count == 0", "gate leak.count for children that stay"),
    ];
    for (text, remedy) in table {
        let fault = text.parse::<GateExpr>().unwrap_err();
        assert!(fault.remedy.starts_with(remedy), "{text}: {}", fault.remedy);
    }
}

#[test]
fn a_change_of_nothing_keeps_its_sign() {
    for text in ["budget.utf16.max < +0% vs baseline", "latency.cpu.p50 <= -5% vs baseline"] {
        assert_eq!(parse(text).to_string(), text);
        assert!(parse(text).bound.change);
    }
}

#[test]
fn a_canonical_text_is_written_as_it_was_read() {
    for text in [
        "latency.cpu.p50[event=UserPromptSubmit,step=a*] < +10% vs baseline with confidence=0.99, min_n=20, \
         max_n=400, inconclusive=fail, confirm=2, margin=5% severity warn",
        "latency.wall.min >= 1us with inconclusive=pass",
        "latency.wall.p90 > 2s with inconclusive=warn",
        "latency.cpu.p95 <= 4.5x vs noop",
        "latency.cpu.max <= 4.5x vs file:runs/a",
        "latency.cpu.mean <= 4.5x vs file:\"my runs/a\"",
        "instructions <= -2.5% vs baseline",
        "memory.peak <= 20MiB",
        "budget.bytes.max[hook=\"a b\",tag=\"x]\",tag=y] <= 9kB",
        "budget.utf16.sum <= 9000",
        "budget.tokens_est.p95 <= 2000",
        "delivered.truncated == 0",
        "retrieval.byte_precision >= 50%",
        "golden.failed == 0",
        "leak.count == 0",
        "timeout.count == 0",
        "flaky.count == 0",
    ] {
        assert_eq!(parse(text).to_string(), text);
    }
}

#[test]
fn equal_limits_of_n_are_allowed() {
    assert_eq!(parse("leak.count == 0 with min_n=5, max_n=5").options.min_n, Some(5));
    assert_eq!(parse("retrieval.hit@5 >= 100%").bound.number, 100.0);
    assert_eq!(parse("leak.count == 0 with confidence=0.51").options.confidence, Some(0.51));
}

proptest! {
    #[test]
    fn any_text_parses_or_names_a_place_inside_it(text in "\\PC{0,60}") {
        if let Err(fault) = text.parse::<GateExpr>() {
            prop_assert!(fault.at <= text.len());
        }
    }

    #[test]
    fn canonical_text_parses_back(
        metric in prop::sample::select(vec![
            "latency.wall.p99", "latency.cpu.min", "memory.peak", "budget.bytes.sum", "retrieval.rr@10", "leak.count",
        ]),
        selector in prop::sample::select(vec!["", "[event=*]", "[hook=a b,tag=must]", "[step=\"x,y\"]"]),
        op in prop::sample::select(vec!["<=", "<", ">=", ">"]),
        number in 0_u32..1000,
        options in prop::sample::select(vec!["", " with min_n=3", " with confidence=0.9, margin=2.5%, confirm=0"]),
        severity in prop::sample::select(vec!["", " severity warn", " severity fail"]),
    ) {
        let unit = match metric {
            "latency.wall.p99" | "latency.cpu.min" => "ms",
            "memory.peak" => "KiB",
            _ => "",
        };
        let number = if metric.starts_with("retrieval") { f64::from(number) / 1000.0 } else { f64::from(number) };
        let gate = parse(&format!("{metric}{selector} {op} {number}{unit}{options}{severity}"));
        prop_assert_eq!(parse(&gate.to_string()), gate);
    }
}
