//! The contents of data sets and uploads, by number. The contents are in a folder on disk, or in memory and unnamed
//! files.
//!
//! Contents are written once and never change, so they agree with the document if their numbers do. [`Contents::sweep`]
//! removes contents that the document does not name. After the document was lost or restored, such contents are first
//! renamed, so that nothing removes them ([`Contents::put_aside`]).
//!
//! For each upload, a second file has a checksum of every piece. With the checksums, the service notices if a stored
//! byte differs from the byte that it acknowledged.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use lehr_data::write::AtomicFile;
use lehr_services::{Code, Fault};
use lehr_sync::Mutex;
use sha2::{Digest, Sha256};
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use crate::format::arrow;
use crate::format::column::Gaps;
use crate::table::{Columns, Table};

/// The stored contents, by number.
#[derive(Debug)]
pub(crate) struct Contents {
    folder: Option<PathBuf>,
    /// The maximum memory that tables may take, in bytes.
    memory_bytes: u64,
    held: Mutex<Held>,
    /// The locked file of the folder, which stops a second node from writing there. The lock lasts until this value is
    /// dropped.
    _lock: Option<File>,
}

#[derive(Debug, Default)]
struct Held {
    tables: BTreeMap<u64, (Table, u64)>,
    /// The unnamed files of uploads.
    parts: BTreeMap<u64, File>,
    bytes: u64,
    /// A counter of accesses to tables, from which the least recently used table is found.
    uses: u64,
    /// Whether all stored contents are named in the document.
    is_swept: bool,
}

/// Returns the fault for contents that could not be stored. If the disk is full, the fault says so, because the client
/// can free space.
fn disk(error: &(dyn std::error::Error + 'static)) -> Fault {
    let reason = if is_full(error) {
        "the data could not be kept: no space left on the disk of the node"
    } else {
        "the data could not be kept"
    };
    Fault::new(Code::InsufficientResources, reason).log(error.to_string())
}

/// Returns the fault for an upload whose bytes differ from the acknowledged bytes.
fn damaged_upload(damage: &str) -> Fault {
    let reason = format!("what was kept of the upload is damaged: {damage}; remove it and upload it again");
    Fault::new(Code::OperationFailed, reason)
}

/// Returns whether a full disk is among the causes of an error.
fn is_full(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |error| error.source());
    causes.any(|error| {
        let cause = match error.downcast_ref::<lehr_data::Error>() {
            // This error's message includes the cause, so its chain of sources leaves the cause out.
            Some(lehr_data::Error::Write { cause, .. }) => Some(cause),
            _ => error.downcast_ref::<io::Error>(),
        };
        cause.is_some_and(|cause| matches!(cause.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded))
    })
}

/// The files that a lost document named.
#[derive(Debug, Default)]
pub(crate) struct Recovered {
    /// The tables that can be read, by number.
    pub tables: Vec<(u64, Table)>,
    /// The new names of the other files.
    pub aside: Vec<String>,
}

impl Contents {
    /// # Errors
    /// Returns [`Code::StartFailed`] if the folder cannot be used.
    pub(crate) fn new(folder: Option<PathBuf>, memory_bytes: u64) -> Result<Self, Fault> {
        let lock = folder.as_deref().map(claim).transpose()?;
        Ok(Self { folder, memory_bytes, held: Mutex::default(), _lock: lock })
    }

