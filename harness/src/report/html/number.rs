//! How figures are written in the page: three digits, a narrow unit that cannot leave its number.

use crate::latency::Percentile;

/// A space that does not break.
const GAP: char = '\u{a0}';

/// A time in microseconds with three significant digits; a zero at the end stays, so that columns line up.
pub(super) fn time(us: f64) -> String {
    let (number, unit) = scaled(us);
    if unit == "µs" { format!("{number:.0}{GAP}{unit}") } else { format!("{}{GAP}{unit}", three_digits(number)) }
}

/// A round time, as an axis names it.
pub(super) fn round_time(us: f64) -> String {
    let (number, unit) = scaled(us);
    format!("{}{GAP}{unit}", digits(number))
}

fn scaled(us: f64) -> (f64, &'static str) {
    match us {
        us if us < 1_000.0 => (us, "µs"),
        us if us < 1_000_000.0 => (us / 1e3, "ms"),
        us => (us / 1e6, "s"),
    }
}

/// A percentile, or how many calls it needs.
pub(super) fn percentile(percentile: Percentile) -> String {
    match percentile {
        Percentile::Value(value) => time(value.as_micros() as f64),
        Percentile::TooFew { need, .. } => format!("n{GAP}<{GAP}{}", count(need)),
    }
}

/// A ratio.
pub(super) fn ratio(ratio: f64) -> String {
    format!("{}×", three_digits(ratio))
}

/// A share with two decimals.
pub(super) fn share(share: f64) -> String {
    format!("{share:.2}")
}

/// A count with its thousands apart.
pub(super) fn count(count: u64) -> String {
    let plain = count.to_string();
    let mut grouped = String::with_capacity(plain.len() + plain.len() / 3);
    for (place, digit) in plain.chars().enumerate() {
        if place > 0 && (plain.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Three significant digits, fewer when the rest is zero.
pub(super) fn digits(number: f64) -> String {
    let text = three_digits(number);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn three_digits(number: f64) -> String {
    let decimals = match number.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        _ => 2,
    };
    format!("{number:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_three_digits_and_their_unit() {
        let table = [(0.0, "0\u{a0}µs"), (820.0, "820\u{a0}µs"), (3_084.0, "3.08\u{a0}ms"), (131_250.0, "131\u{a0}ms")];
        for (us, shown) in table {
            assert_eq!(time(us), shown);
        }
        assert_eq!((time(1_000_000.0), round_time(1_000_000.0)), ("1.00\u{a0}s".to_owned(), "1\u{a0}s".to_owned()));
        assert_eq!((ratio(1.5), digits(1.5)), ("1.50×".to_owned(), "1.5".to_owned()));
        assert_eq!(percentile(Percentile::TooFew { have: 5, need: 2_995 }), "n\u{a0}<\u{a0}2,995");
    }

    #[test]
    fn counts_group_their_thousands() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
    }
}
