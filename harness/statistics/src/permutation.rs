//! Exact and randomised tests of paired differences, for retrieval metrics over the same queries.
//!
//! Guarantee: under the hypothesis that swapping the two sides of a pair changes nothing, a p at or below α comes up
//! with chance at most α, for any number of queries and any distribution of the metric.

use fastrand::Rng;

use crate::binomial::binomial_lower_tail;

/// Two-sided p of paired differences: how often random signs make |mean| at least as large as the one seen.
///
/// Exact over all 2^m sign patterns of the m differences that are not 0 when that takes at most `resamples` patterns,
/// else (k + 1) / (B + 1) of B = `resamples` random ones. 1 when nothing differs. A difference that is not finite is
/// none.
pub fn sign_flip_p(differences: &[f64], resamples: u32, seed: u64) -> f64 {
    let sizes: Vec<f64> = differences.iter().copied().filter(|d| d.is_finite() && *d != 0.0).collect();
    let total: f64 = sizes.iter().sum();
    // Sums of the same numbers in another order differ in their last bits; those are ties.
    let tie = 1e-12 * sizes.iter().map(|d| d.abs()).sum::<f64>();
    let as_large = |signs: &mut dyn FnMut() -> u64| flipped_sum(&sizes, signs).abs() >= total.abs() - tie;

    let few = u32::try_from(sizes.len()).ok().and_then(|m| 1_u32.checked_shl(m)).filter(|all| *all <= resamples);
    if let Some(patterns) = few {
        let count = (0..u64::from(patterns)).filter(|pattern| as_large(&mut || *pattern)).count();
        return count as f64 / f64::from(patterns);
    }
    let mut rng = Rng::with_seed(seed);
    let count = (0..resamples).filter(|_| as_large(&mut || rng.u64(..))).count();
    (count + 1) as f64 / (f64::from(resamples) + 1.0)
}

/// Sum of the numbers, each negated when its bit is set; `signs` gives the next 64 bits.
fn flipped_sum(numbers: &[f64], signs: &mut dyn FnMut() -> u64) -> f64 {
    let mut sum = 0.0;
    for chunk in numbers.chunks(64) {
        let mut bits = signs();
        for number in chunk {
            sum += if bits & 1 == 1 { -number } else { *number };
            bits >>= 1;
        }
    }
    sum
}

