//! Runs a system's process: queries in, a run out, a limit on time and output, no remains.
//!
//! The process gets a group of its own, which is ended when the limit is reached, when the user interrupts, and when it
//! is done. It is done when it has ended and its output is silent: a child that it left behind may hold the streams open
//! for ever, and is not waited for. A child that left the group is not ended. Time of a whole system is kept for the
//! report and is no measure of a query: loading the corpus is part of it.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::interrupt::Interrupt;
use crate::process::{has_ended, signal_group};

/// Most bytes of a run; fifty ranked records of a hundred thousand queries fit.
const MAX_OUTPUT_BYTES: u64 = 1 << 30;
/// Most bytes of stderr that are kept for the message.
const MAX_TALK_BYTES: usize = 4 * 1024;
/// How often a waiting evaluation looks whether it was interrupted.
const TICK: Duration = Duration::from_millis(100);
/// How long a stream that others hold open must be silent, after the system has ended, to count as done.
const SILENCE: Duration = Duration::from_secs(1);
/// Lines that wait between the process and the evaluation.
const QUEUED: usize = 1024;

/// A system that came to its end by itself with exit code 0.
#[derive(Debug)]
pub struct Finished {
    /// Everything it printed.
    pub stdout: Vec<u8>,
    /// From spawn to end of output.
    pub wall: Duration,
}

/// Why a system has no answer.
#[derive(Debug, PartialEq, Eq)]
pub enum Failed {
    /// It could not be started, crashed, failed, or reached a limit: one sentence.
    System(String),
    /// The user interrupted the evaluation.
    Interrupted,
}

