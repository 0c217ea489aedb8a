//! Detects the format that a file seems to have, so that a file given to the wrong reader is reported with its own
//! format.
//!
//! A reader that cannot read the contents returns [`Error::Contents`](crate::Error::Contents). This module does not
//! affect how a file is read. The readers of fingerprints and sparse rows decide which sources are theirs.

use std::path::Path;

use crate::contents::Contents;
use crate::dissimilarities::FORMAT;
use crate::error::Error;
use crate::object;
use crate::read::source::{Source, foreign_format};
use crate::read::{dissimilarities, fps, matrix_market, npy, svmlight};

/// The number of bytes that are examined.
pub(super) const LOOKED_AT: usize = 1 << 16;

/// Returns the format of a source that is certainly neither a text table nor an array. It does not look for SVMlight
/// text, because a table can look like it.
///
/// # Errors
/// Returns the errors of reading the first bytes.
pub(super) fn other_than_rows(source: &mut Source<'_>) -> Result<Option<Contents>, Error> {
    if fps::is_fps(source)? {
        return Ok(Some(Contents::Fingerprints));
    }
    if matrix_market::is_matrix_market(source)? {
        return Ok(Some(Contents::MatrixMarket));
    }
    if has_molecules(source) {
        return Ok(Some(Contents::Molecules));
    }
    let head = source.peek(LOOKED_AT);
    let text = head.trim_ascii_start();
    let mut lines =
        text.split(|byte| matches!(byte, b'\n' | b'\r')).map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    let (_, second, third) = (lines.next(), lines.next(), lines.next());
    Ok(match text.first() {
        // A table may begin in the same way, but a line of only letters does not follow its header.
        Some(b'>') if second.is_none_or(|line| are_letters(line) || line.starts_with(b">")) => {
            Some(Contents::Sequences)
        }
        Some(b'@') if second.is_some_and(are_letters) && third.is_some_and(|line| line.starts_with(b"+")) => {
            Some(Contents::Reads)
        }
        Some(b'{' | b'[') if is_json(text) => {
            let format = format!("\"{FORMAT}\"");
            let is_ours = text.windows(format.len()).any(|window| window == format.as_bytes());
            Some(if is_ours { Contents::Dissimilarities } else { Contents::Json })
        }
        _ => None,
    })
}

/// Returns the format of a source that is not an array: a table, unless it is something else.
///
/// # Errors
/// Returns the errors of reading the first bytes; [`Error::Format`] for formats that no reader supports.
pub(super) fn other_than_array(source: &mut Source<'_>, expected: &'static str) -> Result<Option<Contents>, Error> {
    let head = source.fill(16, None)?;
    if head.starts_with(npy::MAGIC) {
        return Ok(None);
    }
    if let Some(what) = foreign_format(head) {
        return Err(Error::Format { name: source.name().into(), expected: expected.into(), found: what.into() });
    }
    if let Some(contents) = other_than_rows(source)? {
        return Ok(Some(contents));
    }
    if svmlight::is_called_svmlight(source) || svmlight::begins_as_svmlight(source) {
        return Ok(Some(Contents::SvmLight));
    }
    let head = source.peek(LOOKED_AT);
    // The last character may be cut.
    let is_text = std::str::from_utf8(head).map_or_else(|error| error.error_len().is_none(), |_| true);
    Ok((!head.is_empty() && is_text && !head.contains(&0)).then_some(Contents::Table))
}

/// Returns whether a header of dissimilarities beside an array names it, so that the meaning of its numbers is known.
pub(super) fn is_described(array: &Path) -> Result<bool, Error> {
    let is_array =
        array.extension().is_some_and(|ending| ["npy", "bin"].iter().any(|own| ending.eq_ignore_ascii_case(own)));
    let beside = array.with_extension("json");
    Ok(is_array
        && object::exists(&beside)?
        && dissimilarities::header(&beside)
            .and_then(|header| dissimilarities::array_path(&beside, &header))
            .is_ok_and(|described| described == array))
}

