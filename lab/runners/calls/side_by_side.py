"""Compares each call of an estimator with scikit-learn's: fit, predict, transform and score on rows of single precision.

    python side_by_side.py [--shapes 1000000x16,100000x128] [--estimators KMeans,…] [--rounds 5] [--limit 60] [--record FILE]

The rows are 20 groups of normal noise. One process makes all calls of an estimator on one shape: both sides fit once, then each call is made by both sides in turns, first and second by turns, so that both have the same
machine. Noted are the seconds of each call and the processor time of all threads in it. A fit that takes longer than --limit is made once; one that takes longer than ten times that is ended, and the other calls are left out.

What fits only a part of the rows (mixtures and maps: their fits are of another length of time) says so in its name.
"""

import argparse
import json
import math
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
import warnings
from importlib.metadata import version
from pathlib import Path

GROUPS = 20
SHAPES = "1000000x16,100000x128"
#: The number of rows to which mixtures and maps are fitted.
SOME = 20_000
PACKAGES = ("lehr", "numpy", "scikit-learn", "scipy")


def rows_of(count, columns):
    """Returns groups of rows in single precision."""
    import numpy as np

    draw = np.random.default_rng(0)
    centers = 4 * draw.normal(size=(GROUPS, columns))
    return (centers[draw.integers(GROUPS, size=count)] + draw.normal(size=(count, columns))).astype(np.float32)


def kmeans(X):
    """Returns the calls of k-means: both sides from one drawn start, and from the same given centres, three iterations."""
    import lehr
    from sklearn.cluster import KMeans

    given = X[:GROUPS].copy()
    ours, theirs = lehr.KMeans(GROUPS, n_init=1).fit(X), KMeans(GROUPS, n_init=1, random_state=0).fit(X)
    return {
        "fit, n_init=1": (lambda: lehr.KMeans(GROUPS, n_init=1).fit(X), lambda: KMeans(GROUPS, n_init=1, random_state=0).fit(X)),
        "fit, given centres, max_iter=3": (
            lambda: lehr.KMeans(GROUPS, init=given, max_iter=3, tol=0).fit(X),
            lambda: KMeans(GROUPS, init=given, n_init=1, max_iter=3, tol=0).fit(X),
        ),
        "predict": (lambda: ours.predict(X), lambda: theirs.predict(X)),
        "transform": (lambda: ours.transform(X), lambda: theirs.transform(X)),
        "score": (lambda: ours.score(X), lambda: theirs.score(X)),
    }


def annealing(X):
    """Returns the calls of annealing, compared with k-means from ten starts, which annealing makes unnecessary."""
    import lehr
    from sklearn.cluster import KMeans

    ours, theirs = lehr.DAClustering(GROUPS).fit(X), KMeans(GROUPS, n_init=10, random_state=0).fit(X)
    return {
        "fit": (lambda: lehr.DAClustering(GROUPS).fit(X), lambda: KMeans(GROUPS, n_init=10, random_state=0).fit(X)),
        "predict": (lambda: ours.predict(X), lambda: theirs.predict(X)),
        "transform": (lambda: ours.transform(X), lambda: theirs.transform(X)),
        "score": (lambda: ours.score(X), lambda: theirs.score(X)),
    }


def mixture(X):
    """Returns the calls of mixtures with diagonal covariances, fitted to some of the rows."""
    import lehr
    from sklearn.mixture import GaussianMixture

    some = X[:SOME]
    ours = lehr.DAGaussianMixture(GROUPS, covariance_type="diag").fit(some)
    theirs = GaussianMixture(GROUPS, covariance_type="diag", random_state=0).fit(some)
    return {
        f"fit, {SOME} rows": (
            lambda: lehr.DAGaussianMixture(GROUPS, covariance_type="diag").fit(some),
            lambda: GaussianMixture(GROUPS, covariance_type="diag", random_state=0).fit(some),
        ),
        "predict": (lambda: ours.predict(X), lambda: theirs.predict(X)),
        "predict_proba": (lambda: ours.predict_proba(X), lambda: theirs.predict_proba(X)),
        "score": (lambda: ours.score(X), lambda: theirs.score(X)),
    }


def topographic(X):
    """Returns the calls of topographic maps; only Lehr's, since scikit-learn has no such map."""
    import lehr

    some = X[:SOME]
    ours = lehr.GTM(n_nodes=10, n_basis=4).fit(some)
    return {
        f"fit, {SOME} rows": (lambda: lehr.GTM(n_nodes=10, n_basis=4).fit(some), None),
        "transform": (lambda: ours.transform(X), None),
        "score": (lambda: ours.score(X), None),
    }


def scaling(X):
    """Returns the calls of scaling, for few rows, since all pairs are compared; scikit-learn's map takes no new rows."""
    import lehr

    some, more = X[:1000], X[:20_000]
    ours = lehr.SMACOF().fit(some)
    return {
        "fit, 1000 rows": (lambda: lehr.SMACOF().fit(some), None),
        "transform, 20000 rows": (lambda: ours.transform(more), None),
    }


ESTIMATORS = {"KMeans": kmeans, "DAClustering": annealing, "DAGaussianMixture": mixture, "GTM": topographic, "SMACOF": scaling}
SIDES = ("lehr", "scikit-learn")


