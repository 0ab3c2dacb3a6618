//! What a labelled step asked for and what it got: means with their intervals, and every question with its ranks.

use serde::Serialize;

use super::number;
use super::svg::Svg;
use crate::quality::{MIN_GRADE, Measure, SHOWN, wilson};
use crate::report::trec::usual_answer;
use crate::run_event::Retrieved;
use crate::summary::{StepSummary, Summary, mean_over_steps};

/// Ranks that are drawn of each answer.
const N_RANKS: usize = 10;
/// Most questions that are listed, worst first.
const MAX_QUESTIONS: usize = 150;

/// The section.
#[derive(Debug, Serialize)]
pub(super) struct Retrieval {
    measures: Vec<MeasureRow>,
    questions: Vec<Question>,
    n_left_out: usize,
    n_quiet: usize,
    n_quiet_kept: usize,
    has_baseline: bool,
}

#[derive(Debug, Serialize)]
struct MeasureRow {
    name: String,
    mean: String,
    interval: String,
    n: String,
    chart: String,
    baseline: Option<String>,
}

#[derive(Debug, Serialize)]
struct Question {
    scenario: String,
    step: String,
    ranks: String,
    first: String,
    hit: &'static str,
    ndcg: String,
    n_relevant: usize,
    baseline_first: Option<String>,
    missed: bool,
}

/// The retrieval of a run; `None` when no step has labels.
pub(super) fn retrieval(summary: &Summary) -> Option<Retrieval> {
    let labelled: Vec<&StepSummary> = summary.steps().iter().filter(|step| step.labelled()).collect();
    if labelled.is_empty() {
        return None;
    }
    let quiet: Vec<f64> = labelled.iter().filter_map(|step| step.score(Measure::Abstain, MIN_GRADE)).collect();
    let mut asked: Vec<(&StepSummary, f64)> =
        labelled.iter().filter_map(|step| Some((*step, step.score(Measure::Ndcg(10), MIN_GRADE)?))).collect();
    // Stable: equal scores stay in plan order.
    asked.sort_by(|left, right| left.1.total_cmp(&right.1));
    let n_questions = asked.len();
    let shown = asked.iter().take(MAX_QUESTIONS).enumerate();
    let questions = shown.filter_map(|(nth, (step, ndcg))| question(nth, summary, step, *ndcg)).collect();
    Some(Retrieval {
        measures: SHOWN.into_iter().filter_map(|measure| measure_row(summary, measure)).collect(),
        questions,
        n_left_out: n_questions.saturating_sub(MAX_QUESTIONS),
        n_quiet: quiet.len(),
        n_quiet_kept: quiet.iter().filter(|score| **score >= 1.0).count(),
        has_baseline: !summary.baseline_steps().is_empty(),
    })
}

fn measure_row(summary: &Summary, measure: Measure) -> Option<MeasureRow> {
    let mean = mean_over_steps(summary.steps(), measure, MIN_GRADE)?;
    let (low, high) = wilson(mean.mean, mean.n)?;
    let baseline = mean_over_steps(summary.baseline_steps(), measure, MIN_GRADE);
    let mut svg = Svg::new(16.0);
    svg.rect("track", 0.0, 100.0, 6.0, 4.0);
    svg.level("whisker", low * 100.0, high * 100.0, 8.0);
    if let Some(baseline) = baseline {
        svg.upright("base-mark", baseline.mean * 100.0, 2.0, 14.0);
    }
    svg.dot("dot", (mean.mean * 100.0).clamp(1.0, 99.0), 8.0, 4.0);
    Some(MeasureRow {
        name: measure.to_string(),
        mean: number::share(mean.mean),
        interval: format!("{} to {}", number::share(low), number::share(high)),
        n: number::count(mean.n),
        chart: svg.decoration(),
        baseline: baseline.map(|baseline| number::share(baseline.mean)),
    })
}

fn question(nth: usize, summary: &Summary, step: &StepSummary, ndcg: f64) -> Option<Question> {
    let answer = usual_answer(step)?;
    let first = first_relevant(answer);
    let baseline = summary.baseline_of(step).and_then(usual_answer);
    let hit = step.score(Measure::Hit(5), MIN_GRADE);
    Some(Question {
        scenario: step.scenario.clone(),
        step: step.step.clone(),
        ranks: ranks(nth, answer),
        first: shown_rank(first),
        hit: match hit {
            Some(hit) if hit >= 1.0 => "yes",
            Some(hit) if hit > 0.0 => "in some rounds",
            Some(_) => "no",
            None => "–",
        },
        ndcg: number::share(ndcg),
        n_relevant: answer.relevant.iter().filter(|(_, grade)| *grade >= MIN_GRADE).count(),
        baseline_first: baseline.map(|answer| shown_rank(first_relevant(answer))),
        missed: hit.is_some_and(|hit| hit < 1.0),
    })
}

/// Rank of the first relevant id, from 1.
pub(super) fn first_relevant(answer: &Retrieved) -> Option<usize> {
    answer.ranked.iter().position(|id| grade(answer, id) >= MIN_GRADE).map(|index| index + 1)
}

/// A rank in words.
pub(super) fn shown_rank(rank: Option<usize>) -> String {
    rank.map_or_else(|| "none".to_owned(), |rank| rank.to_string())
}

fn grade(answer: &Retrieved, id: &str) -> u8 {
    answer.relevant.iter().find(|(labelled, _)| labelled == id).map_or(0, |(_, grade)| *grade)
}

/// One cell a rank: relevant, weakly relevant, unlabelled, or nothing delivered.
fn ranks(nth: usize, answer: &Retrieved) -> String {
    let width = 100.0 / N_RANKS as f64;
    let mut svg = Svg::new(14.0);
    let mut said = Vec::new();
    for rank in 0..N_RANKS {
        let (class, word) = match answer.ranked.get(rank).map(|id| grade(answer, id)) {
            Some(grade) if grade >= MIN_GRADE => ("cell-hit", "relevant"),
            Some(1) => ("cell-weak", "weakly relevant"),
            Some(_) => ("cell-other", "other"),
            None => ("cell-none", ""),
        };
        if !word.is_empty() {
            said.push(format!("{} {word}", rank + 1));
        }
        svg.rect(class, rank as f64 * width, width * 0.8, 1.0, 12.0);
    }
    let said = if said.is_empty() { "nothing delivered".to_owned() } else { said.join(", ") };
    svg.picture(&format!("ranks-{nth}"), "First ten ranks", &said)
}
