//! Keeps the state of a service on disk: writes it atomically after each change, before the change is acknowledged.
//!
//! A file consists of a line of JSON, which names the contract and version of the state, and the document. The file is
//! written under another name, synchronised, and renamed over the old file; then the folder is synchronised. If the
//! writing is interrupted at any step, the file has either the old or the new state. A checksum detects any other
//! content.
//!
//! A copy with the same bytes, `NAME.copy`, is kept in the same folder. The copy is written first and not synchronised,
//! so that it costs little. If the file is damaged or gone, the copy replaces it, and the service reports this. If both
//! are damaged or gone, the service does not start: it never continues without the changes that it acknowledged, and it
//! never deletes anything.
//!
//! An empty file, `.NAME.kept`, says that a state was written. Without it, a folder that has lost both files would look
//! like the folder of a new service.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use crate::contract::{Contract, Version};
use crate::fault::{Code, Fault};

/// The number of the file format. In format 1 the checksum did not cover the first line.
const FORM: u32 = 2;

/// The end of a mark's name.
const MARK: &str = ".kept";

/// The first line of a file.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    lehr_state: u32,
    contract: String,
    version: Version,
    /// The checksum of all bytes except its own.
    checksum: String,
}

/// A store's operations on files, one step at a time, so that tests can stop between any two steps.
pub(crate) trait Files: Send + Sync {
    /// Creates a file with these bytes.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Forces the written bytes to the disk.
    fn synchronise(&self, path: &Path) -> io::Result<()>;
    /// Renames a file, which replaces the file at the new name.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Forces the names in a folder to the disk.
    fn synchronise_folder(&self, folder: &Path) -> io::Result<()>;
}

/// The real file system, for use outside tests.
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
        // On systems where folders cannot be opened, renames are durable by themselves or not at all.
        match File::open(folder) {
            Ok(folder) => folder.sync_all(),
            Err(_) => Ok(()),
        }
    }
}

/// The file with the state of one service.
pub(crate) struct Store {
    path: PathBuf,
    /// The contract of the service that owns the state.
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

/// Returns the path of the empty file that says that a state was written to `path`.
fn mark_of(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(MARK);
    path.with_file_name(name)
}

/// Returns the name of the file whose state a mark stands for, or `None` if the file at `path` is not a mark. A mark
/// whose state is gone, and the state's copy too, says that a state was lost.
///
/// # Example
/// ```
/// use lehr_services::marked_state;
/// assert_eq!(marked_state(".document.json.kept"), Some("document.json"));
/// assert_eq!(marked_state("document.json"), None);
/// ```
pub fn marked_state(name: &str) -> Option<&str> {
    name.strip_prefix('.')?.strip_suffix(MARK)
}

impl Store {
    pub(crate) fn new(path: PathBuf, contract: &str, version: Version) -> Self {
        Self { path, contract: contract.to_owned(), version, files: Box::new(Disk) }
    }

    /// Writes a state. If this method returns without a fault, the state survives a crash.
    ///
    /// # Errors
    /// Returns [`Code::InsufficientResources`] if the state cannot be written. The file then still has its old content.
    /// The exception: if only the last step fails, which forces the new name to the disk, the file already has the new
    /// content.
    pub(crate) fn save<D: Contract>(&self, document: &D) -> Result<(), Fault> {
        let text = serde_json::to_string(document).map_err(|error| {
            Fault::new(Code::OperationFailed, "the state has no form in JSON").log(error.to_string())
        })?;
        let (contract, version) = (self.contract.clone(), self.version);
        let mut header = Header { lehr_state: FORM, contract, version, checksum: String::new() };
        header.checksum = checksum(&serde_json::to_string(&header).unwrap_or_default(), &text);
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
        // The copy is written first: if this fails, the file is untouched and the change is refused.
        let copy = self.copy();
        let unfinished = beside(&copy, ".new");
        self.files.write(&unfinished, bytes)?;
        self.files.rename(&unfinished, &copy)?;
        self.replace_file(bytes).inspect_err(|_| {
            // The change is refused, so the copy must not bring it back.
            let _ = fs::remove_file(&copy);
        })
    }

    fn replace_file(&self, bytes: &[u8]) -> io::Result<()> {
        let unfinished = beside(&self.path, ".new");
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        self.files.write(&unfinished, bytes)?;
        self.files.synchronise(&unfinished)?;
        self.files.rename(&unfinished, &self.path)?;
        self.files.synchronise_folder(folder)?;
        // Last, so that no crash leaves a mark without its state.
        self.mark();
        Ok(())
    }

