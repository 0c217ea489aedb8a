//! Reads files and objects without holding the interpreter lock, so that Ctrl-C ends the wait for a slow server.

use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;

use lehr_data::{Error, object};
use lehr_sync::thread::spawn_detached;
use pyo3::prelude::*;

use crate::errors;
use crate::waiting::receive;

/// Calls `read` with a path. If the path is the URL of an object, `read` runs on another thread, and a signal such as
/// Ctrl-C ends the call. The thread then ends by itself, when the server answers or a time limit ends the request.
pub(crate) fn reading<T: Send + 'static>(
    py: Python<'_>,
    path: PathBuf,
    read: impl FnOnce(&Path) -> Result<T, Error> + Send + 'static,
) -> PyResult<Result<T, Error>> {
    if object::url(&path).is_none() {
        if has_lost_a_slash(&path) {
            let message =
                format!("{}: give the URL as a string, because a Path drops the second slash", path.display());
            return Err(errors::value(message));
        }
        return Ok(py.detach(|| read(&path)));
    }
    let (answer, answered) = channel();
    let body = move || drop(answer.send(read(&path)));
    spawn_detached("lehr-reading", body).map_err(|cause| errors::runtime(format!("no thread for reading: {cause}")))?;
    receive(py, answered)?.ok_or_else(|| errors::runtime("reading has ended early"))
}

/// Returns whether a path was a URL before Python's `Path` shortened it.
fn has_lost_a_slash(path: &Path) -> bool {
    let text = path.to_string_lossy();
    ["s3:/", "https:/", "http:/"].iter().any(|scheme| text.starts_with(scheme)) && !path.exists()
}
