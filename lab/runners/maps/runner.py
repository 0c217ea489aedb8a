"""Maps of items known by their dissimilarities, by scikit-learn's SMACOF, one request a line (lab/METHOD.md has the protocol).

{"matrix": path, "items": n}                                                      -> {"versions": {...}}
{"dimension": L, "seed": s, "starts": r, "iterations": most, "threads": t}        -> {"seconds": s, "iterations": of the best start, "positions": [[...]]}

The matrix is little-endian doubles, the pairs (0,1), (0,2), ..., (1,2), .... The starts are random, one after the other, as by default.
"""

import sys
import time
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy
from scipy.spatial.distance import squareform
from sklearn.manifold import smacof
from table import serve
from threadpoolctl import threadpool_limits

data = {}


def answer(request):
    if "matrix" in request:
        data["square"] = squareform(numpy.fromfile(request["matrix"], dtype="<f8"))
        assert data["square"].shape == (request["items"], request["items"])
        return {"versions": {package: version(package) for package in ("numpy", "scipy", "scikit-learn")}}
    with threadpool_limits(limits=request["threads"]):
        start = time.perf_counter()
        positions, _, iterations = smacof(
            data["square"],
            n_components=request["dimension"],
            n_init=request["starts"],
            n_jobs=1,
            max_iter=request["iterations"],
            random_state=request["seed"],
            normalized_stress=False,
            return_n_iter=True,
        )
        seconds = time.perf_counter() - start
    return {"seconds": seconds, "iterations": int(iterations), "positions": positions.tolist()}


serve(answer)
