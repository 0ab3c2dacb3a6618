//! From a call to an observation: the replayer's side.
//!
//! Guarantee: one straight line, and no state between calls except the launcher itself. A future that is dropped
//! half-way takes its launcher along, and with it everything the hook started; the next call begins with a fresh
//! one.
//!
//! Not here: starting and waiting, which the launcher process does.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until};

use super::call::{Call, HoldRule, Program};
use super::link::{Link, streams_in_hand};
use super::pump::{Capture, Feed};
use super::unix;
use super::wire::{Ended, Outcome, Reply, Request, Run, Swept};
use crate::observation::{Ending, MemorySource, Observation, SpawnFault};

/// How long past its last duty a launcher may be silent before it is given up.
const LAUNCHER_PATIENCE: Duration = Duration::from_secs(30);

/// Runs hooks, one at a time. Have one for each hook that is to run at the same time.
///
/// The process behind it starts with the first call, is used again by every later one, and is replaced when it
/// has died. Dropping the launcher ends the process.
#[derive(Debug)]
pub struct Launcher {
    executable: PathBuf,
    link: Option<Link>,
}

impl Default for Launcher {
    fn default() -> Self {
        Self::new()
    }
}

impl Launcher {
    /// A launcher of this very executable, whose `main` must call
    /// [`run_if_asked`](super::launcher::run_if_asked) first.
    pub fn new() -> Self {
        // The link stays valid when the file is replaced by a newer build during a run.
        let running = Path::new("/proc/self/exe");
        if running.exists() {
            return Self::with_executable(running);
        }
        Self::with_executable(std::env::current_exe().unwrap_or_default())
    }

    /// A launcher of another executable that answers to the same call, as tests and libraries need.
    pub fn with_executable(executable: impl Into<PathBuf>) -> Self {
        Self { executable: executable.into(), link: None }
    }

    /// Makes sure that the process behind it runs, so that several launchers can begin their calls together.
    ///
    /// # Errors
    /// When it cannot be started.
    pub async fn start(&mut self) -> io::Result<()> {
        self.link.take_if(|link| !link.is_alive());
        if self.link.is_none() {
            self.link = Some(Link::open(&self.executable).await?);
        }
        Ok(())
    }

    /// Runs one call to its end and leaves nothing of it behind.
    ///
    /// Needs a tokio runtime with I/O and time. Fails only when the launcher cannot be started or reached, or sockets
    /// ran out. A hook that takes its launcher along is an observation, and the next call has a fresh launcher.
    pub async fn call(&mut self, call: &Call) -> io::Result<Observation> {
        self.start().await?;
        let Some(mut link) = self.link.take() else {
            return Err(io::Error::other("the launcher was lost as it started"));
        };
        let (observation, clean) = observe(&mut link, call).await?;
        if clean {
            self.link = Some(link);
        }
        Ok(observation)
    }
}

/// The observation, and whether the launcher is fit for another call.
async fn observe(link: &mut Link, call: &Call) -> io::Result<(Observation, bool)> {
    let in_hand = streams_in_hand().await;
    let (mut feed, stdin) = Feed::open(&call.stdin, call.stdin_plan)?;
    let (mut out, stdout) = Capture::open(call.capture_limit_bytes)?;
    let (mut err, stderr) = Capture::open(call.capture_limit_bytes)?;
    let hook_ends = [stdin, stdout, stderr];
    link.send(&Request::Run(run_of(call)), Some(&hook_ends)).await?;
    drop(hook_ends);
    drop(in_hand);

    let began = Instant::now();
    let ended = match pump_until_ended(link, call, &mut feed, &mut out, &mut err).await {
        Err(error) if is_loss(&error) => {
            // What it said before is there, whoever is seen to be ready first.
            out.pull_now()?;
            err.pull_now()?;
            return Ok((unseen(out, err, began.elapsed()), false));
        }
        ended => ended?,
    };
    feed.push_now()?;
    out.pull_now()?;
    err.pull_now()?;
    let is_open = out.is_open() || err.is_open();
    // The host drops the output of a hook that ran into its timeout, and so has nothing to wait for.
    if is_open && !ended.timed_out {
        pump_while_held(call, &ended, &mut out, &mut err).await?;
    }
    let released_at = [&out, &err].map(|capture| capture.ended_at.unwrap_or_else(unix::monotonic));
    out.close();
    err.close();

    let swept = match ended.alone {
        true => Swept { orphans: Vec::new(), clean: true },
        false => match sweep(link).await {
            // What the hook left behind has ended it meanwhile.
            Err(error) if is_loss(&error) => return Ok((unseen(out, err, began.elapsed()), false)),
            swept => swept?,
        },
    };
    // A signal to the group ends the hook and its children in any order. Only who is left after it holds a stream.
    let group_was_signalled = ended.timed_out || (call.kill_after.is_some() && is_killed(&ended));
    let stream_held_open = is_open && (!group_was_signalled || !swept.orphans.is_empty());
    let [out_at, err_at] = released_at;
    // When the hook leaves nobody behind and the streams have ended, they ended with it at the latest. When the replayer
    // was given processor time to see that is the machine's affair: on a busy one, later by several no-ops.
    let ended_with_the_hook = ended.alone && !is_open;
    let waited_until = match ended.timed_out || ended_with_the_hook {
        true => ended.ended_at,
        false => out_at.max(err_at).max(ended.ended_at),
    };
    let since_start = |at: Duration| at.saturating_sub(ended.started_at);
    let started = matches!(ended.outcome, Outcome::Status(_));
    let observation = Observation {
        ending: ending_of(&ended),
        stdout: out.bytes,
        stderr: err.bytes,
        stdout_dropped_bytes: out.dropped_bytes,
        stderr_dropped_bytes: err.dropped_bytes,
        exit_after: since_start(ended.ended_at),
        eof_after: since_start(waited_until),
        // Seen late, for the same reason, it still came before the end.
        first_byte_after: out.first_byte_at.map(|at| since_start(at.min(waited_until))),
        cpu: ended.cpu,
        cpu_partial: stream_held_open || !ended.alone,
        peak_memory_bytes: ended.floor_bytes.filter(|_| started).map(|_| ended.peak_bytes),
        memory_source: match ended.floor_bytes {
            Some(floor_bytes) => MemorySource::Launcher { floor_bytes },
            None => MemorySource::None,
        },
        stdin_closed_early: started && feed.is_unfinished(),
        stream_held_open,
        orphans: swept.orphans,
    };
    Ok((observation, swept.clean))
}

