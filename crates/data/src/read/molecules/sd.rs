//! Reads SD files: mol files with fields of data, one after the other.
//!
//! Source: "CTfile Formats", BIOVIA 2020. An entry ends with `$$$$`. Its first line is the title of the molecule. After
//! `M  END`, a line such as `> <NAME>` begins a field, and an empty line ends its value. A single mol file is an SD file
//! with one entry and no fields.

use std::collections::BTreeMap;

use lehr_molecules::Molecule;

use super::{Compounds, Made};
use crate::error::{Error, Fault, Faults, Place, quoted};
use crate::read::source::Source;

/// The longest line, in bytes.
const LINE_MAX: usize = 1 << 20;

/// The longest structure, in bytes.
const STRUCTURE_MAX: usize = 16 << 20;

/// The maximum number of different fields. Each takes memory for every molecule.
const FIELDS_MAX: usize = 1_000;

/// The maximum number of values of all fields and molecules, with the empty ones.
const VALUES_MAX: usize = 20_000_000;

/// An entry that is being read.
#[derive(Default)]
struct Entry {
    /// The number of lines before the entry.
    before: u64,
    structure: String,
    /// Whether the structure has ended.
    has_structure: bool,
    /// Whether the structure is longer than allowed.
    is_long: bool,
    /// The field whose value is being read.
    open: Option<(String, String)>,
    fields: BTreeMap<String, String>,
    fault: Option<Wrong>,
}

/// A line of the file, the expected and the found text.
type Wrong = (u64, String, String);

/// Reads an SD file. Its fields are checked, and returned only if they are wanted.
pub(super) fn read(mut source: Source<'_>, mut made: Made, with_fields: bool) -> Result<Compounds, Error> {
    let name = source.name().to_owned();
    let wrong = |found: &str| Error::Format {
        name: name.clone(),
        expected: "an SD file with molecules and at most 1,000 different fields".into(),
        found: found.into(),
    };
    let (mut fields, mut faults) = (Fields::default(), Faults::new(name.clone()));
    let (mut number, mut entry) = (0, Entry::default());
    loop {
        let length = source.line(number, LINE_MAX, || wrong("a line longer than 1 MiB"))?;
        let line = match length {
            Some(length) => source.text(source.window()[..length].trim_ascii_end(), 0, number + 1)?,
            // What follows the last end of an entry may be white space only.
            None if entry.is_empty() => break,
            None => "$$$$",
        };
        // The end of the file ends its last line.
        number += u64::from(length.is_some());
        if line == "$$$$" {
            let entry = std::mem::replace(&mut entry, Entry { before: number, ..Entry::default() });
            match entry.finished(number, &mut made) {
                Ok(found) => {
                    made.count(&name, found.values().map(String::len).sum())?;
                    if with_fields && !fields.add(made.ids.len() - 1, found) {
                        return Err(wrong("more"));
                    }
                }
                Err((line, expected, found)) => {
                    faults.add_with(|| Fault { place: Place::Line(line), column: None, expected, found });
                }
            }
        } else {
            entry.add(number, line);
        }
        let Some(length) = length else { break };
        source.consume(length);
    }
    faults.or(())?;
    if made.ids.is_empty() {
        return Err(wrong("an empty file"));
    }
    let rows = made.ids.len();
    if fields.names.len() * rows > VALUES_MAX {
        return Err(Error::Format {
            name: name.clone(),
            expected: "at most 20,000,000 values: the number of different fields times that of molecules".into(),
            found: format!("{} fields and {rows} molecules", fields.names.len()),
        });
    }
    let fields = fields.finished(rows);
    Ok(Compounds { fingerprints: made.finished(name)?, fields })
}

impl Entry {
    fn is_empty(&self) -> bool {
        !self.has_structure && self.structure.trim().is_empty()
    }

