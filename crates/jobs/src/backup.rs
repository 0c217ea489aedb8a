//! Backups of a node's folder: a copy with a list of checksums, and checks of the folder and of its backup.
//!
//! | function | effect |
//! | --- | --- |
//! | [`verify`] | checks each state and the contents of data sets; in a backup, also each file in its list |
//! | [`export`] | checks a folder and copies it into a new backup |
//! | [`import`] | checks a backup and copies it into a new folder |
//!
//! A backup is a copy of the node's folder plus the file [`LIST`], which has the name, size and SHA-256 of each file. A
//! copy is made in a temporary folder and then renamed, so it appears completely or not at all. Stop the node first,
//! because a running node changes its files. If the node keeps data sets, [`export`] checks that it has stopped.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use lehr_services::{kept_state, marked_state};
use serde::{Deserialize, Serialize};

use crate::datasets::Datasets;
use crate::format::arrow;
use crate::format::column::Gaps;
use crate::table::Columns;

/// The name of a backup's list of files.
pub const LIST: &str = "backup.json";
/// The name of the backup format. The number in the name rises whenever the meaning of the list changes.
const FORMAT: &str = "lehr backup 1";
/// The name of the file that a running node keeps locked.
const LOCK: &str = "lock";

/// The reason why a backup cannot be made or used.
#[derive(Debug)]
pub enum Error {
    /// The damaged files, with one line for each fault.
    Damaged(Vec<String>),
    /// The operation is refused, for example because its target is not empty.
    Refused(String),
    /// An error of the disk, and the file that it concerns.
    Disk(PathBuf, io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged(faults) => formatter.write_str(&faults.join("\n")),
            Self::Refused(reason) => formatter.write_str(reason),
            Self::Disk(path, cause) => write!(formatter, "{}: {cause}", path.display()),
        }
    }
}

impl std::error::Error for Error {}

/// The contents of [`LIST`].
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    format: String,
    /// The version of Lehr that wrote the backup.
    version: String,
    /// The files by name, with `/` between folders.
    files: BTreeMap<String, Entry>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    bytes: u64,
    sha256: String,
}

/// The number and size of the files that were checked or copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// The number of files.
    pub files: usize,
    /// The total size of the files, in bytes.
    pub bytes: u64,
    /// The number of files that hold the state of a service.
    pub states: usize,
    /// The number of files that hold the contents of a data set.
    pub datasets: usize,
}

/// Checks the folder of a node or a backup of it. Compares each state with its checksum, and checks that each data set
/// has the contents that its service names. In a backup, also compares each file with the list.
///
/// # Errors
/// Returns [`Error::Damaged`] with a line for each damaged file, or [`Error::Disk`]. Returns [`Error::Refused`] for
/// links, devices, and names that are not UTF-8.
///
/// # Example
/// ```
/// let folder = tempfile::tempdir().unwrap();
/// std::fs::write(folder.path().join("notes.json"), "{}").unwrap();
/// let error = lehr_jobs::backup::verify(folder.path()).unwrap_err().to_string();
/// assert!(error.ends_with("notes.json: it has one line, where two are expected"), "{error}");
/// ```
pub fn verify(folder: &Path) -> Result<Counted, Error> {
    let files = files(folder)?;
    let (mut counted, mut faults) = (Counted::default(), Vec::new());
    for file in &files {
        let path = folder.join(file);
        counted.files += 1;
        counted.bytes += fs::metadata(&path).map_err(|cause| Error::Disk(path.clone(), cause))?.len();
        if let Some(state) = file.rsplit('/').next().and_then(marked_state) {
            let copy = path.with_file_name(format!("{state}.copy"));
            let state = path.with_file_name(state);
            if !state.exists() && !copy.exists() {
                faults.push(format!("{}: gone, and so is its copy", state.display()));
            }
        }
        if !is_state(file) {
            continue;
        }
        let bytes = fs::read(&path).map_err(|cause| Error::Disk(path.clone(), cause))?;
        match kept_state(&bytes) {
            Ok((contract, document)) => {
                counted.states += 1;
                let is_copy = file.ends_with(".copy");
                if contract == <Datasets as lehr_services::Contract>::NAME && !is_copy {
                    counted.datasets += check_datasets(&path, document, &mut faults);
                }
            }
            Err(damage) => faults.push(format!("{}: {damage}", path.display())),
        }
        // A node that misses a state restores it from the copy, so a copy without its original is reported too.
        if let Some(original) = file.strip_suffix(".copy")
            && !files.iter().any(|file| file == original)
        {
            faults.push(format!(
                "{}: gone; its copy is there, from which the next start restores it",
                folder.join(original).display()
            ));
        }
    }
    if let Some(list) = list(folder)? {
        check_list(folder, &list, &files, &mut faults)?;
    }
    if faults.is_empty() { Ok(counted) } else { Err(Error::Damaged(faults)) }
}

