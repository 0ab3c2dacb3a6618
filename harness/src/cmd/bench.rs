//! `hookbench bench`: load, plan, compare, gate, report.
//!
//! Saves what `run` saves, in the same format and the same places; a comparison that the user stops keeps what it has.

use std::path::Path;

use crate::baseline::{Baseline, StoredBaseline};
use crate::bench::{Comparison, Instrument, N_COLD_ROUNDS, Pairs, bench as compare, n_failed};
use crate::cli::BenchArgs;
use crate::cmd::gates::gates;
use crate::cmd::part::take_part;
use crate::cmd::plan::{given, header, plan, target};
use crate::cmd::run::{How, check_instruments, replayed, uncounted};
use crate::cmd::saved_run::{check_report_places, saved_run, write_reports};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::gate::{Base, Gate, Stored};
use crate::problem::Source;
use crate::progress::Progress;
use crate::recording::Recording;
use crate::replay::{Plan, replay};
use crate::report::{json, terminal};
use crate::revision::{self, CACHE, Spec};
use crate::run_event::{Arm, RunEvent, RunHeader};
use crate::scenario::Scenario;
use crate::selection::select;
use crate::summary::Summary;
use crate::target::{Given, Target};
use crate::{instructions, machine};

/// Judge a comparison when no gate of the user's does.
const DEFAULT_GATES: [&str; 2] =
    ["cpu: latency.cpu.p50 < +10% vs baseline", "wall: latency.wall.p50 < +25% vs baseline severity warn"];

/// Compares two hooks; the report for stdout, and the exit code.
///
/// # Errors
/// Mistakes in flags, scenarios, goldens or gates, and a baseline that does not work.
pub fn bench(args: &BenchArgs, ci: Option<&str>, note: &dyn Fn(&str)) -> Result<(String, ExitCode), Failure> {
    let scenarios = select(&args.replay.scenarios)?;
    let counts = args.instruments.contains(&Instrument::Instr);
    check_instruments(counts)?;
    let slice = args.shard.slice(|name| std::env::var(name).ok(), note)?;
    let Some(baseline) = &args.baseline else {
        let how = How {
            replay: &args.replay,
            pace: &args.pace,
            gate: &args.gate,
            out: &args.out,
            repeat: args.pairs.first_goal(),
            jobs: 1,
            counts,
            slice,
            resume: None,
        };
        return replayed(&how, scenarios, ci, note);
    };
    let gates = with_defaults(gates(&args.gate)?, args.gate.no_gates)?;
    let (baseline, baseline_name) = match Baseline::parse(baseline)? {
        Baseline::Run(run) => return against_run(args, &run, gates, scenarios, ci),
        Baseline::Command(command) => {
            let given = Given { hooks: &[command], settings: None, no_shell: args.replay.no_shell };
            let target = given.target()?;
            let name = target.shown();
            (target, name)
        }
        Baseline::Revision(revision) => of_revision(args, &revision)?,
    };
    let stored = Stored::load(&gates)?;
    let (mut plan, name) = plan(&args.replay, target(&args.replay)?, scenarios, 0, 1, ci)?;
    check_report_places(&args.out)?;
    let mut header = header_of(&plan, name, baseline_name, args.pairs);
    if let Some(slice) = slice {
        take_part(slice, &mut plan, &mut header, note);
    }
    let comparison = Comparison {
        plan: &plan,
        baseline: &baseline,
        pairs: args.pairs,
        max_time: args.max_time,
        gates: &gates,
        stored: &stored,
    };
    let mut recording = Recording::saved(saved_run(&args.out)?, Progress::of_unknown_length());
    recording.take(RunEvent::RunStarted(header));
    let mut outcome = compare(&comparison, &mut recording);
    for (target, arm) in [(&plan.target, Arm::Candidate), (&baseline, Arm::Baseline)] {
        if counts && outcome.is_ok() {
            let counted = instructions::measure(&plan, target, arm, &mut |event| recording.take(event));
            outcome = counted.map(|counted| uncounted(&counted, note));
        }
    }
    recording.close(outcome, &gates, &stored)?;
    let summary = recording.finish()?;
    report(args, &summary)
}

