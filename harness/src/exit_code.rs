//! The exit codes of hookbench: the only place where a result becomes a number.
//!
//! When several apply, the more urgent one wins: interrupted, internal, usage, nothing matched, behaviour, gate,
//! inconclusive, pass. A broken behaviour outranks a broken gate because figures of a hook that does the wrong
//! thing mean little.

use crate::run_event::{OnInconclusive, Severity, Verdict};
use crate::summary::{ScenarioState, Summary};

/// How a command ended, from the least to the most urgent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExitCode {
    /// 0: everything that was asked holds.
    Pass,
    /// 4: a gate had too little evidence and `--strict` was given.
    Inconclusive,
    /// 3: a gate failed.
    Gate,
    /// 1: a step had a finding, or a golden differed.
    Behaviour,
    /// 5: no scenario matched what was asked for.
    NothingMatched,
    /// 2: a mistake in a flag, a scenario or a configuration file.
    Usage,
    /// 70: a fault of hookbench itself.
    Internal,
    /// 130: the run was stopped before its end.
    Interrupted,
}

impl ExitCode {
    /// All codes, from the least to the most urgent.
    pub const ALL: [ExitCode; 8] = [
        ExitCode::Pass,
        ExitCode::Inconclusive,
        ExitCode::Gate,
        ExitCode::Behaviour,
        ExitCode::NothingMatched,
        ExitCode::Usage,
        ExitCode::Internal,
        ExitCode::Interrupted,
    ];

    /// The number that the process ends with.
    pub fn code(self) -> u8 {
        match self {
            ExitCode::Pass => 0,
            ExitCode::Behaviour => 1,
            ExitCode::Usage => 2,
            ExitCode::Gate => 3,
            ExitCode::Inconclusive => 4,
            ExitCode::NothingMatched => 5,
            ExitCode::Internal => 70,
            ExitCode::Interrupted => 130,
        }
    }

    /// One clause for people.
    pub fn meaning(self) -> &'static str {
        match self {
            ExitCode::Pass => "everything that was asked holds",
            ExitCode::Behaviour => "a step did something wrong",
            ExitCode::Usage => "a flag, scenario or configuration is wrong",
            ExitCode::Gate => "a gate failed",
            ExitCode::Inconclusive => "a gate had too little evidence, and --strict asks for it",
            ExitCode::NothingMatched => "no scenario matched",
            ExitCode::Internal => "hookbench itself failed",
            ExitCode::Interrupted => "the run was stopped before its end",
        }
    }

    /// The code of a run; `strict` makes inconclusive gates count.
    pub fn of(summary: &Summary, strict: bool) -> ExitCode {
        if !summary.complete() {
            return ExitCode::Interrupted;
        }
        let scenarios = summary.scenarios();
        if scenarios.is_empty() {
            // A part of a plan that has fewer scenarios than parts did all that it had to.
            let shard = summary.header().and_then(|header| header.shard.as_ref());
            let is_spare = shard.is_some_and(|shard| !shard.whole.is_empty());
            return if is_spare { ExitCode::Pass } else { ExitCode::NothingMatched };
        }
        // A scenario that a complete run did not finish was never judged, and unjudged is not green.
        if scenarios.iter().any(|scenario| scenario.state != ScenarioState::Pass) {
            return ExitCode::Behaviour;
        }
        ExitCode::of_gates(summary, strict)
    }

    /// The code of a run by its gates alone, whatever its steps did.
    pub fn of_gates(summary: &Summary, strict: bool) -> ExitCode {
        if !summary.complete() {
            return ExitCode::Interrupted;
        }
        let gates = || summary.gates().iter();
        let broken = gates().any(|gate| match gate.verdict {
            Verdict::Fail => gate.severity == Severity::Fail,
            Verdict::Inconclusive => gate.on_inconclusive == OnInconclusive::Fail,
            Verdict::Pass | Verdict::Skipped => false,
        });
        if broken {
            return ExitCode::Gate;
        }
        let unclear =
            gates().any(|gate| gate.verdict == Verdict::Inconclusive && gate.on_inconclusive == OnInconclusive::Warn);
        if strict && unclear { ExitCode::Inconclusive } else { ExitCode::Pass }
    }

    /// The answer to the whole run: a pass with an unclear gate is inconclusive, whatever the code says.
    pub fn verdict(self, summary: &Summary) -> Verdict {
        match self {
            ExitCode::NothingMatched => Verdict::Skipped,
            _ if summary.complete() && summary.scenarios().is_empty() => Verdict::Skipped,
            ExitCode::Pass | ExitCode::Inconclusive => {
                let unclear = summary
                    .gates()
                    .iter()
                    .any(|gate| gate.verdict == Verdict::Inconclusive && gate.on_inconclusive != OnInconclusive::Pass);
                if unclear { Verdict::Inconclusive } else { Verdict::Pass }
            }
            ExitCode::Interrupted => {
                let failed = summary.steps().iter().any(|step| !step.passed());
                if failed { Verdict::Fail } else { Verdict::Inconclusive }
            }
            ExitCode::Gate | ExitCode::Behaviour | ExitCode::Usage | ExitCode::Internal => Verdict::Fail,
        }
    }
}

