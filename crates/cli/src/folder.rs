//! The folder of results: which files are Lehr's, which are protected, and how all results appear at once.
//!
//! Results are written under temporary names first and renamed when all of them are complete, `summary.json` last. So a
//! folder with Lehr's `summary.json` holds results that belong together. The summary names the command that wrote them,
//! and only that command replaces them without `--force`. If `--force` has replaced another command's results, that
//! command's files with other names stay, and a message names them. Protected are other commands' results, a checkpoint
//! (perhaps hours of work) and files of unknown origin with Lehr's names. `--force` lifts the protection, except for
//! the input itself, which Lehr never overwrites.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use lehr_data::write::AtomicFile;
use lehr_methods::About;

use crate::exit::{Failure, Kind};
use crate::output;
use crate::summary;

/// One row per input row.
pub const LABELS: &str = "labels.csv";
/// The trained model, for `lehr predict`.
pub const MODEL: &str = "model.json";
/// The options and the results, for programs.
pub const SUMMARY: &str = "summary.json";
/// The options and the results, for people.
pub const REPORT: &str = "report.html";
/// The state of an unfinished run.
pub const CHECKPOINT: &str = "checkpoint";

/// The dissimilarities as an array that NumPy opens.
pub const ARRAY: &str = "dissimilarities.npy";
/// The dissimilarities as big-endian rows.
pub const RAW_ROWS: &str = "dissimilarities.bin";
/// One row per item of a matrix.
pub const IDS: &str = "ids.csv";
/// One row per given item, with the distinct item that it equals.
pub const MEMBERS: &str = "members.csv";
/// One row per cluster of items without coordinates.
pub const CLUSTERS: &str = "clusters.csv";
/// One row per cluster and view of regions.
pub const PROFILES: &str = "profiles.csv";
/// One row per item of a map.
pub const POSITIONS: &str = "positions.csv";
/// The positions as an array that NumPy opens.
pub const POSITIONS_ARRAY: &str = "positions.npy";
/// The meaning of the values of a matrix.
pub const HEADER: &str = "dissimilarities.json";

/// The results of one command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Results {
    /// The results of a method that `lehr-methods` declares.
    Method(&'static About),
    /// Dissimilarities of all pairs.
    Matrix,
    /// The positions of new items in a map.
    Placing,
    /// A matrix, clusters and a map, all of one run.
    Application,
    /// Clusters of regions in several views.
    Demography,
}

impl Results {
    /// Returns the names of the files, in the order in which they are put into place. The last file shows that Lehr
    /// wrote the others.
    fn names(self) -> &'static [&'static str] {
        match self {
            Results::Method(about) => about.files,
            Results::Placing => &[POSITIONS, POSITIONS_ARRAY, REPORT, SUMMARY],
            Results::Application => {
                &[ARRAY, IDS, HEADER, LABELS, CLUSTERS, POSITIONS, POSITIONS_ARRAY, REPORT, SUMMARY]
            }
            Results::Demography => &[LABELS, PROFILES, REPORT, SUMMARY],
            Results::Matrix => &[ARRAY, RAW_ROWS, IDS, MEMBERS, HEADER],
        }
    }

    /// Returns all kinds of results that a folder may hold, so that one command does not overwrite another's.
    fn all() -> impl Iterator<Item = Results> {
        let own = [Results::Matrix, Results::Placing, Results::Application, Results::Demography];
        own.into_iter().chain(lehr_methods::ALL.iter().map(|method| Results::Method(method.about())))
    }

    /// Returns the command that writes these files, as messages name it.
    fn command(self) -> String {
        let name = match self {
            Results::Method(about) => return format!("lehr {}", about.name),
            Results::Matrix => "lehr distances",
            Results::Placing => "lehr place",
            Results::Application => "a demonstration of lehr",
            Results::Demography => "lehr demo demography",
        };
        name.to_owned()
    }

    /// Returns the name of the file that shows that Lehr wrote the others.
    fn voucher(self) -> &'static str {
        self.names()[self.names().len() - 1]
    }

    /// Whether this command of `lehr` wrote a file of that name.
    fn vouches(self, bytes: &[u8]) -> bool {
        let methods: &[&str] = match self {
            Results::Method(about) => about.summary_names,
            Results::Placing => &[summary::PLACING],
            Results::Application => &[lehr_demos::application::METHOD],
            Results::Demography => &[lehr_demos::regions::found::METHOD],
            Results::Matrix => {
                return serde_json::from_slice::<serde_json::Value>(bytes)
                    .is_ok_and(|header| header["format"] == lehr_data::dissimilarities::FORMAT);
            }
        };
        summary::method_of(bytes).is_some_and(|method| methods.contains(&method.as_str()))
    }
}

/// A folder that was checked for this run. It is not locked, so another process may write to it. If the run fails,
/// folders that were created for it are removed.
pub struct Folder {
    path: PathBuf,
    results: Results,
    made: Vec<PathBuf>,
    keep: bool,
}

