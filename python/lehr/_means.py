"""Centres that are means of rows and are updated batch by batch: the common part of KMeans and MiniBatchKMeans."""

from __future__ import annotations

import json
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from lehr import _native
from lehr._centers import CentersMixin
from lehr._model import weights
from lehr._starts import as_matrix, rows_of

Self = TypeVar("Self", bound="MeansMixin")


class MeansMixin(CentersMixin):
    """A clustering whose centres are the means of their rows."""

    clusters_: NDArray[Any]
    inertia_: float
    n_steps_: int
    #: The borders between clusters as JSON, in the format of a model file; ``None`` if the fit found none.
    _borders: str | None = None

    def _remembers(self, rows: int) -> float:
        """Returns the share of its weight that a row keeps after the given number of further rows."""
        return 1.0

    def partial_fit(self: Self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Update the centres with a batch of rows, for streaming data and for tables larger than memory. The result is an approximation.

        The first call does the same as :meth:`fit`, and needs at least ``n_clusters`` rows. Each later call assigns every row to the nearest centre. Then the
        call moves each centre to the weighted mean of all rows that the centre has received. The result is close to a fit of all rows if the first batch
        resembles the later batches.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, Fingerprints} of shape (n_samples, n_features)
            The rows of the batch.
        y : ignored
            Ignored; present for scikit-learn's interface.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights of the rows, 0 or more, as for :meth:`fit`.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the data or a parameter is invalid.

        Examples
        --------
        >>> import lehr
        >>> model = lehr.KMeans(2).partial_fit([[0.0], [10.0]]).partial_fit([[1.0], [2.0], [13.0]])
        >>> sorted(model.cluster_centers_.ravel().tolist()), model.n_steps_
        ([1.0, 11.5], 2)
        """
        estimator: Any = self
        if not hasattr(self, "cluster_centers_"):
            estimator.fit(X, sample_weight=sample_weight)
            self.n_steps_ = getattr(self, "n_steps_", 1)
            return self
        estimator._validate_params()
        rows = self._rows(X, reset=False)
        row_weights = weights(sample_weight, rows)
        shares = np.ones(rows_of(rows)) if row_weights is None else row_weights
        centers, clusters = self.cluster_centers_.astype(np.float64), self.clusters_.copy()
        near = _native.nearest(rows, centers, threads=self._threads())
        labels, count = near["labels"], len(centers)
        given = np.bincount(labels, weights=shares, minlength=count)
        moved = np.flatnonzero(given)
        # Row k of the sparse matrix holds the weights of the rows of cluster k.
        sums: Any = csr_array((shares, (labels, np.arange(len(labels)))), shape=(count, len(labels))) @ as_matrix(rows)
        means = (sums.toarray() if hasattr(sums, "toarray") else sums)[moved] / given[moved, None]
        squares = np.bincount(labels, weights=shares * np.square(near["distances"]), minlength=count)[moved] / given[moved]
        clusters["weight"] += given
        remembered, counted = clusters["weight"], labels
        if "remembered" in (clusters.dtype.names or ()):
            # In a stream, rows of weight 0 are not counted.
            remembered, counted = clusters["remembered"], labels[shares > 0]
            remembered *= self._remembers(int(np.count_nonzero(shares)))
            remembered += given
        clusters["n_samples"] += np.bincount(counted, minlength=count)
        centers[moved] += (given[moved] / remembered[moved])[:, None] * (means - centers[moved])
        former = np.square(clusters["spread"][moved])
        clusters["spread"][moved] = np.sqrt(former + given[moved] / clusters["weight"][moved] * (squares - former))
        self.cluster_centers_ = centers.astype(self.cluster_centers_.dtype)
        self.clusters_ = clusters
        # The borders belong to the previous centres.
        self._borders = None
        # The labels and the sum of squares belong to the new centres.
        self._label(rows, shares)
        self.n_steps_ = getattr(self, "n_steps_", 1) + 1
        return self

    def _label(self, rows: Any, row_weights: NDArray[np.float64] | None) -> None:
        """Sets the labels of rows and their sum of squares, from the current centres."""
        near = _native.nearest(rows, self._positions(), threads=self._threads())
        squares = np.square(near["distances"])
        self.labels_ = near["labels"]
        self.inertia_ = float(np.sum(squares) if row_weights is None else np.dot(row_weights, squares))

    def _learnt(self) -> tuple[str, dict[str, Any]]:
        centers = self.cluster_centers_
        fields = {"dimension": centers.shape[1], "centers": centers.ravel().tolist(), "temperature": 0.0}
        borders = [] if self._borders is None else json.loads(self._borders)
        return "clusters", {**fields, "borders": borders} if borders else fields

    def _take_learnt(self, parts: Any) -> None:
        self.cluster_centers_ = parts["cluster_centers"]
        self._borders = parts["borders"]
        self._n_features_out = len(self.cluster_centers_)
        estimator: Any = self
        estimator.set_params(n_clusters=self._n_features_out)
