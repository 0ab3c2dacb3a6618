//! A session's state file: read it, add lines to it, write it anew when it has grown.
//!
//! Guarantee: one `write` of whole lines with `O_APPEND` under an advisory lock that is waited for only briefly;
//! file 0600, folder 0700, links refused. A reader takes no lock. A line cut by a kill is passed over and the next
//! line starts on its own. Errors are returned as plain `io::Error`; callers treat them as "nothing remembered".

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::entry::Entry;
use super::name;
use super::state::SessionState;

/// A file beyond this many bytes is written anew at the next addition.
pub const REWRITE_BYTES: u64 = 64 << 10;
/// Bytes that are read at most, from the end: a file that somebody blew up costs no more.
const MOST_BYTES: u64 = 1 << 20;
/// How long a lock is waited for; then the work goes on without it.
const PATIENCE: Duration = Duration::from_millis(250);

/// The state file of one session.
#[derive(Debug, Clone)]
pub struct SessionFile {
    path: PathBuf,
}

impl SessionFile {
    /// The file of `session_id` in the folder of session files; nothing is touched yet.
    pub fn new(sessions: &Path, session_id: &str) -> SessionFile {
        SessionFile { path: sessions.join(name::file_name(session_id)) }
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The state as the file has it; a missing or unreadable file is an empty state.
    pub fn load(&self) -> SessionState {
        let opened = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(&self.path);
        opened.and_then(|mut file| read_state(&mut file)).map(|read| read.state).unwrap_or_default()
    }

    /// Replaces the file's text by what [`SessionState::forgotten`] leaves; a session without a file stays without.
    pub fn forget(&self) -> io::Result<()> {
        if !self.path.exists() {
            return Ok(());
        }
        let left = self.load().forgotten();
        std::fs::remove_file(&self.path)?;
        self.update(|_| (left.entries(), ())).map(drop)
    }

    /// Reads the state under the lock, lets `decide` name the lines to add, and adds them.
    ///
    /// Returns the state with those lines and what `decide` answered; of two callers at once the second decides on
    /// what the first left. `decide` may be asked twice. No line to add means no write, and no file is created.
    /// When the file cannot be opened or written, the error comes with nothing added.
    pub fn update<T>(&self, decide: impl Fn(&SessionState) -> (Vec<Entry>, T)) -> io::Result<(SessionState, T)> {
        let mut found = self.open_locked()?;
        if found.is_none() {
            let (entries, answer) = decide(&SessionState::default());
            if entries.is_empty() {
                return Ok((SessionState::default(), answer));
            }
            self.create()?;
            found = self.open_locked()?;
        }
        for _ in 0..3 {
            let Some((mut file, is_locked)) = found else { break };
            let before = read_state(&mut file)?;
            let (entries, answer) = decide(&before.state);
            let state = self.append(&mut file, is_locked, before, entries)?;
            // Without the lock a rewrite may have taken the name meanwhile; the line would be lost with the old file.
            if is_locked || self.is_named(&file)? {
                return Ok((state, answer));
            }
            found = self.open_locked()?;
        }
        Err(io::Error::other("session state vanished"))
    }

    /// Makes an empty file; the lock decides who writes into it first.
    fn create(&self) -> io::Result<()> {
        if let Some(folder) = self.path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let mut options = OpenOptions::new();
        options.append(true).create(true).mode(0o600).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        options.open(&self.path).map(drop)
    }

    /// Opens and locks the file, `None` when there is none; also tells whether the lock was got in time.
    fn open_locked(&self) -> io::Result<Option<(File, bool)>> {
        for _ in 0..4 {
            let mut options = OpenOptions::new();
            options.read(true).append(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
            let file = match options.open(&self.path) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(error),
            };
            let is_locked = wait_for_lock(&file);
            if !file.metadata()?.is_file() {
                return Err(io::Error::other("session state is not a regular file"));
            }
            // A rewrite may have replaced the file between opening and locking.
            if self.is_named(&file)? {
                return Ok(Some((file, is_locked)));
            }
        }
        Err(io::Error::other("session state is replaced all the time"))
    }

    /// Whether the file's name still leads to this open file.
    fn is_named(&self, file: &File) -> io::Result<bool> {
        let held = file.metadata()?;
        Ok(std::fs::symlink_metadata(&self.path)
            .is_ok_and(|named| named.ino() == held.ino() && named.dev() == held.dev()))
    }

    fn append(&self, file: &mut File, is_locked: bool, read: Read, entries: Vec<Entry>) -> io::Result<SessionState> {
        let Read { mut state, len, ends_line } = read;
        if entries.is_empty() {
            return Ok(state);
        }
        let mut bytes = Vec::with_capacity(512);
        if !ends_line {
            bytes.push(b'\n');
        }
        for entry in &entries {
            write_line(&mut bytes, entry)?;
        }
        entries.into_iter().for_each(|entry| state.fold(entry));
        // Somebody who ran out of patience may have added a line without the lock; a rewrite would drop it.
        if is_locked && len > REWRITE_BYTES && file.metadata()?.len() == len {
            self.rewrite(&state)?;
        } else {
            file.write_all(&bytes)?;
        }
        Ok(state)
    }

    /// Replaces the file by the fewest lines of `state`; the lock on the old file is held by the caller.
    fn rewrite(&self, state: &SessionState) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(16 << 10);
        for entry in &state.entries() {
            write_line(&mut bytes, entry)?;
        }
        let fresh = self.path.with_extension(format!("{}.new", std::process::id()));
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600).custom_flags(libc::O_NOFOLLOW);
        let written = options.open(&fresh).and_then(|mut file| file.write_all(&bytes));
        let moved = written.and_then(|()| std::fs::rename(&fresh, &self.path));
        if moved.is_err() {
            // A leftover is pruned by age like any other file.
            let _ = std::fs::remove_file(&fresh);
        }
        moved
    }
}

