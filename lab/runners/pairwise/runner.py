"""Clusters of items known by their dissimilarities, by SciPy, scikit-learn and kmedoids, one request a line (lab/METHOD.md has the protocol).

{"matrix": path, "items": n}                                  -> {"versions": {...}}
{"method": name, "clusters": K, "seed": s, "threads": t}      -> {"seconds": of the method alone, "labels": [...]}

The matrix is little-endian doubles, the pairs (0,1), (0,2), ..., (1,2), .... Each method gets the matrix in its own format; the time excludes the conversion. Labels are of
clusters from 0 on; HDBSCAN, which is not told K, calls items that it leaves out -1.
"""

import sys
import time
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import kmedoids
import numpy
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, SpectralClustering
from table import serve
from threadpoolctl import threadpool_limits

data = {}


def load(request):
    condensed = numpy.fromfile(request["matrix"], dtype="<f8")
    data["condensed"], data["square"] = condensed, squareform(condensed)
    assert data["square"].shape == (request["items"], request["items"])
    # The similarities for the spectral method are a Gaussian whose width is the median dissimilarity, the usual first choice.
    width = numpy.median(condensed)
    data["similar"] = numpy.exp(-(data["square"] ** 2) / (2 * width**2))
    return {"versions": {package: version(package) for package in ("numpy", "scipy", "scikit-learn", "kmedoids")}}


def linked(method):
    return lambda clusters, seed: fcluster(linkage(data["condensed"], method), clusters, "maxclust") - 1


def agglomerative(clusters, seed):
    model = AgglomerativeClustering(n_clusters=clusters, metric="precomputed", linkage="average")
    return model.fit_predict(data["square"])


def spectral(clusters, seed):
    model = SpectralClustering(n_clusters=clusters, affinity="precomputed", random_state=seed, assign_labels="kmeans")
    return model.fit_predict(data["similar"])


def hdbscan(clusters, seed):
    # HDBSCAN changes its input unless it is told to copy; a cluster has at least a hundredth of the items.
    smallest = max(5, len(data["square"]) // 100)
    return HDBSCAN(metric="precomputed", min_cluster_size=smallest, copy=True).fit_predict(data["square"])


def fasterpam(clusters, seed):
    return kmedoids.fasterpam(data["square"], clusters, random_state=seed, init="random").labels


METHODS = {
    "average linkage (scipy)": linked("average"),
    "complete linkage (scipy)": linked("complete"),
    "single linkage (scipy)": linked("single"),
    "average linkage (scikit-learn)": agglomerative,
    "spectral (scikit-learn)": spectral,
    "HDBSCAN (scikit-learn)": hdbscan,
    "FasterPAM (kmedoids)": fasterpam,
}


def answer(request):
    if "matrix" in request:
        return load(request)
    method = METHODS[request["method"]]
    with threadpool_limits(limits=request["threads"]):
        start = time.perf_counter()
        labels = method(request["clusters"], request["seed"])
        seconds = time.perf_counter() - start
    return {"seconds": seconds, "labels": numpy.asarray(labels).astype(int).tolist()}


serve(answer)