    /// Writes the mark, if it isn't there yet. A state without a mark is a whole state, so a failure is no failure of the
    /// change: the next change tries again.
    fn mark(&self) {
        let mark = mark_of(&self.path);
        if !mark.exists() {
            let _ = File::create(mark);
        }
    }

    fn copy(&self) -> PathBuf {
        beside(&self.path, ".copy")
    }

    /// Reads the state.
    ///
    /// If the file is damaged or gone and its copy is intact, the copy replaces it; a damaged file is kept under
    /// another name.
    ///
    /// # Errors
    /// Returns [`Code::StartFailed`] if the file cannot be read, or is of another contract or of a newer version.
    /// Loading also fails if the file is damaged and there is no intact copy, or if the file is gone and its copy is
    /// damaged. This failure changes nothing on disk, so every later start is refused too, until an operator restores
    /// the file.
    pub(crate) fn load<D: Contract>(&self) -> Result<Load<D>, Fault> {
        let shown = self.path.display();
        let damage = match self.read(&self.path)? {
            Found::Whole(document, _) => {
                // A program that wrote no marks may have written this state.
                self.mark();
                return Ok(Load::Kept(document));
            }
            Found::Nothing => None,
            Found::Damaged(damage) => Some(damage),
        };
        let copy = self.copy();
        let (document, bytes) = match (self.read(&copy)?, &damage) {
            (Found::Whole(document, bytes), _) => (document, bytes),
            (Found::Nothing, None) if mark_of(&self.path).exists() => return Ok(Load::Lost(self.lost())),
            (Found::Nothing, None) => return Ok(Load::New),
            (found, _) => {
                let of_copy = match found {
                    Found::Damaged(damage) => format!("its copy {} is damaged too: {damage}", copy.display()),
                    _ => format!("there is no copy {}", copy.display()),
                };
                let of_file = damage.map_or_else(|| "is gone".to_owned(), |damage| format!("is damaged: {damage}"));
                return Err(start_failed(format!(
                    "the state {shown} {of_file}; {of_copy}; nothing was changed: restore the file from a backup, or move both away to start without what they had"
                )));
            }
        };
        let recovered = match damage {
            None => format!("{shown} was gone and has been restored from its copy"),
            Some(damage) => {
                let aside = self
                    .put_aside()
                    .map_err(|error| start_failed(format!("the damaged state {shown} cannot be put aside: {error}")))?;
                format!(
                    "{shown} was damaged ({damage}) and has been restored from its copy; the damaged file is {}",
                    aside.display()
                )
            }
        };
        self.replace_file(&bytes)
            .map_err(|error| start_failed(format!("the state {shown} cannot be restored from its copy: {error}")))?;
        Ok(Load::Restored(document, recovered))
    }

    /// Returns the fault of a start without the state that was written before.
    fn lost(&self) -> Fault {
        let (shown, mark) = (self.path.display(), mark_of(&self.path));
        start_failed(format!(
            "the state {shown} is gone, and so is its copy; nothing was changed: restore the file from a backup, or remove {} to start without what it had",
            mark.display()
        ))
    }

    /// Reads the file or its copy.
    fn read<D: Contract>(&self, path: &Path) -> Result<Found<D>, Fault> {
        let shown = path.display();
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
            Err(error) => return Err(start_failed(format!("the state {shown} cannot be read: {error}"))),
        };
        let (header, text) = match parts(&bytes) {
            Ok(parts) => parts,
            Err(damage) => return Ok(Found::Damaged(damage)),
        };
        let (contract, version) = (&self.contract, self.version);
        if header.contract != *contract {
            return Err(start_failed(format!("{shown} has the state of {}; this is {contract}", header.contract)));
        }
        if header.lehr_state > FORM || header.version > version {
            let found = header.version;
            return Err(start_failed(format!(
                "{shown} was written by a newer program ({contract} {found}; this one has {version}): start that one, or name another file"
            )));
        }
        // The state is of an older version: fields with a default may be missing.
        match serde_json::from_str(text) {
            Ok(document) => Ok(Found::Whole(document, bytes)),
            Err(error) if header.version == version => Ok(Found::Damaged(format!("its document: {error}"))),
            Err(error) => Err(start_failed(format!(
                "{shown} is of version {}, and cannot be read as {version}: {error}",
                header.version
            ))),
        }
    }

