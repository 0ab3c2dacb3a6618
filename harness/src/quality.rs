//! How good a ranked list is, given graded labels: precision, recall, reciprocal rank, nDCG and their kin.
//!
//! Definitions follow trec_eval: precision divides by the cut-off even when fewer ids were returned, nDCG uses
//! the grade itself as gain and log2(rank + 1) as discount. A measure that a step cannot have (recall with
//! nothing to find) is `None`, never zero, so it cannot pull a mean down. Which ids are in a text is decided
//! elsewhere.

use std::collections::HashSet;
use std::fmt;

pub use hookbench_statistics::wilson;

use crate::run_event::Retrieved;

/// Grade from which an id counts as relevant, unless a caller asks for another.
pub const MIN_GRADE: u8 = 2;

/// The measures that reports for people show, in this order.
pub const SHOWN: [Measure; 9] = [
    Measure::Precision(1),
    Measure::Precision(5),
    Measure::Recall(5),
    Measure::Recall(10),
    Measure::ReciprocalRank(10),
    Measure::Ndcg(10),
    Measure::Hit(5),
    Measure::Abstain,
    Measure::BytePrecision,
];

/// The measures that saved files hold and that comparisons of runs look at: part of those formats.
pub const KEPT: [Measure; 7] = [
    Measure::Precision(5),
    Measure::Recall(5),
    Measure::ReciprocalRank(10),
    Measure::Ndcg(10),
    Measure::Hit(5),
    Measure::Abstain,
    Measure::BytePrecision,
];

/// A measure of one step; the cut-off `k` is at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Measure {
    /// Gain of the first `k` over the best possible gain of `k`.
    Ndcg(u32),
    /// Relevant ids among the first `k`, over all relevant ids.
    Recall(u32),
    /// Relevant ids among the first `k`, over `k`.
    Precision(u32),
    /// One over the rank of the first relevant id, zero beyond `k`; its mean over steps is the MRR.
    ReciprocalRank(u32),
    /// 1 when a relevant id is among the first `k`.
    Hit(u32),
    /// 1 when every relevant id is among the first `k`.
    RecallAll(u32),
    /// 1 when a step without relevant ids delivered nothing.
    Abstain,
    /// Bytes of relevant items over injected bytes.
    BytePrecision,
}

impl Measure {
    /// The measure with this name in the gate grammar, such as `recall@5` or `abstain`.
    pub fn parse(name: &str) -> Option<Measure> {
        let (word, k) = match name.split_once('@') {
            None => {
                return match name {
                    "abstain" => Some(Measure::Abstain),
                    "byte_precision" => Some(Measure::BytePrecision),
                    _ => None,
                };
            }
            Some((word, digits)) => (word, digits.parse().ok().filter(|k| *k >= 1)?),
        };
        match word {
            "ndcg" => Some(Measure::Ndcg(k)),
            "recall" => Some(Measure::Recall(k)),
            "precision" => Some(Measure::Precision(k)),
            "rr" => Some(Measure::ReciprocalRank(k)),
            "hit" => Some(Measure::Hit(k)),
            "recall_all" => Some(Measure::RecallAll(k)),
            _ => None,
        }
    }

