//! The postings of one part: the only file that knows the tantivy library.
//!
//! Used for term dictionaries and posting lists alone: no stored fields, no positions, no query parser, no reader
//! object, no writer threads. A part is exactly one of the library's segments, and its files are packed into one
//! side file, which a read-only directory unpacks in place; so opening takes no lock, starts no thread and creates
//! no file. The library trusts its bytes: every call on mapped bytes runs under `catch_unwind`, and damage reads
//! as "no such term".
//!
//! Terms are found through a table of our own in the same file (`term-keys`: sorted hashes; `term-starts`: index of
//! the first record; `term-infos`: records of field, frequency, start and length, four `u32` each), and posting lists
//! are read by one call each. Walking the library's dictionary in the map touched pages all over it: at 100,000
//! documents that was more than half of a recall's peak memory. Its dictionary is therefore not kept.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tantivy::directory::error::{DeleteError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    Directory, FileHandle, MmapDirectory, OwnedBytes, RamDirectory, WatchCallback, WatchHandle, WritePtr,
};
use tantivy::fieldnorm::FieldNormReader;
use tantivy::indexer::SingleSegmentIndexWriter;
use tantivy::postings::{BlockSegmentPostings, TermInfo};
use tantivy::schema::{Field as Column, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{PreTokenizedString, Token};
use tantivy::{HasLen, Index, InvertedIndexReader, SegmentReader, TantivyDocument, TantivyError};

use crate::store::error::FoldError;
use crate::store::file;
use crate::store::map::Map;
use crate::store::postings::Field;
use crate::store::side::{LONG_BYTES, Side, SideEntry, SideWriter};
use crate::store::table;
use crate::store::wire::id_hash;

/// The library's name of its entry file.
const META: &str = "meta.json";
/// The library's extension for the file of term dictionaries.
const DICTIONARY: &str = "term";
/// The library's extension for the file of posting lists.
const LISTS: &str = "idx";
/// The library's hint for its hash tables; it grows beyond.
const TABLE_BYTES: usize = 15_000_000;
/// Documents up to which a build stays in memory, which saves the library's own syncs.
const MEMORY_DOCUMENTS: u64 = 8_192;
/// Terms whose place is remembered at most.
const MAX_FOUND: usize = 4_096;
/// Documents in one block of a posting list.
const BLOCK: usize = 128;

fn schema() -> Schema {
    let mut builder = Schema::builder();
    for field in Field::ALL {
        let indexing = TextFieldIndexing::default()
            .set_tokenizer("raw")
            .set_index_option(IndexRecordOption::WithFreqs)
            .set_fieldnorms(true);
        builder.add_text_field(column_name(field), TextOptions::default().set_indexing_options(indexing));
    }
    builder.build()
}

fn column_name(field: Field) -> &'static str {
    match field {
        Field::Request => "request",
        Field::Body => "body",
        Field::Paths => "paths",
        Field::Written => "written",
    }
}

/// The column of a field: columns are declared in the order of [`Field::ALL`].
fn column(field: Field) -> Column {
    Column::from_field_id(field as u32)
}

/// Calls its second argument once for each term of the field, repeats included.
pub type TermSource<'a> = dyn Fn(Field, &mut dyn FnMut(&str)) + 'a;

/// Builds the postings of a part, document by document.
pub struct PostingsWriter {
    writer: SingleSegmentIndexWriter,
    directory: Box<dyn Directory>,
    /// Where a build that is too large for memory keeps its files.
    scratch: Option<PathBuf>,
    place: PathBuf,
}

impl fmt::Debug for PostingsWriter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PostingsWriter").field("place", &self.place).finish_non_exhaustive()
    }
}

impl PostingsWriter {
    /// Starts a build of about `documents` documents in the folder `dir`.
    pub fn create(dir: &Path, documents: u64) -> Result<PostingsWriter, FoldError> {
        let fail = |source| FoldError::Postings { path: dir.to_path_buf(), source };
        let (directory, scratch): (Box<dyn Directory>, _) = if documents <= MEMORY_DOCUMENTS {
            (Box::new(RamDirectory::create()), None)
        } else {
            let scratch = dir.join("scratch");
            file::create_dir(&scratch)?;
            let directory = MmapDirectory::open(&scratch).map_err(|error| fail(error.into()))?;
            (Box::new(directory), Some(scratch))
        };
        let writer = Index::builder()
            .schema(schema())
            .single_segment_index_writer(directory.clone(), TABLE_BYTES)
            .map_err(fail)?;
        Ok(PostingsWriter { writer, directory, scratch, place: dir.to_path_buf() })
    }

