"""Generative topographic mapping: rows on a low-dimensional map, with a density that shows how well they fit."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from lehr import _checks, _native, _onnx, _partitioned
from lehr._centers import as_given
from lehr._constraints import COOLING, WATCHED, number, one_of, whole
from lehr._learnt import LearntMixin
from lehr._model import SavedMixin, table, tell, weights
from lehr._names import listed
from lehr._partitions import Result, is_partitioned
from lehr._progress import Watch
from lehr._shown import ShownMixin

__all__ = ["GTM"]
__dir__ = listed(__all__)

_FLOATS = (np.float64, np.float32)
_STARTS = {"both": None, "annealed": "annealed", "plane": "plane"}


class GTM(LearntMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ShownMixin, SavedMixin):
    """Generative topographic mapping (GTM) by deterministic annealing.

    A smooth function maps a grid of nodes on a line, a square or a cube into the space of your rows. Each node is the mean of a Gaussian; all Gaussians have
    the same width. ``transform`` returns the positions of rows on the map, and ``score_samples`` their log-densities. Lehr tries two initialisations and keeps
    the more likely fit: a point that unfolds while the temperature falls, and the plane of the principal components. Values may be missing: distances leave out
    NaN.

    The method is deterministic, so there is no ``random_state``. Columns should be in comparable units. If they are not, put a ``StandardScaler`` before the
    estimator.

    Parameters
    ----------
    n_components : int, default=2
        The number of dimensions of the map, 1 to 3, and at most the number of columns.
    n_nodes : int, default=None
        The number of nodes along each axis of the map, at least 2; at most 10,000 nodes in total. ``None`` means 50 in one dimension, 15 in two (20 for 2,000
        rows or more), 8 in three.
    n_basis : int, default=None
        The number of basis functions along each axis, at least 2. In total, there must be fewer basis functions than nodes, and at most 400. ``None`` means 8
        in one dimension, 5 in two, 3 in three. With more basis functions, the map follows the rows more closely.
    width : float, default=1.0
        The standard deviation of a basis function, divided by the distance to the next basis function, 0.1 to 10.
    regularization : float, default=0.1
        The stiffness of the map, 0 to 1e6: the weight of a ridge penalty on the weights of the basis functions. With 0, the map follows the rows as closely as
        possible; try 0.01, 0.1 and 1. Lehr scales the penalty by the mean variance of a column, so ``regularization`` does not depend on units.
    init : {'both', 'annealed', 'plane'}, default='both'
        The initialisation of the map. ``'annealed'``: a point at the mean, at a high temperature. ``'plane'``: the plane of the principal components, at
        temperature 1. ``'both'``: Lehr tries both and keeps the more likely fit.
    cooling : float, default=0.95
        The factor from one temperature to the next, 0.5 to 0.999.
    tol : float, default=1e-6
        Iterations end when the mean objective per row can gain no more than this, 1e-12 to 1e-2.
    max_iter : int, default=1000
        The maximum number of passes over the rows at temperature 1, for each initialisation.
    n_jobs : int, default=None
        The number of threads; -1 uses all processors. ``None`` uses ``OMP_NUM_THREADS`` if it is set, otherwise all processors, or one thread for each process
        of an MPI job. The result is bit-identical for any number of threads.
    verbose : int, default=0
        If above 0, show progress on standard error.
    callback : callable, default=None
        A function that is called with a :class:`lehr.Progress` after every few passes. Return ``False`` to stop the run.
    checkpoint : path-like, default=None
        A file in which ``fit`` saves the state of the run. If the file exists, ``fit`` resumes the run and gives a bit-identical result. A completed run
        removes the file.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The position of each row, -1 to 1 along each axis: the mean of the row's posterior over the nodes. If the posterior has two distant modes, the mean lies
        between them; a high value of ``entropies_`` shows this. If ``X`` is float32, so are all results for rows, ``means_`` and ``magnifications_``.
    modes_ : ndarray of shape (n_samples,), int32
        The most probable node of each row, as an index into ``nodes_``. :meth:`modes` returns the positions of such nodes.
    probabilities_ : ndarray of shape (n_samples,)
        The posterior probability of the most probable node of each row.
    entropies_ : ndarray of shape (n_samples,)
        The entropy of each row's posterior over the nodes, in nats; 0 if one node has all probability.
    nodes_ : ndarray of shape (n_nodes ** n_components, n_components)
        The positions of the nodes on the map. The last axis varies fastest.
    means_ : ndarray of shape (n_nodes ** n_components, n_features)
        The positions of the nodes in the space of the rows, in the unit of ``X``.
    magnifications_ : ndarray of shape (n_nodes ** n_components,)
        How far the map is stretched at each node: a length, area or volume among the rows, divided by its size on the map. High values mark borders between
        groups.
    noise_variance_ : float
        The variance of the rows around the map, equal for all columns, in the squared unit of ``X``.
    n_nodes_, n_basis_ : int
        The numbers of nodes and of basis functions along each axis.
    weights_ : ndarray of shape (n_functions, n_features)
        The weights of the ``n_basis_ ** n_components + 1`` functions, in the unit of ``X``. The last row has the weights of the constant function.
    origin_ : ndarray of shape (n_features,)
        The constant that is added to the weighted sum of the functions.
    log_likelihood_ : float
        The weighted sum of the log-densities of the rows.
    free_energy_ : float
        The free energy that the fit minimised: the negative objective per unit of weight, at temperature 1.
    order_ : float
        Spearman's correlation between the distances of nodes on the map and in the space of the rows. Near 1, the map has no folds. The likelihood does not
        reveal folds.
    init_ : str
        The initialisation of the kept map: ``'annealed'`` or ``'plane'``.
    candidates_ : structured ndarray
        One row for each completed initialisation: ``init``, ``log_likelihood``, ``order``, ``is_converged``, ``n_iter``.
    history_ : structured ndarray
        One row for each temperature of the kept map: ``temperature`` (without a unit, ending at 1), ``objective``, ``noise_variance``, ``softness`` and
        ``sweeps``. ``softness`` is the mean of 1 minus the largest posterior probability.
    ascent_ : ndarray
        The mean objective per row before each iteration at temperature 1, which never decreases.
    critical_temperature_ : float
        The temperature below which a point-like map begins to unfold.
    converged_ : bool
        Whether the fit converged.
    n_iter_ : int
        The number of passes over the rows, for all initialisations.
    n_features_in_ : int
        The number of columns of ``X``.
    feature_names_in_ : ndarray of shape (``n_features_in_``,)
        The names of the columns, if ``X`` has any.

    References
    ----------
    Bishop, Svensen and Williams, "GTM: the generative topographic mapping", Neural Computation 10 (1998). Choi, Bae, Qiu and Fox, "Generative topographic
    mapping by deterministic annealing", ICCS 2010.

    Examples
    --------
    >>> import numpy as np, lehr
    >>> t = np.linspace(0.0, 1.0, 40)
    >>> X = np.column_stack([t, t**2])
    >>> model = lehr.GTM(1, n_nodes=20, n_basis=4).fit(X)
    >>> along = model.embedding_[:, 0]
    >>> bool(abs(np.corrcoef(along, t)[0, 1]) > 0.98)
    True
    """

    means_: NDArray[Any]
    magnifications_: NDArray[Any]
    _method = "gtm"
    _kept = ("_n_features_out", "_width")

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [whole(1, 3)],
        "n_nodes": [whole(2, 10_000), None],
        "n_basis": [whole(2, 400), None],
        "width": [number(0.1, 10)],
        "regularization": [number(0, 1e6)],
        "init": [one_of(*_STARTS)],
        "cooling": COOLING,
        "tol": [number(1e-12, 1e-2)],
        "max_iter": [whole(1)],
        **WATCHED,
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_nodes: int | None = None,
        n_basis: int | None = None,
        width: float = 1.0,
        regularization: float = 0.1,
        init: Literal["both", "annealed", "plane"] = "both",
        cooling: float = 0.95,
        tol: float = 1e-6,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Any = None,
        checkpoint: Any = None,
    ) -> None:
        self.n_components = n_components
        self.n_nodes = n_nodes
        self.n_basis = n_basis
        self.width = width
        self.regularization = regularization
        self.init = init
        self.cooling = cooling
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.checkpoint = checkpoint

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _validated(self, X: ArrayLike, *, reset: bool) -> NDArray[Any]:
        least = 2 if reset else 1
        return _checks.validate_data(self, X, dtype=_FLOATS, ensure_all_finite="allow-nan", reset=reset, ensure_min_samples=least)

    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> GTM:
        """Fit the map to the rows of ``X``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            At least two rows, with NaN for missing values. Each column needs at least one value, and at least one column must vary.
        y : ignored
            Ignored; present for scikit-learn's interface.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights of the rows, 0 or more. Only their ratios matter: ``regularization`` counts the effective number of rows. A row of weight 0 gets a
            position but does not affect the map, except that the default grid depends on the number of rows.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the data or a parameter is invalid, a column has no value, or all rows are equal.
        Stopped
            If the callback returned ``False``.
        KeyboardInterrupt
            If you press Ctrl-C; the run ends within a second.

        Examples
        --------
        >>> import numpy as np, lehr
        >>> X = np.array([[0.0, 0.0], [1.0, np.nan], [2.0, 2.1], [3.0, 2.9]])
        >>> lehr.GTM(1, n_nodes=5, n_basis=2).fit(X).embedding_.shape
        (4, 1)
        """
        parameters = self._told(
            latent="n_components",
            nodes="n_nodes",
            basis="n_basis",
            width="width",
            regularisation="regularization",
            cooling="cooling",
            tolerance="tol",
            max_sweeps="max_iter",
        )
        parameters["start"] = _STARTS[self.init]
        rows = self._validated(X, reset=True)
        if self.n_components > rows.shape[1]:
            raise ValueError(
                f"n_components={self.n_components} must be at most n_features={rows.shape[1]}: "
                "a map has no more dimensions than the rows have columns."
            )
        _checks.warn_of_scales(getattr(self, "feature_names_in_", None), rows)
        row_weights = weights(sample_weight, rows)
        with Watch("GTM", self.verbose, self.callback, self.checkpoint) as watch:
            found = _native.fit_gtm(rows, row_weights, watch.run(parameters, self.n_jobs))
        self.embedding_ = as_given(found["positions"], rows)
        self.modes_ = found["modes"]
        self.probabilities_ = as_given(found["probabilities"], rows)
        self.entropies_ = as_given(found["entropies"], rows)
        self._take_map(found)
        self.means_ = as_given(self.means_, rows)
        self.magnifications_ = as_given(self.magnifications_, rows)
        self.log_likelihood_ = found["log_likelihood"]
        self.init_ = "annealed" if found["is_annealed"] else "plane"
        candidates = dict(found["candidates"])
        inits = np.where(candidates.pop("is_annealed"), "annealed", "plane")
        self.candidates_ = table({"init": inits, **candidates})
        self.history_ = table(found["history"])
        self.free_energy_ = -float(self.history_["objective"][-1])
        self.ascent_ = found["ascent"]
        self.critical_temperature_ = found["critical_temperature"]
        self.converged_ = found["is_converged"]
        self.n_iter_ = found["n_iter"]
        tell(found)
        return self

    def fit_transform(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> NDArray[Any]:
        """Fit the map, and return the position of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The same as for :meth:`fit`.
        y : ignored
            Ignored; present for scikit-learn's interface.
        sample_weight : array-like of shape (n_samples,), default=None
            The same as for :meth:`fit`.

        Returns
        -------
        embedding : ndarray of shape (n_samples, n_components)

        Examples
        --------
        >>> import lehr
        >>> places = lehr.GTM(1, n_nodes=5, n_basis=2).fit_transform([[0.0], [1.0], [2.0], [3.0]])
        >>> bool(abs(places[0, 0] + places[3, 0]) < 0.1)
        True
        """
        return self.fit(X, y, sample_weight).embedding_

    def _take_map(self, parts: Any) -> None:
        """Sets the parameters of the map."""
        self.n_nodes_ = parts["n_nodes"]
        self.n_basis_ = parts["n_basis"]
        self._width = parts["width"]
        self.weights_ = parts["weights"]
        self.origin_ = parts["origin"]
        self.noise_variance_ = parts["noise_variance"]
        self.nodes_ = parts["nodes"]
        self._n_features_out = self.nodes_.shape[1]
        there = _native.images(self.nodes_, self._map())
        self.means_ = there["data"]
        self.magnifications_ = there["magnifications"]
        self.order_ = parts["order"]

    def _take_learnt(self, parts: Any) -> None:
        self._take_map(parts)
        shape = {"n_components": self.nodes_.shape[1], "n_nodes": self.n_nodes_, "n_basis": self.n_basis_}
        self.set_params(width=self._width, **shape)

    def _map(self) -> dict[str, Any]:
        """Returns the map in the form that the Rust extension takes."""
        return {
            "latent": self.nodes_.shape[1],
            "nodes": self.n_nodes_,
            "basis": self.n_basis_,
            "width": self._width,
            "noise": self.noise_variance_,
            "origin": self.origin_,
            "weights": self.weights_,
        }

    def _learnt(self) -> tuple[str, dict[str, Any]]:
        parts = self._map()
        return "gtm", {
            "grid": {name: parts[name] for name in ("latent", "nodes", "basis", "width")},
            "origin": self.origin_.tolist(),
            "weights": self.weights_.ravel().tolist(),
            "noise": self.noise_variance_,
        }

    def _onnx(self, columns: list[str]) -> Any:
        return _onnx.of_map(self.means_, self.nodes_, self.noise_variance_, columns)

    def _projected(self, X: ArrayLike) -> dict[str, NDArray[Any]]:
        check_is_fitted(self)
        rows = self._validated(X, reset=False)
        found: Any = _native.project(rows, self._map(), threads=_checks.threads(self.n_jobs))
        return {name: as_given(values, rows) if values.dtype.kind == "f" else values for name, values in found.items()}

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Return the positions of rows on the map: the means of their posteriors over the nodes. The map does not change.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, in the units of the fitted data, with NaN for missing values.

        Returns
        -------
        positions : ndarray of shape (n_samples, n_components)
            The positions, -1 to 1 along each axis; float32 if ``X`` is float32.

        Examples
        --------
        >>> import lehr
        >>> model = lehr.GTM(1, n_nodes=5, n_basis=2).fit([[0.0], [1.0], [2.0], [3.0]])
        >>> bool(abs(model.transform([[1.5]])[0, 0]) < 0.1)
        True
        """
        check_is_fitted(self)
        if is_partitioned(X):
            return _partitioned.rows_of(self, X, "transform", Result("positions", self.nodes_.dtype, self.nodes_.shape[1]))
        positions: NDArray[Any] = self._projected(X)["positions"]
        gone = self._without_values(np.asarray(X))
        if gone is not None:
            positions[gone] = np.nan
        return positions

    def modes(self, X: ArrayLike) -> NDArray[Any]:
        """Return the position of each row's most probable node. Plot these positions if posteriors have several modes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, in the units of the fitted data, with NaN for missing values.

        Returns
        -------
        positions : ndarray of shape (n_samples, n_components)
            A row of ``nodes_`` for each row of ``X``.

        Examples
        --------
        >>> import lehr
        >>> model = lehr.GTM(1, n_nodes=5, n_basis=2).fit([[0.0], [1.0], [2.0], [3.0]])
        >>> bool(model.modes([[1.5]])[0, 0] in model.nodes_)
        True
        """
        return self.nodes_[self._projected(X)["modes"]]

    def responsibilities(self, X: ArrayLike) -> NDArray[Any]:
        """Return the posterior of each row over the nodes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, in the units of the fitted data, with NaN for missing values.

        Returns
        -------
        memberships : ndarray of shape (n_samples, n_nodes ** n_components)
            The posterior probabilities, float32 if ``X`` is float32. Each row adds up to 1.

        Examples
        --------
        >>> import lehr
        >>> model = lehr.GTM(1, n_nodes=5, n_basis=2).fit([[0.0], [1.0], [2.0], [3.0]])
        >>> model.responsibilities([[1.5]]).shape
        (1, 5)
        """
        check_is_fitted(self)
        given = self._validated(X, reset=False)
        rows = given.astype(np.float64, copy=False) - self.origin_
        is_there = ~np.isnan(rows)
        rows = np.where(is_there, rows, 0.0)
        images = _native.images(self.nodes_, self._map())["data"] - self.origin_
        # Squared distances over the known values, without the squares of the rows, which are the same for every node.
        exponents = (2.0 * (rows @ images.T) - is_there @ np.square(images).T) / (2.0 * self.noise_variance_)
        return as_given(np.exp(exponents - logsumexp(exponents, axis=1, keepdims=True)), given)

    def inverse_transform(self, X: ArrayLike) -> NDArray[Any]:
        """Convert positions on the map to points in the space of the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Positions on the map, such as those that :meth:`transform` returns.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features)
            Points in the unit of the fitted rows; float32 if ``X`` is float32.

        Examples
        --------
        >>> import lehr
        >>> model = lehr.GTM(1, n_nodes=5, n_basis=2).fit([[0.0], [1.0], [2.0], [3.0]])
        >>> bool(abs(model.inverse_transform([[0.0]])[0, 0] - 1.5) < 0.1)
        True
        """
        check_is_fitted(self)
        places = _checks.check_array(X, dtype=_FLOATS, input_name="X")
        return as_given(_native.images(places.astype(np.float64, copy=False), self._map())["data"], places)

    def score_samples(self, X: ArrayLike) -> NDArray[Any]:
        """Return the log-density of each row, over its known values. Rows with low values do not fit the map.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, in the units of the fitted data, with NaN for missing values.

        Returns
        -------
        log_densities : ndarray of shape (n_samples,)

        Examples
        --------
        >>> import lehr
        >>> model = lehr.GTM(1, n_nodes=5, n_basis=2).fit([[0.0], [1.0], [2.0], [3.0]])
        >>> bool(model.score_samples([[1.0]])[0] > model.score_samples([[9.0]])[0])
        True
        """
        return self._projected(X)["log_densities"]

    def score(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the weighted mean of the log-densities of rows: greater is better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, in the units of the fitted data, with NaN for missing values.
        y : ignored
            Ignored; present for scikit-learn's interface.
        sample_weight : array-like of shape (n_samples,), default=None
            The weight of each row.

        Returns
        -------
        score : float

        Examples
        --------
        >>> import lehr
        >>> model = lehr.GTM(1, n_nodes=5, n_basis=2).fit([[0.0], [1.0], [2.0], [3.0]])
        >>> model.score([[1.0]]) > model.score([[9.0]])
        True
        """
        densities = self.score_samples(X)
        return float(np.average(densities, weights=weights(sample_weight, densities)))

    def plot(self, labels: ArrayLike | None = None, *, ax: Any = None) -> Any:
        """Plot the rows on the map, over a background that shows how far the map is stretched. See :func:`lehr.plot.topography`.

        Parameters
        ----------
        labels : array-like of shape (n_samples,), default=None
            The class of each row, which determines its colour.
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
        >>> model = lehr.GTM(1, n_nodes=5, n_basis=2).fit([[0.0], [1.0], [2.0], [3.0]])
        >>> model.plot(labels=["a", "a", "b", "b"]).get_ylabel()
        'magnification'
        """
        from lehr import plot

        return plot.topography(self, labels, ax=ax)
