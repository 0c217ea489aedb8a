"""The columns of the fitted rows by cluster, and silhouettes: the numbers behind the plots of a table."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_array, csr_array, issparse
from sklearn.utils.validation import check_is_fitted

from lehr import _checks
from lehr._centers import unpacked
from lehr._columns import Columns
from lehr._explained import _rows_in
from lehr._items import ItemsMixin
from lehr._model import weights
from lehr._native import Fingerprints
from lehr.distances import of_rows

#: The minimum share of rows at which a text becomes a column of its own.
_FREQUENT = 0.05
#: The maximum number of rows that silhouettes compare with each other.
_MOST_COMPARED = 2000


class Column(NamedTuple):
    """A column as numbers, with NaN for missing values."""

    name: str
    values: NDArray[np.float64]
    #: Whether the numbers are seconds since 1970.
    is_time: bool = False


class Grouped:
    """The columns of the fitted rows, and the group of each row: a cluster or a component. If there are rows without a cluster, they form the last group."""

    def __init__(self, model: Any, X: Any) -> None:
        labels = labels_of(model)
        self.word = word_of(model)
        self.count = int(labels.max(initial=-1)) + 1
        names = [str(name) for name in getattr(model, "feature_names_in_", [])]
        if isinstance(X, Fingerprints):
            X = csr_array(unpacked(X.packed(), X.n_bits))
        self._sparse = csc_array(X) if issparse(X) else None
        if self._sparse is not None:
            rows, width = self._sparse.shape
            self._names = names if len(names) == width else [f"x{place}" for place in range(width)]
        else:
            table = Columns(X)
            if not table.is_named and len(table.names) == len(names):
                table = table.called(names)
            self._table, self._names, rows = table, table.names, len(table)
        refuse_others(len(labels), rows)
        self.groups: NDArray[np.int64] = np.where(labels < 0, self.count, labels).astype(np.int64)
        self.names = [f"{self.word} {group}" for group in range(self.count)]
        if (labels < 0).any():
            self.names.append(f"no {self.word}")
        self.rows: NDArray[np.int64] = np.bincount(self.groups, minlength=len(self.names))

    def all(self, *, with_texts: bool = False) -> Iterator[Column]:
        """Yields the columns of numbers and dates. ``with_texts`` adds a column of 0 and 1 for each frequent text."""
        if self._sparse is not None:
            for place, name in enumerate(self._names):
                yield Column(name, self._sparse[:, [place]].toarray().ravel().astype(np.float64))
            return
        for name, kind, values, levels, _ in self._table._columns:
            refuse_others(len(self.groups), len(values))
            if kind != "texts":
                finite = np.where(np.isfinite(values), values, np.nan)
                yield Column(name, finite, kind == "times")
            elif with_texts:
                known = values >= 0
                counts = np.bincount(values[known], minlength=len(levels))
                for level in np.flatnonzero(counts >= max(1.0, _FREQUENT * len(values))):
                    # A text that all rows have does not distinguish groups.
                    if counts[level] < known.sum():
                        yield Column(f"{name} = {levels[level]}", np.where(known, values == level, np.nan))

    def differing(self, columns: Iterable[Column], most: int) -> tuple[list[Column], int]:
        """Returns up to ``most`` columns whose means differ most between groups, in their original order, and the number of all columns."""
        kept: list[tuple[float, int, Column]] = []
        place = -1
        for place, column in enumerate(columns):
            known = np.bincount(self.groups[~np.isnan(column.values)], minlength=len(self.names))
            share = float(np.nansum(known * np.square(self.scores(column)))) / max(1, known.sum())
            # If the groups differ equally in several columns, the first of these columns is kept.
            (heapq.heappush if len(kept) < most else heapq.heappushpop)(kept, (share, -place, column))
        return [column for _, _, column in sorted(kept, key=lambda one: -one[1])], place + 1

    def chosen(self, columns: Iterable[str | int]) -> list[Column]:
        """Returns columns of numbers and dates by name, or by position from 0."""
        found = {column.name: column for column in self.all()} if self._sparse is None else {}
        chosen = []
        for asked in columns:
            is_place = isinstance(asked, (int, np.integer)) and not isinstance(asked, bool)
            if is_place and 0 <= int(asked) < len(self._names):
                name = self._names[int(asked)]
            elif not is_place and asked in self._names:
                name = str(asked)
            else:
                raise ValueError(f"X has no column {asked!r}. Choose from its {len(self._names)}: {listing(self._names)}.")
            if self._sparse is not None:
                place = self._names.index(name)
                found[name] = Column(name, self._sparse[:, [place]].toarray().ravel().astype(np.float64))
            if name not in found:
                raise ValueError(f"column {name!r} has texts: expected numbers or dates. lehr.plot.profiles shows the shares of its texts.")
            chosen.append(found[name])
        return chosen

    def scores(self, column: Column) -> NDArray[np.float64]:
        """Returns the z-score of each group's mean, relative to all rows. The score is NaN for a group without a value, and 0 if all values are equal."""
        known = ~np.isnan(column.values)
        values, groups = column.values[known], self.groups[known]
        counts = np.bincount(groups, minlength=len(self.names))
        if len(values):
            # After these two steps, values that are all equal are exactly 0, and no square overflows.
            values = values - values[0]
            values = values / (np.abs(values).max() or 1.0)
            values = (values - values.mean()) / (values.std() or 1.0)
        sums = np.bincount(groups, values, minlength=len(self.names))
        return np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0)

    def parts(self, column: Column) -> list[NDArray[np.float64]]:
        """Returns the known values of the column in each group."""
        known = ~np.isnan(column.values)
        return [column.values[known & (self.groups == group)] for group in range(len(self.names))]

    def only_texts(self) -> ValueError:
        """Returns the error for a table whose columns contain only texts."""
        return ValueError(f"expected a column of numbers or dates, found only texts in {listing(self._names)}. lehr.plot.profiles shows their shares.")