fn report(args: &BenchArgs, summary: &Summary) -> Result<(String, ExitCode), Failure> {
    write_reports(&args.out, summary)?;
    let text = if args.out.json { json::render(summary) } else { terminal::render_with(summary, &args.instruments) };
    Ok((text, ExitCode::of(summary, args.gate.strict)))
}

/// The hook at an older revision, built when it has to be.
fn of_revision(args: &BenchArgs, revision: &str) -> Result<(Target, String), Failure> {
    let spec = Spec {
        revision,
        given: given(&args.replay),
        start: Path::new("."),
        cache: Path::new(CACHE),
        build: args.build.as_deref(),
    };
    let built = revision::build(&spec)?;
    Ok((built.target, built.name))
}

/// Measures the candidate alone and holds it against a saved run: there are no pairs, so times can only warn.
fn against_run(
    args: &BenchArgs,
    run: &Path,
    mut gates: Vec<Gate>,
    scenarios: Vec<Scenario>,
    ci: Option<&str>,
) -> Result<(String, ExitCode), Failure> {
    // Whether it can be compared at all is said before anything runs.
    let baseline = StoredBaseline::load(run, &machine::fingerprint())?;
    if let Some(step) = baseline.summary.steps().iter().find(|step| n_failed(step) >= step.calls().len()) {
        let message = format!(
            "every call of {}/{} failed in it, so a comparison with it proves nothing",
            step.scenario, step.step
        );
        return Err(Failure::usage(run, message, "name a run of a hook that works"));
    }
    let name = baseline.summary.header().map_or_else(String::new, |header| header.hook_command.clone());
    for gate in gates.iter_mut().filter(|gate| gate.expr.base == Some(Base::Baseline)) {
        gate.expr.base = Some(Base::File(run.to_string_lossy().into_owned()));
    }
    let stored = Stored::load(&gates)?;
    let repeat = args.pairs.first_goal();
    let (plan, candidate) = plan(&args.replay, target(&args.replay)?, scenarios, repeat, 1, ci)?;
    check_report_places(&args.out)?;
    let mut recording = Recording::saved(saved_run(&args.out)?, Progress::of_known_length(plan.n_calls()));
    let baseline_command = Some(format!("run:{} ({name})", run.display()));
    recording.take(RunEvent::RunStarted(RunHeader { baseline_command, ..header(&plan, candidate) }));
    let outcome = replay(&plan, &mut |event| recording.take(event));
    recording.close(outcome, &gates, &stored)?;
    report(args, &recording.finish()?)
}

/// The header of a comparison.
fn header_of(plan: &Plan, name: String, baseline: String, pairs: Pairs) -> RunHeader {
    RunHeader {
        repeat: match pairs {
            Pairs::Auto => 0,
            Pairs::Fixed(n) => n.saturating_add(N_COLD_ROUNDS),
        },
        baseline_command: Some(baseline),
        n_cold_rounds: N_COLD_ROUNDS,
        ..header(plan, name)
    }
}

/// The user's gates, and the default ones when none of them looks at the baseline.
fn with_defaults(mut gates: Vec<Gate>, none_wanted: bool) -> Result<Vec<Gate>, Failure> {
    if none_wanted || gates.iter().any(|gate| gate.expr.base == Some(Base::Baseline)) {
        return Ok(gates);
    }
    for text in DEFAULT_GATES {
        let gate = Gate::parse(text);
        gates.push(gate.map_err(|fault| Source::new("gate", text).problem(0..0, fault.message, fault.remedy))?);
    }
    Ok(gates)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
    use super::*;

    fn names(texts: &[&str], none_wanted: bool) -> Vec<String> {
        let gates = texts.iter().map(|text| Gate::parse(text).unwrap()).collect();
        with_defaults(gates, none_wanted).unwrap().into_iter().map(|gate| gate.name).collect()
    }

    #[test]
    fn defaults_stand_in_until_a_gate_compares() {
        assert_eq!(names(&[], false), ["cpu", "wall"]);
        assert_eq!(names(&["leaks: leak.count == 0"], false), ["leaks", "cpu", "wall"]);
        assert_eq!(names(&["own: latency.cpu.p50 < +5% vs baseline"], false), ["own"]);
        assert_eq!(names(&[], true), [""; 0]);
    }
}
