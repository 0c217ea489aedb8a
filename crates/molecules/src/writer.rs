//! Writes molecules as SMILES, in the order of their atoms. The text is no canonical one: the same molecule with its
//! atoms in another order gets another text.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::assembly::{is_plain_hydrogen, usual};
use crate::elements::symbol;
use crate::molecule::{Atom, Molecule, Order};

/// A part of the text that is still to be written.
enum Part {
    /// An atom, and the bond that leads to it.
    Atom(usize, Option<usize>),
    /// The beginning of a branch.
    Open,
    /// The end of a branch.
    Close,
}

impl Molecule {
    /// Returns a SMILES text of the molecule, without stereochemistry. [`Molecule::from_smiles`] reads the same molecule
    /// from it, with its atoms in another order.
    ///
    /// # Example
    /// ```
    /// let aspirin = lehr_molecules::Molecule::from_smiles("OC(=O)C1=CC=CC=C1OC(C)=O").unwrap();
    /// assert_eq!(aspirin.to_smiles(), "OC(=O)c1ccccc1OC(C)=O");
    /// ```
    pub fn to_smiles(&self) -> String {
        let (branches, closures) = self.spanning_trees();
        let mut text = String::new();
        // The numbers of open rings, and the numbers that may be used again.
        let (mut open, mut free, mut next): (BTreeMap<usize, usize>, Vec<usize>, usize) = Default::default();
        for (root, _) in branches.iter().enumerate().filter(|(_, branch)| branch.is_root) {
            if !text.is_empty() {
                text.push('.');
            }
            let mut parts = vec![Part::Atom(root, None)];
            while let Some(part) = parts.pop() {
                match part {
                    Part::Open => text.push('('),
                    Part::Close => text.push(')'),
                    Part::Atom(atom, bond) => {
                        bond.into_iter().for_each(|bond| text.push_str(self.bond_text(bond)));
                        self.write_atom(atom, &mut text);
                        // Numbers that end here are free only for later atoms.
                        let mut ended = Vec::new();
                        for bond in &closures[atom] {
                            let number = open.remove(bond).inspect(|number| ended.push(*number)).unwrap_or_else(|| {
                                text.push_str(self.bond_text(*bond));
                                let number = free.pop().unwrap_or_else(|| {
                                    next += 1;
                                    next
                                });
                                open.insert(*bond, number);
                                number
                            });
                            let _ = match number {
                                ..10 => write!(text, "{number}"),
                                10..100 => write!(text, "%{number}"),
                                100.. => write!(text, "%({number})"),
                            };
                        }
                        free.extend(ended);
                        free.sort_unstable_by(|a, b| b.cmp(a));
                        for (place, (bond, child)) in branches[atom].children.iter().enumerate().rev() {
                            let is_last = place + 1 == branches[atom].children.len();
                            let part = Part::Atom(*child, Some(*bond));
                            if is_last {
                                parts.push(part);
                            } else {
                                parts.extend([Part::Close, part, Part::Open]);
                            }
                        }
                    }
                }
            }
        }
        text
    }

    /// Returns a tree of bonds for each part of the molecule, and for each atom its bonds outside of the trees.
    fn spanning_trees(&self) -> (Vec<Branch>, Vec<Vec<usize>>) {
        let mut branches: Vec<Branch> = (0..self.atoms.len()).map(|_| Branch::default()).collect();
        let mut closures = vec![Vec::new(); self.atoms.len()];
        let (mut is_seen, mut is_used) = (vec![false; self.atoms.len()], vec![false; self.bonds.len()]);
        for root in 0..self.atoms.len() {
            if is_seen[root] {
                continue;
            }
            (branches[root].is_root, is_seen[root]) = (true, true);
            let mut stack = vec![(root, 0)];
            while let Some((atom, place)) = stack.pop() {
                let Some(&(bond, other)) = self.neighbours[atom].get(place) else { continue };
                stack.push((atom, place + 1));
                if std::mem::replace(&mut is_used[bond], true) {
                    continue;
                }
                if std::mem::replace(&mut is_seen[other], true) {
                    closures[atom].push(bond);
                    closures[other].push(bond);
                } else {
                    branches[atom].children.push((bond, other));
                    stack.push((other, 0));
                }
            }
        }
        (branches, closures)
    }

