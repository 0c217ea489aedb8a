"""Compares ways from SMILES to clusters: Lehr, and RDKit with Butina's clustering, on two cores.

    python side_by_side.py COMPOUNDS.smi [--lehr lehr] [--rounds 3] [--clusters 100] [--cutoff 0.35] [--record FILE]

COMPOUNDS.smi has a structure and a name in each line. Each side reads it, makes Morgan fingerprints of 2,048 bits, clusters them, and writes the clusters with their
structures: Lehr by k-means with its report and drawings, RDKit as a table. In each round, each side runs once, in turns. Shown are the minimum, the median and the maximum of the
seconds over the rounds, the largest memory, and the numbers of compounds and of clusters.

Butina's method compares all pairs; the pairs are divided between two processes. Its cut-off is a Tanimoto distance.
"""

import argparse
import csv
import json
import multiprocessing
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

CORES = 2
BITS = 2048


def butina(source, target, cutoff):
    """Clusters by RDKit and Butina's method, and writes a table."""
    from rdkit import Chem, RDLogger
    from rdkit.Chem import rdFingerprintGenerator

    RDLogger.DisableLog("rdApp.*")
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=BITS)
    names, structures, molecules = [], [], []
    for line in Path(source).read_text().splitlines():
        structure, _, name = line.partition(" ")
        molecule = Chem.MolFromSmiles(structure)
        # Compounds that RDKit refuses are left out.
        if molecule is not None:
            names.append(name)
            structures.append(structure)
            molecules.append(molecule)
    fingerprints = list(generator.GetFingerprints(molecules, numThreads=CORES))
    # Rows of about the same number of pairs for each process.
    shared.extend(fingerprints)
    with multiprocessing.get_context("fork").Pool(CORES) as pool:
        near = pool.starmap(neighbors, [(row, 1 - cutoff) for row in range(len(fingerprints))], chunksize=256)
    lists = [[] for _ in fingerprints]
    for row, found in enumerate(near):
        for other in found:
            lists[row].append(other)
            lists[other].append(row)
    order = sorted(range(len(lists)), key=lambda row: (-len(lists[row]), row))
    label, clusters = [-1] * len(lists), 0
    for row in order:
        if label[row] >= 0:
            continue
        for member in [row, *lists[row]]:
            if label[member] < 0:
                label[member] = clusters
        clusters += 1
    with open(target, "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "smiles", "cluster"])
        table.writerows(zip(names, structures, label))
    print(json.dumps({"compounds": len(names), "clusters": clusters}))


#: The fingerprints, which the processes of the pool inherit.
shared = []


def neighbors(row, similarity):
    """Returns the earlier rows that are at least as similar to a row."""
    from rdkit.DataStructs import BulkTanimotoSimilarity

    return [other for other, found in enumerate(BulkTanimotoSimilarity(shared[row], shared[:row])) if found >= similarity]


def timed(command):
    """Runs a command; returns its seconds, its largest memory in MB and its output."""
    # Children that the command has waited for count too.
    before = os.times().elapsed
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    told = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"{command[0]}: failed")
    return os.times().elapsed - before, usage.ru_maxrss / 1024, told


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("compounds", type=Path)
    parser.add_argument("--lehr", default="lehr")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--clusters", type=int, default=100)
    parser.add_argument("--cutoff", type=float, default=0.35)
    parser.add_argument("--record", type=Path)
    parser.add_argument("--butina", metavar="TARGET", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.butina:
        return butina(given.compounds, given.butina, given.cutoff)
    found = {"Lehr": [], "RDKit, Butina": []}
    with tempfile.TemporaryDirectory() as folder:
        out, table = f"{folder}/lehr", f"{folder}/butina.csv"
        lehr = [given.lehr, "cluster", str(given.compounds), "--method", "kmeans", "--clusters", str(given.clusters), "--threads", str(CORES), "--out", out, "--quiet"]
        other = [sys.executable, __file__, str(given.compounds), "--cutoff", str(given.cutoff), "--butina", table]
        for _ in range(given.rounds):
            seconds, memory, _ = timed(lehr)
            summary = json.loads(Path(out, "summary.json").read_text())
            found["Lehr"].append((seconds, memory, summary["input"]["rows"], summary["result"]["clusters"]))
            seconds, memory, told = timed(other)
            counts = json.loads(told.splitlines()[-1])
            found["RDKit, Butina"].append((seconds, memory, counts["compounds"], counts["clusters"]))
    print(f"{'':16}{'seconds':>24}{'MB':>8}{'compounds':>11}{'clusters':>10}")
    record = {"machine": platform.processor() or platform.machine(), "cores": CORES, "rdkit": version("rdkit"), "sides": {}}
    for side, rounds in found.items():
        seconds = [row[0] for row in rounds]
        spread = (min(seconds), statistics.median(seconds), max(seconds))
        print(f"{side:16}{' / '.join(f'{value:.1f}' for value in spread):>24}{max(row[1] for row in rounds):>8.0f}{rounds[0][2]:>11}{rounds[0][3]:>10}")
        record["sides"][side] = {"seconds": spread, "megabytes": max(row[1] for row in rounds), "compounds": rounds[0][2], "clusters": rounds[0][3]}
    if given.record:
        given.record.parent.mkdir(parents=True, exist_ok=True)
        given.record.write_text(json.dumps(record, indent=1) + "\n")
    return None


if __name__ == "__main__":
    main()