    /// Adds a line.
    fn add(&mut self, number: u64, line: &str) {
        if !self.has_structure {
            if self.structure.len() + line.len() < STRUCTURE_MAX {
                self.structure.push_str(line);
                self.structure.push('\n');
            } else {
                self.is_long = true;
                self.note(number, "a structure of at most 16 MiB", "more");
            }
            self.has_structure = line == "M  END";
            return;
        }
        // Some programs leave out the empty line after a value.
        if self.open.is_some() && field_name(line).is_some() {
            self.close(number);
        }
        match &mut self.open {
            Some(_) if line.is_empty() => self.close(number),
            Some((_, value)) => {
                if !value.is_empty() {
                    value.push('\n');
                }
                value.push_str(line);
            }
            None if line.is_empty() => {}
            None => match field_name(line) {
                Some(name) => self.open = Some((name.to_owned(), String::new())),
                None => self.note(number, "a field such as > <NAME>, or $$$$", &quoted(line)),
            },
        }
    }

    /// Ends the field whose value is being read.
    fn close(&mut self, number: u64) {
        if let Some((name, value)) = self.open.take()
            && let Some(_) = self.fields.insert(name.clone(), value)
        {
            self.note(number, "each field once in a molecule", &format!("another field {}", quoted(&name)));
        }
    }

    /// Notes a fault, if it is the first of the entry.
    fn note(&mut self, number: u64, expected: &str, found: &str) {
        self.fault.get_or_insert((number, expected.to_owned(), found.to_owned()));
    }

    /// Makes the fingerprint of the molecule, and returns its fields.
    fn finished(mut self, number: u64, made: &mut Made) -> Result<BTreeMap<String, String>, Wrong> {
        self.close(number);
        if self.is_long
            && let Some(fault) = self.fault
        {
            return Err(fault);
        }
        let line = |line: usize| self.before + line as u64;
        let molecule =
            Molecule::from_molfile(&self.structure).map_err(|fault| (line(fault.line), fault.expected, fault.found))?;
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let title = self.structure.lines().next().unwrap_or_default().trim();
        let added = made.add(&molecule, title, molecule.to_smiles());
        added.map(|()| self.fields).map_err(|(expected, found)| (self.before + 1, expected, found))
    }
}

/// Returns the name in a line such as `> 25 <NAME> (ID)`.
fn field_name(line: &str) -> Option<&str> {
    let (_, rest) = line.strip_prefix('>')?.split_once('<')?;
    let (name, _) = rest.split_once('>')?;
    Some(name.trim()).filter(|name| !name.is_empty())
}

/// The fields of all molecules.
#[derive(Default)]
struct Fields {
    places: BTreeMap<String, usize>,
    names: Vec<String>,
    /// For each field, the molecules that have it, and its value.
    values: Vec<Vec<(usize, String)>>,
}

impl Fields {
    /// Adds the fields of a molecule. Returns whether there are few enough.
    fn add(&mut self, row: usize, fields: BTreeMap<String, String>) -> bool {
        for (name, value) in fields {
            let place = *self.places.entry(name).or_insert_with_key(|name| {
                self.names.push(name.clone());
                self.values.push(Vec::new());
                self.names.len() - 1
            });
            self.values[place].push((row, value));
        }
        self.names.len() <= FIELDS_MAX
    }

