"""Plots of models with matplotlib.

The plots show clusters, mixtures, blocks and trees of items, maps, topographic maps, annealing and its tree of divisions, Shepard diagrams, and parallel overheads.

To show the clusters of a table by its columns, use :func:`profiles`, :func:`box_plots`, :func:`parallel_coordinates` or :func:`silhouettes`.

Each function draws on axes and returns them, so you can combine plots. The first plot imports matplotlib.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse
from sklearn.decomposition import PCA
from sklearn.utils.validation import check_is_fitted

from lehr import _checks
from lehr._centers import unpacked
from lehr._dendrogram import top_of
from lehr._drawing import COLOURS, axes_or_new, class_colours
from lehr._grouped import labels_of, refuse_others
from lehr._names import listed
from lehr._native import Fingerprints
from lehr._table_plots import box_plots, parallel_coordinates, profiles, silhouettes

__all__ = [
    "annealing", "annealing_tree", "blocks", "box_plots", "clusters", "components", "dendrogram", "embedding", "overhead", "parallel_coordinates", "profiles", "shepard",
    "silhouettes", "topography",
]  # fmt: skip
__dir__ = listed(__all__)

#: The maximum number of points that a plot draws. If there are more points, the plot draws a random point from each of equally long stretches.
_MOST_POINTS = 100_000


def _thinned(length: int) -> NDArray[np.int64]:
    ends = np.linspace(0, length, min(length, _MOST_POINTS) + 1).astype(np.int64)
    return ends[:-1] + (np.random.default_rng(0).random(len(ends) - 1) * np.diff(ends)).astype(np.int64)


def _scatter(ax: Any, places: NDArray[Any], classes: NDArray[Any], names: list[str]) -> None:
    """Draws points in the colours of their classes, which are numbered from 0. Adds the classes to the legend if there are enough colours."""
    # matplotlib has already been imported with the axes.
    from matplotlib.colors import ListedColormap

    colours = class_colours()
    ax.scatter(*places.T, c=classes % COLOURS, cmap=ListedColormap(colours), vmin=0, vmax=COLOURS - 1, s=8, linewidths=0, zorder=2)
    if len(names) <= COLOURS:
        for colour, name in zip(colours, names, strict=False):
            ax.plot([], [], "o", color=colour, markersize=4, label=name)


def _legend(ax: Any, count: int) -> None:
    """Draws a legend, unless it would have more entries than there are colours."""
    if count <= COLOURS:
        ax.legend(fontsize=8)


def _coloured(ax: Any, places: NDArray[Any], labels: ArrayLike | None, shown: NDArray[np.int64]) -> None:
    """Draws points coloured by label: numbers with a colour bar, classes with a legend. Whole numbers with up to 20 distinct values are classes."""
    if labels is None:
        ax.scatter(*places[shown].T, s=8, linewidths=0, zorder=2)
        return
    values = np.asarray(labels)
    if values.ndim != 1 or len(values) != len(places):
        raise ValueError(f"expected labels of the {len(places)} rows that were fitted, found an array of shape {values.shape}")
    known, classes = np.unique(values, return_inverse=True)
    is_scale = values.dtype.kind == "f" and not np.array_equal(known, np.round(known)) or values.dtype.kind in "fiu" and len(known) > COLOURS
    if is_scale:
        drawn = ax.scatter(*places[shown].T, c=values[shown], cmap="viridis", s=8, linewidths=0, zorder=2)
        ax.figure.colorbar(drawn, ax=ax)
        return
    _scatter(ax, places[shown], classes[shown], [str(name) for name in known])
    _legend(ax, len(known))


class _Plane:
    """The two dimensions in which rows are drawn: their own columns, or their first two principal components."""

    def __init__(self, rows: Any) -> None:
        width = rows.shape[1]
        if width > 2:
            # For sparse rows, arpack needs only products with the matrix, so that it stays sparse.
            axes = PCA(2, svd_solver="arpack" if issparse(rows) else "full", random_state=0).fit(rows)
            self.origin, self.axes = axes.mean_, axes.components_
            shares = enumerate(axes.explained_variance_ratio_)
            self.names = [f"axis {k + 1} ({share:.0%} of the variance)" for k, share in shares]
        else:
            self.origin, self.axes = np.zeros(width), np.eye(2, width)
            self.names = ["x0", "x1" if width == 2 else ""]

    def places(self, rows: Any) -> NDArray[Any]:
        if issparse(rows):
            return rows @ self.axes.T - self.origin @ self.axes.T
        return (rows - self.origin) @ self.axes.T

    def name(self, ax: Any) -> None:
        ax.set(xlabel=self.names[0], ylabel=self.names[1])


def _of_fit(model: Any, X: Any) -> Any:
    """Returns the fitted rows. Sparse rows stay sparse if they are large enough for a sparse decomposition."""
    labels = labels_of(model)
    if isinstance(X, Fingerprints):
        X = csr_array(unpacked(X.packed(), X.n_bits))
    if issparse(X):
        rows = X.tocsr().astype(np.float64)
        rows = rows if min(rows.shape) > 2 else rows.toarray()
    else:
        rows = np.asarray(X, dtype=np.float64)
    refuse_others(len(labels), rows.shape[0])
    return rows


def clusters(model: Any, X: Any, *, ax: Any = None) -> Any:
    """Plot the rows by cluster, and the centres. Rows in no cluster are grey.

    Rows with more than two columns are drawn in the plane of their first two principal components.

    Parameters
    ----------
    model : DAClustering or KMeans
        A fitted estimator.
    X : {array-like, sparse matrix or array, Fingerprints} of shape (n_samples, n_features)
        The fitted rows.
    ax : matplotlib.axes.Axes, default=None
        The axes to draw on. ``None`` creates a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If the number of rows in ``X`` differs from the number of fitted rows.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import lehr
    >>> X = [[0.0, 1.0], [1.0, 1.0], [10.0, 2.0]]
    >>> lehr.plot.clusters(lehr.DAClustering(n_clusters=2).fit(X), X).get_title()
    '2 clusters'
    """
    rows = _of_fit(model, X)
    ax = axes_or_new(ax)
    plane = _Plane(rows)
    places, centers = plane.places(rows), plane.places(model.cluster_centers_)
    shown = _thinned(rows.shape[0])
    inside = shown[model.labels_[shown] >= 0]
    outside = shown[model.labels_[shown] < 0]
    _scatter(ax, places[inside], model.labels_[inside], [f"cluster {k}" for k in range(len(centers))])
    if len(outside):
        ax.scatter(*places[outside].T, c="lightgrey", s=8, linewidths=0, label="no cluster")
    ax.scatter(*centers.T, c="black", marker="x", s=40, label="centre")
    _legend(ax, len(centers))
    plane.name(ax)
    ax.set(title=f"{len(centers)} clusters")
    return ax


def components(model: Any, X: ArrayLike, *, ax: Any = None) -> Any:
    """Plot the rows by component of a mixture, with an ellipse for each component at one standard deviation around its mean.

    Rows with more than two columns are drawn in the plane of their first two principal components. Rows with missing values are left out.

    Parameters
    ----------
    model : DAGaussianMixture
        A fitted estimator.
    X : array-like of shape (n_samples, n_features)
        The fitted rows.
    ax : matplotlib.axes.Axes, default=None
        The axes to draw on. ``None`` creates a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If the number of rows in ``X`` differs from the number of fitted rows, or ``X`` has fewer than two complete rows.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import lehr
    >>> X = [[0.0, 1.0], [1.0, 1.5], [2.0, 0.5], [10.0, 2.0], [12.0, 1.0], [11.0, 4.0]]
    >>> lehr.plot.components(lehr.DAGaussianMixture(2, covariance_type="diag").fit(X), X).get_title()
    '2 components'
    """
    rows = _of_fit(model, X)
    whole = ~np.isnan(rows).any(axis=1)
    if np.count_nonzero(whole) < 2:
        raise ValueError(f"expected two rows or more without a missing cell, found {np.count_nonzero(whole)}")
    ax = axes_or_new(ax)
    # matplotlib has already been imported with the axes.
    from matplotlib.patches import Ellipse

    rows, labels = rows[whole], model.labels_[whole]
    plane = _Plane(rows)
    places, means = plane.places(rows), plane.places(model.means_)
    shown = _thinned(len(rows))
    _scatter(ax, places[shown], labels[shown], [f"component {k}" for k in range(len(means))])
    ax.scatter(*means.T, c="black", marker="x", s=40, label="mean")
    for mean, matrix in zip(means, _covariances(model), strict=True):
        variances, directions = np.linalg.eigh(plane.axes @ matrix @ plane.axes.T)
        # The smaller variance comes first, and may be below 0 by rounding.
        height, width = 2.0 * np.sqrt(np.maximum(variances, 0.0))
        angle = np.degrees(np.arctan2(directions[1, 1], directions[0, 1]))
        ax.add_patch(Ellipse(mean, width, height, angle=angle, fill=False, color="black", linewidth=1))
    _legend(ax, len(means))
    plane.name(ax)
    ax.set(title=f"{len(means)} components")
    return ax


def _covariances(model: Any) -> NDArray[Any]:
    """Returns the covariance matrix of each component, for any covariance type."""
    count, width = model.means_.shape
    numbers = model.covariances_
    if numbers.shape == (count, width, width):
        return numbers
    if model.covariance_type == "tied":
        return np.broadcast_to(numbers, (count, width, width))
    return np.reshape(numbers, (count, -1, 1)) * np.eye(width)


def blocks(model: Any, dissimilarities: ArrayLike, *, ax: Any = None) -> Any:
    """Plot the dissimilarities of items, sorted by cluster: a compact cluster is a dark block on the diagonal, with its number beside it.

    Parameters
    ----------
    model : PairwiseClustering or KMedoids
        A fitted estimator.
    dissimilarities : array-like of shape (n_samples, n_samples)
        The dissimilarities of the fitted items. NaN, for missing pairs, is drawn white.
    ax : matplotlib.axes.Axes, default=None
        The axes to draw on. ``None`` creates a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If the number of items differs from the number of fitted items.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np, lehr
    >>> D = np.array([[0, 9, 1, 9], [9, 0, 9, 1], [1, 9, 0, 9], [9, 1, 9, 0]], dtype=float)
    >>> model = lehr.PairwiseClustering(2, metric="precomputed").fit(D)
    >>> lehr.plot.blocks(model, D).get_title()
    '2 clusters, cost 1'
    """
    matrix = _of_fit(model, dissimilarities)
    if matrix.shape != (len(matrix), len(matrix)):
        raise ValueError(f"expected the dissimilarities of the {len(matrix)} items, found an array of shape {matrix.shape}")
    ax = axes_or_new(ax)
    order = np.argsort(model.labels_, kind="stable")
    ax.imshow(matrix[np.ix_(order, order)], cmap="Greys_r", interpolation="antialiased")
    borders = np.flatnonzero(np.diff(model.labels_[order])) + 0.5
    for border in borders:
        ax.axhline(border, color="tab:red", linewidth=0.5)
        ax.axvline(border, color="tab:red", linewidth=0.5)
    ends = np.concatenate([[-0.5], borders, [len(order) - 0.5]])
    if len(borders) < COLOURS:
        ax.set_yticks((ends[:-1] + ends[1:]) / 2, [str(label) for label in np.unique(model.labels_)])
    cost = model.cost_ if hasattr(model, "cost_") else model.inertia_
    ax.set(title=f"{len(borders) + 1} clusters, cost {cost:.6g}", xlabel="items by cluster", ylabel="cluster")
    return ax


def dendrogram(model: Any, *, names: Sequence[Any] | None = None, max_leaves: int = 80, ax: Any = None) -> Any:
    """Plot a tree of items as a dendrogram: the items below one another, and each join at its height. A dashed line shows the cut.

    Joins within a cluster have the colour of the cluster, and the joins above the cut are black. If there are too many items, the plot shows only the top of
    the tree. A node below the top is named after its first item, with the number of its other items.

    Parameters
    ----------
    model : AgglomerativeClustering
        A fitted estimator.
    names : sequence of length n_samples, default=None
        The names of the items. ``None`` means the names of the columns for ``metric='precomputed'`` if ``X`` had any, otherwise the item numbers.
    max_leaves : int, default=80
        The maximum number of nodes at the bottom, at least 1.
    ax : matplotlib.axes.Axes, default=None
        The axes to draw on. ``None`` creates a new figure that is high enough for the names.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If the number of names differs from the number of fitted items, or ``max_leaves`` is not above 0.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import lehr
    >>> model = lehr.AgglomerativeClustering(2).fit([[0.0], [10.0], [1.0]])
    >>> ax = lehr.plot.dendrogram(model, names=["ann", "bob", "cyd"])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['ann', 'cyd', 'bob']
    """
    check_is_fitted(model)
    most = _checks.integer("max_leaves", max_leaves, least=1)
    if not most:
        raise _checks.wrong("max_leaves", "an int of 1 or more", max_leaves)
    tree = top_of(model, model._names_of_items(names), most)
    rows = len(tree.leaves)
    ax = axes_or_new(ax, (6.4, float(np.clip(1.2 + 0.18 * rows, 3.2, 16.0))))
    # matplotlib has already been imported with the axes.
    from matplotlib.collections import LineCollection

    colours = class_colours()

    def colour(cluster: int | None) -> Any:
        return "black" if cluster is None else colours[cluster % COLOURS]

    places = [(0.0, float(row)) for row in range(rows)]
    lines = []
    for left, right, height, _ in tree.joins:
        (x, y), (other_x, other_y) = places[left], places[right]
        lines.append([(x, y), (height, y), (height, other_y), (other_x, other_y)])
        places.append((height, (y + other_y) / 2))
    ax.add_collection(LineCollection(lines, colors=[colour(join.cluster) for join in tree.joins], linewidths=1), autolim=False)
    if tree.cut is not None:
        ax.axvline(tree.cut, color="grey", linewidth=1, linestyle="--", zorder=0)
    ax.yaxis.tick_right()
    ax.set_yticks(range(rows), [leaf.name for leaf in tree.leaves], fontsize=8 if rows <= 40 else 6)
    for label, leaf in zip(ax.get_yticklabels(), tree.leaves, strict=True):
        label.set_color(colour(leaf.cluster))
    highest = tree.joins[-1].height if tree.joins else 0.0
    kept = model.n_clusters_
    # The root of the tree is at the left, and the first item at the top.
    ax.set(
        xlim=(1.02 * highest or 1.0, 0.0), ylim=(rows - 0.5, -0.5), xlabel="height",
        title=f"{kept} cluster{'s' if kept != 1 else ''}, mean silhouette {model.silhouette_score_:.2f}",
    )  # fmt: skip
    return ax


def embedding(model: Any, labels: ArrayLike | None = None, *, ax: Any = None) -> Any:
    """Plot a map in its first two dimensions.

    Parameters
    ----------
    model : SMACOF
        A fitted estimator.
    labels : array-like of shape (n_samples,), default=None
        A class or a number for each item, which determines its colour. Classes get a legend, numbers a colour bar. Integers with up to 20 different values are
        classes.
    ax : matplotlib.axes.Axes, default=None
        The axes to draw on. ``None`` creates a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import lehr
    >>> model = lehr.SMACOF().fit([[0.0, 1.0], [1.0, 1.0], [10.0, 2.0]])
    >>> lehr.plot.embedding(model, labels=["a", "a", "b"]).get_title()
    'stress 0.0000 (stress-1 0.0000)'
    """
    check_is_fitted(model)
    ax = axes_or_new(ax)
    positions = model.embedding_
    places = positions[:, :2] if positions.shape[1] > 1 else np.column_stack([positions, np.zeros(len(positions))])
    shown = _thinned(len(places))
    _coloured(ax, places, labels, shown)
    # The map shows distances, so both axes need the same scale.
    ax.set_aspect("equal", adjustable="datalim")
    stress = f"stress-1 {model.stress_1_:.4f}"
    # If stress_ is stress-1, the title gives this number only once.
    ax.set(title=stress if model.stress_ == model.stress_1_ and model.stress_ > 0 else f"stress {model.stress_:.4f} ({stress})")
    return ax


def annealing(model: Any, *, ax: Any = None) -> Any:
    """Plot the free energy against the temperature, with the number of clusters after each division.

    Parameters
    ----------
    model : DAClustering or PairwiseClustering
        A fitted estimator.
    ax : matplotlib.axes.Axes, default=None
        The axes to draw on. ``None`` creates a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import lehr
    >>> model = lehr.DAClustering(n_clusters=2).fit([[0.0], [1.0], [10.0], [11.0]])
    >>> lehr.plot.annealing(model).get_xlabel()
    'temperature'
    """
    check_is_fitted(model)
    ax = axes_or_new(ax)
    temperature, energy = model.history_["temperature"], model.history_["free_energy"]
    rises = np.flatnonzero(np.diff(temperature) >= 0)
    grown = rises[0] + 1 if len(rises) else len(temperature)
    ax.plot(temperature[:grown], energy[:grown], color="black", linewidth=1, label="first cooling")
    if grown < len(temperature):
        ax.plot(temperature[grown:], energy[grown:], color="black", linewidth=1, linestyle=":", label="second cooling, with the final number of clusters")
    splits = model.splits_["temperature"]
    there = np.interp(splits, temperature[:grown][::-1], energy[:grown][::-1])
    for split, height in zip(model.splits_, there, strict=True):
        ax.annotate(str(split["n_clusters"]), (split["temperature"], height), ha="center", va="bottom", fontsize=8)
    if len(splits):
        ax.plot(splits, there, "o", color="tab:red", markersize=4, label="a cluster divides: clusters after it")
    ax.legend(fontsize=8)
    # Annealing runs from hot to cold.
    ax.set(xscale="log", xlabel="temperature", ylabel="free energy")
    ax.xaxis.set_inverted(True)
    return ax


def annealing_tree(model: Any, *, ax: Any = None) -> Any:
    """Plot the tree of divisions against the temperature, from one cluster at the left to all clusters at the right.

    Divisions beyond the final number of clusters are dotted. A grey line shows where the run merged two clusters again while cooling.

    Parameters
    ----------
    model : DAClustering or PairwiseClustering
        A fitted estimator.
    ax : matplotlib.axes.Axes, default=None
        The axes to draw on. ``None`` creates a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import lehr
    >>> model = lehr.DAClustering(n_clusters=3).fit([[0.0], [1.0], [10.0], [11.0], [30.0], [31.0]])
    >>> lehr.plot.annealing_tree(model).get_title()
    '3 clusters'
    """
    check_is_fitted(model)
    ax = axes_or_new(ax)
    temperature = model.history_["temperature"]
    children: dict[int, tuple[int, int]] = {}
    # A branch is a component between two of its divisions. `ends` has the temperature at which each branch ends, `of` the current branch of each component.
    # With a single cluster, there is no cooling.
    hottest = float(temperature[0]) if len(temperature) else float(model.critical_temperature_)
    begins, ends, counts, of = [hottest], [float("nan")], [0], [0]
    components = [0]
    for split in model.splits_:
        branch = of[split["parent"]]
        ends[branch] = float(split["temperature"])
        children[branch] = (len(begins), len(begins) + 1)
        components += [split["parent"], len(of)]
        of[split["parent"]] = len(begins)
        of.append(len(begins) + 1)
        begins += [float(split["temperature"])] * 2
        ends += [float("nan")] * 2
        counts += [int(split["n_clusters"])] * 2
    heights = _heights(children)
    for number, split in enumerate(model.splits_, 1):
        if not np.isnan(split["merged_at"]):
            ends[of[number]] = float(split["merged_at"])
    # After the temperature has risen again, there are no more divisions.
    rises = np.flatnonzero(np.diff(temperature) >= 0)
    coldest = temperature[: rises[0] + 1] if len(rises) else temperature
    last = float(min([*coldest, *begins]))
    kept = len(model.clusters_)
    for branch, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        style = "-" if counts[branch] <= kept else ":"
        ax.plot([begin, last if np.isnan(end) else end], [heights[branch]] * 2, color="black", linewidth=1, linestyle=style)
    for branch, (one, other) in children.items():
        style = "-" if counts[one] <= kept else ":"
        ax.plot([ends[branch]] * 2, [heights[one], heights[other]], color="tab:red", linewidth=1, linestyle=style)
    for number, split in enumerate(model.splits_, 1):
        if split["merged_into"] >= 0:
            at = float(split["merged_at"])
            there = [branch for branch, of_branch in enumerate(components) if of_branch == split["merged_into"] and begins[branch] >= at]
            ax.plot([at] * 2, [heights[of[number]], heights[there[-1]]], color="grey", linewidth=1, zorder=0)
    # Annealing runs from hot to cold.
    title = f"{kept} clusters" if kept != 1 else "1 cluster"
    if max(counts) > kept:
        title += "; dotted: merged again"
    ax.set(xscale="log", xlabel="temperature", yticks=[], title=title)
    ax.xaxis.set_inverted(True)
    return ax


def _heights(children: dict[int, tuple[int, int]]) -> dict[int, float]:
    """Returns the position of each branch. Branches without children are below one another; other branches are midway between their children."""
    heights: dict[int, float] = {}
    rows, waiting = 0, [0]
    while waiting:
        branch = waiting[-1]
        pair = children.get(branch)
        if pair is None:
            heights[branch] = float(rows)
            rows += 1
        elif pair[1] not in heights:
            # The first child is placed before the second.
            waiting.append(pair[1] if pair[0] in heights else pair[0])
            continue
        else:
            heights[branch] = (heights[pair[0]] + heights[pair[1]]) / 2
        waiting.pop()
    return heights


def overhead(record: str | os.PathLike[str] | Iterable[Mapping[str, Any]], *, n_clusters: int | None = None, ax: Any = None) -> Any:
    """Plot the parallel overhead of each layout against the points per rank, with the minimum and maximum of its runs.

    An overhead of f means an efficiency of 1 / (1 + f).

    Parameters
    ----------
    record : path-like or list of dict
        The file that ``lehr lab overhead --record`` wrote, or the figures in it.
    n_clusters : int, default=None
        The plot shows the runs with this number of clusters. ``None`` means the number of clusters that was measured at the most sizes; of several such
        numbers, the largest.
    ax : matplotlib.axes.Axes, default=None
        The axes to draw on. ``None`` creates a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If the record has no overheads, or none with this number of clusters.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import lehr
    >>> figure = {"experiment": "overhead", "layout": "2x1x1", "clusters": 10, "min": 0.1, "median": 0.2, "max": 0.3}
    >>> ax = lehr.plot.overhead([{**figure, "rows": 5000}, {**figure, "rows": 10000}])
    >>> ax.get_title(), [text.get_text() for text in ax.get_legend().get_texts()]
    ('10 clusters', ['2 threads'])
    """
    figures: Any = record
    if isinstance(record, (str, os.PathLike)):
        with open(record, encoding="utf-8") as file:
            figures = json.load(file)
    # The figures of other methods, which have the key `method`, are left out.
    figures = [figure for figure in figures if figure.get("experiment") == "overhead" and "method" not in figure]
    if not figures:
        raise ValueError("expected a record of lehr lab overhead, found no overhead in it")
    sizes: dict[int, set[int]] = {}
    for figure in figures:
        sizes.setdefault(figure["clusters"], set()).add(figure["rows"])
    chosen = max(sizes, key=lambda count: (len(sizes[count]), count)) if n_clusters is None else n_clusters
    if chosen not in sizes:
        raise ValueError(f"expected one of the numbers of clusters {sorted(sizes)}, found {n_clusters}")
    ax = axes_or_new(ax)
    shown = [figure for figure in figures if figure["clusters"] == chosen]
    for layout in dict.fromkeys(figure["layout"] for figure in shown):
        here = sorted((figure for figure in shown if figure["layout"] == layout), key=lambda figure: figure["rows"])
        ranks, name = _layout(layout)
        median = np.array([figure["median"] for figure in here])
        spread = np.abs(np.array([[figure["min"], figure["max"]] for figure in here]).T - median)
        ax.errorbar([figure["rows"] / ranks for figure in here], median, yerr=spread, marker="o", markersize=4, linewidth=1, capsize=2, label=name)
    ax.axhline(0.0, color="lightgrey", linewidth=1, zorder=0)
    ax.set(xscale="log", xlabel="points a rank", ylabel="overhead", title=f"{chosen} clusters")
    ax.legend()
    return ax


def _layout(text: str) -> tuple[int, str]:
    """Returns the number of ranks in a layout (threads by processes by nodes), and the description of the layout."""
    threads, processes, nodes = (int(number) for number in text.split("x"))
    words = [(threads, "threads"), (processes, "processes"), (nodes, "nodes")]
    return threads * processes * nodes, " in ".join(f"{count} {word}" for count, word in words if count > 1) or "1 thread"


def shepard(model: Any, *, ax: Any = None) -> Any:
    """Plot the Shepard diagram: the number of pairs by dissimilarity and by distance in the map.

    Parameters
    ----------
    model : SMACOF
        A fitted estimator.
    ax : matplotlib.axes.Axes, default=None
        The axes to draw on. ``None`` creates a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import lehr
    >>> model = lehr.SMACOF().fit([[0.0, 1.0], [1.0, 1.0], [10.0, 2.0]])
    >>> lehr.plot.shepard(model).get_title()
    'correlation 1.000'
    """
    check_is_fitted(model)
    ax = axes_or_new(ax)
    diagram = model.shepard_
    counts = diagram["counts"].astype(np.float64)
    extent = (0, diagram["largest_distance"] or 1.0, 0, diagram["largest_dissimilarity"] or 1.0)
    ax.imshow(np.log1p(counts), origin="lower", extent=extent, aspect="auto", cmap="Greys")
    most = min(extent[1], extent[3])
    ax.plot([0, most], [0, most], color="tab:red", linewidth=1)
    ax.set(xlabel="distance in the map", ylabel="dissimilarity", title=f"correlation {diagram['correlation']:.3f}")
    return ax


def topography(model: Any, labels: ArrayLike | None = None, *, ax: Any = None) -> Any:
    """Plot rows on a topographic map, over a background that shows how far the map is stretched.

    Dark areas have a large distance between neighbouring nodes, so they show the borders between groups. A one-dimensional map is drawn as a profile, with the
    rows below it. Of a three-dimensional map, the plot shows the first two dimensions.

    Parameters
    ----------
    model : GTM
        A fitted estimator.
    labels : array-like of shape (n_samples,), default=None
        A class or a number for each row, which determines its colour. Classes get a legend, numbers a colour bar. Integers with up to 20 different values are
        classes.
    ax : matplotlib.axes.Axes, default=None
        The axes to draw on. ``None`` creates a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If the number of labels differs from the number of fitted rows.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import lehr
    >>> model = lehr.GTM(n_nodes=4, n_basis=2).fit([[0.0, 0.0], [1.0, 0.5], [2.0, 2.0], [3.0, 1.0]])
    >>> lehr.plot.topography(model).get_xlabel()
    'axis 1'
    """
    check_is_fitted(model)
    ax = axes_or_new(ax)
    rows = model.embedding_
    shown = _thinned(len(rows))
    title = f"log-likelihood {model.log_likelihood_:.1f}, order {model.order_:.2f}"
    side = model.n_nodes_
    if rows.shape[1] == 1:
        ax.plot(model.nodes_[:, 0], model.magnifications_, color="black", linewidth=1)
        _coloured(ax, np.column_stack([rows[:, 0], np.zeros(len(rows))]), labels, shown)
        ax.set(xlabel="axis 1", ylabel="magnification", ylim=(0 - 0.05 * model.magnifications_.max(), None), title=title)
        return ax
    if rows.shape[1] == 2:
        # Nodes run along the last axis first. The logarithm of the magnifications shows borders as well as flat areas.
        stretched = np.log(np.maximum(model.magnifications_, np.finfo(float).tiny)).reshape(side, side)
        axis = model.nodes_[:side, 1]
        ax.pcolormesh(axis, axis, stretched.T, cmap="Greys", shading="gouraud", alpha=0.6)
    _coloured(ax, rows[:, :2], labels, shown)
    ax.set(xlabel="axis 1", ylabel="axis 2", aspect="equal", title=title)
    return ax
