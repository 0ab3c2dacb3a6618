//! `hookbench bench`: load, plan, compare, gate, report.
//!
//! Saves what `run` saves, in the same format and the same places; a comparison that the user stops keeps what it has.

use crate::bench::{Comparison, Instrument, N_COLD_ROUNDS, Pairs, bench as compare};
use crate::cli::BenchArgs;
use crate::cmd::gates::gates;
use crate::cmd::plan::{header, named_hook, plan, tested_hook};
use crate::cmd::saved_run::{check_report_places, saved_run, write_reports};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::gate::{Base, Gate, Stored, judge_all};
use crate::hook::Hook;
use crate::problem::Source;
use crate::progress::Progress;
use crate::recording::Recording;
use crate::replay::{Plan, Stop};
use crate::report::{json, terminal};
use crate::run_event::{RunEvent, RunHeader};
use crate::selection::select;

/// Judge a comparison when no gate of the user's does.
const DEFAULT_GATES: [&str; 2] =
    ["cpu: latency.cpu.p50 < +10% vs baseline", "wall: latency.wall.p50 < +25% vs baseline severity warn"];

/// Compares two hooks; the report for stdout, and the exit code.
///
/// # Errors
/// Mistakes in flags, scenarios, goldens or gates, and a baseline that does not work.
pub fn bench(args: &BenchArgs, ci: Option<&str>) -> Result<(String, ExitCode), Failure> {
    let scenarios = select(&args.replay.scenarios)?;
    let gates = with_defaults(gates(&args.gate)?, args.gate.no_gates)?;
    let stored = Stored::load(&gates)?;
    let baseline = named_hook("--baseline", &args.baseline, args.replay.no_shell)?;
    let plan = plan(&args.replay, tested_hook(&args.replay)?, scenarios, 0, 1, ci)?;
    check_report_places(&args.out)?;
    check_instruments(&args.instruments)?;
    let comparison = Comparison {
        plan: &plan,
        baseline: &baseline,
        pairs: args.pairs,
        max_time: args.max_time,
        gates: &gates,
        stored: &stored,
    };
    let mut recording = Recording::saved(saved_run(&args.out)?, Progress::of_unknown_length());
    recording.take(RunEvent::RunStarted(header_of(&plan, &baseline, args.pairs)));
    match compare(&comparison, &mut recording) {
        Err(Stop::Interrupted) => {}
        Err(stop) => return Err(stop.into()),
        Ok(()) => {
            let judged = judge_all(&gates, recording.summary(), &stored);
            for event in judged.into_iter().map(RunEvent::GateJudged).chain([RunEvent::RunFinished]) {
                recording.take(event);
            }
        }
    }
    let summary = recording.finish()?;
    write_reports(&args.out, &summary)?;
    let text = if args.out.json { json::render(&summary) } else { terminal::render_with(&summary, &args.instruments) };
    Ok((text, ExitCode::of(&summary, args.gate.strict)))
}

/// Refuses what cannot be measured, before anything is.
fn check_instruments(instruments: &[Instrument]) -> Result<(), Failure> {
    if instruments.contains(&Instrument::Instr) {
        let remedy = "leave `instr` out, and gate `latency.cpu` instead";
        return Err(Failure::usage("--instruments", "instructions cannot be counted by this build", remedy));
    }
    Ok(())
}

/// The header of a comparison.
pub(super) fn header_of(plan: &Plan, baseline: &Hook, pairs: Pairs) -> RunHeader {
    RunHeader {
        repeat: match pairs {
            Pairs::Auto => 0,
            Pairs::Fixed(n) => n.saturating_add(N_COLD_ROUNDS),
        },
        baseline_command: Some(baseline.shown.clone()),
        n_cold_rounds: N_COLD_ROUNDS,
        ..header(plan)
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
