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
    let block = (1..).find(|length: &usize| length.saturating_pow(3) >= n).unwrap_or(n);
    let mut rng = Rng::with_seed(seed);
    let mut drawn = Vec::with_capacity(n + block);
    let mut resampled: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            drawn.clear();
            while drawn.len() < n {
                let start = rng.usize(..n);
                drawn.extend((start..start + block).map(|at| at % n));
            }
            drawn.truncate(n);
            log_ratio(&drawn)
        })
        .collect();
    resampled.sort_unstable_by(f64::total_cmp);
    // As many resamples lie on the far side of each end as the confidence allows, the end itself among them.
    let rank = ((1.0 - confidence) / 2.0 * (RESAMPLES + 1) as f64) as usize;
    let index = rank.saturating_sub(1);
    let p = |far: usize| (far + 1) as f64 / (RESAMPLES + 1) as f64;
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
