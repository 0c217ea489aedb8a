"""Pictures of models, on matplotlib: clusters, mixtures, blocks of items, maps, topographic maps, annealing and its tree of divisions, the Shepard diagram; and of overheads.

Four show the clusters of an ordinary table by its columns: :func:`profiles`, :func:`box_plots`, :func:`parallel_coordinates`, :func:`silhouettes`.

Each function draws on axes and returns them, so you can combine pictures. matplotlib is imported at the first one.
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

from lehr._centers import unpacked
from lehr._grouped import Column, Grouped, Silhouettes, labels_of, refuse_others, spread, word_of
from lehr._names import listed
from lehr._native import Fingerprints

__all__ = [
    "annealing", "annealing_tree", "blocks", "box_plots", "clusters", "components", "embedding", "overhead", "parallel_coordinates", "profiles", "shepard",
    "silhouettes", "topography",
]  # fmt: skip
__dir__ = listed(__all__)

#: Colours of classes.
_COLOURS = 20
#: Points drawn at most: beyond, at even intervals.
_MOST_POINTS = 100_000
#: Columns in one picture at most, and boxes of axes: beyond, those that differ most between clusters.
_MOST_COLUMNS, _MOST_BOXES = 40, 24
#: Lines of rows, and outliers of a box, drawn at most.
_MOST_LINES, _MOST_OUTLIERS = 1000, 200
#: Standard deviations from the mean at which colours end.
_MOST_SCORE = 3.0
#: Letters of a column's name that are shown.
_LETTERS = 30


def _axes(ax: Any, size: tuple[float, float] | None = None) -> Any:
    if ax is not None:
        return ax
    # Importing it takes longer than most fits, and on a cluster nobody draws.
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1]


def _thinned(length: int) -> NDArray[np.int64]:
    return np.arange(0, length, max(1, -(-length // _MOST_POINTS)))


def _scatter(ax: Any, places: NDArray[Any], classes: NDArray[Any], names: list[str]) -> None:
    """Points in the colours of their classes, numbered from 0; the legend names each, if there are enough colours."""
    ax.scatter(*places.T, c=classes % _COLOURS, cmap="tab20", vmin=0, vmax=_COLOURS - 1, s=8, linewidths=0, zorder=2)
    if len(names) <= _COLOURS:
        # Imported already, with the axes.
        from matplotlib import colormaps

        colours = colormaps["tab20"].colors  # type: ignore[attr-defined]
        for colour, name in zip(colours, names, strict=False):
            ax.plot([], [], "o", color=colour, markersize=4, label=name)


def _legend(ax: Any, count: int) -> None:
    """A legend, unless it would have more lines than there are colours."""
    if count <= _COLOURS:
        ax.legend(fontsize=8)


def _coloured(ax: Any, places: NDArray[Any], labels: ArrayLike | None, shown: NDArray[np.int64]) -> None:
    """Points by label: numbers on a scale with a bar beside it, classes with a legend. Integers with few distinct values are classes."""
    if labels is None:
        ax.scatter(*places[shown].T, s=8, linewidths=0, zorder=2)
        return
    values = np.asarray(labels)
    if values.ndim != 1 or len(values) != len(places):
        raise ValueError(f"expected labels of the {len(places)} rows that were fitted, found an array of shape {values.shape}")
    known, classes = np.unique(values, return_inverse=True)
    is_scale = values.dtype.kind == "f" and not np.array_equal(known, np.round(known)) or values.dtype.kind in "fiu" and len(known) > _COLOURS
    if is_scale:
        drawn = ax.scatter(*places[shown].T, c=values[shown], cmap="viridis", s=8, linewidths=0, zorder=2)
        ax.figure.colorbar(drawn, ax=ax)
        return
    _scatter(ax, places[shown], classes[shown], [str(name) for name in known])
    _legend(ax, len(known))


class _Plane:
    """The two dimensions in which rows are drawn: their own, or their two leading principal axes."""

    def __init__(self, rows: Any) -> None:
        width = rows.shape[1]
        if width > 2:
            # Of sparse rows by products with them alone.
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
    """The fitted rows, sparse if they are and there are more than axes to find among."""
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
    """Rows by cluster, and their centres; in more than two dimensions in the plane of the two leading principal axes. Rows in no cluster are grey.

    Parameters
    ----------
    model : DAClustering or KMeans
        A fitted estimator.
    X : {array-like, sparse matrix or array, Fingerprints} of shape (n_samples, n_features)
        The fitted rows.
    ax : matplotlib.axes.Axes, default=None
        The matplotlib axes to draw on; ``None``: a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If ``X`` has not as many rows as were fitted.

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
    ax = _axes(ax)
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


