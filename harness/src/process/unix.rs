//! The calls to the kernel that the standard library does not offer, each behind a safe function.
//!
//! Guarantee: all `unsafe` of this crate stands here, every block with the reason why it is sound. Functions
//! return plain values or `io::Error`, and decide nothing.
//!
//! Not here: policy. Which process is ended, when and why, is for the launcher and the survivor search.
//!
//! Outside Linux there is no exit descriptor, no adoption of orphans and no closing of inherited descriptors:
//! the functions exist and say so by their result.
#![expect(unsafe_code, reason = "process creation, waiting and descriptor passing need direct system calls")]

use std::ffi::{CString, OsStr, c_char, c_int, c_void};
use std::io;
use std::mem::{self, MaybeUninit};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::ptr;
use std::time::Duration;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Descriptors that travel with one request: the hook's stdin, stdout and stderr.
pub(super) const N_STREAMS: usize = 3;

#[cfg(target_os = "linux")]
const SEND_FLAGS: c_int = libc::MSG_NOSIGNAL;
#[cfg(not(target_os = "linux"))]
const SEND_FLAGS: c_int = 0;

#[cfg(target_os = "linux")]
const RECEIVE_FLAGS: c_int = libc::MSG_CMSG_CLOEXEC;
#[cfg(not(target_os = "linux"))]
const RECEIVE_FLAGS: c_int = 0;

#[cfg(target_os = "linux")]
const NEW_SESSION: c_int = libc::POSIX_SPAWN_SETSID as c_int;
// Apple's <spawn.h> has the flag since macOS 10.15; the libc crate does not name it.
#[cfg(not(target_os = "linux"))]
const NEW_SESSION: c_int = 0x0400;

/// Room for the control message of [`N_STREAMS`] descriptors, aligned for `cmsghdr`.
#[repr(C)]
union ControlRoom {
    _align: libc::cmsghdr,
    bytes: [u8; 64],
}

/// What `wait4` says about one ended process.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ended {
    /// The raw wait status, for [`exit_code`] and [`signal_of`].
    pub(super) status: i32,
    /// User plus system time of the process and the descendants it reaped.
    pub(super) cpu: Duration,
    /// Largest resident size of the process or of a descendant it reaped, in bytes.
    pub(super) peak_bytes: u64,
}

/// Time since an arbitrary start that all processes of the machine share (`CLOCK_MONOTONIC`).
pub(super) fn monotonic() -> Duration {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a valid timespec for the call to fill.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    Duration::new(u64::try_from(now.tv_sec).unwrap_or(0), u32::try_from(now.tv_nsec).unwrap_or(0))
}

/// CPU time of this process so far, user plus system; what `wait4` will say of it at its end.
pub(super) fn process_cpu() -> Duration {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a valid timespec for the call to fill.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut now) };
    Duration::new(u64::try_from(now.tv_sec).unwrap_or(0), u32::try_from(now.tv_nsec).unwrap_or(0))
}

/// Makes this process the parent of every descendant that loses its own. False where that does not exist.
pub(super) fn adopt_orphans() -> bool {
    #[cfg(target_os = "linux")]
    // SAFETY: prctl with this option takes one integer and touches no memory of ours.
    return unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) } == 0;
    #[cfg(not(target_os = "linux"))]
    false
}

/// Moves this process into a session of its own. Does nothing when it leads a process group already.
pub(super) fn leave_session() {
    // SAFETY: the call takes nothing and touches no memory of ours.
    unsafe { libc::setsid() };
}

/// Closes every descriptor above stderr, so that hooks inherit none of a build tool's or a runner's.
///
/// Does nothing outside Linux and on kernels before 5.9.
pub(super) fn close_inherited() {
    #[cfg(target_os = "linux")]
    // SAFETY: called first in a process that has opened nothing yet, so no owner of these descriptors exists.
    unsafe {
        libc::syscall(libc::SYS_close_range, 3 as libc::c_uint, libc::c_uint::MAX, 0 as libc::c_uint);
    }
}

