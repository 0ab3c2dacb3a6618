//! The store's list of projects: which folder has which id.
//!
//! One JSON line a sighting, appended under a lock when a memory is captured; reading takes no lock and a torn
//! last line is skipped. An id, once given, is never given to another folder. Nothing here looks at memories.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use xxhash_rust::xxh3::xxh3_64;

use super::locate::Place;

/// Version of the registry's lines. History: 1, first release.
const REGISTRY_VERSION: u32 = 1;

/// Registry lines that are read at most; a line is about 300 bytes.
const REGISTRY_LIMIT_BYTES: u64 = 8 * 1024 * 1024;

/// Longest readable part of an id.
const NAME_LIMIT_BYTES: usize = 40;

/// A project known to the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// `name-hash`, unique in the store, safe as a folder name.
    pub id: String,
    /// Root folder of this call's work tree.
    pub root: PathBuf,
    /// Folder of the project's part of the store.
    pub store: PathBuf,
}

/// Why a project could not be registered.
#[derive(Debug, Error)]
pub enum RegistryError {
    /// The registry could not be read or written.
    #[error("project registry {path}: {source}")]
    Io {
        /// The registry file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The store folder or the registry is a symlink or otherwise not what it must be.
    #[error("project registry {path}: {reason}")]
    Refused {
        /// The path that was refused.
        path: PathBuf,
        /// Why.
        reason: &'static str,
    },
}

/// The registry file of one store.
#[derive(Debug, Clone)]
pub struct Registry {
    store_root: PathBuf,
}

/// One line of the file.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
struct Sighting {
    v: u32,
    id: String,
    /// Canonical anchor folder; lossy for names that are not UTF-8, which `path_hash` tells apart.
    path: String,
    path_hash: u64,
    #[serde(default)]
    device: u64,
    #[serde(default)]
    inode: u64,
    /// Birth time of the folder in nanoseconds: an inode number alone is given to the next folder made.
    #[serde(default)]
    born_ns: u64,
    #[serde(default)]
    origin: Option<String>,
}

impl Registry {
    /// The registry of the store at `store_root`; nothing is opened or made.
    pub fn at(store_root: &Path) -> Registry {
        Registry { store_root: store_root.to_path_buf() }
    }

    fn file(&self) -> PathBuf {
        self.store_root.join("projects.jsonl")
    }

    /// The project of a place, if a memory was ever captured there. Never writes.
    pub fn lookup(&self, place: &Place) -> Option<Project> {
        let text = read_bounded(&self.file()).ok()?;
        let found = identify(&text, place, &sighting_of(place))?;
        Some(self.project(found.id, place))
    }

    /// The project of a place, registered now when it is new or was moved.
    ///
    /// # Errors
    /// When the store's root cannot be made or the registry not be locked, read or appended to.
    pub fn register(&self, place: &Place) -> Result<Project, RegistryError> {
        let path = self.file();
        let fail = |source| RegistryError::Io { path: path.clone(), source };
        let mut own = sighting_of(place);
        let known = read_bounded(&path).ok().and_then(|text| identify(&text, place, &own));
        if let Some(known) = known
            && known.path_hash == own.path_hash
        {
            return Ok(self.project(known.id, place));
        }
        make_private_folder(&self.store_root).map_err(fail)?;
        if fs::symlink_metadata(&path).is_ok_and(|meta| meta.file_type().is_symlink()) {
            return Err(RegistryError::Refused { path, reason: "is a symlink; remove it to go on" });
        }
        let mut file = open_private(&path).map_err(fail)?;
        file.lock().map_err(fail)?;
        // Read again: another process may have registered the same folder while this one waited.
        let text = read_bounded(&path).unwrap_or_default();
        own.id = match identify(&text, place, &own) {
            Some(found) if found.path_hash == own.path_hash => return Ok(self.project(found.id, place)),
            Some(found) => found.id,
            None => fresh_id(&text, place),
        };
        own.origin = origin_of(place);
        let mut line = serde_json::to_string(&own).map_err(|error| fail(error.into()))?;
        // A torn line of a killed writer must not swallow this one.
        if !text.is_empty() && !text.ends_with('\n') {
            line.insert(0, '\n');
        }
        line.push('\n');
        file.write_all(line.as_bytes()).and_then(|()| file.sync_data()).map_err(fail)?;
        Ok(self.project(own.id, place))
    }

    /// Ids of all registered projects with the last folder each was seen at, in order of registration.
    pub fn all(&self) -> Vec<(String, PathBuf)> {
        let mut projects: Vec<(String, PathBuf)> = Vec::new();
        for line in read_bounded(&self.file()).unwrap_or_default().lines().filter_map(parse) {
            match projects.iter_mut().find(|(id, _)| *id == line.id) {
                Some((_, path)) => *path = PathBuf::from(line.path),
                None => projects.push((line.id, PathBuf::from(line.path))),
            }
        }
        projects
    }

    /// Folder of a project's part of the store.
    pub fn store_of(&self, id: &str) -> PathBuf {
        self.store_root.join("projects").join(id)
    }