    /// The measure of one step, between 0 and 1; `None` when the step cannot have it.
    ///
    /// `injected_bytes` is the length of the whole delivered text. Ids with a grade under `min_grade` are not
    /// relevant, but their grade still counts as gain for nDCG.
    pub fn of(self, retrieved: &Retrieved, injected_bytes: u64, min_grade: u8) -> Option<f64> {
        match self {
            Measure::Abstain => retrieved.relevant.is_empty().then_some(if injected_bytes == 0 { 1.0 } else { 0.0 }),
            Measure::BytePrecision => {
                let judged = !retrieved.relevant.is_empty() && injected_bytes > 0;
                judged.then(|| retrieved.relevant_bytes as f64 / injected_bytes as f64)
            }
            Measure::Ndcg(k) => Ranking::new(&retrieved.ranked, &retrieved.relevant).ndcg(k),
            Measure::Recall(k) => Ranking::new(&retrieved.ranked, &retrieved.relevant).recall(k, min_grade),
            Measure::Precision(k) => Ranking::new(&retrieved.ranked, &retrieved.relevant).precision(k, min_grade),
            Measure::ReciprocalRank(k) => {
                Ranking::new(&retrieved.ranked, &retrieved.relevant).reciprocal_rank(k, min_grade)
            }
            Measure::Hit(k) => Ranking::new(&retrieved.ranked, &retrieved.relevant).hit(k, min_grade),
            Measure::RecallAll(k) => Ranking::new(&retrieved.ranked, &retrieved.relevant).recall_all(k, min_grade),
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Measure::Ndcg(k) => write!(out, "ndcg@{k}"),
            Measure::Recall(k) => write!(out, "recall@{k}"),
            Measure::Precision(k) => write!(out, "precision@{k}"),
            Measure::ReciprocalRank(k) => write!(out, "rr@{k}"),
            Measure::Hit(k) => write!(out, "hit@{k}"),
            Measure::RecallAll(k) => write!(out, "recall_all@{k}"),
            Measure::Abstain => out.write_str("abstain"),
            Measure::BytePrecision => out.write_str("byte_precision"),
        }
    }
}

/// A ranked list with its labels looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ranking {
    /// Grade of each distinct id in rank order; 0 for an id without label.
    grades: Vec<u8>,
    /// All positive grades, best first: the ranking that cannot be beaten.
    ideal: Vec<u8>,
}

impl Ranking {
    /// Looks up the labels of a ranked list. An id that comes twice counts at its first rank only; of two
    /// labels for one id the first holds.
    pub fn new(ranked: &[String], labels: &[(String, u8)]) -> Ranking {
        let grade_of = |id: &String| labels.iter().find(|(labelled, _)| labelled == id).map_or(0, |(_, grade)| *grade);
        let mut seen = HashSet::new();
        let grades = ranked.iter().filter(|id| seen.insert(*id)).map(grade_of).collect();
        let mut labelled = HashSet::new();
        let mut ideal: Vec<u8> =
            labels.iter().filter(|(id, grade)| *grade > 0 && labelled.insert(id)).map(|(_, grade)| *grade).collect();
        ideal.sort_unstable_by(|left, right| right.cmp(left));
        Ranking { grades, ideal }
    }

    fn n_relevant(&self, min_grade: u8) -> usize {
        self.ideal.iter().filter(|grade| **grade >= min_grade).count()
    }

    fn n_found(&self, k: u32, min_grade: u8) -> usize {
        self.grades.iter().take(k as usize).filter(|grade| **grade >= min_grade.max(1)).count()
    }

    /// Share of the first `k` ranks that hold a relevant id; `None` when nothing is relevant.
    pub fn precision(&self, k: u32, min_grade: u8) -> Option<f64> {
        (self.n_relevant(min_grade) > 0).then(|| self.n_found(k, min_grade) as f64 / f64::from(k.max(1)))
    }

    /// Share of the relevant ids within the first `k` ranks; `None` when nothing is relevant.
    pub fn recall(&self, k: u32, min_grade: u8) -> Option<f64> {
        let n_relevant = self.n_relevant(min_grade);
        (n_relevant > 0).then(|| self.n_found(k, min_grade) as f64 / n_relevant as f64)
    }

    /// One over the rank of the first relevant id, 0 when it is beyond `k`; `None` when nothing is relevant.
    pub fn reciprocal_rank(&self, k: u32, min_grade: u8) -> Option<f64> {
        if self.n_relevant(min_grade) == 0 {
            return None;
        }
        let first = self.grades.iter().take(k as usize).position(|grade| *grade >= min_grade.max(1));
        Some(first.map_or(0.0, |index| 1.0 / (index + 1) as f64))
    }

    /// 1 when a relevant id is within the first `k` ranks, else 0; `None` when nothing is relevant.
    pub fn hit(&self, k: u32, min_grade: u8) -> Option<f64> {
        (self.n_relevant(min_grade) > 0).then(|| if self.n_found(k, min_grade) > 0 { 1.0 } else { 0.0 })
    }