    /// Adds the next document and gives the length of each field.
    pub fn add(&mut self, terms: &TermSource<'_>) -> Result<[u32; 4], FoldError> {
        let mut document = TantivyDocument::default();
        let mut lengths = [0; 4];
        for (field, length) in Field::ALL.into_iter().zip(&mut lengths) {
            let mut tokens = Vec::new();
            terms(field, &mut |term| {
                let position = tokens.len();
                tokens.push(Token { position, text: term.to_owned(), ..Token::default() });
            });
            *length = u32::try_from(tokens.len()).unwrap_or(u32::MAX);
            if !tokens.is_empty() {
                document.add_pre_tokenized_text(column(field), PreTokenizedString { text: String::new(), tokens });
            }
        }
        self.writer
            .add_document(document)
            .map_err(|source| FoldError::Postings { path: self.place.clone(), source })?;
        Ok(lengths)
    }

    /// Ends the build and packs it into the side file `name` of the build's folder.
    pub fn finish(self, name: &str) -> Result<SideEntry, FoldError> {
        let PostingsWriter { writer, directory, scratch, place } = self;
        let fail = |source: TantivyError| FoldError::Postings { path: place.clone(), source };
        let index = writer.finalize().map_err(fail)?;
        let mut pack = SideWriter::create(&place, name)?;
        let stand_in = stand_in_dictionary().map_err(fail)?;
        let mut paths: Vec<PathBuf> = index.directory().list_managed_files().into_iter().collect();
        paths.sort_unstable();
        for path in paths.iter().filter(|path| path.as_path() != Path::new(META)) {
            if directory.exists(path).map_err(|error| fail(error.into()))? {
                let slice = directory.open_read(path).map_err(|error| fail(error.into()))?;
                let bytes = if path.extension().is_some_and(|extension| extension == DICTIONARY) {
                    stand_in.clone()
                } else {
                    slice.read_bytes().map_err(|error| fail(error.into()))?
                };
                pack.section(&path.to_string_lossy(), [bytes.as_slice()])?;
            }
        }
        let meta = directory.atomic_read(Path::new(META)).map_err(|error| fail(error.into()))?;
        pack.section(META, [meta])?;
        let mut records = Vec::new();
        for segment in index.searchable_segments().map_err(fail)? {
            collect_terms(&SegmentReader::open(&segment).map_err(fail)?, &mut records).map_err(fail)?;
        }
        drop(index);
        write_terms(records, &mut pack)?;
        if let Some(scratch) = scratch {
            file::remove_dir(&scratch)?;
        }
        Ok(pack.finish()?)
    }
}

/// A term dictionary of one term a field: it stands in the place of the real one, which the library would open and
/// nobody would ask.
fn stand_in_dictionary() -> Result<OwnedBytes, TantivyError> {
    let directory = RamDirectory::create();
    let mut writer: SingleSegmentIndexWriter =
        Index::builder().schema(schema()).single_segment_index_writer(directory.clone(), TABLE_BYTES)?;
    let mut document = TantivyDocument::default();
    for field in Field::ALL {
        let tokens = vec![Token { position: 0, text: "-".to_owned(), ..Token::default() }];
        document.add_pre_tokenized_text(column(field), PreTokenizedString { text: String::new(), tokens });
    }
    writer.add_document(document)?;
    let index = writer.finalize()?;
    let paths = index.directory().list_managed_files();
    let dictionary = paths.iter().find(|path| path.extension().is_some_and(|extension| extension == DICTIONARY));
    Ok(directory.open_read(dictionary.map_or(Path::new(""), PathBuf::as_path))?.read_bytes()?)
}

/// Hash, field, documents, start and length of the posting list of one term.
type TermRecord = (u64, u32, u32, u64, u64);

fn collect_terms(segment: &SegmentReader, records: &mut Vec<TermRecord>) -> Result<(), TantivyError> {
    for field in Field::ALL {
        let inverted = segment.inverted_index(column(field))?;
        let mut terms = inverted.terms().stream()?;
        while let Some((term, info)) = terms.next() {
            let (start, length) = (info.postings_range.start as u64, info.postings_range.len() as u64);
            records.push((id_hash(&String::from_utf8_lossy(term)), field as u32, info.doc_freq, start, length));
        }
    }
    Ok(())
}