/// Copies the folder of a node into a new backup. The backup's folder must not exist, or must be empty, and the node
/// must not be running.
///
/// # Errors
/// Returns the errors of [`verify`]. Returns [`Error::Refused`] if a running node has locked the folder, if the folder
/// is itself a backup, or if the backup's folder is not empty.
///
/// # Example
/// See [`import`].
pub fn export(keep: &Path, backup: &Path) -> Result<Counted, Error> {
    if keep.join(LIST).exists() {
        return Err(Error::Refused(format!("{}: expected the folder of a node, found a backup", keep.display())));
    }
    let _locks = locked(keep)?;
    let counted = verify(keep)?;
    appear(backup, |new| {
        let mut list =
            List { format: FORMAT.into(), version: env!("CARGO_PKG_VERSION").into(), files: BTreeMap::new() };
        for file in files(keep)? {
            copy(keep, new, &file)?;
            list.files.insert(file.clone(), entry(&new.join(&file))?);
        }
        let path = new.join(LIST);
        let text = serde_json::to_string_pretty(&list).map_err(|cause| Error::Disk(path.clone(), cause.into()))?;
        let written = fs::write(&path, text).and_then(|()| File::open(&path)?.sync_all());
        written.map_err(|cause| Error::Disk(path, cause))
    })?;
    Ok(counted)
}

/// Copies a backup into a new folder for a node. The folder must not exist, or must be empty.
///
/// # Errors
/// Returns the errors of [`verify`]; [`Error::Refused`] if the source is not a backup, or if the folder is not empty.
///
/// # Example
/// ```
/// use lehr_jobs::backup::{export, import};
/// let folder = tempfile::tempdir().unwrap();
/// let at = |name: &str| folder.path().join(name);
/// std::fs::create_dir(at("keep")).unwrap();
/// std::fs::write(at("keep").join("other"), "kept").unwrap();
/// export(&at("keep"), &at("backup"))?;
/// import(&at("backup"), &at("again"))?;
/// assert_eq!(std::fs::read_to_string(at("again").join("other")).unwrap(), "kept");
/// assert!(import(&at("backup"), &at("keep")).unwrap_err().to_string().ends_with("expected a new or empty folder"));
/// # Ok::<(), lehr_jobs::backup::Error>(())
/// ```
pub fn import(backup: &Path, keep: &Path) -> Result<Counted, Error> {
    if list(backup)?.is_none() {
        return Err(Error::Refused(format!("{}: expected a backup, found no {LIST} in it", backup.display())));
    }
    let counted = verify(backup)?;
    appear(keep, |new| files(backup)?.iter().try_for_each(|file| copy(backup, new, file)))?;
    Ok(counted)
}

/// Returns the names of the files below a folder, except locks, the list of a backup, and files that a node has not
/// finished writing.
fn files(folder: &Path) -> Result<Vec<String>, Error> {
    fn walk(folder: &Path, before: &str, found: &mut Vec<String>) -> Result<(), Error> {
        let disk = |cause| Error::Disk(folder.to_path_buf(), cause);
        for entry in fs::read_dir(folder).map_err(disk)? {
            let entry = entry.map_err(disk)?;
            let path = entry.path();
            let Ok(name) = entry.file_name().into_string() else {
                return Err(Error::Refused(format!("{}: expected a name in UTF-8", path.display())));
            };
            let kind = entry.file_type().map_err(disk)?;
            let within = format!("{before}{name}");
            if kind.is_dir() {
                walk(&path, &format!("{within}/"), found)?;
            } else if !kind.is_file() {
                return Err(Error::Refused(format!(
                    "{}: expected files and folders, found a link or a device",
                    path.display()
                )));
            } else if name != LOCK && within != LIST && !name.ends_with(".new") && !name.ends_with(".tmp") {
                found.push(within);
            }
        }
        Ok(())
    }
    let mut found = Vec::new();
    walk(folder, "", &mut found)?;
    found.sort_unstable();
    Ok(found)
}

/// Returns whether a file is the state of a service or a copy of it. Checkpoints of jobs and contents of data sets are
/// in folders of their own.
fn is_state(file: &str) -> bool {
    let name = file.strip_suffix(".copy").unwrap_or(file);
    name.ends_with(".json") && !file.split('/').any(|part| part == "checkpoints" || part == "contents")
}

