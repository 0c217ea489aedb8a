//! Double bonds of aromatic rings, and which rings are aromatic by RDKit's model.
//!
//! Source: the RDKit Book, "The RDKit Aromaticity Model". A ring, or several rings that share bonds, is aromatic if its
//! atoms give 4n + 2 electrons. How many electrons an atom gives follows from its bonds, hydrogens and charge.

use std::collections::BTreeMap;

use crate::elements::{outer_electrons, valences};
use crate::molecule::{Molecule, Order};
use crate::rings::{in_rings, smallest};

/// The maximum number of rings that together may be aromatic.
const TOGETHER_MAX: usize = 6;

/// The maximum number of atoms of a ring that may share its electrons with another ring.
const SHARING_MAX: usize = 24;

/// The maximum number of choices of several rings that are tried in a molecule. Known molecules need fewer.
const CHOICES_MAX: usize = 1_000_000;

/// The maximum number of steps in the search for the places of double bonds.
const STEPS_MAX: usize = 10_000;

/// Returns the default valence of an element; 0 if it has none.
fn valence_of(number: i32) -> i32 {
    u8::try_from(number).map_or(0, |number| valences(number).first().copied().unwrap_or(0).into())
}

/// Replaces the aromatic bonds of the text by single and double bonds, so that each atom that needs a double bond has
/// one. Wildcards may have one. Returns an atom that cannot get its double bond.
pub fn place_double_bonds(molecule: &mut Molecule) -> Result<(), usize> {
    let is_aromatic: Vec<bool> = molecule.bonds.iter().map(|bond| bond.order == Order::Aromatic).collect();
    for bond in molecule.bonds.iter_mut().filter(|bond| bond.order == Order::Aromatic) {
        bond.order = Order::Single;
    }
    let mut wants: Vec<bool> = (0..molecule.atoms.len())
        .map(|atom| {
            let known = &molecule.atoms[atom];
            let is_joined = molecule.neighbours[atom].iter().any(|(bond, _)| is_aromatic[*bond]);
            let free = valence_of(i32::from(known.number) - i32::from(known.charge))
                - i32::from(molecule.pairs(atom))
                - i32::from(known.hydrogens);
            known.is_aromatic && is_joined && known.number != 0 && free > 0
        })
        .collect();
    let mut may: Vec<bool> = molecule.atoms.iter().map(|atom| atom.number == 0).collect();
    for start in 0..molecule.atoms.len() {
        if wants[start] {
            // Atoms that aromatic bonds join are independent of all others.
            let mut members = vec![start];
            let mut next = 0;
            while let Some(&atom) = members.get(next) {
                next += 1;
                for &(bond, other) in &molecule.neighbours[atom] {
                    if is_aromatic[bond] && wants[other] && !members.contains(&other) {
                        members.push(other);
                    }
                }
            }
            for bond in matched(molecule, &members, &is_aromatic, [&mut wants, &mut may])? {
                molecule.bonds[bond].order = Order::Double;
            }
        }
    }
    Ok(())
}

/// Returns bonds that together have each of the atoms once, and perhaps atoms that may have one. Afterwards no atom wants
/// a bond.
fn matched(
    molecule: &Molecule,
    members: &[usize],
    is_aromatic: &[bool],
    [wants, may]: [&mut [bool]; 2],
) -> Result<Vec<usize>, usize> {
    // Wildcards come last, because they need no double bond.
    let options = |wants: &[bool], may: &[bool], atom: usize| -> Vec<(usize, usize)> {
        let possible = || molecule.neighbours[atom].iter().copied().filter(|(bond, _)| is_aromatic[*bond]);
        possible().filter(|(_, other)| wants[*other]).chain(possible().filter(|(_, other)| may[*other])).collect()
    };
    // Takes the atom with the fewest options first. If none is left for an atom, the last choice with another option
    // is changed.
    let mut chosen: Vec<(usize, usize, usize, usize)> = Vec::new();
    let mut skip = 0;
    for _ in 0..STEPS_MAX {
        let open = members.iter().copied().filter(|atom| wants[*atom]);
        let Some(atom) = open.min_by_key(|atom| options(wants, may, *atom).len()) else {
            return Ok(chosen.into_iter().map(|(.., bond, _)| bond).collect());
        };
        match options(wants, may, atom).get(skip) {
            Some(&(bond, other)) => {
                (wants[atom], wants[other], may[other]) = (false, false, false);
                chosen.push((atom, other, bond, skip));
                skip = 0;
            }
            None => {
                let Some((before, other, _, place)) = chosen.pop() else { return Err(atom) };
                let is_wildcard = molecule.atoms[other].number == 0;
                (wants[before], wants[other], may[other]) = (true, !is_wildcard, is_wildcard);
                skip = place + 1;
            }
        }
    }
    Err(members[0])
}

