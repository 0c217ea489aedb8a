"""Checks the parameters and the data of estimators, with the messages of scikit-learn.

The Rust library checks the ranges of parameters. This module checks their types, so that the library receives the value that the user meant.
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

from lehr import _cells
from lehr._native import Fingerprints, Sequences

#: Lehr warns if the spreads of columns differ by more than this factor, as the command does.
_MOST_RATIO = 1000.0
#: The number of rows that are added up at a time.
_BATCH = 1024
#: Larger values are refused, because the squares of distances could overflow.
MOST_VALUE = 1e140
#: The upper bound of the seeds that are drawn from a random state.
_MOST_SEED = 2**31 - 1
#: A warning never points at code of these packages, but at the line of the user's code that called them.
_INSIDE = frozenset({"joblib", "lehr", "sklearn"})


def wrong(name: str, expected: str, value: object) -> ValueError:
    """Returns the error for a parameter with an invalid value."""
    return ValueError(f"The {name!r} parameter must be {expected}. Got {value!r} instead.")


def integer(name: str, value: Any, *, optional: bool = False, least: int = 0) -> int | None:
    """Checks that a parameter is a whole number of 0 or more, or ``None`` if this is allowed. ``least`` appears only in the message: the library checks it."""
    if value is None and optional:
        return None
    expected = f"an int of {least} or more" + (" or None" if optional else "")
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(str(wrong(name, expected, value)))
    if value < 0:
        raise wrong(name, expected, value)
    return int(value)


def real(name: str, value: Any, *, optional: bool = False) -> float | None:
    """Checks that a parameter is a finite number, or ``None`` if this is allowed."""
    if value is None and optional:
        return None
    expected = "a finite float" + (" or None" if optional else "")
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(str(wrong(name, expected, value)))
    if not math.isfinite(value):
        raise wrong(name, expected, value)
    return float(value)


def choice(name: str, value: Any, choices: Sequence[str]) -> str:
    """Checks that a parameter is one of ``choices``."""
    if not isinstance(value, str) or value not in choices:
        raise wrong(name, "one of " + ", ".join(map(repr, choices)), value)
    return value


def warn(text: str, kind: type[Warning]) -> None:
    """Issues a warning that points at the line outside lehr, scikit-learn and joblib that led to the call."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _INSIDE:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, kind, stacklevel=level)


def check_array(array: Any, **options: Any) -> NDArray[Any]:
    """Calls scikit-learn's ``check_array`` after Lehr's own checks for complex numbers, dates and rounded numbers."""
    array = _with_gaps(_as_numpy(array))
    _refuse_complex(array)
    _refuse_times(array, options.get("input_name") or "X")
    _warn_of_rounding(array, options.get("input_name") or "X")
    checked: NDArray[Any] = sklearn.utils.check_array(array, **options)
    return checked


def validate_data(estimator: Any, X: Any, **options: Any) -> Any:
    """Calls scikit-learn's ``validate_data`` after Lehr's own checks, which give clearer errors for missing values and huge numbers."""
    X = _with_gaps(_as_numpy(X))
    _refuse_complex(X)
    _refuse_times(X, "X")
    if isinstance(X, (Sequences, Fingerprints)):
        raise TypeError(
            f"{type(estimator).__name__} takes rows of numbers or dissimilarities. Got {type(X).__name__}: compute their dissimilarities first, "
            "lehr.pairwise_distances(items), and fit them with metric='precomputed'. For new items, give those to the fitted ones: "
            "lehr.pairwise_distances(new, fitted)."
        )
    twice = _cells.repeated_names(X)
    if twice is not None:
        raise ValueError(twice)
    if len(getattr(X, "columns", ("X",))) == 0:
        raise ValueError(f"Found array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required: the data frame has no columns.")
    try:
        checked = sklearn.utils.validation.validate_data(estimator, X, **options)
    except TypeError as error:
        where = _cells.with_times(X) or _cells.with_object(X) if "must be a string or a real number" in str(error) else None
        if where is None:
            raise
        raise TypeError(f"{error}\n{where}") from None
    except ValueError as error:
        # Scikit-learn's message also recommends its own estimators, which predict a target.
        told, found, _ = str(error).partition(" contains NaN.")
        if not found:
            where = _where(X, str(error))
            if where is None:
                raise
            raise ValueError(f"{error}\n{where}") from None
        if sklearn.utils.get_tags(estimator).input_tags.pairwise:
            raise ValueError(
                f"{told} contains NaN.\n{type(estimator).__name__} does not accept missing dissimilarities. lehr.PairwiseClustering and lehr.SMACOF "
                "do: they leave out a pair without a value. Otherwise leave out the items that have such pairs."
            ) from None
        where = _cells.with_gaps(X)
        raise ValueError(
            f"{told} contains NaN.{'' if where is None else f' {where}'}\n{type(estimator).__name__} does not accept missing values. "
            "lehr.TablePreparation(missing='nearest') fills them in, and DataFrame.dropna drops these rows. lehr.DAGaussianMixture and lehr.GTM accept them: "
            "they use the cells that each row has."
        ) from None
    if not options.get("reset", True) and not getattr(estimator, "_takes_huge_rows", False):
        # In data to fit, the library checks the values itself, after it has subtracted the means of the columns.
        refuse_huge(checked)
    if options.get("reset", True):
        # The columns of a table in partitions, to which the estimator was fitted before.
        estimator.__dict__.pop("_table_columns", None)
        _warn_of_rounding(X, "X")
    return checked