/// Two-sided exact sign test of `gains` against `losses`: twice the smaller binomial tail, at most 1. Ties have no
/// sign and are left out by the caller.
pub fn sign_test_p(gains: u64, losses: u64) -> f64 {
    let n = gains.saturating_add(losses);
    (2.0 * binomial_lower_tail(n, gains.min(losses), 0.5)).min(1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn three_gains_match_the_hand_enumeration() {
        // Of the eight sign patterns of 1, 2, 3 only +++ and −−− reach |6|.
        assert_eq!(sign_flip_p(&[1.0, 2.0, 3.0], 8, 0), 0.25);
        // ±1 ±2 ∓3 … : sums of 2, −1, 3 are ±4, ±6, ±2, 0 twice; |4| or more: four of eight.
        assert_eq!(sign_flip_p(&[2.0, -1.0, 3.0], 1_000, 0), 0.5);
    }

    #[test]
    fn zeros_do_not_count_and_nothing_gives_one() {
        assert_eq!(sign_flip_p(&[0.0, 1.0, 0.0, 2.0, 3.0, -0.0], 8, 0), 0.25);
        assert_eq!(sign_flip_p(&[0.0, 0.0], 1_000, 0), 1.0);
        assert_eq!(sign_flip_p(&[], 1_000, 0), 1.0);
        assert_eq!(sign_flip_p(&[1.0, 2.0], 0, 0), 1.0);
    }

    #[test]
    fn ties_of_rounding_count_as_ties() {
        // 0.1 + 0.2 + 0.3 and 0.3 + 0.2 + 0.1 differ in the last bit; 2 of 8 patterns reach the largest sum.
        assert_eq!(sign_flip_p(&[0.1, 0.2, 0.3], 8, 0), 0.25);
        // 0.1 + 0.2 − 0.3 is 5.6e-17 rather than 0, and 0 is reached by every pattern.
        assert_eq!(sign_flip_p(&[0.1, 0.2, -0.3], 8, 0), 1.0);
    }

    #[test]
    fn enumeration_ends_where_it_takes_more_patterns_than_resamples() {
        // Ten equal gains: exactly 2 of 1,024. With one pattern fewer allowed, the random p is a multiple of 1/1,024.
        assert_eq!(sign_flip_p(&[1.0; 10], 1_024, 7), 2.0 / 1_024.0);
        let random = [1, 2, 3].map(|seed| sign_flip_p(&[1.0; 10], 1_023, seed) * 1_024.0);
        assert!(random.iter().all(|count| *count >= 1.0 && *count <= 10.0 && count.fract() == 0.0), "{random:?}");
        assert!(random.iter().any(|count| *count != 2.0), "{random:?}");
    }

    #[test]
    fn many_differences_of_one_sign_have_the_smallest_p() {
        assert_eq!(sign_flip_p(&[0.5; 300], 999, 1), 1.0 / 1_000.0);
        assert_eq!(sign_flip_p(&[-0.5; 300], 999, 1), 1.0 / 1_000.0);
    }

    #[test]
    fn random_signs_reach_every_difference() {
        // Only the first, against the rest, keeps the sum from its largest: it is as large when first and last agree.
        let mut differences = [1e-6; 130];
        differences[0] = -1e-3;
        differences[129] = 1.0;
        let p = sign_flip_p(&differences, 10_000, 3);
        assert!((p - 0.5).abs() < 0.02, "{p}");
    }

    #[test]
    fn random_signs_come_near_the_exact_p() {
        let differences: Vec<f64> = (1..=14_i32).map(|i| f64::from(i * i % 17) - 5.0).collect();
        let exact = sign_flip_p(&differences, 1 << 14, 0);
        let random = sign_flip_p(&differences, (1 << 14) - 1, 5);
        assert!((exact - random).abs() < 0.004 && exact > 0.01, "{exact} {random}");
    }

    #[test]
    fn one_seed_gives_one_p() {
        let differences: Vec<f64> = (0..40_i32).map(|i| f64::from(i % 7) - 2.5).collect();
        assert_eq!(sign_flip_p(&differences, 500, 9), sign_flip_p(&differences, 500, 9));
    }

    #[test]
    fn differences_that_are_no_numbers_do_not_count() {
        let odd = [f64::NAN, 1.0, f64::INFINITY, 2.0, f64::NEG_INFINITY, 3.0];
        assert_eq!(sign_flip_p(&odd, 8, 0), 0.25);
        assert!(sign_flip_p(&[f64::MAX; 40], 100, 0).is_finite());
    }

    #[test]
    fn sign_test_matches_the_binomial_table() {
        // 2 · P(B ≤ 1 | 10) = 22 / 1,024; 2 · P(B ≤ 2 | 10) = 112 / 1,024.
        assert!((sign_test_p(1, 9) - 22.0 / 1_024.0).abs() < 1e-12);
        assert!((sign_test_p(8, 2) - 112.0 / 1_024.0).abs() < 1e-12);
        assert!((sign_test_p(0, 6) - 2.0 / 64.0).abs() < 1e-12);
        assert_eq!(sign_test_p(5, 5), 1.0);
        assert_eq!(sign_test_p(0, 0), 1.0);
        assert_eq!(sign_test_p(1, 0), 1.0);
    }

    /// All sign patterns of whole numbers, by recursion.
    fn enumerate(left: &[i64], sum: i64, sums: &mut Vec<i64>) {
        match left.split_first() {
            None => sums.push(sum),
            Some((first, rest)) => {
                enumerate(rest, sum + first, sums);
                enumerate(rest, sum - first, sums);
            }
        }
    }

    proptest! {
        #[test]
        fn exact_p_is_the_share_of_all_patterns(numbers in prop::collection::vec(-5_i64..=5, 0..10)) {
            let mut sums = Vec::new();
            enumerate(&numbers, 0, &mut sums);
            let seen = numbers.iter().sum::<i64>().abs();
            let share = sums.iter().filter(|sum| sum.abs() >= seen).count() as f64 / sums.len() as f64;
            // Divided by 8 so that the differences are no whole numbers.
            let differences: Vec<f64> = numbers.iter().map(|number| *number as f64 / 8.0).collect();
            prop_assert!((sign_flip_p(&differences, 1 << 10, 0) - share).abs() < 1e-12);
        }

        #[test]
        fn equal_differences_make_it_the_sign_test(gains in 0_u64..9, losses in 0_u64..9) {
            let mut differences = vec![0.25; gains as usize];
            differences.extend(vec![-0.25; losses as usize]);
            prop_assert!((sign_flip_p(&differences, 1 << 16, 0) - sign_test_p(gains, losses)).abs() < 1e-9);
        }
    }
}
