//! What happens in a run, as a stream: the replay loop emits these and nothing else.
//!
//! Terminal, JUnit, Markdown and the saved run are all consumers of the same stream, so a saved run that is
//! read back gives the reports of the live one. No consumer can influence the run.

use std::time::Duration;

use crate::observation::Observation;

/// One thing that happened in a run.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "events are handed on one at a time, never kept in bulk")]
pub enum RunEvent {
    /// First event of every run.
    RunStarted(RunHeader),
    /// A scenario's sandbox is ready for one repetition.
    ScenarioStarted {
        /// Name of the scenario (its folder).
        scenario: String,
        /// Repetition, from 0.
        round: u32,
    },
    /// A no-op child was measured beside the hook: the floor of this scenario's round.
    FloorMeasured {
        /// Name of the scenario: with parallel jobs the rounds of two scenarios are not the same moment, so a
        /// floor only pairs with the calls of its own scenario.
        scenario: String,
        /// Repetition, from 0.
        round: u32,
        /// From before the spawn to end of output.
        wall: Duration,
        /// CPU of the no-op.
        cpu: Duration,
    },
    /// One payload was delivered to the hook and judged.
    StepFinished(StepResult),
    /// All steps of a scenario's repetition are done.
    ScenarioFinished {
        /// Name of the scenario.
        scenario: String,
        /// Repetition, from 0.
        round: u32,
    },
    /// Fresh rounds begin, because a gate failed: a fail counts only when they fail too.
    ConfirmStarted {
        /// First round of the confirmation; all later rounds belong to it or to a later one.
        round: u32,
        /// Seed of its random order.
        seed: u64,
    },
    /// The instructions of one call were counted, apart from all timing.
    InstructionsCounted {
        /// Name of the scenario.
        scenario: String,
        /// Name of the step.
        step: String,
        /// Whose instructions.
        arm: Arm,
        /// Instructions of the process and its children, in user code only.
        instructions: u64,
    },
    /// What follows comes from this saved run; only in merged runs.
    SourceMerged(Source),
    /// A gate was judged.
    GateJudged(GateResult),
    /// Last event of a complete run; a run without it was interrupted.
    RunFinished,
}

/// What was run, where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunHeader {
    /// Version of hookbench.
    pub hookbench_version: String,
    /// The hook's command line, as given.
    pub hook_command: String,
    /// Version of the modelled client, such as `2.1.332`.
    pub host_version: String,
    /// Repetitions asked for; 0 when the run itself found out how many it needed.
    pub repeat: u32,
    /// Seed of the random order.
    pub seed: u64,
    /// Names of the scenarios, in plan order.
    pub scenarios: Vec<String>,
    /// Machine fingerprint: processor model, number of cores, kernel.
    pub machine: String,
    /// The hook that this one is compared with, as given; absent when one hook runs alone.
    pub baseline_command: Option<String>,
    /// Rounds at the start that warm the machine up: shown apart, part of no other figure.
    pub n_cold_rounds: u32,
    /// Schedule of an open-loop run, as given: `recorded` or `rate=N`; absent when each call waits for the last.
    pub pace: Option<String>,
    /// Which part of a larger run this is.
    pub shard: Option<Shard>,
}

/// One of the parts that a run was cut into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shard {
    /// Its number, from 1.
    pub index: u32,
    /// Number of parts.
    pub total: u32,
    /// Names of all scenarios of the whole run, in plan order: the parts must agree on it, and know what is missing.
    pub whole: Vec<String>,
}

/// A saved run that was merged into a larger one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Machine fingerprint of that run: times of its scenarios belong to this machine.
    pub machine: String,
    /// Names of its scenarios, in plan order.
    pub scenarios: Vec<String>,
    /// Its number among the parts, from 1; absent for a run that was no part.
    pub shard: Option<u32>,
}

/// Which of the two things compared a call belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Arm {
    /// The hook under test.
    #[default]
    Candidate,
    /// What it is compared with.
    Baseline,
}

impl Arm {
    /// Its name in reports and saved runs.
    pub fn name(self) -> &'static str {
        match self {
            Arm::Candidate => "candidate",
            Arm::Baseline => "baseline",
        }
    }
}