impl From<&Summary> for ExitCode {
    fn from(summary: &Summary) -> ExitCode {
        ExitCode::of(summary, false)
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> std::process::ExitCode {
        std::process::ExitCode::from(code.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_event::{FindingKind, GateResult, RunEvent};
    use crate::summary::fixture::{finding, header, run, step};

    fn gate(verdict: Verdict, severity: Severity, on_inconclusive: OnInconclusive) -> RunEvent {
        RunEvent::GateJudged(GateResult {
            name: "g".to_owned(),
            expression: "leak.count == 0".to_owned(),
            verdict,
            severity,
            on_inconclusive,
            estimate: None,
            unit: String::new(),
            interval: None,
            n: 0,
            reason: String::new(),
            remedy: String::new(),
        })
    }

    /// A run with a passing or failing step and these gates: code, code under strict, verdict.
    fn judged(passes: bool, gates: impl IntoIterator<Item = RunEvent>) -> (ExitCode, ExitCode, Verdict) {
        let mut only = step("s", "x", 0, 0);
        if !passes {
            only.findings.push(finding(FindingKind::Empty, "nothing"));
        }
        let mut events = run(1, [only]);
        events.extend(gates);
        let summary = Summary::of(&events);
        let code = ExitCode::from(&summary);
        (code, ExitCode::of(&summary, true), code.verdict(&summary))
    }

    #[test]
    fn codes_are_those_of_the_design() {
        let codes = ExitCode::ALL.map(|code| (code.code(), code));
        assert_eq!(
            codes,
            [
                (0, ExitCode::Pass),
                (4, ExitCode::Inconclusive),
                (3, ExitCode::Gate),
                (1, ExitCode::Behaviour),
                (5, ExitCode::NothingMatched),
                (2, ExitCode::Usage),
                (70, ExitCode::Internal),
                (130, ExitCode::Interrupted),
            ]
        );
        assert!(ExitCode::ALL.is_sorted());
        assert!(ExitCode::ALL.iter().all(|code| !code.meaning().is_empty()));
    }

    #[test]
    fn a_run_without_findings_passes() {
        assert_eq!(judged(true, []), (ExitCode::Pass, ExitCode::Pass, Verdict::Pass));
        let skipped = gate(Verdict::Skipped, Severity::Fail, OnInconclusive::Fail);
        assert_eq!(judged(true, [skipped]), (ExitCode::Pass, ExitCode::Pass, Verdict::Pass));
    }

    #[test]
    fn a_finding_outranks_a_failed_gate() {
        let failed = gate(Verdict::Fail, Severity::Fail, OnInconclusive::Warn);
        assert_eq!(judged(false, [failed]), (ExitCode::Behaviour, ExitCode::Behaviour, Verdict::Fail));
    }

    #[test]
    fn a_failed_gate_counts_by_its_severity() {
        let fail = gate(Verdict::Fail, Severity::Fail, OnInconclusive::Warn);
        let warn = gate(Verdict::Fail, Severity::Warn, OnInconclusive::Warn);
        assert_eq!(judged(true, [warn.clone()]), (ExitCode::Pass, ExitCode::Pass, Verdict::Pass));
        assert_eq!(judged(true, [warn, fail]), (ExitCode::Gate, ExitCode::Gate, Verdict::Fail));
    }

    #[test]
    fn an_inconclusive_gate_counts_by_its_option() {
        let unclear = |on| [gate(Verdict::Inconclusive, Severity::Fail, on)];
        let (pass, inconclusive, gate) = (ExitCode::Pass, ExitCode::Inconclusive, ExitCode::Gate);
        assert_eq!(judged(true, unclear(OnInconclusive::Pass)), (pass, pass, Verdict::Pass));
        assert_eq!(judged(true, unclear(OnInconclusive::Warn)), (pass, inconclusive, Verdict::Inconclusive));
        assert_eq!(judged(true, unclear(OnInconclusive::Fail)), (gate, gate, Verdict::Fail));
    }

    #[test]
    fn a_run_without_its_last_event_was_interrupted() {
        let mut events = run(1, [step("s", "x", 0, 0)]);
        events.pop();
        let clean = Summary::of(&events);
        assert_eq!(ExitCode::from(&clean), ExitCode::Interrupted);
        assert_eq!(ExitCode::Interrupted.verdict(&clean), Verdict::Inconclusive);
        let mut bad = step("s", "y", 1, 0);
        bad.findings.push(finding(FindingKind::Empty, "nothing"));
        events.push(RunEvent::StepFinished(bad));
        let broken = Summary::of(&events);
        assert_eq!(ExitCode::from(&broken), ExitCode::Interrupted);
        assert_eq!(ExitCode::Interrupted.verdict(&broken), Verdict::Fail);
    }

    #[test]
    fn a_run_of_nothing_matched_nothing() {
        let summary = Summary::of(&[RunEvent::RunStarted(header(&[], 1)), RunEvent::RunFinished]);
        assert_eq!(ExitCode::from(&summary), ExitCode::NothingMatched);
        assert_eq!(ExitCode::NothingMatched.verdict(&summary), Verdict::Skipped);
    }

    #[test]
    fn a_part_without_scenarios_is_green_and_judges_nothing() {
        let spare = |whole: &[&str]| {
            let whole = whole.iter().map(|name| (*name).to_owned()).collect();
            let shard = Some(crate::run_event::Shard { index: 2, total: 2, whole });
            let header = crate::run_event::RunHeader { shard, ..header(&[], 1) };
            Summary::of(&[RunEvent::RunStarted(header), RunEvent::RunFinished])
        };
        assert_eq!(ExitCode::from(&spare(&["s"])), ExitCode::Pass);
        assert_eq!(ExitCode::Pass.verdict(&spare(&["s"])), Verdict::Skipped);
        assert_eq!(ExitCode::from(&spare(&[])), ExitCode::NothingMatched);
    }

    #[test]
    fn a_scenario_that_never_ran_is_not_green() {
        let summary = Summary::of(&[RunEvent::RunStarted(header(&["s"], 1)), RunEvent::RunFinished]);
        assert_eq!(ExitCode::from(&summary), ExitCode::Behaviour);
    }
}
