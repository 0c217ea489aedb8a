"""Pictures of models, on matplotlib: clusters, mixtures, blocks of items, maps, topographic maps, annealing, the Shepard diagram.

Each draws on axes and returns them, so that pictures can be put together. matplotlib is imported when one is drawn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.decomposition import PCA
from sklearn.utils.validation import check_is_fitted

__all__ = ["annealing", "blocks", "clusters", "components", "embedding", "shepard", "topography"]

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


class _Plane:
    """Two dimensions in which rows are seen: their own, or those of their two leading principal axes."""

    def __init__(self, rows: NDArray[Any]) -> None:
        width = rows.shape[1]
        if width > 2:
            axes = PCA(2, svd_solver="full").fit(rows)
            self.origin, self.axes = axes.mean_, axes.components_
            shares = enumerate(axes.explained_variance_ratio_)
            self.names = [f"axis {k + 1} ({share:.0%} of the variance)" for k, share in shares]
        else:
            self.origin, self.axes = np.zeros(width), np.eye(2, width)
            self.names = ["x0", "x1" if width == 2 else ""]

    def places(self, rows: NDArray[Any]) -> NDArray[Any]:
        return (rows - self.origin) @ self.axes.T

    def name(self, ax: Any) -> None:
        ax.set(xlabel=self.names[0], ylabel=self.names[1])


def _of_fit(model: Any, X: ArrayLike) -> NDArray[np.float64]:
    check_is_fitted(model)
    rows = np.asarray(X, dtype=np.float64)
    if len(rows) != len(model.labels_):
        raise ValueError(f"expected the {len(model.labels_)} rows that were fitted, found {len(rows)}")
    return rows


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
    rows = _of_fit(model, X)
    ax = _axes(ax)
    plane = _Plane(rows)
    places, centers = plane.places(rows), plane.places(model.cluster_centers_)
    shown = _thinned(len(rows))
    inside = shown[model.labels_[shown] >= 0]
    outside = shown[model.labels_[shown] < 0]
    ax.scatter(*places[inside].T, c=model.labels_[inside], cmap="tab20", s=8, linewidths=0)
    if len(outside):
        ax.scatter(*places[outside].T, c="lightgrey", s=8, linewidths=0)
    ax.scatter(*centers.T, c="black", marker="x", s=40)
    plane.name(ax)
    ax.set(title=f"{len(centers)} clusters")
    return ax


def components(model: Any, X: ArrayLike, *, ax: Any = None) -> Any:
    """Rows by component of a mixture, with an ellipse for each: one standard deviation around its mean. In more than two dimensions in the plane of the two
    leading principal axes.

    Parameters
    ----------
    model : DAGaussianMixture
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
    >>> X = [[0.0, 1.0], [1.0, 1.5], [2.0, 0.5], [10.0, 2.0], [12.0, 1.0], [11.0, 4.0]]
    >>> lehr.plot.components(lehr.DAGaussianMixture(2, covariance_type="diag").fit(X), X).get_title()
    '2 components'
    """
    rows = _of_fit(model, X)
    ax = _axes(ax)
    # Imported already, with the axes.
    from matplotlib.patches import Ellipse

    plane = _Plane(rows)
    places, means = plane.places(rows), plane.places(model.means_)
    shown = _thinned(len(rows))
    ax.scatter(*places[shown].T, c=model.labels_[shown], cmap="tab20", s=8, linewidths=0)
    ax.scatter(*means.T, c="black", marker="x", s=40)
    for mean, matrix in zip(means, _covariances(model), strict=True):
        variances, directions = np.linalg.eigh(plane.axes @ matrix @ plane.axes.T)
        # The smaller comes first; rounding may take it below 0.
        height, width = 2.0 * np.sqrt(np.maximum(variances, 0.0))
        angle = np.degrees(np.arctan2(directions[1, 1], directions[0, 1]))
        ax.add_patch(Ellipse(mean, width, height, angle=angle, fill=False, color="black", linewidth=1))
    plane.name(ax)
    ax.set(title=f"{len(means)} components")
    return ax


def _covariances(model: Any) -> NDArray[Any]:
    """A matrix for each component, whatever form they have."""
    count, width = model.means_.shape
    numbers = model.covariances_
    if numbers.shape == (count, width, width):
        return numbers
    if model.covariance_type == "tied":
        return np.broadcast_to(numbers, (count, width, width))
    return np.reshape(numbers, (count, -1, 1)) * np.eye(width)


def blocks(model: Any, dissimilarities: ArrayLike, *, ax: Any = None) -> Any:
    """Dissimilarities of items in the order of their clusters: each a dark block on the diagonal, if it is one.

    Parameters
    ----------
    model : PairwiseClustering
        Fitted.
    dissimilarities : array-like of shape (n_samples, n_samples)
        Of the items that were fitted; NaN, which is left white, where one is missing.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; ``None``: a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If they are not those of as many items as were fitted.

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
    ax.set(title=f"{len(borders) + 1} clusters, cost {model.cost_:.6g}", xlabel="items by cluster")
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
