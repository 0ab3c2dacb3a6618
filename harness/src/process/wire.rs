//! Messages between the replayer and its launcher.
//!
//! Guarantee: a frame is a little-endian `u32` length and that many bytes; integers are little-endian, times are
//! nanoseconds, strings are length-prefixed bytes. A frame that does not follow this is `None`, never a panic.
//! Both ends are always the same executable, so the format has no version.
//!
//! Not here: sockets, and the three descriptors that travel beside a [`Run`].

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::time::Duration;

use crate::observation::Orphan;

const ABSENT: u64 = u64::MAX;

/// From the replayer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Request {
    /// Start a hook and wait for its end.
    Run(Run),
    /// The streams are done: name and end whatever the last hook left.
    Sweep,
}

/// What the launcher needs to know to start one hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) argv: Vec<OsString>,
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) cwd: OsString,
    pub(super) timeout: Duration,
    pub(super) kill_grace: Duration,
    pub(super) kill_after: Option<Duration>,
}

/// From the launcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reply {
    /// The hook's own process has ended, or never started.
    Ended(Ended),
    /// The sweep is over.
    Swept(Swept),
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ended {
    /// The shared monotonic clock, just before the spawn.
    pub(super) started_at: Duration,
    /// The same clock when the end was seen.
    pub(super) ended_at: Duration,
    pub(super) outcome: Outcome,
    /// The launcher ended it because its time was up.
    pub(super) timed_out: bool,
    pub(super) cpu: Duration,
    pub(super) peak_bytes: u64,
    /// The launcher's own largest resident size before the spawn; `None` where it cannot be read.
    pub(super) floor_bytes: Option<u64>,
    /// No descendant is left, so there is nothing to sweep.
    pub(super) alone: bool,
}

/// The end itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Raw wait status.
    Status(i32),
    /// The program could not be started: `errno`.
    NoProgram(i32),
    /// The working folder could not be entered: `errno`.
    NoFolder(i32),
}

/// What a sweep found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Swept {
    /// Processes that had to be ended.
    pub(super) orphans: Vec<Orphan>,
    /// All of them are gone.
    pub(super) clean: bool,
}

impl Request {
    /// The whole frame.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut frame = Writer::new();
        match self {
            Self::Run(run) => {
                frame.byte(0);
                frame.list(run.argv.iter(), |f, arg| f.bytes(arg.as_bytes()));
                frame.list(run.env.iter(), |f, (name, value)| {
                    f.bytes(name.as_bytes());
                    f.bytes(value.as_bytes());
                });
                frame.bytes(run.cwd.as_bytes());
                frame.time(run.timeout);
                frame.time(run.kill_grace);
                frame.u64(run.kill_after.map_or(ABSENT, nanoseconds));
            }
            Self::Sweep => frame.byte(1),
        }
        frame.finish()
    }

    /// Reads a frame's body, without its length.
    pub(super) fn decode(body: &[u8]) -> Option<Self> {
        let mut body = Reader { rest: body };
        match body.byte()? {
            0 => Some(Self::Run(Run {
                argv: body.list(Reader::string)?,
                env: body.list(|b| Some((b.string()?, b.string()?)))?,
                cwd: body.string()?,
                timeout: body.time()?,
                kill_grace: body.time()?,
                kill_after: body.optional_u64()?.map(Duration::from_nanos),
            })),
            1 => Some(Self::Sweep),
            _ => None,
        }
    }
}

impl Reply {
    /// The whole frame.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut frame = Writer::new();
        match self {
            Self::Ended(ended) => {
                frame.byte(0);
                frame.time(ended.started_at);
                frame.time(ended.ended_at);
                let (kind, number) = match ended.outcome {
                    Outcome::Status(status) => (0, status),
                    Outcome::NoProgram(errno) => (1, errno),
                    Outcome::NoFolder(errno) => (2, errno),
                };
                frame.byte(kind);
                frame.i32(number);
                frame.byte(u8::from(ended.timed_out));
                frame.time(ended.cpu);
                frame.u64(ended.peak_bytes);
                frame.u64(ended.floor_bytes.unwrap_or(ABSENT));
                frame.byte(u8::from(ended.alone));
            }
            Self::Swept(swept) => {
                frame.byte(1);
                frame.list(swept.orphans.iter(), |f, orphan| {
                    f.i32(orphan.pid);
                    f.bytes(orphan.name.as_bytes());
                });
                frame.byte(u8::from(swept.clean));
            }
        }
        frame.finish()
    }

    /// Reads a frame's body, without its length.
    pub(super) fn decode(body: &[u8]) -> Option<Self> {
        let mut body = Reader { rest: body };
        match body.byte()? {
            0 => Some(Self::Ended(Ended {
                started_at: body.time()?,
                ended_at: body.time()?,
                outcome: match (body.byte()?, body.i32()?) {
                    (0, status) => Outcome::Status(status),
                    (1, errno) => Outcome::NoProgram(errno),
                    (2, errno) => Outcome::NoFolder(errno),
                    _ => return None,
                },
                timed_out: body.byte()? != 0,
                cpu: body.time()?,
                peak_bytes: body.u64()?,
                floor_bytes: body.optional_u64()?,
                alone: body.byte()? != 0,
            })),
            1 => Some(Self::Swept(Swept {
                orphans: body.list(|b| {
                    let pid = b.i32()?;
                    let name = String::from_utf8_lossy(b.bytes()?).into_owned();
                    Some(Orphan { pid, name })
                })?,
                clean: body.byte()? != 0,
            })),
            _ => None,
        }
    }
}

