//! The launcher: a tiny process that starts hooks, waits for them and reads their resource use.
//!
//! It is this executable started again as `hookbench __launcher`, with the control socket as its stdin. It serves
//! one request at a time and ends when the replayer's end of the socket closes, however that came about; then it
//! ends whatever a hook left. A parent-death signal is not used: it follows the thread that started the launcher,
//! not the replayer.
//!
//! Guarantee: clocks are read directly around the hook, waiting blocks in the kernel, and the launcher stays small.
//! Its largest size is what every hook's peak memory starts from, so that size is reported with each figure.
//!
//! Not here: the hook's streams. Their descriptors pass through and are closed once the hook has them.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::wire::{self, Ended, Outcome, Reply, Request, Run};
use super::{program, survivor, unix};

/// The argument that makes the executable a launcher.
pub(super) const ARGUMENT: &str = "__launcher";

/// Where exit descriptors do not exist, the end of a hook is looked for this often.
const LOOK_INTERVAL: Duration = Duration::from_millis(1);

/// Searched when the hook's environment has no `PATH`, as `execvp` does.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// Turns this process into a launcher, and never returns, when its first argument asks for that.
///
/// `main` calls it before anything else: whatever is in memory by then is the floor of every memory figure.
pub fn run_if_asked() {
    if std::env::args_os().nth(1).is_none_or(|argument| argument != ARGUMENT) {
        return;
    }
    // An interrupt from the terminal must reach the replayer only, which closes the socket in its own time. And
    // Linux may share out processor time by session: on a busy terminal, a launcher that stayed in the terminal's
    // session would see its hooks' ends late by whole time slices.
    unix::leave_session();
    unix::close_inherited();
    unix::adopt_orphans();
    let served = io::stdin().as_fd().try_clone_to_owned().and_then(|fd| serve(&UnixStream::from(fd)));
    survivor::end_all();
    std::process::exit(if served.is_ok() { 0 } else { 70 });
}

fn serve(mut control: &UnixStream) -> io::Result<()> {
    while let Some((request, streams)) = receive(control)? {
        let reply = match (request, streams) {
            (Request::Sweep, _) => Reply::Swept(survivor::end_all()),
            (Request::Run(run), Some(streams)) => match run_hook(&run, streams, control)? {
                Some(ended) => Reply::Ended(ended),
                None => return Ok(()),
            },
            (Request::Run(_), None) => return Err(io::ErrorKind::InvalidData.into()),
        };
        control.write_all(&reply.encode())?;
    }
    Ok(())
}

/// The next request, or `None` when the replayer is gone.
fn receive(mut control: &UnixStream) -> io::Result<Option<(Request, Option<[OwnedFd; unix::N_STREAMS]>)>> {
    let mut prefix = [0; 4];
    let (n_bytes, streams) = unix::receive_with_streams(control.as_fd(), &mut prefix)?;
    if n_bytes == 0 {
        return Ok(None);
    }
    control.read_exact(prefix.get_mut(n_bytes..).unwrap_or_default())?;
    let mut body = vec![0; wire::body_len(prefix)];
    control.read_exact(&mut body)?;
    let request = Request::decode(&body).ok_or(io::ErrorKind::InvalidData)?;
    Ok(Some((request, streams)))
}

/// Starts a hook and waits for its end; `None` when the replayer went away meanwhile.
fn run_hook(run: &Run, streams: [OwnedFd; unix::N_STREAMS], control: &UnixStream) -> io::Result<Option<Ended>> {
    let floor_bytes = peak_resident_bytes();
    let refused = |outcome: Outcome, at: Duration| Ended {
        started_at: at,
        ended_at: unix::monotonic(),
        outcome,
        timed_out: false,
        cpu: Duration::ZERO,
        peak_bytes: 0,
        floor_bytes,
        alone: unix::is_childless(),
    };
    if let Err(error) = std::env::set_current_dir(&run.cwd) {
        return Ok(Some(refused(Outcome::NoFolder(errno(&error)), unix::monotonic())));
    }
    let image = match prepare(run) {
        Ok(image) => image,
        Err(error) => return Ok(Some(refused(Outcome::NoProgram(errno(&error)), unix::monotonic()))),
    };
    let started_at = unix::monotonic();
    let pid = match image.spawn(&streams) {
        Ok(pid) => pid,
        Err(error) => return Ok(Some(refused(Outcome::NoProgram(errno(&error)), started_at))),
    };
    // From here on only the hook and its descendants hold the streams, so their end can be seen.
    drop(streams);
    let Some(Seen { ended_at, timed_out }) = wait(pid, run, started_at, control)? else {
        unix::signal_group(pid, libc::SIGKILL);
        return Ok(None);
    };
    let ended = unix::reap(pid)?;
    Ok(Some(Ended {
        started_at,
        ended_at,
        outcome: Outcome::Status(ended.status),
        timed_out,
        cpu: ended.cpu,
        peak_bytes: ended.peak_bytes,
        floor_bytes,
        alone: unix::is_childless(),
    }))
}

