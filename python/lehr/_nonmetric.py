"""Non-metric multidimensional scaling: the distances in the map should have the same order as the dissimilarities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform
from sklearn.isotonic import IsotonicRegression

_Floats = NDArray[np.float64]


@dataclass
class Map:
    """A map, the disparities that it was fitted to, and its stress after each iteration."""

    positions: _Floats
    disparities: _Floats
    #: Stress-1 before the first iteration and after each iteration.
    stresses: list[float]
    is_converged: bool

    @property
    def stress(self) -> float:
        """Returns stress-1 after the last iteration."""
        return self.stresses[-1]


def embedded(
    dissimilarities: _Floats, positions: _Floats, weights: _Floats | None, *, max_iter: int, tol: float
) -> Map:
    """Fits a map by Kruskal's non-metric scaling with majorisation.

    Each iteration computes disparities by isotonic regression of the distances, and takes a Guttman step towards them. Iterations end when stress-1 falls by
    less than ``tol``, or after ``max_iter`` iterations. A weight of 3 has the same effect as three items at one position, except on the order of
    dissimilarities that are 0.
    """
    shares = np.ones(len(positions)) if weights is None else weights
    first, second = np.triu_indices(len(positions), 1)
    pairs = shares[first] * shares[second]
    positions = positions - np.average(positions, axis=0, weights=shares)
    distances, disparities = _disparities(dissimilarities, positions, pairs)
    stresses = [_stress(distances, disparities, pairs)]
    for _ in range(max_iter):
        positions = _stepped(positions, distances, disparities, shares)
        distances, disparities = _disparities(dissimilarities, positions, pairs)
        stresses.append(_stress(distances, disparities, pairs))
        if stresses[-2] - stresses[-1] < tol:
            return Map(positions, disparities, stresses, True)
    return Map(positions, disparities, stresses, False)


def _disparities(dissimilarities: _Floats, positions: _Floats, pairs: _Floats) -> tuple[_Floats, _Floats]:
    """Returns the distances in a map, and their disparities: the closest numbers in the order of the dissimilarities, scaled to mean square 1."""
    distances = pdist(positions)
    order = IsotonicRegression(out_of_bounds="clip")
    fitted = order.fit_transform(dissimilarities, distances, sample_weight=pairs)
    # The fixed scale keeps the map from shrinking until all disparities are 0.
    size = float(np.average(np.square(fitted), weights=pairs))
    return distances, fitted / np.sqrt(size) if size > 0 else fitted


def _stress(distances: _Floats, disparities: _Floats, pairs: _Floats) -> float:
    """Returns Kruskal's stress-1 of the map at the scale that minimises it."""
    squares, targets = float(pairs @ np.square(distances)), float(pairs @ np.square(disparities))
    if squares == 0.0 or targets == 0.0:
        return 0.0 if squares == targets else 1.0
    product = float((pairs * distances) @ disparities)
    return float(np.sqrt(max(0.0, 1.0 - product * product / (squares * targets))))


def _stepped(positions: _Floats, distances: _Floats, disparities: _Floats, shares: _Floats) -> _Floats:
    """Returns the positions after one Guttman transform."""
    ratios = squareform(np.divide(disparities, distances, out=np.zeros_like(distances), where=distances > 0)) * shares
    stepped: _Floats = (ratios.sum(axis=1)[:, None] * positions - ratios @ positions) / shares.sum()
    return stepped