/// Waits for the lock with short sleeps; a holder that never lets go only costs the patience. False without it.
fn wait_for_lock(file: &File) -> bool {
    let started = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return true,
            Err(TryLockError::WouldBlock) if started.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_micros(200));
            }
            Err(_) => return false,
        }
    }
}

/// A file as it was read.
struct Read {
    state: SessionState,
    len: u64,
    ends_line: bool,
}

fn read_state(file: &mut File) -> io::Result<Read> {
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(io::Error::other("session state is not a regular file"));
    }
    let len = meta.len();
    file.seek(SeekFrom::Start(len.saturating_sub(MOST_BYTES)))?;
    let mut bytes = Vec::with_capacity(usize::try_from(len.min(MOST_BYTES)).unwrap_or(0));
    file.take(MOST_BYTES).read_to_end(&mut bytes)?;
    let mut state = SessionState::default();
    for line in bytes.split(|byte| *byte == b'\n') {
        if let Ok(entry) = serde_json::from_slice::<Entry>(line) {
            state.fold(entry);
        }
    }
    Ok(Read { state, len, ends_line: bytes.last().is_none_or(|byte| *byte == b'\n') })
}

fn write_line(bytes: &mut Vec<u8>, entry: &Entry) -> io::Result<()> {
    serde_json::to_writer(&mut *bytes, entry)?;
    bytes.push(b'\n');
    Ok(())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]
mod tests {
    use super::super::entry::Prompt;
    use super::*;

    fn prompt(number: usize, text: &str) -> Entry {
        Entry::Prompt(Prompt { id: format!("p{number}"), text: text.to_owned(), ..Prompt::default() })
    }

    fn add(file: &SessionFile, entry: Entry) -> SessionState {
        file.update(|_| (vec![entry.clone()], ())).unwrap().0
    }

    #[test]
    fn added_lines_are_loaded_again() {
        let dir = tempfile::tempdir().unwrap();
        let file = SessionFile::new(&dir.path().join("a/b"), "s");
        assert_eq!(file.load(), SessionState::default());
        let state = add(&file, prompt(1, "one\n世界 🙂"));
        assert_eq!(file.load(), state);
        let mode = std::fs::metadata(file.path()).unwrap().mode();
        assert_eq!(mode & 0o777, 0o600);
        let mode = std::fs::metadata(file.path().parent().unwrap()).unwrap().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn nothing_to_add_writes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("sessions");
        let file = SessionFile::new(&folder, "s");
        file.update(|_| (Vec::new(), ())).unwrap();
        assert!(!folder.exists());
    }

    #[test]
    fn torn_foreign_and_unknown_lines_are_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let file = SessionFile::new(dir.path(), "s");
        add(&file, prompt(1, "one"));
        let mut raw = OpenOptions::new().append(true).open(file.path()).unwrap();
        raw.write_all(b"\0\0\n[]\n{\"later\":{}}\n{\"prompt\":7}\n{\"prompt\":{\"id\":\"torn").unwrap();
        let state = add(&file, prompt(2, "two"));
        assert_eq!(state.prompts, 2);
        assert_eq!(file.load(), state);
    }

    #[test]
    fn grown_file_is_written_anew_and_says_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let file = SessionFile::new(dir.path(), "s");
        let text = "x".repeat(4_000);
        let mut sizes = Vec::new();
        for number in 0..60 {
            let state = add(&file, prompt(number, &text));
            assert_eq!(file.load(), state);
            sizes.push(std::fs::metadata(file.path()).unwrap().len());
        }
        assert!(sizes.iter().all(|size| *size < REWRITE_BYTES + 8_192));
        assert!(sizes.windows(2).any(|pair| pair[1] < pair[0]));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn link_folder_and_fifo_in_its_place_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = SessionFile::new(dir.path(), "s");
        let target = dir.path().join("target");
        std::fs::write(&target, "{}").unwrap();
        std::os::unix::fs::symlink(&target, file.path()).unwrap();
        assert!(file.update(|_| (vec![prompt(1, "x")], ())).is_err());
        assert_eq!(std::fs::read(&target).unwrap(), b"{}");
        std::fs::remove_file(file.path()).unwrap();
        std::fs::create_dir(file.path()).unwrap();
        assert!(file.update(|_| (vec![prompt(1, "x")], ())).is_err());
        assert_eq!(file.load(), SessionState::default());
    }

    #[test]
    fn lock_that_is_never_let_go_only_costs_patience() {
        let dir = tempfile::tempdir().unwrap();
        let file = SessionFile::new(dir.path(), "s");
        add(&file, prompt(1, "one"));
        let holder = File::open(file.path()).unwrap();
        holder.lock().unwrap();
        assert_eq!(add(&file, prompt(2, "two")).prompts, 2);
        assert_eq!(file.load().prompts, 2);
    }

    #[test]
    fn writers_at_once_lose_no_line() {
        let dir = tempfile::tempdir().unwrap();
        let file = SessionFile::new(dir.path(), "s");
        std::thread::scope(|scope| {
            for writer in 0..8 {
                let file = &file;
                scope.spawn(move || {
                    for number in 0..15 {
                        add(file, prompt(writer * 100 + number, &"y".repeat(900)));
                    }
                });
            }
        });
        assert_eq!(file.load().prompts, 120);
    }
}
