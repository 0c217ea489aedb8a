//! The only file of the harness that reads the environment.

use std::path::PathBuf;

/// Returns the folder of the larger data sets, which `LEHR_DATA` names; `None` if the variable is empty or not set.
#[must_use]
pub fn data_folder() -> Option<PathBuf> {
    let folder = std::env::var_os("LEHR_DATA");
    folder.filter(|folder| !folder.is_empty()).map(PathBuf::from)
}

/// Returns the first file of this name in the folders of the path.
#[must_use]
pub fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}
