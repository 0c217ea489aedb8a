"""Initial centres of k-means, drawn as in scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.cluster import kmeans_plusplus

from lehr._centers import unpacked
from lehr._native import Fingerprints

_Floats = NDArray[np.float64]


def as_matrix(rows: Any) -> Any:
    """Converts rows to a matrix that SciPy can multiply: bits become sparse rows of 0 and 1."""
    return csr_array(unpacked(rows.packed(), rows.n_bits), dtype=np.float64) if isinstance(rows, Fingerprints) else rows


def rows_of(rows: Any) -> int:
    """Returns the number of rows, also of sparse rows, which have no ``len``."""
    return int(rows.shape[0]) if hasattr(rows, "shape") else len(rows)


def drawn(rows: Any, row_weights: _Floats | None, clusters: int, init: str, random: np.random.RandomState) -> _Floats:
    """Draws rows as initial centres, as scikit-learn does: by k-means++, or for ``'random'`` in proportion to the weights."""
    matrix = as_matrix(rows)
    if init == "k-means++":
        weights = np.ones(matrix.shape[0]) if row_weights is None else row_weights
        centers = kmeans_plusplus(matrix, clusters, sample_weight=weights, random_state=random)[0]
    else:
        shares = None if row_weights is None else row_weights / row_weights.sum()
        # If fewer rows than clusters have a positive weight, all rows are equally likely.
        if shares is not None and np.count_nonzero(shares) < clusters:
            shares = None
        centers = matrix[random.choice(matrix.shape[0], size=clusters, replace=False, p=shares)]
    return np.asarray(centers.toarray() if hasattr(centers, "toarray") else centers, dtype=np.float64)
