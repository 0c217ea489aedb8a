"""Fits a Gaussian mixture to a table in partitions.

A mixture of a sample is the beginning. EM then passes over all partitions, which return the moments of their rows. See ``docs/design/partitions.md``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from lehr import _checks, _em
from lehr import _partition_tasks as tasks
from lehr._model import table
from lehr._partition_tasks import Floats, Moments
from lehr._partitioned import SAMPLE, Table, begin, named, teller
from lehr._partitions import Partitions


class Ascent(NamedTuple):
    """The result of EM: the mixture, the objective before each iteration, and the sums for the mixture."""

    mixture: _em.Mixture
    bounds: list[float]
    is_converged: bool
    last: Moments


def fit_mixture(estimator: Any, partitions: Partitions) -> None:
    """Fits ``DAGaussianMixture`` to a table in partitions.

    Raises
    ------
    ValueError
        If the table or a parameter is invalid.
    """
    if estimator._begins_elsewhere():
        raise ValueError(
            f"A table in partitions ({partitions.engine}) takes the default start only: leave init_params, reg_covar, warm_start and starts out, and say "
            "max_iter=1 or more."
        )
    measured = begin(estimator, partitions, estimator.n_components)
    variances = _variances(measured)
    points, weights = _sample(measured, variances, _checks.seed(estimator.random_state))
    inner: Any = clone(estimator).set_params(verbose=0)
    inner.fit(named(points, partitions), sample_weight=weights)
    shares, means = inner._exact()
    mixture = _em.Mixture(estimator.covariance_type, shares, means, inner._covariances())
    ascent = _climb(measured, mixture, estimator.regularization * variances, estimator)
    _take(estimator, measured, ascent, points)
    estimator.candidates_, estimator.n_groups_ = inner.candidates_, inner.n_groups_
    if not estimator.converged_:
        _checks.warn(f"the mixture had not converged after {estimator.n_iter_} iterations: raise max_iter or tol.", ConvergenceWarning)


def _sample(measured: Table, variances: Floats, seed: int) -> tuple[NDArray[Any], Floats]:
    """Draws rows at random. If a column varies, but not in these rows, adds the row that differs most in this column."""
    points, weights = measured.drawn(SAMPLE, seed)
    same = np.flatnonzero((points == points[0]).all(axis=0) & (variances > 0))
    if len(same):
        parts = measured.partitions.each(tasks.extremes, same, points[0, same].astype(np.float64))
        chosen = [max((part[place] for part in parts), key=lambda found: found[0]) for place in range(len(same))]
        points = np.concatenate([points, [row for _, row, _ in chosen]])
        weights = np.concatenate([weights, [weight for _, _, weight in chosen]])
    return points, weights


def _variances(measured: Table) -> Floats:
    """Returns the variance of each column."""
    columns = measured.columns
    whole = _em.Mixture("diag", np.ones(1), np.zeros((1, columns)), np.ones((1, columns)))
    # The first pass finds the means, so that the second pass cancels no digits.
    for _ in range(2):
        sums = _together(measured, whole)
        shift = sums.firsts / sums.masses[:, None]
        whole = _em.Mixture("diag", np.ones(1), whole.means + shift, whole.covariances)
    found: Floats = (sums.seconds / sums.masses[:, None] - np.square(shift))[0]
    return np.maximum(found, 0.0)


def _together(measured: Table, mixture: _em.Mixture) -> Moments:
    parts = measured.partitions.each(tasks.moments, mixture)
    # Arrays that come from another process may be read-only.
    masses, firsts, seconds = (np.array(values) for values in parts[0][:3])
    for part in parts[1:]:
        masses += part.masses
        firsts += part.firsts
        seconds += part.seconds
    return Moments(masses, firsts, seconds, float(sum(part.log_likelihood for part in parts)), float(sum(part.entropy for part in parts)))


def _maximised(mixture: _em.Mixture, sums: Moments, floor: Floats) -> _em.Mixture:
    """Returns the mixture that the sums give (the M step). ``floor`` is added to the variance of each column."""
    masses = sums.masses + 10 * np.finfo(np.float64).eps
    shift = sums.firsts / masses[:, None]
    if mixture.form == "full":
        covariances = sums.seconds / masses[:, None, None] - shift[:, :, None] * shift[:, None, :] + np.diag(floor)
    elif mixture.form == "tied":
        covariances = (sums.seconds - (masses[:, None] * shift).T @ shift) / masses.sum() + np.diag(floor)
    else:
        covariances = np.maximum(sums.seconds / masses[:, None] - np.square(shift), 0.0) + floor
        if mixture.form == "spherical":
            covariances = covariances.mean(axis=1)
    return _em.Mixture(mixture.form, masses / masses.sum(), mixture.means + shift, covariances)


def _left_to_gain(bounds: list[float]) -> float:
    """Estimates by Aitken's method how much an ascent can still gain; infinity while this is unknown."""
    if len(bounds) < 3:
        return np.inf
    first, second = bounds[-2] - bounds[-3], bounds[-1] - bounds[-2]
    if second <= 4 * np.finfo(np.float64).eps * max(1.0, abs(bounds[-1])):
        return 0.0
    ratio = second / first if first > 0 else np.inf
    return second * ratio / (1 - ratio) if ratio < 1 else np.inf


def _climb(measured: Table, mixture: _em.Mixture, floor: Floats, estimator: Any) -> Ascent:
    """Runs EM until the mean log-likelihood per row can gain no more than ``tol``."""
    bounds: list[float] = []
    tell = teller(estimator, "mean log-likelihood")
    total = sum(measure.weight for measure in measured.measures)
    sums = _together(measured, mixture)
    for _ in range(int(estimator.max_iter)):
        bounds.append(sums.log_likelihood / total)
        tell(len(bounds), bounds[-1])
        if _left_to_gain(bounds) <= estimator.tol:
            return Ascent(mixture, bounds, True, sums)
        mixture = _maximised(mixture, sums, floor)
        sums = _together(measured, mixture)
    return Ascent(mixture, bounds, False, sums)


def _take(estimator: Any, measured: Table, ascent: Ascent, points: Any) -> None:
    """Sets the mixture and its criteria."""
    mixture, total = ascent.mixture.in_order(), sum(measure.weight for measure in measured.measures)
    form = _em.FORMS[mixture.form]
    parts = {"weights": mixture.weights, "means": mixture.means, "covariances": mixture.covariances, "numbers": mixture.numbers()}
    estimator._take_mixture(parts, form, points)
    squared = sum(measure.squared_weight for measure in measured.measures)
    estimator._take_criteria(ascent.last.log_likelihood, ascent.last.entropy, total, squared)
    estimator.ascent_ = np.array(ascent.bounds)
    estimator.history_ = table({"log_likelihood": estimator.ascent_})
    estimator.free_energy_ = -estimator.log_likelihood_
    estimator.converged_ = ascent.is_converged
    estimator.n_iter_ = estimator.n_passes_ = len(ascent.bounds)
    estimator.lower_bound_ = estimator.log_likelihood_ / total
