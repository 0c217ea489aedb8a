//! From written atoms and bonds to a molecule: charges, hydrogens and aromatic rings.
//!
//! The rules are RDKit's. Usual valences decide how many hydrogens an atom gets. Groups with too many bonds get charges,
//! such as nitro groups with five bonds at a nitrogen. A hydrogen that is written as an atom becomes a hydrogen of
//! its neighbour.

use std::collections::BTreeMap;

use crate::aromaticity;
use crate::elements::{has_no_most_bonds, valences};
use crate::molecule::{Atom, Bond, Molecule, Order};

/// The maximum number of atoms in rings that share bonds. The time for finding rings grows with its cube.
const RING_ATOMS_MAX: usize = 400;

/// The maximum number of bonds in rings that share bonds.
const RING_BONDS_MAX: usize = 1_000;

/// The maximum number of bonds of an atom. The memory for fingerprints grows with it.
const BONDS_MAX: usize = 200;

/// The hydrogens of an atom, besides those that are written as atoms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hydrogens {
    /// As many as the atom says.
    Given,
    /// As many as its bonds leave of the given valence.
    OfValence(u8),
    /// As many as a usual valence of the element needs, beside unpaired electrons.
    Usual { radicals: u8 },
}

/// An atom as it is written.
#[derive(Clone, Debug)]
pub struct Written {
    pub atom: Atom,
    pub hydrogens: Hydrogens,
    /// Whether a hydrogen stays an atom, because it shows the arrangement around a double bond.
    pub stays: bool,
}

/// The reason why atoms and bonds are no molecule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// An aromatic atom in no ring.
    OutsideRings { atom: usize },
    /// An atom has more bonds than any molecule needs.
    Crowded { atom: usize, found: usize },
    /// Rings that share bonds have too many atoms or bonds.
    LargeRings { atom: usize, atoms: usize, bonds: usize },
    /// An atom has too many bonds.
    TooManyBonds { atom: usize, found: u8, most: u8 },
    /// Aromatic bonds cannot become alternating double bonds.
    NoDoubleBonds { atom: usize },
}

impl Wrong {
    /// Returns the first atom at fault.
    pub fn atom(&self) -> usize {
        match self {
            Self::OutsideRings { atom }
            | Self::Crowded { atom, .. }
            | Self::LargeRings { atom, .. }
            | Self::TooManyBonds { atom, .. }
            | Self::NoDoubleBonds { atom } => *atom,
        }
    }

    /// Returns what was expected, and what was found instead.
    pub fn texts(&self) -> (String, String) {
        match self {
            Self::OutsideRings { .. } => {
                ("aromatic bonds only in rings".to_owned(), "an aromatic bond outside of rings".to_owned())
            }
            Self::Crowded { found, .. } => {
                (format!("an atom with at most {BONDS_MAX} bonds"), format!("{found} bonds"))
            }
            Self::LargeRings { atoms, bonds, .. } => (
                format!("rings that share bonds to have at most {RING_ATOMS_MAX} atoms and {RING_BONDS_MAX} bonds"),
                format!("{atoms} atoms and {bonds} bonds"),
            ),
            Self::TooManyBonds { found, most, .. } => {
                (format!("an atom with at most {most} bonds"), format!("bonds with {found} pairs of electrons"))
            }
            Self::NoDoubleBonds { .. } => {
                ("an aromatic ring with alternating double bonds".to_owned(), "atoms that cannot have them".to_owned())
            }
        }
    }
}

