"""K-medoids: clusters whose centres are items, found by swaps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from lehr import _native, _onnx
from lehr._centers import as_given
from lehr._constraints import WATCHED, whole
from lehr._items import ItemsMixin, refuse_unknown
from lehr._learnt import LearntMixin
from lehr._model import SavedMixin, tell
from lehr._names import listed
from lehr._progress import Watch
from lehr._shown import ShownMixin
from lehr.distances import METRIC, Metric, of_rows

__all__ = ["KMedoids"]
__dir__ = listed(__all__)


class KMedoids(ItemsMixin, LearntMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ShownMixin, SavedMixin):
    """K-medoids clustering by FasterPAM: the centre of each cluster is one of its items, the medoid.

    A greedy method chooses the initial medoids. Then medoids are swapped with other items as long as a swap lowers the sum of dissimilarities to the nearest
    medoid. The method is deterministic: the same call gives the same result, for any number of threads and processes. No dissimilarity may be missing.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters, at least 1.
    metric : str or callable, default='euclidean'
        ``'precomputed'``: ``X`` is a matrix of dissimilarities, which is symmetric and not negative, with 0 on the diagonal. Lehr corrects deviations by
        rounding, and warns you. With any other metric, ``X`` is rows of numbers, even if it is square, and Lehr computes their dissimilarities. Metrics are
        ``'euclidean'``, ``'sqeuclidean'``, ``'manhattan'``, ``'cosine'``, ``'correlation'``, and others that ``sklearn.metrics.pairwise_distances`` takes. A
        function is called with two rows.
    metric_params : dict, default=None
        Further arguments of the metric, such as ``{'p': 3}`` for ``'minkowski'``.
    max_iter : int, default=100
        The maximum number of passes over all items that look for swaps; 0 keeps the initial medoids.
    n_jobs : int, default=None
        The number of threads; -1 uses all processors. ``None`` uses ``OMP_NUM_THREADS`` if it is set, otherwise all processors, or one thread for each process
        of an MPI job. The result does not depend on the number of threads.
    verbose : int, default=0
        If above 0, show progress on standard error.
    callback : callable, default=None
        A function that is called with a :class:`lehr.Progress` after each pass. Return ``False`` to stop the run.
    checkpoint : path-like, default=None
        A file in which ``fit`` saves the state of the run. If the file exists, ``fit`` resumes the run and gives a bit-identical result. A completed run
        removes the file.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,), int32
        The cluster of each item: the cluster with the nearest medoid. Clusters are numbered by decreasing weight.
    medoid_indices_ : ndarray of shape (n_clusters,), int64
        The medoid of each cluster, by item number.
    cluster_centers_ : ndarray of shape (n_clusters, n_features) or None
        The rows of ``X`` that are medoids; ``None`` for ``metric='precomputed'``.
    inertia_ : float
        The weighted sum of dissimilarities of items to their medoids.
    n_iter_ : int
        The number of passes over the dissimilarities: one for each initial medoid, and the passes that look for swaps.
    n_features_in_ : int
        The number of columns of ``X``.
    feature_names_in_ : ndarray of shape (``n_features_in_``,)
        The names of the columns, if ``X`` has any.

    See Also
    --------
    PairwiseClustering : Finds the number of clusters, and allows missing pairs.

    References
    ----------
    Schubert and Rousseeuw, "Fast and eager k-medoids clustering: O(k) runtime improvement of the PAM, CLARA, and CLARANS algorithms", Information Systems
    101 (2021).

    Examples
    --------
    >>> import lehr
    >>> model = lehr.KMedoids(2).fit([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> model.medoid_indices_.tolist(), model.labels_.tolist(), model.inertia_
    ([1, 4], [0, 0, 0, 1, 1, 1], 4.0)
    """

    _method = "kmedoids"
    _kept = ("_n_features_out",)
    _takes_gaps = False

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [whole(1)],
        "metric": METRIC,
        "metric_params": [dict, None],
        "max_iter": [whole(0)],
        **WATCHED,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: Metric | Callable[..., float] = "euclidean",
        metric_params: dict[str, Any] | None = None,
        max_iter: int = 100,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Any = None,
        checkpoint: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.metric_params = metric_params
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.checkpoint = checkpoint

    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> KMedoids:
        """Find the medoids and their clusters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_samples) or (n_samples, n_features)
            Dissimilarities for ``metric='precomputed'``, otherwise rows of numbers.
        y : ignored
            Ignored; present for scikit-learn's interface.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights of the items, 0 or more. An item of weight 3 counts as three items at distance 0. An item of weight 0 gets a label, but cannot be a
            medoid and does not affect the clusters.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If dissimilarities are negative, missing, not symmetric or not 0 on the diagonal. Also if a parameter is invalid.
        Stopped
            If the callback returned ``False``.
        KeyboardInterrupt
            If you press Ctrl-C; the run ends within a second.

        Examples
        --------
        >>> import lehr
        >>> D = [[0.0, 1.0, 9.0], [1.0, 0.0, 9.0], [9.0, 9.0, 0.0]]
        >>> lehr.KMedoids(2, metric="precomputed").fit(D).labels_.tolist()
        [0, 0, 1]
        """
        options = self._told(clusters="n_clusters", max_iterations="max_iter")
        items, item_weights, matrix = self._items(X, sample_weight)
        with Watch("KMedoids", self.verbose, self.callback, self.checkpoint) as watch:
            found = _native.run_matrix(self._method, matrix, item_weights, watch.run(options, self.n_jobs))
        tables, figures = found["tables"], found["figures"]
        self.labels_ = tables["labels"]["cluster"].astype(np.int32)
        self.medoid_indices_: NDArray[np.int64] = tables["clusters"]["medoid_item"]
        self.cluster_centers_: NDArray[Any] | None = None if self._is_given() else items[self.medoid_indices_]
        self.inertia_ = figures["cost"]
        self.n_iter_ = int(figures["iterations"])
        self._n_features_out = len(self.medoid_indices_)
        tell(found)
        return self

    @property
    def n_clusters_(self) -> int:
        """The number of clusters."""
        return len(self.medoid_indices_)

    def predict(self, X: ArrayLike) -> NDArray[np.int32]:
        """Predict the cluster of items: the cluster with the nearest medoid.

        For the fitted items, the result is ``labels_``, except for items that are equally near to two medoids.

        Parameters
        ----------
        X : array-like of shape (n_items, n_samples) or (n_items, n_features)
            Dissimilarities to the fitted items for ``metric='precomputed'``, otherwise rows of numbers.

        Returns
        -------
        labels : ndarray of shape (n_items,), int32

        Examples
        --------
        >>> import lehr
        >>> lehr.KMedoids(2).fit([[0.0], [1.0], [2.0], [10.0], [11.0]]).predict([[9.0], [3.0]]).tolist()
        [1, 0]
        """
        return np.argmin(self._to_medoids(X, "predict"), axis=1).astype(np.int32)

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Return the dissimilarity of each item to each medoid.

        Parameters
        ----------
        X : array-like of shape (n_items, n_samples) or (n_items, n_features)
            The same as for :meth:`predict`.

        Returns
        -------
        dissimilarities : ndarray of shape (n_items, n_clusters)
            The values are float32 if ``X`` is float32.

        Examples
        --------
        >>> import lehr
        >>> lehr.KMedoids(2).fit([[0.0], [1.0], [2.0], [10.0]]).transform([[4.0]])
        array([[3., 6.]])
        """
        return self._to_medoids(X, "transform")

    def plot(self, X: ArrayLike, *, ax: Any = None) -> Any:
        """Plot a heat map of the dissimilarities, sorted by cluster. See :func:`lehr.plot.blocks`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_samples) or (n_samples, n_features)
            The same as for :meth:`fit`: the fitted dissimilarities or rows.
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
        >>> X = [[0.0], [10.0], [1.0]]
        >>> lehr.KMedoids(2).fit(X).plot(X).get_title()
        '2 clusters, cost 1'
        """
        from lehr import plot

        check_is_fitted(self)
        items = self._validated(X, reset=False)
        dissimilarities = items if self._is_given() else of_rows(items, None, self.metric, self.metric_params, self.n_jobs)
        return plot.blocks(self, dissimilarities, ax=ax)

    def _learnt_columns(self) -> list[str]:
        names = super()._learnt_columns()
        return [names[item] for item in self.medoid_indices_] if self._is_given() else names

    def _learnt(self) -> tuple[str, dict[str, Any]]:
        if self._is_given():
            return "medoids", {"items": self.n_features_in_, "medoids": self.medoid_indices_.tolist()}
        centers = self.cluster_centers_
        # The nearest medoid by these metrics is the nearest centre.
        if self.metric not in ("euclidean", "l2", "sqeuclidean") or self.metric_params or not isinstance(centers, np.ndarray):
            raise ValueError(
                f"A model with metric={self.metric!r} cannot be exported: fit with metric='precomputed' and the dissimilarities, or use save and lehr.load."
            )
        return "clusters", {"dimension": centers.shape[1], "centers": centers.ravel().tolist(), "temperature": 0.0}

    def _onnx(self, columns: list[str]) -> Any:
        if self._learnt()[0] == "medoids":
            return super()._onnx(columns)
        assert self.cluster_centers_ is not None
        return _onnx.of_clusters(self.cluster_centers_, None, columns)

    def _take_learnt(self, parts: Any) -> None:
        self.medoid_indices_ = parts["medoids"]
        self.n_features_in_ = int(parts["items"])
        self.cluster_centers_ = None
        self._n_features_out = len(self.medoid_indices_)
        self.set_params(n_clusters=self._n_features_out)

    def _to_medoids(self, X: ArrayLike, asked: str) -> NDArray[Any]:
        check_is_fitted(self)
        items = self._validated(X, reset=False)
        to_medoids = self._to_others(items, self.cluster_centers_, asked)
        if self.cluster_centers_ is None:
            to_medoids = to_medoids[:, self.medoid_indices_]
        # A row of zeros may have no cosine distance.
        refuse_unknown(~np.isnan(to_medoids).any(axis=1))
        return as_given(to_medoids, items)
