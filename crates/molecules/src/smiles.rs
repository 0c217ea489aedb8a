//! Reads molecules from SMILES.
//!
//! Source: OpenSMILES 1.0. Stereochemistry is read and left out, because no fingerprint here depends on it. Only a
//! hydrogen that shows the arrangement around a double bond stays an atom for it, as in RDKit.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::assembly::{Hydrogens, Written, Wrong, assembled};
use crate::elements::number;
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

/// A bond of the text.
struct WrittenBond {
    atoms: [usize; 2],
    /// The order; `None` if the text leaves it out.
    order: Option<Order>,
    /// Whether the bond has a direction, `/` or `\\`.
    has_direction: bool,
}

/// A number that opens a ring: the atom, the order of the bond if it is given, and the position.
type Opening = (usize, Option<Order>, usize);

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    atoms: Vec<Written>,
    /// The position of each atom.
    positions: Vec<usize>,
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
        let (atoms, positions, bonds, pairs) = (Vec::new(), Vec::new(), Vec::new(), BTreeSet::new());
        let mut reader = Reader { text: text.as_bytes(), at: 0, atoms, positions, bonds, pairs };
        reader.read()?;
        reader.keep_hydrogens_that_show_an_arrangement();
        let bonds = reader.bonds.iter().map(|bond| reader.finished(bond)).collect();
        assembled(&reader.atoms, bonds).map_err(|wrong| reader.fault(&wrong))
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
        let mut openings: BTreeMap<u16, Opening> = BTreeMap::new();
        // Atoms from which branches start, and the positions of their parentheses.
        let mut branches: Vec<(usize, usize)> = Vec::new();
        let (mut last, mut order, mut has_order): (Option<usize>, Option<Order>, bool) = (None, None, false);
        let mut has_direction = false;
        if self.text.is_empty() {
            return Err(self.error("an atom"));
        }
        while let Some(byte) = self.peek() {
            match byte {
                b'-' | b'=' | b'#' | b'$' | b':' | b'/' | b'\\' if last.is_some() && !has_order => {
                    (order, has_order) = (Some(order_of(byte)), true);
                    has_direction = matches!(byte, b'/' | b'\\');
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
                    (order, has_order, has_direction) = (None, false, false);
                }
                _ => {
                    self.positions.push(self.at);
                    let atom = self.atom()?;
                    self.atoms.push(atom);
                    let new = self.atoms.len() - 1;
                    if let Some(last) = last {
                        self.bonds.push(WrittenBond { atoms: [last, new], order, has_direction });
                        self.pairs.insert([last, new]);
                    }
                    (last, order, has_order, has_direction) = (Some(new), None, false, false);
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

    /// Reads the number of a ring: a digit, `%` and two digits, or `%` and digits in parentheses.
    fn ring_number(&mut self) -> Result<u16, SmilesError> {
        if self.text[self.at..].starts_with(b"%(") {
            self.at += 2;
            let number = self.digits()?.ok_or_else(|| self.error("a digit"))?;
            return if self.take(b')') { Ok(number) } else { Err(self.error("a )")) };
        }
        let digits = if self.take(b'%') { 2 } else { 1 };
        let mut number = 0;
        for _ in 0..digits {
            let digit = self.peek().filter(u8::is_ascii_digit).ok_or_else(|| self.error("a digit"))?;
            number = number * 10 + u16::from(digit - b'0');
            self.at += 1;
        }
        Ok(number)
    }

    fn close(&mut self, atom: usize, other: usize, order: Option<Order>, at: usize) -> Result<(), SmilesError> {
        if atom == other || !self.pairs.insert([atom.min(other), atom.max(other)]) {
            let found = "an atom that is bonded to it already".to_owned();
            return Err(SmilesError { position: at + 1, expected: "another atom to close the ring".to_owned(), found });
        }
        self.bonds.push(WrittenBond { atoms: [other, atom], order, has_direction: false });
        Ok(())
    }

    fn atom(&mut self) -> Result<Written, SmilesError> {
        if self.take(b'[') {
            return self.bracket_atom();
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
        Ok(Written { atom, hydrogens: Hydrogens::Usual { radicals: 0 }, stays: false })
    }

    /// Reads an atom in brackets, after the first one.
    fn bracket_atom(&mut self) -> Result<Written, SmilesError> {
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
        Ok(Written { atom, hydrogens: Hydrogens::Given, stays: false })
    }

    /// Marks hydrogens on a bond with a direction, if the other atom has only a double bond besides.
    fn keep_hydrogens_that_show_an_arrangement(&mut self) {
        let mut bonds_of: BTreeMap<usize, Vec<Option<Order>>> = BTreeMap::new();
        let is_directed = |bond: &&WrittenBond| bond.has_direction;
        bonds_of
            .extend(self.bonds.iter().filter(is_directed).flat_map(|bond| bond.atoms.map(|atom| (atom, Vec::new()))));
        for bond in &self.bonds {
            for atom in bond.atoms {
                bonds_of.entry(atom).and_modify(|orders| orders.push(bond.order));
            }
        }
        for bond in self.bonds.iter().filter(is_directed) {
            for [atom, other] in [bond.atoms, [bond.atoms[1], bond.atoms[0]]] {
                let orders = &bonds_of[&other];
                if self.atoms[atom].atom.number == 1 && orders.len() == 2 && orders.contains(&Some(Order::Double)) {
                    self.atoms[atom].stays = true;
                }
            }
        }
    }

    /// Returns a bond with its order. A bond that the text leaves out is aromatic between two aromatic atoms, and single
    /// otherwise.
    fn finished(&self, bond: &WrittenBond) -> Bond {
        let are_aromatic = bond.atoms.iter().all(|atom| self.atoms[*atom].atom.is_aromatic);
        let order = bond.order.unwrap_or(if are_aromatic { Order::Aromatic } else { Order::Single });
        Bond { atoms: bond.atoms, order }
    }

    fn fault(&self, wrong: &Wrong) -> SmilesError {
        let position = self.positions[wrong.atom()];
        let (expected, found) = match wrong {
            Wrong::OutsideRings { .. } => (
                "a capital letter, because only atoms in rings are aromatic".to_owned(),
                format!("{:?}", char::from(self.text[position])),
            ),
            wrong => wrong.texts(),
        };
        SmilesError { position: position + 1, expected, found }
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
