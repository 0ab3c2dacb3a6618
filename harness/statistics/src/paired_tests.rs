//! Tests of the intervals: by hand enumeration, by symmetry, and by coverage on simulated rounds.

#![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

use fastrand::Rng;
use proptest::prelude::*;

use super::*;

fn close(left: f64, right: f64, tolerance: f64) -> bool {
    (left - right).abs() <= tolerance
}

#[test]
fn blocks_are_the_cube_root_rounded_up() {
    let table =
        [(1, 1), (2, 2), (8, 2), (9, 3), (20, 3), (27, 3), (28, 4), (64, 4), (65, 5), (125, 5), (400, 8), (1_000, 10)];
    for (n, length) in table {
        assert_eq!(block_length(n), length, "{n}");
    }
}

#[test]
fn medians_of_odd_even_and_infinite_counts() {
    assert_eq!(median(&mut [3.0, 1.0, 2.0]), 2.0);
    assert_eq!(median(&mut [4.0, 1.0, 3.0, 2.0]), 2.5);
    assert_eq!(median(&mut [7.0]), 7.0);
    assert_eq!(median(&mut [f64::NEG_INFINITY, f64::INFINITY]), 0.0);
    assert_eq!(median(&mut [1.0, f64::INFINITY]), f64::INFINITY);
    assert_eq!(median(&mut [f64::NEG_INFINITY, 1.0, 3.0, f64::INFINITY]), 2.0);
}

#[test]
fn a_median_of_three_follows_the_enumerated_blocks() {
    // Blocks of two on the circle −1, 1, 2, and the first of a second block: of the nine equally likely resamples two
    // have median −1 (both blocks begin at −1, or the first begins at 2 and goes round to −1, the second at −1), five
    // have 1 and two have 2. Without going round, or with single draws (7/27), the shares would differ.
    let found = median_interval(&[-1.0, 1.0, 2.0], 0.95, 1).unwrap();
    assert_eq!((found.estimate, found.low, found.high, found.n), (1.0, -1.0, 2.0, 3));
    assert!(close(found.p_not_above, 2.0 / 9.0, 0.02), "{found:?}");
    assert!(close(found.p_not_below, 7.0 / 9.0, 0.02), "{found:?}");
    // At 50 % a quarter is cut on either side, more than the two ninths of −1 and of 2.
    let half = median_interval(&[-1.0, 1.0, 2.0], 0.5, 1).unwrap();
    assert_eq!((half.low, half.high, half.confidence), (1.0, 1.0, 0.5));
}

#[test]
fn a_mean_of_two_follows_the_enumerated_draws() {
    // Means −1, 0.5 and 2 with shares 1/4, 1/2, 1/4.
    let found = mean_interval(&[-1.0, 2.0], 0.95, 1).unwrap();
    assert_eq!((found.estimate, found.low, found.high, found.n), (0.5, -1.0, 2.0, 2));
    assert!(close(found.p_not_above, 0.25, 0.03), "{found:?}");
    assert!(close(found.p_not_below, 0.75, 0.03), "{found:?}");
    let half = mean_interval(&[-1.0, 2.0], 0.4, 1).unwrap();
    assert_eq!((half.low, half.high), (0.5, 0.5));
}

#[test]
fn ranks_of_the_interval_are_the_fiftieth_from_either_end() {
    let resampled = |shift: f64| (0..RESAMPLES).map(|i| i as f64 + shift).collect();
    let found = interval(1_000.0, resampled(0.0), 100, 0.95);
    assert_eq!((found.low, found.high), (49.0, 1_950.0));
    // A tail of just over 2/2,001 is the second from either end, of just under it the first.
    let second = interval(1_000.0, resampled(0.0), 100, 1.0 - 4.000_1 / 2_001.0);
    assert_eq!((second.low, second.high), (1.0, 1_998.0));
    let first = interval(1_000.0, resampled(0.0), 100, 1.0 - 3.999_9 / 2_001.0);
    assert_eq!((first.low, first.high), (0.0, 1_999.0));
    // 49 resamples at or below 0 leave the fiftieth above it, 50 do not.
    let above = interval(950.0, resampled(-48.0), 100, 0.95);
    assert!(above.low > 0.0 && above.p_not_above == 50.0 / 2_001.0 && above.p_not_above <= 0.025, "{above:?}");
    let touching = interval(950.0, resampled(-49.0), 100, 0.95);
    assert!(touching.low == 0.0 && touching.p_not_above == 51.0 / 2_001.0 && touching.p_not_above > 0.025);
}