class Silhouettes(NamedTuple):
    """The silhouettes of rows, sorted by cluster."""

    values: NDArray[np.float64]
    labels: NDArray[np.int32]
    #: The number of rows from which these rows were chosen.
    among: int

    @classmethod
    def of(cls, model: Any, X: Any, sample_weight: ArrayLike | None) -> Silhouettes:
        labels = labels_of(model)
        rows = _compared(model, X)
        refuse_others(len(labels), rows.shape[0])
        row_weights = weights(sample_weight, rows)
        inside = labels >= 0 if row_weights is None else (labels >= 0) & (row_weights > 0)
        order = np.argsort(labels, kind="stable")
        order = order[inside[order]]
        word = word_of(model)
        found = len(np.unique(labels[order]))
        if found < 2:
            raise ValueError(f"expected rows in two {word}s or more, found {found}: a silhouette compares a row's own {word} with the nearest other.")
        chosen = order[spread(len(order), _MOST_COMPARED)]
        return cls(silhouettes(_distances(model, rows, chosen), labels[chosen]), labels[chosen], len(order))


def silhouettes(distances: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.float64]:
    """Returns the silhouette of each row, from the distances between rows. The silhouette of a row that is alone in its cluster is 0."""
    _, groups = np.unique(labels, return_inverse=True)
    members = np.eye(groups.max() + 1)[groups]
    # Two rows without a common known column have no distance.
    known = ~np.isnan(distances)
    sums, counts = np.where(known, distances, 0.0) @ members, known.astype(np.float64) @ members
    own = (np.arange(len(groups)), groups)
    counts[own] -= known.diagonal()
    means = np.divide(sums, counts, out=np.full(counts.shape, np.nan), where=counts > 0)
    within = means[own]
    means[own] = np.nan
    others = np.where(np.isnan(means), np.inf, means).min(axis=1)
    larger = np.fmax(within, others)
    is_known = np.isfinite(within) & np.isfinite(others) & (larger > 0)
    return np.divide(others - within, larger, out=np.zeros(len(groups)), where=is_known)


def _compared(model: Any, X: Any) -> Any:
    """Returns the rows between which distances are computed, or the fitted dissimilarities."""
    if isinstance(X, Fingerprints):
        return csr_array(unpacked(X.packed(), X.n_bits)).astype(np.float64)
    rows = _rows_in(model, X)
    if rows is None:
        raise ValueError("X does not have the columns of the model: pass the rows that were fitted. Silhouettes compare the distances between them.")
    checked: Any = _checks.check_array(rows, dtype=np.float64, accept_sparse="csr", ensure_all_finite="allow-nan", input_name="X")
    if checked.shape[1] != model.n_features_in_:
        raise ValueError(f"expected the {model.n_features_in_} columns that were fitted, found {checked.shape[1]}")
    return checked


def _distances(model: Any, rows: Any, chosen: NDArray[np.int64]) -> NDArray[Any]:
    """Returns the distances between the chosen rows, by the metric of the model."""
    if not isinstance(model, ItemsMixin):
        some = rows[chosen]
        gaps = not issparse(some) and bool(np.isnan(some).any())
        return of_rows(some, None, "nan_euclidean" if gaps else "euclidean", None, None)
    if model._is_given():
        return np.asarray(rows[np.ix_(chosen, chosen)])
    return of_rows(rows[chosen], None, model.metric, model.metric_params, model.n_jobs)


def labels_of(model: Any) -> NDArray[np.int32]:
    """Returns the labels of the fitted rows, or raises an error if the model has none."""
    check_is_fitted(model)
    if not hasattr(model, "labels_"):
        raise ValueError(
            f"expected an estimator that was fitted and has labels_, found {type(model).__name__} without: a map has no clusters, a model that the command wrote "
            "has no labels of its rows. Fit one such as lehr.DAClustering; of a pipeline, pass the last step."
        )
    return np.asarray(model.labels_)


def word_of(model: Any) -> str:
    """Returns the word for a group of the model: cluster or component."""
    return "component" if hasattr(model, "means_") else "cluster"


def refuse_others(fitted: int, found: int) -> None:
    """Raises an error if the number of rows differs from the number of fitted rows."""
    if found != fitted:
        raise ValueError(f"expected the {fitted} rows that were fitted, found {found}")


def spread(length: int, most: int) -> NDArray[np.int64]:
    """Returns up to ``most`` positions at even intervals, including the first and the last."""
    return np.linspace(0, length - 1, min(length, most)).round().astype(np.int64)


def listing(names: list[str]) -> str:
    """Returns the first eight names, and the number of remaining names."""
    told = ", ".join(map(repr, names[:8]))
    return told if len(names) <= 8 else f"{told} and {len(names) - 8} more"
