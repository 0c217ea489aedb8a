//! Patterns in SMARTS, and the search for them in molecules.
//!
//! This is the part of SMARTS that the MACCS keys need. It has lists of elements, `a`, `R`, hydrogens, charge 0, `!`, `,`
//! and `;`. It has all bonds, branches and rings. A [`Search`] tests each atom and each bond of a molecule once. It keeps
//! one bit for the answer to each distinct test of all patterns. So a step of a match compares bits.

use crate::molecule::{Molecule, Order};
use crate::rings::in_rings;

/// A test of an atom.
#[derive(Clone, Debug, PartialEq, Eq)]
enum AtomTest {
    Any,
    Element(u8),
    IsAromatic(bool),
    Hydrogens(u8),
    IsInRing,
    IsNeutral,
    Not(Box<AtomTest>),
    All(Vec<AtomTest>),
    AnyOf(Vec<AtomTest>),
}

/// An atom as tests see it.
struct Seen {
    number: u8,
    is_aromatic: bool,
    hydrogens: u8,
    is_in_ring: bool,
    is_neutral: bool,
}

impl AtomTest {
    fn holds(&self, atom: &Seen) -> bool {
        match self {
            Self::Any => true,
            Self::Element(number) => atom.number == *number,
            Self::IsAromatic(wanted) => atom.is_aromatic == *wanted,
            Self::Hydrogens(count) => atom.hydrogens == *count,
            Self::IsInRing => atom.is_in_ring,
            Self::IsNeutral => atom.is_neutral,
            Self::Not(test) => !test.holds(atom),
            Self::All(tests) => tests.iter().all(|test| test.holds(atom)),
            Self::AnyOf(tests) => tests.iter().any(|test| test.holds(atom)),
        }
    }
}

/// A test of a bond: the orders that pass, as bits of [`order_bit`], and whether the bond must be in a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BondTest {
    orders: u8,
    is_in_ring: Option<bool>,
}

/// The bits of all orders.
const EVERY_ORDER: u8 = 0b1_1111;

fn order_bit(order: Order) -> u8 {
    match order {
        Order::Single => 1,
        Order::Double => 2,
        Order::Triple => 4,
        Order::Quadruple => 8,
        Order::Aromatic => 16,
    }
}

/// The distinct tests of patterns. A test is called by its place.
#[derive(Debug, Default)]
pub struct Tests {
    atoms: Vec<AtomTest>,
    bonds: Vec<BondTest>,
}

/// Returns the place of a value in a list, after adding it if it is new.
fn place<T: PartialEq>(list: &mut Vec<T>, value: T) -> usize {
    list.iter().position(|known| *known == value).unwrap_or_else(|| {
        list.push(value);
        list.len() - 1
    })
}

/// The next atom of a pattern: its test, and the bonds that join it to atoms that have been found.
#[derive(Debug)]
struct Step {
    /// The place of the atom in the text.
    atom: usize,
    test: usize,
    /// The step of the atom at the other end, and the test of the bond.
    bonds: Vec<(usize, usize)>,
}

/// A pattern: the atoms in the order of the search.
#[derive(Debug)]
pub struct Pattern {
    steps: Vec<Step>,
    /// The tests that some atom of a molecule must pass.
    atoms: u64,
    /// The tests that some bond of a molecule must pass.
    bonds: u64,
}

/// The rule by which two matches are different.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// Their atoms differ, as sets.
    Sets,
    /// Their first atoms differ.
    FirstAtoms,
}

impl Tests {
    /// Reads a pattern.
    ///
    /// # Panics
    /// Panics if the text is no pattern of this part of SMARTS. Patterns are constants of this crate.
    pub fn pattern(&mut self, text: &str) -> Pattern {
        let (atoms, bonds) = Reader { text: text.as_bytes(), at: 0 }.read();
        let within = |bond: usize| is_in_cycle(atoms.len(), &bonds, bond);
        // A ring of the pattern can only be a ring of the molecule. Other bonds need not be tried for it.
        let bonds: Vec<_> = (0..bonds.len())
            .map(|bond| {
                let ([a, b], mut test) = bonds[bond];
                if within(bond) {
                    test.is_in_ring = Some(true);
                }
                ([a, b], place(&mut self.bonds, test))
            })
            .collect();
        // The search begins at an atom with a test, and prefers such atoms, because they leave fewer possibilities.
        let mut steps: Vec<Step> = Vec::new();
        while steps.len() < atoms.len() {
            let step_of = |atom: usize| steps.iter().position(|step| step.atom == atom);
            let joined = |atom: usize| -> Vec<(usize, usize)> {
                let ends = bonds.iter().filter(|(ends, _)| ends.contains(&atom));
                ends.filter_map(|([a, b], test)| Some((step_of(if *a == atom { *b } else { *a })?, *test))).collect()
            };
            let open = (0..atoms.len()).filter(|atom| step_of(*atom).is_none());
            let open = open.filter(|atom| steps.is_empty() || !joined(*atom).is_empty());
            let next = open.min_by_key(|atom| atoms[*atom] == AtomTest::Any).expect("patterns have one part");
            let (test, bonds) = (place(&mut self.atoms, atoms[next].clone()), joined(next));
            steps.push(Step { atom: next, test, bonds });
        }
        assert!(self.atoms.len() <= 64 && self.bonds.len() <= 64, "more tests than bits");
        let bits = |tests: &mut dyn Iterator<Item = usize>| tests.fold(0_u64, |bits, test| bits | 1 << test);
        let (atoms, bonds) =
            (bits(&mut steps.iter().map(|step| step.test)), bits(&mut bonds.iter().map(|(_, test)| *test)));
        Pattern { steps, atoms, bonds }
    }
}

