//! Exact tails of the binomial distribution.
//!
//! Guarantee: relative error under 1e-9 for a million trials; a tail under 1e-290 may come out as 0. Terms are
//! summed outward from the likeliest count by their ratios, so no factorial is formed. Costs about 80·√n steps.

/// P(B ≤ k) for `n` trials that each succeed with probability `share`. NaN `share` gives 1: no evidence.
pub fn binomial_lower_tail(n: u64, k: u64, share: f64) -> f64 {
    tail(n, share, |count| count <= k)
}

/// P(B ≥ k) for `n` trials that each succeed with probability `share`. NaN `share` gives 1: no evidence.
pub fn binomial_upper_tail(n: u64, k: u64, share: f64) -> f64 {
    tail(n, share, |count| count >= k)
}

/// Probability of the counts in `inside`.
fn tail(n: u64, share: f64, inside: impl Fn(u64) -> bool) -> f64 {
    if share.is_nan() {
        return 1.0;
    }
    let odds = share.clamp(0.0, 1.0) / (1.0 - share.clamp(0.0, 1.0));
    // Any start near the likeliest count will do: weights are relative to it. The cast saturates.
    let start = ((n as f64 * share) as u64).min(n);
    let weigh = |count, weight| if inside(count) { weight } else { 0.0 };
    let (mut all, mut within) = (1.0, weigh(start, 1.0));

    let mut weight = 1.0;
    for count in start..n {
        weight *= (n - count) as f64 / (count + 1) as f64 * odds;
        if weight == 0.0 {
            break;
        }
        all += weight;
        within += weigh(count + 1, weight);
    }
    let mut weight = 1.0;
    for count in (0..start).rev() {
        weight *= (count + 1) as f64 / (n - count) as f64 / odds;
        if weight == 0.0 {
            break;
        }
        all += weight;
        within += weigh(count, weight);
    }
    within / all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn near(left: f64, right: f64) -> bool {
        (left / right - 1.0).abs() < 1e-9
    }

    #[test]
    fn ten_fair_trials_match_the_table() {
        let table = [1.0, 11.0, 56.0, 176.0, 386.0, 638.0, 848.0, 968.0, 1013.0, 1023.0, 1024.0];
        for (k, below) in (0_u64..).zip(table) {
            assert!(near(binomial_lower_tail(10, k, 0.5), below / 1024.0), "{k}");
            // By symmetry P(B ≥ 10 − k) = P(B ≤ k).
            assert!(near(binomial_upper_tail(10, 10 - k, 0.5), below / 1024.0), "{k}");
        }
    }

    #[test]
    fn tails_match_values_of_an_independent_program() {
        // Sums of exact fractions: P(B ≤ k) and P(B ≥ k).
        let table = [
            (100, 90, 0.95, 0.028188294163416106, 0.9885275899325153),
            (100, 97, 0.95, 0.8817370188148791, 0.2578386591160164),
            (59, 58, 0.95, 0.9515054747505768, 0.1990827878660533),
            (299, 298, 0.99, 0.9504637433623375, 0.19914575900797643),
            (20, 3, 0.1, 0.8670466765656649, 0.323073194810534),
            (1_000, 400, 0.5, 1.3642320780330092e-10, 0.9999999999099158),
            (1_000, 500, 0.5, 0.5126125090891804, 0.5126125090891804),
            (3_000, 20, 0.01, 0.03461489740314883, 0.9786167912089135),
            (7, 2, 0.3, 0.6470695, 0.6705828),
        ];
        for (n, k, share, lower, upper) in table {
            let found = binomial_lower_tail(n, k, share);
            assert!(near(found, lower), "lower {n} {k} {share}: {found} against {lower}");
            let found = binomial_upper_tail(n, k, share);
            assert!(near(found, upper), "upper {n} {k} {share}: {found} against {upper}");
        }
    }

    #[test]
    fn certain_and_impossible_successes_are_counted_so() {
        assert_eq!(binomial_lower_tail(5, 0, 0.0), 1.0);
        assert_eq!(binomial_upper_tail(5, 1, 0.0), 0.0);
        assert_eq!(binomial_lower_tail(5, 4, 1.0), 0.0);
        assert_eq!(binomial_upper_tail(5, 5, 1.0), 1.0);
        assert_eq!(binomial_upper_tail(5, 1, -3.0), 0.0);
        assert_eq!(binomial_lower_tail(5, 4, 7.0), 0.0);
        assert_eq!(binomial_lower_tail(5, 2, f64::NAN), 1.0);
    }

    #[test]
    fn counts_beyond_the_trials_are_impossible() {
        assert_eq!(binomial_upper_tail(5, 6, 0.5), 0.0);
        assert_eq!(binomial_lower_tail(5, 6, 0.5), 1.0);
        assert_eq!(binomial_lower_tail(0, 0, 0.5), 1.0);
        assert_eq!(binomial_upper_tail(0, 0, 0.5), 1.0);
        assert_eq!(binomial_upper_tail(0, 1, 0.5), 0.0);
    }

    proptest! {
        #[test]
        fn the_two_tails_complement_each_other(n in 1_u64..3_000, k in 1_u64..3_000, share in 0.0..=1.0) {
            let sum = binomial_lower_tail(n, k - 1, share) + binomial_upper_tail(n, k, share);
            prop_assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        }
    }
}
