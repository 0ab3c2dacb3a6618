//! Which differences between systems hold: paired by query, randomised, corrected for many.
//!
//! Every system is held against one, the baseline, on three measures. The p-values of all of them together are corrected
//! by Holm's method, because whoever makes enough comparisons finds a difference. A difference that does not hold is not
//! shown to be none: its interval says how large it may be.

use std::collections::HashMap;

use hookbench_statistics::{CONFIDENCE, holm, mean_interval, sign_flip_p};

use super::row::{Column, SEED};
use super::score::Scored;

/// Measures that are tested.
pub const TESTED: [Column; 3] = [Column::Mrr10, Column::P1, Column::R10];
/// Random flips of a test.
const RESAMPLES: u32 = 10_000;
/// Corrected p-value up to which a difference holds.
pub const ALPHA: f64 = 0.05;

/// One system against the baseline on one measure.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The system.
    pub system: String,
    /// The measure.
    pub column: Column,
    /// Mean of the differences, system minus baseline.
    pub difference: f64,
    /// Its bootstrap interval, uncorrected.
    pub interval: Option<(f64, f64)>,
    /// Queries that both answered.
    pub n: u64,
    /// Two-sided p of a paired randomisation.
    pub p: f64,
    /// The same, corrected for all comparisons of the evaluation.
    pub adjusted_p: f64,
    /// Queries on which the system is better.
    pub gains: Vec<String>,
    /// Queries on which it is worse.
    pub losses: Vec<String>,
}

impl Comparison {
    /// Whether the difference holds.
    pub fn holds(&self) -> bool {
        self.adjusted_p <= ALPHA
    }
}

/// Every other run against the baseline. Runs without an answerable query in common are left out.
pub fn compare(baseline: &[Scored], others: &[(String, &[Scored])]) -> Vec<Comparison> {
    let mut comparisons: Vec<Comparison> = others
        .iter()
        .flat_map(|(system, scored)| TESTED.into_iter().filter_map(move |column| one(baseline, system, scored, column)))
        .collect();
    let adjusted = holm(&comparisons.iter().map(|comparison| comparison.p).collect::<Vec<_>>());
    for (comparison, adjusted) in comparisons.iter_mut().zip(adjusted) {
        comparison.adjusted_p = adjusted;
    }
    comparisons
}

fn one(baseline: &[Scored], system: &str, scored: &[Scored], column: Column) -> Option<Comparison> {
    let value = |query: &Scored| query.ranking.as_ref().map(|score| column.of(score));
    let base: HashMap<&str, f64> = baseline.iter().filter_map(|query| Some((&*query.qid, value(query)?))).collect();
    let paired: Vec<(&str, f64)> =
        scored.iter().filter_map(|query| Some((&*query.qid, value(query)? - base.get(&*query.qid)?))).collect();
    let differences: Vec<f64> = paired.iter().map(|(_, difference)| *difference).collect();
    if differences.is_empty() {
        return None;
    }
    let named = |keep: fn(f64) -> bool| {
        paired.iter().filter(|(_, difference)| keep(*difference)).map(|(qid, _)| (*qid).to_owned()).collect()
    };
    let p = sign_flip_p(&differences, RESAMPLES, SEED);
    Some(Comparison {
        system: system.to_owned(),
        column,
        difference: differences.iter().sum::<f64>() / differences.len() as f64,
        interval: mean_interval(&differences, CONFIDENCE, SEED).map(|interval| (interval.low, interval.high)),
        n: differences.len() as u64,
        p,
        adjusted_p: p,
        gains: named(|difference| difference > 0.0),
        losses: named(|difference| difference < 0.0),
    })
}

#[cfg(test)]
mod tests {
    use super::super::score::RankingScore;
    use super::*;

    fn run(values: impl IntoIterator<Item = f64>) -> Vec<Scored> {
        let ranking = |rr: f64| RankingScore { rr, p1: rr.floor(), p3: 0.0, ndcg: 0.0, recall: rr };
        let query = |(nth, rr): (usize, f64)| Scored {
            qid: format!("q{nth}"),
            project: String::new(),
            form: String::new(),
            kind: "answerable".to_owned(),
            ranking: Some(ranking(rr)),
            injection: None,
            routing: None,
            route_us: None,
            query_us: None,
        };
        values.into_iter().enumerate().map(query).collect()
    }

    #[test]
    fn equal_systems_do_not_differ() {
        let base = run((0..50).map(|nth| f64::from(nth % 3) / 2.0));
        let found = compare(&base, &[("same".to_owned(), &base)]);
        assert_eq!(found.len(), 3);
        assert!(found.iter().all(|one| one.difference == 0.0 && one.p == 1.0 && !one.holds()));
        assert!(found.iter().all(|one| one.gains.is_empty() && one.losses.is_empty()));
    }

    #[test]
    fn a_better_system_is_better() {
        let (base, better) = (run((0..60).map(|nth| f64::from(nth % 2) / 2.0)), run((0..60).map(|_| 1.0)));
        let found = compare(&base, &[("better".to_owned(), &better)]);
        assert!(found.iter().all(|one| one.holds() && one.difference > 0.0), "{found:?}");
        assert_eq!(found[0].gains.len(), 60);
    }

    #[test]
    fn many_comparisons_are_corrected() {
        // Six queries that differ, all for the better: two-sided p of an exact flip is 2 / 2^6 = .03125.
        let base = run([0.0; 20]);
        let other = run((0..20).map(|nth| if nth < 6 { 1.0 } else { 0.0 }));
        let alone = compare(&base, &[("one".to_owned(), &other)]);
        assert!((alone[0].p - 0.03125).abs() < 1e-12, "{}", alone[0].p);
        assert!((alone[0].adjusted_p - 3.0 * 0.03125).abs() < 1e-12);
        assert!(!alone[0].holds());
    }

    #[test]
    fn queries_are_paired_by_id() {
        let base = run([0.0, 1.0]);
        let mut other = run([0.0, 1.0]);
        other.reverse();
        assert_eq!(compare(&base, &[("turned".to_owned(), &other)])[0].difference, 0.0);
        other.remove(0);
        assert_eq!(compare(&base, &[("short".to_owned(), &other)])[0].n, 1);
    }
}
