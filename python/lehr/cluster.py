"""Clustering by deterministic annealing: of points, and of items given by their dissimilarities.

Annealing begins with one cluster at a high temperature. Clusters divide when their own covariance shows an instability, again and again as the temperature
falls. Therefore you choose no starting centres, need no restarts, and get the same result each time.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from lehr import _checks, _native
from lehr._centers import CentersMixin, as_given, has_gaps
from lehr._constraints import COOLING, RANDOM_STATE, WATCHED, above, number, one_of, whole
from lehr._items import ItemsMixin, refuse_unknown
from lehr._learnt import LearntMixin
from lehr._model import SavedMixin, table, tell, weights
from lehr._names import listed
from lehr._progress import Watch
from lehr._shown import ShownMixin
from lehr.distances import METRIC, Metric, of_rows
from lehr.kmeans import KMeans

__all__ = ["DAClustering", "KMeans", "PairwiseClustering"]
__dir__ = listed(__all__)

_PRECISIONS = {"double": "f64", "single": "f32"}


class _Annealed(ShownMixin, SavedMixin):
    """The result of both clusterings."""

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
        """The tree of divisions: each cluster's division and its temperature. See :func:`lehr.plot.annealing_tree`.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            The matplotlib axes to draw on; ``None``: a new figure.

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
    """Clusters of points by deterministic annealing.

    Finds centres that make the weighted sum of squared distances small, as KMeans does, but in one run from one centre. A centre divides when its cluster's
    covariance shows an instability, and a search by swaps ends the run. If you don't give ``n_clusters``, it chooses the number for you. That is the largest
    for which a valley in the density divides every two neighbouring clusters, or 1. ``choice_`` says why, ``candidates_`` lists the alternatives.

    Columns should be in comparable units: put a ``StandardScaler`` before the estimator if they are not. For a table with text or gaps, use
    :class:`TablePreparation`.

    Parameters
    ----------
    n_clusters : int, default=None
        The number of clusters, at least 1. ``None``: Lehr chooses the number by the valleys between groups; with ``stop_temperature`` or ``stop_length``, by
        that temperature. With ``n_clusters`` and one of those, the one reached first ends the growth: there may be fewer.
    stop_temperature : float, default=None
        The final temperature, in the squared unit of ``X``: memberships are ``exp(-d**2 / T)``.
    stop_length : float, default=None
        The final temperature as a length, ``sqrt(T / 2)``, in the unit of ``X``; excludes ``stop_temperature``.
    max_clusters : int, default=None
        The largest number of clusters, if ``n_clusters`` is not given. ``None`` means as many as the rows allow. A warning says if there may be more.
    outlier_radius : float, default=None
        A radius, above 0: rows farther than it from every centre are in no cluster. They are labelled -1 and move no centre. ``None``: every row is in a
        cluster.
    cooling : float, default=0.95
        The factor from one temperature to the next, 0.5 to 0.999.
    tol : float, default=1e-4
        A fixed point is reached when no squared move of a centre exceeds this share of the temperature, 1e-12 to 1e-2.
    overshoot : float, default=1.5
        One branch of the refinement grows to this many times ``n_clusters`` and merges back, 1 to 4.
    patience : int, default=4
        The number of unsuccessful swaps that ends the run, in multiples of the number of clusters; 0 for no swaps. With a number above 4, the run continues
        even if a first look improves nothing. It has no effect with an outlier radius, where no swaps are tried.
    exact : bool, default=False
        Anneal all rows instead of a summary. By default, Lehr anneals a summary of some thousand weighted points for 5,000 numeric rows or more, in up to 16
        columns. Then it refines the result over all rows. This is many times faster, and you most often get the same clusters. It has no effect if you give a
        final temperature or an outlier radius, because all rows are annealed then.
    precision : {'double', 'single'}, default='double'
        The precision of rows while annealing. Single precision takes half the memory and is faster; labels and centres are computed in double precision either
        way.
    random_state : int, RandomState instance or None, default=None
        The random seed, which only breaks ties. ``None`` means 0, so the same call gives you the same result.
    n_jobs : int, default=None
        The number of threads; -1: all processors. ``None``: ``OMP_NUM_THREADS`` if it is set, otherwise all processors, or one thread for each process of an MPI job.
        The result is bit-identical for any number of threads.
    verbose : int, default=0
        If above 0, show progress on standard error.
    callback : callable, default=None
        Called with a :class:`lehr.Progress` after each temperature, in the thread that called ``fit``; return ``False`` to stop the run.
    checkpoint : path-like, default=None
        The checkpoint file of an interrupted run. If it exists, ``fit`` resumes from it and gives the same result, bit for bit. A completed run removes it.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Weighted means, in the unit of ``X``, float32 if ``X`` is float32. Clusters are numbered by decreasing weight.
    n_clusters_ : int
        The number of clusters.
    labels_ : ndarray of shape (n_samples,), int32
        The cluster of each sample; -1 for a sample outside the outlier radius. If you ended the run at a temperature, centres have moved to the means of these rows.
        Therefore ``predict`` may give a row on a border to another.
    probabilities_ : ndarray of shape (n_samples,)
        How surely each row belongs to its cluster, 0 to 1. If the groups are compact, nine in ten of the rows with 0.9 belong with their cluster's group. For a
        row with label -1, the share of noise. :meth:`predict_proba` gives the probabilities of all clusters.
    clusters_ : structured ndarray of shape (n_clusters,)
        ``n_samples``, ``weight`` and ``spread`` (root mean square distance from the centre).
    inertia_ : float
        Weighted sum of squared distances, in the squared unit of ``X``; with an outlier radius, over the rows that are in clusters.
    free_energy_ : float
        The free energy at the last temperature.
    temperature_ : float
        The last temperature before hard assignment.
    critical_temperature_ : float
        The temperature below which one cluster is unstable: twice the leading eigenvalue of the covariance.
    history_ : structured ndarray
        One row for each temperature: ``temperature``, ``n_clusters``, ``free_energy``, ``mean_cost``, ``information``, ``softness``, ``sweeps``,
        ``max_move``, ``next_critical``. ``mean_cost`` is the mean squared distance under the memberships, ``information`` the mutual information of rows and
        clusters in nats. ``softness`` is the mean of 1 less the largest membership, ``sweeps`` counts passes over the rows. ``max_move`` is the largest squared
        move of a centre in the last pass, over the temperature. ``next_critical`` is the highest temperature at which a cluster divides. Temperatures fall
        while clusters divide, and for a while beyond the final number unless clusters lie far apart. Then they fall a second time, from the temperature of that
        number, without divisions, and ``next_critical`` is 0.
    splits_ : structured ndarray
        One row for each division: ``temperature``, ``critical_temperature`` (below which the cluster was unstable), ``parent`` and ``n_clusters`` after it.
        ``parent`` is the cluster that divided, by its number at that time, which is none of ``labels_``.
    candidates_ : structured ndarray or None
        If you gave no number, the numbers that Lehr compared, the largest first. ``mean_cost`` is the mean squared distance to the centre. ``separation`` says how much more
        probable the rows are with a valley between the two least separated neighbours, in nats; 6 are needed. ``division`` is the same for a valley within a
        cluster. The other fields are ``n_clusters`` and ``is_separated``.
    choice_ : str or None
        The reason for this number, in a sentence; ``None`` if ``n_clusters`` or a final temperature was given.
    n_iter_ : int
        Passes over the rows.
    n_features_in_ : int
        Columns of ``X``.
    feature_names_in_ : ndarray of shape (``n_features_in_``,)
        Names of the columns, if ``X`` has any.

    See Also
    --------
    KMeans : The baseline, from starts that are drawn.
    PairwiseClustering : The same for dissimilarities.

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
    #: The borders between clusters, in the form of a model's file.
    _borders: str

    #: For tools that ask as scikit-learn before 1.6 did.
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
            float64 or float32, in C or Fortran order: read without a copy. SciPy's sparse rows are kept without their zeros. If yours are in another format
            than CSR, or have a column twice in a row, Lehr makes a CSR copy with the sums. You get the same clusters as for dense rows.
            :class:`~lehr.Fingerprints` are rows of 0 and 1, kept and computed as bits.
        y : ignored
            Ignored; present for scikit-learn's interface.
        sample_weight : array-like of shape (n_samples,), default=None
            0 or more. A weight of 3 equals the row three times; a row of weight 0 has no influence but gets a label. Only the choice of the number of clusters
            depends on the number of rows too. Weights have no unit there, so Lehr counts the number of equally weighted rows that would know their mean as
            well.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For invalid data or parameters.
        Stopped
            If the callback returned ``False``.
        KeyboardInterrupt
            If the user presses Ctrl-C; the run ends within a second.

        Examples
        --------
        >>> import lehr
        >>> lehr.DAClustering(n_clusters=1).fit([[0.0], [3.0]], sample_weight=[2.0, 1.0]).cluster_centers_
        array([[1.]])
        """
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
        _checks.warn_of_scales(self, rows)
        row_weights = weights(sample_weight, rows)
        with Watch("DAClustering", self.verbose, self.callback, self.checkpoint) as watch:
            found = _native.fit_vector(rows, row_weights, watch.run(parameters, self.n_jobs))
        self.cluster_centers_ = as_given(found["cluster_centers"], rows)
        self.inertia_ = found["inertia"]
        self._n_features_out = len(self.cluster_centers_)
        # As fitted, whatever the parameter is set to later.
        self._sponge = parameters["sponge"]
        self._borders = found["borders"]
        self.candidates_ = None if found["candidates"] is None else table(found["candidates"])
        self.choice_ = found["reason"]
        self._take(found, rows)
        return self

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """The probability of each cluster for each row.

        A row far from every border has a probability near 1. A row between two groups that overlap has one near 0.5 for each. See :doc:`the explanation
        </concepts/probability>`: along the line between two neighbouring clusters, each group is taken as normal.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, Fingerprints} of shape (n_samples, n_features)
            Rows, in the units of the fitted data.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_clusters)
            float32 if ``X`` is float32. Each row adds up to 1; with an outlier radius, to 1 less the share of noise. The largest is not always that of the
            nearest centre: near a border, the wider of two groups is the more likely one.

        Examples
        --------
        >>> import lehr
        >>> model = lehr.DAClustering(n_clusters=2).fit([[0.0], [1.0], [10.0], [11.0]])
        >>> model.predict_proba([[5.5]]).round(3).tolist()
        [[0.5, 0.5]]
        """
        check_is_fitted(self)
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