    fn table_path(&self, number: u64) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(format!("{number}.arrow")))
    }

    fn part_path(&self, number: u64) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(format!("{number}.part")))
    }

    fn sums(&self, number: u64) -> Option<Sums> {
        Some(Sums { path: self.folder.as_ref()?.join(format!("{number}.sums")) })
    }

    /// Stores a table. If the service keeps its data on disk, the contents survive a crash once this function has
    /// succeeded.
    ///
    /// # Errors
    /// Returns [`Code::InsufficientResources`] if the disk or the memory is full, or if writing fails.
    pub(crate) fn write(&self, number: u64, table: &Table) -> Result<(), Fault> {
        if let Some(path) = self.table_path(number) {
            let mut file = AtomicFile::create(&path).map_err(|error| disk(&error))?;
            arrow::write_to(&mut file, table).map_err(|error| disk(&error))?;
            file.commit().map_err(|error| disk(&error))?;
        }
        self.hold(number, table)
    }

    /// Holds a table in memory. If necessary, first drops the least recently used tables from memory; they are also on
    /// disk.
    fn hold(&self, number: u64, table: &Table) -> Result<(), Fault> {
        let mut held = self.held.lock();
        let held = &mut *held;
        let bytes = table.bytes() as u64;
        if let Some((before, _)) = held.tables.remove(&number) {
            held.bytes -= before.bytes() as u64;
        }
        while held.bytes + bytes > self.memory_bytes && self.folder.is_some() {
            let Some(oldest) = held.tables.iter().min_by_key(|(_, (_, used))| *used).map(|(number, _)| *number) else {
                // The table is larger than the memory limit: it stays on disk and is read when needed.
                return Ok(());
            };
            if let Some((gone, _)) = held.tables.remove(&oldest) {
                held.bytes -= gone.bytes() as u64;
            }
        }
        if held.bytes + bytes > self.memory_bytes {
            let (most, there) = (self.memory_bytes, held.bytes);
            let reason = format!(
                "no memory for {bytes} bytes more: data sets may take {most} in all, and take {there}; remove some, or keep data on disk"
            );
            return Err(Fault::new(Code::InsufficientResources, reason));
        }
        held.uses += 1;
        held.bytes += bytes;
        held.tables.insert(number, (table.clone(), held.uses));
        Ok(())
    }

    /// Returns a table.
    ///
    /// # Errors
    /// Returns [`Code::OperationFailed`] if the table is missing or unreadable, or has changed since it was stored.
    pub(crate) fn read(&self, number: u64, checksum: &str, name: &str) -> Result<Table, Fault> {
        {
            let mut held = self.held.lock();
            held.uses += 1;
            let uses = held.uses;
            if let Some((table, used)) = held.tables.get_mut(&number) {
                *used = uses;
                return Ok(table.clone());
            }
        }
        let lost = |log: String| {
            Fault::new(
                Code::OperationFailed,
                format!("the content of {name:?} is damaged: remove it, and bring it in again"),
            )
            .log(log)
        };
        let path = self.table_path(number).ok_or_else(|| lost(format!("content {number} is not in memory")))?;
        let file = File::open(&path).map_err(|error| lost(format!("{}: {error}", path.display())))?;
        let table = arrow::read_from(io::BufReader::new(file), &Columns::default(), Gaps::Nowhere, name, u64::MAX)
            .map_err(|fault| lost(fault.to_string()))?;
        let found = table.checksum();
        if found != checksum {
            return Err(lost(format!("{}: its checksum is {found}, {checksum} is expected", path.display())));
        }
        self.hold(number, &table)?;
        Ok(table)
    }

    /// Creates an empty file for the bytes of an upload.
    ///
    /// # Errors
    /// Returns [`Code::InsufficientResources`] if the disk or the memory is full, or if writing fails.
    pub(crate) fn begin(&self, number: u64) -> Result<(), Fault> {
        match self.part_path(number) {
            Some(path) => {
                let file = File::create(&path).map_err(|error| disk(&error))?;
                file.sync_all().map_err(|error| disk(&error))?;
                if let Some(sums) = self.sums(number) {
                    File::create(sums.path).and_then(|file| file.sync_all()).map_err(|error| disk(&error))?;
                }
                synchronise_folder(&path).map_err(|error| disk(&error))
            }
            None => {
                let file = tempfile::tempfile().map_err(|error| disk(&error))?;
                self.held.lock().parts.insert(number, file);
                Ok(())
            }
        }
    }

    /// Writes bytes at an offset of an upload. Removes later bytes, which were written but never acknowledged.
    ///
    /// # Errors
    /// Returns [`Code::InsufficientResources`] if the disk or the memory is full, or if writing fails.
    pub(crate) fn append(&self, number: u64, offset: u64, bytes: &[u8]) -> Result<(), Fault> {
        self.check_length(number, offset)?;
        let put = || -> io::Result<()> {
            let mut file = match self.part_path(number) {
                Some(path) => OpenOptions::new().write(true).open(path)?,
                None => self.unnamed(number)?,
            };
            file.set_len(offset)?;
            file.seek(SeekFrom::Start(offset))?;
            file.write_all(bytes)?;
            match self.sums(number) {
                Some(sums) => sums.add(offset, bytes).and_then(|()| file.sync_data()),
                None => Ok(()),
            }
        };
        put().map_err(|error| disk(&error))
    }

    /// Checks that the file of an upload has all acknowledged bytes.
    fn check_length(&self, number: u64, bytes: u64) -> Result<(), Fault> {
        let Some(path) = self.part_path(number) else { return Ok(()) };
        match fs::metadata(path) {
            Ok(found) if found.len() >= bytes => Ok(()),
            Ok(found) => Err(damaged_upload(&format!("{} of {bytes} bytes are there", found.len()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(damaged_upload("its file is gone")),
            Err(error) => Err(disk(&error)),
        }
    }

    fn unnamed(&self, number: u64) -> io::Result<File> {
        let held = self.held.lock();
        held.parts.get(&number).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?.try_clone()
    }

    /// Returns the bytes of an upload after checking them.
    ///
    /// # Errors
    /// Returns [`Code::OperationFailed`] if the bytes differ from the acknowledged bytes; [`Code::InvalidValue`] if
    /// they do not have the expected SHA-256; [`Code::InsufficientResources`] if they cannot be read.
    pub(crate) fn part(&self, number: u64, bytes: u64, sha256: Option<&str>) -> Result<File, Fault> {
        self.check_length(number, bytes)?;
        let open = || -> io::Result<File> {
            let mut file = match self.part_path(number) {
                Some(path) => OpenOptions::new().read(true).write(true).open(path)?,
                None => self.unnamed(number)?,
            };
            file.set_len(bytes)?;
            file.rewind()?;
            Ok(file)
        };
        let mut file = open().map_err(|error| disk(&error))?;
        if let Some(sums) = self.sums(number) {
            let damage = sums.check(&mut file, bytes).map_err(|error| disk(&error))?;
            if let Some(damage) = damage {
                return Err(damaged_upload(&damage));
            }
            file.rewind().map_err(|error| disk(&error))?;
        }
        if let Some(expected) = sha256 {
            let found =
                digest(&mut file).and_then(|found| file.rewind().map(|()| found)).map_err(|error| disk(&error))?;
            if !found.eq_ignore_ascii_case(expected) {
                let reason =
                    format!("the SHA-256 of what has come is {found}, {expected} was promised: upload it again");
                return Err(Fault::new(Code::InvalidValue, reason));
            }
        }
        Ok(file)
    }

    /// Returns the files in the folder that have a number, each with its number.
    fn numbered(&self) -> io::Result<Vec<(u64, PathBuf)>> {
        let mut found = Vec::new();
        let Some(folder) = &self.folder else { return Ok(found) };
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let is_ours = path.extension().is_some_and(|of| of == "arrow" || of == "part" || of == "sums");
            let number = path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse().ok());
            if let (true, Some(number)) = (is_ours, number) {
                found.push((number, path));
            }
        }
        found.sort();
        Ok(found)
    }

    /// Reads all tables in the folder, after the document was lost. Puts all other files aside.
    ///
    /// # Errors
    /// Returns the errors of the disk.
    pub(crate) fn recover(&self) -> io::Result<Recovered> {
        let mut tables = Vec::new();
        for (number, path) in self.numbered()? {
            if path.extension().is_some_and(|ending| ending == "arrow") {
                let file = io::BufReader::new(File::open(&path)?);
                let name = format!("recovered/{number}");
                let table = arrow::read_from(file, &Columns::default(), Gaps::Nowhere, &name, u64::MAX);
                tables.extend(table.ok().map(|table| (number, table)));
            }
        }
        let aside = self.put_aside(&tables.iter().map(|(number, _)| *number).collect())?;
        Ok(Recovered { tables, aside })
    }

    /// Renames the files of all contents whose numbers are not in `named`. So [`sweep`](Self::sweep) does not remove
    /// them, and later contents do not overwrite them. Returns their new names.
    ///
    /// # Errors
    /// Returns the errors of the disk.
    pub(crate) fn put_aside(&self, named: &BTreeSet<u64>) -> io::Result<Vec<String>> {
        let mut aside = Vec::new();
        for (number, path) in self.numbered()? {
            if named.contains(&number) {
                continue;
            }
            let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
            let names = (1..).map(|count| format!("lost-{count}-{number}.{ending}"));
            if let Some(name) = names.into_iter().find(|name| !path.with_file_name(name).exists()) {
                fs::rename(&path, path.with_file_name(&name))?;
                aside.push(name);
            }
        }
        Ok(aside)
    }

    /// Returns whether the file of a content is on the disk. Contents in memory are there.
    pub(crate) fn is_there(&self, number: u64) -> bool {
        self.table_path(number).is_none_or(|path| path.exists())
    }

    /// Records that the document may have stopped naming some contents.
    pub(crate) fn mark(&self) {
        self.held.lock().is_swept = false;
    }

    /// Removes all contents whose numbers are not in `named`, unless no change can have left such contents.
    pub(crate) fn sweep(&self, named: &BTreeSet<u64>) {
        {
            let mut held = self.held.lock();
            let held = &mut *held;
            if std::mem::replace(&mut held.is_swept, true) {
                return;
            }
            held.parts.retain(|number, _| named.contains(number));
            held.tables.retain(|number, _| named.contains(number));
            held.bytes = held.tables.values().map(|(table, _)| table.bytes() as u64).sum();
        }
        let Some(folder) = &self.folder else { return };
        let unnamed = self.numbered().unwrap_or_default().into_iter().filter(|(number, _)| !named.contains(number));
        let all = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let unfinished = all.filter(|path| path.extension().is_some_and(|ending| ending == "tmp"));
        for path in unnamed.map(|(_, path)| path).chain(unfinished) {
            // A file that cannot be removed now is removed at the next start.
            let _ = fs::remove_file(path);
        }
    }
}

