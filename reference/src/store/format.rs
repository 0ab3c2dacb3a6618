//! Versions of the formats on disk, each with its history beside it.
//!
//! A reader accepts any version and takes what it understands; a writer refuses a journal that is newer than
//! its own. An index is not migrated but built again.

/// Version of `journal/<n>.jsonl`, stated in the first line of each file.
///
/// * 1: lines `[length,crc32,{...}]`; a header with `format`, `version` and `replaces`; operations `upsert`
///   (with `document`, optionally `restore`) and `remove` (with `ids` only).
pub const JOURNAL_VERSION: u32 = 1;

/// Version of `index/<generation>/manifest.json` and of the part files that it names.
///
/// * 1: one framed manifest line; parts of two files, `postings` and `side`; one file `dead`.
/// * 2: parts of three files, `routes` beside them, which holds what the typed and team strategies ask for; the lists
///   of the routing index say which terms are subjects and objects.
///
/// An index of another version is ignored and, when older, replaced by one built from the journal. A change to
/// the text analyser or to the line fingerprint needs a new number, since both are baked into the parts.
pub const INDEX_VERSION: u32 = 2;

/// Value of `format` in a journal's header.
pub const JOURNAL_FORMAT: &str = "hookmem-journal";

/// Value of `format` in a manifest.
pub const INDEX_FORMAT: &str = "hookmem-index";
