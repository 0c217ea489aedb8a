"""Agglomerative clustering: a tree of items, and the clusters that a cut through it gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from lehr import _native
from lehr._centers import as_given
from lehr._constraints import WATCHED, number, one_of, whole
from lehr._items import MembersMixin
from lehr._learnt import LearntMixin
from lehr._model import SavedMixin, table, tell
from lehr._names import listed
from lehr._progress import Watch
from lehr._shown import ShownMixin
from lehr.distances import METRIC, Metric

__all__ = ["AgglomerativeClustering"]
__dir__ = listed(__all__)


class AgglomerativeClustering(MembersMixin, LearntMixin, ShownMixin, SavedMixin):
    """Agglomerative clustering: joins the two closest clusters again and again, until one tree holds all items.

    A cut through the tree gives the clusters. You choose their number, or the height of the cut. Otherwise, the mean silhouette chooses: a silhouette compares
    how far an item is from its own cluster and from the nearest other one. The method is deterministic: the same call gives the same result, for any number of
    threads and processes. No dissimilarity may be missing.

    Heights are those of SciPy and of scikit-learn. The default linkage of scikit-learn is ``'ward'``.

    Parameters
    ----------
    n_clusters : int, default=None
        The number of clusters, at least 1. ``None`` means the number with the largest mean silhouette, unless you give ``distance_threshold``.
    metric : str or callable, default='euclidean'
        ``'precomputed'``: ``X`` is a matrix of dissimilarities, which is symmetric and not negative, with 0 on the diagonal. Lehr corrects deviations by
        rounding, and warns you. With any other metric, ``X`` is rows of numbers, even if it is square, and Lehr computes their dissimilarities. Metrics are
        ``'euclidean'``, ``'sqeuclidean'``, ``'manhattan'``, ``'cosine'``, ``'correlation'``, and others that ``sklearn.metrics.pairwise_distances`` takes. A
        function is called with two rows.
    metric_params : dict, default=None
        Further arguments of the metric, such as ``{'p': 3}`` for ``'minkowski'``.
    linkage : {'average', 'complete', 'single', 'weighted', 'ward'}, default='average'
        The distance between two clusters. ``'average'`` is the mean dissimilarity over all pairs of their items, ``'complete'`` the largest dissimilarity, and
        ``'single'`` the smallest. ``'weighted'`` is the mean of the distances to the two parts of a cluster, whatever their weights. ``'ward'`` is the root of
        twice the increase of the sum of squares. It expects Euclidean distances.
    distance_threshold : float, default=None
        The height of the cut, 0 or more: clusters that are farther apart stay separate. Give either this or ``n_clusters``. As in SciPy, clusters exactly this
        far apart are joined; scikit-learn separates them.
    max_clusters : int, default=20
        The maximum number of clusters that the mean silhouette may choose, at least 1.
    n_jobs : int, default=None
        The number of threads; -1 uses all processors. ``None`` uses ``OMP_NUM_THREADS`` if it is set, otherwise all processors, or one thread for each process
        of an MPI job. The result does not depend on the number of threads. The tree grows on one thread.
    verbose : int, default=0
        If above 0, show progress on standard error.
    callback : callable, default=None
        A function that is called with a :class:`lehr.Progress` after each series of joins. Return ``False`` to stop the run.
    checkpoint : path-like, default=None
        A file in which ``fit`` saves the state of the run. If the file exists, ``fit`` resumes the run and gives a bit-identical result. A completed run
        removes the file.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,), int32
        The cluster of each item. Clusters are numbered by decreasing weight.
    n_clusters_ : int
        The number of clusters.
    children_ : ndarray of shape (n_samples - 1, 2), int64
        The two nodes of each join, by increasing height. Nodes below ``n_samples`` are the items. Join ``i`` creates the node ``n_samples + i``.
    distances_ : ndarray of shape (n_samples - 1,)
        The height of each join: the distance between its two nodes.
    linkage_matrix_ : ndarray of shape (n_samples - 1, 4)
        The tree in the format of ``scipy.cluster.hierarchy``. Each row has the two nodes of a join, the height, and the number of items below it.
    order_ : ndarray of shape (n_samples,), int64
        The items from left to right in a dendrogram, so that no lines cross.
    n_leaves_ : int
        The number of items.
    silhouette_samples_ : ndarray of shape (n_samples,)
        The silhouette of each item, -1 to 1. It is near 1 if the item is far closer to its own cluster than to the nearest other one. It is 0 for an item
        that is alone in its cluster.
    silhouette_score_ : float
        The weighted mean of ``silhouette_samples_``; 0 for a single cluster.
    candidates_ : structured ndarray or None
        One row for each number of clusters that Lehr compared, the smallest first: ``n_clusters`` and ``silhouette``, the mean silhouette. Here, clusters with
        fewer than two items or less than 1 % of the weight are set apart. No item is compared with them, and the silhouettes of their items are 0. ``None``
        if you gave the number or a threshold.
    medoid_indices_ : ndarray of shape (n_clusters,), int64
        The medoid of each cluster: the item with the smallest sum of dissimilarities to the members.
    clusters_ : structured ndarray of shape (n_clusters,)
        One row for each cluster: ``n_samples``, ``weight``, ``medoid``, ``height``, ``mean_within``, ``silhouette``. ``height`` is the height of its last join.
        ``mean_within`` is the mean dissimilarity between members, and ``silhouette`` their mean silhouette.
    n_features_in_ : int
        The number of columns of ``X``.
    feature_names_in_ : ndarray of shape (``n_features_in_``,)
        The names of the columns, if ``X`` has any.

    See Also
    --------
    KMedoids : Clusters around medoids, without a tree.
    PairwiseClustering : Annealing, which allows missing pairs.

    References
    ----------
    Lance and Williams, "A general theory of classificatory sorting strategies", The Computer Journal 9 (1967).

    Murtagh, "A survey of recent advances in hierarchical clustering algorithms", The Computer Journal 26 (1983).

    Rousseeuw, "Silhouettes: a graphical aid to the interpretation and validation of cluster analysis", Journal of Computational and Applied Mathematics 20
    (1987).

    Examples
    --------
    >>> import lehr
    >>> model = lehr.AgglomerativeClustering().fit([[0.0], [1.0], [3.0], [10.0], [11.0]])
    >>> model.labels_.tolist(), model.distances_.round(2).tolist()
    ([0, 0, 0, 1, 1], [1.0, 1.0, 2.5, 9.17])
    """

    _method = "hierarchy"
    _takes_weight_0 = False
    _takes_gaps = False

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [whole(1), None],
        "metric": METRIC,
        "metric_params": [dict, None],
        "linkage": [one_of("average", "complete", "single", "weighted", "ward")],
        "distance_threshold": [number(0, np.inf), None],
        "max_clusters": [whole(1)],
        **WATCHED,
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        metric: Metric | Callable[..., float] = "euclidean",
        metric_params: dict[str, Any] | None = None,
        linkage: Literal["average", "complete", "single", "weighted", "ward"] = "average",
        distance_threshold: float | None = None,
        max_clusters: int = 20,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Any = None,
        checkpoint: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.metric_params = metric_params
        self.linkage = linkage
        self.distance_threshold = distance_threshold
        self.max_clusters = max_clusters
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.checkpoint = checkpoint

    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> AgglomerativeClustering:
        """Join the items into a tree, and cut it into clusters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_samples) or (n_samples, n_features)
            Dissimilarities for ``metric='precomputed'``, otherwise rows of numbers.
        y : ignored
            Ignored; present for scikit-learn's interface.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights of the items, above 0. They affect the heights for ``'average'`` and ``'ward'``: an item of weight 3 counts as three items that were
            joined at height 0. For every linkage, they affect the means of silhouettes and the numbers of the clusters.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If dissimilarities are negative, missing, not symmetric or not 0 on the diagonal. Also if a parameter is invalid, or you give both ``n_clusters``
            and ``distance_threshold``.
        Stopped
            If the callback returned ``False``.
        KeyboardInterrupt
            If you press Ctrl-C; the run ends within a second.

        Examples
        --------
        >>> import lehr
        >>> D = [[0.0, 1.0, 9.0], [1.0, 0.0, 9.0], [9.0, 9.0, 0.0]]
        >>> lehr.AgglomerativeClustering(metric="precomputed", distance_threshold=5.0).fit(D).labels_.tolist()
        [0, 0, 1]
        """
        options = self._told(clusters="n_clusters", height="distance_threshold", max_clusters="max_clusters", linkage="linkage")
        if self.n_clusters is not None and self.distance_threshold is not None:
            raise ValueError(
                "At most one of n_clusters and distance_threshold may be set, and the other must be None. "
                f"Got n_clusters={self.n_clusters} and distance_threshold={self.distance_threshold}."
            )
        items, item_weights, matrix = self._items(X, sample_weight)
        with Watch("AgglomerativeClustering", self.verbose, self.callback, self.checkpoint) as watch:
            found = _native.run_matrix(self._method, matrix, item_weights, watch.run(options, self.n_jobs))
        tables = found["tables"]
        labels, clusters, candidates = tables["labels"], tables["clusters"], tables["candidates"]
        self._fit_X = None if self._is_given() else items
        self._weights = item_weights
        self.labels_ = labels["cluster"].astype(np.int32)
        merges = [tables["merges"][name] for name in ("left", "right", "height", "items")]
        self.linkage_matrix_: NDArray[np.float64] = np.column_stack(merges).astype(np.float64)
        self.order_: NDArray[np.int64] = np.argsort(labels["place"])
        self.silhouette_samples_ = as_given(labels["silhouette"], items)
        self.silhouette_score_ = found["figures"]["silhouette"]
        is_chosen = self.n_clusters is None and self.distance_threshold is None
        self.candidates_ = table({"n_clusters": candidates["clusters"], "silhouette": candidates["silhouette"]}) if is_chosen else None
        self.medoid_indices_: NDArray[np.int64] = clusters["medoid_item"]
        figures = {name: clusters[name] for name in ("height", "mean_within", "silhouette")}
        self.clusters_ = table({"n_samples": clusters["items"], "weight": clusters["weight"], "medoid": clusters["medoid_item"], **figures})
        tell(found)
        return self

    @property
    def n_clusters_(self) -> int:
        """The number of clusters."""
        return len(self.clusters_)

    @property
    def n_leaves_(self) -> int:
        """The number of items."""
        return len(self.labels_)

    @property
    def children_(self) -> NDArray[np.int64]:
        """The two nodes of each join, by increasing height."""
        return self.linkage_matrix_[:, :2].astype(np.int64)

    @property
    def distances_(self) -> NDArray[np.float64]:
        """The height of each join."""
        return self.linkage_matrix_[:, 2].copy()

    def to_newick(self, names: Sequence[Any] | None = None) -> str:
        """Return the tree in Newick's format, which programs for phylogenetic trees read.

        The path between two items is as long as the height of the lowest join above both. Names are in quotes if they have characters other than letters,
        digits, ``.`` and ``-``.

        Parameters
        ----------
        names : sequence of length n_samples, default=None
            The names of the items. ``None`` means the names of the columns for ``metric='precomputed'`` if ``X`` has any, otherwise the item numbers.

        Returns
        -------
        newick : str
            The tree on one line, which ends with a semicolon.

        Raises
        ------
        NotFittedError
            If the estimator has not been fitted.
        ValueError
            If the number of names differs from the number of fitted items.

        Examples
        --------
        >>> import lehr
        >>> D = [[0.0, 1.0, 4.0], [1.0, 0.0, 4.0], [4.0, 4.0, 0.0]]
        >>> lehr.AgglomerativeClustering(2, metric="precomputed").fit(D).to_newick(["a", "b", "my c"])
        "((a:0.5,b:0.5):1.5,'my c':2);"
        """
        check_is_fitted(self)
        return _native.newick(self.children_, self.distances_, self._names_of_items(names))

    def plot(self, *, names: Sequence[Any] | None = None, max_leaves: int = 80, ax: Any = None) -> Any:
        """Plot the tree as a dendrogram, in the colours of the clusters. See :func:`lehr.plot.dendrogram`.

        Parameters
        ----------
        names : sequence of length n_samples, default=None
            The names of the items, as for :meth:`to_newick`.
        max_leaves : int, default=80
            The maximum number of nodes at the bottom, at least 1. If there are more items, the plot shows the top of the tree.
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
        >>> lehr.AgglomerativeClustering(2).fit([[0.0], [10.0], [1.0]]).plot().get_xlabel()
        'height'
        """
        from lehr import plot

        return plot.dendrogram(self, names=names, max_leaves=max_leaves, ax=ax)

    def _names_of_items(self, names: Sequence[Any] | None) -> list[str]:
        """Returns the names of the fitted items, which the user gave or which the columns of a matrix have."""
        count = len(self.labels_)
        if names is None:
            names = getattr(self, "feature_names_in_", None) if self._is_given() else None
        if names is None:
            return [str(item) for item in range(count)]
        if len(names) != count:
            raise ValueError(f"expected {count} names, one for each item, found {len(names)}")
        return [str(name) for name in names]
