//! Translates run events to lines and back.
//!
//! Times are cut to whole microseconds, captured output to a limit; nothing else is lost.

use std::time::Duration;

use super::{
    WireArm, WireBytes, WireConfirm, WireEnd, WireEnding, WireEvent, WireFinding, WireFloor, WireGate,
    WireInstructions, WireInterval, WireLabel, WireObservation, WireOnInconclusive, WireOrphan, WirePart,
    WireRetrieved, WireRound, WireRun, WireSeverity, WireShard, WireSource, WireStep, WireVerdict,
};
use crate::observation::{Ending, MemorySource, Observation, Orphan, SpawnFault};
use crate::run_event::{
    Arm, Finding, FindingKind, GateResult, OnInconclusive, Part, Retrieved, RunEvent, RunHeader, Severity, Shard,
    Source, StepResult, Verdict,
};

impl WireBytes {
    /// At most `limit` bytes of a captured stream, and how many were left out.
    fn of(bytes: &[u8], limit: usize) -> (WireBytes, u64) {
        match std::str::from_utf8(bytes) {
            Ok(text) => {
                let fits = (0..=limit.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
                let kept = text.get(..fits.unwrap_or(0)).unwrap_or_default();
                (WireBytes::Text(kept.to_owned()), (bytes.len() - kept.len()) as u64)
            }
            Err(_) => {
                let kept = bytes.get(..limit).unwrap_or(bytes);
                let digits = kept.iter().fold(String::with_capacity(kept.len() * 2), |mut digits, byte| {
                    for half in [byte >> 4, byte & 15] {
                        digits.extend(char::from_digit(u32::from(half), 16));
                    }
                    digits
                });
                (WireBytes::Hex(digits), (bytes.len() - kept.len()) as u64)
            }
        }
    }

    fn into_bytes(self) -> Result<Vec<u8>, String> {
        match self {
            WireBytes::Text(text) => Ok(text.into_bytes()),
            WireBytes::Hex(digits) => digits
                .as_bytes()
                .chunks(2)
                .map(|pair| {
                    let half = |digit: &u8| char::from(*digit).to_digit(16).and_then(|half| u8::try_from(half).ok());
                    match pair {
                        [high, low] => Some(half(high)? << 4 | half(low)?),
                        _ => None,
                    }
                })
                .collect::<Option<Vec<u8>>>()
                .ok_or_else(|| "`hex` must be pairs of hexadecimal digits".to_owned()),
        }
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

impl WireObservation {
    fn of(seen: &Observation, limit: usize) -> WireObservation {
        let (stdout, stdout_cut) = WireBytes::of(&seen.stdout, limit);
        let (stderr, stderr_cut) = WireBytes::of(&seen.stderr, limit);
        WireObservation {
            ending: match seen.ending {
                Ending::Exited(code) => WireEnding::Exited { code },
                Ending::Signalled(signal) => WireEnding::Signalled { signal },
                Ending::TimedOut => WireEnding::TimedOut,
                Ending::NotStarted(SpawnFault::NotFound) => WireEnding::NotFound,
                Ending::NotStarted(SpawnFault::NotPermitted) => WireEnding::NotPermitted,
                Ending::NotStarted(SpawnFault::Other(errno)) => WireEnding::NotStarted { errno },
                Ending::LauncherLost => WireEnding::LauncherLost,
            },
            wall_us: micros(seen.eof_after),
            exit_us: micros(seen.exit_after),
            first_byte_us: seen.first_byte_after.map(micros),
            cpu_us: micros(seen.cpu),
            cpu_partial: seen.cpu_partial,
            peak_memory_bytes: seen.peak_memory_bytes,
            memory_floor_bytes: match seen.memory_source {
                MemorySource::Launcher { floor_bytes } => Some(floor_bytes),
                MemorySource::None => None,
            },
            stdin_closed_early: seen.stdin_closed_early,
            stream_held_open: seen.stream_held_open,
            orphans: seen
                .orphans
                .iter()
                .map(|orphan| WireOrphan { pid: orphan.pid, name: orphan.name.clone() })
                .collect(),
            stdout,
            stdout_dropped_bytes: seen.stdout_dropped_bytes.saturating_add(stdout_cut),
            stderr,
            stderr_dropped_bytes: seen.stderr_dropped_bytes.saturating_add(stderr_cut),
        }
    }

    fn into_domain(self) -> Result<Observation, String> {
        Ok(Observation {
            ending: match self.ending {
                WireEnding::Exited { code } => Ending::Exited(code),
                WireEnding::Signalled { signal } => Ending::Signalled(signal),
                WireEnding::TimedOut => Ending::TimedOut,
                WireEnding::NotFound => Ending::NotStarted(SpawnFault::NotFound),
                WireEnding::NotPermitted => Ending::NotStarted(SpawnFault::NotPermitted),
                WireEnding::NotStarted { errno } => Ending::NotStarted(SpawnFault::Other(errno)),
                WireEnding::LauncherLost => Ending::LauncherLost,
            },
            stdout: self.stdout.into_bytes()?,
            stderr: self.stderr.into_bytes()?,
            stdout_dropped_bytes: self.stdout_dropped_bytes,
            stderr_dropped_bytes: self.stderr_dropped_bytes,
            exit_after: Duration::from_micros(self.exit_us),
            eof_after: Duration::from_micros(self.wall_us),
            first_byte_after: self.first_byte_us.map(Duration::from_micros),
            cpu: Duration::from_micros(self.cpu_us),
            cpu_partial: self.cpu_partial,
            peak_memory_bytes: self.peak_memory_bytes,
            memory_source: match self.memory_floor_bytes {
                Some(floor_bytes) => MemorySource::Launcher { floor_bytes },
                None => MemorySource::None,
            },
            stdin_closed_early: self.stdin_closed_early,
            stream_held_open: self.stream_held_open,
            orphans: self.orphans.into_iter().map(|orphan| Orphan { pid: orphan.pid, name: orphan.name }).collect(),
        })
    }
}

impl WireStep {
    fn of(result: &StepResult, limit: usize) -> WireStep {
        WireStep {
            scenario: result.scenario.clone(),
            step: result.step.clone(),
            index: result.index,
            round: result.round,
            arm: result.arm.into(),
            host_event: result.event.clone(),
            tags: result.tags.clone(),
            observation: WireObservation::of(&result.observation, limit),
            parts: result
                .parts
                .iter()
                .map(|part| WirePart {
                    hook: part.hook.clone(),
                    wall_us: micros(part.wall),
                    cpu_us: micros(part.cpu),
                    injected_utf16: part.injected_utf16,
                })
                .collect(),
            late_us: result.late.map(micros),
            delivered: result.delivered.clone(),
            injected_utf16: result.injected_utf16,
            injected_bytes: result.injected_bytes,
            decision: result.decision.clone(),
            truncated: result.truncated,
            retrieved: result.retrieved.as_ref().map(|retrieved| WireRetrieved {
                ranked: retrieved.ranked.clone(),
                relevant: retrieved
                    .relevant
                    .iter()
                    .map(|(id, grade)| WireLabel { id: id.clone(), grade: *grade })
                    .collect(),
                relevant_bytes: retrieved.relevant_bytes,
            }),
            findings: result
                .findings
                .iter()
                .map(|finding| WireFinding { kind: finding.kind.name().to_owned(), message: finding.message.clone() })
                .collect(),
        }
    }

    fn into_domain(self) -> Result<StepResult, String> {
        let finding = |wire: WireFinding| match FindingKind::parse(&wire.kind) {
            Some(kind) => Ok(Finding { kind, message: wire.message }),
            None => Err(format!("unknown finding kind `{}`", wire.kind)),
        };
        Ok(StepResult {
            scenario: self.scenario,
            step: self.step,
            index: self.index,
            round: self.round,
            arm: self.arm.into(),
            event: self.host_event,
            tags: self.tags,
            observation: self.observation.into_domain()?,
            parts: self
                .parts
                .into_iter()
                .map(|part| Part {
                    hook: part.hook,
                    wall: Duration::from_micros(part.wall_us),
                    cpu: Duration::from_micros(part.cpu_us),
                    injected_utf16: part.injected_utf16,
                })
                .collect(),
            late: self.late_us.map(Duration::from_micros),
            delivered: self.delivered,
            injected_utf16: self.injected_utf16,
            injected_bytes: self.injected_bytes,
            decision: self.decision,
            truncated: self.truncated,
            retrieved: self.retrieved.map(|wire| Retrieved {
                ranked: wire.ranked,
                relevant: wire.relevant.into_iter().map(|label| (label.id, label.grade)).collect(),
                relevant_bytes: wire.relevant_bytes,
            }),
            findings: self.findings.into_iter().map(finding).collect::<Result<_, _>>()?,
        })
    }
}

impl From<Arm> for WireArm {
    fn from(arm: Arm) -> WireArm {
        match arm {
            Arm::Candidate => WireArm::Candidate,
            Arm::Baseline => WireArm::Baseline,
        }
    }
}

impl From<WireArm> for Arm {
    fn from(wire: WireArm) -> Arm {
        match wire {
            WireArm::Candidate => Arm::Candidate,
            WireArm::Baseline => Arm::Baseline,
        }
    }
}

impl From<Verdict> for WireVerdict {
    fn from(verdict: Verdict) -> WireVerdict {
        match verdict {
            Verdict::Pass => WireVerdict::Pass,
            Verdict::Fail => WireVerdict::Fail,
            Verdict::Inconclusive => WireVerdict::Inconclusive,
            Verdict::Skipped => WireVerdict::Skipped,
        }
    }
}

impl WireGate {
    pub(in crate::record) fn of(gate: &GateResult) -> WireGate {
        WireGate {
            name: gate.name.clone(),
            expression: gate.expression.clone(),
            verdict: gate.verdict.into(),
            severity: match gate.severity {
                Severity::Fail => WireSeverity::Fail,
                Severity::Warn => WireSeverity::Warn,
            },
            on_inconclusive: match gate.on_inconclusive {
                OnInconclusive::Pass => WireOnInconclusive::Pass,
                OnInconclusive::Warn => WireOnInconclusive::Warn,
                OnInconclusive::Fail => WireOnInconclusive::Fail,
            },
            estimate: gate.estimate,
            unit: gate.unit.clone(),
            interval: gate.interval.map(|(low, high)| WireInterval { low, high }),
            n: gate.n,
            reason: gate.reason.clone(),
            remedy: gate.remedy.clone(),
        }
    }

    fn into_domain(self) -> GateResult {
        GateResult {
            name: self.name,
            expression: self.expression,
            verdict: match self.verdict {
                WireVerdict::Pass => Verdict::Pass,
                WireVerdict::Fail => Verdict::Fail,
                WireVerdict::Inconclusive => Verdict::Inconclusive,
                WireVerdict::Skipped => Verdict::Skipped,
            },
            severity: match self.severity {
                WireSeverity::Fail => Severity::Fail,
                WireSeverity::Warn => Severity::Warn,
            },
            on_inconclusive: match self.on_inconclusive {
                WireOnInconclusive::Pass => OnInconclusive::Pass,
                WireOnInconclusive::Warn => OnInconclusive::Warn,
                WireOnInconclusive::Fail => OnInconclusive::Fail,
            },
            estimate: self.estimate,
            unit: self.unit,
            interval: self.interval.map(|interval| (interval.low, interval.high)),
            n: self.n,
            reason: self.reason,
            remedy: self.remedy,
        }
    }
}

impl WireEvent {
    /// The line for an event; `limit` bounds each captured stream in bytes.
    pub(in crate::record) fn of(event: &RunEvent, limit: usize) -> WireEvent {
        let round = |scenario: &str, round: u32| WireRound { scenario: scenario.to_owned(), round };
        match event {
            RunEvent::RunStarted(header) => WireEvent::RunStarted(WireRun {
                hookbench_version: header.hookbench_version.clone(),
                hook_command: header.hook_command.clone(),
                host_version: header.host_version.clone(),
                repeat: header.repeat,
                seed: header.seed,
                scenarios: header.scenarios.clone(),
                machine: header.machine.clone(),
                baseline_command: header.baseline_command.clone(),
                n_cold_rounds: header.n_cold_rounds,
                pace: header.pace.clone(),
                shard: header.shard.as_ref().map(|shard| WireShard {
                    index: shard.index,
                    total: shard.total,
                    whole: shard.whole.clone(),
                }),
            }),
            RunEvent::ScenarioStarted { scenario, round: n } => WireEvent::ScenarioStarted(round(scenario, *n)),
            RunEvent::ScenarioFinished { scenario, round: n } => WireEvent::ScenarioFinished(round(scenario, *n)),
            RunEvent::FloorMeasured { scenario, round, wall, cpu } => WireEvent::FloorMeasured(WireFloor {
                scenario: scenario.clone(),
                round: *round,
                wall_us: micros(*wall),
                cpu_us: micros(*cpu),
            }),
            RunEvent::StepFinished(result) => WireEvent::StepFinished(Box::new(WireStep::of(result, limit))),
            RunEvent::ConfirmStarted { round, seed } => {
                WireEvent::ConfirmStarted(WireConfirm { round: *round, seed: *seed })
            }
            RunEvent::InstructionsCounted { scenario, step, arm, instructions } => {
                WireEvent::InstructionsCounted(WireInstructions {
                    scenario: scenario.clone(),
                    step: step.clone(),
                    arm: (*arm).into(),
                    instructions: *instructions,
                })
            }
            RunEvent::SourceMerged(source) => WireEvent::SourceMerged(WireSource {
                machine: source.machine.clone(),
                scenarios: source.scenarios.clone(),
                shard: source.shard,
            }),
            RunEvent::GateJudged(gate) => WireEvent::GateJudged(WireGate::of(gate)),
            RunEvent::RunFinished => WireEvent::RunFinished(WireEnd {}),
        }
    }

    /// The event of a line, or what is wrong with its values.
    pub(in crate::record) fn into_domain(self) -> Result<RunEvent, String> {
        Ok(match self {
            WireEvent::RunStarted(wire) => RunEvent::RunStarted(RunHeader {
                hookbench_version: wire.hookbench_version,
                hook_command: wire.hook_command,
                host_version: wire.host_version,
                repeat: wire.repeat,
                seed: wire.seed,
                scenarios: wire.scenarios,
                machine: wire.machine,
                baseline_command: wire.baseline_command,
                n_cold_rounds: wire.n_cold_rounds,
                pace: wire.pace,
                shard: wire.shard.map(|shard| Shard { index: shard.index, total: shard.total, whole: shard.whole }),
            }),
            WireEvent::ScenarioStarted(wire) => {
                RunEvent::ScenarioStarted { scenario: wire.scenario, round: wire.round }
            }
            WireEvent::ScenarioFinished(wire) => {
                RunEvent::ScenarioFinished { scenario: wire.scenario, round: wire.round }
            }
            WireEvent::FloorMeasured(wire) => RunEvent::FloorMeasured {
                scenario: wire.scenario,
                round: wire.round,
                wall: Duration::from_micros(wire.wall_us),
                cpu: Duration::from_micros(wire.cpu_us),
            },
            WireEvent::StepFinished(wire) => RunEvent::StepFinished(wire.into_domain()?),
            WireEvent::ConfirmStarted(wire) => RunEvent::ConfirmStarted { round: wire.round, seed: wire.seed },
            WireEvent::InstructionsCounted(wire) => RunEvent::InstructionsCounted {
                scenario: wire.scenario,
                step: wire.step,
                arm: wire.arm.into(),
                instructions: wire.instructions,
            },
            WireEvent::SourceMerged(wire) => {
                RunEvent::SourceMerged(Source { machine: wire.machine, scenarios: wire.scenarios, shard: wire.shard })
            }
            WireEvent::GateJudged(wire) => RunEvent::GateJudged(wire.into_domain()),
            WireEvent::RunFinished(WireEnd {}) => RunEvent::RunFinished,
        })
    }
}
