"""Sets whose number of groups is known: drawn ones, and labelled ones from LEHR_DATA and scikit-learn.

Kinds: `compact` (each group is round or nearly so, and denser in its middle), `long` (stretched up to four times), `none` (no groups), `shape` (rings, chains,
groups within groups) and `classes` (labels of people, which need not be groups).
"""

import gzip
import os
from pathlib import Path

import numpy as np
from sklearn import datasets

# Groups, columns, rows, and the minimum distance of centres in standard deviations.
EQUAL = [
    (2, 2, 400, 4), (2, 2, 2000, 3.5), (2, 5, 500, 5), (2, 20, 1000, 6), (2, 100, 600, 8), (3, 2, 600, 4.5), (3, 2, 150, 6), (3, 10, 900, 5),
    (4, 3, 1000, 5), (5, 2, 1000, 5), (5, 2, 3000, 4), (5, 50, 1000, 8), (6, 4, 1200, 5), (8, 2, 2000, 5), (8, 8, 1600, 6), (10, 2, 2000, 5),
    (10, 10, 2000, 6), (10, 100, 1500, 10), (15, 2, 3000, 5), (20, 3, 4000, 5), (20, 20, 3000, 8), (30, 2, 4500, 6), (31, 2, 3100, 5),
    (50, 2, 7500, 6), (50, 10, 5000, 7), (100, 2, 10000, 6), (100, 5, 8000, 7), (200, 2, 16000, 6.5), (200, 8, 12000, 8),
]
UNEQUAL = [(3, 2, 1500, 6), (5, 2, 2500, 6), (8, 5, 3000, 7), (12, 2, 4000, 7), (20, 4, 5000, 7), (40, 2, 8000, 7)]
HEAVY = [(4, 2, 2000, 6), (10, 3, 4000, 7)]
NOISY = [(5, 2, 2000, 7), (10, 2, 3000, 7), (6, 5, 2000, 8)]
LONG = [(3, 2, 900, 6, 3), (5, 2, 2000, 6, 4), (8, 4, 2400, 6, 4), (10, 10, 3000, 7, 4)]
COMPACT_FILES = ("sipu_s", "sipu_a1", "sipu_a2", "sipu_a3", "sipu_b", "sipu_un", "g2mg", "fcps_hepta", "fcps_tetra", "fcps_twod", "fcps_wing", "fcps_engy")


def centers_apart(draw, columns, apart, spreads, stretch=1.0):
    """Returns a centre for each spread; the distance of any two is at least `apart` times the mean of their spreads."""
    count = len(spreads)
    side, centers = apart * 1.2 * count ** (1 / min(columns, 6)), []
    while len(centers) < count:
        for _ in range(200):
            center, own = draw.uniform(0, side, columns), spreads[len(centers)]
            if all(np.linalg.norm(center - other) >= apart * (own + spread) / 2 * stretch**0.5 for other, spread in zip(centers, spreads)):
                centers.append(center)
                break
        else:
            side *= 1.1
    return centers


def groups(draw, count, columns, rows, apart, sizes=None, spreads=None, stretch=1.0, noise=0.0):
    """Returns normal groups whose centres are at least `apart` mean standard deviations apart."""
    sizes = np.ones(count) if sizes is None else sizes(count)
    spreads = np.ones(count) if spreads is None else spreads(count)
    centers = centers_apart(draw, columns, apart, spreads, stretch)
    members = np.maximum((sizes / sizes.sum() * rows).astype(int), 8)
    parts = []
    for center, spread, many in zip(centers, spreads, members):
        part = draw.normal(size=(many, columns))
        if stretch > 1:
            part = part * np.geomspace(stretch**0.5, stretch**-0.5, columns) @ np.linalg.qr(draw.normal(size=(columns, columns)))[0]
        parts.append(center + spread * part)
    found = np.vstack(parts)
    if noise:
        found = np.vstack([found, draw.uniform(found.min(0), found.max(0), (int(noise * len(found)), columns))])
    return found[draw.permutation(len(found))]


