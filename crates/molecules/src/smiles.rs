//! Reads molecules from SMILES.
//!
//! Source: OpenSMILES 1.0. Stereochemistry is read and left out, because no fingerprint here depends on it. A hydrogen
//! that is written as an atom becomes a hydrogen of its neighbour. Nitro groups and azides with five bonds at a
//! nitrogen get charges, as RDKit writes them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::aromaticity;
use crate::elements::{number, valences};
use crate::molecule::{Atom, Bond, Molecule, Order};

/// A fault in a SMILES text.
///
/// # Example
/// ```
/// use lehr_molecules::Molecule;
/// let fault = Molecule::from_smiles("CC(C").unwrap_err();
/// assert_eq!(fault.to_string(), "character 3: expected a ) for this (, found the end of the text");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmilesError {
    /// The position in the text, from 1.
    pub position: usize,
    /// The expected text.
    pub expected: String,
    /// The text found instead.
    pub found: String,
}

impl fmt::Display for SmilesError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "character {}: expected {}, found {}", self.position, self.expected, self.found)
    }
}

impl std::error::Error for SmilesError {}

/// The maximum number of atoms in rings that share bonds. The time for finding rings grows with its cube.
const RING_ATOMS_MAX: usize = 400;

/// An atom of the text.
struct Written {
    atom: Atom,
    /// Whether the text says how many hydrogens the atom has.
    is_bracket: bool,
    /// The position in the text.
    position: usize,
}

/// A bond of the text.
struct WrittenBond {
    atoms: [usize; 2],
    /// The order; `None` if the text leaves it out.
    order: Option<Order>,
}

/// A number that opens a ring: the atom, the order of the bond if it is given, and the position.
type Opening = (usize, Option<Order>, usize);

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    atoms: Vec<Written>,
    bonds: Vec<WrittenBond>,
    /// The pairs of atoms that are bonded, the smaller index first.
    pairs: BTreeSet<[usize; 2]>,
}

impl Molecule {
    /// Reads a molecule from SMILES. Afterwards bonds of aromatic rings have the order [`Order::Aromatic`], whether the
    /// text has small letters or alternating double bonds there.
    ///
    /// # Errors
    /// Returns the first fault of the text, such as an unknown element, an open ring, or a carbon with five bonds.
    ///
    /// # Example
    /// See [`Molecule`].
    pub fn from_smiles(text: &str) -> Result<Self, SmilesError> {
        let (atoms, bonds, pairs) = (Vec::new(), Vec::new(), BTreeSet::new());
        let mut reader = Reader { text: text.as_bytes(), at: 0, atoms, bonds, pairs };
        reader.read()?;
        let Reader { atoms, bonds, .. } = reader;
        assembled(text.as_bytes(), &atoms, &bonds)
    }
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn take(&mut self, wanted: u8) -> bool {
        let is_there = self.peek() == Some(wanted);
        self.at += usize::from(is_there);
        is_there
    }

    fn error(&self, expected: &str) -> SmilesError {
        let found = match self.text.get(self.at..) {
            None | Some([]) => "the end of the text".to_owned(),
            Some(rest) => {
                let text = String::from_utf8_lossy(rest);
                format!("{:?}", text.chars().next().unwrap_or_default())
            }
        };
        SmilesError { position: self.at + 1, expected: expected.to_owned(), found }
    }

