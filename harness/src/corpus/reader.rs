//! Reads a corpus folder, row by row; each file plain or `.gz`.
//!
//! Every error names file and line. Nothing is kept but the row at hand.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use serde::de::DeserializeOwned;

use super::row::{FORMAT, Judgement, Manifest, VERSION};
use crate::failure::Failure;

/// Longest line: far above any row, and a file that is no corpus does not fill the memory.
const MAX_LINE_BYTES: u64 = 64 << 20;
/// What some editors write in front of UTF-8; no reader of JSON lines takes it.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// The lines of one file with their numbers.
pub struct Lines {
    /// The file that is read.
    pub path: PathBuf,
    stream: Box<dyn BufRead>,
    number: usize,
    buffer: Vec<u8>,
}

impl Lines {
    /// Opens `name` in a folder, or `name.gz` when only that is there; `None` when neither is.
    ///
    /// # Errors
    /// A file that cannot be opened.
    pub fn open(folder: &Path, name: &str) -> Result<Option<Lines>, Failure> {
        let plain = folder.join(name);
        let packed = folder.join(format!("{name}.gz"));
        let (path, is_packed) = match (plain.exists(), packed.exists()) {
            (true, _) => (plain, false),
            (false, true) => (packed, true),
            (false, false) => return Ok(None),
        };
        let file = File::open(&path).map_err(|error| unreadable(&path, &error))?;
        let stream: Box<dyn BufRead> = if is_packed {
            Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(file)))
        } else {
            Box::new(BufReader::with_capacity(1 << 16, file))
        };
        Ok(Some(Lines { path, stream, number: 0, buffer: Vec::new() }))
    }

    /// The next line that is not blank, with its number from 1.
    ///
    /// # Errors
    /// A file that cannot be read, or text that is not UTF-8.
    pub fn next_line(&mut self) -> Result<Option<(usize, &str)>, Failure> {
        loop {
            self.buffer.clear();
            let read = (&mut self.stream).take(MAX_LINE_BYTES + 1).read_until(b'\n', &mut self.buffer);
            if read.map_err(|error| unreadable(&self.path, &error))? == 0 {
                return Ok(None);
            }
            self.number += 1;
            if self.buffer.len() as u64 > MAX_LINE_BYTES {
                let message = format!("has more than {MAX_LINE_BYTES} bytes");
                return Err(self.fault(&message, "give every row a line of its own"));
            }
            if self.number == 1 && self.buffer.starts_with(MARK) {
                return Err(self.fault("begins with a byte order mark", "save the file as UTF-8 without one"));
            }
            if self.buffer.iter().any(|byte| !byte.is_ascii_whitespace()) {
                break;
            }
        }
        match std::str::from_utf8(&self.buffer) {
            Ok(line) => Ok(Some((self.number, line.trim()))),
            Err(_) => Err(self.fault("is not UTF-8", "write the corpus as UTF-8")),
        }
    }

    /// The next row with its line number.
    ///
    /// # Errors
    /// As [`Lines::next_line`], and a line that is not such a row.
    pub fn next_row<T: DeserializeOwned>(&mut self) -> Result<Option<(usize, T)>, Failure> {
        let path = self.path.clone();
        let Some((number, line)) = self.next_line()? else { return Ok(None) };
        match serde_json::from_str(line) {
            Ok(row) => Ok(Some((number, row))),
            Err(error) => {
                let place = format!("{}:{number}", path.display());
                Err(Failure::usage(
                    place,
                    format!("is not such a row: {error}"),
                    "see corpora/README.md for the format",
                ))
            }
        }
    }

    /// A fault of the line that was read last.
    pub fn fault(&self, message: &str, remedy: &str) -> Failure {
        Failure::usage(format!("{}:{}", self.path.display(), self.number), message, remedy)
    }
}

/// A file that must be there.
///
/// # Errors
/// When it is not.
pub fn required(folder: &Path, name: &str) -> Result<Lines, Failure> {
    Lines::open(folder, name)?.ok_or_else(|| {
        let remedy = "name the folder of a corpus, or make one with `hookbench corpus synth` or `from-git`";
        Failure::usage(folder.join(name), "is not there", remedy)
    })
}

/// The judgements of a corpus, in file order; none when it has no `qrels`.
///
/// # Errors
/// A line that is no judgement.
pub fn judgements(folder: &Path) -> Result<Vec<Judgement>, Failure> {
    let Some(mut lines) = Lines::open(folder, "qrels")? else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    loop {
        let Some((_, line)) = lines.next_line()? else { return Ok(found) };
        match Judgement::parse(line) {
            Some(judgement) => found.push(judgement),
            None => return Err(lines.fault("is no judgement", "write `qid 0 doc_id grade`")),
        }
    }
}

/// The manifest; `None` when there is none, or when it names no format and so is another maker's.
///
/// # Errors
/// A manifest that is no JSON, or of a newer version.
pub fn manifest(folder: &Path) -> Result<Option<Manifest>, Failure> {
    let path = folder.join("manifest.json");
    if !path.exists() {
        return Ok(None);
    }
    let text = std::fs::read_to_string(&path).map_err(|error| unreadable(&path, &error))?;
    let other = |why: String| Failure::usage(&path, why, "see corpora/README.md for the format");
    let value: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| other(format!("is not a manifest: {error}")))?;
    if value.get("format").and_then(serde_json::Value::as_str) != Some(FORMAT) {
        return Ok(None);
    }
    let manifest: Manifest =
        serde_json::from_value(value).map_err(|error| other(format!("is not a manifest: {error}")))?;
    if manifest.version > VERSION {
        return Err(other(format!("format version {} is newer than {VERSION}: update hookbench", manifest.version)));
    }
    Ok(Some(manifest))
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(path, format!("cannot be read: {error}"), "name a folder with the files of a corpus")
}
