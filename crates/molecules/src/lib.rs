//! Molecules: [`Molecule::from_smiles`] and [`Molecule::from_molfile`] read them, and [`Molecule::morgan_bits`] and
//! [`Molecule::maccs`] give fingerprints with RDKit's bits.
//!
//! This crate depends on no other, and knows no files. For the reasons and the comparison with RDKit, see
//! `docs/design/molecules.md`. Reading order: `molecule.rs` → `smiles.rs` → `assembly.rs` → `rings.rs` →
//! `aromaticity.rs` → `morgan.rs`, `smarts.rs` → `maccs.rs`.
#![forbid(unsafe_code)]

mod aromaticity;
mod assembly;
mod elements;
mod maccs;
mod molecule;
mod molfile;
mod morgan;
mod rings;
mod smarts;
mod smiles;
mod writer;

pub use maccs::MACCS_BITS;
pub use molecule::{Atom, Bond, Molecule, Order};
pub use molfile::MolfileError;
pub use smiles::SmilesError;

/// The example of the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
