//! Distributions of times: histograms, percentiles and what a percentile may claim.
//!
//! Times are whole microseconds in an HDR histogram with three significant digits, so a figure is at most
//! 0.1 % above the sample behind it, and two histograms add without loss. A percentile with too few samples
//! is a value of its own ([`Percentile::TooFew`]); nobody can print it as a number by accident. Comparing two
//! hooks is not here: that needs paired rounds.

use std::fmt;
use std::time::Duration;

use hdrhistogram::Histogram;

pub use hookbench_statistics::{CONFIDENCE, Quantile, Ranks, needed, ranks};

/// Significant decimal digits of every histogram.
const DIGITS: u8 = 3;

/// A percentile, or why there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Percentile {
    /// The sample at the percentile's rank.
    Value(Duration),
    /// The tail beyond the percentile has not been seen often enough to name it.
    TooFew {
        /// Samples at hand.
        have: u64,
        /// Samples needed at 95 % confidence.
        need: u64,
    },
}

impl Percentile {
    /// The figure, when there is one.
    pub fn value(self) -> Option<Duration> {
        match self {
            Percentile::Value(value) => Some(value),
            Percentile::TooFew { .. } => None,
        }
    }
}

/// Samples of one time: wall, exit or CPU.
#[derive(Clone, PartialEq)]
pub struct Distribution {
    histogram: Histogram<u64>,
}

impl Distribution {
    /// A distribution of samples in microseconds.
    pub fn of(samples_us: impl IntoIterator<Item = u64>) -> Distribution {
        let mut distribution = Distribution { histogram: empty_histogram() };
        for sample in samples_us {
            distribution.record_n(sample, 1);
        }
        distribution
    }

    /// A distribution from the pairs of [`Distribution::buckets`].
    pub fn from_buckets(buckets: impl IntoIterator<Item = (u64, u64)>) -> Distribution {
        let mut distribution = Distribution::of([]);
        for (value_us, count) in buckets {
            distribution.record_n(value_us, count);
        }
        distribution
    }

    fn record_n(&mut self, value_us: u64, count: u64) {
        // The histogram grows with its values, so a sample can only be refused for want of memory or a value
        // near u64::MAX; saturating keeps such a sample in the count.
        if self.histogram.record_n(value_us, count).is_err() {
            self.histogram.saturating_record_n(value_us, count);
        }
    }

    /// Adds all samples of another distribution, bucket by bucket.
    pub fn add(&mut self, other: &Distribution) {
        for (value_us, count) in other.buckets() {
            self.record_n(value_us, count);
        }
    }

    /// Number of samples.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Smallest sample.
    pub fn min(&self) -> Option<Duration> {
        (self.count() > 0).then(|| Duration::from_micros(self.histogram.min()))
    }

    /// Largest sample, rounded up to its bucket.
    pub fn max(&self) -> Option<Duration> {
        (self.count() > 0).then(|| Duration::from_micros(self.histogram.max()))
    }

    /// Mean of the samples. Says little alone; reports show it beside percentiles only.
    pub fn mean(&self) -> Option<Duration> {
        (self.count() > 0).then(|| Duration::from_secs_f64(self.histogram.mean() / 1e6))
    }

    /// Sample at a rank, from 1 for the smallest; `None` outside the distribution.
    pub fn at_rank(&self, rank: u64) -> Option<Duration> {
        if rank == 0 {
            return None;
        }
        let mut seen = 0;
        for (value_us, count) in self.buckets() {
            seen += count;
            if seen >= rank {
                return Some(Duration::from_micros(value_us));
            }
        }
        None
    }

    /// The percentile, if the samples suffice to name it.
    pub fn percentile(&self, quantile: Quantile) -> Percentile {
        let (have, need) = (self.count(), needed(quantile, CONFIDENCE));
        match self.at_rank(quantile.rank(have)) {
            Some(value) if have >= need => Percentile::Value(value),
            _ => Percentile::TooFew { have, need },
        }
    }

    /// Distribution-free bounds of the percentile: each holds with the given confidence on its own side.
    ///
    /// `None` on a side means that the samples cannot bound it.
    pub fn bounds(&self, quantile: Quantile, confidence: f64) -> (Option<Duration>, Option<Duration>) {
        let ranks = ranks(self.count(), quantile, confidence);
        (ranks.lower.and_then(|rank| self.at_rank(rank)), ranks.upper.and_then(|rank| self.at_rank(rank)))
    }