/// The file with the checksums of an upload's pieces. The record of a piece is two little-endian numbers of eight
/// bytes: the end of the piece and its hash.
struct Sums {
    path: PathBuf,
}

impl Sums {
    /// Adds the record of a piece. Removes the records of later pieces, which were written but never acknowledged.
    fn add(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        // If the file was lost, it lacks the earlier pieces; [`Sums::check`] notices this.
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&self.path)?;
        let mut kept = file.metadata()?.len() / PIECE * PIECE;
        // Search from the end, because the last piece is usually the previous one.
        while kept > 0 {
            let mut end = [0; 8];
            file.seek(SeekFrom::Start(kept - PIECE))?;
            file.read_exact(&mut end)?;
            if u64::from_le_bytes(end) <= offset {
                break;
            }
            kept -= PIECE;
        }
        file.set_len(kept)?;
        file.seek(SeekFrom::Start(kept))?;
        let end = offset + bytes.len() as u64;
        file.write_all(&[end.to_le_bytes(), xxh3_64(bytes).to_le_bytes()].concat())?;
        file.sync_data()
    }

    /// Compares the first `bytes` bytes of a file with the checksums. Returns a description of the damage, if there is
    /// any.
    fn check(&self, file: &mut impl Read, bytes: u64) -> io::Result<Option<String>> {
        let known = match fs::read(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Some("its checksums are gone".to_owned()));
            }
            known => known?,
        };
        let mut begin = 0;
        let mut buffer = vec![0; 1 << 16];
        for (end, sum) in pieces(&known).take_while(|(end, _)| *end <= bytes) {
            let (mut hash, mut left) = (Xxh3Default::new(), end.saturating_sub(begin));
            while left > 0 {
                let length = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                file.read_exact(&mut buffer[..length])?;
                hash.update(&buffer[..length]);
                left -= length as u64;
            }
            if hash.digest() != sum {
                return Ok(Some(format!("the bytes {begin} to {} have another checksum", end - 1)));
            }
            begin = end;
        }
        Ok((begin != bytes).then(|| format!("the bytes from {begin} on have no checksum")))
    }
}

