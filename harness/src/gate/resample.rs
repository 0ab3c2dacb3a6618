//! Log ratio of a statistic of two hooks' times, with an interval from resampled rounds.
//!
//! A round is drawn with the times of both hooks, so that a busy moment hits both sides of a resample. Rounds are drawn
//! in circular blocks of ceil(n^⅓) neighbours, as load comes in waves. Means and percentiles only: resampling says
//! nothing true about a smallest or largest sample.
//!
//! Deliberately not here: the median, which is judged by per-round ratios and needs ten times fewer rounds.

use fastrand::Rng;
use hookbench_statistics::{Interval, RESAMPLES};

use super::expr::Stat;

/// One round's times of both hooks over the selected steps, in microseconds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Round {
    /// The hook under test.
    pub(super) candidate: Vec<u64>,
    /// What it is compared with.
    pub(super) baseline: Vec<u64>,
}

/// Interval of direction × ln(statistic of the candidate / statistic of the baseline); `None` under two rounds, or for
/// a statistic that resampling cannot judge.
pub(super) fn ratio_interval(
    rounds: &[Round],
    stat: Stat,
    direction: f64,
    confidence: f64,
    seed: u64,
) -> Option<Interval> {
    let n = rounds.len();
    if n < 2 || matches!(stat, Stat::Min | Stat::Max) {
        return None;
    }
    let all: Vec<usize> = (0..n).collect();
    let (mut left, mut right) = (Vec::new(), Vec::new());
    let mut log_ratio = |drawn: &[usize]| {
        left.clear();
        right.clear();
        for round in drawn.iter().filter_map(|at| rounds.get(*at)) {
            left.extend_from_slice(&round.candidate);
            right.extend_from_slice(&round.baseline);
        }
        direction * (statistic(&mut left, stat).ln() - statistic(&mut right, stat).ln())
    };
    let estimate = log_ratio(&all);
    let block = block_length(n);
    let mut rng = Rng::with_seed(seed);
    let mut drawn = Vec::with_capacity(n + block);
    let resampled: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            draw(&mut drawn, n, block, &mut rng);
            log_ratio(&drawn)
        })
        .collect();
    interval(estimate, resampled, n, confidence)
}

/// ceil(n^⅓).
fn block_length(n: usize) -> usize {
    (1..).find(|length: &usize| length.saturating_pow(3) >= n).unwrap_or(n)
}

/// Draws n of n rounds by blocks of neighbours, the first of which follows the last.
fn draw(drawn: &mut Vec<usize>, n: usize, block: usize, rng: &mut Rng) {
    drawn.clear();
    for _ in 0..n.div_ceil(block) {
        let start = rng.usize(..n);
        drawn.extend((start..start + block).map(|at| at % n));
    }
    drawn.truncate(n);
}

/// The interval that resampled figures span: as many of them lie on the far side of each end as the confidence allows,
/// the end itself among them.
fn interval(estimate: f64, mut resampled: Vec<f64>, n: usize, confidence: f64) -> Option<Interval> {
    resampled.sort_unstable_by(f64::total_cmp);
    let rank = ((1.0 - confidence) / 2.0 * (resampled.len() + 1) as f64) as usize;
    let index = rank.saturating_sub(1);
    let p = |far: usize| (far + 1) as f64 / (resampled.len() + 1) as f64;
    Some(Interval {
        estimate,
        low: *resampled.get(index)?,
        high: *resampled.iter().rev().nth(index)?,
        n,
        confidence,
        p_not_above: p(resampled.iter().filter(|value| **value <= 0.0).count()),
        p_not_below: p(resampled.iter().filter(|value| **value >= 0.0).count()),
    })
}

