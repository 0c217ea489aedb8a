//! `lehr completions` and `lehr man`: files for shells and `man`, made from the command line's own definition.

use std::path::Path;

use clap_complete::Shell;

use crate::exit::{Failure, Kind};
use crate::help;
use crate::output;

/// Prints the completions of a shell.
///
/// # Errors
/// Returns [`Kind::Environment`] if the completions cannot be written to standard output.
pub fn completions(shell: Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut help::command(true), "lehr", &mut script);
    output::result(&String::from_utf8_lossy(&script))
}

/// Writes a manual page for each command into a folder, which is created if necessary.
///
/// # Errors
/// Returns [`Kind::Environment`] if a page cannot be written.
pub fn pages(folder: &Path) -> Result<(), Failure> {
    let written = std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(help::command(true), folder));
    written.map_err(|cause| Failure::new(Kind::Environment, format!("{}: {cause}", folder.display())))
}
