//! The state of a service on disk: written after each change, before it is acknowledged, all or nothing.
//!
//! A file is a line of JSON that says whose state it is, and the document. It is written under another name, synchronised, renamed over the old
//! one, and the folder is synchronised: whatever stops that, and wherever, the name leads to the old state or to the new one. A
//! checksum tells a file that is neither.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::contract::{Contract, Version};
use crate::fault::{Code, Fault};

/// The number of this form of files.
const FORM: u32 = 1;

/// The first line of a file.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    lehr_state: u32,
    contract: String,
    version: Version,
    /// Of the bytes after the first line.
    checksum: String,
}

/// What a store does to files, one step at a time, so that tests can stop between any two.
pub(crate) trait Files: Send + Sync {
    /// Makes a file with these bytes.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Has what was written reach the disk.
    fn synchronise(&self, path: &Path) -> io::Result<()>;
    /// Renames a file over another.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Has a folder's names reach the disk.
    fn synchronise_folder(&self, folder: &Path) -> io::Result<()>;
}

/// The file system.
pub(crate) struct Disk;

impl Files for Disk {
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = File::create(path)?;
        file.write_all(bytes)?;
        file.flush()
    }

    fn synchronise(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn synchronise_folder(&self, folder: &Path) -> io::Result<()> {
        // Where folders cannot be opened, renames are durable by themselves or not at all.
        match File::open(folder) {
            Ok(folder) => folder.sync_all(),
            Err(_) => Ok(()),
        }
    }
}

/// Where the state of one service is kept.
pub(crate) struct Store {
    path: PathBuf,
    /// Whose state it is.
    contract: String,
    version: Version,
    files: Box<dyn Files>,
}

impl fmt::Debug for Store {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Store").field("path", &self.path).finish_non_exhaustive()
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.file_name().map_or_else(OsString::new, OsString::from);
    name.push(ending);
    path.with_file_name(name)
}

impl Store {
    pub(crate) fn new(path: PathBuf, contract: &str, version: Version) -> Self {
        Self { path, contract: contract.to_owned(), version, files: Box::new(Disk) }
    }

    /// Writes a state. When this returns without a fault, it is what the file has, whatever happens later.
    ///
    /// # Errors
    /// [`Code::InsufficientResources`]; the file has what it had, unless the fault is that of the last step.
    pub(crate) fn save<D: Contract>(&self, document: &D) -> Result<(), Fault> {
        let text = serde_json::to_string(document).map_err(|error| {
            Fault::new(Code::OperationFailed, "the state has no form in JSON").log(error.to_string())
        })?;
        let header = Header {
            lehr_state: FORM,
            contract: self.contract.clone(),
            version: self.version,
            checksum: format!("{:016x}", xxh3_64(text.as_bytes())),
        };
        let header = serde_json::to_string(&header).unwrap_or_default();
        self.replace(format!("{header}\n{text}").as_bytes()).map_err(|error| {
            let log = format!("{}: {error}", self.path.display());
            let is_full = matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
            let why = if is_full { ": no space left on the disk of the node" } else { "" };
            let reason = format!("the change could not be kept, and has been taken back{why}");
            Fault::new(Code::InsufficientResources, reason).log(log)
        })
    }

    fn replace(&self, bytes: &[u8]) -> io::Result<()> {
        let unfinished = beside(&self.path, ".new");
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        self.files.write(&unfinished, bytes)?;
        self.files.synchronise(&unfinished)?;
        self.files.rename(&unfinished, &self.path)?;
        self.files.synchronise_folder(folder)
    }

