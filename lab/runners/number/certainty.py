"""Of the rows that are labelled with a probability of 0.9, are nine in ten with their group? `lehr cluster FILE --clusters K` beside mixtures of normals.

The sets are drawn ones whose groups overlap (normal, stretched, of unequal sizes and spreads, heavy-tailed), and labelled ones from LEHR_DATA and scikit-learn. Each
side gets the number of groups. A row is right if it is in the main group of its cluster. Every set counts the same.

Usage: certainty.py --lehr target/release/lehr --record lab/records/local/certainty.json [--seed 1]
"""

import argparse
import csv
import json
import platform
import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np
import sklearn
from sklearn.mixture import GaussianMixture

from panel import centers_apart, labelled_rows

warnings.simplefilter("ignore")
BOUNDS = [0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0]
# The minimum distances between the nearest centres, in standard deviations.
APART = [2.5, 3, 3.5, 4, 5]
# Groups, columns, rows.
EQUAL = [(2, 2, 1000), (3, 2, 1000), (5, 2, 2000), (10, 2, 3000), (4, 5, 2000), (8, 10, 3000), (5, 30, 1500), (30, 2, 6000), (3, 3, 200)]
UNEQUAL = [(3, 2, 1500), (5, 2, 2500), (8, 5, 3000), (12, 2, 4000), (4, 20, 2000)]
STRETCHED = [(3, 2, 1500), (6, 4, 3000)]


def groups(draw, count, columns, rows, apart, unequal=False, stretch=1.0, freedom=None):
    """Returns the rows of groups, and the group of each row."""
    sizes = draw.uniform(1, 10, count) if unequal else np.ones(count)
    spreads = draw.uniform(0.5, 2, count) if unequal else np.ones(count)
    centers = centers_apart(draw, columns, apart, spreads, stretch)
    parts, labels = [], []
    for group, (center, spread, many) in enumerate(zip(centers, spreads, np.maximum((sizes / sizes.sum() * rows).astype(int), 8))):
        part = draw.normal(size=(many, columns)) if freedom is None else draw.standard_t(freedom, (many, columns))
        if stretch > 1:
            part = part * np.geomspace(stretch**0.5, stretch**-0.5, columns) @ np.linalg.qr(draw.normal(size=(columns, columns)))[0]
        parts.append(center + spread * part)
        labels += [group] * many
    order = draw.permutation(len(labels))
    return np.vstack(parts)[order], np.array(labels)[order]


def drawn(seed):
    """Returns name -> (rows, labels), with a separate draw for each name."""
    sets = {}

    def add(kind, shape, apart, **more):
        count, columns, rows = shape
        name = f"{kind}, {count} groups, {columns} columns, {apart} apart"
        sets[name] = groups(np.random.default_rng([seed, *name.encode()]), count, columns, rows, apart, **more)

    for apart in APART:
        for shape in EQUAL:
            add("equal", shape, apart)
        for shape in UNEQUAL:
            add("unequal", shape, apart, unequal=True)
        for shape in STRETCHED:
            add("stretched", shape, apart, stretch=4)
            add("t with 4 degrees", shape, 1.3 * apart, freedom=4)
    return sets


def ours(lehr, rows, count):
    """Returns labels and probabilities, and each row's shares of probability over the clusters."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.npy")
        np.save(path, rows)
        subprocess.run([lehr, "cluster", path, "--clusters", str(count), "--out", Path(folder, "out"), "--quiet"], check=True, capture_output=True)
        with open(Path(folder, "out", "labels.csv"), encoding="utf-8") as lines:
            table = list(csv.DictReader(lines))
    return np.array([int(row["cluster"]) for row in table]), np.array([float(row["probability"]) for row in table])


def mixture(rows, count):
    form = "full" if rows.shape[1] <= 10 else "diag"
    model = GaussianMixture(count, covariance_type=form, n_init=3, random_state=0, reg_covar=1e-6 * rows.var()).fit(rows)
    shares = model.predict_proba(rows)
    return shares.argmax(1), shares.max(1)


def is_right(labels, truth):
    right = np.zeros(len(labels), bool)
    for cluster in set(labels):
        inside = labels == cluster
        right[inside] = truth[inside] == np.bincount(truth[inside]).argmax()
    return right


def bins(labels, probabilities, truth):
    """Returns for each bin the share of the rows in it, their mean probability, and the share of right labels."""
    right, found = is_right(labels, truth), []
    for low, high in zip(BOUNDS, BOUNDS[1:]):
        inside = (probabilities >= low) & ((probabilities < high) | (high == 1.0))
        found.append([float(inside.mean()), float(probabilities[inside].mean()), float(right[inside].mean())] if inside.any() else [0.0, 0.0, 0.0])
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lehr", required=True)
    parser.add_argument("--record", required=True, type=Path)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    sets = {name: ("drawn", rows, labels) for name, (rows, labels) in drawn(asked.seed).items()}
    sets |= {name: entry for name, entry in labelled_rows().items() if len(entry[1]) <= 20_000}
    record = {"seed": asked.seed, "bounds": BOUNDS, "scikit-learn": sklearn.__version__, "python": platform.python_version(), "sets": {}}
    for name, (kind, rows, truth) in sets.items():
        count = len(set(truth))
        found = {"ours": bins(*ours(asked.lehr, rows, count), truth), "mixture": bins(*mixture(rows, count), truth)}
        record["sets"][name] = {"kind": kind, "rows": len(rows), "columns": rows.shape[1], "groups": count, "found": found}
        print(name, flush=True)
    asked.record.parent.mkdir(parents=True, exist_ok=True)
    asked.record.write_text(json.dumps(record), encoding="utf-8")


if __name__ == "__main__":
    main()