/// Runs a command line by the shell; `progress` hears how many queries have an answer.
///
/// # Errors
/// See [`Failed`]; the process group is gone in every case.
pub fn run(
    command: &str,
    queries: &[u8],
    timeout: Duration,
    interrupt: &Interrupt,
    progress: &mut dyn FnMut(u64),
) -> Result<Finished, Failed> {
    let start = Instant::now();
    let mut child = Command::new("/bin/sh")
        .args(["-c", command])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|error| Failed::System(format!("it could not be started: {error}")))?;
    let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(mut stdin), Some(stdout), Some(mut stderr)) = streams else {
        return Err(Failed::System("it has no streams".to_owned()));
    };
    let queries = queries.to_vec();
    // A system that does not read its queries must not block us; its answers tell what it read.
    thread::spawn(move || drop(stdin.write_all(&queries)));
    let talk = Talk::listen(move |heard| tail(&mut stderr, heard));
    // Bounded, so that a system that floods is slowed down and its output does not pile up twice.
    let (lines, inbox) = sync_channel::<Vec<u8>>(QUEUED);
    thread::spawn(move || {
        let mut reader = BufReader::with_capacity(1 << 16, stdout.take(MAX_OUTPUT_BYTES + 1));
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) && lines.send(std::mem::take(&mut line)).is_ok()
        {
        }
    });
    let mut collected = Vec::new();
    let mut counter = Counter::default();
    let mut heard_at = start;
    let mut ended_at = None;
    loop {
        match inbox.recv_timeout(TICK) {
            Ok(line) => {
                counter.see(&line, progress);
                collected.extend(line);
                heard_at = Instant::now();
            }
            Err(RecvTimeoutError::Timeout) => {
                if ended_at.is_none() && leader_has_ended(&child) {
                    ended_at = Some(Instant::now());
                }
                if ended_at.is_some_and(|at| at.max(heard_at).elapsed() >= SILENCE) {
                    break;
                }
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
        let limit = if interrupt.is_raised() {
            Some(Failed::Interrupted)
        } else if start.elapsed() >= timeout {
            Some(Failed::System(format!("it still ran after {} s", timeout.as_secs())))
        } else if collected.len() as u64 > MAX_OUTPUT_BYTES {
            Some(Failed::System(format!("it printed more than {MAX_OUTPUT_BYTES} bytes")))
        } else {
            None
        };
        if let Some(limit) = limit {
            let _ = end(&mut child);
            return Err(limit);
        }
    }
    let wall = ended_at.map_or_else(Instant::now, |at: Instant| at.max(heard_at)).duration_since(start);
    let status = wait(&mut child, timeout.saturating_sub(wall), interrupt)?;
    let talk = talk.heard();
    match (status.code(), status.signal()) {
        (Some(0), _) => Ok(Finished { stdout: collected, wall }),
        (Some(code), _) => Err(Failed::System(format!("it ended with code {code}{}", said(&talk)))),
        (None, signal) => Err(Failed::System(format!("it was ended by signal {}{}", signal.unwrap_or(0), said(&talk)))),
    }
}

/// Waits for a process that has closed its output, then ends what is left of its group.
fn wait(child: &mut Child, patience: Duration, interrupt: &Interrupt) -> Result<ExitStatus, Failed> {
    let start = Instant::now();
    loop {
        // The leader is looked at without reaping it: until then its group's number belongs to nobody else.
        if leader_has_ended(child) {
            return end(child).map_err(|error| Failed::System(format!("it was lost: {error}")));
        }
        let limit = if interrupt.is_raised() {
            Some(Failed::Interrupted)
        } else if start.elapsed() >= patience {
            Some(Failed::System("it closed its output and did not end".to_owned()))
        } else {
            None
        };
        if let Some(limit) = limit {
            let _ = end(child);
            return Err(limit);
        }
        thread::sleep(Duration::from_millis(5));
    }
}

fn leader_has_ended(child: &Child) -> bool {
    i32::try_from(child.id()).is_ok_and(has_ended)
}

/// Ends the whole group and reaps its leader.
fn end(child: &mut Child) -> std::io::Result<ExitStatus> {
    if let Ok(leader) = i32::try_from(child.id()) {
        signal_group(leader, libc::SIGKILL);
    }
    child.wait()
}

/// What a stream says, heard by a thread of its own.
struct Talk {
    last: Arc<Mutex<Vec<u8>>>,
    listener: JoinHandle<()>,
}

impl Talk {
    fn listen(listen: impl FnOnce(&Mutex<Vec<u8>>) + Send + 'static) -> Talk {
        let last = Arc::default();
        let shared = Arc::clone(&last);
        Talk { last, listener: thread::spawn(move || listen(&shared)) }
    }

    /// What was said last, once the process is gone. A stream that somebody still holds open is not waited for.
    fn heard(self) -> Vec<u8> {
        let gone_at = Instant::now();
        while !self.listener.is_finished() && gone_at.elapsed() < SILENCE {
            thread::sleep(Duration::from_millis(5));
        }
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Keeps the last bytes of a stream until its end.
fn tail(stream: &mut impl Read, kept: &Mutex<Vec<u8>>) {
    let mut piece = [0; 4096];
    while let Ok(n) = stream.read(&mut piece) {
        if n == 0 {
            break;
        }
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(piece.get(..n).unwrap_or_default());
        let over = kept.len().saturating_sub(MAX_TALK_BYTES);
        kept.drain(..over);
    }
}

/// What a system said last, as the end of a sentence.
fn said(talk: &[u8]) -> String {
    let text = String::from_utf8_lossy(talk);
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let shown: String = last.trim().chars().filter(|sign| !sign.is_control()).take(200).collect();
    if shown.is_empty() { String::new() } else { format!(": {shown}") }
}

/// Counts the queries that have lines.
#[derive(Default)]
struct Counter {
    last: Vec<u8>,
    n: u64,
}

impl Counter {
    fn see(&mut self, line: &[u8], progress: &mut dyn FnMut(u64)) {
        let qid = line.split(|byte| byte.is_ascii_whitespace()).next().unwrap_or_default();
        if self.last != qid {
            self.last = qid.to_vec();
            self.n += 1;
            progress(self.n);
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

    use super::*;

    fn system(command: &str, timeout_s: u64) -> Result<Finished, Failed> {
        run(command, b"one\ntwo\n", Duration::from_secs(timeout_s), &Interrupt::never(), &mut |_| {})
    }

    #[test]
    fn queries_go_in_and_a_run_comes_out() {
        assert_eq!(system("cat", 60).unwrap().stdout, b"one\ntwo\n");
    }

    #[test]
    fn a_system_that_reads_nothing_is_no_trouble() {
        assert_eq!(system("exec 0<&-; echo done", 60).unwrap().stdout, b"done\n");
    }

    #[test]
    fn failures_say_what_happened() {
        let why = |command: &str, timeout_s| match system(command, timeout_s) {
            Err(Failed::System(why)) => why,
            other => format!("{other:?}"),
        };
        assert_eq!(why("echo no such index >&2; exit 7", 60), "it ended with code 7: no such index");
        assert_eq!(why("kill -9 $$", 60), "it was ended by signal 9");
        assert_eq!(why("sleep 600", 1), "it still ran after 1 s");
        assert_eq!(why("exec 1>&-; sleep 600", 1), "it closed its output and did not end");
    }

    #[test]
    fn a_child_that_outlives_its_system_holds_nothing_up() {
        // In its group or in a session of its own, with one stream, with the other, with both.
        for leave in ["sleep 600 &", "setsid sleep 20 &", "setsid sleep 20 >&2 &", "setsid sleep 20 2>&1 &"] {
            let done = system(&format!("cat; {leave}"), 600).unwrap();
            assert_eq!(done.stdout, b"one\ntwo\n", "{leave}");
        }
        let failed = system("echo gone wrong >&2; setsid sleep 20 & exit 3", 600).unwrap_err();
        assert_eq!(failed, Failed::System("it ended with code 3: gone wrong".to_owned()));
    }

    #[test]
    fn an_interrupt_ends_a_system() {
        let interrupt = Interrupt::never();
        interrupt.raise();
        let ended = run("sleep 600", b"", Duration::from_secs(600), &interrupt, &mut |_| {});
        assert_eq!(ended.unwrap_err(), Failed::Interrupted);
    }
}