    fn read(&mut self) -> Result<(), SmilesError> {
        let mut openings: BTreeMap<u8, Opening> = BTreeMap::new();
        // Atoms from which branches start, and the positions of their parentheses.
        let mut branches: Vec<(usize, usize)> = Vec::new();
        let (mut last, mut order, mut has_order): (Option<usize>, Option<Order>, bool) = (None, None, false);
        if self.text.is_empty() {
            return Err(self.error("an atom"));
        }
        while let Some(byte) = self.peek() {
            match byte {
                b'-' | b'=' | b'#' | b'$' | b':' | b'/' | b'\\' if last.is_some() && !has_order => {
                    (order, has_order) = (Some(order_of(byte)), true);
                    self.at += 1;
                }
                b'.' if last.is_some() && !has_order => {
                    last = None;
                    self.at += 1;
                }
                b'(' if !has_order => {
                    branches.push((last.ok_or_else(|| self.error("an atom before a branch"))?, self.at));
                    self.at += 1;
                }
                b')' if !has_order && !branches.is_empty() => {
                    last = branches.pop().map(|(atom, _)| atom);
                    self.at += 1;
                }
                b'0'..=b'9' | b'%' => {
                    let atom = last.ok_or_else(|| self.error("an atom before the number of a ring"))?;
                    let position = self.at;
                    let ring = self.ring_number()?;
                    match openings.remove(&ring) {
                        None => {
                            openings.insert(ring, (atom, order, position));
                        }
                        Some((other, before, _)) => self.close(atom, other, order.or(before), position)?,
                    }
                    (order, has_order) = (None, false);
                }
                _ => {
                    let atom = self.atom()?;
                    self.atoms.push(atom);
                    let new = self.atoms.len() - 1;
                    if let Some(last) = last {
                        self.bonds.push(WrittenBond { atoms: [last, new], order });
                        self.pairs.insert([last, new]);
                    }
                    (last, order, has_order) = (Some(new), None, false);
                }
            }
        }
        if has_order || last.is_none() {
            return Err(self.error("an atom"));
        }
        if let Some((_, position)) = branches.pop() {
            let found = "the end of the text".to_owned();
            return Err(SmilesError { position: position + 1, expected: "a ) for this (".to_owned(), found });
        }
        if let Some((ring, (.., position))) = openings.pop_first() {
            let found = "only one".to_owned();
            let expected = format!("the ring number {ring} at two atoms");
            return Err(SmilesError { position: position + 1, expected, found });
        }
        Ok(())
    }

    fn ring_number(&mut self) -> Result<u8, SmilesError> {
        let digits = if self.take(b'%') { 2 } else { 1 };
        let mut number = 0;
        for _ in 0..digits {
            let digit = self.peek().filter(u8::is_ascii_digit).ok_or_else(|| self.error("a digit"))?;
            number = number * 10 + digit - b'0';
            self.at += 1;
        }
        Ok(number)
    }

    fn close(&mut self, atom: usize, other: usize, order: Option<Order>, at: usize) -> Result<(), SmilesError> {
        if atom == other || !self.pairs.insert([atom.min(other), atom.max(other)]) {
            let found = "an atom that is bonded to it already".to_owned();
            return Err(SmilesError { position: at + 1, expected: "another atom to close the ring".to_owned(), found });
        }
        self.bonds.push(WrittenBond { atoms: [other, atom], order });
        Ok(())
    }

    fn atom(&mut self) -> Result<Written, SmilesError> {
        let position = self.at;
        if self.take(b'[') {
            return self.bracket_atom(position);
        }
        let rest = &self.text[self.at..];
        let (symbol, length) = match rest {
            [b'C', b'l', ..] => ("Cl", 2),
            [b'B', b'r', ..] => ("Br", 2),
            [b'*', ..] => ("*", 1),
            [
                byte
                @ (b'B' | b'C' | b'N' | b'O' | b'P' | b'S' | b'F' | b'I' | b'b' | b'c' | b'n' | b'o' | b'p' | b's'),
                ..,
            ] => (
                ["B", "C", "N", "O", "P", "S", "F", "I"]
                    [b"BCNOPSFI".iter().position(|known| *known == byte.to_ascii_uppercase()).unwrap_or_default()],
                1,
            ),
            _ => return Err(self.error("an atom")),
        };
        let is_aromatic = rest[0].is_ascii_lowercase();
        self.at += length;
        let number = number(symbol).unwrap_or_default();
        let atom = Atom { number, charge: 0, isotope: None, hydrogens: 0, is_aromatic };
        Ok(Written { atom, is_bracket: false, position })
    }

