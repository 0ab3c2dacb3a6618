//! Several hooks of one event, observed as one: what the user waits for and what the machine pays.
//!
//! Times are those of the slowest hook that the host waits for, CPU is the sum, peak memory the largest of one hook, the
//! ending the worst. Output is kept hook by hook, in the order of the settings. One hook alone is its own whole.

use std::time::Duration;

use crate::observation::{Ending, MemorySource, Observation};
use crate::run_event::FindingKind;

/// The hooks of one event as one observation; `background` tells which of them the host does not wait for. They count
/// for the times only when all of them run in the background. `None` without any hook.
pub fn whole(seen: &[Observation], background: &[bool]) -> Option<Observation> {
    let [first, rest @ ..] = seen else { return None };
    if rest.is_empty() {
        return Some(first.clone());
    }
    let is_awaited = |at: usize| background.get(at) != Some(&true);
    let any_awaited = (0..seen.len()).any(is_awaited);
    let awaited = || seen.iter().enumerate().filter(|(at, _)| !any_awaited || is_awaited(*at)).map(|(_, one)| one);
    let longest = |time: fn(&Observation) -> Duration| awaited().map(time).max().unwrap_or_default();
    let outputs = |of: fn(&Observation) -> &[u8]| {
        let mut all = Vec::new();
        for output in seen.iter().map(of).filter(|output| !output.is_empty()) {
            all.extend_from_slice(output);
            if !output.ends_with(b"\n") {
                all.push(b'\n');
            }
        }
        all
    };
    let floor_bytes = seen.iter().filter_map(|one| match one.memory_source {
        MemorySource::Launcher { floor_bytes } => Some(floor_bytes),
        MemorySource::None => None,
    });
    Some(Observation {
        ending: seen.iter().map(|one| one.ending).max_by_key(|ending| severity(*ending)).unwrap_or(first.ending),
        stdout: outputs(|one| &one.stdout),
        stderr: outputs(|one| &one.stderr),
        stdout_dropped_bytes: seen.iter().map(|one| one.stdout_dropped_bytes).sum(),
        stderr_dropped_bytes: seen.iter().map(|one| one.stderr_dropped_bytes).sum(),
        exit_after: longest(|one| one.exit_after),
        eof_after: longest(|one| one.eof_after),
        first_byte_after: seen.iter().filter_map(|one| one.first_byte_after).min(),
        cpu: seen.iter().map(|one| one.cpu).sum(),
        cpu_partial: seen.iter().any(|one| one.cpu_partial),
        peak_memory_bytes: seen.iter().filter_map(|one| one.peak_memory_bytes).max(),
        memory_source: floor_bytes
            .max()
            .map_or(MemorySource::None, |floor_bytes| MemorySource::Launcher { floor_bytes }),
        stdin_closed_early: seen.iter().any(|one| one.stdin_closed_early),
        stream_held_open: seen.iter().any(|one| one.stream_held_open),
        orphans: seen.iter().flat_map(|one| one.orphans.clone()).collect(),
    })
}

/// How much an ending matters: exit code 2 blocks, so it is worse than another code; no answer at all is worse still.
fn severity(ending: Ending) -> u8 {
    match ending {
        Ending::Exited(0) => 0,
        Ending::Exited(2) => 2,
        Ending::Exited(_) => 1,
        Ending::Signalled(_) => 3,
        Ending::TimedOut => 4,
        Ending::NotStarted(_) => 5,
        Ending::LauncherLost => 6,
    }
}

/// Positions of the hooks that gave cause for a finding about the process; empty for a finding about the whole.
pub fn blame(kind: FindingKind, whole: &Observation, seen: &[Observation]) -> Vec<usize> {
    let guilty = |one: &Observation| match kind {
        FindingKind::Timeout
        | FindingKind::Crash
        | FindingKind::NotStarted
        | FindingKind::ExitCode
        | FindingKind::LostLauncher => one.ending == whole.ending,
        FindingKind::Flood => one.stdout_dropped_bytes > 0 || one.stderr_dropped_bytes > 0,
        FindingKind::StreamHeldOpen => one.stream_held_open,
        FindingKind::Orphan => !one.orphans.is_empty(),
        FindingKind::StdinClosedEarly => one.stdin_closed_early,
        _ => false,
    };
    seen.iter().enumerate().filter(|(_, one)| guilty(one)).map(|(at, _)| at).collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
    use super::*;
    use crate::summary::fixture::step;

    fn seen(wall_ms: u64, cpu_ms: u64, ending: Ending) -> Observation {
        let mut one = step("s", "x", 0, 0).observation;
        one.eof_after = Duration::from_millis(wall_ms);
        one.exit_after = Duration::from_millis(wall_ms);
        one.cpu = Duration::from_millis(cpu_ms);
        one.ending = ending;
        one
    }

    #[test]
    fn slowest_time_summed_processor_and_worst_ending_make_the_whole() {
        let mut all = [seen(30, 5, Ending::Exited(0)), seen(90, 2, Ending::Exited(2)), seen(10, 1, Ending::Exited(1))];
        all[0].peak_memory_bytes = Some(7 << 20);
        all[2].cpu_partial = true;
        all[2].exit_after = Duration::from_millis(95);
        let whole = whole(&all, &[false; 3]).unwrap();
        assert_eq!((whole.eof_after.as_millis(), whole.exit_after.as_millis(), whole.cpu.as_millis()), (90, 95, 8));
        assert_eq!((whole.ending, whole.peak_memory_bytes), (Ending::Exited(2), Some(7 << 20)));
        assert!(whole.cpu_partial);
        assert_eq!(whole.stdout, b"{}\n{}\n{}\n");
    }

    #[test]
    fn hooks_in_the_background_cost_processor_but_no_waiting() {
        let all = [seen(30, 5, Ending::Exited(0)), seen(90, 2, Ending::Exited(0))];
        assert_eq!(whole(&all, &[false, true]).unwrap().eof_after.as_millis(), 30);
        assert_eq!(whole(&all, &[false, true]).unwrap().cpu.as_millis(), 7);
        assert_eq!(whole(&all, &[true, true]).unwrap().eof_after.as_millis(), 90);
    }

    #[test]
    fn findings_name_the_hooks_that_gave_cause() {
        let mut all = [seen(1, 1, Ending::Exited(0)), seen(1, 1, Ending::TimedOut)];
        all[0].stream_held_open = true;
        let whole = whole(&all, &[false; 2]).unwrap();
        assert_eq!(blame(FindingKind::Timeout, &whole, &all), [1]);
        assert_eq!(blame(FindingKind::StreamHeldOpen, &whole, &all), [0]);
        assert!(blame(FindingKind::NotEmpty, &whole, &all).is_empty());
    }
}
