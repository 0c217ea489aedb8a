"""Clusters tables in partitions on Dask, Ray and Spark, beside dask-ml's and Spark MLlib's k-means: how time and memory grow with the partitions.

    python side_by_side.py [--engines dask,ray,spark] [--partitions 2,4,8,16] [--rows 125000] [--columns 8] [--rounds 3] [--record FILE]

Each partition has --rows rows of 20 groups of normal noise, so twice the partitions are twice the rows. Two workers with one thread each hold the table in memory. One process makes all
fits of an engine on a table, each by all sides in turns. Noted are the seconds of each fit, its sum of squares by the same sums over the partitions, and at the end the peak memory of this process and
of the largest process of the engine's.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
import warnings
from importlib.metadata import version
from pathlib import Path

GROUPS = 20
PACKAGES = ("lehr", "dask", "dask-ml", "distributed", "ray", "pyspark", "numpy", "scikit-learn")
LIMIT = 900


def part(number, rows, columns):
    """Returns the rows of a partition, which every process draws alike."""
    import numpy as np

    centers = 4 * np.random.default_rng(0).normal(size=(GROUPS, columns))
    draw = np.random.default_rng([1, number])
    return centers[draw.integers(GROUPS, size=rows)] + draw.normal(size=(rows, columns))


def on_dask(partitions, rows, columns):
    """Returns the table, and the fits of each side, which return centres."""
    import dask.array as da
    from dask import delayed
    from dask_ml.cluster import KMeans
    from distributed import Client, LocalCluster

    import lehr

    Client(LocalCluster(n_workers=2, threads_per_worker=1, memory_limit=0, dashboard_address=None))
    blocks = [da.from_delayed(delayed(part)(number, rows, columns), (rows, columns), float) for number in range(partitions)]
    X = da.concatenate(blocks).persist()
    X.sum().compute()
    sides = {
        "lehr.DAClustering": lambda: lehr.DAClustering(GROUPS).fit(X).cluster_centers_,
        "lehr.KMeans": lambda: lehr.KMeans(GROUPS).fit(X).cluster_centers_,
        "dask_ml.KMeans": lambda: KMeans(GROUPS, random_state=0).fit(X).cluster_centers_,
    }
    return X, sides


def on_ray(partitions, rows, columns):
    import ray
    import ray.data

    import lehr

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    X = ray.data.from_numpy_refs([ray.remote(part).remote(number, rows, columns) for number in range(partitions)]).materialize()
    return X, {
        "lehr.DAClustering": lambda: lehr.DAClustering(GROUPS).fit(X).cluster_centers_,
        "lehr.KMeans": lambda: lehr.KMeans(GROUPS).fit(X).cluster_centers_,
    }


def on_spark(partitions, rows, columns):
    import numpy as np
    import pyarrow as pa
    from pyspark.ml.clustering import KMeans
    from pyspark.ml.feature import VectorAssembler
    from pyspark.sql import SparkSession

    import lehr

    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.driver.memory", "8g").config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    names = [f"x{number}" for number in range(columns)]

    def draw(batches):
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield pa.RecordBatch.from_arrays([pa.array(column) for column in part(number, rows, columns).T], names)

    X = spark.range(0, partitions, 1, partitions).mapInArrow(draw, ", ".join(f"{name} double" for name in names)).cache()
    vectors = VectorAssembler(inputCols=names, outputCol="features").transform(X).select("features").cache()
    assert X.count() == vectors.count() == partitions * rows
    return X, {
        "lehr.DAClustering": lambda: lehr.DAClustering(GROUPS).fit(X).cluster_centers_,
        "lehr.KMeans": lambda: lehr.KMeans(GROUPS).fit(X).cluster_centers_,
        "MLlib.KMeans": lambda: np.array(KMeans(k=GROUPS, seed=0).fit(vectors).clusterCenters()),
    }


ENGINES = {"dask": on_dask, "ray": on_ray, "spark": on_spark}


def sum_of_squares(X, centers):
    """Returns the sum of squares of centres, computed by the same sums for every side."""
    import numpy as np

    from lehr import _partition_tasks, _partitions

    parts = _partitions.partitions_of(X).each(_partition_tasks.sums, np.asarray(centers, dtype=float))
    return float(sum(found.squares.sum() for found in parts))


def descendants(pid):
    """Returns the processes below a process."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(status.read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue
        if parent == pid:
            child = int(status.parent.name)
            found += [child, *descendants(child)]
    return found


def peak(pid):
    """Returns the peak memory of a process in MiB; 0 if the process has ended."""
    try:
        lines = (Path("/proc") / str(pid) / "status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), 0.0)


def one(request):
    """Makes all fits of an engine on a table, in this process."""
    warnings.simplefilter("ignore")
    X, sides = ENGINES[request["engine"]](request["partitions"], request["rows"], request["columns"])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found = {side: {"seconds": [], "squares": []} for side in sides}
    for turn in range(request["rounds"]):
        for side in list(sides) if turn % 2 == 0 else reversed(list(sides)):
            started = time.perf_counter()
            centers = sides[side]()
            found[side]["seconds"].append(time.perf_counter() - started)
            found[side]["squares"].append(sum_of_squares(X, centers))
    memory = {"before": before, "driver": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "worker": max(map(peak, descendants(os.getpid())), default=0.0)}
    print(json.dumps({"sides": found, "memory": memory}), flush=True)
    # The engines' own ends take seconds, and print.
    os._exit(0)


def started(request):
    """Makes all fits of an engine on a table in a separate process; returns a text if this failed."""
    try:
        ended = subprocess.run([sys.executable, __file__, "--one", json.dumps(request)], capture_output=True, text=True, timeout=LIMIT, start_new_session=True)
    except subprocess.TimeoutExpired:
        return {"failed": f"not done after {LIMIT} s"}
    if ended.returncode:
        return {"failed": ended.stderr.strip().splitlines()[-1] if ended.stderr.strip() else f"exit code {ended.returncode}"}
    return json.loads(ended.stdout.strip().splitlines()[-1])


def machine():
    """Returns a description of the machine for the record."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=Path(__file__).parent).stdout.strip()
    return {"processor": next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown"), "threads": os.cpu_count(), "commit": commit or "unknown"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", default="dask,ray,spark")
    parser.add_argument("--partitions", default="2,4,8,16")
    parser.add_argument("--rows", type=int, default=125_000)
    parser.add_argument("--columns", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--record", type=Path)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        return one(json.loads(options.one))
    entries = []
    for engine in options.engines.split(","):
        for partitions in map(int, options.partitions.split(",")):
            request = {"engine": engine, "partitions": partitions, "rows": options.rows, "columns": options.columns, "rounds": options.rounds}
            entry = {**request, **started(request)}
            entries.append(entry)
            print(f"\n{engine}, {partitions} partitions, {partitions * options.rows} x {options.columns}")
            if "failed" in entry:
                print(f"  {entry['failed']}")
                continue
            for side, runs in entry["sides"].items():
                seconds = runs["seconds"]
                print(f"  {side:20}{min(seconds):9.2f} / {statistics.median(seconds):.2f} / {max(seconds):.2f} s   {min(runs['squares']):.6g} to {max(runs['squares']):.6g}")
            print("  memory, MiB: " + ", ".join(f"{name} {value:.0f}" for name, value in entry["memory"].items()), flush=True)
    if options.record:
        options.record.parent.mkdir(parents=True, exist_ok=True)
        options.record.write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")
        packages = {name: version(name) for name in PACKAGES}
        options.record.with_suffix(".machine.json").write_text(json.dumps({**machine(), "packages": packages}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
