//! How figures are written in reports: few digits, always with their unit.

use std::time::Duration;

use crate::latency::{Distribution, Percentile, Quantile};
use crate::run_event::{FindingKind, GateResult, Verdict};
use crate::summary::ScenarioState;

/// The word for a verdict, in capitals so that it stands out without colour.
pub(super) fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "PASS",
        Verdict::Fail => "FAIL",
        Verdict::Inconclusive => "INCONCLUSIVE",
        Verdict::Skipped => "SKIPPED",
    }
}

/// The word for the state of a scenario.
pub(super) fn state(state: ScenarioState) -> &'static str {
    match state {
        ScenarioState::Pass => "PASS",
        ScenarioState::Fail => "FAIL",
        ScenarioState::Incomplete => "INCOMPLETE",
    }
}

/// A time with three significant digits.
pub(super) fn time(time: Duration) -> String {
    let us = time.as_micros() as f64;
    match us {
        us if us < 1_000.0 => format!("{us:.0}us"),
        us if us < 10_000.0 => format!("{:.2}ms", us / 1e3),
        us if us < 100_000.0 => format!("{:.1}ms", us / 1e3),
        us if us < 1_000_000.0 => format!("{:.0}ms", us / 1e3),
        us => format!("{:.2}s", us / 1e6),
    }
}

/// A percentile, or the count that it needs.
pub(super) fn percentile(percentile: Percentile) -> String {
    match percentile {
        Percentile::Value(value) => time(value),
        Percentile::TooFew { need, .. } => format!("n<{need}"),
    }
}

/// A percentile of the hook with the floor's beside it, when there is one.
pub(super) fn beside_floor(hook: &Distribution, floor: Option<&Distribution>, quantile: Quantile) -> String {
    let shown = percentile(hook.percentile(quantile));
    match floor.filter(|floor| floor.count() > 0) {
        Some(floor) => format!("{shown} ({})", percentile(floor.percentile(quantile))),
        None => shown,
    }
}

/// A ratio to the floor.
pub(super) fn ratio(ratio: Option<f64>) -> String {
    ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}x"))
}

/// How far a ratio is from 1, such as `+12.5 %`.
pub(super) fn change(ratio: Option<f64>) -> String {
    // Adding zero turns a negative zero into a plain one.
    ratio.map_or("-".to_owned(), |ratio| format!("{:+.1} %", ((ratio - 1.0) * 1e3).round() / 10.0 + 0.0))
}

/// Bytes in the largest unit that leaves a whole part.
pub(super) fn bytes(bytes: u64) -> String {
    let count = bytes as f64;
    match bytes {
        0..1_024 => format!("{bytes} B"),
        1_024..1_048_576 => format!("{:.1} KiB", count / 1_024.0),
        1_048_576..1_073_741_824 => format!("{:.1} MiB", count / 1_048_576.0),
        _ => format!("{:.2} GiB", count / 1_073_741_824.0),
    }
}

/// A share with three decimals.
pub(super) fn share(share: f64) -> String {
    format!("{share:.3}")
}

/// The figure of a gate with its interval, such as `131.2ms [120 to 144]`; `-` when nothing was measured.
pub(super) fn gate(gate: &GateResult) -> String {
    let digits = |figure: f64| {
        let text = format!("{figure:.3}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    let interval = gate.interval.map(|(low, high)| format!("[{} to {}]", digits(low), digits(high)));
    match (gate.estimate, interval) {
        (Some(estimate), Some(interval)) => format!("{}{} {interval}", digits(estimate), gate.unit),
        (Some(estimate), None) => format!("{}{}", digits(estimate), gate.unit),
        (None, Some(interval)) => interval,
        (None, None) => "-".to_owned(),
    }
}

/// Kinds of findings with the number of calls that had each, such as `timeout x3, orphan x1`.
pub(super) fn findings(counts: impl IntoIterator<Item = (FindingKind, u32)>) -> String {
    let listed: Vec<String> = counts.into_iter().map(|(kind, n)| format!("{} x{n}", kind.name())).collect();
    if listed.is_empty() { "-".to_owned() } else { listed.join(", ") }
}

/// `1 step`, `2 steps`.
pub(super) fn counted(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_keep_three_digits() {
        let table = [
            (0, "0us"),
            (999, "999us"),
            (1_000, "1.00ms"),
            (9_994, "9.99ms"),
            (10_000, "10.0ms"),
            (100_000, "100ms"),
            (999_000, "999ms"),
            (1_000_000, "1.00s"),
        ];
        for (us, shown) in table {
            assert_eq!(time(Duration::from_micros(us)), shown);
        }
    }

    #[test]
    fn bytes_change_unit_at_its_size() {
        let table = [
            (0, "0 B"),
            (1_023, "1023 B"),
            (1_024, "1.0 KiB"),
            (1_048_575, "1024.0 KiB"),
            (1_048_576, "1.0 MiB"),
            (1_073_741_824, "1.00 GiB"),
        ];
        for (n, shown) in table {
            assert_eq!(bytes(n), shown);
        }
    }

    #[test]
    fn nouns_count() {
        assert_eq!(counted(1, "step"), "1 step");
        assert_eq!(counted(0, "step"), "0 steps");
    }
}