    /// Returns the symbol of a bond; empty if it need not be written.
    fn bond_text(&self, bond: usize) -> &'static str {
        let bond = &self.bonds[bond];
        let are_small = bond.atoms.iter().all(|atom| is_small(&self.atoms[*atom]));
        match bond.order {
            Order::Single if are_small => "-",
            // A reader would leave out a hydrogen that is an atom, unless its bond has a direction.
            Order::Single if bond.atoms.iter().any(|atom| is_plain_hydrogen(self, *atom)) => "/",
            Order::Single => "",
            Order::Double => "=",
            Order::Triple => "#",
            Order::Quadruple => "$",
            Order::Aromatic if are_small => "",
            Order::Aromatic => ":",
        }
    }

    fn write_atom(&self, place: usize, text: &mut String) {
        let atom = &self.atoms[place];
        let mut name = symbol(atom.number).to_owned();
        if is_small(atom) {
            name.make_ascii_lowercase();
        }
        let is_bare = atom.charge == 0
            && atom.isotope.is_none()
            && matches!(atom.number, 0 | 5..=9 | 15..=17 | 35 | 53)
            && usual(self, place, 0) == Ok(atom.hydrogens);
        if is_bare {
            text.push_str(&name);
            return;
        }
        let isotope = atom.isotope.map(|isotope| isotope.to_string()).unwrap_or_default();
        let hydrogens = match atom.hydrogens {
            0 => String::new(),
            1 => "H".to_owned(),
            count => format!("H{count}"),
        };
        let charge = match atom.charge {
            0 => String::new(),
            1 => "+".to_owned(),
            -1 => "-".to_owned(),
            charge => format!("{charge:+}"),
        };
        let _ = write!(text, "[{isotope}{name}{hydrogens}{charge}]");
    }
}

/// An atom in a tree of bonds.
#[derive(Default)]
struct Branch {
    is_root: bool,
    /// The bonds to atoms that come later, and these atoms.
    children: Vec<(usize, usize)>,
}

/// Returns whether an atom is written in small letters.
fn is_small(atom: &Atom) -> bool {
    atom.is_aromatic && matches!(atom.number, 5..=8 | 14..=16 | 33 | 34 | 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_molecule_is_read_again_as_the_same() {
        for (smiles, expected) in [
            ("C(C)(C)O", "C(C)(C)O"),
            ("C1CC1", "C1CC1"),
            ("C1=CC=CC=C1", "c1ccccc1"),
            ("c1ccc2[nH]ccc2c1", "c1ccc2[nH]ccc2c1"),
            ("c1ccccc1-c1ccccc1", "c1ccccc1-c1ccccc1"),
            ("c1ccc2cccc-2cc1", "c1ccc-2cccc2cc1"),
            ("[NH4+].[Cl-]", "[NH4+].[Cl-]"),
            ("[13CH4]", "[13CH4]"),
            ("[Fe+2]", "[Fe+2]"),
            ("CN(=O)=O", "C[N+]([O-])=O"),
            ("[H]/N=C/C", "[H]/N=CC"),
            ("[CH3]", "[CH3]"),
            ("C#N", "C#N"),
            ("*c1ccccc1", "*c1ccccc1"),
            ("C12C3C4C1C5C2C3C45", "C12C3C4C1C1C2C3C41"),
            ("[2H]C", "[2H]C"),
        ] {
            let molecule = Molecule::from_smiles(smiles).unwrap();
            assert_eq!(molecule.to_smiles(), expected, "{smiles}");
            let again = Molecule::from_smiles(expected).unwrap();
            assert_eq!((again.morgan(3), again.maccs()), (molecule.morgan(3), molecule.maccs()), "{smiles}");
        }
    }

    #[test]
    fn more_rings_may_be_open_than_there_are_short_numbers() {
        // Each of 25 atoms is bonded to each other.
        let name = |a: usize, b: usize| format!("%({})", a * 25 + b);
        let atom = |a: usize| -> String {
            let rings = (0..25).filter(|b| a.abs_diff(*b) > 1).map(|b| name(a.min(b), a.max(b)));
            format!("[Fe]{}", rings.collect::<String>())
        };
        let text: String = (0..25).map(atom).collect();
        let molecule = Molecule::from_smiles(&text).unwrap();
        assert_eq!(molecule.bonds().len(), 300);
        let written = molecule.to_smiles();
        assert!(written.contains("%(100)"), "{written}");
        assert_eq!(Molecule::from_smiles(&written).unwrap().morgan(2), molecule.morgan(2));
    }
}