/// Returns whether a bond is in a ring of the pattern: its ends are joined without it.
fn is_in_cycle(atoms: usize, bonds: &[([usize; 2], BondTest)], bond: usize) -> bool {
    let [from, to] = bonds[bond].0;
    let mut reached = vec![from];
    let mut next = 0;
    while let Some(&atom) = reached.get(next) {
        next += 1;
        for (other, ([a, b], _)) in bonds.iter().enumerate() {
            let end = if *a == atom { *b } else { *a };
            if other != bond && (*a == atom || *b == atom) && !reached.contains(&end) {
                reached.push(end);
            }
        }
    }
    atoms > 2 && reached.contains(&to)
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or_default()
    }

    fn take(&mut self, wanted: u8) -> bool {
        let is_there = self.peek() == wanted;
        self.at += usize::from(is_there);
        is_there
    }

    fn number(&mut self) -> Option<u8> {
        let rest = &self.text[self.at..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()?;
        self.at += digits;
        Some(number)
    }

    fn read(mut self) -> (Vec<AtomTest>, Vec<([usize; 2], BondTest)>) {
        let (mut atoms, mut bonds) = (Vec::new(), Vec::new());
        let (mut branches, mut last) = (Vec::new(), None);
        let mut openings: Vec<(u8, usize)> = Vec::new();
        while self.at < self.text.len() {
            if self.take(b'(') {
                branches.push(last);
                continue;
            }
            if self.take(b')') {
                last = branches.pop().expect("a branch to close");
                continue;
            }
            let test = self.bond();
            if let Some(ring) = self.number() {
                let atom = last.expect("an atom before a ring");
                match openings.iter().position(|(open, _)| *open == ring) {
                    Some(place) => bonds.push(([openings.swap_remove(place).1, atom], test)),
                    None => openings.push((ring, atom)),
                }
                continue;
            }
            atoms.push(self.atom());
            if let Some(last) = last {
                bonds.push(([last, atoms.len() - 1], test));
            }
            last = Some(atoms.len() - 1);
        }
        assert!(branches.is_empty() && openings.is_empty(), "open branches or rings");
        (atoms, bonds)
    }

    /// Reads a bond. A bond that the text leaves out is single or aromatic.
    fn bond(&mut self) -> BondTest {
        let start = self.at;
        let mut test = BondTest { orders: EVERY_ORDER, is_in_ring: None };
        loop {
            let is_negated = self.take(b'!');
            let orders = match self.peek() {
                b'~' => EVERY_ORDER,
                b'-' => order_bit(Order::Single),
                b'=' => order_bit(Order::Double),
                b'#' => order_bit(Order::Triple),
                b':' => order_bit(Order::Aromatic),
                b'@' => {
                    self.at += 1;
                    test.is_in_ring = Some(!is_negated);
                    continue;
                }
                _ => break,
            };
            self.at += 1;
            test.orders &= if is_negated { !orders } else { orders };
        }
        if self.at == start {
            test.orders = order_bit(Order::Single) | order_bit(Order::Aromatic);
        }
        test
    }

    fn atom(&mut self) -> AtomTest {
        if !self.take(b'[') {
            return self.primitive();
        }
        // `;` binds less than `,`, and `,` less than tests that stand side by side.
        let (mut all, mut any, mut beside) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            let ends = self.peek();
            if matches!(ends, b';' | b',' | b']') {
                any.push(one_or(std::mem::take(&mut beside), AtomTest::All));
                if ends != b',' {
                    all.push(one_or(std::mem::take(&mut any), AtomTest::AnyOf));
                }
                self.at += 1;
                if ends == b']' {
                    return one_or(all, AtomTest::All);
                }
                continue;
            }
            let is_negated = self.take(b'!');
            let test = self.primitive();
            beside.push(if is_negated { AtomTest::Not(Box::new(test)) } else { test });
        }
    }

    fn primitive(&mut self) -> AtomTest {
        let byte = self.peek();
        self.at += 1;
        let element =
            |symbol: &str| AtomTest::Element(crate::elements::number(symbol).expect("the symbol of an element"));
        let of = |symbol: &str, is_aromatic| AtomTest::All(vec![element(symbol), AtomTest::IsAromatic(is_aromatic)]);
        match byte {
            b'*' => AtomTest::Any,
            b'a' => AtomTest::IsAromatic(true),
            b'R' => AtomTest::IsInRing,
            b'H' => AtomTest::Hydrogens(self.number().unwrap_or(1)),
            b'#' => AtomTest::Element(self.number().expect("an atomic number")),
            b'+' if self.number() == Some(0) => AtomTest::IsNeutral,
            b'c' => of("C", true),
            b'n' => of("N", true),
            b'C' if self.take(b'l') => of("Cl", false),
            b'B' if self.take(b'r') => of("Br", false),
            b'C' | b'N' | b'O' | b'F' | b'I' => of(&char::from(byte).to_string(), false),
            _ => panic!("no test of an atom: {:?}", String::from_utf8_lossy(self.text)),
        }
    }
}

