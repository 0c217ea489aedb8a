"""Computations on one partition of a table. Dask, Ray and Spark run them where the partition is, and return their small results.

Each task takes the rows of a partition, their weights or ``None``, and the number of the partition. A task has no side effects, so an engine may repeat it after it
has lost a worker.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lehr import _checks, _native

if TYPE_CHECKING:
    from lehr._em import Mixture

Floats: TypeAlias = NDArray[np.float64]
Task: TypeAlias = Callable[..., Any]

#: The number of rows whose differences from their centres are in memory together.
_BATCH = 1 << 16
#: The number of faults that each partition describes.
MOST_FAULTS = 10


class Fault(NamedTuple):
    """A cell that is no finite number, or a weight that is not 0 or more."""

    partition: int
    #: The row in its partition, counted from 0.
    row: int
    #: The number of the column; -1 for the weight.
    column: int
    found: float


class Measure(NamedTuple):
    """The size of a partition, and its faults."""

    rows: int
    #: The number of rows with a weight above 0.
    weighted: int
    columns: int
    weight: float
    #: The sum of the squared weights.
    squared_weight: float
    is_single: bool
    faults: list[Fault]
    n_faults: int


class Sums(NamedTuple):
    """The sums of a partition's rows, one for each centre."""

    counts: NDArray[np.int64]
    #: The numbers of rows of positive weight.
    weighted: NDArray[np.int64]
    weights: Floats
    #: The sums of weight times the difference of a row from its centre.
    moves: Floats
    #: The sums of weight times squared distance from the centre.
    squares: Floats
    #: A hash of the rows' labels.
    labels: bytes


def numbers_of(block: Any, names: list[str] | None) -> NDArray[Any]:
    """Converts a block of an engine to rows of numbers: an array, a data frame, an Arrow table or a dictionary of columns."""
    if hasattr(block, "tocsr"):
        raise TypeError("X has sparse blocks, which tables in partitions do not support: convert them to arrays, or fit the rows in memory.")
    if isinstance(block, np.ndarray):
        rows = block
    elif names is not None and len(names) == 1:
        rows = _column(block, names[0])
    elif names is not None:
        columns = [_column(block, name) for name in names]
        rows = np.column_stack(columns) if columns else np.empty((0, 0))
    else:
        rows = np.asarray(block)
    if rows.ndim == 1:
        rows = rows.reshape(-1, 1)
    kind = np.float32 if rows.dtype in (np.float32, np.float16) else np.float64
    return np.ascontiguousarray(rows, dtype=kind)


def _column(block: Any, name: Any) -> NDArray[Any]:
    """Returns a column as an array of floating-point numbers. Missing values become NaN, and a column of arrays becomes a matrix."""
    column = block[name]
    if hasattr(column, "combine_chunks"):
        column = column.combine_chunks()
        if hasattr(column.type, "value_type"):
            return _matrix(column.to_pylist(), _float_of(str(column.type.value_type)))
        return np.asarray(column.to_numpy(zero_copy_only=False), dtype=_float_of(str(column.type)))
    if hasattr(column, "to_numpy"):
        return np.asarray(column.to_numpy(dtype=_float_of(str(column.dtype)), na_value=np.nan))
    values = np.asarray(column)
    return _matrix(list(values), np.float64) if values.dtype == object else values.astype(_float_of(str(values.dtype)), copy=False)


def _matrix(lists: list[Any], dtype: Any) -> NDArray[Any]:
    """Makes a matrix of lists of equal length. A missing list becomes a row of NaN."""
    if not any(isinstance(one, (list, tuple, np.ndarray)) for one in lists):
        return np.array([np.nan if one is None else one for one in lists], dtype=dtype)
    widths = sorted({len(one) for one in lists if one is not None})
    if len(widths) > 1:
        raise ValueError(f"X: expected a column of arrays of the same length, found arrays of {widths[0]} and of {widths[-1]} numbers")
    missing = [np.nan] * widths[0]
    return np.array([missing if one is None else one for one in lists], dtype=dtype).reshape(len(lists), widths[0])


def _float_of(kind: str) -> type[np.floating[Any]]:
    return np.float32 if kind.lower() in ("float32", "float", "halffloat", "float16") else np.float64


