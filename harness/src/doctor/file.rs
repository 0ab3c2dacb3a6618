//! What the doctor found, as JSON for scripts. Times are whole microseconds, ratios and shares have at most six decimals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Check, Evidence, Machine, overall, smallest_visible};
use crate::latency::{Contention, Distribution, Quantile};
use crate::run_event::Verdict;
use crate::versioned::{self, six};

/// Name of the format.
const FORMAT: &str = "hookbench-doctor";
/// Major version. History: 1, the first.
const MAJOR: u32 = 1;
/// Minor version. History: 1.0, the first.
const MINOR: u32 = 0;

/// The whole file.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct DoctorFile {
    /// Always `hookbench-doctor`.
    format: String,
    major: u32,
    minor: u32,
    machine: String,
    contention: ContentionFile,
    floor: FloorFile,
    launcher: LauncherFile,
    tools: Vec<ToolFile>,
    /// Absent unless it was asked for.
    self_test: Option<SelfTestFile>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum ContentionFile {
    Quiet,
    Contended,
    Unknown,
}

/// The no-op, called as hooks are called. A percentile is absent when there are too few calls for it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct FloorFile {
    n_calls: u64,
    wall_min_us: Option<u64>,
    wall_p50_us: Option<u64>,
    wall_p95_us: Option<u64>,
    cpu_p50_us: Option<u64>,
}

/// The no-op beside a bare spawn and wait of the same program.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct LauncherFile {
    bare_p50_us: Option<u64>,
    /// Median over pairs of launched by bare; 1 is no cost.
    wall_ratio: Option<f64>,
    wall_ratio_low: Option<f64>,
    wall_ratio_high: Option<f64>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct ToolFile {
    name: String,
    /// Absent when the program is missing.
    version: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct SelfTestFile {
    verdict: VerdictFile,
    checks: Vec<CheckFile>,
    n_trials_asked: u32,
    /// Comparisons that the end of the time cut off.
    n_trials_cut: u32,
    /// The hook against itself.
    trials: Vec<TrialFile>,
    /// The slowed hook against the hook.
    control: TrialFile,
    /// CPU that the slowed hook burns.
    burn_us: u64,
    /// Smallest share of slow-down that a comparison sees in the time allowed; absent without trials.
    smallest_visible: Option<f64>,
    /// Pairs that it would have.
    smallest_visible_n_pairs: Option<u64>,
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
struct CheckFile {
    name: String,
    verdict: VerdictFile,
    reason: String,
    remedy: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct TrialFile {
    /// The gate's answer.
    gate: VerdictFile,
    /// Pairs, those of a confirmation included.
    n_pairs: u64,
    /// Pairs of the first measurement, which the ratio is of.
    n_first: u64,
    /// Median over rounds of candidate by baseline.
    ratio: Option<f64>,
    ratio_low: Option<f64>,
    ratio_high: Option<f64>,
}

/// JSON Schema of the file.
pub fn doctor_schema() -> schemars::Schema {
    schemars::schema_for!(DoctorFile)
}

impl DoctorFile {
    /// The file of an examination.
    pub fn of(machine: &Machine, tested: Option<(&Evidence, &[Check])>) -> DoctorFile {
        let overhead = &machine.overhead;
        let us = |time: std::time::Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let at = |times: &Distribution, quantile| times.percentile(quantile).value().map(us);
        let interval = overhead.interval();
        DoctorFile {
            format: FORMAT.to_owned(),
            major: MAJOR,
            minor: MINOR,
            machine: machine.fingerprint.clone(),
            contention: match overhead.contention() {
                Contention::Quiet => ContentionFile::Quiet,
                Contention::Contended { .. } => ContentionFile::Contended,
                Contention::Unknown { .. } => ContentionFile::Unknown,
            },
            floor: FloorFile {
                n_calls: overhead.wall.count(),
                wall_min_us: overhead.wall.min().map(us),
                wall_p50_us: at(&overhead.wall, Quantile::P50),
                wall_p95_us: at(&overhead.wall, Quantile::P95),
                cpu_p50_us: at(&overhead.cpu, Quantile::P50),
            },
            launcher: LauncherFile {
                bare_p50_us: at(&overhead.bare, Quantile::P50),
                wall_ratio: interval.map(|seen| six(seen.estimate.exp())),
                wall_ratio_low: interval.map(|seen| six(seen.low.exp())),
                wall_ratio_high: interval.map(|seen| six(seen.high.exp())),
            },
            tools: machine
                .tools
                .iter()
                .map(|tool| ToolFile { name: tool.name.to_owned(), version: tool.version.clone() })
                .collect(),
            self_test: tested.map(|(evidence, checks)| self_test_file(evidence, checks)),
        }
    }

    /// Reads a file's text.
    ///
    /// # Errors
    /// A sentence that says what is wrong and what to do.
    pub fn parse(text: &str) -> Result<DoctorFile, String> {
        versioned::parse(text, "what a doctor prints", FORMAT, MAJOR)
    }

    /// The text of the file, with a newline at its end.
    pub fn to_text(&self) -> String {
        versioned::to_text(self)
    }
}

fn self_test_file(evidence: &Evidence, checks: &[Check]) -> SelfTestFile {
    let smallest = smallest_visible(evidence);
    SelfTestFile {
        verdict: overall(checks).into(),
        checks: checks
            .iter()
            .map(|check| CheckFile {
                name: check.name.to_owned(),
                verdict: check.verdict.into(),
                reason: check.reason.clone(),
                remedy: check.remedy.clone(),
            })
            .collect(),
        n_trials_asked: evidence.n_asked,
        n_trials_cut: evidence.n_cut,
        trials: evidence.trials.iter().map(trial_file).collect(),
        control: trial_file(&evidence.control.trial),
        burn_us: u64::try_from(evidence.control.burn.as_micros()).unwrap_or(u64::MAX),
        smallest_visible: smallest.map(|(share, _)| six(share)),
        smallest_visible_n_pairs: smallest.map(|(_, n)| n as u64),
    }
}

fn trial_file(trial: &super::Trial) -> TrialFile {
    let ratio = |log: f64| Some(six(log.exp())).filter(|ratio| ratio.is_finite());
    TrialFile {
        gate: trial.verdict.into(),
        n_pairs: trial.n_pairs as u64,
        n_first: trial.n_first as u64,
        ratio: trial.interval.and_then(|seen| ratio(seen.estimate)),
        ratio_low: trial.interval.and_then(|seen| ratio(seen.low)),
        ratio_high: trial.interval.and_then(|seen| ratio(seen.high)),
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

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
    use super::*;

    /// Must load for ever.
    const SAMPLE: &str = include_str!("../../samples/doctor-v1.json");

    #[test]
    fn the_committed_file_of_every_released_version_loads_and_fits_the_schema() {
        assert_eq!(DoctorFile::parse(SAMPLE).unwrap().to_text(), SAMPLE);
        let schema = jsonschema::validator_for(&doctor_schema().to_value()).unwrap();
        assert!(schema.is_valid(&serde_json::from_str(SAMPLE).unwrap()));
        assert!(!schema.is_valid(&serde_json::json!({"format": FORMAT})));
    }

    #[test]
    fn other_formats_and_newer_versions_are_refused() {
        assert!(DoctorFile::parse(&SAMPLE.replacen(FORMAT, "other", 1)).unwrap_err().contains("`other`"));
        assert!(DoctorFile::parse(&SAMPLE.replacen("\"major\": 1", "\"major\": 2", 1)).unwrap_err().contains("newer"));
        assert!(DoctorFile::parse("{").is_err());
    }
}
