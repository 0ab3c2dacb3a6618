//! The figures of a run as `summary.json`: for dashboards and scripts, not for reading a run back.
//!
//! Times are whole microseconds, ratios and shares have at most six decimals, and a percentile that the samples
//! cannot name is absent with the needed count beside it. Histograms are lists of bucket and count, so that
//! files of several runs add without loss. Times of different machines never stand in one figure: a run that was merged
//! from several has one entry for each event and machine, and a floor for each machine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::comparison_file::ComparisonFile;
use super::wire::{WireGate, WireVerdict};
use crate::exit_code::ExitCode;
use crate::latency::{CONFIDENCE, Contention, Distribution, Quantile, needed};
use crate::quality::{KEPT, MIN_GRADE};
use crate::run_event::Verdict;
use crate::summary::{Budget, BudgetMeasure, Clock, ScenarioState, StepSummary, Summary, Timing, mean_over_steps};
use crate::versioned::{self, six};

/// Name of the format.
const FORMAT: &str = "hookbench-summary";
/// Major version. History: 1, the first.
const MAJOR: u32 = 1;
/// Minor version. History: 1.0, the first; 1.1, comparisons and several machines.
const MINOR: u32 = 1;

/// The whole file.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct SummaryFile {
    /// Always `hookbench-summary`.
    format: String,
    major: u32,
    minor: u32,
    /// Answer to the whole run.
    verdict: WireVerdict,
    /// Exit code of the run without `--strict`.
    exit_code: u8,
    /// False for an interrupted run.
    complete: bool,
    run: Option<RunFile>,
    contention: ContentionFile,
    n_calls: u64,
    scenarios: Vec<ScenarioFile>,
    /// Empty when the run was merged from several machines; each has its own then.
    floor: FloorFile,
    /// Since 1.1; absent for a run of one machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    machines: Vec<MachineFile>,
    /// One entry an event; one an event and machine when there are several.
    events: Vec<EventFile>,
    retrieval: Vec<RetrievalFile>,
    gates: Vec<WireGate>,
    /// Since 1.1; absent when one hook ran alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    comparison: Option<ComparisonFile>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct RunFile {
    hookbench_version: String,
    hook_command: String,
    host_version: String,
    repeat: u32,
    seed: u64,
    machine: String,
}

