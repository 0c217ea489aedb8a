//! Reads the environment variables that launchers and users set for this crate.
//!
//! | variable | who sets it | meaning |
//! | --- | --- | --- |
//! | the variables in `launcher.rs` | launchers | this process's number and the number of processes |
//! | `LEHR_MPI_LIBRARY` | the user | the path of the MPI library; Lehr then tries no other |
//! | `LEHR_MPI_WINDOW` | the user, for all processes | `0`: the processes of a machine share no memory, and all frames go by MPI |
//! | `LEHR_MPI_KEPT` | `supervisor.rs`, for its child | marks the child, and names the program that started its supervisor |
//! | `LEHR_MPI_PIPE` | `supervisor.rs`, for its child | the number of the pipe in which the child notes that it has joined and left the job |
//! | `PATH` | the system | the folders in which Lehr searches for `mpiexec`, next to which its library is |
#![allow(clippy::disallowed_methods, reason = "this is the door to the environment")]

use std::ffi::OsString;

/// Returns a variable's value, if it is set and is valid Unicode.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Returns the value of a variable that holds a path, if it is set and not empty; the path need not be valid Unicode.
pub(crate) fn path(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Whether processes of one machine may share memory.
pub(crate) fn uses_window() -> bool {
    variable("LEHR_MPI_WINDOW").is_none_or(|value| value != "0")
}
