//! The programs that cases start: the lab itself for tasks of its own, and `lehr`, which is what users run.

use std::path::PathBuf;

use crate::environment;
use crate::exit::{Failure, Kind};

/// The lab's own file.
///
/// # Errors
/// [`Kind::Environment`] if the operating system does not tell.
pub fn own() -> Result<PathBuf, Failure> {
    std::env::current_exe()
        .map_err(|cause| Failure::new(Kind::Environment, format!("cannot find this program's file: {cause}")))
}

/// The `lehr` command: beside the lab, else on the path. What lies beside was built with it.
///
/// # Errors
/// [`Kind::Environment`] if it is in neither place.
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