def drawn(seed):
    """Returns name -> (kind, rows, number of groups), with a separate draw for each name."""
    sets = {}

    def add(name, kind, count, make):
        sets[name] = (kind, np.asarray(make(np.random.default_rng([seed, *name.encode()])), float), count)

    for count, columns, rows, apart in EQUAL:
        add(f"equal, {count} groups, {columns} columns, {rows} rows", "compact", count, lambda draw: groups(draw, count, columns, rows, apart))
    for count, columns, rows, apart in UNEQUAL:
        add(f"unequal sizes and spreads, {count} groups, {columns} columns", "compact", count, lambda draw: groups(draw, count, columns, rows, apart, lambda n: draw.uniform(1, 10, n), lambda n: draw.uniform(0.5, 2, n)))
    for count, columns, rows, apart in HEAVY:
        add(f"Pareto sizes, {count} groups, {columns} columns", "compact", count, lambda draw: groups(draw, count, columns, rows, apart, lambda n: draw.pareto(1.5, n) + 1))
    for count, columns, rows, apart in NOISY:
        add(f"with a tenth of noise, {count} groups, {columns} columns", "compact", count, lambda draw: groups(draw, count, columns, rows, apart, noise=0.1))
    for count, columns, rows, apart, stretch in LONG:
        add(f"stretched {stretch} times, {count} groups, {columns} columns", "long", count, lambda draw: groups(draw, count, columns, rows, apart, stretch=stretch))
    for side in (2, 3):
        add(f"uniform squares, {side * side} groups", "compact", side * side, lambda draw: np.vstack([np.array([a, b]) * 1.5 + draw.uniform(size=(300, 2)) for a in range(side) for b in range(side)]))
    add("exponential, 3 groups", "compact", 3, lambda draw: np.vstack([np.array(at) + draw.exponential(size=(500, 2)) for at in ([0, 0], [8, 0], [0, 8])]))
    add("t with 5 degrees, 4 groups", "compact", 4, lambda draw: np.vstack([np.array(at) + draw.standard_t(5, (400, 2)) for at in ([0, 0], [9, 0], [0, 9], [9, 9])]))
    add("grid, 100 groups", "compact", 100, lambda draw: np.vstack([6 * np.array([a, b]) + draw.normal(size=(80, 2)) for a in range(10) for b in range(10)]))
    add("along a sine, 100 groups", "compact", 100, lambda draw: np.vstack([[7 * a, 40 * np.sin(a / 6)] + draw.normal(size=(80, 2)) for a in range(100)]))

    def sphere(draw, rows, columns):
        at = draw.normal(size=(rows, columns))
        return at / np.linalg.norm(at, axis=1)[:, None]

    none = {
        "cube, 2 columns": lambda d: d.uniform(size=(2000, 2)),
        "cube, 2 columns, 20000 rows": lambda d: d.uniform(size=(20000, 2)),
        "cube, 3 columns": lambda d: d.uniform(size=(2000, 3)),
        "cube, 10 columns": lambda d: d.uniform(size=(2000, 10)),
        "cube, 50 columns": lambda d: d.uniform(size=(1000, 50)),
        "interval": lambda d: d.uniform(size=(1000, 1)),
        "cube, 3 columns, 100 rows": lambda d: d.uniform(size=(100, 3)),
        "whole numbers, 2 columns": lambda d: d.integers(0, 12, (2000, 2)),
        "triangle": lambda d: (lambda u: u[u.sum(1) < 1])(d.uniform(size=(4000, 2))),
        "disc": lambda d: sphere(d, 3000, 2) * d.uniform(size=(3000, 1)) ** 0.5,
        "ball, 5 columns": lambda d: sphere(d, 2000, 5) * d.uniform(size=(2000, 1)) ** 0.2,
        "surface of a sphere, 3 columns": lambda d: sphere(d, 3000, 3),
        "surface of a sphere, 10 columns": lambda d: sphere(d, 2000, 10),
        "normal, 1 column": lambda d: d.normal(size=(2000, 1)),
        "normal, 2 columns": lambda d: d.normal(size=(3000, 2)),
        "normal, 2 columns, 30 rows": lambda d: d.normal(size=(30, 2)),
        "normal, 10 columns": lambda d: d.normal(size=(2000, 10)),
        "normal, 100 columns": lambda d: d.normal(size=(500, 100)),
        "normal, 50 columns, 100 rows": lambda d: d.normal(size=(100, 50)),
        "normal, 500 columns, 200 rows": lambda d: d.normal(size=(200, 500)),
        "long normal, 2 columns": lambda d: d.normal(size=(2000, 2)) * [10, 1],
        "long normal, 5 columns": lambda d: d.normal(size=(2000, 5)) * np.geomspace(1, 20, 5),
        "correlated normal, 20 columns": lambda d: d.normal(size=(2000, 20)) @ d.normal(size=(20, 20)),
        "three factors, 30 columns": lambda d: d.normal(size=(1000, 3)) @ d.normal(size=(3, 30)) + 0.5 * d.normal(size=(1000, 30)),
        "exponential, 2 columns": lambda d: d.exponential(size=(2000, 2)),
        "exponential, 10 columns": lambda d: d.exponential(size=(2000, 10)),
        "t with 3 degrees, 2 columns": lambda d: d.standard_t(3, (2000, 2)),
        "t with 5 degrees, 10 columns": lambda d: d.standard_t(5, (2000, 10)),
        "t with 2 degrees, 5 columns": lambda d: d.standard_t(2, (3000, 5)),
        "lognormal, 2 columns": lambda d: d.lognormal(size=(2000, 2)),
        "lognormal, 5 columns": lambda d: d.lognormal(sigma=0.7, size=(2000, 5)),
        "line, 3 columns": lambda d: d.uniform(size=(1500, 1)) * [1, 2, 3] + 0.01 * d.normal(size=(1500, 3)),
    }
    for name, make in none.items():
        add(name, "none", 1, make)
    return sets


def labelled_rows():
    """Returns name -> (kind, rows, group of each) of labelled sets; columns in different units are standardised."""
    sets = {}
    for path in sorted(Path(os.environ.get("LEHR_DATA", "nowhere"), "benchmarks").glob("*.csv.gz")):
        name = path.name.removesuffix(".csv.gz")
        with gzip.open(path, "rt") as lines:
            table = np.genfromtxt(lines, delimiter=",", skip_header=1)
        rows, labels = table[:, :-1], table[:, -1].astype(int)
        kind = "compact" if name.startswith(COMPACT_FILES) else "classes" if name.startswith(("uci", "opt")) else "shape"
        sets[name] = (kind, standardised(rows) if name.startswith("uci") else rows, labels)
    for name, same in {"iris": "", "wine": "uci_wine", "breast_cancer": "uci_wdbc", "digits": "optdigits_tes"}.items():
        if same in sets:
            continue
        found = getattr(datasets, f"load_{name}")()
        sets[name] = ("classes", found.data if name in ("iris", "digits") else standardised(found.data), found.target)
    return sets


def labelled():
    """Returns the same sets as `labelled_rows`, with the number of groups in place of the labels."""
    return {name: (kind, rows, len(set(labels))) for name, (kind, rows, labels) in labelled_rows().items()}


def standardised(rows):
    spread = rows.std(0)
    return (rows - rows.mean(0)) / np.where(spread > 0, spread, 1)


def panel(seed):
    return {**drawn(seed), **labelled()}