    /// Reads an atom in brackets, after the first one.
    fn bracket_atom(&mut self, position: usize) -> Result<Written, SmilesError> {
        let isotope = self.digits()?;
        let rest = &self.text[self.at..];
        let letters = rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count().min(2);
        let named = |length: usize| {
            let text = std::str::from_utf8(&rest[..length]).ok()?;
            let mut symbol = text.to_owned();
            symbol[..1].make_ascii_uppercase();
            let is_aromatic = rest[0].is_ascii_lowercase();
            let can_be = !is_aromatic || ["b", "c", "n", "o", "p", "s", "se", "as", "te", "si"].contains(&text);
            number(&symbol).filter(|_| can_be).map(|number| (number, is_aromatic, length))
        };
        let starts = if rest.first() == Some(&b'*') { Some((0, false, 1)) } else { None };
        let longest_first = (1..=letters).rev();
        let found = starts.or_else(|| longest_first.filter_map(named).next());
        let (number, is_aromatic, length) = found.ok_or_else(|| self.error("an element"))?;
        self.at += length;
        while self.take(b'@') {}
        for class in ["TH", "AL", "SP", "TB", "OH"] {
            if self.text[self.at..].starts_with(class.as_bytes()) && self.text[self.at - 1] == b'@' {
                self.at += 2;
                self.digits()?;
            }
        }
        let hydrogens = if self.take(b'H') { self.digits()?.unwrap_or(1) } else { 0 };
        let hydrogens = u8::try_from(hydrogens).map_err(|_| self.error("fewer hydrogens"))?;
        let mut charge = 0_i32;
        while let Some(sign @ (b'+' | b'-')) = self.peek() {
            self.at += 1;
            let one = if sign == b'+' { 1 } else { -1 };
            charge += one * i32::from(self.digits()?.unwrap_or(1));
        }
        let charge = i8::try_from(charge).map_err(|_| self.error("a smaller charge"))?;
        if self.take(b':') {
            self.digits()?.ok_or_else(|| self.error("a number"))?;
        }
        if !self.take(b']') {
            return Err(self.error("a ]"));
        }
        let atom = Atom { number, charge, isotope, hydrogens, is_aromatic };
        Ok(Written { atom, is_bracket: true, position })
    }

    fn digits(&mut self) -> Result<Option<u16>, SmilesError> {
        let mut number: Option<u16> = None;
        while let Some(digit) = self.peek().filter(u8::is_ascii_digit) {
            let longer = number.unwrap_or(0).checked_mul(10).and_then(|ten| ten.checked_add(u16::from(digit - b'0')));
            number = Some(longer.ok_or_else(|| self.error("a number of at most four digits"))?);
            self.at += 1;
        }
        Ok(number)
    }
}

fn order_of(byte: u8) -> Order {
    match byte {
        b'=' => Order::Double,
        b'#' => Order::Triple,
        b'$' => Order::Quadruple,
        b':' => Order::Aromatic,
        _ => Order::Single,
    }
}

/// Puts a molecule together: orders, hydrogens, charges of nitro groups, and aromatic rings.
fn assembled(text: &[u8], atoms: &[Written], bonds: &[WrittenBond]) -> Result<Molecule, SmilesError> {
    // A bond that the text leaves out is aromatic between two aromatic atoms, and single otherwise.
    let order = |bond: &WrittenBond| {
        let are_aromatic = bond.atoms.iter().all(|atom| atoms[*atom].atom.is_aromatic);
        bond.order.unwrap_or(if are_aromatic { Order::Aromatic } else { Order::Single })
    };
    let bonds = bonds.iter().map(|bond| Bond { atoms: bond.atoms, order: order(bond) }).collect();
    let mut molecule = Molecule::new(atoms.iter().map(|written| written.atom.clone()).collect(), bonds);
    let is_in_ring = crate::rings::in_rings(&molecule);
    for (bond, is_in_ring) in molecule.bonds.iter_mut().zip(&is_in_ring) {
        if bond.order == Order::Aromatic && !is_in_ring {
            bond.order = Order::Single;
        }
    }
    let (largest, size) = crate::rings::largest_system(&molecule, &is_in_ring);
    if size > RING_ATOMS_MAX {
        let (expected, found) =
            (format!("rings that share bonds to have at most {RING_ATOMS_MAX} atoms"), size.to_string());
        return Err(SmilesError { position: atoms[largest].position + 1, expected, found });
    }
    let is_in_a_ring = |atom: usize| molecule.neighbours[atom].iter().any(|(bond, _)| is_in_ring[*bond]);
    if let Some(atom) = (0..atoms.len()).find(|atom| molecule.atoms[*atom].is_aromatic && !is_in_a_ring(*atom)) {
        let expected = "a capital letter, because only atoms in rings are aromatic".to_owned();
        let found = format!("{:?}", char::from(text[atoms[atom].position]));
        return Err(SmilesError { position: atoms[atom].position + 1, expected, found });
    }
    give_charges(&mut molecule);
    for (atom, written) in atoms.iter().enumerate() {
        if !written.is_bracket {
            molecule.atoms[atom].hydrogens = implicit(&molecule, atom).ok_or_else(|| {
                let found = format!("bonds with {} pairs of electrons", molecule.pairs(atom));
                let expected =
                    format!("an atom with at most {} bonds", valences(written.atom.number).last().unwrap_or(&0));
                SmilesError { position: written.position + 1, expected, found }
            })?;
        }
    }
    let mut molecule = without_hydrogen_atoms(&molecule);
    aromaticity::place_double_bonds(&mut molecule).map_err(|atom| {
        let expected = "an aromatic ring with alternating double bonds".to_owned();
        let position = atoms.get(atom).map_or(1, |written| written.position + 1);
        SmilesError { position, expected, found: "atoms that cannot have them".to_owned() }
    })?;
    aromaticity::perceive(&mut molecule);
    Ok(molecule)
}

