//! What one call of a hook did, unjudged.
//!
//! An [`Observation`] is a plain record: the process module fills it, `deliver` and the judges read it.
//! It holds no verdict, and a hook's misbehaviour is a value here, never an error.

use std::time::Duration;

/// How the hook's process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Exited by itself with this code.
    Exited(i32),
    /// Ended by this signal, which the replayer did not send, unless the call planned a kill.
    Signalled(i32),
    /// Reached the timeout; the replayer ended its process group as the host does.
    TimedOut,
    /// Could not be started: the operating system's error text.
    NotStarted(SpawnFault),
    /// Ended or stopped the process that launched it, so that nobody saw its own end. Its times and its CPU are unknown,
    /// and it may still be running: only the launcher could have found and ended it.
    LauncherLost,
}

/// Why a process could not be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpawnFault {
    /// No such file, or the interpreter named in its first line is missing.
    NotFound,
    /// The file is not executable.
    NotPermitted,
    /// Any other `errno`; `ENOENT` here means that the working folder does not exist.
    Other(i32),
}

/// Where the peak-memory figure comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemorySource {
    /// `ru_maxrss` of a child of the small launcher process; the launcher's own size is its floor. The kernel counts
    /// both in batches, so they are right to some hundred KiB, and a tiny hook can read below the floor.
    Launcher {
        /// The launcher's largest resident size when it spawned the hook, in bytes.
        floor_bytes: u64,
    },
    /// Not measured on this platform.
    None,
}

/// One call of a hook: bytes, times and resources.
#[derive(Debug, Clone)]
pub struct Observation {
    /// How it ended.
    pub ending: Ending,
    /// Everything read from standard output, up to the capture limit.
    pub stdout: Vec<u8>,
    /// Everything read from standard error, up to the capture limit.
    pub stderr: Vec<u8>,
    /// Bytes of stdout beyond the capture limit, counted and dropped.
    pub stdout_dropped_bytes: u64,
    /// Bytes of stderr beyond the capture limit, counted and dropped.
    pub stderr_dropped_bytes: u64,
    /// From just before the spawn to the exit of the hook's own process.
    pub exit_after: Duration,
    /// From just before the spawn until the host stops waiting: the exit and the end of both output streams, or the
    /// limit of its patience with a stream that stays open; at a timeout the exit alone. What the user waits for.
    pub eof_after: Duration,
    /// From just before the spawn to the first byte of stdout, if there was one.
    pub first_byte_after: Option<Duration>,
    /// User plus system CPU of the hook and the descendants it reaped, from `wait4`.
    pub cpu: Duration,
    /// True when a descendant outlived the hook or a stream was held open: CPU and peak memory may be incomplete.
    pub cpu_partial: bool,
    /// Peak resident size of the hook or of the largest descendant it reaped, in bytes.
    pub peak_memory_bytes: Option<u64>,
    /// Where that figure comes from.
    pub memory_source: MemorySource,
    /// The hook closed stdin or ended before the payload was written. A payload that fits into the socket's buffer
    /// (some 200 KB) counts as written, as it does for the host.
    pub stdin_closed_early: bool,
    /// An output stream was still open when the hook's own process had ended: a descendant holds it. After a timeout or
    /// a planned kill, whose signal goes to the whole group, only a descendant that outlived the signal counts.
    pub stream_held_open: bool,
    /// Descendants that outlived the hook, also in other sessions, found and ended by the replayer.
    pub orphans: Vec<Orphan>,
}

/// A process that outlived its hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Orphan {
    /// Its process id at the time.
    pub pid: i32,
    /// Its command name as the kernel knew it.
    pub name: String,
}
