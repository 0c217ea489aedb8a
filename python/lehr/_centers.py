"""Labels and distances of new rows, computed from the centres of a clustering: the common part of KMeans and DAClustering."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted

from lehr import _checks, _native, _onnx, _partitioned
from lehr._explained import OutliersMixin
from lehr._learnt import LearntMixin
from lehr._model import weights
from lehr._native import Fingerprints
from lehr._partitions import Result, is_partitioned

#: The types of numbers that Lehr uses without copying the array.
FLOATS = (np.float64, np.float32)
#: The number of rows of bits that are unpacked at a time.
_BATCH = 1024
#: The label of a row without a cluster.
OUTLIER = -1


def unpacked(packed: NDArray[np.uint8], bits: int) -> NDArray[np.uint8]:
    """Unpacks rows of bits, packed as in fingerprints, to arrays of 0 and 1."""
    return np.unpackbits(packed, axis=1, count=bits, bitorder="little")


def as_given(found: NDArray[Any], X: Any, keeps_small: bool = False) -> NDArray[Any]:
    """Converts a result to single precision if the data have single precision and it can hold the result, otherwise to double precision.

    With ``keeps_small``, numbers that would become 0 count as numbers that single precision cannot hold.
    """
    if getattr(X, "dtype", None) != np.float32:
        return found.astype(np.float64, copy=False)
    with np.errstate(over="ignore", under="ignore"):
        single = found.astype(np.float32, copy=False)
    is_held = np.array_equal(np.isfinite(single), np.isfinite(found)) and not (keeps_small and ((single == 0) & (found != 0)).any())
    return single if is_held else found.astype(np.float64, copy=False)


def has_gaps(rows: Any) -> bool:
    """Returns whether rows have missing values. Only rows of a prepared table may have them."""
    return isinstance(rows, np.ndarray) and bool(np.isnan(rows).any())


def squares_with_gaps(rows: NDArray[Any], centers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns the squared distance of each row to each centre, over the columns in which the row has a value, scaled up to all columns.

    The command adds up the columns in the same order, so its results are bit-identical. For a row without any value, the distance is NaN.
    """
    columns = centers.shape[1]
    present = columns - np.isnan(rows).sum(axis=1)
    squares = np.zeros((len(rows), len(centers)))
    for column in range(columns):
        apart = np.square(rows[:, [column]].astype(np.float64, copy=False) - centers[:, column])
        squares += np.where(np.isnan(apart), 0.0, apart)
    whole = np.full(len(rows), np.nan)
    np.divide(columns, present, out=whole, where=present > 0)
    return whole[:, None] * squares


