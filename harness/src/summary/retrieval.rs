//! Retrieval measures of a selection of steps: the mean over steps, each step counting once.

use super::step::StepSummary;
use crate::quality::Measure;

/// Mean of a measure over steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    /// The mean, between 0 and 1.
    pub mean: f64,
    /// Steps behind it.
    pub n: u64,
}

/// Mean over the steps that can have the measure; `None` when none can.
///
/// A step's own score is the mean of its calls, so a step that was repeated more often weighs no more.
pub fn mean_over_steps<'a>(
    steps: impl IntoIterator<Item = &'a StepSummary>,
    measure: Measure,
    min_grade: u8,
) -> Option<Mean> {
    let scores: Vec<f64> = steps.into_iter().filter_map(|step| step.score(measure, min_grade)).collect();
    let n = scores.len();
    (n > 0).then(|| Mean { mean: scores.iter().sum::<f64>() / n as f64, n: n as u64 })
}
