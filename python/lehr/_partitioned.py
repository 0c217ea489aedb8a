"""Fits clusters to a table in partitions, and labels its rows.

Only summaries and sums leave the partitions: a fit anneals a summary, and then improves the centres by Lloyd's iterations over all partitions. See
``docs/design/partitions.md``.
"""

from __future__ import annotations

import copy
import itertools
import json
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from lehr import _checks, _native
from lehr import _partition_tasks as tasks
from lehr._model import table
from lehr._model import weights as as_weights
from lehr._partition_tasks import Floats, Measure, Sums
from lehr._partitions import Partitions, Result, partitions_of
from lehr._progress import Run

#: Up to this number of rows, the rows themselves are annealed.
_ALL = 20_000
#: The number of rows from which Lehr chooses the number of clusters, and that it anneals if cells would not represent them.
SAMPLE = 50_000
#: The number of columns up to which cells represent rows.
_COLUMNS_OF_CELLS = 16
#: The maximum number of clusters: at least two cells represent each.
_MOST_CLUSTERS = 10_000
#: The number of cells for each cluster, and the limits of the number of cells.
_CELLS_A_CLUSTER = 50
_CELLS = (2_000, 20_000)
_CELLS_OF_FEW = 10_000
_PAIRS = 200_000
#: The partitions together make this many times the wanted number of cells.
_FINER = 4
#: Iterations of annealed clusters end after this many sweeps, or when a sweep lowers the sum of squares by at most this share.
_SWEEPS, _TOLERANCE = 100, 1e-7
#: The maximum number of rows of a cluster that determine its borders, and of all rows that do.
_BORDER_ROWS = 4096
_ALL_BORDER_ROWS = 200_000
#: Parameters without a meaning for partitions, with the value that leaves them out.
_UNUSED: dict[str, Any] = {
    "stop_temperature": None,
    "stop_length": None,
    "outlier_radius": None,
    "exact": False,
    "callback": None,
    "checkpoint": None,
}
#: Attributes of a fit in memory that a fit of partitions does not have.
_ONLY_IN_MEMORY = ("labels_", "probabilities_", "n_steps_")


class Ended(NamedTuple):
    """The result of Lloyd's iterations."""

    centers: Floats
    sweeps: int
    has_converged: bool