class CentersMixin(OutliersMixin, LearntMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """A clustering with ``cluster_centers_``, and perhaps an outlier radius around them."""

    cluster_centers_: NDArray[Any]
    labels_: NDArray[np.int32]
    n_features_in_: int
    n_jobs: int | None
    #: ``validate_data`` accepts rows with huge numbers, because the Rust extension finds their nearest centre. Methods that compute squares in Python refuse
    #: them.
    _takes_huge_rows = True

    def _radius(self) -> float | None:
        """Returns the outlier radius: a row farther than the radius from every centre is in no cluster. ``None`` means that there is no limit."""
        return None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _rows(self, X: Any, *, reset: bool) -> Any:
        """Returns rows as the Rust extension reads them: an array, compressed sparse rows without duplicates, or bits. Does not change the caller's data."""
        if isinstance(X, Fingerprints):
            return self._bits(X, reset=reset)
        finite = "allow-nan" if self._of_table and not reset else True
        rows = _checks.validate_data(self, X, dtype=FLOATS, accept_sparse="csr", reset=reset, ensure_all_finite=finite)
        if issparse(rows) and not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
        return rows

    def _bits(self, X: Fingerprints, *, reset: bool) -> Fingerprints:
        """Checks the number of columns of fingerprints, a type that scikit-learn does not know."""
        if reset:
            self.n_features_in_ = X.n_bits
            self.__dict__.pop("feature_names_in_", None)
        elif X.n_bits != self.n_features_in_:
            raise ValueError(
                f"X has {X.n_bits} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input."
            )
        return X

    def _nearest(self, X: Any) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Returns the nearest centre of each row, and the distance to this centre."""
        check_is_fitted(self)
        rows = self._rows(X, reset=False)
        gone = self._without_values(rows)
        if gone is not None:
            # The placeholder may be any number: the results of these rows are overwritten below.
            rows = np.where(gone[:, None], 0.0, rows)
        if has_gaps(rows):
            squares = squares_with_gaps(rows, self._positions())
            labels = squares.argmin(axis=1).astype(np.int32)
            distances = np.sqrt(squares.min(axis=1))
        else:
            found = _native.nearest(rows, self._positions(), threads=self._threads())
            labels, distances = found["labels"], found["distances"]
        if gone is not None:
            labels[gone], distances[gone] = OUTLIER, np.nan
        return labels, distances

    def _positions(self) -> NDArray[np.float64]:
        """Returns the centres in the form that the Rust extension reads."""
        return self.cluster_centers_.astype(np.float64, copy=False)

    def _onnx(self, columns: list[str]) -> Any:
        return _onnx.of_clusters(self.cluster_centers_, self._radius(), columns)

    def _threads(self) -> int | None:
        return _checks.threads(self.n_jobs)

    @property
    def n_clusters_(self) -> int:
        """The number of clusters."""
        return len(self.cluster_centers_)

    def fit_predict(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> NDArray[np.int32]:
        """Find the clusters, and return the cluster of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, Fingerprints} of shape (n_samples, n_features)
            The same as for ``fit``.
        y : ignored
            Ignored; present for scikit-learn's interface.
        sample_weight : array-like of shape (n_samples,), default=None
            The same as for ``fit``.

        Returns
        -------
        labels : ndarray of shape (n_samples,), int32
            ``labels_``.

        Examples
        --------
        >>> import lehr
        >>> lehr.KMeans(1).fit_predict([[0.0], [2.0]]).tolist()
        [0, 0]
        """
        fitted: Any = self
        if is_partitioned(X):
            return fitted.fit(X, y, sample_weight=sample_weight).predict(X)
        labels: NDArray[np.int32] = fitted.fit(X, y, sample_weight=sample_weight).labels_
        return labels

    def fit_transform(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> NDArray[Any]:
        """Find the clusters, and return the distance of each row to each centre.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, Fingerprints} of shape (n_samples, n_features)
            The same as for ``fit``.
        y : ignored
            Ignored; present for scikit-learn's interface.
        sample_weight : array-like of shape (n_samples,), default=None
            The same as for ``fit``.

        Returns
        -------
        distances : ndarray of shape (n_samples, n_clusters)
            The values are float32 if ``X`` is float32.

        Examples
        --------
        >>> import lehr
        >>> lehr.KMeans(1).fit_transform([[0.0], [2.0]]).tolist()
        [[1.0], [1.0]]
        """
        fitted: Any = self
        fitted.fit(X, y, sample_weight=sample_weight)
        if is_partitioned(X):
            return self.transform(X)
        return self._to_centers(self._rows(X, reset=False))

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Predict the cluster of each row: the cluster with the nearest centre.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, Fingerprints} of shape (n_samples, n_features)
            Rows, in the units of the fitted data.

        Returns
        -------
        labels : ndarray of shape (n_samples,), int32
            The number of the cluster; -1 for a row farther than the outlier radius from every centre, if the model has an outlier radius. A model of the command with a preparation also returns -1 for a row without any value.
            For a table in partitions: a Dask array or series, or the Ray dataset or Spark data frame with a further column ``cluster``.

        Examples
        --------
        >>> import lehr
        >>> model = lehr.DAClustering(n_clusters=2).fit([[0.0], [1.0], [10.0]])
        >>> model.predict([[9.0], [2.0]]).tolist()
        [1, 0]
        """
        check_is_fitted(self)
        if is_partitioned(X):
            return _partitioned.rows_of(self, X, "predict", Result("cluster", np.int32))
        radius = self._radius()
        if radius is None and not self._of_table:
            rows = self._rows(X, reset=False)
            return _native.nearest(rows, self._positions(), threads=self._threads(), with_distances=False)["labels"]
        labels, distances = self._nearest(X)
        if radius is not None:
            labels[distances > radius] = OUTLIER
        return labels

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the distance of each row to each centre.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, Fingerprints} of shape (n_samples, n_features)
            Rows, in the units of the fitted data.

        Returns
        -------
        distances : ndarray of shape (n_samples, n_clusters)
            The values are float32 if ``X`` is float32.

        Examples
        --------
        >>> import lehr
        >>> lehr.DAClustering(n_clusters=1).fit([[0.0], [2.0]]).transform([[4.0]])
        array([[3.]])
        """
        check_is_fitted(self)
        if is_partitioned(X):
            return _partitioned.rows_of(self, X, "transform", Result("distances", self.cluster_centers_.dtype, self.n_clusters_))
        return self._to_centers(self._rows(X, reset=False))

    def _to_centers(self, rows: Any) -> NDArray[Any]:
        if isinstance(rows, Fingerprints):
            packed, bits = rows.packed(), rows.n_bits
            parts = (unpacked(packed[part], bits) for part in gen_batches(len(packed), _BATCH))
            return np.concatenate([euclidean_distances(part, self.cluster_centers_) for part in parts])
        _checks.refuse_huge(rows)
        if has_gaps(rows):
            return as_given(np.sqrt(squares_with_gaps(rows, self._positions())), rows)
        found = euclidean_distances(rows, self.cluster_centers_)
        if not np.isfinite(found).all():
            # The distance between two numbers may be too large for their precision.
            found = euclidean_distances(rows.astype(np.float64), self._positions())
        return as_given(found, rows)

    def score(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the negative weighted sum of squared distances to the nearest centre: greater is better.

        A row outside the outlier radius counts as if its distance were the radius.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, Fingerprints} of shape (n_samples, n_features)
            Rows, in the units of the fitted data.
        y : ignored
            Ignored; present for scikit-learn's interface.
        sample_weight : array-like of shape (n_samples,), default=None
            The weight of each row.

        Returns
        -------
        score : float

        Examples
        --------
        >>> import lehr
        >>> lehr.DAClustering(n_clusters=1).fit([[0.0], [2.0]]).score([[4.0]])
        -9.0
        """
        check_is_fitted(self)
        if is_partitioned(X):
            return _partitioned.score(self, X, sample_weight)
        nearest, distances = self._nearest(X)
        row_weights = weights(sample_weight, nearest)
        radius = self._radius()
        counted = distances if radius is None else np.minimum(distances, radius)
        _checks.refuse_huge(counted)
        squares = np.square(counted)
        return -float(np.sum(squares) if row_weights is None else np.dot(squares, row_weights))

    def plot(self, X: Any, *, ax: Any = None) -> Any:
        """Plot rows and centres in the plane of the first two principal components. See :func:`lehr.plot.clusters`.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, Fingerprints} of shape (n_samples, n_features)
            The fitted rows.
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
        >>> X = [[0.0, 1.0], [1.0, 1.0], [10.0, 2.0]]
        >>> lehr.DAClustering(n_clusters=2).fit(X).plot(X).get_title()
        '2 clusters'
        """
        from lehr import plot

        return plot.clusters(self, X, ax=ax)
