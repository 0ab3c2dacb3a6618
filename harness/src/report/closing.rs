//! The end of a report: one line with the verdict, and what to do next.

use super::figure;
use crate::exit_code::ExitCode;
use crate::latency::Contention;
use crate::run_event::{FindingKind, OnInconclusive, RunHeader, Severity, Verdict};
use crate::summary::{ScenarioState, Summary};

/// One line: the verdict, the exit code, and the counts behind them.
pub(super) fn verdict_line(summary: &Summary) -> String {
    let (code, strict) = (ExitCode::of(summary, false), ExitCode::of(summary, true));
    let verdict = figure::verdict(code.verdict(summary));
    let strict = if strict == code { String::new() } else { format!(", {} with --strict", strict.code()) };
    format!("{verdict} (exit {}{strict}): {}", code.code(), counts(summary))
}

fn counts(summary: &Summary) -> String {
    let scenarios = summary.scenarios();
    if scenarios.is_empty() {
        let is_spare = ExitCode::of(summary, false) == ExitCode::Pass;
        return if is_spare { "this part has no scenario" } else { "no scenario matched" }.to_owned();
    }
    let n_failed = summary.steps().iter().filter(|step| !step.passed()).count();
    let mut parts = vec![
        format!("{n_failed} of {} with findings", figure::counted(summary.steps().len(), "step")),
        figure::counted(scenarios.len(), "scenario"),
        figure::counted(summary.n_calls(), "call"),
    ];
    let n_incomplete = scenarios.iter().filter(|scenario| scenario.state == ScenarioState::Incomplete).count();
    if n_incomplete > 0 {
        parts.push(format!("{} incomplete", figure::counted(n_incomplete, "scenario")));
    }
    let gates = |verdict| {
        let n = summary.gates().iter().filter(|gate| gate.verdict == verdict).count();
        (n > 0).then(|| format!("{n} {}", figure::verdict(verdict).to_lowercase()))
    };
    let all = [Verdict::Pass, Verdict::Fail, Verdict::Inconclusive, Verdict::Skipped];
    let gates: Vec<String> = all.into_iter().filter_map(gates).collect();
    if !gates.is_empty() {
        parts.push(format!("gates: {}", gates.join(" + ")));
    }
    if !summary.complete() {
        parts.push("interrupted".to_owned());
    }
    parts.join(", ")
}

/// How many rounds there were: as asked, or for a comparison as it came out.
pub(super) fn rounds(summary: &Summary, header: &RunHeader) -> String {
    if header.baseline_command.is_none() {
        return header.repeat.to_string();
    }
    let n_done = summary.scenarios().iter().map(|scenario| scenario.n_rounds).max().unwrap_or(0);
    let n_cold = header.n_cold_rounds.min(n_done);
    let confirmed = match summary.confirm_starts() {
        [] => String::new(),
        [first, ..] => format!(" ({} to confirm)", n_done.saturating_sub(*first)),
    };
    format!("{n_cold} cold, {} warm{confirmed}", n_done - n_cold)
}

/// What to do next, the most urgent first; never empty.
pub(super) fn next_steps(summary: &Summary) -> Vec<String> {
    let mut next = Vec::new();
    let mut say = |condition: bool, text: &str| {
        if condition {
            next.push(text.to_owned());
        }
    };
    let has = |wanted: &[FindingKind]| {
        summary.steps().iter().any(|step| wanted.iter().any(|kind| step.findings().contains_key(kind)))
    };
    let first_failed = summary.steps().iter().find(|step| !step.passed());
    let resumable = summary.header().is_some_and(|header| header.baseline_command.is_none() && header.pace.is_none());
    say(
        !summary.complete(),
        if resumable {
            "the run was stopped early: go on with it by the same command and --resume, or run it again, for a verdict"
        } else {
            "the run was stopped early: run it again for a verdict"
        },
    );
    say(
        ExitCode::of(summary, false) == ExitCode::NothingMatched,
        "name a scenario that exists, or run without a filter",
    );
    say(has(&[FindingKind::NotStarted]), "the hook did not start: check the command given by --hook");
    if let Some(step) = first_failed {
        say(true, &format!("look at the first finding: `hookbench run {} --hook ...`", step.scenario));
    }
    say(
        has(&[FindingKind::GoldenChanged]),
        "compare the changed texts with `hookbench review`; accept them with `hookbench accept` if they are right",
    );
    say(has(&[FindingKind::GoldenMissing]), "record the missing goldens with `hookbench accept`, after reading them");
    say(has(&[FindingKind::GoldenUnreferenced]), "remove the goldens that no step uses: `hookbench review` offers it");
    for gate in summary.gates() {
        let failed = gate.verdict == Verdict::Fail && gate.severity == Severity::Fail;
        let unclear = gate.verdict == Verdict::Inconclusive && gate.on_inconclusive != OnInconclusive::Pass;
        say((failed || unclear) && !gate.remedy.is_empty(), &format!("gate {}: {}", gate.name, gate.remedy));
    }
    say(
        matches!(summary.contention(), Contention::Contended { .. }),
        "the machine was contended: trust CPU and ratios, not absolute wall times",
    );
    if next.is_empty() {
        next.push("nothing: everything that was asked holds".to_owned());
    }
    next
}

/// One line about the machine's calm.
pub(super) fn contention_line(summary: &Summary) -> String {
    match summary.contention() {
        Contention::Quiet => "machine: quiet (the no-op child was steady)".to_owned(),
        Contention::Contended { p50_over_min, p95_over_p50 } => {
            let tail = p95_over_p50.map(|ratio| format!(", p95 {ratio:.1}x p50")).unwrap_or_default();
            format!("machine: CONTENDED (no-op p50 {p50_over_min:.1}x its minimum{tail}): wall caps only warn")
        }
        Contention::Unknown { have, need } => {
            format!("machine: calm unknown ({have} of {need} no-op rounds needed)")
        }
    }
}
