"""Non-metric scaling: of dissimilarities only the order counts, which distances in the map are to keep."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform
from sklearn.isotonic import IsotonicRegression

_Floats = NDArray[np.float64]


@dataclass
class Map:
    """A map, the disparities that it was fitted to, and how it came there."""

    positions: _Floats
    disparities: _Floats
    #: Stress-1 before the first iteration and after each.
    stresses: list[float]
    is_converged: bool

    @property
    def stress(self) -> float:
        """Stress-1 at the end."""
        return self.stresses[-1]


def embedded(dissimilarities: _Floats, positions: _Floats, *, max_iter: int, tol: float) -> Map:
    """Kruskal's scaling by majorisation: disparities by isotonic regression of the distances, then a step of Guttman's towards them, and again.

    Ends where stress-1 falls by less than ``tol``.
    """
    order = IsotonicRegression()
    positions = positions - positions.mean(axis=0)
    distances, disparities = _disparities(order, dissimilarities, positions)
    stresses = [_stress(distances, disparities)]
    for _ in range(max_iter):
        positions = _stepped(positions, distances, disparities)
        distances, disparities = _disparities(order, dissimilarities, positions)
        stresses.append(_stress(distances, disparities))
        if stresses[-2] - stresses[-1] < tol:
            return Map(positions, disparities, stresses, True)
    return Map(positions, disparities, stresses, False)


def _disparities(order: IsotonicRegression, dissimilarities: _Floats, positions: _Floats) -> tuple[_Floats, _Floats]:
    """The distances of a map whose mean squared distance is 1, and the nearest numbers to them in the order of the dissimilarities."""
    distances = pdist(positions)
    fitted = order.fit_transform(dissimilarities, distances)
    # Of one size, so that the map doesn't shrink towards disparities that all are 0.
    size = np.sqrt(np.square(fitted).sum())
    return distances, fitted * (np.sqrt(len(fitted)) / size) if size > 0 else fitted


def _stress(distances: _Floats, disparities: _Floats) -> float:
    """Kruskal's stress-1 of the map that is scaled for the best."""
    squares = float(np.square(distances).sum())
    if squares == 0.0:
        return 0.0
    product, target = float(distances @ disparities), float(np.square(disparities).sum())
    return float(np.sqrt(max(0.0, 1.0 - product * product / (squares * target)))) if target > 0 else 1.0


def _stepped(positions: _Floats, distances: _Floats, disparities: _Floats) -> _Floats:
    """Guttman's transform."""
    ratios = squareform(np.divide(disparities, distances, out=np.zeros_like(distances), where=distances > 0))
    return (ratios.sum(axis=1)[:, None] * positions - ratios @ positions) / len(positions)