    fn project(&self, id: String, place: &Place) -> Project {
        Project { store: self.store_of(&id), id, root: place.root.clone() }
    }
}

/// The line that speaks of this folder: under its own path, or under the path that it was moved from.
fn identify(text: &str, place: &Place, own: &Sighting) -> Option<Sighting> {
    // Nearly every call is settled by one line: find it by its hash before parsing anything.
    let needle = format!("\"path_hash\":{},", own.path_hash);
    if let Some(line) = text.lines().rev().filter(|line| line.contains(&needle)).find_map(parse) {
        // The path may have been given to a new folder after the registered one was moved away.
        let replaced = !line.same_folder(own) && text.lines().filter_map(parse).any(|other| line.lives_on_as(&other));
        return (!replaced).then_some(line);
    }
    let origin = origin_of(place);
    // A folder whose old path still leads somewhere was copied, not moved.
    text.lines().rev().filter_map(parse).find(|line| {
        (line.same_folder(own) || (origin.is_some() && line.origin == origin)) && !Path::new(&line.path).exists()
    })
}

impl Sighting {
    fn same_folder(&self, other: &Sighting) -> bool {
        self.inode != 0
            && self.born_ns != 0
            && (self.device, self.inode, self.born_ns) == (other.device, other.inode, other.born_ns)
    }

    /// True when `other` is this project at another path, and that folder is still there.
    fn lives_on_as(&self, other: &Sighting) -> bool {
        other.id == self.id && other.path_hash != self.path_hash && self.same_folder(other) && {
            let (device, inode, born_ns) = folder_identity(Path::new(&other.path));
            (device, inode, born_ns) == (other.device, other.inode, other.born_ns)
        }
    }
}

/// What is known of the folder without its id and origin.
fn sighting_of(place: &Place) -> Sighting {
    let anchor = place.anchor();
    let (device, inode, born_ns) = folder_identity(anchor);
    Sighting {
        v: REGISTRY_VERSION,
        id: String::new(),
        path: anchor.to_string_lossy().into_owned(),
        path_hash: hash_of(anchor),
        device,
        inode,
        born_ns,
        origin: None,
    }
}

/// Device, inode and birth time in nanoseconds; zeros where the system does not tell.
fn folder_identity(path: &Path) -> (u64, u64, u64) {
    let Ok(meta) = fs::metadata(path) else { return (0, 0, 0) };
    let born = meta.created().ok().and_then(|born| born.duration_since(UNIX_EPOCH).ok());
    let born_ns = born.and_then(|age| u64::try_from(age.as_nanos()).ok()).unwrap_or(0);
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        (meta.dev(), meta.ino(), born_ns)
    }
    #[cfg(not(unix))]
    (0, 0, born_ns)
}

fn origin_of(place: &Place) -> Option<String> {
    place.git.as_ref().and_then(|git| origin_url(&git.common_dir.join("config")))
}

/// `remote "origin"`'s `url` in a git config file, without user and password.
fn origin_url(config: &Path) -> Option<String> {
    let text = read_bounded(config).ok()?;
    let mut in_origin = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            in_origin = line.replace(' ', "") == "[remote\"origin\"]";
        } else if in_origin
            && let Some((key, value)) = line.split_once('=')
            && key.trim() == "url"
        {
            let value = value.trim();
            return Some(match (value.find("://"), value.rfind('@')) {
                (Some(scheme), Some(at)) if at > scheme => {
                    format!("{}{}", value.get(..scheme + 3)?, value.get(at + 1..)?)
                }
                _ => value.to_owned(),
            });
        }
    }
    None
}

fn parse(line: &str) -> Option<Sighting> {
    let sighting: Sighting = serde_json::from_str(line).ok()?;
    // An id becomes a folder name, so a damaged or forged one must not lead out of the store.
    let safe = !sighting.id.is_empty() && sighting.id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    (safe && sighting.v <= REGISTRY_VERSION).then_some(sighting)
}

/// `name-hash`; the name is for people, the hash of the folder's path tells projects apart.
fn fresh_id(text: &str, place: &Place) -> String {
    let anchor = place.anchor();
    let named = if anchor.file_name().is_some_and(|name| name == ".git") { anchor.parent() } else { Some(anchor) };
    let name = named.and_then(Path::file_name).map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let mut slug: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .take(NAME_LIMIT_BYTES)
        .collect();
    slug = slug.trim_matches('-').to_owned();
    if slug.is_empty() {
        slug.push_str("project");
    }
    let taken = |id: &str| text.lines().filter_map(parse).any(|line| line.id == id);
    let hash = hash_of(anchor);
    let first = format!("{slug}-{hash:016x}");
    if !taken(&first) {
        return first;
    }
    // The folder that had this path was moved away and keeps its id.
    (2_u32..).map(|n| format!("{first}-{n}")).find(|id| !taken(id)).unwrap_or(first)
}

fn hash_of(path: &Path) -> u64 {
    xxh3_64(path.as_os_str().as_encoded_bytes())
}

fn read_bounded(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(REGISTRY_LIMIT_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Makes a folder that only its owner can read.
pub(crate) fn make_private_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(path)
}

fn open_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true).read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)
}