/// Returns the only test of a list, or the list as one test.
fn one_or(mut tests: Vec<AtomTest>, list: fn(Vec<AtomTest>) -> AtomTest) -> AtomTest {
    if tests.len() == 1 { tests.remove(0) } else { list(tests) }
}

/// The search for patterns in one molecule.
pub struct Search<'a> {
    molecule: &'a Molecule,
    /// The tests that each atom passes.
    atoms: Vec<u64>,
    /// The tests that each bond passes.
    bonds: Vec<u64>,
    /// The tests that some atom passes, and those that some bond passes.
    some: [u64; 2],
    /// How many atoms may still be tried.
    steps_left: u64,
}

impl<'a> Search<'a> {
    pub fn new(molecule: &'a Molecule, tests: &Tests, steps_max: u64) -> Self {
        let is_in_ring = in_rings(molecule);
        let bits = |passes: &mut dyn Iterator<Item = bool>| {
            passes.enumerate().fold(0_u64, |bits, (test, passes)| bits | u64::from(passes) << test)
        };
        let atoms: Vec<u64> = (0..molecule.atoms.len())
            .map(|atom| {
                let known = &molecule.atoms[atom];
                let neighbours = &molecule.neighbours[atom];
                let beside = neighbours.iter().filter(|(_, other)| molecule.atoms[*other].number == 1).count();
                let seen = Seen {
                    number: known.number,
                    is_aromatic: known.is_aromatic,
                    hydrogens: known.hydrogens.saturating_add(u8::try_from(beside).unwrap_or(u8::MAX)),
                    is_in_ring: neighbours.iter().any(|(bond, _)| is_in_ring[*bond]),
                    is_neutral: known.charge == 0,
                };
                bits(&mut tests.atoms.iter().map(|test| test.holds(&seen)))
            })
            .collect();
        let bonds: Vec<u64> = (molecule.bonds.iter().zip(&is_in_ring))
            .map(|(bond, is_in_ring)| {
                bits(&mut tests.bonds.iter().map(|test| {
                    test.orders & order_bit(bond.order) > 0
                        && test.is_in_ring.is_none_or(|wanted| wanted == *is_in_ring)
                }))
            })
            .collect();
        let some = [&atoms, &bonds].map(|bits| bits.iter().fold(0, |all, bits| all | bits));
        Self { molecule, atoms, bonds, some, steps_left: steps_max }
    }

    /// Returns the number of matches of any of the patterns, or `enough` if there are at least as many. Returns `None`
    /// if the search takes too many steps.
    pub fn count(&mut self, patterns: &[Pattern], counts: Counts, enough: usize) -> Option<usize> {
        let mut found = Found { counts, enough, matches: Vec::new(), count: 0 };
        for pattern in patterns {
            if pattern.atoms & !self.some[0] != 0 || pattern.bonds & !self.some[1] != 0 {
                continue;
            }
            let mut chosen = [usize::MAX; ATOMS_MAX];
            for atom in 0..self.atoms.len() {
                if self.extend(pattern, 0, atom, &mut chosen, &mut found) {
                    return Some(enough);
                }
                if self.steps_left == 0 {
                    return None;
                }
            }
        }
        Some(found.count)
    }

