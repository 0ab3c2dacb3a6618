//! Opens, creates and replaces the store's files: 0600, folders 0700, never through a symlink.
//!
//! Guarantee: below the store's root, neither a file nor the folder that holds it is followed when it is a
//! symlink, and nothing but a regular file is read (a FIFO would block for ever). The root itself may be one:
//! where the store lies is its owner's choice. Not here: locks and maps.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use crate::store::error::FileError;

/// Opens a regular file for reading.
pub fn open_read(path: &Path) -> Result<File, FileError> {
    open(OpenOptions::new().read(true), path)
}

/// Opens an existing regular file for appending and reading.
pub fn open_append(path: &Path) -> Result<File, FileError> {
    open(OpenOptions::new().read(true).append(true), path)
}

/// Creates a file that must not exist yet.
pub fn create(path: &Path) -> Result<File, FileError> {
    open(OpenOptions::new().read(true).write(true).create_new(true).mode(0o600), path)
}

/// Opens a file for locking, creating it empty when it is missing.
pub fn open_or_create(path: &Path) -> Result<File, FileError> {
    // Not truncated: the file may be another process's lock.
    open(OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600), path)
}

fn open(options: &mut OpenOptions, path: &Path) -> Result<File, FileError> {
    // O_NONBLOCK keeps the open of a FIFO from waiting for its other end; regular files ignore it.
    let file =
        options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path).map_err(FileError::new("open", path))?;
    let is_file = file.metadata().map_err(FileError::new("examine", path))?.is_file();
    if is_file { Ok(file) } else { Err(refused(path, "not a regular file")) }
}

/// Creates a folder below the root, 0700, unless it is there; refuses a symlink in its place.
pub fn create_dir(path: &Path) -> Result<(), FileError> {
    match DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => check_dir(path).map(drop),
        Err(source) => Err(FileError { action: "create", path: path.to_path_buf(), source }),
    }
}

/// Creates the store's root with its missing parents, 0700.
pub fn create_root(path: &Path) -> Result<(), FileError> {
    DirBuilder::new().mode(0o700).recursive(true).create(path).map_err(FileError::new("create", path))
}

/// True when the folder is there; an error when something else, or a symlink, stands in its place.
pub fn check_dir(path: &Path) -> Result<bool, FileError> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => Ok(true),
        Ok(_) => Err(refused(path, "not a folder, or a symlink")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(FileError { action: "examine", path: path.to_path_buf(), source }),
    }
}

fn refused(path: &Path, why: &str) -> FileError {
    FileError { action: "use", path: path.to_path_buf(), source: io::Error::other(why.to_owned()) }
}

/// Names in a folder that are UTF-8, unordered; none when the folder is missing.
pub fn names(dir: &Path) -> Result<Vec<String>, FileError> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(FileError { action: "list", path: dir.to_path_buf(), source }),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(FileError::new("list", dir))?;
        names.extend(entry.file_name().into_string());
    }
    Ok(names)
}

/// Time since a file was last written, by the clock; zero when that is not known.
pub fn age(path: &Path) -> Duration {
    let modified = fs::symlink_metadata(path).and_then(|metadata| metadata.modified());
    modified.ok().and_then(|time| time.elapsed().ok()).unwrap_or_default()
}

/// Makes renames and new names in a folder durable.
pub fn sync_dir(dir: &Path) -> Result<(), FileError> {
    File::open(dir).and_then(|folder| folder.sync_all()).map_err(FileError::new("sync", dir))
}

/// Publishes `bytes` under `path`, which must be free: written and synced under `temporary` in the same folder,
/// then renamed, so that no reader ever sees a part of it.
pub fn publish(path: &Path, temporary: &Path, bytes: &[u8]) -> Result<(), FileError> {
    remove(temporary)?;
    let mut file = create(temporary)?;
    file.write_all(bytes).map_err(FileError::new("write", temporary))?;
    file.sync_all().map_err(FileError::new("sync", temporary))?;
    rename(temporary, path)
}

/// Renames within one folder and makes it durable.
pub fn rename(from: &Path, to: &Path) -> Result<(), FileError> {
    fs::rename(from, to).map_err(FileError::new("rename", from))?;
    to.parent().map_or(Ok(()), sync_dir)
}

/// Removes a file if it is there.
pub fn remove(path: &Path) -> Result<(), FileError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(FileError { action: "remove", path: path.to_path_buf(), source })
        }
        _ => Ok(()),
    }
}

/// Removes a folder with everything in it if it is there; a symlink in its place is removed, not followed.
pub fn remove_dir(path: &Path) -> Result<(), FileError> {
    let removed = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(FileError { action: "remove", path: path.to_path_buf(), source })
        }
        _ => Ok(()),
    }
}
