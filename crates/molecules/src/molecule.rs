//! Molecules as graphs of atoms and bonds, without hydrogens that a heavy atom carries.

/// An atom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Atom {
    /// The atomic number; 0 for the wildcard `*`.
    pub number: u8,
    /// The formal charge.
    pub charge: i8,
    /// The mass number, if the SMILES names one.
    pub isotope: Option<u16>,
    /// The number of hydrogens on this atom.
    pub hydrogens: u8,
    /// Whether the atom is in an aromatic ring.
    pub is_aromatic: bool,
}

/// The order of a bond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// A single bond.
    Single,
    /// A double bond.
    Double,
    /// A triple bond.
    Triple,
    /// A quadruple bond.
    Quadruple,
    /// A bond of an aromatic ring.
    Aromatic,
}

impl Order {
    /// Returns the number of shared electron pairs. For an aromatic bond, this is its single bond alone.
    pub(crate) fn pairs(self) -> u8 {
        match self {
            Self::Single | Self::Aromatic => 1,
            Self::Double => 2,
            Self::Triple => 3,
            Self::Quadruple => 4,
        }
    }
}

/// A bond between two atoms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bond {
    /// The indices of the atoms.
    pub atoms: [usize; 2],
    /// The order of the bond.
    pub order: Order,
}

/// A molecule, or several in one graph.
///
/// # Example
/// ```
/// use lehr_molecules::{Molecule, Order};
/// let ethanol = Molecule::from_smiles("CCO").unwrap();
/// assert_eq!((ethanol.atoms().len(), ethanol.bonds().len()), (3, 2));
/// assert_eq!((ethanol.atoms()[0].hydrogens, ethanol.atoms()[2].hydrogens), (3, 1));
/// // Alternating double bonds in a ring are aromatic.
/// let benzene = Molecule::from_smiles("C1=CC=CC=C1").unwrap();
/// assert!(benzene.bonds().iter().all(|bond| bond.order == Order::Aromatic));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Molecule {
    pub(crate) atoms: Vec<Atom>,
    pub(crate) bonds: Vec<Bond>,
    /// The bonds of each atom, and the atoms at their other ends.
    pub(crate) neighbours: Vec<Vec<(usize, usize)>>,
    /// The number of rings, of a smallest set of rings, of which all bonds are aromatic.
    pub(crate) aromatic_rings: usize,
}

impl Molecule {
    /// Returns the atoms.
    ///
    /// # Example
    /// See [`Molecule`].
    pub fn atoms(&self) -> &[Atom] {
        &self.atoms
    }

    /// Returns the bonds.
    ///
    /// # Example
    /// See [`Molecule`].
    pub fn bonds(&self) -> &[Bond] {
        &self.bonds
    }

    pub(crate) fn new(atoms: Vec<Atom>, bonds: Vec<Bond>) -> Self {
        let mut neighbours = vec![Vec::new(); atoms.len()];
        for (bond, Bond { atoms: [a, b], .. }) in bonds.iter().enumerate() {
            neighbours[*a].push((bond, *b));
            neighbours[*b].push((bond, *a));
        }
        Self { atoms, bonds, neighbours, aromatic_rings: 0 }
    }

    /// Returns the number of bonds of an atom.
    pub(crate) fn degree(&self, atom: usize) -> usize {
        self.neighbours[atom].len()
    }

    /// Returns the sum of the orders of an atom's bonds, with aromatic bonds as single bonds.
    pub(crate) fn pairs(&self, atom: usize) -> u8 {
        let pairs = self.neighbours[atom].iter().map(|(bond, _)| self.bonds[*bond].order.pairs());
        pairs.fold(0, u8::saturating_add)
    }
}
