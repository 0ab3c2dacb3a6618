//! The `hookbench` executable: parses, dispatches, prints, and turns the outcome into an exit code.

use std::io::{self, Write};
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
    let outcome = match &cli.command {
        Command::Run(args) => cmd::run::run(args, ci.as_deref()),
        Command::Bench(args) => cmd::bench::bench(args, ci.as_deref()),
        Command::Doctor(args) => cmd::doctor::doctor(args, ci.as_deref()),
        Command::Review(selected) => cmd::golden::review(selected),
        Command::Accept(selected) => cmd::golden::accept(selected, Writing::allowed(false, ci.as_deref())),
        Command::Gate(args) => cmd::gate::gate(args),
        Command::Report(args) => cmd::report::report(args),
        Command::Eval(args) => cmd::eval::eval(args),
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
