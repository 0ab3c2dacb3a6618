//! Instructions of a hook, counted by valgrind, apart from all timing.
//!
//! The tool is cachegrind without its cache model: the cheapest one of valgrind's that gives the total. The hook and
//! every child that it starts are counted, in user code only. A count is the same on a busy machine as on a quiet one,
//! and for a program without randomness the same each time. Two things follow from how valgrind counts: what a process
//! did before it replaced itself by another program (`exec`) is not in the sum, and a child that is a copy of its
//! parent (a subshell) brings its parent's count along. Both are the same for both hooks of a comparison.
//!
//! A hook works some thirty times as slowly then. One that watches the clock may give up half-way, and its count would
//! be that of giving up. Hence [`measure`] gives no count for a step that is answered otherwise than at full speed; a
//! step that is answered with silence both times cannot be told apart. A hook with time limits of its own can lift them
//! where the variable [`VARIABLE`] is set.
//!
//! Not here: what a count may be.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hook_contract::Event;

use crate::caller::Caller;
use crate::delivered::{Answer, delivered};
use crate::golden::Writing;
use crate::observation::Observation;
use crate::play::{FirstTexts, Stage, answer as told, calls_of, play_step};
use crate::process::{Call, Program, find_program};
use crate::replay::{Plan, Stop};
use crate::run_event::{Arm, RunEvent};
use crate::sandbox::{Sandbox, ShellCall};
use crate::target::Target;

/// Longest time of a counted call: the host's limits are for hooks at full speed.
const PATIENCE: Duration = Duration::from_secs(600);

/// Set to `1` in the environment of a counted call.
pub const VARIABLE: &str = "HOOKBENCH_INSTRUCTIONS";

/// What a count of a whole plan came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Measured {
    /// Steps with a count.
    pub n_counted: usize,
    /// Steps that were answered otherwise than at full speed, as `scenario/step`: they have no count.
    pub otherwise: Vec<String>,
}

/// The valgrind on this process's `PATH`, if there is one.
pub fn valgrind() -> Option<PathBuf> {
    find_program("valgrind", &std::env::var_os("PATH")?).ok()
}

/// Runs the call once under valgrind and counts the instructions of the process and its children. `None` without
/// valgrind, and when the program could not be run under it or did not live to be counted.
///
/// # Errors
/// As for any call; or when the counts cannot be stored or read.
pub fn count(caller: &Caller, call: &Call) -> io::Result<Option<u64>> {
    Ok(observe(caller, call)?.and_then(|(instructions, _)| instructions))
}

/// The count and what the hook did meanwhile; `None` without valgrind.
fn observe(caller: &Caller, call: &Call) -> io::Result<Option<(Option<u64>, Observation)>> {
    let Some(valgrind) = valgrind() else { return Ok(None) };
    let counts = tempfile::Builder::new().prefix("hookbench-instructions-").tempdir()?;
    let mut counted = call.clone();
    counted.program = wrapped(&valgrind, counts.path(), &call.program);
    counted.env.push((VARIABLE.into(), "1".into()));
    counted.timeout = PATIENCE;
    counted.kill_after = None;
    let seen = caller.call(&counted)?;
    let mut sum = None;
    for file in fs::read_dir(counts.path())? {
        let text = String::from_utf8_lossy(&fs::read(file?.path())?).into_owned();
        if let Some(instructions) = total(&text) {
            sum = Some(sum.unwrap_or(0_u64).saturating_add(instructions));
        }
    }
    Ok(Some((sum, seen)))
}

/// The program under cachegrind, each process with a file of its own; what valgrind itself has to say goes aside, since
/// a hook's stderr is part of its answer.
fn wrapped(valgrind: &Path, counts: &Path, program: &Program) -> Program {
    // A per cent sign in an option is valgrind's own.
    let folder = counts.to_string_lossy().replace('%', "%%");
    let mut words = vec![
        valgrind.to_string_lossy().into_owned(),
        "--tool=cachegrind".to_owned(),
        "--cache-sim=no".to_owned(),
        "--trace-children=yes".to_owned(),
        "--vgdb=no".to_owned(),
        format!("--cachegrind-out-file={folder}/count.%p"),
        format!("--log-file={folder}/log.%p"),
        "--".to_owned(),
    ];
    match program {
        Program::Shell(line) => words.extend(["/bin/sh".to_owned(), "-c".to_owned(), line.clone()]),
        Program::Exec(own) => words.extend(own.iter().cloned()),
    }
    Program::Exec(words)
}

/// The total of one file of counts: the first number of the line `summary:`, which is of the event `Ir`.
fn total(text: &str) -> Option<u64> {
    let events = text.lines().find_map(|line| line.strip_prefix("events:"))?;
    let at = events.split_whitespace().position(|event| event == "Ir")?;
    let summary = text.lines().find_map(|line| line.strip_prefix("summary:"))?;
    summary.split_whitespace().nth(at)?.parse().ok()
}