/// Checks that each data set has the contents that its service names. Returns the number of data sets.
fn check_datasets(state: &Path, document: &str, faults: &mut Vec<String>) -> usize {
    let document: Datasets = match serde_json::from_str(document) {
        Ok(document) => document,
        Err(error) => {
            faults.push(format!("{}: its document: {error}", state.display()));
            return 0;
        }
    };
    let contents = state.with_file_name("contents");
    for (name, dataset) in &document.datasets {
        let path = contents.join(format!("{}.arrow", dataset.content));
        let read = File::open(&path).map_err(|error| error.to_string()).and_then(|file| {
            let read = arrow::read_from(BufReader::new(file), &Columns::default(), Gaps::Nowhere, name, u64::MAX);
            read.map(|table| table.checksum()).map_err(|fault| fault.to_string())
        });
        match read {
            Ok(found) if found == dataset.checksum => {}
            Ok(_) => {
                faults.push(format!("{}: not the content of the data set {name:?}: another checksum", path.display()))
            }
            Err(error) => faults.push(format!("{}: the content of the data set {name:?}: {error}", path.display())),
        }
    }
    document.datasets.len()
}

/// Returns the list of a backup, or `None` if the folder is not a backup.
fn list(folder: &Path) -> Result<Option<List>, Error> {
    let path = folder.join(LIST);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(cause) => return Err(Error::Disk(path, cause)),
    };
    let list: List = serde_json::from_str(&text)
        .map_err(|error| Error::Damaged(vec![format!("{}: expected the list of a backup: {error}", path.display())]))?;
    if list.format != FORMAT {
        let found = &list.format;
        return Err(Error::Damaged(vec![format!("{}: expected {FORMAT:?}, found {found:?}", path.display())]));
    }
    Ok(Some(list))
}

fn check_list(folder: &Path, list: &List, files: &[String], faults: &mut Vec<String>) -> Result<(), Error> {
    for (file, expected) in &list.files {
        let path = folder.join(file);
        if !files.contains(file) {
            faults.push(format!("{}: gone", path.display()));
        } else if entry(&path)? != *expected {
            faults.push(format!("{}: not the file that was backed up: another checksum", path.display()));
        }
    }
    let added = files.iter().filter(|file| !list.files.contains_key(*file));
    faults.extend(added.map(|file| format!("{}: not in {LIST}", folder.join(file).display())));
    Ok(())
}

fn entry(path: &Path) -> Result<Entry, Error> {
    let disk = |cause| Error::Disk(path.to_path_buf(), cause);
    let mut file = File::open(path).map_err(disk)?;
    let bytes = file.metadata().map_err(disk)?.len();
    Ok(Entry { bytes, sha256: crate::datasets::digest(&mut file).map_err(disk)? })
}

/// Locks a folder. The locks last until the returned files are dropped.
fn locked(folder: &Path) -> Result<Vec<File>, Error> {
    let mut held = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let disk = |cause| Error::Disk(folder.clone(), cause);
        for entry in fs::read_dir(&folder).map_err(disk)? {
            let path = entry.map_err(disk)?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.file_name().is_some_and(|name| name == LOCK) {
                let lock = File::options().write(true).open(&path).map_err(disk)?;
                match lock.try_lock() {
                    Ok(()) => held.push(lock),
                    Err(fs::TryLockError::WouldBlock) => {
                        let reason = format!("{}: a node keeps its data there: stop it first", folder.display());
                        return Err(Error::Refused(reason));
                    }
                    Err(fs::TryLockError::Error(cause)) => return Err(Error::Disk(path, cause)),
                }
            }
        }
    }
    Ok(held)
}

fn copy(from: &Path, to: &Path, file: &str) -> Result<(), Error> {
    let target = to.join(file);
    let disk = |cause| Error::Disk(target.clone(), cause);
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder).map_err(disk)?;
    }
    fs::copy(from.join(file), &target).and_then(|_| File::open(&target)?.sync_all()).map_err(disk)
}

/// Fills a temporary folder and then renames it to `folder`, so that the folder appears only when it is complete.
fn appear(folder: &Path, fill: impl FnOnce(&Path) -> Result<(), Error>) -> Result<(), Error> {
    let disk = |cause| Error::Disk(folder.to_path_buf(), cause);
    let is_free = match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => true,
        Err(cause) => return Err(disk(cause)),
    };
    if !is_free {
        let reason = format!("{}: expected a new or empty folder", folder.display());
        return Err(Error::Refused(reason));
    }
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(parent).map_err(disk)?;
    let new = tempfile::Builder::new().prefix(".lehr-keep-").tempdir_in(parent).map_err(disk)?;
    fill(new.path())?;
    // The rename may replace an empty folder, if the system allows it.
    fs::rename(new.path(), folder).and_then(|()| File::open(parent)?.sync_all()).map_err(disk)?;
    // The temporary folder was renamed, so it must not be removed.
    let _gone = new.keep();
    Ok(())
}