    /// Renames a damaged file, so that it is neither used nor lost.
    fn put_aside(&self) -> io::Result<PathBuf> {
        let free = (1..).map(|number| beside(&self.path, &format!(".damaged-{number}"))).find(|path| !path.exists());
        let aside = free.unwrap_or_else(|| beside(&self.path, ".damaged"));
        fs::rename(&self.path, &aside).map(|()| aside)
    }
}

/// The state that a service starts with.
#[derive(Debug)]
pub(crate) enum Load<D> {
    /// No state was ever written.
    New,
    /// The state was written, and is gone. The fault is for services that cannot start without it.
    Lost(Fault),
    /// The state from its file.
    Kept(D),
    /// The state from its copy, and a description of the repair.
    Restored(D, String),
}

/// The contents of a file.
enum Found<D> {
    Nothing,
    Damaged(String),
    /// A document, and the bytes that it was read from.
    Whole(D, Vec<u8>),
}

/// Returns the contract and the document of a state file with these bytes, if they are intact.
///
/// # Errors
/// Returns a description of the damage.
///
/// # Example
/// ```
/// let damage = lehr_services::kept_state(b"{}").unwrap_err();
/// assert_eq!(damage, "it has one line, where two are expected");
/// ```
pub fn kept_state(bytes: &[u8]) -> Result<(String, &str), String> {
    parts(bytes).map(|(header, document)| (header.contract, document))
}

fn start_failed(reason: String) -> Fault {
    Fault::new(Code::StartFailed, reason)
}

/// Returns the checksum of a file: `first` is the first line without the checksum, `rest` is the document.
fn checksum(first: &str, rest: &str) -> String {
    let mut hash = Xxh3Default::new();
    [first, "\n", rest].iter().for_each(|text| hash.update(text.as_bytes()));
    format!("{:016x}", hash.digest())
}

