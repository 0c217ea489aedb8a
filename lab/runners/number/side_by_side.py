"""How many clusters has each set of the panel? Ours beside silhouette, gap statistic, BIC of mixtures, X-means and HDBSCAN.

Every side except Lehr may choose among numbers up to 1.5 times the true one, at least 20, including the true one. These sides get at most 5,000 rows, or 40 for each group. Lehr runs as `lehr cluster FILE`, without a number.

Usage: side_by_side.py --lehr target/release/lehr --record lab/records/local/number.json [--seed 1] [--sides ours,silhouette,…] [--only WORD]
The record grows set by set; what it holds already is not done again.
"""

import argparse
import json
import platform
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import sklearn
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.metrics import silhouette_score
from sklearn.mixture import GaussianMixture

from panel import panel

warnings.simplefilter("ignore")


def offered(count, rows):
    """Returns the offered numbers: all up to 20, then each a twentieth above the previous one."""
    most = max(20, int(1.5 * count))
    numbers, last = set(range(1, min(most, 20) + 1)), 20
    while last < most:
        last = max(last + 1, int(last * 1.05))
        numbers.add(last)
    return sorted(number for number in numbers | {count} if number < rows // 3)


def by_kmeans(rows, numbers):
    return {number: KMeans(number, n_init=3, random_state=0).fit(rows) for number in numbers}


def silhouette(rows, numbers):
    some = np.random.default_rng(0).permutation(len(rows))[:2000]
    scores = {}
    for number, model in by_kmeans(rows, numbers).items():
        labels = model.labels_[some]
        if 1 < len(set(labels)) < len(some):
            scores[number] = silhouette_score(rows[some], labels)
    return max(scores, key=scores.get)


def gap(rows, numbers, references=5):
    """Returns the number by Tibshirani, Walther and Hastie 2001: uniform references in the box of the principal axes, the first number within a standard error of the next."""
    draw = np.random.default_rng(0)
    rows = rows - rows.mean(0)
    turned = rows @ np.linalg.svd(rows, full_matrices=False)[2].T
    low, high = turned.min(0), turned.max(0)
    logs = {number: [] for number in numbers}
    for _ in range(references):
        reference = draw.uniform(low, high, turned.shape)
        for number in numbers:
            logs[number].append(np.log(KMeans(number, n_init=1, random_state=0).fit(reference).inertia_))
    found = {number: np.log(max(model.inertia_, 1e-300)) for number, model in by_kmeans(rows, numbers).items()}
    gaps = {number: np.mean(logs[number]) - found[number] for number in numbers}
    errors = {number: np.std(logs[number]) * np.sqrt(1 + 1 / references) for number in numbers}
    return next((a for a, b in zip(numbers, numbers[1:]) if gaps[a] >= gaps[b] - errors[b]), numbers[-1])


def bic(rows, numbers):
    """Returns the number by the BIC of mixtures of normals, with full covariances in up to 10 columns, otherwise diagonal ones."""
    columns = rows.shape[1]
    form = "full" if columns <= 10 else "diag"
    scores, worse = {}, 0
    for number in numbers:
        if number > 1 and number * columns * (columns if form == "full" else 1) > 4 * rows.size:
            break
        try:
            model = GaussianMixture(number, covariance_type=form, random_state=0, max_iter=60, reg_covar=1e-6 * rows.var()).fit(rows)
        except ValueError:
            continue
        worse = 0 if not scores or model.bic(rows) < min(scores.values()) else worse + 1
        scores[number] = model.bic(rows)
        if worse > 12:
            break
    return min(scores, key=scores.get)


def x_means(rows, numbers):
    """Returns the number by Pelleg and Moore 2000: each cluster is divided in two while the BIC of the two, as spheres of one variance, is better."""

    def score(part, labels, centers):
        count, columns, clusters = len(part), part.shape[1], len(centers)
        if count <= clusters:
            return -np.inf
        variance = max(((part - centers[labels]) ** 2).sum() / (columns * (count - clusters)), 1e-300)
        sizes = np.bincount(labels, minlength=clusters)
        entropy = sum(size * np.log(size / count) for size in sizes if size)
        return entropy - count * columns / 2 * np.log(2 * np.pi * variance) - columns * (count - clusters) / 2 - clusters * (columns + 1) / 2 * np.log(count)

    centers = rows.mean(0)[None]
    while True:
        model, grown = KMeans(len(centers), init=centers, n_init=1).fit(rows), []
        for cluster, center in enumerate(model.cluster_centers_):
            part = rows[model.labels_ == cluster]
            if len(part) >= 4:
                two = KMeans(2, n_init=2, random_state=0).fit(part)
                if score(part, two.labels_, two.cluster_centers_) > score(part, np.zeros(len(part), int), part.mean(0)[None]):
                    grown.extend(two.cluster_centers_)
                    continue
            grown.append(center)
        if len(grown) == len(centers) or len(grown) > len(rows) // 4:
            return len(grown)
        centers = np.array(grown)


def hdbscan(rows, numbers):
    """Returns the number of HDBSCAN, with groups of at least a two-hundredth of the rows, or 15 rows."""
    least = max(5, len(rows) // 200) if max(numbers) <= 30 else 15
    labels = HDBSCAN(min_cluster_size=least, copy=True).fit(rows).labels_
    return max(1, len(set(labels[labels >= 0])))


PEERS = {"silhouette": silhouette, "gap": gap, "BIC": bic, "X-means": x_means, "HDBSCAN": hdbscan}


def ours(lehr, rows):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.npy")
        np.save(path, rows)
        command = [lehr, "cluster", path, "--json", "--out", Path(folder, "out")]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)["result"]["number"]
    return found["clusters"], {"reason": found["reason"], "runners_up": [(other["clusters"], other["separation"]) for other in found["runners_up"]]}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--lehr", required=True)
    arguments.add_argument("--record", required=True, type=Path)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--sides", default="ours," + ",".join(PEERS))
    arguments.add_argument("--only", default="")
    given = arguments.parse_args()
    record = json.loads(given.record.read_text()) if given.record.exists() else {"sets": {}}
    record |= {"seed": given.seed, "scikit-learn": sklearn.__version__, "python": platform.python_version()}
    for name, (kind, rows, count) in sorted(panel(given.seed).items(), key=lambda item: item[1][1].size * item[1][2]):
        if given.only not in name:
            continue
        found = record["sets"].setdefault(name, {"kind": kind, "groups": count, "rows": len(rows), "columns": rows.shape[1], "found": {}})
        few = rows
        if len(rows) > 5000:
            few = rows[np.random.default_rng(0).permutation(len(rows))[: max(5000, 40 * count)]]
        for side in given.sides.split(","):
            if side in found["found"]:
                continue
            began = time.perf_counter()
            if side == "ours":
                number, evidence = ours(given.lehr, rows)
            else:
                number, evidence = PEERS[side](few, offered(count, len(few))), {}
            found["found"][side] = {"clusters": int(number), "seconds": round(time.perf_counter() - began, 2), **evidence}
            print(f"{name}: {count} groups, {side} {number}", flush=True)
            given.record.parent.mkdir(parents=True, exist_ok=True)
            given.record.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