/// Returns the number of hydrogens that fill the valence of an atom outside brackets; `None` if it has too many bonds.
fn implicit(molecule: &Molecule, atom: usize) -> Option<u8> {
    let Atom { number, charge, is_aromatic, .. } = molecule.atoms[atom];
    if number == 0 {
        return Some(0);
    }
    // Twice the sum of the orders, in which an aromatic bond counts one and a half.
    let twice: u8 = molecule.neighbours[atom]
        .iter()
        .map(|(bond, _)| match molecule.bonds[*bond].order {
            Order::Aromatic => 3,
            order => 2 * order.pairs(),
        })
        .sum();
    // A charge comes only from `give_charges`, which leaves no place for hydrogens.
    if charge != 0 {
        return Some(0);
    }
    if is_aromatic {
        return Some(valences(number)[0].saturating_sub(twice.div_ceil(2)));
    }
    let sum = twice.div_ceil(2);
    valences(number).iter().find(|valence| **valence >= sum).map(|valence| valence - sum)
}

/// Gives charges to nitrogens with five bonds: `N(=O)=O` becomes `[N+](=O)[O-]`, and `N=N#N` becomes `N=[N+]=[N-]`.
fn give_charges(molecule: &mut Molecule) {
    for atom in 0..molecule.atoms.len() {
        let is_nitrogen = |atom: &Atom| atom.number == 7 && atom.charge == 0;
        if !is_nitrogen(&molecule.atoms[atom]) || molecule.pairs(atom) != 5 || molecule.atoms[atom].is_aromatic {
            continue;
        }
        let neighbours = molecule.neighbours[atom].clone();
        let end = |molecule: &Molecule, number: u8, order: Order| {
            let is_end = |(bond, other): &&(usize, usize)| {
                let neighbour = &molecule.atoms[*other];
                molecule.bonds[*bond].order == order && neighbour.number == number && neighbour.charge == 0
            };
            neighbours.iter().find(is_end).copied()
        };
        let found = end(molecule, 8, Order::Double).map(|end| (end, Order::Single));
        let found = found.or_else(|| end(molecule, 7, Order::Triple).map(|end| (end, Order::Double)));
        if let Some(((bond, other), order)) = found {
            molecule.bonds[bond].order = order;
            molecule.atoms[atom].charge = 1;
            molecule.atoms[other].charge = -1;
        }
    }
}

/// Returns the molecule without the hydrogens that are written as atoms and bonded to one heavy atom.
fn without_hydrogen_atoms(molecule: &Molecule) -> Molecule {
    let heavy = |atom: usize| molecule.atoms[atom].number != 1;
    let is_plain = |atom: usize| {
        let Atom { number, charge, isotope, hydrogens, .. } = &molecule.atoms[atom];
        let has_heavy = molecule.neighbours[atom].len() == 1 && heavy(molecule.neighbours[atom][0].1);
        let is_single = || molecule.bonds[molecule.neighbours[atom][0].0].order == Order::Single;
        *number == 1 && *charge == 0 && isotope.is_none() && *hydrogens == 0 && has_heavy && is_single()
    };
    let kept: Vec<usize> = (0..molecule.atoms.len()).filter(|atom| !is_plain(*atom)).collect();
    let place: BTreeMap<usize, usize> = kept.iter().copied().zip(0..).collect();
    let mut atoms: Vec<Atom> = kept.iter().map(|atom| molecule.atoms[*atom].clone()).collect();
    let mut bonds = Vec::new();
    for bond in &molecule.bonds {
        let [a, b] = bond.atoms;
        match (place.get(&a), place.get(&b)) {
            (Some(a), Some(b)) => bonds.push(Bond { atoms: [*a, *b], order: bond.order }),
            (Some(heavy), None) | (None, Some(heavy)) => atoms[*heavy].hydrogens += 1,
            (None, None) => {}
        }
    }
    Molecule::new(atoms, bonds)
}
