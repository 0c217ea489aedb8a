"""Mini-batch k-means: clusters of streaming data in one pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClusterMixin
from sklearn.utils import gen_batches

from lehr import _checks, _native
from lehr._centers import FLOATS
from lehr._constraints import RANDOM_STATE, WATCHED, above, one_of, whole
from lehr._learnt import LearntMixin
from lehr._means import MeansMixin
from lehr._model import SavedMixin, table, tell, weights
from lehr._names import listed
from lehr._progress import Watch
from lehr._shown import ShownMixin

__all__ = ["MiniBatchKMeans"]
__dir__ = listed(__all__)

_PRECISIONS = {"double": "f64", "single": "f32"}
#: The maximum number of rows that the library takes at a time.
_MOST_ROWS = 2**32 - 1

_Weights = NDArray[np.float64] | None


class _Stream:
    """Joins or cuts checked batches of any size to the sizes that the Rust extension requests. Skips rows of weight 0, as the command does."""

    def __init__(self, batches: Iterator[tuple[NDArray[Any], _Weights]]) -> None:
        self.batches = batches
        self.held: list[tuple[NDArray[Any], _Weights]] = []
        self.is_single = True

    def __call__(self, rows: int) -> tuple[NDArray[Any], _Weights] | None:
        while sum(len(part) for part, _ in self.held) < rows:
            batch = next(self.batches, None)
            if batch is None:
                break
            part, weight = batch
            self.is_single = self.is_single and part.dtype == np.float32
            self.held.append(batch if weight is None else (part[weight > 0], weight[weight > 0]))
        if not any(len(part) for part, _ in self.held):
            return None
        x = np.concatenate([part for part, _ in self.held])
        w = None
        if any(weight is not None for _, weight in self.held):
            w = np.concatenate([np.ones(len(part)) if weight is None else weight for part, weight in self.held])
        self.held = [(x[rows:], None if w is None else w[rows:])] if len(x) > rows else []
        return x[:rows], None if w is None else w[:rows]


class MiniBatchKMeans(MeansMixin, LearntMixin, ClusterMixin, ShownMixin, SavedMixin):
    """Mini-batch k-means clustering of streaming data, or of a table larger than memory, in one pass.

    The result is an approximation. Annealing finds centres for the first rows. Then each row of a batch is assigned to the nearest centre, and each centre
    moves to the mean of its rows so far. Only one batch is in memory at a time. For rows that fit in memory, :class:`DAClustering` and :class:`KMeans` find
    better clusters. Results are bit-identical for any number of threads.

    Differences from scikit-learn: Lehr makes one pass over the data, finds the initial centres by annealing, and uses a fixed seed for ``random_state=None``.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters, at least 1.
    batch_size : int, default=10000
        The number of rows in a batch. Batches from an iterator may have any size: Lehr joins or cuts them.
    init_size : int, default=None
        The number of first rows that determine the initial centres. These rows should resemble the later rows. ``None`` means ``batch_size``.
    half_life : float, default=None
        The weight of a row halves after this many further rows, so that centres follow changes in a stream. With ``None``, rows keep their weights.
    precision : {'double', 'single'}, default='double'
        The precision of rows in a batch. Sums are always computed in double precision.
    random_state : int, RandomState instance or None, default=None
        The random seed, which only breaks ties among the first rows. ``None`` means 0, so that the same call gives the same result.
    n_jobs : int, default=None
        The number of threads; -1 uses all processors. ``None`` uses ``OMP_NUM_THREADS`` if it is set, otherwise all processors. The result is bit-identical for
        any number of threads.
    verbose : int, default=0
        If above 0, show progress on standard error.
    callback : callable, default=None
        A function that is called with a :class:`lehr.Progress` after each batch, in the thread that called ``fit``. Return ``False`` to stop the run.
    checkpoint : path-like, default=None
        A file in which ``fit`` saves the state of the run. If the file exists, ``fit`` resumes the run and gives a bit-identical result; pass the stream from
        its beginning. A completed run removes the file.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centres in the unit of ``X``; float32 if ``X`` is float32. A centre is the weighted mean of the rows that were assigned to it. Clusters are numbered
        by decreasing weight.
    n_clusters_ : int
        The number of clusters, which is smaller than ``n_clusters`` if there are fewer distinct rows of positive weight among the first rows.
    clusters_ : structured ndarray of shape (n_clusters,)
        One row for each cluster: ``n_samples``, ``weight``, ``remembered`` (the weight that still counts) and ``spread`` (root mean square distance, from the
        centre before each batch).
    objective_ : float
        The weighted mean squared distance of all rows, each from its nearest centre at the time of its batch.
    n_steps_ : int
        The number of batches, including the first rows.
    n_samples_seen_ : int
        The number of rows of positive weight so far.
    labels_ : ndarray of shape (n_samples,), int32
        The cluster of each row, if ``X`` is an array. Not available for a stream, which is read only once.
    inertia_ : float
        The weighted sum of squared distances to the nearest centres, if ``X`` is an array.
    n_features_in_ : int
        The number of columns of ``X``.
    feature_names_in_ : ndarray of shape (``n_features_in_``,)
        The names of the columns, if ``X`` has any.

    See Also
    --------
    KMeans : K-means for rows in memory, with several initialisations.
    DAClustering : Annealing for rows in memory, in one run.

    References
    ----------
    Sculley, "Web-scale k-means clustering", WWW 2010.

    Examples
    --------
    >>> import lehr
    >>> batches = ([[float(row)], [row + 10.0]] for row in range(3))
    >>> model = lehr.MiniBatchKMeans(2, batch_size=2).fit(batches)
    >>> sorted(model.cluster_centers_.ravel().tolist()), model.n_steps_
    ([1.0, 11.0], 3)
    """

    _method = "minibatch"
    _kept = ("_n_features_out",)

    #: For tools that read the type of an estimator as scikit-learn did before 1.6.
    _estimator_type = "clusterer"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [whole(1)],
        "batch_size": [whole(1, _MOST_ROWS)],
        "init_size": [whole(1, _MOST_ROWS), None],
        "half_life": [above(0), None],
        "precision": [one_of(*_PRECISIONS)],
        "random_state": RANDOM_STATE,
        **WATCHED,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        batch_size: int = 10_000,
        init_size: int | None = None,
        half_life: float | None = None,
        precision: Literal["double", "single"] = "double",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Any = None,
        checkpoint: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.batch_size = batch_size
        self.init_size = init_size
        self.half_life = half_life
        self.precision = precision
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.checkpoint = checkpoint

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags

    def _remembers(self, rows: int) -> float:
        return 1.0 if self.half_life is None else float(0.5 ** (rows / self.half_life))

    @property
    def objective_(self) -> float:
        """The weighted mean squared distance of the rows from their nearest centres at the time of their batches."""
        clusters = self.clusters_
        return float(np.dot(clusters["weight"], np.square(clusters["spread"])) / clusters["weight"].sum())

    @property
    def n_samples_seen_(self) -> int:
        """The number of rows of positive weight so far."""
        return int(self.clusters_["n_samples"].sum())

    def _checked(self, batches: Iterator[Any]) -> Iterator[tuple[NDArray[Any], _Weights]]:
        """Checks the batches of a stream; the first batch determines the number of columns."""
        is_first = True
        for batch in batches:
            rows, row_weights = batch if isinstance(batch, tuple) else (batch, None)
            rows = _checks.validate_data(self, rows, dtype=FLOATS, reset=is_first)
            is_first = False
            yield rows, weights(row_weights, rows, may_be_zero=True)

    def _check_sample(self) -> None:
        """Raises an error if there are fewer first rows than clusters."""
        name = "batch_size" if self.init_size is None else "init_size"
        rows = getattr(self, name)
        if rows < self.n_clusters:
            raise ValueError(f"{name}={rows} should be >= n_clusters={self.n_clusters}: clusters are found in so many first rows.")

    def fit(self, X: ArrayLike | Iterable[Any], y: object = None, sample_weight: ArrayLike | None = None) -> MiniBatchKMeans:
        """Find the clusters of an array or a stream in one pass.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or iterator
            The rows, or an iterator or generator of batches. A batch is an array of shape (any, n_features), or a pair of such an array and the weights of its
            rows.
        y : ignored
            Ignored; present for scikit-learn's interface.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights of the rows of an array, 0 or more.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the data or a parameter is invalid, or there are fewer first rows than ``n_clusters``.
        RuntimeError
            If the program is an MPI job of several processes.
        Stopped
            If the callback returned ``False``.
        KeyboardInterrupt
            If you press Ctrl-C; the run ends within a second.

        Examples
        --------
        >>> import lehr
        >>> lehr.MiniBatchKMeans(2).fit([[0.0], [1.0], [10.0]]).labels_.tolist()
        [0, 0, 1]
        """
        parameters = self._told(clusters="n_clusters", batch_rows="batch_size", sample_rows="init_size", half_life="half_life")
        parameters |= {"seed": _checks.seed(self.random_state), "precision": _PRECISIONS[self.precision]}
        self._check_sample()
        if _native.process()[1] > 1:
            raise RuntimeError("MiniBatchKMeans.fit reads a stream in one process: call it in a program that mpiexec has not started.")
        rows = row_weights = None
        if isinstance(X, Iterator):
            if sample_weight is not None:
                raise ValueError("sample_weight is for an array: give the weights of a stream with its batches, as pairs (rows, weights).")
            stream = _Stream(self._checked(X))
        else:
            rows = _checks.validate_data(self, X, dtype=FLOATS, reset=True)
            row_weights = weights(sample_weight, rows)
            parts = gen_batches(len(rows), int(self.batch_size))
            stream = _Stream((rows[part], None if row_weights is None else row_weights[part]) for part in parts)
        with Watch("MiniBatchKMeans", self.verbose, self.callback, self.checkpoint) as watch:
            found = _native.fit_minibatch(stream, watch.run(parameters, self.n_jobs))
        kind = np.float32 if stream.is_single else np.float64
        self.cluster_centers_ = found["cluster_centers"].astype(kind, copy=False)
        self._n_features_out = len(self.cluster_centers_)
        self.clusters_ = table(found["clusters"])
        self.n_steps_ = found["n_batches"]
        for name in ("labels_", "inertia_"):
            self.__dict__.pop(name, None)
        if rows is not None:
            self._label(rows, row_weights)
        tell(found)
        return self
