//! One system's row of the report: means with intervals over its queries.
//!
//! Means over answerable queries come with a bootstrap interval over queries, shares with Wilson's. What a system did not
//! tell has no figure.

use std::collections::{BTreeMap, BTreeSet};

use hookbench_statistics::{CONFIDENCE, mean_interval, wilson};

use super::score::{RankingScore, Scored};

/// Seed of every resampling, so that a report can be made again.
pub const SEED: u64 = 1;

/// A figure with its interval and the number of queries behind it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The figure.
    pub mean: f64,
    /// Lower end; equal to the figure when there is no interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Queries.
    pub n: u64,
}

impl Estimate {
    /// Mean of values with a bootstrap interval.
    pub fn mean(values: &[f64]) -> Option<Estimate> {
        let n = values.len() as u64;
        match mean_interval(values, CONFIDENCE, SEED) {
            Some(interval) => Some(Estimate { mean: interval.estimate, low: interval.low, high: interval.high, n }),
            None => values.first().map(|only| Estimate { mean: *only, low: *only, high: *only, n }),
        }
    }

    /// A share with Wilson's interval.
    pub fn share(yes: u64, n: u64) -> Option<Estimate> {
        let mean = (n > 0).then(|| yes as f64 / n as f64)?;
        let (low, high) = wilson(mean, n)?;
        Some(Estimate { mean, low, high, n })
    }
}

/// The measures of a ranking that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Column {
    /// Reciprocal rank within ten.
    Mrr10,
    /// Precision at one.
    P1,
    /// Precision at three.
    P3,
    /// Discounted gain within ten.
    Ndcg10,
    /// Recall within ten.
    R10,
}

impl Column {
    /// All of them, in report order.
    pub const ALL: [Column; 5] = [Column::Mrr10, Column::P1, Column::P3, Column::Ndcg10, Column::R10];

    /// Its name in reports and files.
    pub fn name(self) -> &'static str {
        match self {
            Column::Mrr10 => "MRR@10",
            Column::P1 => "P@1",
            Column::P3 => "P@3",
            Column::Ndcg10 => "nDCG@10",
            Column::R10 => "R@10",
        }
    }

    /// The value of one query.
    pub fn of(self, score: &RankingScore) -> f64 {
        match self {
            Column::Mrr10 => score.rr,
            Column::P1 => score.p1,
            Column::P3 => score.p3,
            Column::Ndcg10 => score.ndcg,
            Column::R10 => score.recall,
        }
    }
}

/// A system's row.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Measures of the ranking, over answerable queries.
    pub ranking: BTreeMap<Column, Estimate>,
    /// Share of `noanswer` queries that would get an injection.
    pub false_injection: Option<Estimate>,
    /// Share of answerable queries that would get one.
    pub coverage: Option<Estimate>,
    /// Share of the injections, to queries of both kinds, whose first record is relevant.
    pub precision: Option<Estimate>,
    /// Share of the injected records that are relevant.
    pub item_precision: Option<Estimate>,
    /// Injected bytes a query, over all queries.
    pub bytes: Option<Estimate>,
    /// Injected bytes for each relevant record that was injected.
    pub bytes_per_relevant: Option<f64>,
    /// Share of the segments looked into that hold a relevant record.
    pub route_precision: Option<Estimate>,
    /// Share of the segments with a relevant record that were looked into.
    pub route_recall: Option<Estimate>,
    /// Segments looked into a query.
    pub routed: Option<f64>,
    /// Median time of choosing segments, in microseconds.
    pub route_us: Option<u64>,
    /// Median time of a query, in microseconds.
    pub query_us: Option<u64>,
}

