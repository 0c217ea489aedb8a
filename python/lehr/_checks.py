"""Parameters of estimators, checked in scikit-learn's words.

Ranges are checked by the library, once; here a parameter only gets its type, so that what goes there says what the user meant.
"""

from __future__ import annotations

import math
import numbers
import os
from collections.abc import Sequence
from typing import Any

import joblib
from sklearn.utils import check_random_state

#: The largest seed that a random state is asked for.
_MOST_SEED = 2**31 - 1


def wrong(name: str, expected: str, value: object) -> ValueError:
    """The error for a parameter that is none of what is expected."""
    return ValueError(f"The {name!r} parameter must be {expected}. Got {value!r} instead.")


def integer(name: str, value: Any, *, optional: bool = False) -> int | None:
    """A whole number that is not negative; ``None`` where that is allowed."""
    if value is None and optional:
        return None
    expected = "an int of 0 or more" + (" or None" if optional else "")
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(str(wrong(name, expected, value)))
    if value < 0:
        raise wrong(name, expected, value)
    return int(value)


def real(name: str, value: Any, *, optional: bool = False) -> float | None:
    """A finite number; ``None`` where that is allowed."""
    if value is None and optional:
        return None
    expected = "a finite float" + (" or None" if optional else "")
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(str(wrong(name, expected, value)))
    if not math.isfinite(value):
        raise wrong(name, expected, value)
    return float(value)


def choice(name: str, value: Any, choices: Sequence[str]) -> str:
    """One of some words."""
    if not isinstance(value, str) or value not in choices:
        raise wrong(name, "one of " + ", ".join(map(repr, choices)), value)
    return value


def seed(random_state: Any) -> int:
    """The seed of a random state: 0 for ``None``, so that a call without one gives the same result each time."""
    if random_state is None:
        return 0
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool):
        if random_state < 0:
            raise wrong("random_state", "an int of 0 or more, a RandomState or None", random_state)
        return int(random_state)
    return int(check_random_state(random_state).randint(_MOST_SEED))


def threads(n_jobs: Any) -> int | None:
    """Worker threads of ``n_jobs``: all processors for ``None`` (one in an MPI job), all but one for -2, and so on.

    Inside a worker of joblib ``OMP_NUM_THREADS`` says how many it may use, so that searches over a grid do not start more threads than there are
    processors.
    """
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "")
        if limit.isdecimal() and int(limit) > 0:
            return int(limit)
        return None
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, numbers.Integral):
        raise TypeError(str(wrong("n_jobs", "an int other than 0 or None", n_jobs)))
    count = int(n_jobs)
    if count == 0:
        raise wrong("n_jobs", "an int other than 0 or None", n_jobs)
    return count if count > 0 else max(1, joblib.cpu_count() + 1 + count)
