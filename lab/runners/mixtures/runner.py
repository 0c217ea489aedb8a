"""scikit-learn's mixtures of Gaussians, one request a line (lab/METHOD.md has the protocol).

{"table": path}                                                                              -> {"versions": {...}}
{"components": K, "covariance": form, "starts": n, "seed": s, "threads": t}                  -> {"seconds": of fit alone, "weights": [...], "means": [[...]], "covariances": [...]}

One start is its default. Many starts show the best that it reaches: half of them begin by k-means, half by k-means++, and each runs until it converges.
"""

import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy
import sklearn
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from table import read, serve
from threadpoolctl import threadpool_limits

data = {}


def fits(request):
    """Yields the fits of a request, one after the other."""
    starts, seed = request["starts"], request["seed"]
    if starts == 1:
        yield GaussianMixture(request["components"], covariance_type=request["covariance"], random_state=seed)
        return
    for start in range(starts):
        begun = "kmeans" if start % 2 == 0 else "k-means++"
        yield GaussianMixture(
            request["components"], covariance_type=request["covariance"], tol=1e-6, max_iter=1000, init_params=begun, random_state=seed + start
        )


def answer(request):
    if "table" in request:
        data["values"], weights = read(request["table"])
        assert weights is None, "scikit-learn's mixtures take no weights"
        return {"versions": {"scikit-learn": sklearn.__version__, "numpy": numpy.__version__}}
    best = None
    with threadpool_limits(limits=request["threads"]), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        start = time.perf_counter()
        for model in fits(request):
            score = model.fit(data["values"]).score(data["values"])
            if best is None or score > best[0]:
                best = (score, model)
        seconds = time.perf_counter() - start
    model = best[1]
    return {"seconds": seconds, "weights": model.weights_.tolist(), "means": model.means_.tolist(), "covariances": model.covariances_.tolist()}


serve(answer)
