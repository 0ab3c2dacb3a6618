//! Putting estimates together: shards of one measurement into one, and gates of one scenario into one figure.
//!
//! Deliberately not here: pooling raw ratios of several machines. Each machine has its own spread, and pooling
//! would let the noisiest decide.

use crate::normal::two_sided_z;
use crate::paired::Interval;

/// The estimate Σ(eᵢ/sᵢ²) / Σ(1/sᵢ²) and its standard error (Σ 1/sᵢ²)^(−½), of independent `(estimate, standard
/// error)` pairs of one quantity.
///
/// A part of infinite standard error knows nothing and carries no weight. Parts of standard error 0 know all:
/// their plain mean is the answer, with standard error 0. `None` when there is no part with weight, or when a
/// part is no estimate: a NaN, an infinite estimate or a negative standard error.
pub fn inverse_variance(parts: &[(f64, f64)]) -> Option<(f64, f64)> {
    if parts.iter().any(|(estimate, error)| !estimate.is_finite() || error.is_nan() || *error < 0.0) {
        return None;
    }
    let certain: Vec<f64> = parts.iter().filter(|(_, error)| *error == 0.0).map(|(estimate, _)| *estimate).collect();
    if !certain.is_empty() {
        return Some((certain.iter().sum::<f64>() / certain.len() as f64, 0.0));
    }
    // Relative to the smallest error, so that squares of very small ones do not overflow.
    let smallest = parts.iter().map(|(_, error)| *error).fold(f64::INFINITY, f64::min);
    if smallest.is_infinite() {
        return None;
    }
    let weight = |error: f64| (smallest / error).powi(2);
    let weights: f64 = parts.iter().map(|(_, error)| weight(*error)).sum();
    let weighted: f64 = parts.iter().map(|(estimate, error)| estimate * weight(*error)).sum();
    Some((weighted / weights, smallest / weights.sqrt()))
}

/// Standard error behind an interval, as if it were normal: half-width over z of its confidence, 1.96 for 95 %.
pub fn standard_error_of(interval: &Interval) -> f64 {
    interval.half_width() / two_sided_z(interval.confidence)
}

/// Geometric mean of ratios given as logarithms: exp of their mean. `None` when there are none.
pub fn geometric_mean(log_ratios: &[f64]) -> Option<f64> {
    (!log_ratios.is_empty()).then(|| (log_ratios.iter().sum::<f64>() / log_ratios.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

    use proptest::prelude::*;

    use super::*;

    fn close(found: Option<(f64, f64)>, estimate: f64, error: f64) -> bool {
        found.is_some_and(|found| (found.0 - estimate).abs() < 1e-12 && (found.1 - error).abs() < 1e-12)
    }

    #[test]
    fn worked_example_agrees_with_the_hand_calculation() {
        // Weights 1/0.01 = 100 and 1/0.04 = 25: (100·1 + 25·2) / 125 = 1.2; error 1/√125 = 0.0894427.
        let found = inverse_variance(&[(1.0, 0.1), (2.0, 0.2)]);
        assert!(close(found, 1.2, 1.0 / 125.0_f64.sqrt()), "{found:?}");
    }

    #[test]
    fn equal_errors_give_the_mean_and_shrink_by_the_root_of_n() {
        assert!(close(inverse_variance(&[(1.0, 0.3), (2.0, 0.3), (6.0, 0.3)]), 3.0, 0.3 / 3.0_f64.sqrt()));
        assert!(close(inverse_variance(&[(0.7, 0.2)]), 0.7, 0.2));
    }

    #[test]
    fn a_certain_part_decides_and_an_ignorant_one_does_not_count() {
        assert!(close(inverse_variance(&[(1.0, 0.1), (5.0, 0.0), (7.0, 0.0)]), 6.0, 0.0));
        assert!(close(inverse_variance(&[(1.0, 0.1), (9.0, f64::INFINITY)]), 1.0, 0.1));
        assert_eq!(inverse_variance(&[(1.0, f64::INFINITY)]), None);
        assert_eq!(inverse_variance(&[]), None);
    }

    #[test]
    fn parts_that_are_no_estimates_spoil_the_whole() {
        for part in [(f64::NAN, 0.1), (f64::INFINITY, 0.1), (1.0, f64::NAN), (1.0, -0.1)] {
            assert_eq!(inverse_variance(&[(1.0, 0.1), part]), None, "{part:?}");
        }
    }

    #[test]
    fn very_small_errors_do_not_overflow() {
        let (estimate, error) = inverse_variance(&[(1.0, 1e-200), (2.0, 1e-200)]).unwrap();
        assert!((estimate - 1.5).abs() < 1e-12 && (error / 1e-200 - 0.5_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn standard_error_is_the_half_width_over_z() {
        let interval = Interval {
            estimate: 0.0,
            low: -0.196,
            high: 0.196,
            n: 50,
            confidence: 0.95,
            p_not_above: 0.5,
            p_not_below: 0.5,
        };
        assert!((standard_error_of(&interval) - 0.1).abs() < 1e-5);
        // z of 90 % is 1.6449.
        let wider = Interval { low: -0.16449, high: 0.16449, confidence: 0.9, ..interval };
        assert!((standard_error_of(&wider) - 0.1).abs() < 1e-5);
    }

    #[test]
    fn geometric_mean_of_a_double_and_a_half_is_one() {
        assert!((geometric_mean(&[2.0_f64.ln(), 0.5_f64.ln()]).unwrap() - 1.0).abs() < 1e-12);
        // 1 · 8 · 8 = 64, whose cube root is 4.
        assert!((geometric_mean(&[0.0, 8.0_f64.ln(), 8.0_f64.ln()]).unwrap() - 4.0).abs() < 1e-12);
        assert_eq!(geometric_mean(&[]), None);
    }

    proptest! {
        #[test]
        fn the_whole_lies_between_its_parts_and_is_surer_than_each(
            parts in prop::collection::vec((-10.0..10.0, 0.001..10.0), 1..8),
        ) {
            let (estimate, error) = inverse_variance(&parts).unwrap();
            let low = parts.iter().map(|part| part.0).fold(f64::INFINITY, f64::min);
            let high = parts.iter().map(|part| part.0).fold(f64::NEG_INFINITY, f64::max);
            prop_assert!(low - 1e-9 <= estimate && estimate <= high + 1e-9);
            prop_assert!(parts.iter().all(|part| error <= part.1 + 1e-12));
        }
    }
}
