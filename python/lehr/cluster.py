"""Clustering by deterministic annealing, of points or of items by their dissimilarities.

Annealing begins with one cluster at a high temperature. As the temperature falls, a cluster divides whenever its covariance makes it unstable. Therefore you
choose no initial centres, need no restarts, and get the same result each time.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from lehr import _checks, _native, _partitioned
from lehr._centers import CentersMixin, as_given, has_gaps
from lehr._constraints import COOLING, RANDOM_STATE, WATCHED, above, number, one_of, whole
from lehr._items import MembersMixin
from lehr._learnt import LearntMixin
from lehr._model import SavedMixin, table, tell, weights
from lehr._names import listed
from lehr._partitions import Result, is_partitioned, partitions_of
from lehr._progress import Watch
from lehr._shown import ShownMixin
from lehr.distances import METRIC, Metric, of_rows
from lehr.kmeans import KMeans

__all__ = ["DAClustering", "KMeans", "PairwiseClustering"]
__dir__ = listed(__all__)

_PRECISIONS = {"double": "f64", "single": "f32"}


class _Annealed(ShownMixin, SavedMixin):
    """The common part of :class:`DAClustering` and :class:`PairwiseClustering`."""

    labels_: NDArray[np.int32]

    def _take(self, found: Any, X: Any) -> None:
        self.labels_ = found["labels"]
        self.probabilities_ = as_given(found["probabilities"], X)
        self.clusters_ = table(found["clusters"])
        self.free_energy_ = found["free_energy"]
        self.temperature_ = found["temperature"]
        self.critical_temperature_ = found["critical_temperature"]
        self.n_iter_ = found["n_iter"]
        self.history_ = table(found["history"])
        self.splits_ = table(found["splits"])
        tell(found)

    @property
    def n_clusters_(self) -> int:
        """The number of clusters."""
        return len(self.clusters_)

    def plot_tree(self, *, ax: Any = None) -> Any:
        """Plot the tree of divisions: each division of a cluster, at its temperature. See :func:`lehr.plot.annealing_tree`.

        Parameters
        ----------
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
        >>> lehr.DAClustering(2).fit([[0.0], [1.0], [9.0]]).plot_tree().get_xlabel()
        'temperature'
        """
        from lehr import plot

        return plot.annealing_tree(self, ax=ax)


class DAClustering(CentersMixin, LearntMixin, ClusterMixin, _Annealed):
    """Clustering of points by deterministic annealing.

    Minimises the weighted sum of squared distances to the centres, as k-means does, but in one run that begins with one centre. A centre divides when its
    cluster becomes unstable. At the end, the run tries to improve the result by swapping centres. Without ``n_clusters``, Lehr chooses the largest number for
    which a valley in the density separates all neighbouring clusters, or 1 if there is none. ``choice_`` gives the reason, and ``candidates_`` lists the
    alternatives.

    Columns should be in comparable units. If the units differ, put a ``StandardScaler`` before the estimator. For a table with texts or missing values, use
    :class:`TablePreparation`.

    Parameters
    ----------
    n_clusters : int, default=None
        The number of clusters, at least 1. With ``None``, Lehr chooses the number by the valleys between groups, or by ``stop_temperature`` or ``stop_length``.
        If you give both ``n_clusters`` and a final temperature, the limit that is reached first applies, so there may be fewer clusters.
    stop_temperature : float, default=None
        The final temperature T, in the squared unit of ``X``. Memberships are proportional to ``exp(-d**2 / T)``.
    stop_length : float, default=None
        The final temperature T as a length, ``sqrt(T / 2)``, in the unit of ``X``. Use either this or ``stop_temperature``.
    max_clusters : int, default=None
        The maximum number of clusters, if ``n_clusters`` is not given. ``None`` means as many as the rows allow. Lehr warns you if there may be more.
    outlier_radius : float, default=None
        A radius above 0. Rows farther than this from every centre are in no cluster: they get the label -1, and do not affect the centres. With ``None``, every
        row is in a cluster.
    cooling : float, default=0.95
        The factor from one temperature to the next, 0.5 to 0.999.
    tol : float, default=1e-4
        Iterations at a temperature end when no centre's squared move exceeds this share of the temperature, 1e-12 to 1e-2.
    overshoot : float, default=1.5
        A factor, 1 to 4. The refinement also tries a second result: it grows to this many times ``n_clusters`` clusters, and merges clusters until
        ``n_clusters`` are left.
    patience : int, default=4
        The run ends after this many unsuccessful swaps for each cluster; 0: no swaps. With more than 4, the search continues even if the first round of swaps
        improves nothing. With an outlier radius, no swaps are tried.
    exact : bool, default=False
        Whether to anneal all rows instead of a summary. By default, for 5,000 numeric rows or more in up to 16 columns, Lehr anneals a summary of some thousand
        weighted points. Then Lehr refines the result over all rows. The summary is many times faster, and usually gives the same clusters. If you give a final
        temperature or an outlier radius, Lehr always anneals all rows.
    precision : {'double', 'single'}, default='double'
        The precision of rows while annealing. Single precision takes half the memory and is faster. Labels and centres are always computed in double precision.
    random_state : int, RandomState instance or None, default=None
        The random seed, which only breaks ties. ``None`` means 0, so that the same call gives the same result.
    n_jobs : int, default=None
        The number of threads; -1 uses all processors. ``None`` uses ``OMP_NUM_THREADS`` if it is set, otherwise all processors, or one thread for each process
        of an MPI job. The result is bit-identical for any number of threads.
    verbose : int, default=0
        If above 0, show progress on standard error.
    callback : callable, default=None
        A function that is called with a :class:`lehr.Progress` after each temperature, in the thread that called ``fit``. Return ``False`` to stop the run.
    checkpoint : path-like, default=None
        A file in which ``fit`` saves the state of the run. If the file exists, ``fit`` resumes the run and gives a bit-identical result. A completed run
        removes the file.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The weighted means of the clusters, in the unit of ``X``; float32 if ``X`` is float32. Clusters are numbered by decreasing weight.
    n_clusters_ : int
        The number of clusters.
    labels_ : ndarray of shape (n_samples,), int32
        The cluster of each row; -1 for a row outside the outlier radius. If a final temperature ended the run, the centres moved to the means of their rows
        after the labels were assigned. Therefore ``predict`` may assign a row near a border to another cluster.
    probabilities_ : ndarray of shape (n_samples,)
        The probability that each row belongs to its cluster, 0 to 1. If groups are compact, nine in ten rows with a probability of 0.9 belong to the group of
        their cluster. For a row with label -1, this is the probability that the row is noise. :meth:`predict_proba` returns the probabilities of all clusters.
    clusters_ : structured ndarray of shape (n_clusters,)
        One row for each cluster: ``n_samples``, ``weight``, ``spread`` (root mean square distance from the centre) and ``probability`` (the mean of
        ``probabilities_`` over its rows).
    inertia_ : float
        The weighted sum of squared distances to the centres, in the squared unit of ``X``. With an outlier radius, only rows in clusters contribute.
    free_energy_ : float
        The free energy at the last temperature.
    temperature_ : float
        The last temperature before hard assignment.
    critical_temperature_ : float
        The temperature below which a single cluster is unstable: twice the largest eigenvalue of the covariance of the rows.
    history_ : structured ndarray
        One row for each temperature: ``temperature``, ``n_clusters``, ``free_energy``, ``mean_cost``, ``information``, ``softness``, ``sweeps``, ``max_move``,
        ``next_critical``. ``mean_cost`` is the mean squared distance under the memberships. ``information`` is the mutual information of rows and clusters in
        nats. ``softness`` is the mean of 1 minus the largest membership. ``sweeps`` is the number of passes over the rows. ``max_move`` is the largest squared
        move of a centre in the last pass, divided by the temperature. ``next_critical`` is the highest temperature at which a cluster divides. Temperatures
        fall while clusters divide. Unless clusters lie far apart, they divide beyond the final number for some steps. Then annealing returns to the temperature
        at which the final number was reached. From there, temperatures fall again without divisions, and ``next_critical`` is 0.
    splits_ : structured ndarray
        One row for each division: ``temperature``, ``critical_temperature`` (below which the cluster was unstable), ``parent``, ``n_clusters`` after the
        division, ``merged_at``, ``merged_into``. ``parent`` is the component that divided: 0 is the first component, and row k, from 1, creates component k.
        ``merged_at`` is the temperature at which that new component was merged or removed, and NaN if it lasted. ``merged_into`` is the component that it was
        merged into, or -1. These are not the numbers of ``labels_``.
    candidates_ : structured ndarray or None
        If you gave no number of clusters, one row for each number that Lehr compared, the largest first: ``n_clusters``, ``mean_cost``, ``separation``,
        ``division``, ``is_separated``. ``mean_cost`` is the mean squared distance to the centre. ``separation`` is how much more probable the rows are with a
        valley between the two least separated neighbours, in nats; at least 6 are needed. ``division`` is the same measure for a valley within a cluster.
    choice_ : str or None
        The reason for the chosen number of clusters, as a sentence; ``None`` if you gave ``n_clusters`` or a final temperature.
    n_iter_ : int
        The number of passes over the rows.
    n_features_in_ : int
        The number of columns of ``X``.
    feature_names_in_ : ndarray of shape (``n_features_in_``,)
        The names of the columns, if ``X`` has any.

    See Also
    --------
    KMeans : K-means with random initialisations, as a baseline.
    PairwiseClustering : Annealing of items by their dissimilarities.

    References
    ----------
    Rose, Gurewitz and Fox, "Statistical mechanics and phase transitions in clustering", Physical Review Letters 65 (1990).

    Examples
    --------
    >>> import lehr
    >>> model = lehr.DAClustering(n_clusters=2).fit([[0.0], [1.0], [10.0], [11.0]])
    >>> model.inertia_
    1.0
    >>> bool(model.labels_[0] == model.labels_[1]), bool(model.labels_[0] == model.labels_[2])
    (True, False)
    """

    _method = "vector"
    _kept = ("_n_features_out", "_sponge", "_borders")
    _sponge: float | None = None
    #: The borders between clusters as JSON, in the format of a model file.
    _borders: str

    #: For tools that read the type of an estimator as scikit-learn did before 1.6.
    _estimator_type = "clusterer"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [whole(1), None],
        "stop_temperature": [above(0), None],
        "stop_length": [above(0), None],
        "max_clusters": [whole(1), None],
        "outlier_radius": [above(0), None],
        "cooling": COOLING,
        "tol": [number(1e-12, 1e-2)],
        "overshoot": [number(1, 4)],
        "patience": [whole(0)],
        "exact": ["boolean"],
        "precision": [one_of(*_PRECISIONS)],
        "random_state": RANDOM_STATE,
        **WATCHED,
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        stop_temperature: float | None = None,
        stop_length: float | None = None,
        max_clusters: int | None = None,
        outlier_radius: float | None = None,
        cooling: float = 0.95,
        tol: float = 1e-4,
        overshoot: float = 1.5,
        patience: int = 4,
        exact: bool = False,
        precision: Literal["double", "single"] = "double",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Any = None,
        checkpoint: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.stop_temperature = stop_temperature
        self.stop_length = stop_length
        self.max_clusters = max_clusters
        self.outlier_radius = outlier_radius
        self.cooling = cooling
        self.tol = tol
        self.overshoot = overshoot
        self.patience = patience
        self.exact = exact
        self.precision = precision
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> DAClustering:
        """Find the clusters of the rows of ``X``.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, Fingerprints} of shape (n_samples, n_features)
            The rows to cluster. Arrays of float64 or float32, in C or Fortran order, are not copied. SciPy's sparse matrices stay sparse and give the same
            clusters as dense rows. Formats other than CSR are converted, and duplicate entries are added up in a copy. :class:`~lehr.Fingerprints` are rows of
            0 and 1 that are stored and processed as bits. Dask arrays, Dask and Spark data frames and Ray datasets stay in their partitions. After such a fit,
            ``labels_`` is not set, and :meth:`predict` returns the labels in the form of the table.
        y : ignored
            Ignored; present for scikit-learn's interface.
        sample_weight : array-like of shape (n_samples,) or str, default=None
            The weights of the rows, 0 or more. For a table in partitions: the name of a column, or a Dask collection with the partitions of ``X``. A row of
            weight 3 counts as three equal rows; a row of weight 0 gets a label but does not affect the clusters.
            Only the choice of the number of clusters also depends on the number of rows: Lehr uses Kish's effective sample size of the weighted rows.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the data or a parameter is invalid.
        Stopped
            If the callback returned ``False``.
        KeyboardInterrupt
            If you press Ctrl-C; the run ends within a second.

        Examples
        --------
        >>> import lehr
        >>> lehr.DAClustering(n_clusters=1).fit([[0.0], [3.0]], sample_weight=[2.0, 1.0]).cluster_centers_
        array([[1.]])
        """
        partitions = partitions_of(X, sample_weight)
        if partitions is not None:
            _partitioned.fit_annealed(self, partitions)
            return self
        parameters = self._told(
            clusters="n_clusters",
            stop_temperature="stop_temperature",
            stop_length="stop_length",
            max_clusters="max_clusters",
            sponge="outlier_radius",
            cooling="cooling",
            tolerance="tol",
            overshoot="overshoot",
            patience="patience",
            exact="exact",
        )
        parameters |= {"seed": _checks.seed(self.random_state), "precision": _PRECISIONS[self.precision]}
        rows = self._rows(X, reset=True)
        _checks.warn_of_scales(getattr(self, "feature_names_in_", None), rows)
        row_weights = weights(sample_weight, rows)
        with Watch("DAClustering", self.verbose, self.callback, self.checkpoint) as watch:
            found = _native.fit_vector(rows, row_weights, watch.run(parameters, self.n_jobs))
        self.cluster_centers_ = as_given(found["cluster_centers"], rows)
        self.inertia_ = found["inertia"]
        self._n_features_out = len(self.cluster_centers_)
        # The fitted radius is kept, even if the parameter changes later.
        self._sponge = parameters["sponge"]
        self._borders = found["borders"]
        self.candidates_ = None if found["candidates"] is None else table(found["candidates"])
        self.choice_ = found["reason"]
        self._take(found, rows)
        return self

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return the probability of each cluster for each row.

        A row far from every border has a probability near 1 for its cluster. A row between two overlapping groups has a probability near 0.5 for each. Lehr
        assumes that, along the line between two neighbouring clusters, each group is normally distributed. See :doc:`the explanation </concepts/probability>`.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, Fingerprints} of shape (n_samples, n_features)
            Rows, in the units of the fitted data.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_clusters)
            The values are float32 if ``X`` is float32. Each row adds up to 1, or with an outlier radius to 1 minus the probability of noise. The most probable
            cluster is not always the cluster with the nearest centre: near a border, the wider of two groups is more probable.

        Examples
        --------
        >>> import lehr
        >>> model = lehr.DAClustering(n_clusters=2).fit([[0.0], [1.0], [10.0], [11.0]])
        >>> model.predict_proba([[5.5]]).round(3).tolist()
        [[0.5, 0.5]]
        """
        check_is_fitted(self)
        if is_partitioned(X):
            return _partitioned.rows_of(self, X, "predict_proba", Result("probabilities", self.cluster_centers_.dtype, self.n_clusters_))
        rows = self._rows(X, reset=False)
        _checks.refuse_huge(rows)
        kind, fields = self._learnt()
        return as_given(_native.memberships(rows, json.dumps(fields), has_gaps(rows)), rows)

    def _radius(self) -> float | None:
        return self._sponge

    def _learnt(self) -> tuple[str, dict[str, Any]]:
        centers = self.cluster_centers_
        fields = {"dimension": centers.shape[1], "centers": centers.ravel().tolist(), "temperature": self.temperature_, "borders": json.loads(self._borders)}
        return "clusters", fields if self._sponge is None else {**fields, "sponge": self._sponge}

    def _take_learnt(self, parts: Any) -> None:
        self.cluster_centers_ = parts["cluster_centers"]
        self._n_features_out = len(self.cluster_centers_)
        self.temperature_ = parts["temperature"]
        self._sponge = parts["sponge"]
        self._borders = parts["borders"]
        self.set_params(n_clusters=self._n_features_out, outlier_radius=self._sponge)


