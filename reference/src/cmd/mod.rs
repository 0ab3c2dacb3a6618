//! The commands beside the hook: one file a verb. stdout is data, stderr is talk; 0 done, 1 failed, 2 usage.

pub mod compact;
pub mod completions;
pub mod export;
pub mod forget;
pub mod import;
pub mod inspect;
pub mod man;
pub mod rank;
pub mod record;
pub mod search;
pub mod show;
pub mod status;
pub mod target;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use crate::config::Environment;

/// A persistent memory for Claude Code, made of hooks.
#[derive(Debug, Parser)]
#[command(name = "hookmem", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Answer one hook call: payload on stdin, answer on stdout. Always exit code 0.
    Hook {
        /// The event, for payloads that do not name it.
        event: Option<String>,
        /// Print one line of stage times (µs) to stderr.
        #[arg(long)]
        timings: bool,
    },
    /// What the store holds for this project, and whether all is well.
    Status(status::StatusArgs),
    /// Look into the store as JSON; never writes.
    Inspect(inspect::InspectArgs),
    /// Find memories for a text.
    Search(search::SearchArgs),
    /// Print one memory.
    Show(show::ShowArgs),
    /// Remove memories for good and keep them out.
    Forget(forget::ForgetArgs),
    /// Rewrite the store: removed text is gone from every byte, the index is one part.
    Compact(compact::CompactArgs),
    /// Print all memories as JSON Lines.
    Export(export::ExportArgs),
    /// Take in memories from a corpus folder, a corpus file or an export.
    Import(import::ImportArgs),
    /// Rank the memories of a labelled collection, as a TREC run on stdout.
    Rank(rank::RankArgs),
    /// Print a shell's completion script.
    Completions(completions::CompletionsArgs),
    /// Print the manual page, or write one for every command.
    Man(man::ManArgs),
}

/// Why a command failed: one line for people.
pub type Failure = String;

/// Parses the command line, runs the command, prints its output.
pub fn dispatch() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return match error.use_stderr() {
                // Called by the client with its arguments forgotten: 2 would block every prompt.
                true if std::env::args_os().len() < 2 => ExitCode::FAILURE,
                true => ExitCode::from(2),
                false => ExitCode::SUCCESS,
            };
        }
    };
    let environment = Environment::read();
    let mut out = io::BufWriter::new(io::stdout().lock());
    let outcome = match &cli.command {
        // `main` takes this way before anything is parsed; only odd spellings arrive here.
        Command::Hook { .. } => Ok(()),
        Command::Status(args) => status::status(args, &environment, &mut out),
        Command::Inspect(args) => inspect::inspect(args, &environment, &mut out),
        Command::Search(args) => search::search(args, &environment, &mut out),
        Command::Show(args) => show::show(args, &environment, &mut out),
        Command::Forget(args) => forget::forget(args, &environment, &mut out),
        Command::Compact(args) => compact::compact(args, &environment, &mut out),
        Command::Export(args) => export::export(args, &environment, &mut out),
        Command::Import(args) => import::import(args, &environment, &mut out),
        Command::Completions(args) => completions::completions(args, Cli::command(), &mut out),
        Command::Man(args) => man::man(args, Cli::command(), &mut out),
        Command::Rank(args) => {
            rank::run(args, Box::new(io::stdin().lock()), &mut out).map_err(|error| error.to_string())
        }
    };
    let outcome = outcome.and_then(|()| match out.flush() {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(format!("stdout: {error}")),
        _ => Ok(()),
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            let _ = writeln!(io::stderr().lock(), "hookmem: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Turns a failed write into a failure; a reader that went away is none.
fn written(result: io::Result<()>) -> Result<(), Failure> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(format!("stdout: {error}")),
        _ => Ok(()),
    }
}
