//! Opens a transcript and walks the lines of its end, in order, without ever holding more than one of them.
//!
//! Guarantee: opening never blocks (a FIFO, a device or a folder is refused), a line longer than the limit is
//! passed over in chunks, and a start in the middle of a line skips to the next one. The file may grow while it
//! is read; the length at opening is the end. Deliberately not here: JSON.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// How far back and how wide a transcript is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the first window, counted from the end.
    pub first: u64,
    /// Bytes of the widest window; also the farthest a cursor is followed back.
    pub most: u64,
    /// Bytes of the longest line that is looked at.
    pub line: usize,
}

impl Default for Limits {
    /// 256 KiB first, 4 MiB at most, lines of up to 1 MiB.
    fn default() -> Limits {
        Limits { first: 256 << 10, most: 4 << 20, line: 1 << 20 }
    }
}

/// Which file a byte offset belongs to: the same path may be another file tomorrow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Identity {
    /// Device number of the file system.
    pub device: u64,
    /// Inode number on it.
    pub inode: u64,
}

/// A place in one transcript: the offset of the first byte that was not read yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cursor {
    /// The file.
    pub identity: Identity,
    /// Bytes from its start.
    pub offset: u64,
}

/// An opened transcript of a fixed length.
#[derive(Debug)]
pub struct Tail {
    file: File,
    len: u64,
    identity: Identity,
}

impl Tail {
    /// Opens `path` when it is a regular file, following links; anything else is `None`.
    pub fn open(path: &Path) -> Option<Tail> {
        // Without O_NONBLOCK a FIFO would hold the process until somebody writes to it.
        let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path).ok()?;
        let meta = file.metadata().ok()?;
        if !meta.is_file() {
            return None;
        }
        Some(Tail { file, len: meta.len(), identity: Identity { device: meta.dev(), inode: meta.ino() } })
    }

    /// Bytes of the file when it was opened.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the file had no byte.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Which file this is.
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// The offset of `cursor` when it is a place in this very file.
    pub fn resume(&self, cursor: Cursor) -> Option<u64> {
        (cursor.identity == self.identity && cursor.offset <= self.len).then_some(cursor.offset)
    }

    /// The lines from `start` to the end; a line that began before `start` is left out.
    pub fn lines(&self, start: u64, longest: usize) -> Lines<'_> {
        let start = start.min(self.len);
        // One byte earlier: when it ends a line, the dropped piece is empty and nothing is lost.
        let from = start.saturating_sub(1);
        Lines {
            tail: self,
            longest: longest.max(1),
            buffer: Vec::new(),
            filled: 0,
            begin: 0,
            scanned: 0,
            next_read: from,
            dropping: start > 0,
            skipping: false,
            consumed: from,
        }
    }
}

/// One piece of a transcript between two line ends.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// A complete line, without its line end.
    Line(&'a [u8]),
    /// The last bytes of the file, which no line end follows: perhaps still being written.
    Torn(&'a [u8]),
    /// A line longer than the limit; its bytes were not kept.
    TooLong,
}

/// Walks lines forwards; see [`Tail::lines`].
#[derive(Debug)]
pub struct Lines<'a> {
    tail: &'a Tail,
    longest: usize,
    buffer: Vec<u8>,
    /// Bytes of the buffer that hold the file's.
    filled: usize,
    begin: usize,
    scanned: usize,
    next_read: u64,
    dropping: bool,
    skipping: bool,
    consumed: u64,
}

/// Bytes of one read: large enough to be few calls, small enough to touch few fresh pages.
const CHUNK: usize = 32 << 10;

impl Lines<'_> {
    /// The next piece, or `None` at the end of the file.
    pub fn next_piece(&mut self) -> Option<Piece<'_>> {
        loop {
            let fresh = self.buffer.get(self.scanned..self.filled).unwrap_or_default();
            if let Some(at) = memchr::memchr(b'\n', fresh) {
                let line = self.begin..self.scanned + at;
                self.begin = line.end + 1;
                self.scanned = self.begin;
                self.consumed = self.next_read - (self.filled - self.begin) as u64;
                if std::mem::take(&mut self.dropping) {
                    self.skipping = false;
                    continue;
                }
                if std::mem::take(&mut self.skipping) || line.len() > self.longest {
                    return Some(Piece::TooLong);
                }
                return Some(Piece::Line(self.buffer.get(line).unwrap_or_default()));
            }
            self.scanned = self.filled;
            if self.scanned - self.begin > self.longest || self.dropping {
                self.skipping = true;
                self.begin = self.scanned;
            }
            if !self.refill() {
                return self.finish();
            }
        }
    }

    /// Bytes from the start of the file up to and including the last line end that was passed.
    pub fn consumed(&self) -> u64 {
        self.consumed
    }

    /// Moves the unfinished line to the front and reads one more chunk; false when there is nothing to read.
    fn refill(&mut self) -> bool {
        let left = self.tail.len.saturating_sub(self.next_read);
        if left == 0 {
            return false;
        }
        self.buffer.copy_within(self.begin..self.filled, 0);
        self.filled -= self.begin;
        self.begin = 0;
        self.scanned = self.filled;
        let want = CHUNK.min(usize::try_from(left).unwrap_or(CHUNK));
        // Grows seldom and is never cleared: filling each chunk with zeros first would cost as much as reading it.
        if self.buffer.len() < self.filled + want {
            self.buffer.resize((self.filled + want).next_multiple_of(CHUNK), 0);
        }
        let target = self.buffer.get_mut(self.filled..self.filled + want).unwrap_or_default();
        let got = loop {
            match self.tail.file.read_at(target, self.next_read) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                other => break other.unwrap_or(0),
            }
        };
        self.filled += got;
        self.next_read += got as u64;
        got > 0
    }

    fn finish(&mut self) -> Option<Piece<'_>> {
        let rest = self.begin..self.filled;
        self.begin = self.filled;
        if std::mem::take(&mut self.dropping) {
            self.skipping = false;
            return None;
        }
        if std::mem::take(&mut self.skipping) {
            return Some(Piece::TooLong);
        }
        if rest.is_empty() {
            return None;
        }
        Some(Piece::Torn(self.buffer.get(rest).unwrap_or_default()))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, clippy::expect_used, reason = "a test may stop at a surprise")]