    /// Filled buckets in rising order: highest value of the bucket in microseconds, and its samples.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.histogram.iter_recorded().map(|step| {
            (self.histogram.highest_equivalent(step.value_iterated_to()), step.count_since_last_iteration())
        })
    }
}

impl fmt::Debug for Distribution {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_list().entries(self.buckets()).finish()
    }
}

#[expect(clippy::expect_used, reason = "the number of digits is a constant in the allowed range of 0 to 5")]
fn empty_histogram() -> Histogram<u64> {
    Histogram::new(DIGITS).expect("three significant digits are valid")
}

/// Median of numbers; the mean of the middle two for an even count. `None` when empty.
pub fn median(mut numbers: Vec<f64>) -> Option<f64> {
    numbers.sort_by(f64::total_cmp);
    let middle = numbers.len() / 2;
    let upper = *numbers.get(middle)?;
    if numbers.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = *numbers.get(middle.checked_sub(1)?)?;
    Some(f64::midpoint(lower, upper))
}

/// Whether the floor itself was steady enough to trust absolute wall limits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Contention {
    /// The no-op child was steady.
    Quiet,
    /// Something else used the machine: p50 above twice the minimum, or p95 above three times p50.
    Contended {
        /// Median over minimum of the no-op's wall time.
        p50_over_min: f64,
        /// p95 over median, when there are samples enough for a p95.
        p95_over_p50: Option<f64>,
    },
    /// Too few floors to say.
    Unknown {
        /// Floors at hand.
        have: u64,
        /// Floors needed.
        need: u64,
    },
}

