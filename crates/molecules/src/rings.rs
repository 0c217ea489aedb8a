//! Rings: the bonds in rings, and a smallest set of rings that has them all.
//!
//! Source: J. D. Horton, "A polynomial-time algorithm to find the shortest cycle basis of a graph", SIAM J. Comput. 16
//! (1987). Each candidate is an edge and the two shortest paths from its ends to an atom. Candidates are taken by size,
//! and kept if no sum of smaller rings gives them.

use std::collections::VecDeque;

use crate::molecule::Molecule;

/// A ring: its atoms in order and its bonds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ring {
    pub atoms: Vec<usize>,
    pub bonds: Vec<usize>,
}

/// Returns whether each bond is in a ring.
pub fn in_rings(molecule: &Molecule) -> Vec<bool> {
    // A bond is in no ring if no other path joins its ends. A depth-first search finds these bridges.
    let atoms = molecule.atoms.len();
    let (mut found, mut low) = (vec![usize::MAX; atoms], vec![usize::MAX; atoms]);
    let mut is_in_ring = vec![true; molecule.bonds.len()];
    let mut time = 0;
    for root in 0..atoms {
        if found[root] != usize::MAX {
            continue;
        }
        // Each entry has an atom, the bond that led there, and the place in its list of neighbours.
        let mut stack = vec![(root, usize::MAX, 0)];
        (found[root], low[root]) = (time, time);
        time += 1;
        while let Some((atom, from, place)) = stack.pop() {
            if let Some(&(bond, other)) = molecule.neighbours[atom].get(place) {
                stack.push((atom, from, place + 1));
                if bond == from {
                    continue;
                }
                if found[other] == usize::MAX {
                    (found[other], low[other]) = (time, time);
                    time += 1;
                    stack.push((other, bond, 0));
                } else {
                    low[atom] = low[atom].min(found[other]);
                }
            } else if let Some(&(parent, ..)) = stack.last() {
                low[parent] = low[parent].min(low[atom]);
                is_in_ring[from] = low[atom] <= found[parent];
            }
        }
    }
    is_in_ring
}

/// Returns a smallest set of smallest rings.
pub fn smallest(molecule: &Molecule, is_in_ring: &[bool]) -> Vec<Ring> {
    let mut before = vec![None; molecule.atoms.len()];
    let systems = systems(molecule, is_in_ring);
    systems.iter().flat_map(|members| of_system(molecule, is_in_ring, members, &mut before)).collect()
}

/// Returns the first atom, the number of atoms and the number of bonds of each system of rings.
pub fn system_sizes(molecule: &Molecule, is_in_ring: &[bool]) -> Vec<(usize, usize, usize)> {
    let inside = |atom: &usize| molecule.neighbours[*atom].iter().filter(|(bond, _)| is_in_ring[*bond]).count();
    // Each bond has two ends.
    let size = |members: &Vec<usize>| (members[0], members.len(), members.iter().map(inside).sum::<usize>() / 2);
    systems(molecule, is_in_ring).iter().map(size).collect()
}

/// Returns the atoms of each system of rings: atoms that bonds in rings join.
fn systems(molecule: &Molecule, is_in_ring: &[bool]) -> Vec<Vec<usize>> {
    let mut systems = Vec::new();
    let mut is_done = vec![false; molecule.atoms.len()];
    for start in 0..molecule.atoms.len() {
        let is_member = |atom: usize| molecule.neighbours[atom].iter().any(|(bond, _)| is_in_ring[*bond]);
        if is_done[start] || !is_member(start) {
            continue;
        }
        let mut members = vec![start];
        is_done[start] = true;
        let mut next = 0;
        while let Some(&atom) = members.get(next) {
            next += 1;
            for &(bond, other) in &molecule.neighbours[atom] {
                if is_in_ring[bond] && !is_done[other] {
                    is_done[other] = true;
                    members.push(other);
                }
            }
        }
        systems.push(members);
    }
    systems
}

