//! Writes rows of bits as packed NPY arrays, which [`read::packed`](crate::read::packed) and NumPy read.

use std::io::{self, Write};
use std::path::Path;

use crate::error::Error;
use crate::fingerprints::Fingerprints;
use crate::write::{AtomicFile, npy};

/// Writes rows of bits as an NPY file of bytes. As with `numpy.packbits` along the last axis, a byte has eight columns,
/// the first in the highest bit.
///
/// The format cannot store weights, ids and names, nor the number of columns, which the reader needs.
///
/// # Errors
/// Returns [`Error::Write`] or [`Error::Directory`]; then no file is left behind.
///
/// # Example
/// ```
/// use lehr_data::{read, write, Fingerprints};
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("rows.npy");
/// let rows = Fingerprints::new(vec![0b101, 0b110], 3)?;
/// write::packed::fingerprints(&path, &rows)?;
/// assert_eq!(read::packed::fingerprints(&path, Some(3))?.row(1), rows.row(1));
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn fingerprints(path: &Path, rows: &Fingerprints) -> Result<(), Error> {
    let mut file = AtomicFile::create(path)?;
    let copy = |row: usize, words: &mut [u64]| words.copy_from_slice(rows.row(row));
    array(&mut file, rows.len(), rows.bits(), copy).map_err(|cause| file.failed(cause))?;
    file.commit()
}

/// Writes an array of `rows` rows of `bits` columns to `out`, in NPY version 1. Calls `fill` for one row after another;
/// `fill` must write all words of the row. Bit b of a row is bit `b % 64` of word `b / 64`. The rows need not be in
/// memory together.
///
/// # Errors
/// Returns the errors of `out`.
pub fn array(mut out: impl Write, rows: usize, bits: usize, mut fill: impl FnMut(usize, &mut [u64])) -> io::Result<()> {
    let width = bits.div_ceil(8);
    npy::header(&mut out, "|u1", &format!("({rows}, {width})"))?;
    let (mut words, mut bytes) = (vec![0; bits.div_ceil(64)], vec![0; width]);
    for row in 0..rows {
        fill(row, &mut words);
        for (place, byte) in bytes.iter_mut().enumerate() {
            *byte = ((words[place / 8] >> (8 * (place % 8))) as u8).reverse_bits();
        }
        out.write_all(&bytes)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;

    #[test]
    fn what_is_written_is_read_back_and_the_first_column_is_the_highest_bit() {
        let rows = Fingerprints::new(vec![0b10_0000_0011, 0, 1 << 9, 1 << 6], 71).unwrap();
        let mut file = Vec::new();
        array(&mut file, rows.len(), rows.bits(), |row, words| words.copy_from_slice(rows.row(row))).unwrap();
        assert_eq!(file.len() % 64, 18, "nine bytes a row behind a header of whole lines");
        assert_eq!(file[file.len() - 18..][..2], [0b1100_0000, 0b0100_0000]);
        let read = read::packed::fingerprints_from(&file[..], "rows", Some(71)).unwrap();
        assert_eq!((read.row(0), read.row(1)), (rows.row(0), rows.row(1)));
    }
}
