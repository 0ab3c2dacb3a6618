//! Finds, names and ends what outlived a hook.
//!
//! Runs in the launcher, which adopts every descendant that loses its parent, also those that made a session of
//! their own. So the survivors are exactly the launcher's descendants.
//!
//! Guarantee: only children of the launcher are signalled, and a child's number cannot pass to another process
//! before the launcher has reaped it. Deeper descendants become children as their parents end, and get their turn.
//!
//! Not here: systems without adoption. There the launcher never has such children and nothing is found.

use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use super::unix;
use super::wire::Swept;
use crate::observation::Orphan;

/// A descendant may need this long to see that its hook is gone, or to die of the signal its whole group got.
const SETTLE: Duration = Duration::from_millis(100);

/// A process that SIGKILL does not end within this time is stuck in the kernel.
const KILL_LIMIT: Duration = Duration::from_secs(2);

/// One line of the process table.
struct Process {
    pid: i32,
    parent: i32,
    name: String,
    is_dead: bool,
}

/// Ends every descendant that is still there after a short wait, and names them.
pub(super) fn end_all() -> Swept {
    if wait_for_children(SETTLE, |_| {}) {
        return Swept { orphans: Vec::new(), clean: true };
    }
    let orphans = living_descendants(&process_table(), own_pid());
    let clean = wait_for_children(KILL_LIMIT, |child| unix::signal_child(child, libc::SIGKILL));
    Swept { orphans, clean }
}

/// Reaps children until none is left, which is true, or the limit is reached. Each round first treats them all.
fn wait_for_children(limit: Duration, treat: impl Fn(i32)) -> bool {
    let deadline = unix::monotonic() + limit;
    loop {
        while unix::reap_any().is_some() {}
        if unix::is_childless() {
            return true;
        }
        let patience = deadline.saturating_sub(unix::monotonic());
        if patience.is_zero() {
            return false;
        }
        let me = own_pid();
        let children: Vec<i32> = process_table().iter().filter(|p| p.parent == me).map(|p| p.pid).collect();
        children.iter().for_each(|child| treat(*child));
        let ends: Vec<OwnedFd> = children.iter().filter_map(|child| unix::exit_descriptor(*child)).collect();
        let ends: Vec<_> = ends.iter().map(AsFd::as_fd).collect();
        if unix::wait_readable(&ends, Some(patience)).is_err() {
            return false;
        }
    }
}

fn own_pid() -> i32 {
    i32::try_from(std::process::id()).unwrap_or(i32::MAX)
}

fn process_table() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    // A process that ends while the table is read has no line, which is as good as never listed.
    pids.filter_map(|pid: i32| parse_stat(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)).collect()
}

/// Reads `PID (NAME) STATE PARENT ...`; the name may hold blanks, brackets and any byte.
fn parse_stat(pid: i32, line: &[u8]) -> Option<Process> {
    let opening = line.iter().position(|byte| *byte == b'(')?;
    let closing = line.iter().rposition(|byte| *byte == b')')?;
    let name = String::from_utf8_lossy(line.get(opening + 1..closing)?).into_owned();
    let mut fields = std::str::from_utf8(line.get(closing + 1..)?).ok()?.split_ascii_whitespace();
    let is_dead = matches!(fields.next()?, "Z" | "X");
    Some(Process { pid, parent: fields.next()?.parse().ok()?, name, is_dead })
}

fn living_descendants(table: &[Process], ancestor: i32) -> Vec<Orphan> {
    let mut found = Vec::new();
    let mut parents = vec![ancestor];
    while let Some(parent) = parents.pop() {
        for process in table.iter().filter(|p| p.parent == parent && p.pid != parent) {
            parents.push(process.pid);
            if !process.is_dead {
                found.push(Orphan { pid: process.pid, name: process.name.clone() });
            }
        }
    }
    found.sort_by_key(|orphan| orphan.pid);
    found
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
    use super::*;

    #[test]
    fn stat_line_survives_brackets_in_the_name() {
        let process = parse_stat(12, b"12 (a) S (b c) Z 7 12 12 0").unwrap();
        assert_eq!((process.name.as_str(), process.parent, process.is_dead), ("a) S (b c", 7, true));
        assert!(parse_stat(12, b"12 (cut").is_none());
    }

    #[test]
    fn descendants_are_found_through_the_dead_but_only_the_living_are_named() {
        let lines: [(i32, &[u8]); 5] = [
            (2, b"2 (other) S 1"),
            (5, b"5 (launcher) S 1"),
            (6, b"6 (shell) Z 5"),
            (7, b"7 (server) S 6"),
            (8, b"8 (worker) R 7"),
        ];
        let table: Vec<_> = lines.iter().map(|(pid, line)| parse_stat(*pid, line).unwrap()).collect();
        let named: Vec<_> = living_descendants(&table, 5).into_iter().map(|orphan| orphan.name).collect();
        assert_eq!(named, ["server", "worker"]);
    }
}
