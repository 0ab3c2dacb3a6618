//! The `hookbench` executable: parses, dispatches, prints, and turns the outcome into an exit code.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode as ProcessExit;

use clap::Parser;
use hookbench::cli::{Cli, Command};
use hookbench::cmd;
use hookbench::exit_code::ExitCode;
use hookbench::golden::Writing;
use hookbench::process::{burner, launcher};

fn main() -> ProcessExit {
    // The launcher is this executable again; the less it has done before, the smaller the memory floor.
    launcher::run_if_asked();
    burner::run_if_asked();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let code = if error.use_stderr() { ExitCode::Usage } else { ExitCode::Pass };
            let _ = error.print();
            return code.into();
        }
    };
    let ci = std::env::var("CI").ok();
    let note = |text: &str| {
        let _ = writeln!(io::stderr().lock(), "note: {text}");
    };
    let outcome = match &cli.command {
        Command::Bench(args) => cmd::bench::bench(args, ci.as_deref(), &note),
        Command::Doctor(args) => cmd::doctor::doctor(args, ci.as_deref()),
        Command::Gate(args) => cmd::gate::gate(args),
        Command::Run(args) => {
            let _ = write!(io::stderr().lock(), "{}", cmd::golden::unused_note(args, ci.as_deref()));
            cmd::run::run(args, ci.as_deref(), &note)
        }
        Command::Review(args) => {
            let on_terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
            let writing = Writing::allowed(false, ci.as_deref());
            cmd::review::review(args, writing, on_terminal, &mut io::stdin().lock(), &mut io::stderr())
        }
        Command::Accept(goldens) => cmd::golden::accept(goldens, Writing::allowed(false, ci.as_deref())),
        Command::Reject(goldens) => cmd::golden::reject(goldens, Writing::allowed(false, ci.as_deref())),
        Command::Completions { shell } => Ok((cmd::completions::completions(*shell), ExitCode::Pass)),
        Command::Man { out } => cmd::man::man(out.as_deref()).map(|text| (text, ExitCode::Pass)),
        Command::Merge(args) => cmd::merge::merge(args, &note),
        Command::Compare(args) => cmd::compare::compare(args),
        Command::Report(args) => cmd::report::report(args),
        Command::Eval(args) => cmd::eval::eval(args, &note),
        Command::Corpus(command) => cmd::corpus::corpus(command),
        Command::Schema { format } => cmd::schema::schema(*format).map(|text| (text + "\n", ExitCode::Pass)),
    };
    match outcome {
        Ok((text, code)) => match io::stdout().lock().write_all(text.as_bytes()) {
            // A reader that has seen enough is not a failure of the run.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                let _ = writeln!(io::stderr().lock(), "internal error: the report cannot be printed: {error}");
                ExitCode::Internal.into()
            }
            _ => code.into(),
        },
        Err(failure) => {
            let _ = writeln!(io::stderr().lock(), "{failure}");
            failure.exit_code().into()
        }
    }
}