/// Returns a smallest set of rings of one system. `before` has a place for each atom of the molecule.
fn of_system(molecule: &Molecule, is_in_ring: &[bool], members: &[usize], before: &mut [Before]) -> Vec<Ring> {
    let mut bonds: Vec<usize> = members
        .iter()
        .flat_map(|atom| molecule.neighbours[*atom].iter().map(|(bond, _)| *bond))
        .filter(|bond| is_in_ring[*bond])
        .collect();
    bonds.sort_unstable();
    bonds.dedup();
    let wanted = bonds.len() + 1 - members.len();
    // Rings are many and long, so a candidate is only its length, root and bond, from which its ring is made again.
    let mut candidates = Vec::new();
    let mut paths: Vec<Vec<Before>> = Vec::new();
    for (place, &root) in members.iter().enumerate() {
        shortest_paths(molecule, is_in_ring, root, members, before);
        paths.push(members.iter().map(|atom| before[*atom]).collect());
        for &bond in &bonds {
            let [a, b] = molecule.bonds[bond].atoms;
            let (to_a, to_b) = (path(before, a), path(before, b));
            // The paths meet only at the root.
            let meet_once = to_a.0.iter().all(|atom| *atom == root || !to_b.0.contains(atom));
            if !meet_once || to_a.1.contains(&bond) || to_b.1.contains(&bond) {
                continue;
            }
            candidates.push((to_a.1.len() + to_b.1.len() + 1, place, bond));
        }
    }
    candidates.sort_by_key(|(length, ..)| *length);
    let words = bonds.len().div_ceil(64);
    let mut basis: Vec<(usize, Vec<u64>)> = Vec::new();
    let mut rings = Vec::new();
    for (_, place, bond) in candidates {
        members.iter().zip(&paths[place]).for_each(|(atom, known)| before[*atom] = *known);
        let [a, b] = molecule.bonds[bond].atoms;
        let (to_a, to_b) = (path(before, a), path(before, b));
        let atoms = to_a.0.iter().copied().chain(to_b.0.iter().rev().skip(1).copied()).collect();
        let ring = Ring { atoms, bonds: to_a.1.iter().chain(&to_b.1).copied().chain([bond]).collect() };
        let mut row = vec![0_u64; words];
        for bond in &ring.bonds {
            let place = bonds.binary_search(bond).unwrap_or_default();
            row[place / 64] ^= 1 << (place % 64);
        }
        for (pivot, other) in &basis {
            if row[pivot / 64] >> (pivot % 64) & 1 == 1 {
                row.iter_mut().zip(other).for_each(|(word, other)| *word ^= other);
            }
        }
        if let Some(pivot) = (0..bonds.len()).find(|place| row[place / 64] >> (place % 64) & 1 == 1) {
            basis.push((pivot, row));
            rings.push(ring);
        }
        if rings.len() == wanted {
            break;
        }
    }
    rings
}

/// The atom and the bond before an atom on a shortest path from a root; `None` for the root.
type Before = Option<(usize, usize)>;

/// Finds the atom and the bond before each member on a shortest path from the root.
fn shortest_paths(molecule: &Molecule, is_in_ring: &[bool], root: usize, members: &[usize], before: &mut [Before]) {
    members.iter().for_each(|atom| before[*atom] = None);
    let mut queue = VecDeque::from([root]);
    while let Some(atom) = queue.pop_front() {
        for &(bond, other) in &molecule.neighbours[atom] {
            if is_in_ring[bond] && other != root && before[other].is_none() {
                before[other] = Some((atom, bond));
                queue.push_back(other);
            }
        }
    }
}

/// Returns the atoms and the bonds of the path from an atom to the root.
fn path(before: &[Before], from: usize) -> (Vec<usize>, Vec<usize>) {
    let (mut atoms, mut bonds) = (vec![from], Vec::new());
    let mut at = from;
    while let Some((atom, bond)) = before[at] {
        atoms.push(atom);
        bonds.push(bond);
        at = atom;
    }
    (atoms, bonds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(smiles: &str) -> Vec<usize> {
        let molecule = Molecule::from_smiles(smiles).unwrap();
        let mut sizes: Vec<usize> =
            smallest(&molecule, &in_rings(&molecule)).iter().map(|ring| ring.atoms.len()).collect();
        sizes.sort_unstable();
        sizes
    }

    #[test]
    fn a_smallest_set_has_as_many_rings_as_the_graph_has_cycles() {
        for (smiles, expected) in [
            ("CCCC", vec![]),
            ("C1CC1", vec![3]),
            ("C1CCC2CCCCC2C1", vec![6, 6]),
            ("C1CC2CCC1C2", vec![5, 5]),
            ("C1CC1CC1CCC1", vec![3, 4]),
            ("C12C3C4C1C5C2C3C45", vec![4, 4, 4, 4, 4]),
            ("C1CC1.C1CCCC1", vec![3, 5]),
        ] {
            assert_eq!(sizes(smiles), expected, "{smiles}");
        }
    }

    #[test]
    fn a_bond_that_alone_joins_two_parts_is_in_no_ring() {
        let molecule = Molecule::from_smiles("C1CC1-C1CC1").unwrap();
        let outside: Vec<[usize; 2]> = in_rings(&molecule)
            .iter()
            .zip(&molecule.bonds)
            .filter(|(is_in_ring, _)| !**is_in_ring)
            .map(|(_, bond)| bond.atoms)
            .collect();
        assert_eq!(outside, [[2, 3]]);
    }
}
