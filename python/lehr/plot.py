"""Pictures of models, on matplotlib: clusters, maps, topographic maps, annealing, the Shepard diagram.

Each draws on axes and returns them, so that pictures can be put together. matplotlib is imported when one is drawn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.decomposition import PCA
from sklearn.utils.validation import check_is_fitted

__all__ = ["annealing", "clusters", "embedding", "shepard", "topography"]

#: Points drawn at most: beyond, at even intervals.
_MOST_POINTS = 100_000


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    # Importing it takes longer than most fits, and on a cluster nobody draws.
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained")[1]


def _thinned(length: int) -> NDArray[np.int64]:
    return np.arange(0, length, max(1, -(-length // _MOST_POINTS)))


def _plane(rows: NDArray[Any], centers: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], tuple[str, str]]:
    """Rows and centres in two dimensions, and what the axes are."""
    if rows.shape[1] == 1:
        flat = np.zeros(len(rows)), np.zeros(len(centers))
        return np.column_stack([rows, flat[0]]), np.column_stack([centers, flat[1]]), ("x0", "")
    if rows.shape[1] == 2:
        return rows, centers, ("x0", "x1")
    axes = PCA(2, svd_solver="full").fit(rows)
    shares = [f"axis {k + 1} ({share:.0%} of the variance)" for k, share in enumerate(axes.explained_variance_ratio_)]
    return axes.transform(rows), axes.transform(centers), (shares[0], shares[1])


def clusters(model: Any, X: ArrayLike, *, ax: Any = None) -> Any:
    """Rows by cluster, and their centres; in more than two dimensions in the plane of the two leading principal axes. Rows in no cluster are grey.

    Parameters
    ----------
    model : DAClustering or KMeans
        Fitted.
    X : array-like of shape (n_samples, n_features)
        The rows that were fitted.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; ``None``: a new figure.

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
    check_is_fitted(model)
    rows = np.asarray(X, dtype=np.float64)
    if len(rows) != len(model.labels_):
        raise ValueError(f"expected the {len(model.labels_)} rows that were fitted, found {len(rows)}")
    ax = _axes(ax)
    places, centers, names = _plane(rows, model.cluster_centers_)
    shown = _thinned(len(rows))
    inside = shown[model.labels_[shown] >= 0]
    outside = shown[model.labels_[shown] < 0]
    ax.scatter(*places[inside].T, c=model.labels_[inside], cmap="tab20", s=8, linewidths=0)
    if len(outside):
        ax.scatter(*places[outside].T, c="lightgrey", s=8, linewidths=0)
    ax.scatter(*centers.T, c="black", marker="x", s=40)
    ax.set(xlabel=names[0], ylabel=names[1], title=f"{len(centers)} clusters")
    return ax


def embedding(model: Any, labels: ArrayLike | None = None, *, ax: Any = None) -> Any:
    """A map in its first two dimensions.

    Parameters
    ----------
    model : SMACOF
        Fitted.
    labels : array-like of shape (n_samples,), default=None
        A class of each item, for its colour.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; ``None``: a new figure.

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
    colours = None if labels is None else np.unique(np.asarray(labels), return_inverse=True)[1][shown]
    ax.scatter(*places[shown].T, c=colours, cmap=None if labels is None else "tab20", s=8, linewidths=0)
    # Distances are what the map says: both axes have one scale.
    ax.set_aspect("equal", adjustable="datalim")
    ax.set(title=f"stress {model.stress_:.4f}")
    return ax


def annealing(model: Any, *, ax: Any = None) -> Any:
    """How clusters divided as the temperature fell: free energy, and a mark with the number of clusters at each division. Dotted: the second cooling,
    with the number that is kept.

    Parameters
    ----------
    model : DAClustering or PairwiseClustering
        Fitted.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; ``None``: a new figure.

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


def shepard(model: Any, *, ax: Any = None) -> Any:
    """The Shepard diagram: how often a dissimilarity came to which distance in the map.

    Parameters
    ----------
    model : SMACOF
        Fitted.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; ``None``: a new figure.

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
    """Rows on a topographic map, over how much it is stretched: dark is far to go between nodes that are neighbours, so walls between groups show.

    A map of one dimension is drawn as a profile, with the rows below it; of three dimensions, the first two.

    Parameters
    ----------
    model : GTM
        Fitted.
    labels : array-like of shape (n_samples,), default=None
        A class of each row, for its colour.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; ``None``: a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If there are not as many labels as rows that were fitted.

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
    colours = None
    if labels is not None:
        classes = np.unique(np.asarray(labels), return_inverse=True)[1]
        if len(classes) != len(rows):
            raise ValueError(f"expected labels of the {len(rows)} rows that were fitted, found {len(classes)}")
        colours = classes[shown]
    style = {"c": colours, "cmap": None if colours is None else "tab20", "s": 8, "linewidths": 0, "zorder": 2}
    title = f"log-likelihood {model.log_likelihood_:.1f}, order {model.order_:.2f}"
    side = model.n_nodes_
    if rows.shape[1] == 1:
        ax.plot(model.nodes_[:, 0], model.magnifications_, color="black", linewidth=1)
        ax.scatter(rows[shown, 0], np.zeros(len(shown)), **style)
        ax.set(xlabel="axis 1", ylabel="magnification", ylim=(0 - 0.05 * model.magnifications_.max(), None), title=title)
        return ax
    if rows.shape[1] == 2:
        # Nodes run along the last axis first. Magnifications are of areas; their logarithm shows walls beside plains.
        stretched = np.log(np.maximum(model.magnifications_, np.finfo(float).tiny)).reshape(side, side)
        axis = model.nodes_[:side, 1]
        ax.pcolormesh(axis, axis, stretched.T, cmap="Greys", shading="gouraud", alpha=0.6)
    ax.scatter(rows[shown, 0], rows[shown, 1], **style)
    ax.set(xlabel="axis 1", ylabel="axis 2", aspect="equal", title=title)
    return ax