/// Puts a molecule together. Aromatic bonds outside of rings become single bonds.
pub fn assembled(written: &[Written], bonds: Vec<Bond>) -> Result<Molecule, Wrong> {
    let mut molecule = Molecule::new(written.iter().map(|written| written.atom.clone()).collect(), bonds);
    if let Some(atom) = (0..written.len()).find(|atom| molecule.degree(*atom) > BONDS_MAX) {
        return Err(Wrong::Crowded { atom, found: molecule.degree(atom) });
    }
    let is_in_ring = crate::rings::in_rings(&molecule);
    for (bond, is_in_ring) in molecule.bonds.iter_mut().zip(&is_in_ring) {
        if bond.order == Order::Aromatic && !is_in_ring {
            bond.order = Order::Single;
        }
    }
    for (atom, atoms, bonds) in crate::rings::system_sizes(&molecule, &is_in_ring) {
        if atoms > RING_ATOMS_MAX || bonds > RING_BONDS_MAX {
            return Err(Wrong::LargeRings { atom, atoms, bonds });
        }
    }
    let is_in_a_ring = |atom: usize| molecule.neighbours[atom].iter().any(|(bond, _)| is_in_ring[*bond]);
    if let Some(atom) = (0..written.len()).find(|atom| molecule.atoms[*atom].is_aromatic && !is_in_a_ring(*atom)) {
        return Err(Wrong::OutsideRings { atom });
    }
    // A given valence counts the bonds as they are written.
    for (atom, written) in written.iter().enumerate() {
        if let Hydrogens::OfValence(valence) = written.hydrogens {
            molecule.atoms[atom].hydrogens = valence.saturating_sub(rounded(twice_pairs(&molecule, atom)));
        }
    }
    give_charges(&mut molecule);
    for (atom, written) in written.iter().enumerate() {
        if let Hydrogens::Usual { radicals } = written.hydrogens {
            molecule.atoms[atom].hydrogens = usual(&molecule, atom, radicals).map_err(|most| {
                let found = molecule.pairs(atom);
                Wrong::TooManyBonds { atom, found, most }
            })?;
        }
    }
    let (mut molecule, kept) = without_hydrogen_atoms(&molecule, written);
    aromaticity::place_double_bonds(&mut molecule).map_err(|atom| Wrong::NoDoubleBonds { atom: kept[atom] })?;
    aromaticity::perceive(&mut molecule);
    Ok(molecule)
}

/// Returns twice the sum of the orders of an atom's bonds, in which an aromatic bond counts one and a half.
fn twice_pairs(molecule: &Molecule, atom: usize) -> u32 {
    let twice = |(bond, _): &(usize, usize)| match molecule.bonds[*bond].order {
        Order::Aromatic => 3,
        order => 2 * u32::from(order.pairs()),
    };
    molecule.neighbours[atom].iter().map(twice).sum()
}

/// Returns half of a number, rounded up.
fn rounded(twice: u32) -> u8 {
    u8::try_from(twice.div_ceil(2)).unwrap_or(u8::MAX)
}

/// Returns the number of hydrogens that fill the usual valence of an atom. Fails with the largest usual valence if the
/// atom has too many bonds.
pub fn usual(molecule: &Molecule, atom: usize, radicals: u8) -> Result<u8, u8> {
    let Atom { number, charge, .. } = molecule.atoms[atom];
    let is_aromatic = molecule.atoms[atom].is_aromatic
        || molecule.neighbours[atom].iter().any(|(bond, _)| molecule.bonds[*bond].order == Order::Aromatic);
    let own = valences(number);
    if own.is_empty() {
        return Ok(0);
    }
    // A charged atom has the valences of the element with as many electrons: N⁺ those of carbon.
    let like = u8::try_from((i16::from(number) - i16::from(charge)).max(0)).unwrap_or(u8::MAX);
    // Negative phosphorus, sulphur, arsenic and selenium may have more bonds than the halogens that they are like.
    let is_hypervalent = like > 16 && matches!(number, 15 | 16) || like > 34 && matches!(number, 33 | 34);
    let allowed = if is_hypervalent { own } else { valences(like) };
    let least = valences(like).first().copied();
    let twice = twice_pairs(molecule, atom);
    let mut sum = u32::from(rounded(twice));
    if is_aromatic && least.is_some_and(|least| twice > 2 * u32::from(least)) {
        // An aromatic ring gives an atom one to two bonds more than it needs: the valence below is meant.
        let below = allowed.iter().rev().map(|valence| u32::from(*valence)).find(|valence| 2 * valence <= twice);
        let below = below.unwrap_or_else(|| least.unwrap_or_default().into());
        if twice.saturating_sub(2 * below) <= 3 {
            sum = below;
        }
    }
    let most = if is_hypervalent { own.last() } else { valences(like).last() };
    let surplus = if is_hypervalent { u32::from(charge.unsigned_abs()) } else { 0 };
    if let Some(most) = most.filter(|_| !has_no_most_bonds(number) && !has_no_most_bonds(like)) {
        // Hydride ions may bridge two atoms.
        let most = if number == 1 && charge == -1 { 2 } else { *most };
        if sum + surplus > u32::from(most) {
            return Err(most);
        }
    }
    if number == 1 && sum == 0 && radicals == 0 {
        return Ok(u8::from(charge == 0));
    }
    let Some(least) = least else { return Ok(0) };
    let sum = u8::try_from(sum + u32::from(radicals)).unwrap_or(u8::MAX);
    if is_aromatic {
        return Ok(least.saturating_sub(sum));
    }
    let sum = sum.saturating_add(u8::try_from(surplus).unwrap_or(u8::MAX));
    Ok(allowed.iter().find(|valence| **valence >= sum).map_or(0, |valence| valence - sum))
}

