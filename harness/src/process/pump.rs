//! Moves the bytes of a hook's three streams.
//!
//! Guarantee: nothing here waits for one stream while another could move, each async method can be cancelled
//! without losing a byte, and a stream that the hook closed is a state, not an error.
//!
//! Not here: when to stop. The call's hold rule is the spawner's.

use std::future::pending;
use std::io::{self, Read, Write};
use std::mem;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::call::StdinPlan;
use super::unix;

/// Bytes read at once: as much as a pipe holds, and a third of what a socket does.
const CHUNK_BYTES: usize = 64 * 1024;

/// Reads in one drain: far more than a socket can hold, so reaching it means that somebody is still writing.
const MAX_DRAIN_READS: usize = 64;

/// A connected pair: our end, which does not block, and the hook's end.
fn pair() -> io::Result<(UnixStream, OwnedFd)> {
    let (ours, theirs) = UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    Ok((ours, theirs.into()))
}

/// A hook that went away leaves one of these two on its sockets, by whether it had read everything.
fn is_hang_up(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}

/// The payload on its way into stdin.
#[derive(Debug)]
pub(super) struct Feed<'a> {
    stream: Stream,
    rest: &'a [u8],
    is_held_open: bool,
}

/// Our end of stdin.
#[derive(Debug)]
enum Stream {
    /// Everything is in. The socket stays: closing it when the hook has written into its own stdin would turn the
    /// end of the stream into an error for the hook. Not watched, which spares the replayer needless wake-ups.
    Done(#[expect(dead_code, reason = "held, not used")] UnixStream),
    /// The rest waits for room.
    Filling(AsyncFd<UnixStream>),
    /// The hook closed it first.
    HungUp,
}

impl<'a> Feed<'a> {
    /// Makes the stream and puts in as much as it takes; also returns the hook's end.
    pub(super) fn open(payload: &'a [u8], plan: StdinPlan) -> io::Result<(Self, OwnedFd)> {
        let (socket, theirs) = pair()?;
        let mut rest = match plan {
            StdinPlan::Whole | StdinPlan::HeldOpen => payload,
            StdinPlan::CutAfter(n_bytes) => payload.get(..n_bytes).unwrap_or(payload),
        };
        let is_held_open = plan == StdinPlan::HeldOpen;
        let is_full = fill(&socket, &mut rest)? == Filled::NoRoom;
        let stream = if is_full {
            Stream::Filling(unix::watch(socket, Interest::WRITABLE)?)
        } else {
            Stream::Done(finish(socket, is_held_open)?)
        };
        Ok((Self { stream, rest, is_held_open }, theirs))
    }

    /// Writes when the stream takes more; never returns once nothing is left to write.
    pub(super) async fn push(&mut self) -> io::Result<()> {
        let Stream::Filling(socket) = &self.stream else { return pending().await };
        socket.writable().await?.clear_ready();
        self.push_now()
    }

    /// Writes what the stream takes without waiting.
    pub(super) fn push_now(&mut self) -> io::Result<()> {
        let Stream::Filling(socket) = &self.stream else { return Ok(()) };
        let filled = fill(socket.get_ref(), &mut self.rest)?;
        if filled == Filled::NoRoom {
            return Ok(());
        }
        if let Stream::Filling(socket) = mem::replace(&mut self.stream, Stream::HungUp)
            && filled == Filled::All
        {
            self.stream = Stream::Done(finish(socket.into_inner(), self.is_held_open)?);
        }
        Ok(())
    }

    /// Part of the payload did not go in.
    pub(super) fn is_unfinished(&self) -> bool {
        !self.rest.is_empty()
    }
}

/// Why writing stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Filled {
    All,
    NoRoom,
    HungUp,
}

fn fill(mut socket: &UnixStream, rest: &mut &[u8]) -> io::Result<Filled> {
    while !rest.is_empty() {
        match socket.write(rest) {
            Ok(n_bytes) => *rest = rest.get(n_bytes..).unwrap_or_default(),
            Err(error) if is_hang_up(&error) => return Ok(Filled::HungUp),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Filled::NoRoom),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Filled::All)
}

fn finish(socket: UnixStream, is_held_open: bool) -> io::Result<UnixStream> {
    if !is_held_open {
        socket.shutdown(Shutdown::Write).or_else(|error| {
            // Some systems say so when the hook has closed its end first.
            if error.kind() == io::ErrorKind::NotConnected { Ok(()) } else { Err(error) }
        })?;
    }
    Ok(socket)
}

/// What came out of stdout or stderr.
#[derive(Debug)]
pub(super) struct Capture {
    socket: Option<AsyncFd<UnixStream>>,
    chunk: Vec<u8>,
    limit_bytes: usize,
    /// Kept bytes, at most the limit.
    pub(super) bytes: Vec<u8>,
    /// Bytes past the limit, read and dropped.
    pub(super) dropped_bytes: u64,
    /// The shared clock at the first byte.
    pub(super) first_byte_at: Option<Duration>,
    /// The shared clock at the end of the stream.
    pub(super) ended_at: Option<Duration>,
}

impl Capture {
    /// Makes the stream; also returns the hook's end.
    pub(super) fn open(limit_bytes: usize) -> io::Result<(Self, OwnedFd)> {
        let (socket, theirs) = pair()?;
        let capture = Self {
            socket: Some(unix::watch(socket, Interest::READABLE)?),
            chunk: vec![0; CHUNK_BYTES],
            limit_bytes,
            bytes: Vec::new(),
            dropped_bytes: 0,
            first_byte_at: None,
            ended_at: None,
        };
        Ok((capture, theirs))
    }

    /// The end of the stream was not seen yet.
    pub(super) fn is_open(&self) -> bool {
        self.socket.is_some()
    }

    /// Reads once when there is something, the end included; never returns once the stream has ended.
    pub(super) async fn pull(&mut self) -> io::Result<()> {
        let Some(socket) = &self.socket else { return pending().await };
        let read = loop {
            let mut guard = socket.readable().await?;
            if let Ok(read) = guard.try_io(|socket| socket.get_ref().read(&mut self.chunk)) {
                break read;
            }
        };
        self.take(read)
    }

    /// Reads what is there without waiting. The kernel is asked, not the runtime's memory of what was ready.
    pub(super) fn pull_now(&mut self) -> io::Result<()> {
        for _ in 0..MAX_DRAIN_READS {
            let Some(socket) = &self.socket else { break };
            match socket.get_ref().read(&mut self.chunk) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                read => self.take(read)?,
            }
        }
        Ok(())
    }

    /// Closes our end: whoever still writes gets a broken pipe.
    pub(super) fn close(&mut self) {
        self.socket = None;
    }

    fn take(&mut self, read: io::Result<usize>) -> io::Result<()> {
        match read {
            Ok(n_bytes) if n_bytes > 0 => {
                self.first_byte_at.get_or_insert_with(unix::monotonic);
                let n_kept = n_bytes.min(self.limit_bytes.saturating_sub(self.bytes.len()));
                self.bytes.extend(self.chunk.iter().take(n_kept));
                self.dropped_bytes += (n_bytes - n_kept) as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if !is_hang_up(&error) => return Err(error),
            Ok(_) | Err(_) => {
                self.ended_at = Some(unix::monotonic());
                self.socket = None;
            }
        }
        Ok(())
    }
}
