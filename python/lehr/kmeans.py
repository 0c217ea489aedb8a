"""K-means, as a baseline that uses the same kernels, threads and processes as annealing."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClusterMixin
from sklearn.exceptions import ConvergenceWarning

from lehr import _checks, _native, _partitioned
from lehr._centers import as_given
from lehr._constraints import RANDOM_STATE, WATCHED, number, one_of, whole
from lehr._learnt import LearntMixin
from lehr._means import MeansMixin
from lehr._model import SavedMixin, table, tell, weights
from lehr._names import listed
from lehr._partitions import partitions_of
from lehr._progress import Watch
from lehr._shown import ShownMixin
from lehr._starts import as_matrix, drawn, rows_of

__all__ = ["KMeans"]
__dir__ = listed(__all__)

_PRECISIONS = {"double": "f64", "single": "f32"}
#: The names of algorithms in the Rust extension; the last two are scikit-learn's names.
_ALGORITHMS = {"bounded": "bounded", "plain": "plain", "elkan": "bounded", "lloyd": "plain"}
#: The default number of random initialisations.
_STARTS = 10
#: Warnings of the Rust extension that are replaced here: initialisations that ``max_iter`` ended, and lost centres.
_UNFINISHED = re.compile(r"^(\d+) of \d+ initialisations had not converged")
_LOST = re.compile(r"^you requested \d+ clusters, but only")


@dataclass
class _Fit:
    """The result of one run of the Rust extension."""

    centers: NDArray[np.float64]
    inertia: float
    inertias: NDArray[np.float64]
    n_iter: int
    unfinished: int
    told: dict[str, Any]
    labels: NDArray[np.int32]
    clusters: NDArray[Any]
    borders: str

    @classmethod
    def of(cls, found: Any) -> _Fit:
        """Converts the result of the Rust extension."""
        unfinished = 0
        told: list[str] = []
        for text in found["warnings"]:
            ended = _UNFINISHED.match(text)
            if ended:
                unfinished = int(ended[1])
            elif not _LOST.match(text):
                told.append(text)
        return cls(
            found["cluster_centers"],
            found["inertia"],
            found["inertias"],
            found["n_iter"],
            unfinished,
            {**{name: found[name] for name in ("checkpoint_failure", "is_lead")}, "warnings": told},
            found["labels"],
            table(found["clusters"]),
            found["borders"],
        )


class KMeans(MeansMixin, LearntMixin, ClusterMixin, ShownMixin, SavedMixin):
    """K-means clustering with k-means++ initialisation; keeps the best of several initialisations.

    Use this estimator for comparison, or if you prefer k-means. :class:`DAClustering` often finds in one run a result for which k-means needs many
    initialisations. Rows are grouped into boxes. An iteration skips centres that cannot be nearest to any row of a box, and boxes around which no centre has
    moved. Skipping does not change the result. Results are bit-identical for any number of threads and processes.

    Differences from scikit-learn: ``n_init=None`` means 10 random initialisations, ``random_state=None`` is a fixed seed, and with ``init='k-means++'``
    clusters are numbered by decreasing weight.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters, at least 1.
    init : {'k-means++', 'random'}, callable or array-like of shape (n_clusters, n_features), default='k-means++'
        The initial centres. ``'k-means++'``: rows far from each other are preferred. ``'random'``: rows drawn in proportion to their weights. A function
        ``init(X, n_clusters, random_state)`` returns the centres. You can also pass the centres as an array, in the unit of ``X``.
    n_init : int, 'auto' or None, default=None
        The number of initialisations; the best result is kept. ``None`` means 10, as in the command, or 1 with given centres. ``'auto'``: 1 with
        ``'k-means++'`` or given centres, 10 with ``'random'`` or a function, as in scikit-learn.
    max_iter : int, default=300
        The maximum number of iterations for each initialisation. An iteration assigns each row to its nearest centre, and moves each centre to the mean of its
        rows.
    tol : float, default=1e-4
        Iterations end when an iteration lowers the sum of squares by at most the share ``tol / (n_clusters * n_features)``. With 0, they continue until no
        label changes. Scikit-learn instead compares the squared moves of the centres with the mean variance of the columns. Lehr's criterion is usually
        stricter, so with the same ``tol`` Lehr usually makes more iterations.
    algorithm : {'bounded', 'plain', 'elkan', 'lloyd'}, default='bounded'
        ``'bounded'`` skips distances that cannot change the result; ``'plain'`` computes all distances. The results are bit-identical. Scikit-learn's names are
        aliases: ``'elkan'`` for ``'bounded'``, ``'lloyd'`` for ``'plain'``.
    precision : {'double', 'single'}, default='double'
        The precision of rows during iterations. Single precision takes half the memory and is faster. Labels and centres are always computed in double
        precision.
    random_state : int, RandomState instance or None, default=None
        The random seed for initialisations. ``None`` means 0, so that the same call gives the same result.
    n_jobs : int, default=None
        The number of threads; -1 uses all processors. ``None`` uses ``OMP_NUM_THREADS`` if it is set, otherwise all processors, or one thread for each process
        of an MPI job. The result is bit-identical for any number of threads.
    verbose : int, default=0
        If above 0, show progress on standard error.
    callback : callable, default=None
        A function that is called with a :class:`lehr.Progress` after every few iterations, in the thread that called ``fit``. Return ``False`` to stop the run.
    checkpoint : path-like, default=None
        A file in which ``fit`` saves the state of the run. If the file exists, ``fit`` resumes the run and gives a bit-identical result. A completed run
        removes the file. With ``tol=0``, ``fit`` can also resume a run of the command.
    copy_x : bool, default=True
        Has no effect; present for scikit-learn's interface. Lehr never changes ``X``.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centres in the unit of ``X``; float32 if ``X`` is float32. A centre is the weighted mean of its rows, or slightly off if ``tol`` or ``max_iter``
        ended the run. With ``init='k-means++'``, clusters are numbered by decreasing weight, otherwise in the order of the initial centres.
    n_clusters_ : int
        The number of clusters, which is smaller than ``n_clusters`` only if ``X`` has fewer distinct rows of positive weight.
    labels_ : ndarray of shape (n_samples,), int32
        The cluster of each row: the cluster with the nearest centre, as ``predict(X)`` returns it.
    clusters_ : structured ndarray of shape (n_clusters,)
        One row for each cluster: ``n_samples``, ``weight`` and ``spread`` (root mean square distance from the centre). Unless ``X`` has single precision, also
        ``probability``, the mean probability of the cluster's rows.
    inertia_ : float
        The weighted sum of squared distances from rows to the centres of their clusters, in the squared unit of ``X``.
    inertias_ : ndarray of shape (n_starts,)
        The sum of squares at the end of each initialisation; a single number if you gave the centres.
    n_steps_ : int
        After :meth:`partial_fit`, the number of batches so far. After several batches, ``labels_`` and ``inertia_`` describe the last batch, and ``clusters_``
        describes all batches.
    n_iter_ : int
        The number of iterations of the best initialisation, at most ``max_iter``.
    n_features_in_ : int
        The number of columns of ``X``.
    feature_names_in_ : ndarray of shape (``n_features_in_``,)
        The names of the columns, if ``X`` has any.

    See Also
    --------
    DAClustering : Annealing, in one run without initial centres to choose.

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
    _kept = ("_n_features_out", "_borders")

    #: For tools that read the type of an estimator as scikit-learn did before 1.6.
    _estimator_type = "clusterer"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [whole(1)],
        "init": [one_of("k-means++", "random"), callable, "array-like"],
        "n_init": [one_of("auto"), whole(1, 1_000_000), None],
        "max_iter": [whole(1)],
        "tol": [number(0, np.inf)],
        "algorithm": [one_of(*_ALGORITHMS)],
        "precision": [one_of(*_PRECISIONS)],
        "random_state": RANDOM_STATE,
        "copy_x": ["boolean"],
        **WATCHED,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Literal["k-means++", "random"] | Callable[..., ArrayLike] | ArrayLike = "k-means++",
        n_init: int | Literal["auto"] | None = None,
        max_iter: int = 300,
        tol: float = 1e-4,
        algorithm: Literal["bounded", "plain", "elkan", "lloyd"] = "bounded",
        precision: Literal["double", "single"] = "double",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Any = None,
        checkpoint: Any = None,
        copy_x: bool = True,
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
        self.copy_x = copy_x

    def _checked(self, centers: Any, clusters: int, columns: int) -> NDArray[np.float64]:
        """Checks the centres that the user gave or that a function returned."""
        checked: NDArray[np.float64] = _checks.check_array(centers, dtype=np.float64, input_name="init")
        if len(checked) != clusters:
            raise ValueError(
                f"The shape of the initial centers {checked.shape} does not match the number of clusters {clusters}."
            )
        if checked.shape[1] != columns:
            raise ValueError(
                f"The shape of the initial centers {checked.shape} does not match the number of features of the data {columns}."
            )
        return checked

    def _initialisations(self) -> int:
        """Returns the number of initialisations. With given centres, the number is 1, whatever the user requested."""
        is_given = not isinstance(self.init, str) and not callable(self.init)
        if self.n_init is None:
            return 1 if is_given else _STARTS
        if isinstance(self.n_init, str):
            return 1 if is_given or self.init == "k-means++" else _STARTS
        starts = int(self.n_init)
        if is_given and starts > 1:
            _checks.warn(
                f"Explicit initial center position passed: performing only one init in KMeans instead of n_init={starts}.",
                RuntimeWarning,
            )
            return 1
        return starts

    def _starts(self, rows: Any, row_weights: NDArray[np.float64] | None, seed: int, starts: int) -> list[NDArray[np.float64]] | None:
        """Returns the initial centres of each initialisation; ``None`` if the Rust extension draws them."""
        clusters, columns = int(self.n_clusters), self.n_features_in_
        init: Any = self.init
        if isinstance(init, str):
            if init == "k-means++":
                return None
            if rows_of(rows) < clusters or starts < 1:
                # The Rust extension raises the error.
                return None
            random = np.random.RandomState(seed % 2**32)
            return [drawn(rows, row_weights, clusters, init, random) for _ in range(starts)]
        if callable(init):
            random, matrix = np.random.RandomState(seed % 2**32), as_matrix(rows)
            return [self._checked(init(matrix, clusters, random_state=random), clusters, columns) for _ in range(starts)]
        return [self._checked(init, clusters, columns)]

    def fit(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> KMeans:
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
            Three equal rows lead to other random initialisations than one row of weight 3.

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
        >>> lehr.KMeans(1).fit([[0.0], [3.0]], sample_weight=[2.0, 1.0]).cluster_centers_
        array([[1.]])
        """
        parameters = self._told(clusters="n_clusters", max_sweeps="max_iter")
        clusters = parameters["clusters"]
        starts, seed = self._initialisations(), _checks.seed(self.random_state)
        if self.algorithm == "elkan" and clusters == 1:
            _checks.warn("algorithm='elkan' doesn't make sense for a single cluster. Using 'lloyd' instead.", RuntimeWarning)
        parameters |= {
            "starts": starts,
            "sweeps": _ALGORITHMS[self.algorithm],
            "seed": seed,
            "precision": _PRECISIONS[self.precision],
        }
        partitions = partitions_of(X, sample_weight)
        if partitions is not None:
            unfinished = _partitioned.fit_means(self, partitions, self._starts, starts, self._tolerance)
            self._warn(self.clusters_["weight"], 1, unfinished)
            return self
        rows = self._rows(X, reset=True)
        _checks.warn_of_scales(getattr(self, "feature_names_in_", None), rows)
        parameters["tolerance"] = self._tolerance(self.n_features_in_)
        row_weights = weights(sample_weight, rows)
        begins = self._starts(rows, row_weights, seed, starts)
        self._n_init = starts
        if self.checkpoint is not None and begins is not None and len(begins) > 1:
            raise ValueError(
                f"checkpoint keeps starts by init='k-means++', or one other start; here are {len(begins)}: say n_init=1, or leave checkpoint out."
            )
        with Watch("KMeans", self.verbose, self.callback, self.checkpoint) as watch:

            def run(centers: NDArray[np.float64] | None) -> _Fit:
                given: dict[str, Any] = {} if centers is None else {"centers": centers.ravel().tolist()}
                found: Any = _native.fit_kmeans(rows, row_weights, watch.run({**parameters, **given}, self.n_jobs))
                return _Fit.of(found)

            fits = [run(centers) for centers in ([None] if begins is None else begins)]
            best = min(fits, key=lambda fit: fit.inertia)
            unfinished, begun = sum(fit.unfinished for fit in fits), sum(len(fit.inertias) for fit in fits)
            inertias = np.concatenate([fit.inertias for fit in fits])
        self._take(best, rows, row_weights)
        self.__dict__.pop("n_steps_", None)
        self.inertias_ = inertias
        self.n_iter_ = best.n_iter
        tell(best.told)
        if not best.told["is_lead"]:
            return self
        self._warn(np.bincount(self.labels_ if row_weights is None else self.labels_[row_weights > 0]), begun, unfinished)
        return self

    def _tolerance(self, columns: int) -> float:
        """Returns the share of the sum of squares at which iterations end."""
        return min(1.0, float(self.tol) / (int(self.n_clusters) * columns))

    def _warn(self, sizes: NDArray[Any], begun: int, unfinished: int) -> None:
        """Warns about clusters without rows, and about initialisations that had not converged."""
        found, clusters = np.count_nonzero(sizes), int(self.n_clusters)
        if found < clusters:
            _checks.warn(
                f"Number of distinct clusters ({found}) found smaller than n_clusters ({clusters}). Possibly due to duplicate points in X.",
                ConvergenceWarning,
            )
        if unfinished:
            _checks.warn(
                f"{unfinished} of {begun} initialisations had not converged after {self.max_iter} iterations: raise max_iter or tol.",
                ConvergenceWarning,
            )

    def _take(self, fit: _Fit, rows: Any, row_weights: NDArray[np.float64] | None) -> None:
        """Sets the centres, and the labels, sum of squares and clusters that belong to them."""
        centers = as_given(fit.centers, rows)
        labels = fit.labels
        self.clusters_, self.inertia_ = fit.clusters, fit.inertia
        if centers.dtype == np.float32:
            # Rounding the centres to single precision may change which centre is nearest to a row.
            near = _native.nearest(rows, centers.astype(np.float64), threads=self._threads())
            labels, squares = near["labels"], np.square(near["distances"])
            shares = np.ones(len(labels)) if row_weights is None else row_weights
            within = np.bincount(labels, weights=shares, minlength=len(centers))
            sums = np.bincount(labels, weights=shares * squares, minlength=len(centers))
            self.clusters_ = table(
                {
                    "n_samples": np.bincount(labels, minlength=len(centers)).astype(np.int64),
                    "weight": within,
                    "spread": np.sqrt(np.divide(sums, within, out=np.zeros_like(sums), where=within > 0)),
                }
            )
            self.inertia_ = float(np.dot(shares, squares))
        self.cluster_centers_ = centers
        self._n_features_out = len(centers)
        self._borders = fit.borders
        self.labels_ = labels
