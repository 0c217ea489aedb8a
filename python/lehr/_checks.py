"""Parameters of estimators, checked with scikit-learn's messages.

The library checks ranges, once; here a parameter only gets its type, so that the library gets the value that the user meant.
"""

from __future__ import annotations

import math
import numbers
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
import sklearn.utils
import sklearn.utils.validation
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads

from lehr._native import Fingerprints, Sequences

#: A warning says so where the spreads of columns differ by a larger factor, as the command does.
_MOST_RATIO = 1000.0
#: Rows whose spread is added up at a time.
_BATCH = 1024
#: Rows to fit are refused from here on too, since then squares of distances may be beyond the largest number.
_MOST_VALUE = 1e140
#: The largest seed that a random state is asked for.
_MOST_SEED = 2**31 - 1
#: Packages whose code a warning does not point at: users call them, and they call each other.
_INSIDE = frozenset({"joblib", "lehr", "sklearn"})


def wrong(name: str, expected: str, value: object) -> ValueError:
    """The error for a parameter that has none of the expected values."""
    return ValueError(f"The {name!r} parameter must be {expected}. Got {value!r} instead.")


def integer(name: str, value: Any, *, optional: bool = False, least: int = 0) -> int | None:
    """A whole number that is not negative; ``None`` where that is allowed. ``least`` is the library's limit; the library checks it."""
    if value is None and optional:
        return None
    expected = f"an int of {least} or more" + (" or None" if optional else "")
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


def warn(text: str, kind: type[Warning]) -> None:
    """A warning that points at the line outside of lehr and scikit-learn that the call came from."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _INSIDE:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, kind, stacklevel=level)


def check_array(array: Any, **options: Any) -> NDArray[Any]:
    """scikit-learn's ``check_array``, which also refuses complex numbers while other threads run."""
    array = _with_gaps(_as_numpy(array))
    _refuse_complex(array)
    _refuse_times(array, options.get("input_name") or "X")
    _warn_of_rounding(array, options.get("input_name") or "X")
    checked: NDArray[Any] = sklearn.utils.check_array(array, **options)
    return checked


def validate_data(estimator: Any, X: Any, **options: Any) -> Any:
    """scikit-learn's ``validate_data``, which also refuses complex numbers while other threads run."""
    X = _with_gaps(_as_numpy(X))
    _refuse_complex(X)
    _refuse_times(X, "X")
    if isinstance(X, (Sequences, Fingerprints)):
        raise TypeError(
            f"{type(estimator).__name__} takes rows of numbers or dissimilarities. Got {type(X).__name__}: compute their dissimilarities first, "
            "lehr.pairwise_distances(items), and fit them with metric='precomputed'. For new items, give those to the fitted ones: "
            "lehr.pairwise_distances(new, fitted)."
        )
    try:
        checked = sklearn.utils.validation.validate_data(estimator, X, **options)
    except ValueError as error:
        # Scikit-learn goes on with estimators of its own, which predict a target.
        told, found, _ = str(error).partition(" contains NaN.")
        if not found:
            raise
        if sklearn.utils.get_tags(estimator).input_tags.pairwise:
            raise ValueError(
                f"{told} contains NaN.\n{type(estimator).__name__} does not accept missing dissimilarities. lehr.PairwiseClustering and lehr.SMACOF "
                "do: they leave out a pair without a value. Otherwise leave out the items that have such pairs."
            ) from None
        raise ValueError(
            f"{told} contains NaN.\n{type(estimator).__name__} does not accept missing values. lehr.DAGaussianMixture and lehr.GTM do: "
            "they use the cells that each row has. Otherwise fill them in (sklearn.impute.SimpleImputer) or drop these rows (DataFrame.dropna)."
        ) from None
    if not options.get("reset", True) and not getattr(estimator, "_takes_huge_rows", False):
        # Data to fit are checked by the library, after it has taken the means of the columns off.
        refuse_huge(checked)
    if options.get("reset", True):
        _warn_of_rounding(X, "X")
    return checked


def _with_gaps(array: Any) -> Any:
    """A masked array with NaN in the masked cells: NumPy would restore the values below the mask."""
    if not np.ma.isMaskedArray(array) or not np.ma.getmaskarray(array).any():
        return array
    return np.ma.filled(array.astype(np.float64 if array.dtype.kind in "biu" else array.dtype), np.nan)


