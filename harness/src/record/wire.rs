//! The lines of `events.jsonl` as they stand on disk. Their translation from and to run events is in a file of
//! its own.
//!
//! The first line is a header with the format's name and version; every other line is one event. Keys carry
//! their unit. Readers ignore unknown keys, and skip unknown events of a newer minor version; a newer major
//! version is refused.

mod translate;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name of the format, in the first line of every file.
pub const FORMAT: &str = "hookbench-run";
/// Major version. History: 1, the first.
pub const MAJOR: u32 = 1;
/// Minor version: grows when keys, events or finding kinds are added. History: 1.0, the first; 1.1, arms, confirmation,
/// instructions, schedules, shards, merged runs and several hooks on one event; 1.2, the ending and the finding of a lost
/// launcher, and the finding `golden-unreferenced`.
pub const MINOR: u32 = 2;

/// First line of the file.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct WireHeader {
    /// Always `hookbench-run`.
    pub(super) format: String,
    /// Readers refuse a greater one than they know.
    pub(super) major: u32,
    /// Readers tolerate a greater one.
    pub(super) minor: u32,
}

/// The name of an event, read before the rest of its line.
#[derive(Debug, Deserialize)]
pub(super) struct WireName {
    pub(super) event: String,
}

/// Any line but the first.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", content = "data", rename_all = "kebab-case")]
pub(super) enum WireEvent {
    RunStarted(WireRun),
    ScenarioStarted(WireRound),
    FloorMeasured(WireFloor),
    StepFinished(Box<WireStep>),
    ScenarioFinished(WireRound),
    ConfirmStarted(WireConfirm),
    InstructionsCounted(WireInstructions),
    SourceMerged(WireSource),
    GateJudged(WireGate),
    RunFinished(WireEnd),
}

impl WireEvent {
    /// Names of the events that this version knows.
    pub(super) const NAMES: [&str; 10] = [
        "run-started",
        "scenario-started",
        "floor-measured",
        "step-finished",
        "scenario-finished",
        "confirm-started",
        "instructions-counted",
        "source-merged",
        "gate-judged",
        "run-finished",
    ];
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct WireRun {
    hookbench_version: String,
    hook_command: String,
    host_version: String,
    repeat: u32,
    seed: u64,
    scenarios: Vec<String>,
    machine: String,
    /// Since 1.1; absent when one hook ran alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    baseline_command: Option<String>,
    /// Since 1.1. Rounds below this number are cold.
    #[serde(default)]
    n_cold_rounds: u32,
    /// Since 1.1; `recorded` or `rate=N`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pace: Option<String>,
    /// Since 1.1; absent for a whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shard: Option<WireShard>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct WireShard {
    /// From 1.
    index: u32,
    total: u32,
    /// All scenarios of the whole run, in plan order.
    whole: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct WireSource {
    /// Fingerprint of the machine that the scenarios ran on.
    machine: String,
    scenarios: Vec<String>,
    /// From 1; absent for a run that was no shard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shard: Option<u32>,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum WireArm {
    #[default]
    Candidate,
    Baseline,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct WireConfirm {
    /// First round of the confirmation.
    round: u32,
    seed: u64,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct WireInstructions {
    scenario: String,
    step: String,
    arm: WireArm,
    instructions: u64,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct WirePart {
    hook: String,
    wall_us: u64,
    cpu_us: u64,
    injected_utf16: u64,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct WireRound {
    scenario: String,
    /// Repetition, from 0.
    round: u32,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct WireFloor {
    scenario: String,
    round: u32,
    wall_us: u64,
    cpu_us: u64,
}

/// Empty today; an object so that keys can be added.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct WireEnd {}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct WireStep {
    scenario: String,
    step: String,
    index: u32,
    round: u32,
    /// Since 1.1.
    #[serde(default)]
    arm: WireArm,
    host_event: String,
    tags: Vec<String>,
    observation: WireObservation,
    /// Since 1.1; absent for a single hook.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    parts: Vec<WirePart>,
    /// Since 1.1; absent without a schedule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    late_us: Option<u64>,
    delivered: String,
    injected_utf16: u64,
    injected_bytes: u64,
    decision: String,
    truncated: bool,
    retrieved: Option<WireRetrieved>,
    findings: Vec<WireFinding>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct WireObservation {
    ending: WireEnding,
    /// Spawn to end of output.
    wall_us: u64,
    /// Spawn to exit of the hook's own process.
    exit_us: u64,
    first_byte_us: Option<u64>,
    cpu_us: u64,
    cpu_partial: bool,
    peak_memory_bytes: Option<u64>,
    /// Size of the launcher that measured the peak; absent when the peak was not measured.
    memory_floor_bytes: Option<u64>,
    stdin_closed_early: bool,
    stream_held_open: bool,
    orphans: Vec<WireOrphan>,
    stdout: WireBytes,
    /// Bytes of stdout that are not in this file, whether the run or the file left them out.
    stdout_dropped_bytes: u64,
    stderr: WireBytes,
    /// Bytes of stderr that are not in this file, whether the run or the file left them out.
    stderr_dropped_bytes: u64,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum WireEnding {
    Exited {
        code: i32,
    },
    Signalled {
        signal: i32,
    },
    TimedOut,
    NotFound,
    NotPermitted,
    NotStarted {
        errno: i32,
    },
    /// Since 1.2.
    LauncherLost,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct WireOrphan {
    pid: i32,
    name: String,
}

/// Captured output: text when it is UTF-8, else two hexadecimal digits a byte.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum WireBytes {
    Text(String),
    Hex(String),
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct WireRetrieved {
    ranked: Vec<String>,
    relevant: Vec<WireLabel>,
    relevant_bytes: u64,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct WireLabel {
    id: String,
    grade: u8,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct WireFinding {
    /// A name of `FindingKind`, such as `timeout`.
    kind: String,
    message: String,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum WireVerdict {
    Pass,
    Fail,
    Inconclusive,
    Skipped,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum WireSeverity {
    Fail,
    Warn,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum WireOnInconclusive {
    Pass,
    Warn,
    Fail,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct WireGate {
    name: String,
    expression: String,
    verdict: WireVerdict,
    severity: WireSeverity,
    on_inconclusive: WireOnInconclusive,
    /// In `unit`; absent when nothing could be measured.
    estimate: Option<f64>,
    /// Unit of the figures; empty for counts and shares.
    unit: String,
    interval: Option<WireInterval>,
    n: u64,
    reason: String,
    remedy: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct WireInterval {
    low: f64,
    high: f64,
}

/// JSON Schema of the lines of `events.jsonl`: the header line, or an event line.
pub fn events_schema() -> schemars::Schema {
    #[derive(JsonSchema)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "names the two kinds of lines for the schema; nothing is read through it")]
    enum Line {
        Header(WireHeader),
        Event(WireEvent),
    }
    let mut schema = schemars::schema_for!(Line);
    schema.insert("title".to_owned(), format!("One line of a {FORMAT} {MAJOR}.{MINOR} events file").into());
    schema
}