fn parts(bytes: &[u8]) -> Result<(Header, &str), String> {
    let text = std::str::from_utf8(bytes).map_err(|error| format!("it is no text: {error}"))?;
    let (first, rest) = text.split_once('\n').ok_or("it has one line, where two are expected")?;
    let header: Header = serde_json::from_str(first).map_err(|error| format!("its first line: {error}"))?;
    let found = match header.lehr_state {
        1 => format!("{:016x}", xxh3_64(rest.as_bytes())),
        _ => checksum(&first.replacen(&header.checksum, "", 1), rest),
    };
    if header.checksum != found {
        return Err(format!("its checksum is {found}, where {} is expected", header.checksum));
    }
    Ok((header, rest))
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

    /// Files that fail after a given number of steps, possibly in the middle of a write.
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
            // A stop after each single byte would give the same results, only slower.
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

    // Catalogue: 115
    #[test]
    fn stopped_at_any_step_the_file_has_the_old_state_or_the_new() {
        const STEPS: usize = 12;
        let folder = tempfile::tempdir().unwrap();
        for steps in 0..=STEPS {
            let path = folder.path().join(format!("note-{steps}"));
            store(path.clone()).save(&note("old")).unwrap();
            let stopping = Stopping { steps: Arc::new(Mutex::new(steps)) };
            let saved = Store { files: Box::new(stopping), ..store(path.clone()) }.save(&note("new"));
            let found = kept(&store(path));
            assert!(found == note("old") || found == note("new"), "{steps}: {found:?}");
            assert_eq!(saved.is_ok(), steps == STEPS);
            assert!(saved.is_err() || found == note("new"), "what was acknowledged is there");
        }
    }

    /// Returns the state of an undamaged file.
    fn kept(store: &Store) -> Note {
        match store.load().unwrap() {
            Load::Kept(note) => note,
            other => panic!("{other:?}"),
        }
    }

    // Catalogue: 116
    #[test]
    fn what_is_missing_newer_or_of_others_is_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("note");
        let store = store(path.clone());
        assert!(matches!(store.load::<Note>(), Ok(Load::New)));
        store.save(&note("kept")).unwrap();
        assert_eq!(kept(&store), note("kept"));

        // The file as another version and another service would have written it.
        let written = |contract: &str, version: Version| {
            Store::new(path.clone(), contract, version).save(&note("other")).unwrap();
        };
        written(Note::NAME, Version::new(1, 3));
        let newer = store.load::<Note>().unwrap_err();
        assert!(newer.reason().contains("written by a newer program (test/note 1.3; this one has 1.2)"), "{newer}");
        written("test/other", Note::VERSION);
        assert!(store.load::<Note>().unwrap_err().reason().contains("has the state of test/other; this is test/note"));

        // The file as format 1 had it.
        let first = r#"{"lehr_state":1,"contract":"test/note","version":{"major":1,"minor":0},"checksum":"#;
        let text = r#"{"text":"old form"}"#;
        fs::write(&path, format!("{first}\"{:016x}\"}}\n{text}", xxh3_64(text.as_bytes()))).unwrap();
        assert_eq!(kept(&store), note("old form"));
    }

    /// Returns damaged versions of a file, such as a disk, an editor or a mistake could produce; `None` means that
    /// there is no file.
    fn damages(whole: &[u8]) -> Vec<Option<Vec<u8>>> {
        let flipped = (0..whole.len()).step_by(7).map(|at| {
            let mut bytes = whole.to_vec();
            bytes[at] ^= 1;
            Some(bytes)
        });
        let cut = [0, 1, whole.len() / 2, whole.len() - 1].map(|end| Some(whole[..end].to_vec()));
        flipped.chain(cut).chain([Some([whole, b"x"].concat()), None]).collect()
    }

    fn put(path: &Path, bytes: Option<&[u8]>) {
        match bytes {
            Some(bytes) => fs::write(path, bytes).unwrap(),
            None => fs::remove_file(path).unwrap(),
        }
    }

    #[test]
    fn one_damaged_file_of_the_two_loses_nothing_and_is_reported_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("note");
        let store = store(path.clone());
        store.save(&note("old")).unwrap();
        store.save(&note("kept")).unwrap();
        let whole = fs::read(&path).unwrap();
        for damaged in damages(&whole) {
            put(&path, damaged.as_deref());
            let Ok(Load::Restored(document, report)) = store.load::<Note>() else { panic!("{damaged:?}") };
            assert_eq!(document, note("kept"));
            let expected = if damaged.is_some() { "was damaged (" } else { "was gone and" };
            assert!(report.contains(expected) && report.contains("restored from its copy"), "{report}");
            assert_eq!((fs::read(&path).unwrap(), kept(&store)), (whole.clone(), note("kept")));

            // If only the copy is damaged, nothing is lost, and the next change writes the copy again.
            put(&store.copy(), damaged.as_deref());
            assert_eq!(kept(&store), note("kept"));
            store.save(&note("kept")).unwrap();
            assert_eq!(fs::read(store.copy()).unwrap(), whole);
        }
    }

    #[test]
    fn with_both_files_damaged_no_start_goes_on_and_none_removes_anything() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("note");
        let store = store(path.clone());
        store.save(&note("kept")).unwrap();
        fs::write(&path, "flipped").unwrap();
        for bytes in [Some(&b""[..]), None] {
            put(&store.copy(), bytes);
            for _ in 0..2 {
                let fault = store.load::<Note>().unwrap_err();
                assert!(fault.reason().contains("nothing was changed: restore the file from a backup"), "{fault}");
                assert_eq!(fs::read(&path).unwrap(), b"flipped");
            }
        }
    }

    #[test]
    fn a_state_that_is_gone_with_its_copy_is_not_a_new_state_28() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("note.json");
        store(path.clone()).save(&note("kept")).unwrap();
        fs::remove_file(&path).unwrap();
        fs::remove_file(store(path.clone()).copy()).unwrap();
        for _ in 0..2 {
            let Ok(Load::Lost(fault)) = store(path.clone()).load::<Note>() else { panic!("the loss is not noticed") };
            assert!(fault.reason().contains("note.json is gone, and so is its copy; nothing was changed"), "{fault}");
            assert!(fault.reason().contains(".note.json.kept to start without what it had"), "{fault}");
        }
        fs::remove_file(mark_of(&path)).unwrap();
        assert!(matches!(store(path.clone()).load::<Note>(), Ok(Load::New)));

        // A file from a program that wrote no marks gets one when it is read.
        store(path.clone()).save(&note("kept")).unwrap();
        fs::remove_file(mark_of(&path)).unwrap();
        assert_eq!(kept(&store(path.clone())), note("kept"));
        assert!(mark_of(&path).exists());
    }
}
