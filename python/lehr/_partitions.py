"""Tables that another engine has divided into partitions: Dask collections, Ray datasets and Spark data frames.

``docs/design/partitions.md`` gives the reasons.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from lehr._partition_tasks import Task


class Column(NamedTuple):
    """A column of a table."""

    name: str
    #: The type, as the engine names it.
    type: str
    is_numeric: bool


class Result(NamedTuple):
    """What a task computes for each row: one number, or ``width`` numbers."""

    name: str
    dtype: DTypeLike
    width: int | None = None


class Partitions:
    """A table in partitions. Each engine has a subclass, which runs tasks on the partitions."""

    #: The name of the engine.
    engine: str
    #: The columns to use; ``None`` if the rows come from an array.
    names: list[Any] | None
    #: The column of weights; ``None`` without weights, or if the weights are not a column.
    weight: str | None

    def each(self, task: Task, *arguments: Any, own: list[Any] | None = None) -> list[Any]:
        """Runs a task on each partition, and returns the results in the order of the partitions.

        ``own`` has one more argument for each partition, which the task takes before ``arguments``.
        """
        raise NotImplementedError

    def rows(self, task: Task, result: Result, *arguments: Any) -> Any:
        """Describes a computation of something for each row, which the engine makes when the caller asks for its values.

        The task takes only rows and ``arguments``.
        """
        raise NotImplementedError

    def _check_free(self, name: str, columns: Iterable[str]) -> None:
        """Refuses to replace a column of the user's table by a result."""
        if name in columns:
            raise ValueError(f"X: the result would be a column {name!r}, and the {self.engine} table already has one; rename it or leave it out")

    def _choose(self, columns: list[Column], weight: Any, names: list[Any] | None) -> None:
        """Sets ``names`` and ``weight``, and checks the types of these columns.

        Raises
        ------
        ValueError
            If a column is missing or has no numbers.
        """
        known = {column.name: column for column in columns}
        if len(known) < len(columns):
            twice = next(column.name for place, column in enumerate(columns) if column.name in [other.name for other in columns[:place]])
            raise ValueError(f"X: expected columns with different names, found {twice!r} more than once")
        if weight is not None and (not isinstance(weight, str) or weight not in known):
            raise ValueError(
                f"sample_weight: expected the name of a column of the {self.engine} table ({', '.join(map(str, known))}), found {weight!r}"
            )
        self.weight = weight
        if names is not None:
            missing = [name for name in names if name not in known]
            if missing:
                raise ValueError(
                    f"X: expected the columns on which the model was fitted, found no column {missing[0]!r}; the {self.engine} table has {', '.join(map(str, known))}"
                )
            self.names = names
        else:
            self.names = [column.name for column in columns if column.name != weight]
        wrong = [known[name] for name in [*self.names, *([weight] if weight else [])] if not known[name].is_numeric]
        if wrong:
            told = ", ".join(f"{column.name!r} ({column.type})" for column in wrong[:10])
            more = f" and {len(wrong) - 10} more" if len(wrong) > 10 else ""
            raise ValueError(f"X: expected columns of numbers, found {told}{more}; select the columns to use")


def is_partitioned(X: Any) -> bool:
    """Returns whether ``X`` is a table of Dask, Ray or Spark. Imports none of them."""
    return _engine(X) is not None


def partitions_of(X: Any, sample_weight: Any = None, names: list[Any] | None = None) -> Partitions | None:
    """Returns the partitions of a table of Dask, Ray or Spark; ``None`` for other data.

    Parameters
    ----------
    X : object
        The data.
    sample_weight : object, default=None
        The weights: the name of a column, or for Dask also a collection with the same partitions.
    names : list, default=None
        The columns to use. ``None`` means all columns except the weights.
    """
    engine = _engine(X)
    if engine == "dask":
        from lehr._dask import DaskPartitions

        return DaskPartitions(X, sample_weight, names)
    if engine == "ray":
        from lehr._ray import RayPartitions

        return RayPartitions(X, sample_weight, names)
    if engine == "pyspark":
        from lehr._spark import SparkPartitions

        return SparkPartitions(X, sample_weight, names)
    return None


def _engine(X: Any) -> str | None:
    if isinstance(X, (np.ndarray, list)):
        return None
    # A class of the user may inherit from one of an engine.
    for kind in type(X).__mro__:
        package, name = kind.__module__.partition(".")[0], kind.__name__
        if package == "dask" and name in ("Array", "DataFrame") or package == "ray" and name == "Dataset":
            return package
        if package == "pyspark" and name == "DataFrame" and ".pandas" not in kind.__module__:
            return package
    return None