/// Gives charges to atoms with too many bonds: `N(=O)=O` becomes `[N+](=O)[O-]`, `N=N#N` becomes `N=[N+]=[N-]`,
/// `P(=O)=N` with five bonds becomes `[P+]([O-])=N`, and `Cl(=O)(=O)O` becomes `[Cl+2]([O-])([O-])O`.
fn give_charges(molecule: &mut Molecule) {
    for atom in 0..molecule.atoms.len() {
        let Atom { number, charge: 0, .. } = molecule.atoms[atom] else { continue };
        match (number, twice_pairs(molecule, atom)) {
            (7, 10) => charge_nitrogen(molecule, atom),
            (15, 10) => charge_phosphorus(molecule, atom),
            (17 | 35 | 53, 6 | 10 | 14) => charge_halogen(molecule, atom),
            _ => {}
        }
    }
}

/// Returns the bond of an order to a neutral neighbour of an element, and this neighbour.
fn end(molecule: &Molecule, atom: usize, number: u8, order: Order) -> Option<(usize, usize)> {
    let is_end = |(bond, other): &&(usize, usize)| {
        let neighbour = &molecule.atoms[*other];
        molecule.bonds[*bond].order == order && neighbour.number == number && neighbour.charge == 0
    };
    molecule.neighbours[atom].iter().find(is_end).copied()
}

fn charge_nitrogen(molecule: &mut Molecule, atom: usize) {
    let found = end(molecule, atom, 8, Order::Double).map(|end| (end, Order::Single));
    let found = found.or_else(|| end(molecule, atom, 7, Order::Triple).map(|end| (end, Order::Double)));
    if let Some(((bond, other), order)) = found {
        molecule.bonds[bond].order = order;
        molecule.atoms[atom].charge = 1;
        molecule.atoms[other].charge = -1;
    }
}

fn charge_phosphorus(molecule: &mut Molecule, atom: usize) {
    let has_double = molecule.neighbours[atom].iter().any(|(bond, other)| {
        let is_inside = matches!(molecule.atoms[*other].number, 6 | 7) && molecule.degree(*other) >= 2;
        molecule.bonds[*bond].order == Order::Double && is_inside
    });
    if has_double
        && molecule.degree(atom) == 3
        && let Some((bond, other)) = end(molecule, atom, 8, Order::Double)
    {
        molecule.bonds[bond].order = Order::Single;
        molecule.atoms[atom].charge = 1;
        molecule.atoms[other].charge = -1;
    }
}

fn charge_halogen(molecule: &mut Molecule, atom: usize) {
    if molecule.neighbours[atom].iter().any(|(_, other)| molecule.atoms[*other].number != 8) {
        return;
    }
    for (bond, other) in molecule.neighbours[atom].clone() {
        if molecule.bonds[bond].order == Order::Double {
            molecule.bonds[bond].order = Order::Single;
            molecule.atoms[atom].charge += 1;
            molecule.atoms[other].charge = -1;
        }
    }
}

/// Returns the molecule without the hydrogens that are written as atoms and bonded to one heavy atom, and the former
/// places of its atoms.
fn without_hydrogen_atoms(molecule: &Molecule, written: &[Written]) -> (Molecule, Vec<usize>) {
    let goes = |atom: usize| is_plain_hydrogen(molecule, atom) && !written[atom].stays;
    let kept: Vec<usize> = (0..molecule.atoms.len()).filter(|atom| !goes(*atom)).collect();
    let place: BTreeMap<usize, usize> = kept.iter().copied().zip(0..).collect();
    let mut atoms: Vec<Atom> = kept.iter().map(|atom| molecule.atoms[*atom].clone()).collect();
    let mut bonds = Vec::new();
    for bond in &molecule.bonds {
        let [a, b] = bond.atoms;
        match (place.get(&a), place.get(&b)) {
            (Some(a), Some(b)) => bonds.push(Bond { atoms: [*a, *b], order: bond.order }),
            (Some(heavy), None) | (None, Some(heavy)) => {
                atoms[*heavy].hydrogens = atoms[*heavy].hydrogens.saturating_add(1);
            }
            (None, None) => {}
        }
    }
    (Molecule::new(atoms, bonds), kept)
}

/// Returns whether an atom is a hydrogen that need not be an atom. It is no hydride and has no mass. Its only bond is a
/// single one, to an atom of another element.
pub fn is_plain_hydrogen(molecule: &Molecule, atom: usize) -> bool {
    let Atom { number, charge, isotope, .. } = &molecule.atoms[atom];
    *number == 1
        && *charge != -1
        && isotope.is_none()
        && matches!(*molecule.neighbours[atom], [(bond, other)]
            if molecule.atoms[other].number > 1 && molecule.bonds[bond].order == Order::Single)
}