def _where(X: Any, error: str) -> str | None:
    """Returns sentences about the cell that caused scikit-learn's error, with what to do; ``None`` if the cell is not known."""
    if error.startswith("could not convert string to float"):
        return _cells.with_text(X)
    if error.startswith("setting an array element with a sequence"):
        return _cells.with_object(X)
    return _cells.with_infinity(X) if "contains infinity" in error else None


def _with_gaps(array: Any) -> Any:
    """Converts a masked array to an array with NaN in the masked cells, because NumPy would otherwise use the values below the mask."""
    if not np.ma.isMaskedArray(array) or not np.ma.getmaskarray(array).any():
        return array
    return np.ma.filled(array.astype(np.float64 if array.dtype.kind in "biu" else array.dtype), np.nan)


def _refuse_times(array: Any, name: str) -> None:
    """Refuses dates and durations, and arrays of records.

    NumPy would turn dates into whole numbers in the unit in which they are stored, from nanoseconds to days.
    """
    types = [array.dtype] if hasattr(array, "dtype") else list(getattr(array, "dtypes", ()))
    columns = list(getattr(array, "columns", ()))
    for place, kind in enumerate(types):
        is_temporal = getattr(kind, "is_temporal", None)
        if getattr(kind, "kind", None) in ("M", "m") or (is_temporal is not None and is_temporal()):
            told = _cells.with_times(array) if name == "X" else None
            if told is not None:
                raise ValueError(told)
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
    """Refuses rows whose squares overflow. The distance of such a row to every centre would be infinite, so the first centre would count as the nearest."""
    data = rows.data if issparse(rows) else rows
    if not isinstance(data, np.ndarray) or data.dtype.kind != "f" or data.dtype.itemsize < 8:
        return
    # In the usual case, one pass is enough. NaN is a missing value here.
    flat = data.ravel(order="K")
    with np.errstate(over="ignore", invalid="ignore"):
        if np.dot(flat, flat) < MOST_VALUE**2:
            return
    cells = rows.tocoo() if issparse(rows) else None
    beyond = np.argwhere(np.abs(rows if cells is None else cells.data) >= MOST_VALUE)
    if not len(beyond):
        return
    place = tuple(beyond[0])
    row, found = (place[0], rows[place]) if cells is None else (cells.row[place], cells.data[place])
    raise ValueError(
        f"X, row {row} (counted from 0): expected numbers below {MOST_VALUE:g}, whose squares a number can hold, found {found:g}; "
        "divide the columns by a power of ten, also before fitting"
    )


#: Above this number, several whole numbers may have the same floating-point representation.
_EXACT = 2**53


def _warn_of_rounding(X: Any, name: str) -> None:
    """Warns, as the file readers do, if whole numbers have more digits than a floating-point number can hold. Most such numbers are identifiers."""
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
    """Converts arrays of other libraries to NumPy arrays, and streams of Arrow to Arrow tables, without a copy if the other library allows this.

    Raises
    ------
    TypeError
        If the array is not in main memory. Lehr computes in main memory, and does not move data from other devices.
    """
    device = getattr(X, "device", None)
    if isinstance(X, np.ndarray):
        return X
    if device is None:
        return of_arrow(X)
    if "cpu" not in str(getattr(device, "type", device)).lower():
        raise TypeError(
            f"X is an array on the device {str(device)!r}. Lehr computes on the processor: move it there first, "
            "for example by X.cpu().numpy() with PyTorch or X.get() with CuPy."
        )
    try:
        # Some libraries lack the older __array__, and scikit-learn's array dispatch would not convert their arrays.
        return np.from_dlpack(X)
    except (AttributeError, BufferError, RuntimeError, TypeError):
        return np.asarray(X)