def _colour(group: int, count: int) -> Any:
    """The colour of a cluster, as in :func:`clusters`; grey for the rows in none, which come last."""
    # Imported already, with the axes.
    from matplotlib import colormaps

    return colormaps["tab20"].colors[group % _COLOURS] if group < count else "grey"  # type: ignore[attr-defined]


def _ink() -> Any:
    """The colour of lines in the style in use, light or dark."""
    from matplotlib import rcParams

    return rcParams["text.color"]


def _short(name: str) -> str:
    return name if len(name) <= _LETTERS else f"{name[: _LETTERS - 1]}…"


def _longest(columns: list[Column]) -> float:
    """The length of the longest name as it is shown, in inches: a letter takes about 0.07."""
    return 0.07 * max(len(_short(column.name)) for column in columns)


def _name_columns(ax: Any, columns: list[Column]) -> None:
    """The names of columns below the axes, turned if they would meet."""
    # A legend or a bar may come to stand beside.
    meet = len(columns) * (_longest(columns) + 0.07) > 0.9 * ax.get_window_extent().width / ax.figure.dpi
    turned = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if meet else {}
    ax.set_xticks(range(len(columns)), [_short(column.name) for column in columns], fontsize=8, **turned)


def _counted(grouped: Grouped, columns: list[Column], of: int) -> str:
    """How many clusters and columns a picture shows, for its title."""
    groups = f"{grouped.count} {grouped.word}{'s' if grouped.count != 1 else ''}"
    shown = f"{len(columns)} of {of}" if len(columns) < of else f"{of}"
    return f"{groups}, {shown} column{'s' if of != 1 else ''}"


def profiles(model: Any, X: Any, *, ax: Any = None) -> Any:
    """A heat map of the clusters' means: a row for each cluster, with its number of rows, and a column for each column of ``X``.

    A mean is given as a z-score: 1 is one standard deviation above the mean of all rows. So columns in different units are comparable. Missing values are left
    out. A text that at least a twentieth of the rows have is a column of its own, such as ``plan = gold``. It has the z-score of its share. Of more than 40
    columns, those whose means differ most are shown. Cells without any value are grey.

    Parameters
    ----------
    model : DAClustering, KMeans, KMedoids, PairwiseClustering or DAGaussianMixture
        A fitted estimator.
    X : {array-like, table of pandas, Polars or Arrow, dict of columns, sparse matrix or array, Fingerprints} of shape (n_samples, n_columns)
        The fitted rows, or any columns of the same rows, such as the table before its preparation.
    ax : matplotlib.axes.Axes, default=None
        The matplotlib axes to draw on; ``None``: a new figure, large enough for the values.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If ``X`` has not as many rows as were fitted, or no column to show.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import lehr
    >>> table = {"visits": [1.0, 2.0, 11.0, 12.0], "plan": ["basic", "basic", "gold", "gold"]}
    >>> model = lehr.KMeans(2).fit([[visits] for visits in table["visits"]])
    >>> ax = lehr.plot.profiles(model, table)
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['visits', 'plan = basic', 'plan = gold']
    """
    grouped = Grouped(model, X)
    columns, of = grouped.differing(grouped.all(with_texts=True), _MOST_COLUMNS)
    if not columns:
        raise ValueError("expected a column of numbers, dates or texts that at least a twentieth of the rows share, but not all: found none in X")
    scores = np.column_stack([grouped.scores(column) for column in columns])
    height, width = scores.shape
    ax = _axes(ax, (float(np.clip(3.0 + 0.42 * width, 6.4, 18.0)), float(np.clip(1.0 + 0.36 * height, 2.2, 12.0)) + 0.8 * _longest(columns)))
    # Imported already, with the axes.
    from matplotlib import colormaps

    largest = float(np.nanmax(np.abs(scores), initial=0.0))
    end = min(largest, _MOST_SCORE) or 1.0
    image = ax.imshow(scores, cmap=colormaps["RdBu_r"].with_extremes(bad="lightgrey"), vmin=-end, vmax=end, aspect="auto", interpolation="nearest")
    ax.figure.colorbar(image, ax=ax, label="z-score of the mean", extend="both" if largest > end else "neither")
    _name_columns(ax, columns)
    if height <= 2 * _COLOURS:
        ax.set_yticks(range(height), [f"{name} ({rows:,})" for name, rows in zip(grouped.names, grouped.rows, strict=True)], fontsize=8)
    ax.set(title=_counted(grouped, columns, of), ylabel=f"{grouped.word} (rows)")
    _write(ax, image, scores)
    return ax


