"""What a clustering that is known by its centres says of other rows: KMeans' part and DAClustering's alike."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.metrics import pairwise_distances_argmin_min
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils.validation import check_is_fitted, validate_data

from lehr._model import weights

#: What rows are read as: neither is copied.
FLOATS = (np.float64, np.float32)
#: The label of a row that is in no cluster.
OUTLIER = -1


class CentersMixin(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """A clustering with ``cluster_centers_``, and perhaps a sponge around them."""

    cluster_centers_: NDArray[np.float64]

    def _radius(self) -> float | None:
        """Beyond it from every centre a row is in no cluster."""
        return None

    def _nearest(self, X: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
        """The nearest centre of each row, and how far it is."""
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=FLOATS, reset=False)
        nearest, distances = pairwise_distances_argmin_min(rows, self.cluster_centers_)
        return nearest, distances.astype(np.float64, copy=False)

    def predict(self, X: ArrayLike) -> NDArray[np.int32]:
        """Give each row the cluster whose centre is nearest.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, in the unit of those that were fitted.

        Returns
        -------
        labels : ndarray of shape (n_samples,), int32
            -1 for a row that is farther than the sponge's radius from every centre, if there is a sponge.

        Examples
        --------
        >>> import lehr
        >>> model = lehr.DAClustering(n_clusters=2).fit([[0.0], [1.0], [10.0]])
        >>> model.predict([[9.0], [2.0]]).tolist()
        [1, 0]
        """
        nearest, distances = self._nearest(X)
        labels = nearest.astype(np.int32)
        radius = self._radius()
        if radius is not None:
            labels[distances > radius] = OUTLIER
        return labels

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """Distances to the centres.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, in the unit of those that were fitted.

        Returns
        -------
        distances : ndarray of shape (n_samples, n_clusters)

        Examples
        --------
        >>> import lehr
        >>> lehr.DAClustering(n_clusters=1).fit([[0.0], [2.0]]).transform([[4.0]])
        array([[3.]])
        """
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=FLOATS, reset=False)
        return euclidean_distances(rows, self.cluster_centers_)

    def score(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """The weighted sum of squared distances to the nearest centre, less than 0: greater is better.

        A row in the sponge counts as if it were at the sponge's radius, so that a small sponge is no way to a high score.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, in the unit of those that were fitted.
        y : ignored
            For scikit-learn's interface.
        sample_weight : array-like of shape (n_samples,), default=None
            One a row.

        Returns
        -------
        score : float

        Examples
        --------
        >>> import lehr
        >>> lehr.DAClustering(n_clusters=1).fit([[0.0], [2.0]]).score([[4.0]])
        -9.0
        """
        nearest, distances = self._nearest(X)
        row_weights = weights(sample_weight, nearest)
        radius = self._radius()
        squares = np.square(distances if radius is None else np.minimum(distances, radius))
        return -float(np.sum(squares) if row_weights is None else np.dot(squares, row_weights))

    def plot(self, X: ArrayLike, *, ax: Any = None) -> Any:
        """Rows and centres in the plane of the two leading principal axes. See :func:`lehr.plot.clusters`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows that were fitted.
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
        >>> X = [[0.0, 1.0], [1.0, 1.0], [10.0, 2.0]]
        >>> lehr.DAClustering(n_clusters=2).fit(X).plot(X).get_title()
        '2 clusters'
        """
        from lehr import plot

        return plot.clusters(self, X, ax=ax)
