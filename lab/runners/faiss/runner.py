"""faiss's k-means, one request a line (lab/METHOD.md has the protocol, which is that of the scikit-learn runner).

faiss works in f32 and starts from random rows; sampling of rows is off, so that it uses all of them.
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import faiss
import numpy
from table import read, serve

data = {}


def answer(request):
    if "table" in request:
        values, weights = read(request["table"])
        data["values"] = numpy.ascontiguousarray(values, dtype="float32")
        data["weights"] = None if weights is None else numpy.ascontiguousarray(weights, dtype="float32")
        return {"versions": {"faiss": faiss.__version__, "numpy": numpy.__version__}}
    rows, dimension = data["values"].shape
    faiss.omp_set_num_threads(request["threads"])
    model = faiss.Kmeans(
        dimension, request["clusters"], niter=100, nredo=request["restarts"], seed=request["seed"] + 1,
        max_points_per_centroid=rows, min_points_per_centroid=1,
    )
    start = time.perf_counter()
    model.train(data["values"], weights=data["weights"])
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "rounds": 100 * request["restarts"], "centers": model.centroids.astype("float64").tolist()}


serve(answer)
