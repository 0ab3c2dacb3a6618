//! Intervals of a median log ratio over paired rounds, and of a mean over independent values.
//!
//! Guarantee: the interval and its p-values come from the same resamples, so `low > 0` holds exactly when
//! `p_not_above` is at or below (1 − confidence) / 2, and likewise on the other side. A correction over many gates
//! that leaves one gate alone therefore changes nothing.
//!
//! Deliberately not here: ratios of means or of medians. A load that hits one round in ten moves those, and moves
//! the median of per-round ratios hardly at all.

use fastrand::Rng;

use crate::normal::{two_sided_z, upper_tail};

/// Resamples behind each interval.
pub const RESAMPLES: usize = 2_000;

/// An estimate, the interval around it and the evidence about its sign.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Median or mean of the samples.
    pub estimate: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Samples that counted.
    pub n: usize,
    /// Two-sided confidence of `low` to `high`, such as 0.95.
    pub confidence: f64,
    /// One-sided p of the hypothesis that the true value is at or below 0.
    pub p_not_above: f64,
    /// One-sided p of the hypothesis that the true value is at or above 0.
    pub p_not_below: f64,
}

impl Interval {
    /// Half the distance from `low` to `high`; infinite when either is not finite. The estimate need not lie in
    /// the middle.
    pub fn half_width(&self) -> f64 {
        let half = (self.high - self.low) / 2.0;
        if half.is_nan() { f64::INFINITY } else { half }
    }
}

/// Median of log ratios, with a percentile bootstrap over circular blocks of ceil(n^⅓) neighbours, as neighbouring
/// rounds share the machine's load.
///
/// `log_ratios` are ln(candidate / baseline) in the order of measurement. A NaN (neither side measured anything)
/// is no pair and does not count. An infinity (one side read 0) is a pair whose size is unknown but whose sign is
/// not, so it keeps its place in the order. Ratios that are all equal give an interval of no width: right for
/// instruction counts, and a sign of too coarse a clock for times, which cannot be told apart here.
///
/// A 95 % interval of simulated independent rounds held the truth in 91 % of 4,000 sets at n = 20 and 30, 93 % at 60,
/// 94 % at 100 and 95 % at 400; of rounds correlated by 0.3 from one to the next, in 87, 88, 91, 93 and 94 %; by 0.6,
/// in 79, 81, 86, 89 and 91 %. With two pairs it has no width at all.
///
/// `None` under two pairs.
pub fn median_interval(log_ratios: &[f64], confidence: f64, seed: u64) -> Option<Interval> {
    let pairs: Vec<f64> = log_ratios.iter().copied().filter(|ratio| !ratio.is_nan()).collect();
    let n = pairs.len();
    if n < 2 {
        return None;
    }
    let block = block_length(n);
    let circle: Vec<f64> = pairs.iter().chain(pairs.iter().take(block - 1)).copied().collect();
    let mut rng = Rng::with_seed(seed);
    let mut resample = Vec::with_capacity(n + block);
    let resampled = (0..RESAMPLES).map(|_| {
        resample.clear();
        while resample.len() < n {
            let start = rng.usize(..n);
            resample.extend_from_slice(circle.get(start..start + block).unwrap_or_default());
        }
        resample.truncate(n);
        median(&mut resample)
    });
    let resampled = resampled.collect();
    Some(interval(median(&mut pairs.clone()), resampled, n, confidence))
}

/// Mean of independent values, with an ordinary percentile bootstrap: a retrieval metric over queries, or its
/// difference per query. Order does not matter. A value that is not finite is none and does not count.
///
/// `None` under two values.
pub fn mean_interval(values: &[f64], confidence: f64, seed: u64) -> Option<Interval> {
    let values: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    let n = values.len();
    if n < 2 {
        return None;
    }
    let mut rng = Rng::with_seed(seed);
    let resampled = (0..RESAMPLES).map(|_| {
        let sum: f64 = (0..n).filter_map(|_| values.get(rng.usize(..n))).sum();
        sum / n as f64
    });
    let resampled = resampled.collect();
    Some(interval(values.iter().sum::<f64>() / n as f64, resampled, n, confidence))
}

/// Ceil(n^⅓) in whole numbers.
fn block_length(n: usize) -> usize {
    (1..).find(|length: &usize| length.saturating_pow(3) >= n).unwrap_or(n)
}

/// Median of at least one value without NaN, which it reorders; the middle of two for an even count.
fn median(values: &mut [f64]) -> f64 {
    let (half, even) = (values.len() / 2, values.len().is_multiple_of(2));
    let (below, middle, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    if !even {
        return *middle;
    }
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let between = f64::midpoint(lower, *middle);
    // Between minus and plus infinity any value is a median; 0 claims no direction.
    if between.is_nan() { 0.0 } else { between }
}

/// Percentile interval and p-values from resampled estimates, none of which is NaN.
fn interval(estimate: f64, mut resampled: Vec<f64>, n: usize, confidence: f64) -> Interval {
    resampled.sort_unstable_by(f64::total_cmp);
    let deviation = deviation(&resampled);
    let tail = ((1.0 - confidence) / 2.0).clamp(0.0, 0.5);
    // The largest count with count / (resamples + 1) ≤ tail: `p_value` of a hypothesis just under `low`.
    let rank = (tail * (resampled.len() + 1) as f64) as usize;
    let outermost = rank.saturating_sub(1);
    let mut low = resampled.get(outermost).copied().unwrap_or(estimate);
    let mut high = resampled.iter().rev().nth(outermost).copied().unwrap_or(estimate);
    if rank == 0 {
        // So high a confidence lies beyond the resamples; the normal distribution carries on from their spread.
        let reach = two_sided_z(confidence) * deviation;
        low = low.min(estimate - reach);
        high = high.max(estimate + reach);
    }
    let not_above = resampled.iter().filter(|value| **value <= 0.0).count();
    let not_below = resampled.iter().filter(|value| **value >= 0.0).count();
    Interval {
        estimate,
        low,
        high,
        n,
        confidence,
        p_not_above: p_value(not_above, resampled.len(), estimate / deviation, n),
        p_not_below: p_value(not_below, resampled.len(), -estimate / deviation, n),
    }
}

/// Standard deviation; NaN when a value is infinite.
fn deviation(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt()
}

/// One-sided p of a hypothesis with which `agreeing` of the `resamples` agree: (agreeing + 1) / (resamples + 1).
///
/// When none agrees, that fraction only says how many resamples there are, and among more than 50 gates no
/// correction would leave it under 2.5 %. Then the tail of the normal distribution beyond the estimate's `distance`
/// from 0 in standard errors stands in, though never below 2⁻ⁿ, the p of `n` independent samples on one side of
/// their median.
fn p_value(agreeing: usize, resamples: usize, distance: f64, n: usize) -> f64 {
    let counted = (agreeing + 1) as f64 / (resamples + 1) as f64;
    let beyond = upper_tail(distance);
    if agreeing > 0 || beyond.is_nan() {
        return counted;
    }
    counted.min(beyond.max((-(n as f64)).exp2()))
}

#[cfg(test)]
#[path = "paired_tests.rs"]
mod tests;