/// One hook's share of a step that several hooks answered side by side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The hook's command line.
    pub hook: String,
    /// From before the spawn to end of output.
    pub wall: Duration,
    /// Its CPU.
    pub cpu: Duration,
    /// Its delivered text in UTF-16 code units.
    pub injected_utf16: u64,
}

/// Result of one step in one round.
#[derive(Debug, Clone)]
pub struct StepResult {
    /// Name of the scenario.
    pub scenario: String,
    /// Name of the step.
    pub step: String,
    /// Position of the step in the scenario, from 0.
    pub index: u32,
    /// Repetition, from 0.
    pub round: u32,
    /// Which of the two hooks was called.
    pub arm: Arm,
    /// Event name of the payload.
    pub event: String,
    /// Tags of the step, for the selectors of gates.
    pub tags: Vec<String>,
    /// What the process did. For several hooks side by side: the slowest one's times, the sum of CPU, the largest peak.
    pub observation: Observation,
    /// Each hook's share, when several answered side by side; else empty.
    pub parts: Vec<Part>,
    /// How far behind its schedule the call began; absent when there was no schedule. Response time is this plus wall.
    pub late: Option<Duration>,
    /// Text that would reach the model, after the host's rules, with host paths and volatile parts scrubbed.
    pub delivered: String,
    /// Length of the delivered text in UTF-16 code units (the host's measure).
    pub injected_utf16: u64,
    /// Length of the delivered text in bytes.
    pub injected_bytes: u64,
    /// The host's decision: `none`, `block`, `allow`, `deny`, `ask`, `stop` …
    pub decision: String,
    /// Delivered text was cut or replaced by a preview.
    pub truncated: bool,
    /// Ranked ids found in the delivered text, when the step has relevance labels.
    pub retrieved: Option<Retrieved>,
    /// Everything that was wrong; empty means the step passed.
    pub findings: Vec<Finding>,
}

/// Ranked ids with their labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retrieved {
    /// Ids in the order of the delivered text.
    pub ranked: Vec<String>,
    /// Relevant ids with grade (1 to 3); empty for a step that should inject nothing.
    pub relevant: Vec<(String, u8)>,
    /// Bytes of the delivered text that belong to relevant items.
    pub relevant_bytes: u64,
}

/// One thing that was wrong with a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Its kind: a stable word for filters and counts.
    pub kind: FindingKind,
    /// One sentence for a person: what was expected, what was seen, what to do.
    pub message: String,
}

/// Stable names of what can be wrong with a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingKind {
    /// The hook reached its timeout.
    Timeout,
    /// The hook was ended by a signal.
    Crash,
    /// The hook could not be started.
    NotStarted,
    /// The hook ended or stopped the process that launched it.
    LostLauncher,
    /// Exit code differs from the expected one.
    ExitCode,
    /// The host would have taken another decision than expected.
    Decision,
    /// The host rejected the output, or a part of it has no effect: invalid JSON, wrong shape, wrong place.
    InvalidOutput,
    /// The output names another event than the payload.
    WrongEventName,
    /// Delivered text was over the host's cap and replaced by a preview.
    OverCap,
    /// Output flooded past the capture limit.
    Flood,
    /// A descendant held an output stream open after the hook's end.
    StreamHeldOpen,
    /// A descendant outlived the hook.
    Orphan,
    /// The hook closed stdin early and the scenario forbids it.
    StdinClosedEarly,
    /// Delivered text differs from its golden.
    GoldenChanged,
    /// There is no golden for this step yet.
    GoldenMissing,
    /// A golden lies in the scenario that no step compares itself with.
    GoldenUnreferenced,
    /// A required piece of text is absent.
    ContainsMissing,
    /// A forbidden piece of text is present.
    NotMatchesFound,
    /// Text was delivered where none may be.
    NotEmpty,
    /// Nothing was delivered where something must be.
    Empty,
    /// Over the step's UTF-16, byte or token budget.
    OverBudget,
    /// A state check's command failed or printed something else.
    StateCheck,
    /// The same payload gave different text in another round.
    NotDeterministic,
    /// A write in the project tree.
    TreeWritten,
}