/// Has the current tokio runtime watch `socket`, which does not block.
pub(super) fn watch(socket: UnixStream, interest: Interest) -> io::Result<AsyncFd<UnixStream>> {
    // SAFETY: a UnixStream owns one descriptor, always names the same one, and closes it only when dropped.
    unsafe { AsyncFd::register_with_interest(socket, interest) }.map_err(io::Error::from)
}

/// Sends `bytes` with the three descriptors attached to its first byte; returns how many bytes were taken.
pub(super) fn send_with_streams(
    socket: BorrowedFd<'_>,
    bytes: &[u8],
    streams: &[OwnedFd; N_STREAMS],
) -> io::Result<usize> {
    let raw: [RawFd; N_STREAMS] = std::array::from_fn(|i| streams[i].as_raw_fd());
    let payload_len = mem::size_of_val(&raw) as u32;
    let mut room = ControlRoom { bytes: [0; 64] };
    let mut part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast::<c_void>(), iov_len: bytes.len() };
    // SAFETY: a zeroed msghdr is a valid empty message.
    let mut message: libc::msghdr = unsafe { mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = (&raw mut room).cast::<c_void>();
    // SAFETY: the room is aligned and larger than CMSG_SPACE of three descriptors, so the first header and its
    // data lie inside it; `message` and all it points to live until the call returns.
    let sent = unsafe {
        message.msg_controllen = libc::CMSG_SPACE(payload_len) as _;
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(payload_len) as _;
        ptr::copy_nonoverlapping(raw.as_ptr().cast::<u8>(), libc::CMSG_DATA(header), payload_len as usize);
        libc::sendmsg(socket.as_raw_fd(), &raw const message, SEND_FLAGS)
    };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

/// Reads into `buffer`, blocking; returns the number of bytes (0 at end) and the descriptors that came along.
pub(super) fn receive_with_streams(
    socket: BorrowedFd<'_>,
    buffer: &mut [u8],
) -> io::Result<(usize, Option<[OwnedFd; N_STREAMS]>)> {
    let mut raw: [RawFd; N_STREAMS] = [-1; N_STREAMS];
    let payload_len = mem::size_of_val(&raw) as u32;
    let mut room = ControlRoom { bytes: [0; 64] };
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast::<c_void>(), iov_len: buffer.len() };
    // SAFETY: a zeroed msghdr is a valid empty message.
    let mut message: libc::msghdr = unsafe { mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = (&raw mut room).cast::<c_void>();
    // SAFETY: the control length is at most the room; all that `message` points to outlives the call.
    let taken = unsafe {
        message.msg_controllen = libc::CMSG_SPACE(payload_len) as _;
        libc::recvmsg(socket.as_raw_fd(), &raw mut message, RECEIVE_FLAGS)
    };
    let n_bytes = usize::try_from(taken).map_err(|_| io::Error::last_os_error())?;
    // SAFETY: the kernel wrote the control message; a null header means none, and the length is compared with
    // that of exactly three descriptors before they are read and owned once.
    unsafe {
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        if header.is_null()
            || (*header).cmsg_type != libc::SCM_RIGHTS
            || (*header).cmsg_len as usize != libc::CMSG_LEN(payload_len) as usize
        {
            return Ok((n_bytes, None));
        }
        ptr::copy_nonoverlapping(libc::CMSG_DATA(header), raw.as_mut_ptr().cast::<u8>(), payload_len as usize);
        Ok((n_bytes, Some(raw.map(|fd| OwnedFd::from_raw_fd(fd)))))
    }
}

/// The strings of one `execve`, ready for the kernel.
#[derive(Debug)]
pub(super) struct Image {
    path: CString,
    argv: Vec<CString>,
    env: Vec<CString>,
}

impl Image {
    /// Prepares `path` with `argv` (its own name included) and `NAME=value` strings.
    ///
    /// Fails with `InvalidInput` when a string holds a NUL.
    pub(super) fn new(path: &OsStr, argv: &[impl AsRef<OsStr>], env: Vec<Vec<u8>>) -> io::Result<Self> {
        Ok(Self {
            path: CString::new(path.as_bytes())?,
            argv: argv.iter().map(|arg| CString::new(arg.as_ref().as_bytes())).collect::<Result<_, _>>()?,
            env: env.into_iter().map(CString::new).collect::<Result<_, _>>()?,
        })
    }

    /// Starts the image as leader of a new session, with the three streams, default signals and nothing blocked.
    ///
    /// Uses `posix_spawn`, which shares this process's memory until the `execve`: no page tables are copied. The
    /// error is the kernel's `errno` of whichever step failed.
    pub(super) fn spawn(&self, streams: &[OwnedFd; N_STREAMS]) -> io::Result<i32> {
        let argv = pointers(&self.argv);
        let env = pointers(&self.env);
        let mut actions = MaybeUninit::<libc::posix_spawn_file_actions_t>::uninit();
        let mut attributes = MaybeUninit::<libc::posix_spawnattr_t>::uninit();
        let mut signals = MaybeUninit::<libc::sigset_t>::uninit();
        let mut pid: libc::pid_t = 0;
        // SAFETY: both objects are initialised before use and destroyed once; the pointer lists end in null and
        // borrow strings that outlive the call; the descriptors are open for its duration.
        unsafe {
            check(libc::posix_spawn_file_actions_init(actions.as_mut_ptr()))?;
            let made = check(libc::posix_spawnattr_init(attributes.as_mut_ptr()));
            let spawned = made.and_then(|()| {
                for (target, stream) in (0..).zip(streams) {
                    let source = stream.as_raw_fd();
                    check(libc::posix_spawn_file_actions_adddup2(actions.as_mut_ptr(), source, target))?;
                }
                let flags = NEW_SESSION | (libc::POSIX_SPAWN_SETSIGDEF | libc::POSIX_SPAWN_SETSIGMASK) as c_int;
                check(libc::posix_spawnattr_setflags(attributes.as_mut_ptr(), flags as _))?;
                libc::sigfillset(signals.as_mut_ptr());
                check(libc::posix_spawnattr_setsigdefault(attributes.as_mut_ptr(), signals.as_ptr()))?;
                libc::sigemptyset(signals.as_mut_ptr());
                check(libc::posix_spawnattr_setsigmask(attributes.as_mut_ptr(), signals.as_ptr()))?;
                let result = check(libc::posix_spawn(
                    &raw mut pid,
                    self.path.as_ptr(),
                    actions.as_ptr(),
                    attributes.as_ptr(),
                    argv.as_ptr(),
                    env.as_ptr(),
                ));
                libc::posix_spawnattr_destroy(attributes.as_mut_ptr());
                result
            });
            libc::posix_spawn_file_actions_destroy(actions.as_mut_ptr());
            spawned?;
        }
        Ok(pid)
    }
}

fn pointers(strings: &[CString]) -> Vec<*mut c_char> {
    strings.iter().map(|s| s.as_ptr().cast_mut()).chain([ptr::null_mut()]).collect()
}

fn check(errno: c_int) -> io::Result<()> {
    if errno == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(errno)) }
}

