//! The `hookmem` executable: the hook's page-long way in, and the door to the other commands.
//!
//! `hookmem hook` sees no argument parser, no runtime and no logger: it reads stdin, answers, and ends with 0.

use std::io::{self, Read, Write};
use std::process::ExitCode;
use std::time::Duration;

use hookmem::config::Environment;
use hookmem::hook::{Answer, answer};
use hookmem::timings::Timings;
use hookmem::{cmd, log, watchdog};

/// A payload beyond this is not read; the host's largest recorded one is 300 KB.
const PAYLOAD_LIMIT_BYTES: u64 = 64 * 1024 * 1024;

/// However the deadlines are set, the process is gone after this: the host's shortest limit is 1.5 s.
const LAST_RESORT: Duration = Duration::from_millis(1_400);

fn main() -> ExitCode {
    // A word that is not UTF-8 must not end a hook.
    let mut args = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    match args.next().as_deref() {
        Some("hook") => {
            let words: Vec<String> = args.collect();
            let event = words.iter().find(|word| !word.starts_with('-')).map(String::as_str);
            hook(event, words.iter().any(|word| word == "--timings"))
        }
        _ => cmd::dispatch(),
    }
}

/// One hook call. Never fails its user: a fault is in the log, stdout is empty, and the code is 0.
///
/// `--timings`, or the variable `HOOKMEM_TIMINGS`, prints one line of stage times to stderr. Other flags are passed over:
/// a settings entry with a typing error must not turn into a failing hook.
fn hook(event: Option<&str>, with_timings: bool) -> ExitCode {
    let mut environment = Environment::read();
    watchdog::arm(environment.limit(LAST_RESORT));
    environment.timings |= with_timings;
    let mut timings = Timings::start(environment.timings);
    // A panic is a bug; it must not become the user's.
    std::panic::set_hook(Box::new(|_| {}));
    let answered = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let mut input = Vec::new();
        match io::stdin().lock().take(PAYLOAD_LIMIT_BYTES).read_to_end(&mut input) {
            Ok(_) => answer(&input, event, &environment, &mut timings),
            Err(_) => Answer::default(),
        }
    }));
    let Ok(answer) = answered else {
        if let Some(root) = &environment.store_root {
            log::note(root, event.unwrap_or("hook"), "internal error: a panic was caught");
        }
        return ExitCode::SUCCESS;
    };
    if !answer.stdout.is_empty() {
        let mut stdout = io::stdout().lock();
        // A host that has gone away is not our fault and needs no answer.
        let _ = stdout.write_all(answer.stdout.as_bytes()).and_then(|()| stdout.flush());
    }
    if environment.timings {
        timings.mark("write");
        let _ = writeln!(io::stderr().lock(), "{}", timings.line());
    }
    match answer.fault {
        Some(fault) if fault.strict => {
            let _ = writeln!(io::stderr().lock(), "hookmem: {}", fault.message);
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}
