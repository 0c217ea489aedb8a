"""Low-dimensional maps: multidimensional scaling of items, and generative topographic mapping of rows."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from lehr import _checks, _native, _nonmetric
from lehr._centers import as_given
from lehr._constraints import COOLING, RANDOM_STATE, WATCHED, number, one_of, whole
from lehr._items import not_negative, refuse_negative
from lehr._learnt import LearntMixin
from lehr._model import SavedMixin, symmetric, table, tell, weights
from lehr._names import listed
from lehr._progress import Watch
from lehr._shown import ShownMixin
from lehr.distances import METRIC, Metric, of_rows, takes_gaps, takes_sparse, warn_of_scales
from lehr.topographic import GTM

__all__ = ["GTM", "SMACOF", "align"]
__dir__ = listed(__all__)

_FLOATS = (np.float64, np.float32)
_WEIGHTINGS = {"equal": "Equal", "sammon": "Sammon", "inverse_square": "InverseSquare"}
#: The weight of a pair is this power of its dissimilarity.
_POWERS = {"equal": 0.0, "sammon": -1.0, "inverse_square": -2.0}
#: The initial positions, by their names in the Rust extension. ``'classical_mds'`` is scikit-learn's name for ``'classical'``.
_STARTS = {"classical": "Classical", "random": "Random", "classical_mds": "Classical"}
#: The Rust extension's warning for a fit that ``max_iter`` ended. The extension also counts the evaluation of the initial map as an iteration.
_STILL_FELL = re.compile(r"^(the stress still fell after )\d+ iteration")


class SMACOF(LearntMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ShownMixin, SavedMixin):
    """Multidimensional scaling by majorisation (SMACOF).

    Places items in few dimensions so that their distances match their dissimilarities. Every iteration lowers the weighted sum of ``(d - delta)**2`` over
    pairs. By default, the initial map comes from classical scaling, so one initialisation is enough. Weights, missing pairs and fixed items are supported. If
    there are many local minima, ``annealed=True`` finds better maps.

    Parameters
    ----------
    n_components : int, default=2
        The number of dimensions of the map, 1 to 64.
    metric : str or callable, default='euclidean'
        ``'precomputed'``: ``X`` is a matrix of dissimilarities, which is symmetric and not negative, with 0 on the diagonal, and NaN for missing pairs. Lehr
        corrects deviations by rounding, and warns you. With any other metric, ``X`` is rows of numbers, even if it is square, and Lehr computes their
        dissimilarities. Metrics are ``'euclidean'``, ``'sqeuclidean'``, ``'manhattan'``, ``'cosine'``, ``'correlation'``, and others that
        ``sklearn.metrics.pairwise_distances`` takes. A function is called with two rows.
    metric_params : dict, default=None
        Further arguments of the metric, such as ``{'p': 3}`` for ``'minkowski'``.
    weighting : {'equal', 'sammon', 'inverse_square'}, default='equal'
        The weights of pairs: all equal, the inverse of the dissimilarity (``'sammon'``), or the inverse of its square. To limit the influence of near pairs,
        weights are computed from at least 0.1 % (``'sammon'``) or 3 % (``'inverse_square'``) of the mean dissimilarity.
    annealed : bool, default=False
        Whether to use deterministic annealing (DA-SMACOF).
    init : {'classical', 'random', 'classical_mds'}, default='classical'
        The initial positions; ``'classical_mds'`` is scikit-learn's name for ``'classical'``. To pass your own positions, use ``fit(X, init=...)``.
    n_init : int, default=4
        The number of random initialisations; the best result is kept. Lehr uses any other initialisation only once.
    max_iter : int, default=1000
        The maximum number of iterations for each initialisation, or at each temperature.
    tol : float, default=1e-6
        Iterations end when an iteration lowers the stress by less than this share, 1e-15 to 0.1.
    relaxed : bool, default=True
        Whether to take longer steps if they lower the stress, which about halves the number of iterations.
    cooling : float, default=0.95
        The factor from one temperature to the next while annealing, 0.5 to 0.999.
    warm_start : bool, default=False
        Whether ``fit`` starts from the previous ``embedding_``, if this has the required shape and you pass no positions.
    normalized_stress : bool, 'auto' or None, default=None
        The kind of stress in ``stress_``. ``None`` means ``raw_stress_`` divided by the weighted sum of the squared dissimilarities. As in scikit-learn,
        ``False`` and ``'auto'`` give the raw stress, and ``True`` gives Kruskal's stress-1.
    eps : float, default=None
        Scikit-learn's name for ``tol``; if you give it, it replaces ``tol``. Scikit-learn measures the decrease as a share of the squared dissimilarities, Lehr
        as a share of the stress. Therefore Lehr never stops earlier than scikit-learn with the same ``eps``.
    metric_mds : bool, default=True
        ``False``: non-metric scaling, which uses only the order of the dissimilarities. Non-metric scaling does not support ``pair_weight``, missing pairs,
        fixed items, ``annealed`` or ``weighting``. ``stress_`` is then stress-1, unless ``normalized_stress=False``, and ``raw_stress_`` compares distances
        with disparities. Non-metric scaling starts from the metric map, or from random positions.
    n_neighbors : int, default=10
        The number of nearest items that determine the position of a new item; more than ``n_components``.
    random_state : int, RandomState instance or None, default=None
        The random seed for random initialisations. ``None`` means 0, so that the same call gives the same result.
    n_jobs : int, default=None
        The number of threads; -1 uses all processors. ``None`` uses ``OMP_NUM_THREADS`` if it is set, otherwise all processors, or one thread for each process
        of an MPI job. The result does not depend on the number of threads.
    verbose : int, default=0
        If above 0, show progress on standard error.
    callback : callable, default=None
        A function that is called with a :class:`lehr.Progress` after each iteration. Return ``False`` to stop the run.
    checkpoint : path-like, default=None
        A file in which ``fit`` saves the state of the run. If the file exists, ``fit`` resumes the run.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The positions in the unit of the dissimilarities; float32 if ``X`` is float32. Unless you gave positions, they are centred and rotated to their
        principal axes.
    stress_ : float
        The stress of the kind that ``normalized_stress`` selects. By default, the weighted sum of squared errors, divided by the weighted sum of squared
        dissimilarities; 0 is an exact map. Without weights, this stress multiplied by the sum of ``D[i, j] ** 2`` over pairs i < j is the raw stress, which
        scikit-learn calls ``stress_``.
    stress_1_ : float
        Kruskal's stress-1: the square root of the ratio of the raw stress to the sum of squared distances in the map. Scikit-learn's ``stress_`` with
        ``normalized_stress=True`` is this number.
    raw_stress_ : float
        The weighted sum of squared errors, with each pair once. For metric scaling, scikit-learn's ``stress_`` is this number.
    item_stress_ : ndarray of shape (n_samples,)
        The error of each item: its mean squared error, divided by the mean squared dissimilarity.
    is_converged_ : bool
        Whether ``tol`` was reached before ``max_iter``.
    stresses_ : ndarray of shape (n_starts,)
        The stress at the end of each initialisation.
    history_ : structured ndarray
        One row for each iteration of the best initialisation: ``temperature``, ``stress``.
    shepard_ : dict
        The Shepard diagram: ``counts`` (a row for each bin of dissimilarities, a column for each bin of distances), ``largest_dissimilarity``,
        ``largest_distance``, ``correlation``.
    disparities_ : ndarray of shape (n_samples, n_samples)
        With ``metric_mds=False``: the disparities, which are the closest numbers to the distances in the map that have the order of the dissimilarities.
    missing_pairs_ : int
        The number of pairs without a dissimilarity.
    n_iter_ : int
        The number of iterations of the best initialisation that moved positions; at least 1.
    n_features_in_ : int
        The number of columns of ``X``.
    feature_names_in_ : ndarray of shape (``n_features_in_``,)
        The names of the columns, if ``X`` has any.

    References
    ----------
    de Leeuw, "Applications of convex analysis to multidimensional scaling", 1977. Bae, Choi, Qiu and Fox, "Dimension reduction and visualization of
    large high-dimensional data via interpolation", HPDC 2010.

    Examples
    --------
    >>> import numpy as np, lehr
    >>> corners = [[0.0, 0.0], [3.0, 0.0], [3.0, 3.0], [0.0, 3.0]]
    >>> model = lehr.SMACOF().fit(corners)
    >>> model.stress_ < 1e-12
    True
    >>> round(float(np.linalg.norm(model.embedding_[0] - model.embedding_[1])), 6)
    3.0
    """

    _method = "smacof"
    _kept = ("_fit_X", "_n_features_out", "_weights")
    _weights: NDArray[np.float64] | None = None
    embedding_: NDArray[Any]

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [whole(1, 64)],
        "metric": METRIC,
        "metric_params": [dict, None],
        "weighting": [one_of(*_WEIGHTINGS)],
        "annealed": ["boolean"],
        "init": [one_of(*_STARTS)],
        "n_init": [whole(1, 10_000)],
        "max_iter": [whole(1)],
        "tol": [number(1e-15, 0.1)],
        "relaxed": ["boolean"],
        "cooling": COOLING,
        "warm_start": ["boolean"],
        "normalized_stress": ["boolean", one_of("auto"), None],
        "eps": [number(1e-15, 0.1), None],
        "metric_mds": ["boolean"],
        "n_neighbors": [whole(1)],
        "random_state": RANDOM_STATE,
        **WATCHED,
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        metric: Metric | Callable[..., float] = "euclidean",
        metric_params: dict[str, Any] | None = None,
        weighting: Literal["equal", "sammon", "inverse_square"] = "equal",
        annealed: bool = False,
        init: Literal["classical", "random", "classical_mds"] = "classical",
        n_init: int = 4,
        max_iter: int = 1000,
        tol: float = 1e-6,
        relaxed: bool = True,
        cooling: float = 0.95,
        warm_start: bool = False,
        normalized_stress: bool | Literal["auto"] | None = None,
        eps: float | None = None,
        metric_mds: bool = True,
        n_neighbors: int = 10,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Any = None,
        checkpoint: Any = None,
    ) -> None:
        self.n_components = n_components
        self.metric = metric
        self.metric_params = metric_params
        self.weighting = weighting
        self.annealed = annealed
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.relaxed = relaxed
        self.cooling = cooling
        self.warm_start = warm_start
        self.normalized_stress = normalized_stress
        self.eps = eps
        self.metric_mds = metric_mds
        self.n_neighbors = n_neighbors
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.checkpoint = checkpoint

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.positive_only = self._is_given()
        tags.input_tags.allow_nan = self._allows_nan()
        tags.input_tags.sparse = takes_sparse(self.metric)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _is_given(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def _allows_nan(self) -> bool:
        return self._is_given() or takes_gaps(self.metric)

    def _validated(self, X: Any, *, reset: bool) -> Any:
        finite = "allow-nan" if self._allows_nan() else True
        sparse = "csr" if takes_sparse(self.metric) else False
        least = 2 if reset else 1
        return _checks.validate_data(
            self, X, dtype=_FLOATS, ensure_all_finite=finite, accept_sparse=sparse, reset=reset, ensure_min_samples=least
        )

    def fit(
        self,
        X: ArrayLike,
        y: object = None,
        sample_weight: ArrayLike | None = None,
        *,
        pair_weight: ArrayLike | None = None,
        init: ArrayLike | None = None,
        fixed: ArrayLike | None = None,
    ) -> SMACOF:
        """Compute a map of the items.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_samples) or (n_samples, n_features)
            Dissimilarities for ``metric='precomputed'``, otherwise rows of numbers.
        y : ignored
            Ignored; present for scikit-learn's interface.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights of the items, 0 or more. An item of weight 3 counts as three items at one position. An item of weight 0 gets a position but does not
            affect the other items. Initial positions depend on the number of items, not on their weights. To compare a weighted map with a map of repeated
            items, pass the same ``init`` to both.
        pair_weight : array-like of shape (n_samples, n_samples), default=None
            The weights of pairs: symmetric, 0 or more. Cannot be used with a ``weighting`` other than ``'equal'``.
        init : array-like of shape (n_samples, n_components), default=None
            The initial positions, such as the ``embedding_`` of an earlier fit.
        fixed : array-like of ints, default=None
            The items that keep their positions in ``init``.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If dissimilarities are negative, not symmetric or not 0 on the diagonal; the message lists the first ten. Also if an item has no known dissimilarity
            to the other items, or a parameter is invalid.
        Stopped
            If the callback returned ``False``.

        Examples
        --------
        >>> import numpy as np, lehr
        >>> D = np.array([[0.0, 3.0, np.nan], [3.0, 0.0, 4.0], [np.nan, 4.0, 0.0]])
        >>> lehr.SMACOF(1, metric="precomputed").fit(D).missing_pairs_
        1
        """
        parameters = self._told(
            dimension="n_components",
            starts="n_init",
            annealed="annealed",
            cooling="cooling",
            tolerance="tol" if self.eps is None else "eps",
            relaxed="relaxed",
        )
        iterations = int(self.max_iter)
        parameters |= {
            "start": _STARTS[self.init],
            "weighting": _WEIGHTINGS[self.weighting],
            # The Rust extension also counts the evaluation of the initial map.
            "most_iterations": iterations + 1,
            "seed": _checks.seed(self.random_state),
        }
        is_given = self._is_given()
        items = self._validated(X, reset=True)
        item_weights = weights(sample_weight, items)
        count = items.shape[0]
        if is_given:
            refuse_negative(items, "SMACOF.fit")
        else:
            _checks.warn_of_dissimilarities(items)
            warn_of_scales(getattr(self, "feature_names_in_", None), items, self.metric)
        matrix = items if is_given else symmetric(of_rows(items, None, self.metric, self.metric_params, self.n_jobs))
        pairs = None if pair_weight is None else _checks.check_array(pair_weight, dtype=_FLOATS, input_name="pair_weight")
        positions = None if init is None else _checks.check_array(init, dtype=np.float64, input_name="init")
        if positions is None and self.warm_start:
            positions = self._former(count)
        if pairs is not None and self.weighting != "equal":
            raise ValueError(f"pair_weight goes with weighting='equal' only. Got weighting={self.weighting!r} too.")
        if positions is not None and positions.shape != (count, self.n_components):
            raise ValueError(
                f"init must be of shape (n_samples, n_components) = ({count}, {self.n_components}). Got {positions.shape} instead."
            )
        if fixed is not None and positions is None:
            raise ValueError("fixed needs positions: fit(X, init=positions, fixed=items).")
        if not self.metric_mds:
            if pairs is not None or fixed is not None or self.annealed or self.weighting != "equal":
                raise ValueError("metric_mds=False takes no pair_weight, fixed, annealed or weighting.")
            if np.isnan(matrix).any():
                raise ValueError("metric_mds=False takes no missing pairs: of these there is no order.")
        stays = [] if fixed is None else [int(item) for item in np.asarray(fixed).ravel()]
        if any(item < 0 for item in stays):
            raise ValueError("The 'fixed' parameter must be items counted from 0. Got a negative number instead.")
        with Watch("SMACOF", self.verbose, self.callback, self.checkpoint) as watch:
            found = _native.embed(
                matrix,
                item_weights,
                watch.run(parameters, self.n_jobs),
                pair_weight=pairs,
                init=positions,
                fixed=stays,
            )
        self._fit_X = None if is_given else items
        self._weights = item_weights
        self.embedding_ = as_given(found["embedding"], items)
        self._n_features_out = self.embedding_.shape[1]
        # For metric scaling, scikit-learn's "auto" is the raw stress.
        kind = {None: "stress", "auto": "raw_stress", False: "raw_stress", True: "stress_1"}[self.normalized_stress]
        self.stress_ = found[kind]  # type: ignore[literal-required]
        self.stress_1_ = found["stress_1"]
        self.raw_stress_ = found["raw_stress"]
        self.item_stress_ = found["item_stress"]
        self.is_converged_ = found["is_converged"]
        self.stresses_ = found["stresses"]
        self.history_ = table(found["history"])
        self.shepard_ = dict(found["shepard"])
        self.missing_pairs_ = found["missing_pairs"]
        if not self.metric_mds:
            self._take_order(matrix, positions, iterations, parameters["tolerance"])
            return self
        # An exact initial map takes no step, but its evaluation counts as an iteration.
        self.n_iter_ = max(1, found["n_iter"] - 1)
        told = [_STILL_FELL.sub(f"\\g<1>{iterations} iteration", text) for text in found["warnings"]]
        tell({**found, "warnings": told})
        return self

    def _take_order(
        self, matrix: NDArray[Any], given: NDArray[np.float64] | None, iterations: int, tolerance: float
    ) -> None:
        """Computes a non-metric map, starting from the metric map or from random positions."""
        wanted = squareform(np.asarray(matrix, dtype=np.float64), checks=False)
        shares = np.ones(len(matrix)) if self._weights is None else self._weights
        pairs = np.outer(shares, shares)
        starts = [self.embedding_.astype(np.float64, copy=False) if given is None else given]
        if given is None and self.init == "random":
            random = np.random.RandomState(_checks.seed(self.random_state) % 2**32)
            starts = [random.uniform(size=self.embedding_.shape) for _ in range(int(self.n_init))]
        # Only the shape of the initial map matters, and squares of numbers such as 1e160 would overflow.
        extents = [float(np.abs(start).max(initial=0.0)) for start in starts]
        starts = [start / extent if extent > 1e100 or 0 < extent < 1e-100 else start for start, extent in zip(starts, extents)]
        maps = [_nonmetric.embedded(wanted, start, self._weights, max_iter=iterations, tol=tolerance) for start in starts]
        best = min(maps, key=lambda found: found.stress)
        self.embedding_ = as_given(best.positions, self.embedding_)
        distances, disparities = pdist(best.positions), best.disparities
        self.disparities_ = squareform(disparities)
        errors = np.square(squareform(distances) - self.disparities_)
        self.raw_stress_ = float(np.sum(pairs * errors) / 2)
        squares = float(squareform(pairs, checks=False) @ np.square(distances))
        self.stress_1_ = float(np.sqrt(self.raw_stress_ / squares)) if squares > 0 else 0.0
        self.stress_ = self.raw_stress_ if self.normalized_stress is False else self.stress_1_
        size = float(np.average(np.square(disparities), weights=squareform(pairs, checks=False)))
        self.item_stress_ = errors @ shares / shares.sum() / max(size, np.finfo(np.float64).tiny)
        self.is_converged_ = best.is_converged
        self.stresses_ = np.array([found.stress for found in maps])
        self.history_ = table({"temperature": np.zeros(len(best.stresses)), "stress": np.array(best.stresses)})
        bins = len(np.asarray(self.shepard_["counts"]))
        longest, largest = float(distances.max(initial=0.0)), float(disparities.max(initial=0.0))
        counts = np.histogram2d(disparities, distances, bins=bins, range=[[0, largest or 1.0], [0, longest or 1.0]])[0]
        with np.errstate(invalid="ignore", divide="ignore"):
            correlation = float(np.corrcoef(disparities, distances)[0, 1]) if len(distances) > 1 else 1.0
        self.shepard_ = {
            "counts": counts.astype(np.int64),
            "largest_dissimilarity": largest,
            "largest_distance": longest,
            "correlation": correlation,
        }
        self.n_iter_ = max(1, len(best.stresses) - 1)
        if not best.is_converged:
            _checks.warn(
                f"non-metric scaling was still improving after {iterations} iterations: raise max_iter or tol.", ConvergenceWarning
            )

    def _former(self, items: int) -> NDArray[np.float64] | None:
        """Returns the positions of the previous fit, if they have the same numbers of items and dimensions."""
        former = getattr(self, "embedding_", None)
        if former is None or former.shape != (items, self.n_components):
            return None
        positions: NDArray[np.float64] = former.astype(np.float64, copy=False)
        return positions

    def fit_transform(self, X: ArrayLike, y: object = None, **fit_params: Any) -> NDArray[Any]:
        """Compute a map of the items, and return their positions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_samples) or (n_samples, n_features)
            The same as for :meth:`fit`.
        y : ignored
            Ignored; present for scikit-learn's interface.
        **fit_params
            The same as for :meth:`fit`.

        Returns
        -------
        embedding : ndarray of shape (n_samples, n_components)

        Examples
        --------
        >>> import lehr
        >>> sorted(lehr.SMACOF(1).fit_transform([[0.0], [4.0]]).round(6).ravel().tolist())
        [-2.0, 2.0]
        """
        return self.fit(X, y, **fit_params).embedding_

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Place new items into the map, which does not change.

        The nearest items of the map determine the position of a new item; other new items do not affect its position. A new item at dissimilarity 0 from an
        item of the map gets the same position. Therefore fitted items keep their positions.

        Parameters
        ----------
        X : array-like of shape (n_items, n_samples) or (n_items, n_features)
            Dissimilarities to the fitted items for ``metric='precomputed'``, with NaN for unknown dissimilarities; otherwise rows of numbers.

        Returns
        -------
        positions : ndarray of shape (n_items, n_components)
            The values are float32 if ``X`` is float32.

        Raises
        ------
        ValueError
            If an item has at most ``n_components`` known dissimilarities, or the map has at most ``n_components`` items.

        Examples
        --------
        >>> import lehr
        >>> square = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
        >>> bool(abs(lehr.SMACOF().fit(square).transform([[0.5, 0.5]])).max() < 1e-5)
        True
        """
        check_is_fitted(self)
        items = self._validated(X, reset=False)
        return as_given(self._placed(self._to_map(items, "transform")), items)

    def _learnt(self) -> tuple[str, dict[str, Any]]:
        if not self._is_given():
            raise ValueError(
                "The model is its fitted rows, so a JSON model needs their dissimilarities: fit with metric='precomputed', or use save and lehr.load."
            )
        width = self.embedding_.shape[1]
        return "embedding", {"dimensions": width, "positions": self.embedding_.ravel().tolist(), "neighbors": max(int(self.n_neighbors), width + 1)}

    def _take_learnt(self, parts: Any) -> None:
        self.embedding_ = parts["embedding"]
        self._fit_X = None
        self._weights = None
        self.n_features_in_, self._n_features_out = self.embedding_.shape
        self.set_params(n_components=self._n_features_out, n_neighbors=int(parts["neighbors"]))

    def _to_map(self, items: Any, asked: str) -> NDArray[np.float64]:
        """Returns the dissimilarities of validated items to the items of the map."""
        to_map = items if self._fit_X is None else of_rows(items, self._fit_X, self.metric, self.metric_params, self.n_jobs)
        to_map = np.asarray(to_map, dtype=np.float64)
        return not_negative(to_map, f"SMACOF.{asked}")

    def _placed(self, to_map: NDArray[np.float64]) -> NDArray[np.float64]:
        positions = np.empty((len(to_map), self.embedding_.shape[1]))
        least = np.where(np.isnan(to_map), np.inf, to_map)
        is_there = least.min(axis=1) == 0
        positions[is_there] = self.embedding_[least[is_there].argmin(axis=1)]
        if not is_there.all():
            placed = _native.interpolate(
                self.embedding_.astype(np.float64, copy=False),
                to_map[~is_there],
                neighbors=min(int(self.n_neighbors), len(self.embedding_)),
                threads=_checks.threads(self.n_jobs),
            )
            positions[~is_there] = placed["positions"]
        return positions

    def score(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the negative stress between new items, placed as in :meth:`transform`, and the items of the map: greater is better.

        Here, stress is the weighted sum of squared errors, divided by the weighted sum of squared dissimilarities. For the fitted items, with their weights and
        without ``pair_weight``, the score is ``-stress_`` with ``normalized_stress=None``. With a ``weighting`` other than ``'equal'``, the score equals
        ``-stress_`` only if no dissimilarity is below the lower limit of ``weighting``.

        Parameters
        ----------
        X : array-like of shape (n_items, n_samples) or (n_items, n_features)
            The same as for :meth:`transform`.
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
        >>> square = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
        >>> lehr.SMACOF().fit(square).score(square) > -1e-12
        True
        """
        check_is_fitted(self)
        to_map = self._to_map(self._validated(X, reset=False), "score")
        item_weights = weights(sample_weight, to_map)
        shares = np.ones(len(to_map)) if item_weights is None else item_weights
        of_map = np.ones(len(self.embedding_)) if self._weights is None else self._weights
        with np.errstate(divide="ignore"):
            by_size = to_map ** _POWERS[self.weighting]
        # Pairs whose dissimilarity is missing, or whose weight would be infinite, get weight 0.
        pairs = np.where(np.isfinite(by_size) & ~np.isnan(to_map), by_size, 0.0) * shares[:, None] * of_map
        targets = np.where(np.isnan(to_map), 0.0, to_map)
        errors = np.square(cdist(self._placed(to_map), self.embedding_) - targets)
        return -float(np.sum(pairs * errors) / np.sum(pairs * np.square(targets)))

    def plot(self, labels: ArrayLike | None = None, *, ax: Any = None) -> Any:
        """Draw the map in its first two dimensions. See :func:`lehr.plot.embedding`.

        Parameters
        ----------
        labels : array-like of shape (n_samples,), default=None
            The class of each item, which determines its colour.
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
        >>> lehr.SMACOF().fit([[0.0, 1.0], [1.0, 1.0], [10.0, 2.0]]).plot().get_title()
        'stress 0.0000 (stress-1 0.0000)'
        """
        from lehr import plot

        return plot.embedding(self, labels, ax=ax)


def align(
    embedding: ArrayLike, onto: ArrayLike, *, sample_weight: ArrayLike | None = None, scale: bool = False
) -> NDArray[np.float64]:
    """Align one map with another map of the same items (Procrustes analysis).

    Stress does not depend on the orientation of a map. Therefore align maps before you compare them. To align sequences, use :func:`pairwise_distances`.

    Parameters
    ----------
    embedding : array-like of shape (n_samples, n_components)
        The map to rotate, reflect and shift.
    onto : array-like of shape (n_samples, n_components)
        The map that does not move.
    sample_weight : array-like of shape (n_samples,), default=None
        The weight of each item.
    scale : bool, default=False
        Whether to scale the map as well.

    Returns
    -------
    aligned : ndarray of shape (n_samples, n_components)

    Raises
    ------
    ValueError
        If the shapes differ or a number is not finite.

    Examples
    --------
    >>> import lehr
    >>> lehr.align([[5.0, 5.0], [5.0, 7.0], [4.0, 5.0]], [[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]]).round(6) + 0.0
    array([[0., 0.],
           [2., 0.],
           [0., 1.]])
    """
    moved = _checks.check_array(embedding, dtype=np.float64, input_name="embedding")
    target = _checks.check_array(onto, dtype=np.float64, input_name="onto")
    return _native.align(moved, target, sample_weight=weights(sample_weight, moved), scale=bool(scale))["positions"]
