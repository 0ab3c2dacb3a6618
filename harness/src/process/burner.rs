//! The burner: this executable started as `hookbench __burn MICROSECONDS PROGRAM [ARG..]`, which burns CPU for a known
//! time and then becomes the program. `--shell LINE [ARG..]` instead of a program is a command line with arguments put
//! behind it, as the host's shell form has it.
//!
//! A true slow-down of known size is the only proof that a gate bites. The burner becomes the program by `exec`, so
//! streams, signals and exit code are the program's own and all CPU is that of one process. Its own start costs CPU
//! too: a fair comparison puts both hooks behind a burner, one of which burns nothing.

use std::hint::spin_loop;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use super::unix;
use crate::hook::quoted;

/// The argument that makes the executable a burner.
pub const ARGUMENT: &str = "__burn";

/// Stands where a program would, before a command line for the shell.
pub const SHELL_FORM: &str = "--shell";

/// Rounds of idling between two looks at the clock: some microseconds.
const SPINS: u32 = 200;

/// Turns this process into a burner, and never returns, when its first argument asks for that.
pub fn run_if_asked() {
    let mut args = std::env::args_os().skip(1);
    if args.next().is_none_or(|argument| argument != ARGUMENT) {
        return;
    }
    let burn = args.next().and_then(|word| word.to_str()?.parse().ok()).map(Duration::from_micros);
    let (Some(burn), Some(program)) = (burn, args.next()) else { std::process::exit(2) };
    let end = unix::process_cpu().saturating_add(burn);
    while !burn.is_zero() && unix::process_cpu() < end {
        (0..SPINS).for_each(|_| spin_loop());
    }
    let mut command = match program == SHELL_FORM {
        false => Command::new(program),
        true => {
            let mut line = args.next().unwrap_or_default();
            for argument in args.by_ref() {
                line.push(" ");
                line.push(quoted(&argument.to_string_lossy()));
            }
            let mut shell = Command::new("/bin/sh");
            shell.arg("-c").arg(line);
            shell
        }
    };
    let _ = command.args(args).exec();
    // What a shell answers for a program that it cannot start.
    std::process::exit(127);
}
