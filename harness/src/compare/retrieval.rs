//! Retrieval of two runs over the same queries.
//!
//! A deterministic hook has no noise of its own, but a set of queries is a sample. Under [`MIN_QUERIES`] only a named
//! query (tag `must`) that is no longer hit is a fail, and the means stand there with their Wilson intervals. From
//! there on a measure fails when the paired sign-flip test, corrected for the measures by Holm's method, says that it
//! fell, and it fell by at least [`MIN_DROP`]. The sign test over gains and losses is shown beside it. Every query that
//! flipped is named.

use hookbench_statistics::{holm, sign_flip_p, sign_test_p};

use super::Both;
use crate::quality::{KEPT, MIN_GRADE, Measure, wilson};
use crate::run_event::Verdict;
use crate::summary::StepSummary;

/// Queries from which on a test means something.
pub const MIN_QUERIES: usize = 200;
/// Least fall of a mean that counts: three points.
const MIN_DROP: f64 = 0.03;
/// Chance of a false alarm over all measures.
const ALPHA: f64 = 0.05;
/// Random sign patterns of the test, and their seed.
const RESAMPLES: u32 = 100_000;
const SEED: u64 = 1;
/// Tag of the queries that must be hit.
const MUST: &str = "must";

/// A query whose score is another one now.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryFlip {
    /// `scenario/step`.
    pub query: String,
    /// Its score.
    pub score: Both<f64>,
}

/// One measure over the common queries.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasureChange {
    /// The measure.
    pub measure: Measure,
    /// Queries that can have it in both runs.
    pub n: usize,
    /// Mean over them.
    pub mean: Both<f64>,
    /// Wilson interval of each mean, at 95 %.
    pub interval: Both<Option<(f64, f64)>>,
    /// Queries that score higher now.
    pub n_gains: u64,
    /// Queries that score lower now.
    pub n_losses: u64,
    /// Two-sided p of the paired sign-flip test, uncorrected.
    pub sign_flip_p: f64,
    /// Two-sided p of the sign test, uncorrected.
    pub sign_test_p: f64,
    /// Queries that flipped, the worst loss first.
    pub flips: Vec<QueryFlip>,
    /// Whether it got worse.
    pub verdict: Verdict,
    /// One sentence: why this verdict.
    pub reason: String,
}

/// Queries that must be hit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MustHits {
    /// How many there are in both runs.
    pub n: usize,
    /// Hit before and not now.
    pub lost: Vec<String>,
    /// Hit now and not before.
    pub won: Vec<String>,
}

impl MustHits {
    /// Fail when one was lost; skipped when there are none.
    pub fn verdict(&self) -> Verdict {
        match (self.n, self.lost.len()) {
            (0, _) => Verdict::Skipped,
            (_, 0) => Verdict::Pass,
            _ => Verdict::Fail,
        }
    }
}

/// Retrieval of two runs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RetrievalChange {
    /// Every measure that some query can have.
    pub measures: Vec<MeasureChange>,
    /// The named queries.
    pub must: MustHits,
    /// Labelled steps that answered differently in rounds of one run: the figures then hold the hook's own noise.
    pub n_unsteady: usize,
}

impl RetrievalChange {
    pub(super) fn of(pairs: &[Both<&StepSummary>]) -> RetrievalChange {
        let labelled: Vec<Both<&StepSummary>> =
            pairs.iter().copied().filter(|pair| pair.before.labelled() && pair.after.labelled()).collect();
        let n_unsteady = labelled.iter().filter(|pair| pair.before.flaky() || pair.after.flaky()).count();
        let mut measures: Vec<MeasureChange> =
            KEPT.into_iter().filter_map(|measure| change(measure, &labelled)).collect();
        judge(&mut measures, n_unsteady);
        RetrievalChange { measures, must: must_hits(&labelled), n_unsteady }
    }
}