class PairwiseClustering(ItemsMixin, _Annealed):
    """Clusters of items given by their dissimilarities.

    Hofmann and Buhmann's mean field, annealed: it needs no points and no metric, and pairs may be missing. On squared Euclidean distances it finds the clusters
    that :class:`DAClustering` finds. Dissimilarities are used as they are given; squaring them changes the clusters.

    Parameters
    ----------
    n_clusters : int, default=None
        The number of clusters, at least 1. ``None``: the number that lasts over the widest range of temperatures, or with ``stop_temperature`` the number at
        that temperature. With both, the one reached first ends the growth: there may be fewer.
    metric : str or callable, default='euclidean'
        Pass ``'precomputed'`` if your ``X`` is a matrix of dissimilarities: symmetric, 0 on the diagonal, not negative, NaN where one is missing. If it is so
        only up to rounding, Lehr corrects it and warns you. Otherwise ``X`` is rows of numbers, even if it is square, and Lehr computes their dissimilarities.
        Metrics are ``'euclidean'``, ``'sqeuclidean'``, ``'manhattan'``, ``'cosine'``, ``'correlation'``, and others that ``sklearn.metrics.pairwise_distances``
        takes; a function is called with two rows.
    metric_params : dict, default=None
        Further arguments of the metric, such as ``{'p': 3}`` for ``'minkowski'``.
    stop_temperature : float, default=None
        The final temperature, in the unit of the dissimilarities.
    max_clusters : int, default=None
        The largest number of clusters, if ``n_clusters`` is not given. ``None`` means 20, or with a final temperature as many as items.
    cooling : float, default=0.95
        The factor from one temperature to the next, 0.5 to 0.999.
    tol : float, default=1e-3
        A fixed point is reached when no field moves by more than this share of the temperature, 1e-12 to 0.1.
    overshoot : float, default=1.5
        The largest number of components over the number of clusters, 1 to 4; surplus components are merged again.
    random_state : int, RandomState instance or None, default=None
        The random seed for the start of the eigenvector search. ``None`` means 0.
    n_jobs : int, default=None
        The number of threads; -1: all processors. ``None``: ``OMP_NUM_THREADS`` if it is set, otherwise all processors, or one thread for each process of an MPI job.
        The result does not depend on it.
    verbose : int, default=0
        If above 0, show progress on standard error.
    callback : callable, default=None
        Called with a :class:`lehr.Progress` after each temperature; return ``False`` to stop the run.
    checkpoint : path-like, default=None
        The checkpoint file of an interrupted run. If it exists, ``fit`` resumes from it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,), int32
        The cluster of each item. Clusters are numbered by decreasing weight.
    n_clusters_ : int
        The number of clusters.
    probabilities_ : ndarray of shape (n_samples,)
        How surely each item belongs to its cluster, 0 to 1, compared with the neighbouring clusters.
    clusters_ : structured ndarray of shape (n_clusters,)
        ``n_samples``, ``weight``, ``medoid``, ``medoid_mean``, ``mean_within``, ``mean_nearest``.
    free_energy_, temperature_, critical_temperature_, history_, splits_, n_iter_
        The same as for :class:`DAClustering`; temperatures are in the unit of the dissimilarities.
    plateaus_ : structured ndarray or None
        If you gave no number, the range of temperatures of each number: ``n_clusters``, ``from_temperature``, ``to_temperature``.
    missing_pairs_ : int
        Pairs without a dissimilarity.
    is_damped_ : bool
        Whether iterations were damped, because non-metric dissimilarities made them oscillate.
    n_features_in_ : int
        Columns of ``X``.
    feature_names_in_ : ndarray of shape (``n_features_in_``,)
        Names of the columns, if ``X`` has any.

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
    _kept = ("_fit_X", "_weights")

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
            0 or more. A weight of 3 equals three items at distance 0. Only the number of clusters that is found without ``n_clusters`` depends on the number of
            items too: at least two for each cluster, however heavy.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For dissimilarities that are not symmetric, negative or not 0 on the diagonal (the message names the first ten), and for invalid parameters.
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

    def predict(self, X: ArrayLike) -> NDArray[np.int32]:
        """Predict the cluster of new items: the one with the least field.

        The field of an item in a cluster is its mean dissimilarity to the members less half the mean among them.

        Parameters
        ----------
        X : array-like of shape (n_items, n_samples) or (n_items, n_features)
            Dissimilarities to the fitted items (NaN where not known) for ``metric='precomputed'``, otherwise rows of numbers.

        Returns
        -------
        labels : ndarray of shape (n_items,), int32

        Raises
        ------
        ValueError
            If an item has no known dissimilarity.

        Examples
        --------
        >>> import lehr
        >>> model = lehr.PairwiseClustering(n_clusters=2).fit([[0.0], [1.0], [10.0], [11.0]])
        >>> bool(model.predict([[9.0]])[0] == model.labels_[2])
        True
        """
        return np.argmin(self._fields(X, "predict"), axis=1).astype(np.int32)

    def score(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """The negative weighted sum of the items' least fields: greater is better. For the fitted items it is ``-cost_``.

        Parameters
        ----------
        X : array-like of shape (n_items, n_samples) or (n_items, n_features)
            The same as for :meth:`predict`.
        y : ignored
            Ignored; present for scikit-learn's interface.
        sample_weight : array-like of shape (n_items,), default=None
            One for each item.

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

    def _fields(self, X: ArrayLike, asked: str) -> NDArray[np.float64]:
        """The field of each item in each cluster; infinite where no dissimilarity is known."""
        check_is_fitted(self)
        to_fitted = self._to_others(self._validated(X, reset=False), self._fit_X, asked)
        item_weights = np.ones(len(self.labels_)) if self._weights is None else self._weights
        members = np.zeros((len(self.labels_), len(self.clusters_)))
        members[np.arange(len(self.labels_)), self.labels_] = item_weights
        is_known = ~np.isnan(to_fitted)
        known = is_known.astype(np.float64) @ members
        refuse_unknown(known.any(axis=1))
        sums = np.where(is_known, to_fitted, 0.0) @ members
        # A cluster of which nothing is known is no candidate.
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(known > 0, sums / known - 0.5 * self.clusters_["mean_within"], np.inf)

    def plot(self, dissimilarities: ArrayLike | None = None, *, ax: Any = None) -> Any:
        """A heat map of the dissimilarities in the order of clusters. See :func:`lehr.plot.blocks`.

        Parameters
        ----------
        dissimilarities : array-like of shape (n_samples, n_samples), default=None
            Dissimilarities of the fitted items. ``None``: computed from the fitted rows; for ``metric='precomputed'`` you must pass them.
        ax : matplotlib.axes.Axes, default=None
            The matplotlib axes to draw on; ``None``: a new figure.

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
