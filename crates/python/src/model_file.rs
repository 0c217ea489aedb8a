//! Model files: JSON after a line with a checksum, or the command's own format.
//!
//! A file has two lines of text: `lehr model FORMAT xxh3 HASH`, then the content as JSON. Numbers have the shortest
//! form that reads back bit-identically. The field `method` of the content names the method. Files are written
//! atomically.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use lehr_data::write::AtomicFile;
use pyo3::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use crate::errors;

const MAGIC: &str = "lehr model";
/// The version of the format, which increases when the meaning of the content changes.
const FORMAT: u32 = 1;

/// Writes a model atomically, and replaces an existing file.
#[pyfunction]
pub(crate) fn write_model(path: PathBuf, content: &str) -> PyResult<()> {
    if content.contains('\n') {
        return Err(errors::value("a model is one line of JSON"));
    }
    let text = format!("{MAGIC} {FORMAT} xxh3 {:016x}\n{content}\n", xxh3_64(content.as_bytes()));
    write_bytes(path, text.as_bytes())
}

/// Writes a file atomically, and replaces an existing one.
#[pyfunction]
pub(crate) fn write_bytes(path: PathBuf, content: &[u8]) -> PyResult<()> {
    let mut file = AtomicFile::create(&path).map_err(errors::data)?;
    file.write_all(content).map_err(|cause| errors::data(file.failed(cause)))?;
    file.commit().map_err(errors::data)
}

/// Reads a model that [`write_model`] wrote, and checks that it is complete.
#[pyfunction]
pub(crate) fn read_model(path: PathBuf) -> PyResult<String> {
    let shown = path.display();
    let damaged = |reason: &str| errors::value(format!("{shown}: not a whole model ({reason})"));
    let bytes = fs::read(&path).map_err(|cause| errors::file(&path, &cause))?;
    let text = String::from_utf8(bytes).map_err(|_| damaged("it is not text"))?;
    let (head, content) = text.split_once('\n').ok_or_else(|| damaged("it has no second line"))?;
    let rest = head.strip_prefix(MAGIC).ok_or_else(|| damaged("its first line does not say \"lehr model\""))?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    let [format, "xxh3", hash] = words[..] else {
        return Err(damaged("its first line is not a format and a hash"));
    };
    if format != FORMAT.to_string() {
        return Err(errors::value(format!("{shown}: a model of format {format}, expected format {FORMAT}")));
    }
    let content = content.strip_suffix('\n').ok_or_else(|| damaged("its end is missing"))?;
    if hash != format!("{:016x}", xxh3_64(content.as_bytes())) {
        return Err(damaged("its content does not match its hash"));
    }
    Ok(content.to_owned())
}
