"""Ray datasets as partitions: their blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import ray

from lehr._partition_tasks import Task, numbers_of
from lehr._partitions import Column, Partitions, Result


class RayPartitions(Partitions):
    """The blocks of a Ray dataset. The dataset is computed once, and its blocks stay in Ray's object store while they are in use."""

    engine = "Ray"

    def __init__(self, X: Any, sample_weight: Any, names: list[Any] | None) -> None:
        schema = X.schema()
        columns = [] if schema is None else [Column(name, str(kind), _is_numeric(kind)) for name, kind in zip(schema.names, schema.types)]
        self._choose(columns, sample_weight, names)
        self._X = X
        self._blocks: list[Any] | None = None

    def each(self, task: Task, *arguments: Any, own: list[Any] | None = None) -> list[Any]:
        if self._blocks is None:
            options = self._X.context.execution_options
            before, options.preserve_order = options.preserve_order, True
            try:
                self._X = self._X.materialize()
            finally:
                options.preserve_order = before
            self._blocks = self._X.to_arrow_refs()
        run, told = ray.remote(_run), ray.put((self.names, self.weight, task, arguments))
        each = zip(self._blocks, [()] * len(self._blocks) if own is None else [(one,) for one in own])
        return list(ray.get([run.remote(block, index, one, told) for index, (block, one) in enumerate(each)]))

    def rows(self, task: Task, result: Result, *arguments: Any) -> Any:
        self._check_free(result.name, self._X.schema().names)
        return self._X.map_batches(_appended, batch_format="numpy", fn_args=(self.names, result.name, task, arguments))


def _is_numeric(kind: Any) -> bool:
    if isinstance(kind, pa.DataType):
        # Lists and Ray's tensors have a type of their values.
        while hasattr(kind, "value_type"):
            kind = kind.value_type
        return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))
    return getattr(kind, "kind", "O") in "iufb"


def _columns(table: Any, names: list[str]) -> dict[str, Any]:
    """Converts the columns of an Arrow table to arrays; columns of tensors become matrices."""
    from ray.data.block import BlockAccessor

    if not len(table):
        # An empty block may have no columns.
        return {name: np.empty(0) for name in names}
    found: dict[str, Any] = BlockAccessor.for_block(table.select(names)).to_numpy(names)
    return found


def _run(table: Any, index: int, own: tuple[Any, ...], told: Any) -> Any:
    names, weight, task, arguments = told
    columns = _columns(table, names if weight is None else [*names, weight])
    weights = None if weight is None else np.ascontiguousarray(columns[weight], dtype=np.float64)
    return task(numbers_of(columns, names), weights, index, *own, *arguments)


def _appended(batch: dict[str, Any], names: list[str], name: str, task: Task, arguments: tuple[Any, ...]) -> dict[str, Any]:
    return {**batch, name: task(numbers_of(batch, names), *arguments)}