def _refuse_times(array: Any, name: str) -> None:
    """Refuses dates and durations, as the file readers do, and arrays of records.

    NumPy would turn dates into whole numbers of whatever unit they are stored in, from nanoseconds to days.
    """
    types = [array.dtype] if hasattr(array, "dtype") else list(getattr(array, "dtypes", ()))
    columns = list(getattr(array, "columns", ()))
    for place, kind in enumerate(types):
        is_temporal = getattr(kind, "is_temporal", None)
        if getattr(kind, "kind", None) in ("M", "m") or (is_temporal is not None and is_temporal()):
            where = f" in column {str(columns[place])!r}" if len(columns) == len(types) else ""
            raise ValueError(
                f"{name} has dates or durations ({kind}){where}: expected numbers. Say in which unit to count them, "
                "for example (dates - dates.min()) / numpy.timedelta64(1, 'D'), or leave them out."
            )
        if getattr(kind, "names", None) and hasattr(array, "dtype"):
            raise ValueError(
                f"{name} is an array of records with the fields {', '.join(kind.names)}: expected rows of numbers. "
                "numpy.lib.recfunctions.structured_to_unstructured makes columns of the fields."
            )


def refuse_huge(rows: Any) -> None:
    """Refuses rows whose squares overflow: each would be infinitely far from everything, so the first centre would count as nearest."""
    data = rows.data if issparse(rows) else rows
    if not isinstance(data, np.ndarray) or data.dtype.kind != "f" or data.dtype.itemsize < 8:
        return
    # One pass in the usual case. NaN is a missing value here.
    flat = data.ravel(order="K")
    with np.errstate(over="ignore", invalid="ignore"):
        if np.dot(flat, flat) < _MOST_VALUE**2:
            return
    cells = rows.tocoo() if issparse(rows) else None
    beyond = np.argwhere(np.abs(rows if cells is None else cells.data) >= _MOST_VALUE)
    if not len(beyond):
        return
    place = tuple(beyond[0])
    row, found = (place[0], rows[place]) if cells is None else (cells.row[place], cells.data[place])
    raise ValueError(
        f"X, row {row} (counted from 0): expected numbers below {_MOST_VALUE:g}, whose squares a number can hold, found {found:g}; "
        "divide the columns by a power of ten, also before fitting"
    )


#: From here on a floating point number may stand for several whole numbers.
_EXACT = 2**53


def _warn_of_rounding(X: Any, name: str) -> None:
    """Warns of whole numbers with more digits than a floating point number has, as readers of files do. Most are identifiers."""
    if hasattr(X, "iloc") and hasattr(X, "items"):
        columns = [(f"the column {column!r} of {name}", values) for column, values in X.items()]
    else:
        columns = [(name, X)]
    for told, values in columns:
        kind = getattr(values, "dtype", None)
        if not isinstance(kind, np.dtype) or kind.kind not in "iu" or kind.itemsize < 8:
            continue
        numbers_of = values.data if issparse(values) else np.asarray(values)
        if not numbers_of.size or -_EXACT <= numbers_of.min() and numbers_of.max() <= _EXACT:
            continue
        large = numbers_of[(numbers_of > _EXACT) | (numbers_of < -_EXACT)]
        rounded = next((number for number in large.tolist() if int(float(number)) != number), None)
        if rounded is not None:
            warn(f"{told} has whole numbers that are rounded to 53 bits, such as {rounded}. If they name the rows, leave them out", UserWarning)


def _as_numpy(X: Any) -> Any:
    """Converts arrays of other libraries to NumPy's, without a copy if they allow it. Results are NumPy arrays.

    Raises
    ------
    TypeError
        For an array that is not in main memory: Lehr computes there, and moves nothing by itself.
    """
    device = getattr(X, "device", None)
    if device is None or isinstance(X, np.ndarray):
        return X
    if "cpu" not in str(getattr(device, "type", device)).lower():
        raise TypeError(
            f"X is an array on the device {str(device)!r}. Lehr computes on the processor: move it there first, "
            "for example by X.cpu().numpy() with PyTorch or X.get() with CuPy."
        )
    try:
        # Not every one has the older way, __array__; and with scikit-learn's dispatch it would stay what it is.
        return np.from_dlpack(X)
    except (AttributeError, BufferError, RuntimeError, TypeError):
        return np.asarray(X)


def _refuse_complex(array: Any) -> None:
    """Refuses complex numbers.

    scikit-learn turns NumPy's warning into an error with ``warnings.catch_warnings``. All threads share those filters: if another thread restores them in
    between, NumPy drops the imaginary parts without a warning.
    """
    types = [array.dtype] if hasattr(array, "dtype") else list(getattr(array, "dtypes", ()))
    if any(getattr(kind, "kind", None) == "c" for kind in types):
        raise ValueError(f"Complex data not supported\n{array}\n")