fn write_terms(mut records: Vec<TermRecord>, pack: &mut SideWriter) -> Result<(), FoldError> {
    records.sort_unstable();
    if records.iter().any(|(.., start, length)| start + length > u64::from(u32::MAX)) {
        return Err(FoldError::TooLarge("4 GiB of postings"));
    }
    let heads = || records.chunk_by(|a, b| a.0 == b.0);
    pack.section("term-keys", heads().filter_map(<[TermRecord]>::first).map(|(hash, ..)| hash.to_le_bytes()))?;
    let mut next = 0_u32;
    let starts = heads().map(|head| {
        let start = next;
        next += head.len() as u32;
        start.to_le_bytes()
    });
    pack.section("term-starts", starts)?;
    pack.section(
        "term-infos",
        records.iter().flat_map(|(_, field, documents, start, length)| {
            [*field, *documents, *start as u32, *length as u32].map(u32::to_le_bytes)
        }),
    )?;
    Ok(())
}

/// The postings of one part.
pub struct PartPostings {
    side: Side,
    segment: SegmentReader,
    /// By term hash: where its lists lie, by field. A query asks for each several times.
    found: Mutex<HashMap<u64, [Option<TermInfo>; 4]>>,
    columns: [Option<(Arc<InvertedIndexReader>, FieldNormReader)>; 4],
}

impl fmt::Debug for PartPostings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PartPostings").field("documents", &self.segment.max_doc()).finish_non_exhaustive()
    }
}

impl PartPostings {
    /// Opens packed postings; `None` when they are not exactly one segment of `documents` documents.
    pub fn open(side: &Side, documents: u32) -> Option<PartPostings> {
        guarded(|| {
            let index = Index::open(Pack::of(side)).ok()?;
            let segments = index.searchable_segments().ok()?;
            let [segment] = segments.as_slice() else {
                return None;
            };
            let segment = SegmentReader::open(segment).ok()?;
            if segment.max_doc() != documents || segment.has_deletes() {
                return None;
            }
            let columns = Field::ALL.map(|field| {
                let inverted = segment.inverted_index(column(field)).ok()?;
                Some((inverted, segment.get_fieldnorms_reader(column(field)).ok()?))
            });
            Some(PartPostings { side: side.clone(), segment, found: Mutex::default(), columns })
        })
    }

    /// Where the posting list of a term lies, without a look into it.
    fn find(&self, field: Field, term: &str) -> Option<TermInfo> {
        let hash = id_hash(term);
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if found.len() >= MAX_FOUND {
            found.clear();
        }
        let infos = found.entry(hash).or_insert_with(|| self.read_infos(hash).unwrap_or_default());
        infos.get(field as usize)?.clone()
    }

    fn read_infos(&self, hash: u64) -> Option<[Option<TermInfo>; 4]> {
        let index = self.side.find("term-keys", hash)?;
        let starts = self.side.bytes("term-starts", index * 4..index * 4 + 8);
        // The last term has no successor; its records end where the section does.
        let (first, last) = match &starts {
            Some(starts) => (table::u32_at(starts, 0)? as usize, table::u32_at(starts, 1)? as usize),
            None => (self.side.u32_at("term-starts", index)? as usize, self.side.section("term-infos").len() / 16),
        };
        let last = last.min(first.checked_add(Field::ALL.len())?);
        let records = self.side.bytes("term-infos", first.checked_mul(16)?..last.checked_mul(16)?)?;
        let mut infos = [const { None }; 4];
        for record in records.chunks_exact(16) {
            let start = table::u32_at(record, 2)? as usize;
            let end = start + table::u32_at(record, 3)? as usize;
            let doc_freq = table::u32_at(record, 1)?.min(self.segment.max_doc());
            if let Some(info) = infos.get_mut(table::u32_at(record, 0)? as usize) {
                *info = Some(TermInfo { doc_freq, postings_range: start..end, positions_range: 0..0 });
            }
        }
        Some(infos)
    }

    /// Documents that hold the term, removed ones included.
    pub fn document_frequency(&self, field: Field, term: &str) -> u32 {
        self.find(field, term).map_or(0, |info| info.doc_freq)
    }