def _write(ax: Any, image: Any, scores: NDArray[np.float64]) -> None:
    """Values in the cells of a heat map, if there is room."""
    # The layout says how large cells are.
    ax.figure.canvas.figure.draw_without_rendering()
    box, point = ax.get_window_extent(), ax.figure.dpi / 72.0
    height, width = scores.shape
    if box.width / width < 20.0 * point or box.height / height < 9.0 * point:
        return
    brightness = image.to_rgba(np.nan_to_num(scores))[..., :3] @ np.array([0.3, 0.59, 0.11])
    for (row, column), score in np.ndenumerate(scores):
        if not np.isnan(score):
            colour = "white" if brightness[row, column] < 0.5 else "black"
            # No -0.0.
            ax.text(column, row, f"{round(score, 1) + 0.0:.1f}", ha="center", va="center", fontsize=7, color=colour)


def box_plots(model: Any, X: Any, *, columns: str | int | Sequence[str | int] | None = None, axes: Any = None) -> Any:
    """A small box plot for each column, with a box for each cluster.

    A box reaches from the lower to the upper quartile, with a line at the median. Whiskers end at the last value within 1.5 interquartile ranges of the box;
    dots are the values beyond, at most 200 of a box. Missing values are left out, and so are columns of texts: :func:`profiles` shows those.

    Parameters
    ----------
    model : DAClustering, KMeans, KMedoids, PairwiseClustering or DAGaussianMixture
        A fitted estimator.
    X : {array-like, table of pandas, Polars or Arrow, dict of columns, sparse matrix or array, Fingerprints} of shape (n_samples, n_columns)
        The fitted rows, or any columns of the same rows, such as the table before its preparation.
    columns : str, int or sequence of them, default=None
        The columns to show, by name, or by position from 0. ``None``: all columns of numbers and dates; of more than 24, those whose means differ most.
    axes : sequence or array of matplotlib.axes.Axes, default=None
        The matplotlib axes to draw on, at least one for each column; ``None``: a grid in a new figure.

    Returns
    -------
    ndarray of matplotlib.axes.Axes
        One for each column.

    Raises
    ------
    ValueError
        If ``X`` has not as many rows as were fitted, or lacks a column. If the column has texts, or there are fewer axes than columns.
    TypeError
        If ``axes`` has something else in it.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import lehr
    >>> table = {"visits": [1.0, 2.0, 11.0, 12.0], "age": [30.0, 50.0, 40.0, 60.0]}
    >>> model = lehr.KMeans(2).fit([[visits] for visits in table["visits"]])
    >>> [ax.get_title() for ax in lehr.plot.box_plots(model, table)]
    ['visits', 'age']
    """
    grouped = Grouped(model, X)
    if columns is None:
        chosen, of = grouped.differing(grouped.all(), _MOST_BOXES)
        if not chosen:
            raise grouped.only_texts()
    else:
        chosen = grouped.chosen([columns] if isinstance(columns, str) or not isinstance(columns, Iterable) else columns)
        of = len(chosen)
        if not chosen:
            raise ValueError("expected one column or more in columns, found none; None shows all")
    given = axes is not None
    across = len(chosen) if len(chosen) < 5 else int(np.ceil(np.sqrt(len(chosen))))
    drawn = np.ravel(np.asarray(axes, dtype=object)) if given else _grid(len(chosen), across, len(grouped.names))
    if len(drawn) < len(chosen):
        raise ValueError(f"expected axes for {len(chosen)} columns, found {len(drawn)}: pass more axes, or fewer columns")
    drawn = drawn[: len(chosen)]
    for ax in drawn:
        if not hasattr(ax, "bxp"):
            raise TypeError(f"expected axes of matplotlib in axes, found {type(ax).__name__}")
    for ax, column in zip(drawn, chosen, strict=True):
        _boxes(ax, grouped, column)
    # In a grid below the last of each column alone.
    for ax in drawn if given else drawn[-across:]:
        ax.set_xlabel(grouped.word, fontsize=8)
    if not given and len(chosen) < of:
        drawn[0].figure.suptitle(f"{len(chosen)} of {of} columns", fontsize=10)
    return drawn