/// A descriptor that becomes readable when the child `pid` ends, or `None` where the kernel has none.
pub(super) fn exit_descriptor(pid: i32) -> Option<OwnedFd> {
    #[cfg(target_os = "linux")]
    // SAFETY: the call takes integers only, and a non-negative result is a new descriptor that we alone own.
    return unsafe {
        let fd = libc::syscall(libc::SYS_pidfd_open, pid, 0);
        RawFd::try_from(fd).ok().filter(|fd| *fd >= 0).map(|fd| OwnedFd::from_raw_fd(fd))
    };
    #[cfg(not(target_os = "linux"))]
    {
        let _ = pid;
        None
    }
}

/// Waits until one of `descriptors` is readable, hung up or faulty, or until `patience` has passed.
///
/// The answer holds one flag per descriptor. An interrupting signal counts as "none readable".
pub(super) fn wait_readable(descriptors: &[BorrowedFd<'_>], patience: Option<Duration>) -> io::Result<Vec<bool>> {
    let mut polled: Vec<libc::pollfd> =
        descriptors.iter().map(|fd| libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 }).collect();
    // A part of a millisecond is rounded up: waking early would spin.
    let timeout = patience.map_or(-1, |p| i32::try_from(p.as_micros().div_ceil(1000)).unwrap_or(i32::MAX));
    // SAFETY: `polled` is a valid array of that many entries for the whole call.
    let ready = unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, timeout) };
    if ready < 0 {
        let error = io::Error::last_os_error();
        let interrupted = error.kind() == io::ErrorKind::Interrupted;
        return if interrupted { Ok(vec![false; polled.len()]) } else { Err(error) };
    }
    Ok(polled.iter().map(|p| p.revents != 0).collect())
}

