//! Puts a hook behind the burner, and finds the burn that makes it slower by a given share.

use std::io;
use std::time::Duration;

use crate::hook::Hook;
use crate::process::{Program, burner};

/// Halvings of the interval in which the burn is searched: far below a microsecond.
const N_HALVINGS: u32 = 60;

/// The hook behind a burner that burns this long. Arguments that a step adds still reach the hook.
///
/// # Errors
/// When this executable has no path.
pub(super) fn behind_burner(hook: &Hook, burn: Duration) -> io::Result<Hook> {
    let executable = std::env::current_exe()?;
    let executable = executable.to_str().ok_or(io::ErrorKind::InvalidFilename)?;
    let mut words = vec![executable.to_owned(), burner::ARGUMENT.to_owned(), burn.as_micros().to_string()];
    match &hook.program {
        Program::Exec(command) => words.extend(command.iter().cloned()),
        Program::Shell(line) => words.extend([burner::SHELL_FORM.to_owned(), line.clone()]),
    }
    Ok(Hook { program: Program::Exec(words), shown: hook.shown.clone() })
}

/// The CPU time that, added to steps which take these times, makes their geometric mean longer by `share`.
///
/// One time serves all steps, because a command line cannot know which step it is called for. Zero when there is no
/// step.
pub(super) fn burn_for(share: f64, steps_us: &[f64]) -> Duration {
    let longest = steps_us.iter().copied().fold(0.0, f64::max);
    let (mut low, mut high) = (0.0, longest * share);
    let mean_log =
        |burn: f64| steps_us.iter().map(|us| (burn / us.max(1.0)).ln_1p()).sum::<f64>() / steps_us.len().max(1) as f64;
    for _ in 0..N_HALVINGS {
        let middle = f64::midpoint(low, high);
        if mean_log(middle) < share.ln_1p() { low = middle } else { high = middle }
    }
    Duration::from_secs_f64(high / 1e6)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
    use super::*;

    #[test]
    fn one_step_burns_its_share() {
        assert_eq!(burn_for(0.1, &[4_000.0]).as_micros(), 400);
        assert_eq!(burn_for(0.1, &[]), Duration::ZERO);
    }

    #[test]
    fn several_steps_are_slower_by_the_share_in_their_geometric_mean() {
        // (1 + b / 1000)(1 + b / 4000) = 1.21, so b² + 5000 b − 840000 = 0 and b = 162.705.
        let burn = burn_for(0.1, &[1_000.0, 4_000.0]).as_secs_f64() * 1e6;
        assert!((burn - 162.705).abs() < 0.01, "{burn}");
    }

    #[test]
    fn shell_and_direct_hooks_keep_their_words() {
        let words = |hook: &Hook| match behind_burner(hook, Duration::from_micros(250)).unwrap().program {
            Program::Exec(words) => words.into_iter().skip(1).collect::<Vec<_>>(),
            Program::Shell(line) => vec![line],
        };
        assert_eq!(words(&Hook::exec(vec!["a".to_owned(), "b c".to_owned()])), ["__burn", "250", "a", "b c"]);
        assert_eq!(words(&Hook::shell("a | b")), ["__burn", "250", "--shell", "a | b"]);
    }
}
