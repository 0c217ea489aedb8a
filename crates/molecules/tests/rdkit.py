"""Write the MACCS keys of the antiviral screen, and its molecules as an SD file, with RDKit.

    python3 crates/molecules/tests/rdkit.py FOLDER

FOLDER has chem/dtp_aids41k.tsv.gz. The script adds dtp_aids41k_maccs.fps.gz and dtp_aids41k.sdf.gz beside it. The SD file has a quarter of the molecules in
each of four forms. Each entry also has the fingerprints that RDKit makes of the entry as it reads it.
"""

import gzip
import sys
from pathlib import Path

from rdkit import Chem, RDLogger
from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator
from rdkit.Chem.rdMolDescriptors import GetMACCSKeysFingerprint

RDLogger.DisableLog("rdApp.*")
MORGAN = GetMorganGenerator(radius=2, fpSize=1024)


def digits(bits):
    """Return a fingerprint as FPS has it: hexadecimal digits, byte by byte, the lowest bit first."""
    return sum(1 << bit for bit in bits.GetOnBits()).to_bytes((bits.GetNumBits() + 7) // 8, "little").hex()


def entry(number, name, molecule):
    """Return a molecule as an entry of an SD file. Its number decides the form."""
    form = number % 4
    if form == 1:
        molecule = Chem.AddHs(molecule)
    molecule.SetProp("_Name", name)
    block = Chem.MolToMolBlock(molecule, forceV3000=form == 2, kekulize=form != 3)
    found = Chem.MolFromMolBlock(block)
    if found is None:
        # Aromatic bonds lose hydrogens that RDKit needs to place the double bonds.
        block = Chem.MolToMolBlock(molecule)
        found = Chem.MolFromMolBlock(block)
    return f"{block}> <morgan>\n{digits(MORGAN.GetFingerprint(found))}\n\n> <maccs>\n{digits(GetMACCSKeysFingerprint(found))}\n\n$$$$\n"


folder = Path(sys.argv[1]) / "chem"
with (
    gzip.open(folder / "dtp_aids41k.tsv.gz", "rt") as screen,
    gzip.open(folder / "dtp_aids41k_maccs.fps.gz", "wt") as keys,
    gzip.open(folder / "dtp_aids41k.sdf.gz", "wt") as entries,
):
    next(screen)
    keys.write("#FPS1\n#num_bits=167\n")
    for number, line in enumerate(screen):
        name, smiles = line.split("\t")[:2]
        molecule = Chem.MolFromSmiles(smiles)
        keys.write(f"{digits(GetMACCSKeysFingerprint(molecule))}\t{name}\n")
        entries.write(entry(number, name, molecule))
