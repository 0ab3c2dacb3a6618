//! The replayer's connection to its launcher process.
//!
//! Guarantee: dropping a link ends the launcher and, before that, everything that its current hook started; the
//! drop returns when all of it is gone. Receiving can be cancelled at any await without losing a byte. No launcher
//! is started while another call holds its hook's ends of the streams, see [`streams_in_hand`].
//!
//! Not here: what the messages mean.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::{RwLock, RwLockReadGuard};

use super::launcher::ARGUMENT;
use super::unix;
use super::wire::{self, Reply, Request};

/// A launcher that has not ended this long after its socket was closed was stopped by a hook, and is killed.
const FAREWELL: Duration = Duration::from_secs(10);

/// Written by a start of a launcher, read by whoever holds a hook's ends of the streams.
static STARTS: RwLock<()> = RwLock::const_new(());

/// Keeps launchers of this process from starting while the answer lives.
///
/// A new process has a copy of all descriptors of its parent until its `execve` closes them. A hook that ended
/// meanwhile would seem to have left its streams open.
pub(super) async fn streams_in_hand() -> RwLockReadGuard<'static, ()> {
    STARTS.read().await
}

/// A running launcher and the socket to it.
#[derive(Debug)]
pub(super) struct Link {
    control: AsyncFd<UnixStream>,
    /// Bytes received and not yet read as a frame.
    inbox: Vec<u8>,
    process: Child,
}

impl Link {
    /// Starts `executable` as a launcher. Needs a tokio runtime with I/O.
    pub(super) async fn open(executable: &Path) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let control = unix::watch(ours, Interest::READABLE | Interest::WRITABLE)?;
        // Held until the spawn returns, which it does after the `execve`.
        let _alone = STARTS.write().await;
        let process = Command::new(executable)
            .arg0("hookbench")
            .arg(ARGUMENT)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .spawn()?;
        Ok(Self { control, inbox: Vec::new(), process })
    }

    /// False once the launcher's process has ended.
    pub(super) fn is_alive(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(None))
    }

    /// Sends a request, with the hook's ends of the streams when it starts one.
    pub(super) async fn send(&self, request: &Request, streams: Option<&[OwnedFd; unix::N_STREAMS]>) -> io::Result<()> {
        let frame = request.encode();
        let mut rest = frame.as_slice();
        let mut attached = streams;
        while !rest.is_empty() {
            let mut guard = self.control.writable().await?;
            let sent = guard.try_io(|control| match attached {
                Some(streams) => unix::send_with_streams(control.as_fd(), rest, streams),
                None => control.get_ref().write(rest),
            });
            match sent {
                Ok(Ok(n_bytes)) => {
                    attached = None;
                    rest = rest.get(n_bytes..).unwrap_or_default();
                }
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(Err(error)) => return Err(lost(&error)),
                Err(_would_block) => {}
            }
        }
        Ok(())
    }

    /// The launcher's next reply.
    pub(super) async fn receive(&mut self) -> io::Result<Reply> {
        loop {
            if let Some(body) = take_frame(&mut self.inbox) {
                return Reply::decode(&body).ok_or_else(|| lost(&"unreadable reply"));
            }
            let mut chunk = [0; 4096];
            let mut guard = self.control.readable().await?;
            match guard.try_io(|control| control.get_ref().read(&mut chunk)) {
                Ok(Ok(0)) => return Err(gone(&"it has ended")),
                Ok(Ok(n_bytes)) => self.inbox.extend(chunk.iter().take(n_bytes)),
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(Err(error)) => return Err(gone(&error)),
                Err(_would_block) => {}
            }
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // Errors mean that the launcher is gone already, which is what is wanted.
        let _ = self.control.get_ref().shutdown(Shutdown::Both);
        let pid = i32::try_from(self.process.id()).unwrap_or(0);
        let exit = unix::exit_descriptor(pid);
        let ended = exit.map_or(Ok(vec![true]), |exit| unix::wait_readable(&[exit.as_fd()], Some(FAREWELL)));
        if !matches!(ended.as_deref(), Ok([true])) {
            let _ = self.process.kill();
        }
        let _ = self.process.wait();
    }
}

fn take_frame(inbox: &mut Vec<u8>) -> Option<Vec<u8>> {
    let len = wire::body_len(*inbox.first_chunk()?);
    let body = inbox.get(4..4 + len)?.to_vec();
    inbox.drain(..4 + len);
    Some(body)
}

/// The launcher ended while it owed a reply.
fn gone(why: &dyn std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionAborted, lost(why))
}

fn lost(why: &dyn std::fmt::Display) -> io::Error {
    io::Error::other(format!("lost the launcher process: {why}"))
}