def _grid(count: int, across: int, groups: int) -> NDArray[Any]:
    """Axes of a new figure, in rows of so many."""
    import matplotlib.pyplot as plt

    down = -(-count // across)
    size = (across * float(np.clip(1.2 + 0.12 * groups, 2.0, 4.0)), 0.3 + 1.9 * down)
    axes = plt.subplots(down, across, figsize=size, layout="constrained", squeeze=False)[1].ravel()
    for ax in axes[count:]:
        ax.remove()
    return axes[:count]


def _boxes(ax: Any, grouped: Grouped, column: Column) -> None:
    """A box for each group that has a value in the column."""
    parts = grouped.parts(column)
    there = [group for group, part in enumerate(parts) if len(part)]
    # Days since 1970 are what matplotlib takes as dates.
    drawn = ax.bxp(
        [_box(parts[group] / 86400.0 if column.is_time else parts[group]) for group in there], positions=there, widths=0.7, patch_artist=True, manage_ticks=False,
        flierprops={"marker": ".", "markersize": 3}, medianprops={"color": "black", "linewidth": 1.5},
    )  # fmt: skip
    for name in ("boxes", "whiskers", "caps"):
        for line in drawn[name]:
            line.set(color=_ink(), linewidth=0.8)
    for group, box, outliers in zip(there, drawn["boxes"], drawn["fliers"], strict=True):
        colour = _colour(group, grouped.count)
        box.set_facecolor(colour)
        outliers.set(markerfacecolor=colour, markeredgecolor=colour)
    if column.is_time:
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

        places = AutoDateLocator(maxticks=6)  # type: ignore[no-untyped-call]
        ax.yaxis.set(major_locator=places, major_formatter=ConciseDateFormatter(places))  # type: ignore[no-untyped-call]
    names = [str(group) for group in range(grouped.count)] + ["none"] * (len(parts) - grouped.count)
    ax.set_xlim(-0.7, len(parts) - 0.3)
    step = -(-len(parts) // _COLOURS)
    ax.set_xticks(range(0, len(parts), step), names[::step])
    ax.tick_params(labelsize=8)
    ax.set_title(_short(column.name), fontsize=9)


def _box(values: NDArray[np.float64]) -> dict[str, Any]:
    """The five numbers of a box, and its outliers: at even intervals of their order if they are many."""
    lower, median, upper = np.quantile(values, [0.25, 0.5, 0.75])
    reach = 1.5 * (upper - lower)
    inside = (values >= lower - reach) & (values <= upper + reach)
    # Between values a quartile may be beyond them all.
    low, high = min(values[inside].min(initial=lower), lower), max(values[inside].max(initial=upper), upper)
    beyond = np.sort(values[~inside])
    return {"q1": lower, "med": median, "q3": upper, "whislo": low, "whishi": high, "fliers": beyond[spread(len(beyond), _MOST_OUTLIERS)]}


def silhouettes(model: Any, X: Any, *, sample_weight: ArrayLike | None = None, ax: Any = None) -> Any:
    """The silhouettes of the rows by cluster, each cluster sorted, with the mean of all as a line.

    The silhouette of a row is (b - a) / max(a, b). Here ``a`` is its mean distance to the other rows of its cluster, and ``b`` that to the nearest other cluster.
    Near 1 the row is well inside its cluster, near 0 between two; below 0 another cluster is nearer. Distances are Euclidean, or by the metric of the model.

    Rows that are in no cluster are left out. Of more than 2,000 rows, 2,000 at even intervals within the clusters are shown, and compared with each other only.

    Parameters
    ----------
    model : DAClustering, KMeans, KMedoids, PairwiseClustering or DAGaussianMixture
        A fitted estimator with two clusters or more.
    X : {array-like, table of pandas, Polars or Arrow, sparse matrix or array, Fingerprints} of shape (n_samples, n_features)
        The fitted rows; with ``metric="precomputed"`` the fitted dissimilarities.
    sample_weight : array-like of shape (n_samples,), default=None
        Rows of weight 0 are left out. Other weights have no effect.
    ax : matplotlib.axes.Axes, default=None
        The matplotlib axes to draw on; ``None``: a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If ``X`` has not the rows and columns that were fitted, or the rows are in fewer than two clusters.

    References
    ----------
    Rousseeuw, "Silhouettes: a graphical aid to the interpretation and validation of cluster analysis", Journal of Computational and Applied Mathematics 20
    (1987).

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import lehr
    >>> X = [[0.0], [1.0], [10.0], [11.0]]
    >>> lehr.plot.silhouettes(lehr.KMeans(2).fit(X), X).get_title()
    'mean silhouette 0.90'
    """
    found = Silhouettes.of(model, X, sample_weight)
    known, counts = np.unique(found.labels, return_counts=True)
    ax = _axes(ax, (6.4, float(np.clip(1.5 + 0.45 * len(known), 3.6, 12.0))))
    # Imported already, with the axes.
    from matplotlib.patheffects import withStroke

    mean, word = float(found.values.mean()), word_of(model)
    # Clusters stand apart, so that you can see where one ends.
    gap, begin = 0.02 * len(found.values), 0.0
    middles, names = [], []
    for label, count in zip(known, counts, strict=True):
        widths = np.sort(found.values[found.labels == label])[::-1]
        colour = _colour(int(label), int(label) + 1)
        ax.stairs(widths, begin + np.arange(count + 1), orientation="horizontal", baseline=0, fill=True, color=colour)
        middles.append(begin + count / 2)
        names.append(f"{word} {label} ({count:,})\nmean {widths.mean():.2f}" if len(known) <= _COLOURS else str(label))
        begin += count + gap
    ax.axvline(0.0, color=_ink(), linewidth=0.8)
    # Seen on bars of any colour.
    edge = withStroke(linewidth=3, foreground=ax.get_facecolor())
    ax.axvline(mean, color=_ink(), linewidth=1, linestyle="--", path_effects=[edge])
    step = -(-len(known) // (2 * _COLOURS))
    ax.set_yticks(middles[::step], names[::step], fontsize=8)
    ax.set_ylim(begin - gap / 2, -gap / 2)
    ax.margins(x=0.02)
    across = "silhouette"
    if len(found.values) < found.among:
        across += f" ({len(found.values):,} of {found.among:,} rows, at even intervals within {word}s)"
    ax.set(title=f"mean silhouette {mean:.2f}", xlabel=across)
    return ax


def parallel_coordinates(model: Any, X: Any, *, ax: Any = None) -> Any:
    """A line for each row across all columns, in the colour of its cluster; a thick line joins the medians of each cluster.

    Each column runs from its 1st to its 99th percentile, which are written at its ends; values beyond are drawn there. A line is broken where a value is missing.
    Columns of texts are left out: :func:`profiles` shows those. Of more than 40 columns, those whose means differ most are shown, and of more than 1,000 rows,
    1,000 at even intervals within the clusters. Medians are those of all rows.

    Parameters
    ----------
    model : DAClustering, KMeans, KMedoids, PairwiseClustering or DAGaussianMixture
        A fitted estimator.
    X : {array-like, table of pandas, Polars or Arrow, dict of columns, sparse matrix or array, Fingerprints} of shape (n_samples, n_columns)
        The fitted rows, or any columns of the same rows, such as the table before its preparation.
    ax : matplotlib.axes.Axes, default=None
        The matplotlib axes to draw on; ``None``: a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If ``X`` has not as many rows as were fitted, or fewer than two columns of numbers and dates.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import lehr
    >>> X = [[0.0, 1.0], [1.0, 1.0], [10.0, 2.0]]
    >>> lehr.plot.parallel_coordinates(lehr.DAClustering(n_clusters=2).fit(X), X).get_title()
    '2 clusters, 2 columns'
    """
    grouped = Grouped(model, X)
    columns, of = grouped.differing(grouped.all(), _MOST_COLUMNS)
    if not columns:
        raise grouped.only_texts()
    if len(columns) < 2:
        raise ValueError(f"expected two columns of numbers or dates or more, found {columns[0].name!r} alone: lehr.plot.box_plots shows one")
    ax = _axes(ax, (float(np.clip(3.0 + 0.8 * len(columns), 6.4, 16.0)), 4.4 + 0.5 * _longest(columns)))
    # Imported already, with the axes.
    from matplotlib.collections import LineCollection
    from matplotlib.patheffects import withStroke

    ends = [np.quantile(known, [0.01, 0.99]) if len(known := column.values[~np.isnan(column.values)]) else np.full(2, np.nan) for column in columns]
    order = np.argsort(grouped.groups, kind="stable")
    # In the order of rows, so that no cluster covers the one before it.
    shown = np.sort(order[spread(len(order), _MOST_LINES)])
    heights = np.column_stack([_share(column.values[shown], *end) for column, end in zip(columns, ends, strict=True)])
    places = np.broadcast_to(np.arange(len(columns)), heights.shape)
    colours = [_colour(int(group), grouped.count) for group in grouped.groups[shown]]
    alpha = float(np.clip(6.0 / np.sqrt(len(shown)), 0.12, 0.6))
    ax.add_collection(LineCollection(list(np.stack([places, heights], axis=2)), colors=colours, linewidths=0.6, alpha=alpha), autolim=False)
    medians = np.array([[np.median(part) if len(part) else np.nan for part in grouped.parts(column)] for column in columns])
    for group, name in enumerate(grouped.names):
        middle = [_share(median, *end) for median, end in zip(medians[:, group], ends, strict=True)]
        edge = withStroke(linewidth=4.5, foreground=ax.get_facecolor())
        ax.plot(middle, color=_colour(group, grouped.count), linewidth=2.5, marker="o", markersize=3, label=name, path_effects=[edge])
    for place in range(len(columns)):
        ax.axvline(place, color="grey", linewidth=0.5, zorder=0)
    _name_columns(ax, columns)
    if len(columns) <= _COLOURS:
        for place, (column, (low, high)) in enumerate(zip(columns, ends, strict=True)):
            for height, value, side in ((0.0, low, "top"), (1.0, high, "bottom")):
                away = -0.015 if side == "top" else 0.015
                ax.text(place, height + away, _value(value, column.is_time), ha="center", va=side, fontsize=7)
    ax.set_xlim(-0.5, len(columns) - 0.5)
    ax.set_ylim(-0.08, 1.08)
    title = _counted(grouped, columns, of)
    if len(shown) < len(order):
        title += f", {len(shown):,} of {len(order):,} rows"
    ax.set(title=title, ylabel="1st to 99th percentile", yticks=[])
    if len(grouped.names) <= _COLOURS:
        # Beside the lines: they leave no room.
        ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return ax


def _share(values: Any, low: float, high: float) -> Any:
    """Values as shares of a range, those beyond it at its ends; in the middle if all are equal."""
    if not high > low:
        return np.where(np.isnan(values), np.nan, 0.5)
    return np.clip((values - low) / (high - low), 0.0, 1.0)


def _value(value: float, is_time: bool) -> str:
    """A number in a few letters, or a day."""
    if np.isnan(value):
        return ""
    return str(np.datetime64(round(value), "s"))[:10] if is_time else f"{value:.4g}"


def components(model: Any, X: ArrayLike, *, ax: Any = None) -> Any:
    """Rows by component of a mixture, with an ellipse for each: one standard deviation around its mean. In more than two dimensions in the plane of the two
    leading principal axes. Rows with a missing cell are left out.

    Parameters
    ----------
    model : DAGaussianMixture
        A fitted estimator.
    X : array-like of shape (n_samples, n_features)
        The fitted rows.
    ax : matplotlib.axes.Axes, default=None
        The matplotlib axes to draw on; ``None``: a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If ``X`` does not have as many rows as were fitted, or fewer than two of them are complete.

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
    ax = _axes(ax)
    # Imported already, with the axes.
    from matplotlib.patches import Ellipse

    rows, labels = rows[whole], model.labels_[whole]
    plane = _Plane(rows)
    places, means = plane.places(rows), plane.places(model.means_)
    shown = _thinned(len(rows))
    _scatter(ax, places[shown], labels[shown], [f"component {k}" for k in range(len(means))])
    ax.scatter(*means.T, c="black", marker="x", s=40, label="mean")
    for mean, matrix in zip(means, _covariances(model), strict=True):
        variances, directions = np.linalg.eigh(plane.axes @ matrix @ plane.axes.T)
        # The smaller comes first; rounding may take it below 0.
        height, width = 2.0 * np.sqrt(np.maximum(variances, 0.0))
        angle = np.degrees(np.arctan2(directions[1, 1], directions[0, 1]))
        ax.add_patch(Ellipse(mean, width, height, angle=angle, fill=False, color="black", linewidth=1))
    _legend(ax, len(means))
    plane.name(ax)
    ax.set(title=f"{len(means)} components")
    return ax


def _covariances(model: Any) -> NDArray[Any]:
    """A matrix for each component, whatever the covariance type."""
    count, width = model.means_.shape
    numbers = model.covariances_
    if numbers.shape == (count, width, width):
        return numbers
    if model.covariance_type == "tied":
        return np.broadcast_to(numbers, (count, width, width))
    return np.reshape(numbers, (count, -1, 1)) * np.eye(width)


def blocks(model: Any, dissimilarities: ArrayLike, *, ax: Any = None) -> Any:
    """Dissimilarities of items in the order of their clusters: a compact cluster is a dark block on the diagonal. Its number is beside the block.

    Parameters
    ----------
    model : PairwiseClustering or KMedoids
        A fitted estimator.
    dissimilarities : array-like of shape (n_samples, n_samples)
        Dissimilarities of the fitted items; NaN, drawn white, where one is missing.
    ax : matplotlib.axes.Axes, default=None
        The matplotlib axes to draw on; ``None``: a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If their number differs from that of the fitted items.

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
    ax = _axes(ax)
    order = np.argsort(model.labels_, kind="stable")
    ax.imshow(matrix[np.ix_(order, order)], cmap="Greys_r", interpolation="antialiased")
    borders = np.flatnonzero(np.diff(model.labels_[order])) + 0.5
    for border in borders:
        ax.axhline(border, color="tab:red", linewidth=0.5)
        ax.axvline(border, color="tab:red", linewidth=0.5)
    ends = np.concatenate([[-0.5], borders, [len(order) - 0.5]])
    if len(borders) < _COLOURS:
        ax.set_yticks((ends[:-1] + ends[1:]) / 2, [str(label) for label in np.unique(model.labels_)])
    cost = model.cost_ if hasattr(model, "cost_") else model.inertia_
    ax.set(title=f"{len(borders) + 1} clusters, cost {cost:.6g}", xlabel="items by cluster", ylabel="cluster")
    return ax


def embedding(model: Any, labels: ArrayLike | None = None, *, ax: Any = None) -> Any:
    """A map in its first two dimensions.

    Parameters
    ----------
    model : SMACOF
        A fitted estimator.
    labels : array-like of shape (n_samples,), default=None
        A class or a number of each item, for its colour. Classes get a legend, numbers a scale; integers with up to 20 values are classes.
    ax : matplotlib.axes.Axes, default=None
        The matplotlib axes to draw on; ``None``: a new figure.

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
    'stress 0.0000'
    """
    check_is_fitted(model)
    ax = _axes(ax)
    positions = model.embedding_
    places = positions[:, :2] if positions.shape[1] > 1 else np.column_stack([positions, np.zeros(len(positions))])
    shown = _thinned(len(places))
    _coloured(ax, places, labels, shown)
    # Distances are what the map says: both axes have one scale.
    ax.set_aspect("equal", adjustable="datalim")
    ax.set(title=f"stress {model.stress_:.4f}")
    return ax


def annealing(model: Any, *, ax: Any = None) -> Any:
    """The free energy as the temperature fell, with the number of clusters at each division. Dotted: the second cooling, with the final number.

    Parameters
    ----------
    model : DAClustering or PairwiseClustering
        A fitted estimator.
    ax : matplotlib.axes.Axes, default=None
        The matplotlib axes to draw on; ``None``: a new figure.

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
    ax = _axes(ax)
    temperature, energy = model.history_["temperature"], model.history_["free_energy"]
    rises = np.flatnonzero(np.diff(temperature) > 0)
    grown = rises[0] + 1 if len(rises) else len(temperature)
    ax.plot(temperature[:grown], energy[:grown], color="black", linewidth=1)
    ax.plot(temperature[grown:], energy[grown:], color="black", linewidth=1, linestyle=":")
    for split in model.splits_:
        there = np.interp(split["temperature"], temperature[:grown][::-1], energy[:grown][::-1])
        ax.annotate(str(split["n_clusters"]), (split["temperature"], there), ha="center", va="bottom", fontsize=8)
        ax.plot(split["temperature"], there, "o", color="tab:red", markersize=4)
    # Time runs from hot to cold.
    ax.set(xscale="log", xlabel="temperature", ylabel="free energy")
    ax.xaxis.set_inverted(True)
    return ax


def annealing_tree(model: Any, *, ax: Any = None) -> Any:
    """The tree of divisions by temperature: from one cluster at the left to all at the right. Divisions beyond the final number of clusters are dotted.

    If the run merged clusters again while it cooled, it did not keep which ones. The tree ends there, with a note.

    Parameters
    ----------
    model : DAClustering or PairwiseClustering
        A fitted estimator.
    ax : matplotlib.axes.Axes, default=None
        The matplotlib axes to draw on; ``None``: a new figure.

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
    '3 clusters, 2 divisions'
    """
    check_is_fitted(model)
    ax = _axes(ax)
    temperature = model.history_["temperature"]
    divisions, merged_at = _divisions(model)
    children: dict[int, tuple[int, int]] = {}
    # A branch is what one cluster is between two of its divisions; `ends` has the temperature of each, `of` the branch that a cluster is now.
    # One cluster is had without cooling.
    hottest = float(temperature[0]) if len(temperature) else float(model.critical_temperature_)
    begins, ends, of = [hottest], [float("nan")], [0]
    for split in divisions:
        branch = of[split["parent"]]
        ends[branch] = float(split["temperature"])
        children[branch] = (len(begins), len(begins) + 1)
        of[split["parent"]] = len(begins)
        of.append(len(begins) + 1)
        begins += [float(split["temperature"])] * 2
        ends += [float("nan")] * 2
    heights = _heights(children)
    # What follows a rise is cooled again, without divisions.
    rises = np.flatnonzero(np.diff(temperature) > 0)
    coldest = temperature[: rises[0] + 1] if len(rises) else temperature
    last = merged_at if merged_at is not None else float(min([*coldest, *begins]))
    kept = len(model.clusters_)
    # The number that a division leads to, by the branches that it makes.
    counts = [0] + [2 + number // 2 for number in range(len(begins) - 1)]
    for branch, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        style = "-" if counts[branch] <= kept else ":"
        ax.plot([begin, last if np.isnan(end) else end], [heights[branch]] * 2, color="black", linewidth=1, linestyle=style)
    for branch, (one, other) in children.items():
        style = "-" if counts[one] <= kept else ":"
        ax.plot([ends[branch]] * 2, [heights[one], heights[other]], color="tab:red", linewidth=1, linestyle=style)
    if merged_at is not None:
        ax.axvline(merged_at, color="lightgrey", linewidth=1, zorder=0)
        ax.annotate("merged", (merged_at, 0), xycoords=("data", "axes fraction"), ha="right", va="bottom", fontsize=8)
    # Time runs from hot to cold.
    title = f"{kept} clusters, {len(model.splits_)} divisions"
    if merged_at is not None:
        title += f"; {len(divisions) + 1} branches until some merged"
    ax.set(xscale="log", xlabel="temperature", yticks=[], title=title)
    ax.xaxis.set_inverted(True)
    return ax


def _divisions(model: Any) -> tuple[list[Any], float | None]:
    """The divisions as long as only they have changed the number of clusters, and the temperature of the first other change."""
    divisions: list[Any] = []
    for split in model.splits_:
        if split["n_clusters"] != len(divisions) + 2:
            return divisions, float(split["temperature"])
        divisions.append(split)
    return divisions, None


def _heights(children: dict[int, tuple[int, int]]) -> dict[int, float]:
    """The position of each branch: those without children one below the other, the others in the middle of their two."""
    heights: dict[int, float] = {}
    rows, waiting = 0, [0]
    while waiting:
        branch = waiting[-1]
        pair = children.get(branch)
        if pair is None:
            heights[branch] = float(rows)
            rows += 1
        elif pair[1] not in heights:
            # The first of the two is to be had before the second.
            waiting.append(pair[1] if pair[0] in heights else pair[0])
            continue
        else:
            heights[branch] = (heights[pair[0]] + heights[pair[1]]) / 2
        waiting.pop()
    return heights


def overhead(record: str | os.PathLike[str] | Iterable[Mapping[str, Any]], *, n_clusters: int | None = None, ax: Any = None) -> Any:
    """The cost of dividing a run: the overhead of each layout against the points of a rank, with least and most of its runs.

    An overhead of f on p ranks means an efficiency of 1 / (1 + f).

    Parameters
    ----------
    record : path-like or list of dict
        The file that ``lehr lab overhead --record`` wrote, or its figures.
    n_clusters : int, default=None
        The number of clusters to show. ``None``: the number with the most sizes, and of several the largest.
    ax : matplotlib.axes.Axes, default=None
        The matplotlib axes to draw on; ``None``: a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If there are no overheads, or none with this number of clusters.

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
    # Those of other methods say which.
    figures = [figure for figure in figures if figure.get("experiment") == "overhead" and "method" not in figure]
    if not figures:
        raise ValueError("expected a record of lehr lab overhead, found no overhead in it")
    sizes: dict[int, set[int]] = {}
    for figure in figures:
        sizes.setdefault(figure["clusters"], set()).add(figure["rows"])
    chosen = max(sizes, key=lambda count: (len(sizes[count]), count)) if n_clusters is None else n_clusters
    if chosen not in sizes:
        raise ValueError(f"expected one of the numbers of clusters {sorted(sizes)}, found {n_clusters}")
    ax = _axes(ax)
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
    """The ranks of a layout, threads by processes by nodes, and their description."""
    threads, processes, nodes = (int(number) for number in text.split("x"))
    words = [(threads, "threads"), (processes, "processes"), (nodes, "nodes")]
    return threads * processes * nodes, " in ".join(f"{count} {word}" for count, word in words if count > 1) or "1 thread"


def shepard(model: Any, *, ax: Any = None) -> Any:
    """The Shepard diagram: pairs by dissimilarity and by distance in the map.

    Parameters
    ----------
    model : SMACOF
        A fitted estimator.
    ax : matplotlib.axes.Axes, default=None
        The matplotlib axes to draw on; ``None``: a new figure.

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
    ax = _axes(ax)
    diagram = model.shepard_
    counts = diagram["counts"].astype(np.float64)
    extent = (0, diagram["largest_distance"] or 1.0, 0, diagram["largest_dissimilarity"] or 1.0)
    ax.imshow(np.log1p(counts), origin="lower", extent=extent, aspect="auto", cmap="Greys")
    most = min(extent[1], extent[3])
    ax.plot([0, most], [0, most], color="tab:red", linewidth=1)
    ax.set(xlabel="distance in the map", ylabel="dissimilarity", title=f"correlation {diagram['correlation']:.3f}")
    return ax


def topography(model: Any, labels: ArrayLike | None = None, *, ax: Any = None) -> Any:
    """Rows on a topographic map, over its stretch. Dark means a large distance between neighbouring nodes, so you see walls between groups.

    A map of one dimension is drawn as a profile, with the rows below it; of three dimensions, the first two.

    Parameters
    ----------
    model : GTM
        A fitted estimator.
    labels : array-like of shape (n_samples,), default=None
        A class or a number of each row, for its colour. Classes get a legend, numbers a scale; integers with up to 20 values are classes.
    ax : matplotlib.axes.Axes, default=None
        The matplotlib axes to draw on; ``None``: a new figure.

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
    ax = _axes(ax)
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
        # Nodes run along the last axis first. Magnifications are of areas; their logarithm shows walls beside plains.
        stretched = np.log(np.maximum(model.magnifications_, np.finfo(float).tiny)).reshape(side, side)
        axis = model.nodes_[:side, 1]
        ax.pcolormesh(axis, axis, stretched.T, cmap="Greys", shading="gouraud", alpha=0.6)
    _coloured(ax, rows[:, :2], labels, shown)
    ax.set(xlabel="axis 1", ylabel="axis 2", aspect="equal", title=title)
    return ax
