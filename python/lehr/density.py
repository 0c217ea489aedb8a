"""Density-based clustering with noise (HDBSCAN*)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lehr import _native
from lehr._centers import as_given
from lehr._constraints import WATCHED, number, one_of, whole
from lehr._items import ItemsMixin
from lehr._model import SavedMixin, table, tell
from lehr._names import listed
from lehr._progress import Watch
from lehr._shown import ShownMixin
from lehr.distances import METRIC, Metric

__all__ = ["HDBSCAN"]
__dir__ = listed(__all__)


class HDBSCAN(ItemsMixin, ShownMixin, SavedMixin):
    """Density-based clustering (HDBSCAN*): finds groups of items that are denser than their surroundings, whatever their shape.

    Items in no group are noise, with the label -1. The number of clusters follows from the data and from ``min_cluster_size``. The method is deterministic: the
    same call gives the same result, for any number of threads and processes, and in whatever order the items are. No dissimilarity may be missing.

    Parameters, labels, probabilities and scores mean the same as in the packages ``hdbscan`` and ``scikit-learn``. But all pairs at the same distance are
    joined at once, as the definition says. So a few items may have other labels than there if distances are equal. Clusters are numbered by decreasing weight.

    Parameters
    ----------
    min_cluster_size : int, default=5
        The minimum number of items in a cluster, at least 2.
    min_samples : int, default=None
        The density around an item is measured by its nearest items: this many, including the item itself. At least 1. With more, more items are noise.
        ``None`` means ``min_cluster_size``.
    cluster_selection_epsilon : float, default=0.0
        Clusters whose parts are closer than this are not split; 0 or more, in the unit of the dissimilarities.
    max_cluster_size : int, default=None
        Instead of a cluster with more items, the clusters inside it are chosen, if there are any. At least 1. ``None`` means no limit.
    metric : str or callable, default='euclidean'
        ``'precomputed'``: ``X`` is a matrix of dissimilarities, which is symmetric and not negative, with 0 on the diagonal. Lehr corrects deviations by
        rounding, and warns you. With any other metric, ``X`` is rows of numbers, even if it is square, and Lehr computes their dissimilarities. Metrics are
        ``'euclidean'``, ``'sqeuclidean'``, ``'manhattan'``, ``'cosine'``, ``'correlation'``, and others that ``sklearn.metrics.pairwise_distances`` takes. A
        function is called with two rows.
    metric_params : dict, default=None
        Further arguments of the metric, such as ``{'p': 3}`` for ``'minkowski'``.
    cluster_selection_method : {'eom', 'leaf'}, default='eom'
        ``'eom'`` chooses the clusters that persist over the widest range of densities (excess of mass). ``'leaf'`` chooses the clusters that do not split any
        further.
    allow_single_cluster : bool, default=False
        Whether all items may form a single cluster.
    n_jobs : int, default=None
        The number of threads; -1 uses all processors. ``None`` uses ``OMP_NUM_THREADS`` if it is set, otherwise all processors, or one thread for each process
        of an MPI job. The result does not depend on the number of threads. The tree grows on one thread.
    verbose : int, default=0
        If above 0, show progress on standard error.
    callback : callable, default=None
        A function that is called with a :class:`lehr.Progress` after each step. Return ``False`` to stop the run.
    checkpoint : path-like, default=None
        A file in which ``fit`` saves the state of the run. If the file exists, ``fit`` resumes the run and gives a bit-identical result. A completed run
        removes the file.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,), int32
        The cluster of each item; -1 for noise.
    n_clusters_ : int
        The number of clusters.
    probabilities_ : ndarray of shape (n_samples,)
        How surely each item belongs to its cluster: 1 in the densest part of the cluster, 0 for noise. It is the density at which the item leaves, divided by
        the density at which the cluster ends.
    outlier_scores_ : ndarray of shape (n_samples,)
        How much less dense the surroundings of the item are than the densest part of the group that it leaves last (GLOSH), 0 to 1.
    core_distances_ : ndarray of shape (n_samples,)
        The distance within which there are ``min_samples`` items.
    cluster_persistence_ : ndarray of shape (n_clusters,)
        The share of densities over which the cluster stays one group, 0 to 1.
    clusters_ : structured ndarray of shape (n_clusters,)
        One row for each cluster: ``n_samples``, ``weight``, ``exemplar``, ``distance``, ``stability``, ``persistence``. ``exemplar`` is an item in the densest
        part. Below ``distance``, the cluster is apart from all others; it is NaN for a cluster of all items.
    condensed_tree_ : structured ndarray
        One row for each group that was compared, after its parent: ``parent``, ``distance``, ``end``, ``n_samples``, ``weight``, ``stability``, ``cluster``.
        ``parent`` is -1 for the group of all items, and ``cluster`` is -1 if the group was not chosen. The group is apart below ``distance``, and splits or
        dissolves at ``end``.
    n_features_in_ : int
        The number of columns of ``X``.
    feature_names_in_ : ndarray of shape (``n_features_in_``,)
        The names of the columns, if ``X`` has any.

    See Also
    --------
    AgglomerativeClustering : A tree of all items, cut at one height.
    DAClustering : Compact clusters of rows, also for millions of rows.

    Notes
    -----
    Time and memory grow with the square of the number of items, because Lehr computes all dissimilarities.

    References
    ----------
    Campello, Moulavi and Sander, "Density-based clustering based on hierarchical density estimates", PAKDD (2013).

    Campello, Moulavi, Zimek and Sander, "Hierarchical density estimates for data clustering, visualization, and outlier detection", ACM Transactions on
    Knowledge Discovery from Data 10 (2015).

    Malzer and Baum, "A hybrid approach to hierarchical density-based cluster selection", MFI (2020).

    Examples
    --------
    >>> import lehr
    >>> X = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0], [50.0]]
    >>> lehr.HDBSCAN(min_cluster_size=3, min_samples=2).fit(X).labels_.tolist()
    [0, 0, 0, 1, 1, 1, -1]
    """

    _method = "hdbscan"
    _takes_gaps = False
    _takes_weight_0 = False

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "min_cluster_size": [whole(2)],
        "min_samples": [whole(1), None],
        "cluster_selection_epsilon": [number(0, np.inf)],
        "max_cluster_size": [whole(1), None],
        "metric": METRIC,
        "metric_params": [dict, None],
        "cluster_selection_method": [one_of("eom", "leaf")],
        "allow_single_cluster": ["boolean"],
        **WATCHED,
    }

    def __init__(
        self,
        min_cluster_size: int = 5,
        min_samples: int | None = None,
        *,
        cluster_selection_epsilon: float = 0.0,
        max_cluster_size: int | None = None,
        metric: Metric | Callable[..., float] = "euclidean",
        metric_params: dict[str, Any] | None = None,
        cluster_selection_method: Literal["eom", "leaf"] = "eom",
        allow_single_cluster: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Any = None,
        checkpoint: Any = None,
    ) -> None:
        self.min_cluster_size = min_cluster_size
        self.min_samples = min_samples
        self.cluster_selection_epsilon = cluster_selection_epsilon
        self.max_cluster_size = max_cluster_size
        self.metric = metric
        self.metric_params = metric_params
        self.cluster_selection_method = cluster_selection_method
        self.allow_single_cluster = allow_single_cluster
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.checkpoint = checkpoint

    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> HDBSCAN:
        """Find the dense groups.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_samples) or (n_samples, n_features)
            Dissimilarities for ``metric='precomputed'``, otherwise rows of numbers.
        y : ignored
            Ignored; present for scikit-learn's interface.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights of the items, above 0. An item of weight 3 counts as three equal items of weight 1. The sizes in the parameters are in items of average weight, so only the ratios of weights matter.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If dissimilarities are negative, missing, not symmetric or not 0 on the diagonal. Also if a parameter is invalid, or ``min_samples`` exceeds the
            number of items.
        Stopped
            If the callback returned ``False``.
        KeyboardInterrupt
            If you press Ctrl-C; the run ends within a second.

        Examples
        --------
        >>> import lehr
        >>> D = [[0.0, 1.0, 8.0, 9.0], [1.0, 0.0, 7.0, 8.0], [8.0, 7.0, 0.0, 1.0], [9.0, 8.0, 1.0, 0.0]]
        >>> lehr.HDBSCAN(2, 1, metric="precomputed").fit(D).labels_.tolist()
        [0, 0, 1, 1]
        """
        options = self._told(
            min_cluster_size="min_cluster_size", min_samples="min_samples", selection="cluster_selection_method", epsilon="cluster_selection_epsilon",
            max_cluster_size="max_cluster_size", allow_single_cluster="allow_single_cluster",
        )
        items, item_weights, matrix = self._items(X, sample_weight)
        needed = self.min_cluster_size if self.min_samples is None else self.min_samples
        if needed > items.shape[0]:
            samples = "1 sample" if items.shape[0] == 1 else f"{items.shape[0]} samples"
            raise ValueError(f"HDBSCAN requires at least as many items as min_samples (here {needed}), found {samples}.")
        with Watch("HDBSCAN", self.verbose, self.callback, self.checkpoint) as watch:
            found = _native.run_matrix(self._method, matrix, item_weights, watch.run(options, self.n_jobs))
        labels, clusters, splits = (found["tables"][name] for name in ("labels", "clusters", "splits"))
        self.labels_ = labels["cluster"].astype(np.int32)
        self.probabilities_ = as_given(labels["probability"], items)
        self.outlier_scores_ = as_given(labels["outlier_score"], items)
        self.core_distances_ = as_given(labels["core_distance"], items)
        figures = {name: clusters[name] for name in ("distance", "stability", "persistence")}
        self.clusters_ = table({"n_samples": clusters["items"], "weight": clusters["weight"], "exemplar": clusters["exemplar_item"], **figures})
        places = {name: _places(splits[name]) for name in ("parent", "cluster")}
        of_splits = {name: splits[name] for name in ("distance", "end")}
        self.condensed_tree_ = table({
            "parent": places["parent"], **of_splits, "n_samples": splits["items"], "weight": splits["weight"], "stability": splits["stability"],
            "cluster": places["cluster"],
        })
        tell(found)
        return self

    @property
    def n_clusters_(self) -> int:
        """The number of clusters."""
        return len(self.clusters_)

    @property
    def cluster_persistence_(self) -> NDArray[np.float64]:
        """The share of densities over which each cluster stays one group."""
        persistence: NDArray[np.float64] = self.clusters_["persistence"].copy()
        return persistence


def _places(texts: Any) -> NDArray[np.int64]:
    """Returns numbers that a table has as texts; -1 for none."""
    return np.array([int(text) if text else -1 for text in texts], dtype=np.int64)