impl Row {
    /// The row of a run's queries.
    pub fn of(scored: &[Scored]) -> Row {
        let values = |column: Column| -> Vec<f64> {
            scored.iter().filter_map(|query| query.ranking.as_ref()).map(|score| column.of(score)).collect()
        };
        let kind = |kind: &'static str| {
            scored.iter().filter(move |query| query.kind == kind).filter_map(|query| query.injection)
        };
        let count = |n: usize| n as u64;
        let (yes, no) = (count(kind("answerable").count()), count(kind("noanswer").count()));
        let covered = count(kind("answerable").filter(|injection| injection.n > 0).count());
        let wrong = count(kind("noanswer").filter(|injection| injection.n > 0).count());
        let both = || kind("answerable").chain(kind("noanswer"));
        let first = count(both().filter(|injection| injection.first_relevant).count());
        let (items, hits) = both().fold((0, 0), |(n, hits), one| (n + one.n, hits + one.n_relevant));
        let bytes: Vec<f64> = both().map(|injection| injection.bytes as f64).collect();
        let routing = || scored.iter().filter_map(|query| query.routing);
        let routed: Vec<f64> = routing().map(|routing| routing.n_routed as f64).collect();
        Row {
            ranking: Column::ALL
                .into_iter()
                .filter_map(|column| Some((column, Estimate::mean(&values(column))?)))
                .collect(),
            false_injection: Estimate::share(wrong, no),
            coverage: Estimate::share(covered, yes),
            precision: Estimate::share(first, covered + wrong),
            item_precision: Estimate::share(hits, items),
            bytes_per_relevant: (hits > 0).then(|| bytes.iter().sum::<f64>() / hits as f64),
            bytes: Estimate::mean(&bytes),
            route_precision: Estimate::mean(&routing().filter_map(|routing| routing.precision()).collect::<Vec<_>>()),
            route_recall: Estimate::mean(&routing().map(|routing| routing.recall()).collect::<Vec<_>>()),
            routed: (!routed.is_empty()).then(|| routed.iter().sum::<f64>() / routed.len() as f64),
            route_us: median(scored.iter().filter_map(|query| query.route_us)),
            query_us: median(scored.iter().filter_map(|query| query.query_us)),
        }
    }

    /// Rows of the parts that queries fall into by a key, such as their form.
    pub fn parts(scored: &[Scored], key: impl Fn(&Scored) -> &str) -> BTreeMap<String, Row> {
        let names: BTreeSet<&str> = scored.iter().filter(|query| query.ranking.is_some()).map(&key).collect();
        let part = |name: &str| scored.iter().filter(|query| key(query) == name).cloned().collect::<Vec<_>>();
        names.into_iter().map(|name| (name.to_owned(), Row::of(&part(name)))).collect()
    }
}

/// The middle one; the lower of two.
fn median(values: impl Iterator<Item = u64>) -> Option<u64> {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    values.get(values.len().checked_sub(1)? / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::super::score::InjectionScore;
    use super::*;

    fn query(kind: &str, rr: Option<f64>, injected: (u64, u64, bool, u64)) -> Scored {
        let (n, n_relevant, first_relevant, bytes) = injected;
        Scored {
            qid: "q".to_owned(),
            project: "p".to_owned(),
            form: "prompt".to_owned(),
            kind: kind.to_owned(),
            ranking: rr.map(|rr| RankingScore {
                rr,
                p1: f64::from(u8::from(rr >= 1.0)),
                p3: 0.0,
                ndcg: 0.0,
                recall: 1.0,
            }),
            injection: Some(InjectionScore { n, n_relevant, first_relevant, bytes }),
            routing: None,
            route_us: Some(bytes),
            query_us: None,
        }
    }

    #[test]
    fn figures_are_those_worked_out_by_hand() {
        let row = Row::of(&[
            query("answerable", Some(1.0), (2, 1, true, 100)),
            query("answerable", Some(0.5), (0, 0, false, 0)),
            query("noanswer", None, (1, 0, false, 50)),
            query("noanswer", None, (0, 0, false, 0)),
            query("noanswer_weak", None, (3, 0, false, 900)),
        ]);
        let mean = |estimate: Option<Estimate>| estimate.map(|estimate| (estimate.mean, estimate.n));
        assert_eq!(mean(row.ranking.get(&Column::Mrr10).copied()), Some((0.75, 2)));
        assert_eq!(mean(row.false_injection), Some((0.5, 2)));
        assert_eq!(mean(row.coverage), Some((0.5, 2)));
        // Two injections, the first record of one is relevant; three records, one of them relevant.
        assert_eq!(mean(row.precision), Some((0.5, 2)));
        assert_eq!(mean(row.item_precision), Some((1.0 / 3.0, 3)));
        assert_eq!(row.bytes_per_relevant, Some(150.0));
        assert_eq!(mean(row.bytes), Some((37.5, 4)));
        assert_eq!((row.route_us, row.query_us, row.routed), (Some(50), None, None));
    }
}