impl Folder {
    /// Creates the folder if it does not exist, checks that it can be written to, and refuses to overwrite protected
    /// files.
    ///
    /// - `results`: the files to be written to it.
    /// - `input`: the file with the data, if any.
    /// - `force`: overwrite protected files too: a checkpoint, the results of another command, and files that Lehr may
    ///   not have written. The input is never overwritten.
    /// - `resumed`: the folder with the checkpoint to resume from; a checkpoint in this same folder may then be
    ///   replaced.
    ///
    /// # Errors
    /// Returns [`Kind::Environment`] if the folder cannot be created or written to, or has a protected file.
    pub fn claim(
        path: &Path,
        results: Results,
        input: Option<&Path>,
        force: bool,
        resumed: Option<&Path>,
    ) -> Result<Self, Failure> {
        let refuse = |cause: &io::Error| {
            let reason = match cause.kind() {
                io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
                    "a file has the name that the folder needs".to_owned()
                }
                io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
                io::ErrorKind::ReadOnlyFilesystem => "the disk is read-only".to_owned(),
                io::ErrorKind::StorageFull => "no space left on the disk".to_owned(),
                _ => cause.to_string(),
            };
            Failure::new(Kind::Environment, format!("{}: cannot be used for results: {reason}", path.display()))
        };
        let missing: Vec<PathBuf> = path
            .ancestors()
            .filter(|ancestor| !ancestor.as_os_str().is_empty())
            .take_while(|ancestor| !ancestor.exists())
            .map(Path::to_path_buf)
            .collect();
        let folder = Folder { path: path.to_path_buf(), results, made: missing, keep: false };
        fs::create_dir_all(path).map_err(|cause| refuse(&cause))?;
        // Permission bits do not show whether writing works (read-only disks, quotas, root); only writing does.
        let mut probe = AtomicFile::create(&path.join(results.voucher()))?;
        probe.write_all(b"{}").and_then(|()| probe.flush()).map_err(|cause| refuse(&cause))?;
        drop(probe);
        folder.protect(input, force, resumed)?;
        folder.sweep();
        Ok(folder)
    }

    fn protect(&self, input: Option<&Path>, force: bool, resumed: Option<&Path>) -> Result<(), Failure> {
        if let Some(input) = input {
            for name in self.results.names().iter().chain([&CHECKPOINT]) {
                if same_file(input, &self.path.join(name)) {
                    return Err(Failure::new(
                        Kind::Environment,
                        format!("{}: the input would be overwritten by the results", input.display()),
                    )
                    .with_hint("name another folder with --out"));
                }
            }
        }
        if force {
            return Ok(());
        }
        let checkpoint = self.checkpoint();
        if checkpoint.exists() {
            if resumed.is_some_and(|folder| same_file(&folder.join(CHECKPOINT), &checkpoint)) {
                // The run that left the checkpoint had access to this folder, perhaps by --force, which the resuming
                // command does not repeat.
                return Ok(());
            }
            return Err(Failure::new(
                Kind::Environment,
                format!("{}: the checkpoint of an unfinished run is in the way", checkpoint.display()),
            )
            .with_hint(format!(
                "continue that run with --resume {}, name another folder with --out, or discard it with --force",
                self.path.display()
            )));
        }
        let present: Vec<&str> =
            self.results.names().iter().copied().filter(|name| self.path.join(name).exists()).collect();
        if let Some(other) = self.other_results().filter(|_| !present.is_empty()) {
            return Err(Failure::new(
                Kind::Environment,
                format!(
                    "{}: has results of {}, and {} would replace {}",
                    self.path.display(),
                    other.command(),
                    self.results.command(),
                    present.join(", ")
                ),
            )
            .with_hint("name another folder with --out, or replace these files with --force"));
        }
        if !present.is_empty() && !self.holds_our_results() {
            return Err(Failure::new(
                Kind::Environment,
                format!(
                    "{}: contains {}, and no {} that shows that Lehr wrote this",
                    self.path.display(),
                    present.join(", "),
                    self.results.voucher()
                ),
            )
            .with_hint("name another folder with --out, or replace these files with --force"));
        }
        Ok(())
    }

    /// Removes temporary files of killed processes: `.NAME.PROCESS-NUMBER.tmp` for Lehr's names and processes that no
    /// longer exist. (If Lehr cannot tell, they stay: they are hidden and harmless.)
    fn sweep(&self) {
        let processes = Path::new("/proc");
        if !processes.join("self").exists() {
            return;
        }
        for entry in fs::read_dir(&self.path).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let process = self.results.names().iter().chain([&CHECKPOINT]).find_map(|ours| {
                let rest = name.to_str()?.strip_prefix('.')?.strip_prefix(ours)?.strip_prefix('.')?;
                let (process, number) = rest.strip_suffix(".tmp")?.split_once('-')?;
                number.parse::<u32>().ok()?;
                process.parse::<u32>().ok()
            });
            if process.is_some_and(|process| !processes.join(process.to_string()).exists()) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn holds_our_results(&self) -> bool {
        self.holds(self.results)
    }

    fn holds(&self, results: Results) -> bool {
        fs::read(self.path.join(results.voucher())).is_ok_and(|bytes| results.vouches(&bytes))
    }

    /// Returns another command's results in this folder, if this command uses the name of one of their files.
    fn other_results(&self) -> Option<Results> {
        let (own, is_ours) = (self.results, self.holds_our_results());
        Results::all().filter(|other| *other != own).find(|other| {
            // An application's files include those of a matrix.
            let is_part = is_ours && own.names().contains(&other.voucher());
            let is_shared = own.names().iter().any(|name| other.names().contains(name));
            is_shared && !is_part && self.holds(*other)
        })
    }

    /// Returns the folder's path, as typed.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a path is one of the files that a run leaves here.
    pub fn takes(&self, path: &Path) -> bool {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let is_ours = |name: &str| self.results.names().contains(&name) || name == CHECKPOINT;
        same_file(parent, &self.path) && path.file_name().and_then(|name| name.to_str()).is_some_and(is_ours)
    }

    /// Returns the path of the checkpoint of a run in this folder.
    pub fn checkpoint(&self) -> PathBuf {
        self.path.join(CHECKPOINT)
    }

    /// Keeps the folder from now on even if this run created it, because it has content.
    pub fn keep(&mut self) {
        self.keep = true;
    }

    /// Begins a set of results, none of which is visible before [`Staged::commit`].
    pub fn stage(&mut self) -> Staged<'_> {
        Staged { folder: self, files: Vec::new() }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.keep {
            for made in &self.made {
                // Keeps a folder that is not empty: `remove_dir` fails then.
                let _ = fs::remove_dir(made);
            }
        }
    }
}