/// The end of a hook as the launcher saw it.
struct Seen {
    ended_at: Duration,
    timed_out: bool,
}

/// Blocks until the hook has ended, sending the signals that fall due; `None` means that the replayer is gone.
fn wait(pid: i32, run: &Run, started_at: Duration, control: &UnixStream) -> io::Result<Option<Seen>> {
    let exit = unix::exit_descriptor(pid);
    let mut timeout_at = started_at.checked_add(run.timeout);
    let mut kill_at = run.kill_after.and_then(|after| started_at.checked_add(after));
    let mut timed_out = false;
    loop {
        let now = unix::monotonic();
        if timeout_at.is_some_and(|at| at <= now) {
            unix::signal_group(pid, libc::SIGTERM);
            (timed_out, timeout_at) = (true, None);
            let grace_ends = now.checked_add(run.kill_grace);
            kill_at = [kill_at, grace_ends].into_iter().flatten().min();
        }
        if kill_at.is_some_and(|at| at <= now) {
            unix::signal_group(pid, libc::SIGKILL);
            kill_at = None;
        }
        let patience = [timeout_at, kill_at].into_iter().flatten().min().map(|at| at.saturating_sub(now));
        let (has_ended, is_abandoned) = match &exit {
            Some(exit) => {
                let ready = unix::wait_readable(&[exit.as_fd(), control.as_fd()], patience)?;
                (ready.first() == Some(&true), ready.get(1) == Some(&true))
            }
            None => {
                let look = patience.map_or(LOOK_INTERVAL, |p| p.min(LOOK_INTERVAL));
                let ready = unix::wait_readable(&[control.as_fd()], Some(look))?;
                (unix::has_ended(pid), ready.first() == Some(&true))
            }
        };
        if has_ended {
            return Ok(Some(Seen { ended_at: unix::monotonic(), timed_out }));
        }
        // The replayer sends nothing while a hook runs: a readable socket is a closed one.
        if is_abandoned {
            return Ok(None);
        }
    }
}

fn prepare(run: &Run) -> io::Result<unix::Image> {
    let name = run.argv.first().ok_or(io::ErrorKind::NotFound)?;
    let path = run.env.iter().find(|(name, _)| name == "PATH").map_or(OsStr::new(DEFAULT_PATH), |(_, path)| path);
    let file = program::find(name, path)?;
    let env = run.env.iter().map(|(name, value)| {
        let mut pair = OsString::with_capacity(name.len() + value.len() + 1);
        pair.push(name);
        pair.push("=");
        pair.push(value);
        pair.into_encoded_bytes()
    });
    unix::Image::new(file.as_os_str(), &run.argv, env.collect())
}

/// The `errno` of an error, also of those that the standard library names without one.
fn errno(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(match error.kind() {
        io::ErrorKind::NotFound => libc::ENOENT,
        io::ErrorKind::PermissionDenied => libc::EACCES,
        _ => libc::EINVAL,
    })
}

/// This process's largest resident size so far; a child born by `posix_spawn` starts its own count there.
///
/// Read from the memory map, since this process's `ru_maxrss` itself started at the replayer's size.
fn peak_resident_bytes() -> Option<u64> {
    // The kernel writes the whole text at once, and the line stands early in it.
    let mut text = [0; 4096];
    let len = File::open("/proc/self/status").and_then(|mut status| status.read(&mut text)).ok()?;
    let text = String::from_utf8_lossy(text.get(..len)?);
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