/// What is known of a call whose launcher did not live to tell the end.
fn unseen(out: Capture, err: Capture, waited: Duration) -> Observation {
    Observation {
        ending: Ending::LauncherLost,
        stdout: out.bytes,
        stderr: err.bytes,
        stdout_dropped_bytes: out.dropped_bytes,
        stderr_dropped_bytes: err.dropped_bytes,
        exit_after: waited,
        eof_after: waited,
        first_byte_after: None,
        cpu: Duration::ZERO,
        cpu_partial: true,
        peak_memory_bytes: None,
        memory_source: MemorySource::None,
        stdin_closed_early: false,
        stream_held_open: false,
        orphans: Vec::new(),
    }
}

/// The launcher ended, or fell silent, while it owed a reply about a hook: nobody but the hook could have done that.
fn is_loss(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::TimedOut)
}

fn run_of(call: &Call) -> Run {
    let argv: Vec<OsString> = match &call.program {
        Program::Shell(line) => vec!["/bin/sh".into(), "-c".into(), line.into()],
        Program::Exec(words) => words.iter().map(OsString::from).collect(),
    };
    Run {
        argv,
        env: call.env.clone(),
        cwd: call.cwd.clone().into_os_string(),
        timeout: call.timeout,
        kill_grace: call.kill_grace,
        kill_after: call.kill_after,
    }
}

async fn pump_until_ended(
    link: &mut Link,
    call: &Call,
    feed: &mut Feed<'_>,
    out: &mut Capture,
    err: &mut Capture,
) -> io::Result<Ended> {
    let patience = call.timeout.saturating_add(call.kill_grace).saturating_add(LAUNCHER_PATIENCE);
    let overdue = sleep(patience);
    tokio::pin!(overdue);
    loop {
        tokio::select! {
            reply = link.receive() => return match reply? {
                Reply::Ended(ended) => Ok(ended),
                Reply::Swept(_) => Err(io::ErrorKind::InvalidData.into()),
            },
            pushed = feed.push() => pushed?,
            pulled = out.pull() => pulled?,
            pulled = err.pull() => pulled?,
            () = &mut overdue => return Err(silent()),
        }
    }
}

async fn pump_while_held(call: &Call, ended: &Ended, out: &mut Capture, err: &mut Capture) -> io::Result<()> {
    let exit = Instant::now();
    let time_left = call.timeout.saturating_sub(ended.ended_at.saturating_sub(ended.started_at));
    let mut last_byte = exit;
    while out.is_open() || err.is_open() {
        let patience = match call.hold {
            HoldRule::UntilEof => time_left.saturating_sub(exit.elapsed()),
            HoldRule::Quiet { quiet, total } => {
                quiet.saturating_sub(last_byte.elapsed()).min(total.saturating_sub(exit.elapsed()))
            }
        };
        if patience.is_zero() {
            break;
        }
        tokio::select! {
            pulled = out.pull() => pulled?,
            pulled = err.pull() => pulled?,
            () = sleep(patience) => break,
        }
        last_byte = Instant::now();
    }
    Ok(())
}

async fn sweep(link: &mut Link) -> io::Result<Swept> {
    link.send(&Request::Sweep, None).await?;
    tokio::select! {
        reply = link.receive() => match reply? {
            Reply::Swept(swept) => Ok(swept),
            Reply::Ended(_) => Err(io::ErrorKind::InvalidData.into()),
        },
        () = sleep_until(Instant::now() + LAUNCHER_PATIENCE) => Err(silent()),
    }
}

fn is_killed(ended: &Ended) -> bool {
    matches!(ended.outcome, Outcome::Status(status) if unix::signal_of(status) == Some(libc::SIGKILL))
}

fn silent() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "the launcher process does not answer")
}

fn ending_of(ended: &Ended) -> Ending {
    match ended.outcome {
        Outcome::Status(_) if ended.timed_out => Ending::TimedOut,
        Outcome::Status(status) => match (unix::exit_code(status), unix::signal_of(status)) {
            (Some(code), _) => Ending::Exited(code),
            (None, Some(signal)) => Ending::Signalled(signal),
            // Only a stopped process has neither, and the launcher waits for ended ones.
            (None, None) => Ending::Exited(status),
        },
        Outcome::NoProgram(libc::ENOENT) => Ending::NotStarted(SpawnFault::NotFound),
        Outcome::NoProgram(libc::EACCES) => Ending::NotStarted(SpawnFault::NotPermitted),
        Outcome::NoProgram(errno) | Outcome::NoFolder(errno) => Ending::NotStarted(SpawnFault::Other(errno)),
    }
}
