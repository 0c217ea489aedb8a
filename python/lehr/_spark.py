"""Spark data frames as partitions. Rows pass as Arrow, by ``mapInArrow``."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from lehr._partition_tasks import Task, numbers_of
from lehr._partitions import Column, Partitions, Result

#: The names of Spark's numeric types, and of arrays of floating-point numbers.
_NUMERIC = frozenset({"tinyint", "smallint", "int", "bigint", "float", "double", "boolean", "array<float>", "array<double>"})


class SparkPartitions(Partitions):
    """The partitions of a Spark data frame. Each pass computes the data frame again, unless it is cached."""

    engine = "Spark"

    def __init__(self, X: Any, sample_weight: Any, names: list[str] | None) -> None:
        self._choose([Column(name, kind, kind in _NUMERIC) for name, kind in X.dtypes], sample_weight, names)
        self._X = X

    def each(self, task: Task, *arguments: Any) -> list[Any]:
        chosen = self._X.select(*([*(self.names or []), *([self.weight] if self.weight else [])]))
        run = _runner(self.names, self.weight, task, arguments)
        collected = chosen.mapInArrow(run, "partition int, result binary").collect()
        return [pickle.loads(row["result"]) for row in sorted(collected, key=lambda row: int(row["partition"]))]

    def rows(self, task: Task, result: Result, *arguments: Any) -> Any:
        from pyspark.sql.types import ArrayType, DoubleType, FloatType, IntegerType, StructField, StructType

        kind: Any = {"i": IntegerType, "f": DoubleType}[np.dtype(result.dtype).kind]()
        if np.dtype(result.dtype) == np.float32:
            kind = FloatType()
        self._check_free(result.name, self._X.columns)
        field = StructField(result.name, kind if result.width is None else ArrayType(kind))
        schema = StructType([*self._X.schema.fields, field])
        return self._X.mapInArrow(_appender(self.names, result.name, task, arguments), schema)


def _runner(names: Any, weight: str | None, task: Task, arguments: tuple[Any, ...]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        index, received = context.partitionId(), list(batches)
        columns = [*names, weight] if weight else names
        table = pa.Table.from_batches(received) if received else pa.table({name: pa.array([], pa.float64()) for name in columns})
        weights = None if weight is None else np.ascontiguousarray(table[weight].to_numpy(), dtype=np.float64)
        found = task(numbers_of(table, names), weights, index, *arguments)
        yield pa.RecordBatch.from_pydict({"partition": pa.array([index], pa.int32()), "result": pa.array([pickle.dumps(found)], pa.binary())})

    return run


def _appender(names: Any, name: str, task: Task, arguments: tuple[Any, ...]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            table = pa.Table.from_batches([batch])
            found = task(numbers_of(table, names), *arguments)
            column = pa.array(found) if found.ndim == 1 else pa.array(list(found))
            yield from table.append_column(name, column).to_batches()

    return run