#[test]
fn beyond_the_resamples_the_normal_tail_stands_in() {
    // 2,000 values of ±1 around 5: deviation 1, so the estimate is five deviations from 0.
    let resampled = |n: usize| (0..n).map(|i| if i % 2 == 0 { 4.0 } else { 6.0 }).collect::<Vec<f64>>();
    let found = interval(5.0, resampled(RESAMPLES), 100, 0.95);
    assert!(close(found.p_not_above / upper_tail(5.0), 1.0, 1e-9), "{found:?}");
    assert_eq!(found.p_not_below, 1.0);
    // Never surer than all samples on one side: 2^-20 at n = 20 is more than the tail.
    assert_eq!(interval(5.0, resampled(RESAMPLES), 20, 0.95).p_not_above, 0.5_f64.powi(20));
    // And never less sure than the resamples: 2^-5 is more than 1/2,001.
    assert_eq!(interval(5.0, resampled(RESAMPLES), 5, 0.95).p_not_above, 1.0 / 2_001.0);
    // One agreeing resample is counted, not extrapolated.
    let mut one = resampled(RESAMPLES - 1);
    one.push(0.0);
    assert_eq!(interval(5.0, one, 100, 0.95).p_not_above, 2.0 / 2_001.0);
}

#[test]
fn fifty_one_gates_can_still_fail() {
    let slower: Vec<f64> = (0..30_i32).map(|i| 0.1 + f64::from(i % 5 - 2) / 50.0).collect();
    let found = median_interval(&slower, 0.95, 1).unwrap();
    assert!(found.p_not_above * 51.0 < 0.025, "{found:?}");
}

#[test]
fn a_confidence_beyond_the_resamples_reaches_by_their_deviation() {
    let resampled: Vec<f64> = (0..RESAMPLES).map(|i| if i % 2 == 0 { 3.0 } else { 7.0 }).collect();
    // z of 99.99 % is 3.890592, the deviation 2.
    let found = interval(5.0, resampled.clone(), 100, 0.9999);
    assert!(close(found.low, 5.0 - 7.781_184, 1e-5) && close(found.high, 5.0 + 7.781_184, 1e-5), "{found:?}");
    // 99.9 % still is a rank: the first and the last resample.
    let ranked = interval(5.0, resampled.clone(), 100, 0.999);
    assert_eq!((ranked.low, ranked.high), (3.0, 7.0));
    let all = interval(5.0, resampled, 100, 1.0);
    assert_eq!((all.low, all.high), (f64::NEG_INFINITY, f64::INFINITY));
}

#[test]
fn equal_samples_give_an_interval_without_width() {
    for samples in [[0.25; 20], [0.0; 20], [-0.25; 20]] {
        for found in [median_interval(&samples, 0.95, 3).unwrap(), mean_interval(&samples, 0.95, 3).unwrap()] {
            assert_eq!((found.estimate, found.low, found.high), (samples[0], samples[0], samples[0]));
            assert_eq!(found.half_width(), 0.0);
        }
    }
    let slower = median_interval(&[0.25; 20], 0.95, 3).unwrap();
    assert_eq!((slower.p_not_above, slower.p_not_below), (0.5_f64.powi(20), 1.0));
    let same = median_interval(&[0.0; 20], 0.95, 3).unwrap();
    assert_eq!((same.p_not_above, same.p_not_below), (1.0, 1.0));
}

#[test]
fn fewer_than_two_samples_give_nothing() {
    for samples in [&[][..], &[0.1], &[0.1, f64::NAN]] {
        assert_eq!(median_interval(samples, 0.95, 1), None);
        assert_eq!(mean_interval(samples, 0.95, 1), None);
    }
    assert!(median_interval(&[0.1, 0.2], 0.95, 1).is_some());
    assert!(mean_interval(&[0.1, 0.2], 0.95, 1).is_some());
}

