"""Runs the contenders on tables of mixed types, and computes the adjusted Rand index of their labels with the known classes."""

import csv
import json
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import gower
import kmedoids
import pandas as pd
import prince
from kmodes.kprototypes import KPrototypes
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, silhouette_score
from sklearn.preprocessing import StandardScaler
from skrub import TableVectorizer

HERE = Path(__file__).resolve().parent
STARTS = 10
# The number of starts of kmodes and of PAM, which take seconds on thousands of rows.
FEW_STARTS = 3
SEEDS = {"given": range(5), "found": range(3)}
# The numbers of clusters that contenders may choose from if none is given.
OFFERED = range(2, 11)


class Lehr:
    """Runs `lehr cluster FILE --auto` with further options."""

    def __init__(self, command):
        self.command = command

    def labels(self, one, seed, clusters=None, is_told_columns=False):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "table.csv")
            file.write_text(one.text, encoding="utf-8")
            options = ["--auto", "--quiet", "--seed", str(seed), "--out", f"{folder}/out"]
            options += ["--clusters", str(clusters)] if clusters else []
            options += ["--columns", ",".join(name for name in [*one.measures, *one.categories] if name not in one.codes)] if is_told_columns else []
            subprocess.run([self.command, "cluster", file, *options], capture_output=True, text=True, check=True)
            with open(f"{folder}/out/labels.csv", encoding="utf-8", newline="") as labels:
                return [int(row["cluster"]) for row in csv.DictReader(labels)]


def scaled(frame, one):
    frame = frame.copy()
    frame[one.measures] = StandardScaler().fit_transform(frame[one.measures].astype(float))
    return frame


def k_prototypes(frame, one, clusters, seed):
    places = [frame.columns.get_loc(name) for name in one.categories]
    return KPrototypes(clusters, init="Huang", n_init=FEW_STARTS, random_state=seed).fit_predict(scaled(frame, one), categorical=places)


def gower_pam(frame, one, clusters, seed):
    """Returns the labels of the best of several random starts of FasterPAM."""
    distances = gower.gower_matrix(frame, cat_features=[name in one.categories for name in frame])
    runs = [kmedoids.fasterpam(distances, clusters, random_state=FEW_STARTS * seed + start) for start in range(FEW_STARTS)]
    return min(runs, key=lambda run: run.loss).labels


def famd_kmeans(frame, one, clusters, seed):
    axes = prince.FAMD(n_components=5, random_state=seed).fit(frame).row_coordinates(frame)
    return KMeans(clusters, n_init=STARTS, random_state=seed).fit_predict(axes.to_numpy())


def vectors(frame, one):
    return StandardScaler().fit_transform(TableVectorizer().fit_transform(frame))


def skrub_kmeans(frame, one, clusters, seed):
    return KMeans(clusters, n_init=STARTS, random_state=seed).fit_predict(vectors(frame, one))


def skrub_silhouette(frame, one, seed):
    rows = vectors(frame, one)
    found = [KMeans(clusters, n_init=STARTS, random_state=seed).fit_predict(rows) for clusters in OFFERED]
    return max(found, key=lambda labels: silhouette_score(rows, labels, sample_size=min(len(rows), 2000), random_state=0))


GIVEN = {"k-prototypes (kmodes)": k_prototypes, "Gower + PAM": gower_pam, "FAMD + k-means (prince)": famd_kmeans, "skrub + k-means": skrub_kmeans}


def of_r(rscript, frame, one, clusters):
    """Returns the labels of clustMixType and FactoMineR, by contender and seed; nothing without R."""
    if not rscript:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        scaled(frame, one).to_csv(f"{folder}/table.csv", index=False)
        seeds = ",".join(map(str, SEEDS["given"]))
        done = subprocess.run([rscript, HERE / "quality.R", f"{folder}/table.csv", str(len(one.measures)), str(clusters), seeds, str(STARTS), f"{folder}/labels.csv"], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr)
        labels = pd.read_csv(f"{folder}/labels.csv")
    found = {}
    for column in labels:
        name, seed = column.rsplit(".", 1)
        found.setdefault(name.replace("_", " "), {})[int(seed)] = labels[column].tolist()
    return found


def agreement(one, labels):
    """Computes the agreement with the classes; rows that a contender leaves out (-1) count as one cluster."""
    judged = [(known, label) for row, (known, label) in enumerate(zip(one.classes, labels, strict=True)) if row not in one.left_out]
    return adjusted_rand_score(*zip(*judged))


def judged(one, by_seed):
    """Returns the agreement and the number of clusters for each seed."""
    rounded = {seed: round(float(agreement(one, labels)), 4) for seed, labels in by_seed.items()}
    return {"agreement": list(rounded.values()), "clusters": [len(set(labels) - {-1}) for labels in by_seed.values()]}


def compare(lehr, rscript, one, say):
    """Returns the agreement of each contender on one set, with the number of clusters given and found."""
    warnings.simplefilter("ignore")
    frame, clusters = one.frame(), one.groups
    sides = {
        "given": {"Lehr": lambda seed: lehr.labels(one, seed, clusters), "Lehr, all columns": lambda seed: lehr.labels(one, seed, clusters, True)},
        "found": {"Lehr": lambda seed: lehr.labels(one, seed), "Lehr, all columns": lambda seed: lehr.labels(one, seed, None, True), "skrub + k-means, silhouette": lambda seed: skrub_silhouette(frame, one, seed)},
    }
    for name, make in GIVEN.items():
        sides["given"][name] = lambda seed, make=make: make(frame, one, clusters, seed)
    results = {"given": {}, "found": {}}
    for part, contenders in sides.items():
        labels, seconds = {name: {} for name in contenders}, {name: 0.0 for name in contenders}
        # Contenders take turns, each once for each seed.
        for seed in SEEDS[part]:
            for name, make in contenders.items():
                began = time.perf_counter()
                labels[name][seed] = list(make(seed))
                seconds[name] += time.perf_counter() - began
        for name, by_seed in labels.items():
            results[part][name] = judged(one, by_seed) | {"seconds": round(seconds[name] / len(SEEDS[part]), 2)}
            say(f"{part}, {name}: {results[part][name]}")
    # One process makes the runs of all seeds, because R takes seconds to start.
    for name, by_seed in of_r(rscript, frame, one, clusters).items():
        part = "found" if name.endswith("found") else "given"
        results[part][name.removesuffix(", found")] = judged(one, by_seed)
        say(f"{part}, {name}: {judged(one, by_seed)}")
    return {"kind": one.kind, "rows": len(one.rows), "measures": len(one.measures), "categories": len(one.categories), "groups": clusters} | json.loads(json.dumps(results))
