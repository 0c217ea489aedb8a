//! Reads molecules from mol files, the entries of SD files (V2000 and V3000).
//!
//! Source: "CTfile Formats", BIOVIA 2020. Hydrogens follow RDKit's rules: usual valences decide how many an atom gets,
//! unless the file gives its valence. Coordinates are read only because a hydrogen that shows the arrangement around a
//! double bond stays an atom, as in RDKit. Queries, such as lists of elements, are no molecules and therefore faults.

mod v2000;
mod v3000;

use std::collections::BTreeSet;
use std::fmt;

use crate::assembly::{Hydrogens, Written, assembled};
use crate::elements::number;
use crate::molecule::{Atom, Bond, Molecule, Order};

/// A fault in a mol file.
///
/// # Example
/// ```
/// use lehr_molecules::Molecule;
/// let fault = Molecule::from_molfile("water\n\n\n  1  0\n").unwrap_err();
/// assert_eq!(fault.to_string(), "line 5: expected atom 1 of 1, found the end of the molecule");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MolfileError {
    /// The line, from 1.
    pub line: usize,
    /// The expected text.
    pub expected: String,
    /// The text found instead.
    pub found: String,
}

impl fmt::Display for MolfileError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}: expected {}, found {}", self.line, self.expected, self.found)
    }
}

impl std::error::Error for MolfileError {}

impl Molecule {
    /// Reads a molecule from a mol file: three lines of header, the line of counts, atoms, bonds and properties up to
    /// `M  END`. Text after that is not read. Bonds of aromatic rings have the order [`Order::Aromatic`] afterwards.
    ///
    /// # Errors
    /// Returns the first fault, such as an unknown element or a carbon with five bonds.
    ///
    /// # Example
    /// ```
    /// let text = "methanol\n\n\n  2  1  0  0  0  0  0  0  0  0999 V2000
    ///     0.0000    0.0000    0.0000 C   0  0  0  0  0  0
    ///     1.4000    0.0000    0.0000 O   0  0  0  0  0  0
    ///   1  2  1  0
    /// M  END
    /// ";
    /// # let text = &text.replace("\n    ///", "\n");
    /// let methanol = lehr_molecules::Molecule::from_molfile(text).unwrap();
    /// assert_eq!(methanol.to_smiles(), "CO");
    /// ```
    pub fn from_molfile(text: &str) -> Result<Self, MolfileError> {
        let mut lines = Lines { text: text.lines(), number: 0, at: 0 };
        for _ in 0..3 {
            lines.next("three lines of header and a line of counts")?;
        }
        let counts = lines.next("a line of counts")?;
        match v2000::field(counts, 33, 39) {
            "" | "V2000" => v2000::read(counts, &mut lines)?.finished(),
            "V3000" => v3000::read(&mut lines)?.finished(),
            version => Err(lines.fault("the version V2000 or V3000", &quoted(version))),
        }
    }
}

/// The lines of a molecule.
struct Lines<'a> {
    text: std::str::Lines<'a>,
    /// The number of lines that were read.
    number: usize,
    /// The line of a fault, from 1: the one that was read last, or the first of lines that continue each other.
    at: usize,
}

/// Quotes a text of a file for messages, shortened.
fn quoted(text: &str) -> String {
    const SHOWN: usize = 40;
    match text.char_indices().nth(SHOWN) {
        None => format!("{text:?}"),
        Some((end, _)) => format!("{:?}…", &text[..end]),
    }
}

impl<'a> Lines<'a> {
    fn next(&mut self, expected: &str) -> Result<&'a str, MolfileError> {
        self.number += 1;
        self.at = self.number;
        let line = self.text.next().filter(|line| !line.starts_with("$$$$"));
        line.ok_or_else(|| self.fault(expected, "the end of the molecule"))
    }

    fn fault(&self, expected: &str, found: &str) -> MolfileError {
        MolfileError { line: self.at, expected: expected.to_owned(), found: found.to_owned() }
    }

    /// Reads a number from a field. An empty field is 0.
    fn number<T: std::str::FromStr + Default>(&self, field: &str, what: &str) -> Result<T, MolfileError> {
        if field.is_empty() {
            return Ok(T::default());
        }
        // A sign before a number is allowed.
        let digits = field.strip_prefix('+').unwrap_or(field);
        digits.parse().map_err(|_| self.fault(what, &quoted(field)))
    }
}

/// An atom of the file.
struct Entry {
    written: Written,
    line: usize,
    position: [f64; 3],
}

/// A bond of the file.
struct EntryBond {
    atoms: [usize; 2],
    order: Order,
    /// Whether the arrangement around this bond is unknown.
    is_unclear: bool,
}

/// The atoms and bonds of a file.
#[derive(Default)]
struct Graph {
    atoms: Vec<Entry>,
    bonds: Vec<EntryBond>,
    pairs: BTreeSet<[usize; 2]>,
}

impl Graph {
    /// Adds an atom, of an element in the notation of mol files.
    fn add_atom(&mut self, lines: &Lines<'_>, symbol: &str, position: [f64; 3]) -> Result<&mut Entry, MolfileError> {
        // Some programs write the symbols in capitals.
        let capitalised: String =
            symbol.chars().take(1).chain(symbol.chars().skip(1).map(|letter| letter.to_ascii_lowercase())).collect();
        let is_group =
            symbol.strip_prefix('R').is_some_and(|rest| rest == "#" || rest.bytes().all(|byte| byte.is_ascii_digit()));
        let (number, isotope) = match symbol {
            "D" => (1, Some(2)),
            "T" => (1, Some(3)),
            _ if is_group => (0, None),
            _ => match number(&capitalised) {
                Some(number) => (number, None),
                None => return Err(lines.fault("an element, * or R", &quoted(symbol))),
            },
        };
        let atom = Atom { number, charge: 0, isotope, hydrogens: 0, is_aromatic: false };
        let written = Written { atom, hydrogens: Hydrogens::Usual { radicals: 0 }, stays: false };
        self.atoms.push(Entry { written, line: lines.at, position });
        Ok(self.atoms.last_mut().expect("an atom was added"))
    }