#[test]
fn nan_does_not_count_and_infinity_counts_by_its_sign() {
    let plain = [0.3, -0.1, 0.2, 0.4, 0.1];
    let with_nan = [0.3, f64::NAN, -0.1, 0.2, f64::NAN, 0.4, 0.1];
    assert_eq!(median_interval(&plain, 0.95, 1), median_interval(&with_nan, 0.95, 1));
    assert_eq!(mean_interval(&plain, 0.95, 1), mean_interval(&with_nan, 0.95, 1));
    // The largest sample may be infinite without moving the median.
    let with_infinity = [0.3, -0.1, 0.2, f64::INFINITY, 0.1];
    let found = median_interval(&with_infinity, 0.95, 1).unwrap();
    assert_eq!((found.estimate, found.n), (0.2, 5));
    assert_eq!(mean_interval(&with_infinity, 0.95, 1), mean_interval(&[0.3, -0.1, 0.2, 0.1], 0.95, 1));
}

#[test]
fn half_width_is_never_nan() {
    let wide =
        Interval { estimate: 0.0, low: -0.1, high: 0.3, n: 9, confidence: 0.95, p_not_above: 0.5, p_not_below: 0.5 };
    assert!(close(wide.half_width(), 0.2, 1e-15));
    for (low, high) in [(f64::NAN, 0.3), (f64::INFINITY, f64::INFINITY), (f64::NEG_INFINITY, 0.3)] {
        assert_eq!(Interval { low, high, ..wide }.half_width(), f64::INFINITY);
    }
}

/// The next sample of a standard normal distribution (Box and Muller).
fn normal(rng: &mut Rng) -> f64 {
    let (radius, angle) = (1.0 - rng.f64(), rng.f64());
    (-2.0 * f64::ln(radius)).sqrt() * (std::f64::consts::TAU * angle).cos()
}

/// Rounds of an autoregressive process of first order with this coefficient, around 0, with spread 1.
fn rounds(rng: &mut Rng, n: usize, coefficient: f64) -> Vec<f64> {
    let mut value = normal(rng);
    let mut next = || {
        let now = value;
        value = coefficient * value + (1.0 - coefficient * coefficient).sqrt() * normal(rng);
        now
    };
    (0..n).map(|_| next()).collect()
}

/// Share of simulated sets whose interval holds the true value 0.
fn coverage(sets: u64, mut one: impl FnMut(&mut Rng, u64) -> Interval) -> f64 {
    let mut rng = Rng::with_seed(4);
    let held = (0..sets).map(|seed| one(&mut rng, seed)).filter(|found| found.low <= 0.0 && 0.0 <= found.high);
    held.count() as f64 / sets as f64
}

/// Coverage of median intervals over rounds of this autoregression.
fn median_coverage(n: usize, coefficient: f64, confidence: f64) -> f64 {
    coverage(600, |rng, seed| median_interval(&rounds(rng, n, coefficient), confidence, seed).unwrap())
}

// Six hundred sets know a coverage of 0.95 to within 0.009 (one standard error).

#[test]
fn median_intervals_of_independent_rounds_cover_about_as_often_as_they_say() {
    let found = median_coverage(100, 0.0, 0.95);
    assert!((0.92..=0.97).contains(&found), "{found}");
    let found = median_coverage(100, 0.0, 0.8);
    assert!((0.75..=0.85).contains(&found), "{found}");
    let found = median_coverage(20, 0.0, 0.95);
    assert!((0.88..=0.94).contains(&found), "{found}");
}

#[test]
fn median_intervals_of_load_in_waves_cover_nearly_as_often() {
    let found = median_coverage(100, 0.3, 0.95);
    assert!((0.90..=0.96).contains(&found), "{found}");
    let found = median_coverage(100, 0.6, 0.95);
    assert!((0.85..=0.92).contains(&found), "{found}");
    // Drawing rounds singly, as the mean does, holds the truth far less often.
    let single = coverage(600, |rng, seed| mean_interval(&rounds(rng, 100, 0.6), 0.95, seed).unwrap());
    assert!(single + 0.1 < found, "{single} {found}");
}