/// The length of a piece's record, in bytes.
const PIECE: u64 = 16;

/// Returns the end and the hash of each piece. Ignores an incomplete record at the end.
fn pieces(known: &[u8]) -> impl Iterator<Item = (u64, u64)> + '_ {
    let word = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_le_bytes);
    known.chunks_exact(PIECE as usize).map(move |piece| (word(&piece[..8]), word(&piece[8..])))
}

/// Creates a folder if necessary, and locks it for this process.
///
/// # Errors
/// Returns [`Code::StartFailed`] if the folder cannot be created, or if another process has locked it.
fn claim(folder: &Path) -> Result<File, Fault> {
    let failed = |error: &dyn std::fmt::Display| {
        Fault::new(Code::StartFailed, format!("the folder {} for data sets: {error}", folder.display()))
    };
    fs::create_dir_all(folder).map_err(|error| failed(&error))?;
    let lock = OpenOptions::new().create(true).truncate(false).write(true).open(folder.join("lock"));
    let lock = lock.map_err(|error| failed(&error))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(fs::TryLockError::WouldBlock) => Err(failed(&"another node keeps its data there")),
        Err(fs::TryLockError::Error(error)) => Err(failed(&error)),
    }
}

/// Returns the SHA-256 of the rest of a file, in hexadecimal digits.
pub(crate) fn digest(file: &mut impl Read) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            read => hash.update(&buffer[..read]),
        }
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Synchronises the folder of a file, because the name of a new file is on disk only after its folder has been
/// synchronised.
fn synchronise_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all())
}
