//! Writes NPY arrays of 64-bit floats.

use std::io::{self, Write};
use std::path::Path;

use crate::error::Error;
use crate::points::Points;
use crate::write::AtomicFile;

/// Writes the values of points as an NPY file: n × d, `f8`, little-endian, row-major.
///
/// The format cannot store weights, ids and names; write these with [`write::csv`](crate::write::csv), or as a separate
/// array.
///
/// # Errors
/// Returns [`Error::Write`] or [`Error::Directory`]; then no file is left behind.
///
/// # Example
/// ```
/// use lehr_data::{read, write, Points};
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("points.npy");
/// let points = Points::new(vec![0.1, 0.2, 0.3, 0.4], 2)?;
/// write::npy::points(&path, &points)?;
/// assert_eq!(read::points(&path, &read::Selection::default())?.values(), points.values());
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn points(path: &Path, points: &Points) -> Result<(), Error> {
    let mut file = AtomicFile::create(path)?;
    array(&mut file, points.values(), points.dimension()).map_err(|cause| file.failed(cause))?;
    file.commit()
}

/// Writes an array of `dimension` columns to `out`, in NPY version 1.
///
/// # Panics
/// Panics if `dimension` does not divide the number of values.
pub fn array(mut out: impl Write, values: &[f64], dimension: usize) -> io::Result<()> {
    assert!(dimension > 0 && values.len().is_multiple_of(dimension), "{} values in rows of {dimension}", values.len());
    let rows = values.len() / dimension;
    header(&mut out, "<f8", &format!("({rows}, {dimension})"))?;
    let mut buffer = Vec::with_capacity(8 * 512);
    for block in values.chunks(512) {
        buffer.clear();
        buffer.extend(block.iter().flat_map(|value| value.to_le_bytes()));
        out.write_all(&buffer)?;
    }
    Ok(())
}

/// Writes the header of an array in NPY version 1: `descr` is its element type and `shape` its shape, both in NumPy's
/// notation.
pub(crate) fn header(mut out: impl Write, descr: &str, shape: &str) -> io::Result<()> {
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    // Values start at a multiple of 64 bytes: 10 bytes precede the header, and a line end follows it.
    let padding = (10 + header.len() + 1).next_multiple_of(64) - (10 + header.len() + 1);
    header.extend(std::iter::repeat_n(' ', padding));
    header.push('\n');
    out.write_all(b"\x93NUMPY\x01\x00")?;
    out.write_all(&(header.len() as u16).to_le_bytes())?;
    out.write_all(header.as_bytes())
}
