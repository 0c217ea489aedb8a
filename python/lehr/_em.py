"""Gaussian mixtures fitted by EM as in scikit-learn, from initial values that are given, drawn at random, or taken from clusters.

The Rust extension computes memberships (the E step); this module computes parameters (the M step).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import kmeans_plusplus

from lehr import _native
from lehr.cluster import DAClustering
from lehr.kmeans import KMeans

_Floats = NDArray[np.float64]

#: The ways to initialise memberships.
STARTS = ("annealed", "kmeans", "k-means++", "random", "random_from_data")
#: The covariance types, by their names in the Rust extension.
FORMS = {"full": "full", "tied": "tied", "diag": "diagonal", "spherical": "spherical"}
_COLLAPSED = (
    "Fitting the mixture model failed because some components have ill-defined empirical covariance "
    "(for instance caused by singleton or collapsed samples). Try to decrease the number of components, increase reg_covar, or scale the input data."
)


@dataclass
class Mixture:
    """The parameters of a mixture."""

    form: str
    weights: _Floats
    means: _Floats
    covariances: _Floats

    def numbers(self) -> _Floats:
        """Returns the covariances as the Rust extension stores them: for matrices, the lower triangle row by row."""
        if self.form in ("full", "tied"):
            lower = np.tril_indices(self.means.shape[1])
            return np.ascontiguousarray(self.covariances[..., lower[0], lower[1]]).ravel()
        return self.covariances.ravel()

    def posterior(self, X: Any, threads: int | None = None) -> Any:
        """Computes the memberships, labels and log-densities of rows. ``None`` means all processors."""
        numbers = self.numbers()
        # A variance that is 0 or not finite gives no density.
        variances = self.covariances
        if self.form in ("full", "tied"):
            variances = np.diagonal(variances, axis1=-2, axis2=-1)
        if not np.isfinite(numbers).all() or np.any(variances <= 0):
            raise ValueError(_COLLAPSED)
        try:
            return _native.posterior(X, (FORMS[self.form], self.weights, self.means, numbers), threads=threads)
        except ValueError:
            raise ValueError(_COLLAPSED) from None

    def in_order(self) -> Mixture:
        """Returns the mixture with its components sorted by decreasing weight."""
        order = np.argsort(-self.weights, kind="stable")
        covariances = self.covariances if self.form == "tied" else self.covariances[order]
        return Mixture(self.form, self.weights[order], self.means[order], covariances)


@dataclass
class Climbed:
    """The mixture at the end of EM, and the mean log-likelihood per row before each iteration."""

    mixture: Mixture
    bounds: list[float]
    is_converged: bool


def maximised(X: _Floats, memberships: _Floats, form: str, floor: _Floats) -> Mixture:
    """Returns the maximum-likelihood parameters. The memberships are already multiplied by the weights of rows.

    ``floor`` is added to the variance of each column.
    """
    within = memberships.sum(axis=0) + 10 * np.finfo(np.float64).eps
    means = memberships.T @ X / within[:, None]
    columns = X.shape[1]
    if form in ("full", "tied"):
        scatters = np.zeros((columns, columns)) if form == "tied" else np.empty((len(within), columns, columns))
        for k, mean in enumerate(means):
            away = X - mean
            scatter = (memberships[:, k, None] * away).T @ away
            if form == "tied":
                scatters += scatter
            else:
                scatters[k] = scatter / within[k]
        covariances = scatters / within.sum() if form == "tied" else scatters
        covariances = covariances + np.diag(floor)
    else:
        scatters = np.stack([memberships[:, k] @ np.square(X - mean) for k, mean in enumerate(means)])
        covariances = scatters / within[:, None] + floor
        if form == "spherical":
            covariances = covariances.mean(axis=1)
    return Mixture(form, within / within.sum(), means, covariances)


def memberships_of(
    X: _Floats, row_weights: _Floats | None, components: int, init: str, random: np.random.RandomState
) -> _Floats:
    """Returns the initial memberships of rows in components, by the method ``init``."""
    count = len(X)
    if init == "random":
        drawn: _Floats = random.uniform(size=(count, components))
        return drawn / drawn.sum(axis=1, keepdims=True)
    memberships = np.zeros((count, components))
    if init in ("annealed", "kmeans"):
        seed = int(random.randint(2**31 - 1))
        model: Any = KMeans(components, n_init=1, random_state=seed)
        if init == "annealed":
            model = DAClustering(components, random_state=seed)
        memberships[np.arange(count), model.fit(X, sample_weight=row_weights).labels_] = 1.0
        return memberships
    if init == "k-means++":
        shares = np.ones(count) if row_weights is None else row_weights
        rows = kmeans_plusplus(X, components, sample_weight=shares, random_state=random)[1]
    else:
        chances = None if row_weights is None else row_weights / row_weights.sum()
        rows = random.choice(count, size=components, replace=False, p=chances)
    memberships[rows, np.arange(components)] = 1.0
    return memberships


def climbed(
    X: Any,
    row_weights: _Floats | None,
    mixture: Mixture,
    floor: _Floats,
    *,
    tol: float,
    max_iter: int,
    bound: float,
) -> Climbed:
    """Runs EM from a mixture until the mean log-likelihood per row changes by less than ``tol``, at most ``max_iter`` iterations.

    ``bound`` is the mean log-likelihood of the previous iteration.
    """
    rows = X.astype(np.float64, copy=False)
    bounds: list[float] = []
    for _ in range(max_iter):
        found = mixture.posterior(X)
        bounds.append(float(np.average(found["log_densities"], weights=row_weights)))
        memberships = found["memberships"] if row_weights is None else found["memberships"] * row_weights[:, None]
        mixture = maximised(rows, memberships, mixture.form, floor)
        if abs(bounds[-1] - bound) < tol:
            return Climbed(mixture, bounds, True)
        bound = bounds[-1]
    return Climbed(mixture, bounds, False)


def shapes(components: int, columns: int) -> dict[str, tuple[int, ...]]:
    """Returns the shape of covariances and precisions for each covariance type."""
    return {
        "full": (components, columns, columns),
        "tied": (columns, columns),
        "diag": (components, columns),
        "spherical": (components,),
    }


def covariances(form: str, numbers: _Floats, shape: tuple[int, ...]) -> _Floats:
    """Converts the numbers of the Rust extension to covariances. For matrices, these numbers are the lower triangle."""
    if form not in ("full", "tied"):
        return numbers.reshape(shape)
    lower = np.tril_indices(shape[-1])
    matrices = np.zeros(shape)
    matrices[..., lower[0], lower[1]] = numbers.reshape(*shape[:-2], -1)
    return matrices + np.swapaxes(np.tril(matrices, -1), -1, -2)


def checked_weights(weights: Any, components: int) -> _Floats:
    """Returns the weights if they are valid. Otherwise raises scikit-learn's error."""
    share = 1e-6 if getattr(weights, "dtype", None) == np.float32 else 1e-8
    given = np.asarray(weights, dtype=np.float64)
    if given.shape != (components,):
        raise ValueError(f"The parameter 'weights' should have the shape of ({components},), but got {given.shape}")
    if np.any(given < 0) or np.any(given > 1):
        raise ValueError(
            # Scikit-learn's message swaps the two values. Its own tests compare the message, so Lehr keeps the mistake.
            "The parameter 'weights' should be in the range [0, 1], "
            f"but got max value {given.min():.5f}, min value {given.max():.5f}"
        )
    if not abs(1.0 - given.sum()) <= share:
        raise ValueError(f"The parameter 'weights' should be normalized, but got sum(weights) = {given.sum():.5f}")
    return given / given.sum()


def checked_means(means: Any, components: int, columns: int) -> _Floats:
    """Returns the means if their shape is valid. Otherwise raises scikit-learn's error."""
    given = np.asarray(means, dtype=np.float64)
    if given.shape != (components, columns):
        wanted = (components, columns)
        raise ValueError(f"The parameter 'means' should have the shape of {wanted}, but got {given.shape}")
    return given


def covariances_of(precisions: Any, form: str, components: int, columns: int) -> _Floats:
    """Returns the covariances that correspond to these precisions."""
    given = np.asarray(precisions, dtype=np.float64)
    shape = shapes(components, columns)[form]
    if given.shape != shape:
        raise ValueError(f"The parameter '{form} precision' should have the shape of {shape}, but got {given.shape}")
    if form in ("full", "tied"):
        is_symmetric = np.allclose(given, np.swapaxes(given, -1, -2))
        if not is_symmetric or np.any(np.linalg.eigvalsh(given) <= 0):
            raise ValueError(f"'{form} precision' should be symmetric, positive-definite")
        return np.asarray(np.linalg.inv(given), dtype=np.float64)
    if np.any(given <= 0):
        raise ValueError(f"'{form} precision' should be positive")
    return 1.0 / given
