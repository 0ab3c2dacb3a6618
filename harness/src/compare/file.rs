//! A comparison as JSON: what `hookbench compare --json` prints.
//!
//! Times are whole microseconds, scores and ratios have at most six decimals. Only steps and queries that differ are
//! listed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Both, Comparison, EventTimes, MeasureChange, StepChange, Times};
use crate::run_event::Verdict;
use crate::versioned::{self, six};

/// Name of the format.
const FORMAT: &str = "hookbench-comparison";
/// Major version. History: 1, the first.
const MAJOR: u32 = 1;
/// Minor version. History: 1.0, the first.
const MINOR: u32 = 0;

/// The whole file.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ComparisonFile {
    /// Always `hookbench-comparison`.
    format: String,
    major: u32,
    minor: u32,
    /// Exit code of the comparison.
    exit_code: u8,
    before: RunFile,
    after: RunFile,
    /// Steps that both runs have.
    n_steps: u64,
    /// Steps that differ in anything but time.
    changes: Vec<ChangeFile>,
    times: TimesFile,
    retrieval: RetrievalFile,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct RunFile {
    hook_command: String,
    machine: String,
    complete: bool,
    /// Steps that the other run lacks, as `scenario/step`.
    only_here: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct BothFile<T> {
    before: T,
    after: T,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct ChangeFile {
    scenario: String,
    step: String,
    passed: BothFile<bool>,
    /// Kinds of findings.
    findings: BothFile<Vec<String>>,
    text_changed: bool,
    /// From 1; absent when the text is the same, or only later calls differ.
    first_changed_line: Option<u64>,
    /// Largest delivered text.
    injected_bytes: BothFile<u64>,
    injected_utf16: BothFile<u64>,
    /// Several, with commas between them, when calls differ.
    decision: BothFile<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct TimesFile {
    /// Why there are no times; absent when there are.
    refused: Option<String>,
    /// The runs were not measured side by side: figures to look at, no verdict.
    unpaired: Vec<EventFile>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct EventFile {
    host_event: String,
    clock: ClockFile,
    n_calls: BothFile<u64>,
    /// Absent when there are too few calls.
    median_us: BothFile<Option<u64>>,
    /// Median of the run's no-op children.
    floor_us: BothFile<Option<u64>>,
    ratio_to_floor: BothFile<Option<f64>>,
    /// Later median by earlier one.
    ratio: Option<f64>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum ClockFile {
    Wall,
    Cpu,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum VerdictFile {
    Pass,
    Fail,
    Inconclusive,
    Skipped,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct RetrievalFile {
    /// Labelled steps that answer differently from round to round.
    n_unsteady: u64,
    must: MustFile,
    measures: Vec<MeasureFile>,
}

/// Queries tagged `must`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct MustFile {
    verdict: VerdictFile,
    n_queries: u64,
    lost: Vec<String>,
    won: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct MeasureFile {
    /// Name as in gates, such as `recall@5`.
    measure: String,
    verdict: VerdictFile,
    reason: String,
    n_queries: u64,
    mean: BothFile<f64>,
    /// Wilson interval of each mean at 95 %.
    interval: BothFile<Option<IntervalFile>>,
    n_gains: u64,
    n_losses: u64,
    /// Two-sided, paired, not corrected for the number of measures.
    sign_flip_p: f64,
    /// Two-sided, not corrected for the number of measures.
    sign_test_p: f64,
    flips: Vec<FlipFile>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct IntervalFile {
    low: f64,
    high: f64,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct FlipFile {
    /// `scenario/step`.
    query: String,
    score: BothFile<f64>,
}

/// JSON Schema of a comparison.
pub fn comparison_schema() -> schemars::Schema {
    schemars::schema_for!(ComparisonFile)
}

impl ComparisonFile {
    /// The file of a comparison.
    pub fn of(comparison: &Comparison) -> ComparisonFile {
        let retrieval = &comparison.retrieval;
        ComparisonFile {
            format: FORMAT.to_owned(),
            major: MAJOR,
            minor: MINOR,
            exit_code: comparison.exit_code().code(),
            before: RunFile {
                hook_command: comparison.hook.before.clone(),
                machine: comparison.machine.before.clone(),
                complete: comparison.complete.before,
                only_here: comparison.only.before.clone(),
            },
            after: RunFile {
                hook_command: comparison.hook.after.clone(),
                machine: comparison.machine.after.clone(),
                complete: comparison.complete.after,
                only_here: comparison.only.after.clone(),
            },
            n_steps: comparison.n_steps as u64,
            changes: comparison.changes.iter().map(change_file).collect(),
            times: match &comparison.times {
                Times::Refused { reason } => TimesFile { refused: Some(reason.clone()), unpaired: Vec::new() },
                Times::Unpaired(events) => {
                    TimesFile { refused: None, unpaired: events.iter().map(event_file).collect() }
                }
            },
            retrieval: RetrievalFile {
                n_unsteady: retrieval.n_unsteady as u64,
                must: MustFile {
                    verdict: retrieval.must.verdict().into(),
                    n_queries: retrieval.must.n as u64,
                    lost: retrieval.must.lost.clone(),
                    won: retrieval.must.won.clone(),
                },
                measures: retrieval.measures.iter().map(measure_file).collect(),
            },
        }
    }

    /// Reads a file's text.
    ///
    /// # Errors
    /// A sentence that says what is wrong and what to do.
    pub fn parse(text: &str) -> Result<ComparisonFile, String> {
        versioned::parse(text, "a comparison of two runs", FORMAT, MAJOR)
    }

    /// The text of the file, with a newline at its end.
    pub fn to_text(&self) -> String {
        versioned::to_text(self)
    }
}

impl<T> From<Both<T>> for BothFile<T> {
    fn from(both: Both<T>) -> BothFile<T> {
        BothFile { before: both.before, after: both.after }
    }
}

impl From<Verdict> for VerdictFile {
    fn from(verdict: Verdict) -> VerdictFile {
        match verdict {
            Verdict::Pass => VerdictFile::Pass,
            Verdict::Fail => VerdictFile::Fail,
            Verdict::Inconclusive => VerdictFile::Inconclusive,
            Verdict::Skipped => VerdictFile::Skipped,
        }
    }
}

fn change_file(change: &StepChange) -> ChangeFile {
    let names = |kinds: Vec<crate::run_event::FindingKind>| -> Vec<String> {
        kinds.into_iter().map(|kind| kind.name().to_owned()).collect()
    };
    ChangeFile {
        scenario: change.scenario.clone(),
        step: change.step.clone(),
        passed: change.passed.into(),
        findings: change.findings.clone().map(names).into(),
        text_changed: change.text.is_some(),
        first_changed_line: change.text.and_then(|text| text.first_line),
        injected_bytes: change.injected_bytes.into(),
        injected_utf16: change.injected_utf16.into(),
        decision: change.decision.clone().into(),
    }
}

fn event_file(times: &EventTimes) -> EventFile {
    EventFile {
        host_event: times.event.clone(),
        clock: match times.clock {
            crate::summary::Clock::Wall => ClockFile::Wall,
            crate::summary::Clock::Cpu => ClockFile::Cpu,
        },
        n_calls: times.n.into(),
        median_us: times.median_us.into(),
        floor_us: times.floor_us.into(),
        ratio_to_floor: times.to_floor.map(|ratio| ratio.map(six)).into(),
        ratio: times.ratio.map(six),
    }
}

fn measure_file(change: &MeasureChange) -> MeasureFile {
    let interval =
        |interval: Option<(f64, f64)>| interval.map(|(low, high)| IntervalFile { low: six(low), high: six(high) });
    MeasureFile {
        measure: change.measure.to_string(),
        verdict: change.verdict.into(),
        reason: change.reason.clone(),
        n_queries: change.n as u64,
        mean: change.mean.map(six).into(),
        interval: change.interval.map(interval).into(),
        n_gains: change.n_gains,
        n_losses: change.n_losses,
        sign_flip_p: six(change.sign_flip_p),
        sign_test_p: six(change.sign_test_p),
        flips: change
            .flips
            .iter()
            .map(|flip| FlipFile { query: flip.query.clone(), score: flip.score.map(six).into() })
            .collect(),
    }
}