def seed(random_state: Any) -> int:
    """The seed of a random state: 0 for ``None``, so that a call without a seed gives the same result each time."""
    if random_state is None:
        return 0
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool):
        if random_state < 0:
            raise wrong("random_state", "an int of 0 or more, a RandomState or None", random_state)
        return int(random_state)
    return int(check_random_state(random_state).randint(_MOST_SEED))


def fresh_seed() -> int:
    """A new seed each time, from NumPy's global state: ``numpy.random.seed`` makes them repeatable, as scikit-learn's users expect."""
    return int(check_random_state(None).randint(_MOST_SEED))


def threads(n_jobs: Any) -> int | None:
    """Worker threads of ``n_jobs``: all processors for ``None`` (one in an MPI job), all but one for -2, and so on.

    For ``None`` the least of these counts: ``OMP_NUM_THREADS`` if it is set, as workers of joblib have it; ``joblib.parallel_config(n_jobs=...)``;
    ``threadpoolctl.threadpool_limits(...)``. So grid searches do not start more threads than there are processors.
    """
    if n_jobs is None:
        limits = []
        limit = os.environ.get("OMP_NUM_THREADS", "")
        if limit.isdecimal() and int(limit) > 0:
            limits.append(int(limit))
        configured = joblib.parallel.get_active_backend()[1]
        if configured is not None:
            limits.append(joblib.effective_n_jobs(configured))
        # What threadpoolctl limits is what scikit-learn's own estimators ask.
        allowed = _openmp_effective_n_threads(None, only_physical_cores=False)
        if allowed < joblib.cpu_count():
            limits.append(allowed)
        return min(limits, default=None)
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, numbers.Integral):
        raise TypeError(str(wrong("n_jobs", "None or an int other than 0 (-1: all processors)", n_jobs)))
    count = int(n_jobs)
    if count == 0:
        raise wrong("n_jobs", "None or an int other than 0 (-1: all processors)", n_jobs)
    return count if count > 0 else max(1, joblib.cpu_count() + 1 + count)


def warn_of_dissimilarities(rows: NDArray[Any]) -> None:
    """Warns if rows of numbers look like a matrix of dissimilarities."""
    count, columns = rows.shape
    if not isinstance(rows, np.ndarray):
        return
    if count == columns and count > 2 and not np.diagonal(rows).any() and rows.any() and (rows >= 0).all() and np.array_equal(rows, rows.T):
        warn(
            "X looks like dissimilarities (square, symmetric, 0 on the diagonal) but is read as rows of numbers: say metric='precomputed' if it holds dissimilarities.",
            UserWarning,
        )


def warn_of_scales(estimator: Any, rows: Any) -> None:
    """The command's warning for columns whose spreads differ so much that one of them decides all distances."""
    if not isinstance(rows, np.ndarray) or rows.shape[1] < 2:
        return
    # Batch by batch and about the first row: no copy of the rows is made, and no digits are lost.
    sums, squares = np.zeros(rows.shape[1]), np.zeros(rows.shape[1])
    first, ones, room = rows[0].astype(np.float64), np.ones(_BATCH), np.empty((_BATCH, rows.shape[1]))
    with np.errstate(over="ignore", invalid="ignore"):
        for part in gen_batches(len(rows), _BATCH):
            batch = rows[part]
            moved = np.subtract(batch, first, out=room[: len(batch)])
            # Products with ones take half the time of sums.
            sums += ones[: len(batch)] @ moved
            squares += ones[: len(batch)] @ np.square(moved, out=moved)
        spreads = np.sqrt(np.maximum(squares / len(rows) - np.square(sums / len(rows)), 0.0))
    there = np.flatnonzero((spreads > 0) & np.isfinite(spreads))
    if len(there) < 2:
        return
    least, most = there[spreads[there].argmin()], there[spreads[there].argmax()]
    ratio = spreads[most] / spreads[least]
    if ratio > _MOST_RATIO:
        names = getattr(estimator, "feature_names_in_", [f"x{column}" for column in range(rows.shape[1])])
        warn(
            f"The spread of column {str(names[most])!r} (standard deviation {spreads[most]:.3g}) is {ratio:.3g} times that of {str(names[least])!r} "
            f"({spreads[least]:.3g}): distances see little but {str(names[most])!r}. Scale the columns (sklearn.preprocessing.StandardScaler) "
            "unless their units are the same.",
            UserWarning,
        )
