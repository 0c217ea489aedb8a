//! Reads files of SMILES.
//!
//! A line has a structure in SMILES, then white space and a name. Lines that are empty or begin with `#` are left out. A
//! first line whose first word is `SMILES` in any case is a header.

use lehr_molecules::Molecule;

use super::Made;
use crate::error::{Error, Fault, Faults, Place, quoted};
use crate::fingerprints::Fingerprints;
use crate::read::source::Source;

/// The maximum length of a line, in bytes. A longer line is an error.
const LINE_MAX: usize = 1 << 20;

pub(super) fn read(mut source: Source<'_>, mut made: Made) -> Result<Fingerprints, Error> {
    let name = source.name().to_owned();
    let wrong = |found: &str| Error::Format {
        name: name.clone(),
        expected: "molecules, lines with a structure in SMILES and a name".into(),
        found: found.into(),
    };
    let mut number = 0;
    let mut faults = Faults::new(name.clone());
    while let Some(length) = source.line(number, LINE_MAX, || wrong("a line longer than 1 MiB"))? {
        number += 1;
        let text = source.text(source.window()[..length].trim_ascii(), 0, number)?;
        let (structure, title) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let is_header = number == 1 && structure.eq_ignore_ascii_case("smiles");
        if !text.is_empty() && !text.starts_with('#') && !is_header {
            match add(&mut made, structure, title.trim()) {
                Ok(()) => made.count(&name, length)?,
                Err((expected, found)) => {
                    faults.add_with(|| Fault { place: Place::Line(number), column: None, expected, found });
                }
            }
        }
        source.consume(length);
    }
    faults.or(())?;
    if made.ids.is_empty() {
        return Err(wrong(if number == 0 { "an empty file" } else { "none" }));
    }
    made.finished(name)
}

/// Adds a molecule. Fails with the expected and the found text.
pub(super) fn add(made: &mut Made, structure: &str, title: &str) -> Result<(), (String, String)> {
    let molecule = Molecule::from_smiles(structure).map_err(|fault| {
        let found = format!("{} at character {} of {}", fault.found, fault.position, quoted(structure));
        (format!("SMILES with {}", fault.expected), found)
    })?;
    made.add(&molecule, title, structure.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprints::FingerprintKind;

    fn molecules_from(text: &[u8], name: &str) -> Result<Fingerprints, Error> {
        read(Source::new(text, name)?, Made::new(FingerprintKind::Morgan, u64::MAX))
    }

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