/// Whether the machine was steady.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum ContentionFile {
    Quiet,
    Contended,
    Unknown,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum StateFile {
    Pass,
    Fail,
    Incomplete,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct ScenarioFile {
    name: String,
    state: StateFile,
    n_rounds: u32,
    steps: Vec<StepFile>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct StepFile {
    name: String,
    host_event: String,
    tags: Vec<String>,
    n_calls: u64,
    passed: bool,
    flaky: bool,
    findings: Vec<FindingFile>,
    /// Largest delivered text in UTF-16 code units.
    max_injected_utf16: u64,
    /// Largest delivered text in bytes.
    max_injected_bytes: u64,
    wall: LatencyFile,
    exit: LatencyFile,
    cpu: LatencyFile,
    wall_ratio_to_floor: Option<f64>,
    cpu_ratio_to_floor: Option<f64>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct FindingFile {
    kind: String,
    n_calls: u32,
    first_round: u32,
    message: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct FloorFile {
    wall: LatencyFile,
    cpu: LatencyFile,
}

/// One machine of several.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct MachineFile {
    /// Its fingerprint.
    machine: String,
    contention: ContentionFile,
    floor: FloorFile,
    /// What ran on it.
    scenarios: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct EventFile {
    name: String,
    /// Since 1.1; absent when all ran on one machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    machine: Option<String>,
    n_calls: u64,
    wall: LatencyFile,
    exit: LatencyFile,
    cpu: LatencyFile,
    /// Median over calls of wall by the no-op's wall of the same round.
    wall_ratio_to_floor: Option<f64>,
    /// Median over calls of CPU by the no-op's CPU of the same round.
    cpu_ratio_to_floor: Option<f64>,
    /// Calls whose CPU figure may be too low.
    n_cpu_partial: u64,
    peak_memory_bytes: Option<u64>,
    /// Size of the launcher: a peak no larger than this says only "at most".
    memory_floor_bytes: Option<u64>,
    wall_histogram: Vec<BucketFile>,
    exit_histogram: Vec<BucketFile>,
    cpu_histogram: Vec<BucketFile>,
    injected: InjectedFile,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct BucketFile {
    /// Highest value of the bucket.
    up_to_us: u64,
    count: u64,
}

/// A percentile is absent when `count` is below the number needed for it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct LatencyFile {
    count: u64,
    min_us: Option<u64>,
    p50_us: Option<u64>,
    p90_us: Option<u64>,
    p95_us: Option<u64>,
    p99_us: Option<u64>,
    max_us: Option<u64>,
    /// The smallest count that would name the next percentile; absent when all are named.
    next_percentile_needs: Option<u64>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct InjectedFile {
    max_utf16: u64,
    max_bytes: u64,
    /// One token for every four bytes begun.
    max_tokens_est: u64,
    /// Largest total of one round.
    round_sum_utf16: u64,
    /// Largest total of one round.
    round_sum_bytes: u64,
    n_truncated: u64,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct RetrievalFile {
    /// Name as in gates, such as `recall@5`.
    measure: String,
    mean: f64,
    n_steps: u64,
}

/// JSON Schema of `summary.json`.
pub fn summary_schema() -> schemars::Schema {
    schemars::schema_for!(SummaryFile)
}

impl SummaryFile {
    /// The file of a summary.
    pub fn of(summary: &Summary) -> SummaryFile {
        let exit_code = ExitCode::from(summary);
        let machines = summary.machines();
        SummaryFile {
            format: FORMAT.to_owned(),
            major: MAJOR,
            minor: MINOR,
            verdict: exit_code.verdict(summary).into(),
            exit_code: exit_code.code(),
            complete: summary.complete(),
            run: summary.header().map(|header| RunFile {
                hookbench_version: header.hookbench_version.clone(),
                hook_command: header.hook_command.clone(),
                host_version: header.host_version.clone(),
                repeat: header.repeat,
                seed: header.seed,
                machine: header.machine.clone(),
            }),
            contention: summary.contention().into(),
            n_calls: summary.n_calls() as u64,
            scenarios: summary
                .scenarios()
                .iter()
                .map(|scenario| ScenarioFile {
                    name: scenario.name.to_owned(),
                    state: match scenario.state {
                        ScenarioState::Pass => StateFile::Pass,
                        ScenarioState::Fail => StateFile::Fail,
                        ScenarioState::Incomplete => StateFile::Incomplete,
                    },
                    n_rounds: scenario.n_rounds,
                    steps: scenario.steps.iter().map(|step| step_file(step, summary)).collect(),
                })
                .collect(),
            floor: floor_file(summary, |_| machines.len() < 2),
            machines: machines.iter().filter(|_| machines.len() > 1).map(|one| machine_file(one, summary)).collect(),
            events: summary
                .events()
                .into_iter()
                .flat_map(|event| {
                    let own = summary.machines_of(summary.steps_of_event(event));
                    own.into_iter().map(move |machine| (event, machine))
                })
                .map(|(event, machine)| event_file(event, machine, machines.len() > 1, summary))
                .collect(),
            retrieval: KEPT
                .into_iter()
                .filter_map(|measure| {
                    let mean = mean_over_steps(summary.steps(), measure, MIN_GRADE)?;
                    Some(RetrievalFile { measure: measure.to_string(), mean: six(mean.mean), n_steps: mean.n })
                })
                .collect(),
            gates: summary.gates().iter().map(WireGate::of).collect(),
            comparison: ComparisonFile::of(summary),
        }
    }

    /// Reads a file's text.
    ///
    /// # Errors
    /// A sentence that says what is wrong and what to do.
    pub fn parse(text: &str) -> Result<SummaryFile, String> {
        versioned::parse(text, "a summary of a run", FORMAT, MAJOR)
    }

    /// The text of the file, with a newline at its end.
    pub fn to_text(&self) -> String {
        versioned::to_text(self)
    }

    /// The answer to the whole run.
    pub fn verdict(&self) -> Verdict {
        match self.verdict {
            WireVerdict::Pass => Verdict::Pass,
            WireVerdict::Fail => Verdict::Fail,
            WireVerdict::Inconclusive => Verdict::Inconclusive,
            WireVerdict::Skipped => Verdict::Skipped,
        }
    }
}

fn step_file(step: &StepSummary, summary: &Summary) -> StepFile {
    let timing = Timing::of([step], summary.floors());
    StepFile {
        name: step.step.clone(),
        host_event: step.event.clone(),
        tags: step.tags.clone(),
        n_calls: step.calls().len() as u64,
        passed: step.passed(),
        flaky: step.flaky(),
        findings: step
            .findings()
            .iter()
            .map(|(kind, tally)| FindingFile {
                kind: kind.name().to_owned(),
                n_calls: tally.n_calls,
                first_round: tally.first_round,
                message: tally.message.clone(),
            })
            .collect(),
        max_injected_utf16: Budget::of([step], BudgetMeasure::Utf16).max().unwrap_or(0),
        max_injected_bytes: Budget::of([step], BudgetMeasure::Bytes).max().unwrap_or(0),
        wall: latency_file(&timing.wall),
        exit: latency_file(&timing.exit),
        cpu: latency_file(&timing.cpu),
        wall_ratio_to_floor: timing.median_ratio(Clock::Wall).map(six),
        cpu_ratio_to_floor: timing.median_ratio(Clock::Cpu).map(six),
    }
}

impl From<Contention> for ContentionFile {
    fn from(contention: Contention) -> ContentionFile {
        match contention {
            Contention::Quiet => ContentionFile::Quiet,
            Contention::Contended { .. } => ContentionFile::Contended,
            Contention::Unknown { .. } => ContentionFile::Unknown,
        }
    }
}

fn floor_file(summary: &Summary, wanted: impl Fn(&str) -> bool) -> FloorFile {
    let (wall, cpu) = summary.floors().of_scenarios(wanted);
    FloorFile { wall: latency_file(&wall), cpu: latency_file(&cpu) }
}

fn machine_file(machine: &str, summary: &Summary) -> MachineFile {
    let own = |scenario: &str| summary.machine_of(scenario) == machine;
    MachineFile {
        machine: machine.to_owned(),
        contention: summary.contention_on(&[machine]).into(),
        floor: floor_file(summary, own),
        scenarios: summary
            .scenarios()
            .iter()
            .filter(|scenario| own(scenario.name))
            .map(|scenario| scenario.name.to_owned())
            .collect(),
    }
}

/// The figures of an event on one machine, which is named when it is one of several.
fn event_file(event: &str, machine: &str, named: bool, summary: &Summary) -> EventFile {
    let steps = || summary.steps_of_event(event).filter(|step| summary.machine_of(&step.scenario) == machine);
    let timing = Timing::of(steps(), summary.floors());
    let budget = |measure| Budget::of(steps(), measure);
    let (utf16, bytes) = (budget(BudgetMeasure::Utf16), budget(BudgetMeasure::Bytes));
    let calls = || steps().flat_map(StepSummary::calls);
    EventFile {
        name: event.to_owned(),
        machine: named.then(|| machine.to_owned()),
        n_calls: calls().count() as u64,
        wall: latency_file(&timing.wall),
        exit: latency_file(&timing.exit),
        cpu: latency_file(&timing.cpu),
        wall_ratio_to_floor: timing.median_ratio(Clock::Wall).map(six),
        cpu_ratio_to_floor: timing.median_ratio(Clock::Cpu).map(six),
        n_cpu_partial: timing.n_cpu_partial,
        peak_memory_bytes: timing.peak_memory_bytes,
        memory_floor_bytes: timing.memory_floor_bytes,
        wall_histogram: buckets(&timing.wall),
        exit_histogram: buckets(&timing.exit),
        cpu_histogram: buckets(&timing.cpu),
        injected: InjectedFile {
            max_utf16: utf16.max().unwrap_or(0),
            max_bytes: bytes.max().unwrap_or(0),
            max_tokens_est: budget(BudgetMeasure::TokensEst).max().unwrap_or(0),
            round_sum_utf16: utf16.round_sum,
            round_sum_bytes: bytes.round_sum,
            n_truncated: calls().filter(|call| call.truncated).count() as u64,
        },
    }
}

fn buckets(distribution: &Distribution) -> Vec<BucketFile> {
    distribution.buckets().map(|(up_to_us, count)| BucketFile { up_to_us, count }).collect()
}

pub(super) fn latency_file(distribution: &Distribution) -> LatencyFile {
    let us = |time: std::time::Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    let percentile = |quantile| distribution.percentile(quantile).value().map(us);
    let all = [Quantile::P50, Quantile::P90, Quantile::P95, Quantile::P99];
    LatencyFile {
        count: distribution.count(),
        min_us: distribution.min().map(us),
        p50_us: percentile(Quantile::P50),
        p90_us: percentile(Quantile::P90),
        p95_us: percentile(Quantile::P95),
        p99_us: percentile(Quantile::P99),
        max_us: distribution.max().map(us),
        next_percentile_needs: all
            .into_iter()
            .map(|quantile| needed(quantile, CONFIDENCE))
            .find(|need| distribution.count() < *need),
    }
}
