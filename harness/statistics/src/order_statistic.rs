//! Which ranks of a sorted sample bound a percentile, without a word about the distribution's shape.
//!
//! Let B be the number of samples below the true percentile: B is binomial with n and q. The sample of rank r
//! is at or above the percentile exactly when B < r, hence all bounds here are binomial tail sums. They assume
//! independent samples; load that comes in waves makes them narrower than the truth.

use std::fmt;

use crate::binomial::{binomial_lower_tail, binomial_upper_tail};

/// Confidence of every bound that does not name its own.
pub const CONFIDENCE: f64 = 0.95;

/// A quantile as parts per thousand, so that ranks are whole-number arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quantile {
    per_mille: u32,
}

impl Quantile {
    /// The median.
    pub const P50: Quantile = Quantile { per_mille: 500 };
    /// Nine of ten samples are at or below.
    pub const P90: Quantile = Quantile { per_mille: 900 };
    /// Nineteen of twenty samples are at or below.
    pub const P95: Quantile = Quantile { per_mille: 950 };
    /// Ninety-nine of a hundred samples are at or below.
    pub const P99: Quantile = Quantile { per_mille: 990 };
    /// All but one in a thousand samples are at or below.
    pub const P99_9: Quantile = Quantile { per_mille: 999 };

    /// The quantile as a share between 0 and 1.
    pub fn share(self) -> f64 {
        f64::from(self.per_mille) / 1000.0
    }

    /// Rank of the quantile in `n` samples, from 1: ceil(n × q). Zero when there are none.
    pub fn rank(self, n: u64) -> u64 {
        let exact = u128::from(n) * u128::from(self.per_mille);
        u64::try_from(exact.div_ceil(1000)).unwrap_or(n)
    }
}

impl fmt::Display for Quantile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.per_mille.is_multiple_of(10) {
            write!(out, "p{}", self.per_mille / 10)
        } else {
            write!(out, "p{}.{}", self.per_mille / 10, self.per_mille % 10)
        }
    }
}

/// Ranks that bound a percentile, from 1; a side is absent when the samples cannot bound it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ranks {
    /// Largest rank that is at or below the percentile with the asked confidence.
    pub lower: Option<u64>,
    /// Smallest rank that is at or above the percentile with the asked confidence.
    pub upper: Option<u64>,
}

/// Samples needed before a quantile has an upper bound: the smallest n with 1 − qⁿ ≥ confidence.
pub fn needed(quantile: Quantile, confidence: f64) -> u64 {
    let n = ((1.0 - confidence).ln() / quantile.share().ln()).ceil();
    // A ratio of logarithms of numbers in (0, 1) is positive; the cast saturates for a silly confidence.
    (n as u64).max(1)
}

/// Bounding ranks for `n` samples, each side at `confidence`.
pub fn ranks(n: u64, quantile: Quantile, confidence: f64) -> Ranks {
    let q = quantile.share();
    let step = (q / (1.0 - q)).ln();
    let mut found = Ranks { lower: None, upper: None };
    // P(B = 0), then one factor per rank, in logarithms: 0.05^n underflows long before n is large.
    let mut ln_share = n as f64 * (1.0 - q).ln();
    let mut below = 0.0;
    for rank in 1..=n {
        // `below` becomes P(B ≤ rank − 1) = P(B < rank).
        below += ln_share.exp();
        if 1.0 - below >= confidence {
            found.lower = Some(rank);
        }
        if below >= confidence {
            found.upper = Some(rank);
            break;
        }
        ln_share += step + ((n - rank + 1) as f64 / rank as f64).ln();
    }
    found
}

/// One-sided p of the hypothesis that the quantile is at most x, when `k` of `n` samples are at or below x:
/// P(B ≤ k). A small p proves a cap of x broken.
///
/// At or below 1 − confidence exactly when the sample at the lower rank of [`ranks`] is above x, so a cap judged by
/// its bounds and a cap that joins a correction over many gates agree.
pub fn p_quantile_at_most(n: u64, k: u64, quantile: Quantile) -> f64 {
    binomial_lower_tail(n, k, quantile.share())
}