/// Judges a machine by the wall times of its no-op children.
///
/// A contended machine is recognised from five floors on; a quiet one only when p95 has its samples too.
pub fn contention(floor_wall: &Distribution) -> Contention {
    let unknown = Contention::Unknown { have: floor_wall.count(), need: needed(Quantile::P95, CONFIDENCE) };
    let (Some(p50), Some(min)) = (floor_wall.percentile(Quantile::P50).value(), floor_wall.min()) else {
        return unknown;
    };
    let p50_over_min = p50.as_secs_f64() / min.max(Duration::from_micros(1)).as_secs_f64();
    let p95_over_p50 = floor_wall
        .percentile(Quantile::P95)
        .value()
        .map(|p95| p95.as_secs_f64() / p50.max(Duration::from_micros(1)).as_secs_f64());
    if p50_over_min > 2.0 || p95_over_p50.is_some_and(|ratio| ratio > 3.0) {
        return Contention::Contended { p50_over_min, p95_over_p50 };
    }
    if p95_over_p50.is_some() { Contention::Quiet } else { unknown }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

    use super::*;

    fn us(value: u64) -> Duration {
        Duration::from_micros(value)
    }

    #[test]
    fn percentile_is_named_from_the_needed_count_on() {
        assert_eq!(Distribution::of(1..=4).percentile(Quantile::P50), Percentile::TooFew { have: 4, need: 5 });
        assert_eq!(Distribution::of(1..=5).percentile(Quantile::P50), Percentile::Value(us(3)));
        assert_eq!(Distribution::of(1..=58).percentile(Quantile::P95), Percentile::TooFew { have: 58, need: 59 });
        // Rank 57 of 59: ceil(59 × 0.95) = ceil(56.05).
        assert_eq!(Distribution::of(1..=59).percentile(Quantile::P95), Percentile::Value(us(57)));
        assert_eq!(Distribution::of([]).percentile(Quantile::P50), Percentile::TooFew { have: 0, need: 5 });
    }

    #[test]
    fn ranks_outside_the_samples_have_no_value() {
        let distribution = Distribution::of([10, 20, 20, 40]);
        assert_eq!(distribution.at_rank(0), None);
        assert_eq!(distribution.at_rank(1), Some(us(10)));
        assert_eq!(distribution.at_rank(3), Some(us(20)));
        assert_eq!(distribution.at_rank(4), Some(us(40)));
        assert_eq!(distribution.at_rank(5), None);
    }

    #[test]
    fn a_figure_is_at_most_a_thousandth_above_its_sample() {
        for sample in [1, 999, 2_048, 150_000, 29_999_999, 3_600_000_000] {
            let shown = Distribution::of([sample]).max().unwrap().as_micros();
            let sample = u128::from(sample);
            assert!(shown >= sample && (shown - sample) * 1000 <= sample, "{sample} became {shown}");
        }
    }

    #[test]
    fn added_parts_equal_the_whole_bucket_for_bucket() {
        let samples: Vec<u64> = (0..2_000).map(|i| (i * i * 7919) % 5_000_000).collect();
        let (left, right) = samples.split_at(700);
        let mut sum = Distribution::of(left.iter().copied());
        sum.add(&Distribution::of(right.iter().copied()));
        let whole = Distribution::of(samples.iter().copied());
        assert!(sum.buckets().eq(whole.buckets()));
        assert!(Distribution::from_buckets(whole.buckets()).buckets().eq(whole.buckets()));
        assert_eq!(whole.buckets().map(|(_, count)| count).sum::<u64>(), 2_000);
    }

    #[test]
    fn an_empty_distribution_has_no_figures() {
        let empty = Distribution::of([]);
        assert_eq!((empty.min(), empty.max(), empty.mean(), empty.count()), (None, None, None, 0));
        assert_eq!(empty.bounds(Quantile::P50, 0.95), (None, None));
    }

    #[test]
    fn bounds_are_samples_at_their_ranks() {
        // Ranks of the median of ten: 2 and 9 at 95 %, 1 and 10 at 99 %. Four samples bound it on neither side.
        let ten = Distribution::of((1..=10).map(|us| us * 10));
        assert_eq!(ten.bounds(Quantile::P50, 0.95), (Some(us(20)), Some(us(90))));
        assert_eq!(ten.bounds(Quantile::P50, 0.99), (Some(us(10)), Some(us(100))));
        assert_eq!(Distribution::of(1..=4).bounds(Quantile::P50, 0.95), (None, None));
        assert_eq!(Distribution::of(1..=10).bounds(Quantile::P95, 0.95), (Some(us(8)), None));
    }

    #[test]
    fn debug_shows_buckets_and_their_counts() {
        assert_eq!(format!("{:?}", Distribution::of([3, 1, 3])), "[(1, 1), (3, 2)]");
    }

    #[test]
    fn mean_of_small_samples_is_exact() {
        assert_eq!(Distribution::of([100, 200, 600]).mean(), Some(us(300)));
        assert_eq!(Distribution::of([0]).min(), Some(us(0)));
    }

    #[test]
    fn median_of_even_counts_is_the_midpoint() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![3.0]), Some(3.0));
        assert_eq!(median(vec![9.0, 1.0]), Some(5.0));
        assert_eq!(median(vec![9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0, 2.0, 9.0]), Some(3.0));
    }

    #[test]
    fn contention_needs_more_than_twice_the_minimum() {
        let floors = |median: u64| Distribution::of((0..59).map(|i| if i == 0 { 500 } else { median }));
        assert_eq!(contention(&floors(1_000)), Contention::Quiet);
        assert!(matches!(contention(&floors(1_001)), Contention::Contended { .. }));
    }

    #[test]
    fn contention_needs_a_tail_of_more_than_three_medians() {
        // Rank of p95 among 59 is 57, so four slow floors reach it.
        let floors = |slow: u64| Distribution::of((0..59).map(|i| if i < 4 { slow } else { 500 }));
        assert_eq!(contention(&floors(1_500)), Contention::Quiet);
        assert_eq!(contention(&floors(1_501)), Contention::Contended { p50_over_min: 1.0, p95_over_p50: Some(3.002) });
    }

    #[test]
    fn few_floors_can_convict_but_not_acquit() {
        assert_eq!(contention(&Distribution::of([500; 4])), Contention::Unknown { have: 4, need: 59 });
        assert_eq!(contention(&Distribution::of([500; 58])), Contention::Unknown { have: 58, need: 59 });
        assert!(matches!(
            contention(&Distribution::of([500, 1_100, 1_100, 1_100, 1_100])),
            Contention::Contended { p95_over_p50: None, .. }
        ));
    }
}