/// The length that a frame's first four bytes announce.
pub(super) fn body_len(prefix: [u8; 4]) -> usize {
    u32::from_le_bytes(prefix) as usize
}

fn nanoseconds(time: Duration) -> u64 {
    // One below the mark for "absent": a longer time means "never" all the same.
    u64::try_from(time.as_nanos()).unwrap_or(ABSENT).min(ABSENT - 1)
}

struct Writer {
    frame: Vec<u8>,
}

impl Writer {
    fn new() -> Self {
        Self { frame: vec![0; 4] }
    }

    fn byte(&mut self, value: u8) {
        self.frame.push(value);
    }

    fn i32(&mut self, value: i32) {
        self.frame.extend(value.to_le_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.frame.extend(value.to_le_bytes());
    }

    fn time(&mut self, value: Duration) {
        self.u64(nanoseconds(value));
    }

    fn count(&mut self, value: usize) {
        self.u64(value as u64);
    }

    fn bytes(&mut self, value: &[u8]) {
        self.count(value.len());
        self.frame.extend(value);
    }

    fn list<T>(&mut self, items: impl ExactSizeIterator<Item = T>, mut write: impl FnMut(&mut Self, T)) {
        self.count(items.len());
        for item in items {
            write(self, item);
        }
    }

    fn finish(mut self) -> Vec<u8> {
        let len = u32::try_from(self.frame.len() - 4).unwrap_or(u32::MAX);
        if let Some(prefix) = self.frame.get_mut(..4) {
            prefix.copy_from_slice(&len.to_le_bytes());
        }
        self.frame
    }
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, n_bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(n_bytes)?;
        self.rest = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn i32(&mut self) -> Option<i32> {
        self.take(4)?.try_into().ok().map(i32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_le_bytes)
    }

    fn optional_u64(&mut self) -> Option<Option<u64>> {
        Some(Some(self.u64()?).filter(|value| *value != ABSENT))
    }

    fn time(&mut self) -> Option<Duration> {
        self.u64().map(Duration::from_nanos)
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = usize::try_from(self.u64()?).ok()?;
        self.take(len)
    }

    fn string(&mut self) -> Option<OsString> {
        self.bytes().map(|bytes| OsString::from_vec(bytes.to_vec()))
    }

    fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        // No capacity is reserved from the announced count, which is not to be trusted.
        (0..self.u64()?).map(|_| read(self)).collect()
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
    use super::*;

    fn run() -> Request {
        Request::Run(Run {
            argv: vec!["/bin/sh".into(), "-c".into(), OsString::from_vec(vec![0xff, b'x'])],
            env: vec![("PATH".into(), "/bin".into()), ("EMPTY".into(), "".into())],
            cwd: "/".into(),
            timeout: Duration::from_millis(1500),
            kill_grace: Duration::MAX,
            kill_after: None,
        })
    }

    fn ended() -> Reply {
        Reply::Ended(Ended {
            started_at: Duration::from_nanos(5),
            ended_at: Duration::from_secs(7),
            outcome: Outcome::NoProgram(2),
            timed_out: true,
            cpu: Duration::from_micros(3),
            peak_bytes: 1 << 40,
            floor_bytes: None,
            alone: false,
        })
    }

    #[test]
    fn request_comes_back_as_sent() {
        for request in [run(), Request::Sweep] {
            let frame = request.encode();
            assert_eq!(body_len(frame[..4].try_into().unwrap()), frame.len() - 4);
            let Some(Request::Run(mut back)) = Request::decode(&frame[4..]) else {
                assert_eq!(Request::decode(&frame[4..]), Some(request));
                continue;
            };
            // The longest time that fits stands for "never".
            assert!(back.kill_grace > Duration::from_secs(1 << 33));
            back.kill_grace = Duration::MAX;
            assert_eq!(Request::Run(back), request);
        }
    }

    #[test]
    fn reply_comes_back_as_sent() {
        let orphans = vec![Orphan { pid: 7, name: "sleep".into() }];
        for reply in [ended(), Reply::Swept(Swept { orphans, clean: true })] {
            assert_eq!(Reply::decode(&reply.encode()[4..]), Some(reply));
        }
    }

    #[test]
    fn cut_frame_is_refused() {
        let (request, reply) = (run().encode(), ended().encode());
        for cut in 4..request.len() {
            assert_eq!(Request::decode(&request[4..cut]), None);
        }
        for cut in 4..reply.len() {
            assert_eq!(Reply::decode(&reply[4..cut]), None);
        }
    }
}