def measure(rows: NDArray[Any], weights: Floats | None, index: int) -> Measure:
    """Counts the rows, and finds cells that are no finite numbers."""
    bad = ~(np.abs(rows) < _checks.MOST_VALUE) if rows.dtype == np.float64 else ~np.isfinite(rows)
    places = np.argwhere(bad)
    faults = [Fault(index, int(row), int(column), float(rows[row, column])) for row, column in places[:MOST_FAULTS]]
    n_faults = len(places)
    if weights is not None:
        wrong = np.flatnonzero(~((weights >= 0) & np.isfinite(weights)))
        faults += [Fault(index, int(row), -1, float(weights[row])) for row in wrong[: MOST_FAULTS - len(faults)]]
        n_faults += len(wrong)
    weighted = len(rows) if weights is None else int(np.count_nonzero(weights > 0))
    shares = np.ones(len(rows)) if weights is None or n_faults else weights
    return Measure(len(rows), weighted, rows.shape[1], float(shares.sum()), float(np.dot(shares, shares)), rows.dtype == np.float32, faults, n_faults)


def _of_weight(rows: NDArray[Any], weights: Floats | None) -> tuple[NDArray[Any], Floats]:
    """Returns the rows of positive weight, and their weights."""
    if weights is None:
        return rows, np.ones(len(rows))
    return rows[weights > 0], weights[weights > 0]


def cells(rows: NDArray[Any], weights: Floats | None, index: int, share: int) -> tuple[Floats, Floats, float]:
    """Divides the rows into at most ``share`` cells. Returns their means, their weights, and the sum of squares that they hide."""
    rows, weights = _of_weight(rows, weights)
    if not len(rows):
        return np.empty((0, rows.shape[1])), np.empty(0), 0.0
    found: Any = _native.summarize(rows, weights, max(1, share))
    return found["means"], found["weights"], found["hidden"]


def drawn(rows: NDArray[Any], weights: Floats | None, index: int, share: int, seed: int) -> tuple[NDArray[Any], Floats]:
    """Draws ``share`` different rows of positive weight. Returns the rows in their order, and their weights."""
    rows, weights = _of_weight(rows, weights)
    random = np.random.Generator(np.random.PCG64([seed, index]))
    chosen = np.sort(random.choice(len(rows), share, replace=False)) if share else np.empty(0, np.intp)
    return rows[chosen], weights[chosen]


def extremes(rows: NDArray[Any], weights: Floats | None, index: int, columns: NDArray[np.intp], values: Floats) -> list[tuple[float, NDArray[Any], float]]:
    """Returns for each of some columns the row that is farthest from a value in this column: the distance, the row and its weight."""
    rows, weights = _of_weight(rows, weights)
    if not len(rows):
        return [(-1.0, rows[:0], 0.0) for _ in columns]
    away = np.abs(rows[:, columns] - values)
    return [(float(away[place, k]), rows[place], float(weights[place])) for k, place in enumerate(away.argmax(axis=0))]


def stacked(parts: list[tuple[NDArray[Any], Floats]]) -> tuple[NDArray[Any], Floats]:
    """Joins the rows of the partitions that have any, with their weights."""
    some = [(rows, weights) for rows, weights in parts if len(rows)]
    return np.concatenate([rows for rows, _ in some]), np.concatenate([weights for _, weights in some])


def _batches(rows: NDArray[Any], weights: Floats | None, centers: Floats) -> Iterator[tuple[NDArray[Any], Floats, NDArray[np.int32], Floats]]:
    """Yields batches of rows, with the weight, the label and the distance of each row."""
    for start in range(0, len(rows), _BATCH):
        part = rows[start : start + _BATCH]
        near: Any = _native.nearest(part, centers, threads=1)
        yield part, np.ones(len(part)) if weights is None else weights[start : start + _BATCH], near["labels"], near["distances"]


def sums(rows: NDArray[Any], weights: Floats | None, index: int, centers: Floats) -> Sums:
    """Assigns each row to its nearest centre, and adds up the rows of each centre."""
    count, dimension = centers.shape
    total = Sums(np.zeros(count, np.int64), np.zeros(count, np.int64), np.zeros(count), np.zeros((count, dimension)), np.zeros(count), b"")
    digest = hashlib.blake2b(digest_size=16)
    for part, shares, labels, distances in _batches(rows, weights, centers):
        total.counts[:] += np.bincount(labels, minlength=count)
        total.weighted[:] += np.bincount(labels[shares > 0], minlength=count)
        total.weights[:] += np.bincount(labels, weights=shares, minlength=count)
        total.squares[:] += np.bincount(labels, weights=shares * np.square(distances), minlength=count)
        chosen: Any = csr_array((shares, (labels, np.arange(len(part)))), shape=(count, len(part)))
        total.moves[:] += chosen @ (part - centers[labels])
        digest.update(labels.tobytes())
    return total._replace(labels=digest.digest())