mod tests {
    use super::*;

    fn pieces(bytes: &[u8], start: u64, longest: usize) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        std::fs::write(&path, bytes).unwrap();
        let tail = Tail::open(&path).expect("a regular file opens");
        let mut lines = tail.lines(start, longest);
        let mut found = Vec::new();
        while let Some(piece) = lines.next_piece() {
            found.push(match piece {
                Piece::Line(line) => format!("line {}", String::from_utf8_lossy(line)),
                Piece::Torn(line) => format!("torn {}", String::from_utf8_lossy(line)),
                Piece::TooLong => "long".to_owned(),
            });
        }
        found
    }

    #[test]
    fn start_in_the_middle_of_a_line_skips_to_the_next() {
        assert_eq!(pieces(b"one\ntwo\nthree\n", 0, 99), ["line one", "line two", "line three"]);
        assert_eq!(pieces(b"one\ntwo\nthree\n", 1, 99), ["line two", "line three"]);
        assert_eq!(pieces(b"one\ntwo\nthree\n", 4, 99), ["line two", "line three"]);
        assert_eq!(pieces(b"one\ntwo\nthree\n", 14, 99), [] as [&str; 0]);
        assert_eq!(pieces(b"one\ntwo\nthree\n", 900, 99), [] as [&str; 0]);
    }

    #[test]
    fn last_bytes_without_a_line_end_are_torn() {
        assert_eq!(pieces(b"one\n{\"a\":", 0, 99), ["line one", "torn {\"a\":"]);
        assert_eq!(pieces(b"", 0, 99), [] as [&str; 0]);
        assert_eq!(pieces(b"abc", 2, 99), [] as [&str; 0]);
    }

    #[test]
    fn line_longer_than_a_chunk_is_whole_and_longer_than_the_limit_is_passed_over() {
        let mut bytes = vec![b'x'; 3 * CHUNK];
        bytes.extend_from_slice(b"\nafter\n");
        let found = pieces(&bytes, 0, 4 * CHUNK);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].len(), "line ".len() + 3 * CHUNK);
        assert_eq!(pieces(&bytes, 0, CHUNK), ["long", "line after"]);
        assert_eq!(pieces(&bytes, 5, CHUNK), ["line after"]);
        assert_eq!(pieces(&bytes[..2 * CHUNK], 0, CHUNK), ["long"]);
    }

    #[test]
    fn consumed_is_the_end_of_the_last_whole_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        std::fs::write(&path, b"one\ntwo\n{\"torn").unwrap();
        let tail = Tail::open(&path).unwrap();
        let mut lines = tail.lines(0, 99);
        while lines.next_piece().is_some() {}
        assert_eq!(lines.consumed(), 8);
        let mut lines = tail.lines(8, 99);
        assert_eq!(lines.next_piece(), Some(Piece::Torn(b"{\"torn")));
        assert_eq!(lines.consumed(), 8);
    }

    #[test]
    fn fifo_folder_missing_file_and_link_loop_do_not_open() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Tail::open(dir.path()).is_none());
        assert!(Tail::open(&dir.path().join("missing")).is_none());
        assert!(Tail::open(Path::new("/dev/null")).is_none());
        let link = dir.path().join("loop");
        std::os::unix::fs::symlink(&link, &link).unwrap();
        assert!(Tail::open(&link).is_none());
        let fifo = dir.path().join("fifo");
        let made = std::process::Command::new("mkfifo").arg(&fifo).status();
        if made.is_ok_and(|status| status.success()) {
            assert!(Tail::open(&fifo).is_none());
        }
    }

    #[test]
    fn cursor_of_another_file_or_beyond_the_end_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        std::fs::write(&path, b"one\n").unwrap();
        let tail = Tail::open(&path).unwrap();
        let here = Cursor { identity: tail.identity(), offset: 4 };
        assert_eq!(tail.resume(here), Some(4));
        assert_eq!(tail.resume(Cursor { offset: 5, ..here }), None);
        assert_eq!(tail.resume(Cursor { identity: Identity::default(), offset: 0 }), None);
    }
}
