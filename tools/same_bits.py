"""Checks that the command that users install gives the same bits as the one that the tests run.

The two commands are compiled differently (the release profile inlines across crates and has no checks), and inlining affects kernels
with vector instructions. Runs both on the project's own data, in both precisions and on both sides of every switch of
kernels by dimension, and compares the tables of results byte by byte.

Usage: same_bits.py BINARY BINARY. One line a case; exit code 1 if any differs. No network.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The tables of a command's results.
FILES = {
    "cluster": ("labels.csv", "centers.csv"),
    "demo": ("labels.csv", "centers.csv"),
    "mixture": ("labels.csv", "components.csv", "model.json"),
    "gtm": ("places.csv", "nodes.csv", "model.json"),
}

# name: arguments of `lehr`
CASES = {
    "census, sphere": ["demo", "census"],
    "census, degrees, f32": [
        "cluster", "datasets/census/blocks_nv_ut_wv_2020.csv.gz", "--columns", "lon,lat", "--weights", "pop",
        "--clusters", "20", "--precision", "f32",
    ],
    "iris": ["cluster", "datasets/iris/iris.csv", "--id", "label", "--clusters", "3"],
    "wine, scaled": ["cluster", "datasets/wine/wine.csv", "--id", "label", "--scale", "std", "--clusters", "3"],
    "wine, scaled, f32": [
        "cluster", "datasets/wine/wine.csv", "--id", "label", "--scale", "std", "--clusters", "3", "--precision", "f32",
    ],
    "breast cancer": ["cluster", "datasets/breast_cancer/breast_cancer.csv.gz", "--id", "label", "--clusters", "2"],
    "digits": ["cluster", "datasets/digits/digits.csv.gz", "--id", "label", "--clusters", "10"],
    "digits, f32": [
        "cluster", "datasets/digits/digits.csv.gz", "--id", "label", "--clusters", "10", "--precision", "f32",
    ],
    "iris, mixture": ["mixture", "datasets/iris/iris.csv", "--id", "label"],
    "iris, map": ["gtm", "datasets/iris/iris.csv", "--id", "label"],
    "digits, map": ["gtm", "datasets/digits/digits.csv.gz", "--id", "label", "--nodes", "8"],
    "wine, scaled, mixture": [
        "mixture", "datasets/wine/wine.csv", "--id", "label", "--scale", "std", "-k", "3", "--covariance", "tied",
    ],
    "breast cancer, mixture": [
        "mixture", "datasets/breast_cancer/breast_cancer.csv.gz", "--id", "label", "-k", "3", "--covariance", "diagonal",
    ],
}


def results(binary, arguments, folder):
    """Returns the bytes of the result files of one run."""
    command = [str(binary), *arguments, "--quiet", "--out", str(folder)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}")
    return {name: (folder / name).read_bytes() for name in FILES[arguments[0]]}


def differing(first, second):
    """Returns the names of the files whose bytes differ."""
    return [name for name in first if first[name] != second[name]]


def main(binaries):
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        for number, (name, arguments) in enumerate(CASES.items()):
            pair = [results(binary, arguments, Path(scratch) / f"{number}-{side}") for side, binary in enumerate(binaries)]
            wrong = differing(*pair)
            failed |= bool(wrong)
            print(f"same bits: {name}: {'differs in ' + ', '.join(wrong) if wrong else 'the same'}")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit("usage: same_bits.py BINARY BINARY")
    sys.exit(main([Path(argument).resolve() for argument in sys.argv[1:]]))