/// Counts every step of the plan's scenarios once for a target, each scenario in a fresh sandbox, and emits one event a
/// step; several hooks of a step are added up. `None` without valgrind, and then nothing ran.
///
/// Each scenario is played at full speed first, in a sandbox of its own, for the answers. Nothing is judged and no
/// golden written. Of deliveries one after the other the last is counted, of deliveries at once one.
///
/// # Errors
/// A scenario that cannot go on, a lost launcher, or the interrupt.
pub fn measure(
    plan: &Plan,
    target: &Target,
    arm: Arm,
    consume: &mut dyn FnMut(RunEvent),
) -> Result<Option<Measured>, Stop> {
    if valgrind().is_none() {
        return Ok(None);
    }
    let caller = Caller::new(plan.interrupt.clone())?;
    let first_texts = FirstTexts::default();
    let mut measured = Measured::default();
    let outcome = plan.scenarios.iter().try_for_each(|(scenario, host)| {
        let run = |shell: &ShellCall| caller.shell(shell);
        let fresh = || -> Result<Sandbox<'_>, Stop> {
            let sandbox = Sandbox::create(scenario, &plan.sandbox_options(0))?;
            sandbox.seed(&run)?;
            Ok(sandbox)
        };
        let stage = |sandbox| Stage {
            plan,
            caller: &caller,
            scenario,
            host,
            sandbox,
            target,
            arm,
            round: 0,
            writing: Writing::Never,
            first_texts: &first_texts,
        };
        let (at_full_speed, counted) = (fresh()?, fresh()?);
        let plain = answers(&stage(&at_full_speed))?;
        count_scenario(&stage(&counted), &plain, &mut measured, consume)
    });
    // Whatever an interrupted count stumbled over is no fault of anybody's.
    if plan.interrupt.is_raised() { Err(Stop::Interrupted) } else { outcome.map(|()| Some(measured)) }
}

/// What each step is answered at full speed; a step without a call has no answer.
fn answers(stage: &Stage<'_>) -> Result<Vec<Option<String>>, Stop> {
    let steps = stage.scenario.steps.iter().enumerate();
    steps
        .map(|(index, step)| {
            Ok(play_step(stage, index, step)?.last().map(|last| answer(&last.delivered, &last.decision)))
        })
        .collect()
}

fn count_scenario(
    stage: &Stage<'_>,
    plain: &[Option<String>],
    measured: &mut Measured,
    consume: &mut dyn FnMut(RunEvent),
) -> Result<(), Stop> {
    let Stage { caller, scenario, host, sandbox, target, arm, .. } = *stage;
    let run = |shell: &ShellCall| caller.shell(shell);
    for (step, plain) in scenario.steps.iter().zip(plain) {
        sandbox.apply_before(step, &run)?;
        let chosen = target.choose(host, step);
        let armed = sandbox.arm(step, &run)?;
        let (calls, payload) = calls_of(stage, step, &chosen);
        let mut seen = Vec::new();
        for _ in 0..step.fault.times.unwrap_or(1).max(1) {
            seen = calls.iter().map(|call| observe(caller, call)).collect::<io::Result<_>>()?;
        }
        drop(armed);
        let (counts, seen): (Vec<Option<u64>>, Vec<Observation>) = seen.into_iter().flatten().unzip();
        let told: Vec<Answer<'_>> = chosen.iter().zip(&seen).map(|(chosen, seen)| told(chosen, seen)).collect();
        let said: Vec<u8> = seen.iter().flat_map(|seen| seen.stdout.iter().copied()).collect();
        let scrub = |text: &str| sandbox.scrub(step, text, &said);
        let joined = delivered(host, payload.as_ref(), Event::parse(&step.event), &told, &scrub).delivered;
        let Some(instructions) = counts.iter().flatten().copied().reduce(u64::saturating_add) else { continue };
        // A call that the step kills, or delivers several times at once, answers by chance.
        let is_comparable = step.fault.kill_after.is_none() && step.fault.parallel.is_none();
        if is_comparable && plain.as_ref() != Some(&answer(&joined.text, &joined.decision)) {
            measured.otherwise.push(format!("{}/{}", scenario.name, step.name));
            continue;
        }
        measured.n_counted += 1;
        let (scenario, step) = (scenario.name.clone(), step.name.clone());
        consume(RunEvent::InstructionsCounted { scenario, step, arm, instructions });
    }
    Ok(())
}

/// Text and decision as one text. The order of lines is that of the hooks' finish, which is another one here.
fn answer(text: &str, decision: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    format!("{decision}\n{}", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn total_is_that_of_instructions_whatever_else_was_counted() {
        let file = "desc: I1 cache: x\ncmd: ./a b\nevents: Ir \nfl=x\nfn=main\n12 300\nsummary: 1492024 \n";
        assert_eq!(total(file), Some(1_492_024));
        assert_eq!(total("events: Bc Ir\nsummary: 7 8\n"), Some(8));
        assert_eq!(total("events: Bc\nsummary: 7\n"), None);
        assert_eq!(total("==1== valgrind: mmap failed\n"), None);
    }

    #[test]
    fn both_forms_of_a_command_run_under_the_tool() {
        let words = |program: &Program| match wrapped(Path::new("/v"), Path::new("/t/50%"), program) {
            Program::Exec(words) => words,
            Program::Shell(_) => Vec::new(),
        };
        let shell = words(&Program::Shell("a | b".to_owned()));
        assert_eq!(shell.get(8..), Some(["/bin/sh", "-c", "a | b"].map(str::to_owned).as_slice()));
        assert!(shell.contains(&"--cachegrind-out-file=/t/50%%/count.%p".to_owned()));
        let direct = words(&Program::Exec(vec!["hook".to_owned(), "x y".to_owned()]));
        assert_eq!(direct.get(8..), Some(["hook", "x y"].map(str::to_owned).as_slice()));
    }
}
