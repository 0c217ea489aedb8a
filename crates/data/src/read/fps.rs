//! Reads fingerprints from FPS, the text format of chemical fingerprints: header lines that start with `#`, then
//! `HEX<tab>id`.
//!
//! Byte b of the hexadecimal text has the bits 8 b to 8 b + 7, lowest first. `#num_bits=N` gives the number of bits;
//! without this line, the length of the first row gives it.

use std::io::Read;
use std::path::Path;

use crate::error::{Error, Fault, Faults, Place, quoted};
use crate::fingerprints::Fingerprints;
use crate::object;
use crate::read::source::{Source, foreign_format, open};

/// The first bytes of a file with a header.
const MAGIC: &[u8] = b"#FPS";

/// The number of bits at which a header is treated as damaged.
const BITS_MAX: usize = 1 << 24;

/// Returns whether to read a source as FPS: it begins as FPS, or is called `.fps`.
pub(super) fn is_fps(source: &mut Source<'_>) -> Result<bool, Error> {
    let is_called = source.name().to_lowercase().trim_end_matches(".gz").ends_with(".fps");
    Ok(source.fill(MAGIC.len(), Some(0))?.starts_with(MAGIC) || is_called)
}

/// Reads fingerprints from an FPS file, plain or gzip.
///
/// # Errors
/// - [`Error::Open`], [`Error::Directory`], [`Error::Read`], [`Error::CutShort`]: the file cannot be read to its end.
/// - [`Error::Format`] if it is of another kind or has no fingerprints; [`Error::Encoding`] for ids that are not UTF-8.
/// - [`Error::Faults`] with every row whose text is not hexadecimal, has another length, or has a bit beyond the last.
pub fn fingerprints(path: &Path) -> Result<Fingerprints, Error> {
    fingerprints_from(open(path)?, &object::shown(path))
}

/// Reads fingerprints in FPS, plain or gzip, from any reader. Error messages use `name` as the name of the file.
///
/// # Errors
/// Returns the errors of [`fingerprints`], except for opening a file.
///
/// # Example
/// ```
/// use lehr_data::read::fps::fingerprints_from;
/// let compounds = fingerprints_from("#FPS1\n#num_bits=12\n0b01\tone\n0000\ttwo\n".as_bytes(), "c.fps")?;
/// assert_eq!((compounds.bits(), compounds.row(0)), (12, &[0b1_0000_1011][..]));
/// assert_eq!(compounds.ids(), ["one", "two"]);
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn fingerprints_from(reader: impl Read, name: &str) -> Result<Fingerprints, Error> {
    read(Source::new(reader, name)?)
}

pub(super) fn read(mut source: Source<'_>) -> Result<Fingerprints, Error> {
    let name = source.name().to_owned();
    let wrong = |found: String| Error::Format {
        name: name.clone(),
        expected: "fingerprints in FPS, lines of hexadecimal digits, a tab and an id".into(),
        found,
    };
    if let Some(what) = foreign_format(source.fill(16, Some(0))?) {
        return Err(wrong(what.into()));
    }
    let mut number = 0;
    let (mut bits, mut words, mut ids) = (None, Vec::new(), Vec::new());
    let mut faults = Faults::new(name.clone());
    while let Some(length) = source.line(number, BITS_MAX, || wrong("a line longer than 16 MiB".into()))? {
        let line = &source.window()[..length];
        number += 1;
        let text = source.text(line.trim_ascii_end(), 0, number)?;
        if let Some(head) = text.strip_prefix('#') {
            if let Some(count) = head.strip_prefix("num_bits=") {
                let count = count.trim().parse().ok().filter(|count| (1..=BITS_MAX).contains(count));
                let expected = || wrong(format!("{} in line {number}", quoted(text)));
                bits = Some(count.ok_or_else(expected)?);
            }
        } else if !text.is_empty() {
            let (digits, id) = text.split_once('\t').unwrap_or((text, ""));
            let count = *bits.get_or_insert(digits.len() * 4);
            let mut fault = |expected: String, found: String| {
                faults.add_with(|| Fault { place: Place::Line(number), column: None, expected, found });
            };
            let id = id.split('\t').next().unwrap_or_default();
            if digits.len() != 2 * count.div_ceil(8) {
                fault(
                    format!("{} hexadecimal digits, for {count} bits", 2 * count.div_ceil(8)),
                    digits.len().to_string(),
                );
            } else if id.is_empty() {
                fault("a tab and an id after the digits".into(), "none".into());
            } else if let Err(found) = unpack(digits.as_bytes(), count, &mut words) {
                fault(format!("hexadecimal digits of {count} bits"), found);
            } else {
                ids.push(id.to_owned());
            }
        }
        source.consume(length);
    }
    faults.or(())?;
    let Some(bits) = bits.filter(|_| !ids.is_empty()) else {
        return Err(wrong(if number == 0 { "an empty file".into() } else { "none".into() }));
    };
    Ok(Fingerprints::new(words, bits)?.with_ids(ids)?.with_name(name))
}

/// Appends the words of a row; appends nothing if there is a fault.
fn unpack(digits: &[u8], bits: usize, words: &mut Vec<u64>) -> Result<(), String> {
    let start = words.len();
    words.resize(start + bits.div_ceil(64), 0);
    let row = &mut words[start..];
    for (place, pair) in digits.chunks_exact(2).enumerate() {
        let digit = |byte: u8| char::from(byte).to_digit(16).map(u64::from);
        let (Some(high), Some(low)) = (digit(pair[0]), digit(pair[1])) else {
            words.truncate(start);
            return Err(format!("{} at digit {}", quoted(&String::from_utf8_lossy(pair)), 2 * place + 1));
        };
        row[place / 8] |= (high << 4 | low) << (8 * (place % 8));
    }
    if !bits.is_multiple_of(64) && row[row.len() - 1] >> (bits % 64) != 0 {
        words.truncate(start);
        return Err("a bit beyond the last".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        fingerprints_from(text.as_bytes(), "c.fps").unwrap_err().to_string()
    }

    #[test]
    fn every_wrong_row_is_a_fault_of_its_line() {
        assert_eq!(
            message("#num_bits=12\n0b01\ta\n0b\tb\n0bx1\tc\n0bf1\td\n0b01\n"),
            "c.fps, line 3: expected 4 hexadecimal digits, for 12 bits, found 2\n\
             c.fps, line 4: expected hexadecimal digits of 12 bits, found \"x1\" at digit 3\n\
             c.fps, line 5: expected hexadecimal digits of 12 bits, found a bit beyond the last\n\
             c.fps, line 6: expected a tab and an id after the digits, found none\n\
             c.fps: 4 faults in all"
        );
    }

    #[test]
    fn what_is_no_fps_is_said_to_be_none() {
        assert!(message("").ends_with("found an empty file"));
        assert!(message("#FPS1\n").ends_with("found none"));
        assert!(message("#num_bits=many\n00\ta\n").contains("\"#num_bits=many\" in line 1"));
        assert!(message(">a\nACGT\n").contains("line 1"));
    }

    #[test]
    fn without_a_header_the_first_row_says_how_many_bits() {
        let rows = fingerprints_from("ff00\ta\textra\n0001\tb\n".as_bytes(), "c.fps").unwrap();
        assert_eq!((rows.bits(), rows.row(0), rows.row(1)), (16, &[0xff][..], &[0x100][..]));
        assert_eq!(rows.ids(), ["a", "b"]);
    }
}