    /// Tries an atom for a step of a pattern, and then all possibilities for the later steps. Returns whether enough
    /// matches are found, or no steps are left.
    fn extend(
        &mut self,
        pattern: &Pattern,
        step: usize,
        atom: usize,
        chosen: &mut [usize; ATOMS_MAX],
        found: &mut Found,
    ) -> bool {
        let Step { test, ref bonds, .. } = pattern.steps[step];
        if self.atoms[atom] >> test & 1 == 0 || chosen[..step].contains(&atom) {
            return false;
        }
        let molecule = self.molecule;
        // The first bond led here; further bonds close rings.
        let are_closed = bonds.iter().skip(1).all(|(other, test)| {
            let is_bond = |(bond, end): &(usize, usize)| *end == chosen[*other] && self.bonds[*bond] >> test & 1 == 1;
            molecule.neighbours[atom].iter().any(is_bond)
        });
        if !are_closed {
            return false;
        }
        chosen[step] = atom;
        let Some(next) = pattern.steps.get(step + 1) else { return found.add(pattern, chosen) };
        let (from, test) = next.bonds[0];
        for &(bond, other) in &molecule.neighbours[chosen[from]] {
            if self.steps_left == 0 {
                return false;
            }
            self.steps_left -= 1;
            if self.bonds[bond] >> test & 1 == 1 && self.extend(pattern, step + 1, other, chosen, found) {
                return true;
            }
        }
        false
    }
}

/// The maximum number of atoms of a pattern.
const ATOMS_MAX: usize = 14;

/// Distinct matches.
struct Found {
    counts: Counts,
    enough: usize,
    matches: Vec<Vec<usize>>,
    count: usize,
}

impl Found {
    /// Adds a match. Returns whether there are enough.
    fn add(&mut self, pattern: &Pattern, chosen: &[usize; ATOMS_MAX]) -> bool {
        if self.enough > 1 {
            let steps = pattern.steps.iter().zip(chosen);
            let mut atoms: Vec<usize> = match self.counts {
                Counts::Sets => steps.map(|(_, atom)| *atom).collect(),
                Counts::FirstAtoms => steps.filter(|(step, _)| step.atom == 0).map(|(_, atom)| *atom).collect(),
            };
            atoms.sort_unstable();
            if self.matches.contains(&atoms) {
                return false;
            }
            self.matches.push(atoms);
        }
        self.count += 1;
        self.count >= self.enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(pattern: &str, smiles: &str, counts: Counts) -> usize {
        let mut tests = Tests::default();
        let pattern = tests.pattern(pattern);
        let molecule = Molecule::from_smiles(smiles).unwrap();
        Search::new(&molecule, &tests, 10_000).count(&[pattern], counts, 100).unwrap()
    }

    #[test]
    fn a_pattern_is_found_as_often_as_it_has_different_atoms() {
        for (pattern, smiles, expected) in [
            // Two bonds, each of which fits in both directions.
            ("[#6]~[#6]", "CCC", 2),
            ("[#6]", "CCO", 2),
            ("[CH3]", "CCO", 1),
            ("[C;H2,H3]", "CCO", 2),
            ("[!#6!#1]", "CCO", 1),
            ("[!#6;!#1;!H0]", "COCO", 1),
            ("[#7,#8]=*", "N=CC=O", 2),
            ("[!+0]", "[NH4+].[Cl-]", 2),
            ("[F,Cl,Br,I]", "FCCl", 2),
            // Six atoms in a ring are one match, however many beginnings and directions it has.
            ("*1~*~*~*~*~*~1", "C1CCCCC1", 1),
            ("*1~*~*~*~*~*~1", "CCCCCC", 0),
            ("*1~*~*~1", "C1CC1C1CC1", 2),
            ("a", "c1ccccc1C", 6),
            ("c:n", "c1ccncc1", 2),
            ("[#6]-[#6]", "c1ccccc1C", 1),
            ("[#6][#6]", "c1ccccc1C", 7),
            ("*!@*", "c1ccccc1C", 1),
            ("*!:*", "c1ccccc1C=C", 2),
            ("*@*", "C1CC1C", 3),
            ("[#8]~[#7](~[#6])~[#6]", "CN(C)O", 1),
            ("[R]", "C1CC1C", 3),
            ("[#6]=@[#6]", "C1=CC1C=C", 1),
        ] {
            assert_eq!(count(pattern, smiles, Counts::Sets), expected, "{pattern} in {smiles}");
        }
        assert_eq!(count("*~[#8]", "COC", Counts::Sets), 2);
        assert_eq!(count("[#8]~*", "COC", Counts::FirstAtoms), 1);
        // The search begins at the atom with a test, but the first atom is the first of the text.
        assert_eq!(count("*~[#8]", "COC", Counts::FirstAtoms), 2);
    }

    #[test]
    fn a_search_without_end_is_given_up() {
        let mut tests = Tests::default();
        let pattern = [tests.pattern("[#8]~*~*~*~[#8]")];
        let molecule = Molecule::from_smiles(&format!("[Fe]{}", "(O)".repeat(50))).unwrap();
        assert_eq!(Search::new(&molecule, &tests, 1_000).count(&pattern, Counts::Sets, 1), None);
        assert_eq!(Search::new(&molecule, &tests, 1_000_000).count(&pattern, Counts::Sets, 1), Some(0));
    }
}