/// One-sided p of the hypothesis that the quantile is at least x, when `k` of `n` samples are below x: P(B ≥ k).
///
/// Counting the samples at or below x instead tests "above x", the complement of [`p_quantile_at_most`]'s hypothesis;
/// a small p then proves a cap of x kept. That p is at or below 1 − confidence exactly when the sample at the upper
/// rank of [`ranks`] is at or below x.
pub fn p_quantile_at_least(n: u64, k: u64, quantile: Quantile) -> f64 {
    binomial_upper_tail(n, k, quantile.share())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn needed_samples_follow_the_published_table() {
        let table = [
            (Quantile::P50, 5),
            (Quantile::P90, 29),
            (Quantile::P95, 59),
            (Quantile::P99, 299),
            (Quantile::P99_9, 2_995),
        ];
        for (quantile, n) in table {
            assert_eq!(needed(quantile, CONFIDENCE), n, "{quantile}");
            assert_eq!(ranks(n, quantile, CONFIDENCE).upper, Some(n), "{quantile} at n");
            assert_eq!(ranks(n - 1, quantile, CONFIDENCE).upper, None, "{quantile} below n");
        }
    }

    #[test]
    fn a_higher_confidence_needs_more_samples() {
        // ln 0.01 / ln 0.5 = 6.64.
        assert_eq!(needed(Quantile::P50, 0.99), 7);
        assert_eq!(needed(Quantile::P50, 0.5), 1);
    }

    #[test]
    fn median_bounds_of_ten_match_the_binomial_table() {
        // P(B ≤ 1) = 11/1024 = 0.0107, P(B ≤ 2) = 56/1024 = 0.0547; so rank 2 bounds below at 95 %, rank 3 not.
        // By symmetry rank 9 bounds above: P(B ≤ 8) = 0.9893, P(B ≤ 7) = 0.9453.
        assert_eq!(ranks(10, Quantile::P50, 0.95), Ranks { lower: Some(2), upper: Some(9) });
        assert_eq!(ranks(10, Quantile::P50, 0.94), Ranks { lower: Some(3), upper: Some(8) });
    }

    #[test]
    fn p95_of_one_hundred_is_bounded_by_table_ranks() {
        // Binomial(100, 0.95): P(B ≤ 90) = 0.0282, P(B ≤ 91) = 0.0631, P(B ≤ 97) = 0.8817, P(B ≤ 98) = 0.9629.
        assert_eq!(ranks(100, Quantile::P95, 0.95), Ranks { lower: Some(91), upper: Some(99) });
    }

    #[test]
    fn a_bound_holds_at_exactly_its_confidence() {
        // One sample is above the median with probability one half, and below it with the same.
        assert_eq!(ranks(1, Quantile::P50, 0.5), Ranks { lower: Some(1), upper: Some(1) });
        assert_eq!(ranks(1, Quantile::P50, 0.500_001), Ranks { lower: None, upper: None });
    }

    #[test]
    fn no_samples_bound_nothing() {
        assert_eq!(ranks(0, Quantile::P50, 0.95), Ranks { lower: None, upper: None });
        assert_eq!(Quantile::P95.rank(0), 0);
    }

    #[test]
    fn large_counts_do_not_underflow() {
        // Normal approximation: 500,000 ± 1.645 × 500 = 499,177.6 and 500,822.4.
        let ranks = ranks(1_000_000, Quantile::P50, 0.95);
        assert_eq!(ranks.lower, Some(499_178));
        assert_eq!(ranks.upper, Some(500_823));
    }

    #[test]
    fn rank_rounds_up_and_never_beyond_n() {
        assert_eq!(Quantile::P50.rank(4), 2);
        assert_eq!(Quantile::P50.rank(5), 3);
        assert_eq!(Quantile::P95.rank(20), 19);
        assert_eq!(Quantile::P95.rank(21), 20);
        assert_eq!(Quantile::P99_9.rank(1), 1);
        assert_eq!(Quantile::P99.rank(u64::MAX), 18_262_276_632_972_456_099);
    }

    #[test]
    fn names_are_those_of_the_gate_grammar() {
        assert_eq!(Quantile::P50.to_string(), "p50");
        assert_eq!(Quantile::P99_9.to_string(), "p99.9");
    }

    #[test]
    fn p_of_a_cap_matches_the_binomial_table() {
        // Ten samples, one of them at or below x: P(B ≤ 1) = 11/1024 says that the median is hardly at most x.
        assert!((p_quantile_at_most(10, 1, Quantile::P50) - 11.0 / 1024.0).abs() < 1e-12);
        assert!((p_quantile_at_least(10, 9, Quantile::P50) - 11.0 / 1024.0).abs() < 1e-12);
        // 59 samples all at or below x are just enough for p95: 0.95⁵⁹ = 0.0485.
        assert!((p_quantile_at_least(59, 59, Quantile::P95) - 0.95_f64.powi(59)).abs() < 1e-12);
        assert_eq!(p_quantile_at_most(59, 59, Quantile::P95), 1.0);
    }

    #[test]
    fn no_samples_prove_nothing() {
        assert_eq!(p_quantile_at_most(0, 0, Quantile::P95), 1.0);
        assert_eq!(p_quantile_at_least(0, 0, Quantile::P95), 1.0);
    }

    proptest! {
        #[test]
        fn p_of_a_cap_agrees_with_the_bounding_ranks(
            n in 1_u64..400,
            share in 0.0..=1.0,
            quantile in prop::sample::select(vec![Quantile::P50, Quantile::P90, Quantile::P95, Quantile::P99]),
            confidence in prop::sample::select(vec![0.8, 0.9, 0.95, 0.99]),
        ) {
            let k = (share * n as f64) as u64;
            let bounds = ranks(n, quantile, confidence);
            // The sample of rank r is above x exactly when k < r.
            let broken = bounds.lower.is_some_and(|rank| k < rank);
            let kept = bounds.upper.is_some_and(|rank| k >= rank);
            prop_assert_eq!(p_quantile_at_most(n, k, quantile) <= 1.0 - confidence, broken);
            prop_assert_eq!(p_quantile_at_least(n, k, quantile) <= 1.0 - confidence, kept);
        }
    }
}
