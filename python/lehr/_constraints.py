"""The allowed parameters of estimators, in the form that scikit-learn checks.

The Rust library declares the same ranges, and ``test_constraints.py`` compares the two declarations.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from os import PathLike
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

#: The largest seed: the library's seeds have 64 bits.
_MOST_SEED = 2**64 - 1


class _Range(Interval):
    """Numbers between bounds. ``True`` does not count as a number, because a user who writes ``True`` means something else."""

    def is_satisfied_by(self, val: Any) -> bool:
        return not isinstance(val, bool) and bool(super().is_satisfied_by(val))


class _Words(StrOptions):
    """Allowed words, which error messages list in the given order."""

    def __init__(self, words: tuple[str, ...]) -> None:
        super().__init__(set(words))
        self.words = words

    def __str__(self) -> str:
        return f"a str among {{{', '.join(map(repr, self.words))}}}"


def whole(least: int, most: int | None = None) -> Interval:
    """Returns the constraint for a whole number from ``least`` to ``most``. If ``most`` is ``None``, there is no upper bound."""
    return _Range(Integral, least, most, closed="left" if most is None else "both")


def number(least: float, most: float) -> Interval:
    """Returns the constraint for a finite number from ``least`` to ``most``. If ``most`` is infinite, there is no upper bound."""
    return _Range(Real, least, most, closed="left" if np.isinf(most) else "both")


def above(least: float) -> Interval:
    """Returns the constraint for a finite number larger than ``least``."""
    return _Range(Real, least, np.inf, closed="neither")


def one_of(*words: str) -> StrOptions:
    """Returns the constraint for one of ``words``."""
    return _Words(words)


#: The allowed values of the parameters for threads, progress and checkpoints.
WATCHED: Mapping[str, list[Any]] = {
    "n_jobs": [_Range(Integral, 1, None, closed="left"), _Range(Integral, None, -1, closed="right"), None],
    "verbose": ["verbose"],
    "callback": [callable, None],
    "checkpoint": [str, PathLike, None],
}
#: The allowed values of ``random_state``.
RANDOM_STATE: list[Any] = [_Range(Integral, 0, _MOST_SEED, closed="both"), np.random.RandomState, None]
COOLING: list[Any] = [number(0.5, 0.999)]


def plain(value: Any) -> Any:
    """Converts a checked parameter to a JSON value."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    return float(value) if isinstance(value, Real) else value


__all__ = ["COOLING", "RANDOM_STATE", "WATCHED", "above", "number", "one_of", "plain", "whole"]
