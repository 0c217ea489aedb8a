"""Gaussian mixtures whose EM algorithm starts from annealed clusters."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import DensityMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from lehr import _checks, _em, _native, _onnx, _partitioned, _partitioned_mixture
from lehr._centers import as_given
from lehr._constraints import COOLING, RANDOM_STATE, WATCHED, number, one_of, whole
from lehr._explained import ExplainedMixin
from lehr._learnt import LearntMixin
from lehr._model import SavedMixin, table, tell, weights
from lehr._names import listed
from lehr._partitions import Result, is_partitioned, partitions_of
from lehr._progress import Watch
from lehr._shown import ShownMixin

__all__ = ["DAGaussianMixture"]
__dir__ = listed(__all__)

_FLOATS = (np.float64, np.float32)
#: The maximum number of columns for which full covariance matrices are supported.
_MOST_COLUMNS = 512
_FORMS = _em.FORMS


class DAGaussianMixture(ExplainedMixin, LearntMixin, DensityMixin, ShownMixin, SavedMixin):
    """A Gaussian mixture model whose EM algorithm starts from annealed clusters.

    Deterministic annealing finds the initial clusters, so one fit is enough. Without ``n_components``, Lehr chooses the number of components with the lowest
    BIC. Values may be missing (NaN): Lehr does not impute them, and computes the density of a row from its known values only.

    Parameters
    ----------
    n_components : int, default=None
        The number of components, at least 1. ``None`` means the number with the lowest BIC.
    covariance_type : {'full', 'tied', 'diag', 'spherical'}, default='full'
        ``'full'``: a covariance matrix for each component. ``'tied'``: one matrix for all components. ``'diag'``: a variance for each component and column.
        ``'spherical'``: a variance for each component. Matrices support at most 512 columns. All types except ``'spherical'`` need columns that vary.
    max_components : int, default=None
        The maximum number of components that are tried if you don't give ``n_components``. ``None`` means 10. If the rows have more groups that are separated
        by valleys in the density, numbers close to the number of groups are also tried.
    regularization : float, default=1e-6
        This share of a column's variance, 0 to 0.1, is added to the variance of each component, so that no component becomes narrower than this. Unlike
        scikit-learn's ``reg_covar``, this share does not depend on the unit of the column.
    tol : float, default=1e-8
        Iterations end when the mean log-likelihood per row can gain no more than this, 1e-12 to 1e-2.
    max_iter : int, default=2000
        The maximum number of iterations of EM, not counting the initial annealing.
    cooling : float, default=0.95
        The factor from one temperature to the next while annealing, 0.5 to 0.999.
    random_state : int, RandomState instance or None, default=None
        The random seed. In ``fit`` it only breaks ties; ``None`` means 0, so that the same call gives the same result. In :meth:`sample`, the seed determines
        the drawn rows, as in scikit-learn: ``None`` gives other rows each time.
    n_jobs : int, default=None
        The number of threads; -1 uses all processors. ``None`` uses ``OMP_NUM_THREADS`` if it is set, otherwise all processors, or one thread for each process
        of an MPI job. The result does not depend on the number of threads.
    verbose : int, default=0
        If above 0, show progress on standard error.
    callback : callable, default=None
        A function that is called with a :class:`lehr.Progress` after each step. Return ``False`` to stop the run.
    checkpoint : path-like, default=None
        A file in which ``fit`` saves the state of the run. If the file exists, ``fit`` resumes the run.
    init_params : {'annealed', 'kmeans', 'k-means++', 'random', 'random_from_data'}, default='annealed'
        The initialisation of EM: annealed clusters, or one of scikit-learn's methods. Scikit-learn's methods, given initial parameters, ``reg_covar`` and
        ``warm_start`` need ``n_components`` and rows without missing values. With these options, ``fit`` does not support progress, callbacks or checkpoints.
    n_init : int, default=1
        The number of initialisations; the best result is kept. Annealing always runs once.
    weights_init, means_init, precisions_init : array-like, default=None
        The initial parameters of EM, in the shape of ``weights_``, ``means_`` and ``precisions_``. Components keep this order.
    reg_covar : float, default=None
        A number that is added to the variance of each column, in the squared unit of ``X``, as in scikit-learn. This number replaces ``regularization``, and
        also allows constant columns.
    warm_start : bool, default=False
        Whether ``fit`` starts from the previous mixture, if this has the required number of components and shape. With a warm start, or an initialisation other
        than annealing, EM ends when the mean log-likelihood per row changes by less than ``tol``. ``max_iter=0`` returns the initial mixture.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        The weights of the components, which add up to 1. Components are numbered by decreasing weight. If ``X`` is float32, so are weights, means, covariances,
        precisions and the results for rows.
    means_ : ndarray of shape (n_components, n_features)
        The means of the components, in the unit of ``X``.
    covariances_ : ndarray
        The covariances. The shape depends on ``covariance_type``: ``'full'`` (n_components, n_features, n_features), ``'tied'`` (n_features, n_features),
        ``'diag'`` (n_components, n_features), ``'spherical'`` (n_components,).
    labels_ : ndarray of shape (n_samples,), int32
        The component of each row.
    probabilities_ : ndarray of shape (n_samples,)
        The membership of each row in its component.
    log_likelihood_ : float
        The weighted sum of the log-densities of the rows.
    bic_, aic_, icl_ : float
        The Bayesian information criterion, the Akaike information criterion, and the integrated completed likelihood: lower is better.
    candidates_ : structured ndarray
        One row for each tried number of components: ``n_components``, ``log_likelihood``, ``bic``, ``aic``, ``icl``, ``is_converged``.
    n_groups_ : int or None
        The number of groups that are separated by valleys in the density. If there are more components than groups, several components describe one group, or
        groups overlap. ``None`` if you gave ``n_components`` or ``max_components``, or if values are missing.
    ascent_ : ndarray
        The mean log-likelihood per row before each iteration, which never decreases.
    history_ : structured ndarray
        One row for each iteration: ``log_likelihood``, the mean log-likelihood per row before the iteration.
    free_energy_ : float
        The free energy at temperature 1, at which annealing arrives at the mixture: ``-log_likelihood_``.
    converged_ : bool
        Whether the fit converged.
    lower_bound_ : float
        The weighted mean log-likelihood per row at the end of the fit, as in scikit-learn.
    lower_bounds_ : ndarray of shape (``n_iter_``,)
        Scikit-learn's name for ``ascent_``.
    precisions_ : ndarray
        The inverses of the covariances, in the shape of ``covariances_``.
    precisions_cholesky_ : ndarray
        The upper triangular factors of the precisions, with ``precision = factor @ factor.T``; for variances, the square roots of the precisions.
    n_components_ : int
        The number of components.
    n_iter_ : int
        The number of iterations, at most ``max_iter``.
    n_passes_ : int
        The number of all passes over the rows, including annealing and other numbers of components.
    n_features_in_ : int
        The number of columns of ``X``.
    feature_names_in_ : ndarray of shape (``n_features_in_``,)
        The names of the columns, if ``X`` has any.

    Examples
    --------
    >>> import lehr
    >>> X = [[0.0], [1.0], [2.0], [10.0], [12.0], [14.0]]
    >>> model = lehr.DAGaussianMixture(2, covariance_type="spherical").fit(X)
    >>> sorted(model.means_.round(1).ravel().tolist())
    [1.0, 12.0]
    """

    weights_: NDArray[Any]
    means_: NDArray[Any]
    covariances_: NDArray[Any]
    labels_: NDArray[np.int32]
    _method = "mixture"
    _kept = ("_bound", "_means", "_numbers", "_weights")
    #: The weights and means in double precision, if the public attributes are in single precision.
    _weights: NDArray[np.float64] | None = None
    _means: NDArray[np.float64] | None = None

    #: For tools that read the type of an estimator as scikit-learn did before 1.6.
    _estimator_type = "DensityEstimator"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [whole(1), None],
        "covariance_type": [one_of(*_FORMS)],
        "max_components": [whole(1), None],
        "regularization": [number(0, 0.1)],
        "tol": [number(0, np.inf)],
        "max_iter": [whole(0)],
        "cooling": COOLING,
        "random_state": RANDOM_STATE,
        "init_params": [one_of(*_em.STARTS)],
        "n_init": [whole(1)],
        "weights_init": ["array-like", None],
        "means_init": ["array-like", None],
        "precisions_init": ["array-like", None],
        "reg_covar": [number(0, np.inf), None],
        "warm_start": ["boolean"],
        **WATCHED,
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        covariance_type: Literal["full", "tied", "diag", "spherical"] = "full",
        max_components: int | None = None,
        regularization: float = 1e-6,
        tol: float = 1e-8,
        max_iter: int = 2000,
        cooling: float = 0.95,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Any = None,
        checkpoint: Any = None,
        init_params: Literal["annealed", "kmeans", "k-means++", "random", "random_from_data"] = "annealed",
        n_init: int = 1,
        weights_init: ArrayLike | None = None,
        means_init: ArrayLike | None = None,
        precisions_init: ArrayLike | None = None,
        reg_covar: float | None = None,
        warm_start: bool = False,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.max_components = max_components
        self.regularization = regularization
        self.tol = tol
        self.max_iter = max_iter
        self.cooling = cooling
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.checkpoint = checkpoint
        self.init_params = init_params
        self.n_init = n_init
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init
        self.reg_covar = reg_covar
        self.warm_start = warm_start

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = not self._begins_elsewhere()
        return tags

    def _validated(self, X: ArrayLike, *, reset: bool) -> NDArray[Any]:
        least = 2 if reset else 1
        rows: NDArray[Any] = _checks.validate_data(
            self, X, dtype=_FLOATS, ensure_all_finite="allow-nan", reset=reset, ensure_min_samples=least
        )
        if self._begins_elsewhere() and np.isnan(rows).any():
            raise ValueError(
                "Input X contains NaN. Missing cells are taken by the default start only: leave init_params, reg_covar, warm_start and starts out."
            )
        return rows

    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> DAGaussianMixture:
        """Fit the mixture to the rows of ``X``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            At least two rows, with NaN for missing values. Columns must vary.
            Dask collections, Ray datasets and Spark data frames stay in their partitions; see :meth:`DAClustering.fit`.
        y : ignored
            Ignored; present for scikit-learn's interface.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights of the rows, 0 or more. Only their ratios matter: BIC counts the effective number of rows. In a fit with ``n_components``, a row of
            weight 3 counts as three equal rows.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the data or a parameter is invalid, a column does not vary, or a component collapses for lack of regularisation.
        Stopped
            If the callback returned ``False``.

        Examples
        --------
        >>> import lehr
        >>> lehr.DAGaussianMixture(1).fit([[0.0], [2.0]]).means_.round(6)
        array([[1.]])
        """
        partitions = partitions_of(X, sample_weight)
        if partitions is not None:
            _partitioned_mixture.fit_mixture(self, partitions)
            return self
        parameters = self._told(
            components="n_components",
            max_components="max_components",
            regularisation="regularization",
            tolerance="tol",
            max_sweeps="max_iter",
            cooling="cooling",
        )
        form = _FORMS[self.covariance_type]
        parameters |= {"covariance": form, "seed": _checks.seed(self.random_state)}
        rows = self._validated(X, reset=True)
        _checks.warn_of_scales(getattr(self, "feature_names_in_", None), rows)
        row_weights = weights(sample_weight, rows)
        if self._begins_elsewhere():
            return self._climb(rows, row_weights, parameters)
        if form in ("full", "tied") and rows.shape[1] > _MOST_COLUMNS:
            raise ValueError(
                f"covariance_type={self.covariance_type!r} takes at most {_MOST_COLUMNS} columns, X has {rows.shape[1]}: "
                "take covariance_type='diag' or 'spherical', or fewer columns first (sklearn.decomposition.PCA)."
            )
        try:
            with Watch("DAGaussianMixture", self.verbose, self.callback, self.checkpoint) as watch:
                found = _native.fit_mixture(rows, row_weights, watch.run(parameters, self.n_jobs))
        except ValueError as error:
            if "columns that vary" not in str(error):
                raise
            cure = "leave them out (sklearn.feature_selection.VarianceThreshold) or take covariance_type='spherical'"
            raise ValueError(f"{error}: {cure}.") from None
        self._take_mixture(found, form, rows)
        self.labels_ = found["labels"]
        self.probabilities_ = as_given(found["probabilities"], rows)
        self.log_likelihood_ = found["log_likelihood"]
        self.bic_ = found["bic"]
        self.aic_ = found["aic"]
        self.icl_ = found["icl"]
        self.candidates_ = table(found["candidates"])
        self.n_groups_ = found["groups"]
        self.ascent_ = found["ascent"]
        self.history_ = table({"log_likelihood": found["ascent"]})
        self.free_energy_ = -self.log_likelihood_
        self.converged_ = found["is_converged"]
        self.n_iter_ = len(self.ascent_)
        self.n_passes_ = found["n_iter"]
        total = rows.shape[0] if row_weights is None else row_weights.sum()
        self.lower_bound_ = float(self.log_likelihood_ / total)
        tell(found)
        return self

    def _begins_elsewhere(self) -> bool:
        """Returns whether EM uses another initialisation and stopping rule than annealing."""
        given = (self.weights_init, self.means_init, self.precisions_init, self.reg_covar)
        return self.init_params != "annealed" or self.warm_start or self.max_iter == 0 or any(one is not None for one in given)

    def _climb(
        self, rows: NDArray[Any], row_weights: NDArray[np.float64] | None, parameters: dict[str, Any]
    ) -> DAGaussianMixture:
        """Fits the mixture with the EM algorithm of :mod:`lehr._em`, for parameters of scikit-learn that the Rust extension does not support."""
        components, columns = parameters["components"], rows.shape[1]
        starts = int(self.n_init)
        if components is None:
            raise ValueError(
                "init_params, reg_covar, warm_start, max_iter=0 and starts that are given need a number of components: say n_components=..."
            )
        if components > len(rows):
            raise ValueError(f"n_samples={len(rows)} should be >= n_components={components}.")
        form, exact = self.covariance_type, rows.astype(np.float64, copy=False)
        variances = np.square(exact - np.average(exact, axis=0, weights=row_weights))
        floor = parameters["regularisation"] * np.average(variances, axis=0, weights=row_weights)
        if self.reg_covar is not None:
            floor = np.full(columns, float(self.reg_covar))
        random = np.random.RandomState(parameters["seed"] % 2**32)
        given = {
            "weights": None if self.weights_init is None else _em.checked_weights(self.weights_init, components),
            "means": None if self.means_init is None else _em.checked_means(self.means_init, components, columns),
            "covariances": None
            if self.precisions_init is None
            else _em.covariances_of(self.precisions_init, form, components, columns),
        }

        def begin() -> _em.Mixture:
            if all(value is not None for value in given.values()):
                return _em.Mixture(form, **given)  # type: ignore[arg-type]
            memberships = _em.memberships_of(exact, row_weights, components, self.init_params, random)
            if row_weights is not None:
                memberships = memberships * row_weights[:, None]
            mixture = _em.maximised(exact, memberships, form, floor)
            for name, value in given.items():
                if value is not None:
                    setattr(mixture, name, value)
            return mixture

        former = getattr(self, "means_", None) if self.warm_start else None
        shape = _em.shapes(components, columns)[form]
        goes_on = former is not None and former.shape == (components, columns) and self.covariances_.shape == shape
        # Without random numbers, every initialisation is the same.
        is_once = goes_on or self.init_params == "annealed" or all(value is not None for value in given.values())
        best: _em.Climbed | None = None
        for _ in range(1 if is_once else starts):
            mixture = _em.Mixture(form, *self._exact(), self._covariances()) if goes_on else begin()
            fit = _em.climbed(
                rows,
                row_weights,
                mixture,
                floor,
                tol=parameters["tolerance"],
                max_iter=parameters["max_sweeps"],
                bound=getattr(self, "_bound", -np.inf) if goes_on else -np.inf,
            )
            if best is None or (fit.bounds and fit.bounds[-1] > best.bounds[-1]):
                best = fit
        assert best is not None
        has_order = goes_on or any(value is not None for value in given.values())
        mixture = best.mixture if has_order else best.mixture.in_order()
        parts = {"weights": mixture.weights, "means": mixture.means, "covariances": mixture.covariances}
        self._take_mixture({**parts, "numbers": mixture.numbers()}, _FORMS[form], rows)
        self._bound = best.bounds[-1] if best.bounds else -np.inf
        posterior = mixture.posterior(rows)
        self.labels_ = posterior["labels"]
        memberships = posterior["memberships"]
        self.probabilities_ = as_given(memberships[np.arange(len(rows)), self.labels_], rows)
        shares = np.ones(len(rows)) if row_weights is None else row_weights
        total = float(shares.sum())
        with np.errstate(divide="ignore", invalid="ignore"):
            entropies = -np.where(memberships > 0, memberships * np.log(memberships), 0.0).sum(axis=1)
        log_likelihood, entropy = float(np.dot(shares, posterior["log_densities"])), float(np.dot(shares, entropies))
        self._take_criteria(log_likelihood, entropy, total, float(np.square(shares).sum()))
        self.converged_ = best.is_converged
        candidate = {
            "n_components": components,
            "log_likelihood": self.log_likelihood_,
            "bic": self.bic_,
            "aic": self.aic_,
            "icl": self.icl_,
            "is_converged": self.converged_,
        }
        self.candidates_ = table({name: np.array([value]) for name, value in candidate.items()})
        self.n_groups_ = None
        self.ascent_ = np.array(best.bounds)
        self.history_ = table({"log_likelihood": self.ascent_})
        self.free_energy_ = -self.log_likelihood_
        self.n_iter_ = self.n_passes_ = len(best.bounds)
        self.lower_bound_ = self.log_likelihood_ / total
        if not self.converged_ and self.max_iter > 0:
            _checks.warn(
                "Best performing initialization did not converge. Try different init parameters, or increase max_iter, tol, "
                "or check for degenerate data.",
                ConvergenceWarning,
            )
        return self

    def _take_mixture(self, parts: Any, form: str, rows: Any = None) -> None:
        """Sets the parameters of the mixture, in the precision of the user's rows."""
        self.weights_ = as_given(parts["weights"], rows)
        self.means_ = as_given(parts["means"], rows)
        components, columns = self.means_.shape
        shapes = {_FORMS[name]: shape for name, shape in _em.shapes(components, columns).items()}
        self.covariances_ = as_given(parts["covariances"].reshape(shapes[form]), rows, keeps_small=True)
        self._numbers = parts["numbers"]
        is_rounded = self.means_.dtype != np.float64
        self._weights, self._means = (parts["weights"], parts["means"]) if is_rounded else (None, None)

    def _take_criteria(self, log_likelihood: float, entropy: float, total: float, squared: float) -> None:
        """Sets the criteria of the mixture. ``total`` and ``squared`` are the sums of the weights and of their squares."""
        # Criteria count the effective number of rows, so that only ratios of weights matter.
        unit = squared / total
        self.log_likelihood_ = log_likelihood
        self.bic_ = -2.0 * self.log_likelihood_ / unit + self._n_parameters() * float(np.log(total / unit))
        self.aic_ = -2.0 * self.log_likelihood_ / unit + 2.0 * self._n_parameters()
        self.icl_ = self.bic_ + 2.0 * entropy / unit

    def _exact(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Returns the weights and means in double precision."""
        return (self.weights_, self.means_) if self._weights is None or self._means is None else (self._weights, self._means)

    def _fitted(self) -> tuple[str, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Returns the mixture in the form that the Rust extension takes."""
        return _FORMS[self.covariance_type], *self._exact(), self._numbers

    def _covariances(self) -> NDArray[np.float64]:
        """Returns the covariances in double precision, because a matrix in single precision could become indefinite."""
        return _em.covariances(self.covariance_type, self._numbers, self.covariances_.shape)

    def _take_learnt(self, parts: Any) -> None:
        form = parts["form"]
        self._take_mixture(parts, form)
        self.set_params(
            n_components=len(self.weights_), covariance_type=next(name for name, known in _FORMS.items() if known == form)
        )

    def fit_predict(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> NDArray[np.int32]:
        """Fit the mixture, and return the component of each row.

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
        labels : ndarray of shape (n_samples,), int32

        Examples
        --------
        >>> import lehr
        >>> lehr.DAGaussianMixture(1).fit_predict([[0.0], [2.0]]).tolist()
        [0, 0]
        """
        self.fit(X, y, sample_weight)
        return self.predict(X) if is_partitioned(X) else self.labels_

    def _n_groups(self) -> int:
        return len(self.means_)

    def _away(self, X: Any) -> NDArray[np.float64]:
        # A row with a higher density counts as nearer.
        return -self.score_samples(X)

    def _learnt(self) -> tuple[str, dict[str, Any]]:
        weights, means = self._exact()
        return "mixture", {
            "covariance": _FORMS[self.covariance_type],
            "dimension": self.means_.shape[1],
            "weights": weights.tolist(),
            "means": means.ravel().tolist(),
            "covariances": self._numbers.tolist(),
        }

    def _onnx(self, columns: list[str]) -> Any:
        weights, means = self._exact()
        factors, dimension = self._factors(), means.shape[1]
        if factors.ndim == 1 or self.covariance_type == "diag":
            factors = np.stack([np.diag(np.broadcast_to(factor, dimension)) for factor in factors])
        return _onnx.of_mixture(weights, means, np.broadcast_to(factors, (len(means), dimension, dimension)), self.means_.dtype, columns)

    def _posterior(self, X: ArrayLike, with_memberships: bool = False) -> dict[str, NDArray[Any]]:
        check_is_fitted(self)
        rows = self._validated(X, reset=False)
        threads = _checks.threads(self.n_jobs)
        found: Any = _native.posterior(rows, self._fitted(), threads=threads, with_memberships=with_memberships)
        return {name: as_given(values, rows) if values.dtype.kind == "f" else values for name, values in found.items()}

    def predict(self, X: ArrayLike) -> NDArray[np.int32]:
        """Predict the component of each row: the component with the largest membership.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, in the units of the fitted data, with NaN for missing values.

        Returns
        -------
        labels : ndarray of shape (n_samples,), int32

        Examples
        --------
        >>> import lehr
        >>> lehr.DAGaussianMixture(1).fit([[0.0], [2.0]]).predict([[5.0]]).tolist()
        [0]
        """
        check_is_fitted(self)
        if is_partitioned(X):
            return _partitioned.rows_of(self, X, "predict", Result("cluster", np.int32))
        labels: NDArray[np.int32] = self._posterior(X)["labels"]
        gone = self._without_values(np.asarray(X))
        if gone is not None:
            labels[gone] = -1
        return labels

    def predict_proba(self, X: ArrayLike) -> NDArray[Any]:
        """Return the membership of each row in each component.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, in the units of the fitted data, with NaN for missing values.

        Returns
        -------
        memberships : ndarray of shape (n_samples, n_components)
            The values are float32 if ``X`` is float32. Each row adds up to 1.

        Examples
        --------
        >>> import lehr
        >>> lehr.DAGaussianMixture(1).fit([[0.0], [2.0]]).predict_proba([[5.0]]).tolist()
        [[1.0]]
        """
        check_is_fitted(self)
        if is_partitioned(X):
            return _partitioned.rows_of(self, X, "predict_proba", Result("probabilities", self.means_.dtype, self.n_components_))
        return self._posterior(X, with_memberships=True)["memberships"]

    def score_samples(self, X: ArrayLike) -> NDArray[Any]:
        """Return the log-density of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, in the units of the fitted data, with NaN for missing values.

        Returns
        -------
        log_densities : ndarray of shape (n_samples,)
            The values are float32 if ``X`` is float32.

        Examples
        --------
        >>> import lehr
        >>> model = lehr.DAGaussianMixture(1).fit([[0.0], [2.0]])
        >>> bool(model.score_samples([[1.0]])[0] > model.score_samples([[5.0]])[0])
        True
        """
        check_is_fitted(self)
        if is_partitioned(X):
            return _partitioned.rows_of(self, X, "score_samples", Result("log_density", self.means_.dtype))
        return self._posterior(X)["log_densities"]

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
        >>> model = lehr.DAGaussianMixture(1).fit([[0.0], [2.0]])
        >>> model.score([[1.0]]) > model.score([[5.0]])
        True
        """
        check_is_fitted(self)
        if is_partitioned(X):
            return _partitioned.score(self, X, sample_weight)
        densities = self.score_samples(X)
        return float(np.average(densities, weights=weights(sample_weight, densities)))

    @property
    def n_components_(self) -> int:
        """The number of components."""
        return len(self.weights_)

    @property
    def lower_bounds_(self) -> NDArray[np.float64]:
        """The mean log-likelihood per row before each iteration."""
        return self.ascent_

    @property
    def precisions_cholesky_(self) -> NDArray[Any]:
        """The triangular factors of the precisions."""
        return as_given(self._factors(), self.means_, keeps_small=True)

    @property
    def precisions_(self) -> NDArray[Any]:
        """The inverses of the covariances."""
        factors = self._factors()
        if factors.ndim < 2 or self.covariance_type == "diag":
            return as_given(np.square(factors), self.means_, keeps_small=True)
        return as_given(factors @ np.swapaxes(factors, -1, -2), self.means_, keeps_small=True)

    def _factors(self) -> NDArray[np.float64]:
        """Returns the triangular factors of the precisions, in double precision."""
        covariances = self._covariances()
        if covariances.ndim < 2 or self.covariance_type == "diag":
            return 1.0 / np.sqrt(covariances)
        # If L @ L.T is the covariance, the transposed inverse of L is the factor of the precision.
        lower = np.linalg.cholesky(covariances)
        return np.ascontiguousarray(np.swapaxes(np.linalg.inv(lower), -1, -2))

    def _n_parameters(self) -> int:
        """Returns the number of free parameters: means, covariances, and weights, which add up to 1."""
        components, columns = self.means_.shape
        of_covariances = {
            "full": components * columns * (columns + 1) // 2,
            "tied": columns * (columns + 1) // 2,
            "diag": components * columns,
            "spherical": components,
        }
        return components * columns + of_covariances[self.covariance_type] + components - 1

    def bic(self, X: ArrayLike) -> float:
        """Return the Bayesian information criterion for rows: lower is better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, in the units of the fitted data, with NaN for missing values.

        Returns
        -------
        bic : float
            For the fitted rows without weights, this is ``bic_``.

        Examples
        --------
        >>> import lehr
        >>> X = [[0.0], [1.0], [3.0]]
        >>> model = lehr.DAGaussianMixture(1).fit(X)
        >>> round(model.bic(X) - model.bic_, 6) + 0.0
        0.0
        """
        densities = self.score_samples(X)
        return float(-2.0 * densities.sum() + self._n_parameters() * np.log(len(densities)))

    def aic(self, X: ArrayLike) -> float:
        """Return the Akaike information criterion for rows: lower is better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, in the units of the fitted data, with NaN for missing values.

        Returns
        -------
        aic : float
            For the fitted rows without weights, this is ``aic_``.

        Examples
        --------
        >>> import lehr
        >>> X = [[0.0], [1.0], [3.0]]
        >>> model = lehr.DAGaussianMixture(1).fit(X)
        >>> round(model.aic(X) - model.aic_, 6) + 0.0
        0.0
        """
        return float(-2.0 * self.score_samples(X).sum() + 2.0 * self._n_parameters())

    def sample(self, n_samples: int = 1) -> tuple[NDArray[Any], NDArray[np.int32]]:
        """Draw rows from the mixture.

        ``random_state`` seeds the draw, as in scikit-learn: an int gives the same rows each time; ``None`` and a ``RandomState`` give different rows.

        Parameters
        ----------
        n_samples : int, default=1
            The number of rows, at least 1.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            The drawn rows; float32 if the fitted rows are float32.
        labels : ndarray of shape (n_samples,), int32
            The component of each row.

        Examples
        --------
        >>> import lehr
        >>> X, labels = lehr.DAGaussianMixture(1, random_state=0).fit([[0.0], [2.0]]).sample(3)
        >>> X.shape, labels.tolist()
        ((3, 1), [0, 0, 0])
        """
        check_is_fitted(self)
        rows = _checks.integer("n_samples", n_samples)
        assert rows is not None
        if rows < 1:
            raise ValueError(f"Invalid value for 'n_samples': {rows} . The sampling requires at least one sample.")
        # Without a seed, fits are reproducible, but draws are not: users expect independent samples.
        seed = _checks.fresh_seed() if self.random_state is None else _checks.seed(self.random_state)
        found = _native.sample(rows, seed, self._fitted())
        return as_given(found["data"], self.means_), found["labels"]

    def plot(self, X: ArrayLike, *, ax: Any = None) -> Any:
        """Plot the rows by component, and an ellipse for each component. See :func:`lehr.plot.components`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The fitted rows. Rows with missing values are left out.
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
        >>> X = [[0.0, 1.0], [1.0, 1.5], [2.0, 0.5]]
        >>> lehr.DAGaussianMixture(1, covariance_type="spherical").fit(X).plot(X).get_title()
        '1 components'
        """
        from lehr import plot

        return plot.components(self, X, ax=ax)
