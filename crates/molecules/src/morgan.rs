//! Circular fingerprints (Morgan, ECFP): the surroundings of each atom, hashed to bits.
//!
//! Source: D. Rogers and M. Hahn, "Extended-Connectivity Fingerprints", J. Chem. Inf. Model. 50 (2010). The invariants,
//! the hash function and the order of the steps are RDKit's, so the bits are RDKit's too: those of
//! `rdFingerprintGenerator.GetMorganGenerator(radius, fpSize)` with its defaults.

use std::collections::BTreeSet;

use crate::elements;
use crate::molecule::{Molecule, Order};
use crate::rings::in_rings;

/// Adds a value to a hash.
fn add(seed: u32, value: u32) -> u32 {
    seed ^ value.wrapping_add(0x9e37_79b9).wrapping_add(seed << 6).wrapping_add(seed >> 2)
}

fn hash(values: impl IntoIterator<Item = u32>) -> u32 {
    values.into_iter().fold(0, add)
}

/// Returns the number for the order of a bond.
fn code(order: Order) -> u32 {
    match order {
        Order::Single => 1,
        Order::Double => 2,
        Order::Triple => 3,
        Order::Quadruple => 4,
        Order::Aromatic => 12,
    }
}

/// Returns the hash of each atom alone: element, neighbours, hydrogens, charge, mass and whether it is in a ring.
fn invariants(molecule: &Molecule) -> Vec<u32> {
    let is_in_ring = in_rings(molecule);
    (0..molecule.atoms.len())
        .map(|atom| {
            let known = &molecule.atoms[atom];
            let degree = molecule.degree(atom) as u32 + u32::from(known.hydrogens);
            // Hydrogens that are atoms of the graph, such as bridges, count as hydrogens of their neighbours too.
            let beside =
                molecule.neighbours[atom].iter().filter(|(_, other)| molecule.atoms[*other].number == 1).count();
            let mass = known.isotope.map_or(0, |isotope| elements::mass_beyond(known.number, isotope));
            let is_member = molecule.neighbours[atom].iter().any(|(bond, _)| is_in_ring[*bond]);
            let facts = [
                u32::from(known.number),
                degree,
                u32::from(known.hydrogens) + beside as u32,
                i32::from(known.charge).cast_unsigned(),
                mass.cast_unsigned(),
            ];
            hash(facts.into_iter().chain(is_member.then_some(1)))
        })
        .collect()
}

impl Molecule {
    /// Returns the hashes of the surroundings of all atoms up to `radius` bonds, in ascending order.
    ///
    /// # Example
    /// ```
    /// let ethanol = lehr_molecules::Molecule::from_smiles("CCO").unwrap();
    /// let found = ethanol.morgan(2);
    /// assert_eq!(found, [864662311, 1535166686, 2245384272, 2246728737, 3542456614, 4018048386]);
    /// ```
    pub fn morgan(&self, radius: u32) -> Vec<u32> {
        let atoms = self.atoms.len();
        let mut current = invariants(self);
        let mut found: BTreeSet<u32> = current.iter().copied().collect();
        // The bonds around each atom, in ascending order.
        let mut surroundings: Vec<Vec<u32>> = vec![Vec::new(); atoms];
        let mut seen: BTreeSet<Vec<u32>> = BTreeSet::new();
        let mut is_dead = vec![false; atoms];
        for layer in 0..radius {
            let mut next = vec![0; atoms];
            let is_last = layer + 1 == radius;
            let mut grown = surroundings.clone();
            let mut round = Vec::new();
            for atom in 0..atoms {
                if is_dead[atom] {
                    continue;
                }
                if self.neighbours[atom].is_empty() {
                    is_dead[atom] = true;
                    continue;
                }
                let mut around: Vec<(u32, u32)> = Vec::new();
                for &(bond, other) in &self.neighbours[atom] {
                    grown[atom].push(bond as u32);
                    grown[atom].extend_from_slice(&surroundings[other]);
                    around.push((code(self.bonds[bond].order), current[other]));
                }
                grown[atom].sort_unstable();
                grown[atom].dedup();
                around.sort_unstable();
                let seed = add(layer, current[atom]);
                next[atom] = around.into_iter().fold(seed, |seed, (bond, other)| add(seed, hash([bond, other])));
                is_dead[atom] = seen.contains(&grown[atom]);
                let bonds = if is_last { std::mem::take(&mut grown[atom]) } else { grown[atom].clone() };
                round.push((bonds, next[atom], atom));
            }
            // Of equal surroundings, only those with the smallest hash count.
            round.sort_unstable();
            for (bonds, hash, atom) in round {
                if seen.insert(bonds) {
                    found.insert(hash);
                } else {
                    is_dead[atom] = true;
                }
            }
            (current, surroundings) = (next, grown);
        }
        found.into_iter().collect()
    }

    /// Returns the circular fingerprint of this many bits. Bit i is bit `i % 64` of word `i / 64`.
    ///
    /// # Panics
    /// Panics if `bits` is 0.
    ///
    /// # Example
    /// ```
    /// let ethanol = lehr_molecules::Molecule::from_smiles("CCO").unwrap();
    /// let bits = ethanol.morgan_bits(2, 2048);
    /// assert_eq!((bits.len(), bits.iter().map(|word| word.count_ones()).sum::<u32>()), (32, 6));
    /// ```
    pub fn morgan_bits(&self, radius: u32, bits: u32) -> Vec<u64> {
        let mut words = vec![0_u64; bits.div_ceil(64) as usize];
        for hash in self.morgan(radius) {
            let bit = (hash % bits) as usize;
            words[bit / 64] |= 1 << (bit % 64);
        }
        words
    }
}
