//! Finds and opens the MPI library: `libmpi_abi`, which offers the standard ABI.
//!
//! Lehr searches these places in order, and uses the first library that it can open:
//!
//! 1. the file that `LEHR_MPI_LIBRARY` names; if the variable is set, no other place is searched;
//! 2. the folder `lib` or `lib64` next to the folder of the program that started this process. Launchers start
//!    processes through a program next to `mpiexec`, and only the launcher's own library can talk to the launcher;
//! 3. the folder `lib` or `lib64` next to the folder of the first `mpiexec` on `PATH`, for the same reason;
//! 4. the system's search for shared libraries (`LD_LIBRARY_PATH`, the loader's cache).
//!
//! The system's search is last: with the library of another launcher, every process would believe that it is alone.
//! (`process.rs` detects that and refuses to run.)

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::abi::Functions;
use crate::environment;
use crate::error::Error;
use crate::launcher::Launcher;
use crate::supervisor::starter;

/// The library's file name, with the version that the standard fixes.
const FILE: &str = if cfg!(target_os = "macos") { "libmpi_abi.1.dylib" } else { "libmpi_abi.so.1" };
/// The environment variable that names the user's choice of a library.
const CHOICE: &str = "LEHR_MPI_LIBRARY";

/// An open MPI library. The library stays open until the process ends, because MPI leaves threads and exit handlers
/// behind.
pub(crate) struct Library {
    pub(crate) functions: Functions,
    pub(crate) path: PathBuf,
}

impl Library {
    /// Opens the first library that the search finds.
    ///
    /// # Errors
    /// Returns [`Error::NotFound`] with every searched place; [`Error::Unusable`] if the library lacks a function.
    pub(crate) fn find(launcher: &Launcher) -> Result<Self, Error> {
        let mut looked_at = Vec::new();
        for (place, path) in candidates() {
            match path {
                Err(nothing) => looked_at.push(format!("{place}: {nothing}")),
                Ok(path) => match open(&path) {
                    Ok(library) => return Self::load(library, path),
                    Err(cause) => looked_at.push(format!("{place}: {cause}")),
                },
            }
        }
        Err(Error::NotFound { started: launcher.describe(), looked_at })
    }

    #[allow(unsafe_code, reason = "the symbols of a library have the types that its standard gives them")]
    fn load(library: libloading::Library, path: PathBuf) -> Result<Self, Error> {
        // The library is never closed (see `Library`). So the table of functions below is always valid.
        let library: &'static libloading::Library = Box::leak(Box::new(library));
        // SAFETY: the file has the name that the MPI standard reserves for its ABI, or the user guarantees it by naming
        // the file.
        match unsafe { Functions::load(library) } {
            Ok(functions) => Ok(Self { functions, path }),
            Err(symbol) => {
                let reason = format!("it has no {symbol}, which the MPI 5 standard ABI has");
                Err(Error::Unusable { library: path, reason })
            }
        }
    }
}

/// Returns each place of the search, with the file to open there or the reason why there is no file.
fn candidates() -> Vec<(String, Result<PathBuf, String>)> {
    if let Some(choice) = environment::path(CHOICE) {
        return vec![(CHOICE.to_owned(), Ok(choice.into()))];
    }
    let mut places = Vec::new();
    if let Some(parent) = starter() {
        places.push((format!("beside the program that started this one, {}", parent.display()), beside(&parent)));
    }
    match program_on_path("mpiexec", environment::path("PATH").as_deref()) {
        Some(mpiexec) => places.push((format!("beside {}", mpiexec.display()), beside(&mpiexec))),
        None => places.push(("beside mpiexec".to_owned(), Err("there is no mpiexec on PATH".to_owned()))),
    }
    places.push(("the system's search for shared libraries".to_owned(), Ok(FILE.into())));
    places
}

/// Returns the library of an MPI installation, given the path of one of its programs. Searches `../lib` and `../lib64`,
/// before and after resolving symbolic links.
fn beside(program: &Path) -> Result<PathBuf, String> {
    let resolved = program.canonicalize().ok();
    let folders =
        [Some(program), resolved.as_deref()].into_iter().flatten().filter_map(|program| program.parent()?.parent());
    let files: Vec<PathBuf> =
        folders.flat_map(|prefix| ["lib", "lib64"].map(|folder| prefix.join(folder).join(FILE))).collect();
    match files.iter().find(|file| file.is_file()) {
        Some(file) => Ok(file.clone()),
        None => Err(format!("no {FILE} in its lib folder")),
    }
}

/// Returns the first file with this name in the folders of a search path.
fn program_on_path(name: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    std::env::split_paths(path?).map(|folder| folder.join(name)).find(|program| program.is_file())
}

/// Opens a library so that its own transports and plugins see its symbols.
#[allow(unsafe_code, reason = "opening a library runs its initialisers")]
fn open(path: &Path) -> Result<libloading::Library, String> {
    #[cfg(unix)]
    // SAFETY: an MPI library's initialisers only prepare its own state; the user or the search chose this file as an
    // MPI library.
    let opened = unsafe {
        use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};
        Library::open(Some(path), RTLD_NOW | RTLD_GLOBAL).map(libloading::Library::from)
    };
    #[cfg(not(unix))]
    // SAFETY: as above.
    let opened = unsafe { libloading::Library::new(path) };
    // The system's own message is the source of the library's error.
    opened.map_err(|error| {
        let source = std::error::Error::source(&error);
        source.map_or_else(|| error.to_string(), |source| source.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_is_found_beside_a_program_and_its_absence_is_said() {
        let prefix = std::env::temp_dir().join(format!("lehr-mpi-beside-{}", std::process::id()));
        let (bin, lib) = (prefix.join("bin"), prefix.join("lib"));
        std::fs::create_dir_all(&bin).unwrap();
        std::fs::create_dir_all(&lib).unwrap();
        let program = bin.join("mpiexec");
        std::fs::write(&program, "").unwrap();
        assert_eq!(beside(&program), Err(format!("no {FILE} in its lib folder")));
        std::fs::write(lib.join(FILE), "").unwrap();
        assert_eq!(beside(&program), Ok(lib.join(FILE)));
        assert_eq!(program_on_path("mpiexec", Some(bin.as_os_str())), Some(program));
        assert_eq!(program_on_path("mpiexec", None), None);
        std::fs::remove_dir_all(prefix).unwrap();
    }

    #[test]
    fn what_is_no_library_is_refused_with_the_systems_words() {
        let file = std::env::temp_dir().join(format!("lehr-mpi-no-library-{}", std::process::id()));
        std::fs::write(&file, "text").unwrap();
        assert!(open(&file).is_err());
        std::fs::remove_file(file).unwrap();
    }
}
