"""Measures how stable the clusters of a fitted estimator are, by refitting it to resampled rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from lehr import _checks
from lehr._model import weights


@dataclass(frozen=True)
class Stability:
    """How well the clusters and labels of a model were reproduced in resampled rows.

    Attributes
    ----------
    clusters : ndarray of shape (n_clusters,)
        For each cluster, the mean Jaccard index with the matching clusters of the resamples: rows in both, divided by rows in either. Hennig (2007)
        calls clusters of 0.75 or more stable, and advises not to trust clusters below 0.6.
    rows : ndarray of shape (n_samples,)
        For each row, the share of resamples in which it was in the matching cluster; NaN for a row in no cluster.
    n_resamples : int
        The number of resamples.

    Examples
    --------
    >>> import lehr
    >>> X = [[0.0], [1.0], [50.0], [51.0]]
    >>> found: lehr.Stability = lehr.stability(lehr.KMeans(2).fit(X), X, n_resamples=5)
    >>> found.clusters.shape, found.rows.shape, found.n_resamples
    ((2,), (4,), 5)
    """

    clusters: NDArray[np.float64]
    rows: NDArray[np.float64]
    n_resamples: int

    def __repr__(self) -> str:
        told = ", ".join(f"{value:.2f}" for value in self.clusters[:10])
        more = f" and {len(self.clusters) - 10} more" if len(self.clusters) > 10 else ""
        return f"Stability of {len(self.clusters)} clusters in {self.n_resamples} resamples: {told}{more}"


def stability(model: Any, X: Any, *, sample_weight: ArrayLike | None = None, n_resamples: int = 20, random_state: Any = 0) -> Stability:
    """Measure how stable clusters are, by refitting the model to rows that are drawn with replacement.

    Each resample draws as many rows as ``X`` has, and fits a clone of the model with the same number of clusters. Clusters that depend on few rows, or on the
    exact position of a border, change. Stability shows whether you would find the same clusters in another sample; ``probabilities_`` shows how much clusters
    overlap.

    The cost is ``n_resamples`` fits.

    Parameters
    ----------
    model : DAClustering, KMeans, DAGaussianMixture or another clusterer
        A fitted estimator with ``labels_`` and with ``n_clusters`` or ``n_components``, whose ``fit`` takes weights.
    X : {array-like, sparse matrix or array, Fingerprints} of shape (n_samples, n_features)
        The rows that the model was fitted to.
    sample_weight : array-like of shape (n_samples,), default=None
        The weights that you gave to ``fit``.
    n_resamples : int, default=20
        The number of resamples, at least 1.
    random_state : int, RandomState instance or None, default=0
        The random seed of the draws.

    Returns
    -------
    Stability

    Raises
    ------
    NotFittedError
        If the model has not been fitted.
    ValueError
        If the number of rows in ``X`` differs from the number of fitted rows, or the model has neither ``n_clusters`` nor ``n_components``.

    References
    ----------
    Hennig, C. (2007): Cluster-wise assessment of cluster stability. Computational Statistics and Data Analysis 52, 258-271.

    Examples
    --------
    >>> import lehr
    >>> X = lehr.datasets.load_iris().data
    >>> lehr.stability(lehr.DAClustering(2).fit(X), X)
    Stability of 2 clusters in 20 resamples: 1.00, 1.00
    """
    check_is_fitted(model, "labels_")
    names = [name for name in ("n_clusters", "n_components") if name in model.get_params()]
    if not names:
        raise ValueError(f"expected a clusterer with n_clusters or n_components, found {type(model).__name__}")
    if not getattr(model, "_takes_weight_0", True):
        raise ValueError(f"{type(model).__name__} takes no weight of 0, which stands for rows that a resample leaves out")
    if n_resamples < 1:
        raise ValueError(f"n_resamples == {n_resamples}, must be >= 1.")
    labels = np.asarray(model.labels_)
    rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if rows != len(labels):
        raise ValueError(f"X has {rows} rows, but the model was fitted to {len(labels)}")
    given = weights(sample_weight, X)
    draw = np.random.default_rng(_checks.seed(random_state))
    count = int(labels.max()) + 1
    inside = labels >= 0
    sizes = np.bincount(labels[inside], minlength=count)
    found, again = np.zeros((n_resamples, count)), np.zeros(len(labels))
    for resample in range(n_resamples):
        times = draw.multinomial(rows, np.full(rows, 1 / rows)).astype(np.float64)
        other = clone(model).set_params(**{names[0]: count})
        other.fit(X, sample_weight=times if given is None else times * given)
        # Rows that were not drawn have weight 0: they do not affect the clusters, but get a label.
        others = np.asarray(other.labels_)
        width = int(others.max()) + 1
        in_both = inside & (others >= 0)
        both = np.bincount(labels[in_both] * width + others[in_both], minlength=count * width).reshape(count, width)
        either = sizes[:, None] + np.bincount(others[others >= 0], minlength=width) - both
        jaccard = both / np.maximum(either, 1)
        mine, theirs = linear_sum_assignment(-jaccard)
        found[resample, mine] = jaccard[mine, theirs]
        counterpart = np.full(count, -2)
        counterpart[mine] = theirs
        again += inside & (counterpart[labels] == others)
    shares = again / n_resamples
    return Stability(found.mean(axis=0), np.where(inside, shares, np.nan), n_resamples)
