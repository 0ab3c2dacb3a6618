//! Answers of systems that were run already, so that an evaluation that was stopped goes on where it was.
//!
//! A key covers all that an answer depends on as far as it can be seen: command line, the program's own bytes, questions,
//! judgements and ids of the corpus, depth, version. What a program reads besides is not seen: use a fresh folder after
//! changing it.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

use super::answers::Answers;
use super::collection::Collection;
use super::system::System;
use crate::failure::Failure;

/// Version of the cached files; another one is no hit.
const VERSION: u32 = 1;

/// A folder of answers, or none.
#[derive(Debug, Clone, Default)]
pub struct Cache {
    folder: Option<PathBuf>,
    /// Whether answers that are there are taken.
    read: bool,
}

impl Cache {
    /// Answers are kept in a folder, and taken from it when `read` says so.
    pub fn new(folder: &Path, read: bool) -> Cache {
        Cache { folder: Some(folder.to_owned()), read }
    }

    /// The key of a system's answers.
    pub fn key(&self, system: &System, collection: &Collection, k: u32) -> String {
        let mut hash = Xxh3::new();
        let shard = collection.shard.map(|shard| (shard.index(), shard.total()));
        let parts = format!("{VERSION}\0{}\0{}\0{k}\0{shard:?}\0", system.command, collection.fingerprint);
        hash.update(parts.as_bytes());
        hash_program(&system.command, &mut hash);
        format!("{:016x}", hash.digest())
    }

    /// The answers of a key, when they are there and whole.
    pub fn get(&self, key: &str) -> Option<Answers> {
        let folder = self.folder.as_ref().filter(|_| self.read)?;
        let text = fs::read(folder.join(format!("{key}.json"))).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Keeps answers, whole or not at all.
    ///
    /// # Errors
    /// A folder that cannot be written.
    pub fn put(&self, key: &str, answers: &Answers) -> Result<(), Failure> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let path = folder.join(format!("{key}.json"));
        let write = || {
            fs::create_dir_all(folder)?;
            let partial = folder.join(format!("{key}.partial"));
            fs::write(&partial, serde_json::to_vec(answers)?)?;
            fs::rename(&partial, &path)
        };
        write().map_err(|error: std::io::Error| {
            Failure::usage(&path, format!("cannot be written: {error}"), "name a folder that can be written with --out")
        })
    }
}

/// Adds the bytes of every word of a command that is a file: programs and scripts, but no folder.
fn hash_program(command: &str, hash: &mut Xxh3) {
    for word in command.split_whitespace().map(|word| word.trim_matches(['\'', '"'])) {
        let path = Path::new(word);
        let found = if path.components().count() > 1 { Some(path.to_owned()) } else { on_path(word) };
        let Some(mut file) = found.filter(|path| path.is_file()).and_then(|path| File::open(path).ok()) else {
            continue;
        };
        let mut piece = vec![0; 1 << 16];
        while let Ok(n) = file.read(&mut piece) {
            if n == 0 {
                break;
            }
            hash.update(piece.get(..n).unwrap_or_default());
        }
    }
}

fn on_path(word: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(word)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

    use super::*;

    #[test]
    fn a_changed_program_has_another_key() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("system");
        let system = System { name: "s".to_owned(), command: format!("'{}' --x", program.display()) };
        let digest = || {
            let mut hash = Xxh3::new();
            hash_program(&system.command, &mut hash);
            hash.digest()
        };
        fs::write(&program, "one").unwrap();
        let one = digest();
        fs::write(&program, "two").unwrap();
        assert_ne!(one, digest());
    }

    #[test]
    fn answers_come_back_and_torn_ones_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let answers = Answers { runs: Vec::new(), wall_us: 3 };
        let cache = Cache::new(folder.path(), true);
        assert_eq!(cache.get("k"), None);
        cache.put("k", &answers).unwrap();
        assert_eq!(cache.get("k"), Some(answers.clone()));
        assert_eq!(Cache::new(folder.path(), false).get("k"), None);
        fs::write(folder.path().join("k.json"), "{\"runs\":[").unwrap();
        assert_eq!(cache.get("k"), None);
    }
}