    /// 1 when all relevant ids are within the first `k` ranks, else 0; `None` when nothing is relevant.
    pub fn recall_all(&self, k: u32, min_grade: u8) -> Option<f64> {
        let n_relevant = self.n_relevant(min_grade);
        (n_relevant > 0).then(|| if self.n_found(k, min_grade) == n_relevant { 1.0 } else { 0.0 })
    }

    /// Discounted gain of the first `k` ranks over that of the ideal ranking; `None` without a positive grade.
    ///
    /// Järvelin and Kekäläinen's measure as trec_eval's `ndcg_cut` computes it: Σ grade / log2(rank + 1).
    pub fn ndcg(&self, k: u32) -> Option<f64> {
        let gain = |grades: &[u8]| -> f64 {
            grades
                .iter()
                .take(k as usize)
                .zip(2_u32..)
                .map(|(grade, rank_plus_one)| f64::from(*grade) / f64::from(rank_plus_one).log2())
                .sum()
        };
        let best = gain(&self.ideal);
        (best > 0.0).then(|| gain(&self.grades) / best)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

    use super::*;

    fn ranking(ranked: &str, labels: &[(&str, u8)]) -> Ranking {
        let ranked: Vec<String> = ranked.split_whitespace().map(str::to_owned).collect();
        let labels: Vec<(String, u8)> = labels.iter().map(|(id, grade)| ((*id).to_owned(), *grade)).collect();
        Ranking::new(&ranked, &labels)
    }

    fn close(left: Option<f64>, right: f64) -> bool {
        left.is_some_and(|left| (left - right).abs() < 1e-9)
    }

    /// Ranks 1 to 5 are x (no label), a (3), b (1), c (2), y (no label); d (2) is never returned.
    fn worked() -> Ranking {
        ranking("x a b c y", &[("a", 3), ("b", 1), ("c", 2), ("d", 2)])
    }

    #[test]
    fn worked_example_agrees_with_the_hand_calculation() {
        let worked = worked();
        // Relevant at grade 2: a, c, d. In the first 3: a. In the first 4: a, c.
        assert!(close(worked.precision(3, 2), 1.0 / 3.0));
        assert!(close(worked.precision(4, 2), 2.0 / 4.0));
        assert!(close(worked.recall(1, 2), 0.0));
        assert!(close(worked.recall(4, 2), 2.0 / 3.0));
        // At grade 1 there are four relevant ids, three of them in the first 4.
        assert!(close(worked.recall(4, 1), 3.0 / 4.0));
        // At grade 3 only a, at rank 2.
        assert!(close(worked.recall(2, 3), 1.0));
        assert!(close(worked.reciprocal_rank(10, 2), 1.0 / 2.0));
        assert!(close(worked.reciprocal_rank(1, 2), 0.0));
        assert!(close(worked.hit(1, 2), 0.0));
        assert!(close(worked.hit(2, 2), 1.0));
        assert!(close(worked.recall_all(5, 2), 0.0));
        assert!(close(worked.recall_all(2, 3), 1.0));
    }

    #[test]
    fn ndcg_agrees_with_the_hand_calculation() {
        // Gain: 3/log2(3) + 1/log2(4) + 2/log2(5) = 1.892789 + 0.5 + 0.861353 = 3.254142.
        // Ideal 3 2 2 1: 3 + 2/log2(3) + 2/log2(4) + 1/log2(5) = 3 + 1.261860 + 1 + 0.430677 = 5.692536.
        assert!((worked().ndcg(10).unwrap() - 3.254_142 / 5.692_536).abs() < 1e-6);
        // At 2: gain 1.892789, ideal 3 + 1.261860 = 4.261860.
        assert!((worked().ndcg(2).unwrap() - 1.892_789 / 4.261_860).abs() < 1e-6);
        assert!(close(ranking("a b", &[("a", 3), ("b", 2)]).ndcg(5), 1.0));
        assert!(close(ranking("", &[("a", 3)]).ndcg(5), 0.0));
    }

    #[test]
    fn precision_divides_by_the_cut_off_even_for_short_lists() {
        assert!(close(ranking("a", &[("a", 2)]).precision(5, 2), 0.2));
        assert!(close(ranking("", &[("a", 2)]).precision(5, 2), 0.0));
    }

    #[test]
    fn repeated_ids_count_once_at_their_first_rank() {
        let repeated = ranking("a a a b", &[("a", 3), ("b", 2), ("a", 1)]);
        assert_eq!(repeated, ranking("a b", &[("a", 3), ("b", 2)]));
        assert!(close(repeated.recall_all(2, 2), 1.0));
    }

    #[test]
    fn nothing_relevant_gives_no_measure() {
        let weak = ranking("a b", &[("a", 1)]);
        assert_eq!(weak.precision(5, 2), None);
        assert_eq!(weak.recall(5, 2), None);
        assert_eq!(weak.reciprocal_rank(5, 2), None);
        assert_eq!(weak.hit(5, 2), None);
        assert_eq!(weak.recall_all(5, 2), None);
        assert!(close(weak.ndcg(5), 1.0));
        assert_eq!(ranking("a", &[]).ndcg(5), None);
        assert_eq!(ranking("a", &[("a", 0)]).recall(5, 0), None);
    }

    fn retrieved(ranked: &[&str], labels: &[(&str, u8)], relevant_bytes: u64) -> Retrieved {
        Retrieved {
            ranked: ranked.iter().map(|id| (*id).to_owned()).collect(),
            relevant: labels.iter().map(|(id, grade)| ((*id).to_owned(), *grade)).collect(),
            relevant_bytes,
        }
    }

    #[test]
    fn abstention_is_asked_only_of_steps_without_answer() {
        let quiet = retrieved(&[], &[], 0);
        assert_eq!(Measure::Abstain.of(&quiet, 0, 2), Some(1.0));
        assert_eq!(Measure::Abstain.of(&quiet, 1, 2), Some(0.0));
        assert_eq!(Measure::Abstain.of(&retrieved(&[], &[("a", 1)], 0), 0, 2), None);
        assert_eq!(Measure::Recall(5).of(&quiet, 0, 2), None);
    }

    #[test]
    fn byte_precision_is_relevant_over_injected_bytes() {
        let half = retrieved(&["a", "x"], &[("a", 2)], 300);
        assert_eq!(Measure::BytePrecision.of(&half, 600, 2), Some(0.5));
        assert_eq!(Measure::BytePrecision.of(&half, 0, 2), None);
        assert_eq!(Measure::BytePrecision.of(&retrieved(&["x"], &[], 0), 600, 2), None);
    }

    #[test]
    fn measures_read_the_cut_off_of_their_own_kind() {
        let one = retrieved(&["x", "a", "c"], &[("a", 3), ("c", 2)], 0);
        let of = |name: &str| Measure::parse(name).unwrap().of(&one, 9, 2).unwrap();
        assert!((of("precision@2") - 0.5).abs() < 1e-9);
        assert!((of("recall@2") - 0.5).abs() < 1e-9);
        assert!((of("rr@2") - 0.5).abs() < 1e-9);
        assert!((of("hit@1") - 0.0).abs() < 1e-9);
        assert!((of("recall_all@3") - 1.0).abs() < 1e-9);
        assert!((of("ndcg@1") - 0.0).abs() < 1e-9);
    }

    #[test]
    fn names_parse_back_and_nonsense_does_not() {
        let all = [
            Measure::Ndcg(10),
            Measure::Recall(5),
            Measure::Precision(1),
            Measure::ReciprocalRank(10),
            Measure::Hit(5),
            Measure::RecallAll(3),
            Measure::Abstain,
            Measure::BytePrecision,
        ];
        for measure in all {
            assert_eq!(Measure::parse(&measure.to_string()), Some(measure));
        }
        for nonsense in ["recall", "recall@0", "recall@", "recall@-1", "recall@5@6", "abstain@3", "mrr@5", ""] {
            assert_eq!(Measure::parse(nonsense), None, "{nonsense}");
        }
    }
}
