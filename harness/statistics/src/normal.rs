//! Tail and quantile of the standard normal distribution.
//!
//! Guarantee: relative error under 1e-12 where the tail is a normal number. Nothing here is fast; the bootstrap
//! calls it twice an interval.

use std::f64::consts::TAU;

/// P(Z ≥ z) of the standard normal distribution; NaN for NaN.
///
/// Near the middle the series Σ z^(2k+1) / (1·3·5…(2k+1)) of Φ(z) − ½ over φ(z) (Marsaglia 2004), beyond it
/// Laplace's continued fraction of the tail over φ(z), where subtracting from ½ would lose all digits.
pub fn upper_tail(z: f64) -> f64 {
    /// Here both forms have their full precision.
    const MIDDLE: f64 = 2.0;
    if z < 0.0 {
        return 1.0 - upper_tail(-z);
    }
    let density = (-z * z / 2.0).exp() / TAU.sqrt();
    if z < MIDDLE {
        let (mut term, mut sum) = (z, z);
        for odd in (3..=101).step_by(2) {
            term *= z * z / f64::from(odd);
            sum += term;
        }
        return 0.5 - density * sum;
    }
    let fraction = (1..=100).rev().fold(z, |below, k| z + f64::from(k) / below);
    density / fraction
}

/// The z with P(|Z| ≤ z) = `confidence`, such as 1.96 for 0.95: half-widths in standard errors.
///
/// 0 for a confidence of 0 or less, infinite for 1 or more, NaN for NaN.
pub fn two_sided_z(confidence: f64) -> f64 {
    if confidence >= 1.0 {
        return f64::INFINITY;
    }
    if confidence.is_nan() {
        return f64::NAN;
    }
    let tail = (1.0 - confidence) / 2.0;
    // The tail falls steadily, so halving the span finds it; it is 0 in floating point from 39 on.
    let (mut low, mut high) = (0.0, 39.0);
    for _ in 0..64 {
        let middle = f64::midpoint(low, high);
        if upper_tail(middle) > tail {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(left: f64, right: f64) -> bool {
        (left / right - 1.0).abs() < 1e-12
    }

    #[test]
    fn tails_match_values_of_an_independent_program() {
        // Series in 60 decimal digits; from 8 on erfc(z / √2) / 2 of a C library.
        let table = [
            (0.1, 0.460172162722971),
            (0.5, 0.3085375387259869),
            (1.0, 0.15865525393145705),
            (1.5, 0.06680720126885807),
            (1.96, 0.024997895148220435),
            (2.0, 0.02275013194817921),
            (2.5, 0.006209665325776135),
            (3.0, 0.0013498980316300946),
            (4.0, 3.1671241833119924e-05),
            (5.5, 1.8989562465887718e-08),
            (8.0, 6.220960574271819e-16),
            (20.0, 2.7536241186063314e-89),
            (37.0, 5.725571222525139e-300),
        ];
        for (z, tail) in table {
            assert!(near(upper_tail(z), tail), "{z}: {} against {tail}", upper_tail(z));
            assert!(near(upper_tail(-z), 1.0 - tail), "-{z}");
        }
    }

    #[test]
    fn half_and_nothing_are_the_ends_of_the_tail() {
        assert_eq!(upper_tail(0.0), 0.5);
        assert_eq!(upper_tail(-0.0), 0.5);
        assert_eq!(upper_tail(f64::INFINITY), 0.0);
        assert_eq!(upper_tail(f64::NEG_INFINITY), 1.0);
        assert_eq!(upper_tail(39.0), 0.0);
        assert!(upper_tail(f64::NAN).is_nan());
    }

    #[test]
    fn both_forms_agree_where_they_meet() {
        let (below, at) = (upper_tail(2.0 - 1e-13), upper_tail(2.0));
        assert!((below / at - 1.0).abs() < 1e-12, "{below} {at}");
    }

    #[test]
    fn z_values_match_those_of_an_independent_program() {
        // The same series inverted by halving.
        let table = [
            (0.1, 0.12566134685507405),
            (0.5, 0.6744897501960817),
            (0.8, 1.2815515655446004),
            (0.9, 1.6448536269514726),
            (0.95, 1.9599639845400543),
            (0.99, 2.575829303548901),
            (0.999, 3.290526731491895),
            (0.99999, 4.417173413469022),
        ];
        for (confidence, z) in table {
            assert!((two_sided_z(confidence) - z).abs() < 1e-11, "{confidence}: {}", two_sided_z(confidence));
        }
    }

    #[test]
    fn silly_confidences_have_the_nearest_z() {
        assert_eq!(two_sided_z(1.0), f64::INFINITY);
        assert_eq!(two_sided_z(2.0), f64::INFINITY);
        assert!(two_sided_z(0.0).abs() < 1e-12);
        assert!(two_sided_z(-1.0).abs() < 1e-12);
        assert!(two_sided_z(f64::NAN).is_nan());
    }
}
