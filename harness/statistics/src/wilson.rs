//! Interval of a share, for floors on yes-or-no measures over few queries.

/// Wilson's score interval of a mean of `n` values between 0 and 1, at 95 %.
///
/// Exact in intent for yes-or-no measures; for graded ones it is wider than needed, because no other values
/// with that mean vary more than yes-or-no ones. `None` when there are no values.
pub fn wilson(mean: f64, n: u64) -> Option<(f64, f64)> {
    /// Quantile of the normal distribution for 95 % on two sides.
    const Z: f64 = 1.959_963_984_540_054;
    if n == 0 {
        return None;
    }
    let n = n as f64;
    let scale = 1.0 + Z * Z / n;
    let centre = (mean + Z * Z / (2.0 * n)) / scale;
    let half_width = Z / scale * (mean * (1.0 - mean) / n + Z * Z / (4.0 * n * n)).max(0.0).sqrt();
    Some(((centre - half_width).max(0.0), (centre + half_width).min(1.0)))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

    use super::*;

    #[test]
    fn wilson_interval_matches_published_values() {
        // 81 of 263, Newcombe 1998, method 3: 0.2553 to 0.3662.
        let (low, high) = wilson(81.0 / 263.0, 263).unwrap();
        assert!((low - 0.2553).abs() < 5e-5 && (high - 0.3662).abs() < 5e-5, "{low} {high}");
        // 0 of 20: 0 to 0.1611; 20 of 20 mirrors it.
        let (low, high) = wilson(0.0, 20).unwrap();
        assert!(low.abs() < 1e-12 && (high - 0.1611).abs() < 5e-5, "{low} {high}");
        let (low, high) = wilson(1.0, 20).unwrap();
        assert!((low - 0.8389).abs() < 5e-5 && (high - 1.0).abs() < 1e-12, "{low} {high}");
        assert_eq!(wilson(0.5, 0), None);
    }

    #[test]
    fn means_outside_their_range_give_an_interval_without_panic() {
        for mean in [f64::NAN, f64::INFINITY, -1.0, 2.0] {
            assert!(wilson(mean, 3).is_some(), "{mean}");
        }
    }
}