impl FindingKind {
    /// All kinds, in report order.
    pub const ALL: [FindingKind; 24] = [
        FindingKind::Timeout,
        FindingKind::Crash,
        FindingKind::NotStarted,
        FindingKind::LostLauncher,
        FindingKind::ExitCode,
        FindingKind::Decision,
        FindingKind::InvalidOutput,
        FindingKind::WrongEventName,
        FindingKind::OverCap,
        FindingKind::Flood,
        FindingKind::StreamHeldOpen,
        FindingKind::Orphan,
        FindingKind::StdinClosedEarly,
        FindingKind::GoldenChanged,
        FindingKind::GoldenMissing,
        FindingKind::GoldenUnreferenced,
        FindingKind::ContainsMissing,
        FindingKind::NotMatchesFound,
        FindingKind::NotEmpty,
        FindingKind::Empty,
        FindingKind::OverBudget,
        FindingKind::StateCheck,
        FindingKind::NotDeterministic,
        FindingKind::TreeWritten,
    ];

    /// The stable name in reports and saved runs.
    pub fn name(self) -> &'static str {
        match self {
            FindingKind::Timeout => "timeout",
            FindingKind::Crash => "crash",
            FindingKind::NotStarted => "not-started",
            FindingKind::LostLauncher => "lost-launcher",
            FindingKind::ExitCode => "exit-code",
            FindingKind::Decision => "decision",
            FindingKind::InvalidOutput => "invalid-output",
            FindingKind::WrongEventName => "wrong-event-name",
            FindingKind::OverCap => "over-cap",
            FindingKind::Flood => "flood",
            FindingKind::StreamHeldOpen => "stream-held-open",
            FindingKind::Orphan => "orphan",
            FindingKind::StdinClosedEarly => "stdin-closed-early",
            FindingKind::GoldenChanged => "golden-changed",
            FindingKind::GoldenMissing => "golden-missing",
            FindingKind::GoldenUnreferenced => "golden-unreferenced",
            FindingKind::ContainsMissing => "contains-missing",
            FindingKind::NotMatchesFound => "not-matches-found",
            FindingKind::NotEmpty => "not-empty",
            FindingKind::Empty => "empty",
            FindingKind::OverBudget => "over-budget",
            FindingKind::StateCheck => "state-check",
            FindingKind::NotDeterministic => "not-deterministic",
            FindingKind::TreeWritten => "tree-written",
        }
    }

    /// The kind with this name, if there is one.
    pub fn parse(name: &str) -> Option<FindingKind> {
        FindingKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// The answer to a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The bound holds.
    Pass,
    /// The bound is broken.
    Fail,
    /// There is not enough evidence to say.
    Inconclusive,
    /// The gate has nothing to judge in this run.
    Skipped,
}

/// What a broken bound does to the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Severity {
    /// The run fails.
    #[default]
    Fail,
    /// The run only warns.
    Warn,
}

/// What too little evidence does to the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnInconclusive {
    /// As good as a pass.
    Pass,
    /// A warning; fails the run under `--strict`.
    #[default]
    Warn,
    /// As bad as a fail.
    Fail,
}

/// A gate with its answer and the reason.
#[derive(Debug, Clone, PartialEq)]
pub struct GateResult {
    /// Name of the gate in its file.
    pub name: String,
    /// The gate as written.
    pub expression: String,
    /// The answer.
    pub verdict: Verdict,
    /// What a fail means for the run.
    pub severity: Severity,
    /// What an inconclusive answer means for the run.
    pub on_inconclusive: OnInconclusive,
    /// The figure that was judged, in the bound's unit; absent when nothing could be measured.
    pub estimate: Option<f64>,
    /// Unit of the figures: `ms`, `x`, `MiB` …; empty for counts and shares.
    pub unit: String,
    /// Interval around the estimate, when the metric has one.
    pub interval: Option<(f64, f64)>,
    /// Samples behind the estimate.
    pub n: u64,
    /// One sentence: why this answer.
    pub reason: String,
    /// One sentence: what to do about it; empty for a pass.
    pub remedy: String,
}