/// Results under temporary names. They are removed if this is dropped.
pub struct Staged<'a> {
    folder: &'a mut Folder,
    files: Vec<(&'static str, AtomicFile)>,
}

impl Staged<'_> {
    /// Writes one result file, buffered.
    ///
    /// # Errors
    /// Returns [`Kind::Environment`] if the file cannot be written.
    pub fn write(
        &mut self,
        name: &'static str,
        content: impl FnOnce(&mut AtomicFile) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let path = self.folder.path.join(name);
        let mut file = AtomicFile::create(&path)?;
        content(&mut file).and_then(|()| file.flush()).map_err(|cause| file.failed(cause))?;
        self.files.push((name, file));
        Ok(())
    }

    /// Puts all results into place, removes the checkpoint, and prints a note if earlier results were replaced.
    ///
    /// # Errors
    /// Returns [`Kind::Environment`] if a file could not be put into place. Then the others are removed again, and
    /// earlier results in the folder are lost.
    pub fn commit(self) -> Result<(), Failure> {
        let Staged { folder, files } = self;
        let replaced = folder.holds_our_results();
        // Results of another command are here only if `--force` allowed it.
        let other = folder.other_results();
        for results in [replaced.then_some(folder.results), other].into_iter().flatten() {
            // A crash in the next lines would leave a mixture of files; without this file, the mixture does not count
            // as results.
            let summary = folder.path.join(results.voucher());
            fs::remove_file(&summary).map_err(|cause| {
                Failure::new(Kind::Environment, format!("{}: cannot be replaced: {cause}", summary.display()))
            })?;
        }
        let mut placed: Vec<&str> = Vec::new();
        for (name, file) in files {
            if let Err(error) = file.commit() {
                for name in placed {
                    let _ = fs::remove_file(folder.path.join(name));
                }
                return Err(error.into());
            }
            placed.push(name);
        }
        folder.keep();
        if replaced {
            // Files of an earlier run that this run did not write are obsolete.
            for name in folder.results.names().iter().filter(|name| !placed.contains(name)) {
                let _ = fs::remove_file(folder.path.join(name));
            }
        }
        let checkpoint = folder.checkpoint();
        if let Err(cause) = fs::remove_file(&checkpoint)
            && cause.kind() != io::ErrorKind::NotFound
        {
            output::warning(&format!("{}: cannot be removed: {cause}", checkpoint.display()));
        }
        if replaced {
            output::note(&format!("replaced the results of an earlier run in {}", folder.path.display()));
        }
        if folder.results == Results::Matrix {
            // These results belong to the dissimilarities that were here before, but seem to belong to the new ones.
            for older in Results::all().filter(|results| *results != Results::Matrix && folder.holds(*results)) {
                let left = older.names().iter().copied().filter(|name| folder.path.join(name).exists());
                let left: Vec<&str> = left.filter(|name| !placed.contains(name)).collect();
                output::warning(&format!(
                    "{}: {} of {} remain and belong to other dissimilarities: run it again, or remove them",
                    folder.path.display(),
                    left.join(", "),
                    older.command()
                ));
            }
        }
        if let Some(other) = other {
            let left = other.names().iter().copied().filter(|name| !placed.contains(name));
            let left: Vec<&str> = left.filter(|name| folder.path.join(name).exists()).collect();
            let rest = if left.is_empty() { String::new() } else { format!(", of which {} stayed", left.join(", ")) };
            output::note(&format!("replaced results of {} in {}{rest}", other.command(), folder.path.display()));
        }
        Ok(())
    }
}

fn same_file(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}