    /// Reads the state; nothing if there is no file.
    ///
    /// # Errors
    /// [`Code::StartFailed`]: the file cannot be read; it is of another contract or of a newer version; or it is damaged, and then it
    /// is put aside, so that whoever starts the service again starts it without.
    pub(crate) fn load<D: Contract>(&self) -> Result<Option<D>, Fault> {
        let shown = self.path.display();
        let failed = |reason: String| Fault::new(Code::StartFailed, reason);
        let bytes = match fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(format!("the state {shown} cannot be read: {error}"))),
        };
        let (header, text) = match self.parts(&bytes) {
            Ok(parts) => parts,
            Err(damage) => return Err(self.put_aside(&damage)),
        };
        let (contract, version) = (&self.contract, self.version);
        if header.contract != *contract {
            return Err(failed(format!("{shown} has the state of {}; this is {contract}", header.contract)));
        }
        if header.lehr_state != FORM || header.version > version {
            let found = header.version;
            return Err(failed(format!(
                "{shown} was written by a newer program ({contract} {found}; this one has {version}): start that one, or name another file"
            )));
        }
        // Of an older version: what has a default may be missing.
        match serde_json::from_str(text) {
            Ok(document) => Ok(Some(document)),
            Err(error) if header.version == version => Err(self.put_aside(&format!("its document: {error}"))),
            Err(error) => Err(failed(format!(
                "{shown} is of version {}, and cannot be read as {version}: {error}",
                header.version
            ))),
        }
    }

    fn parts<'a>(&self, bytes: &'a [u8]) -> Result<(Header, &'a str), String> {
        let text = std::str::from_utf8(bytes).map_err(|error| format!("it is no text: {error}"))?;
        let (first, rest) = text.split_once('\n').ok_or("it has one line, where two are expected")?;
        let header: Header = serde_json::from_str(first).map_err(|error| format!("its first line: {error}"))?;
        let found = format!("{:016x}", xxh3_64(rest.as_bytes()));
        if header.lehr_state == FORM && header.checksum != found {
            return Err(format!("its checksum is {found}, where {} is expected", header.checksum));
        }
        Ok((header, rest))
    }

    /// Renames a damaged file, so that it is neither used nor lost.
    fn put_aside(&self, damage: &str) -> Fault {
        let shown = self.path.display();
        let free = (1..).map(|number| beside(&self.path, &format!(".damaged-{number}"))).find(|path| !path.exists());
        let aside = free.unwrap_or_else(|| beside(&self.path, ".damaged"));
        let reason = match fs::rename(&self.path, &aside) {
            Ok(()) => format!(
                "the state {shown} is damaged: {damage}; it is now {}, and the next start is without it",
                aside.display()
            ),
            Err(error) => format!("the state {shown} is damaged: {damage}; it could not be put aside: {error}"),
        };
        Fault::new(Code::StartFailed, reason)
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;

    use super::*;
    use lehr_sync::{Arc, Mutex};

    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
    struct Note {
        text: String,
    }

    impl Contract for Note {
        const NAME: &'static str = "test/note";
        const VERSION: Version = Version::new(1, 2);
    }

    /// Stops after so many steps, and in the middle of a write.
    struct Stopping {
        steps: Arc<Mutex<usize>>,
    }

    impl Stopping {
        fn step(&self) -> io::Result<()> {
            let mut left = self.steps.lock();
            *left = left.checked_sub(1).ok_or_else(|| io::Error::other("stopped"))?;
            Ok(())
        }
    }

    impl Files for Stopping {
        fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
            // Byte by byte would be the same, slower.
            for end in [0, 1, bytes.len() / 2, bytes.len()] {
                self.step()?;
                Disk.write(path, &bytes[..end])?;
            }
            Ok(())
        }

        fn synchronise(&self, path: &Path) -> io::Result<()> {
            self.step()?;
            Disk.synchronise(path)
        }

        fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
            self.step()?;
            Disk.rename(from, to)
        }

        fn synchronise_folder(&self, folder: &Path) -> io::Result<()> {
            self.step()?;
            Disk.synchronise_folder(folder)
        }
    }

    fn note(text: &str) -> Note {
        Note { text: text.to_owned() }
    }

    fn store(path: PathBuf) -> Store {
        Store::new(path, Note::NAME, Note::VERSION)
    }

    // 115
    #[test]
    fn stopped_at_any_step_the_file_has_the_old_state_or_the_new() {
        const STEPS: usize = 7;
        let folder = tempfile::tempdir().unwrap();
        for steps in 0..=STEPS {
            let path = folder.path().join(format!("note-{steps}"));
            store(path.clone()).save(&note("old")).unwrap();
            let stopping = Stopping { steps: Arc::new(Mutex::new(steps)) };
            let saved = Store { files: Box::new(stopping), ..store(path.clone()) }.save(&note("new"));
            let found = store(path).load::<Note>().unwrap().unwrap();
            assert!(found == note("old") || found == note("new"), "{steps}: {found:?}");
            assert_eq!(saved.is_ok(), steps == STEPS);
            assert!(saved.is_err() || found == note("new"), "what was acknowledged is there");
        }
    }

    // 116
    #[test]
    fn what_is_missing_damaged_newer_or_of_others_is_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("note");
        let store = store(path.clone());
        assert_eq!(store.load::<Note>().unwrap(), None);
        store.save(&note("kept")).unwrap();
        assert_eq!(store.load::<Note>().unwrap(), Some(note("kept")));

        let whole = fs::read_to_string(&path).unwrap();
        fs::write(&path, whole.replace("\"minor\":2", "\"minor\":3")).unwrap();
        let newer = store.load::<Note>().unwrap_err();
        assert!(newer.reason().contains("written by a newer program (test/note 1.3; this one has 1.2)"), "{newer}");
        fs::write(&path, whole.replace("test/note", "test/other")).unwrap();
        assert!(store.load::<Note>().unwrap_err().reason().contains("has the state of test/other; this is test/note"));

        for damaged in
            [whole.replace("kept", "kent"), whole[..whole.len() - 3].to_owned(), String::new(), "\n".to_owned()]
        {
            fs::write(&path, &damaged).unwrap();
            let fault = store.load::<Note>().unwrap_err();
            assert!(fault.reason().contains("is damaged"), "{fault}");
            assert_eq!(store.load::<Note>().unwrap(), None); // put aside, and not lost
        }
        let aside = fs::read_dir(folder.path())
            .unwrap()
            .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().contains(".damaged-"));
        assert_eq!(aside.count(), 4);
    }
}