class PairwiseClustering(MembersMixin, LearntMixin, _Annealed):
    """Clustering of items by their dissimilarities, which are given or computed from rows of numbers.

    Uses the mean-field approximation of Hofmann and Buhmann, with annealing. Dissimilarities need not form a metric, and some may be missing. With squared
    Euclidean distances, the method finds the clusters that :class:`DAClustering` finds. Lehr does not square dissimilarities; squaring them changes the
    clusters.

    Parameters
    ----------
    n_clusters : int, default=None
        The number of clusters, at least 1. ``None`` means the number that lasts over the widest range of temperatures, or with ``stop_temperature`` the number
        at that temperature. If you give both ``n_clusters`` and ``stop_temperature``, the limit that is reached first applies, so there may be fewer clusters.
    metric : str or callable, default='euclidean'
        ``'precomputed'``: ``X`` is a matrix of dissimilarities, which is symmetric and not negative, with 0 on the diagonal, and NaN for missing pairs. Lehr
        corrects deviations by rounding, and warns you. With any other metric, ``X`` is rows of numbers, even if it is square, and Lehr computes their
        dissimilarities. Metrics are ``'euclidean'``, ``'sqeuclidean'``, ``'manhattan'``, ``'cosine'``, ``'correlation'``, and others that
        ``sklearn.metrics.pairwise_distances`` takes. A function is called with two rows.
    metric_params : dict, default=None
        Further arguments of the metric, such as ``{'p': 3}`` for ``'minkowski'``.
    stop_temperature : float, default=None
        The final temperature, in the unit of the dissimilarities.
    max_clusters : int, default=None
        The maximum number of clusters, if ``n_clusters`` is not given. ``None`` means 20, or the number of items if you give a final temperature.
    cooling : float, default=0.95
        The factor from one temperature to the next, 0.5 to 0.999.
    tol : float, default=1e-3
        Iterations at a temperature end when no field changes by more than this share of the temperature, 1e-12 to 0.1.
    overshoot : float, default=1.5
        The largest ratio of components to clusters during the run, 1 to 4; surplus components are merged again.
    random_state : int, RandomState instance or None, default=None
        The random seed for the initial vectors of the eigenvector computation. ``None`` means 0.
    n_jobs : int, default=None
        The number of threads; -1 uses all processors. ``None`` uses ``OMP_NUM_THREADS`` if it is set, otherwise all processors, or one thread for each process
        of an MPI job. The result does not depend on the number of threads.
    verbose : int, default=0
        If above 0, show progress on standard error.
    callback : callable, default=None
        A function that is called with a :class:`lehr.Progress` after each temperature. Return ``False`` to stop the run.
    checkpoint : path-like, default=None
        A file in which ``fit`` saves the state of the run. If the file exists, ``fit`` resumes the run.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,), int32
        The cluster of each item. Clusters are numbered by decreasing weight.
    n_clusters_ : int
        The number of clusters.
    probabilities_ : ndarray of shape (n_samples,)
        The probability that each item belongs to its cluster rather than to a neighbouring one, 0 to 1.
    clusters_ : structured ndarray of shape (n_clusters,)
        One row for each cluster: ``n_samples``, ``weight``, ``medoid``, ``medoid_mean``, ``mean_within``, ``mean_nearest``. ``medoid`` is the item with the
        lowest mean dissimilarity to the cluster, which is ``medoid_mean``. ``mean_within`` is the mean dissimilarity between members, and ``mean_nearest`` that
        from members to the nearest other cluster.
    medoid_indices_ : ndarray of shape (n_clusters,), int64
        The medoid of each cluster, as in ``clusters_``.
    representatives_ : ndarray of shape (n_clusters, 3), int64
        Three items of each cluster, from its inner, middle and outer parts.
    cost_ : float
        The cost of the clusters: half the sum, over clusters, of the weight times the mean dissimilarity between members.
    free_energy_, temperature_, critical_temperature_, history_, splits_, n_iter_
        The same as for :class:`DAClustering`; temperatures are in the unit of the dissimilarities.
    plateaus_ : structured ndarray or None
        If you gave no number of clusters: one row for each number, with the range of temperatures that have this number: ``n_clusters``, ``from_temperature``,
        ``to_temperature``.
    missing_pairs_ : int
        The number of pairs without a dissimilarity.
    is_damped_ : bool
        Whether iterations were damped, because they oscillated. Iterations may oscillate if the dissimilarities are not a metric.
    n_features_in_ : int
        The number of columns of ``X``.
    feature_names_in_ : ndarray of shape (``n_features_in_``,)
        The names of the columns, if ``X`` has any.

    References
    ----------
    Hofmann and Buhmann, "Pairwise data clustering by deterministic annealing", IEEE PAMI 19 (1997).

    Examples
    --------
    >>> import numpy as np, lehr
    >>> D = np.array([[0, 1, 9, 9], [1, 0, 9, 9], [9, 9, 0, 1], [9, 9, 1, 0]], dtype=float)
    >>> model = lehr.PairwiseClustering(n_clusters=2, metric="precomputed").fit(D)
    >>> model.labels_.tolist(), model.cost_
    ([0, 0, 1, 1], 1.0)
    """

    _method = "pairwise"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [whole(1), None],
        "metric": METRIC,
        "metric_params": [dict, None],
        "stop_temperature": [above(0), None],
        "max_clusters": [whole(1), None],
        "cooling": COOLING,
        "tol": [number(1e-12, 0.1)],
        "overshoot": [number(1, 4)],
        "random_state": RANDOM_STATE,
        **WATCHED,
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        metric: Metric | Callable[..., float] = "euclidean",
        metric_params: dict[str, Any] | None = None,
        stop_temperature: float | None = None,
        max_clusters: int | None = None,
        cooling: float = 0.95,
        tol: float = 1e-3,
        overshoot: float = 1.5,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Any = None,
        checkpoint: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.metric_params = metric_params
        self.stop_temperature = stop_temperature
        self.max_clusters = max_clusters
        self.cooling = cooling
        self.tol = tol
        self.overshoot = overshoot
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.checkpoint = checkpoint

    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> PairwiseClustering:
        """Find the clusters of the items.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_samples) or (n_samples, n_features)
            Dissimilarities for ``metric='precomputed'``, otherwise rows of numbers.
        y : ignored
            Ignored; present for scikit-learn's interface.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights of the items, 0 or more. An item of weight 3 counts as three items at distance 0. Without ``n_clusters``, the number of clusters also
            depends on the number of items: each cluster needs at least two, whatever their weights.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If dissimilarities are negative, not symmetric or not 0 on the diagonal; the message lists the first ten. Also if a parameter is invalid.
        Stopped
            If the callback returned ``False``.

        Examples
        --------
        >>> import lehr
        >>> lehr.PairwiseClustering(n_clusters=2).fit([[0.0], [1.0], [10.0]]).labels_.tolist()
        [0, 0, 1]
        """
        parameters = self._told(
            clusters="n_clusters",
            stop_temperature="stop_temperature",
            max_clusters="max_clusters",
            cooling="cooling",
            tolerance="tol",
            overshoot="overshoot",
        )
        parameters["seed"] = _checks.seed(self.random_state)
        items, item_weights, matrix = self._items(X, sample_weight)
        with Watch("PairwiseClustering", self.verbose, self.callback, self.checkpoint) as watch:
            found = _native.fit_pairwise(matrix, item_weights, watch.run(parameters, self.n_jobs))
        self._fit_X = None if self._is_given() else items
        self._weights = item_weights
        self.cost_ = found["cost"]
        self.representatives_ = found["representatives"]
        self.missing_pairs_ = found["missing_pairs"]
        self.is_damped_ = found["is_damped"]
        self.plateaus_ = None if found["plateaus"] is None else table(found["plateaus"])
        self._take(found, items)
        self.medoid_indices_ = self.clusters_["medoid"].copy()
        return self

    def score(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the negative weighted sum of each item's smallest field: greater is better. For the fitted items, the score is ``-cost_``.

        Parameters
        ----------
        X : array-like of shape (n_items, n_samples) or (n_items, n_features)
            The same as for :meth:`predict`.
        y : ignored
            Ignored; present for scikit-learn's interface.
        sample_weight : array-like of shape (n_items,), default=None
            The weight of each item.

        Returns
        -------
        score : float

        Examples
        --------
        >>> import lehr
        >>> X = [[0.0], [1.0], [10.0], [11.0]]
        >>> lehr.PairwiseClustering(n_clusters=2, metric="sqeuclidean").fit(X).score(X)
        -1.0
        """
        least = self._fields(X, "score").min(axis=1)
        item_weights = weights(sample_weight, least)
        return -float(np.sum(least) if item_weights is None else np.dot(least, item_weights))

    def _take_learnt(self, parts: Any) -> None:
        self.labels_ = parts["labels"]
        self._weights = parts["weights"]
        self._fit_X = None
        self.clusters_ = table({"mean_within": parts["mean_within"]})
        self.n_features_in_ = len(self.labels_)
        self.set_params(n_clusters=len(self.clusters_))

    def plot(self, dissimilarities: ArrayLike | None = None, *, ax: Any = None) -> Any:
        """Plot a heat map of the dissimilarities, sorted by cluster. See :func:`lehr.plot.blocks`.

        Parameters
        ----------
        dissimilarities : array-like of shape (n_samples, n_samples), default=None
            The dissimilarities of the fitted items. With ``None``, Lehr computes them from the fitted rows. With ``metric='precomputed'``, you must pass them.
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
        >>> lehr.PairwiseClustering(2).fit([[0.0], [10.0], [1.0]]).plot().get_xlabel()
        'items by cluster'
        """
        from lehr import plot

        check_is_fitted(self)
        if dissimilarities is None:
            if self._fit_X is None:
                raise ValueError("The dissimilarities that were fitted are not kept. Pass them.")
            dissimilarities = of_rows(self._fit_X, None, self.metric, self.metric_params, self.n_jobs)
        return plot.blocks(self, dissimilarities, ax=ax)