/// The number of electrons that an atom gives to a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gives {
    /// The atom cannot be in an aromatic ring.
    Nothing,
    /// This many electrons.
    Exactly(u8),
    /// From one to two electrons: an atom of any element.
    Any,
}

/// Finds the aromatic rings of a molecule with single and double bonds, and marks their atoms and bonds.
pub fn perceive(molecule: &mut Molecule) {
    molecule.atoms.iter_mut().for_each(|atom| atom.is_aromatic = false);
    let is_in_ring = in_rings(molecule);
    let gives: Vec<Gives> = (0..molecule.atoms.len())
        .map(|atom| {
            let is_member = molecule.neighbours[atom].iter().any(|(bond, _)| is_in_ring[*bond]);
            if is_member { donation(molecule, atom, &is_in_ring) } else { Gives::Nothing }
        })
        .collect();
    let rings = smallest(molecule, &is_in_ring);
    let can_be = |ring: &&crate::rings::Ring| ring.atoms.iter().all(|atom| gives[*atom] != Gives::Nothing);
    let rings: Vec<_> = rings.iter().filter(can_be).collect();
    // Two rings are fused if they share one bond.
    let mut rings_of: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (ring, known) in rings.iter().enumerate() {
        known.bonds.iter().for_each(|bond| rings_of.entry(*bond).or_default().push(ring));
    }
    let neighbours: Vec<Vec<usize>> = (0..rings.len())
        .map(|ring| {
            let mut shared: BTreeMap<usize, usize> = BTreeMap::new();
            let others = rings[ring].bonds.iter().flat_map(|bond| &rings_of[bond]).filter(|other| **other != ring);
            others.for_each(|other| *shared.entry(*other).or_default() += 1);
            let may_share = |ring: usize| rings[ring].bonds.len() <= SHARING_MAX;
            let is_fused = |(other, count): &(usize, usize)| *count == 1 && may_share(ring) && may_share(*other);
            shared.into_iter().filter(is_fused).map(|(other, _)| other).collect()
        })
        .collect();
    let mut is_seen = vec![false; rings.len()];
    let (mut aromatic_atoms, mut aromatic_bonds) = (Vec::new(), Vec::new());
    let mut tried = 0;
    for start in 0..rings.len() {
        if is_seen[start] {
            continue;
        }
        let mut system = vec![start];
        is_seen[start] = true;
        let mut next = 0;
        while let Some(&ring) = system.get(next) {
            next += 1;
            for &other in &neighbours[ring] {
                if !std::mem::replace(&mut is_seen[other], true) {
                    system.push(other);
                }
            }
        }
        let mut all: Vec<usize> = system.iter().flat_map(|ring| rings[*ring].bonds.iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        let mut done: Vec<usize> = Vec::new();
        for size in 1..=system.len().min(TOGETHER_MAX) {
            if done.len() >= all.len() || (size > 1 && tried >= CHOICES_MAX) {
                break;
            }
            for_each_choice(system.len(), size, &mut |choice| {
                tried += usize::from(size > 1);
                let chosen: Vec<usize> = choice.iter().map(|place| system[*place]).collect();
                if !are_joined(&chosen, &neighbours) || !is_aromatic(&chosen, &rings, &gives) {
                    return size == 1 || tried < CHOICES_MAX;
                }
                let mut times: BTreeMap<usize, usize> = BTreeMap::new();
                for ring in &chosen {
                    aromatic_atoms.extend(rings[*ring].atoms.iter().copied());
                    rings[*ring].bonds.iter().for_each(|bond| *times.entry(*bond).or_default() += 1);
                }
                // Bonds between the rings of a choice do not become aromatic by it.
                for (bond, _) in times.iter().filter(|(_, times)| **times == 1) {
                    if !done.contains(bond) {
                        done.push(*bond);
                    }
                }
                size == 1 || tried < CHOICES_MAX
            });
        }
        aromatic_bonds.extend(done);
    }
    aromatic_atoms.iter().for_each(|atom| molecule.atoms[*atom].is_aromatic = true);
    for bond in aromatic_bonds {
        if matches!(molecule.bonds[bond].order, Order::Single | Order::Double) {
            molecule.bonds[bond].order = Order::Aromatic;
        }
    }
    let is_aromatic = |bond: &usize| molecule.bonds[*bond].order == Order::Aromatic;
    molecule.aromatic_rings = rings.iter().filter(|ring| ring.bonds.iter().all(is_aromatic)).count();
}

/// Calls a function with each choice of `size` numbers below `count`, in ascending order, until it returns `false`.
fn for_each_choice(count: usize, size: usize, call: &mut dyn FnMut(&[usize]) -> bool) {
    let mut choice: Vec<usize> = (0..size).collect();
    while call(&choice) {
        let Some(place) = (0..size).rev().find(|place| choice[*place] < count - size + place) else { return };
        choice[place] += 1;
        for later in place + 1..size {
            choice[later] = choice[later - 1] + 1;
        }
    }
}

/// Returns whether rings form one system of fused rings.
fn are_joined(chosen: &[usize], neighbours: &[Vec<usize>]) -> bool {
    let mut reached = vec![chosen[0]];
    let mut next = 0;
    while let Some(&ring) = reached.get(next) {
        next += 1;
        for other in &neighbours[ring] {
            if chosen.contains(other) && !reached.contains(other) {
                reached.push(*other);
            }
        }
    }
    reached.len() == chosen.len()
}

/// Returns whether the atoms of rings give 4n + 2 electrons. Atoms inside, which are in three rings or more, count for
/// none.
fn is_aromatic(chosen: &[usize], rings: &[&crate::rings::Ring], gives: &[Gives]) -> bool {
    let mut times: BTreeMap<usize, usize> = BTreeMap::new();
    for ring in chosen {
        rings[*ring].atoms.iter().for_each(|atom| *times.entry(*atom).or_default() += 1);
    }
    let (mut least, mut most) = (0_u32, 0_u32);
    for (atom, _) in times.iter().filter(|(_, times)| **times <= 2) {
        let (low, high) = match gives[*atom] {
            Gives::Nothing => return false,
            Gives::Exactly(count) => (count, count),
            Gives::Any => (1, 2),
        };
        (least, most) = (least + u32::from(low), most + u32::from(high));
    }
    if most >= 6 { (least..=most).any(|count| count >= 2 && (count - 2) % 4 == 0) } else { most == 2 }
}

/// Returns how many electrons an atom gives.
fn donation(molecule: &Molecule, atom: usize, is_in_ring: &[bool]) -> Gives {
    let known = &molecule.atoms[atom];
    let (number, charge) = (i32::from(known.number), i32::from(known.charge));
    // A multiple bond of the atom that is inside a ring, or outside of all rings; the atom at its other end.
    let multiple = |inside: bool| {
        let is_wanted =
            |(bond, _): &&(usize, usize)| is_in_ring[*bond] == inside && molecule.bonds[*bond].order.pairs() >= 2;
        molecule.neighbours[atom].iter().find(is_wanted).map(|(_, other)| *other)
    };
    if number == 0 {
        return if multiple(true).is_some() { Gives::Exactly(1) } else { Gives::Any };
    }
    // Beyond argon, only selenium and tellurium.
    if number > 18 && number != 34 && number != 52 {
        return Gives::Nothing;
    }
    let (pairs, hydrogens) = (i32::from(molecule.pairs(atom)), i32::from(known.hydrogens));
    let bonds = molecule.degree(atom) as i32;
    let valence = valence_of(number);
    if valence > 0 && pairs + hydrogens > valence_of(number - charge) {
        return Gives::Nothing;
    }
    let multiples = molecule.neighbours[atom].iter().filter(|(bond, _)| molecule.bonds[*bond].order.pairs() >= 2);
    if pairs - bonds > 1 && multiples.count() > 1 {
        return Gives::Nothing;
    }
    let degree = bonds + hydrogens;
    if valence <= 1 || degree > 3 {
        return Gives::Nothing;
    }
    let lone = (i32::from(outer_electrons(known.number)) - valence - charge).max(0);
    let mut free = valence - degree + lone;
    if free > 1 && pairs - bonds > 1 {
        free = 1;
    }
    // The electron of a double bond outside goes to a more electronegative atom.
    let is_drawn = |other: usize| {
        let (theirs, own) = (outer_electrons(molecule.atoms[other].number), outer_electrons(known.number));
        theirs > own || (theirs == own && molecule.atoms[other].number < known.number)
    };
    match (free, multiple(false)) {
        (..0, _) => Gives::Nothing,
        (0, Some(_)) => Gives::Exactly(0),
        (0, None) if multiple(true).is_some() => Gives::Exactly(1),
        (0, None) => Gives::Nothing,
        (1, Some(other)) => Gives::Exactly(u8::from(!is_drawn(other))),
        (1, None) if pairs != bonds => Gives::Exactly(1),
        (1, None) if charge == 1 => Gives::Exactly(0),
        (1, None) => Gives::Nothing,
        (more, outside) => {
            let taken = i32::from(outside.is_some_and(is_drawn));
            Gives::Exactly(if (more - taken) % 2 == 1 { 1 } else { 2 })
        }
    }
}
