"""Dask arrays and data frames as partitions."""

from __future__ import annotations

from typing import Any

import dask
import numpy as np

from lehr._partition_tasks import Task, numbers_of
from lehr._partitions import Column, Partitions, Result


class DaskPartitions(Partitions):
    """The blocks of rows of a Dask array, or the partitions of a Dask data frame."""

    engine = "Dask"

    def __init__(self, X: Any, sample_weight: Any, names: list[Any] | None) -> None:
        self._is_array = not hasattr(X, "columns")
        self.names = self.weight = None
        if self._is_array:
            if X.ndim != 2:
                raise ValueError(f"Expected 2D array, got {X.ndim}D array instead: the Dask array has the shape {X.shape}.")
            if X.dtype.kind not in "iufb":
                raise ValueError(f"X: expected an array of numbers, found a Dask array of {X.dtype}")
            # Each block has whole rows. A Dask array with an unknown number of rows cannot be divided again.
            X = X if X.numblocks[1] == 1 else X.rechunk({1: -1})
        else:
            columns = [Column(name, str(kind), getattr(kind, "kind", "O") in "iufb") for name, kind in zip(X.columns, X.dtypes)]
            self._choose(columns, sample_weight if isinstance(sample_weight, str) else None, names)
        self._X = X
        self._blocks = _delayed(X)
        self._weights: list[Any] = [None] * len(self._blocks)
        if sample_weight is not None and self.weight is None:
            if not hasattr(sample_weight, "to_delayed"):
                raise ValueError(
                    "sample_weight: expected a Dask array or series with the partitions of X"
                    + ("" if self._is_array else ", or the name of a column")
                    + f", found {type(sample_weight).__name__}"
                )
            self._weights = _delayed(sample_weight)
            if len(self._weights) != len(self._blocks):
                raise ValueError(f"sample_weight: expected {len(self._blocks)} partitions, as X has, found {len(self._weights)}")

    def each(self, task: Task, *arguments: Any, own: list[Any] | None = None) -> list[Any]:
        run = dask.delayed(_run, pure=False, traverse=False)
        # One value in the graph that all tasks share.
        told = dask.delayed((self.names, self.weight, task, arguments), pure=False, traverse=False)
        each = zip(self._blocks, self._weights, [()] * len(self._blocks) if own is None else [(one,) for one in own])
        return list(dask.compute(*(run(block, given, index, one, told) for index, (block, given, one) in enumerate(each))))

    def rows(self, task: Task, result: Result, *arguments: Any) -> Any:
        if self._is_array:
            chunks = {"drop_axis": 1} if result.width is None else {"chunks": (self._X.chunks[0], (result.width,))}
            return self._X.map_blocks(_apply, self.names, task, arguments, dtype=result.dtype, meta=np.empty((0,) * (1 if result.width is None else 2), result.dtype), **chunks)
        import pandas as pd

        index = self._X._meta.index[:0]
        meta: Any = pd.Series(dtype=result.dtype, name=result.name, index=index)
        if result.width is not None:
            meta = pd.DataFrame({number: pd.Series(dtype=result.dtype, index=index) for number in range(result.width)}, index=index)
        return self._X.map_partitions(_framed, self.names, task, arguments, meta, meta=meta)


def _delayed(collection: Any) -> list[Any]:
    return list(np.ravel(collection.to_delayed()))


def _run(block: Any, given: Any, index: int, own: tuple[Any, ...], told: Any) -> Any:
    names, weight, task, arguments = told
    column = given if weight is None else block[weight]
    weights = None if column is None else numbers_of({"weight": column}, ["weight"]).astype(np.float64).ravel()
    rows = numbers_of(block, names)
    if weights is not None and len(weights) != len(rows):
        raise ValueError(f"sample_weight: expected {len(rows)} weights in partition {index} (counted from 0), found {len(weights)}")
    return task(rows, weights, index, *own, *arguments)


def _apply(block: Any, names: list[Any] | None, task: Task, arguments: tuple[Any, ...]) -> Any:
    return task(numbers_of(block, names), *arguments)


def _framed(block: Any, names: list[Any] | None, task: Task, arguments: tuple[Any, ...], meta: Any) -> Any:
    """Applies a task, with the index of the data frame."""
    found = task(numbers_of(block, names), *arguments)
    return type(meta)(found, index=block.index, **({"name": meta.name} if found.ndim == 1 else {}))
