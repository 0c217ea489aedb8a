"""K-means: the baseline in the house, on the kernels, threads and processes that annealing has."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClusterMixin

from lehr import _checks, _native
from lehr._centers import CentersMixin
from lehr._learnt import LearntMixin
from lehr._model import SavedMixin, table, tell, weights
from lehr._progress import Watch

__all__ = ["KMeans"]

_PRECISIONS = {"double": "f64", "single": "f32"}


class KMeans(CentersMixin, LearntMixin, ClusterMixin, SavedMixin):
    """K-means: centres drawn by k-means++, moved to the means of their rows until they stand still, the best of several starts.

    To be compared with, and for whoever knows what it does: :class:`DAClustering` finds what takes this many starts, in one run. A sweep leaves out centres
    that cannot be nearest to the rows of a box, and boxes around which no centre has moved; with the same result as a plain one. The same bits on
    any number of threads and processes.

    Other than scikit-learn's: ``n_init`` is 10, ``tol`` is 0 (to the fixed point) and a share of the sum of squares, ``n_iter_`` is of all starts,
    ``random_state=None`` is a fixed seed, and there is no ``init='random'``, no function as ``init`` and no ``n_init='auto'``.

    Parameters
    ----------
    n_clusters : int, default=8
        How many clusters, at least 1.
    init : {'k-means++'} or array-like of shape (n_clusters, n_features), default='k-means++'
        How the centres of a start are drawn, or the centres that the one start begins with, in the unit of ``X``.
    n_init : int, default=10
        Starts, of which the best is kept. With centres that are given there is one, whatever is said here.
    max_iter : int, default=300
        The most sweeps of a start.
    tol : float, default=0.0
        A sweep that lowers the sum of squares by no more than this share is the last of its start, 0 to 1; 0 goes on to the fixed point.
    algorithm : {'bounded', 'plain'}, default='bounded'
        Whether a sweep leaves out what cannot change. The result is the same, to the last bit.
    precision : {'double', 'single'}, default='double'
        In which rows are kept while sweeping. Single takes half the memory and is faster; labels and centres are made in double precision either way.
    random_state : int, RandomState instance or None, default=None
        Draws the starts, if they are drawn. ``None`` is 0: the same call gives the same result.
    n_jobs : int, default=None
        Threads; -1: all processors. ``None``: ``OMP_NUM_THREADS`` if that is set, else all processors (not 1), or one a process in an MPI job. The result does not depend on it, to the last bit.
    verbose : int, default=0
        Above 0: a line of progress on standard error.
    callback : callable, default=None
        Called with a :class:`lehr.Progress` after every few sweeps, in the thread that called ``fit``; returns ``False`` to stop.
    checkpoint : path-like, default=None
        A file that an interrupted run is kept in. If it is there, ``fit`` goes on from it, to the same bits; a run that ends removes it.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Weighted means, in the unit of ``X``. Clusters are numbered by falling weight.
    labels_ : ndarray of shape (n_samples,), int32
        The cluster of each row.
    clusters_ : structured ndarray of shape (n_clusters,)
        ``n_samples``, ``weight`` and ``spread`` (root mean square distance from the centre).
    inertia_ : float
        Weighted sum of squared distances, in the squared unit of ``X``.
    inertias_ : ndarray of shape (n_starts,)
        What each start came to; one number if centres were given.
    n_iter_ : int
        Sweeps of all starts.
    n_features_in_ : int
        Columns of ``X``.
    feature_names_in_ : ndarray of shape (``n_features_in_``,)
        Names of the columns, if ``X`` has any.

    See Also
    --------
    DAClustering : One run, no starts.

    References
    ----------
    Arthur and Vassilvitskii, "k-means++: the advantages of careful seeding", SODA 2007. Lloyd, "Least squares quantization in PCM", IEEE Transactions on
    Information Theory 28 (1982).

    Examples
    --------
    >>> import lehr
    >>> model = lehr.KMeans(2).fit([[0.0], [1.0], [10.0], [11.0]])
    >>> model.inertia_, model.cluster_centers_.ravel().tolist() in ([0.5, 10.5], [10.5, 0.5])
    (1.0, True)
    """

    _method = "kmeans"
    _kept = ("_n_features_out",)

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        n_init: int = 10,
        max_iter: int = 300,
        tol: float = 0.0,
        algorithm: str = "bounded",
        precision: str = "double",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Any = None,
        checkpoint: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.algorithm = algorithm
        self.precision = precision
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.checkpoint = checkpoint

    def _starts(self, columns: int) -> NDArray[np.float64] | None:
        """The centres that were given, checked; nothing if they are to be drawn."""
        if isinstance(self.init, str) or self.init is None or callable(self.init):
            if not isinstance(self.init, str) or self.init != "k-means++":
                raise _checks.wrong("init", "'k-means++' or an array-like of shape (n_clusters, n_features)", self.init)
            return None
        centers: NDArray[np.float64] = _checks.check_array(self.init, dtype=np.float64, input_name="init")
        if len(centers) != self.n_clusters:
            raise ValueError(
                f"The shape of the initial centers {centers.shape} does not match the number of clusters {self.n_clusters}."
            )
        if centers.shape[1] != columns:
            raise ValueError(
                f"The shape of the initial centers {centers.shape} does not match the number of features of the data {columns}."
            )
        return centers

    def fit(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> KMeans:
        """Find the clusters of the rows of ``X``.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, Fingerprints} of shape (n_samples, n_features)
            float64 or float32, in C or Fortran order: read where it lies. SciPy's sparse rows are kept without their zeros; in another format than CSR, or
            with a column twice in a row, a copy is made that is in it and has their sum. They have the clusters of the same rows with their zeros.
            :class:`~lehr.Fingerprints` are rows of columns of 0 and 1, kept and computed as bits.
        y : ignored
            For scikit-learn's interface.
        sample_weight : array-like of shape (n_samples,), default=None
            0 or more. A weight of 3 is the row three times; a row of weight 0 influences nothing and is labelled. Of repeated rows other starts are drawn
            than of one with their weight.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For data or parameters that cannot be.
        Stopped
            If the callback said stop.
        KeyboardInterrupt
            After Ctrl-C, within a second.

        Examples
        --------
        >>> import lehr
        >>> lehr.KMeans(1).fit([[0.0], [3.0]], sample_weight=[2.0, 1.0]).cluster_centers_
        array([[1.]])
        """
        parameters: dict[str, Any] = {
            "clusters": _checks.integer("n_clusters", self.n_clusters, least=1),
            "starts": _checks.integer("n_init", self.n_init, least=1),
            "max_sweeps": _checks.integer("max_iter", self.max_iter, least=1),
            "tolerance": _checks.real("tol", self.tol),
            "sweeps": _checks.choice("algorithm", self.algorithm, ("bounded", "plain")),
            "seed": _checks.seed(self.random_state),
            "precision": _PRECISIONS[_checks.choice("precision", self.precision, tuple(_PRECISIONS))],
        }
        rows = self._rows(X, reset=True)
        starts = self._starts(self.n_features_in_)
        if starts is not None:
            parameters["centers"] = starts.ravel().tolist()
        row_weights = weights(sample_weight, rows)
        with Watch("KMeans", self.verbose, self.callback) as callback:
            found = _native.fit_kmeans(
                rows,
                row_weights,
                json.dumps(parameters),
                threads=_checks.threads(self.n_jobs),
                callback=callback,
                checkpoint=self.checkpoint,
            )
        self.cluster_centers_ = found["cluster_centers"]
        self._n_features_out = len(self.cluster_centers_)
        self.labels_ = found["labels"]
        self.clusters_ = table(found["clusters"])
        self.inertia_ = found["inertia"]
        self.inertias_ = found["inertias"]
        self.n_iter_ = found["n_iter"]
        tell(found)
        return self

    def _learnt(self) -> tuple[str, dict[str, Any]]:
        centers = self.cluster_centers_
        # At no temperature, where a row is surely of the nearest.
        return "clusters", {"dimension": centers.shape[1], "centers": centers.ravel().tolist(), "temperature": 0.0}

    def _take_learnt(self, parts: Any) -> None:
        self.cluster_centers_ = parts["cluster_centers"]
        self._n_features_out = len(self.cluster_centers_)
        self.set_params(n_clusters=self._n_features_out)