fn scores(measure: Measure, labelled: &[Both<&StepSummary>]) -> Vec<QueryFlip> {
    let score = |step: &StepSummary| step.score(measure, MIN_GRADE);
    let both = |pair: &Both<&StepSummary>| {
        let query = format!("{}/{}", pair.after.scenario, pair.after.step);
        Some(QueryFlip { query, score: Both { before: score(pair.before)?, after: score(pair.after)? } })
    };
    labelled.iter().filter_map(both).collect()
}

fn change(measure: Measure, labelled: &[Both<&StepSummary>]) -> Option<MeasureChange> {
    let scored = scores(measure, labelled);
    let n = scored.len();
    if n == 0 {
        return None;
    }
    let mean = |side: fn(&QueryFlip) -> f64| scored.iter().map(side).sum::<f64>() / n as f64;
    let mean = Both { before: mean(|flip| flip.score.before), after: mean(|flip| flip.score.after) };
    let differences: Vec<f64> = scored.iter().map(|flip| flip.score.after - flip.score.before).collect();
    let n_gains = differences.iter().filter(|difference| **difference > 0.0).count() as u64;
    let n_losses = differences.iter().filter(|difference| **difference < 0.0).count() as u64;
    let mut flips: Vec<QueryFlip> = scored.into_iter().filter(|flip| flip.score.differ()).collect();
    flips.sort_by(|left, right| {
        let gain = |flip: &QueryFlip| flip.score.after - flip.score.before;
        gain(left).total_cmp(&gain(right))
    });
    Some(MeasureChange {
        measure,
        n,
        mean,
        interval: mean.map(|mean| wilson(mean, n as u64)),
        n_gains,
        n_losses,
        sign_flip_p: sign_flip_p(&differences, RESAMPLES, SEED),
        sign_test_p: sign_test_p(n_gains, n_losses),
        flips,
        verdict: Verdict::Skipped,
        reason: String::new(),
    })
}

/// Gives every measure its verdict; Holm's correction is over the measures that are tested at all.
fn judge(measures: &mut [MeasureChange], n_unsteady: usize) {
    let mut tested: Vec<&mut MeasureChange> = Vec::new();
    for change in measures {
        if change.n < MIN_QUERIES {
            change.reason = format!(
                "{} of the {MIN_QUERIES} queries that a test needs: only queries tagged `{MUST}` and gates on floors judge",
                change.n
            );
        } else {
            tested.push(change);
        }
    }
    let adjusted = holm(&tested.iter().map(|change| change.sign_flip_p).collect::<Vec<_>>());
    for (change, p) in tested.into_iter().zip(adjusted) {
        let drop = change.mean.before - change.mean.after;
        let points = |share: f64| format!("{:.1} points", share.abs() * 100.0);
        let moved = format!("the mean {} by {}", if drop > 0.0 { "fell" } else { "rose" }, points(drop));
        let (proven, large) = (p <= ALPHA, drop >= MIN_DROP);
        (change.verdict, change.reason) = match (large, proven) {
            _ if n_unsteady > 0 => (
                Verdict::Inconclusive,
                format!(
                    "{n_unsteady} labelled steps answer differently from round to round: make the hook steady first"
                ),
            ),
            (true, true) => (Verdict::Fail, format!("{moved}, corrected p {p:.4}")),
            (true, false) => {
                (Verdict::Inconclusive, format!("{moved}, but chance alone may do that: corrected p {p:.4}"))
            }
            (false, _) => (Verdict::Pass, format!("{moved}; a fall of {} would count", points(MIN_DROP))),
        };
    }
}

fn must_hits(labelled: &[Both<&StepSummary>]) -> MustHits {
    let named: Vec<Both<&StepSummary>> =
        labelled.iter().copied().filter(|pair| pair.after.tags.iter().any(|tag| tag == MUST)).collect();
    let scored = scores(Measure::Hit(5), &named);
    let hit = |score: f64| score >= 1.0;
    let which = |lost: bool| {
        let flips = scored.iter().filter(|flip| hit(flip.score.before) == lost && hit(flip.score.after) != lost);
        flips.map(|flip| flip.query.clone()).collect()
    };
    MustHits { n: scored.len(), lost: which(true), won: which(false) }
}
