"""What k-means does in Python around the runs of the native half.

Starts that the native half does not draw, runs of one or two iterations, and centres without rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.cluster import kmeans_plusplus

from lehr import _native
from lehr._centers import unpacked
from lehr._native import Fingerprints

_Floats = NDArray[np.float64]


def as_matrix(rows: Any) -> Any:
    """Rows in a form that SciPy multiplies: bits become sparse rows of 0 and 1."""
    return csr_array(unpacked(rows.packed(), rows.n_bits), dtype=np.float64) if isinstance(rows, Fingerprints) else rows


def rows_of(rows: Any) -> int:
    """How many rows there are; of sparse ones there is no length."""
    return int(rows.shape[0]) if hasattr(rows, "shape") else len(rows)


def drawn(rows: Any, row_weights: _Floats | None, clusters: int, init: str, random: np.random.RandomState) -> _Floats:
    """Centres at rows, drawn as scikit-learn draws them: ``'random'`` in proportion to the weights, or by k-means++."""
    matrix = as_matrix(rows)
    if init == "k-means++":
        weights = np.ones(matrix.shape[0]) if row_weights is None else row_weights
        centers = kmeans_plusplus(matrix, clusters, sample_weight=weights, random_state=random)[0]
    else:
        shares = None if row_weights is None else row_weights / row_weights.sum()
        # Rows of weight 0 are drawn only where there are too few others.
        if shares is not None and np.count_nonzero(shares) < clusters:
            shares = None
        centers = matrix[random.choice(matrix.shape[0], size=clusters, replace=False, p=shares)]
    return np.asarray(centers.toarray() if hasattr(centers, "toarray") else centers, dtype=np.float64)


def relocated(rows: Any, row_weights: _Floats | None, centers: _Floats) -> _Floats | None:
    """The centres after one iteration in which those without rows went to the rows farthest from the others.

    So scikit-learn moves them. Nothing if all have rows.
    """
    near = _native.nearest(rows, centers)
    labels, distances = near["labels"], near["distances"]
    count = len(labels)
    shares = np.ones(count) if row_weights is None else row_weights.copy()
    within = np.bincount(labels, weights=shares, minlength=len(centers))
    empty = np.flatnonzero(within == 0)
    if len(empty) == 0:
        return None
    matrix = as_matrix(rows)
    farthest = np.argsort(-np.where(shares > 0, distances, -1.0), kind="stable")[: len(empty)]
    farthest = farthest[(shares[farthest] > 0) & (distances[farthest] > 0)]
    # They leave the clusters that they were in.
    shares[farthest] = 0.0
    means = _means(matrix, shares, labels, centers)
    for place, row in zip(empty, farthest, strict=False):
        there = matrix[[int(row)]]
        means[place] = np.asarray(there.toarray() if hasattr(there, "toarray") else there)[0]
    return means


def _means(matrix: Any, shares: _Floats, labels: NDArray[np.int32], centers: _Floats) -> _Floats:
    """The weighted means of the rows of each label; a centre without rows stays where it is."""
    count = matrix.shape[0]
    members = csr_array((shares, (labels, np.arange(count))), shape=(len(centers), count))
    sums = members @ matrix
    sums = sums.toarray() if hasattr(sums, "toarray") else sums
    within = np.bincount(labels, weights=shares, minlength=len(centers))
    means: _Floats = np.where(within[:, None] > 0, sums / np.maximum(within, np.finfo(float).tiny)[:, None], centers)
    return means


def iterated(rows: Any, row_weights: _Floats | None, centers: _Floats, iterations: int) -> tuple[_Floats, int, bool]:
    """Centres after so many iterations at most, how many there were, and whether the last one changed no label."""
    matrix = as_matrix(rows)
    count = matrix.shape[0]
    shares = np.ones(count) if row_weights is None else row_weights
    labels: Any = None
    for done in range(iterations):
        former, labels = labels, _native.nearest(rows, centers)["labels"]
        if former is not None and np.array_equal(former, labels):
            return centers, done + 1, True
        moved = relocated(rows, row_weights, centers)
        centers = _means(matrix, shares, labels, centers) if moved is None else moved
    return centers, iterations, False


def filled(rows: Any, row_weights: _Floats | None, centers: _Floats, clusters: int) -> _Floats:
    """The centres, and others at the rows that are farthest from all of them.

    There are as many as asked for then, or every row has one.
    """
    distances = _native.nearest(rows, centers)["distances"]
    if row_weights is not None:
        # A row of weight 0 holds no centre.
        distances = np.where(row_weights > 0, distances, 0.0)
    matrix = as_matrix(rows)
    # Nearer than this, a row and a mean of equal rows differ by rounding alone.
    rounding = 16 * np.finfo(float).eps * np.sqrt(matrix.shape[1]) * float(abs(matrix).max())
    found = list(centers)
    while len(found) < clusters and distances.max() > rounding:
        row = matrix[[int(distances.argmax())]]
        found.append(np.asarray(row.toarray() if hasattr(row, "toarray") else row, dtype=np.float64)[0])
        distances = np.minimum(distances, _native.nearest(rows, found[-1][None, :])["distances"])
    return np.array(found)