/// The statistic of at least one sample, at least one microsecond so that its logarithm is finite.
fn statistic(samples: &mut [u64], stat: Stat) -> f64 {
    let figure = match stat {
        Stat::Percentile(quantile) => {
            let rank = usize::try_from(quantile.rank(samples.len() as u64)).unwrap_or(samples.len());
            let index = rank.saturating_sub(1).min(samples.len().saturating_sub(1));
            if samples.is_empty() { 0.0 } else { *samples.select_nth_unstable(index).1 as f64 }
        }
        _ => samples.iter().sum::<u64>() as f64 / samples.len().max(1) as f64,
    };
    figure.max(1.0)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

    use super::*;
    use crate::latency::Quantile;

    const P90: Stat = Stat::Percentile(Quantile::P90);

    fn rounds(n: u64, candidate: impl Fn(u64) -> u64, baseline: impl Fn(u64) -> u64) -> Vec<Round> {
        (0..n).map(|round| Round { candidate: vec![candidate(round)], baseline: vec![baseline(round)] }).collect()
    }

    fn measured(rounds: &[Round], stat: Stat, direction: f64) -> Interval {
        ratio_interval(rounds, stat, direction, 0.95, 7).unwrap()
    }

    #[test]
    fn statistics_are_those_of_the_samples() {
        let mut samples = vec![50, 10, 100, 20, 30, 90, 80, 70, 60, 40];
        assert_eq!(statistic(&mut samples, P90), 90.0);
        assert_eq!(statistic(&mut samples, Stat::Mean), 55.0);
        assert_eq!(statistic(&mut [7], P90), 7.0);
        // A logarithm must exist.
        assert_eq!(statistic(&mut [0, 0], Stat::Mean), 1.0);
        assert_eq!(statistic(&mut [], P90), 1.0);
    }

    #[test]
    fn a_block_is_the_cube_root_rounded_up() {
        let table = [(2, 2), (8, 2), (9, 3), (27, 3), (28, 4), (200, 6), (1_000, 10)];
        for (n, expected) in table {
            assert_eq!(block_length(n), expected, "{n}");
        }
    }

    #[test]
    fn a_draw_is_made_of_whole_blocks_from_anywhere() {
        let (mut rng, mut drawn) = (Rng::with_seed(5), Vec::new());
        let (mut starts, mut wrapped) = ([0; 10], false);
        for _ in 0..200 {
            draw(&mut drawn, 10, 3, &mut rng);
            assert_eq!(drawn.len(), 10);
            for block in drawn.chunks(3) {
                starts[block[0]] += 1;
                assert!(block.windows(2).all(|pair| pair[1] == (pair[0] + 1) % 10), "{block:?}");
                wrapped |= block.windows(2).any(|pair| pair == [9, 0]);
            }
        }
        // 800 blocks, 80 from each start, give or take 8.5.
        assert!(wrapped && starts.iter().all(|n| (40..120).contains(n)), "{starts:?}");
    }

    #[test]
    fn ends_and_chances_are_ranks_of_the_resampled() {
        // -99 to 1900, mixed. 2.5 % of 2,001 are 50: the 50th from below is -50, from above 1851. 100 are at or below
        // 0, and 1,901 at or above.
        let resampled: Vec<f64> = (0..2_000).map(|at| f64::from((at * 7) % 2_000) - 99.0).collect();
        let found = interval(3.0, resampled.clone(), 40, 0.95).unwrap();
        assert_eq!((found.estimate, found.low, found.high), (3.0, -50.0, 1_851.0));
        assert_eq!((found.p_not_above, found.p_not_below), (101.0 / 2_001.0, 1_902.0 / 2_001.0));
        assert_eq!((found.n, found.confidence), (40, 0.95));
        // 5 % of 2,001 are 100 a side at 90 %.
        let wide = interval(3.0, resampled, 40, 0.9).unwrap();
        assert_eq!((wide.low, wide.high), (0.0, 1_801.0));
        assert_eq!(interval(3.0, Vec::new(), 40, 0.95), None);
    }

    #[test]
    fn a_constant_ratio_has_no_spread() {
        let found = measured(&rounds(30, |_| 300, |_| 100), Stat::Mean, 1.0);
        let log = 3f64.ln();
        assert!([found.estimate, found.low, found.high].iter().all(|value| (value - log).abs() < 1e-12), "{found:?}");
        assert_eq!((found.n, found.confidence), (30, 0.95));
        // No resample of 2,000 is at or below 0, all are at or above.
        assert!((found.p_not_above - 1.0 / 2_001.0).abs() < 1e-12 && found.p_not_below == 1.0);
        let turned = measured(&rounds(30, |_| 300, |_| 100), Stat::Mean, -1.0);
        assert!((turned.estimate + log).abs() < 1e-12 && turned.p_not_above == 1.0);
    }

    #[test]
    fn load_that_hits_both_hooks_cancels() {
        // Each round has its own load, up to a hundred times; the ratio is always 2.
        let found =
            measured(&rounds(40, |round| 200 * (1 + round * 3), |round| 100 * (1 + round * 3)), Stat::Mean, 1.0);
        assert!((found.low - 2f64.ln()).abs() < 1e-9 && (found.high - 2f64.ln()).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn the_interval_of_a_mean_has_the_width_of_its_standard_error() {
        // 400 independent values of 90 or 110: the standard error of their mean is 10 / √400 = 0.5 %, and 95 % lie
        // within 1.96 of those on each side.
        let mut random = Rng::with_seed(3);
        let values: Vec<u64> = (0..400).map(|_| if random.bool() { 90 } else { 110 }).collect();
        let rounds = rounds(400, |round| values[round as usize], |_| 100);
        let found = measured(&rounds, Stat::Mean, 1.0);
        let width = found.high - found.low;
        assert!((0.015..0.025).contains(&width), "{width}: {found:?}");
        assert!(found.low < found.estimate && found.estimate < found.high, "{found:?}");
        assert_eq!(found, measured(&rounds, Stat::Mean, 1.0), "the seed alone decides");
    }

    #[test]
    fn neighbours_are_drawn_together() {
        // Ten slow rounds in a row among a hundred: blocks of five take them in lumps, and the mean spreads more than
        // the 2 · 0.3 / √100 = 6 % of independent draws.
        let lump = |round: u64| if (40..50).contains(&round) { 200 } else { 100 };
        let spread = |found: &Interval| found.high - found.low;
        let together = measured(&rounds(100, lump, |_| 100), Stat::Mean, 1.0);
        let apart =
            measured(&rounds(100, |round| if round.is_multiple_of(10) { 200 } else { 100 }, |_| 100), Stat::Mean, 1.0);
        assert!(spread(&together) > 1.5 * spread(&apart), "{together:?} {apart:?}");
    }

    #[test]
    fn extremes_and_single_rounds_have_no_interval() {
        let many = rounds(30, |_| 3, |_| 1);
        assert_eq!(ratio_interval(&many, Stat::Max, 1.0, 0.95, 7), None);
        assert_eq!(ratio_interval(&many, Stat::Min, 1.0, 0.95, 7), None);
        assert_eq!(ratio_interval(&rounds(1, |_| 3, |_| 1), Stat::Mean, 1.0, 0.95, 7), None);
        assert!(ratio_interval(&rounds(2, |_| 3, |_| 1), Stat::Mean, 1.0, 0.95, 7).is_some());
    }
}