def of_arrow(table: Any) -> Any:
    """Converts a batch of Arrow, or a stream of batches, to an Arrow table; returns other objects as they are.

    The results of DuckDB and the readers of batches of ADBC are such streams. A stream can be read once.
    """
    is_stream = hasattr(table, "__arrow_c_stream__") and not hasattr(table, "__array__")
    is_batch = hasattr(table, "__arrow_c_array__") and hasattr(table, "column_names")
    if not is_stream and not is_batch:
        return table
    import pyarrow

    return pyarrow.table(table)


def _refuse_complex(array: Any) -> None:
    """Refuses complex numbers.

    scikit-learn turns NumPy's warning into an error with ``warnings.catch_warnings``. All threads share these warning filters: if another thread restores them
    in between, NumPy drops the imaginary parts without an error.
    """
    types = [array.dtype] if hasattr(array, "dtype") else list(getattr(array, "dtypes", ()))
    if any(getattr(kind, "kind", None) == "c" for kind in types):
        raise ValueError(f"Complex data not supported\n{_cells.with_complex(array) or array}\n")


def seed(random_state: Any) -> int:
    """Returns the seed for ``random_state``: 0 for ``None``, so that a call without a seed gives the same result each time."""
    if random_state is None:
        return 0
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool):
        if random_state < 0:
            raise wrong("random_state", "an int of 0 or more, a RandomState or None", random_state)
        return int(random_state)
    return int(check_random_state(random_state).randint(_MOST_SEED))


def fresh_seed() -> int:
    """Draws a new seed from NumPy's global state, so that ``numpy.random.seed`` makes it reproducible, as in scikit-learn."""
    return int(check_random_state(None).randint(_MOST_SEED))


def threads(n_jobs: Any) -> int | None:
    """Returns the number of worker threads for ``n_jobs``: all processors for ``None`` (one in an MPI job), all but one for -2, and so on.

    For ``None``, the smallest of these limits applies: ``OMP_NUM_THREADS``, which joblib sets in its workers; ``joblib.parallel_config(n_jobs=...)``;
    ``threadpoolctl.threadpool_limits(...)``. So a grid search does not start more threads than there are processors.
    """
    if n_jobs is None:
        limits = []
        limit = os.environ.get("OMP_NUM_THREADS", "")
        if limit.isdecimal() and int(limit) > 0:
            limits.append(int(limit))
        configured = joblib.parallel.get_active_backend()[1]
        if configured is not None:
            limits.append(joblib.effective_n_jobs(configured))
        # Reads the limit of threadpoolctl in the same way as scikit-learn's own estimators.
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


def warn_of_scales(names: Any, rows: Any) -> None:
    """Warns, as the command does, if the spread of one column is so much larger than that of another that it decides all distances."""
    if not isinstance(rows, np.ndarray) or rows.ndim != 2 or rows.shape[1] < 2:
        return
    spreads = _spreads(rows)
    there = np.flatnonzero((spreads > 0) & np.isfinite(spreads))
    if len(there) < 2:
        return
    least, most = there[spreads[there].argmin()], there[spreads[there].argmax()]
    ratio = spreads[most] / spreads[least]
    if ratio > _MOST_RATIO:
        names = [f"x{column}" for column in range(rows.shape[1])] if names is None else names
        warn(
            f"The spread of column {str(names[most])!r} (standard deviation {spreads[most]:.3g}) is {ratio:.3g} times that of {str(names[least])!r} "
            f"({spreads[least]:.3g}): distances see little but {str(names[most])!r}. Scale the columns (sklearn.preprocessing.StandardScaler) "
            "unless their units are the same.",
            UserWarning,
        )


def _spreads(rows: NDArray[Any]) -> NDArray[np.float64]:
    """Returns the standard deviation of each column, of the values that are there."""
    # Adding up in batches avoids a copy of the rows. Subtracting the first row avoids a loss of precision.
    sums, squares = np.zeros(rows.shape[1]), np.zeros(rows.shape[1])
    first, ones, room = rows[0].astype(np.float64), np.ones(_BATCH), np.empty((_BATCH, rows.shape[1]))
    with np.errstate(over="ignore", invalid="ignore"):
        for part in gen_batches(len(rows), _BATCH):
            batch = rows[part]
            moved = np.subtract(batch, first, out=room[: len(batch)])
            # A product with ones takes half the time of numpy.sum.
            sums += ones[: len(batch)] @ moved
            squares += ones[: len(batch)] @ np.square(moved, out=moved)
        spreads: NDArray[np.float64] = np.sqrt(np.maximum(squares / len(rows) - np.square(sums / len(rows)), 0.0))
        for column in np.flatnonzero(np.isnan(spreads)):
            there = rows[:, column][~np.isnan(rows[:, column])]
            spreads[column] = there.std(dtype=np.float64) if len(there) else 0.0
    return spreads
