//! Writes a corpus folder, row by row, in the memory of one row.
//!
//! A folder that holds a corpus already is never changed. The manifest comes last, so a folder without one is the rest
//! of a writer that did not get to its end.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::row::{Judgement, Manifest, QueryRow, RecordRow, WrittenRow};
use crate::failure::Failure;

/// Every file that a writer leaves.
pub const FILES: [&str; 5] = ["corpus.jsonl", "written.jsonl", "queries.jsonl", "qrels", "manifest.json"];

/// A corpus that is being written.
pub struct CorpusWriter {
    folder: PathBuf,
    records: BufWriter<File>,
    written: BufWriter<File>,
    queries: BufWriter<File>,
    qrels: BufWriter<File>,
    manifest: Manifest,
    /// The session of the last record: sessions come one after the other.
    session: String,
}

impl CorpusWriter {
    /// Starts a corpus in a folder, which is made when absent.
    ///
    /// # Errors
    /// A folder that holds a corpus, or cannot be written.
    pub fn create(folder: &Path, manifest: Manifest) -> Result<CorpusWriter, Failure> {
        fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
        let open = |name: &str| {
            let path = folder.join(name);
            let file = OpenOptions::new().write(true).create_new(true).open(&path);
            file.map(BufWriter::new).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => {
                    Failure::usage(&path, "is there already", "name a folder that is empty or does not exist")
                }
                _ => unwritable(&path, &error),
            })
        };
        Ok(CorpusWriter {
            records: open("corpus.jsonl")?,
            written: open("written.jsonl")?,
            queries: open("queries.jsonl")?,
            qrels: open("qrels")?,
            folder: folder.to_owned(),
            manifest,
            session: String::new(),
        })
    }

    /// Adds a memory with the lines it wrote. The records of a session must follow each other.
    ///
    /// # Errors
    /// From the file system.
    pub fn record(&mut self, row: &RecordRow, lines: Vec<String>) -> Result<(), Failure> {
        self.manifest.memories += 1;
        if row.session_id != self.session {
            self.manifest.sessions += 1;
            self.session.clone_from(&row.session_id);
        }
        json_line(&mut self.records, row).map_err(|error| unwritable(&self.folder, &error))?;
        if lines.is_empty() {
            return Ok(());
        }
        let row = WrittenRow { doc_id: row.doc_id.clone(), lines };
        json_line(&mut self.written, &row).map_err(|error| unwritable(&self.folder, &error))
    }

    /// Adds a question with its judgements.
    ///
    /// # Errors
    /// From the file system.
    pub fn query(&mut self, row: &QueryRow, judgements: &[Judgement]) -> Result<(), Failure> {
        self.manifest.queries += 1;
        if row.kind == "answerable" {
            self.manifest.answerable += 1;
        } else {
            self.manifest.noanswer += 1;
        }
        self.manifest.judgements += judgements.len() as u64;
        let mut write = || {
            json_line(&mut self.queries, row)?;
            judgements.iter().try_for_each(|judgement| writeln!(self.qrels, "{judgement}"))
        };
        write().map_err(|error| unwritable(&self.folder, &error))
    }

    /// Writes the manifest and ends the corpus.
    ///
    /// # Errors
    /// From the file system.
    pub fn finish(mut self) -> Result<Manifest, Failure> {
        let mut write = || {
            for file in [&mut self.records, &mut self.written, &mut self.queries, &mut self.qrels] {
                file.flush()?;
            }
            let mut text = serde_json::to_vec_pretty(&self.manifest)?;
            text.push(b'\n');
            fs::write(self.folder.join("manifest.json"), text)
        };
        write().map_err(|error: io::Error| unwritable(&self.folder, &error))?;
        Ok(self.manifest)
    }
}

fn json_line(file: &mut BufWriter<File>, row: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *file, row)?;
    file.write_all(b"\n")
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::usage(path, format!("cannot be written: {error}"), "name a folder that can be written")
}