    fn finished(self, rows: usize) -> Vec<(String, Vec<String>)> {
        let filled = |values: Vec<(usize, String)>| {
            let mut all = vec![String::new(); rows];
            values.into_iter().for_each(|(row, value)| all[row] = value);
            all
        };
        self.names.into_iter().zip(self.values.into_iter().map(filled)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprints::FingerprintKind;

    const METHANOL: &str = "methanol\n  by hand\n\n  2  1  0  0  0  0  0  0  0  0999 V2000\n    \
        0.0000    0.0000    0.0000 C   0  0\n    1.4000    0.0000    0.0000 O   0  0\n  1  2  1  0\nM  END\n";

    fn compounds(text: &str) -> Result<Compounds, Error> {
        read(Source::new(text.as_bytes(), "c.sdf")?, Made::new(FingerprintKind::Maccs, u64::MAX), true)
    }

    #[test]
    fn titles_and_fields_are_kept_beside_structures() {
        let untitled = METHANOL.replace("methanol", "").replace(" O ", " N ");
        let text = format!(
            "{METHANOL}> <MW>\n32.04\n\n>  25 <NOTE> (M1)\nfirst line\nsecond > line\n\n$$$$\n\
             {untitled}>  <boils at>\r\n-6\r\n\r\n$$$$\n{METHANOL}\n\n"
        );
        let read = compounds(&text).unwrap();
        let prints = &read.fingerprints;
        assert_eq!((prints.ids(), prints.bits()), (&["methanol", "1", "methanol"].map(str::to_owned)[..], 167));
        assert_eq!(prints.smiles().unwrap(), ["CO", "CN", "CO"]);
        assert_eq!(prints.row(0), prints.row(2));
        let texts = |values: [&str; 3]| values.map(str::to_owned).to_vec();
        let expected = [
            ("MW", texts(["32.04", "", ""])),
            ("NOTE", texts(["first line\nsecond > line", "", ""])),
            ("boils at", texts(["", "-6", ""])),
        ];
        assert_eq!(read.fields, expected.map(|(name, values)| (name.to_owned(), values)));
    }

    #[test]
    fn every_molecule_that_cannot_be_read_is_reported_with_its_line() {
        let unknown = METHANOL.replace(" O ", " Xx");
        let text = format!(
            "{unknown}$$$$\n{METHANOL}MW 32\n\n$$$$\n{METHANOL}> <A>\n1\n\n> <A>\n2\n\n$$$$\nwater\n\n\n$$$$\n"
        );
        assert_eq!(
            compounds(&text).unwrap_err().to_string(),
            "c.sdf, line 6: expected an element, * or R, found \"Xx\"\n\
             c.sdf, line 18: expected a field such as > <NAME>, or $$$$, found \"MW 32\"\n\
             c.sdf, line 34: expected each field once in a molecule, found another field \"A\"\n\
             c.sdf, line 39: expected a line of counts, found the end of the molecule\n\
             c.sdf: 4 faults in all"
        );
        // A header ends the value before it, and the end of the entry the last one.
        let text = format!("{METHANOL}> <A>\n1\n> <B> (<5>)\n2\n> <A>\n3\n$$$$\n{METHANOL}");
        assert_eq!(
            compounds(&text).unwrap_err().to_string(),
            "c.sdf, line 15: expected each field once in a molecule, found another field \"A\""
        );
        let read = compounds(&text.replace("> <A>\n3\n", "")).unwrap();
        let fields: Vec<[&str; 2]> = read.fields.iter().map(|(name, texts)| [&**name, &*texts[0]]).collect();
        assert_eq!(fields, [["A", "1"], ["B", "2"]]);
        let nothing = "c.sdf: expected an SD file with molecules and at most 1,000 different fields, found ";
        assert_eq!(compounds("\n\n").unwrap_err().to_string(), format!("{nothing}an empty file"));
        let long = METHANOL.replace("M  END", &"M  ISO  0\n".repeat(STRUCTURE_MAX / 10));
        let fault = compounds(&format!("{long}M  END\n")).unwrap_err().to_string();
        assert!(fault.ends_with("expected a structure of at most 16 MiB, found more"), "{fault}");
        let many: String = (0..1_001).map(|field| format!("> <{field}>\n1\n\n")).collect();
        let many = format!("{METHANOL}{many}$$$$\n");
        assert_eq!(compounds(&many).unwrap_err().to_string(), format!("{nothing}more"));
        let read = super::read(
            Source::new(many.as_bytes(), "c.sdf").unwrap(),
            Made::new(FingerprintKind::Maccs, u64::MAX),
            false,
        )
        .unwrap();
        assert_eq!((read.fingerprints.len(), read.fields), (1, Vec::new()));
        // Each of 1,000 fields takes memory for each of 20,001 molecules.
        let few: String = (0..1_000).map(|field| format!("> <{field}>\n1\n\n")).collect();
        let many = format!("{METHANOL}{few}$$$$\n{}", format!("{METHANOL}$$$$\n").repeat(20_000));
        let fault = compounds(&many).unwrap_err().to_string();
        assert!(fault.ends_with("found 1000 fields and 20001 molecules"), "{fault}");
    }
}