class Table(NamedTuple):
    """Partitions and their sizes."""

    partitions: Partitions
    measures: list[Measure]

    @property
    def weighted(self) -> int:
        """The number of rows of positive weight."""
        return sum(measure.weighted for measure in self.measures)

    @property
    def columns(self) -> int:
        return max(measure.columns for measure in self.measures)

    @property
    def is_single(self) -> bool:
        """Whether all rows are in single precision."""
        return all(measure.is_single for measure in self.measures if measure.rows)

    def shares(self, total: int) -> list[int]:
        """Divides ``total`` among the partitions in proportion to their rows of positive weight."""
        counts = [measure.weighted for measure in self.measures]
        ends = [total * end // max(1, self.weighted) for end in itertools.accumulate(counts)]
        return [min(count, end - start) for count, end, start in zip(counts, ends, [0, *ends])]

    def drawn(self, total: int, seed: int) -> tuple[NDArray[Any], Floats]:
        """Draws rows of positive weight at random."""
        return tasks.stacked(self.partitions.each(tasks.drawn, seed, own=self.shares(min(total, self.weighted))))

    def cells(self, total: int) -> tuple[Floats, Floats]:
        """Represents the rows by weighted means of cells."""
        finer = [max(1, share) for share in self.shares(min(_FINER * total, self.weighted))]
        means, weights = tasks.stacked([(means, weights) for means, weights, _ in self.partitions.each(tasks.cells, own=finer)])
        merged: Any = _native.summarize(means, weights, total)
        return merged["means"], merged["weights"]

    def sums(self, centers: Floats) -> Sums:
        return tasks.together(self.partitions.each(tasks.sums, centers))

    def farthest(self, centers: Floats) -> NDArray[Any] | None:
        """Returns the row that adds most to the sum of squares; ``None`` if every row is at a centre."""
        _, row = max(self.partitions.each(tasks.farthest, centers), key=lambda found: float(found[0]))
        return row[0] if len(row) else None


def _table(estimator: Any, partitions: Partitions) -> Table:
    """Measures the partitions.

    Raises
    ------
    ValueError
        If there are no rows, or if a cell or a weight is invalid; the message names the first ten.
    """
    measured = Table(partitions, partitions.each(tasks.measure))
    rows, faults = sum(measure.rows for measure in measured.measures), sum(measure.n_faults for measure in measured.measures)
    widths = {measure.columns for measure in measured.measures if measure.rows}
    if len(widths) > 1:
        raise ValueError(f"X: expected partitions with the same number of columns, found {' and '.join(map(str, sorted(widths)))}")
    if faults:
        shown = [fault for measure in measured.measures for fault in measure.faults][: tasks.MOST_FAULTS]
        lines = [f"  partition {fault.partition}, row {fault.row}, {_place(partitions, fault.column)}: found {fault.found:g}" for fault in shown]
        more = f"\n  and {faults - len(shown)} more" if faults > len(shown) else ""
        raise ValueError(
            f"{type(estimator).__name__} found {faults} values that are not finite numbers below 1e140, or weights below 0. "
            f"Partitions and rows are counted from 0:\n" + "\n".join(lines) + more + "\nFill in or drop these rows before you call fit."
        )
    if not measured.weighted:
        what = "no rows" if not rows else "no row with a weight above 0"
        raise ValueError(f"X: expected at least one row, found {what} in {len(measured.measures)} partitions")
    return measured


def _place(partitions: Partitions, column: int) -> str:
    if column < 0:
        return "weight"
    names = partitions.names
    if names is None:
        return f"column {column}"
    # A column of arrays is the only column with one name.
    return f"column {names[0]!r}, number {column}" if column >= len(names) else f"column {names[column]!r}"


def begin(estimator: Any, partitions: Partitions, clusters: int | None) -> Table:
    """Checks the parameters, and measures the table. Then sets what every fit sets."""
    estimator._validate_params()
    for name, without in _UNUSED.items():
        value = getattr(estimator, name, without)
        if value is not without and value != without:
            raise ValueError(
                f"The {name!r} parameter has no effect on a table in partitions ({partitions.engine}). Got {value!r}: leave it out, or fit the rows in memory."
            )
    measured = _table(estimator, partitions)
    if clusters is not None and clusters > measured.weighted:
        raise ValueError(f"n_samples={measured.weighted} should be >= n_clusters={clusters}.")
    if clusters is not None and clusters > _MOST_CLUSTERS:
        raise ValueError(f"A table in partitions takes at most {_MOST_CLUSTERS} clusters, found {clusters}: fit the rows in memory.")
    estimator.n_features_in_ = measured.columns
    estimator.__dict__.pop("feature_names_in_", None)
    # As in scikit-learn, only texts are names.
    names = partitions.names or []
    estimator._table_columns = partitions.names
    if len(names) == measured.columns and all(isinstance(name, str) for name in names):
        estimator.feature_names_in_ = np.array(names, dtype=object)
    for name in _ONLY_IN_MEMORY:
        estimator.__dict__.pop(name, None)
    return measured


def _representatives(measured: Table, clusters: int | None, seed: int) -> tuple[NDArray[Any], Floats]:
    """Returns weighted points that represent the rows: the rows themselves, the means of cells, or a sample."""
    if measured.weighted <= _ALL:
        return measured.drawn(measured.weighted, seed)
    if clusters is None or measured.columns > _COLUMNS_OF_CELLS:
        return measured.drawn(SAMPLE, seed)
    of_few = min(_PAIRS // clusters, _CELLS_OF_FEW)
    return measured.cells(min(max(clusters * _CELLS_A_CLUSTER, of_few, _CELLS[0]), _CELLS[1]))


def named(points: NDArray[Any], partitions: Partitions) -> Any:
    """Returns rows with the names of the table's columns, which warnings and errors quote. Without pandas, or for arrays, returns the rows."""
    names = partitions.names
    if names is None or len(names) != points.shape[1] or not all(isinstance(name, str) for name in names):
        return points
    try:
        import pandas as pd
    except ImportError:
        return points
    return pd.DataFrame(points, columns=names)


def _lloyd(measured: Table, centers: Floats, sweeps: int, tolerance: float, tell: Callable[[int, float], None]) -> Ended:
    """Moves centres to the means of their rows until no sweep lowers the sum of squares by more than ``tolerance`` times this sum."""
    last, made, moved_away, labels = np.inf, 0, 0, b""
    while True:
        found = measured.sums(centers)
        made += 1
        empty = np.flatnonzero(found.weights == 0)
        if len(empty) and moved_away <= made:
            placed = _filled(measured, centers, empty)
            moved_away += 1
            if placed is not None:
                centers, last, made = placed, np.inf, made - 1
                continue
        cost = float(found.squares.sum())
        tell(made, cost)
        # With the same labels as before, the centres are already the means of their rows, up to rounding.
        is_fixed = found.labels == labels or last - cost <= 0
        has_converged = is_fixed or last - cost <= tolerance * cost
        if found.labels != labels:
            centers = centers + np.divide(found.moves, found.weights[:, None], out=np.zeros_like(found.moves), where=found.weights[:, None] > 0)
        last, labels = cost, found.labels
        if has_converged or made >= sweeps:
            return Ended(centers, made, has_converged)


def _filled(measured: Table, centers: Floats, empty: NDArray[np.intp]) -> Floats | None:
    """Moves each centre without rows to the row that then adds most to the sum of squares; ``None`` if every row is at a centre."""
    held = np.delete(centers, empty, axis=0)
    centers = centers.copy()
    for place in empty:
        row = measured.farthest(held)
        if row is None:
            return None if place == empty[0] else centers
        centers[place] = row
        held = np.vstack([held, centers[place]])
    return centers


def _finish(estimator: Any, measured: Table, centers: Floats, *, by_weight: bool) -> None:
    """Sets the centres and the figures of the clusters, and finds the borders between clusters."""
    found = measured.sums(centers)
    kept = np.flatnonzero((found.counts > 0) & (found.weights > 0)) if by_weight else np.arange(len(centers))
    if by_weight:
        kept = kept[np.argsort(-found.weights[kept], kind="stable")]
    centers = centers[kept]
    if measured.is_single:
        centers = centers.astype(np.float32).astype(np.float64)
        found = measured.sums(centers)
    else:
        found = Sums(found.counts[kept], found.weighted[kept], found.weights[kept], found.moves[kept], found.squares[kept], found.labels)
    spreads = np.sqrt(np.divide(found.squares, found.weights, out=np.zeros_like(found.squares), where=found.weights > 0))
    columns = {"n_samples": found.counts, "weight": found.weights, "spread": spreads}
    estimator._borders = "[]"
    if found.weights.all():
        most = max(64, min(_BORDER_ROWS, _ALL_BORDER_ROWS // len(centers)))
        strides = np.maximum(1, -(-found.weighted // most))
        rows, weights = tasks.stacked(measured.partitions.each(tasks.of_each_cluster, centers, strides, _checks.seed(estimator.random_state)))
        told: Any = _native.fit_kmeans(rows, weights, _labelling(centers))
        if len(told["cluster_centers"]) == len(centers):
            estimator._borders = told["borders"]
            columns["probability"] = told["clusters"]["probability"]
    estimator.clusters_ = table(columns)
    estimator.inertia_ = float(found.squares.sum())
    estimator.cluster_centers_ = centers.astype(np.float32) if measured.is_single else centers
    estimator._n_features_out = len(centers)


def _labelling(centers: Floats) -> Any:
    """Returns a run of k-means that only labels rows."""
    parameters = {
        "clusters": len(centers),
        "starts": 1,
        "max_sweeps": 0,
        "tolerance": 0.0,
        "seed": 0,
        "sweeps": "bounded",
        "precision": "f64",
        "centers": centers.ravel().tolist(),
    }
    return Run(json.dumps(parameters), None, None, None)


def teller(estimator: Any, what: str) -> Callable[[int, float], None]:
    """Returns a function that shows the number of a sweep and a figure, if ``verbose`` is above 0."""

    def tell(sweep: int, cost: float) -> None:
        if estimator.verbose:
            print(f"{type(estimator).__name__}: sweep {sweep}, {what} {cost:.6g}", file=sys.stderr)

    return tell


def fit_annealed(estimator: Any, partitions: Partitions) -> None:
    """Fits ``DAClustering`` to a table in partitions."""
    measured = begin(estimator, partitions, estimator.n_clusters)
    points, weights = _representatives(measured, estimator.n_clusters, _checks.seed(estimator.random_state))
    inner: Any = clone(estimator).set_params(exact=len(points) < measured.weighted, verbose=0)
    if estimator.n_clusters is not None:
        inner.set_params(n_clusters=min(estimator.n_clusters, len(points)))
    inner.fit(named(points, partitions), sample_weight=weights)
    ended = _lloyd(measured, inner.cluster_centers_.astype(np.float64), _SWEEPS, _TOLERANCE, teller(estimator, "sum of squares"))
    _finish(estimator, measured, ended.centers, by_weight=True)
    for name in ("candidates_", "choice_", "critical_temperature_", "free_energy_", "history_", "splits_", "temperature_"):
        setattr(estimator, name, getattr(inner, name))
    estimator._sponge = None
    estimator.n_iter_ = ended.sweeps


def fit_means(estimator: Any, partitions: Partitions, starts: Callable[[Any, Any, int, int], Any], initialisations: int, tolerance: Callable[[int], float]) -> int:
    """Fits ``KMeans`` to a table in partitions. Returns the number of initialisations that had not converged."""
    clusters, seed = int(estimator.n_clusters), _checks.seed(estimator.random_state)
    measured = begin(estimator, partitions, clusters)
    is_drawn = isinstance(estimator.init, str)
    centers = None
    if not is_drawn:
        rows, _ = measured.drawn(SAMPLE, seed) if callable(estimator.init) else (np.empty((0, measured.columns)), None)
        centers = starts(rows, None, seed, 1)[0]
    if centers is None:
        points, weights = _representatives(measured, clusters, seed)
        inner: Any = clone(estimator).set_params(n_clusters=min(clusters, len(points)), n_init=initialisations, verbose=0)
        centers = inner.fit(named(points, partitions), sample_weight=weights).cluster_centers_.astype(np.float64)
        # If there are fewer different points than clusters, the further centres have no rows, unless other rows differ.
        centers = np.concatenate([centers, np.repeat(centers[:1], clusters - len(centers), axis=0)])
    ended = _lloyd(measured, centers, int(estimator.max_iter), tolerance(measured.columns), teller(estimator, "sum of squares"))
    _finish(estimator, measured, ended.centers, by_weight=False)
    estimator._n_init = initialisations
    estimator.inertias_ = np.array([estimator.inertia_])
    estimator.n_iter_ = ended.sweeps
    return int(not ended.has_converged)


def _call(rows: NDArray[Any], model: Any, method: str, result: Result) -> Any:
    """Applies a method of a fitted estimator to the rows of a partition."""
    if not len(rows):
        return np.empty(0 if result.width is None else (0, result.width), result.dtype)
    return np.asarray(getattr(model, method)(rows), dtype=result.dtype)


def _score(rows: NDArray[Any], weights: Floats | None, index: int, model: Any) -> tuple[float, float]:
    """Returns the score of a partition and its weight. The score is a sum for clusters, and the weighted sum of log-densities for a mixture."""
    checked = as_weights(weights, rows, may_be_zero=True)
    shares = np.ones(len(rows)) if checked is None else checked
    total = float(shares.sum())
    if total == 0:
        return 0.0, 0.0
    found = float(np.dot(shares, model.score_samples(rows))) if hasattr(model, "score_samples") else float(model.score(rows, sample_weight=checked))
    return found, total


def _bare(estimator: Any) -> Any:
    """Returns a copy of a fitted estimator that computes on one thread, and has nothing that belongs to the fitted rows."""
    bare = copy.copy(estimator)
    bare.n_jobs, bare.callback, bare.checkpoint = 1, None, None
    # The names were compared with the columns of the table. A map keeps the positions of its rows.
    for name in (*_ONLY_IN_MEMORY, "feature_names_in_", "embedding_", "entropies_", "modes_"):
        bare.__dict__.pop(name, None)
    return bare


def _for_model(estimator: Any, X: Any, sample_weight: Any = None) -> Partitions:
    """Returns the partitions of a table, with the columns to which the estimator was fitted."""
    names: Any = getattr(estimator, "_table_columns", None)
    if names is None:
        names = getattr(estimator, "feature_names_in_", None)
    partitions = partitions_of(X, sample_weight, None if names is None else list(names))
    assert partitions is not None
    if partitions.names is not None and names is None and 1 < len(partitions.names) != estimator.n_features_in_:
        raise ValueError(f"X has {len(partitions.names)} features, but {type(estimator).__name__} is expecting {estimator.n_features_in_} features as input.")
    return partitions


def rows_of(estimator: Any, X: Any, method: str, result: Result) -> Any:
    """Describes a method's result for each row of a table in partitions, in the form of its engine."""
    return _for_model(estimator, X).rows(_call, result, _bare(estimator), method, result)


def score(estimator: Any, X: Any, sample_weight: Any) -> float:
    """Returns the score of a table's rows: for clusters the sum over all rows, for a mixture the weighted mean of log-densities.

    Raises
    ------
    ValueError
        If there is no row of positive weight.
    """
    parts = _for_model(estimator, X, sample_weight).each(_score, _bare(estimator))
    found, total = sum(score for score, _ in parts), sum(weight for _, weight in parts)
    if total == 0:
        raise ValueError(f"X: expected at least one row with a weight above 0, found none in {len(parts)} partitions")
    return float(found / total if hasattr(estimator, "score_samples") else found)


def _distances(rows: NDArray[Any], others: Any, options: dict[str, Any], result: Result) -> Any:
    from lehr.distances import pairwise_distances

    if not len(rows):
        return np.empty((0, result.width or 0), result.dtype)
    return pairwise_distances(rows, others, n_jobs=1, **options)


def distances_of(X: Any, others: Any, options: dict[str, Any], result: Result) -> Any:
    """Describes the distances from the rows of a table in partitions to other rows."""
    partitions = partitions_of(X)
    assert partitions is not None
    return partitions.rows(_distances, result, others, options, result)
