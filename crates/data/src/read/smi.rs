//! Reads molecules from files of SMILES, and makes circular fingerprints of them.
//!
//! A line has a structure in SMILES, then white space and a name. Without a name, the molecule is called by its number
//! in the file, from 0. Lines that are empty or begin with `#` are left out. A first line whose first word is `SMILES` in
//! any case is a header. The fingerprints are those of [`Molecule::morgan_bits`] with [`RADIUS`] and [`BITS`].

use std::io::Read;
use std::path::Path;

use lehr_molecules::Molecule;

use crate::error::{Error, Fault, Faults, Place, quoted};
use crate::fingerprints::Fingerprints;
use crate::read::source::{Source, open};

/// The radius of the fingerprints, in bonds.
pub const RADIUS: u32 = 2;

/// The number of bits of the fingerprints.
pub const BITS: u32 = 2048;

/// The longest line, in bytes.
const LINE_MAX: usize = 1 << 20;

/// Returns whether a name is that of a file of SMILES: it ends in `.smi`, `.smiles` or `.ism`, perhaps with `.gz`.
///
/// # Example
/// ```
/// use lehr_data::read::smi::is_smi;
/// assert!(is_smi("compounds.smi.gz") && !is_smi("compounds.csv"));
/// ```
pub fn is_smi(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let (_, ending) = name.trim_end_matches(".gz").rsplit_once('.').unwrap_or_default();
    matches!(ending, "smi" | "smiles" | "ism")
}

/// Reads the molecules of a file of SMILES, plain or gzip, as fingerprints with their structures.
///
/// # Errors
/// - [`Error::Open`], [`Error::Directory`], [`Error::Read`], [`Error::CutShort`]: the file cannot be read to its end.
/// - [`Error::Format`] if it has no molecules or a line of more than 1 MiB; [`Error::Encoding`] for names that are not
///   UTF-8.
/// - [`Error::Faults`] with every line that is not SMILES.
pub fn molecules(path: &Path) -> Result<Fingerprints, Error> {
    molecules_from(open(path)?, &path.display().to_string())
}

/// Reads molecules from a reader of SMILES; messages call it `name`.
///
/// # Errors
/// Returns the errors of [`molecules`], except for opening a file.
///
/// # Example
/// ```
/// use lehr_data::read::smi::molecules_from;
/// let compounds = molecules_from("CCO ethanol\nc1ccccc1 benzene\n".as_bytes(), "two.smi")?;
/// assert_eq!((compounds.bits(), compounds.ids()), (2048, &["ethanol".to_owned(), "benzene".to_owned()][..]));
/// assert_eq!(compounds.smiles().unwrap()[1], "c1ccccc1");
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn molecules_from(reader: impl Read, name: &str) -> Result<Fingerprints, Error> {
    read(Source::new(reader, name)?)
}

pub(super) fn read(mut source: Source<'_>) -> Result<Fingerprints, Error> {
    let name = source.name().to_owned();
    let wrong = |found: &str| Error::Format {
        name: name.clone(),
        expected: "molecules, lines with a structure in SMILES and a name".into(),
        found: found.into(),
    };
    let mut number = 0;
    let (mut words, mut ids, mut structures) = (Vec::new(), Vec::new(), Vec::new());
    let mut faults = Faults::new(name.clone());
    while let Some(length) = source.line(number, LINE_MAX, || wrong("a line longer than 1 MiB"))? {
        number += 1;
        let text = source.text(source.window()[..length].trim_ascii(), 0, number)?;
        let (structure, title) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let is_header = number == 1 && structure.eq_ignore_ascii_case("smiles");
        if !text.is_empty() && !text.starts_with('#') && !is_header {
            match Molecule::from_smiles(structure) {
                Ok(molecule) => {
                    words.extend(molecule.morgan_bits(RADIUS, BITS));
                    let title = title.trim();
                    ids.push(if title.is_empty() { structures.len().to_string() } else { title.to_owned() });
                    structures.push(structure.to_owned());
                }
                Err(fault) => faults.add_with(|| Fault {
                    place: Place::Line(number),
                    column: None,
                    expected: format!("SMILES with {}", fault.expected),
                    found: format!("{} at character {} of {}", fault.found, fault.position, quoted(structure)),
                }),
            }
        }
        source.consume(length);
    }
    faults.or(())?;
    if ids.is_empty() {
        return Err(wrong(if number == 0 { "an empty file" } else { "none" }));
    }
    Ok(Fingerprints::new(words, BITS as usize)?.with_ids(ids)?.with_smiles(structures)?.with_name(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_headers_and_comments_are_told_apart_from_structures() {
        let text = "SMILES Name\n# two\nCCO ethyl alcohol\n\nC1=CC=CC=C1\t\r\nc1ccccc1 benzene\n";
        let read = molecules_from(text.as_bytes(), "c.smi").unwrap();
        assert_eq!(read.ids(), ["ethyl alcohol", "1", "benzene"]);
        assert_eq!(read.smiles().unwrap(), ["CCO", "C1=CC=CC=C1", "c1ccccc1"]);
        // The two ways to write benzene are one molecule.
        assert_eq!(read.row(1), read.row(2));
        assert_ne!(read.row(0), read.row(1));
        assert_eq!(read.select(&[2]).smiles().unwrap(), ["c1ccccc1"]);
    }

    #[test]
    fn every_line_that_is_no_structure_is_reported() {
        let fault = molecules_from("CCO a\nCC( b\nC(C)(C)(C)(C)C c\nXy d\n".as_bytes(), "c.smi").unwrap_err();
        assert_eq!(
            fault.to_string(),
            "c.smi, line 2: expected SMILES with a ) for this (, found the end of the text at character 3 of \"CC(\"\n\
             c.smi, line 3: expected SMILES with an atom with at most 4 bonds, found bonds with 5 pairs of electrons at character 1 of \"C(C)(C)(C)(C)C\"\n\
             c.smi, line 4: expected SMILES with an atom, found 'X' at character 1 of \"Xy\"\n\
             c.smi: 3 faults in all"
        );
        for (text, found) in [("", "an empty file"), ("\n# nothing\n", "none")] {
            let fault = molecules_from(text.as_bytes(), "c.smi").unwrap_err().to_string();
            assert_eq!(
                fault,
                format!("c.smi: expected molecules, lines with a structure in SMILES and a name, found {found}")
            );
        }
    }
}