#[test]
fn mean_intervals_of_queries_cover_as_often_as_they_say() {
    // Recall 1, a half or 0 with chance 0.7, 0.2 and 0.1, less its mean of 0.8.
    let query = |rng: &mut Rng| match rng.f64() {
        draw if draw < 0.7 => 0.2,
        draw if draw < 0.9 => -0.3,
        _ => -0.8,
    };
    let found = coverage(600, |rng, seed| {
        let values: Vec<f64> = (0..100).map(|_| query(rng)).collect();
        mean_interval(&values, 0.95, seed).unwrap()
    });
    assert!((0.92..=0.97).contains(&found), "{found}");
}

#[test]
fn p_values_of_an_unchanged_hook_are_spread_evenly() {
    let mut rng = Rng::with_seed(6);
    let found: Vec<f64> =
        (0..600).map(|seed| median_interval(&rounds(&mut rng, 40, 0.0), 0.95, seed).unwrap().p_not_above).collect();
    for level in [0.1, 0.25, 0.5, 0.75] {
        let share = found.iter().filter(|p| **p <= level).count() as f64 / found.len() as f64;
        assert!(close(share, level, 0.06), "{share} at {level}");
    }
}

/// Whether the p-values are each other's mirror, but for the rounding of sums in another order.
fn mirrored(here: &Interval, there: &Interval) -> bool {
    let near = |left: f64, right: f64| (left - right).abs() <= 1e-9 * left.max(right);
    near(here.p_not_above, there.p_not_below) && near(here.p_not_below, there.p_not_above)
}

fn samples() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(-1.0..1.0, 2..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn one_seed_gives_one_interval_and_another_a_close_one(samples in samples(), seed: u64) {
        prop_assert_eq!(median_interval(&samples, 0.95, seed), median_interval(&samples, 0.95, seed));
        prop_assert_eq!(mean_interval(&samples, 0.95, seed), mean_interval(&samples, 0.95, seed));
        let (one, other) = (mean_interval(&samples, 0.95, seed).unwrap(), mean_interval(&samples, 0.95, !seed).unwrap());
        prop_assert!((one.low - other.low).abs() <= 0.2 * one.half_width().max(other.half_width()));
    }

    #[test]
    fn swapping_the_sides_mirrors_the_interval(samples in samples(), seed: u64) {
        let swapped: Vec<f64> = samples.iter().map(|value| -value).collect();
        let (here, there) =
            (median_interval(&samples, 0.95, seed).unwrap(), median_interval(&swapped, 0.95, seed).unwrap());
        prop_assert_eq!((here.estimate, here.low, here.high), (-there.estimate, -there.high, -there.low));
        prop_assert!(mirrored(&here, &there), "{here:?} {there:?}");
        let (here, there) =
            (mean_interval(&samples, 0.95, seed).unwrap(), mean_interval(&swapped, 0.95, seed).unwrap());
        prop_assert_eq!((here.estimate, here.low, here.high), (-there.estimate, -there.high, -there.low));
        prop_assert!(mirrored(&here, &there), "{here:?} {there:?}");
    }

    #[test]
    fn an_interval_lies_over_zero_exactly_when_its_p_says_so(
        samples in samples(),
        shift in -0.5..0.5,
        seed: u64,
        confidence in prop::sample::select(vec![0.5, 0.8, 0.9, 0.95, 0.99, 0.999]),
    ) {
        let shifted: Vec<f64> = samples.iter().map(|value| value + shift).collect();
        let tail = (1.0 - confidence) / 2.0;
        for found in [median_interval(&shifted, confidence, seed), mean_interval(&shifted, confidence, seed)] {
            let found = found.unwrap();
            prop_assert_eq!(found.low > 0.0, found.p_not_above <= tail);
            prop_assert_eq!(found.high < 0.0, found.p_not_below <= tail);
            prop_assert!(found.low <= found.high);
        }
    }

    #[test]
    fn no_sample_and_no_confidence_makes_it_panic_or_give_nan(
        samples in prop::collection::vec(prop::num::f64::ANY, 0..40),
        confidence in prop::num::f64::ANY,
        seed: u64,
    ) {
        let both = [median_interval(&samples, confidence, seed), mean_interval(&samples, confidence, seed)];
        for found in both.into_iter().flatten() {
            prop_assert!(!found.low.is_nan() && !found.high.is_nan() && !found.half_width().is_nan());
            prop_assert!((0.0..=1.0).contains(&found.p_not_above) && (0.0..=1.0).contains(&found.p_not_below));
        }
    }
}
