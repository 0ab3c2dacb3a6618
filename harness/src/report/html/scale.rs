//! Scales of charts: from a figure to its place, in hundredths of the width, and the marks along it.

use super::number;

/// A logarithmic scale over times in microseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LogScale {
    low: f64,
    high: f64,
}

impl LogScale {
    /// The scale that holds all these times, its ends on round numbers; `None` when there are no times.
    pub(super) fn over(times_us: impl IntoIterator<Item = u64>) -> Option<LogScale> {
        let (low, high) = times_us
            .into_iter()
            .map(|time| time.max(1) as f64)
            .fold((f64::INFINITY, 0.0_f64), |(low, high), time| (low.min(time), high.max(time)));
        if high == 0.0 {
            return None;
        }
        let ends = [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0];
        let low = round_numbers(&ends, low).next_back().unwrap_or(1.0);
        let high = round_numbers(&ends, high * 10.0).find(|round| *round >= high).unwrap_or(high * 10.0);
        // Two ends on one number would leave no width.
        Some(LogScale { low, high: if high > low { high } else { low * 2.0 } })
    }

    /// The longest time that it holds, in microseconds.
    pub(super) fn high(&self) -> f64 {
        self.high
    }

    /// Place of a time, from 0 to 100.
    pub(super) fn place(&self, time_us: f64) -> f64 {
        let share = (time_us.max(1.0) / self.low).ln() / (self.high / self.low).ln();
        share.clamp(0.0, 1.0) * 100.0
    }

    /// Which of `n` equal slices a time falls into.
    pub(super) fn slice(&self, time_us: u64, n: usize) -> usize {
        let slice = self.place(time_us as f64) / 100.0 * n as f64;
        (slice as usize).min(n.saturating_sub(1))
    }

    /// Round numbers along the scale with their label; on long scales only powers of ten have one.
    pub(super) fn marks(&self) -> Vec<(f64, Option<String>)> {
        let long = self.high / self.low > 150.0;
        let labelled = |round: f64| !long || (round.log10() - round.log10().round()).abs() < 1e-9;
        round_numbers(&[1.0, 2.0, 5.0], self.high)
            .filter(|round| *round >= self.low)
            .map(|round| (self.place(round), labelled(round).then(|| number::round_time(round))))
            .collect()
    }
}

/// Powers of ten times some digits, rising, up to a number.
fn round_numbers(digits: &[f64], up_to: f64) -> impl DoubleEndedIterator<Item = f64> {
    let all: Vec<f64> = (0..18)
        .flat_map(|power| digits.iter().map(move |digit| digit * 10_f64.powi(power)))
        .take_while(|round| *round <= up_to * 1.000_001)
        .collect();
    all.into_iter()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

    use super::*;

    #[test]
    fn ends_are_round_and_hold_every_time() {
        let scale = LogScale::over([530, 4_100]).unwrap();
        assert_eq!((scale.low, scale.high), (500.0, 5_000.0));
        assert!((scale.place(500.0) - 0.0).abs() < 1e-9 && (scale.place(5_000.0) - 100.0).abs() < 1e-9);
        assert!((scale.place(1_581.138_83) - 50.0).abs() < 1e-6);
        assert_eq!(LogScale::over([]), None);
        let one = LogScale::over([1_000]).unwrap();
        assert!(one.high > one.low);
        assert_eq!(LogScale::over([0]).unwrap().low, 1.0);
    }

    #[test]
    fn slices_cover_the_scale() {
        let scale = LogScale::over([1_000, 10_000]).unwrap();
        assert_eq!((scale.slice(1_000, 10), scale.slice(10_000, 10), scale.slice(3_200, 10)), (0, 9, 5));
    }

    #[test]
    fn long_scales_label_powers_of_ten_only() {
        let labels = |low, high| {
            let marks = LogScale::over([low, high]).unwrap().marks();
            marks.into_iter().filter_map(|(_, label)| label).collect::<Vec<_>>()
        };
        assert_eq!(labels(1_000, 5_000), ["1\u{a0}ms", "2\u{a0}ms", "5\u{a0}ms"]);
        assert_eq!(labels(700, 950_000), ["1\u{a0}ms", "10\u{a0}ms", "100\u{a0}ms", "1\u{a0}s"]);
    }
}