/// True when the child `pid` has ended and waits to be reaped. It stays unreaped, so its number stays taken.
pub(crate) fn has_ended(pid: i32) -> bool {
    let mut about = MaybeUninit::<libc::siginfo_t>::zeroed();
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: `about` is zeroed, valid for the call to fill, and read only after success.
    unsafe {
        libc::waitid(libc::P_PID, pid as libc::id_t, about.as_mut_ptr(), options) == 0
            && about.assume_init_ref().si_signo == libc::SIGCHLD
    }
}

/// True when this process has no child left, running or ended.
pub(super) fn is_childless() -> bool {
    let mut about = MaybeUninit::<libc::siginfo_t>::zeroed();
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: `about` is valid for the call to fill and never read.
    let found = unsafe { libc::waitid(libc::P_ALL, 0, about.as_mut_ptr(), options) };
    found != 0 && io::Error::last_os_error().raw_os_error() == Some(libc::ECHILD)
}

/// Reaps the ended child `pid`, waiting for it if need be.
pub(super) fn reap(pid: i32) -> io::Result<Ended> {
    loop {
        match wait4(pid, 0) {
            Ok(Some(ended)) => return Ok(ended),
            Ok(None) => return Err(io::Error::from(io::ErrorKind::NotFound)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Reaps any one child that has ended, if there is one.
pub(super) fn reap_any() -> Option<Ended> {
    wait4(-1, libc::WNOHANG).ok().flatten()
}

fn wait4(pid: i32, options: c_int) -> io::Result<Option<Ended>> {
    let mut status: c_int = 0;
    // SAFETY: a zeroed rusage is valid; both out-pointers live for the call.
    let (reaped, usage) = unsafe {
        let mut usage: libc::rusage = mem::zeroed();
        let reaped = libc::wait4(pid, &raw mut status, options, &raw mut usage);
        (reaped, usage)
    };
    if reaped < 0 {
        return Err(io::Error::last_os_error());
    }
    // ru_maxrss counts KiB, except on Apple systems, which count bytes.
    let unit: u64 = if cfg!(target_vendor = "apple") { 1 } else { 1024 };
    Ok((reaped > 0).then(|| Ended {
        status,
        cpu: duration(usage.ru_utime) + duration(usage.ru_stime),
        peak_bytes: u64::try_from(usage.ru_maxrss).unwrap_or(0).saturating_mul(unit),
    }))
}

fn duration(time: libc::timeval) -> Duration {
    let whole = Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0));
    whole + Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or(0))
}

/// The exit code in a raw wait status, when the process exited by itself.
pub(super) fn exit_code(status: i32) -> Option<i32> {
    libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status))
}

/// The signal in a raw wait status, when one ended the process.
pub(super) fn signal_of(status: i32) -> Option<i32> {
    libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status))
}

/// Sends `signal` to the process group led by `leader`. The caller has not reaped the leader yet.
pub(crate) fn signal_group(leader: i32, signal: i32) {
    if leader > 1 {
        // SAFETY: the call takes integers only; the guard keeps the special meanings of 0 and -1 away.
        unsafe { libc::kill(-leader, signal) };
    }
}

/// Sends `signal` to the process `pid`, a child that the caller has not reaped yet.
pub(super) fn signal_child(pid: i32, signal: i32) {
    if pid > 1 {
        // SAFETY: the call takes integers only; the guard keeps the special meanings of 0 and -1 away.
        unsafe { libc::kill(pid, signal) };
    }
}
