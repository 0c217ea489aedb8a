"""Draws the pictures of the front pages into `docs/site/front`, from `datasets/` and a record of the lab.

Usage: front_page.py   (`make front-page`). Run it when clusters, colours or the record change, and look at the difference.
"""

import csv
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

import lehr

HERE = Path(__file__).resolve().parent
RECORD = HERE.parent.parent / "lab/records/2026-11-24/runs.csv"
#: The sets of the chart: case of the record, words for the reader.
SETS = [
    ("gis/blocks_nv_ut_wv_2020 K=80", "census blocks\n80 clusters"),
    ("gis/blocks_nv_ut_wv_2020 K=20", "census blocks\n20 clusters"),
    ("sipu_a3 K=50", "a3\n50 clusters"),
    ("sipu_birch1 K=100", "birch1\n100 clusters"),
    ("optdigits_tes K=10", "digits\n10 clusters"),
]
ENGINES = [("lehr", "Lehr, one run"), ("scikit-learn k-means, 10 starts", "scikit-learn k-means, best of 10"), ("faiss k-means, 10 starts", "faiss k-means, best of 10")]


def clusters():
    """Census blocks of Nevada and Utah by population, and the splits that led to their clusters."""
    blocks = lehr.datasets.load_census_blocks()
    west = blocks.data[:, 0] < -100
    lon, lat = blocks.data[west].T
    # Kilometres east and north of the middle: good enough for a picture of this size.
    middle = np.radians(lat.mean())
    rows = np.c_[(lon - lon.mean()) * 111.2 * np.cos(middle), (lat - lat.mean()) * 111.2]
    model = lehr.DAClustering(8).fit(rows, sample_weight=blocks.weight[west])
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained", width_ratios=[1, 1.15])
    left.scatter(*rows.T, c=model.labels_, s=0.6, cmap="Dark2", vmin=0, vmax=7, linewidths=0)
    left.scatter(*model.cluster_centers_.T, s=12, color="black", zorder=3)
    left.set_axis_off()
    left.set(aspect="equal", title="Census blocks of Nevada and Utah in 8 clusters")
    lehr.plot.annealing_tree(model, ax=right)
    right.set_title("One cluster splits as the temperature falls")
    _save(figure, "clusters.png")


def wine():
    """The picture that the first program of `python/README.md` draws."""
    wine = lehr.datasets.load_wine()
    X = (wine.data - wine.data.mean(axis=0)) / wine.data.std(axis=0)
    figure, ax = plt.subplots()
    lehr.plot.clusters(lehr.DAClustering(n_clusters=3).fit(X), X, ax=ax)
    _save(figure, "wine.png")


def _save(figure, name):
    """Saves a picture with 64 colours: they are enough, and the file is a third as large."""
    path = HERE / "front" / name
    figure.savefig(path, dpi=100)
    from PIL import Image

    Image.open(path).convert("RGB").quantize(64).save(path, optimize=True)


def peers():
    """Excess over the best known sum of squares, from the record of `make bench-runs`."""
    with RECORD.open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    excess = {(line["case"], line["engine"]): float(line["median"]) for line in lines if line["quantity"] == "excess over the best known"}
    seconds = {(line["case"], line["engine"]): float(line["median"]) for line in lines if line["quantity"] == "run"}
    figure, axes = plt.subplots(1, len(SETS), figsize=(10, 2.9), layout="constrained", sharey=True)
    for ax, (case, words) in zip(axes, SETS):
        for place, ((engine, name), colour) in enumerate(zip(ENGINES, ["#1f5f8b", "#e08e45", "#9a9a9a"])):
            value = max(excess[case, engine], 0)
            ax.bar(place, value, color=colour, label=name)
            ax.text(place, value + 0.6, f"{value:.1f} %\n{seconds[case, engine]:.1f} s", ha="center", fontsize=7.5)
        ax.set_title(words, fontsize=9)
        ax.set_xticks([])
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set(ylabel="above the best known\nsum of squares (%)", ylim=(0, 45))
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    with plt.rc_context({"svg.hashsalt": "lehr", "svg.fonttype": "none"}):
        figure.savefig(HERE / "front/peers.svg", metadata={"Date": None}, facecolor="white")


if __name__ == "__main__":
    (HERE / "front").mkdir(exist_ok=True)
    clusters()
    wine()
    peers()