    /// Adds a bond of a type between two places in the list of atoms.
    fn add_bond(&mut self, lines: &Lines<'_>, kind: &str, atoms: [usize; 2]) -> Result<(), MolfileError> {
        let order = match kind {
            "1" => Order::Single,
            "2" => Order::Double,
            "3" => Order::Triple,
            "4" => Order::Aromatic,
            _ => {
                let expected = "a bond of type 1, 2, 3 or 4 (single, double, triple, aromatic)";
                return Err(lines.fault(expected, &quoted(kind)));
            }
        };
        let [a, b] = atoms;
        if a == b || !self.pairs.insert([a.min(b), a.max(b)]) {
            return Err(lines.fault("a bond between atoms that have none yet", &format!("{} and {}", a + 1, b + 1)));
        }
        if order == Order::Aromatic {
            atoms.iter().for_each(|atom| self.atoms[*atom].written.atom.is_aromatic = true);
        }
        self.bonds.push(EntryBond { atoms, order, is_unclear: false });
        Ok(())
    }

    /// Sets the unpaired electrons of an atom, from the code of the file: 1 a singlet, 2 a doublet, 3 a triplet.
    fn set_radical(&mut self, lines: &Lines<'_>, atom: usize, code: u8) -> Result<(), MolfileError> {
        let electrons = match code {
            0 => 0,
            2 => 1,
            1 | 3 => 2,
            _ => return Err(lines.fault("a radical from 0 to 3", &code.to_string())),
        };
        if let Hydrogens::Usual { radicals } = &mut self.atoms[atom].written.hydrogens {
            *radicals = electrons;
        }
        Ok(())
    }

    fn finished(mut self) -> Result<Molecule, MolfileError> {
        if self.atoms.is_empty() {
            let (expected, found) = ("a molecule with atoms".to_owned(), "0 atoms".to_owned());
            return Err(MolfileError { line: 4, expected, found });
        }
        self.keep_hydrogens_that_show_an_arrangement();
        let bonds: Vec<Bond> = self.bonds.iter().map(|bond| Bond { atoms: bond.atoms, order: bond.order }).collect();
        let (written, lines): (Vec<Written>, Vec<usize>) =
            self.atoms.into_iter().map(|entry| (entry.written, entry.line)).unzip();
        assembled(&written, bonds).map_err(|wrong| {
            let (expected, found) = wrong.texts();
            MolfileError { line: lines[wrong.atom()], expected, found }
        })
    }

    /// Marks hydrogens that are the only neighbour beside a double bond. The coordinates must show on which side of the
    /// bond they are.
    fn keep_hydrogens_that_show_an_arrangement(&mut self) {
        let mut bonds_of: Vec<Vec<usize>> = vec![Vec::new(); self.atoms.len()];
        for (bond, EntryBond { atoms, .. }) in self.bonds.iter().enumerate() {
            atoms.iter().for_each(|atom| bonds_of[*atom].push(bond));
        }
        let end = |bond: usize, from: usize| {
            let [a, b] = self.bonds[bond].atoms;
            if a == from { b } else { a }
        };
        let mut staying = Vec::new();
        for (hydrogen, entry) in self.atoms.iter().enumerate() {
            let [bond] = bonds_of[hydrogen][..] else { continue };
            let near = end(bond, hydrogen);
            let [first, second] = bonds_of[near][..] else { continue };
            let double = if first == bond { second } else { first };
            let far = end(double, near);
            let others: Vec<usize> = bonds_of[far].iter().copied().filter(|other| *other != double).collect();
            let is_unclear = |bond: usize, atom: usize| {
                let known = &self.bonds[bond];
                known.is_unclear && (known.order == Order::Double || known.atoms[0] == atom)
            };
            let is_bent =
                |from: usize, at: usize, to: usize| is_bent([from, at, to].map(|atom| self.atoms[atom].position));
            if entry.written.atom.number == 1
                && self.bonds[double].order == Order::Double
                && !is_unclear(double, near)
                && !is_unclear(bond, near)
                && !others.iter().any(|other| is_unclear(*other, far))
                && is_bent(hydrogen, near, far)
                && others
                    .iter()
                    .any(|other| self.bonds[*other].order != Order::Double && is_bent(end(*other, far), far, near))
            {
                staying.push(hydrogen);
            }
        }
        staying.into_iter().for_each(|atom| self.atoms[atom].written.stays = true);
    }
}

/// Returns whether three points are at least two degrees away from a line with the second one in the middle.
fn is_bent([from, at, to]: [[f64; 3]; 3]) -> bool {
    let difference = |end: [f64; 3]| std::array::from_fn::<f64, 3, _>(|axis| end[axis] - at[axis]);
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let (a, b) = (difference(from), difference(to));
    let squares = dot(a, a) * dot(b, b);
    // The cosine of 178 degrees.
    squares >= 1e-6 && dot(a, b) >= -0.999_388 * squares.sqrt()
}
