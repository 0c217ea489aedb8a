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

from lehr import _native

if TYPE_CHECKING:
    from lehr._em import Mixture

Floats: TypeAlias = NDArray[np.float64]
Task: TypeAlias = Callable[..., Any]

#: The number of rows whose differences from their centres are in memory together.
_BATCH = 1 << 16
#: The number of faults that each partition describes.
MOST_FAULTS = 10
#: Squares of larger values may overflow.
_MOST_VALUE = 1e140


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


def _column(block: Any, name: str) -> NDArray[Any]:
    """Returns a column as an array. Missing values become NaN, and a column of arrays becomes a matrix."""
    column = block[name]
    if hasattr(column, "combine_chunks"):
        column = column.combine_chunks()
        if hasattr(column, "flatten") and hasattr(column.type, "value_type"):
            values = np.asarray(column.flatten().to_numpy(zero_copy_only=False))
            # The width of an empty column is unknown.
            return values.reshape(len(column), -1) if len(column) else np.empty((0, 0))
        return np.asarray(column.to_numpy(zero_copy_only=False), dtype=_float_of(str(column.type)))
    if hasattr(column, "to_numpy"):
        return np.asarray(column.to_numpy(dtype=_float_of(str(column.dtype)), na_value=np.nan))
    return np.asarray(column)


def _float_of(kind: str) -> type[np.floating[Any]]:
    return np.float32 if kind.lower() in ("float32", "float", "halffloat", "float16") else np.float64


def measure(rows: NDArray[Any], weights: Floats | None, index: int) -> Measure:
    """Counts the rows, and finds cells that are no finite numbers."""
    bad = ~(np.abs(rows) < _MOST_VALUE) if rows.dtype == np.float64 else ~np.isfinite(rows)
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


def cells(rows: NDArray[Any], weights: Floats | None, index: int, shares: list[int]) -> tuple[Floats, Floats, float]:
    """Divides the rows into at most ``shares[index]`` cells. Returns their means, their weights, and the sum of squares that they hide."""
    if not len(rows):
        return np.empty((0, rows.shape[1])), np.empty(0), 0.0
    found: Any = _native.summarize(rows, weights, max(1, shares[index]))
    return found["means"], found["weights"], found["hidden"]


def drawn(rows: NDArray[Any], weights: Floats | None, index: int, shares: list[int], seed: int) -> tuple[NDArray[Any], Floats]:
    """Draws ``shares[index]`` different rows of positive weight. Returns the rows in their order, and their weights."""
    eligible = np.arange(len(rows)) if weights is None else np.flatnonzero(weights > 0)
    random = np.random.Generator(np.random.PCG64([seed, index]))
    chosen = np.sort(random.choice(eligible, min(shares[index], len(eligible)), replace=False)) if len(eligible) else eligible
    return rows[chosen], np.ones(len(chosen)) if weights is None else weights[chosen]


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
    counts, masses, moves, squares = np.zeros(count, np.int64), np.zeros(count), np.zeros((count, dimension)), np.zeros(count)
    digest = hashlib.blake2b(digest_size=16)
    for part, shares, labels, distances in _batches(rows, weights, centers):
        counts += np.bincount(labels, minlength=count)
        masses += np.bincount(labels, weights=shares, minlength=count)
        squares += np.bincount(labels, weights=shares * np.square(distances), minlength=count)
        chosen: Any = csr_array((shares, (labels, np.arange(len(part)))), shape=(count, len(part)))
        moves += chosen @ (part - centers[labels])
        digest.update(labels.tobytes())
    return Sums(counts, masses, moves, squares, digest.digest())


def together(parts: list[Sums]) -> Sums:
    """Adds up the sums of all partitions, in their order."""
    return Sums(
        np.sum([part.counts for part in parts], axis=0),
        np.sum([part.weights for part in parts], axis=0),
        np.sum([part.moves for part in parts], axis=0),
        np.sum([part.squares for part in parts], axis=0),
        b"".join(part.labels for part in parts),
    )


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


def of_each_cluster(rows: NDArray[Any], weights: Floats | None, index: int, centers: Floats, strides: NDArray[np.int64]) -> tuple[NDArray[Any], Floats]:
    """Chooses one row in ``strides[k]`` of cluster ``k``, in their order. The weights of the chosen rows stand for all rows of the cluster."""
    all_rows, all_weights = [np.empty((0, centers.shape[1]), rows.dtype)], [np.empty(0)]
    for part, shares, labels, _ in _batches(rows, weights, centers):
        order = np.argsort(labels, kind="stable")
        starts = np.searchsorted(labels[order], np.arange(len(centers)))
        rank = np.arange(len(order)) - starts[labels[order]]
        chosen = order[rank % strides[labels[order]] == 0]
        within = np.bincount(labels, weights=shares, minlength=len(centers))
        taken = np.bincount(labels[chosen], weights=shares[chosen], minlength=len(centers))
        factors = np.divide(within, taken, out=np.zeros_like(within), where=taken > 0)
        all_rows.append(part[chosen])
        all_weights.append(shares[chosen] * factors[labels[chosen]])
    return np.concatenate(all_rows), np.concatenate(all_weights)
