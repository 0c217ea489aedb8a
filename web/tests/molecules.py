"""Prints a digest of the compounds in datasets/compounds as RDKit reads them, which web/tests/unit/molecule.test.ts compares with its own.

Usage: python3 web/tests/molecules.py, with RDKit installed. A line of the digest has the numbers of atoms, bonds, hydrogens and double bonds of a compound, with
double bonds placed in aromatic rings. Compounds of more than 200 atoms are left out, because the viewer does not draw them.
"""

import csv
import gzip
import hashlib
from pathlib import Path

from rdkit import Chem

COMPOUNDS = Path(__file__).resolve().parents[2] / "datasets" / "compounds" / "nci_aids.tsv.gz"
ATOMS_MAX = 200


def line(smiles):
    """Returns the numbers of a compound."""
    molecule = Chem.MolFromSmiles(smiles, sanitize=False)
    molecule.UpdatePropertyCache(strict=False)
    Chem.Kekulize(molecule, clearAromaticFlags=True)
    hydrogens = sum(atom.GetTotalNumHs() for atom in molecule.GetAtoms())
    doubles = sum(bond.GetBondTypeAsDouble() == 2 for bond in molecule.GetBonds())
    return molecule.GetNumAtoms(), molecule.GetNumBonds(), hydrogens, doubles


def main():
    with gzip.open(COMPOUNDS, "rt") as file:
        lines = [line(row["smiles"]) for row in csv.DictReader(file, delimiter="\t")]
    drawn = [",".join(map(str, numbers)) for numbers in lines if numbers[0] <= ATOMS_MAX]
    print(len(drawn), hashlib.sha256("\n".join(drawn).encode()).hexdigest())


if __name__ == "__main__":
    main()
