"""The engines: local clusters of Dask, Ray and Spark, and what the tests need of each."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

NAMES = ("dask array", "dask frame", "ray", "spark")


class Engine:
    """An engine that runs."""

    #: Whether its tables have named columns.
    has_names = True

    def table(self, frame: pd.DataFrame, partitions: int) -> Any:
        """A table with these rows, in this many partitions."""
        raise NotImplementedError

    def values(self, found: Any, name: str) -> np.ndarray:
        """The values that a result has for each row, in the order of the rows."""
        raise NotImplementedError

    def kill_a_worker(self) -> None:
        """Kills a process that computes, as a machine that fails would end it."""
        raise NotImplementedError


def _ends(partitions: int, rows: int) -> list[int]:
    return [rows * place // partitions for place in range(partitions + 1)]


class DaskArrays(Engine):
    has_names = False

    def __init__(self, cluster: Any) -> None:
        self.cluster = cluster

    def table(self, frame: pd.DataFrame, partitions: int) -> Any:
        import dask.array

        chunks = tuple(np.diff(_ends(partitions, len(frame))).tolist())
        return dask.array.from_array(frame.to_numpy(), chunks=(chunks, -1))

    def values(self, found: Any, name: str) -> np.ndarray:
        return np.asarray(found.compute())

    def kill_a_worker(self) -> None:
        worker = next(iter(self.cluster.workers.values()))
        os.kill(worker.pid, signal.SIGKILL)


class DaskFrames(DaskArrays):
    has_names = True

    def table(self, frame: pd.DataFrame, partitions: int) -> Any:
        import dask
        import dask.dataframe

        ends = _ends(partitions, len(frame))
        parts = [dask.delayed(frame.iloc[start:end]) for start, end in zip(ends, ends[1:])]
        return dask.dataframe.from_delayed(parts, meta=frame.iloc[:0], verify_meta=False)


class Ray(Engine):
    def table(self, frame: pd.DataFrame, partitions: int) -> Any:
        import pyarrow as pa
        import ray.data

        ends = _ends(partitions, len(frame))
        table = pa.Table.from_pandas(frame, preserve_index=False)
        return ray.data.from_arrow_refs([ray.put(table.slice(start, end - start)) for start, end in zip(ends, ends[1:])])

    def values(self, found: Any, name: str) -> np.ndarray:
        return np.array([row[name] for row in found.take_all()])

    def kill_a_worker(self) -> None:
        import ray

        def number() -> int:
            return os.getpid()

        os.kill(ray.get(ray.remote(number).remote()), signal.SIGKILL)


class Spark(Engine):
    def __init__(self, session: Any) -> None:
        self.session = session

    def table(self, frame: pd.DataFrame, partitions: int) -> Any:
        # Spark divides a table that it reads as it likes, but it keeps the partitions of a range.
        import pyarrow as pa

        ends = _ends(partitions, len(frame))
        kinds = {"f": "double", "i": "bigint", "b": "boolean"}
        schema = ", ".join(f"`{name}` {'float' if kind == np.float32 else kinds.get(kind.kind, 'string')}" for name, kind in frame.dtypes.items())
        parts = [pa.RecordBatch.from_pandas(frame.iloc[start:end], preserve_index=False) for start, end in zip(ends, ends[1:])]

        def rows(batches: Iterator[Any]) -> Iterator[Any]:
            for batch in batches:
                yield from (parts[number] for number in batch.column(0).to_pylist())

        return self.session.range(0, partitions, 1, partitions).mapInArrow(rows, schema).cache()

    def values(self, found: Any, name: str) -> np.ndarray:
        return np.array([row[name] for row in found.select(name).collect()])

    def kill_a_worker(self) -> None:
        # The first process that the daemon of Python's workers has started.
        pids = sorted(int(pid) for pid in os.listdir("/proc") if pid.isdigit())
        for pid in pids:
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    command = file.read()
                with open(f"/proc/{pid}/stat") as stat:
                    parent = int(stat.read().rsplit(")", 1)[1].split()[1])
                with open(f"/proc/{parent}/cmdline", "rb") as above:
                    is_worker = b"pyspark.daemon" in command and b"pyspark.daemon" in above.read()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if is_worker:
                os.kill(pid, signal.SIGKILL)
                return
        raise AssertionError("no worker of Spark runs")


@pytest.fixture(scope="session")
def dask_cluster() -> Iterator[Any]:
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        yield cluster


@pytest.fixture(scope="session")
def ray_cluster() -> Iterator[None]:
    os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
    import ray
    import ray.data

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    ray.data.DataContext.get_current().execution_options.preserve_order = True
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield
    ray.shutdown()


@pytest.fixture(scope="session")
def spark_session() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    # Up to 4 failures of a task: by default, a local Spark gives up after the first.
    session = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false").config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def engine_named(request: pytest.FixtureRequest) -> Callable[[str], Engine]:
    def make(name: str) -> Engine:
        if name == "ray":
            request.getfixturevalue("ray_cluster")
            return Ray()
        if name == "spark":
            if shutil.which("java") is None:
                pytest.skip("Spark needs Java 17")
            return Spark(request.getfixturevalue("spark_session"))
        kind = DaskArrays if name == "dask array" else DaskFrames
        return kind(request.getfixturevalue("dask_cluster"))

    return make


@pytest.fixture(params=NAMES)
def engine(request: pytest.FixtureRequest, engine_named: Callable[[str], Engine]) -> Engine:
    return engine_named(request.param)


def wait_until(holds: Callable[[], bool], seconds: float = 60.0) -> None:
    """Waits until a condition holds, and fails if it does not within the given time."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"still not after {seconds:g} seconds"
        time.sleep(0.05)
