//! The hook's own diary: one line a fault, in the store's root, rotated, redacted.
//!
//! A call that goes well writes nothing. Writing never fails a call; when the log cannot be written the fault is lost,
//! because the alternative would be to disturb the user. There is no logger, no level and no buffer.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use jiff::Timestamp;

use crate::redact::redact;

/// The log is renamed to `log.1` when it passes this; one old file is kept.
const ROTATE_BYTES: u64 = 256 * 1024;

/// Longest line.
const LINE_BYTES: usize = 2_000;

/// Appends one line: time, event, message. Line breaks in the message become spaces.
pub fn note(store_root: &Path, event: &str, message: &str) {
    let path = store_root.join("log");
    match fs::symlink_metadata(&path) {
        // A log that is a link could make the hook write anywhere.
        Ok(meta) if !meta.is_file() => return,
        Ok(meta) if meta.len() > ROTATE_BYTES => {
            let _ = fs::rename(&path, store_root.join("log.1"));
        }
        Ok(_) => {}
        Err(_) if !store_root.is_dir() => return,
        Err(_) => {}
    }
    let message: String = redact(message).chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let end = message.floor_char_boundary(LINE_BYTES.min(message.len()));
    let line = format!("{:.0} {event} {}\n", Timestamp::now(), message.get(..end).unwrap_or(""));
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    if let Ok(mut file) = options.open(&path) {
        let _ = file.write_all(line.as_bytes());
    }
}