    /// Calls `visit(document, term frequency, field length)` in ascending order of documents. Lengths above 40 are
    /// rounded down to one of 200 steps.
    pub fn visit(&self, field: Field, term: &str, visit: &mut dyn FnMut(u32, u32, u32)) {
        let Some((inverted, norms)) = self.columns.get(field as usize).and_then(Option::as_ref) else {
            return;
        };
        let Some(info) = self.find(field, term) else {
            return;
        };
        let list = || inverted.read_block_postings_from_terminfo(&info, IndexRecordOption::WithFreqs).ok();
        let Some(mut list) = guarded(list) else {
            return;
        };
        let documents = self.segment.max_doc();
        let mut hits = [(0, 0, 0); BLOCK];
        // A damaged list might never end, but an honest one has no more blocks than this.
        for _ in 0..=documents / 128 + 1 {
            let Some(length) = guarded(|| Some(decode_block(&mut list, norms, documents, &mut hits))) else {
                return;
            };
            for (document, frequency, length) in hits.iter().take(length) {
                visit(*document, *frequency, *length);
            }
            if length == 0 {
                return;
            }
        }
    }
}

/// Copies the current block out and moves to the next one; gives the number of hits.
fn decode_block(
    list: &mut BlockSegmentPostings,
    norms: &FieldNormReader,
    documents: u32,
    hits: &mut [(u32, u32, u32); BLOCK],
) -> usize {
    let mut length = 0;
    for (document, frequency) in list.docs().iter().zip(list.freqs()) {
        if let Some(hit) = hits.get_mut(length).filter(|_| *document < documents) {
            *hit = (*document, (*frequency).max(1), norms.fieldnorm(*document));
            length += 1;
        }
    }
    list.advance();
    length
}

fn guarded<T>(call: impl FnOnce() -> Option<T>) -> Option<T> {
    catch_unwind(AssertUnwindSafe(call)).ok().flatten()
}

/// The read-only directory over a packed side file.
#[derive(Clone)]
struct Pack {
    map: Map,
    files: Arc<HashMap<PathBuf, Range<usize>>>,
}

impl Pack {
    fn of(side: &Side) -> Pack {
        let files = side.names().filter_map(|name| Some((PathBuf::from(name), side.range(name)?)));
        Pack { map: side.map().clone(), files: Arc::new(files.collect()) }
    }

    fn range(&self, path: &Path) -> Result<Range<usize>, OpenReadError> {
        let range = self.files.get(path).filter(|range| range.start <= range.end && range.end <= self.map.len());
        range.cloned().ok_or_else(|| OpenReadError::FileDoesNotExist(path.to_path_buf()))
    }

    fn bytes(&self, path: &Path) -> Result<OwnedBytes, OpenReadError> {
        Ok(self.map.bytes().slice(self.range(path)?))
    }
}

impl fmt::Debug for Pack {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Pack").field("files", &self.files.len()).finish_non_exhaustive()
    }
}

impl Directory for Pack {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        if path.extension().is_some_and(|extension| extension == LISTS) {
            return Ok(Arc::new(Lists { map: self.map.clone(), range: self.range(path)? }));
        }
        Ok(Arc::new(self.bytes(path)?))
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        Err(DeleteError::IoError { io_error: Arc::new(read_only()), filepath: path.to_path_buf() })
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        Ok(self.files.contains_key(path))
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        Err(OpenWriteError::wrap_io_error(read_only(), path.to_path_buf()))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.bytes(path).map(|bytes| bytes.as_slice().to_vec())
    }

    fn atomic_write(&self, _path: &Path, _data: &[u8]) -> io::Result<()> {
        Err(read_only())
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn watch(&self, _callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}

/// The file of posting lists, each read by a call of its own.
#[derive(Debug)]
struct Lists {
    map: Map,
    range: Range<usize>,
}

impl HasLen for Lists {
    fn len(&self) -> usize {
        self.range.len()
    }
}

impl FileHandle for Lists {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        if range.start > range.end || range.end > self.range.len() {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "a posting list reaches past its file"));
        }
        let range = self.range.start + range.start..self.range.start + range.end;
        if range.len() >= LONG_BYTES {
            return Ok(self.map.bytes().slice(range));
        }
        self.map.read(range).map(OwnedBytes::new)
    }
}

fn read_only() -> io::Error {
    io::Error::new(io::ErrorKind::ReadOnlyFilesystem, "a published part is never written")
}
