//! Reads rows of bits from packed NPY arrays. As with `numpy.packbits` along the last axis, a byte has eight columns,
//! the first in the highest bit.

use std::path::Path;

use crate::error::{Error, Fault, Faults, Place};
use crate::fingerprints::Fingerprints;
use crate::read::npy;
use crate::read::source::{Source, foreign_format};

/// Reads rows of bits from a two-dimensional NPY array of bytes (`u1`), plain or gzip. There are `bits` columns, or
/// eight per byte if `bits` is `None`. Ids are row numbers.
///
/// # Errors
/// - [`Error::Open`], [`Error::Directory`], [`Error::Read`], [`Error::CutShort`]: the file cannot be read to its end.
/// - [`Error::Format`] if it is not such an array, or if a row does not have the number of bytes for `bits` columns.
/// - [`Error::Faults`] with every row that has a bit beyond the last.
///
/// # Example
/// ```no_run
/// use lehr_data::read::packed;
/// // numpy.save("rows.npy", numpy.packbits(rows, axis=1)) of 1047 columns
/// let rows = packed::fingerprints("rows.npy".as_ref(), Some(1047))?;
/// assert_eq!(rows.bits(), 1047);
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn fingerprints(path: &Path, bits: Option<usize>) -> Result<Fingerprints, Error> {
    read(Source::open(path)?, bits)
}

/// Like [`fingerprints`], from a reader; messages call it `name`.
///
/// # Errors
/// Returns the errors of [`fingerprints`], except for opening a file.
pub fn fingerprints_from(reader: impl std::io::Read, name: &str, bits: Option<usize>) -> Result<Fingerprints, Error> {
    read(Source::new(reader, name)?, bits)
}

fn read(mut source: Source<'_>, bits: Option<usize>) -> Result<Fingerprints, Error> {
    let name = source.name().to_owned();
    let wrong = |expected: String, found: String| Error::Format { name: name.clone(), expected, found };
    if let Some(what) = foreign_format(source.fill(16, Some(0))?) {
        return Err(wrong("an NPY array of packed bits".into(), what.into()));
    }
    let ([rows, width], bytes) = npy::bytes(&mut source)?;
    let bits = bits.unwrap_or(8 * width);
    if bits == 0 || bits.div_ceil(8) != width {
        let expected = format!("rows of {}, for {bits} packed bits", counted(bits.div_ceil(8)));
        return Err(wrong(expected, format!("rows of {}", counted(width))));
    }
    let words_of_row = bits.div_ceil(64);
    let mut words = vec![0u64; rows * words_of_row];
    let mut faults = Faults::new(name.clone());
    for (row, (bytes, words)) in bytes.chunks_exact(width).zip(words.chunks_exact_mut(words_of_row)).enumerate() {
        for (place, byte) in bytes.iter().enumerate() {
            words[place / 8] |= u64::from(byte.reverse_bits()) << (8 * (place % 8));
        }
        if !bits.is_multiple_of(64) && words[words_of_row - 1] >> (bits % 64) != 0 {
            let (expected, found) = (format!("{bits} bits"), "a bit beyond the last".to_owned());
            faults.add_with(|| Fault { place: Place::Row(row as u64), column: None, expected, found });
        }
    }
    faults.or(())?;
    Ok(Fingerprints::new(words, bits)?.with_name(name))
}

fn counted(bytes: usize) -> String {
    if bytes == 1 { "1 byte".to_owned() } else { format!("{bytes} bytes") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn npy(descr: &str, order: &str, shape: &str, bytes: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((header.len() as u16).to_le_bytes());
        file.extend(header.as_bytes());
        file.extend(bytes);
        file
    }

    fn message(file: &[u8], bits: Option<usize>) -> String {
        fingerprints_from(file, "p.npy", bits).unwrap_err().to_string()
    }

    #[test]
    fn the_first_column_is_the_highest_bit_of_the_first_byte() {
        // numpy.packbits([[1, 0, 0, 0, 0, 0, 0, 1, 1, 0], [0, 1, 0, 0, 0, 0, 0, 0, 0, 1]], axis=1)
        let file = npy("|u1", "False", "(2, 2)", &[0b1000_0001, 0b1000_0000, 0b0100_0000, 0b0100_0000]);
        let rows = fingerprints_from(&file[..], "p.npy", Some(10)).unwrap();
        assert_eq!((rows.len(), rows.bits()), (2, 10));
        assert_eq!((rows.row(0), rows.row(1)), (&[0b01_1000_0001][..], &[0b10_0000_0010][..]));
        assert_eq!(rows.ids(), ["0", "1"]);
        assert_eq!(fingerprints_from(&file[..], "p.npy", None).unwrap().bits(), 16);
        let columns = npy("|u1", "True", "(2, 2)", &[0b1000_0001, 0b0100_0000, 0b1000_0000, 0b0100_0000]);
        assert_eq!(fingerprints_from(&columns[..], "p.npy", Some(10)).unwrap(), rows);
    }

    #[test]
    fn what_is_no_packed_array_is_said() {
        let file = npy("|u1", "False", "(2, 1)", &[0b1110_0000, 0b0001_0000]);
        assert_eq!(message(&file, Some(3)), "p.npy, row 2: expected 3 bits, found a bit beyond the last");
        assert_eq!(message(&file, Some(9)), "p.npy: expected rows of 2 bytes, for 9 packed bits, found rows of 1 byte");
        let floats = npy("<f8", "False", "(1, 1)", &[0; 8]);
        assert!(message(&floats, None).contains("expected an NPY array of packed bits, bytes (u1) in two dimensions"));
        assert!(message(&npy("|u1", "False", "(3,)", &[0; 3]), None).contains("in two dimensions"));
        assert!(message(&npy("|u1", "False", "(2, 2)", &[0; 3]), None).contains("2 x 2 values in 4 bytes"));
        assert!(message(b"a,b\n1,2\n", None).contains("expected an NPY file"));
    }
}
