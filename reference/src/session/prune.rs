//! Removes state files of sessions that ended long ago.
//!
//! Guarantee: one call looks at a bounded number of names and removes only names that this module's neighbours
//! make; a time far in the future counts as old, because no living session has it. Errors are ignored: the next
//! capture tries again.

use std::path::Path;
use std::time::{Duration, SystemTime};

/// Age after which a session's state is of no use.
pub const MOST_AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Names looked at in one call.
const MOST_NAMES: usize = 512;
/// A clock that was set back this far explains a future time; more is damage.
const CLOCK_SLACK: Duration = Duration::from_secs(24 * 60 * 60);

/// Removes state files in `sessions` whose last change is older than `most_age`; returns how many went.
pub fn prune(sessions: &Path, most_age: Duration, now: SystemTime) -> usize {
    let Ok(names) = std::fs::read_dir(sessions) else { return 0 };
    let mut removed = 0;
    for entry in names.take(MOST_NAMES).flatten() {
        if !entry.file_name().to_str().is_some_and(is_state_name) {
            continue;
        }
        let Ok(changed) = entry.metadata().and_then(|meta| meta.modified()) else { continue };
        let old = match now.duration_since(changed) {
            Ok(age) => age > most_age,
            Err(future) => future.duration() > CLOCK_SLACK,
        };
        removed += usize::from(old && std::fs::remove_file(entry.path()).is_ok());
    }
    removed
}

/// 32 hexadecimal digits, then `.jsonl` or a rewrite's `.<pid>.new`.
fn is_state_name(name: &str) -> bool {
    let Some((stem, rest)) = name.split_once('.') else { return false };
    stem.len() == 32
        && stem.bytes().all(|byte| byte.is_ascii_hexdigit())
        && (rest == "jsonl"
            || rest.strip_suffix(".new").is_some_and(|pid| pid.bytes().all(|byte| byte.is_ascii_digit())))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]
mod tests {
    use super::*;
    use crate::session::name::file_name;

    #[test]
    fn old_state_goes_and_everything_else_stays() {
        let dir = tempfile::tempdir().unwrap();
        let now = SystemTime::now();
        let day = Duration::from_secs(24 * 60 * 60);
        let write = |name: &str, changed: SystemTime| {
            let file = std::fs::File::create(dir.path().join(name)).unwrap();
            file.set_modified(changed).unwrap();
        };
        let rewrite = file_name("c").replace("jsonl", "77.new");
        write(&file_name("a"), now - 31 * day);
        write(&file_name("b"), now - 29 * day);
        write(&rewrite, now - 31 * day);
        write(&file_name("future"), now + 3 * day);
        write("notes.txt", now - 99 * day);
        assert_eq!(prune(dir.path(), MOST_AGE, now), 3);
        let mut left: Vec<String> = std::fs::read_dir(dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        let mut expect = vec![file_name("b"), "notes.txt".to_owned()];
        expect.sort();
        assert_eq!(left, expect);
        assert_eq!(prune(&dir.path().join("missing"), MOST_AGE, now), 0);
    }
}
