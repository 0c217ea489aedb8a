"""Spark data frames as partitions. Rows pass as Arrow, by ``mapInArrow``."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from lehr._partition_tasks import Task, numbers_of
from lehr._partitions import Column, Partitions, Result

#: The names of Spark's numeric types, and of arrays of these.
_NUMERIC = frozenset({"tinyint", "smallint", "int", "bigint", "float", "double", "boolean", *(f"array<{kind}>" for kind in ("tinyint", "smallint", "int", "bigint", "float", "double"))})


class SparkPartitions(Partitions):
    """The partitions of a Spark data frame. Each pass computes the data frame again, unless it is cached."""

    engine = "Spark"

    def __init__(self, X: Any, sample_weight: Any, names: list[Any] | None) -> None:
        self._choose([Column(name, kind, kind in _NUMERIC) for name, kind in X.dtypes], sample_weight, names)
        self._X = X

    def each(self, task: Task, *arguments: Any, own: list[Any] | None = None) -> list[Any]:
        names = [*(self.names or []), *([self.weight] if self.weight else [])]
        # Quoted, because a dot would mean a field of a structure; `mapInArrow` itself takes no names with dots.
        chosen = self._X.select(*("`" + name.replace("`", "``") + "`" for name in names)).toDF(*_plain(names))
        run = _runner(_plain(self.names or []), None if self.weight is None else _plain(names)[-1], task, arguments, own)
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
        columns = list(self._X.columns)
        chosen = [_plain(columns)[columns.index(name)] for name in self.names or []]
        return self._X.toDF(*_plain(columns)).mapInArrow(_appender(chosen, [*columns, result.name], task, arguments), schema)


def _plain(names: list[str]) -> list[str]:
    """Returns names without dots, one for each name."""
    return [f"c{number}" for number in range(len(names))]


def _runner(names: Any, weight: str | None, task: Task, arguments: tuple[Any, ...], own: list[Any] | None) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        index, received = context.partitionId(), list(batches)
        columns = [*names, weight] if weight else names
        table = pa.Table.from_batches(received) if received else pa.table({name: pa.array([], pa.float64()) for name in columns})
        weights = None if weight is None else np.ascontiguousarray(table[weight].to_numpy(), dtype=np.float64)
        found = task(numbers_of(table, names), weights, index, *([] if own is None else [own[index]]), *arguments)
        yield pa.RecordBatch.from_pydict({"partition": pa.array([index], pa.int32()), "result": pa.array([pickle.dumps(found)], pa.binary())})

    return run


def _appender(chosen: list[str], names: list[str], task: Task, arguments: tuple[Any, ...]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            table = pa.Table.from_batches([batch])
            found = task(numbers_of(table, chosen), *arguments)
            column = pa.array(found) if found.ndim == 1 else pa.array(list(found))
            yield from table.append_column(names[-1], column).rename_columns(names).to_batches()

    return run