def together(parts: list[Sums]) -> Sums:
    """Adds up the sums of all partitions, in their order."""
    first = parts[0]
    # Arrays that come from another process may be read-only.
    counts, weighted, weights = np.array(first.counts), np.array(first.weighted), np.array(first.weights)
    moves, squares = np.array(first.moves), np.array(first.squares)
    for part in parts[1:]:
        counts += part.counts
        weighted += part.weighted
        weights += part.weights
        moves += part.moves
        squares += part.squares
    return Sums(counts, weighted, weights, moves, squares, b"".join(part.labels for part in parts))


class Moments(NamedTuple):
    """The sums of a partition's rows for each component of a mixture, about the components' means."""

    masses: Floats
    firsts: Floats
    #: The second moments: matrices for ``'full'``, one matrix of all components for ``'tied'``, otherwise of each column.
    seconds: Floats
    log_likelihood: float
    entropy: float


def moments(rows: NDArray[Any], weights: Floats | None, index: int, mixture: Mixture) -> Moments:
    """Computes the memberships of the rows (the E step), and adds up the moments that the M step needs."""
    components, columns = mixture.means.shape
    of_matrices = {"full": (components, columns, columns), "tied": (columns, columns)}
    masses, firsts = np.zeros(components), np.zeros((components, columns))
    seconds = np.zeros(of_matrices.get(mixture.form, (components, columns)))
    log_likelihood = entropy = 0.0
    for start in range(0, len(rows), _BATCH):
        part = rows[start : start + _BATCH]
        shares = np.ones(len(part)) if weights is None else weights[start : start + _BATCH]
        found = mixture.posterior(part, threads=1)
        log_likelihood += float(np.dot(shares, found["log_densities"]))
        memberships = found["memberships"]
        logarithms = np.log(memberships, out=np.zeros_like(memberships), where=memberships > 0)
        entropy -= float(np.dot(shares, (memberships * logarithms).sum(axis=1)))
        memberships = memberships * shares[:, None]
        masses += memberships.sum(axis=0)
        for k, mean in enumerate(mixture.means):
            away, share = part - mean, memberships[:, k]
            firsts[k] += share @ away
            if mixture.form in of_matrices:
                second = (share[:, None] * away).T @ away
                if mixture.form == "full":
                    seconds[k] += second
                else:
                    seconds += second
            else:
                seconds[k] += share @ np.square(away)
    return Moments(masses, firsts, seconds, log_likelihood, entropy)


def farthest(rows: NDArray[Any], weights: Floats | None, index: int, centers: Floats) -> tuple[float, NDArray[Any]]:
    """Returns the row that adds most to the sum of squares, and how much it adds."""
    best, row = 0.0, rows[:0]
    for part, shares, _, distances in _batches(rows, weights, centers):
        added = shares * np.square(distances)
        place = int(added.argmax())
        if added[place] > best:
            best, row = float(added[place]), part[place : place + 1]
    return best, row


def of_each_cluster(
    rows: NDArray[Any], weights: Floats | None, index: int, centers: Floats, strides: NDArray[np.int64], seed: int
) -> tuple[NDArray[Any], Floats]:
    """Draws about one row in ``strides[k]`` of cluster ``k``. The weights of the drawn rows stand for all rows of the cluster."""
    rows, weights = _of_weight(rows, weights)
    random = np.random.Generator(np.random.PCG64([seed, index, 1]))
    all_rows, all_weights = [np.empty((0, centers.shape[1]), rows.dtype)], [np.empty(0)]
    for part, shares, labels, _ in _batches(rows, weights, centers):
        chosen = random.random(len(part)) * strides[labels] < 1
        all_rows.append(part[chosen])
        all_weights.append(shares[chosen] * strides[labels[chosen]])
    return np.concatenate(all_rows), np.concatenate(all_weights)
