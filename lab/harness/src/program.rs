//! Finds the programs that cases start: the lab itself for its own tasks, and `lehr`, which users run.

use std::path::PathBuf;

use crate::environment;
use crate::exit::{Failure, Kind};

/// Returns the path of the lab's own program.
///
/// # Errors
/// Returns [`Kind::Environment`] if the operating system does not report the path.
pub fn own() -> Result<PathBuf, Failure> {
    std::env::current_exe()
        .map_err(|cause| Failure::new(Kind::Environment, format!("cannot find this program's file: {cause}")))
}

/// Returns the path of the `lehr` command: beside the lab, otherwise on the path. The command beside the lab was built
/// with it.
///
/// # Errors
/// Returns [`Kind::Environment`] if the command is in neither place.
pub fn lehr() -> Result<PathBuf, Failure> {
    let name = format!("lehr{}", std::env::consts::EXE_SUFFIX);
    let beside = own()?.with_file_name(&name);
    let found = if beside.is_file() { Some(beside) } else { environment::on_path(&name) };
    found.ok_or_else(|| {
        let message =
            "lehr, which this measures, is neither beside lehr-lab nor on the path: cargo build --release -p lehr";
        Failure::new(Kind::Environment, message)
    })
}