/// Returns whether a file has molecules. A file of SMILES is recognised by its name, because it has no header.
fn has_molecules(source: &mut Source<'_>) -> bool {
    let name = source.name().to_ascii_lowercase();
    let (_, ending) = name.trim_end_matches(".gz").rsplit_once('.').unwrap_or_default();
    matches!(ending, "smi" | "smiles" | "ism" | "sdf" | "sd" | "mol") || begins_as_sd(source.peek(LOOKED_AT))
}

/// Returns whether a text begins as an SD file: its fourth line ends with the version of the format.
pub(super) fn begins_as_sd(head: &[u8]) -> bool {
    let counts = head.split(|byte| *byte == b'\n').nth(3).unwrap_or_default().trim_ascii_end();
    [b"V2000", b"V3000"].iter().any(|version| counts.ends_with(*version))
}

/// Returns whether a text begins like a JSON document: an object with a first key, or a list of objects, lists, texts
/// or numbers. A table does not begin in this way, because a bracket is neither a name nor a number.
fn is_json(text: &[u8]) -> bool {
    let inside = text[1..].trim_ascii_start();
    match text[0] {
        b'{' => matches!(inside.first(), Some(b'"' | b'}')),
        _ => match inside.first() {
            Some(b'{' | b'[' | b']' | b'"') => true,
            // A table may have intervals (`[1,2)`) or lists in its cells, so the list must not end before its line
            // does.
            Some(b'-' | b'0'..=b'9') => {
                let end = inside.iter().position(|byte| *byte == b']').unwrap_or(inside.len());
                let is_of_numbers = |byte: &u8| byte.is_ascii_digit() || b"+-.eE, \t\r\n".contains(byte);
                inside[..end].iter().all(is_of_numbers)
                    && inside.get(end + 1..).is_none_or(|rest| rest.trim_ascii().is_empty())
            }
            _ => false,
        },
    }
}

fn are_letters(line: &[u8]) -> bool {
    line.iter().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'.' | b'*' | b' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &str, name: &str) -> Option<Contents> {
        other_than_array(&mut Source::new(text.as_bytes(), name).unwrap(), "an array").unwrap()
    }

    #[test]
    fn a_file_is_known_by_its_first_lines() {
        for (text, contents) in [
            ("\n  RDKit\n\n  1  0  0  0  0  0  0  0  0  0999 V2000\n", Contents::Molecules),
            (">a, b\nACGT\n", Contents::Sequences),
            ("\u{feff}\n>a\r\nMK*\r\n>b\r\nMKV\r\n", Contents::Sequences),
            (">a", Contents::Sequences),
            ("@r1\nACGTN\n+\nIIII!\n", Contents::Reads),
            ("#FPS1\n0f\ta\n", Contents::Fingerprints),
            ("%%MatrixMarket matrix\n", Contents::MatrixMarket),
            ("1 3:1 9:2\n", Contents::SvmLight),
            ("{\n \"format\": \"lehr dissimilarities 1\",\n", Contents::Dissimilarities),
            ("{\"program\": \"lehr\"}", Contents::Json),
            ("[{\"x\": 1}]\n", Contents::Json),
            ("[[1, 2],\n [3, 4]]\n", Contents::Json),
            ("[1, 2,\n3.5e1]", Contents::Json),
            ("{}", Contents::Json),
            ("[x],y\n1,2\n", Contents::Table),
            ("[1,2),5\n[2,3),6\n", Contents::Table),
            (">a\rACGT\r>b\rACGA\r", Contents::Sequences),
            ("x,y\n1,2\n", Contents::Table),
            (">x,y\n1,2\n", Contents::Table),
            ("@a\nACGT\nACGT\n", Contents::Table),
            ("{x},y\n1,2\n", Contents::Table),
            ("é", Contents::Table),
        ] {
            assert_eq!(seen(text, "f"), Some(contents), "{text:?}");
        }
        assert_eq!(seen("\u{93}", "f.mtx"), Some(Contents::MatrixMarket));
        assert_eq!(seen("CCO\tethanol\n", "compounds.SMI"), Some(Contents::Molecules));
        assert_eq!(seen("CCO\tethanol\n", "compounds.smi.gz"), Some(Contents::Molecules));
        assert_eq!(seen("x\n1\n", "smi"), Some(Contents::Table));
        assert_eq!(seen("", "f"), None);
        assert_eq!(seen("a\0b", "f"), None);
    }
}