def timed(call):
    """Returns the seconds of a call, and the processor seconds of all threads together."""
    before, started = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    call()
    seconds, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_SELF)
    return seconds, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def measured(calls, rounds, limit):
    """Returns the runs of each call by each side, in turns."""
    found = {}
    for name, sides in calls.items():
        runs = {side: {"seconds": [], "processor": []} for side, call in zip(SIDES, sides) if call}
        for turn in range(rounds):
            order = [(side, call) for side, call in zip(SIDES, sides) if call]
            for side, call in order if turn % 2 == 0 else reversed(order):
                if any(seconds > limit for seconds in runs[side]["seconds"]):
                    continue
                seconds, processor = timed(call)
                runs[side]["seconds"].append(seconds)
                runs[side]["processor"].append(processor)
        found[name] = runs
    return found


def one(request):
    """Makes all calls of an estimator on a shape, in this process."""
    warnings.simplefilter("ignore")
    X = rows_of(*request["shape"])
    found = measured(ESTIMATORS[request["estimator"]](X), request["rounds"], request["limit"])
    print(json.dumps(found))


def started(request):
    """Makes all calls in a separate process; returns a text if this failed."""
    most = 10 * request["limit"] * request["rounds"]
    try:
        ended = subprocess.run([sys.executable, __file__, "--one", json.dumps(request)], capture_output=True, text=True, timeout=most)
    except subprocess.TimeoutExpired:
        return f"not done after {most:.0f} s"
    if ended.returncode:
        return ended.stderr.strip().splitlines()[-1] if ended.stderr.strip() else f"exit code {ended.returncode}"
    return json.loads(ended.stdout)


def shown(estimator, shape, found):
    print(f"\n{estimator}, {shape[0]} x {shape[1]}")
    if isinstance(found, str):
        print(f"  {found}")
        return
    print(f"  {'':34}{'lehr, s':>28}{'scikit-learn, s':>28}{'ratio':>8}")
    for name, runs in found.items():
        cells = []
        for side in SIDES:
            seconds = runs.get(side, {}).get("seconds")
            cells.append(f"{min(seconds):.4f} / {statistics.median(seconds):.4f} / {max(seconds):.4f}" if seconds else "·")
        ratio = statistics.median(runs[SIDES[0]]["seconds"]) / statistics.median(runs[SIDES[1]]["seconds"]) if len(runs) > 1 else math.nan
        print(f"  {name:34}{cells[0]:>28}{cells[1]:>28}{ratio:8.2f}", flush=True)


def machine():
    """Returns a description of the machine for the record."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").is_file() else []
    processor = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())
    commit = git("rev-parse", "--short", "HEAD") or "unknown"
    changed = "+" if git("status", "--porcelain", "--untracked-files=no") else ""
    system = f"{platform.system().lower()} {platform.machine()}"
    return {"processor": processor, "threads": os.cpu_count(), "system": system, "commit": commit + changed}


def git(*words):
    try:
        return subprocess.run(["git", *words], capture_output=True, text=True, cwd=Path(__file__).parent).stdout.strip()
    except OSError:
        return ""


def write(path, value):
    """Writes the file as a whole, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(path.name + ".new")
    beside.write_text(json.dumps(value, indent=1) + "\n")
    beside.replace(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", default=SHAPES, help=f"rows x columns (default: {SHAPES})")
    parser.add_argument("--estimators", default=",".join(ESTIMATORS), help="of " + ", ".join(ESTIMATORS))
    parser.add_argument("--rounds", type=int, default=5, help="runs of each call, in turns (default: 5)")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of a call that is not made again (default: 60)")
    parser.add_argument("--record", type=Path, help="keep the figures in this file, as JSON, and the machine beside it")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        return one(json.loads(arguments.one))
    estimators = arguments.estimators.split(",")
    unknown = [name for name in estimators if name not in ESTIMATORS]
    if unknown:
        parser.error(f"there is no {unknown[0]!r}: expected estimators of {', '.join(ESTIMATORS)}")
    shapes = [[int(number) for number in shape.split("x")] for shape in arguments.shapes.split(",")]
    versions = {"python": platform.python_version(), **{package: version(package) for package in PACKAGES}}
    print(", ".join(f"{package} {number}" for package, number in versions.items()))
    print("least / middle / most of the runs in turns; ratio of the middles, below 1 where ours is faster")
    command = f"side_by_side.py --shapes {arguments.shapes} --estimators {arguments.estimators} --rounds {arguments.rounds}"
    about = {"command": command, "load": "%.2f %.2f %.2f" % os.getloadavg(), "machine": machine(), "libraries": versions}
    record = []
    for shape in shapes:
        for estimator in estimators:
            request = {"estimator": estimator, "shape": shape, "rounds": arguments.rounds, "limit": arguments.limit}
            found = started(request)
            shown(estimator, shape, found)
            about_entry = {"estimator": estimator, "rows": shape[0], "columns": shape[1]}
            record.append({**about_entry, "failed": found} if isinstance(found, str) else {**about_entry, "calls": found})
            if arguments.record:
                write(arguments.record, record)
                write(arguments.record.with_suffix(".machine.json"), {"sessions": [about]})


if __name__ == "__main__":
    main()
